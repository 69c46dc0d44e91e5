"""Mistakes with the tiles that are walked and the lanes that count: parts of loops, bounds of masks, what is put into
masked lanes.
"""

from __future__ import annotations

import math
from dataclasses import replace

from napkin_eq.tile.ir import Let, Loop, Operand, Part, SizeOf, Stmt, StoreTile, Value
from napkin_eq.verify.selftest.mutation import NEG, Body, Facts, Family, instead, made

mutation = Family()


def _bound(loop: Loop, number: int, suffix: str, op: str, *args: Operand) -> Let:
    return Let(Value(f"{loop.coord}_{number}__{suffix}", (), "i32"), op, args)


@mutation("the last part of a loop, the one with a mask, is left out")
def dropped_tail(stmt: Stmt, facts: Facts) -> Body | None:
    return (replace(stmt, parts=stmt.parts[:-1]),) if isinstance(stmt, Loop) and len(stmt.parts) > 1 else None


@mutation("the first tile is left out")
def dropped_first_tile(stmt: Stmt, facts: Facts) -> Body | None:
    if not isinstance(stmt, Loop) or not stmt.carried:
        return None
    first = stmt.parts[0]
    low = _bound(stmt, 0, "lo", "add", first.lo, facts.kernel.coord(stmt.coord).tile)
    return (low, replace(stmt, parts=(replace(first, lo=low.out.name), *stmt.parts[1:])))


@mutation("the parts of a loop overlap by a tile, which counts twice")
def overlapping_parts(stmt: Stmt, facts: Facts) -> Body | None:
    if not isinstance(stmt, Loop) or not stmt.carried:
        return None
    tile, last = facts.kernel.coord(stmt.coord).tile, stmt.parts[-1]
    back = _bound(stmt, 0, "back", "add", last.lo, -tile)
    low = _bound(stmt, 0, "lo", "max", back.out.name, 0)
    return (back, low, replace(stmt, parts=(*stmt.parts[:-1], replace(last, lo=low.out.name))))


def _at_least(stmt: Stmt, facts: Facts, tiles: int) -> Body | None:
    if not isinstance(stmt, Loop) or not stmt.carried:
        return None
    before: list[Let] = []
    parts: list[Part] = []
    for number, part in enumerate(stmt.parts):
        most = _bound(stmt, number, "least", "add", part.lo, tiles * facts.kernel.coord(stmt.coord).tile)
        high = _bound(stmt, number, "hi", "max", part.hi, most.out.name)
        before += [most, high] if number == 0 else []
        parts.append(replace(part, hi=high.out.name) if number == 0 else part)
    return (*before, replace(stmt, parts=tuple(parts)))


@mutation("a loop runs at least once, even where there is no whole tile")
def at_least_once(stmt: Stmt, facts: Facts) -> Body | None:
    return _at_least(stmt, facts, 1)


@mutation("a loop runs at least twice, as if its first turn were taken out of it")
def at_least_twice(stmt: Stmt, facts: Facts) -> Body | None:
    return _at_least(stmt, facts, 2)


@mutation("the blocks of the grid are counted rounding down")
def grid_rounded_down(stmt: Stmt, facts: Facts) -> Body | None:
    if not isinstance(stmt, StoreTile) or not stmt.masks:
        return None
    before: list[Stmt] = []
    masks: list[str] = []
    for mask in stmt.masks:
        test = facts.defs[mask]
        if isinstance(test, Let) and test.op == "lt" and isinstance(test.args[0], str):
            tile = math.prod(facts.kernel.coord(c).tile for c in test.out.coords)
            whole = Let(Value(f"{mask}__n", (), "i32"), "floordiv", (test.args[1], tile))
            end = Let(Value(f"{mask}__end", (), "i32"), "mul", (whole.out.name, tile))
            less = replace(test, out=replace(test.out, name=f"{mask}__less"), args=(test.args[0], end.out.name))
            before += [whole, end, less]
            masks.append(less.out.name)
    return (*before, replace(stmt, masks=(*stmt.masks, *masks)))


