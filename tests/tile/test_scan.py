"""Running sums, maxima and products along an axis that no tile holds: walked, what came before carried from block to
block.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

import napkin_eq as nq
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.term import Term
from napkin_eq.pipeline.derive import derive
from napkin_eq.pipeline.validate import validate
from tests.arrays import assert_agrees, loads

t, x = nq.axes("t x", x=40001)
X, W = nq.array("X", t, x), nq.array("W", x)
SCANS: dict[str, Callable[[], Term]] = {
    "sum": lambda: nq.cumsum(X, x),
    "maximum": lambda: nq.scan(X, x, "max"),
    "of_an_expression": lambda: nq.cumsum(X * W, x) * 2.0 + X,
    "mean_so_far": lambda: nq.cumsum(X, x) / nq.cumsum(X * 0.0 + 1.0, x),
    "of_what_a_fold_gives": lambda: nq.cumsum(nq.softmax(X, x), x),
    "of_a_scan": lambda: nq.cumsum(nq.exp(nq.scan(X, x, "max") - 10.0), x),
}


@pytest.mark.parametrize("name", list(SCANS))
def test_a_scan_is_walked_and_agrees_with_float64(name: str) -> None:
    found = derive(Diagram(name, (("out", SCANS[name]()),)))
    assert len(found.plan.kernels) == 1
    assert loads(found.plan, "X") <= 3  # softmax reads twice before it divides
    assert_agrees(found, {"t": 3, "x": 40001})


def test_an_axis_of_any_length_is_scanned() -> None:
    free = nq.axes("free")[0]
    found = derive(Diagram("free", (("out", nq.cumsum(nq.array("Y", t, free), free)),)))
    for size in (1, 7, 4096, 9001):
        assert_agrees(found, {"t": 2, "free": size})


def test_a_scan_inside_a_sum_over_its_axis_is_stored_first() -> None:
    found = derive(Diagram("inside", (("out", nq.sum(nq.cumsum(X, x) * X, x)),)))
    assert len(found.plan.kernels) == 2
    assert_agrees(found, {"t": 3, "x": 40001})


def test_the_emitted_kernel_of_a_scan_runs() -> None:
    small = Diagram("small", (("out", SCANS["of_what_a_fold_gives"]()),))
    assert all(case.bound_used <= 1.0 for case in validate(small, dtype="float16", sizes=[{"t": 2, "x": 2501}]).cases)
