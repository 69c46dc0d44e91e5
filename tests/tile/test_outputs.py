"""Several outputs of one diagram: derived together, they share passes and kernels, and one may read another as it is
stored.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

import napkin_eq as nq
from napkin_eq.certify.certificate import checked
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.term import Term
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.pipeline.derive import derive
from napkin_eq.tile.compile_ahead import compile_report
from tests.arrays import assert_agrees, loads

Outputs = dict[str, Term]


def weighted_sum_and_logsumexp() -> Outputs:
    h, q, x, d = nq.axes("h q x d", h=2, q=37, x=301, d=32)
    Q, K, V = nq.array("Q", h, q, d), nq.array("K", h, x, d), nq.array("V", h, x, d)
    s = nq.sum(Q * K, d) * 0.2
    return {"o": nq.sum(nq.softmax(s, x) * V, x), "lse": nq.logsumexp(s, x)}


def moments() -> Outputs:
    r, c = nq.axes("r c", c=9001)
    X = nq.array("X", r, c)
    return {"mean": nq.mean(X, c), "var": nq.variance(X, c), "most": nq.max(X, c)}


def sum_and_its_norm() -> Outputs:
    r, c = nq.axes("r c", c=500)
    X, R, g = nq.array("X", r, c), nq.array("R", r, c), nq.array("g", c)
    return {"h": X + R, "y": nq.rms_norm(X + R, c) * g}


def shares_and_their_total() -> Outputs:
    r, c = nq.axes("r c", c=70001)
    X = nq.array("X", r, c)
    m = nq.max(X, c)
    return {"p": nq.softmax(X, c), "m": m, "l": nq.sum(nq.exp(X - m), c)}


def hidden_and_what_reads_it() -> Outputs:
    t, e, f, o = nq.axes("t e f o", e=70, f=300, o=130)
    X, W1, W2 = nq.array("X", t, e), nq.array("W1", e, f), nq.array("W2", f, o)
    hidden = nq.gelu(nq.sum(X * W1, e))
    return {"hidden": hidden, "out": nq.sum(hidden * W2, f)}


def projections() -> Outputs:
    t, e, a, b = nq.axes("t e a b", t=700, e=90, a=40, b=24)
    X = nq.array("X", t, e)
    return {
        "u": nq.sum(X * nq.array("U", e, a), e),
        "v": nq.sum(X * nq.array("V", e, b), e),
        "w": nq.sum(X * nq.array("W", e, b), e),
    }


def unrelated() -> Outputs:
    r, c = nq.axes("r c", r=8, c=40)
    return {"a": nq.sum(nq.array("A", r, c), c), "b": nq.max(nq.array("B", r, c), c)}


# Kernels, and how often each input is loaded by all kernels together where all of it shares one pass.
EXPECTED: list[tuple[Callable[[], Outputs], int, dict[str, int]]] = [
    (weighted_sum_and_logsumexp, 1, {"Q": 1, "K": 1, "V": 1}),
    (moments, 1, {"X": 1}),
    (sum_and_its_norm, 1, {"X": 1, "R": 1}),
    (shares_and_their_total, 1, {"X": 2}),  # one pass, and the walk that divides
    (hidden_and_what_reads_it, 2, {"X": 1, "W1": 1, "W2": 1}),
    (projections, 1, {"X": 1}),
    (unrelated, 1, {"A": 1, "B": 1}),  # each is shorter than a launch
]


def derived(make: Callable[[], Outputs]) -> Derivation:
    return derive(Diagram(make.__name__, tuple(make().items())))


@pytest.mark.parametrize(("make", "kernels", "loaded"), EXPECTED, ids=lambda case: getattr(case, "__name__", ""))
def test_outputs_share_kernels_and_agree_with_float64(
    make: Callable[[], Outputs], kernels: int, loaded: dict[str, int]
) -> None:
    found = derived(make)
    assert len(found.plan.kernels) == kernels
    assert {name: loads(found.plan, name) for name in loaded} == loaded
    assert [b.name for b in found.plan.outputs] == list(make())
    assert checked(found.certificate)["status"] == "ok"
    assert_agrees(found, {axis.name: axis.size or 19 for axis in found.diagram.axes()})


def test_an_output_that_another_reads_is_stored_once() -> None:
    plan = derived(hidden_and_what_reads_it).plan
    first, second = plan.kernels
    assert [b.name for b in first.writes] == ["hidden"]
    assert "hidden" in {b.name for b in second.reads} and not {"X", "W1"} & {b.name for b in second.reads}


def test_without_the_law_that_stores_several_values_each_output_has_its_kernel() -> None:
    found = derive(Diagram("moments", tuple(moments().items())), without=("level-several",))
    assert len(found.plan.kernels) == 3
    assert_agrees(found, {"r": 11, "c": 9001})


def test_a_kernel_of_two_outputs_compiles_for_its_gpu() -> None:
    (kernel,) = compile_report(derived(weighted_sum_and_logsumexp).triton(), "sm_90")
    assert kernel["spills_bytes"] == 0
