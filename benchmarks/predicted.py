"""Predicted times of the gallery's plans, and how they changed: `python benchmarks/predicted.py OUT.json
[BEFORE.json]`.

Nothing is run on a GPU: each diagram is derived for the h200, in a process of its own. With BEFORE, which the same
script wrote, what became slower by more than a share of SLOWER is named, and the exit status is 1.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
import time
from pathlib import Path
from typing import Any

import napkin_eq as nq
from napkin_eq.frontend.gallery import DIAGRAMS, diagram
from napkin_eq.lang.errors import NapkinError

SLOWER = 0.02


def derived(name: str) -> dict[str, Any]:
    """Return the predicted microseconds, the kernels and the processor seconds of a diagram, or why there
    is no plan.
    """
    begun = time.process_time()
    try:
        found = nq.derive(diagram(name))
    except NapkinError as reason:
        return {"error": str(reason)[:300]}
    predicted = sum(output.placed.predicted_us for output in found.outputs)
    seconds = round(time.process_time() - begun, 1)
    return {"predicted_us": round(predicted, 2), "kernels": len(found.plan.kernels), "processor_seconds": seconds}


def main() -> None:
    out, before = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text()) if len(sys.argv) > 2 else {}
    rows: dict[str, dict[str, Any]] = {}
    slower = []
    for name in sorted(DIAGRAMS):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            rows[name] = pool.apply(derived, (name,))
        out.write_text(json.dumps(rows, indent=1))
        now, then = (r.get("predicted_us") for r in (rows[name], before.get(name, {})))
        ratio = now / then if now and then else None
        if (ratio and ratio > 1 + SLOWER) or (then and not now):
            slower.append(name)
        print(f"{name:32} {rows[name]}" + (f"  {ratio:.3f} of before" if ratio else ""), flush=True)
    if slower:
        sys.exit(f"slower than before: {', '.join(slower)}")


if __name__ == "__main__":
    main()
