"""Programs of the kinds that collections of small PyTorch programs hold, odd sizes: read whole, and right both ways
through the backend.

Each stands for several: single operators in their rarer forms, chains after a convolution or a product, parts of
networks.
"""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from napkin_eq.pytorch import backend
from napkin_eq.pytorch.importer import from_torch
from tests.pytorch.test_backend import same, step
from tests.pytorch.test_operators import agrees

KINDS: dict[str, tuple[Callable[[], Any], tuple[tuple[int, ...], ...]]] = {}


def kind(name: str, make: Callable[[], Any], *shapes: tuple[int, ...]) -> None:
    """Enter a program: what makes the function or module, and the shapes of its inputs."""
    KINDS[name] = (make, shapes)


def function(name: str, fn: Callable[..., Any], *shapes: tuple[int, ...]) -> None:
    kind(name, lambda: fn, *shapes)


class Then(nn.Module):  # type: ignore[misc]
    """A layer, and what is done with what it gives."""

    def __init__(self, first: nn.Module, then: Callable[..., Any]) -> None:
        super().__init__()
        self.first, self.then = first, then

    def forward(self, x: torch.Tensor) -> Any:
        return self.then(self.first(x))


function("triangles", lambda a, b: (torch.triu(a.triu() @ b.triu()), torch.tril(a.tril() @ b.tril())), (7, 7), (7, 7))
function("diagonal product", lambda a, b: torch.diag(a) @ b, (9,), (9, 5))
function("tall products", lambda a, b: (a @ b, b.T @ a.T), (65, 3), (3, 65))
function("exclusive sum", lambda x: torch.cat((torch.zeros_like(x[:, :1]), x), 1)[:, :-1].cumsum(1), (4, 17))
function("reverse sum", lambda x: x.flip(1).cumsum(1).flip(1), (4, 17))
function("frobenius", lambda x: x / torch.norm(x, p="fro"), (3, 4, 5))
function("logsumexp twice", lambda x: torch.logsumexp(torch.logsumexp(x, 1, keepdim=True), 1, keepdim=True), (5, 9))
function("cosine loss", lambda x, y: torch.mean(1 - F.cosine_similarity(x, y, dim=1)), (5, 9), (5, 9))
kind("pools 3d", lambda: lambda x: (F.max_pool3d(x, 3, 2, 1), F.avg_pool3d(x, 3, 2, 1)), (1, 2, 7, 5, 6))
kind("pool dilated", lambda: nn.MaxPool2d(2, 2, 1, 3), (2, 3, 11, 9))
kind("transposed 1d", lambda: nn.ConvTranspose1d(4, 6, 3, stride=3, padding=1, output_padding=1), (2, 4, 7))
kind("transposed 2d", lambda: nn.ConvTranspose2d(4, 6, (3, 5), (2, 3), (1, 2), dilation=(2, 1), groups=2), (2, 4, 5, 4))
kind("transposed 3d", lambda: nn.ConvTranspose3d(4, 8, (3, 2, 3), 2, (1, 0, 1), (1, 1, 1), groups=4), (1, 4, 3, 2, 3))
kind("convolution 3d", lambda: nn.Conv3d(3, 4, (3, 5, 2), (1, 2, 1), (1, 0, 1), (2, 1, 1)), (1, 3, 7, 6, 4))
kind(
    "transposed, norm, pool, groups",
    lambda: Then(
        nn.ConvTranspose2d(3, 8, 3), nn.Sequential(nn.BatchNorm2d(8), nn.Tanh(), nn.AvgPool2d(2), nn.GroupNorm(4, 8))
    ),
    (2, 3, 6, 5),
)
kind(
    "least, sum, gelu",
    lambda: Then(nn.Conv2d(3, 8, 3), lambda x: F.gelu(x.min(1, keepdim=True)[0].sum(2))),
    (2, 3, 6, 5),
)
kind("softmax, pools", lambda: Then(nn.Conv3d(3, 4, 3), lambda x: F.avg_pool3d(x.softmax(1), 2)), (1, 3, 6, 7, 6))
kind(
    "mean away",
    lambda: Then(nn.ConvTranspose3d(3, 4, 3), lambda x: x - x.mean((2, 3, 4), keepdim=True)),
    (1, 3, 3, 2, 3),
)
kind(
    "instance norm of rows", lambda: Then(nn.Linear(6, 8), lambda x: F.instance_norm(x[:, None, None])[:, 0, 0]), (5, 6)
)
kind("hard chain", lambda: Then(nn.Linear(6, 8), lambda x: F.hardtanh(F.mish(x.clamp(-1, 1) / 2)).logsumexp(1)), (5, 6))


kind(
    "means of transposed rows",
    lambda: Then(nn.LayerNorm(6), lambda x: F.adaptive_avg_pool1d(x.transpose(1, 2), 1).flatten(1)),
    (2, 5, 6),
)


