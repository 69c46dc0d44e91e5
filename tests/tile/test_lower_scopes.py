"""Lowered folds whose masks and bodies speak of an axis that a fold inside binds again."""

from __future__ import annotations

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.term import Map, as_real
from napkin_eq.pipeline.derive import derive
from napkin_eq.tile.printers import emit


@pytest.mark.parametrize("long", [17, 3])
def test_a_mask_known_of_an_axis_says_nothing_of_it_bound_again(long: int) -> None:
    """Where b = c bounds the loop over c, the sum over b inside still asks of each of its own lanes."""
    b, c = nq.axes("b c", b=long, c=3)
    same = Map("eq", (nq.index(b), nq.index(c)))
    source = nq.sum(nq.sum(nq.where(same, 1.0, as_real(nq.index(c))), b), c, where=same)
    found = derive(source, dtype="float32")
    assert found.report()["translation"][0]["status"] == "agrees"  # at its own sizes, as there is no plan in small
    (got,) = emit(found.plan, "numpy")({}, False, {}).values()
    assert np.array_equal(got, evaluate(source, {}))
