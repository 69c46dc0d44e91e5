"""What is said of the cache: kept is what the same block reads again, and nothing that others share or that is read
once.
"""

from __future__ import annotations

from dataclasses import replace

import napkin_eq as nq
from napkin_eq.tile.ir import Coord, Evictions, Load, Plan, statements
from napkin_eq.tile.passes.cache_hints import cache_hints
from napkin_eq.tile.printers import emit
from tests.plans import attention, softmax_row, softmax_stream


def of(plan: Plan) -> Evictions:
    (kernel,) = cache_hints(plan).kernels
    return kernel.evictions


def test_a_row_that_two_loops_read_is_kept_and_then_goes():
    plan = softmax_stream().plan
    found = of(plan)
    assert found.stored == {"y"} and [name for name, _ in found.last] == ["x"]
    text = emit(cache_hints(plan), "triton")
    loads = [line for line in text.splitlines() if "tl.load(x_ptr" in line]
    assert ['evict_last"' in line for line in loads] == [True, False] and 'evict_first"' in loads[-1]


def test_what_is_read_once_is_left_to_the_hardware():
    assert of(softmax_row().plan) == Evictions()


def test_what_blocks_share_is_left_to_the_hardware():
    """Keys and values of a head are read by every block of queries; a row that a second grid coordinate divides among
    blocks is not a block's own.
    """
    assert of(attention("f16", (64, 64), 16, 2, 1, (16, 16)).plan) == Evictions()
    plan = softmax_stream().plan
    (kernel,) = plan.kernels
    others = nq.Axis("others", 4)
    shared = replace(
        kernel, coords=(*kernel.coords, Coord("others", others, 1, "group")), grid=(*kernel.grid, "others")
    )
    assert of(replace(plan, kernels=(shared,))) == Evictions()


def test_a_row_that_several_blocks_divide_is_read_by_all_of_them():
    t, d, f = nq.axes("t d f", t=16, d=8192, f=4096)
    normed = nq.rms_norm(nq.array("A", t, d), d, nq.array("G", d))
    plan = nq.derive(nq.linear(normed, nq.array("W", f, d), d), dtype="bfloat16", printer="triton").plan
    first = plan.kernels[0]
    assert sum(isinstance(s, Load) and s.buffer == "A" for s in statements(first.body)) == 2, (
        "the case has changed: find another that reads a row twice"
    )
    assert first.evictions == Evictions()


def test_scratch_stays_for_the_kernel_that_reads_it():
    plan = softmax_stream().plan
    (kernel,) = plan.kernels
    assert of(replace(plan, outputs=())).stored == frozenset()
    assert kernel.writes[0].name in of(plan).stored


def test_what_a_fold_reads_once_goes_first_and_what_several_blocks_or_turns_read_does_not():
    def said(rows: int, columns: int, text: str) -> dict[str, int]:
        t, d = nq.axes("t d", t=rows, d=columns)
        X, W = nq.array("X", t, d), nq.array("W", d)
        outs = {"rows": nq.max(X * W, d), "columns": nq.max(X, t), "row-wise": nq.softmax(X, d)}
        plan = nq.derive(outs[text], dtype="bfloat16", hardware="h100", printer="triton").plan
        return dict(plan.kernels[0].evictions.last)

    assert said(8192, 4096, "rows") == {"X": 0}  # W is every block's
    assert said(4096, 4096, "columns") == {"X": 0} and said(65536, 4096, "columns") == {}  # 537 MB by pieces of rows
    assert said(8192, 4096, "row-wise") == {}  # as much is written


def test_what_a_later_kernel_reads_stays():
    t, d = nq.axes("t d", t=8192, d=4096)
    plan = nq.derive(nq.max(nq.array("X", t, d), d), printer="triton").plan
    (kernel,) = plan.kernels
    found = cache_hints(replace(plan, kernels=(kernel, replace(kernel, name="again")))).kernels
    assert [dict(k.evictions.last) for k in found] == [{}, {"X": 0}]
