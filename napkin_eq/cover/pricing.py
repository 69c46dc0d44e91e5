"""What a candidate costs: its forms are searched and tiled as those of any diagram, and remembered by shape up to names."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from napkin_eq.certify.certificate import require_accepted
from napkin_eq.certify.chain import explained
from napkin_eq.cover import workers
from napkin_eq.cover.pieces import Piece
from napkin_eq.egraph.budget import Budget
from napkin_eq.egraph.congruence import Step
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError, Undecided
from napkin_eq.laws.law import Judgment, Law, Statement
from napkin_eq.prove.verdict import Verdict
from napkin_eq.search.candidates import Aim, together
from napkin_eq.search.derivation import Output, Translation
from napkin_eq.search.placement import Placed, parallel
from napkin_eq.verify.translation import accepted

SEARCH, PROOF = 5.0, 40.0  # seconds of processor time for a candidate's search, and for that and its chain of steps
LATE = 3.0  # times the seconds of a search: what goes on for longer did not heed them, and is ended
_PRICES: dict[tuple[str, ...], tuple[float, str]] = {}
_PROVED: dict[tuple[Any, ...], tuple[Any, str]] = {}


@dataclass(frozen=True, slots=True)
class Proved:
    """A candidate derived: its kernels, the steps to them, what validation says, and the numbers of its e-graph."""

    placed: Placed
    steps: tuple[Step, ...]
    translation: Translation
    nodes: int
    classes: int
    rounds: int


class Pricing:
    """Prices of pieces for one aim; `priced` counts those that were searched for."""

    def __init__(self, aim: Aim, statements: list[Statement], verdicts: Mapping[str, Verdict], proved: Callable[[Judgment], bool]) -> None:
        self.aim, self.statements, self.verdicts, self.proved = aim, statements, verdicts, proved
        self.priced = 0
        laws = ",".join(s.name for s in statements)
        self.about = (aim.machine.name, aim.dtype, aim.printer, aim.precision, laws)

    def known(self, piece: Piece) -> float | None:
        """Return the price of a piece in microseconds if it is remembered, infinite for one that no kernel fits."""
        found = _PRICES.get((*self.about, piece.key))
        return None if found is None else found[0]

    def price(self, pieces: Iterable[Piece]) -> None:
        """Price pieces and remember what was found."""
        fresh: dict[str, Piece] = {}
        for piece in pieces:
            if self.known(piece) is None:
                fresh.setdefault(piece.key, piece)
        self.priced += len(fresh)
        jobs = ((key, partial(self._price, piece)) for key, piece in fresh.items())
        for key, found, why in workers.each(jobs, LATE * SEARCH):
            _PRICES[*self.about, key] = (math.inf if found is None else found, why)

    def _aim(self, seconds: float) -> Aim:
        return replace(self.aim, budget=Budget(seconds))

    def _price(self, piece: Piece) -> float:
        found = together(piece.outputs, piece.source, self._aim(SEARCH), self.statements, self.proved)
        return found[0][0].predicted_us if found else math.inf

    def prove(self, pieces: Iterable[Piece]) -> list[tuple[Proved | None, str]]:
        """Derive pieces, each with its chain of steps, and return each, or why it was not."""
        listed = list(pieces)
        fresh = {(p.source, p.outputs): p for p in listed if (*self.about, p.source, p.outputs) not in _PROVED}
        jobs = ((key, partial(self._prove, piece)) for key, piece in fresh.items())
        for key, found, why in workers.each(jobs, PROOF):
            _PROVED[*self.about, *key] = found, why
        return [_PROVED[*self.about, p.source, p.outputs] for p in listed]

    def _prove(self, piece: Piece) -> Proved:
        """Derive a piece, the cheapest form whose chain the checker accepts; where none is, as in `derive`, in plainer ways."""
        aim = self._aim(PROOF)
        plainer = [s for s in self.statements if not (isinstance(s, Law) and any(c.name == "moves" for c in s.conditions))]
        reason: NapkinError = NapkinError("there is no form of it")
        for way, statements in ((aim, self.statements), (replace(aim, written=True), self.statements), (aim, plainer)):
            for option in self._forms(piece, way, statements):
                refused: list[str] = []
                try:
                    option.steps = steps = explained(piece.source, option.placed, option.graph.instances, statements, aim.budget)
                    require_accepted(piece.source, option.placed.term, steps, statements, self.verdicts)
                except Undecided as missing:
                    reason = missing
                    continue
                if accepted(_alone(piece), option, aim.machine, aim.dtype, self.proved, refused, {o.name: o.dtype for o in piece.outputs}):
                    graph = option.graph
                    return Proved(option.placed, tuple(steps), option.translation, graph.nodes, len(graph.classes), graph.rounds)
                reason = NapkinError(refused[-1])
        raise reason

    def _forms(self, piece: Piece, aim: Aim, statements: list[Statement]) -> list[Output]:
        names = tuple(o.name for o in piece.outputs)
        found = together(piece.outputs, piece.source, aim, statements, self.proved)
        return [Output(names, piece.source, placed, [], graph, aim.precision) for placed, graph in found]


def _alone(piece: Piece) -> Diagram:
    return Diagram("piece", tuple((o.name, t) for o, t in zip(piece.outputs, parallel(piece.source), strict=True)))
