"""Hold the model's shared memory and registers against what the compiler gives: `python benchmarks/agreement.py [-o
RESULTS] [--count N] [--seed S]`.

Derives the gallery, the diagrams of tests/diagrams.py at larger sizes, and random ones, compiles every kernel ahead of
time, and prints the table of docs/cost.md. Plain kernels are compiled for Ampere, too, and held against its model.
`--from RESULTS` prints the table of an earlier run.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import napkin_eq as nq
from napkin_eq.frontend.gallery import DIAGRAMS
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Term
from napkin_eq.machine.cost import price, profile
from napkin_eq.machine.gpu import load
from napkin_eq.tile import ir as p
from napkin_eq.tile.compile_ahead import attempted
from napkin_eq.tile.identifiers import kernel_function
from napkin_eq.tile.printers import code
from napkin_eq.tile.resources import capacity, room
from napkin_eq.verify.fuzz.random_diagrams import Shape, random_diagram

DTYPES = ("bfloat16", "float16")
SHAPE = Shape(
    nodes=12,
    lengths=(16, 64, 100, 128, 256, 512, 1000, 1024, 4096),
    elements=2**26,
    outputs=2,
    dtypes=("float", "float", "float32", "int32"),
)
SECONDS, COMPILING = 300, 100  # of a diagram, of a file
FORKED = multiprocessing.get_context("fork")
Case = tuple[str, Callable[[], Diagram], str]


def cases(count: int, seed: int) -> Iterator[Case]:
    """Yield what is derived: its name, its diagram, the storage type."""
    for number in range(count):
        random = Random(f"{seed}/{number}").randrange
        yield f"random/{seed}/{number}", partial(random_diagram, random, SHAPE, f"drawn_{number}"), DTYPES[number % 2]
    for name in sorted(DIAGRAMS):
        yield name, DIAGRAMS[name], DTYPES[0]
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    import diagrams

    for name, (make, sizes) in diagrams.NEW.items():
        yield f"tests/{name}", partial(_larger, name, make, sizes), DTYPES[0]


def _larger(name: str, make: Callable[[Mapping[str, int | None]], Term], sizes: Mapping[str, int]) -> Diagram:
    return Diagram(
        name,
        (("out", make({axis: size if size <= 8 else 1 << (24 * size).bit_length() for axis, size in sizes.items()})),),
    )


def seen(case: Case) -> list[dict[str, Any]]:
    """Return a row for each kernel of a case and architecture; one with a `note` where there is no plan."""
    name, make, dtype = case
    try:
        plan = nq.derive(make(), dtype=dtype).plan
    except NapkinError as error:
        return [{"case": name, "note": str(error)[:160]}]
    except Exception as error:  # a fault is a finding of the fuzzer's, and no kernel
        return [{"case": name, "note": f"{type(error).__name__}: {error}"[:160]}]
    rows = _compiled(name, plan, "h200")
    if not any(kernel.workers for kernel in plan.kernels):
        rows += _compiled(name, plan, "a100")
    return rows


def _compiled(name: str, plan: p.Plan, hardware: str) -> list[dict[str, Any]]:
    machine = load(hardware)
    found = attempted(code(plan), machine.arch, [kernel_function(k) for k in plan.kernels], COMPILING)
    rows = []
    for kernel, row in zip(plan.kernels, found, strict=True):
        rows.append(
            {
                "case": name,
                "arch": machine.arch,
                "kernel": kernel.name,
                "shared_by_groups": bool(kernel.workers),
                **predicted(kernel, hardware),
            }
        )
        rows[-1] |= {key: row[key] for key in ("registers", "spills_bytes", "smem_bytes", "error") if key in row}
    return rows


def predicted(kernel: p.Kernel, hardware: str) -> dict[str, Any]:
    """Return what the model says that a kernel takes of a GPU, and whether it holds that it fits."""
    machine, prof = load(hardware), profile(kernel)
    if kernel.workers:
        from napkin_eq.tile.boxes import shared_bytes

        return {"model_smem": shared_bytes(kernel), "model_registers": None, "fits": True}
    smem, registers = capacity(
        room(prof.needs, {c.name: c.tile for c in kernel.coords}),
        kernel.warps,
        kernel.stages,
        machine.divisors.mma_m >= 64,
    )
    return {
        "model_smem": smem,
        "model_registers": registers,
        "fits": price(prof, {}, kernel.warps, kernel.stages, machine) is not None,
    }


def apart(case: Case) -> list[dict[str, Any]]:
    """Return the rows of a case, derived in a process of its own, which is ended where it takes too long."""
    answers = FORKED.SimpleQueue()
    child = FORKED.Process(target=lambda: answers.put(seen(case)))
    child.start()
    child.join(SECONDS)
    late = child.is_alive()
    child.kill()
    child.join()
    return [{"case": case[0], "note": f"nothing after {SECONDS} s"}] if late or answers.empty() else answers.get()


def table(rows: list[dict[str, Any]]) -> str:
    """Return the agreement as a table in Markdown: by architecture and printer, how many kernels, and how the model and
    the compiler differ.
    """
    lines = [
        (
            "| compiled for | kernels | did not compile | asks for more shared memory than the model says | than a"
            " block has | model over compiler, median | spills | of these above the model's limit |"
        ),
        "|---|---|---|---|---|---|---|---|",
    ]
    for arch in sorted({r["arch"] for r in rows if "arch" in r}):
        most = load("h200" if arch == "sm_90" else "a100").smem.block_bytes
        for groups in (False, True):
            mine = [r for r in rows if r.get("arch") == arch and r["shared_by_groups"] == groups]
            fine = [r for r in mine if "error" not in r]
            if not mine:
                continue
            low = sum(r["smem_bytes"] > r["model_smem"] for r in fine)
            above = sum(r["smem_bytes"] > most for r in fine if r["fits"])
            ratios = sorted(r["model_smem"] / r["smem_bytes"] for r in fine if r["smem_bytes"] > 8192)
            spilt = [r for r in fine if r["spills_bytes"]]
            middle = f"{ratios[len(ratios) // 2]:.2f}" if ratios else "–"
            told = sum(not r["fits"] for r in spilt)
            what = f"{arch}, {'Gluon' if groups else 'Triton'}"
            lines.append(
                f"| {what} | {len(mine)} | {len(mine) - len(fine)} | {low} | {above} | {middle} | {len(spilt)} |"
                f" {told} |"
            )
    without = sum("note" in r for r in rows)
    return "\n".join([*lines, "", f"{len({r['case'] for r in rows})} diagrams, {without} of them without a plan."])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, help="keep the rows here")
    parser.add_argument("--from", dest="before", type=Path, help="print the table of these rows")
    parser.add_argument("--count", type=int, default=60, help="random diagrams (default 60)")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    rows: list[dict[str, Any]] = json.loads(args.before.read_text())["rows"] if args.before else []
    for case in () if args.before else cases(args.count, args.seed):
        rows += apart(case)
        mine = (r for r in rows if r["case"] == case[0])
        print(
            case[0],
            [r.get("note") or r.get("error") or (r["model_smem"], r["smem_bytes"], r["spills_bytes"]) for r in mine],
            flush=True,
        )
        if args.output:
            args.output.write_text(json.dumps({"schema": 1, "rows": rows}, indent=1) + "\n")
    print(table(rows))


if __name__ == "__main__":
    main()
