"""Joined axes: two that always stand side by side, in memory and in every fold, are one axis, the second varying
fastest. Of two that are folded together, an array that others are scaled by may have the first alone, as weights of
channels do: it is read at the quotient. Of two that a product of matrices is summed over, as channels and a window,
one of its arrays has both, and whatever has one of them, or does not have them side by side, is read at the quotient
and the remainder: so many lanes as both have together fill the matrix unit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from napkin_eq.lang.axis import LARGEST, Axis
from napkin_eq.lang.term import Const, Index, Input, Map, Read, Reduce, Size, Term, factors, rebuilt, subterms

TRUE, LONGEST = Const(True), 40
APART, SCALED, MULTIPLIED = "apart", "scaled", "multiplied"  # how an array may have one of two axes, if it has not both
# Lanes of a row beyond which no block holds it in registers: it is walked, once for each time that it is folded. Of a
# shorter one nothing is gained by one axis instead of two, and what is read at a quotient is read lane by lane.
HELD = 65_536
# Neighbours in memory, and lanes of a sum, that are few
ROW, DEEP = 64, 16
# Of these a fold over two axes is one over both; the first place along two is none along one
FOLDS = ("sum", "max", "prod")


class _Apart(Exception):
    """Two axes that do not always stand together."""


@dataclass(frozen=True, slots=True)
class Joined:
    """Terms of which some axes were joined; `parts`: what each new axis stands for, the last varying fastest."""

    terms: tuple[Term, ...]
    parts: dict[Axis, tuple[Axis, ...]]

    def order(self, axes: Sequence[Axis]) -> tuple[Axis, ...]:
        """Return the axes of an array with each run of parts as the axis that it is, the longest runs first."""
        found = list(axes)
        for axis, parts in sorted(self.parts.items(), key=lambda item: -len(item[1])):
            at = found.index(parts[0]) if parts[0] in found else 0
            if tuple(found[at : at + len(parts)]) == parts:
                found[at : at + len(parts)] = [axis]
        return tuple(found)


def joined(terms: Sequence[Term], stored: Iterable[Sequence[Axis]]) -> Joined:
    """Join whatever axes of known sizes always stand together in terms, and in the axes of arrays as they are stored.

    stored: the axes of each output in its order in memory; those of inputs are theirs. The value of a term at the place
    (i, j) of two axes, the second with n lanes, is that of the joined one at i n + j: a fold over one of them is inside
    one over the other. Nothing speaks of a coordinate along either, but of a product of matrices.
    """
    outputs = [tuple(axes) for axes in stored]
    inputs = [t.dims for t in subterms(*terms) if isinstance(t, Input)]
    found, parts, refused = tuple(terms), dict[Axis, tuple[Axis, ...]](), set[tuple[Axis, Axis, str]]()
    while True:
        pairs = dict.fromkeys(pair for dims in (*outputs, *inputs) for pair in pairwise(dims))
        folds = [t for t in subterms(*found) if isinstance(t, Reduce)]
        summed = dict.fromkeys((t.body.axis, t.axis) for t in folds if isinstance(t.body, Reduce))
        # What keeps all coordinates as they are comes first.
        ways = {APART: pairs, SCALED: pairs, MULTIPLIED: summed}
        for way, (a, b) in ((way, pair) for way, some in ways.items() for pair in some):
            if (a, b, way) in refused:
                continue
            try:
                if way == MULTIPLIED and not _multiplied(a, b, found):
                    raise _Apart
                # What does not have both side by side is read at places
                read = [way == MULTIPLIED or (way == SCALED and _scales(dims, a, b, found, inputs)) for dims in inputs]
                kept = [*outputs, *(dims for dims, placed in zip(inputs, read, strict=True) if not placed)]
                axis = _axis(a, b, found, kept)
                made = _Pair(a, b, axis, way == MULTIPLIED).terms(found)
            except _Apart:
                refused.add((a, b, way))
                continue
            found, outputs = made, [_in_place(dims, a, b, axis) for dims in outputs]
            inputs = [t.dims for t in subterms(*found) if isinstance(t, Input)]
            parts[axis] = (*parts.get(a, (a,)), *parts.get(b, (b,)))
            for part in (a, b):  # an array may have one and not both side by side
                if not any(part in dims for dims in (*outputs, *inputs)):
                    parts.pop(part, None)
            break
        else:
            return Joined(found, parts)


def _scales(
    dims: Sequence[Axis], a: Axis, b: Axis, terms: Sequence[Term], inputs: Sequence[Sequence[Axis]]
) -> bool:
    """Tell whether an array has the first of two axes that are folded together, of more lanes than a block holds, and
    nothing that another has not which has both.
    """
    if a not in dims or b in dims or not any({*dims, b} <= {*other} for other in inputs):
        return False
    if a.size is None or b.size is None or a.size * b.size <= HELD:
        return False
    folds = (t for t in subterms(*terms) if isinstance(t, Reduce) and isinstance(t.body, Reduce))
    return any({t.axis, t.body.axis} == {a, b} for t in folds)


def _multiplied(a: Axis, b: Axis, terms: Sequence[Term]) -> bool:
    """Tell whether two axes are only summed over, together, and what is summed is a product of matrices, of which one
    is an array that has few neighbours in memory along the second and what else is summed over.

    Along longer rows, or with more lanes of the first than the matrix unit takes, a sum is better walked row by row.
    """
    if a.size is None or b.size is None or a.size * b.size > HELD or a.size % DEEP == 0:
        return False  # whole tiles of the matrix unit lie along the first: kernels walk both in the order that suits
    whole = [t for t in subterms(*terms) if isinstance(t, Reduce) and t.axis in (a, b)]
    sums = [t for t in whole if isinstance(t.body, Reduce) and {t.axis, t.body.axis} == {a, b}]
    return bool(sums) and len(whole) == 2 * len(sums) and all(_product(t, a, b) for t in sums)


def _product(term: Reduce, a: Axis, b: Axis) -> bool:
    body: Term = term
    summed = set[Axis]()
    while isinstance(body, Reduce) and body.monoid == "sum" and body.where == TRUE:
        body, summed = body.body, {*summed, body.axis}
    if not (isinstance(body, Map) and body.op == "mul"):
        return False
    kept = {*term.axes}
    for array, value in (body.args, body.args[::-1]):
        if isinstance(array, Input) and {a, b} <= {*array.dims} and kept & {*array.axes} - {*value.axes}:
            behind = array.dims[array.dims.index(b) :]
            row = math.prod(axis.size or 0 for axis in behind)
            short = a not in behind and {*behind} <= summed and (row <= ROW or (a.size or 0) < DEEP)
            if short and kept & {*value.axes} - {*array.axes}:
                return True
    return False


def _axis(a: Axis, b: Axis, terms: Sequence[Term], arrays: Sequence[Sequence[Axis]]) -> Axis:
    """Return an axis for two that are neighbours, in this order, in every array that has one; raises _Apart."""
    if a.size is None or b.size is None or a.size * b.size > LARGEST:
        raise _Apart
    for dims in arrays:
        if (a in dims or b in dims) and (a, b) not in pairwise(dims):
            raise _Apart
    taken = {axis.name for t in subterms(*terms) for axis in (*t.axes, *((t.axis,) if "axis" in t.names else ()))}
    taken |= {axis.name for dims in arrays for axis in dims}
    names = (f"{a.name}_{b.name}", *(f"both{number}" for number in range(len(taken) + 1)))
    return Axis(next(n for n in names if n not in taken and len(n) <= LONGEST and "__" not in n), a.size * b.size)


def _in_place(dims: Sequence[Axis], a: Axis, b: Axis, axis: Axis) -> tuple[Axis, ...]:
    return tuple(axis if dim == a else dim for dim in dims if dim != b)


class _Pair:
    """Two axes on their way to be one; `placed`: coordinates along them are the joined one's quotient and remainder."""

    def __init__(self, a: Axis, b: Axis, axis: Axis, placed: bool = False) -> None:
        self.both, self.axis, self.placed = {a: b, b: a}, axis, placed
        self.places = {a: _divided("floordiv", Index(axis), b), b: _divided("mod", Index(axis), b)}
        self.done: dict[Term, Term] = {}
        self.inner: set[Term] = set()  # folds over one of the two: only a fold over the other may use them

    def terms(self, roots: Sequence[Term]) -> tuple[Term, ...]:
        """Return terms with one axis instead of two; raises _Apart where one stands without the other."""
        for term in subterms(*roots):
            outer = isinstance(term, Reduce) and term.axis in self.both
            if not outer and any(child in self.inner for child in self.used(term)):
                raise _Apart
            if outer and term.body not in self.inner:
                if term.monoid not in FOLDS or self.both[term.axis] not in term.body.axes:
                    raise _Apart
                self.inner.add(term)
                continue
            self.done[term] = self.fold(term) if outer else self.of(term)
        if any(root in self.inner for root in roots):
            raise _Apart
        return tuple(self.done[root] for root in roots)

    def used(self, term: Term) -> Iterable[Term]:
        return self.factors(term) or term.children

    def factors(self, term: Term) -> list[Term]:
        """Return the factors of a product but for one over the sizes of both axes, which a mean over both has; none of
        another term.
        """
        found = factors(term)
        for axis in self.both:
            size = next((f for f in found if _inverse_size(f) == axis), None)
            if size is None:
                return []
            found.remove(size)
        return found

    def of(self, term: Term) -> Term:
        if isinstance(term, Input):
            (a, b) = self.both
            own = [axis for axis in self.both if axis in term.dims]
            if own == [a] or (self.placed and own and (a, b) not in pairwise(term.dims)):
                found: Term = term
                for axis in own:
                    found = Read(found, axis, self.places[axis])
                return found
            return (
                Input(term.name, _in_place(term.dims, a, b, self.axis), term.dtype, term.facts)
                if a in term.dims
                else term
            )
        if isinstance(term, Size) and term.axis in self.both:
            return Const(term.axis.size or 0)
        if self.placed and isinstance(term, Index) and term.axis in self.both:
            return self.places[term.axis]
        if "axis" in term.names and term.axis in self.both:
            raise _Apart
        if isinstance(term, Map) and (factors := self.factors(term)):
            total = Map("inv", (Map("real", (Size(self.axis),)),))
            for factor in reversed(factors):
                total = Map("mul", (self.done[factor], total))
            return total
        found = rebuilt(term, tuple(self.done[child] for child in term.children))
        return _divided_once(found) if isinstance(found, Map) and found.op in ("floordiv", "mod") else found

    def fold(self, term: Term) -> Term:
        """Return a fold over one axis of a fold over the other as one over both: lanes that either leaves out are left
        out.
        """
        inside = term.body
        if inside.monoid != term.monoid or term.where in self.inner or inside.where in self.inner:
            raise _Apart
        # Folded twice over one, or under a mask along the other
        if inside.axis == term.axis or inside.axis in term.where.axes:
            raise _Apart
        masks = [self.done[mask] for mask in (term.where, inside.where) if mask != TRUE]
        mask = Map("and", tuple(masks)) if len(masks) == 2 else masks[0] if masks else TRUE
        return Reduce(term.monoid, self.axis, self.done[inside.body], mask)


def _divided(op: str, place: Term, by: Axis) -> Term:
    return Map(op, (place, Const(by.size or 1)))


def _divided_once(term: Map) -> Term:
    """Return the quotient by a product in the place of one of a quotient, and the remainder by a number that divides
    one that a remainder was taken by.
    """
    place, by = term.args
    if isinstance(place, Map) and place.op == term.op and isinstance(by, Const) and by.value > 0:
        inner, first = place.args
        if isinstance(first, Const) and first.value > 0:
            if term.op == "floordiv":
                return Map("floordiv", (inner, Const(int(first.value * by.value))))
            if first.value % by.value == 0:
                return Map("mod", (inner, by))
    return term


def _inverse_size(term: Term) -> Axis | None:
    """Return the axis of whose size a term is the inverse."""
    if isinstance(term, Map) and term.op == "inv":
        inside = term.args[0]
        inside = inside.args[0] if isinstance(inside, Map) and inside.op == "real" else inside
        return inside.axis if isinstance(inside, Size) else None
    return None
