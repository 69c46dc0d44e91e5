"""One derivation in a process of its own, which can be ended: `python -m napkin_eq.pytorch.derive_one` reads what to
derive and where to write it. Kernels for a GPU are compiled before they are written.

The diagram comes as JSON on the standard input. Exit status 0: the files are there; 2: standard output says in one line
why not.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from napkin_eq.lang.dtypes import BY_SHORT
from napkin_eq.lang.errors import NapkinError

if TYPE_CHECKING:
    from napkin_eq.pipeline.derivation import Derivation

SCHEMA = 22
SPILLED = 128  # bytes that a thread may spill: beyond it nobody knows what a kernel takes
# Of plans to be measured: microseconds that a plan takes at the least where others are made beside it, seconds after
# which no further one is made, and how many are tried
LONG, MAKING, TRIED = 25.0, 20.0, 12


def asked(
    diagram: str,
    dtype: str,
    hardware: str,
    seconds: float,
    interpreted: bool,
    edged: bool,
    sizes: dict[str, int],
    precision: str,
    others: int,
    within_us: float,
    file: Path,
) -> str:
    """Return a request as text; `edged`: the kernels must be PyTorch's at edges, too; `sizes`: about how large axes
    without one are; `precision`: of products, as `derive` takes it; `others`: how many plans are made beside the first,
    to be measured, where that is predicted to take no more than `within_us`.
    """
    request = {"dtype": dtype, "hardware": hardware, "seconds": seconds, "interpreted": interpreted, "edged": edged}
    beside = {"others": others, "within_us": within_us, "file": str(file)}
    return json.dumps({"diagram": diagram, **request, "sizes": sizes, "precision": precision, **beside})


def answered(request: dict[str, Any]) -> None:
    """Derive what is asked for, and write launcher, certificate and head to their files; the head last."""
    from napkin_eq.lang.json_form import loads_diagram
    from napkin_eq.pipeline.derive import derive
    from napkin_eq.pipeline.top_k import portable
    from napkin_eq.pytorch.edge_trial import with_edges
    from napkin_eq.tile.expected import Expected
    from napkin_eq.tile.printers import emit

    printer = "triton" if request["interpreted"] else "auto"
    found = derive(
        loads_diagram(request["diagram"]),
        request["hardware"],
        request["dtype"],
        printer=printer,
        limit=request["seconds"],
        expected=Expected(request["sizes"]),
        precision=request["precision"],
    )
    if request["interpreted"]:
        found = portable(found)
    begun = _compilers()
    if not request["interpreted"]:
        found = compiling(found, request["edged"])
    elif request["edged"]:
        found = replace(found, plan=with_edges(found))
    predicted_us, file = sum(o.placed.predicted_us for o in found.outputs), Path(request["file"]).with_suffix(".py")
    source = emit(found.plan, "triton") if request["interpreted"] else found.code()
    head = {
        "schema": SCHEMA,
        "seconds": request["seconds"] if found.limited else None,
        "inputs": [(b.name, BY_SHORT[b.dtype].name) for b in found.plan.inputs],
        "outputs": [(b.name, [axis.name for axis in b.dims]) for b in found.plan.outputs],
        "kernels": len(found.plan.kernels),
        "predicted_us": predicted_us,
        "others": [],
        "compiled_s": 0.0 if request["interpreted"] else _compilers() - begun,
        "proved_s": found.seconds.get("prove", 0.0),
        "source": _made(found, source, file),
    }
    written(file.with_suffix(".json"), json.dumps(head))
    if request["others"] and LONG <= predicted_us <= request["within_us"]:  # whatever happens now, the first is there
        own, others = time.process_time(), []
        for number, other in enumerate(islice(_others(found, request["edged"]), request["others"])):
            hashed = _made(other, other.code(), at_place(file, number))
            others.append((predicted_us + _tiles_us(other) - _tiles_us(found), hashed))
        took = _compilers() - begun + time.process_time() - own
        written(file.with_suffix(".json"), json.dumps({**head, "others": others, "compiled_s": took}))


def _tiles_us(found: Derivation) -> float:
    return sum(piece.cost.predicted_us for piece in found.tiled)


def at_place(file: Path, number: int) -> Path:
    """Return the file of one of the plans that are made beside the first, whose file is given."""
    return file.with_name(f"{file.stem}_{number}{file.suffix}")


def _made(found: Derivation, source: str, file: Path) -> str:
    """Write a launcher and its certificate; return the launcher's hash."""
    from napkin_eq.certify.certificate import dumps

    try:
        certificate = dumps(found.certificate)
    except NapkinError as reason:
        certificate = json.dumps({"none": str(reason)})
    written(file, source)
    written(file.with_suffix(".certificate.json"), certificate)
    return hashlib.sha256(source.encode()).hexdigest()


def _others(found: Derivation, edged: bool) -> Iterator[Derivation]:
    """Yield derivations with other tiles that may be faster than a derivation's own: each is held against the diagram,
    and compiled, as that is.
    """
    from napkin_eq.pipeline.compiled import faults
    from napkin_eq.pipeline.top_k import others, with_tilings
    from napkin_eq.pytorch.edge_trial import with_edges

    end, outputs = time.monotonic() + MAKING, [(b.name, b.dims) for b in found.plan.outputs]
    try:
        tilings = others(found, TRIED)
    except NapkinError:  # the first stands by itself
        return
    for pieces in tilings:
        if time.monotonic() > end:
            return
        try:
            other = with_tilings(found, pieces)
            other = replace(other, plan=with_edges(other)) if edged else other
            right = [(b.name, b.dims) for b in other.plan.outputs] == outputs and not faults(other)
        except NapkinError:  # such tiles are not the diagram's, or not PyTorch's at its edges: there are others
            continue
        if right:
            yield other


def compiling(found: Derivation, edged: bool) -> Derivation:
    """Return a derivation whose kernels the compiler takes, in the form in which they are written: one that it refuses,
    or of which it spills what threads hold, gives way to the next.

    Raises NapkinError, with what the compiler says, where no plan is left, or none that the cost model can tell.
    """
    from napkin_eq.pipeline.compiled import compiled, faults
    from napkin_eq.pytorch.edge_trial import with_edges

    written = replace(found, plan=with_edges(found)) if edged else found
    if not faults(written):
        return written
    other = compiled(found).derivation
    written = replace(other, plan=with_edges(other)) if edged else other
    if why := faults(written, SPILLED):
        raise NapkinError(why)
    return written


def _compilers() -> float:
    """Return the processor time of compilers, which are the processes that this one has waited for."""
    return sum(os.times()[2:4])


def written(file: Path, text: str) -> None:
    """Write a file at once: whoever reads it finds all of it, or nothing."""
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=file.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
    os.replace(draft, file)


def main() -> int:
    try:
        answered(json.loads(sys.stdin.read()))
    except NapkinError as reason:
        print(str(reason))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
