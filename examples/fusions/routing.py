"""Tokens that go to few of many experts."""

import torch


def top_two(x: "bf16[n=8192, d=2048]", w: "bf16[e=64, d]"):
    """The two best experts of each token and their shares (Shazeer and others, 2017)."""
    best, place = (x @ w.T).topk(2, -1)
    return torch.softmax(best, -1), place


def experts(x: "bf16[n=1024, d=1024]", w: "bf16[e=8, d, f=1024]", expert: "i64[n]"):
    """Each token times the matrix of its expert."""
    return torch.einsum("nd,ndf->nf", x, w[expert])


def balance(x: "bf16[n=8192, d=2048]", w: "bf16[e=64, d]"):
    """The share of tokens times the mean probability of each expert (Switch; Fedus and others, 2021)."""
    p = torch.softmax(x @ w.T, -1)
    chosen = torch.nn.functional.one_hot(p.argmax(-1), w.shape[0]).to(p.dtype)
    return w.shape[0] * (chosen.mean(0) * p.mean(0)).sum()
