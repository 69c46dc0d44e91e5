"""Growth of error by ordinary error analysis: bounds of both sides written as terms, and the one proved to be at most g
times the other.

The standard model: an operator's result is off by a factor 1 + δ, |δ| <= K u; an input by 1 + δ, |δ| <= u. To first
order in u, and in units of u, with |t| the term in which every number is replaced by its size and every difference by a
sum (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., ch. 3, whose γ_n is n u to first order):

    E(a) = |a|                          of an input; 0 of a constant, a size, a choice by a mask
    E(a + b) = E(a) + E(b) + K (|a| + |b|)
    E(a b) = |a| E(b) + |b| E(a) + K |a| |b|
    E(1/a) = E(a) / a^2 + K / |a|       E(sqrt a) = E(a) / (2 sqrt a) + K sqrt a
    E(e^a) = e^a (E(a) + K |a| + K)     E(log a) = E(a) / a + K |log a| + K
    E(sum of a) = sum of E(a) + D sum of |a|                   D >= LEAST: roundoffs on the way of one summand, an
                                                               unknown of each axis
    E(max of a) = max of E(a)
    E(product of a) = |product of a| (sum of E(a) / |a| + K (lanes - 1))

That E(new side) <= g E(old side) is a judgment about terms, for all sizes and values, and goes to the provers of laws.
Arguments of inverses, roots and logarithms, and factors, keep away from 0, where a first order says nothing; a stretch
of an axis, and the axis of stretches, take no more additions in a row than the whole.

- *References.* Where the new side takes exponentials relative to a maximum, that maximum is replaced by any number m,
  and the law is proved with it: the side does not depend on m, so an error of m, the same one wherever m stands, has no
  effect of first order, E(m) = 0. What is left of the maximum is that no lane exceeds it. Both sides are sums of equal
  lanes, so what is compared, lane by lane, is the errors relative to them: E(ab) / |ab| = E(a) / |a| + E(b) / |b| + K,
  and so on. A lane that is masked is 0 on both sides, with no error. The growth holds where exponents, those of the
  reference included, are at most LARGEST, the range of float32.
- *Streams.* If the body changes by a factor r and the update multiplies the accumulator, each block costs the lanes
  before it STEP |a| more: that is proved as a judgment about one more block. A block takes an addition in a row at
  least, K of the D roundoffs.

Underflow is outside of this model, as is usual; growth.py samples it. Streams that add to their accumulator what is no
multiple of it have no bound here: sizes that know no cancellation add up with the number of blocks, and growth.py
samples them.
"""

from __future__ import annotations

from dataclasses import replace

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.term import Acc, Const, Map, Online, Reduce, Size, Term, rewritten, subterms
from napkin_eq.laws.claim import NotUnderstood, plain
from napkin_eq.laws.law import ABSENT, TRUE, Inference, Judgment, Law, Var
from napkin_eq.prove.float_class import Finding, assessor
from napkin_eq.prove.prove import opinion

GROWTHS, IN_RANGE = (1.0, 2.0, 3.0, 5.0), tuple(map(float, range(8, 65, 4)))
K, LEAST, STEP, LARGEST, TIMEOUT_S = Const(4.0), Const(32.0), Const(5.0), Const(88.0), 10.0
ZERO, ONE = Const(0.0), Const(1.0)


@assessor("analysis")
def analysis(law: Law) -> Finding:
    """Prove a growth of error for a law, the least of a few that is provable; "unknown" where none is."""
    sides = plain(law.lhs), plain(law.rhs)
    growth, needs = 1.0, ""
    for old, new in (sides, sides[::-1])[: 2 if law.both else 1]:
        if old is new:
            continue
        asked = Growth(law, old, new)
        found = next((g for g in asked.offered if asked.proved(g)), None)
        if found is None:
            return Finding("unknown", f"no growth up to {asked.offered[-1]:g} is proved")
        growth, needs = max(growth, found), needs or asked.needs
    return Finding("yes", "error analysis, to first order", growth, needs)


