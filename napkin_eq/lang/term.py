"""Terms: a diagram as data. Immutable, hash-consed, every node knows its free axes and its kind.

Values are real numbers extended by one *absent* value, written -inf: it absorbs under + - * and is neutral for max;
exp(-inf) = 0 and inv(0) = 0. A row whose every lane is absent therefore stays 0 when divided by its sum, with no
special case. Building an ill-shaped term raises NapkinError at once and names the axes and sizes involved.
"""

from __future__ import annotations

import hashlib
import math
import sys
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, TypeVar

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.dtypes import KINDS
from napkin_eq.lang.errors import NapkinError, checked_name
from napkin_eq.lang.operators import MONOIDS, OPS, RECURRENCE, REDUCTIONS

DTYPES = KINDS
MAX_DEPTH = 3_000
# What follows a term by recursion takes several frames a level. More than so many would not fit the stack of a thread.
sys.setrecursionlimit(max(sys.getrecursionlimit(), 6_000))
LONGEST_TEXT = 10_000  # characters between the parentheses of what `repr` writes of a term
LARGEST_NUMBER = Fraction(sys.float_info.max)
_made: dict[tuple[Any, ...], Term] = {}

T = TypeVar("T", bound="Term")


_writers: list[Callable[[Any], str]] = [repr]


def write_with(writer: Callable[[Any], str]) -> None:
    """Let `str` of a term be what a function writes; until one is named it is `repr`."""
    _writers[:] = [writer]


def _field(place: int) -> property:
    def get(term: Term) -> Any:
        return term.fields[place]

    return property(get)


def _spelled(field: Any, texts: dict[Term, str]) -> str:
    """Return a field as text, given the texts of the terms in it."""
    if isinstance(field, Term):
        return texts[field]
    if isinstance(field, tuple):
        return f"({', '.join(_spelled(part, texts) for part in field)}{',' if len(field) == 1 else ''})"
    return repr(field)


class Term:
    """A node of a diagram. `axes` are its free axes sorted by name; `kind` is real, int, bool or tuple."""

    __slots__ = ("axes", "children", "depth", "fields", "kind")
    names: ClassVar[tuple[str, ...]] = ()
    axes: tuple[Axis, ...]
    kind: str
    fields: tuple[Any, ...]
    children: tuple[Term, ...]
    depth: int

    def __init_subclass__(cls) -> None:
        # Looked up often: by a property it takes half as long as by __getattr__
        for place, name in enumerate(cls.names):
            if name not in cls.__dict__ and name not in Term.__slots__:
                setattr(cls, name, _field(place))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"terms are immutable: cannot set {name!r}")

    def __getattr__(self, name: str) -> Any:
        try:
            return self.fields[type(self).names.index(name)]
        except ValueError:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}") from None

    def __repr__(self) -> str:
        """Return the term as constructors; a part whose text would be long stands as the hash of it: no two terms read
        the same.
        """
        texts: dict[Term, str] = {}
        for term in subterms(self):
            text = ", ".join(_spelled(field, texts) for field in term.fields)
            short = text if len(text) <= LONGEST_TEXT else f"…{hashlib.sha256(text.encode()).hexdigest()}"
            texts[term] = f"{type(term).__name__}({short})"
        return texts[self]

    def __str__(self) -> str:
        return _writers[-1](self)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.fields

    def __bool__(self) -> bool:
        raise NapkinError("a term has no truth value: write & | ~ for and, or, not, and where(mask, a, b) for a choice")

    def __add__(self, other: object) -> Term:
        return Map("add", (self, lift(other)))

    def __radd__(self, other: object) -> Term:
        return Map("add", (lift(other), self))

    def __sub__(self, other: object) -> Term:
        return Map("add", (self, -lift(other)))

    def __rsub__(self, other: object) -> Term:
        return Map("add", (lift(other), -self))

    def __mul__(self, other: object) -> Term:
        return Map("mul", (self, lift(other)))

    def __rmul__(self, other: object) -> Term:
        return Map("mul", (lift(other), self))

    def __truediv__(self, other: object) -> Term:
        return Map("mul", (self, Map("inv", (as_real(lift(other)),))))

    def __rtruediv__(self, other: object) -> Term:
        return Map("mul", (lift(other), Map("inv", (as_real(self),))))

    def __floordiv__(self, other: object) -> Term:
        return Map("floordiv", (self, lift(other)))

    def __mod__(self, other: object) -> Term:
        return Map("mod", (self, lift(other)))

    def __neg__(self) -> Term:
        return (
            Map("neg", (self,))
            if not isinstance(self, Const)
            else self
            if self.value == -math.inf
            else Const(-self.value)
        )

    def __abs__(self) -> Term:
        return Map("abs", (self,))

    def __pow__(self, power: object) -> Term:
        if power == 0.5:
            return Map("sqrt", (self,))
        if power == -0.5:
            return Map("inv", (Map("sqrt", (self,)),))
        if isinstance(power, int) and not isinstance(power, bool) and 1 <= abs(power) <= 8:
            product = self
            for _ in range(abs(power) - 1):
                product = product * self
            return product if power > 0 else Map("inv", (product,))
        raise NapkinError(f"power {power!r} is not supported: use whole powers from -8 to 8, 0.5 or -0.5")

    def __lt__(self, other: object) -> Term:
        return Map("lt", (self, lift(other)))

    def __le__(self, other: object) -> Term:
        return Map("le", (self, lift(other)))

    def __gt__(self, other: object) -> Term:
        return Map("lt", (lift(other), self))

    def __ge__(self, other: object) -> Term:
        return Map("le", (lift(other), self))

    def __and__(self, other: object) -> Term:
        return Map("and", (self, lift(other)))

    def __rand__(self, other: object) -> Term:
        return Map("and", (lift(other), self))

    def __or__(self, other: object) -> Term:
        return Map("or", (self, lift(other)))

    def __ror__(self, other: object) -> Term:
        return Map("or", (lift(other), self))

    def __invert__(self) -> Term:
        return Map("not", (self,))


