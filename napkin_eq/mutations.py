"""Ways to break a plan: each takes a plan and returns one that has a mistake which people make, or None where it has no place for it.

A mutation is stated over statements of the plan language, whatever they compute. The broken plans show what a check can see.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from napkin_eq.plan import (
    Assign,
    Buffer,
    Dot,
    Iota,
    Kernel,
    Let,
    Load,
    Loop,
    Operand,
    Part,
    Plan,
    ReduceTile,
    ScanTile,
    SizeOf,
    Start,
    Stmt,
    StoreTile,
    Value,
    statements,
)

Body = tuple[Stmt, ...]
Change = Callable[[Stmt, "Facts"], Body | None]
Mutation = Callable[[Plan], Plan | None]
NEG = -math.inf
LN2, RAW = math.log(2.0), "the load"
MUTATIONS: dict[str, Mutation] = {}
SAYS: dict[str, str] = {}
F = TypeVar("F", bound=Change)


@dataclass(slots=True)
class Facts:
    """What a kernel's statements are to each other: who defines a value, which values are carried through which loop."""

    kernel: Kernel
    storage: str
    defs: dict[str, Stmt] = field(default_factory=dict)
    carried: dict[str, float] = field(default_factory=dict)
    values: dict[str, Value] = field(default_factory=dict)
    inside: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for stmt in statements(self.kernel.body):
            if isinstance(stmt, Loop):
                self.carried.update({value.name: start for value, start in stmt.carried})
                self.values.update({value.name: value for value, _ in stmt.carried})
                self.inside.update({s.out.name: stmt.coord for part in stmt.parts for s in statements(part.body) if hasattr(s, "out")})
            elif hasattr(stmt, "out"):
                self.defs[stmt.out.name], self.values[stmt.out.name] = stmt, stmt.out

    def is_op(self, operand: Operand, *ops: str) -> bool:
        made = self.defs.get(operand) if isinstance(operand, str) else None
        return isinstance(made, Let) and made.op in ops

    def rescales(self, stmt: Stmt) -> str | None:
        """Return the accumulator that a statement multiplies by an exponential that does not vary along the loop."""
        if isinstance(stmt, Let) and stmt.op == "mul" and stmt.out.name in self.inside:
            for acc, factor in (stmt.args, stmt.args[::-1]):
                if acc in self.carried and self.is_op(factor, "exp2"):
                    return str(acc)
        return None

    def factor(self, stmt: Let) -> int:
        """Return which argument of a rescaling is the exponential."""
        return 0 if stmt.args[1] in self.carried else 1

    def reference(self, stmt: Stmt) -> str | None:
        """Return the carried maximum that a statement updates from the maximum of a tile."""
        if isinstance(stmt, Let) and stmt.op == "max" and stmt.out.dtype == "f32":
            return next((str(a) for a in stmt.args if a in self.carried), None)
        return None

    def guard(self, stmt: Stmt, absent: bool) -> tuple[str, Operand, Operand] | None:
        """Return (test, picked, otherwise) of a choice that guards against an absent value, or against zero."""
        if isinstance(stmt, Let) and stmt.op == "where" and self.is_op(stmt.args[0], "eq"):
            made = self.defs[str(stmt.args[0])]
            if isinstance(made, Let) and made.args[1] == (NEG if absent else 0.0):
                return str(stmt.args[0]), stmt.args[1], stmt.args[2]
        return None

    def fill(self, stmt: Stmt, *values: float) -> bool:
        """Tell whether a statement keeps a value by a mask of coordinates and puts one of these numbers elsewhere."""
        if not isinstance(stmt, Let) or stmt.op != "where" or isinstance(stmt.args[2], str) or stmt.args[2] not in values:
            return False
        return self.is_op(stmt.args[0], "lt", "le", "and", "not") or isinstance(self.defs.get(str(stmt.args[0])), Load)


def rewrite(body: Body, change: Callable[[Stmt], Body | None]) -> Body:
    """Return a body with each statement changed, those inside loops first; None leaves one as it is."""
    found: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, Loop):
            stmt = replace(stmt, parts=tuple(replace(p, body=rewrite(p.body, change)) for p in stmt.parts))
        new = change(stmt)
        found.extend((stmt,) if new is None else new)
    return tuple(found)


