"""Sums and maxima in a normal form by linearity, and the lemmas that it rests on, which a prover must have proved.

    normal(claim)    the claim in normal form, and the names of the lemmas that were used
    defined(claim)   the claim without variables that a premise says to be something else
    LEMMAS           those lemmas, each a claim over one axis

Sums are split into summands, what does not vary moves out of sums and maxima, and what is chosen in exactly one lane,
by a premise, is the result of the reduction.
"""

from __future__ import annotations

from dataclasses import replace

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.operators import COMBINE, NEUTRAL
from napkin_eq.lang.term import Const, Map, Reduce, Size, Term, rewritten, subterms
from napkin_eq.laws.claim import Claim, eq, le, same
from napkin_eq.laws.law import TRUE, Var

MOST_SUMMANDS = 32
AXIS = Axis("x")
# What taking a sum apart may use; it is cited as a whole.
OF_SUMS = ("sign", "distribution", "commutation", "association", "exponential", "sum-of-both", "factor", "constant")


def normal(claim: Claim) -> tuple[Claim, tuple[str, ...]]:
    """Return the claim in normal form, and the names of the lemmas that allow that."""
    form = _Form(claim)
    goal, *premises = (rewritten(t, form.change) for t in (claim.goal, *claim.premises))
    return replace(claim, goal=goal, premises=tuple(premises)), tuple(form.cited)


def defined(claim: Claim) -> Claim:
    """Return the claim with each variable that a premise equates with a term replaced by that term."""
    goal, waiting, kept = claim.goal, [part for p in claim.premises for part in _conjuncts(p)], list[Term]()
    while waiting:
        premise = waiting.pop(0)
        pair = _definition(premise)
        if pair is None:
            kept.append(premise)
            continue
        goal, *others = (_replaced(t, *pair) for t in (goal, *waiting, *kept))
        waiting, kept = others[: len(waiting)], others[len(waiting) :]
    return Claim(claim.what, goal, tuple(p for p in kept if p is not TRUE), claim.free)


def _conjuncts(mask: Term) -> list[Term]:
    both = isinstance(mask, Map) and mask.op == "and"
    return [part for arg in mask.args for part in _conjuncts(arg)] if both else [mask]


def _definition(mask: Term) -> tuple[Var, Term] | None:
    if isinstance(mask, Map) and mask.op == "eq":
        for v, term in (mask.args, mask.args[::-1]):
            if isinstance(v, Var) and v not in subterms(term):
                return v, term
    return None


def _replaced(root: Term, v: Var, term: Term) -> Term:
    return rewritten(root, lambda t: term if t is v else t)


class _Form:
    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.cited: dict[str, None] = {}

    def change(self, t: Term) -> Term:
        if not isinstance(t, Reduce) or t.where is not TRUE:
            return t
        return self.sum(t) if t.monoid == "sum" else self.split(t)

    def sum(self, t: Reduce) -> Term:
        parts = summands(t.body)
        if len(parts) > MOST_SUMMANDS:
            return t
        totals = []
        for part in parts:
            moving = sorted((f for f in part if self.claim.varies(f, t.axis)), key=repr)
            rest = (
                self.chosen(Reduce("sum", t.axis, _combined("mul", moving))) if moving else Map("real", (Size(t.axis),))
            )
            totals.append(_combined("mul", [*(f for f in part if not self.claim.varies(f, t.axis)), rest]))
        result = _combined("add", totals)
        self.cited |= dict.fromkeys(OF_SUMS if result is not t else ())
        return result

    def split(self, t: Reduce) -> Term:
        """Split a maximum of maxima and a product of products; move a summand that does not vary out of a maximum."""
        if not isinstance(t.body, Map) or len(t.body.args) != 2:
            return self.chosen(t)
        a, b = t.body.args
        if t.body.op == COMBINE[t.monoid]:
            self.cited[f"{t.monoid}-of-both"] = None
            return Map(t.body.op, (self.split(Reduce(t.monoid, t.axis, a)), self.split(Reduce(t.monoid, t.axis, b))))
        if t.monoid == "max" and t.body.op == "add":
            for fixed, moving in ((a, b), (b, a)):
                if not self.claim.varies(fixed, t.axis):
                    self.cited["summand"] = None
                    return Map("add", (fixed, Reduce("max", t.axis, moving)))
        return t

    def chosen(self, t: Reduce) -> Term:
        if not isinstance(t.body, Map) or t.body.op != "where":
            return t
        mask: Term
        value: Term
        mask, value, other = t.body.args
        once = eq(count(t.axis, mask), Const(1.0)) in self.claim.premises
        if not once or other is not Const(NEUTRAL[t.monoid]) or self.claim.varies(value, t.axis):
            return t
        self.cited[f"{t.monoid}-of-one"] = None
        return value


def summands(body: Term) -> list[list[Term]]:
    """Return a term as a sum of products, each a list of factors."""
    if isinstance(body, Map) and body.op == "add":
        return [*summands(body.args[0]), *summands(body.args[1])]
    if isinstance(body, Map) and body.op == "neg":
        return [[Const(-1.0), *part] for part in summands(body.args[0])]
    if isinstance(body, Map) and body.op == "mul":
        left, right = map(summands, body.args)
        return [[*p, *q] for p in left for q in right] if len(left) * len(right) <= MOST_SUMMANDS else [[body]]
    if isinstance(body, Map) and body.op == "exp":
        return [[Map("exp", (_combined("mul", part),)) for part in summands(body.args[0])]]
    return [[body]]


def _combined(op: str, parts: list[Term]) -> Term:
    result = parts[0]
    for part in parts[1:]:
        result = Map(op, (result, part))
    return result


def count(axis: Axis, mask: Term) -> Term:
    """Return the number of lanes in which a mask holds."""
    return Reduce("sum", axis, Map("where", (mask, Const(1.0), Const(0.0))))


def _one_lane(monoid: str, a: Term) -> Term:
    """Say that a value chosen in no lane leaves the neutral element, and one chosen in one lane leaves itself."""
    c, neutral = Var("c", "bool"), Const(NEUTRAL[monoid])
    lanes, total = count(AXIS, c), Reduce(monoid, AXIS, Map("where", (c, a, neutral)))
    return (eq(lanes, Const(0.0)) & eq(total, neutral)) | (eq(lanes, Const(1.0)) & eq(total, a)) | le(Const(2.0), lanes)


def _lemmas() -> dict[str, Claim]:
    a, b, d = Var("a"), Var("b"), Var("d")

    def fold(monoid: str, body: Term) -> Term:
        return Reduce(monoid, AXIS, body)

    goals = {
        "sign": same(-a, -1.0 * a),
        "distribution": same(a * (b + d), a * b + a * d),
        "commutation": same(a * b, b * a),
        "association": same((a * b) * d, a * (b * d)),
        "exponential": same(Map("exp", (a + b,)), Map("exp", (a,)) * Map("exp", (b,))),
        **{
            f"{m}-of-both": same(fold(m, Map(op, (a, b))), Map(op, (fold(m, a), fold(m, b))))
            for m, op in COMBINE.items()
        },
    }
    moved = {
        "factor": same(fold("sum", a * b), a * fold("sum", b)),
        "constant": same(fold("sum", a), a * Map("real", (Size(AXIS),))),
        "summand": same(fold("max", a + b), a + fold("max", b)),
        **{f"{m}-of-one": _one_lane(m, a) for m in COMBINE},
    }
    fixed = frozenset({(AXIS.name, "a")})
    return {
        name: Claim(name, goal, (), fixed if name in moved else frozenset())
        for name, goal in {**goals, **moved}.items()
    }


LEMMAS = _lemmas()
