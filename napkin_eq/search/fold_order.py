"""Folds by one monoid along several axes, in the order in which arrays lie in memory: the axis of neighbouring elements
is folded first.

What is folded along both axes of an image may be written either way. An e-graph has both (Fubini), of maxima and of
sums alike, and each with each: forms in which a running maximum and the sum beside it go different ways are as many,
and few of them stream. A contraction keeps its order, as its tiles have one of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from napkin_eq.egraph.budget import Budget
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.operators import PLACES
from napkin_eq.lang.term import Const, Input, Reduce, Term, Tuple, rewritten, subterms
from napkin_eq.search.job import Laws, Rewritten
from napkin_eq.tile.stream_facts import contracted

TRUE = Const(True)


def reordered(outputs: Sequence[Term], laws: Laws, budget: Budget) -> Rewritten | None:
    """Return outputs whose nested folds are in the order of memory, and the chain that leads there; None where they are
    already, or where a law that it takes is left out.
    """
    source = outputs[0] if len(outputs) == 1 else Tuple(tuple(outputs))
    closure = laws.closure(budget)

    def in_order(term: Term) -> Term:
        """Move the outermost fold of a nest inwards as far as it must go: those below it are in order."""
        if not isinstance(term, Reduce) or not isinstance(inner := term.body, Reduce) or not _swaps(term, inner):
            return term
        if (law := f"fubini-{term.monoid}") not in closure.laws:
            return term
        closure.instance(law, True, {"a": inner.body, "x": term.axis, "y": inner.axis})
        return Reduce(inner.monoid, inner.axis, in_order(Reduce(term.monoid, term.axis, inner.body)))

    target = rewritten(source, in_order)
    if target is source:
        return None
    return Rewritten.of(closure, source, target)


def _swaps(outer: Reduce, inner: Reduce) -> bool:
    """Tell whether the outer of two folds is along an axis whose elements lie closer, in every array that has both."""
    same = outer.monoid == inner.monoid and outer.monoid not in PLACES and outer.axis != inner.axis
    if not same or outer.where != TRUE or inner.where != TRUE:
        return False
    innermost = inner
    while isinstance(innermost.body, Reduce):
        innermost = innermost.body
    if contracted(innermost) is not None:
        return False
    found = [_closer(t.dims, outer.axis, inner.axis) for t in subterms(inner.body) if isinstance(t, Input)]
    known = [closer for closer in found if closer is not None]
    return bool(known) and all(known)


def _closer(dims: Sequence[Axis], one: Axis, other: Axis) -> bool | None:
    """Tell whether of an array's axes one comes after another, so that its elements lie closer; None without both."""
    return dims.index(one) > dims.index(other) if one in dims and other in dims else None
