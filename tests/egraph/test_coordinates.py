# mypy: disable-error-code="no-untyped-call, operator"
"""Laws that speak of coordinates are used: once for each choice of axes, with certificates that the checker accepts."""

from __future__ import annotations

from pathlib import Path

import pytest

import napkin_eq as nq
from napkin_eq.certify.certificate import dumps
from napkin_eq.certify.check import check
from napkin_eq.egraph.coordinates import Held, coordinates, placed
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Index, Map, Term
from napkin_eq.laws.law import Law, Sum
from tests.statements import stated

RULES = '''"""Coordinates."""
from napkin_eq.laws.law import Index, Map, Size, Sum, law, size


@law("The coordinates along an axis have a known sum.")
def sum_of_lanes(x):
    return Sum(x, Map("real", (Index(x),))), size(x) * (size(x) - 1.0) * 0.5


@law("A mask that every lane meets is none.")
def every_lane(a, x):
    return Sum(x, a, Index(x) < Size(x)), Sum(x, a)
'''


def lane(x: Axis) -> Term:
    return Map("real", (Index(x),))


def below(a, x, y):
    return Sum(x, a, Index(x) <= Index(y)), Sum(x, a, ~(Index(y) < Index(x)))


def test_a_law_is_entered_for_each_choice_of_axes() -> None:
    (law,) = stated(below)
    assert isinstance(law, Law)
    assert set(coordinates(law.lhs, law.rhs)) == {
        Index(Axis("x")) <= Index(Axis("y")),
        Index(Axis("y")) < Index(Axis("x")),
    }
    leaves: list[Term] = []

    def leaf(term: Term) -> int:
        leaves.append(term)
        return len(leaves) - 1

    axes = [Axis("p"), Axis("q", 8)]
    found = list(placed(law, axes, leaf))
    assert [known for _, known in found] == [{"x": x, "y": y} for x in axes for y in axes]
    assert leaves[2] == (Index(axes[0]) <= Index(axes[1])) and isinstance(found[0][0].lhs.where, Held)
    with pytest.raises(NapkinError, match="too many choices"):
        list(placed(law, [Axis(f"a{i}") for i in range(30)], leaf))


def test_laws_about_coordinates_are_used(tmp_path: Path, registry: object) -> None:
    file = tmp_path / "lanes.py"
    file.write_text(RULES, encoding="utf-8")
    q, x = nq.axes("q x", q=64, x=128)
    data = nq.derive(nq.sum(lane(x), x) + nq.sum(nq.array("A", q, x), x), rules=[str(file)]).certificate
    assert {"sum-of-lanes"} <= set(data["laws"])
    assert check(dumps(data).encode())["status"] == "ok"
