"""Derive programs of PyTorch and emit them into a folder that runs by itself on a GPU: `python
benchmarks/torch_programs.py FOLDER [TEXT]...`.

There, with torch and triton alone: `python torch_programs.py [TEXT]...`. A folder that is there is added to. A program
that is not read or not derived is printed with its reason, and left out.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import torch

import napkin_eq as nq
from napkin_eq.lang.dtypes import BY_SHORT
from napkin_eq.pytorch.flat import flat
from napkin_eq.pytorch.kernels import diagram_of, way

CARRIED = Path(__file__).with_name("carried") / "torch_programs.py"
SECONDS = 60.0


def carried() -> Any:
    """Return the file that is carried, as a module: it defines the programs."""
    spec = importlib.util.spec_from_file_location("carried_programs", CARRIED)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def example(kinds: tuple[Any, ...]) -> list[torch.Tensor]:
    """Return tensors of a program's sizes, of which nothing but sizes and types is read."""
    return [
        torch.empty(kind[0], dtype=torch.int64)
        if isinstance(kind[0], tuple)
        else torch.empty(kind, dtype=torch.bfloat16)
        for kind in kinds
    ]


def emitted(name: str, fn: Any, kinds: tuple[Any, ...], file: Path) -> dict[str, Any]:
    """Derive a program, write its kernels, and return what a run is told of it."""
    program = nq.from_torch(fn, *example(kinds))
    made = flat(program)
    found = nq.derive(diagram_of(made), dtype=program.dtype, limit=SECONDS)
    file.write_text(found.code())
    ports = {port.name: (at, port) for at, port in enumerate(made.inputs)}
    takes = [
        (ports[b.name][0], [a.size for a in ports[b.name][1].axes], BY_SHORT[b.dtype].name) for b in found.plan.inputs
    ]
    order = {b.name: (at, [a.name for a in b.dims]) for at, b in enumerate(found.plan.outputs)}
    gives = []
    for port, whole in zip(made.outputs, program.outputs, strict=True):
        shape, permuted, final, _ = way(port, order[port.name][1])
        sizes = [1 if not dim else int(torch.tensor([a.size for a in dim]).prod()) for dim in whole.dims]
        gives.append((order[port.name][0], shape, permuted, final, sizes))
    predicted = sum(o.placed.predicted_us for o in found.outputs)
    kernels = len(found.plan.kernels)
    return {
        "name": name,
        "file": file.name,
        "kernels": kernels,
        "predicted_us": predicted,
        "takes": takes,
        "gives": gives,
    }


def main() -> None:
    folder, words = Path(sys.argv[1]), sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(CARRIED, folder / CARRIED.name)
    manifest = folder / "torch_programs_manifest.json"
    rows = {r["name"]: r for r in json.loads(manifest.read_text())["rows"]} if manifest.exists() else {}
    programs = carried().PROGRAMS
    for number, (name, (fn, kinds)) in enumerate(programs.items()):
        if words and not any(word in name for word in words):
            continue
        begun = time.process_time()
        try:
            rows[name] = emitted(name, fn, kinds, folder / f"program_{number}.py")
            said = f"{rows[name]['kernels']} kernels, {rows[name]['predicted_us']:.1f} us predicted"
        except nq.NapkinError as reason:
            said = f"left out: {reason}"
        print(f"{name}: {said}, {time.process_time() - begun:.1f} s", flush=True)
        manifest.write_text(json.dumps({"schema": 1, "rows": list(rows.values())}, indent=1))


if __name__ == "__main__":
    main()
