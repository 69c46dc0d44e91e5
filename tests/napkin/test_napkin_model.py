"""`napkin-eq model`: what it prints and gives as data, on diagrams small, degenerate, random and of unknown sizes."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import napkin_eq as nq
from napkin_eq.cli.main import main
from napkin_eq.frontend.gallery import diagram
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.napkin.data import data
from napkin_eq.napkin.measured import FILE, measured
from napkin_eq.napkin.model import model
from napkin_eq.napkin.told import told
from napkin_eq.pipeline.derive import derive
from napkin_eq.verify.fuzz.random_diagrams import Shape, random_diagram

ROOT = Path(__file__).resolve().parents[2]


def shown(derivation, **given) -> tuple[str, dict[str, Any]]:
    """Return a model's text and data, both checked for what holds of every model."""
    found = model(derivation, **given)
    text, rows = told(found), data(found)
    assert max(map(len, text.splitlines())) <= 100
    json.dumps(rows, allow_nan=False)
    assert len(rows["kernels"]) == len(derivation.plan.kernels)
    for kernel in rows["kernels"]:
        for level in kernel["levels"]:
            least, whole = level["values"], level["whole_tiles"]
            assert (least is None) == (whole is None)
            assert least is None or least <= whole["values"] * (1 + 1e-6)
    return text, rows


def small(name: str, term, **given):
    return derive(Diagram(name, (("out", term),)), **given)


@cache
def gallery(name: str):
    return derive(diagram(name))


