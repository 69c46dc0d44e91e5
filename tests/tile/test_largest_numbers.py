"""Masks made of very large numbers, up to the largest that float32 holds: what a kernel makes of them is what the
diagram says, no infinity on the way turns into NaN, and what is kept loses no digits to what is not.
"""

from __future__ import annotations

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.term import Const, Input, Map, Term, subterms
from napkin_eq.tile.ir import Dot, Let, statements
from napkin_eq.tile.printers import emit

LOWEST = Const(-float(np.finfo(np.float32).max))
q, x, d = nq.axes("q x d", q=24, x=150, d=16)
S, K, V = nq.array("S", q, x), nq.array("K", x, d), nq.array("V", x, d)
KEEP = nq.array("keep", q, x)


def chosen(scores: Term) -> Term:
    return Map("where", (Const(0.5) < KEEP, scores, LOWEST))


SCORES = {
    "chosen": chosen(S),
    "added": nq.array("T", q, x) + (1.0 - KEEP) * LOWEST,
    "scaled and added": 0.125 * nq.sum(nq.array("Q", q, d) * K, d) + (1.0 - KEEP) * LOWEST,
    "data": S,
}


def data():
    rng = np.random.default_rng(0)
    keep = (rng.random((24, 150)) < 0.5) * 1.0
    keep[3], keep[5], keep[:, :70] = 0.0, 1.0, 0.0
    scores = np.where(keep > 0, rng.standard_normal((24, 150)), LOWEST.value)
    drawn = {"S": scores, "keep": keep, "T": rng.standard_normal((24, 150))} | {
        n: rng.standard_normal(s) for n, s in (("Q", (24, 16)), ("K", (150, 16)))
    }
    drawn["V"] = rng.standard_normal((150, 16))
    return {name: array.astype(np.float32).astype(np.float64) for name, array in drawn.items()}


@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_softmax_masked_by_the_lowest_number_is_the_diagrams(scores, weighted):
    p = nq.softmax(SCORES[scores], x)
    term = nq.sum(p * V, x) if weighted else p
    drawn = {buffer.name: data()[buffer.name] for buffer in Diagram("masked", (("out", term),)).inputs()}
    plan = nq.derive(term, dtype="float32").plan
    order = [axis.name for axis in plan.outputs[0].dims]
    for fuse in (False, True):
        found = emit(plan, "numpy")(drawn, True, {}, fuse)["out"]
        exact = evaluate(term, drawn, order=order)
        np.testing.assert_allclose(found, exact, rtol=1e-4, atol=1e-5)


MASKED = {
    "added": lambda masked: masked,
    "with more parts": lambda masked: 2.0 * masked + 0.5,
    "exponential": nq.exp,
    "what is positive": lambda masked: 2.0 * nq.relu(masked),
    "sum of exponentials": lambda masked: nq.sum(nq.exp(masked), x),
}


@pytest.mark.parametrize("size", [1e4, 1e9, 1e30, -LOWEST.value])
@pytest.mark.parametrize("use", MASKED)
def test_a_mask_made_by_a_difference_is_not_taken_apart(size, use):
    term = MASKED[use](S + (1.0 - KEEP) * Const(-size))
    drawn = data() | {"S": np.where(data()["keep"] > 0, data()["S"], 0.0)}
    plan = nq.derive(term, dtype="float32").plan
    drawn = {buffer.name: drawn[buffer.name] for buffer in plan.inputs}
    order = [axis.name for axis in plan.outputs[0].dims]
    with np.errstate(over="ignore"):
        found, exact = emit(plan, "numpy")(drawn, True)["out"], evaluate(term, drawn, order=order)
        exact = exact.astype(np.float32)  # twice the lowest number is infinite
    np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("size", [1e9, -LOWEST.value])
def test_a_masked_softmax_keeps_to_the_maximum_of_what_is_kept(size):
    q, x, d = nq.axes("q x d", q=256, x=256, d=64)
    rng = np.random.default_rng(0)
    drawn = {name: 6 * rng.standard_normal((256, 64)).astype(np.float32) for name in "QK"}
    drawn["keep"] = (rng.random((256, 256)) < 0.5) * 1.0
    drawn["keep"][:, 0] = 1.0
    scores = 0.125 * nq.sum(nq.array("Q", q, d) * nq.array("K", x, d), d)
    term = nq.softmax(scores + (1.0 - nq.array("keep", q, x)) * Const(-size), x)
    assert (0.125 * drawn["Q"] @ drawn["K"].T).max() > 100  # whose exponential float32 does not hold
    plan = nq.derive(term, dtype="float32").plan
    order = [axis.name for axis in plan.outputs[0].dims]
    np.testing.assert_allclose(
        emit(plan, "numpy")(drawn, True)["out"], evaluate(term, drawn, order=order), rtol=1e-3, atol=1e-4
    )


