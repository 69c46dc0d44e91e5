"""The pictogram of each kind of operation: which wires meet, end or begin in it, between two sides of a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from napkin_eq.draw.circuit import Node
from napkin_eq.draw.picture import SPARE, Picture, Piece, Run, Shape, Wire, width_of

BUS, LEAD, PILL, HALF = 7.0, 7.0, 15.0, 9.0


@dataclass(frozen=True, slots=True)
class Touch:
    """A wire at a side of a node: its name, height, level, and which argument it is of."""

    name: str
    y: float
    level: str
    arg: int = 0


@dataclass(frozen=True, slots=True)
class Box:
    """Where a node is drawn: its sides, and the wires at them, top to bottom."""

    left: float
    right: float
    ins: tuple[Touch, ...]
    outs: tuple[Touch, ...]

    @property
    def upper(self) -> float:
        """The height of the uppermost wire."""
        return min(t.y for t in (*self.ins, *self.outs))

    @property
    def lower(self) -> float:
        """The height of the lowest wire."""
        return max(t.y for t in (*self.ins, *self.outs))


def merged(node: Node, ins: Sequence[str]) -> list[str]:
    """Return the wires that come in more than once and go on, in order: each needs a place where they meet."""
    return [n for n in dict.fromkeys(ins) if list(ins).count(n) > 1 and n not in node.takes]


def width(node: Node, ins: Sequence[str]) -> float:
    """Return how wide a node is drawn at the least."""
    meet = BUS * len(merged(node, ins))
    if node.kind == "contract":
        return LEAD + meet + 8 + 7 * len(node.takes) + 24
    if node.kind in ("fold", "scan"):
        return 2 * LEAD + meet + SPARE * width_of(node.sign, "sign") + (30 if node.kind == "scan" else 16)
    if node.kind == "read":
        return 2 * LEAD + meet + SPARE * width_of(node.sign, "sign") + 32
    if node.kind in ("input", "output"):
        return SPARE * width_of(node.caption, "name") + 22
    return 2 * LEAD + meet + {"map": 20, "shape": 34}.get(node.kind, 26)


def draw(node: Node, box: Box, picture: Picture) -> None:
    """Draw a node, what has changed on a mark."""
    if node.changed:
        mark = (box.left - 1, box.upper - HALF - 2, box.right - box.left + 2, box.lower - box.upper + 2 * HALF + 4, 6.0)
        picture.behind.append(Shape("rect", "changed", mark))
    {"input": _end, "output": _end, "contract": _contract, "load": _move, "store": _move}.get(node.kind, _operator)(
        node, box, picture
    )


def line(points: Sequence[tuple[float, float]], level: str, role: str = "wire") -> Wire:
    """Return a wire of straight lines."""
    return Wire(tuple((point,) for point in points), level, role)


def bend(x0: float, y0: float, x1: float, y1: float, level: str, role: str = "wire") -> Wire:
    """Return a wire that leaves and arrives level."""
    if y0 == y1:
        return line(((x0, y0), (x1, y1)), level, role)
    middle = (x0 + x1) / 2
    return Wire((((x0, y0),), ((middle, y0), (middle, y1), (x1, y1))), level, role)


def role_of(name: str) -> str:
    """Return how a wire is drawn: a scalar's is dotted."""
    return "wire" if name else "item"


def _end(node: Node, box: Box, picture: Picture) -> None:
    """Draw an array's name beside its wires."""
    touches, begins = (box.outs, True) if node.kind == "input" else (box.ins, False)
    top, bottom = touches[0].y - 6, touches[-1].y + 6
    x = box.right - 8 if begins else box.left + 8
    picture.shapes.append(Shape("rect", "bar", (x - 1.2, top, 2.4, bottom - top, 1.2)))
    picture.wires += [
        line(((x, t.y), (box.right if begins else box.left, t.y)), t.level, role_of(t.name)) for t in touches
    ]
    middle = (top + bottom) / 2 - 7.5
    run = Run(node.caption, "name")
    picture.label(
        [run],
        x - 7 if begins else x + 7,
        middle,
        anchor="end" if begins else "start",
        title=node.title,
        role="name",
        most=130,
    )


