"""Sines and cosines in sums: of one sign of each argument, and products of them as sums of them.

sin(-p) = -sin p, cos(-p) = cos p, cos p cos q = (cos(p - q) + cos(p + q)) / 2 and its likes hold of all numbers. What
is left, with different arguments up to sign, is as independent as frequencies are; so sin² + cos² is 1, and a rotation
of a rotation is one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from fractions import Fraction

from napkin_eq.prove.normal.atoms import NONE, ONE, product
from napkin_eq.prove.normal.polynomial import Polynomial, added, atom, constant

WAVES, MOST_WAVES = ("sin", "cos"), 8  # of one product
# Of an atom that is a function of one number: its name and that number
Inside = Callable[[Hashable], "tuple[str, Polynomial] | None"]
Make = Callable[[str, Polynomial], Hashable]
HALF = Fraction(1, 2)


def odd(op: str, p: Polynomial, make: Make) -> Polynomial:
    """Return a function with f(-p) = -f(p) of a sum."""
    if not p.terms:
        return NONE
    return -atom(make(op, -p)) if p.terms[0][1] < 0 else atom(make(op, p))


def wave(op: str, p: Polynomial, make: Make) -> Polynomial:
    """Return the sine or the cosine of a sum."""
    if op == "sin":
        return odd(op, p, make)
    return (atom(make(op, -p)) if p.terms[0][1] < 0 else atom(make(op, p))) if p.terms else ONE


def linear(p: Polynomial, inside: Inside, make: Make) -> Polynomial:
    """Return a sum with each product of sines and cosines as a sum of them; one over them, and long products, stay."""
    found = []
    for (powers, exponent), coefficient in p.terms:
        waves, rest = list[tuple[str, Polynomial]](), list[tuple[Hashable, int]]()
        for base, power in powers:
            function = inside(base)
            if function is not None and function[0] in WAVES:
                waves += [function] * power if power > 0 else [function] * (MOST_WAVES + 1)
            else:
                rest.append((base, power))
        if not 1 < len(waves) <= MOST_WAVES:
            found.append(Polynomial((((powers, exponent), coefficient),)))
            continue
        total = wave(*waves[0], make)
        for one in waves[1:]:
            total = added(_times(constant(c) * product(ps, e or NONE), one, inside, make) for (ps, e), c in total.terms)
        found.append(constant(coefficient) * product(tuple(rest), exponent or NONE) * total)
    return added(found)


def _times(term: Polynomial, other: tuple[str, Polynomial], inside: Inside, make: Make) -> Polynomial:
    """Return a constant times one wave or none, times a wave, as a sum of waves."""
    ((powers, _), coefficient), *_rest = term.terms
    first = inside(powers[0][0]) if powers else None
    (op, q) = other
    if first is None:
        return constant(coefficient) * wave(op, q, make)
    (kind, p), half = first, constant(coefficient * HALF)
    if kind == op:
        near, far = wave("cos", p - q, make), wave("cos", p + q, make)
        return half * (near + far if op == "cos" else near - far)
    near, far = wave("sin", p - q, make), wave("sin", p + q, make)
    return half * (far + near if op == "cos" else far - near)


def simpler(p: Polynomial, inside: Inside, make: Make) -> Polynomial:
    """Return a sum with products of waves taken apart where that makes it shorter."""
    found = linear(p, inside, make)
    return found if len(found.terms) < len(p.terms) else p
