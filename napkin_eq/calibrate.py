"""A GPU's hardware file from measurements: the JSON of the micro-benchmark, held against what the maker states of the GPU.

What was measured replaces what the hardware file of the same GPU holds; what no program measures (peaks, the shape of a matrix instruction) stays.
The assumptions stay too, since the constants of the cost model were fitted together with them; what was measured of the same stands beside them.
"""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from napkin_eq.content import folder
from napkin_eq.errors import NapkinError
from napkin_eq.hardware import SECTIONS, Hardware, known, load

MOST_BYTES, SECONDS, NO_DEVICE = 2**22, 900, 2
# Of a stated peak: below, something else ran on the GPU or the program is wrong; a clock may stand a little above the one that a peak is stated for.
LEAST, MOST = 0.2, 1.1
LAUNCH = (2e-7, 1e-3)
SAME_MEMORY = 0.15  # makers count 10**9 bytes and leave out what the driver keeps
DEVICE = {
    ("chip", "sms"): "sms", ("chip", "warp"): "warp", ("l2", "capacity_bytes"): "l2_bytes", ("smem", "sm_bytes"): "smem_sm_bytes",
    ("smem", "block_bytes"): "smem_block_bytes", ("limits", "registers_per_sm"): "registers_per_sm", ("limits", "threads_per_block"): "threads_per_block",
    ("limits", "threads_per_sm"): "threads_per_sm", ("limits", "blocks_per_sm"): "blocks_per_sm",
}  # fmt: skip
Notes = dict[tuple[str, str], str]


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A GPU as measured, and the text of its hardware file."""

    hardware: Hardware
    text: str


def measure() -> dict[str, Any]:
    """Run the micro-benchmark in a process of its own, its progress on stderr; raises NapkinError where there is no CUDA device."""
    with tempfile.TemporaryDirectory(prefix="napkin-") as scratch:
        out = Path(scratch) / "microbench.json"
        command = [sys.executable, str(folder("benchmarks") / "carried" / "microbench.py"), "-o", str(out)]
        try:
            status = subprocess.run(command, stdout=sys.stderr, stderr=subprocess.DEVNULL, timeout=SECONDS).returncode
        except subprocess.TimeoutExpired:
            raise NapkinError(f"calibrate: the micro-benchmark took more than {SECONDS} s and was stopped") from None
        if status == NO_DEVICE:
            raise NapkinError("calibrate: no CUDA device here; run benchmarks/carried/microbench.py where there is one, then calibrate --from its JSON")
        if not out.is_file():
            raise NapkinError(f"calibrate: the micro-benchmark ended with status {status} and wrote nothing; run {' '.join(command[:2])} to see why")
        return read(out)


def read(file: Path) -> dict[str, Any]:
    """Read results of the micro-benchmark; raises NapkinError, with the number, for a file that holds something else."""
    try:
        content = file.read_bytes()[: MOST_BYTES + 1]
        data = json.loads(content) if len(content) <= MOST_BYTES else None
    except OSError as error:
        raise NapkinError(f"measurements {file}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise NapkinError(f"measurements {file}: not a JSON file") from None
    if not isinstance(data, dict) or (data.get("schema"), data.get("tool")) != (1, "microbench"):
        raise NapkinError(f"measurements {file}: not what benchmarks/carried/microbench.py writes (tool microbench, schema 1)")
    rows, device, words = data.get("rows"), data.get("device"), [data.get(key) for key in ("gpu", "arch", "date")]
    if not isinstance(rows, list) or not all(isinstance(row, dict) and isinstance(row.get("name"), str) for row in rows):
        raise NapkinError(f"measurements {file}: rows is no list of named measurements")
    for row in rows:
        if not _number(row.get("value")) or (row["value"] <= 0 and row["name"] != "overlap"):
            raise NapkinError(f"measurements {file}: {row['name']:.40} is {row.get('value')!r:.40}, expected a positive number; measure again")
    wanted = {*DEVICE.values(), "memory_bytes"}
    if not isinstance(device, dict) or not all(_whole(device.get(name)) for name in wanted):
        raise NapkinError(f"measurements {file}: device lacks one of {', '.join(sorted(wanted))}, or it is no positive integer")
    if not all(isinstance(word, str) and word.isprintable() and 0 < len(word) < 100 for word in words):
        raise NapkinError(f"measurements {file}: gpu, arch or date is no text on one line")
    for name in ("versions", "clocks", "faults"):
        if not isinstance(data.setdefault(name, {}), dict):
            raise NapkinError(f"measurements {file}: {name} is no table")
    return data


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1e18


def differs(hardware: Hardware, data: Mapping[str, Any]) -> str:
    """Say in what the GPU that was measured is not this one; the empty text where it is, as far as can be told."""
    device = data["device"]
    if data["arch"] != hardware.arch:
        return f"{data['gpu']} is {data['arch']}, {hardware.name} {hardware.arch}"
    if device["sms"] != hardware.chip.sms:
        return f"{data['gpu']} has {device['sms']} multiprocessors, {hardware.name} {hardware.chip.sms}"
    if abs(device["memory_bytes"] / hardware.hbm.capacity_bytes - 1) > SAME_MEMORY:
        return f"{data['gpu']} has {device['memory_bytes']:g} bytes of memory, {hardware.name} {hardware.hbm.capacity_bytes:g}"
    return ""


def stated(data: Mapping[str, Any], name: str | None) -> Hardware:
    """Return the GPU whose stated figures measurements are held against: the one named, or the shipped one that was measured."""
    if name is not None:
        found = load(name)
        if other := differs(found, data):
            raise NapkinError(f"--hardware {name}: another GPU was measured: {other}")
        return found
    for candidate in map(load, known()):
        if not differs(candidate, data):
            return candidate
    raise NapkinError(f"{data['gpu']}: no hardware file states its peaks ({', '.join(known())} do not fit); write one like them and name it by --hardware")


def calibrated(data: Mapping[str, Any], base: Hardware) -> Calibrated:
    """Put measurements into a GPU's hardware file; raises NapkinError, with the number, for one that cannot be true of this GPU."""
    best = _Best(data)
    notes: Notes = {}
    changes: dict[str, dict[str, Any]] = {}

    def put(section: str, entry: str, value: Any, note: str) -> None:
        changes.setdefault(section, {})[entry] = value
        notes[section, entry] = note

    for (section, entry), name in DEVICE.items():
        put(section, entry, data["device"][name], "the driver's figure")
    put("chip", "launch_s", best.launch(), "measured: from the event before an empty kernel to the event after it")
    copy = best.of("hbm_copy", base.hbm.bandwidth, most=1.0)
    put("hbm", "copy_bandwidth", _rounded(copy), "measured: the best of plain copies, bytes read and written")
    shared = best.of("l2_read_shared", base.l2.bandwidth, most=1.0)
    put("l2", "copy_bandwidth", _rounded(shared), f"measured: tiles read by many blocks at once; blocks that share nothing read {best.most('l2_read'):.3g}")
    clock = best.of("clock_idle", base.chip.clock_hz)
    loaded = best.of("clock_product", base.chip.clock_hz)
    notes["chip", "clock_hz"] = f"the clock that the peaks are stated for; measured {clock / 1e9:.2f}e9 idle, {loaded / 1e9:.2f}e9 after matrix products"
    for name, value in _efficiencies(best, base).items():
        notes["assumptions", name] = f"fitted with the model to whole kernels; measured {value:.2f} by itself"
    sections = {name: replace(getattr(base, name), **entries) for name, entries in changes.items()}
    found = replace(base, **sections)
    return Calibrated(found, "".join(_toml(found, notes, list(_head(data, base)))))


