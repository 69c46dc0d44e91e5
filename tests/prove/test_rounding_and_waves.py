# mypy: disable-error-code="no-untyped-call, operator"
"""Floors, roundings, quotients of whole numbers, sines and cosines in the normal form: its polynomials are what
evaluation gives.
"""

from __future__ import annotations

import math
import random
from collections.abc import Hashable
from fractions import Fraction
from typing import Any

import pytest

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.term import Const, Index, Map, Size, Term
from napkin_eq.laws.claim import Claim, eq, finite
from napkin_eq.laws.law import Var
from napkin_eq.prove import portfolio as solving
from napkin_eq.prove.normal.polynomial import Polynomial
from napkin_eq.prove.normal.waves import WAVES

X = Axis("x")
A, B, P, Q, R = Var("a"), Var("b"), Var("i", "int"), Var("j", "int"), Var("k", "int")
REALS, WHOLES = (A, B), (P, Q, R, Index(X), Size(X))


def real(i: Term) -> Term:
    return Map("real", (i,))


def whole(rng: random.Random, depth: int) -> Term:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice((*WHOLES, Const(2), Const(-3), Const(0)))
    op = rng.choice("add mul neg floordiv floordiv mod mod".split())
    return Map(op, tuple(whole(rng, depth - 1) for _ in range(1 if op == "neg" else 2)))


def number(rng: random.Random, depth: int) -> Term:
    if depth == 0 or rng.random() < 0.15:
        return rng.choice((*REALS, real(whole(rng, 1)), Const(0.5), Const(-1.5), Const(3.0)))
    op = rng.choice("add add mul neg floor floor round quotient whole".split())
    if op == "whole":
        return real(whole(rng, 2))
    if op == "quotient":
        return number(rng, depth - 1) * Map(
            "inv", (rng.choice((real(Q), real(Size(X)), real(P), Const(2.0), Const(3.0))),)
        )
    return Map(op, tuple(number(rng, depth - 1) for _ in range(2 if op in ("add", "mul") else 1)))


def waved(rng: random.Random, depth: int) -> Term:
    if depth == 0 or rng.random() < 0.1:
        return rng.choice((*REALS, real(P), Const(0.5), Const(2.0), Const(0.0)))
    op = rng.choice("add mul mul neg sin cos sin cos".split())
    return Map(op, tuple(waved(rng, depth - 1) for _ in range(2 if op in ("add", "mul") else 1)))


