"""Variance in one pass by a stable update: the law of carried sums does it, and no cancelling form is taken instead."""

import numpy as np
import pytest

from napkin_eq.frontend.gallery import diagram
from napkin_eq.pipeline.derive import derive
from napkin_eq.tile.printers import emit
from tests.arrays import inputs


@pytest.mark.parametrize("width", [65536, None])
def test_a_wide_row_takes_one_pass_by_recentring_and_two_without(width):
    whole, ablated = (derive(diagram("variance", x=width), without=w) for w in ((), ("carry",)))
    assert whole.report()["passes"] == {"x": 1}
    assert "carry" in whole.report()["laws"]
    assert ablated.report()["passes"] == {"x": 2}


def test_a_large_mean_does_not_cancel():
    """Mean 1000, deviation 1, in float32: the mean of squares minus the square of the mean loses nearly all digits."""
    found = derive(diagram("variance", t=3, x=None), dtype="float32")
    a = (inputs(found.diagram, {"t": 3, "x": 4096})["A"] + 1000.0).astype(np.float32)
    out = emit(found.plan, "numpy")({"A": a}, True, {"x": 4096})["out"]
    wide = a.astype(float)
    exact, away = wide.var(axis=1), np.abs(wide - wide.mean(axis=1, keepdims=True)).mean(axis=1)
    # No worse than if every input and the mean were off by a rounding of their own.
    moved = 2 * 2.0**-24 * np.abs(wide).max(axis=1)
    bound = 2 * moved * away + moved**2
    assert (np.abs(out - exact) <= bound).all()
    cancelled = (a * a).mean(axis=1, dtype=np.float32) - a.mean(axis=1, dtype=np.float32) ** 2
    assert (np.abs(cancelled - exact) > 10 * bound).all()
