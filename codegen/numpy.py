"""Runs a plan tile by tile in NumPy: the meaning of the plan language, and the check that a plan reads and writes what
it may.

Every tile has one dimension per coordinate of its kernel, of length 1 where it does not span it, so that NumPy's
broadcasting is the plan's broadcasting by coordinate name. Before them stand one for the cases, as a plan may be run on
several data at once, and one for programs, several of which are run at once: what none of them changes is computed
once. What is wrong is said of one program: where several at once fail, they are run one by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import islice, product
from typing import Any

import numpy as np

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.dtypes import BY_SHORT, NARROW, REAL, WHOLE
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.numpy_semantics import FOLDS, held, random, running
from napkin_eq.numerics.matrix_unit import multiplied
from napkin_eq.tile.ir import (
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
)
from napkin_eq.tile.printers import Runner, emitter, together

Array = np.ndarray[Any, Any]
# What is computed in float64 and rounded once; other operators of float32 are rounded as IEEE says
FUNCTIONS = ("atan", "cos", "erf", "exp", "exp2", "expm1", "log", "log2", "rsqrt", "sigmoid", "sin", "tanh")
UNKNOWN_TO_NUMPY = tuple(short for short in NARROW if not hasattr(np, BY_SHORT[short].name))
_erf = np.vectorize(math.erf, otypes=[float])

OPS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "inv": lambda x: 1.0 / x,
    "max": np.maximum,
    "min": np.minimum,
    "fma": lambda a, b, c: a * b + c,
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "log2": np.log2,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "tanh": np.tanh,
    "sigmoid": lambda x: 1.0 / (1.0 + np.exp(-x)),
    "erf": _erf,
    "sin": np.sin,
    "cos": np.cos,
    "abs": np.abs,
    "floor": np.floor,
    "round": np.round,
    "cast": lambda x: x,
    "real": lambda x: x,
    "floordiv": np.floor_divide,
    "mod": np.mod,
    "lt": np.less,
    "le": np.less_equal,
    "eq": np.equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
    "where": np.where,
    "random": random,
}
# What may leave NaN out where a kernel does not say otherwise, as a GPU does.
WITHOUT_NAN = {"max": np.fmax, "min": np.fmin}
MIXED = ("cast", "real", "lt", "le", "eq", "and", "or", "not", "random")
LEADING = (" case", " program")  # dimensions of a tile before those of coordinates


@emitter("numpy")
def numpy_runner(plan: Plan, header: tuple[str, ...] = ()) -> Runner:
    """Return the plan as a function of named arrays; it keeps no head, `header` is not used."""

    def run(
        arrays: Mapping[str, Any],
        emulate: bool = False,
        sizes: Mapping[str, int] | None = None,
        fuse: bool = False,
        cases: int = 0,
    ) -> dict[str, Array]:
        """Run the plan on arrays and return its outputs by name, in float64, or rounded as the plan's dtypes say if
        `emulate`.

        Raises NapkinError where an unmasked lane is out of bounds, an element is written twice or an output element
        never. `sizes` gives the symbolic sizes that no input has. fuse: of an emulated run, round no product of float32
        before it is added to something. cases: so many data at once; each output, and each input of one dimension more
        than its buffer has, has them as its first dimension.
        """
        memory = Memory(plan, arrays, emulate, dict(sizes or {}), fuse, cases)
        for kernel in plan.kernels:
            with np.errstate(all="ignore"):
                _launched(kernel, memory)
        return {b.name: memory.finished(b) for b in plan.outputs}

    return run


def rounded(x: Any, dtype: str, emulate: bool) -> Array:
    """Return x as the plan's dtype holds it: exact dtypes check their range, floats are rounded if `emulate`."""
    if dtype == "i1":
        return np.asarray(x, dtype=bool)
    if dtype in WHOLE:
        whole = np.asarray(np.trunc(x) if np.asarray(x).dtype.kind == "f" else x).astype(np.int64)
        least, largest = BY_SHORT[dtype].whole
        if whole.size and (whole.min() < least or whole.max() > largest):
            raise NapkinError(
                f"the integer {whole.max() if whole.max() > largest else whole.min()} does not fit {dtype}"
            )
        return whole
    if not emulate or dtype == "f64":
        return np.asarray(x, dtype=np.float64)
    return held(x, BY_SHORT[dtype])


