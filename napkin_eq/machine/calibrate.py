"""A GPU's hardware file from measurements: the JSON of the micro-benchmark, held against what the file of that GPU
states.

What was measured replaces what the file holds, line by line; what no program measures (peaks, the shape of a matrix
instruction) stays. The assumptions stay too, as does what the user keeps: the constants of the cost model were fitted
together with them. What was measured of the same stands beside them.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeGuard

from napkin_eq.lang.errors import NapkinError, read_text
from napkin_eq.laws.loader import folder
from napkin_eq.machine.gpu import Hardware, known, load, place
from napkin_eq.machine.gpu import read as read_hardware

MOST_BYTES, SECONDS, NO_DEVICE = 2**22, 900, 2
# Of a stated peak: below, something else ran on the GPU or the program is wrong; a clock may stand a little above the
# one that a peak is stated for.
LEAST, MOST = 0.2, 1.1
LAUNCH = (2e-7, 1e-3)
SAME_MEMORY = 0.15  # makers count 10**9 bytes and leave out what the driver keeps
DEVICE = {
    ("chip", "sms"): "sms", ("chip", "warp"): "warp", ("l2", "capacity_bytes"): "l2_bytes",
    ("smem", "sm_bytes"): "smem_sm_bytes",
    ("smem", "block_bytes"): "smem_block_bytes", ("limits", "registers_per_sm"): "registers_per_sm",
    ("limits", "threads_per_block"): "threads_per_block",
    ("limits", "threads_per_sm"): "threads_per_sm", ("limits", "blocks_per_sm"): "blocks_per_sm",
}  # fmt: skip
WRITERS = {
    "microbench": "benchmarks/carried/microbench.py",
    "trial": "a trial that napkin-eq tune emitted",
    "tuned": "napkin-eq tune",
}
Entry = tuple[str, str]
LINE = re.compile(r"(\w+) *= *([^#]+?) *(?:# *(.*))?$")
BESIDE = "; measured "


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A GPU as measured, and the text of its hardware file."""

    hardware: Hardware
    text: str


def measure() -> dict[str, Any]:
    """Run the micro-benchmark in a process of its own, its progress on stderr; raises NapkinError where there is no
    CUDA device.
    """
    with tempfile.TemporaryDirectory(prefix="napkin-") as scratch:
        out = Path(scratch) / "microbench.json"
        command = [sys.executable, str(folder("benchmarks") / "carried" / "microbench.py"), "-o", str(out)]
        try:
            status = subprocess.run(command, stdout=sys.stderr, stderr=subprocess.DEVNULL, timeout=SECONDS).returncode
        except subprocess.TimeoutExpired:
            raise NapkinError(f"calibrate: the micro-benchmark took more than {SECONDS} s and was stopped") from None
        if status == NO_DEVICE:
            raise NapkinError(
                "calibrate: no CUDA device here; run benchmarks/carried/microbench.py where there is one, then"
                " calibrate --from its JSON"
            )
        if not out.is_file():
            raise NapkinError(
                f"calibrate: the micro-benchmark ended with status {status} and wrote nothing; run"
                f" {' '.join(command[:2])} to see why"
            )
        return read(out)


def read(file: Path) -> dict[str, Any]:
    """Read results of the micro-benchmark; raises NapkinError, with the number, for a file that holds
    something else.
    """
    data = of_gpu(file, "microbench", {*DEVICE.values(), "memory_bytes"})
    rows = data.get("rows")
    if not isinstance(rows, list) or not all(
        isinstance(row, dict) and isinstance(row.get("name"), str) for row in rows
    ):
        raise NapkinError(f"measurements {file}: rows is no list of named measurements")
    for row in rows:
        if not number(row.get("value")) or (row["value"] <= 0 and row["name"] != "overlap"):
            raise NapkinError(
                f"measurements {file}: {row['name']:.40} is {row.get('value')!r:.40}, expected a positive number;"
                " measure again"
            )
    return data


def of_gpu(file: Path, tool: str, figures: Iterable[str]) -> dict[str, Any]:
    """Read what a carried program measured on a GPU; raises NapkinError unless it says which GPU, with these figures of
    it, and when.
    """
    data = table(file, tool)
    device, words = data.get("device"), [data.get(key) for key in ("gpu", "arch", "date")]
    if not isinstance(device, dict) or not all(whole(device.get(name)) for name in figures):
        raise NapkinError(
            f"measurements {file}: device lacks one of {', '.join(sorted(figures))}, or it is no positive integer"
        )
    if not all(isinstance(word, str) and word.isprintable() and 0 < len(word) < 100 for word in words):
        raise NapkinError(f"measurements {file}: gpu, arch or date is no text on one line")
    for name in ("versions", "clocks", "faults"):
        if not isinstance(data.setdefault(name, {}), dict):
            raise NapkinError(f"measurements {file}: {name} is no table")
    return data


