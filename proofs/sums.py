"""Sums of unknown length in a normal form: decides, without a solver and for all sizes, equations between sums, maxima
and exponentials.

A value is a pair of sums in normal form (`napkin_eq/prove/normal/polynomial.py`): whether it is absent, as a number
that is 0 or 1, and its number, which means nothing where it is absent. Masks, presence and signs are facts: atoms that
are 0 or 1. A sum over axes is taken apart into sums of one product each; what does not vary moves out of it, a product
that stretches cover once is summed once. That nothing is present or not zero in any lane is a fact about all lanes, and
put to use wherever it is a factor. So a reference of exponentials is a number like any other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.operators import AT_ABSENT
from napkin_eq.lang.term import Const, Index, Map, Reduce, Size, Term, rewritten, subterms
from napkin_eq.laws.claim import Claim
from napkin_eq.laws.law import TRUE, Var
from napkin_eq.prove.normal.atoms import FACTS, NONE, ONE, Atom, Stuck, branch, first_fact, only, part, put
from napkin_eq.prove.normal.functions import Functions, inside, made
from napkin_eq.prove.normal.polynomial import Polynomial, atom, constant
from napkin_eq.prove.normal.waves import linear
from napkin_eq.prove.portfolio import deep_decider


class Value(NamedTuple):
    """Whether a value is absent, 0 or 1, and its number."""

    absent: Polynomial
    number: Polynomial


@deep_decider("sums")
def decide(claim: Claim) -> bool:
    """Tell whether the normal form of sums proves an equation, or several; False means that it does not know."""
    return any(_decided(each) for each in dict.fromkeys((claim, in_exponentials(claim))))


def _decided(claim: Claim) -> bool:
    try:
        return Sums(claim).holds(claim.goal)
    except (Stuck, RecursionError):
        return False


def in_exponentials(claim: Claim) -> Claim:
    """Return a claim with logistic functions and hyperbolic tangents as the exponentials that they are, of what is
    absent too.
    """

    def change(t: Term) -> Term:
        if isinstance(t, Map) and t.op in ("sigmoid", "tanh"):
            (a,) = t.args
            rising = Map("exp", (a if t.op == "sigmoid" else a + a,))
            below = Map("inv", (rising + 1.0,))
            return rising * below if t.op == "sigmoid" else 1.0 - 2.0 * below
        return t

    goal, *premises = (rewritten(t, change) for t in (claim.goal, *claim.premises))
    return replace(claim, goal=goal, premises=tuple(premises))


class Sums(Functions):
    """The values of a claim's terms, and what its premises settle."""

    def __init__(self, claim: Claim) -> None:
        super().__init__(claim)
        self.done: dict[Term, Value] = {}
        for lane in (t for t in subterms(claim.goal, *claim.premises) if isinstance(t, Index)):
            self.settle(self.above(atom(Size(lane.axis)) - atom(lane)))  # a coordinate is less than the size
        for premise in claim.premises:
            try:
                self.learn(premise)
            except Stuck:
                continue  # what is not understood of a premise is not used

    def learn(self, premise: Term) -> None:
        """Take from a premise, which holds in every lane, the facts that it settles."""
        if not isinstance(premise, Map):
            return
        if premise.op == "and":
            for part in premise.args:
                self.learn(part)
        elif premise.op in ("lt", "le", "eq") and premise.args[0].kind == "real":
            a, b = premise.args
            count = a if isinstance(a, Reduce) and b is Const(1.0) and premise.op == "eq" else None
            if (
                count is not None
                and count.monoid == "sum"
                and count.where is TRUE
                and isinstance(count.body, Map)
                and count.body.op == "where"
            ):
                mask, *ones = count.body.args
                if isinstance(mask, Var) and ones == [Const(1.0), Const(0.0)]:
                    self.units.setdefault(count.axis, []).append(Atom("truth", (), (mask,)))
            elif a is Const(0.0) and isinstance(b, Var) and premise.op != "eq":
                self.known[Atom("present", (), (b,))] = 1
                if premise.op == "lt":
                    self.positive.add(b)
                    self.known[Atom("zero", (), (atom(b),))] = 0
                self.known[Atom("above", (), (-atom(b),))] = 0
        self.settle(self.truth(premise))
        self.done.clear()

    def settle(self, truth: Polynomial) -> None:
        """Take a truth that is one fact, or the opposite of facts that exclude each other, as known."""
        if (fact := only(truth, *FACTS)) is not None:
            self.known[fact] = 1
        for powers, exponent, coefficient in (ONE - truth if not fact else NONE):
            other = only(Polynomial((((powers, exponent), coefficient),)), *FACTS)
            if other is not None and all(c > 0 for _, _, c in ONE - truth):
                self.known[other] = 0

    def holds(self, goal: Term) -> bool:
        if goal is TRUE:
            return True
        if isinstance(goal, Map) and goal.op == "and":
            return all(self.holds(part) for part in goal.args)
        if not isinstance(goal, Map) or goal.op != "eq" or goal.args[0].kind != "real":
            return False
        for term in subterms(goal):
            if term.kind in ("real", "int"):
                self.value(term)
        left, right = map(self.value, goal.args)
        return self.vanishes(left.absent - right.absent, NONE, {}) and self.vanishes(
            left.number - right.number, left.absent, {}
        )

    def vanishes(self, p: Polynomial, unless: Polynomial, chosen: dict[Atom, int]) -> bool:
        """Tell whether a sum is 0 unless another, of facts, is 1: facts are chosen one after the other, what they mean
        is put in.
        """
        p, unless = self.settled(p), self.settled(unless)
        if not p.terms or unless == ONE or not linear(p, inside, made).terms:
            return True
        fact = first_fact(unless) or first_fact(p)
        if fact is not None:
            self.spend(len(p.terms) + len(unless.terms))
            without, otherwise = put(p, fact, 0), put(unless, fact, 0)
            given, besides = (self.assumed(put(part, fact, 1), fact) for part in (p, unless))
            return self.vanishes(without, otherwise, chosen | {fact: 0}) and self.vanishes(
                given, besides, chosen | {fact: 1}
            )
        below = next(
            (base for powers, _, _ in p for base, _ in powers if isinstance(base, Atom) and base.kind == "over"), None
        )
        if not isinstance(below, Atom):
            return False
        # A common denominator; where it is 0, inverses are.
        zero = self.zero(part(below))
        for other, value in chosen.items():
            zero = put(zero, other, value)
        if (fact := first_fact(zero)) is not None:
            return self.vanishes(p, NONE, chosen | {fact: 0}) and self.vanishes(
                self.assumed(p, fact), NONE, chosen | {fact: 1}
            )
        if zero.terms:
            return False
        most = max(-dict(powers).get(below, 0) for powers, _, _ in p)
        cleared = NONE
        for powers, exponent, coefficient in p:
            rest = tuple((base, power) for base, power in powers if base != below)
            lifted = self.raised(part(below), most + dict(powers).get(below, 0))
            cleared = cleared + self.times(Polynomial((((rest, exponent), coefficient),)), lifted)
        return self.vanishes(cleared, NONE, chosen)

    # -- values of terms -----------------------------------------------------------------------------------------------

    def value(self, term: Term) -> Value:
        if term not in self.done:
            self.done[term] = self.read(term)
        return self.done[term]

    def read(self, term: Term) -> Value:
        if isinstance(term, Const):
            return Value(ONE, NONE) if term.exact is None else Value(NONE, constant(term.exact))
        if isinstance(term, Reduce) and term.monoid in ("sum", "max"):
            body, mask = self.value(term.body), self.truth(term.where)
            return self.summed(term.axis, mask, body) if term.monoid == "sum" else self.largest(term.axis, mask, body)
        if isinstance(term, (Var, Reduce, Index, Size)):
            if term.kind not in ("real", "int"):
                raise Stuck
            return Value(ONE - self.fact("present", (), term) if term.kind == "real" else NONE, atom(term))
        if not isinstance(term, Map) or term.kind == "bool":
            raise Stuck
        if term.op == "where":
            mask = self.truth(term.args[0])
            a, b = map(self.value, term.args[1:])
            return Value(self.either(mask, a.absent, b.absent), self.either(mask, a.number, b.number))
        args = [self.value(a) for a in term.args]
        return _READ[term.op](self, *args) if term.op in _READ else self.opaque(term.op, *args)

    def opaque(self, op: str, *args: Value) -> Value:
        absent = NONE
        for a in args:
            absent = self.any(absent, a.absent)
        number = self.function(op, *(a.number for a in args))
        if op not in AT_ABSENT:
            return Value(absent, number)
        return Value(NONE, self.either(absent, constant(AT_ABSENT[op]), number))

    def truth(self, mask: Term) -> Polynomial:
        if isinstance(mask, Const):
            return ONE if mask.value else NONE
        if isinstance(mask, Map) and mask.op in ("and", "or", "not"):
            parts = [self.truth(part) for part in mask.args]
            return ONE - parts[0] if mask.op == "not" else (self.times if mask.op == "and" else self.any)(*parts)
        if isinstance(mask, Map) and mask.op in ("lt", "le", "eq"):
            a, b = map(self.value, mask.args)
            if mask.op == "eq":
                alike = self.times(self.times(ONE - a.absent, ONE - b.absent), self.zero(a.number - b.number))
                return self.times(a.absent, b.absent) + alike
            if mask.op == "le":
                a, b = b, a
            less = self.times(ONE - b.absent, self.either(a.absent, ONE, self.above(b.number - a.number)))
            return less if mask.op == "lt" else ONE - less
        if isinstance(mask, Var):
            return self.fact("truth", (), mask)
        raise Stuck

    def summed(self, axis: Axis, mask: Polynomial, body: Value) -> Value:
        absent = ONE - self.every((axis,), ONE - self.times(mask, body.absent))
        return Value(absent, self.total(axis, self.times(mask, body.number)))

    def largest(self, axis: Axis, mask: Polynomial, body: Value) -> Value:
        guard = self.times(mask, ONE - body.absent)
        branches = [
            (axes, g, v) for g, v in self.leaves(guard, body.number) for axes, g, v in self.unfolded(axis, g, v)
        ]
        return Value(self.every((axis,), ONE - guard), self.top(branches))


