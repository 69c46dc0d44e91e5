"""A program as its kernels see it: its arrays as they lie in memory, and with fewer axes: those that always stand
together are one, so that rows are longer and folds fewer.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from napkin_eq.frontend.join import joined
from napkin_eq.lang.axis import Axis, named_anew
from napkin_eq.lang.substitute import substituted
from napkin_eq.lang.term import Const, Index, Input, Read, Term, axis_names, rebuilt, subterms
from napkin_eq.pytorch.build.extents import about
from napkin_eq.pytorch.build.wires import Dim
from napkin_eq.pytorch.program import REAL, Port, Program, lying

Place = tuple[Axis, Term]  # an axis of an array, and the place along it
ROOMY = (*REAL[1:], "int32", "int64")  # types of arrays that are read where they are


def flat(program: Program) -> Program:
    """Return a program over joined axes, for its kernels: its ports are arrays of the same elements in the order in
    which these lie in memory, of other shapes.
    """
    program = _turned(program)
    named = program.diagram.outputs
    found = joined([term for _, term in named], [port.axes for port in program.outputs])
    if not found.parts:
        return program
    made = {name: term for (name, _), term in zip(named, found.terms, strict=True)}
    read = {node.name for node in program.diagram.inputs()}

    def ported(port: Port) -> Port:
        if port.term is None and port.name not in read:
            return port
        return replace(port, dims=tuple((axis,) for axis in found.order(port.axes)), term=made.get(port.name))

    outputs = tuple(map(ported, program.outputs))
    diagram = replace(program.diagram, outputs=tuple(made.items()), laid=())
    diagram = lying(diagram, {port.name: port.axes for port in outputs})
    return replace(program, diagram=diagram, inputs=tuple(map(ported, program.inputs)), outputs=outputs)


def in_memory(
    program: Program, reads: Sequence[tuple[Sequence[Any], ...]], gives: Sequence[tuple[Sequence[Any], ...]]
) -> Program:
    """Return a program that is told how its tensors lie: the sizes and strides of those that it reads and gives, of
    which some may be symbols of PyTorch.
    """

    def told(port: Port, lies: tuple[Sequence[Any], ...], read: bool) -> Port:
        sizes, strides = ([*map(about, numbers)] for numbers in lies)
        if len(sizes) != len(port.dims):
            return port
        order = order_of(sizes, strides)
        fixed = read and port.dtype in ROOMY and all(type(number) is int for numbers in lies for number in numbers)
        turned = order or range(len(sizes))
        room = room_of([sizes[at] for at in turned], [strides[at] for at in turned]) if fixed else ()
        return replace(port, order=order, room=room)

    inputs = tuple(told(port, lies, True) for port, lies in zip(program.inputs, reads, strict=True))
    outputs = tuple(told(port, lies, False) for port, lies in zip(program.outputs, gives, strict=True))
    return replace(program, inputs=inputs, outputs=outputs)


def order_of(sizes: Sequence[int], strides: Sequence[int]) -> tuple[int, ...]:
    """Return the order in which the dimensions of a tensor lie in memory, nothing where it is theirs. A dimension of
    size 1, or all of whose elements are one, lies anywhere, and stays in its place.
    """
    long = [at for at, size in enumerate(sizes) if size != 1 and strides[at]]
    found = list(range(len(sizes)))
    for at, place in zip(long, sorted(long, key=lambda at: -strides[at]), strict=True):
        found[at] = place
    return tuple(found) if found != sorted(found) else ()


def room_of(sizes: Sequence[int], strides: Sequence[int]) -> tuple[int, ...]:
    """Return of a tensor with gaps, whose dimensions stand as they lie in memory, how many places there are for each in
    the array that it is a part of: 0 where all are one. Nothing where there is no gap, or no such array.
    """
    if packed(sizes, strides):
        return ()
    found = [size if step or size == 1 else 0 for size, step in zip(sizes, strides, strict=True)]
    long = [at for at, size in enumerate(sizes) if size != 1 and strides[at]]
    if long and strides[long[-1]] != 1:
        return ()
    for outer, inner in itertools.pairwise(long):
        found[inner], rest = divmod(strides[outer], strides[inner])
        if rest or found[inner] < sizes[inner]:
            return ()
    return tuple(found)


def packed(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Tell whether the elements of a tensor lie side by side, in whatever order, each once."""
    run = 1
    for stride, size in sorted((stride, size) for stride, size in zip(strides, sizes, strict=True) if size != 1):
        if stride != run:
            return False
        run *= size
    return True


def _turned(program: Program) -> Program:
    """Return a program whose ports have their dimensions in the order in which they lie in memory, and which reads
    those that have gaps as parts of arrays without.
    """
    if not any(port.order or port.room for port in (*program.inputs, *program.outputs)):
        return program
    taken = axis_names(*(term for _, term in program.diagram.outputs))
    taken |= {axis.name for port in (*program.inputs, *program.outputs) for axis in port.axes}

    def turned(port: Port) -> Port:
        return replace(port, dims=tuple(port.dims[at] for at in port.order)) if port.order else port

    places: dict[str, list[Place]] = {}
    inputs = []
    for port in program.inputs:
        own = turned(port)
        if port.order or port.room:
            rooms = port.room or [None] * len(own.dims)
            parts = [_places(dim, room, taken) for dim, room in zip(own.dims, rooms, strict=True)]
            own = replace(own, dims=tuple(tuple(axis for axis, _ in part) for part in parts))
            places[port.name] = [place for part in parts for place in part]
        inputs.append(own)
    read = set[Term]()  # what is read of an array that has more room
    done: dict[Term, Term] = {}
    for term in subterms(*(term for _, term in program.diagram.outputs)):
        if isinstance(term, Input) and term.name in places:
            made: Term = Input(term.name, tuple(axis for axis, _ in places[term.name]), term.dtype, term.facts)
            for axis, index in places[term.name]:
                if index is not Index(axis):
                    made = Read(made, axis, index)
                    read.add(made)
        elif isinstance(term, Read) and term.axis not in done[term.body].axes:
            made = done[term.body]  # everywhere along it the value is one
        else:
            made = rebuilt(term, tuple(done[child] for child in term.children))
            if isinstance(made, Read) and made.body in read:
                made = substituted(made.body, {made.axis.name: made.index}, clamps=True)
                read.add(made)
        done[term] = made
    terms = {name: done[term] for name, term in program.diagram.outputs}
    outputs = tuple(replace(turned(port), term=terms.get(port.name, port.term)) for port in program.outputs)
    diagram = replace(program.diagram, outputs=tuple(terms.items()), laid=())
    diagram = lying(diagram, {port.name: port.axes for port in outputs})
    return replace(program, diagram=diagram, inputs=tuple(inputs), outputs=outputs)


def _places(dim: Dim, room: int | None, taken: set[str]) -> list[Place]:
    """Return the axes of the array in which a dimension lies, and where along each of them it is."""
    size = math.prod(axis.size or 1 for axis in dim)
    if room is None or room == size:
        return [(axis, Index(axis)) for axis in dim]
    if not room:
        return []
    first, *others = dim
    inner = size // (first.size or 1)
    if room % inner == 0:
        whole = Axis(named_anew(f"{first.name}_room", taken), room // inner)
        return [(whole, Index(first)), *((axis, Index(axis)) for axis in others)]
    at: Term = Const(0)
    for axis in dim:
        at = at * Const(axis.size or 1) + Index(axis)
    return [(Axis(named_anew(f"{first.name}_room", taken), room), at)]