def table(file: Path, tool: str) -> dict[str, Any]:
    """Read a JSON file that says which tool wrote it; raises NapkinError for any other."""
    text = read_text(file, tool, MOST_BYTES)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise NapkinError(f"{file}: not a JSON file") from None
    if not isinstance(data, dict) or (data.get("schema"), data.get("tool")) != (1, tool):
        raise NapkinError(f"{file}: not a file of {WRITERS[tool]} (tool {tool}, schema 1)")
    return data


def number(value: Any) -> TypeGuard[float]:
    """Tell whether a value read from JSON is a finite number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def whole(value: Any) -> TypeGuard[int]:
    """Tell whether a value read from JSON is a positive integer."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1e18


def differs(hardware: Hardware, data: Mapping[str, Any]) -> str:
    """Say in what the GPU that was measured is not this one; the empty text where it is, as far as can be told."""
    device = data["device"]
    if data["arch"] != hardware.arch:
        return f"{data['gpu']} is {data['arch']}, {hardware.name} {hardware.arch}"
    if device["sms"] != hardware.chip.sms:
        return f"{data['gpu']} has {device['sms']} multiprocessors, {hardware.name} {hardware.chip.sms}"
    if abs(device["memory_bytes"] / hardware.hbm.capacity_bytes - 1) > SAME_MEMORY:
        return (
            f"{data['gpu']} has {device['memory_bytes']:g} bytes of memory, {hardware.name}"
            f" {hardware.hbm.capacity_bytes:g}"
        )
    return ""


def stated(data: Mapping[str, Any], name: str | None) -> str:
    """Return whose stated figures measurements are held against: the GPU named, or the shipped one that was
    measured.
    """
    if name is not None:
        if other := differs(load(name), data):
            raise NapkinError(f"--hardware {name}: another GPU was measured: {other}")
        return name
    for candidate in known():
        if not differs(load(candidate), data):
            return candidate
    raise NapkinError(
        f"{data['gpu']}: no hardware file states its peaks ({', '.join(known())} do not fit); write one like them and"
        " name it by --hardware"
    )


def calibrated(data: Mapping[str, Any], name: str, keep: Sequence[str] = ()) -> Calibrated:
    """Put measurements into the file of a GPU, but for the entries to keep ("chip.launch_s").

    Raises NapkinError, with the number, for a measurement that cannot be true of this GPU.
    """
    base = load(name)
    measured, beside = _measured(_Best(data), data["device"], base)
    words = {f"{section}.{entry}": (section, entry) for section, entry in measured}
    if unknown := sorted(set(keep) - set(words)):
        raise NapkinError(f"--keep {unknown[0]!r:.60}: expected an entry that is measured: {', '.join(sorted(words))}")
    kept = {words[word] for word in keep}
    changed: dict[Entry, tuple[float, str]] = {}
    sections: dict[str, Any] = {}
    for (section, entry), (value, how) in measured.items():
        if (section, entry) in kept:
            beside[section, entry] = f"{value:g}: {how}"
        elif value != getattr(getattr(base, section), entry):
            changed[section, entry] = value, how
            sections[section] = replace(sections.get(section, getattr(base, section)), **{entry: value})
    text = "".join(
        f"{line}\n"
        for line in (
            *_head(data, base),
            *_edited(place(name).read_text(encoding="utf-8").splitlines(), changed, beside),
        )
    )
    return Calibrated(_as_read(text, replace(base, **sections), name), text)


def _measured(
    best: _Best, device: Mapping[str, int], base: Hardware
) -> tuple[dict[Entry, tuple[float, str]], dict[Entry, str]]:
    """Return the entries that were measured, each with how, and what was measured of entries that stay."""
    read = best.of("l2_read_shared", base.l2.bandwidth, most=1.0)
    found: dict[Entry, tuple[float, str]] = {
        entry: (device[name], "the driver's figure") for entry, name in DEVICE.items()
    }
    found |= {
        ("chip", "launch_s"): (best.launch(), "from the event before an empty kernel to the event after it"),
        ("hbm", "copy_bandwidth"): (
            _rounded(best.of("hbm_copy", base.hbm.bandwidth, most=1.0)),
            "the best of plain copies, bytes read and written",
        ),
        ("l2", "copy_bandwidth"): (
            _rounded(read),
            f"tiles that many blocks read at once; blocks that share nothing read {best.most('l2_read'):.3g}",
        ),
    }
    clock, loaded = best.of("clock_idle", base.chip.clock_hz), best.of("clock_product", base.chip.clock_hz)
    beside = {("chip", "clock_hz"): f"{clock / 1e9:.2f}e9 idle, {loaded / 1e9:.2f}e9 after matrix products"}
    return found, beside | {
        ("assumptions", name): f"{value:.2f} by itself" for name, value in _efficiencies(best, base).items()
    }


