"""Translation validation: plans that compute their diagram agree, wrong ones are found and dropped, what was not run is
not green.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.frontend.gallery import diagram
from napkin_eq.lang.errors import WrongPlan
from napkin_eq.lang.term import Const, Index, Map, Read, Reduce
from napkin_eq.pipeline.derive import derive
from napkin_eq.pipeline.top_k import ranked
from napkin_eq.search.assemble import renamed
from napkin_eq.search.derivation import AGREES, DIFFERS, UNKNOWN
from napkin_eq.search.job import prover
from napkin_eq.tile import ir as p
from napkin_eq.tile import printers
from napkin_eq.tile.lower.kernel import Lowering
from napkin_eq.verify import translation
from napkin_eq.verify.miniature import _divided, miniature, skeleton
from napkin_eq.verify.selftest.mutations import MUTATIONS
from tests import plans

QUICK = (
    "softmax",
    "attention",
    "causal_attention",
    "padded_attention",
    "layer_norm",
    "matmul",
    "linear_gelu",
    "symbolic_attention",
    "rmsnorm_linear",
)


@pytest.mark.parametrize("name", QUICK)
def test_a_plan_of_the_gallery_agrees(name):
    found = derive(diagram(name))
    (output,) = found.outputs
    assert output.translation.status == AGREES
    assert output.refused == ()
    # Lanes of their own are no fewer in small
    laned = any(c.role == "lane" for kernel in found.plan.kernels for c in kernel.coords)
    assert all(size <= (2048 if laned else 160) for _, size in output.translation.sizes)


@pytest.mark.slow
@pytest.mark.parametrize(
    "sizes", [{"q": 1, "x": 8192, "h": 8}, {"q": 77, "x": 301, "h": 3}, {"q": 64, "x": 64}, {"q": 1, "x": 1}]
)
def test_decode_and_ragged_sizes_agree(sizes):
    assert (
        derive(diagram("causal_attention" if sizes["q"] > 1 else "attention", **sizes)).outputs[0].translation.status
        == AGREES
    )


def _changed(body, old, new):
    return tuple(
        replace(s, parts=tuple(replace(part, body=_changed(part.body, old, new)) for part in s.parts))
        if isinstance(s, p.Loop)
        else new
        if s == old
        else s
        for s in body
    )


def test_a_plan_in_small_has_the_same_statements():
    found = derive(diagram("causal_attention"))
    small = miniature(found.diagram, found.outputs, found.plan, found.hardware, found.dtype, prover(found.statements))
    assert skeleton(small.plan.kernels) == skeleton(found.plan.kernels)
    # In small kernels may wait for one another elsewhere, since that follows from how long they take.
    waiting = tuple(replace(kernel, turn=p.Turn(leads=True, waits=0)) for kernel in small.plan.kernels)
    assert skeleton(waiting) == skeleton(found.plan.kernels)
    (kernel,), (own,) = small.plan.kernels, found.plan.kernels
    # What values are called says nothing; which one is used does.
    values = list(p.values_of(own.body))
    names = {name: f"v_{name}" for name in values}
    assert skeleton(replace(own, body=tuple(p.renamed(stmt, names) for stmt in own.body))) == skeleton(own)
    scores = next(s for s in p.statements(own.body) if isinstance(s, p.ReduceTile))
    other = next(name for name, value in p.values_of(own.body).items() if value.coords and name != scores.arg)
    swapped = _changed(own.body, scores, replace(scores, arg=other))
    assert skeleton(replace(own, body=swapped)) != skeleton(own)
    assert [c.ragged for c in kernel.coords] == [c.ragged for c in own.coords]
    assert max(c.tile for c in kernel.coords) == 16


def test_the_report_and_the_certificate_say_it():
    found = derive(diagram("softmax"))
    told = found.report()["translation"]
    assert (
        told[0]["status"] == AGREES and told[0]["outputs"] == ["out"] and told[0]["inputs"] == list(translation.KINDS)
    )
    assert found.certificate["evidence"]["translation"][0]["status"] == AGREES


def changed(kernel: p.Kernel, change) -> p.Kernel:
    def body(stmts):
        return tuple(
            replace(s, parts=tuple(replace(part, body=body(part.body)) for part in s.parts))
            if isinstance(s, p.Loop)
            else change(s)
            for s in stmts
        )

    return replace(kernel, body=body(kernel.body))


WRONG = {
    "a mask is left out": lambda s: (
        replace(s, args=(True, *s.args[1:])) if isinstance(s, p.Let) and s.op == "where" else s
    ),
    "a sum is a maximum": lambda s: replace(s, monoid="max") if isinstance(s, p.ReduceTile) else s,
    "a factor is off": lambda s: (
        replace(s, args=(s.args[0], 1.0))
        if isinstance(s, p.Let) and s.op == "mul" and isinstance(s.args[1], float)
        else s
    ),
    "a load is shifted": lambda s: replace(s, masks=()) if isinstance(s, p.Load) else s,
}


@pytest.mark.parametrize("what", sorted(WRONG))
def test_a_lowering_with_a_fault_gives_no_plan(what, monkeypatch):
    """Every plan is wrong, so none is left: an error with the counterexample, not a plan."""
    t, x = nq.axes("t x", t=70, x=301)
    a, lengths = nq.array("A", t, x), nq.array("L", t, dtype="int32")
    term = nq.sum(nq.exp(nq.masked(a, nq.index(x) < lengths) * 0.5), x)
    honest = Lowering.kernel
    monkeypatch.setattr(Lowering, "kernel", lambda self: changed(honest(self), WRONG[what]))
    with pytest.raises(
        WrongPlan, match=r"no plan of out gives what the diagram says; a plan of .* at t=\d+, x=\d+ on \w+ numbers"
    ):
        derive(term)


def test_the_next_plan_is_taken_where_one_is_wrong(monkeypatch):
    """A plan that differs is dropped, said, and the next one taken."""
    real = translation.validated
    calls = []

    def validated(*args):
        calls.append(1)
        return replace(real(*args), status=DIFFERS, why="made so") if len(calls) == 1 else real(*args)

    monkeypatch.setattr(translation, "validated", validated)
    (output,) = derive(diagram("rmsnorm_linear")).outputs
    assert output.translation.status == AGREES
    assert len(output.refused) == 1 and "made so" in output.refused[0]


ROUNDING = {"accumulators-in-16-bits", "contractions-in-16-bits", "flushed-subnormals"}
# They show where data hold NaN, where a loop has no block, and never
UNSEEN = {"scrubbed-nan", "at-least-once", "sum-from-one"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["attention", "softmax", "linear_gelu"])
def test_mistakes_that_change_a_value_are_found(name):
    found = derive(diagram(name))
    small = miniature(found.diagram, found.outputs, found.plan, found.hardware, found.dtype, prover(found.statements))
    broken = {mutation: change(small.plan) for mutation, change in MUTATIONS.items()}
    passed = {
        m
        for m, plan in broken.items()
        if plan is not None and translation.disagreement(replace(small, plan=plan)) is None
    }
    # Its only part begins at 0, its loop has three blocks
    harmless = {"overlapping-parts", "at-least-twice"} if name == "linear_gelu" else set()
    assert passed <= ROUNDING | UNSEEN | harmless
    assert len(broken) - list(broken.values()).count(None) - len(passed) >= 5


def test_axes_and_types_of_outputs_are_compared_first():
    found = derive(diagram("softmax", t=8, x=32))
    (output,) = found.outputs
    buffer = found.plan.outputs[0]
    given = (found.diagram, found.outputs)
    rest = (found.hardware, found.dtype, prover(found.statements))
    for other, why in (
        (replace(buffer, dims=buffer.dims[:1]), r"stored along \[t\]"),
        (replace(buffer, dtype="f32"), "stored as f32"),
    ):
        verdict = translation.validated(*given, replace(found.plan, outputs=(other,)), *rest)
        assert verdict.status == DIFFERS and re.search(why, verdict.why)
    literal = changed(
        found.plan.kernels[0],
        lambda s: replace(s, args=(s.args[0], 2)) if isinstance(s, p.Let) and s.op == "mul" else s,
    )
    verdict = translation.validated(*given, replace(found.plan, kernels=(literal,)), *rest)
    assert verdict.status == DIFFERS and "whole number 2" in verdict.why


@pytest.mark.parametrize("keys", [8192, 50176])
def test_long_stretches_of_a_cut_axis_are_short_in_small(keys):
    """Latents that read a long row: a stretch of 2048 or 12544 keys has some blocks in small, all of them whole."""
    i, m, h, e = nq.axes("i m h e", i=512, m=keys, h=8, e=64)
    q, k, v = nq.array("Q", i, h, e), nq.array("K", m, h, e), nq.array("V", m, h, e)
    scores = nq.sum(q * k, e) * 0.125
    found = derive(nq.Diagram("latents", (("out", nq.sum(nq.softmax(scores, m) * v, m)),)))
    (output,) = found.outputs
    assert any(c.name == "m_part" for kernel in found.plan.kernels for c in kernel.coords)
    assert output.translation.status == AGREES and dict(output.translation.sizes)["m"] < 256


@pytest.mark.parametrize("size", [100000, 262144, 1000003])
@pytest.mark.parametrize("fold", ["sum", "softmax", "standardised"])
def test_a_fold_of_one_long_row_is_cut_into_stretches_that_cover_it_in_small(size, fold):
    """Stretches that left lanes of the axis out in small had such plans refused: one block walked the whole row."""
    (i,) = nq.axes("i", i=size)
    x = nq.array("X", i)
    off = x - nq.mean(x, i)
    term = {"sum": nq.sum(x, i), "softmax": nq.softmax(x, i), "standardised": off / nq.sqrt(nq.mean(off * off, i))}
    found = derive(nq.Diagram("row", (("out", term[fold]),)), dtype="float32")
    assert all(o.translation.status == AGREES for o in found.outputs)
    assert not any(c.role == "stream" and "i_part" not in kernel.grid for kernel in found.plan.kernels
                   for c in kernel.coords if c.axis == i)  # fmt: skip
    run = next(-(-size // c.axis.size) for kernel in found.plan.kernels for c in kernel.coords if c.name == "i_part")
    assert all(c.tile <= run + 127 for kernel in found.plan.kernels for c in kernel.coords if c.role == "stream")


def test_a_small_number_of_a_mask_stays_one_that_is_added():
    b, c = nq.Axis("b"), nq.Axis("c", 8)
    seven = nq.array("I", c, b, dtype="int64") + 7
    (output,) = derive(nq.Diagram("added", (("out", nq.equal(seven, nq.index(b))),)), dtype="float32").outputs
    assert output.translation.status == AGREES


def test_axes_of_one_length_whose_tiles_differ_much_are_short_in_small() -> None:
    """Rows against all rows, and their mean: one kernel holds an axis whole that others take 32 lanes at a time."""
    n, m, d = nq.axes("n m d", n=4096, m=4096, d=128)
    rows = nq.array("X", n, d)
    (output,) = derive(nq.mean(nq.logsumexp(nq.sum(rows * nq.rename(rows, {n: m}), d), m), n)).outputs
    sizes = dict(output.translation.sizes)
    assert output.translation.status == AGREES and sizes["n"] == sizes["m"] <= 256


@pytest.mark.parametrize(
    ("size", "by", "tiles", "small"),
    [
        (2048, 1, (16,), 2048), (2048, 32, (16,), 64), (1568, 32, (16,), 64), (1569, 32, (16,), 49),
        (1560, 32, (16,), 49), (1552, 16, (16, 32), 112),
    ],
)  # fmt: skip
def test_a_number_in_small_is_divided_by_the_tiles_that_divide_it(size, by, tiles, small):
    assert _divided(size, by, tiles) == small
    assert [size % tile == 0 for tile in tiles] == [small % tile == 0 for tile in tiles]


def test_what_takes_too_long_is_not_validated(monkeypatch):
    monkeypatch.setattr(translation, "MOST_WORK", 10)
    (output,) = derive(diagram("softmax", t=8, x=32)).outputs
    assert output.translation.status == UNKNOWN
    assert "elements" in output.translation.why


def test_another_program_is_not_validated():
    """A plan that its diagram's own derivation does not give in small, and that is too large to be tried as it is."""
    found = derive(diagram("softmax", t=4096, x=65536))
    other = tuple(renamed(k, "another", {}) for k in found.plan.kernels)
    verdict = translation.validated(
        found.diagram,
        found.outputs,
        replace(found.plan, kernels=other),
        found.hardware,
        found.dtype,
        prover(found.statements),
    )
    assert verdict.status == UNKNOWN and "other statements" in verdict.why


