"""The plan language: what a kernel does, tile by tile.

A kernel has *coordinates*, one per way an axis is walked in it. A value is a tile: it spans the coordinates it lists,
in the kernel's order of coordinates, each `tile` lanes wide, and broadcasts against others by coordinate name. All
statements are single assignment but `Assign`, which updates an accumulator declared by the enclosing `Loop`.

    grid      one program per block of the grid coordinates (first slowest, last fastest)
    Loop      parts run one after another; each walks the blocks of its coordinate from lo up to hi (hi excluded)
    whole     a coordinate whose single tile covers its axis: no loop, no grid, starts at 0
    lane, run an element of a stream's block as lane * RUN + run
Masks, tails, casts and loop bounds are explicit statements. Integers are 32 bit unless a Value says i64.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from napkin_eq.lang.axis import Axis, minor
from napkin_eq.lang.dtypes import BY_SHORT

Operand = str | int | float | bool
DTYPES = tuple(BY_SHORT)
MOST_UNROLLED = 32  # trips of a loop, those of the loops inside of it counted, that are written one after another
MOST_FLATTENED = 16  # trips of a loop, which are so few that it and the one around it are walked as one


@dataclass(frozen=True, slots=True)
class Coord:
    """A way of walking an axis: `role` is group (grid), stream (a fold's loop), walk (a loop that stores) or whole.

    The block of a stream may be cut into lanes of RUN neighbours each (stream_facts.py): its lane and its run are
    coordinates, too, of these roles.
    """

    name: str
    axis: Axis
    tile: int
    role: str

    @property
    def ragged(self) -> bool:
        """Whether the last block may reach past the axis."""
        return not self.axis.divides(self.tile)

    @property
    def single(self) -> bool:
        """Whether it has one tile, which begins at 0."""
        return self.role in ("whole", "lane", "run")

    @property
    def blocks(self) -> int | None:
        """The number of blocks, None where the size is symbolic."""
        return None if self.axis.size is None else -(-self.axis.size // self.tile)


@dataclass(frozen=True, slots=True)
class Buffer:
    """An array in the top level: row-major over `dims`, `dtype` one of DTYPES."""

    name: str
    dims: tuple[Axis, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Value:
    """A tile: its variable name, the coordinates it spans in the kernel's order, its dtype."""

    name: str
    coords: tuple[str, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Start:
    """The first coordinate of the current block, a scalar i32."""

    out: Value
    coord: str


@dataclass(frozen=True, slots=True)
class Iota:
    """The coordinates of the current block: block start + 0..tile-1, an i32 tile over one coordinate."""

    out: Value
    coord: str


@dataclass(frozen=True, slots=True)
class SizeOf:
    """The size of an axis, a scalar i32: a number, or the launcher's argument for a symbolic axis."""

    out: Value
    axis: Axis


@dataclass(frozen=True, slots=True)
class Load:
    """A tile of a buffer: per dimension an integer operand (a scalar or a tile), lanes with a false mask give 0.

    `index` holds one operand per buffer dimension; the result spans the coordinates of all operands. `masks` are i1
    values, all of which must hold. `again`: the load of the same loop that gave this tile in the block before.
    """

    out: Value
    buffer: str
    index: tuple[Operand, ...]
    masks: tuple[str, ...] = ()
    again: str = ""


@dataclass(frozen=True, slots=True)
class Let:
    """An elementwise operator: the names of `ops.OPS`, and sub, div, exp2, log2, rsqrt, fma, cast (to out's dtype).

    where(c, a, b) picks; inv and div give IEEE results (a zero divisor is guarded by an explicit where); an i1 is a
    mask.
    """

    out: Value
    op: str
    args: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class ReduceTile:
    """A reduction of a tile along one of its coordinates by a monoid: sum, max, prod; argmax gives the first place, in
    the tile, of the largest.
    """

    out: Value
    monoid: str
    coord: str
    arg: str


@dataclass(frozen=True, slots=True)
class ScanTile:
    """An inclusive prefix fold of a tile along one of its coordinates, which must be whole or walked.

    gain: of a linear recurrence what each lane multiplies the one before by, else none; its value and `arg` may lack
    coordinates of the other.
    """

    out: Value
    monoid: str
    coord: str
    arg: str
    gain: str | None = None


@dataclass(frozen=True, slots=True)
class Precision:
    """How f32 operands are multiplied: in so many parts of a type of the matrix unit, by so many products of these.

    roundoff: what it costs each operand, relative to it. split: operations per element that take it apart. bytes: of
    an element's parts together.
    """

    unit: str
    parts: int
    products: int
    roundoff: float
    split: float
    bytes: int = 4


# Fastest first. The unit drops the low 13 bits of an operand in tf32; with three products of two such parts what is
# left of the second part and the product of both second parts are lost, 2^-21 of the product. Three parts of bf16 hold
# all 24 bits, and the three smallest of nine products are left out, 2^-24 of the product. So it is of numbers from
# 2^-100 or so to IN_PARTS: of smaller ones a part may fall under the least number, past it the first is
# infinite.
PRECISIONS = {
    "tf32": Precision("tf32", 1, 1, 2.0**-10, 0.0),
    "tf32x3": Precision("tf32", 2, 3, 2.0**-19, 2.0, 8),
    "bf16x6": Precision("bfloat16", 3, 6, 2.0**-23, 4.0, 6),
    "ieee": Precision("float32", 1, 1, 0.0, 0.0),
}
# The largest number of float32 whose first part of bfloat16 is one: what is multiplied in parts counts as infinite
# beyond, and times 0 is NaN.
IN_PARTS = 2.0**128 - 2.0**119 - 2.0**104
MATRIX_ROUNDOFF = {name: precision.roundoff for name, precision in PRECISIONS.items()}


@dataclass(frozen=True, slots=True)
class Dot:
    """A tile contraction on the matrix unit: out = sum over `coord` of a * b (+ acc), accumulated in f32.

    Apart from coordinates with tile 1, a spans one row coordinate and `coord`, b spans `coord` and one column
    coordinate, out spans row and column. Operands have one dtype; `acc` is an f32 value over out's coordinates.
    `precision`, for f32 operands, is a key of MATRIX_ROUNDOFF. One that is `issued` runs beside what follows it, until
    an Await.
    """

    out: Value
    a: str
    b: str
    coord: str
    acc: str | None = None
    precision: str = "ieee"
    issued: bool = False


@dataclass(frozen=True, slots=True)
class Await:
    """From here on the named results of issued dots may be used: all but the `pending` youngest issued ones are done.

    Other values among the names are computed before it, and what is made of them after it.
    """

    names: tuple[str, ...]
    pending: int = 0


@dataclass(frozen=True, slots=True)
class Assign:
    """Update an accumulator of an enclosing loop."""

    target: str
    value: str


@dataclass(frozen=True, slots=True)
class StoreTile:
    """Write a tile to a buffer, one integer operand per dimension, lanes with a false mask left alone."""

    buffer: str
    index: tuple[Operand, ...]
    value: str
    masks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a loop: blocks whose start runs from `lo` (a multiple of the tile) up to `hi`, hi excluded.

    `general`: the body is right for every block of the axis, and changes nothing for one outside all parts of the loop.
    `once`: there is one block, the one at `lo`.
    """

    lo: Operand
    hi: Operand
    body: tuple[Stmt, ...]
    note: str = ""
    general: bool = False
    once: bool = False


@dataclass(frozen=True, slots=True)
class Loop:
    """A walk of a coordinate; `carried` accumulators start at their constants and outlive the loop."""

    coord: str
    carried: tuple[tuple[Value, float], ...]
    parts: tuple[Part, ...]


Defining = Start | Iota | SizeOf | Load | Let | ReduceTile | ScanTile | Dot
Stmt = Defining | Await | Assign | StoreTile | Loop


@dataclass(frozen=True, slots=True)
class Copy:
    """A box of an array: `order` lists the array's dimensions, those walked one by one first; `sides` are the tile's
    coordinates.

    shared: whether every group of warps reads all of it; else each has a box of its own.
    """

    buffer: Buffer
    order: tuple[int, ...]
    sides: tuple[str, str]
    box: tuple[int, int]
    shared: bool

    @property
    def bytes(self) -> int:
        return self.box[0] * self.box[1] * BY_SHORT[self.buffer.dtype].bytes


@dataclass(frozen=True, slots=True)
class Ring:
    """Buffers for `depth` blocks of tiles that are copied, waited for and given back together."""

    copies: tuple[Copy, ...]
    depth: int

    def bytes(self, groups: int) -> int:
        """Return the shared memory of one block; a tile that the groups of warps divide has a box for each."""
        return sum(c.bytes * (1 if c.shared else groups) for c in self.copies)


@dataclass(frozen=True, slots=True)
class Layout:
    """How a tile lies in the registers of a group: as the matrix unit leaves a result of so many columns, or a row or
    column of that.
    """

    kind: str  # matrix, rows (one number for each row of it), columns
    columns: int


@dataclass(frozen=True, slots=True)
class Share:
    """What one side of a kernel computes: `values` of its own lanes, and rows of all lanes of the block, which each
    side holds whole; both sorted.
    """

    values: tuple[str, ...]
    whole: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Roles:
    """Who computes what in a kernel with workers, how its tiles move and where they lie, for printers to read
    (passes/warp_roles.py).

    rings: by the names of loads that are copied together. kept: loads of tiles that are still in a ring, with the load
    of the block before that copied them there. stores: by their places among the kernel's statements. operands:
    accumulators that are kept as operands of the matrix unit, with the columns of the results. registers: of a thread,
    as the kernel is launched, then of a group of warps and of the copying warp. resident: programs that a processor
    holds.
    """

    rings: tuple[tuple[tuple[str, ...], Ring], ...]
    kept: tuple[tuple[str, str], ...]
    stores: tuple[tuple[int, Copy], ...]
    copying: Share
    computing: Share
    layouts: tuple[tuple[tuple[str, ...], Layout], ...]
    operands: tuple[tuple[str, int], ...]
    registers: tuple[int, int, int]
    resident: int

    @property
    def copied(self) -> frozenset[str]:
        """The loads that a warp copies ahead."""
        return frozenset(name for names, _ in self.rings for name in names)

    @property
    def shared(self) -> frozenset[str]:
        """The loads whose tiles are read from shared memory: those copied, and those still there."""
        return self.copied | {name for name, _ in self.kept}

    @property
    def boxes(self) -> tuple[Copy, ...]:
        """Every box, each once, those read first."""
        return tuple(dict.fromkeys([*(c for _, ring in self.rings for c in ring.copies), *(c for _, c in self.stores)]))


@dataclass(frozen=True, slots=True)
class Workers:
    """Who does what in a program: each of `groups` groups of four warps takes an equal run of lanes of `rows`, one warp
    copies ahead.

    As many programs as the GPU holds take one block of the grid after another. `falling` are grid coordinates walked
    from their last block to their first: those whose later blocks have longer loops. Where `abreast` is more than 1,
    the first of them is walked slower than the other coordinates, so many blocks of theirs at a time. `ahead` is the
    number of buffers for what is read once a block: with 2 it is copied while the block before is worked on.
    `programs`, if not 0, is the most programs that take part: where so many blocks are a whole number of rows, long
    blocks and short ones come out even. Blocks are dealt to programs by their numbers, or, `drawn`, each program takes
    the next one as it comes free, off a counter in memory that starts at zero. Where groups issue their contractions
    `in_turn`, one waits in each trip of a loop until the one before it has issued its own: then what the groups do
    beside the contractions falls apart, too. `roles` is decided last, and printed.
    """

    rows: str
    groups: int
    falling: tuple[str, ...] = ()
    abreast: int = 1
    ahead: int = 1
    programs: int = 0
    drawn: bool = False
    in_turn: bool = False
    roles: Roles | None = None


@dataclass(frozen=True, slots=True)
class Evictions:
    """What a kernel says to the level-2 cache: by buffer, the statement of the body with the last of several readings;
    what is stored to go first.
    """

    last: tuple[tuple[str, int], ...] = ()
    stored: frozenset[str] = frozenset()

    def of(self, buffer: str, at: int) -> str:
        """Return which way a load goes that stands in the body's statement `at`: "last", "first", or "" as the hardware
        has it.
        """
        last = dict(self.last).get(buffer)
        return "" if last is None else "last" if at < last else "first"


@dataclass(frozen=True, slots=True)
class Turn:
    """A kernel's place in its plan: whether the next is launched before it ends; if it is itself, the statement of its
    body before which it waits.

    asks: the loads of the loop there whose first block is asked for before the kernel waits; of a kernel with workers,
    the loads that a warp of their own copies as buffers come free, without waiting.
    """

    leads: bool = False
    waits: int | None = None
    asks: tuple[Load, ...] = ()

    @property
    def alone(self) -> bool:
        """Whether it runs beside no other kernel."""
        return not self.leads and self.waits is None


@dataclass(frozen=True, slots=True)
class Matrix:
    """An array as a library's matrices: the sizes of its groups of axes as they lie in memory, and the order of
    (batch,) rows, columns among them.
    """

    buffer: str
    sizes: tuple[int, ...]
    order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Library:
    """A call that runs in a kernel's place: `out` becomes the product of `left` and `right`. What it computes is
    trusted, not proved.
    """

    function: str
    left: Matrix
    right: Matrix
    out: Matrix


@dataclass(frozen=True, slots=True)
class Kernel:
    """One launch: `symbols` are the axes whose size is an argument, `swizzle` (row, column, depth) reorders the last
    two grid coordinates.

    `workers` is for GPUs whose copies and contractions run beside other work; without it all warps do all of it.
    `apart`: no multiplication is fused with an addition, as a value must be rounded alike wherever it is used. `nan`:
    the larger and the smaller of real numbers, and the largest of many, are NaN where one of them is; else NaN may be
    left out. `turn` and `evictions` are decided once a kernel stands in its plan (machine/plan_passes.py). `library`
    runs in its place, and the statements say what it is trusted to compute. `merged`: axes that stand for several,
    the slowest first, which lie side by side in every array that has one of them (lower/merge_axes.py). `edges`: masks
    of the lanes before the end of an axis, of one coordinate of the grid, which blocks that are whole along it are done
    without (passes/whole_blocks.py).
    """

    name: str
    reads: tuple[Buffer, ...]
    writes: tuple[Buffer, ...]
    coords: tuple[Coord, ...]
    grid: tuple[str, ...]
    body: tuple[Stmt, ...]
    warps: int = 4
    stages: int = 2
    swizzle: tuple[str, str, int] | None = None
    workers: Workers | None = None
    apart: bool = False
    nan: bool = False
    turn: Turn = Turn()
    evictions: Evictions = Evictions()
    library: Library | None = None
    merged: tuple[tuple[Axis, tuple[Axis, ...]], ...] = ()
    edges: tuple[str, ...] = ()

    def coord(self, name: str) -> Coord:
        return next(c for c in self.coords if c.name == name)

    def buffer(self, name: str) -> Buffer:
        return next(b for b in (*self.reads, *self.writes) if b.name == name)

    def minor(self, access: Load | StoreTile) -> Operand:
        """Return the place of an access to an array with dimensions along the one whose neighbours are neighbours in
        memory.
        """
        return access.index[minor(self.buffer(access.buffer).dims)]

    def whole(self, buffer: Buffer) -> Buffer:
        """Return an array of the kernel as others see it: with each axis that it takes with others as one."""
        parts = dict(self.merged)
        return replace(buffer, dims=tuple(axis for dim in buffer.dims for axis in parts.get(dim, (dim,))))

    @property
    def symbols(self) -> tuple[Axis, ...]:
        """The symbolic axes that the kernel needs at run time, in order of first use."""
        seen = {a.name: a for b in (*self.reads, *self.writes) for a in b.dims if a.size is None}
        seen.update({c.axis.name: c.axis for c in self.coords if c.axis.size is None and c.axis.name not in seen})
        for stmt in statements(self.body):
            if isinstance(stmt, SizeOf) and stmt.axis.size is None:
                seen.setdefault(stmt.axis.name, stmt.axis)
        return tuple(seen.values())

    @property
    def limits(self) -> dict[str, int]:
        """The most that the sizes of symbolic axes may be, by name: one tile holds the whole of such an axis."""
        whole = [c for c in self.coords if c.role == "whole" and c.axis.size is None]
        return {c.axis.name: min(o.tile for o in whole if o.axis == c.axis) for c in whole}


@dataclass(frozen=True, slots=True)
class Plan:
    """Kernels in launch order; buffers that are neither inputs nor outputs are scratch, allocated by the launcher.

    `inputs` and `outputs` are the diagram's, in order. `notes` are lines for the head of an emitted file.
    """

    name: str
    inputs: tuple[Buffer, ...]
    outputs: tuple[Buffer, ...]
    kernels: tuple[Kernel, ...]
    notes: tuple[str, ...] = field(default=())

    @property
    def scratch(self) -> tuple[Buffer, ...]:
        known = {b.name for b in (*self.inputs, *self.outputs)}
        return tuple(dict.fromkeys(k.whole(b) for k in self.kernels for b in k.writes if b.name not in known))

    @property
    def limits(self) -> dict[str, int]:
        """The most that the sizes of symbolic axes may be, by name, for its kernels to be right."""
        found = [(name, most) for kernel in self.kernels for name, most in kernel.limits.items()]
        return {name: min(most for other, most in found if other == name) for name, _ in found}


def passes_31_bits(buffer: Buffer, position: int) -> bool:
    """Tell whether offsets along a dimension are to be taken in 64 bits: those that may reach 2^31 elements."""
    dims = buffer.dims[position:]
    if any(axis.size is None for axis in dims):
        return len(dims) > 1
    return math.prod(axis.size or 1 for axis in dims) > 2**31 - 1


def statements(body: Sequence[Stmt]) -> Iterator[Stmt]:
    """Yield every statement, those inside loops after their loop."""
    found: list[Stmt] = []

    def walk(stmts: Sequence[Stmt]) -> None:
        for stmt in stmts:
            found.append(stmt)
            if type(stmt) is Loop:
                for part in stmt.parts:
                    walk(part.body)

    walk(body)
    return iter(found)


def definitions(body: Sequence[Stmt]) -> dict[str, Defining]:
    """Return the statement that defines each value; parts of a loop that use one name define the same kind of value by
    it.
    """
    return {stmt.out.name: stmt for stmt in statements(body) if isinstance(stmt, Defining)}


def unrolled(kernel: Kernel, loop: Loop) -> int:
    """Return how many copies of its body a loop is written as, one after another: 0 where its trips are not few single
    elements, or it contracts.

    What the copies load is then asked for together, where a loop waits in each trip.
    """
    copies = 0
    if kernel.coord(loop.coord).tile > 1:
        return 0
    for part in loop.parts:
        if isinstance(part.lo, str) or isinstance(part.hi, str) or any(isinstance(s, Dot) for s in part.body):
            return 0
        inner = [unrolled(kernel, s) for s in part.body if isinstance(s, Loop)]
        if 0 in inner:
            return 0
        copies += max(0, int(part.hi) - int(part.lo)) * max(inner, default=1)
    return copies if copies <= MOST_UNROLLED else 0


def flattened(kernel: Kernel, loop: Loop) -> bool:
    """Tell whether a loop and the one inside it are walked as one: the inner one contracts, in few trips, and how many
    both have is known.

    What a trip loads is asked for trips ahead, which ends with the inner loop: it would wait anew in each trip of the
    outer one.
    """
    inner = [s for part in loop.parts for s in part.body if isinstance(s, Loop)]
    if len(loop.parts) != 1 or len(inner) != 1 or len(inner[0].parts) != 1:
        return False
    (part,) = inner[0].parts
    bounds = (loop.parts[0].lo, loop.parts[0].hi, part.lo, part.hi)
    return (
        all(type(bound) is int for bound in bounds)
        and 0 < int(part.hi) - int(part.lo) <= MOST_FLATTENED * kernel.coord(inner[0].coord).tile
        and any(isinstance(s, Dot) for s in part.body)
        and not any(isinstance(s, Loop) for s in part.body)
    )


def values_of(body: Sequence[Stmt]) -> dict[str, Value]:
    """Return every value that statements define or carry, by name."""
    stmts = list(statements(body))
    values = {stmt.out.name: stmt.out for stmt in stmts if isinstance(stmt, Defining)}
    return values | {value.name: value for stmt in stmts if isinstance(stmt, Loop) for value, _ in stmt.carried}


def operands(body: Sequence[Stmt]) -> set[str]:
    """Return the names of loaded values that the matrix unit is fed from as they come: they lie in shared memory."""
    made = definitions(body)
    found = set()
    for stmt in made.values():
        for name in (stmt.a, stmt.b) if isinstance(stmt, Dot) else ():
            source = made.get(name)
            while isinstance(source, Let) and source.op == "cast" and isinstance(source.args[0], str):
                source = made.get(source.args[0])
            if isinstance(source, Load):
                found.add(source.out.name)
    return found


def closure(defs: Mapping[str, Defining], roots: Iterable[Operand | None]) -> dict[str, Defining | None]:
    """Return the values that some come of, themselves included, with their definitions; those of others, accumulators
    say, are None.
    """
    waiting, found = [r for r in roots if isinstance(r, str)], dict[str, Defining | None]()
    while waiting:
        name = waiting.pop()
        if name not in found:
            stmt = found[name] = defs.get(name)
            waiting += used(stmt) if stmt is not None else ()
    return found


def used(stmt: Stmt) -> tuple[str, ...]:
    """Return the names of the values that a statement itself uses, of a loop those of its bounds."""
    reads = _READS.get(type(stmt))
    return tuple([name for name in reads(stmt) if isinstance(name, str)]) if reads is not None else ()


_READS: dict[type, Callable[[Any], Iterable[Operand | None]]] = {
    Load: lambda stmt: (*stmt.index, *stmt.masks),
    Let: lambda stmt: stmt.args,
    ReduceTile: lambda stmt: (stmt.arg,),
    ScanTile: lambda stmt: (stmt.arg, stmt.gain),
    Dot: lambda stmt: (stmt.a, stmt.b, stmt.acc),
    Await: lambda stmt: stmt.names,
    Assign: lambda stmt: (stmt.value,),
    StoreTile: lambda stmt: (*stmt.index, stmt.value, *stmt.masks),
    Loop: lambda stmt: [bound for part in stmt.parts for bound in (part.lo, part.hi)],
}


def renamed(stmt: Stmt, names: Mapping[str, str]) -> Stmt:
    """Return a statement with values called by other names, what it defines, carries or assigns included, and of a loop
    all that is in it.
    """

    def new(operand: Any) -> Any:
        if isinstance(operand, tuple):
            return tuple(map(new, operand))
        return names.get(operand, operand) if isinstance(operand, str) else operand

    if isinstance(stmt, Loop):
        carried = tuple((replace(value, name=new(value.name)), start) for value, start in stmt.carried)
        parts = (
            replace(part, lo=new(part.lo), hi=new(part.hi), body=tuple(renamed(inner, names) for inner in part.body))
            for part in stmt.parts
        )
        return replace(stmt, carried=carried, parts=tuple(parts))
    changes = {
        f: new(getattr(stmt, f))
        for f in ("index", "masks", "again", "args", "arg", "gain", "a", "b", "acc", "names", "target", "value")
        if hasattr(stmt, f)
    }
    if (out := getattr(stmt, "out", None)) is not None:
        changes["out"] = replace(out, name=new(out.name))
    return replace(stmt, **changes)


def matrix_roundoff(plan: Plan) -> float:
    """Return what the matrix unit rounds the operands of a plan's contractions to, the most of all."""
    dots = (stmt for kernel in plan.kernels for stmt in statements(kernel.body) if isinstance(stmt, Dot))
    return max((MATRIX_ROUNDOFF[dot.precision] for dot in dots), default=0.0)
