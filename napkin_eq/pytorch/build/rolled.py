"""Loops that a program was traced through, found again in their results: a row of terms each of which is made of the
one before.

What the terms have in common is one term along a new axis; numbers that count along the row are its coordinate. The
state that is carried must be a linear function of the state before it, which makes it a recurrence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import napkin_eq.frontend.library as nq
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.substitute import substituted
from napkin_eq.lang.term import Const, Index, Input, Map, Recur, Reduce, Term, rebuilt, rewritten, same_size, subterms
from napkin_eq.pytorch.build.builder import elsewhere

SHORTEST = 4
HOLE = "rolled_state"
ZERO, ONE = Const(0.0), Const(1.0)
Path = tuple[int, ...]


def rolled(terms: Sequence[Term], axis: Axis) -> tuple[Term, dict[Term, Term]] | None:
    """Return a row of terms as one term along an axis, and what the states on the way are of that; None where they are
    no such loop.

    The loop may have gone from the first term to the last, or from the last to the first.
    """
    if (found := _rolled(terms, axis)) is not None:
        return found
    if (found := _rolled(terms[::-1], axis)) is not None:
        return elsewhere(found[0], {axis.name: Const(len(terms) - 1) + Index(axis) * (-1)}), found[1]
    return None


def _rolled(terms: Sequence[Term], axis: Axis) -> tuple[Term, dict[Term, Term]] | None:
    if len(terms) < SHORTEST or any(t.kind != "real" for t in terms):
        return None
    paths = _states(terms[1], terms[2])
    chains = [_chain(terms, path) for path in paths]
    if (
        not chains
        or None in chains
        or any(isinstance(t, Input) and t.name.startswith(HOLE) for t in subterms(terms[-1]))
    ):
        return None
    states = [chain for chain in chains if chain is not None]
    holes = [Input(f"{HOLE}{number}", chain[1].axes, "float32") for number, chain in enumerate(states)]
    found: list[Term] = []
    for chain, hole in zip(states, holes, strict=True):
        step = common([put(after, {before: hole}) for before, after in zip(chain, chain[1:], strict=False)], axis, 1)
        parts = linear(step, hole) if step is not None else None
        if step is None or parts is None or any(t in holes for side in parts for t in subterms(side)):
            return None
        found.append(started(axis, *parts, step, hole, chain[0]))
    last = [dict(zip((chain[i] for chain in states), holes, strict=True)) for i in range(len(terms))]
    whole = common([put(term, last[i]) for i, term in enumerate(terms)][1:], axis, 1)
    if whole is None:
        return None
    first = _start(put(whole, {hole: chain[0] for hole, chain in zip(holes, states, strict=True)}), axis)
    out = put(whole, dict(zip(holes, found, strict=True)))
    out = out if first is terms[0] else nq.where(Index(axis) < 1, terms[0], out)
    known = {
        chain[i]: elsewhere(state, {axis.name: Const(i)})
        for chain, state in zip(states, found, strict=True)
        for i in range(1, len(chain))
    }
    return out, known


def started(axis: Axis, gain: Term, part: Term, step: Term, hole: Term, first: Term) -> Term:
    """Return the recurrence of a step, whose first state is given."""
    if _start(put(step, {hole: ZERO}), axis) is first:
        return Recur(axis, gain, part)
    return Recur(axis, nq.where(Index(axis) < 1, ONE, gain), nq.where(Index(axis) < 1, first, part))


def _start(term: Term, axis: Axis) -> Term:
    """Return a term at the first place of an axis, sums and products of whole numbers worked out."""
    return rewritten(substituted(term, {axis.name: Const(0)}), _worked_out)


def _worked_out(term: Term) -> Term:
    numbers = (
        [arg.value for arg in term.args if isinstance(arg, Const)]
        if isinstance(term, Map) and term.kind == "int"
        else []
    )
    if len(numbers) != 2 or len(term.args) != 2 or term.op not in ("add", "mul"):
        return term
    return Const(numbers[0] + numbers[1] if term.op == "add" else numbers[0] * numbers[1])


def linear(term: Term, state: Term) -> tuple[Term, Term] | None:
    """Return gain and part of a term that is gain · state + part, None where it is not shown to be."""
    if term is state:
        return ONE, ZERO
    if state not in subterms(term):
        return ZERO, term
    if not isinstance(term, Map):
        return None
    if term.op == "where" and state not in subterms(term.args[0]):
        sides = [linear(arg, state) for arg in term.args[1:]]
        if sides[0] is None or sides[1] is None:
            return None
        return nq.where(term.args[0], sides[0][0], sides[1][0]), nq.where(term.args[0], sides[0][1], sides[1][1])
    sides = [linear(arg, state) for arg in term.args]
    if None in sides:
        return None
    known = [side for side in sides if side is not None]
    if term.op == "add":
        (a, b), (c, d) = known
        return _sum(a, c), _sum(b, d)
    if term.op == "neg":
        return -known[0][0], -known[0][1]
    if term.op == "mul" and ZERO in (known[0][0], known[1][0]):
        (gain, part), (_, factor) = known if known[1][0] is ZERO else known[::-1]
        return _product(gain, factor), _product(part, factor)
    return None


def common(terms: Sequence[Term], axis: Axis, low: int) -> Term | None:
    """Return the term that at places `low`, `low` + 1, … of an axis is each of some terms; None where none is found."""
    memo: dict[tuple[Term, ...], Term | None] = {}

    def of(row: tuple[Term, ...]) -> Term | None:
        if row not in memo:
            memo[row] = one(row)
        return memo[row]

    def one(row: tuple[Term, ...]) -> Term | None:
        head = row[0]
        if all(term is head for term in row):
            return head
        if any(type(term) is not type(head) or term.kind != head.kind for term in row):
            return None
        if isinstance(head, Const):
            return _counting([term.value for term in row], axis, low) if head.kind == "int" else None
        if isinstance(head, Reduce) and any(term.axis != head.axis for term in row):
            moved = [term if term.axis == head.axis else _along(term, head.axis) for term in row]
            row = tuple(term if other is None else other for term, other in zip(row, moved, strict=True))
        if (
            any(_fields(term) != _fields(head) or len(term.children) != len(head.children) for term in row)
            or not head.children
        ):
            return None
        children = [of(tuple(term.children[at] for term in row)) for at in range(len(head.children))]
        known = tuple(child for child in children if child is not None)
        return rebuilt(head, known) if len(known) == len(children) else None

    return of(tuple(terms))


def _counting(values: Sequence[int], axis: Axis, low: int) -> Term | None:
    """Return whole numbers that grow by the same at each place as a term of the coordinate."""
    step = values[1] - values[0]
    if any(b - a != step for a, b in zip(values, values[1:], strict=False)):
        return None
    place: Term = Index(axis) if step == 1 else Index(axis) * step
    return place + (values[0] - step * low) if values[0] != step * low else place


def _along(fold: Term, axis: Axis) -> Term | None:
    """Return a fold over another axis of the same size, None where that is in its way."""
    if not same_size(fold.axis, axis) or any(axis in part.axes for part in fold.children):
        return None
    return Reduce(fold.monoid, axis, *(elsewhere(part, {fold.axis.name: Index(axis)}) for part in fold.children))


def _fields(term: Term) -> tuple[object, ...]:
    return tuple(
        f
        for f in term.fields
        if not isinstance(f, Term) and not (isinstance(f, tuple) and f and isinstance(f[0], Term))
    )


def _states(before: Term, after: Term) -> list[Path]:
    """Return where a term holds what stands in the same place of the next one, and is a part of that there."""
    found: dict[Term, Path] = {}
    if len(subterms(after)) <= len(subterms(before)):
        return []  # a loop that goes the other way: what is made of the one before has more parts
    waiting: list[tuple[Term, Term, Path]] = [(before, after, ())]
    seen: set[tuple[Term, Term]] = set()
    while waiting:
        one, other, path = waiting.pop()
        if one is other or (one, other) in seen:
            continue
        seen.add((one, other))
        if one.children and one.axes and one in subterms(other):
            found.setdefault(one, path)
        elif len(one.children) == len(other.children):
            waiting += [(a, b, (*path, at)) for at, (a, b) in enumerate(zip(one.children, other.children, strict=True))]
    return list(found.values())


def _chain(terms: Sequence[Term], path: Path) -> list[Term] | None:
    """Return the states of a row of terms, the first one as the second one holds it; None where one is not made of the
    one before.
    """
    states = [_at(term, path) for term in terms[1:]]
    if any(state is None or state.kind != "real" for state in states):
        return None
    known = [state for state in states if state is not None]
    inside = _path(known[1], known[0])
    first = _at(known[0], inside) if inside is not None else None
    if first is None or not all(
        _at(after, inside or ()) is before for before, after in zip(known, known[1:], strict=False)
    ):
        return None
    return [first, *known]


def _at(term: Term, path: Path) -> Term | None:
    for place in path:
        if place >= len(term.children):
            return None
        term = term.children[place]
    return term


def _path(term: Term, part: Term) -> Path | None:
    """Return the shortest way down to a part of a term."""
    waiting: list[tuple[Term, Path]] = [(term, ())]
    seen: set[Term] = set()
    for inside, path in waiting:
        if inside is part:
            return path
        if inside not in seen:
            seen.add(inside)
            waiting += [(child, (*path, at)) for at, child in enumerate(inside.children)]
    return None


def put(root: Term, table: Mapping[Term, Term]) -> Term:
    """Return a term with others in the place of some of its parts, the outermost first."""
    done: dict[Term, Term] = dict(table)
    waiting = [root]
    while waiting:
        term = waiting[-1]
        if term in done:
            waiting.pop()
        elif missing := [child for child in term.children if child not in done]:
            waiting += missing
        else:
            done[term] = rebuilt(term, tuple(done[child] for child in term.children))
    return done[root]


def _sum(a: Term, b: Term) -> Term:
    return b if a is ZERO else a if b is ZERO else a + b


def _product(a: Term, b: Term) -> Term:
    return ZERO if ZERO in (a, b) else b if a is ONE else a if b is ONE else a * b
