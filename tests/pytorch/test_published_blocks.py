"""Building blocks as they are published, and the ways in which programs ask whether numbers are numbers: read whole,
right in the backend, on NaN and infinities too.
"""

from __future__ import annotations

import copy
import math

import pytest
import torch
import torch.nn.functional as F
from torch.utils import _pytree as pytree

from napkin_eq.pytorch import backend
from napkin_eq.pytorch.importer import from_torch
from tests.pytorch.operators import bools, inputs, ints, pos
from tests.pytorch.test_backend import compiled, same, step
from tests.pytorch.test_operators import agrees

INF, NAN = math.inf, math.nan
ODD = torch.tensor(
    [
        [1.0, NAN, 2.0, -INF, 0.5],
        [INF, 0.0, 1.0, 3.0, -1.0],
        [-INF] * 5,
        [-1.0, 0.0, 3.0, NAN, 5.0],
        [NAN] * 5,
        [0.1, 0.2, 0.3, 0.4, 0.5],
    ]
)
MASK = torch.tensor(
    [[1, 0, 1, 1, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0], [0, 1, 0, 1, 0], [1, 1, 0, 0, 1], [0, 0, 1, 0, 0]]
).bool()
PLACES = torch.tensor([0, 1, 1, 2, 0, 2])[:, None].expand(-1, 5)


pytestmark = pytest.mark.usefixtures("fresh")


def left():
    """Return the reasons of what was computed and stayed PyTorch."""
    reasons = {region.reason for report in backend.reports for region in report.regions}
    return [r for r in reasons if r and "view" not in r]


# Questions whether numbers are numbers.

ASKING = {
    "largest": lambda x, m: x.topk(3, 1).values,
    "order": lambda x, m: x.sort(dim=1, stable=True),
    "order down": lambda x, m: x.sort(dim=1, descending=True, stable=True),
    "running extremes": lambda x, m: (x.cummax(1), x.cummin(1)),
    "kinds": lambda x, m: (x.isnan(), x.isinf(), x.isfinite(), x.isposinf(), x.isneginf()),
    "comparisons": lambda x, m: (x == INF, x != INF, x < INF, x <= INF, x > INF, x >= INF, x == -INF, x != x),
    "made numbers": lambda x, m: (torch.nan_to_num(x), torch.nan_to_num(x, 1.0, 2.0, 3.0), x.nanmean(1)),
    "masked rows": lambda x, m: torch.nan_to_num(F.softmax(m.float().masked_fill(m, -INF), -1), 0.0),
    "masked rows chosen": lambda x, m: (p := m.float().masked_fill(m, -INF).softmax(-1)).masked_fill(
        p.isnan().any(1, keepdim=True), 0.25
    ),
    "least under a mask": lambda x, m: (m.float().masked_fill(m, INF).amin(1), torch.where(m, INF, x).amin(1)),
    "as large as can be": lambda x, m: (torch.where(m, INF, x) * 2, torch.full_like(x, INF).minimum(x)),
    "powers": lambda x, m: (x.pow(0.75), x.pow(-0.3)),
    "entropies": lambda x, m: (torch.xlogy(x, x.flip(0)), torch.xlogy(x, x)),
    "folded at places": lambda x, m: (
        torch.zeros(3, 5).scatter_reduce(0, PLACES, x, "amax"),
        torch.zeros(3, 5).scatter_reduce(0, PLACES, x, "sum"),
        torch.zeros(3, 5).scatter_reduce(0, PLACES, x, "amin", include_self=False),
    ),
    "shared out": lambda x, m: F.adaptive_max_pool2d(x[None], (4, 2), return_indices=True),
    "shifted whole numbers": lambda x, m: (F.pad(m.long() * 3, (1, 0))[:, :-1] == m.long() * 3).sum(1),
    "thresholds": lambda x, m: (F.threshold(x, 0.1, 2.0), torch.fmax(x, x.flip(1)), torch.fmin(x, x.flip(1))),
    "running sum of exponentials": lambda x, m: x.logcumsumexp(1),
}


@pytest.mark.parametrize("name", ASKING)
def test_what_asks_for_nan_and_infinities_is_taken_and_right(name):
    fn = ASKING[name]
    found = pytree.tree_leaves(compiled(fn)(ODD.clone(), MASK))
    for got, wanted in zip(found, pytree.tree_leaves(fn(ODD.clone(), MASK)), strict=True):
        torch.testing.assert_close(got, wanted, equal_nan=True, rtol=1e-5, atol=1e-6)
    assert not left()


def test_a_median_stays_where_data_may_be_nan():
    assert torch.isnan(compiled(lambda x: x.median(1).values)(ODD)[0]) and left()


def test_gradients_pass_where_a_threshold_meets_nan():
    x = ODD.clone().requires_grad_()
    wanted, *_ = torch.autograd.grad(F.relu(x).sum(), x)
    got, *_ = torch.autograd.grad(compiled(lambda t: F.relu(t).sum())(x), x)
    assert torch.equal(got, wanted)


