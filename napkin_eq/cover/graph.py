"""The graph of a diagram: its values, who reads them, and the cuts, which are the values that may be stored between
kernels.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from heapq import heappop, heappush

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.term import Index, Input, Map, Read, Reduce, Scan, Term, subterms
from napkin_eq.laws.law import Judgment, finite, nonneg, nonzero, pos
from napkin_eq.machine.cost import elements
from napkin_eq.tile.ir import IN_PARTS
from napkin_eq.tile.lower.elementwise import far
from napkin_eq.tile.stream_facts import contracted

HELD = 2048  # lanes of a value, more than which a block does not hold beside others
FEW = 32  # times fewer elements: what has so many fewer than another costs next to nothing beside it


@dataclass(frozen=True, slots=True)
class Graph:
    """Values of a diagram: `outputs`, `cuts` with producers before consumers, and `kept`, the cuts that are read at
    other coordinates.

    A value of `kept` is stored wherever it is used through such a read: no kernel computes a value and reads it
    elsewhere. `doubtful`: the cuts that may be absent somewhere. They are stored, and no other kernel reads them: an
    array that it is given holds what is present. `bounds`: the cuts that lanes are held against. They bound loops, and
    are there before these begin: no kernel has them inside.
    """

    outputs: tuple[Term, ...]
    cuts: tuple[Term, ...]
    kept: frozenset[Term]
    doubtful: frozenset[Term]
    bounds: frozenset[Term]
    order: dict[Term, int]
    readers: dict[Term, list[Term]]

    def meeting(self, value: Term) -> Term | None:
        """Return the first cut after a value that all further uses of the value lead to, None where there is none."""
        waiting, cuts, outputs = [(self.order[value], value)], {*self.cuts}, {*self.outputs}
        seen = {value}
        while waiting:
            _, term = heappop(waiting)
            if term is not value and not waiting and term in cuts:
                return term
            if term in outputs:
                return None
            for reader in self.readers[term]:
                if reader not in seen:
                    seen.add(reader)
                    heappush(waiting, (self.order[reader], reader))
        return None


def graph_of(outputs: Sequence[Term], proved: Callable[[Judgment], bool]) -> Graph:
    """Return the graph of some outputs; `proved` tells what is known of a value: one that may be absent is
    not stored.
    """
    terms = subterms(*outputs)
    readers: dict[Term, list[Term]] = {t: [] for t in terms}
    for term in terms:
        for child in dict.fromkeys(term.children):
            readers[child].append(term)
    present: dict[Term, bool] = {}
    given: dict[Term, bool] = {}  # whether a term is made of arrays
    for term in terms:
        given[term] = isinstance(term, Input) or any(given[child] for child in term.children)

    def storable(term: Term) -> bool:
        if term.kind == "int" and isinstance(term, Reduce):
            return True  # the place of a maximum is a lane, whatever was folded
        if term.kind != "real" or not term.children or isinstance(term, Read):
            return False
        if term not in present:
            present[term] = given[term] and proved(finite(term))
        return present[term]

    kept = frozenset(t.body for t in terms if isinstance(t, Read) and computed(t.body))
    found = {*outputs, *kept}
    for term in terms:
        if isinstance(term, (Reduce, Scan)):
            found |= {t for t in _chain(term, readers, set(outputs)) if storable(t)}
            if (product := contracted(term)) is not None:
                found |= {t for t in product if storable(t) and elements(t.axes) < elements(term.body.axes)}
        elif not isinstance(term, Read) and (len(readers[term]) > 1 or _spreads(term, readers)) and storable(term):
            found.add(term)
    order = {t: i for i, t in enumerate(terms)}
    largest = max(elements(t.axes) for t in (*outputs, *(t for t in terms if isinstance(t, Input))))
    held = kept.union(outputs)
    ends = {t: t if t in held else _end(t, readers, held, storable, largest // FEW, order) for t in found}
    operands = {t for term in terms for t in contracted(term) or ()}
    # What folds end with, and operands, which the matrix unit takes best as they are stored.
    firm = held | operands | {end for t, end in ends.items() if isinstance(t, (Reduce, Scan))}
    found = set(ends.values())
    for term in sorted(found - firm, key=lambda t: order[t]):
        if _made_again(term, found, largest // FEW) and not _follows(term, found):
            found.remove(term)
    doubtful = frozenset(t for t in found if t.kind == "real" and not proved(finite(t)))
    compared = (t.args for t in terms if isinstance(t, Map) and t.op in ("lt", "le"))
    bounds = frozenset(a for args in compared for a in args if a in found and isinstance(a, Reduce) and a.kind == "int")
    cuts = tuple(sorted(found, key=lambda t: order[t]))
    return Graph(tuple(outputs), cuts, kept, doubtful, bounds, order, readers)


def facts_of(term: Term, proved: Callable[[Judgment], bool]) -> tuple[str, ...]:
    """Return what is said of an array that stands for a value: the strongest sign that is proved of it, and whether
    numbers near the end of float32's range may be among it.
    """
    if term.kind != "real":
        return ()
    signs = (("pos", pos), ("nonneg", nonneg), ("nonzero", nonzero))
    sign = next((name for name, judgment in signs if proved(judgment(term))), None)
    return (*([sign] if sign else []), *(["far"] if far(term, IN_PARTS, data=False) else []))


def _spreads(term: Term, readers: Mapping[Term, list[Term]]) -> bool:
    """Tell whether an operator's value is read beside one of more axes: once for many of its lanes."""
    return isinstance(term, Map) and any(set(term.axes) < set(reader.axes) for reader in readers[term])


