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
from napkin_eq.lang.term import Const, Index, Map, Reduce, Scan, Term, Tuple, axis_names, rewritten, subterms
from napkin_eq.laws.axis_split import stretch_mask
from napkin_eq.laws.inference import substitute
from napkin_eq.search.job import Laws, Rewritten

ZERO, ONE, TRUE = Const(0.0), Const(1.0), Const(True)
LENGTHS = (256, 128)  # lanes of a stretch that are tried, each a number of blocks of a contraction
FEWEST = 4  # stretches that are worth the kernels that they need
COMPARED = {"le": "run-at-most", "lt": "run-below"}
LAWS = frozenset((
    *COMPARED.values(), "where-turned", "where-not-lt", "where-not-le", "sum-where", "sum-masked", "sum-runs",
    "in-stretch", "in-runs", "split-sum", "sum-add", "where-mul", "where-and", "mul-commutes", "mul-associates",
    "mul-one", "add-zero", "distribute", "fubini-sum", "neg-mul", "sum-neg",
))  # fmt: skip


class _No(Exception):
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
        except _No:
            continue
    if not made:
        return None
    target = rewritten(source, lambda term: made.get(term, term))
    return Rewritten.of(closure, source, target)


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
        return _mul(self.left, self.right)

    @property
    def value(self) -> Term:
        """The sum."""
        return reduce(lambda body, axis: Reduce("sum", axis, body), reversed(self.axes), self.product)


