"""Published fusions, found by general laws from naive PyTorch: `python examples/fusions [NAME]...`.

Of each function of this folder it shows the plan that is derived for an H200, what it moves beside what the operators
move one by one, its certificate, whether the kernels in small agree (in Triton's interpreter, where there is no GPU),
and which families of laws the plan rests on: what it costs without each. `--write` keeps what was found in found.json
and makes docs/fusions.md of it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("TRITON_INTERPRET", "1")

import napkin_eq as nq
from napkin_eq.cli.sources import find
from napkin_eq.laws.law import REGISTRY
from napkin_eq.laws.loader import run_file
from napkin_eq.pipeline.text import summary
from napkin_eq.pipeline.validate import validate
from napkin_eq.pytorch.signature import annotated, signature

HERE = Path(__file__).resolve().parent
FOUND, PAGE = HERE / "found.json", HERE.parents[1] / "docs" / "fusions.md"
GROUPS = ("layers", "attention", "sequences", "losses", "quantised", "routing", "images", "proteins")
SMALL, LARGE, RAGGED, FEWER = 4, 256, 37, 4
SECONDS = 30.0


def entries(group: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the functions of a file that are programs, in its order."""
    for name, value in run_file(HERE / f"{group}.py", "diagrams").items():
        if annotated(value):
            yield name, value


