"""Statements written into scopes: a value lands in the outermost block of statements where all it depends on is known,
once.
"""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.dtypes import NARROW, WHOLE
from napkin_eq.lang.operators import NEUTRAL
from napkin_eq.lang.term import Term
from napkin_eq.tile import ir as p

Env = tuple[tuple[str, str], ...]
AccKey = tuple[Any, Env]


@dataclass(slots=True)
class Scope:
    """A list of statements being written: the kernel's, or one part of a loop over `coord`.

    known: masks that hold throughout it, each with the coordinates that stand there for its axes: a fold inside may
    give these others.
    """

    level: int
    coord: str | None = None
    stmts: list[p.Stmt] = field(default_factory=list)
    memo: dict[Any, p.Operand] = field(default_factory=dict)
    known: frozenset[tuple[Term, Env]] = frozenset()
    whole_tiles: bool = False
    new: dict[Any, str] = field(default_factory=dict)
    old: dict[Any, str] = field(default_factory=dict)
    carried: list[tuple[p.Value, float, p.Operand]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Context:
    """Which coordinate stands for each axis, and over which axis running or previous values are meant.

    kept: masks, each with its value, outside of which what is written is not wanted, so that nothing need be read
    there: those of choices around it, element by element, that tell something of places that are read.
    """

    env: Env
    running: tuple[tuple[str, str], ...] = ()
    acc: str = ""
    kept: tuple[tuple[Term, str], ...] = ()

    @property
    def moving(self) -> frozenset[str]:
        """The axes over which running or previous values are meant: of these a size grows."""
        return frozenset(name for name, _ in self.running)

    def coord(self, axis: Axis) -> str | None:
        return dict(self.env).get(axis.name)

    def at(self, axis: Axis, coord: str) -> Context:
        return replace(self.within(((axis.name, coord),)), running=tuple(r for r in self.running if r[0] != axis.name))

    def within(self, env: Env) -> Context:
        """Return the context in which other coordinates stand for some axes."""
        return replace(self, env=tuple(sorted({**dict(self.env), **dict(env)}.items())))

    def mode(self, axis: Axis) -> str | None:
        return dict(self.running).get(axis.name)

    def set_mode(self, axis: Axis, mode: str) -> Context:
        return replace(self, running=tuple(sorted({**dict(self.running), axis.name: mode}.items())))


UNUSED = 16  # lanes of a tile of an axis of open size that nothing stored rests on


class Statements(ABC):
    """The scopes of a kernel that is being written, its coordinates and values.

    tiles maps an axis name to its output tile and "~name" to its folds' tile; ranks orders the axes of the kernel.
    `lanes` holds, of a stream that is folded lane by lane, the coordinates of its lanes and of the run of neighbours
    that each takes.
    """

    def __init__(self, tiles: Mapping[str, int], ranks: Mapping[str, int]) -> None:
        self.tiles, self.ranks = tiles, ranks
        self.coords: dict[str, p.Coord] = {}
        self.values: dict[str, p.Value] = {}
        self.level_of: dict[str, int] = {}
        self.stack = [Scope(0)]
        self.named: dict[str, int] = {}
        self.multiples: dict[str, int] = {}
        self.lanes: dict[str, tuple[str, str]] = {}
        self.indices: set[str] = set()
        self.sums: dict[str, tuple[p.Operand, ...]] = {}
        self.arrays: Mapping[Term, p.Buffer] = {}  # what other kernels store, and inputs as merged axes see them

    @abstractmethod
    def operand(self, term: Term, context: Context) -> p.Operand:
        """Return the operand that holds a term's value in a context, writing what is needed: what each kind of term
        comes to is the subclass's.
        """

    def coordinate(self, name: str, axis: Axis, tile: int, role: str) -> str:
        """Enter a coordinate unless it is there, and return its name."""
        self.coords.setdefault(name, p.Coord(name, axis, tile, role))
        return name

    def fold_tile(self, axis: Axis) -> int:
        """Return the tile of an axis where it is folded; of one that no kernel of a plan walks any more, as nothing
        stored rests on it, any.
        """
        return self.tiles.get(f"~{axis.name}", 1 << ((axis.size or UNUSED) - 1).bit_length())

    def rank(self, coord: str) -> tuple[int, str]:
        """Return the place of a coordinate in the order of the kernel's axes."""
        return self.ranks.get(self.coords[coord].axis.name, len(self.ranks)), coord

    def level(self, coord: str) -> int:
        """Return the level of the scope that walks a coordinate; 0 for grid and whole coordinates."""
        for scope in self.stack:
            if scope.coord == coord:
                return scope.level
        return 0

    def put(
        self, make: Callable[[p.Value], p.Stmt], key: Any, coords: Sequence[str], dtype: str, args: Sequence[p.Operand]
    ) -> str:
        """Append a statement in the outermost scope that knows its arguments, or find the same one there."""
        coords = tuple(sorted(set(coords), key=self.rank)) if len(coords) > 1 else tuple(coords)
        level = max([self.level(c) for c in coords] + [self.level_of[a] for a in args if isinstance(a, str)], default=0)
        scope = self.stack[level]
        key = (key, coords, dtype, args)
        if key not in scope.memo:
            value = self.fresh(hint(key[0], args, dtype), coords, dtype, level)
            scope.stmts.append(make(value))
            scope.memo[key] = value.name
        found = scope.memo[key]
        assert isinstance(found, str)
        return found

    def fresh(self, base: str, coords: tuple[str, ...], dtype: str, level: int) -> p.Value:
        """Return a new value, its name saying what it is: one that no other has, as one of an axis x2 may beside the
        second of an axis x.
        """
        number = self.named.get(base, 0) + 1
        while (name := base if number == 1 else f"{base}{number}") in self.values:
            number += 1
        self.named[base] = number
        value = p.Value(name, coords, dtype)
        self.values[value.name], self.level_of[value.name] = value, level
        return value

    def emit(self, op: str, args: tuple[p.Operand, ...], dtype: str) -> p.Operand:
        """Append an elementwise operator; of numbers alone it is computed here, and a whole one stands as a real one
        among reals.
        """
        whole = dtype in WHOLE
        if not whole and op not in ("cast", "real") and any(self._is_real(a) for a in args):
            args = tuple(float(a) if type(a) is int else a for a in args)
        if not whole and not any(isinstance(a, str) for a in args) and (number := known_value(op, args)) is not None:
            return number
        if op == "where" and isinstance(args[0], bool):
            return args[1 if args[0] else 2]
        if op in ("and", "or") and (settled := _settled(op, args)) is not None:
            return settled
        if (same := self._same(op, args)) is not None:
            return same
        if whole and (known := tuple(a for a in args if type(a) is int)) and len(known) == len(args):
            return _whole_number(op, known)
        if whole and op in ("add", "mul") and (plain := _unit(op, args)) is not None:
            return plain
        if op in ("add", "mul") and isinstance(args[1], str) and not isinstance(args[0], str):
            args = (args[1], args[0])  # numbers stand last, so that one product is not computed as two
        if dtype == "i32" and op == "add":
            args = self._by_rank(*args)
        coords = [c for a in args if isinstance(a, str) for c in self.values[a].coords]
        found = self.put(lambda v: p.Let(v, op, args), op, coords, dtype, args)
        if dtype == "i32" and op == "add":
            self.sums[found] = args
        if dtype == "i32" and op in ("add", "mul", "min", "max", "neg"):
            parts = [self.multiple(a) for a in args]
            self.multiples[found] = min(math.prod(parts), 1 << 30) if op == "mul" else math.gcd(*parts)
        return found

    def integers(self, op: str, args: tuple[p.Operand, ...], wide: bool = False, comparison: bool = False) -> p.Operand:
        """Append an operator of whole numbers, of 64 bits if one of them is or `wide` asks for it."""
        numbers = args[1:] if op == "where" else args
        wide = wide or any(
            self.values[a].dtype == "i64" if isinstance(a, str) else not -(2**31) <= a < 2**31 for a in numbers
        )
        dtype = "i64" if wide else "i32"
        numbers = tuple(self.cast(a, dtype) for a in numbers)
        return self.emit(op, (*args[:1], *numbers) if op == "where" else numbers, "i1" if comparison else dtype)

    def _by_rank(self, one: p.Operand, other: p.Operand) -> tuple[p.Operand, p.Operand]:
        """Return what to add for a sum of whole numbers of 32 bits: what varies along fewer coordinates is added first,
        once for all lanes of the others.
        """
        spans = {a: {*self.values[a].coords} if isinstance(a, str) else set[str]() for a in (one, other)}
        for whole, part in ((one, other), (other, one)):
            for own, rest in (sides, sides[::-1]) if (sides := self.sums.get(str(whole))) else ():
                span = {*self.values[own].coords} if isinstance(own, str) else set[str]()
                if spans[part] <= span < spans[whole]:
                    return rest, self.emit("add", (own, part), "i32")
        return one, other

    def _same(self, op: str, args: tuple[p.Operand, ...]) -> p.Operand | None:
        """Return what an operator gives where two of its arguments are one value, if that is known of any value, and
        varies along as much.

        A real number may be NaN and then is not equal to itself. A coordinate compared with itself stays: so a mask is
        written that spans it.
        """
        if len(args) < 2 or args[-1] != args[-2] or type(args[-1]) is not type(args[-2]):
            return None
        one = args[-1]
        if op == "where":
            spanned = self.values[one].coords if isinstance(one, str) else ()
            return one if isinstance(args[0], str) and {*self.values[args[0]].coords} <= {*spanned} else None
        if not isinstance(one, str):
            return None
        if op in ("and", "or", "max", "min"):
            return one
        if op in ("le", "eq") and (
            self.values[one].dtype not in (*WHOLE, "i1") or self.values[one].name in self.indices
        ):
            return None
        return {"lt": False, "le": True, "eq": True}.get(op)

    def multiple(self, operand: p.Operand) -> int:
        """Return a number that an integer operand is known to be a multiple of, 1 where nothing is known."""
        if isinstance(operand, str):
            return self.multiples.get(operand, 1)
        return int(operand) or 1 << 30

    def _is_real(self, operand: p.Operand) -> bool:
        return (
            type(operand) is float if not isinstance(operand, str) else self.values[operand].dtype not in (*WHOLE, "i1")
        )

    def as_value(self, operand: p.Operand, dtype: str = "f32") -> str:
        """Return the name of a value, one that holds a number of this type where the operand is none."""
        if isinstance(operand, str):
            return operand
        op, number, unit = {"f32": ("add", float(operand), 0.0), "i1": ("or", bool(operand), False)}.get(
            dtype, ("add", operand, 0)
        )
        return self.put(lambda v: p.Let(v, op, (number, unit)), op, (), dtype, (number, unit))

    def cast(self, operand: p.Operand, dtype: str) -> p.Operand:
        """Return a value in another type; numbers have none."""
        if not isinstance(operand, str) or self.values[operand].dtype == dtype:
            return operand
        return self.emit("cast", (operand,), dtype)

    def wide(self, operand: p.Operand) -> p.Operand:
        """Return an operand ready for float arithmetic, which is of f32: tiles of other types become that, a size that
        is known a real number.
        """
        if type(operand) is int:
            return float(operand)
        if isinstance(operand, str) and self.values[operand].dtype in (*NARROW, "f64", *WHOLE):
            return self.cast(operand, "f32")
        return operand

    def iota(self, coord: str | None) -> p.Operand:
        """Return the indices of a coordinate's lanes; of one with tile 1, its only index."""
        assert coord is not None
        if self.coords[coord].tile == 1:
            return self.start(coord)
        if coord in self.lanes:
            lane, run = self.lanes[coord]
            first = self.emit("mul", (self.iota(lane), self.coords[run].tile), "i32")
            return self.emit("add", (self.emit("add", (first, self.start(coord)), "i32"), self.iota(run)), "i32")
        found = self.put(lambda v: p.Iota(v, coord), ("at", self.coords[coord].axis.name), (coord,), "i32", ())
        self.indices.add(found)
        return found

    def start(self, coord: str) -> p.Operand:
        """Return the first index of a coordinate's current block."""
        if self.coords[coord].single:
            return 0
        level = self.level(coord)
        scope = self.stack[level]
        key = ("start", coord)
        if key not in scope.memo:
            value = self.fresh(f"{self.coords[coord].axis.name}_start", (), "i32", level)
            self.multiples[value.name] = self.coords[coord].tile
            scope.stmts.append(p.Start(value, coord))
            scope.memo[key] = value.name
            self.indices.add(value.name)
        return scope.memo[key]

    def size(self, axis: Axis) -> p.Operand:
        """Return the size of an axis, a value where it is an argument."""
        return (
            axis.size
            if axis.size is not None
            else self.put(lambda v: p.SizeOf(v, axis), ("size", axis.name), (), "i32", ())
        )

    def valid(self, coord: str | None) -> tuple[str, ...]:
        """Return the mask of the lanes that lie inside the axis, where the current block may reach past it."""
        assert coord is not None
        c = self.coords[coord]
        if not c.ragged or any(s.coord == coord and s.whole_tiles for s in self.stack):
            return ()
        found = self.emit("lt", (self.iota(coord), self.size(c.axis)), "i1")
        assert isinstance(found, str)
        return (found,)

    def masked(self, value: p.Operand, coord: str, neutral: float) -> p.Operand:
        """Put a neutral element into the lanes that lie past the end of the axis."""
        for mask in self.valid(coord):
            value = self.emit("where", (mask, value, neutral), "f32")
        return value

    def spread(self, body: p.Operand, coord: str, monoid: str) -> p.Operand:
        """Give a value that does not vary along the folded axis a lane for each element inside it."""
        flat = self.emit("mul", (self.cast(self.iota(coord), "f32"), 0.0), "f32")
        return self.masked(self.emit("add", (flat, body), "f32"), coord, NEUTRAL[monoid])


def restricted(env: Env, term: Term) -> Env:
    """Return the coordinates that a term varies along."""
    names = {a.name for a in term.axes}
    return tuple(e for e in env if e[0] in names)


_HINTS = {
    "add": "plus", "mul": "times", "exp2": "exp", "log2": "log", "where": "kept", "div": "ratio", "max": "larger",
    "min": "smaller", "neg": "minus",
    "and": "both", "or": "either", "not": "others", "lt": "inside", "le": "seen", "eq": "same", "floordiv": "blocks",
    "mod": "rest",
}  # fmt: skip


def hint(key: Any, args: Sequence[p.Operand], dtype: str) -> str:
    """Return a name for a value that says how it was made."""
    if isinstance(key, tuple):
        kind, *rest = key
        if kind == "load":
            return f"{rest[0].partition('__')[0]}_tile"
        if kind == "at":
            return f"{rest[0]}_at"
        return (
            "_".join([str(r).partition("__")[0] for r in rest] + ["part"])
            if len(rest) == 2
            else f"{kind}_{str(rest[0]).partition('__')[0]}"
        )
    if key == "cast" and isinstance(args[0], str):
        return f"{args[0]}_{dtype}"
    word = _HINTS.get(key, key)
    return f"{word}_n" if dtype in WHOLE else f"{word}_t"


def _whole_number(op: str, args: tuple[int, ...]) -> int:
    a, b = args[0], args[-1]
    if op in ("floordiv", "mod"):
        return 0 if b == 0 else a // b if op == "floordiv" else a % b
    return {"add": a + b, "mul": a * b, "neg": -a, "max": max(a, b), "min": min(a, b)}[op]


_NUMBERS: dict[str, Callable[..., float | bool]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "neg": operator.neg,
    "max": max, "min": min,
    "exp2": lambda x: 2.0**x, "log2": lambda x: math.log2(x) if x else -math.inf, "sqrt": math.sqrt, "tanh": math.tanh,
    "erf": math.erf,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)) if x > -700 else 0.0, "sin": math.sin, "cos": math.cos, "abs": abs,
    "floor": math.floor, "round": round,
    "lt": operator.lt, "le": operator.le, "eq": operator.eq, "and": operator.and_, "or": operator.or_,
    "not": operator.not_,
}  # fmt: skip


def known_value(op: str, args: tuple[p.Operand, ...]) -> p.Operand | None:
    """Return what an operator of the plan language gives for numbers, None where that is no number or past
    the largest.
    """
    try:
        found = _NUMBERS[op](*args)
    except (KeyError, ValueError, OverflowError, ZeroDivisionError):
        return None
    return None if found != found else float(found) if type(found) is int else found


def _settled(op: str, args: tuple[p.Operand, ...]) -> p.Operand | None:
    """Return what "and" or "or" comes to where one side is a number."""
    for one, other in (args, args[::-1]):
        if isinstance(one, bool):
            return one if one == (op == "or") else other
    return None


def _unit(op: str, args: tuple[p.Operand, ...]) -> p.Operand | None:
    unit = 0 if op == "add" else 1
    for one, other in (args, args[::-1]):
        if type(one) is int and one == unit:
            return other
    return None
