"""Complex numbers, as pairs of real ones: what rotations of queries and keys are written in.

A tensor of complex numbers is a Pair while a program is read; inputs come as tensors with a last dimension of two. What
is complex at the end of a graph, or goes through other operators, stays PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import napkin_eq.frontend.library as nq
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Const
from napkin_eq.pytorch.build.builder import Builder, Value
from napkin_eq.pytorch.build.table import rules
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
    "_conj.default": lambda b, pair: replace(pair, imaginary=b.pointwise(lambda t: -t, pair.imaginary)),
    "conj_physical.default": lambda b, pair: replace(pair, imaginary=b.pointwise(lambda t: -t, pair.imaginary)),
    "resolve_conj.default": lambda b, pair: pair,
    "real.default": lambda b, pair: pair.real,
    "imag.default": lambda b, pair: pair.imaginary,
}
OWN = tuple(
    name for name in PAIRS if name not in ("mul.Tensor", "mul.Scalar", "add.Tensor", "sub.Tensor", "abs.default")
)


def known(name: str) -> bool:
    """Tell whether an operator is one of complex numbers that is read."""
    return name in PAIRS or name.startswith(MOVING)


def read(b: Builder, name: str, args: Sequence[Any], call: Callable[[Sequence[Any]], Any]) -> Any:
    """Return what an operator gives of complex numbers; `call` gives what it does of real ones."""
    if name in PAIRS:
        return PAIRS[name](b, *args)
    if not name.startswith(MOVING) or name not in rules():
        raise NapkinError("of complex numbers only sums, products, sizes and views are supported")
    found = [call(_taken(args, part)) for part in ("real", "imaginary")]
    if isinstance(found[0], (list, tuple)):
        return [Pair(*parts) for parts in zip(*found, strict=True)]
    return Pair(*found)


def _taken(args: Any, part: str) -> Any:
    if isinstance(args, Pair):
        return getattr(args, part)
    return [_taken(arg, part) for arg in args] if isinstance(args, (list, tuple)) else args