class Growth:
    """The question whether the bound of one side of a law is at most g times that of the other, and what it takes for
    granted.
    """

    def __init__(self, law: Law, old: Term, new: Term) -> None:
        self.law, self.bounds, self.premises, self.needs = law, Bounds(law), list(law.conditions), ""
        references = _references(old, new)
        self.offered = IN_RANGE if references else GROWTHS
        if references:
            self.before, self.after = self.lane_by_lane(*self.referred(old, new, references))
        elif all(isinstance(side, Reduce) and side.monoid == "prod" for side in (old, new)):
            # The sides are equal, and so are their sizes: what is compared is the errors relative to them.
            self.before, self.after = self.bounds.relative(old), self.bounds.relative(new)
        else:
            self.before, self.after = self.bounds.error(old), self.bounds.error(new)

    def proved(self, growth: float) -> bool:
        return _holds(self.law, Judgment("le", (self.after, self.before * growth)), self.premises, self.bounds)

    def referred(self, old: Term, new: Term, references: list[Term]) -> tuple[Term, Term]:
        """Return both sides with variables for references, if the law holds for any, and without the masks of
        exponents.
        """
        table: dict[Term, Term] = {top: Var(f"reference {number}") for number, top in enumerate(references, 1)}
        new = rewritten(new, lambda t: table.get(t, t))
        given = [j for top, m in table.items() for j in (Judgment("free", (top.axis, m)), Judgment("finite", (m,)))]
        if not self.equal(old, new, [*self.law.conditions, *given]):
            raise NotUnderstood(
                "it is not proved for any reference of its exponentials, so the error of a reference counts"
            )
        self.bounds.exact |= set(table.values())
        self.premises += [*given, *(Judgment("le", (_kept(top.body), m)) for top, m in table.items())]
        old, new = rewritten(old, _unmasked), rewritten(new, _unmasked)
        if ABSENT in subterms(old, new):
            raise NotUnderstood("no error analysis is stated for masks to absence outside of exponents")
        self.premises += [
            Judgment("le", (t.args[0], LARGEST)) for t in subterms(old, new) if isinstance(t, Map) and t.op == "exp"
        ]
        self.needs = f"exponents up to {LARGEST.value:g}"
        return old, new

    def lane_by_lane(self, old: Term, new: Term) -> tuple[Term, Term]:
        """Return the errors of the lanes of both sides relative to them, if the lanes are equal."""
        (lane, before), (other, after) = self.bounds.lanes(old), self.bounds.lanes(new)
        numbers = [Judgment("finite", (v,)) for v in subterms(lane, other) if isinstance(v, Var) and v.kind == "real"]
        if not self.equal(lane, other, [*self.premises, *numbers]):
            raise NotUnderstood("its sides are not proved to be sums of equal lanes")
        return before, after

    def equal(self, left: Term, right: Term, premises: list[Judgment]) -> bool:
        return (
            opinion(replace(self.law, lhs=left, rhs=right, conditions=tuple(dict.fromkeys(premises))), TIMEOUT_S).status
            == "proved"
        )


def _references(old: Term, new: Term) -> list[Term]:
    """Return the maxima that exponentials of the new side are taken relative to."""
    exponents = [t for t in subterms(new) if isinstance(t, Map) and t.op == "exp"]
    return [t for t in subterms(*exponents) if isinstance(t, Reduce) and t.monoid == "max" and t not in subterms(old)]


def _kept(t: Term) -> Term:
    """Return what a mask leaves of a value that is else absent."""
    return t.args[1] if isinstance(t, Map) and t.op == "where" and t.args[2] is ABSENT else t


def _unmasked(t: Term) -> Term:
    return rewritten(t, _kept) if isinstance(t, Map) and t.op == "exp" else t


def _holds(law: Law, judgment: Judgment, premises: list[Judgment], bounds: Bounds) -> bool:
    said = subterms(*(arg for arg in judgment.args if isinstance(arg, Term)))
    numbers = [v for v in said if isinstance(v, Var) and v.kind == "real" and v not in bounds.depths.values()]
    given = [*premises, *(Judgment("finite", (v,)) for v in numbers), *bounds.away]
    given += [Judgment("le", (ONE, depth)) for depth in bounds.depths.values()]
    for stretch in (j.args for j in law.conditions if j.name == "stretch"):
        if stretch[0] in bounds.depths and stretch[1] in bounds.depths:
            given.append(Judgment("le", (bounds.depths[stretch[0]], bounds.depths[stretch[1]])))
    claim = Inference(f"growth of {law.name}", law.family, "", judgment, tuple(dict.fromkeys(given)), "", law.place)
    return opinion(claim, TIMEOUT_S).status == "proved"


