"""Questions about the loops of a kernel: which blocks are walked, and whether each is folded once.

A loop takes one turn a block. What an accumulator gains in a turn is of the block at hand, or, where it comes of an
accumulator that spans the loop's own coordinate (an operand that waits), of the block of the turn before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.term import Const, Term
from napkin_eq.tile.ir import (
    Assign,
    Defining,
    Dot,
    Kernel,
    Let,
    Load,
    Loop,
    Operand,
    Part,
    ReduceTile,
    Stmt,
    closure,
    definitions,
    statements,
    used,
)
from napkin_eq.verify.index.smt_coordinates import NotRead, Script, Site, Text, conjunction


@dataclass(frozen=True, slots=True)
class Folded:
    """A fold of a kernel: the mask of the lanes that it takes, those without any one of which its body is what it is
    neutral to, its monoid, and the arrays that it reads.
    """

    where: Term
    chosen: tuple[Term, ...]
    monoid: str
    reads: frozenset[str]


@dataclass(slots=True)
class Masks:
    """The folds of a kernel by axis, and the axes of arrays that are read at computed indices."""

    folds: dict[str, list[Folded]] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)

    def of(self, axis: Axis, value: Iterable[Operand], monoid: str, defs: Mapping[str, Defining]) -> list[Folded]:
        """Return the folds that may be of a value, one for each choice of masks: those by a monoid, if it is known,
        that read all of the arrays that the value is made of, first those that read no others.
        """
        found = self.folds.get(axis.name, [])
        known = frozenset[str]().union(*(fold.reads for fold in found))
        reads = {s.buffer for s in closure(defs, value).values() if isinstance(s, Load)} & known
        found = [fold for fold in found if monoid == fold.monoid] or found
        found = [fold for fold in found if reads <= fold.reads] or found
        found = [fold for fold in found if reads == fold.reads] or found
        return list({(fold.where, fold.chosen): fold for fold in found}.values())


def parts(kernel: Kernel, site: Site) -> Iterator[Text]:
    """No block is folded twice, and each is a block of the axis."""
    loop = _loop(site)
    tile = kernel.coord(loop.coord).tile
    for chosen in dict.fromkeys(counted(loop)):
        for number, at in enumerate(chosen):
            script = Script(kernel)
            part = loop.parts[at]
            low, high = script.range(part, tile, site)
            some = f"(< {low} {high})" if not part.once else "true"
            wrong = [f"(and {some} (not (and (<= 0 {low}) (= (mod {low} {tile}) 0))))"]
            block = script.declare("block")
            for other in chosen[:number]:
                begin, end = script.range(loop.parts[other], tile, site)
                wrong.append(
                    f"(and (<= {low} (* {tile} {block})) (< (* {tile} {block}) {high}) (<= {begin} (* {tile} {block}))"
                    f" (< (* {tile} {block}) {end}))"
                )
            yield script.asks(f"(or {' '.join(wrong)} false)")


def counted(loop: Loop) -> list[tuple[int, ...]]:
    """Return for each kind of accumulator the parts whose blocks it folds: those at hand, or those that an operand is
    kept of.
    """
    held = held_by(loop)
    keeping = tuple(
        at for at, part in enumerate(loop.parts) if any(isinstance(s, Assign) and s.target in held for s in part.body)
    )
    return [now or keeping for _, (now, _) in _kinds(loop)]


def skipped(kernel: Kernel, site: Site, masks: Masks) -> Iterator[Text]:
    """A lane that a fold takes is in a block that is folded."""
    loop = _loop(site)
    coord = kernel.coord(loop.coord)
    asked: dict[tuple[tuple[int, ...], tuple[int, ...], Term], None] = {}
    for value, (now, due) in _kinds(loop):
        asked.update(((now, due, where), None) for where in _taken(loop, value, coord.axis, site, masks))
    for now, due, where in asked:
        script = Script(kernel)
        x = script.declare("lane.x")
        block = f"(* {coord.tile} (div {x} {coord.tile}))"
        ranges = [script.range(part, coord.tile, site) for part in loop.parts]
        folded = [_inside(ranges[at], block) for at in now] + _followed(loop, ranges, coord.tile, block, due)
        inside = [f"(<= 0 {x})", f"(< {x} {script.size(coord.axis)})"]
        taken = taken_by(script, site, coord.axis, x, [where])
        goal = (*inside, *rows(script, kernel, coord.name), *taken, f"(not (or {' '.join(folded)} false))")
        yield script.asks(*goal)


def _taken(loop: Loop, value: str, axis: Axis, site: Site, masks: Masks) -> list[Term]:
    """Return the masks of the folds that an accumulator of a loop is of; raises NotRead where they may be several."""
    found: dict[Term, None] = {}
    for part in loop.parts:
        gains = _Gains(loop, part, held_by(loop))
        if gains.of(value):
            by = {stmt.monoid if isinstance(stmt, ReduceTile) else "sum" for stmt in gains.met}
            monoid = by.pop() if len(by) == 1 else ""
            folds = masks.of(axis, [gains.assigned[value]], monoid, {**site.defs, **gains.defs})
            found.update((fold.where, None) for fold in folds)
    if len(found) > 1:
        raise NotRead(f"{value} may be of folds of several masks")
    return list(found) or [Const(True)]


def _inside(bounds: tuple[str, str], block: str) -> str:
    return f"(and (<= {bounds[0]} {block}) (< {block} {bounds[1]}))"


def _followed(loop: Loop, ranges: Sequence[tuple[str, str]], tile: int, block: str, due: Sequence[int]) -> list[str]:
    """Return the ways in which a block is that of a turn whose next one is in a part that folds what was kept."""
    found = []
    for at, part in enumerate(loop.parts):
        here, more = _inside(ranges[at], block), f"(< (+ {block} {tile}) {ranges[at][1]})"
        if at in due and not part.once:
            found.append(f"(and {here} {more})")
        for later in due:
            if later > at and not any(p.once for p in loop.parts[at + 1 : later]):
                empty = [f"(<= {high} {low})" for low, high in ranges[at + 1 : later]]
                some = [] if loop.parts[later].once else [f"(< {ranges[later][0]} {ranges[later][1]})"]
                found.append(conjunction([here, *([] if part.once else [f"(not {more})"]), *empty, *some]))
    return found


def _loop(site: Site) -> Loop:
    assert isinstance(site.stmt, Loop)
    return site.stmt


def held_by(loop: Loop) -> set[str]:
    """Return the accumulators that span the loop's own coordinate: what is kept of one block for the next."""
    return {value.name for value, _ in loop.carried if loop.coord in value.coords}


