"""Rules of operators that work place by place: arithmetic, functions, comparisons, choices, types and constants."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import napkin_eq.frontend.library as nq
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.interval import interval
from napkin_eq.lang.term import Const, Map, Term, lift
from napkin_eq.pytorch.build.builder import RANDOM, Builder, Number, Value, elsewhere
from napkin_eq.pytorch.build.draws import placed
from napkin_eq.pytorch.build.extents import quotient
from napkin_eq.pytorch.build.narrow import wrapped
from napkin_eq.pytorch.build.table import enter, operator

Unary = Callable[[Term], Term]


def floats(b: Builder, *values: Number) -> tuple[Value, ...]:
    """Return tensors as real numbers."""
    return tuple(b.real(v) for v in values)


def alike(b: Builder, *values: Number) -> tuple[Value, ...]:
    """Return tensors as numbers of one kind: whole if all are, of the type of those that have dimensions."""
    found = tuple(b.number(v) for v in values)
    if all(v.whole for v in found):
        found = _of_one_type(values, found)
    if all(v.whole for v in found) and len({v.term.kind for v in found}) == 1:
        return found
    meant = not all(v.whole for v in found)
    return tuple(b.real(v, meant) for v in found)


def _of_one_type(given: Sequence[Number], found: tuple[Value, ...]) -> tuple[Value, ...]:
    """Return whole numbers of which those without dimensions wrap around as the others' type does."""
    own = {v.dtype for v in given if isinstance(v, Value) and v.whole and v.dims}
    own = own or {v.dtype for v in given if isinstance(v, Value) and v.whole}
    if len(own) != 1:
        return found
    (dtype,) = own
    return tuple(v if v.dtype == dtype or v.dims else replace(v, term=wrapped(v.term, dtype)) for v in found)


def at_least(t: Term, low: Term | float) -> Term:
    """Return the larger of a number and a bound; what is NaN stays so, where a maximum may give the bound."""
    return nq.where(t <= lift(low), low, t)


def at_most(t: Term, high: Term | float) -> Term:
    """Return the smaller of a number and a bound; what is NaN stays so."""
    return nq.where(lift(high) <= t, high, t)


def between(t: Term, low: float, high: float) -> Term:
    """Return a number held between two bounds."""
    return at_most(at_least(t, low), high)


def sign(t: Term) -> Term:
    """Return -1, 0 or 1."""
    return nq.where(t > 0, 1.0, nq.where(t < 0, -1.0, 0.0))


def trunc(t: Term) -> Term:
    """Return a number without its fraction."""
    return nq.where(t < 0, -nq.floor(-t), nq.floor(t))


def sinh(t: Term) -> Term:
    """Return the hyperbolic sine."""
    return 0.5 * (nq.exp(t) - nq.exp(-t))


def whole_powers(base: Term, exponent: Term) -> Term:
    """Return powers of whole numbers by whole ones: the product of those squares of the base that the exponent's bits
    say.

    Raises NapkinError where the exponent may be below 0, or the power past 64 bits.
    """
    low, high = interval(exponent)
    most = max(map(abs, interval(base)))
    if low < 0 or not (most <= 1 or high * math.log2(max(most, 2)) < 63):
        raise NapkinError("powers of whole numbers by whole ones that are not shown to be small and not below 0")
    found: Term | None = None
    for at in range(int(high).bit_length()):
        bit = exponent // 2**at % 2 if at else exponent % 2
        factor = nq.where(nq.equal(bit, 1), base, 1)
        found = factor if found is None else found * factor
        base = Const(int(base.value) ** 2) if isinstance(base, Const) else base * base
    return found if found is not None else Const(1)


