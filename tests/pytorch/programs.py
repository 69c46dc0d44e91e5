"""Small programs as people write them: layers, losses, attention, pooling; each is read, evaluated, and derived where
the test of kernels says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from tests.pytorch.operators import bools, inputs, ints, pos

Program = tuple[Callable[[], Any], tuple[Any, ...]]
PROGRAMS: dict[str, Program] = {}


def program(*kinds: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a function of tensors."""

    def entered(fn: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[fn.__name__] = (lambda: fn, kinds)
        return fn

    return entered


def module(*kinds: Any) -> Callable[[Callable[[], nn.Module]], Callable[[], nn.Module]]:
    """Enter a module, made by a function; its parameters are drawn anew with a seed, in float64."""

    def entered(make: Callable[[], nn.Module]) -> Callable[[], nn.Module]:
        def made() -> nn.Module:
            torch.manual_seed(3)
            return make().double()

        PROGRAMS[make.__name__] = (made, kinds)
        return make

    return entered


def given(name: str) -> tuple[Any, list[torch.Tensor]]:
    """Return a program and inputs for it."""
    make, kinds = PROGRAMS[name]
    return make(), inputs(*kinds)


# One layer.


@program((5, 8), (8, 6), (6,))
def matmul_bias_gelu(x, w, b):
    return F.gelu(x @ w + b)


@program((5, 8), (6, 8), (6,))
def linear_swish_scale(x, w, b):
    y = F.linear(x, w, b)
    return y * torch.sigmoid(y) * 0.5


@program((4, 8), (6, 8), (6,))
def gemm_divide_clamp(x, w, b):
    return torch.clamp(F.linear(x, w, b) / 2.0, min=-1.0, max=1.0)


@program((4, 8), (6, 8), (6,))
def linear_sum_max_mean_logsumexp(x, w, b):
    y = F.linear(x, w, b).sum(1, keepdim=True)
    return torch.logsumexp(torch.mean(torch.max(y, 1, keepdim=True)[0], 1, keepdim=True), 1, keepdim=True)


@program((4, 8), (6, 8))
def matmul_dropout_softmax(x, w):
    return F.softmax(F.dropout(x @ w.T, 0.5, training=False), dim=1)


@program((4, 8), (6, 8), (6,))
def gemm_relu_subtract_multiply(x, w, b):
    return F.relu((F.linear(x, w) - b) * 1.5)


@program((4, 8), (8, 8), (8,))
def gemm_residual_norm(x, w, b):
    return F.layer_norm(x + F.linear(x, w, b), (8,))


@module((3, 8))
def mlp():
    return nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4))


class Gated(nn.Module):  # type: ignore[misc]
    def __init__(self):
        super().__init__()
        self.gate, self.up, self.down = nn.Linear(8, 12, False), nn.Linear(8, 12, False), nn.Linear(12, 8, False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


@module((3, 8))
def gated_mlp():
    return Gated()


# Rows.


@program((4, 9))
def softmax(x):
    return torch.softmax(x, dim=1)


@program((4, 9))
def log_softmax_scaled(x):
    return F.log_softmax(x * 0.3, dim=-1)


@program((4, 9), (9,))
def rms_norm(x, g):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * g


@program((2, 6, 5))
def layer_norm_over_two(x):
    return F.layer_norm(x, (6, 5))


@program((4, 9))
def l2_normalize(x):
    return x / (x.norm(dim=1, keepdim=True) + 1e-6)


@program((4, 9))
def l1_normalize(x):
    return x / (x.abs().mean(dim=1, keepdim=True) + 1e-6)


@program((4, 9))
def min_max_scaled(x):
    low, high = x.amin(1, keepdim=True), x.amax(1, keepdim=True)
    return (x - low) / (high - low + 1e-3)


@program((4, 9))
def new_gelu(x):
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


@program((4, 9))
def softsign_of_swish(x):
    y = x * torch.sigmoid(x)
    return y / (1 + y.abs())


@program((4, 9))
def argmax_rows(x):
    return torch.argmax(x, dim=1)


@program((4, 9))
def cumulative(x):
    return torch.cumsum(x, dim=1)


@program((4, 9), bools(4, 9))
def masked_cumulative(x, mask):
    return torch.cumsum(x * mask, dim=1)


@program((4, 9))
def variance_and_mean(x):
    return x.var(1, unbiased=False), x.mean(1)


# Convolutions.


@program((2, 3, 6, 6), (4, 3, 3, 3), (4,), (4, 1, 1))
def conv_relu_bias(x, w, b, extra):
    return F.relu(F.conv2d(x, w, b)) + extra


@module((2, 3, 6, 6))
def conv_norm_relu():
    return nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU()).eval()


