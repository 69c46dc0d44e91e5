"""How the elements of a load or a store lie in memory: which are neighbours, how many a thread may take at once, how
far rows lie apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from napkin_eq.lang.axis import Axis
from napkin_eq.tile import ir as p
from napkin_eq.tile.resources import BYTES, SECTOR, nearest, neighbours_taken

FAR_APART = 1 << 30  # elements between rows of which nothing is known, or of which there is one


@dataclass(frozen=True, slots=True)
class Near:
    """The neighbours of a tile in memory, which lie along the coordinate `last`, `apart` elements from one to the next;
    "" where there are none.

    vector: how many of them a thread may take at once. pitch: how many elements after a row of them the next row of the
    tile begins. skewed: rows of the array begin within what memory takes at once, not with it.
    """

    last: str = ""
    apart: int = 1
    vector: int = 1
    pitch: int = FAR_APART
    skewed: bool = False


def near(
    kernel: p.Kernel, stmt: p.Load | p.StoreTile, made: Mapping[str, p.Defining], values: Mapping[str, p.Value]
) -> Near:
    """Return how the elements of a load or a store lie."""
    dims = kernel.buffer(stmt.buffer).dims
    last, apart = nearest(stmt.index, made, values, dims)
    return Near(
        last,
        apart,
        neighbours_taken(kernel, stmt, last, made, values) if last and apart == 1 else 1,
        _pitch(stmt.index, values, dims, last),
        bool(last) and apart == 1 and _skewed(kernel.buffer(stmt.buffer)),
    )


def _skewed(buffer: p.Buffer) -> bool:
    row = buffer.dims[-1].size
    return len(buffer.dims) > 1 and row is not None and row > 1 and row * BYTES[buffer.dtype] % SECTOR != 0


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
