"""Induction over the size of an axis: a claim with reductions becomes claims without them, for a decider to answer.

The axis has one lane (base), then one more (step): every reduction over it is an accumulator, an unknown number of which
only the claim itself is known. A reduction inside another one, such as a maximum that exponentials are relative to, is
held fixed: an unknown number of which only what holds at every lane is known (reference independence).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from napkin_eq.axis import Axis
from napkin_eq.law import ABSENT, TRUE, Statement, Var
from napkin_eq.obligation import Claim, NotUnderstood, claims_of, eq, le, same
from napkin_eq.ops import COMBINE, NEUTRAL
from napkin_eq.proving import Outcome, deciders, prover
from napkin_eq.term import Acc, Const, Index, Map, Online, Prev, Read, Reduce, Scan, Size, Term, rebuilt, rewritten, subterms

MOST_SUMMANDS = 32
Summand = tuple[Term, ...]


@prover("induction", rank=2)
def induction(statement: Statement, timeout_s: float) -> Outcome | None:
    """Prove every claim of a statement, by definition, by a decider, or by induction and a decider."""
    used: list[str] = []
    for claim in claims_of(statement):
        contradiction = replace(claim, goal=Const(False))
        if claim.premises and _ground(contradiction, timeout_s):
            return Outcome("refuted", "vacuous", f"no values meet the conditions ({claim.what})")
        failed = _failure(claim, timeout_s, used)
        if failed is not None:
            return Outcome("unknown", "induction", failed)
    if not used:
        return Outcome("proved", "definition", grade="A")
    return Outcome("proved", ", ".join(dict.fromkeys(used)), grade="C")


def _failure(claim: Claim, timeout_s: float, used: list[str]) -> str | None:
    """Prove a claim and return None, noting what was used, or return why that failed."""
    if claim.goal is TRUE:
        return None
    for term in subterms(claim.goal, *claim.premises):
        if isinstance(term, (Scan, Read, Online, Prev, Acc)):
            raise NotUnderstood(f"no prover understands {type(term).__name__}")
    if name := _ground(claim, timeout_s):
        used.append(name)
        return None
    if (name := _ground(_normal(claim), timeout_s)) and _lemmas_hold():
        used += ["linearity of sums", name]
        return None
    failed = f"no proof found ({claim.what})"
    for axis in _reduced_axes(claim):
        trail = [*used, f"induction on {axis}"]
        for part in _induct(claim, axis):
            if (failed_part := _failure(part, timeout_s, trail)) is not None:
                failed = failed_part
                break
        else:
            used[:] = trail
            return None
    return failed


def _ground(claim: Claim, timeout_s: float) -> str:
    """Return the name of a decider that proves the claim, else nothing."""
    return next((name for name, decide in deciders() if decide(claim, timeout_s) == "proved"), "")


def _reduced_axes(claim: Claim) -> list[Axis]:
    found = {t.axis for t in subterms(claim.goal) if isinstance(t, (Reduce, Size))}
    return sorted(found)


# -- base and step -------------------------------------------------------------------------------------------------------


def _induct(claim: Claim, axis: Axis) -> Iterator[Claim]:
    claim = _references(claim, axis)
    totals = [t for t in subterms(claim.goal) if isinstance(t, Reduce) and t.axis == axis]
    size, lane = Var(f"size of {axis}", "int"), Var(f"lane of {axis}", "int")
    holes = {t: Var(f"acc {i} over {axis}") for i, t in enumerate(totals, 1)}
    fixed = {(axis.name, hole.name) for hole in (size, *holes.values())}
    fixed |= {(other.name, hole.name) for t, hole in holes.items() for other in _axes(claim) - {axis} if not claim.varies(t, other)}
    varying = [t for t in subterms(claim.goal, *claim.premises) if isinstance(t, Var) and claim.varies(t, axis)]
    fresh: dict[Term, Term] = {v: Var(f"{v.name}⁺", v.sort) for v in varying}
    fixed |= {(other, f"{v.name}⁺") for v in varying for other, name in claim.free if name == v.name}
    free = claim.free | fixed

    first: dict[Term, Term] = {Size(axis): Const(1), Index(axis): Const(0)}
    alone = {t: _masked(_swapped(t.where, first), _swapped(t.body, first), NEUTRAL[t.monoid]) for t in totals}
    premises = tuple(_swapped(p, first) for p in claim.premises)
    yield Claim(f"{claim.what}: {axis} has one lane", _swapped(claim.goal, first | alone), premises, free)

    before: dict[Term, Term] = {Size(axis): size, Index(axis): lane}
    at_new: dict[Term, Term] = {**fresh, Size(axis): size + 1, Index(axis): size}
    grown: dict[Term, Term] = {}
    for t, hole in holes.items():
        grown[t] = _combined(t.monoid, hole, _swapped(t.where, at_new), _swapped(t.body, at_new))
    known = (
        *(_swapped(p, before | {Size(axis): size + 1}) for p in claim.premises),
        *(_swapped(p, at_new) for p in claim.premises),
        _swapped(claim.goal, before | holes),
        le(Const(1), size),
        le(Const(0), lane),
        ~le(size, lane),
    )
    old_lane = _swapped(claim.goal, before | {Size(axis): size + 1} | grown)
    new_lane = _swapped(claim.goal, at_new | grown)
    for goal in dict.fromkeys((old_lane, new_lane)):
        yield Claim(f"{claim.what}: one more lane of {axis}", goal, tuple(dict.fromkeys(known)), free)


def _axes(claim: Claim) -> set[Axis]:
    return {f for t in subterms(claim.goal, *claim.premises) for f in t.fields if isinstance(f, Axis)}


def _swapped(root: Term, table: dict[Term, Term]) -> Term:
    """Return the term with every outermost occurrence of a key replaced."""
    if root in table:
        return table[root]
    return rebuilt(root, tuple(_swapped(child, table) for child in root.children))


def _masked(mask: Term, value: Term, otherwise: float) -> Term:
    return value if mask is TRUE else Map("where", (mask, value, Const(otherwise)))


def _combined(monoid: str, acc: Term, mask: Term, value: Term) -> Term:
    grown = Map(COMBINE[monoid], (acc, value))
    return grown if mask is TRUE else Map("where", (mask, grown, acc))


def _references(claim: Claim, axis: Axis) -> Claim:
    """Hold every reduction over the axis that stands inside another one, or in a premise, fixed: a number that bounds or absorbs."""
    while (reference := _innermost(claim, axis)) is not None:
        number = Var(f"ref {sum('ref' in name for _, name in claim.free) + 1} over {axis}")
        if reference.monoid == "max":
            fact = le(reference.body, number)
        else:
            fact = ~eq(reference.body, ABSENT) | eq(number, ABSENT)
        if reference.where is not TRUE:
            fact = ~reference.where | fact
        free = {(axis.name, number.name)}
        free |= {(other.name, number.name) for other in _axes(claim) - {axis} if not claim.varies(reference, other)}
        table: dict[Term, Term] = {reference: number}
        premises = (*(_swapped(p, table) for p in claim.premises), fact)
        claim = Claim(claim.what, _swapped(claim.goal, table), premises, claim.free | free)
    return claim


def _innermost(claim: Claim, axis: Axis) -> Reduce | None:
    def over(*roots: Term) -> list[Reduce]:
        return [t for t in subterms(*roots) if isinstance(t, Reduce) and t.axis == axis]

    inside = [r for t in over(claim.goal, *claim.premises) for r in over(t.body, t.where)]
    found = [*inside, *over(*claim.premises)]
    return next((r for r in found if not over(r.body, r.where)), None)


# -- a normal form by linearity ------------------------------------------------------------------------------------------


def _normal(claim: Claim) -> Claim:
    """Return the claim with sums split into summands, and factors that do not vary moved out of them."""
    return replace(claim, goal=_linear(claim.goal, claim), premises=tuple(_linear(p, claim) for p in claim.premises))


def _linear(root: Term, claim: Claim) -> Term:
    def change(t: Term) -> Term:
        if not isinstance(t, Reduce) or t.where is not TRUE:
            return t
        if t.monoid == "sum":
            return _sum(claim, t.axis, t.body)
        return _split(claim, t)

    return rewritten(root, change)


def _sum(claim: Claim, axis: Axis, body: Term) -> Term:
    parts = _summands(claim, axis, body)
    if len(parts) > MOST_SUMMANDS:
        return Reduce("sum", axis, body)
    totals = []
    for part in parts:
        moving = sorted((f for f in part if claim.varies(f, axis)), key=repr)
        outside = [f for f in part if not claim.varies(f, axis)]
        rest = Reduce("sum", axis, _product(moving)) if moving else Map("real", (Size(axis),))
        totals.append(_product([*outside, rest]))
    result = totals[0]
    for total in totals[1:]:
        result = result + total
    return result


def _product(factors: list[Term]) -> Term:
    result = factors[0]
    for factor in factors[1:]:
        result = result * factor
    return result


def _summands(claim: Claim, axis: Axis, body: Term) -> list[Summand]:
    if isinstance(body, Map) and body.op == "add":
        return [*_summands(claim, axis, body.args[0]), *_summands(claim, axis, body.args[1])]
    if isinstance(body, Map) and body.op == "neg":
        return [(Const(-1.0), *part) for part in _summands(claim, axis, body.args[0])]
    if isinstance(body, Map) and body.op == "mul":
        left, right = (_summands(claim, axis, arg) for arg in body.args)
        return [(*p, *q) for p in left for q in right] if len(left) * len(right) <= MOST_SUMMANDS else [(body,)]
    if isinstance(body, Map) and body.op == "exp":
        parts = [_product(list(part)) for part in _summands(claim, axis, body.args[0])]
        return [tuple(Map("exp", (part,)) for part in parts)]
    return [(body,)]


def _split(claim: Claim, t: Reduce) -> Term:
    """Split a maximum of maxima and a product of products; move a summand that does not vary out of a maximum."""
    if not isinstance(t.body, Map) or len(t.body.args) != 2:
        return t
    a, b = t.body.args
    if t.body.op == COMBINE[t.monoid]:
        return Map(t.body.op, (_linear(Reduce(t.monoid, t.axis, a), claim), _linear(Reduce(t.monoid, t.axis, b), claim)))
    if t.monoid == "max" and t.body.op == "add":
        for fixed, moving in ((a, b), (b, a)):
            if not claim.varies(fixed, t.axis):
                return fixed + Reduce("max", t.axis, moving)
    return t


@cache
def _lemmas_hold() -> bool:
    """Prove, by induction and without the normal form, each equation that the normal form is made of."""
    a, b, x = Var("a"), Var("b"), Axis("x")
    fixed = frozenset({("x", "a")})
    exp_sum = same(Map("exp", (a + b,)), Map("exp", (a,)) * Map("exp", (b,)))
    pointwise = [exp_sum, same(-a, -1.0 * a), same(a * (b + Var("d")), a * b + a * Var("d")), same(a * b, b * a)]
    claims = [Claim("lemma", goal, (), frozenset()) for goal in pointwise]
    claims += [
        Claim("lemma", same(Reduce(m, x, Map(COMBINE[m], (a, b))), Map(COMBINE[m], (Reduce(m, x, a), Reduce(m, x, b)))), (), frozenset()) for m in COMBINE
    ]
    claims += [
        Claim("lemma", same(Reduce("sum", x, a * b), a * Reduce("sum", x, b)), (), fixed),
        Claim("lemma", same(Reduce("sum", x, a), a * Map("real", (Size(x),))), (), fixed),
        Claim("lemma", same(Reduce("max", x, a + b), a + Reduce("max", x, b)), (), fixed),
    ]
    parts = [part for c in claims for part in (_induct(c, x) if _reduced_axes(c) else [c])]
    return all(_ground(part, 5) for part in parts)
