"""Measures the plans of one diagram that `napkin-eq tune --emit DIR` put beside this file: `python trial.py -o
results.json`.

Needs torch, triton and a CUDA device; with TRITON_INTERPRET=1 a CPU, to try the program at small sizes. A plan that the
compiler dies on, that spills registers, gives other bits on a repeat, or another result than most plans is not timed,
and says why.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import platform
import sys
from pathlib import Path
from typing import Any

import torch
import triton
from compiling import loaded, together
from timing import Call, Clock, clocks, said

HERE = Path(__file__).resolve().parent
NO_DEVICE, REPEATS, COMPILE_SECONDS = 2, 3, 300
# Relative distance of two results that are rounded in another order, by the type that they are stored in; matrix units
# round float32 to 11 bits.
TOLERANCE = {torch.bfloat16: 1e-2, torch.float16: 2e-3, torch.float32: 2e-3}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("results.json"),
        help="where to write the results (default results.json)",
    )
    output = parser.parse_args().output
    cuda = torch.cuda.is_available() and not triton.knobs.runtime.interpret
    if not cuda and not triton.knobs.runtime.interpret:
        print("no CUDA device", file=sys.stderr)
        return NO_DEVICE
    manifest = json.loads((HERE / "manifest.json").read_text())
    before = clocks()
    plans = measured(manifest["cases"][0], "cuda" if cuda else "cpu")
    head = {
        "schema": 1,
        "tool": "trial",
        "key": manifest["key"],
        "date": datetime.date.today().isoformat(),
        "clocks": {"before": before, "after": clocks()},
    }
    versions = {"python": platform.python_version(), "torch": torch.__version__, "cuda": str(torch.version.cuda)}
    versions |= {"triton": triton.__version__, "napkin_eq": manifest["napkin_eq"]}
    output.write_text(json.dumps(head | device(cuda) | {"versions": versions, "plans": plans}, indent=1) + "\n")
    return 0


def device(cuda: bool) -> dict[str, Any]:
    """Return what tells one GPU from another."""
    if not cuda:
        return {"gpu": f"none, {platform.machine()}", "arch": "none", "device": {"sms": 0, "memory_bytes": 0}}
    found = torch.cuda.get_device_properties()
    return {
        "gpu": torch.cuda.get_device_name(), "arch": "sm_{}{}".format(*torch.cuda.get_device_capability()),
        "device": {"sms": found.multi_processor_count, "memory_bytes": found.total_memory},
    }  # fmt: skip


def measured(case: dict[str, Any], where: str) -> list[dict[str, Any]]:
    """Return the plans with the milliseconds of each, or why it has none."""
    plans: dict[str, dict[str, Any]] = {plan["file"]: plan for plan in case["plans"]}
    if where == "cuda":
        for (_, file), found in together(HERE, [(case["case"], file) for file in plans], COMPILE_SECONDS).items():
            plans[file] |= found
            if found.get("spills"):
                plans[file]["error"] = f"spills {found['spills']} registers"
    results: dict[str, tuple[torch.Tensor, ...]] = {}
    calls: dict[str, Call] = {}
    arguments: list[torch.Tensor] = []  # every plan takes the same
    for file, plan in plans.items():
        if "error" in plan:
            continue
        try:
            module = loaded(HERE / file)
            arguments = arguments or inputs(module, case["integers"], where)
            results[file] = repeated(module, arguments)
            calls[file] = lambda module=module, arguments=arguments: module.run(*arguments)
        except Exception as error:  # the next plan may do
            plan["error"] = said(error)
    for file in wrong(results):
        plans[file]["error"] = "wrong: its result is not that of most plans"
        del calls[file]
    if calls:
        for file, times in Clock(where).rounds(calls).items():
            plans[file] |= times.data()
    return list(plans.values())


def inputs(module: Any, integers: dict[str, int], where: str) -> list[torch.Tensor]:
    """Return random inputs; integers stand below the number that the diagram compares them with."""
    generator = torch.Generator(where).manual_seed(0)
    found = []
    for name, (dtype, dims) in module.INPUTS.items():
        shape = [module.SIZES[d] for d in dims]
        if dtype.is_floating_point:
            found.append(torch.randn(shape, device=where, generator=generator).to(dtype))
        else:
            found.append(torch.randint(0, integers.get(name, 2), shape, device=where, dtype=dtype, generator=generator))
    return found


def repeated(module: Any, arguments: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """Return the outputs of a plan, which must be the same bits every time."""
    runs = [run if isinstance(run, tuple) else (run,) for run in (module.run(*arguments) for _ in range(REPEATS))]
    for again in runs[1:]:
        assert all(
            torch.equal(a.view(torch.uint8), b.view(torch.uint8)) for a, b in zip(runs[0], again, strict=True)
        ), "wrong: a repeat gave other bits"
    return runs[0]


def wrong(results: dict[str, tuple[torch.Tensor, ...]]) -> list[str]:
    """Return the plans whose results are not those of more than half of all."""
    alike = {name: sum(near(found, other) for other in results.values()) for name, found in results.items()}
    return [name for name, count in alike.items() if 2 * count <= len(results)]


def near(found: tuple[torch.Tensor, ...], other: tuple[torch.Tensor, ...]) -> bool:
    """Tell whether two plans computed the same but for rounding."""
    for a, b in zip(found, other, strict=True):
        x, y = a.double(), b.double()
        finite = x.isfinite()
        if a.shape != b.shape or not torch.equal(finite, y.isfinite()):
            return False
        distance, size = float((x - y)[finite].norm()), float(y[finite].norm())
        if not (distance <= TOLERANCE.get(a.dtype, 0.0) * size and math.isfinite(size)):
            return False
    return True


if __name__ == "__main__":
    sys.exit(main())
