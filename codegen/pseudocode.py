"""Prints a plan as looped pseudocode for people: variables, their sizes and levels, loads, folds, stores, barriers."""

from __future__ import annotations

import math
from collections.abc import Iterator

from napkin_eq.lang.operators import REDUCTIONS
from napkin_eq.tile.ir import (
    Assign,
    Await,
    Buffer,
    Coord,
    Dot,
    Iota,
    Kernel,
    Let,
    Load,
    Loop,
    Plan,
    ReduceTile,
    ScanTile,
    SizeOf,
    Start,
    Stmt,
    StoreTile,
    Value,
    operands,
    statements,
)
from napkin_eq.tile.printers import comment_lines, emitter
from napkin_eq.tile.resources import BYTES

INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "lt": "<",
    "le": "<=",
    "eq": "==",
    "and": "and",
    "or": "or",
    "floordiv": "//",
    "mod": "mod",
}
FOLD = {name: monoid.op if monoid.op == name else monoid.word for name, monoid in REDUCTIONS.items()}


@emitter("pseudocode")
def pseudocode(plan: Plan, header: tuple[str, ...]) -> str:
    """Print every kernel of a plan as indented lines."""
    lines = [f"# {line}".rstrip() for line in header]
    lines += [
        f"{what} {_array(b)}"
        for what, group in (("input", plan.inputs), ("output", plan.outputs), ("scratch", plan.scratch))
        for b in group
    ]
    for kernel in plan.kernels:
        lines += ["", *_kernel(kernel)]
    return "\n".join(lines) + "\n"


def _array(buffer: Buffer) -> str:
    return (
        f"{buffer.name}[{', '.join(f'{a.name}={a.size}' if a.size else a.name for a in buffer.dims)}]: {buffer.dtype}"
    )


def _kernel(kernel: Kernel) -> Iterator[str]:
    turn = kernel.turn
    order = f", in groups of {kernel.swizzle[2]} {kernel.swizzle[0]} blocks" if kernel.swizzle else ""
    if kernel.library is not None:
        yield f"kernel {kernel.name}: {kernel.library.function} runs in its place, trusted to compute this:"
    else:
        yield f"kernel {kernel.name}: {kernel.warps} warps, {kernel.stages} stages"
    yield (
        f"    for each block of {', '.join(_walk(kernel.coord(name)) for name in kernel.grid) or 'nothing'}, in"
        f" parallel{order}:"
    )
    for axis, parts in kernel.merged:
        yield f"    {axis.name} walks {' and '.join(part.name for part in parts)}, which lie side by side"
    if kernel.workers:
        how = ", issuing contractions in turn" if kernel.workers.in_turn else ""
        yield (
            f"    {kernel.workers.groups} groups of warps share the lanes of {kernel.workers.rows}{how}, one warp"
            " copies ahead"
        )
        if kernel.workers.drawn:
            yield "    the next block is drawn off a counter as the one before is done"
    yield from _variables(kernel)
    for at, stmt in enumerate(kernel.body):
        if at == turn.waits:
            yield "        barrier: wait for the kernels before this one, where a GPU may start it while they run"
        yield from _lines(kernel, stmt, 2)


def _variables(kernel: Kernel) -> Iterator[str]:
    """Say of each tile that is loaded, contracted or carried its size and where it lies."""
    fed = operands(kernel.body)
    tiles: dict[str, tuple[Value, str]] = {}
    for stmt in statements(kernel.body):
        if isinstance(stmt, Loop):
            tiles |= {value.name: (value, "registers, carried") for value, _ in stmt.carried}
        elif isinstance(stmt, (Load, Dot)) and stmt.out.coords:
            tiles.setdefault(stmt.out.name, (stmt.out, "shared memory" if stmt.out.name in fed else "registers"))
    for value, level in tiles.values():
        lanes = [kernel.coord(name).tile for name in value.coords]
        size = " × ".join(f"{name} {tile}" for name, tile in zip(value.coords, lanes, strict=True)) or "one number"
        yield (
            f"        variable {value.name}: {size}, {value.dtype}, {math.prod(lanes) * BYTES[value.dtype]} bytes in"
            f" {level}"
        )


def _walk(coord: Coord) -> str:
    axis = "" if coord.name == coord.axis.name else f" (of {coord.axis.name})"
    return f"{coord.name}{axis} by {coord.tile}"


def _lines(kernel: Kernel, stmt: Stmt, depth: int) -> Iterator[str]:
    space = "    " * depth
    if not isinstance(stmt, Loop):
        yield space + _text(kernel, stmt)
        return
    for value, initial in stmt.carried:
        yield f"{space}{_tile(value)} = {initial:g} throughout"
    for part in stmt.parts:
        notes = "".join(f"  # {note}" for note in comment_lines([part.note] if part.note else []))
        walk = f"from {part.lo} up to {part.hi}, in order" if not part.once else f"the one at {part.lo}"
        yield f"{space}for each block of {_walk(kernel.coord(stmt.coord))}, {walk}:{notes}"
        for inner in part.body:
            yield from _lines(kernel, inner, depth + 1)


def _tile(value: Value) -> str:
    return f"{value.name}[{', '.join(value.coords)}]" if value.coords else value.name


def _text(kernel: Kernel, stmt: Stmt) -> str:
    match stmt:
        case Start(out, coord):
            return f"{_tile(out)} = start of the block of {coord}"
        case Iota(out, coord):
            tile = kernel.coord(coord).tile
            return f"{_tile(out)} = start of the block of {coord}" + (f" + 0..{tile - 1}" if tile > 1 else "")
        case SizeOf(out, axis):
            return f"{_tile(out)} = size of {axis.name}" + (f" = {axis.size}" if axis.size else "")
        case Load(out, buffer, index, masks):
            where = f" where {' and '.join(masks)}, else 0" if masks else ""
            return f"{_tile(out)} = load {buffer}[{', '.join(map(str, index))}]{where}"
        case StoreTile(buffer, index, value, masks):
            return f"store {buffer}[{', '.join(map(str, index))}] = {value}" + (
                f" where {' and '.join(masks)}" if masks else ""
            )
        case ReduceTile(out, monoid, coord, arg):
            return f"{_tile(out)} = {FOLD[monoid]} over {coord} of {arg}"
        case ScanTile(out, _, coord, arg, str(gain)):
            return f"{_tile(out)} = recurrence along {coord}: {gain} times the one before, plus {arg}"
        case ScanTile(out, monoid, coord, arg):
            return f"{_tile(out)} = running {FOLD[monoid]} along {coord} of {arg}"
        case Dot(out, a, b, coord, acc):
            unit = "issued to the matrix unit" if stmt.issued else "matrix unit"
            return f"{_tile(out)} = {f'{acc} + ' if acc else ''}sum over {coord} of {a} * {b}  ({unit})"
        case Await(names, pending):
            return f"barrier: wait for {', '.join(names)}" + (f", {pending} later still running" if pending else "")
        case Assign(target, value):
            return f"{target} <- {value}"
        case Let():
            return f"{_tile(stmt.out)} = {_formula(stmt)}"
        case Loop():
            raise TypeError("a loop is more than one line")


def _formula(stmt: Let) -> str:
    args = [f"{arg:g}" if isinstance(arg, float) else str(arg) for arg in stmt.args]
    if stmt.op in INFIX:
        return f"{args[0]} {INFIX[stmt.op]} {args[1]}"
    if stmt.op == "where":
        return f"{args[1]} if {args[0]} else {args[2]}"
    if stmt.op in ("cast", "real"):
        return f"{args[0]} as {stmt.out.dtype}"
    return f"{stmt.op}({', '.join(args)})"
