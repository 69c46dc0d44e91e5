"""Forms that extraction keeps of a class: which, in what order, how many passes they take, and which of them no loop
gives.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from napkin_eq.egraph.nodes import Node
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Const, Fold, Online, Reduce, Term
from napkin_eq.machine.cost import extent

HELD = 512  # the longest axis that one tile may hold beside others
# Costs so near are of one form, its operands in other orders or its loops apart: of each so many are kept
ALIKE, MOST_ALIKE = 1e-5, 4
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
