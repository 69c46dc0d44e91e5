"""Contractions whose operands are computed, and that are added onto another tile: kernels that groups of warps share
have them in one pass.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.frontend.library import array, axes, linear, sigmoid, sqrt, sum
from napkin_eq.lang.diagram import Diagram
from napkin_eq.pipeline.derive import derive
from napkin_eq.tile import ir as p
from napkin_eq.tile.boxes import rings, roles_of
from napkin_eq.tile.compile_ahead import compile_report
from napkin_eq.tile.passes.fuse_accumulator import accumulated
from napkin_eq.tile.passes.warp_roles import assigned
from napkin_eq.tile.passes.warp_specialize import specialised
from napkin_eq.tile.printers import emit
from tests import plans

SIZES = {"t": 200, "d": 328, "f": 264, "r": 16}


def scaled(t: int, d: int, f: int, **_: int) -> Diagram:
    """A row of the left side is divided by its length and weighed before the product."""
    T, D, F = axes("t d f", t=t, d=d, f=f)
    a = array("A", T, D)
    left = a / sqrt(sum(a * a, D) + 1.0) * array("G", D)
    return Diagram("scaled", (("out", linear(left, array("W", F, D), D)),))


def gated(t: int, d: int, f: int, **_: int) -> Diagram:
    T, D, F = axes("t d f", t=t, d=d, f=f)
    left = array("A", T, D) * sigmoid(array("B", T, D))
    return Diagram("gated", (("out", linear(left, array("W", F, D), D)),))


def two_ranks(t: int, d: int, f: int, r: int) -> Diagram:
    T, D, F, R = axes("t d f r", t=t, d=d, f=f, r=r)
    a = array("A", T, D)
    low = linear(linear(a, array("P", R, D), D), array("R", F, R), R)
    return Diagram("two_ranks", (("out", linear(a, array("W", F, D), D) + low),))


MADE = {"scaled": scaled, "gated": gated, "two_ranks": two_ranks}


@pytest.mark.parametrize("name", list(MADE))
def test_a_plan_computes_what_its_diagram_says(name):
    diagram = MADE[name](**SIZES)
    plan = derive(diagram, printer="gluon").plan
    rng = np.random.default_rng(0)
    arrays = {i.name: rng.normal(size=[a.size for a in i.dims]) for i in diagram.inputs()}
    wanted = nq.evaluate(diagram.term, arrays, order=[a.name for a in plan.outputs[0].dims])
    got = emit(plan, "numpy")(arrays)["out"]
    assert np.abs(got - wanted).max() < 1e-9 * np.abs(wanted).max()


def prologue(
    dtype: str = "f32", sizes: tuple[int, int, int] = (150, 90, 70), tiles: tuple[int, int, int] = (128, 32, 16)
) -> plans.Case:
    """C = (A + 1) * B by tiles, the left side computed in each block."""
    case = plans.matmul(dtype, sizes, tiles)
    (kernel,) = case.plan.kernels

    def computed(part: p.Part) -> p.Part:
        body: list[p.Stmt] = []
        for stmt in part.body:
            if isinstance(stmt, p.Dot):
                one = p.Value(
                    "a_one",
                    next(s.out.coords for s in part.body if isinstance(s, p.Load) and s.out.name == stmt.a),
                    "f32",
                )
                inside = next(s for s in part.body if isinstance(s, p.Load) and s.out.name == stmt.a).masks
                body.append(p.Let(replace(one, name="a_wide"), "cast", (stmt.a,)))
                body.append(p.Let(one, "add", ("a_wide", 1.0)))
                last = one.name
                for at, mask in enumerate(inside if sizes[0] % tiles[0] or sizes[1] % tiles[2] else ()):
                    body.append(p.Let(replace(one, name=f"a_kept{at}"), "where", (mask, last, 0.0)))
                    last = f"a_kept{at}"
                if dtype != "f32":
                    body.append(p.Let(replace(one, name="a_narrow", dtype=dtype), "cast", (last,)))
                    last = "a_narrow"
                stmt = replace(stmt, a=last)
            body.append(stmt)
        return replace(part, body=tuple(body), general=True)

    body = tuple(replace(s, parts=tuple(map(computed, s.parts))) if isinstance(s, p.Loop) else s for s in kernel.body)
    wanted = {"C": (case.arrays["A"] + 1) @ case.arrays["B"]}
    return replace(case, plan=replace(case.plan, kernels=(replace(kernel, body=body),)), wanted=wanted)


def test_a_contraction_of_a_computed_operand_is_put_off_a_block():
    case = prologue()
    plan = replace(case.plan, kernels=tuple(map(specialised, case.plan.kernels)))
    loop = next(s for s in plan.kernels[0].body if isinstance(s, p.Loop))
    assert [part.once for part in loop.parts] == [True, False, True]
    assert all(s.issued for s in p.statements((loop,)) if isinstance(s, p.Dot))
    assert np.abs(emit(plan, "numpy")(case.arrays)["C"] - case.wanted["C"]).max() < 1e-11


def test_an_operand_of_the_wrong_block_is_noticed():
    case = prologue()
    kernel = specialised(case.plan.kernels[0])
    early = tuple(replace(s, parts=s.parts[:-1]) if isinstance(s, p.Loop) else s for s in kernel.body)
    wrong = emit(replace(case.plan, kernels=(replace(kernel, body=early),)), "numpy")(case.arrays)["C"]
    assert np.abs(wrong - case.wanted["C"]).max() > 0.1  # the last contraction is missing


def test_tiles_that_arithmetic_reads_are_copied_ahead_and_compile_for_hopper():
    case = prologue("bf16", (512, 512, 512), (128, 256, 64))
    kernel = assigned(specialised(case.plan.kernels[0]))
    plan = replace(case.plan, kernels=(kernel,))
    assert {copy.buffer.name for ring in rings(kernel) for copy in ring.copies} == {"A", "B"}
    assert roles_of(kernel).copied == {s.out.name for s in p.statements(kernel.body) if isinstance(s, p.Load)}
    (report,) = compile_report(emit(plan, "gluon"), "sm_90")
    assert (report["tensor_core"], report["spills_bytes"], report["warnings"]) == ("wgmma", 0, [])


def whole(count: int, other: tuple[str, ...]) -> tuple[p.Stmt, ...]:
    tile, start = p.Value("x", other, "f32"), p.Value("dot", ("m", "n"), "f32")
    total = p.Value("total", ("m", "n"), "f32")
    body: list[p.Stmt] = [
        p.Let(tile, "add", (1.0, 0.0)),
        p.Dot(start, "a", "b", "k"),
        p.Let(total, "add", (tile.name, start.name)),
    ]
    return (*body, *(p.Let(p.Value(f"more{i}", ("m", "n"), "f32"), "neg", (start.name,)) for i in range(count - 1)))


def kernel_of(body: tuple[p.Stmt, ...]) -> p.Kernel:
    return p.Kernel("k", (), (), (), (), body)


def test_a_contraction_accumulates_onto_what_it_is_added_to():
    (_, dot) = accumulated(kernel_of(whole(1, ("m", "n")))).body
    assert isinstance(dot, p.Dot)
    assert (dot.out.name, dot.acc) == ("total", "x")


@pytest.mark.parametrize(("count", "other"), [(2, ("m", "n")), (1, ("m",)), (1, ("n",))])
def test_a_contraction_that_is_read_elsewhere_or_added_to_another_shape_stays_apart(count, other):
    before = kernel_of(whole(count, other))
    assert accumulated(before) == before
