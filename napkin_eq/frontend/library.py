"""The library of diagrams: what people write, spelled out in the small alphabet of terms by its plain definition.

Nothing here knows how to be fast. Softmax is what a textbook says; the laws find the rest.
Axes may be given as Axis or, where a term is at hand, by name.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Mapping

from napkin_eq.frontend import pointwise
from napkin_eq.frontend.pointwise import *  # noqa: F403  each function of values is the library's by the same name
from napkin_eq.frontend.pointwise import Value, exp, log, reciprocal, rsqrt
from napkin_eq.lang.axis import Axis, axes
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.operators import MONOIDS
from napkin_eq.lang.substitute import folded, substituted
from napkin_eq.lang.term import Const, Index, Input, Length, Map, Recur, Reduce, Scan, Size, Term, as_real, lift

Along = Axis | str


def array(name: str, *dims: Axis, dtype: str = "float", facts: tuple[str, ...] = ()) -> Term:
    """An array in the top memory level, axes in storage order: `array("Q", q, d)`."""
    if wrong := [dim for dim in dims if not isinstance(dim, Axis)]:
        raise NapkinError(f"array {name}: {wrong[0]!r:.60} is not an axis; make axes with axes('q x d')")
    return Input(name, dims, dtype, facts)


def index(axis: Axis) -> Term:
    """The coordinate along an axis, an integer from 0."""
    return Index(axis)


def size(axis: Axis) -> Term:
    """The number of elements along an axis, as a real number; in a stream, of those seen so far, which is what a mean
    divides by.
    """
    return Map("real", (Size(axis),))


def length(axis: Axis) -> Term:
    """The full length of an axis, an integer that stays what it is as a stream goes on: for masks, coordinates and
    scales.
    """
    return Length(axis)


# Folds over axes.


def _own(t: Term, axis: Along, what: str) -> Axis:
    name = axis.name if isinstance(axis, Axis) else axis
    found = next((own for own in t.axes if own.name == name), None)
    if found is None:
        raise NapkinError(
            f"{what} over {name}: the value has no axis {name}, only {', '.join(a.name for a in t.axes) or 'none'}"
        )
    if isinstance(axis, Axis) and axis.size != found.size:
        raise NapkinError(
            f"{what} over {name}: the axis has size {axis.size} here and {found.size} in the value; give it one size"
        )
    return found


def _over(monoid: str, t: Value, over: tuple[Along, ...], mask: Term | None, what: str) -> Term:
    if not over:
        raise NapkinError(f"{what}: say over which axes, as in {what}(t, x)")
    term = as_real(lift(t))
    for axis in over:
        term = Reduce(monoid, _own(term, axis, what), term, mask)
        mask = None
    return term


def sum(t: Value, *over: Along, where: Term | None = None) -> Term:
    """The sum over axes, leaving out lanes where a mask is false."""
    return _over("sum", t, over, where, "sum")


def max(t: Value, *over: Along, where: Term | None = None) -> Term:
    """The maximum over axes; absent values do not count."""
    return _over("max", t, over, where, "max")


def min(t: Value, *over: Along, where: Term | None = None) -> Term:
    """The minimum over axes; absent values do not count."""
    return -_over("max", -as_real(lift(t)), over, where, "min")


def argmax(t: Value, x: Axis | str, where: Term | None = None) -> Term:
    """The place along an axis of the first of the largest values, a whole number; absent values do not count, and
    without any it is 0.
    """
    term = as_real(lift(t))
    return Reduce("argmax", _own(term, x, "argmax"), term, where)


def argmin(t: Value, x: Axis | str, where: Term | None = None) -> Term:
    """The place along an axis of the first of the smallest values, a whole number; absent values do not count, and
    without any it is 0.
    """
    return argmax(-as_real(lift(t)), x, where)


def prod(t: Value, *over: Along, where: Term | None = None) -> Term:
    """The product over axes, leaving out lanes where a mask is false."""
    return _over("prod", t, over, where, "prod")


def mean(t: Value, *over: Along) -> Term:
    """The mean over axes."""
    term = as_real(lift(t))
    total = _over("sum", term, over, None, "mean")
    first, *others = (size(_own(term, x, "mean")) for x in over)
    return total * reciprocal(math.prod(others, start=first))


def variance(t: Value, *over: Along) -> Term:
    """The mean square distance from the mean over axes, divided by the number of elements."""
    away = lift(t) - mean(t, *over)
    return mean(away * away, *over)


def scan(t: Value, x: Along, monoid: str = "sum") -> Term:
    """The running sum, max or prod along an axis, each element included in its own."""
    if monoid not in MONOIDS:
        raise NapkinError(f"scan: unknown monoid {monoid!r:.60}; one of {', '.join(MONOIDS)}")
    return Scan(monoid, _own(lift(t), x, "scan"), lift(t))


def recur(gain: Value, t: Value, x: Along) -> Term:
    """The linear recurrence h_i = gain_i · h_{i-1} + t_i along an axis, 0 before its first element."""
    body = as_real(lift(t))
    both = body * lift(gain)
    # An axis that neither varies along is one to go on along, if it is told which.
    axis = x if isinstance(x, Axis) and all(own.name != x.name for own in both.axes) else _own(both, x, "recur")
    return Recur(axis, lift(gain), body)


def cumsum(t: Value, x: Along) -> Term:
    """The running sum along an axis."""
    return scan(t, x)


# Contractions.


def matmul(a: Term, b: Term, over: Along) -> Term:
    """The contraction of two terms over an axis that both carry."""
    _own(a, over, "matmul, left side,")
    _own(b, over, "matmul, right side,")
    return sum(a * b, over)


def linear(t: Term, weight: Term, over: Along, bias: Term | None = None) -> Term:
    """A contraction with weights over an axis, plus a bias."""
    out = matmul(t, weight, over)
    return out if bias is None else out + bias


def einsum(pattern: str, *terms: Term) -> Term:
    """A contraction written with the names of axes: `einsum("q d, x d -> q x", Q, K)`.

    Raises NapkinError where a name is unknown or listed twice, where a term has other axes than its part of the
    pattern, and where an axis that is summed over stands on one side only.
    """
    sides = pattern.split("->")
    if len(sides) != 2:
        raise NapkinError(f"einsum {pattern!r:.80}: expected one '->', as in 'q d, x d -> q x'")
    parts, out = [part.split() for part in sides[0].split(",")], sides[1].split()
    if len(parts) != len(terms):
        raise NapkinError(f"einsum {pattern!r:.80}: {len(parts)} terms are named and {len(terms)} given")
    for part, term in zip(parts, terms, strict=True):
        if sorted(part) != [axis.name for axis in term.axes]:
            raise NapkinError(
                f"einsum {pattern!r:.80}: [{' '.join(part)}] stands for a term with axes"
                f" [{' '.join(a.name for a in term.axes)}]"
            )
    listed = list(dict.fromkeys(name for part in parts for name in part))
    if wrong := [name for name in out if name not in listed or out.count(name) > 1]:
        raise NapkinError(
            f"einsum {pattern!r:.80}: {wrong[0]!r} on the right side stands there twice or not on the left side"
        )
    product = math.prod(terms[1:], start=terms[0])
    for name in (name for name in listed if name not in out):
        if builtins.sum(name in part for part in parts) == 1 and len(parts) > 1:
            raise NapkinError(
                f"einsum {pattern!r:.80}: {name} is summed over and one side lacks it; keep it on the right, or sum it"
                " first"
            )
        product = sum(product, name)
    return as_real(product)


# Shifted exponentials and normalisation, by definition.


def softmax(t: Value, *over: Along) -> Term:
    """The exponentials over axes, relative to their sum; absent lanes give 0, and so does a row that has no others."""
    shifted = exp(lift(t) - max(t, *over))
    return shifted / sum(shifted, *over)


def logsumexp(t: Value, *over: Along) -> Term:
    """The logarithm of the sum of the exponentials over axes."""
    top = max(t, *over)
    return top + log(sum(exp(lift(t) - top), *over))


def log_softmax(t: Value, *over: Along) -> Term:
    """The logarithm of the softmax over axes."""
    return lift(t) - logsumexp(t, *over)


def cross_entropy(logits: Term, labels: Term, v: Along) -> Term:
    """The negative log-probability of integer labels under logits over an axis, for each row."""
    return logsumexp(logits, v) - take(logits, v, labels)


def layer_norm(
    t: Term, x: Along | tuple[Along, ...], weight: Term | None = None, bias: Term | None = None, eps: float = 1e-5
) -> Term:
    """The term with mean 0 and variance 1 over an axis, or over several together, then scaled and moved."""
    over = x if isinstance(x, tuple) else (x,)
    out = (t - mean(t, *over)) * rsqrt(variance(t, *over) + eps)
    out = out if weight is None else out * weight
    return out if bias is None else out + bias


def rms_norm(t: Term, x: Along | tuple[Along, ...], weight: Term | None = None, eps: float = 1e-6) -> Term:
    """The term divided by its root mean square over an axis, or over several together, then scaled."""
    out = t * rsqrt(mean(t * t, *(x if isinstance(x, tuple) else (x,))) + eps)
    return out if weight is None else out * weight


# Masks.


def causal(q: Axis, x: Axis, bottom_right: bool = False) -> Term:
    """The mask of the keys x that a query q may see: those up to its own place; bottom_right lines up the ends of the
    axes.
    """
    place = Index(q) + (Length(x) - Length(q)) if bottom_right else Index(q)
    return Index(x) <= place


def window(q: Axis, x: Axis, left: int, right: int = 0) -> Term:
    """The mask of the places x from `left` before q to `right` after it."""
    last = Index(q) + right if right else Index(q)
    return (Index(q) <= Index(x) + left) & (Index(x) <= last)


def padding(x: Axis, lengths: Term) -> Term:
    """The mask of the places along x before a length, which may vary by row."""
    return Index(x) < lengths


# Other coordinates.


def take(t: Term, axis: Along, at: Value) -> Term:
    """The term with another coordinate along an axis: an integer term, clamped into the axis. It is pushed down to the
    arrays.
    """
    place = lift(at)
    if place.kind != "int":
        raise NapkinError(f"take along {axis}: the coordinate is {place.kind}, expected int")
    return substituted(t, {_own(t, axis, "take").name: place}, kept=folded)


def rename(t: Term, names: Mapping[Axis, Axis]) -> Term:
    """The term with other axes in place of its own, all at once: `rename(A, {q: x})`."""
    for old, new in names.items():
        if _own(t, old, "rename").size != new.size:
            raise NapkinError(
                f"rename: {old.name} has size {old.size} and {new.name} size {new.size}; take(t, axis, coordinate)"
                " reads a part"
            )
    new_names = [names.get(axis, axis).name for axis in t.axes]
    if repeated := [name for name in new_names if new_names.count(name) > 1]:
        raise NapkinError(
            f"rename: {repeated[0]} would stand for two axes; to read a diagonal, use take(t, axis, index(other))"
        )
    return substituted(t, {old.name: Index(new) for old, new in names.items()}, kept=folded)


def split(t: Term, axis: Along, *into: Axis) -> Term:
    """The term with one axis seen as several, the last varying fastest: `split(t, e, h, d)` for heads."""
    own = _own(t, axis, "split")
    if not into or not all(isinstance(part, Axis) for part in into):
        odd = next((part for part in into if not isinstance(part, Axis)), None)
        raise NapkinError(f"split: {own.name} is cut into axes, found {'none' if odd is None else repr(odd)[:60]}")
    if (
        own.size is not None
        and all(part.size for part in into)
        and math.prod(part.size or 1 for part in into) != own.size
    ):
        raise NapkinError(
            f"split: {own.name} has {own.size} elements, [{' '.join(f'{p.name}={p.size}' for p in into)}] have another"
            " number"
        )
    place: Term = Const(0)
    for number, part in enumerate(into):
        place = Index(part) if number == 0 else place * _extent(part) + Index(part)
    return take(t, own, place)


def merge(t: Term, parts: tuple[Axis, ...], into: Axis) -> Term:
    """The term with several axes seen as one, the last varying fastest: `merge(t, (h, d), e)`."""
    places: dict[str, Term] = {}
    rest: Term = Index(into)
    for part in reversed(parts):
        own = _own(t, part, "merge")
        places[own.name] = rest % _extent(own) if part != parts[0] else rest
        rest = rest // _extent(own)
    return substituted(t, places)


def _extent(axis: Axis) -> Term:
    return Length(axis) if axis.size is None else Const(axis.size)


__all__ = [
    "Axis", "argmax", "argmin", "array", "axes", "causal", "cross_entropy", "cumsum", "einsum", "index",
    "layer_norm", "length", "linear", "log_softmax", "logsumexp", "matmul", "max", "mean", "merge", "min",
    "padding", "prod", "recur", "rename", "rms_norm", "scan", "size", "softmax", "split", "sum", "take", "variance",
    "window",
]  # fmt: skip
__all__ += pointwise.__all__