def _end(
    term: Term,
    readers: Mapping[Term, list[Term]],
    held: Set[Term],
    storable: Callable[[Term], bool],
    small: int,
    order: Mapping[Term, int],
) -> Term:
    """Return the value to store in the place of another: all who read that make it of this one, numbers and small
    arrays, and it is as large.
    """
    own, end = {term}, term
    while waiting := [r for t in own for r in readers[t] if r not in own]:
        reader = min(waiting, key=lambda t: order[t])
        if (
            not isinstance(reader, Map)
            or reader.axes != term.axes
            or not all(a in own or _given(a, small, term) for a in reader.args)
        ):
            break
        own.add(reader)
        if all(r in own for t in own - {reader} for r in readers[t]) and storable(reader):
            end = reader  # all that was made so far leads here
        if reader in held:
            break
    return end


def _given(term: Term, small: int, beside: Term) -> bool:
    """Tell whether a value is made of numbers and of arrays that cost next to nothing to read, for themselves or beside
    another value.
    """
    most = max(small, elements(beside.axes) // FEW)
    return all(
        elements(t.axes) <= most and (isinstance(t, (Map, Input, Read)) or not t.children)
        for t in subterms(term)
        if t.axes
    )


def _made_again(term: Term, stored: Set[Term], small: int) -> bool:
    """Tell whether a value is as cheap to make again, of what is stored or given, as to read."""
    leaves: dict[Term, None] = {}
    stack = [term]
    while stack:
        part = stack.pop()
        if (part is not term and part in stored) or isinstance(part, Input):
            leaves.setdefault(part)
        elif isinstance(part, Map):
            stack += part.args
        elif isinstance(part, Read) and not computed(part):
            leaves.setdefault(part)
        elif part.children:
            return False
    sizes = sorted((elements(t.axes) for t in leaves), reverse=True)
    size = elements(term.axes)
    return size <= small or (bool(sizes) and sizes[0] <= size and sum(sizes[1:]) * FEW <= size)


def _follows(term: Term, stored: Set[Term]) -> bool:
    """Tell whether a value is made of folds one of which is made of another, as a logarithm of a sum relative to a
    maximum is, and of that maximum: one kernel that computes it stores neither.
    """
    folds: dict[Term, None] = {}
    stack = [term]
    while stack:
        part = stack.pop()
        if part is not term and part in stored:
            if any(isinstance(t, Reduce) and contracted(t) is None for t in _ends(part)):
                folds.setdefault(part)
        elif isinstance(part, Map):
            stack += part.args
    return any(one in subterms(other) for one in folds for other in folds if one is not other)


def _ends(term: Term) -> list[Term]:
    """Return what a value is made of, place by place, down to folds."""
    found, stack = list[Term](), [term]
    while stack:
        part = stack.pop()
        if isinstance(part, Map):
            stack += part.args
        else:
            found.append(part)
    return found


def computed(term: Term) -> bool:
    """Tell whether a value is made by operators, and not an array or a read of one."""
    while isinstance(term, Read):
        term = term.body
    return bool(term.children)


def contractions(terms: Sequence[Term]) -> int:
    """Return how many of some terms are contractions, or sums as large: of what is made, place by place, of values none
    of which has all of the axes.
    """
    return sum(contracted(t) is not None or _spread(t) for t in terms)


def read_again(outputs: Sequence[Term]) -> bool:
    """Tell whether what contractions give is folded along more lanes than a block holds, and read along them once more
    for a result that has them: as what is normalised by its own sums over places is.
    """
    terms = subterms(*outputs)
    readers: dict[Term, list[Term]] = {t: [] for t in terms}
    # Axes along which contractions below a value vary, and those over which such values are folded
    along: dict[Term, frozenset[Axis]] = {}
    folded: dict[Term, frozenset[Axis]] = {}

    def left(value: Term, axis: Axis) -> bool:
        """Tell whether a value's lanes along an axis reach an output, or are read at other places."""
        stack, seen = [value], {value}
        while stack:
            term = stack.pop()
            if term in outputs:
                return True
            for reader in readers[term]:
                if isinstance(reader, Read) and reader.axis == axis and reader.body is term:
                    return True
                if reader not in seen and not (isinstance(reader, Reduce) and reader.axis == axis):
                    seen.add(reader)
                    stack.append(reader)
        return False

    crossed: dict[Term, frozenset[Axis]] = {}
    for term in terms:
        for child in dict.fromkeys(term.children):
            readers[child].append(term)
        below = frozenset[Axis]().union(*(along[c] for c in term.children))
        if isinstance(term, Read) and term.axis in along[term.body]:
            below |= {*term.index.axes}
        along[term] = frozenset(a for a in term.axes if a in below or contracted(term) is not None)
        folded[term] = frozenset[Axis]().union(*(folded[c] for c in term.children))
        if isinstance(term, Reduce) and term.axis in along[term.body]:
            folded[term] |= {term.axis}
        if isinstance(term, Map):
            crossed[term] = along[term] & folded[term]
    return any(
        elements(axes) > HELD and elements(a for a in axes if left(term, a)) > HELD for term, axes in crossed.items()
    )


def folded_apart(outputs: Sequence[Term]) -> bool:
    """Tell whether a graph folds one of its outputs for another, as a product of what is given out does, or folds what
    a contraction gives along two of its axes, each for a value of its own.
    """
    folds = [t for t in subterms(*outputs) if isinstance(t, Reduce)]
    made = [t for t in folds if contracted(t) is not None]
    if len(outputs) < 2 or not folds:
        return False
    inside = {fold: set(subterms(fold.body)) for fold in folds}
    given = [t for t in outputs if computed(t)]
    if any(value in inside[fold] and fold.axis in value.axes for value in given for fold in folds):
        return True
    for value in made:
        over = [fold for fold in folds if value in inside[fold] and fold.axis in value.axes]
        for one, other in itertools.combinations(over, 2):
            if one.axis != other.axis and one not in inside[other] and other not in inside[one]:
                return True
    return False


def _spread(term: Term) -> bool:
    """Tell whether a term is a sum over values of two kinds, each with axes that the other has not, as the squared
    distances of all pairs are.
    """
    if not isinstance(term, Reduce) or term.monoid != "sum" or not isinstance(term.body, Map):
        return False
    leaves: list[Term] = []
    stack: list[Term] = [term.body]
    seen = set(stack)
    while stack:
        part = stack.pop()
        fresh = [c for c in part.children if c not in seen] if isinstance(part, Map) else []
        if not isinstance(part, Map) and term.axis in part.axes and not isinstance(part, Index):
            leaves.append(part)
        seen.update(fresh)
        stack += fresh
    return any({*a.axes} - {*b.axes} and {*b.axes} - {*a.axes} for a, b in itertools.combinations(leaves, 2))


def _chain(fold: Term, readers: dict[Term, list[Term]], outputs: set[Term]) -> list[Term]:
    """Return what a kernel may end with that computes a fold: the fold, and the last value that only it leads to and
    that is no larger.
    """
    last = fold
    while len(readers[last]) == 1 and last not in outputs:
        reader = readers[last][0]
        if isinstance(reader, Reduce):
            if not isinstance(last, Reduce) or reader.monoid != last.monoid:
                break
        elif not isinstance(reader, Map) or elements(reader.axes) > elements(last.axes) or reader.kind != "real":
            break
        last = reader
    # A sum of a sum is one fold over two axes: what it is of the one is no value of its own, but of rows of which
    # something else is folded before.
    nested = (
        len(readers[fold]) == 1
        and isinstance(readers[fold][0], Reduce)
        and readers[fold][0].monoid == getattr(fold, "monoid", "")
    )
    if nested and isinstance(fold, Reduce):
        nested = not any(isinstance(t, Reduce) and t.axis == fold.axis for t in subterms(fold.body))
    return [last] if nested else [fold, last]
