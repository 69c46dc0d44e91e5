"""A picture as data: labels with the room that they take, wires as curves, shapes; what prints it is another file.

Lengths are pixels at 100 %. Texts are measured with a table of widths and given some more: another font still fits.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

Point = tuple[float, float]
# A curve: its start, then straight lines (a point) and cubic curves (two control points and the end).
Piece = tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of text in one style."""

    text: str
    style: str


SIZES = {
    "axis": 14.0,
    "size": 9.5,
    "name": 13.0,
    "caption": 12.0,
    "sub": 8.5,
    "sup": 8.5,
    "cost": 10.0,
    "title": 15.0,
    "note": 10.5,
    "sign": 11.0,
}
# Widths of letters in thousandths of the size: upright ones without serifs; those of another style are so much of them.
_WIDTHS = {
    222: "ijl'’‘|",
    278: " !,./:;I[]ft·\u2009",
    333: "()-r`",
    389: '*"°',
    500: "Jckxyzsv",
    556: "abdeghnopqu0123456789L#$?_",
    584: "+<>=~−≤≥∞",
    611: "FTZ",
    667: "ABEKPSVXY&Σ",
    722: "CDHNRUw",
    778: "GOQ",
    833: "Mm",
    889: "%",
    944: "W",
    1015: "@",
    469: "^",
    334: "{}",
    1000: "…←→↻",
    549: "√",
    823: "Π",
}
_WIDTH = {letter: width for width, letters in _WIDTHS.items() for letter in letters}
_FACTOR = {"axis": 0.95, "caption": 0.95, "sub": 0.95, "sup": 0.95, "name": 1.14, "title": 1.14}
SPARE = 1.12  # what another font may take more than these


def width_of(text: str, style: str) -> float:
    """Return how wide a text is in a style."""
    total = 0
    for letter in text:
        if letter in _WIDTH:
            total += _WIDTH[letter]
        elif not unicodedata.combining(letter) and unicodedata.category(letter) not in ("Cf", "Cc", "Mn"):
            total += 1050 if unicodedata.east_asian_width(letter) in "WF" or ord(letter) > 0x2FFF else 760
    return total / 1000 * SIZES[style] * _FACTOR.get(style, 1.0)


def wide(runs: Sequence[Run]) -> float:
    """Return the room that runs of text take in any font."""
    return SPARE * sum(width_of(run.text, run.style) for run in runs)


def runs_of(text: str, style: str = "caption") -> list[Run]:
    """Return a formula as runs: what follows _ is set lower, an exponent higher."""
    runs: list[Run] = []
    place = plain = 0
    while place < len(text):
        if text[place] in "_^" and place and place + 1 < len(text):
            end = _reach(text, place + 1)
            inner = text[place + 1 : end]
            inner = re.sub(r"_\w+", "", inner[1:-1] if inner[:1] in "({" and inner[-1:] in ")}" else inner)
            runs += [Run(text[plain:place], style)] * (plain < place) + [
                Run(inner, "sub" if text[place] == "_" else "sup")
            ]
            place = plain = end
        else:
            place += 1
    return runs + [Run(text[plain:], style)] * (plain < len(text))


def _reach(text: str, place: int) -> int:
    """Return where a word, or what stands in parentheses, ends."""
    depth, start = 0, place
    while place < len(text):
        depth += (text[place] in "({[") - (text[place] in ")}]")
        place += 1
        if depth == 0 and (text[start] in "({[" or place == len(text) or not text[place].isalnum()):
            break
    return place


def shortened(text: str, style: str, most: float) -> str:
    """Return a text that is at most so wide, its end given up for an ellipsis where it is longer."""
    text = "".join(c if c.isprintable() else " " for c in text)
    if width_of(text, style) <= most:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if width_of(text[:middle] + "…", style) <= most else (low, middle - 1)
    return text[:low].rstrip() + "…"


@dataclass(frozen=True, slots=True)
class Label:
    """A line of text in a box: its left upper corner and extents.

    Title: what a pointer over it is shown, "" for the text itself.
    """

    x: float
    y: float
    width: float
    height: float
    runs: tuple[Run, ...]
    title: str = ""
    role: str = "text"

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(run.text for run in self.runs)


