"""Programs of PyTorch at real sizes: ours beside eager and torch.compile: `python torch_programs.py [TEXT]...`, in the
folder that emit made.

Correctness first: what kernels give is held against float32 arithmetic of eager on the same inputs, and what eager
itself is off by in the same types stands beside. Results go to torch_programs.json in the folder that $OUT names, or
here. Alone it needs torch and triton.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F

HERE = Path(__file__).resolve().parent
Program = tuple[Callable[..., Any], tuple[Any, ...]]
PROGRAMS: dict[str, Program] = {}


def program(*kinds: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a function of tensors: a shape is random numbers, a pair of a bound and a shape whole numbers below the
    bound.
    """

    def entered(fn: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[fn.__name__] = (fn, kinds)
        return fn

    return entered


def inputs(kinds: tuple[Any, ...], device: str) -> list[torch.Tensor]:
    """Return inputs of these kinds, random with a seed."""
    generator = torch.Generator(device).manual_seed(0)
    found = []
    for kind in kinds:
        if isinstance(kind[0], tuple):
            found.append(torch.randint(kind[1], kind[0], device=device, generator=generator))
        else:
            found.append(torch.randn(kind, device=device, generator=generator).to(torch.bfloat16))
    return found


T, D, V = 4096, 4096, 32000


@program((T, D), (D, D), (D,))
def matmul_bias_gelu(x, w, b):  # type: ignore[no-untyped-def]
    return F.gelu(x @ (w * D**-0.5) + b)


@program((T, D), (11008, D), (11008, D))
def gate_and_up(x, g, u):  # type: ignore[no-untyped-def]
    return F.silu(F.linear(x, g) * D**-0.5) * F.linear(x, u)


@program((8192, 8192))
def softmax(x):  # type: ignore[no-untyped-def]
    return torch.softmax(x, -1)


@program((8192, D), (D,), (D,))
def layer_norm(x, g, b):  # type: ignore[no-untyped-def]
    return F.layer_norm(x, (D,), g, b)


@program((8192, D), (8192, D), (D,))
def residual_rms_norm(x, y, g):  # type: ignore[no-untyped-def]
    z = x + y
    return z * torch.rsqrt(z.pow(2).mean(-1, keepdim=True) + 1e-6) * g


@program((1, 16, T, 128), (1, 16, T, 128), (1, 16, T, 128))
def naive_attention(q, k, v):  # type: ignore[no-untyped-def]
    return torch.softmax(q @ k.transpose(-2, -1) * 128**-0.5, dim=-1) @ v


@program((1, 16, T, 128), (1, 16, T, 128), (1, 16, T, 128))
def causal_attention(q, k, v):  # type: ignore[no-untyped-def]
    mask = torch.tril(torch.ones(T, T, dtype=torch.bool, device=q.device))
    return torch.softmax((q @ k.transpose(-2, -1) * 128**-0.5).masked_fill(~mask, float("-inf")), dim=-1) @ v


@program((1, 16, T, 128), (1, 16, T, 128), (1, 16, T, 128))
def capped_attention(q, k, v):  # type: ignore[no-untyped-def]
    return torch.softmax(torch.tanh(q @ k.transpose(-2, -1) * (128**-0.5 / 50)) * 50, dim=-1) @ v


@program((1, 16, T, 128), (1, 16, T, 128), (1, 16, T, 128), (16,))
def alibi_attention(q, k, v, slopes):  # type: ignore[no-untyped-def]
    place = torch.arange(T, device=q.device)
    away = (place[:, None] - place[None, :]).abs()
    return torch.softmax(q @ k.transpose(-2, -1) * 128**-0.5 - slopes[None, :, None, None].abs() * away, dim=-1) @ v


@program((8192, D), (V, D), ((8192,), V))
def linear_log_probability(x, w, labels):  # type: ignore[no-untyped-def]
    logits = F.linear(x, w) * D**-0.5
    return torch.logsumexp(logits.float(), -1) - logits.gather(1, labels[:, None])[:, 0].float()


@program((8192, 8192))
def cumulative(x):  # type: ignore[no-untyped-def]
    return torch.cumsum(x.float(), 1)


@program((8192, 8192), (8192, 8192))
def divergence(x, y):  # type: ignore[no-untyped-def]
    return F.kl_div(F.log_softmax(x.float(), 1), F.softmax(y.float(), 1), reduction="none").sum(1)


@program((8192, D), (8192, D))
def cosine(x, y):  # type: ignore[no-untyped-def]
    return 1 - F.cosine_similarity(x.float(), y.float(), dim=1)


@program((16, 64, 56, 56), (64,), (64,))
def group_norm_silu(x, g, b):  # type: ignore[no-untyped-def]
    return F.silu(F.group_norm(x, 8, g, b))


@program((16, 64, 56, 56), (64, 64, 3, 3), (64,))
def conv_bias_relu(x, w, b):  # type: ignore[no-untyped-def]
    return F.relu(F.conv2d(x, w, b, padding=1))


@program((32, 128, 56, 56), (128, 1, 3, 3))
def depthwise_conv(x, w):  # type: ignore[no-untyped-def]
    return F.conv2d(x, w, padding=1, groups=128)


@program((16, 64, 112, 112))
def average_pool(x):  # type: ignore[no-untyped-def]
    return F.avg_pool2d(x, 3, stride=2, padding=1)


def loaded(path: Path) -> Any:
    """Return an emitted file as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ours(row: dict[str, Any]) -> Callable[..., list[torch.Tensor]]:
    """Return the kernels of a row as a function of the program's tensors."""
    run = loaded(HERE / row["file"]).run

    def call(*tensors: torch.Tensor) -> list[torch.Tensor]:
        arrays = [tensors[at].reshape(cut).to(getattr(torch, dtype)).contiguous() for at, cut, dtype in row["takes"]]
        found = run(*arrays)
        found = found if isinstance(found, tuple) else (found,)
        return [
            found[slot].reshape(shape).permute(order).expand(final).reshape(size)
            for slot, shape, order, final, size in row["gives"]
        ]

    return call


def captured(call: Callable[[], Any]) -> Callable[[], None]:
    """Return a CUDA graph of a call, as a call."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    replay: Callable[[], None] = graph.replay
    return replay


def timed(replay: Callable[[], None], seconds: float = 0.5) -> float:
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


def off(got: torch.Tensor, true: torch.Tensor) -> float:
    """Return a distance relative to the norm of what is true."""
    return float((got.double() - true.double()).norm() / true.double().norm())


def measured(row: dict[str, Any]) -> None:
    fn, kinds = PROGRAMS[row["name"]]
    given = inputs(kinds, "cuda")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    call = ours(row)
    with torch.no_grad():
        true = fn(*(t.float() if t.is_floating_point() else t for t in given))
        row["off"], row["eager_off"] = off(call(*given)[0], true), off(fn(*given), true)
        row["right"] = row["off"] <= max(2 * row["eager_off"], 1e-5)
        del true
        row["us"] = timed(captured(lambda: call(*given)))
        compiled = torch.compile(fn, dynamic=False)
        for name, rival in (("eager_us", fn), ("compile_us", compiled)):
            row[name] = timed(captured(lambda rival=rival: rival(*given)))
    row["times"] = row["compile_us"] / row["us"]


def main() -> None:
    rows = json.loads((HERE / "torch_programs_manifest.json").read_text())["rows"]
    words, done = sys.argv[1:], []
    out = Path(os.environ.get("OUT", HERE)) / "torch_programs.json"
    for row in rows:
        if words and not any(word in row["name"] for word in words):
            continue
        try:
            measured(row)
        except Exception as error:
            row["error"] = f"{type(error).__name__}: {str(error)[:400]}"
        torch.cuda.empty_cache()
        torch._dynamo.reset()
        shown = {key: value for key, value in row.items() if key not in ("takes", "gives")}
        done.append(shown)
        print(json.dumps(shown), flush=True)
        figures = [r["times"] for r in done if "times" in r]
        mean = math.exp(sum(map(math.log, figures)) / len(figures)) if figures else None
        head = {"schema": 1, "gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "geometric_mean": mean}
        out.write_text(json.dumps({**head, "rows": done}, indent=1))


if __name__ == "__main__":
    main()
