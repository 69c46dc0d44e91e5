"""Rounds of saturation: one that would make a hundred times the nodes there are is run without the laws that would, and
the rest is run as ever.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from napkin_eq.egraph.saturate import LARGEST_ROUND, saturate
from napkin_eq.lang.axis import axes
from napkin_eq.lang.term import Input, Reduce, Term
from napkin_eq.laws.law import REGISTRY, Law, Statement, where
from napkin_eq.pipeline.asked import chosen_statements

i, j = axes("i j", i=64, j=33)
X = Input("X", (i, j))
LIMITS = [Input(f"b{number}", (i,)) for number in range(16)]


def every_value_is_a_choice() -> list[Statement]:
    """Return the shipped laws, and the one that would make a choice of every value under every mask."""
    statements, same = chosen_statements((), ()), REGISTRY.statements["where-same"]
    assert isinstance(same, Law)
    return [*statements, replace(same, name="where-anywhere")]


def choices(lanes: Term) -> Term:
    return reduce(lambda chosen, limit: where(limit < lanes, chosen, lanes), LIMITS, lanes)


def test_a_round_that_would_explode_is_cut_short() -> None:
    graph = saturate(choices(X), every_value_is_a_choice())
    assert sum(map(len, graph.classes.values())) < 4 * LARGEST_ROUND
    assert any("in one round were left out" in note for note in graph.notes)
    again = saturate(choices(X), every_value_is_a_choice())
    assert (graph.classes, graph.instances, graph.notes) == (again.classes, again.instances, again.notes)


def test_of_an_ordinary_round_nothing_is_left_out() -> None:
    graph = saturate(choices(X) * LIMITS[0], chosen_statements((), ()))
    assert not any("left out" in note for note in graph.notes)


def test_the_engine_reads_the_parts_that_are_meant() -> None:
    many = axes(" ".join(f"a{number}" for number in range(40)))
    for count in range(8, 40):  # parts of an expression are named, and names may be beginnings of others'
        term: Term = Input("X", many)
        for axis in many[:count]:
            term = Reduce("sum", axis, term)
        graph = saturate(term, ())
        assert graph.reps[graph.root] == term
