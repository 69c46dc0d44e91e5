"""Along which coordinate the threads of a warp read side by side, where Triton does not see it.

Triton puts threads along the dimension whose addresses it knows to be neighbours, and where it knows none, as for a place that was computed and
held inside an array, along the first one of the tile. Then the tile is read with the coordinate of the least stride first, and turned round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from napkin_eq.tile.ir import Iota, Kernel, Let, Load, Operand, Stmt, statements

Dims = Callable[[Operand], tuple[str, ...]]


def crossed(kernel: Kernel, dims: Dims) -> dict[str, tuple[str, ...]]:
    """Return the loads that are read with their dimensions in another order, and the order; `dims`: those of an operand's tile."""
    made = {s.out.name: s for s in statements(kernel.body) if hasattr(s, "out")}
    found: dict[str, tuple[str, ...]] = {}
    for load in (s for s in made.values() if isinstance(s, Load)):
        spans = [dims(operand) for operand in load.index]
        own = tuple(c.name for c in kernel.coords if any(c.name in span for span in spans))
        if len(own) < 2 or (spans[-1] and _adjoin(load.index[-1], made, dims)):
            continue
        near = {d: at for at, span in enumerate(spans) for d in span}
        order = tuple(sorted(own, key=lambda d: (-near[d], own.index(d))))
        if order != own:
            found[load.out.name] = order
    return found


def _adjoin(operand: Operand, made: Mapping[str, Stmt], dims: Dims) -> bool:
    """Tell whether neighbouring lanes of a place are neighbours, plainly enough for the compiler: counted up, and moved."""
    stmt = made.get(str(operand))
    if isinstance(stmt, Iota):
        return True
    if not isinstance(stmt, Let):
        return False
    wide = [arg for arg in stmt.args if dims(arg)]
    if stmt.op == "cast":
        return len(wide) == 1 and _adjoin(wide[0], made, dims)
    return stmt.op == "add" and len(wide) >= 1 and all(_adjoin(arg, made, dims) for arg in wide[-1:])
