"""Building blocks as they are published, and the ways in which programs ask whether numbers are numbers: read whole, right in the backend,
on NaN and infinities too.
"""

from __future__ import annotations

import copy
import math
import warnings

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
ODD = torch.tensor([[1.0, NAN, 2.0, -INF, 0.5], [INF, 0.0, 1.0, 3.0, -1.0], [-INF] * 5, [-1.0, 0.0, 3.0, NAN, 5.0], [NAN] * 5, [0.1, 0.2, 0.3, 0.4, 0.5]])
MASK = torch.tensor([[1, 0, 1, 1, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0], [0, 1, 0, 1, 0], [1, 1, 0, 0, 1], [0, 0, 1, 0, 0]]).bool()
PLACES = torch.tensor([0, 1, 1, 2, 0, 2])[:, None].expand(-1, 5)


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch._dynamo.reset()
        backend.reports.clear()
        yield


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
    "masked rows chosen": lambda x, m: (p := m.float().masked_fill(m, -INF).softmax(-1)).masked_fill(p.isnan().any(1, keepdim=True), 0.25),
    "least under a mask": lambda x, m: (m.float().masked_fill(m, INF).amin(1), torch.where(m, INF, x).amin(1)),
    "as large as can be": lambda x, m: (torch.where(m, INF, x) * 2, torch.full_like(x, INF).minimum(x)),
    "powers": lambda x, m: (x.pow(0.75), x.pow(-0.3)),
    "entropies": lambda x, m: (torch.xlogy(x, x.flip(0)), torch.xlogy(x, x)),
    "folded at places": lambda x, m: (
        torch.zeros(3, 5).scatter_reduce(0, PLACES, x, "amax"),
        torch.zeros(3, 5).scatter_reduce(0, PLACES, x, "sum"),
        torch.zeros(3, 5).scatter_reduce(0, PLACES, x, "amin", include_self=False),
    ),
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


BLOCKS = {
    "cache at places": (lambda c, n, p: c.index_copy(1, p, n), (2, 6, 3), (2, 1, 3), torch.tensor([3])),
    "cache in place": (cache_at_rows, (2, 6, 3), (2, 3), (2, 3), ints(6, 5)),
    "last of several": (lambda c, n: c.index_put((torch.tensor([1, 3, 1]),), n), (4, 2), (3, 2)),
    "marked": (marked, (4, 4), bools(4, 4), ()),
    "unpooled": (unpooled, (2, 3, 4, 4)),
    "gradients of rows": (lambda x, w: torch.func.vmap(torch.func.grad(lambda v: (torch.tanh(v @ w) ** 2).sum()))(x), (3, 4), (4, 4)),
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


def test_a_gradient_inside_a_program_is_read():
    def penalty(x, w):
        x = x.detach().requires_grad_()
        (slope,) = torch.autograd.grad(torch.tanh(x * w).sum(), x, create_graph=True)
        return ((slope.norm(2, 1) - 1) ** 2).mean()

    x, w = torch.randn(4, 6, dtype=torch.float64), torch.randn(6, dtype=torch.float64)
    agrees("penalty", from_torch(penalty, x, w).run(x, w), penalty(x, w))
    assert torch._C._functorch.peek_interpreter_stack() is None