class Memory:
    """The buffers of a plan in the top level, the size of every axis, and how often each element was written."""

    def __init__(
        self,
        plan: Plan,
        arrays: Mapping[str, Any],
        emulate: bool,
        sizes: dict[str, int],
        fuse: bool = False,
        cases: int = 0,
    ) -> None:
        self.emulate, self.sizes, self.fuse, self.cases = emulate, sizes, fuse, cases
        self.arrays: dict[str, Array] = {}
        self.counts: dict[str, Array] = {}
        self.dtypes: dict[str, str] = {}
        for buffer in plan.inputs:
            if buffer.name not in arrays:
                raise NapkinError(f"input {buffer.name} is missing; given are {', '.join(sorted(arrays)) or 'none'}")
            array = np.asarray(arrays[buffer.name])
            array = array if cases and array.ndim == len(buffer.dims) + 1 else array[None]
            self._bind(buffer, array.shape[1:])
            self._add(buffer, rounded(array, buffer.dtype, emulate), 1)
        for buffer in (*plan.outputs, *plan.scratch):
            shape = (max(cases, 1), *(self.size(axis) for axis in buffer.dims))
            self._add(buffer, rounded(np.zeros(shape), buffer.dtype, emulate), 0)

    def _bind(self, buffer: Buffer, shape: tuple[int, ...]) -> None:
        expected = tuple(
            a.size if a.size is not None else self.sizes.setdefault(a.name, n)
            for a, n in zip(buffer.dims, shape, strict=False)
        )
        if expected != shape or len(shape) != len(buffer.dims) or 0 in shape:
            names = ", ".join(f"{a.name}={a.size or self.sizes.get(a.name, 'any')}" for a in buffer.dims)
            raise NapkinError(f"input {buffer.name}: expected shape ({names}), found {shape}")

    def _add(self, buffer: Buffer, array: Array, written: int) -> None:
        self.arrays[buffer.name], self.dtypes[buffer.name] = array, buffer.dtype
        self.counts[buffer.name] = np.full(array.shape[1:], written, dtype=np.int64)

    def size(self, axis: Axis) -> int:
        if axis.size is not None:
            return axis.size
        if axis.name not in self.sizes:
            raise NapkinError(
                f"the size of axis {axis.name} is not known: no input has it; give sizes={{{axis.name!r}: ...}}"
            )
        return self.sizes[axis.name]

    def seen(self, buffer: Buffer) -> tuple[Array, Array]:
        """Return an array of each case, and how often each element was written, as a kernel sees it: the same bytes,
        several axes as one.
        """
        shape = tuple(self.size(axis) for axis in buffer.dims)
        array, counts = self.arrays[buffer.name], self.counts[buffer.name]
        return array.reshape(len(array), *shape), counts.reshape(shape)

    def finished(self, buffer: Buffer) -> Array:
        counts = self.counts[buffer.name]
        if (counts == 0).any():
            raise NapkinError(f"output {buffer.name}: element {_first(counts == 0)} is never written")
        return self.arrays[buffer.name] if self.cases else self.arrays[buffer.name][0]


def _together(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape to which tiles of as many dimensions are spread: NumPy's own function takes 32, tiles 64."""
    return tuple(next((n for n in sizes if n != 1), 1) for sizes in zip(*shapes, strict=True))


def _first(bad: Array) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(bad)[0])


def _launched(kernel: Kernel, memory: Memory) -> None:
    """Run all programs of a kernel, several at once, and where these fail one by one from the start."""
    before = {b.name: (memory.arrays[b.name].copy(), memory.counts[b.name].copy()) for b in kernel.writes}
    try:
        for scope in programs(kernel, memory):
            scope.run(kernel.body, {})
    except NapkinError:
        for name, (array, counts) in before.items():
            memory.arrays[name][...], memory.counts[name][...] = array, counts
        for scope in programs(kernel, memory, alone=True):
            scope.run(kernel.body, {})


