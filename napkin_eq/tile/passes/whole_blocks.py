"""Which masks a kernel's whole blocks are done without: those of the end of an axis whose length leaves a remainder.

A mask that ends at any lane keeps a compiler from taking neighbours in memory together, in every block, though in the
last one alone a lane is outside. Such a kernel says so, and its printer writes its statements twice: without these
masks for the blocks that end before the axis does, and as they are. What is said of a kernel is said of the latter.
"""

from __future__ import annotations

import math
from dataclasses import replace

from napkin_eq.lang.axis import Axis, minor
from napkin_eq.tile import ir as p
from napkin_eq.tile.accesses import ends
from napkin_eq.tile.resources import BYTES, VECTOR_BYTES, adjoining, neighbours


def edged(kernel: p.Kernel) -> p.Kernel:
    """Return a kernel that says which masks its whole blocks are done without, where that lets neighbours of its
    largest tiles be taken together; one that walks nothing, as a loop written twice is long.
    """
    if any(isinstance(stmt, p.Loop) for stmt in kernel.body) or not (edges := ends(kernel)):
        return kernel
    made, values = p.definitions(kernel.body), p.values_of(kernel.body)
    found: dict[str, None] = {}
    accesses = [s for s in kernel.body if isinstance(s, (p.Load, p.StoreTile))]
    spans = {s: len(values[s.out.name if isinstance(s, p.Load) else s.value].coords) for s in accesses}
    widest = max(spans.values(), default=0)
    for stmt in accesses:
        if spans[stmt] == widest and (last := neighbours(kernel, stmt, values)):
            own = [mask for mask in stmt.masks if edges.get(mask) == last]
            buffer, axis = kernel.buffer(stmt.buffer), kernel.coord(last).axis
            rows = [_known(buffer.dims[minor(buffer.dims)])] if len(buffer.dims) > 1 else []
            most = math.gcd(VECTOR_BYTES // BYTES[buffer.dtype], *rows)
            if own and adjoining(kernel.minor(stmt), made, values) and math.gcd(most, _known(axis)) < most:
                found |= dict.fromkeys(own)
    one = len({edges[mask] for mask in found}) == 1
    return replace(kernel, edges=tuple(found)) if one else kernel


def _known(axis: Axis) -> int:
    """Return what an axis' length is a multiple of, whatever it is."""
    return axis.size or axis.multiple
