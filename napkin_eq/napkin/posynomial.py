"""Sums of products of powers: in tile sizes, which are variables, with coefficients in axis sizes, which are SymPy
expressions.

A `Posynomial` maps monomials, exponents by variable, to positive coefficients. Axis sizes are positive integers as
symbols, variables are names: so an axis called g_q and the groups of an axis q are never taken for each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from napkin_eq.lang.axis import Axis

Monomial = tuple[tuple[str, int], ...]  # exponents by variable, sorted, none of them 0


def size(axis: Axis) -> Any:
    """Return the symbol of an axis' size; of an axis of one element the number 1."""
    import sympy

    return sympy.Integer(1) if axis.size == 1 else sympy.Symbol(axis.name, positive=True, integer=True)


def variable(name: str) -> Any:
    """Return the symbol of a tile size, or of the memory."""
    import sympy

    return sympy.Symbol(name, positive=True)


def monomial(exponents: Mapping[str, int]) -> Monomial:
    """Return a monomial by its exponents."""
    return tuple(sorted((name, power) for name, power in exponents.items() if power))


@dataclass(frozen=True)
class Posynomial:
    """A sum of coefficients times monomials; like terms are one."""

    terms: Mapping[Monomial, Any]

    def __add__(self, other: Posynomial) -> Posynomial:
        return Posynomial(
            {m: self.terms.get(m, 0) + other.terms.get(m, 0) for m in dict.fromkeys((*self.terms, *other.terms))}
        )

    @property
    def constant(self) -> Any:
        """The coefficient of what no tile size changes."""
        import sympy

        return self.terms.get((), sympy.Integer(0))

    @property
    def varying(self) -> Posynomial:
        """The terms that tile sizes change."""
        return Posynomial({m: c for m, c in self.terms.items() if m})

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that occur, sorted."""
        return tuple(sorted({name for m in self.terms for name, _ in m}))

    def powers(self, name: str) -> list[int]:
        """Return the exponents of a variable, term by term."""
        return [dict(m).get(name, 0) for m in self.terms]

    def at(self, values: Mapping[str, Any]) -> Posynomial:
        """Return it with expressions put in for some variables."""
        return total(
            Posynomial({_left(m, values): c * math.prod(values[n] ** e for n, e in m if n in values)})
            for m, c in self.terms.items()
        )

    def without(self, names: Iterable[str]) -> Posynomial:
        """Return the terms in which none of some variables occurs."""
        gone = set(names)
        return Posynomial({m: c for m, c in self.terms.items() if not any(n in gone for n, _ in m)})

    def expression(self) -> Any:
        """Return it as a SymPy expression, variables as symbols."""
        import sympy

        return sympy.Add(*(c * sympy.Mul(*(variable(n) ** e for n, e in m)) for m, c in self.terms.items()))

    def value(self, sizes: Mapping[str, int], tiles: Mapping[str, float]) -> float:
        """Return its value for axis sizes by name and values of the variables."""
        return sum(number(c, sizes) * math.prod(tiles[n] ** e for n, e in m) for m, c in self.terms.items())


def _left(powers: Monomial, values: Mapping[str, Any]) -> Monomial:
    return tuple((name, power) for name, power in powers if name not in values)


def total(parts: Iterable[Posynomial]) -> Posynomial:
    """Return the sum of posynomials."""
    found = Posynomial({})
    for part in parts:
        found = found + part
    return found


def number(expression: Any, sizes: Mapping[str, int], memory: float | None = None) -> float:
    """Return an expression's value for axis sizes by name and, where it speaks of memory, so many values of it."""
    import sympy

    known: dict[Any, Any] = {sympy.Symbol(name, positive=True, integer=True): value for name, value in sizes.items()}
    if memory is not None:
        known[variable("M")] = memory
    return float(sympy.sympify(expression).subs(known))


def share(fraction: float) -> Any:
    """Return the share of a loop that is walked: one where all is, else in thousandths."""
    import sympy

    found = Fraction(fraction).limit_denominator(1000)
    return sympy.Rational(found.numerator, found.denominator)
