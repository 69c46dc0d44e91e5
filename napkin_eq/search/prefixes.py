"""Sums over the lanes up to one, cut into stretches: the earlier stretches whole, and what is in the lane's own.

Σ_x [x <= y] Y X, where Y does not vary along x nor X along y, asks for as many products as x and y have lanes together.
Of the stretches before y's own only the sum of X matters, which is a prefix over stretches: Y times it, and the pairs
within a stretch, are as many as the lanes of y times the length of a stretch. The form is made here, not found in an
e-graph, whose other forms of such a sum are many; what it rests on are law instances, and a chain of them leads to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from napkin_eq.egraph.budget import Budget
from napkin_eq.egraph.congruence import Closure
from napkin_eq.lang.axis import Axis, named_anew
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.operators import RECURRENCE
from napkin_eq.lang.substitute import substituted
from napkin_eq.lang.term import Const, Index, Map, Reduce, Scan, Term, Tuple, axis_names, factors, rewritten, subterms
from napkin_eq.laws.axis_split import stretch_mask
from napkin_eq.laws.inference import substitute
from napkin_eq.search.job import Laws, Rewritten, said_and_led

ZERO, ONE, TRUE = Const(0.0), Const(1.0), Const(True)
LENGTHS = (256, 128)  # lanes of a stretch that are tried, each a number of blocks of a contraction
FEWEST = 4  # stretches that are worth the kernels that they need
COMPARED = {"le": "run-at-most", "lt": "run-below"}
LAWS = frozenset((
    *COMPARED.values(), "where-turned", "where-not-lt", "where-not-le", "sum-where", "sum-masked", "sum-runs",
    "in-stretch", "in-runs", "split-sum", "sum-add", "where-mul", "where-and", "mul-commutes", "mul-associates",
    "mul-one", "add-zero", "distribute", "fubini-sum", "neg-mul", "sum-neg",
))  # fmt: skip


class NotOfThisKind(NapkinError):
    """A sum that is not of this kind, or for which a condition of a law is not derived."""


def sums(outputs: Sequence[Term]) -> list[Reduce]:
    """Return the sums over lanes up to one whose parts may be told apart: which `cut` may cut, and cheap to tell."""
    found = []
    for term in subterms(*outputs):
        if isinstance(term, Reduce) and term.monoid == "sum" and (pair := _compared(term)) is not None:
            x, y = pair
            sides = [t for t in subterms(term.body) if x in t.axes and y in t.axes and t.kind == "real"]
            if all(_linear(t) for t in sides):
                found.append(term)
    return found


def cut(outputs: Sequence[Term], laws: Laws, length: int, budget: Budget) -> Rewritten | None:
    """Return outputs with each such sum cut into stretches of so many lanes, and the chain that leads there; None where
    there is none, or where a law that it takes is left out.
    """
    if not {s.name for s in laws.statements} >= LAWS:
        return None
    closure = laws.closure(budget)
    names = axis_names(*outputs)
    source = outputs[0] if len(outputs) == 1 else Tuple(tuple(outputs))
    closure.add(source)
    made: dict[Term, Term] = {}
    for fold in sums(outputs):
        pair = _compared(fold)
        assert pair is not None
        try:
            made[fold] = _Sum(closure, *pair, length, names).cut(fold)
        except NotOfThisKind:
            continue
    if not made:
        return None
    target = rewritten(source, lambda term: made.get(term, term))
    return Rewritten.of(closure, source, target)


def states(outputs: Sequence[Term], recurring: bool = False) -> dict[Reduce, Scan]:
    """Return the contractions of running sums, or of recurrences, of outer products: Σ_d Q Σ_{y <= x} K V, where K
    alone of the two varies along d, and V along an axis that Q does not, and a gain along neither. What runs is as
    large as K and V together.
    """
    found = dict[Reduce, Scan]()
    for term in subterms(*outputs):
        if not isinstance(term, Reduce) or term.monoid != "sum" or term.where is not TRUE:
            continue
        leaves = factors(term.body)
        kind = RECURRENCE if recurring else "sum"
        scans = [t for t in leaves if isinstance(t, Scan) and t.monoid == kind and term.axis in t.axes]
        if len(scans) != 1 or len(leaves) < 2 or (size := scans[0].axis.size) is None or size < FEWEST * LENGTHS[-1]:
            continue
        parts = factors(scans[0].body)
        keys, values = ([t for t in parts if (term.axis in t.axes) is within] for within in (True, False))
        beside = {axis for t in (*keys, *(t for t in leaves if t is not scans[0])) for axis in t.axes}
        apart = {axis for t in values for axis in t.axes if axis not in beside}
        gains = {axis for t in scans[0].children[:-1] for axis in t.axes}
        if keys and apart and gains.isdisjoint({*apart, term.axis}):
            found[term] = scans[0]
    return found


def as_sums(outputs: Sequence[Term], laws: Laws, budget: Budget) -> tuple[tuple[Term, ...], Rewritten] | None:
    """Return outputs in which such contractions are sums over the lanes up to one, Σ_{y <= x} V Σ_d Q K, and the chain
    that leads there from outputs that say the same as those given, which come first; None where there are none, or
    where a law that it takes is left out.
    """
    closure, names = laws.closure(budget), axis_names(*outputs)
    given, made = dict[Term, Term](), dict[Term, Term]()
    for fold, scan in states(outputs).items():
        y = Axis(named_anew(f"{scan.axis.name}_seen", names), scan.axis.size, scan.axis.multiple)
        try:
            given[fold], made[fold] = Products(closure).as_sum(fold, scan, y)
        except NapkinError:
            continue
    return said_and_led(closure, outputs, given, made)


class Entered:
    """Instances of laws, entered one by one into a closure."""

    def __init__(self, closure: Closure) -> None:
        self.closure = closure

    def law(self, name: str, forward: bool = True, /, **values: Axis | Term) -> Term:
        """Enter an instance of a law, and return the side that it leads to; raises NotOfThisKind where the law is left
        out, or its conditions are not derived.
        """
        law = self.closure.laws.get(name)
        if law is None or not self.closure.instance(law, forward, values):
            raise NotOfThisKind
        return substitute(law.rhs if forward else law.lhs, values)


class Products(Entered):
    """Instances of laws that order products, and take sums of them apart."""

    def as_sum(self, fold: Reduce, scan: Scan, y: Axis) -> tuple[Term, Term]:
        """Return a contraction of what runs, that read as a prefix at a lane among those along y, and as a sum over y
        up to each lane.
        """
        d, x = fold.axis, Index(scan.axis)
        own = substituted(scan.body, {scan.axis.name: Index(y)})
        up_to = Index(y) <= x
        one = Const(1)
        found = self.law("sum-runs", a=own, x=y, j=x + one, n=one)
        self.law("where-after", a=own, b=ZERO, i=Index(y), j=x)
        # No lane lies beyond: said of a choice, not of a sum with 0
        assert isinstance(found, Map) and isinstance(further := found.args[1], Map)
        prefix = self.law("where-added", False, a=found.args[0], b=further.args[1], c=further.args[0])
        summed = Reduce("sum", y, masked_to_zero(up_to, own))
        given = rewritten(fold, lambda t: prefix if t is scan else t)
        # Σ_d Q Σ_y [y <= x] K V = Σ_d Σ_y [y <= x] K V Q
        ahead = [t for t in factors(fold.body) if t is not scan]
        beside = reduce(times, ahead)
        body = rewritten(fold.body, lambda t: summed if t is scan else t)
        self.ordered(body, [ahead, [summed]])
        self.law("distribute", False, a=beside, b=masked_to_zero(up_to, own), x=y)
        self.law("mul-commutes", a=beside, b=masked_to_zero(up_to, own))
        self.law("where-mul", False, a=own, b=beside, c=up_to)
        whole = times(own, beside)
        # = Σ_y [y <= x] V Σ_d Q K
        self.law("fubini-sum", a=masked_to_zero(up_to, whole), x=d, y=y)
        self.law("sum-where", a=whole, c=up_to, x=d)
        keys, values = ([t for t in factors(own) if (d in t.axes) is within] for within in (True, False))
        self.ordered(whole, [values, [*ahead, *keys]])
        value = self.law("distribute", a=reduce(times, values), b=reduce(times, [*ahead, *keys]), x=d)
        return given, Reduce("sum", y, masked_to_zero(up_to, value))

    def ordered(self, product: Term, groups: Sequence[Sequence[Term]]) -> None:
        """Enter that a product is one of products of the same factors, in groups."""
        one, other = self.in_a_row(product), self.in_a_row(reduce(times, [reduce(times, group) for group in groups]))
        order = factors(one)
        for place, factor in enumerate(factors(other)):
            for at in range(order.index(factor, place), place, -1):
                before = reduce(times, order[: at - 1]) if at > 1 else None
                self.swapped(before, order[at - 1], order[at])
                order[at - 1 : at + 1] = order[at], order[at - 1]

    def in_a_row(self, product: Term) -> Term:
        """Return a product with its factors one after another: ((a b) c) d."""
        if not isinstance(product, Map) or product.op != "mul":
            return product
        left, right = map(self.in_a_row, product.args)
        return self.joined(left, right)

    def joined(self, left: Term, right: Term) -> Term:
        """Return the product of two whose factors are in a row, in a row."""
        if not isinstance(right, Map) or right.op != "mul":
            return times(left, right)
        one, last = right.args
        self.law("mul-associates", False, a=left, b=one, d=last)
        return times(self.joined(left, one), last)

    def swapped(self, before: Term | None, one: Term, other: Term) -> None:
        """Enter that the last two factors of a product may change places: (p a) b = (p b) a."""
        self.law("mul-commutes", a=one, b=other)
        if before is not None:
            self.law("mul-associates", a=before, b=one, d=other)
            self.law("mul-associates", a=before, b=other, d=one)


def _compared(fold: Reduce) -> tuple[Axis, Axis] | None:
    """Return the axis of a fold and the one whose coordinate bounds it, where a mask says that; None of other folds."""
    x = fold.axis
    masks = [fold.where, *(t.args[0] for t in subterms(fold.body) if isinstance(t, Map) and t.op == "where")]
    for mask in masks:
        for part in subterms(mask):
            if isinstance(part, Map) and part.op in COMPARED and all(isinstance(a, Index) for a in part.args):
                axes = [a.axis for a in part.args if isinstance(a, Index)]
                others = [a for a in axes if a != x]
                if x in axes and len(others) == 1 and others[0] in fold.axes and x.size == others[0].size is not None:
                    return x, others[0]
    return None


def _linear(term: Term) -> bool:
    """Tell whether what varies along both axes is a product, a sum of products over another axis, or masked."""
    if isinstance(term, Reduce):
        return bool(term.monoid == "sum")
    return isinstance(term, Map) and term.op in ("mul", "neg", "where")


@dataclass(frozen=True, slots=True)
class _Parts:
    """A value as a sum over axes of a product of two: one that does not vary along x, one that does not along y; None
    stands for 1.
    """

    axes: tuple[Axis, ...]
    left: Term | None
    right: Term | None

    @property
    def product(self) -> Term:
        """What is summed."""
        if self.left is None or self.right is None:
            found = self.left if self.right is None else self.right
            assert found is not None
            return found
        return times(self.left, self.right)

    @property
    def value(self) -> Term:
        """The sum."""
        return reduce(lambda body, axis: Reduce("sum", axis, body), reversed(self.axes), self.product)


class _Sum(Entered):
    """One sum over x of lanes up to y, and the instances of laws that cut it, entered one by one.

    Each method enters equations and returns what its argument is equal to by them.
    """

    def __init__(self, closure: Closure, x: Axis, y: Axis, length: int, names: set[str]) -> None:
        super().__init__(closure)
        self.x, self.y = x, y
        assert x.size is not None
        count = -(-x.size // length)
        if count < FEWEST:
            raise NotOfThisKind
        self.part = Axis(named_anew(f"{x.name}_part", names), count)
        # The masks of a lane of x in its stretch, and of one of y: runs of the same length, the first from 0 on
        self.own, self.here = stretch_mask(self.part, x), stretch_mask(self.part, y)
        assert isinstance(self.own, Map) and isinstance(self.own.args[0], Map)
        first = self.own.args[0].args[0]
        assert isinstance(first, Map)
        self.first, self.run = first, first.args[1]

    def cut(self, fold: Reduce) -> Term:
        """Return a sum cut into stretches."""
        x, p, y = self.x, self.part, Index(self.y)
        body = fold.body
        if fold.where is not TRUE:
            body = masked_to_zero(fold.where, body)
            self.law("sum-masked", False, a=fold.body, c=fold.where, x=x)
        mask, value = self.masked(body)
        parts = self.parted(value)
        if parts.right is None or x not in parts.right.axes:
            raise NotOfThisKind
        # Σ_x [d] a = Σ_p Σ_x [own] [d] a = Σ_p Σ_x ([whole] [own] a + [here] [own] [d] a)
        masked = masked_to_zero(mask, value)
        self.law("split-sum", a=masked, c=self.own, x=x, p=p)
        assert isinstance(mask, Map)
        self.law(COMPARED[mask.op], a=value, i=Index(x), j=y, n=self.run, s=self.first)
        whole = Map("le", (Map("add", (self.first, self.run)), y))
        ahead = masked_to_zero(whole, masked_to_zero(self.own, value))
        within = masked_to_zero(self.here, masked_to_zero(self.own, masked))
        self.law("sum-add", a=ahead, b=within, x=x)
        ahead, within = Reduce("sum", x, ahead), Reduce("sum", x, within)
        self.law("sum-add", a=ahead, b=within, x=p)
        return Map("add", (self.before(whole, value, parts), self.inside(mask, value)))

    def inside(self, mask: Term, value: Term) -> Term:
        """Return Σ_p Σ_x [here] [own] [d] a as the sum of what is in the lane's own stretch."""
        x, p = self.x, self.part
        masked = masked_to_zero(self.own, masked_to_zero(mask, value))
        self.law("sum-where", a=masked, c=self.here, x=x)
        self.law("where-and", a=value, b=ZERO, c=self.own, e=mask)
        body = self.moved(Map("and", (self.own, mask)), value)
        return self.law("sum-masked", a=Reduce("sum", x, body), c=self.here, x=p)

    def before(self, whole: Term, value: Term, parts: _Parts) -> Term:
        """Return Σ_p Σ_x [whole] [own] a as the product with the prefix over the stretches before."""
        x, p, axes = self.x, self.part, parts.axes
        self.law("sum-where", a=masked_to_zero(self.own, value), c=whole, x=x)
        # Σ_x [own] Σ_l Y X = Σ_l Y Σ_x [own] X
        self.inwards(self.own, parts.value)
        assert parts.right is not None
        held = self.moved_right(self.own, parts)
        body = held.product
        self.exchanged(x, axes, body)
        state = Reduce("sum", x, masked_to_zero(self.own, parts.right))
        inner = self.out_of(x, held)
        # Σ_p [whole] Σ_l Y S = Σ_l Y Σ_p [whole] S, and that sum is a prefix
        outer = _Parts(axes, parts.left, state)
        assert inner == outer.product
        self.inwards(whole, outer.value)
        held = self.moved_right(whole, outer)
        self.exchanged(p, axes, held.product)
        self.out_of(p, held)
        last = self.prefix(state)
        # and back: Σ_l Y Σ_p [last] P = Σ_p Σ_l Y P under the mask
        prefix = _Parts(axes, parts.left, Scan("sum", p, state))
        self.inwards(last, prefix.value)
        held = self.moved_right(last, prefix)
        self.exchanged(p, axes, held.product)
        self.out_of(p, held)
        return self.law("sum-masked", a=prefix.value, c=last, x=p)

    def prefix(self, state: Term) -> Term:
        """Enter that Σ_p [whole] S is Σ_p [last] scan(S), as no lane of y lies beyond the stretches; return the mask of
        the last.
        """
        p, y, n = self.part, Index(self.y), self.run
        found = self.law("sum-runs", a=state, x=p, j=y, n=n)
        assert isinstance(found, Map)
        last, further = found.args
        total = Reduce("sum", p, state)
        assert isinstance(further, Map) and further.args[1] == total and isinstance(last, Reduce)
        self.law("mul-one", False, a=total)
        self.law("in-stretch", False, c=self.here, x=self.y, p=p)
        self.law("in-runs", a=total, x=p, j=y, n=n)
        self.law("add-zero", a=last)
        assert isinstance(last.body, Map)
        mask: Term = last.body.args[0]
        return mask

    # -- what is summed as a product of two ----------------------------------------------------------------------------

    def masked(self, body: Term) -> tuple[Term, Term]:
        """Return the mask that compares the coordinates, and the value that is masked to zero by it."""
        x = self.x
        if not isinstance(body, Map):
            if isinstance(body, Reduce) and body.monoid == "sum" and body.where is TRUE:
                mask, value = self.masked(body.body)
                self.law("sum-where", a=value, c=mask, x=body.axis)
                return mask, Reduce("sum", body.axis, value)
            raise NotOfThisKind
        if body.op == "where":
            mask, value, other = body.args
            if value == ZERO:
                self.law("where-turned", a=value, b=other, c=mask)
                mask, value, other = Map("not", (mask,)), other, value
            if other != ZERO:
                raise NotOfThisKind
            mask = self.upright(mask, value)
            if isinstance(mask, Map) and mask.op == "and":
                first, rest = mask.args
                self.law("where-and", False, a=value, b=ZERO, c=first, e=rest)
                mask, value = first, masked_to_zero(rest, value)
            if self.bounds(mask):
                return mask, value
            raise NotOfThisKind
        if body.op == "mul":
            left, right = body.args
            for one, other in ((left, right), (right, left)):
                if {x, self.y} <= {*one.axes}:
                    mask, value = self.masked(one)
                    if one is right:
                        self.law("mul-commutes", a=left, b=right)
                    self.law("where-mul", False, a=value, b=other, c=mask)
                    return mask, times(value, other)
        raise NotOfThisKind

    def upright(self, mask: Term, value: Term) -> Term:
        """Return a comparison for one that is turned round."""
        if isinstance(mask, Map) and mask.op == "not":
            inner = mask.args[0]
            if isinstance(inner, Map) and inner.op in COMPARED and inner.args[0].kind == "int":
                i, j = inner.args
                self.law(f"where-not-{inner.op}", a=value, b=ZERO, i=i, j=j)
                return Map("lt" if inner.op == "le" else "le", (j, i))
        return mask

    def bounds(self, mask: Term) -> bool:
        """Tell whether a mask bounds x by y."""
        if not isinstance(mask, Map) or mask.op not in COMPARED:
            return False
        return mask.args[0] is Index(self.x) and mask.args[1] is Index(self.y)

    def parted(self, value: Term) -> _Parts:
        """Return a value as a sum of products of what does not vary along x and what does not along y."""
        axes = {*value.axes}
        if self.x not in axes:
            return _Parts((), value, None)
        if self.y not in axes:
            return _Parts((), None, value)
        if isinstance(value, Reduce) and value.monoid == "sum" and value.where is TRUE:
            parts = self.parted(value.body)
            return _Parts((value.axis, *parts.axes), parts.left, parts.right)
        if not isinstance(value, Map):
            raise NotOfThisKind
        if value.op == "mul":
            return self.together(*(self.parted(arg) for arg in value.args))
        if value.op == "neg":
            return self.negated(self.parted(value.args[0]))
        if value.op == "where" and value.args[2] == ZERO:
            mask, inner, _ = value.args
            parts = self.parted(inner)
            self.inwards(mask, parts.value)
            if self.x not in mask.axes and parts.left is not None and parts.right is not None:
                self.law("where-mul", a=parts.left, b=parts.right, c=mask)
                return _Parts(parts.axes, masked_to_zero(mask, parts.left), parts.right)
            if self.y not in mask.axes and parts.right is not None:
                return self.moved_right(mask, parts)
        raise NotOfThisKind

    def together(self, one: _Parts, other: _Parts) -> _Parts:
        """Return the product of two values that are taken apart."""
        if {a.name for a in one.axes} & {a.name for t in (other.product,) for a in (*t.axes, *other.axes)} or (
            {a.name for a in other.axes} & {a.name for a in one.product.axes}
        ):
            raise NotOfThisKind
        # (Σ_l a) (Σ_k b) = Σ_l Σ_k a b
        value, axes = times(one.value, other.value), list[Axis]()
        for place, parts in ((0, one), (1, other)):
            rest = parts.value
            for axis in parts.axes:
                assert isinstance(rest, Reduce) and isinstance(value, Map)
                beside = value.args[1 - place]
                if place == 0:
                    self.law("mul-commutes", a=rest, b=beside)
                self.law("distribute", False, a=beside, b=rest.body, x=axis)
                if place == 0:
                    self.law("mul-commutes", a=beside, b=rest.body)
                rest = rest.body
                value = times(rest, beside) if place == 0 else times(beside, rest)
                axes.append(axis)
        return self.regrouped(tuple(axes), one, other)

    def regrouped(self, axes: tuple[Axis, ...], one: _Parts, other: _Parts) -> _Parts:
        """Return (a b) (c d) as (a c) (b d), where any of them may be 1."""
        a, b, c, d = one.left, one.right, other.left, other.right
        left = times(a, c) if a is not None and c is not None else a if c is None else c
        right = times(b, d) if b is not None and d is not None else b if d is None else d
        first, second = one.product, other.product
        if a is not None and b is not None:  # (a b) e = a (b e)
            self.law("mul-associates", a=a, b=b, d=second)
        if b is not None and c is not None:
            rest = second if d is not None else c
            if d is not None:  # b (c d) = (b c) d
                self.law("mul-associates", False, a=b, b=c, d=d)
            self.law("mul-commutes", a=b, b=c)
            if d is not None:  # (c b) d = c (b d)
                self.law("mul-associates", a=c, b=b, d=d)
            if a is not None:  # a (c (b d)) = (a c) (b d)
                assert right is not None
                self.law("mul-associates", False, a=a, b=c, d=right)
            assert rest is not None
        elif a is not None and b is None and c is not None and d is not None:
            self.law("mul-associates", False, a=a, b=c, d=d)
        assert first is not None
        return _Parts(axes, left, right)

    def negated(self, parts: _Parts) -> _Parts:
        """Return minus a value that is taken apart."""
        rest = parts.value
        for axis in parts.axes:
            assert isinstance(rest, Reduce)
            self.law("sum-neg", False, a=rest.body, x=axis)
            rest = rest.body
        if parts.left is None or parts.right is None:
            raise NotOfThisKind
        self.law("neg-mul", False, a=parts.left, b=parts.right)
        return _Parts(parts.axes, Map("neg", (parts.left,)), parts.right)

    # -- masks and sums exchanged --------------------------------------------------------------------------------------

    def inwards(self, mask: Term, value: Term) -> None:
        """Enter that a mask of a sum over axes is one of what is summed."""
        while isinstance(value, Reduce) and value.monoid == "sum" and value.where is TRUE:
            if value.axis in mask.axes:
                raise NotOfThisKind
            self.law("sum-where", False, a=value.body, c=mask, x=value.axis)
            value = value.body

    def moved(self, mask: Term, value: Term) -> Term:
        """Return a masked value with the mask at that factor which varies along both axes, for the matrix unit to take
        the product.
        """
        if isinstance(value, Map) and value.op == "mul":
            left, right = value.args
            for one, other in ((left, right), (right, left)):
                if {self.x, self.y} <= {*one.axes} and self.y not in other.axes:
                    if one is right:
                        self.law("mul-commutes", a=left, b=right)
                    self.law("where-mul", a=one, b=other, c=mask)
                    return times(self.moved(mask, one), other)
        return masked_to_zero(mask, value)

    def moved_right(self, mask: Term, parts: _Parts) -> _Parts:
        """Return parts with a mask of their product at the right one."""
        assert parts.right is not None
        if parts.left is not None:
            self.law("mul-commutes", a=parts.left, b=parts.right)
            self.law("where-mul", a=parts.right, b=parts.left, c=mask)
            self.law("mul-commutes", a=masked_to_zero(mask, parts.right), b=parts.left)
        return _Parts(parts.axes, parts.left, masked_to_zero(mask, parts.right))

    def exchanged(self, outer: Axis, axes: Sequence[Axis], body: Term) -> None:
        """Enter that a sum over an axis of sums over others is these sums of that."""
        for place in range(len(axes)):
            rest = reduce(lambda term, axis: Reduce("sum", axis, term), reversed(axes[place + 1 :]), body)
            self.law("fubini-sum", a=rest, x=outer, y=axes[place])

    def out_of(self, axis: Axis, parts: _Parts) -> Term:
        """Return the sum over an axis of a product whose left factor does not vary along it, as that times the sum."""
        assert parts.right is not None
        if parts.left is None:
            return Reduce("sum", axis, parts.right)
        return self.law("distribute", a=parts.left, b=parts.right, x=axis)


def masked_to_zero(mask: Term, value: Term) -> Term:
    return Map("where", (mask, value, ZERO))


def times(left: Term, right: Term) -> Term:
    return Map("mul", (left, right))


__all__ = ["LENGTHS", "Entered", "Products", "as_sums", "cut", "factors", "masked_to_zero", "states", "sums", "times"]
