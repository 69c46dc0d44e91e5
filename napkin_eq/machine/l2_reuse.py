"""How often a grid's walk brings a buffer from memory anew, the cache holding what was read in between or not.

Blocks run in the order of their numbers, so many at once. Along a coordinate that a buffer does not have, its parts are
read again; between two of those readings the faster coordinates pass through all their blocks, and what these touch is
the distance that the cache has to span (a stack distance, Mattson et al., "Evaluation techniques for storage
hierarchies", IBM Systems Journal 9(2), 1970, for whole parts).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from napkin_eq.tile.ir import Kernel

Order = Sequence[tuple[str, float]]  # coordinates of the grid with their blocks, the slowest first


@dataclass(frozen=True, slots=True)
class Part:
    """What a block reads of a buffer: the coordinates of the grid that say which part, its bytes, and how often the
    block reads it.
    """

    coords: frozenset[str]
    size: float
    times: float


def walk(kernel: Kernel, counts: Mapping[str, int]) -> Order:
    """Return the order in which blocks run; rows that are visited in groups stand twice, as groups and
    within a group.
    """
    order: list[tuple[str, float]] = [(name, counts[name]) for name in kernel.grid]
    if kernel.swizzle:
        row, column, depth = kernel.swizzle
        rows = counts[row]
        return [*order[:-2], (row, max(1.0, rows / depth)), (column, counts[column]), (row, min(rows, depth))]
    return order


def brought(order: Order, parts: Mapping[str, Part], name: str, at_once: int, cached: float) -> float:
    """Return the bytes of a buffer that come from memory: `at_once` blocks run at a time, `cached` bytes are kept
    between them.
    """
    mine = parts[name]
    each = mine.size * math.prod(count for coord, count in order if coord in mine.coords)
    running = min(at_once, math.prod(count for coord, count in order if coord in mine.coords))
    if mine.times > 1 and running * mine.size > cached:
        each *= mine.times
    for place, (coord, count) in enumerate(order):
        faster = order[place + 1 :]
        if coord in mine.coords or count == 1:
            continue
        between = sum(part.size * math.prod(n for c, n in faster if c in part.coords) for part in parts.values())
        if between > cached:
            together = max(1.0, at_once / math.prod(n for _, n in faster))
            each *= max(1.0, count / together)
    return each
