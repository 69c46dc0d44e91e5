"""Questions about the loops of a kernel and what is folded in them: which blocks are walked, which lanes count, and how often.

A loop takes one turn a block. A fold of a turn is of the block at hand, or, where it reads an accumulator that spans the loop's
own coordinate (an operand that waits), of the block of the turn before: then every turn that may come before is looked at, with
what that one assigned to the accumulator, and what is read beside it must be of the same block.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from napkin_eq.axis import Axis
from napkin_eq.coordinates import NotRead, Script, Site, conjunction
from napkin_eq.plan import Assign, Coord, Dot, Kernel, Let, Load, Loop, Operand, Part, ReduceTile, Stmt, statements, used
from napkin_eq.term import Const, Term

Text = Callable[[str], str]
BEFORE = "!before"


@dataclass(slots=True)
class Masks:
    """Of a kernel's folds, by axis: the masks of the lanes that they take, and those by which their bodies choose.

    `read`: the axes of arrays that are read at computed indices.
    """

    taken: dict[str, list[Term]] = field(default_factory=dict)
    chosen: dict[str, list[Term]] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)


# -- the blocks that are walked ----------------------------------------------------------------------------------------------


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
                wrong.append(f"(and (<= {low} (* {tile} {block})) (< (* {tile} {block}) {high}) (<= {begin} (* {tile} {block})) (< (* {tile} {block}) {end}))")
            yield lambda about, script=script, wrong=wrong: script.text(about, f"(or {' '.join(wrong)} false)")  # type: ignore[misc]


def counted(loop: Loop) -> list[tuple[int, ...]]:
    """Return for each kind of accumulator the parts whose blocks it folds: those at hand, or those that an operand is kept of."""
    held = _held(loop)
    keeping = tuple(at for at, part in enumerate(loop.parts) if any(isinstance(s, Assign) and s.target in held for s in part.body))
    return [now or keeping for now, _ in _kinds(loop)]


def skipped(kernel: Kernel, site: Site, masks: Masks) -> Iterator[Text]:
    """A lane that folds take is in a block that is folded; where the folds take several masks, all of them together are asked about."""
    loop = _loop(site)
    coord = kernel.coord(loop.coord)
    for now, due in _kinds(loop):
        script = Script(kernel)
        x = script.declare("lane.x")
        block = f"(* {coord.tile} (div {x} {coord.tile}))"
        ranges = [script.range(part, coord.tile, site) for part in loop.parts]
        folded = [_inside(ranges[at], block) for at in now] + _followed(loop, ranges, coord.tile, block, due)
        inside = [f"(<= 0 {x})", f"(< {x} {script.size(coord.axis)})"]
        taken = _taken(script, site, coord.axis, x, masks.taken.get(coord.axis.name, []))
        goal = (*inside, *rows(script, kernel, coord.name), *taken, f"(not (or {' '.join(folded)} false))")
        yield lambda about, script=script, goal=goal: script.text(about, *goal)  # type: ignore[misc]


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


def _held(loop: Loop) -> set[str]:
    """Return the accumulators that span the loop's own coordinate: what is kept of one block for the next."""
    return {value.name for value, _ in loop.carried if loop.coord in value.coords}


# -- what accumulators gain --------------------------------------------------------------------------------------------------


