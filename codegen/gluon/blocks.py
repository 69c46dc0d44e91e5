"""The lines of one Gluon function, and its walk over the blocks of the grid: which block a program has, and where its
tiles start.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from napkin_eq.tile.identifiers import Names, size_argument
from napkin_eq.tile.ir import Coord, Stmt

from .shared import Shared

INDENT = "    "


class Blocks(ABC):
    """The lines of a function, and the first index of each coordinate's tile in the block that is being walked."""

    def __init__(self, shared: Shared) -> None:
        self.shared, self.kernel = shared, shared.kernel
        self.lines: list[str] = []
        self.depth = 1
        self.names = Names((*shared.passed, *shared.names.taken))
        self.starts = {c.name: "0" for c in self.kernel.coords if c.single}
        self.again: tuple[str, ...] = ()

    def line(self, text: str) -> None:
        self.lines.append(INDENT * self.depth + text)

    def unplanned(self, stmt: Stmt) -> AssertionError:
        """Return what to raise for a statement that this side has no part in by the plan's roles
        (passes/warp_roles.py).
        """
        return AssertionError(
            f"kernel {self.kernel.name}: the plan gives {type(stmt).__name__} to no side that can print it"
        )

    def grid(self) -> None:
        """Print the walk over this program's blocks of the grid."""
        walked_coords = [self.kernel.coord(n) for n in self.kernel.grid]
        counts = {c.name: self.count(c) for c in walked_coords}
        total = self.names.fresh("blocks")
        self.line(f"{total} = {' * '.join(n for n in counts.values() if n != '1') or '1'}")
        tile = self.names.fresh("tile")
        (self.draws if self.shared.workers.drawn else self.deals)(tile, total)
        self.depth += 1
        self.decode(tile, [c for c in walked_coords if counts[c.name] != "1"], counts)
        self.starts |= {c.name: "0" for c in walked_coords if counts[c.name] == "1"}
        self.depth -= 1

    def deals(self, tile: str, total: str) -> None:
        """Print a walk over the blocks whose numbers are this program's; blocks of unequal length are dealt out and
        back, longest first.
        """
        programs, me = self.names.fresh("programs"), self.names.fresh("program")
        self.line(f"{programs} = gl.num_programs(0)")
        self.line(f"{me} = gl.program_id(0)")
        if self.shared.workers.falling:
            turn, turns = self.names.fresh("turn"), self.names.fresh("turns")
            self.line(f"{turns} = {total} // {programs}")
            self.line(
                f"{turns} += gl.where(gl.where({turns} % 2 == 0, {me}, {programs} - 1 - {me}) < {total} % {programs},"
                " 1, 0)"
            )
            self.line(f"for {turn} in range(0, {turns}):")
            self.line(f"    {tile} = {turn} * {programs} + gl.where({turn} % 2 == 0, {me}, {programs} - 1 - {me})")
        else:
            self.line(f"for {tile} in range({me}, {total}, {programs}):")

    def draws(self, tile: str, total: str) -> None:
        """Print a walk over blocks whose numbers are drawn, one as the block before is done; `again` ends it."""
        turn, number = self.names.fresh("turn"), self.names.fresh("number")
        call = self.draw(turn)
        self.line(f"{turn} = 0")
        self.line(f"{number} = {call}")
        self.line(f"while {number} < {total}:")
        self.line(f"    {tile} = {number}")
        self.again = (f"{turn} += 1", f"{number} = {call}")

    @abstractmethod
    def draw(self, turn: str) -> str:
        """Return the call that gives this side the number of the next block."""

    def decode(self, tile: str, coords: list[Coord], counts: dict[str, str]) -> None:
        """Print the block of each coordinate off the number of a block of the grid."""
        swizzle, workers = self.kernel.swizzle, self.shared.workers
        slow = next((c for c in coords if c.name in workers.falling), None)
        if slow is not None and workers.abreast > 1 and len(coords) > 1:
            coords = [c for c in coords if c is not slow]
            self.abreast(tile, slow, [counts[c.name] for c in coords], counts)
        elif swizzle and {c.name for c in coords[-2:]} == set(swizzle[:2]):
            self.swizzled(tile, swizzle, counts)
            coords = coords[:-2]
            if coords:
                self.line(f"{tile} = {tile} // ({counts[swizzle[0]]} * {counts[swizzle[1]]})")
        self.mixed(tile, coords, counts)

    def swizzled(self, tile: str, swizzle: tuple[str, str, int], counts: dict[str, str]) -> None:
        """Print the blocks of two coordinates that are visited in groups of rows, column by column."""
        row, column, depth = swizzle
        rest, first, rows = (self.names.fresh(n) for n in ("rest", "first", "rows"))
        row_block, column_block = self.names.fresh(f"{row}_block"), self.names.fresh(f"{column}_block")
        self.line(f"{rest} = {tile} % ({counts[row]} * {counts[column]})")
        self.line(f"{first} = {rest} // ({depth} * {counts[column]}) * {depth}")
        self.line(f"{rows} = gl.minimum({counts[row]} - {first}, {depth})")
        self.line(f"{row_block} = {first} + {rest} % ({depth} * {counts[column]}) % {rows}")
        self.line(f"{column_block} = {rest} % ({depth} * {counts[column]}) // {rows}")
        self.start(row, row_block, counts)
        self.start(column, column_block, counts)

    def abreast(self, tile: str, slow: Coord, others: list[str], counts: dict[str, str]) -> None:
        """Print the block of a falling coordinate that is walked slower than the others, and leave the number of
        theirs.
        """
        depth, number = self.shared.workers.abreast, " * ".join(others)
        first, rest, width = (self.names.fresh(n) for n in ("first", "rest", "width"))
        self.line(f"{first} = {tile} // ({depth} * {counts[slow.name]}) * {depth}")
        self.line(f"{rest} = {tile} % ({depth} * {counts[slow.name]})")
        self.line(f"{width} = gl.minimum({number} - {first}, {depth})")
        self.start(slow.name, f"({rest} // {width})", counts)
        self.line(f"{tile} = {first} + {rest} % {width}")

    def mixed(self, tile: str, coords: list[Coord], counts: dict[str, str]) -> None:
        """Print the blocks of coordinates, the last one fastest, off a number."""
        for place, coord in reversed(list(enumerate(coords))):
            self.start(coord.name, f"{tile} % {counts[coord.name]}" if place else tile, counts)
            if place:
                self.line(f"{tile} = {tile} // {counts[coord.name]}")

    def start(self, name: str, block: str, counts: dict[str, str]) -> None:
        coord = self.kernel.coord(name)
        text = self.starts[name] = self.names.fresh(name if coord.tile == 1 else f"{name}_start")
        if name in self.shared.workers.falling:
            block = f"({counts[name]} - 1 - {block})"
        self.line(f"{text} = {block}" + (f" * {coord.tile}" if coord.tile > 1 else ""))

    def count(self, coord: Coord) -> str:
        if coord.blocks is not None:
            return str(coord.blocks)
        size = size_argument(coord.axis)
        if coord.tile == 1:
            return size
        name = self.names.fresh(f"{coord.name}_blocks")
        self.line(f"{name} = gl.cdiv({size}, {coord.tile})")
        return name