@module((2, 3, 6, 6))
def conv_group_norm_tanh():
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.GroupNorm(2, 4), nn.Tanh(), nn.Hardswish())


@module((2, 4, 6, 6))
def depthwise_separable():
    return nn.Sequential(nn.Conv2d(4, 4, 3, padding=1, groups=4, bias=False), nn.Conv2d(4, 6, 1, bias=False))


@module((1, 3, 5, 5))
def transposed_conv_softmax():
    return nn.Sequential(nn.ConvTranspose2d(3, 4, 3, stride=2, padding=1, output_padding=1), nn.Softmax(dim=1))


@module((2, 3, 6, 6))
def conv_pool_linear():
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(16, 5))


@program((1, 2, 4, 4, 4), (3, 2, 3, 3, 3))
def conv3d_mish_tanh(x, w):
    return torch.tanh(F.mish(F.conv3d(x, w)))


@program((2, 3, 8), (4, 3, 3))
def dilated_conv1d(x, w):
    return F.conv1d(x, w, stride=1, dilation=2)


@program((2, 3, 6, 6), (4, 3, 3, 3))
def conv_min_channels(x, w):
    return torch.min(F.conv2d(x, w), dim=1, keepdim=True)[0]


@module((4, 3, 5))
def batch_norm_training():
    return nn.BatchNorm1d(3)


@program((2, 3, 7, 7))
def average_pool(x):
    return F.avg_pool2d(x, 3, stride=2, padding=1)


@program((2, 3, 7, 7))
def max_pool(x):
    return F.max_pool2d(x, 3, stride=2, padding=1)


@program((2, 3, 6, 6))
def global_average_pool(x):
    return F.adaptive_avg_pool2d(x, 1).flatten(1)


# Losses.


@program((5, 7), ints(7, 5))
def cross_entropy(x, labels):
    return F.cross_entropy(x, labels)


@program((5, 4), (7, 4), ints(7, 5))
def linear_cross_entropy(x, w, labels):
    return F.cross_entropy(x @ w.T, labels)


@program((5, 7), (5, 7))
def smooth_loss(x, y):
    return F.smooth_l1_loss(x, y)


@program((5, 7), (5, 7))
def kl_divergence(x, y):
    return F.kl_div(F.log_softmax(x, 1), F.softmax(y, 1), reduction="batchmean")


@program((5, 7), (5, 7))
def cosine_loss(x, y):
    return torch.mean(1 - F.cosine_similarity(x, y, dim=1))


@program((5, 7), (5, 7), (5, 7))
def triplet_loss(x, y, z):
    return F.triplet_margin_loss(x, y, z, margin=1.0)


@program((6, 4), (6, 4))
def contrastive_loss(x, y):
    scores = F.normalize(x, dim=1) @ F.normalize(y, dim=1).T / 0.1
    return F.cross_entropy(scores, torch.arange(6))


# Attention.


@program((2, 3, 5, 4), (2, 3, 7, 4), (2, 3, 7, 4))
def naive_attention(q, k, v):
    return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(4), dim=-1) @ v


@program((2, 5, 4), (2, 5, 4), (2, 5, 4))
def causal_attention(q, k, v):
    scores = q @ k.transpose(-2, -1) * 0.5
    mask = torch.tril(torch.ones(5, 5, dtype=torch.bool))
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1) @ v


@program((2, 3, 5, 4), (2, 3, 5, 4), (2, 3, 5, 4))
def library_attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


@program((2, 5, 4), (2, 5, 4), (2, 5, 4))
def capped_attention(q, k, v):
    return torch.softmax(torch.tanh(q @ k.mT / 20.0) * 20.0, dim=-1) @ v


@program((2, 5, 4), (2, 5, 4), (2, 5, 4))
def relu_attention(q, k, v):
    return F.relu(q @ k.mT * 0.5) @ v