@dataclass(frozen=True, slots=True)
class Wire:
    """A curve that carries a value, in the colour of a level; role "wire", "dash" or "item" (a scalar)."""

    pieces: tuple[Piece, ...]
    level: str = "high"
    role: str = "wire"

    def points(self, steps: int = 12) -> Iterator[Point]:
        """Yield points along the curve, close enough to take it for a polyline."""
        last = self.pieces[0][0]
        yield last
        for piece in self.pieces[1:]:
            if len(piece) == 1:
                yield piece[0]
            else:
                a, b, end = piece
                for step in range(1, steps + 1):
                    t = step / steps
                    u = 1 - t
                    weights = (u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t)
                    yield (
                        sum(w * p[0] for w, p in zip(weights, (last, a, b, end), strict=True)),
                        sum(w * p[1] for w, p in zip(weights, (last, a, b, end), strict=True)),
                    )
            last = piece[-1]


@dataclass(frozen=True, slots=True)
class Shape:
    """An outline: "rect" (x, y, width, height, corner), "dot" (x, y, radius) or "path" with pieces, closed.

    Role says how it is filled.
    """

    form: str
    role: str
    numbers: tuple[float, ...] = ()
    pieces: tuple[Piece, ...] = ()
    title: str = ""

    def box(self) -> tuple[float, float, float, float]:
        """Return its left, upper, right and lower end."""
        if self.form == "rect":
            x, y, width, height, *_ = self.numbers
            return x, y, x + width, y + height
        if self.form == "dot":
            x, y, r = self.numbers
            return x - r, y - r, x + r, y + r
        points = [point for piece in self.pieces for point in piece]
        return (
            min(p[0] for p in points),
            min(p[1] for p in points),
            max(p[0] for p in points),
            max(p[1] for p in points),
        )


@dataclass(slots=True)
class Picture:
    """All that is drawn, back to front: `behind`, wires, shapes, labels.

    Title and description are for those who do not see it.
    """

    title: str = ""
    description: str = ""
    width: float = 0.0
    height: float = 0.0
    behind: list[Shape] = field(default_factory=list)
    wires: list[Wire] = field(default_factory=list)
    shapes: list[Shape] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)

    def label(
        self,
        runs: Sequence[Run],
        x: float,
        y: float,
        *,
        anchor: str = "start",
        title: str = "",
        role: str = "text",
        most: float = 220.0,
    ) -> Label:
        """Write a line of text whose box begins, is centred or ends at x and whose upper side is at y.

        Too long ones are cut.
        """
        whole = "".join(run.text for run in runs)
        room, kept = most, list[Run]()
        for run in runs:
            if room <= 0:
                break
            text = shortened(run.text, run.style, room)
            kept.append(Run(text, run.style))
            room -= width_of(text, run.style)
        width = SPARE * sum(width_of(run.text, run.style) for run in kept)
        height = max((SIZES[run.style] for run in kept), default=0.0) * 1.15
        left = {"start": x, "middle": x - width / 2, "end": x - width}[anchor]
        cut = "".join(run.text for run in kept) != whole
        made = Label(left, y, width, height, tuple(kept), title or (whole if cut else ""), role)
        self.labels.append(made)
        return made

    def placed(self, other: Picture, dx: float, dy: float) -> None:
        """Put another picture into this one."""

        def at(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
            return tuple(tuple((x + dx, y + dy) for x, y in piece) for piece in pieces)

        def moved(shape: Shape) -> Shape:
            numbers = (shape.numbers[0] + dx, shape.numbers[1] + dy, *shape.numbers[2:]) if shape.numbers else ()
            return Shape(shape.form, shape.role, numbers, at(shape.pieces), shape.title)

        self.behind += map(moved, other.behind)
        self.shapes += map(moved, other.shapes)
        self.wires += [Wire(at(wire.pieces), wire.level, wire.role) for wire in other.wires]
        self.labels += [Label(m.x + dx, m.y + dy, m.width, m.height, m.runs, m.title, m.role) for m in other.labels]

    def mapped(self, at: Callable[[float], float]) -> Picture:
        """Return the picture with other heights, all in the order in which they were; labels keep their own."""

        def bent(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
            return tuple(tuple((x, at(y)) for x, y in piece) for piece in pieces)

        def moved(shape: Shape) -> Shape:
            numbers = shape.numbers
            if shape.form == "rect":
                x, y, width, height, *rest = numbers
                numbers = (x, at(y), width, at(y + height) - at(y), *rest)
            elif shape.form == "dot":
                numbers = (numbers[0], at(numbers[1]), *numbers[2:])
            return Shape(shape.form, shape.role, numbers, bent(shape.pieces), shape.title)

        made = Picture(self.title, self.description, self.width, self.height)
        made.behind, made.shapes = [*map(moved, self.behind)], [*map(moved, self.shapes)]
        made.wires = [Wire(bent(wire.pieces), wire.level, wire.role) for wire in self.wires]
        made.labels = [Label(m.x, at(m.y), m.width, m.height, m.runs, m.title, m.role) for m in self.labels]
        return made
