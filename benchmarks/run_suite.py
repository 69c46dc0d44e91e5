"""Run carried kernels on a GPU with torch and triton alone: `python benchmarks/run_suite.py FOLDER
[check|bench|sweep]...`.

Writes FOLDER's results as JSON to the path in $OUT, or beside the manifest. A sweep's result is compared with float32
arithmetic of torch on the same inputs; a check's with the float64 results and bounds it carries.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
import triton
from triton.testing import do_bench


def module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def inputs(found: Any, seed: int = 0) -> list[torch.Tensor]:
    generator = torch.Generator("cuda").manual_seed(seed)
    tensors = []
    for dtype, dims in found.INPUTS.values():
        shape = [found.SIZES[d] for d in dims]
        if dtype.is_floating_point:
            tensors.append(torch.randn(shape, device="cuda", dtype=torch.float32, generator=generator).to(dtype))
        else:
            tensors.append(torch.randint(0, 2, shape, device="cuda", dtype=dtype, generator=generator))
    return tensors


def reference(case: str, a: list[torch.Tensor]) -> torch.Tensor | None:
    import torch.nn.functional as F

    if case.startswith(("attention", "causal")):
        return F.scaled_dot_product_attention(*a, is_causal=case.startswith("causal"))
    if case.startswith("matmul"):
        return a[0] @ a[1]
    if case.startswith("softmax"):
        return torch.softmax(a[0].float(), -1)
    return None


def warm(path: str) -> str:
    try:
        found = module(Path(path))
        found.run(*inputs(found))
        torch.cuda.synchronize()
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"


def sweep(folder: Path, rows: list[dict[str, Any]]) -> None:
    with ProcessPoolExecutor(12, mp_context=torch.multiprocessing.get_context("spawn")) as pool:
        faults = list(pool.map(warm, [str(folder / r["file"]) for r in rows]))
    for row, fault in zip(rows, faults, strict=True):
        if fault:
            row["error"] = fault
            continue
        found = module(folder / row["file"])
        a = inputs(found)
        got = found.run(*a)
        expected = reference(row["case"], a)
        if expected is not None:
            row["rel"] = float((got.double() - expected.double()).norm() / expected.double().norm())
        row["same"] = bool(torch.equal(got, found.run(*a)))
        row["us"] = do_bench(functools.partial(found.run, *a), warmup=20, rep=60, return_mode="median") * 1e3
    for row in rows:
        seen = row.get("error") or f"us {row['us']:.1f} rel {row.get('rel', -1):.1e} same {row['same']}"
        print(
            row["case"],
            row["tiles"],
            row["warps"],
            row["stages"],
            f"predicted {row['predicted_us']:.0f}",
            seen,
            flush=True,
        )


def check(folder: Path, rows: list[dict[str, Any]]) -> None:
    with ProcessPoolExecutor(12, mp_context=torch.multiprocessing.get_context("spawn")) as pool:
        list(pool.map(warm, [str(folder / r["file"]) for r in rows]))
    for row in rows:
        try:
            found = module(folder / row["file"])
            data = np.load(folder / row["data"])
            a = [
                torch.from_numpy(data[f"in_{n}"]).to("cuda").to(dtype).contiguous()
                for n, (dtype, _) in found.INPUTS.items()
            ]
            got = found.run(*a)
            again = all(torch.equal(got, found.run(*a)) for _ in range(3))
            error = np.abs(got.double().cpu().numpy() - data["expected"])
            row.update(
                max_error=float(error.max()),
                bound_used=float((error / np.maximum(data["bound"], 1e-300)).max()),
                same=again,
            )
        except Exception as fault:
            row["error"] = f"{type(fault).__name__}: {str(fault)[:200]}"
        seen = row.get("error") or f"error {row['max_error']:.2e}, {row['bound_used']:.0%} of its bound"
        print("ok " if row.get("bound_used", 9) <= 1 and row.get("same") else "BAD", row["case"], seen, flush=True)


def bench(folder: Path, rows: list[dict[str, Any]]) -> None:
    with ProcessPoolExecutor(12, mp_context=torch.multiprocessing.get_context("spawn")) as pool:
        faults = list(pool.map(warm, [str(folder / r["file"]) for r in rows]))
    for row, fault in zip(rows, faults, strict=True):
        if fault:
            row["error"] = fault
            print(row["case"], fault, flush=True)
            continue
        found = module(folder / row["file"])
        a = inputs(found)
        got = found.run(*a)
        row["same"] = all(torch.equal(got, found.run(*a)) for _ in range(3))
        row["us"] = do_bench(functools.partial(found.run, *a), warmup=20, rep=80, return_mode="median") * 1e3
        print(
            f"{row['case']:24} {row['kernels']} kernels {row['us']:10.1f} us, predicted {row['predicted_us']:10.1f},"
            f" repeats equal {row['same']}",
            flush=True,
        )


def main() -> None:
    folder = Path(sys.argv[1])
    manifest = json.loads((folder / "manifest.json").read_text())
    print(torch.cuda.get_device_name(), torch.__version__, triton.__version__)
    for job in sys.argv[2:] or list(manifest):
        begun = time.time()
        {"check": check, "sweep": sweep, "bench": bench}[job](folder, manifest[job])
        print(f"# {job}: {time.time() - begun:.0f} s", flush=True)
        out = Path(os.environ.get("OUT", folder)) / f"{job}.json"
        versions = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "triton": triton.__version__}
        out.write_text(json.dumps({"schema": 1, **versions, "rows": manifest[job]}, indent=1))


if __name__ == "__main__":
    main()
