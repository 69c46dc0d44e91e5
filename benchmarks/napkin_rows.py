"""Makes napkin_eq/napkin/measured.json of results/h200.json: `PYTHONPATH=. python benchmarks/napkin_rows.py`.

A row is found again by the diagram's hash, its sizes, the storage type and the GPU.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

from suite import cases  # noqa: E402

from napkin_eq.machine import gpu as hardware  # noqa: E402
from napkin_eq.napkin.measured import FILE  # noqa: E402
from napkin_eq.pipeline.tuned import key_of  # noqa: E402


def rows() -> list[dict[str, Any]]:
    """Return the rows of the results of which there is a time, as `napkin-eq model` looks them up."""
    results = json.loads((ROOT / "benchmarks" / "results" / "h200.json").read_text(encoding="utf-8"))
    times = {(row["work"], row["case"], row["dtype"]): row for row in results["rows"] if row["ours_ms"] is not None}
    found = []
    for case in cases():
        for dtype in ("bfloat16", "float16", "float32"):
            if (row := times.get((case.work, case.case, dtype))) is not None:
                key = key_of(case.diagram(), hardware.load("h200"), dtype)
                sizes = {a.name: a.size for a in case.diagram().axes()}
                found.append(
                    {
                        "diagram": key["diagram"],
                        "sizes": sizes,
                        "dtype": dtype,
                        "gpu": "h200",
                        "ms": round(row["ours_ms"], 6),
                        "date": row["date"],
                    }
                )
    return found


def text() -> str:
    """Return the file's text."""
    lines = ",\n".join(f"  {json.dumps(row)}" for row in rows())
    return f'{{\n "schema": 1,\n "rows": [\n{lines}\n ]\n}}\n'


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
    print(f"{len(rows())} rows written to {FILE.relative_to(ROOT)}")
