"""Mistakes with numbers: wrong operators and factors, too few bits, what is loaded from where."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from napkin_eq.lang.dtypes import NARROW
from napkin_eq.tile.ir import Assign, Dot, Iota, Let, Load, Operand, ReduceTile, Start, Stmt, Value
from napkin_eq.verify.selftest.mutation import Body, Facts, Family, using

LN2 = math.log(2.0)
RAW = "the load"
mutation = Family()


@mutation("a power of 2 is taken of an exponent of e")
def missing_log2_e(stmt: Stmt, facts: Facts) -> Body | None:
    if not isinstance(stmt, Let) or stmt.op != "exp2":
        return None
    scaled = Let(replace(facts.values[str(stmt.args[0])], name=f"{stmt.out.name}__ln"), "mul", (stmt.args[0], LN2))
    return (scaled, replace(stmt, args=(scaled.out.name,)))


@mutation("a power of e is taken of an exponent of 2")
def exp_for_exp2(stmt: Stmt, facts: Facts) -> Body | None:
    return (replace(stmt, op="exp"),) if isinstance(stmt, Let) and stmt.op == "exp2" else None


@mutation("exponents are held above -16, so that nothing underflows")
def exponents_floored(stmt: Stmt, facts: Facts) -> Body | None:
    if not isinstance(stmt, Let) or stmt.op != "exp2":
        return None
    held = Let(replace(facts.values[str(stmt.args[0])], name=f"{stmt.out.name}__held"), "max", (stmt.args[0], -16.0))
    return (held, replace(stmt, args=(held.out.name,)))


@mutation("a constant factor is one per cent off")
def wrong_scale(stmt: Stmt, facts: Facts) -> Body | None:
    if not isinstance(stmt, Let) or stmt.op != "mul" or not any(isinstance(a, float) for a in stmt.args):
        return None
    return (replace(stmt, args=tuple(1.01 * a if isinstance(a, float) else a for a in stmt.args)),)


@mutation("the result is not divided by its sum")
def not_normalised(stmt: Stmt, facts: Facts) -> Body | None:
    if not isinstance(stmt, Let) or stmt.op != "mul" or stmt.out.name in facts.inside:
        return None
    for one, other in (stmt.args, stmt.args[::-1]):
        if facts.is_op(one, "div") or (facts.is_op(one, "where") and facts.guard(facts.defs[str(one)], False)):
            return (replace(stmt, args=(1.0, other)),)
    return None


@mutation("a sum over a tile is a maximum")
def maximum_for_sum(stmt: Stmt, facts: Facts) -> Body | None:
    return (replace(stmt, monoid="max"),) if isinstance(stmt, ReduceTile) and stmt.monoid == "sum" else None


def _narrowed(value: Value, facts: Facts, name: str) -> tuple[Let, Let]:
    """Round a value to the storage type and widen it again, as NAME__narrow and NAME__wide."""
    narrow = replace(value, name=f"{name}__narrow", dtype=facts.storage)
    return Let(narrow, "cast", (value.name,)), Let(replace(value, name=f"{name}__wide"), "cast", (narrow.name,))


@mutation("what a contraction gives is rounded to 16 bits before it is used")
def contractions_in_16_bits(stmt: Stmt, facts: Facts) -> Body | None:
    wide = {name: f"{name}__wide" for name, s in facts.defs.items() if isinstance(s, Dot) and s.acc is None}
    if isinstance(stmt, Dot) and stmt.acc is None and facts.storage != "f32":
        return (stmt, *_narrowed(stmt.out, facts, stmt.out.name))
    new = using(stmt, wide)
    return None if new == stmt else (new,)


@mutation("accumulators are rounded to 16 bits after every tile")
def accumulators_in_16_bits(stmt: Stmt, facts: Facts) -> Body | None:
    if not isinstance(stmt, Assign) or facts.storage == "f32":
        return None
    narrow, wide = _narrowed(facts.values[stmt.value], facts, stmt.target)
    return (narrow, wide, replace(stmt, value=wide.out.name))


def _loaded(stmt: Stmt, tested: Callable[[Value], tuple[Let, ...]], args: tuple[Operand, Operand]) -> Body | None:
    """Put a choice in the place of what a load gives: by the last of the tests, between two operands, RAW standing for
    the load.
    """
    if not isinstance(stmt, Load) or stmt.out.dtype not in (*NARROW, "f32"):
        return None
    raw, wide = (replace(stmt.out, name=f"{stmt.out.name}__{suffix}") for suffix in ("raw", "f32"))
    wide = replace(wide, dtype="f32")
    tests = tested(wide)
    picked = Let(
        replace(wide, name=f"{stmt.out.name}__kept"),
        "where",
        (tests[-1].out.name, *(wide.name if a == RAW else a for a in args)),
    )
    return (
        replace(stmt, out=raw),
        Let(wide, "cast", (raw.name,)),
        *tests,
        picked,
        Let(stmt.out, "cast", (picked.out.name,)),
    )


@mutation("16-bit numbers below the least normal one are taken for 0")
def flushed_subnormals(stmt: Stmt, facts: Facts) -> Body | None:
    least = {"f16": 2.0**-14}.get(facts.storage, 2.0**-126)

    def small(value: Value) -> tuple[Let, ...]:
        size = Let(replace(value, name=f"{value.name}__size"), "abs", (value.name,))
        return size, Let(replace(value, name=f"{value.name}__small", dtype="i1"), "lt", (size.out.name, least))

    return _loaded(stmt, small, (0.0, RAW))


@mutation("NaN is taken for 0")
def scrubbed_nan(stmt: Stmt, facts: Facts) -> Body | None:
    return _loaded(
        stmt,
        lambda value: (Let(replace(value, name=f"{value.name}__same", dtype="i1"), "eq", (value.name, value.name)),),
        (RAW, 0.0),
    )


def _scalars(stmt: Load, facts: Facts) -> list[int]:
    return [
        i
        for i, operand in enumerate(stmt.index)
        if isinstance(operand, str) and isinstance(facts.defs.get(operand), Start)
    ]


@mutation("every block reads the first slice of an array")
def slice_zero(stmt: Stmt, facts: Facts) -> Body | None:
    if not isinstance(stmt, Load) or not _scalars(stmt, facts):
        return None
    return (
        replace(
            stmt, index=tuple(0 if i in _scalars(stmt, facts) else operand for i, operand in enumerate(stmt.index))
        ),
    )


@mutation("a block reads another's slice of an array: the map from output slices to input slices is wrong")
def wrong_slice(stmt: Stmt, facts: Facts) -> Body | None:
    others = [
        name
        for name, s in facts.defs.items()
        if isinstance(s, Start) and facts.kernel.coord(s.coord).role == "group" and s.coord in facts.kernel.grid
    ]
    if not isinstance(stmt, Load) or not (at := _scalars(stmt, facts)) or len(others) < 2:
        return None
    other = next((o for o in others if o not in stmt.index), None)
    return (
        replace(stmt, index=tuple(other if other and i == at[-1] else operand for i, operand in enumerate(stmt.index))),
    )


@mutation("an array is read by the strides of its transpose")
def swapped_strides(stmt: Stmt, facts: Facts) -> Body | None:
    if not isinstance(stmt, Load):
        return None
    tiles = [
        i
        for i, operand in enumerate(stmt.index)
        if isinstance(operand, str) and isinstance(facts.defs.get(operand), Iota)
    ]
    if len(tiles) < 2:
        return None
    index = list(stmt.index)
    index[tiles[0]], index[tiles[1]] = index[tiles[1]], index[tiles[0]]
    return (replace(stmt, index=tuple(index)),)


@mutation("an array is read in place of another of the same shape")
def wrong_array(stmt: Stmt, facts: Facts) -> Body | None:
    if not isinstance(stmt, Load):
        return None
    own = facts.kernel.buffer(stmt.buffer)
    alike = [b for b in facts.kernel.reads if b.name != own.name and (b.dims, b.dtype) == (own.dims, own.dtype)]
    return (replace(stmt, buffer=alike[0].name),) if alike else None