@pytest.mark.parametrize("limit", [None, 1e-4])
def test_what_is_masked_by_the_lowest_number_is_multiplied_whole(limit):
    m, n, k = nq.axes("m n k", m=1024, n=1024, k=1024)
    a, b, keep = nq.array("A", m, k), nq.array("B", n, k), nq.array("keep", k)
    masked = Map("where", (Const(0.5) < keep, a, LOWEST))
    found = {}
    for name, term in (("plain", a), ("masked", masked), ("weights", nq.exp(masked))):
        derived = nq.derive(nq.sum(term * b, k), dtype="float32", max_error=limit)
        dots = (s for kernel in derived.plan.kernels for s in statements(kernel.body) if isinstance(s, Dot))
        found[name] = {dot.precision for dot in dots}
    assert found["masked"] <= {"ieee"} and "ieee" not in found["plain"] | found["weights"] and found["weights"]


def test_what_is_said_to_be_far_is_multiplied_whole_and_stored_values_say_it_themselves():
    m, n, k, j = nq.axes("m n k j", m=256, n=256, k=256, j=256)
    a, b, keep = nq.array("A", m, k), nq.array("B", n, k), nq.array("keep", m)
    given = nq.sum(nq.array("M", m, k, facts=("far",)) * b, k)
    rows = nq.sum(a * nq.array("C", j, k), k)
    stored = nq.sum(Map("where", (Const(0.5) < keep, rows, LOWEST)) * nq.array("D", n, j), j)
    for term, whole in ((given, 1), (stored, 1)):
        plan = nq.derive(term, dtype="float32").plan
        dots = [s.precision for kernel in plan.kernels for s in statements(kernel.body) if isinstance(s, Dot)]
        assert dots.count("ieee") == whole, dots


def test_of_two_contractions_of_one_array_one_may_be_whole_and_the_other_in_parts():
    q, k, d = nq.axes("q k d", q=64, k=64, d=64)
    weights, v, keep = nq.array("W", q, k), nq.array("V", k, d), nq.array("keep", q, k, dtype="bool")
    masked = weights + Map("where", (keep, Const(0.0), LOWEST))
    rng = np.random.default_rng(0)
    drawn = {name: rng.standard_normal((64, 64)).astype(np.float32) for name in "WV"} | {"keep": np.ones((64, 64)) > 0}
    term = nq.sum(masked * v, k)
    for precision in ("", "tf32x3", "bf16x6"):
        plan = nq.derive(term, dtype="float32", limit=6, precision=precision).plan
        found = emit(plan, "numpy")(drawn, True)["out"]
        np.testing.assert_allclose(found, drawn["W"] @ drawn["V"], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("scale", [1.0, 1e6, 1e9, 1e12, 1e30])
def test_scores_that_are_sums_are_exponentiated_as_their_maximum_was_taken(scale):
    """In another order than its maximum's a sum passes it by one of its last digits, which are thousands here."""
    x, y = nq.axes("x y", x=24, y=17)
    a, b = nq.array("A", x, y), nq.array("B", x)
    for scores in (a - b, a * 0.5 + (b - nq.array("C", y))):
        found = nq.derive(nq.softmax(scores, x), "h200", dtype="float32")
        draw = np.random.default_rng(0)
        given = {
            i.name: (draw.standard_normal([d.size for d in i.dims]) * scale).astype(np.float32)
            for i in subterms(scores)
            if isinstance(i, Input)
        }
        (made,) = emit(found.plan, "numpy")(given, True).values()
        assert np.isfinite(made).all()
        order = [d.name for d in found.plan.outputs[0].dims]
        np.testing.assert_allclose(made.sum(order.index("x")), 1.0, rtol=1e-5)


def test_of_an_exponent_with_one_large_part_each_part_is_scaled_by_itself():
    """It passes the range with or without the others: what a lane is added to is scaled with what it is made of, the
    number of a row once for all lanes.
    """
    dot = nq.sum(nq.array("Q", q, d) * K, d) * 0.125
    for term, many in ((dot - nq.array("L", q), 0), (nq.array("B", q, x) - nq.array("L", q), 1)):
        kernels = nq.derive(nq.sum(nq.exp(term) * V, x)).plan.kernels
        scaled = [
            stmt
            for kernel in kernels
            for stmt in statements(kernel.body)
            if isinstance(stmt, Let) and stmt.op == "mul" and stmt.args[1] == np.log2(np.e)
            if any(c.startswith("x") for c in stmt.out.coords)
        ]
        assert bool(scaled) == bool(many)
