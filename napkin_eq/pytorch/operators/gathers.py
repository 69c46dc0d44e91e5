"""Rules of places that data choose: gathers, tables, indices; of places found by counting, what is written there, and
of what is counted itself: histograms, what occurs most often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import napkin_eq.frontend.library as nq
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Index, Reduce, Term, as_real, lift
from napkin_eq.pytorch.build.builder import NEGATIVE, Builder, Number, Value, elsewhere
from napkin_eq.pytorch.build.masks import negated
from napkin_eq.pytorch.build.table import enter, operator
from napkin_eq.pytorch.build.wires import Dim
from napkin_eq.pytorch.operators.backward import index_put, scatter_reduce
from napkin_eq.pytorch.operators.elementwise import alike
from napkin_eq.pytorch.operators.logic import index as chosen_place
from napkin_eq.pytorch.operators.logic import where, wrapped
from napkin_eq.pytorch.operators.reductions import unseen, vector_norm
from napkin_eq.pytorch.operators.scans import MOST_ORDERED, median, median_all, running
from napkin_eq.pytorch.operators.views import reshape


@operator("gather.default")
def gather(b: Builder, self: Value, dim: int, index: Value) -> Value:
    at = b.dim(self, dim)
    if not self.dims:
        return self
    b.chooses(index, self.dims[at])
    return chosen(b, self, at, index)


def chosen(b: Builder, self: Value, at: int, index: Value) -> Value:
    """Return a tensor at places along a dimension that another of as many dimensions names; along the others it
    may be shorter.
    """
    places: dict[str, Term] = b.coordinates(self.dims[at], wrapped(b, index, self.dims[at]))
    for d, (old, new) in enumerate(zip(self.dims, index.dims, strict=True)):
        if d != at and old != new and old:
            if b.size(old) == b.size(new):
                b.wires.meet(old, new)
            b.at_most([new], [old])
            places |= (
                {a.name: Index(c) for a, c in zip(old, new, strict=True)}
                if _alike(b, old, new)
                else b.coordinates(old, b.at(new))
            )
    return b.value(elsewhere(self.term, places), index.dims, self.dtype)


def _alike(b: Builder, old: Dim, new: Dim) -> bool:
    return len(old) == len(new) and all(b.size((x,)) == b.size((y,)) for x, y in zip(old, new, strict=True))


@operator("index_select.default")
def index_select(b: Builder, self: Value, dim: int, index: Value) -> Value:
    at = b.dim(self, dim)
    return index_tensors(b, self, [*[None] * at, index], negative=False)


@operator("embedding.default")
def embedding(b: Builder, weight: Value, indices: Value, padding_idx: int) -> Value:
    return index_tensors(b, weight, [indices], plain=True, negative=False)


@operator("index.Tensor")
def index_tensors(
    b: Builder, self: Value, indices: Sequence[Value | None], plain: bool = False, negative: bool = True
) -> Value:
    """Return a tensor at places that others name, broadcast together; `plain` ones are never below 0. negative: PyTorch
    takes those below 0, which count from the end.
    """
    found = {at: value for at, value in enumerate(indices) if value is not None}
    if any(value.truth for value in found.values()):
        raise NapkinError("a mask chooses a number of elements that only the data know; write torch.where")
    for at, value in found.items():
        b.chooses(value, self.dims[at], negative=negative)
    dims, terms = b.joined(*found.values())
    others = [d for at, d in enumerate(self.dims) if at not in found]
    kept, used = list[Dim](), list[Dim](dims)
    for number, other in enumerate(others):
        kept.append(b.apart(other, used, "kept", number))
        used.append(kept[-1])
    places: dict[str, Term] = {}
    for (at, value), term in zip(found.items(), terms, strict=True):
        own = replace(value, term=term, dims=dims)
        places |= b.coordinates(self.dims[at], (chosen_place if plain else wrapped)(b, own, self.dims[at]))
    for old, new in zip(others, kept, strict=True):
        places |= {a.name: Index(c) for a, c in zip(old, new, strict=True)}
    together = list(found) == list(range(min(found), max(found) + 1))
    front = sum(1 for at in range(min(found)) if at not in found) if together else 0
    return b.value(elsewhere(self.term, places), (*kept[:front], *dims, *kept[front:]), self.dtype)


@operator("searchsorted.Tensor", "searchsorted.Scalar")
def searchsorted(b: Builder, sorted_sequence: Value, self: Number, right: bool, side: str | None,
    sorter: Value | None = None) -> Value:  # fmt: skip
    """Return how many numbers of a row in order stand before another one; all do before NaN."""
    value, row = alike(b, self, sorted_sequence)
    at = len(row.dims) - 1
    if sorter is not None:
        row = gather(b, row, at, sorter)
    over = row.dims[at] if row.dims else ()
    if len(row.dims) == 1:
        over = b.apart(over, value.dims, "sorted")
        bounds = b.moved(row, row.dims, [over])
    else:
        over = b.apart(over, value.dims, "sorted")
        bounds = b.moved(row, row.dims, [*value.dims[:-1], over])
    term = value.term
    after = (term < bounds) if right or side == "right" else (term <= bounds)
    count = b.fold("sum", nq.where(negated(after), 1.0, 0.0), [over])
    return b.value(count, value.dims, "int64")


@operator("bucketize.Tensor", "bucketize.Scalar")
def bucketize(b: Builder, self: Number, boundaries: Value, right: bool) -> Value:
    return searchsorted(b, boundaries, self, right, None)


@operator("_embedding_bag.default", "_embedding_bag_forward_only.default")
def embedding_bag(b: Builder, weight: Value, indices: Value, offsets: Value, mode: int,
    per_sample_weights: Value | None,
    include_last_offset: bool, padding_idx: int) -> tuple[Value, None, None, None]:  # fmt: skip
    """Return rows of a table folded in bags: of each place in the row of indices, the last bag that begins at it or
    before.
    """
    over, width = indices.dims[0], b.apart(weight.dims[1], [indices.dims[0], offsets.dims[0]], "width")
    bags = b.known(offsets.dims[0], "bags") - (1 if include_last_offset else 0)
    bag = b.fresh(bags, "bag")
    flat = Value(offsets.term, offsets.dims, offsets.dtype)
    first = b.read(flat, {0: b.at(bag)}, [bag]) if offsets.dims[0] else replace(flat, dims=((),))
    inside = first.term <= b.at(over)
    if bags > 1 or include_last_offset:
        end = b.read(flat, {0: b.at(bag) + 1}, [bag])
        inside = inside & (
            (b.at(over) < end.term) | (lift(bags - 1) <= b.at(bag))
            if not include_last_offset
            else b.at(over) < end.term
        )
    if padding_idx >= 0:
        inside = inside & negated(nq.equal(indices.term, padding_idx))
    rows = index_tensors(b, weight, [indices], plain=True, negative=False)
    term = b.moved(b.real(rows), rows.dims, [over, width])
    if per_sample_weights is not None:
        term = term * b.moved(b.real(per_sample_weights), per_sample_weights.dims, [over])
    if mode == 2:
        unseen(b, weight, plain=True)
        most = b.fold("max", nq.where(inside, term, NEGATIVE), [over])
        some = b.fold("max", nq.where(inside, 1.0, 0.0), [over]) > 0.5
        found = nq.where(some, most, 0.0)
    else:
        found = b.fold("sum", nq.where(inside, term, 0.0), [over])
    if mode == 1:
        found = found * nq.reciprocal(nq.maximum(b.fold("sum", nq.where(inside, 1.0, 0.0), [over]), 1.0))
    return b.value(found, [bag, width], weight.dtype), None, None, None


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
