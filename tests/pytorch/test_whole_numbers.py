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


U8 = torch.tensor([0, 1, 236], dtype=torch.uint8)
I8 = torch.tensor([100, 100, -128], dtype=torch.int8)
I16 = torch.tensor([30000, -32768, 255], dtype=torch.int16)
I32 = torch.tensor([2**31 - 1, -(2**31), 70000], dtype=torch.int32)
TWICE = torch.tensor([0, 0, 1])
# What passes its type's range is used further as another type, a mask or a sum: returned at once it would be cast.
PASSING = {
    "not": (lambda u: ((~u).float(), ~u > 100), U8),
    "bits": (lambda u: ((u ^ -1).float(), (u | -128).float(), (u & -128).float()), U8),
    "sum": (lambda i: (i[:2].sum(dtype=torch.int8).float(), i.prod(dtype=torch.int8).float()), I8),
    "running": (lambda i: (i.cumsum(0, dtype=torch.int8).float(), i.cumprod(0, dtype=torch.int8).float()), I8),
    "mm": (lambda i: ((i[None] @ i[:, None]).float(), torch.dot(i, i).float(), torch.outer(i, i).float()), I8),
    "linear": (lambda i: torch.nn.functional.linear(i[None], i[None]).float(), I8),
    "addmm": (lambda i: torch.addmm(i[:1, None], i[None], i[:, None], beta=3, alpha=2.5).float(), I8),
    "bmm": (lambda i: torch.bmm(i[None, None], i[None, :, None]).float(), I8),
    "einsum": (lambda i: (torch.einsum("i,i->", i, i).float(), torch.einsum("i,j->ij", i, i).float()), I8),
    "index_add": (lambda i, z: i.index_add(0, z, i).float(), I8, TWICE),
    "scatter_add": (lambda i, z: i.scatter_add(0, z, i).float(), I8, TWICE),
    "index_put": (lambda i, z: i.index_put((z,), i, accumulate=True).float(), I8, TWICE),
    "scatter_reduce": (
        lambda i, z: [i.scatter_reduce(0, z, i, how).float() for how in ("sum", "prod", "mean", "amax")],
        I8,
        TWICE,
    ),
    "addcmul": (lambda i, u: (torch.addcmul(i, i, i, value=2).float(), torch.addcmul(u, u, u).float()), I8, U8),
    "int16": (
        lambda h: ((h * h).float(), h.sum(dtype=torch.int16).float(), h.cumsum(0, dtype=torch.int16) > 0),
        I16.repeat(3).sort().values,
    ),
    "int32": (
        lambda w: (
            w.sum(dtype=torch.int32).double(),
            w.cumsum(0, dtype=torch.int32).double(),
            (w // -1).double(),
            torch.fmod(w, w.flip(0)).double(),
        ),
        I32[[0, 0, 1, 2]],
    ),
    "a number past the range": (lambda i, z: (i < z[0] + 300, i.remainder(300).float(), i + z[0] > 300), I8, TWICE),
    "of a real number": (
        lambda x: (x.to(torch.int8).float(), x.to(torch.uint8).float()),
        torch.tensor([300.5, -1.5, 7]),
    ),
    "places": (lambda x: torch.arange(300, dtype=torch.int8).float() * x, torch.ones(1)),
}


@pytest.mark.parametrize("name", PASSING)
def test_whatever_gives_narrow_whole_numbers_wraps_around(name):
    function, *given = PASSING[name]
    found = nq.from_torch(function, *given).run(*given)
    for got, wanted in zip(*(torch.utils._pytree.tree_leaves(v) for v in (found, function(*given))), strict=True):
        assert torch.equal(got.double(), wanted.double())


def test_kernels_wrap_sums_of_narrow_numbers_around():
    def function(i, j):
        return (i @ j).float(), i.sum(1, dtype=torch.int8).float(), (i + j[:, :1].mT > 0).float()

    drawn = torch.Generator().manual_seed(1)
    i, j = (torch.randint(-128, 128, (8, 8), dtype=torch.int8, generator=drawn) for _ in range(2))
    compiled = torch.compile(function, backend=partial(backend.napkin_eq, options={"finite": True, "seconds": 100.0}))
    for got, wanted in zip(compiled(i, j), function(i, j), strict=True):
        assert torch.equal(got, wanted)
    assert backend.reports[-1].taken


def test_what_stays_in_its_range_is_not_wrapped():
    def function(i, u, w):
        chosen = torch.where(i > 0, i, -5).clamp(-100, 90).view(3, 1).flip(0)
        added = (i[:2].sum(dtype=torch.int8)).expand(3, 1)
        return chosen.long(), u.long() + 300, w[w % 3].view(3).long(), torch.maximum(added, chosen).long()

    program = nq.from_torch(function, I8, U8, I32)
    text = [str(term) for _, term in program.diagram.outputs]
    assert not any("mod 256" in t or "0.00390625" in t or "4294967296" in t for t in text[:3])
    positions = nq.from_torch(
        lambda x: torch.arange(x.shape[0], dtype=torch.int32) * x,
        torch.randn(5),
        dynamic_shapes={"x": {0: torch.export.Dim.DYNAMIC}},
    )
    assert "mod" not in str(positions.diagram.outputs[0][1])


LINES: tuple[tuple[float, float, int], ...] = (
    (0, 10, 5),
    (-5, 5, 9),
    (10, 0, 5),
    (-2.5, 2.7, 4),
    (0, 1, 50),
    (0, 7, 50),
    (3, 3, 1),
)
MADE = {
    "linspace": lambda x: [torch.linspace(*line, dtype=t) * x for t in (torch.int64, torch.int32) for line in LINES],
    "arange": lambda x: [
        torch.arange(*steps, dtype=t).sum() * x
        for t in (torch.int64, torch.int32)
        for steps in ((0.5, 5, 1.5), (-2.5, 5, 1.5), (4.7,))
    ],
    "logspace": lambda x: torch.logspace(0, 2, 5, dtype=torch.int64).sum() * x,
    "full": lambda x: (
        torch.full((1,), -2.7, dtype=torch.int64) * x,
        torch.full_like(x, 2.7, dtype=torch.int8) * x,
        x.new_full((1,), 2.7, dtype=torch.int32) * x,
        torch.scalar_tensor(2.7, dtype=torch.int64) * x,
        torch.full((1,), 2.7, dtype=torch.bool) * x,
    ),
}


@pytest.mark.parametrize("name", MADE)
def test_what_is_made_in_whole_numbers_has_no_fractions(name):
    x = torch.full((1,), 1.5)
    found = nq.from_torch(MADE[name], x).run(x)
    for got, wanted in zip(*(torch.utils._pytree.tree_leaves(v) for v in (found, MADE[name](x))), strict=True):
        assert torch.equal(got.double(), wanted.double())


def test_bits_of_whole_numbers_that_a_real_one_gave():
    x = torch.tensor([-300.7, 5.2, 77.9, 3.0])

    def function(x):
        return (x.to(torch.int8) & 5).float(), (x.long() | 6).float(), (x.to(torch.int16) ^ -3).float(), x.long() & -1

    for got, wanted in zip(nq.from_torch(function, x).run(x), function(x), strict=True):
        assert torch.equal(got.double(), wanted.double())


@pytest.mark.parametrize("aligned", [True, False])
def test_samples_of_a_grid_are_reflected_by_the_parity_of_their_turn(aligned):
    drawn = torch.Generator().manual_seed(5)
    x = torch.randn(1, 2, 5, 6, dtype=torch.float64, generator=drawn)
    grid = torch.rand(1, 3, 4, 2, dtype=torch.float64, generator=drawn) * 6 - 3

    def function(x, grid):
        return torch.nn.functional.grid_sample(x, grid, padding_mode="reflection", align_corners=aligned)

    torch.testing.assert_close(nq.from_torch(function, x, grid).run(x, grid), function(x, grid))
