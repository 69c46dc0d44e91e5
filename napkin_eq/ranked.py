"""The next best plans of a derivation, for measuring: the same term and kernels, other tiles, warps and buffers."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace

from napkin_eq import plan as p
from napkin_eq.derive import STORAGE, Derivation, Output, planned, prover
from napkin_eq.errors import NapkinError
from napkin_eq.lower import Lowering, modes_of
from napkin_eq.term import Store, subterms
from napkin_eq.tiles import Tiled, solve


@dataclass(frozen=True, slots=True)
class Ranked:
    """A plan with the tiling of each of its kernels, in launch order, and its predicted time in microseconds."""

    plan: p.Plan
    tiled: tuple[Tiled, ...]

    @property
    def predicted_us(self) -> float:
        return sum(piece.cost.predicted_us for piece in self.tiled)


def ranked(derivation: Derivation, keep: int) -> list[Ranked]:
    """Return the `keep` plans that the cost model puts first, best first; the first is the derivation's own.

    Raises NapkinError if `keep` is less than 1.
    """
    if keep < 1:
        raise NapkinError(f"keep is {keep}: expected how many plans to return, at least 1")
    offers = [_offers(derivation, output, store, keep) for output in derivation.outputs for store in output.placed.stores]
    choices = heapq.nsmallest(keep, itertools.product(*offers), key=lambda pieces: sum(t.cost.predicted_us for t in pieces))
    return [_made(derivation, pieces) for pieces in choices]


def _offers(derivation: Derivation, output: Output, store: Store, keep: int) -> list[Tiled]:
    """Return the best tilings of one kernel, with what the derivation chose among them."""
    placed = output.placed
    own = placed.tiled[placed.stores.index(store)]
    arrays = {term: buffer for term, buffer in placed.arrays if term is not store and term in set(subterms(store))}
    proved = prover(derivation.statements)

    def lower(tiles: Mapping[str, int]) -> p.Kernel:
        return Lowering("kernel__", store, own.kernel.writes, tiles, arrays, STORAGE[derivation.dtype], proved).kernel()

    found = solve(store, modes_of(store)[0], lower, derivation.hardware, keep=keep, printer=derivation.printer)
    return [own, *(t for t in found if t.kernel != own.kernel)][:keep]


def _made(derivation: Derivation, pieces: tuple[Tiled, ...]) -> Ranked:
    fresh = iter(pieces)
    outputs = [replace(o, placed=replace(o.placed, tiled=tuple(next(fresh) for _ in o.placed.stores))) for o in derivation.outputs]
    plan, tiled = planned(derivation.diagram, outputs, derivation.hardware, derivation.dtype)
    return Ranked(plan, tuple(tiled))
