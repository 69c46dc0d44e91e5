"""Sums of squares about a mean over several axes, taken in parts: each part's about its own mean, and the means' own.

Squares about a mean ask for all that is summed twice, first for the mean. What lies along one of the axes is a part
that is small enough to be read once: a block has its sum and the squares about its own mean, and what the parts' means
are off by, squared, times the lanes, is all that is left out. The form is made here, not found in an e-graph; a chain
of law instances leads to it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from napkin_eq.egraph.budget import Budget
from napkin_eq.egraph.congruence import Closure
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.term import Const, Input, Map, Reduce, Term, Tuple, rebuilt, subterms
from napkin_eq.laws.inference import substitute
from napkin_eq.machine.cost import elements
from napkin_eq.search.job import Laws, Rewritten

TRUE = Const(True)
HELD = 1 << 14  # lanes that a block holds at once: the squares of so few need no parts
LEAST = 64  # lanes of a part: of the axis of neighbouring elements if it has so many, else of the longest
LAWS = frozenset(("squares-about", "fubini-sum", "add-commutes"))


def in_parts(outputs: Sequence[Term], laws: Laws, budget: Budget) -> Rewritten | None:
    """Return outputs whose sums of squares about means over several axes are taken in parts, and the chain that leads
    there; None where there are none, or where a law that it takes is left out.
    """
    source = outputs[0] if len(outputs) == 1 else Tuple(tuple(outputs))
    nests = [nest for nest in map(_Nest.of, _outermost(source)) if nest is not None]
    if not any(map(_squared, nests)):
        return None
    closure = laws.closure(budget)
    if not closure.laws.keys() >= LAWS:
        return None
    made: dict[Term, Term] = {}
    for nest in nests:
        if (found := _squared(nest)) is None:
            continue
        value, reference = found
        part = nest.part()
        if not any(isinstance(t, Reduce) and t.axis == part for t in subterms(reference)):
            continue  # not a mean of this
        for other in nests:
            if other.body is value and {*other.axes} == {*nest.axes} and other.top not in made:
                made[other.top] = other.over(Reduce("sum", part, value), part)
                other.exchanged(closure, part)
        nest.exchanged(closure, part)
        assert isinstance(nest.body, Map) and isinstance(own := nest.body.args[0], Map)
        if own.args[0] is not value:
            closure.instance("add-commutes", True, zip("ab", own.args, strict=True))
        bound: dict[str, Axis | Term] = {"a": value, "r": reference, "x": part}
        if not closure.instance("squares-about", True, bound):
            return None
        law = closure.laws["squares-about"]
        made[nest.top] = nest.over(substitute(law.rhs, bound), part)
    if not made:
        return None
    target = _replaced(source, made)
    return Rewritten.of(closure, source, target)


@dataclass(frozen=True, slots=True)
class _Nest:
    """Sums over several axes of one body, without masks."""

    top: Term
    axes: tuple[Axis, ...]
    body: Term

    @classmethod
    def of(cls, top: Term) -> _Nest | None:
        """Return a sum as a nest, None where it is over one axis, or over few lanes."""
        axes, body = list[Axis](), top
        while isinstance(body, Reduce) and body.monoid == "sum" and body.where == TRUE:
            axes.append(body.axis)
            body = body.body
        sized = all(axis.size is not None for axis in axes)
        several = len({*axes}) == len(axes) > 1
        return cls(top, tuple(axes), body) if several and sized and elements(axes) > HELD else None

    def part(self) -> Axis:
        """Return the axis that makes a part: that of neighbouring elements, if it is long, else the longest."""
        dims = [t.dims for t in subterms(self.body) if isinstance(t, Input)]
        closest = max(self.axes, key=lambda a: max((d.index(a) - len(d) for d in dims if a in d), default=-math.inf))
        return closest if (closest.size or 0) >= LEAST else max(self.axes, key=lambda a: a.size or 0)

    def over(self, body: Term, part: Axis) -> Term:
        """Return the sums over the axes but one of a body."""
        return _summed([axis for axis in self.axes if axis != part], body)

    def exchanged(self, closure: Closure, part: Axis) -> None:
        """Enter that this is the same with the sum over one of its axes innermost."""
        place = self.axes.index(part)
        for at in range(place + 1, len(self.axes)):
            rest = _summed(self.axes[at + 1 :], self.body)
            values: dict[str, Axis | Term] = {"a": rest, "x": part, "y": self.axes[at]}
            closure.instance("fubini-sum", True, values)


def _summed(axes: Sequence[Axis], body: Term) -> Term:
    """Return the sums of a body over some axes, the first outermost."""
    return reduce(lambda term, axis: Reduce("sum", axis, term), reversed(axes), body)


def _outermost(source: Term) -> list[Term]:
    """Return the sums of a term that no sum is straight above."""
    below = {t.body for t in subterms(source) if isinstance(t, Reduce) and t.monoid == "sum"}
    return [t for t in subterms(source) if isinstance(t, Reduce) and t.monoid == "sum" and t not in below]


def _squared(nest: _Nest) -> tuple[Term, Term] | None:
    """Return what is squared by a nest, and minus the point that its squares are about; None of any other nest."""
    body = nest.body
    if not isinstance(body, Map) or body.op != "mul" or body.args[0] is not body.args[1]:
        return None
    own = body.args[0]
    if not isinstance(own, Map) or own.op != "add":
        return None
    for value, reference in (own.args, own.args[::-1]):
        if {*nest.axes} <= {*value.axes} and not {*nest.axes} & {*reference.axes}:
            return value, reference
    return None


def _replaced(source: Term, made: dict[Term, Term]) -> Term:
    """Return a term with others in the place of some, in these as well."""
    done: dict[Term, Term] = {}

    def replaced(term: Term) -> Term:
        if term not in done:
            new = made.get(term, term)
            done[term] = rebuilt(new, tuple(map(replaced, new.children)))
        return done[term]

    return replaced(source)


__all__ = ["in_parts"]
