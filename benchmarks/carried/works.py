"""What each work computes: random inputs, the result in float64, and a bound on the error of a 16-bit implementation.

The bound is elementwise and a priori. With u the unit roundoff of the storage type, e = 2**-23 what a float32 operation
may lose,

    |out - exact| <= u |exact| + (r u + n e + s) * magnitude

where `magnitude` is the result computed from absolute values, n the number of terms summed, r how many roundings to
storage the operands of a contraction or a value between two kernels may take, and s what errors of scores do to
exponentials. Arrays are dictionaries by the names of the diagram; results have the axes of the manifest, in the order
of `axes`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

Tensors = dict[str, torch.Tensor]
Sizes = dict[str, int]
EPS32 = 2.0**-23
WINDOW, SOFTCAP, DOCUMENTS = 1024, 50.0, 24
CHUNK_BYTES = 2**31


@dataclass
class Exact:
    """A result in float64 with the bound on every element of it; `axes` name its dimensions."""

    out: torch.Tensor
    bound: torch.Tensor
    axes: tuple[str, ...]

    def held(self, got: torch.Tensor) -> dict[str, float]:
        """Return the largest error, the part of its bound used at most, and the error's norm relative to
        the result's.
        """
        error = (got.double() - self.out).abs()
        used = torch.where(error == 0, 0.0, error / self.bound)
        worst = used.nan_to_num(nan=math.inf, posinf=math.inf).max()
        return {"max_error": float(error.nan_to_num(nan=math.inf).max()), "bound_used": float(worst),
            "bound": float(self.bound.max()),
                "relative": float(error.norm() / self.out.norm())}  # fmt: skip


def unit(dtype: torch.dtype) -> float:
    """Return the unit roundoff of a storage type: half its epsilon."""
    return torch.finfo(dtype).eps / 2


# -- inputs ------------------------------------------------------------------------------------------------------------


def inputs(
    kind: str, declared: dict[str, tuple[torch.dtype, tuple[str, ...]]], sizes: Sizes, device: str, seed: int
) -> Tensors:
    """Return normal inputs, weights scaled to keep results near 1, integers as the diagram needs them."""
    generator = torch.Generator(device).manual_seed(seed)
    return {name: _drawn(kind, name, dtype, dims, sizes, generator) for name, (dtype, dims) in declared.items()}


def _drawn(
    kind: str, name: str, dtype: torch.dtype, dims: tuple[str, ...], sizes: Sizes, generator: torch.Generator
) -> torch.Tensor:
    shape = [sizes[d] for d in dims]
    device = generator.device
    if name == "labels":
        return torch.randint(0, sizes["v"], shape, device=device, dtype=dtype, generator=generator)
    if name == "start":
        return starts(shape[-1], device).to(dtype).expand(shape).contiguous()
    if name == "slopes":
        return (2.0 ** (-8.0 * torch.arange(1, shape[0] + 1, device=device) / shape[0])).to(dtype)
    tensor = torch.empty(shape, device=device, dtype=dtype).normal_(generator=generator)
    layered = (
        kind in ("rmsnorm_linear", "swiglu", "lora", "cross_entropy") and len(dims) == 2 and name not in ("A", "R")
    )
    return tensor.mul_(sizes["d"] ** -0.5) if layered else tensor


def starts(length: int, device: torch.device | str) -> torch.Tensor:
    """Return, for each place of a packed sequence, where its document begins; documents differ in length, the same on
    every machine.
    """
    weights = torch.tensor([1 + (7 * i) % 11 for i in range(DOCUMENTS)], dtype=torch.float64)
    ends = (weights.cumsum(0) / weights.sum() * length).long()
    begins = torch.cat([torch.zeros(1, dtype=torch.long), ends[:-1]])
    place = torch.arange(length)
    return begins[torch.searchsorted(ends, place, right=True).clamp(max=DOCUMENTS - 1)].to(device)


def whole(kind: str, a: Tensors, seed: int) -> Tensors | None:
    """Return inputs of small integers, for which every product and sum is exact, or None where the work is not
    multilinear.
    """
    if kind not in ("matmul", "lora"):
        return None
    found = {}
    for name, tensor in a.items():
        generator = torch.Generator(tensor.device).manual_seed(seed)
        seed += 1
        values = torch.randint(-2, 3, tensor.shape, device=tensor.device, dtype=torch.int8, generator=generator)
        if name == "P":  # few entries, so that what lies between two contractions is exact in 16 bits too
            values *= (torch.rand(tensor.shape, device=tensor.device, generator=generator) < 16 / tensor.shape[-1]).to(
                torch.int8
            )
        found[name] = values.to(tensor.dtype)
    return found


# -- results in float64 ------------------------------------------------------------------------------------------------


def exact(kind: str, a: Tensors, sizes: Sizes) -> Exact:
    """Return the result of a work in float64 and the bound on the error of every element."""
    family, _, detail = kind.partition(".")
    return {"attention": _attention, "rows": _rows}.get(family, REFERENCES.get(family))(a, sizes, detail)


def _blocks(rows: int, bytes_a_row: int) -> Iterator[slice]:
    step = max(1, CHUNK_BYTES // bytes_a_row)
    return (slice(i, min(i + step, rows)) for i in range(0, rows, step))


def seen(detail: str, queries: slice, keys: int, device: torch.device) -> torch.Tensor | None:
    """Return which keys some queries see, or None for all."""
    q = torch.arange(queries.start, queries.stop, device=device)[:, None]
    x = torch.arange(keys, device=device)[None, :]
    if detail in ("causal", "alibi"):
        return x <= q
    if detail == "window":
        return (x <= q) & (q < x + WINDOW)
    if detail == "document":
        return (x <= q) & (starts(keys, device)[queries, None] <= x)
    return None


def _attention(a: Tensors, sizes: Sizes, detail: str) -> Exact:
    q = a["Q"].reshape(-1, *a["Q"].shape[-2:])
    k, v = (a[name].reshape(-1, *a[name].shape[-2:]) for name in ("K", "V"))
    shared, (heads, length, depth), keys = q.shape[0] // k.shape[0], q.shape, k.shape[1]
    out = torch.empty(q.shape, dtype=torch.float64, device=q.device)
    bound = torch.empty_like(out)
    scale, u = depth**-0.5, unit(q.dtype)
    for head in range(heads):
        K, V = k[head // shared].double(), v[head // shared].double()
        widest = K.norm(dim=-1).max()
        for rows in _blocks(length, 8 * 6 * keys):
            Q = q[head, rows].double()
            scores = Q @ K.T * scale
            if detail == "softcap":
                scores = SOFTCAP * torch.tanh(scores / SOFTCAP)
            if detail == "alibi":
                place = (
                    torch.arange(rows.start, rows.stop, device=q.device)[:, None]
                    - torch.arange(keys, device=q.device)[None, :]
                )
                scores -= a["slopes"].double()[head % sizes["h"]] * place
            mask = seen(detail, rows, keys, q.device)
            weights = torch.softmax(scores if mask is None else scores.masked_fill(~mask, -math.inf), -1)
            out[head, rows] = weights @ V
            wrong = (depth + 8) * EPS32 * scale * Q.norm(dim=-1, keepdim=True) * widest + 8 * EPS32 * (
                1 + scores.abs().amax(-1, keepdim=True)
            )
            bound[head, rows] = u * out[head, rows].abs() + (u + keys * EPS32 + 2 * wrong) * (weights @ V.abs())
    shape = a["Q"].shape
    axes = ("b", "k", "r", "q", "d") if len(shape) == 5 else ("b", "h", "q", "d")
    return Exact(out.reshape(shape), bound.reshape(shape), axes)


def _matmul(a: Tensors, sizes: Sizes, detail: str) -> Exact:
    A, B = a["A"].double(), a["B"].double()
    out = A @ B
    return Exact(out, unit(a["A"].dtype) * out.abs() + sizes["k"] * EPS32 * (A.abs() @ B.abs()), ("m", "n"))


def _rows(a: Tensors, sizes: Sizes, detail: str) -> Exact:
    width = sizes["x" if detail == "softmax" else "d"]
    A, u = a["A"], unit(a["A"].dtype)
    out = torch.empty(A.shape, dtype=torch.float64, device=A.device)
    bound = torch.empty_like(out)
    for rows in _blocks(A.shape[0], 8 * 8 * width):
        x = A[rows].double()
        if detail == "softmax":
            out[rows] = torch.softmax(x, -1)
            loose = width + 8 * (1 + (x.amax(-1, keepdim=True) - x.amin(-1, keepdim=True)))
            bound[rows] = (u + loose * EPS32) * out[rows]
            continue
        moved = x - x.mean(-1, keepdim=True) if detail == "layer_norm" else x
        deviation = (moved * moved).mean(-1, keepdim=True).add(1e-5 if detail == "layer_norm" else 1e-6).rsqrt()
        scaled = moved * deviation * a["W"].double()
        out[rows] = scaled + (a["B"].double() if detail == "layer_norm" else 0.0)
        spread = x.abs().mean(-1, keepdim=True) * deviation * a["W"].double().abs()
        bound[rows] = u * out[rows].abs() + (width + 16) * EPS32 * (scaled.abs() + spread)
    return Exact(out, bound, ("t", "x" if detail == "softmax" else "d"))


def _rmsnorm_linear(a: Tensors, sizes: Sizes, detail: str) -> Exact:
    A, W, u = a["A"].double(), a["W"].double(), unit(a["A"].dtype)
    normed = A * (A * A).mean(-1, keepdim=True).add(1e-6).rsqrt() * a["G"].double()
    out = normed @ W.T
    return Exact(out, u * out.abs() + (2 * u + (2 * sizes["d"] + 16) * EPS32) * (normed.abs() @ W.abs().T), ("t", "f"))


def _swiglu(a: Tensors, sizes: Sizes, detail: str) -> Exact:
    A, G, U = (a[name].double() for name in "AGU")
    gate, up, u = A @ G.T, A @ U.T, unit(a["A"].dtype)
    out = torch.nn.functional.silu(gate) * up
    slack = u + (sizes["d"] + 16) * EPS32
    # |silu'| < 1.1; an implementation may keep gate and up in 16 bits before it multiplies them.
    bound = 2 * u * out.abs() + slack * (
        1.1 * (A.abs() @ G.abs().T) * up.abs() + (A.abs() @ U.abs().T) * torch.nn.functional.silu(gate).abs()
    )
    return Exact(out, bound, ("t", "f"))


def _lora(a: Tensors, sizes: Sizes, detail: str) -> Exact:
    A, W, P, R = (a[name].double() for name in "AWPR")
    low, u = A @ P.T, unit(a["A"].dtype)
    out = A @ W.T + low @ R.T
    dense, thin = A.abs() @ W.abs().T, (A.abs() @ P.abs().T) @ R.abs().T
    bound = (
        u * out.abs()
        + 2 * u * ((A @ W.T).abs() + low.abs() @ R.abs().T)
        + (sizes["d"] + sizes["l"]) * EPS32 * (dense + thin)
    )
    return Exact(out, bound, ("t", "f"))


def _cross_entropy(a: Tensors, sizes: Sizes, detail: str) -> Exact:
    A, W, labels = a["A"], a["W"].double(), a["labels"].long()
    u = unit(A.dtype)
    out = torch.empty(A.shape[0], dtype=torch.float64, device=A.device)
    bound = torch.empty_like(out)
    widest = W.norm(dim=-1).max()
    for rows in _blocks(A.shape[0], 8 * 4 * sizes["v"]):
        x = A[rows].double()
        logits = x @ W.T
        out[rows] = torch.logsumexp(logits, -1) - logits.gather(1, labels[rows, None])[:, 0]
        # An implementation may keep logits in 16 bits; the largest of a row says how far off that is.
        wrong = sizes["d"] * EPS32 * x.norm(dim=-1) * widest + u * logits.abs().amax(-1)
        bound[rows] = u * out[rows].abs() + 2 * wrong + (sizes["v"] + 16) * EPS32
    return Exact(out, bound, ("t",))


REFERENCES: dict[str, Callable[[Tensors, Sizes, str], Exact]] = {
    "matmul": _matmul, "rmsnorm_linear": _rmsnorm_linear, "swiglu": _swiglu, "lora": _lora,
    "cross_entropy": _cross_entropy,
}  # fmt: skip


# -- what the work must do at least ------------------------------------------------------------------------------------


def demands(kind: str, a: Tensors, got: torch.Tensor, sizes: Sizes) -> tuple[float, float]:
    """Return the floating-point operations of a work's contractions and the bytes that it must move."""
    moved = float(sum(t.numel() * t.element_size() for t in (*a.values(), got)))
    family, _, detail = kind.partition(".")
    if family == "attention":
        place = torch.arange(sizes["q"])
        pairs = {
            "causal": place + 1, "alibi": place + 1, "window": (place + 1).clamp(max=WINDOW),
            "document": place + 1 - starts(sizes["q"], "cpu"),
        }.get(detail, torch.full((sizes["q"],), sizes["x"]))  # fmt: skip
        return 4.0 * (a["Q"].numel() // sizes["q"]) * float(pairs.sum()), moved
    s = dict(sizes)
    flops = {
        "matmul": lambda: 2.0 * s["m"] * s["n"] * s["k"],
        "rmsnorm_linear": lambda: 2.0 * s["t"] * s["d"] * s["f"],
        "swiglu": lambda: 4.0 * s["t"] * s["d"] * s["f"],
        "lora": lambda: 2.0 * s["t"] * s["d"] * s["f"] + 2.0 * s["t"] * s["l"] * (s["d"] + s["f"]),
        "cross_entropy": lambda: 2.0 * s["t"] * s["d"] * s["v"],
        "rows": lambda: 0.0,
    }[family]()
    return flops, moved
