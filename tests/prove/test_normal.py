# mypy: disable-error-code="no-untyped-call, operator"
"""The exact normal form: what it proves is so by float64 and by solvers, and what is false it never proves."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.term import Const, Map, Size, Term, subterms
from napkin_eq.laws.claim import Claim, eq, finite, le
from napkin_eq.laws.law import ABSENT, exp, inv, log, where
from napkin_eq.prove import portfolio as solving
from napkin_eq.prove.normal.polynomial import atom, constant, exponential
from tests.terms import MEANING, A, Array, B, C, D, grown

VALUES = (-math.inf, 0.0, 1.0, -1.0, 0.5, -2.0, 3.0)
POSITIVE = Map("lt", (Const(0.0), A))


def decided(goal: Term, *premises: Term) -> bool:
    solving.load_provers()
    return solving._DECIDERS["normal form"](Claim("a test", goal, premises, frozenset()))


def sqrt(a: Term) -> Term:
    return Map("sqrt", (a,))


TRUE_CLAIMS = [
    (eq(A * (B + D), A * B + A * D), ()),
    (eq(exp(A - B) * exp(B), exp(A)), (finite(B),)),
    (eq(inv(inv(A)), A), ()),
    (eq(inv(A * B), inv(A) * inv(B)), ()),
    (eq(A * inv(A), Const(1.0)), (POSITIVE,)),
    (eq(log(exp(A)), A), ()),
    (eq(exp(log(A)), A), (le(Const(0.0), A),)),
    (eq(log(A * B), log(A) + log(B)), (le(Const(0.0), A), le(Const(0.0), B))),
    (eq(sqrt(A) * sqrt(A), A), (le(Const(0.0), A),)),
    (eq(exp(where(C, A, ABSENT)), where(C, exp(A), 0.0)), ()),
    (eq(D + exp(A) * B, exp(A) * (D * exp(-A) + B)), (finite(A), finite(D))),
    (eq(D, A * B), (eq(A, Const(2.0)), eq(D, B + B))),
    (le(Const(0.0), A + B * D), (le(Const(0.0), A), le(Const(0.0), B), le(Const(0.0), D))),
    (Map("lt", (Const(0.0), Map("real", (Size(Axis("x")),)))), ()),
    (eq(Map("sin", (A + B,)), Map("sin", (B + A,))), ()),
    (eq(Map("sin", (A,)) * Map("sin", (A,)) + Map("cos", (A,)) * Map("cos", (A,)), Const(1.0)), (finite(A),)),
    (eq(Map("sin", (-A,)), -Map("sin", (A,))), ()),
]
FALSE_CLAIMS = [
    (eq(exp(A - B) * exp(B), exp(A)), ()),  # absent b
    (eq(A * inv(A), Const(1.0)), (finite(A),)),  # zero
    (eq(exp(log(A)), A), ()),
    (eq(log(A * B), log(A) + log(B)), ()),
    (eq(sqrt(A) * sqrt(A), A), ()),
    (eq(A - A, Const(0.0)), ()),
    (eq(A * 0.0, Const(0.0)), ()),
    (eq(exp(A) * exp(A), exp(A * A)), (finite(A),)),
    (eq(exp(A) * exp(A), exp(A)), (finite(A),)),
    (eq(inv(A + B), inv(A) + inv(B)), (finite(A), finite(B))),
    (eq(exp(where(C, A, 0.0)), where(C, exp(A), 0.0)), ()),
    (eq(D, A * B), (eq(A, Const(3.0)), eq(D, B * B))),
    (le(Const(0.0), A * A - B * B), (finite(A), finite(B))),
    (Map("lt", (Const(0.0), A * A)), (finite(A),)),
    (eq(Map("sin", (A + B,)), Map("sin", (A,)) + Map("sin", (B,))), ()),
    (eq(Map("sin", (A,)) * Map("sin", (A,)) + Map("cos", (A,)) * Map("cos", (A,)), Const(1.0)), ()),  # absent
    (eq(Map("sin", (-A,)), Map("sin", (A,))), ()),
    (eq(Map("abs", (A,)), A), ()),
    (eq(Map("max", (A, B)), A), ()),
    (eq(Map("min", (A, B)), Map("max", (A, B))), (finite(A),)),
]


@pytest.mark.parametrize(("goal", "premises"), TRUE_CLAIMS, ids=lambda part: str(part)[:60])
def test_what_is_true_is_decided(goal: Term, premises: tuple[Term, ...]) -> None:
    assert decided(goal, *premises) and holds(goal, premises) is None


@pytest.mark.parametrize(("goal", "premises"), FALSE_CLAIMS, ids=lambda part: str(part)[:60])
def test_what_is_false_is_not(goal: Term, premises: tuple[Term, ...]) -> None:
    assert not decided(goal, *premises) and holds(goal, premises) is not None


def test_what_lies_beyond_the_fragment_is_left_open() -> None:
    beyond = le(Map("sin", (A,)), A)
    assert not decided(beyond, le(Const(0.0), A)) and holds(beyond, (le(Const(0.0), A),)) is None


def test_whatever_is_decided_is_true_in_float64() -> None:
    """Seven hundred random equations between terms over three variables, most of them false."""
    rng = random.Random(3)
    proved = refuted = 0
    for _ in range(700):
        goal = eq(*(grown(rng, 3) for _ in range(2))) if rng.random() < 0.4 else changed(rng, grown(rng, 3))
        premises = tuple(p for p in (finite(A), POSITIVE, finite(B), le(Const(0.0), D)) if rng.random() < 0.3)
        wrong = holds(goal, premises)
        if decided(goal, *premises):
            assert wrong is None, (str(goal), list(map(str, premises)), wrong)
            proved += 1
        refuted += wrong is not None
    assert proved > 100 and refuted > 200


def changed(rng: random.Random, term: Term) -> Term:
    """Return an equation that may be true: a side, and the same rewritten by a step that holds often."""
    steps: list[Callable[[Term], Term]] = [
        lambda t: Map(t.op, t.args[::-1]) if isinstance(t, Map) and len(t.args) == 2 else t,
        lambda t: t * 1.0,
        lambda t: -(-t),
        lambda t: log(exp(t)),
        lambda t: inv(inv(t)),
        lambda t: t * A * inv(A),
        lambda t: (t + B) - B,
        lambda t: exp(log(t)),
        lambda t: sqrt(t * t),
    ]
    return eq(term, rng.choice(steps)(term))


GRID = [np.array(column) for column in zip(*itertools.product(VALUES, VALUES, VALUES, (True, False)), strict=True)]


def holds(goal: Term, premises: tuple[Term, ...]) -> dict[str, float] | None:
    """Return None if float64 finds no values that meet the premises and not the goal, else those values."""
    found: dict[Term, Array] = dict(zip((A, B, D, C), GRID, strict=True))
    clear = np.ones(len(GRID[0]), dtype=bool)  # where rounding decides nothing
    with np.errstate(all="ignore"):
        for t in subterms(goal, *premises):
            if t not in found:
                whole = isinstance(t, (Const, Size))
                found[t] = (
                    np.full(len(GRID[0]), t.value if isinstance(t, Const) else 3)
                    if whole
                    else MEANING[t.op](*(found[a] for a in t.args))
                )
            if t.kind == "real":
                size = np.abs(found[t])
                clear &= (found[t] == -np.inf) | (size == 0) | ((size > 1e-6) & (size < 1e6))
                if isinstance(t, Map) and t.op == "exp":
                    clear &= (size > 0) | (found[t.args[0]] == -np.inf)  # what underflows is no zero
        if isinstance(goal, Map) and goal.op in ("eq", "le", "lt"):
            left, right = (found[a] for a in goal.args)
            near = (np.abs(left - right) < 1e-6 * (1 + np.abs(left))) & (left != right)
            clear &= ~near
    bad = clear & ~found[goal]
    for p in premises:
        bad &= found[p]
    return {name: float(column[bad][0]) for name, column in zip("abdc", GRID, strict=True)} if bad.any() else None


def test_normal_forms_are_exact() -> None:
    x, y = atom("x"), atom("y")
    third = constant(Fraction(1, 3))
    assert (x + y) * (x - y) == x * x - y * y
    assert exponential(x + y) == exponential(x) * exponential(y) and exponential(x) * exponential(
        x * constant(-1)
    ) == constant(1)
    assert third + third + third == constant(1) and exponential(third) != exponential(third + third)
    assert exponential(x) * x != x * exponential(y) and x - x == constant(0)
    assert {x * y: 1}[y * x] == 1
