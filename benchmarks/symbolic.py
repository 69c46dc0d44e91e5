"""Plans for sizes that are known only when they run, against plans for these sizes alone.

    python benchmarks/symbolic.py emit OUT [WORK]... [--tiny]    here: derives both, writes kernels and what is
                                                                 predicted of each
    python benchmarks/symbolic.py run OUT [-o FILE]              on a GPU with torch and triton: measures both beside
                                                                 each other
    python benchmarks/symbolic.py told FILE                      the ratios, predicted or measured, of a manifest or a
                                                                 file of results

With `--tiny` and TRITON_INTERPRET=1 a CPU, to try the program.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "symbolic_h200.json"
LENGTHS = (1, 17, 128, 1000, 4096, 16384)
MOST_BYTES = 2**31
# Of each work the diagram, its sizes, None where one is known only when it runs, and which of all sizes are tried:
# every so many.
WORKS: dict[str, tuple[str, dict[str, int | None], int]] = {
    "attention": ("attention", dict(b=1, h=16, q=None, x=None, d=128), 2),
    "causal attention": ("causal_attention", dict(b=1, h=16, q=None, x=None, d=128), 3),
    "decode": ("gqa_attention", dict(b=None, k=8, r=4, q=1, x=None, d=128), 2),
    "matmul, few rows or many": ("matmul", dict(m=None, n=4096, k=4096), 1),
    "softmax": ("softmax", dict(t=None, x=None), 1),
    "rms_norm": ("rms_norm", dict(t=None, d=None), 2),
}


def emit(folder: Path, words: list[str], tiny: bool) -> None:
    """Derive each work for sizes left open and for each of some sizes; write kernels and predictions."""
    from random_diagrams import commit

    from napkin_eq.frontend.gallery import diagram
    from napkin_eq.lang.errors import NapkinError
    from napkin_eq.machine.cost import total_us
    from napkin_eq.pipeline.derive import derive
    from napkin_eq.pipeline.sizes import family

    folder.mkdir(parents=True, exist_ok=True)
    asked = {"dtype": "float16" if tiny else "bfloat16", "printer": "triton" if tiny else "auto"}
    file = folder / "manifest.json"
    manifest: dict[str, Any] = (
        json.loads(file.read_text()) if file.exists() else {"emitted": {"commit": commit()}, "cases": []}
    )
    for number, (work, (name, sizes, every)) in enumerate(WORKS.items()):
        if (words and not any(word in work for word in words)) or any(row["work"] == work for row in manifest["cases"]):
            continue
        begun = time.process_time()
        found = family(
            diagram(name, **({**sizes, "d": 16} if tiny and "d" in sizes and sizes["d"] else sizes)),
            **({"seeds": 2} if tiny else {}),
            **asked,
        )
        took = time.process_time() - begun
        (folder / f"symbolic_{number}.py").write_text(found.code())
        free = [axis for axis, size in sizes.items() if size is None]
        lengths = (1, 17, 40) if tiny else LENGTHS
        for at, values in enumerate(itertools.product(lengths, repeat=len(free))):
            point = dict(zip(free, values, strict=True))
            if at % every and not tiny:
                continue
            alone = found.diagram.with_sizes(point)
            held = sum(
                2 * _elements(dims, point)
                for dims in [a.dims for a in alone.inputs()] + [t.axes for _, t in alone.outputs]
            )
            if held > MOST_BYTES or (work.startswith("causal") and point["q"] > point["x"]):
                continue
            row: dict[str, Any] = {
                "work": work,
                "case": " ".join(f"{a}{n}" for a, n in point.items()),
                "sizes": point,
                "symbolic": f"symbolic_{number}.py",
            }
            row |= {
                "plan": found.dispatch.chosen(point),
                "predicted_ms": found.chosen(point).us(point) / 1e3,
                "plans": len(found.sized),
                "seconds": took,
            }
            try:
                fixed = derive(alone, **asked)
            except NapkinError as error:
                manifest["cases"].append(row | {"refused": str(error)[:200]})
                continue
            row["static"] = f"static_{number}_{'_'.join(map(str, values))}.py"
            (folder / row["static"]).write_text(fixed.code())
            row["static_predicted_ms"] = total_us([t.cost for t in fixed.tiled], fixed.hardware) / 1e3
            manifest["cases"].append(row)
        file.write_text(json.dumps(manifest, indent=1))
        print(told({"rows": [row for row in manifest["cases"] if row["work"] == work]}), flush=True)


def _elements(dims: Any, point: dict[str, int]) -> int:
    count = 1
    for axis in dims:
        count *= axis.size or point.get(axis.name, 1)
    return count


def run(folder: Path, output: Path, seconds: float) -> int:
    """Measure the plan that is taken and the plan for these sizes alone, beside each other; returns how many gave
    different results.
    """
    sys.path[:0] = [str(HERE / "carried")]
    import torch
    from compiling import loaded
    from measuring import Clock, resumed, said, timed, where, written

    manifest = json.loads((folder / "manifest.json").read_text())
    results = resumed(output, manifest["emitted"])
    have = {(row["work"], row["case"]) for row in results["rows"]}
    clock, end, wrong, modules = Clock(where()), time.time() + seconds, 0, dict[str, Any]()
    for case in manifest["cases"]:
        if (case["work"], case["case"]) in have or time.time() > end:
            continue
        row = {k: case.get(k) for k in ("work", "case", "sizes", "plan", "predicted_ms", "static_predicted_ms")}
        row |= {
            "ours_ms": None,
            "peers": {},
            "ratio_best": None,
            "notes": [case["refused"]] if "refused" in case else [],
            "faults": {},
        }
        try:
            if "static" in case:
                both = {
                    name: modules.setdefault(case[name], loaded(folder / case[name])) for name in ("symbolic", "static")
                }
                fixed = both["static"]
                a = [
                    torch.randn([fixed.SIZES[d] for d in dims], device=where()).to(dtype)
                    for dtype, dims in fixed.INPUTS.values()
                ]
                order = [list(fixed.INPUTS).index(name) for name in both["symbolic"].INPUTS]
                calls = {
                    "symbolic": lambda m=both["symbolic"], a=a, o=order: m.run(*(a[i] for i in o)),
                    "static": lambda m=fixed, a=a: m.run(*a),
                }
                one, other = (call().double() for call in calls.values())
                row["relative"] = float((one - other).norm() / other.norm())
                wrong += row["relative"] > 2e-2
                shown, row["by_graph"] = timed(clock, calls, 0.2, row["faults"])
                row |= {
                    "ours_ms": shown["symbolic"],
                    "peers": {"static": shown["static"]},
                    "ratio_best": shown["static"] / shown["symbolic"],
                }
        except Exception as error:  # the next case may do
            row["notes"].append(said(error))
        results["rows"].append(row)
        written(results, output)
        print(row["work"], row["case"], row["ours_ms"], row["peers"], row.get("relative"), row["notes"], flush=True)
    written(results, output)
    print(told(results))
    return min(wrong, 1)


def told(results: dict[str, Any]) -> str:
    """Return, of each work, how many times as long as the plan for these sizes alone the one that is taken takes:
    measured where it is, else predicted.
    """
    lines = []
    for work in dict.fromkeys(row["work"] for row in results.get("rows", results.get("cases", []))):
        rows = [row for row in results.get("rows", results.get("cases", [])) if row["work"] == work]
        measured = [1 / row["ratio_best"] for row in rows if row.get("ratio_best")]
        ratios = measured or [
            row["predicted_ms"] / row["static_predicted_ms"] for row in rows if row.get("static_predicted_ms")
        ]
        if ratios:
            kind = "measured" if measured else "predicted"
            lines.append(
                f"{work}: {len(ratios)} sizes, {kind} {statistics.geometric_mean(ratios):.3f} x (geometric mean), most"
                f" {max(ratios):.3f}, {sum(r <= 1.03 for r in ratios)} within 1.03"
            )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    emits, runs, tells = (verbs.add_parser(name) for name in ("emit", "run", "told"))
    emits.add_argument("folder", type=Path)
    emits.add_argument("words", nargs="*", metavar="WORK")
    emits.add_argument("--tiny", action="store_true", help="sizes for a CPU")
    runs.add_argument("folder", type=Path)
    runs.add_argument("-o", "--output", type=Path, default=RESULTS)
    runs.add_argument("--seconds", type=float, default=540, help="no case is begun after so many (default 540)")
    tells.add_argument("output", type=Path)
    args = parser.parse_args()
    if args.verb == "emit":
        emit(args.folder, args.words, args.tiny)
        return 0
    if args.verb == "run":
        return run(args.folder, args.output, args.seconds)
    print(told(json.loads(args.output.read_text())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
