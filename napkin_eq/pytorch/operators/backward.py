"""Rules of gradients that PyTorch has as operators of their own, and of adding into places that data choose."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import napkin_eq.frontend.library as nq
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Map, Term, as_real, lift
from napkin_eq.pytorch.build.builder import NEGATIVE, Builder, Number, Value, elsewhere
from napkin_eq.pytorch.build.masks import both
from napkin_eq.pytorch.build.narrow import wrapped as narrowed
from napkin_eq.pytorch.build.partition import Put
from napkin_eq.pytorch.build.rematerialized import by_rows
from napkin_eq.pytorch.build.table import operator
from napkin_eq.pytorch.build.wires import Dim
from napkin_eq.pytorch.operators.arithmetic import add, floored
from napkin_eq.pytorch.operators.elementwise import floats
from napkin_eq.pytorch.operators.logic import where, wrapped
from napkin_eq.pytorch.operators.reductions import unseen
from napkin_eq.pytorch.operators.views import nearest_places, part


@operator("threshold_backward.default")
def threshold_backward(b: Builder, grad_output: Value, self: Value, threshold: Any) -> Value:
    return b.pointwise(lambda g, s: nq.where(s <= float(threshold), 0.0, g), *floats(b, grad_output, self))


@operator("_softmax_backward_data.default")
def softmax_backward(b: Builder, grad_output: Value, output: Value, dim: int) -> Value:
    product = b.pointwise(lambda g, y: g * y, *floats(b, grad_output, output))
    at = b.dim(product, dim)
    total = b.value(b.fold("sum", product.term, [product.dims[at]]), b.left(product, [at], True), "float32")
    return b.pointwise(lambda g, y, s: y * (g - s), *floats(b, grad_output, output), total)


@by_rows("_softmax_backward_data.default")
def softmax_backward_by_rows(put: Put, total: Any, grad: Any, weights: Any, dim: int, dtype: Any) -> Any:
    """Write what comes back through weights by the sum of a row's products."""
    import torch

    aten, held = torch.ops.aten, weights.meta["val"]
    if dim not in (-1, held.dim() - 1):
        return None
    one, other = (put(aten._to_copy.default, part, dtype=torch.float32) for part in (grad, weights))
    found = put(aten.mul.Tensor, other, put(aten.sub.Tensor, one, total))
    return found if dtype == torch.float32 else put(aten._to_copy.default, found, dtype=dtype)


@operator("_log_softmax_backward_data.default")
def log_softmax_backward(b: Builder, grad_output: Value, output: Value, dim: int) -> Value:
    grad = b.real(grad_output)
    at = b.dim(grad, dim)
    total = b.value(b.fold("sum", grad.term, [grad.dims[at]]), b.left(grad, [at], True), "float32")
    return b.pointwise(lambda g, y, s: g - nq.exp(y) * s, grad, b.real(output), total)


