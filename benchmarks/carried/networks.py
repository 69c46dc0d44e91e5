"""Run whole networks on a GPU beside torch.compile, both as CUDA graphs: `python networks.py [TEXT]...`, in the folder
that emit_networks.py made.

Every network is held against float32 arithmetic of torch on the same inputs; what torch itself is off by in the same
types stands beside. Results go to networks.json in the folder that $OUT names, or here.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import re
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F

HERE = Path(__file__).resolve().parent
Tensors = dict[str, torch.Tensor]


def turned(a: torch.Tensor, c: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    """Return heads [..., heads, e] turned by cosines and sines [..., 1, e]."""
    lower, upper = a.chunk(2, -1)
    return a * c + torch.cat((-upper, lower), -1) * s


def rms(x: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
    return (x.float() * torch.rsqrt(x.float().square().mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * g


def llama_end(x: torch.Tensor, o: torch.Tensor, a: Tensors) -> torch.Tensor:
    y = x + o @ a["Wo"].reshape(-1, x.shape[-1])
    g = rms(y, a["G2"])
    return y + (F.silu(g @ a["Wg"]) * (g @ a["Wu"])) @ a["Wd"]


def llama(a: Tensors) -> tuple[torch.Tensor, ...]:
    x = a["X"]
    t, d = x.shape
    _, k, r, e = a["Wq"].shape
    h, c, s = rms(x, a["G1"]), a["C"][:, None, :], a["S"][:, None, :]
    q = turned((h @ a["Wq"].reshape(d, -1)).view(t, k * r, e), c, s)
    key = turned((h @ a["Wk"].reshape(d, -1)).view(t, k, e), c, s)
    value = (h @ a["Wv"].reshape(d, -1)).view(t, k, e)
    q, key, value = (v.transpose(0, 1)[None] for v in (q, key, value))
    o = F.scaled_dot_product_attention(q, key, value, is_causal=True, enable_gqa=True)
    return (llama_end(x, o[0].transpose(0, 1).reshape(t, -1), a),)


def llama_decode(a: Tensors) -> tuple[torch.Tensor, ...]:
    x = a["X"]
    b, d = x.shape
    _, k, r, e = a["Wq"].shape
    h, c, s = rms(x, a["G1"]), a["C"][:, None, :], a["S"][:, None, :]
    q = turned((h @ a["Wq"].reshape(d, -1)).view(b, k * r, e), c, s)
    key = turned((h @ a["Wk"].reshape(d, -1)).view(b, k, e), c, s)
    value = (h @ a["Wv"].reshape(d, -1)).view(b, k, e)
    keys, values = a["_keys"], a["_values"]  # of the tokens so far, and a place for this one's
    keys[:, :, -1], values[:, :, -1] = key, value
    o = F.scaled_dot_product_attention(q[:, :, None], keys, values, enable_gqa=True)
    return llama_end(x, o.reshape(b, -1), a), key, value


def gpt(a: Tensors) -> tuple[torch.Tensor, ...]:
    x = a["X"]
    t, d = x.shape
    _, h, e = a["Wq"].shape
    g = F.layer_norm(x, (d,), a["G1"], a["B1"])
    q, key, value = (
        (g @ a[f"W{w}"].reshape(d, -1) + a[f"B{w}"].reshape(-1)).view(1, t, h, e).transpose(1, 2) for w in "qkv"
    )
    o = F.scaled_dot_product_attention(q, key, value, is_causal=True)
    y = x + o[0].transpose(0, 1).reshape(t, -1) @ a["Wo"].reshape(-1, d) + a["Bo"]
    g = F.layer_norm(y, (d,), a["G2"], a["B2"])
    return (y + F.gelu(g @ a["W1"] + a["Bm"], approximate="tanh") @ a["W2"] + a["Bd"],)


def later(scores: torch.Tensor) -> torch.Tensor:
    """Return the mask of the keys that come after a query, of scores [..., queries, keys]."""
    return torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)


def attention_backward(a: Tensors, causal: bool = False) -> tuple[torch.Tensor, ...]:
    s = torch.einsum("hqd,hxd->hqx", a["Q"], a["K"]) * a["Q"].shape[-1] ** -0.5
    if causal:
        s = s.masked_fill(later(s), -math.inf)
    p = torch.softmax(s, -1) if "L" not in a else torch.exp(s - a["L"][..., None])
    dp = torch.einsum("hqd,hxd->hqx", a["dO"], a["V"])
    ds = p * (dp - (p * dp).sum(-1, keepdim=True)) * a["Q"].shape[-1] ** -0.5
    return (
        torch.einsum("hqx,hxd->hqd", ds, a["K"]),
        torch.einsum("hqx,hqd->hxd", ds, a["Q"]),
        torch.einsum("hqx,hqd->hxd", p, a["dO"]),
    )


def by_heads(a: Tensors, causal: bool) -> tuple[torch.Tensor, ...]:
    """The reference of attention's backward pass, a head at a time: its scores fit memory."""
    heads = range(a["Q"].shape[0])
    rows = [attention_backward({name: value[h : h + 1] for name, value in a.items()}, causal) for h in heads]
    return tuple(torch.cat(parts) for parts in zip(*rows, strict=True))


