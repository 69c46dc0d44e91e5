"""Products of two arrays of one half type: multiplied in it, whatever the plan stores otherwise."""

from __future__ import annotations

import pytest

import napkin_eq as nq
from napkin_eq.certify import certificate
from napkin_eq.lang.axis import Axis
from napkin_eq.tile import ir as p

X, K, N = Axis("x", 1024), Axis("k", 512), Axis("n", 1024)
HALF = {"float16": "f16", "bfloat16": "bf16"}


def multiplied(one, other, storage):
    """Return a product of arrays of two types, and the types and precisions in which its kernels multiply."""
    a, b = nq.array("a", X, K, dtype=one), nq.array("b", K, N, dtype=other)
    derived = nq.derive(nq.sum(a * b, K), dtype=storage, limit=20)
    found = set()
    for kernel in derived.plan.kernels:
        types = {s.out.name: s.out.dtype for s in p.statements(kernel.body) if getattr(s, "out", None) is not None}
        dots = [s for s in p.statements(kernel.body) if isinstance(s, p.Dot)]
        found |= {(types[dot.a], types[dot.b], dot.precision) for dot in dots}
    return derived, found


@pytest.mark.parametrize("storage", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("kind", HALF)
def test_two_of_one_half_type_are_multiplied_in_it(kind, storage):
    derived, found = multiplied(kind, kind, storage)
    assert found == {(HALF[kind], HALF[kind], "ieee")}
    assert certificate.of(derived)["grade"] == "A"
    assert [output.translation.status for output in derived.outputs] == ["agrees"]


@pytest.mark.parametrize("others", [("bfloat16", "float16"), ("bfloat16", "float"), ("float", "float")])
def test_others_are_multiplied_as_float32_where_that_is_stored(others):
    _, found = multiplied(*others, "float32")
    assert {(a, b) for a, b, _ in found} == {("f32", "f32")}