def _kinds(loop: Loop) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return, for the accumulators that gain anything, the parts in which it is of the block at hand, and of the one before; each kind once."""
    held = _held(loop)
    gains = [_Gains(loop, part, held) for part in loop.parts]
    kinds: dict[tuple[tuple[int, ...], tuple[int, ...]], None] = {}
    for value, _ in loop.carried:
        if value.name not in held:
            found = [g.of(value.name) for g in gains]
            now, due = (tuple(at for at, sets in enumerate(found) if late in sets) for late in (False, True))
            if now and due:
                raise NotRead(f"{value.name} gains of the block at hand and of the one before")
            if now or due:
                kinds.setdefault((now, due))
    if not kinds:
        raise NotRead(f"no accumulator of the loop over {loop.coord} gains anything of a block")
    return list(kinds)


class _Gains:
    """What the accumulators of a loop gain in one part: of the block at hand (False), of the one before (True)."""

    def __init__(self, loop: Loop, part: Part, held: set[str]) -> None:
        self.coord, self.held = loop.coord, held
        self.defs = {s.out.name: s for s in statements(part.body) if hasattr(s, "out")}
        self.assigned = {s.target: s.value for s in statements(part.body) if isinstance(s, Assign)}

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
        """Return of which block the outermost folds are that a value comes of; without one, whether it is of the block at hand at all."""
        waiting, found, seen = [stmt], set[bool](), set[int]()
        along = False
        while waiting:
            at = waiting.pop()
            if at is None or id(at) in seen:
                continue
            seen.add(id(at))
            if isinstance(at, (ReduceTile, Dot)) and at.coord == self.coord:
                sides = (at.arg,) if isinstance(at, ReduceTile) else (at.a, at.b)
                found.add(any(self.held & {side, *self.below(side)} for side in sides))
            else:
                along |= getattr(at, "coord", None) == self.coord
                waiting += [self.defs.get(name) for name in used(at)]
        return found or ({False} if along else set())

    def below(self, name: Operand) -> set[str]:
        """Return all names that a value comes of."""
        return set(closure(self.defs, [name]))


def closure(defs: Mapping[str, Stmt], roots: Iterable[Operand]) -> dict[str, Stmt | None]:
    """Return the values that some come of, themselves included, with their definitions; accumulators have none."""
    waiting, found = [r for r in roots if isinstance(r, str)], dict[str, Stmt | None]()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = defs.get(name)
            waiting += used(found[name]) if found[name] is not None else ()  # type: ignore[arg-type]
    return found


# -- the lanes that count ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Turn:
    """A fold in its turn; where it folds what was kept, the turn before, as a site, with what that one gave the accumulators.

    `stale`: that one kept nothing, so the turn must be impossible.
    """

    kernel: Kernel
    site: Site
    before: Site | None = None
    kept: Mapping[str, str] = field(default_factory=dict)
    stale: bool = False

    def script(self) -> tuple[Script, str]:
        """Return a script that says which turns these are, and the lane that is folded."""
        coord = self.site.stmt.coord  # type: ignore[union-attr]
        script = Script(self.kernel, coord)
        if self.before is None:
            return script, script.lane(coord, self.site, "")
        (loop, part), (_, earlier) = _around(self.site, coord), _around(self.before, coord)
        here, there = script.start(coord, self.site, ""), script.start(coord, self.before, BEFORE)
        tile = self.kernel.coord(coord).tile
        if part is earlier:
            script.say(f"(= {here} (+ {there} {tile}))")
        else:
            script.say(f"(= {here} {script.range(part, tile, self.site)[0]})")
            script.say(*([] if earlier.once else [f"(>= (+ {there} {tile}) {script.range(earlier, tile, self.site)[1]})"]))
            between = loop.parts[_place(loop, earlier) + 1 : _place(loop, part)]
            script.say(*(f"(>= {low} {high})" for low, high in (script.range(p, tile, self.site) for p in between)))
        return script, script.lane(coord, self.before, BEFORE)

    def loads(self) -> Iterator[tuple[Load, Site, str]]:
        """Yield the loads that the fold reads, with where they stand."""
        roots = operands(self.site.stmt)
        for name, stmt in closure(self.site.defs, roots).items():
            if isinstance(stmt, Load):
                yield stmt, self.site, ""
            elif name in self.kept and self.before is not None:
                late = closure(self.before.defs, [self.kept[name]]).values()
                yield from ((s, self.before, BEFORE) for s in late if isinstance(s, Load))


def operands(stmt: Stmt) -> tuple[str, ...]:
    return (stmt.a, stmt.b) if isinstance(stmt, Dot) else used(stmt)


def _around(site: Site, coord: str) -> tuple[Loop, Part]:
    return next((loop, part) for loop, part in site.path if loop.coord == coord)


def _place(loop: Loop, part: Part) -> int:
    found = [at for at, other in enumerate(loop.parts) if other is part]
    if len(found) > 1:
        raise NotRead(f"one part stands twice in the loop over {loop.coord}")
    return found[0]


def turns(kernel: Kernel, site: Site) -> Iterator[Turn]:
    """Yield a fold as it may stand: once if it is of the block at hand, else after each turn that may have been before."""
    coord = site.stmt.coord  # type: ignore[union-attr]
    found = next(((place, loop, part) for place, (loop, part) in enumerate(site.path) if loop.coord == coord), None)
    waited = _held(found[1]) & closure(site.defs, operands(site.stmt)).keys() if found else set()
    if found is None or not waited:
        yield Turn(kernel, site)
        return
    place, loop, part = found
    at = _place(loop, part)
    if not any(p.once for p in loop.parts[:at]):
        raise NotRead(f"{', '.join(sorted(waited))} may be read before a block is kept")
    for number, earlier in enumerate(loop.parts[: at + (not part.once)]):
        if not any(p.once for p in loop.parts[number + 1 : at]):
            kept = {s.target: s.value for s in earlier.body if isinstance(s, Assign)}
            own = {s.out.name: s for s in statements(earlier.body) if hasattr(s, "out")}
            before = Site(site.stmt, {**site.defs, **own}, (*site.path[:place], (loop, earlier)))
            yield Turn(kernel, site, before, kept, not waited <= kept.keys())


def rows(script: Script, kernel: Kernel, but: str) -> list[str]:
    """Say that the lanes at hand are inside the axes of all coordinates used, but one: others are never stored."""
    inside = Site(Loop(but, (), ()), {}, ())
    used_ones = [c for c in kernel.coords if c.name != but and f"{c.name}.start" in script.done]
    return [f"(< {script.lane(c.name, inside, '')} {script.size(c.axis)})" for c in used_ones]


def _taken(script: Script, site: Site, axis: Axis, x: str, of: Sequence[Term]) -> list[str]:
    return [script.mask(mask, site, {axis.name: x}) for mask in of if mask != Const(True)]


def kept(kernel: Kernel, site: Site, masks: Masks) -> Iterator[Text]:
    """The tests of a fold hold only of lanes inside the axis that the fold takes, and what it was kept for was kept."""
    for turn in turns(kernel, site):
        script, x = turn.script()
        axis = _axis(kernel, site)
        if turn.stale:
            yield lambda about, script=script: script.text(about, "true")  # type: ignore[misc]
            continue
        tests = _tests(script, turn)
        wanted = [f"(< {x} {script.size(axis)})"]
        several = masks.taken.get(axis.name, [])
        if len(several) == 1:
            wanted += _taken(script, site, axis, x, several)
        goal = (*rows(script, kernel, _coord(kernel, site).name), *tests, f"(not {conjunction(wanted)})")
        yield lambda about, script=script, goal=goal: script.text(about, *goal)  # type: ignore[misc]


def tested(kernel: Kernel, site: Site, masks: Masks) -> Iterator[Text]:
    """The tests of a fold hold of all the lanes that it takes."""
    for turn in turns(kernel, site):
        if turn.stale:
            continue
        script, x = turn.script()
        axis = _axis(kernel, site)
        tests = _tests(script, turn)
        given = [f"(< {x} {script.size(axis)})"]
        for mask in (*masks.taken.get(axis.name, []), *(m for found in masks.chosen.values() for m in found)):
            try:
                given += _taken(script, site, axis, x, [mask])
            except NotRead:
                continue  # a choice of the body by values: no test of coordinates comes of it
        goal = (*rows(script, kernel, _coord(kernel, site).name), *given, f"(not {conjunction(tests)})")
        yield lambda about, script=script, goal=goal: script.text(about, *goal)  # type: ignore[misc]


def aligned(kernel: Kernel, site: Site, masks: Masks) -> Iterator[Text]:
    """What a fold reads of an array along its axis is the element of the lane that is folded."""
    axis, coord = _axis(kernel, site), _coord(kernel, site).name
    if axis.name in masks.read:
        return
    for turn in turns(kernel, site):
        if turn.stale:
            continue
        script, x = turn.script()
        wrong = []
        for load, where, copy in turn.loads():
            dims = next(b for b in (*kernel.reads, *kernel.writes) if b.name == load.buffer).dims
            if coord in load.out.coords:
                index = [script.operand(i, where, copy) for i, d in zip(load.index, dims, strict=True) if d == axis]
                wrong += [f"(not (= {i} {x}))" for i in index]
        if wrong:
            goal = f"(or {' '.join(wrong)} false)"
            yield lambda about, script=script, goal=goal: script.text(about, goal)  # type: ignore[misc]


def _coord(kernel: Kernel, site: Site) -> Coord:
    return kernel.coord(site.stmt.coord)  # type: ignore[union-attr]


def _axis(kernel: Kernel, site: Site) -> Axis:
    return _coord(kernel, site).axis


# -- tests that keep lanes out -----------------------------------------------------------------------------------------------

ABSENT, ZERO, ONE = -math.inf, 0.0, 1.0
NEUTRAL = {"sum": ZERO, "max": ABSENT, "prod": ONE}
KEEPS_ZERO = ("cast", "neg", "abs", "sqrt", "tanh", "erf", "sin", "floor", "round")
Tests = frozenset[tuple[str, bool]]
NONE: Tests = frozenset()


def _tests(script: Script, turn: Turn) -> list[str]:
    """Return the tests of coordinates that keep lanes out of a fold: where one fails, the lane holds what the fold is neutral to."""
    stmt = turn.site.stmt
    if isinstance(stmt, Dot):
        names = settling(stmt.a, ZERO, turn) | settling(stmt.b, ZERO, turn)
    else:
        assert isinstance(stmt, ReduceTile)
        names = settling(stmt.arg, NEUTRAL[stmt.monoid], turn)
    found: dict[str, None] = {}
    for name, late in sorted(names):
        try:
            found.setdefault(script.operand(name, turn.before, BEFORE) if late and turn.before else script.operand(name, turn.site))
        except NotRead:
            continue  # a choice by values: it keeps no lane out for where it is
    return list(found)


def settling(operand: Operand, value: float, turn: Turn, late: bool = False) -> Tests:
    """Return tests of which any one that fails makes a lane 0, absent or 1, whatever else is in it, as long as that is finite.

    Each comes with whether it is one of the turn before.
    """
    site = turn.before if late and turn.before else turn.site
    made = site.defs.get(operand) if isinstance(operand, str) else None
    if made is None and not late and operand in turn.kept:
        return settling(turn.kept[str(operand)], value, turn, True)
    if isinstance(made, Load):
        return frozenset((mask, late) for mask in made.masks) if value == ZERO else NONE
    if isinstance(made, ReduceTile):
        return settling(made.arg, value, turn, late) if value != ONE else NONE
    if isinstance(made, Dot):
        return settling(made.a, ZERO, turn, late) | settling(made.b, ZERO, turn, late) if value == ZERO and made.acc is None else NONE
    return _settling_map(made, value, turn, late) if isinstance(made, Let) else NONE


def _settling_map(made: Let, value: float, turn: Turn, late: bool) -> Tests:
    def of(arg: Operand, wanted: float = value) -> Tests:
        return settling(arg, wanted, turn, late)

    args = made.args
    if made.op == "where":
        if not isinstance(args[2], str):
            return of(args[1]) | {(str(args[0]), late)} if args[2] == value else NONE
        return of(args[1]) & of(args[2])
    if made.op in ("add", "sub", "max", "min"):
        either = value == ABSENT and made.op in ("add", "min")
        parts = [of(arg) for arg in args[: 1 if value == ABSENT and made.op == "sub" else 2]]
        return NONE.union(*parts) if either else parts[0].intersection(*parts)
    if made.op == "mul":
        scaled = [of(one) for one, other in (args, args[::-1]) if value == ZERO or (not isinstance(other, str) and other > 0)]
        return NONE.union(*scaled) if value != ONE else NONE
    if made.op in ("exp", "exp2"):
        return {ZERO: of(args[0], ABSENT), ONE: of(args[0], ZERO)}.get(value, NONE)
    if made.op in ("log", "log2") and value == ABSENT:
        return of(args[0], ZERO)
    if made.op == "div" and value == ZERO:
        return of(args[0])
    return of(args[0]) if made.op == "cast" or (value == ZERO and made.op in KEEPS_ZERO) else NONE
