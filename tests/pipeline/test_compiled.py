"""Plans compiled before they are written: what fails, does not fit or spills gives way, and what could not be compiled
is said.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import napkin_eq as nq
from napkin_eq.cli.main import main
from napkin_eq.frontend.gallery import diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.pipeline import compiled

GOOD = {"registers": 40, "spills_bytes": 0, "spills_in_loops": 0, "smem_bytes": 512}


@pytest.fixture(scope="module")
def softmax():
    return nq.derive(diagram("softmax", t=64, x=1000))


@pytest.fixture
def compiler(monkeypatch, cache):
    """Stand in for the compiler: what it says of the first sources that it is asked for, and the sources."""
    said: list[dict[str, object]] = []
    asked: list[str] = []

    def attempted(source, arch, kernels, seconds):
        asked.append(source)
        row = said[len(asked) - 1] if len(asked) <= len(said) else GOOD
        return [{"arch": arch, "kernel": name, **row} for name in kernels]

    monkeypatch.setattr(compiled, "attempted", attempted)
    return said, asked


def test_what_is_good_stays_and_is_remembered(softmax, compiler):
    _, asked = compiler
    made = softmax.compiled()
    assert made.derivation is softmax and not made.gave_way and not made.missing
    assert made.data() == {"arch": "sm_90", "status": "compiled", "gave_way": [],
        "kernels": [{"name": "kernel_0_kernel", **GOOD}],
                           "portable": [{"name": "kernel_0_kernel", **GOOD}]}  # fmt: skip
    assert len(asked) == 1
    assert softmax.compiled().data() == made.data() and len(asked) == 1


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ({"error": "CompilationError: no"}, "does not compile"),
        ({**GOOD, "smem_bytes": 232449}, "asks for 232449 bytes of shared memory"),
        ({**GOOD, "spills_bytes": 8, "spills_in_loops": 8}, "spills 8 bytes"),
    ],
)
def test_a_kernel_that_cannot_run_or_spills_gives_way_to_its_next_tiling(softmax, compiler, bad, why):
    said, asked = compiler
    said.append(bad)
    made = softmax.compiled()
    assert made.derivation.plan.kernels != softmax.plan.kernels
    assert made.derivation.outputs[0].placed.term == softmax.outputs[0].placed.term
    assert made.derivation.certificate == softmax.certificate
    (note,) = made.gave_way
    assert why in note and "taken instead" in note
    assert len(asked) == len(set(asked)) == 3  # the plan, one other tiling, the plan with it


def test_what_fails_where_it_runs_gives_way_only_if_the_compiler_refuses_it(softmax, compiler):
    """A kernel that compiles and faults, or only spills, is not hidden behind another one."""
    assert compiled.instead(softmax) is None
    assert compiled.instead(replace(softmax, hardware=replace(softmax.hardware, arch="sm_61"))) is None


@pytest.mark.parametrize(
    ("bad", "taken"),
    [
        ({"error": "RuntimeError: PassManager::run failed"}, True),
        ({**GOOD, "spills_bytes": 8, "spills_in_loops": 8}, False),
    ],
)
def test_what_the_compiler_refuses_has_another_in_its_place(softmax, compiler, bad, taken):
    said, _ = compiler
    said += [bad, bad]
    other = compiled.instead(softmax)
    assert (other is not None and other.plan != softmax.plan) == taken


def test_another_tiling_is_compiled_as_it_is_in_the_plan(compiler):
    """A kernel that waits for the one before it keeps more in registers than by itself: 64 sequences' decode spilled in
    its plan, and not alone.
    """
    said, asked = compiler
    t, d, f, e = nq.axes("t d f e", t=512, d=1024, f=2048, e=1024)
    two = nq.derive(
        nq.linear(nq.relu(nq.linear(nq.array("A", t, d), nq.array("W", d, f), d)), nq.array("V", f, e), f),
        printer="triton",
    )
    assert len(two.plan.kernels) == 2
    said.append({**GOOD, "spills_bytes": 8, "spills_in_loops": 8})
    made = two.compiled()
    assert len(made.gave_way) == 2 and "CHAINED" in asked[0]
    assert len(asked) == 4 and all("CHAINED" in source for source in asked[1:3])


def test_of_tilings_that_all_spill_the_one_that_spills_least_stays(softmax, compiler):
    said, _ = compiler
    said += [{**GOOD, "spills_bytes": n, "spills_in_loops": n} for n in (64, 80, 16, 48, 72, 64)]
    made = softmax.compiled()
    assert "16 bytes spilled" in made.gave_way[0]
    said.clear()


def test_where_no_tiling_runs_the_next_plan_is_taken_or_none(softmax, compiler):
    said, asked = compiler
    said += [{"error": "no"}] * 40
    with pytest.raises(NapkinError, match="no plan compiles for h200.*does not compile: no"):
        softmax.compiled()
    one = len(asked)
    asked.clear()
    said[:] = [{"error": "no"}] * 7
    alone = replace(softmax, again=None)
    with pytest.raises(NapkinError, match="no plan compiles"):
        alone.compiled()
    assert len(asked) <= one


def test_a_plan_of_another_term_is_derived_where_the_first_was_refused():
    cut = nq.derive(diagram("matmul", m=32, n=16, k=32768))
    assert cut.again is not None
    term = cut.outputs[0].placed.term
    assert cut.again((term,)).outputs[0].placed.term != term


def test_where_the_compiler_is_missing_or_slow_that_is_said_and_nothing_is_replaced(softmax, compiler, monkeypatch):
    said, _ = compiler
    said.append({"error": "the compiler had not ended after 100 s", "late": True})
    made = softmax.compiled()
    assert made.derivation is softmax
    assert made.data()["status"] == "not compiled" and "had not ended" in made.data()["reason"]
    assert str(made).startswith("not compiled for sm_90")

    def missing(*_):
        raise NapkinError("ModuleNotFoundError: No module named 'triton'")

    monkeypatch.setattr(compiled, "attempted", missing)
    other = nq.derive(diagram("softmax", t=64, x=1001))
    assert other.compiled().data()["reason"].endswith("'triton'")
    assert str(other.compiled()).startswith("not compiled: ")
    unknown = replace(other, hardware=replace(other.hardware, arch="sm_70"))
    assert "sm_70" in unknown.compiled().missing


@pytest.mark.parametrize(
    "damaged", ["[]", '{"schema": 1, "verdicts": {"KEY": [{"name": "kernel_0_kernel", "registers": -1}]}}', "{"]
)
def test_a_damaged_memory_is_none(softmax, compiler, cache, damaged):
    _, asked = compiler
    softmax.compiled()
    file = cache / "napkin_eq" / "compiled.json"
    (key,) = json.loads(file.read_text())["verdicts"]
    file.write_text(damaged.replace("KEY", key))
    asked.clear()
    assert softmax.compiled().kernels[0].registers == GOOD["registers"]
    assert len(asked) == 1


def test_derive_into_a_folder_says_what_the_compiler_gave(tmp_path, cache, capsys):
    assert main(["derive", "rms_norm", "--set", "t=64", "-o", str(tmp_path / "out")]) == 0
    assert "compiled for sm_90: kernel_0_kernel: " in capsys.readouterr().out
    found = json.loads((tmp_path / "out" / "report.json").read_text())["compiled"]
    assert found["status"] == "compiled" and found["kernels"] == found["portable"]
    (kernel,) = found["kernels"]
    assert 0 < kernel["registers"] <= 255 and kernel["spills_bytes"] == 0 and kernel["smem_bytes"] <= 232448
