"""How the elements of a load or a store lie in memory: which are neighbours, how many a thread may take at once, how
far rows lie apart; and which masks say no more than where an axis ends.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from napkin_eq.lang.axis import Axis, minor
from napkin_eq.tile import ir as p
from napkin_eq.tile.resources import BYTES, SECTOR, WARP, moved_by, nearest, neighbours_taken, repeated

FAR_APART = 1 << 30  # elements between rows of which nothing is known, or of which there is one


@dataclass(frozen=True, slots=True)
class Near:
    """The neighbours of a tile in memory, which lie along the coordinate `last`, `apart` elements from one to the next;
    "" where there are none.

    vector: how many of them a thread may take at once. pitch: how many elements after a row of them the next row of the
    tile begins. skewed: rows of the array begin within what memory takes at once, not with it, and a tile does not go
    on from one in the next. repeated: how many lanes
    side by side have one place, as quotients of places do. sums: the coordinates whose sum a place is, as in windows,
    and by how much each of them moves it: of their lanes some have one place. along: so the coordinates that neighbours
    lie along, `last` alone or those of the sum that it is in.
    """

    last: str = ""
    apart: int = 1
    vector: int = 1
    pitch: int = FAR_APART
    skewed: bool = False
    repeated: int = 1
    sums: tuple[tuple[tuple[str, int], ...], ...] = ()
    along: tuple[tuple[str, int], ...] = ()

    def distinct(self, lanes: Mapping[str, int], coords: Sequence[str]) -> float:
        """Return the part of a tile's lanes that have a place of their own; coords: those of the tile."""
        part = 1 / min(self.repeated, math.prod(lanes[c] for c in coords)) if self.repeated > 1 else 1.0
        for steps in self.sums:
            places = 1 + sum((lanes[c] - 1) * step for c, step in steps)
            part *= min(1.0, places / math.prod(lanes[c] for c, _ in steps))
        return part


def near(
    kernel: p.Kernel, stmt: p.Load | p.StoreTile, made: Mapping[str, p.Defining], values: Mapping[str, p.Value]
) -> Near:
    """Return how the elements of a load or a store lie."""
    dims = kernel.buffer(stmt.buffer).dims
    dots = any(isinstance(part, p.Dot) for part in made.values())

    def least(axis: Axis) -> int:
        # A warp takes no more than one row, or passes over less than it takes: as much again at the most
        return min(WARP, -(-(axis.size or WARP) // 2)) if dots else WARP

    last, apart = nearest(stmt.index, made, values, dims, least)
    places = zip(stmt.index, dims, strict=True)
    sums = tuple(steps for i, axis in places if len(steps := moved_by(i, made, values, least(axis))) > 1)
    alone = ((last, 1),) if last else ()
    return Near(
        last,
        apart,
        neighbours_taken(kernel, stmt, last, made, values) if last and apart == 1 else 1,
        _pitch(stmt.index, values, dims, last),
        bool(last) and apart == 1 and _skewed(kernel.buffer(stmt.buffer)) and not _goes_on(stmt.index, values),
        repeated(stmt.index, made, values),
        sums,
        next((steps for steps in sums if last in dict(steps)), alone),
    )


def ends(kernel: p.Kernel) -> Mapping[str, str]:
    """Return the masks of the lanes that lie before the end of an axis that blocks of the grid are of, each with its
    coordinate.
    """
    lanes = {s.out.name: s.coord for s in kernel.body if isinstance(s, p.Iota) and s.coord in kernel.grid}
    sizes = {s.out.name: s.axis for s in kernel.body if isinstance(s, p.SizeOf)}
    found: dict[str, str] = {}
    for stmt in kernel.body:
        if isinstance(stmt, p.Let) and stmt.op == "lt" and (coord := lanes.get(str(stmt.args[0]))) is not None:
            axis, end = kernel.coord(coord).axis, stmt.args[1]
            if end == axis.size or sizes.get(str(end)) == axis:
                found[stmt.out.name] = coord
    return found


def _skewed(buffer: p.Buffer) -> bool:
    row = buffer.dims[minor(buffer.dims)].size
    return len(buffer.dims) > 1 and row is not None and row > 1 and row * BYTES[buffer.dtype] % SECTOR != 0


def _goes_on(index: Sequence[p.Operand], values: Mapping[str, p.Value]) -> bool:
    """Tell whether neighbours at the end of a row go on in the next: one coordinate is place and row."""
    *rows, place = ({*values[i].coords} if isinstance(i, str) else set() for i in index)
    return any(row & place for row in rows)


def _pitch(index: Sequence[p.Operand], values: Mapping[str, p.Value], dims: Sequence[Axis], last: str) -> int:
    """Return how many elements lie between two rows of a tile that are nearest each other; rows lie along `last`."""
    apart = 1
    for operand, axis in zip(reversed(index), reversed(dims), strict=True):
        if isinstance(operand, str) and any(coord != last for coord in values[operand].coords):
            return apart
        if axis.size is None:
            break
        apart *= axis.size
    return FAR_APART
