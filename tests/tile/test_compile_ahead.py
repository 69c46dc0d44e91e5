"""Emitted kernels compile ahead of time for three generations of GPU: no spills, within shared memory, on the matrix
units.
"""

from __future__ import annotations

from typing import Any

import pytest

from napkin_eq.lang.errors import NapkinError
from napkin_eq.tile.compile_ahead import ARCHS, _in_loops, compile_report
from napkin_eq.tile.printers import emit
from tests import plans

pytest.importorskip("triton")

SMEM = {"sm_80": 166912, "sm_90": 232448, "sm_100": 232448}
MATRIX = {"sm_80": "mma", "sm_90": "wgmma", "sm_100": "tcgen05"}


def report_of(case: plans.Case, *archs: str, aligned: bool = False) -> list[dict[str, Any]]:
    report = compile_report(emit(case.plan), *archs, aligned=aligned)
    for row in report:
        assert row["spills_bytes"] == 0, row
        assert 0 < row["registers"] <= 255, row
        assert row["smem_bytes"] <= SMEM[row["arch"]], row
    return report


def test_a_row_kernel_compiles():
    (row,) = report_of(plans.softmax_row("bf16"), "sm_90")
    assert (row["kernel"], row["warps"], row["tensor_core"], row["tensor_core_instructions"]) == (
        "softmax_row_kernel",
        4,
        "",
        0,
    )


def test_pytorch_is_loaded_only_by_a_file_that_asks_for_more_of_it_than_names():
    source = emit(plans.softmax_row("bf16").plan)
    found = compile_report(f"{source}\nimport sys\nassert 'torch._C' not in sys.modules and torch.int8\n", "sm_90")
    assert found == compile_report(f"{source}\nassert torch.zeros(2).sum() == 0\n", "sm_90")
    with pytest.raises(NapkinError, match="does not compile: AssertionError"):
        compile_report(f"{source}\nassert torch.zeros(2).sum() == 1\n", "sm_90")


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "symbolic"), [("f16", False), ("bf16", False), ("bf16", True)])
def test_a_matmul_runs_on_the_matrix_units(dtype, symbolic):
    case = plans.matmul(dtype, (4096, 4096, 4096), (128, 128, 64), symbolic, warps=8, stages=3)
    for row in report_of(case, aligned=symbolic):
        assert row["tensor_core"] == MATRIX[row["arch"]], row
        assert row["tensor_core_instructions"] > 0
        # More than one stage of the operands in shared memory: the loop is pipelined.
        assert row["smem_bytes"] >= 2 * (128 + 128) * 64 * 2


@pytest.mark.slow
@pytest.mark.parametrize("symbolic", [False, True], ids=["concrete", "symbolic"])
def test_attention_runs_on_the_matrix_units(symbolic):
    case = plans.attention("bf16", (1024, 1024), 64, 8, 2, (128, 64), symbolic, warps=8, stages=3)
    for row in report_of(case):
        assert row["tensor_core"] == MATRIX[row["arch"]], row


@pytest.mark.slow
@pytest.mark.parametrize("name", ["operators", "integers", "coordinates", "masks", "gather", "softmax_stream"])
def test_the_rest_compiles(name):
    case = plans.FLOAT_CASES[name]("bf16") if name in plans.FLOAT_CASES else getattr(plans, name)()
    assert {row["arch"] for row in report_of(case)} == set(ARCHS)


def test_what_does_not_compile_says_so(tmp_path):
    with pytest.raises(NapkinError, match="unknown architecture 'sm_70'; one of sm_80, sm_90, sm_100"):
        compile_report("", "sm_70")
    with pytest.raises(NapkinError, match=r"absent.py' is no file"):
        compile_report(tmp_path / "absent.py")
    with pytest.raises(NapkinError, match=r"emitted.py does not compile: .*frobnicate"):
        compile_report(emit(plans.gather().plan).replace("tl.maximum", "tl.frobnicate"), "sm_90")


LOOP = """LBB0:
--:-:-:Y:1\tHGMMA.64x64x16.F32.BF16 R56, gdesc[UR4], R56;
--:-:-:Y:1\tLDL.64 R4, [R1];
--:-:-:Y:1\t@P0 BRA LBB0;
"""


def test_spills_are_told_apart_by_whether_loops_move_them():
    before = "--:-:-:Y:1\tSTL [R1], R4;\n"
    copies = LOOP.replace("HGMMA.64x64x16.F32.BF16 R56, gdesc[UR4], R56", "UTMALDG.2D [UR8], [UR4]")
    beside = copies.replace("LBB0", "LBB1")
    assert _in_loops(before + LOOP, 12) == 8
    assert _in_loops(before + LOOP.replace("LDL.64 R4, [R1]", "FADD R4, R4, R5") + beside, 12) == 0
    assert _in_loops(before, 12) == 12  # without a loop all of it counts