class _Sum:
    """One sum over x of lanes up to y, and the instances of laws that cut it, entered one by one.

    Each method enters equations and returns what its argument is equal to by them.
    """

    def __init__(self, closure: Closure, x: Axis, y: Axis, length: int, names: set[str]) -> None:
        self.closure, self.x, self.y = closure, x, y
        assert x.size is not None
        count = -(-x.size // length)
        if count < FEWEST:
            raise _No
        self.part = Axis(named_anew(f"{x.name}_part", names), count)
        # The masks of a lane of x in its stretch, and of one of y: runs of the same length, the first from 0 on
        self.own, self.here = stretch_mask(self.part, x), stretch_mask(self.part, y)
        assert isinstance(self.own, Map) and isinstance(self.own.args[0], Map)
        first = self.own.args[0].args[0]
        assert isinstance(first, Map)
        self.first, self.run = first, first.args[1]

    def law(self, name: str, forward: bool = True, **values: Axis | Term) -> Term:
        """Enter an instance of a law, and return the side that it leads to; raises _No where its conditions are not
        derived.
        """
        law = self.closure.laws[name]
        if not self.closure.instance(law, forward, values):
            raise _No
        return substitute(law.rhs if forward else law.lhs, values)

    def cut(self, fold: Reduce) -> Term:
        """Return a sum cut into stretches."""
        x, p, y = self.x, self.part, Index(self.y)
        body = fold.body
        if fold.where is not TRUE:
            body = _where(fold.where, body)
            self.law("sum-masked", forward=False, a=fold.body, c=fold.where, x=x)
        mask, value = self.masked(body)
        parts = self.parted(value)
        if parts.right is None or x not in parts.right.axes:
            raise _No
        # Σ_x [d] a = Σ_p Σ_x [own] [d] a = Σ_p Σ_x ([whole] [own] a + [here] [own] [d] a)
        masked = _where(mask, value)
        self.law("split-sum", a=masked, c=self.own, x=x, p=p)
        assert isinstance(mask, Map)
        self.law(COMPARED[mask.op], a=value, i=Index(x), j=y, n=self.run, s=self.first)
        whole = Map("le", (Map("add", (self.first, self.run)), y))
        ahead, within = _where(whole, _where(self.own, value)), _where(self.here, _where(self.own, masked))
        self.law("sum-add", a=ahead, b=within, x=x)
        ahead, within = Reduce("sum", x, ahead), Reduce("sum", x, within)
        self.law("sum-add", a=ahead, b=within, x=p)
        return Map("add", (self.before(whole, value, parts), self.inside(mask, value)))

    def inside(self, mask: Term, value: Term) -> Term:
        """Return Σ_p Σ_x [here] [own] [d] a as the sum of what is in the lane's own stretch."""
        x, p = self.x, self.part
        masked = _where(self.own, _where(mask, value))
        self.law("sum-where", a=masked, c=self.here, x=x)
        self.law("where-and", a=value, b=ZERO, c=self.own, e=mask)
        body = self.moved(Map("and", (self.own, mask)), value)
        return self.law("sum-masked", a=Reduce("sum", x, body), c=self.here, x=p)

    def before(self, whole: Term, value: Term, parts: _Parts) -> Term:
        """Return Σ_p Σ_x [whole] [own] a as the product with the prefix over the stretches before."""
        x, p, axes = self.x, self.part, parts.axes
        self.law("sum-where", a=_where(self.own, value), c=whole, x=x)
        # Σ_x [own] Σ_l Y X = Σ_l Y Σ_x [own] X
        self.inwards(self.own, parts.value)
        assert parts.right is not None
        held = self.moved_right(self.own, parts)
        body = held.product
        self.exchanged(x, axes, body)
        state = Reduce("sum", x, _where(self.own, parts.right))
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
        self.law("mul-one", forward=False, a=total)
        self.law("in-stretch", forward=False, c=self.here, x=self.y, p=p)
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
            raise _No
        if body.op == "where":
            mask, value, other = body.args
            if value == ZERO:
                self.law("where-turned", a=value, b=other, c=mask)
                mask, value, other = Map("not", (mask,)), other, value
            if other != ZERO:
                raise _No
            mask = self.upright(mask, value)
            if isinstance(mask, Map) and mask.op == "and":
                first, rest = mask.args
                self.law("where-and", forward=False, a=value, b=ZERO, c=first, e=rest)
                mask, value = first, _where(rest, value)
            if self.bounds(mask):
                return mask, value
            raise _No
        if body.op == "mul":
            left, right = body.args
            for one, other in ((left, right), (right, left)):
                if {x, self.y} <= {*one.axes}:
                    mask, value = self.masked(one)
                    if one is right:
                        self.law("mul-commutes", a=left, b=right)
                    self.law("where-mul", forward=False, a=value, b=other, c=mask)
                    return mask, _mul(value, other)
        raise _No

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
            raise _No
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
                return _Parts(parts.axes, _where(mask, parts.left), parts.right)
            if self.y not in mask.axes and parts.right is not None:
                return self.moved_right(mask, parts)
        raise _No

    def together(self, one: _Parts, other: _Parts) -> _Parts:
        """Return the product of two values that are taken apart."""
        if {a.name for a in one.axes} & {a.name for t in (other.product,) for a in (*t.axes, *other.axes)} or (
            {a.name for a in other.axes} & {a.name for a in one.product.axes}
        ):
            raise _No
        # (Σ_l a) (Σ_k b) = Σ_l Σ_k a b
        value, axes = _mul(one.value, other.value), list[Axis]()
        for place, parts in ((0, one), (1, other)):
            rest = parts.value
            for axis in parts.axes:
                assert isinstance(rest, Reduce) and isinstance(value, Map)
                beside = value.args[1 - place]
                if place == 0:
                    self.law("mul-commutes", a=rest, b=beside)
                self.law("distribute", forward=False, a=beside, b=rest.body, x=axis)
                if place == 0:
                    self.law("mul-commutes", a=beside, b=rest.body)
                rest = rest.body
                value = _mul(rest, beside) if place == 0 else _mul(beside, rest)
                axes.append(axis)
        return self.regrouped(tuple(axes), one, other)

    def regrouped(self, axes: tuple[Axis, ...], one: _Parts, other: _Parts) -> _Parts:
        """Return (a b) (c d) as (a c) (b d), where any of them may be 1."""
        a, b, c, d = one.left, one.right, other.left, other.right
        left = _mul(a, c) if a is not None and c is not None else a if c is None else c
        right = _mul(b, d) if b is not None and d is not None else b if d is None else d
        first, second = one.product, other.product
        if a is not None and b is not None:  # (a b) e = a (b e)
            self.law("mul-associates", a=a, b=b, d=second)
        if b is not None and c is not None:
            rest = second if d is not None else c
            if d is not None:  # b (c d) = (b c) d
                self.law("mul-associates", forward=False, a=b, b=c, d=d)
            self.law("mul-commutes", a=b, b=c)
            if d is not None:  # (c b) d = c (b d)
                self.law("mul-associates", a=c, b=b, d=d)
            if a is not None:  # a (c (b d)) = (a c) (b d)
                assert right is not None
                self.law("mul-associates", forward=False, a=a, b=c, d=right)
            assert rest is not None
        elif a is not None and b is None and c is not None and d is not None:
            self.law("mul-associates", forward=False, a=a, b=c, d=d)
        assert first is not None
        return _Parts(axes, left, right)

    def negated(self, parts: _Parts) -> _Parts:
        """Return minus a value that is taken apart."""
        rest = parts.value
        for axis in parts.axes:
            assert isinstance(rest, Reduce)
            self.law("sum-neg", forward=False, a=rest.body, x=axis)
            rest = rest.body
        if parts.left is None or parts.right is None:
            raise _No
        self.law("neg-mul", forward=False, a=parts.left, b=parts.right)
        return _Parts(parts.axes, Map("neg", (parts.left,)), parts.right)

    # -- masks and sums exchanged --------------------------------------------------------------------------------------

    def inwards(self, mask: Term, value: Term) -> None:
        """Enter that a mask of a sum over axes is one of what is summed."""
        while isinstance(value, Reduce) and value.monoid == "sum" and value.where is TRUE:
            if value.axis in mask.axes:
                raise _No
            self.law("sum-where", forward=False, a=value.body, c=mask, x=value.axis)
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
                    return _mul(self.moved(mask, one), other)
        return _where(mask, value)

    def moved_right(self, mask: Term, parts: _Parts) -> _Parts:
        """Return parts with a mask of their product at the right one."""
        assert parts.right is not None
        if parts.left is not None:
            self.law("mul-commutes", a=parts.left, b=parts.right)
            self.law("where-mul", a=parts.right, b=parts.left, c=mask)
            self.law("mul-commutes", a=_where(mask, parts.right), b=parts.left)
        return _Parts(parts.axes, parts.left, _where(mask, parts.right))

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


def _where(mask: Term, value: Term) -> Term:
    return Map("where", (mask, value, ZERO))


def _mul(left: Term, right: Term) -> Term:
    return Map("mul", (left, right))


__all__ = ["LENGTHS", "cut", "sums"]
