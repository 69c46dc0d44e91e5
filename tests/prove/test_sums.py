# mypy: disable-error-code="no-untyped-call, operator"
"""The normal form of sums: what it takes a term to be is what evaluation gives, lane by lane, and equal normal forms
are equal values.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.term import Const, Index, Input, Map, Reduce, Size, Term, rewritten, subterms
from napkin_eq.laws.claim import Claim, meaning, same
from napkin_eq.laws.law import ABSENT, Max, Sum, Var, exp, inv, log, size, stretch, where
from napkin_eq.prove import portfolio as solving
from napkin_eq.prove.normal.atoms import Atom
from napkin_eq.prove.normal.polynomial import Polynomial

X, P = Axis("x"), Axis("p")
LANES = {"x": 3, "p": 2}
# What each variable varies along.
A, B, R, C, E, F = Var("a"), Var("b"), Var("r"), Var("c", "bool"), Var("e", "bool"), Var("f")
DIMS = {A: (X,), B: (X,), R: (), C: (P, X), E: (X,), F: (P,)}
FREE = frozenset((axis.name, v.name) for v, dims in DIMS.items() for axis in (X, P) if axis not in dims)
STRETCHED = meaning(stretch(P, X, C))
INPUTS: dict[Term, Term] = {v: Input(v.name, dims, "bool" if v.sort == "bool" else "float") for v, dims in DIMS.items()}


def sums(claim: Claim) -> Any:
    solving.load_provers()
    return solving._DEEP["sums"].__globals__["Sums"](claim)


def stuck() -> Any:
    solving.load_provers()
    return solving._DEEP["sums"].__globals__["Stuck"]


OPS = "add add mul mul neg inv exp where where sum sum sum max max larger smaller log abs sqrt shifted".split()


def drawn(rng: random.Random, depth: int, ops: Sequence[str] = OPS) -> Term:
    """Return a random term over the variables."""
    if depth == 0 or rng.random() < 0.1:
        return rng.choice(
            (A, B, R, F, A, B, Const(rng.choice((0.0, 1.0, 2.0, -1.0))), ABSENT, Map("real", (Index(X),)), size(P))
        )
    op = rng.choice(ops)
    if op == "share":
        axis, part = rng.choice((X, P)), drawn(rng, depth - 1, ops)
        return Sum(
            axis, part * inv(rng.choice((Sum, Max))(axis, part, rng.choice((None, C, E)))), rng.choice((None, C, E))
        )
    if op in ("rounded", "waved"):
        return Map(rng.choice(("floor", "round") if op == "rounded" else ("sin", "cos")), (plain(rng, 2),))
    if op in ("sum", "max"):
        mask = rng.choice((None, C, E, ~C, ~E, C & E))
        return (Sum if op == "sum" else Max)(rng.choice((X, X, P)), drawn(rng, depth - 1, ops), mask)
    if op == "where":
        test = rng.choice((C, E, ~C, Map("le", (A, B)), Map("lt", (drawn(rng, depth - 2, ops) if depth > 2 else R, A))))
        return where(test, drawn(rng, depth - 1, ops), rng.choice((Const(0.0), ABSENT, drawn(rng, depth - 1, ops))))
    if op == "shifted":
        body, mask = drawn(rng, depth - 2 if depth > 1 else 0, ops), rng.choice((None, C, E))
        return Sum(X, exp(body - Max(X, body, mask)))
    takes = {"add": 2, "mul": 2, "larger": 2, "smaller": 2}.get(op, 1)
    return Map({"larger": "max", "smaller": "min"}.get(op, op), tuple(drawn(rng, depth - 1, ops) for _ in range(takes)))


def plain(rng: random.Random, depth: int) -> Term:
    """Return a random term whose values are few binary digits long, so that where it is whole it is so in float64."""
    if depth == 0 or rng.random() < 0.1:
        return rng.choice((A, B, R, Const(0.5), Const(-2.0), Map("real", (Index(X),)), size(P)))
    op = rng.choice("add add mul neg half floor round whole".split())
    if op == "half":
        return plain(rng, depth - 1) * rng.choice((0.5, 1.5, -0.25))
    if op == "whole":
        places = [Index(X), Index(P), Size(P), Size(X), Const(2), Const(-3), Const(0), Index(P) * Size(X) + Index(X)]
        return Map("real", (Map(rng.choice(("floordiv", "mod")), (rng.choice(places), rng.choice(places))),))
    return Map(op, tuple(plain(rng, depth - 1) for _ in range(2 if op in ("add", "mul") else 1)))


def data(rng: np.random.Generator) -> dict[str, Any]:
    """Return arrays for the variables, now and then all absent or with one stretch that holds nothing."""
    values = np.array([-math.inf, -math.inf, 0.0, 1.0, -1.0, 2.0, 0.5])
    found: dict[str, Any] = {}
    for v, dims in DIMS.items():
        shape = tuple(LANES[a.name] for a in dims)
        found[v.name] = rng.random(shape) < 0.5 if v.sort == "bool" else rng.choice(values[rng.integers(0, 3) :], shape)
        if v.sort == "real" and rng.random() < 0.15:
            found[v.name] = np.full(shape, -math.inf)
    first = rng.integers(0, LANES["p"], LANES["x"]) * rng.integers(0, 2)
    found["c"] = np.arange(LANES["p"])[:, None] == first[None, :]
    return found


class Reading:
    """A normal form, read at given arrays with a loop for each sum: 0.37 stands for what means nothing."""

    def __init__(self, arrays: dict[str, Any]) -> None:
        self.arrays = arrays

    def sum(self, p: Polynomial, at: dict[str, int]) -> float:
        total = 0.0
        for powers, exponent, coefficient in p:
            value = float(coefficient) * (math.exp(self.sum(exponent, at)) if exponent is not None else 1.0)
            for base, power in powers:
                number = self.base(base, at)
                value *= number**power if power > 0 else 0.0 if abs(number) < 1e-9 else number**power
            total += value
        return total

    def base(self, base: Any, at: dict[str, int]) -> float:
        if isinstance(base, Var):
            value = float(self.arrays[base.name][tuple(at[a.name] for a in DIMS[base])])
            return 0.37 if value == -math.inf else value
        if isinstance(base, Size):
            return LANES[base.axis.name]
        if isinstance(base, Index):
            return at[base.axis.name]
        assert isinstance(base, Atom), base
        lanes = Reading.lanes(base, at)
        part: Any = base.parts[0]
        if base.kind in ("present", "truth"):
            value = self.arrays[part.name][tuple(at[a.name] for a in DIMS[part])]
            return float(value != -math.inf if base.kind == "present" else value)
        if base.kind == "all":
            return float(all(self.sum(part, lane) == 1.0 for lane in lanes))
        if base.kind == "sum":
            return math.fsum(self.sum(part, lane) for lane in lanes)
        if base.kind == "top":
            branches: tuple[Any, ...] = base.parts
            found = [
                self.sum(b.parts[1], lane)
                for b in branches
                for lane in Reading.lanes(b, at)
                if self.sum(b.parts[0], lane) == 1.0
            ]
            return max(found, default=0.37)
        number = self.sum(part, at)
        functions: dict[str, Any] = {
            "zero": lambda a: float(abs(a) < 1e-9),
            "above": lambda a: float(a > 1e-9),
            "over": lambda a: a,
        }
        functions |= {
            "sin": math.sin,
            "cos": math.cos,
            "floor": lambda a: math.floor(a + 1e-9),
            "round": lambda a: round(round(a, 9)),
        }
        functions |= {
            "log": lambda a: math.log(a) if a > 0 else 0.37,
            "sqrt": lambda a: math.sqrt(a) if a > 0 else 0.37,
        }
        return float(functions[base.kind](number))

    @staticmethod
    def lanes(base: Atom, at: dict[str, int]) -> list[dict[str, int]]:
        names = [a.name for a in base.bound]
        return [
            at | dict(zip(names, place, strict=True)) for place in itertools.product(*(range(LANES[n]) for n in names))
        ]


def valued(term: Term, arrays: dict[str, Any]) -> Any:
    """Evaluate a term along p and x."""
    filled = rewritten(term, lambda t: INPUTS.get(t, t)) + 0.0 * (Map("real", (Index(P),)) + Map("real", (Index(X),)))
    return evaluate(filled, arrays, LANES, order=("p", "x"))


def tame(value: Any) -> Any:
    return (np.abs(value) < 1e6) | (value == -math.inf)


def differs(term: Term, arrays: dict[str, Any]) -> str:
    """Say where a term's normal form is not its value, or nothing."""
    algebra = sums(Claim("", same(term, term), (STRETCHED,), FREE))
    form = algebra.value(term)
    value, reading = valued(term, arrays), Reading(arrays)
    for place in itertools.product(range(LANES["p"]), range(LANES["x"])):
        at = {"p": place[0], "x": place[1]}
        absent = reading.sum(form.absent, at)
        if absent != float(value[place] == -math.inf):
            return f"{term}: absent is {absent} at {at}, value {value[place]}"
        if not absent and abs(value[place]) < 1e6:
            number = reading.sum(form.number, at)
            if not abs(number - value[place]) <= 1e-6 * (1 + abs(value[place])):
                return f"{term}: {number} at {at}, value {value[place]}"
    return ""


