"""Kernels that groups of warps share, as the cost model sees them: against measured times, and chosen only where they
can be printed.
"""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

import napkin_eq as nq
from napkin_eq.frontend.gallery import diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.machine.cost import profile
from napkin_eq.machine.gpu import load
from napkin_eq.machine.tile_scheduler import Dealt, _drawn, _longest, dealt
from napkin_eq.machine.warp_specialized import footprint, priced, registers
from napkin_eq.pipeline.derive import derive
from napkin_eq.tile import ir as p
from napkin_eq.tile.passes.warp_roles import assigned
from napkin_eq.tile.passes.warp_specialize import specialised
from napkin_eq.tile.printers import code, emit
from tests import plans
from tests.codegen.test_gluon import general

H200 = load("h200")


@pytest.fixture(scope="module")
def product():
    return derive(diagram("matmul", m=4096, n=4096, k=4096))


@pytest.fixture(scope="module")
def causal():
    return derive(diagram("causal_attention", b=1, h=16, q=4096, x=4096, d=128), printer="triton")


def test_the_model_tells_what_was_measured(product):
    # Microseconds on an H200, the groups of warps dealing out 256 by 128 tiles of the product; 128 by 256 took 1 %
    # less.
    (piece,) = product.tiled
    assert (piece.cost.workers, dict(piece.cost.groups)) == (2, {"m": 256, "n": 128})
    assert piece.cost.predicted_us == pytest.approx(176.6, rel=0.08)
    assert (
        derive(diagram("matmul", m=4096, n=4096, k=4096), printer="triton").tiled[0].cost.predicted_us
        > 1.1 * piece.cost.predicted_us
    )


def test_the_printer_is_a_choice(product):
    assert "warp_specialize" in product.code()
    assert product.report()["kernels"][0]["printer"] == "gluon"
    assert "gluon" not in product.triton()
    for other in (
        derive(diagram("matmul", m=4096, n=4096, k=4096), printer="triton"),
        derive(diagram("matmul", m=4096, n=4096, k=4096), hardware="a100", printer="gluon"),
        derive(diagram("matmul", m=4096, n=4096, k=4096), dtype="float32", printer="gluon"),
    ):
        assert other.plan.kernels[0].workers is None
        assert other.code() == other.triton()
    with pytest.raises(NapkinError, match="unknown printer 'cuda'; one of auto, gluon, triton"):
        derive(diagram("matmul"), printer="cuda")


def test_one_file_holds_kernels_of_both_kinds():
    shared = assigned(specialised(plans.matmul("bf16", (256, 256, 256), (128, 64, 64)).plan.kernels[0]))
    alone = plans.softmax_row("bf16").plan
    both = p.Plan("both", (*alone.inputs, *shared.reads), shared.writes, (*alone.kernels, shared))
    text = code(both)
    assert text.count("@gluon.jit") == 3
    assert text.count("@triton.jit") == 1
    compile(text, "both.py", "exec")


def test_tiles_that_are_no_power_of_two_are_no_portable_triton():
    wide = assigned(specialised(plans.matmul("bf16", (384, 256, 256), (192, 64, 64)).plan.kernels[0]))
    assert wide.workers is not None
    assert wide.workers.groups == 3
    plan = p.Plan("wide", wide.reads, wide.writes, (wide,))
    assert "WHO * 64" in emit(plan, "gluon")
    with pytest.raises(NapkinError, match="192 lanes of m are no power of two"):
        emit(plan, "triton")


def causal_blocks(causal, us: float, sms: int = 132, cache: int = H200.l2.capacity_bytes) -> Dealt:
    """How 16 heads of 32 blocks come to programs, the k-th k + 1 trips long, in so many microseconds of all
    processors.
    """
    piece = causal.tiled[0]
    kernel = replace(
        piece.kernel,
        workers=None,
        coords=tuple(replace(c, tile=128) if c.name == "q" else c for c in piece.kernel.coords),
    )
    gpu = replace(H200, chip=replace(H200.chip, sms=sms), l2=replace(H200.l2, capacity_bytes=cache))
    return dealt(kernel, replace(piece.cost, predicted_us=us, blocks=16 * 32), gpu)


