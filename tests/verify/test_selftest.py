"""The selftest as a command: its keys, and its exit status when something is judged wrongly."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from napkin_eq.cli.main import main
from napkin_eq.prove import watch
from napkin_eq.prove.corpus import Entry, entries
from napkin_eq.verify.selftest import forgeries, selftest
from napkin_eq.verify.selftest import score as mutants

FEW = (
    "arithmetic.cancel_without_condition",
    "grid.tiles_by_floor_cover",
    "rounding.logistic_unguarded",
    "arithmetic.twice_is_a_sum",
    "fact.vacuous",
)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> list[Entry]:
    chosen = [entry for entry in entries() if f"{entry.family}.{entry.name}" in FEW]
    monkeypatch.setattr(selftest, "entries", lambda: chosen)
    caught = mutants.Score(3, 3, {"normal": ("a", "b"), "tail": ("c",)}, (), (), 2, 0.1)
    monkeypatch.setattr(selftest, "score", lambda: caught)
    monkeypatch.setattr(forgeries, "score", lambda *_: forgeries.Score(2, 2, 5, 5, 1, {"misplaced": 5}))
    return chosen


def test_both_scores_are_printed(few, capsys) -> None:
    assert main(["selftest", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert {
        "schema",
        "laws",
        "kernels",
        "disagreements",
        "wrong_laws",
        "valid_laws",
        "kernel_mutants",
        "seconds",
    } <= set(data)
    assert {key: data["laws"][key] for key in ("valid", "accepted", "wrong", "rejected")} == {
        "valid": 1,
        "accepted": 1,
        "wrong": 4,
        "rejected": 4,
    }
    assert data["laws"]["by_family"]["arithmetic"] == {"valid": 1, "accepted": 1, "wrong": 1, "rejected": 1}
    assert data["kernels"] == {"mutants": 3, "killed": 3, "by_family": {"normal": 2, "tail": 1}}
    assert data["certificates"]["forged"] == {"total": 5, "refused": 5, "shown_false": 1, "by_rule": {"misplaced": 5}}
    assert data["disagreements"] == data["failures"] == []
    assert main(["selftest"]) == 0
    out = capsys.readouterr().out
    assert "4 of 4" in out and "3 of 3" in out and "all as it should be" in out


@pytest.mark.parametrize("place", range(len(FEW)))
def test_a_law_that_is_judged_wrongly_fails_it(few, capsys, place) -> None:
    few[place] = replace(few[place], expected="wrong" if few[place].expected == "valid" else "valid")
    assert main(["selftest", "laws"]) == 1
    assert "not all as it should be" in capsys.readouterr().out


def test_a_broken_kernel_that_passes_fails_it(few, capsys, monkeypatch) -> None:
    monkeypatch.setattr(
        selftest, "score", lambda: mutants.Score(3, 2, {"normal": ("a", "b")}, ("kept/no-rescale",), (), 1, 0.1)
    )
    assert main(["selftest", "kernels"]) == 1
    assert "kept/no-rescale is broken and passes" in capsys.readouterr().out


def test_a_law_whose_judging_an_interrupt_cut_short_is_not_counted(few, monkeypatch, capsys) -> None:
    def cut(entry: Entry) -> selftest.Result:
        waiting = watch._WATCH.get()
        assert waiting is not None
        waiting.ended = True
        return selftest.Result(entry, False, "the solver was interrupted")

    monkeypatch.setattr(selftest, "judged", cut)
    assert main(["selftest", "laws"]) == 3
    assert "interrupted; of what was tried all as it should be" in capsys.readouterr().out
