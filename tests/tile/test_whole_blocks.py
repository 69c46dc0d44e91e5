"""Blocks that end before an axis does are done without its masks, where these keep neighbours from being taken
together; the last one is not, and nothing else is said twice.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

import napkin_eq as nq
from napkin_eq.lang.errors import WrongPlan
from napkin_eq.tile.accesses import ends
from napkin_eq.tile.ir import Kernel, Load, StoreTile, definitions, values_of
from napkin_eq.tile.passes.whole_blocks import edged
from napkin_eq.tile.resources import neighbours, neighbours_taken
from napkin_eq.tile.verify_ir import verified
from tests.arrays import assert_agrees

HALVES = 8  # of float16 that a thread takes at once


def derived(*lengths: int | None, row: bool = False) -> nq.Derivation:
    """Return the plan of what is computed place by place of an array, and of one along its first axis."""
    axes = tuple(nq.axes(" ".join("abc"[: len(lengths)]), **dict(zip("abc", lengths, strict=False))))
    x, y = nq.array("x", *axes), nq.array("y", axes[0])
    body = nq.max(x, axes[-1]) + y if row else x * y + 1.0
    return nq.derive(nq.Diagram("places", (("out", body),)), dtype="float16", printer="triton")


def taken(kernel: Kernel) -> list[int]:
    made, values = definitions(kernel.body), values_of(kernel.body)
    accesses = [s for s in kernel.body if isinstance(s, (Load, StoreTile)) and s.buffer in ("x", "out")]
    return [neighbours_taken(kernel, s, neighbours(kernel, s, values), made, values) for s in accesses]


@pytest.mark.parametrize("lengths", [(33, 5, 257), (5003,), (4099, 3)])
def test_blocks_before_the_end_have_no_mask_and_all_blocks_are_right(lengths):
    found = derived(*lengths)
    (kernel,) = found.plan.kernels
    assert len(kernel.edges) == 1 and taken(kernel) == [HALVES, HALVES]
    assert taken(replace(kernel, edges=())) == [1, 1]
    whole, rest = found.triton().split("\n    if ")[1].split("\n    else:\n")
    rest = rest[: rest.index("\n\n")]
    assert "mask=" not in whole and rest.count("mask=") == len([*kernel.reads, *kernel.writes])
    assert found.outputs[0].translation.status == "agrees"
    assert_agrees(found, dict(zip("abc", lengths, strict=False)))


@pytest.mark.parametrize("length", [4096, 5003, 511, 1])
def test_of_a_length_that_is_known_only_as_it_runs_whole_blocks_have_no_mask(length):
    found = derived(None)
    assert found.plan.kernels[0].edges and "n + " not in found.triton()
    assert_agrees(found, {"a": length})


@pytest.mark.parametrize(
    ("lengths", "row"),
    [
        ((33, 4096), False),  # tiles divide it
        ((1000,), False),  # what masks leave is a multiple of what a thread takes
        ((300, 257), True),  # rows of odd lengths: neighbours are none whatever masks say
        ((None, None), False),
        ((24,), False),  # there is one block
    ],
)
def test_where_masks_keep_nothing_apart_statements_are_written_once(lengths, row):
    found = derived(*lengths, row=row)
    assert "\n    else:\n" not in found.triton()


def test_a_mask_that_computes_something_stays():
    (n,) = nq.axes("n", n=5003)
    x = nq.array("x", n)
    found = nq.derive(nq.Diagram("d", (("out", nq.where(nq.index(n) < nq.size(n), x, 2.0)),)), dtype="float16")
    assert_agrees(found, {"n": 5003})


def test_what_is_no_mask_of_the_end_of_an_axis_is_not_left_out():
    (kernel,) = derived(5003).plan.kernels
    assert ends(kernel).keys() == {*kernel.edges} and edged(kernel) == kernel
    load = next(s.out.name for s in kernel.body if isinstance(s, Load))
    with pytest.raises(WrongPlan, match="not all of .* are masks"):
        verified(replace(kernel, edges=(*kernel.edges, load)))
