"""A bound that runs along with a plan: every statement adds what it rounds, tile by tile, on the very data of a run.

The a-priori bound of rounding.py is computed from the term and the lengths of its sums. This one walks the plan's own
statements, each value with a bound on its distance from what exact arithmetic gives there: every cast to 16 bits, every
rescaling of an accumulator and every addition of a tile counts where it happens, at the size that its operands have.
Both hold for the same kernel; the lesser of the two is the tolerance. The operators' rules are those of rounding.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.dtypes import BY_SHORT, NARROW, REAL, WHOLE
from napkin_eq.lang.numpy_semantics import FOLDS, OPERATORS, Array, broadcast, common_shape, running
from napkin_eq.lang.operators import PLACES
from napkin_eq.numerics.error_bound import row, sharing
from napkin_eq.numerics.roundoff import (
    FLUSHED,
    LARGEST,
    RULES,
    STORAGE,
    TOP,
    K,
    W,
    adding,
    bounded,
    farthest,
    gone,
    may_be_largest,
    multiplied,
    recurred,
    risen,
    unbounded_past,
)
from napkin_eq.tile.ir import (
    IN_PARTS,
    MATRIX_ROUNDOFF,
    PRECISIONS,
    Assign,
    Await,
    Buffer,
    Dot,
    Iota,
    Kernel,
    Let,
    Load,
    Loop,
    Operand,
    Plan,
    ReduceTile,
    ScanTile,
    SizeOf,
    Start,
    Stmt,
    StoreTile,
    Value,
    statements,
    used,
)  # fmt: skip

HELD = {short: BY_SHORT[short].name for short in NARROW}
LN2 = math.log(2.0)


@dataclass(frozen=True, slots=True)
class Pair:
    """A tile with its bound: one dimension per coordinate of the kernel, of length 1 where it does not vary."""

    value: Array
    error: Array


def running_bound(
    plan: Plan,
    inputs: Mapping[str, Any],
    sizes: Mapping[str, int],
    matrix_roundoff: float = 0.0,
    unknown: Mapping[str, Any] | None = None,
) -> dict[str, Array]:
    """Return the bound of every element of every output of a plan, by the output's name.

    sizes: of symbolic axes. matrix_roundoff: what the matrix unit rounds its operands to (tf32: 2^-10). unknown: masks
    of input elements that may hold anything; the bound is infinite wherever they reach.
    """
    memory = _Memory(plan, inputs, sizes, matrix_roundoff, unknown or {})
    last = {b.name for b in plan.outputs} - {b.name for kernel in plan.kernels for b in kernel.reads}
    with np.errstate(all="ignore"):
        for kernel in plan.kernels:
            facts = _facts(kernel, last)
            for starts in product(
                *(range(0, memory.size(kernel.coord(g).axis), kernel.coord(g).tile) for g in kernel.grid)
            ):
                _Program(kernel, memory, facts, dict(zip(kernel.grid, starts, strict=True))).run(kernel.body, {})
    return {b.name: memory.arrays[b.name].error for b in plan.outputs}


@dataclass(frozen=True, slots=True)
class _Facts:
    """Of a kernel: the values that are float32, and those that only go to outputs, where what is past the range is
    infinite; who adds rows.
    """

    wide: frozenset[str]
    final: frozenset[str]
    sharing: Mapping[ReduceTile, tuple[int, bool]]


def _facts(kernel: Kernel, outputs: set[str]) -> _Facts:
    stmts = list(statements(kernel.body))
    wide = {s.out.name for s in stmts if hasattr(s, "out") and s.out.dtype == "f32"}
    stored = {s.value for s in stmts if isinstance(s, StoreTile) and s.buffer in outputs}
    elsewhere = {name for s in stmts if not (isinstance(s, StoreTile) and s.buffer in outputs) for name in used(s)}
    return _Facts(
        frozenset(wide),
        frozenset(stored - elsewhere),
        {s: sharing(kernel, s) for s in stmts if isinstance(s, ReduceTile)},
    )


class _Memory:
    def __init__(
        self, plan: Plan, inputs: Mapping[str, Any], sizes: Mapping[str, int], matrix: float, unknown: Mapping[str, Any]
    ) -> None:
        self.sizes, self.matrix = dict(sizes), matrix
        self.arrays: dict[str, Pair] = {}
        for buffer in plan.inputs:
            value = np.asarray(inputs[buffer.name])
            self.sizes.update({a.name: n for a, n in zip(buffer.dims, value.shape, strict=True)})
            held = value.astype(np.float64) if buffer.dtype in REAL else value
            self.arrays[buffer.name] = Pair(
                held, np.where(unknown.get(buffer.name, False), np.inf, 0.0) * np.ones(value.shape)
            )
        for buffer in (*plan.outputs, *plan.scratch):
            shape = tuple(self.size(axis) for axis in buffer.dims)
            held = np.zeros(shape, {"bool": np.bool_, "int": np.int64}.get(BY_SHORT[buffer.dtype].kind, np.float64))
            self.arrays[buffer.name] = Pair(held, np.zeros(shape))

    def size(self, axis: Axis) -> int:
        return axis.size if axis.size is not None else self.sizes[axis.name]

    def seen(self, buffer: Buffer) -> Pair:
        """Return an array as a kernel sees it: the same bytes, several axes as one."""
        held, shape = self.arrays[buffer.name], [self.size(axis) for axis in buffer.dims]
        return Pair(held.value.reshape(shape), held.error.reshape(shape))


class _Program:
    """One program of a kernel, as the numpy target runs it, each value with its bound."""

    def __init__(self, kernel: Kernel, memory: _Memory, facts: _Facts, starts: dict[str, int]) -> None:
        self.kernel, self.memory, self.facts = kernel, memory, facts
        self.names = [c.name for c in kernel.coords]
        self.starts = {**starts, **{c.name: 0 for c in kernel.coords if c.single}}

    def run(self, body: tuple[Stmt, ...], scope: dict[str, Pair]) -> None:
        for stmt in body:
            match stmt:
                case Loop():
                    self.loop(stmt, scope)
                case Assign(target, value):
                    scope[target] = scope[value]
                case StoreTile():
                    self.store(stmt, scope)
                case Await():
                    pass
                case _:
                    scope[stmt.out.name] = self.settled(self.computed(stmt, scope))

    def settled(self, got: Pair) -> Pair:
        """Absence is exact unless it is in doubt; what could not be bounded, or may pass the range of float32, is
        unbounded.
        """
        if got.value.dtype.kind != "f":
            return got
        error = np.nan_to_num(got.error, nan=np.inf, posinf=np.inf)
        finite = np.isfinite(got.value)
        error = np.where(finite & (np.abs(got.value) + error >= LARGEST), np.inf, error)
        return Pair(
            got.value,
            np.where(finite | np.isnan(got.value) | (np.isneginf(got.value) & np.isposinf(got.error)), error, 0.0),
        )

    def loop(self, stmt: Loop, scope: dict[str, Pair]) -> None:
        tile = self.kernel.coord(stmt.coord).tile
        for value, initial in stmt.carried:
            shape = self.shape(value)
            scope[value.name] = Pair(np.full(shape, initial), np.zeros(shape))
        for part in stmt.parts:
            low, high = (int(self.pair(bound, scope).value.item()) for bound in (part.lo, part.hi))
            for start in range(low, low + 1 if part.once else high, tile):
                self.starts[stmt.coord] = start
                inner = dict(scope)
                self.run(part.body, inner)
                scope.update({name: inner[name] for name in scope})
            self.starts.pop(stmt.coord, None)

    def computed(self, stmt: Stmt, scope: dict[str, Pair]) -> Pair:
        match stmt:
            case Start(_, coord):
                return self.exact(np.asarray(self.starts[coord]))
            case Iota(_, coord):
                lanes = self.starts[coord] + np.arange(self.kernel.coord(coord).tile)
                return self.exact(lanes.reshape([-1 if name == coord else 1 for name in self.names]))
            case SizeOf(_, axis):
                return self.exact(np.asarray(self.memory.size(axis)))
            case Load():
                index, live = self.lanes(stmt, scope)
                held = self.memory.seen(self.kernel.buffer(stmt.buffer))
                at = tuple(np.where(live, i, 0) for i in index)
                # Where an index or a mask is in doubt, so is which element is meant.
                doubt = (
                    sum((self.pair(operand, scope).error for operand in (*stmt.index, *stmt.masks)), np.zeros(())) > 0
                )
                error = np.where(doubt, np.inf, np.where(live, held.error[at], 0.0))
                return Pair(np.where(live, held.value[at], np.zeros((), held.value.dtype)), error)
            case Let():
                return self.let(stmt, [self.pair(arg, scope) for arg in stmt.args])
            case ReduceTile(_, monoid, coord, arg):
                threads, rounds = self.facts.sharing[stmt]
                off = adding(row(self.kernel.coord(coord).tile, threads), 1 if rounds else 2)
                return self.reduced(monoid, self.names.index(coord), scope[arg], off)
            case ScanTile(_, _, coord, arg, str(gain)):
                sides = broadcast(
                    *(part for name in (gain, arg) for part in (scope[name].value, scope[name].error))
                )
                return Pair(
                    running(self.names.index(coord), sides[0], sides[2]), recurred(self.names.index(coord), *sides)
                )
            case ScanTile(_, monoid, coord, arg):
                return self.scanned(monoid, self.names.index(coord), scope[arg])
            case Dot():
                return self.dot(stmt, scope)
        raise AssertionError(f"no statement: {stmt!r:.80}")

    def exact(self, value: Array) -> Pair:
        value = value.reshape((1,) * len(self.names)) if value.ndim == 0 else value
        return Pair(value, np.zeros(value.shape))

    def pair(self, operand: Operand, scope: dict[str, Pair]) -> Pair:
        if isinstance(operand, str):
            return scope[operand]
        got = self.exact(np.asarray(operand))
        if isinstance(operand, float) and math.isfinite(operand):  # a kernel holds it in float32
            return Pair(got.value, np.full(got.value.shape, abs(float(np.float32(operand)) - operand)))
        return got

    def shape(self, value: Value) -> tuple[int, ...]:
        return tuple(c.tile if c.name in value.coords else 1 for c in self.kernel.coords)

    def let(self, stmt: Let, args: list[Pair]) -> Pair:
        values, errors = [a.value for a in args], [a.error for a in args]
        if stmt.op == "cast":
            return self.cast(stmt.out, args[0])
        op, values, errors = _plain(stmt.op, values, errors)
        value = np.asarray(PLAIN[op](*values))
        if value.dtype.kind != "f":
            known = op not in RULES or (value.dtype.kind in "iu" and not any(e.any() for e in errors))
            return Pair(
                value, np.zeros(value.shape) if known else bounded(op, value, values, errors) * np.ones(value.shape)
            )
        if op == "where":
            errors[0] = broadcast(errors[0], *values)[0]
        rules = {op: BEYOND.get(op, RULES.get(op, _nothing))}
        return Pair(value, bounded(op, value, values, errors, rules) * np.ones(value.shape))

    def cast(self, out: Value, got: Pair) -> Pair:
        if out.dtype in (*WHOLE, "i1"):
            return Pair(got.value if got.value.dtype.kind != "f" else np.trunc(got.value).astype(np.int64), got.error)
        wide = Pair(got.value.astype(np.float64), got.error)
        if out.dtype == "f32":  # what it does not hold: numbers of float64, and whole ones of more than 24 bits
            lost = np.nan_to_num(np.abs(wide.value.astype(np.float32) - wide.value), nan=0.0)
            return Pair(wide.value, wide.error + lost) if lost.any() else wide
        return rounded(wide, HELD[out.dtype], out.name in self.facts.final) if out.dtype in HELD else wide

    def reduced(self, monoid: str, at: int, got: Pair, off: float) -> Pair:
        value = FOLDS[monoid].reduce(got.value, axis=at, keepdims=True)
        size = np.where(np.isfinite(got.value), np.abs(got.value), 0.0)
        if monoid in PLACES:
            able = may_be_largest(got.value, got.error * np.ones(got.value.shape), np.ones(got.value.shape, bool), at)
            return Pair(value, farthest(value, able, at))
        if monoid == "max":
            return Pair(value, got.error.max(axis=at, keepdims=True))
        if monoid == "sum":
            total = (size + got.error).sum(axis=at, keepdims=True)
            return Pair(value, got.error.sum(axis=at, keepdims=True) + off * total + unbounded_past(total))
        count = got.value.shape[at]
        return Pair(
            value, multiplied(size + got.error, size, count, lambda x: np.multiply.reduce(x, axis=at, keepdims=True))
        )

    def scanned(self, monoid: str, at: int, got: Pair) -> Pair:
        value, size = (
            FOLDS[monoid].accumulate(got.value, axis=at),
            np.where(np.isfinite(got.value), np.abs(got.value), 0.0),
        )
        if monoid == "max":
            return Pair(value, np.maximum.accumulate(got.error, axis=at))
        if monoid == "sum":
            depth = got.value.shape[at] / 4 + 16
            total = np.add.accumulate(size + got.error, axis=at)
            return Pair(value, np.add.accumulate(got.error, axis=at) + adding(depth, 2) * total + unbounded_past(total))
        count = got.value.shape[at]
        return Pair(value, multiplied(size + got.error, size, count, lambda x: np.multiply.accumulate(x, axis=at)))

    def dot(self, stmt: Dot, scope: dict[str, Pair]) -> Pair:
        k = self.names.index(stmt.coord)
        (row, a), (col, b) = ((self.side(scope[name], k), scope[name]) for name in (stmt.a, stmt.b))

        def times(x: Array, y: Array) -> Array:
            return np.moveaxis(
                np.moveaxis(x, (row, k), (-2, -1)) @ np.moveaxis(y, (k, col), (-2, -1)), (-2, -1), (row, col)
            )

        sizes = [np.where(np.isfinite(p.value), np.abs(p.value), 0.0) for p in (a, b)]
        roundoff = max(self.memory.matrix, MATRIX_ROUNDOFF[stmt.precision] if stmt.a in self.facts.wide else 0.0)
        errors = [_taken(size, p.error, roundoff) for p, size in zip((a, b), sizes, strict=True)]
        value, size = times(a.value, b.value), times(*sizes)
        # 0 * inf is unknown, not 0: what is unbounded stays so.
        error = times(sizes[0], errors[1]) + times(errors[0], sizes[1]) + times(errors[0], errors[1]) + K * W * size
        error = error + np.fmin(size + error, self.kernel.coord(stmt.coord).tile * FLUSHED)
        if stmt.acc is not None:
            acc = scope[stmt.acc]
            value, error, size = value + acc.value, error + acc.error, size + np.abs(acc.value)
        lanes = self.kernel.coord(stmt.coord).tile
        depth = (
            lanes
            if stmt.precision == "ieee" and stmt.a in self.facts.wide
            else PRECISIONS[stmt.precision].products * lanes / 4 + 16
        )
        return Pair(value, error + adding(depth, 2) * (size + error) + unbounded_past(size + error))

    def side(self, pair: Pair, k: int) -> int:
        return next(i for i, n in enumerate(pair.value.shape) if i != k and n > 1)

    def lanes(self, stmt: Load | StoreTile, scope: dict[str, Pair]) -> tuple[list[Array], Array]:
        index = [self.pair(operand, scope).value for operand in stmt.index]
        masks = [self.pair(mask, scope).value for mask in stmt.masks]
        shape = common_shape((1,) * len(self.names), *(i.shape for i in index))
        live = np.ones(shape, bool)
        for mask in masks:
            live = live & mask
        return [np.broadcast_to(i, shape) for i in index], live

    def store(self, stmt: StoreTile, scope: dict[str, Pair]) -> None:
        index, live = self.lanes(stmt, scope)
        got, held = scope[stmt.value], self.memory.seen(self.kernel.buffer(stmt.buffer))
        shape = common_shape(live.shape, got.value.shape)
        chosen = np.broadcast_to(live, shape)
        at = tuple(np.broadcast_to(i, shape)[chosen] for i in index)
        for array, tile in ((held.value, got.value), (held.error, got.error)):
            found = np.broadcast_to(tile, shape)[chosen]
            array[at] = found if at else found.reshape(())  # an array without axes has one element


def _taken(size: Array, error: Array, roundoff: float) -> Array:
    """Return what an operand is off by as the matrix unit takes it, rounded or in parts, each of which may be flushed
    to zero.
    """
    most = size + error
    return np.where(most > IN_PARTS, np.inf, error + roundoff * most + np.minimum(FLUSHED, most)) if roundoff else error


def rounded(got: Pair, dtype: str, final: bool) -> Pair:
    """Round a tile to a narrow type; what is past its range is of no use, but in a final output."""
    unit, least = STORAGE[dtype]
    size = np.where(np.isfinite(got.value), np.abs(got.value), 0.0) + got.error
    return Pair(
        got.value,
        np.where((size > TOP[dtype]) & (not final), np.inf, got.error + unit * size + np.minimum(least, size)),
    )


def _plain(op: str, values: list[Array], errors: list[Array]) -> tuple[str, list[Array], list[Array]]:
    """Write an operator of plans in those of terms, where it is one of them."""
    if op == "sub":
        return "add", [values[0], -values[1]], errors
    return op, values, errors


def _nothing(v: Array, *rest: Array) -> Array:
    return np.zeros(v.shape)


def _div(v: Array, a: Array, b: Array, ea: Array, eb: Array) -> Array:
    away = np.abs(b)
    off = (ea + np.abs(v) * eb) / (away - eb) + K * W * np.abs(v)
    return np.where(away > eb, off + gone(v, off), np.inf)


def _exp2(v: Array, a: Array, e: Array) -> Array:
    off = risen(v, LN2 * a, LN2 * e) + K * W * v
    return np.where(np.isposinf(e), np.inf, np.where(np.isneginf(a), 0.0, off + gone(v, off)))


def _log2(v: Array, a: Array, e: Array) -> Array:
    return np.where(
        a > e, np.log1p(e / (a - e)) / LN2 + K * W * (np.abs(v) + 1), np.where((a == 0) & (e == 0), 0.0, np.inf)
    )


def _fma(v: Array, a: Array, b: Array, c: Array, ea: Array, eb: Array, ec: Array) -> Array:
    found: Array = np.abs(a) * eb + np.abs(b) * ea + ea * eb + ec + K * W * (np.abs(a * b) + np.abs(c))
    return found + gone(v, found)


PLAIN: dict[str, Any] = {
    **OPERATORS,
    # The plan says what is guarded: operators are those of IEEE arithmetic here.
    "add": np.add, "mul": np.multiply, "neg": np.negative, "inv": lambda a: 1.0 / a, "div": np.divide,
    "exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2, "sqrt": np.sqrt,
    "rsqrt": lambda a: 1.0 / np.sqrt(a),
    "fma": lambda a, b, c: a * b + c,
}  # fmt: skip
BEYOND: dict[str, Any] = {
    "div": _div,
    "inv": lambda v, a, e: _div(v, np.ones(()), a, np.zeros(()), e),
    "exp2": _exp2,
    "exp": lambda v, a, e: _exp2(v, a / LN2, e / LN2),
    "log2": _log2,
    "log": lambda v, a, e: LN2 * _log2(v / LN2, a, e),
    "rsqrt": lambda v, a, e: np.where(a > e, v * (np.sqrt(a / (a - e)) - 1 + K * W), np.inf),
    "fma": _fma,
}
