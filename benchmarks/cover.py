"""Covers of networks by kernels, as a table: `python benchmarks/cover.py OUT.json [TEXT]...`; nothing is run on a GPU.

Each network, or those with TEXT in their name, is derived in a process of its own; OUT keeps the rows of others as they are.
"""

from __future__ import annotations

import json
import math
import multiprocessing
import platform
import resource
import sys
import time
from pathlib import Path
from typing import Any

from networks import NETWORKS

import napkin_eq as nq
from napkin_eq.lang.errors import NapkinError

SECONDS = 90.0


def measured(name: str) -> dict[str, Any]:
    """Return what deriving a network took, in seconds of the clock and of processors and in bytes, and what came of it."""
    begun = time.perf_counter()
    try:
        diagram = NETWORKS[name]()
        found = nq.derive(diagram, limit=SECONDS)
    except NapkinError as reason:
        return {"name": name, "error": str(reason)[:300], "seconds": round(time.perf_counter() - begun, 1)}
    covers = [o.cover for o in found.outputs if o.cover is not None]
    arrays = {b.name: b for k in found.plan.kernels for b in k.writes}
    sizes = {n: math.prod(a.size or 1 for a in b.dims) for n, b in arrays.items()}
    largest = max(math.prod(a.size or 1 for a in b.dims) for b in (*found.plan.inputs, *found.plan.outputs))
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        "name": name,
        "seconds": round(time.perf_counter() - begun, 1),
        "processor_seconds": round(sum(u.ru_utime + u.ru_stime for u in used), 1),
        "peak_mb": round(sum(u.ru_maxrss for u in used) / 1024),
        "kernels": len(found.plan.kernels),
        "predicted_us": round(covers[0]["predicted_us"] if covers else sum(o.placed.predicted_us for o in found.outputs), 1),
        "bound_us": round(covers[0]["bound_us"], 1) if covers else None,
        "gap": covers[0]["gap"] if covers else None,
        "larger_than_any_input": sorted(f"{n}[{', '.join(a.name for a in arrays[n].dims)}]" for n in sizes if sizes[n] > largest),
        "validated": all(o.translation.status == "agrees" for o in found.outputs),
        "ended_by_time": list(found.limited),
    }


def main() -> None:
    out, words = Path(sys.argv[1]), sys.argv[2:]
    rows = {r["name"]: r for r in json.loads(out.read_text())["rows"]} if out.exists() else {}
    for name in NETWORKS:
        if words and not any(word in name for word in words):
            continue
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            rows[name] = pool.apply(measured, (name,))
        print(rows[name], flush=True)
        listed = [rows[n] for n in NETWORKS if n in rows]
        out.write_text(json.dumps({"schema": 1, "hardware": "h200", "dtype": "bfloat16", "python": platform.python_version(), "rows": listed}, indent=1))


if __name__ == "__main__":
    main()
