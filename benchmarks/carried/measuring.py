"""What benchmarks that draw their own cases share: the head of their results, a case in a process of its own, plans and
peers timed beside each other.

Needs torch and triton alone; with TRITON_INTERPRET=1 a CPU, to try a program at small sizes.
"""

from __future__ import annotations

import datetime
import json
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch
import triton
from timing import GRAPH_BELOW_MS, Call, Clock, clocks, said

HERE = Path(__file__).resolve().parent


def where() -> str:
    """Return the device: a CPU in Triton's interpreter alone."""
    return "cpu" if triton.knobs.runtime.interpret or not torch.cuda.is_available() else "cuda"


def head(emitted: dict[str, Any]) -> dict[str, Any]:
    """Return the head of a file of results, as that of h200.json."""
    versions = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "cuda": str(torch.version.cuda),
    }
    gpu = torch.cuda.get_device_name() if where() == "cuda" else f"none, {platform.machine()}"
    date = datetime.date.today().isoformat()
    return {
        "schema": 1,
        "gpu": gpu,
        "versions": versions,
        "date": date,
        "clocks": {"before": clocks()},
        "emitted": emitted,
    }


def written(results: dict[str, Any], output: Path) -> None:
    """Write results, the clocks as they are now."""
    results["clocks"]["after"] = clocks()
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(results, indent=1) + "\n")


def resumed(output: Path, emitted: dict[str, Any]) -> dict[str, Any]:
    """Return what was written before of the same kernels, to be gone on with, else a new head with no rows."""
    if output.exists():
        before: dict[str, Any] = json.loads(output.read_text())
        if before.get("emitted") == emitted and before["gpu"] == head(emitted)["gpu"]:
            return before
    return head(emitted) | {"rows": []}


def apart(
    command: Callable[[str], list[str]], names: Iterable[str], seconds: float, processes: int
) -> dict[str, dict[str, Any]]:
    """Run a program for each name in a process of its own, several at a time; return the JSON object that each prints
    last, or an `error`.
    """

    def one(name: str) -> dict[str, Any]:
        try:
            child = subprocess.run(
                [sys.executable, *command(name)], capture_output=True, text=True, timeout=seconds, check=False
            )
        except subprocess.TimeoutExpired:
            return {"error": f"nothing after {seconds:.0f} s"}
        lines = [line for line in child.stdout.splitlines() if line.startswith("{")]
        if lines:
            found: dict[str, Any] = json.loads(lines[-1])
            return found
        return {"error": f"ended with status {child.returncode}: {' '.join(child.stderr.split())[-240:]}"}

    listed = list(names)
    with ThreadPoolExecutor(max(1, processes)) as pool:
        return dict(zip(listed, pool.map(one, listed), strict=True))


def timed(
    clock: Clock, calls: dict[str, Call], seconds: float, faults: dict[str, str]
) -> tuple[dict[str, float], bool]:
    """Return the milliseconds of functions measured beside each other, and whether these are of replays of graphs, as
    for all that are short.
    """
    times = clock.rounds(calls, seconds)
    shown = {name: statistics.median(t.ms) for name, t in times.items()}
    by_graph = min(shown.values()) < GRAPH_BELOW_MS and clock.cuda
    if by_graph:
        faults |= {f"{name} (graph)": fault for name, fault in clock.graphs(calls, times, seconds).items()}
        shown |= {name: statistics.median(t.graph) for name, t in times.items() if t.graph}
    return shown, by_graph


__all__ = ["Call", "Clock", "apart", "head", "resumed", "said", "timed", "where", "written"]
