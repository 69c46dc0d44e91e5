"""Obligations: the claims that together give a law, for all sizes, in terms alone.

A statement about streams is turned into claims about one step: the axis stands for the blocks so far, and a
reduction after one more block is the reduction so far combined with an unknown number, "block n".
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.operators import COMBINE, NEUTRAL, PLACES
from napkin_eq.lang.term import (
    Acc,
    Const,
    Fold,
    Index,
    Map,
    Online,
    Pattern,
    Prev,
    Read,
    Recur,
    Reduce,
    Scan,
    Size,
    Term,
    rebuilt,
    rewritten,
    subterms,
)
from napkin_eq.laws.claim import (
    JUDGMENT,
    LARGEST_EXPONENT,
    STREAMED,
    ZERO,
    Claim,
    NotUnderstood,
    eq,
    finite,
    le,
    meaning,
    plain,
    same,
)
from napkin_eq.laws.law import TRUE, Inference, Judgment, Law, Statement, Var

MOST_AXES = 5  # 52 ways to be one
MOST_NODES = 4000
_AT_LEAST = 11.0  # float16, the narrowest format, holds exp(11)


def conditions_of(statement: Statement) -> tuple[Judgment, ...]:
    """Return what a statement assumes."""
    return statement.conditions if isinstance(statement, Law) else statement.premises


def judgments_of(statement: Statement) -> tuple[Judgment, ...]:
    """Return the judgments that a statement holds: its conclusion, if it has one, last."""
    return (*statement.premises, statement.conclusion) if isinstance(statement, Inference) else statement.conditions


def terms_of(statement: Statement) -> list[Term]:
    """Return the terms that a statement speaks of."""
    sides = [statement.lhs, statement.rhs] if isinstance(statement, Law) else []
    return [*sides, *(arg for judgment in judgments_of(statement) for arg in judgment.args if isinstance(arg, Term))]


def spread(statement: Statement) -> int:
    """Return how many operators, variables and numbers a statement has when it is written out, as a tree."""
    roots = terms_of(statement)
    sizes: dict[Term, int] = {}
    for term in subterms(*roots):
        sizes[term] = 1 + sum(sizes[child] for child in term.children)
    return sum(sizes[root] for root in roots)


def variants(statement: Statement) -> list[Statement]:
    """Return the statement, and what it says where some of its axes are one, in every way that its conditions allow.

    Raises NotUnderstood for a statement with more axes than all ways can be tried of.
    """
    return [_merged(statement, parts) for parts in _partitions(statement)]


Partition = tuple[tuple[str, ...], ...]


def _partitions(statement: Statement) -> list[Partition]:
    """Return every partition of the axes into sets that may be one axis, the one of all apart first, then by the number
    of sets.
    """
    judgments = judgments_of(statement)
    names = {arg.name for judgment in judgments for arg in judgment.args if isinstance(arg, Axis)}
    names |= {f.name for t in subterms(*terms_of(statement)) for f in t.fields if isinstance(f, Axis)}
    if len(names) > MOST_AXES:
        raise NotUnderstood(
            f"{len(names)} axes are in one statement, any of which may be one; at most {MOST_AXES} are understood"
        )
    apart = {frozenset(map(str, j.args[:2])) for j in judgments if j.name in ("distinct", "stretch")}
    found: list[Partition] = [()]
    for name in sorted(names):
        longer = []
        for parts in found:
            alone = (*parts, (name,))
            longer.append(alone)
            for place, part in enumerate(parts):
                if not any(frozenset((other, name)) in apart for other in part):
                    longer.append((*parts[:place], (*part, name), *parts[place + 1 :]))
        found = longer
    return sorted(found, key=lambda parts: (-len(parts), parts))


def _merged(statement: Statement, parts: Partition) -> Statement:
    kept = {Axis(name): Axis(part[0]) for part in parts for name in part}
    if all(len(part) == 1 for part in parts):
        return statement

    def term(t: Term) -> Term:
        return rewritten(t, lambda u: type(u)(*(kept.get(f, f) if isinstance(f, Axis) else f for f in u.fields)))

    def judgment(j: Judgment) -> Judgment:
        return Judgment(j.name, tuple(kept.get(a, a) if isinstance(a, Axis) else term(a) for a in j.args))

    conditions = tuple(map(judgment, conditions_of(statement)))
    if isinstance(statement, Law):
        return replace(statement, lhs=term(statement.lhs), rhs=term(statement.rhs), conditions=conditions)
    return replace(statement, conclusion=judgment(statement.conclusion), premises=conditions)


def claims_of(statement: Statement) -> list[Claim]:
    """Return claims that together give the statement, for all sizes; raise NotUnderstood for what has no
    meaning here.
    """
    found: list[Claim] = []
    for parts in _partitions(statement):
        alike = ", ".join(
            f"{' and '.join(part[1:])} {'is' if len(part) == 2 else 'are'} {part[0]}" for part in parts if len(part) > 1
        )
        claims = _claims(_merged(statement, parts))
        found += [replace(claim, what=f"{claim.what} where {alike}") for claim in claims] if alike else claims
    running = any(isinstance(t, (Fold, Online, Scan, Prev, Acc)) for t in subterms(*terms_of(statement))) or _streamed(
        statement
    )
    return _without_places(found) if running else found


def _streamed(statement: Statement) -> bool:
    return any(j.name in STREAMED for j in judgments_of(statement))


def _without_places(claims: list[Claim]) -> list[Claim]:
    """Return the claims; raise NotUnderstood where one is left to be shown of the place of a maximum: provers know
    reductions of numbers.
    """
    if placed := [
        t
        for claim in claims
        for t in subterms(claim.goal, *claim.premises)
        if isinstance(t, Reduce) and t.monoid in PLACES
    ]:
        raise NotUnderstood(
            f"no prover understands what a reduction by {placed[0].monoid} gives, but as the same reduction on both"
            " sides"
        )
    return claims


def _claims(statement: Statement) -> list[Claim]:
    conditions = conditions_of(statement)
    free = frozenset(_free(conditions))
    _whole(statement)
    if isinstance(statement, Inference):
        if statement.conclusion.name in STREAMED:
            step = _Step(statement.conclusion.args[0], conditions, free)  # type: ignore[arg-type]
            return step.judgment(statement.conclusion)
        if (axis := _walked(meaning(statement.conclusion))) is not None:
            return _Step(axis, conditions, free).mask(meaning(statement.conclusion))
        return [
            Claim(
                "the conclusion",
                meaning(statement.conclusion),
                _premises(conditions, meaning(statement.conclusion)),
                free,
            )
        ]
    sides = [statement.lhs, statement.rhs]
    folds = [t.monoid for t in subterms(*sides) if isinstance(t, Fold)]
    claims = [claim for monoid in dict.fromkeys(folds) for claim in monoid_claims(monoid)]
    left, right = map(plain, sides)
    onlines = [t for t in subterms(left, right) if isinstance(t, Online)]
    if left is right or not onlines:
        return [*claims, Claim("both sides", same(left, right), _premises(conditions, same(left, right)), free)]
    if (
        isinstance(left, Online)
        and isinstance(right, Online)
        and left.axis == right.axis
        and left.update is right.update
    ):
        blocks = [Reduce("sum", t.axis, t.body, t.where) for t in (left, right)]
        _closed(left.axis, *(part for t in (left, right) for part in (t.body, t.where)))
        return [*claims, Claim("each block", same(*blocks), _premises(conditions, same(*blocks)), free)]
    for online in onlines:
        claims += _Step(online.axis, conditions, free).online(online)
    left, right = (
        rewritten(t, lambda u: Reduce("sum", u.axis, u.body, u.where) if isinstance(u, Online) else u)
        for t in (left, right)
    )
    return [*claims, Claim("both sides", same(left, right), _premises(conditions, same(left, right)), free)]


def empty_claims(statement: Statement) -> Iterator[tuple[frozenset[str], list[Claim] | None]]:
    """Yield sets of axes that it reduces, and what a statement claims where these have no lane, which Prev speaks of
    before a first block.

    None stands for claims that are not understood. There reductions are neutral, sizes and coordinates 0, and a
    variable is a number: it may or may not vary along an axis without lanes. Premises hold there, as the judgment that
    is cited for one says of which axes it needs lanes. A set names all axes that are one; sets with fewer axes come
    first.
    """
    listed: list[tuple[frozenset[str], list[Claim] | None]] = []
    for parts in _partitions(statement):
        variant = _merged(statement, parts)
        walked = {
            t.axis.name for t in subterms(*terms_of(variant)) if isinstance(t, (Reduce, Fold, Online, Size, Scan, Read))
        }
        for count in range(1, len(walked) + 1):
            for chosen in itertools.combinations(sorted(walked), count):
                named = frozenset(name for part in parts if part[0] in chosen for name in part)
                listed.append((named, _empty(variant, frozenset(map(Axis, chosen)))))
    yield from sorted(listed, key=lambda item: (len(item[0]), sorted(item[0])))


def _empty(statement: Statement, axes: frozenset[Axis]) -> list[Claim] | None:
    """Return what a statement claims where some axes have no lane, None where that is not understood."""
    streams = {t.axis for t in subterms(*terms_of(statement)) if isinstance(t, Online)}
    try:
        if isinstance(statement, Inference):
            goal = TRUE if statement.conclusion.name in STREAMED else meaning(statement.conclusion)
            moving = statement.conclusion.args[0] if statement.conclusion.name in STREAMED else _walked(goal)
            if moving in axes:
                return []  # no block comes, so there is no update in which to use the judgment
            claims = (
                _claims(statement)
                if moving is not None
                else [Claim("the conclusion", goal, _premises(statement.premises, goal), frozenset())]
            )
        elif streams and not streams & axes:
            claims = _claims(statement)
        else:
            goal = same(plain(statement.lhs), plain(statement.rhs))
            claims = [
                Claim("both sides", goal, _premises(statement.conditions, goal), frozenset(_free(statement.conditions)))
            ]
        told = f" where {', '.join(map(str, sorted(axes)))} {'has' if len(axes) == 1 else 'have'} no lanes"
        return _without_places(
            [
                replace(
                    c,
                    what=c.what + told,
                    goal=_emptied(c.goal, axes),
                    premises=tuple(_emptied(p, axes) for p in c.premises),
                )
                for c in claims
            ]
        )
    except NotUnderstood:
        return None


def _emptied(term: Term, axes: frozenset[Axis]) -> Term:
    if isinstance(term, (Reduce, Online)) and term.axis in axes:
        return Const(0) if term.kind == "int" else Const(NEUTRAL[term.monoid] if isinstance(term, Reduce) else 0.0)
    if isinstance(term, (Size, Index)) and term.axis in axes:
        return Const(0)
    if isinstance(term, Read) and term.axis in axes:
        raise NotUnderstood("Read along an axis without lanes is not understood")
    # Asked of no lane, or of one beyond the end: what a first lane gives
    if isinstance(term, Scan) and term.axis in axes:
        return longer(term, Const(NEUTRAL[term.monoid]), {part: _emptied(part, axes) for part in term.children})
    parts = tuple(_emptied(child, axes) for child in term.children)
    if isinstance(term, Read) and not isinstance(parts[0], Pattern) and term.axis not in parts[0].axes:
        if any(isinstance(t, Pattern) for t in subterms(parts[0])):
            raise NotUnderstood(f"Read along {term.axis} of what may vary along it or not is not understood")
        return parts[0]  # what is the same in every lane
    found = rebuilt(term, parts)
    # Neutral elements reduce to one, and so do their prefixes, but where a gain may be absent.
    folds = isinstance(found, (Reduce, Scan)) and not isinstance(found, Recur)
    return found.body if folds and found.body is Const(NEUTRAL[found.monoid]) else found


def longer(scan: Scan, before: Term, lane: Mapping[Term, Term]) -> Term:
    """Return a prefix fold with one lane more, given what it was before and what its parts are in that lane."""
    if isinstance(scan, Recur):
        return lane[scan.gain] * before + lane[scan.body]
    return (
        lane[scan.body]
        if before is Const(NEUTRAL[scan.monoid])
        else Map(COMBINE[scan.monoid], (before, lane[scan.body]))
    )


def _closed(axis: Axis, *bodies: Term) -> None:
    if any(isinstance(t, (Reduce, Size)) and t.axis == axis for t in subterms(*bodies)):
        raise NotUnderstood(
            f"two streams over {axis} with running values in their bodies are not understood; state the law with"
            " variables there"
        )


def _whole(statement: Statement) -> None:
    """Refuse a stream over an axis that counts stretches: each lane is in one of them all, not in one of
    those so far.
    """
    streams = {t.axis for t in subterms(*terms_of(statement)) if isinstance(t, Online)}
    streams |= {j.args[0] for j in judgments_of(statement) if j.name in STREAMED}
    if counted := [j for j in conditions_of(statement) if j.name == "stretch" and j.args[0] in streams]:
        raise NotUnderstood(f"{counted[0]} does not hold in a stream over {counted[0].args[0]}")


def _walked(mask: Term) -> Axis | None:
    """Return the axis over which a mask speaks of running values, None if it does not."""
    axes = {
        t.axis for p in subterms(mask) if isinstance(p, Prev) for t in subterms(p.body) if isinstance(t, (Reduce, Size))
    }
    if len(axes) > 1:
        raise NotUnderstood(
            f"running values over several axes ({', '.join(map(str, sorted(axes)))}) in one judgment are not understood"
        )
    return next(iter(axes), None)


def monoid_claims(monoid: str) -> list[Claim]:
    """Return what allows a fold to be walked in blocks: associative, commutative, with its neutral element."""
    if monoid in PLACES:
        return list(_place_claims(monoid))
    a, b, d = Var("a"), Var("b"), Var("d")

    def both(p: Term, q: Term) -> Term:
        return Map(COMBINE[monoid], (p, q))

    goals = (
        same(both(both(a, b), d), both(a, both(b, d))),
        same(both(a, b), both(b, a)),
        same(both(Const(NEUTRAL[monoid]), a), a),
    )
    return [Claim(f"{monoid} is a commutative monoid", goal, (), frozenset()) for goal in goals]


def _place_claims(monoid: str) -> Iterator[Claim]:
    """Yield the same of pairs of a number and its place: of two the one whose number is picked, of equal numbers the
    earlier; no number is at 0.
    """
    a, b, d = ((Var(name), Var(f"place of {name}", "int")) for name in "abd")
    nothing = Const(NEUTRAL[monoid]), Const(0)

    def both(p: tuple[Term, Term], q: tuple[Term, Term]) -> tuple[Term, Term]:
        (v, i), (w, j) = p, q
        picked = Map(COMBINE[monoid], (v, w))
        first = Map("and", (same(picked, v), Map("or", (~same(picked, w), le(i, j)))))
        return picked, Map("where", (first, i, j))

    def alike(p: tuple[Term, Term], q: tuple[Term, Term]) -> Iterator[Term]:
        yield from map(same, p, q)

    premises = tuple(Map("and", (le(Const(0), i), ~same(v, nothing[0]) | same(i, Const(0)))) for v, i in (a, b, d))
    goals = (both(both(a, b), d), both(a, both(b, d))), (both(a, b), both(b, a)), (both(nothing, a), a)
    for pair in goals:
        for goal in alike(*pair):
            yield Claim(f"{monoid} is a commutative monoid of pairs", goal, premises, frozenset())


def _free(conditions: Iterable[Judgment]) -> Iterable[tuple[str, str]]:
    for judgment in conditions:
        if judgment.name == "free":
            axis, term = judgment.args
            if not isinstance(term, Var):
                raise NotUnderstood(
                    f"the condition {judgment.name} is understood for a pattern variable, not for {term!r:.60}"
                )
            yield str(axis), term.name


def _premises(conditions: Iterable[Judgment], *goals: Term) -> tuple[Term, ...]:
    # What speaks of streams only says nothing about one universe, and what is built in is in the shape of the
    # variables.
    masks = [meaning(j) for j in conditions if j.name in JUDGMENT]
    if LARGEST_EXPONENT in subterms(*masks, *goals):
        masks.append(le(Const(_AT_LEAST), LARGEST_EXPONENT))
    return tuple(masks)


class _Step:
    """One step of a stream over an axis: the axis holds the lanes so far, then one more block comes."""

    def __init__(self, axis: Axis, conditions: tuple[Judgment, ...], free: frozenset[tuple[str, str]]) -> None:
        self.axis, self.conditions = axis, conditions
        self.local = {j.args[1] for j in conditions if j.name == "local" and j.args[0] == axis}
        self.blocks: dict[Term, Var] = {}
        self.axes = {name for name, _ in free} | {axis.name}
        self.free = {
            *free,
            *((name, f"{variable}′") for name, variable in free),
            *((name, f"{variable}°") for name, variable in free),
        }

    def judgment(self, conclusion: Judgment) -> list[Claim]:
        _, term, *rest = (plain(a) if isinstance(a, Term) else a for a in conclusion.args)
        assert isinstance(term, Term)
        if conclusion.name == "local":
            return [self.claim("after a block", same(self.later(term), term), self.after())]
        if conclusion.name == "settled":
            before = self.claim("before the first block", finite(self.empty(term)), self.at_first())
            return [before, self.claim("over the lanes so far", finite(term), self.after())]
        change = rest[-1]
        assert isinstance(change, Term)
        if conclusion.name == "moves":
            first = self.claim("the step of the first block", eq(self.first(change), ZERO), self.at_first())
            return [first, self.claim("after a block", self.step(conclusion), self.after())]
        return [
            self.claim("the factor of the first block", finite(self.first(change)), self.at_first()),
            self.claim("after a block", same(self.later(term), term * self.later(change)), self.after()),
        ]

    def step(self, judgment: Judgment) -> Term:
        """Return the mask that a step is the difference of two sums over the lanes so far, whose weights
        stand still.
        """
        _, term, weight, change = (plain(a) if isinstance(a, Term) else a for a in judgment.args)
        assert isinstance(term, Term) and isinstance(weight, Term) and isinstance(change, Term)
        after, before = (Reduce("sum", self.axis, part * weight) for part in (self.later(term), term))
        return eq(self.later(change), after - before)

    def online(self, online: Online) -> list[Claim]:
        total = Reduce("sum", self.axis, online.body, online.where)
        moved = Reduce("sum", self.axis, self.later(online.body), self.later(online.where))
        return [
            self.claim("the first block", same(self.first(online.update, ZERO) + total, total), self.at_first()),
            self.claim("one more block", same(moved, self.later(online.update, total)), self.after()),
        ]

    def mask(self, mask: Term) -> list[Claim]:
        return [
            self.claim("the first block", self.first(mask), self.at_first()),
            self.claim("after a block", self.later(mask), self.after()),
        ]

    def claim(self, what: str, goal: Term, premises: tuple[Term, ...]) -> Claim:
        legend = [f"{number.name} stands for {t} over the new block alone" for t, number in self.blocks.items()]
        names = {v.name for v in subterms(goal, *premises) if isinstance(v, Var)}
        legend += [f"{name} stands for {name[:-1]} after the new block" for name in sorted(names) if name.endswith("′")]
        legend += [
            f"{name} stands for {name[:-1]} before the first block" for name in sorted(names) if name.endswith("°")
        ]
        return Claim(what, goal, premises, frozenset(self.free), tuple(legend))

    def at_first(self) -> tuple[Term, ...]:
        """Return the premises as the first block is reached: the axis holds that block."""
        known = list(map(self.first, _premises(self.conditions)))
        for judgment in (j for j in self.conditions if j.args[0] == self.axis):
            last = judgment.args[-1]
            if judgment.name in ("scales", "settled") and isinstance(last, Term):
                known.append(finite(self.first(last)))
            if judgment.name == "settled" and isinstance(last, Term):
                known.append(finite(self.empty(last)))
            if judgment.name == "moves" and isinstance(last, Term):
                known.append(eq(self.first(last), ZERO))
        return tuple(known)

    def after(self) -> tuple[Term, ...]:
        """Return the premises, before and after one more block: a judgment holds for every prefix, being proved for all
        sizes.
        """
        static = _premises(self.conditions)
        masks = [*(mask for mask in static if _walked(mask) is None), *map(self.later, static)]
        for judgment in self.conditions:
            if judgment.name in STREAMED and judgment.args[0] == self.axis:
                term = judgment.args[1]
                assert isinstance(term, Term)
                if judgment.name == "local":
                    masks.append(same(self.later(term), term))
                elif judgment.name == "settled":
                    masks += [finite(term), finite(self.later(term))]
                elif judgment.name == "moves":
                    masks.append(self.step(judgment))
                else:
                    masks.append(same(self.later(term), term * self.later(judgment.args[2])))  # type: ignore[arg-type]
        masks += [le(Const(1), block) for block in self.blocks.values() if block.kind == "int"]
        return tuple(mask for mask in dict.fromkeys(masks) if mask is not TRUE)

    def later(self, term: Term, acc: Term | None = None) -> Term:
        """Return a term after one more block, in the lanes so far."""
        if isinstance(term, Prev):
            return term.body  # type: ignore[no-any-return]
        if isinstance(term, Acc) and acc is not None:
            return acc
        if isinstance(term, Var):
            return term if term in self.local or term.sort == "number" else Var(f"{term.name}′", term.sort)
        if isinstance(term, Size) and term.axis == self.axis:
            return term + self.block(term, "int")
        if isinstance(term, (Online, Scan, Read, Acc)):
            raise NotUnderstood(f"{type(term).__name__} inside a stream over {self.axis} is not understood")
        moved = rebuilt(term, tuple(self.later(child, acc) for child in term.children))
        if isinstance(term, Reduce) and term.axis == self.axis:
            return Map(COMBINE[term.monoid], (moved, self.block(term, "real")))
        return moved

    def block(self, term: Term, sort: str) -> Var:
        """Return the number that stands for a reduction over the new block alone."""
        if term not in self.blocks:
            self.blocks[term] = Var(f"block {len(self.blocks) + 1}", sort)
            self.free.add((self.axis.name, self.blocks[term].name))
        return self.blocks[term]

    def first(self, term: Term, acc: Term | None = None) -> Term:
        """Return an update's term at the first block: the axis holds that block, and nothing came before it."""
        if isinstance(term, Prev):
            return self.empty(term.body)
        if isinstance(term, Acc) and acc is not None:
            return acc
        return rebuilt(term, tuple(self.first(child, acc) for child in term.children))

    def empty(self, term: Term) -> Term:
        """Return a running term before the first block."""
        if isinstance(term, Reduce) and term.axis == self.axis:
            return Const(NEUTRAL[term.monoid])
        if isinstance(term, Size) and term.axis == self.axis:
            return Const(0)
        if isinstance(term, Var):
            return term if term in self.local else Var(f"{term.name}°", term.sort)
        if isinstance(term, (Const, Size, Map, Reduce)):
            return rebuilt(term, tuple(self.empty(child) for child in term.children))
        raise NotUnderstood(
            f"{type(term).__name__} before the first block of a stream over {self.axis} is not understood"
        )
