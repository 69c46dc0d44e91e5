"""Statements whose values nothing uses: a choice that turned out to be settled leaves behind what it was to be made by.

A compiler drops them as well, but a plan that holds them is tiled, priced and given loads for work that is never done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from napkin_eq.tile import ir as p


def live(kernel: p.Kernel) -> p.Kernel:
    """Return the kernel without the statements, accumulators and loops that no store depends on, nor the arrays and
    coordinates that only they used.
    """
    used = _used(kernel.body)
    body = _kept(kernel.body, used)
    if body == kernel.body:
        return kernel
    read = {s.buffer for s in p.statements(body) if isinstance(s, p.Load)}
    walked = {c for s in p.statements(body) for c in _coords(s)} | {*kernel.grid}
    return replace(
        kernel,
        body=body,
        reads=tuple(b for b in kernel.reads if b.name in read),
        coords=tuple(c for c in kernel.coords if c.name in walked),
    )


def _used(body: Sequence[p.Stmt]) -> set[str]:
    """Return the names of the values that stores depend on."""
    used: set[str] = set()

    def mark(stmts: Sequence[p.Stmt]) -> bool:
        """Enter what statements that are needed use; tell whether any of them is."""
        needed = False
        for stmt in reversed(stmts):
            if isinstance(stmt, p.Loop):
                before = -1
                inside = False
                while before != len(used):  # what one trip uses of the trip before is needed of every trip
                    before = len(used)
                    inside = any([mark(part.body) for part in stmt.parts])
                own = inside
            else:
                own = (
                    isinstance(stmt, p.StoreTile | p.Await)
                    or (stmt.target if isinstance(stmt, p.Assign) else stmt.out.name) in used
                )
            if own:
                used.update(p.used(stmt))
            needed |= own
        return needed

    mark(body)
    return used


def _kept(body: Sequence[p.Stmt], used: set[str]) -> tuple[p.Stmt, ...]:
    found: list[p.Stmt] = []
    for stmt in body:
        if isinstance(stmt, p.Loop):
            parts = tuple(replace(part, body=_kept(part.body, used)) for part in stmt.parts)
            if any(part.body for part in parts):
                found.append(replace(stmt, carried=tuple(c for c in stmt.carried if c[0].name in used), parts=parts))
        elif (
            isinstance(stmt, p.StoreTile | p.Await)
            or (stmt.target if isinstance(stmt, p.Assign) else stmt.out.name) in used
        ):
            found.append(stmt)
    return tuple(found)


def _coords(stmt: p.Stmt) -> tuple[str, ...]:
    if isinstance(stmt, p.Loop | p.Start | p.Iota):
        return (stmt.coord,)
    return stmt.out.coords if isinstance(stmt, p.Load | p.Let | p.ReduceTile | p.ScanTile | p.Dot) else ()
