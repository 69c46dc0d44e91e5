"""Rules of places that data choose: gathers, tables, indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import napkin_eq.frontend.library as nq
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Index, Term, lift
from napkin_eq.pytorch.build.builder import NEGATIVE, Builder, Number, Value, elsewhere
from napkin_eq.pytorch.build.masks import negated
from napkin_eq.pytorch.build.table import operator
from napkin_eq.pytorch.build.wires import Dim
from napkin_eq.pytorch.operators.elementwise import alike
from napkin_eq.pytorch.operators.logic import index as chosen_place
from napkin_eq.pytorch.operators.logic import wrapped
from napkin_eq.pytorch.operators.reductions import unseen


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
