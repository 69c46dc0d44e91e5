# mypy: disable-error-code="arg-type, operator"
"""What a false law lacks: conditions that are enough, no stronger than needed, never vacuous; and stated ones that are
too strong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from napkin_eq.cli.main import main
from napkin_eq.lang.term import Length, Read, Scan
from napkin_eq.laws.law import (
    TRUE,
    Const,
    Coordinate,
    Index,
    Map,
    Mask,
    Max,
    Online,
    Sum,
    distinct,
    exp,
    finite,
    free,
    inv,
    le,
    log,
    nonneg,
    pos,
    scales,
    where,
)
from napkin_eq.laws.obligation import conditions_of
from napkin_eq.prove import abduction as abduce
from napkin_eq.prove.abduction import Advice, advice, data, told, with_conditions
from napkin_eq.prove.prove import Outcome, opinion, prove
from tests.statements import stated


def said(function: Callable[..., Any], status: str = "refuted") -> tuple[Any, Advice]:
    (statement,) = stated(function)
    return statement, advice(statement, status)


def sets(found: Advice) -> list[list[str]]:
    return [[str(j) for j in conditions] for conditions in found.true_if]


def moves_out(a, b, x):
    return Sum(x, a * b), a * Sum(x, b)


def cancels(a):
    return a * inv(a), Const(1.0), finite(a)


def undone(a):
    return exp(log(a)), a


def whole_tiles(n: Coordinate, b: Coordinate):
    return (n // b) * b, n


def two_masks(a, c, x, e: Mask):
    return Sum(x, a), Sum(x, a, c) + Sum(x, a, e), le(1.0, where(c, Const(1.0), 0.0) + where(e, Const(1.0), 0.0))


def two_axes(a, x, y):
    return Sum(x, a * Map("real", (Index(y),))), Sum(x, a) * Map("real", (Index(y),))


def by_another(a, b, x):
    return Sum(x, exp(a)), exp(b) * Sum(x, exp(a - b)), free(x, b)


@pytest.mark.parametrize(
    ("function", "least"),
    [
        (moves_out, ["free(x, a)"]),
        (cancels, ["nonzero(a)"]),
        (undone, ["nonneg(a)"]),
        (whole_tiles, ["divides(b, n)"]),
        (two_masks, ["disjoint(c, e)"]),
        (two_axes, ["distinct(x, y)"]),
        (by_another, ["finite(b)"]),
    ],
)
def test_the_weakest_condition_comes_first_and_is_verified(function: Callable[..., Any], least: list[str]) -> None:
    statement, found = said(function)
    assert sets(found)[0] == least
    for conditions in found.true_if:
        (verdict,) = prove([with_conditions(statement, (*conditions_of(statement), *conditions))], use_cache=False)
        assert verdict.status == "proved"


def test_no_set_holds_another_one() -> None:
    def ratio(a, b, d):
        return (a * d) * inv(b * d), a * inv(b)

    found = sets(said(ratio)[1])
    assert ["nonzero(d)"] in found and ["pos(d)"] not in found
    assert not [(p, q) for p in found for q in found if p is not q and set(p) <= set(q)]


def test_where_no_condition_helps_none_is_made_up() -> None:
    def variance(a, x):
        return Sum(x, a * a), Sum(x, a) * Sum(x, a) + 1.0

    _, found = said(variance)
    assert found.true_if == () and found.example is not None


def test_what_is_vacuous_is_not_offered() -> None:
    def nothing(a):
        return a, a + 1.0, pos(a)

    assert sets(said(nothing)[1]) == []


def test_a_mask_that_must_hold_somewhere_is_found() -> None:
    def kept(a, c, x):
        return finite(Max(x, a, c)), finite(a)

    statement, found = said(kept)
    assert sets(found)[0] == ["pos(Σ_x [c ? 1 : 0])"]
    assert "true if c holds somewhere along x" in told(statement, found)


def test_a_condition_that_no_prover_settles_is_called_that(monkeypatch: pytest.MonkeyPatch) -> None:
    def shares(a, c, x):
        return Sum(x, exp(a) * inv(Sum(x, exp(a), c)), c), Const(1.0), finite(a)

    def asked(statement: Any) -> Outcome:
        found = opinion(statement, 2.0)
        return replace(found, status="unknown") if found.status == "proved" else found

    (statement,) = stated(shares)
    assert ["pos(Σ_x [c ? 1 : 0])"] in sets(advice(statement, "refuted"))
    monkeypatch.setattr(abduce, "_asked", asked)
    found = advice(statement, "refuted")
    assert not sets(found) and "pos(Σ_x [c ? 1 : 0])" in map(str, found.perhaps)
    assert "perhaps if c holds somewhere along x" in told(statement, found)


def test_a_law_about_streams_gets_advice_too() -> None:
    def factors(a, b, r, x):
        return scales(x, a * b, r), scales(x, a, r)

    def update(a, c, u, x):
        return Online(x, a, TRUE, u), Online(x, a, c, u)

    (statement,) = stated(factors)
    assert sets(advice(statement, "refuted", budget_s=2))[0] == ["local(x, b)"]
    (statement,) = stated(update)
    found = advice(statement, "refuted", budget_s=1)
    assert found.example is not None and "u" not in dict(found.example.steps())


def test_of_what_no_prover_understands_nothing_is_guessed() -> None:
    def prefixes(a, x):
        return Read(Scan("sum", x, a), x, Length(x) + (-1)), Sum(x, a)

    statement, found = said(prefixes, "unknown")
    assert (found.example, found.true_if, found.perhaps, told(statement, found)) == (None, (), (), "")


def test_every_subterm_of_a_counterexample_has_its_value() -> None:
    _, found = said(moves_out)
    assert found.example is not None
    rows = dict(found.example.steps())
    assert list(rows) == ["a", "b", "a · b", "Σ_x a · b", "Σ_x b", "a · Σ_x b"]
    a, b = (np.array(eval(rows[name])) for name in "ab")
    assert eval(rows["a · b"]) == list(a * b) and float(rows["Σ_x a · b"]) == (a * b).sum()
    assert eval(rows["a · Σ_x b"]) == list(a * b.sum()) and data(found)["counterexample"]["values"] == [
        list(row) for row in rows.items()
    ]


def test_conditions_stronger_than_needed_are_told() -> None:
    def scaled(a, b, x):
        return Max(x, a * b), a * Max(x, b), free(x, a), pos(a)

    def commutes(a, b, x, y):
        return Sum(x, Sum(y, a)), Sum(y, Sum(x, a)), distinct(x, y), finite(b)

    statement, found = said(scaled, "proved")
    assert [(str(j), str(other)) for j, other in found.instead] == [("pos(a)", "nonneg(a)")]
    assert "stronger than needed: pos(a); nonneg(a) is enough" in told(statement, found)
    assert [(str(j), other) for j, other in said(commutes, "proved")[1].instead] == [
        ("distinct(x, y)", None),
        ("finite(b)", None),
    ]
    assert said(undone_where_it_may, "proved")[1].instead == ()


def undone_where_it_may(a):
    return exp(log(a)), a, nonneg(a)


def test_the_command_line_says_so(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    file = tmp_path / "mine.py"
    file.write_text(
        "from napkin_eq.law import Sum, law\n\n\n@law('A factor moves out.')\ndef moves_anywhere(a, b, x):\n    return"
        " Sum(x, a * b), a * Sum(x, b)\n"
    )
    assert main(["prove", str(file)]) == 1
    out = capsys.readouterr().out
    assert "true if a does not vary along x:  free(x, a)" in out and "a · Σ_x b" in out
    assert main(["prove", str(file), "--json"]) == 1
    assert '"condition": "free(x, a)"' in capsys.readouterr().out
