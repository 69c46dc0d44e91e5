"""What a walk over blocks brings from memory: against a cache simulated part by part, and against a GPU's counters."""

from __future__ import annotations

import importlib
import itertools
import json
import math
from collections import OrderedDict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from napkin_eq.machine.l2_reuse import Order, Part, brought, walk
from napkin_eq.pipeline.derive import derive
from tests import plans

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
FAR = 10**9


def simulated(order: Order, parts: dict[str, Part], name: str, cached: float) -> float:
    """Bytes of a buffer that a cache of whole parts, the least recently used going first, misses while blocks run one
    by one.
    """
    held: OrderedDict[tuple[Any, ...], float] = OrderedDict()
    missed = 0.0
    for block in itertools.product(*(range(int(count)) for _, count in order)):
        for other, part in parts.items():
            key = (other, *(at for at, (coord, _) in zip(block, order, strict=True) if coord in part.coords))
            if key in held:
                held.move_to_end(key)
                continue
            missed += part.size if other == name else 0.0
            held[key] = part.size
            while sum(held.values()) > cached:
                held.popitem(last=False)
    return missed


counts = st.integers(2, 5)


@given(counts, counts, counts, st.sampled_from(["tiny", "large"]))
def test_blocks_that_run_one_by_one_miss_what_a_simulated_cache_misses(rows, columns, heads, cache):
    order = [("h", heads), ("m", rows), ("n", columns)]
    parts = {
        "A": Part(frozenset("hm"), 8.0, 1.0),
        "B": Part(frozenset("hn"), 8.0, 1.0),
        "C": Part(frozenset("hmn"), 8.0, 1.0),
    }
    cached = 24.0 if cache == "tiny" else FAR
    for name in parts:
        assert brought(order, parts, name, 1, cached) == simulated(order, parts, name, cached)


def test_blocks_that_run_together_share_what_they_read():
    order = [("m", 16), ("n", 4)]
    parts = {"B": Part(frozenset("n"), 1.0, 1.0)}
    assert brought(order, parts, "B", 1, 2.0) == 64  # each row of blocks brings B anew
    assert brought(order, parts, "B", 8, 2.0) == 32  # two rows at a time
    assert brought(order, parts, "B", 64, 2.0) == 4
    assert brought(order, parts, "B", 1, 4.0) == 4


def test_a_part_read_again_within_a_block_is_brought_again_unless_all_that_run_are_held():
    order = [("t", 8)]
    parts = {"A": Part(frozenset("t"), 2.0, 5.0)}
    assert brought(order, parts, "A", 8, 16.0) == 16
    assert brought(order, parts, "A", 8, 15.0) == 80
    assert brought(order, parts, "A", 4, 15.0) == 16


@pytest.mark.parametrize("rows", [7, 8, 9, 17, 33])
def test_rows_visited_in_groups_are_as_many(rows):
    kernel = plans.matmul("bf16", (rows * 16, 64, 64), (16, 16, 16)).plan.kernels[0]
    order = walk(
        replace(kernel, swizzle=(kernel.grid[-2], kernel.grid[-1], 8)), {kernel.grid[-2]: rows, kernel.grid[-1]: 4}
    )
    assert math.prod(count for coord, count in order if coord == kernel.grid[-2]) == pytest.approx(rows)


MEASURED = ["b4 h16 n4096 d128 full", "b4 h16 n4096 d128 causal", "window b4 h16 n4096 d128",
    "document b1 h16 n16384 d128", "b16 hq32 hk8 n8192 d128",
            "16x4096x4096", "softmax 16384x4096", "softmax 4096x65536", "swiglu 16x4096x14336"]  # fmt: skip


@pytest.mark.parametrize("case", MEASURED)
def test_bytes_told_are_those_that_an_h200_counted(case, monkeypatch):
    """Reads as counted; of what is written, the rest is still in the cache when a kernel ends."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    suite = importlib.import_module("suite")
    (row,) = (
        r for r in json.loads((BENCHMARKS / "results" / "counters_h200.json").read_text())["rows"] if r["case"] == case
    )
    (found,) = (c for c in suite.cases() if c.case == case)
    told = derive(found.diagram(), dtype="bfloat16").report()["bytes_hbm"]
    assert told == pytest.approx(row["read"] + max(row["written"], row["output"]), rel=0.05)
