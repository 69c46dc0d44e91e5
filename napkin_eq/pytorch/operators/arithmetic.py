"""Rules of arithmetic on two tensors: sums, products, quotients, powers, bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from typing import Any

import napkin_eq.frontend.library as nq
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.interval import interval
from napkin_eq.lang.term import Const, Map, Term, factors, lift
from napkin_eq.pytorch.build.builder import Builder, Number, Value
from napkin_eq.pytorch.build.masks import less, no_more, undefined
from napkin_eq.pytorch.build.table import enter, operator
from napkin_eq.pytorch.operators.elementwise import alike, at_least, at_most, floats, rsqrt, sqrt, trunc, whole_powers

USUAL = 1e4  # numbers between one over it and it


@operator("add.Tensor", "add.Scalar")
def add(b: Builder, self: Number, other: Number, alpha: Any) -> Value:
    def compute(s: Term, t: Term) -> Term:
        if s.kind == "int" and t is Const(0):  # of a number with a fraction the sum may be 0 where it is -0
            return s
        return s + t if alpha == 1 else s - t if alpha == -1 else s + t * alpha

    return b.pointwise(compute, *(alike(b, self, other) if isinstance(alpha, int) else floats(b, self, other)))


@operator("sub.Tensor", "sub.Scalar")
def subtract(b: Builder, self: Number, other: Number, alpha: Any) -> Value:
    return add(b, self, other, -alpha)


@operator("rsub.Tensor", "rsub.Scalar")
def reverse_subtract(b: Builder, self: Number, other: Number, alpha: Any) -> Value:
    return add(b, other, self, -alpha)


@operator("mul.Tensor", "mul.Scalar")
def mul(b: Builder, self: Number, other: Number) -> Value:
    return b.pointwise(lambda s, t: s if t is Const(1) or t is Const(1.0) else times(s, t), *alike(b, self, other))


def times(s: Term, t: Term) -> Term:
    """Return a product, without a number that one multiplies and divides by: of 50 tanh(x / 50) the derivative's 50.

    It is one that takes no product out of the range of its type which is not near its ends: of 0, an infinity and what
    is very small or large both stay.
    """
    for one, other in ((s, t), (t, s)):
        inside = other.args[0] if isinstance(other, Map) and other.op == "inv" else other
        if not isinstance(inside, Const) or inside.kind != "real" or not 1 / USUAL <= abs(inside.value) <= USUAL:
            continue
        opposite = inside if inside is not other else nq.reciprocal(other)
        parts = factors(one)
        if len(parts) > 1 and opposite in parts:
            parts.remove(opposite)
            return reduce(lambda x, y: Map("mul", (x, y)), parts)
    return s * t


@operator("div.Tensor", "div.Scalar", "true_divide.Tensor")
def div(b: Builder, self: Number, other: Number) -> Value:
    return b.pointwise(lambda s, t: times(s, b.inverse(t, "a division by 0")), *floats(b, self, other))


@operator("div.Tensor_mode", "div.Scalar_mode")
def div_mode(b: Builder, self: Number, other: Number, rounding_mode: str | None) -> Value:
    if rounding_mode is None:
        return div(b, self, other)
    if rounding_mode == "floor":
        return floor_divide(b, self, other)
    return quotient(b, self, other, truncated)


def truncated(s: Term, t: Term) -> Term:
    """Return the whole part of a quotient, towards 0."""
    if s.kind == "int":
        size = Map("max", (s, -s)) // Map("max", (t, -t))
        return nq.where((s < 0) & (t < 0) | ~(s < 0) & ~(t < 0), size, -size)
    return trunc(s * nq.reciprocal(t))


def floored(s: Term, t: Term) -> Term:
    """Return the whole part of a quotient, downwards; of real numbers the rest then lies between 0 and the divisor."""
    if s.kind == "int":
        return s // t
    guess = nq.floor(s * nq.reciprocal(t))
    rest = s - guess * t
    wrong_side = nq.where(t > 0, rest, -rest)
    return nq.where(wrong_side < 0, guess - 1.0, nq.where(nq.abs(t) <= wrong_side, guess + 1.0, guess))


def quotient(b: Builder, self: Number, other: Number, compute: Callable[[Term, Term], Term]) -> Value:
    """Return a whole part of a quotient, or what it leaves; a division by 0 is an edge."""
    s, t = alike(b, self, other)
    b.edge("nonzero", t.term, "a division by 0")
    return b.pointwise(compute, s, t, dtype=s.dtype)


@operator("floor_divide.default", "floor_divide.Scalar")
def floor_divide(b: Builder, self: Number, other: Number) -> Value:
    return quotient(b, self, other, floored)


@operator("remainder.Scalar", "remainder.Tensor", "remainder.Scalar_Tensor")
def remainder(b: Builder, self: Number, other: Number) -> Value:
    return quotient(b, self, other, lambda s, t: s % t if s.kind == "int" else s - floored(s, t) * t)


@operator("fmod.Scalar", "fmod.Tensor")
def fmod(b: Builder, self: Number, other: Number) -> Value:
    return quotient(b, self, other, lambda s, t: s - truncated(s, t) * t)


def larger(s: Term, t: Term) -> Term:
    """Return the larger of two numbers; where either is NaN neither comparison holds, and the sum is NaN."""
    return nq.where(less(s, t), t, nq.where(no_more(t, s), s, s + t))


def smaller(s: Term, t: Term) -> Term:
    """Return the smaller of two numbers, NaN where either is."""
    return nq.where(less(s, t), s, nq.where(no_more(t, s), t, s + t))


@operator("maximum.default")
def maximum(b: Builder, self: Value, other: Value) -> Value:
    return b.pointwise(larger, *alike(b, self, other))


@operator("minimum.default")
def minimum(b: Builder, self: Value, other: Value) -> Value:
    return b.pointwise(smaller, *alike(b, self, other))


def _present(compute: Callable[[Term, Term], Term]) -> Callable[[Builder, Value, Value], Value]:
    """Return the rule of a choice of two numbers that takes the other one where one is NaN."""

    def rule(b: Builder, self: Value, other: Value) -> Value:
        s, t = alike(b, self, other)
        if s.whole:
            return b.pointwise(compute, s, t)
        b.edge("number", s.term, "a choice between a number and NaN", plain=True)
        return b.pointwise(lambda x, y: nq.where(undefined(x), y, nq.where(undefined(y), x, compute(x, y))), s, t)

    return rule


for _name, _compute in (("fmax", larger), ("fmin", smaller)):
    enter(f"{_name}.default", _present(_compute))


@operator("clamp.default", "clamp.Tensor")
def clamp(b: Builder, self: Value, min: Number | None, max: Number | None) -> Value:
    value = b.number(self)
    for bounded, compute, bound in ((at_least, larger, min), (at_most, smaller, max)):
        if bound is not None and not (isinstance(bound, float) and math.isinf(bound)):
            value = b.pointwise(compute if isinstance(bound, Value) else bounded, *alike(b, value, bound))
    return value


@operator("clamp_min.default")
def clamp_min(b: Builder, self: Value, min: Number) -> Value:
    return clamp(b, self, min, None)


@operator("clamp_max.default")
def clamp_max(b: Builder, self: Value, max: Number) -> Value:
    return clamp(b, self, None, max)


MOST_PRODUCTS = 64


def whole_power(t: Term, power: int) -> Term:
    """Return a whole power, by squarings."""
    result: Term | None = None
    while power:
        if power & 1:
            result = t if result is None else result * t
        power >>= 1
        t = t * t if power else t
    return result if result is not None else Const(1 if t.kind == "int" else 1.0)


@operator("pow.Tensor_Scalar")
def pow_scalar(b: Builder, self: Value, exponent: Any) -> Value:
    value = b.number(self) if isinstance(exponent, int) and exponent >= 0 else b.real(self)
    if float(exponent).is_integer() and abs(exponent) <= MOST_PRODUCTS:
        power = whole_power(value.term, abs(int(exponent)))
        return replace(value, term=b.inverse(power, "a negative power of 0") if exponent < 0 else power)
    value = b.real(value)
    if exponent in (0.5, -0.5):
        return (sqrt if exponent > 0 else rsqrt)(b, value)
    b.edge("pos", value.term, "a power of a number that is not positive", plain=True)
    # The logarithm of -inf is NaN, a power of it is none.
    least = -value.largest
    known = not b.undefined or interval(value.term)[0] >= 0
    return b.pointwise(lambda t: nq.exp(nq.log(t if known else nq.where(t < least, t * t, t)) * float(exponent)), value)


@operator("pow.Scalar")
def pow_of_scalar(b: Builder, self: Any, exponent: Value) -> Value:
    if exponent.whole and isinstance(self, int) and exponent.term.kind == "int":
        return b.pointwise(lambda t: whole_powers(Const(self), t), exponent)
    if exponent.whole and isinstance(self, int):
        raise NapkinError("whole powers by numbers that a real one gave")
    if self > 0:
        return b.pointwise(lambda t: nq.exp(t * math.log(self)), b.real(exponent))
    return _power(b, b.real(float(self)), b.real(exponent), exponent.whole)


@operator("pow.Tensor_Tensor")
def pow_tensor(b: Builder, self: Value, exponent: Value) -> Value:
    if self.whole and exponent.whole:
        if not self.term.kind == exponent.term.kind == "int":
            raise NapkinError("whole powers of or by numbers that a real one gave")
        return b.pointwise(whole_powers, self, exponent)
    s, t = floats(b, self, exponent)
    return _power(b, s, t, exponent.whole)


def _power(b: Builder, base: Value, exponent: Value, whole: bool) -> Value:
    """Return powers of real numbers, those below 0 too where the exponent is whole: odd ones are below 0.

    whole: the exponent is known to be.
    """

    def least(s: Term, t: Term) -> Term:
        return nq.equal(s, 0.0) & (lift(0.0) <= t)

    def known(s: Term, t: Term) -> Term:
        below = s < 0.0 if whole else (s < 0.0) & nq.equal(nq.floor(t), t)
        return (lift(0.0) < s) | below | least(s, t)

    def compute(s: Term, t: Term) -> Term:
        if interval(s)[0] > 0:
            found = nq.exp(nq.log(s) * t)
        else:
            # The logarithm of what has no power is none, as PyTorch has it
            size = nq.exp(nq.log(nq.where(known(s, t), nq.where(least(s, t), 1.0, nq.abs(s)), s)) * t)
            odd = nq.equal(t - nq.floor(t * 0.5) * 2.0, 1.0)
            found = nq.where(least(s, t), 0.0, nq.where((s < 0.0) & odd, -size, size))
            found = nq.where(nq.equal(t, 0.0), 1.0, found)
        # 1 whatever the other is, NaN too
        return nq.where(nq.equal(s, 1.0) | nq.equal(t, 0.0), 1.0, found) if b.undefined else found

    found = b.pointwise(compute, base, exponent)
    if interval(base.term)[0] <= 0:
        told = b.pointwise(lambda s, t: nq.where(known(s, t), 1.0, -1.0), base, exponent)
        b.edge("pos", told.term, "a power of a number that is not positive")
    return found


@operator("xlogy.Tensor", "xlogy.Scalar_Other", "xlogy.Scalar_Self")
def xlogy(b: Builder, self: Number, other: Number, more: float = 0.0) -> Value:
    s, t = floats(b, self, other)
    b.edge("pos", t.term + more if more else t.term, "the logarithm of a number that is not positive", plain=True)

    def compute(x: Term, y: Term) -> Term:
        found = nq.where(nq.equal(x, 0.0), 0.0, x * nq.log(y + more if more else y))
        return nq.where(undefined(y), y, found) if b.undefined and x is not y else found

    return b.pointwise(compute, s, t)


@operator("special_xlog1py.default", "special_xlog1py.other_scalar", "special_xlog1py.self_scalar")
def xlog1py(b: Builder, self: Number, other: Number) -> Value:
    return xlogy(b, self, other, 1.0)


@operator("lerp.Scalar", "lerp.Tensor")
def lerp(b: Builder, self: Value, end: Value, weight: Number) -> Value:
    return b.pointwise(lambda s, e, w: s + (e - s) * w, *floats(b, self, end, weight))


@operator("addcmul.default")
def addcmul(b: Builder, self: Value, tensor1: Value, tensor2: Value, value: Any) -> Value:
    return b.pointwise(lambda s, x, y: s + x * y * float(value), *floats(b, self, tensor1, tensor2))


@operator("prims.fma.default")
def multiplied_and_added(builder: Builder, a: Number, b: Number, c: Number) -> Value:
    return builder.pointwise(lambda x, y, z: x * y + z, *floats(builder, a, b, c))


@operator("addcdiv.default")
def addcdiv(b: Builder, self: Value, tensor1: Value, tensor2: Value, value: Any) -> Value:
    return b.pointwise(
        lambda s, x, y: s + x * b.inverse(y, "a division by 0") * float(value), *floats(b, self, tensor1, tensor2)
    )
