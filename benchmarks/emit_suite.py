"""Emit kernels to carry to a GPU: `python benchmarks/emit_suite.py OUT [check|bench|sweep]...`; run there by
run_suite.py.

`python benchmarks/emit_suite.py peers OUT [TEXT]...` makes a folder that runs by itself: the cases of suite.py, or
those with TEXT in their work or name, each with its best plans, and what measures them beside their peers. With `tiny`
for `peers`, sizes for a CPU.

check: every diagram of the gallery at small ragged sizes, with inputs, float64 results and error bounds.
bench: the gallery at its default sizes.
sweep: single-kernel diagrams over a grid of tile sizes, each with its predicted time.
"""

from __future__ import annotations

import datetime
import itertools
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from suite import Case, cases

import napkin_eq as nq
from napkin_eq.frontend.gallery import DIAGRAMS, diagram
from napkin_eq.lang.dtypes import STORAGE
from napkin_eq.lang.errors import NapkinError
from napkin_eq.machine.cost import price, profile, total_us
from napkin_eq.numerics.error_bound import error_bound
from napkin_eq.numerics.sample_inputs import draw, family
from napkin_eq.pipeline.top_k import ranked
from napkin_eq.search.assemble import renamed
from napkin_eq.search.job import prover
from napkin_eq.search.tiling import Tiled
from napkin_eq.tile import ir as p
from napkin_eq.tile.lower.kernel import Lowering
from napkin_eq.tile.printers import code, emit

PLANS = 5

SWEEPS = {
    "attention_d128": (
        "attention",
        dict(b=4, h=16, q=4096, x=4096, d=128),
        dict(q=(64, 128), x=(32, 64, 128)),
        (4, 8),
        (2, 3),
    ),
    "attention_d64": (
        "attention",
        dict(b=4, h=32, q=4096, x=4096, d=64),
        dict(q=(64, 128), x=(32, 64, 128)),
        (4, 8),
        (2, 3),
    ),
    "causal_d128": (
        "causal_attention",
        dict(b=4, h=16, q=4096, x=4096, d=128),
        dict(q=(64, 128), x=(32, 64, 128)),
        (4, 8),
        (2, 3),
    ),
    "matmul_4096": (
        "matmul",
        dict(m=4096, n=4096, k=4096),
        dict(m=(64, 128), n=(64, 128, 256), k=(32, 64)),
        (4, 8),
        (3, 4),
    ),
    "softmax_4096": ("softmax", dict(t=16384, x=4096), dict(t=(1, 2, 4)), (1, 2, 4, 8), (2,)),
    "rms_norm_4096": ("rms_norm", dict(t=16384, d=4096), dict(t=(1, 2, 4)), (1, 2, 4, 8), (2,)),
    "softmax_65536": ("softmax", dict(t=4096, x=65536), dict(t=(1,), x=(4096, 8192, 16384, 65536)), (8, 16, 32), (2,)),
    "layer_norm_65536": ("layer_norm", dict(t=4096, d=65536), dict(t=(1,), d=(4096, 16384, 65536)), (8, 16, 32), (2,)),
    "layer_norm_4096": ("layer_norm", dict(t=16384, d=4096), dict(t=(1, 4, 16), d=(1024, 4096)), (4, 8, 32), (2,)),
    "matmul_16": (
        "matmul",
        dict(m=16, n=4096, k=4096),
        dict(m=(16,), n=(16, 32), k=(128, 256, 512)),
        (2, 4, 8),
        (3, 4),
    ),
    "rmsnorm_linear_16": (
        "rmsnorm_linear",
        dict(t=16, d=4096, f=4096),
        dict(t=(16,), f=(16, 32), d=(128, 256, 512)),
        (2, 4, 8),
        (3, 4),
    ),
    "decode_grouped": (
        "gqa_attention",
        dict(b=16, k=8, r=4, q=1, x=8192, d=128),
        dict(r=(16,), x=(32, 64, 128)),
        (2, 4, 8),
        (2, 3, 4),
    ),
    "rmsnorm_linear": (
        "rmsnorm_linear",
        dict(t=4096, d=4096, f=4096),
        dict(t=(64, 128), f=(128, 256), d=(32, 64)),
        (4, 8),
        (3,),
    ),
}


