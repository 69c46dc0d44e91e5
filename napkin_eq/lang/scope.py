"""Scope, said once: whose accumulator and whose previous values a term speaks of.

An Online's update speaks of that stream's own accumulator, and its Prev of that stream one block before. Its body and
its mask speak, like everything else, of those of the stream around it. `check.py`, which stands alone, says the same in
its `typed`.
"""

from __future__ import annotations

from napkin_eq.lang.term import Acc, Map, Online, Prev, Term, subterms

_OPENED: dict[Term, frozenset[type[Term]]] = {}


def outer(term: Term) -> tuple[Term, ...]:
    """Return the children of a term that speak of the same stream as the term itself: all, but for the update of an
    Online.
    """
    return (term.body, term.where) if isinstance(term, Online) else term.children


def opened(term: Term) -> frozenset[type[Term]]:
    """Return which of Acc and Prev a term holds whose stream is outside of it."""
    if term not in _OPENED:
        new = all(child in _OPENED for child in term.children)
        for part in (term,) if new else subterms(term):
            own = (type(part),) if isinstance(part, (Acc, Prev)) else ()
            _OPENED[part] = frozenset(own).union(*(_OPENED[child] for child in outer(part)))
    return _OPENED[term]


def steps(term: Online) -> bool:
    """Tell whether something is added to the accumulator of a carried sum, which is not only multiplied."""
    added = [part for part in subterms(term.update) if isinstance(part, Map) and part.op == "add"]
    return any(isinstance(part, Acc) for total in added for part in subterms(total))
