"""Kernels of regions are compiled before they are written: what the compiler refuses gives way, or the region stays
PyTorch, with what the compiler says.
"""

from __future__ import annotations

import json

import pytest
import torch

from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.json_form import dumps_diagram
from napkin_eq.pipeline import compiled
from napkin_eq.pytorch import derive_one
from napkin_eq.pytorch.derive_one import answered, asked
from napkin_eq.pytorch.importer import from_torch
from napkin_eq.pytorch.kernels import _read

GOOD = {"registers": 40, "spills_bytes": 0, "spills_in_loops": 0, "smem_bytes": 512}
BAD = {"error": "CompilationError: no such tile"}


@pytest.fixture
def compiler(monkeypatch, cache):
    """Stand in for the compiler: what it says of the first sources that it is asked for, then of all; the sources."""
    said = [GOOD]
    sources: list[str] = []

    def attempted(source, arch, kernels, seconds):
        sources.append(source)
        return [{"arch": arch, "kernel": k, **said[min(len(sources), len(said)) - 1]} for k in kernels]

    monkeypatch.setattr(compiled, "attempted", attempted)
    return said, sources


def request(file, fn, *tensors, interpreted=False, edged=False, others=0, within_us=1e9):
    diagram = dumps_diagram(from_torch(fn, *tensors).diagram)
    beside = {"others": others, "within_us": within_us, "file": file}
    return json.loads(asked(diagram, "float32", "h200", 10.0, interpreted, edged, {}, "", **beside))


def softmax(x):
    return torch.softmax(x, -1)


@pytest.mark.parametrize("edged", [False, True])
def test_kernels_that_the_compiler_refuses_give_way(compiler, tmp_path, edged):
    said, sources = compiler
    x = torch.randn(64, 1000)
    answered(request(tmp_path / "first", softmax, x, edged=edged))
    assert (tmp_path / "first.py").read_text() == sources[0] and len(sources) == 1
    sources.clear()
    said[:] = [{**GOOD, "smem_bytes": 232449}] * (1 + edged) + [GOOD]
    answered(request(tmp_path / "other", softmax, x[:48], edged=edged))
    written = (tmp_path / "other.py").read_text()
    assert written != sources[0] and written == sources[-1]
    assert json.loads((tmp_path / "other.json").read_text())["compiled_s"] >= 0


def test_where_no_kernels_compile_nothing_is_written_and_it_is_said(compiler, tmp_path, monkeypatch, capsys):
    said, sources = compiler
    said[:] = [BAD]
    question = request(tmp_path / "none", softmax, torch.randn(64, 1000))
    monkeypatch.setattr(derive_one.sys, "stdin", type("Text", (), {"read": lambda self: json.dumps(question)})())
    assert derive_one.main() == 2 and len(sources) > 1
    (line,) = capsys.readouterr().out.strip().splitlines()
    assert "does not compile" in line and "no such tile" in line
    assert not (tmp_path / "none.py").exists()


def test_the_compiler_is_not_asked_of_kernels_for_the_interpreter(compiler, tmp_path):
    said, sources = compiler
    said[:] = [BAD]
    answered(request(tmp_path / "plain", softmax, torch.randn(8, 16), interpreted=True))
    assert not sources and json.loads((tmp_path / "plain.json").read_text())["compiled_s"] == 0


def test_kernels_that_spill_give_way_and_are_not_taken_where_all_do(compiler, tmp_path):
    said, _ = compiler
    said[:] = [{**GOOD, "spills_bytes": 400, "spills_in_loops": 400}] * 2 + [GOOD]
    answered(request(tmp_path / "some", softmax, torch.randn(56, 1000)))
    assert (tmp_path / "some.json").exists()
    said[:] = [{**GOOD, "spills_bytes": 400, "spills_in_loops": 400}]
    with pytest.raises(NapkinError, match="spills 400 bytes"):
        answered(request(tmp_path / "all", softmax, torch.randn(40, 1000)))
    assert not (tmp_path / "all.json").exists()


@pytest.mark.parametrize("edged", [False, True])
def test_plans_with_other_tiles_are_made_to_be_measured(compiler, tmp_path, edged):
    said, sources = compiler
    x = torch.randn(4096, 8192)
    answered(request(tmp_path / "few.py", softmax, x, edged=edged, others=2))
    head = json.loads((tmp_path / "few.json").read_text())
    texts = [(tmp_path / f"few{place}.py").read_text() for place in ("", "_0", "_1")]
    assert len(head["others"]) == 2 and len({*texts}) == 3 and {*texts} <= {*sources}
    assert not (tmp_path / "few_2.py").exists()
    certificates = [json.loads((tmp_path / f"few{place}.certificate.json").read_text()) for place in ("", "_0", "_1")]
    assert all("none" not in certificate for certificate in certificates)
    made = _read(tmp_path / "few.py", 10.0)
    assert [other.source for other in made.others] == texts[1:]
    assert all(other.predicted_us != made.predicted_us for other in made.others)
    (tmp_path / "few_1.py").write_text(texts[0])
    assert _read(tmp_path / "few.py", 10.0) is None  # damaged: all is made anew
    (tmp_path / "few_1.py").write_text(texts[2])
    for number in ("1" + "0" * 400, "[" * 100_000):
        (tmp_path / "few.json").write_text(json.dumps({**head, "others": []}).replace("[]", f"[[{number}, 0]]"))
        assert _read(tmp_path / "few.py", 10.0) is None
    said[:] = [GOOD, BAD, GOOD]
    sources.clear()
    answered(request(tmp_path / "more.py", softmax, x[:4000], edged=edged, others=1))
    assert (tmp_path / "more_0.py").read_text() == sources[2]  # not what the compiler refuses


def test_none_are_made_beside_what_takes_no_time_or_far_too_long(compiler, tmp_path):
    for name, rows, within_us in (("short", 8, 1e9), ("long", 4096, 30.0)):
        file = tmp_path / f"{name}.py"
        answered(request(file, softmax, torch.randn(rows, 8192), others=2, within_us=within_us))
        assert json.loads(file.with_suffix(".json").read_text())["others"] == []


def test_the_first_plan_is_there_whatever_happens_to_the_others(compiler, tmp_path, monkeypatch):
    def fails(*given):
        raise ValueError("said by this test")

    monkeypatch.setattr(derive_one, "_others", fails)
    with pytest.raises(ValueError, match="said by this test"):
        answered(request(tmp_path / "one.py", softmax, torch.randn(4096, 8192), others=2))
    assert _read(tmp_path / "one.py", 10.0).others == ()