def _passing(node: Node, box: Box, picture: Picture, meets: float, cut: Sequence[str] = ()) -> float:
    """Draw the wires that go on, but for some, those of one name meeting in dots at places from x = meets.

    Return where those end.
    """
    for name in dict.fromkeys(t.name for t in box.ins):
        found = [t for t in box.ins if t.name == name]
        out = next((t for t in box.outs if t.name == name), None)
        if out is None or name in node.takes or name in cut:
            continue
        if len(found) > 1:
            low, high = min(t.y for t in found), max(t.y for t in found)
            picture.wires.append(line(((meets, low), (meets, high)), out.level, role_of(name)))
            for t in found:
                picture.wires.append(line(((box.left, t.y), (meets, t.y)), t.level, role_of(name)))
                picture.shapes.append(Shape("dot", f"dot-{out.level}", (meets, t.y, 2.4)))
            picture.wires.append(bend(meets, found[0].y, box.right, out.y, out.level, role_of(name)))
            meets += BUS
        else:
            middle = (box.left + box.right) / 2
            if found[0].level == out.level:
                picture.wires.append(bend(box.left, found[0].y, box.right, out.y, out.level, role_of(name)))
            else:
                picture.wires.append(
                    line(((box.left, found[0].y), (middle, found[0].y)), found[0].level, role_of(name))
                )
                picture.wires.append(bend(middle, found[0].y, box.right, out.y, out.level, role_of(name)))
    return meets


def _contract(node: Node, box: Box, picture: Picture) -> None:
    """Draw cups that join the wires which are multiplied and summed."""
    x = _passing(node, box, picture, box.left + LEAD)
    cup = x + 4
    last = cup
    for name in node.takes:
        found = [t for t in box.ins if t.name == name]
        for one, two in zip(found, found[1:], strict=False):
            reach = min(22.0, 8 + (two.y - one.y) / 6)
            picture.wires.append(
                Wire(
                    (
                        ((box.left, one.y),),
                        ((cup, one.y),),
                        ((cup + reach, one.y), (cup + reach, two.y), (cup, two.y)),
                        ((box.left, two.y),),
                    ),
                    one.level,
                )
            )
            last = max(last, cup + reach)
        if len(found) == 1:
            picture.wires.append(line(((box.left, found[0].y), (cup, found[0].y)), found[0].level))
            picture.shapes.append(Shape("dot", f"dot-{found[0].level}", (cup, found[0].y, 3.4)))
    _fresh(node, box, picture, last, sum(t.y for t in box.ins) / len(box.ins))


def _fresh(node: Node, box: Box, picture: Picture, x: float, y: float) -> None:
    """Draw the wires that begin in a node: axes that only its result has."""
    names = {t.name for t in box.ins if t.name not in node.takes}
    for t in box.outs:
        if t.name not in names:
            at = t.y if t.name else y
            picture.wires.append(bend(x, at, box.right, t.y, t.level, role_of(t.name)))
            picture.shapes.append(Shape("dot", f"dot-{t.level}", (x, at, 2.0)))


def _move(node: Node, box: Box, picture: Picture) -> None:
    """Draw a band in which the wires change their colour."""
    _passing(node, box, picture, box.left + LEAD)
    middle = (box.left + box.right) / 2
    band = (middle - 7, box.upper - HALF, 14.0, box.lower - box.upper + 2 * HALF, 7.0)
    picture.behind.append(Shape("rect", node.kind, band, title=node.title or node.caption))


