"""The Triton printer: emitted files run in Triton's interpreter, read well, and refuse wrong arguments by name."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.machine.plan_passes import decided
from napkin_eq.tile.ir import Buffer, Coord, Iota, Kernel, Load, Loop, Part, Plan, Start, StoreTile
from napkin_eq.tile.printers import emit
from tests import plans

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i32": torch.int32, "i1": torch.bool}
DTYPES |= {"i64": torch.int64}
STEP = {"f32": 2.0**-20, "f16": 2.0**-8, "bf16": 2.0**-5}


def loaded(text: str, folder: Path, name: str = "emitted") -> Any:
    """Import an emitted file; Triton reads the source of a kernel from its file, so it must lie in one."""
    file = folder / f"{name}.py"
    file.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tensors(case: plans.Case) -> dict[str, Any]:
    return {b.name: torch.tensor(case.arrays[b.name]).to(DTYPES[b.dtype]).to(DEVICE) for b in case.plan.inputs}


def launched(case: plans.Case, folder: Path) -> dict[str, Any]:
    given = {**tensors(case), **{f"{name}_size": size for name, size in case.sizes.items()}}
    given |= {} if case.plan.inputs else {"device": DEVICE}
    found = loaded(emit(case.plan), folder).run(**given)
    found = found if isinstance(found, tuple) else (found,)
    return dict(zip((b.name for b in case.plan.outputs), found, strict=True))


def assert_close(case: plans.Case, found: dict[str, Any], step: float) -> None:
    for name, wanted in case.wanted.items():
        error = np.abs(found[name].to(torch.float64).cpu().numpy() - wanted).max() / np.abs(wanted).max()
        assert error < step, name


# Triton's interpreter computes bfloat16 wrongly (it multiplies raw bits): bfloat16 is for the GPU.
@pytest.mark.parametrize("dtype", ["f32", "f16"] if DEVICE == "cpu" else ["f32", "f16", "bf16"])
@pytest.mark.parametrize("name", sorted(plans.FLOAT_CASES))
def test_emitted_kernels_agree_with_float64(name, dtype, tmp_path):
    case = plans.FLOAT_CASES[name](dtype)
    assert_close(case, launched(case, tmp_path), STEP[dtype])


# Lanes past the end hold 0, whose inverse and logarithm the interpreter's NumPy warns about.
@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize(
    "case", [plans.operators(), plans.integers(), plans.coordinates(), plans.masks()], ids=lambda case: case.plan.name
)
def test_every_operator_agrees_with_float64(case, tmp_path):
    assert_close(case, launched(case, tmp_path), 2.0**-18)


@pytest.mark.parametrize("least", [0, 1])
def test_short_loops_of_single_elements_are_written_out(least, tmp_path):
    case = plans.window(least=least)
    assert_close(case, launched(case, tmp_path), 2.0**-18)
    text = emit(case.plan)
    assert text.count("tl.static_range(") == 3, "the part without a trip is left out"
    assert "tl.range(" not in text


@pytest.mark.parametrize("sizes", [(1, 1, 1), (32, 32, 16), (33, 64, 17), (129, 31, 48)])
def test_matmul_at_sizes_no_tile_divides(sizes, tmp_path):
    case = plans.matmul(sizes=sizes, symbolic=True)
    assert_close(case, launched(case, tmp_path), STEP["f32"])


@pytest.mark.parametrize("lengths", [(1, 1), (5, 70), (48, 16), (33, 33)])
def test_attention_at_unequal_lengths(lengths, tmp_path):
    case = plans.attention(lengths=lengths, heads=2)
    assert_close(case, launched(case, tmp_path), STEP["f32"])


@pytest.mark.parametrize("name", ["softmax_row", "softmax_stream", "matmul_symbolic", "attention", "gather"])
def test_the_source_is_what_was_read(name, golden):
    plan = decided(plans.FLOAT_CASES[name]("bf16").plan)
    golden(f"{name}.py", emit(plan, header={"diagram": name, "hardware": "none"}))
    golden(f"{name}.txt", emit(plan, "pseudocode"))


def test_the_same_plan_gives_the_same_bytes():
    texts = {emit(plans.attention().plan) for _ in range(3)}
    assert len(texts) == 1


def test_a_header_cannot_leave_its_comment(tmp_path):
    plan = replace(plans.gather().plan, notes=("note\u2028import os", "\x0cimport sys"))
    text = emit(plan, header=["coding: utf-7", "one\nimport socket\rimport shutil"])
    assert not any(line.startswith("#") for line in text.splitlines()[:2] if "coding" in line)
    module = loaded(text, tmp_path)
    assert not {"os", "sys", "socket", "shutil"} & set(vars(module))


def test_names_that_clash_are_told_apart(tmp_path):
    """A buffer called like the launcher, an axis and value called like generated names."""
    n = Axis("n")
    source, target = Buffer("run", (n,), "f32"), Buffer("n_size", (n,), "f32")
    body = (
        *plans.bounded("n", n),
        Load(plans.f32("run_ptr", "n"), "run", ("ns",), ("n_in",)),
        plans.let(plans.f32("BLOCK_N", "n"), "add", "run_ptr", 1.0),
        StoreTile("n_size", ("ns",), "BLOCK_N", ("n_in",)),
    )
    plan = Plan(
        "clash",
        (source,),
        (target,),
        (Kernel("run", (source,), (target,), (Coord("n", n, 4, "group"),), ("n",), body),),
    )
    given = torch.arange(6, dtype=torch.float32, device=DEVICE)
    assert torch.equal(loaded(emit(plan), tmp_path).run(given), given + 1)


@pytest.mark.parametrize("tile", [1, 4])
def test_what_a_loop_counts_is_no_number_of_python_to_what_converts_it(tile, tmp_path):
    n = Axis("n", 400)
    target = Buffer("out", (n,), "f32")
    place = Start(plans.i32("at"), "n") if tile > 1 else Iota(plans.i32("at", "n"), "n")
    body = (
        place,
        plans.let(plans.f32("real", *place.out.coords), "cast", "at"),
        *([Iota(plans.i32("ns", "n"), "n")] if tile > 1 else []),
        plans.let(plans.f32("half", "n"), "mul", "real", 0.5),
        StoreTile("out", ("ns" if tile > 1 else "at",), "half", ()),
    )
    loop = Loop("n", (), (Part(0, 400, body),))
    kernel = Kernel("counted", (), (target,), (Coord("n", n, tile, "walk"),), (), (loop,))
    wanted = 0.5 * (torch.arange(400) // tile * tile)
    found = loaded(emit(Plan("counted", (), (target,), (kernel,))), tmp_path).run(device=DEVICE)
    assert torch.equal(found.cpu(), wanted)


def test_names_that_are_no_identifiers_are_refused():
    case = plans.gather()
    bad = replace(case.plan.kernels[0], body=(plans.let(plans.f32("x; import os"), "neg", 1.0),))
    with pytest.raises(NapkinError, match="'x; import os' cannot stand in generated code"):
        emit(replace(case.plan, kernels=(bad,)))


def test_offsets_past_31_bits_are_64_bits_wide():
    assert "int64" not in emit(plans.matmul().plan)
    assert "ms.to(tl.int64)[:, None] * k_size" in emit(plans.matmul(symbolic=True).plan)


def test_an_unknown_target_is_refused():
    with pytest.raises(NapkinError, match="unknown target 'cuda'; one of gluon, launcher, numpy, pseudocode, triton"):
        emit(plans.gather().plan, "cuda")


def wrong(given: dict[str, Any]) -> dict[str, tuple[dict[str, Any], type[Exception], str]]:
    q, k = given["Q"], given["K"]
    return {
        "shape": (
            {"K": k[:, :-1].contiguous(), "V": given["V"]},
            ValueError,
            r"V: expected shape \(g=2, x=69, d=16\).*found \(2, 70, 16\)",
        ),
        "rank": ({"Q": q[0]}, ValueError, r"Q: expected shape \(h=4, q=any, d=16\).*found \(50, 16\)"),
        "empty": (
            {"Q": q[:, :0]},
            ValueError,
            r"Q: expected shape \(h=4, q=0, d=16\), each at least 1, found \(4, 0, 16\)",
        ),
        "dtype": ({"K": k.double()}, TypeError, "K: expected dtype torch.float32, found torch.float64"),
        "type": ({"Q": None}, TypeError, "Q: expected a torch.Tensor, found NoneType"),
        "device": (
            {"V": given["V"].to("meta")},
            ValueError,
            "V: expected device .*, as the first argument, found meta",
        ),
    }


@pytest.mark.parametrize("name", ["shape", "rank", "empty", "dtype", "type", "device"])
def test_wrong_arguments_are_named(name, tmp_path):
    case = plans.attention()
    given = tensors(case)
    changes, error, message = wrong(given)[name]
    with pytest.raises(error, match=message) as raised:
        loaded(emit(case.plan), tmp_path).run(**{**given, **changes})
    assert "\n" not in str(raised.value)


def test_emitting_loads_neither_torch_nor_triton():
    code = (
        "import sys; from napkin_eq.tile.printers import targets; targets(); assert not {'torch', 'triton'} &"
        " set(sys.modules), 'loaded'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
