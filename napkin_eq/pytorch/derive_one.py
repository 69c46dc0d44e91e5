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
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from napkin_eq.lang.dtypes import BY_SHORT
from napkin_eq.lang.errors import NapkinError

if TYPE_CHECKING:
    from napkin_eq.pipeline.derivation import Derivation

SCHEMA = 20
SPILLED = 128  # bytes that a thread may spill: beyond it nobody knows what a kernel takes


def asked(
    diagram: str,
    dtype: str,
    hardware: str,
    seconds: float,
    interpreted: bool,
    edged: bool,
    sizes: dict[str, int],
    precision: str,
    file: Path,
) -> str:
    """Return a request as text; `edged`: the kernels must be PyTorch's at edges, too; `sizes`: about how large axes
    without one are; `precision`: of products, as `derive` takes it.
    """
    request = {"dtype": dtype, "hardware": hardware, "seconds": seconds, "interpreted": interpreted, "edged": edged}
    return json.dumps({"diagram": diagram, **request, "sizes": sizes, "precision": precision, "file": str(file)})


def answered(request: dict[str, Any]) -> None:
    """Derive what is asked for, and write launcher, certificate and head to their files; the head last."""
    from napkin_eq.certify.certificate import dumps
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
    source = emit(found.plan, "triton") if request["interpreted"] else found.code()
    try:
        certificate = dumps(found.certificate)
    except NapkinError as reason:
        certificate = json.dumps({"none": str(reason)})
    head = {
        "schema": SCHEMA,
        "seconds": request["seconds"] if found.limited else None,
        "inputs": [(b.name, BY_SHORT[b.dtype].name) for b in found.plan.inputs],
        "outputs": [(b.name, [axis.name for axis in b.dims]) for b in found.plan.outputs],
        "kernels": len(found.plan.kernels),
        "predicted_us": sum(o.placed.predicted_us for o in found.outputs),
        "compiled_s": 0.0 if request["interpreted"] else _compilers() - begun,
        "proved_s": found.seconds.get("prove", 0.0),
        "source": hashlib.sha256(source.encode()).hexdigest(),
    }
    file = Path(request["file"])
    for suffix, text in ((".py", source), (".certificate.json", certificate), (".json", json.dumps(head))):
        written(file.with_suffix(suffix), text)


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
