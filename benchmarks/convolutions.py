"""Convolutions of images, channels last, by their plain definition, against cuDNN and torch.compile on one GPU.

    python benchmarks/convolutions.py emit OUT [--gpu NAME]     derive and write the kernels; needs no GPU
    python benchmarks/convolutions.py run OUT -o FILE           on the GPU, with torch and Triton alone

Numbers are of float16, weights lie as (window, channels, outputs). Times are medians of CUDA graphs; cuDNN tries all of
its algorithms (`torch.backends.cudnn.benchmark`) on tensors that are channels last. Results are held against float64.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import sys
import time
from pathlib import Path
from typing import Any

# Images, their height and width, channels, outputs, the window's width, stride
CASES = (
    (32, 56, 64, 64, 3, 1), (32, 56, 128, 128, 3, 1), (32, 28, 256, 256, 3, 1), (32, 14, 512, 512, 3, 1),
    (32, 7, 512, 512, 3, 1), (4, 32, 256, 256, 3, 1), (32, 56, 128, 256, 3, 2), (16, 30, 96, 160, 5, 1),
    (8, 50, 64, 96, 3, 1), (1, 64, 320, 320, 3, 1),
)  # fmt: skip


def emit(folder: Path, gpu: str) -> int:
    """Derive each convolution and write its kernels, and what was told of them."""
    import napkin_eq as nq

    folder.mkdir(parents=True, exist_ok=True)
    told = []
    for number, (n, size, channels, out, window, stride) in enumerate(CASES):
        N, Y, X, C, U, V, OUT = nq.axes("n y x c u v o", n=n, y=size, x=size, c=channels, u=window, v=window, o=out)
        pad, half = window // 2, (size - 1) // stride + 1
        rows, columns = (Y, X) if stride == 1 else nq.axes("i j", i=half, j=half)
        at = nq.index(rows) * stride + nq.index(U) - pad, nq.index(columns) * stride + nq.index(V) - pad
        inside = (at[0] >= 0) & (at[0] < size) & (at[1] >= 0) & (at[1] < size)
        seen = nq.where(inside, nq.take(nq.take(nq.array("A", N, Y, X, C), Y, at[0]), X, at[1]), 0.0)
        term = nq.sum(seen * nq.array("W", U, V, C, OUT), U, V, C)
        begun = time.perf_counter()
        found = nq.derive(nq.Diagram("convolution", (("out", term),)), gpu, dtype="float16")
        (folder / f"convolution_{number}.py").write_text(found.code(), encoding="utf-8")
        dims = [axis.name for axis in found.plan.outputs[0].dims]
        row = {
            "case": CASES[number], "predicted_us": found.report()["predicted_us"], "kernels": len(found.plan.kernels),
            "derive_s": round(time.perf_counter() - begun, 2), "gpu": gpu,
            "order": [("n", rows.name, columns.name, "o").index(name) for name in dims],
            "validated": found.outputs[0].translation.status,
        }  # fmt: skip
        told.append(row)
        print(row, flush=True)
    (folder / "told.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return 0


def run(folder: Path, result: Path) -> int:
    """Time each convolution beside cuDNN and torch.compile."""
    import torch
    import triton

    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True
    rows: list[dict[str, Any]] = []
    for number, told in enumerate(json.loads((folder / "told.json").read_text(encoding="utf-8"))):
        n, size, channels, out, window, stride = told["case"]
        spec = importlib.util.spec_from_file_location(f"c{number}", folder / f"convolution_{number}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        image = torch.randn(n, size, size, channels, device="cuda", dtype=torch.float16)
        weight = torch.randn(window, window, channels, out, device="cuda", dtype=torch.float16)
        weight /= math.sqrt(window * window * channels)
        last = weight.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)

        def library(a: Any, w: Any, stride: int = stride, pad: int = window // 2) -> Any:
            return torch.nn.functional.conv2d(a, w, stride=stride, padding=pad)

        exact = library(image.permute(0, 3, 1, 2).double(), last.double()).permute(0, 2, 3, 1)
        got = module.run(image, weight)
        off = (got.double() - exact.permute(told["order"])).abs().max().item()
        compiled = torch.compile(library)
        seen = image.permute(0, 3, 1, 2)
        calls = {
            "ours": lambda m=module, a=image, w=weight: m.run(a, w),
            "cudnn": lambda a=seen, w=last, f=library: f(a, w),
            "compile": lambda a=seen, w=last, f=compiled: f(a, w),
        }
        us = {}
        for name, call in calls.items():
            call()
            us[name] = 1e3 * triton.testing.do_bench_cudagraph(call, rep=100, return_mode="median")
        ratio = min(us["cudnn"], us["compile"]) / us["ours"]
        row = {**told, "off": off, **{f"{k}_us": round(v, 2) for k, v in us.items()}, "ratio_best": round(ratio, 3)}
        rows.append(row)
        print(row, flush=True)
        assert off < 1e-2, row
    mean = math.exp(sum(math.log(row["ratio_best"]) for row in rows) / len(rows))
    head = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "triton": triton.__version__}
    result.write_text(json.dumps({**head, "geometric_mean": round(mean, 3), "rows": rows}, indent=1) + "\n")
    print(f"geometric mean {mean:.3f}")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("emit", "run"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gpu", default="h100")
    parser.add_argument("-o", type=Path, default=Path("convolutions.json"), dest="result")
    asked = parser.parse_args()
    return emit(asked.folder, asked.gpu) if asked.what == "emit" else run(asked.folder, asked.result)


if __name__ == "__main__":
    sys.exit(main())