def test_a_small_plan_with_no_likeness_is_tried_as_it_is():
    """Renamed kernels are another program to the miniature; at their own sizes they agree, and a changed
    one differs.
    """
    found = derive(diagram("softmax", t=8, x=32))
    rest = (found.hardware, found.dtype, prover(found.statements))
    other = tuple(renamed(k, "another", {}) for k in found.plan.kernels)
    assert (
        translation.validated(found.diagram, found.outputs, replace(found.plan, kernels=other), *rest).status == AGREES
    )
    wrong = tuple(
        changed(k, lambda s: replace(s, op="add") if isinstance(s, p.Let) and s.op == "mul" else s) for k in other
    )
    assert (
        translation.validated(found.diagram, found.outputs, replace(found.plan, kernels=wrong), *rest).status == DIFFERS
    )


def test_the_next_best_plans_are_validated(monkeypatch):
    found = derive(diagram("softmax", t=64, x=512))
    assert len(ranked(found, 3)) == 3
    monkeypatch.setattr(
        "napkin_eq.pipeline.top_k.validated", lambda *args: replace(found.outputs[0].translation, status=DIFFERS)
    )
    assert len(ranked(found, 3)) == 1


def test_a_reference_that_leaves_the_range_of_float64_or_loses_all_its_digits_refuses_nothing() -> None:
    """1 / sigmoid(-1266) is e^1266, and what is added to 1e254 is lost: a plan that has these parts cancel is right
    where evaluation is not.
    """
    (x,) = nq.axes("x", x=3)
    N = nq.array("N", x)

    def held(source: nq.Term, numbers: list[float], found: list[float]) -> str:
        return translation._apart(np.array(found), source, source, {"N": np.array(numbers)}, {"x": 3}, ["x"], "")

    past = nq.softmax(nq.reciprocal(nq.sigmoid(N)), x)
    assert held(past, [-535.7, -1265.9, 0.6], [np.nan, np.nan, np.nan]) == ""
    assert held(past, [-5.7, -3.9, 0.6], [np.nan, np.nan, np.nan]) != ""
    shifted = nq.softmax(nq.exp(nq.sum(N * N, x)) - N, x)
    lost, kept = [12.0, 14.0, 15.0], [0.1, 0.2, 0.3]
    assert held(shifted, lost, list(np.exp([-12.0, -14.0, -15.0]) / np.exp([-12.0, -14.0, -15.0]).sum())) == ""
    right = list(np.exp([-0.1, -0.2, -0.3]) / np.exp([-0.1, -0.2, -0.3]).sum())
    assert held(shifted, kept, right) == "" and held(shifted, kept, right[::-1]) != ""


