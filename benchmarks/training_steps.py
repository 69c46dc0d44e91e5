"""Models of transformers at real sizes through `torch.compile(backend="napkin_eq")`, beside eager and the default of
torch.compile: on a GPU, with the package and transformers installed: `python benchmarks/training_steps.py [NAME]...`.

A model has its published widths, a few of its layers, random weights of bfloat16 and no dropout. A step is the loss
and the gradients of all parameters; "forward" is the logits alone. Every model is compiled both ways, in a process of
its own, one after another: several at once would disturb the timings by which Inductor, and this backend, choose. Then,
alone on the GPU, steps are timed in turns, host included: some in a row, as a loop of training makes them without
waiting for each, and one alone; beside, how long the GPU's kernels take of a step, whoever waits for the host. Loss,
logits and gradients are held against eager's of float32 weights; how far eager's of bfloat16 are from these is said
beside. Rows go to training_steps.json in the folder that $OUT names, or here.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
import transformers
from backend_programs import median

transformers.logging.set_verbosity_error()
Given = tuple[torch.nn.Module, dict[str, torch.Tensor]]
SEED, IN_A_ROW, LONGEST = 0, 5, 40


def text(kind: str, config: dict[str, Any], batch: int, tokens: int, padded: bool = False) -> Given:
    """Return a model of words and what it is called with; some sequences are padded where asked for."""
    found = getattr(transformers, f"{kind}Config")(**config)
    head = "MaskedLM" if kind == "Bert" else "LMHeadModel" if kind == "GPT2" else "CausalLM"
    model = getattr(transformers, f"{kind}{'' if kind == 'GPT2' else 'For'}{head}")(found)
    words = torch.randint(found.vocab_size, (batch, tokens))
    given = {"input_ids": words, "labels": words}
    if padded:
        lengths = torch.randint(tokens // 2, tokens + 1, (batch, 1))
        given["attention_mask"] = (torch.arange(tokens)[None] < lengths).long()
    return model, given


def images(kind: str, config: dict[str, Any], batch: int, size: int) -> Given:
    model = getattr(transformers, f"{kind}ForImageClassification")(getattr(transformers, f"{kind}Config")(**config))
    return model, {"pixel_values": torch.randn(batch, 3, size, size), "labels": torch.randint(2, (batch,))}


class Found(NamedTuple):
    """What a model gives, by the names that those of transformers have."""

    loss: torch.Tensor
    logits: torch.Tensor


class Parts(torch.nn.Module):
    """Causal attention as it is written by its parts, with no call of PyTorch's own; `cap`: that of its scores, if any.

    Queries, keys and values, 4 batches of 16 heads of 2,048 rows of 128, are its parameters.
    """

    def __init__(self, cap: float) -> None:
        super().__init__()
        self.cap = cap
        self.q, self.k, self.v = (torch.nn.Parameter(torch.randn(4, 16, 2048, 128)) for _ in range(3))

    def forward(self, up: torch.Tensor) -> Found:
        scores = self.q @ self.k.transpose(-1, -2) * self.q.shape[-1] ** -0.5
        if self.cap:
            scores = self.cap * torch.tanh(scores / self.cap)
        places = torch.arange(scores.shape[-1], device=scores.device)
        scores = scores.masked_fill(places[None] > places[:, None], -torch.inf)
        found = torch.softmax(scores, -1) @ self.v
        return Found((found * up).sum(), found)


def parts(cap: float) -> Given:
    return Parts(cap), {"up": torch.randn(4, 16, 2048, 128)}


LLAMA = {"hidden_size": 2048, "intermediate_size": 8192, "num_attention_heads": 32, "num_key_value_heads": 8}
NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
GEMMA2 = {"hidden_size": 2304, "intermediate_size": 9216, "num_attention_heads": 8, "num_key_value_heads": 4}
QWEN3 = {"hidden_size": 2048, "intermediate_size": 6144, "num_attention_heads": 16, "num_key_value_heads": 8}
GPT2 = {"n_layer": 4, "attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0}
MODELS: dict[str, Callable[[], Given]] = {
    "gpt2": partial(text, "GPT2", GPT2, 8, 1024),
    "llama": partial(text, "Llama", LLAMA | {"num_hidden_layers": 2, "vocab_size": 32000}, 2, 2048),
    "gemma2": partial(text, "Gemma2", GEMMA2 | {"num_hidden_layers": 2, "vocab_size": 32000}, 2, 2048),
    "qwen3": partial(text, "Qwen3", QWEN3 | {"num_hidden_layers": 2, "vocab_size": 32000}, 2, 2048),
    "attention": partial(parts, 0.0),
    "capped": partial(parts, 50.0),
    "bert": partial(text, "Bert", NO_DROPOUT | {"num_hidden_layers": 4}, 16, 512, True),
    "vit": partial(images, "ViT", NO_DROPOUT | {"num_hidden_layers": 4}, 64, 224),
    "convnext": partial(images, "ConvNext", {"depths": [1, 1, 2, 1]}, 64, 224),
}


def made(name: str, dtype: torch.dtype) -> Given:
    torch.manual_seed(SEED)
    model, given = MODELS[name]()
    given = {k: v.to("cuda", dtype if v.is_floating_point() else None) for k, v in given.items()}
    return model.to("cuda", dtype).train(), given


def step(run: Callable[..., Any], model: torch.nn.Module, given: dict[str, torch.Tensor]) -> list[torch.Tensor]:
    found = run(**given)
    gradients = torch.autograd.grad(found.loss, list(model.parameters()), allow_unused=True)
    return [found.loss, *(g for g in gradients if g is not None)]


def forward(run: Callable[..., Any], model: torch.nn.Module, given: dict[str, torch.Tensor]) -> list[torch.Tensor]:
    with torch.no_grad():
        return [run(**{k: v for k, v in given.items() if k != "labels"}).logits]


MODES = {"step": step, "forward": forward}


def off(found: list[torch.Tensor], true: list[torch.Tensor]) -> float:
    """Return how far results are from the true ones, relative to the norm of all."""
    far = sum(float((a.double() - b.double()).square().sum()) for a, b in zip(found, true, strict=True))
    return (far / sum(float(b.double().square().sum()) for b in true)) ** 0.5


def compiled(name: str, mode: str, seconds: str) -> None:
    """Compile a model both ways, hold both against float32 and print a row of that; once a line comes in, print it with
    the medians of steps that are made in turns.
    """
    import napkin_eq.pytorch.backend as backend

    run = MODES[mode]
    first, held = made(name, torch.float32)
    true = [value.cpu() for value in run(first, first, held)]
    del first
    model, given = made(name, torch.bfloat16)

    def far(one: Callable[..., Any]) -> float:
        return off([value.cpu() for value in run(one, model, given)], true)

    row: dict[str, Any] = {"name": name, "mode": mode, "eager_off": far(model)}
    calls: dict[str, Callable[[], Any]] = {"eager_us": lambda: run(model, model, given)}
    ours = partial(backend.napkin_eq, options={"seconds": float(seconds)})
    for key, how in (("inductor", "inductor"), ("ours", ours)):
        begun = time.time()
        try:
            one = torch.compile(copy.deepcopy(model), backend=how, dynamic=False)
            row[f"{key}_off"] = off([value.cpu() for value in run(one, one, given)], true)
            calls[f"{key}_us"] = lambda one=one: run(one, one, given)
        except Exception as reason:
            row[f"{key}_error"] = f"{type(reason).__name__}: {str(reason)[:300]}"
        row[f"{key}_s"] = round(time.time() - begun, 1)
    row["report"] = [str(report) for report in backend.reports]
    row["taken"] = sum(len(report.taken) for report in backend.reports)
    row["regions"] = sum(len(report.regions) for report in backend.reports)
    print("row " + json.dumps(row), flush=True)
    sys.stdin.readline()
    for _ in range(3):
        for call in calls.values():
            call()
    kept: dict[str, list[float]] = {key: [] for name in calls for key in (name, f"alone_{name}")}
    begun = time.time()
    while time.time() - begun < 4.0 and len(kept["eager_us"]) < 40:
        for key, call in calls.items():
            median(partial(in_a_row, call), kept[key], 1)
            median(call, kept[f"alone_{key}"], 2)
    row |= {key: sorted(figures)[len(figures) // 2] for key, figures in kept.items()}
    row |= {key: row[key] / IN_A_ROW for key in calls}
    for key, call in calls.items():
        row[f"kernels_{key}"], row[f"longest_{key}"] = kernels(call)
    if "ours_us" in row and "inductor_us" in row:
        row["times"] = row["inductor_us"] / row["ours_us"]
        row["alone_times"] = row["alone_inductor_us"] / row["alone_ours_us"]
    print("row " + json.dumps(row), flush=True)


def in_a_row(call: Callable[[], Any]) -> None:
    for _ in range(IN_A_ROW):
        call()


def kernels(call: Callable[[], Any]) -> tuple[float, dict[str, list[float]]]:
    """Return the microseconds that the GPU is busy with a call, by PyTorch's profiler, and of the kernels that take
    longest how many run and their microseconds.
    """
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        in_a_row(call)
        torch.cuda.synchronize()
    events = sorted(seen.key_averages(), key=lambda event: -event.self_device_time_total)
    longest = {e.key[:100]: [e.count / IN_A_ROW, e.self_device_time_total / IN_A_ROW] for e in events[:LONGEST]}
    return sum(event.self_device_time_total for event in events) / IN_A_ROW, longest


def told(file: Path) -> dict[str, Any] | None:
    """Return the last row that a process has printed."""
    lines = [line for line in file.read_text().splitlines() if line.startswith("row ") and line.endswith("}")]
    return json.loads(lines[-1][4:]) if lines else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1, help="models that are compiled at once, which time on one GPU")
    parser.add_argument("--seconds", type=float, default=400.0, help="for compiling; what is not done by then is left")
    parser.add_argument("--search", type=float, default=60.0, help="for the searches of a graph: the option `seconds`")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--modes", nargs="*", default=list(MODES), choices=list(MODES))
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    if given.one:
        compiled(*given.one.split(":"))
        return
    if unknown := [name for name in given.names if name not in MODELS]:
        parser.error(f"{unknown[0]!r:.60} is no model; they are {', '.join(MODELS)}")
    if not torch.cuda.is_available():
        parser.error("there is no GPU here: steps are timed on one")
    names = [f"{name}:{mode}" for name in MODELS if not given.names or name in given.names for mode in given.modes]
    begun, waiting, running = time.time(), list(names), dict[str, subprocess.Popen[str]]()
    files = {name: Path(f"/tmp/training_{name}.log") for name in names}
    busy: list[str] = []
    while (waiting or busy) and time.time() - begun < given.seconds:
        while waiting and len(busy) < given.jobs:
            busy.append(one := waiting.pop(0))
            command = [sys.executable, __file__, "--one", f"{one}:{given.search:g}"]
            with open(files[one], "w") as out:
                running[one] = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=out, stderr=subprocess.STDOUT, text=True
                )
        time.sleep(0.2)
        for one in list(busy):
            row = told(files[one])
            if row is not None or running[one].poll() is not None:
                busy.remove(one)
                shown = {key: value for key, value in (row or {}).items() if key != "report"}
                print(f"{time.time() - begun:.0f} s", shown, flush=True)
    head = {"schema": 1, "gpu": torch.cuda.get_device_name(), "torch": torch.__version__}
    head["transformers"] = transformers.__version__
    rows: list[dict[str, Any]] = []
    for one in names:  # alone, once all are compiled
        process = running.get(one)
        if process is None or one in busy:
            rows.append({"name": one, "ours_error": "not compiled in time"})
            if process is not None:
                process.kill()
            continue
        with suppress(BrokenPipeError, subprocess.TimeoutExpired):
            process.communicate("go\n", timeout=60.0)
        process.kill()
        row = told(files[one]) or {"name": one, "ours_error": f"ended: {files[one].read_text()[-1500:]}"}
        rows.append(row)
        print({k: v for k, v in row.items() if k in ("name", "mode", "times") or isinstance(v, float)}, flush=True)
        file = Path(os.environ.get("OUT", Path(__file__).parent)) / "training_steps.json"
        file.write_text(json.dumps({**head, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
