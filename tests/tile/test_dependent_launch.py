"""A kernel that may start while the ones before it run: what it does before it waits, in its plan, its text and its
machine code.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.frontend.gallery import diagram
from napkin_eq.lang.axis import Axis
from napkin_eq.machine import dependent_launch as succession
from napkin_eq.machine.plan_passes import PASSES, decided
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.tile.compile_ahead import compile_report
from napkin_eq.tile.ir import Buffer, Coord, Evictions, Kernel, Load, Plan, Stmt, StoreTile, Turn
from napkin_eq.tile.printers import emit
from napkin_eq.verify.index.prove_index import answered, masks_of, proved, queries
from tests.plans import bounded, f32, let, matmul, softmax_stream

X = Axis("x", 1000)
A, B, S, OUT = (Buffer(name, (X,), "f32") for name in ("A", "B", "S", "out"))


def kernel(name: str, reads: tuple[Buffer, ...], writes: Buffer) -> Kernel:
    """One that adds up what it reads, in that order."""
    loads = tuple(Load(f32(b.name.lower(), "x"), b.name, ("xs",), ("x_in",)) for b in reads)
    sums: tuple[Stmt, ...] = tuple(
        let(f32(f"t{i}", "x"), "add", f"t{i - 1}" if i else 0.0, b.name.lower()) for i, b in enumerate(reads)
    )
    body = (*bounded("x", X), *loads, *sums, StoreTile(writes.name, ("xs",), f"t{len(reads) - 1}", ("x_in",)))
    return Kernel(name, reads, (writes,), (Coord("x", X, 256, "group"),), ("x",), body)


CHAIN = Plan("chain", (A, B), (OUT,), (kernel("first", (A,), S), kernel("second", (B, S), OUT)))


def turns(plan: Plan) -> dict[str, Turn]:
    """Each kernel's turn, by the kernel's name, as a plan just put together has it."""
    return {k.name: k.turn for k in succession.dependent_launch(plan).kernels}


def touched(plan: Plan, name: str) -> list[str]:
    """What a kernel of a plan reads and writes before it waits, in order."""
    (body,) = (k.body for k in plan.kernels if k.name == name)
    waits = turns(plan)[name].waits
    return [s.buffer for s in body[:waits] if isinstance(s, (Load, StoreTile))]


def test_it_waits_as_late_as_what_it_reads_allows():
    assert touched(CHAIN, "second") == ["B"]
    assert turns(CHAIN)["first"] == Turn(leads=True, waits=None)
    alone = replace(CHAIN, kernels=(kernel("only", (A,), OUT),))
    assert turns(alone)["only"].alone and "CHAINED" not in emit(alone, "triton")


def test_one_that_reads_inputs_alone_waits_before_it_writes():
    plan = replace(CHAIN, kernels=(*CHAIN.kernels[:1], kernel("second", (A, B), OUT)))
    assert touched(plan, "second") == ["A", "B"]


def test_one_with_a_loop_is_launched_when_the_others_have_ended():
    """Whole blocks of a softmax kernel, then one that streams: that one is not launched ahead, and the next is, behind
    it.
    """
    streams = softmax_stream().plan.kernels[0]
    plan = replace(CHAIN, kernels=(CHAIN.kernels[0], streams, kernel("last", (B, S), OUT)))
    assert [(turn.leads, turn.waits is not None) for turn in turns(plan).values()] == [
        (False, False),
        (True, False),
        (False, True),
    ]


@pytest.mark.parametrize(("stages", "early"), [(3, False), (4, True)])
def test_unless_a_block_of_it_fills_a_processor(stages, early):
    """Operands of 32 KiB a trip: three trips of them fit twice into the 228 KiB of a processor, four do not."""
    product = matmul("f16", (256, 256, 256), (128, 128, 64), False, warps=8, stages=stages).plan.kernels[0]
    plan = replace(CHAIN, kernels=(CHAIN.kernels[0], product))
    assert (turns(plan)[product.name].waits is not None) == turns(plan)["first"].leads == early


def test_the_merge_of_a_split_sum_waits_before_it_reads():
    m, n, k = nq.axes("m n k", m=64, n=64, k=32768)
    plan = nq.derive(nq.sum(nq.array("A", m, k) * nq.array("B", k, n), k), dtype="float16").plan
    assert len(plan.kernels) == 2
    assert turns(plan)[plan.kernels[1].name].waits is not None and touched(plan, plan.kernels[1].name) == []


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_the_machine_code_waits_where_the_plan_does(arch):
    pytest.importorskip("triton")
    first, second = compile_report(emit(decided(CHAIN), "triton"), arch)
    assert first["waits"] == 0
    assert second["waits"] == (arch == "sm_90")
    # A masked tile of 256 lanes, two for each of 128 threads: two loads of B come first, and no store.
    assert (0 < second["early_loads"] <= 2) == (arch == "sm_90")
    assert second["early_stores"] == 0


def test_a_wait_that_comes_too_late_shows(monkeypatch):
    """The negative control: what is measured above tells a kernel that waits for nothing from one that waits."""
    pytest.importorskip("triton")
    right = compile_report(emit(decided(CHAIN), "triton"), "sm_90")[1]
    monkeypatch.setattr(succession, "_first", lambda body, inputs: len(body) - 1)
    late = compile_report(emit(decided(CHAIN), "triton"), "sm_90")[1]
    assert late["early_loads"] > right["early_loads"]


def scaled_rows(f: int = 4096, d: int = 4096) -> Plan:
    """Rows scaled by one kernel, and their product with a matrix by the next."""
    return nq.derive(diagram("rmsnorm_linear", t=16, d=d, f=f), dtype="bfloat16").plan


def test_before_it_waits_a_kernel_asks_for_the_first_block_of_what_is_an_input():
    plan = scaled_rows()
    (turn,) = [t for t in turns(plan).values() if t.asks]
    assert [load.buffer for load in turn.asks] == ["W"]
    kernel = plan.kernels[-1]
    source = emit(plan, "triton")
    (pointers,) = re.findall(r"ask_for\(W_ptr \+ (.*)\)", source)
    tiles = {c.name: c.tile for c in kernel.coords}
    known = {
        name: int(text)
        for name, text in re.findall(r"(BLOCK_\w+): tl.constexpr = (\d+)", source.split("def kernel_1", 1)[1])
    }
    start = 5 * tiles["f"]
    columns = start + np.arange(tiles["f"])
    asked = eval(pointers, {"tl": np, "f_start": start, "f_at": columns, **known})
    lines = {*((np.arange(tiles["d__s"])[:, None] * 4096 + columns).ravel() * 2 // 128)}
    assert [d.name for d in kernel.buffer("W").dims] == ["d", "f"]
    assert {*(asked.ravel() * 2 // 128)} == lines and asked.size == len(lines)


@pytest.mark.parametrize("sizes", [{"f": 4090}, {"d": 4090}])
def test_it_asks_for_nothing_where_a_lane_may_lie_outside(sizes):
    assert not any(turn.asks for turn in turns(scaled_rows(**sizes)).values())


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_the_machine_code_asks_before_it_waits(arch):
    pytest.importorskip("triton")
    rows = compile_report(emit(scaled_rows(), "triton"), arch)
    assert [row["early_asks"] > 0 for row in rows] == [False, arch == "sm_90"]


@pytest.fixture(scope="module")
def decoded() -> Derivation:
    """Rows scaled by one kernel, and their product with a matrix by groups of warps that share one."""
    d, f, b = nq.axes("d f b", d=4096, f=14336, b=16)
    scaled = nq.rms_norm(nq.array("X", b, d), d, nq.array("G", d))
    found = nq.derive(nq.linear(scaled, nq.array("W", d, f), d), "h200")
    assert [kernel.workers is not None for kernel in found.plan.kernels] == [False, True]
    return found


def functions(source: str) -> dict[str, str]:
    """The functions of a text by what their names end in."""
    found = re.findall(r"^def kernel_1_kernel(\w*)\((.*?)(?=^@|^# )", source, re.MULTILINE | re.DOTALL)
    return {name or "entry": text for name, text in found}


def test_a_warp_copies_inputs_before_the_others_wait(decoded):
    """What it fills together with the warp that waits is full when both have said what they bring."""
    first, second = decoded.plan.kernels
    assert first.turn == Turn(leads=True) and second.turn.waits == 0
    assert [load.buffer for load in second.turn.asks] == ["W"]
    printed = functions(decoded.code())
    boxes = {side: {*re.findall(r"copy_global_to_shared\((\w+)_box", text)} for side, text in printed.items()}
    (scaled,) = boxes["_copy"]
    assert boxes["_ahead"] == {"W"} and scaled != "W" and not boxes["_compute"]
    assert {side for side, text in printed.items() if "gdc_wait()" in text} == {"_copy", "_compute"}
    said = {side: re.findall(r"mbarrier.expect\(.*, (\d+)\)", text) for side, text in printed.items()}
    brought = [int(number) for side in ("_ahead", "_copy") for number in said[side]]
    tiles = {c.name: c.tile for c in second.coords}
    assert brought == [2 * tiles["d__s"] * tiles["f"], 2 * tiles["d__s"] * 16]
    assert re.findall(r"_full.index\(slot\), count=(\d)\)", printed["entry"]) == ["2"]


def test_none_copies_ahead_where_programs_take_blocks_in_turn_or_need_to_know_more():
    """A product of many rows has more blocks than a GPU has processors; and nothing is an input of it that another
    kernel made.
    """
    d, f, b = nq.axes("d f b", d=4096, f=14336, b=4096)
    scaled = nq.rms_norm(nq.array("X", b, d), d, nq.array("G", d))
    plan = nq.derive(nq.linear(scaled, nq.array("W", d, f), d), "h200").plan
    assert plan.kernels[-1].workers is not None and not any(kernel.turn.asks for kernel in plan.kernels)
    assert "_ahead" not in emit(plan, "gluon")


def test_every_block_is_proved_to_come_to_the_same_program_on_all_sides(decoded):
    assert proved(decoded).verdict == "proved"
    kernel, source = decoded.plan.kernels[1], decoded.code()
    last = masks_of(decoded.outputs[0].placed.stores[-1])
    for side in ("_ahead", "_copy", "_compute"):
        head, rest = source.split(f"def kernel_1_kernel{side}(", 1)
        other = rest.replace("f_start = tile * 128", "f_start = (blocks - 1 - tile) * 128", 1)
        wrong = f"{head}def kernel_1_kernel{side}({other}"
        assert answered(queries(kernel, last, wrong)).verdict == "refuted"


def test_a_kernel_of_two_copying_warps_is_compiled(decoded):
    pytest.importorskip("triton")
    row = compile_report(decoded.code(), "sm_90")[1]
    assert row["spills_bytes"] == 0 and row["bulk_copies"] > 0
    assert row["waits"] == 3  # one of the warp that copies what was computed, one of each group


def test_values_are_the_same_where_nothing_is_launched_ahead(tmp_path):
    torch = pytest.importorskip("torch")
    pytest.importorskip("triton")
    from tests.codegen.test_triton import DEVICE, loaded

    a, b = torch.randn(1000, device=DEVICE), torch.randn(1000, device=DEVICE)
    assert torch.equal(loaded(emit(decided(CHAIN), "triton"), tmp_path).run(a, b), a + b)


def test_a_file_of_two_kernels(golden):
    golden("chain.py", emit(decided(CHAIN), "triton"))
    golden("chain.txt", emit(decided(CHAIN), "pseudocode"))


def test_the_passes_are_one_list_and_printers_print_what_they_decided():
    """Every decision is a field of the plan: what no pass has decided, no text has."""
    assert PASSES._fields == ("cache_hints", "dependent_launch")
    stream = softmax_stream().plan
    for plan, words in ((CHAIN, ("gdc_wait", "CHAINED")), (stream, ("evict_first", "evict_last"))):
        made = decided(plan)
        for word in words:
            assert word in emit(made, "triton") and word not in emit(plan, "triton")
        assert decided(made) == made
        bare = replace(made, kernels=tuple(replace(k, turn=Turn(), evictions=Evictions()) for k in made.kernels))
        assert bare == plan
