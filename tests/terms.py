# mypy: disable-error-code="no-untyped-call, operator"
"""Random terms over three values and a mask, and what they mean in float64, written down without the engine."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from napkin_eq.lang.term import Const, Map, Term
from napkin_eq.laws.law import Var, where

Array = np.ndarray[Any, np.dtype[Any]]
A, B, D, C = Var("a"), Var("b"), Var("d"), Var("c", "bool")


def grown(rng: random.Random, depth: int) -> Term:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice((A, B, D, Const(rng.choice((0.0, 1.0, -1.0, 2.0)))))
    op = rng.choice(("add", "add", "mul", "mul", "neg", "inv", "exp", "max", "where", "log", "abs", "sqrt", "min"))
    if op == "where":
        return where(rng.choice((C, Map("le", (A, B)))), grown(rng, depth - 1), grown(rng, depth - 1))
    takes = 2 if op in ("add", "mul", "max", "min") else 1
    return Map(op, tuple(grown(rng, depth - 1) for _ in range(takes)))


def absorbing(compute: Callable[..., Array]) -> Callable[..., Array]:
    return lambda *args: np.where(np.logical_or.reduce([a == -np.inf for a in args]), -np.inf, compute(*args))


MEANING: dict[str, Callable[..., Array]] = {
    "add": absorbing(lambda a, b: a + b),
    "mul": absorbing(lambda a, b: a * b),
    "neg": absorbing(lambda a: -a),
    "inv": absorbing(lambda a: np.where(a == 0, 0.0, 1 / a)),
    "abs": absorbing(np.abs),
    "sqrt": absorbing(lambda a: np.sqrt(np.maximum(a, 0))),
    "sin": absorbing(np.sin),
    "cos": absorbing(np.cos),
    "min": absorbing(np.minimum),
    "log": absorbing(lambda a: np.where(a > 0, np.log(a), -np.inf)),
    "exp": np.exp,
    "max": np.maximum,
    "real": lambda a: a * 1.0,
    "where": np.where,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "eq": lambda a, b: a == b,
}
