"""Compiles and launches every case of this folder on a GPU, with torch and triton alone: `python launch.py [-o
results.json]`.

Each case runs in a process of its own, so that one that fails takes no other with it: its kernels are compiled,
launched three times, and its results held against float64 within the bounds that it carries. Those that passed are
timed afterwards, one after another. With TRITON_INTERPRET=1 a CPU, to try the program.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SECONDS, TIMED = 150, 45  # of a case; of the timings together
TOP = {"f32": 3.4028234663852886e38, "f16": 65504.0, "bf16": 3.3895313892515355e38}


def loaded(file: Path) -> Any:
    """Return an emitted file as a module."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def where() -> str:
    """Return the device: a CPU in Triton's interpreter alone."""
    return "cpu" if os.environ.get("TRITON_INTERPRET") == "1" else "cuda"


def arguments(row: dict[str, Any], module: Any) -> list[Any]:
    """Return the case's inputs on the GPU; random ones where it carries none."""
    import numpy as np
    import torch

    if row["compared"]:
        held = np.load(HERE / f"{row['case']}.npz")
        return [
            torch.from_numpy(held[f"in_{name}"]).to(dtype).to(where()).contiguous()
            for name, (dtype, _) in module.INPUTS.items()
        ]
    made = []
    for dtype, dims in module.INPUTS.values():
        shape = [module.SIZES[d] for d in dims]
        made.append(
            torch.randn(shape, device=where()).to(dtype)
            if dtype.is_floating_point
            else torch.randint(0, 2, shape, device=where()).to(dtype)
        )
    return made


def resources(module: Any) -> list[dict[str, Any]]:
    """Return what each kernel of a module that was launched takes."""
    found: list[dict[str, Any]] = []
    for name in module.KERNELS if where() == "cuda" else ():
        for cache in getattr(module, name).device_caches.values():
            for kernel in cache[0].values():
                found.append(
                    {
                        "kernel": name,
                        "registers": kernel.n_regs,
                        "spills": kernel.n_spills,
                        "shared": kernel.metadata.shared,
                    }
                )
    return found


def case(row: dict[str, Any]) -> dict[str, Any]:
    """Compile, launch and check one case."""
    import numpy as np
    import torch

    seen: dict[str, Any] = {"name": row["case"], "compiled": False, "launched": False, "within": None}
    try:
        module = loaded(HERE / row["file"])
        tensors = arguments(row, module)
        runs = []
        for _ in range(3):
            result = module.run(*tensors)
            runs.append(result if isinstance(result, tuple) else (result,))
            seen["compiled"] = True
        if where() == "cuda":
            torch.cuda.synchronize()
        seen["launched"] = True
        seen["kernels"] = resources(module)
        # As bytes, for which a scalar needs an axis: -0 and NaN are to repeat as well.
        first, *others = ([part.reshape(-1).view(torch.uint8) for part in run] for run in runs)
        same = all(torch.equal(a, b) for other in others for a, b in zip(first, other, strict=True))
        seen["repeats"] = same
        if row["compared"]:
            held = np.load(HERE / f"{row['case']}.npz")
            used, off, bounded, unbounded = 0.0, 0.0, 0, 0
            for (name, dtype), got in zip(row["outputs"], runs[0], strict=True):
                exact, bound = held[f"exact_{name}"].astype(np.float64), held[f"bound_{name}"].astype(np.float64)
                values = got.to(torch.float64).cpu().numpy()
                top = TOP.get(dtype, np.inf)
                with np.errstate(all="ignore"):
                    values, exact = (np.where(np.isneginf(exact), a, np.clip(a, -top, top)) for a in (values, exact))
                    error = np.where(values == exact, 0.0, np.nan_to_num(np.abs(values - exact), nan=np.inf))
                    part = np.where(error == 0, 0.0, np.where(np.isfinite(bound), error / bound, 0.0))
                used = max(used, float(np.nan_to_num(part, nan=np.inf).max(initial=0.0)))
                off = max(off, float(np.where(np.isfinite(bound), error, 0.0).max(initial=0.0)))
                bounded += int(np.isfinite(bound).sum())
                unbounded += int((~np.isfinite(bound)).sum())
            seen.update(within=used <= 1 if bounded else None, bound_used=used, max_error=off, unbounded=unbounded)
    except Exception as error:
        seen["error"] = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        seen["compiled"] = seen["compiled"] or "CUDA error" in str(error)
    return seen


def said(row: dict[str, Any], found: dict[str, Any]) -> str:
    """Return what is to be said of a case: ok, ran (nothing to compare with), unknown (no element has a
    bound) or BAD.
    """
    if "error" in found or not found["launched"] or not found.get("repeats") or found["within"] is False:
        return "BAD"
    return "ok" if found["within"] else "unknown" if row["compared"] else "ran"


def alone(row: dict[str, Any]) -> dict[str, Any]:
    """Run one case in a process of its own."""
    try:
        child = subprocess.run(
            [sys.executable, __file__, "--case", row["case"]],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {
            "name": row["case"],
            "compiled": False,
            "launched": False,
            "within": None,
            "error": f"nothing after {SECONDS} s",
        }
    lines = [line for line in child.stdout.splitlines() if line.startswith("{")]
    if not lines:
        said = " ".join(child.stderr.split())[-300:]
        return {
            "name": row["case"],
            "compiled": False,
            "launched": False,
            "within": None,
            "error": f"ended with status {child.returncode}: {said}",
        }
    found: dict[str, Any] = json.loads(lines[-1])
    return found


def timed(rows: list[dict[str, Any]], seen: dict[str, dict[str, Any]]) -> None:
    """Time what launched, each for a few repeats."""
    from triton.testing import do_bench

    end = time.time() + TIMED
    for row in rows:
        if seen[row["case"]]["launched"] and time.time() < end:
            module = loaded(HERE / row["file"])
            seen[row["case"]]["us"] = 1e3 * do_bench(
                functools.partial(module.run, *arguments(row, module)), warmup=5, rep=20, return_mode="median"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=HERE / "results.json", help="where to write the results")
    parser.add_argument("--case", help="run this one case and print what was seen")
    args = parser.parse_args()
    rows = [row for row in json.loads((HERE / "manifest.json").read_text())["cases"] if "file" in row]
    if args.case:
        print(json.dumps(case(next(row for row in rows if row["case"] == args.case))))
        return
    begun = time.time()
    with ThreadPoolExecutor(max(2, (os.cpu_count() or 2) - 2)) as pool:
        seen = {found["name"]: found for found in pool.map(alone, rows)}
    checked = time.time() - begun
    if where() == "cuda":
        timed(rows, seen)
    import torch
    import triton

    counts: Counter[str] = Counter()
    for row in rows:
        found = seen[row["case"]]
        found["predicted"] = row["predicted"]
        found["said"] = said(row, found)
        counts[found["said"]] += 1
        print(
            f"{found['said']:7}",
            row["case"],
            found.get("error") or {k: found.get(k) for k in ("bound_used", "repeats", "us")},
            flush=True,
        )
    versions = {
        "gpu": torch.cuda.get_device_name() if where() == "cuda" else "none",
        "torch": torch.__version__,
        "triton": triton.__version__,
    }
    args.output.write_text(
        json.dumps({"schema": 1, **versions, "seconds": round(checked), "cases": list(seen.values())}, indent=1) + "\n"
    )
    told = ", ".join(f"{number} {what}" for what, number in sorted(counts.items()))
    print(f"{len(seen)} cases: {told}; checked in {checked:.0f} s, all in {time.time() - begun:.0f} s")
    sys.exit(counts["BAD"] > 0)


if __name__ == "__main__":
    main()
