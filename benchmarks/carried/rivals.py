"""What a user would run instead: for each work, every peer that is installed, under the name of its row.

A peer is a function that prepares and returns the call to time; it runs only where it is asked for, and may fail.
`reads` gives a peer's result in the axes of the reference.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import torch
import torch.nn.functional as F
from works import SOFTCAP, WINDOW, Sizes, Tensors, seen, starts

Call = Callable[[], torch.Tensor]


@dataclass
class Peer:
    """One rival: `make` prepares its call; `slow` marks a long search of its own; `kernels` must name what it was
    forced to.
    """

    name: str
    make: Callable[[], Call]
    slow: bool = False
    kernels: str = ""
    reads: Callable[[torch.Tensor], torch.Tensor] = lambda out: out


def installed(package: str) -> bool:
    """Whether a package, or a module within one, can be imported here."""
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def peers(kind: str, a: Tensors, sizes: Sizes) -> list[Peer]:
    """Return the peers of a work on given inputs."""
    family, _, detail = kind.partition(".")
    if family == "attention":
        return attention(a, sizes, detail)
    if family == "rows":
        return rows(a, detail)
    if family == "matmul":
        return [Peer("cublas", lambda: lambda: torch.matmul(a["A"], a["B"]))]
    return fused(family, a)


# -- attention ---------------------------------------------------------------------------------------------------------


def attention(a: Tensors, sizes: Sizes, detail: str) -> list[Peer]:
    """Return SDPA's two backends, compiled FlexAttention, and flash-attn-4 where it is installed and knows
    the variant.
    """
    shape = a["Q"].shape
    q = a["Q"].reshape(shape[0], -1, *shape[-2:])
    k, v = a["K"], a["V"]

    def back(out: torch.Tensor) -> torch.Tensor:
        return out.reshape(shape)

    found = [
        Peer("sdpa-flash2", lambda: sdpa("FLASH_ATTENTION", q, k, v, detail), kernels="flash", reads=back),
        Peer("sdpa-cudnn", lambda: sdpa("CUDNN_ATTENTION", q, k, v, detail, a), kernels="cudnn", reads=back),
        Peer("flex", lambda: flex(q, k, v, detail, a), reads=back),
    ]
    if installed("flash_attn.cute") and detail in ("full", "causal", "window", "softcap", "gqa", "decode"):
        found.append(Peer("fa4", lambda: fa4(q, k, v, detail), reads=lambda out: back(out.transpose(1, 2))))
    return found


def sdpa(
    backend: str, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, detail: str, a: Tensors | None = None
) -> Call:
    """Return scaled_dot_product_attention held to one backend; variants only as a mask, which only cuDNN's takes."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    kind = getattr(SDPBackend, backend)
    mask = None
    if detail not in ("full", "causal", "gqa", "decode"):
        if a is None or detail == "softcap":
            raise NotImplementedError(f"this backend has no {detail}")
        mask = _bias(detail, a, q, k)

    def call() -> torch.Tensor:
        with sdpa_kernel([kind]):
            return F.scaled_dot_product_attention(
                q, k, v, mask, is_causal=detail == "causal", enable_gqa=q.shape[1] != k.shape[1]
            )

    return call


