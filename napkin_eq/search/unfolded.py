"""Copies undone: a value that is read only under other names, only with an axis seen as several, or at places of which
no two meet, as windows side by side, is computed so at once; a fold over an axis of which values are read at
quotients and remainders is one over the axes that these count; a fold that one lane alone can change, as a product
with a diagonal is, is what is in that lane; a fold over two computed values that were joined is one over each; of
folds few of whose lanes are read, at places that are looked up, these are computed for themselves; a choice of two
values that are made alike is made of choices; a choice by a mask that holds everywhere, or nowhere, is what it
takes, and what is added to the absent value, or multiplied with it, is absent.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import lru_cache

from napkin_eq.lang.axis import Axis, named_anew
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import output_order
from napkin_eq.lang.interval import interval
from napkin_eq.lang.operators import ABSENT, NEUTRAL, PLACES
from napkin_eq.lang.substitute import array_of, folded, named_apart, substituted
from napkin_eq.lang.term import (
    Const,
    Index,
    Input,
    Length,
    Map,
    Read,
    Reduce,
    Scan,
    Term,
    axis_names,
    rebuilt,
    renames,
    same_size,
    subterms,
)
from napkin_eq.machine.cost import elements
from napkin_eq.tile.places import conjuncts

# Of these a fold over an axis is one over its parts
FOLDS = ("sum", "prod", "max", "min")
JOINED = {"sum": "add", "prod": "mul", "max": "max", "min": "min"}  # what makes one fold of two over parts of an axis
ROUNDS = 8
SELDOM = 32  # times fewer lanes than a fold has: so few cost next to nothing to compute once more
FEWER = 4  # times fewer lanes than a fold that it is of has: a value that may as well be stored before it is read
COMMUTE = ("add", "mul")
YES, NO, GONE = Const(True), Const(False), Const(ABSENT)
REMEMBERED = 4096  # terms, and choices, of which it is known how they are made
DEEP = 24  # levels of a value beyond which nothing is sought that another has in common with it


def unfolded(outputs: Sequence[Term], choices: bool = True, joined: bool = True) -> tuple[Term, ...]:
    """Return terms that say the same with fewer reads of computed values at other coordinates.

    choices: also with choices of values that are made alike made of choices. joined: also with folds over values that
    were joined as folds over each.

    No fold is computed twice that was computed once, but for the few lanes of one that are looked up: a read goes down
    to what is read otherwise too, and one under another name only where there is none, arrays too. What cannot be said
    without a second name for an axis stays as it is.
    """
    found = tuple(outputs)
    for _ in range(ROUNDS):
        try:
            made = _known(found)
            made = _lone(_chosen(made) if choices else made)
            made = named_apart(_looked_up(_read_at_once(_parted(_apart(made) if joined else made))))
        except NapkinError:
            return found
        if made == found:
            break
        found = made
    return found


def _known(outputs: Sequence[Term]) -> tuple[Term, ...]:
    """Return terms without choices by masks that are known, folds over no lane, and what an absent value absorbs: what
    these alone read is computed no more. An output keeps its axes.
    """
    done = _decided(outputs)
    return tuple(_spanning(done[output], output) for output in outputs)


def _decided(roots: Sequence[Term]) -> dict[Term, Term]:
    """Return for each part of terms what it is once masks that are known are; it may vary along fewer axes."""
    done: dict[Term, Term] = {}
    for term in subterms(*roots):
        if isinstance(term, Read) and term.axis not in done[term.body].axes:
            done[term] = done[term.body]  # at any place it is the same
            continue
        made = rebuilt(term, tuple(done[c] for c in term.children))
        if isinstance(made, Map):
            if made.kind == "bool":
                made = _mask(made)
            elif made.op == "where" and made.args[0] in (YES, NO):
                made = made.args[1 if made.args[0] is YES else 2]
            elif made.op in COMMUTE and GONE in made.args:
                made = GONE
        elif isinstance(made, Reduce) and made.where is NO:
            made = Const(0) if made.monoid in PLACES else Const(NEUTRAL[made.monoid])
        done[term] = made
    return done


def _settled(term: Term) -> Term:
    """Return what a term is once masks that are known are."""
    return _decided([term])[term]


def _mask(mask: Map) -> Term:
    """Return a mask that holds everywhere, or nowhere, as just that: of what is compared with itself, or of whole
    numbers whose bounds say it.
    """
    if mask.op in ("lt", "le", "eq"):
        left, right = mask.args
        if left is right and (mask.op == "lt" or left.kind == "int"):  # what is not a number is not equal to itself
            return NO if mask.op == "lt" else YES
        if left.kind == "int":
            (low, high), (least, most) = interval(left), interval(right)
            if mask.op == "eq":
                return NO if high < least or most < low else YES if low == high == least == most else mask
            below = high < least if mask.op == "lt" else high <= least
            above = low >= most if mask.op == "lt" else low > most
            return YES if below else NO if above else mask
    elif mask.op == "not" and mask.args[0] in (YES, NO):
        return NO if mask.args[0] is YES else YES
    elif mask.op in ("and", "or"):
        decides, says_nothing = (NO, YES) if mask.op == "and" else (YES, NO)
        one: Term = mask.args[0]
        other: Term = mask.args[1]
        if decides in (one, other):
            return decides
        if says_nothing in (one, other):
            return other if one is says_nothing else one
    return mask


def _spanning(value: Term, output: Term) -> Term:
    """Return a value with all axes of an output: along those that it lacks chosen by masks that always hold."""
    for axis in reversed(output_order(output)):
        if axis not in value.axes:
            value = Map("where", (Map("lt", (Index(axis), Length(axis))), value, value))
    return value


def _chosen(outputs: Sequence[Term]) -> tuple[Term, ...]:
    """Return terms in which what the two sides of a choice have in common is computed once, where that is less.

    Where both sides are joined halves of one array, turned, each half is else computed at every place of the whole.
    """
    terms = subterms(*outputs)
    readers = Counter(child for term in terms for child in dict.fromkeys(term.children))
    done: dict[Term, Term] = {}
    for term in terms:
        made = rebuilt(term, tuple(done[c] for c in term.children))
        if isinstance(made, Map) and made.op == "add" and made.kind == "int":
            made = _moved(made)
        if isinstance(term, Map) and term.op == "where" and term.kind == "real" and isinstance(made, Map):
            alone = all(readers[arg] == 1 and arg not in outputs for arg in term.args[1:] if arg.children)
            other = _choice(*made.args) if alone else made
            if {*other.axes} == {*made.axes} and _places(other) < _places(made):
                made = other
        done[term] = made
    return tuple(done[output] for output in outputs)


def _moved(place: Term) -> Term:
    """Return a coordinate that is moved by two numbers as moved by their sum."""
    left, right = place.args
    if isinstance(right, Const) and isinstance(left, Map) and left.op == "add" and isinstance(left.args[1], Const):
        by = int(left.args[1].value) + int(right.value)
        return Map("add", (left.args[0], Const(by))) if by else left.args[0]
    return place


def _places(root: Term) -> int:
    """Return at how many places operators compute and arrays are read for a value."""
    return sum(elements(t.axes) for t in subterms(root) if t.kind == "real" and not isinstance(t, Const))


@lru_cache(REMEMBERED)
def _choice(mask: Term, one: Term, other: Term) -> Term:
    """Return a choice between two values, made of choices as far down as both are made by the same operators.

    Of two sums, or products, those parts are a pair that are made alike; a sign that one side alone has is a factor.
    """
    if one is other:
        return one
    if other.depth < DEEP and one.depth < DEEP and (_head(one) or _head(other)):
        (sign, left), (negative, right) = _signed(one), _signed(other)
        if sign != negative:
            return Map("where", (mask, Const(sign), Const(negative))) * _choice(mask, left, right)
        if sign < 0:
            return -_choice(mask, left, right)
        if (head := _head(left)) and head == _head(right):
            args, others = left.args, right.args
            shapes, theirs = [list(map(_shape, side)) for side in (args, others)]
            if head in COMMUTE and _alike(shapes, theirs[::-1]) > _alike(shapes, theirs):
                others = others[::-1]
            if all(a is b or (a.kind, b.kind) == ("real", "real") for a, b in zip(args, others, strict=True)):
                return Map(head, tuple(_choice(mask, a, b) for a, b in zip(args, others, strict=True)))
    return Map("where", (mask, one, other))


def _head(term: Term) -> str:
    """Return the operator by which a real number is made, "" of what is no operator's or is chosen."""
    return term.op if isinstance(term, Map) and term.kind == "real" and term.op not in ("where", "real") else ""


