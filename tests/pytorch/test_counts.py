"""What is counted, written to places so found, or compared with inf: forward and backward against PyTorch, in float64,
and through the backend where nothing else is new.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils import _pytree as pytree

from napkin_eq.lang.errors import NapkinError
from napkin_eq.pytorch import backend
from napkin_eq.pytorch.importer import from_torch
from tests.pytorch.test_backend import same, step
from tests.pytorch.test_operators import agrees
from tests.pytorch.test_spelled import given, gradients

KINDS: dict[str, tuple[Any, ...]] = {}


def kind(name, fn, *shapes):
    """Enter a function and its inputs: a shape gives random numbers, a tensor is taken as it is."""
    KINDS[name] = (fn, shapes)


INF, PLACES = math.inf, torch.tensor([2, 0, 2, 4])
SOME, REPEATS = torch.arange(27).view(3, 9) % 3 == 0, torch.tensor([1, 0, 2, 3])
kind("histogram", lambda x: (torch.histc(x, 5, -2, 2), torch.histc(x, 7), torch.histc(x.view(5, 8), 9, -1, 3)), (40,))
kind("histogram of whole numbers", lambda x: torch.histc(torch.arange(9, dtype=x.dtype) + 0 * x, 4), (9,))
kind("middle of numbers", lambda x: (x.nanmedian(1), x.nanmedian(), x.nanmedian(0, keepdim=True)), (3, 7))
kind("most frequent", lambda x: ((x * 2).round().mode(1), x.mode(0, True), x[:1].mode(0), x.long().mode()), (7, 9))
kind("repeated", lambda x, r: (x.repeat_interleave(r, 0, output_size=6),
     torch.repeat_interleave(x, r[:3], 1, output_size=3)), (4, 3), REPEATS)  # fmt: skip
kind("written where a mask holds", lambda x, s, m: (x.masked_scatter(m, s), x.masked_scatter(m[:1, :9], s),
     x.long().masked_scatter(m, (s * 9).long()), (x > 0).masked_scatter(m, s > 0)), (3, 9), (30,), SOME)  # fmt: skip
kind("reduced at places", lambda x, s, i: [x.index_reduce(0, i, s, how, include_self=own)
     for how in ("mean", "prod", "amax", "amin") for own in (True, False)], (5, 3), (4, 3), PLACES)  # fmt: skip
kind("put into a row", lambda x, s, i: (x.put(i[1:], s[0]), x.put(i - 7, s[:, 0], accumulate=True)),
     (5, 3), (4, 3), PLACES)  # fmt: skip
kind("short rows of a table", lambda w, i: F.embedding(i, w * 2, max_norm=1.0), (5, 3), PLACES)
kind("bounds by an order", lambda x, v, m: (torch.searchsorted(x, v, sorter=x.argsort()) * v,
     torch.searchsorted(m, m[:, :2].contiguous(), sorter=m.argsort(1), right=True) * m[:, :2]),
     (7,), (5,), (3, 7))  # fmt: skip
kind("all dropped", lambda x: (F.dropout(x, 1.0), F.dropout(x, 0.0), F.dropout2d(x[None], 1.0)), (3, 4, 2))
kind("shown larger", lambda x: (F.interpolate(x, scale_factor=2), F.interpolate(x, (5, 3)), F.interpolate(x[0], 9),
     F.interpolate(x, scale_factor=(1.5, 2.7)), F.interpolate(x[:, :, None], (2, 8, 6))), (1, 2, 4, 6))  # fmt: skip
kind("least of inf", lambda x, m: (torch.minimum(x, torch.tensor(INF, dtype=x.dtype)), x.masked_fill(m, INF).amin(1),
     torch.minimum(x.masked_fill(m, INF), x.flip(1)), x.clamp(max=INF)), (3, 9), SOME)  # fmt: skip
kind("order with inf", lambda x, m: (x.masked_fill(m, INF).topk(3, 1, largest=False), x.masked_fill(m, -INF).topk(3, 1),
     x.masked_fill(m, INF).argsort(1)[:, :3], x.masked_fill(m, INF).min(1)), (3, 9), SOME)  # fmt: skip
kind("compared with inf", lambda x, m: ((x.masked_fill(m, INF) < x.flip(0)) * x, (x.masked_fill(m, INF) >= 1.0) * x),
     (3, 9), SOME)  # fmt: skip


def shortest(w):
    """Ways through a graph of which all but the first begin infinitely long."""
    w = w.abs()
    found = torch.full((4,), INF, dtype=w.dtype).index_fill(0, torch.tensor([0]), 0.0)
    for _ in range(4):
        found = torch.minimum(found, (found[:, None] + w).amin(0))
    return found


kind("shortest ways", shortest, (4, 4))


@pytest.mark.filterwarnings("ignore:index_reduce")
@pytest.mark.parametrize("name", KINDS)
def test_it_is_what_pytorch_says_and_so_are_its_gradients(name):
    fn, shapes = KINDS[name]
    tensors = given(shapes)
    agrees(name, from_torch(fn, *tensors).run(*tensors), fn(*tensors))
    if any(v.requires_grad for v in pytree.tree_leaves(fn(*(t.clone().requires_grad_() if t.is_floating_point() else t
                                                            for t in tensors)))):  # fmt: skip
        backward = gradients(fn)
        agrees(name, from_torch(backward, *tensors).run(*tensors), backward(*tensors))


@pytest.mark.filterwarnings("ignore:index_reduce")
@pytest.mark.parametrize("name", ["written where a mask holds", "reduced at places", "shown larger", "order with inf"])
def test_the_backend_has_it_too(name):
    fn, shapes = KINDS[name]
    leaves = [t.float().requires_grad_() if t.is_floating_point() else t for t in given(shapes)]
    real = [t for t in leaves if t.requires_grad]
    torch._dynamo.reset()
    backend.reports.clear()
    fast = torch.compile(fn, backend=partial(backend.napkin_eq, options={"executor": "reference", "finite": True}))
    same(step(fast, leaves, real), step(fn, leaves, real))
    assert not any(report.failed for report in backend.reports)


def test_a_table_whose_rows_are_shortened_is_written():
    table, asked = nn.Embedding(4, 3, max_norm=0.5), torch.tensor([[0, 2], [2, 3]])
    program = from_torch(table, asked)
    found = dict(zip((p.target for p in program.outputs), program.evaluated(program.bound(asked)), strict=True))
    wanted = table(asked)  # writes the table
    assert torch.allclose(program.run(asked).float(), wanted)
    assert torch.allclose(found["weight"].float(), table.weight)


@pytest.mark.parametrize("repeats", [[1, 2], [3, 2]])
def test_repeats_of_another_sum_are_refused(repeats):
    x, held = torch.randn(2, 3), torch.tensor([2, 2])
    program = from_torch(lambda x, r: x.repeat_interleave(r, 0, output_size=4), x, held)
    with pytest.raises(NapkinError, match="outside of a dimension"):
        program.run(x, torch.tensor(repeats))
