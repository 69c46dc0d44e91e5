"""Complex numbers, as pairs of real ones: what rotations of queries and keys, and Fourier transforms, are written in.

A tensor of complex numbers is a Pair while a program is read; inputs come as tensors with a last dimension of two. What
is complex at the end of a graph, or goes through other operators, stays PyTorch; so do Fourier transforms in the
backend, as PyTorch has faster ways than a sum for each element.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import napkin_eq.frontend.library as nq
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Const, Term, as_real
from napkin_eq.pytorch.build.builder import Builder, Value
from napkin_eq.pytorch.build.table import rules
from napkin_eq.pytorch.build.wires import Dim
from napkin_eq.pytorch.operators.elementwise import floats

PARTS = {"complex64": "float32", "complex128": "float64"}
# Operators that only move elements do so with both parts.
MOVING = (
    "view.", "_unsafe_view.", "reshape.", "permute.", "transpose.", "t.", "unsqueeze.", "squeeze.", "expand.", "slice.",
    "select.", "alias.",
    "detach.", "clone.", "cat.", "stack.", "flip.", "roll.", "repeat.", "index.", "index_select.", "neg.",
    "contiguous.", "split", "unbind.",
    "lift_fresh_copy.",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pair:
    """A tensor of complex numbers: its real and its imaginary part."""

    real: Value
    imaginary: Value


def opened(b: Builder, value: Value) -> Pair:
    """Return a tensor whose last dimension has the two parts as complex numbers."""
    at = len(value.dims) - 1
    real, imaginary = (b.read(value, {at: Const(part)}, value.dims[:-1]) for part in (0, 1))
    return Pair(real, imaginary)


def _closed(b: Builder, pair: Pair) -> Value:
    dims, (real, imaginary) = b.joined(pair.real, pair.imaginary)
    two = b.fresh(2, "parts")
    return b.value(nq.where(b.at(two) < 1, real, imaginary), [*dims, two], pair.real.dtype)


def _polar(b: Builder, size: Value, angle: Value) -> Pair:
    size, angle = floats(b, size, angle)
    return Pair(
        b.pointwise(lambda r, a: r * nq.cos(a), size, angle), b.pointwise(lambda r, a: r * nq.sin(a), size, angle)
    )


def _parts(b: Builder, value: Any) -> tuple[Value, Value | None]:
    """Return the parts of a number; a real one has no second one."""
    if isinstance(value, complex):
        return b.scalar(value.real), b.scalar(value.imag)
    return (value.real, value.imaginary) if isinstance(value, Pair) else (b.real(value), None)


def _times(b: Builder, first: Any, second: Any) -> Pair:
    (s, t), (u, v) = _parts(b, first), _parts(b, second)

    def product(x: Value, y: Value) -> Value:
        return b.pointwise(lambda p, q: p * q, x, y)

    if t is None:
        s, t, u, v = u, v, s, t
    assert t is not None
    if v is None:
        return Pair(product(s, u), product(t, u))
    return Pair(
        b.pointwise(lambda p, q: p - q, product(s, u), product(t, v)),
        b.pointwise(lambda p, q: p + q, product(s, v), product(t, u)),
    )


def _sum(sign: float) -> Callable[..., Pair]:
    def rule(b: Builder, first: Any, second: Any) -> Pair:
        (s, t), (u, v) = _parts(b, first), _parts(b, second)
        real = b.pointwise(lambda p, q: p + q * sign if sign < 0 else p + q, s, u)
        zero = b.scalar(0.0)
        return Pair(real, b.pointwise(lambda p, q: p + q * sign if sign < 0 else p + q, t or zero, v or zero))

    return rule


def _size(b: Builder, pair: Pair) -> Value:
    return b.pointwise(lambda p, q: nq.sqrt(p * p + q * q), pair.real, pair.imaginary)


MOST_TURNED = 16384  # elements that are summed for each of as many


def _turns(b: Builder, old: Dim, new: Dim, size: int) -> tuple[Term, Term]:
    """Return the cosine and the sine of the product of two places, in parts of a turn."""
    if size > MOST_TURNED:
        raise NapkinError(f"a Fourier transform of {size} elements is read as a sum for each, so at most {MOST_TURNED}")
    angle = as_real(b.at(old) * b.at(new) % size) * (2 * math.pi / size)
    return nq.cos(angle), nq.sin(angle)


def _turned(b: Builder, value: Value | Pair, at: int, forward: bool, count: int | None = None) -> Pair:
    """Return the Fourier transform along a dimension, its first `count` elements."""
    real, imaginary = _parts(b, value)
    old, sign = real.dims[at], -1.0 if forward else 1.0
    if not old:
        return Pair(real, imaginary or replace(real, term=Const(0.0)))
    size = b.known(old, "a Fourier transform")
    new = b.fresh(size if count is None else count, "frequency", at)
    cos, sin = _turns(b, old, new, size)
    sin = sin * sign
    dims = b.put(real, at, new)
    x, y = real.term, None if imaginary is None else b.moved(imaginary, imaginary.dims, real.dims)
    first, second = (x * cos, x * sin) if y is None else (x * cos - y * sin, x * sin + y * cos)
    return Pair(*(b.value(b.fold("sum", part, [old]), dims, real.dtype) for part in (first, second)))


def _scaled(b: Builder, values: Sequence[Value], sizes: Sequence[int], normalization: int) -> list[Value]:
    """Return parts of a Fourier transform over dimensions of these sizes as it is asked for: not divided, by the root
    of how many there are, or by that.
    """
    factor = math.prod(sizes) ** {0: 0.0, 1: -0.5, 2: -1.0}[normalization]
    return [value if factor == 1 else replace(value, term=value.term * factor) for value in values]


def _sizes(b: Builder, value: Value | Pair, dim: Sequence[int]) -> list[int]:
    return [b.known(_parts(b, value)[0].dims[at], "a Fourier transform") for at in dim]


def _of_real(b: Builder, value: Value, dim: Sequence[int], normalization: int, onesided: bool) -> Pair:
    sizes = _sizes(b, value, dim)
    found = _turned(b, value, dim[-1], True, sizes[-1] // 2 + 1 if onesided else None)
    for at in dim[:-1]:
        found = _turned(b, found, at, True)
    return Pair(*_scaled(b, (found.real, found.imaginary), sizes, normalization))


def _of_pair(b: Builder, value: Pair, dim: Sequence[int], normalization: int, forward: bool) -> Pair:
    found = value
    for at in dim:
        found = _turned(b, found, at, forward)
    return Pair(*_scaled(b, (found.real, found.imaginary), _sizes(b, value, dim), normalization))


def _to_real(b: Builder, value: Pair, dim: Sequence[int], normalization: int, last_dim_size: int) -> Value:
    """Return the inverse transform of the first half of what a real row gave: the second half mirrors it."""
    sizes = [*_sizes(b, value, dim[:-1]), last_dim_size]
    found = value
    for at in dim[:-1]:
        found = _turned(b, found, at, False)
    real, at = found.real, dim[-1]
    old, new = real.dims[at], b.fresh(last_dim_size, "place")
    cos, sin = _turns(b, old, new, last_dim_size)
    place = b.at(old)
    alone = nq.equal(place, 0) | nq.equal(place * 2, last_dim_size)
    row = real.term * cos - b.moved(found.imaginary, found.imaginary.dims, real.dims) * sin
    term = b.fold("sum", row * nq.where(alone, 1.0, 2.0), [old])
    return _scaled(b, [b.value(term, b.put(real, at, new), real.dtype)], sizes, normalization)[0]


def _angle(b: Builder, pair: Pair) -> Value:
    found: Value = rules()["atan2.default"][0](b, pair.imaginary, pair.real)
    return found


def _exp(b: Builder, pair: Pair) -> Pair:
    return _polar(b, b.pointwise(nq.exp, pair.real), pair.imaginary)


def _direction(b: Builder, pair: Pair) -> Pair:
    """Return a number by its size, 0 of 0."""
    size = _size(b, pair)
    over = replace(size, term=nq.where(nq.equal(size.term, 0.0), 0.0, nq.reciprocal(size.term)))
    return _times(b, pair, over)


def _divided(b: Builder, first: Any, second: Any) -> Pair:
    (u, v), said = _parts(b, second), "a division by 0"
    if v is None:
        return _times(b, first, replace(u, term=b.inverse(u.term, said)))
    over = b.pointwise(lambda p, q: b.inverse(p * p + q * q, said), u, v)
    return _times(b, _times(b, first, Pair(u, replace(v, term=-v.term))), over)


def _same(b: Builder, first: Any, second: Any) -> Value:
    (s, t), (u, v) = _parts(b, first), _parts(b, second)
    zero = b.scalar(0.0)
    same = (b.pointwise(nq.equal, x or zero, y or zero, dtype="bool") for x, y in ((s, u), (t, v)))
    return b.pointwise(lambda p, q: p & q, *same, dtype="bool")


def _opposite(b: Builder, pair: Any) -> Pair:
    """Return the conjugate of a number."""
    real, imaginary = _parts(b, pair)
    return Pair(real, b.pointwise(lambda t: -t, imaginary or b.scalar(0.0)))


def _cast(b: Builder, value: Value | Pair) -> Pair:
    """Return numbers as complex ones; of those cast to real ones the real part is taken where they are checked."""
    real, imaginary = _parts(b, value)
    return Pair(real, imaginary or replace(real, term=Const(0.0)))


def _filled(b: Builder, size: Any, number: Any) -> Pair:
    real, imaginary = _parts(b, number)
    dims = tuple(b.fresh(extent, "filled", at) for at, extent in enumerate(size))
    return Pair(*(b.value((part or b.scalar(0.0)).term, dims, "float32") for part in (real, imaginary)))


PAIRS: dict[str, Callable[..., Any]] = {
    "view_as_complex.default": opened,
    "view_as_real.default": _closed,
    "polar.default": _polar,
    "complex.default": lambda b, real, imag: Pair(*floats(b, real, imag)),
    "mul.Tensor": _times,
    "mul.Scalar": _times,
    "add.Tensor": _sum(1.0),
    "sub.Tensor": _sum(-1.0),
    "abs.default": _size,
    "_conj.default": _opposite,
    "conj_physical.default": _opposite,
    "resolve_conj.default": lambda b, pair: pair,
    "real.default": lambda b, pair: pair.real,
    "imag.default": lambda b, pair: pair.imaginary,
}
# Read, but not by the backend.
ELSEWHERE: dict[str, Callable[..., Any]] = {
    "_fft_r2c.default": _of_real,
    "_fft_c2c.default": _of_pair,
    "_fft_c2r.default": _to_real,
    "_to_copy.default": _cast,
    "to.dtype": _cast,
    "angle.default": _angle,
    "exp.default": _exp,
    "sgn.default": _direction,
    "eq.Scalar": _same,
    "eq.Tensor": _same,
    "div.Tensor": _divided,
    "div.Scalar": _divided,
    "reciprocal.default": lambda b, pair: _divided(b, b.scalar(1.0), pair),
    "zeros_like.default": lambda b, pair: Pair(*(replace(_parts(b, pair)[0], term=Const(0.0)) for _ in range(2))),
    "scalar_tensor.default": lambda b, number: _filled(b, (), number),
    "full.default": _filled,
    "zeros.default": lambda b, size: _filled(b, size, 0.0),
    "new_zeros.default": lambda b, value, size: _filled(b, size, 0.0),
    "new_empty_strided.default": lambda b, value, size, stride: _filled(b, size, 0.0),
}
# Of two tensors, and linear in each; and what is linear in one.
BILINEAR = ("mm.", "bmm.", "matmul.", "einsum.")
LINEAR = (
    "sum.", "mean.", "constant_pad_nd.", "pad.", "copy.", "slice_scatter.", "select_scatter.", "slice_backward.",
    "select_backward.", "where.", "masked_fill.",
)  # fmt: skip
VALUED = ("constant_pad_nd.", "pad.", "where.", "masked_fill.")  # whose numbers are elements, and no places or sizes
PLACES, MASKS = ("index.", "index_select."), ("where.", "masked_fill.", "index.")  # what tensors are there
OWN = tuple(
    name for name in PAIRS if name not in ("mul.Tensor", "mul.Scalar", "add.Tensor", "sub.Tensor", "abs.default")
)


def known(name: str) -> bool:
    """Tell whether an operator is one of complex numbers that is read."""
    return name in PAIRS or name.startswith(MOVING)


def read(b: Builder, name: str, args: Sequence[Any], call: Callable[[Sequence[Any]], Any]) -> Any:
    """Return what an operator gives of complex numbers; `call` gives what it does of real ones."""
    own = PAIRS.get(name) or ELSEWHERE.get(name)
    if own is not None:
        return own(b, *args)
    if name.startswith(BILINEAR) and name in rules():
        return _product(b, args, call)
    if not name.startswith((*MOVING, *LINEAR)) or name not in rules():
        raise NapkinError("of complex numbers only sums, products, sizes, views and Fourier transforms are supported")
    found = [call([_taken(arg, part, name) for arg in args]) for part in ("real", "imaginary")]
    if isinstance(found[0], (list, tuple)):
        return [Pair(*parts) for parts in zip(*found, strict=True)]
    return Pair(*found)


def _product(b: Builder, args: Sequence[Any], call: Callable[[Sequence[Any]], Any]) -> Pair:
    """Return the product of two tensors of complex numbers, of four of real ones."""
    inside = isinstance(args[-1], (list, tuple)) or isinstance(args[0], str)
    factors = list(args[1] if inside else args)
    if len(factors) != 2:
        raise NapkinError("of complex numbers only products of two tensors are supported")
    (s, t), (u, v) = (_parts(b, factor) for factor in factors)

    def of(x: Value | None, y: Value | None) -> Value | None:
        return None if x is None or y is None else call([args[0], [x, y]] if inside else [x, y])

    def joined(x: Value | None, y: Value | None, sign: float) -> Value:
        if x is None or y is None:
            one = x if y is None else replace(y, term=y.term * sign)
            return one if one is not None else b.scalar(0.0)
        return b.pointwise(lambda p, q: p + q if sign > 0 else p - q, x, y)

    return Pair(joined(of(s, u), of(t, v), -1.0), joined(of(s, v), of(t, u), 1.0))


def _taken(args: Any, part: str, name: str) -> Any:
    """Return arguments with one part in the place of complex numbers; real numbers have no imaginary part."""
    if isinstance(args, Pair):
        return getattr(args, part)
    if isinstance(args, (list, tuple)):
        # Numbers in a row are sizes and places, tensors are not
        return [_taken(arg, part, name) if isinstance(arg, (Pair, Value)) else arg for arg in args]
    if isinstance(args, complex):
        return args.real if part == "real" else args.imag
    if part == "real" or (isinstance(args, Value) and name.startswith(MASKS if args.truth else PLACES)):
        return args
    if isinstance(args, Value):
        return replace(args, term=Const(0.0), dtype="float32")
    return 0.0 if isinstance(args, float) or (isinstance(args, int) and name.startswith(VALUED)) else args