def test_the_command_prints_and_gives_data(capsys):
    assert main(["model", "matmul"]) == 0
    text = capsys.readouterr().out
    assert "H* = m·n + 2·m·k·n/√M" in text and "176 µs" in text
    assert main(["model", "matmul", "--json", "--level", "l2"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows["schema"] == 1 and rows["target_level"] == "L2"
    assert set(rows["columns_us"]) == {"napkin", "predicted", "measured"}
    [kernel] = rows["kernels"]
    assert kernel["optimum_is"] == "reached" and [t["beta"] for t in kernel["terms"]] == ["0", "1/2"]


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--level", "l9"], "unknown level 'l9'"),
        (["--type", "A"], "expected ARRAY=TYPE"),
        (["--type", "A=int4"], "unknown type"),
        (["--type", "Z=float8"], "no kernel reads such an array"),
        (["--tile", "z=8"], "no such axis"),
        (["--tile", "m=0"], "between 1 and"),
        (["--piece", "-1"], "between 1 and"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(argv, says, capsys):
    assert main(["model", "matmul", "--set", "m=64", *argv]) == 2
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1


def test_a_length_that_is_unknown_stays_a_symbol():
    text, rows = shown(gallery("symbolic_attention"))
    assert rows["sizes_unknown"] == ["q", "x"] and rows["columns_us"]["measured"] is None
    assert rows["kernels"][0]["optimum_values"] == "2*d*h*q + 4*d**2*h*q*x/M"
    assert "q=any" in text and "where numbers are asked for, q, x = 4096" in text


def test_several_kernels_and_no_contraction():
    text, rows = shown(gallery("mlp"))
    assert len(rows["kernels"]) == 2 and all(k["configuration"] for k in rows["kernels"])
    [line] = [line for line in text.splitlines() if line.startswith("  kernel_1 ")]
    assert line.endswith("t·e + 2·t·f·e/√M") and "all kernels" in text
    text, rows = shown(gallery("softmax"))
    assert "nothing for warpgroups to share" in text and rows["kernels"][0]["configuration"] is None
    assert [t["beta"] for t in rows["kernels"][0]["terms"]] == ["0"]


def test_masks_halve_what_is_read():
    _, full = shown(gallery("attention"))
    _, half = shown(gallery("causal_attention"))
    share = half["kernels"][0]["flops_total"] / full["kernels"][0]["flops_total"]
    assert 0.5 < share < 0.55


def test_degenerate_diagrams():
    a, b, c = nq.axes("a b c", a=1, b=3, c=17)
    A, B, s = nq.array("A", a, b), nq.array("B", b, c), nq.array("s")
    for term in (A + 1.0, nq.sum(nq.sum(B, b), c), nq.matmul(A, B, b), s * 2.0, nq.softmax(B, c)):
        text, rows = shown(small("tiny", term))
        assert all(at["values"] is not None for k in rows["kernels"] for at in k["levels"])
    both = derive(Diagram("both", (("one", nq.sum(B, b)), ("two", nq.softmax(B, c)))))
    assert shown(both)[1]["kernels"]


@pytest.mark.parametrize("hardware", ["h100", "a100"])
def test_other_gpus_and_types(hardware):
    text, rows = shown(derive(diagram("matmul"), hardware=hardware, dtype="float32"))
    assert rows["bytes_per_value"] == 4 and bool(rows["kernels"][0]["clusters"]) == (hardware == "h100")
    assert rows["columns_us"]["measured"] is None


def test_the_napkin_is_an_ideal():
    for name in ("attention", "matmul", "softmax", "mlp", "causal_attention"):
        columns = shown(gallery(name))[1]["columns_us"]
        assert columns["napkin"] <= columns["predicted"], name


def test_types_change_the_configuration_alone():
    plain, other = (shown(gallery("attention"), **g)[1] for g in ({}, {"types": {"Q": "float8", "K": "float8"}}))
    assert plain["columns_us"] == other["columns_us"] and plain["steps"] == other["steps"]
    ideal = [m["kernels"][0]["configuration"]["ideal_flops_per_s"] for m in (plain, other)]
    assert ideal[1] / ideal[0] == pytest.approx(4 / 3)


def test_tiles_that_do_not_fit_are_said():
    text, rows = shown(gallery("attention"), tiles={"x": 4096})
    assert rows["kernels"][0]["configuration"]["warpgroups"] == 0 and "not one warpgroup fits" in text


def test_a_level_without_room_is_said():
    read = gallery("softmax")
    tiny = read.hardware
    from dataclasses import replace

    # A row of 8192 values does not fit memories of 1 KiB.
    machine = replace(
        tiny, smem=replace(tiny.smem, sm_bytes=1024, block_bytes=1024), l2=replace(tiny.l2, capacity_bytes=1024)
    )
    text = told(model(replace(read, hardware=machine)))
    assert "does not fit: the smallest tiles hold 16 KiB" in " ".join(text.split())


def test_measurements_are_those_of_the_benchmark():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        import napkin_rows  # type: ignore[import-not-found]
    finally:
        sys.path.pop(0)
    said = "diagrams or results changed: PYTHONPATH=. python benchmarks/napkin_rows.py"
    assert FILE.read_text(encoding="utf-8") == napkin_rows.text(), said
    results = json.loads((ROOT / "benchmarks" / "results" / "h200.json").read_text(encoding="utf-8"))
    [row] = [r for r in results["rows"] if r["case"] == "b4 h16 n4096 d128 full"]
    whole, machine = diagram("attention", b=4), gallery("attention").hardware
    found = measured(whole, {a.name: a.size or 0 for a in whole.axes()}, "bfloat16", machine)
    assert found is not None and found.us == pytest.approx(row["ours_ms"] * 1e3, abs=1e-3)
    assert measured(whole, {a.name: a.size or 0 for a in whole.axes()}, "float16", machine) is None


@pytest.mark.parametrize("seed", range(12))
def test_random_diagrams_have_a_model(seed):
    drawn = random_diagram(random.Random(seed).randrange, Shape(nodes=12))
    try:
        derivation = derive(drawn, hardware=("h200", "h100", "a100")[seed % 3], limit=6)
    except (NapkinError, ValueError) as reason:
        pytest.skip(f"no plan: {reason}")
    shown(derivation)


def test_sympy_is_loaded_by_the_model_alone():
    script = (
        "import sys\nfrom napkin_eq.cli.main import main\nmain(['derive', 'matmul'])\nprint('sympy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.splitlines()[-1] == "False"


def test_the_same_bytes_on_every_run():
    assert told(model(gallery("matmul"))) == told(model(gallery("matmul")))
    assert math.isfinite(model(gallery("matmul")).kernels[0].seconds)
