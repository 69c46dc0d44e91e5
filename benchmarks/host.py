"""Microseconds of the host a call, before and at the launch: ours beside PyTorch's own, one process, nothing else
running.

    python benchmarks/host.py emit OUT [--tiny]     here: derives a few works at sizes whose kernels are shorter than a
                                                    launch
    python benchmarks/host.py run OUT [-o FILE]     on a GPU with torch and triton: calls each many times and reads the
                                                    host's clock

With `--tiny` and TRITON_INTERPRET=1 a CPU, to try the program.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "host_h200.json"
BATCH, BATCHES = 50, 40  # calls that are queued before the GPU is waited for: fewer than its queue holds
CASES: dict[str, tuple[str, dict[str, int], str]] = {
    "attention, Gluon": ("attention", dict(b=1, h=4, q=256, x=256, d=64), "gluon"),
    "attention, Triton": ("attention", dict(b=1, h=4, q=256, x=256, d=64), "triton"),
    "matmul, Gluon": ("matmul", dict(m=512, n=512, k=512), "gluon"),
    "matmul, Triton": ("matmul", dict(m=512, n=512, k=512), "triton"),
    "softmax": ("softmax", dict(t=64, x=1024), "triton"),
    "rms_norm": ("rms_norm", dict(t=64, d=1024), "triton"),
    "decode, in parts": ("gqa_attention", dict(b=1, k=2, r=4, q=1, x=8192, d=128), "auto"),
}


def emit(folder: Path, tiny: bool) -> None:
    """Derive each case and write its kernels."""
    from random_diagrams import commit

    from napkin_eq.frontend.gallery import diagram
    from napkin_eq.pipeline.derive import derive

    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for number, (case, (name, sizes, printer)) in enumerate(CASES.items()):
        small = {axis: min(size, 32) for axis, size in sizes.items()} if tiny else sizes
        found = derive(
            diagram(name, **small), dtype="float16" if tiny else "bfloat16", printer="triton" if tiny else printer
        )
        file = f"host_{number}.py"
        (folder / file).write_text(found.code())
        inputs = [array.name for array in found.diagram.inputs()]
        rows.append(
            {
                "work": name,
                "case": case,
                "kind": name,
                "sizes": small,
                "file": file,
                "kernels": len(found.plan.kernels),
                "inputs": inputs,
            }
        )
        print(case, f"{len(found.plan.kernels)} kernels", flush=True)
    (folder / "manifest.json").write_text(json.dumps({"emitted": {"commit": commit()}, "cases": rows}, indent=1))


def peers(kind: str, a: list[Any]) -> dict[str, Callable[[], Any]]:
    """Return what PyTorch has for the same."""
    import torch
    import torch.nn.functional as F

    if kind == "attention":
        return {"sdpa": lambda: F.scaled_dot_product_attention(*a)}
    if kind == "gqa_attention":
        q, k, v = a[0].flatten(1, 2), a[1], a[2]
        return {"sdpa": lambda: F.scaled_dot_product_attention(q, k, v, enable_gqa=True)}
    if kind == "matmul":
        return {"cublas": lambda: torch.matmul(*a)}
    if kind == "softmax":
        return {"torch": lambda: torch.softmax(a[0], -1)}
    return {"torch": lambda: F.rms_norm(a[0], a[0].shape[-1:], a[1])} if kind == "rms_norm" and len(a) > 1 else {}


def host_us(call: Callable[[], Any], cuda: bool, batch: int, batches: int) -> dict[str, float]:
    """Return the microseconds of a call for which the host is busy: the median of batches after each of which the GPU
    is waited for, and the least.
    """
    import torch

    found = []
    for number in range(batches + 3):
        begun = time.perf_counter()
        for _ in range(batch):
            call()
        took = (time.perf_counter() - begun) / batch * 1e6
        if cuda:
            torch.cuda.synchronize()
        if number >= 3:
            found.append(took)
    return {"host_us": statistics.median(found), "least_us": min(found)}


def run(folder: Path, output: Path) -> int:
    """Measure every case and write the results."""
    sys.path[:0] = [str(HERE / "carried")]
    import torch
    from compiling import loaded
    from measuring import head, said, where, written

    cuda = where() == "cuda"
    batch, batches = (BATCH, BATCHES) if cuda else (1, 2)
    manifest = json.loads((folder / "manifest.json").read_text())
    results = head(manifest["emitted"]) | {"rows": []}
    empty = torch.empty(0, device=where())
    results["empty_us"] = host_us(
        lambda: torch.empty((64, 64), dtype=torch.bfloat16, device=empty.device), cuda, batch, batches
    )["host_us"]
    for case in manifest["cases"]:
        row = {k: case[k] for k in ("work", "case", "kind", "sizes", "kernels")} | {
            "host_us": None,
            "peers": {},
            "notes": [],
        }
        try:
            module = loaded(folder / case["file"])
            shapes = [([module.SIZES[d] for d in dims], dtype) for dtype, dims in module.INPUTS.values()]
            a = [torch.randn(shape, device=where()).to(dtype) for shape, dtype in shapes]
            begun = time.perf_counter()
            module.run(*a)
            row["first_call_s"] = time.perf_counter() - begun
            row |= host_us(lambda module=module, a=a: module.run(*a), cuda, batch, batches)
            launches = [
                c.cell_contents
                for _, call in module.CALLS.values()
                for c in call.__closure__ or ()
                if hasattr(c.cell_contents, "ready")
            ]
            # Whether the driver is called without Triton's own path
            row["handed"] = [launch.ready is not None for launch in launches]
            if cuda:
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    captured = module.run(*a)
                graph.replay()
                torch.cuda.synchronize()
                row["captured"] = bool(torch.equal(captured, module.run(*a)))
            for name, call in peers(case["kind"], a).items():
                row["peers"][name] = host_us(call, cuda, batch, batches)["host_us"]
        except Exception as error:  # the next case may do
            row["notes"].append(said(error))
        results["rows"].append(row)
        written(results, output)
        print(
            row["case"], row["host_us"], row["peers"], row.get("handed"), row.get("captured"), row["notes"], flush=True
        )
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("verb", choices=("emit", "run"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=RESULTS)
    parser.add_argument("--tiny", action="store_true", help="sizes for a CPU")
    args = parser.parse_args()
    if args.verb == "emit":
        emit(args.folder, args.tiny)
        return 0
    return run(args.folder, args.output)


if __name__ == "__main__":
    sys.exit(main())
