"""Succession: where a kernel has to wait for the kernels before it, when a GPU starts it while they still run.

On Hopper and later a kernel may be launched as soon as every block of the one before has started (CUDA C++ Programming Guide,
"Programmatic Dependent Launch"). What it does before it waits may read inputs only, and write nothing. It waits even if it reads
nothing of theirs: one that ends has then seen all that came before it end, and the next has one kernel to wait for.

A kernel with loops is launched ahead only if each of its blocks has a multiprocessor for itself. Blocks come to processors that are still
busy, some more than others: a short kernel gains the launch, 1 to 2 us on an H200, and so does a long one whose blocks cannot come two to
a processor; where they can, it loses more than that (a product of 16 rows: 1.4 us gained and 1.4 to 4 us lost). One whose groups of warps
take block after block lost 18 of 200 us, why is not known.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from napkin_eq.cost import capacity, profile, room
from napkin_eq.plan import Kernel, Load, Loop, Plan, Stmt, StoreTile, statements

FILLS = 114 * 1024  # bytes of shared memory of which two do not fit a multiprocessor of Hopper or Blackwell
PROCESSORS = 132  # that an H200 has, and other GPUs of these generations have no fewer to speak of


@dataclass(frozen=True, slots=True)
class Turn:
    """A kernel's place in its plan: whether the next is launched before it ends; if it is itself, the statement of its body before which it waits."""

    leads: bool
    waits: int | None

    @property
    def alone(self) -> bool:
        """Whether it runs beside no other kernel."""
        return not self.leads and self.waits is None


def turns(plan: Plan) -> dict[str, Turn]:
    """Return each kernel's place, by the kernel's name."""
    inputs = {buffer.name for buffer in plan.inputs}
    ahead = [bool(at) and (not _loops(kernel) or _alone(kernel)) for at, kernel in enumerate(plan.kernels)]
    places = zip(plan.kernels, ahead, [*ahead[1:], False], strict=True)
    return {k.name: Turn(leads=following, waits=_first(k.body, inputs) if early else None) for k, early, following in places}


def chained(order: Mapping[str, Turn]) -> bool:
    """Tell whether any kernel of a plan is launched before the one before it has ended."""
    return any(not turn.alone for turn in order.values())


def _loops(kernel: Kernel) -> bool:
    return any(isinstance(stmt, Loop) for stmt in kernel.body)


def _alone(kernel: Kernel) -> bool:
    """Whether each block of a kernel has a multiprocessor for itself, by the shared memory that it is estimated to take."""
    counts = [kernel.coord(name).blocks for name in kernel.grid]
    if kernel.workers or None in counts or math.prod(n for n in counts if n) > PROCESSORS:
        return False
    return capacity(room(profile(kernel), {c.name: c.tile for c in kernel.coords}), kernel.warps, kernel.stages)[0] > FILLS


def _first(body: tuple[Stmt, ...], inputs: set[str]) -> int:
    """Return the first statement that reads what is no input, or writes; loops count as a whole, for their loads may be moved ahead of them."""
    return next((at for at, stmt in enumerate(body) if any(_touches(s, inputs) for s in statements((stmt,)))), 0)


def _touches(stmt: Stmt, inputs: set[str]) -> bool:
    return isinstance(stmt, StoreTile) or (isinstance(stmt, Load) and stmt.buffer not in inputs)
