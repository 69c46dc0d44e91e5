"""Inequalities that hold in every lane of a sum, so of the sums too: tangents of logarithms and exponentials, bounds
that stand still, each weighted.

    INEQUALITIES    what each asks of every lane, and its two sides, of the terms that are put in
    offered(...)    those that a sum offers, with the terms: of its factors, and of what stands beside it

A logarithm lies below its tangents: log p <= log b + p / b - 1. With weights b that gives b log p <= b log b + p - b,
whose sums are Gibbs' inequality. An exponential lies above its own, and what is below a number that stands still is so
times a weight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.term import Const, Map, Reduce, Size, Term, subterms
from napkin_eq.laws.claim import JUDGMENT, Claim, le
from napkin_eq.laws.law import TRUE, exp, inv, log
from napkin_eq.prove.normal.linearity import summands

ONE = Const(1.0)


class Inequality(NamedTuple):
    """What is asked of a lane, and the sides; `by`: those sides before they are weighted, which the lemma is proved of
    first.
    """

    asks: tuple[Term, ...]
    less: Term
    more: Term
    weight: Term
    by: tuple[Term, Term]


def _tangent(weight: Term, base: Term, point: Term, logarithm: Term, total: Term, own: bool) -> Inequality:
    """Say of point / total, whose logarithm is that of the point less that of the total, that it lies below the tangent
    at a base.
    """
    asks = (JUDGMENT["nonneg"](weight), *(JUDGMENT["pos"](t) for t in (base, point, total)))
    moved = point * inv(base) * inv(total)
    less, more = logarithm - log(total), log(base) + moved - 1.0
    whole = weight * log(base) + (point * inv(total) if own else weight * moved) - weight
    return Inequality(asks, weight * less, whole, weight, (less, more))


def _rising(weight: Term, a: Term, r: Term) -> Inequality:
    asks = (JUDGMENT["nonneg"](weight), JUDGMENT["finite"](a), JUDGMENT["finite"](r))
    return Inequality(asks, weight * exp(r) * (1.0 + a - r), weight * exp(a), weight, (exp(r) * (1.0 + a - r), exp(a)))


def _bounded(weight: Term, a: Term, r: Term) -> Inequality:
    return Inequality((JUDGMENT["nonneg"](weight), le(a, r)), weight * a, weight * r, weight, (a, r))


INEQUALITIES: dict[str, Callable[..., Inequality]] = {
    "tangent-log": lambda w, b, p, s: _tangent(w, b, p, log(p), s, False),
    "tangent-log-own": lambda b, p, s: _tangent(b, b, p, log(p), s, True),
    "tangent-log-exp": lambda w, b, a, s: _tangent(w, b, exp(a), a, s, False),
    "tangent-log-exp-own": lambda b, a, s: _tangent(b, b, exp(a), a, s, True),
    "tangent-exp": _rising,
    "weighted-bound": _bounded,
}


def offered(claim: Claim, t: Reduce) -> Iterator[tuple[str, tuple[Term, ...]]]:
    """Yield the inequalities that the lanes of a sum offer, by the logarithms, exponentials and maxima that the goal
    speaks of.
    """
    parts = [p for p in subterms(claim.goal) if isinstance(p, (Map, Reduce))]
    logs = [p.args[0] for p in parts if isinstance(p, Map) and p.op == "log"]
    still = [p for p in parts if not claim.varies(p, t.axis)]
    for product in summands(t.body):
        factors = [f for f in product if not isinstance(f, Const)]
        for place, factor in enumerate(factors):
            weight = _product([f for other, f in enumerate(factors) if other != place])
            if isinstance(factor, Map) and factor.op == "log":
                yield from _of_logarithm(weight, factor.args[0], logs, t.axis)
            elif isinstance(factor, Map) and factor.op == "exp":
                yield from (
                    ("tangent-exp", (weight, factor.args[0], p.args[0]))
                    for p in still
                    if isinstance(p, Map) and p.op == "exp"
                )
                tops = [p for p in still if isinstance(p, Reduce) and p.monoid == "max" and p.axis == t.axis]
                yield from (("weighted-bound", (weight, factor, exp(top))) for top in tops)
            elif claim.varies(factor, t.axis):
                bounds = [
                    p
                    for p in still
                    if (p.monoid == "max" and p.axis == t.axis if isinstance(p, Reduce) else p.op == "log")
                ]
                yield from (("weighted-bound", (weight, factor, bound)) for bound in bounds)


def _of_logarithm(weight: Term, base: Term, logs: list[Term], axis: Axis) -> Iterator[tuple[str, tuple[Term, ...]]]:
    for point in logs:
        for b, p in ((base, point), (point, base)) if point is not base else ():
            yield ("tangent-log-own", (b, p, ONE)) if weight is b else ("tangent-log", (weight, b, p, ONE))
        total = point.args[0] if isinstance(point, Map) and point.op == "real" else point
        if isinstance(total, Size) and total.axis == axis:
            yield (
                ("tangent-log-own", (base, ONE, point))
                if weight is base
                else ("tangent-log", (weight, base, ONE, point))
            )
        elif isinstance(point, Reduce) and (point.monoid, point.axis, point.where) == ("sum", axis, TRUE):
            lane, kind = (
                (point.body.args[0], "-exp")
                if isinstance(point.body, Map) and point.body.op == "exp"
                else (point.body, "")
            )
            yield (
                (f"tangent-log{kind}-own", (base, lane, point))
                if weight is base
                else (f"tangent-log{kind}", (weight, base, lane, point))
            )


def _product(factors: list[Term]) -> Term:
    result: Term = ONE
    for place, factor in enumerate(factors):
        result = result * factor if place else factor
    return result
