"""Hold the cost model against measurements: `python benchmarks/fit.py [RESULTS.json]... [--hardware GPU] [-o FOLDER]`,
by default all of results/.

Prints a Markdown table; with -o also writes it there as model.md, and every point into model.svg. Rows of a sweep are
predicted anew by today's model, or for the GPU of a hardware file of your own; plans that are not among today's are
counted and left out. Other rows hold a prediction as it was when the kernels were emitted, or, where a file's "source"
says so, as the model made it that was fitted to them.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plot import svg

RESULTS = Path(__file__).with_name("results")
APART = 1.03  # two runs of one kernel differ by up to 1 %: pairs measured nearer than this say nothing about an order


@dataclass(frozen=True, slots=True)
class Point:
    """One kernel or plan: where it was measured, of which group of the table and which case, both times in
    microseconds.
    """

    source: str
    group: str
    case: str
    predicted: float
    measured: float


def key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["case"], json.dumps(row["tiles"]), row["warps"], row["stages"], row["kernels"]


def points(data: dict[str, Any], hardware: str) -> tuple[list[Point], int]:
    """Return the points of one file of results, and how many rows are of plans that are not among today's."""
    rows = data["rows"]
    if rows and "stages" in rows[0]:
        from emit_suite import sweep

        with tempfile.TemporaryDirectory() as folder:
            today = {key(row): row["predicted_us"] for row in sweep(Path(folder), hardware=hardware)}
        measured = [row for row in rows if "us" in row]
        kept = [row for row in measured if key(row) in today]
        return [
            Point("tiles, predicted today", row["case"], row["case"], today[key(row)], row["us"]) for row in kept
        ], len(measured) - len(kept)
    if rows and "plans" in rows[0]:
        timed = [(row, plan) for row in rows for plan in row["plans"] if "tuning_ms" in plan]
        source = data.get("source", "plans beside peers, predicted when emitted")
        return [
            Point(source, row["work"], row["case"], plan["predicted_ms"] * 1e3, plan["tuning_ms"] * 1e3)
            for row, plan in timed
        ], 0
    return [Point("gallery, predicted when emitted", "first choices", row["case"], row["predicted_us"], row["us"])
            for row in rows if {"predicted_us", "case", "us"} <= row.keys()], 0


def kendall(found: Iterable[Point], apart: float = 1.0) -> float | None:
    """Return Kendall's tau over the pairs of one case whose measured times are further apart than a factor; None where
    there is no pair.
    """
    agree = differ = 0
    by_case: dict[tuple[str, str], list[Point]] = {}
    for point in found:
        by_case.setdefault((point.source, point.case), []).append(point)
    for case in by_case.values():
        for a, b in itertools.combinations(case, 2):
            if max(a.measured, b.measured) > apart * min(a.measured, b.measured):
                sign = (a.predicted - b.predicted) * (a.measured - b.measured)
                agree, differ = agree + (sign > 0), differ + (sign < 0)
    return (agree - differ) / (agree + differ) if agree + differ else None


def firsts(found: Sequence[Point]) -> list[float]:
    """Return, for every case with a choice, the time of what the model puts first over the best measured."""
    by_case: dict[tuple[str, str], list[Point]] = {}
    for point in found:
        by_case.setdefault((point.source, point.case), []).append(point)
    several = [case for case in by_case.values() if len(case) > 1]
    return [min(case, key=lambda p: p.predicted).measured / min(p.measured for p in case) for case in several]


def line(name: str, found: Sequence[Point]) -> str:
    """Return a row of the table."""
    cases, ratios = len({(p.source, p.case) for p in found}), firsts(found)
    error = statistics.median(abs(p.predicted / p.measured - 1) for p in found)
    bias = statistics.median(p.predicted / p.measured for p in found)
    orders = (f"{tau:.2f}" if tau is not None else "" for tau in (kendall(found), kendall(found, APART)))
    worst = f"{max(ratios) - 1:.0%}" if ratios else ""
    within = f"{sum(r <= APART for r in ratios)} of {len(ratios)}" if ratios else ""
    return f"| {name} | {cases} | {len(found)} | {' | '.join(orders)} | {error:.0%} | {bias:.2f} | {within} | {worst} |"


def table(found: Sequence[Point]) -> list[str]:
    """Return the table: a row for every group, and one for each source as a whole."""
    lines = [
        (
            "| kernels | cases | points | τ | τ, times 3 % apart | median error | predicted ÷ measured | first choice"
            " within 3 % of the best | worst |"
        ),
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for source in dict.fromkeys(p.source for p in found):
        mine = [p for p in found if p.source == source]
        groups = dict.fromkeys(p.group for p in mine)
        lines += [line(group, [p for p in mine if p.group == group]) for group in groups] if len(groups) > 1 else []
        lines.append(line(f"**{source}**", mine))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "results",
        nargs="*",
        type=Path,
        default=sorted(RESULTS.glob("*.json")),
        help="files of results (default: all of results/)",
    )
    parser.add_argument(
        "--hardware", default="h200", metavar="GPU", help="whose rates predict: a name or a .toml file (default h200)"
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FOLDER", help="write model.md and model.svg into this folder"
    )
    arguments = parser.parse_args()
    found: list[Point] = []
    gone = 0
    for file in arguments.results:
        fresh, missing = points(json.loads(file.read_text()), arguments.hardware)
        found, gone = found + fresh, gone + missing
    lines = table(found)
    if gone:
        lines += [
            "",
            f"Left out: {gone} measured points of plans that are not derived any more, or that the model refuses.",
        ]
    print("\n".join(lines))
    if arguments.output:
        (arguments.output / "model.md").write_text("\n".join(lines) + "\n")
        series = [((p.source, p.group), p.predicted, p.measured) for p in found]
        (arguments.output / "model.svg").write_text(svg(series))


if __name__ == "__main__":
    main()
