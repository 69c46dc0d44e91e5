"""Waists of a graph: values between which it falls into parts, as the residual stream does between two layers of a
network.

A value is a waist where whoever reads a fold before it, and comes after it, reads it through the waist alone. What no
fold is in may be on both sides: it is made again of the arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from napkin_eq.lang.term import Read, Reduce, Scan, Term, rebuilt, subterms


def waists(outputs: Sequence[Term]) -> list[Term]:
    """Return the waists of some outputs, producers first; an output that others read may be one."""
    terms = subterms(*outputs)
    bit = {term: 1 << place for place, term in enumerate(terms)}
    folded: dict[Term, bool] = {}
    readers = dict.fromkeys(terms, 0)
    for term in terms:
        folded[term] = isinstance(term, (Reduce, Scan)) or any(folded[c] for c in term.children)
        for child in term.children:
            readers[child] |= bit[term]
    below: dict[Term, int] = {}  # a bit for each value that a term is made of, and for itself
    reached: dict[Term, int] = {}  # and for each that reads a fold among these
    found: list[Term] = []
    for term in terms:
        own, read = bit[term], 0
        for child in term.children:
            own |= below[child]
            read |= reached[child] | (readers[child] if folded[child] else 0)
        below[term], reached[term] = own, read
        if (
            folded[term]
            and readers[term]
            and term.axes
            and term.kind == "real"
            and not isinstance(term, Read)
            and not read & ~own
        ):
            found.append(term)
    return found


def part(outputs: Sequence[Term], given: Mapping[Term, Term]) -> tuple[Term, ...]:
    """Return outputs with other terms in the place of values that are given; what they are made of is not visited."""
    done = dict(given)
    for term in within(outputs, given):
        done[term] = rebuilt(term, tuple(done[c] for c in term.children))
    return tuple(done[output] for output in outputs)


def within(outputs: Sequence[Term], given: Mapping[Term, object]) -> list[Term]:
    """Return the values that outputs are made of down to those that are given, children first, in a fixed order."""
    seen: dict[Term, None] = {}
    stack = [(output, False) for output in reversed(outputs)]
    while stack:
        term, ready = stack.pop()
        if ready:
            seen.setdefault(term)
        elif term not in seen and term not in given:
            stack.append((term, True))
            stack.extend((child, False) for child in reversed(term.children))
    return list(seen)
