"""A program as kernels: derived once, remembered on disk with its certificate, and called with tensors.

What is remembered is found by the hash of diagram, storage type, GPU, limits and versions; an entry that is damaged is
derived anew.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.dtypes import BY_NAME
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.json_form import dumps_diagram
from napkin_eq.pytorch import derive_one
from napkin_eq.pytorch.build.builder import exactly
from napkin_eq.pytorch.build.extents import about
from napkin_eq.pytorch.build.identity import hashed
from napkin_eq.pytorch.derive_one import SCHEMA, asked, at_place, written
from napkin_eq.pytorch.flat import flat, packed
from napkin_eq.pytorch.program import REAL, Port, Program, laid
from napkin_eq.pytorch.sizes import settled

# Times the seconds of a search, and seconds beside, for which a derivation is waited for; and for its compiler
FACTOR, START, COMPILER = 3.0, 60.0, 120.0
# Threads that wait for one another use processor time on every core of a large machine, and seconds of it are the limit
ALONE = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
BLOCK = 512  # bytes of which PyTorch hands out whole ones on a GPU
ENDED, TOOK = "the derivation ended with", "the derivation took more than"  # of one that came to no end of its own
# What is raised where a file of those remembered is not as it was written, numbers too large for a float among it
DAMAGED = OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, ArithmeticError, RecursionError
NARROW = ("int8", "uint8", "int16")
STORED = ("float32", "float16", "bfloat16")


class Refusal(NapkinError):
    """A program that was refused before, as it is remembered."""


@dataclass(frozen=True, slots=True)
class Kernels:
    """What was derived of a program: the text of its launcher, and how its arrays come in and go out.

    inputs: name and type of each array that the launcher takes. outputs: name and axes of each that it returns. file:
    where it lies, with its certificate beside it. compiled_s: processor time of the compiler, which was asked whether
    it takes the kernels (0 where it was not), and of making others. proved_s: for which laws were proved, once on each
    machine. others: of the same diagram with other tiles, to be measured. among: how many plans it was the fastest of.
    """

    source: str
    inputs: tuple[tuple[str, str], ...]
    outputs: tuple[tuple[str, tuple[str, ...]], ...]
    kernels: int
    predicted_us: float
    compiled_s: float
    proved_s: float
    file: Path
    fresh: bool
    others: tuple[Kernels, ...] = ()
    among: int = 1


@dataclass(frozen=True, slots=True)
class Asked:
    """What a derivation is asked, as text, and the file in which it is remembered."""

    request: str
    seconds: float
    interpreted: bool
    file: Path


def asking(
    program: Program,
    hardware: str,
    seconds: float,
    interpreted: bool,
    edged: bool = False,
    sizes: Mapping[str, int] | None = None,
    precision: str = "",
    others: int = 0,
    within_us: float = 0.0,
) -> Asked:
    """Return what is asked for the kernels of a program; raises NapkinError for one that kernels would not store.

    seconds: of processor time for the search, if it is not remembered. interpreted: portable Triton, which runs in its
    interpreter. edged: they must be PyTorch's at edges too (edge_trial.py). sizes: about how large axes of symbolic
    sizes are. precision: of products of float32. others: how many plans are made beside the first, to be measured,
    where that is predicted to take no more than `within_us`, which another question may have put otherwise.
    """
    stored(program)
    program = flat(program)
    told = partial(
        asked,
        dumps_diagram(diagram_of(program)),
        program.dtype,
        hardware,
        interpreted=interpreted,
        edged=edged,
        sizes=dict(sorted((sizes or {}).items())),
        precision=precision,
        others=others,
    )
    # What was found in more time is found
    file = folder() / f"{_key(told(seconds=0.0, within_us=0.0, file=Path()))}.py"
    return Asked(told(seconds=seconds, within_us=within_us, file=file), seconds, interpreted, file)


def answer(query: Asked) -> Kernels:
    """Return what was derived, now or before; raises NapkinError, in one line, where there is nothing."""
    known = _read(query.file, query.seconds)
    return known if known is not None else _derived(query)


def remembered(query: Asked) -> bool:
    """Tell whether an answer is remembered that was given as much time."""
    try:
        return _read(query.file, query.seconds) is not None
    except Refusal:
        return True


def stored(program: Program) -> None:
    """Raise NapkinError where a program's outputs have types that its kernels would not store."""
    if program.dtype not in STORED:
        raise NapkinError(f"storage in {program.dtype}: kernels store {', '.join(STORED)}")
    for port in program.outputs:
        if port.term is not None and not port.term.axes and not program.inputs:
            raise NapkinError("a constant")
        if port.dtype.startswith(("float", "bfloat")) and port.dtype not in STORED:
            raise NapkinError(f"an output of {port.dtype}: kernels store {', '.join(STORED)}")
        if port.dtype not in REAL and port.term is not None and port.term.kind == "real" and not exactly(port.term):
            raise NapkinError("an output of whole numbers is stored as float32, and these may be too large for it")


