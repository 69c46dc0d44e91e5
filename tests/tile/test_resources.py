"""What a block takes is what the compiler allocates, or more: counted by hand for small kernels, and compiled."""

from __future__ import annotations

from dataclasses import replace

import pytest

import napkin_eq as nq
from napkin_eq.frontend.gallery import diagram
from napkin_eq.lang.diagram import Diagram
from napkin_eq.machine.cost import SPILLING, price, profile
from napkin_eq.machine.gpu import load
from napkin_eq.tile import ir as p
from napkin_eq.tile.compile_ahead import compile_report
from napkin_eq.tile.printers import emit
from napkin_eq.tile.resources import (
    SMEM_SLACK,
    capacity,
    crossed_clocks,
    needs,
    partial_bytes,
    passed_over,
    room,
    spread_registers,
)
from tests import plans

H200, A100 = load("h200"), load("a100")
MATMUL = plans.matmul("bf16", (256, 256, 256), (64, 64, 32)).plan.kernels[0]


def taken(kernel: p.Kernel, warps: int, stages: int, wide: bool = True) -> tuple[int, int]:
    return capacity(room(profile(kernel).needs, {c.name: c.tile for c in kernel.coords}), warps, stages, wide)


def test_buffers_of_a_product_are_one_a_stage_and_one_less_where_instructions_are_narrow():
    tile = 2 * (64 * 32 + 32 * 64)
    assert taken(MATMUL, 4, 3)[0] == SMEM_SLACK + 3 * tile
    assert taken(MATMUL, 2, 3)[0] == SMEM_SLACK + 2 * tile  # two warps are too few for the wide ones
    assert taken(MATMUL, 4, 3, wide=False)[0] == SMEM_SLACK + 2 * tile


def test_inner_loops_of_one_turn_lie_in_memory_together():
    """A compiler writes their turns out, and copies ahead for the loop around them: 352 KiB where 224 were counted."""
    (loop,) = [s for s in MATMUL.body if isinstance(s, p.Loop)]
    inner = replace(loop, parts=(loop.parts[0], loop.parts[0]))
    outer = p.Loop(MATMUL.coords[0].name, (), (p.Part(0, 4, (inner,)),))
    nested = needs(replace(MATMUL, body=tuple(outer if s is loop else s for s in MATMUL.body)), laned=False)
    for size, together in ((32, 1), (64, 1), (128, 2)):
        tiles = {c.name: size if c.name == loop.coord else c.tile for c in MATMUL.coords}
        assert capacity(room(nested, tiles), 4, 3)[0] == SMEM_SLACK + together * 3 * 2 * (64 * size + size * 64)
    around = p.Loop(MATMUL.coords[1].name, (), (p.Part(0, 4, (outer,)),))
    nested = needs(replace(MATMUL, body=tuple(around if s is loop else s for s in MATMUL.body)), laned=False)
    for rows, size in ((64, 128), (256, 128), (256, 64)):  # of three loops, two or all of which may have one turn
        tiles = {c.name: rows if c.name == outer.coord else size if c.name == loop.coord else 64 for c in MATMUL.coords}
        tile = 2 * size * (tiles["m"] + tiles["n"])
        assert capacity(room(nested, tiles), 4, 3)[0] == SMEM_SLACK + (2 if size == 128 else 1) * 3 * tile


def test_partial_results_are_those_of_each_warp_along_the_axis():
    assert partial_bytes((1, 4096), 1, (1,), False, 8) == 8 * 4
    # Rows are loaded along 64 columns: all warps lie below each other
    assert partial_bytes((1024, 64), 0, (1,), False, 32) == 64 * 32 * 4
    assert partial_bytes((1024, 64), 1, (1,), False, 32) == 1024 * 2 * 4
    # Three dimensions are filled from the last: 32 threads and 2 warps along 64, the other 16 along 128. Triton
    # allocated as much.
    assert partial_bytes((128, 128, 64), 1, (), False, 32) == 524288
    assert partial_bytes((64, 32), 0, (), False, 1) == 0
    assert partial_bytes((128, 32), 0, (1,), True, 4) >= 2048  # what Triton allocated for a scan


