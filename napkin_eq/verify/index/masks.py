"""Questions about the lanes that a fold takes: masked ones contribute nothing, all others do, and what is read is of
the lane that is folded.

A fold of an operand that was kept from the turn before is looked at after every turn that may have been before: what
that one kept and what is read beside it must be of one block, and the tests of both turns together take the lanes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.operators import NEUTRAL, OPS
from napkin_eq.lang.term import Const, Fold, Group, Map, Online, Reduce, Term, Walk
from napkin_eq.tile.ir import (
    Assign,
    Coord,
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
    used,
)
from napkin_eq.tile.places import conjuncts
from napkin_eq.verify.index.loops import Folded, Masks, held_by, rows, taken_by
from napkin_eq.verify.index.smt_coordinates import NotRead, Script, Site, Text, conjunction

BEFORE = "!before"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Turn:
    """A fold in its turn; where it folds what was kept, the turn before, as a site, with what that one gave the
    accumulators.

    `stale`: that one kept nothing, so the turn must be impossible.
    """

    kernel: Kernel
    site: Site
    before: Site | None = None
    kept: Mapping[str, str] = field(default_factory=dict)
    stale: bool = False

    def script(self) -> tuple[Script, str]:
        """Return a script that says which turns these are, and the lane that is folded."""
        coord = folded_along(self.site)
        script = Script(self.kernel, coord)
        if self.kernel.coord(coord).role == "run":
            return script, _of_run(script, coord, self.site)
        if self.before is None:
            return script, script.lane(coord, self.site, "")
        (loop, part), (_, earlier) = _around(self.site, coord), _around(self.before, coord)
        here, there = script.start(coord, self.site, ""), script.start(coord, self.before, BEFORE)
        tile = self.kernel.coord(coord).tile
        if part is earlier:
            script.say(f"(= {here} (+ {there} {tile}))")
        else:
            script.say(f"(= {here} {script.range(part, tile, self.site)[0]})")
            script.say(
                *([] if earlier.once else [f"(>= (+ {there} {tile}) {script.range(earlier, tile, self.site)[1]})"])
            )
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


def _of_run(script: Script, coord: str, site: Site) -> str:
    """Return the element that a lane folds in its run, where a stream's block is cut into lanes; raises NotRead where
    these are not the block's.
    """
    run = script.kernel.coord(coord)
    walked = next((loop.coord for loop, _ in site.path if script.kernel.coord(loop.coord).axis == run.axis), None)
    lane = next((c for c in script.kernel.coords if c.role == "lane" and c.axis == run.axis), None)
    if walked is None or lane is None or lane.tile * run.tile != script.kernel.coord(walked).tile:
        raise NotRead(f"{coord} is no run of a block's lanes")
    return (
        f"(+ {script.start(walked, site, '')} (* {run.tile} {script.lane(lane.name, site, '')})"
        f" {script.lane(coord, site, '')})"
    )


def folded_along(site: Site) -> str:
    """Return the coordinate that a fold folds."""
    assert isinstance(site.stmt, (ReduceTile, Dot))
    return site.stmt.coord


def operands(stmt: Stmt) -> tuple[str, ...]:
    """Return what a fold folds, without what it is added onto."""
    return (stmt.a, stmt.b) if isinstance(stmt, Dot) else used(stmt)


def _around(site: Site, coord: str) -> tuple[Loop, Part]:
    return next((loop, part) for loop, part in site.path if loop.coord == coord)


def _place(loop: Loop, part: Part) -> int:
    found = [at for at, other in enumerate(loop.parts) if other is part]
    if len(found) > 1:
        raise NotRead(f"one part stands twice in the loop over {loop.coord}")
    return found[0]


def turns(kernel: Kernel, site: Site) -> Iterator[Turn]:
    """Yield a fold as it may stand: once if it is of the block at hand, else after each turn that may have
    been before.
    """
    coord = folded_along(site)
    found = next(((place, loop, part) for place, (loop, part) in enumerate(site.path) if loop.coord == coord), None)
    waited = held_by(found[1]) & closure(site.defs, operands(site.stmt)).keys() if found else set()
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
            before = Site(site.stmt, {**site.defs, **definitions(earlier.body)}, (*site.path[:place], (loop, earlier)))
            yield Turn(kernel, site, before, kept, not waited <= kept.keys())


def kept(kernel: Kernel, site: Site, masks: Masks) -> Iterator[Text]:
    """The tests of a fold hold only of lanes inside the axis that the fold takes, and what it was kept for was kept."""
    for turn in turns(kernel, site):
        script, x = turn.script()
        axis = _axis(kernel, site)
        if turn.stale:
            yield script.asks("true")
            continue
        if _nothing(turn):
            continue
        tests = _tests(script, turn)
        wanted = [f"(< {x} {script.size(axis)})"]
        wanted += taken_by(script, site, axis, x, _one(fold.where for fold in _folds(site, axis, masks)))
        goal = (*rows(script, kernel, _coord(kernel, site).name), *tests, f"(not {conjunction(wanted)})")
        yield script.asks(*goal)


def tested(kernel: Kernel, site: Site, masks: Masks) -> Iterator[Text]:
    """The tests of a fold hold of all the lanes that it takes."""
    for turn in turns(kernel, site):
        if turn.stale:
            continue
        script, x = turn.script()
        axis = _axis(kernel, site)
        tests = _tests(script, turn)
        given = [f"(< {x} {script.size(axis)})"]
        whole = _one((fold.where, *fold.chosen) for fold in _folds(site, axis, masks))
        for mask in (part for together in whole for one in together for part in conjuncts(one)):
            try:
                given += taken_by(script, site, axis, x, [mask])
            except NotRead:
                continue  # a choice of the body by values: no test of coordinates comes of it
        goal = (*rows(script, kernel, _coord(kernel, site).name), *given, f"(not {conjunction(tests)})")
        yield script.asks(*goal)


def _folds(site: Site, axis: Axis, masks: Masks) -> list[Folded]:
    """Return the folds that a statement may be of."""
    assert isinstance(site.stmt, (ReduceTile, Dot))
    monoid = site.stmt.monoid if isinstance(site.stmt, ReduceTile) else "sum"
    return masks.of(axis, operands(site.stmt), monoid, site.defs)


def _one(found: Iterable[T]) -> list[T]:
    """Return the only one of what the folds say that a statement may be of; raises NotRead where it may be several."""
    different = list(dict.fromkeys(found))
    if len(different) > 1:
        raise NotRead("it may be of folds of several masks")
    return different


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
            dims = kernel.buffer(load.buffer).dims
            if coord in load.out.coords:
                index = [script.operand(i, where, copy) for i, d in zip(load.index, dims, strict=True) if d == axis]
                wrong += [f"(not (= {i} {x}))" for i in index]
        if wrong:
            goal = f"(or {' '.join(wrong)} false)"
            yield script.asks(goal)


def _coord(kernel: Kernel, site: Site) -> Coord:
    return kernel.coord(folded_along(site))


def _axis(kernel: Kernel, site: Site) -> Axis:
    return _coord(kernel, site).axis


# -- tests that keep lanes out -----------------------------------------------------------------------------------------

ABSENT, ZERO, ONE = -math.inf, 0.0, 1.0
KEEPS_ZERO = ("cast", *(op.name for op in OPS.values() if op.zero))
Tests = frozenset[tuple[str, bool]]
NONE: Tests = frozenset()


def _tests(script: Script, turn: Turn) -> list[str]:
    """Return the tests of coordinates that keep lanes out of a fold: where one fails, the lane holds what the fold is
    neutral to.
    """
    stmt = turn.site.stmt
    if isinstance(stmt, Dot):
        names = settling(stmt.a, ZERO, turn) | settling(stmt.b, ZERO, turn)
    else:
        assert isinstance(stmt, ReduceTile)
        names = settling(stmt.arg, NEUTRAL[stmt.monoid], turn)
    found: dict[str, None] = {}
    for name, late in sorted(names):
        try:
            found.setdefault(
                script.operand(name, turn.before, BEFORE) if late and turn.before else script.operand(name, turn.site)
            )
        except NotRead:
            continue  # a choice by values: it keeps no lane out for where it is
    return list(found)


def _nothing(turn: Turn) -> bool:
    """Tell whether a fold is of what it is neutral to in every lane, whichever it takes."""
    stmt = turn.site.stmt

    def neutral(operand: Operand, value: float) -> bool:
        made = turn.site.defs.get(operand) if isinstance(operand, str) else None
        if isinstance(made, Let) and made.op in ("where", "cast"):
            return all(neutral(arg, value) for arg in made.args[made.op == "where" :])
        return not isinstance(operand, str) and operand == value

    if isinstance(stmt, Dot):
        return neutral(stmt.a, ZERO) or neutral(stmt.b, ZERO)
    return isinstance(stmt, ReduceTile) and neutral(stmt.arg, NEUTRAL[stmt.monoid])


def settling(operand: Operand, value: float, turn: Turn, late: bool = False) -> Tests:
    """Return tests of which any one that fails makes a lane 0, absent or 1, whatever else is in it, as long as that is
    finite.

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
        return (
            settling(made.a, ZERO, turn, late) | settling(made.b, ZERO, turn, late)
            if value == ZERO and made.acc is None
            else NONE
        )
    if not isinstance(made, Let):
        return NONE
    return _by_arguments(
        made.op, made.args, value, lambda arg, wanted: settling(arg, wanted, turn, late), lambda test: (str(test), late)
    )


