"""The picture of a law: both sides, and what of each is not in the other marked.

A pattern variable is drawn as an array over the axes that the law speaks of, but for those of which it is free; one
that has none of them is a dotted wire, for whatever axes it may have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from napkin_eq.draw.circuit import Building, Circuit, Node
from napkin_eq.draw.layout import picture
from napkin_eq.draw.picture import Picture, Run
from napkin_eq.draw.read import Reader, output
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.evaluate import axes_in
from napkin_eq.lang.term import (
    Fold,
    Group,
    Index,
    Input,
    Online,
    Pattern,
    Read,
    Reduce,
    Scan,
    Term,
    Walk,
    _make,
    rewritten,
    subterms,
)
from napkin_eq.laws.law import Law

GAP, BELOW = 26.0, 20.0
Axes = tuple[Axis, ...]


class Partition(Term):
    """A Group or Walk that is drawn, while elsewhere it is a note on the wires: `Partition(part, axis, body)`."""

    names = ("part", "axis", "body")
    __slots__ = ()

    def __new__(cls, part: str, axis: Axis, body: Term) -> Partition:
        return _make(cls, (part, axis, body), body.axes, body.kind, (body,))

    def __str__(self) -> str:
        return str((Group if self.part == "g" else Walk)(self.axis, self.body))


def law_picture(law: Law) -> Picture:
    """Return the picture of a law, its conditions below."""
    left, right = (rewritten(side, _shown) for side in (law.lhs, law.rhs))
    axes = dict.fromkeys(axis for side in (law.lhs, law.rhs) for axis in axes_in(side))
    free = {(j.args[1], j.args[0]) for j in law.conditions if j.name == "free"}
    spans: dict[Term, Axes] = {
        v: tuple(a for a in axes if (v, a) not in free)
        for side in (left, right)
        for v in subterms(side)
        if isinstance(v, Pattern)
    }
    sides = [picture(_side(one, other, spans)) for one, other in ((left, right), (right, left))]
    sign = "=" if law.both else "→"
    made = Picture(law.name, law.reading)
    height = max(side.height for side in sides)
    x = 0.0
    for number, side in enumerate(sides):
        made.placed(side, x, (height - side.height) / 2)
        x += side.width
        if not number:
            made.label([Run(sign, "title")], x + GAP / 2, height / 2 - 9, anchor="middle", role="sign")
            x += GAP
    if law.conditions:
        runs = [Run("if " + ", ".join(map(str, law.conditions)), "note")]
        made.label(runs, x / 2, height - 8, anchor="middle", role="note", most=max(x, 420.0))
        height += BELOW
    over = max(0.0, *(label.width + 16 - x for label in made.labels)) if made.labels else 0.0
    whole = Picture(made.title, made.description, x + over, height)
    whole.placed(made, over / 2, 0)
    return whole


def _shown(term: Term) -> Term:
    if isinstance(term, (Group, Walk)):
        return Partition("g" if isinstance(term, Group) else "s", term.axis, term.body)
    return term


def _side(side: Term, other: Term, variables: Mapping[Term, Axes]) -> Circuit:
    """Return the circuit of one side, what is not in the other marked as changed."""
    spans: dict[Term, Axes] = {}

    def span(term: Term) -> Axes:
        if term not in spans:
            spans[term] = _span(term, variables, span)
        return spans[term]

    shared = set(subterms(other))
    built = Building()
    reader = Reader(built, [side], spans=span, whole=True, streams=True)
    place = reader.visit(side)
    nodes = [_marked(node, shared) for node in built.nodes]
    return Circuit((*nodes, output("", place, nodes[place])), costs=False)


def _marked(node: Node, shared: set[Term]) -> Node:
    if isinstance(node.term, Partition):
        strands = tuple(
            replace(s, part=node.term.part, tile=None) if s.axis == node.term.axis else s for s in node.strands
        )
        letter = {"g": "group", "s": "walk"}[node.term.part]
        node = replace(node, strands=strands, caption=f"{letter} {node.term.axis}")
    return replace(node, changed=node.kind != "input" and node.term is not None and node.term not in shared)


def _span(term: Term, variables: Mapping[Term, Axes], span: Callable[[Term], Axes]) -> Axes:
    """Return the axes that a side's part varies along, as far as the law says."""
    if isinstance(term, Pattern):
        return variables[term]
    if isinstance(term, Input):
        return term.axes
    below = tuple(dict.fromkeys(axis for child in term.children for axis in span(child)))
    if isinstance(term, (Reduce, Fold, Online)):
        return tuple(axis for axis in below if axis != term.axis)
    if isinstance(term, Read):
        return tuple(dict.fromkeys((*(axis for axis in span(term.body) if axis != term.axis), *span(term.index))))
    own = (term.axis,) if isinstance(term, (Index, Scan)) else ()
    return tuple(dict.fromkeys((*below, *own)))