def flash_backward(a: Tensors, causal: bool) -> Callable[[], Any]:
    """Return a call of the backward pass of torch's own flash attention, whose forward pass was done before."""
    q, k, v, g = (a[n][None] for n in ("Q", "K", "V", "dO"))
    found = torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, 0.0, causal, False)
    out, lse, cq, ck, mq, mk, seed, offset = found[:8]
    return lambda: torch.ops.aten._scaled_dot_product_flash_attention_backward(
        g, q, k, v, out, lse, cq, ck, mq, mk, 0.0, causal, seed, offset
    )


ORDER = {
    "llama": {"out": "t d"},
    "llama_decode": {"out": "b d", "K": "b k e", "V": "b k e"},
    "gpt": {"out": "t d"},
    "causal_attention_backward": {"dQ": "h q d", "dK": "h x d", "dV": "h x d"},
    "attention_backward": {"dQ": "h q d", "dK": "h x d", "dV": "h x d"},
}
DEFINED = {"llama": llama, "llama_decode": llama_decode, "gpt": gpt}


def loaded(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def drawn(module: Any, causal: bool = False) -> Tensors:
    """Return inputs whose values keep the scale of activations: weights by the root of what they sum over."""
    generator = torch.Generator("cuda").manual_seed(0)
    found: Tensors = {}
    for name, (dtype, dims) in module.INPUTS.items():
        shape = [module.SIZES[d] for d in dims]
        a = torch.randn(shape, device="cuda", dtype=torch.float32, generator=generator)
        if name.startswith("W"):
            a *= math.prod(shape[:-1] if name == "Wo" else shape[:1]) ** -0.5
        elif name.startswith("G"):
            a = 1 + 0.1 * a
        found[name] = a.to(dtype)
    if "L" in found:  # of attention's forward pass, a head at a time
        q, k, v = (found[name].float() for name in ("Q", "K", "V"))
        for head in range(q.shape[0]):
            s = q[head] @ k[head].T * q.shape[-1] ** -0.5
            if causal:
                s = s.masked_fill(later(s), -math.inf)
            found["L"][head] = torch.logsumexp(s, -1)
            if "O" in found:
                found["O"][head] = torch.softmax(s, -1) @ v[head]
    return found


def captured(call: Callable[[], Any]) -> tuple[Callable[[], None], Any]:
    """Return a CUDA graph of a call, as a call, and what it leaves."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        left = call()
    return graph.replay, left


def timed(replay: Callable[[], None], seconds: float = 1.0) -> float:
    """Return the median microseconds of a replay."""
    for _ in range(5):
        replay()
    torch.cuda.synchronize()
    times: list[float] = []
    begun = time.time()
    while len(times) < 20 or (time.time() - begun < seconds and len(times) < 400):
        one, two = torch.cuda.Event(True), torch.cuda.Event(True)
        one.record()
        replay()
        two.record()
        two.synchronize()
        times.append(one.elapsed_time(two) * 1e3)
    return sorted(times)[len(times) // 2]


def ordered(left: Any, module: Any, kind: str) -> list[torch.Tensor]:
    """Return what a plan has left with the axes of each output in the order in which torch's program has them."""
    said = re.findall(r"(\w+)\[([^\]]*)\]", module.run.__doc__.partition(" of ")[0])
    rows = left if isinstance(left, (tuple, list)) else (left,)
    return [
        t.permute([dims.split(", ").index(d) for d in ORDER[kind][name].split()])
        for t, (name, dims) in zip(rows, said, strict=True)
    ]


def off(got: Any, true: tuple[torch.Tensor, ...]) -> list[float]:
    """Return the distance of each result from the true one, relative to its norm."""
    return [float((g.double() - t.double()).norm() / t.double().norm()) for g, t in zip(got, true, strict=True)]


def measured(row: dict[str, Any]) -> dict[str, Any]:
    module = loaded(HERE / row["file"])
    heads, causal = row["kind"].endswith("attention_backward"), row["kind"].startswith("causal")
    a = drawn(module, causal)
    if row["kind"] == "llama_decode":
        for name, given in (("_keys", "Kc"), ("_values", "Vc")):
            a[name] = torch.cat((a[given], torch.zeros_like(a[given][:, :, :1])), 2).contiguous()
    torch.backends.cuda.matmul.allow_tf32 = False
    call = partial(module.run, *(a[name] for name in module.INPUTS))
    replay, left = captured(call)
    row["us"] = timed(replay)
    with torch.no_grad():
        wide = {name: value.float() for name, value in a.items()}
        true = by_heads(wide, causal) if heads else DEFINED[row["kind"]](wide)
        row["off"] = off(ordered(left, module, row["kind"]), true)
        rivals: dict[str, Callable[[], Any]] = {}
        if heads:
            rivals["flash attention 2"] = flash_backward(a, causal)
        else:
            row["torch_off"] = off(DEFINED[row["kind"]](a), true)
            made = torch.compile(DEFINED[row["kind"]], dynamic=False)
            rivals["torch.compile"] = lambda: made(a)
            if os.environ.get("AUTOTUNE"):
                tuned = torch.compile(DEFINED[row["kind"]], dynamic=False, mode="max-autotune-no-cudagraphs")
                rivals["torch.compile, autotuned"] = lambda: tuned(a)
        del true, wide
        row["rivals"] = {}
        for name, rival in rivals.items():
            try:
                row["rivals"][name] = timed(captured(rival)[0])
            except Exception as error:
                row["rivals"][name] = f"{type(error).__name__}: {str(error)[:200]}"
    row["again_us"] = timed(replay)
    if row.get("bytes"):
        row["gb_s"] = row["bytes"] / row["us"] / 1e3
    return row


def profiled(row: dict[str, Any]) -> None:
    """Add the time of each kernel by itself."""
    module = loaded(HERE / row["file"])
    a = drawn(module, row["kind"].startswith("causal"))
    call = partial(module.run, *(a[name] for name in module.INPUTS))
    call()
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as seen:
        for _ in range(5):
            call()
        torch.cuda.synchronize()
    row["kernels_us"] = {
        e.key: round(e.device_time_total / 5, 1) for e in seen.key_averages() if e.device_time_total > 0
    }


def main() -> None:
    rows = json.loads((HERE / "networks_manifest.json").read_text())["rows"]
    words = sys.argv[1:]
    done = []
    out = Path(os.environ.get("OUT", HERE)) / "networks.json"
    for row in rows:
        if words and not any(word in row["name"] for word in words):
            continue
        try:
            measured(row)
            profiled(row)
        except Exception as error:
            row["error"] = f"{type(error).__name__}: {str(error)[:400]}"
        torch.cuda.empty_cache()
        torch._dynamo.reset()
        done.append(row)
        print(json.dumps(row), flush=True)
        versions = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__}
        out.write_text(json.dumps({"schema": 1, **versions, "rows": done}, indent=1))


if __name__ == "__main__":
    main()
