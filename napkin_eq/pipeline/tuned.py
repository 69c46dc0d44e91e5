"""Plans that were measured: the model's best few are timed on a GPU, and the fastest is kept in a file that others may
ship.

An entry holds for one diagram (its hash, sizes left out), a class of sizes, a storage type, a GPU and the versions that
were measured. What is kept are tiles, warps and buffers; the kernel is derived and proved like any other, so a wrong
entry costs time and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from napkin_eq import __version__
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.json_form import diagram_to_json
from napkin_eq.laws.loader import folder
from napkin_eq.machine.calibrate import differs, number, of_gpu, table, whole
from napkin_eq.machine.gpu import Hardware
from napkin_eq.numerics.sample_inputs import reach
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.pipeline.top_k import Choice, choice, ranked, retiled
from napkin_eq.tile.passes.warp_specialize import GROUP_LANES, MOST_GROUPS
from napkin_eq.tile.printers import code

SCHEMA, SECONDS = 1, 900
MOST_KERNELS, LARGEST_TILE, MOST_WARPS, MOST_STAGES = 64, 2**20, 32, 8
KEY = ("diagram", "sizes", "dtype", "gpu")
CARRIED = ("trial.py", "timing.py", "compiling.py")


def key_of(diagram: Diagram, hardware: Hardware, dtype: str) -> dict[str, str]:
    """Return what an entry is found by: for each axis the power of two that reaches its size, and whether 16 divides
    it.
    """
    free = diagram_to_json(diagram.with_sizes(dict.fromkeys(a.name for a in diagram.axes())))
    content = json.dumps({k: v for k, v in free.items() if k not in ("name", "doc")}, sort_keys=True)
    sizes = {
        a.name: "any" if a.size is None else f"{1 << (a.size - 1).bit_length()}{' ragged' if a.size % 16 else ''}"
        for a in diagram.axes()
    }
    classes = ", ".join(f"{name} {size}" for name, size in sorted(sizes.items()))
    return {
        "diagram": hashlib.sha256(content.encode()).hexdigest(),
        "sizes": classes,
        "dtype": dtype,
        "gpu": hardware.name,
    }


def write_trial(target: Path, derivation: Derivation, keep: int) -> int:
    """Write the best plans, what measures them, and their manifest into a folder that runs by itself; returns how many
    plans there are.
    """
    diagram = derivation.diagram
    if free := [a.name for a in diagram.axes() if a.size is None]:
        raise NapkinError(f"tune: axis {free[0]} has no size to measure at; give it one with --set {free[0]}=4096")
    sizes = {a.name: a.size for a in diagram.axes() if a.size is not None}
    plans = []
    for at, found in enumerate(ranked(derivation, keep)):
        file = f"plan_{at}.py"
        (target / file).write_text(code(found.plan), encoding="utf-8")
        kernels = [
            {"tiles": dict(c.tiles), "warps": c.warps, "stages": c.stages, "groups": c.groups}
            for c in map(choice, found.tiled)
        ]
        plans.append({"file": file, "predicted_ms": found.predicted_us / 1e3, "kernels": kernels})
    for name in CARRIED:
        shutil.copyfile(folder("benchmarks") / "carried" / name, target / name)
    integers = {node.name: reach(diagram, node, sizes) for node in diagram.inputs() if node.kind == "int"}
    case = {"case": diagram.name, "plans": plans, "integers": integers}
    manifest = {
        "key": key_of(diagram, derivation.hardware, derivation.dtype),
        "napkin_eq": __version__,
        "cases": [case],
    }
    (target / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return len(plans)


def require_device() -> None:
    """Raise NapkinError where there is no GPU to measure on."""
    import torch

    if not torch.cuda.is_available():
        raise NapkinError(
            "tune: no CUDA device here; --emit DIR writes a folder that measures where there is one, --from takes its"
            " results"
        )


def measure(derivation: Derivation, count: int) -> dict[str, Any]:
    """Time the best plans in a process of its own, its progress on stderr, and return the entry of the fastest."""
    with tempfile.TemporaryDirectory(prefix="napkin-") as scratch:
        place = Path(scratch)
        write_trial(place, derivation, count)
        command = [sys.executable, str(place / "trial.py"), "-o", str(place / "results.json")]
        try:
            done = subprocess.run(command, stdout=sys.stderr, stderr=subprocess.PIPE, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            raise NapkinError(
                f"tune: measuring took more than {SECONDS} s and was stopped; measure fewer plans with -k"
            ) from None
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["nothing said"])[-1]
            raise NapkinError(f"tune: the trial ended with status {done.returncode}: {last:.200}")
        return entry_of(
            place / "results.json",
            key_of(derivation.diagram, derivation.hardware, derivation.dtype),
            derivation.hardware,
        )


def told(name: str, entry: Mapping[str, Any], file: str) -> str:
    """Return an entry in words."""
    first = (
        f"the model's first choice took {entry['first_ms']:.4g}"
        if number(entry["first_ms"])
        else "the model's first choice was rejected"
    )
    return (
        f"{name}: {entry['ms']:.4g} ms, the fastest of {entry['plans']} plans on {entry['measured_on']} ({first}); kept"
        f" in {file}"
    )


def entry_of(file: Path, key: Mapping[str, str], hardware: Hardware) -> dict[str, Any]:
    """Return the entry that results of a trial make, or raise NapkinError: they are of another diagram or GPU, damaged,
    or no plan was timed.
    """
    data = of_gpu(file, "trial", ("sms", "memory_bytes"))
    for name in KEY:
        if not isinstance(data.get("key"), dict) or data["key"].get(name) != key[name]:
            raise NapkinError(
                f"measurements {file}: of another {'class of sizes' if name == 'sizes' else name}; emit the trial again"
                " and measure it"
            )
    if other := differs(hardware, data):
        raise NapkinError(f"measurements {file}: another GPU was measured: {other}")
    versions, plans = data["versions"], data.get("plans")
    if not isinstance(plans, list) or not plans or not all(isinstance(plan, dict) for plan in plans):
        raise NapkinError(f"measurements {file}: plans is no list of plans")
    timed = [plan for plan in plans if "ms" in plan and "error" not in plan]
    for plan in timed:
        if not number(plan["ms"]) or plan["ms"] <= 0:
            raise NapkinError(
                f"measurements {file}: {plan.get('file')!s:.40} took {plan['ms']!r:.40} ms, expected a positive number;"
                " measure again"
            )
    if not timed:
        raise NapkinError(
            f"measurements {file}: no plan was timed: {plans[0].get('error', 'no reason is given')!s:.200}"
        )
    best = min(timed, key=lambda plan: plan["ms"])
    entry = {
        **key, "versions": {name: str(versions.get(name)) for name in ("napkin_eq", "triton")},
        "kernels": best.get("kernels"), "ms": best["ms"],
        "first_ms": plans[0].get("ms"), "plans": len(plans), "measured_on": data["gpu"], "date": data["date"],
    }  # fmt: skip
    _checked(f"measurements {file}", entry)
    return entry


def read(file: Path) -> list[dict[str, Any]]:
    """Return the entries of a file of tuned plans; raises NapkinError for a file that is damaged."""
    data = table(file, "tuned")
    entries = data.get("entries")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise NapkinError(f"tuned {file}: entries is no list of entries; delete the file and tune again")
    for entry in entries:
        _checked(f"tuned {file}", entry)
    return entries


def keep(file: Path, entry: dict[str, Any]) -> None:
    """Put an entry into a file of tuned plans, in the place of an older one of its key; the file is replaced as a
    whole.
    """
    entries = {_sorting(e): e for e in (read(file) if file.exists() else [])} | {_sorting(entry): entry}
    text = (
        json.dumps({"schema": SCHEMA, "tool": "tuned", "entries": [entries[k] for k in sorted(entries)]}, indent=1)
        + "\n"
    )
    try:
        handle, draft = tempfile.mkstemp(dir=file.absolute().parent, prefix=".napkin-")
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        Path(draft).chmod(0o644)
        os.replace(draft, file)
    except OSError as error:
        raise NapkinError(f"tuned {file}: cannot be written: {error.strerror or error}") from None


def applied(derivation: Derivation, file: Path) -> tuple[Derivation, str]:
    """Return the derivation with the tiles that were measured best, or as it is, and a note that says which and why."""
    key = key_of(derivation.diagram, derivation.hardware, derivation.dtype)
    mine = [entry for entry in read(file) if all(entry[name] == key[name] for name in KEY)]
    if not mine:
        return derivation, f"{file}: nothing is tuned for this diagram, these sizes, {key['dtype']} and {key['gpu']}"
    (entry,) = mine
    here = {"napkin_eq": __version__, "triton": _triton()}
    if stale := [
        f"{name} {entry['versions'][name]}, here {found}"
        for name, found in here.items()
        if entry["versions"][name] != found
    ]:
        return derivation, f"{file}: ignored, measured with {', '.join(stale)}"
    try:
        found = retiled(
            derivation, [Choice(k["tiles"], k["warps"], k["stages"], k.get("groups", 0)) for k in entry["kernels"]]
        )
    except NapkinError as error:
        return derivation, f"{file}: ignored, {error}"
    note = f"tiles by measurement on {entry['measured_on']}, {entry['date']}: the fastest of {entry['plans']} plans"
    return replace(found, plan=replace(found.plan, notes=(*found.plan.notes, note))), f"{file}: {note}"


def _triton() -> str:
    try:
        return version("triton")
    except PackageNotFoundError:
        return "none"


def _sorting(entry: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(entry[name] for name in KEY)


def _checked(where: str, entry: Mapping[str, Any]) -> None:
    """Raise NapkinError unless an entry is of the form that entry_of makes: it may come from strangers."""
    texts = [entry.get(name) for name in (*KEY, "measured_on", "date")]
    if not all(isinstance(text, str) and text.isprintable() and len(text) < 4096 for text in texts):
        raise NapkinError(f"{where}: one of {', '.join(KEY)}, measured_on, date is no text on one line")
    versions, kernels = entry.get("versions"), entry.get("kernels")
    if not isinstance(versions, dict) or not all(
        isinstance(versions.get(name), str) for name in ("napkin_eq", "triton")
    ):
        raise NapkinError(f"{where}: versions lacks napkin_eq or triton")
    if not number(entry.get("ms")) or not whole(entry.get("plans")):
        raise NapkinError(f"{where}: ms or plans is no positive number")
    if (
        not isinstance(kernels, list)
        or not 0 < len(kernels) <= MOST_KERNELS
        or not all(isinstance(k, dict) and _kernel(k) for k in kernels)
    ):
        raise NapkinError(
            f"{where}: kernels is no list of tiles, warps, stages and groups, each a power of two where it must be"
        )


def _kernel(kernel: Mapping[str, Any]) -> bool:
    tiles, warps, stages, groups = (
        kernel.get("tiles"),
        kernel.get("warps"),
        kernel.get("stages"),
        kernel.get("groups", 0),
    )
    if type(groups) is not int or not 0 <= groups <= MOST_GROUPS or not isinstance(tiles, dict):
        return False
    if not all(_tile(size) or (groups and size == groups * GROUP_LANES) for size in tiles.values()):
        return False
    return (
        whole(warps)
        and (_tile(warps) or groups > 0)
        and warps <= MOST_WARPS
        and whole(stages)
        and stages <= MOST_STAGES
    )


def _tile(size: Any) -> bool:
    return whole(size) and size <= LARGEST_TILE and size & (size - 1) == 0
