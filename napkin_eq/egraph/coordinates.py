"""Laws that speak of coordinates, for an e-graph: there a coordinate, and what is made of coordinates alone, is a leaf.

Such a law is entered once for each choice of the diagram's axes for those that its coordinates run along, with the
leaves put in.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import (
    Const,
    Fold,
    Index,
    Input,
    Length,
    Map,
    Pattern,
    Read,
    Reduce,
    Term,
    _make,
    rebuilt,
    subterms,
)
from napkin_eq.laws.law import Inference, Judgment, Law, Var
from napkin_eq.laws.obligation import judgments_of, terms_of

MOST_CHOICES = 400
REMEMBERED = 1 << 17  # terms of which it is known whether a place stands in them, while a process lives
Stated = TypeVar("Stated", Law, Inference)


class Held(Pattern):
    """A leaf of an e-graph in a pattern: `Held(number, kind)`."""

    names = ("number", "sort")
    __slots__ = ()

    def __new__(cls, number: int, sort: str) -> Held:
        return _make(cls, (number, sort), (), sort, ())


def array_of(term: Term) -> Term:
    """Return the array that reads are of, or the term itself."""
    while isinstance(term, Read):
        term = term.body
    return term


def opaque(term: Term) -> bool:
    """Whether a term is a leaf: no law looks inside. What holds the place of a maximum is none: that is computed, and
    may be streamed.
    """
    if finds_places(term):
        return False
    if isinstance(term, (Input, Index, Length)):
        return True
    if isinstance(term, Read):
        return isinstance(array_of(term), Input)
    if isinstance(term, Const):
        return term.kind != "real" and term.value is not True
    return whole(term)


def whole(term: Term) -> bool:
    """Whether a term is an operator over whole numbers that gives one, or a mask."""
    return isinstance(term, Map) and (
        term.kind == "int" or (term.kind == "bool" and all(a.kind == "int" for a in term.args))
    )


_FINDS: dict[Term, bool] = {}


def finds_places(term: Term) -> bool:
    """Whether a reduction to a place stands in a term."""
    if term not in _FINDS:
        if len(_FINDS) > REMEMBERED:
            _FINDS.clear()  # what is asked for again is found again, from the parts of the term at hand
        for part in subterms(term):
            if part not in _FINDS:
                own = isinstance(part, (Reduce, Fold)) and part.kind == "int"
                _FINDS[part] = own or any(_FINDS[child] for child in part.children)
    return _FINDS[term]


def coordinates(*patterns: Term) -> list[Term]:
    """Return the outermost parts of patterns that are made of coordinates and hold no pattern variable."""
    found: dict[Term, None] = {}
    waiting = list(patterns)
    while waiting:
        term = waiting.pop(0)
        parts = subterms(term) if opaque(term) else []
        if any(isinstance(t, Index) for t in parts) and not any(isinstance(t, Var) for t in parts):
            found.setdefault(term)
        else:
            waiting.extend(term.children)
    return list(found)


def without_coordinates(pattern: Term) -> Term:
    """Return a pattern with some leaf in the place of each part that is made of coordinates."""
    return _put(pattern, {t: Held(0, t.kind) for t in coordinates(pattern)})


def placed(
    statement: Stated, axes: Sequence[Axis], leaf: Callable[[Term], int]
) -> Iterator[tuple[Stated, dict[str, Axis]]]:
    """Yield a statement with leaves for its coordinates, and which of its axes is which, for each choice; `leaf`
    numbers a term.

    Raises NapkinError where there are too many choices.
    """
    parts = coordinates(*terms_of(statement))
    names = sorted({f.name for t in subterms(*parts) for f in t.fields if isinstance(f, Axis)})
    if len(axes) ** len(names) > MOST_CHOICES:
        raise NapkinError(
            f"law {statement.name} speaks of coordinates along {len(names)} axes, the diagram has {len(axes)}: too many"
            " choices to enter"
        )
    for chosen in itertools.product(axes, repeat=len(names)):
        known = dict(zip(names, chosen, strict=True))
        held: dict[Term, Term] = {t: Held(leaf(_along(t, known)), t.kind) for t in parts}

        def judgment(j: Judgment, held: dict[Term, Term] = held) -> Judgment:
            return Judgment(j.name, tuple(_put(a, held) if isinstance(a, Term) else a for a in j.args))

        if isinstance(statement, Law):
            conditions = tuple(map(judgment, judgments_of(statement)))
            yield (
                replace(statement, lhs=_put(statement.lhs, held), rhs=_put(statement.rhs, held), conditions=conditions),
                known,
            )
        else:
            yield (
                replace(
                    statement,
                    conclusion=judgment(statement.conclusion),
                    premises=tuple(map(judgment, statement.premises)),
                ),
                known,
            )


def _along(term: Term, known: dict[str, Axis]) -> Term:
    """Return a term of coordinates along the diagram's axes."""
    inside = rebuilt(term, tuple(_along(child, known) for child in term.children))
    return type(inside)(*(known.get(f.name, f) if isinstance(f, Axis) else f for f in inside.fields))


def _put(term: Term, held: dict[Term, Term]) -> Term:
    return held[term] if term in held else rebuilt(term, tuple(_put(child, held) for child in term.children))
