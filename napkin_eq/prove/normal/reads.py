"""Claims about values elsewhere, without the reads and the places of maxima that they hold, for provers of numbers.

    written(claim)   claims that give it, whose reads are of variables alone, then variables of their own unless they
                     are kept, and that name no place of a maximum
    followed(read, claim)   whether induction over an axis follows a read that is kept

A read moves through pointwise operators and folds over other axes; read twice is read once; a prefix fold is at its
last lane the fold, and at its first that lane; a fold that reads from the other end is turned round, which changes no
sum, product or maximum. Two places of maxima are one where lanes are in the same order, which is a claim of its own, of
two lanes; and what was folded is, at the place of its maximum, that maximum.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace
from fractions import Fraction

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.operators import MONOIDS, PLACES
from napkin_eq.lang.term import Const, Index, Map, Read, Recur, Reduce, Scan, Size, Term, rebuilt, rewritten, subterms
from napkin_eq.laws.claim import Claim, NotUnderstood, eq, le, same
from napkin_eq.laws.law import ABSENT, TRUE, Var

Table = Mapping[Term, Term]


def written(claim: Claim, kept: bool = False) -> list[Claim]:
    """Return claims that together give a claim, without its reads of more than variables and its places of maxima, as
    far as either is understood; kept: with its reads of variables.
    """
    claim = replace(claim, goal=_pushed(claim.goal, claim))
    claims, claim = _in_one_order(claim)
    claim, places = _unplaced(claim)
    return [*claims, *([claim] if kept else (elsewhere(*parted) for parted in _parted(claim, places)))]


def elsewhere(claim: Claim, lanes: Set[tuple[Axis, Term]] = frozenset()) -> Claim:
    """Return the claim with variables for what others are at the coordinates where the goal reads them, or where
    premises do which speak of `lanes`: coordinates that are known to be inside an axis.

    Premises hold in every lane, so they hold there: of all variables that vary along the axis of a read, those of the
    index included, and of the coordinate itself where the index is known to be inside the axis, into which a read
    clamps it. A premise that folds is left as it is, and so is a read of anything but a variable.
    """
    reads = [t for t in subterms(claim.goal) if isinstance(t, Read) and isinstance(t.body, Var)]
    more = [t for t in subterms(*claim.premises) if isinstance(t, Read) and (t.axis, t.index) in lanes]
    reads = [*dict.fromkeys([*reads, *(t for t in more if isinstance(t.body, Var))])]
    goal, premises, free, legend = claim.goal, list(claim.premises), set(claim.free), list(claim.legend)
    axes = {f for t in subterms(claim.goal, *claim.premises) for f in t.fields if isinstance(f, Axis)}
    for number, (axis, index) in enumerate(dict.fromkeys((t.axis, t.index) for t in reads), 1):
        known = [t for t in subterms(claim.goal, *claim.premises) if isinstance(t, Var) and claim.varies(t, axis)]
        there: dict[Term, Term] = {v: Var(f"{v.name}@{number}", v.sort) for v in known}
        read: dict[Term, Term] = {
            t: there[t.body] for t in reads if (t.axis, t.index) == (axis, index) and t.body in there
        }
        goal = _swapped(goal, read)
        if (axis, index) in lanes:
            premises = [_swapped(p, read) for p in premises]
        inside = _inside(index, axis) or (axis, index) in lanes
        for p in claim.premises:
            # What is folded along the axis is the same in every lane
            table = {**_folds(p, axis), **there} | ({Index(axis): index} if inside else {})
            parts = [*_outside(p, table)]
            if Index(axis) not in parts and not any(isinstance(t, (Reduce, Read, Size, Scan)) for t in parts):
                premises.append(_swapped(p, table))
        stands = {a for a in axes if not claim.varies(index, a)}
        for v in known:
            free |= {(a.name, f"{v.name}@{number}") for a in stands if a == axis or not claim.varies(v, a)}
        told = set(subterms(goal, *premises))
        legend += [f"{there[v]} stands for {v.name} at {axis} = {index}" for v in known if there[v] in told]
    return (
        replace(claim, goal=goal, premises=tuple(premises), free=frozenset(free), legend=tuple(legend))
        if reads
        else claim
    )


def followed(read: Read, claim: Claim) -> bool:
    """Tell whether a read is of a variable, at a place that is the same in every lane, and in no condition."""
    known = isinstance(read.body, Var) and not claim.varies(read.index, read.axis)
    return known and read not in subterms(*claim.premises)


# -- where reads go ----------------------------------------------------------------------------------------------------


def _pushed(root: Term, claim: Claim) -> Term:
    """Return a term whose reads are of variables, and whose folds read from the first end, wherever that can be had."""

    def change(t: Term) -> Term:
        try:
            if isinstance(t, Read):
                return _at(t.body, t.axis, _plain(t.index, t.axis), claim)
            if isinstance(t, Reduce) and t.monoid in PLACES and t.where is not TRUE:  # what is absent has no place
                return Reduce(t.monoid, t.axis, Map("where", (t.where, t.body, ABSENT)))
            if (
                isinstance(t, Reduce)
                and t.monoid in MONOIDS
                and any(isinstance(r, Read) and r.axis == t.axis for r in subterms(t.body, t.where))
            ):
                end = _last(t.axis)
                turned = Reduce(t.monoid, t.axis, _at(t.body, t.axis, end, claim), _at(t.where, t.axis, end, claim))
                return min((turned, t), key=lambda fold: (sum(isinstance(r, Read) for r in subterms(fold)), str(fold)))
        except NotUnderstood:
            pass
        return t

    return rewritten(root, change)


def _at(term: Term, axis: Axis, index: Term, claim: Claim) -> Term:
    """Return what a term is at a coordinate of an axis; raises NotUnderstood."""
    if not claim.varies(term, axis):
        return term
    if index is Index(axis):
        return term
    if isinstance(term, Var):
        return Read(term, axis, index)
    if isinstance(term, Index) and _inside(index, axis):
        return index
    if isinstance(term, Read) and term.axis == axis and isinstance(term.body, Var):
        return _at(term.body, axis, _plain(_at(term.index, axis, index, claim), axis), claim)
    end = _end(index, axis) if isinstance(term, Scan) and not isinstance(term, Recur) else None
    if isinstance(term, Scan) and term.axis == axis and end is not None:
        return Reduce(term.monoid, axis, term.body) if end else _at(term.body, axis, index, claim)
    if isinstance(term, Map) or (isinstance(term, Reduce) and not claim.varies(index, term.axis)):
        return rebuilt(term, tuple(_at(child, axis, index, claim) for child in term.children))
    raise NotUnderstood(f"no prover understands {type(term).__name__} at another coordinate")


def _last(axis: Axis) -> Term:
    """Return the coordinate that counts lanes from the last."""
    return Size(axis) + Const(-1) - Index(axis)


def _end(index: Term, axis: Axis) -> bool | None:
    """Tell whether an index is the last lane of an axis, or the first one; None of any other."""
    found = _linear(index)
    return True if found is not None and found == _linear(Size(axis) + Const(-1)) else False if found == {} else None


def _plain(index: Term, axis: Axis) -> Term:
    """Return an index written as the coordinate, or as one that counts from the last lane, where it is that."""
    found = _linear(index)
    for known in (Index(axis), _last(axis)):
        if found is not None and found == _linear(known):
            return known
    return index


def _linear(term: Term) -> dict[Term, Fraction] | None:
    """Return a whole number as a sum of multiples, the constant beside 1; None where it is a product."""
    if isinstance(term, Const):
        return {Const(1): Fraction(term.value)} if term.value else {}
    if isinstance(term, Map) and term.op in ("add", "neg"):
        total: dict[Term, Fraction] = {}
        for part in map(_linear, term.args):
            if part is None:
                return None
            for base, times in part.items():
                total[base] = total.get(base, Fraction(0)) + (times if term.op == "add" else -times)
        return {base: times for base, times in total.items() if times}
    return None if isinstance(term, Map) and term.op == "mul" else {term: Fraction(1)}


def _inside(index: Term, axis: Axis) -> bool:
    """Tell whether an index is a lane of the axis whatever the numbers are."""
    return index in (Index(axis), _last(axis)) or (
        isinstance(index, Reduce) and index.monoid in PLACES and index.axis == axis
    )


# -- places of maxima --------------------------------------------------------------------------------------------------


def _placed(*roots: Term) -> list[Reduce]:
    return [t for t in subterms(*roots) if isinstance(t, Reduce) and t.monoid in PLACES]


def _in_one_order(claim: Claim) -> tuple[list[Claim], Claim]:
    """Return the claim with one place for places of maxima over the same lanes, and the claims that these lanes are in
    one order.
    """
    places, claims, one = _placed(claim.goal), list[Claim](), dict[Term, Term]()
    for t in places:
        if any(isinstance(part, (Read, Scan)) or part in places for part in subterms(*t.children)):
            raise NotUnderstood("no prover understands the place of a maximum of what is read elsewhere")
        first = next((p for p in places if (p.monoid, p.axis, p.where) == (t.monoid, t.axis, t.where)), t)
        if first is not t:
            claims.append(_order(claim, first, t))
            one[t] = first
    return claims, replace(claim, goal=_swapped(claim.goal, one))


def _order(claim: Claim, first: Reduce, other: Reduce) -> Claim:
    """Return the claim that two reductions find the lanes of an axis in one order: of any two lanes the same is no
    less.
    """
    axis = first.axis
    known = [
        t for t in subterms(first.body, other.body, *claim.premises) if isinstance(t, Var) and claim.varies(t, axis)
    ]
    tables: list[dict[Term, Term]] = []
    premises, free = list(claim.premises), set(claim.free)
    for number in (1, 2):
        lane = Var(f"lane {number} of {axis}", "int")
        there: dict[Term, Term] = {v: Var(f"{v.name} in lane {number} of {axis}", v.sort) for v in known}
        free |= {(axis.name, lane.name)}
        for v, copy in there.items():
            assert isinstance(v, Var) and isinstance(copy, Var)
            free |= {(axis.name, copy.name), *((a, copy.name) for a, name in claim.free if name == v.name)}
        table = {**_folds(first.body, axis), **_folds(other.body, axis), **there, Index(axis): lane}
        premises += [
            _swapped(p, table)
            for p in claim.premises
            if not any(isinstance(t, (Reduce, Read, Size, Scan)) for t in subterms(p))
        ]
        premises += [le(Const(0), lane), ~le(Size(axis), lane)]
        tables.append(table)
    one, two = (le(*(_swapped(t.body, table) for table in tables)) for t in (first, other))
    goal = same(one, two)
    return Claim(
        f"{claim.what}: two lanes of {axis} are in one order", goal, tuple(premises), frozenset(free), claim.legend
    )


def _parted(claim: Claim, places: Mapping[Term, Axis]) -> Iterator[tuple[Claim, set[tuple[Axis, Term]]]]:
    """Yield the cases of a claim that says where maxima are and reads the same axes at coordinates of others: each of
    these inside, or beyond the last lane, where no place is; with the places, and the coordinates that are inside.
    """
    reads = dict.fromkeys((t.axis, t.index) for t in subterms(claim.goal) if isinstance(t, Read))
    open_ = [(a, i) for a, i in reads if isinstance(i, Index) and not _inside(i, a) and a in places.values()]
    for beyond in itertools.product((False, True), repeat=len(open_)):
        premises, lanes = list(claim.premises), {(axis, place) for place, axis in places.items()}
        for (axis, index), past in zip(open_, beyond, strict=True):
            if not past:
                lanes.add((axis, index))
            premises.append(le(Size(axis), index) if past else ~le(Size(axis), index))
            premises += [le(place, index) for place, own in places.items() if past and own == axis]
        yield replace(claim, premises=tuple(premises)), lanes


def _unplaced(claim: Claim) -> tuple[Claim, dict[Term, Axis]]:
    """Return the claim with a whole number for each place of a maximum: a lane of its axis, where what was folded is
    that maximum, and before which it is nowhere; and these numbers.
    """
    table: dict[Term, Term] = {}
    premises, free, legend = list(claim.premises), set(claim.free), list(claim.legend)
    axes = {f for t in subterms(claim.goal, *claim.premises) for f in t.fields if isinstance(f, Axis)}
    for number, t in enumerate(_placed(claim.goal, *claim.premises), 1):
        place = Var(f"place {number} over {t.axis}", "int")
        table[t] = place
        free |= {(a.name, place.name) for a in axes if not claim.varies(t, a)}
        premises += [le(Const(0), place), ~le(Size(t.axis), place)]
        legend.append(f"{place} stands for {t}")
        folds = _folds(t.body, t.axis)
        if t.where is not TRUE or any(isinstance(part, (Read, Scan, Reduce)) for part in _outside(t.body, folds)):
            continue
        most = Reduce("max", t.axis, t.body)
        own = [v for v in subterms(t.body) if isinstance(v, Var) and claim.varies(v, t.axis)]
        there: dict[Term, Term] = {v: Read(v, t.axis, place) for v in own}
        premises += [
            le(t.body, most),
            eq(_swapped(t.body, {**there, Index(t.axis): place, **folds}), most),
            ~le(most, t.body) | le(place, Index(t.axis)),
        ]
    if not table:
        return claim, {}
    goal, said = _swapped(claim.goal, table), tuple(_swapped(p, table) for p in premises)
    return (
        Claim(claim.what, goal, said, frozenset(free), tuple(legend)),
        {place: t.axis for t, place in table.items() if isinstance(t, Reduce)},
    )


def _folds(root: Term, axis: Axis) -> dict[Term, Term]:
    """Return the folds over an axis in a term, each as itself: they are the same in every lane."""
    return {t: t for t in subterms(root) if isinstance(t, Reduce) and t.axis == axis}


def _outside(root: Term, known: Table) -> Iterator[Term]:
    """Yield the parts of a term that are in none of some terms."""
    if root not in known:
        yield root
        for child in root.children:
            yield from _outside(child, known)


def _swapped(root: Term, table: Table) -> Term:
    """Return the term with every outermost occurrence of a key replaced."""
    if root in table:
        return table[root]
    return rebuilt(root, tuple(_swapped(child, table) for child in root.children))
