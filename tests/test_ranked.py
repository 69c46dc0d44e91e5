"""The next best plans: in the model's order, the derivation's own first, and each of them right."""

from __future__ import annotations

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.emit import emit
from napkin_eq.errors import NapkinError
from napkin_eq.gallery import diagram
from napkin_eq.ranked import ranked


@pytest.fixture(scope="module")
def derivation():
    # Few enough blocks that the sum is cut into stretches: two kernels, each with tiles of its own.
    return nq.derive(diagram("matmul", m=64, n=48, k=8192), dtype="float32")


def test_plans_come_in_the_order_of_the_model(derivation):
    found = ranked(derivation, 4)
    assert found[0].plan.kernels == derivation.plan.kernels
    assert [r.predicted_us for r in found] == sorted(r.predicted_us for r in found)
    assert len({repr(r.plan.kernels) for r in found}) == 4
    assert len({len(r.tiled) for r in found}) == 1


def test_every_plan_computes_the_diagram(derivation):
    generator = np.random.default_rng(0)
    a, b = generator.standard_normal((64, 8192)), generator.standard_normal((8192, 48))
    for choice in ranked(derivation, 3):
        got = emit(choice.plan, "numpy")({"A": a, "B": b})["out"]
        np.testing.assert_allclose(got, a @ b, rtol=1e-5, atol=1e-3)


def test_none_is_no_number_of_plans(derivation):
    with pytest.raises(NapkinError, match="at least 1"):
        ranked(derivation, 0)