@pytest.mark.parametrize("seed", range(5))
def test_a_normal_form_is_the_value(seed: int) -> None:
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    told = 0
    for _ in range(40):
        term = drawn(rng, rng.choice((2, 3, 4)), (*OPS, "rounded", "waved", "share", "share"))
        for _ in range(2):
            arrays = data(numbers)
            try:
                assert differs(term, arrays) == "", arrays
            except (stuck(), OverflowError):
                break
            told += 1
    assert told > 40


def changed(rng: random.Random, term: Term) -> Term:
    """Return a term with something small about it changed, some of which changes nothing."""
    parts = [t for t in subterms(term) if t.kind == "real"]
    chosen, other = rng.choice(parts), rng.choice(parts)
    ways = [
        other,
        chosen + 0.0 * other,
        chosen * other * inv(other),
        exp(log(chosen)),
        Map("max", (chosen, other)),
        chosen + other - other,
    ]
    ways += [where(E, Const(1.0), 0.0), Const(1.0)]
    ways += [
        where(C, chosen, chosen),
        where(E, chosen, other),
        Sum(P, where(C, chosen, 0.0)),
        Max(P, where(C, chosen, ABSENT)),
    ]
    if isinstance(chosen, Reduce):
        masks = [chosen.where, Const(True), ~chosen.where, chosen.where & E]
        ways += [
            Reduce(chosen.monoid, chosen.axis, chosen.body, rng.choice(masks)),
            Reduce("sum", P, where(C, chosen, 0.0)),
        ]
        ways.append(
            Map(
                "add" if chosen.monoid == "sum" else "max",
                tuple(Reduce(chosen.monoid, chosen.axis, chosen.body, chosen.where & m) for m in (E, ~E)),
            )
        )
    new = rng.choice(ways)
    return rewritten(term, lambda t: new if t is chosen else t)


@pytest.mark.parametrize("seed", range(5))
def test_equal_normal_forms_are_equal_values(seed: int) -> None:
    """Of a term and one that differs a little: where the claim is decided, no numbers tell them apart."""
    rng, numbers = random.Random(100 + seed), np.random.default_rng(seed)
    proved = 0
    for _ in range(60):
        left = drawn(rng, rng.choice((2, 3)), (*OPS, "share", "share") if seed % 2 else OPS)
        right = changed(rng, left)
        claim = Claim("", same(left, right), (STRETCHED,), FREE)
        if left is right or solving.decided_deeply(claim) is None:
            continue
        proved += 1
        for _ in range(6):
            a, b = (valued(t, arrays) for arrays in [data(numbers)] for t in (left, right))
            with np.errstate(all="ignore"):
                near = (a == b) | (np.abs(a - b) <= 1e-6 * (1 + np.abs(a))) | ~tame(a) | ~tame(b)
            assert near.all(), (str(left), str(right))
    assert proved >= 5


def test_work_is_bounded() -> None:
    term: Term = A + 1.0
    for _ in range(60):
        term = term * term
    assert solving.decided_deeply(Claim("", same(Sum(X, term), Sum(X, term * term)), (), FREE)) is None
