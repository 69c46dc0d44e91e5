"""Measured plans: what a trial rejects, what is kept, when it is taken, and files that are stale or damaged."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.cli.main import main
from napkin_eq.frontend.gallery import diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.machine.gpu import load
from napkin_eq.pipeline import tuned
from napkin_eq.pipeline.top_k import choice
from napkin_eq.tile.printers import emit

SIZES = ("--set", "m=64", "--set", "n=48", "--set", "k=96", "--dtype", "float32")
H200 = {"gpu": "NVIDIA H200", "arch": "sm_90", "device": {"sms": 132, "memory_bytes": 150_109_880_320}}


@pytest.fixture(scope="module")
def derivation():
    return nq.derive(diagram("matmul", m=64, n=48, k=96), dtype="float32")


@pytest.fixture(scope="module")
def results(derivation, tmp_path_factory):
    """Run a trial in the interpreter, with one plan that computes something else and one that does not run."""
    folder = tmp_path_factory.mktemp("trial")
    assert tuned.write_trial(folder, derivation, 4) == 4
    source = (folder / "plan_1.py").read_text()
    (folder / "plan_1.py").write_text(source.replace("    return out\n", "    return out * 1.05\n"))
    assert (folder / "plan_1.py").read_text() != source
    (folder / "plan_2.py").write_text("raise ValueError('no such tile')\n")
    env = {**os.environ, "TRITON_INTERPRET": "1"}
    subprocess.run([sys.executable, "trial.py"], cwd=folder, env=env, check=True, capture_output=True)
    return json.loads((folder / "results.json").read_text())


@pytest.fixture
def measured(results, tmp_path):
    """Give the trial as a GPU would have answered it, with the last plan the fastest, changed as a test asks."""

    def write(**changes):
        data = {**copy.deepcopy(results), **H200, **changes}
        for plan, ms in zip(data["plans"], (0.010, None, None, 0.008), strict=False):
            if ms is not None:
                plan.setdefault("measured", ms)
                plan["ms"] = plan["measured"]
        file = tmp_path / "results.json"
        file.write_text(json.dumps(data))
        return file

    return write


def test_a_trial_times_what_is_right_and_says_what_is_not(results):
    first, wrong, broken, last = results["plans"]
    assert first["ms"] > 0 and last["ms"] > 0
    assert wrong["error"] == "wrong: its result is not that of most plans" and "ms" not in wrong
    assert broken["error"] == "ValueError: no such tile" and "ms" not in broken


def test_the_fastest_is_kept_and_taken(capsys, tmp_path, derivation, measured):
    file = tmp_path / "tuned.json"
    assert main(["tune", "matmul", *SIZES, "--from", str(measured()), "-o", str(file)]) == 0
    assert (
        "0.008 ms, the fastest of 4 plans on NVIDIA H200 (the model's first choice took 0.01)"
        in capsys.readouterr().out
    )
    found, note = tuned.applied(derivation, file)
    fastest = json.loads(measured().read_text())["plans"][3]["kernels"]
    assert [
        {"tiles": c.tiles, "warps": c.warps, "stages": c.stages, "groups": c.groups} for c in map(choice, found.tiled)
    ] == fastest
    assert found.plan.kernels != derivation.plan.kernels and "tiles by measurement on NVIDIA H200" in note
    random = np.random.default_rng(0)
    a, b = random.standard_normal((64, 96)), random.standard_normal((96, 48))
    # Two sums of 96 products in float64, in whatever order, are no further apart than this.
    assert (
        np.abs(emit(found.plan, "numpy")({"A": a, "B": b})["out"] - a @ b)
        <= 2 * 96 * 2.0**-53 * (np.abs(a) @ np.abs(b))
    ).all()

    assert main(["derive", "matmul", *SIZES, "--tuned", str(file), "--source"]) == 0
    out, err = capsys.readouterr()
    assert out == found.triton() != derivation.triton()
    assert "tiles by measurement" in out and note in err
    # The same tiles serve sizes of the same class, and no other.
    near, far = (nq.derive(diagram("matmul", m=64, n=n, k=96), dtype="float32") for n in (64, 128))
    assert "tiles by measurement" in tuned.applied(near, file)[1]
    assert tuned.applied(far, file)[0] is far and "nothing is tuned for this diagram" in tuned.applied(far, file)[1]


def test_entries_stand_beside_each_other_and_newer_ones_replace_older(tmp_path, derivation, measured):
    file, machine = tmp_path / "tuned.json", load("h200")
    key = tuned.key_of(derivation.diagram, machine, "float32")
    entry = tuned.entry_of(measured(), key, machine)
    tuned.keep(file, entry)
    once = file.read_text()
    tuned.keep(file, entry)
    assert file.read_text() == once
    tuned.keep(file, {**entry, "dtype": "bfloat16"})
    assert len(tuned.read(file)) == 2


def test_stale_entries_are_ignored_with_a_note(tmp_path, derivation, measured):
    file, machine = tmp_path / "tuned.json", load("h200")
    versions = {"napkin_eq": nq.__version__, "triton": "2.0.0"}
    tuned.keep(
        file, tuned.entry_of(measured(versions=versions), tuned.key_of(derivation.diagram, machine, "float32"), machine)
    )
    found, note = tuned.applied(derivation, file)
    assert found is derivation and "ignored, measured with triton 2.0.0, here" in note
    entry = tuned.read(file)[0] | {"versions": {"napkin_eq": nq.__version__, "triton": tuned._triton()}}
    entry["kernels"] = [{"tiles": {"z": 16}, "warps": 4, "stages": 2}]
    tuned.keep(file, entry)
    found, note = tuned.applied(derivation, file)
    assert found is derivation and "ignored, tiles are given for z" in note


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"arch": "sm_80"}, "another GPU was measured: NVIDIA H200 is sm_80, h200 sm_90"),
        (
            {"device": {"sms": 114, "memory_bytes": 150_109_880_320}},
            "another GPU was measured: NVIDIA H200 has 114 multiprocessors",
        ),
        ({"device": {"sms": 132}}, "device lacks one of memory_bytes"),
        ({"key": {}}, "of another diagram; emit the trial again"),
        ({"plans": []}, "plans is no list of plans"),
        ({"plans": [{"file": "a", "error": "spills 8 registers"}]}, "no plan was timed: spills 8 registers"),
        ({"plans": [{"measured": 0}]}, "took 0 ms, expected a positive number"),
        ({"plans": [{"measured": float("nan")}]}, "took nan ms, expected a positive number"),
        ({"plans": [{"measured": 1.0, "kernels": []}]}, "kernels is no list of tiles"),
        (
            {"plans": [{"measured": 1.0, "kernels": [{"tiles": {"m": 48}, "warps": 4, "stages": 2}]}]},
            "kernels is no list of tiles",
        ),
        (
            {"plans": [{"measured": 1.0, "kernels": [{"tiles": {"m": 16}, "warps": 64, "stages": 2}]}]},
            "kernels is no list of tiles",
        ),
        ({"tool": "microbench"}, "not a file of a trial that napkin-eq tune emitted"),
    ],
)
def test_results_that_cannot_be_used_are_refused(derivation, measured, changes, why):
    machine = load("h200")
    with pytest.raises(NapkinError, match=why):
        tuned.entry_of(measured(**changes), tuned.key_of(derivation.diagram, machine, "float32"), machine)


def test_results_of_the_interpreter_are_of_no_gpu(capsys, tmp_path, results):
    (tmp_path / "results.json").write_text(json.dumps(results))
    assert (
        main(["tune", "matmul", *SIZES, "--from", str(tmp_path / "results.json"), "-o", str(tmp_path / "tuned.json")])
        == 2
    )
    assert "device lacks one of" in capsys.readouterr().err
    assert not (tmp_path / "tuned.json").exists()


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"schema": 1, "tool": "tuned", "entries": [{}]}',
        '{"schema": 2, "tool": "tuned", "entries": []}',
        "[" * 99_999,
    ],
)
def test_damaged_files_are_refused_in_one_line(capsys, tmp_path, text):
    (tmp_path / "tuned.json").write_text(text)
    assert main(["derive", "matmul", *SIZES, "--tuned", str(tmp_path / "tuned.json")]) == 2
    said = capsys.readouterr()
    assert said.out == "" and "tuned.json" in said.err and said.err.count("\n") == 1


def test_without_a_gpu_it_says_so_in_one_line(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert main(["tune", "matmul", *SIZES, "-o", str(tmp_path / "tuned.json")]) == 2
    said = capsys.readouterr().err
    assert "no CUDA device here" in said and said.count("\n") == 1


def test_sizes_must_be_known(capsys, tmp_path):
    assert main(["tune", "symbolic_attention", "--emit", str(tmp_path / "out")]) == 2
    assert "has no size to measure at" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_what_is_measured_is_what_would_run(tmp_path):
    shared = nq.derive(diagram("matmul", m=1024, n=1024, k=1024), printer="gluon")
    assert tuned.write_trial(tmp_path, shared, 1) == 1
    assert (tmp_path / "plan_0.py").read_text() == shared.code()
    assert "@gluon.jit" in shared.code()
