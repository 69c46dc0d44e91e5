"""A diagram made smaller while something stays true of it: what the fuzzer shows of a diagram that it found.

It works on the diagram, not on how it was drawn: an output gives way to a part of itself, a part to an input, to a
number or to a part of its own, an axis becomes short. So a diagram that somebody wrote is made smaller just as well as
a drawn one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Const, Input, Map, Reduce, Term, rewritten, subterms

PLAIN = {"real": "float", "int": "int32", "bool": "bool"}
NUMBERS: dict[str, tuple[Term, ...]] = {
    "real": (Const(1.0), Const(0.0)), "int": (Const(1), Const(0)), "bool": (Const(True), Const(False)),
}  # fmt: skip
SHORT = (1, 2, 3, 4, 8, 16, 17)


def shrunk(diagram: Diagram, holds: Callable[[Diagram], bool]) -> Diagram:
    """Return a smaller diagram of which `holds` is true, as it is of the first; it is asked of each one tried.

    `holds` may raise to end the search: what it raises goes through.
    """
    found = True
    while found:
        found = False
        for smaller in _smaller(diagram):
            if size(smaller) < size(diagram) and holds(smaller):
                diagram, found = smaller, True
                break
    return diagram


def size(diagram: Diagram) -> tuple[int, int, int]:
    """Return what makes a diagram small: few nodes, plain inputs and no subtle constants, short axes."""
    nodes = subterms(*(term for _, term in diagram.outputs))
    subtle = sum(isinstance(t, Input) and bool(t.facts or t.dtype not in PLAIN.values()) for t in nodes)
    subtle += sum(isinstance(t, Const) and t not in NUMBERS[t.kind] for t in nodes)
    return len(nodes) + len(diagram.outputs), subtle, sum(axis.size or 1000 for axis in diagram.axes())


def _smaller(diagram: Diagram) -> Iterator[Diagram]:
    """Yield diagrams that one change makes smaller, those that gain most first."""
    nodes = subterms(*(term for _, term in diagram.outputs))
    if len(diagram.outputs) > 1:
        for output in diagram.outputs:
            yield replace(diagram, outputs=(output,))
            yield replace(diagram, outputs=tuple(o for o in diagram.outputs if o != output))
    last = [t for t in nodes if t.kind != "tuple" and t.children]
    for part in last:
        yield replace(diagram, outputs=((diagram.outputs[0][0], part),))
    for part in reversed(nodes):
        for other in _instead(part, len(nodes)):
            yield from _replaced(diagram, part, other)
    for axis in diagram.axes():
        for short in SHORT:
            if axis.size is None or short < axis.size:
                yield from _resized(diagram, axis.name, short)


def _instead(part: Term, number: int) -> Iterator[Term]:
    """Yield what may stand in place of a part, simplest first."""
    if isinstance(part, Input):
        yield Input(part.name, part.dims, PLAIN[part.kind])
    if part.kind in NUMBERS:
        yield from (n for n in NUMBERS[part.kind] if n is not part)
    if part.children:
        yield Input(f"R{number}", part.axes, PLAIN[part.kind])
    if isinstance(part, Reduce) and part.where.fields != (True,):
        yield Reduce(part.monoid, part.axis, part.body)
    for child in subterms(part)[-2::-1]:
        if child.kind == part.kind and not isinstance(child, Const):
            yield child
        elif child.kind == "int" and part.kind == "real":
            yield Map("real", (child,))


def _replaced(diagram: Diagram, part: Term, other: Term) -> Iterator[Diagram]:
    try:
        outputs = tuple((name, rewritten(term, lambda t: other if t is part else t)) for name, term in diagram.outputs)
        yield replace(diagram, outputs=outputs)
    except NapkinError:
        return


def _resized(diagram: Diagram, name: str, short: int) -> Iterator[Diagram]:
    try:
        yield diagram.with_sizes({name: short})
    except NapkinError:
        return
