"""Products of float32 on the matrix unit, in parts as Triton makes them: what they lose, where they do not hold, and
that the bounds of plans say so.
"""

from __future__ import annotations

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.lang.term import Term
from napkin_eq.numerics.error_bound import error_bound, schedule
from napkin_eq.numerics.matrix_unit import multiplied
from napkin_eq.numerics.running_bound import running_bound
from napkin_eq.tile.ir import IN_PARTS, MATRIX_ROUNDOFF, matrix_roundoff
from napkin_eq.tile.printers import emit
from tests import plans

PARTED = ("tf32x3", "bf16x6")
SIZES = M, N, K = 8, 9, 40
MOST = float(np.finfo(np.float32).max)


def digits(rng, *shape):
    """Numbers from 1 to 2 whose low digits, those of each part too, are mostly 1."""
    drawn = rng.integers(0, 2**23, shape)
    ones = rng.choice([0, 0x7F, 0x7FFF, 0xFFF, 0x1FFF, 0x7F00], shape)
    return 1 + (drawn | ones) * 2.0**-23


def signs(rng, *shape):
    return rng.choice([-1.0, 1.0], shape)


def _cancelling(rng):
    a = digits(rng, M, K // 2)
    return np.concatenate([a, -a], 1), np.tile(digits(rng, K // 2, N), (2, 1))


def _one(size, other=1.0):
    def drawn(rng):
        a, b = digits(rng, M, K), other * digits(rng, K, N)
        a[3, 5] = size
        return a, b

    return drawn


def _zero_against(size):
    def drawn(rng):
        a, b = _one(size)(rng)
        b[5] = 0.0
        return a, b

    return drawn


DATA = {
    "all digits": lambda rng: (digits(rng, M, K) * signs(rng, M, K), digits(rng, K, N)),
    "what cancels": _cancelling,
    "small times large": lambda rng: (2.0**-115 * digits(rng, M, K), 2.0**110 * digits(rng, K, N)),
    "smallest times large": lambda rng: (2.0**-140 * digits(rng, M, K), 2.0**110 * digits(rng, K, N)),
    "smallest": lambda rng: (2.0**-100 * digits(rng, M, K), 2.0**-100 * digits(rng, K, N)),
    "the last that is held": _one(IN_PARTS, 2.0**-20),
    "the largest number": _one(MOST, 2.0**-20),
    "the largest number times 0": _zero_against(MOST),
    "sums past the range": lambda rng: (3e38 * signs(rng, M, K), digits(rng, K, N) / 2),
}


@pytest.mark.parametrize("precision", PARTED)
def test_a_product_in_parts_loses_no_more_than_is_said_of_its_operands(precision):
    rng = np.random.default_rng(0)
    a, b = (digits(rng, 200_000).astype(np.float32) for _ in range(2))
    lost = 0.0
    for start in range(0, len(a), 1000):
        x, y = (each[start : start + 1000].reshape(-1, 1, 1) for each in (a, b))
        exact = x.astype(np.float64) * y
        lost = max(lost, float(np.abs(multiplied(x, y, precision) / exact - 1).max()))
    assert 2.0**-25 < lost <= 2 * MATRIX_ROUNDOFF[precision] + 2.0**-22


@pytest.mark.parametrize("precision", PARTED)
def test_zeros_infinities_and_nan_are_those_of_ieee_arithmetic(precision):
    rng = np.random.default_rng(1)
    edges = np.array([0.0, -0.0, np.inf, -np.inf, np.nan], np.float32)
    for _ in range(300):
        sides = (
            np.where(rng.random(shape) < 0.3, rng.choice(edges, shape), rng.standard_normal(shape)).astype(np.float32)
            for shape in ((4, 3), (3, 5))
        )
        a, b = sides
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(multiplied(a, b, precision), a.astype(np.float64) @ b, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("precision", PARTED)
def test_past_what_parts_hold_a_number_is_infinite_and_times_0_none(precision):
    big = np.full((1, 1), MOST, np.float32)
    with np.errstate(all="ignore"):
        assert np.isinf(multiplied(big, np.full((1, 1), 0.5, np.float32), precision)).all()
        assert np.isnan(multiplied(big, np.zeros((1, 1), np.float32), precision)).all()
    held = np.full((1, 1), IN_PARTS, np.float32)
    assert held == IN_PARTS and multiplied(held, np.full((1, 1), 0.5, np.float32), precision) == held / 2


@pytest.mark.parametrize("precision", MATRIX_ROUNDOFF)
@pytest.mark.parametrize("data", DATA)
def test_both_bounds_hold_whatever_parts_lose(precision, data):
    case = plans.matmul(sizes=SIZES, tiles=(16, 16, 16), precision=precision)
    arrays = {
        name: array.astype(np.float32).astype(np.float64)
        for name, array in zip("AB", DATA[data](np.random.default_rng(2)), strict=True)
    }
    with np.errstate(all="ignore"):
        got = emit(case.plan, "numpy")(arrays, emulate=True)["C"].astype(np.float64)
        exact = arrays["A"] @ arrays["B"]
    (before,) = error_bound(
        _product(), arrays, {}, "float32", matrix_roundoff(case.plan), ["m", "n"], schedule(case.plan)
    )
    along = running_bound(case.plan, arrays, {})["C"]
    for bound in (before, along):
        with np.errstate(all="ignore"):
            off = np.nan_to_num(np.abs(got - exact), nan=np.inf)
        # float64 adds up, too
        assert (off <= bound + 2.0**-45 * (np.abs(arrays["A"]) @ np.abs(arrays["B"]))).all()
        assert np.isfinite(bound).any() or data == "sums past the range"


def test_sums_that_pass_the_range_on_their_way_have_no_bound():
    rows, x = nq.axes("r x", r=2, x=64)
    data = {"S": np.tile([3e38, 3e38, -3e38, -3e38], (2, 16))}
    for term in (nq.sum(nq.array("S", rows, x), x), nq.cumsum(nq.array("S", rows, x), x)):
        assert np.isinf(error_bound(term, data, {}, "float32")[0]).any()
        assert np.isfinite(error_bound(term, {"S": data["S"] / 64}, {}, "float32")[0]).all()
        plan = nq.derive(term, dtype="float32").plan
        assert np.isinf(running_bound(plan, data, {})["out"]).any()


def _product() -> Term:
    m, n, k = nq.axes("m n k", m=M, n=N, k=K)
    return nq.sum(nq.array("A", m, k) * nq.array("B", k, n), k)
