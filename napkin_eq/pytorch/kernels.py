"""A program as kernels: derived once, remembered on disk with its certificate, and called with tensors.

What is remembered is found by the hash of diagram, storage type, GPU, limits and versions; an entry that is damaged is derived anew.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import math
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from napkin_eq.lang.dtypes import BY_SHORT
from napkin_eq.lang.errors import NapkinError
from napkin_eq.pytorch.program import REAL, Port, Program

SCHEMA = 1
STORED = ("float32", "float16", "bfloat16")
EXACT = 2**24  # whole numbers up to here are exact in float32


@dataclass(frozen=True, slots=True)
class Kernels:
    """What was derived of a program: the text of its launcher, and how its arrays come in and go out.

    inputs: name and type of each array that the launcher takes. outputs: name and axes of each that it returns. file: where it lies, with
    its certificate beside it.
    """

    source: str
    inputs: tuple[tuple[str, str], ...]
    outputs: tuple[tuple[str, tuple[str, ...]], ...]
    kernels: int
    predicted_us: float
    laws: tuple[str, ...]
    file: Path
    fresh: bool


def kernels_of(program: Program, hardware: str, seconds: float, interpreted: bool) -> Kernels:
    """Return the kernels of a program; raises NapkinError, in one line, where there are none.

    seconds: of processor time for the search, if it is not remembered. interpreted: portable Triton, which runs in its interpreter.
    """
    stored(program)
    key = _key(program, hardware, seconds, interpreted)
    file = _folder() / f"{key}.py"
    known = _read(file)
    return known if known is not None else _derived(program, hardware, seconds, interpreted, file)


def stored(program: Program) -> None:
    """Raise NapkinError where a program's outputs have types that its kernels would not store."""
    if program.dtype not in STORED:
        raise NapkinError(f"storage in {program.dtype}: kernels store {', '.join(STORED)}")
    if program.symbols:
        raise NapkinError("symbolic sizes: mark the dimensions static, or compile with dynamic=False")
    for port in program.outputs:
        if port.term is not None and not port.term.axes and not program.inputs:
            raise NapkinError("a constant")
        if port.dtype in REAL and port.dtype not in STORED:
            raise NapkinError(f"an output of {port.dtype}: kernels store {', '.join(STORED)}")
        if port.dtype == "bool":
            raise NapkinError("a mask as an output of a region is not supported")
        if port.dtype not in REAL and port.term is not None and port.term.kind == "real" and not _exact(program, port):
            raise NapkinError("an output of whole numbers is stored as float32, and these may be too large for it")


def _exact(program: Program, port: Port) -> bool:
    """Tell whether whole numbers are places along axes that float32 holds exactly."""
    from napkin_eq.lang.interval import interval

    assert port.term is not None
    low, high = interval(port.term)
    return program.dtype == "float32" and low >= -EXACT and high <= EXACT


def _derived(program: Program, hardware: str, seconds: float, interpreted: bool, file: Path) -> Kernels:
    from napkin_eq.pipeline.derive import derive

    own = {p.name: p.dtype for p in program.outputs if p.dtype in REAL and p.dtype != program.dtype}
    diagram = program.diagram.storing(**own) if own else program.diagram
    found = derive(diagram, hardware, program.dtype, printer="triton" if interpreted else "auto", limit=seconds)
    made = Kernels(
        source=found.triton() if interpreted else found.code(),
        inputs=tuple((b.name, BY_SHORT[b.dtype].name) for b in found.plan.inputs),
        outputs=tuple((b.name, tuple(axis.name for axis in b.dims)) for b in found.plan.outputs),
        kernels=len(found.plan.kernels),
        predicted_us=sum(o.placed.predicted_us for o in found.outputs),
        laws=tuple(dict.fromkeys(str(step.law) for output in found.outputs for step in output.steps if hasattr(step, "law"))),
        file=file,
        fresh=True,
    )
    try:
        certificate: Any = found.certificate
    except NapkinError as reason:
        certificate = {"none": str(reason)}
    _write(made, certificate)
    return made


def _key(program: Program, hardware: str, seconds: float, interpreted: bool) -> str:
    import torch
    import triton

    from napkin_eq import __version__
    from napkin_eq.lang.json_form import dumps_diagram

    types = " ".join(port.dtype for port in program.outputs)
    parts = [dumps_diagram(program.diagram), types, program.dtype, hardware, f"{seconds:g}", str(interpreted)]
    versions = [str(SCHEMA), __version__, torch.__version__, triton.__version__]
    return hashlib.sha256("\n".join([*versions, *parts]).encode()).hexdigest()[:40]


