"""Mistakes with running values: references that do not move or move alone, accumulators rescaled wrongly or started
from a wrong value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from napkin_eq.tile.ir import Assign, Dot, Let, Loop, Operand, ReduceTile, Stmt
from napkin_eq.verify.selftest.mutation import NEG, Body, Facts, Family, instead, made, using

mutation = Family()


@mutation("accumulators are not rescaled when their reference moves")
def no_rescale(stmt: Stmt, facts: Facts) -> Body | None:
    acc = facts.rescales(stmt)
    return instead(stmt, op="add", args=(acc, 0.0)) if acc else None


def _only(stmt: Stmt, facts: Facts, first: bool) -> Body | None:
    accs = [name for name in facts.carried if any(facts.rescales(s) == name for s in facts.defs.values())]
    acc = facts.rescales(stmt)
    return instead(stmt, op="add", args=(acc, 0.0)) if acc and len(accs) > 1 and (acc == accs[0]) != first else None


@mutation("only the first accumulator is rescaled")
def rescale_first_only(stmt: Stmt, facts: Facts) -> Body | None:
    return _only(stmt, facts, True)


@mutation("only the later accumulators are rescaled")
def rescale_later_only(stmt: Stmt, facts: Facts) -> Body | None:
    return _only(stmt, facts, False)


@mutation("the factor of a rescaling is the inverse of what it should be")
def rescale_inverted(stmt: Stmt, facts: Facts) -> Body | None:
    if not facts.rescales(stmt) or not isinstance(stmt, Let):
        return None
    at = facts.factor(stmt)
    inverse = Let(replace(facts.values[str(stmt.args[at])], name=f"{stmt.out.name}__i"), "div", (1.0, stmt.args[at]))
    return (inverse, replace(stmt, args=(stmt.args[1 - at], inverse.out.name)))


@mutation("accumulators are rescaled twice")
def rescale_twice(stmt: Stmt, facts: Facts) -> Body | None:
    if not facts.rescales(stmt) or not isinstance(stmt, Let):
        return None
    once = made(stmt, "once", "mul", *stmt.args)
    return instead(stmt, once, op="mul", args=(once.out.name, stmt.args[facts.factor(stmt)]))


@mutation(
    "a tile is taken relative to the maximum before it, from the second tile on, and what is carried to the one with it"
)
def stale_maximum(stmt: Stmt, facts: Facts) -> Body | None:
    swapped = {name: f"{name}__stale" for name, s in facts.defs.items() if facts.reference(s)}
    acc = facts.reference(stmt)
    if acc and isinstance(stmt, Let):
        cold = made(stmt, "cold", "eq", acc, NEG, dtype="i1")
        return (stmt, cold, made(stmt, "stale", "where", cold.out.name, stmt.out.name, acc))
    new = stmt if isinstance(stmt, Assign) else using(stmt, swapped)
    return None if new == stmt else (new,)


def _reference(
    stmt: Stmt, facts: Facts, op: Callable[[str, Operand], tuple[tuple[Let, ...], str, tuple[Operand, ...]]]
) -> Body | None:
    acc = facts.reference(stmt)
    if not acc or not isinstance(stmt, Let):
        return None
    tile = next(a for a in stmt.args if a != acc)
    before, name, args = op(acc, tile)
    return instead(stmt, *before, op=name, args=args)


@mutation("the reference stays the maximum of the first tile")
def frozen_maximum(stmt: Stmt, facts: Facts) -> Body | None:
    def frozen(acc: str, tile: Operand) -> tuple[tuple[Let, ...], str, tuple[Operand, ...]]:
        cold = made(stmt, "cold", "eq", acc, NEG, dtype="i1")
        return (cold,), "where", (cold.out.name, tile, acc)

    return _reference(stmt, facts, frozen)


@mutation("the reference is the maximum of the tile at hand")
def tile_maximum(stmt: Stmt, facts: Facts) -> Body | None:
    return _reference(stmt, facts, lambda acc, tile: ((), "max", (tile, tile)))


@mutation("nothing is subtracted before an exponential")
def no_maximum(stmt: Stmt, facts: Facts) -> Body | None:
    def none(acc: str, tile: Operand) -> tuple[tuple[Let, ...], str, tuple[Operand, ...]]:
        same = made(stmt, "same", "eq", tile, tile, dtype="i1")
        return (same,), "where", (same.out.name, 0.0, 0.0)

    return _reference(stmt, facts, none)


@mutation("the maximum is never updated")
def maximum_not_carried(stmt: Stmt, facts: Facts) -> Body | None:
    return () if isinstance(stmt, Assign) and facts.reference(facts.defs[stmt.value]) else None


def _start(stmt: Stmt, old: float, new: float) -> Body | None:
    if not isinstance(stmt, Loop):
        return None
    return (replace(stmt, carried=tuple((value, new if start == old else start) for value, start in stmt.carried)),)


@mutation("a running maximum starts at 0")
def maximum_from_zero(stmt: Stmt, facts: Facts) -> Body | None:
    return _start(stmt, NEG, 0.0)


@mutation("a running maximum starts at a finite number taken for a very small one")
def maximum_from_finite(stmt: Stmt, facts: Facts) -> Body | None:
    return _start(stmt, NEG, -64.0)


@mutation("a running sum starts at 1")
def sum_from_one(stmt: Stmt, facts: Facts) -> Body | None:
    return _start(stmt, 0.0, 1.0)


@mutation("each tile starts anew")
def not_accumulated(stmt: Stmt, facts: Facts) -> Body | None:
    if isinstance(stmt, Dot) and stmt.acc is not None:
        return (replace(stmt, acc=None),)
    if isinstance(stmt, Let) and stmt.op == "add" and stmt.out.name in facts.inside:
        for start, tile in (stmt.args, stmt.args[::-1]):
            if (
                isinstance(tile, str)
                and isinstance(facts.defs.get(tile), ReduceTile)
                and (start in facts.carried or facts.is_op(start, "mul"))
            ):
                return instead(stmt, op="add", args=(tile, 0.0))
    return None