@lru_cache(REMEMBERED)
def _signed(term: Term) -> tuple[float, Term]:
    """Return the sign of a product's factors, together, and the product without it."""
    if _head(term) == "neg":
        sign, body = _signed(term.args[0])
        return -sign, body
    if _head(term) == "mul":
        (sign, left), (negative, right) = map(_signed, term.args)
        plain = left is term.args[0] and right is term.args[1]
        return sign * negative, term if plain else Map("mul", (left, right))
    return 1.0, term


@lru_cache(REMEMBERED)
def _shape(term: Term) -> tuple[object, ...]:
    """Return of which arrays and by which operators, signs apart, a value is made."""
    if _head(term) == "neg":
        return _shape(term.args[0])
    if _head(term):
        return (_head(term), *map(_shape, term.args))
    while isinstance(term, Read):
        term = term.body
    return (term.name,) if isinstance(term, Input) else (type(term).__name__,)


def _alike(shapes: Sequence[object], others: Sequence[object]) -> int:
    return sum(one == other for one, other in zip(shapes, others, strict=True))


def _lone(outputs: Sequence[Term]) -> tuple[Term, ...]:
    """Return terms whose folds of one lane, or sums of what is zero but in one, are what is in that lane."""
    done: dict[Term, Term] = {}
    for term in subterms(*outputs):
        made = rebuilt(term, tuple(done[c] for c in term.children))
        lane = _lane(made) if isinstance(made, Reduce) else None
        done[term] = made if lane is None or {*lane.axes} != {*made.axes} else lane
    return tuple(done[output] for output in outputs)


