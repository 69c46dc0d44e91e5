"""Which edges of a program are never reached: where PyTorch would give NaN or an infinity, and the language a number.

Shown of the term, for data that are numbers: signs by how it is made, rows by what their masks say of coordinates
alone. Unknown means no.
"""

from __future__ import annotations

import math

from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.term import Const, Index, Input, Length, Map, Read, Recur, Reduce, Scan, Size, Term, subterms
from napkin_eq.pytorch.build.builder import Edge

ANY, NONNEG, POS = 0, 1, 2
MOST = 2**26  # elements of a mask that is looked at
_SIGNS: dict[Term, int] = {}


def shown(edge: Edge) -> bool:
    """Tell whether it is shown that an edge is never reached."""
    if edge.kind == "present":
        return _present(edge.term)
    if edge.kind in ("nonzero", "pos"):
        return sign(edge.term) == POS
    return edge.kind == "nonneg" and sign(edge.term) >= NONNEG


def sign(root: Term) -> int:
    """Return what is known of a term's sign: POS, NONNEG or ANY. An exponential may come out as 0, so it is not POS."""
    for term in subterms(root):
        if term not in _SIGNS:
            _SIGNS[term] = _sign(term)
    return _SIGNS[root]


def _sign(term: Term) -> int:
    below = [_SIGNS[child] for child in term.children]
    if isinstance(term, Const) and term.kind != "bool":
        return POS if term.value > 0 else NONNEG if term.value == 0 else ANY
    if isinstance(term, (Size, Length)):
        return POS
    if isinstance(term, Index):
        return NONNEG
    if isinstance(term, Recur):
        return NONNEG if min(below) >= NONNEG else ANY
    if isinstance(term, (Reduce, Scan)):
        if term.monoid == "argmax":
            return NONNEG
        if term.monoid == "sum":
            return min(below[0], NONNEG)
        return below[0] if term.monoid == "prod" or (isinstance(term, Reduce) and term.where is Const(True)) else ANY
    if isinstance(term, Read):
        return below[0]
    return _of_map(term, below) if isinstance(term, Map) else ANY


def _of_map(term: Map, below: list[int]) -> int:
    if term.op in ("exp", "abs", "sigmoid", "sqrt"):
        return POS if term.op == "sqrt" and below[0] == POS else NONNEG
    if term.op == "mul":
        same = NONNEG if term.args[0] is term.args[1] else ANY
        return max(same, min(below) if min(below) < POS or _scaled(term) else NONNEG)
    if term.op == "add":
        return max(below) if min(below) >= NONNEG else ANY
    if term.op == "max":
        return max(below)
    if term.op == "min":
        return min(below)
    if term.op == "where":
        return _chosen(term, below)
    return below[0] if term.op in ("real", "inv") else ANY


def _scaled(term: Map) -> bool:
    # A product of two positive numbers may come out as 0, but not of one and a constant that is not small.
    return any(isinstance(arg, Const) and arg.value >= 1e-6 for arg in term.args)


def _chosen(term: Map, below: list[int]) -> int:
    """Of a choice by a bound, such as where(t <= 0, 0, t), the other branch lies beyond the bound."""
    mask, first, second = term.args
    if isinstance(mask, Map) and mask.op == "le" and mask.args[0] is second and isinstance(mask.args[1], Const):
        beyond = NONNEG if mask.args[1].value >= 0 else ANY
        return min(below[1], max(below[2], beyond))
    return min(below[1], below[2])


def _present(top: Term) -> bool:
    """Tell whether a largest element is of at least one that is present, whatever numbers the data are."""
    from napkin_eq.frontend.library import where

    presence: dict[Term, Term] = {}
    for term in subterms(top):
        if term.kind == "bool" or term.kind == "int":
            continue
        children = [presence.get(child, Const(1.0)) for child in term.children]
        if isinstance(term, Const):
            found: Term = Const(0.0 if term.value == -math.inf else 1.0)
        elif isinstance(term, Input):
            found = Const(1.0)
        elif isinstance(term, Map) and term.op == "where":
            found = children[1] if children[1] is children[2] else where(term.args[0], children[1], children[2])
        elif isinstance(term, Map) and term.op in ("exp", "sigmoid", "tanh", "erf", "real"):
            found = Const(1.0)
        elif isinstance(term, Map):
            found = _all(children)
        elif isinstance(term, Reduce) and term.monoid == "max" and children[0] is not Const(1.0):
            found = Reduce("max", term.axis, children[0], term.where)
        elif isinstance(term, Reduce):
            found = children[0] if children[0] is Const(1.0) else Const(0.0)
        elif isinstance(term, Read):
            found = children[0] if children[0].axes == () else Read(children[0], term.axis, term.index)
        else:
            found = Const(0.0)
        presence[term] = found
    found = presence[top]
    if found is Const(1.0):
        return not _bare(top)
    inner = {axis.name: axis.size or 0 for part in subterms(found) for axis in part.axes}
    if any(isinstance(part, Input) for part in subterms(found)) or not 0 < math.prod(inner.values()) <= MOST:
        return False
    return bool((evaluate(found, {}) > 0).all()) and not _bare(top)


def _all(children: list[Term]) -> Term:
    found: Term = Const(1.0)
    for child in children:
        found = child if found is Const(1.0) else found if child is Const(1.0) else found * child
    return found


def _bare(top: Term) -> bool:
    """Tell whether data stand, without a sum between, in what a row is the largest of: there -inf may be a mask."""
    waiting, seen = [top], set[Term]()  # of one element the largest is the element itself
    while waiting:
        term = waiting.pop()
        if term in seen:
            continue
        seen.add(term)
        if isinstance(term, Input) and term.kind == "real":
            return True
        if isinstance(term, Reduce) and term.monoid == "sum":
            continue
        if isinstance(term, Map) and term.op in ("exp", "sigmoid", "tanh", "erf"):
            continue
        waiting += [term.body, term.index] if isinstance(term, Read) else list(term.children)
    return False