def test_threads_meet_as_the_compiler_has_them_meet():
    """Against instructions of an average pooling and of scans as Triton compiles them, threads along the tile's first
    dimension.
    """
    # 64 columns x 4 places folded x 32 images by 4 warps, two of them along the fold: of each warp 32 stores and 32
    # loads meet in one bank.
    assert crossed_clocks((64, 4, 32), 1, 1, False, 4)[0] == 4 * (32 * 32 + 32 * 32 + 32 + 32 + 32)
    # Two warps lie along the columns: each thread has all four places
    assert crossed_clocks((64, 4, 32), 1, 1, False, 2) == (0.0, 0.0, 0.0)
    assert crossed_clocks((64, 32, 4), 2, 4, False, 4) == (0.0, 0.0, 0.0)
    # 16 threads beside each other, two below, four warps below each other: 32 times a thread hands a number on, chooses
    # and folds, and as many loads for each of the warps, beside what joins them.
    shuffled, _, added = crossed_clocks((64, 64), 1, 4, True, 4)
    assert shuffled + added == 4 * (3 * 32 + 10 * 32 + 4 * 32)
    few, many = (crossed_clocks((4096,), 0, 8, False, warps) for warps in (1, 32))
    assert few[1] < many[1]


def test_a_folds_tile_lies_as_it_was_loaded():
    kernel = plans.softmax_row("bf16").plan.kernels[0]
    found = [cross for cross, _ in profile(kernel).crossings]
    assert [(c.axis, c.order, c.vector, c.scan) for c in found] == [("c", ("c", "r"), 4, False)] * 2  # rows of 100
    assert profile(MATMUL).crossings == ()


def test_what_is_scanned_and_not_loaded_lies_as_it_is_stored():
    b, x = nq.axes("b x", b=3, x=100000)
    term = nq.cumsum(nq.sin(nq.index(x) * 1.0) + 0.0 * nq.array("Y", b), x)
    (kernel,) = nq.derive(term, dtype="bfloat16", without=("scan-in-runs-sum",)).plan.kernels  # rows that are walked
    assert {(c.axis, c.vector) for c, _ in profile(kernel).crossings if c.scan} == {("x", 8)}


def test_gains_that_rows_have_in_common_are_composed_once():
    b, x = nq.axes("b x", b=65536, x=32)
    part = nq.array("P", b, x)
    costs = {}
    for name, gain in {"common": nq.array("G", x), "own": nq.array("G", b, x)}.items():
        (kernel,) = nq.derive(nq.recur(gain, part, x), dtype="float32").plan.kernels
        cross = next(c for c, _ in profile(kernel).crossings if c.scan)
        assert cross.gain == (("x",) if name == "common" else ("b", "x"))
        lanes = {c.name: 16 if c.axis == b else c.tile for c in kernel.coords}
        costs[name] = price(profile(kernel), lanes, 1, 2, H200).ops_alu
    assert costs["common"] < 0.7 * costs["own"]


def test_a_tile_spread_over_three_dimensions_takes_what_every_thread_holds_of_it():
    # 32 threads along the last, 32 warps along the middle: each thread has 32 × 16 of the first two, and 16 of the last
    # two.
    assert spread_registers((32, 512, 32), (((0, 1), 1.0), ((1, 2), 1.0)), 32) == 32 * 16 + 16
    assert spread_registers((32, 512, 32), (((0, 1, 2), 1.0),), 32) == 0


