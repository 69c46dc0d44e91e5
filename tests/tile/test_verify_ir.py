"""The verifier of the tile language: quiet about every kernel that lowering and passes make, and loud about each kind
of kernel that is none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest

import napkin_eq as nq
from napkin_eq.frontend.gallery import DIAGRAMS
from napkin_eq.lang.errors import NapkinError, WrongPlan
from napkin_eq.search import tiling
from napkin_eq.tile import ir as p
from napkin_eq.tile.lower import kernel as lowering
from napkin_eq.tile.passes.fuse_accumulator import accumulated
from napkin_eq.tile.passes.warp_roles import assigned
from napkin_eq.tile.passes.warp_specialize import specialised
from napkin_eq.tile.verify_ir import verified, verified_plan
from napkin_eq.verify.fuzz.random_diagrams import Shape, random_diagram
from tests import plans

Q, X = nq.axes("q x", q=64, x=256)
A = nq.array("A", Q, X)


@pytest.fixture
def between(monkeypatch) -> list[p.Kernel]:
    """Verify what lowering makes and what each pass gives, and return the kernels seen."""
    seen: list[p.Kernel] = []

    def watched(change: Callable[[p.Kernel], Any]) -> Callable[[p.Kernel], Any]:
        def run(kernel: p.Kernel) -> Any:
            made = change(verified(kernel))
            if made is not None:
                seen.append(verified(made))
            return made

        return run

    monkeypatch.setattr(lowering, "accumulated", watched(accumulated))
    monkeypatch.setattr(tiling, "specialised", watched(specialised))
    monkeypatch.setattr(tiling, "assigned", watched(assigned))
    return seen


@pytest.mark.parametrize("name", ["attention", "mlp", "rmsnorm_linear", "variance"])
def test_what_is_lowered_and_what_each_pass_gives_is_well_formed(name, between):
    nq.derive(DIAGRAMS[name]())
    assert between
    assert name != "attention" or any(kernel.workers for kernel in between)


def test_random_diagrams_are_lowered_to_well_formed_kernels(between):
    for number in range(8):
        try:
            nq.derive(
                random_diagram(Random(f"verify/{number}").randrange, Shape(), f"drawn_{number}"),
                dtype="float32",
                limit=4.0,
            )
        except NapkinError as reason:
            assert not isinstance(reason, WrongPlan), reason
    assert len(between) >= 8


SOFTMAX = nq.derive(nq.softmax(A, X), dtype="float32").plan
ATTENDS = nq.derive(DIAGRAMS["attention"]()).plan


def changed(kernel: p.Kernel, kind: type, change: Callable[[Any], Any]) -> p.Kernel:
    """Return a kernel whose first statement of a kind is another one, or several."""
    done = False

    def walked(body: tuple[p.Stmt, ...]) -> tuple[p.Stmt, ...]:
        nonlocal done
        made: list[p.Stmt] = []
        for stmt in body:
            if not done and isinstance(stmt, kind):
                done, other = True, change(stmt)
                made += other if isinstance(other, list) else [other]
            elif isinstance(stmt, p.Loop):
                made.append(replace(stmt, parts=tuple(replace(part, body=walked(part.body)) for part in stmt.parts)))
            else:
                made.append(stmt)
        return tuple(made)

    kernel = replace(kernel, body=walked(kernel.body))
    assert done, kind
    return kernel


ROW, MULTIPLIES = SOFTMAX.kernels[0], ATTENDS.kernels[0]
FIRST = next(iter(p.values_of(ROW.body)))
BROKEN: dict[str, Callable[[], p.Kernel]] = {
    "is defined twice": lambda: changed(ROW, p.Let, lambda s: [s, s]),
    "is used where it is not defined": lambda: changed(ROW, p.Load, lambda s: []),
    "lists .* as written and stores": lambda: changed(ROW, p.StoreTile, lambda s: []),
    "which is f32": lambda: changed(ROW, p.Load, lambda s: replace(s, out=replace(s.out, dtype="f16"))),
    "is said to span": lambda: changed(
        ROW, p.ReduceTile, lambda s: replace(s, out=replace(s.out, coords=s.out.coords + (s.coord,)))
    ),
    "is no monoid": lambda: changed(ROW, p.ReduceTile, lambda s: replace(s, monoid="mean")),
    "dimensions, indexed by": lambda: changed(ROW, p.Load, lambda s: replace(s, index=s.index[:1])),
    "which is no whole number": lambda: changed(ROW, p.Load, lambda s: replace(s, index=(0.5, *s.index[1:]))),
    "not among the arrays that the kernel lists": lambda: changed(ROW, p.Load, lambda s: replace(s, buffer="other")),
    "loaded from .*, which the kernel writes": lambda: changed(
        ROW, p.Load, lambda s: replace(s, buffer=ROW.writes[0].name)
    ),
    "takes 2 operands|takes nothing that is known": lambda: changed(ROW, p.Let, lambda s: replace(s, op="hypot3")),
    "no loop around it carries it": lambda: replace(ROW, body=(*ROW.body, p.Assign(FIRST, FIRST))),
    "two coordinates have one name": lambda: replace(ROW, coords=(*ROW.coords, ROW.coords[0])),
    "has role": lambda: replace(ROW, coords=(replace(ROW.coords[0], role="lambda"), *ROW.coords[1:])),
    "is in the grid and is no coordinate of it": lambda: replace(ROW, grid=(*ROW.grid, "z")),
    "read and written in one launch": lambda: replace(ROW, reads=(*ROW.reads, *ROW.writes)),
    "not both operands span|does not span": lambda: changed(
        MULTIPLIES, p.Dot, lambda s: replace(s, coord=MULTIPLIES.coords[0].name)
    ),
    "is no precision": lambda: changed(MULTIPLIES, p.Dot, lambda s: replace(s, precision="fp4")),
    "before its contraction is waited for": lambda: changed(MULTIPLIES, p.Await, lambda s: []),
}


@pytest.mark.parametrize("said", BROKEN)
def test_a_kernel_that_is_none_is_refused(said):
    with pytest.raises(WrongPlan, match=said):
        verified(BROKEN[said]())


def test_a_plan_writes_each_array_once_and_before_it_is_read():
    assert verified_plan(SOFTMAX) is SOFTMAX
    with pytest.raises(WrongPlan, match="has written"):
        verified_plan(replace(SOFTMAX, kernels=(ROW, replace(ROW, name="again"))))
    with pytest.raises(WrongPlan, match="before any kernel has written it"):
        verified_plan(replace(SOFTMAX, inputs=()))
    (array,) = SOFTMAX.inputs
    other = "f16" if array.dtype == "f32" else "f32"
    with pytest.raises(WrongPlan, match=rf"to it {array.name} is {array.dtype} \["):
        verified_plan(replace(SOFTMAX, inputs=(replace(array, dtype=other),)))
    with pytest.raises(WrongPlan, match="no kernel writes"):
        verified_plan(replace(SOFTMAX, outputs=(*SOFTMAX.outputs, p.Buffer("other", (Q,), "f32"))))


def test_roles_of_another_kernel_are_noticed():
    kernel = assigned(specialised(plans.matmul("bf16", (256, 256, 256), (128, 64, 64)).plan.kernels[0]))
    assert verified(kernel) is kernel
    roles = kernel.workers.roles
    (names, ring), *_ = roles.rings
    (at, copy), = roles.stores
    array = replace(copy, buffer=replace(copy.buffer, name="other"))
    layout = roles.layouts[0][1]
    for wrong, said in (
        (replace(roles, rings=((names[::-1], ring),)), "which it does not load so"),
        (replace(roles, rings=((("a_of_another",), ring),)), "copy a_of_another"),
        (replace(roles, stores=((at - 1, copy),)), "store C where it does not"),
        (replace(roles, stores=((at + 99, copy),)), "store C where it does not"),
        (replace(roles, stores=((at, array),)), "store other where it does not"),
        (replace(roles, computing=replace(roles.computing, values=("x",))), "speak of x"),
        (replace(roles, layouts=((("z",), layout),)), "over z, which is no coordinate"),
    ):
        with pytest.raises(WrongPlan, match=said):
            verified(replace(kernel, workers=replace(kernel.workers, roles=wrong)))
