"""The error bound against emulated kernels: never exceeded, not absurdly wide, and tight enough to catch a wrong
kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.lang.axis import axes
from napkin_eq.lang.dtypes import BY_NAME
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.numpy_semantics import Named
from napkin_eq.lang.numpy_semantics import held as rounded_to
from napkin_eq.lang.term import Const, Fold, Index, Input, Map, Online, Read, Reduce, Scan, Store, Tuple
from napkin_eq.laws.law import TRUE, exp, inv, log, where
from napkin_eq.numerics.error_bound import error_bound
from napkin_eq.numerics.roundoff import STORAGE
from napkin_eq.numerics.shared_errors import over

q, x, d = axes("q x d", q=24, x=40, d=16)
A, B = Input("A", (q, d)), Input("B", (x, d))
S = Reduce("sum", d, A * B)
M = Reduce("max", x, S)
P = exp(S - M)
A0, B0 = Input("A0", (x,)), Input("B0", (x,))
S0 = B0 * Const(1.0)
WEIGHTED = Reduce("sum", x, P * inv(Reduce("sum", x, P)) * B)


def draw(seed: int, dtype: str = "float16", **shapes: tuple[int, ...]) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {name: rng.standard_normal(shape).astype(dtype) for name, shape in sorted(shapes.items())}


def emulated(a: np.ndarray, b: np.ndarray, block: int) -> np.ndarray:
    """A float16 kernel that carries its sums along blocks, in float32, operands of products in float16."""
    a32, b32 = a.astype(np.float32), b.astype(np.float32)
    m = np.full(len(a), -np.inf, np.float32)
    z, o = np.zeros(len(a), np.float32), np.zeros((len(a), b.shape[1]), np.float32)
    for start in range(0, len(b), block):
        s = a32 @ b32[start : start + block].T
        new = np.maximum(m, s.max(1))
        p = np.exp(s - new[:, None])
        step = np.exp(m - new)
        z, o = (
            z * step + p.sum(1),
            o * step[:, None] + p.astype(np.float16).astype(np.float32) @ b32[start : start + block],
        )
        m = new
    return (o / z[:, None]).astype(np.float16)


@pytest.mark.parametrize("block", [8, 16, 40])
def test_an_emulated_kernel_stays_within_the_bound(block):
    arrays = draw(block, A=(24, 16), B=(40, 16))
    exact = evaluate(WEIGHTED, arrays)
    (bound,) = error_bound(WEIGHTED, arrays, {}, "float16")
    off = np.abs(emulated(arrays["A"], arrays["B"], block) - exact)
    assert bound.shape == exact.shape
    assert (off <= bound).all()
    assert bound.max() < 40 * off.max()


def test_a_wrong_kernel_exceeds_the_bound():
    arrays = draw(0, A=(24, 16), B=(40, 16))
    (bound,) = error_bound(WEIGHTED, arrays, {}, "float16")
    for wrong in (arrays["B"][:-1], arrays["B"] * np.float16(1.01)):  # a lane forgotten, one per cent off
        assert (np.abs(emulated(arrays["A"], wrong, 8) - evaluate(WEIGHTED, arrays)) > bound).any()


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_plain_sums_of_products(dtype):
    arrays = draw(3, dtype, A=(24, 16), B=(40, 16))
    got = (arrays["A"].astype(np.float32) @ arrays["B"].astype(np.float32).T).astype(dtype)
    (bound,) = error_bound(S, arrays, {}, dtype)
    off = np.abs(got - evaluate(S, arrays))
    assert (off <= bound).all()
    assert bound.max() < 200 * off.max()


UNARY: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "exp": np.exp, "log": lambda v: np.log(np.abs(v)), "sqrt": lambda v: np.sqrt(np.abs(v)), "tanh": np.tanh,
    "sin": np.sin, "cos": np.cos, "atan": np.arctan,
    "inv": lambda v: 1 / v, "abs": np.abs, "sigmoid": lambda v: 1 / (1 + np.exp(-v)),
}  # fmt: skip


@pytest.mark.parametrize("op", sorted(UNARY))
def test_operators_in_float32(op):
    arrays = draw(7, "float32", A=(24, 16))
    arg = Map("abs", (A,)) if op in ("log", "sqrt") else A
    (bound,) = error_bound(Map(op, (arg,)), arrays, {}, "float32")
    exact = UNARY[op](arrays["A"].astype(np.float64))
    off = np.abs(UNARY[op](arrays["A"]).astype(np.float32) - exact)
    assert (off <= bound).all()
    # A few last places of the argument, of the result, and of 1 where the GPU's own unit is off by as much.
    assert (bound <= 2.0**-23 * (8 * (np.abs(exact) + np.abs(arrays["A"])) + 4)).all()


def test_errors_grow_through_each_operator():
    """A perturbation of an inner value moves the result by no more than the bound says."""
    arrays = draw(9, A=(24, 16))
    inner = Store(A * A * A)  # rounded to float16
    exact = arrays["A"].astype(np.float64) ** 3
    moved = exact.astype(np.float16).astype(np.float64)
    for op in ("exp", "sqrt", "tanh", "sigmoid", "sin", "cos", "atan", "inv", "abs", "erf", "neg"):
        term = Map(op, (inner + 1.0 if op == "inv" else inner,))
        (bound,) = error_bound(term, arrays, {}, "float16")
        base = evaluate(term, arrays)
        other, further = (
            evaluate(Map(op, (A + 1.0 if op == "inv" else A,)), {"A": a}) for a in (moved, moved + 8 * (moved - exact))
        )
        assert (np.abs(base - other) <= bound).all(), op
        assert (np.abs(base - further) > bound).any(), op  # eight times what the rounding moved it by


def test_absent_values_and_empty_rows_are_exact():
    arrays = draw(1, A=(24, 16), B=(40, 16))
    masked = where(Index(x) >= Index(q) + 30, S, Const(float("-inf")))
    p = exp(masked - Reduce("max", x, masked))
    term = Reduce("sum", x, p * inv(Reduce("sum", x, p)) * B)
    (bound,) = error_bound(term, arrays, {}, "float16")
    assert np.isfinite(bound).all()
    assert (bound[12:] <= STORAGE["float16"][1] * 41).all()  # rows 10 and more see no lane at all
    (log_bound,) = error_bound(log(Reduce("sum", x, p)), arrays, {}, "float16")
    assert np.isfinite(log_bound).all()


def test_doubtful_comparisons_widen_the_bound():
    arrays = {"A": np.zeros((24, 16), np.float16)}
    close = Map("where", (Store(A + 1e-9) > Const(0.0), Const(5.0), Const(2.0)))
    (bound,) = error_bound(close, arrays, {}, "float16")
    assert (bound >= 3).all()
    (sure,) = error_bound(Map("where", (Const(-1.0) < A, Const(5.0), Const(2.0))), arrays, {}, "float16")
    assert (sure < 0.01).all()


def test_poles_are_unbounded():
    arrays = draw(2, A=(24, 16), B=(40, 16))
    (bound,) = error_bound(inv(S - S), arrays, {}, "float16")
    assert np.isinf(bound).all()


def test_folds_scans_reads_and_online_sums():
    arrays = draw(5, A=(24, 16), B=(40, 16))
    shifted = Read(A, q, Index(q) + 1)
    for term in (
        Scan("sum", q, A), Scan("max", q, A), Scan("prod", q, A), Reduce("prod", d, A), Reduce("max", d, A), shifted,
        Online(x, exp(S - M), TRUE, exp(Const(0.0)), False), Tuple((S, M)),
    ):  # fmt: skip
        values = evaluate(Reduce("sum", x, P) if isinstance(term, Online) else term, arrays)
        values = values if isinstance(values, tuple) else (values,)
        for bound, value in zip(error_bound(term, arrays, {}, "float16"), values, strict=True):
            assert bound.shape == value.shape
            assert (np.abs(value.astype(np.float16) - value) <= bound).all()
            assert (bound <= 0.1 + 0.1 * np.abs(value)).all()


def test_an_output_is_rounded_once():
    arrays = draw(4, A=(24, 16))
    (plain,), (stored,) = error_bound(A * A, arrays, {}, "float16"), error_bound(Store(A * A), arrays, {}, "float16")
    assert (plain == stored).all()
    exact = arrays["A"].astype(np.float64) ** 2
    used = np.abs((exact.astype(np.float32)).astype(np.float16) - exact) / plain
    assert 0.9 < used.max() <= 1


def test_tensor_float_rounds_inputs_too():
    arrays = draw(6, "float32", A=(24, 16), B=(40, 16))
    (plain,), (matrix,) = error_bound(S, arrays, {}, "float32"), error_bound(S, arrays, {}, "float32", 2.0**-11)
    assert (matrix > 30 * plain).all()


def test_unknown_dtype():
    with pytest.raises(NapkinError, match="unknown dtype 'float8'; one of bfloat16, float16, float32, float8_e4m3fn"):
        error_bound(S, {}, {}, "float8")


def test_a_lane_that_cannot_be_the_maximum_adds_no_error() -> None:
    rng = np.random.default_rng(5)
    a = rng.standard_normal((24, 16)) * 2.0 ** rng.integers(-6, 12, (24, 16))
    for sign in (1, -1):
        (bound,) = error_bound(Reduce("max", d, sign * Store(A)), {"A": a}, {}, "float32")
        exact = (sign * a).max(axis=1)
        moved = (sign * a + 2.0**-24 * rng.uniform(-1, 1, (200, 24, 16)) * a).max(axis=2)
        assert (np.abs(moved - exact) <= bound).all()
        assert (bound <= 2.0**-21 * np.abs(exact) + 2.0**-149).all()


def test_what_float64_itself_takes_for_0_is_no_exact_0() -> None:
    (x,) = axes("x", x=2)
    a = Input("A", (x,), "float32")
    small = np.array([-800.0, -np.inf])
    for value in (exp(a), exp(a * 0.5) * exp(a * 0.5)):
        bound = error_bound(value, {"A": small}, {"x": 2}, "float64")[0]
        assert 0 < bound[0] < 1e-300 and bound[1] == 0.0
        # The number that it should be is -800
        assert not np.isfinite(error_bound(log(value), {"A": small}, {"x": 2}, "float64")[0][0])


def test_a_zero_that_a_mask_in_doubt_may_make_absent_has_no_bound() -> None:
    """Of lanes that are 0 and may be there or not the maximum is 0 or absent, as the maximum of nothing: no bound tells
    these two apart.
    """
    seen = Reduce("max", x, A0 * Const(0.0), where=Const(0.0) < S0)
    alike = {"A0": np.ones(40), "B0": np.zeros(40)}
    for sure, bound in ((np.full(40, -1.0), 0.0), (np.full(40, 1e-46), np.inf)):
        assert error_bound(seen, {**alike, "B0": sure}, {}, "float32")[0] == bound
    above = {"A0": np.array([3.0] + [0.0] * 39), "B0": np.array([1.0] + [1e-46] * 39)}
    below = error_bound(Reduce("max", x, A0, where=Const(0.0) < S0), above, {}, "float32")[0]
    assert np.isfinite(below)  # a lane in doubt that lies below another one does not matter


def test_what_passes_below_the_range_of_float64_is_not_absent() -> None:
    (x,) = axes("x", x=2)
    a = Input("A", (x,), "float64")
    data = {"A": np.array([1e120, -np.inf])}
    for value in (a * a * (a * -1.0), a * (a + a * a * -1.0), Map("abs", (a * a * (a * -1.0),))):
        assert np.isneginf(evaluate(value, data)).all()
        for dtype in ("float64", "float32"):
            past, absent = error_bound(value, data, {"x": 2}, dtype)[0]
            assert past == np.inf and absent == 0.0


def test_one_lane_that_stands_for_all_is_summed_as_all() -> None:
    one, two, all_ = Named(("t", "x"), np.ones((1, 3))), Named(("t", "x"), np.ones((2, 3))), Named(("x",), np.ones(1))
    assert over("x", 3, one, two, None).data.tolist() == [3.0, 3.0] == over("x", 3, two, one, None).data.tolist()
    assert over("x", 3, all_, all_, None).data == 3.0


def test_what_is_read_at_a_place_in_doubt_has_no_bound() -> None:
    """Places of maxima of numbers that differ by rounding alone may come out otherwise, and so what is read there."""
    (x,) = axes("x", x=4)
    a, b = Input("A", (x,), "float16"), Input("B", (x,), "float16")
    seen = Read(b, x, Reduce("argmax", x, exp(a * 0.3)))
    for data, bounded in (([1.0, 1.0, 3.0, 2.0], True), ([1.0, 3.0, 3.0, 2.0], False)):
        arrays = {"A": np.array(data, np.float16), "B": np.arange(4.0).astype(np.float16)}
        assert np.isfinite(error_bound(seen, arrays, {}, "float16")[0]) == bounded


def test_beside_what_may_be_nan_any_lane_may_be_the_place_of_the_maximum() -> None:
    """Absent beside what passes the range of float32 is NaN there, and NaN is below none."""
    (x,) = axes("x", x=3)
    huge = Input("A", (x,)) * 1e30
    lanes = where(Input("M", (x,), "bool"), huge * huge, -np.inf) + huge * huge
    for data, far in (([1.0, 1e-30, 1e-30], 2.0), ([1e-25, 1e-30, 1e-30], 0.0)):
        arrays = {"A": np.array(data), "M": np.zeros(3, bool)}
        assert evaluate(Reduce("argmax", x, lanes), arrays) == 0
        assert error_bound(Reduce("argmax", x, lanes), arrays, {}, "float32")[0] == far


@pytest.mark.parametrize("monoid", ["sum", "prod", "max"])
def test_an_absent_lane_that_a_mask_in_doubt_may_take_leaves_a_sum_without_a_bound(monoid: str) -> None:
    (x,) = axes("x", x=3)
    a, b = Input("A", (x,)), exp(Input("B", (x,)))
    fold = Reduce(monoid, x, where(Map("lt", (Const(0.0), a)), a, -np.inf), where=Map("lt", (b, Read(b, x, Const(0)))))
    for first, bounded in ((1.0, True), (-1.0, monoid == "max")):  # whether lane 0 is below itself is in doubt
        arrays = {"A": np.array([first, 2.0, 3.0]), "B": np.array([0.3, 0.1, 0.5])}
        assert np.isfinite(error_bound(fold, arrays, {}, "float32")[0]) == bounded


def test_a_sigmoid_that_float64_takes_for_0_is_no_exact_0() -> None:
    (x,) = axes("x", x=2)
    value = Map("sigmoid", (Input("A", (x,), "float32"),))
    small = {"A": np.array([-1000.0, -np.inf])}
    assert error_bound(value, small, {}, "float64")[0][0] > 0 and error_bound(value, small, {}, "float64")[0][1] == 0
    assert not np.isfinite(error_bound(inv(value), small, {}, "float64")[0][0])  # it should be e^1000


def test_what_a_mask_that_leaves_nothing_out_varies_along_may_be_read_along_it() -> None:
    """A sum of products whose mask holds everywhere is found without the mask, and so without the axes of the mask
    alone.
    """
    (a, b, c) = axes("a b c", a=3, b=4, c=2)
    mask = Input("M", (a, b), "bool")
    terms = Reduce("sum", b, Input("B", (b,)) * Input("C", (b,)), where=mask)
    seen = Read(terms, a, Index(c))
    arrays = {"M": np.ones((3, 4), bool), "B": np.arange(4.0), "C": np.ones(4)}
    assert np.isfinite(error_bound(seen, arrays, {}, "float64", order=["c"])[0]).all()
    assert (evaluate(seen, arrays) == 6.0).all()


def test_numbers_below_zero_that_are_added_up_are_off_by_what_they_are_and_not_by_what_they_come_to() -> None:
    """The range of a sum was narrowed at its lower end where it should have been widened: a sum of eight numbers had
    the bound 0.
    """
    a, c = nq.axes("a c", a=4, c=64)
    A, M = nq.array("A", a, c), nq.array("M", a, c)
    total = nq.sum(nq.where(M > 0.0, nq.exp(A), -nq.exp(A)), c)
    random = np.random.default_rng(0)
    arrays = {"A": random.standard_normal((4, 64)), "M": random.standard_normal((4, 64))}
    magnitude = np.exp(arrays["A"]).sum(axis=1)
    for dtype, roundoff in (("float32", 2.0**-24), ("float64", 2.0**-53)):
        (bound,) = error_bound(total, arrays, {}, dtype)
        assert (bound >= 4 * roundoff * magnitude).all()


def test_a_number_that_no_float_says_is_bounded_as_any():
    (x,) = nq.axes("x", x=4)
    number = Const(Fraction(1, 3))
    (bound,) = error_bound(Map("exp", (nq.array("A", x) + number,)), {"A": np.ones(4)}, {}, "float32")
    assert (bound > 0).all() and (bound < 1e-5).all()


def test_small_whole_numbers_have_an_exact_sum_in_any_order():
    """2 - m - m' of two masks is exact; of other numbers, of large ones and of a part that is off it is not."""
    (x,) = nq.axes("x", x=4)
    M, N = nq.array("M", x), nq.array("N", x)
    arrays = {"M": np.array([0.0, 1.0, 1.0, 3.0]), "N": np.array([1.0, 0.0, 1.0, 2.0])}

    def bound(term: nq.Term, **others: np.ndarray) -> np.ndarray:
        return error_bound(1.0 * term, {**arrays, **others}, {}, "float64", order=["x"])[0]

    rounded = 2.0**-52 * np.abs(evaluate(2.0 - M - N, arrays))
    assert (bound(2.0 - M - N) <= rounded).all() and bound(2.0 - M - N)[2] == 0.0
    assert (bound(2.1 - M - N) > 2.0**-54).all()
    assert (bound(2.0 - M - N, M=arrays["M"] + 0.25) > 2.0**-54).all()
    assert (bound(2.0 - M - N, M=arrays["M"] + 2.0**60) > 1.0).all()
    assert (bound(2.0 - M - nq.exp(N)) > 2.0**-54).all()


