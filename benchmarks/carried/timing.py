"""Times functions on a GPU beside each other: rounds over all of them, the level-2 cache emptied before each call,
events around it.

A round is queued behind a kernel that waits, so that the time of the host does not show; every call's host time is kept
too. On a CPU, where only the harness itself can be tried, the clock of the host is read.
"""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

SECONDS, LEAST_ROUNDS, MOST_ROUNDS, LONGEST_WAIT = 1.0, 9, 60, 0.02
FLUSH_BYTES = 256 * 2**20
GRAPH_BELOW_MS = 0.05
Call = Callable[[], Any]


@dataclass
class Times:
    """What was read of one function: device milliseconds of each round, milliseconds of graph replays, host
    microseconds.
    """

    ms: list[float] = field(default_factory=list)
    graph: list[float] = field(default_factory=list)
    host: list[float] = field(default_factory=list)

    def data(self) -> dict[str, float | int]:
        """Return medians, and the spread: half the distance between the quartiles over the median."""
        found: dict[str, float | int] = {
            "ms": statistics.median(self.ms),
            "spread": spread(self.ms),
            "rounds": len(self.ms),
        }
        found["host_us"] = statistics.median(self.host)
        if self.graph:
            found |= {"graph_ms": statistics.median(self.graph), "graph_spread": spread(self.graph)}
        return found


def spread(values: list[float]) -> float:
    """Return half the distance between the quartiles over the median."""
    if len(values) < 2:
        return 0.0
    low, _, high = statistics.quantiles(values, n=4)
    return (high - low) / 2 / statistics.median(values)


class Clock:
    """Times functions in rounds."""

    def __init__(self, device: str) -> None:
        self.cuda = device == "cuda"
        self.scratch = torch.empty(FLUSH_BYTES if self.cuda else 1, dtype=torch.int8, device=device)

    def rounds(self, calls: Mapping[str, Call], seconds: float = SECONDS) -> dict[str, Times]:
        """Return the times of functions, measured one after another in every round, each round beginning with another
        one.
        """
        found = {name: Times() for name in calls}
        names = list(calls)
        if not self.cuda:
            self._round(calls, names, found, 0.0)
            return found
        wait = self._round(calls, names, {name: Times() for name in names}, 0.0)  # these two warm up and are not kept
        wait = self._round(calls, names, {name: Times() for name in names}, 1.5 * wait)
        begun = time.perf_counter()
        for number in range(MOST_ROUNDS):
            shift = number % len(names)
            self._round(calls, names[shift:] + names[:shift], found, 1.5 * wait)
            if number + 1 >= LEAST_ROUNDS and time.perf_counter() - begun > seconds:
                break
        return found

    def _round(self, calls: Mapping[str, Call], names: list[str], found: Mapping[str, Times], wait: float) -> float:
        """Measure each once; return the seconds that the host took to queue the round."""
        marks = []
        if self.cuda:
            torch.cuda._sleep(int(min(wait, LONGEST_WAIT) * 2e9))
        begun = time.perf_counter()
        for name in names:
            self.scratch.zero_()
            if not self.cuda:
                at = time.perf_counter()
                calls[name]()
                found[name].ms.append((time.perf_counter() - at) * 1e3)
                found[name].host.append(0.0)
                continue
            first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            first.record()
            at = time.perf_counter()
            calls[name]()
            found[name].host.append((time.perf_counter() - at) * 1e6)
            last.record()
            marks.append((name, first, last))
        took = time.perf_counter() - begun
        if self.cuda:
            torch.cuda.synchronize()
        for name, first, last in marks:
            found[name].ms.append(first.elapsed_time(last))
        return took

    def graphs(self, calls: Mapping[str, Call], found: Mapping[str, Times], seconds: float = SECONDS) -> dict[str, str]:
        """Add the times of graph replays to those of functions; return, by name, why one could not be captured."""
        faults: dict[str, str] = {}
        if not self.cuda:
            return faults
        replays: dict[str, Call] = {}
        for name, call in calls.items():
            try:
                replays[name] = captured(call)
            except Exception as error:  # a peer may do what no graph can hold
                faults[name] = said(error)
                torch.cuda.synchronize()
        if replays:
            for name, times in self.rounds(replays, seconds).items():
                found[name].graph.extend(times.ms)
        return faults


def captured(call: Call) -> Call:
    """Return the replay of a function's kernels as one CUDA graph."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        call()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph.replay


def said(error: BaseException) -> str:
    """Return an error on one short line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:240]}"


def launched(call: Call) -> list[str]:
    """Return the names of the kernels that a function launches, by the profiler."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        call()
        torch.cuda.synchronize()
    return sorted({event.key for event in seen.key_averages() if not event.key.startswith(("cuda", "Mem"))})


def clocks() -> dict[str, str]:
    """Return what nvidia-smi says of clocks, power and temperature now."""
    fields = "clocks.sm,clocks.mem,clocks.max.sm,power.draw,power.limit,temperature.gpu,driver_version"
    try:
        command = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader", "--id=0"]
        line = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError) as error:
        return {"error": said(error)}
    return dict(zip(fields.split(","), (part.strip() for part in line.strip().split(",")), strict=False))
