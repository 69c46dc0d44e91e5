"""Random diagrams at real sizes: how well the model predicts kernels that it has never seen, and what torch.compile
makes of the same.

    python benchmarks/random_diagrams.py emit OUT [--seeds A..B] [--tiny] [--gpu NAME]
                                                                             here: draws, derives, writes kernels with
                                                                             predictions, ten plans each
    python benchmarks/random_diagrams.py run OUT [-o FILE] [--seconds S]     on a GPU with torch and triton, in this
                                                                             repository: measures, goes on where an
                                                                             earlier run of the same kernels ended
    python benchmarks/random_diagrams.py told [FILE]                         the figures of a file of results

Seeds that three divides are for fitting, the others are never fitted: `fitted` of each row says which. With `--tiny`
and TRITON_INTERPRET=1 a CPU.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import multiprocessing
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from napkin_eq.lang.diagram import Diagram

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "random_h200.json"
# Plans of a diagram; elements of its largest array; diagrams to draw for a seed
PLANS, LEAST, MOST, TRIES = 10, 10**5, 10**8, 400
LENGTHS = (
    1,
    2,
    3,
    4,
    5,
    7,
    16,
    17,
    33,
    64,
    96,
    100,
    128,
    257,
    512,
    1000,
    1024,
    2048,
    3000,
    4096,
    5000,
    8192,
    16384,
    32768,
    65536,
    100_000,
    262_144,
)
DTYPES = ("bfloat16", "float16", "float32")
SECONDS = 120  # of a derivation with its plans
TORCH_SECONDS = 100  # of torch.compile
FORKED = multiprocessing.get_context("fork")


# -- here: draw, derive, write -----------------------------------------------------------------------------------------


def fitted(seed: int) -> bool:
    """Tell whether a seed is for fitting."""
    return seed % 3 == 0


def drawn(seed: int, tiny: bool) -> Diagram:
    """Return the first diagram of a seed whose largest array has as many elements as are asked for and that contracts,
    folds or moves something.
    """
    from napkin_eq.lang.term import Reduce, Scan, subterms
    from napkin_eq.verify.fuzz.random_diagrams import Shape, random_diagram

    least, most = (1, 2**11) if tiny else (LEAST, MOST)
    shape = Shape(nodes=24, elements=2**10) if tiny else Shape(nodes=24, lengths=LENGTHS, elements=2**27)
    for number in range(TRIES):
        found = random_diagram(Random(f"real/{seed}/{number}").randrange, shape, f"random_{seed}")
        arrays = [array.dims for array in found.inputs()] + [term.axes for _, term in found.outputs]
        elements = max((math.prod(axis.size or 1 for axis in dims) for dims in arrays), default=0)
        terms = subterms(*(term for _, term in found.outputs))
        if (
            found.inputs()
            and least <= elements <= most
            and (seed % 4 or any(isinstance(t, (Reduce, Scan)) for t in terms))
        ):
            return found
    raise ValueError(f"seed {seed}: none of {TRIES} diagrams has between {least} and {most} elements")


def emitted(folder: Path, seed: int, tiny: bool, gpu: str) -> dict[str, Any]:
    """Derive the diagram of a seed and write its plans; returns its row of the manifest."""
    from napkin_eq.lang.errors import NapkinError
    from napkin_eq.lang.json_form import dumps_diagram
    from napkin_eq.pipeline.derive import derive
    from napkin_eq.pipeline.top_k import ranked
    from napkin_eq.tile.printers import code

    drawing = drawn(seed, tiny)
    dtype = ("float16", "float32")[seed % 2] if tiny else DTYPES[seed % 3]
    row: dict[str, Any] = {
        "case": f"random_{seed}",
        "work": "random diagram",
        "seed": seed,
        "fitted": fitted(seed),
        "dtype": dtype,
    }
    row |= {"diagram": json.loads(dumps_diagram(drawing)), "plans": []}
    try:
        # As `derive -o` writes it: what spills gives way
        found = derive(drawing, hardware=gpu, dtype=dtype, printer="triton" if tiny else "auto").compiled().derivation
        choices = ranked(found, PLANS)
    except (NapkinError, AssertionError) as error:
        return row | {"refused": f"{type(error).__name__}: {str(error)[:200]}"}
    for number, choice in enumerate(choices):
        file = f"random_{seed}_{number}.py"
        (folder / file).write_text(code(choice.plan))
        kernels = [
            {"limit": t.cost.limit, "predicted_us": t.cost.predicted_us, "registers": t.cost.registers}
            for t in choice.tiled
        ]
        row["plans"].append({"file": file, "predicted_ms": choice.predicted_us / 1e3, "kernels": kernels})
    row["inputs"] = [[a.name, a.dtype, list(a.facts), [d.size for d in a.dims]] for a in drawing.inputs()]
    return row | {"outputs": [[b.name, b.dtype, [a.name for a in b.dims]] for b in found.plan.outputs]}


def in_time(folder: Path, seed: int, tiny: bool, gpu: str) -> dict[str, Any]:
    """Emit a seed in a process of its own, ended where it takes too long."""
    answers = FORKED.SimpleQueue()

    def work() -> None:
        try:
            answers.put(emitted(folder, seed, tiny, gpu))
        except Exception as error:  # a fault is a finding, and the others go on
            answers.put(
                {
                    "case": f"random_{seed}",
                    "seed": seed,
                    "fitted": fitted(seed),
                    "fault": f"{type(error).__name__}: {error}"[:300],
                }
            )

    child = FORKED.Process(target=work)
    child.start()
    end = time.time() + SECONDS
    while child.is_alive() and answers.empty() and time.time() < end:
        child.join(0.2)
    found = None if answers.empty() else answers.get()
    child.kill()
    child.join()
    return found or {
        "case": f"random_{seed}",
        "seed": seed,
        "fitted": fitted(seed),
        "refused": f"not derived in {SECONDS} s",
    }


def emit(folder: Path, seeds: range, tiny: bool, gpu: str) -> None:
    """Emit seeds; those that the folder has stay. Raises NapkinError for a GPU that is unknown, or not the folder's."""
    from napkin_eq.lang.errors import NapkinError
    from napkin_eq.machine.gpu import load

    load(gpu)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "manifest.json"
    manifest = (
        json.loads(file.read_text())
        if file.exists()
        else {"emitted": {"date": datetime.date.today().isoformat(), "commit": commit(), "gpu": gpu}, "cases": []}
    )
    if manifest["emitted"].get("gpu", gpu) != gpu:
        raise NapkinError(f"{folder}: its kernels are for {manifest['emitted']['gpu']}, asked for are some for {gpu}")
    have = {row["seed"] for row in manifest["cases"]}
    for seed in seeds:
        if seed not in have:
            row = in_time(folder, seed, tiny, gpu)
            manifest["cases"].append(row)
            file.write_text(json.dumps(manifest, indent=1))
            print(
                row["case"],
                row.get("refused") or row.get("fault") or [f"{p['predicted_ms']:.4f}" for p in row["plans"][:3]],
                flush=True,
            )