def _lane(fold: Reduce) -> Term | None:
    """Return what a fold is if its mask holds in one lane alone, or if its body, of a sum, is zero in all others; None
    where it is not known to be one.
    """
    axis = fold.axis
    conditions = [*conjuncts(fold.where), *(_asks(fold.body) if fold.monoid == "sum" else [])]
    for condition in conditions if fold.monoid in FOLDS and axis.size is not None else []:
        sides = condition.children if isinstance(condition, Map) and condition.op == "eq" else ()
        if Index(axis) not in sides:
            continue
        place = sides[sides[0] is Index(axis)]
        if place.kind != "int" or axis in place.axes or any(isinstance(t, (Reduce, Scan)) for t in subterms(place)):
            continue
        low, high = interval(place)
        if low < 0 or high > axis.size - 1:  # beyond the axis the condition holds in no lane, nor in the nearest
            place = Map("min", (Map("max", (place, Const(0))), Const(axis.size - 1)))
        own = {a.name for a in place.axes}

        def kept(value: Term, along: Set[str], own: Set[str] = own) -> bool:
            # A diagonal of a fold is computed for itself: there are as many times fewer as the axis has lanes.
            diagonal = own <= {a.name for a in value.axes} - {*along}
            return isinstance(value, Scan) or (isinstance(value, Reduce) and not diagonal)

        value, mask = (_settled(substituted(part, {axis.name: place}, kept)) for part in (fold.body, fold.where))
        if mask is Const(True):
            return value
        if fold.monoid == "sum":
            return Map("where", (mask, value, Const(0.0)))
    return None


