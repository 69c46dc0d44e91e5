"""Masks that compare what is read, such as whether a query and a key are of one document: folds are bounded by the
first and the last lane that these hold in. And masks that say what they leave out, which are turned round.

A loop skips the blocks that no lane of its mask is in where the mask says so by places alone, or by bounds that are
read from data. [a(y) = b(x)] says nothing of x by itself; the first and the last x that it holds for are numbers for
each y, computed once, and bounds that loops read. The form is made here, not found in an e-graph, which would try it
at every mask; a chain of instances of two laws leads to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from napkin_eq.egraph.budget import Budget
from napkin_eq.egraph.congruence import Closure
from napkin_eq.lang.axis import Axis, named_anew
from napkin_eq.lang.substitute import substituted
from napkin_eq.lang.term import Const, Index, Input, Map, Reduce, Term, Tuple, axis_names, rebuilt, rewritten, subterms
from napkin_eq.laws.inference import substitute
from napkin_eq.laws.law import ABSENT
from napkin_eq.search.job import Laws, Rewritten
from napkin_eq.tile.lower.loop_bounds import bounding
from napkin_eq.tile.places import conjuncts

FIRST, LAST = "from-first", "to-last"
TURNED, OPPOSITE = "where-turned", {"lt": "where-not-lt", "le": "where-not-le"}
NEUTRAL = (Const(0.0), ABSENT)  # what a lane is worth that a mask leaves out
EXACT = 1 << 24  # lanes whose numbers float32 holds, in which the last of them is found


def turned(outputs: Sequence[Term], laws: Laws, budget: Budget) -> Rewritten | None:
    """Return outputs whose masks to zero or to absence say the places that they keep, not those that they leave out,
    and the chain that leads there; None where they are so already, or where a law that it takes is left out.

    A loop skips what a mask leaves out where it says so in this way: [k < x ? 0 : a] is [x <= k ? a : 0].
    """
    if not any(map(_says_left_out, subterms(*outputs))):
        return None
    source = outputs[0] if len(outputs) == 1 else Tuple(tuple(outputs))
    closure = laws.closure(budget)
    if not closure.laws.keys() >= {TURNED, *OPPOSITE.values()}:
        return None

    def other(term: Term) -> Term:
        if not _says_left_out(term):
            return term
        mask, none, kept = term.children
        assert isinstance(mask, Map)
        if mask.op == "not":
            closure.instance(TURNED, True, {"c": mask.args[0], "a": kept, "b": none})
            return Map("where", (mask.args[0], kept, none))
        i, j = mask.args
        closure.instance(TURNED, True, {"c": mask, "a": none, "b": kept})
        closure.instance(OPPOSITE[mask.op], True, {"a": kept, "b": none, "i": i, "j": j})
        return Map("where", (Map("le" if mask.op == "lt" else "lt", (j, i)), kept, none))

    return Rewritten.of(closure, source, rewritten(source, other))


def _says_left_out(term: Term) -> bool:
    """Tell whether a term is masked to zero or to absence where a mask holds of which the opposite is as plainly said.
    """
    if not isinstance(term, Map) or term.op != "where":
        return False
    mask, none, kept = term.args
    if not isinstance(mask, Map) or none not in NEUTRAL or none == kept:
        return False
    return mask.op == "not" or (mask.op in OPPOSITE and mask.args[0].kind == "int")


def ends(outputs: Sequence[Term]) -> dict[tuple[Term, Axis], tuple[str, ...]]:
    """Return the masks that compare what is read along a folded axis with what is read along others, each with that
    axis and the laws that give it the ends which nothing beside it gives.
    """
    found: dict[tuple[Term, Axis], tuple[str, ...]] = {}
    for fold in subterms(*outputs):
        if not isinstance(fold, Reduce):
            continue
        masks = [fold.where, *(m for m in map(_kept, subterms(fold.body)) if m is not None)]
        for mask in masks:
            parts = conjuncts(mask)
            laws = tuple(law for law, up in ((FIRST, False), (LAST, True)) if not _bounded(parts, fold.axis, up))
            for part in parts:
                if laws and _compares(part, fold.axis):
                    known = found.get((part, fold.axis), ())
                    found[part, fold.axis] = tuple(law for law in (FIRST, LAST) if law in (*known, *laws))
    return found


def bounded(outputs: Sequence[Term], laws: Laws, budget: Budget) -> tuple[tuple[Term, ...], Rewritten] | None:
    """Return outputs whose folds are bounded by the lanes that such masks hold in, and the chain that leads there from
    outputs that say the same as those given, which come first; None where there are none, or where a law that it takes
    is left out.

    What is read along the folded axis x is read there along an axis y of its own, at the coordinate of x: so the first
    lane is folded over y, which no loop walks that reads it. For that an axis of an array has another name in folds.
    """
    if not {s.name for s in laws.statements} >= {FIRST, LAST} or not (found := ends(outputs)):
        return None
    names = axis_names(*outputs)

    def fresh(axis: Axis, word: str) -> Axis:
        return Axis(named_anew(f"{axis.name}_{word}", names), axis.size, axis.multiple)

    own = {axis for mask, axis in found for t in subterms(mask) if isinstance(t, Input) and axis in t.dims}
    folded = {axis: fresh(axis, "folded") for axis in sorted(own, key=lambda a: a.name)}
    given = rewritten(outputs[0] if len(outputs) == 1 else Tuple(tuple(outputs)), lambda t: _folded(t, folded))
    found = ends([given])
    along = {axis: fresh(axis, "seen") for axis in dict.fromkeys(axis for _, axis in found)}
    closure = laws.closure(budget)
    source, target = (_Masks(closure, found, along, enter).within(given) for enter in (False, True))
    closure.add(source)
    made = Rewritten.of(closure, source, target)
    return None if made is None else (source.items if isinstance(source, Tuple) else (source,), made)


def _folded(term: Term, names: Mapping[Axis, Axis]) -> Term:
    """Return a fold over an axis of another name, where there is one for it."""
    if not isinstance(term, Reduce) or term.axis not in names:
        return term
    axis = names[term.axis]
    body, where = (substituted(part, {term.axis.name: Index(axis)}) for part in (term.body, term.where))
    return Reduce(term.monoid, axis, body, where)


@dataclass(frozen=True, slots=True)
class _Masks:
    """Masks along axes, read along others; where they are entered, with the bounds that laws give them."""

    closure: Closure
    found: Mapping[tuple[Term, Axis], tuple[str, ...]]
    along: Mapping[Axis, Axis]
    enter: bool
    made: dict[tuple[Term, Axis | None], Term] = field(default_factory=dict)

    def within(self, source: Term) -> Term:
        """Return a term with each mask bounded along the axis of the innermost fold around it that may be."""
        stack: list[tuple[Term, Axis | None, bool]] = [(source, None, False)]
        while stack:
            term, axis, ready = stack.pop()
            if (term, axis) in self.made:
                continue
            inner = term.axis if isinstance(term, Reduce) and term.axis in self.along else axis
            if not ready:
                stack.append((term, axis, True))
                stack += [(child, inner, False) for child in term.children]
            elif axis is not None and (names := self.found.get((term, axis))):
                self.made[term, axis] = self.bounded(term, axis, names)
            else:
                self.made[term, axis] = rebuilt(term, tuple(self.made[child, inner] for child in term.children))
        return self.made[source, None]

    def bounded(self, mask: Term, x: Axis, names: Sequence[str]) -> Term:
        """Return the mask with the bounds of some laws: the mask that a(y) is b at the coordinate of x."""
        assert isinstance(mask, Map)
        other, own = mask.args if x in mask.args[1].axes else mask.args[::-1]
        y = self.along[x]
        bound: dict[str, Axis | Term] = {"a": other, "b": substituted(own, {x.name: Index(y)}), "x": x, "y": y}
        new = substitute(self.closure.laws[FIRST].rhs, bound)
        for name in names if self.enter else ():
            law = self.closure.laws[name]
            if self.closure.instance(law, False, bound):
                new = Map("and", (new, substitute(law.lhs, bound).children[1]))
        return new


def _kept(term: Term) -> Term | None:
    """Return the mask of a choice between a value and none, upright; None of other terms."""
    if not isinstance(term, Map) or term.op != "where":
        return None
    mask, one, other = term.args
    return mask if other in NEUTRAL else Map("not", (mask,)) if one in NEUTRAL else None


def _bounded(parts: Sequence[Term], axis: Axis, up: bool) -> bool:
    """Tell whether one of some masks bounds an axis from above, or from below."""
    return any(end is up for part in parts for end in bounding(part, axis))


def _compares(mask: Term, axis: Axis) -> bool:
    """Tell whether a mask is that a whole number read along an axis is one that is not, but along others."""
    if not isinstance(mask, Map) or mask.op != "eq" or any(arg.kind != "int" for arg in mask.args):
        return False
    one, other = mask.args if axis in mask.args[0].axes else mask.args[::-1]
    if axis.size is None or axis.size > EXACT:
        return False  # an axis beside it would not be known to be as long, or places not be told apart
    read = all(any(isinstance(t, Input) for t in subterms(arg)) for arg in mask.args)
    return read and axis in one.axes and axis not in other.axes and bool(set(other.axes) - set(one.axes))


__all__ = ["bounded", "ends"]
