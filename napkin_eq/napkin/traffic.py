"""What a kernel moves and holds with its tiles left open, read off its statements: posynomials in group and stream
sizes.

Whatever an array's index depends on tells how much of it a block reads: an axis that the grid cuts comes in groups,
one that a loop walks in streams, one that a tile holds comes whole. An array whose index lacks an axis of the grid
is read again by each of its groups.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from napkin_eq.lang.axis import Axis
from napkin_eq.machine.cost import Visits
from napkin_eq.napkin.posynomial import Posynomial, monomial, share, size, total
from napkin_eq.tile import ir as p

LETTERS = {"group": "g", "stream": "s", "walk": "w"}
Spans = dict[str, frozenset[str]]
Around = tuple[tuple[str, float], ...]  # the loops around a statement: whose coordinate, and what share of its blocks
Arrays = tuple[tuple[str, frozenset[str]], ...]  # by name, with the coordinates that their tiles span


@dataclass(frozen=True)
class Variable:
    """A tile size left open: of which axis, group, stream or walk, and what the plan chose."""

    name: str
    axis: Axis
    role: str
    tile: int


@dataclass(frozen=True)
class Column:
    """What is at hand together at one place: arrays by name, each with its tile."""

    arrays: tuple[tuple[str, Posynomial], ...]

    @property
    def memory(self) -> Posynomial:
        return total(tile for _, tile in self.arrays)


@dataclass(frozen=True)
class Traffic:
    """A kernel's transfers, array by array, the columns of its memory, its contractions' FLOP; `beside`: numbers
    beside a row, left out of memory.
    """

    kernel: p.Kernel
    variables: Mapping[str, Variable]
    moved: Mapping[str, Posynomial]
    saved: frozenset[str]
    columns: tuple[Column, ...]
    flops: Posynomial
    beside: tuple[str, ...]
    shares: Mapping[str, float] = field(default_factory=dict)

    @property
    def transfers(self) -> Posynomial:
        """H over all groups, in values."""
        return total(self.moved.values())

    @property
    def tiles(self) -> dict[str, float]:
        """The plan's own tile sizes, none larger than its axis."""
        return {v.name: float(min(v.tile, v.axis.size or v.tile)) for v in self.variables.values()}


def traffic(kernel: p.Kernel) -> Traffic:
    """Read a kernel's transfers and memory off its statements."""
    return _Reader(kernel).read()


def spans(kernel: p.Kernel) -> Spans:
    """Return the coordinates that each value depends on, those with tiles of one element too, which values do not
    list.
    """
    found: dict[str, frozenset[str]] = {}
    values = p.values_of(kernel.body)

    def of(*names: p.Operand | None) -> frozenset[str]:
        return frozenset().union(*(found.get(n, frozenset()) for n in names if isinstance(n, str)))

    def walk(body: Sequence[p.Stmt], inside: frozenset[str]) -> None:
        for stmt in body:
            match stmt:
                case p.Loop():
                    for value, _ in stmt.carried:
                        found.setdefault(value.name, frozenset(value.coords))
                    for part in stmt.parts:
                        walk(part.body, inside | {stmt.coord})
                case p.Assign():
                    # What a loop carries has lost the loop's own coordinate: it is folded.
                    own = next(
                        (
                            s.coord
                            for s in p.statements(kernel.body)
                            if isinstance(s, p.Loop) and stmt.target in {v.name for v, _ in s.carried}
                        ),
                        "",
                    )
                    found[stmt.target] = (found.get(stmt.target, frozenset()) | of(stmt.value)) - {own} | frozenset(
                        values[stmt.target].coords
                    )
                case p.Start() | p.Iota():
                    found[stmt.out.name] = frozenset({stmt.coord})
                case p.ReduceTile():
                    found[stmt.out.name] = of(stmt.arg) - {stmt.coord}
                case p.Dot():
                    found[stmt.out.name] = of(stmt.a, stmt.b) - {stmt.coord} | of(stmt.acc)
                case p.Load():
                    found[stmt.out.name] = of(*stmt.index) | frozenset(stmt.out.coords)
                case p.Let() | p.ScanTile():
                    found[stmt.out.name] = of(*p.used(stmt)) | frozenset(stmt.out.coords)
                case _:
                    pass

    before: Spans | None = None
    while before != found:  # accumulators are read before they are assigned
        before = dict(found)
        walk(kernel.body, frozenset())
    return found


