"""Progress: a line that follows the work on a terminal, lines of a log elsewhere, nothing with --quiet.

An interrupt takes what there is.
"""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time

import pytest

import napkin_eq as nq
from napkin_eq.cli import progress
from napkin_eq.egraph.budget import Budget, Clock
from napkin_eq.frontend.gallery import DIAGRAMS


def test_a_derivation_tells_its_stages_and_figures():
    seen: list[tuple[str, dict[str, float]]] = []
    budget = Budget(30.0, Clock(tell=lambda search, figures: seen.append((search, dict(figures))), told=-1e9))
    nq.derive(DIAGRAMS["linear_gelu"](), limit=budget)
    figures = budget.clock.figures
    assert figures["nodes"] > figures["classes"] > 10 and figures["priced"] >= 1 and figures["best_us"] > 0
    assert {"saturation"} <= {search for search, _ in seen}


def test_what_is_said_is_one_line_of_what_is_known():
    assert progress.said("saturation", {}) == "saturation"
    figures = {"nodes": 1200.0, "classes": 300.0, "rounds": 4.0, "priced": 7.0, "best_us": 287.123, "bound_us": 280.0}
    assert (
        progress.said("placement", figures)
        == "placement: 1200 nodes, 300 classes, 7 priced, best so far 287.1 µs, bound 280 µs"
    )


@pytest.mark.parametrize("quiet", [False, True])
def test_elsewhere_than_on_a_terminal_it_is_a_line_now_and_then(quiet, capsys, monkeypatch):
    monkeypatch.setattr(progress, "SELDOM", 0.0)
    with progress.shown(5.0, quiet) as budget:
        budget.clock.told = -1e9
        budget.clock.note("saturation", nodes=5)
        assert not budget.over("saturation")
    said = capsys.readouterr().err
    assert said == "" if quiet else re.fullmatch(r"napkin-eq: 0 s: saturation: 5 nodes\n", said)


def test_proofs_say_how_far_they_are_and_an_interrupt_leaves_what_was_proved(capsys, monkeypatch):
    from napkin_eq.cli.main import main
    from napkin_eq.prove import prove as proving

    decided = []
    genuine = proving._verdict

    def verdict(statement, timeout_s):
        decided.append(statement.name)
        if len(decided) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        return genuine(statement, timeout_s)

    monkeypatch.setattr(proving, "remembered", dict)
    monkeypatch.setattr(proving, "remember", lambda fresh: None)
    monkeypatch.setattr(proving, "_verdict", verdict)
    monkeypatch.setattr(progress, "SELDOM", 0.0)
    assert main(["prove", "semiring"]) == 3
    said = capsys.readouterr()
    assert re.search(r"napkin-eq: \d+ s: laws proved: 1 of \d+\n", said.err)
    assert said.err.count("interrupted: this is what was seen until then") == 1
    assert len(decided) == 3 and "\n3 proved" in said.out and "interrupted" in said.out


def test_the_selftest_says_how_far_it_is_and_gives_what_it_has(capsys, monkeypatch):
    from napkin_eq.cli.main import main
    from napkin_eq.verify.selftest import selftest

    judged, genuine = [], selftest.judged

    def counted(entry):
        judged.append(entry)
        if len(judged) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return genuine(entry)

    monkeypatch.setattr(selftest, "judged", counted)
    monkeypatch.setattr(progress, "SELDOM", 0.0)
    assert main(["selftest", "laws", "--quiet"]) == 3
    said = capsys.readouterr()
    assert len(judged) == 2 and "interrupted; of what was tried all as it should be" in said.out
    assert said.err == "napkin-eq: interrupted: this is what was seen until then; once more ends it\n"


def test_the_fuzzer_says_how_far_it_is(capsys, monkeypatch):
    from napkin_eq.cli.main import main

    monkeypatch.setattr(progress, "SELDOM", 0.0)
    assert main(["fuzz", "--seconds", "0.1", "--nodes", "4"]) == 0
    assert re.search(r"napkin-eq: \d+ s: \d+ drawn, 0 findings\n", capsys.readouterr().err)
    assert main(["fuzz", "--seconds", "0.1", "--nodes", "4", "-q"]) == 0
    assert capsys.readouterr().err == ""


CHILD = """
import time
from napkin_eq.cli import progress
progress.SOON = 0.0
with progress.shown(60.0, QUIET) as budget:
    for number in range(100000):
        if budget.over("saturation"):
            print("took", budget.clock.stopped)
            break
        budget.clock.note("saturation", nodes=number)
        time.sleep(0.02)
"""


@pytest.mark.parametrize(("variables", "quiet"), [({}, False), ({"NO_COLOR": "1"}, False), ({}, True)])
def test_on_a_terminal_a_line_follows_and_an_interrupt_takes_what_there_is(variables, quiet):
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", **variables}
    command = [sys.executable, "-c", CHILD.replace("QUIET", str(quiet))]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, env=env, text=True)
    os.close(theirs)
    time.sleep(2.0)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=30)
    shown = b""
    try:
        while chunk := os.read(ours, 65536):
            shown += chunk
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    text = shown.decode()
    assert child.returncode == 0, text
    assert out == "took ['an interrupt', 'saturation']\n" and child.returncode == 0
    assert text.count("interrupted: taking the best plan so far") == 1
    assert ("nodes" in text) != quiet
    coloured = re.search(r"\x1b\[[0-9;]*3[0-9]m", text)
    assert bool(coloured) == (not quiet and not variables)
