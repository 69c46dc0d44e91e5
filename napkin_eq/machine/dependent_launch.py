"""Succession: where a kernel has to wait for the kernels before it, when a GPU starts it while they still run.

On Hopper and later a kernel may be launched as soon as every block of the one before has started (CUDA C++ Programming
Guide, "Programmatic Dependent Launch"). What it does before it waits may read inputs only, and write nothing. It waits
even if it reads nothing of theirs: one that ends has then seen all that came before it end, and the next has one kernel
to wait for.

A kernel with loops is launched ahead only if each of its blocks has a multiprocessor for itself. Blocks come to
processors that are still busy, some more than others: a short kernel gains the launch, 1 to 2 us on an H200, and so
does a long one whose blocks cannot come two to a processor; where they can, it loses more than that (a product of 16
rows: 1.4 us gained and 1.4 to 4 us lost). One whose groups of warps take block after block lost 18 of 200 us, why is
not known.

Where a program of a kernel with workers has one block, a warp copies what is read of inputs without waiting, as far as
there are buffers; all others wait (decoding: what follows the scales of 4,096 numbers by products with 2 and with 1 of
14,336 columns, 4.4 of 184 us on an H100).

Before it waits, a kernel asks level 2 for the first block of what its first loop reads of inputs: it is there, or on
its way, when the loop begins (a product of 16 rows behind the kernel that scales them: 0.7 to 1.2 of 20 us; all blocks
instead of the first: slower).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from napkin_eq.machine.cost import profile
from napkin_eq.tile.boxes import roles_of
from napkin_eq.tile.ir import Iota, Kernel, Load, Loop, Plan, Stmt, StoreTile, Turn, definitions, statements
from napkin_eq.tile.resources import capacity, room

FILLS = 114 * 1024  # bytes of shared memory of which two do not fit a multiprocessor of Hopper or Blackwell
PROCESSORS = 132  # that an H200 has, and other GPUs of these generations have no fewer to speak of


def dependent_launch(plan: Plan) -> Plan:
    """Return the plan with each kernel's turn."""
    inputs = {buffer.name for buffer in plan.inputs}
    # A library's kernel says nothing of when the next may start, and waits for the last
    ours = [kernel.library is None for kernel in plan.kernels]
    ahead = [
        bool(at) and ours[at - 1] and ours[at] and (not _loops(k) or _alone(k) or bool(_copied(k, inputs)))
        for at, k in enumerate(plan.kernels)
    ]
    places = zip(plan.kernels, ahead, [*ahead[1:], False], strict=True)
    turned = (
        replace(k, turn=_turn(k, inputs, following) if early else Turn(leads=following))
        for k, early, following in places
    )
    return replace(plan, kernels=tuple(turned))


def _turn(kernel: Kernel, inputs: set[str], following: bool) -> Turn:
    if kernel.workers is not None:
        return Turn(following, 0, _copied(kernel, inputs))
    waits = _first(kernel.body, inputs)
    return Turn(following, waits, tuple(_asked(kernel, waits, inputs)))


def _asked(kernel: Kernel, waits: int, inputs: set[str]) -> Iterator[Load]:
    """Yield the loads of inputs in the loop before which a kernel waits whose first block is known before it, and has
    no lane outside.

    The loop begins at 0 and has a whole first block, so the addresses are among those that it reads; a mask might say
    otherwise.
    """
    loop = kernel.body[waits]
    if (
        not isinstance(loop, Loop)
        or loop.parts[0].lo != 0
        or kernel.coord(loop.coord).ragged
        or kernel.coord(loop.coord).tile == 1
    ):
        return
    known = definitions(tuple(s for s in kernel.body[:waits] if not isinstance(s, Loop)))
    walked = {s.out.name for s in loop.parts[0].body if isinstance(s, Iota) and s.coord == loop.coord}
    for stmt in loop.parts[0].body:
        if isinstance(stmt, Load) and stmt.buffer in inputs and not stmt.masks:
            names = [i for i in stmt.index if isinstance(i, str)]
            last = known.get(names[-1]) if names and names[-1] == kernel.minor(stmt) else None
            if (
                walked & {*names}
                and all(n in known or n in walked for n in names)
                and (names[-1] in walked or isinstance(last, Iota))
            ):
                yield stmt


def _copied(kernel: Kernel, inputs: set[str]) -> tuple[Load, ...]:
    """Return the loads of inputs that a warp of a kernel with workers copies before the kernel waits: those that the
    copy engine brings, where each program has one block at the most, and its number and the bounds of loops are known
    without what was computed.
    """
    if kernel.workers is None or kernel.workers.roles is None or kernel.workers.drawn:
        return ()
    if not _blocks(kernel) <= PROCESSORS:
        return ()
    roles = roles_of(kernel)
    loads = [s for s in statements(kernel.body) if isinstance(s, Load)]
    if any(s.buffer not in inputs and s.out.name in (*roles.copying.values, *roles.copying.whole) for s in loads):
        return ()
    found = tuple(s for s in loads if s.buffer in inputs and s.out.name in roles.copied)
    ahead = {load.out.name for load in found}
    fills = {(ring, frozenset(name in ahead for name in names)) for names, ring in roles.rings}
    return found if len(fills) == len({ring for ring, _ in fills}) else ()  # a ring is filled by the same warps always


def _blocks(kernel: Kernel) -> float:
    counts = [kernel.coord(name).blocks for name in kernel.grid]
    return math.inf if None in counts else math.prod(n for n in counts if n)


def _loops(kernel: Kernel) -> bool:
    return any(isinstance(stmt, Loop) for stmt in kernel.body)


def _alone(kernel: Kernel) -> bool:
    """Whether each block of a kernel has a multiprocessor for itself, by the shared memory that it is estimated to
    take.
    """
    if kernel.workers or _blocks(kernel) > PROCESSORS:
        return False
    return (
        capacity(room(profile(kernel).needs, {c.name: c.tile for c in kernel.coords}), kernel.warps, kernel.stages)[0]
        > FILLS
    )


def _first(body: tuple[Stmt, ...], inputs: set[str]) -> int:
    """Return the first statement that reads what is no input, or writes; loops count as a whole, for their loads may be
    moved ahead of them.
    """
    return next((at for at, stmt in enumerate(body) if any(_touches(s, inputs) for s in statements((stmt,)))), 0)


def _touches(stmt: Stmt, inputs: set[str]) -> bool:
    return isinstance(stmt, StoreTile) or (isinstance(stmt, Load) and stmt.buffer not in inputs)
