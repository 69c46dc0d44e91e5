"""Whole numbers past 2^24, 2^31 and 2^53: as PyTorch has them in kernels and in float64, or left to PyTorch
in a line.
"""

from __future__ import annotations

import warnings
from functools import partial

import pytest
import torch

import napkin_eq as nq
from napkin_eq.lang.errors import NapkinError
from napkin_eq.pytorch import backend, kernels

WIDE = torch.tensor([2**31 + 5, 2**40 + 3, -(2**35), 7, 2**24 + 1, 2**53 + 1, -3, 0])
NARROW = torch.tensor([2**30, 2**31 - 1, -(2**31), 7, 100000, 3, -3, 0], dtype=torch.int32)


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch, tmp_path):
    import triton

    monkeypatch.setattr(triton.knobs.runtime, "interpret", True)
    monkeypatch.setattr(kernels, "folder", lambda: tmp_path)
    torch._dynamo.reset()
    backend.reports.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def arithmetic(w, i, f):
    places = torch.arange(8)
    large = places * 700000000
    return (
        w + 5,
        torch.where(w % 100000 * 70000 > 2**31, f, -f),
        torch.where(i.long() * i.long() > 2**31, f, -f),
        torch.where(large > 2**31, f, -f),
        torch.where(w == 16777217, f, -f),
        w.float() * f,
        (w > 16777216.0, w < places, w > 0),
        torch.where((w // -7) % 5 == 0, f, -f),
        torch.fmod(w, 7) * torch.remainder(i, -5),
        torch.div(w, -7, rounding_mode="trunc").remainder(11),
        w.clamp(-10, 2**33),
        f[w % 8],
        torch.maximum(w, i).abs(),
    )


def wrapping(w, i, f):
    return torch.where(i * i > 2**30, f, -f), i + 1 > i, -i, w.to(torch.int32) * 2, torch.where(i + i < 0, f, -f)


FOLDED = {
    "sum": lambda w, i, f: torch.where(i.sum() % 2 == 0, f, -f),
    "cumsum": lambda w, i, f: torch.where(w.cumsum(0) % 2 == 0, f, -f),
    "prod": lambda w, i, f: f * ((w % 100 + 1).prod() % 3),
    "max": lambda w, i, f: torch.where(w == w.max(), f, -f),
    "argmax": lambda w, i, f: f * (w.argmax() == 5),
    "sort": lambda w, i, f: f * w.sort().values.remainder(1000),
    "of floats": lambda w, i, f: f * ((f * 1e9).long() % 7),
}


def agrees(function, **options):
    torch.manual_seed(3)
    given = (WIDE, NARROW, torch.randn(8))
    got = torch.compile(function, backend=partial(backend.napkin_eq, options={"finite": True, **options}))(*given)
    for one, other in zip(*(torch.utils._pytree.tree_leaves(v) for v in (got, function(*given))), strict=True):
        assert one.dtype == other.dtype
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("function", [arithmetic, wrapping])
@pytest.mark.parametrize("executor", ["reference", "kernels"])
def test_whole_numbers_of_64_bits_are_computed_in_64_and_those_of_32_wrap_around(function, executor):
    agrees(function, executor=executor, seconds=100.0)
    (report,) = backend.reports
    assert {region.reason for region in report.regions} <= {"", "views and constants only"}


@pytest.mark.parametrize("name", FOLDED)
def test_folds_that_real_numbers_do_not_hold_stay_pytorch(name):
    agrees(FOLDED[name], executor="reference")
    reasons = [region.reason for region in backend.reports[-1].regions if region.reason]
    assert len(reasons) == 1 and "may pass 2^24" in reasons[0] and "finite" not in reasons[0]


def test_counts_and_bounded_sums_are_taken():
    agrees(lambda w, i, f: f * (w > 0).sum() + f * (i % 7).sum() + f * (w.bool().cumsum(0) + 1), executor="reference")
    assert not any(region.reason for region in backend.reports[-1].regions)


def test_an_evaluation_in_float64_refuses_what_that_does_not_hold():
    program = nq.from_torch(lambda w: w.sum() % 2, WIDE)
    assert program.run(WIDE[:5].repeat(2)[:8]).item() == WIDE[:5].repeat(2)[:8].sum() % 2
    with pytest.raises(NapkinError, match="past 2\\^53"):
        program.run(WIDE)
