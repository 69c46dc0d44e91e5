"""Attention over pairs of residues."""

import torch


def evoformer(
    q: "bf16[s=64, h=8, r=256, c=32]", k: "bf16[s, h, r, c]", v: "bf16[s, h, r, c]", g: "bf16[s, h, r, c]",
    bias: "bf16[h, r, r]",
):
    """Row attention with a bias of pairs and a gate (AlphaFold; Jumper and others, 2021)."""
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5 + bias
    return torch.sigmoid(g) * (torch.softmax(scores, -1) @ v)


def points(
    q: "f32[h=12, r=512, c=16]", k: "f32[h, r, c]", v: "f32[h, r, c]", a: "f32[h, r, p=4, x=3]", b: "f32[h, r, p, x]",
    bias: "f32[h, r, r]", w: "f32[h]",
):
    """Invariant-point attention: scores fall with squared distances of points (Jumper and others, 2021)."""
    far = (a[:, :, None] - b[:, None]).square().sum((-2, -1))
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5 + bias - w[:, None, None] / 2.0 * far
    return torch.softmax(scores, -1) @ v


def triangle(a: "bf16[i=256, k=256, c=128]", b: "bf16[j=256, k, c]", g: "bf16[i, j, c]"):
    """The triangle update: edges from i and j to every third residue, gated (Jumper and others, 2021)."""
    return torch.sigmoid(g) * torch.einsum("ikc,jkc->ijc", a, b)