def _derived(query: Asked) -> Kernels:
    """Derive in a process of its own, which is ended when it takes several times as long as its search may."""
    file, wall = query.file, FACTOR * query.seconds + START + (0.0 if query.interpreted else COMPILER)
    paths = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    try:
        done = subprocess.run(
            [sys.executable, "-m", derive_one.__name__],
            input=query.request,
            capture_output=True,
            text=True,
            timeout=wall,
            env={**os.environ, **ALONE, **paths},
            check=False,
        )
    except subprocess.TimeoutExpired:
        if (made := _read(file, query.seconds)) is not None:  # others of it were still made
            return replace(made, fresh=True)
        raise NapkinError(f"{TOOK} {wall:g} s") from None
    made = _read(file, query.seconds)
    if made is None and done.returncode == 2:
        reason = done.stdout.strip().splitlines()[-1:] or ["no reason was given"]
        head = {"schema": SCHEMA, "seconds": query.seconds, "refused": reason[0]}
        written(file.with_suffix(".json"), json.dumps(head))
        raise NapkinError(reason[0])
    if made is None:
        raise NapkinError(
            f"{ENDED} {done.returncode}: {(done.stderr.strip().splitlines() or [''])[-1][:200]}"
        )
    return replace(made, fresh=True)


def diagram_of(program: Program) -> Diagram:
    """Return a program's diagram, outputs of another type than its inputs stored in their own, and one that is
    another's equal not again.
    """
    once = set(same(program).values())
    own = {p.name: _own(p) for p in program.outputs if p.name in once and _own(p) not in ("", program.dtype)}
    whole = program.diagram
    diagram = replace(
        whole,
        outputs=tuple(pair for pair in whole.outputs if pair[0] in once),
        held=tuple(pair for pair in whole.held if pair[0] in once),
        laid=tuple(pair for pair in whole.laid if pair[0] in once),
    )
    return diagram.storing(**own) if own else diagram


def same(program: Program) -> dict[str, str]:
    """Return by name of each output the first one that is the same value, stored in the same type."""
    first: dict[tuple[Any, str], str] = {}
    return {p.name: first.setdefault((p.term, _own(p)), p.name) for p in program.outputs}


def _own(port: Port) -> str:
    """Return the type that an output is stored in where it is not its kind's: whole numbers that a fold gave as
    float32.
    """
    if port.dtype in REAL or port.term is None:
        return port.dtype if port.dtype in REAL else ""
    return (
        "float32"
        if port.term.kind == "real"
        else port.dtype
        if port.dtype in NARROW and port.term.kind == "int"
        else ""
    )


def _key(request: str) -> str:
    return hashed(*versions(), request)


def versions() -> list[str]:
    """Return of what what is remembered holds: of another it is found no more."""
    import torch
    import triton

    from napkin_eq import __version__

    return [str(SCHEMA), __version__, torch.__version__, triton.__version__]


