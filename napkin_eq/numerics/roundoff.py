"""What one operator rounds: its rule, from the values and the errors of its arguments; roundoffs and ranges of the
number types.

A rule takes the value v, the arguments and their errors, and returns a bound on what a unit of float32 is off by: see
rounding.py, whose bounds on terms and running_bound.py's on plans use the same rules.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from napkin_eq.lang.dtypes import TYPES
from napkin_eq.lang.numpy_semantics import OPERATORS, Array, broadcast, running

K = 4
# Of float32: its roundoff; below the least normal number a GPU may flush to zero; past the largest there is infinity.
W, FLUSHED, LARGEST = 2.0**-24, 2.0**-126, 2.0**128
# The same of float64, which no kernel computes in, but what checks them does.
DOUBLE = 2.0**-53, 2.0**-1022, math.inf
_UNIT = ContextVar("unit", default=(W, FLUSHED, LARGEST))
# The largest number of each storage type.
TOP = {t.name: t.top for t in TYPES if t.storage}
# roundoff, and half of the least positive number
STORAGE = {t.name: (t.roundoff, t.half) for t in TYPES if t.storage}


@contextmanager
def in_double() -> Iterator[None]:
    """Take bounds of computations in float64 until the end, as the verifier's own runs are."""
    before = _UNIT.set(DOUBLE)
    try:
        yield
    finally:
        _UNIT.reset(before)


def w() -> float:
    """Return the roundoff of the arithmetic that bounds are taken of."""
    return _UNIT.get()[0]


def flushed() -> float:
    """Return the least normal number, below which there may be 0."""
    return _UNIT.get()[1]


def largest() -> float:
    """Return the number that no finite one reaches."""
    return _UNIT.get()[2]


def exactly(value: float) -> bool:
    """Tell whether a number is held without rounding."""
    return w() < W or float(np.float32(value)) == value


def gone(value: Array, off: Array) -> Array:
    """Return what taking a number for 0 comes to, which is done below the least normal one; off: what it is off by
    before that.
    """
    size = np.where(np.isfinite(value), np.abs(value), 0.0)
    return np.asarray(np.where(size * (1 - K * w()) - off >= flushed(), 0.0, np.fmin(size + off, flushed())))


def adding(depth: float, units: float = 1.0) -> float:
    """Return what so many additions in a row are off by, relative to the sum of the magnitudes: γ of Higham, Accuracy
    and Stability, sec. 3.1.

    units: how many roundoffs an addition is off by; 2 where it truncates.
    """
    found = units * w() * depth
    return found / (1 - found) if found < 1 else math.inf


def unbounded_past(total: Array) -> Array:
    """Return an infinite bound where a sum may pass the range on its way, nothing elsewhere; total: of magnitudes with
    their errors.
    """
    return np.where(total < largest(), 0.0, np.inf)


def grain(value: Array) -> Array:
    """Return the largest power of two that each number is a whole multiple of; infinity for 0, and for what is absent.

    Multiples of one grain whose magnitudes come to fewer grains than a number has digits for are added exactly, in any
    order: the sum of any of them is a number.
    """
    digits, exponents = np.frexp(np.where(np.isfinite(value), value, 0.0))
    whole = np.ldexp(digits, 53).astype(np.int64)
    return np.where(whole == 0, np.inf, np.ldexp((whole & -whole).astype(np.float64), exponents - 53))


def adds_exactly(grains: Array, total: Array) -> Array:
    """Return where multiples of a grain are added exactly in any order; total: of their magnitudes."""
    return np.asarray((total < grains / w()) & (grains >= flushed()))


def _unless(sure: Array, value: Array) -> Array:
    return np.where(sure, value, np.inf)


def risen(v: Array, a: Array, e: Array) -> Array:
    """Return how far e^a is from e to the power of what is e from a, at most; v: e^a."""
    return np.where(e < 1.0, v * np.expm1(e), np.exp(a + e) * (1 + 2.0**-40))


def _exp(v: Array, a: Array, e: Array) -> Array:
    off = risen(v, a, e + K * w() * np.abs(a)) + K * w() * v
    # What float64 itself takes for 0, in which this is bounded, is a number that is not 0.
    lost = np.where(v == 0, flushed(), gone(v, off))
    return np.where(np.isposinf(e), np.inf, np.where(np.isneginf(a), 0.0, off + lost))