@mutation("a comparison of coordinates is off by one")
def mask_off_by_one(stmt: Stmt, facts: Facts) -> Body | None:
    if (
        not isinstance(stmt, Let)
        or stmt.op not in ("lt", "le")
        or _dtype(stmt.args, facts) != "i32"
        or stmt.args[1] in _sizes(facts)
    ):
        return None
    return (replace(stmt, op="le" if stmt.op == "lt" else "lt"),)


@mutation("a comparison of numbers is strict where it should not be, or the other way round")
def strict_comparison(stmt: Stmt, facts: Facts) -> Body | None:
    if not isinstance(stmt, Let) or stmt.op not in ("lt", "le") or _dtype(stmt.args, facts) != "f32":
        return None
    return (replace(stmt, op="le" if stmt.op == "lt" else "lt"),)


def _dtype(args: tuple[Operand, ...], facts: Facts) -> str:
    return next((facts.values[a].dtype for a in args if isinstance(a, str)), "")


def _sizes(facts: Facts) -> set[Operand]:
    return {name for name, s in facts.defs.items() if isinstance(s, SizeOf)}


@mutation("a mask is not applied before a maximum or an exponential")
def mask_dropped(stmt: Stmt, facts: Facts) -> Body | None:
    return (
        instead(stmt, op="add", args=(stmt.args[1], 0.0)) if isinstance(stmt, Let) and facts.fill(stmt, NEG) else None
    )


@mutation("masked lanes hold 0 before an exponential")
def mask_fill_zero(stmt: Stmt, facts: Facts) -> Body | None:
    return (
        instead(stmt, op="where", args=(*stmt.args[:2], 0.0))
        if isinstance(stmt, Let) and facts.fill(stmt, NEG)
        else None
    )


@mutation("masked lanes hold a large negative number")
def mask_fill_finite(stmt: Stmt, facts: Facts) -> Body | None:
    return (
        instead(stmt, op="where", args=(*stmt.args[:2], -1e4))
        if isinstance(stmt, Let) and facts.fill(stmt, NEG)
        else None
    )


@mutation("lanes past the end are not put to 0 before a sum")
def tail_not_zeroed(stmt: Stmt, facts: Facts) -> Body | None:
    return (
        instead(stmt, op="add", args=(stmt.args[1], 0.0)) if isinstance(stmt, Let) and facts.fill(stmt, 0.0) else None
    )


@mutation("masks are applied by arithmetic, not by choice")
def mask_by_arithmetic(stmt: Stmt, facts: Facts) -> Body | None:
    if not isinstance(stmt, Let) or not facts.fill(stmt, NEG, 0.0):
        return None
    kept, left_out, op = (0.0, NEG, "add") if stmt.args[2] == NEG else (1.0, 0.0, "mul")
    by = replace(facts.values[str(stmt.args[0])], name=f"{stmt.out.name}__by", dtype="f32")
    return instead(stmt, Let(by, "where", (stmt.args[0], kept, left_out)), op=op, args=(stmt.args[1], by.name))


@mutation("an absent maximum is subtracted as it is")
def unguarded_absent(stmt: Stmt, facts: Facts) -> Body | None:
    found = facts.guard(stmt, True)
    return instead(stmt, op="max", args=(found[2], found[2])) if found and found[1] == math.inf else None


@mutation("a division by zero is not guarded")
def unguarded_inverse(stmt: Stmt, facts: Facts) -> Body | None:
    found = facts.guard(stmt, False)
    return instead(stmt, op="max", args=(found[2], found[2])) if found else None


@mutation("a division by zero is recognised by its result, which can have either sign")
def guard_by_quotient(stmt: Stmt, facts: Facts) -> Body | None:
    found = facts.guard(stmt, False)
    if not found:
        return None
    test = made(stmt, "test", "eq", found[2], math.inf, dtype="i1")
    return instead(stmt, test, op="where", args=(test.out.name, 0.0, found[2]))