def folder() -> Path:
    """Return where derivations are remembered."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "napkin_eq" / "pytorch"


def keep(file: Path, found: Any) -> None:
    """Remember what was found, as JSON, for the next process; where nothing can be written, nothing is remembered."""
    with suppress(OSError):
        written(file, json.dumps(found))


def _read(file: Path, seconds: float) -> Kernels | None:
    """Return what is remembered in a file if it was given so much time; raises Refusal where that is a refusal."""
    try:
        head = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
        if head["seconds"] is not None and head["seconds"] < seconds:  # none where no limit was met
            return None
        if isinstance(refused := head.get("refused"), str) and head["schema"] == SCHEMA:
            raise Refusal(refused)
        if head["schema"] != SCHEMA:
            return None
        source = _source(file, head["source"])
        inputs = tuple((str(name), str(dtype)) for name, dtype in head["inputs"])
        outputs = tuple((str(name), tuple(map(str, axes))) for name, axes in head["outputs"])
        took = float(head["compiled_s"]), float(head["proved_s"])
        first = Kernels(source, inputs, outputs, int(head["kernels"]), float(head["predicted_us"]), *took, file, False)
        beside = [(at_place(file, at), float(us), told) for at, (us, told) in enumerate(head["others"])]
        others = (replace(first, source=_source(at, told), predicted_us=us, file=at) for at, us, told in beside)
        return replace(first, others=tuple(others))
    except Refusal:
        raise
    except DAMAGED:
        return None


def _source(file: Path, hashed: str) -> str:
    """Return the text of a launcher; raises ValueError where it is not what was written."""
    source = file.read_text(encoding="utf-8")
    if hashed != hashlib.sha256(source.encode()).hexdigest():
        raise ValueError(f"{file.name} is another one")
    return source


def caller(
    program: Program, made: Kernels, shapes: Sequence[tuple[Any, Any]], device: Any, reads: Sequence[Any] = ()
) -> Callable[..., tuple[Any, ...]]:
    """Return a function of the program's tensors, and sizes given beside them, that gives its outputs on a device;
    `shapes`: size and strides of each, which are kept to; `reads`: shapes of what it is given.
    """
    import torch

    module, extents = _loaded(made), program.symbols
    run, program = module.run, flat(program)
    places = {port.name: number for number, port in enumerate(program.inputs)}
    boxed = "TensorDescriptor" in made.source
    takes = [
        (places[name], port.order, tuple(_extent(a, extents) for a in port.axes), getattr(torch, dtype), port.room)
        for name, dtype in made.inputs
        for port in (program.inputs[places[name]],)
    ]
    order = {name: at for at, (name, _) in enumerate(made.outputs)}
    stored_as = same(program)
    slots = [order[stored_as[port.name]] for port in program.outputs]
    gives = [way(port, made.outputs[slot][1], extents) for port, slot in zip(program.outputs, slots, strict=True)]
    # Sizes that no array has are given by name.
    named = getattr(module, "GIVEN", {})
    sizes = (
        tuple(cut for _, _, cut, *_ in takes),
        tuple((shape, final) for shape, _, final, _ in gives),
        tuple(shapes),
        tuple(extents[name] for name in named),
    )
    current = settled(sizes, reads)
    # How dimensions lie, and how they are turned back
    turns = [(port.order, sorted(range(len(port.order)), key=port.order.__getitem__)) for port in program.outputs]
    # Of sizes that are numbers: what the last call did, for others whose arguments are alike
    again: _Again | None = None
    fixed = not extents and not named and len({*slots}) == len(slots) and all(dtype is None for *_, dtype in gives)

    def called(*given: Any) -> tuple[Any, ...]:
        nonlocal again
        if again is not None and (same := again(given)) is not None:
            return same
        cuts, laid_out, kept, free = current(given)
        turned = [given[at].permute(order) if order else given[at] for at, order, *_ in takes]
        arrays = [
            _around(value, room, cut, dtype, boxed) if room else _fitting(value, cut, dtype)
            for value, (*_, dtype, room), cut in zip(turned, takes, cuts, strict=True)
        ]
        own = dict(zip(named.values(), free, strict=True))
        found = run(*arrays, **own) if arrays else run(device=device, **own)
        found = found if isinstance(found, tuple) else (found,)
        results, seen = [], []
        for at, (slot, (_, permuted, _, dtype), (shape, final), (size, stride), (order, back)) in enumerate(
            zip(slots, gives, laid_out, kept, turns, strict=True)
        ):
            value = found[slot].clone() if slot in slots[:at] else found[slot]
            if shape != final or any(at != to for at, to in enumerate(permuted)):
                value = value.reshape(shape).permute(permuted).expand(final)
            if order:
                value = value.reshape([size[place] for place in order]).permute(back)
            value = value if value.shape == size else value.reshape(size)
            if dtype is not None:
                value = (value.round() if value.is_floating_point() else value).to(dtype)
            seen.append(value)
            results.append(strided(value, size, stride))
        if fixed:
            around = tuple((at, math.prod(cut)) for at, _, cut, _, room in takes if room and boxed)
            again = _again(module, [at for at, *_ in takes], around, given, arrays, slots, found, seen, results)
        return tuple(results)

    return called


@dataclass(frozen=True, slots=True)
class _Again:
    """A call's launches, for others with arguments like its own: no view of these is made, nothing is looked up.

    same: tells whether arguments are alike. ways: of each result, the place among what the launches return, the size
    and strides as which it is seen, none where it is so, and those with which it is copied, none where it is not.
    around: of which arguments boxes are taken of the array around them, and how many elements that has.
    """

    same: Any
    call: Callable[..., Any]
    places: tuple[int, ...]
    index: int
    ways: tuple[tuple[int, tuple[Any, Any] | None, tuple[Any, Any] | None], ...]
    around: tuple[tuple[int, int], ...] = ()

    def __call__(self, given: Sequence[Any]) -> tuple[Any, ...] | None:
        """Return the results, None where arguments or the device differ, or one begins where boxes of it cannot."""
        import torch

        if torch.cuda.current_device() != self.index or not self.same.check(*given):
            return None
        arrays = [given[place] for place in self.places]
        if any(array.data_ptr() & 15 for array in arrays):
            return None
        if any(not _owned(given[place], count) for place, count in self.around):
            return None
        found = self.call(*arrays)
        held = found if isinstance(found, tuple) else (found,)
        views = [held[at] if seen is None else held[at].as_strided(*seen) for at, seen, _ in self.ways]
        copies = (copied for *_, copied in self.ways)
        return tuple(v if copied is None else strided(v, *copied) for v, copied in zip(views, copies, strict=True))


def _again(
    module: Any,
    places: Sequence[int],
    around: tuple[tuple[int, int], ...],
    given: Sequence[Any],
    arrays: Sequence[Any],
    slots: Sequence[int],
    found: Sequence[Any],
    views: Sequence[Any],
    results: Sequence[Any],
) -> _Again | None:
    """Return how a call is made again on a GPU, None where arguments were copied: `arrays` are those at `places` as
    they were taken, results those at `slots` of what was found, as they are seen, and as they lie.
    """
    import torch

    if not arrays or not all(isinstance(value, torch.Tensor) and value.is_cuda for value in given):
        return None
    taken = [(given[place], array) for place, array in zip(places, arrays, strict=True)]
    if any(v.dtype != a.dtype or v.data_ptr() != a.data_ptr() or v.is_neg() for v, a in taken):
        return None
    seen = [(found[slot], view) for slot, view in zip(slots, views, strict=True)]
    if any(v.dtype != r.dtype or v.data_ptr() != r.data_ptr() for v, r in seen):
        return None
    (same, call), index = module.LAST, given[0].device.index
    # What the launcher knows of its own arrays it knows of these, which are the same bytes
    if same is None or (same := module.alike(*given)) is None or index is None:
        return None
    ways = []
    for slot, view, result in zip(slots, views, results, strict=True):
        made, shown, lying = ((tuple(value.shape), tuple(value.stride())) for value in (found[slot], view, result))
        copied = None if view.data_ptr() == result.data_ptr() else lying
        ways.append((slot, None if shown == made else shown, copied))
    return _Again(same, call, tuple(places), index, tuple(ways), around)


def _fitting(tensor: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Return a tensor as kernels take it: most are so, and what is called for nothing takes the host longer."""
    found = laid(tensor) if tensor.dtype.is_complex else tensor
    found = found if found.shape == shape else found.reshape(shape)
    found = found if found.dtype is dtype else found.to(dtype)
    return found if found.is_contiguous() else found.contiguous()


