"""Recurrences and linear attention, written naively: with all pairs, or step by step."""

import torch


def linear(q: "bf16[b=4, h=16, t=4096, d=64]", k: "bf16[b, h, t, d]", v: "bf16[b, h, t, e=64]"):
    """Attention without a softmax, over all keys: keys meet values first (Katharopoulos and others, 2020)."""
    q, k = torch.nn.functional.elu(q) + 1.0, torch.nn.functional.elu(k) + 1.0
    return (q @ k.transpose(-2, -1)) @ v / (q @ k.transpose(-2, -1)).sum(-1, keepdim=True)


def causal_linear(q: "bf16[b=4, h=16, t=4096, d=64]", k: "bf16[b, h, t, d]", v: "bf16[b, h, t, e=64]"):
    """The same for earlier keys alone: cut into chunks, with a state that is carried."""
    place = torch.arange(q.shape[-2])
    return (q @ k.transpose(-2, -1)).masked_fill(place > place[:, None], 0.0) @ v


def retention(
    q: "bf16[b=4, h=16, t=4096, d=64]", k: "bf16[b, h, t, d]", v: "bf16[b, h, t, e=64]", decay: "f32[h]"
):
    """Earlier keys count less, by a power of the distance (Sun and others, 2023)."""
    place = torch.arange(q.shape[-2])
    back = place[:, None] - place
    weight = torch.exp(back.clamp(min=0) * -torch.nn.functional.softplus(decay)[:, None, None])
    return ((q @ k.transpose(-2, -1)) * weight).masked_fill(back < 0, 0.0).to(v.dtype) @ v


def gated(a: "f32[b=8, t=64, d=2048]", x: "f32[b, t, d]"):
    """A gated linear recurrence, step by step (minGRU; Feng and others, 2024)."""
    h, rows = torch.zeros_like(x[:, 0]), []
    for t in range(x.shape[1]):
        gate = torch.sigmoid(a[:, t])
        h = gate * h + (1.0 - gate) * x[:, t]
        rows.append(h)
    return torch.stack(rows, 1)


def selective(
    x: "f32[b=2, t=64, d=1024]", step: "f32[b, t, d]", a: "f32[d, n=16]", enters: "f32[b, t, n]", leaves: "f32[b, t, n]"
):
    """A selective state space, step by step (Mamba; Gu and Dao, 2023)."""
    h, rows = torch.zeros(x.shape[0], x.shape[2], a.shape[1]), []
    for t in range(x.shape[1]):
        dt = torch.nn.functional.softplus(step[:, t])[..., None]
        h = torch.exp(-dt * torch.exp(a)) * h + dt * enters[:, t, None] * x[:, t, :, None]
        rows.append((h * leaves[:, t, None]).sum(-1))
    return torch.stack(rows, 1)