@operator("embedding_dense_backward.default")
def embedding_dense_backward(
    b: Builder, grad_output: Value, indices: Value, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Value:
    """The gradient of a table is, row by row, the sum of those of the places that read it."""
    if scale_grad_by_freq:
        raise NapkinError("scale_grad_by_freq is not supported")
    rows = b.fresh(num_weights, "rows")
    over = grad_output.dims[: len(indices.dims)]
    places = b.moved(indices, indices.dims, over)
    hit = nq.equal(places, b.at(rows))
    if padding_idx >= 0:
        hit = hit & ~nq.equal(places, padding_idx)
    term = b.fold("sum", nq.where(hit, b.real(grad_output).term, 0.0), over)
    return b.value(term, [rows, *grad_output.dims[len(indices.dims) :]], "float32")


def _hits(b: Builder, self: Value, dim: int, index: Value, src: Number) -> tuple[Term, Value, Dim]:
    """Return where a place is meant, the source over the same dimensions, and the dimension of the places."""
    at, source = b.dim(self, dim), b.scalar(src)
    own, reached = (value.dims[at] if value.dims else () for value in (self, index))
    b.chooses(index, own)
    old = b.apart(reached, self.dims, "from")
    onto: list[Dim] = [old if place == at else dim for place, dim in enumerate(self.dims)]
    places, covered = _covered(b, index, onto, "index")
    added = _covered(b, source, onto, "source")[0] if source.dims else source.term
    if source.dims:
        b.at_most(index.dims, source.dims)
    b.at_most(index.dims, onto)
    hit = nq.equal(wrapped(b, replace(index, term=places), own), b.at(own))
    return hit & covered if covered is not None else hit, replace(source, term=added), old


def _covered(b: Builder, value: Value, onto: Sequence[Dim], name: str) -> tuple[Term, Term | None]:
    """Return a tensor over dimensions of other sizes, and where it has such places; None where it has all."""
    middle, coordinates, covered = list[Dim](), dict[str, Term](), None
    for at, (own, new) in enumerate(zip(value.dims, onto, strict=True)):
        if b.size(own) == b.size(new):
            middle.append(new if own else ())
            continue
        middle.append(b.fresh(b.size(own), name, at) if own else ())
        coordinates |= b.coordinates(middle[-1], b.at(new))
        here = b.at(new) < b.length(own)
        covered = here if covered is None else covered & here
    return elsewhere(b.moved(value, value.dims, middle), coordinates), covered


def _added(b: Builder, self: Value, dim: int, index: Value, src: Number) -> Value:
    hit, source, old = _hits(b, self, dim, index, src)
    total = b.fold("sum", nq.where(hit, b.real(source).term, 0.0), [old])
    return b.pointwise(lambda s, t: s + t, b.real(self), b.value(total, self.dims, "float32"))


@operator("scatter.src", "scatter.value")
def scatter(
    b: Builder, self: Value, dim: int, index: Value, src: Number | None = None, value: Number | None = None
) -> Value:
    """Numbers written to places that data choose; of several for one the last, where PyTorch leaves it open."""
    number = src if src is not None else value
    assert number is not None
    hit, source, old = _hits(b, self, dim, index, number)
    here, last = _last(b, hit, [old])
    hit = last if source.dims else hit
    total = b.fold("sum", nq.where(hit, b.real(source).term, 0.0), [old]) if source.dims else b.real(source).term
    wanted, own = (b.real(self).term, total) if not self.whole else (self.term, total)
    return b.value(nq.where(here, own, wanted), self.dims, self.dtype)


@operator("scatter_add.default")
def scatter_add(b: Builder, self: Value, dim: int, index: Value, src: Value) -> Value:
    return _added(b, self, dim, index, src)


@operator("index_add.default")
def index_add(b: Builder, self: Value, dim: int, index: Value, source: Value, alpha: Any) -> Value:
    at = b.dim(self, dim)
    b.chooses(index, self.dims[at])
    value = b.real(source)
    if alpha != 1:
        value = replace(value, term=value.term * float(alpha))
    old = value.dims[at]
    dims = [b.apart(old, self.dims, "from") if place == at else own for place, own in enumerate(self.dims)]
    places = replace(index, term=b.moved(index, index.dims, [dims[at]]), dims=(dims[at],))
    hit = nq.equal(wrapped(b, places, self.dims[at]), b.at(self.dims[at]))
    total = b.fold("sum", nq.where(hit, b.moved(value, value.dims, dims), 0.0), [dims[at]])
    return b.pointwise(lambda s, t: s + t, b.real(self), b.value(total, self.dims, "float32"))


@operator("index_put.default", "_unsafe_index_put.default")
def index_put(b: Builder, self: Value, indices: Any, values: Value, accumulate: bool) -> Value:
    """Numbers written or added at places that data choose; of several written to one place the last, where PyTorch
    leaves it open.
    """
    found = {at: value for at, value in enumerate(indices) if value is not None}
    if any(value.truth for value in found.values()):
        return _put_where(b, self, found, values, accumulate)
    for at, value in found.items():
        b.chooses(value, self.dims[at], negative=True)
    shape, terms = b.joined(*found.values())
    over: list[Dim] = []
    for number, dim in enumerate(shape):
        over.append(b.apart(dim, [*self.dims, *over], "over", number))
    together = list(found) == list(range(min(found), max(found) + 1))
    front = min(found) if together else 0
    others = [dim for at, dim in enumerate(self.dims) if at not in found]
    layout = [*others[:front], *over, *others[front:]]
    own = ((),) * (len(layout) - len(values.dims)) + values.dims
    source = b.moved(b.real(values), own, [new if old else () for old, new in zip(own, layout, strict=True)])
    hit: Term | None = None
    for (at, value), term in zip(found.items(), terms, strict=True):
        places = Value(b.moved(replace(value, term=term, dims=shape), shape, over), tuple(over), value.dtype)
        here = nq.equal(wrapped(b, places, self.dims[at]), b.at(self.dims[at]))
        hit = here if hit is None else hit & here
    assert hit is not None
    if accumulate:
        total = b.fold("sum", nq.where(hit, source, 0.0), over)
        return b.pointwise(lambda s, t: s + t, b.real(self), b.value(total, self.dims, "float32"))
    written, last = _last(b, hit, over)
    total = (
        b.fold("sum", nq.where(last, source, 0.0), over)
        if any(a in dim for a in source.axes for dim in over)
        else source
    )
    return b.value(nq.where(written, total, self.term if self.whole else b.real(self).term), self.dims, self.dtype)


def _last(b: Builder, hit: Term, over: Sequence[Dim]) -> tuple[Term, Term]:
    """Return where a place is written at all, and the last of the writers that a mask over dimensions tells."""
    written = b.fold("max", nq.where(hit, 1.0, 0.0), over) > 0.5
    flat = tuple(axis for dim in over for axis in dim)
    if b.size(flat) == 1:
        return written, hit
    place = as_real(b.at(flat))
    return written, hit & nq.equal(place, b.fold("max", nq.where(hit, place, -1.0), over))


def _put_where(b: Builder, self: Value, found: Mapping[int, Value], values: Value, accumulate: bool) -> Value:
    """Return a tensor with a number written, or added, where a mask of its first dimensions holds."""
    (at, mask), *more = found.items()
    if more or at or values.dims and any(values.dims):
        raise NapkinError("a mask chooses a number of elements that only the data know; write torch.where")
    mask = replace(mask, dims=(*mask.dims, *((),) * (len(self.dims) - len(mask.dims))))
    number = replace(values, dims=())
    return where(b, mask, add(b, self, number, 1) if accumulate else number, self)


@operator("scatter_reduce.two")
def scatter_reduce(
    b: Builder, self: Value, dim: int, index: Value, src: Value, reduce: str, include_self: bool
) -> Value:
    """Numbers folded at places that data choose, beside what stands there or without it."""
    monoid = {"sum": "sum", "mean": "sum", "prod": "prod", "amax": "max", "amin": "max"}[reduce]
    hit, source, old = _hits(b, self, dim, index, src)
    if monoid == "max":
        unseen(b, src, plain=True)
    sign = -1.0 if reduce == "amin" else 1.0
    term, own = b.real(source).term * sign, b.real(self).term * sign
    neutral = {"sum": 0.0, "prod": 1.0, "max": NEGATIVE}[monoid]
    found = b.fold(monoid, nq.where(hit, term, neutral), [old])
    count = b.fold("sum", nq.where(hit, 1.0, 0.0), [old])
    if include_self:
        if monoid == "max":
            unseen(b, self, plain=True)
        found = {"sum": own + found, "prod": own * found, "max": nq.maximum(own, found)}[monoid]
    if reduce == "mean":
        number = count + 1.0 if include_self else nq.maximum(count, 1.0)
        found = floored(narrowed(found, self.dtype), number) if self.whole else found * nq.reciprocal(number)
    return b.value(sign * nq.where(count > 0.5, found, own), self.dims, self.dtype)


@operator("slice_scatter.default")
def slice_scatter(b: Builder, self: Value, src: Value, dim: int, start: Any, end: Any, step: int) -> Value:
    at = b.dim(self, dim)
    if step == 1 and b.size(src.dims[at]) == b.size(self.dims[at]):
        onto = [own if old else () for old, own in zip(src.dims, self.dims, strict=True)]
        return Value(b.moved(src, src.dims, onto), self.dims, src.dtype)
    low, size = 0 if start is None else start, b.size(self.dims[at])
    if not isinstance(low, int):
        low = b.term(low) if low.is_nonnegative else _from_end(b, b.term(low), self.dims[at])
    elif low < 0:
        low = max(low + size, 0) if isinstance(size, int) else _from_end(b, lift(low), self.dims[at])
    count = b.length(src.dims[at])
    here = b.at(self.dims[at])
    place = (here - low) // step if step > 1 else here - low
    inside: Term = (low <= here) & (here < low + count * step)
    if step > 1:
        inside = inside & nq.equal((here - low) % step, 0)
    dims = [d if p == at else own for p, (d, own) in enumerate(zip(src.dims, self.dims, strict=True))]
    aligned = replace(src, term=b.moved(src, src.dims, dims), dims=tuple(dims))
    shown = b.read(aligned, {at: place}, self.dims) if src.dims[at] else replace(aligned, dims=self.dims)
    s, t = (b.real(self), b.real(shown)) if not (self.whole and shown.whole) else (self, shown)
    return replace(self, term=nq.where(inside, t.term, s.term))


def _from_end(b: Builder, start: Term, dim: Dim) -> Term:
    """Return a place along a dimension, counted from its end where it is below 0."""
    return nq.where(start < 0, Map("max", (start + b.length(dim), lift(0))), start)


@operator("diagonal_scatter.default")
def diagonal_scatter(b: Builder, self: Value, src: Value, offset: int, dim1: int, dim2: int) -> Value:
    first, second = b.dim(self, dim1), b.dim(self, dim2)
    row, column = (b.at(self.dims[d]) for d in (first, second))
    rest = [d for at, d in enumerate(self.dims) if at not in (first, second)]
    along = b.apart(src.dims[-1], self.dims, "along")
    aligned = b.value(b.moved(src, src.dims, [*rest, along]), [*rest, along], src.dtype)
    place = row if offset >= 0 else column
    shown = b.read(aligned, {len(rest): place}, self.dims) if along else replace(aligned, dims=self.dims)
    s, t = (b.real(self), b.real(shown)) if not (self.whole and shown.whole) else (self, shown)
    return replace(self, term=nq.where(nq.equal(row + offset if offset else row, column), t.term, s.term))


@operator("select_scatter.default")
def select_scatter(b: Builder, self: Value, src: Value, dim: int, index: int) -> Value:
    at = b.dim(self, dim)
    lifted = replace(src, dims=(*src.dims[:at], (), *src.dims[at:]))
    return slice_scatter(b, self, lifted, at, index, None, 1)


@operator("as_strided_scatter.default")
def as_strided_scatter(
    b: Builder, self: Value, src: Value, size: Sequence[int], stride: Sequence[int], storage_offset: int | None
) -> Value:
    """Return a tensor whose elements lie side by side, with another's in places of memory, each in one of its own."""
    sizes = [b.known(dim, "as_strided_scatter") for dim in self.dims]
    steps = sorted(
        ((step, n, at) for at, (n, step) in enumerate(zip(size, stride, strict=True)) if n > 1), reverse=True
    )
    first, reach = storage_offset or 0, 0
    for step, n, _ in reversed(steps):
        if step <= reach:
            raise NapkinError("as_strided_scatter of elements that share a place")
        reach += (n - 1) * step
    plain = tuple(math.prod(sizes[at + 1 :]) for at in range(len(sizes)))
    if b.memory != (plain, 0) or first + reach >= math.prod(sizes):
        raise NapkinError("as_strided_scatter into what does not lie side by side in memory, or past it")
    src = replace(src, dims=tuple(src.dims[at] for *_, at in steps))
    if math.prod(size) == math.prod(sizes):
        return replace(b.view(src, sizes), dtype=self.dtype)
    flat = b.view(self, [math.prod(sizes)])
    left, places, inside = b.at(flat.dims[0]) - first, dict[int, Term](), list[Term]()
    for number, (step, n, _) in enumerate(steps):
        places[number], left = (left // step, left % step) if step > 1 else (left, lift(0))
        inside.append((lift(0) <= places[number]) & (places[number] < n))
    shown = b.read(src, places, flat.dims)
    s, t = (b.real(flat), b.real(shown)) if not (flat.whole and shown.whole) else (flat, shown)
    covered = functools.reduce(both, inside, nq.equal(left, 0))
    return b.view(replace(flat, term=nq.where(covered, t.term, s.term)), sizes)


@operator("slice_backward.default")
def slice_backward(
    b: Builder, grad_output: Value, input_sizes: Any, dim: int, start: Any, end: Any, step: int
) -> Value:
    at = b.dim(grad_output, dim)
    dims = [b.fresh(input_sizes[at], "whole") if place == at else own for place, own in enumerate(grad_output.dims)]
    return slice_scatter(b, b.value(lift(0.0), dims, "float32"), grad_output, at, start, end, step)


@operator("select_backward.default")
def select_backward(b: Builder, grad_output: Value, input_sizes: Any, dim: int, index: int) -> Value:
    at = dim % len(input_sizes)
    dims = (*grad_output.dims[:at], b.fresh(input_sizes[at], "whole"), *grad_output.dims[at:])
    return select_scatter(b, b.value(lift(0.0), dims, "float32"), grad_output, at, index)


@operator("narrow.default")
def narrow(b: Builder, self: Value, dim: int, start: int, length: int) -> Value:
    return part(b, self, b.dim(self, dim), start, length)


@operator("_weight_norm_interface_backward.default")
def weight_norm_backward(
    b: Builder, grad_w: Value, saved_v: Value, saved_g: Value, saved_norms: Value, dim: int
) -> tuple[Value, Value]:
    """Gradients of a direction and of its length: of a tensor scaled to a length along all dimensions but one."""
    grad, v, g, norms = floats(b, grad_w, saved_v, saved_g, saved_norms)
    kept = b.dim(v, dim)
    product = b.pointwise(lambda x, y: x * y, grad, v)
    total = b.folded("sum", product, [d for d in range(len(product.dims)) if d != kept], True, "float32")

    def along(x: Term, y: Term, length: Term, norm: Term, t: Term) -> Term:
        over = b.inverse(norm, "a division by 0")
        return length * over * (x - y * t * over * over)

    return b.pointwise(along, grad, v, g, norms, total), b.pointwise(
        lambda t, n: t * b.inverse(n, "a division by 0"), total, norms
    )


@operator(
    "replication_pad1d_backward.default", "replication_pad2d_backward.default", "replication_pad3d_backward.default"
)
def replication_backward(b: Builder, grad_output: Value, self: Value, padding: Sequence[int]) -> Value:
    """The gradient of an edge is the sum of those of what repeats it."""
    found = b.real(grad_output)
    for number in range(len(padding) // 2):
        at = len(found.dims) - 1 - number
        size = b.size(self.dims[at])
        own, padded = b.fresh(size, "own", number), found.dims[at]
        last = lift(size - 1) if isinstance(size, int) else b.length(own) + (-1)
        place = Map("min", (Map("max", (b.at(padded) - padding[2 * number], lift(0))), last))
        term = b.fold("sum", nq.where(nq.equal(place, b.at(own)), found.term, 0.0), [padded])
        found = b.value(term, b.put(found, at, own), found.dtype)
    return found


@operator(*(f"upsample_nearest{rank}d_backward.default" for rank in (1, 2, 3)))
def nearest_backward(
    b: Builder,
    grad_output: Value,
    output_size: Sequence[int],
    input_size: Sequence[int],
    scales: float | None = None,
    scales_d: float | None = None,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> Value:
    """The gradient of a place is the sum of those of the places that show it."""
    found, rank = b.real(grad_output), len(output_size)
    factors = (scales,) if rank == 1 else (scales_d, scales_h, scales_w)[-rank:]
    for number, factor in enumerate(factors):
        at = len(found.dims) - rank + number
        own, new = input_size[at], output_size[number]
        times, by = nearest_places(own, new, factor)
        if times == 1 and by * own == new:  # each is shown by a row of its own
            sizes = [b.size(dim) for dim in found.dims]
            cut = b.view(found, [*sizes[:at], own, by, *sizes[at + 1 :]])
            dims = [*cut.dims[: at + 1], *cut.dims[at + 2 :]]
            found = b.value(b.fold("sum", cut.term, [cut.dims[at + 1]]), dims, found.dtype)
            continue
        here, shown = b.fresh(own, "own", at), found.dims[at]
        place = nq.minimum(b.at(shown) * times // by, own - 1)
        term = b.fold("sum", nq.where(nq.equal(place, b.at(here)), found.term, 0.0), [shown])
        found = b.value(term, b.put(found, at, here), found.dtype)
    return found
