"""Rules of folds in order along a dimension, and of orders: running sums, sorting, the first of an order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import napkin_eq.frontend.library as nq
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import (
    Const,
    Index,
    Input,
    Map,
    Read,
    Recur,
    Reduce,
    Scan,
    Term,
    as_real,
    lift,
    rewritten,
    subterms,
)
from napkin_eq.pytorch.build.builder import NEGATIVE, Builder, Value, elsewhere
from napkin_eq.pytorch.build.extents import quotient
from napkin_eq.pytorch.build.masks import less, negated, undefined
from napkin_eq.pytorch.build.rolled import linear, put
from napkin_eq.pytorch.build.table import operator
from napkin_eq.pytorch.operators.reductions import unseen

MOST_ORDERED = 4096
Inner = Callable[..., Any]


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
    largest = value.largest
    present = nq.where(nq.abs(value.term) <= largest, value.term, NEGATIVE) if b.undefined else value.term
    top = b.fold("max", present, [value.dims[at]])
    if b.undefined:  # what is before NaN or inf is a number, what is after is not
        unseen(b, self, plain=True)
        top = nq.where(top < -largest, 0.0, top)
    shifted, axis = b.single(replace(value, term=nq.exp(value.term - top)), at)
    return b.value(nq.log(Scan("sum", axis, shifted.term)) + top, shifted.dims, value.dtype)


def _slices(b: Builder, values: Sequence[Value], axis: Axis, name: str) -> tuple[list[Value], dict[Term, Term]]:
    """Return what stands for one turn's part of values along their first dimension, and what it is along an axis."""
    given, known = [], dict[Term, Term]()
    for number, value in enumerate(values):
        value = b.real(value)
        own = [a for dim in value.dims[1:] for a in dim]
        hole = Input(f"{name}{number}", tuple(own), "float32")
        known[hole] = elsewhere(value.term, b.coordinates(value.dims[0], Index(axis)))
        given.append(Value(hole, value.dims[1:], value.dtype))
    return given, known


def _turns(b: Builder, values: Sequence[Value], what: str) -> Axis:
    if not values or any(value.truth or value.whole for value in values):
        raise NapkinError(f"{what} over what is no tensor of real numbers")
    size = b.known(values[0].dims[0], what)
    if size == 1:
        raise NapkinError(f"{what} of one turn")
    return b.whole(size, what)


def _several(found: Any) -> list[Value]:
    return list(found) if isinstance(found, (list, tuple)) else [found]


@operator("scan")
def scan(
    b: Builder, inner: Inner, module: Any, init: Sequence[Value], xs: Sequence[Value], more: Sequence[Any] = ()
) -> list[Value]:
    """Return the last states of a loop, and what its turns give: each state must be linear in the one before."""
    axis = _turns(b, xs, "scan")
    slices, known = _slices(b, xs, axis, "scan_part")
    starts = [b.real(value) for value in init]
    holes = [Input(f"scan_state{n}", tuple(a for dim in v.dims for a in dim), "float32") for n, v in enumerate(starts)]
    carried = [Value(hole, value.dims, value.dtype) for hole, value in zip(holes, starts, strict=True)]
    results = [b.real(value) for value in _several(inner(module, [*carried, *slices, *more]))]
    steps = [b.moved(v, v.dims, s.dims) for v, s in zip(results, starts, strict=False)]
    table: dict[Term, Term] = dict(known)
    waiting = list(range(len(steps)))
    while waiting:
        ready = [n for n in waiting if not any(holes[m] in subterms(steps[n]) for m in waiting if m != n)]
        if not ready:
            raise NapkinError(
                "states of a loop that wait for each other: a recurrence is of one state, or of others that are known"
                " before"
            )
        for n in ready:
            parts = linear(steps[n], holes[n])
            if parts is None or any(holes[n] in subterms(side) for side in parts):
                raise NapkinError("a state of a loop is no linear function, element by element, of the one before")
            gain, part = (read_again(put(side, table)) for side in parts)
            start = starts[n].term
            first = (
                part
                if isinstance(start, Const) and start.value == 0
                else nq.where(Index(axis) < 1, gain * start + part, part)
            )
            state = Recur(axis, gain, first)
            table[steps[n]] = state
            table[holes[n]] = nq.where(Index(axis) < 1, start, elsewhere(state, {axis.name: Index(axis) + (-1)}))
        waiting = [n for n in waiting if n not in ready]
    last = b.known(xs[0].dims[0], "scan") - 1
    states = [table[step] for step in steps]
    finals = [
        b.value(elsewhere(t, {axis.name: Const(last)}), s.dims, s.dtype) for t, s in zip(states, starts, strict=True)
    ]
    given = [b.value(read_again(put(v.term, table)), ((axis,), *v.dims), v.dtype) for v in results[len(steps) :]]
    return [*finals, *given]


@operator("associative_scan")
def associative_scan(
    b: Builder, inner: Inner, module: Any, xs: Sequence[Value], more: Sequence[Any] = ()
) -> list[Value]:
    """Return prefixes of one array by +, · or max, or of pairs of gain and part as a linear recurrence."""
    axis = _turns(b, xs, "associative_scan")
    left, _ = _slices(b, xs, axis, "scan_left")
    right, known = _slices(b, xs, axis, "scan_right")
    found = [
        b.moved(b.real(v), v.dims, x.dims)
        for v, x in zip(_several(inner(module, [*left, *right, *more])), left, strict=True)
    ]
    terms: list[Term] = []
    for number, term in enumerate(found):
        own, other = left[number].term, right[number].term
        simple = next(
            (
                m
                for m, op in (("sum", "add"), ("prod", "mul"), ("max", "max"))
                if term in (Map(op, (own, other)), Map(op, (other, own)))
            ),
            "",
        )
        parts = linear(term, own)
        if simple:
            terms.append(Scan(simple, axis, known[other]))
        elif (
            parts is not None
            and parts[1] is other
            and parts[0] in known
            and all(
                found[n] in (Map("mul", (left[n].term, r.term)), Map("mul", (r.term, left[n].term)))
                for n, r in enumerate(right)
                if r.term is parts[0]
            )
        ):
            terms.append(Recur(axis, known[parts[0]], known[other]))
        else:
            raise NapkinError("the combination is none of +, *, max, and no composition of linear functions")
    return [b.value(term, ((axis,), *v.dims), v.dtype) for term, v in zip(terms, left, strict=True)]