def _asks(root: Term) -> list[Term]:
    """Return masks outside each of which a value is zero."""
    found, stack, seen = list[Term](), [root], set[Term]()
    while stack:
        term = stack.pop()
        if term in seen or not isinstance(term, Map):
            continue
        seen.add(term)
        if term.op == "where" and term.args[2] in (Const(0.0), Const(0)):
            found += conjuncts(term.args[0])
            stack.append(term.args[1])
        elif term.op in ("neg", "real"):
            stack += term.args
        elif term.op == "mul":
            stack += [one for one, other in (term.args, term.args[::-1]) if _is_number(other)]
    return found


def _is_number(root: Term) -> bool:
    """Tell whether a value is a number for certain, as every element of an array is; else it may be absent."""
    stack, seen = [root], set[Term]()
    while stack:
        term = stack.pop()
        if isinstance(term, Map) and term.op in ("add", "mul", "neg"):
            stack += [arg for arg in term.args if arg not in seen]
            seen.update(term.args)
        elif isinstance(term, Map) and term.op == "real":
            continue
        elif not isinstance(term, (Input, Read)) and not (isinstance(term, Const) and math.isfinite(term.value)):
            return False
        elif isinstance(term, Read):
            stack.append(term.body)
    return True


def _apart(outputs: Sequence[Term]) -> tuple[Term, ...]:
    """Return terms whose folds over two values that were joined, one of them a fold itself, are one over each."""
    names = axis_names(*outputs)
    cut: dict[tuple[Axis, int], tuple[Axis, Axis]] = {}
    done: dict[Term, Term] = {}
    for term in subterms(*outputs):
        done[term] = plain = made = rebuilt(term, tuple(done[c] for c in term.children))
        if isinstance(made, Map) and made.op == "where" and isinstance(mask := _settled(made.args[0]), Const):
            made = made.args[1 if mask.value else 2]
        elif isinstance(made, Reduce) and made.monoid in FOLDS and (end := _joint(made)):
            axis = made.axis
            size = (axis.size or 0) - end
            if (axis, end) not in cut:
                cut[axis, end] = _fresh(axis, end, names), _fresh(axis, size, names)
            first, second = cut[axis, end]
            first = _read_along(made, end) or first
            places = Index(first) if end > 1 else Const(0), Index(second) + Const(end) if size > 1 else Const(end)
            folds = []
            for part, place in zip((first, second), places, strict=True):
                body, where = (_placed(child, axis, place) for child in (made.body, made.where))
                one = part.size == 1 and where is Const(True)
                folds.append(body if one else Reduce(made.monoid, part, body, where))
            made = Map(JOINED[made.monoid], tuple(folds))
        elif isinstance(made, Read) and (end := _joint(made)):
            low, high = interval(made.index)
            if high < end or low >= end:
                made = _placed(made.body, made.axis, made.index)
        elif isinstance(made, Reduce) and made.monoid in FOLDS and (other := _read_along(made, made.axis.size or 0)):
            body, where = (_placed(child, made.axis, Index(other)) for child in (made.body, made.where))
            made = Reduce(made.monoid, other, body, where)
        if {*made.axes} == {*plain.axes}:
            done[term] = made
    return tuple(done[output] for output in outputs)


def _read_along(fold: Reduce, size: int) -> Axis | None:
    """Return an axis of some size along which a value that is dear is read, at the coordinate that is folded over: the
    fold may be over that axis. None where another value in the fold varies along it.
    """
    found = dict.fromkeys(
        t.axis for t in _along(fold) if isinstance(t, Read) and t.index is Index(fold.axis) and _walks(t.body)
    )
    free = {*fold.body.axes, *fold.where.axes}
    return next((axis for axis in found if axis.size == size and axis not in free), None)


