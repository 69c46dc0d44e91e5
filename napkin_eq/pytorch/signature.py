"""A function of PyTorch whose annotations say what its tensors are, read without an example at hand:
`def f(x: "bf16[rows=4096, 512]", w: "bf16[512, columns=1024]")`.

A dimension is a size, a name with its size (`rows=4096`), or a name that has its size elsewhere. A type is one of
`torch`, or as plans write it: `bf16`, `f32`, `i64`, `bool`.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from napkin_eq.lang.axis import LARGEST, Axis
from napkin_eq.lang.errors import NapkinError, checked_name
from napkin_eq.lang.evaluate import axes_in
from napkin_eq.lang.spans import renewed
from napkin_eq.pytorch.importer import from_torch
from napkin_eq.pytorch.program import Port, Program

TENSOR = re.compile(r"\s*([A-Za-z_]\w*)\s*\[([^\[\]]*)\]\s*", re.ASCII)
DIMENSION = re.compile(r"(?:([A-Za-z_]\w*)(?:\s*=\s*(\d{1,15}))?|(\d{1,15}))", re.ASCII)
TYPES = {
    "bf16": "bfloat16",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "e4m3": "float8_e4m3fn",
    "e5m2": "float8_e5m2",
    "i64": "int64",
    "i32": "int32",
    "i16": "int16",
    "i8": "int8",
    "u8": "uint8",
    "bool": "bool",
}
FORM = 'expected a type and sizes, such as "bf16[rows=4096, 512]"'


@dataclass(frozen=True, slots=True)
class Tensor:
    """What an annotation says: the parameter, torch's name of the type, and of each dimension its name or size."""

    parameter: str
    dtype: str
    dims: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Signature:
    """The tensors that a function takes, and the sizes that its annotations give to names."""

    tensors: tuple[Tensor, ...]
    sizes: Mapping[str, int]


def annotated(thing: Any) -> bool:
    """Tell whether a thing is a function each of whose parameters has a text for an annotation, and that has some."""
    if not inspect.isfunction(thing):
        return False
    found = inspect.signature(thing).parameters.values()
    return bool(found) and all(isinstance(p.annotation, str) for p in found)


def signature(fn: Callable[..., Any]) -> Signature:
    """Return what a function's annotations say of its tensors.

    Raises NapkinError, with the parameter, for what is no such text, a size given twice and a name without one.
    """
    tensors, sizes = list[Tensor](), dict[str, int]()
    for name, parameter in inspect.signature(fn).parameters.items():
        text = parameter.annotation
        if text[:1] in ("'", '"'):  # a module that postpones its annotations quotes them once more
            text = ast.literal_eval(text)
        where = f"{fn.__name__}: parameter {name} is {text!r:.80}"
        if not (found := TENSOR.fullmatch(text)):
            raise NapkinError(f"{where}; {FORM}")
        if parameter.kind in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD):
            raise NapkinError(f"{where}, given by name alone; tensors are given in order: leave out the * before it")
        dims = list[str | int]()
        for part in found[2].split(",") if found[2].strip() else []:
            if not (dim := DIMENSION.fullmatch(part.strip())):
                raise NapkinError(f"{where}: {part.strip()!r:.40} is no dimension; {FORM}")
            given = int(dim[2] or dim[3] or 1)
            if not 0 < given <= LARGEST:
                raise NapkinError(f"{where}: a size is 1 to {LARGEST}")
            if dim[2] and sizes.setdefault(dim[1], given) != given:
                raise NapkinError(f"{where}: {dim[1]} is {sizes[dim[1]]} before; give it one size")
            dims.append(dim[1] or given)
        if (dtype := TYPES.get(found[1], found[1])) not in TYPES.values():
            raise NapkinError(f"{where}: type {found[1]!r:.40} is not known; one of {', '.join(TYPES)}")
        tensors.append(Tensor(name, dtype, tuple(dims)))
    for tensor in tensors:
        if missing := next((d for d in tensor.dims if isinstance(d, str) and d not in sizes), None):
            raise NapkinError(f"{fn.__name__}: {missing} of {tensor.parameter} has no size; write {missing}=128 once")
    return Signature(tuple(tensors), sizes)


def program_of(fn: Callable[..., Any], sizes: Mapping[str, int | None] | None = None) -> Program:
    """Read an annotated function as a Program, without data.

    sizes: of names, instead of what the annotations give; None leaves one open. Raises NapkinError for a name that the
    function does not have, and for what `from_torch` refuses.
    """
    import torch

    said = signature(fn)
    if unknown := next((name for name in sizes or {} if name not in said.sizes), None):
        names = ", ".join(said.sizes) or "none"
        raise NapkinError(f"{fn.__name__} has no size called {unknown!r:.40}; it has {names}")
    known: dict[str, int | None] = {**said.sizes, **(sizes or {})}
    opened = {name: torch.export.Dim(name, min=2) for name, size in known.items() if size is None}
    inputs, dynamic = list[torch.Tensor](), list[dict[int, Any]]()
    for tensor in said.tensors:
        shape = [d if isinstance(d, int) else known[d] or said.sizes[d] for d in tensor.dims]
        try:
            inputs.append(torch.empty(shape, dtype=getattr(torch, tensor.dtype)))  # of which no element is touched
        except RuntimeError:
            raise NapkinError(f"{fn.__name__}: {tensor.parameter} has no room here; give it smaller sizes") from None
        dynamic.append({at: opened[d] for at, d in enumerate(tensor.dims) if d in opened})
    return _named(from_torch(fn, *inputs, dynamic_shapes=tuple(dynamic) if opened else None), said)


def _named(program: Program, said: Signature) -> Program:
    """Return a program whose axes have the names of the dimensions that they are; a second one of a name, as of keys
    beside queries, has a number behind it.
    """
    dims = {tensor.parameter: tensor.dims for tensor in said.tensors}
    terms = [program.diagram.term, *(edge.term for edge in program.edges)]
    every = dict.fromkeys(axis for term in terms for axis in axes_in(term))
    names = dict[Axis, str]()
    for port in program.inputs:
        for dim, name in zip(port.dims, dims.get(port.target, ()), strict=False):
            if len(dim) == 1 and isinstance(name, str) and dim[0] in every and usable(name):
                names.setdefault(dim[0], name)
    taken, found = set[str](), dict[str, Axis]()
    for axis in sorted(every, key=lambda axis: axis not in names):
        name = names.get(axis, axis.name)
        numbered = (f"{name}{count}" for count in itertools.count(2))
        name = next(n for n in itertools.chain((name,), numbered) if n not in taken)
        taken.add(name)
        found[axis.name] = replace(axis, name=name)

    def ported(port: Port) -> Port:
        dims = tuple(tuple(found.get(axis.name, axis) for axis in dim) for dim in port.dims)
        return replace(port, dims=dims, term=None if port.term is None else renewed(port.term, found))

    outputs = tuple((name, renewed(term, found)) for name, term in program.diagram.outputs)
    return replace(
        program,
        diagram=replace(program.diagram, outputs=outputs),
        inputs=tuple(map(ported, program.inputs)),
        outputs=tuple(map(ported, program.outputs)),
        edges=tuple(replace(edge, term=renewed(edge.term, found)) for edge in program.edges),
        symbols={found[n].name if n in found else n: symbol for n, symbol in program.symbols.items()},
    )


def usable(name: str) -> bool:
    """Tell whether a name may be an axis'."""
    try:
        checked_name(name, "axis")
    except NapkinError:
        return False
    return True
