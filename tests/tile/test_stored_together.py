"""Masks, whole numbers and real ones that come out of the same reads are stored by one kernel, each in a type of its
own.
"""

import itertools
from typing import Any

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.certify.certificate import checked
from napkin_eq.lang.term import Const, Fold, Map
from napkin_eq.laws.law import Item, Var, together
from napkin_eq.search.placement import _beside
from napkin_eq.tile.printers import emit

T, X = nq.axes("t x", t=6, x=40)
A, B, M = nq.array("A", T, X), nq.array("B", X), nq.array("M", T, X, dtype="bool")
VALUES: dict[str, Any] = {
    "A": np.round(np.random.default_rng(0).normal(size=(6, 40)), 1),
    "B": np.random.default_rng(1).normal(size=40),
    "M": np.random.default_rng(2).random((6, 40)) < 0.5,
}
LARGEST = VALUES["A"].max(1)
CASES = {
    "a value and its mask": ((nq.relu(A), A < 0.0), (np.maximum(VALUES["A"], 0), VALUES["A"] < 0), 1),
    "the mask first": ((A < 0.0, nq.relu(A)), (VALUES["A"] < 0, np.maximum(VALUES["A"], 0)), 1),
    "masks alone": ((A < B, M & (A < 1.0)), (VALUES["A"] < VALUES["B"], VALUES["M"] & (VALUES["A"] < 1)), 1),
    "of a row": ((nq.max(A, X), nq.sum(A, X) > 0.0), (LARGEST, VALUES["A"].sum(1) > 0), 1),
    "a largest and its place": ((nq.max(A, X), nq.argmax(A, X)), (LARGEST, VALUES["A"].argmax(1)), 1),
    "all three kinds": (
        (nq.argmax(A, X), nq.max(A, X) < 1.5, nq.max(A, X)), (VALUES["A"].argmax(1), LARGEST < 1.5, LARGEST), 2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_kinds_meet_in_one_kernel(name):
    terms, wanted, kernels = CASES[name]
    diagram = nq.Diagram("several", tuple((f"out{n}", term) for n, term in enumerate(terms)))
    found = nq.derive(diagram, dtype="float32")
    assert len(found.plan.kernels) == kernels and checked(found.certificate)["steps"]
    types = {"real": "f32", "bool": "i1", "int": "i32"}
    assert [b.dtype for b in found.plan.outputs] == [types[term.kind] for term in terms]
    used = {array.name for array in diagram.inputs()}
    given = emit(found.plan, "numpy")({name: array for name, array in VALUES.items() if name in used})
    for number, values in enumerate(wanted):
        np.testing.assert_allclose(given[f"out{number}"], values, atol=1e-6)


def test_as_a_function_masks_are_of_torch_bool(monkeypatch):
    import torch
    import triton

    monkeypatch.setattr(triton.knobs.runtime, "interpret", True)
    diagram = nq.Diagram("both", (("value", nq.where(M, A, 0.0)), ("mask", Map("and", (M, A < B)))))
    given = {
        name: torch.tensor(array, dtype=torch.bool if name == "M" else torch.float32) for name, array in VALUES.items()
    }
    value, mask = nq.derive(diagram, dtype="float32").compile()(**given)
    assert mask.dtype == torch.bool and torch.equal(mask, given["M"] & (given["A"] < given["B"]))
    assert torch.equal(value, given["A"] * given["M"])


def test_every_item_that_may_stand_beside_others_has_a_law_of_its_kind():
    for kinds in itertools.chain.from_iterable(itertools.product(("real", "bool", "int"), repeat=n) for n in (2, 3)):
        kinds = sorted(kinds, key=lambda kind: kind != "real")
        if not together(kinds):
            continue
        for place in range(len(kinds)):
            item = Item.of_kinds(place, kinds)
            variables = item.of(*map(Var, "abdef"))
            assert item in Item.every() and [v.kind for v in variables] == kinds and item.own == kinds[place]


def test_what_scales_a_row_and_the_row_itself_are_stored_by_one_kernel():
    # Sixteen rows before a gate of two products: of a row its squares' sum leaves the products, the rest is an operand.
    n, d, e = nq.axes("n d e", n=16, d=4096, e=14336)
    x, g, w, u = nq.array("x", n, d), nq.array("g", d), nq.array("w", e, d), nq.array("u", e, d)
    rows = x / nq.sqrt(nq.mean(x * x, d) + 1e-6) * g
    gate = nq.sum(rows * w, d)
    found = nq.derive(nq.Diagram("gate", (("out", gate * nq.sigmoid(gate) * nq.sum(rows * u, d)),)))
    assert [len(kernel.writes) for kernel in found.plan.kernels] == [2, 1]
    assert found.report()["certificate"]["grade"] == "A"
    # By itself: a value of other axes than the row, one that the fold needs, one of arrays that no pass reads
    folded = Fold("sum", X, A * A, Const(True), fused=True)
    assert _beside([folded], A * B)
    assert not any(_beside([folded], term) for term in (nq.exp(B), A * A, nq.array("C", T, X) * B))