def _efficiencies(best: _Best, base: Hardware) -> dict[str, float]:
    tensor = best.of("tile", base.flops("bfloat16"), dtype="bfloat16")
    for name, peak in (("fma", base.rate("fma")), ("exp2", base.rate("sfu"))):
        best.of(name, peak)
    # One exponential, and a multiply-add, a maximum and a sum beside it: what the model adds up and divides by the efficiency.
    together = 1 / base.rate("sfu") + 3 / base.rate("fma")
    return {
        "tensor_efficiency": tensor / base.flops("bfloat16"), "unit_efficiency": best.of("mix", 1 / together) * together,
        "overlap": statistics.median(best.values("overlap")),
    }  # fmt: skip


class _Best:
    """The best measurement of each kind, refused where it cannot be true."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.rows, self.faults = data["rows"], data["faults"]

    def values(self, name: str, **parameters: str) -> list[float]:
        found = [row["value"] for row in self.rows if row["name"] == name and all(row.get(k) == v for k, v in parameters.items())]
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
                f"measurements: {name} is {value:.4g}, {value / peak:.0%} of the stated {peak:.4g}, expected {LEAST:.0%} to {most:.0%}; "
                "measure again with nothing else on the GPU, or correct the stated figure"
            )
        return value

    def launch(self) -> float:
        value = min(self.values("launch"))
        if not LAUNCH[0] <= value <= LAUNCH[1]:
            raise NapkinError(f"measurements: launch is {value:.4g} s, expected {LAUNCH[0]:g} to {LAUNCH[1]:g}; measure again")
        return _rounded(value)


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


def _head(data: Mapping[str, Any], base: Hardware) -> Iterator[str]:
    versions = ", ".join(f"{k} {v}" for k, v in data["versions"].items())
    yield f"{data['gpu']}, measured {data['date']} by benchmarks/carried/microbench.py with {versions}."
    for when, found in data["clocks"].items():
        yield f"{when} it: {', '.join(f'{k} {v}' for k, v in found.items())}" if isinstance(found, dict) else f"{when} it: {found}"
    yield f"Entries without a comment are stated by the maker, as in the file for {base.name}. Seconds, bytes, and these each second."
    shapes = [row for row in data["rows"] if row["name"] == "tile"]
    for dtype in dict.fromkeys(str(row.get("dtype")) for row in shapes):
        rates = (f"{r.get('m')}x{r.get('n')}x{r.get('k')}/{r.get('warps')} {r['value'] / 1e12:.0f}" for r in shapes if str(r.get("dtype")) == dtype)
        yield f"{dtype} tiles from the cache, rows x columns x depth / warps, TFLOP/s: {', '.join(rates)}"


def _toml(hardware: Hardware, notes: Notes, head: list[str]) -> Iterator[str]:
    yield from (f"# {''.join(c if c.isprintable() else '?' for c in line)}\n" for line in head)
    yield from (f"{key} = {json.dumps(getattr(hardware, key), ensure_ascii=False)}\n" for key in ("name", "title", "arch"))
    tables = {name: {entry.name: getattr(getattr(hardware, name), entry.name) for entry in fields(of)} for name, of in SECTIONS.items()}
    tables["tensor"] = dict(hardware.tensor)
    for name, entries in tables.items():
        yield f"\n[{name}]\n"
        for entry, value in entries.items():
            note = notes.get((name, entry))
            yield f"{entry} = {value:_}" if isinstance(value, int) else f"{entry} = {value:g}"
            yield f" # {note}\n" if note else "\n"