def chosen(fold: Fold | Online | Reduce) -> frozenset[Term]:
    """Return the masks without any one of which a lane of a fold's body is what the fold is neutral to."""
    return _keeping(fold.body, _neutral(fold))


def _neutral(fold: Fold | Online | Reduce) -> float:
    return NEUTRAL["sum" if isinstance(fold, Online) else fold.monoid]


def _keeping(term: Term, value: float) -> frozenset[Term]:
    """Return masks of a term of which any one that fails makes a lane of it 0, absent or 1, whatever else is in it."""
    if isinstance(term, (Fold, Online, Reduce)):
        return _keeping(term.body, value) if value == _neutral(term) else frozenset()
    if isinstance(term, (Group, Walk)):
        return _keeping(term.body, value)
    if not isinstance(term, Map):
        return frozenset()
    args = [arg.value if isinstance(arg, Const) else arg for arg in term.args]
    return _by_arguments(term.op, args, value, _keeping, lambda mask: mask)


def _by_arguments(
    op: str,
    args: Sequence[Any],
    value: float,
    settled: Callable[[Any, float], frozenset[T]],
    test: Callable[[Any], T],
) -> frozenset[T]:
    """Return the tests that settle an operator, from those that settle its arguments; numbers stand as they are."""
    none = frozenset[T]()

    def of(arg: Any, wanted: float = value) -> frozenset[T]:
        return none if isinstance(arg, (int, float)) else settled(arg, wanted)

    if op == "where":
        if isinstance(args[2], (int, float)):
            return of(args[1]) | {test(args[0])} if args[2] == value else none
        return of(args[1]) & of(args[2])
    if op in ("add", "sub", "max", "min"):
        either = value == ABSENT and op in ("add", "min")
        parts = [of(arg) for arg in args[: 1 if value == ABSENT and op == "sub" else 2]]
        return none.union(*parts) if either else parts[0].intersection(*parts)
    if op == "mul":
        scaled = [
            of(one)
            for one, other in (args, args[::-1])
            if value == ZERO or (isinstance(other, (int, float)) and other > 0)
        ]
        return none.union(*scaled) if value != ONE else none
    if op in ("exp", "exp2"):
        wanted = {ZERO: ABSENT, ONE: ZERO}.get(value)
        return none if wanted is None else of(args[0], wanted)
    if op in ("log", "log2") and value == ABSENT:
        return of(args[0], ZERO)
    if op == "div" and value == ZERO:
        return of(args[0])
    return of(args[0]) if op == "cast" or (value == ZERO and op in KEEPS_ZERO) else none
