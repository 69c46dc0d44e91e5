"""Counts the bytes that emitted kernels move to and from DRAM and asks of level 2: `python counters.py --json
counters.json`.

Needs torch, triton, a GPU, and Nsight Compute's `ncu` with leave to read counters (root, or RmProfilingAdminOnly: 0).
The first plan of every case is run once unobserved and once observed, its caches emptied before each kernel as ncu does
by default, and what was counted is put beside what the cost model told. What is still in level 2 when a kernel ends was
never written to DRAM, so writes may be fewer than the output's bytes.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import io
import json
import math
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
COUNTED = {
    "read": "dram__bytes_read.sum",
    "written": "dram__bytes_write.sum",
    "level_2": "lts__t_bytes.sum",
    "us": "gpu__time_duration.sum",
}
BYTES = {"float16": 2, "bfloat16": 2, "float32": 4, "int32": 4, "int64": 8}
UNITS = {
    "byte": 1,
    "Kbyte": 1e3,
    "Mbyte": 1e6,
    "Gbyte": 1e9,
    "ns": 1e-3,
    "us": 1,
    "ms": 1e3,
    "nsecond": 1e-3,
    "usecond": 1,
    "msecond": 1e3,
}
SECONDS = 300


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("counters.json"), help="where to write what was counted")
    parser.add_argument(
        "--only", action="append", metavar="TEXT", help="only cases whose work or name has this text; repeatable"
    )
    parser.add_argument("--observed", nargs="*", metavar="FILE", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    manifest = json.loads((HERE / "manifest.json").read_text())
    if arguments.observed is not None:
        Path(arguments.observed[0]).write_text(json.dumps(observed(manifest, arguments.observed[1:])))
        return 0
    if shutil.which("ncu") is None:
        print("ncu is not installed: Nsight Compute reads the counters", file=sys.stderr)
        return 2
    cases = [c for c in manifest["cases"] if any(word in f"{c['work']} {c['case']}" for word in arguments.only or [""])]
    found, faults = counted([case["case"] for case in cases])
    rows = []
    for case in (case for case in cases if case["case"] not in faults):
        mine, found = found[: (count := len(case["plans"][0]["kernels"]))], found[count:]
        if len(mine) < count:
            faults[case["case"]] = "fewer kernels were counted than were launched"
            continue
        rows.append(row(case, mine))
        print(line(rows[-1]), flush=True)
    if found:  # which kernel is whose is told by their order
        rows, faults = [], {case["case"]: "more kernels were counted than the plans have" for case in cases}
    head = {
        "schema": 1,
        "tool": "counters",
        "date": datetime.date.today().isoformat(),
        "emitted": manifest["emitted"],
        "ncu": version(),
        "metrics": COUNTED,
    }
    arguments.json.write_text(json.dumps(head | {"rows": rows, "faults": faults}, indent=1) + "\n")
    for case, fault in faults.items():
        print(f"{case}: {fault}", file=sys.stderr)
    return 1 if faults else 0


def version() -> str:
    return (
        subprocess.run(["ncu", "--version"], capture_output=True, text=True, check=False)
        .stdout.strip()
        .rpartition("\n")[2]
    )


def counted(cases: list[str]) -> tuple[list[dict[str, float]], dict[str, str]]:
    """Return what was counted of each kernel of the cases' first plans, in order, and which cases failed, with the
    reason.
    """
    command = ["ncu", "--csv", "--page", "raw", "--metrics", ",".join(COUNTED.values()), "--profile-from-start", "off",
        "--target-processes", "all",
               "--kernel-name", r"regex:^kernel_\d+_kernel$"]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        failed = Path(folder) / "failed.json"
        try:
            child = subprocess.run(
                [*command, sys.executable, __file__, "--observed", str(failed), *cases],
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return [], dict.fromkeys(cases, f"took longer than {SECONDS} s; name fewer cases with --only")
        found = list(kernels(child.stdout))
        if not failed.exists():
            said = (child.stderr.strip() or child.stdout.strip() or "nothing was counted")[-300:]
            return [], dict.fromkeys(cases, said)
        return found, json.loads(failed.read_text())


def kernels(text: str) -> Iterator[dict[str, float]]:
    """Yield the counters of each kernel of ncu's table, bytes and microseconds."""
    lines = text.splitlines()
    start = next((i for i, one in enumerate(lines) if one.startswith('"ID"')), None)
    if start is None:
        return
    table = list(csv.DictReader(io.StringIO("\n".join(lines[start:]))))
    if not table:
        return
    units = table[0]
    for one in table[1:]:
        yield {name: float(one[metric].replace(",", "")) * UNITS[units[metric]] for name, metric in COUNTED.items()}


def row(case: dict[str, Any], found: list[dict[str, float]]) -> dict[str, Any]:
    """Return what was told of a case's first plan beside what was counted; `least` is every input read and every output
    written once.
    """
    plan, sizes = case["plans"][0], case["sizes"]
    arrays = [BYTES[dtype] * math.prod(sizes[d] for d in dims) for dtype, dims in case["inputs"].values()]
    output = BYTES[case["dtype"]] * math.prod(sizes[d] for d in case["output"])
    total = {name: sum(kernel[name] for kernel in found) for name in COUNTED}
    told = sum(kernel["bytes_hbm"] for kernel in plan["kernels"])
    return {"work": case["work"], "case": case["case"], "file": plan["file"], "least": sum(arrays) + output,
        "output": output, "told": told, **total,
            "kernels": found}  # fmt: skip


def line(one: dict[str, Any]) -> str:
    moved = one["read"] + one["written"]
    return (
        f"{one['case']:36} told {one['told'] / 1e6:9.1f} MB, counted {moved / 1e6:9.1f} ({one['read'] / 1e6:.1f} read,"
        f" {one['written'] / 1e6:.1f} written), told / counted {one['told'] / moved:.3f}, least"
        f" {one['least'] / 1e6:.1f}"
    )


def observed(manifest: dict[str, Any], names: list[str]) -> dict[str, str]:
    """Run the first plan of each case, once before the counters are on and once after; return those that failed, with
    the reason.
    """
    import torch
    import works
    from compiling import loaded
    from timing import said

    failed = {}
    for case in (case for case in manifest["cases"] if case["case"] in names):
        try:
            declared = {name: (getattr(torch, dtype), tuple(dims)) for name, (dtype, dims) in case["inputs"].items()}
            tensors = works.inputs(case["kind"], declared, case["sizes"], "cuda", seed=1)
            plan = loaded(HERE / case["plans"][0]["file"])
            arguments = [tensors[name] for name in plan.INPUTS]
            plan.run(*arguments)
            torch.cuda.synchronize()
        except Exception as error:  # the next case may do
            failed[case["case"]] = said(error)
            continue
        torch.cuda.cudart().cudaProfilerStart()
        try:
            plan.run(*arguments)
            torch.cuda.synchronize()
        finally:
            torch.cuda.cudart().cudaProfilerStop()
    return failed


if __name__ == "__main__":
    sys.exit(main())