def _make(cls: type[T], fields: tuple[Any, ...], axes: tuple[Axis, ...], kind: str, children: tuple[Term, ...]) -> T:
    key = (cls, *((type(f), f, math.copysign(1.0, f)) if isinstance(f, (bool, int, float)) else f for f in fields))
    if (known := _made.get(key)) is not None:
        return known  # type: ignore[return-value]
    depth = 1 + max((c.depth for c in children), default=0)
    if depth > MAX_DEPTH:
        raise NapkinError(
            f"this term nests {depth} levels deep; at most {MAX_DEPTH} are supported: name parts of it and store them"
        )
    term = object.__new__(cls)
    for name, value in (("fields", fields), ("axes", axes), ("kind", kind), ("children", children), ("depth", depth)):
        object.__setattr__(term, name, value)
    return _made.setdefault(key, term)  # type: ignore[return-value]


def union_axes(what: str, *parts: tuple[Axis, ...]) -> tuple[Axis, ...]:
    """Merge free axes by name; raise NapkinError where one name stands for two sizes."""
    merged: dict[str, Axis] = {}
    for axis in (axis for part in parts for axis in part):
        if merged.setdefault(axis.name, axis) != axis:
            other = merged[axis.name]
            if other.size == axis.size:
                merged[axis.name] = max(axis, other)
                continue
            raise NapkinError(
                f"{what}: axis {axis.name} has size {other.size} on one side and {axis.size} on another; give it one"
                " size"
            )
    return tuple(merged[name] for name in sorted(merged))


def _without(axes: tuple[Axis, ...], axis: Axis) -> tuple[Axis, ...]:
    return tuple(a for a in axes if a.name != axis.name)


def _need(axis: Axis, body: Term, what: str) -> None:
    found = next((a for a in body.axes if a.name == axis.name), None)
    if found is not None and found.size != axis.size:
        raise NapkinError(
            f"{what}: axis {axis.name} has size {axis.size} here and {found.size} in the body; give it one size"
        )


class Pattern(Term):
    """A term that stands for others in a law; its axes are not known."""

    __slots__ = ()


