"""Places of arrays, and what masks say of them: linear forms of whole numbers, bounds on them, and whether a place lies
inside an axis wherever the masks hold that are known.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Iterator

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.interval import ANY, Interval, interval
from napkin_eq.lang.term import Const, Index, Input, Length, Map, Read, Size, Term, rewritten, same_size, subterms
from napkin_eq.tile.stream_facts import read_along

EXACT = 2.0**53  # below which a float is the whole number that it stands for


def linear(term: Term, factor: int = 1) -> dict[Term, int]:
    """Write an integer term as a linear form: atoms and their coefficients, the constant under Const(1)."""
    if isinstance(term, Const) and term.kind == "int":
        return {Const(1): factor * term.value}
    if isinstance(term, Map) and term.op in ("add", "neg"):
        form: dict[Term, int] = {}
        for arg in term.args:
            for atom, k in linear(arg, -factor if term.op == "neg" else factor).items():
                form[atom] = form.get(atom, 0) + k
        return form
    if isinstance(term, Map) and term.op == "mul":
        for number, other in (term.args, term.args[::-1]):
            if isinstance(number, Const):
                return linear(other, factor * number.value)
    return {term: factor}


def at_least_zero(mask: Term) -> list[dict[Term, int]] | None:
    """Return linear forms f with mask = (all f >= 0), or None for a mask that is not an integer comparison."""
    if not isinstance(mask, Map) or not all(a.kind == "int" for a in mask.args):
        if (
            isinstance(mask, Map)
            and mask.op == "not"
            and isinstance(mask.args[0], Map)
            and mask.args[0].op in ("lt", "le")
        ):
            inner = mask.args[0]
            return at_least_zero(Map("le" if inner.op == "lt" else "lt", inner.args[::-1]))
        return None
    left, right = mask.args[0], mask.args[-1]
    if mask.op == "le":
        return [linear(Map("add", (right, Map("neg", (left,)))))]
    if mask.op == "lt":
        return [linear(Map("add", (Map("add", (right, Map("neg", (left,)))), Const(-1))))]
    if mask.op == "eq":
        return [linear(Map("add", (a, Map("neg", (b,))))) for a, b in ((left, right), (right, left))]
    return None


def numbered(mask: Term, running: frozenset[str]) -> Term:
    """Return a mask with numbers for the sizes that are known, but of the axes that are running: such grow."""

    def number(term: Term) -> Term:
        known = isinstance(term, Length) or (isinstance(term, Size) and term.axis.name not in running)
        return Const(term.axis.size) if known and term.axis.size is not None else term

    return rewritten(mask, number)


@functools.lru_cache(maxsize=1 << 14)
def decided(mask: Term, running: frozenset[str]) -> bool | None:
    """Return what a comparison of whole numbers is in all lanes, by the bounds of these; None where they do not say it,
    and of another mask.
    """
    if (forms := at_least_zero(numbered(mask, running))) is None:
        return None
    ends = [_ends(form) for form in forms]
    return True if all(low >= 0 for low, _ in ends) else False if any(high < 0 for _, high in ends) else None


def _ends(form: dict[Term, int]) -> tuple[float, float]:
    """Return bounds on a linear form, whatever the data are; infinite where they pass what a float holds of whole
    numbers.
    """
    low, high = 0.0, 0.0
    for atom, factor in form.items():
        ends = ANY if any(isinstance(part, Input) for part in subterms(atom)) else interval(atom)
        if not factor:
            continue
        if abs(factor) >= EXACT or max(map(abs, ends)) >= EXACT:
            return -math.inf, math.inf
        least, most = sorted(factor * end for end in ends)
        low, high = low + least, high + most
    return (low, high) if max(-low, high) < EXACT else (-math.inf, math.inf)


def conjuncts(mask: Term) -> list[Term]:
    """Split a mask into the parts that must all hold; where not one of several may, each of them may not."""
    return [] if mask == Const(True) else _parted(mask, "and", "or")


def disjuncts(mask: Term) -> list[Term]:
    """Split a mask into the parts of which one must hold."""
    return _parted(mask, "or", "and")


def _parted(mask: Term, by: str, other: str) -> list[Term]:
    """Return the parts of a mask by one operator, and by the other where it is denied."""
    if not isinstance(mask, Map):
        return [mask]
    if mask.op == by:
        return [part for arg in mask.args for part in _parted(arg, by, other)]
    denied = mask.args[0] if mask.op == "not" else None
    if isinstance(denied, Map) and denied.op == "not":
        return _parted(denied.args[0], by, other)
    if isinstance(denied, Map) and denied.op == other:
        return [part for arg in denied.args for part in _parted(Map("not", (arg,)), by, other)]
    return [mask]


def read_places(read: Read) -> list[tuple[Axis, Term]]:
    """Return where the array under reads is read: the axis of each, and the place along it."""
    found, outer = list[tuple[Axis, Term]](), list[Read]()
    body: Term = read
    while isinstance(body, Read):
        index = body.index
        # What an inner index says along an axis is read at the coordinate that an outer one gives
        for other in outer[::-1]:
            index = read_along(index, other.axis, other.index)
        found.append((body.axis, index))
        outer.append(body)
        body = body.body
    return found


def within(place: Term, known: Collection[Term]) -> Interval:
    """Return bounds on a place, for all lanes of its own axes for which the masks hold that are known.

    They must hold of any data: what is declared of an array's numbers is not counted on.
    """
    own = linear(place)
    low, high = _ends(own)
    for form in _forms(known):
        low = max(low, _ends(_sum(own, form, -1))[0])
        high = min(high, _ends(_sum(own, form, 1))[1])
    return low, high


def _forms(known: Collection[Term]) -> list[dict[Term, int]]:
    """Return linear forms that are at least zero where masks hold."""
    return [form for mask in known for form in at_least_zero(mask) or ()]


def _sum(one: dict[Term, int], other: dict[Term, int], factor: int) -> dict[Term, int]:
    return {atom: one.get(atom, 0) + factor * other.get(atom, 0) for atom in {**one, **other}}


def lies_inside(place: Term, axis: Axis, known: Collection[Term]) -> bool:
    """Tell whether a place lies inside an axis, for all lanes of its own axes for which the masks hold that are
    known.
    """
    return all(_sides(place, axis, known))


def _sides(place: Term, axis: Axis, known: Collection[Term]) -> tuple[bool, bool]:
    """Tell of which ends of an axis a place is sure to lie on the side inside."""
    low, high = within(place, known)
    if axis.size is not None:
        return low >= 0, high < axis.size
    last = linear(Map("add", (Map("add", (Length(axis), Const(-1))), Map("neg", (place,)))))
    return low >= 0, any(_ends(form)[0] >= 0 for form in (last, *(_sum(last, f, -1) for f in _forms(known))))


@functools.lru_cache(maxsize=1 << 14)
def unsure(term: Term, running: frozenset[str] = frozenset()) -> tuple[tuple[Term, Axis], ...]:
    """Return the places of the reads in a term, element by element, that may lie outside of the axis that they are
    along, each with that; sizes in them are numbers where they are known, but of the axes that are running.
    """
    found: dict[tuple[Term, Axis], None] = {}
    seen, waiting = set[Term](), [term]
    while waiting:
        if (part := waiting.pop()) in seen:
            continue
        seen.add(part)
        if isinstance(part, Map):
            waiting += part.args[::-1]
        elif isinstance(part, Read):
            for axis, said in read_places(part):
                place = numbered(said, running)
                waiting.append(said)
                if not (isinstance(place, Index) and same_size(place.axis, axis) or lies_inside(place, axis, ())):
                    found[place, axis] = None
    return tuple(found)


@functools.lru_cache(maxsize=1 << 14)
def tells(mask: Term, places: tuple[tuple[Term, Axis], ...], running: frozenset[str] = frozenset()) -> bool:
    """Tell whether a mask says of one of some places that it lies on the side inside of an end of its axis."""
    known = [numbered(part, running) for part in conjuncts(mask)]
    return any(
        more and not sure
        for place, axis in places
        for more, sure in zip(_sides(place, axis, known), _sides(place, axis, ()), strict=True)
    )


def told(term: Term) -> Iterator[tuple[Read, tuple[Term, ...]]]:
    """Yield the reads of a term, element by element, whose places may lie outside of their axes, each with the masks
    that hold where it is wanted, of those that tell something of places beside it.
    """
    waiting: list[tuple[Term, tuple[Term, ...]]] = [(term, ())]
    seen = set(waiting)

    def wanted(part: Term, known: tuple[Term, ...]) -> None:
        if unsure(part) and (part, known) not in seen:
            seen.add((part, known))
            waiting.append((part, known))

    while waiting:
        part, known = waiting.pop()
        if isinstance(part, Read):
            yield part, known
            for _, place in read_places(part):
                wanted(place, known)
        elif isinstance(part, Map) and part.op == "where":
            wanted(part.args[0], known)
            for side, holds in sides(part):
                wanted(side, telling((*known, holds), side))
        elif isinstance(part, Map):
            for arg in part.args:
                wanted(arg, known)


def sides(choice: Map) -> tuple[tuple[Term, Term], tuple[Term, Term]]:
    """Return the two values that one is chosen of, each with the mask that holds where it is."""
    mask, kept, other = choice.args
    return (kept, mask), (other, Map("not", (mask,)))


def telling(masks: tuple[Term, ...], term: Term, running: frozenset[str] = frozenset()) -> tuple[Term, ...]:
    """Return the masks that tell something of the places of reads in a term."""
    places = unsure(term, running)
    return tuple(mask for mask in masks if tells(mask, places, running)) if places else ()
