"""Forms that extraction keeps of a class: which, in what order, how many passes they take, and which of them no loop
gives.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from napkin_eq.egraph.nodes import Node
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Acc, Const, Fold, Map, Online, Prev, Reduce, Size, Term
from napkin_eq.machine.cost import extent

HELD = 512  # the longest axis that one tile may hold beside others
# Costs so near are of one form, its operands in other orders or its loops apart: of each so many are kept
ALIKE, MOST_ALIKE = 1e-5, 4
LARGE = 1e300  # from here on a constant is some number
UPDATES = 1 << 14  # of carried sums, of which it is known whether they may stand before the first block
REMEMBERED = 1 << 17  # terms of which it is known how they fold, while a process lives


@dataclass(slots=True, eq=False)
class Candidate:
    """A term for a class, `nesting` levels deep: its items and their cost in seconds, its passes over each axis, its
    running references.

    depth: the passes that it takes; waits: those that what it reads as stored has taken before, after which its own
    come.
    made_of: its class, the node taken there, and the candidates for that node's children; none of what is read as
    stored. The term is built when it is first asked for: most candidates are dropped before.
    """

    make: Callable[[], Term]
    nesting: int
    items: frozenset[int]
    own: int
    cost: float
    depth: tuple[tuple[str, int], ...] = ()
    stale: frozenset[str] = frozenset()
    waits: tuple[tuple[str, int], ...] = ()
    made_of: tuple[int, Node, tuple[Candidate, ...]] | None = None
    known: Term | None = None
    constant: bool | None = None

    @property
    def number(self) -> bool:
        """Whether it is a number that is known as it is lowered: a constant, or made of constants alone."""
        if self.constant is None:
            parts = self.made_of[2] if self.made_of is not None else ()
            self.constant = all([p.number for p in parts]) if parts else isinstance(self.term, Const)
        return self.constant

    @property
    def term(self) -> Term:
        if self.known is None:
            self.known = self.make()
        return self.known

    @property
    def stands(self) -> bool:
        """Whether there is such a term: of the forms of one value some vary along an axis that others do not, and a
        stream may ask for these.
        """
        try:
            return self.term is not None
        except NapkinError:
            return False

    def passes(self, axis: str) -> int:
        return max(dict(self.depth).get(axis, 0), dict(self.waits).get(axis, 0))


def diverse(candidates: Sequence[Candidate], most: int) -> list[Candidate]:
    """Return the first few of candidates by cost, forms that differ among them: what is dearer here may be cheaper once
    values are stored.

    Of equal cost are sums over two axes in either order, and a stream may carry the one or the other: of these the
    first ones come first.
    """
    kept: list[Candidate] = []
    for run in _runs(candidates):
        alike = [c for c in run if c.stands]
        kept += _spread(alike, most) if len(alike) > 1 else alike
        if len(kept) >= most:
            break
    return kept[:most]


def _runs(candidates: Sequence[Candidate]) -> Iterator[list[Candidate]]:
    """Yield candidates, which come by cost, in runs of equal cost."""
    run: list[Candidate] = []
    for candidate in candidates:
        if run and candidate.cost > (1 + ALIKE) * run[0].cost:
            yield run
            run = []
        run.append(candidate)
    if run:
        yield run


def _spread(alike: Sequence[Candidate], most: int) -> list[Candidate]:
    """Return candidates of one cost, the first of each choice of axes that are folded again before the
    second of any.
    """
    ranks: Counter[frozenset[str]] = Counter()
    ranked: list[tuple[int, Candidate]] = []
    for candidate in alike:
        again = _folded_further(candidate.term)[1]
        ranks[again] += 1
        if ranks[again] <= MOST_ALIKE:
            ranked.append((ranks[again], candidate))
        if ranks[frozenset()] > most:
            break
    return [candidate for _, candidate in sorted(ranked, key=lambda r: r[0])]


def all_passes(depth: tuple[tuple[str, int], ...]) -> int:
    """Return how many passes are taken, over all axes."""
    return sum([level for _, level in depth])


def merged_depth(parts: tuple[Candidate, ...]) -> tuple[tuple[str, int], ...]:
    """Return, per axis, the most passes that any part needs."""
    return deepest(*[part.depth for part in parts])


def deepest(*depths: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    """Return, per axis, the most passes of any."""
    some = [depth for depth in depths if depth]
    if not some or some.count(some[0]) == len(some):  # most parts take the same passes, or none
        return some[0] if some else ()
    found: dict[str, int] = {}
    for name, level in itertools.chain(*some):
        if level > found.get(name, 0):
            found[name] = level
    return tuple(sorted(found.items()))


def tangled(axis: Axis, carried: bool, *terms: Term) -> bool:
    """Tell whether a fold over an axis asks, in each of its blocks, for a whole pass over the same axis.

    A carried sum does where a running value of it is folded along another axis as well; any fold does of carried sums
    whose running values are folded along its axis. Unless one tile holds the axis, no loop gives that. What a sum that
    is not carried reads was folded in a pass before.
    """
    return extent(axis) > HELD and any(
        axis.name in further for term in terms for further in _folded_further(term)[: 1 + carried]
    )


@lru_cache(UPDATES)
def begins(axis: Axis, update: Term) -> bool:
    """Tell whether the update of a sum that is carried along an axis may stand before the first block, where a running
    sum is 0 and a running maximum -inf: a step away from that, times a sum, is no number. An e-graph takes what is
    equal in the end for equal all along.
    """
    known: dict[tuple[Term, bool], _Begun] = {}
    waiting = [(update, False)]
    while waiting:
        term, before = at = waiting[-1]
        folds = isinstance(term, (Fold, Reduce, Online)) and term.axis == axis
        parts = [] if folds else [(child, before or isinstance(term, Prev)) for child in term.children]
        if at not in known and (fresh := [part for part in parts if part not in known]):
            waiting += fresh
            continue
        waiting.pop()
        if at not in known:
            known[at] = _begun(term, axis, before, [known[part] for part in parts])
    found = known[update, False]
    return not isinstance(found, float) or math.isfinite(found)


_Begun = float | None | str  # a number that is known, some number, or nobody knows what


def _begun(term: Term, axis: Axis, before: bool, parts: list[_Begun]) -> _Begun:
    """Return what a term of an update is before the first block, given its parts; before: what runs along the axis is
    meant as it was before, else as it is in that block.
    """
    if isinstance(term, Acc):
        return 0.0
    if isinstance(term, Prev):
        return parts[0]
    if isinstance(term, Const):
        small = term.value == -math.inf or abs(term.value) < LARGE
        return float(term.value) if term.kind == "real" and small else None
    if isinstance(term, (Fold, Reduce, Online)) and term.axis == axis:
        monoid = "sum" if isinstance(term, Online) else term.monoid
        return (0.0 if monoid == "sum" else -math.inf if monoid == "max" else "?") if before else None
    if isinstance(term, Size) and term.axis == axis and before:
        return 0.0
    if isinstance(term, Map) and any(part != part for part in parts):
        return math.nan
    if isinstance(term, Map) and term.op in _AT_FIRST and "?" not in parts:
        return _AT_FIRST[term.op](*parts)
    return None if all(part is None or (isinstance(part, float) and math.isfinite(part)) for part in parts) else "?"


def _held(found: float, *of: float) -> _Begun:
    """Return a number that is made of some, some number where it is beyond float64 and these are not."""
    return None if not math.isfinite(found) and all(map(math.isfinite, of)) else found


def _sum_at_first(a: Any, b: Any) -> _Begun:
    if a is not None and b is not None:
        return _held(a + b, a, b)
    return next((part for part in (a, b) if part is not None and not math.isfinite(part)), None)


def _product_at_first(a: Any, b: Any) -> _Begun:
    if a is not None and b is not None:
        return _held(a * b, a, b)
    one = b if a is None else a
    return 0.0 if one == 0 else None if one is None or math.isfinite(one) else "?"


def _exp_at_first(a: Any) -> _Begun:
    return a if a is None else 0.0 if a == -math.inf else a if a == math.inf else None


def _inv_at_first(a: Any) -> _Begun:
    return a if a is None else 0.0 if math.isinf(a) else "?" if a == 0 else _held(1 / a, a)


_AT_FIRST: dict[str, Callable[..., _Begun]] = {
    "add": _sum_at_first,
    "mul": _product_at_first,
    "neg": lambda a: a if a is None else -a,
    "exp": _exp_at_first,
    "inv": _inv_at_first,
}


def _folded_further(term: Term) -> tuple[frozenset[str], frozenset[str], frozenset[Any]]:
    """Return the axes of folds whose results are references of sums carried along another axis, those whose results are
    folded again along one, and the folds themselves."""
    if term not in _FURTHER and len(_FURTHER) > REMEMBERED:
        _FURTHER.clear()  # what is asked for again is found again, from the parts of the term at hand
    waiting = [term]
    while waiting:
        part = waiting[-1]
        if part not in _FURTHER and (unknown := [c for c in part.children if c not in _FURTHER]):
            waiting += unknown
            continue
        waiting.pop()
        if part in _FURTHER:
            continue
        of, again, folds = (_joined([_FURTHER[c][place] for c in part.children]) for place in (0, 1, 2))
        if isinstance(part, (Reduce, Fold, Online)):
            inner = [t for t in _FURTHER[part.body][2] if t.axis != part.axis]
            of |= {t.axis.name for t in inner if isinstance(part, Online)}
            again |= {t.axis.name for t in inner if part.axis in t.axes}
            folds |= {part}
        _FURTHER[part] = of, again, folds
    return _FURTHER[term]


def _joined(sets: Sequence[frozenset[Any]]) -> frozenset[Any]:
    """Return the union of sets, one of them itself where it holds all: most parts of a term fold what one part of them
    folds.
    """
    largest = max(sets, key=len, default=frozenset())
    return largest if all(s <= largest for s in sets) else largest.union(*sets)


_FURTHER: dict[Term, tuple[frozenset[str], frozenset[str], frozenset[Any]]] = {}
