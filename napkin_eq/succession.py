"""Succession: where a kernel has to wait for the kernels before it, when a GPU starts it while they still run.

On Hopper and later a kernel may be launched as soon as every block of the one before has started (CUDA C++ Programming Guide,
"Programmatic Dependent Launch"). What it does before it waits may read inputs only, and write nothing. It waits even if it reads
nothing of theirs: one that ends has then seen all that came before it end, and the next has one kernel to wait for.

Only a kernel without loops is launched ahead. Its blocks come to processors that are still busy, some more than others: a short one
gains the launch, 1 to 2 us on an H200, a long one loses more by that (a product of 16 rows in two blocks an SM: 2.4 us).
"""

from __future__ import annotations

from dataclasses import dataclass

from napkin_eq.plan import Kernel, Load, Loop, Plan, Stmt, StoreTile


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
    ahead = [bool(at) and not _loops(kernel) for at, kernel in enumerate(plan.kernels)]
    places = zip(plan.kernels, ahead, [*ahead[1:], False], strict=True)
    return {k.name: Turn(leads=following, waits=_first(k.body, inputs) if early else None) for k, early, following in places}


def _loops(kernel: Kernel) -> bool:
    return any(isinstance(stmt, Loop) for stmt in kernel.body)


def _first(body: tuple[Stmt, ...], inputs: set[str]) -> int:
    """Return the first statement that reads what is no input, or writes."""
    return next((at for at, stmt in enumerate(body) if isinstance(stmt, StoreTile) or (isinstance(stmt, Load) and stmt.buffer not in inputs)), 0)
