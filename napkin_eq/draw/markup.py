"""Prints a picture as SVG: text stays text, every string is escaped, the same bytes on every run.

Levels have the colours of Okabe and Ito, lighter ones of the same hue on dark paper.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from xml.sax.saxutils import escape

from napkin_eq.draw.picture import SIZES, SPARE, Label, Picture, Piece, Shape, width_of
from napkin_eq.lang.errors import NapkinError

THEMES = ("auto", "light", "dark")
# Paper, ink, the memory levels (black, orange and green of Okabe and Ito), what moves, what is marked; each in the
# light and in the dark.
COLOURS = {
    "paper": ("#ffffff", "#14171c"),
    "ink": ("#1b1f24", "#e9ecf1"),
    "soft": ("#5d6670", "#a2abb6"),
    "faint": ("#b9c0c8", "#4b535d"),
    "high": ("#1b1f24", "#e9ecf1"),
    "chip": ("#d98500", "#f0a92b"),
    "register": ("#009e73", "#2cc79b"),
    "load": ("#bfe3f7", "#1d4a63"),
    "store": ("#efcfe0", "#5d3350"),
    "map": ("#e3e8ee", "#2b323c"),
    "shape": ("#f3e56d", "#a39414"),
    "fold": ("#ffffff", "#14171c"),
    "read": ("#d9ebf8", "#1c3d57"),
    "changed": ("#ffe9c7", "#4a3413"),
    "loop": ("#0072b2", "#6db9ea"),
}
SANS = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'Noto Sans', sans-serif"
SERIF = "'Liberation Serif', 'Times New Roman', Times, 'STIX Two Text', serif"


def svg(picture: Picture, theme: str = "auto") -> str:
    """Return a picture as the text of an SVG file; "auto" follows what the reader's screen prefers."""
    body = "\n".join(_body(picture))
    name = "n" + hashlib.sha256((theme + body).encode()).hexdigest()[:10]
    used = {word for classes in re.findall(r'class="([^"]*)"', body) for word in classes.split()}
    width, height = _n(picture.width), _n(picture.height)
    about = f"<title>{_text(picture.title)}</title>" if picture.title else ""
    about += f"<desc>{_text(picture.description)}</desc>" if picture.description else ""
    box = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" id="{name}" class="napkin" {box} role="img">'
    back = f'<rect class="paper" width="{width}" height="{height}"/>'
    return f"{head}{about}\n<style>{_style(name, theme, used)}</style>\n{back}\n{body}\n</svg>\n"


def _style(name: str, theme: str, classes: Set[str]) -> str:
    """Return the rules that are used, each held to this picture by its name, as several may stand in one page.

    Colours stand in them as they are, the dark ones after the light: what knows no variables and no themes, as drawing
    and slide programs, shows the light ones.
    """
    light, dark = (_rules({key: pair[n] for key, pair in COLOURS.items()}) for n in (0, 1))
    if theme != "auto":
        return _held(light if theme == "light" else dark, name, classes)
    colours = {key: ";".join(d for d in dark[key].split(";") if d not in light[key].split(";")) for key in dark}
    night = _held({key: value for key, value in colours.items() if value}, name, classes)
    return f"{_held(light, name, classes)}@media (prefers-color-scheme:dark){{{night}}}"


def _held(rules: Mapping[str, str], name: str, classes: Set[str]) -> str:
    kept = []
    for key, value in rules.items():
        parts = [part for part in key.split(",") if part.removeprefix(".") in {*classes, "paper", "text"}]
        kept += [",".join(f"#{name} {part}" for part in parts) + f"{{{value}}}"] * bool(parts)
    return "".join(kept)


def _rules(used: Mapping[str, str]) -> dict[str, str]:
    """Return what is said of each class of shapes and texts, in these colours."""
    return {
        ".paper": f"fill:{used['paper']}",
        ".w": "fill:none;stroke-width:1.5",
        ".dash": f"fill:none;stroke:{used['faint']};stroke-dasharray:5 4",
        ".item": "stroke-width:2.4;stroke-dasharray:.1 4.5;stroke-linecap:round",
        **{f".{level}": f"stroke:{used[level]}" for level in ("high", "chip", "register")},
        **{f".dot-{level}": f"fill:{used[level]}" for level in ("high", "chip", "register")},
        **{f".{role}": f"fill:{used[role]}" for role in ("load", "store", "map")},
        ".shape": f"fill:{used['shape']};stroke:{used['ink']};stroke-width:1.1",
        ".frame": f"fill:none;stroke:{used['faint']}",
        ".changed": f"fill:{used['changed']}",
        ".fold,.scan": f"fill:{used['fold']};stroke:{used['ink']};stroke-width:1.1",
        ".read": f"fill:{used['read']};stroke:{used['loop']};stroke-width:1.1",
        ".steps": f"fill:none;stroke:{used['ink']};stroke-width:1.1",
        ".bar": f"fill:{used['ink']}",
        ".rule": f"fill:{used['faint']}",
        ".bracket-loop": f"fill:none;stroke:{used['loop']};stroke-width:1.4",
        ".bracket-kernel,.bracket-times": f"fill:none;stroke:{used['soft']};stroke-width:1.4",
        "text": f"fill:{used['ink']};font-family:{SANS}",
        ".axis,.caption,.sub,.sup": f"font-family:{SERIF};font-style:italic",
        **{f".{style}": f"font-size:{_n(SIZES[style])}px" for style in SIZES},
        ".name,.title": "font-weight:600",
        ".size,.cost,.note": f"fill:{used['soft']}",
    }


