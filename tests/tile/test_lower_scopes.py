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


def test_threads_fold_lanes_of_their_own_over_what_no_array_holds():
    """Threads lie along a tile's last axes: an axis that is folded over combinations of arrays comes first, one that an
    array holds stays where it lies.
    """
    m, n, k = nq.axes("m n k", m=64, n=64, k=64)
    P, Q, W = nq.array("P", m, k), nq.array("Q", n, k), nq.array("W", m, n, k)

    def order(term: nq.Term) -> list[str]:
        (kernel,) = nq.derive(term, dtype="float32").plan.kernels
        return [c.axis.name for c in kernel.coords]

    assert order(nq.sum(abs(P - Q), k))[0] == "k" and order(nq.max(P + Q, k))[0] == "k"
    assert order(nq.sum(abs(P - W), k))[-1] == "k"  # W holds all that is folded
    assert order(nq.sum(abs(P), k))[-1] == "k"
    assert order(nq.sum(P * Q, k))[-1] == "k"  # the matrix unit takes its tiles as they lie
