"""What the rules of operators build with: values of a program, their dimensions brought together, moved, folded
and read elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import napkin_eq.frontend.library as nq
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.substitute import folded, substituted
from napkin_eq.lang.term import Const, Index, Length, Map, Reduce, Term, as_real, lift, rewritten
from napkin_eq.pytorch.build.extents import Limit, canonical, linear
from napkin_eq.pytorch.build.masks import negated, picked, same
from napkin_eq.pytorch.build.narrow import FLOATS, WHOLES, rounded, whole, within, wrapped
from napkin_eq.pytorch.build.wires import Dim, Wires, common_cuts

NEGATIVE = -math.inf
LARGEST = {"float32": 2.0**128 - 2.0**104, "float64": 2.0**1023 * (2.0 - 2.0**-52)}
RANDOM = "it draws random numbers, which the language does not have; call .eval(), or leave it to PyTorch"
INEXACT = "whole numbers that may pass 2^24 are folded or computed as real ones"
LOGARITHM = -745.0  # of the least number of float64
EXACT = 2**24  # whole numbers up to here are exact in float32, in which kernels fold and compute what is real


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor: its term, the wires of each dimension, and PyTorch's type by name. A whole number that a fold gave
    is a real term.
    """

    term: Term
    dims: tuple[Dim, ...]
    dtype: str

    @property
    def whole(self) -> bool:
        return self.dtype.startswith(("int", "uint"))

    @property
    def truth(self) -> bool:
        return self.dtype == "bool"

    @property
    def largest(self) -> float:
        """The largest number of the type in which kernels compute it: only an infinity lies beyond."""
        return LARGEST.get(self.dtype, LARGEST["float32"])


Number = Value | bool | int | float
# What PyTorch computes of sizes, whose rests and quotients of numbers above 0 are the language's
COMPUTED: dict[str, Callable[[Term, Term], Term]] = {
    "Add": lambda s, t: s + t,
    "Mul": lambda s, t: s * t,
    "FloorDiv": lambda s, t: s // t,
    "CleanDiv": lambda s, t: s // t,
    "Mod": lambda s, t: s % t,
    "PythonMod": lambda s, t: s % t,
    "Max": lambda s, t: Map("max", (s, t)),
    "Min": lambda s, t: Map("min", (s, t)),
}


