"""Hold today's cost model against a measured sweep: `python benchmarks/fit.py benchmarks/results/sweep_h200.json`."""

from __future__ import annotations

import itertools
import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from emit_suite import sweep


def key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["case"], json.dumps(row["tiles"]), row["warps"], row["stages"]


def main() -> None:
    measured = {key(r): r["us"] for r in json.loads(Path(sys.argv[1]).read_text())["rows"] if "us" in r}
    cases: dict[str, list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for row in sweep(Path(folder)):
            if key(row) in measured:
                cases.setdefault(str(row["case"]), []).append((float(str(row["predicted_us"])), measured[key(row)]))
    for case, points in cases.items():
        error = statistics.median(abs(predicted / us - 1) for predicted, us in points)
        signs = [(p - q) * (u - v) for (p, u), (q, v) in itertools.combinations(points, 2)]
        agree, differ = sum(s > 0 for s in signs), sum(s < 0 for s in signs)
        first, best = min(points)[1], min(u for _, u in points)
        print(f"{case:16} {len(points):3} points, median error {error:.0%}, Kendall's tau {(agree - differ) / max(1, agree + differ):.2f}, "
              f"first choice {first:.0f} us, best {best:.0f} us")  # fmt: skip


if __name__ == "__main__":
    main()