FUNCTIONS: dict[str, Unary] = {
    "exp": nq.exp,
    "exp2": lambda t: nq.exp(t * math.log(2.0)),
    "expm1": nq.expm1,
    "tanh": nq.tanh,
    "sigmoid": nq.sigmoid,
    "erf": nq.erf,
    "erfc": lambda t: 1.0 - nq.erf(t),
    "sin": nq.sin,
    "cos": nq.cos,
    "atan": nq.atan,
    "sinh": sinh,
    "cosh": lambda t: 0.5 * (nq.exp(t) + nq.exp(-t)),
    "relu6": lambda t: between(t, 0.0, 6.0),
    "silu": nq.silu,
    "mish": lambda t: t * nq.tanh(nq.softplus(t)),
    "hardsigmoid": lambda t: between(t + 3.0, 0.0, 6.0) * (1 / 6),
    "hardswish": lambda t: t * between(t + 3.0, 0.0, 6.0) * (1 / 6),
    "log_sigmoid": lambda t: -nq.softplus(-t),
    "softsign": lambda t: t * nq.reciprocal(1.0 + nq.abs(t)),
    "selu": lambda t: 1.0507009873554805 * nq.where(t > 0, t, 1.6732632423543772 * nq.expm1(at_most(t, 0.0))),
}
# Of numbers that may be whole; whole ones stay so.
NUMBERS: dict[str, Unary] = {"floor": nq.floor, "ceil": lambda t: -nq.floor(-t), "trunc": trunc, "round": nq.round}


def _function(compute: Unary) -> Callable[[Builder, Value], Value]:
    return lambda b, self: b.pointwise(compute, b.real(self))


def _number(compute: Unary) -> Callable[[Builder, Value], Value]:
    return lambda b, self: self if self.whole else b.pointwise(compute, b.real(self))


for _name, _compute in FUNCTIONS.items():
    enter(f"{_name}.default", _function(_compute))
for _name, _compute in NUMBERS.items():
    enter(f"{_name}.default", _number(_compute))


@operator("neg.default")
def neg(b: Builder, self: Value) -> Value:
    return b.pointwise(lambda t: -t, b.number(self))


@operator("abs.default")
def absolute(b: Builder, self: Value) -> Value:
    value = b.number(self)
    return b.pointwise(lambda t: Map("max", (t, -t)) if t.kind == "int" else nq.abs(t), value)


@operator("relu.default")
def relu(b: Builder, self: Value) -> Value:
    return b.pointwise(lambda t: at_least(t, 0), b.number(self))


@operator("sign.default", "sgn.default")
def signs(b: Builder, self: Value) -> Value:
    return replace(b.pointwise(sign, b.real(self)), dtype=self.dtype)


@operator("square.default")
def square(b: Builder, self: Value) -> Value:
    return b.pointwise(lambda t: t * t, b.number(self))


@operator("sqrt.default")
def sqrt(b: Builder, self: Value) -> Value:
    value = b.real(self)
    b.edge("nonneg", value.term, "the root of a negative number", plain=True)
    return b.pointwise(nq.sqrt, value)


@operator("rsqrt.default")
def rsqrt(b: Builder, self: Value) -> Value:
    value = b.real(self)
    b.edge("pos", value.term, "one over the root of a number that is not positive", plain=True)
    return b.pointwise(nq.rsqrt, value)


@operator("reciprocal.default")
def reciprocal(b: Builder, self: Value) -> Value:
    return b.pointwise(lambda t: b.inverse(t, "one over 0"), b.real(self))


def logarithm(scale: float, moved: float = 0.0) -> Callable[[Builder, Value], Value]:
    """Return the rule of the logarithm of a number moved, times a scale."""

    def rule(b: Builder, self: Value) -> Value:
        value = b.real(self)
        inside = value.term + moved if moved else value.term
        b.edge("pos", inside, "the logarithm of a number that is not positive", plain=True)
        return replace(value, term=nq.log(inside) if scale == 1.0 else nq.log(inside) * scale)

    return rule


for _name, _scale, _moved in (
    ("log", 1.0, 0.0),
    ("log2", 1 / math.log(2.0), 0.0),
    ("log10", 1 / math.log(10.0), 0.0),
    ("log1p", 1.0, 1.0),
):
    enter(f"{_name}.default", logarithm(_scale, _moved))


