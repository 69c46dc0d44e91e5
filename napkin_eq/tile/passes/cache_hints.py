"""Eviction: what a block reads again stays in the level-2 cache, what it reads for the last time, or writes, makes room.

Without saying so, blocks at work together lose what they will read again to what they write (rows of 65,536 on an H200: 3 to 18 % longer).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from napkin_eq.tile.ir import Kernel, Load, Plan, statements


@dataclass(frozen=True, slots=True)
class Evictions:
    """Of one kernel: by buffer, the statement of the body with the last of several readings; the buffers whose stores are to go first."""

    last: Mapping[str, int] = field(default_factory=dict)
    stored: frozenset[str] = frozenset()

    def of(self, buffer: str, at: int) -> str:
        """Return which way a load goes that stands in the body's statement `at`: "last", "first", or "" as the hardware has it."""
        if buffer not in self.last:
            return ""
        return "last" if at < self.last[buffer] else "first"


def evictions(plan: Plan) -> dict[str, Evictions]:
    """Return what to say of the loads and stores of each kernel, by the kernel's name; nothing where no block reads twice."""
    outputs = {buffer.name for buffer in plan.outputs}
    found = {}
    for kernel in plan.kernels:
        again = dict(_read_again(kernel))
        found[kernel.name] = Evictions(again, frozenset(b.name for b in kernel.writes if again) & outputs)
    return found


def _read_again(kernel: Kernel) -> Iterator[tuple[str, int]]:
    """Yield the buffers of which a block reads a part that is its own in several statements of the body, with the last of these."""
    divided = {coord.axis for coord in map(kernel.coord, kernel.grid) if coord.axis.size is None or coord.axis.size > coord.tile}
    for buffer in kernel.reads:
        loads = [(at, s) for at, stmt in enumerate(kernel.body) for s in statements((stmt,)) if isinstance(s, Load) and s.buffer == buffer.name]
        # A coordinate beside the grid's along a divided axis reaches into other blocks' parts.
        across = any(kernel.coord(name).axis in divided and name not in kernel.grid for _, load in loads for name in load.out.coords)
        if divided <= set(buffer.dims) and not across and len({at for at, _ in loads}) > 1:
            yield buffer.name, loads[-1][0]
