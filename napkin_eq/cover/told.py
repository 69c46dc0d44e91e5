"""What is told of a cover: why each value is stored, what computing several in one kernel saves, and the next best
cover.

All of it by known prices: of candidates that were not priced nothing is told but the bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from napkin_eq.cover.choice import SOLVING, Choice, Offer
from napkin_eq.cover.pieces import Piece
from napkin_eq.cover.pricing import Proved
from napkin_eq.cover.program import Chosen, cheapest
from napkin_eq.lang.term import Term

MANY = 24  # stored values of a cover, of which it is found out what it would take without each


def told(work: Choice, chosen: Chosen, pieces: Sequence[tuple[Piece, Proved]]) -> dict[str, Any]:
    """Return what is told of a cover of one graph: its price and bound in microseconds, of every kernel why it is, how
    many candidates there were.
    """
    known = [o for o in work.offers if o.price is not None and o.price < math.inf]
    taken = [
        next(o for o in known if o.piece.source == piece.source and (o.call is not None) == _by_library(proved))
        for piece, proved in pieces
    ]
    return {
        "kernels": [_kernel(work, offer, known, taken, chosen.price) for offer in taken],
        "price": chosen.price,
        "bound": min(work.bound, chosen.price),
        "next": _other(work, known, taken),
        "library": _library(work, known),
        "method": chosen.method,
        "candidates": len(work.offers),
        "priced": work.pricing.priced,
        "cuts": len(work.graph.cuts),
    }


def _by_library(proved: Proved) -> bool:
    return any(t.kernel.library is not None for t in proved.placed.tiled)


def _kernel(work: Choice, offer: Offer, known: Sequence[Offer], taken: Sequence[Offer], price: float) -> dict[str, Any]:
    """Return of a kernel why its values are stored, how many more it holds, and what the same would take in the
    cheapest other kernels.
    """
    few = sum(len(o.candidate.outs) for o in taken) <= MANY
    ((_, saved),) = work.gains([offer], [o for o in known if o is not offer])
    joined = len(offer.candidate.inside) + len(offer.candidate.outs) - 1
    return {
        "why": [_why(work, value, known, price) if few else "" for value in offer.candidate.outs],
        "joined": joined,
        "saved_us": round(saved, 3) if joined and saved < math.inf else None,
    }


def _why(work: Choice, value: Term, known: Sequence[Offer], price: float) -> str:
    """Return why a value is stored: what asks for it, or how much more the best known cover takes that does not store
    it.
    """
    if value in work.graph.outputs:
        return "an output"
    if value in work.graph.kept:
        return "read at other coordinates"
    if value in work.graph.bounds:
        return "bounds a loop"
    without = [o for o in known if value not in o.candidate.outs and value not in o.candidate.reads]
    other = cheapest([work.column(o) for o in without], [work.places[v] for v in work.graph.outputs], SOLVING)
    return (
        "no kernels that were priced do without it"
        if other is None
        else f"without it {other.price - price:.1f} us more"
    )


def _library(work: Choice, known: Sequence[Offer]) -> float | None:
    """Return the price of the best cover by known candidates and calls of a library, None where there are no calls that
    it could take.
    """
    if not work.called:
        return None
    others = [o for o in known if o.call is None]
    found = cheapest(
        [work.column(o) for o in (*others, *work.called)], [work.places[v] for v in work.graph.outputs], SOLVING
    )
    return None if found is None else found.price


def _other(work: Choice, known: Sequence[Offer], taken: Sequence[Offer]) -> float | None:
    """Return the price of the best other cover whose prices are known, None where there is none."""
    places = frozenset(i for i, o in enumerate(known) if any(o is one for one in taken))
    other = cheapest([work.column(o) for o in known], [work.places[v] for v in work.graph.outputs], SOLVING, [places])
    return None if other is None or frozenset(other.places) == places else other.price