def programs(kernel: Kernel, memory: Memory, alone: bool = False) -> Iterator[Tiles]:
    """Yield one scope of several programs of the grid, whose loops have the same blocks, or of each alone, and check
    that the reads of the kernel are none of its writes.
    """
    if both := {b.name for b in kernel.reads} & {b.name for b in kernel.writes}:
        raise NapkinError(f"kernel {kernel.name}: {min(both)} is read and written in one launch, in no order")
    starts = {name: range(0, memory.size((c := kernel.coord(name)).axis), c.tile) for name in kernel.grid}
    apart, most = ([*kernel.grid], 1) if alone else together(kernel, memory.cases)
    others = [name for name in kernel.grid if name not in apart]
    for fixed in product(*(starts[name] for name in apart)):
        left = product(*(starts[name] for name in others))
        while some := list(islice(left, most)):
            columns = zip(others, zip(*some, strict=True), strict=True) if others else ()
            along = {name: np.array(column) for name, column in columns}
            yield Tiles(kernel, memory, {**dict(zip(apart, fixed, strict=True)), **along}, len(some))


class Tiles:
    """So many programs of a kernel: where each coordinate stands, a number or one of each program, and the tiles
    computed so far.
    """

    def __init__(self, kernel: Kernel, memory: Memory, starts: Mapping[str, int | Array], programs: int = 1) -> None:
        self.kernel, self.memory, self.programs = kernel, memory, programs
        self.starts = {**starts, **{c.name: 0 for c in kernel.coords if c.single}}
        self.dims = [*LEADING, *(c.name for c in kernel.coords)]
        self.carried: set[str] = set()
        self.products: dict[str, Array] = {}  # not rounded: those of float32, where they are fused
        for coord in kernel.coords:
            if coord.role == "whole" and coord.tile < memory.size(coord.axis):
                raise self.wrong(
                    f"coordinate {coord.name} is whole, but its tile {coord.tile} is less than"
                    f" {memory.size(coord.axis)}"
                )

    def wrong(self, what: str) -> NapkinError:
        at = ", ".join(f"{name}={start}" for name, start in self.starts.items())
        return NapkinError(f"kernel {self.kernel.name}: {what} (blocks starting at {at})")

    def run(self, body: tuple[Stmt, ...], scope: dict[str, tuple[Value, Array]]) -> None:
        """Run statements in order; what a loop's body defines is forgotten at its end."""
        for stmt in body:
            match stmt:
                case Loop():
                    self.loop(stmt, scope)
                case Assign():
                    self.assign(stmt, scope)
                case StoreTile():
                    self.store(stmt, scope)
                case Await():
                    pass
                case _:
                    if stmt.out.name in scope:
                        raise self.wrong(f"{stmt.out.name} is defined twice")
                    scope[stmt.out.name] = (stmt.out, self.checked(stmt.out, self.computed(stmt, scope)))

    def computed(self, stmt: Stmt, scope: dict[str, tuple[Value, Array]]) -> Any:
        match stmt:
            case Start(_, coord):
                return self.start(coord)
            case Iota(_, coord):
                return self.start(coord) + self.along(coord, np.arange(self.kernel.coord(coord).tile))
            case SizeOf(_, axis):
                return self.memory.size(axis)
            case Load():
                return self.load(stmt, scope)
            case Let():
                return self.let(stmt, scope)
            case ReduceTile(_, monoid, coord, arg):
                return self.fold(monoid).reduce(self.tile(arg, scope), axis=self.position(coord), keepdims=True)
            case ScanTile(_, monoid, coord, arg, gain):
                if self.kernel.coord(coord).role not in ("whole", "walk"):
                    raise self.wrong(f"a scan along {coord}, which is not whole, would start anew in each block")
                if gain is not None:
                    return running(self.position(coord), self.tile(gain, scope), self.tile(arg, scope))
                return self.fold(monoid).accumulate(self.tile(arg, scope), axis=self.position(coord))
            case Dot():
                return self.dot(stmt, scope)
        raise self.wrong(f"no statement: {stmt!r:.80}")

    def loop(self, stmt: Loop, scope: dict[str, tuple[Value, Array]]) -> None:
        coord = self.kernel.coord(stmt.coord)
        for value, initial in stmt.carried:
            if value.name in scope:
                raise self.wrong(f"{value.name} is defined twice")
            full = np.full((1, 1, *self.shape(value)), initial)
            scope[value.name] = (value, self.checked(value, full))
        carried = {value.name for value, _ in stmt.carried} - self.carried
        self.carried |= carried
        for part in stmt.parts:
            lo, hi = (self.bound(bound, scope) for bound in (part.lo, part.hi))
            if lo % coord.tile:
                raise self.wrong(
                    f"a part of the loop over {coord.name} starts at {lo}, no multiple of its tile {coord.tile}"
                )
            for start in range(lo, hi, coord.tile):
                self.starts[coord.name] = start
                inner = dict(scope)
                self.run(part.body, inner)
                scope.update({name: inner[name] for name in scope})
            self.starts.pop(coord.name, None)
        self.carried -= carried

    def bound(self, operand: Operand, scope: dict[str, tuple[Value, Array]]) -> int:
        found = np.unique(self.tile(operand, scope))
        if len(found) > 1:
            raise self.wrong("the cases would take other blocks of a loop")
        return int(found.item())

    def assign(self, stmt: Assign, scope: dict[str, tuple[Value, Array]]) -> None:
        if stmt.target not in self.carried:
            raise self.wrong(f"{stmt.target} is assigned, but no enclosing loop carries it")
        target, value = scope[stmt.target][0], self.known(stmt.value, scope)[0]
        if (target.coords, target.dtype) != (value.coords, value.dtype):
            raise self.wrong(f"{stmt.target} is {_kind(target)}, and is assigned {value.name}, which is {_kind(value)}")
        scope[stmt.target] = (target, scope[stmt.value][1])

    def let(self, stmt: Let, scope: dict[str, tuple[Value, Array]]) -> Any:
        if stmt.op not in OPS:
            raise self.wrong(f"unknown operator {stmt.op!r:.60}")
        args = [self.known(arg, scope)[0] for arg in stmt.args if isinstance(arg, str)]
        kinds = {v.dtype for v in args[stmt.op == "where" and isinstance(stmt.args[0], str) :]}
        if stmt.op not in MIXED and kinds - {stmt.out.dtype}:
            raise self.wrong(
                f"{stmt.out.name} is {stmt.out.dtype}, but its {stmt.op} takes {', '.join(sorted(kinds))}; cast first"
            )
        if stmt.op in ("lt", "le", "eq", "and", "or", "not") and (len(kinds) > 1 or stmt.out.dtype != "i1"):
            raise self.wrong(
                f"{stmt.out.name}: {stmt.op} takes one dtype and gives i1, not {', '.join(sorted(kinds))} to"
                f" {stmt.out.dtype}"
            )
        tiles = [self.tile(arg, scope) for arg in stmt.args]
        if self.memory.emulate and stmt.out.dtype in UNKNOWN_TO_NUMPY:
            tiles = [t.astype(np.float32) if t.dtype == np.float64 else t for t in tiles]
        elif stmt.out.dtype in REAL and stmt.op not in MIXED:
            tiles = [t if t.dtype == bool else rounded(t, stmt.out.dtype, self.memory.emulate) for t in tiles]
        if stmt.op in FUNCTIONS:  # NumPy's own of float32 are off by as much as this machine's vector units are
            tiles = [t.astype(np.float64) if t.dtype == np.float32 else t for t in tiles]
        if self.memory.emulate and self.memory.fuse and not self.kernel.apart and stmt.out.dtype == "f32":
            return self.fused(stmt, [t.astype(np.float64) if t.dtype == np.float32 else t for t in tiles])
        return self.operator(stmt.op)(*tiles)

    def fused(self, stmt: Let, tiles: list[Any]) -> Any:
        """Compute in float64, which holds a product of two of float32; what is added takes its first product as it was
        before it was rounded.
        """
        if stmt.op in ("add", "sub"):
            found = next(
                (
                    (i, self.products[arg])
                    for i, arg in enumerate(stmt.args)
                    if isinstance(arg, str) and arg in self.products
                ),
                None,
            )
            if found is not None:
                tiles[found[0]] = found[1]
        result = self.operator(stmt.op)(*tiles)
        if stmt.op == "mul" and not any(
            isinstance(arg, (int, float)) and abs(math.frexp(arg)[0]) == 0.5 for arg in stmt.args
        ):
            self.products[stmt.out.name] = result
        return result

    def operator(self, op: str) -> Callable[..., Any]:
        return OPS[op] if self.kernel.nan or op not in WITHOUT_NAN else WITHOUT_NAN[op]

    def fold(self, monoid: str) -> Any:
        return FOLDS[monoid] if self.kernel.nan or monoid not in WITHOUT_NAN else WITHOUT_NAN[monoid]

    def dot(self, stmt: Dot, scope: dict[str, tuple[Value, Array]]) -> Any:
        (a_value, a), (b_value, b) = self.known(stmt.a, scope), self.known(stmt.b, scope)
        if a_value.dtype != b_value.dtype:
            raise self.wrong(
                f"{stmt.out.name}: a dot of {a_value.dtype} with {b_value.dtype}; its operands have one dtype"
            )
        k, row, col = self.position(stmt.coord), self.side(a_value, stmt.coord), self.side(b_value, stmt.coord)
        emulate, precision = self.memory.emulate, stmt.precision if a_value.dtype == "f32" else "ieee"
        if emulate:
            a, b = a.astype(np.float32), b.astype(np.float32)
        rows = np.moveaxis(a, (row, k), (-2, -1))
        columns = np.moveaxis(b, (k, col), (-2, -1))
        product = multiplied(rows, columns, precision) if emulate else rows @ columns
        out = np.moveaxis(product, (-2, -1), (row, col))
        return out if stmt.acc is None else self.tile(stmt.acc, scope) + out

    def side(self, value: Value, coord: str) -> int:
        wide = [name for name in value.coords if self.kernel.coord(name).tile > 1]
        if coord not in wide or len(wide) != 2:
            raise self.wrong(
                f"dot over {coord}: {value.name} is {_kind(value)}, expected {coord} and one other coordinate wider"
                " than 1"
            )
        return self.position(next(name for name in wide if name != coord))

    def load(self, stmt: Load, scope: dict[str, tuple[Value, Array]]) -> Any:
        lanes, live = self.lanes(stmt, scope)
        everywhere = live.all()
        index = tuple(lane if everywhere else np.where(live, lane, 0) for lane in lanes)
        array, counts = self.memory.seen(self.kernel.buffer(stmt.buffer))
        if (unwritten := live & (counts[index] == 0)).any():
            at = tuple(int(i[_first(unwritten)]) for i in index)
            raise self.wrong(f"{stmt.buffer}{list(at)} is read before it is written")
        if self.memory.dtypes[stmt.buffer] != stmt.out.dtype:
            raise self.wrong(
                f"{stmt.out.name} is {stmt.out.dtype}, loaded from {stmt.buffer}, which is"
                f" {self.memory.dtypes[stmt.buffer]}"
            )
        loaded = array[(self.along(LEADING[0], np.arange(len(array))), *index)]
        return loaded if everywhere else np.where(live, loaded, np.zeros((), loaded.dtype))

    def store(self, stmt: StoreTile, scope: dict[str, tuple[Value, Array]]) -> None:
        value, tile = self.known(stmt.value, scope)
        if self.memory.dtypes[stmt.buffer] != value.dtype:
            raise self.wrong(
                f"{value.name} is {value.dtype}, stored to {stmt.buffer}, which is {self.memory.dtypes[stmt.buffer]};"
                " cast first"
            )
        lanes, live = self.lanes(stmt, scope)
        if len(live) > 1:
            raise self.wrong("the cases would store to other elements")
        shape = _together((self.programs, *(1,) * len(self.kernel.coords)), live.shape[1:], tile.shape[1:])
        chosen = np.broadcast_to(live[0], shape)
        index = tuple(np.broadcast_to(lane[0], shape)[chosen] for lane in lanes)
        array, counts = self.memory.seen(self.kernel.buffer(stmt.buffer))
        np.add.at(counts, index, 1 if index else np.count_nonzero(chosen))  # an array without axes has one element
        if (counts[index] > 1).any():
            raise self.wrong(f"{stmt.buffer}{list(_first(counts > 1))} is written twice")
        found = np.broadcast_to(tile, (len(tile), *shape))[:, chosen]
        if index:
            array[(slice(None), *index)] = found
        elif found.size:
            array[:] = found[:, 0]

    def lanes(self, stmt: Load | StoreTile, scope: dict[str, tuple[Value, Array]]) -> tuple[list[Array], Array]:
        """Return the index of every lane per dimension and whether it is live, of one shape; a live lane is within
        bounds.
        """
        buffer = next((b for b in (*self.kernel.reads, *self.kernel.writes) if b.name == stmt.buffer), None)
        if buffer is None or (isinstance(stmt, StoreTile) and buffer in self.kernel.reads):
            raise self.wrong(f"buffer {stmt.buffer} is not among those that the kernel lists")
        if len(stmt.index) != len(buffer.dims):
            raise self.wrong(f"{stmt.buffer} has {len(buffer.dims)} dimensions, indexed by {len(stmt.index)}")
        index = [self.tile(operand, scope) for operand in stmt.index]
        masks = [self.tile(mask, scope) for mask in stmt.masks]
        shape = _together((1,) * len(self.dims), *(i.shape for i in index))
        masked = _together(shape, *(m.shape for m in masks))
        if masked[len(LEADING) :] != shape[len(LEADING) :]:
            raise self.wrong(f"{stmt.buffer}: a mask spans a coordinate that no index spans")
        live = np.ones(masked, dtype=bool)
        for mask in masks:
            live &= mask
        lanes = [np.broadcast_to(i, masked) for i in index]
        for lane, axis in zip(lanes, buffer.dims, strict=True):
            if (outside := live & ((lane < 0) | (lane >= self.memory.size(axis)))).any():
                at = [int(i[_first(outside)]) for i in lanes]
                raise self.wrong(
                    f"{stmt.buffer}{at} is out of bounds: {axis.name} has {self.memory.size(axis)} elements"
                )
        return lanes, live

    def checked(self, value: Value, tile: Any) -> Array:
        """Return the tile as the value's dtype holds it; raises unless it spans the value's coordinates, in the
        kernel's order.
        """
        try:
            held = rounded(tile, value.dtype, self.memory.emulate)
        except NapkinError as error:
            raise self.wrong(f"{value.name}: {error}") from None
        held = held.reshape((1,) * len(self.dims)) if held.ndim == 0 else held
        if held.shape[len(LEADING) :] != self.shape(value):
            spans = ", ".join(c for c, n in zip(self.dims, held.shape, strict=True) if n > 1 and c not in LEADING)
            raise self.wrong(f"{value.name} is {_kind(value)}, but spans [{spans}]")
        return held

    def shape(self, value: Value) -> tuple[int, ...]:
        order = [c.name for c in self.kernel.coords]
        if any(name not in order for name in value.coords) or list(value.coords) != sorted(
            value.coords, key=order.index
        ):
            raise self.wrong(f"{value.name} lists {list(value.coords)}; the kernel's order is {order}")
        return tuple(c.tile if c.name in value.coords else 1 for c in self.kernel.coords)

    def known(self, name: str, scope: dict[str, tuple[Value, Array]]) -> tuple[Value, Array]:
        if name not in scope:
            raise self.wrong(f"{name} is used where it is not defined")
        return scope[name]

    def tile(self, operand: Operand, scope: dict[str, tuple[Value, Array]]) -> Array:
        if isinstance(operand, str):
            return self.known(operand, scope)[1]
        return np.full((1,) * len(self.dims), operand)

    def start(self, coord: str) -> int | Array:
        if coord not in self.starts:
            raise self.wrong(f"coordinate {coord} is used outside its loop")
        found = self.starts[coord]
        return found if isinstance(found, int) else self.along(LEADING[1], found)

    def along(self, coord: str, line: Array) -> Array:
        return line.reshape([-1 if name == coord else 1 for name in self.dims])

    def position(self, coord: str) -> int:
        return self.dims.index(coord)


def _kind(value: Value) -> str:
    return f"{value.dtype}[{', '.join(value.coords)}]"
