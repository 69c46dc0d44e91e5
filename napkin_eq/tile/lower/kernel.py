"""From a term and its tiles to the plan it says: reads Store, Group, Walk, Fold and Online nodes off a term.

What it decides itself: whether the matrix unit takes a contraction, the order of the grid, what is folded lane by lane,
the parts of loops.

A value lands in the outermost block of statements where all it depends on is known, once (builder.py). A fold's pass
over an axis is a Loop; folds that the term marks as fused share the pass of their axis and depth (reductions.py). A
coordinate whose tile covers its axis needs no loop: its folds are tile reductions. What a tile size can change is only
that, never what is computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.dtypes import BY_SHORT, DEFAULT, WHOLE, computed_as, held_as
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.interval import wide
from napkin_eq.lang.operators import ABSENT, NEUTRAL, RECURRENCE
from napkin_eq.lang.scope import steps
from napkin_eq.lang.term import (
    Acc,
    Const,
    Fold,
    Group,
    Index,
    Input,
    Length,
    Map,
    Online,
    Prev,
    Proj,
    Read,
    Recur,
    Reduce,
    Scan,
    Size,
    Store,
    Term,
    Tuple,
    Walk,
    same_size,
    subterms,
)
from napkin_eq.laws.law import finite
from napkin_eq.tile import ir as p
from napkin_eq.tile.lower.builder import Context, Scope, restricted
from napkin_eq.tile.lower.elementwise import Proved
from napkin_eq.tile.lower.reductions import NARROW, Folds
from napkin_eq.tile.passes.dead_statements import live
from napkin_eq.tile.passes.fuse_accumulator import accumulated
from napkin_eq.tile.passes.whole_blocks import edged
from napkin_eq.tile.places import conjuncts, lies_inside, numbered, read_places, telling, unsure
from napkin_eq.tile.stream_facts import (
    axis_ranks,
    covers,
    modes_of,
    plain,
    reduces_over,
)

LOOPED = ("walk", "stream")  # the roles of coordinates that a loop takes block by block


class Lowering(Folds):
    """Lower one kernel: the term under one Store, with a tile size for every coordinate.

    targets: the buffer of each value that the Store holds, one or those of a Tuple. tiles maps an axis name to its
    output tile and "~name" to its folds' tile. arrays maps inner Stores, or the Proj of one, to their buffers.
    precision: of contractions, NARROW or of MATRIX_ROUNDOFF in ir.py, which then holds for every operand that is not of
    16 bits as it is read. Raises NapkinError where an unstreamed reduction does not fit in one tile, or several blocks
    would store one value.
    """

    def __init__(
        self,
        name: str,
        store: Store,
        targets: Sequence[p.Buffer],
        tiles: Mapping[str, int],
        arrays: Mapping[Term, p.Buffer],
        storage: str,
        proved: Proved,
        precision: str = NARROW,
    ) -> None:
        super().__init__(tiles, axis_ranks(store, arrays), proved, storage, precision)
        self.name, self.targets, self.arrays = name, tuple(targets), arrays
        self.roles, body = modes_of(store)
        self.bodies = body.items if isinstance(body, Tuple) else (body,)
        self.axes = store.axes
        self.reads: dict[str, p.Buffer] = {}
        self.stored: set[str] = set()

    def kernel(self) -> p.Kernel:
        """Return the kernel."""
        env, walks = [], []
        for axis in self.axes:
            role = self.roles.get(axis.name, "")
            tile = self.tiles[axis.name]
            if covers(tile, axis):
                role = "whole"
            elif not role:
                raise NapkinError(
                    f"axis {axis.name} of the output is neither grouped nor walked, and a tile of {tile} does not"
                    " hold it"
                )
            elif role == "group" and any(axis not in body.axes for body in self.bodies):
                raise NapkinError(f"a value that does not vary along {axis.name} would be stored by each of its blocks")
            env.append((axis.name, self.coordinate(axis.name, axis, tile, role)))
            if role == "walk":
                walks.append(axis.name)
        context = Context(tuple(sorted(env)))
        for body in self.bodies:
            self.gather(body, context, set())
        self._walk(walks, context)
        order = sorted(self.coords.values(), key=lambda c: self.rank(c.name))
        # Blocks that share operands are neighbours; without a contraction those are whose elements lie side by side.
        dots = any(isinstance(stmt, p.Dot) for stmt in p.statements(self.stack[0].stmts))
        grouped = (c for c in order if c.role == "group")
        grid = tuple(c.name for c in sorted(grouped, key=lambda c: (dots and c.tile > 1, self.ranks[c.axis.name])))
        blocked = tuple(g for g in grid if self.coords[g].tile > 1)
        turned = len(blocked) == 2 and blocked == grid[-2:] and len(self.stack[0].stmts) > 1
        swizzle = (grid[-2], grid[-1], 8) if turned else None
        # A sum that is carried by steps refers to running values more than once, and what they are off by drops out if
        # that is the same.
        apart = any(steps(part) for body in self.bodies for part in subterms(body) if isinstance(part, Online))
        reads, body = tuple(self.reads.values()), tuple(self.stack[0].stmts)
        made = p.Kernel(self.name, reads, self.targets, tuple(order), grid, body, swizzle=swizzle, apart=apart)
        return edged(accumulated(live(made)))

    def _walk(self, walks: Sequence[str], context: Context) -> None:
        for body, target in zip(self.bodies, self.targets, strict=True):
            if target.name not in self.stored and not any(a.name in walks for a in body.axes):
                self._store(body, target, context)
        if not walks:
            return
        coord = dict(context.env)[walks[0]]
        axis = self.coords[coord].axis
        scope = Scope(len(self.stack), coord)
        self.stack.append(scope)
        self._walk(walks[1:], context)
        scope.stmts += [p.Assign(before.name, self.as_value(after)) for before, _, after in scope.carried]
        self.stack.pop()
        part = p.Part(0, self.size(axis), tuple(scope.stmts), "walk")
        start = tuple((before, neutral) for before, neutral, _ in scope.carried)
        self.stack[-1].stmts.append(p.Loop(coord, start, (part,)))

    def _store(self, body: Term, target: p.Buffer, context: Context) -> None:
        self.stored.add(target.name)
        value = self.as_value(self.operand(body, context), computed_as(body.kind, wide(body)))
        index = tuple(self.iota(context.coord(d)) for d in target.dims)
        masks = tuple(m for d in target.dims for m in self.valid(context.coord(d)))
        self.stack[-1].stmts.append(
            p.StoreTile(target.name, index, self.as_value(self.cast(value, target.dtype)), masks)
        )

    def operand(self, term: Term, context: Context) -> p.Operand:
        """Return the operand that holds a term's value in a context, writing what is needed."""
        if context.kept and not (isinstance(term, (Map, Read)) and unsure(term, context.moving)):
            context = replace(context, kept=())
        modes = tuple(r for r in context.running if reduces_over(term, r[0]))
        inner = {a.name for a in term.axes}
        env = tuple(e for e in context.env if e[0] in inner)
        key = ("term", term, env, modes, context.acc if modes else "", context.kept)
        for scope in reversed(self.stack):
            if key in scope.memo:
                return scope.memo[key]
        found = self._operand(term, context)
        level = max(
            [self.level(c) for _, c in env] + ([self.level_of[found]] if isinstance(found, str) else []), default=0
        )
        if modes:
            level = max(level, len(self.stack) - 1)
        self.stack[level].memo[key] = found
        return found

    def _operand(self, term: Term, context: Context) -> p.Operand:
        match term:
            case Const():
                return float(term.value) if term.kind == "real" else term.value
            case Input():
                buffer = self.buffer(term)
                return self._load(buffer, *self._indexed(buffer, {}, context))
            case Read():
                return self._read(term, context)
            case Store() | Proj():
                return self._load(self.arrays[term], *self._indexed(self.arrays[term], {}, context))
            case Index():
                return self.iota(context.coord(term.axis))
            case Size():
                return self._running_size(term.axis, context)
            case Length():
                return self.size(term.axis)
            case Map():
                found = self._read_where(term, context) if term.op == "where" else None
                return self.elementwise(term, context) if found is None else found
            case Fold() | Online() | Reduce():
                return self.fold(term, context)
            case Recur():
                return self._recurrence(term, context)
            case Scan():
                return self._scan(term, context)
            case Group() | Walk():
                return self.operand(term.body, context)
            case Prev():
                axis = next((a for a, mode in context.running if mode == "new"), "")
                if not axis:
                    raise NapkinError(
                        "what was before a block is wanted where no update is computed: of a stream outside of this one"
                    )
                return self.operand(
                    term.body,
                    replace(context, running=tuple((a, "old" if a == axis else m) for a, m in context.running)),
                )
            case Acc():
                if not context.acc:
                    raise NapkinError(
                        "an accumulator is wanted where no update is computed: that of a stream outside of this one"
                    )
                return context.acc
        raise NapkinError(f"{type(term).__name__} cannot be lowered here")

    def buffer(self, array: Term) -> p.Buffer:
        found = self.arrays.get(array)  # of another kernel; an input, as merged axes see it
        if found is not None:
            return found
        assert isinstance(array, Input)
        return p.Buffer(array.name, array.dims, held_as(array.dtype, self.storage))

    def _load(self, buffer: p.Buffer, index: Sequence[p.Operand], masks: Iterable[str]) -> p.Operand:
        self.reads.setdefault(buffer.name, buffer)
        masks = tuple(dict.fromkeys(masks))
        name = self.put(
            lambda v: p.Load(v, buffer.name, tuple(index), masks),
            ("load", buffer.name),
            self._spanned(index),
            buffer.dtype,
            (*index, *masks),
        )
        narrow = buffer.dtype in WHOLE and BY_SHORT[buffer.dtype].bytes < BY_SHORT[DEFAULT["int"]].bytes
        return self.cast(name, DEFAULT["int"]) if narrow else name

    def _indexed(
        self, buffer: p.Buffer, places: Mapping[str, Axis | p.Operand], context: Context
    ) -> tuple[list[p.Operand], list[str]]:
        """Return where an array is read along its axes, and the masks of lanes past the ends of those of the kernel.

        places: by the name of an axis the one of this kernel that it is read along, or a place; else its own.
        """
        index: list[p.Operand] = []
        masks: list[str] = []
        for dim in buffer.dims:
            place = places.get(dim.name, dim)
            if isinstance(place, Axis):
                coord = context.coord(place)
                index.append(self.iota(coord))
                masks += self.valid(coord)
            else:
                index.append(place)
        return index, masks

    def _spanned(self, index: Sequence[p.Operand]) -> list[str]:
        """Return the coordinates that places vary along."""
        return [coord for place in index if isinstance(place, str) for coord in self.values[place].coords]

    def _read_where(self, term: Map, context: Context) -> p.Operand | None:
        """Return what is read where a mask holds and 0 elsewhere, as one load; None of another choice, or where the
        mask does not say that all places are inside the array.
        """
        mask, read, other = term.args
        if not isinstance(read, Read) or other != Const(0.0) or self.resolved(term, context) is not term:
            return None
        held = self.operand(mask, context)
        return self._read_kept(read, context, (*context.kept, (mask, held))) if isinstance(held, str) else None

    def _read(self, term: Read, context: Context) -> p.Operand:
        """Return what is read of an array: where it is wanted, if no place there lies outside; else at any lane, places
        outside taken to the nearest inside.
        """
        own = telling(tuple(mask for mask, _ in context.kept), term, context.moving)
        found = self._read_kept(term, context, tuple(k for k in context.kept if k[0] in own)) if own else None
        found = self._read_kept(term, context, ()) if found is None else found
        assert found is not None
        return found

    def _read_kept(self, term: Read, context: Context, kept: tuple[tuple[Term, str], ...]) -> p.Operand | None:
        """Return what is read of an array, places outside of it taken to the nearest inside.

        kept: masks, each with its value, outside of which nothing is read; None is returned where a place may still lie
        outside of the array, or a mask varies along what the places do not.
        """
        # No mask that holds in a part of a loop: what is read may be read before the loop.
        running = context.moving
        known = [numbered(mask, running) for whole, _ in kept for mask in conjuncts(whole)]
        # Where the array is read along each axis: at a coordinate of this kernel, or at one that an index says.
        places: dict[str, Axis | p.Operand] = {}
        masks = [value for _, value in kept]
        body: Term = term
        while isinstance(body, Read):
            body = body.body
        for axis, said in read_places(term):
            index = numbered(said, running)
            if isinstance(index, Index) and same_size(index.axis, axis):
                places[axis.name] = index.axis
                continue
            place = self.operand(index, context)
            narrow = not isinstance(place, str) or self.values[place].dtype == "i32"
            if narrow and lies_inside(index, axis, known):
                # Lanes past the end of an axis of the kernel lie anywhere.
                spanned = self.values[place].coords if isinstance(place, str) else ()
                masks += [mask for coord in spanned for mask in self.valid(coord)]
            elif kept:
                return None
            else:
                last = self.emit("add", (self.size(axis), -1), "i32")
                place = self.integers("min", (self.integers("max", (place, 0)), last))
            places[axis.name] = self.cast(place, "i32")
        if isinstance(body, Input) or body in self.arrays:
            buffer = self.buffer(body)
            lanes, ends = self._indexed(buffer, places, context)
            if not {c for _, value in kept for c in self.values[value].coords} <= {*self._spanned(lanes)}:
                return None
            return self._load(buffer, lanes, (*masks, *ends))
        raise NapkinError(f"a read along {term.axis.name} of a value that is not stored: store it first")

    def _running_size(self, axis: Axis, context: Context) -> p.Operand:
        mode = context.mode(axis)
        if mode is None:
            return self.size(axis)
        if axis.name in self.merged:
            return self.size(axis) if mode == "new" else self.of_lane(self.size(axis), self.merged[axis.name])
        scope = next(
            s for s in reversed(self.stack) if s.coord is not None and self.coords[s.coord].axis.name == axis.name
        )
        assert scope.coord is not None
        begin, tile = self.start(scope.coord), self.coords[scope.coord].tile
        if scope.coord in self.lanes:
            return self.of_lane(begin if mode == "old" else self.emit("add", (begin, tile), "i32"), scope.coord)
        return (
            begin
            if mode == "old"
            else self.emit("min", (self.emit("add", (begin, tile), "i32"), self.size(axis)), "i32")
        )

    def _scan(self, term: Scan, context: Context) -> p.Operand:
        coord = context.coord(term.axis)
        assert coord is not None
        if self.coords[coord].role not in ("whole", "walk"):
            raise NapkinError(
                f"a scan over {term.axis.name} needs it walked or in one tile, and a tile of {self.coords[coord].tile}"
                " does not cover it"
            )
        arg = self.masked(self.wide(self.operand(term.body, context)), coord, NEUTRAL[term.monoid])
        if not isinstance(arg, str) or coord not in self.values[arg].coords:
            arg = self.spread(arg, coord, term.monoid)
        arg = self.as_value(arg)
        block: p.Operand = arg
        if self.coords[coord].tile > 1:
            block = self._scanned(term.monoid, coord, arg)
            if term.monoid == "prod" and not self.proved(finite(plain(term.body))):
                gone = self.as_value(self.emit("where", (self.emit("eq", (arg, ABSENT), "i1"), 1.0, 0.0), "f32"))
                block = self.emit(
                    "where", (self.emit("lt", (0.0, self._scanned("max", coord, gone)), "i1"), ABSENT, block), "f32"
                )
        return block if self.coords[coord].role == "whole" else self._carried(term, context, coord, arg, block)

    def _recurrence(self, term: Recur, context: Context) -> p.Operand:
        """Write a linear recurrence: of a block by composing its lanes, from block to block by what the walk carries of
        the last lane.

        A lane whose gain or addend is absent, and all after it, are absent, which arithmetic on -inf would not make of
        them.
        """
        coord = context.coord(term.axis)
        assert coord is not None
        c = self.coords[coord]
        if c.role not in ("whole", "walk"):
            raise NapkinError(
                f"a recurrence over {term.axis.name} needs it walked or in one tile, and a tile of {c.tile} does not"
                " cover it"
            )
        gain, part = (
            self.masked(self.wide(self.operand(side, context)), coord, neutral)
            for side, neutral in ((term.gain, 1.0), (term.body, 0.0))
        )
        present = all(self.proved(finite(plain(side))) for side in (term.gain, term.body))
        if c.tile == 1:
            return self._recurring(term, context, coord, gain, part, present)
        if not any(isinstance(side, str) and coord in self.values[side].coords for side in (gain, part)):
            part = self.spread(part, coord, "sum")
        gain, part, gone = self.as_value(gain), self.as_value(part), ""
        if not present:
            absent = self.emit(
                "or", (self.emit("eq", (gain, ABSENT), "i1"), self.emit("eq", (part, ABSENT), "i1")), "i1"
            )
            if not isinstance(absent, str) or coord not in self.values[absent].coords:
                raise NapkinError(f"a recurrence over {term.axis.name} of what does not vary along it")
            gone = self._scanned("max", coord, self.as_value(self.emit("where", (absent, 1.0, 0.0), "f32")))
            gain, part = (self.as_value(self.emit("where", (absent, 0.0, side), "f32")) for side in (gain, part))
        spans = (*self.values[gain].coords, *self.values[part].coords)
        block: p.Operand = self.put(
            lambda v: p.ScanTile(v, RECURRENCE, coord, part, gain),
            ("scan", RECURRENCE, coord),
            spans,
            "f32",
            (part, gain),
        )
        if gone:
            block = self.emit("where", (self.emit("lt", (0.0, gone), "i1"), ABSENT, block), "f32")
        if c.role == "whole":
            return block
        through = gain if coord in self.values[gain].coords else self.spread(gain, coord, "prod")
        return self._recurring(
            term, context, coord, self._scanned("prod", coord, self.as_value(through)), block, present
        )

    def _recurring(
        self, term: Recur, context: Context, coord: str, gain: p.Operand, part: p.Operand, present: bool
    ) -> p.Operand:
        """Return a block of a recurrence: `gain` times what the walk carries, and `part`."""
        scope = next((s for s in self.stack if s.coord == coord), None)
        if scope is None:  # an axis of one element
            return part if present else self.emit("where", (self.emit("eq", (gain, ABSENT), "i1"), ABSENT, part), "f32")
        key = ("carried", RECURRENCE, term.gain, term.body, restricted(context.env, term))
        if key not in scope.memo:
            sides = [side for side in (gain, part) if isinstance(side, str)]
            coords = tuple(sorted({n for side in sides for n in self.values[side].coords if n != coord}, key=self.rank))
            if any(
                self.coords[n].role in LOOPED and self.level(n) > scope.level for _, n in restricted(context.env, term)
            ):
                raise NapkinError(
                    f"a recurrence over {term.axis.name} carries a value for each block of an axis that is walked"
                    " within it"
                )
            before = self.fresh(f"state_{term.axis.name}", coords, "f32", scope.level)
            found = self.emit("add", (self.emit("mul", (gain, before.name), "f32"), part), "f32")
            if not present:
                gone = self.emit(
                    "or", (self.emit("eq", (before.name, ABSENT), "i1"), self.emit("eq", (part, ABSENT), "i1")), "i1"
                )
                if self.coords[coord].tile == 1:
                    gone = self.emit("or", (gone, self.emit("eq", (gain, ABSENT), "i1")), "i1")
                found = self.emit("where", (gone, ABSENT, found), "f32")
            scope.memo[key] = found
            scope.carried.append((before, 0.0, self._last(found, coord)))
        return scope.memo[key]

    def _last(self, value: p.Operand, coord: str) -> p.Operand:
        """Return the last lane of a block: those past the end of the axis hold what the last one inside does."""
        tile = self.coords[coord].tile
        if tile == 1:
            return value
        last = self.emit("eq", (self.iota(coord), self.emit("add", (self.start(coord), tile - 1), "i32")), "i1")
        return self._reduced("sum", coord, self.as_value(self.emit("where", (last, value, 0.0), "f32")))

    def _scanned(self, monoid: str, coord: str, arg: str) -> str:
        return self.put(
            lambda v: p.ScanTile(v, monoid, coord, arg), ("scan", monoid, coord), self.values[arg].coords, "f32", (arg,)
        )

    def _carried(self, term: Scan, context: Context, coord: str, arg: str, block: p.Operand) -> p.Operand:
        """Combine the scan of a block with what all blocks before it give, which the walk carries."""
        scope = next(s for s in self.stack if s.coord == coord)
        key = ("carried", term.monoid, term.body, restricted(context.env, term))
        if key not in scope.memo:
            coords = tuple(c for c in self.values[arg].coords if c != coord)
            if any(
                self.coords[c].role in LOOPED and self.level(c) > scope.level for _, c in restricted(context.env, term)
            ):
                raise NapkinError(
                    f"a scan over {term.axis.name} carries a value for each block of an axis that is walked within it"
                )
            before = self.fresh(f"{term.monoid}_{term.axis.name}", coords, "f32", scope.level)
            scope.memo[key] = before.name
            whole = self.block_of(term.monoid, term.body, arg, coord, coord)
            scope.carried.append(
                (before, NEUTRAL[term.monoid], self.combined(term.monoid, term.body, before.name, whole))
            )
        return self.combined(term.monoid, term.body, scope.memo[key], block)