class Input(Term):
    """An array in the top memory level: `Input(name, dims, dtype, facts)`, dims in storage order, last one contiguous.

    dtype "float" means the storage type that a derivation is asked for. Facts: "nonneg", "pos", "nonzero", "abs<=C",
    and "far", which promises nothing: numbers near the end of float32's range may be among it, as masks have.
    """

    names = ("name", "dims", "dtype", "facts")
    __slots__ = ()

    def __new__(cls, name: str, dims: tuple[Axis, ...], dtype: str = "float", facts: tuple[str, ...] = ()) -> Input:
        checked_name(name, "input")
        if dtype not in DTYPES:
            raise NapkinError(f"input {name}: unknown dtype {dtype!r}; one of {', '.join(DTYPES)}")
        for fact in facts:
            checked_fact(fact, name)
        if len({d.name for d in dims}) != len(dims):
            raise NapkinError(
                f"input {name}: an axis is listed twice in {[d.name for d in dims]}; rename one and read the diagonal"
            )
        return _make(
            cls, (name, tuple(dims), dtype, tuple(facts)), union_axes(f"input {name}", tuple(dims)), DTYPES[dtype], ()
        )


WORDS = ("nonneg", "pos", "nonzero", "far")  # facts of an input that are one word


def checked_fact(fact: str, name: str) -> str:
    """Return the fact if it is one that is understood, else raise NapkinError."""
    try:
        known = fact in WORDS or (fact.startswith("abs<=") and 0 <= float(fact.removeprefix("abs<=")) < math.inf)
    except (ValueError, AttributeError, TypeError):  # no number after abs<=, or no text
        known = False
    if not known:
        raise NapkinError(f"input {name}: unknown fact {fact!r:.60}; expected {', '.join(WORDS)} or abs<=NUMBER")
    return fact


class Const(Term):
    """A scalar: bool, int or a real number; float -inf is the absent value, NaN and +inf are refused.

    A real number is what its shortest decimal says: 0.1 is a tenth, and so is Fraction(1, 10). A Fraction stays one, as
    a product of two such numbers may have to, where the shortest decimal of no float says it. There is one zero.
    """

    names = ("value",)
    __slots__ = ()

    def __new__(cls, value: bool | int | float | Fraction) -> Const:
        if not isinstance(value, (bool, int, float, Fraction)) or value != value or value == math.inf:
            raise NapkinError(f"constant {value!r:.60} is not a bool, an integer or a number")
        if (isinstance(value, Fraction) or (isinstance(value, int) and value.bit_length() > 1023)) and abs(
            Fraction(value)
        ) > LARGEST_NUMBER:
            raise NapkinError(f"constant of {int(value).bit_length()} bits is beyond the range of numbers")
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise NapkinError(f"constant {value} is beyond whole numbers of 64 bits, which end at -2^63 and 2^63 - 1")
        if isinstance(value, Fraction):
            value = float(value) if Fraction(repr(float(value))) == value else value
        elif isinstance(value, float):
            value = float(value) + 0.0  # of -0.0 it is 0.0
        kind = "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "real"
        return _make(cls, (value,), (), kind, ())

    @property
    def exact(self) -> Fraction | None:
        """The number itself; None for the absent value."""
        return (
            None
            if self.value == -math.inf
            else Fraction(repr(self.value))
            if isinstance(self.value, float)
            else Fraction(self.value)
        )


class Index(Term):
    """The coordinate along an axis, an integer from 0: `Index(axis)`."""

    names = ("axis",)
    __slots__ = ()

    def __new__(cls, axis: Axis) -> Index:
        return _make(cls, (axis,), (axis,), "int", ())


class Size(Term):
    """The number of elements along an axis in the universe at hand, an integer scalar: in a stream, of the prefix so
    far.
    """

    names = ("axis",)
    __slots__ = ()

    def __new__(cls, axis: Axis) -> Size:
        return _make(cls, (axis,), (), "int", ())


