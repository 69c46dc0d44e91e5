"""Along which coordinates the threads of a warp read and write side by side, where Triton does not see it.

Triton puts threads along the dimension whose addresses it knows to be neighbours, and then along the others as they
stand in the tile; where it knows none, as for a place that was computed and held inside an array, along all of them as
they stand. Then, and where rows are so short that threads go on to the next one, the tile is printed with what is
nearest in memory first, and turned round.
"""

from __future__ import annotations

from collections.abc import Callable

from napkin_eq.lang.axis import minor
from napkin_eq.tile.ir import Kernel, Load, Operand, StoreTile, definitions, statements, values_of
from napkin_eq.tile.resources import WARP, adjoining, short_rows

Dims = Callable[[Operand], tuple[str, ...]]


def crossed(kernel: Kernel, dims: Dims) -> dict[Load | StoreTile, tuple[str, ...]]:
    """Return the loads and stores whose dimensions are printed in another order, and the order; `dims`: those of an
    operand's tile.
    """
    made, values = definitions(kernel.body), values_of(kernel.body)
    found: dict[Load | StoreTile, tuple[str, ...]] = {}
    for stmt in statements(kernel.body):
        if not isinstance(stmt, (Load, StoreTile)):
            continue
        spans = [dims(operand) for operand in stmt.index]
        last = minor(kernel.buffer(stmt.buffer).dims)
        own = tuple(c.name for c in kernel.coords if any(c.name in span for span in spans))
        if len(own) < 2:
            continue
        # Of a place that is computed of several coordinates the one is nearest that it is counted along for a warp or
        # more, or the last, which is counted in the smallest steps
        plainly = {
            d for d in spans[last] if kernel.coord(d).tile >= WARP and adjoining(stmt.index[last], made, values, d)
        }
        near = {d: (-at, d not in plainly, -own.index(d)) for at, span in enumerate(spans) for d in span}
        order = tuple(sorted(own, key=near.__getitem__))
        if plainly or (spans[last] and adjoining(stmt.index[last], made, values)):
            first, *others = order
            as_they_stand = not short_rows(kernel.buffer(stmt.buffer)) or others == [d for d in own if d != first]
            order = own if as_they_stand else (*others, first)
        if order != own:
            found[stmt] = order
    return found
