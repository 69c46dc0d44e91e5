"""Kernels whose warps share the work: the rearranged plan computes the same, compiles for Hopper without a GPU, and
what cannot be printed says why.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.operators import OPS
from napkin_eq.machine.plan_passes import decided
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.pipeline.derive import derive
from napkin_eq.tile.boxes import rings, roles_of
from napkin_eq.tile.ir import Await, Dot, Kernel, Let, Load, Loop, Plan, ReduceTile, ScanTile, statements
from napkin_eq.tile.passes.warp_roles import LACKING, assigned
from napkin_eq.tile.passes.warp_specialize import specialised
from napkin_eq.tile.printers import emit, targets
from napkin_eq.tile.verify_ir import MACHINE_OPS
from napkin_eq.verify.index.prove_index import proved
from tests import plans


def general(kernel: Kernel) -> Kernel:
    """Say of the last part of each loop, which masks all it reads, that it is right for every block."""
    body = tuple(
        replace(s, parts=(*s.parts[:-1], replace(s.parts[-1], general=True))) if isinstance(s, Loop) else s
        for s in kernel.body
    )
    return replace(kernel, body=body)


def shared(case: plans.Case) -> Plan:
    return replace(case.plan, kernels=tuple(specialised(general(k)) for k in case.plan.kernels))


def planned(case: plans.Case) -> Plan:
    """Return a case's plan as groups of warps share it, with everything decided that is printed."""
    plan = shared(case)
    return replace(plan, kernels=tuple(map(assigned, plan.kernels)))


def two_contractions(dtype: str = "f32", lengths: tuple[int, int] = (150, 200), head: int = 16) -> plans.Case:
    return plans.attention(dtype, lengths, head, heads=2, tiles=(128, 64), symbolic=False)


@pytest.mark.parametrize("lengths", [(150, 200), (128, 64), (200, 40)])
def test_a_contraction_put_off_to_the_next_block_changes_nothing(lengths):
    case = two_contractions(lengths=lengths)
    plan = shared(case)
    loop = next(s for s in plan.kernels[0].body if isinstance(s, Loop))
    assert [part.once for part in loop.parts] == [True, False, False, True]
    found = emit(plan, "numpy")(case.arrays)
    for name, wanted in case.wanted.items():
        assert np.abs(found[name] - wanted).max() < 1e-12


def test_sums_of_contractions_wait_for_the_block_before():
    case = plans.matmul(sizes=(200, 90, 70), tiles=(128, 32, 16))
    plan = shared(case)
    stmts = list(statements(plan.kernels[0].body))
    assert [s.pending for s in stmts if isinstance(s, Await)] == [1, 0]
    assert all(s.issued for s in stmts if isinstance(s, Dot))
    assert np.abs(emit(plan, "numpy")(case.arrays)["C"] - case.wanted["C"]).max() < 1e-11


def test_without_a_general_part_nothing_is_put_off():
    case = two_contractions()
    kernel = specialised(case.plan.kernels[0])
    assert not any(isinstance(s, Await) for s in statements(kernel.body))


def test_rings_hold_what_contractions_read():
    kernel = planned(two_contractions("bf16", (256, 256), 64)).kernels[0]
    assert [(tuple(c.buffer.name for c in r.copies), r.depth, r.bytes(2)) for r in rings(kernel)] == [
        (("Q",), 1, 128 * 64 * 2),
        (("K",), 2, 64 * 64 * 2),
        (("V",), 2, 64 * 64 * 2),
    ]


def test_a_maximum_is_taken_before_the_tile_is_scaled_and_is_the_same_number():
    case = two_contractions("f16")
    plan = shared(case)
    plain = [s for s in statements(plan.kernels[0].body) if isinstance(s, ReduceTile) and s.monoid == "max"]
    assert any(s.out.name.endswith("_plain") for s in plain)
    before, after = (emit(q, "numpy")(case.arrays, emulate=True) for q in (case.plan, plan))
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_lanes_are_left_out_before_the_tile_is_scaled_and_two_factors_become_one():
    case = two_contractions(lengths=(150, 200))
    plan = shared(case)
    masked = [
        s
        for s in statements(plan.kernels[0].body)
        if isinstance(s, Let) and s.op == "where" and s.args[2] == float("-inf") and len(s.out.coords) > 1
    ]
    dots = {s.out.name for s in statements(plan.kernels[0].body) if isinstance(s, Dot)}
    assert masked
    assert all(s.args[1] in dots for s in masked)
    assert np.abs(emit(plan, "numpy")(case.arrays)["O"] - case.wanted["O"]).max() < 1e-12