def _placed(term: Term, axis: Axis, place: Term) -> Term:
    """Return a term at a place of an axis, dear values read there; where they are read at their own coordinate they are
    themselves.
    """
    done: dict[Term, Term] = {}
    put = _settled(substituted(term, {axis.name: place}, lambda value, _: isinstance(value, (Reduce, Scan))))
    for part in subterms(put):
        made = rebuilt(part, tuple(done[c] for c in part.children))
        done[part] = made.body if isinstance(made, Read) and made.index is Index(made.axis) else made
    return done[put]


def _joint(fold: Reduce | Read) -> int:
    """Return the least coordinate at which the value that is folded or read becomes another, where either is a fold
    itself; 0 where there is none.

    Arrays that were joined, keys kept from before and new ones, are read through the choice.
    """
    own, size = Index(fold.axis), fold.axis.size or 0
    ends = []
    for term in _along(fold):
        if isinstance(term, Map) and term.op == "where" and isinstance(mask := term.args[0], Map) and mask.op == "lt":
            end = mask.args[1]
            if mask.args[0] is own and isinstance(end, Const) and any(map(_walks, term.args[1:])):
                ends.append(int(end.value))
    return min((end for end in ends if 0 < end < size), default=0)


def _walks(term: Term) -> bool:
    """Tell whether a value holds a sum of products, which is dear."""
    return any(isinstance(t, Reduce) and t.monoid == "sum" for t in subterms(term))


