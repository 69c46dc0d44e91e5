"""Sums of squares about a mean over several axes, or over a long one, taken in parts: each part's about its own mean,
and the means' own.

Squares about a mean ask for all that is summed twice, first for the mean. What lies along one of the axes, or in one
stretch of the only one, is a part that is read once: a block has its sum and the squares about its own mean, and what
the parts' means are off by, squared, times the lanes, is all that is left out. The form is made here, not found in an
e-graph; a chain of law instances leads to it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from napkin_eq.egraph.budget import Budget
from napkin_eq.egraph.congruence import Closure
from napkin_eq.lang.axis import Axis, named_anew
from napkin_eq.lang.term import Const, Input, Map, Reduce, Scan, Term, Tuple, axis_names, rebuilt, subterms
from napkin_eq.laws.axis_split import stretch_mask
from napkin_eq.laws.inference import substitute
from napkin_eq.machine.cost import elements
from napkin_eq.search.candidates import LARGE, LEAST_STRETCH, MOST_PLAIN
from napkin_eq.search.job import Laws, Rewritten

TRUE, ZERO, ONE = Const(True), Const(0.0), Const(1.0)
HELD = 1 << 14  # lanes that a block holds at once: the squares of so few need no parts
ROW = 1 << 16  # neighbours in memory that a block reads once and holds, if it holds nothing beside them
LEAST = 64  # lanes of a part: of the axis of neighbouring elements if it has so many, else of the longest
LAWS = frozenset(
    "squares-about squares-about-where fubini-sum split-sum add-commutes mul-commutes distribute".split()
)


@dataclass(frozen=True, slots=True)
class InParts:
    """Outputs whose squares are taken in parts, and the chain that leads there; `given`: what the parts of each sum
    give, where what they sum folds nothing itself.
    """

    form: Rewritten
    given: tuple[tuple[Term, ...], ...]


def in_parts(outputs: Sequence[Term], laws: Laws, budget: Budget, blocks: int) -> InParts | None:
    """Return outputs whose sums of squares about means over several axes, or over one that few blocks would walk, are
    taken in parts; None where there are none, or where a law that it takes is left out.

    blocks: how many a kernel has that keeps all processors at work.
    """
    source = outputs[0] if len(outputs) == 1 else Tuple(tuple(outputs))
    drawn = _Drawn(source)
    names, counters = axis_names(source), dict[Axis, Axis]()
    parts = {nest.top: part for nest in drawn.nests if (part := nest.part(blocks, names, counters)) is not None}
    squares = {nest.top: found for nest in drawn.nests if nest.top in parts and (found := _squared(nest)) is not None}
    if not squares:
        return None
    closure = laws.closure(budget)
    if not (closure.laws.keys() >= LAWS and all(drawn.entered(closure))):
        return None
    made: dict[Term, Term] = {}
    given: dict[tuple[Term, ...], None] = {}
    for nest in drawn.nests:
        if nest.top not in squares:
            continue
        (value, reference), part = squares[nest.top], parts[nest.top]
        if not any(isinstance(t, Reduce) and t.axis == part.axis for t in subterms(reference)):
            continue  # not a mean of this
        for other in drawn.nests:
            if other.body is value and {*other.axes} == {*nest.axes} and other.top not in made:
                made[other.top] = part.over(part.total(value))
                part.taken(closure, other)
        part.taken(closure, nest)
        assert isinstance(nest.body, Map) and isinstance(own := nest.body.args[0], Map)
        if own.args[0] is not value:
            closure.instance("add-commutes", True, zip("ab", own.args, strict=True))
        bound: dict[str, Axis | Term] = {"a": value, "r": reference, "x": part.axis, **part.masked}
        if not closure.instance(part.law, True, bound):
            return None
        squared = substitute(closure.laws[part.law].rhs, bound)
        assert isinstance(squared, Map)
        made[nest.top] = part.over(squared)
        if not any(isinstance(t, (Reduce, Scan)) for t in subterms(value)):
            lanes = () if part.mask is None else (part.total(ONE),)
            given[part.total(value), *lanes, squared.args[0]] = None
    if not made:
        return None
    form = Rewritten.of(closure, source, _replaced(drawn.term, made))
    return None if form is None else InParts(form, tuple(given))


class _Drawn:
    """A term in which factors stand before sums over several axes, not between them, and the nests of sums in it.

    A mean of means is so many sums, and one number times them.
    """

    def __init__(self, source: Term) -> None:
        self.moves: list[tuple[Term, Term, Axis, bool]] = []  # of a factor: it, what is summed, along what, if turned
        done: dict[Term, Term] = {}
        for term in subterms(source):
            done[term] = self.drawn(rebuilt(term, tuple(done[child] for child in term.children)))
        self.term = done[source]
        below = {t.body for t in subterms(self.term) if _plain(t)}
        tops = [t for t in subterms(self.term) if _plain(t) and t not in below]
        self.nests = [_Nest.of(top) for top in tops]

    def drawn(self, term: Term) -> Term:
        """Return a sum of a sum times factors as the factors times the sum of the sum; any other term itself."""
        factors = list[Term]()
        while isinstance(term, Reduce) and _plain(term) and isinstance(body := term.body, Map) and body.op == "mul":
            pairs = (body.args, body.args[::-1])
            pair = next(((s, f) for s, f in pairs if term.axis not in f.axes and _scaled(s)), None)
            if pair is None:
                break
            self.moves.append((pair[1], pair[0], term.axis, pair[0] is body.args[0]))
            factors.append(pair[1])
            term = Reduce("sum", term.axis, pair[0])
        return reduce(lambda product, factor: Map("mul", (factor, product)), reversed(factors), term)

    def entered(self, closure: Closure) -> list[bool]:
        """Enter the instances that move factors before sums; tell of each whether its conditions are derived."""
        told = []
        for factor, inner, axis, turned in self.moves:
            if turned:
                closure.instance("mul-commutes", True, {"a": inner, "b": factor})
            values: dict[str, Axis | Term] = {"a": factor, "b": inner, "x": axis}
            told.append(closure.instance("distribute", True, values))
        return told


def _plain(term: Term) -> bool:
    """Tell whether a term is a sum without a mask."""
    return isinstance(term, Reduce) and term.monoid == "sum" and term.where == TRUE


def _scaled(term: Term) -> bool:
    """Tell whether a term is a sum without a mask, or one times factors."""
    return _plain(term) or (isinstance(term, Map) and term.op == "mul" and any(map(_scaled, term.args)))


@dataclass(frozen=True, slots=True)
class _Part:
    """What a block sums by itself: the lanes of one axis of a nest, those of a mask where it is a stretch; `rest` are
    the axes that count the parts.
    """

    axis: Axis
    rest: tuple[Axis, ...]
    mask: Term | None = None

    @property
    def law(self) -> str:
        return "squares-about" if self.mask is None else "squares-about-where"

    @property
    def masked(self) -> Mapping[str, Term]:
        """What the law is told beside what is summed."""
        return {} if self.mask is None else {"c": self.mask}

    def total(self, value: Term) -> Term:
        """Return the sum of a value over a part."""
        return Reduce("sum", self.axis, value if self.mask is None else Map("where", (self.mask, value, ZERO)))

    def over(self, body: Term) -> Term:
        """Return the sums of what each part gives."""
        return _summed(self.rest, body)

    def taken(self, closure: Closure, nest: _Nest) -> None:
        """Enter that a nest is the sums over its parts."""
        if self.mask is not None:
            cut: dict[str, Axis | Term] = {"a": nest.body, "c": self.mask, "x": self.axis, "p": self.rest[0]}
            closure.instance("split-sum", True, cut)
            return
        place = nest.axes.index(self.axis)
        for at in range(place + 1, len(nest.axes)):
            below = _summed(nest.axes[at + 1 :], nest.body)
            values: dict[str, Axis | Term] = {"a": below, "x": self.axis, "y": nest.axes[at]}
            closure.instance("fubini-sum", True, values)


@dataclass(frozen=True, slots=True)
class _Nest:
    """Sums over axes of one body, without masks."""

    top: Term
    axes: tuple[Axis, ...]
    body: Term

    @classmethod
    def of(cls, top: Term) -> _Nest:
        """Return a sum as a nest."""
        axes, body = list[Axis](), top
        while isinstance(body, Reduce) and _plain(body):
            axes.append(body.axis)
            body = body.body
        return cls(top, tuple(axes), body)

    def part(self, blocks: int, names: set[str], counters: dict[Axis, Axis]) -> _Part | None:
        """Return what a block sums of this by itself, None where it can sum all.

        That is the axis of neighbouring elements, if it is long, else the longest; of an only axis a stretch, where
        too few blocks would walk it whole. `names` of axes are taken; `counters` count the stretches of others.
        """
        sized = all(axis.size is not None for axis in (*self.axes, *self.top.axes))
        if not sized or len({*self.axes}) < len(self.axes) or elements(self.axes) <= HELD:
            return None
        if len(self.axes) > 1:

            def worth(axis: Axis) -> tuple[int, bool, float, int]:
                size = axis.size or 1
                nearest = max((held.index(axis) - len(held) for held in self.dims(axis)), default=-math.inf)
                return min(blocks, self.walking(axis)), size >= LEAST, nearest if size >= LEAST else 0.0, size

            axis = max(self.axes, key=worth)
            return _Part(axis, tuple(other for other in self.axes if other != axis))
        (axis,) = self.axes
        rows = all(held[-1] == axis for held in self.dims(axis))
        count = min(blocks // self.walking(axis), MOST_PLAIN, (axis.size or 0) // LEAST_STRETCH)
        if count < 2 or (rows and (axis.size or 0) <= ROW):
            return None
        if axis not in counters:
            counters[axis] = Axis(named_anew(f"{axis.name}_part", names), 1 << count.bit_length() - 1)
        return _Part(axis, (counters[axis],), stretch_mask(counters[axis], axis))

    def dims(self, axis: Axis) -> list[tuple[Axis, ...]]:
        """Return the dimensions of the arrays that are summed and have an axis."""
        return [t.dims for t in subterms(self.body) if isinstance(t, Input) and axis in t.dims]

    def walking(self, axis: Axis) -> int:
        """Return how many blocks walk an axis: lanes that lie side by side at each of its places share one."""
        own = {*self.axes, *self.top.axes} - {axis}
        after = (own.intersection(held[held.index(axis) + 1 :]) for held in self.dims(axis))
        beside = max(after, key=elements, default=set[Axis]())
        return elements(own - beside) * -(-elements(beside) // LARGE)


def _summed(axes: Sequence[Axis], body: Term) -> Term:
    """Return the sums of a body over some axes, the first outermost."""
    return reduce(lambda term, axis: Reduce("sum", axis, term), reversed(axes), body)


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