def sweep(folder: Path, dtype: str = "bfloat16", hardware: str = "h200") -> list[dict[str, Any]]:
    """Emit the tile sweeps."""
    rows = []
    for case, (name, sizes, grid, warps, stages) in SWEEPS.items():
        found = nq.derive(diagram(name, **sizes), hardware=hardware, dtype=dtype)
        output = found.outputs[0]
        statements = found.statements
        proved = prover(statements)
        for number, values in enumerate(itertools.product(*grid.values(), warps, stages)):
            tiles = dict(zip(grid, values, strict=False))
            warp, stage = values[-2:]
            kernels, costs = [], []
            for store, piece in zip(output.placed.stores, output.placed.tiled, strict=True):
                chosen = {}
                for coord in piece.kernel.coords:
                    key = f"~{coord.axis.name}" if coord.name.endswith(("__s", "__w")) else coord.axis.name
                    chosen[key] = tiles.get(coord.axis.name, coord.tile)
                    if coord.role == "whole" and not coord.name.endswith("__w"):
                        chosen.setdefault(f"~{coord.axis.name}", chosen[key])
                for axis in store.axes:
                    chosen.setdefault(axis.name, 1)
                try:
                    kernel = Lowering(
                        "k", store, piece.kernel.writes, chosen, dict(output.placed.arrays), STORAGE[dtype], proved
                    ).kernel()
                except Exception as error:
                    print(case, tiles, error)
                    break
                held = dict(output.placed.arrays)
                kernel = replace(kernel, warps=warp, stages=stage)
                kernel = renamed(
                    kernel, f"kernel_{len(kernels)}", {"target__0": held[store].name if store in held else "out"}
                )
                cost = price(profile(kernel), {}, warp, stage, found.hardware)
                if cost is None:
                    break
                costs.append(cost)
                kernels.append(kernel)
            else:
                plan = p.Plan(case, found.plan.inputs, kernels[-1].writes, tuple(kernels))
                (folder / f"{case}_{number}.py").write_text(emit(plan, "triton"))
                row = {
                    "case": case,
                    "file": f"{case}_{number}.py",
                    "kernels": len(kernels),
                    "tiles": tiles,
                    "warps": warp,
                    "stages": stage,
                }
                rows.append(row | {"predicted_us": total_us(costs, found.hardware)})
    return rows


def small_sizes(name: str) -> list[dict[str, int]]:
    """Return two small choices of sizes: one that no tile divides, one of powers of two; heads and their depth stay."""
    axes = DIAGRAMS[name]().axes()
    choices = []
    for lengths in ((77, 133, 45), (128, 256, 64)):
        fresh = iter(lengths)  # one length an axis, in order
        choices.append(
            {
                a.name: a.size if a.size in (64, 128) else 2 if a.size is not None and a.size <= 32 else next(fresh, 48)
                for a in axes
            }
        )
    return choices


def check(folder: Path) -> list[dict[str, object]]:
    """Emit the gallery at small sizes with inputs, results and bounds, shared by groups of warps wherever that can be
    printed in half of the cases.
    """
    rows = []
    for dtype, name in itertools.product(("bfloat16", "float16"), sorted(DIAGRAMS)):
        for number, sizes in enumerate(small_sizes(name)):
            case = f"{name}_{dtype}_{number}"
            small = DIAGRAMS[name]().with_sizes(sizes)
            found = nq.derive(small, dtype=dtype, printer="gluon" if number else "auto")
            order = [a.name for a in found.plan.outputs[0].dims]
            arrays = draw(small, family("normal"), sizes, dtype, number).arrays
            expected = nq.evaluate(small.term, arrays, order=order)
            bound = error_bound(small.term, arrays, sizes, dtype, order=order)[0]
            (folder / f"{case}.py").write_text(found.code())
            np.savez_compressed(
                folder / f"{case}.npz", expected=expected, bound=bound, **{f"in_{k}": v for k, v in arrays.items()}
            )
            rows.append({"case": case, "file": f"{case}.py", "data": f"{case}.npz", "dtype": dtype})
    return rows


EXTRA = {
    "decode_64k": ("attention", dict(b=1, h=8, q=1, x=65536, d=128)),
    "short_queries": ("attention", dict(b=1, h=2, q=128, x=65536, d=128)),
    "long_k": ("matmul", dict(m=256, n=256, k=65536)),
    "softmax_65536": ("softmax", dict(t=4096, x=65536)),
    "softmax_few_rows": ("softmax", dict(t=16, x=131072)),
    "cross_entropy_4096": ("linear_cross_entropy", dict(t=4096, v=131072, d=4096)),
    "rmsnorm_linear_4096": ("rmsnorm_linear", dict(t=4096, d=4096, f=4096)),
}


