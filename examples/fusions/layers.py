"""Norms, linear layers and what stands around them."""

import torch
from torch.nn.functional import gelu, layer_norm, silu


def softmax(x: "bf16[n=4096, m=32768]"):
    """Online softmax: maximum and sum in one pass (Milakov and Gimelshein, 2018)."""
    e = torch.exp(x - x.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


def norm_linear(x: "bf16[n=4096, d=4096]", g: "bf16[d]", w: "bf16[e=4096, d]"):
    """An RMS norm through the linear layer behind it: the row's scale leaves the product."""
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * g @ w.T


def norm_gate(x: "bf16[n=16, d=4096]", g: "bf16[d]", w: "bf16[e=14336, d]", u: "bf16[e, d]"):
    """An RMS norm before a gate of two linear layers, few rows (Llama, 2023)."""
    x = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * g
    return silu(x @ w.T) * (x @ u.T)


def residual_norm(x: "bf16[n=8192, d=4096]", y: "bf16[n, d]", g: "bf16[d]", b: "bf16[d]"):
    """What is added to a residual, and the norm of the sum, both stored by one kernel."""
    x = x + y
    return x, layer_norm(x, (x.shape[-1],), g, b)


def row_scale(x: "bf16[n=4096, d=4096]", w: "bf16[d, e=4096]"):
    """Rows of length one times a matrix: the length divides the product."""
    return x / torch.linalg.vector_norm(x, dim=-1, keepdim=True) @ w


def rotary_backward(g: "bf16[b=4, h=16, t=4096, d=128]", x: "bf16[b, h, t, d]", angle: "f32[t, m=64]"):
    """A rotation: its backward turns the gradient back; beside it the squared length of the turned row
    (RoFormer; Su and others, 2021).
    """
    cos, sin = torch.cos(angle), torch.sin(angle)
    def turned(x):
        a, b = x.chunk(2, -1)
        return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)

    y, back = torch.func.vjp(turned, x)
    return back(g)[0], y.square().sum(-1)


def lora(x: "bf16[n=4096, d=4096]", w: "bf16[e=4096, d]", a: "bf16[r=16, d]", b: "bf16[e, r]"):
    """A linear layer and a correction of low rank (Hu and others, 2021)."""
    return x @ w.T + 2.0 * (x @ a.T) @ b.T


def dora(x: "bf16[n=4096, d=4096]", w: "bf16[e=4096, d]", a: "bf16[r=16, d]", b: "bf16[e, r]", m: "bf16[e]"):
    """The corrected weights have lengths of their own (Liu and others, 2024)."""
    changed = w + b @ a
    return x @ (m[:, None] * changed / torch.linalg.vector_norm(changed, dim=1, keepdim=True)).T


def geglu(x: "bf16[n=4096, d=2048]", w: "bf16[e=8192, d]", u: "bf16[e, d]", out: "bf16[d, e]"):
    """A gated feed-forward layer (Shazeer, 2020)."""
    return (gelu(x @ w.T, approximate="tanh") * (x @ u.T)) @ out.T


def norm_backward(x: "bf16[n=8192, d=4096]", w: "bf16[d]", g: "bf16[n, d]"):
    """The backward of an RMS norm: both gradients from one reading of the rows."""
    def norm(x, w):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * w

    return torch.func.vjp(norm, x, w)[1](g)


def variance(x: "f32[n=4096, m=16384]"):
    """The variance of each row in one pass (Welford, 1962)."""
    return (x - x.mean(-1, keepdim=True)).square().mean(-1)


def covariance(x: "f32[n=4096, m=16384]", y: "f32[n, m]"):
    """The covariance of two rows in one pass, stable at any offset."""
    return ((x - x.mean(-1, keepdim=True)) * (y - y.mean(-1, keepdim=True))).mean(-1)
