"""There is always a plan: within limits of time, for what the search cannot store or explain, and for small true
things.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.certify.check import check
from napkin_eq.cover import pricing, workers
from napkin_eq.cover.candidates import Enumeration
from napkin_eq.cover.graph import graph_of
from napkin_eq.cover.pieces import Storage
from napkin_eq.egraph.budget import INTERRUPTED, Budget
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.term import Const, Reduce, Scan, Term
from napkin_eq.pipeline import derive as module
from napkin_eq.pipeline.asked import aimed, proved_laws
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.pipeline.derive import derive
from napkin_eq.search import candidates
from napkin_eq.search.extract import Extractor
from napkin_eq.search.job import Job
from napkin_eq.tile.printers import emit

y, q, x = nq.axes("y q x", y=7, q=33, x=20)
A, B, L = nq.array("A", y, q), nq.array("B", y, q, facts=("pos",)), nq.array("L", y, q, dtype="int32")


def checked(*terms: Term, **options: Any) -> Derivation:
    """Derive outputs, check the certificate, and run the plan against evaluation."""
    from napkin_eq.certify.certificate import dumps

    diagram = Diagram("small", tuple((f"out{i}", t) for i, t in enumerate(terms)))
    found = derive(diagram, dtype="float32", **options)
    assert check(dumps(found.certificate).encode())["status"] == "ok"
    random = np.random.default_rng(1)
    arrays = {
        n.name: random.integers(0, 9, (7, 33)).astype("int32")
        if n.kind == "int"
        else np.abs(random.normal(size=(7, 33)))
        for n in diagram.inputs()
    }
    got = emit(found.plan, "numpy")(arrays, False, {})
    for (name, term), buffer in zip(diagram.outputs, found.plan.outputs, strict=True):
        assert {a.name for a in buffer.dims} == {a.name for a in term.axes}
        np.testing.assert_allclose(
            got[name], evaluate(term, arrays, order=[a.name for a in buffer.dims]), rtol=1e-9, atol=1e-12
        )
    return found


@pytest.mark.parametrize(
    "term",
    [
        A - 0.0, A * 1.0, -(-A), B / B, nq.sum(B / B, q), (Const(1.0) - 0.0) + nq.exp(A * 0.25),
        nq.sigmoid(Const(-0.0)), Const(2.0), nq.take(A, q, 0),
        nq.sum(A, y, q), L + 3, L // 2, nq.index(y) < L, ~(nq.index(q) < 3), nq.size(q) * 1.0,
        Scan("sum", q, Const(1.0)), nq.take(nq.cumsum(A, q), q, nq.index(q) + 1), Scan("max", y, nq.max(A, y)),
    ],
    ids=lambda t: str(t)[:40],
)  # fmt: skip
def test_small_true_things_derive(term):
    checked(term)


def test_masks_and_numbers_are_outputs_of_one_diagram():
    checked(A * 2.0, L < 4, L + 1)


@pytest.mark.slow
def test_probabilities_over_two_axes():
    e = nq.exp(A - nq.max(A, y, q))
    p = e / nq.sum(e, y, q)
    checked(p)


def test_a_limit_of_time_gives_a_plan_and_says_so():
    found = checked(nq.softmax(A, q), limit=1e-6)
    assert found.limited
    assert found.report()["egraph"]["limited"] == list(found.limited)
    assert not derive(Diagram("small", (("out", A * 2.0),))).limited


def test_what_is_interrupted_takes_the_best_plan_so_far():
    budget = Budget()
    budget.end()
    found = checked(nq.softmax(A, q), limit=budget)
    assert found.limited[0] == INTERRUPTED
    assert budget.part(0.5).over("any")


def test_forms_are_not_sought_again_once_time_has_ended(monkeypatch):
    """What loses digits is left out of further rounds, each of which looks for all forms: not after the end."""
    runs: list[str] = []

    def run(self: Extractor) -> Any:
        runs.append("run")
        try:
            return old_run(self)
        finally:
            budget.end()

    def sought(*given: Any, **more: Any) -> Any:
        runs.append("sought")
        return old(*given, **more)

    budget, old_run, old = Budget(), Extractor.run, candidates._candidates
    monkeypatch.setattr(Extractor, "run", run)
    monkeypatch.setattr(candidates, "_candidates", sought)
    moment = nq.mean((A - nq.mean(A, q)) * (B - nq.mean(B, q)), q)
    checked(moment, limit=budget)
    assert 0 < runs.count("run") <= runs.count("sought")


def test_a_cover_beside_a_search_begins_nothing_after_its_time(monkeypatch):
    """What is held against a search that time ended ends with that time: there is a plan without it."""
    given: list[Budget] = []

    def covered(job: Job, *ends: Any) -> Any:
        given.append(job.aim.budget)
        return old(job, *ends)

    old = module.covered
    monkeypatch.setattr(module, "covered", covered)
    n, d, e = nq.axes("n d e", n=4096, d=1024, e=1024)
    products = [nq.sum(nq.array("X", n, d) * nq.array(name, d, e), d) for name in "CD"]
    assert derive(Diagram("gated", (("out", products[0] * products[1]),)), limit=1e-6).limited
    assert [(budget.hard, budget.seconds) for budget in given] == [(True, 0.0)]


def test_a_search_that_can_save_part_of_a_launch_does_little_work_and_no_cover_beside_it(monkeypatch):
    given: list[tuple[float, float]] = []
    covers: list[int] = []
    old = module._part
    monkeypatch.setattr(
        module, "_part", lambda job, share, work=1.0: given.append((share, work)) or old(job, share, work)
    )
    monkeypatch.setattr(module, "_cover", lambda job, limit=None: covers.append(len(given)) or [])
    products = [nq.sum(A * nq.array(name, q, x), q) for name in "CD"]
    wide = nq.softmax(nq.array("W", *nq.axes("n m", n=4096, m=16384)), "m")
    for term in (products[0] * products[1], wide):
        assert derive(Diagram("small", (("out", term),)), limit=1e-6).limited
    share = 1 - module.COVER
    assert given == [(share, module.LITTLE), (share, 1.0)] and 1 not in covers
    assert Budget(work=module.LITTLE).part(0.5).work == module.LITTLE


def test_one_kernel_as_written_holds_exponentials_that_all_other_plans_hold():
    """Operator by operator they are taken as the diagram has them: so may they be in fewer kernels."""
    found = checked(nq.max(nq.exp(A), q) * nq.sum(nq.exp(B * 2.0), q), limit=1e-6)
    assert found.limited and len(found.plan.kernels) == 1


def test_pieces_are_priced_and_proved_while_there_is_time(monkeypatch):
    """After the end of a hard budget no search for a kernel is begun, nor a proof, and what a hasty search did not
    find is sought again with more time.
    """
    sought: list[str] = []
    monkeypatch.setattr(pricing, "together", lambda job, _: sought.append("form") or [])
    monkeypatch.setattr(pricing.Pricing, "derived", lambda *_: sought.append("proof"))
    monkeypatch.setattr(pricing.Pricing, "_as_written", lambda *_: None)
    diagram, laws = Diagram("sum", (("out", nq.sum(A * B, q)),)), proved_laws((), (), False)
    graph = graph_of([diagram.outputs[0][1]], laws.proved)
    cut = Enumeration(graph).single[diagram.outputs[0][1]][0]
    piece = Storage(graph, {diagram.outputs[0][1]: "out"}, "float32", laws.proved).piece(cut)
    for seconds, left in ((0.0, 0.0), (4.0, 1.0)):
        aim = aimed(diagram, "h200", "float32", "triton", None, (), Budget(seconds or 1.0, hard=True), False)
        with workers.Pool(lambda _: None) as pool:
            hasty = pricing.Pricing(aim, laws, pool, lambda proof, left=left: left)

            def each(keys: Any, ask: Any, _: float) -> Any:
                for key in keys:
                    if ask(key, 0.0, 1):
                        sought.append("asked")
                        yield key, None, "", 0.0

            monkeypatch.setattr(pool, "each", each)
            hasty.price([piece])
            assert sought == ([] if not left else ["asked"])
            assert hasty.prove([piece])[0][0] is None
            assert sought == ([] if not left else ["asked"] * 2)
            assert (*hasty.about, piece.source, piece.outputs) not in hasty.of.proved
    assert hasty.about != pricing.Pricing(replace(aim, budget=Budget()), laws, pool).about


ENDED = """
import hashlib
import sys
import napkin_eq as nq
t, d, f = nq.axes("t d f", t=512, d=256, f=1024)
array = nq.array
if sys.argv[1] == "after another":
    nq.derive(nq.softmax(array("X", t, d), d))