@operator("tan.default")
def tan(b: Builder, self: Value) -> Value:
    return b.pointwise(lambda t: nq.sin(t) * b.inverse(nq.cos(t), "the tangent where the cosine is 0"), b.real(self))


@operator("asinh.default")
def asinh(b: Builder, self: Value) -> Value:
    return b.pointwise(lambda t: sign(t) * nq.log(nq.abs(t) + nq.sqrt(t * t + 1.0)), b.real(self))


@operator("acosh.default")
def acosh(b: Builder, self: Value) -> Value:
    value = b.real(self)
    b.edge("nonneg", value.term - 1.0, "the inverse of a hyperbolic cosine below 1", plain=True)
    return b.pointwise(lambda t: nq.log(t + nq.sqrt(t - 1.0) * nq.sqrt(t + 1.0)), value)


@operator("atanh.default")
def atanh(b: Builder, self: Value) -> Value:
    value = b.real(self)
    b.edge("pos", 1.0 - value.term * value.term, "the inverse of a hyperbolic tangent outside -1 and 1", plain=True)
    return b.pointwise(lambda t: 0.5 * (nq.log(1.0 + t) - nq.log(1.0 - t)), value)


@operator("asin.default")
def asin(b: Builder, self: Value) -> Value:
    value = b.real(self)
    inside = (1.0 - value.term) * (1.0 + value.term)
    b.edge("nonneg", inside, "an arcsine outside -1 and 1", plain=True)
    return replace(value, term=2.0 * nq.atan(value.term * nq.reciprocal(1.0 + nq.sqrt(inside))))


@operator("acos.default")
def acos(b: Builder, self: Value) -> Value:
    """The angle of a number's size, by its half, keeps its digits near 1; of a negative number it is what is left of
    half a turn.
    """
    value = b.real(self)
    size = nq.abs(value.term)
    b.edge("nonneg", 1.0 - size, "an arccosine outside -1 and 1", plain=True)
    angle = 2.0 * nq.atan(nq.sqrt((1.0 - size) * nq.reciprocal(1.0 + size)))
    return replace(value, term=nq.where(value.term < 0, math.pi - angle, angle))


def below_zero(t: Term) -> Term:
    """Return the mask of the numbers with a minus sign; -0.0 has one in the machine's arithmetic, where its inverse is
    -inf.
    """
    return nq.where(nq.equal(t, 0.0), nq.reciprocal(t), t) < 0


@operator("signbit.default")
def signbit(b: Builder, self: Value) -> Value:
    value = b.number(self)
    if value.whole:
        return b.pointwise(lambda t: t < 0, value, dtype="bool")
    b.edge("nonzero", value.term, "the sign of -0.0", plain=True)
    return b.pointwise(below_zero, value, dtype="bool")


@operator("copysign.Tensor", "copysign.Scalar")
def copysign(b: Builder, self: Number, other: Number) -> Value:
    s, t = floats(b, self, other)
    b.edge("nonzero", t.term, "the sign of -0.0", plain=True)
    return b.pointwise(lambda x, y: nq.where(below_zero(y), -nq.abs(x), nq.abs(x)), s, t)


@operator("angle.default")
def angle(b: Builder, self: Value) -> Value:
    value = b.real(self)
    return b.pointwise(lambda t: nq.where(t < 0, math.pi, nq.where(lift(0.0) <= t, 0.0, t)), value)