def commit() -> str:
    """Return the commit that the kernels are emitted from, or what is known of it."""
    try:
        found = subprocess.run(
            ["git", "describe", "--always", "--dirty"], cwd=HERE, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return found.stdout.strip()


# -- on a GPU: measure -------------------------------------------------------------------------------------------------


def arrays(row: dict[str, Any], device: str) -> list[Any]:
    """Return the inputs of a case, drawn by its seed, for which the facts of the diagram hold."""
    import torch

    generator = torch.Generator(device).manual_seed(row["seed"])
    made = []
    for _, dtype, facts, shape in row["inputs"]:
        if dtype in ("int32", "int64", "int8"):
            made.append(torch.randint(0, 70, shape, device=device, generator=generator).to(getattr(torch, dtype)))
        elif dtype == "bool":
            made.append(torch.rand(shape, device=device, generator=generator) < 0.5)
        else:
            values = torch.randn(shape, device=device, generator=generator)
            for fact in facts:
                if fact.startswith("abs<="):
                    values = values.clamp(-float(fact[5:]), float(fact[5:]))
            if "pos" in facts or "nonneg" in facts:
                values = values.abs()
            if "pos" in facts or "nonzero" in facts:
                values = torch.where(values.abs() < 0.01, 0.01, values)
            made.append(values.to(getattr(torch, row["dtype"] if dtype == "float" else dtype)))
    return made


def program(row: dict[str, Any]) -> Callable[..., tuple[Any, ...]]:
    """Return the same computation as PyTorch's operators, in float32 between the inputs and outputs, as our kernels
    have it.
    """
    import torch

    from napkin_eq.lang.json_form import loads_diagram
    from napkin_eq.pipeline.reference import Evaluation

    found = loads_diagram(json.dumps(row["diagram"]))
    sizes = {axis.name: axis.size or 1 for axis in found.axes()}
    names = [array.name for array in found.inputs()]
    kept = {
        "f32": "float32",
        "f16": "float16",
        "bf16": "bfloat16",
        "i32": "int32",
        "i64": "int64",
        "i1": "bool",
        "i8": "int8",
    }

    def plain(*given: Any) -> tuple[Any, ...]:
        one = Evaluation(dict(zip(names, given, strict=True)), sizes, torch.float32, given[0].device)
        terms = dict(found.outputs)
        return tuple(
            one.value(terms[name], tuple(order)).to(getattr(torch, kept[dtype])).contiguous()
            for name, dtype, order in row["outputs"]
        )

    return plain


def torch_call(row: dict[str, Any], given: list[Any]) -> Callable[[], Any]:
    """Return what torch.compile makes of the computation, called once."""
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    traced = make_fx(program(row), tracing_mode="fake", _allow_non_fake_inputs=True)(*given)
    compiled = torch.compile(traced, fullgraph=True)
    compiled(*given)
    return lambda: compiled(*given)


def ours(folder: Path, file: str, given: list[Any], row: dict[str, Any]) -> Callable[[], Any]:
    """Return the call of a plan, called twice: a repeat must give the same bits."""
    import torch
    from compiling import loaded

    module = loaded(folder / file)
    by_name = {entry[0]: array for entry, array in zip(row["inputs"], given, strict=True)}
    own = [by_name[name] for name in module.INPUTS]
    once, again = (got if isinstance(got, tuple) else (got,) for got in (module.run(*own), module.run(*own)))
    # As bytes, for which a scalar needs an axis: -0 and NaN are to repeat as well.
    same = all(
        torch.equal(a.reshape(-1).view(torch.uint8), b.reshape(-1).view(torch.uint8))
        for a, b in zip(once, again, strict=True)
    )
    if not same:
        raise AssertionError("a repeat gave other bits")
    return lambda: module.run(*own)


def far(got: Any, wanted: Any) -> float:
    """Return the distance of results from PyTorch's, relative to these, of what is finite in both."""
    import torch

    pairs = zip(got if isinstance(got, tuple) else (got,), wanted, strict=True)
    worst = 0.0
    for a, b in pairs:
        a, b = a.double(), b.double()
        finite = torch.isfinite(a) & torch.isfinite(b)
        a, b = torch.where(finite, a, 0), torch.where(finite, b, 0)
        worst = max(worst, float((a - b).norm() / b.norm().clamp(min=1e-30)))
    return worst


def warm(folder: Path, row: dict[str, Any]) -> dict[str, Any]:
    """Compile a case's plans and torch.compile's kernels, so that the caches on disk hold them; returns what each plan
    takes, and what failed.
    """
    from compiling import compiled
    from measuring import said, where

    found: dict[str, Any] = {}
    for plan in row["plans"]:
        try:
            found[plan["file"]] = compiled(folder / plan["file"]) if where() == "cuda" else {}
        except Exception as error:
            found[plan["file"]] = {"error": said(error)}
    try:
        torch_call(row, arrays(row, where()))
    except Exception as error:
        found["torch"] = {"error": said(error)}
    return found


def measured(folder: Path, row: dict[str, Any], resources: dict[str, Any], clock: Any) -> dict[str, Any]:
    """Return the row of a case: milliseconds of each plan and of torch.compile, what was predicted, and how these
    compare.
    """
    from measuring import said, timed, where

    found = {k: row[k] for k in ("work", "case", "seed", "fitted", "dtype")} | {
        "ours_ms": None,
        "peers": {},
        "ratio_best": None,
        "notes": [],
        "faults": {},
    }
    given = arrays(row, where())
    calls: dict[str, Any] = {}
    plans = {plan["file"]: dict(plan) for plan in row["plans"]}
    # Of a process that compiles all of it: here nothing would end what takes as long again
    slow = resources.get("error")
    for name, plan in plans.items():
        plan |= {} if slow else resources.get(name, {})
        try:
            if "error" not in plan:
                calls[name] = ours(folder, name, given, row)
        except Exception as error:
            plan["error"] = said(error)
    try:
        if slow:
            found["faults"]["torch.compile"] = slow
        else:
            calls["torch.compile"] = torch_call(row, given)
    except Exception as error:
        found["faults"]["torch.compile"] = said(error)
    wanted = calls["torch.compile"]() if "torch.compile" in calls else program(row)(*given)
    for name in plans:
        if name in calls:
            plans[name]["relative"] = far(calls[name](), wanted)
    shown, found["by_graph"] = timed(clock, calls, 0.25, found["faults"]) if calls else ({}, False)
    for name, plan in plans.items():
        plan |= {"ms": shown[name]} if name in shown else {}
    first = row["plans"][0]["file"]
    found |= {
        "plans": list(plans.values()),
        "predicted_ms": row["plans"][0]["predicted_ms"],
        "peers": {k: v for k, v in shown.items() if k not in plans},
    }
    if first in shown:
        found["ours_ms"] = shown[first]
        found["error"] = found["predicted_ms"] / shown[first] - 1
        best = min((name for name in plans if name in shown), key=shown.__getitem__)
        # The least of ten times is short by chance, too: both are timed once more, in turns
        pair = {name: calls[name] for name in (first, best)}
        again, _ = timed(clock, pair, 0.25, {}) if best != first else ({}, False)
        found["first_over_best"] = max(1.0, again[first] / again[best]) if len(again) == 2 else 1.0
        if "torch.compile" in shown:
            found["ratio_best"] = shown["torch.compile"] / shown[first]
    return found


def run(folder: Path, output: Path, seconds: float) -> int:
    """Measure the cases of a folder that no earlier run has; returns how many plans gave what PyTorch does not."""
    sys.path[:0] = [str(HERE / "carried"), str(HERE.parent)]
    from measuring import Clock, apart, resumed, said, where, written

    manifest = json.loads((folder / "manifest.json").read_text())
    results = resumed(output, manifest["emitted"])
    have = {row["case"] for row in results["rows"]}
    left = [row for row in manifest["cases"] if row["case"] not in have]
    for row in [row for row in left if not row.get("plans")]:
        results["rows"].append(
            {k: row[k] for k in ("case", "seed", "fitted")}
            | {"notes": [row.get("refused") or row.get("fault") or "no plan"]}
        )
    left = [row for row in left if row.get("plans")]
    end, clock = time.time() + seconds, Clock(where())
    count = max(1, (os.cpu_count() or 2) - 2)
    while left and time.time() < end:
        now, left = left[: 2 * count], left[2 * count :]
        within = min(TORCH_SECONDS, max(1.0, end - time.time()))
        known = apart(lambda name: [__file__, "warm", str(folder), name], [row["case"] for row in now], within, count)
        for row in now:
            try:
                resources = known[row["case"]]
                found = measured(folder, row, resources, clock)
            except Exception as error:  # the next case may do
                found = {k: row[k] for k in ("work", "case", "seed", "fitted", "dtype")} | {"notes": [said(error)]}
            results["rows"].append(found)
            written(results, output)
            print(
                found["case"],
                found.get("ours_ms"),
                found.get("predicted_ms"),
                found.get("peers"),
                found.get("notes"),
                found.get("faults"),
                flush=True,
            )
    written(results, output)
    print(told(results))
    print(f"{len(results['rows'])} of {len(manifest['cases'])} cases")
    return 0


def told(results: dict[str, Any]) -> str:
    """Return the figures: error of the model, first choice against the best of ten, against torch.compile, on seeds
    never fitted and fitted.
    """
    lines = []
    for what, fit in (("never fitted", False), ("fitted", True)):
        rows = [row for row in results["rows"] if row["fitted"] is fit and row.get("ours_ms")]
        if not rows:
            continue
        errors = [max(1 + row["error"], 1 / (1 + row["error"])) for row in rows]
        peers = [row["ratio_best"] for row in rows if row["ratio_best"]]
        median = statistics.median(e - 1 for e in errors)
        lines.append(
            f"{what}: {len(rows)} measured; error of the model {median:.1%} (median), within 1.5 x"
            f" {sum(e <= 1.5 for e in errors)}; first within 3 % of the best of {PLANS}:"
            f" {sum(row['first_over_best'] <= 1.03 for row in rows)}; against torch.compile: {len(peers)}, slower in"
            f" {sum(r < 1 for r in peers)}, least {min(peers, default=math.nan):.2f}, geometric mean"
            f" {statistics.geometric_mean(peers) if peers else math.nan:.2f}"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    emits, runs, tells, warms = (verbs.add_parser(name) for name in ("emit", "run", "told", "warm"))
    emits.add_argument("folder", type=Path)
    emits.add_argument("--seeds", default="0..150", metavar="A..B", help="from A to below B (default 0..150)")
    emits.add_argument("--tiny", action="store_true", help="sizes for a CPU")
    emits.add_argument("--gpu", default="h200", metavar="NAME", help="whose kernels they are (default h200)")
    runs.add_argument("folder", type=Path)
    runs.add_argument("-o", "--output", type=Path, default=RESULTS)
    runs.add_argument("--seconds", type=float, default=540, help="no case is begun after so many (default 540)")
    tells.add_argument("output", type=Path, nargs="?", default=RESULTS)
    warms.add_argument("folder", type=Path)
    warms.add_argument("case")
    args = parser.parse_args()
    if args.verb == "emit":
        from napkin_eq.lang.errors import NapkinError

        low, _, high = args.seeds.partition("..")
        try:
            emit(args.folder, range(int(low), int(high)), args.tiny, args.gpu)
        except NapkinError as error:
            parser.error(str(error))
    elif args.verb == "run":
        return run(args.folder, args.output, args.seconds)
    elif args.verb == "told":
        print(told(json.loads(args.output.read_text())))
    else:
        sys.path[:0] = [str(HERE / "carried"), str(HERE.parent)]
        rows = json.loads((args.folder / "manifest.json").read_text())["cases"]
        print(json.dumps(warm(args.folder, next(row for row in rows if row["case"] == args.case))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
