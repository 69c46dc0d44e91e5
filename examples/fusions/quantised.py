"""Products whose operands are of few bits."""

import torch


def dynamic(x: "bf16[n=4096, d=4096]", w: "i8[e=4096, d]", scale: "f32[e]"):
    """Rows rounded to eight bits by their largest value, products of whole numbers, scales behind the sum
    (LLM.int8(); Dettmers and others, 2022).
    """
    most = x.abs().amax(-1, keepdim=True).float() / 127.0
    q = torch.round(x / most)
    return (q @ w.to(x.dtype).T) * most * scale


def weights(x: "bf16[n=16, d=4096]", w: "i8[e=14336, d]", scale: "f32[e]"):
    """Weights of eight bits with a scale a row, few rows of activations: the scale leaves the product."""
    return x @ (w.to(x.dtype) * scale[:, None].to(x.dtype)).T


def blocks(x: "e4m3[n=4096, m=32, d=128]", w: "e4m3[e=4096, m, d]", a: "f32[n, m]", b: "f32[e, m]"):
    """Operands of eight bits, a scale for each row's block of 128 (DeepSeek-V3, 2024)."""
    wide = (x.float() * a[..., None]).flatten(1)
    return wide @ (w.float() * b[..., None]).flatten(1).T