# -- what accumulators gain --------------------------------------------------------------------------------------------


def _kinds(loop: Loop) -> list[tuple[str, tuple[tuple[int, ...], tuple[int, ...]]]]:
    """Return, of each accumulator that gains anything, the parts in which it is of the block at hand, and of the one
    before.
    """
    held = held_by(loop)
    gains = [_Gains(loop, part, held) for part in loop.parts]
    kinds: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {}
    for value, _ in loop.carried:
        if value.name not in held:
            found = [g.of(value.name) for g in gains]
            now, due = (tuple(at for at, sets in enumerate(found) if late in sets) for late in (False, True))
            if now and due:
                raise NotRead(f"{value.name} gains of the block at hand and of the one before")
            if now or due:
                kinds[value.name] = now, due
    if not kinds:
        raise NotRead(f"no accumulator of the loop over {loop.coord} gains anything of a block")
    return list(kinds.items())


class _Gains:
    """What the accumulators of a loop gain in one part: of the block at hand (False), of the one before (True)."""

    def __init__(self, loop: Loop, part: Part, held: set[str]) -> None:
        self.coord, self.held = loop.coord, held
        self.defs = definitions(part.body)
        self.assigned = {s.target: s.value for s in statements(part.body) if isinstance(s, Assign)}
        self.met: list[ReduceTile | Dot] = []  # the folds that accumulators asked for are of

    def of(self, name: str) -> set[bool]:
        return self.spine(self.assigned[name], name) if name in self.assigned else set()

    def spine(self, value: Operand, name: str) -> set[bool]:
        """Follow a value down to the accumulator itself, past what multiplies it, and collect what is joined to it."""
        stmt = self.defs.get(value) if isinstance(value, str) else None
        if stmt is None:
            return set()
        through = [arg for arg in used(stmt) if arg == name or name in self.below(arg)]
        if not through:
            return self.folds(stmt)
        if isinstance(stmt, Dot) and stmt.acc in through:
            return self.spine(stmt.acc, name) | self.folds(stmt)
        if isinstance(stmt, Let) and stmt.op in ("add", "sub", "max", "min", "where", "cast", "fma"):
            beside = {other for arg in stmt.args if arg not in through for other in self.folds(self.defs.get(str(arg)))}
            return beside.union(*(self.spine(arg, name) for arg in through))
        if isinstance(stmt, Let) and stmt.op in ("mul", "div", "neg"):
            return set().union(*(self.spine(arg, name) for arg in through))
        return self.folds(stmt)

    def folds(self, stmt: Stmt | None) -> set[bool]:
        """Return of which block the outermost folds are that a value comes of; without one, whether it is of the block
        at hand at all.
        """
        waiting, found, seen = [stmt], set[bool](), set[int]()
        along = False
        while waiting:
            at = waiting.pop()
            if at is None or id(at) in seen:
                continue
            seen.add(id(at))
            if isinstance(at, (ReduceTile, Dot)) and at.coord == self.coord:
                self.met.append(at)
                sides = (at.arg,) if isinstance(at, ReduceTile) else (at.a, at.b)
                found.add(any(self.held & {side, *self.below(side)} for side in sides))
            else:
                along |= getattr(at, "coord", None) == self.coord
                waiting += [self.defs.get(name) for name in used(at)]
        return found or ({False} if along else set())

    def below(self, name: Operand) -> set[str]:
        """Return all names that a value comes of."""
        return set(closure(self.defs, [name]))


def rows(script: Script, kernel: Kernel, but: str) -> list[str]:
    """Say that the lanes at hand are inside the axes of all coordinates used, but one: others are never stored."""
    inside = Site(Loop(but, (), ()), {}, ())
    used_ones = [c for c in kernel.coords if c.name != but and f"{c.name}.start" in script.done]
    return [f"(< {script.lane(c.name, inside, '')} {script.size(c.axis)})" for c in used_ones]


def taken_by(script: Script, site: Site, axis: Axis, x: str, of: Sequence[Term]) -> list[str]:
    """Say that a lane of an axis is taken by masks."""
    return [script.mask(mask, site, {axis.name: x}) for mask in of if mask != Const(True)]