def _efficiencies(best: _Best, base: Hardware) -> dict[str, float]:
    tensor = best.of("tile", base.flops("bfloat16"), dtype="bfloat16")
    for name, peak in (("fma", base.rate("fma")), ("exp2", base.rate("sfu"))):
        best.of(name, peak)
    # One exponential, with a multiply-add, a maximum and a sum beside it: the units work at the same time, and the
    # slower one tells.
    slower = min(base.rate("sfu"), base.rate("fma") / 3)
    return {
        "tensor_efficiency": tensor / base.flops("bfloat16"), "unit_efficiency": best.of("mix", slower) / slower,
        "overlap": statistics.median(best.values("overlap")),
    }  # fmt: skip


class _Best:
    """The best measurement of each kind, refused where it cannot be true."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.rows, self.faults = data["rows"], data["faults"]

    def values(self, name: str, **parameters: str) -> list[float]:
        found = [
            row["value"]
            for row in self.rows
            if row["name"] == name and all(row.get(k) == v for k, v in parameters.items())
        ]
        if not found:
            why = "; ".join(f"{part} failed: {fault!s:.120}" for part, fault in sorted(self.faults.items()))
            raise NapkinError(f"measurements: {name} is missing{f' ({why})' if why else ''}; measure again")
        return found

    def most(self, name: str, **parameters: str) -> float:
        return max(self.values(name, **parameters))

    def of(self, name: str, peak: float, most: float = MOST, **parameters: str) -> float:
        """Return the largest value of a name, which must stand between LEAST and `most` of a stated peak."""
        value = self.most(name, **parameters)
        if not LEAST * peak <= value <= most * peak:
            raise NapkinError(
                f"measurements: {name} is {value:.4g}, {value / peak:.0%} of the stated {peak:.4g}, expected"
                f" {LEAST:.0%} to {most:.0%}; measure again with nothing else on the GPU, or correct the stated figure"
            )
        return value

    def launch(self) -> float:
        value = min(self.values("launch"))
        if not LAUNCH[0] <= value <= LAUNCH[1]:
            raise NapkinError(
                f"measurements: launch is {value:.4g} s, expected {LAUNCH[0]:g} to {LAUNCH[1]:g}; measure again"
            )
        return _rounded(value)


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


def _head(data: Mapping[str, Any], base: Hardware) -> Iterator[str]:
    versions = ", ".join(f"{k} {v}" for k, v in data["versions"].items())
    lines = [
        f"{base.title}. Published figures unless a comment says otherwise.",
        f"Measured {data['date']} on {data['gpu']} by benchmarks/carried/microbench.py with {versions}.",
    ]
    for when, found in data["clocks"].items():
        lines.append(
            f"{when} it: {', '.join(f'{k} {v}' for k, v in found.items())}"
            if isinstance(found, dict)
            else f"{when} it: {found}"
        )
    shapes = [row for row in data["rows"] if row["name"] == "tile"]
    for dtype in dict.fromkeys(str(row.get("dtype")) for row in shapes):
        rates = (
            f"{r.get('m')}x{r.get('n')}x{r.get('k')}/{r.get('warps')} {r['value'] / 1e12:.0f}"
            for r in shapes
            if str(r.get("dtype")) == dtype
        )
        lines.append(f"{dtype} tiles from the cache, rows x columns x depth / warps, TFLOP/s: {', '.join(rates)}")
    yield from (f"# {''.join(c if c.isprintable() else '?' for c in line)}" for line in lines)


def _edited(lines: list[str], changed: Mapping[Entry, tuple[float, str]], beside: Mapping[Entry, str]) -> Iterator[str]:
    """Yield the lines of a hardware file below its head, with measured values in place of those they hold, or beside
    them.
    """
    section = ""
    for line in itertools.dropwhile(lambda line: line.startswith("#"), lines):
        section = line.partition("[")[2].partition("]")[0] if line.startswith("[") else section
        found = LINE.match(line)
        entry = (section, found[1] if found else "")
        if found and entry in changed:
            value, how = changed[entry]
            yield f"{entry[1]} = {f'{value:_}' if isinstance(value, int) else f'{value:g}'} # measured: {how}"
        elif found and entry in beside:
            comment = (found[3] or "the file's own").partition(BESIDE)[0]
            yield f"{entry[1]} = {found[2]} # {comment}{BESIDE}{beside[entry]}"
        else:
            yield line


def _as_read(text: str, wanted: Hardware, name: str) -> Hardware:
    """Return what a hardware file holds, which must be what was to be written."""
    with tempfile.TemporaryDirectory(prefix="napkin-") as scratch:
        file = Path(scratch) / "made.toml"
        file.write_text(text, encoding="utf-8")
        if read_hardware(file) != wanted:
            raise NapkinError(
                f"--hardware {name}: its entries cannot be changed one by one; write each on a line of its own, as the"
                " shipped files do"
            )
    return wanted