class Bounds:
    """E and |.| of terms, the depths of the sums in them, what must be kept away from 0, and what is exact."""

    def __init__(self, law: Law) -> None:
        self.law = law
        self.depths: dict[Axis, Var] = {}
        self.away: list[Judgment] = []
        self.exact: set[Term] = set()
        self.resident: tuple[Term, Term] | None = None

    def size(self, t: Term) -> Term:
        """Return a term that bounds the size of another, without cancellation."""
        if isinstance(t, Const):
            return Const(abs(t.value))
        if isinstance(t, Acc) and self.resident:
            return self.resident[0]
        if isinstance(t, Reduce):
            return Reduce(t.monoid, t.axis, self.size(t.body), t.where)
        if isinstance(t, Map) and t.op in ("add", "mul"):
            return Map(t.op, tuple(map(self.size, t.args)))
        if isinstance(t, Map) and t.op == "where":
            return Map("where", (t.args[0], self.size(t.args[1]), self.size(t.args[2])))
        if isinstance(t, Map) and t.op in ("neg", "abs"):
            return self.size(t.args[0])
        return t if isinstance(t, Map) and t.op in ("exp", "sqrt", "real") else Map("abs", (t,))

    def error(self, t: Term) -> Term:
        """Return a term that bounds, in units of a roundoff, how far off another is."""
        if isinstance(t, (Const, Size)) or t.kind != "real" or t in self.exact:
            return ZERO
        if isinstance(t, Acc) and self.resident:
            return self.resident[1]
        if isinstance(t, Var):
            return self.size(t)
        if isinstance(t, Reduce):
            return self._reduced(t)
        if isinstance(t, Map):
            return self._applied(t)
        if isinstance(t, Online):
            return self._carried(t)
        raise NotUnderstood(f"no error analysis is stated for {type(t).__name__}")

    def _reduced(self, t: Reduce) -> Term:
        lanes = self.error(t.body)
        if t.monoid == "sum":
            return _sum(Reduce("sum", t.axis, lanes, t.where), _product(LEAST * self.depth(t.axis), self.size(t)))
        if t.monoid == "max":
            return Reduce("max", t.axis, lanes, t.where)
        return _product(self.size(t), self.relative(t))

    def depth(self, axis: Axis) -> Var:
        return self.depths.setdefault(axis, Var(f"depth of {axis}", "number"))

    def relative(self, t: Term) -> Term:
        """Return a term that bounds, in units of a roundoff, how far off another is, as a part of its size."""
        if isinstance(t, Var):
            self.away.append(Judgment("nonzero", (t,)))
            return ONE
        if isinstance(t, Map) and t.op == "mul":
            return _sum(*map(self.relative, t.args), K)
        if isinstance(t, Map) and t.op == "exp":
            return _sum(self.error(t.args[0]), _product(K, self.size(t.args[0])), K)
        if isinstance(t, Reduce) and t.monoid == "prod" and t.where is TRUE:
            return _sum(Reduce("sum", t.axis, self.relative(t.body)), K * (Map("real", (Size(t.axis),)) - 1.0))
        raise NotUnderstood("no relative error is stated for what is no variable, product or exponential")

    def lanes(self, t: Term) -> tuple[Term, Term]:
        """Return a lane of a sum, times the factors before it, and a term that bounds how far it is off, as a part of
        its size.
        """
        if isinstance(t, Reduce) and t.monoid == "sum" and t.where is TRUE:
            return t.body, _sum(self.relative(t.body), LEAST * self.depth(t.axis))
        if isinstance(t, Map) and t.op == "mul":
            lane, error = self.lanes(t.args[1])
            return t.args[0] * lane, _sum(self.relative(t.args[0]), error, K)
        raise NotUnderstood("no error analysis is stated for exponentials relative to a maximum outside of one sum")

    def _carried(self, t: Online) -> Term:
        """Return the bound of a carried sum whose body changes by a factor, after proving what one more block adds to
        it.
        """
        ratio = next(
            (j.args[2] for j in self.law.conditions if j.name == "scales" and j.args[:2] == (t.axis, t.body)), None
        )
        if not isinstance(ratio, Var) or not isinstance(t.body, Var) or t.where is not TRUE:
            raise NotUnderstood(
                "no error analysis is stated for a stream whose accumulator does not change by a factor"
            )
        blocks, depth = Var("blocks so far", "number"), self.depth(t.axis)

        def bound(size: Term, count: Term) -> Term:
            total = Reduce("sum", t.axis, size)
            return total + (LEAST * depth + STEP * count) * total

        self.resident = Reduce("sum", t.axis, self.size(t.body)), bound(self.size(t.body), blocks)
        more = Judgment("le", (self.error(t.update), bound(self.size(t.body * ratio), blocks + 1.0)))
        self.resident = None
        if not _holds(self.law, more, [*self.law.conditions, Judgment("le", (ZERO, blocks))], self):
            raise NotUnderstood(f"it is not proved that a block adds no more than {STEP.value:g} roundoffs")
        return bound(self.size(t.body), Const(LEAST.value / K.value) * depth)

    def _applied(self, t: Map) -> Term:
        errors = [self.error(a) for a in t.args]
        if t.op == "real":
            return ZERO
        if t.op == "where":
            return Map("where", (t.args[0], *errors[1:]))
        sizes = [self.size(a) for a in t.args]
        if t.op in ("neg", "abs"):
            return errors[0]
        if t.op == "add":
            return _sum(*errors, _product(K, _sum(*sizes)))
        if t.op == "mul":
            return _sum(_product(sizes[0], errors[1]), _product(sizes[1], errors[0]), _product(K, _product(*sizes)))
        if t.op == "exp":
            return _product(t, _sum(errors[0], _product(K, sizes[0]), K))
        return self._singular(t, errors[0])

    def _singular(self, t: Map, error: Term) -> Term:
        size = self.size(t)
        if t.op == "inv":
            self.away.append(Judgment("nonzero", t.args))
            return _sum(_product(_product(size, size), error), _product(K, size))
        if t.op in ("log", "sqrt"):
            self.away.append(Judgment("pos", t.args))
            if t.op == "log":
                return _sum(_product(Map("inv", t.args), error), _product(K, size), K)
            return _sum(_product(Const(0.5) * Map("inv", (t,)), error), _product(K, size))
        raise NotUnderstood(f"no error analysis is stated for {t.op}")


def _sum(*terms: Term) -> Term:
    total: Term = ZERO
    for term in terms:
        total = term if total is ZERO else total if term is ZERO else total + term
    return total


def _product(a: Term, b: Term) -> Term:
    if ZERO in (a, b):
        return ZERO
    return a * b