def _parted(outputs: Sequence[Term]) -> tuple[Term, ...]:
    """Return terms whose folds over an axis, of which folds inside are at quotients and remainders, are over two."""
    names = axis_names(*outputs)
    parts: dict[tuple[Axis, int], tuple[Axis, Axis]] = {}
    done: dict[Term, Term] = {}
    for term in subterms(*outputs):
        made = rebuilt(term, tuple(done[c] for c in term.children))
        if isinstance(made, Reduce) and made.monoid in FOLDS and (number := _divisor(made)):
            axis = made.axis
            if (axis, number) not in parts:
                parts[axis, number] = _fresh(axis, (axis.size or 0) // number, names), _fresh(axis, number, names)
            outer, inner = parts[axis, number]
            place = {axis.name: Index(outer) * Const(number) + Index(inner)}

            def kept(value: Term, along: Set[str], axis: Axis = axis) -> bool:
                return isinstance(value, Scan) or (folded(value, along) and not any(_divisions((value,), axis)))

            body, where = (substituted(part, place, kept) for part in (made.body, made.where))
            made = Reduce(made.monoid, outer, Reduce(made.monoid, inner, body, where))
        done[term] = made
    return tuple(done[output] for output in outputs)


def _divisor(fold: Reduce) -> int:
    """Return the least number that divides the axis of a fold and its coordinate, where folds inside are at the
    quotient or remainder; 0 where there is none.
    """
    inside = [t for t in _along(fold) if isinstance(t, (Reduce, Read)) and folded(t, {fold.axis.name})]
    size = fold.axis.size or 0
    numbers = set(_divisions(inside, fold.axis))
    return min((number for number in numbers if 1 < number < size and size % number == 0), default=0)


def _along(fold: Reduce | Read) -> Iterator[Term]:
    """Yield the values in a fold, or a read, that vary along its axis."""
    name = fold.axis.name
    stack, seen = list(fold.children), set[Term]()
    while stack:
        term = stack.pop()
        if term in seen or all(a.name != name for a in term.axes):
            continue
        seen.add(term)
        yield term
        stack += [term.index] if isinstance(term, Read) and term.axis.name == name else term.children


def _divisions(terms: Sequence[Term], axis: Axis) -> Iterator[int]:
    """Yield the numbers by which terms divide the coordinate along an axis."""
    for part in subterms(*terms):
        if isinstance(part, Map) and part.op in ("floordiv", "mod") and part.args[0] is Index(axis):
            divisor = part.args[1]
            if isinstance(divisor, Const) and divisor.kind == "int":
                yield int(divisor.value)


def _fresh(axis: Axis, size: int, names: set[str]) -> Axis:
    return Axis(named_anew(axis.name, names), size)


def _read_at_once(outputs: Sequence[Term]) -> tuple[Term, ...]:
    """Return terms whose reads of no lane twice are carried down to the arrays, or to what is read otherwise too."""
    terms = subterms(*outputs)
    readers: dict[Term, list[Term]] = {t: [] for t in terms}
    for term in terms:
        for child in dict.fromkeys(term.children):
            readers[child].append(term)
    groups: dict[tuple[Axis, Term], list[Read]] = {}
    for term in terms:
        if isinstance(term, Read) and folded(term.body, {term.axis.name}) and one_to_one(term.index, term.axis):
            groups.setdefault((term.axis, term.index), []).append(term)
    roots = set(outputs)
    stays = {
        read: bounds
        for (axis, index), reads in groups.items()
        for bounds in [_bounds(axis, index, reads, terms, readers, roots)]
        for read in reads
        if read.body not in bounds
    }
    if not stays:
        return tuple(outputs)
    done: dict[Term, Term] = {}
    for term in terms:
        made = rebuilt(term, tuple(done[c] for c in term.children))
        if term in stays and isinstance(made, Read):
            held = {done[bound] for bound in stays[term] if bound in done}  # those of the read's own

            def kept(value: Term, along: Set[str], held: Set[Term] = held) -> bool:
                return isinstance(value, Scan) or value in held or _stays(value)

            made = substituted(made.body, {made.axis.name: made.index}, kept)
        done[term] = made
    return tuple(done[output] for output in outputs)


def _stays(term: Term) -> bool:
    """Tell whether a term reads a computed value that no read goes down through: one that holds a fold, or beyond whose
    ends it may be read, where it is the nearest.
    """
    if not isinstance(term, Read) or isinstance(array_of(term), Input):
        return False
    low, high = interval(term.index)
    inside = renames(term) or (term.axis.size is not None and low >= 0 and high < term.axis.size)
    return not inside or folded(term.body, {term.axis.name})


def _looked_up(outputs: Sequence[Term]) -> tuple[Term, ...]:
    """Return terms whose reads of few lanes of folds are carried down to the arrays, where all that is computed for
    those lanes is one fold deep and is stored for nothing else.

    A read of a computed value has it stored; where its other readers fold it at once, nothing else does.
    """
    terms = subterms(*outputs)
    reads = [t for t in terms if isinstance(t, Read) and folded(t.body, {t.axis.name})]
    cones = {read: _cone(read) for read in reads}
    seldom = {read for read in reads if _seldom(read, cones[read])}
    stored = {*outputs}.union(*(cones[read] for read in reads if read not in seldom))
    carried = {read for read in seldom if stored.isdisjoint(cones[read])}
    done: dict[Term, Term] = {}
    for term in terms:
        made = rebuilt(term, tuple(done[c] for c in term.children))
        if term in carried and isinstance(made, Read):
            made = substituted(made.body, {made.axis.name: made.index}, clamps=True)
        done[term] = made
    return tuple(done[output] for output in outputs)


def _cone(read: Read) -> set[Term]:
    """Return what is computed along the axis of a read of what it reads."""
    found = set[Term]()
    stack: list[Term] = [read.body]
    while stack:
        term = stack.pop()
        if term not in found and read.axis in term.axes and term.children:
            found.add(term)
            stack += term.children
    return found


def _seldom(read: Read, cone: Set[Term]) -> bool:
    """Tell whether a read looks up so few lanes of folds of arrays that these cost next to nothing beside them all."""
    if any(isinstance(t, (Reduce, Scan)) for t in subterms(read.index)) or any(
        isinstance(t, Scan) or (isinstance(t, Reduce) and any(folded(c, {read.axis.name}) for c in t.children))
        for t in cone
    ):
        return False
    folds = [t for t in cone if isinstance(t, Reduce)]
    looked_up = ({*t.axes} - {read.axis} | {*read.index.axes} for t in folds)
    return all(SELDOM * elements(own) <= elements(t.axes) for own, t in zip(looked_up, folds, strict=True))


def _bounds(
    axis: Axis, index: Term, reads: Sequence[Read], terms: Sequence[Term],
    readers: Mapping[Term, Sequence[Term]], roots: set[Term],
) -> set[Term]:
    """Return the values down to which some reads of one place go: what varies along their axis and is read otherwise
    too, or is an output; all that they read where they cannot go down. What is made of one such value alone, as a
    number less its mean is, is made of it again.
    """
    within = {a.name for a in index.axes}
    bodies = {read.body for read in reads}
    if any(not within.isdisjoint(a.name for a in body.axes) for body in bodies):
        return bodies  # a diagonal
    through, alone, inside, bounds = set[Term](reads), set[Term](), set[Term](), set[Term]()
    for term in reversed(terms):
        if axis not in term.axes or isinstance(term, Index) or not (term in bodies or inside & {*readers[term]}):
            continue
        only = term not in roots and all(reader in alone or reader in through for reader in readers[term])
        # A bound axis of that name takes another: what is folded before would be read by it, and computed again
        again = (
            isinstance(term, Reduce) and term.axis.name in within and any(folded(c, within) for c in term.children)
        )
        if only and not again:
            alone.add(term)
            inside.add(term)
        elif isinstance(term, Map) and term not in roots and sum(axis in child.axes for child in term.children) == 1:
            inside.add(term)
        else:
            bounds.add(term)
    if isinstance(index, Index) and same_size(index.axis, axis):
        # Under a second name a value, or an array, would be told apart from itself
        return bodies if bounds else bounds
    # What is made of far more that is computed is stored for next to nothing, and what it is of stays simple
    reduced = [t for t in inside if isinstance(t, Reduce)]
    nested = {t.body for t in reduced if isinstance(t.body, Reduce) and t.monoid == t.body.monoid}
    read = [t for t in inside if isinstance(t, Read) and folded(t.body, {t.axis.name})]
    most = max((elements(t.axes) for t in (*reduced, *read) if t not in nested), default=0)
    return bodies if FEWER * max(elements(body.axes) for body in bodies) <= most else bounds


def one_to_one(index: Term, axis: Axis) -> bool:
    """Tell whether a coordinate along an axis is another axis' own, or that of several of which no two places meet, and
    lies inside the axis: what is read there is computed at no more places than along the axis.

    Windows side by side, a part that is cut out, and every other lane are read so.
    """
    digits: list[tuple[int, int]] = []
    names, first = set[str](), 0
    stack = [(index, 1)]
    while stack:
        term, step = stack.pop()
        number = term.args[1] if isinstance(term, Map) and term.op == "mul" else None
        if isinstance(term, Map) and term.op == "add":
            stack += [(arg, step) for arg in term.args]
        elif isinstance(term, Map) and isinstance(number, Const) and number.kind == "int" and int(number.value) > 0:
            stack.append((term.args[0], step * int(number.value)))
        elif isinstance(term, Index) and term.axis.size is not None and term.axis.name not in names:
            names.add(term.axis.name)
            digits.append((step, term.axis.size))
        elif isinstance(term, Const) and term.kind == "int":
            first += step * int(term.value)
        else:
            return False
    last = 0  # of the places that steps so far lead to
    for step, size in sorted(digits):
        if step <= last:
            return False
        last += step * (size - 1)
    return bool(digits) and axis.size is not None and 0 <= first < axis.size - last and axis.name not in names


__all__ = ["one_to_one", "unfolded"]
