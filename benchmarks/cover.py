"""Covers of networks by kernels, as a table: `python benchmarks/cover.py OUT.json [TEXT|FILE]...`; nothing is run on a
GPU.

Each network, or those with TEXT in their name, and each diagram of a FILE is derived in a process of its own, and its
kernels are compiled ahead of time for the GPU; OUT keeps the rows of others as they are. `--table OUT.json` prints OUT
as a table.
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
from napkin_eq.cli.sources import find_diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Map, Reduce, Term, subterms
from napkin_eq.pipeline.compiled import Built, built

SECONDS = 90.0


def size(axes: Any) -> int:
    """Return the number of elements that some axes have, one of an unknown size counted once."""
    return math.prod(a.size or 1 for a in axes)


def scores(outputs: list[Term], largest: int) -> int | None:
    """Return the elements of the smallest score matrix, None where there is none: exponentials of what contractions
    give that are summed.

    largest: the elements of the largest input or output; what has fewer is no score matrix.
    """
    terms = subterms(*outputs)
    summed = [t.body for t in terms if isinstance(t, Reduce) and t.monoid == "sum"]
    exponentials = [
        e for body in summed for e in subterms(body) if isinstance(e, Map) and e.op == "exp" and e.axes == body.axes
    ]
    found = [e for e in exponentials if any(isinstance(t, Reduce) and t.monoid == "sum" for t in subterms(e))]
    return min((size(e.axes) for e in found if size(e.axes) >= largest), default=None)


def compiled(found: nq.Derivation) -> dict[str, Any]:
    """Return what the compiler says of the kernels: their registers, those that spill or fail though others took their
    place, and what gave way.
    """
    seen: list[Built] = built(found)
    row: dict[str, Any] = {}
    if any(b.spills or b.fault(found.hardware) or b.late for b in seen):
        better = found.compiled()
        seen = list(better.kernels)
        row["gave_way"] = list(better.gave_way)
    row["registers"] = [b.registers for b in seen]
    failed = [
        f"{b.kernel}: {b.fault(found.hardware) or 'the compiler was not waited for'}"
        for b in seen
        if b.late or b.fault(found.hardware)
    ]
    return {**row, "compiles": not failed, "spilled_or_failed": failed + [str(b) for b in seen if b.spills]}


def measured(name: str) -> dict[str, Any]:
    """Return what deriving a network took, in seconds of the clock and of processors and in bytes, and what
    came of it.
    """
    begun = time.perf_counter()
    try:
        diagram = NETWORKS[name]() if name in NETWORKS else find_diagram(name)
        found = nq.derive(diagram, limit=SECONDS)
    except NapkinError as reason:
        return {"name": Path(name).stem, "error": str(reason)[:300], "seconds": round(time.perf_counter() - begun, 1)}
    covers = [o.cover for o in found.outputs if o.cover is not None]
    arrays = {b.name: b for k in found.plan.kernels for b in k.writes}
    given = (*found.plan.inputs, *found.plan.outputs)
    largest = max(size(b.dims) for b in given)
    score = scores([t for _, t in diagram.outputs], largest)
    inner = {n: size(b.dims) for n, b in arrays.items() if all(b.name != n for b in given)}
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    predicted = covers[0]["predicted_us"] if covers else sum(o.placed.predicted_us for o in found.outputs)
    return {
        "name": name if name in NETWORKS else Path(name).stem,
        "seconds": round(time.perf_counter() - begun, 1),
        "processor_seconds": round(sum(u.ru_utime + u.ru_stime for u in used), 1),
        "peak_mb": round(sum(u.ru_maxrss for u in used) / 1024),
        "kernels": len(found.plan.kernels),
        "predicted_us": round(predicted, 1),
        "bound_us": round(covers[0]["bound_us"], 1) if covers else None,
        "gap": covers[0]["gap"] if covers else None,
        "larger_than_any_input": _said(arrays, [n for n in inner if inner[n] > largest]),
        "as_large_as_scores": _said(arrays, [n for n in inner if score is not None and inner[n] >= score]),
        "validated": all(o.translation.status == "agrees" for o in found.outputs),
        "ended_by_time": list(found.limited),
        **compiled(found),
    }


def _said(arrays: dict[str, Any], names: list[str]) -> list[str]:
    return sorted(f"{n}[{', '.join(a.name for a in arrays[n].dims)}]" for n in names)


def table(rows: list[dict[str, Any]]) -> str:
    """Return rows as a table in Markdown."""
    heads = [
        "network",
        "processor s",
        "MB",
        "kernels",
        "predicted us",
        "gap",
        "scores stored",
        "spills",
        "ended by time",
    ]
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for row in rows:
        if "error" in row:
            lines.append(f"| {row['name']} | {row['error']} |" + " |" * (len(heads) - 2))
            continue
        gap = "–" if row["gap"] is None else f"{row['gap']:.1%}"
        stored = (", ".join(row["as_large_as_scores"]) or "none") if "as_large_as_scores" in row else "–"
        spills = "not compiled"
        if "compiles" in row:
            spills = "; ".join(row.get("spilled_or_failed", [])) or "none"
        spills += f" ({len(row['gave_way'])} tilings gave way)" if row.get("gave_way") else ""
        cells = [
            row["name"],
            f"{row['processor_seconds']:.0f}",
            row["peak_mb"],
            row["kernels"],
            f"{row['predicted_us']:.1f}",
        ]
        lines.append(
            "| " + " | ".join(map(str, [*cells, gap, stored, spills, ", ".join(row["ended_by_time"]) or "no"])) + " |"
        )
    return "\n".join(lines)


def main() -> None:
    if sys.argv[1] == "--table":
        print(table(json.loads(Path(sys.argv[2]).read_text())["rows"]))
        return
    out, words = Path(sys.argv[1]), sys.argv[2:]
    rows = {r["name"]: r for r in json.loads(out.read_text())["rows"]} if out.exists() else {}
    files = [word for word in words if Path(word).is_file()]
    texts = [word for word in words if word not in files]
    wanted = [n for n in NETWORKS if not words or n in texts or any(t in n for t in texts if t not in NETWORKS)]
    for name in wanted + files:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            row = pool.apply(measured, (name,))
        rows[row.get("name", name)] = row
        print(row, flush=True)
        listed = [rows[n] for n in (*NETWORKS, *sorted(rows.keys() - NETWORKS.keys())) if n in rows]
        about = {"schema": 1, "hardware": "h200", "dtype": "bfloat16", "python": platform.python_version()}
        out.write_text(json.dumps({**about, "rows": listed}, indent=1))


if __name__ == "__main__":
    main()
