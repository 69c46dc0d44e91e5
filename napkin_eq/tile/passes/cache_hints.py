"""Eviction: what a block reads again stays in the level-2 cache, what it reads for the last time, or writes, makes
room.

Without saying so, blocks at work together lose what they will read again to what they write (rows of 65,536 on an H200:
3 to 18 % longer).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from napkin_eq.tile.ir import Evictions, Kernel, Load, Plan, statements


def cache_hints(plan: Plan) -> Plan:
    """Return the plan with what its kernels say of their loads and stores; nothing where no block reads twice."""
    outputs = {buffer.name for buffer in plan.outputs}
    kernels = []
    for kernel in plan.kernels:
        again = tuple(_read_again(kernel))
        said = Evictions(again, frozenset(b.name for b in kernel.writes if again) & outputs)
        kernels.append(replace(kernel, evictions=said))
    return replace(plan, kernels=tuple(kernels))


def _read_again(kernel: Kernel) -> Iterator[tuple[str, int]]:
    """Yield the buffers of which a block reads a part that is its own in several statements of the body, with the last
    of these.
    """
    divided = {
        coord.axis
        for coord in map(kernel.coord, kernel.grid)
        if coord.axis.size is None or coord.axis.size > coord.tile
    }
    for buffer in kernel.reads:
        loads = [
            (at, s)
            for at, stmt in enumerate(kernel.body)
            for s in statements((stmt,))
            if isinstance(s, Load) and s.buffer == buffer.name
        ]
        # A coordinate beside the grid's along a divided axis reaches into other blocks' parts.
        across = any(
            kernel.coord(name).axis in divided and name not in kernel.grid
            for _, load in loads
            for name in load.out.coords
        )
        if divided <= set(buffer.dims) and not across and len({at for at, _ in loads}) > 1:
            yield buffer.name, loads[-1][0]