# Writing at places.


def cache_at_rows(cache, new, query, places):
    cache = cache.clone()
    cache[torch.arange(2), places[:2]] = new
    scores = torch.einsum("bd,bnd->bn", query, cache).masked_fill(torch.arange(6)[None] > places[:2, None], -INF)
    return torch.einsum("bn,bnd->bd", scores.softmax(-1), cache)


def marked(x, mask, value):
    x = x.clone()
    x[mask] = 2.0
    x.index_put_((mask[0],), value, accumulate=True)
    return x


def unpooled(x):
    return F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2)


def t5_buckets(q, k, table):
    place = torch.arange(7)[None] - torch.arange(7)[:, None]
    far = 2 + (torch.log(place.abs().float() / 2) / math.log(4) * 2).long()
    near = torch.where(place.abs() < 2, place.abs(), torch.min(far, torch.full_like(far, 3)))
    return (q @ k.mT + table[near + (place > 0).long() * 4].permute(2, 0, 1)).softmax(-1)


def spline(x, knots, values):
    knots = knots.cumsum(0)
    at = torch.searchsorted(knots, x.detach()).clamp(1, 4)
    share = (x - knots[at - 1]) / (knots[at] - knots[at - 1])
    return values[at - 1] * (1 - share) + values[at] * share


def quantised_product(x, w):
    scale = x.abs().amax(1, keepdim=True) / 127 + 1e-6
    whole = [torch.clamp(torch.round(t), -128, 127).to(torch.int8) for t in (x / scale, w * 30)]
    return (whole[0].to(torch.int32) @ whole[1].to(torch.int32).T).float() * scale


BLOCKS = {
    "cache at places": (lambda c, n, p: c.index_copy(1, p, n), (2, 6, 3), (2, 1, 3), torch.tensor([3])),
    "cache in place": (cache_at_rows, (2, 6, 3), (2, 3), (2, 3), ints(6, 5)),
    "last of several": (lambda c, n: c.index_put((torch.tensor([1, 3, 1]),), n), (4, 2), (3, 2)),
    "marked": (marked, (4, 4), bools(4, 4), ()),
    "unpooled": (unpooled, (2, 3, 4, 4)),
    "gradients of rows": (
        lambda x, w: torch.func.vmap(torch.func.grad(lambda v: (torch.tanh(v @ w) ** 2).sum()))(x),
        (3, 4),
        (4, 4),
    ),
    "buckets of distances": (t5_buckets, (2, 7, 3), (2, 7, 3), (8, 2)),
    "spline": (spline, (3, 6), pos(5), (5,)),
    "direction and length": (lambda v, g, x: F.conv1d(x, torch._weight_norm(v, g, 0)), (4, 3, 2), (4, 1, 1), (2, 3, 6)),
    "repeated edges": (lambda x: F.pad(x, (1, 2, 2, 1), mode="replicate").square(), (1, 3, 4, 5)),
    "bilinear": (lambda x, y, w: F.bilinear(x, y, w), (3, 4), (3, 5), (2, 4, 5)),
    "trace": (lambda a: torch.einsum("bii->b", a) * 2, (2, 5, 5)),
    "powers of a mean": (lambda x: x.pow(0.75).mean(1), pos(3, 4)),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_is_read_whole_and_right_both_ways(name):
    fn, *kinds = BLOCKS[name]
    tensors = inputs(*kinds)
    agrees(name, from_torch(fn, *tensors).run(*tensors), fn(*copy.deepcopy(tensors)))
    own = [t.float().requires_grad_() if t.is_floating_point() else t for t in tensors]
    leaves = [t for t in own if t.requires_grad]
    same(step(compiled(fn), own, leaves), step(fn, own, leaves))
    assert not left() and not any(report.failed for report in backend.reports)


def test_whole_numbers_of_8_bits_are_taken():
    torch.manual_seed(0)
    tensors = [torch.randn(4, 8), torch.randn(5, 8)]
    torch.testing.assert_close(compiled(quantised_product)(*tensors), quantised_product(*tensors))
    assert not left()


def test_a_gradient_inside_a_program_is_read():
    def penalty(x, w):
        x = x.detach().requires_grad_()
        (slope,) = torch.autograd.grad(torch.tanh(x * w).sum(), x, create_graph=True)
        return ((slope.norm(2, 1) - 1) ** 2).mean()

    x, w = torch.randn(4, 6, dtype=torch.float64), torch.randn(6, dtype=torch.float64)
    agrees("penalty", from_torch(penalty, x, w).run(x, w), penalty(x, w))
    assert torch._C._functorch.peek_interpreter_stack() is None


def test_kernels_load_and_store_whole_numbers_of_8_and_16_bits(monkeypatch, tmp_path):
    import triton

    from napkin_eq.pytorch import kernels

    monkeypatch.setattr(triton.knobs.runtime, "interpret", True)
    monkeypatch.setattr(kernels, "folder", lambda: tmp_path)

    def unpacked(packed, small):
        low, high = packed & 15, packed >> 4
        return (torch.stack((low, high), -1).flatten(1).to(torch.int8) - 8) * small.to(torch.int8), packed.float() * 0.5

    packed, small = torch.arange(0, 256, 8, dtype=torch.uint8).view(4, 8), torch.arange(-8, 8, dtype=torch.int16)
    found = compiled(unpacked, executor="kernels")(packed, small)
    for got, wanted in zip(found, unpacked(packed, small), strict=True):
        assert got.dtype == wanted.dtype and torch.equal(got, wanted)
    taken = [region for region in backend.reports[0].taken if region.kernels]
    loaded = {dtype for region in taken for _, dtype in region.kernels.inputs}
    assert loaded == {"uint8", "int16"} and not left()


@pytest.mark.parametrize(
    "reason",
    ["the chain grows too long", "at an edge not PyTorch's: the plan in small is too large to be tried"],
)
def test_a_part_that_is_too_long_is_cut_in_two(monkeypatch, cache, reason):
    from napkin_eq.lang.errors import NapkinError
    from napkin_eq.pytorch import regions

    def long(*_args, **_named):
        raise NapkinError(reason)

    monkeypatch.setattr(regions, "answer", long)
    monkeypatch.setattr(backend, "_machine", lambda options, given_: ("h200", True, False))

    def f(x):
        return (x.tanh() * 2).sum(1, keepdim=True) + x.softmax(1)

    x = torch.randn(4, 5)
    same([compiled(f, executor="kernels", finite=True)(x)], [f(x)])
    tried = [region for region in backend.reports[-1].regions if region.reason == reason]
    assert len(tried) == 5 and all(len(region.said.split()) == 1 for region in tried)


# Complex numbers as pairs.


def rotated(x, turns):
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * turns.view(1, 6, 1, 4)).flatten(3)