def mutated(plan: Plan, change: Change) -> Plan | None:
    """Return the plan with a change made at every statement that it fits, None if it fits none."""
    kernels = []
    for kernel in plan.kernels:
        facts = Facts(kernel, next((b.dtype for b in plan.inputs if b.dtype in ("f16", "bf16")), "f32"))
        kernels.append(replace(kernel, body=rewrite(kernel.body, lambda stmt, facts=facts: change(stmt, facts))))  # type: ignore[misc]
    found = replace(plan, kernels=tuple(kernels))
    return None if found == plan else found


def mutation(says: str) -> Callable[[F], F]:
    """Register a change of statements as a mutation, under its function's name."""

    def register(change: F) -> F:
        name = change.__name__.replace("_", "-")
        MUTATIONS[name] = lambda plan: mutated(plan, change)
        SAYS[name] = says
        return change

    return register


def using(stmt: Stmt, names: Mapping[str, Operand]) -> Stmt:
    """Return a statement with some of the values that it uses exchanged."""

    def other(item: Operand) -> Operand:
        return names.get(item, item) if isinstance(item, str) else item

    match stmt:
        case Let():
            return replace(stmt, args=tuple(map(other, stmt.args)))
        case ReduceTile() | ScanTile():
            return replace(stmt, arg=str(other(stmt.arg)))
        case Dot():
            return replace(stmt, a=str(other(stmt.a)), b=str(other(stmt.b)), acc=None if stmt.acc is None else str(other(stmt.acc)))
        case Assign():
            return replace(stmt, value=str(other(stmt.value)))
    return stmt


def made(stmt: Stmt, suffix: str, op: str, *args: Operand, dtype: str = "") -> Let:
    """Return a new elementwise value beside the one that a statement defines."""
    out: Value = stmt.out  # type: ignore[union-attr]
    return Let(replace(out, name=f"{out.name}__{suffix}", dtype=dtype or out.dtype), op, args)


def instead(stmt: Stmt, *before: Let, op: str, args: tuple[Operand, ...]) -> Body:
    """Define a statement's value by another operator, after the values that it needs."""
    return (*before, Let(stmt.out, op, args))  # type: ignore[union-attr]


# Running values and their references.


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


@mutation("a tile is taken relative to the maximum before it, from the second tile on, and what is carried to the one with it")
def stale_maximum(stmt: Stmt, facts: Facts) -> Body | None:
    swapped = {name: f"{name}__stale" for name, s in facts.defs.items() if facts.reference(s)}
    acc = facts.reference(stmt)
    if acc and isinstance(stmt, Let):
        cold = made(stmt, "cold", "eq", acc, NEG, dtype="i1")
        return (stmt, cold, made(stmt, "stale", "where", cold.out.name, stmt.out.name, acc))
    new = stmt if isinstance(stmt, Assign) else using(stmt, swapped)
    return None if new == stmt else (new,)


def _reference(stmt: Stmt, facts: Facts, op: Callable[[str, Operand], tuple[tuple[Let, ...], str, tuple[Operand, ...]]]) -> Body | None:
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
            if isinstance(tile, str) and isinstance(facts.defs.get(tile), ReduceTile) and (start in facts.carried or facts.is_op(start, "mul")):
                return instead(stmt, op="add", args=(tile, 0.0))
    return None


# Which tiles are walked.


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


# Masks.


@mutation("a comparison of coordinates is off by one")
def mask_off_by_one(stmt: Stmt, facts: Facts) -> Body | None:
    if not isinstance(stmt, Let) or stmt.op not in ("lt", "le") or _dtype(stmt.args, facts) != "i32" or stmt.args[1] in _sizes(facts):
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
    return instead(stmt, op="add", args=(stmt.args[1], 0.0)) if isinstance(stmt, Let) and facts.fill(stmt, NEG) else None


@mutation("masked lanes hold 0 before an exponential")
def mask_fill_zero(stmt: Stmt, facts: Facts) -> Body | None:
    return instead(stmt, op="where", args=(*stmt.args[:2], 0.0)) if isinstance(stmt, Let) and facts.fill(stmt, NEG) else None


@mutation("masked lanes hold a large negative number")
def mask_fill_finite(stmt: Stmt, facts: Facts) -> Body | None:
    return instead(stmt, op="where", args=(*stmt.args[:2], -1e4)) if isinstance(stmt, Let) and facts.fill(stmt, NEG) else None


