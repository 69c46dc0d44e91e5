"""A program with fewer axes: those that always stand together are one, so that its kernels see longer rows and fewer folds."""

from __future__ import annotations

from dataclasses import replace

from napkin_eq.frontend.join import joined
from napkin_eq.pytorch.program import Port, Program


def flat(program: Program) -> Program:
    """Return a program over joined axes, for its kernels: its ports are arrays of the same elements in the same order, of other shapes."""
    outputs = [port for port in program.outputs if port.term is not None]
    names = [name for name, _ in program.diagram.outputs]
    terms = [term for _, term in program.diagram.outputs]
    found = joined([*terms, *(port.term for port in outputs if port.term is not None)], [port.axes for port in outputs])
    if not found.parts:
        return program
    made = dict(zip(names, found.terms[: len(names)], strict=True))
    read = {node.name for node in program.diagram.inputs()}

    def ported(port: Port) -> Port:
        if port.term is None and port.name not in read:
            return port
        return replace(port, dims=tuple((axis,) for axis in found.order(port.axes)), term=made.get(port.name, port.term))

    diagram = replace(program.diagram, outputs=tuple(made.items()))
    return replace(program, diagram=diagram, inputs=tuple(map(ported, program.inputs)), outputs=tuple(map(ported, program.outputs)))
