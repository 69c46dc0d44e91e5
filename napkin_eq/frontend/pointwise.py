"""Functions of values, place by place: each is a term over the operators of `operators.py`."""

from __future__ import annotations

import math

from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Map, Term, as_real, lift

__all__ = [
    "abs", "atan", "clip", "cos", "equal", "erf", "exp", "expm1", "floor", "gelu", "gelu_tanh", "log", "masked",
    "maximum", "minimum", "random", "reciprocal", "relu", "round", "rsqrt", "sigmoid", "silu", "sin", "softplus",
    "sqrt", "swiglu", "tanh", "where",
]  # fmt: skip
ABSENT = -math.inf
Value = Term | int | float


def exp(t: Value) -> Term:
    """The exponential; 0 for the absent value."""
    return Map("exp", (lift(t),))


def expm1(t: Value) -> Term:
    """The exponential less 1, exact to its last digits near 0; -1 for the absent value."""
    return Map("expm1", (lift(t),))


def log(t: Value) -> Term:
    """The natural logarithm; the absent value for 0."""
    return Map("log", (lift(t),))


def sqrt(t: Value) -> Term:
    """The square root; 0 for a negative number."""
    return Map("sqrt", (lift(t),))


def rsqrt(t: Value) -> Term:
    """One over the square root; 0 for 0."""
    return reciprocal(sqrt(t))


def reciprocal(t: Value) -> Term:
    """One over a number; 0 for 0."""
    return Map("inv", (lift(t),))


def random(seed: Value, stream: Value, counter: Value, word: Value) -> Term:
    """One of the four whole numbers from -2^31 to 2^31 - 1 that a counter is mixed to, by Philox 4x32-10: of word 0 to
    3, less 2^31; `random(...) < s * 2^32 - 2^31` holds at a share s of all places. All are whole numbers of 64 bits
    with a sign; raises NapkinError for others.
    """
    for number in (seed, stream, counter, word):
        if isinstance(number, int) and not -(2**63) <= number < 2**63:
            raise NapkinError(f"random: a number of {number.bit_length()} bits, expected -2^63 to 2^63 - 1")
    return Map("random", (lift(seed), lift(stream), lift(counter), lift(word)))


def tanh(t: Value) -> Term:
    """The hyperbolic tangent."""
    return Map("tanh", (lift(t),))


def sigmoid(t: Value) -> Term:
    """The logistic function 1 / (1 + e^-t)."""
    return Map("sigmoid", (lift(t),))


def atan(t: Value) -> Term:
    """Return the arctangent, elementwise."""
    return Map("atan", (lift(t),))


def erf(t: Value) -> Term:
    """The error function."""
    return Map("erf", (lift(t),))


def sin(t: Value) -> Term:
    """The sine."""
    return Map("sin", (lift(t),))


def cos(t: Value) -> Term:
    """The cosine."""
    return Map("cos", (lift(t),))


def abs(t: Value) -> Term:
    """The absolute value."""
    return Map("abs", (lift(t),))


def floor(t: Value) -> Term:
    """The largest whole number that does not exceed t."""
    return Map("floor", (lift(t),))


def round(t: Value) -> Term:
    """The nearest whole number, a half going to the even one."""
    return Map("round", (lift(t),))


def maximum(a: Value, b: Value) -> Term:
    """The larger of two values, pointwise."""
    return Map("max", (lift(a), lift(b)))


def minimum(a: Value, b: Value) -> Term:
    """The smaller of two values, pointwise."""
    return Map("min", (lift(a), lift(b)))


def clip(t: Value, low: Value, high: Value) -> Term:
    """The value, held between two bounds."""
    return minimum(maximum(t, low), high)


def equal(a: Value, b: Value) -> Term:
    """The mask of the places where two values are the same."""
    return Map("eq", (lift(a), lift(b)))


def where(mask: Term, a: Value, b: Value) -> Term:
    """`a` where the mask holds, else `b`."""
    return Map("where", (lift(mask), lift(a), lift(b)))


def masked(t: Term, mask: Term) -> Term:
    """The term where the mask holds, the absent value elsewhere."""
    return where(mask, as_real(t), ABSENT)


def relu(t: Value) -> Term:
    """The positive part."""
    return maximum(t, 0.0)


def silu(t: Value) -> Term:
    """The value times its logistic function."""
    return lift(t) * sigmoid(t)


def gelu(t: Value) -> Term:
    """The value times the normal distribution function, exactly."""
    return 0.5 * lift(t) * (1.0 + erf(lift(t) * 0.5**0.5))


def gelu_tanh(t: Value) -> Term:
    """The value times the normal distribution function, by the usual tanh formula."""
    term = as_real(lift(t))
    return 0.5 * term * (1.0 + tanh((2 / math.pi) ** 0.5 * (term + 0.044715 * term**3)))


def swiglu(gate: Term, t: Term) -> Term:
    """The term times the silu of a gate."""
    return silu(gate) * t


def softplus(t: Value) -> Term:
    """The logarithm of 1 + e^t, in the form that does not overflow."""
    return maximum(t, 0.0) + log(1.0 + exp(-abs(t)))
