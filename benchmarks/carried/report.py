"""Writes the results: one JSON file, rewritten after every row, and a Markdown table of ratios."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def merged(path: Path | None, head: dict[str, Any]) -> dict[str, Any]:
    """Return the results so far if they are of the same GPU and versions, otherwise none."""
    if path is not None and path.is_file():
        try:
            old: dict[str, Any] = json.loads(path.read_text())
        except json.JSONDecodeError:
            return head | {"rows": []}
        if all(old.get(key) == head[key] for key in ("schema", "gpu", "versions")):
            return head | {"rows": old["rows"]}
    return head | {"rows": []}


def kept(results: dict[str, Any], row: dict[str, Any], order: list[str]) -> None:
    """Put a row in the place of an older one of its case, in the manifest's order."""
    rows = {r["case"]: r for r in results["rows"]} | {row["case"]: row}
    results["rows"] = sorted(rows.values(), key=lambda r: order.index(r["case"]) if r["case"] in order else len(order))


def write(results: dict[str, Any], data: Path | None, table: Path | None) -> None:
    """Write both files, each by way of a new one, so that a run that is cut off leaves them whole."""
    for path, text in ((data, json.dumps(results, indent=1) + "\n"), (table, markdown(results))):
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            fresh = path.with_name(path.name + ".new")
            fresh.write_text(text)
            fresh.replace(path)


def markdown(results: dict[str, Any]) -> str:
    """Return the table: times in milliseconds, the ratio the best peer's time over ours."""
    lines = [
        (
            f"{results['gpu']}, {', '.join(f'{k} {v}' for k, v in results['versions'].items())}, {results['date']}."
            " Milliseconds of the device, medians of interleaved rounds; rows marked with g are of CUDA-graph replays."
            " Ratio: the best peer's time over ours; *first*: over the cost model's first choice."
        ),
        "",
        "| work | case | ours | ± | rate | predicted | ratio | first | best peer | peers |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in results["rows"]:
        if not row.get("rivals", True):
            continue
        if row.get("ours_ms") is None:
            lines.append(f"| {row['work']} | {row['case']} | failed | | | | | | | {'; '.join(row['notes'])[:160]} |")
            continue
        others = ", ".join(f"{name} {ms:.4g}" for name, ms in sorted(row["peers"].items(), key=lambda item: item[1]))
        mark = " g" if row["by_graph"] else ""
        lines.append(
            f"| {row['work']} | {row['case']} | {row['ours_ms']:.4g}{mark} | {row['spread']:.1%} | {row['rate']} |"
            f" {row['predicted_ms']:.4g} | {_ratio(row['ratio_best'])} | {_ratio(row['ratio_first'])} |"
            f" {row['best_peer'] or ''} | {others} |"
        )
    return "\n".join(lines) + "\n"


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