def read_again(term: Term) -> Term:
    """Return a term whose reads of what is computed are of the arrays that it is computed of."""
    return rewritten(
        term, lambda t: elsewhere(t.body, {t.axis.name: t.index}) if isinstance(t, Read) and t.body.children else t
    )


def _ranked(b: Builder, self: Value, dim: int, descending: bool) -> tuple[Value, Axis, Term, Term, int]:
    """Return a tensor on one wire along a dimension, the wire, its numbers, the rank of each among them, and the
    dimension.
    """
    at = b.dim(self, dim)
    if self.truth:
        raise NapkinError("masks are not ordered: order numbers")
    size = b.size(self.dims[at])
    if isinstance(size, int) and size > MOST_ORDERED:
        raise NapkinError(f"an order of {size} elements: each is compared with each, so at most {MOST_ORDERED}")
    value, axis = b.single(replace(self, term=b.real(self).term), at)
    other = b.whole(size, "other")
    mine = value.term
    unseen(b, self, plain=b.undefined)
    theirs = elsewhere(mine, {axis.name: Index(other)})
    before = less(mine, theirs) if descending else less(theirs, mine)
    tie = nq.equal(theirs, mine)
    if b.undefined and not self.whole:  # NaN is larger than every number
        first, second = (theirs, mine) if descending else (mine, theirs)
        before = before | (undefined(first) & negated(undefined(second)))
        tie = tie | (undefined(theirs) & undefined(mine))
    tie = tie & (Index(other) < Index(axis))
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
    new = b.fresh(b.size(self.dims[at]) if count is None else count, "place")
    here = nq.equal(rank, as_real(b.at(new)))
    dims = b.put(value, at, new)
    found = b.fold("max", nq.where(here, mine, NEGATIVE), [(axis,)])
    place = Reduce("argmax", axis, nq.where(here, 1.0, 0.0))  # a whole number, so that it may choose a coordinate
    return b.value(found, dims, self.dtype), b.value(place, dims, "int64")


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
    return _extreme(b, self, dim, 1.0)


@operator("cummin.default")
def cummin(b: Builder, self: Value, dim: int) -> tuple[Value, Any]:
    return _extreme(b, self, dim, -1.0)


def _extreme(b: Builder, self: Value, dim: int, sign: float) -> tuple[Value, Value]:
    """Return the largest or smallest of each element and those before it, and the last place that has it."""
    unseen(b, self, plain=b.undefined)
    value = replace(self, term=b.real(self).term * sign)
    at = b.dim(self, dim)
    if not self.dims or not self.dims[at]:
        return self, replace(self, term=lift(0), dtype="int64")
    value, axis = b.single(value, at)
    found = Scan("max", axis, value.term)
    here = found <= value.term
    if b.undefined and not self.whole:  # after NaN all are NaN, and the place is that of the last
        here = here | undefined(value.term)
    place = Scan("max", axis, nq.where(here, as_real(Index(axis)), -1.0))
    return b.value(found * sign, value.dims, self.dtype), b.value(place, value.dims, "int64")


def _of_one(b: Builder, found: tuple[Value, Value], at: int, keepdim: bool) -> tuple[Value, Value]:
    """Return what an order along a dimension of one element has, without that dimension unless it is kept."""
    numbers, places = (replace(v, dims=b.left(v, [at], keepdim)) if v.dims else v for v in found)
    return numbers, places


@operator("median.dim")
def median(b: Builder, self: Value, dim: int, keepdim: bool) -> tuple[Value, Value]:
    """Return the element in the middle of the order, the lower one of two, and where it stands."""
    at = b.dim(self, dim)
    if not self.dims or not self.dims[at]:
        return _of_one(b, ordered(b, self, dim, False, None), at, keepdim)
    unseen(b, self)
    size = b.size(self.dims[at])
    numbers, places = ordered(b, self, dim, False, quotient(size + 1, 2))
    last = {at: Const((size - 1) // 2) if isinstance(size, int) else (b.length(self.dims[at]) + (-1)) // 2}
    return b.read(numbers, last, b.left(numbers, [at], keepdim)), b.read(places, last, b.left(places, [at], keepdim))


@operator("kthvalue.default")
def kthvalue(b: Builder, self: Value, k: int, dim: int, keepdim: bool) -> tuple[Value, Value]:
    """Return the element that an order has at a place counted from 1, and where it stands."""
    at = b.dim(self, dim)
    numbers, places = ordered(b, self, dim, False, k)
    if not self.dims or not self.dims[at]:
        return _of_one(b, (numbers, places), at, keepdim)
    last = {at: Const(k - 1)} if k > 1 else {}
    return b.read(numbers, last, b.left(numbers, [at], keepdim)), b.read(places, last, b.left(places, [at], keepdim))


@operator("median.default")
def median_all(b: Builder, self: Value) -> Value:
    flat = tuple(axis for dim in self.dims for axis in dim)
    return median(b, replace(self, dims=(flat,)), 0, False)[0]
