"""A diagram: named outputs, each a term, over the inputs that they share."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from napkin_eq.lang import spans
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.dtypes import BY_NAME
from napkin_eq.lang.errors import NapkinError, checked_name
from napkin_eq.lang.evaluate import axes_in, output_order
from napkin_eq.lang.term import Input, Term, Tuple, required, subterms

# Of one value: arrays of NumPy and of PyTorch have 64, one of NumPy's here for several draws and one for programs
MOST_AXES = 62

_drawers: list[Callable[[Any], str]] = []


class Pictured:
    """What a notebook shows as a picture, once the package has said how one is drawn."""

    __slots__ = ()

    def _repr_svg_(self) -> str | None:
        return _drawers[-1](self) if _drawers else None


def draw_with(drawer: Callable[[Any], str]) -> None:
    """Let notebooks show diagrams and derivations as the SVG that a function makes of them."""
    _drawers[:] = [drawer]


@dataclass(frozen=True, slots=True)
class Diagram(Pictured):
    """What is to be computed: `outputs` are pairs of a name and a term; `doc` is one sentence.

    held: pairs of an output and the type of numbers in which it is stored; of the others real numbers are of the
    storage type that a derivation is asked for, whole ones int32, masks bool. laid: pairs of an output and the names of
    its axes in the order in which it lies in memory, the last side by side; where none is given, a plan chooses.
    unread: arrays and values that were declared beside it and that no output reads: they are no part of it.
    """

    name: str
    outputs: tuple[tuple[str, Term], ...]
    doc: str = ""
    held: tuple[tuple[str, str], ...] = ()
    laid: tuple[tuple[str, tuple[str, ...]], ...] = ()
    unread: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        checked_name(self.name, "diagram")
        where = f"diagram {self.name}"
        try:  # whatever the pairs and what holds them are, such as the items of a dict
            object.__setattr__(self, "outputs", tuple((name, term) for name, term in self.outputs))
        except (TypeError, ValueError):
            pairs = "pairs of a name and a term, such as ((\"out\", term),)"
            raise NapkinError(f"{where}: its outputs are {pairs}") from None
        if not self.outputs:
            raise NapkinError(f"{where} has no output")
        for name, term in self.outputs:
            required(term, f"{where}: output {name!s:.60}")
            widest = max(subterms(term), key=lambda part: len(part.axes))
            if len(widest.axes) > MOST_AXES:
                read = f"array {widest.name}" if isinstance(widest, Input) else f"a value of output {name!s:.60}"
                raise NapkinError(f"{where}: {read} has {len(widest.axes)} axes, at most {MOST_AXES} are understood")
        taken = {node.name for node in self.inputs()}
        for name, term in self.outputs:
            checked_name(name, "output")
            if term.kind == "tuple":
                raise NapkinError(f"diagram {self.name}: output {name} is a tuple; give each of its items a name")
            if name in taken:
                raise NapkinError(f"diagram {self.name}: {name} names two arrays; an output needs a name of its own")
            taken.add(name)

        for name, term in self.outputs:
            if (held := dict(self.held).get(name)) is not None and (
                held not in BY_NAME or BY_NAME[held].kind != term.kind
            ):
                fitting = ", ".join(t.name for t in BY_NAME.values() if t.kind == term.kind)
                raise NapkinError(
                    f"diagram {self.name}: output {name} holds {term.kind} values, not {held!r:.60}; one of {fitting}"
                )

    def storing(self, /, **types: str) -> Diagram:
        """Return the diagram with some outputs stored in types of their own, such as `storing(place="int64")`."""
        if unknown := sorted(set(types) - {name for name, _ in self.outputs}):
            outputs = ", ".join(name for name, _ in self.outputs)
            raise NapkinError(f"diagram {self.name} has no output {unknown[0]!r:.80}; its outputs are {outputs}")
        return replace(self, held=tuple({**dict(self.held), **types}.items()))

    def laying(self, /, **orders: Sequence[str]) -> Diagram:
        """Return the diagram with some outputs stored along their axes in an order of their own, such as
        `laying(out=("m", "n"))`, in which the last lie side by side.
        """
        for name, order in orders.items():
            found = next((term for own, term in self.outputs if own == name), None)
            if found is None:
                outputs = ", ".join(own for own, _ in self.outputs)
                raise NapkinError(f"diagram {self.name} has no output {name!r:.80}; its outputs are {outputs}")
            own = sorted(axis.name for axis in found.axes)
            if sorted(order) != own:
                raise NapkinError(
                    f"diagram {self.name}: output {name} has the axes {', '.join(own) or '(none)'}, found the order"
                    f" {', '.join(map(str, order)) or '(none)':.120}"
                )
        laid = {**dict(self.laid), **{name: tuple(order) for name, order in orders.items()}}
        return replace(self, laid=tuple(laid.items()))

    def layouts(self) -> dict[str, tuple[str, ...]]:
        """Return the names of each output's axes as it lies in memory: as `laying` says, or by `output_order`."""
        return {name: tuple(a.name for a in output_order(term)) for name, term in self.outputs} | dict(self.laid)

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
                raise NapkinError(
                    f"input {node.name} is declared twice, differently: {found[node.name]!r} and {node!r}; rename(A,"
                    " {x: y}) reads it along y"
                )
        return tuple(found.values())

    def axes(self) -> tuple[Axis, ...]:
        """Return every axis, bound ones too, in order of first appearance."""
        return axes_in(self.term)

    def with_sizes(self, sizes: Mapping[str, int | None]) -> Diagram:
        """Return the diagram with other axis sizes (None: symbolic), everything else as it is; constants stay what they
        are.

        Axes that `rename`, `split` and `merge` tie to one of these change along; raises NapkinError for sizes that do
        not fit together.
        """
        known = {axis.name for axis in self.axes()}
        if unknown := sorted(set(sizes) - known):
            raise NapkinError(
                f"diagram {self.name} has no axis {unknown[0]!r:.80}; its axes are {', '.join(sorted(known))}"
            )
        fitting = self.fitted(sizes, set(sizes))
        return replace(self, outputs=tuple((name, spans.resized(term, fitting)) for name, term in self.outputs))

    def with_multiples(self, multiples: Mapping[str, int]) -> Diagram:
        """Return the diagram with axes of no known size declared to be multiples of numbers, by name."""
        found = {
            a.name: Axis(a.name, None, math.lcm(a.multiple, multiples[a.name]))
            for a in self.axes()
            if a.size is None and a.name in multiples
        }
        if unknown := sorted(set(multiples) - set(found)):
            raise NapkinError(f"diagram {self.name} has no axis {unknown[0]!r:.80} whose size is not known")
        return replace(self, outputs=tuple((name, spans.renewed(term, found)) for name, term in self.outputs))

    def fitted(self, sizes: Mapping[str, int | None], given: Collection[str]) -> dict[str, int | None]:
        """Return sizes with those of tied axes changed along, but for what is given; see spans.py."""
        try:
            return spans.fitted(self.term, sizes, given)
        except NapkinError as reason:
            raise NapkinError(f"diagram {self.name}: {reason}") from None