def _around(tensor: Any, room: tuple[int, ...], shape: tuple[int, ...], dtype: Any, boxed: bool) -> Any:
    """Return the array around a tensor with gaps, of the shape that kernels take: a new one, with a copy of the tensor,
    where it lies otherwise, or where they take boxes and there may be no such array. `room` is as of Port.
    """
    import torch

    tensor = tensor.resolve_neg()
    steps, step = [0] * len(room), 1
    for at in range(len(room) - 1, -1, -1):
        if room[at]:
            steps[at], step = step, step * room[at]
    alike = all(size == 1 or has == step for size, has, step in zip(tensor.shape, tensor.stride(), steps, strict=True))
    if alike and tensor.dtype is dtype and ((tensor.is_cuda and not boxed) or _owned(tensor, step)):
        strides = [math.prod(shape[at + 1 :]) for at in range(len(shape))]
        return torch._C._dynamo.guards._reinterpret_tensor(tensor, shape, strides, 0)
    whole = torch.empty(shape, dtype=dtype, device=tensor.device)
    once = tensor[tuple(slice(None) if places else slice(0, 1) for places in room)]
    whole.as_strided(once.shape, steps).copy_(once)
    return whole


def _owned(tensor: Any, count: int) -> bool:
    """Tell whether so many elements from a tensor's first one on are memory that PyTorch has for it, of a GPU whole
    blocks.
    """
    end = (tensor.storage_offset() + count) * tensor.element_size()
    held = tensor.untyped_storage().nbytes()
    return bool(end <= (-(-held // BLOCK) * BLOCK if tensor.is_cuda else held))


def turned_bytes(program: Program, made: Kernels) -> int:
    """Return the bytes of those results that kernels store in another order than they must lie in, which are copied."""
    program = flat(program)
    order = {name: axes for name, axes in made.outputs}
    stored_as, total = same(program), 0
    for port in program.outputs:
        long = {a.name: a.size for a in port.axes if a.size != 1}
        lying = [name for name in order[stored_as[port.name]] if name in long]
        kept = [axis.name for axis in port.axes if axis.name in long]
        if lying != kept and all(long.values()):
            total += math.prod(size or 1 for size in long.values()) * _bytes(port)
    return total


def apart_bytes(
    program: Program,
    made: Kernels,
    reads: Sequence[tuple[Sequence[Any], Sequence[Any]]],
    gives: Sequence[tuple[Sequence[Any], Sequence[Any]]],
) -> int:
    """Return the bytes of those tensors that kernels read and that do not lie side by side, nor in an array that they
    read parts of, and of results that must lie otherwise than side by side: these are copied. `reads`, `gives`: sizes
    and strides of each.
    """
    taken = {name for name, _ in made.inputs}
    held = [(port, lies) for port, lies in zip(program.inputs, reads, strict=True) if port.name in taken]
    apart = [(port, [[*map(about, numbers)] for numbers in lies]) for port, lies in held if not port.room]
    for port, lies in zip(program.outputs, gives, strict=True):
        sizes, steps = ([*map(about, numbers)] for numbers in lies)
        once = [at for at, step in enumerate(steps) if step]  # along the others all elements are one
        apart.append((port, [[numbers[at] for at in once] for numbers in (sizes, steps)]))
    return sum(math.prod(sizes) * _bytes(port) for port, (sizes, steps) in apart if not packed(sizes, steps))


def _bytes(port: Port) -> int:
    return BY_NAME[port.dtype].bytes if port.dtype in REAL else 4


def strided(value: Any, size: Sequence[int], stride: Sequence[int]) -> Any:
    """Return a tensor with these strides, copied if it has others; along a stride of 0 all elements are one."""
    import torch

    if value.stride() == tuple(stride) or value.numel() <= 1:
        return value
    repeated = [step == 0 and length > 1 for step, length in zip(stride, size, strict=True)]
    once = value[tuple(slice(0, 1) if again else slice(None) for again in repeated)]
    out = torch.empty_strided(once.shape, stride, dtype=value.dtype, device=value.device).copy_(once)
    return out.expand(size)


def _extent(axis: Axis, extents: Mapping[str, Any]) -> Any:
    return extents[axis.name] if axis.size is None else axis.size


def way(port: Port, order: Sequence[str], extents: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
    """Return how an array whose axes come in some order becomes an output: its shape, the order of axes, sizes with
    all, and the type.
    """
    import torch

    sizes = {axis.name: _extent(axis, extents) for axis in port.axes}
    missing = [axis.name for axis in port.axes if axis.name not in order]
    shape = (*(sizes[name] for name in order), *([1] * len(missing)))
    names = [*order, *missing]
    permuted = [names.index(axis.name) for axis in port.axes]
    return (
        shape,
        permuted,
        tuple(sizes[axis.name] for axis in port.axes),
        None if port.dtype in REAL else getattr(torch, port.dtype),
    )


def _loaded(made: Kernels) -> Any:
    spec = importlib.util.spec_from_file_location(f"napkin_eq_{made.file.stem}", made.file)
    if spec is None or spec.loader is None:
        raise NapkinError(f"kernels in {made.file.name} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
