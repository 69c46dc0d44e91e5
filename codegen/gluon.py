"""Prints a plan with workers as Gluon kernels for Hopper: one warp copies tiles into rings of buffers, groups of warps compute.

Both walk the same statements. The copying warp keeps loads that contractions read, the groups keep everything else and wait for
those loads where they stand; a buffer is given back where every contraction that reads it has been waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from napkin_eq.axis import Axis
from napkin_eq.bulk import Copy, Ring, contracted, copied, definitions, descriptor_names, fetched, pointed, rings, shared_bytes, stores, walked
from napkin_eq.emit import comment_lines, emit, emitter
from napkin_eq.errors import NapkinError
from napkin_eq.names import Names, buffers, kernel_function, pointer_argument, size_argument
from napkin_eq.plan import (
    Assign,
    Await,
    Coord,
    Dot,
    Iota,
    Kernel,
    Let,
    Load,
    Loop,
    Operand,
    Part,
    Plan,
    ReduceTile,
    SizeOf,
    Start,
    Stmt,
    StoreTile,
    Value,
    passes_31_bits,
    statements,
    used,
)
from napkin_eq.schedule import GROUP_LANES

DTYPES = {"f64": "gl.float64", "f32": "gl.float32", "f16": "gl.float16", "bf16": "gl.bfloat16", "i32": "gl.int32", "i64": "gl.int64", "i1": "gl.int1"}
INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<=", "eq": "==", "and": "&", "or": "|"}
CALLS = {"max": "gl.maximum", "min": "gl.minimum", "where": "gl.where", "fma": "gl.fma"}
CALLS |= {name: f"gl.{name}" for name in "exp exp2 log log2 sqrt rsqrt erf sin cos abs floor".split()}
ONE = {"neg": "-{0}", "inv": "1.0 / {0}", "sigmoid": "1.0 / (1.0 + gl.exp(-{0}))", "tanh": "2.0 / (1.0 + gl.exp(-2.0 * {0})) - 1.0", "not": "~{0}"}
WHOLE: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "min": min, "max": max,
    "floordiv": lambda a, b: a // b, "mod": lambda a, b: a % b,
}  # fmt: skip
HEAD = """
import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
"""
IMPORTED = ("gl", "gluon", "fence_async_shared", "mbarrier", "tma", "warpgroup_mma", "warpgroup_mma_wait", "TensorDescriptor")
INDENT, SHARED_LIMIT = "    ", 232448


@emitter("gluon")
def gluon_file(plan: Plan, header: tuple[str, ...]) -> str:
    """Print a plan as one Python file, kernels without workers as Triton prints them; raises NapkinError, with the reason, if none has any."""
    plain = tuple(kernel for kernel in plan.kernels if kernel.workers is None)
    if len(plain) == len(plan.kernels):
        raise NapkinError(f"plan {plan.name}: no workers are named that share a kernel; schedule one first")
    head = [f"# The kernels of {Names().fresh(plan.name)}, written by napkin_eq for NVIDIA Hopper.", "#", *(f"# {line}".rstrip() for line in header)]
    shared = [line for kernel in plan.kernels if kernel.workers for line in _kernel(kernel)]
    others = ["import triton.language as tl\n", emit(replace(plan, kernels=plain), "triton kernels")] if plain else []
    return "\n".join(["\n".join(head), HEAD, *others, *shared, emit(plan, "launcher")])


def _kernel(kernel: Kernel) -> Iterator[str]:
    if (needed := shared_bytes(kernel)) > SHARED_LIMIT:
        raise NapkinError(f"kernel {kernel.name}: {needed} bytes of shared memory, {needed - SHARED_LIMIT} more than a block has")
    shared = _Shared(kernel)
    yield from _Copying(shared).function()
    yield from _Computing(shared).function()
    yield from _entry(shared)


class _Shared:
    """What the functions of a kernel agree on: the names of their arguments, rings, barriers and staging buffers."""

    def __init__(self, kernel: Kernel) -> None:
        assert kernel.workers is not None
        self.kernel, self.workers = kernel, kernel.workers
        self.descriptors, self.rings = descriptor_names(kernel), rings(kernel)
        self.made, self.bulk = definitions(kernel), copied(kernel)
        self.staged = stores(kernel)
        self.pointers = [pointer_argument(b) for b in buffers(kernel) if b.name in pointed(kernel)]
        self.sizes = [size_argument(a) for a in kernel.symbols]
        self.names = Names((*self.descriptors.values(), *self.pointers, *self.sizes, *IMPORTED, kernel_function(kernel)))
        self.blocks = {ring: [self.names.fresh(f"{c.buffer.name}_ring") for c in ring.copies] for ring in self.rings}
        self.full = {ring: self.names.fresh(f"{ring.copies[0].buffer.name}_full") for ring in self.rings}
        self.free = {ring: self.names.fresh(f"{ring.copies[0].buffer.name}_free") for ring in self.rings}
        self.stages = {copy: self.names.fresh(f"{copy.buffer.name}_stage") for copy in dict.fromkeys(self.staged.values())}
        self.arguments = [*self.descriptors.values(), *self.pointers, *self.sizes]
        inside = [*(n for r in self.rings for n in (*self.blocks[r], self.full[r], self.free[r])), *self.stages.values()]
        self.passed = [*self.arguments, *inside]
        self.function = kernel_function(kernel)


def _shape(copy: Copy) -> str:
    return ", ".join(map(str, copy.box))


def _swizzle(copy: Copy) -> int:
    return min(128, copy.box[1] * 2)


def _entry(shared: _Shared) -> Iterator[str]:
    """Print the kernel itself: it lays out shared memory, sets up the barriers and lets the groups and the copying warp run."""
    groups = shared.workers.groups
    yield "\n@gluon.jit"
    yield f"def {shared.function}({', '.join(shared.arguments)}):"
    for ring in shared.rings:
        for copy, name in zip(ring.copies, shared.blocks[ring], strict=True):
            count = ring.depth * (1 if copy.shared else groups)
            dtype = DTYPES[copy.buffer.dtype]
            yield f"    {name} = gl.allocate_shared_memory({dtype}, [{count}, {_shape(copy)}], gl.NVMMASharedLayout({_swizzle(copy)}, 16, 2))"
        for name in (shared.full[ring], shared.free[ring]):
            yield f"    {name} = gl.allocate_shared_memory(gl.int64, [{ring.depth}, 1], mbarrier.MBarrierLayout())"
        yield f"    for slot in gl.static_range({ring.depth}):"
        yield f"        mbarrier.init({shared.full[ring]}.index(slot), count=1)"
        yield f"        mbarrier.init({shared.free[ring]}.index(slot), count={groups})"
    for copy, name in shared.stages.items():
        layout = f"gl.NVMMASharedLayout({_swizzle(copy)}, 16, 2)"
        yield f"    {name} = gl.allocate_shared_memory({DTYPES[copy.buffer.dtype]}, [{groups}, {_shape(copy)}], {layout})"
    yield "    fence_async_shared()"
    passed = ", ".join(shared.passed)
    yield "    gl.warp_specialize("
    yield "        ["
    yield from (f"            ({shared.function}_compute, ({passed}, {who}))," for who in range(groups))
    yield f"            ({shared.function}_copy, ({passed},)),"
    yield "        ],"
    held = 240 if groups < 3 else 160
    yield f"        [{', '.join(['4'] * (groups - 1) + ['1'])}],"
    yield f"        [{', '.join([str(held)] * (groups - 1) + ['24' if groups < 3 else '32'])}],"
    yield "    )"
    yield ""


class _Side:
    """One of the functions: the walk over the blocks of the grid, scalars, loops; what is loaded and computed is the subclass's."""

    suffix, who = "", ""

    def __init__(self, shared: _Shared) -> None:
        self.shared, self.kernel = shared, shared.kernel
        self.lines: list[str] = []
        self.depth = 1
        self.names = Names((*shared.passed, *shared.names.taken))
        self.text: dict[str, str] = {}
        self.values: dict[str, Value] = {}
        self.starts = {c.name: "0" for c in self.kernel.coords if c.role == "whole"}
        self.made: dict[str, Stmt] = {}
        self.counters = {ring: self.names.fresh(f"{ring.copies[0].buffer.name}_n") for ring in shared.rings}
        self.wanted = self.needed()

    def line(self, text: str) -> None:
        self.lines.append(INDENT * self.depth + text)

    def wrong(self, what: str) -> NapkinError:
        return NapkinError(f"kernel {self.kernel.name}: {what}")

    def needed(self) -> set[str]:
        """Return the values that this side uses, found from what it does back to what that takes."""
        waiting = [name for stmt in statements(self.kernel.body) for name in self.roots(stmt)]
        found: set[str] = set()
        sources: dict[str, list[Stmt]] = {}
        for stmt in statements(self.kernel.body):
            for out in [stmt.out.name] if hasattr(stmt, "out") else [stmt.target] if isinstance(stmt, Assign) else []:
                sources.setdefault(out, []).append(stmt)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += [n for stmt in sources.get(name, ()) for n in self.takes(stmt)]
        return found

    def roots(self, stmt: Stmt) -> Sequence[str]:
        return used(stmt) if isinstance(stmt, Loop) else ()

    def takes(self, stmt: Stmt) -> Sequence[str]:
        return () if isinstance(stmt, Load) and stmt.out.name in self.shared.bulk else used(stmt)

    # The walk -------------------------------------------------------------------------------------------------------------

    def function(self) -> Iterator[str]:
        yield "\n@gluon.jit"
        yield f"def {self.shared.function}{self.suffix}({', '.join([*self.shared.passed, *([self.who] if self.who else [])])}):"
        self.opening()
        for counter in self.counters.values():
            self.line(f"{counter} = 0")
        self.grid()
        self.depth += 1
        self.body(self.kernel.body, self.shared.workers.ahead)
        self.depth -= 1
        self.closing()
        yield from self.lines
        yield ""

    def opening(self) -> None:
        """Print what comes before all blocks."""

    def closing(self) -> None:
        """Print what comes after all blocks."""

    def grid(self) -> None:
        """Print the walk over this program's blocks of the grid; blocks of unequal length are dealt out and back, longest first."""
        walked_coords = [self.kernel.coord(n) for n in self.kernel.grid]
        counts = {c.name: self.count(c) for c in walked_coords}
        total = self.names.fresh("blocks")
        self.line(f"{total} = {' * '.join(n for n in counts.values() if n != '1') or '1'}")
        tile, programs, me = (self.names.fresh(n) for n in ("tile", "programs", "program"))
        self.line(f"{programs} = gl.num_programs(0)")
        self.line(f"{me} = gl.program_id(0)")
        if self.shared.workers.falling:
            turn = self.names.fresh("turn")
            self.line(f"turns = {total} // {programs}")
            self.line(f"turns += gl.where(gl.where(turns % 2 == 0, {me}, {programs} - 1 - {me}) < {total} % {programs}, 1, 0)")
            self.line(f"for {turn} in range(0, turns):")
            self.line(f"    {tile} = {turn} * {programs} + gl.where({turn} % 2 == 0, {me}, {programs} - 1 - {me})")
        else:
            self.line(f"for {tile} in range({me}, {total}, {programs}):")
        self.depth += 1
        self.decode(tile, [c for c in walked_coords if counts[c.name] != "1"], counts)
        self.starts |= {c.name: "0" for c in walked_coords if counts[c.name] == "1"}
        self.depth -= 1

    def decode(self, tile: str, coords: list[Coord], counts: dict[str, str]) -> None:
        swizzle, workers = self.kernel.swizzle, self.shared.workers
        slow = next((c for c in coords if c.name in workers.falling), None)
        if slow is not None and workers.abreast > 1 and len(coords) > 1:
            others = [c for c in coords if c is not slow]
            self.abreast(tile, slow, [counts[c.name] for c in others], counts)
            self.mixed(tile, others, counts)
            return
        if swizzle and {c.name for c in coords[-2:]} == set(swizzle[:2]):
            row, column, depth = swizzle
            rest, first, rows = (self.names.fresh(n) for n in ("rest", "first", "rows"))
            row_block, column_block = self.names.fresh(f"{row}_block"), self.names.fresh(f"{column}_block")
            self.line(f"{rest} = {tile} % ({counts[row]} * {counts[column]})")
            self.line(f"{first} = {rest} // ({depth} * {counts[column]}) * {depth}")
            self.line(f"{rows} = gl.minimum({counts[row]} - {first}, {depth})")
            self.line(f"{row_block} = {first} + {rest} % ({depth} * {counts[column]}) % {rows}")
            self.line(f"{column_block} = {rest} % ({depth} * {counts[column]}) // {rows}")
            self.start(row, row_block, counts)
            self.start(column, column_block, counts)
            if len(coords) == 2:
                return
            self.line(f"{tile} = {tile} // ({counts[row]} * {counts[column]})")
            coords = coords[:-2]
        self.mixed(tile, coords, counts)

    def abreast(self, tile: str, slow: Coord, others: list[str], counts: dict[str, str]) -> None:
        """Print the block of a falling coordinate that is walked slower than the others, and leave the number of theirs."""
        depth, number = self.shared.workers.abreast, " * ".join(others)
        first, rest, width = (self.names.fresh(n) for n in ("first", "rest", "width"))
        self.line(f"{first} = {tile} // ({depth} * {counts[slow.name]}) * {depth}")
        self.line(f"{rest} = {tile} % ({depth} * {counts[slow.name]})")
        self.line(f"{width} = gl.minimum({number} - {first}, {depth})")
        self.start(slow.name, f"({rest} // {width})", counts)
        self.line(f"{tile} = {first} + {rest} % {width}")

    def mixed(self, tile: str, coords: list[Coord], counts: dict[str, str]) -> None:
        """Print the blocks of coordinates, the last one fastest, off a number."""
        for place, coord in reversed(list(enumerate(coords))):
            self.start(coord.name, f"{tile} % {counts[coord.name]}" if place else tile, counts)
            if place:
                self.line(f"{tile} = {tile} // {counts[coord.name]}")

    def start(self, name: str, block: str, counts: dict[str, str]) -> None:
        coord = self.kernel.coord(name)
        text = self.starts[name] = self.names.fresh(name if coord.tile == 1 else f"{name}_start")
        if name in self.shared.workers.falling:
            block = f"({counts[name]} - 1 - {block})"
        elif " " in block and coord.tile > 1:
            block = f"{block}"
        self.line(f"{text} = {block}" + (f" * {coord.tile}" if coord.tile > 1 else ""))

    def count(self, coord: Coord) -> str:
        if coord.axis.size is not None:
            return str(-(-coord.axis.size // coord.tile))
        size = size_argument(coord.axis)
        if coord.tile == 1:
            return size
        name = self.names.fresh(f"{coord.name}_blocks")
        self.line(f"{name} = gl.cdiv({size}, {coord.tile})")
        return name

    def body(self, body: Sequence[Stmt], depth: int) -> None:
        """Print statements; `depth` is that of the rings which the loads standing here pass through."""
        groups = {load.out.name: (loads, ring) for loads, ring in fetched(self.kernel, body, self.shared.made, depth) for load in loads}
        for place, stmt in enumerate(body):
            if hasattr(stmt, "out"):
                self.values[stmt.out.name] = stmt.out
                self.made[stmt.out.name] = stmt
            match stmt:
                case Loop():
                    self.loop(stmt)
                case Load() if stmt.out.name in self.shared.bulk:
                    loads, ring = groups[stmt.out.name]
                    if stmt is loads[-1]:
                        self.fetch(loads, ring)
                case Start() | SizeOf() | Iota() | Let() | Load() | ReduceTile():
                    if stmt.out.name in self.wanted:
                        self.define(stmt)
                case _:
                    self.act(stmt)
            self.after(body, place, groups)

    def after(self, body: Sequence[Stmt], place: int, groups: dict[str, tuple[tuple[Load, ...], Ring]]) -> None:
        """Print what must follow a statement."""

    def loop(self, stmt: Loop) -> None:
        coord = self.kernel.coord(stmt.coord)
        name = self.starts[coord.name] = self.names.fresh(coord.name if coord.tile == 1 else f"{coord.name}_start")
        self.carry(stmt)
        for part in stmt.parts:
            self.part(name, coord, part)
        del self.starts[coord.name]

    def carry(self, stmt: Loop) -> None:
        """Print the accumulators of a loop."""

    def part(self, name: str, coord: Coord, part: Part) -> None:
        for note in comment_lines([part.note] if part.note else []):
            self.line(f"# {note}")
        if part.once:
            self.line(f"{name} = {self.operand(part.lo, ())}")
            self.body(part.body, self.kernel.stages)
            return
        self.line(f"for {name} in range({self.operand(part.lo, ())}, {self.operand(part.hi, ())}, {coord.tile}):")
        self.depth += 1
        before = len(self.lines)
        self.body(part.body, self.kernel.stages)
        if len(self.lines) == before:
            self.line("pass")
        self.depth -= 1

    # Values ---------------------------------------------------------------------------------------------------------------

    def dims(self, value: Value) -> tuple[str, ...]:
        """Return the coordinates of a tile wider than one, that of the rows first."""
        wide = [c for c in value.coords if self.kernel.coord(c).tile > 1]
        return tuple(sorted(wide, key=lambda c: c != self.shared.workers.rows))

    def operand(self, operand: Operand, dims: tuple[str, ...]) -> str:
        if not isinstance(operand, str):
            return 'float("-inf")' if operand == float("-inf") else 'float("inf")' if operand == float("inf") else repr(operand)
        return self.of(operand)

    def of(self, name: str) -> str:
        if name not in self.text:
            raise self.wrong(f"{name} is used where it is not defined")
        return self.text[name]

    def define(self, stmt: Stmt) -> None:
        """Print a scalar; tiles are the computing side's."""
        assert hasattr(stmt, "out")
        out: Value = stmt.out
        match stmt:
            case Start(_, coord):
                self.text[out.name] = self.starts[coord]
            case Iota(_, coord) if self.kernel.coord(coord).tile == 1:
                self.text[out.name] = self.starts[coord]
            case SizeOf(_, axis):
                self.text[out.name] = self.size(axis)
            case Let(_, op, args) if op in WHOLE and all(self.operand(a, ()).lstrip("-").isdigit() for a in args):
                self.text[out.name] = str(WHOLE[op](*(int(self.operand(a, ())) for a in args)))
            case Let():
                self.text[out.name] = self.names.fresh(out.name)
                self.line(f"{self.text[out.name]} = {self.let(stmt, ())}")
            case _:
                raise self.wrong(f"{out.name} is a tile, and the warp that copies has no lanes for it")

    def size(self, axis: Axis) -> str:
        return size_argument(axis) if axis.size is None else str(axis.size)

    def let(self, stmt: Let, dims: tuple[str, ...]) -> str:
        args, op = [self.operand(arg, dims) for arg in stmt.args], stmt.op
        if op in INFIX:
            return f"{args[0]} {INFIX[op]} {args[1]}"
        if op == "floordiv":
            return f"({args[0]} - ({args[0]} % {args[1]} + {args[1]}) % {args[1]}) // {args[1]}"
        if op == "mod":
            return f"({args[0]} % {args[1]} + {args[1]}) % {args[1]}"
        if op in ("cast", "real"):
            return f"{args[0]}.to({DTYPES[stmt.out.dtype]})"
        if op in ONE:
            return ONE[op].format(args[0])
        if op in CALLS:
            return f"{CALLS[op]}({', '.join(args)})"
        raise self.wrong(f"no operator {op!r:.60} in Gluon")

    # Rings ----------------------------------------------------------------------------------------------------------------

    def fetch(self, loads: Sequence[Load], ring: Ring) -> None:
        """Print what this side does where tiles are loaded through a ring."""
        raise NotImplementedError

    def act(self, stmt: Stmt) -> None:
        """Print a statement that is no definition."""

    def slot(self, ring: Ring, back: int = 0) -> str:
        count = self.counters[ring] if not back else f"({self.counters[ring]} - {back})"
        return "0" if ring.depth == 1 else f"{count} % {ring.depth}"

    def phase(self, ring: Ring) -> str:
        return f"{self.counters[ring]} // {ring.depth} & 1" if ring.depth > 1 else f"{self.counters[ring]} & 1"

    def block(self, ring: Ring, copy: int, slot: str, who: str) -> str:
        name, groups = self.shared.blocks[ring][copy], self.shared.workers.groups
        if ring.copies[copy].shared or groups == 1:
            return f"{name}.index({slot})"
        return f"{name}.index({f'{slot} * {groups} + ' if slot != '0' else ''}{who})"


class _Copying(_Side):
    """The warp that copies: bounds of loops, first indices of tiles, and copies as buffers come free."""

    suffix = "_copy"

    def roots(self, stmt: Stmt) -> Sequence[str]:
        if isinstance(stmt, Load) and stmt.out.name in self.shared.bulk:
            return tuple(n for i in stmt.index if (n := self.scalar(i)))
        return super().roots(stmt)

    def scalar(self, index: Operand) -> str:
        """Return the name of the scalar that an index of a load needs, if it needs one."""
        found = walked(self.kernel, index, self.shared.made)
        part = index if found is None else found[1]
        return part if isinstance(part, str) else ""

    def act(self, stmt: Stmt) -> None:
        pass

    def fetch(self, loads: Sequence[Load], ring: Ring) -> None:
        shared, counter, groups = self.shared, self.counters[ring], self.shared.workers.groups
        slot = self.names.fresh("slot") if ring.depth > 1 else "0"
        if ring.depth > 1:
            self.line(f"{slot} = {self.slot(ring)}")
        self.line(f"mbarrier.wait({shared.free[ring]}.index({slot}), ({self.phase(ring)}) ^ 1)")
        self.line(f"mbarrier.expect({shared.full[ring]}.index({slot}), {ring.bytes(groups)})")
        for number, (load, copy) in enumerate(zip(loads, ring.copies, strict=True)):
            for who in range(1 if copy.shared else groups):
                index = copy_index(self, load.index, copy, str(who * GROUP_LANES) if who else "")
                target = self.block(ring, number, slot, str(who))
                shape = ", ".join(["1"] * (len(copy.order) - 2) + [str(n) for n in copy.box])
                reshaped = target if len(copy.order) == 2 else f"{target}.reshape([{shape}])"
                self.line(f"tma.async_copy_global_to_shared({shared.descriptors[copy]}, [{index}], {shared.full[ring]}.index({slot}), {reshaped})")
        self.line(f"{counter} += 1")


def copy_index(side: _Side, index: Sequence[Operand], copy: Copy, offset: str) -> str:
    """Return the first index of a box in each dimension of its descriptor; `offset` is added along the rows."""
    texts = []
    for at in copy.order:
        found = walked(side.kernel, index[at], side.made)
        if found is None:
            texts.append(side.operand(index[at], ()))
            continue
        name, added = found
        parts = [t for t in (side.starts[name], "" if added == 0 else side.operand(added, ()), offset if name == side.shared.workers.rows else "") if t]
        texts.append(" + ".join(t for t in parts if t != "0") or "0")
    return ", ".join(texts)


class _Computing(_Side):
    """A group of warps: waits for tiles, contracts, computes, stores its lanes of the rows."""

    suffix, who = "_compute", "WHO: gl.constexpr"

    def __init__(self, shared: _Shared) -> None:
        super().__init__(shared)
        self.layouts: dict[int, str] = {}
        self.tiles: dict[str, tuple[Ring, int, str]] = {}
        self.blocks: dict[str, str] = {}
        self.operands = contracted(shared.kernel)
        self.computed_on = {n for s in statements(shared.kernel.body) if not isinstance(s, Dot) for n in used(s)} & shared.bulk
        self.lent: dict[str, str] = {}
        self.turned = self.kept_for_dots()
        columns = [self.lanes(d) for s in statements(self.kernel.body) if isinstance(s, Dot) for d in self.dims(s.out)[1:]]
        self.home = max(columns, key=columns.count)

    def roots(self, stmt: Stmt) -> Sequence[str]:
        if isinstance(stmt, StoreTile):
            copy = next((c for at, c in self.shared.staged.items() if c.buffer.name == stmt.buffer), None)
            if copy is None:
                return used(stmt)
            found = ((walked(self.kernel, i, self.shared.made), i) for i in stmt.index)
            scalars = (i if f is None else f[1] for f, i in found)
            return (stmt.value, *(s for s in scalars if isinstance(s, str)))
        return super().roots(stmt)

    def kept_for_dots(self) -> dict[str, int]:
        """Return the 16-bit accumulators that only contractions read, with the columns of the results: they are kept as operands."""
        dots = [s for s in statements(self.kernel.body) if isinstance(s, Dot)]
        carried = [value.name for s in statements(self.kernel.body) if isinstance(s, Loop) for value, _ in s.carried]
        found = {}
        for name in carried:
            by = [s for s in statements(self.kernel.body) if name in used(s)]
            if by and all(isinstance(s, Dot) and name != s.acc for s in by):
                found[name] = next(self.lanes(self.dims(d.out)[1]) for d in dots if name in (d.a, d.b))
        return found

    # Layouts --------------------------------------------------------------------------------------------------------------

    def lanes(self, coord: str) -> int:
        return GROUP_LANES if coord == self.shared.workers.rows else self.kernel.coord(coord).tile

    def matrix(self, columns: int) -> str:
        """Return the layout of a result of the matrix unit with so many columns."""
        return f"MATRIX_{min(columns, 256)}"

    def layout(self, dims: tuple[str, ...]) -> str:
        rows = self.shared.workers.rows
        if len(dims) == 2 and dims[0] == rows:
            return self.matrix(self.lanes(dims[1]))
        if dims == (rows,):
            return f"gl.SliceLayout(1, {self.matrix(self.home)})"
        if len(dims) == 1:
            return f"gl.SliceLayout(0, {self.matrix(self.lanes(dims[0]))})"
        raise self.wrong(f"a tile over {', '.join(dims)} is computed, and the groups of warps hold tiles of {rows} and one other coordinate")

    def shape(self, dims: tuple[str, ...]) -> str:
        lanes = ", ".join(str(self.lanes(d)) for d in dims)
        return f"({lanes},)" if len(dims) == 1 else f"({lanes})"

    def operand(self, operand: Operand, dims: tuple[str, ...]) -> str:
        if not isinstance(operand, str):
            return super().operand(operand, dims)
        text, own = self.of(operand), self.dims(self.values[operand])
        if own in ((), dims):
            return text
        if not set(own) <= set(dims):
            raise self.wrong(f"{operand} spans {list(own)}, where only {list(dims)} are spanned")
        if own == (dims[1],):
            return f"{text}[None, :]"
        if self.matrix(self.lanes(dims[1])) != self.matrix(self.home):
            text = f"gl.convert_layout({text}, gl.SliceLayout(1, {self.layout(dims)}))"
        return f"{text}[:, None]"

    # Statements -----------------------------------------------------------------------------------------------------------

    def opening(self) -> None:
        widths = {self.lanes(d) for s in statements(self.kernel.body) if hasattr(s, "out") for d in self.dims(s.out) if d != self.shared.workers.rows}
        for width in sorted({min(w, 256) for w in widths}):
            self.line(f"{self.matrix(width)}: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, {width}, 16])")

    def closing(self) -> None:
        if self.shared.stages:
            self.line("tma.store_wait(0)")

    def define(self, stmt: Stmt) -> None:
        assert hasattr(stmt, "out")
        out: Value = stmt.out
        dims = self.dims(out)
        if not dims and not isinstance(stmt, (ReduceTile, Load)):
            super().define(stmt)
            return
        name = self.text[out.name] = self.names.fresh(out.name) if self.text.get(out.name) is None else self.text[out.name]
        match stmt:
            case Iota(_, coord):
                own = f" + WHO * {GROUP_LANES}" if coord == self.shared.workers.rows and self.shared.workers.groups > 1 else ""
                begin = "" if self.starts[coord] == "0" else f"{self.starts[coord]} + "
                self.line(f"{name} = {begin}gl.arange(0, {self.lanes(coord)}, layout={self.layout(dims)}){own}")
            case Let():
                self.line(f"{name} = {self.let(stmt, dims)}")
            case Load():
                self.line(f"{name} = gl.load({self.pointer(stmt, dims)})")
            case ReduceTile(_, monoid, coord, arg):
                self.line(f"{name} = {self.folded(monoid, coord, arg)}")

    def pointer(self, stmt: Load | StoreTile, dims: tuple[str, ...]) -> str:
        """Return the pointers of a load or store that no box serves, and its mask."""
        buffer = next(b for b in buffers(self.kernel) if b.name == stmt.buffer)
        terms = [pointer_argument(buffer)]
        for at, index in enumerate(stmt.index):
            text = self.operand(index, dims)
            if text == "0":
                continue
            factors = [self.size(a) for a in buffer.dims[at + 1 :] if a.size != 1]
            known = [str(n) for n in [_product(int(f) for f in factors if f.isdigit())] if n > 1]
            symbolic = [f for f in factors if not f.isdigit()]
            wide = f"{text}.to(gl.int64)" if passes_31_bits(buffer, at) and isinstance(index, str) and not text.isdigit() else text
            terms.append(" * ".join([f"({wide})" if " " in wide else wide, *symbolic, *known]))
        masks = [self.operand(m, dims) for m in stmt.masks]
        zero = "0" if buffer.dtype.startswith("i") else "0.0"
        other = f", other={zero}" if isinstance(stmt, Load) and masks else ""
        return " + ".join(terms) + (f", mask={' & '.join(masks)}{other}" if masks else "")

    def folded(self, monoid: str, coord: str, arg: str) -> str:
        dims = self.dims(self.values[arg])
        if coord not in dims:
            return self.text[arg]
        if monoid not in ("sum", "max") or coord == self.shared.workers.rows:
            raise self.wrong(f"a {monoid} over {coord}, along which the groups of warps divide the tile, or of a kind Gluon does not have")
        text = f"gl.{monoid}({self.text[arg]}, axis={dims.index(coord)})"
        if len(dims) == 2 and self.matrix(self.lanes(coord)) != self.matrix(self.home):
            return f"gl.convert_layout({text}, gl.SliceLayout(1, {self.matrix(self.home)}))"
        return text

    def carry(self, stmt: Loop) -> None:
        for value, initial in stmt.carried:
            self.values[value.name] = value
            name = self.text[value.name] = self.names.fresh(value.name)
            dims = self.dims(value)
            layout = self.operand_layout(self.turned[value.name]) if value.name in self.turned else self.layout(dims) if dims else ""
            start = super().operand(int(initial) if value.dtype.startswith("i") else float(initial), ())
            self.line(f"{name} = gl.full({self.shape(dims)}, {start}, {DTYPES[value.dtype]}, {layout})" if dims else f"{name} = {start}")

    def operand_layout(self, columns: int) -> str:
        return f"gl.DotOperandLayout(0, {self.matrix(columns)}, 2)"

    def act(self, stmt: Stmt) -> None:
        match stmt:
            case Dot():
                self.dot(stmt)
            case Await(names, pending):
                self.wait(names, pending)
            case Assign(target, value):
                text = self.text[value]
                if target in self.turned:
                    text = f"gl.convert_layout({text}, {self.operand_layout(self.turned[target])})"
                self.line(f"{self.text[target]} = {text}")
            case StoreTile():
                self.store(stmt)
            case _:
                raise self.wrong(f"{type(stmt).__name__} cannot be printed for groups of warps")

    def fetch(self, loads: Sequence[Load], ring: Ring) -> None:
        slot = self.names.fresh(f"{loads[0].buffer}_slot") if ring.depth > 1 else "0"
        if ring.depth > 1:
            self.line(f"{slot} = {self.slot(ring)}")
        self.line(f"mbarrier.wait({self.shared.full[ring]}.index({slot}), {self.phase(ring)})")
        self.line(f"{self.counters[ring]} += 1")
        for number, load in enumerate(loads):
            self.tiles[load.out.name] = (ring, number, slot)
            block = self.block(ring, number, slot, "WHO")
            if load.out.name in self.operands:
                name = self.blocks[load.out.name] = self.names.fresh(load.out.name)
                self.line(f"{name} = {block}")
            if load.out.name in self.computed_on:
                dims = self.dims(load.out)
                name = self.text[load.out.name] = self.names.fresh(load.out.name)
                self.line(f"{name} = {block}{'' if ring.copies[number].sides == dims else '.permute((1, 0))'}.load({self.layout(dims)})")

    def dot(self, stmt: Dot) -> None:
        dims = self.dims(stmt.out)
        if len(dims) != 2 or dims[0] != self.shared.workers.rows:
            raise self.wrong(f"{stmt.out.name} spans {list(dims)}, expected {self.shared.workers.rows} and one other")
        left, right = (stmt.a, stmt.b) if dims[0] in self.dims(self.values[stmt.a]) else (stmt.b, stmt.a)
        if right not in self.blocks:
            raise self.wrong(f"{right}, the right side of a contraction, is computed; the matrix unit reads that side from shared memory")
        a = self.shared_side(left, (dims[0], stmt.coord)) if left in self.blocks else self.text[left]
        if left not in self.blocks and left not in self.turned:
            self.line(f"{a} = gl.convert_layout({a}, {self.operand_layout(self.lanes(dims[1]))})")
        if stmt.issued and left not in self.blocks:
            self.lent[stmt.out.name] = a
        b = self.shared_side(right, (stmt.coord, dims[1]))
        name = self.text[stmt.out.name] = self.text.get(stmt.out.name) or self.names.fresh(stmt.out.name)
        acc, use = (self.text[stmt.acc], "") if stmt.acc else (f"gl.zeros({self.shape(dims)}, gl.float32, {self.layout(dims)})", ", use_acc=False")
        self.line(f"{name} = warpgroup_mma({a}, {b}, {acc}{use}{', is_async=True' if stmt.issued else ''})")

    def shared_side(self, name: str, wanted: tuple[str, str]) -> str:
        ring, number, _ = self.tiles[name]
        return self.blocks[name] if ring.copies[number].sides == wanted else f"{self.blocks[name]}.permute((1, 0))"

    def wait(self, names: Sequence[str], pending: int) -> None:
        """Print a wait; operands in registers go through it as well, so that nothing is written over them before."""
        texts = [self.text[n] for n in names]
        texts += [operand for n in names if (operand := self.lent.pop(n, "")) and operand not in texts]
        self.line(f"{', '.join(texts)} = warpgroup_mma_wait({pending}, ({', '.join(texts)},))")

    def after(self, body: Sequence[Stmt], place: int, groups: dict[str, tuple[tuple[Load, ...], Ring]]) -> None:
        """Give back the buffers whose every reader is done here, and at the wait of a running sum those of the block before."""
        for loads, ring in dict.fromkeys(groups.values()):
            due = done_at(body, {load.out.name for load in loads})
            free = self.shared.free[ring]
            if due == place:
                self.line(f"mbarrier.arrive({free}.index({self.tiles[loads[0].out.name][2]}))")
            elif due is None and isinstance(body[place], Await) and any(isinstance(s, Dot) for s in body[:place]):
                self.line(f"mbarrier.arrive({free}.index({self.slot(ring, 2)}), pred={self.counters[ring]} > {self.first(ring)} + 1)")
        stmt = body[place]
        if isinstance(stmt, Await) and place and isinstance(body[place - 1], Loop):
            for part in body[place - 1].parts[:1]:  # type: ignore[union-attr]
                for loads, ring in fetched(self.kernel, part.body, self.shared.made, self.kernel.stages):
                    if done_at(part.body, {load.out.name for load in loads}) is None:
                        self.line(f"mbarrier.arrive({self.shared.free[ring]}.index({self.slot(ring, 1)}), pred={self.counters[ring]} > {self.first(ring)})")

    def first(self, ring: Ring) -> str:
        return f"{self.counters[ring]}_first"

    def loop(self, stmt: Loop) -> None:
        for part in stmt.parts[:1]:
            for loads, ring in fetched(self.kernel, part.body, self.shared.made, self.kernel.stages):
                if done_at(part.body, {load.out.name for load in loads}) is None:
                    self.line(f"{self.first(ring)} = {self.counters[ring]}")
        super().loop(stmt)

    def store(self, stmt: StoreTile) -> None:
        copy = next((c for c in self.shared.staged.values() if c.buffer.name == stmt.buffer), None)
        dims = self.dims(self.values[stmt.value])
        if self.shared.workers.rows not in dims:
            raise self.wrong(f"{stmt.value} does not vary along {self.shared.workers.rows}: every group of warps would store it")
        if copy is None:
            target, _, mask = self.pointer(stmt, dims).partition(", mask=")
            self.line(f"gl.store({target}, {self.text[stmt.value]}{f', mask={mask}' if mask else ''})")
            return
        stage = f"{self.shared.stages[copy]}.index(WHO)"
        self.line("tma.store_wait(0)")
        self.line("gl.thread_barrier()")
        turned = copy.sides != dims
        self.line(f"{stage}{'.permute((1, 0))' if turned else ''}.store({self.text[stmt.value]})")
        self.line("fence_async_shared()")
        self.line("gl.thread_barrier()")
        own = f"WHO * {GROUP_LANES}" if self.shared.workers.groups > 1 else ""
        shape = ", ".join(["1"] * (len(copy.order) - 2) + [str(n) for n in copy.box])
        source = stage if len(copy.order) == 2 else f"{stage}.reshape([{shape}])"
        self.line(f"tma.async_copy_shared_to_global({self.shared.descriptors[copy]}, [{copy_index(self, stmt.index, copy, own)}], {source})")


def done_at(body: Sequence[Stmt], tiles: set[str]) -> int | None:
    """Return the place of the statement after which nothing reads some tiles any more; None where that is in the next block.

    What arithmetic reads is in registers once it is loaded.
    """
    last = max(place for place, stmt in enumerate(body) if isinstance(stmt, Load) and stmt.out.name in tiles)
    for place, stmt in enumerate(body):
        inner = [s for part in stmt.parts for s in statements(part.body)] if isinstance(stmt, Loop) else [stmt]
        for dot in (s for s in inner if isinstance(s, Dot) and tiles & {s.a, s.b}):
            done = place if isinstance(stmt, Loop) or not dot.issued else _awaited(body, place)
            if done is None:
                return None
            last = max(last, done)
    return last


def _awaited(body: Sequence[Stmt], place: int) -> int | None:
    """Return where an issued contraction is waited for in its own body."""
    younger = 0
    for later, stmt in enumerate(body[place + 1 :], place + 1):
        if isinstance(stmt, Dot):
            younger += 1
        if isinstance(stmt, Await) and stmt.pending <= younger:
            return later
    return None


def _product(numbers: Iterator[int]) -> int:
    found = 1
    for number in numbers:
        found *= number
    return found