def _operator(node: Node, box: Box, picture: Picture) -> None:
    """Draw the wires through an operator, and its sign on those that it works along."""
    along = node.takes or node.touches if node.kind != "shape" else ()
    spots = [t for t in box.ins if t.name in along]
    if (
        along and not spots
    ):  # what it works along is no wire, as of a sum of equal summands: its sign stands on the first one
        spots = [t for t in box.ins if t.name == box.outs[0].name][:1]
    cut = [t.name for t in spots]
    x = _passing(node, box, picture, box.left + LEAD + (8 if node.kind == "map" else 0), cut)
    middle = (box.left + box.right) / 2
    title = node.title
    if node.kind == "map":
        half = max(9.0, (x - box.left - LEAD) / 2 + 4)
        middle = box.left + LEAD + half if len(merged(node, [t.name for t in box.ins])) else middle
        body = (middle - half, box.upper - HALF, 2 * half, box.lower - box.upper + 2 * HALF, 8.0)
        picture.behind.append(Shape("rect", "map", body, title=title))
        for t in box.ins:
            if not any(out.name == t.name for out in box.outs):
                picture.wires.append(line(((box.left, t.y), (middle, t.y)), t.level, role_of(t.name)))
        _fresh(node, box, picture, middle, (box.upper + box.lower) / 2)
        return
    room = SPARE * width_of(node.sign, "sign")
    half = {"fold": room / 2 + 5, "scan": room / 2 + 12, "read": room / 2 + 9, "shape": 13.0}[node.kind]
    middle = max(middle, x + half + 2)
    if node.kind == "shape":
        for name in node.touches:
            y = next(t.y for t in box.ins if t.name == name)
            points = ((middle - half, y), (middle + half, y - 10), (middle + half, y + 10))
            picture.shapes.append(Shape("path", "shape", pieces=tuple((p,) for p in points), title=title))
        return
    for t in box.ins:
        if t in spots or not any(out.name == t.name for out in box.outs):
            picture.wires.append(line(((box.left, t.y), (middle - half, t.y)), t.level, role_of(t.name)))
    if (
        len({t.arg for t in box.ins}) > 1
    ):  # what is read where an array says, or folded under a mask: all of them belong together
        band = (middle - half - 3, box.upper - HALF, 2 * half + 6, box.lower - box.upper + 2 * HALF, 8.0)
        picture.behind.append(Shape("rect", "map", band, title=title))
    heights = [t.y for t in spots] or [box.outs[0].y]
    for y in heights:
        _sign(node, middle, y, half, room, picture)
    names = {t.name for t in box.ins if t.name not in node.takes and t.name not in cut}
    begun = [t for t in box.outs if t.name not in names]
    picture.wires += [bend(middle + half, heights[-1], box.right, t.y, t.level, role_of(t.name)) for t in begun]


def _sign(node: Node, x: float, y: float, half: float, room: float, picture: Picture) -> None:
    """Draw what an operator does to a wire: a lozenge for reads, a pill with the monoid's sign, steps for prefixes."""
    if node.kind == "read":
        tip = 6.0
        points = (
            (x - half, y),
            (x - half + tip, y - 8),
            (x + half - tip, y - 8),
            (x + half, y),
            (x + half - tip, y + 8),
            (x - half + tip, y + 8),
        )
        picture.shapes.append(Shape("path", "read", pieces=tuple((p,) for p in points), title=node.title))
    else:
        picture.shapes.append(
            Shape("rect", node.kind, (x - half, y - PILL / 2, 2 * half, PILL, PILL / 2), title=node.title)
        )
    center = x
    if node.kind == "scan":
        center, start = x - 6, x - half + 6 + room + 1
        steps: list[Piece] = []
        for n in range(3):
            steps += [((start + 4 * n, y + 4 - 4 * n),), ((start + 4 * n + 4, y + 4 - 4 * n),)]
        picture.shapes.append(Shape("path", "steps", pieces=tuple(steps)))
    if node.sign:
        picture.label(
            [Run(node.sign, "sign")], center, y - 6.4, anchor="middle", role="sign", title=node.title, most=180
        )
