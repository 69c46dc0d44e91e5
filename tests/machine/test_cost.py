"""What kernels cost together, and that many launches are priced as each is by itself, against figures worked out by
hand.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

import napkin_eq as nq
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.dtypes import STORAGE
from napkin_eq.lang.term import Fold, Index, Read, Store
from napkin_eq.machine.cost import KernelCost, launched, price, prices, profile, total_us, totals
from napkin_eq.machine.gpu import load
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.search.assemble import renamed
from napkin_eq.search.job import prover
from napkin_eq.tile import ir as p
from napkin_eq.tile.lower.merge_axes import Merged
from tests import plans

H200 = load("h200")


def costing(us: float) -> KernelCost:
    return KernelCost("k", (), (), 1, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0, 4, 2, us, "hbm")


def queued(works: list[float], first: float, next_: float) -> float:
    """When the last kernel ends, each of so many microseconds of work: the first launch is waited for, the next are
    queued meanwhile.
    """
    now = 0.0
    for number, work in enumerate(works):
        now += (first if number == 0 else next_) + work
    return now


@pytest.mark.parametrize("works", [[10.0], [10.0, 20.0, 5.0], [0.0, 0.0], [3.0] * 7])
@pytest.mark.parametrize("launch", [5.0, 2.9, 1.4, 0.2])
@pytest.mark.parametrize(("gpu", "following"), [("h200", 3.5e-7), ("a100", 1.4e-6)])
def test_only_the_first_launch_is_waited_for(works, launch, gpu, following):
    """An A100 begins a kernel when the one before has ended, an H200 before that."""
    base = load(gpu)
    machine = replace(base, chip=replace(base.chip, launch_s=max(launch * 1e-6, following)))
    launch = machine.chip.launch_s * 1e6
    costs = [costing(launch + work) for work in works]
    assert total_us(costs, machine) == pytest.approx(queued(works, launch, following * 1e6))
    assert total_us(costs[::-1], machine) == pytest.approx(total_us(costs, machine))
    # Each launch waited for would be dearer wherever there are several and the launch is dear.
    assert (total_us(costs, machine) < sum(c.predicted_us for c in costs) - 1e-9) == (
        len(works) > 1 and launch > following * 1e6 + 1e-9
    )


def test_a_launch_cheaper_than_a_queued_one_is_no_gain_and_no_loss():
    machine = replace(H200, chip=replace(H200.chip, launch_s=0.1e-6))
    assert total_us([costing(4.0), costing(6.0)], machine) == 10.0


LAUNCHES = [(warps, stages) for warps in (1, 2, 4, 8, 16, 32) for stages in (2, 3, 4)]


@pytest.mark.parametrize(
    "kernel",
    [*plans.softmax_stream("f16").plan.kernels, *plans.matmul("bf16", (300, 500, 700), (64, 64, 32)).plan.kernels],
)
def test_launches_priced_together_cost_what_each_does(kernel):
    prof = profile(kernel)
    wide = {c.name: 2 * c.tile for c in kernel.coords}
    for tiles in ({}, wide):
        together = list(prices(prof, tiles, LAUNCHES, H200))
        assert together == [price(prof, tiles, warps, stages, H200) for warps, stages in LAUNCHES]
        assert len({c.predicted_us for c in together if c is not None}) > 1
    assert None in list(prices(prof, {c.name: 1 << 16 for c in kernel.coords}, LAUNCHES, H200))


def test_bytes_flops_and_operations_of_a_product_are_those_counted_by_hand():
    (kernel,) = plans.matmul("bf16", (300, 500, 700), (64, 64, 32)).plan.kernels
    cost = price(profile(kernel), {}, 4, 3, H200)
    assert cost is not None
    rows, columns, trips = 5, 8, 22  # 300, 500 and 700 in blocks of 64, 64 and 32
    assert cost.blocks == rows * columns
    assert cost.flops_tensor == pytest.approx(2.0 * rows * 64 * columns * 64 * trips * 32)
    read = rows * columns * trips * 2 * (64 * 32 + 32 * 64)
    assert cost.bytes_l2 == pytest.approx(read + rows * columns * 64 * 64 * 2)
    # The least: every array once. Level 2 holds them all, so what comes from memory is just that.
    assert cost.bytes_hbm == pytest.approx(2 * (300 * 700 + 700 * 500) + rows * columns * 64 * 64 * 2)
    buffers = 3 * 2 * (64 * 32 + 32 * 64)
    assert buffers <= cost.smem_bytes <= buffers + 2048
    assert cost.registers >= 64 * 64 / 128  # its accumulators alone
    loop = next(s for s in kernel.body if isinstance(s, p.Loop))
    twice = replace(kernel, body=tuple(replace(s, parts=(*s.parts, *s.parts)) if s is loop else s for s in kernel.body))
    doubled = price(profile(twice), {}, 4, 3, H200)
    assert doubled is not None and doubled.flops_tensor == pytest.approx(2 * cost.flops_tensor)


def test_loops_that_are_written_out_ask_for_their_loads_together():
    (kernel,) = plans.window().plan.kernels
    (loop,) = (s for s in kernel.body if isinstance(s, p.Loop))
    assert p.unrolled(kernel, loop) == 9
    long = replace(loop, parts=(replace(loop.parts[0], hi=p.MOST_UNROLLED),))
    assert p.unrolled(kernel, long) == 0, "with the trips inside of them there are too many"
    assert p.unrolled(kernel, replace(loop, parts=(replace(loop.parts[0], hi="ms"),))) == 0
    wide = replace(kernel, coords=tuple(replace(c, tile=2) if c.name == "n" else c for c in kernel.coords))
    assert p.unrolled(wide, loop) == 0
    assert p.unrolled(*_contracting()) == 0
    # A loop waits in each trip, one that is written out only as what stands in no loop does.
    once, trips = (
        price(replace(profile(kernel), unrolled=parts), {}, 1, 2, H200)
        for parts in (profile(kernel).unrolled, frozenset())
    )
    assert once is not None
    assert trips is not None
    # Seven blocks ask for little
    near, far = (latency * H200.model.unloaded for latency in (H200.model.latency_l2_s, H200.model.latency_hbm_s))
    # Most of it is read again, from level 2
    assert 9 * near < (trips.predicted_us - once.predicted_us) * 1e-6 < 9 * far


def _row_by_row(derivation: Derivation, tiles: dict[str, int]) -> p.Kernel:
    """Return the only kernel of a plan with its axes each by itself."""
    ((store,), (tiled,)) = derivation.outputs[0].placed.stores, derivation.outputs[0].placed.tiled
    apart = Merged(store, tuple(map(tiled.kernel.whole, tiled.kernel.writes)), {})
    return apart.kernel(tiles, STORAGE[derivation.dtype], prover(derivation.statements))


def test_more_instructions_than_the_cache_keeps_are_fetched_again():
    """128 sines of a thread are told to take far more than twice as long as 64, as measured, and 64 twice as long as
    32. Products are short.
    """
    t, x = nq.axes("t x", t=32768, x=4096)
    for term, again in {nq.sin(nq.array("X", t, x)): True, nq.array("X", t, x) * 2.0: False}.items():
        kernel = _row_by_row(nq.derive(term, dtype="float16"), {"t": 1, "x": 4096})
        rows = [{c.name: columns if c.axis == x else 1 for c in kernel.coords} for columns in (1024, 2048, 4096)]
        few, some, many = (price(profile(kernel), lanes, 1, 2, H200).predicted_us for lanes in rows)
        assert some < 2.2 * few
        assert (many > 4 * some) is again


def _contracting() -> tuple[p.Kernel, p.Loop]:
    (kernel,) = plans.matmul("bf16", (64, 64, 16), (64, 64, 16)).plan.kernels
    (loop,) = (s for s in kernel.body if isinstance(s, p.Loop))
    return replace(kernel, coords=tuple(replace(c, tile=1) if c.name == loop.coord else c for c in kernel.coords)), loop


def test_blocks_are_handed_out_one_after_another():
    """557,056 blocks of one warp and of two took 340.3 us on an H200, whatever else was chosen for them."""
    (kernel,) = plans.window().plan.kernels
    many = replace(
        kernel,
        coords=tuple(replace(c, axis=replace(c.axis, size=557_056)) if c.name == "m" else c for c in kernel.coords),
    )
    for warps in (1, 2):
        cost = price(profile(many), {}, warps, 2, H200)
        assert cost is not None
        assert cost.predicted_us == pytest.approx(340.3, rel=0.05)


def test_a_small_kernel_has_its_share_of_what_large_ones_do_beside_nothing():
    """Kernels of under a microsecond took 5 to 6 us on an H200, of which 4.3 are the launch; those of 60 us took 6 to 8
    more than they move.
    """
    fixed = [(launched(body, body, H200) - body) * 1e6 for body in (0.0, 1e-6, 60e-6)]
    assert fixed[0] == pytest.approx(H200.chip.launch_s * 1e6)
    assert fixed[1] < 5.1
    assert fixed[2] == pytest.approx((H200.chip.launch_s + H200.model.kernel_s) * 1e6, abs=0.1)
    assert 6 < fixed[2] < 8


def test_what_a_kernel_has_just_written_is_read_from_level_2():
    a, b = nq.axes("a b", a=4096, b=1024)
    derivation = nq.derive(nq.exp(nq.array("x", a, b)) * 2.0, dtype="float32", printer="triton")
    kernel = _row_by_row(derivation, {"a": 4, "b": 1024})
    given, handed = (
        price(profile(k), {}, 4, 2, H200) for k in (kernel, renamed(kernel, kernel.name, {"x": "out__t0"}))
    )
    assert given is not None
    assert handed is not None
    assert handed.bytes_hbm == given.bytes_hbm - 4096 * 1024 * 4
    assert handed.predicted_us < given.predicted_us - 2


def test_rows_written_in_part_of_a_sector_cost_more_than_their_bytes():
    """16.8 million rows of six bytes, 96 apart, took an H200 267 us where 100 MB are written; those of four that fill
    sectors together took 35.
    """
    wide, narrow = (
        totals(profile(k), {c.name: c.tile for c in k.coords}, H200, 4).requests[""] for k in (_stored(16), _stored(3))
    )
    rows = 4096 * 1024
    assert wide == rows * H200.model.line_bytes
    assert narrow == rows * H200.model.line_bytes * 3


def _stored(columns: int) -> p.Kernel:
    """A constant stored to 1024 rows of so many columns for each of 4096 blocks, whose rows lie between
    each other's.
    """
    r, b, c = Axis("r", 1024), Axis("b", 4096), Axis("c", columns)
    out = p.Buffer("out", (r, b, c), "bf16")
    value = p.Value("v", ("r", "c"), "bf16")
    at = [p.Value(f"{n}_at", (n,) if n != "b" else (), "i32") for n in "rbc"]
    body = (
        p.Iota(at[0], "r"), p.Start(at[1], "b"), p.Iota(at[2], "c"),
        p.Let(p.Value("flat", ("r", "c"), "f32"), "where", ("m", 1.0, 2.0)),
        p.Let(value, "cast", ("flat",)), p.StoreTile("out", ("r_at", "b_at", "c_at"), "v"),
    )  # fmt: skip
    mask = p.Let(p.Value("m", ("r", "c"), "i1"), "lt", ("r_at", "c_at"))
    coords = (p.Coord("r", r, 1024, "whole"), p.Coord("b", b, 1, "group"), p.Coord("c", c, 16, "whole"))
    return p.Kernel("stored", (), (out,), coords, ("b",), (*body[:3], mask, *body[3:]))


@pytest.mark.parametrize(
    ("images", "deep", "channels", "took"), [(16, 64, 64, 591), (128, 16, 16, 1125)], ids=["64 channels", "16 channels"]
)
def test_windows_that_a_kernel_gathers_are_told_as_an_h200_took_them(images, deep, channels, took):
    """27 numbers of each of three channels: 2,264 and 3,758 us were told of them while rows that places begin anew
    after were no neighbours, and warps were taken to compute each other's columns.
    """
    i, n, r, s, t = nq.axes("i n r s t", i=images, n=channels, r=deep - 2, s=62, t=62)
    j, k, u, v = nq.axes("j k u v", j=3, k=deep, u=64, v=64)
    w = Axis("w", 81)
    at = Index(w)
    read = nq.array("x", i, j, k, u, v, dtype="float32")
    for axis, place in (
        (v, Index(t) + at % 3),
        (u, Index(s) + at % 9 // 3),
        (k, Index(r) + at % 27 // 9),
        (j, at // 27),
    ):
        read = Read(read, axis, place)
    whole = nq.Diagram("windows", (("out", nq.sum(read * nq.array("k3", n, w), w)),))
    found = nq.derive(whole, dtype="float32", precision="tf32", hardware="h200")
    assert 0.7 * took < sum(t.cost.predicted_us for o in found.outputs for t in o.placed.tiled) < 1.6 * took


def test_a_contraction_to_one_number_whose_operands_are_computed_has_a_price():
    """It has no rows; the fuzzer found that its price asked for the first of them."""
    a, b, c, ci, co = nq.axes("a b c ci co", a=1, b=17, c=1, ci=1, co=1)
    same = nq.array("I", a, ci, co, dtype="int32")
    value = nq.sum(nq.array("A", a, b, c), c, where=nq.equal(same, same))
    term = nq.sum(nq.take(value, ci, nq.index(c)) * value, b)
    assert nq.derive(nq.Diagram("product", (("out", term),)), dtype="float32").plan.kernels


def test_a_number_that_all_threads_have_in_common_is_computed_by_each():
    """A walk of single numbers takes each warp its instructions: 1,000 steps took 34 us of 16 warps on an H100, and 80
    of 32.
    """
    o, at, state = Axis("o", 1000), p.Value("at", (), "i32"), p.Value("state", (), "f32")
    half, next_ = p.Value("half", (), "f32"), p.Value("next", (), "f32")
    step = (
        p.Start(at, "o"), p.Let(half, "mul", ("state", 0.5)), p.Let(next_, "add", ("half", 1.0)),
        p.StoreTile("y", ("at",), "next", ()), p.Assign("state", "next"),
    )  # fmt: skip
    loop = p.Loop("o", ((state, 0.0),), (p.Part(0, 1000, step),))
    kernel = p.Kernel("steps", (), (p.Buffer("y", (o,), "f32"),), (p.Coord("o", o, 1, "walk"),), (), (loop,))
    costs = [price(profile(kernel), {}, warps, 2, load("h100")) for warps in (16, 32)]
    some, many = (cost.predicted_us for cost in costs if cost is not None)
    assert 20 < some < 60 and many > some + 20


def test_a_loop_that_ends_where_the_lanes_of_a_tile_do_reads_what_all_of_them_read():
    x, p_, r = Axis("x", 65000), Axis("p", 64), Axis("r", 1024)
    lane = Index(p_) // 2 * 2048 + Index(r)
    runs = Fold("sum", r, Read(nq.array("a", x), x, lane), lane < 64000)
    target = p.Buffer("out", (p_,), "f32")
    kernel = Merged(Store(runs), (target,), {}).kernel({"p": 64, "~r": 16}, "f32", prover([]))
    lanes = {c.name: c.tile for c in kernel.coords}
    assert price(profile(kernel), lanes, 1, 2, H200).bytes_hbm >= 4 * 30 * 1024