def _max(sums: Sums, a: Value, b: Value) -> Value:
    absent = sums.times(a.absent, b.absent)
    branches = [[branch(part) for part in top.parts] for v in (a, b) if (top := only(v.number, "top")) is not None]
    if len(branches) == 2 and [a.absent, b.absent] == [sums.nowhere(found) for found in branches]:
        return Value(absent, sums.top([*branches[0], *branches[1]]))
    larger = b.number + sums.times(sums.above(a.number - b.number), a.number - b.number)
    return Value(absent, sums.either(a.absent, b.number, sums.either(b.absent, a.number, larger)))


def _min(sums: Sums, a: Value, b: Value) -> Value:
    smaller = a.number + sums.times(sums.above(a.number - b.number), b.number - a.number)
    return Value(sums.any(a.absent, b.absent), smaller)


_READ: dict[str, Callable[..., Value]] = {
    "add": lambda s, a, b: Value(s.any(a.absent, b.absent), a.number + b.number),
    "mul": lambda s, a, b: Value(s.any(a.absent, b.absent), s.times(a.number, b.number)),
    "neg": lambda s, a: Value(a.absent, -a.number),
    "real": lambda s, a: a,
    "inv": lambda s, a: Value(a.absent, s.inverse(a.number)),
    "exp": lambda s, a: Value(NONE, s.times(ONE - a.absent, s.exponential(a.number))),
    "log": lambda s, a: Value(s.any(a.absent, ONE - s.above(a.number)), s.logarithm(a.number)),
    "abs": lambda s, a: Value(a.absent, s.times(s.above(a.number), a.number * constant(2)) - a.number),
    "max": _max,
    "min": _min,
    "floordiv": lambda s, a, b: Value(NONE, s.quotient(a.number, b.number)),
    "mod": lambda s, a, b: Value(NONE, s.remainder(a.number, b.number)),
}
