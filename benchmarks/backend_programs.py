"""Small programs of PyTorch at real sizes through `torch.compile(backend="napkin_eq")`, beside eager and the default of
torch.compile: on a GPU, with the package installed: `python benchmarks/backend_programs.py [--jobs N] [TEXT]...`.
With `--folder DIR` the programs are those of the files there, in the form of KernelBench's: `Model`, `get_inputs` and
`get_init_inputs`; a `batch_size` is halved until the inputs have no more than 2^27 numbers.

Inputs, parameters and arithmetic are PyTorch's defaults, float32. First every program is compiled both ways in N
processes, each held against eager on the same inputs; then, alone on the GPU, calls are timed in turns, host included.
Rows go to backend_programs.json in the folder that $OUT names, or here.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Made = tuple[Callable[..., Any], tuple[Any, ...]]
PROGRAMS: dict[str, Callable[[], Made]] = {}
MOST = 2**27  # numbers of a published program's inputs, several of which are compiled at once


def program(*shapes: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a function of tensors drawn from a normal distribution, of bfloat16 where its name says so; a pair of a
    bound and a shape is whole numbers.
    """

    def entered(fn: Callable[..., Any]) -> Callable[..., Any]:
        dtype = torch.bfloat16 if "bf16" in fn.__name__ else torch.float32
        PROGRAMS[fn.__name__] = lambda: (fn, tuple(drawn(shape, dtype) for shape in shapes))
        return fn

    return entered


def module(*shapes: Any) -> Callable[[Callable[[], nn.Module]], Callable[[], nn.Module]]:
    """Enter a module, made by a function."""

    def entered(make: Callable[[], nn.Module]) -> Callable[[], nn.Module]:
        PROGRAMS[make.__name__] = lambda: (make(), tuple(map(drawn, shapes)))
        return make

    return entered