class SelfAttention(nn.Module):  # type: ignore[misc]
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (y.view(b, t, self.heads, c // self.heads).transpose(1, 2) for y in self.qkv(x).split(c, dim=2))
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(torch.triu(torch.ones(t, t, dtype=torch.bool), 1), float("-inf"))
        y = F.softmax(att, dim=-1) @ v
        return self.out(y.transpose(1, 2).contiguous().view(b, t, c))


@module((2, 4, 8))
def self_attention():
    return SelfAttention(8, 2)


@module((2, 4, 8))
def transformer_block():
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two, self.att = nn.LayerNorm(8), nn.LayerNorm(8), SelfAttention(8, 2)
            self.mlp = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8))

        def forward(self, x):
            x = x + self.att(self.one(x))
            return x + self.mlp(self.two(x))

    return Block()


@program((2, 6, 8), (6, 4), (6, 4))
def rotary(x, cos, sin):
    half = torch.cat((-x[..., 4:], x[..., :4]), -1)
    return x * torch.cat((cos, cos), -1) + half * torch.cat((sin, sin), -1)


@module(ints(9, 2, 5))
def embedding_and_head():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.places, self.head = nn.Embedding(9, 6), nn.Embedding(5, 6), nn.Linear(6, 9)

        def forward(self, tokens):
            return self.head(self.words(tokens) + self.places(torch.arange(tokens.shape[1])))

    return Model()


@program((2, 5, 4), (2, 5, 4), (2, 5, 4))
def linear_attention(q, k, v):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    return (q @ (k.mT @ v)) / (q @ k.sum(1).unsqueeze(-1) + 1e-6)


@program((3, 5), pos(3, 5))
def log_and_divide(x, y):
    return x / y + torch.log(y) + torch.sqrt(y)


# Angles.


@program((5, 4), (5, 3))
def quaternions(q, v):
    q = F.normalize(q, dim=-1)
    w, u = q[:, :1], q[:, 1:]
    t = 2 * torch.cross(u, v, dim=-1)
    w, x, y, z = q.unbind(-1)
    roll = torch.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = torch.asin((2 * (w * y - z * x)).clamp(-1, 1))
    yaw = torch.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    return v + q[:, :1] * t + torch.cross(u, t, dim=-1), torch.stack([roll, pitch, yaw], -1)


@program((5, 4), ints(4, 5), (4, 4))
def angular_margin(x, y, w):
    cosine = F.linear(F.normalize(x), F.normalize(w)).clamp(-1 + 1e-7, 1 - 1e-7)
    turned = torch.cos(torch.acos(cosine) + 0.5)
    return F.cross_entropy(torch.where(F.one_hot(y, 4).bool(), turned, cosine) * 30.0, y, label_smoothing=0.1)


@program((4, 4), (4, 4))
def boxes_with_their_shapes(a, b):
    a, b = (torch.cat([t[:, :2], t[:, :2] + t[:, 2:].exp()], 1) for t in (a, b))
    low, high = torch.max(a[:, None, :2], b[:, :2]), torch.min(a[:, None, 2:], b[:, 2:])
    both = (high - low).clamp(min=0).prod(-1)
    area = [(t[:, 2] - t[:, 0]) * (t[:, 3] - t[:, 1]) for t in (a, b)]
    shape = [torch.atan((t[:, 2] - t[:, 0]) / (t[:, 3] - t[:, 1])) for t in (a, b)]
    return both / (area[0][:, None] + area[1] - both), 4 / math.pi**2 * (shape[0] - shape[1]) ** 2


@program((5, 3), pos(5, 3))
def log_probabilities(mean, scale):
    """Distributions look at their parameters, which is a question to the data; what is computed is not."""
    normal, gamma = torch.distributions.Normal(mean, scale), torch.distributions.Gamma(scale + 1, scale)
    counts = torch.distributions.Poisson(scale).log_prob(torch.ones_like(scale) * 2)
    other = torch.distributions.Categorical(logits=mean + scale)
    away = torch.distributions.kl_divergence(torch.distributions.Categorical(logits=mean), other)
    return normal.log_prob(mean + 1), normal.cdf(mean * 0.5), normal.entropy(), gamma.log_prob(scale), counts, away
