"""Atoms of sums that hold reductions: numbers and facts, and what can be read off sums in them without knowing more.

A fact is a number that is 0 or 1: that a mask holds, that a value is present, that a number is 0 or more than 0, that a
fact holds in all lanes.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from napkin_eq.lang.axis import Axis
from napkin_eq.prove.normal.polynomial import Polynomial, Powers, added, atom, constant, exponential

NONE, ONE = Polynomial(), constant(1)
# What is chosen first decides most.
FACTS = ("all", "zero", "above", "present", "truth")
Branch = tuple[tuple[Axis, ...], Polynomial, Polynomial]


class Atom(NamedTuple):
    """A number or a fact, by its kind: `bound` are the axes that it ranges over, `parts` what it is made of."""

    kind: str
    bound: tuple[Axis, ...]
    parts: tuple[Hashable, ...]


class Stuck(Exception):  # noqa: N818 - no error: the fragment, or the work that is allowed, ends here
    """The claim is not decided."""


def part(base: Atom) -> Polynomial:
    """Return the one sum that an atom is made of."""
    (found,) = base.parts
    assert isinstance(found, Polynomial)
    return found


def branch(base: Hashable) -> Branch:
    """Return a branch of a maximum: the axes that it ranges over, the fact that guards it, its number."""
    assert isinstance(base, Atom)
    guard, number = base.parts
    assert isinstance(guard, Polynomial) and isinstance(number, Polynomial)
    return base.bound, guard, number


def only(p: Polynomial, *kinds: str) -> Atom | None:
    """Return the one atom that a sum is, if it is one of these kinds."""
    if len(p.terms) == 1 and p.terms[0][1] == 1 and p.terms[0][0][1] is None and len(p.terms[0][0][0]) == 1:
        ((base, power),) = p.terms[0][0][0]
        return base if isinstance(base, Atom) and base.kind in kinds and power == 1 else None
    return None


def sole(base: Atom) -> Hashable:
    """Return the number that a fact is about where that is an atom, else None."""
    (((powers, _), _), *rest) = part(base).terms
    return powers[0][0] if len(powers) == 1 and not rest else None


def first_fact(p: Polynomial) -> Atom | None:
    """Return the fact in a sum that decides most, None if there is none."""
    found = [base for powers, _, _ in p for base, _ in powers if isinstance(base, Atom) and base.kind in FACTS]
    return min(found, key=lambda base: FACTS.index(base.kind), default=None)


def put(p: Polynomial, fact: Atom, value: int) -> Polynomial:
    """Return a sum where a fact is known."""
    if all(base != fact for powers, _, _ in p for base, _ in powers):
        return p
    kept = []
    for (powers, exponent), coefficient in p.terms:
        rest = tuple(pair for pair in powers if pair[0] != fact)
        if value or len(rest) == len(powers):
            kept.append(Polynomial((((rest, exponent), coefficient),)))
    return added(kept)


def product(powers: Powers, exponent: Polynomial) -> Polynomial:
    """Return powers times e to the exponent."""
    result = exponential(exponent)
    for base, power in powers:
        result = result * (atom(base, power) if power else ONE)
    return result


def union(axes: tuple[Axis, ...], *others: Axis) -> tuple[Axis, ...]:
    """Return axes in order, each once."""
    return tuple(sorted({*axes, *others}))