def test_a_stored_value_is_bounded_by_the_type_that_the_plan_holds_it_in():
    """Scores of 6e7 pass the range of float16; those that float32 holds do not, and both who read them have the same
    numbers.
    """
    t, v, d = nq.axes("t v d", t=3, v=50, d=64)
    scores = Store(Fold("sum", d, nq.array("A", t, d) * nq.array("W", v, d), TRUE, False))
    most = Fold("max", v, scores, TRUE, False)
    random = np.random.default_rng(0)
    arrays = {name: (1000 + random.standard_normal((n, 64))).astype(np.float16) for name, n in (("A", 3), ("W", 50))}
    held = (arrays["A"].astype(np.float32) @ arrays["W"].astype(np.float32).T).astype(np.float32)
    top = held.max(1)
    found = np.log(np.exp(held - top[:, None]).sum(1)) + (top - held[:, 7])
    term = log(Fold("sum", v, exp(scores - most), TRUE, False)) + (most - Read(scores, v, Const(7)))
    off = np.abs(found - evaluate(term, arrays))
    assert np.isinf(error_bound(term, arrays, {}, "float16")[0]).all()
    (bound,) = error_bound(term, arrays, {}, "float16", held={scores: "float32"})
    assert (off <= bound).all() and (bound < 0.01 * held.max()).all()
    (narrow,) = error_bound(Store(scores * 1e-4), arrays, {}, "float32", held={scores: "bfloat16"})
    rounded = np.abs(rounded_to(held, BY_NAME["bfloat16"]) - held).max(1) * 1e-4
    assert (rounded <= narrow.max(1)).all() and (narrow.max(1) < 100 * rounded).all()


