"""Floors and roundings in sums: what is whole moves out, and a floor inside a quotient of whole numbers is left out.

floor(p + n) = floor p + n for a whole n; floor((floor q + m) / n) = floor((q + m) / n) for whole m and n > 0; a number
from 0 to below 1 has the floor 0. A half is rounded to even, so only an even number moves out of a rounding; round(-p)
= -round p.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction

from napkin_eq.prove.normal.atoms import ONE
from napkin_eq.prove.normal.polynomial import Polynomial, Powers, added, atom, constant
from napkin_eq.prove.normal.waves import Inside, Make


@dataclass(frozen=True, slots=True)
class Rounding:
    """Floors and roundings among the atoms of a normal form.

    inside: the function that an atom is. make: an atom that is a function. whole: whether an atom is a whole number.
    positive, nonneg: whether a number is known to be more than 0, or not less.
    """

    inside: Inside
    make: Make
    whole: Callable[[Hashable], bool]
    positive: Callable[[Polynomial], bool]
    nonneg: Callable[[Polynomial], bool]

    def floor(self, p: Polynomial) -> Polynomial:
        while (other := self._without_inner(p)) is not None:
            p = other
        out, rest = self._parted(p, 1)
        return out if not rest.terms or self._below_one(rest) else out + atom(self.make("floor", rest))

    def round(self, p: Polynomial) -> Polynomial:
        part = next((c for powers, exponent, c in p if not self._is_whole(powers, exponent)), None)
        if part is not None and part < 0:
            return -self.round(-p)
        out, rest = self._parted(p, 2)
        if part is None and all(c.denominator == 1 for _, _, c in rest):
            return p
        if all(not powers and exponent is None for powers, exponent, _ in rest):
            return out + constant(round(rest.terms[0][1]))
        return out + atom(self.make("round", rest))

    def _is_whole(self, powers: Powers, exponent: Polynomial | None) -> bool:
        return exponent is None and all(power > 0 and self._whole(base) for base, power in powers)

    def _whole(self, base: Hashable) -> bool:
        function = self.inside(base)
        return function[0] in ("floor", "round") if function is not None else self.whole(base)

    def _parted(self, p: Polynomial, step: int) -> tuple[Polynomial, Polynomial]:
        """Return what moves out, a sum of multiples of a step, and the rest."""
        out = []
        for powers, exponent, coefficient in p:
            if self._is_whole(powers, exponent):
                out.append(
                    constant(math.floor(coefficient / step) * step) * Polynomial((((powers, exponent), Fraction(1)),))
                )
        moved = added(out)
        return moved, p - moved

    def _denominator(self, p: Polynomial) -> Polynomial | None:
        """Return a positive whole number that a sum becomes one without negative powers by, None where none
        is known.
        """
        most: dict[Hashable, int] = {}
        for powers, _, _ in p:
            for base, power in powers:
                if power < 0:
                    most[base] = max(most.get(base, 0), -power)
        result = constant(math.lcm(*(c.denominator for _, _, c in p)))
        for base, power in most.items():
            if not self._whole(base) or not self.positive(atom(base)):
                return None
            result = result * atom(base, power)
        return result

    def _below_one(self, p: Polynomial) -> bool:
        below = self._denominator(p)
        return below is not None and self.nonneg(p * below) and self.positive(below - p * below)

    def _without_inner(self, p: Polynomial) -> Polynomial | None:
        """Return a quotient of whole numbers, one of them a floor, with what that is the floor of in its place; None
        for anything else.
        """
        below = self._denominator(p)
        if below is None or below == ONE:
            return None
        whole = p * below
        floors = [
            base
            for powers, _, c in whole
            for base, _ in powers
            if (function := self.inside(base)) is not None and function[0] == "floor"
        ]
        if len(floors) != 1 or not all(
            self._is_whole(powers, exponent) and c.denominator == 1 for powers, exponent, c in whole
        ):
            return None
        inner = self.inside(floors[0])
        if inner is None or ((((floors[0], 1),), None), Fraction(1)) not in whole.terms:
            return None
        ((powers, _), coefficient), *_rest = below.terms
        inverse = constant(1 / coefficient) * Polynomial(
            ((((tuple((base, -power) for base, power in powers)), None), Fraction(1)),)
        )
        return (whole - atom(floors[0]) + inner[1]) * inverse
