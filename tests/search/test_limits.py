"""There is always a plan: within limits of time, for what the search cannot store or explain, and for small true
things.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.certify.check import check
from napkin_eq.egraph.budget import INTERRUPTED, Budget
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.term import Const, Reduce, Scan, Term
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.pipeline.derive import derive
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


def test_proving_the_laws_takes_no_time_from_the_search(monkeypatch):
    """On a machine where no law was proved before, that takes longer than many a search may."""
    from napkin_eq.pipeline import derive as module

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