def _body(picture: Picture) -> Iterable[str]:
    for shape in picture.behind:
        yield _shape(shape)
    wires: dict[tuple[str, str], list[str]] = {}
    for wire in picture.wires:
        wires.setdefault((wire.role, wire.level), []).append(_path(wire.pieces))
    for (role, level), paths in sorted(wires.items()):
        kind = "dash" if role == "dash" else f"w {level}" + (" item" if role == "item" else "")
        yield f'<path class="{kind}" d="{"".join(dict.fromkeys(paths))}"/>'
    for shape in picture.shapes:
        yield _shape(shape)
    yield from map(_label, picture.labels)


def _shape(shape: Shape) -> str:
    title = f"<title>{_text(shape.title)}</title>" if shape.title else ""
    if shape.form == "rect":
        x, y, width, height, corner = map(_n, shape.numbers)
        inside = f'<rect class="{shape.role}" x="{x}" y="{y}" width="{width}" height="{height}"' + (
            f' rx="{corner}"' if corner != "0" else ""
        )
        return f"{inside}>{title}</rect>" if title else f"{inside}/>"
    if shape.form == "dot":
        x, y, radius = map(_n, shape.numbers)
        return f'<circle class="{shape.role}" cx="{x}" cy="{y}" r="{radius}"/>'
    closed = "" if shape.role == "steps" or shape.role.startswith("bracket") else "Z"
    inside = f'<path class="{shape.role}" d="{_path(shape.pieces)}{closed}"'
    return f"{inside}>{title}</path>" if title else f"{inside}/>"


def _path(pieces: Sequence[Piece]) -> str:
    parts, last = [], ""
    for number, piece in enumerate(pieces):
        letter = "M" if not number else "L" if len(piece) == 1 else "C"
        parts.append(letter + " ".join(f"{_n(x)} {_n(y)}" for x, y in piece))
        last = letter
    return "".join(parts) if last else ""


def _label(label: Label) -> str:
    """Return a line of text in the middle of its box: a narrower font leaves the same room on both sides."""
    first = label.runs[0] if label.runs else None
    if first is None:
        return ""
    base = label.y + label.height * 0.8
    y = _n(base)
    x, anchor = (
        (label.x, "") if label.role in ("title", "about") else (label.x + label.width / 2, ' text-anchor="middle"')
    )
    title = f"<title>{_text(label.title)}</title>" if label.title else ""
    if len(label.runs) == 1:
        return f'<text class="{first.style}" x="{_n(x)}" y="{y}"{anchor}>{_text(first.text)}{title}</text>'
    # Runs begin at places of their own: not every renderer puts a line of several of them into the middle.
    at = label.x + label.width * (1 - 1 / SPARE) / 2
    parts = []
    for run in label.runs:
        lift = {"sub": 2.6, "sup": -4.0}.get(run.style, 0.0)
        parts.append(f'<tspan class="{run.style}" x="{_n(at)}" y="{_n(base + lift)}">{_text(run.text)}</tspan>')
        at += width_of(run.text, run.style)
    return f"<text>{''.join(parts)}{title}</text>"


def _text(text: str) -> str:
    """Return a text escaped, without the characters that XML does not know."""
    return escape("".join(c if c.isprintable() or c in "\t\n" else "\ufffd" for c in text), {'"': "&quot;"})


def _n(number: float) -> str:
    """Return a number to a tenth of a pixel."""
    return f"{number:.1f}".removesuffix(".0").replace("-0.0", "0")


def rendered(text: str, form: str) -> bytes:
    """Return an SVG of a fixed theme as PNG or PDF.

    Raises NapkinError where CairoSVG, or the cairo library that it calls, is missing.
    """
    try:
        import cairosvg
    except (ImportError, OSError) as missing:
        how = "pip install 'napkin-eq[pictures]', and the cairo library of the system; SVG needs neither"
        raise NapkinError(
            f"draw: {form} is made by CairoSVG, which cannot be loaded ({missing!s:.80}): {how}"
        ) from None
    convert = {"png": cairosvg.svg2png, "pdf": cairosvg.svg2pdf}[form]
    made: bytes = convert(bytestring=text.encode(), **({"scale": 2.0} if form == "png" else {}))
    return made
