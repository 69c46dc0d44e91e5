"""Derive networks and emit them into a folder that runs by itself on a GPU: `python benchmarks/emit_networks.py FOLDER
[TEXT]...`.

There, with torch and triton alone: `python networks.py [TEXT]...`. A folder that is there is added to.
"""

from __future__ import annotations

import json
import math
import shutil
import sys
from pathlib import Path
from typing import Any

from networks import NETWORKS

import napkin_eq as nq
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.tile.resources import BYTES

CARRIED = (
    "llama",
    "llama decode b1",
    "llama decode b64",
    "gpt",
    "attention backward, 16k",
    "attention backward, 16k, of its forward pass",
    "causal attention backward, 16k",
    "causal attention backward, 16k, of its forward pass",
)
SECONDS = 90.0


def row(name: str, found: Derivation, file: str) -> dict[str, Any]:
    """Return what a run is told of a network: its file, and the bytes that its inputs and outputs have."""
    moved = sum(
        BYTES[b.dtype] * math.prod(a.size or 1 for a in b.dims) for b in (*found.plan.inputs, *found.plan.outputs)
    )
    predicted = sum(o.placed.predicted_us for o in found.outputs)
    kernels = [k.name for k in found.plan.kernels]
    return {
        "name": name,
        "kind": found.diagram.name,
        "file": file,
        "kernels": len(kernels),
        "predicted_us": round(predicted, 1),
        "bytes": moved,
    }


def main() -> None:
    folder, words = Path(sys.argv[1]), sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(__file__).with_name("carried") / "networks.py", folder / "networks.py")
    manifest = folder / "networks_manifest.json"
    rows = {r["name"]: r for r in json.loads(manifest.read_text())["rows"]} if manifest.exists() else {}
    for name in CARRIED:
        if words and name not in words:
            continue
        found = nq.derive(NETWORKS[name](), limit=SECONDS).compiled().derivation  # what spills gives way
        file = f"network_{CARRIED.index(name)}.py"
        (folder / file).write_text(found.code())
        rows[name] = row(name, found, file)
        print(rows[name], flush=True)
        manifest.write_text(json.dumps({"schema": 1, "rows": list(rows.values())}, indent=1))


if __name__ == "__main__":
    main()
