"""Folds written as statements: the loops that pass over an axis, their accumulators, contractions on the
matrix unit.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from napkin_eq.lang.axis import Axis, minor
from napkin_eq.lang.dtypes import BY_SHORT, TYPES
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.operators import ABSENT, COMBINE, NEUTRAL, PLACES, VALUES
from napkin_eq.lang.term import Const, Fold, Input, Map, Online, Proj, Read, Reduce, Store, Term, factors, renamed
from napkin_eq.laws.law import absent, finite, zero
from napkin_eq.tile import ir as p
from napkin_eq.tile.lower.builder import AccKey, Context, Env, Scope, restricted
from napkin_eq.tile.lower.elementwise import Arithmetic, Proved, far
from napkin_eq.tile.lower.loop_bounds import Stretch, stretches
from napkin_eq.tile.resources import short_rows
from napkin_eq.tile.stream_facts import (
    RUN,
    Streamed,
    columns,
    covers,
    depth_along,
    dot_factors,
    fold_key,
    kernel_terms,
    laned,
    plain,
)

# Operands of contractions that are computed are rounded to the storage type; other precisions keep them in f32.
NARROW = "narrow"
# Types of two bytes, whose products float32 holds
EXACT = {kind.short for kind in TYPES if kind.storage and kind.bytes == 2}


class Folds(Arithmetic):
    """Writes folds: those that the term marks as fused share the pass of their axis and depth.

    storage: the type that operands of contractions are rounded to. precision: of contractions, NARROW or of
    MATRIX_ROUNDOFF in ir.py.
    """

    def __init__(
        self, tiles: Mapping[str, int], ranks: Mapping[str, int], proved: Proved, storage: str, precision: str
    ) -> None:
        super().__init__(tiles, ranks, proved)
        self.storage, self.precision = storage, precision
        self.passes: dict[Any, dict[AccKey, Term]] = {}
        self.merged: dict[str, str] = {}
        self.writing: set[AccKey] = set()  # the folds whose passes are being written

    @abstractmethod
    def buffer(self, array: Term) -> p.Buffer:
        """Return the array that holds an input, or the value of another kernel."""

    def whole(self, axis: Axis) -> bool:
        """Whether one tile of the folds over an axis holds it."""
        return covers(self.fold_tile(axis), axis)

    def _fold_coord(self, axis: Axis) -> str:
        tile = self.fold_tile(axis)
        known = self.coords.get(axis.name)
        if known is not None and known.role == "whole" and known.tile == tile:
            return axis.name
        return self.coordinate(f"{axis.name}__w", axis, tile, "whole")

    def fold(self, term: Term, context: Context) -> p.Operand:
        """Return the value of a fold, its pass written first unless it is there or its axis is held by one tile."""
        mode = context.mode(term.axis)
        if mode is not None:
            key = self.acc_key(term, context)
            scope = next((s for s in reversed(self.stack) if key in s.new or key in s.old), None)
            if scope is None or key not in (scope.new if mode == "new" else scope.old):
                raise NapkinError(
                    f"a running value of a fold along {term.axis.name} is wanted in a pass that does not compute it"
                )
            return (scope.new if mode == "new" else scope.old)[key]
        if self.whole(term.axis):
            coord = self._fold_coord(term.axis)
            return self._element(term, context.at(term.axis, coord), coord, None)
        if isinstance(term, Reduce):
            raise NapkinError(
                f"a reduction over {term.axis.name} ({term.axis.size or 'symbolic'} elements) was not streamed and does"
                f" not fit in a tile of {self.fold_tile(term.axis)}"
            )
        if (done := self.operand_of_fold(term, context)) is not None:
            return done
        key = self.acc_key(term, context)
        if key in self.writing:
            raise NapkinError(
                f"a fold along {term.axis.name} needs what the pass gives that it is part of: there is no such loop"
            )
        folds = {**self.passes.get(self.pass_key(term, context), {}), key: term}
        fresh = folds.keys() - self.writing
        self.writing |= fresh
        self._pass(folds, context)
        self.writing -= fresh
        found = self.operand_of_fold(term, context)
        assert found is not None
        return found

    def operand_of_fold(self, term: Term, context: Context) -> p.Operand | None:
        """Return the accumulator of a fold whose pass is already written, else None."""
        key = self.acc_key(term, context)
        return next((s.memo[key] for s in reversed(self.stack) if key in s.memo), None)

    def acc_key(self, term: Term, context: Context) -> AccKey:
        """Identify an accumulator: what is folded, at which coordinates."""
        return fold_key(term), restricted(context.env, term)

    def _loops(self, term: Term, context: Context) -> tuple[tuple[str, str], ...]:
        names = {a.name for a in term.axes}
        return tuple((a, c) for a, c in context.env if a in names and self.coords[c].role in ("stream", "walk"))

    def pass_key(self, term: Term, context: Context) -> tuple[Any, ...]:
        which = depth_along(term, term.axis) if term.fused else term
        return (term.axis.name, which, term.where, restricted(context.env, term.where), self._loops(term, context))

    def gather(self, term: Term, context: Context, seen: set[Any]) -> None:
        """Find, before anything is written, which folds share which pass."""
        names = {a.name for a in term.axes}
        key = (term, tuple(e for e in context.env if e[0] in names))
        if key in seen or isinstance(term, (Store, Proj, Input, Read)):
            return
        seen.add(key)
        if isinstance(term, Streamed):
            whole = self.whole(term.axis)
            tile = self.fold_tile(term.axis)
            coord = (
                self._fold_coord(term.axis)
                if whole
                else self.coordinate(f"{term.axis.name}__s", term.axis, tile, "stream")
            )
            inner = context.at(term.axis, coord)
            for child in (term.body, term.where):
                self.gather(child, inner, seen)
            if not whole and not isinstance(term, Reduce):
                self.passes.setdefault(self.pass_key(term, context), {}).setdefault(self.acc_key(term, context), term)
            return
        for child in term.children:
            self.gather(child, context, seen)

    def _pass(self, folds: dict[AccKey, Term], context: Context) -> None:
        first = next(iter(folds.values()))
        axis, where = first.axis, first.where
        folds = dict(sorted(with_references(folds, axis).items(), key=lambda f: f[1].depth))
        home = max(
            (
                self.level(c)
                for (_, env), _ in folds.items()
                for _, c in env
                if self.coords[c].role in ("stream", "walk")
            ),
            default=0,
        )
        saved, self.stack = self.stack, self.stack[: home + 1]
        coord = self.coordinate(f"{axis.name}__s", axis, self.fold_tile(axis), "stream")
        if any(scope.coord == coord for scope in self.stack):
            raise NapkinError(
                f"a running value is folded along {axis.name} inside of a pass over {axis.name}: there is no such loop"
            )
        context = replace(context, running=(), acc="")
        around = self.lanes.pop(coord, None)  # a pass over the same axis that needs this one first
        lane = self._laned(coord, where, folds)
        carried: dict[AccKey, tuple[Term, p.Value]] = {}
        for key, fold in folds.items():
            coords = [c for _, c in key[1] if self.coords[c].tile > 1] + lane
            monoid = "sum" if isinstance(fold, Online) else fold.monoid
            held = "i32" if fold.kind == "int" else "f32"
            carried[key] = fold, self.fresh(f"{monoid}_{axis.name}", tuple(sorted(coords, key=self.rank)), held, home)
        parts = tuple(
            self._part(stretch, carried, coord, axis, context)
            for stretch in stretches(self, where, axis, coord, context)
        )
        start = tuple(
            (v, 0 if f.kind == "int" else NEUTRAL["sum" if isinstance(f, Online) else f.monoid])
            for f, v in carried.values()
        )
        self.stack[home].stmts.append(p.Loop(coord, start, parts))
        self.stack[home].memo.update(
            self._merged(carried, coord, axis, context)
            if lane
            else {key: value.name for key, (_, value) in carried.items()}
        )
        self.lanes = {name: cut for name, cut in {**self.lanes, coord: around}.items() if cut}
        self.stack = saved

    def _laned(self, coord: str, where: Term, folds: Mapping[AccKey, Term]) -> list[str]:
        """Cut the blocks of a stream into lanes, if that is worth it, and return the coordinate of the lanes.

        Threads then fold lanes of their own and meet once, after the last block, not in each: that is worth it where a
        fold's result is one number a block of the grid, which all of the threads would have to agree on, and where
        there is one for each of neighbours in memory, along which few of the threads lie.
        """
        c = self.coords[coord]
        if any(self.coords[name].tile > 1 for _, env in folds for _, name in env):
            if not all(columns(c.tile, fold) and self._columns(fold, env) for (_, env), fold in folds.items()):
                return []
        elif where != Const(True) or not laned(c.tile, c.axis):
            return []
        if any(fold.kind == "int" for fold in folds.values()):
            return []  # the lanes' places would have to meet with their values
        lane = self.coordinate(f"{c.axis.name}__l", c.axis, c.tile // RUN, "lane")
        self.lanes[coord] = lane, self.coordinate(f"{c.axis.name}__r", c.axis, RUN, "run")
        return [lane]

    def _columns(self, fold: Term, env: Env) -> bool:
        """Tell whether threads lie along another axis than a fold's: the last one of all that it reads along its own,
        and the only one of which a block has several.
        """
        wide = [axis for axis, name in env if self.coords[name].tile > 1]
        leaves = [t for t in kernel_terms(fold) if isinstance(t, (Input, Store, Proj)) and fold.axis in t.axes]
        held = [self.buffer(leaf) for leaf in leaves]
        return bool(held) and all([b.dims[minor(b.dims)].name] == wide and not short_rows(b) for b in held)

    def of_lane(self, elements: p.Operand, coord: str) -> p.Operand:
        """Return how many of the first elements of a stream, whole blocks of them, one lane takes."""
        return self.emit("floordiv", (elements, self.coords[self.lanes[coord][0]].tile), "i32")

    def _merged(
        self, carried: Mapping[AccKey, tuple[Term, p.Value]], coord: str, axis: Axis, context: Context
    ) -> dict[AccKey, p.Operand]:
        """Fold the lanes' accumulators after the last block.

        Each lane has folded elements of its own, in whatever order: a sum relative to the references of these is
        updated to those of all elements, as it is in a stream that goes on from the lane's elements to all others in
        one block.
        """
        lane = self.lanes[coord][0]
        scope = Scope(len(self.stack), old={key: value.name for key, (_, value) in carried.items()})
        self.stack.append(scope)
        self.merged[axis.name] = coord
        for key, (fold, value) in carried.items():
            monoid, arg = "sum" if isinstance(fold, Online) else fold.monoid, value.name
            if isinstance(fold, Online):
                here = replace(context.within(key[1]).set_mode(axis, "new"), acc=value.name)
                arg = self.as_value(self.operand(fold.update, here))
            scope.new[key] = self._reduced(monoid, lane, arg)
        del self.merged[axis.name]
        self.stack.pop()
        return dict(scope.new)

    def _reduced(self, monoid: str, coord: str, arg: str) -> str:
        coords = tuple(c for c in self.values[arg].coords if c != coord)
        held = "i32" if monoid in PLACES else "f32"
        return self.put(lambda v: p.ReduceTile(v, monoid, coord, arg), ("reduce", monoid, coord), coords, held, (arg,))

    def _part(
        self, stretch: Stretch, carried: Mapping[AccKey, tuple[Term, p.Value]], coord: str, axis: Axis, context: Context
    ) -> p.Part:
        env = context.at(axis, coord).env
        known = frozenset((mask, restricted(env, mask)) for mask in stretch.known)
        scope = Scope(len(self.stack), coord, known=known, whole_tiles=stretch.whole_tiles)
        self.stack.append(scope)
        scope.old = {key: v.name for key, (_, v) in carried.items()}
        # Inside the loop an accumulator is a different value in every block: nothing made from it may be hoisted.
        self.level_of.update({v.name: scope.level for _, v in carried.values()})
        for key, (fold, value) in carried.items():
            here = context.within(key[1]).at(axis, coord)
            if isinstance(fold, Online):
                here = replace(here.set_mode(axis, "new"), acc=value.name)
            before = scope.old[_values_key(key)] if fold.kind == "int" else None
            scope.new[key] = self.as_value(self._element(fold, here, coord, value.name, before), value.dtype)
        for key, (_, value) in carried.items():
            scope.stmts.append(p.Assign(value.name, scope.new[key]))
        self.stack.pop()
        self.level_of.update({v.name: scope.level - 1 for _, v in carried.values()})
        everywhere = not stretch.known - {Const(True)} and not (stretch.whole_tiles and self.coords[coord].ragged)
        return p.Part(stretch.lo, stretch.hi, tuple(scope.stmts), stretch.note, general=everywhere)

    def _element(
        self, fold: Term, context: Context, coord: str, acc: str | None, largest: str | None = None
    ) -> p.Operand:
        """Fold one block into an accumulator, or a whole axis when there is none; of a fold to a place, `largest` is
        the value that stands there.
        """
        monoid = "sum" if isinstance(fold, Online) else fold.monoid
        start: p.Operand | None = acc
        if isinstance(fold, Online) and acc is not None:
            if self.proved(finite(plain(fold.body))):
                self.present.add(acc)
            start = self.operand(fold.update, context)
        if monoid == "sum" and (dot := self._dot(fold, context, coord, start)) is not None:
            return dot
        body = self.wide(self.operand(fold.body, context))
        body = self._outside(fold, body, context, monoid)
        if monoid != "sum" or not self._zero_padded(fold.body, context, coord):
            body = self.masked(body, coord, NEUTRAL[monoid])
        along = self.lanes[coord][1] if coord in self.lanes else coord
        if self.coords[coord].tile > 1 and (not isinstance(body, str) or along not in self.values[body].coords):
            body = self.spread(body, coord, monoid)
        if monoid in PLACES:
            return self._place(monoid, body, coord, acc, largest)
        block = self.block_of(monoid, fold.body, body, coord, along)
        return block if start is None else self.combined(monoid, fold.body, start, block)

    def _place(self, monoid: str, body: p.Operand, coord: str, acc: str | None, before: str | None) -> p.Operand:
        """Return the place of a block's largest value; with an accumulator, of two places the one whose value is
        larger, of equal values the first.
        """
        wide = self.coords[coord].tile > 1
        at = (
            self.emit("add", (self._reduced(monoid, coord, self.as_value(body)), self.start(coord)), "i32")
            if wide
            else self.start(coord)
        )
        if wide and self.valid(coord):  # of numbers that are none a lane past the end may be the largest
            size = self.size(self.coords[coord].axis)
            last = size - 1 if isinstance(size, int) else self.emit("add", (size, -1), "i32")
            at = self.emit("min", (at, last), "i32")
        if acc is None or before is None:
            return at
        value = self._reduced(VALUES[monoid], coord, self.as_value(body)) if wide else body
        earlier = self.emit("and", (self.emit("eq", (before, value), "i1"), self.emit("lt", (at, acc), "i1")), "i1")
        return self.emit(
            "where", (self.emit("or", (self.emit("lt", (before, value), "i1"), earlier), "i1"), at, acc), "i32"
        )

    def block_of(self, monoid: str, term: Term, body: p.Operand, coord: str, along: str) -> p.Operand:
        """Fold a block of a term's values along a coordinate, or the runs of its lanes; a product is absent where one
        of them is.
        """
        if not isinstance(body, str) or self.coords[coord].tile == 1:
            return body
        block = self._reduced(monoid, along, body)
        if monoid != "prod" or self.proved(finite(plain(term))):
            return block
        gone = self.as_value(self.emit("where", (self.emit("eq", (body, ABSENT), "i1"), 1.0, 0.0), "f32"))
        return self.emit(
            "where", (self.emit("lt", (0.0, self._reduced("max", along, gone)), "i1"), ABSENT, block), "f32"
        )

    def combined(self, monoid: str, term: Term, before: p.Operand, block: p.Operand) -> p.Operand:
        """Combine what blocks of a term's values come to."""
        if monoid == "prod" and not self.proved(finite(plain(term))):
            return self.times(before, block)
        return self.emit(COMBINE[monoid], (before, block), "f32")

    def _outside(self, fold: Term, body: p.Operand, context: Context, monoid: str) -> p.Operand:
        """Mask a body outside the lanes that its fold takes, unless it is proved to be neutral there."""
        if fold.where == Const(True) or self.settled(fold.where, context):
            return body
        neutral = (
            absent(fold.where, plain(fold.body)) if VALUES[monoid] == "max" else zero(fold.where, plain(fold.body))
        )
        if monoid != "prod" and self.proved(neutral):
            return body
        return self.emit("where", (self.operand(fold.where, context), body, NEUTRAL[monoid]), "f32")

    def _zero_padded(self, term: Term, context: Context, coord: str) -> bool:
        """Whether lanes past the end of a coordinate are 0: every factor is a load, of present values, and one of them
        along it.
        """
        parts = factors(term)
        loads = all(isinstance(renamed(f), (Input, Store, Proj)) for f in parts)
        along = any(context.coord(axis) == coord for f in parts for axis in f.axes)
        return loads and along and all(self.proved(finite(plain(f))) for f in parts)

    def _dot(self, fold: Term, context: Context, coord: str, start: p.Operand | None) -> p.Operand | None:
        body = self.resolved(fold.body, context)
        if isinstance(body, Map) and body.op == "mul":
            body = Map("mul", (self.resolved(body.args[0], context), self.resolved(body.args[1], context)))
        factors = dot_factors(body, {a: self.coords[c].tile for a, c in context.env}, fold.axis.name)
        if factors is None or not all(self._sure(finite, factor, context) for factor in factors):
            return None  # the matrix unit would make of an absent value what IEEE arithmetic makes of -inf
        clear = (
            fold.where == Const(True)
            or self.settled(fold.where, context)
            or self.proved(zero(fold.where, plain(fold.body)))
        )
        to_mask = None if clear else next((f for f in factors if not self._stored(f)), factors[0])
        sides = []
        for factor in factors:
            value = self.operand(factor, context)
            if factor is to_mask:
                value = self.emit("where", (self.operand(fold.where, context), self.wide(value), 0.0), "f32")
            if self.valid(coord) and not self._zero_padded(factor, context, coord):
                value = self.masked(self.wide(value), coord, 0.0)
            sides.append(self.as_value(value))
        wide = self.precision != NARROW and any(self.values[s].dtype == "f32" for s in sides)
        kinds = {BY_SHORT[self.values[s].dtype].multiplied or self.values[s].dtype for s in sides}
        if len(kinds) == 1 and kinds <= EXACT:
            (kind,) = kinds  # whatever the storage type is, the unit's products of these are those of f32
        else:
            kind = "f32" if wide else BY_SHORT[self.storage].multiplied or self.storage
        left, right = (self.as_value(self.cast(s, kind)) for s in sides)
        coords = [c for s in (left, right) for c in self.values[s].coords if c != coord]
        acc = start if isinstance(start, str) else None
        args = (left, right) if acc is None else (left, right, acc)
        precision = self.precision if wide else "ieee"
        if not wide and self.values[left].dtype == "f32":
            # As exact as f32's own products, and faster on the unit; its tf32 takes operands along the fold alone.
            precision = "tf32x3" if all(self._lies_along(s, coord) for s in (left, right)) else "bf16x6"
        if p.PRECISIONS[precision].parts > 1 and any(far(plain(f), p.IN_PARTS, data=False) for f in factors):
            precision = "ieee"
        return self.put(
            lambda v: p.Dot(v, left, right, coord, acc, precision=precision), ("dot", coord), coords, "f32", args
        )

    def _lies_along(self, side: str, coord: str) -> bool:
        """Whether a value is loaded, neighbours in memory along a coordinate."""
        loads = (s for scope in self.stack for s in scope.stmts if isinstance(s, p.Load) and s.out.name == side)
        last = next((load.index[-1] for load in loads), None)
        return isinstance(last, str) and coord in self.values[last].coords

    def _stored(self, factor: Term) -> bool:
        return isinstance(factor, (Input, Store, Proj, Read))


def with_references(folds: Mapping[AccKey, Term], axis: Axis) -> dict[AccKey, Term]:
    """Add to the folds of a pass the running references of its carried sums and the values of its places, each once, at
    the same coordinates. A reference under a fold over another axis has that one's coordinates, and is gathered there.
    """
    found: dict[AccKey, Term] = {}
    for key, fold in folds.items():
        if isinstance(fold, Online):
            known = {name for name, _ in key[1]}
            for part in kernel_terms(fold)[:-1]:
                if isinstance(part, Streamed) and part.axis.name == axis.name and known >= {a.name for a in part.axes}:
                    found.setdefault((fold_key(part), restricted(key[1], part)), part)
        if fold.kind == "int":
            found.setdefault(_values_key(key), Fold(VALUES[fold.monoid], fold.axis, fold.body, fold.where, fold.fused))
        found.setdefault(key, fold)
    return found


def _values_key(key: AccKey) -> AccKey:
    """Return the key of the accumulator that holds the values whose places another holds."""
    (monoid, *rest), env = key
    return (VALUES[monoid], *rest), env
