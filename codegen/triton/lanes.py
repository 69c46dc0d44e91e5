"""Along which coordinate the threads of a warp read side by side, where Triton does not see it.

Triton puts threads along the dimension whose addresses it knows to be neighbours, and where it knows none, as for a place that was computed and
held inside an array, along the first one of the tile. Then the tile is read with the coordinate of the least stride first, and turned round.
"""

from __future__ import annotations

from collections.abc import Callable

from napkin_eq.tile.ir import Kernel, Load, Operand, definitions, values_of
from napkin_eq.tile.resources import adjoining

Dims = Callable[[Operand], tuple[str, ...]]


def crossed(kernel: Kernel, dims: Dims) -> dict[str, tuple[str, ...]]:
    """Return the loads that are read with their dimensions in another order, and the order; `dims`: those of an operand's tile."""
    made, values = definitions(kernel.body), values_of(kernel.body)
    found: dict[str, tuple[str, ...]] = {}
    for load in (s for s in made.values() if isinstance(s, Load)):
        spans = [dims(operand) for operand in load.index]
        own = tuple(c.name for c in kernel.coords if any(c.name in span for span in spans))
        if len(own) < 2 or (spans[-1] and adjoining(load.index[-1], made, values)):
            continue
        near = {d: at for at, span in enumerate(spans) for d in span}
        order = tuple(sorted(own, key=lambda d: (-near[d], own.index(d))))
        if order != own:
            found[load.out.name] = order
    return found
