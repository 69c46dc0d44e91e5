"""Masks in their plainest form, so that laws about masks meet them: what programs spell in several ways is written in
one.
"""

from __future__ import annotations

import math

import napkin_eq.frontend.library as nq
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.interval import interval
from napkin_eq.lang.term import Const, Index, Length, Map, Term, factors, lift
from napkin_eq.pytorch.build.narrow import chosen_from

ABSENT = -math.inf
INFINITE = Map("neg", (Const(ABSENT),))  # absent in the language, inf in the machine's arithmetic


def same(a: Term, b: Term) -> Term:
    """Return the mask of the places where two numbers are equal; of a choice of constants, against one, its mask;
    nowhere, of whole numbers whose ranges do not meet, as a coordinate and -1.
    """
    if isinstance(a, Const) and isinstance(b, Const):
        return Const(a.exact == b.exact)
    if a.kind == b.kind == "int" and max(interval(a)[0], interval(b)[0]) > min(interval(a)[1], interval(b)[1]):
        return Const(False)
    if isinstance(a, Map) and a.op == "where" and isinstance(b, Const):
        mask, *branches = a.args
        if all(isinstance(branch, Const) for branch in branches):
            first, second = (branch.exact == b.exact for branch in branches)
            return Const(first) if first == second else mask if first else negated(mask)
    return nq.equal(a, b)


def negated(mask: Term) -> Term:
    """Return the mask of the other places, in its plainest form."""
    if isinstance(mask, Const):
        return Const(not mask.value)
    if isinstance(mask, Map) and mask.op == "not":
        (inside,) = mask.children
        return inside
    if isinstance(mask, Map) and mask.op in ("lt", "le") and mask.args[0].kind == "int":
        return Map("le" if mask.op == "lt" else "lt", (mask.args[1], mask.args[0]))
    if isinstance(mask, Map) and mask.op in ("and", "or"):
        parts = tuple(map(negated, mask.children))
        if not any(isinstance(part, Map) and part.op == "not" for part in parts):
            return Map("or" if mask.op == "and" else "and", parts)
    return ~mask


def undefined(number: Term) -> Term:
    """Return the mask of the places where a number is NaN: in the machine's own arithmetic no comparison is true of it,
    in the language one is.
    """
    return negated((number < 0.0) | (lift(0.0) <= number))


def less(a: Term, b: Term) -> Term:
    """Return the mask of the places where a number is less than another one. Of choices that may take inf the opposites
    are compared: what is absent is less than every number.
    """
    return -b < -a if _infinite(a) or _infinite(b) else a < b


def no_more(a: Term, b: Term) -> Term:
    """Return the mask of the places where a number is not more than another one."""
    return -b <= -a if _infinite(a) or _infinite(b) else a <= b


def _infinite(term: Term) -> bool:
    """Tell whether a number may be inf, and not -inf, by what it is chosen from."""
    waiting, seen = [term], set[Term]()
    while waiting:
        part = waiting.pop()
        if part not in seen:
            seen.add(part)
            waiting += chosen_from(part)
    return INFINITE in seen and Const(ABSENT) not in seen


def both(a: Term, b: Term) -> Term:
    """Return the mask of the places where two masks hold."""
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Const):
            return other if one.value else one
    return a & b


def choice(mask: Term, a: Term, b: Term) -> Term:
    """Return one number where a mask holds, else another; the other way round for a mask that says `not`."""
    if isinstance(mask, Map) and mask.op == "not":
        return choice(mask.args[0], b, a)
    if isinstance(mask, Const):
        return a if mask.value else b
    # Absence is written last, as what a mask leaves out; and so is 0, where the other places are as plainly said.
    if isinstance(a, Const) and (a is Const(ABSENT) or a.exact == 0) and b is not a:
        other = negated(mask)
        if a is Const(ABSENT) or not (isinstance(other, Map) and other.op == "not"):
            return nq.where(other, b, a)
    return nq.where(mask, a, b)


def picked(term: Term, axis: Axis) -> Term | None:
    """Return the sum along an axis of a product that is 0 at all places but one, as a choice by whether the axis has
    that place; None of another term.

    So is the sum of a gradient that only a label's score has: its rows need not be walked for it.
    """
    parts = factors(term)
    along = [factor for factor in parts if axis in factor.axes]
    if len(along) != 1 or not isinstance(along[0], Map) or along[0].op != "where":
        return None
    mask, one, none = along[0].args
    if not (isinstance(mask, Map) and mask.op == "eq" and isinstance(none, Const) and none.value == 0):
        return None
    places = [place for place in mask.args if not (isinstance(place, Index) and place.axis == axis)]
    if len(places) != 1 or places[0].kind != "int" or axis in (*places[0].axes, *one.axes):
        return None
    end = Const(axis.size) if axis.size is not None else Length(axis)
    inside = Map("and", (Map("le", (Const(0), places[0])), Map("lt", (places[0], end))))
    found: Term = Map("where", (inside, one, none))
    for factor in parts:
        found = found if factor is along[0] else Map("mul", (found, factor))
    return found
