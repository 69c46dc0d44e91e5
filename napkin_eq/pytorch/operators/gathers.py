"""Rules of places that data choose: gathers, tables, indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Index, Term
from napkin_eq.pytorch.build.builder import Builder, Value, elsewhere
from napkin_eq.pytorch.build.table import operator
from napkin_eq.pytorch.build.wires import Dim
from napkin_eq.pytorch.operators.logic import index as chosen_place
from napkin_eq.pytorch.operators.logic import wrapped


@operator("gather.default")
def gather(b: Builder, self: Value, dim: int, index: Value) -> Value:
    at = b.dim(self, dim)
    if not self.dims:
        return self
    return chosen(b, self, at, index)


def chosen(b: Builder, self: Value, at: int, index: Value) -> Value:
    """Return a tensor at places along a dimension that another of as many dimensions names; along the others it
    may be shorter.
    """
    places: dict[str, Term] = b.coordinates(self.dims[at], wrapped(b, index, b.known(self.dims[at], "gather")))
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
    return index_tensors(b, self, [*[None] * at, index])


@operator("embedding.default")
def embedding(b: Builder, weight: Value, indices: Value, padding_idx: int) -> Value:
    return index_tensors(b, weight, [indices], plain=True)


@operator("index.Tensor")
def index_tensors(b: Builder, self: Value, indices: Sequence[Value | None], plain: bool = False) -> Value:
    """Return a tensor at places that others name, broadcast together; `plain` ones are never below 0."""
    found = {at: value for at, value in enumerate(indices) if value is not None}
    if any(value.truth for value in found.values()):
        raise NapkinError("a mask chooses a number of elements that only the data know; write torch.where")
    dims, terms = b.joined(*found.values())
    others = [d for at, d in enumerate(self.dims) if at not in found]
    kept, used = list[Dim](), list[Dim](dims)
    for number, other in enumerate(others):
        kept.append(b.apart(other, used, "kept", number))
        used.append(kept[-1])
    places: dict[str, Term] = {}
    for (at, value), term in zip(found.items(), terms, strict=True):
        own = replace(value, term=term, dims=dims)
        places |= b.coordinates(
            self.dims[at], (chosen_place if plain else wrapped)(b, own, b.known(self.dims[at], "index"))
        )
    for old, new in zip(others, kept, strict=True):
        places |= {a.name: Index(c) for a, c in zip(old, new, strict=True)}
    together = list(found) == list(range(min(found), max(found) + 1))
    front = sum(1 for at in range(min(found)) if at not in found) if together else 0
    return b.value(elsewhere(self.term, places), (*kept[:front], *dims, *kept[front:]), self.dtype)