normed = nq.rms_norm(array("X", t, d), d)
gated = nq.silu(nq.linear(normed, array("U", d, f), d)) * nq.linear(normed, array("V", d, f), d)
found = nq.derive(nq.Diagram("gated", (("out", array("X", t, d) + nq.linear(gated, array("W", f, d), f)),)), limit=3)
print(*found.limited, hashlib.sha256(found.code().encode()).hexdigest())
"""


@pytest.mark.slow
def test_what_a_limit_ends_is_the_same_in_every_process() -> None:
    """With its searches in processes of their own, or one after another in one that has derived before."""
    said = set()
    for seed, how in (("1", "first"), ("2", "after another")):
        own = {**os.environ, "PYTHONHASHSEED": seed}
        ran = subprocess.run([sys.executable, "-c", ENDED, how], env=own, capture_output=True, check=True)
        said.add(ran.stdout.decode())
    assert len(said) == 1 and "covering" in said.pop()


def test_proving_the_laws_takes_no_time_from_the_search(monkeypatch):
    """On a machine where no law was proved before, that takes longer than many a search may."""
    prove = module.proved_laws

    def slow(*given: Any) -> Any:
        begun = time.process_time()
        while time.process_time() < begun + 3.0:
            pass
        return prove(*given)

    monkeypatch.setattr(module, "proved_laws", slow)
    assert not checked(nq.relu(A), limit=2.5).limited


@pytest.mark.parametrize("limit", [0.0, -1.0, math.nan])
def test_a_limit_is_a_positive_number(limit):
    with pytest.raises(NapkinError, match="the limit is .* expected a positive number"):
        derive(Diagram("small", (("out", A),)), limit=limit)


def test_without_the_laws_that_it_needs_there_is_no_plan_operator_by_operator():
    with pytest.raises(NapkinError):
        derive(
            Diagram("small", (("out", nq.take(nq.cumsum(A, q), q, nq.index(q) + 1) * nq.sum(A, q)),)),
            without=["level", "stream"],
            limit=1e-6,
        )


def test_a_product_of_many_factors_ends():
    f = [nq.array(f"F{i}", y, q) for i in range(9)]
    e = math.prod(f[1:], start=f[0])
    checked(Reduce("sum", q, e * nq.exp(A)) / nq.sum(e, q))


def test_where_time_ends_a_deep_graph_at_once_it_is_done_operator_by_operator() -> None:
    t, s, e = nq.axes("t s e", t=16, s=16, e=8)
    X = nq.array("X", t, e)
    for _ in range(3):
        K = nq.rename(X, {t: s})
        scores = nq.masked(nq.matmul(X, K, e), nq.causal(t, s))
        X = X + nq.matmul(nq.softmax(scores, s), K, s)
    assert nq.derive(X, dtype="float32", limit=0.1).limited
