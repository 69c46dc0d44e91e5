"""Succession: where a kernel has to wait for the kernels before it, when a GPU starts it while they still run.

On Hopper and later a kernel may be launched as soon as every block of the one before has started (CUDA C++ Programming Guide,
"Programmatic Dependent Launch"). What it does before it waits may read inputs only, and write nothing. Every kernel but the first
waits, needed or not: one that ends has then seen all that came before it end, and the next has one kernel to wait for.
"""

from __future__ import annotations

from dataclasses import dataclass

from napkin_eq.plan import Load, Plan, Stmt, StoreTile, statements


@dataclass(frozen=True, slots=True)
class Turn:
    """A kernel's place in its plan: whether another one follows, and the statement of its body before which it waits, if any came before."""

    leads: bool
    waits: int | None

    @property
    def alone(self) -> bool:
        """Whether the plan has no other kernel."""
        return not self.leads and self.waits is None


def turns(plan: Plan) -> dict[str, Turn]:
    """Return each kernel's place, by the kernel's name."""
    inputs = {buffer.name for buffer in plan.inputs}
    last = len(plan.kernels) - 1
    return {k.name: Turn(at < last, _first(k.body, inputs) if at else None) for at, k in enumerate(plan.kernels)}


def _first(body: tuple[Stmt, ...], inputs: set[str]) -> int:
    """Return the first statement that reads what is no input, or writes; loops count as a whole, for their loads may be moved ahead of them."""
    return next((at for at, stmt in enumerate(body) if any(_touches(s, inputs) for s in statements((stmt,)))), 0)


def _touches(stmt: Stmt, inputs: set[str]) -> bool:
    return isinstance(stmt, StoreTile) or (isinstance(stmt, Load) and stmt.buffer not in inputs)
