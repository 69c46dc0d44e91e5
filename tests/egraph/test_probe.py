"""Probes of saturated e-graphs: true laws put nothing false on one footing, and a false law that slipped in is seen."""

from __future__ import annotations

import pytest

from napkin_eq.cli.main import main
from napkin_eq.egraph.saturate import saturate
from napkin_eq.lang.axis import axes
from napkin_eq.lang.term import Input, Term
from napkin_eq.laws.law import Law, Max, Sum, exp, inv
from napkin_eq.pipeline.asked import chosen_statements
from napkin_eq.verify import probe as probing
from napkin_eq.verify.probe import BRIEFLY, probe
from tests.statements import stated

q, x, d, p = axes("q x d p", q=64, x=96, d=32, p=4)
S = Sum(d, Input("Q", (q, d)) * Input("K", (x, d)))
SHARES = exp(S - Max(x, S)) * inv(Sum(x, exp(S - Max(x, S))))
WEIGHTED = Sum(x, SHARES * Input("V", (x, d)))
DIAGRAMS = {
    "weighted": WEIGHTED,
    "shares": SHARES,
    "normed": Input("A", (q, d)) * inv(Sum(d, Input("A", (q, d)) * Input("A", (q, d))) ** 0.5),
    "variance": Sum(d, (Input("A", (q, d)) - Sum(d, Input("A", (q, d)))) ** 2),
}


@pytest.mark.parametrize("name", DIAGRAMS)
def test_what_true_laws_put_together_is_equal(name: str) -> None:
    graph = saturate(DIAGRAMS[name], chosen_statements((), ()))
    found = probe(graph)
    assert found.false == () and found.members > found.classes > 1


def test_an_axis_cut_into_stretches_is_probed_too() -> None:
    found = probe(saturate(WEIGHTED, chosen_statements((), ()), [(p, x)]))
    assert found.false == () and found.members > 100


def any_factor_moves_out(a, b, x):
    return Sum(x, a * b), a * Sum(x, b)


def every_reference_is_one(a, b, x):
    return exp(a - Max(x, b)), exp(a - b)


@pytest.mark.parametrize("function", [any_factor_moves_out, every_reference_is_one], ids=lambda f: f.__name__)
def test_a_false_law_in_the_e_graph_is_seen(function) -> None:
    (law,) = stated(function)
    assert isinstance(law, Law)
    source: Term = SHARES if function is every_reference_is_one else Sum(x, S * Input("W", (x,)))
    found = probe(saturate(source, [law]))
    assert found.false and found.false[0].startswith("false equality: ")
    assert probe(saturate(source, [law]), **BRIEFLY).false, "what every derivation takes the time for misses it"
    assert probe(saturate(source, [])).false == ()


def test_the_command_line_probes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["derive", "matmul", "--probe"]) == 0
    assert "compared in float64, 0 false equalities" in capsys.readouterr().err


def test_a_plain_derivation_probes_and_fails_where_two_members_differ(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["derive", "matmul"]) == 0
    assert not capsys.readouterr().err
    monkeypatch.setattr(probing, "_agree", lambda left, right: False)
    assert main(["derive", "matmul"]) == 1
    assert "false equality: " in capsys.readouterr().err


def test_of_many_comparisons_as_many_are_made_as_are_wanted() -> None:
    graph = saturate(WEIGHTED, chosen_statements((), ()))
    assert 0 < probe(graph, most=10).members <= 10 < probe(graph).members
