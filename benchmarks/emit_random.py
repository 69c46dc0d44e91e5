"""Emit random diagrams, and any files of diagrams, to carry to a GPU: `python benchmarks/emit_random.py OUT [--count N]
[--seed S] [--gallery] [FILE]...`.

The folder runs by itself, with torch and triton alone: `python OUT/launch.py`. Each case has its kernels, inputs,
float64 results and bounds; the diagrams of the files and of the gallery are there at small ragged sizes, and once more
at the sizes that they state, to compile and launch only. Cases that the folder has already stay.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import shutil
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import napkin_eq as nq
from napkin_eq.cli.sources import find_diagram
from napkin_eq.frontend.gallery import DIAGRAMS
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.numerics.error_bound import error_bound, schedule
from napkin_eq.numerics.running_bound import running_bound
from napkin_eq.numerics.sample_inputs import draw, family
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.pipeline.validate import trial_sizes
from napkin_eq.verify.fuzz.fuzz import SPECIAL
from napkin_eq.verify.fuzz.random_diagrams import Shape, random_diagram

LENGTHS = (1, 2, 3, 5, 7, 16, 17, 33, 64, 65, 100, 128, 200, 257, 512, 1000)
SHAPE = Shape(nodes=24, lengths=LENGTHS, elements=2**16)
DTYPES = ("bfloat16", "float16", "float32")
SECONDS, MOST_BYTES = 90, 1_500_000  # of a derivation; of a case
FORKED = multiprocessing.get_context("fork")


def emitted(folder: Path, case: str, drawing: Diagram, dtype: str, *, compared: bool) -> dict[str, Any]:
    """Derive a diagram and write its kernels, and of one that is compared its inputs, results and bounds; returns its
    row of the manifest.
    """
    row: dict[str, Any] = {"case": case, "dtype": dtype, "compared": compared}
    try:
        found = nq.derive(drawing, dtype=dtype)
        text = found.code()
        held = data(drawing, found, dtype, case) if compared else {}
    except NapkinError as error:
        return row | {"refused": str(error)[:200]}
    except Exception as error:  # a fault is a finding, and the others go on
        return row | {"fault": f"{type(error).__name__}: {error}"[:200]}
    (folder / f"{case}.py").write_text(text)
    if held:
        np.savez_compressed(folder / f"{case}.npz", **held)
        if (folder / f"{case}.npz").stat().st_size > MOST_BYTES:
            (folder / f"{case}.npz").unlink()
            row["compared"] = False
    outputs = [[b.name, b.dtype] for b in found.plan.outputs]
    predicted = [
        {"shared": t.cost.smem_bytes, "registers": t.cost.registers, "us": t.cost.predicted_us} for t in found.tiled
    ]
    return row | {"file": f"{case}.py", "outputs": outputs, "predicted": predicted}


def data(drawing: Diagram, found: Derivation, dtype: str, case: str) -> dict[str, Any]:
    """Return inputs, exact results and bounds by name."""
    sizes = {axis.name: axis.size or 1 for axis in drawing.axes()}
    drawn = draw(drawing, SPECIAL if case.endswith(("3", "7")) else family("normal"), sizes, dtype, 0)
    running = running_bound(found.plan, drawn.clean, {}, 0.0, drawn.spoilt)
    planned = schedule(found.plan)
    held = {f"in_{name}": narrowed(array) for name, array in drawn.arrays.items()}
    each = [one for output in found.outputs for one in output.each()]
    for buffer, (name, source, term) in zip(found.plan.outputs, each, strict=True):
        order = [axis.name for axis in buffer.dims]
        (bound,) = error_bound(term, drawn.clean, {}, dtype, 0.0, order, planned, drawn.spoilt)
        held[f"exact_{name}"] = nq.evaluate(source, drawn.clean, order=order)
        held[f"bound_{name}"] = np.nextafter(
            np.minimum(bound, running[buffer.name]).astype(np.float32), np.float32(np.inf)
        )
    return held


def narrowed(array: Any) -> Any:
    """Return an array in 32 bits where that holds it exactly: what is stored in 16 or 32 bits is drawn so."""
    small = np.asarray(array).astype(np.float32) if np.asarray(array).dtype == np.float64 else np.asarray(array)
    return small if np.array_equal(small, array, equal_nan=small.dtype.kind == "f") else array


def apart(*given: Any, **named: Any) -> dict[str, Any]:
    """Emit a case in a process of its own, which is ended where it takes too long; return its row."""
    answers = FORKED.SimpleQueue()
    child = FORKED.Process(target=lambda: answers.put(emitted(*given, **named)))
    child.start()
    child.join(SECONDS)
    late = child.is_alive()
    child.kill()
    child.join()
    return {"case": given[1], "refused": f"not derived in {SECONDS} s"} if late or answers.empty() else answers.get()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="OUT")
    parser.add_argument("files", nargs="*", metavar="FILE", help="files of diagrams")
    parser.add_argument("--gallery", action="store_true", help="the gallery's diagrams, too")
    parser.add_argument("--count", type=int, default=100, help="random diagrams to draw (default 100)")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(__file__).with_name("carried") / "launch.py", args.folder)
    manifest = args.folder / "manifest.json"
    rows: dict[str, dict[str, Any]] = (
        {row["case"]: row for row in json.loads(manifest.read_text())["cases"]} if manifest.exists() else {}
    )

    def add(case: str, drawing: Diagram, dtype: str, *, compared: bool) -> None:
        if case not in rows:
            rows[case] = apart(args.folder, case, drawing, dtype, compared=compared)
            print(case, rows[case].get("refused") or rows[case].get("fault") or "emitted", flush=True)
            manifest.write_text(json.dumps({"cases": list(rows.values())}, indent=1))

    named = [(Path(file).stem, find_diagram(file, [])) for file in args.files]
    named += [(name, make()) for name, make in sorted(DIAGRAMS.items())] if args.gallery else []
    for name, drawing in named:
        add(f"{name}_ragged", drawing.with_sizes(trial_sizes(drawing, {})[0]), "bfloat16", compared=True)
        if all(axis.size is not None for axis in drawing.axes()):
            add(f"{name}_whole", drawing, "bfloat16", compared=False)
    for number in range(args.count):
        drawing = random_diagram(Random(f"{args.seed}/{number}").randrange, SHAPE, f"drawn_{args.seed}_{number}")
        add(f"random_{args.seed}_{number}", drawing, DTYPES[number % 3], compared=True)


if __name__ == "__main__":
    main()
