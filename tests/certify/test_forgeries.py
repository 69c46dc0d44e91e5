"""Forged certificates: by rule, all refused, and good ones beside them accepted; a checker without its rules gives
itself away.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from napkin_eq.certify import check as checker
from napkin_eq.certify.certificate import checked, make, sealed
from napkin_eq.verify.selftest import forgeries
from napkin_eq.verify.selftest.anywhere import uses
from napkin_eq.verify.selftest.forgeries import changes, differ
from napkin_eq.verify.selftest.ill_formed import changed, ill_formed, shifted
from napkin_eq.verify.selftest.samples import C, D, alone, moved, samples, statements, verdicts

SAMPLES = {sample.name: sample for sample in alone()}


@pytest.mark.slow
def test_every_forgery_is_refused_and_what_is_good_accepted() -> None:
    found = forgeries.score(800, 12)
    assert not found.failures and found.refused == found.forged > 1000 and found.accepted == found.good > 500
    assert len(found.by_rule) >= 25 and found.by_rule["misplaced"] > 50 and found.false > 100


def test_what_is_misplaced_is_false_or_refused_for_what_it_needs() -> None:
    shown = 0
    for sample in (s for s in samples() if not s.allowed):
        data = sample.certificate()
        problem = checked(data)["problem"]
        assert any(
            said in problem
            for said in ("first block", "prefixes that Online takes", "in the update of", "outside its stream")
        ), (sample.name, problem)
        shown += differ(data) is True
    assert shown >= 4


def test_a_row_that_is_not_used_changes_nothing() -> None:
    """What the ill-formed theorems add is what they are refused for."""
    data = SAMPLES["distribute"].certificate()
    count = len(data["theorem"]["nodes"])
    more = {**data, "theorem": {**data["theorem"], "nodes": [*data["theorem"]["nodes"], ["Index", "x"]]}}
    assert checked(sealed(shifted(more, count)))["status"] == "ok"


def test_an_equation_is_told_from_a_false_one_by_its_values() -> None:
    data = SAMPLES["distribute"].certificate()
    assert differ(data) is False
    false = [
        forged for place, row in itertools.islice(changes(data), 60) if differ(forged := changed(data, place, row))
    ]
    assert len(false) > 5 and all(checked(forged)["status"] == "refused" for forged in false)


@pytest.mark.parametrize(
    ("rule", "sample"),
    [("need", "distribute"), ("computed", "folding"), ("named", "sums")],
)
def test_a_checker_without_a_rule_accepts_forgeries(monkeypatch: pytest.MonkeyPatch, rule: str, sample: str) -> None:
    broken = {
        "need": lambda true, problem: None,
        "computed": lambda op, given: given[0],
        "named": lambda name, what: name,
    }
    monkeypatch.setattr(checker, rule, broken[rule])
    data = SAMPLES[sample].certificate()
    forged = [sealed(other) for _, other in ill_formed(data)] + [
        changed(data, place, row) for place, row in itertools.islice(changes(data), 400)
    ]
    folded = checked(data)["status"] == "refused"
    assert folded or any(checked(one)["status"] == "ok" for one in forged)


def test_at_random_places_what_is_false_is_refused_and_a_weaker_checker_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What a variable stands for may hold an accumulator: it varies along axes that it does not show."""
    made = dict(uses(1500))
    false = {name for name, data in made.items() if differ(data) is True}
    accepted = {name for name, data in made.items() if checked(data)["status"] == "ok"}
    assert len(false) > 15 and len(accepted) > 300 and not false & accepted
    typed = checker.Checker.typed

    def open_nowhere(self: checker.Checker, row: list[Any]) -> checker.Node:
        node = typed(self, row)
        return node._replace(marks=node.marks - {checker.ACC})

    # A law of recurrences may stand in a stream over its own axis
    streamed = dict(uses(400, only="recur-factor"))
    streamed = {name: data for name, data in streamed.items() if checked(data)["status"] != "ok"}
    monkeypatch.setattr(checker.Checker, "typed", open_nowhere)
    weaker = [data for data in streamed.values() if checked(data)["status"] == "ok"]
    assert any(differ(data) is True for data in weaker)


def test_an_equation_of_masks_and_whole_numbers_is_evaluated_whatever_the_order_of_its_axes() -> None:
    made = dict(uses(600))
    assert sum(differ(data) is not None for data in made.values()) > 0.9 * len(made)
    source, destination = (array * other for array, other in ((D, C), (C, D)))
    (step,) = moved(source, [("mul-commutes", (), True, {"a": D, "b": C})])
    assert step.after is destination
    assert differ(make(source, destination, [step], statements(), verdicts(), {})) is False
