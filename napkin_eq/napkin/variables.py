"""The variables of a kernel's inner loop, each with its size, type and level, as the paper's section 5 lists them.

Which values those are is read off the statements: what is loaded; what a contraction gives and something else reads;
what is computed and then contracted; what the loop carries; and the factors that what it carries is multiplied by.
What passes between the matrix unit and the registers passes through shared memory: so scores and weights have a
place in both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from napkin_eq.napkin.traffic import spans
from napkin_eq.tile import ir as p
from napkin_eq.tile.resources import SPECIAL, left_of

VALUE_BYTES = {"float8": 1, "float16": 2, "bfloat16": 2, "float32": 4}
STORED = {
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "i32": "float32",
    "i64": "float32",
    "i1": "float8",
    "f64": "float32",
}
SMEM, REGISTERS = "SMEM", "registers"


@dataclass(frozen=True)
class Variable:
    """A variable: its coordinates, its type, where it lies (SMEM, registers or both), whether each warpgroup has its
    own, and its buffers.
    """

    name: str
    coords: tuple[str, ...]
    dtype: str
    levels: tuple[str, ...]
    own: bool
    buffers: int = 1


@dataclass(frozen=True)
class Contraction:
    """A contraction of the loop: its coordinates, the type that it multiplies at, whether its result is carried, and
    whether it is rescaled.
    """

    name: str
    coords: tuple[str, ...]
    dtype: str
    carried: bool
    rescaled: bool
    result: tuple[str, ...]
    products: int = 1


@dataclass(frozen=True)
class Inner:
    """What a kernel's loop with contractions works on: the coordinate of its rows, that of its stream, variables,
    contractions, special functions.

    special: coordinates of results of special functions, each with how many of them one counts.
    """

    rows: str
    stream: str
    variables: tuple[Variable, ...]
    contractions: tuple[Contraction, ...]
    special: tuple[tuple[tuple[str, ...], float], ...]


def inner(kernel: p.Kernel, types: Mapping[str, str], work: str) -> Inner | None:
    """Return what the first loop with contractions works on; None where there is none, or its rows are no group.

    types: of arrays by name, where they are not what the plan stores. work: the type of what is computed.
    """
    loop, body = _loop(kernel)
    if loop is None:
        return None
    known, values = spans(kernel), p.values_of(kernel.body)
    dots = [s for s in body if isinstance(s, p.Dot)]
    carried = {v.name for v, _ in loop.carried}
    made = p.definitions(kernel.body)
    loads = {s.out.name: s for s in p.statements(kernel.body) if isinstance(s, p.Load)}
    wide = [c for c in kernel.grid if kernel.coord(c).tile > 1 and any(c in known[left_of(d, values)] for d in dots)]
    if not wide:
        return None
    rows = wide[0]

    def type_of(name: str) -> str:
        source = _source(name, made)
        if source in loads:
            buffer = kernel.buffer(loads[source].buffer)
            return types.get(buffer.name, STORED[buffer.dtype])
        return work

    def order(name: str) -> tuple[str, ...]:
        return tuple(sorted(known[name], key=lambda c: [k.name for k in kernel.coords].index(c)))

    found: dict[str, Variable] = {}
    inside = {s.out.name for s in body if isinstance(s, p.Load)}
    sides = {_source(n, made) for d in dots for n in (d.a, d.b)}
    for name in loads:
        if name in sides:
            own, looped = rows in known[name], name in inside
            buffer = loads[name].buffer
            found.setdefault(
                buffer, Variable(buffer, order(name), type_of(name), (SMEM,), own, kernel.stages if looped else 1)
            )
    factors = list(dict.fromkeys(_factors(body, carried)))
    contractions = []
    for dot in dots:
        target = next(
            (
                s.target
                for s in body
                if isinstance(s, p.Assign)
                and s.value == dot.out.name
                or isinstance(s, p.Assign)
                and dot.acc == s.target
            ),
            None,
        )
        goes = target if target in carried else _carried_by(dot, body, carried)
        kind = max((type_of(dot.a), type_of(dot.b)), key=VALUE_BYTES.__getitem__)
        precision = p.PRECISIONS[dot.precision if kind == "float32" else "ieee"]
        kind, products = precision.unit if kind == "float32" else kind, precision.products
        spanned = tuple(
            sorted(known[dot.a] | known[dot.b] | {dot.coord}, key=lambda c: [k.name for k in kernel.coords].index(c))
        )
        contractions.append(
            Contraction(
                dot.out.name,
                spanned,
                kind,
                goes is not None,
                goes is not None and bool(factors),
                order(dot.out.name),
                products,
            )
        )
        if goes is None:
            found.setdefault(dot.out.name, Variable(dot.out.name, order(dot.out.name), work, (SMEM, REGISTERS), True))
    for name in sides - set(loads):
        if name not in carried and not isinstance(made.get(name), p.Dot):
            found.setdefault(name, Variable(name, order(name), work, (SMEM, REGISTERS), rows in known[name]))
    for value, _ in loop.carried:
        found.setdefault(value.name, Variable(value.name, order(value.name), work, (REGISTERS,), True))
    for name in factors:
        found.setdefault(name, Variable(name, order(name), work, (REGISTERS,), True))
    special = tuple(
        (tuple(known[s.out.name]), float(SPECIAL[s.op])) for s in body if isinstance(s, p.Let) and s.op in SPECIAL
    )
    return Inner(rows, loop.coord, tuple(found.values()), tuple(contractions), special)


def _loop(kernel: p.Kernel) -> tuple[p.Loop | None, Sequence[p.Stmt]]:
    """Return the innermost loop with contractions that holds most of them, and the statements of its longest part."""
    best: tuple[int, p.Loop, Sequence[p.Stmt]] | None = None
    for loop in (s for s in p.statements(kernel.body) if isinstance(s, p.Loop)):
        for part in loop.parts:
            count = sum(isinstance(s, p.Dot) for s in part.body)
            if count and (best is None or count > best[0]):
                best = count, loop, part.body
    return (best[1], best[2]) if best else (None, ())


def _source(name: str, made: Mapping[str, p.Defining]) -> str:
    """Follow casts back to the value that is stored otherwise."""
    while isinstance(stmt := made.get(name), p.Let) and stmt.op == "cast" and isinstance(stmt.args[0], str):
        name = stmt.args[0]
    return name


def _factors(body: Sequence[p.Stmt], carried: set[str]) -> list[str]:
    """Return the values of the loop by which what it carries is multiplied."""
    defined = {s.out.name for s in body if isinstance(s, (p.Let, p.ReduceTile, p.Dot))}
    found = []
    for stmt in body:
        if isinstance(stmt, p.Let) and stmt.op in ("mul", "fma") and any(a in carried for a in stmt.args[:2]):
            found += [a for a in stmt.args[:2] if isinstance(a, str) and a in defined and a not in carried]
    return found


def _carried_by(dot: p.Dot, body: Sequence[p.Stmt], carried: set[str]) -> str | None:
    """Return the accumulator that a contraction's result is added to, if it does nothing else."""
    users = [s for s in body if dot.out.name in p.used(s)]
    for stmt in users:
        if isinstance(stmt, p.Assign) and stmt.target in carried:
            return stmt.target
    sums = [s for s in users if isinstance(s, p.Let) and s.op in ("add", "fma")]
    for stmt in sums:
        for assign in body:
            if isinstance(assign, p.Assign) and assign.value == stmt.out.name and assign.target in carried:
                return assign.target
    return None


def lanes(coords: Sequence[str], tiles: Mapping[str, int]) -> int:
    """Return the elements of a tile over coordinates."""
    return math.prod(tiles[c] for c in coords)
