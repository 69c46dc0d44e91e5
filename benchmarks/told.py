"""Hold the bytes that the cost model tells against those that a GPU counted: `PYTHONPATH=. python benchmarks/told.py
[COUNTERS.json]`.

Every case is derived anew, with today's model; what carried/counters.py counted is by default
results/counters_h200.json. Counted are the bytes read from DRAM and those written, or the output's where less was
written before the kernels ended: the rest was still in level 2.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from suite import cases

from napkin_eq.pipeline.derive import derive

WITHIN = 0.05


def main() -> int:
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("results") / "counters_h200.json"
    counted = {row["case"]: row for row in json.loads(file.read_text())["rows"]}
    print("| case | told MB | counted MB | told ÷ counted | each input and output once, MB |\n|---|---|---|---|---|")
    near = 0
    compared = [case for case in cases() if case.case in counted]
    for case in compared:
        row = counted[case.case]
        moved = row["read"] + max(row["written"], row["output"])
        told = derive(case.diagram(), dtype="bfloat16").report()["bytes_hbm"]
        near += abs(told / moved - 1) <= WITHIN
        print(
            f"| {case.case} | {told / 1e6:.1f} | {moved / 1e6:.1f} | {told / moved:.2f} | {row['least'] / 1e6:.1f} |",
            flush=True,
        )
    print(f"\nWithin {WITHIN:.0%}: {near} of {len(compared)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
