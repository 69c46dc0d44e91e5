"""A diagram: named outputs, each a term, over the inputs that they share."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from napkin_eq.axis import Axis
from napkin_eq.errors import NapkinError, checked_name
from napkin_eq.evaluate import axes_in
from napkin_eq.term import Input, Term, Tuple, subterms


@dataclass(frozen=True, slots=True)
class Diagram:
    """What is to be computed: `outputs` are pairs of a name and a term; `doc` is one sentence."""

    name: str
    outputs: tuple[tuple[str, Term], ...]
    doc: str = ""

    def __post_init__(self) -> None:
        checked_name(self.name, "diagram")
        if not self.outputs:
            raise NapkinError(f"diagram {self.name} has no output")
        taken = {node.name for node in self.inputs()}
        for name, term in self.outputs:
            checked_name(name, "output")
            if term.kind == "tuple":
                raise NapkinError(f"diagram {self.name}: output {name} is a tuple; give each of its items a name")
            if name in taken:
                raise NapkinError(f"diagram {self.name}: {name} names two arrays; an output needs a name of its own")
            taken.add(name)

    @property
    def term(self) -> Term:
        """The diagram as one term: its output, or a Tuple of several."""
        terms = tuple(term for _, term in self.outputs)
        return terms[0] if len(terms) == 1 else Tuple(terms)

    def inputs(self) -> tuple[Input, ...]:
        """Return the arrays that the diagram reads, in order of first appearance."""
        found: dict[str, Input] = {}
        for node in subterms(*(term for _, term in self.outputs)):
            if isinstance(node, Input) and found.setdefault(node.name, node) is not node:
                raise NapkinError(f"input {node.name} is declared twice, differently: {found[node.name]!r} and {node!r}; rename(A, {{x: y}}) reads it along y")
        return tuple(found.values())

    def axes(self) -> tuple[Axis, ...]:
        """Return every axis, bound ones too, in order of first appearance."""
        return axes_in(self.term)

    def _repr_svg_(self) -> str:
        from napkin_eq.draw import svg

        return svg(self)

    def with_sizes(self, sizes: Mapping[str, int | None]) -> Diagram:
        """Return the diagram with other axis sizes (None: symbolic), everything else as it is; constants stay what they are.

        Axes that `rename`, `split` and `merge` tie to one of these change along; raises NapkinError for sizes that do not fit together.
        """
        known = {axis.name for axis in self.axes()}
        if unknown := sorted(set(sizes) - known):
            raise NapkinError(f"diagram {self.name} has no axis {unknown[0]!r:.80}; its axes are {', '.join(sorted(known))}")
        fitting = self.fitted(sizes, set(sizes))
        return replace(self, outputs=tuple((name, resized(term, fitting)) for name, term in self.outputs))

    def fitted(self, sizes: Mapping[str, int | None], given: Collection[str]) -> dict[str, int | None]:
        """Return sizes with those of tied axes changed along, but for what is given; see spans.py."""
        from napkin_eq.spans import fitted

        try:
            return fitted(self.term, sizes, given)
        except NapkinError as reason:
            raise NapkinError(f"diagram {self.name}: {reason}") from None


def resized(root: Term, sizes: Mapping[str, int | None]) -> Term:
    """Return the term with every axis that has a name in `sizes` given that size."""

    def changed(item: Any) -> Any:
        if isinstance(item, Axis) and item.name in sizes:
            return Axis(item.name, sizes[item.name])
        if isinstance(item, tuple):
            return tuple(map(changed, item))
        return done[item] if isinstance(item, Term) else item

    done: dict[Term, Term] = {}
    for node in subterms(root):
        done[node] = type(node)(*map(changed, node.fields))
    return done[root]