def _bias(detail: str, a: Tensors, q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """Return a variant as what is added to the scores, in the storage type."""
    n, x = q.shape[-2], k.shape[-2]
    mask = seen(detail, slice(0, n), x, q.device)
    bias = torch.zeros((1, 1, n, x), dtype=q.dtype, device=q.device)
    if detail == "alibi":
        place = torch.arange(n, device=q.device)[:, None] - torch.arange(x, device=q.device)
        bias = (-a["slopes"].float()[None, :, None, None] * place).to(q.dtype)
    return bias if mask is None else bias.masked_fill(~mask, -math.inf)


def flex(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, detail: str, a: Tensors) -> Call:
    """Return FlexAttention, compiled, with the variant as it is meant to be written."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    n, x = q.shape[-2], k.shape[-2]
    blocks = None
    masks: dict[str, Callable[..., Any]] = {
        "causal": lambda b, h, i, j: i >= j,
        "alibi": lambda b, h, i, j: i >= j,
        "window": lambda b, h, i, j: (i >= j) & (i - j < WINDOW),
    }
    if detail == "document":
        begin = starts(x, q.device)
        document = torch.unique(begin, return_inverse=True)[1]
        masks["document"] = lambda b, h, i, j: (i >= j) & (document[i] == document[j])
    if detail in masks:
        blocks = create_block_mask(masks[detail], None, None, n, x, device=q.device)
    scores: dict[str, Callable[..., Any]] = {"softcap": lambda s, b, h, i, j: SOFTCAP * torch.tanh(s / SOFTCAP)}
    if detail == "alibi":
        slopes = a["slopes"].float()
        scores["alibi"] = lambda s, b, h, i, j: s - slopes[h] * (i - j)
    compiled = torch.compile(flex_attention, dynamic=False)
    return lambda: compiled(
        q, k, v, score_mod=scores.get(detail), block_mask=blocks, enable_gqa=q.shape[1] != k.shape[1]
    )


def fa4(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, detail: str) -> Call:
    """Return flash-attn-4's forward pass, on arrays stored as it wants them."""
    from flash_attn.cute import flash_attn_func

    Q, K, V = (t.transpose(1, 2).contiguous() for t in (q, k, v))
    options: dict[str, Any] = {
        "causal": dict(causal=True),
        "window": dict(window_size=(WINDOW - 1, 0)),
        "softcap": dict(softcap=SOFTCAP),
    }.get(detail, {})
    return lambda: _first(flash_attn_func(Q, K, V, **options))


def _first(out: Any) -> torch.Tensor:
    found: torch.Tensor = out[0] if isinstance(out, tuple) else out
    return found


# -- rows --------------------------------------------------------------------------------------------------------------


def rows(a: Tensors, detail: str) -> list[Peer]:
    """Return eager torch, torch.compile, quack and liger on rows."""
    x = a["A"]
    width = x.shape[-1]

    works: dict[str, Call] = {
        "softmax": lambda: torch.softmax(x, -1),
        "rms_norm": lambda: F.rms_norm(x, (width,), a["W"], 1e-6),
        "layer_norm": lambda: F.layer_norm(x, (width,), a["W"], a["B"], 1e-5),
    }
    plain = works[detail]
    found = [Peer("eager", lambda: plain), Peer("torch.compile", lambda: torch.compile(plain, dynamic=False))]
    if installed("quack"):
        found += [Peer("quack", lambda: quack(a, detail))]
    if installed("liger_kernel"):
        found += [Peer("liger", lambda: liger(a, detail))]
    return found


def quack(a: Tensors, detail: str) -> Call:
    """Return quack's kernel for rows."""
    x = a["A"]
    if detail == "softmax":
        from quack.softmax import softmax

        return lambda: softmax(x)
    if detail == "rms_norm":
        from quack.rmsnorm import rmsnorm

        return lambda: _first(rmsnorm(x, a["W"], eps=1e-6))
    from quack.rmsnorm import layernorm_fwd

    weight, bias = a["W"].float(), a["B"].float()
    return lambda: _first(layernorm_fwd(x, weight, bias, eps=1e-5))


def liger(a: Tensors, detail: str) -> Call:
    """Return liger's kernel for rows."""
    x = a["A"]
    if detail == "softmax":
        from liger_kernel.ops.softmax import LigerSoftmaxFunction

        return lambda: LigerSoftmaxFunction.apply(x)
    if detail == "rms_norm":
        from liger_kernel.ops.rms_norm import LigerRMSNormFunction

        return lambda: LigerRMSNormFunction.apply(x, a["W"], 1e-6)
    from liger_kernel.ops.layer_norm import LigerLayerNormFunction

    return lambda: LigerLayerNormFunction.apply(x, a["W"], a["B"], 1e-5)


# -- chains of operators -----------------------------------------------------------------------------------------------


def fused(family: str, a: Tensors) -> list[Peer]:
    """Return eager torch, torch.compile with and without its search, and the packages that have such a kernel."""
    plain = {"rmsnorm_linear": _rmsnorm_linear, "swiglu": _swiglu, "lora": _lora, "cross_entropy": _cross_entropy}[
        family
    ](a)
    found = [Peer("eager", lambda: plain), Peer("torch.compile", lambda: torch.compile(plain, dynamic=False))]
    if family != "cross_entropy":
        mode = "max-autotune-no-cudagraphs"
        found.append(Peer("compile-autotuned", lambda: torch.compile(plain, dynamic=False, mode=mode), slow=True))
    if family == "swiglu" and installed("liger_kernel"):
        found.append(Peer("liger", lambda: _liger_swiglu(a)))
    if family == "cross_entropy" and installed("cut_cross_entropy"):
        found.append(Peer("cut-cross-entropy", lambda: _cce(a)))
    if family == "cross_entropy" and installed("liger_kernel"):
        found.append(Peer("liger", lambda: _liger_cross_entropy(a)))
    return found


def _rmsnorm_linear(a: Tensors) -> Call:
    return lambda: F.linear(F.rms_norm(a["A"], a["G"].shape, a["G"], 1e-6), a["W"])


def _swiglu(a: Tensors) -> Call:
    return lambda: F.silu(F.linear(a["A"], a["G"])) * F.linear(a["A"], a["U"])


def _lora(a: Tensors) -> Call:
    return lambda: F.linear(a["A"], a["W"]) + F.linear(F.linear(a["A"], a["P"]), a["R"])


def _cross_entropy(a: Tensors) -> Call:
    labels = a["labels"].long()
    return lambda: F.cross_entropy(F.linear(a["A"], a["W"]).float(), labels, reduction="none")


def _cce(a: Tensors) -> Call:
    from cut_cross_entropy import linear_cross_entropy

    labels = a["labels"].long()
    return lambda: linear_cross_entropy(a["A"], a["W"], labels, reduction="none")


def _liger_swiglu(a: Tensors) -> Call:
    from liger_kernel.ops.swiglu import LigerSiLUMulFunction

    return lambda: LigerSiLUMulFunction.apply(F.linear(a["A"], a["G"]), F.linear(a["A"], a["U"]))


def _liger_cross_entropy(a: Tensors) -> Call:
    from liger_kernel.transformers import LigerFusedLinearCrossEntropyLoss

    loss, labels = LigerFusedLinearCrossEntropyLoss(reduction="none"), a["labels"].long()
    return lambda: loss(a["W"], a["A"], labels)
