"""The verifier of the tile language: what every kernel must keep to, whatever it computes, told of its statements
alone.

It runs on every plan that is assembled, and in the tests after every pass. Checked are names (defined once, before they
are used, within the block of statements that they are defined in), coordinates (known, in the kernel's order, used
where they are walked), types, buffers (listed, indexed along each dimension, written by one kernel), accumulators
(assigned in the loop that carries them), and contractions that run beside other statements (not used before they are
waited for). Nothing is said of values: see translation.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from napkin_eq.lang.dtypes import REAL, WHOLE
from napkin_eq.lang.errors import WrongPlan
from napkin_eq.lang.operators import MONOIDS, OPS, PLACES, RECURRENCE, REDUCTIONS
from napkin_eq.tile.accesses import ends
from napkin_eq.tile.ir import (
    DTYPES,
    MATRIX_ROUNDOFF,
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
    Roles,
    ScanTile,
    SizeOf,
    Start,
    Stmt,
    StoreTile,
    Value,
    statements,
    used,
)

ROLES = ("group", "stream", "walk", "whole", "lane", "run")
# Beside those of the language
MACHINE_OPS = {"sub": 2, "div": 2, "exp2": 1, "log2": 1, "rsqrt": 1, "fma": 3, "cast": 1}
COMPARISONS = ("lt", "le", "eq")
# Operators whose arguments may have another type than what they give
MIXED = ("cast", "real", "where", "random", *COMPARISONS)


def verified(kernel: Kernel) -> Kernel:
    """Return a kernel that keeps to the tile language; raises WrongPlan, with the kernel and the statement, for one
    that does not.
    """
    _Verifier(kernel).kernel()
    return kernel


def verified_plan(plan: Plan) -> Plan:
    """Return a plan whose kernels keep to the tile language, each array written by one of them, before others read it,
    and of one type and shape to all; else raises WrongPlan.
    """
    inputs = {buffer.name: buffer for buffer in plan.inputs}
    known = dict(inputs)
    written: dict[str, str] = {}
    for kernel in plan.kernels:
        verified(kernel)
        for buffer in kernel.reads:
            if buffer.name not in inputs and buffer.name not in written:
                raise WrongPlan(f"kernel {kernel.name}: it reads {buffer.name} before any kernel has written it")
        for buffer in (*kernel.reads, *kernel.writes):
            own = kernel.whole(buffer)
            if (other := known.setdefault(own.name, own)) != own:
                raise WrongPlan(f"kernel {kernel.name}: to it {own.name} is {_said(own)}, before {_said(other)}")
        for buffer in kernel.writes:
            if buffer.name in inputs or buffer.name in written:
                raise WrongPlan(
                    f"kernel {kernel.name}: it writes {buffer.name}, which {written.get(buffer.name, 'the caller')} has"
                    " written"
                )
            written[buffer.name] = kernel.name
    if missing := [buffer.name for buffer in plan.outputs if buffer.name not in written]:
        raise WrongPlan(f"plan {plan.name}: no kernel writes {missing[0]}")
    if len({kernel.name for kernel in plan.kernels}) != len(plan.kernels):
        raise WrongPlan(f"plan {plan.name}: two kernels have one name")
    return plan


def _said(buffer: Buffer) -> str:
    return f"{buffer.dtype} [{' '.join(axis.name for axis in buffer.dims)}]"


class _Verifier:
    """What is known on the way through one kernel's statements."""

    def __init__(self, kernel: Kernel) -> None:
        self.of = kernel
        self.order = {coord.name: at for at, coord in enumerate(kernel.coords)}
        self.open = {coord.name for coord in kernel.coords if coord.single} | set(kernel.grid)
        self.buffers = {buffer.name: buffer for buffer in (*kernel.reads, *kernel.writes)}
        self.writes = {buffer.name for buffer in kernel.writes}
        self.carried: set[str] = set()
        self.issued: set[str] = set()  # results that may not be there yet

    def require(self, holds: bool, what: str) -> None:
        if not holds:
            raise WrongPlan(f"kernel {self.of.name}: {what}")

    def kernel(self) -> None:
        kernel = self.of
        self.require(len(self.order) == len(kernel.coords), "two coordinates have one name")
        for coord in kernel.coords:
            self.require(
                coord.role in ROLES and coord.tile >= 1,
                f"coordinate {coord.name} has role {coord.role!r} and tile {coord.tile}",
            )
        for name in kernel.grid:
            self.require(
                name in self.order and kernel.coord(name).role == "group",
                f"{name} is in the grid and is no coordinate of it",
            )
        groups = [coord.name for coord in kernel.coords if coord.role == "group"]
        self.require(
            sorted(groups) == sorted(kernel.grid),
            f"of the coordinates {', '.join(groups)} not each is once in the grid",
        )
        self.require(
            len(self.buffers) == len(kernel.reads) + len(kernel.writes),
            "an array is listed twice, or read and written in one launch",
        )
        for buffer in self.buffers.values():
            self.require(buffer.dtype in DTYPES, f"{buffer.name} has type {buffer.dtype!r}")
        walked = {c.axis.name for c in kernel.coords}
        known = ends(kernel)
        self.require(
            known.keys() >= {*kernel.edges} and len({known[mask] for mask in kernel.edges}) <= 1,
            f"not all of {', '.join(kernel.edges)} are masks of the lanes of one coordinate of the grid before its end",
        )
        for axis, parts in kernel.merged:
            sizes = [part.size for part in parts]
            self.require(
                None not in sizes and axis.size == math.prod(size or 0 for size in sizes),
                f"{axis.name} has {axis.size} elements, and stands for axes of {' and '.join(map(str, sizes))}",
            )
            self.require(
                walked.isdisjoint(part.name for part in parts),
                f"it walks an axis by itself that {axis.name} stands for with others",
            )
        if kernel.swizzle is not None:
            self.require(
                set(kernel.swizzle[:2]) <= set(kernel.grid), "it reorders coordinates that are not in its grid"
            )
        if (call := kernel.library) is not None:
            self.require(
                {call.left.buffer, call.right.buffer, call.out.buffer} == set(self.buffers),
                "a library's call has other arrays than it",
            )
        if kernel.workers is not None:
            self.require(
                kernel.workers.rows in kernel.grid and kernel.workers.groups >= 1,
                f"groups of warps share {kernel.workers.rows}, which no grid walks",
            )
        self.body(kernel.body, {})
        if kernel.workers is not None and kernel.workers.roles is not None:
            self.roles(kernel.workers.roles)
        stored = {stmt.buffer for stmt in statements(kernel.body) if isinstance(stmt, StoreTile)}
        self.require(stored == self.writes, f"it lists {sorted(self.writes)} as written and stores {sorted(stored)}")

    def roles(self, roles: Roles) -> None:
        """Roles speak of the kernel as it stands: its loads, its stores, its values, its arrays, the coordinates of its
        tiles.
        """
        stmts = list(statements(self.of.body))
        known = {s.out.name for s in stmts if hasattr(s, "out")} | {
            value.name for s in stmts if isinstance(s, Loop) for value, _ in s.carried
        }
        loads = {s.out.name: s.buffer for s in stmts if isinstance(s, Load)}
        for names, ring in roles.rings:
            fits = len(names) == len(ring.copies) and all(
                loads.get(n) == c.buffer.name for n, c in zip(names, ring.copies, strict=True)
            )
            self.require(fits, f"its roles copy {', '.join(names)}, which it does not load so")
        copied = {s.out.name: s for s in stmts if isinstance(s, Load) and s.out.name in roles.copied}
        for name, first in roles.kept:
            fits = first in copied and loads.get(name) == copied[first].buffer and name not in copied
            self.require(fits, f"its roles keep {name}, which {first} does not copy")
        for at, copy in roles.stores:
            stmt = stmts[at] if at < len(stmts) else None
            self.require(
                isinstance(stmt, StoreTile) and stmt.buffer == copy.buffer.name,
                f"its roles store {copy.buffer.name} where it does not",
            )
        for name in (
            *roles.copying.values,
            *roles.copying.whole,
            *roles.computing.values,
            *roles.computing.whole,
            *dict(roles.operands),
        ):
            self.require(name in known, f"its roles speak of {name}, which it does not define")
        for copy in roles.boxes:
            self.require(
                self.buffers.get(copy.buffer.name) == copy.buffer,
                f"its roles move {copy.buffer.name}, which is no array of it",
            )
        for coord in (name for dims, _ in roles.layouts for name in dims):
            self.require(coord in self.order, f"its roles lay out tiles over {coord}, which is no coordinate of it")

    def body(self, body: Sequence[Stmt], scope: dict[str, Value]) -> None:
        for stmt in body:
            for name in used(stmt):
                self.require(name in scope, f"{name} is used where it is not defined, by {type(stmt).__name__}")
                there = name not in self.issued or isinstance(stmt, (Assign, Await, Dot))
                self.require(there, f"{name} is used by {type(stmt).__name__} before its contraction is waited for")
            match stmt:
                case Loop():
                    self.loop(stmt, scope)
                case Assign():
                    self.assign(stmt, scope)
                case Await():
                    self.require(stmt.pending >= 0, f"fewer than no contraction may be under way, found {stmt.pending}")
                    self.issued -= set(stmt.names)
                case StoreTile():
                    self.store(stmt, scope)
                case _:
                    self.value(stmt.out, scope)
                    self.defined(stmt, scope)
                    scope[stmt.out.name] = stmt.out

    def value(self, value: Value, scope: dict[str, Value]) -> None:
        self.require(value.name not in scope, f"{value.name} is defined twice")
        self.require(value.dtype in DTYPES, f"{value.name} has type {value.dtype!r}")
        known = [self.order[name] for name in value.coords if name in self.order]
        ordered = len(known) == len(value.coords) and known == sorted(set(known))
        self.require(ordered, f"{value.name} spans {list(value.coords)}; the order is {list(self.order)}")

    def spans(self, out: Value, coords: Iterable[str], what: str) -> None:
        wanted = tuple(sorted(set(coords), key=self.order.__getitem__))
        self.require(
            out.coords == wanted, f"{out.name} is said to span {list(out.coords)}, {what} gives {list(wanted)}"
        )

    def defined(self, stmt: Stmt, scope: dict[str, Value]) -> None:
        match stmt:
            case Start(out, coord) | Iota(out, coord):
                self.require(coord in self.open, f"{out.name}: coordinate {coord} is used where nothing walks it")
                self.spans(out, [coord] if isinstance(stmt, Iota) else [], type(stmt).__name__)
                self.require(out.dtype in WHOLE, f"{out.name}: a coordinate is a whole number, not {out.dtype}")
            case SizeOf(out, _):
                self.spans(out, [], "a size")
                self.require(out.dtype in WHOLE, f"{out.name}: a size is a whole number, not {out.dtype}")
            case Load():
                buffer = self.indexed(stmt, scope)
                self.require(
                    stmt.buffer not in self.writes,
                    f"{stmt.out.name} is loaded from {stmt.buffer}, which the kernel writes",
                )
                self.require(
                    stmt.out.dtype == buffer.dtype,
                    f"{stmt.out.name} is {stmt.out.dtype}, loaded from {stmt.buffer}, which is {buffer.dtype}",
                )
                self.spans(stmt.out, self.coords(stmt.index, scope), "its index")
            case Let():
                self.let(stmt, scope)
            case ScanTile(out, _, coord, arg, str(gain)):
                sides = scope[gain], scope[arg]
                self.require(stmt.monoid == RECURRENCE, f"{out.name}: a scan by {stmt.monoid!r} has no gain")
                self.require(
                    any(coord in side.coords for side in sides),
                    f"{out.name}: neither {arg} nor {gain} spans {coord}, along which it is scanned",
                )
                self.require(
                    self.of.coord(coord).role in ("whole", "walk"),
                    f"{out.name}: a scan along {coord} would start anew in each block",
                )
                self.spans(out, (name for side in sides for name in side.coords), "the scan")
                self.require(all(v.dtype == "f32" for v in (out, *sides)), f"{out.name}: a recurrence is of f32")
            case ReduceTile(out, monoid, coord, arg) | ScanTile(out, monoid, coord, arg):
                tile = scope[arg]
                self.require(
                    monoid in (REDUCTIONS if isinstance(stmt, ReduceTile) else MONOIDS),
                    f"{out.name}: {monoid!r} is no monoid",
                )
                self.require(coord in tile.coords, f"{out.name}: {arg} does not span {coord}, along which it is folded")
                if isinstance(stmt, ReduceTile):
                    self.spans(out, (name for name in tile.coords if name != coord), "the fold")
                else:
                    self.require(
                        self.of.coord(coord).role in ("whole", "walk"),
                        f"{out.name}: a scan along {coord} would start anew in each block",
                    )
                    self.spans(out, tile.coords, "the scan")
                held = "i32" if monoid in PLACES else tile.dtype
                self.require(out.dtype == held, f"{out.name} is {out.dtype}, folded of {arg}, which is {tile.dtype}")
            case Dot():
                self.dot(stmt, scope)

    def coords(self, operands: Iterable[Operand], scope: dict[str, Value]) -> set[str]:
        return {name for operand in operands if isinstance(operand, str) for name in scope[operand].coords}

    def indexed(self, stmt: Load | StoreTile, scope: dict[str, Value]) -> Buffer:
        self.require(stmt.buffer in self.buffers, f"{stmt.buffer} is not among the arrays that the kernel lists")
        buffer = self.buffers[stmt.buffer]
        self.require(
            len(stmt.index) == len(buffer.dims),
            f"{stmt.buffer} has {len(buffer.dims)} dimensions, indexed by {len(stmt.index)}",
        )
        for operand in stmt.index:
            whole = scope[operand].dtype in WHOLE if isinstance(operand, str) else type(operand) is int
            self.require(whole, f"{stmt.buffer} is indexed by {operand!r}, which is no whole number")
        for mask in stmt.masks:
            self.require(scope[mask].dtype == "i1", f"{stmt.buffer}: {mask} is {scope[mask].dtype}, and no mask")
        outside = self.coords(stmt.masks, scope) - self.coords(stmt.index, scope)
        self.require(not outside, f"{stmt.buffer}: a mask spans {', '.join(sorted(outside))}, which no index spans")
        return buffer

    def let(self, stmt: Let, scope: dict[str, Value]) -> None:
        out, op = stmt.out, stmt.op
        arity = MACHINE_OPS.get(op) or (len(OPS[op].takes) if op in OPS else 0)
        self.require(
            arity == len(stmt.args),
            f"{out.name}: {op!r} takes {arity or 'nothing that is known, so not'} {len(stmt.args)} operands",
        )
        self.spans(out, self.coords(stmt.args, scope), op)
        kinds = [scope[arg].dtype for arg in stmt.args if isinstance(arg, str)]
        if op == "where" and isinstance(stmt.args[0], str):
            self.require(kinds[0] == "i1", f"{out.name}: it picks by {stmt.args[0]}, which is {kinds[0]}, and no mask")
            kinds = kinds[1:]
            self.require(
                set(kinds) <= {out.dtype}, f"{out.name} is {out.dtype}, picked of {', '.join(sorted(set(kinds)))}"
            )
        if op in COMPARISONS:
            self.require(len(set(kinds)) <= 1 and out.dtype == "i1", f"{out.name}: {op} compares one type and gives i1")
        if op not in MIXED:
            self.require(
                set(kinds) <= {out.dtype},
                f"{out.name} is {out.dtype}, but its {op} takes {', '.join(sorted(set(kinds)))}",
            )

    def dot(self, stmt: Dot, scope: dict[str, Value]) -> None:
        out, a, b = stmt.out, scope[stmt.a], scope[stmt.b]
        self.require({stmt.a, stmt.b}.isdisjoint(self.issued), f"{out.name} multiplies what is not waited for")
        self.require(
            a.dtype == b.dtype and a.dtype in REAL,
            f"{out.name}: a contraction of {a.dtype} with {b.dtype}; its operands have one type",
        )
        self.require(stmt.precision in MATRIX_ROUNDOFF, f"{out.name}: {stmt.precision!r} is no precision")
        self.require(
            stmt.coord in a.coords and stmt.coord in b.coords, f"{out.name}: not both operands span {stmt.coord}"
        )
        self.spans(out, (name for name in (*a.coords, *b.coords) if name != stmt.coord), "the contraction")
        if stmt.acc is not None:
            acc = scope[stmt.acc]
            self.require(
                (acc.coords, acc.dtype) == (out.coords, out.dtype),
                f"{out.name} is added to {stmt.acc}, which is another kind of tile",
            )
        if stmt.issued:
            self.issued.add(out.name)

    def assign(self, stmt: Assign, scope: dict[str, Value]) -> None:
        self.require(stmt.target in self.carried, f"{stmt.target} is assigned, but no loop around it carries it")
        target, value = scope[stmt.target], scope[stmt.value]
        same = (target.coords, target.dtype) == (value.coords, value.dtype)
        self.require(
            same,
            f"{stmt.target} is {target.dtype}{list(target.coords)}, assigned {stmt.value},"
            f" {value.dtype}{list(value.coords)}",
        )
        (self.issued.add if stmt.value in self.issued else self.issued.discard)(stmt.target)

    def store(self, stmt: StoreTile, scope: dict[str, Value]) -> None:
        buffer, value = self.indexed(stmt, scope), scope[stmt.value]
        self.require(
            stmt.buffer in self.writes, f"{stmt.buffer} is stored, and not among the arrays that the kernel writes"
        )
        self.require(
            value.dtype == buffer.dtype,
            f"{stmt.value} is {value.dtype}, stored to {stmt.buffer}, which is {buffer.dtype}",
        )
        outside = set(value.coords) - self.coords(stmt.index, scope)
        self.require(
            not outside, f"{stmt.buffer}: {stmt.value} spans {', '.join(sorted(outside))}, which no index spans"
        )

    def loop(self, stmt: Loop, scope: dict[str, Value]) -> None:
        self.require(stmt.coord in self.order, f"a loop walks {stmt.coord}, which is no coordinate")
        role = self.of.coord(stmt.coord).role
        self.require(
            role in ("stream", "walk") and stmt.coord not in self.open,
            f"a loop walks {stmt.coord}, of role {role}, or walks it twice",
        )
        self.require(bool(stmt.parts), f"the loop over {stmt.coord} has no part")
        for value, _ in stmt.carried:
            self.value(value, scope)
            scope[value.name] = value
        fresh = {value.name for value, _ in stmt.carried}
        for part in stmt.parts:
            for bound in (part.lo, part.hi):
                scalar = (
                    scope[bound].coords == () and scope[bound].dtype in WHOLE
                    if isinstance(bound, str)
                    else type(bound) is int
                )
                self.require(scalar, f"the loop over {stmt.coord} is bounded by {bound!r}, which is no whole number")
            self.carried |= fresh
            self.open.add(stmt.coord)
            self.body(part.body, dict(scope))
            self.open.discard(stmt.coord)
            self.carried -= fresh
