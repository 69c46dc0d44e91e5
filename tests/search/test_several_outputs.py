"""Graphs whose outputs are read by others: covered as graphs, whatever their names; one kernel stores and uses one."""

from __future__ import annotations

import pytest

import napkin_eq as nq
from napkin_eq.certify import certificate
from napkin_eq.cover.graph import folded_apart
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.term import Const, Map, Recur, Reduce
from napkin_eq.numerics.stability import Stability
from napkin_eq.pipeline.unfused import WRITTEN

ROWS, K, L, M = (Axis(*told) for told in (("i", 4096), ("k", 768), ("l", 3072), ("m", 768)))
A, W, V = nq.array("a", ROWS, K), nq.array("w", K, L), nq.array("v", L, M)
PRODUCT = nq.sum(A * W, K)
ACTIVE = nq.gelu(PRODUCT + nq.array("b", L))
NEXT = nq.sum(ACTIVE * V, L)


@pytest.mark.slow
@pytest.mark.parametrize("names", [("out0", "out1", "out2"), ("h", "g", "y")])
def test_layers_whose_values_are_all_given_out_are_a_kernel_each_at_the_most(names):
    whole = Diagram("layers", tuple(zip(names, (PRODUCT + nq.array("b", L), ACTIVE, NEXT), strict=True)))
    derived = nq.derive(whole, dtype="bfloat16", limit=30)
    assert len(derived.plan.kernels) <= 3
    assert not any(WRITTEN in note for output in derived.outputs for note in output.graph.notes)
    assert certificate.of(derived)["grade"] == "A"
    assert all(output.translation.status == "agrees" for output in derived.outputs)


def test_a_value_read_under_the_name_of_an_output_has_a_bound():
    held = nq.array("out", ROWS, K) + nq.array("out0", ROWS, K) + nq.array("out1", ROWS, K)
    assert Stability(held, "bfloat16").growth(held) == 1.0


def test_graphs_that_fold_an_output_for_another_are_told():
    rows, columns = nq.sum(PRODUCT, L), nq.sum(PRODUCT, ROWS)
    assert folded_apart([ACTIVE, NEXT])
    assert folded_apart([rows, columns])
    assert not folded_apart([NEXT])
    assert not folded_apart([PRODUCT, ACTIVE])  # one kernel's epilogue
    assert not folded_apart([rows, nq.max(PRODUCT, L)])  # along one axis
    assert not folded_apart([nq.sum(A, K), A * nq.sum(A, K)])  # without a contraction
    scores = nq.sum(A * nq.array("key", L, K), K)
    top = nq.max(scores, L)
    assert not folded_apart([nq.sum(nq.exp(scores - top), L), top])  # a fold's own reference


@pytest.mark.slow
def test_what_two_kernels_need_stored_on_their_way_is_stored_once():
    """Both outputs are of one maximum, over a row so long that its parts are stored first."""
    a = nq.Axis("a", 2**18)
    values, words = nq.array("N", a), nq.array("I", a, dtype="int32")
    most = Reduce("max", a, values, Map("eq", (Map("random", (words, Const(3), words, words)), Const(0))))
    grown = nq.exp(most)
    outputs = ("out", Recur(a, Const(0.0), most)), ("out1", grown / Reduce("sum", a, grown))
    found = nq.derive(nq.Diagram("once", outputs), "h200", "bfloat16")
    stored = [buffer.name for kernel in found.plan.kernels for buffer in kernel.writes]
    assert len(stored) == len({*stored}) and {"out", "out1"} < {*stored}