@dataclass(frozen=True, slots=True)
class Edge:
    """A place where PyTorch gives NaN or an infinity and the language a number, unless a condition holds of the
    data.
    """

    # nonzero, nonneg, pos; present: a lane at least of what is folded; number: NaN would be left out of a fold;
    # exact: whole numbers that are computed as real ones, which are exact only up to EXACT; infinite: always reached
    kind: str
    term: Term
    said: str
    node: str = ""
    # The term, in the machine's own arithmetic, is PyTorch's there.
    plain: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Places along a dimension that data choose: outside of it PyTorch refuses them. negative: those below 0 count from
    its end. ignored: a number that is no place.
    """

    term: Term
    dim: Dim
    negative: bool = False
    ignored: int | None = None
    node: str = ""


@dataclass(slots=True)
class Builder:
    """The wires of a program, the operator that is being read, and the edges and chosen places met so far."""

    wires: Wires
    place: tuple[Any, ...] = ()
    edges: list[Edge] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    asked: dict[tuple[Any, ...], int] = field(default_factory=dict)
    # Whether places of extremes are written so that, in the machine's own arithmetic, they are NaN's where data hold
    # one.
    undefined: bool = False
    # Whole numbers that the operator being read makes real ones of, and PyTorch does not.
    converted: list[Term] = field(default_factory=list)
    # Of the operator being read: how the tensor that it is given first lies in memory, strides and where it begins.
    memory: tuple[Any, ...] = ()
    # Of the operator being read: the sizes of its first result, none where values of more dimensions stand for it.
    result: tuple[Any, ...] = ()
    # Whether a call may be refused for sizes past a bound: one of a compiled program may not.
    bounded: bool = False
    # What must hold of sizes beside, as PyTorch asked it.
    limits: list[Limit] = field(default_factory=list)
    # States on the way through loops that were found again (rolled.py), and what they are of the recurrence.
    known_states: dict[Term, Term] = field(default_factory=dict)

    # Dimensions.

    def fresh(self, extent: Any, *tag: Any) -> Dim:
        """Return new wires for a dimension of this operator's result; `tag` says which one."""
        return self.wires.of(self._key(*tag), extent)

    def _key(self, *tag: Any) -> tuple[Any, ...]:
        """Return a key that nothing else of this reading has, and that the same place has in the next."""
        key = (*self.place, *tag)
        self.asked[key] = self.asked.get(key, 0) + 1
        return (*key, self.asked[key])

    def size(self, dim: Dim) -> Any:
        """Return the number of elements along a dimension."""
        return self.wires.extent(dim)

    def given(self, at: int, size: Any) -> Any:
        """Return the number of elements along a dimension of the operator's result: as it was computed or, where it is
        no number, as PyTorch has it, which knows more of symbols.
        """
        return size if isinstance(size, int) or at >= len(self.result) else self.result[at]

    def known(self, dim: Dim, what: str) -> int:
        """Return the number of elements along a dimension; raises NapkinError where it is symbolic."""
        size = self.size(dim)
        if not isinstance(size, int):
            raise NapkinError(
                f"{what}: a dimension has the symbolic size {size}; give it a number (leave it out of dynamic_shapes)"
            )
        return size

    def at(self, dim: Dim) -> Term:
        """Return the coordinate along a dimension, an integer term."""
        place: Term = Const(0)
        for number, axis in enumerate(dim):
            place = Index(axis) if number == 0 else place * _extent(axis) + Index(axis)
        return place

    def coordinates(self, dim: Dim, place: Term) -> dict[str, Term]:
        """Return the coordinate along each wire of a dimension, of a place along it."""
        found: dict[str, Term] = {}
        for axis in reversed(dim):
            found[axis.name] = place if axis == dim[0] else place % _extent(axis)
            place = place if axis == dim[0] else place // _extent(axis)
        return found

    def whole(self, extent: Any, *tag: Any) -> Axis:
        """Return a new wire of more than one element that is never cut."""
        return self.wires.whole(self._key(*tag), extent)

    # Values.

    def value(self, term: Term, dims: Sequence[Dim], dtype: str) -> Value:
        """Return a tensor; no wire may stand in two of its dimensions, and all of its term's must stand in one."""
        axes = [axis for dim in dims for axis in dim]
        if len(set(axes)) != len(axes) or not {a.name for a in term.axes} <= {a.name for a in axes}:
            raise AssertionError(f"{self.place}: dims {dims} of a term over {term.axes}")
        self.wires.apart(axes)
        return Value(term, tuple(dims), dtype)

    def scalar(self, number: Number, dtype: str = "") -> Value:
        """Return a number as a tensor without dimensions."""
        if isinstance(number, Value):
            return number
        if isinstance(number, float) and math.isnan(number):
            raise NapkinError(
                "the constant nan is no number of the language, which has the numbers and -inf for what is absent"
            )
        if number == math.inf:
            # In the language -(-inf) is what is absent, too; in the machine's own arithmetic it is inf.
            term = Map("neg", (Const(NEGATIVE),))
            self.edge(
                "infinite", term, "the constant inf: what is as large as can be is absent in the language", plain=True
            )
            return Value(term, (), dtype or "float32")
        own = "bool" if isinstance(number, bool) else "int64" if isinstance(number, int) else "float32"
        known = isinstance(number, (bool, int, float))
        return Value(Const(number) if known else self._symbol(number), (), dtype or own)

    def _symbol(self, extent: Any) -> Term:
        """Return what is computed of symbolic sizes as a term; each must be that of a dimension, or show in one."""
        lengths = self.wires.symbolic()
        for name, other in lengths.items():
            if other == extent:
                return Length(Axis(name, None))
        if extent.is_Symbol:
            for name, other in lengths.items():
                if (found := linear(other, extent)) is not None:
                    more, times = found
                    term = Length(Axis(name, None)) + (-more) if more else Length(Axis(name, None))
                    return term if times == 1 else term // times
        if extent.is_Integer or extent.is_Float or extent.is_Rational:
            return lift(int(extent) if extent.is_Integer else float(extent))
        parts = [self._symbol(part) for part in extent.args]
        word = extent.func.__name__
        if word == "ToFloat":
            return as_real(parts[0])
        if word in ("FloatTrueDiv", "IntTrueDiv"):
            return as_real(parts[0]) * self.inverse(as_real(parts[1]), "a division by a size less something")
        if word in ("Pow", "FloatPow") and isinstance(parts[1], Const):
            power = parts[1].value
            if float(power).is_integer() and 1 <= power <= 8:
                return parts[0] ** int(power)
            if power in (0.5, -0.5):
                return as_real(parts[0]) ** float(power)
        if word in COMPUTED and parts:
            return reduce(COMPUTED[word], parts)
        raise NapkinError(f"the size {extent} is computed with, and no dimension has it")

    def term(self, size: Any) -> Term:
        """Return a number of elements, which may be symbolic, as an integer term."""
        return Const(size) if isinstance(size, int) else self._symbol(size)

    def length(self, dim: Dim) -> Term:
        """Return the size of a dimension, an integer term."""
        size = self.size(dim)
        return Const(size) if isinstance(size, int) else reduce(lambda s, t: s * t, map(_extent, dim))

    def count(self, dims: Sequence[Dim]) -> Term:
        """Return how many elements there are along dimensions, as a real number."""
        sizes = [self.size(dim) for dim in dims]
        if all(isinstance(size, int) for size in sizes):
            return Const(float(math.prod(sizes)))
        dims = [dim for dim in dims if dim]
        return as_real(reduce(lambda s, t: s * t, map(self.length, dims)))

    def real(self, value: Number, meant: bool = False) -> Value:
        """Return a tensor of numbers as real ones; of a mask 1 and 0. meant: PyTorch has it as real ones there."""
        value = self.scalar(value)
        if value.whole and value.term.kind == "int" and not meant:
            self.converted.append(as_real(value.term))
        if value.term.kind == "bool":
            return replace(value, term=nq.where(value.term, 1.0, 0.0), dtype="float32")
        return replace(
            value,
            term=as_real(value.term),
            dtype=value.dtype if value.dtype.startswith(("float", "bfloat")) else "float32",
        )

    def number(self, value: Number) -> Value:
        """Return a tensor as numbers; of a mask whole ones, 1 and 0."""
        value = self.scalar(value)
        return replace(value, term=nq.where(value.term, 1, 0), dtype="int64") if value.term.kind == "bool" else value

    def mask(self, value: Number) -> Value:
        """Return a tensor as a mask: where it is not 0."""
        value = self.scalar(value)
        if value.term.kind == "bool":
            return value
        return replace(value, term=negated(same(value.term, Const(0))), dtype="bool")

    def cast(self, value: Value, dtype: str) -> Value:
        """Return a tensor in another type: what has a fraction loses it towards 0."""
        if dtype == "bool":
            return self.mask(value)
        if dtype in FLOATS:
            term, room = rounded(self.real(value).term, dtype)
            if room is not None:
                self.edge("nonneg", room, f"{dtype} of a number past its range is no number: clamp it before")
            return replace(value, term=term, dtype=dtype)
        if dtype.startswith(("float", "bfloat")):
            return replace(self.real(value), dtype=dtype)
        if not dtype.startswith(("int", "uint")):
            raise NapkinError(
                f"tensors of {dtype} are not supported: the language has real numbers, whole numbers and masks"
            )
        term = self.number(value).term
        if isinstance(term, Const) and math.isfinite(term.value):
            term = Const(int(term.value))
        elif not whole(term):
            term = nq.where(term < 0, -nq.floor(-term), nq.floor(term))
        # Past 32 bits PyTorch makes of a real number what the machine does; of fewer bits it takes the last ones.
        open_ended = not (value.whole or value.truth) and WHOLES.get(dtype, (64, 0))[0] >= 32
        return replace(value, term=term if open_ended else wrapped(term, dtype), dtype=dtype)

    def joined(self, *values: Value) -> tuple[tuple[Dim, ...], list[Term]]:
        """Return the dimensions of what is broadcast together, and the terms, all over these."""
        rank = max((len(v.dims) for v in values), default=0)
        rows = [((),) * (rank - len(v.dims)) + v.dims for v in values]
        dims: list[Dim] = []
        for place in range(rank):
            dims.append(self.apart(next((r[place] for r in rows if r[place]), ()), dims, "joined", place))
        return tuple(dims), [self.moved(v, row, dims) for v, row in zip(values, rows, strict=True)]

    def apart(self, dim: Dim, others: Sequence[Dim], *tag: Any) -> Dim:
        """Return a dimension, on new wires if other dimensions have some of its own already."""
        key = self._key(*tag)  # asked for in every reading, whether it is needed or not
        used = {axis for other in others for axis in other}
        return self.wires.of(key, self.size(dim)) if used.intersection(dim) else dim

    def moved(self, value: Value, dims: Sequence[Dim], onto: Sequence[Dim]) -> Term:
        """Return a tensor's term with its dimensions on other wires of the same sizes."""
        coordinates: dict[str, Term] = {}
        for old, new in zip(dims, onto, strict=True):
            if old == new or not old:
                continue
            if not _same(self.size(old), self.size(new)) and not self._tied(old, new):
                raise NapkinError(f"sizes {self.size(old)} and {self.size(new)} meet in one dimension")
            self.wires.meet(old, new)
            if len(old) == len(new) and all(
                _same(self.size((a,)), self.size((b,))) for a, b in zip(old, new, strict=True)
            ):
                coordinates |= {a.name: Index(b) for a, b in zip(old, new, strict=True)}
            else:
                coordinates |= self.coordinates(old, self.at(new))
        return elsewhere(value.term, coordinates)

    def _tied(self, old: Dim, new: Dim) -> bool:
        """Take the sizes of two dimensions for one, wire by wire where there are as many; tell whether they may be.

        Of what says nothing of a symbol alone it is a limit that they are equal.
        """
        node = str(self.place[-2]) if len(self.place) > 1 else ""
        pairs = list(zip(old, new, strict=True)) if len(old) == len(new) > 1 else []
        sizes = [(self.size((a,)), self.size((b,))) for a, b in pairs] or [(self.size(old), self.size(new))]
        for a, b in sizes:
            if isinstance(a, int) and isinstance(b, int) and a != b:
                return False
            if not _same(a, b) and not self.wires.tie(a, b, node, len(pairs) > 1):
                self.limits.append(("==", a, b, node))
        return True

    def moved_value(self, value: Value, onto: Sequence[Dim]) -> Value:
        """Return a tensor with its dimensions on other wires of the same sizes."""
        return replace(value, term=self.moved(value, value.dims, onto), dims=tuple(onto))

    def pointwise(self, compute: Callable[..., Term], *values: Value, dtype: str = "") -> Value:
        """Return a function of tensors, place by place."""
        dims, terms = self.joined(*values)
        return self.value(compute(*terms), dims, dtype or values[0].dtype)

    def dim(self, value: Value, dim: int) -> int:
        """Return the number of a dimension that may be counted from the end."""
        return dim % len(value.dims) if value.dims else 0

    def dims(self, value: Value, dims: Sequence[int] | int | None, *, empty: bool = True) -> tuple[int, ...]:
        """Return the numbers of dimensions, in order, so that folds along them have the neighbours in memory innermost;
        none said means all, and so does a list of none where `empty`.
        """
        if dims is None or (empty and not isinstance(dims, int) and not len(dims)):
            return tuple(range(len(value.dims)))
        said = [dims] if isinstance(dims, int) else dims
        return tuple(sorted(self.dim(value, d) for d in said)) if value.dims else ()

    def fold(self, monoid: str, term: Term, over: Sequence[Dim], where: Term | None = None) -> Term:
        """Return a fold over dimensions, the last of them innermost; a mask may speak of all of them."""
        self.wires.apart(term.axes)
        if where is not None and sum(map(len, over)) > 1:
            term, where = nq.where(where, as_real(term), {"sum": 0.0, "max": NEGATIVE, "prod": 1.0}[monoid]), None
        for axis in reversed([axis for dim in over for axis in dim]):
            one = picked(term, axis) if monoid == "sum" and where is None else None
            term = Reduce(monoid, axis, term, where) if one is None else one
        return as_real(term)

    def folded(self, monoid: str, value: Value, dims: Sequence[int], keepdim: bool, dtype: str) -> Value:
        """Return a tensor folded over some of its dimensions."""
        real, over = self.real(value).term, [value.dims[d] for d in dims]
        term = self.fold(monoid, real, over)
        if monoid == "sum" and (value.whole or value.truth):
            self.exact(self.fold(monoid, nq.abs(real), over))  # on the way, too
        return self.value(term, self.left(value, dims, keepdim), dtype)

    def left(self, value: Value, dims: Sequence[int], keepdim: bool) -> tuple[Dim, ...]:
        """Return the dimensions that a fold leaves."""
        return tuple(() if d in dims else dim for d, dim in enumerate(value.dims) if keepdim or d not in dims)

    def mean(self, term: Term, over: Sequence[Dim]) -> Term:
        """Return the mean over dimensions."""
        total = self.fold("sum", term, over)
        for axis in (axis for dim in over for axis in dim):
            total = total * nq.reciprocal(nq.size(axis))
        return total

    def read(self, value: Value, places: Mapping[int, Term], dims: Sequence[Dim]) -> Value:
        """Return a tensor with other coordinates along some dimensions, clamped into them; `dims` are the result's."""
        coordinates: dict[str, Term] = {}
        for d, place in places.items():
            coordinates |= self.coordinates(value.dims[d], place)
        return self.value(elsewhere(value.term, coordinates), dims, value.dtype)

    def put(self, value: Value, at: int, dim: Dim) -> tuple[Dim, ...]:
        """Return the dimensions of a tensor with one in another's place."""
        return (*value.dims[:at], dim, *value.dims[at + 1 :])

    def single(self, value: Value, at: int, *tag: Any) -> tuple[Value, Axis]:
        """Return a tensor with one of its dimensions on one wire, and the wire: folds in order need it whole."""
        own = value.dims[at]
        if len(own) == 1:
            return value, own[0]
        if not own:
            raise NapkinError("a dimension of size 1 has no wire")
        axis = self.whole(self.size(own), "single", *tag)
        term = elsewhere(value.term, self.coordinates(own, Index(axis)))
        return Value(term, self.put(value, at, (axis,)), value.dtype), axis

    def view(self, value: Value, shape: Sequence[Any]) -> Value:
        """Return a tensor seen in another shape, the last dimension varying fastest."""
        axes, key = [axis for dim in value.dims for axis in dim], self._key("view")
        if (grouped := self._grouped(axes, shape)) is not None:
            return self.value(value.term, grouped, value.dtype)
        dims, coordinates = list[Dim](), dict[str, Term]()
        for own, sizes in self._segments(axes, shape):
            if (grouped := self._grouped(own, sizes)) is not None:
                dims += grouped
                continue
            self._cut(own, sizes)
            new = [self.wires.of((*key, len(dims) + number), size) for number, size in enumerate(sizes)]
            flat: Term = Const(0)
            for dim in new:
                flat = flat * self.known(dim, "view") + self.at(dim) if dim else flat
            dims, coordinates = [*dims, *new], coordinates | self.coordinates(tuple(own), flat)
        return self.value(elsewhere(value.term, coordinates), dims, value.dtype)

    def _cut(self, axes: Sequence[Axis], shape: Sequence[Any]) -> None:
        """Ask for wires that are cut where a view takes them apart; raises NapkinError where sizes that are symbols
        are not, yet.
        """
        sizes = [self.size((a,)) for a in axes]
        cuts = common_cuts(sizes, list(shape))
        if not all(isinstance(s, int) for s in (*sizes, *shape)):
            if cuts is not None and self.wires.cut(axes, cuts):
                self.wires.parting = True
            raise NapkinError(
                f"a view of sizes {tuple(sizes)} as {tuple(shape)} takes symbolic sizes apart; give them numbers"
            )
        if cuts is not None:
            self.wires.cut(axes, cuts)

    def _segments(self, axes: Sequence[Axis], shape: Sequence[Any]) -> list[tuple[list[Axis], list[Any]]]:
        """Return wires and a shape in parts, as many as have the same product: each is seen in its own part alone."""
        before = [canonical(self.size(tuple(axes[:end]))) for end in range(len(axes) + 1)]
        rest, product, found = list(axes), canonical(1), list[tuple[list[Axis], list[Any]]]()
        part: list[Any] = []
        for size in shape:
            part.append(size)
            product = canonical(product * size)
            start = len(axes) - len(rest)
            if (end := next((at for at in range(start, len(before)) if before[at] == product), None)) is not None:
                found.append((rest[: end - start], part))
                rest, part = rest[end - start :], []
        if rest or part:
            return [(list(axes), list(shape))]
        return found

    def _grouped(self, axes: Sequence[Axis], shape: Sequence[Any]) -> list[Dim] | None:
        rest, dims = list(axes), list[Dim]()
        for size in shape:
            group: list[Axis] = []
            while rest and not _same(self.size(tuple(group)), size):
                group.append(rest.pop(0))
            if not _same(self.size(tuple(group)), size):
                return None
            dims.append(tuple(group))
        return None if rest else dims

    def contract(self, values: Sequence[Value], labels: Sequence[Sequence[Any]], out: Sequence[Any]) -> Value:
        """Return the sum of a product: each dimension has a label, equal ones meet, and those not in `out` are
        summed over.
        """
        labels = [tuple(row) for row in labels]
        order = [*out, *dict.fromkeys(x for row in labels for x in row if x not in out)]
        chosen: dict[Any, Dim] = {}
        for label in order:
            found = [v.dims[row.index(label)] for v, row in zip(values, labels, strict=True) if label in row]
            chosen[label] = self.apart(next((d for d in found if d), ()), list(chosen.values()), "contract", label)
        terms = [
            self.moved(self.real(v), v.dims, [chosen[x] for x in row]) for v, row in zip(values, labels, strict=True)
        ]
        product = terms[0]
        for term in terms[1:]:
            product = product * term
        self.wires.apart([axis for dim in chosen.values() for axis in dim])
        term = self.fold("sum", product, [chosen[x] for x in order[len(out) :]])
        return self.value(term, [chosen[x] for x in out], values[0].dtype)

    # What differs from PyTorch at the edges.

    def inverse(self, term: Term, said: str) -> Term:
        """Return one over a number; that it is not 0 is an edge unless it is known."""
        self.edge("nonzero", term, said, plain=True)
        return nq.reciprocal(term)

    def exact(self, term: Term) -> None:
        """Note that whole numbers are computed as real ones, unless these are shown to be exact."""
        if not exactly(term):
            self.edges.append(Edge("exact", term, INEXACT, self.place[0] if self.place else ""))

    def chooses(self, value: Value, dim: Dim, *, negative: bool = False, ignored: int | None = None) -> None:
        """Note that a tensor chooses places along a dimension, unless all of them are shown to lie in it."""
        size = self.size(dim)
        if not isinstance(size, int) or not within(value.term, -size if negative else 0, size - 1):
            self.places.append(Place(value.term, dim, negative, ignored, self.place[0] if self.place else ""))

    def at_most(self, dims: Sequence[Dim], others: Sequence[Dim]) -> None:
        """Note that dimensions are no longer than others, as PyTorch asks when a program is called."""
        sizes = [(self.size(dim), self.size(other)) for dim, other in zip(dims, others, strict=True)]
        self.limits += [
            ("<=", a, c, "") for a, c in sizes if not (isinstance(a, int) and isinstance(c, int)) and not _same(a, c)
        ]

    def edge(self, kind: str, term: Term, said: str, *, plain: bool = False) -> None:
        """Note that PyTorch gives NaN or an infinity where a condition does not hold; `plain`: so does the term,
        computed as it stands.
        """
        if not (
            isinstance(term, Const)
            and term.kind != "bool"
            and (term.value > 0 or (kind == "nonzero" and term.value < 0))
        ):
            self.edges.append(Edge(kind, term, said, self.place[0] if self.place else "", plain))


def exactly(term: Term) -> bool:
    """Tell whether whole numbers that are computed as real ones are exact in float32, or those of what is infinite,
    which PyTorch leaves open.

    The logarithm of a number that a machine has is not far below 0.
    """
    held = rewritten(
        term, lambda t: nq.where(t < LOGARITHM, LOGARITHM, t) if isinstance(t, Map) and t.op == "log" else t
    )
    return within(held, -EXACT, EXACT)


def elsewhere(term: Term, coordinates: Mapping[str, Term]) -> Term:
    """Return a term at other coordinates; values that folds gave are read, not computed again."""
    own = {axis.name for axis in term.axes}
    wanted = {name: place for name, place in coordinates.items() if name in own}
    return substituted(term, wanted, kept=folded) if wanted else term


def _same(a: Any, b: Any) -> bool:
    return bool(a == b)


def _extent(axis: Axis) -> Term:
    return Length(axis) if axis.size is None else Const(axis.size)