@operator("atan2.default")
def atan2(b: Builder, self: Value, other: Value) -> Value:
    """The angle of a point: that of the nearer axis, and from there by the signs of both."""
    y, x = floats(b, self, other)
    for value in (y, x):
        b.edge("nonzero", value.term, "the angle of -0.0", plain=True)

    def compute(s: Term, t: Term) -> Term:
        rise, run = nq.abs(s), nq.abs(t)
        steep = run < rise
        most, least = nq.where(steep, rise, run), nq.where(steep, run, rise)
        slope = nq.where(nq.equal(most, least), nq.where(nq.equal(most, 0.0), 0.0, 1.0), least * nq.reciprocal(most))
        angle = nq.atan(slope)
        angle = nq.where(steep, math.pi / 2 - angle, angle)
        angle = nq.where(below_zero(t), math.pi - angle, angle)
        return nq.where(below_zero(s), -angle, angle)

    return b.pointwise(compute, y, x)


# PyTorch's own rational functions, of which two of Newton's steps make the inverse of erf: in the middle, and of
# (-log((1 - |y|) / 2))^(1/2) in the tails.
MIDDLE = ((-0.140543331, 0.914624893, -1.645349621, 0.886226899),
          (0.012229801, -0.329097515, 1.442710462, -2.118377725, 1.0))  # fmt: skip
TAIL = ((1.641345311, 3.429567803, -1.624906493, -1.970840454), (1.637067800, 3.543889200, 1.0))


def polynomial(t: Term, coefficients: Sequence[float]) -> Term:
    """Return a polynomial of a number, by its coefficients from the highest."""
    found = lift(coefficients[0])
    for coefficient in coefficients[1:]:
        found = found * t + coefficient
    return found


@operator("erfinv.default")
def erfinv(b: Builder, self: Value) -> Value:
    value = b.real(self)
    b.edge("pos", 1.0 - nq.abs(value.term), "the inverse of erf outside -1 and 1")

    def ratio(t: Term, of: tuple[Sequence[float], Sequence[float]]) -> Term:
        return polynomial(t, of[0]) * nq.reciprocal(polynomial(t, of[1]))

    def compute(y: Term) -> Term:
        size = nq.abs(y)
        far = ratio(nq.sqrt(-nq.log((1.0 - size) * 0.5)), TAIL)
        found = nq.where(size <= 0.7, y * ratio(y * y, MIDDLE), nq.where(y < 0, -far, far))
        for _ in range(2):
            found = found - (nq.erf(found) - y) * (0.5 * math.pi**0.5) * nq.exp(found * found)
        return found

    return b.pointwise(compute, value)


# Of the logarithm of the gamma function and of its slope, at y, the terms after the first by powers of 1 / y^2
# (Stirling); numbers below are moved up by so many steps, by what gamma(x + 1) = x gamma(x) says.
GAMMA = (-691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)
SLOPE = (691 / 32760, -1 / 132, 1 / 240, -1 / 252, 1 / 120, -1 / 12)
STEPS, FAR = 7, 8.0


def _gamma(b: Builder, self: Value, above: Unary, mirrored: Callable[[Term, Term], Term]) -> Value:
    """Return a function of which `above` says what it is from 1/2 on, and `mirrored` below, by what it is of 1 - x and
    the part of a half turn that x is from a whole number.
    """
    value = b.real(self)
    x = value.term
    if interval(x)[0] >= 0.5:
        return replace(value, term=above(x))
    low = x < 0.5
    off = (x - nq.round(x)) * math.pi
    b.edge("pos", nq.where(low, nq.abs(nq.sin(off)), 1.0), "the gamma function where it has a pole")
    found = above(nq.where(low, 1.0 - x, x))
    return replace(value, term=nq.where(low, mirrored(off, found), found))


@operator("lgamma.default")
def lgamma(b: Builder, self: Value) -> Value:
    def above(x: Term) -> Term:
        far, steps = x > FAR, x
        for step in range(1, STEPS):
            steps = steps * (x + float(step))
        y = nq.where(far, x, x + float(STEPS))
        inverse = nq.reciprocal(y)
        more = polynomial(inverse * inverse, GAMMA) * inverse + 0.5 * math.log(2 * math.pi)
        return (y - 0.5) * (nq.log(y) - 1.0) + (more - 0.5) - nq.log(nq.where(far, 1.0, steps))

    return _gamma(b, self, above, lambda off, found: math.log(math.pi) - nq.log(nq.abs(nq.sin(off))) - found)