@pytest.mark.parametrize("abreast", [1, 2, 3, 8])
def test_every_block_is_dealt_once_longest_first(abreast):
    case = plans.attention("bf16", (500, 500), 64, heads=6, tiles=(128, 64), symbolic=False)
    kernel = assigned(specialised(general(case.plan.kernels[0])))
    assert kernel.workers is not None
    kernel = replace(kernel, workers=replace(kernel.workers, abreast=abreast))
    text = emit(replace(case.plan, kernels=(kernel,)), "gluon")
    lines = text.split("_copy(", 1)[1].splitlines()
    start = next(i for i, line in enumerate(lines) if " tile = " in line)
    end = next(i for i, line in enumerate(lines) if "mbarrier.wait" in line)
    body = "\n".join(line.strip() for line in lines[start + 1 : end]).replace("gl.minimum", "min")
    seen = []
    for tile in range(24):
        scope = {"tile": tile}
        exec(compile(body, "decode", "exec"), scope)
        seen.append((scope["h"], scope["q_start"]))
    assert sorted(seen) == [(h, q) for h in range(6) for q in range(0, 512, 128)]
    for first in range(0, 6, abreast):
        rows = [q for h, q in seen if first <= h < first + abreast]
        assert rows == sorted(rows, reverse=True) if abreast > 1 else rows == [384, 256, 128, 0]


def test_what_cannot_be_shared_says_why():
    with pytest.raises(NapkinError, match="softmax_row: it has no contraction on the matrix unit"):
        specialised(plans.softmax_row("bf16").plan.kernels[0])
    with pytest.raises(NapkinError, match="64 to 192 lanes of it; found m by 32, n by 32"):
        specialised(plans.matmul("bf16").plan.kernels[0])
    with pytest.raises(NapkinError, match="cannot move the tile of A: its elements are f32, expected 16 bits"):
        planned(plans.matmul("f32", (256, 256, 256), (128, 64, 64)))
    with pytest.raises(NapkinError, match="cannot move the tile of A: the stride of m is no multiple of 16 bytes"):
        planned(plans.matmul("bf16", (256, 256, 250), (128, 64, 64)))
    with pytest.raises(NapkinError, match="not decided who does what"):
        emit(shared(plans.matmul("bf16", (256, 256, 256), (128, 64, 64))), "gluon")
    with pytest.raises(NapkinError, match="no workers are named"):
        emit(plans.matmul("bf16").plan, "gluon")


