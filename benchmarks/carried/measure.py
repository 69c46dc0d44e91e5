"""Measures the cases that run.py names, one after another, in a process of its own, and writes the results after every
row.

`measure.py JOB`: JOB is a JSON file with the cases to measure, the one on which an earlier process ended, and where to
write.
"""

from __future__ import annotations

import datetime
import gc
import json
import platform
import sys
import time
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import report
import rivals
import torch
import triton
import works
from compiling import loaded
from timing import GRAPH_BELOW_MS, Call, Clock, Times, clocks, launched, said

HERE = Path(__file__).resolve().parent
PACKAGES = (
    "torch",
    "triton",
    "flash-attn-4",
    "quack-kernels",
    "liger-kernel",
    "cut-cross-entropy",
    "nvidia-cudnn-cu13",
    "nvidia-cublas",
)
REPEATS, TUNING_SECONDS = 3, 0.25


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    manifest = json.loads((HERE / "manifest.json").read_text())
    by_name = {case["case"]: case for case in manifest["cases"]}
    device = "cuda" if torch.cuda.is_available() else "cpu"
    paths = [Path(job[key]) if job[key] else None for key in ("json", "table")]
    head = {
        "schema": 1, "gpu": torch.cuda.get_device_name() if device == "cuda" else f"none, {platform.machine()}",
        "versions": versions(),
        "date": datetime.date.today().isoformat(), "clocks": {"before": clocks()}, "emitted": manifest["emitted"],
    }  # fmt: skip
    results = report.merged(paths[0], head)
    print(f"{head['gpu']}, {head['versions']}, {len(job['cases'])} cases", flush=True)
    suite = Suite(device, job["skip"], job["resources"])
    for name, fault in job["failed"].items():
        report.kept(results, started(by_name[name]) | {"notes": [fault]}, list(by_name))
    for name in job["cases"]:
        if time.time() > job["end"]:
            print(f"# out of time: {name} and what follows is not reached", flush=True)
            break
        at = time.time()
        Path(job["now"]).write_text(name)
        row = suite.row(by_name[name])
        row["seconds"] = round(time.time() - at, 1)
        report.kept(results, row, list(by_name))
        results["clocks"]["after"] = clocks()
        report.write(results, *paths)
        print(line(row), flush=True)
        if device == "cuda":
            torch.cuda.synchronize()  # raises where a kernel has broken the context: the next process goes on
    report.write(results, *paths)