def test_longest_blocks_first_and_evenly(causal):
    # 64 trips for each of 132 programs. Short kernels are not worth a counter; long ones are.
    assert causal_blocks(causal, 100).uneven < 1.01
    assert not causal_blocks(causal, 100).drawn
    assert causal_blocks(causal, 5000).drawn
    assert causal_blocks(causal, 5000).uneven < 1.01


def test_what_is_read_side_by_side_is_cached(causal):
    # Dealt out, whole rows of 32 blocks are taken back by the next round, and all rows abreast come out more even;
    # without a cache every round reads the rows anew, which matters the less the longer the work takes.
    assert causal_blocks(causal, 20).abreast == 16
    assert (causal_blocks(causal, 20, cache=1).abreast, causal_blocks(causal, 20, cache=1).programs) == (1, 128)
    assert causal_blocks(causal, 60, cache=1).abreast == 16


def test_loops_that_never_run_and_blocks_that_are_few_are_dealt_out():
    q, x, d = nq.axes("q x d", q=2048, x=2048, d=128)
    Q, K, V, first = nq.array("Q", q, d), nq.array("K", x, d), nq.array("V", x, d), nq.array("first", q, dtype="int32")
    for seen in (nq.index(x) + 3000 <= nq.index(q), (first <= nq.index(x)) & nq.causal(q, x)):
        scores = nq.masked(nq.sum(Q * K, d), seen)
        plan = derive(nq.sum(nq.softmax(scores, x) * V, x), dtype="bfloat16").plan
        assert not any(kernel.workers and kernel.workers.drawn for kernel in plan.kernels)


@pytest.mark.parametrize("programs", [1, 3, 7, 64])
def test_blocks_drawn_and_dealt_out_end_as_counted(programs):
    order = [float(7 * i % 11 + 1) for i in range(50)]
    free = [0.0] * programs
    for length in order:
        free[free.index(min(free))] += length
    assert _drawn(order, programs) == max(free)
    loads = [0.0] * programs
    for number, length in enumerate(order):
        turn, at = divmod(number, programs)
        loads[programs - 1 - at if turn % 2 else at] += length
    assert _longest(order, programs) == pytest.approx(max(loads))


def test_names_of_axes_do_not_decide_what_warps_can_share(causal):
    # The bounds of a loop over keys were called as the maximum over an axis named n is, and no groups could share it.
    h, t, n, m, o = nq.axes("h t n m o", h=16, t=4096, n=4096, m=128, o=128)
    q, k, v = nq.array("q", h, t, m), nq.array("k", h, n, m), nq.array("v", h, n, o)
    scores = nq.where(nq.index(n) <= nq.index(t), nq.sum(q * k, m) * 128**-0.5, -math.inf)
    (piece,) = derive(nq.Diagram("named", (("out", nq.sum(nq.softmax(scores, n) * v, n)),))).tiled
    assert piece.cost.workers
    assert piece.cost.predicted_us < causal.tiled[0].cost.predicted_us


def test_registers_are_those_alive_together():
    (kernel,) = plans.matmul("bf16", (256, 256, 256), (128, 256, 64)).plan.kernels
    use = footprint(specialised(kernel))
    lanes = {c.name: c.tile for c in kernel.coords}
    assert use is not None
    assert 128 <= registers(use, lanes, "m") <= 160  # 64 by 256 sums in 128 threads, and little else
    assert priced(profile(kernel), use, {}, 3, H200) is not None
    assert priced(profile(kernel), use, {}, 5, H200) is None  # five buffers of 48 KiB
    assert footprint(general(plans.softmax_row("bf16").plan.kernels[0])) is None