def test_numbers_of_a_run_that_rounds_are_ones_that_its_arrays_hold() -> None:
    """A comparison of what was rounded to be stored may come out another way than one of the numbers themselves: it is
    no fault of the plan.
    """
    found = derive(diagram("softmax"), dtype="bfloat16")
    small = miniature(found.diagram, found.outputs, found.plan, found.hardware, found.dtype, prover(found.statements))
    for array in translation.drawn(small, "rounded", 0).values():
        assert (array.astype(np.float32).view(np.uint32) & 0xFFFF == 0).all()


def test_what_a_recurrence_makes_of_a_rounding_refuses_nothing() -> None:
    """S - mean(S) is 0 or a last digit, which a recurrence multiplies by S at every lane: in float16 it may pass the
    range, and in float64 be far from what long double gives. Where masks are in doubt nothing bounds it.
    """
    (a,) = nq.axes("a", a=15)
    N = nq.array("N", a)
    total = nq.sum(N * N, a)
    kept = nq.where(N <= N, total, -math.inf)
    grown = nq.recur(kept, kept - nq.mean(kept, a), a)
    numbers = np.random.default_rng(0).standard_normal(15)

    def held(source: nq.Term, order: list[str], found: np.ndarray, rounded: str) -> str:
        return translation._apart(found, source, source, {"N": numbers}, {"a": 15}, order, rounded)

    assert held(grown, ["a"], np.full(15, -math.inf), "float32") != ""
    exact, small = nq.evaluate(grown, {"N": numbers}), np.full(15, 1e-5)
    past = np.where(np.arange(15) < 8, small, -math.inf)
    assert np.abs(exact).max() < 1e3 and held(grown, ["a"], past, "float16") == ""
    doubted = nq.sum(nq.where(nq.equal(kept, total), grown, nq.sum(grown, a)), a)
    wanted = nq.evaluate(doubted, {"N": numbers})
    assert held(doubted, [], wanted + 1e-9, "") == "" and held(doubted, [], wanted + 1e12, "") != ""