def _add(v: Array, a: Array, b: Array, ea: Array, eb: Array) -> Array:
    # Small whole numbers that are exact have an exact sum, as 1 less a mask has.
    whole = [(e == 0) & (np.abs(n) < 1 / w()) & (n == np.round(n)) for n, e in ((a, ea), (b, eb))]
    exact = whole[0] & whole[1] & (np.abs(v) < 1 / w())
    return np.where(exact, 0.0, ea + eb + K * w() * (np.abs(v) + ea + eb) + gone(v, ea + eb))


def _mul(v: Array, a: Array, b: Array, ea: Array, eb: Array) -> Array:
    rounded = np.where(_shifts(a, ea) | _shifts(b, eb), 0.0, K * w() * np.abs(v))
    off = np.abs(a) * eb + np.abs(b) * ea + ea * eb
    lost = np.where((v == 0) & (a != 0) & (b != 0), flushed(), gone(v, off))
    return np.asarray(off + rounded + lost)


def _inv(v: Array, a: Array, e: Array) -> Array:
    away = np.abs(a)
    off = e / away / (away - e) + K * w() * np.abs(v)  # their product may pass the range of float64
    return np.where((a == 0) & (e == 0), 0.0, _unless(away > e, off + gone(v, off)))


def _expm1(v: Array, a: Array, e: Array) -> Array:
    # Kernels write it as a series up to 1/2 (its fifteen terms are off by less than 4 K w of the value), else as e^a -
    # 1.
    off, size = np.where(np.isfinite(e), e, 0.0), np.where(np.isneginf(a), 0.0, np.abs(a))
    moved, power = (v + 1) * np.expm1(off), v + 1
    near = moved + 4 * K * w() * (np.abs(v) + moved)
    far = power * (np.expm1(off + K * w() * size) + K * w()) + K * w() * (np.abs(v) + moved) + flushed()
    found = np.where(size + off <= 0.5, near, np.where(size - off > 0.5, far, np.maximum(near, far)))
    return np.where(np.isneginf(a) & (e == 0), 0.0, _unless(np.isfinite(e), found + gone(v, found)))


def _log(v: Array, a: Array, e: Array) -> Array:
    return np.where((a <= 0) & (e == 0), 0.0, _unless(a > e, np.log1p(e / (a - e)) + K * w() * (np.abs(v) + 1)))


def _rises(op: str, v: Array, a: Array, off: Array) -> Array:
    """Return how far a function that rises moves at most as its argument is off."""
    return np.asarray(np.maximum(np.maximum(OPERATORS[op](a + off) - v, v - OPERATORS[op](a - off)), 0.0))


# How far from -1 these are at most, below 0.
TAILS: dict[str, Callable[[Array], Array]] = {"erf": lambda a: np.exp(-a * a), "tanh": lambda a: 2 * np.exp(2 * a)}


def _smooth(op: str, slope: float) -> Callable[[Array, Array, Array], Array]:
    # These rise, to no more than 1 in size, and are formed from parts of that size: their roundoff is relative to 1,
    # not to the value. An error without a bound may be a NaN's, which stays one.
    def rule(v: Array, a: Array, e: Array) -> Array:
        known = np.isfinite(e)
        off = np.where(known, e, 0.0)
        found = np.minimum(slope * off, _rises(op, v, a, off)) + 2 * K * w()
        # What is far nearer to -1 than a roundoff is computed as -1: tanh is twice a sigmoid less 1, and erf is a unit
        # in the last place off.
        most = a + off
        tail = TAILS[op](np.minimum(most, 0.0))
        return _unless(known, np.where((most < 0) & (tail < w() / 8), tail, found))

    return rule


def _atan(v: Array, a: Array, e: Array) -> Array:
    # Its slope is at most 1. Kernels write it as a part of a turn and a series of what is near 0, each relative to the
    # value.
    known = np.isfinite(e)
    off = np.where(known, e, 0.0)
    found = np.minimum(off, _rises("atan", v, a, off))
    size = np.where(np.isfinite(v), np.abs(v), 0.0)
    found = found + 3 * K * w() * (size + found)
    return np.where(np.isneginf(a) & (e == 0), 0.0, _unless(known, found + gone(v, found)))


