"""A program as its kernels see it: its arrays as they lie in memory, and with fewer axes: those that always stand
together are one, so that rows are longer and folds fewer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from napkin_eq.frontend.join import joined
from napkin_eq.lang.term import Input, Term, rewritten
from napkin_eq.pytorch.program import Port, Program, lying


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
    program: Program, reads: Sequence[tuple[Sequence[int], Sequence[int]]], gives: Sequence[tuple[Sequence[int], ...]]
) -> Program:
    """Return a program that is told how its tensors lie: the sizes and strides of those that it reads and gives."""

    def told(port: Port, lies: tuple[Sequence[int], ...]) -> Port:
        sizes, strides = lies
        return replace(port, order=order_of(sizes, strides) if len(sizes) == len(port.dims) else ())

    inputs = (told(port, lies) for port, lies in zip(program.inputs, reads, strict=True))
    outputs = (told(port, lies) for port, lies in zip(program.outputs, gives, strict=True))
    return replace(program, inputs=tuple(inputs), outputs=tuple(outputs))


def order_of(sizes: Sequence[int], strides: Sequence[int]) -> tuple[int, ...]:
    """Return the order in which the dimensions of a tensor lie in memory, nothing where it is theirs or some of its
    elements are one. A dimension of size 1 lies anywhere, and stays in its place.
    """
    long = [at for at, size in enumerate(sizes) if size != 1]
    if any(strides[at] <= 0 for at in long):
        return ()
    found = list(range(len(sizes)))
    for at, place in zip(long, sorted(long, key=lambda at: -strides[at]), strict=True):
        found[at] = place
    return tuple(found) if found != sorted(found) else ()


def packed(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Tell whether the elements of a tensor lie side by side, in whatever order, each once."""
    run = 1
    for stride, size in sorted((stride, size) for stride, size in zip(strides, sizes, strict=True) if size != 1):
        if stride != run:
            return False
        run *= size
    return True


def _turned(program: Program) -> Program:
    """Return a program whose ports have their dimensions in the order in which they lie in memory."""
    if not any(port.order for port in (*program.inputs, *program.outputs)):
        return program

    def turned(port: Port) -> Port:
        return replace(port, dims=tuple(port.dims[at] for at in port.order)) if port.order else port

    places = {
        port.name: [port.axes.index(axis) for axis in turned(port).axes] for port in program.inputs if port.order
    }

    def change(term: Term) -> Term:
        if not isinstance(term, Input) or term.name not in places:
            return term
        return Input(term.name, tuple(term.dims[at] for at in places[term.name]), term.dtype, term.facts)

    terms = {name: rewritten(term, change) for name, term in program.diagram.outputs}
    inputs = tuple(map(turned, program.inputs))
    outputs = tuple(replace(turned(port), term=terms.get(port.name, port.term)) for port in program.outputs)
    diagram = replace(program.diagram, outputs=tuple(terms.items()), laid=())
    diagram = lying(diagram, {port.name: port.axes for port in outputs})
    return replace(program, diagram=diagram, inputs=inputs, outputs=outputs)