def test_an_inverse_of_what_happens_to_be_zero_refuses_no_plan():
    """Where p is the mean of its row, the row one number, the difference is 0 as it is written and 1e-16 as it is
    rounded.
    """
    a, b, c = nq.axes("a b c", a=3, b=5, c=5)
    p = nq.softmax(nq.array("N", b, c, a, facts=("abs<=4",)), c)
    found = nq.derive(p / (p - nq.mean(p, a)), "h200", dtype="float16")
    assert found.report()["translation"][0]["status"] == "agrees"


def test_an_axis_that_the_plan_no_longer_has_needs_a_size_too():
    """One element is read along an axis whose size is not known: no kernel has the axis."""
    a, i, b, d = nq.axes("a i b d", a=33, i=33, d=3)
    first = Read(nq.array("B", b), b, Const(0))
    same = Map("eq", (Read(nq.array("A", a), a, Const(0) + Index(i)), first))
    found = derive(Reduce("prod", d, nq.array("A", a), same), dtype="float16", limit=15)
    assert all(output.translation.status in (AGREES, UNKNOWN) for output in found.outputs)


def test_programs_that_are_run_apart_are_counted_one_by_one(monkeypatch):
    """Blocks of queries end their loops elsewhere: of these each is run for all four heads at once, no more."""
    case = plans.FLOAT_CASES["attention_concrete"]("f32")
    monkeypatch.setattr(translation, "STATEMENT", 0.0)
    made = translation.computed(case.plan, {}, 1, 1)
    monkeypatch.undo()
    together = translation.computed(case.plan, {}, 1, 1) - made
    monkeypatch.setattr(printers, "AT_ONCE", 1)
    assert translation.computed(case.plan, {}, 1, 1) - made == 4 * together > 0
