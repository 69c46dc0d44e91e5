"""The meaning of terms, against plain NumPy and by hand; streams against the whole, with streams that are wrong on
purpose.
"""

import math

import numpy as np
import pytest

import napkin_eq.frontend.library as nq
from napkin_eq.lang.axis import Axis, axes
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import evaluate, output_order
from napkin_eq.lang.numpy_semantics import FOLDS, MEANING, OPERATORS
from napkin_eq.lang.operators import MONOIDS, OPS, REDUCTIONS
from napkin_eq.lang.term import (
    CLASSES,
    Acc,
    Const,
    Fold,
    Group,
    Index,
    Map,
    Online,
    Prev,
    Read,
    Reduce,
    Scan,
    Size,
    Store,
    Tuple,
    Walk,
)
from napkin_eq.laws.law import Var

INF = math.inf
TRUE = Const(True)
q, x, y, d = axes("q x y d")
A, B, V = nq.array("A", q, x), nq.array("B", x, d), nq.array("V", x, d)
rng = np.random.default_rng(20)
DATA = {"A": rng.normal(size=(5, 7)), "B": rng.normal(size=(7, 3)), "V": rng.normal(size=(7, 3))}
a, b = DATA["A"], DATA["B"]
BLOCKS = (1, 2, 3, 7, 100, {"x": 4})


def one(op, *values):
    """Return an operator's value at one point."""
    out = evaluate(Map(op, tuple(Const(v) for v in values)), {})
    return out.item()


def test_every_operator_monoid_and_class_has_a_meaning():
    assert set(OPERATORS) == set(OPS)
    assert set(FOLDS) == set(REDUCTIONS)
    assert set(MEANING) == set(CLASSES.values()) - {Tuple}


ABSENT_IN = [
    ("add", (-INF, 3.0), -INF), ("add", (3.0, -INF), -INF), ("mul", (-INF, 0.0), -INF), ("mul", (-INF, -2.0), -INF),
    ("mul", (-INF, -INF), -INF), ("neg", (-INF,), -INF), ("inv", (-INF,), -INF), ("inv", (0.0,), 0.0),
    ("inv", (4.0,), 0.25),
    ("max", (-INF, -3.0), -3.0), ("min", (-INF, 3.0), -INF), ("exp", (-INF,), 0.0), ("log", (0.0,), -INF),
    ("log", (-2.0,), -INF),
    ("log", (-INF,), -INF), ("log", (math.e,), 1.0), ("sqrt", (-4.0,), 0.0), ("sqrt", (4.0,), 2.0),
    ("sqrt", (-INF,), -INF),
    ("sigmoid", (-INF,), 0.0), ("sigmoid", (0.0,), 0.5), ("sigmoid", (-800.0,), 0.0), ("tanh", (-INF,), -1.0),
    ("erf", (-INF,), -1.0),
    ("abs", (-INF,), -INF), ("sin", (-INF,), -INF), ("cos", (-INF,), -INF), ("floor", (-INF,), -INF),
    ("round", (-INF,), -INF),
    ("floor", (-1.5,), -2.0), ("round", (2.5,), 2.0), ("round", (-1.5,), -2.0), ("floordiv", (-7, 2), -4),
    ("mod", (-7, 3), 2),
    ("lt", (-INF, 0.0), True), ("le", (2, 2), True), ("eq", (1.0, 2.0), False), ("and", (True, False), False),
    ("or", (True, False), True),
    ("not", (False,), True), ("where", (True, 1.0, 2.0), 1.0), ("real", (3,), 3.0), ("max", (2, 3), 3),
]  # fmt: skip


@pytest.mark.parametrize("op, values, expected", ABSENT_IN)
def test_operators_at_a_point(op, values, expected):
    assert one(op, *values) == expected


def test_reductions_of_absent_and_left_out_lanes():
    row = nq.array("R", x)
    value = {"R": np.array([-INF, 2.0, 3.0])}
    kept = Index(x) >= 1
    assert evaluate(nq.sum(row, x), value) == -INF
    assert evaluate(nq.prod(row, x), value) == -INF
    assert evaluate(nq.max(row, x), value) == 3
    assert evaluate(nq.min(row, x), value) == 2
    assert evaluate(nq.sum(row, x, where=kept), value) == 5
    assert evaluate(nq.prod(row, x, where=kept), value) == 6
    assert evaluate(nq.sum(row, x, where=Index(x) > 9), value) == 0
    assert evaluate(nq.max(row, x, where=Index(x) > 9), value) == -INF
    assert evaluate(nq.sum(row * nq.array("Z", x), x), {**value, "Z": np.array([0.0, 1.0, 1.0])}) == -INF
    assert evaluate(nq.cumsum(row, x), {"R": np.array([1.0, -INF, 3.0])}).tolist() == [1, -INF, -INF]
    assert evaluate(nq.scan(row, x, "prod"), {"R": np.array([2.0, -1.0, -INF])}).tolist() == [2, -2, -INF]
    assert evaluate(nq.scan(row, x, "max"), value).tolist() == [-INF, 2, 3]


