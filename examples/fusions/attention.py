"""Attention in the forms in which it was published, each as one would first write it in PyTorch.

`napkin-eq derive examples/fusions/attention.py:causal`; `python examples/fusions` shows all that is found.
"""

import torch
from torch.nn.functional import normalize


def full(q: "bf16[b=4, h=16, t=4096, d=128]", k: "bf16[b, h, s=4096, d]", v: "bf16[b, h, s, d]"):
    """FlashAttention: scores, a softmax of each row, a mean of values (Dao and others, 2022)."""
    p = torch.softmax(q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5, -1)
    return p @ v


def backward(
    q: "bf16[h=16, t=4096, d=128]", k: "bf16[h, s=4096, d]", v: "bf16[h, s, d]", g: "bf16[h, t, d]"
):
    """FlashAttention's backward pass: gradients for queries, keys and values (Dao, 2023)."""
    def attend(q, k, v):
        return torch.softmax(q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5, -1) @ v

    return torch.func.vjp(attend, q, k, v)[1](g)


def causal(q: "bf16[b=4, h=16, t=4096, d=128]", k: "bf16[b, h, t, d]", v: "bf16[b, h, t, d]"):
    """A query sees the keys up to its own place; blocks of keys that no query sees are skipped."""
    t = q.shape[-2]
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
    scores = scores.masked_fill(torch.arange(t) > torch.arange(t)[:, None], float("-inf"))
    return torch.softmax(scores, -1) @ v


def sliding(q: "bf16[b=4, h=16, t=4096, d=128]", k: "bf16[b, h, t, d]", v: "bf16[b, h, t, d]"):
    """A query sees its own key and the 511 before it (Longformer; Beltagy and others, 2020)."""
    place = torch.arange(q.shape[-2])
    back = place[:, None] - place
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
    return torch.softmax(scores.masked_fill((back < 0) | (back >= 512), float("-inf")), -1) @ v


def prefix(
    q: "bf16[b=4, h=16, t=4096, d=128]", k: "bf16[b, h, t, d]", v: "bf16[b, h, t, d]", length: "i32[b]"
):
    """All see a prefix, whose length each sequence has for itself; what follows is causal (Raffel and others, 2020)."""
    place = torch.arange(q.shape[-2])
    seen = (place <= place[:, None]) | (place < length[:, None, None, None])
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
    return torch.softmax(scores.masked_fill(~seen, float("-inf")), -1) @ v


def document(q: "bf16[h=16, t=8192, d=128]", k: "bf16[h, t, d]", v: "bf16[h, t, d]", owner: "i32[t]"):
    """Sequences packed one after another: a query sees earlier keys of its own document."""
    place = torch.arange(q.shape[-2])
    seen = (place <= place[:, None]) & (owner == owner[:, None])
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
    return torch.softmax(scores.masked_fill(~seen, float("-inf")), -1) @ v


def dilated(q: "bf16[b=4, h=16, t=4096, d=128]", k: "bf16[b, h, t, d]", v: "bf16[b, h, t, d]"):
    """A query sees every fourth earlier key (Sparse Transformers; Child and others, 2019)."""
    place = torch.arange(q.shape[-2])
    back = place[:, None] - place
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
    return torch.softmax(scores.masked_fill((back < 0) | (back % 4 != 0), float("-inf")), -1) @ v


def alibi(
    q: "bf16[b=4, h=16, t=4096, d=128]", k: "bf16[b, h, t, d]", v: "bf16[b, h, t, d]", slope: "f32[h]"
):
    """Scores fall with the distance, at a slope for each head (Press and others, 2021)."""
    place = torch.arange(q.shape[-2])
    back = place[:, None] - place
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5 - slope[:, None, None] * back
    return torch.softmax(scores.masked_fill(back < 0, float("-inf")), -1).to(v.dtype) @ v