class Recurrent(nn.Module):  # type: ignore[misc]
    def __init__(self, layer: Any, both: bool) -> None:
        super().__init__()
        self.layer, self.head = layer(5, 6, 2, batch_first=True, bidirectional=both), nn.Linear(6 * (1 + both), 3)

    def forward(self, x: torch.Tensor) -> Any:
        return self.head(self.layer(x)[0][:, -1])


for _name, _layer, _both in (("lstm", nn.LSTM, False), ("gru both ways", nn.GRU, True), ("rnn", nn.RNN, False)):
    kind(_name, partial(Recurrent, _layer, _both), (3, 4, 5))


def chunked_scan(x: torch.Tensor, decay: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    """A selective state space in chunks of 4, as published: sums of segments masked by -inf."""

    def segments(a: torch.Tensor) -> torch.Tensor:
        size = a.size(-1)
        total = a.cumsum(-1)
        gap = total[..., :, None] - total[..., None, :]
        return gap.masked_fill(~torch.tril(torch.ones(size, size, dtype=torch.bool)), -math.inf)

    x, decay, b, c = (t.reshape(t.shape[0], t.shape[1] // 4, 4, *t.shape[2:]) for t in (x, decay, b, c))
    decay = decay.permute(0, 3, 1, 2)
    total = decay.cumsum(-1)
    inside = torch.einsum("bclhn,bcshn,bhcls,bcshp->bclhp", c, b, segments(decay).exp(), x)
    states = torch.einsum("bclhn,bhcl,bclhp->bchpn", b, (total[..., -1:] - total).exp(), x)
    states = torch.cat([torch.zeros_like(states[:, :1]), states], 1)
    across = segments(F.pad(total[..., -1], (1, 0))).exp()
    before = torch.einsum("bhzc,bchpn->bzhpn", across, states)[:, :-1]
    return (inside + torch.einsum("bclhn,bchpn,bhcl->bclhp", c, before, total.exp())).flatten(1, 2)


function("state space", chunked_scan, (2, 8, 2, 3), (2, 8, 2), (2, 8, 2, 3), (2, 8, 2, 3))


def windows(x: torch.Tensor) -> torch.Tensor:
    """Attention inside windows that are rolled, cosine scores, as vision models have it."""
    x = (
        torch.roll(x.view(2, 4, 4, 6), (-1, -1), (1, 2))
        .view(2, 2, 2, 2, 2, 6)
        .permute(0, 1, 3, 2, 4, 5)
        .reshape(-1, 4, 6)
    )
    q = x.view(-1, 4, 2, 3).transpose(1, 2)
    x = ((F.normalize(q, dim=-1) @ F.normalize(q, dim=-1).transpose(-2, -1) * 3).softmax(-1) @ q).transpose(1, 2)
    x = x.reshape(2, 2, 2, 2, 2, 6).permute(0, 1, 3, 2, 4, 5).reshape(2, 4, 4, 6)
    return torch.roll(x, (1, 1), (1, 2)).view(2, 16, 6)


function("rolled windows", windows, (2, 16, 6))


class Squeezed(nn.Module):  # type: ignore[misc]
    """An inverted block with squeeze and excitation, shuffled by groups."""

    def __init__(self) -> None:
        super().__init__()
        self.wide = nn.Sequential(nn.Conv2d(4, 12, 1, bias=False), nn.BatchNorm2d(12), nn.ReLU6(True))
        self.deep = nn.Sequential(nn.Conv2d(12, 12, 5, 1, 2, groups=12, bias=False), nn.BatchNorm2d(12), nn.SiLU(True))
        self.gate = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(12, 3, 1), nn.ReLU(True), nn.Conv2d(3, 12, 1), nn.Sigmoid()
        )
        self.back = nn.Conv2d(12, 4, 1, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.channel_shuffle(self.deep(self.wide(x)), 3)
        return x + self.back(y * self.gate(y))


kind("squeeze and excitation", Squeezed, (2, 4, 5, 6))


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_is_read_whole_and_right_both_ways(name):
    make, shapes = KINDS[name]
    torch.manual_seed(3)
    fn = make()
    tensors = [torch.randn(shape, dtype=torch.float64) for shape in shapes]
    fn = fn.double() if isinstance(fn, nn.Module) else fn
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agrees(name, from_torch(copy.deepcopy(fn), *tensors).run(*tensors), copy.deepcopy(fn)(*tensors))
        own, other = (copy.deepcopy(fn).float() if isinstance(fn, nn.Module) else fn for _ in range(2))
        leaves = [t.float().requires_grad_() for t in tensors]
        torch._dynamo.reset()
        backend.reports.clear()
        fast = torch.compile(own, backend=partial(backend.napkin_eq, options={"executor": "reference", "finite": True}))
        held = [[*leaves, *(m.parameters() if isinstance(m, nn.Module) else ())] for m in (own, other)]
        with torch._dynamo.config.patch(allow_rnn=True):
            same(step(fast, leaves, held[0]), step(other, leaves, held[1]))
    assert [report.kind for report in backend.reports] == ["forward", "backward"]
    assert not any(report.failed for report in backend.reports)
    assert all(region.taken or "view" in region.reason for report in backend.reports for region in report.regions)
