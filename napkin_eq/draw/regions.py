"""Regions of a diagram that take one array and give one: a value, and what folds of that value make of it.

Such a region is drawn as one triangle. It is found by its form alone: every way from its result down to an array leads
through one value, nothing inside is used elsewhere, and it folds along axes of that value.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from napkin_eq.lang.term import (
    Acc,
    Const,
    Group,
    Index,
    Length,
    Map,
    Online,
    Prev,
    Read,
    Reduce,
    Scan,
    Size,
    Term,
    Walk,
)

MOST_INSIDE = 40
Folds = (Reduce, Scan)


@dataclass(frozen=True, slots=True)
class Region:
    """A region: its result, the value that it starts from, the axes that it folds along, the terms inside."""

    out: Term
    start: Term
    axes: tuple[str, ...]
    inside: tuple[Term, ...]


def bare(term: Term) -> Term:
    """Return a term without the Group and Walk around it, which say in which blocks it is computed."""
    while isinstance(term, (Group, Walk)):
        term = term.body
    return term


def parts(term: Term) -> tuple[Term, ...]:
    """Return the subterms that are drawn as wires into a term: of a carried sum not how it is carried."""
    children = term.children[:2] if isinstance(term, Online) else term.children
    return tuple(bare(child) for child in children)


_written: dict[Term, bool] = {}


def is_written(term: Term) -> bool:
    """Tell whether a term is written into captions instead of drawn: numbers, coordinates and masks of them."""
    if term not in _written:
        if isinstance(term, (Const, Index, Size, Length, Acc, Prev)):
            _written[term] = True
        else:
            _written[term] = isinstance(term, Map) and all(map(is_written, term.args))
    return _written[term]


def users_of(roots: Sequence[Term], stops: Mapping[Term, int]) -> dict[Term, list[Term]]:
    """Return the drawn terms below some roots, children first, each with the terms that it is a part of."""
    found: dict[Term, list[Term]] = {}

    def below(root: Term) -> Iterator[Term]:
        seen, stack = set[Term](), [(root, False)]
        while stack:
            term, ready = stack.pop()
            if ready:
                yield term
            elif term not in seen and term not in found:
                seen.add(term)
                stack.append((term, True))
                if term not in stops:
                    stack.extend((child, False) for child in reversed(parts(term)))

    for root in map(bare, roots):
        for term in below(root):
            found.setdefault(term, [])
    for term in found:
        for child in dict.fromkeys(() if term in stops else parts(term)):
            found[child].append(term)
    return found


def regions(users: Mapping[Term, list[Term]], stops: Mapping[Term, int], roots: Set[Term]) -> dict[Term, Region]:
    """Return the regions that can be drawn as one, by their results; of two that share a term the later one."""
    found: dict[Term, Region] = {}
    taken: set[Term] = set()
    for term in reversed(list(users)):
        if term in stops or term in taken or not isinstance(term, Map) or is_written(term):
            continue
        region = _region(term, users, stops, roots)
        if region and not taken & set(region.inside):
            found[term] = region
            taken |= set(region.inside)
    return found


def _region(out: Term, users: Mapping[Term, list[Term]], stops: Mapping[Term, int], roots: Set[Term]) -> Region | None:
    """Return the largest region that ends in a term, without what only leads up to its folds."""
    inside: list[Term] = []
    best: Region | None = None
    folds = 0
    # The deepest first: when one value is left, every way down leads through it.
    number = itertools.count()
    heap, waiting = [(-out.depth, next(number), out)], {out}
    while len(inside) < MOST_INSIDE:
        _, _, term = heapq.heappop(heap)
        waiting.discard(term)
        if (
            term in stops
            or not parts(term)
            or isinstance(term, Read)
            or not {a.name for a in term.axes} <= {a.name for a in out.axes}
        ):
            break
        inside.append(term)
        for child in parts(term):
            if child not in waiting and not is_written(child):
                waiting.add(child)
                heapq.heappush(heap, (-child.depth, next(number), child))
        if not waiting:
            break
        (start, *others) = waiting
        along = dict.fromkeys(t.axis.name for t in inside if isinstance(t, Folds))
        if others or start.axes != out.axes or not set(along) <= {a.name for a in start.axes}:
            continue
        count = sum(isinstance(t, Folds) for t in inside)
        if count > folds and _closed(out, inside, users, roots):
            best, folds = Region(out, start, tuple(along), tuple(inside)), count
    return best


def _closed(out: Term, inside: Sequence[Term], users: Mapping[Term, list[Term]], roots: Set[Term]) -> bool:
    """Tell whether nothing but the result is used outside."""
    return all(term not in roots and all(user in inside for user in users[term]) for term in inside if term is not out)