def learned_bias(
    q: "bf16[b=4, h=16, t=2048, d=64]", k: "bf16[b, h, t, d]", v: "bf16[b, h, t, d]", bias: "bf16[n=257, h]"
):
    """A learned bias of the clamped distance (T5; Raffel and others, 2020)."""
    place, n = torch.arange(q.shape[-2]), bias.shape[0]
    back = (place[:, None] - place).clamp(-(n // 2), n // 2) + n // 2
    scores = q @ k.transpose(-2, -1) + bias[back].permute(2, 0, 1)
    return torch.softmax(scores, -1) @ v


def softcap(q: "bf16[b=4, h=16, t=4096, d=128]", k: "bf16[b, h, t, d]", v: "bf16[b, h, t, d]"):
    """Scores held between -50 and 50 by a tanh (Gemma 2, 2024)."""
    place = torch.arange(q.shape[-2])
    scores = 50.0 * torch.tanh(q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5 / 50.0)
    return torch.softmax(scores.masked_fill(place > place[:, None], float("-inf")), -1) @ v


def sinks(
    q: "bf16[b=4, h=16, t=4096, d=64]", k: "bf16[b, h, t, d]", v: "bf16[b, h, t, d]", sink: "bf16[h]"
):
    """A learned score of each head takes part in the sum, and has no value (gpt-oss, 2025)."""
    b, h, t, _ = q.shape
    place = torch.arange(t)
    scores = (q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5).masked_fill(place > place[:, None], float("-inf"))
    joined = torch.cat((scores, sink[:, None, None].expand(b, h, t, 1)), -1)
    return torch.softmax(joined, -1)[..., :-1] @ v


def off_by_one(q: "bf16[b=4, h=16, t=4096, d=128]", k: "bf16[b, h, t, d]", v: "bf16[b, h, t, d]"):
    """One is added to the sum of exponentials, so that a head may say nothing (Miller, 2023)."""
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
    most = scores.amax(-1, keepdim=True).clamp(min=0.0)
    e = torch.exp(scores - most)
    return e / (e.sum(-1, keepdim=True) + torch.exp(-most)) @ v


def grouped_query(q: "bf16[b=4, k=8, r=4, t=4096, d=128]", k: "bf16[b, k, t, d]", v: "bf16[b, k, t, d]"):
    """Four heads of queries share one of keys and values, which are written out for each (Ainslie and others, 2023)."""
    r = q.shape[2]
    k, v = k[:, :, None].expand(-1, -1, r, -1, -1), v[:, :, None].expand(-1, -1, r, -1, -1)
    place = torch.arange(q.shape[-2])
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
    return torch.softmax(scores.masked_fill(place > place[:, None], float("-inf")), -1) @ v


def latent(
    q: "bf16[h=16, t=4096, d=128]", c: "bf16[t, r=512]", up: "bf16[h, d, r]", out: "bf16[h, e=128, r]"
):
    """Keys and values of all heads come from one narrow row a token (DeepSeek-V2, 2024)."""
    k, v = torch.einsum("tr,hdr->htd", c, up), torch.einsum("tr,her->hte", c, out)
    place = torch.arange(q.shape[-2])
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
    return torch.softmax(scores.masked_fill(place > place[:, None], float("-inf")), -1) @ v


def normed(q: "bf16[b=4, h=16, t=4096, d=128]", k: "bf16[b, h, t, d]", v: "bf16[b, h, t, d]"):
    """Queries and keys of length one: no score passes 10; a maximum is taken all the same (Henry and others, 2020)."""
    scores = 10.0 * normalize(q, dim=-1) @ normalize(k, dim=-1).transpose(-2, -1)
    return torch.softmax(scores, -1) @ v


def sigmoid(q: "bf16[b=4, h=16, t=4096, d=128]", k: "bf16[b, h, t, d]", v: "bf16[b, h, t, d]"):
    """Weights are sigmoids, with no sum to divide by (Ramapuram and others, 2024)."""
    t = q.shape[-2]
    return torch.sigmoid(q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5 - torch.log(torch.tensor(float(t)))) @ v


def squared_relu(q: "bf16[b=4, h=16, t=4096, d=128]", k: "bf16[b, h, t, d]", v: "bf16[b, h, t, d]"):
    """Weights are squares of what is positive, over their number (Primer's function; Hua and others, 2022)."""
    t = q.shape[-2]
    place = torch.arange(t)
    weights = torch.relu(q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5).square() / t
    return weights.masked_fill(place > place[:, None], 0.0) @ v


def differential(
    q: "bf16[b=4, h=8, t=4096, d=128]", k: "bf16[b, h, t, d]", p: "bf16[b, h, t, d]", c: "bf16[b, h, t, d]",
    v: "bf16[b, h, t, d]", share: "f32[h]",
):
    """The difference of two softmaxes weighs the values (Ye and others, 2024)."""
    place = torch.arange(q.shape[-2])
    hidden, scale = place > place[:, None], q.shape[-1] ** -0.5
    first = torch.softmax((q @ k.transpose(-2, -1) * scale).masked_fill(hidden, float("-inf")), -1)
    second = torch.softmax((p @ c.transpose(-2, -1) * scale).masked_fill(hidden, float("-inf")), -1)
    return (first - share[:, None, None] * second).to(v.dtype) @ v


def both_sums(q: "bf16[h=16, t=4096, d=128]", k: "bf16[h, s=4096, d]", v: "bf16[h, s, d]"):
    """The same weights summed along both axes: values of queries, and how much each key was seen (KeyFormer;
    Adnan and others, 2024).
    """
    p = torch.softmax(q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5, -1)
    return p @ v, p.sum(-2)
