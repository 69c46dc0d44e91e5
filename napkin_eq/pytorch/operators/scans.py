"""Rules of folds in order along a dimension, and of orders: running sums, sorting, the first of an order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import napkin_eq.frontend.library as nq
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Index, Scan, Term, as_real, lift
from napkin_eq.pytorch.build.builder import NEGATIVE, Builder, Value, elsewhere
from napkin_eq.pytorch.build.table import operator
from napkin_eq.pytorch.operators.reductions import unseen

MOST_ORDERED = 4096


def running(b: Builder, self: Value, dim: int, monoid: str) -> Value:
    """Return the fold of each element and those before it along a dimension."""
    value = replace(self, term=b.real(self).term)
    at = b.dim(self, dim)
    if not self.dims or not self.dims[at]:
        return value
    value, axis = b.single(value, at)
    return b.value(Scan(monoid, axis, value.term), value.dims, self.dtype if not self.truth else "int64")


@operator("cumsum.default")
def cumsum(b: Builder, self: Value, dim: int) -> Value:
    return running(b, self, dim, "sum")


@operator("cumprod.default")
def cumprod(b: Builder, self: Value, dim: int) -> Value:
    return running(b, self, dim, "prod")


@operator("logcumsumexp.default")
def logcumsumexp(b: Builder, self: Value, dim: int) -> Value:
    value = b.real(self)
    at = b.dim(self, dim)
    if not self.dims or not self.dims[at]:
        return value
    # Relative to the largest of the whole dimension; what is far below it loses digits, as it does in a sum.
    top = b.fold("max", value.term, [value.dims[at]])
    shifted, axis = b.single(replace(value, term=nq.exp(value.term - top)), at)
    return b.value(nq.log(Scan("sum", axis, shifted.term)) + top, shifted.dims, value.dtype)


def _ranked(b: Builder, self: Value, dim: int, descending: bool) -> tuple[Value, Axis, Term, Term, int]:
    """Return a tensor on one wire along a dimension, the wire, its numbers, the rank of each among them, and the
    dimension.
    """
    at = b.dim(self, dim)
    if self.truth:
        raise NapkinError("masks are not ordered: order numbers")
    size = b.known(self.dims[at], "an order")
    if size > MOST_ORDERED:
        raise NapkinError(f"an order of {size} elements: each is compared with each, so at most {MOST_ORDERED}")
    value, axis = b.single(replace(self, term=b.real(self).term), at)
    other = b.whole(size, "other")
    mine = value.term
    unseen(b, self)
    theirs = elsewhere(mine, {axis.name: Index(other)})
    before = (theirs > mine) if descending else (theirs < mine)
    tie = nq.equal(theirs, mine) & (Index(other) < Index(axis))
    rank = b.fold("sum", nq.where(before | tie, 1.0, 0.0), [(other,)])
    return value, axis, mine, rank, at


def ordered(b: Builder, self: Value, dim: int, descending: bool, count: int | None) -> tuple[Value, Value]:
    """Return the elements along a dimension in order, equal ones as they stood, and their places; the first
    `count` of them.
    """
    at = b.dim(self, dim)
    if not self.dims or not self.dims[at]:
        return self, replace(self, term=lift(0.0), dtype="int64")
    value, axis, mine, rank, at = _ranked(b, self, dim, descending)
    new = b.fresh(b.known(self.dims[at], "an order") if count is None else count, "place")
    here = nq.equal(rank, as_real(b.at(new)))
    found = [b.fold("max", nq.where(here, term, NEGATIVE), [(axis,)]) for term in (mine, as_real(Index(axis)))]
    dims = b.put(value, at, new)
    return b.value(found[0], dims, self.dtype), b.value(found[1], dims, "int64")


@operator("sort.default")
def sort(b: Builder, self: Value, dim: int, descending: bool) -> tuple[Value, Value]:
    return ordered(b, self, dim, descending, None)


@operator("sort.stable")
def sort_stable(b: Builder, self: Value, stable: bool | None, dim: int, descending: bool) -> tuple[Value, Value]:
    return ordered(b, self, dim, descending, None)


@operator("argsort.default")
def argsort(b: Builder, self: Value, dim: int, descending: bool) -> Value:
    return ordered(b, self, dim, descending, None)[1]


@operator("topk.default")
def topk(b: Builder, self: Value, k: int, dim: int, largest: bool, sorted: bool) -> tuple[Value, Value]:
    return ordered(b, self, dim, largest, k)


@operator("cummax.default")
def cummax(b: Builder, self: Value, dim: int) -> tuple[Value, Any]:
    return running(b, self, dim, "max"), None
