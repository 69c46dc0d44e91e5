"""A contraction that another tile is added to starts from that tile: the matrix unit adds it, and one accumulator is
held where two were.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from napkin_eq.tile.ir import Assign, Dot, Kernel, Let, Loop, Stmt, Value, statements, used, values_of


def accumulated(kernel: Kernel) -> Kernel:
    """Return a kernel in which every contraction that is read only to be added to a tile of its shape accumulates onto
    it.
    """
    readers = Counter(name for stmt in statements(kernel.body) for name in used(stmt))
    return replace(kernel, body=_body(kernel.body, readers, values_of(kernel.body)))


def _body(body: tuple[Stmt, ...], readers: Mapping[str, int], values: Mapping[str, Value]) -> tuple[Stmt, ...]:
    found: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, Loop):
            stmt = replace(
                stmt, parts=tuple(replace(part, body=_body(part.body, readers, values)) for part in stmt.parts)
            )
        if isinstance(stmt, Let) and stmt.op == "add" and (pair := _onto(found, stmt, readers, values)) is not None:
            dot, start = pair
            found.remove(dot)
            stmt = replace(dot, out=stmt.out, acc=start)
        found.append(stmt)
    return tuple(found)


def _onto(
    before: list[Stmt], added: Let, readers: Mapping[str, int], values: Mapping[str, Value]
) -> tuple[Dot, str] | None:
    """Return the contraction, of those before, that an addition can be part of, and the tile it is added to."""
    changed = {s.target for s in before if isinstance(s, Assign)}
    for name, other in (added.args, added.args[::-1]):
        dot = next((s for s in before if isinstance(s, Dot) and s.out.name == name), None)
        start = values.get(other) if isinstance(other, str) else None
        if (
            dot is None
            or start is None
            or dot.acc is not None
            or readers[dot.out.name] != 1
            or {dot.a, dot.b} & changed
        ):
            continue
        if start.coords == dot.out.coords == added.out.coords and start.dtype == added.out.dtype == "f32":
            return dot, start.name
    return None
