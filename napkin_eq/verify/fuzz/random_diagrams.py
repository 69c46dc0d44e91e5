"""Random diagrams, well-typed, over the whole alphabet of terms: what the fuzzer tries and what a benchmark may take at
real sizes.

A diagram grows from its axes and inputs, one step after another: an operator, a fold, a read, over terms that are there
already. Every choice is one call of `draw(n)`, a whole number from 0 to below n, so that any source of numbers will do:
a `random.Random`'s `randrange`, or a shrinking one. Smaller numbers make simpler diagrams.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from napkin_eq.frontend import library
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import axes_in
from napkin_eq.lang.operators import MONOIDS, OPS
from napkin_eq.lang.term import Const, Index, Input, Length, Map, Recur, Reduce, Scan, Size, Term, subterms

T = TypeVar("T")
Draw = Callable[[int], int]

LENGTHS = (1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 48, 64, 65, 70)
NUMBERS = (1.0, 0.0, 2.0, 0.5, -1.0, -0.0, 0.25, 3.0, 1e-3, 1e4, -1e4, -math.inf)
WHOLES = (1, 0, 2, 3, -1, 7, -5, 16)
FACTS = ((), (), (), ("pos",), ("nonneg",), ("nonzero",), ("abs<=4",), ("pos", "abs<=8"))
DTYPES = ("float", "float", "float", "float32", "float16", "int32", "bool", "float", "int64")
UNARY = [op.name for op in OPS.values() if op.takes == ("real",) or op.name == "neg"]
LARGEST_INTEGER = 2**20  # integers of kernels have 32 bits: products of larger ones are not drawn


@dataclass(frozen=True, slots=True)
class Shape:
    """How large diagrams are: their nodes, the lengths of their axes, how many elements an array may have in all, their
    outputs.

    places: whether places of maxima, prefix folds from the last lane and parts read under masks are drawn, too, and the
    fuzzer leaves axes of some diagrams open, and has axes of others be of one name and a number; without them a source
    of numbers draws what it always drew. names: of the axes.
    """

    nodes: int = 45
    lengths: tuple[int, ...] = LENGTHS
    elements: int = 2**13
    axes: int = 4
    inputs: int = 4
    outputs: int = 3
    dtypes: tuple[str, ...] = DTYPES
    places: bool = False
    names: tuple[str, ...] = tuple("abcdefgh")


def random_diagram(draw: Draw, shape: Shape = Shape(), name: str = "drawn") -> Diagram:  # noqa: B008  a constant
    """Draw a diagram; equal numbers from `draw` give equal diagrams."""
    drawing = _Drawing(draw, shape)
    for _ in range(1 + draw(max(1, shape.nodes * 2 // 3))):
        drawing.step()
    return Diagram(name, drawing.outputs(), "A random diagram.")


class _Drawing:
    """What has been drawn so far: axes, and terms by kind, oldest first."""

    def __init__(self, draw: Draw, shape: Shape) -> None:
        self.draw, self.shape = draw, shape
        self.axes: list[Axis] = []
        self.terms: dict[str, list[Term]] = {"real": [], "int": [], "bool": []}
        self.most: dict[Term, int] = {}  # of an integer, how large it may be
        self.made: list[Term] = []
        for _ in range(1 + draw(shape.axes)):
            self.axis()
        for number in range(1 + draw(shape.inputs)):
            self.input(number)

    # -- choices -----------------------------------------------------------------------------------------------------

    def one(self, items: Sequence[T]) -> T:
        return items[self.draw(len(items))]

    def some(self, kind: str) -> Term:
        """Return a term of a kind, a recent one more often than another; a number may be an integer."""
        if kind == "num":
            kind = "int" if self.terms["int"] and self.draw(6) == 5 else "real"
        terms = self.terms[kind]
        if not terms:
            return {"real": self.constant, "int": self.coordinate, "bool": self.comparison}[kind]()
        recent = terms[-4:] if self.draw(3) < 2 else terms
        return recent[-1 - self.draw(len(recent))]

    def varying(self, *, alone: bool = False) -> tuple[Term, Axis]:
        """Return a number and an axis, mostly one that it varies along."""
        term = self.some("real")
        if not term.axes or (not alone and self.draw(8) == 7):
            return term, self.one(self.axes)
        return term, self.one(term.axes)

    # -- axes and inputs ---------------------------------------------------------------------------------------------

    def axis(self) -> None:
        room = self.shape.elements // math.prod(a.size or 1 for a in self.axes)
        lengths = [n for n in self.shape.lengths if n <= room] or [1]
        length = self.axes[-1].size if self.axes and self.draw(3) == 2 else None
        length = length if length is not None and length <= room else self.one(lengths)
        self.axes.append(Axis(self.shape.names[len(self.axes)], length))

    def input(self, number: int) -> None:
        left = list(self.axes)
        dims = [left.pop(self.draw(len(left))) for _ in range(min(len(left), 1 + self.draw(3)))]
        if self.draw(16) == 15:
            dims = []
        dtype = self.one(self.shape.dtypes)
        facts = self.one(FACTS) if dtype.startswith("float") else ()
        self.add(Input(f"{'IN'[dtype.startswith('float')]}{number}", tuple(dims), dtype, facts), 70)

    def add(self, term: Term, most: int = 1) -> Term:
        """Keep a term, unless an array that it needs would be too large."""
        if self.largest(term) > 4 * self.shape.elements or len(subterms(term)) > self.shape.nodes:
            return term
        if term not in self.terms[term.kind]:
            self.terms[term.kind].append(term)
            self.made.append(term)
        if term.kind == "int":
            self.most.setdefault(term, most)
        return term

    def largest(self, term: Term) -> int:
        return max(math.prod(a.size or 1 for a in {*part.axes, *axes_of(part)}) for part in subterms(term))

    # -- steps -------------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Make one more term; a step that comes to nothing well-typed is left out."""
        steps: tuple[Callable[[], Term], ...] = (
            self.unary, self.binary, self.fold, self.binary, self.contraction, self.choice, self.normalised,
            self.centred, self.scan,
            self.masked_fold, self.comparison, self.logic, self.coordinate, self.arithmetic, self.constant, self.read,
            self.renamed, self.cut,
            self.masked, self.joined, self.recurrence,
        )  # fmt: skip
        make = self.one((*steps, self.place, self.place, self.backwards, self.parted) if self.shape.places else steps)
        try:
            term = make()
            self.add(term, self.bound(term))
        except NapkinError:
            return

    def bound(self, term: Term) -> int:
        """Return how large an integer may be; raises NapkinError for one that may not fit."""
        if term.kind != "int":
            return 1
        if isinstance(term, Reduce):
            return term.axis.size or LARGEST_INTEGER
        if not isinstance(term, Map):
            return self.most.get(term, 70 if isinstance(term, (Input, Index)) or not term.axes else LARGEST_INTEGER)
        sizes = [self.most.get(a, 70) for a in term.args if a.kind == "int"]
        most = {"mul": math.prod(sizes), "add": sum(sizes)}.get(term.op, max(sizes))
        if most > LARGEST_INTEGER:
            raise NapkinError("too large an integer")
        return most

    def unary(self) -> Term:
        return Map(self.one(UNARY), (self.some("real"),))

    def binary(self) -> Term:
        op, a = self.one(("add", "mul", "sub", "div", "max", "min")), self.some("num")
        b = self.constant() if self.draw(6) == 5 else self.some("num")
        if op == "sub":
            return a - b
        return a / b if op == "div" else Map(op, (a, b))

    def arithmetic(self) -> Term:
        op = self.one(("add", "floordiv", "mod", "mul", "neg", "max", "min"))
        a = self.some("int")
        if op == "neg":
            return Map(op, (a,))
        return Map(op, (a, self.some("int") if self.draw(3) == 2 else Const(self.one(WHOLES))))

    def comparison(self) -> Term:
        op = self.one(("lt", "le", "eq"))
        if self.draw(2):
            return Map(op, (self.some("real"), self.some("real")))
        a, b = self.some("int"), self.some("int") if self.draw(2) else self.coordinate()
        # A number compared with itself says nothing; without a choice more, so that other seeds stay what they are
        return Map(op, (a, b)) if a is not b else Map(op, (Map("random", (a, Const(len(self.made)), b, a)), Const(0)))

    def logic(self) -> Term:
        op = self.one(("and", "or", "not"))
        return Map(op, tuple(self.some("bool") for _ in OPS[op].takes))

    def choice(self) -> Term:
        return Map("where", (self.some("bool"), self.some("num"), self.some("num")))

    def masked(self) -> Term:
        return library.masked(self.some("real"), self.some("bool"))

    def constant(self) -> Term:
        return Const(self.one(NUMBERS))

    def coordinate(self) -> Term:
        kind, axis = self.draw(8), self.one(self.axes)
        term: Term = Size(axis) if kind == 6 else Length(axis) if kind == 7 else Index(axis)
        return self.add(term, axis.size or LARGEST_INTEGER)

    def fold(self) -> Term:
        term, axis = self.varying()
        monoid = MONOIDS[(0, 0, 1, 1, 2)[self.draw(5)]]
        return Reduce(monoid, axis, term) if self.draw(5) < 4 else library.min(term, axis)

    def masked_fold(self) -> Term:
        term, axis = self.varying()
        return Reduce(self.one(MONOIDS), axis, term, self.some("bool"))

    def contraction(self) -> Term:
        a, axis = self.varying(alone=True)
        others = [t for t in self.terms["real"] if axis in t.axes]
        return Reduce("sum", axis, a * self.one(others or [a]))

    def normalised(self) -> Term:
        """Exponentials relative to their largest, or to nothing, and mostly divided by their sum."""
        term, axis = self.varying()
        shifted = library.exp(term if self.draw(6) == 5 else term - Reduce("max", axis, term))
        return shifted if self.draw(4) == 3 else shifted / Reduce("sum", axis, shifted)

    def centred(self) -> Term:
        term, axis = self.varying(alone=True)
        if axis not in term.axes:
            return term
        return library.variance(term, axis) if self.draw(2) else term - library.mean(term, axis)

    def scan(self) -> Term:
        term, axis = self.varying()
        return Scan(MONOIDS[(0, 0, 1, 2)[self.draw(4)]], axis, term)

    def recurrence(self) -> Term:
        """A state that each lane multiplies by a gain and adds to: gains of any size, of at most 1, or those of what is
        read out.
        """
        part, axis = self.varying()
        gain = self.some("real") if self.draw(3) else self.constant()
        gain = library.sigmoid(gain) if self.draw(2) else gain
        state = Recur(axis, gain, part)
        return state if self.draw(3) < 2 else state * self.some("real")

    def place(self) -> Term:
        """Where the largest or the smallest number of an axis stands, of all lanes or of those in a mask."""
        term, axis = self.varying(alone=True)
        found = library.argmax if self.draw(3) < 2 else library.argmin
        return found(term, axis, self.some("bool") if self.draw(3) == 2 else None)

    def backwards(self) -> Term:
        """A prefix fold from the last lane to the first."""
        term, axis = self.varying(alone=True)
        if axis not in term.axes:
            return term
        last = Length(axis) - 1 - Index(axis)
        folded = Scan(MONOIDS[(0, 0, 1, 2)[self.draw(4)]], axis, library.take(term, axis, last))
        return library.take(folded, axis, last)

    def read(self) -> Term:
        """Another coordinate along an axis: shifted, constant, reversed or drawn by an integer."""
        term, axis = self.any_varying()
        place: Term = self.some("int")
        if self.draw(2):
            place = Index(axis) + self.one(WHOLES) if self.draw(2) else Length(axis) - 1 - Index(axis)
        return library.take(term, axis, place)

    def parted(self) -> Term:
        """Two numbers read at places along one axis, the one where a mask of these holds, the other where it does not,
        as of what is joined, shifted or padded.
        """
        (one, first), (other, second), at = self.varying(alone=True), self.varying(alone=True), self.one(self.axes)
        end = self.draw(1 + (at.size or 1))
        inside = Map("lt", (Index(at), Const(end))) if self.draw(2) else Map("le", (Index(at) + 1, Const(end)))
        before = library.take(one, first, Index(at) + self.one((0, 0, *WHOLES)))
        after = library.take(other, second, Index(at) - end + self.one((0, 0, *WHOLES)))
        return Map("where", (inside, before, after if self.draw(3) else Const(0.0)))

    def renamed(self) -> Term:
        term, axis = self.any_varying()
        others = [a for a in self.axes if a.size == axis.size and a not in term.axes]
        return library.rename(term, {axis: self.one(others)}) if others else library.take(term, axis, Const(0))

    def cut(self) -> Term:
        """One axis seen as two."""
        term, axis = self.any_varying()
        size = axis.size or 1
        inner = self.one([n for n in range(1, size + 1) if size % n == 0])
        parts = self.named(f"{axis.name}o", size // inner), self.named(f"{axis.name}i", inner)
        return library.split(term, axis, *parts)

    def joined(self) -> Term:
        """Two axes seen as one."""
        term, axis = self.any_varying()
        others = [a for a in term.axes if a != axis]
        if not others:
            return term
        other = self.one(others)
        return library.merge(
            term, (axis, other), self.named(f"{axis.name}{other.name}", (axis.size or 1) * (other.size or 1))
        )

    def any_varying(self) -> tuple[Term, Axis]:
        term = self.some(self.one(("real", "real", "real", "int", "bool")))
        if not term.axes:
            raise NapkinError("a term that varies along nothing")
        return term, self.one(term.axes)

    def named(self, name: str, size: int) -> Axis:
        """Return an axis by its name, a new one where there is none of this size."""
        name = name if all(a.name != name or a.size == size for a in self.axes) else f"{name}{size}"
        found = Axis(name, size)
        if found not in self.axes:
            self.axes.append(found)
        return found

    # -- outputs -----------------------------------------------------------------------------------------------------

    def outputs(self) -> tuple[tuple[str, Term], ...]:
        """Return the last terms that were made, one or several, all of a diagram's nodes within the limit."""
        wanted = 1 + max(0, self.draw(2 * self.shape.outputs) - self.shape.outputs)
        found: list[Term] = []
        made = [t for t in self.made if not isinstance(t, (Input, Const, Index))] or self.made[-1:]
        for term in reversed(made):
            if len(found) < wanted and len(subterms(*found, term)) <= self.shape.nodes and term not in found:
                found.append(term)
                if wanted > 1 and self.draw(3) == 2:
                    wanted -= 1
        return tuple((f"out{number}" if number else "out", term) for number, term in enumerate(found))


def axes_of(term: Term) -> Iterable[Axis]:
    """Return the axes that a term's body varies along, the one that it folds too."""
    return axes_in(term) if isinstance(term, Size) else [a for child in term.children for a in child.axes]
