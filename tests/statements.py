"""Laws made from functions as in `rules/`, but kept out of the registry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from napkin_eq.law import Inference, Judgment, Law, Statement, _expanded


def stated(function: Callable[..., Any]) -> list[Statement]:
    """Return what a function of pattern variables states: a law, or an inference where a judgment comes first."""
    found: list[Statement] = []
    for name, family, place, (first, *rest) in _expanded(function):
        if isinstance(first, Judgment):
            found.append(Inference(name, family, "A statement made by hand.", first, tuple(rest), "", place))
        else:
            found.append(Law(name, family, "A statement made by hand.", first, rest[0], tuple(rest[1:]), False, "algebra", "", place))
    return found
