"""The published fusions of examples/fusions: each is read, means what PyTorch computes, and the page shows what was
found.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
import torch

from napkin_eq.pytorch.signature import Signature, program_of, signature

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "fusions"


def _runner() -> Any:
    spec = importlib.util.spec_from_file_location("fusions_runner", FOLDER / "__main__.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RUNNER = _runner()
EVERY = {name: (group, fn) for group in RUNNER.GROUPS for name, fn in RUNNER.entries(group)}


def _drawn(said: Signature, sizes: dict[str, int]) -> list[torch.Tensor]:
    """Tensors of small sizes: plain numbers, places and labels below four, which all programs have."""
    torch.manual_seed(0)
    found = []
    for tensor in said.tensors:
        shape = [d if isinstance(d, int) else sizes[d] for d in tensor.dims]
        if tensor.dtype == "float8_e4m3fn":
            found.append(torch.randn(shape).to(torch.float8_e4m3fn))
        elif tensor.dtype in ("float32", "bfloat16"):
            found.append(torch.rand(shape, dtype=torch.float64) * 0.8 + 0.1)  # logarithms are taken of some
        else:
            found.append(torch.randint(0, 4, shape, dtype=getattr(torch, tensor.dtype)))
    return found


@pytest.mark.parametrize("name", EVERY)
def test_it_means_what_pytorch_computes(name: str) -> None:
    group, fn = EVERY[name]
    sizes = RUNNER.small(fn)
    given = _drawn(signature(fn), sizes)
    found = program_of(fn, dict(sizes)).run(*given)
    expected = fn(*given)
    pairs = zip(*((t,) if isinstance(t, torch.Tensor) else tuple(t) for t in (found, expected)), strict=True)
    for ours, theirs in pairs:
        # Casts within a program are to types that round; in float64 they are left out.
        assert ours.shape == theirs.shape and torch.allclose(ours.double(), theirs.double(), rtol=2e-5, atol=1e-6)


def test_the_page_shows_what_was_found() -> None:
    rows = json.loads((FOLDER / "found.json").read_text())
    assert [r["name"] for r in rows] == [name for name in EVERY if name in {r["name"] for r in rows}]
    assert (FOLDER.parents[1] / "docs" / "fusions.md").read_text() == RUNNER.page(rows)
    assert {r["grade"] for r in rows} <= {"A", "B"} and not {"failed"} & {r["kernels_in_small"] for r in rows}
