"""Exact sums of coefficient · monomial · e^exponent: what the provers calculate with. Equal normal forms mean equal
functions.

An atom is whatever stands for a number: any hashable value whose text is its own. Powers may be negative: whoever
writes one vouches that the atom is not zero. An exponent is such a sum again. Coefficients are fractions, so nothing is
rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TypeAlias


class TooMuch(Exception):  # noqa: N818 - no error: a calculation that is given up
    """A calculation took more work than it was given."""


_WORK: ContextVar[list[int] | None] = ContextVar("work", default=None)


@contextmanager
def bounded(products: int) -> Iterator[None]:
    """Give what is calculated inside so many products of two terms; beyond these it raises TooMuch."""
    token = _WORK.set([products])
    try:
        yield
    finally:
        _WORK.reset(token)


def _spend(products: int) -> None:
    left = _WORK.get()
    if left is not None:
        left[0] -= products
        if left[0] < 0:
            raise TooMuch


Powers = tuple[tuple[Hashable, int], ...]
Key: TypeAlias = "tuple[Powers, Polynomial | None]"


@dataclass(frozen=True)
class Polynomial:
    """A sum in normal form: `terms` maps (powers of atoms, exponent) to a coefficient that is not zero, in a fixed
    order.
    """

    terms: tuple[tuple[Key, Fraction], ...] = ()

    @cached_property
    def _hash(self) -> int:
        return hash(self.terms)

    def __hash__(self) -> int:
        return self._hash

    def __add__(self, other: Polynomial) -> Polynomial:
        return _collected([*self.terms, *other.terms]) if self.terms and other.terms else self if self.terms else other

    def __neg__(self) -> Polynomial:
        return Polynomial(tuple((key, -coefficient) for key, coefficient in self.terms))

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + -other

    def __mul__(self, other: Polynomial) -> Polynomial:
        _spend(len(self.terms) * len(other.terms))
        return _collected(
            ((_powers([*p, *q]), _added(e, f)), coefficient * factor)
            for (p, e), coefficient in self.terms
            for (q, f), factor in other.terms
        )

    def __iter__(self) -> Iterator[tuple[Powers, Polynomial | None, Fraction]]:
        return ((powers, exponent, coefficient) for (powers, exponent), coefficient in self.terms)

    def put(self, value: Callable[[Hashable], Polynomial]) -> Polynomial:
        """Return the sum with a value in the place of every atom that has no negative power; no exponents."""
        result = Polynomial()
        for powers, _, coefficient in self:
            part = constant(coefficient)
            for base, power in powers:
                part = part * raised(value(base), power)
            result = result + part
        return result


def constant(value: int | Fraction) -> Polynomial:
    """Return a number as a sum."""
    return Polynomial(((((), None), Fraction(value)),) if value else ())


def atom(base: Hashable, power: int = 1) -> Polynomial:
    """Return a power of an atom as a sum."""
    return Polynomial((((((base, power),), None), Fraction(1)),))


def exponential(exponent: Polynomial) -> Polynomial:
    """Return e to the exponent."""
    return Polynomial(((((), exponent if exponent.terms else None), Fraction(1)),))


def added(parts: Iterable[Polynomial]) -> Polynomial:
    """Return the sum of many sums, put in order once."""
    return _collected(term for part in parts for term in part.terms)


def raised(base: Polynomial, power: int) -> Polynomial:
    """Return a product of a sum with itself; power >= 0."""
    result = constant(1)
    for _ in range(power):
        result = result * base
    return result


def _powers(factors: Iterable[tuple[Hashable, int]]) -> Powers:
    totals: dict[Hashable, int] = {}
    for base, power in factors:
        totals[base] = totals.get(base, 0) + power
    kept = [(base, power) for base, power in totals.items() if power]
    return tuple(sorted(kept, key=_text) if len(kept) > 1 else kept)


def _added(a: Polynomial | None, b: Polynomial | None) -> Polynomial | None:
    if a is None or b is None:
        return a or b
    return a + b if (a + b).terms else None


# Sums are put in order by the text of what their terms hold, which most sums share.
_text = lru_cache(1 << 16)(repr)


def _collected(parts: Iterable[tuple[Key, Fraction]]) -> Polynomial:
    totals: dict[Key, Fraction] = {}
    for key, coefficient in parts:
        totals[key] = totals[key] + coefficient if key in totals else coefficient
    kept = [(key, c) for key, c in totals.items() if c]
    return Polynomial(tuple(sorted(kept, key=lambda term: _text(term[0])) if len(kept) > 1 else kept))