def small(fn: Callable[..., Any]) -> dict[str, int]:
    """Return sizes at which an interpreter is done soon: a fourth of what is a head or a state, 37 of what is long."""
    sizes = signature(fn).sizes.items()
    return {n: min(size, max(SMALL, size // FEWER)) if size <= LARGE else RAGGED for n, size in sizes}


def derived(place: str, without: tuple[str, ...] = ()) -> Any:
    """Derive a program for the H200."""
    source = find(place)
    return nq.derive(source.diagram, hardware="h200", dtype=source.dtype, without=without, limit=SECONDS)


def agreement(place: str, fn: Callable[..., Any]) -> str:
    """Run the kernels in small, float32, against float64 within the error bound; return what came of it."""
    diagram = find(place, [f"{name}={size}" for name, size in small(fn).items()]).diagram
    fixed = {axis.name: axis.size for axis in diagram.axes() if axis.size is not None}
    try:
        return str(validate(diagram, dtype="float32", fixed=fixed).verdict)
    except nq.NapkinError as reason:
        return f"not run: {reason}"


def row(group: str, name: str, fn: Callable[..., Any], ablate: bool = True) -> dict[str, Any]:
    """Return what is found of one program."""
    place = str(HERE / f"{group}.py") + f":{name}"
    found = derived(place)
    report = found.report()
    family_of = {s.name: s.family for s in REGISTRY.statements.values()}
    families = sorted({family_of[law] for law in report["laws"] if law in family_of} - {"level"}) if ablate else []
    without: dict[str, Any] = {}
    for family in families:
        try:
            less = summary(family, derived(place, (family,)))
            without[family] = {"kernels": less["kernels"], "predicted_us": less["predicted_us"]}
        except nq.NapkinError:
            without[family] = {}
    return {
        "group": group,
        "name": name,
        "says": " ".join((fn.__doc__ or "").split()),
        "kernels": len(report["kernels"]),
        "predicted_us": report["predicted_us"],
        "bytes": report["bytes_hbm"],
        "unfused_bytes": report["unfused_bytes_hbm"],
        "grade": report["certificate"]["grade"],
        "steps": sum(len(output.steps) for output in found.outputs),
        "plan": sorted({r["status"] for r in report["translation"]}),
        "limited": report["egraph"]["limited"],
        "kernels_in_small": agreement(place, fn),
        "without": without if ablate else None,
    }


def told(r: dict[str, Any]) -> str:
    """Return what is found of one program, as text."""
    kernels = f"{r['kernels']} kernel{'s' if r['kernels'] > 1 else ''}"
    moved = f"{r['unfused_bytes'] / 1e6:,.0f} MB operator by operator -> {r['bytes'] / 1e6:,.0f} MB"
    lines = [
        f"{r['group']}.py:{r['name']}  {r['says']}",
        f"  {kernels}, {r['predicted_us']:,.1f} us predicted; {moved}",
        f"  certificate {r['grade']} in {r['steps']} steps; plan {', '.join(r['plan'])}; kernels in small:"
        f" {r['kernels_in_small']}",
    ]
    for family, less in (r["without"] or {}).items():
        factor = f"{less['kernels']} kernels, {less['predicted_us'] / r['predicted_us']:.2f}x" if less else "no plan"
        lines.append(f"  without {family}: {factor}")
    return "\n".join(lines)


def page(rows: list[dict[str, Any]]) -> str:
    """Return docs/fusions.md."""
    lines = [
        "# Published fusions",
        "",
        "Made by `python examples/fusions --write`; do not edit. Each is a function of naive PyTorch in"
        " `examples/fusions/`, whose annotations say its sizes; nothing here knows its name."
        " `napkin-eq derive examples/fusions/attention.py:causal` derives one, `explain`, `draw --plan`, `report` and"
        " `run` take it alike, and `python examples/fusions causal` shows all that is said of it here.",
        "",
        "Bytes are those of memory, operator by operator and as derived for an H200; µs are the cost model's, not"
        " measured. Without: the families of laws that the plan rests on, and how many times as long what is found"
        " without one takes (families that change less than 2 % left out; no plan: nothing is found). Every plan was"
        " held against its diagram; kernels in small ran in Triton's interpreter, in float32, against float64 within"
        " the error bound.",
        "",
    ]
    for group in GROUPS:
        of = [r for r in rows if r["group"] == group]
        if not of:
            continue
        head = ("program", "kernels", "MB before → after", "µs", "certificate", "kernels in small", "without")
        lines += [f"## {group}.py", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
        for r in of:
            without = [
                f"{family} {less['predicted_us'] / r['predicted_us']:.2f}×" if less else f"{family}: no plan"
                for family, less in (r["without"] or {}).items()
                if not less or less["predicted_us"] > 1.02 * r["predicted_us"]
            ]
            plan = "" if r["plan"] == ["agrees"] else f", plan {', '.join(r['plan'])}"
            ended = ", ended by time" if r["limited"] else ""
            says, ran = r["says"].replace("|", "/"), r["kernels_in_small"].partition(":")[0]
            lines.append(
                f"| `{r['name']}` {says} | {r['kernels']} | {r['unfused_bytes'] / 1e6:,.0f} → {r['bytes'] / 1e6:,.0f} |"
                f" {r['predicted_us']:,.1f}{ended} | {r['grade']}, {r['steps']} steps{plan} | {ran} |"
                f" {', '.join(without) or ('not asked' if r['without'] is None else 'none changes it')} |"
            )
        lines.append("")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python examples/fusions", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="programs; all if none is named")
    parser.add_argument("--write", action="store_true", help="keep what is found in found.json and docs/fusions.md")
    parser.add_argument("--brief", action="store_true", help="do not derive again without each family of laws")
    args = parser.parse_args()
    every = {(group, name): fn for group in GROUPS for name, fn in entries(group)}
    if unknown := sorted(set(args.names) - {name for _, name in every}):
        print(f"no program is called {unknown[0]!r}; there are {', '.join(name for _, name in every)}", file=sys.stderr)
        return 2
    kept = {(r["group"], r["name"]): r for r in json.loads(FOUND.read_text())} if FOUND.exists() else {}
    for (group, name), fn in every.items():
        if args.names and name not in args.names:
            continue
        try:
            kept[group, name] = row(group, name, fn, not args.brief)
        except nq.NapkinError as reason:
            print(f"{group}.py:{name}: {reason}", flush=True)
            continue
        print(told(kept[group, name]), flush=True)
        if args.write:
            rows = [kept[key] for key in every if key in kept]
            FOUND.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
            PAGE.write_text(page(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