@operator("digamma.default")
def digamma(b: Builder, self: Value) -> Value:
    def above(x: Term) -> Term:
        far, steps = x > FAR, nq.reciprocal(x)
        for step in range(1, STEPS):
            steps = steps + nq.reciprocal(x + float(step))
        inverse = nq.reciprocal(nq.where(far, x, x + float(STEPS)))
        square = inverse * inverse
        more = polynomial(square, SLOPE) * square - 0.5 * inverse
        return -nq.log(inverse) + more - nq.where(far, 0.0, steps)

    return _gamma(b, self, above, lambda off, found: found - math.pi * nq.cos(off) * nq.reciprocal(nq.sin(off)))


@operator("hypot.default")
def hypot(b: Builder, self: Value, other: Value) -> Value:
    return b.pointwise(lambda s, t: nq.sqrt(s * s + t * t), *floats(b, self, other))


@operator("gelu.default")
def gelu(b: Builder, self: Value, approximate: str) -> Value:
    return b.pointwise(nq.gelu_tanh if approximate == "tanh" else nq.gelu, b.real(self))


@operator("leaky_relu.default")
def leaky_relu(b: Builder, self: Value, negative_slope: float) -> Value:
    return b.pointwise(lambda t: nq.where(t > 0, t, t * float(negative_slope)), b.real(self))


@operator("round.decimals")
def round_decimals(b: Builder, self: Value, decimals: int) -> Value:
    if self.whole:
        raise NapkinError("whole numbers have no decimals")
    scale = 10.0 ** abs(decimals)
    if decimals < 0:
        return b.pointwise(lambda t: nq.round(t / scale) * scale, b.real(self))
    return b.pointwise(lambda t: nq.round(t * scale) / scale, b.real(self))


@operator("rrelu_with_noise_functional.default", "rrelu_with_noise.default")
def rrelu(b: Builder, self: Value, noise: Value, lower: float, upper: float, training: bool) -> tuple[Value, Value]:
    if training:
        raise NapkinError(RANDOM)
    return leaky_relu(b, self, (float(lower) + float(upper)) / 2), noise


@operator("elu.default")
def elu(b: Builder, self: Value, alpha: float, scale: float, input_scale: float) -> Value:
    low = float(alpha) * float(scale)
    return b.pointwise(
        lambda t: nq.where(t > 0, t * float(scale), low * nq.expm1(at_most(t, 0.0) * float(input_scale))), b.real(self)
    )


@operator("celu.default")
def celu(b: Builder, self: Value, alpha: float) -> Value:
    return elu(b, self, alpha, 1.0, 1.0 / float(alpha))


@operator("hardtanh.default")
def hardtanh(b: Builder, self: Value, min_val: float, max_val: float) -> Value:
    return b.pointwise(lambda t: between(t, min_val, max_val), *alike(b, self, min_val)[:1])


@operator("softplus.default")
def softplus(b: Builder, self: Value, beta: float, threshold: float) -> Value:
    rate = float(beta)
    return b.pointwise(
        lambda t: nq.where(t * rate > float(threshold), t, nq.softplus(t * rate) * (1 / rate)), b.real(self)
    )


@operator("hardshrink.default")
def hardshrink(b: Builder, self: Value, lambd: float) -> Value:
    return b.pointwise(lambda t: nq.where(nq.abs(t) <= float(lambd), 0.0, t), b.real(self))


@operator("softshrink.default")
def softshrink(b: Builder, self: Value, lambd: float) -> Value:
    return b.pointwise(lambda t: nq.maximum(t - float(lambd), 0.0) + nq.minimum(t + float(lambd), 0.0), b.real(self))


@operator("threshold.default")
def threshold(b: Builder, self: Value, threshold: float, value: float) -> Value:
    return b.pointwise(lambda t: nq.where(t <= threshold, value, t), *alike(b, self))