def test_a_constant_is_summed_as_often_as_the_axis_is_long():
    assert evaluate(Reduce("sum", x, Const(2.0)), {}, {"x": 5}) == 10
    assert evaluate(Reduce("sum", x, Const(2.0), Index(x) < 3), {}, {"x": 5}) == 6
    assert evaluate(Scan("sum", x, Const(2.0)), {}, {"x": 3}).tolist() == [2, 4, 6]
    assert evaluate(nq.size(x), {}, {"x": 5}) == 5


def test_contractions_against_einsum():
    P, R = nq.array("P", d, q, x), nq.array("R", y, x, d)
    data = {"P": rng.normal(size=(2, 3, 4)), "R": rng.normal(size=(5, 4, 2))}
    assert evaluate(nq.sum(P * R, x), data, order="q y d".split()) == pytest.approx(
        np.einsum("dqx,yxd->qyd", data["P"], data["R"])
    )
    for mask, kept in ((Index(x) < 2, np.arange(4) < 2), (Index(y) > Index(x), np.arange(5)[:, None] > np.arange(4))):
        expected = np.einsum("dqx,yxd,yx->qyd", data["P"], data["R"], np.broadcast_to(kept, (5, 4)))
        assert evaluate(nq.sum(P * R, x, where=mask), data, order="q y d".split()) == pytest.approx(expected)
    lone = nq.sum(nq.array("A", q, x) * nq.array("Q", q), x)
    assert evaluate(lone, {"A": a, "Q": np.arange(5.0)}) == pytest.approx(a.sum(1) * np.arange(5))


def test_reads_rename_shift_clamp_gather_and_take_diagonals():
    rows = nq.array("ids", y, dtype="int32")
    data = {**DATA, "ids": np.array([3, 0, 99, -5], np.int32)}
    assert np.array_equal(evaluate(Read(A, x, Index(x) + 1), data), a[:, [1, 2, 3, 4, 5, 6, 6]])
    assert np.array_equal(evaluate(Read(A, x, rows), data), a[:, [3, 0, 6, 0]])
    assert np.array_equal(evaluate(Read(A, x, Index(q)), data), np.diagonal(a))
    assert evaluate(Read(Read(A, x, Const(2)), q, Const(1)), data) == a[1, 2]


def test_the_order_of_axes_is_that_of_the_inputs():
    def names(term):
        return " ".join(map(str, output_order(term)))

    assert names(B * A) == "x d q"
    assert names(A * B) == "q x d"
    assert names(nq.masked(A, Index(x) <= Index(q))) == "q x"
    assert names(nq.masked(nq.array("K", x, q), Index(q) <= Index(x))) == "x q"
    assert names(Index(y) + A) == "q x y"
    assert names(nq.sum(A * B, x)) == "q d"
    assert names(nq.take(B, x, nq.array("ids", q, y, dtype="int32"))) == "q y d"
    assert names(nq.sum(B, x) + nq.array("D", y, x)) == "d y x"
    assert evaluate(B * A, DATA).shape == (7, 3, 5)
    assert evaluate(B * A, DATA, order=(q, x, d)).shape == (5, 7, 3)
    assert [v.shape for v in evaluate(Tuple((A, nq.sum(A, x))), DATA)] == [(5, 7), (5,)]


def test_levels_and_partitions_are_the_identity():
    assert np.array_equal(evaluate(Store(Group(q, Walk(x, A))), DATA), a)


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("monoid", MONOIDS)
def test_a_fold_is_the_reduction(monoid, block):
    for mask in (TRUE, Index(x) <= Index(q), Index(x) > 90):
        expected = evaluate(Reduce(monoid, x, A, mask), DATA)
        assert evaluate(Fold(monoid, x, A, mask, True), DATA, block=block) == pytest.approx(expected)


def streamed(update, body, block, mask=TRUE, data=DATA):
    return evaluate(Online(x, body, mask, update), data, block=block)


TOP = Reduce("max", x, A)
SHIFTED = nq.exp(A - TOP)
STEP = nq.exp(Prev(TOP) - TOP)
MEAN = nq.mean(A, x)
MOVED = Prev(nq.size(x)) * (Prev(MEAN) - MEAN) ** 2


@pytest.mark.parametrize("block", BLOCKS)
def test_streams_that_rescale_and_recentre_equal_the_whole(block):
    weights = np.exp(a - a.max(1, keepdims=True))
    assert streamed(Acc() * STEP, SHIFTED, block) == pytest.approx(weights.sum(1))
    assert streamed(Acc() * STEP, SHIFTED * V, block) == pytest.approx(weights @ DATA["V"])
    total = Reduce("sum", x, SHIFTED)
    ratio = STEP * (Prev(total) * Map("inv", (total,)))
    assert streamed(Acc() * ratio, SHIFTED / total * V, block) == pytest.approx(
        weights / weights.sum(1, keepdims=True) @ DATA["V"]
    )
    assert streamed(Acc() + MOVED, (A - MEAN) ** 2, block) == pytest.approx(a.var(1) * 7)
    kept = np.where(np.arange(7) <= np.arange(5)[:, None], weights, 0)
    assert streamed(Acc() * STEP, SHIFTED, block, Index(x) <= Index(q)) == pytest.approx(kept.sum(1))