def _sigmoid(v: Array, a: Array, e: Array) -> Array:
    # 1 / (1 + e^-a): what the exponential is off by counts as an argument that is off; the rest is relative to the
    # value.
    known = np.isfinite(e)
    away = np.where(np.isfinite(a), np.where(a < 0, np.abs(a), 1.0), 0.0)
    off = np.where(known, e, 0.0) + K * w() * away
    change = np.minimum(0.25 * off, _rises("sigmoid", v, a, off))
    # What float64 itself takes for 0 is a number that is not 0, as for an exponential.
    lost = np.where((v == 0) & ~np.isneginf(a), flushed(), gone(v, change))
    return _unless(known, change + 2 * K * w() * (v + change) + lost)


def _wave(v: Array, a: Array, e: Array) -> Array:
    return _unless(np.isfinite(e), np.minimum(e + K * w() * (np.abs(a) + 1), 2.0))


def _shifts(a: Array, e: Array) -> Array:
    """Tell where a number is exact and 0 or a power of two: what it multiplies keeps its digits."""
    return np.asarray((e == 0) & ((a == 0) | (np.abs(np.frexp(a)[0]) == 0.5)))


def _unsure(v: Array, a: Array, b: Array, ea: Array, eb: Array) -> Array:
    # Of two that may both be absent or not, the distance is no number
    return np.asarray((ea + eb > 0) & ~(np.abs(a - b) > ea + eb), np.float64)


def _where(v: Array, c: Array, a: Array, b: Array, ec: Array, ea: Array, eb: Array) -> Array:
    # A mask that is in doubt may pick the other side: infinitely far off if one of them is absent.
    return np.where(ec > 0, np.maximum(ea, eb) + np.where(a == b, 0.0, np.abs(a - b)), np.where(c, ea, eb))


def _larger(v: Array, a: Array, b: Array, ea: Array, eb: Array) -> Array:
    return np.where(a - b > ea + eb, ea, np.where(b - a > ea + eb, eb, np.maximum(ea, eb)))


def _smaller(v: Array, a: Array, b: Array, ea: Array, eb: Array) -> Array:
    return np.where(np.isneginf(a) | np.isneginf(b), 0.0, _larger(v, -a, -b, ea, eb))


def _either(v: Array, a: Array, b: Array, ea: Array, eb: Array) -> Array:
    return np.maximum(ea, eb)


def _unknown(v: Array, a: Array, b: Array, ea: Array, eb: Array) -> Array:
    return np.where(ea + eb > 0, np.inf, 0.0)


RULES: dict[str, Callable[..., Array]] = {
    "add": _add,
    "mul": _mul,
    "neg": lambda v, a, e: e,
    "inv": _inv,
    "max": _larger,
    "min": _smaller,
    "exp": _exp,
    "log": _log,
    "sqrt": lambda v, a, e: np.sqrt(np.maximum(a, 0) + e) - np.sqrt(np.maximum(a - e, 0)) + K * w() * np.abs(v),
    "expm1": _expm1,
    "atan": _atan,
    "tanh": _smooth("tanh", 1.0),
    "sigmoid": _sigmoid,
    "erf": _smooth("erf", 1.13),
    "sin": _wave,
    "cos": _wave,
    "abs": lambda v, a, e: e,
    "floor": lambda v, a, e: np.where(e > 0, 1 + e, 0.0),
    "round": lambda v, a, e: np.where(e > 0, 1 + e, 0.0),
    # Exact as long as the digits suffice
    "real": lambda v, a, e: e + np.where(np.abs(v) > 1 / w(), w() * np.abs(v), 0.0),
    "floordiv": _unknown,
    "mod": _unknown,
    "lt": _unsure,
    "le": _unsure,
    "eq": _unsure,
    "and": _either,
    "or": _either,
    "not": lambda v, a, e: e,
    "where": _where,
    # Of another counter it is anything
    "random": lambda v, *args: np.where(sum(args[4:]) > 0, np.inf, 0.0),
}