def _parted(kernel: p.Kernel, known: Spans, visits: Visits) -> dict[str, str]:
    """Return, by the coordinate of a loop, the grid's coordinate whose blocks each walk a part of its own, where the
    parts are equal and make up the axis.
    """
    found: dict[str, str] = {}
    for loop in (s for s in p.statements(kernel.body) if isinstance(s, p.Loop)):
        bounds = [b for part in loop.parts for b in (part.lo, part.hi) if isinstance(b, str)]
        walked = sum(visits.fractions(loop))
        for coord in kernel.grid:
            count = kernel.coord(coord).axis.size or 1
            if count > 1 and any(coord in known.get(b, frozenset()) for b in bounds) and abs(walked * count - 1) < 1e-9:
                found.setdefault(loop.coord, coord)
    return found


class _Reader:
    def __init__(self, kernel: p.Kernel) -> None:
        self.kernel = kernel
        self.spans = spans(kernel)
        self.visits = Visits(kernel)
        self.parted = _parted(kernel, self.spans, self.visits)
        self.variables: dict[str, Variable] = {}
        for coord in kernel.coords:
            if coord.role in LETTERS and coord.axis.size != 1:
                name = f"{LETTERS[coord.role]}_{coord.axis.name}"
                while name in {c.axis.name for c in kernel.coords}:
                    name += "_"
                self.variables[coord.name] = Variable(name, coord.axis, coord.role, coord.tile)
        self.moved: dict[str, Posynomial] = {}
        self.saved: set[str] = set()
        self.shares: dict[str, float] = {}
        self.flops: list[Posynomial] = []
        self.columns: list[Arrays] = []
        self.carried: set[str] = set()

    def read(self) -> Traffic:
        self._body(self.kernel.body, (), (), ())
        beside = tuple(
            dict.fromkeys(name for column in self.columns for name, coords in column if self._beside(coords, column))
        )
        kept = [tuple((n, c) for n, c in column if n not in beside) or column for column in self.columns]
        columns = [
            Column(tuple((name, self._tile(coords)) for name, coords in column)) for column in dict.fromkeys(kept)
        ]
        largest = [
            c
            for i, c in enumerate(columns)
            if not any(_within(c, o) and (i > j or not _within(o, c)) for j, o in enumerate(columns) if j != i)
        ]
        variables = {v.name: v for v in self.variables.values()}
        return Traffic(
            self.kernel,
            variables,
            self.moved,
            frozenset(self.saved),
            tuple(largest),
            total(self.flops),
            beside,
            self.shares,
        )

    def _beside(self, coords: frozenset[str], column: Arrays) -> bool:
        """Whether an array is a number, or a lane's, beside a row of another that is at hand: the napkin leaves it
        out.
        """
        roles = {self.kernel.coord(c).role for c in coords}
        if roles & {"lane", "run"} and "stream" not in roles:
            return True
        rows = any(self.kernel.coord(c).role == "whole" and self.kernel.coord(c).axis.size != 1 for c in coords)
        kept = [other for name, other in column if name in self.carried]
        return any(coords < other for other in (kept if rows else (o for _, o in column)))

    def _tile(self, coords: frozenset[str]) -> Posynomial:
        """Return the elements of a tile: lanes and runs of a stream's block are that block."""
        powers: dict[str, int] = {}
        coefficient: Any = 1
        for coord in sorted(coords):
            found = self.kernel.coord(coord)
            if coord in self.variables:
                powers[self.variables[coord].name] = 1
            elif found.role not in ("lane", "run"):
                coefficient *= size(found.axis)
        return Posynomial({monomial(powers): coefficient * size(Axis("one", 1))})

    def _times(self, around: Around) -> Posynomial:
        """Return how often a statement is executed over the whole grid."""
        powers: dict[str, int] = {}
        coefficient = size(Axis("one", 1))
        walked = [(c, 1.0) for c in self.kernel.grid] + list(around)
        for coord, fraction in walked:
            part = self.parted.get(coord)
            coefficient *= size(self.kernel.coord(coord).axis) * share(
                fraction * (self.kernel.coord(part).axis.size or 1) if part else fraction
            )
            if part:
                coefficient /= size(self.kernel.coord(part).axis)
            if coord in self.variables:
                name = self.variables[coord].name
                powers[name] = powers.get(name, 0) - 1
        return Posynomial({monomial(powers): coefficient})

    def _count(self, coords: frozenset[str], around: Around) -> Posynomial:
        (tile, elements), (times, how_often) = (
            next(iter(x.terms.items())) for x in (self._tile(coords), self._times(around))
        )
        powers = {n: dict(tile).get(n, 0) + dict(times).get(n, 0) for n in dict([*tile, *times])}
        return Posynomial({monomial(powers): elements * how_often})

    def _blocked(self, coords: frozenset[str], around: Around) -> frozenset[str]:
        """Return coordinates with the stream whose block lanes are, and the part of an axis that a loop walks."""
        lanes = {self.kernel.coord(c).axis for c in coords if self.kernel.coord(c).role in ("lane", "run")}
        found = coords | {c for c, _ in around if self.kernel.coord(c).axis in lanes}
        return found | {self.parted[c] for c in found if c in self.parted}

    def _body(self, body: Sequence[p.Stmt], around: Around, loads: Arrays, kept: Arrays) -> None:
        """Read one body: `loads` are arrays at hand in it from those around it, `kept` what the loops around it
        carry.
        """
        own: list[tuple[str, frozenset[str]]] = []
        outputs: list[tuple[str, frozenset[str]]] = []
        for stmt in body:
            match stmt:
                case p.Load():
                    coords = self._blocked(self.spans[stmt.out.name], around)
                    self._move(stmt.buffer, coords, around)
                    self.shares[stmt.buffer] = self.shares.get(stmt.buffer, 0.0) + math.prod(f for _, f in around)
                    own.append((stmt.buffer, coords))
                case p.StoreTile():
                    named = [i for i in (*stmt.index, stmt.value) if isinstance(i, str)]
                    coords = self._blocked(frozenset().union(*(self.spans[n] for n in named)), around)
                    self._move(stmt.buffer, coords, around)
                    self.saved.add(stmt.buffer)
                    outputs.append((stmt.buffer, coords))
                case p.Dot():
                    coords = self._blocked(self.spans[stmt.a] | self.spans[stmt.b] | {stmt.coord}, around)
                    self.flops.append(Posynomial({m: 2 * c for m, c in self._count(coords, around).terms.items()}))
                case _:
                    pass
        at_hand = (*loads, *dict.fromkeys(own))
        self.columns.append((*at_hand, *kept))
        if outputs:
            self.columns.append((*loads, *dict.fromkeys(outputs)))
        for stmt in body:
            if isinstance(stmt, p.Loop):
                held = tuple((value.name, self.spans[value.name]) for value, _ in stmt.carried)
                self.carried |= {name for name, _ in held}
                for part, fraction in zip(stmt.parts, self.visits.fractions(stmt), strict=True):
                    self._body(part.body, (*around, (stmt.coord, fraction)), at_hand, (*kept, *held))

    def _move(self, buffer: str, coords: frozenset[str], around: Around) -> None:
        # A tile of a grid's axis that neither index nor value depends on would be written by several blocks; a load's
        # is read by each.
        found = self._count(coords, around)
        self.moved[buffer] = self.moved[buffer] + found if buffer in self.moved else found


def _within(small: Column, large: Column) -> bool:
    """Whether a column holds no more than another, term by term."""
    theirs = large.memory.terms
    return all(m in theirs and (theirs[m] - c).is_nonnegative for m, c in small.memory.terms.items())