def drawn(shape: Any, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    if isinstance(shape[-1], tuple):
        return torch.randint(shape[0], shape[1])
    return torch.randn(shape).to(dtype)


class Chain(nn.Module):
    """Modules and functions, one after another."""

    def __init__(self, *parts: Any) -> None:
        super().__init__()
        self.kept = nn.ModuleList([part for part in parts if isinstance(part, nn.Module)])
        self.parts = parts

    def forward(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x


# Products
@program((2048, 4096), (4096, 2048))
def matmul(a, b):  # type: ignore[no-untyped-def]
    return a @ b


@program((8205, 2949), (2949, 5921))
def matmul_odd(a, b):  # type: ignore[no-untyped-def]
    return a @ b


@program((256, 131072), (131072, 256))
def matmul_long(a, b):  # type: ignore[no-untyped-def]
    return a @ b


@program((32768, 32), (32, 32768))
def matmul_thin(a, b):  # type: ignore[no-untyped-def]
    return a @ b


@program((16384, 8192), (8192, 1))
def matrix_vector(a, b):  # type: ignore[no-untyped-def]
    return a @ b


@program((128, 512, 1024), (128, 1024, 512))
def batched(a, b):  # type: ignore[no-untyped-def]
    return torch.bmm(a, b)


@program((4096,), (4096, 4096))
def diagonal_matmul(a, b):  # type: ignore[no-untyped-def]
    return torch.diag(a) @ b


@program((4096, 4096), (4096, 4096))
def triangular(a, b):  # type: ignore[no-untyped-def]
    return torch.tril(a @ b)


@program((4096, 1024), (2048, 4096))
def both_transposed(a, b):  # type: ignore[no-untyped-def]
    return a.T @ b.T


@program((8, 128, 256, 256), (256, 512))
def four_axes(a, b):  # type: ignore[no-untyped-def]
    return torch.einsum("bijl,lk->bijk", a, b)


# Elementwise, reductions, scans
@program((4096, 65536))
def relu(x):  # type: ignore[no-untyped-def]
    return torch.relu(x)


@program((4096, 65536))
def gelu(x):  # type: ignore[no-untyped-def]
    return F.gelu(x)


@program((8192, 8192))
def new_gelu(x):  # type: ignore[no-untyped-def]
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


@program((4096, 65536))
def softmax(x):  # type: ignore[no-untyped-def]
    return torch.softmax(x, 1)


@program((4096, 65536))
def log_softmax(x):  # type: ignore[no-untyped-def]
    return F.log_softmax(x, 1)


@program((112, 64, 512, 512))
def rms_norm_channels(x):  # type: ignore[no-untyped-def]
    return x / torch.sqrt((x**2).mean(1, keepdim=True) + 1e-5)


@program((112, 64, 512, 512))
def frobenius(x):  # type: ignore[no-untyped-def]
    return x / torch.norm(x, p="fro")


@program((32768, 16384))
def l1_norm(x):  # type: ignore[no-untyped-def]
    return x / torch.mean(torch.abs(x), 1, keepdim=True)


@program((32768, 16384))
def l2_norm(x):  # type: ignore[no-untyped-def]
    return x / torch.norm(x, p=2, dim=1, keepdim=True)


@module((16, 64, 256, 256))
def layer_norm_image():  # type: ignore[no-untyped-def]
    return nn.LayerNorm((64, 256, 256))


@module((64, 64, 256, 256))
def batch_norm():  # type: ignore[no-untyped-def]
    return nn.BatchNorm2d(64)


@module((64, 64, 256, 256))
def instance_norm():  # type: ignore[no-untyped-def]
    return nn.InstanceNorm2d(64)


@module((64, 64, 256, 256))
def group_norm():  # type: ignore[no-untyped-def]
    return nn.GroupNorm(8, 64)


@program((128, 4096, 4095))
def sum_middle(x):  # type: ignore[no-untyped-def]
    return torch.sum(x, 1, keepdim=True)


@program((128, 4096, 4095))
def max_middle(x):  # type: ignore[no-untyped-def]
    return torch.max(x, 1)[0]


@program((128, 4096, 4095))
def argmax_middle(x):  # type: ignore[no-untyped-def]
    return torch.argmax(x, 1)


@program((128, 4096, 4095))
def argmin_last(x):  # type: ignore[no-untyped-def]
    return torch.argmin(x, 2)


@program((32768, 8192))
def cumsum(x):  # type: ignore[no-untyped-def]
    return torch.cumsum(x, 1)


@program((32768, 8192))
def cumsum_reverse(x):  # type: ignore[no-untyped-def]
    return torch.cumsum(x.flip(1), 1).flip(1)


@program((32768, 4096))
def cumprod(x):  # type: ignore[no-untyped-def]
    return torch.cumprod(1 + 0.01 * x, 1)


@program((32768, 4096))
def exclusive(x):  # type: ignore[no-untyped-def]
    return torch.cat((torch.zeros_like(x[:, :1]), x), 1)[:, :-1].cumsum(1)


# Parts, joins and shifts
@program((16384, 2048), (16384, 2048))
def joined_bf16(x: Tensor, y: Tensor) -> Tensor:
    return torch.cat((x, y), 1)


@program((16384, 1000), (16384, 24), (16384, 1000))
def joined_odd(x: Tensor, y: Tensor, z: Tensor) -> Tensor:
    return torch.cat((x, y, z), 1).tanh()


@program((4, 32, 2048, 128), (2048, 128), (2048, 128))
def rotary_bf16(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    return x * cos + torch.cat((-x[..., 64:], x[..., :64]), -1) * sin


@program((4, 32, 2048, 128), (2048, 64), (2048, 64))
def rotary_pairs_bf16(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2)


@program((16, 1024, 1024), (1024,))
def token_shift(x: Tensor, mix: Tensor) -> Tensor:
    return x * mix + torch.cat((torch.zeros_like(x[:, :1]), x[:, :-1]), 1) * (1 - mix)


@program((64, 56, 56, 96))
def rolled_windows(x: Tensor) -> Tensor:
    moved = torch.roll(x, (-3, -3), (1, 2))
    return moved.view(64, 8, 7, 8, 7, 96).permute(0, 1, 3, 2, 4, 5).reshape(-1, 49, 96)


@program((32, 64, 128, 128))
def padded(x: Tensor) -> Tensor:
    return F.pad(x, (1, 1, 1, 1))


@program((64, 1024, 1024))
def masked_bf16(x: Tensor) -> Tensor:
    seen = torch.ones(1024, 1024, dtype=torch.bool, device=x.device).tril()
    return x.masked_fill(~seen, float("-inf"))


@program((32, 256, 64, 64))
def pixels_apart(x: Tensor) -> Tensor:
    return F.pixel_shuffle(x, 2)


@program((16384, 8192))
def halves_gated_bf16(x: Tensor) -> Tensor:
    one, other = x.chunk(2, -1)
    return F.silu(one) * other


# Pools and convolutions
@module((16, 64, 512, 512))
def max_pool():  # type: ignore[no-untyped-def]
    return nn.MaxPool2d(4, 1, 1, 1)


@module((16, 32, 128, 128, 128))
def max_pool_3d():  # type: ignore[no-untyped-def]
    return nn.MaxPool3d(3, 2, 1)


@module((64, 192, 65536))
def max_pool_1d():  # type: ignore[no-untyped-def]
    return nn.MaxPool1d(8, 1, 4, 3)


@module((16, 64, 512, 512))
def average_pool():  # type: ignore[no-untyped-def]
    return nn.AvgPool2d(11)


@module((64, 128, 65536))
def average_pool_1d():  # type: ignore[no-untyped-def]
    return nn.AvgPool1d(8, 1, 4)


@module((16, 32, 128, 128, 128))
def average_pool_3d():  # type: ignore[no-untyped-def]
    return nn.AvgPool3d(3, 2, 1)


@module((16, 64, 256, 256))
def conv3():  # type: ignore[no-untyped-def]
    return nn.Conv2d(64, 128, 3, padding=1)


@module((16, 256, 128, 128))
def conv1():  # type: ignore[no-untyped-def]
    return nn.Conv2d(256, 128, 1)


@module((64, 128, 256, 256))
def depthwise():  # type: ignore[no-untyped-def]
    return nn.Conv2d(128, 128, 3, padding=1, groups=128)


@module((16, 64, 256, 256))
def separable():  # type: ignore[no-untyped-def]
    return nn.Sequential(nn.Conv2d(64, 64, 3, padding=1, groups=64), nn.Conv2d(64, 128, 1))


@module((16, 32, 128, 128))
def transposed():  # type: ignore[no-untyped-def]
    return nn.ConvTranspose2d(32, 64, 3, stride=2, padding=1)


@module((8, 16, 32, 64, 64))
def conv3d():  # type: ignore[no-untyped-def]
    return nn.Conv3d(16, 32, 3)


@module((32, 64, 65536))
def conv_1d_dilated():  # type: ignore[no-untyped-def]
    return nn.Conv1d(64, 128, 3, dilation=4, stride=2)


# Losses
@program((32768, 8192), (32768, 8192))
def mean_squared(x, y):  # type: ignore[no-untyped-def]
    return torch.mean((x - y) ** 2)


@program((32768, 4096), (4096, (32768,)))
def cross_entropy(x, y):  # type: ignore[no-untyped-def]
    return F.cross_entropy(x, y)


@program((32768, 8192), (32768, 8192))
def huber(x, y):  # type: ignore[no-untyped-def]
    return F.smooth_l1_loss(x, y)


@program((16384, 4096), (16384, 4096))
def divergence(x, y):  # type: ignore[no-untyped-def]
    return F.kl_div(torch.log_softmax(x, -1), torch.softmax(y, -1), reduction="batchmean")


@program((16384, 4096), (16384, 4096), (16384, 4096))
def triplet(a, p, n):  # type: ignore[no-untyped-def]
    return F.triplet_margin_loss(a, p, n, margin=1.0)


@program((16384, 4096), (16384, 4096))
def cosine(x, y):  # type: ignore[no-untyped-def]
    return torch.mean(1 - F.cosine_similarity(x, y, dim=1))


@program((32, 32, 512, 64), (32, 32, 512, 64), (32, 32, 512, 64))
def library_attention(q, k, v):  # type: ignore[no-untyped-def]
    return F.scaled_dot_product_attention(q, k, v)


@program((4, 16, 4096, 128), (4, 16, 4096, 128), (4, 16, 4096, 128))
def library_attention_bf16(q, k, v):  # type: ignore[no-untyped-def]
    return F.scaled_dot_product_attention(q, k, v)


@program((4, 16, 4096, 128), (4, 16, 4096, 128), (4, 16, 4096, 128))
def library_attention_bf16_causal(q, k, v):  # type: ignore[no-untyped-def]
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


# Chains
@module((128, 64, 128, 128))
def conv_relu_bias():  # type: ignore[no-untyped-def]
    shift = nn.Parameter(torch.randn(128, 1, 1))
    found = Chain(nn.Conv2d(64, 128, 3), torch.relu, lambda x: x + shift)
    found.shift = shift
    return found


@module((64, 64, 128, 128))
def conv_norm_scale():  # type: ignore[no-untyped-def]
    return Chain(nn.Conv2d(64, 128, 3), nn.BatchNorm2d(128), lambda x: x * 2.0).eval()


@module((64, 64, 128, 128))
def conv_instance_norm_divide():  # type: ignore[no-untyped-def]
    return Chain(nn.Conv2d(64, 128, 3), nn.InstanceNorm2d(128), lambda x: x / 2.0)


@module((64, 8, 256, 256))
def conv_group_norm_chain():  # type: ignore[no-untyped-def]
    return Chain(
        nn.Conv2d(8, 64, 3), nn.GroupNorm(16, 64), lambda x: x * 1.5, nn.MaxPool2d(4), lambda x: x.clamp(0.0, 1.0)
    )


@module((32, 8, 24, 32, 32))
def conv3d_group_norm_mean():  # type: ignore[no-untyped-def]
    return Chain(nn.Conv3d(8, 24, 3), nn.Hardswish(), nn.GroupNorm(4, 24), lambda x: x.mean((2, 3, 4)))


@module((64, 64, 128, 128))
def conv_min_tanh():  # type: ignore[no-untyped-def]
    return Chain(nn.Conv2d(64, 64, 3), lambda x: x.min(1, keepdim=True)[0], torch.tanh, torch.tanh)


@module((64, 8, 128, 128))
def conv_mish_mish():  # type: ignore[no-untyped-def]
    return Chain(nn.Conv2d(8, 64, 3), F.mish, F.mish)


@module((64, 16, 128, 128))
def conv_subtract_pool():  # type: ignore[no-untyped-def]
    return Chain(nn.Conv2d(16, 64, 3), lambda x: x - 0.5, F.hardswish, nn.MaxPool2d(2), F.mish)


@module((64, 8, 128, 128))
def conv_avg_sigmoid_sum():  # type: ignore[no-untyped-def]
    return Chain(nn.Conv2d(8, 64, 3), nn.AvgPool2d(4), torch.sigmoid, lambda x: x.sum((1, 2, 3)))


@module((32, 32, 128, 128))
def transposed_clamp_scale():  # type: ignore[no-untyped-def]
    shift = nn.Parameter(torch.randn(64, 1, 1))
    found = Chain(
        nn.ConvTranspose2d(32, 64, 3, stride=2, padding=1, output_padding=1),
        lambda x: (x + shift).clamp(0.0, 1.0) * 2.0,
        lambda x: x.clamp(0.0, 1.0) / 2.0,
    )
    found.shift = shift
    return found


@module((16, 32, 128, 128))
def transposed_softmax():  # type: ignore[no-untyped-def]
    shift = nn.Parameter(torch.randn(64, 1, 1))
    found = Chain(
        nn.ConvTranspose2d(32, 64, 4, stride=2, padding=1, output_padding=1),
        lambda x: torch.sigmoid((torch.softmax(x, 1) + shift) * 2.0),
    )
    found.shift = shift
    return found


@module((16, 64, 128, 128))
def transposed_mean_logsumexp():  # type: ignore[no-untyped-def]
    shift = nn.Parameter(torch.randn(128, 1, 1))
    found = Chain(
        nn.ConvTranspose2d(64, 128, 3),
        lambda x: x.mean((2, 3), keepdim=True) + shift,
        lambda x: torch.logsumexp(x, 1, keepdim=True).sum((2, 3)) * 10.0,
    )
    found.shift = shift
    return found


@module((32, 16, 16, 32, 32))
def transposed_3d_norm():  # type: ignore[no-untyped-def]
    return Chain(
        nn.ConvTranspose3d(16, 32, 3, stride=2, padding=1), nn.BatchNorm3d(32), lambda x: x - x.mean((2, 3, 4), True)
    )


@module((16, 32, 16, 32, 32))
def transposed_3d_pools():  # type: ignore[no-untyped-def]
    return Chain(
        nn.ConvTranspose3d(32, 64, 5, stride=2, padding=2),
        nn.MaxPool3d(2),
        nn.MaxPool3d(3),
        lambda x: x.sum(1, keepdim=True),
    )


@module((1024, 8192))
def linear_swish_scale():  # type: ignore[no-untyped-def]
    return Chain(nn.Linear(8192, 8192), lambda x: x * torch.sigmoid(x) * 2.0)


@module((1024, 8192))
def linear_relu_divide():  # type: ignore[no-untyped-def]
    return Chain(nn.Linear(8192, 8192), torch.relu, lambda x: x / 2.0)


@module((1024, 8192))
def linear_group_norm_leaky():  # type: ignore[no-untyped-def]
    return Chain(nn.Linear(8192, 8192), nn.GroupNorm(512, 8192), F.leaky_relu, lambda x: x + x)


@module((1024, 8192))
def linear_sum_chain():  # type: ignore[no-untyped-def]
    return Chain(
        nn.Linear(8192, 8192),
        lambda x: x.sum(1, keepdim=True),
        lambda x: x.max(1, keepdim=True)[0].mean(1, keepdim=True),
        lambda x: torch.logsumexp(x, 1, keepdim=True),
    )


@module((1024, 8192))
def linear_batch_norm_softmax():  # type: ignore[no-untyped-def]
    return Chain(nn.Linear(8192, 8192), nn.BatchNorm1d(8192), lambda x: torch.softmax(0.5 * x, 1))


@module((1024, 8192))
def linear_subtract_gelu_residual():  # type: ignore[no-untyped-def]
    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear, self.shift = nn.Linear(8192, 8192), nn.Parameter(torch.randn(8192))

        def forward(self, x: Any) -> Any:
            y = self.linear(x) - self.shift
            y = torch.logsumexp(y.mean(1, keepdim=True), 1, keepdim=True)
            return F.gelu(y) + x

    return Block()


@module((1024, 8192))
def linear_max_pool_sum():  # type: ignore[no-untyped-def]
    pool = nn.MaxPool1d(2)
    return Chain(nn.Linear(8192, 8192), lambda x: pool(x.unsqueeze(1)).squeeze(1), lambda x: x.sum(1) * 0.5)


@module((1024, 8192), (1024, 8192))
def linear_instance_norm_residual():  # type: ignore[no-untyped-def]
    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(8192, 8192)

        def forward(self, x: Any, y: Any) -> Any:
            x = F.instance_norm(self.linear(x).unsqueeze(1).unsqueeze(1)).squeeze(1).squeeze(1)
            return (x + y) * y

    return Block()


# Models
@module((128, 16384))
def mlp():  # type: ignore[no-untyped-def]
    return nn.Sequential(nn.Linear(16384, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 1000))


@module((10, 64, 112, 112))
def basic_block():  # type: ignore[no-untyped-def]
    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Sequential(
                nn.Conv2d(64, 64, 3, padding=1, bias=False),
                nn.BatchNorm2d(64),
                nn.ReLU(),
                nn.Conv2d(64, 64, 3, padding=1, bias=False),
                nn.BatchNorm2d(64),
            )

        def forward(self, x: Any) -> Any:
            return torch.relu(self.body(x) + x)

    return Block()


@module((10, 112, 112, 112))
def inverted_residual():  # type: ignore[no-untyped-def]
    return nn.Sequential(
        nn.Conv2d(112, 672, 1, bias=False),
        nn.BatchNorm2d(672),
        nn.ReLU6(),
        nn.Conv2d(672, 672, 5, 2, 2, groups=672, bias=False),
        nn.BatchNorm2d(672),
        nn.ReLU6(),
        nn.Conv2d(672, 192, 1, bias=False),
        nn.BatchNorm2d(192),
    )


@module((128, 512, 768))
def causal_self_attention():  # type: ignore[no-untyped-def]
    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.qkv, self.out = nn.Linear(768, 2304), nn.Linear(768, 768)
            self.register_buffer("mask", torch.tril(torch.ones(512, 512)).view(1, 1, 512, 512))

        def forward(self, x: Any) -> Any:
            b, t, c = x.shape
            q, k, v = (y.view(b, t, 8, c // 8).transpose(1, 2) for y in self.qkv(x).split(c, 2))
            scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
            scores = scores.masked_fill(self.mask[:, :, :t, :t] == 0, float("-inf"))
            y = F.softmax(scores, -1) @ v
            return self.out(y.transpose(1, 2).contiguous().view(b, t, c))

    return Block()


@module((16, 1024, 768))
def relu_self_attention():  # type: ignore[no-untyped-def]
    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.qkv = nn.Linear(768, 2304)
            self.register_buffer("mask", torch.tril(torch.ones(1024, 1024)).view(1, 1, 1024, 1024))

        def forward(self, x: Any) -> Any:
            b, t, c = x.shape
            q, k, v = (y.view(b, t, 12, c // 12).transpose(1, 2) for y in self.qkv(x).split(c, 2))
            scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
            scores = scores.masked_fill(self.mask[:, :, :t, :t] == 0, float("-inf"))
            return (torch.relu(scores) @ v).transpose(1, 2).contiguous().view(b, t, c)

    return Block()


@module((2, 4096, 1024))
def norm_and_gate():  # type: ignore[no-untyped-def]
    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.RMSNorm(1024)
            self.gate, self.up, self.down = nn.Linear(1024, 2816), nn.Linear(1024, 2816), nn.Linear(2816, 1024)

        def forward(self, x: Any) -> Any:
            y = self.norm(x)
            return x + self.down(F.silu(self.gate(y)) * self.up(y))

    return Block()


def entered_from(folder: Path) -> None:
    """Enter the programs of a folder in the place of those here, by the names of its files and their own."""
    PROGRAMS.clear()

    def place(file: Path) -> tuple[str, int, str]:
        number = file.name.partition("_")[0]
        return file.parent.name, int(number) if number.isdecimal() else 0, file.name

    for file in sorted(folder.glob("*/*.py"), key=place):
        PROGRAMS[f"{file.parent.name.removeprefix('level')}.{file.stem}"] = partial(published, file)


def published(file: Path) -> Made:
    """Return the program of a file and its inputs, made on the GPU: a program runs with the rights of who names it."""
    text = file.read_text()
    while True:
        space: dict[str, Any] = {"__name__": file.stem}
        exec(compile(text, str(file), "exec"), space)
        with torch.device("meta"):
            total = sum(t.numel() for t in space["get_inputs"]() if isinstance(t, torch.Tensor))
        size = re.search(r"^batch_size *= *(\d+)", text, re.MULTILINE)
        if total <= MOST or size is None or int(size[1]) < 2:
            break
        text = f"{text[: size.start()]}batch_size = {int(size[1]) // 2}{text[size.end() :]}"
    with torch.device("cuda"):
        said = space["get_init_inputs"]()
        fn = space["Model"](**said) if isinstance(said, dict) else space["Model"](*said)
        return fn, tuple(space["get_inputs"]())


def made(name: str, device: str) -> Made:
    """Return a program and its inputs on a device, drawn with a seed; parameters ask for no gradients."""
    torch.manual_seed(0)
    fn, given = PROGRAMS[name]()
    if isinstance(fn, nn.Module):
        fn = fn.to(device).requires_grad_(False)
        for part in fn.modules():  # parameters that functions close over
            for key, value in list(vars(part).items()):
                if isinstance(value, torch.Tensor):
                    setattr(part, key, value.to(device))
    return fn, tuple(value.to(device) if isinstance(value, torch.Tensor) else value for value in given)


def off(found: Any, true: Any) -> float:
    """Return the largest distance of a result from another, relative to the norm."""
    pairs = zip(torch.utils._pytree.tree_leaves(found), torch.utils._pytree.tree_leaves(true), strict=True)
    worst = 0.0
    for a, b in pairs:
        if a.dtype != b.dtype or a.shape != b.shape or a.stride() != b.stride():
            return math.inf
        if not b.is_floating_point():
            worst = max(worst, float((a != b).float().mean()))
            continue
        size = float(torch.linalg.vector_norm(b.flatten(), dtype=torch.float64))
        far = float(torch.linalg.vector_norm((a - b).flatten(), dtype=torch.float64))
        worst = max(worst, far / size if size else far)
    return worst


def compiled(name: str, processes: int = 1) -> dict[str, Any]:
    """Compile a program both ways on the GPU here, regions searched in so many processes, and hold both against eager:
    a row without times.
    """
    import napkin_eq.pytorch.backend as backend

    fn, given = made(name, "cuda")
    row: dict[str, Any] = {"name": name}
    with torch.no_grad():
        true = fn(*given)
        ours = partial(backend.napkin_eq, options={"processes": processes})
        for key, how in (("inductor", "inductor"), ("ours", ours)):
            torch._dynamo.reset()
            begun = time.time()
            try:
                found = torch.compile(fn, backend=how, dynamic=False)(*given)
                row[f"{key}_off"] = off(found, true)
                del found
            except Exception as reason:
                row[f"{key}_error"] = f"{type(reason).__name__}: {str(reason)[:300]}"
            row[f"{key}_s"] = round(time.time() - begun, 1)
            torch.cuda.empty_cache()
    row["report"] = [str(report) for report in backend.reports]
    row["taken"] = sum(len(report.taken) for report in backend.reports)
    row["regions"] = sum(len(report.regions) for report in backend.reports)
    row["predicted_us"] = sum(r.kernels.predicted_us for rep in backend.reports for r in rep.taken if r.kernels)
    row["library_us"] = sum(r.library_us for rep in backend.reports for r in rep.taken if r.kernels)
    return row


def median(call: Callable[[], Any], times: list[float], rounds: int) -> None:
    for _ in range(rounds):
        one, two = torch.cuda.Event(True), torch.cuda.Event(True)
        one.record()
        call()
        two.record()
        two.synchronize()
        times.append(one.elapsed_time(two) * 1e3)


def timed(row: dict[str, Any]) -> None:
    """Add the medians of calls, in turns, to a row of a program that was compiled before."""
    import napkin_eq.pytorch.backend as backend

    fn, given = made(row["name"], "cuda")
    backend.reports.clear()
    with torch.no_grad():
        calls: dict[str, Callable[[], Any]] = {"eager_us": lambda: fn(*given)}
        for key, how in (("inductor", "inductor"), ("ours", backend.napkin_eq)):
            if f"{key}_error" not in row:
                torch._dynamo.reset()
                one = torch.compile(fn, backend=how, dynamic=False)
                calls[f"{key}_us"] = lambda one=one: one(*given)
                for _ in range(3):
                    calls[f"{key}_us"]()
        # What there was no time to search before may be taken now
        row["taken_timed"] = sum(len(report.taken) for report in backend.reports)
        kept: dict[str, list[float]] = {key: [] for key in calls}
        begun = time.time()
        while time.time() - begun < 1.2 and len(kept["eager_us"]) < 200:
            for key, call in calls.items():
                median(call, kept[key], 5)
    for key, figures in kept.items():
        row[key] = sorted(figures)[len(figures) // 2]
    if "ours_us" in row and "inductor_us" in row:
        row["times"] = row["inductor_us"] / row["ours_us"]


def written(rows: list[dict[str, Any]], share: str) -> None:
    figures = [row["times"] for row in rows if "times" in row]
    mean = math.exp(sum(map(math.log, figures)) / len(figures)) if figures else None
    head = {"schema": 1, "gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "geometric_mean": mean}
    file = Path(os.environ.get("OUT", Path(__file__).parent)) / f"backend_programs{share}.json"
    file.write_text(json.dumps({**head, "rows": rows}, indent=1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=300.0, help="for compiling; what is not done by then is left")
    parser.add_argument("--processes", type=int, default=1, help="of each program's search")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--share", default="0/1", metavar="I/N", help="of the programs, every Nth from the Ith")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="with folders of programs of KernelBench's form")
    parser.add_argument("words", nargs="*")
    given = parser.parse_args()
    if given.folder is not None:
        entered_from(given.folder)
    if given.one:
        print("row " + json.dumps(compiled(given.one, given.processes)))
        return
    texts = [word for word in given.words if word not in PROGRAMS]  # a whole name is that program alone
    names = [n for n in PROGRAMS if not given.words or n in given.words or any(text in n for text in texts)]
    first, every = map(int, given.share.split("/"))
    names, share = names[first::every], f"_{first}" if every > 1 else ""
    begun, waiting, running = time.time(), list(names), dict[str, Any]()
    rows: list[dict[str, Any]] = []
    while (waiting or running) and time.time() - begun < given.seconds:
        while waiting and len(running) < given.jobs:
            name = waiting.pop(0)
            out = open(f"/tmp/backend_{name}.log", "w+")  # noqa: SIM115 - a file that a process writes
            command = [sys.executable, __file__, "--one", name, "--processes", str(given.processes)]
            command += [] if given.folder is None else ["--folder", str(given.folder)]
            running[name] = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT), out
        time.sleep(0.2)
        for name, (process, out) in list(running.items()):
            if process.poll() is None:
                continue
            del running[name]
            text = Path(out.name).read_text()
            line = next((line for line in text.splitlines() if line.startswith("row ")), "")
            rows.append(json.loads(line[4:]) if line else {"name": name, "ours_error": f"ended: {text[-400:]}"})
            print(f"{time.time() - begun:.0f} s {len(rows)} {name}: " + str(rows[-1].get("ours_off", "?")), flush=True)
    for name, (process, _) in running.items():
        process.kill()
        rows.append({"name": name, "ours_error": "not compiled in time"})
    rows += [{"name": name, "ours_error": "not begun in time"} for name in waiting]
    written(rows, share)
    for row in sorted(rows, key=lambda row: names.index(row["name"])):
        if "ours_off" in row:
            try:
                timed(row)
            except Exception as reason:
                row["timing_error"] = f"{type(reason).__name__}: {str(reason)[:300]}"
            torch.cuda.empty_cache()
            shown = {k: row.get(k) for k in ("name", "taken", "ours_off", "inductor_off", "eager_us", "inductor_us")}
            print(shown, row.get("ours_us"), row.get("times"), row["predicted_us"], row["library_us"], flush=True)
            written(rows, share)


if __name__ == "__main__":
    main()
