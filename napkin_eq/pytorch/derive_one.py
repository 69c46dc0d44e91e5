"""One derivation in a process of its own, which can be ended: `python -m napkin_eq.pytorch.derive_one` reads what to
derive and where to write it.

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
from typing import Any

from napkin_eq.lang.dtypes import BY_SHORT
from napkin_eq.lang.errors import NapkinError

SCHEMA = 2


def asked(diagram: str, dtype: str, hardware: str, seconds: float, interpreted: bool, edged: bool, file: Path) -> str:
    """Return a request as text; `edged`: the kernels must be PyTorch's at edges, too."""
    request = {"dtype": dtype, "hardware": hardware, "seconds": seconds, "interpreted": interpreted, "edged": edged}
    request["file"] = str(file)
    return json.dumps({"diagram": diagram, **request})


def answered(request: dict[str, Any]) -> None:
    """Derive what is asked for, and write launcher, certificate and head to their files; the head last."""
    from napkin_eq.certify.certificate import dumps
    from napkin_eq.lang.json_form import loads_diagram
    from napkin_eq.pipeline.derive import derive
    from napkin_eq.pipeline.top_k import portable
    from napkin_eq.pytorch.edge_trial import with_edges
    from napkin_eq.tile.printers import emit

    printer = "triton" if request["interpreted"] else "auto"
    found = derive(
        loads_diagram(request["diagram"]),
        request["hardware"],
        request["dtype"],
        printer=printer,
        limit=request["seconds"],
    )
    if request["interpreted"]:
        found = portable(found)
    if request["edged"]:
        found = replace(found, plan=with_edges(found))
    source = emit(found.plan, "triton") if request["interpreted"] else found.code()
    try:
        certificate = dumps(found.certificate)
    except NapkinError as reason:
        certificate = json.dumps({"none": str(reason)})
    head = {
        "schema": SCHEMA,
        "inputs": [(b.name, BY_SHORT[b.dtype].name) for b in found.plan.inputs],
        "outputs": [(b.name, [axis.name for axis in b.dims]) for b in found.plan.outputs],
        "kernels": len(found.plan.kernels),
        "predicted_us": sum(o.placed.predicted_us for o in found.outputs),
        "source": hashlib.sha256(source.encode()).hexdigest(),
    }
    file = Path(request["file"])
    for suffix, text in ((".py", source), (".certificate.json", certificate), (".json", json.dumps(head))):
        written(file.with_suffix(suffix), text)


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
