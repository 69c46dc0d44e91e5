"""Growth of error by ordinary error analysis: bounds of both sides written as terms, and the one proved to be at most g times the other.

The standard model: an operator's result is off by a factor 1 + δ, |δ| <= K u; an input by 1 + δ, |δ| <= u. To first order in u, and
in units of u, with |t| the term in which every number is replaced by its size and every difference by a sum (Higham, Accuracy and
Stability of Numerical Algorithms, 2nd ed., ch. 3, whose γ_n is n u to first order):

    E(a) = |a|                          of an input; 0 of a constant, a size, a choice by a mask
    E(a + b) = E(a) + E(b) + K (|a| + |b|)
    E(a b) = |a| E(b) + |b| E(a) + K |a| |b|
    E(1/a) = E(a) / a^2 + K / |a|       E(sqrt a) = E(a) / (2 sqrt a) + K sqrt a
    E(e^a) = e^a (E(a) + K |a| + K)     E(log a) = E(a) / a + K |log a| + K
    E(sum of a) = sum of E(a) + D sum of |a|                   D >= LEAST: roundoffs on the way of one summand, an unknown of each axis
    E(max of a) = max of E(a)

That E(new side) <= g E(old side) is a judgment about terms, for all sizes and values, and goes to the provers of laws. Arguments of
inverses, roots and logarithms keep away from 0, where a first order says nothing; a stretch of an axis, and the axis of stretches,
take no more additions in a row than the whole. What rescales as it goes, and references that exponentials are taken relative to, have no
such bound here: growth.py samples them.
"""

from __future__ import annotations

from napkin_eq.axis import Axis
from napkin_eq.claim import NotUnderstood, plain
from napkin_eq.floating import Finding, assessor
from napkin_eq.law import Inference, Judgment, Law, Var
from napkin_eq.proving import opinion
from napkin_eq.term import Const, Map, Reduce, Size, Term, subterms

GROWTHS = (1.0, 2.0, 3.0, 5.0)
K, LEAST, TIMEOUT_S = Const(4.0), Const(32.0), 10.0
ZERO = Const(0.0)


@assessor("analysis")
def analysis(law: Law) -> Finding:
    """Prove a growth of error for a law, the least of a few that is provable; "unknown" where none is."""
    sides = plain(law.lhs), plain(law.rhs)
    growth = 1.0
    for old, new in (sides, sides[::-1])[: 2 if law.both else 1]:
        if old is new:
            continue
        bounds = Bounds()
        before, after = bounds.error(old), bounds.error(new)
        found = next((g for g in GROWTHS if _proved(law, bounds, after, before * g)), None)
        if found is None:
            return Finding("unknown", f"no growth up to {GROWTHS[-1]:g} is proved")
        growth = max(growth, found)
    return Finding("yes", "error analysis, to first order", growth)


def _proved(law: Law, bounds: Bounds, after: Term, before: Term) -> bool:
    numbers = [v for v in subterms(after, before) if isinstance(v, Var) and v.kind == "real" and v not in bounds.depths.values()]
    premises = [*law.conditions, *(Judgment("finite", (v,)) for v in numbers), *bounds.away]
    premises += [Judgment("le", (Const(1.0), depth)) for depth in bounds.depths.values()]
    for stretch in (j.args for j in law.conditions if j.name == "stretch"):
        if stretch[0] in bounds.depths and stretch[1] in bounds.depths:
            premises.append(Judgment("le", (bounds.depths[stretch[0]], bounds.depths[stretch[1]])))
    claim = Inference(f"growth of {law.name}", law.family, "", Judgment("le", (after, before)), tuple(dict.fromkeys(premises)), "", law.place)
    return opinion(claim, TIMEOUT_S).status == "proved"


class Bounds:
    """E and |.| of terms, the depths of the sums in them, and what must be kept away from 0."""

    def __init__(self) -> None:
        self.depths: dict[Axis, Var] = {}
        self.away: list[Judgment] = []

    def size(self, t: Term) -> Term:
        """Return a term that bounds the size of another, without cancellation."""
        if isinstance(t, Const):
            return Const(abs(t.value))
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
        if isinstance(t, (Const, Size)) or t.kind != "real":
            return ZERO
        if isinstance(t, Var):
            return self.size(t)
        if isinstance(t, Reduce):
            return self._reduced(t)
        if isinstance(t, Map):
            return self._applied(t)
        raise NotUnderstood(f"no error analysis is stated for {type(t).__name__}")

    def _reduced(self, t: Reduce) -> Term:
        lanes = self.error(t.body)
        if t.monoid == "sum":
            depth = self.depths.setdefault(t.axis, Var(f"depth of {t.axis}", "number"))
            return _sum(Reduce("sum", t.axis, lanes, t.where), _product(LEAST * depth, self.size(t)))
        if t.monoid == "max":
            return Reduce("max", t.axis, lanes, t.where)
        raise NotUnderstood(f"no error analysis is stated for a {t.monoid} over an axis")

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