def test_sums_are_exact_where_all_parts_are_multiples_of_a_number_and_few_of_it():
    """As far as the digits of a number go; not of parts that are off, nor of such as may be taken for 0."""
    (x,) = nq.axes("x", x=64)
    U, V = nq.array("U", x), nq.array("V", x)
    halves, lane = np.arange(64) / 2 - 7, np.arange(64)

    def exact(term: nq.Term, u: np.ndarray, v: np.ndarray = halves, where: nq.Term = TRUE) -> bool:
        total = Reduce("sum", x, term, where)
        (bound,) = error_bound(total, {"U": u, "V": v}, {}, "float32", order=[])
        return bool(bound <= 2.0**-24 * abs(evaluate(total, {"U": u, "V": v})) + 2.0**-149)

    assert exact(U, halves) and exact(U, 0.0 * halves) and exact(U, halves * 2.0**40)
    assert exact(U * V, halves) and exact(U * V, halves * 2.0**-60)
    assert not exact(U, halves + 0.1) and not exact(U * V, halves + 2.0**-16) and not exact(nq.exp(U * 0.0) + U, halves)
    parts = np.where(lane == 3, 2.0**22, np.where(lane == 9, 0.5, 0.0))  # 2^23 halves and one more, or 2^24 and one
    assert exact(U, parts) and not exact(U, parts * 2 - 0.5 * (lane == 9)) and exact(U, parts * 2, where=Index(x) < 9)
    assert not exact(U * V, halves * 2.0**-75, halves * 2.0**-75)