class Length(Term):
    """The full size of an axis, whatever part of it a stream has reached, an integer scalar: `Length(axis)`.

    No law relates it to Size: they differ inside every stream.
    """

    names = ("axis",)
    __slots__ = ()

    def __new__(cls, axis: Axis) -> Length:
        return _make(cls, (axis,), (), "int", ())


class Map(Term):
    """A scalar operator mapped over the union of its arguments' axes (weaving): `Map(op, args)`."""

    names = ("op", "args")
    __slots__ = ()

    def __new__(cls, op: str, args: tuple[Term, ...]) -> Map:
        if isinstance(known := _made.get((cls, op, args)), Map):
            return known
        if op not in OPS:
            raise NapkinError(f"unknown operator {op!r:.60}; one of {', '.join(OPS)}")
        rule = OPS[op]
        if len(args) != len(rule.takes):
            raise NapkinError(f"{op} takes {len(rule.takes)} arguments, {len(args)} given")
        nums = [a.kind for a, kind in zip(args, rule.takes, strict=True) if kind == "num"]
        num = "int" if nums and all(kind == "int" for kind in nums) else "real"
        cast = []
        for position, (arg, kind) in enumerate(zip(args, rule.takes, strict=True), 1):
            wanted = num if kind == "num" else kind
            if wanted == "real" and arg.kind == "int":
                arg = as_real(arg)
            if arg.kind != wanted:
                hint = "; a mask is a comparison such as Index(q) >= Index(x)" if wanted == "bool" else ""
                raise NapkinError(f"{op}: argument {position} is {arg.kind}, expected {wanted}{hint}")
            cast.append(arg)
        gives = num if rule.gives == "num" else rule.gives
        return _make(cls, (op, tuple(cast)), union_axes(op, *(a.axes for a in cast)), gives, tuple(cast))


class Reduce(Term):
    """A fold of a commutative monoid over an axis: `Reduce(monoid, axis, body, where)`.

    Lanes where the mask `where` is false are left out. Monoids: sum, max, prod; a minimum is -max(-x). With argmax it
    is the first lane whose value is the maximum, a whole number; 0 where there is no present value.
    """

    names = ("monoid", "axis", "body", "where")
    __slots__ = ()

    def __new__(cls, monoid: str, axis: Axis, body: Term, where: Term | None = None) -> Reduce:
        return _fold(cls, (monoid, axis, body, Const(True) if where is None else lift(where)))


class Fold(Term):
    """A reduction walked in blocks with its accumulator resident: `Fold(monoid, axis, body, where, fused)`.

    Equal to the Reduce of the same fields. `fused`: it shares a pass over the axis with the kernel's other fused folds.
    """

    names = ("monoid", "axis", "body", "where", "fused")
    __slots__ = ()

    def __new__(cls, monoid: str, axis: Axis, body: Term, where: Term, fused: bool = False) -> Fold:
        return _fold(cls, (monoid, axis, body, where, bool(fused)))


class Online(Term):
    """A streamed sum whose body moves as the stream goes on: `Online(axis, body, where, update, fused)`.

    Block t holds acc = update(acc before) + sum of the body over block t, where every reduction over the axis inside
    body and update stands for its running value over blocks 0..t; `Acc()` is the accumulator before block t and
    `Prev(r)` is r over blocks 0..t-1. The value is acc after the last block (napkin-paper: sec. 2.2, 2.4).
    """

    names = ("axis", "body", "where", "update", "fused")
    __slots__ = ()

    def __new__(cls, axis: Axis, body: Term, where: Term, update: Term, fused: bool = False) -> Online:
        if any(a.name == axis.name for a in update.axes):
            raise NapkinError(f"online over {axis.name}: its update must not vary along {axis.name}")
        return _fold(cls, (axis, body, where, update, bool(fused)))


class Scan(Term):
    """An ordered prefix fold, inclusive: `Scan(monoid, axis, body)`; it keeps its axis."""

    names = ("monoid", "axis", "body")
    __slots__ = ()

    def __new__(cls, monoid: str, axis: Axis, body: Term) -> Scan:
        if monoid not in MONOIDS:
            raise NapkinError(f"unknown monoid {monoid!r:.60}; one of {', '.join(MONOIDS)}")
        _need(axis, body, "scan")
        return _make(
            cls, (monoid, axis, as_real(body)), union_axes("scan", body.axes, (axis,)), "real", (as_real(body),)
        )