@mutation("lanes past the end are not put to 0 before a sum")
def tail_not_zeroed(stmt: Stmt, facts: Facts) -> Body | None:
    return instead(stmt, op="add", args=(stmt.args[1], 0.0)) if isinstance(stmt, Let) and facts.fill(stmt, 0.0) else None


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


# Arithmetic.


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


# Loads.


def _loaded(stmt: Stmt, tested: Callable[[Value], tuple[Let, ...]], args: tuple[Operand, Operand]) -> Body | None:
    """Put a choice in the place of what a load gives: by the last of the tests, between two operands, RAW standing for the load."""
    if not isinstance(stmt, Load) or stmt.out.dtype not in ("f16", "bf16", "f32"):
        return None
    raw, wide = (replace(stmt.out, name=f"{stmt.out.name}__{suffix}") for suffix in ("raw", "f32"))
    wide = replace(wide, dtype="f32")
    tests = tested(wide)
    picked = Let(replace(wide, name=f"{stmt.out.name}__kept"), "where", (tests[-1].out.name, *(wide.name if a == RAW else a for a in args)))
    return (replace(stmt, out=raw), Let(wide, "cast", (raw.name,)), *tests, picked, Let(stmt.out, "cast", (picked.out.name,)))


@mutation("16-bit numbers below the least normal one are taken for 0")
def flushed_subnormals(stmt: Stmt, facts: Facts) -> Body | None:
    least = {"f16": 2.0**-14}.get(facts.storage, 2.0**-126)

    def small(value: Value) -> tuple[Let, ...]:
        size = Let(replace(value, name=f"{value.name}__size"), "abs", (value.name,))
        return size, Let(replace(value, name=f"{value.name}__small", dtype="i1"), "lt", (size.out.name, least))

    return _loaded(stmt, small, (0.0, RAW))


@mutation("NaN is taken for 0")
def scrubbed_nan(stmt: Stmt, facts: Facts) -> Body | None:
    return _loaded(stmt, lambda value: (Let(replace(value, name=f"{value.name}__same", dtype="i1"), "eq", (value.name, value.name)),), (RAW, 0.0))


def _scalars(stmt: Load, facts: Facts) -> list[int]:
    return [i for i, operand in enumerate(stmt.index) if isinstance(operand, str) and isinstance(facts.defs.get(operand), Start)]


@mutation("every block reads the first slice of an array")
def slice_zero(stmt: Stmt, facts: Facts) -> Body | None:
    if not isinstance(stmt, Load) or not _scalars(stmt, facts):
        return None
    return (replace(stmt, index=tuple(0 if i in _scalars(stmt, facts) else operand for i, operand in enumerate(stmt.index))),)


@mutation("a block reads another's slice of an array: the map from output slices to input slices is wrong")
def wrong_slice(stmt: Stmt, facts: Facts) -> Body | None:
    others = [name for name, s in facts.defs.items() if isinstance(s, Start) and facts.kernel.coord(s.coord).role == "group" and s.coord in facts.kernel.grid]
    if not isinstance(stmt, Load) or not (at := _scalars(stmt, facts)) or len(others) < 2:
        return None
    other = next((o for o in others if o not in stmt.index), None)
    return (replace(stmt, index=tuple(other if other and i == at[-1] else operand for i, operand in enumerate(stmt.index))),)


@mutation("an array is read by the strides of its transpose")
def swapped_strides(stmt: Stmt, facts: Facts) -> Body | None:
    if not isinstance(stmt, Load):
        return None
    tiles = [i for i, operand in enumerate(stmt.index) if isinstance(operand, str) and isinstance(facts.defs.get(operand), Iota)]
    if len(tiles) < 2:
        return None
    index = list(stmt.index)
    index[tiles[0]], index[tiles[1]] = index[tiles[1]], index[tiles[0]]
    return (replace(stmt, index=tuple(index)),)


def _buffer(facts: Facts, name: str) -> Buffer:
    return next(b for b in facts.kernel.reads if b.name == name)


@mutation("an array is read in place of another of the same shape")
def wrong_array(stmt: Stmt, facts: Facts) -> Body | None:
    if not isinstance(stmt, Load):
        return None
    own = _buffer(facts, stmt.buffer)
    alike = [b for b in facts.kernel.reads if b.name != own.name and (b.dims, b.dtype) == (own.dims, own.dtype)]
    return (replace(stmt, buffer=alike[0].name),) if alike else None
