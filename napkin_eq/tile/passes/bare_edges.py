"""A kernel without the guards of edges: one over 0, the root and the logarithm of what is negative are the machine's
own, infinite or NaN.

The language has a number there, and lowering keeps to it by a choice, unless it is proved that none is needed. Whoever
wants IEEE arithmetic at these places takes the choices out again; elsewhere the kernel is the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from napkin_eq.lang.operators import ABSENT
from napkin_eq.tile import ir as p
from napkin_eq.tile.passes.warp_roles import assigned


def bare(
    kernel: p.Kernel, *, nan: bool, absorbing: bool = True, begun: bool = False, ended: bool = False
) -> p.Kernel:
    """Return a kernel with the machine's own values at edges; `nan`: NaN is kept in maxima and minima, too.

    absorbing: what is -inf stays so in products and where it is subtracted, as what is absent does. begun: what blocks
    are taken relative to is a running maximum only once one is larger than -inf, and 0 before. ended: where none was in
    the end, what was carried beside it is NaN, as -inf less itself is.
    """
    body = _stripped(kernel.body, {}, absorbing)
    found = replace(kernel, body=_needed(_begun(body, ended) if begun else body), nan=nan)
    specialised = found.workers is not None and found.body != kernel.body
    return assigned(found) if specialised else found


def _begun(body: Sequence[p.Stmt], ended: bool) -> tuple[p.Stmt, ...]:
    """Return statements that compute with 0 in the place of a running maximum that is -inf still: blocks may hold -inf
    alone before the first that does not, and -inf less itself would be NaN in all that follow.
    """
    found: list[p.Stmt] = []
    for stmt in body:
        if isinstance(stmt, p.Loop):
            carried = {value.name for value, start in stmt.carried if start == ABSENT}
            parts = tuple(replace(part, body=_begun_within(_begun(part.body, ended), carried)) for part in stmt.parts)
            changed = any(new.body != old.body for new, old in zip(parts, stmt.parts, strict=True))
            stmt = replace(stmt, parts=parts)
            found += _ended(stmt, carried) if ended and changed else [stmt]
        else:
            found.append(stmt)
    return tuple(found)


def _ended(loop: p.Loop, maxima: set[str]) -> list[p.Stmt]:
    """Return a loop, and what adds 0 times a running maximum to what it carried beside it, NaN where it is infinite."""
    lasting = [value for value, _ in loop.carried if value.name in maxima]
    beside = {
        value.name: (replace(value, name=f"{value.name}__carried"), value, maximum)
        for value, _ in loop.carried
        for maximum in lasting
        if value.name not in maxima and value.dtype.startswith("f") and {*maximum.coords} <= {*value.coords}
    }
    found: list[p.Stmt] = [p.renamed(loop, {name: own.name for name, (own, *_) in beside.items()})]
    for own, value, maximum in beside.values():
        none = replace(maximum, name=f"{value.name}__none")
        found += [p.Let(none, "mul", (maximum.name, 0.0)), p.Let(value, "add", (own.name, none.name))]
    return found


def _begun_within(body: Sequence[p.Stmt], carried: set[str]) -> tuple[p.Stmt, ...]:
    assigned = {stmt.value for stmt in body if isinstance(stmt, p.Assign) and stmt.target in carried}
    held: dict[str, str] = {}
    found: list[p.Stmt] = []
    for stmt in body:
        if isinstance(stmt, p.Let) and stmt.op in ("add", "sub", "mul", "neg", "fma"):
            stmt = replace(stmt, args=tuple(held.get(arg, arg) if isinstance(arg, str) else arg for arg in stmt.args))
        found.append(stmt)
        if isinstance(stmt, p.Let) and stmt.op == "max" and stmt.out.name in assigned:
            none = replace(stmt.out, name=f"{stmt.out.name}__none", dtype="i1")
            number = replace(stmt.out, name=f"{stmt.out.name}__begun")
            found.append(p.Let(none, "eq", (stmt.out.name, ABSENT)))
            found.append(p.Let(number, "where", (none.name, 0.0, stmt.out.name)))
            held[stmt.out.name] = number.name
    return tuple(found)


def _stripped(body: Sequence[p.Stmt], made: dict[str, p.Stmt], absorbing: bool) -> tuple[p.Stmt, ...]:
    found: list[p.Stmt] = []
    for stmt in body:
        if isinstance(stmt, p.Loop):
            parts = (replace(part, body=_stripped(part.body, dict(made), absorbing)) for part in stmt.parts)
            found.append(replace(stmt, parts=tuple(parts)))
            continue
        if isinstance(stmt, p.Let):
            stmt = _own(stmt, made)
            stmt = stmt if absorbing else _unabsorbed(stmt, made)
        if isinstance(stmt, p.Defining):
            made[stmt.out.name] = stmt
        found.append(stmt)
    return tuple(found)


def _own(stmt: p.Let, made: dict[str, p.Stmt]) -> p.Let:
    """Return a guarded value as the machine has it, another one as it is."""
    if stmt.op in ("sqrt", "rsqrt", "log", "log2"):
        inner = made.get(str(stmt.args[0]))
        if isinstance(inner, p.Let) and inner.op == "max" and len(inner.args) == 2 and inner.args[1] == 0.0:
            return replace(stmt, args=(inner.args[0],))
    if stmt.op == "where" and not isinstance(stmt.args[1], str) and stmt.args[1] in (0.0, ABSENT):
        mask, other, found = (made.get(str(arg)) for arg in stmt.args)
        inverse = (
            isinstance(found, p.Let)
            and found.op == "div"
            and not isinstance(found.args[0], str)
            and found.args[0] == 1.0
        )
        if (
            inverse
            and isinstance(mask, p.Let)
            and mask.op == "eq"
            and isinstance(found, p.Let)
            and mask.args == (found.args[1], stmt.args[1])
        ):
            return replace(stmt, op="div", args=found.args)
    return stmt


def _unabsorbed(stmt: p.Let, made: dict[str, p.Stmt]) -> p.Let:
    """Return a product of what may be -inf, and what is subtracted and may be so, as the machine has them."""
    mask = made.get(str(stmt.args[0])) if stmt.op == "where" else None
    if not (isinstance(mask, p.Let) and mask.op == "eq" and mask.args[1] == ABSENT):
        return stmt
    value, found = mask.args[0], made.get(str(stmt.args[2]))
    if stmt.args[1] == math.inf and stmt.args[2] == value:
        return replace(stmt, op="mul", args=(value, 1.0))
    if stmt.args[1] == ABSENT and isinstance(found, p.Let) and found.op == "mul" and value in found.args:
        return replace(stmt, op="mul", args=found.args)
    return stmt


def _needed(body: tuple[p.Stmt, ...]) -> tuple[p.Stmt, ...]:
    """Return statements without values that nothing uses any more."""
    while True:
        names = {name for stmt in p.statements(body) for name in p.used(stmt)}
        names |= {stmt.target for stmt in p.statements(body) if isinstance(stmt, p.Assign)}
        if not any(isinstance(stmt, p.Let) and stmt.out.name not in names for stmt in p.statements(body)):
            return body
        body = _without(body, names)


def _without(body: tuple[p.Stmt, ...], names: set[str]) -> tuple[p.Stmt, ...]:
    return tuple(
        replace(stmt, parts=tuple(replace(part, body=_without(part.body, names)) for part in stmt.parts))
        if isinstance(stmt, p.Loop)
        else stmt
        for stmt in body
        if not (isinstance(stmt, p.Let) and stmt.out.name not in names)
    )
