"""What both functions of a Gluon kernel print alike: the walk over its statements, scalars, loops, the places in the
rings.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence

from napkin_eq.lang.axis import Axis
from napkin_eq.tile.identifiers import buffers, pointer_argument, size_argument
from napkin_eq.tile.ir import (
    Coord,
    Copy,
    Defining,
    Iota,
    Let,
    Load,
    Loop,
    Operand,
    Part,
    ReduceTile,
    Ring,
    Share,
    SizeOf,
    Start,
    Stmt,
    StoreTile,
    Value,
    passes_31_bits,
)
from napkin_eq.tile.passes.tma import grouped, walked
from napkin_eq.tile.passes.warp_roles import over_rows, wide
from napkin_eq.tile.printers import comment_lines

from ..axis_info import misled, unread
from .blocks import Blocks
from .shared import DTYPES, Shared

INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<=", "eq": "==", "and": "&", "or": "|"}
CALLS = {"max": "gl.maximum", "min": "gl.minimum", "where": "gl.where", "fma": "gl.fma", "random": "random_bits"}
CALLS |= {name: f"gl.{name}" for name in "exp exp2 log log2 sqrt rsqrt erf sin cos abs floor".split()}
ONE = {
    "neg": "-{0}",
    "inv": "1.0 / {0}",
    "sigmoid": "1.0 / (1.0 + gl.exp(-{0}))",
    "tanh": "2.0 / (1.0 + gl.exp(-2.0 * {0})) - 1.0",
    "not": "~{0}",
}
WHOLE: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "min": min, "max": max,
    "floordiv": lambda a, b: a // b, "mod": lambda a, b: a % b,
}  # fmt: skip


class Side(Blocks):
    """One of the functions: the walk over the blocks of the grid, scalars, loops; what is loaded and computed is the
    subclass's.
    """

    suffix, who, warps, share = "", "", 1, ""

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self.text: dict[str, str] = {}
        self.misled = misled(self.kernel)
        self.values: dict[str, Value] = {}
        self.made: dict[str, Defining] = {}
        self.across: dict[str, str] = {}
        self.begins: dict[str, str] = {}  # of coordinates in tiles, where the tile begins
        self.holding = False
        self.counters = {ring: self.names.fresh(f"{ring.copies[0].buffer.name}_n") for ring in shared.rings}
        mine: Share = getattr(shared.roles, self.share)
        self.wanted, self.whole = frozenset(mine.values), frozenset(mine.whole)

    def fetched(self, body: Sequence[Stmt]) -> Iterator[tuple[tuple[Load, ...], Ring]]:
        """Yield the loads of a body that are copied together, with their ring."""
        for loads in grouped(body, self.shared.roles.copied):
            yield loads, self.shared.ring_of[tuple(load.out.name for load in loads)]

    def function(self) -> Iterator[str]:
        yield "\n@gluon.jit"
        flag = [f"{self.shared.chained}: gl.constexpr"] if self.shared.ahead else []
        passed = ", ".join([*self.shared.passed, *flag, *([self.who] if self.who else [])])
        yield f"def {self.shared.function}{self.suffix}({passed}):"
        self.opening()
        for counter in self.counters.values():
            self.line(f"{counter} = 0")
        self.grid()
        self.depth += 1
        self.body(self.kernel.body)
        for line in self.again:
            self.line(line)
        self.depth -= 1
        self.closing()
        yield from self.lines
        yield ""

    def opening(self) -> None:
        """Print what comes before all blocks."""

    def wait_for_kernels(self) -> None:
        """Wait until the kernels before this one have ended, if it was launched before."""
        self.line(f"if {self.shared.chained}:")
        self.line("    gdc_wait()")

    def closing(self) -> None:
        """Print what comes after all blocks."""

    def body(self, body: Sequence[Stmt]) -> None:
        """Print statements."""
        groups = {load.out.name: (loads, ring) for loads, ring in self.fetched(body) for load in loads}
        for place, stmt in enumerate(body):
            if isinstance(stmt, Defining):
                self.values[stmt.out.name] = stmt.out
                self.made[stmt.out.name] = stmt
            match stmt:
                case Loop():
                    self.loop(stmt)
                case Load() if stmt.out.name in self.shared.kept:
                    self.keep(stmt, body)
                case Load() if stmt.out.name in self.shared.bulk:
                    loads, ring = groups[stmt.out.name]
                    if stmt is loads[-1]:
                        self.fetch(loads, ring)
                case Start() | SizeOf() | Iota() | Let() | Load() | ReduceTile():
                    if stmt.out.name in self.whole:
                        self.define_across(stmt)
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
            self.body(part.body)
            return
        self.line(f"for {name} in range({self.operand(part.lo, ())}, {self.operand(part.hi, ())}, {coord.tile}):")
        self.depth += 1
        before = len(self.lines)
        self.body(part.body)
        if len(self.lines) == before:
            self.line("pass")
        self.depth -= 1

    def operand(self, operand: Operand, dims: tuple[str, ...]) -> str:
        if not isinstance(operand, str):
            return (
                'float("-inf")'
                if operand == float("-inf")
                else 'float("inf")'
                if operand == float("inf")
                else repr(operand)
            )
        return self.of(operand)

    def of(self, name: str) -> str:
        if self.holding and name in self.across:
            return self.across[name]
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
            case Load() if not wide(self.kernel, out):
                self.text[out.name] = self.names.fresh(out.name)
                self.line(f"{self.text[out.name]} = gl.load({self.pointer(stmt, ())})")
            case ReduceTile(_, monoid, _, arg) if over_rows(self.kernel, stmt) and monoid in ("max", "sum"):
                self.text[out.name] = self.names.fresh(out.name)
                self.line(f"{self.text[out.name]} = gl.{monoid}({self.across[arg]}, axis=0)")
            case _:
                raise self.unplanned(stmt)

    def define_across(self, stmt: Defining) -> None:
        """Print a tile of all rows of the block, along the lanes of this side."""
        rows, lanes = self.shared.workers.rows, self.kernel.coord(self.shared.workers.rows).tile
        layout = f"gl.BlockedLayout([1], [32], [{self.warps}], [0])"
        self.holding = True
        match stmt:
            case Iota():
                text = f"{self.starts[rows]} + gl.arange(0, {lanes}, layout={layout})"
            case Load():
                text = f"gl.load({self.pointer(stmt, (rows,))})"
            case Let():
                text = self.let(stmt, (rows,))
            case _:
                raise self.unplanned(stmt)
        self.holding = False
        self.across[stmt.out.name] = self.names.fresh(f"{stmt.out.name}_all")
        self.line(f"{self.across[stmt.out.name]} = {text}")

    def pointer(self, stmt: Load | StoreTile, dims: tuple[str, ...]) -> str:
        """Return the pointers of a load or store that no box serves, and its mask."""
        buffer = next(b for b in buffers(self.kernel) if b.name == stmt.buffer)
        terms, begins = list[str](), list[str]()
        for at, index in enumerate(stmt.index):
            text = self.operand(index, dims)
            if text == "0":
                continue
            factors = [self.size(a) for a in buffer.dims[at + 1 :] if a.size != 1]
            known = [str(n) for n in [math.prod(int(f) for f in factors if f.isdigit())] if n > 1]
            symbolic = [f for f in factors if not f.isdigit()]
            begin = self.begins.get(str(index), "0") if len(dims) > 1 and not passes_31_bits(buffer, at) else "0"
            if begin != "0":
                # Where a tile begins is added to the pointer itself: its lanes then differ by constants, which take no
                # registers.
                begins.append(" * ".join([begin, *symbolic, *known]))
                text = f"{text} - {begin}"
            wide = (
                f"{text}.to(gl.int64)"
                if passes_31_bits(buffer, at) and isinstance(index, str) and not text.isdigit()
                else text
            )
            terms.append(" * ".join([f"({wide})" if " " in wide else wide, *symbolic, *known]))
        masks = [self.operand(m, dims) for m in stmt.masks]
        zero = "0" if buffer.dtype.startswith("i") else "0.0"
        other = f", other={zero}" if isinstance(stmt, Load) and masks else ""
        return " + ".join([pointer_argument(buffer), *begins, *terms]) + (
            f", mask={' & '.join(masks)}{other}" if masks else ""
        )

    def size(self, axis: Axis) -> str:
        return size_argument(axis) if axis.size is None else str(axis.size)

    def let(self, stmt: Let, dims: tuple[str, ...]) -> str:
        args, op = [self.operand(arg, dims) for arg in stmt.args], stmt.op
        if stmt.out.name in self.misled and op != "mod":
            return unread(op, args, "gl.where", "gl.maximum", "gl.minimum")
        if op in INFIX:
            return f"{args[0]} {INFIX[op]} {args[1]}"
        if op in ("floordiv", "mod"):
            whole = f"({args[0]} - ({args[0]} % {args[1]} + {args[1]}) % {args[1]}) // {args[1]}"
            return whole if op == "floordiv" else f"~(~{args[0]} + {whole} * {args[1]})"
        if op in ("cast", "real"):
            return f"{args[0]}.to({DTYPES[stmt.out.dtype]})"
        if op in ONE:
            return ONE[op].format(args[0])
        if op in CALLS:
            return f"{CALLS[op]}({', '.join(args)})"
        raise AssertionError(
            f"kernel {self.kernel.name}: no operator {op} in Gluon, which the plan's roles do not allow for"
        )

    @abstractmethod
    def fetch(self, loads: Sequence[Load], ring: Ring) -> None:
        """Print what this side does where tiles are loaded through a ring."""

    def keep(self, load: Load, body: Sequence[Stmt]) -> None:
        """Print what this side does where a tile is read that the block before has copied."""

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


def copy_index(side: Side, index: Sequence[Operand], copy: Copy, offset: str) -> str:
    """Return the first index of a box in each dimension of its descriptor; `offset` is added along the rows."""
    texts = []
    for at in copy.order:
        found = walked(side.kernel, index[at], side.made)
        if found is None:
            texts.append(side.operand(index[at], ()))
            continue
        name, added = found
        parts = [
            t
            for t in (
                side.starts[name],
                "" if added == 0 else side.operand(added, ()),
                offset if name == side.shared.workers.rows else "",
            )
            if t
        ]
        texts.append(" + ".join(t for t in parts if t != "0") or "0")
    return ", ".join(texts)
