"""The function of a Gluon kernel that its groups of warps run: they wait for tiles, contract, compute, store their
lanes of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from napkin_eq.tile.ir import (
    Assign,
    Await,
    Coord,
    Dot,
    Iota,
    Let,
    Load,
    Loop,
    Operand,
    Part,
    ReduceTile,
    Ring,
    Stmt,
    StoreTile,
    Value,
    closure,
    statements,
    used,
)
from napkin_eq.tile.passes.tma import done_at
from napkin_eq.tile.passes.warp_roles import over_rows
from napkin_eq.tile.passes.warp_specialize import GROUP_LANES

from .helpers import NARROWED
from .layouts import Layouts
from .shared import DTYPES, Shared
from .side import Side, copy_index


class Computing(Side):
    """A group of warps: waits for tiles, contracts, computes, stores its lanes of the rows."""

    suffix, who, warps, share = "_compute", "WHO: gl.constexpr", 4, "computing"

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self.layouts = Layouts(shared.kernel)
        self.tiles: dict[str, tuple[Ring, int, str]] = {}
        self.blocks: dict[str, str] = {}
        self.operands = {
            side for s in statements(shared.kernel.body) if isinstance(s, Dot) for side in (s.a, s.b)
        } & shared.bulk
        self.due: dict[str, tuple[str, str]] = {}
        self.nested = 0
        self.longer: frozenset[Ring] = frozenset()
        self.computed_on = {
            n for s in statements(shared.kernel.body) if not isinstance(s, Dot) for n in used(s)
        } & shared.bulk
        self.lent: dict[str, str] = {}
        self.turned = dict(shared.roles.operands)
        self.ends: tuple[str, str] | None = None
        self.turn = self.names.fresh("order_n") if shared.order else ""
        self.carried = {
            s.value
            for s in statements(shared.kernel.body)
            if isinstance(s, Assign) and s.target in self.turned and self.of_contraction(s.value)
        }

    def of_contraction(self, name: str) -> bool:
        """Tell whether a value is computed from the result of a contraction, element by element where that lies in
        registers.
        """
        return any(isinstance(made, Dot) for made in closure(self.shared.made, [name]).values())

    def draw(self, turn: str) -> str:
        return f"drawn({', '.join([*self.shared.numbers, turn])})"

    def operand(self, operand: Operand, dims: tuple[str, ...]) -> str:
        if not isinstance(operand, str):
            return super().operand(operand, dims)
        text, own = self.of(operand), self.layouts.dims(self.values[operand])
        if own in ((), dims):
            return text
        if own == (dims[1],):
            return f"{text}[None, :]"
        if self.layouts.rows_apart(dims[1]):
            text = f"gl.convert_layout({text}, gl.SliceLayout(1, {self.layouts.of(dims)}))"
        return f"{text}[:, None]"

    def opening(self) -> None:
        if self.shared.ahead:
            self.wait_for_kernels()
        tiles = [self.layouts.dims(s.out) for s in statements(self.kernel.body) if hasattr(s, "out")]
        for width in sorted(
            {min(self.layouts.lanes(d), 256) for dims in tiles for d in dims if d != self.layouts.rows}
        ):
            layout = f"gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, {width}, 16])"
            self.line(f"{self.layouts.matrix(width)}: gl.constexpr = {layout}")
        if self.turn:
            self.line(f"{self.turn} = 0")

    def closing(self) -> None:
        if self.shared.stages:
            self.line("tma.store_wait(0)")

    def define(self, stmt: Stmt) -> None:
        assert hasattr(stmt, "out")
        out: Value = stmt.out
        dims = self.layouts.dims(out)
        if not dims and (not isinstance(stmt, ReduceTile) or over_rows(self.kernel, stmt)):
            super().define(stmt)
            return
        name = self.text[out.name] = (
            self.names.fresh(out.name) if self.text.get(out.name) is None else self.text[out.name]
        )
        if isinstance(stmt, Iota):
            self.begins[out.name] = self.starts[stmt.coord]
        match stmt:
            case Iota(_, coord) if self.nested > 1 and coord != self.shared.workers.rows:
                # Columns take many registers: they are made where they are first used, not while a contraction is
                # waited for.
                self.due[out.name] = (
                    name,
                    f"{self.starts[coord]} + gl.arange(0, {self.layouts.lanes(coord)}, layout={self.layouts.of(dims)})",
                )
            case Iota(_, coord):
                own = (
                    f" + WHO * {GROUP_LANES}"
                    if coord == self.shared.workers.rows and self.shared.workers.groups > 1
                    else ""
                )
                begin = "" if self.starts[coord] == "0" else f"{self.starts[coord]} + "
                self.line(
                    f"{name} = {begin}gl.arange(0, {self.layouts.lanes(coord)}, layout={self.layouts.of(dims)}){own}"
                )
            case Let():
                self.line(f"{name} = {self.let(stmt, dims)}")
            case Load():
                self.line(f"{name} = gl.load({self.pointer(stmt, dims)})")
            case ReduceTile(_, monoid, coord, arg):
                self.line(f"{name} = {self.folded(monoid, coord, arg)}")

    def let(self, stmt: Let, dims: tuple[str, ...]) -> str:
        if stmt.op == "cast" and stmt.out.name in self.carried and self.values[str(stmt.args[0])].dtype == "f32":
            return f"{NARROWED[stmt.out.dtype]}({self.operand(stmt.args[0], dims)})"
        return super().let(stmt, dims)

    def folded(self, monoid: str, coord: str, arg: str) -> str:
        dims = self.layouts.dims(self.values[arg])
        if coord not in dims:
            return self.text[arg]
        text = f"gl.{monoid}({self.text[arg]}, axis={dims.index(coord)})"
        if len(dims) == 2 and self.layouts.rows_apart(coord):
            return f"gl.convert_layout({text}, {self.layouts.of((self.layouts.rows,))})"
        return text

    def of(self, name: str) -> str:
        if name in self.due:
            self.line(" = ".join(self.due.pop(name)))
        return super().of(name)

    def body(self, body: Sequence[Stmt]) -> None:
        self.nested += 1
        super().body(body)
        self.nested -= 1
        self.due.clear()

    def carry(self, stmt: Loop) -> None:
        for name in [*self.due]:
            self.of(name)
        for value, initial in stmt.carried:
            self.values[value.name] = value
            name = self.text[value.name] = self.names.fresh(value.name)
            dims = self.layouts.dims(value)
            layout = (
                self.layouts.operand(self.turned[value.name])
                if value.name in self.turned
                else self.layouts.of(dims)
                if dims
                else ""
            )
            start = super().operand(int(initial) if value.dtype.startswith("i") else float(initial), ())
            self.line(
                f"{name} = gl.full({self.layouts.shape(dims)}, {start}, {DTYPES[value.dtype]}, {layout})"
                if dims
                else f"{name} = {start}"
            )

    def part(self, name: str, coord: Coord, part: Part) -> None:
        issued = [s.out.name for s in part.body if isinstance(s, Dot) and s.issued]
        around, self.ends = self.ends, (issued[0], issued[-1]) if self.turn and issued and not part.once else None
        super().part(name, coord, part)
        self.ends = around

    def act(self, stmt: Stmt) -> None:
        match stmt:
            case Dot():
                self.dot(stmt)
            case Await(names, pending):
                self.wait(names, pending)
            case Assign(target, value):
                text = self.of(value)
                if target in self.turned:
                    text = f"gl.convert_layout({text}, {self.layouts.operand(self.turned[target])})"
                self.line(f"{self.text[target]} = {text}")
            case StoreTile():
                self.store(stmt)
            case _:
                raise self.unplanned(stmt)

    def fetch(self, loads: Sequence[Load], ring: Ring) -> None:
        slot = self.names.fresh(f"{loads[0].buffer}_slot") if ring.depth > 1 else "0"
        if ring.depth > 1:
            self.line(f"{slot} = {self.slot(ring)}")
        self.line(f"mbarrier.wait({self.shared.full[ring]}.index({slot}), {self.phase(ring)})")
        self.line(f"{self.counters[ring]} += 1")
        for number, load in enumerate(loads):
            self.tile(load, ring, number, slot)

    def keep(self, load: Load, body: Sequence[Stmt]) -> None:
        ring, number = self.shared.kept[load.out.name]
        own = any(ring == other for _, other in self.fetched(body))
        slot = self.names.fresh(f"{load.buffer}_slot")
        self.line(f"{slot} = {self.slot(ring, 2 if own else 1)}")
        self.tile(load, ring, number, slot)

    def tile(self, load: Load, ring: Ring, number: int, slot: str) -> None:
        """Print the tile that lies in a slot of a ring."""
        self.tiles[load.out.name] = (ring, number, slot)
        block = self.block(ring, number, slot, "WHO")
        if load.out.name in self.operands:
            name = self.blocks[load.out.name] = self.names.fresh(load.out.name)
            self.line(f"{name} = {block}")
        if load.out.name in self.computed_on:
            dims = self.layouts.dims(load.out)
            name = self.text[load.out.name] = self.names.fresh(load.out.name)
            turned = "" if ring.copies[number].sides == dims else ".permute((1, 0))"
            self.line(f"{name} = {block}{turned}.load({self.layouts.of(dims)})")

    def dot(self, stmt: Dot) -> None:
        dims = self.layouts.dims(stmt.out)
        left, right = (stmt.a, stmt.b) if dims[0] in self.layouts.dims(self.values[stmt.a]) else (stmt.b, stmt.a)
        a = self.shared_side(left, (dims[0], stmt.coord)) if left in self.blocks else self.text[left]
        if left not in self.blocks and left not in self.turned:
            self.line(f"{a} = gl.convert_layout({a}, {self.layouts.operand(self.layouts.lanes(dims[1]))})")
        if stmt.issued and left not in self.blocks:
            self.lent[stmt.out.name] = a
        b = self.shared_side(right, (stmt.coord, dims[1]))
        name = self.text[stmt.out.name] = self.text.get(stmt.out.name) or self.names.fresh(stmt.out.name)
        if self.ends and stmt.out.name == self.ends[0]:
            self.line(f"mbarrier.wait({self.shared.order}.index(WHO), ({self.turn} & 1) ^ (1 if WHO == 0 else 0))")
        none = f"gl.zeros({self.layouts.shape(dims)}, gl.float32, {self.layouts.of(dims)})"
        acc, use = (self.text[stmt.acc], "") if stmt.acc else (none, ", use_acc=False")
        self.line(f"{name} = warpgroup_mma({a}, {b}, {acc}{use}{', is_async=True' if stmt.issued else ''})")
        if self.ends and stmt.out.name == self.ends[1]:
            self.line(f"mbarrier.arrive({self.shared.order}.index((WHO + 1) % {self.shared.workers.groups}))")
            self.line(f"{self.turn} += 1")

    def shared_side(self, name: str, wanted: tuple[str, str]) -> str:
        ring, number, _ = self.tiles[name]
        return self.blocks[name] if ring.copies[number].sides == wanted else f"{self.blocks[name]}.permute((1, 0))"

    def wait(self, names: Sequence[str], pending: int) -> None:
        """Print a wait; operands in registers go through it as well, so that nothing is written over them before."""
        texts = [self.text[n] for n in names]
        texts += [operand for n in names if (operand := self.lent.pop(n, "")) and operand not in texts]
        self.line(f"{', '.join(texts)} = warpgroup_mma_wait({pending}, ({', '.join(texts)},))")

    def after(self, body: Sequence[Stmt], place: int, groups: dict[str, tuple[tuple[Load, ...], Ring]]) -> None:
        """Give back the buffers whose every reader is done here, and at the wait of a running sum those of the block
        before.
        """
        for ring, names in self.shared.kept_in(body).items():
            if done_at(body, names) == place:
                self.line(f"mbarrier.arrive({self.shared.free[ring]}.index({self.tiles[min(names)][2]}))")
        for loads, ring in dict.fromkeys(groups.values()):
            if ring in self.longer:
                continue  # its buffers are given back in the block after their own
            due = done_at(body, {load.out.name for load in loads})
            free = self.shared.free[ring]
            if due == place:
                self.line(f"mbarrier.arrive({free}.index({self.tiles[loads[0].out.name][2]}))")
            elif due is None and isinstance(body[place], Await) and any(isinstance(s, Dot) for s in body[:place]):
                self.line(
                    f"mbarrier.arrive({free}.index({self.slot(ring, 2)}), pred={self.counters[ring]} >"
                    f" {self.first(ring)} + 1)"
                )
        if isinstance(body[place], Await) and place and isinstance(before := body[place - 1], Loop):
            for ring in self.late(before):
                self.line(
                    f"mbarrier.arrive({self.shared.free[ring]}.index({self.slot(ring, 1)}), pred={self.counters[ring]}"
                    f" > {self.first(ring)})"
                )

    def late(self, loop: Loop) -> Iterator[Ring]:
        """Yield the rings of a loop whose buffers are given back in the block after their own."""
        kept = self.kept_by(loop)
        for part in loop.parts[:1]:
            for loads, ring in self.fetched(part.body):
                if ring not in kept and done_at(part.body, {load.out.name for load in loads}) is None:
                    yield ring

    def first(self, ring: Ring) -> str:
        return f"{self.counters[ring]}_first"

    def kept_by(self, loop: Loop) -> frozenset[Ring]:
        """Return the rings whose buffers a loop's blocks read again in the block after their own."""
        return frozenset(ring for part in loop.parts for ring in self.shared.kept_in(part.body))

    def loop(self, stmt: Loop) -> None:
        for ring in self.late(stmt):
            self.line(f"{self.first(ring)} = {self.counters[ring]}")
        around, self.longer = self.longer, self.kept_by(stmt)
        super().loop(stmt)
        self.longer = around

    def store(self, stmt: StoreTile) -> None:
        copy = next((c for c in self.shared.staged.values() if c.buffer.name == stmt.buffer), None)
        dims = self.layouts.dims(self.values[stmt.value])
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
        self.line(
            f"tma.async_copy_shared_to_global({self.shared.descriptors[copy]},"
            f" [{copy_index(self, stmt.index, copy, own)}], {source})"
        )