class Recur(Scan):
    """A linear recurrence along an axis, inclusive: `Recur(axis, gain, body)` is h_t = gain_t · h_{t-1} + body_t, with
    0 before the first.

    It is the prefix fold of pairs (gain, body) by (a, b) ∘ (c, d) = (a·c, b·c + d), which is associative and has (1, 0)
    for a neutral element. The first gain multiplies the 0 before it: where it is absent, so is the value, and a pair
    whose gain is absent is absent.
    """

    names = ("axis", "gain", "body")
    monoid: ClassVar[str] = RECURRENCE
    __slots__ = ()

    def __new__(cls, axis: Axis, gain: Term, body: Term) -> Recur:
        parts = as_real(gain), as_real(body)
        for part in parts:
            _need(axis, part, "recurrence")
        return _make(cls, (axis, *parts), union_axes("recurrence", *(p.axes for p in parts), (axis,)), "real", parts)


class Read(Term):
    """A reindexing: `Read(body, axis, index)` is body at axis = index, the index clamped into the axis.

    The index is an integer term; affine indices rename, shift, slice and window, an integer array gathers.
    """

    names = ("body", "axis", "index")
    __slots__ = ()

    def __new__(cls, body: Term, axis: Axis, index: Term) -> Read:
        if index.kind != "int":
            raise NapkinError(f"read along {axis.name}: the index is {index.kind}, expected int")
        if body.kind == "tuple":
            raise NapkinError(f"read along {axis.name}: the body is a tuple; read one of its items")
        # What a variable of a law stands for may vary along any axis
        if axis.name not in {a.name for a in body.axes} and not any(isinstance(t, Pattern) for t in subterms(body)):
            raise NapkinError(f"read along {axis.name}: the body has no axis {axis.name}, only {_listed(body.axes)}")
        _need(axis, body, "read")
        return _make(
            cls,
            (body, axis, index),
            union_axes("read", _without(body.axes, axis), index.axes),
            body.kind,
            (body, index),
        )


def renames(read: Read) -> bool:
    """Tell whether a read only calls an axis by another name: one of the same size, which is known."""
    return isinstance(read.index, Index) and same_size(read.index.axis, read.axis)


def same_size(a: Axis, b: Axis) -> bool:
    """Tell whether two axes are known to be as long as each other."""
    return a.size is not None and a.size == b.size


def renamed(term: Term) -> Term:
    """Return the value that a term calls by other names of axes, or the term itself."""
    while isinstance(term, Read) and renames(term):
        term = term.body
    return term


class Tuple(Term):
    """Parallel composition, several outputs: `Tuple(items)`."""

    names = ("items",)
    __slots__ = ()

    def __new__(cls, items: tuple[Term, ...]) -> Tuple:
        if not items or any(i.kind == "tuple" for i in items):
            raise NapkinError("a tuple holds one or more arrays, and no tuples")
        return _make(cls, (tuple(items),), union_axes("tuple", *(i.axes for i in items)), "tuple", tuple(items))


class Proj(Term):
    """One item of a Tuple, which may stand under Store, Group and Walk: `Proj(index, body)`."""

    names = ("index", "body")
    __slots__ = ()

    def __new__(cls, index: int, body: Term) -> Proj:
        items = bundled(body)
        if not items:
            raise NapkinError(
                f"item {index!r:.60} of a {body.kind}: expected a tuple, or one under store, group and walk"
            )
        if type(index) is not int or not 0 <= index < len(items):
            raise NapkinError(f"item {index!r:.60} of a tuple of {len(items)}: expected 0 to {len(items) - 1}")
        return _make(cls, (index, body), items[index].axes, items[index].kind, (body,))

    @property
    def item(self) -> Term:
        """The item itself, as it stands in the Tuple."""
        return bundled(self.body)[self.index]  # type: ignore[no-any-return]


