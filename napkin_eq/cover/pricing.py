"""What a candidate costs: its forms are searched and tiled as those of any diagram, and remembered by shape up to
names.

What takes little more as it is written than any kernel must is priced so, without a search: most kernels of a small
diagram take the time of a launch. It is searched for once a cover has chosen it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from napkin_eq.certify.certificate import require_accepted
from napkin_eq.certify.chain import explained
from napkin_eq.cover import workers
from napkin_eq.cover.bounds import bound_us
from napkin_eq.cover.pieces import Piece
from napkin_eq.egraph.budget import METER, Budget
from napkin_eq.egraph.congruence import Step
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.dtypes import STORAGE
from napkin_eq.lang.errors import NapkinError, Undecided
from napkin_eq.search.candidates import CUT, placer, saturated, soon, streamed, together
from napkin_eq.search.derivation import Output, Translation
from napkin_eq.search.job import Aim, Cuts, Job, Laws
from napkin_eq.search.placement import Placed, Priced, parallel
from napkin_eq.tile import ir as p
from napkin_eq.verify.translation import accepted

SEARCH, PROOF = 2.0, 16.0  # counted seconds for a candidate's search, and for that and its chain of steps
# Of time that ends, what a candidate's search may take of it; and the least seconds for a proof that is begun
SHARE, LEAST = 0.15, 0.2
LONGER = 4.0  # times the seconds of a search that time ended, what one has that is made because it may save much
SLIGHT = 0.25  # of the seconds of a search, what one has for a kernel that takes little more than it must
# Times the seconds of a search, which has CUT times as many again with an axis cut, and those of a proof: what goes on
# for longer did not heed them, and is ended
LATE = 2
T = TypeVar("T")
Found = tuple[Placed, Cuts]  # the cheapest form of a piece, and what is cut in it
# A printer, whether a chain of steps is wanted, of what, its forms, the seconds it may take
Task = tuple[str, bool, Piece, tuple[Found, ...], float]
# What was found while the process lives, of all derivations, with the seconds of METER that it took: one that asks for
# it has them counted all the same, so that its plan does not depend on those before it.
_DONE: dict[tuple[Any, ...], workers.Done] = {}


@dataclass(slots=True)
class Known:
    """What a derivation has found out about pieces.

    prices: with the reason, where no kernel fits. soon: of those priced as they are written, whether they have been
    searched for. found: forms, the cheapest first. proved: of those derived, with the reason where they are not.
    ended: those whose search time ended in part.
    """

    prices: dict[tuple[str, ...], tuple[float, str]] = field(default_factory=dict)
    soon: dict[tuple[str, ...], bool] = field(default_factory=dict)
    found: dict[tuple[Any, ...], tuple[Found, ...]] = field(default_factory=dict)
    proved: dict[tuple[Any, ...], tuple[Any, str]] = field(default_factory=dict)
    ended: set[tuple[str, ...]] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Proved:
    """A candidate derived: its kernels, the steps to them, what validation says, and the numbers of its e-graph."""

    placed: Placed
    steps: tuple[Step, ...]
    translation: Translation
    nodes: int
    classes: int
    rounds: int


def pool(aim: Aim, laws: Laws) -> workers.Pool:
    """Return processes that price and derive pieces for an aim, whichever printer is asked for."""

    def work(task: Task) -> tuple[Found | None, bool] | Proved:
        printer, chain, piece, forms, seconds = task
        pricing = Pricing(replace(aim, printer=printer), laws, idle)
        return pricing.derived(piece, forms, seconds) if chain else pricing.cheapest(piece, seconds)

    idle = workers.Pool(work)
    return idle


class Pricing:
    """Prices of pieces for one aim; `priced` counts those that were searched for. pool: of processes that search.

    left: gives the seconds after which no search is begun, or, told so, no proof.
    """

    def __init__(
        self, aim: Aim, laws: Laws, pool: workers.Pool, left: Callable[[bool], float] = lambda _: math.inf
    ) -> None:
        self.aim, self.laws, self.pool, self.left = aim, laws, pool, left
        self.priced = 0
        self.of: Known = aim.budget.clock.shared.setdefault("pieces", Known())
        self.search = min(SEARCH, SHARE * aim.budget.seconds) if aim.budget.hard else SEARCH
        self.about = (
            f"{self.search:g}",
            aim.machine.name,
            aim.dtype,
            aim.printer,
            aim.precision,
            ",".join(s.name for s in laws.statements),
        )

    def known(self, piece: Piece) -> float | None:
        """Return the price of a piece in microseconds if it is remembered, infinite for one that no kernel fits."""
        found = self.of.prices.get((*self.about, piece.key))
        return None if found is None else found[0]

    def price(self, pieces: Iterable[Piece]) -> None:
        """Price pieces and remember what was found."""
        fresh: dict[str, Piece] = {}
        for piece in pieces:
            if self.known(piece) is None:
                fresh.setdefault(piece.key, piece)
        self.priced += len(fresh)
        for key, piece in list(fresh.items()):
            if (written := self._as_written(piece)) is not None:
                self.of.prices[*self.about, key] = written.predicted_us, ""
                self.of.found[*self.about, piece.source, piece.outputs] = ((written, ()),)
                self.of.soon[*self.about, key] = False
                del fresh[key]
        for key, found, why in self._each(False, fresh, {}):
            self.of.prices[*self.about, key] = (math.inf if found is None else found[0].predicted_us, why)
            if found is not None:
                self.of.found[*self.about, fresh[key].source, fresh[key].outputs] = (found,)

    def _as_written(self, piece: Piece) -> Placed | None:
        """Return a piece as it is written, in one kernel, if that takes little more than any kernel of it must."""
        at = ("written", *self.about, piece.source, piece.outputs)
        found: Placed | None
        if at in _DONE:
            METER.counted += _DONE[at].took
            found = _DONE[at].found
            return found
        begun, aim, job = METER.counted, self.aim, self._job(piece, SEARCH)
        made = placer(job)
        made.target_dtypes = tuple(o.dtype for o in piece.outputs)
        least = bound_us(piece, STORAGE[aim.dtype], aim.dtype, aim.machine)
        made.orders = {item: o.dims for item, o in zip(parallel(streamed(job.source)), piece.outputs, strict=True)}
        found = soon(job, made, least)
        _DONE[at] = workers.Done(found, "", METER.counted - begun)
        return found

    def _search(self, pieces: Iterable[Piece]) -> None:
        """Search for the forms of pieces that were priced as they are written, and try those first that take less;
        their prices stay.
        """
        waiting = {p.key: p for p in pieces if self.of.soon.get((*self.about, p.key)) is False}
        for key, found, _ in self._each(False, waiting, {}, SLIGHT * self.search):
            self.of.soon[*self.about, key] = True
            self._put_first(waiting[key], found)

    def _put_first(self, piece: Piece, found: Found | None) -> None:
        """Try a form of a piece before those that are known of it, if it takes less."""
        at = (*self.about, piece.source, piece.outputs)
        before = self.of.found.get(at)
        if found is not None and before and found[0].predicted_us < before[0][0].predicted_us:
            self.of.found[at] = (found, *before)

    def ended(self, piece: Piece) -> bool:
        """Tell whether time ended the search for a piece, or part of it, and it was not made again with more."""
        return (*self.about, piece.key) in self.of.ended

    def walks_again(self, piece: Piece) -> bool:
        """Tell whether a kernel of the form of a piece that was found walks an axis more than once."""
        found = self.of.found.get((*self.about, piece.source, piece.outputs), ())
        for tiled in found[0][0].tiled if found else ():
            loops = [s.coord for s in p.statements(tiled.kernel.body) if isinstance(s, p.Loop)]
            axes = [tiled.kernel.coord(coord).axis for coord in loops]
            if len({*axes}) < len(axes):
                return True
        return False

    def search_longer(self, pieces: Iterable[Piece]) -> None:
        """Search again, with more time, for pieces whose search time ended; what is cheaper is their price."""
        waiting = {p.key: p for p in pieces}
        for key, found, _ in self._each(False, waiting, {}, LONGER * self.search):
            self.of.ended.discard((*self.about, key))
            self._put_first(waiting[key], found)
            if found is not None and found[0].predicted_us < self.of.prices[*self.about, key][0]:
                self.of.prices[*self.about, key] = found[0].predicted_us, ""
                self.of.found.setdefault((*self.about, waiting[key].source, waiting[key].outputs), (found,))

    def _each(
        self, chain: bool, pieces: Mapping[T, Piece], given: dict[T, float], seconds: float | None = None
    ) -> Iterator[tuple[T, Any, str]]:
        """Yield what the pool gives of pieces, by their keys, as long as there is time; note the seconds of each, and
        which searches time ended.

        seconds: what a search has, if it is not what others have.
        """
        seconds = self.search if seconds is None else seconds
        left = self.left(chain)
        at = {key: (*self.about, piece.source, piece.outputs) for key, piece in pieces.items()}
        forms = {key: self.of.found.get(at[key], ()) for key in pieces}
        asked: tuple[Any, ...] = (chain,) if chain else (chain, seconds)
        places = {key: (*asked, *at[key], *(placed.term for placed, _ in forms[key] * chain)) for key in pieces}

        def ask(key: T, taken: float, many: int) -> Task | workers.Done | None:
            if left <= taken:
                return None
            given[key] = min(PROOF, max(LEAST, (left - taken) / many)) if chain else seconds
            done = _DONE.get(places[key])
            if done is not None and (not chain or done.took <= given[key]):
                return done
            return self.aim.printer, chain, pieces[key], forms[key], given[key]

        late = LATE * (PROOF if chain else (1 + CUT) * seconds)
        for key, found, why, took in self.pool.each([*pieces], ask, late):
            if not chain or found is not None or given[key] == PROOF:  # with more time there may be a proof
                _DONE[places[key]] = workers.Done(found, why, took)
            if chain:
                yield key, found, why
                continue
            cheapest, ended = found or (None, False)
            if ended:
                self.of.ended.add((*self.about, str(key)))
            yield key, cheapest, why

    def _job(self, piece: Piece, seconds: float) -> Job:
        """Return the job of deriving a piece as any diagram, arrays in the place of what it reads."""
        alone = Diagram("piece", tuple((o.name, t) for o, t in zip(piece.outputs, parallel(piece.source), strict=True)))
        # What is known of kernels by others is not used: which those are depends on the process that is at hand.
        return Job(alone, replace(self.aim, budget=Budget(seconds), priced=Priced()), self.laws)

    def cheapest(self, piece: Piece, seconds: float = SEARCH) -> tuple[Found | None, bool]:
        """Return the cheapest form of a piece, None where there is none, and whether time ended part of the search."""
        job = self._job(piece, seconds)
        found = next(iter(together(job, piece.outputs)), None)
        return found, bool(job.aim.budget.clock.stopped)

    def prove(self, pieces: Iterable[Piece], spare: bool = True) -> list[tuple[Proved | None, str]]:
        """Derive pieces, each with its chain of steps, and return each, or why it was not.

        spare: there is time to search for those that were priced as they are written.
        """
        listed = list(pieces)
        fresh = {(p.source, p.outputs): p for p in listed if (*self.about, p.source, p.outputs) not in self.of.proved}
        if spare:
            self._search(fresh.values())
        given: dict[tuple[Any, ...], float] = {}
        hasty: dict[tuple[Any, ...], tuple[Proved | None, str]] = {}
        for key, found, why in self._each(True, fresh, given):
            into = self.of.proved if found is not None or given[key] == PROOF else hasty
            into[*self.about, *key] = found, why
        late = None, "there was no time to prove it"
        keys = [(*self.about, p.source, p.outputs) for p in listed]
        return [self.of.proved.get(key) or hasty.get(key, late) for key in keys]

    def derived(self, piece: Piece, known: Sequence[Found] = (), seconds: float = PROOF) -> Proved:
        """Derive a piece, the cheapest form whose chain the checker accepts; where there is none, in plainer ways.

        known: forms that were found before, the cheapest first: others are sought only if none has a chain.
        Raises NapkinError where none has one.
        """
        job = self._job(piece, seconds)
        aim, held = job.aim, {o.name: o.dtype for o in piece.outputs}
        reason: NapkinError = NapkinError("there is no form of it")
        for way in (
            job,
            replace(job, aim=replace(aim, written=True)),
            Job(job.diagram, aim, self.laws.without_steps()),
        ):
            laws = way.laws.statements
            for placed, cuts in _forms(way, piece, known if way is job else ()):
                graph = saturated(way, cuts)
                option = Output(job.names, piece.source, placed, [], graph, aim.precision)
                refused: list[str] = []
                try:
                    option.steps = steps = explained(
                        piece.source, placed, graph.instances, laws, aim.budget, None, self.laws.verdicts, graph.merged
                    )
                    require_accepted(piece.source, placed.term, steps, laws, self.laws.verdicts)
                except Undecided as missing:
                    reason = missing
                    continue
                if accepted(job.diagram, option, aim.machine, aim.dtype, self.laws.proved, refused, held):
                    return Proved(
                        placed, tuple(steps), option.translation, graph.nodes, len(graph.classes), graph.rounds
                    )
                reason = NapkinError(refused[-1])
        raise reason


def _forms(way: Job, piece: Piece, known: Sequence[Found]) -> Iterator[Found]:
    """Yield the forms of a piece, those that are known before others are sought."""
    yield from known
    terms = [placed.term for placed, _ in known]
    yield from (found for found in together(way, piece.outputs) if found[0].term not in terms)