def test_the_gluon_source_is_what_was_read(golden):
    plan = decided(planned(two_contractions("bf16", (256, 256), 64)))
    golden("shared.py", emit(plan, "gluon"))
    golden("shared.txt", emit(plan, "pseudocode"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two", "sum"])
def test_shared_kernels_compile_for_hopper(name):
    pytest.importorskip("triton")
    from napkin_eq.tile.compile_ahead import compile_report

    case = (
        two_contractions("bf16", (256, 256), 64)
        if name == "two"
        else plans.matmul("bf16", (256, 256, 256), (128, 128, 64), stages=3)
    )
    (row,) = compile_report(emit(planned(case), "gluon"), "sm_90")
    assert (row["spills_bytes"], row["tensor_core"], row["warnings"], row["warps"]) == (0, "wgmma", [], 12)
    assert row["bulk_copies"] > 0
    assert row["smem_bytes"] <= 232448


@pytest.mark.slow
def test_drawn_blocks_and_packed_operands_compile_for_hopper():
    """A loop that carries operands of contractions narrowed two at a time puts no halves of registers together."""
    pytest.importorskip("triton")
    from napkin_eq.tile.compile_ahead import compile_report

    kernel = assigned(
        specialised(
            general(plans.attention("bf16", (512, 512), 64, heads=2, tiles=(128, 64), symbolic=False).plan.kernels[0])
        )
    )
    assert kernel.workers is not None
    kernel = replace(kernel, workers=replace(kernel.workers, abreast=2, drawn=True))
    source = emit(Plan("drawn", kernel.reads, kernel.writes, (kernel,)), "gluon")
    (row,) = compile_report(source, "sm_90")
    assert (row["spills_bytes"], row["tensor_core"], row["warnings"]) == (0, "wgmma", [])
    assert source.count("narrow_bf16(") > 2
    assert "torch.zeros((1, 4), dtype=torch.int32" in source


@pytest.fixture(scope="module")
def by_data() -> Derivation:
    """Loops that begin at the first key that any row of the block sees, as an array says."""
    h, q, x, d = nq.axes("h q x d", h=16, q=2048, x=2048, d=128)
    Q, K, V, first = (
        nq.array("Q", h, q, d),
        nq.array("K", h, x, d),
        nq.array("V", h, x, d),
        nq.array("first", q, dtype="int32"),
    )
    scores = nq.masked(nq.sum(Q * K, d) * 0.1, (first <= nq.index(x)) & nq.causal(q, x))
    return derive(nq.sum(nq.softmax(scores, x) * V, x), dtype="bfloat16", printer="gluon")


def test_numbers_that_bound_loops_are_taken_by_both_sides_alike(by_data):
    """The warp that copies and each group of warps hold all rows of the block, whatever lanes a group computes."""
    (kernel,) = by_data.plan.kernels
    assert kernel.workers is not None
    assert kernel.workers.drawn  # which blocks are long is not known before
    assert proved(by_data).verdict == "proved"
    copying, computing = (
        by_data.code().split(f"def kernel_0_kernel_{side}(")[1].split("@gluon.jit")[0] for side in ("copy", "compute")
    )
    lines = [
        [re.sub(r", layout=.*", "", line.strip()) for line in text.splitlines() if "_all" in line]
        for text in (copying, computing)
    ]
    assert lines[0] == lines[1]
    assert any(line.startswith("max_q_part = gl.max(") for line in lines[0])
    assert [re.findall(r"\[1\], \[32\], \[(\d)\]", text) for text in (copying, computing)] == [["1"], ["4"]]
    assert "WHO" not in "".join(lines[1])


@pytest.mark.slow
def test_loops_bounded_by_data_compile_for_hopper(by_data):
    pytest.importorskip("triton")
    from napkin_eq.tile.compile_ahead import compile_report

    (row,) = compile_report(by_data.code(), "sm_90")
    assert (row["spills_bytes"], row["tensor_core"], row["warnings"]) == (0, "wgmma", [])


def test_numbers_of_rows_that_no_lanes_hold_are_refused(by_data):
    (kernel,) = by_data.plan.kernels
    wide = replace(kernel, coords=tuple(replace(c, tile=192) if c.name == "q" else c for c in kernel.coords))
    wide = replace(wide, workers=replace(kernel.workers, groups=3, ahead=1), stages=1)
    with pytest.raises(NapkinError, match="q_at is no row of a power of two of lanes"):
        assigned(wide)


def test_groups_issue_in_turn_as_one_order_says():
    kernel = assigned(
        specialised(
            general(plans.attention("bf16", (512, 512), 64, heads=2, tiles=(128, 64), symbolic=False).plan.kernels[0])
        )
    )
    assert kernel.workers is not None
    whole = emit(
        Plan("turns", kernel.reads, kernel.writes, (replace(kernel, workers=replace(kernel.workers, in_turn=True)),)),
        "gluon",
    )
    text = whole.split("_compute(")[1].split("@gluon.jit")[0]
    loops = len(re.findall(r"for x\w* in range\(", text))
    assert text.count("mbarrier.wait(order.index(WHO), (order_n & 1) ^ (1 if WHO == 0 else 0))") == loops > 0
    assert text.count("mbarrier.arrive(order.index((WHO + 1) % 2))") == text.count("order_n += 1") == loops
    # A group waits for the one before it before it issues, and lets the next one go once it has.
    shown = {"warpgroup_mma(": "m", "mbarrier.wait(order": "(", "mbarrier.arrive(order": ")"}
    inside = "".join(shown[found] for found in re.findall("|".join(map(re.escape, shown)), text))
    assert re.fullmatch(r"m*(\(mm\))+m*", inside), inside


def test_the_operators_that_such_kernels_lack_are_those_that_no_printer_writes():
    targets()
    side = sys.modules["napkin_eq.codegen.gluon.side"]
    written = {*side.INFIX, *side.CALLS, *side.ONE, "floordiv", "mod", "cast", "real"}
    lowered = {name for name, op in OPS.items() if op.written is None} | set(MACHINE_OPS)
    assert lowered - written == LACKING


def test_a_plan_decides_what_a_printer_prints(by_data):
    """The text is held against the plan: boxes, layouts, registers of each side, and which side computes what."""
    (kernel,) = by_data.plan.kernels
    roles, text = roles_of(kernel), by_data.code()
    copying, computing = (
        text.split(f"def kernel_0_kernel_{side}(")[1].split("@gluon.jit")[0] for side in ("copy", "compute")
    )
    assert set(re.findall(r"tma.async_copy_global_to_shared\((\w+)_box", copying)) == {
        c.buffer.name for _, ring in roles.rings for c in ring.copies
    }
    assert set(re.findall(r"tma.async_copy_shared_to_global\((\w+)_box", computing)) == {
        c.buffer.name for _, c in roles.stores
    }
    for side, share in ((copying, roles.copying), (computing, roles.computing)):
        assert set(re.findall(r"    (\w+)_all = ", side)) == set(share.whole)
    launch, groups, copier = roles.registers
    assert kernel.workers is not None
    assert f"[{', '.join([str(groups)] * (kernel.workers.groups - 1) + [str(copier)])}]," in text
    assert f'"maxnreg": {launch},' in text
    words = {"rows": "gl.SliceLayout(1, MATRIX_{})", "columns": "gl.SliceLayout(0, MATRIX_{})", "matrix": "MATRIX_{}"}
    allowed = {words[layout.kind].format(layout.columns) for _, layout in roles.layouts}
    found = set(re.findall(r"layout=(gl\.SliceLayout\(\d, MATRIX_\d+\)|MATRIX_\d+)", computing)) - {"gl.BlockedLayout"}
    assert found and found <= allowed


def test_scans_rounding_and_stores_of_every_group_are_refused_by_the_plan():
    kernel = planned(plans.matmul("bf16", (256, 256, 256), (128, 64, 64))).kernels[0]
    made = next(s for s in statements(kernel.body) if isinstance(s, Let) and s.op == "cast")

    def instead(stmt):
        body = tuple(stmt if s is made else s for s in kernel.body)
        assert body != kernel.body
        return replace(kernel, body=body)

    with pytest.raises(NapkinError, match="no operator 'round' in Gluon"):
        assigned(instead(replace(made, op="round")))
    with pytest.raises(NapkinError, match="ScanTile cannot be printed"):
        assigned(instead(ScanTile(made.out, "sum", made.out.coords[1], made.args[0])))


def test_columns_that_lanes_load_are_asked_for_before_the_matrix_unit_is_waited_for():
    """Of a loop of three contractions the one that is put off reads again what the first read, where it lies: groups of
    warps share it with as many buffers as fit.
    """
    h, q, x, d = nq.axes("h q x d", h=16, q=4096, x=4096, d=128)
    Q, G, K, V = (nq.array(name, h, rows, d) for name, rows in (("Q", q), ("G", q), ("K", x), ("V", x)))
    L, D = (nq.array(name, h, q, dtype="float32") for name in "LD")
    scores = nq.exp(nq.sum(Q * K, d) * d.size**-0.5 - L) * (nq.sum(G * V, d) - D)
    (kernel,) = nq.derive(nq.sum(scores * Q, q), dtype="bfloat16").plan.kernels
    assert kernel.workers is not None and kernel.stages == 3
    (loop,) = (s for s in kernel.body if isinstance(s, Loop))
    for part in (p for p in loop.parts if not p.note.startswith("the last")):
        first = next(at for at, s in enumerate(part.body) if isinstance(s, Dot))
        asked = {s.buffer for s in part.body[:first] if isinstance(s, Load)}
        assert {"L", "D"} <= asked
