"""Calls of a library as candidates of a cover: what they compute against NumPy, what they are refused for, and that
nobody calls them proved.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import napkin_eq as nq
from napkin_eq.certify.certificate import checked, sealed
from napkin_eq.pipeline.text import told

A, B, C, D, H = nq.axes("a b c d h", a=24, b=40, c=8, d=16, h=3)
ONE = nq.Axis("one", 1)
DIAGRAMS = {
    "a sum over two axes": nq.sum(nq.array("X", A, C, D) * nq.array("V", C, D, H, B), C, D),
    "batches, one operand the other way round": nq.sum(nq.array("Q", H, A, D) * nq.array("K", H, C, D), D),
    "columns before rows": nq.sum(nq.array("W", B, C) * nq.array("X", A, B), B),
    "a vector": nq.sum(nq.array("W", B, C) * nq.array("x", B), B),
    "an axis of one": nq.sum(nq.array("X", ONE, B) * nq.array("W", B, C), B),
}


def by_library(term: nq.Term) -> Any:
    return nq.derive(nq.Diagram("product", (("out", term),)), library=True, dtype="float32")


@pytest.mark.parametrize("name", DIAGRAMS)
def test_a_call_computes_what_the_diagram_says(name: str) -> None:
    found = by_library(DIAGRAMS[name])
    assert all(kernel.library is not None for kernel in found.plan.kernels)
    rng = np.random.default_rng(7)
    arrays = {b.name: rng.standard_normal([a.size or 1 for a in b.dims]).astype(np.float32) for b in found.plan.inputs}
    module: dict[str, Any] = {}
    exec(compile(found.code(), "product.py", "exec"), module)
    out = module["run"](*(torch.from_numpy(arrays[b.name]) for b in found.plan.inputs)).numpy()
    (dims,) = (b.dims for b in found.plan.outputs)
    wanted = _einsum(DIAGRAMS[name], arrays, dims)
    np.testing.assert_allclose(out, wanted, rtol=1e-4, atol=1e-4)


def _einsum(term: nq.Term, arrays: dict[str, np.ndarray], dims: tuple[nq.Axis, ...]) -> np.ndarray:
    from napkin_eq.lang.term import Input, subterms

    letters = {a: chr(97 + i) for i, a in enumerate(dict.fromkeys(a for t in subterms(term) for a in t.axes))}
    inputs = [t for t in subterms(term) if isinstance(t, Input)]
    spelled = ",".join("".join(letters[a] for a in t.dims) for t in inputs)
    summed: np.ndarray = np.einsum(
        f"{spelled}->{''.join(letters[a] for a in dims)}", *(arrays[t.name].astype(float) for t in inputs)
    )
    return summed


def test_what_would_have_to_be_copied_is_not_called() -> None:
    """The axes that are summed over lie apart in one array, and in another order in the other."""
    for left, right in (((B, A, C), (B, C, D)), ((A, C, B), (B, C, D))):
        term = nq.sum(nq.array("X", *left) * nq.array("W", *right), B, C)
        assert all(kernel.library is None for kernel in by_library(term).plan.kernels)


def test_it_is_trusted_and_not_proved_wherever_it_is_told_of() -> None:
    found = by_library(DIAGRAMS["columns before rows"])
    assert [k["grade"] for k in found.report()["kernels"]] == ["library"] and "trusted and not proved" in told(found)
    data = found.certificate
    assert checked(data)["trusted"] == ", trusted and not proved: 'kernel_0: torch.matmul: library'"
    row = {"kernel": "kernel_0", "call": "torch.matmul"}
    assert checked(sealed({**data, "evidence": {**data["evidence"], "library": [row]}}))["status"] == "refused"


def test_without_it_nothing_is_called_and_what_it_would_gain_is_told() -> None:
    found = nq.derive(nq.Diagram("chain", (("out", nq.sum(nq.sum(nq.sum(
        nq.array("X", A, B) * nq.array("W", B, C), B) * nq.array("V", C, D), C) * nq.array("U", D, H), D)),)),
            dtype="float32")  # fmt: skip
    assert all(kernel.library is None for kernel in found.plan.kernels) and not checked(found.certificate)["trusted"]
    cover = found.report()["cover"]
    assert cover["library_us"] <= cover["predicted_us"] + 1e-3 and "would gain" in told(found)