class Exact:
    """What terms and polynomials are at given numbers: fractions, but for sines and cosines."""

    def __init__(self, at: dict[Hashable, Fraction]) -> None:
        self.at = at

    def term(self, t: Term) -> Any:
        if t in self.at:
            return self.at[t]
        if isinstance(t, Const):
            return Fraction(t.value)
        assert isinstance(t, Map)
        args = [self.term(a) for a in t.args]
        if t.op in ("floordiv", "mod") and args[1] == 0:
            return Fraction(0)
        return {
            "add": lambda a, b: a + b,
            "mul": lambda a, b: a * b,
            "floordiv": lambda a, b: Fraction(a // b),
            "mod": lambda a, b: a % b,
        }.get(t.op, lambda a: self.function(t.op, a))(*args)

    @staticmethod
    def function(op: str, a: Any) -> Any:
        functions: dict[str, Any] = {
            "neg": lambda a: -a,
            "real": lambda a: a,
            "inv": lambda a: 1 / a if a else a,
            "floor": math.floor,
            "round": round,
        }
        found = (functions[op] if op in functions else getattr(math, op))(a)
        return found if isinstance(found, float) else Fraction(found)

    def sum(self, p: Polynomial) -> Any:
        total: Any = Fraction(0)
        for powers, exponent, coefficient in p:
            assert exponent is None
            part: Any = coefficient
            for base, power in powers:
                part *= self.base(base) ** power
            total += part
        return total

    def base(self, base: Any) -> Any:
        return self.at[base] if base in self.at else self.function(base.name, self.sum(base.args[0]))

    def form(self, t: Term) -> Polynomial:
        """Return the normal form of a term in the case that these numbers are."""
        solving.load_provers()
        case_of = solving._DECIDERS["normal form"].__globals__["Case"]

        # A class of a rule file, which is no module: its type is not known here. What is chosen is by the numbers of
        # the test, `self`.
        class Here(case_of):  # type: ignore[misc, valid-type]
            def choice(_, what: Any, *choices: object) -> object:  # noqa: N805
                if what[0] == "absent":
                    return False
                value = self.sum(what[1])
                sign = (value > 1e-12) - (value < -1e-12)
                assert sign in choices, (what, choices)
                return sign

        found = Here({}).value(t)
        assert isinstance(found, Polynomial)
        return found


def numbers(rng: random.Random) -> dict[Hashable, Fraction]:
    size = rng.randint(1, 5)
    found: dict[Hashable, Fraction] = {v: Fraction(rng.randint(-9, 9), rng.choice((1, 2, 3, 4))) for v in REALS}
    found |= {v: Fraction(rng.randint(-7, 7)) for v in (P, Q, R)}
    return found | {Size(X): Fraction(size), Index(X): Fraction(rng.randrange(size))}


@pytest.mark.parametrize("seed", range(3))
def test_normal_forms_of_rounded_numbers_are_their_values(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(400):
        term = number(rng, 3)
        for _ in range(4):
            exact = Exact(numbers(rng))
            assert exact.sum(exact.form(term)) == exact.term(term), (str(term), exact.at)


def test_normal_forms_of_waves_are_their_values() -> None:
    rng = random.Random(7)
    seen = 0
    for _ in range(300):
        term, exact = waved(rng, 4), Exact(numbers(rng))
        wanted = exact.term(term)
        if abs(wanted) < 1e6:
            seen += 1
            assert abs(exact.sum(exact.form(term)) - wanted) <= 1e-6 * (1 + abs(wanted)), (str(term), exact.at)
    assert seen > 200


def decided(left: Term, right: Term, *premises: Term) -> bool:
    solving.load_provers()
    claim = Claim("a test", eq(left, right), premises, frozenset())
    return solving._DECIDERS["normal form"](claim) or any(decide(claim) for decide in solving._DEEP.values())


def test_equal_values_have_equal_normal_forms() -> None:
    """Rotations and products of waves; quotients of quotients, places in rows; and the same a little off."""
    sin, cos = (lambda t, op=op: Map(op, (t,)) for op in WAVES)
    turned = sin(A + B) * cos(A - B) * 2.0
    assert decided(turned, sin(A * 2.0) + sin(B + B)) and not decided(turned, sin(A * 2.0) - sin(B + B))
    half = sin(A * 0.5)
    assert decided(half * half * 2.0 + cos(A), Const(1.0), finite(A)) and not decided(
        half * half + cos(A), Const(1.0), finite(A)
    )
    assert not decided(sin(A) * sin(A) + cos(A) * cos(A), Const(1.0))
    place = Index(X) + Size(X) * P
    assert decided(real(place // Size(X)), real(P)) and decided(real(place % Size(X)), real(Index(X)))
    assert not decided(real((place + Const(1)) // Size(X)), real(P))
    assert not decided(Map("round", (A + 1.0,)), Map("round", (A,)) + 1.0) and decided(
        Map("round", (A + 2.0,)), Map("round", (A,)) + 2.0
    )


def test_quotients_of_quotients_are_quotients() -> None:
    inner, positive = real((P // Q) // R), (Map("lt", (Const(0), Q)), Map("lt", (Const(0), R)))
    assert decided(inner, real(P // (Q * R)), *positive) and not decided(inner, real(P // (Q * R)))
    assert decided(real((P % (Q * R)) % Q), real(P % Q), *positive) and not decided(
        real((P % (Q * R)) % R), real(P % Q), *positive
    )
    assert decided(real((P % (Q * R)) // Q), real((P // Q) % R), *positive)

    def floor(t: Term) -> Term:
        return Map("floor", (t,))

    assert decided(floor(floor(A * 2.0) * 0.5), floor(A)) and not decided(floor(floor(A) * 2.0), floor(A * 2.0))
