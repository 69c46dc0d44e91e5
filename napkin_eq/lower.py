"""From a term to the plan it says: reads Store, Group, Walk, Fold and Online nodes off a term, and decides nothing.

A value lands in the outermost block of statements where all it depends on is known, once. A fold's pass over an axis is a
Loop; folds that the term marks as fused share the pass of their axis and depth. A coordinate whose tile covers its axis
needs no loop: its folds are tile reductions. What a tile size can change is only that, never what is computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from napkin_eq import plan as p
from napkin_eq.accumulate import accumulated
from napkin_eq.axis import Axis
from napkin_eq.errors import NapkinError
from napkin_eq.law import Judgment, absent, finite, nonzero, pos, zero
from napkin_eq.ops import COMBINE, NEUTRAL
from napkin_eq.term import (
    Acc,
    Const,
    Fold,
    Group,
    Index,
    Input,
    Length,
    Map,
    Online,
    Prev,
    Proj,
    Read,
    Reduce,
    Scan,
    Size,
    Store,
    Term,
    Tuple,
    Walk,
    held,
    rebuilt,
    subterms,
)  # fmt: skip

LOG2E = math.log2(math.e)
MIN_DOT = 16
# Operands of contractions that are computed are rounded to the storage type; other precisions keep them in f32.
NARROW = "narrow"
Streamed = (Reduce, Fold, Online)
Proved = Callable[[Judgment], bool]
Env = tuple[tuple[str, str], ...]
AccKey = tuple[Any, Env]


@dataclass(slots=True)
class Scope:
    """A list of statements being written: the kernel's, or one part of a loop over `coord`."""

    level: int
    coord: str | None = None
    stmts: list[p.Stmt] = field(default_factory=list)
    memo: dict[Any, p.Operand] = field(default_factory=dict)
    known: frozenset[Term] = frozenset()
    whole_tiles: bool = False
    new: dict[Any, str] = field(default_factory=dict)
    old: dict[Any, str] = field(default_factory=dict)
    carried: list[tuple[p.Value, float, p.Operand]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Context:
    """Which coordinate stands for each axis, and over which axis running or previous values are meant."""

    env: Env
    running: tuple[tuple[str, str], ...] = ()
    acc: str = ""

    def coord(self, axis: Axis) -> str | None:
        return dict(self.env).get(axis.name)

    def at(self, axis: Axis, coord: str) -> Context:
        return replace(self, env=tuple(sorted({**dict(self.env), axis.name: coord}.items())), running=tuple(r for r in self.running if r[0] != axis.name))

    def mode(self, axis: Axis) -> str | None:
        return dict(self.running).get(axis.name)

    def set_mode(self, axis: Axis, mode: str) -> Context:
        return replace(self, running=tuple(sorted({**dict(self.running), axis.name: mode}.items())))


def axis_ranks(term: Term, arrays: Mapping[Term, p.Buffer]) -> dict[str, int]:
    """Order the axes of a kernel so that the storage order of every array it reads is kept where possible, ties by first appearance."""
    parts = kernel_terms(term)
    stored = [arrays[t].dims if t in arrays else t.dims for t in parts if t in arrays or isinstance(t, Input)]
    named = [f for t in parts for f in t.fields if isinstance(f, Axis)]
    seen = dict.fromkeys(a.name for a in (*(d for dims in stored for d in dims), *named))
    after: dict[str, set[str]] = {name: set() for name in seen}
    for dims in stored:
        for left, right in zip(dims, dims[1:], strict=False):
            after[right.name].add(left.name)
    order: list[str] = []
    while len(order) < len(seen):
        rest = [n for n in seen if n not in order]
        ready = [n for n in rest if after[n] <= set(order)]
        order.append((ready or rest)[0])
    return {name: i for i, name in enumerate(order)}


def kernel_terms(store: Term) -> list[Term]:
    """Return the subterms of a kernel in a fixed order: those under its Store, not those under another."""
    found: dict[Term, None] = {}

    def visit(term: Term) -> None:
        if term not in found:
            for child in () if isinstance(term, (Store, Proj)) and term is not store else term.children:
                visit(child)
            found.setdefault(term)

    visit(store)
    return list(found)


_plain: dict[Term, Term] = {}


def plain(term: Term) -> Term:
    """Return the term with the reductions that its streamed forms stand for: the same value, in the form that facts speak of."""
    if term not in _plain:
        body = rebuilt(term, tuple(map(plain, term.children)))
        if isinstance(body, Online):
            body = Reduce("sum", body.axis, body.body)
        elif isinstance(body, Fold):
            body = Reduce(body.monoid, body.axis, body.body)
        _plain[term] = held(body)
    return _plain[term]


def fold_key(term: Term) -> tuple[Any, ...]:
    """Identify an accumulator: what is folded, whoever shares its pass."""
    if isinstance(term, Online):
        return ("sum", term.axis, term.body, term.where, term.update)
    return (term.monoid, term.axis, term.body, term.where)


def depth_along(term: Term, axis: Axis) -> int:
    """Count the passes over an axis that must run one after another to have a term."""
    depths: dict[Term, int] = {}
    for t in subterms(term):
        below = max((depths[c] for c in t.children), default=0)
        if isinstance(t, Streamed) and t.axis.name == axis.name:
            below = max(1, depths[t.body]) if isinstance(t, Online) else 1 + depths[t.body]
        depths[t] = below
    return depths[term]


_reduces: dict[tuple[Term, str], bool] = {}


def reduces_over(term: Term, name: str) -> bool:
    """Whether a reduction over the named axis stands anywhere inside a term, or its size."""
    key = (term, name)
    if key not in _reduces:
        own = isinstance(term, (*Streamed, Size)) and term.axis.name == name
        # The accumulator in an Online's update is its own, and what else stands there stands in its body too.
        parts = term.children[:2] if isinstance(term, Online) else term.children
        _reduces[key] = own or isinstance(term, Acc) or any(reduces_over(c, name) for c in parts)
    return _reduces[key]


def modes_of(store: Store) -> tuple[dict[str, str], Term]:
    """Read the Group and Walk nodes under a Store: the role of each output axis, and the value."""
    roles: dict[str, str] = {}
    body = store.body
    while isinstance(body, (Group, Walk)):
        roles.setdefault(body.axis.name, "group" if isinstance(body, Group) else "walk")
        body = body.body
    return roles, body


class Lowering:
    """Lower one kernel: the term under one Store, with a tile size for every coordinate.

    targets: the buffer of each value that the Store holds, one or those of a Tuple. tiles maps an axis name to its output
    tile and "~name" to its folds' tile. arrays maps inner Stores, or the Proj of one, to their buffers. precision: of
    contractions, NARROW or of MATRIX_ROUNDOFF in plan.py, which then holds for every operand that is not of 16 bits as it is read.
    Raises NapkinError where an unstreamed reduction does not fit in one tile, or several blocks would store one value.
    """

    def __init__(
        self,
        name: str,
        store: Store,
        targets: Sequence[p.Buffer],
        tiles: Mapping[str, int],
        arrays: Mapping[Term, p.Buffer],
        storage: str,
        proved: Proved,
        precision: str = NARROW,
    ) -> None:
        self.name, self.targets, self.tiles, self.arrays, self.storage, self.proved = name, tuple(targets), tiles, arrays, storage, proved
        self.precision = precision
        self.roles, body = modes_of(store)
        self.bodies = body.items if isinstance(body, Tuple) else (body,)
        self.axes = store.axes
        self.ranks = axis_ranks(store, arrays)
        self.coords: dict[str, p.Coord] = {}
        self.values: dict[str, p.Value] = {}
        self.level_of: dict[str, int] = {}
        self.stack = [Scope(0)]
        self.reads: dict[str, p.Buffer] = {}
        self.passes: dict[Any, dict[AccKey, Term]] = {}
        self.present: set[str] = set()
        self.stored: set[str] = set()
        self.named: dict[str, int] = {}
        self.multiples: dict[str, int] = {}

    # -- the kernel --------------------------------------------------------------------------------------------------

    def kernel(self) -> p.Kernel:
        env, walks = [], []
        for axis in self.axes:
            role = self.roles.get(axis.name, "")
            tile = self.tiles[axis.name]
            if covers(tile, axis):
                role = "whole"
            elif not role:
                raise NapkinError(f"axis {axis.name} of the output is neither grouped nor walked, and a tile of {tile} does not hold it")
            elif role == "group" and any(axis not in body.axes for body in self.bodies):
                raise NapkinError(f"a value that does not vary along {axis.name} would be stored by each of its blocks")
            env.append((axis.name, self._coord(axis.name, axis, tile, role)))
            if role == "walk":
                walks.append(axis.name)
        context = Context(tuple(sorted(env)))
        for body in self.bodies:
            self._gather(body, context, set())
        self._walk(walks, context)
        order = sorted(self.coords.values(), key=lambda c: self._rank(c.name))
        grid = tuple(c.name for c in sorted((c for c in order if c.role == "group"), key=lambda c: (c.tile > 1, self.ranks[c.axis.name])))
        blocked = [g for g in grid if self.coords[g].tile > 1]
        swizzle = (grid[-2], grid[-1], 8) if len(blocked) == 2 and len(self.stack[0].stmts) > 1 else None
        made = p.Kernel(self.name, tuple(self.reads.values()), self.targets, tuple(order), grid, tuple(self.stack[0].stmts), swizzle=swizzle)
        return accumulated(made)

    def _walk(self, walks: Sequence[str], context: Context) -> None:
        for body, target in zip(self.bodies, self.targets, strict=True):
            if target.name not in self.stored and not any(a.name in walks for a in body.axes):
                self._store(body, target, context)
        if not walks:
            return
        coord = dict(context.env)[walks[0]]
        axis = self.coords[coord].axis
        scope = Scope(len(self.stack), coord)
        self.stack.append(scope)
        self._walk(walks[1:], context)
        scope.stmts += [p.Assign(before.name, self._as_value(after)) for before, _, after in scope.carried]
        self.stack.pop()
        part = p.Part(0, self._size(axis), tuple(scope.stmts), "walk")
        start = tuple((before, neutral) for before, neutral, _ in scope.carried)
        self.stack[-1].stmts.append(p.Loop(coord, start, (part,)))

    def _store(self, body: Term, target: p.Buffer, context: Context) -> None:
        self.stored.add(target.name)
        value = self.cast(self.operand(body, context), target.dtype)
        index = tuple(self.iota(context.coord(d)) for d in target.dims)
        masks = tuple(m for d in target.dims for m in self.valid(context.coord(d)))
        self.stack[-1].stmts.append(p.StoreTile(target.name, index, self._as_value(value), masks))

    def _as_value(self, operand: p.Operand) -> str:
        if isinstance(operand, str):
            return operand
        return self._as_value(self.emit("add", (operand, 0.0), "f32"))

    # -- coordinates -------------------------------------------------------------------------------------------------

    def _coord(self, name: str, axis: Axis, tile: int, role: str) -> str:
        self.coords.setdefault(name, p.Coord(name, axis, tile, role))
        return name

    def _rank(self, coord: str) -> tuple[int, str]:
        return self.ranks.get(self.coords[coord].axis.name, len(self.ranks)), coord

    def level(self, coord: str) -> int:
        """Return the level of the scope that walks a coordinate; 0 for grid and whole coordinates."""
        return next((s.level for s in self.stack if s.coord == coord), 0)

    def whole(self, axis: Axis) -> bool:
        return covers(self.tiles[f"~{axis.name}"], axis)

    def _fold_coord(self, axis: Axis) -> str:
        tile = self.tiles[f"~{axis.name}"]
        known = self.coords.get(axis.name)
        if known is not None and known.role == "whole" and known.tile == tile:
            return axis.name
        return self._coord(f"{axis.name}__w", axis, tile, "whole")

    # -- emitting ----------------------------------------------------------------------------------------------------

    def put(self, make: Callable[[p.Value], p.Stmt], key: Any, coords: Sequence[str], dtype: str, args: Sequence[p.Operand]) -> str:
        """Append a statement in the outermost scope that knows its arguments, or find the same one there."""
        coords = tuple(sorted(set(coords), key=self._rank))
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
        """Return a new value, its name saying what it is."""
        self.named[base] = self.named.get(base, 0) + 1
        value = p.Value(base if self.named[base] == 1 else f"{base}{self.named[base]}", coords, dtype)
        self.values[value.name], self.level_of[value.name] = value, level
        return value

    def emit(self, op: str, args: tuple[p.Operand, ...], dtype: str) -> p.Operand:
        """Append an elementwise operator; integers that are numbers are computed here."""
        if dtype == "i32" and all(type(a) is int for a in args):
            return _whole_number(op, args)  # type: ignore[arg-type]
        if dtype == "i32" and op in ("add", "mul") and (plain := _unit(op, args)) is not None:
            return plain
        if op in ("add", "mul") and isinstance(args[1], str) and not isinstance(args[0], str):
            args = (args[1], args[0])  # numbers stand last, so that one product is not computed as two
        coords = [c for a in args if isinstance(a, str) for c in self.values[a].coords]
        found = self.put(lambda v: p.Let(v, op, args), op, coords, dtype, args)
        if dtype == "i32" and op in ("add", "mul", "min", "max", "neg"):
            parts = [self.multiple(a) for a in args]
            self.multiples[found] = min(math.prod(parts), 1 << 30) if op == "mul" else math.gcd(*parts)
        return found

    def multiple(self, operand: p.Operand) -> int:
        """Return a number that an integer operand is known to be a multiple of, 1 where nothing is known."""
        if isinstance(operand, str):
            return self.multiples.get(operand, 1)
        return int(operand) or 1 << 30

    def cast(self, operand: p.Operand, dtype: str) -> p.Operand:
        if not isinstance(operand, str) or self.values[operand].dtype == dtype:
            return operand
        return self.emit("cast", (operand,), dtype)

    def wide(self, operand: p.Operand) -> p.Operand:
        """Return an operand ready for float arithmetic: 16-bit tiles become f32."""
        if isinstance(operand, str) and self.values[operand].dtype in ("f16", "bf16", "i32"):
            return self.cast(operand, "f32")
        return operand

    def iota(self, coord: str | None) -> p.Operand:
        assert coord is not None
        if self.coords[coord].tile == 1:
            return self.start(coord)
        return self.put(lambda v: p.Iota(v, coord), ("at", self.coords[coord].axis.name), (coord,), "i32", ())

    def start(self, coord: str) -> p.Operand:
        if self.coords[coord].role == "whole":
            return 0
        level = self.level(coord)
        scope = self.stack[level]
        key = ("start", coord)
        if key not in scope.memo:
            value = self.fresh(f"{self.coords[coord].axis.name}_start", (), "i32", level)
            self.multiples[value.name] = self.coords[coord].tile
            scope.stmts.append(p.Start(value, coord))
            scope.memo[key] = value.name
        return scope.memo[key]

    def _size(self, axis: Axis) -> p.Operand:
        return axis.size if axis.size is not None else self.put(lambda v: p.SizeOf(v, axis), ("size", axis.name), (), "i32", ())

    def valid(self, coord: str | None) -> tuple[str, ...]:
        """Return the mask of the lanes that lie inside the axis, where the current block may reach past it."""
        assert coord is not None
        c = self.coords[coord]
        if not c.ragged or any(s.coord == coord and s.whole_tiles for s in self.stack):
            return ()
        found = self.emit("lt", (self.iota(coord), self._size(c.axis)), "i1")
        assert isinstance(found, str)
        return (found,)

    # -- values ------------------------------------------------------------------------------------------------------

    def operand(self, term: Term, context: Context) -> p.Operand:
        """Return the operand that holds a term's value in a context, writing what is needed."""
        modes = tuple(r for r in context.running if reduces_over(term, r[0]))
        inner = {a.name for a in term.axes}
        env = tuple(e for e in context.env if e[0] in inner)
        key = ("term", term, env, modes, context.acc if modes else "")
        for scope in reversed(self.stack):
            if key in scope.memo:
                return scope.memo[key]
        found = self._operand(term, context)
        level = max([self.level(c) for _, c in env] + ([self.level_of[found]] if isinstance(found, str) else []), default=0)
        if modes:
            level = max(level, len(self.stack) - 1)
        self.stack[level].memo[key] = found
        return found

    def _operand(self, term: Term, context: Context) -> p.Operand:
        match term:
            case Const():
                return term.value  # type: ignore[no-any-return]
            case Input():
                return self._load(self.buffer(term), term.dims, {}, context)
            case Read():
                return self._read(term, context)
            case Store() | Proj():
                buffer = self.arrays[term]
                return self._load(buffer, buffer.dims, {}, context)
            case Index():
                return self.iota(context.coord(term.axis))
            case Size():
                return self._running_size(term.axis, context)
            case Length():
                return self._size(term.axis)
            case Map():
                return self._map(term, context)
            case Fold() | Online() | Reduce():
                return self._fold(term, context)
            case Scan():
                return self._scan(term, context)
            case Group() | Walk():
                return self.operand(term.body, context)
            case Prev():
                axis = next(a for a, mode in context.running if mode == "new")
                return self.operand(term.body, replace(context, running=tuple((a, "old" if a == axis else m) for a, m in context.running)))
            case Acc():
                return context.acc
        raise NapkinError(f"{type(term).__name__} cannot be lowered here")

    def buffer(self, array: Input) -> p.Buffer:
        dtype = {"float": self.storage, "float16": "f16", "bfloat16": "bf16", "float32": "f32", "int32": "i32", "int64": "i64", "bool": "i1"}
        return p.Buffer(array.name, array.dims, dtype[array.dtype])

    def _load(self, buffer: p.Buffer, dims: Sequence[Axis], at: Mapping[str, p.Operand], context: Context) -> p.Operand:
        self.reads.setdefault(buffer.name, buffer)
        index: list[p.Operand] = []
        masks: list[str] = []
        coords: list[str] = []
        for dim in dims:
            if dim.name in at:
                index.append(at[dim.name])
            else:
                coord = context.coord(dim)
                index.append(self.iota(coord))
                masks += self.valid(coord)
            if isinstance(index[-1], str):
                coords += self.values[index[-1]].coords
        args = (*index, *masks)
        name = self.put(lambda v: p.Load(v, buffer.name, tuple(index), tuple(masks)), ("load", buffer.name), coords, buffer.dtype, args)
        return self.cast(name, "i32") if buffer.dtype == "i64" else name

    def _read(self, term: Read, context: Context) -> p.Operand:
        at: dict[str, p.Operand] = {}
        body: Term = term
        while isinstance(body, Read):
            last = self.emit("add", (self._size(body.axis), -1), "i32")
            low = self.emit("max", (self.operand(body.index, context), 0), "i32")
            at.setdefault(body.axis.name, self.emit("min", (low, last), "i32"))
            body = body.body
        if isinstance(body, Input):
            return self._load(self.buffer(body), body.dims, at, context)
        if isinstance(body, Store):
            return self._load(self.arrays[body], self.arrays[body].dims, at, context)
        raise NapkinError(f"a read along {term.axis.name} of a value that is not stored: store it first")

    def _running_size(self, axis: Axis, context: Context) -> p.Operand:
        mode = context.mode(axis)
        if mode is None:
            return self._size(axis)
        scope = next(s for s in reversed(self.stack) if s.coord is not None and self.coords[s.coord].axis.name == axis.name)
        assert scope.coord is not None
        begin = self.start(scope.coord)
        if mode == "old":
            return begin
        return self.emit("min", (self.emit("add", (begin, self.coords[scope.coord].tile), "i32"), self._size(axis)), "i32")

    def _scan(self, term: Scan, context: Context) -> p.Operand:
        coord = context.coord(term.axis)
        assert coord is not None
        if self.coords[coord].role not in ("whole", "walk"):
            raise NapkinError(f"a scan over {term.axis.name} needs it walked or in one tile, and a tile of {self.coords[coord].tile} does not cover it")
        arg = self.masked(self.wide(self.operand(term.body, context)), coord, NEUTRAL[term.monoid])
        if not isinstance(arg, str) or coord not in self.values[arg].coords:
            arg = self._spread(arg, coord, context, term.monoid)
        arg = self._as_value(arg)
        block: p.Operand = arg
        if self.coords[coord].tile > 1:
            block = self.put(lambda v: p.ScanTile(v, term.monoid, coord, arg), ("scan", term.monoid, coord), self.values[arg].coords, "f32", (arg,))
        return block if self.coords[coord].role == "whole" else self._carried(term, context, coord, arg, block)

    def _carried(self, term: Scan, context: Context, coord: str, arg: str, block: p.Operand) -> p.Operand:
        """Combine the scan of a block with what all blocks before it give, which the walk carries."""
        scope = next(s for s in self.stack if s.coord == coord)
        key = ("carried", term.monoid, term.body, _restricted(context.env, term))
        if key not in scope.memo:
            coords = tuple(c for c in self.values[arg].coords if c != coord)
            if any(self.coords[c].role == "walk" and self.level(c) > scope.level for _, c in _restricted(context.env, term)):
                raise NapkinError(f"a scan over {term.axis.name} carries a value for each block of an axis that is walked within it")
            before = self.fresh(f"{term.monoid}_{term.axis.name}", coords, "f32", scope.level)
            scope.memo[key] = before.name
            whole: p.Operand = arg
            if self.coords[coord].tile > 1:
                whole = self.put(lambda v: p.ReduceTile(v, term.monoid, coord, arg), ("reduce", term.monoid, coord), coords, "f32", (arg,))
            scope.carried.append((before, NEUTRAL[term.monoid], self.emit(COMBINE[term.monoid], (before.name, whole), "f32")))
        return self.emit(COMBINE[term.monoid], (scope.memo[key], block), "f32")

    # -- elementwise -------------------------------------------------------------------------------------------------

    def _map(self, term: Map, context: Context) -> p.Operand:
        op, args = term.op, term.args
        if op == "where":
            return self._where(term, context)
        if op == "exp":
            return self.emit("exp2", (self._sum(args[0], LOG2E, context),), "f32")
        if op in ("add", "neg") and term.kind == "real":
            return self._sum(term, 1.0, context)
        if op == "real":
            return self.cast(self.operand(args[0], context), "f32")
        if op in ("and", "or") and (short := self._settled(term)) is not None:
            return short
        values = tuple(self.operand(a, context) for a in args)
        if term.kind == "int" or (term.kind == "bool" and args[0].kind == "int"):
            return self.emit(op, values, "i32" if term.kind == "int" else "i1")
        if term.kind == "bool":
            return self.emit(op, values if args[0].kind == "bool" else tuple(map(self.wide, values)), "i1")
        values = tuple(map(self.wide, values))
        if op == "inv":
            return self._inverse(args[0], values[0], context)
        if op == "mul":
            return self._product(args, values, context)
        if op == "log":
            return self.emit("mul", (self.emit("log2", values, "f32"), math.log(2.0)), "f32")
        return self.emit(op, values, "f32")

    def _sure(self, fact: Callable[[Term], Judgment], term: Term, context: Context) -> bool:
        """Whether a fact is proved of a term's value here; before the first block of a stream an axis is empty, and facts need not hold."""
        if isinstance(term, Prev) or any(mode == "old" and reduces_over(term, axis) for axis, mode in context.running):
            return False
        return self.proved(fact(plain(term)))

    def _inverse(self, term: Term, value: p.Operand, context: Context) -> p.Operand:
        if isinstance(value, (int, float)):
            return 1.0 / value if value else 0.0
        found = self.emit("div", (1.0, value), "f32")
        if self._sure(nonzero, term, context):
            return found
        return self.emit("where", (self.emit("eq", (value, 0.0), "i1"), 0.0, found), "f32")

    def _product(self, args: tuple[Term, ...], values: tuple[p.Operand, ...], context: Context) -> p.Operand:
        found = self.emit("mul", values, "f32")
        for term, value, other in ((args[0], values[0], args[1]), (args[1], values[1], args[0])):
            known = value in self.present or self._sure(finite, term, context) or self._sure(pos, other, context)
            if isinstance(value, str) and not known:
                gone = self.emit("eq", (value, -math.inf), "i1")
                found = self.emit("where", (gone, -math.inf, found), "f32")
        return found

    def _where(self, term: Map, context: Context) -> p.Operand:
        if (plain_term := self.resolved(term)) is not term:
            return self.operand(plain_term, context)
        mask, left, right = (self.operand(a, context) for a in term.args)
        dtype = "i32" if term.kind == "int" else "f32"
        return self.emit("where", (mask, self.wide(left) if dtype == "f32" else left, self.wide(right) if dtype == "f32" else right), dtype)

    def _settled(self, mask: Term) -> bool | None:
        """Return True if the masks known to hold in this part of the loop imply a mask."""
        known: set[Term] = set().union(*(s.known for s in self.stack))
        return True if set(conjuncts(mask)) <= known else None

    def resolved(self, term: Term) -> Term:
        """Return what a choice by a mask comes to in this part of the loop, where that is known."""
        while isinstance(term, Map) and term.op == "where" and (settled := self._settled(term.args[0])) is not None:
            term = term.args[1] if settled else term.args[2]
        return term

    def _sum(self, term: Term, scale: float, context: Context) -> p.Operand:
        """Write scale * term as a sum of scaled parts, parts of lower rank first, each constant folded once."""
        parts: list[tuple[float, Term]] = []
        self._flatten(term, scale, parts)
        terms: list[tuple[tuple[str, ...], p.Operand]] = []
        constant = 0.0
        for factor, part in parts:
            if isinstance(part, Const):
                constant += factor * part.value
                continue
            value = self.wide(self.operand(part, context))
            if not isinstance(value, str):
                constant += factor * value
                continue
            if factor < 0 and not self._sure(finite, part, context):
                # The absent value absorbs: subtracting it must give it again, and x - inf does.
                value = self.emit("where", (self.emit("eq", (value, -math.inf), "i1"), math.inf, value), "f32")
                assert isinstance(value, str)
            terms.append((self.values[value].coords, value if factor == 1.0 else self.emit("mul", (value, factor), "f32")))
        if not terms:
            return constant
        terms.sort(key=lambda t: len(t[0]))
        total = terms[0][1]
        for _, value in terms[1:]:
            total = self.emit("add", (value, total), "f32")
        return total if constant == 0.0 else self.emit("add", (total, constant), "f32")

    def _flatten(self, term: Term, factor: float, parts: list[tuple[float, Term]]) -> None:
        if isinstance(term, Map) and term.op == "add":
            for arg in term.args:
                self._flatten(arg, factor, parts)
        elif isinstance(term, Map) and term.op == "neg":
            self._flatten(term.args[0], -factor, parts)
        elif isinstance(term, Prev) and isinstance(term.body, Map) and term.body.op in ("add", "neg", "mul"):
            # A running value before the block, of an expression, is the expression of running values before the block.
            self._flatten(rebuilt(term.body, tuple(a if isinstance(a, Const) else Prev(a) for a in term.body.args)), factor, parts)
        elif self.resolved(term) is not term:
            self._flatten(self.resolved(term), factor, parts)
        elif isinstance(term, Map) and term.op == "mul" and any(isinstance(a, Const) for a in term.args):
            left, right = term.args
            number, other = (left, right) if isinstance(left, Const) else (right, left)
            self._flatten(other, factor * number.value, parts)
        else:
            parts.append((factor, term))

    # -- folds -------------------------------------------------------------------------------------------------------

    def _fold(self, term: Term, context: Context) -> p.Operand:
        mode = context.mode(term.axis)
        if mode is not None:
            key = self.acc_key(term, context)
            scope = next(s for s in reversed(self.stack) if key in s.new or key in s.old)
            return (scope.new if mode == "new" else scope.old)[key]
        if self.whole(term.axis):
            coord = self._fold_coord(term.axis)
            return self._element(term, context.at(term.axis, coord), coord, None)
        if isinstance(term, Reduce):
            raise NapkinError(
                f"a reduction over {term.axis.name} ({term.axis.size or 'symbolic'} elements) was not streamed and does not fit in a tile of "
                f"{self.tiles['~' + term.axis.name]}"
            )
        if (done := self.operand_of_fold(term, context)) is not None:
            return done
        folds = self.passes.get(self.pass_key(term, context), {})
        self._pass({**folds, self.acc_key(term, context): term}, context)
        found = self.operand_of_fold(term, context)
        assert found is not None
        return found

    def operand_of_fold(self, term: Term, context: Context) -> p.Operand | None:
        """Return the accumulator of a fold whose pass is already written, else None."""
        key = self.acc_key(term, context)
        return next((s.memo[key] for s in reversed(self.stack) if key in s.memo), None)

    def acc_key(self, term: Term, context: Context) -> AccKey:
        """Identify an accumulator: what is folded, at which coordinates."""
        return fold_key(term), _restricted(context.env, term)

    def _loops(self, term: Term, context: Context) -> tuple[tuple[str, str], ...]:
        names = {a.name for a in term.axes}
        return tuple((a, c) for a, c in context.env if a in names and self.coords[c].role in ("stream", "walk"))

    def pass_key(self, term: Term, context: Context) -> tuple[Any, ...]:
        which = depth_along(term, term.axis) if term.fused else term
        return (term.axis.name, which, term.where, _restricted(context.env, term.where), self._loops(term, context))

    def _gather(self, term: Term, context: Context, seen: set[Any]) -> None:
        """Find, before anything is written, which folds share which pass."""
        names = {a.name for a in term.axes}
        key = (term, tuple(e for e in context.env if e[0] in names))
        if key in seen or isinstance(term, (Store, Proj, Input, Read)):
            return
        seen.add(key)
        if isinstance(term, Streamed):
            whole = self.whole(term.axis)
            tile = self.tiles[f"~{term.axis.name}"]
            coord = self._fold_coord(term.axis) if whole else self._coord(f"{term.axis.name}__s", term.axis, tile, "stream")
            inner = context.at(term.axis, coord)
            for child in (term.body, term.where):
                self._gather(child, inner, seen)
            if not whole and not isinstance(term, Reduce):
                self.passes.setdefault(self.pass_key(term, context), {}).setdefault(self.acc_key(term, context), term)
            return
        for child in term.children:
            self._gather(child, context, seen)

    def _pass(self, folds: dict[AccKey, Term], context: Context) -> None:
        first = next(iter(folds.values()))
        axis, where = first.axis, first.where
        folds = dict(sorted(with_references(folds, axis).items(), key=lambda f: f[1].depth))
        home = max((self.level(c) for (_, env), _ in folds.items() for _, c in env if self.coords[c].role in ("stream", "walk")), default=0)
        saved, self.stack = self.stack, self.stack[: home + 1]
        coord = self._coord(f"{axis.name}__s", axis, self.tiles[f"~{axis.name}"], "stream")
        context = replace(context, running=(), acc="")
        carried: dict[AccKey, tuple[Term, p.Value]] = {}
        for key, fold in folds.items():
            coords = [c for _, c in key[1] if self.coords[c].tile > 1]
            monoid = "sum" if isinstance(fold, Online) else fold.monoid
            carried[key] = fold, self.fresh(f"{monoid}_{axis.name}", tuple(sorted(coords, key=self._rank)), "f32", home)
        parts = tuple(self._part(stretch, carried, coord, axis, context) for stretch in self._stretches(where, axis, coord, context))
        start = tuple((v, NEUTRAL["sum" if isinstance(f, Online) else f.monoid]) for f, v in carried.values())
        self.stack[home].stmts.append(p.Loop(coord, start, parts))
        self.stack[home].memo.update({key: value.name for key, (_, value) in carried.items()})
        self.stack = saved

    def _stretches(self, where: Term, axis: Axis, coord: str, context: Context) -> list[Any]:
        from napkin_eq.bounds import stretches

        return stretches(self, where, axis, coord, context)

    def _part(self, stretch: Any, carried: Mapping[AccKey, tuple[Term, p.Value]], coord: str, axis: Axis, context: Context) -> p.Part:
        scope = Scope(len(self.stack), coord, known=stretch.known, whole_tiles=stretch.whole_tiles)
        self.stack.append(scope)
        scope.old = {key: v.name for key, (_, v) in carried.items()}
        # Inside the loop an accumulator is a different value in every block: nothing made from it may be hoisted.
        self.level_of.update({v.name: scope.level for _, v in carried.values()})
        for key, (fold, value) in carried.items():
            here = replace(context, env=tuple(sorted({**dict(context.env), **dict(key[1])}.items()))).at(axis, coord)
            if isinstance(fold, Online):
                here = replace(here.set_mode(axis, "new"), acc=value.name)
            scope.new[key] = self._as_value(self._element(fold, here, coord, value.name))
        for key, (_, value) in carried.items():
            scope.stmts.append(p.Assign(value.name, scope.new[key]))
        self.stack.pop()
        self.level_of.update({v.name: scope.level - 1 for _, v in carried.values()})
        everywhere = not stretch.known - {Const(True)} and not (stretch.whole_tiles and self.coords[coord].ragged)
        return p.Part(stretch.lo, stretch.hi, tuple(scope.stmts), stretch.note, general=everywhere)

    def _element(self, fold: Term, context: Context, coord: str, acc: str | None) -> p.Operand:
        """Fold one block into an accumulator, or a whole axis when there is none."""
        monoid = "sum" if isinstance(fold, Online) else fold.monoid
        start: p.Operand | None = acc
        if isinstance(fold, Online) and acc is not None:
            if self.proved(finite(plain(fold.body))):
                self.present.add(acc)
            start = self.operand(fold.update, context)
        if monoid == "sum" and (dot := self._dot(fold, context, coord, start)) is not None:
            return dot
        body = self.wide(self.operand(fold.body, context))
        body = self._outside(fold, body, context, monoid)
        if monoid != "sum" or not self._zero_padded(fold.body):
            body = self.masked(body, coord, NEUTRAL[monoid])
        if not isinstance(body, str) or coord not in self.values[body].coords:
            body = self._spread(body, coord, context, monoid)
        if not isinstance(body, str) or self.coords[coord].tile == 1:
            block: p.Operand = body
        else:
            coords = tuple(c for c in self.values[body].coords if c != coord)
            arg = body
            block = self.put(lambda v: p.ReduceTile(v, monoid, coord, arg), ("reduce", monoid, coord), coords, "f32", (body,))
        return block if start is None else self.emit(COMBINE[monoid], (start, block), "f32")

    def _spread(self, body: p.Operand, coord: str, context: Context, monoid: str) -> p.Operand:
        """Give a value that does not vary along the folded axis a lane for each element inside it."""
        flat = self.emit("mul", (self.cast(self.iota(coord), "f32"), 0.0), "f32")
        return self.masked(self.emit("add", (flat, body), "f32"), coord, NEUTRAL[monoid])

    def _outside(self, fold: Term, body: p.Operand, context: Context, monoid: str) -> p.Operand:
        """Mask a body outside the lanes that its fold takes, unless it is proved to be neutral there."""
        if fold.where == Const(True) or self._settled(fold.where):
            return body
        neutral = absent(fold.where, plain(fold.body)) if monoid == "max" else zero(fold.where, plain(fold.body))
        if monoid != "prod" and self.proved(neutral):
            return body
        return self.emit("where", (self.operand(fold.where, context), body, NEUTRAL[monoid]), "f32")

    def masked(self, value: p.Operand, coord: str, neutral: float) -> p.Operand:
        for mask in self.valid(coord):
            value = self.emit("where", (mask, value, neutral), "f32")
        return value

    def _zero_padded(self, term: Term) -> bool:
        """Whether lanes past the end are 0 because every factor is a load, and loads past the end give 0."""
        if isinstance(term, Map) and term.op == "mul":
            return all(map(self._zero_padded, term.args))
        return isinstance(term, (Input, Store, Proj))

    def _dot(self, fold: Term, context: Context, coord: str, start: p.Operand | None) -> p.Operand | None:
        body = self.resolved(fold.body)
        if isinstance(body, Map) and body.op == "mul":
            body = Map("mul", (self.resolved(body.args[0]), self.resolved(body.args[1])))
        factors = dot_factors(body, {a: self.coords[c].tile for a, c in context.env}, fold.axis.name)
        if factors is None:
            return None
        clear = fold.where == Const(True) or self._settled(fold.where) or self.proved(zero(fold.where, plain(fold.body)))
        to_mask = None if clear else next((f for f in factors if not self._stored(f)), factors[0])
        sides = []
        for factor in factors:
            value = self.operand(factor, context)
            if factor is to_mask:
                value = self.emit("where", (self.operand(fold.where, context), self.wide(value), 0.0), "f32")
            if not self._zero_padded(factor):
                value = self.masked(self.wide(value), coord, 0.0)
            sides.append(self._as_value(value))
        wide = self.precision != NARROW and any(self.values[s].dtype == "f32" for s in sides)
        left, right = (self._as_value(self.cast(s, "f32" if wide else self.storage)) for s in sides)
        coords = [c for s in (left, right) for c in self.values[s].coords if c != coord]
        acc = start if isinstance(start, str) else None
        args = (left, right) if acc is None else (left, right, acc)
        precision = self.precision if wide else "ieee"
        return self.put(lambda v: p.Dot(v, left, right, coord, acc, precision=precision), ("dot", coord), coords, "f32", args)

    def _stored(self, factor: Term) -> bool:
        return isinstance(factor, (Input, Store, Proj, Read))


def dot_factors(body: Term, tiles: Mapping[str, int], axis: str) -> tuple[Term, Term] | None:
    """Return the two factors of a body if the matrix unit can contract them over an axis, else None.

    Each factor must carry the axis and exactly one axis of its own; tiles of all three are at least 16; other axes have tile 1.
    """
    if not (isinstance(body, Map) and body.op == "mul" and tiles.get(axis, 0) >= MIN_DOT):
        return None
    left, right = ({a.name for a in factor.axes if tiles.get(a.name, 1) > 1} for factor in body.args)
    if axis not in left or axis not in right or left & right != {axis}:
        return None
    rows, columns = left - {axis}, right - {axis}
    if len(rows) != 1 or len(columns) != 1 or any(tiles[a] < MIN_DOT for a in rows | columns):
        return None
    return body.args[0], body.args[1]


def with_references(folds: Mapping[AccKey, Term], axis: Axis) -> dict[AccKey, Term]:
    """Add to the folds of a pass the running references that its carried sums need, each once, at the same coordinates."""
    found: dict[AccKey, Term] = {}
    for key, fold in folds.items():
        if isinstance(fold, Online):
            for part in kernel_terms(fold)[:-1]:
                if isinstance(part, Streamed) and part.axis.name == axis.name:
                    found.setdefault((fold_key(part), _restricted(key[1], part)), part)
        found.setdefault(key, fold)
    return found


def _restricted(env: Env, term: Term) -> Env:
    names = {a.name for a in term.axes}
    return tuple(e for e in env if e[0] in names)


_HINTS = {
    "add": "plus", "mul": "times", "exp2": "exp", "log2": "log", "where": "kept", "div": "ratio", "max": "larger", "min": "smaller", "neg": "minus",
    "and": "both", "or": "either", "not": "others", "lt": "inside", "le": "seen", "eq": "same", "floordiv": "blocks", "mod": "rest",
}  # fmt: skip


def hint(key: Any, args: Sequence[p.Operand], dtype: str) -> str:
    """Return a name for a value that says how it was made."""
    if isinstance(key, tuple):
        kind, *rest = key
        if kind == "load":
            return f"{rest[0].partition('__')[0]}_tile"
        if kind == "at":
            return f"{rest[0]}_at"
        return "_".join([str(r).partition("__")[0] for r in rest] + ["part"]) if len(rest) == 2 else f"{kind}_{str(rest[0]).partition('__')[0]}"
    if key == "cast" and isinstance(args[0], str):
        return f"{args[0]}_{dtype}"
    word = _HINTS.get(key, key)
    return f"{word}_n" if dtype == "i32" else f"{word}_t"


def covers(tile: int, axis: Axis) -> bool:
    """Whether one tile holds a whole axis."""
    return axis.size is not None and tile >= axis.size


def conjuncts(mask: Term) -> list[Term]:
    """Split a mask into the parts that must all hold."""
    if isinstance(mask, Map) and mask.op == "and":
        return [c for a in mask.args for c in conjuncts(a)]
    return [] if mask == Const(True) else [mask]


def _whole_number(op: str, args: tuple[int, ...]) -> int:
    a, b = args[0], args[-1]
    return {"add": a + b, "mul": a * b, "neg": -a, "max": max(a, b), "min": min(a, b), "floordiv": a // (b or 1), "mod": a % (b or 1)}[op]


def _unit(op: str, args: tuple[p.Operand, ...]) -> p.Operand | None:
    unit = 0 if op == "add" else 1
    for one, other in (args, args[::-1]):
        if type(one) is int and one == unit:
            return other
    return None