def started(case: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a case that nothing has been measured of."""
    row: dict[str, Any] = {k: case[k] for k in ("work", "case", "kind", "dtype", "sizes", "rivals")}
    row |= {
        "date": datetime.date.today().isoformat(),
        "ours_ms": None,
        "peers": {},
        "ratio_best": None,
        "notes": case["notes"],
        "faults": {},
    }
    return row | {"plans": case["plans"]}


def versions() -> dict[str, str]:
    """Return the versions of what is measured, Python's and CUDA's among them."""
    found = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "cuda": str(torch.version.cuda),
    }
    if torch.cuda.is_available():
        found["cudnn"] = str(torch.backends.cudnn.version())
    for name in PACKAGES:
        try:
            found.setdefault(name, version(name))
        except PackageNotFoundError:
            continue
    return found


def line(row: dict[str, Any]) -> str:
    """Return a row on one line."""
    if row.get("ours_ms") is None:
        return f"{row['case']:36} FAILED {'; '.join(row['notes'])[:300]}"
    best = f"{row['ratio_best']:.2f} x {row['best_peer']}" if row["ratio_best"] else ""
    faults = "".join(f"; {name}: {fault[:90]}" for name, fault in row["faults"].items())
    return (
        f"{row['case']:36} {row['ours_ms']:9.4f} ms ±{row['spread']:.1%} {row['rate']:>14} predicted"
        f" {row['predicted_ms']:.4f}, {row['bound_used']:.0%} of its bound, {best}, {row['seconds']} s{faults}"
    )


class Suite:
    """Measures cases one after another."""

    def __init__(self, device: str, skip: list[str], resources: Mapping[str, dict[str, Any]]) -> None:
        self.device, self.skip, self.resources = device, skip, resources
        self.clock = Clock(device)

    def row(self, case: dict[str, Any]) -> dict[str, Any]:
        """Return the row of a case, whatever fails in it."""
        row = started(case)
        try:
            self._measure(case, row)
        except Exception as error:  # the next case may do
            row["notes"].append(said(error))
        torch._dynamo.reset()
        gc.collect()
        if self.device == "cuda":
            torch.cuda.empty_cache()
        return row

    def _measure(self, case: dict[str, Any], row: dict[str, Any]) -> None:
        kind, sizes = case["kind"], case["sizes"]
        declared = {name: (getattr(torch, dtype), tuple(dims)) for name, (dtype, dims) in case["inputs"].items()}
        a = works.inputs(kind, declared, sizes, self.device, seed=1)
        exact = works.exact(kind, a, sizes)
        whole = works.whole(kind, a, seed=2)
        truth = None if whole is None else works.exact(kind, whole, sizes).out.to(getattr(torch, case["dtype"]))
        ours: dict[str, Call] = {}
        for plan in row["plans"]:
            try:
                ours[plan["file"]] = self._checked(case, plan, a, exact, whole, truth)
            except Exception as error:
                plan["error"] = said(error)
                row["notes"].append(f"{plan['file']}: {plan['error']}")
        others = self._peers(case, row, a, exact) if case["rivals"] else {}
        got = next(iter((ours | others).values()))()
        flops, moved = works.demands(kind, a, got, sizes)
        del exact, whole, truth, got
        self._timed(row, ours, others, flops, moved)

    def _checked(
        self,
        case: dict[str, Any],
        plan: dict[str, Any],
        a: works.Tensors,
        exact: works.Exact,
        whole: works.Tensors | None,
        truth: torch.Tensor | None,
    ) -> Call:
        """Return the call of a plan after it passed its bound, repeats and exact integers; raises AssertionError where
        it did not.
        """
        plan |= self.resources.get(plan["file"], {})
        assert "error" not in plan, plan["error"]
        found = loaded(HERE / plan["file"])
        order = [case["output"].index(name) for name in exact.axes]
        self._poison(exact)
        got = found.run(*(a[name] for name in found.INPUTS))
        plan |= exact.held(got.permute(order))
        assert plan["bound_used"] <= 1, (
            f"wrong: error {plan['max_error']:.2e}, {plan['bound_used']:.1f} times its bound"
        )
        for _ in range(REPEATS - 1 if self.device == "cuda" else 0):
            self._poison(exact)
            again = found.run(*(a[name] for name in found.INPUTS))
            assert torch.equal(got.view(torch.int16), again.view(torch.int16)), "wrong: a repeat gave other bits"
        if whole is not None and truth is not None:
            integers = found.run(*(whole[name] for name in found.INPUTS))
            assert torch.equal(integers.permute(order), truth), "wrong: sums of small integers are not exact"
            plan["exact_integers"] = True
        return lambda: found.run(*(a[name] for name in found.INPUTS))

    def _poison(self, exact: works.Exact) -> None:
        """Leave memory full of NaN where the next result is likely to be put, so that what is not written shows."""
        torch.full((exact.out.numel(),), float("nan"), dtype=torch.bfloat16, device=self.device)

    def _peers(
        self, case: dict[str, Any], row: dict[str, Any], a: works.Tensors, exact: works.Exact
    ) -> dict[str, Call]:
        found: dict[str, Call] = {}
        row["peer_checks"] = {}
        for peer in rivals.peers(case["kind"], a, case["sizes"]):
            if peer.name in self.skip:
                continue
            try:
                call = peer.make()
                held = exact.held(peer.reads(call()))
                if peer.kernels and self.device == "cuda":
                    names = launched(call)
                    held |= {"kernels": names[:4]}
                    assert not names or any(peer.kernels in name for name in names), (
                        f"forced to {peer.kernels}, ran {names}"
                    )
                row["peer_checks"][peer.name] = held
                found[peer.name] = call
            except Exception as error:  # a peer may lack the work, or fail: the row says so
                row["faults"][peer.name] = said(error)
        return found

    def _timed(
        self, row: dict[str, Any], ours: dict[str, Call], others: dict[str, Call], flops: float, moved: float
    ) -> None:
        plans = {plan["file"]: plan for plan in row["plans"]}
        for name, times in self.clock.rounds(ours, TUNING_SECONDS).items() if ours else ():
            plans[name] |= {f"tuning_{k}": v for k, v in times.data().items()}
        if not row["rivals"]:
            for name in ours:
                plans[name]["ms"] = plans[name]["tuning_ms"]
        best = min(ours, key=lambda name: plans[name]["tuning_ms"], default=None)
        first = next(iter(ours), None)
        calls = {name: ours[name] for name in dict.fromkeys((best, first)) if name is not None} | others
        copy = self._copy(moved)
        times = self.clock.rounds(calls | {"copy": copy}) if row["rivals"] else {}
        short = {name: calls[name] for name, t in times.items() if name in calls and t.data()["ms"] < GRAPH_BELOW_MS}
        if any(name in ours for name in short):
            row["faults"] |= {
                f"{name} (graph)": fault for name, fault in self.clock.graphs(calls | {"copy": copy}, times).items()
            }
        row["by_graph"] = bool(best in times and times[best].graph)
        row["times"] = {name: t.data() for name, t in times.items() if name not in ours}
        shown = {name: _shown(t, row["by_graph"]) for name, t in times.items()}
        for name in shown.keys() & ours.keys():
            plans[name] |= times[name].data()
        row["copy_ms"] = shown.pop("copy", None)
        row["peers"] = {name: ms for name, ms in shown.items() if name in others}
        if best is None:
            return
        row |= {k: plans[best][k] for k in ("max_error", "bound", "bound_used", "predicted_ms")}
        row["ours_ms"] = shown.get(best) or plans[best]["tuning_ms"]
        row["first_ms"] = shown.get(first) or plans[first]["tuning_ms"]
        row["spread"] = plans[best].get("graph_spread" if row["by_graph"] else "spread", plans[best]["tuning_spread"])
        row["chosen"] = best
        row["best_peer"] = min(row["peers"], key=lambda name: row["peers"][name], default=None)
        if row["best_peer"]:
            row["ratio_best"] = row["peers"][row["best_peer"]] / row["ours_ms"]
        row["ratio_first"] = row["ratio_best"] * row["ours_ms"] / row["first_ms"] if row["ratio_best"] else None
        row |= {"tflops": flops / row["ours_ms"] / 1e9, "gbs": moved / row["ours_ms"] / 1e6}
        row["of_copy"] = row["copy_ms"] / row["ours_ms"] if row["copy_ms"] else None
        busy = flops / 800e12 > moved / 4.2e12
        row["rate"] = (
            f"{row['tflops']:.0f} TFLOP/s"
            if busy
            else f"{row['gbs']:.0f} GB/s" + (f", {row['of_copy']:.2f} of copy" if row["of_copy"] else "")
        )

    def _copy(self, moved: float) -> Call:
        """Return a plain copy within the device that moves as many bytes, half of them read, half written."""
        source = torch.ones(max(1, int(moved / 2)), dtype=torch.uint8, device=self.device)
        target = torch.empty_like(source)
        return lambda: target.copy_(source)


def _shown(times: Times, by_graph: bool) -> float:
    """Return the median to show: of graph replays where the row has them and this one could be captured."""
    data = times.data()
    return float(data["graph_ms"] if by_graph and times.graph else data["ms"])


if __name__ == "__main__":
    main()
