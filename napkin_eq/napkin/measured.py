"""What an H200 measured of a diagram at given sizes: rows of the benchmark, found by the diagram's hash and its sizes.

`measured.json` is made of benchmarks/results/h200.json by benchmarks/napkin_rows.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from napkin_eq.lang.diagram import Diagram
from napkin_eq.machine.gpu import Hardware

FILE = Path(__file__).resolve().with_name("measured.json")


@dataclass(frozen=True)
class Measurement:
    """A row: the microseconds that were measured, on which GPU and when."""

    us: float
    gpu: str
    date: str


def measured(diagram: Diagram, sizes: Mapping[str, int], dtype: str, hardware: Hardware) -> Measurement | None:
    """Return what was measured of a diagram at these sizes on this GPU, None where nothing was."""
    for row in rows(diagram, dtype, hardware):
        if row["sizes"] == dict(sizes):
            return Measurement(row["ms"] * 1e3, row["gpu"], row["date"])
    return None


def rows(diagram: Diagram, dtype: str, hardware: Hardware) -> list[dict[str, Any]]:
    """Return every row of a diagram, whatever its sizes."""
    from napkin_eq.pipeline.tuned import key_of

    key = key_of(diagram, hardware, dtype)
    return [r for r in _all() if (r["diagram"], r["dtype"], r["gpu"]) == (key["diagram"], key["dtype"], key["gpu"])]


@lru_cache(maxsize=1)
def _all() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))["rows"]
    return found