def bundled(term: Term) -> tuple[Term, ...]:
    """Return the items of a Tuple, which may stand under Store, Group and Walk; of anything else none."""
    while isinstance(term, (Store, Group, Walk)):
        term = term.body
    return term.items if isinstance(term, Tuple) else ()


class Store(Term):
    """The value materialised in the memory level above; a kernel is what lies under one Store: `Store(body)`."""

    names = ("body",)
    __slots__ = ()

    def __new__(cls, body: Term) -> Store:
        return _make(cls, (body,), body.axes, body.kind, (body,))


class Group(Term):
    """The value computed in independent blocks along an axis: `Group(axis, body)` (napkin-paper 2.1)."""

    names = ("axis", "body")
    __slots__ = ()

    def __new__(cls, axis: Axis, body: Term) -> Group:
        _carried(axis, body, "group")
        return _make(cls, (axis, body), body.axes, body.kind, (body,))


class Walk(Term):
    """The value computed block after block along an axis, what lacks the axis staying resident: `Walk(axis, body)`."""

    names = ("axis", "body")
    __slots__ = ()

    def __new__(cls, axis: Axis, body: Term) -> Walk:
        _carried(axis, body, "walk")
        return _make(cls, (axis, body), body.axes, body.kind, (body,))


class Acc(Term):
    """The accumulator before the current block, inside an Online's update."""

    __slots__ = ()

    def __new__(cls) -> Acc:
        return _make(cls, (), (), "real", ())


class Prev(Term):
    """A running value as it was before the current block, inside an Online's update: `Prev(body)`."""

    names = ("body",)
    __slots__ = ()

    def __new__(cls, body: Term) -> Prev:
        if body.kind == "tuple":
            raise NapkinError("prev: the body is a tuple; take one of its items")
        return _make(cls, (body,), body.axes, body.kind, (body,))


def _carried(axis: Axis, body: Term, what: str) -> None:
    if isinstance(body, Pattern):
        return
    if axis.name not in {a.name for a in body.axes}:
        raise NapkinError(f"{what} along {axis.name}: the value has no axis {axis.name}, only {_listed(body.axes)}")
    _need(axis, body, what)


def _listed(axes: tuple[Axis, ...]) -> str:
    return ", ".join(a.name for a in axes) or "none"


def _fold(cls: type[T], fields: tuple[Any, ...]) -> T:
    values = dict(zip(cls.names, fields, strict=True))
    axis, monoid = values["axis"], values.get("monoid", "sum")
    if monoid not in REDUCTIONS:
        raise NapkinError(f"unknown monoid {monoid!r:.60}; one of {', '.join(REDUCTIONS)}")
    if values["where"].kind != "bool":
        raise NapkinError(
            f"{monoid} over {axis.name}: the mask is {values['where'].kind}, expected bool; compare something, such as"
            " Index(q) >= Index(x)"
        )
    values["body"] = as_real(values["body"])
    for part in (values["body"], values["where"]):
        _need(axis, part, f"{monoid} over {axis.name}")
    children = tuple(values[name] for name in ("body", "where", "update") if name in values)
    axes = _without(union_axes(f"{monoid} over {axis.name}", *(c.axes for c in children)), axis)
    return _make(cls, tuple(values.values()), axes, REDUCTIONS[monoid].gives, children)


def lift(value: object) -> Term:
    """Return a term as it is, a Python number as a Const; raise NapkinError for anything else.

    True and False are refused, as that is what `==` and `!=` between terms give; a mask that is one is `Const(True)`.
    """
    if isinstance(value, Term):
        return value
    if isinstance(value, bool):
        raise NapkinError(
            f"{value} stands where a term is expected; a == b and a != b tell whether two terms are one: write"
            " equal(a, b) or ~equal(a, b) for a mask"
        )
    if isinstance(value, (int, float)):
        return Const(value)
    raise NapkinError(f"{value!r:.60} is neither a term nor a number")