def bounded(
    op: str,
    value: Array,
    values: Sequence[Array],
    errors: Sequence[Array],
    rules: Mapping[str, Callable[..., Array]] = RULES,
) -> Array:
    """Return what a value of an operator is off by: by its rule, and where it is absent by nothing, unless that is in
    doubt itself.

    In doubt is what a mask in doubt makes absent, a logarithm of what may be positive, and whatever comes of a number
    without a bound. Below the range of float64 of operands of which none is absent a number is not absent either, but
    passes the range.
    """
    found = np.asarray(rules[op](value, *values, *errors), np.float64)
    if value.dtype.kind != "f" or not np.isneginf(value).any():
        return found
    wild = [~np.isfinite(e) for e in errors]
    if op == "where":
        (c, a, b), (unsure, *_) = values, errors
        doubt = np.where(
            unsure > 0, wild[1] | wild[2] | (np.isneginf(a) != np.isneginf(b)), np.where(c, wild[1], wild[2])
        )
    elif op in ("log", "log2"):
        doubt = wild[0] | (~np.isneginf(values[0]) & (errors[0] > 0) & (values[0] + errors[0] > 0))
    else:
        doubt = np.logical_or.reduce(broadcast(*wild)) | ~np.logical_or.reduce(
            broadcast(*map(np.isneginf, values))
        )
    return np.where(np.isneginf(value), np.where(doubt, np.inf, 0.0), found)


def may_be_largest(values: Array, errors: Array, sure: Array, at: int) -> Array:
    """Return the lanes along an axis that may be taken for the first of the largest ones, whatever the rounding.

    sure: lanes that a mask keeps for certain. A lane is none of them below one that is, nor after an exact one as
    large. One without a bound may be NaN, beside which any lane may be taken.
    """
    low = np.where(sure, values - errors, -np.inf)
    known = np.where(sure & (errors == 0), values, -np.inf)
    before = np.roll(np.maximum.accumulate(known, axis=at), 1, axis=at)
    first = np.arange(values.shape[at]).reshape([-1 if here == at else 1 for here in range(values.ndim)]) == 0
    above = first | (values + errors > before)
    wild = (~np.isfinite(errors)).any(axis=at, keepdims=True)
    return np.asarray(wild | (~(values + errors < low.max(axis=at, keepdims=True)) & above))


def farthest(found: Array, able: Array, at: int) -> Array:
    """Return how far a place along an axis is from the farthest of some lanes."""
    lanes = np.arange(able.shape[at]).reshape([-1 if here == at else 1 for here in range(able.ndim)])
    first, last = (end.reduce(np.where(able, lanes, found), axis=at, keepdims=True) for end in (np.minimum, np.maximum))
    return np.asarray(np.maximum(found - first, last - found), np.float64)


def recurred(axis: int, gains: Array, gain_errors: Array, parts: Array, part_errors: Array) -> Array:
    """Return what a linear recurrence is off by, its lanes composed in any order; arrays of one shape, `axis` the
    dimension it runs along.

    Written out it is a sum of products of gains and an addend, all signs alike where magnitudes stand for the numbers.
    A gain, or an addend, of any of them is rounded once where it is multiplied and once where it is added, be they
    composed in whatever order. What is flushed to zero on the way is multiplied by magnitudes that stand in these
    products, too.
    """
    sizes = [np.where(np.isfinite(side), np.abs(side), 0.0) for side in (gains, parts)]
    unsure = [side + error for side, error in zip(sizes, (gain_errors, part_errors), strict=True)]
    with np.errstate(over="ignore", invalid="ignore"):
        exact, reach = running(axis, *sizes), running(axis, np.maximum(unsure[0], 1.0), unsure[1] + 1.0)
        lost = 32 * flushed() * (1 + reach.max(axis=axis, keepdims=True)) if reach.shape[axis] else 0.0
        grown = running(axis, unsure[0] * (1 + 2 * K * w()), unsure[1] * (1 + 2 * K * w()) + lost)
        # The difference of both is itself computed.
        found = grown - exact + parts.shape[axis] * 2.0**-50 * grown
        return np.where(~(reach < largest()), np.inf, found)


def multiplied(factors: Array, exact: Array, count: int, folded: Callable[[Array], Array]) -> Array:
    """Return what a product is off by, its partial products formed in any order: each may be flushed to zero, or pass
    the range.

    factors: magnitudes with their errors; exact: those without; folded: their product along the axis, or the running
    one.
    """
    reach = folded(np.maximum(factors, 1.0) * (1 + 2 * w()))
    grown = folded(factors * (1 + 2 * w())) - folded(exact) + count * flushed() * reach
    return np.where(reach >= largest(), np.inf, grown)