@operator("prelu.default", "_prelu_kernel.default")
def prelu(b: Builder, self: Value, weight: Value) -> Value:
    if weight.dims and len(weight.dims) == 1 and len(self.dims) > 1:
        weight = b.value(weight.term, [(), weight.dims[0], *[()] * (len(self.dims) - 2)], weight.dtype)
    return b.pointwise(lambda t, w: nq.where(t > 0, t, t * w), *floats(b, self, weight))


@operator("glu.default")
def glu(b: Builder, self: Value, dim: int) -> Value:
    at = b.dim(self, dim)
    new = b.fresh(quotient(b.size(self.dims[at]), 2), "half")
    places = b.at(new), b.at(new) + b.length(new)
    first, second = (b.read(self, {at: place}, b.put(self, at, new)) for place in places)
    return b.pointwise(lambda s, g: s * nq.sigmoid(g), first, second)


# Numbers rounded to a few steps and back, as they will be stored; the second result says where none is past the ends.


def _stepped(b: Builder, self: Value, scale: Number, zero_point: Number, least: int, most: int) -> tuple[Value, Value]:
    step, zero = b.real(scale), b.real(zero_point)
    b.edge("pos", step.term, "a step that is not positive")
    whole = b.pointwise(lambda t, s, z: nq.round(t * nq.reciprocal(s)) + z, b.real(self), step, zero)
    inside = b.pointwise(lambda q: (lift(float(least)) <= q) & (q <= float(most)), whole, dtype="bool")
    found = b.pointwise(lambda q, s, z: (between(q, float(least), float(most)) - z) * s, whole, step, zero)
    return found, inside


@operator("fake_quantize_per_tensor_affine_cachemask.default")
def fake_quantize(
    b: Builder, self: Value, scale: Number, zero_point: Number, quant_min: int, quant_max: int
) -> tuple[Value, Value]:
    return _stepped(b, self, scale, zero_point, quant_min, quant_max)


@operator("fake_quantize_per_channel_affine_cachemask.default")
def fake_quantize_channels(
    b: Builder, self: Value, scale: Value, zero_point: Value, axis: int, quant_min: int, quant_max: int
) -> tuple[Value, Value]:
    at = b.dim(self, axis)
    step, zero = (replace(v, dims=(*v.dims, *[()] * (len(self.dims) - at - 1))) for v in (scale, zero_point))
    return _stepped(b, self, step, zero, quant_min, quant_max)


@operator("napkin_eq.words.default")
def words(b: Builder, state: Value, size: Sequence[Any], before: int, threads: int, vector: int) -> Value:
    """Return the words of all elements, each less 2^31; they are compared as whole numbers."""
    dims = [b.fresh(length, "words", at) for at, length in enumerate(size)]
    sizes = [b.known(dim, "random numbers") for dim in dims]
    *outer, (last, place) = [(n, b.at(dim)) for n, dim in zip(sizes, dims, strict=True)] or [(1, Const(0))]
    rows = [at for n, at in outer if n > 1]
    row: Term = rows[0] if rows else Const(0)
    for n, at in [step for step in outer if step[0] > 1][1:]:
        row = row * n + at
    if vector > 1 and last % vector == 0:  # rows of whole ones: each divides its places alone
        whole, part = place // vector, place % vector
        whole = row * (last // vector) + whole if rows else whole
        found = placed(None, math.prod(sizes), threads, vector, whole, part)
    else:
        found = placed(row * last + place if rows else place, math.prod(sizes), threads, vector)
    (pair,) = state.dims
    seed, begin = (elsewhere(state.term, b.coordinates(pair, Const(at))) for at in (0, 1))
    counter = begin + before if before else begin
    counter = counter if isinstance(found.counter, int) and not found.counter else counter + found.counter
    return b.value(Map("random", (seed, _term(found.stream), counter, _term(found.word))), dims, "int32")


def _term(number: Any) -> Term:
    return Const(number) if isinstance(number, int) else number