def as_real(term: Term) -> Term:
    """Return an int term as real (exact), a real term as it is; raise NapkinError for a mask."""
    if term.kind == "real":
        return term
    if isinstance(term, Const) and term.kind == "int":
        return Const(Fraction(term.value))  # of more than 53 bits it is no float
    if term.kind == "int":
        return Map("real", (term,))
    raise NapkinError(f"a {term.kind} stands where a number is expected: choose with where(mask, a, b)")


def in_others(form: Callable[..., Any], *args: Term) -> Term:
    """Return what an operator's record says it means, or is written as, of its arguments."""
    return form(lambda op, *parts: Map(op, tuple(map(lift, parts))), *args)  # type: ignore[no-any-return]


def rebuilt(term: Term, children: tuple[Term, ...], axes: Mapping[Axis, Axis] | None = None) -> Term:
    """Return the term with other children, its other fields kept, but for axes that are given others; checks run
    anew.
    """
    if children == term.children and not (axes and any(f in axes for f in term.fields if isinstance(f, Axis))):
        return term
    fresh: Iterator[Term] = iter(children)

    def swap(field: Any) -> Any:
        if isinstance(field, Term):
            return next(fresh)
        if isinstance(field, tuple) and field and isinstance(field[0], Term):
            return tuple(next(fresh) for _ in field)
        return axes.get(field, field) if axes and isinstance(field, Axis) else field

    return type(term)(*map(swap, term.fields))


def with_part(root: Term, path: Sequence[int], part: Term) -> Term:
    """Return a term with another part at a path of child numbers from its root."""
    spine = [root]
    for place in path:
        spine.append(spine[-1].children[place])
    for term, place in zip(spine[-2::-1], reversed(path), strict=True):
        part = rebuilt(term, (*term.children[:place], part, *term.children[place + 1 :]))
    return part


def required(value: object, where: str) -> Term:
    """Return a value that is a term; raises NapkinError, with where it stands, for any other."""
    if isinstance(value, Term):
        return value
    hint = next((f"; take its .{name}" for name in ("term", "diagram") if hasattr(value, name)), "")
    raise NapkinError(f"{where}: expected a term, found {type(value).__name__}{hint}")


def subterms(*roots: Term, known: Container[Term] = frozenset()) -> list[Term]:
    """Return every distinct subterm once, children before parents, in a fixed order; none that is known, or in one."""
    seen: dict[Term, None] = {}
    stack = [root for root in reversed(roots) if root not in known]
    while stack:
        term = stack[-1]
        if term not in seen:
            if waiting := [child for child in term.children if child not in seen and child not in known]:
                stack += reversed(waiting)  # the term is looked at again after them
                continue
            seen[term] = None
        stack.pop()
    return list(seen)


def factors(term: Term) -> list[Term]:
    """Return the factors of a product of products, in their order; of anything else the term itself."""
    found, stack = list[Term](), [term]
    while stack:
        part = stack.pop()
        if isinstance(part, Map) and part.op == "mul":
            stack += reversed(part.args)
        else:
            found.append(part)
    return found


def axis_names(*roots: Term) -> set[str]:
    """Return the names of all axes that terms speak of, free or bound."""
    return {f.name for t in subterms(*roots) for f in (*t.fields, *t.axes) if isinstance(f, Axis)}


def rewritten(root: Term, change: Callable[[Term], Term]) -> Term:
    """Return the term with `change` applied to every node, children first."""
    done: dict[Term, Term] = {}
    for term in subterms(root):
        done[term] = change(rebuilt(term, tuple(done[c] for c in term.children)))
    return done[root]


def held(term: Term) -> Term:
    """Return what stands under a Store, Group or Walk, or as the item of a Tuple; of anything else the term: the same
    value.
    """
    if isinstance(term, (Store, Group, Walk)):
        return term.body  # type: ignore[no-any-return]
    return term.item if isinstance(term, Proj) else term


CLASSES: dict[str, type[Term]] = {
    cls.__name__: cls
    for cls in (
        Input,
        Const,
        Index,
        Size,
        Length,
        Map,
        Reduce,
        Fold,
        Online,
        Scan,
        Recur,
        Read,
        Tuple,
        Proj,
        Store,
        Group,
        Walk,
        Acc,
        Prev,
    )
}