class Rotation(torch.nn.Module):  # type: ignore[misc]
    def __init__(self):
        super().__init__()
        angles = torch.outer(torch.arange(8.0), torch.tensor([1.0, 0.1]))
        self.register_buffer("turns", torch.polar(torch.ones_like(angles), angles))
        self.first = torch.nn.Linear(4, 4)

    def forward(self, x):
        return rotated_by(self.first(x), self.turns[None, :5, None])


def rotated_by(x, turns):
    return torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (-1, 2))) * turns).flatten(3)


def sums(x, y):
    z = torch.complex(x, y)
    w = z * z.conj() + 2 * z - 0.5
    return w.real, w.imag, (z + x).abs(), torch.view_as_real(torch.stack((z, -w), 1)[:, 1])


def test_complex_numbers_that_rotate_are_read_as_pairs():
    torch.manual_seed(0)
    turns = torch.polar(torch.ones(6, 4, dtype=torch.float64), torch.outer(torch.arange(6.0), torch.rand(4)).double())
    x = torch.randn(2, 6, 3, 8, dtype=torch.float64)
    agrees("rotary", from_torch(rotated, x, turns).run(x, turns), rotated(x, turns))
    given = [t.double() for t in torch.randn(2, 3, 4)]
    agrees("sums", from_torch(sums, *given).run(*given), sums(*given))
    own = [x.float().requires_grad_(), turns.to(torch.complex64)]
    same(step(compiled(rotated), own, own[:1]), step(rotated, own, own[:1]))
    assert not left()
    module, x = Rotation(), torch.randn(2, 5, 2, 4)
    other = copy.deepcopy(module)
    held = [list(m.parameters()) for m in (module, other)]
    same(step(compiled(module), [x], held[0]), step(other, [x], held[1]))


def test_kernels_are_given_complex_numbers_as_they_lie(monkeypatch, tmp_path):
    import triton

    from napkin_eq.pytorch import kernels

    monkeypatch.setattr(triton.knobs.runtime, "interpret", True)
    monkeypatch.setattr(kernels, "folder", lambda: tmp_path)
    x, turns = torch.randn(2, 6, 3, 8), torch.polar(torch.ones(6, 4), torch.rand(6, 4))
    torch.testing.assert_close(compiled(rotated, executor="kernels")(x, turns), rotated(x, turns))
    assert not left() and all(region.kernels for region in backend.reports[0].taken)


def test_a_complex_result_stays():
    x = torch.randn(3, 2)
    assert torch.equal(compiled(lambda t: torch.view_as_complex(t) * 2)(x), torch.view_as_complex(x) * 2)
    assert any(
        "complex numbers, which are no outputs" in region.reason
        for report in backend.reports
        for region in report.regions
    )


def test_a_check_of_the_data_stays_and_says_so():
    labels = torch.tensor([0, 2, 1])
    assert torch.equal(compiled(lambda y: F.one_hot(y, 3) * 2)(labels), F.one_hot(labels, 3) * 2)
    assert set(left()) == {"a check of the data, which gives nothing"}
