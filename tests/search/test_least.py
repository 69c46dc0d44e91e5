"""A kernel's least time: below what the cost model says of every kernel of a plan, and near it where bytes or
contractions decide.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

from napkin_eq.cover.bounds import least_us
from napkin_eq.frontend import gallery
from napkin_eq.frontend import library as nq
from napkin_eq.lang.term import Index, Read, Term
from napkin_eq.machine import gpu as hardware
from napkin_eq.machine.cost import extent
from napkin_eq.pipeline.derive import derive
from napkin_eq.pipeline.top_k import _lowering
from napkin_eq.search.job import prover
from napkin_eq.search.least import Least
from napkin_eq.search.placement import Placer
from napkin_eq.search.tiling import LowerKernel, _misfit, solve
from napkin_eq.tile.ir import Buffer, Kernel
from napkin_eq.tile.stream_facts import modes_of

MACHINE = hardware.load("h200")


@pytest.mark.parametrize("name, sizes, dtype", [
    ("softmax", {}, "bfloat16"), ("softmax", {}, "float32"),
    ("matmul", {"m": 1024, "n": 512}, "bfloat16"), ("matmul", {"m": 1024, "n": 512}, "float32"),
    ("matmul", {"m": 16, "n": 64, "k": 65536}, "float32"), ("variance", {"t": 64}, "bfloat16"),
    ("causal_attention", {"q": 256, "x": 256, "h": 2}, "bfloat16"),
    ("attention", {"q": 1, "x": 8192, "h": 4}, "float32"), ("rmsnorm_linear", {}, "bfloat16"),
])  # fmt: skip
def test_no_kernel_of_a_plan_is_priced_below_its_least_time(name: str, sizes: dict[str, int], dtype: str) -> None:
    plan = derive(gallery.diagram(name, **sizes), dtype=dtype).outputs[0].placed
    arrays = dict(plan.arrays)
    storage = {"bfloat16": "bf16", "float32": "f32"}[dtype]
    for store, tiled in zip(plan.stores, plan.tiled, strict=True):
        least = Least(
            modes_of(store)[1],
            tiled.kernel.writes,
            {t: b for t, b in arrays.items() if t is not store},
            storage,
            MACHINE,
        )
        merged = {axis for axis, _ in tiled.kernel.merged}
        programs = [coord for coord in map(tiled.kernel.coord, tiled.kernel.grid) if coord.axis not in merged]
        blocks = {coord.name: -(-extent(coord.axis) // coord.tile) for coord in programs}
        assert 0 < least.us() <= least.us(blocks) <= tiled.cost.predicted_us


def _least(value: Term, storage: str = "bf16") -> float:
    return Least(value, (Buffer("out", value.axes, storage),), {}, storage, MACHINE).us()


def test_bytes_and_contractions_that_must_be_are_counted() -> None:
    m, n, k = nq.axes("m n k", m=4096, n=4096, k=4096)
    a, b = nq.array("A", m, k), nq.array("B", k, n)
    product = nq.matmul(a, b, k)
    assert _least(product) > 2 * 4096**3 / MACHINE.flops("bfloat16") * 1e6  # no contraction is faster than the peak
    assert _least(a + 1.0) > 2 * 2 * 4096**2 / MACHINE.hbm.copy_bandwidth / 1.2 * 1e6  # read and written
    assert _least(a + 1.0, "f32") > 1.7 * (_least(a + 1.0) - MACHINE.chip.launch_s * 1e6)


def test_what_masks_and_computed_coordinates_may_leave_out_counts_nothing() -> None:
    m, k = nq.axes("m k", m=4096, k=4096)
    places = nq.array("places", m, dtype="int32")
    rows = nq.array("A", k)
    assert _least(Read(rows, k, places)) == pytest.approx(_least(nq.array("B", m, dtype="int32") * 1.0), rel=0.2)
    whole, window = (nq.sum(nq.array("A", m, k), k, where=where) for where in (None, nq.window(m, k, 3)))
    assert _least(window) < _least(whole)
    assert math.isclose(_least(window), _least(nq.sum(nq.array("A", m, k), k, where=Index(k) <= Index(m))))


@pytest.mark.parametrize(
    "name, sizes",
    [("matmul", {"m": 1024, "n": 512}), ("attention", {"q": 512, "x": 512, "h": 2}), ("rms_norm", {"t": 64})],
)
def test_tilings_that_are_not_lowered_change_nothing(name: str, sizes: dict[str, int]) -> None:
    derivation = derive(gallery.diagram(name, **sizes))
    output = derivation.outputs[0]
    for placed, tiled in zip(output.placed.stores, output.placed.tiled, strict=True):
        made = output.placed.lowered(placed, prover(derivation.statements))
        store, (roles, value), lower = made.store, modes_of(made.store), _lowering(derivation, output, placed)
        lowered: list[int] = []

        def counted(tiles: Mapping[str, int], lower: LowerKernel = lower, lowered: list[int] = lowered) -> Kernel:
            lowered.append(1)
            return lower(tiles)

        least = Least(value, tiled.kernel.writes, made.arrays, "bf16", MACHINE)
        every = solve(store, roles, counted, MACHINE, keep=3, printer="auto")
        before, few = len(lowered), solve(store, roles, counted, MACHINE, keep=3, printer="auto", least=least.us)
        assert [(t.kernel, t.cost) for t in few] == [(t.kernel, t.cost) for t in every]
        assert len(lowered) - before <= before
        assert solve(store, roles, lower, MACHINE, least=least.us, limit=least.us() / 2) == []


@pytest.mark.parametrize("printer", ["triton", "auto"])
def test_tiles_are_those_priced_in_time(printer: str) -> None:
    derivation = derive(gallery.diagram("matmul", m=1024, n=512))
    (output,) = derivation.outputs
    store = output.placed.lowered(output.placed.stores[-1], prover(derivation.statements)).store
    roles, lower = modes_of(store)[0], _lowering(derivation, output, output.placed.stores[-1])
    (best,) = solve(store, roles, lower, MACHINE, printer=printer)
    (first,) = solve(store, roles, lower, MACHINE, printer=printer, over=lambda priced: priced)
    assert first.cost.predicted_us >= best.cost.predicted_us and first.tried < best.tried
    assert solve(store, roles, lower, MACHINE, printer=printer, over=lambda priced: True) == []


def test_a_least_time_that_a_tiling_is_below_leaves_no_other_out() -> None:
    (a,) = nq.axes("a", a=1 << 20)
    array = nq.array("A", a)
    derivation = derive(array * 2.0)
    (output,) = derivation.outputs
    store, roles = output.placed.stores[-1], modes_of(output.placed.stores[-1])[0]
    lower = _lowering(derivation, output, store)
    (best,) = solve(store, roles, lower, MACHINE)
    # The more blocks the longer it is said to take, as where an array of the term is none of the kernel's
    (found,) = solve(store, roles, lower, MACHINE, least=lambda blocks: 1e3 / (1 + sum(blocks.values())) + 1e3)
    assert found.cost == best.cost


def test_by_another_name_an_array_is_read_along_that_axis() -> None:
    i, j, d = nq.axes("i j d", i=65536, j=65536, d=64)
    rows, others = nq.array("A", i, d), nq.array("B", j, d)
    named, plain = (nq.sum(rows * other, d) for other in (nq.rename(others, {j: i}), nq.array("B", i, d)))
    times = [
        Least(value, (Buffer("out", (i,), "bf16"),), {}, "bf16", MACHINE).us({"i": 4096}) for value in (named, plain)
    ]
    assert times[0] == times[1]
    assert least_us([("out", named)], "bfloat16", MACHINE) == least_us([("out", plain)], "bfloat16", MACHINE)
    (tiled,) = derive(named).tiled
    # A row whole, as of one array
    assert tiled.kernel.coord("i").tile < 128 and "stream" not in {c.role for c in tiled.kernel.coords}


def test_what_masks_leave_out_counts_in_what_a_whole_diagram_takes_at_the_least() -> None:
    (_, cross), (_, plain) = (
        *gallery.diagram("causal_cross_attention").outputs,
        *gallery.diagram("cross_attention").outputs,
    )
    assert least_us([("out", cross)], "bfloat16", MACHINE) == least_us([("out", plain)], "bfloat16", MACHINE)


def test_tilings_that_a_sample_shows_to_be_hopeless_are_not_priced_to_the_end() -> None:
    derivation = derive(gallery.diagram("layer_norm"))
    (output,) = derivation.outputs
    store, roles = output.placed.stores[-1], modes_of(output.placed.stores[-1])[0]
    lower = _lowering(derivation, output, store)
    (best,) = solve(store, roles, lower, MACHINE)
    lowered: list[int] = []

    def counted(tiles: Mapping[str, int]) -> Kernel:
        lowered.append(1)
        return lower(tiles)

    assert solve(store, roles, counted, MACHINE, limit=best.cost.predicted_us / 10) == []
    few = len(lowered)
    solve(store, roles, counted, MACHINE, limit=best.cost.predicted_us / 2)
    assert few < len(lowered) - few


def test_a_kernel_is_priced_once_in_a_derivation(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[int] = []
    search = Placer._search

    def counted(placer: Placer, *arguments: Any) -> None:
        found.append(1)
        search(placer, *arguments)

    monkeypatch.setattr(Placer, "_search", counted)
    code = derive(gallery.diagram("linear_cross_entropy")).code()
    once = len(found)
    monkeypatch.setattr(Placer, "_known", lambda placer, key: False)
    assert derive(gallery.diagram("linear_cross_entropy")).code() == code and once < len(found) - once


def test_an_axis_that_no_tile_is_left_for_is_told():
    assert _misfit([], {"i": [16], "~j": []}, hardware.load("h200")).endswith(": none is left for j")
