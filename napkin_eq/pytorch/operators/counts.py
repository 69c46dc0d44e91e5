"""Rules of what is counted: histograms, what occurs most often, places by how many come before; and what is written to
places so found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import napkin_eq.frontend.library as nq
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Index, Reduce, Term, as_real, lift
from napkin_eq.pytorch.build.builder import NEGATIVE, Builder, Value, elsewhere
from napkin_eq.pytorch.build.table import enter, operator
from napkin_eq.pytorch.operators.backward import index_put, scatter_reduce
from napkin_eq.pytorch.operators.logic import index as chosen_place
from napkin_eq.pytorch.operators.logic import where
from napkin_eq.pytorch.operators.reductions import unseen, vector_norm
from napkin_eq.pytorch.operators.scans import MOST_ORDERED, median, median_all, running
from napkin_eq.pytorch.operators.views import reshape

# Of numbers it is the median; where one is NaN kernels leave both to PyTorch.
enter("nanmedian.dim", median)
enter("nanmedian.default", median_all)


@operator("histc.default")
def histogram(b: Builder, self: Value, bins: int, min: Any, max: Any) -> Value:
    """Return how many numbers lie in each of as many equal parts of a range, of that of the data where none is said."""
    value = b.real(self)
    x, over = value.term, list(value.dims)
    low, high = lift(float(min)), lift(float(max))
    if min == max:
        unseen(b, self)
        low, high = -b.fold("max", -x, over), b.fold("max", x, over)
        alone = nq.equal(low, high)
        low, high = nq.where(alone, low - 1.0, low), nq.where(alone, high + 1.0, high)
    part = b.fresh(bins, "part")
    place = nq.minimum(nq.floor((x - low) * float(bins) / (high - low)), float(bins - 1))
    here = (low <= x) & (x <= high) & nq.equal(place, as_real(b.at(part)))
    return b.value(b.fold("sum", nq.where(here, 1.0, 0.0), over), [part], value.dtype)


@operator("mode.default")
def most_frequent(b: Builder, self: Value, dim: int, keepdim: bool) -> tuple[Value, Value]:
    """Return the number that occurs most often along a dimension, the least of several, and the last place that has
    it, where PyTorch leaves open which.
    """
    at = b.dim(self, dim)
    if not self.dims or not self.dims[at]:
        left = b.left(self, [at], keepdim) if self.dims else ()
        return replace(self, dims=left), b.value(lift(0), left, "int64")
    if (size := b.known(self.dims[at], "an order")) > MOST_ORDERED:
        raise NapkinError(f"counts of {size} elements: each is compared with each, so at most {MOST_ORDERED}")
    unseen(b, self)
    value, axis = b.single(replace(self, term=b.real(self).term), at)
    other = b.whole(size, "other")
    mine, over = value.term, [(axis,)]
    alike = nq.equal(elsewhere(mine, {axis.name: Index(other)}), mine)
    count = b.fold("sum", nq.where(alike, 1.0, 0.0), [(other,)])
    often = nq.equal(count, b.fold("max", count, over))
    found = -b.fold("max", nq.where(often, -mine, NEGATIVE), over)
    here = nq.equal(mine, found)
    place = Reduce("argmax", axis, nq.where(here, as_real(Index(axis)), -1.0))
    left = b.left(value, [at], keepdim)
    return b.value(found, left, self.dtype), b.value(place, left, "int64")


@operator("repeat_interleave.Tensor")
def repeated(b: Builder, repeats: Value, output_size: int | None) -> Value:
    """Return the place of each element as often as it is repeated: how many elements end before."""
    if output_size is None:
        raise NapkinError("how many elements there are only the repeats know: give output_size")
    if not repeats.dims[0]:
        return b.value(lift(0), [b.fresh(output_size, "repeated")], "int64")
    ends, new = running(b, repeats, 0, "sum"), b.fresh(output_size, "repeated")
    total = b.fold("sum", b.real(repeats).term, [repeats.dims[0]])
    b.chooses(Value(total - 1.0, (), "int64"), new)
    before = nq.where(ends.term <= as_real(b.at(new)), 1.0, 0.0)
    return b.value(b.fold("sum", before, [ends.dims[0]]), [new], "int64")


def _ranks(b: Builder, mask: Value) -> Value:
    """Return how many places of a mask hold before each, the last dimension varying fastest."""
    sizes = [b.size(dim) for dim in mask.dims]
    count = running(b, reshape(b, b.number(mask), [-1]), 0, "sum")
    return reshape(b, replace(count, term=b.real(count).term - 1.0), sizes)


@operator("masked_scatter.default")
def masked_scatter(b: Builder, self: Value, mask: Value, source: Value) -> Value:
    """Return a tensor with the elements of another one, in order, where a mask holds."""
    dims, (own, held) = b.joined(self, b.mask(mask))
    rank = _ranks(b, Value(held, dims, "bool"))
    here = replace(rank, term=b.moved(Value(held, dims, "bool"), dims, rank.dims), dtype="bool")
    kept = replace(self, term=b.moved(replace(self, term=own), dims, rank.dims), dims=rank.dims)
    flat = reshape(b, source, [-1])
    place = replace(rank, term=nq.where(here.term, rank.term, 0.0), dtype="int64")
    b.chooses(place, flat.dims[0])
    shown = replace(flat, dims=rank.dims)
    if flat.dims[0]:
        shown = b.read(flat, {0: chosen_place(b, place, flat.dims[0])}, rank.dims)
    return where(b, here, shown, kept)


@operator("masked_scatter_backward.default")
def masked_scatter_backward(b: Builder, grad_output: Value, mask: Value, sizes: Sequence[int]) -> Value:
    """The gradient of what was written, in order, is that of where it went."""
    dims, (grad, held) = b.joined(b.real(grad_output), b.mask(mask))
    rank = _ranks(b, Value(held, dims, "bool"))
    held, grad = (b.moved(Value(term, dims, ""), dims, rank.dims) for term in (held, grad))
    count = 1
    for size in sizes:
        count *= size
    new = b.fresh(count, "written")
    here = held & nq.equal(rank.term, as_real(b.at(new)))
    return reshape(b, b.value(b.fold("sum", nq.where(here, grad, 0.0), rank.dims), [new], "float32"), sizes)


@operator("index_reduce.default")
def index_reduce(
    b: Builder, self: Value, dim: int, index: Value, source: Value, reduce: str, include_self: bool
) -> Value:
    at = b.dim(self, dim)
    dims = source.dims if index.dims else ((),)
    places = b.moved(index, index.dims, [dims[at]] if index.dims else [])
    return scatter_reduce(b, self, dim, Value(places, dims, index.dtype), source, reduce, include_self)


@operator("put.default")
def put(b: Builder, self: Value, index: Value, source: Value, accumulate: bool) -> Value:
    """Numbers written or added at places of a tensor seen as one row."""
    flat, places, numbers = (reshape(b, value, [-1]) for value in (self, index, source))
    return reshape(b, index_put(b, flat, [places], numbers, accumulate), [b.size(dim) for dim in self.dims])


@operator("embedding_renorm.default")
def renormed(b: Builder, self: Value, indices: Value, max_norm: float, norm_type: float) -> Value:
    """Return a table whose rows that are asked for are no longer than a bound."""
    b.chooses(indices, self.dims[0])
    over = [b.apart(dim, self.dims, "asked", at) for at, dim in enumerate(indices.dims)]
    asked = nq.equal(as_real(b.moved(indices, indices.dims, over)), as_real(b.at(self.dims[0])))
    hit = b.fold("max", nq.where(asked, 1.0, 0.0), over) > 0.5
    norm = vector_norm(b, b.real(self), norm_type, [1], True)

    def scaled(row: Term, length: Term) -> Term:
        long = hit & (length > float(max_norm))
        return nq.where(long, row * (float(max_norm) * nq.reciprocal(length + 1e-7)), row)

    return b.pointwise(scaled, b.real(self), norm)
