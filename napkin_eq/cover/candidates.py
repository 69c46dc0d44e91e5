"""Candidate kernels: which values one computes, which stored values it reads, and its term; counted by contractions."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from napkin_eq.cover.graph import HELD, Graph, computed, contractions
from napkin_eq.lang.term import Input, Read, Term, rebuilt, subterms
from napkin_eq.laws.law import together
from napkin_eq.machine.cost import elements
from napkin_eq.search.placement import MOST_BUNDLED

MOST_CONTRACTIONS, MOST_TOGETHER, MOST_INSIDE, MOST_CANDIDATES, SMALL = 3, 4, 12, 4000, 1 << 18


@dataclass(frozen=True, slots=True)
class Candidate:
    """A kernel that may be: it stores `outs` and reads the stored values `reads`; the cuts `inside` are computed in it
    and not stored.
    """

    outs: tuple[Term, ...]
    inside: frozenset[Term]
    reads: tuple[Term, ...]
    terms: tuple[Term, ...]  # every value that it computes


class Enumeration:
    """All candidates of a graph up to a number of contractions; `single` has those of one output by that output."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.cuts = set(graph.cuts)
        self.below: dict[Term, frozenset[Term]] = {}
        for cut in graph.cuts:
            self.below[cut] = frozenset(t for t in subterms(cut) if t in self.cuts)
        self.single: dict[Term, list[Candidate]] = {cut: self._fused(cut) for cut in graph.cuts}

    def candidate(
        self, outs: tuple[Term, ...], inside: frozenset[Term], most: int = MOST_CONTRACTIONS
    ) -> Candidate | None:
        """Return the candidate that computes these values, or None where it would need itself, or read elsewhere what
        it computes or may be absent.
        """
        reads: dict[Term, None] = {}
        terms: dict[Term, None] = {}
        own = inside | set(outs)
        stack = list(outs)
        while stack:
            term = stack.pop()
            if term in terms or term in reads:
                continue
            if term in self.cuts and term not in own and term not in self.graph.doubtful:
                reads[term] = None
                continue
            terms[term] = None
            if isinstance(term, Read) and computed(term.body):
                body = term.body
                while isinstance(body, Read):
                    stack.append(body.index)
                    body = body.body
                if body in own or body in self.graph.doubtful:
                    return None
                reads[body] = None
                stack.append(term.index)
            else:
                stack += term.children
        if any(out in self.below[read] for read in reads for out in outs) or not inside <= terms.keys():
            return None
        listed = tuple(sorted(terms, key=lambda t: self.graph.order[t]))
        if contractions(listed) > most:
            return None
        return Candidate(outs, inside, tuple(sorted(reads, key=lambda t: self.graph.order[t])), listed)

    def under(self, candidate: Candidate, named: Mapping[Term, Iterable[Term]]) -> list[Candidate]:
        """Return what a candidate of a graph with other names of bound axes may be in this one; named: what its values
        may be.
        """
        given = {new for read in candidate.reads for new in named[read]}
        found = []
        for outs in itertools.product(*([new for new in named[out] if new in self.cuts] for out in candidate.outs)):
            inside, stack, seen = set[Term](), list(outs), set[Term]()
            while stack:
                term = stack.pop()
                if term not in seen and (term in outs or term not in given or term not in self.cuts):
                    seen.add(term)
                    inside |= {term} & self.cuts - {*outs}
                    stack += term.children
            made = self.candidate(outs, frozenset(inside), max(MOST_TOGETHER, contractions(candidate.terms)))
            found += [made] if made is not None else []
        return found

    def _fused(self, cut: Term) -> list[Candidate]:
        """Return the candidates of one output, the one with nothing inside first."""
        found: dict[frozenset[Term], Candidate] = {}
        waiting = [frozenset[Term]()]
        seen = set(waiting)
        while waiting and len(found) < MOST_CANDIDATES:
            inside = waiting.pop(0)
            made = self.candidate((cut,), inside)
            if made is None:
                continue
            found[inside] = made
            if len(inside) < MOST_INSIDE:
                for read in made.reads:
                    more = inside | {read}
                    if read not in self.graph.outputs and read not in self.graph.bounds and more not in seen:
                        seen.add(more)
                        waiting.append(more)
        return list(found.values())

    def bundles(self, cover: Sequence[Candidate], small: bool) -> list[Candidate]:
        """Return candidates that compute in one kernel what two of a cover compute which read a large value together,
        or of which one reads an output that the other stores.

        small: also such as share a small value: what they save is a launch.
        """
        found: dict[tuple[tuple[Term, ...], frozenset[Term]], Candidate] = {}
        for one, other in itertools.combinations(cover, 2):
            shared = {*one.reads, *arrays(one.terms)} & {*other.reads, *arrays(other.terms)}
            # Others that are handed on are among what one kernel may compute for itself
            given = {*one.outs, *other.outs} & {*self.graph.outputs}
            shared |= given & {*one.reads, *other.reads}
            large = any(elements(t.axes) > SMALL for t in shared)
            made = self._joined({*one.outs, *other.outs}, one.inside | other.inside)
            if made is not None and (large or (small and shared)):
                found.setdefault((made.outs, made.inside), made)
        return list(found.values())

    def beside(self, candidate: Candidate, value: Term) -> Candidate | None:
        """Return a candidate that also stores a value which it computes for itself, None where one kernel cannot."""
        return self._joined({*candidate.outs, value}, candidate.inside)

    def _joined(self, values: set[Term], inside: frozenset[Term]) -> Candidate | None:
        # In a Tuple numbers stand before whole numbers or masks.
        outs = tuple(sorted(values, key=lambda t: (t.kind != "real", self.graph.order[t])))
        if len(outs) > MOST_BUNDLED or self._across(outs) or not together(t.kind for t in outs):
            return None
        return self.candidate(outs, inside - values, MOST_TOGETHER)

    def _across(self, outs: tuple[Term, ...]) -> bool:
        """Tell whether a value needs more of another than a block holds, and has axes that the other has not.

        Its blocks along these would each compute all of the other.
        """
        needed = [(value, other) for value in outs for other in self.below[value] & {*outs} if other is not value]
        crossing = [(value, other) for value, other in needed if {*value.axes} - {*other.axes}]
        return any(elements(a for a in other.axes if a not in value.axes) > HELD for value, other in crossing)


def arrays(terms: tuple[Term, ...]) -> list[Term]:
    """Return the input arrays among some terms."""
    return [t for t in terms if isinstance(t, Input)]


def with_placeholders(candidate: Candidate, held: Mapping[Term, Input]) -> tuple[Term, ...]:
    """Return the terms that a candidate computes, an array in the place of each stored value that it reads."""
    done: dict[Term, Term] = dict(held)

    def made(term: Term) -> Term:
        if term not in done:
            done[term] = rebuilt(term, tuple(map(made, term.children)))
        return done[term]

    for term in candidate.terms:
        if term not in done and all(c in done or not c.children for c in term.children):
            made(term)  # children first: no deep recursion
    return tuple(made(out) for out in candidate.outs)


