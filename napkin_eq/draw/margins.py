"""What stands around the columns of a picture, costs above, brackets below, the title; and the bands of a wide one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from napkin_eq.draw.circuit import CHIP, HIGH, LEVELS, REGISTER, Bracket, Circuit, Node
from napkin_eq.draw.order import Item
from napkin_eq.draw.pictograms import line
from napkin_eq.draw.picture import SPARE, Picture, Run, Shape, shortened, wide
from napkin_eq.draw.tracks import Tracks

EDGE, ROW = 16.0, 16.0
SHORTEST = 0.75  # of its share of the width, so much a band has at least
TALL, ROOM = 60.0, 34.0  # what is taller may be shortened; what is left of an empty stretch
UNITS = ("", "k", "M", "G", "T", "P", "E")
NAMES = {HIGH: "memory of the GPU", CHIP: "shared memory", REGISTER: "registers"}
MEANING = {
    "H": "bytes moved between levels by all blocks together",
    "M": "bytes on chip for one block: all that lies there in this column",
    "FLOP": "operations",
}
Rows = list[tuple[str, dict[int, str]]]


def amount(number: float | None, unit: str, digits: int = 3) -> str:
    """Return a number with a metric prefix, "" for one that is not known."""
    if number is None:
        return ""
    value, power = float(number), 0
    while value >= 999.5 and power < len(UNITS) - 1:
        value, power = value / 1000, power + 1
    return f"{value:.{digits}g} {UNITS[power]}{unit}"


def cost_rows(circuit: Circuit, columns: Sequence[Sequence[Item]], tracks: Tracks) -> Rows:
    """Return the rows above the columns: the bytes that they move, the bytes on chip, their operations."""
    if not circuit.costs:
        return []
    rows = []
    for name, unit, field in (("H", "B", "moved"), ("M", "B", "held"), ("FLOP", "", "flops")):
        cells = {}
        for k, items in enumerate(columns):
            beside = {e.value for e in (*tracks.before[k], *tracks.after[k])}
            found = [item.value for item in items if not item.passes]
            known = [getattr(circuit.nodes[place], field) for place in (sorted(beside) if field == "held" else found)]
            works = any(circuit.nodes[place].kind not in ("input", "output") for place in found)
            if works and any(known):
                cells[k] = amount(sum(number for number in known if number is not None), unit)
        if cells:
            rows.append((name, cells))
    return rows


def costs(picture: Picture, rows: Rows, middles: Mapping[int, float], top: float, start: float, end: float) -> None:
    """Write the rows of costs, each cell in the middle of its column."""
    for number, (name, cells) in enumerate(rows):
        y = top + ROW * number
        picture.label([Run(name, "cost")], start - 12, y, anchor="end", title=MEANING[name], role="costname")
        for k, text in cells.items():
            picture.label(
                [Run(text, "cost")], middles[k], y, anchor="middle", title=f"{MEANING[name]}: {text}", role="cost"
            )
    if rows:
        y = top + ROW * len(rows)
        picture.shapes.append(Shape("rect", "rule", (start - 8, y, end - start + 8, 0.8, 0.0)))


def parts(
    found: Sequence[Bracket], columns: Sequence[Sequence[Item]], bands: Sequence[tuple[int, int]]
) -> dict[int, list[Bracket]]:
    """Return what of each bracket stands in each band, by the band's first column: where it goes on, its
    words say so.
    """
    at = {item.value: k for k, items in enumerate(columns) for item in items if not item.passes}
    cut: dict[int, list[Bracket]] = {first: [] for first, _ in bands}
    for bracket in found:
        inside = {first: tuple(n for n in bracket.nodes if n in at and first <= at[n] < last) for first, last in bands}
        inside = {first: nodes for first, nodes in inside.items() if nodes}
        for number, (first, nodes) in enumerate(inside.items(), 1):
            more = f", part {number} of {len(inside)}" if len(inside) > 1 else ""
            cut[first].append(replace(bracket, nodes=nodes, caption=bracket.caption + more))
    return cut


def brackets(
    picture: Picture,
    found: Sequence[Bracket],
    columns: Mapping[int, tuple[float, float]],
    y: float,
    sides: tuple[float, float],
) -> float:
    """Draw frames around kernels and brackets below loops, their words between the sides where there is room.

    Return how low they reach.
    """
    lowest = y
    taken: list[list[tuple[float, float]]] = []
    for bracket in found:
        spans = [columns[place] for place in bracket.nodes if place in columns]
        if not spans:
            continue
        left, right = min(s[0] for s in spans), max(s[1] for s in spans)
        runs = [Run(shortened(bracket.caption, "note", max(620.0, right - left)), "note")]
        room = wide(runs)
        middle = max(min((left + right) / 2, sides[1] - room / 2), sides[0] + room / 2)
        low, high = min(left, middle - room / 2) - 6, max(right, middle + room / 2) + 6
        row = next((n for n, spans in enumerate(taken) if all(high <= a or b <= low for a, b in spans)), len(taken))
        taken += [[]] * (row == len(taken))
        taken[row] = [*taken[row], (low, high)]
        at = y + 6 + 32 * row
        picture.shapes.append(
            Shape(
                "path",
                f"bracket-{bracket.kind}",
                pieces=(((left + 2, at),), ((left + 2, at + 7),), ((right - 2, at + 7),), ((right - 2, at),)),
            )
        )
        picture.label(runs, middle, at + 11, anchor="middle", title=bracket.caption, role="note", most=2000)
        lowest = max(lowest, at + 28)
    return lowest


def reach(picture: Picture) -> tuple[float, float]:
    """Return how high and how low the wires, shapes and labels of a picture reach."""
    points = [y for wire in picture.wires for _, y in wire.points()]
    boxes = [shape.box() for shape in picture.shapes]
    uppers = [*points, *(box[1] for box in boxes), *(label.y for label in picture.labels)]
    lowers = [*points, *(box[3] for box in boxes), *(label.y + label.height for label in picture.labels)]
    return min(uppers, default=0.0), max(lowers, default=0.0)


def squeezed(picture: Picture) -> Picture:
    """Return a picture without the height in which nothing lies but what leads from above it to below it."""
    lies: list[tuple[float, float]] = [(label.y - 4, label.y + label.height + 4) for label in picture.labels]
    for wire in picture.wires:
        heights = [y for piece in wire.pieces for _, y in piece]
        lies += [(y - 6, y + 6) for y in (heights[0], heights[-1])]
        if max(heights) - min(heights) < TALL:
            lies.append((min(heights) - 6, max(heights) + 6))
    for shape in picture.shapes + picture.behind:
        _, upper, _, lower = shape.box()
        lies += [(upper - 4, lower + 4)] if lower - upper < TALL else [(upper - 4, upper + 16), (lower - 16, lower + 4)]
    gaps, reached = list[tuple[float, float]](), math.inf
    for upper, lower in sorted(lies):
        if upper - reached > ROOM:
            gaps.append((reached, upper - reached - ROOM))
        reached = lower if reached == math.inf else max(reached, lower)

    def at(y: float) -> float:
        return y - sum(min(lost, max(0.0, y - begins)) for begins, lost in gaps)

    return picture.mapped(at)


def legend(picture: Picture, nodes: Sequence[Node], y: float, x: float) -> float:
    """Say below which colours are which memory levels, where there is more than one.

    Return how low that reaches.
    """
    levels = [level for level in LEVELS if any(node.level == level for node in nodes)]
    if len(levels) < 2:
        return y
    for level in levels:
        picture.wires.append(line(((x, y + 14), (x + 22, y + 14)), level))
        label = picture.label([Run(NAMES[level], "note")], x + 28, y + 8, role="legend")
        x = label.x + label.width + 14
    return y + 24


def finished(
    found: Picture, title: str, about: str, notes: Sequence[str], right: float, top: float, bottom: float
) -> Picture:
    """Add the title and notes, and move all so that it begins at the edge."""
    left = min([0.0, *(label.x for label in found.labels)])
    end = max([right, *(label.x + label.width for label in found.labels)])
    if title:
        top -= 8
        for note in reversed(notes):
            top -= 16
            found.label([Run(note, "note")], left, top, role="about", most=max(end - left, 360.0) / SPARE)
        top -= 22
        found.label([Run(title, "title")], left, top, role="title", most=max(end - left, 360.0) / SPARE)
        end = max(end, *(label.x + label.width for label in found.labels))
    whole = Picture(title, about, math.ceil(end - left + 2 * EDGE), math.ceil(bottom - top + 2 * EDGE))
    whole.placed(found, EDGE - left, EDGE - top)
    return whole


def bands(ends: Sequence[float], crossing: Sequence[tuple[int, float]], widest: float) -> list[tuple[int, int]]:
    """Return the columns of each band, first and one behind the last: as few as there must be, about equally wide.

    ends: where each column ends. crossing: how many wires leave it, and how far apart: a band ends where few do.
    """
    number = max(1, math.ceil(ends[-1] / widest)) if ends else 1
    found, first, begun = list[tuple[int, int]](), 0, 0.0
    for left in range(number, 1, -1):
        share = (ends[-1] - begun) / left
        least = max(SHORTEST * share, ends[-1] - begun - (left - 1) * widest)
        near = [k for k in range(first, len(ends) - 1) if least <= ends[k] - begun <= widest]
        if not near:
            near = [next((k for k in range(first, len(ends) - 1) if ends[k] - begun > share), len(ends) - 2)]
        last = min(near, key=lambda k: (*crossing[k], abs(ends[k] - begun - share)))
        if last < first:
            break
        found.append((first, last + 1))
        first, begun = last + 1, ends[last]
    return [*found, (first, len(ends))] if first < len(ends) else found
