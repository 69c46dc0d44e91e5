"""The page of the pipeline: its stages are timed, and each way that gives nothing says why."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.egraph.budget import Budget, Clock
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError, Undecided
from napkin_eq.lang.term import Tuple
from napkin_eq.machine.gpu import load
from napkin_eq.pipeline import derive as page
from napkin_eq.pipeline.asked import chosen_statements
from napkin_eq.search.derivation import Output
from napkin_eq.search.job import Aim, Job, Laws
from napkin_eq.tile.printers import emit


def chain(length: int) -> nq.Diagram:
    m, *axes = (nq.Axis(name, 64) for name in ("m", *(f"k{i}" for i in range(length + 1))))
    value = nq.array("A", m, axes[0])
    for i in range(length):
        value = nq.sum(value * nq.array(f"W{i}", axes[i], axes[i + 1]), axes[i])
    return nq.Diagram("chain", (("out", value),))


def test_seconds_are_counted_stage_by_stage() -> None:
    m, k = nq.axes("m k", m=64, k=64)
    seconds = page.derive(nq.sum(nq.array("A", m, k), k)).seconds
    assert tuple(seconds) == page.TIMED
    assert all(seconds[stage] > 0 for stage in page.TIMED)
    assert sum(seconds.values()) - seconds["total"] <= seconds["total"]


def test_a_derivation_is_told_in_a_line() -> None:
    m, k = nq.axes("m k", m=64, k=64)
    found = page.derive(nq.Diagram("rows", (("out", nq.sum(nq.array("A", m, k), k)),)))
    assert repr(found) == "<Derivation of rows: 1 kernel for h200 in bfloat16>"


def test_a_budget_used_again_counts_from_the_start() -> None:
    x = nq.Axis("x", 64)
    budget = Budget(20.0)
    budget.clock.seconds["total"] = budget.clock.seconds["extract"] = 1000.0
    seconds = page.derive(nq.array("A", x) + 1.0, limit=budget).seconds
    assert seconds["extract"] <= seconds["total"] < 1000.0


def test_a_stage_that_fails_counts_too() -> None:
    clock = Clock()
    with pytest.raises(NapkinError), clock.stage("search"):
        raise NapkinError("none")
    assert clock.seconds["search"] >= 0


def test_a_graph_too_large_for_one_search_whose_cover_is_refused_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "_cover", lambda job, **limit: [])
    job = Job(chain(page.WHOLE + 1), Aim(load("h200"), "bfloat16", "auto", budget=Budget(5.0)), Laws([]))
    with pytest.raises(NapkinError, match="its cover by kernels is refused.*too large for one search"):
        page.kernels(job)


def test_laws_without_steps_are_the_same_where_there_are_none() -> None:
    laws = Laws(chosen_statements((), ()))
    plainer = laws.without_steps()
    assert len(plainer.statements) < len(laws.statements)
    assert plainer.without_steps() is plainer


def test_a_job_of_one_output_has_its_term_and_a_share_of_the_time() -> None:
    x = nq.Axis("x", 8)
    a, b = nq.array("A", x), nq.array("B", x)
    job = Job(
        nq.Diagram("two", (("a", a + b), ("b", a * b))),
        Aim(load("h200"), "bfloat16", "auto", budget=Budget(8.0)),
        Laws([]),
    )
    alone = job.of(job.diagram.outputs[1:], 0.5)
    assert (job.source, alone.source, alone.names) == (Tuple((a + b, a * b)), a * b, ("b",))
    assert alone.aim.budget.seconds <= 4.0
    assert alone.aim.budget.clock is job.aim.budget.clock


def test_no_plainer_search_is_begun_after_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Job] = []

    def searched(job: Job) -> Output:
        begun.append(job)
        raise Undecided("no chain")

    monkeypatch.setattr(page, "searched", searched)
    for seconds, searches in ((0.0, 1), (60.0, 3)):
        begun.clear()
        job = Job(
            chain(1), Aim(load("h200"), "bfloat16", "auto", budget=Budget(seconds)), Laws(chosen_statements((), ()))
        )
        with pytest.raises(Undecided):
            page.searched_plainly(job)
        assert len(begun) == searches


def test_a_plan_that_is_far_from_the_least_is_held_against_a_cover(monkeypatch: pytest.MonkeyPatch) -> None:
    covers: list[Job] = []

    def cover(job: Job, **limit: object) -> list[Output]:
        covers.append(job)
        return []

    monkeypatch.setattr(page, "_cover", cover)
    page.derive(chain(1))
    assert not covers
    monkeypatch.setattr(page, "SOON", 0.0)
    monkeypatch.setattr(page, "FARTHER", 0.5)
    assert page.derive(chain(1)).plan.kernels and len(covers) == 1
    monkeypatch.setattr(page, "FARTHER", 4.0)
    monkeypatch.setattr(page, "FAR", 0.5)
    monkeypatch.setattr(page, "SEVERAL", 1)  # where many kernels are to be chosen, it need not be as far
    assert page.derive(chain(1)).plan.kernels and len(covers) == 2


def test_a_plan_of_two_kernels_far_from_the_least_is_held_against_a_cover() -> None:
    # Rows scaled, and a sum over the rows, whose blocks are few unless the rows are cut: what a cover's kernel may be.
    i, j = nq.axes("i j", i=4096, j=4096)
    x, g = nq.array("x", i, j), nq.array("g", i, j)
    r = 1.0 / nq.sqrt(nq.mean(x * x, j) + 1e-6)
    found = page.derive(nq.Diagram("norm", (("y", x * r), ("s", nq.sum(g * x * r, i)))))
    assert {"j", "i_part"} <= set(found.plan.kernels[1].grid)
    assert found.report()["cover"]
    assert found.report()["predicted_us"] < 46


def test_a_small_diagram_that_no_search_ends_in_time_is_one_kernel_as_it_is_written() -> None:
    """Operator by operator it is a launch for every fold; as it is written one kernel holds it, and a search of one
    that walks in blocks is not displaced by two passes in one.
    """
    a, b = nq.axes("a b", a=40, b=24)
    x = nq.array("A", a, b)
    outputs = (("shares", nq.softmax(x, b)), ("power", nq.mean(x * x, b)))
    found = nq.derive(nq.Diagram("small", outputs), limit=0.001)
    assert len(found.plan.kernels) == 1 and found.limited
    assert found.report()["certificate"]["status"] == "proved"
    n, c, h = nq.axes("n c h", n=4096, c=8, h=16)
    x = nq.array("A", n, c, h, dtype="float32")
    mean = nq.mean(nq.mean(x, h), n)
    spread = nq.mean(nq.mean((x - mean) * (x - mean), h), n)
    chip = load("h200")  # where each kernel more is dear: six of them in two passes take less on this one
    dear = replace(chip, model=replace(chip.model, following_s=chip.chip.launch_s))
    batch = nq.derive(nq.Diagram("batch", (("mean", mean), ("spread", spread))), hardware=dear, dtype="float32")
    assert batch.report()["passes"]["n"] == 1


def test_two_outputs_that_laws_make_one_value_have_a_kernel_each() -> None:
    a, b = nq.axes("a b", a=31, b=7)
    array, lane = nq.array("A", a, b), nq.index(a)
    always = nq.where(lane <= lane, array - array * 2.0, -math.inf)
    found = nq.derive(Diagram("twins", (("one", always), ("other", array - array * 2.0))), "h200", dtype="float32")
    given = {"A": np.random.default_rng(0).standard_normal((31, 7))}
    made = emit(found.plan, "numpy")(given, False, {})
    assert [buffer.name for buffer in found.plan.outputs] == ["one", "other"]
    for name in ("one", "other"):
        np.testing.assert_array_equal(made[name], -given["A"])