def bench(folder: Path, dtype: str = "bfloat16") -> list[dict[str, object]]:
    """Emit the gallery at its default sizes, and a few shapes with little to do in parallel."""
    cases = {name: (name, {}) for name in sorted(DIAGRAMS) if name != "symbolic_attention"} | EXTRA
    rows = []
    for case, (name, sizes) in cases.items():
        found = nq.derive(diagram(name, **sizes), dtype=dtype)
        report = found.report()
        (folder / f"bench_{case}.py").write_text(found.code())
        kept = ("predicted_us", "bytes_hbm", "passes")
        tiles = [{**k["groups"], **k["streams"]} for k in report["kernels"]]
        rows.append(
            {
                "case": case,
                "file": f"bench_{case}.py",
                "kernels": len(tiles),
                "tiles": tiles,
                **{k: report[k] for k in kept},
            }
        )
    return rows


def peers(folder: Path, words: Sequence[str] = (), *, tiny: bool = False, dtype: str = "bfloat16") -> dict[str, object]:
    """Emit the best plans of every case of the suite, with the programs that run them; returns the manifest."""
    shutil.copytree(
        Path(__file__).with_name("carried"), folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
    )
    rows = []
    for number, case in enumerate(cases()):
        if words and not any(word in f"{case.work} {case.case}" for word in words):
            continue
        row: dict[str, object] = {
            "work": case.work,
            "case": case.case,
            "kind": case.kind,
            "dtype": dtype,
            "rivals": True,
            "notes": [],
        }
        rows.append(
            row | emitted_case(folder, f"case_{number}", case.tiny() if tiny else case, dtype, 1 if tiny else PLANS)
        )
        print(case.case, [f"{plan['predicted_ms']:.4f}" for plan in rows[-1]["plans"]], *rows[-1]["notes"], flush=True)
    manifest = {
        "emitted": {"date": datetime.date.today().isoformat(), "commit": commit(), "plans": PLANS},
        "cases": rows,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1))
    return manifest


def emitted_case(folder: Path, name: str, case: Case, dtype: str, keep: int) -> dict[str, object]:
    """Derive a case and emit its best plans; a case that has none says why."""
    drawing = case.diagram()
    inputs = {
        node.name: ({"float": dtype}.get(node.dtype, node.dtype), [a.name for a in node.dims])
        for node in drawing.inputs()
    }
    try:
        found = nq.derive(drawing, dtype=dtype)
        choices = ranked(found, keep)
    except (NapkinError, AssertionError) as error:
        return {
            "sizes": case.sizes,
            "inputs": inputs,
            "output": [],
            "plans": [],
            "notes": [f"no plan: {type(error).__name__} {error}"],
        }
    plans = []
    for number, choice in enumerate(choices):
        file = f"{name}_{number}.py"
        (folder / file).write_text(code(choice.plan))
        kernels = [described(t) for t in choice.tiled]
        plans.append(
            {
                "file": file,
                "printer": printers(choice.plan),
                "predicted_ms": choice.predicted_us / 1e3,
                "kernels": kernels,
            }
        )
    order = [a.name for a in found.plan.outputs[0].dims]
    return {"sizes": case.sizes, "inputs": inputs, "output": order, "plans": plans}


def printers(plan: p.Plan) -> str:
    """Return who prints the kernels of a plan."""
    return "+".join(sorted({"gluon" if kernel.workers else "triton" for kernel in plan.kernels}))


def described(piece: Tiled) -> dict[str, object]:
    """Return the choices of one kernel, and what the cost model holds to be its limit."""
    cost = piece.cost
    tiles = {c.name: c.tile for c in piece.kernel.coords}
    launch = {"warps": cost.warps, "workers": cost.workers, "stages": cost.stages}
    return {
        "tiles": tiles,
        **launch,
        "predicted_us": cost.predicted_us,
        "limit": cost.limit,
        "bytes_hbm": cost.bytes_hbm,
    }


def commit() -> str:
    """Return the commit that the kernels are emitted from, or what is known of it."""
    try:
        found = subprocess.run(
            ["git", "describe", "--always", "--dirty"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return found.stdout.strip()


def main() -> None:
    if sys.argv[1] in ("peers", "tiny"):
        tiny = sys.argv[1] == "tiny"
        peers(Path(sys.argv[2]), sys.argv[3:], tiny=tiny, dtype="float16" if tiny else "bfloat16")
        return
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    jobs = sys.argv[2:] or ["check", "bench", "sweep"]
    manifest = {job: {"check": check, "sweep": sweep, "bench": bench}[job](folder) for job in jobs}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1))
    print({job: len(rows) for job, rows in manifest.items()})


if __name__ == "__main__":
    main()
