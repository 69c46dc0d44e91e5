"""Whole networks at their real sizes, by the plain definitions that are measured: covered by few kernels, near the
bound, no scores in memory, and twelve layers as one.
"""

from __future__ import annotations

import math
import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

from napkin_eq.certify.certificate import checked
from napkin_eq.lang.diagram import Diagram
from napkin_eq.pipeline.derive import derive

NETWORKS: dict[str, Callable[[], Diagram]] = runpy.run_path(
    str(Path(__file__).parents[2] / "benchmarks" / "networks.py")
)["NETWORKS"]
SCORES = 4096 * 4096  # of one head, of a prompt


@pytest.mark.slow
def test_twelve_layers_are_twelve_times_one() -> None:
    found, layers, least = derive(NETWORKS["llama of 12"](), "h200", limit=60), 12, 9
    (output,) = found.outputs
    assert output.cover is not None and checked(found.certificate)["status"] == "ok"
    assert len(found.plan.kernels) % layers == 0 and least <= len(found.plan.kernels) // layers <= 12
    assert output.cover["different_sections"] <= 2 and output.cover["gap"] <= 0.03
    assert all(math.prod(a.size or 1 for a in buffer.dims) < 4 * SCORES for buffer in found.plan.scratch)