@pytest.mark.parametrize(
    "update, body",
    [
        (Acc(), SHIFTED),
        (Acc() / STEP, SHIFTED),
        (Acc() * nq.exp(TOP - Prev(TOP)), SHIFTED),
        (Acc() + Prev(nq.size(x)) * 0.5 * (Prev(MEAN) - MEAN) ** 2, (A - MEAN) ** 2),
        (Acc() + Prev(nq.size(x)) * (Prev(MEAN) + MEAN) ** 2, (A - MEAN) ** 2),
    ],
)
def test_streams_with_a_wrong_update_differ(update, body):
    right = evaluate(Reduce("sum", x, body), DATA)
    assert not np.allclose(streamed(update, body, 2), right)
    assert streamed(update, body, 7) == pytest.approx(right), "one block needs no update"


@pytest.mark.parametrize("block", (1, 2, 3))
def test_a_stream_passes_over_absent_rows(block):
    data = {"A": np.array([[-INF] * 4, [-INF, -INF, 1.0, 2.0], [3.0, -INF, -INF, -INF]])}
    assert streamed(Acc() * STEP, SHIFTED, block, data=data) == pytest.approx([0, 1 + math.exp(-1), 1])


def test_a_stream_over_one_axis_inside_a_stream_over_another():
    inner = Online(y, nq.array("C", x, y), TRUE, Acc())
    data = {"C": rng.normal(size=(5, 6))}
    assert evaluate(Online(x, inner, TRUE, Acc()), data, block=2) == pytest.approx(data["C"].sum())


def test_float32_is_computed_in_float32():
    assert evaluate(A + 0.1, DATA, dtype="float32").dtype == np.float32
    assert evaluate(nq.sum(A, x), DATA).dtype == np.float64


BAD = {
    "input A is missing; given: B": lambda: evaluate(A, {"B": b}),
    "axis x has size 7 by input A and 6 by input B": lambda: evaluate(A * B, {"A": a, "B": b[:6]}),
    "axis x has size 3 by sizes and 7 by input A": lambda: evaluate(A, DATA, {"x": 3}),
    "'z' is no axis of this term": lambda: evaluate(A, DATA, {"z": 3}),
    "has shape .7,.* one size for each of .q x.": lambda: evaluate(A, {"A": a[0]}),
    "axis y has no size": lambda: evaluate(A * nq.sum(nq.masked(A, Index(y) > 1), x), DATA),
    "holds NaN": lambda: evaluate(A, {"A": np.full((2, 2), np.nan)}),
    "holds float64, expected int": lambda: evaluate(nq.array("L", x, dtype="int32"), {"L": a[0]}),
    "size 0 from input A": lambda: evaluate(A, {"A": np.zeros((2, 0))}),
    "not a multiple of 4": lambda: evaluate(nq.array("M", Axis("m", None, 4)), {"M": a[0]}),
    "size 4 by its declaration and 8": lambda: evaluate(
        nq.sum(nq.array("M", Axis("m", 4)), "m") + nq.sum(nq.array("N", Axis("m", 8)), "m"), {}
    ),
    "block 0": lambda: evaluate(Fold("sum", x, A, TRUE), DATA, block=0),
    "only inside an Online's update": lambda: evaluate(Acc() + A, DATA),
    "Prev.* only inside": lambda: evaluate(Prev(TOP), DATA),
    "Acc.* only inside": lambda: evaluate(Online(x, A * Acc(), TRUE, Acc()), DATA),
    "does not list the axes": lambda: evaluate(A, DATA, order=(q,)),
    "pattern of a law": lambda: evaluate(Var("a") + 1.0, {}),
}


@pytest.mark.parametrize("reason", BAD)
def test_what_has_no_value_is_refused_in_one_line(reason):
    with pytest.raises(NapkinError, match=reason) as refused:
        BAD[reason]()
    assert "\n" not in str(refused.value)


def test_size_counts_the_prefix_in_a_stream():
    assert evaluate(Online(x, Const(0.0) * A, TRUE, Acc() + nq.size(x)), DATA, block=3).tolist() == [3 + 6 + 7] * 5
    assert (
        evaluate(Online(x, Const(0.0) * A, TRUE, Acc() + Prev(nq.size(x))), DATA, block=3).tolist() == [0 + 3 + 6] * 5
    )
    assert evaluate(Size(x), DATA, {"x": 9}) == 9