def test_a_tile_spread_over_two_dimensions_may_be_more_than_threads_hold():
    """Of 4,096 numbers beside 32 columns each thread of 16 warps has 256, and 128 registers: Triton's kernel spilled
    592 bytes a thread, of 2,048 none.
    """
    b, a = nq.axes("b a", b=4096, a=8192)
    x, y = p.Buffer("x", (b,), "f32"), p.Buffer("y", (a,), "f32")
    body = (
        p.Iota(plans.i32("bs", "b"), "b"),
        p.Iota(plans.i32("as", "a"), "a"),
        plans.let(plans.f32("counted", "a"), "cast", "as"),
        p.Load(plans.f32("loaded", "b"), "x", ("bs",), ()),
        plans.let(plans.f32("both", "b", "a"), "add", "loaded", "counted"),
        p.ReduceTile(plans.f32("most", "a"), "max", "b", "both"),
        p.StoreTile("y", ("as",), "most", ()),
    )
    roomy = replace(H200, limits=replace(H200.limits, registers_per_thread=1 << 10, registers_per_sm=1 << 20))
    for rows, longer in ((2048, 1.0), (4096, SPILLING)):
        coords = (p.Coord("b", b, rows, "whole"), p.Coord("a", a, 32, "group"))
        kernel = p.Kernel("spread", (x,), (y,), coords, ("a",), body)
        assert passed_over(room(profile(kernel).needs, {"b": rows, "a": 32}), 16) == rows // 16, (
            "what is counted up is made anew"
        )
        told, with_room = (price(profile(kernel), {}, 16, 2, hardware).predicted_us for hardware in (H200, roomy))
        assert told == pytest.approx(longer * with_room)


def test_choices_beyond_what_triton_or_a_block_takes_are_refused():
    prof = profile(MATMUL)
    assert price(prof, {}, 4, 3, H200) is not None
    assert price(prof, {**{c.name: c.tile for c in MATMUL.coords}, MATMUL.coords[0].name: 1 << 15}, 4, 3, H200) is None


def biased() -> Diagram:
    h, q, x, d = nq.axes("h q x d", h=8, q=1024, x=1024, d=64)
    scores = nq.sum(nq.array("Q", h, q, d) * nq.array("K", h, x, d), d) * 0.125 + nq.array("B", h, q, x)
    return Diagram("biased", (("out", nq.sum(nq.softmax(scores, x) * nq.array("V", h, x, d), x)),))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("name", ["biased", "softmax", "rmsnorm_linear", "linear_gelu"])
def test_the_compiler_allocates_no_more_than_is_estimated(name, dtype):
    """Operands of f32 are multiplied in parts, which lie in shared memory beside what is loaded ahead."""
    small = biased() if name == "biased" else diagram(name).with_sizes({"t": 512})
    for kernel in nq.derive(small, printer="triton", dtype=dtype).plan.kernels:
        for hardware in (H200, A100):
            (row,) = compile_report(
                emit(p.Plan("one", kernel.reads, kernel.writes, (kernel,)), "triton"), hardware.arch
            )
            assert row["smem_bytes"] <= taken(kernel, kernel.warps, kernel.stages, hardware is H200)[0], (
                name,
                hardware.name,
            )


def test_an_operand_that_is_computed_passes_through_shared_memory():
    body = MATMUL.body
    (loop,) = [s for s in body if isinstance(s, p.Loop)]
    (dot,) = [s for s in loop.parts[0].body if isinstance(s, p.Dot)]
    value = next(s.out for s in loop.parts[0].body if isinstance(s, p.Load) and s.out.name == dot.b)
    twice = p.Let(replace(value, name="twice"), "add", (value.name, value.name))
    part = replace(
        loop.parts[0],
        body=tuple(x for s in loop.parts[0].body for x in ((twice, replace(s, b="twice")) if s is dot else (s,))),
    )
    changed = replace(MATMUL, body=tuple(replace(s, parts=(part,)) if s is loop else s for s in body))
    a, b = 2 * 64 * 32, 2 * 32 * 64
    assert taken(changed, 4, 3)[0] == SMEM_SLACK + 3 * a + 2 * b + b