def _folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "napkin_eq" / "pytorch"


def _write(made: Kernels, certificate: Any) -> None:
    head = {
        "schema": SCHEMA, "inputs": made.inputs, "outputs": made.outputs, "kernels": made.kernels, "predicted_us": made.predicted_us,
        "laws": made.laws, "source": hashlib.sha256(made.source.encode()).hexdigest(),
    }  # fmt: skip
    made.file.parent.mkdir(parents=True, exist_ok=True)
    for suffix, text in ((".py", made.source), (".certificate.json", json.dumps(certificate)), (".json", json.dumps(head))):
        handle, draft = tempfile.mkstemp(dir=made.file.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.replace(draft, made.file.with_suffix(suffix))


def _read(file: Path) -> Kernels | None:
    try:
        head = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
        source = file.read_text(encoding="utf-8")
        if head["schema"] != SCHEMA or head["source"] != hashlib.sha256(source.encode()).hexdigest():
            return None
        inputs = tuple((str(name), str(dtype)) for name, dtype in head["inputs"])
        outputs = tuple((str(name), tuple(map(str, axes))) for name, axes in head["outputs"])
        figures = int(head["kernels"]), float(head["predicted_us"]), tuple(map(str, head["laws"]))
        return Kernels(source, inputs, outputs, *figures, file, False)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def caller(program: Program, made: Kernels, shapes: Sequence[tuple[Any, Any]]) -> Callable[..., tuple[Any, ...]]:
    """Return a function of the program's tensors that gives its outputs; `shapes`: size and strides of each, which are kept to."""
    import torch

    run = _loaded(made).run
    places = {port.name: number for number, port in enumerate(program.inputs)}
    takes = [
        (places[name], tuple(a.size for a in program.inputs[places[name]].axes), getattr(torch, dtype)) for name, dtype in made.inputs
    ]
    order = {name: at for at, (name, _) in enumerate(made.outputs)}
    gives = [way(port, made.outputs[order[port.name]][1]) for port in program.outputs]
    slots = [order[port.name] for port in program.outputs]

    def called(*tensors: Any) -> tuple[Any, ...]:
        arrays = [tensors[at].reshape(cut).to(dtype).contiguous() for at, cut, dtype in takes]
        found = run(*arrays) if arrays else run(device=tensors[0].device if tensors else "cuda")
        found = found if isinstance(found, tuple) else (found,)
        results = []
        for slot, (shape, permuted, final, dtype), (size, stride) in zip(slots, gives, shapes, strict=True):
            value = found[slot].reshape(shape).permute(permuted).expand(final).reshape(size)
            if dtype is not None:
                value = (value.round() if value.is_floating_point() else value).to(dtype)
            results.append(strided(value, size, stride))
        return tuple(results)

    return called


def strided(value: Any, size: Sequence[int], stride: Sequence[int]) -> Any:
    """Return a tensor with these strides, copied if it has others; along a stride of 0 all elements are one."""
    import torch

    if value.stride() == tuple(stride) or value.numel() <= 1:
        return value
    repeated = [step == 0 and length > 1 for step, length in zip(stride, size, strict=True)]
    once = value[tuple(slice(0, 1) if again else slice(None) for again in repeated)]
    out = torch.empty_strided(once.shape, stride, dtype=value.dtype, device=value.device).copy_(once)
    return out.expand(size)


def way(port: Port, order: Sequence[str]) -> tuple[Any, Any, Any, Any]:
    """Return how an array whose axes come in some order becomes an output: its shape, the order of axes, sizes with all, and the type."""
    import torch

    sizes = {axis.name: axis.size or 0 for axis in port.axes}
    missing = [axis.name for axis in port.axes if axis.name not in order]
    shape = [*(sizes[name] for name in order), *([1] * len(missing))]
    names = [*order, *missing]
    permuted = [names.index(axis.name) for axis in port.axes]
    return shape, permuted, [sizes[axis.name] for axis in port.axes], None if port.dtype in REAL else getattr(torch, port.dtype)


def _loaded(made: Kernels) -> Any:
    spec = importlib.util.spec_from_file_location(f"napkin_eq_{made.file.stem}", made.file)
    if spec is None or spec.loader is None:
        raise NapkinError(f"kernels in {made.file.name} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def elements(program: Program) -> int:
    """Return the number of elements that a program reads and writes."""
    return sum(math.prod(a.size or 0 for a in port.axes) for port in (*program.inputs, *program.outputs))
