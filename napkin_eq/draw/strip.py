"""The film strip of a derivation: the diagram, each move with its law, and the plan.

As a picture, or as HTML in which moves open.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from napkin_eq.draw import drawn
from napkin_eq.draw.laws import law_picture
from napkin_eq.draw.markup import svg
from napkin_eq.draw.moves import Move, moves
from napkin_eq.draw.picture import Picture, Run, Shape, wide
from napkin_eq.laws.law import Law
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.pipeline.text import part

TEXT, GAP, EDGE, LINE = 400.0, 22.0, 18.0, 17.0
MOST_STEPS, LONGEST = 400, 400


def strip(derivation: Derivation) -> Picture:
    """Return the film strip as one picture: the diagram, a row for each move, the plan."""
    laws = laws_of(derivation)
    rows = [(number, move, law_of(move, laws)) for number, move in enumerate(moves(derivation), 1)]
    frames = [drawn(derivation.diagram), drawn(derivation)]
    whole = Picture(
        f"{derivation.diagram.name}: the derivation", f"{len(rows)} moves from the diagram to the plan", 0.0, 0.0
    )
    whole.width = max(
        [*(frame.width for frame in frames), *(TEXT + GAP + 3 * EDGE + (law.width if law else 0) for _, _, law in rows)]
    )
    y = _framed(whole, frames[0], EDGE)
    for number, move, law in rows:
        y = _row(whole, number, move, law, y)
    whole.height = _framed(whole, frames[1], y) + EDGE - GAP
    return whole


def laws_of(derivation: Derivation) -> dict[str, Law]:
    """Return the laws among a derivation's statements, by name."""
    return {s.name: s for s in derivation.statements if isinstance(s, Law)}


def law_of(move: Move, laws: dict[str, Law]) -> Picture | None:
    """Return the picture of a move's main law, None where that is no law."""
    return law_picture(laws[move.laws[0].law]) if move.laws[0].law in laws else None


def _framed(whole: Picture, frame: Picture, y: float) -> float:
    whole.placed(frame, 0, y)
    return y + frame.height + GAP


def _row(whole: Picture, number: int, move: Move, law: Picture | None, y: float) -> float:
    """Draw a move: its words to the left, its law to the right; return where the next row begins."""
    lines = words(number, move)
    height = max(LINE * len(lines) + 10, law.height if law else 0.0) + 2 * 8
    whole.behind.append(Shape("rect", "frame", (EDGE / 2, y, whole.width - EDGE, height, 8.0)))
    top = y + (height - LINE * len(lines)) / 2
    for place, run in enumerate(lines):
        title = f"{move.shown[0]}  →  {move.shown[1]}" if place == 0 else ""
        whole.label([run], EDGE + 4, top + LINE * place, role="about", title=title, most=TEXT)
    if law:
        whole.placed(law, EDGE + TEXT * 1.12 + GAP, y + (height - law.height) / 2)
        whole.width = max(whole.width, EDGE + TEXT * 1.12 + GAP + law.width + EDGE)
    return y + height + GAP / 2


def words(number: int, move: Move) -> list[Run]:
    """Return the lines of a move: its title, what its law says, the law's name and grade, what it did."""
    main = move.laws[0]
    others = sum(used.count for used in move.laws[1:])
    times = f", {main.count} times" if main.count > 1 else ""
    more = f", and {others} step{'s' if others > 1 else ''} leading to it" if others else ""
    lines = [Run(f"{number}  {move.title}", "name")]
    lines += [Run(line, "note") for line in _broken(main.reading)]
    lines.append(Run(f"law {main.law}, grade {move.grade}{times}{more}", "note"))
    return [*lines, Run(move.effect, "sign")] if move.effect else lines


def _broken(text: str) -> list[str]:
    """Break a sentence into lines of the width of the words' column."""
    lines = [""]
    for word in text.split():
        if wide([Run(f"{lines[-1]} {word}", "note")]) > TEXT and lines[-1]:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines[:4]


def page(derivation: Derivation) -> str:
    """Return the film strip as HTML without scripts: each move opens to its laws and to its steps."""
    laws = laws_of(derivation)
    found = moves(derivation)
    name = escape(derivation.diagram.name)
    rows = "\n".join(_opened(number, move, law_of(move, laws)) for number, move in enumerate(found, 1))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{name}: the derivation</title>\n<style>{STYLE}</style></head><body>\n"
        f"<h1>{name}: the derivation in {len(found)} moves</h1>\n"
        f"<figure>{svg(drawn(derivation.diagram))}</figure>\n<ol>\n{rows}\n</ol>\n"
        f"<figure>{svg(drawn(derivation))}</figure>\n</body></html>\n"
    )


def steps_of(move: Move) -> dict[tuple[str, str, str], int]:
    """Return the first steps of a move, each with how often it stands there: its law, what it changes and into what, as
    text.
    """
    seen: dict[tuple[str, str, str], int] = {}
    for step in move.steps[:MOST_STEPS]:
        key = (step.law, str(part(step.before, step.path))[:LONGEST], str(part(step.after, step.path))[:LONGEST])
        seen[key] = seen.get(key, 0) + 1
    return seen


def _opened(number: int, move: Move, law: Picture | None) -> str:
    """Return a move as an element that opens."""
    _, *lines = words(number, move)
    steps = "\n".join(
        f"<li><b>{escape(name)}</b>{f' at {count} places' if count > 1 else ''}<br>"
        f"<code>{escape(old)}</code> → <code>{escape(new)}</code></li>"
        for (name, old, new), count in steps_of(move).items()
    )
    about = "<br>".join(escape(line.text) for line in lines)
    return (
        f"<li><details><summary><b>{escape(move.title)}</b><br>{about}</summary>\n"
        f"{f'<figure>{svg(law)}</figure>' if law else ''}\n<ul>\n{steps}\n</ul></details></li>"
    )


STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:15px/1.5 Helvetica,Arial,sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem}"
    "figure{margin:1rem 0;overflow-x:auto}code{overflow-wrap:anywhere}summary{cursor:pointer}li{margin:.6rem 0}"
)


def text_of(found: Sequence[Move]) -> str:
    """Return the moves as text, each with its law and what it did."""
    lines = []
    for number, move in enumerate(found, 1):
        title, *rest = words(number, move)
        lines += [
            f"{title.text}  [{move.grade}]",
            *(f"   {run.text}" for run in rest),
            f"   {move.shown[0]:.110}  →  {move.shown[1]:.110}",
        ]
    return "\n".join(lines)
