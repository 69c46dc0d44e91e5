"""Losses over a large vocabulary or batch, whose logits are never stored where one pass suffices."""

import torch
from torch.nn.functional import cross_entropy, kl_div, log_softmax, logsigmoid, normalize


def linear_cross_entropy(x: "bf16[n=8192, d=2048]", w: "bf16[v=32768, d]", label: "i64[n]"):
    """A linear layer and the cross-entropy of each row (Wijmans and others, 2024)."""
    return cross_entropy(x @ w.T, label, reduction="none")


def label_smoothing(x: "bf16[n=8192, d=2048]", w: "bf16[v=32768, d]", label: "i64[n]"):
    """The same with a tenth of the weight spread over all words."""
    return cross_entropy(x @ w.T, label, reduction="none", label_smoothing=0.1)


def z_loss(x: "bf16[n=8192, d=2048]", w: "bf16[v=32768, d]", label: "i64[n]"):
    """Cross-entropy, and the square of the logarithm of the sum to keep it small (PaLM, 2022)."""
    logits = x @ w.T
    return cross_entropy(logits, label, reduction="none") + 1e-4 * torch.logsumexp(logits, -1).square()


def capped(x: "bf16[n=8192, d=2048]", w: "bf16[v=32768, d]", label: "i64[n]"):
    """Logits held between -30 and 30 by a tanh first (Gemma 2, 2024)."""
    return cross_entropy(30.0 * torch.tanh(x @ w.T / 30.0), label, reduction="none")


def focal(x: "bf16[n=8192, d=2048]", w: "bf16[v=32768, d]", label: "i64[n]"):
    """What is sure counts less (Lin and others, 2017)."""
    log_p = log_softmax(x @ w.T, -1).gather(1, label[:, None])[:, 0]
    return -((1.0 - log_p.exp()) ** 2) * log_p


def distillation(x: "bf16[n=4096, d=2048]", w: "bf16[v=32768, d]", y: "bf16[n, e=4096]", u: "bf16[v, e]"):
    """How far a student's words are from a teacher's, both through their last layers (Hinton and others, 2015)."""
    student, teacher = log_softmax(x @ w.T, -1), log_softmax(y @ u.T, -1)
    return kl_div(student, teacher, reduction="none", log_target=True).sum(-1)


def preference(
    chosen: "bf16[b=8, t=512, d=2048]", refused: "bf16[b, t, d]", w: "bf16[v=32768, d]",
    good: "i64[b, t]", bad: "i64[b, t]", reference: "f32[b]",
):
    """Log-likelihoods of two answers against those of a reference (DPO; Rafailov and others, 2023)."""
    yes = log_softmax(chosen @ w.T, -1).gather(-1, good[..., None])[..., 0].sum(-1)
    no = log_softmax(refused @ w.T, -1).gather(-1, bad[..., None])[..., 0].sum(-1)
    return -logsigmoid(0.1 * (yes - no - reference))


def contrastive(x: "bf16[n=4096, d=512]", y: "bf16[n, d]"):
    """Each row against all of the other side, both ways (CLIP; Radford and others, 2021)."""
    scores = 14.0 * normalize(x, dim=-1) @ normalize(y, dim=-1).T
    label = torch.arange(x.shape[0])
    return (cross_entropy(scores, label) + cross_entropy(scores.T, label)) / 2.0


def greedy(x: "bf16[n=256, d=4096]", w: "bf16[v=32768, d]"):
    """The likeliest word of a linear layer."""
    return (x @ w.T).argmax(-1)


def gumbel(x: "bf16[n=256, d=4096]", w: "bf16[v=32768, d]", noise: "f32[n, v]"):
    """A word drawn: the greatest of logits and Gumbel noise (Maddison and others, 2014)."""
    return ((x @ w.T).float() - torch.log(-torch.log(noise))).argmax(-1)
