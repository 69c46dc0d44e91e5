"""A program with fewer axes: those that always stand together are one, so that its kernels see longer rows and fewer
folds.
"""

from __future__ import annotations

from dataclasses import replace

from napkin_eq.frontend.join import joined
from napkin_eq.pytorch.program import Port, Program, lying


def flat(program: Program) -> Program:
    """Return a program over joined axes, for its kernels: its ports are arrays of the same elements in the same order,
    of other shapes.
    """
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
