"""What a plan costs on a GPU: its work read off the plan's own statements, priced by the hardware's rates.

time = max(HBM bytes / copy bandwidth, level-2 bytes / its bandwidth, units) + a little of the others + launch, where
the units are the matrix unit plus what of the special functions and arithmetic it does not hide, on the busiest SM
(wave quantisation). Sizes that are symbols are priced as they are expected (tile/expected.py).
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.dtypes import BY_SHORT, NARROW, WHOLE
from napkin_eq.machine.gpu import Hardware
from napkin_eq.machine.l2_reuse import Part, brought, walk
from napkin_eq.tile import ir as p
from napkin_eq.tile.accesses import FAR_APART, Near, near
from napkin_eq.tile.expected import nominal
from napkin_eq.tile.resources import (
    BYTES,
    MATRIX_WARPS,
    MOST_ELEMENTS,
    SECTOR,
    SPECIAL,
    VECTOR,
    WARP,
    WIDE_ROWS,
    Crossing,
    Needs,
    Sliced,
    adjoining,
    buffer_bytes,
    by_wide,
    capacity,
    crossed_clocks,
    crossing,
    needs,
    passed_over,
    places,
    room,
    sliced,
)

# The rate at which operands are multiplied, by their type or the precision asked for, and how many products one takes.
UNIT_DTYPES = {name: precision.unit for name, precision in p.PRECISIONS.items()}
UNIT_DTYPES |= {short: BY_SHORT[short].name for short in NARROW}
SPLIT = {name: precision for name, precision in p.PRECISIONS.items() if precision.parts > 1}
# Fitted to what an H200 measured (benchmarks/results), one constant for one thing that the hardware does; see
# docs/cost.md.
PARTED = 1.5  # stretches of an axis that add up to no more than so many times the axis are parts of it
MATRIX_ROWS = 16  # rows that one instruction of the matrix unit takes of a narrow tile
# Operations per element of an operand that is loaded, computed on and handed back to the matrix unit
COMPUTED_OPERAND = 8.0
# Of f32 operands that are multiplied in parts: registers of a thread for each of its elements and beside them, as the
# compiler told of eleven tilings, and clocks for which a block waits for each such product, measured on an H100
PART_SHARE, PART_REGISTERS, PART_CLOCKS = 1.5, 38, 450.0
# Of an operand whose rows begin at addresses that are no multiple of so many bytes each element is loaded as if by so
# many: a product of 8205 x 2949 x 5921 in float32 took 16.0 ms on an H100, 4.1 told without it
APART, UNALIGNED = 8, 30.0
# Of an operand in tf32 whose neighbours in memory do not lie along what is summed each element is copied by itself, as
# if by so many: five tilings of four convolutions on an H100, of 16 to 64 channels. So much more, to this power, where
# warps are more than take the matrix unit together: of eight two took an H200 1.3 and 1.6 times what they did of four
TURNED, TURNED_BY = 7.0, 0.5
# Operations of a division beside its reciprocal: it scales, and corrects what it has
DIVIDING, DIVISION = ("tanh", "sigmoid", "div"), 8.0
CASTING, FOLDING = 0.5, 1.5  # operations per element of a conversion, and of a reduction or a prefix fold
# Of mixed bits: ten rounds of two products of 64 bits and two exclusive ors, at a fourth of the rate of additions and
# at half of it, for two neighbours of a contraction's result or for four elsewhere; counted, not measured
PLAIN = {"cast": CASTING, "random": 60.0}
# Of prefix folds (270 tilings of twelve on an H200, then 308 of seventeen): what threads issue for each element; the
# warps of a lone block that keep the units busy, as its elements do not wait for each other; the share of a load's time
# that it waits
SCANNED, SCANNING, SCAN_WAIT = 5.0, 5.0, 0.3
# Of a kernel without contraction what its threads issue, an addition being 1: comparisons, choices and whole numbers
# have half the lanes of additions; roundings, divisions and series are many instructions (counted in what Triton
# compiles of random diagrams).
ISSUED = {
    "add": 1.0, "sub": 1.0, "mul": 1.0, "neg": 1.0, "fma": 1.0, "abs": 1.0, "floor": 8.0, "round": 18.0, "div": 15.0,
    "inv": 15.0,
    "tanh": 14.0, "sigmoid": 18.0, "erf": 24.0, "sin": 45.0, "cos": 45.0, "exp2": 4.0, "log2": 6.0, "sqrt": 8.0,
    "rsqrt": 8.0,
    "expm1": 20.0, "atan": 70.0, "floordiv": 20.0, "mod": 24.0, "cast": 1.0, "random": 60.0,
}  # fmt: skip
BY_NUMBER = {"floordiv": 5.0, "mod": 8.0}  # by a number that is written out: a multiplication and a shift
OTHERS_ISSUED, ENTERED = 2.0, 40.0  # of another operator; of a thread's begin and end
ACCESSED, HELD = 5.0, 0.5  # of a load or store, however many elements a thread takes at once, and of each of them
TURNS = 8.0  # of a turn of a loop: its count, its bound, the addresses that go on (a walk of 1,000 scalars on an H100)
TAKEN = 16  # elements that a thread takes at once and no more
PAGE = 1 << 21  # bytes of memory whose place a GPU looks up at once
PARTLY = 3.0  # times that a request takes which writes fewer bytes than level 2 writes at once
AT_ONCE = WARP * VECTOR  # elements that a warp takes side by side
# Instructions as counted here that an SM keeps; times as long, at the most, that more of them take
KEPT, FETCHED = 4000.0, 3.0
# Times as long as told that a kernel takes whose threads may have to hold more of a smaller tile, spread over a larger
# one, than they can
SPILLING = 1.2
DATA_LEAST = 16  # elements of a stretch bounded by data that are taken to be the least


# The parts of loops around a statement: whose coordinate, what share of its blocks, which part of the kernel
Within = tuple[tuple[str, float, int], ...]


@dataclass(frozen=True, slots=True)
class Work:
    """One statement's work per execution: `kind` load, store, lsu, tensor, operand, sfu or alu; `coords` span its tile;
    `loops` enclose it.

    lsu: loads lane by lane, as of places that are computed, of which no thread can take several at once.

    for_dot: a contraction reads what is loaded, or, of a contraction, its rows come from shared memory; of lsu, it is
    turned for one. rows, columns: of a contraction's result; of an operand that is computed its rows, or of what has
    the columns the result's, and columns the rows beside it. depth: those that it sums over, or that both have. near:
    how the elements of a load or store lie in memory. part: of which folded tile, or stored one, the result lies in
    threads as that does, each part in all threads that hold one of its lanes.
    """

    kind: str
    coords: tuple[str, ...]
    factor: float
    buffer: str
    loops: Within
    for_dot: bool = False
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    depth: tuple[str, ...] = ()
    near: Near = Near()
    part: Crossing | None = None


@dataclass(frozen=True, slots=True)
class KernelCost:
    """A kernel's predicted cost; bytes, FLOP and operations are totals over the grid, times are microseconds; `workers`
    groups of warps share it, and issue contractions `in_turn`."""

    name: str
    groups: tuple[tuple[str, int], ...]
    streams: tuple[tuple[str, int], ...]
    blocks: int
    waves: float
    bytes_hbm: float
    bytes_l2: float
    flops_tensor: float
    ops_sfu: float
    ops_alu: float
    smem_bytes: int
    registers: int
    warps: int
    stages: int
    predicted_us: float
    limit: str
    workers: int = 0
    in_turn: bool = False


@dataclass(frozen=True, slots=True)
class Profile:
    """The work of a kernel with its tiles left open, so that many tile choices can be priced from one lowering.

    readings: how often a block reads its part of each buffer; the parts of one loop read each their own stretch,
    together they are one reading.
    telling: the coordinates of the grid that tell which part of a buffer a block reads by its indices, and those by
    where a loop begins.
    needs: what its blocks take. laned: whether threads fold lanes of their own, with no contraction beside. crossings:
    of a kernel without contraction, the foldings for which threads meet, and what encloses them. unrolled: the parts of
    loops that are written out.
    """

    kernel: p.Kernel
    works: tuple[Work, ...]
    reductions: tuple[Within, ...]
    crossings: tuple[tuple[Crossing, Within], ...]
    unrolled: frozenset[int]
    needs: Needs
    readings: Mapping[str, int]
    telling: Mapping[str, tuple[frozenset[str], frozenset[str]]]
    laned: bool

    @property
    def parted(self) -> list[Within]:
        """What encloses the products of f32 operands that are multiplied in parts."""
        return [work.loops for work in self.works if work.kind == "tensor" and work.buffer in SPLIT]


def total_us(costs: Sequence[KernelCost], hardware: Hardware) -> float:
    """Return the microseconds of kernels that run one after another."""
    return in_a_row([c.predicted_us for c in costs], hardware)


def in_a_row(microseconds: Sequence[float], hardware: Hardware) -> float:
    """Return the microseconds of kernels that run one after another, of those of each alone; only the first launch is
    waited for.
    """
    return sum(microseconds) - (len(microseconds) - 1) * waited_us(hardware)


def waited_us(hardware: Hardware) -> float:
    """Return what of a launch, in microseconds, only the first of several kernels waits for."""
    return max(0.0, hardware.chip.launch_s - hardware.model.following_s) * 1e6


def extent(axis: Axis) -> int:
    """Return an axis' size, of a symbol the one that is expected (tile/expected.py)."""
    return nominal(axis)


def elements(axes: Iterable[Axis]) -> int:
    """Return how many elements an array over these axes has."""
    return math.prod(extent(a) for a in axes)


def profile(kernel: p.Kernel) -> Profile:
    """Read the work off a kernel's statements."""
    values, made = p.values_of(kernel.body), p.definitions(kernel.body)
    dotted = _feeds_dot(kernel)
    computed = computed_operands(kernel)
    loaded = {s.out.name for s in p.statements(kernel.body) if isinstance(s, p.Load)}
    dots = [s for s in p.statements(kernel.body) if isinstance(s, p.Dot)]
    turned = {name: s.coord for s in dots if s.precision == "tf32" for name in (s.a, s.b)}
    works: list[Work] = []
    reductions: list[Within] = []
    crossings: list[tuple[Crossing, Within]] = []
    unrolled: set[int] = set()
    visits, number = Visits(kernel), itertools.count()
    plain = not any(isinstance(s, p.Dot) for s in p.statements(kernel.body))
    laned = plain and any(c.role == "lane" for c in kernel.coords) and not _columns(kernel)
    need = needs(kernel, laned=laned)

    def walk(body: tuple[p.Stmt, ...], loops: Within) -> None:
        for stmt in body:
            match stmt:
                case p.Load():
                    dotting = stmt.out.name in dotted
                    lying = near(kernel, stmt, made, values)
                    lies = need.beside.get(stmt.out.coords)
                    size = BYTES[stmt.out.dtype]
                    works.append(
                        Work("load", stmt.out.coords, size, stmt.buffer, loops, dotting, near=lying, part=lies)
                    )
                    bytes_apart = lying.pitch * BYTES[stmt.out.dtype]
                    odd = lying.apart == 1 and lying.pitch > 1 and bytes_apart % APART
                    if dotting and loops and lying.last and odd:
                        works.append(Work("lsu", stmt.out.coords, UNALIGNED, "", loops))
                    elif loops and turned.get(stmt.out.name, lying.last) != lying.last:
                        works.append(Work("lsu", stmt.out.coords, TURNED, "", loops, True))
                    elif lying.last and (lying.apart > 1 or not adjoining(kernel.minor(stmt), made, values)):
                        works.append(Work("lsu", stmt.out.coords, 1.0, "", loops))
                case p.StoreTile():
                    coords = (
                        tuple(dict.fromkeys(c for i in stmt.index if isinstance(i, str) for c in values[i].coords))
                        or values[stmt.value].coords
                    )
                    lying = near(kernel, stmt, made, values)
                    works.append(
                        Work("store", coords, BYTES[kernel.buffer(stmt.buffer).dtype], stmt.buffer, loops, near=lying)
                    )
                case p.Dot():
                    spans = tuple(dict.fromkeys((*values[stmt.a].coords, *values[stmt.b].coords)))
                    kind = stmt.precision if values[stmt.a].dtype == "f32" else values[stmt.a].dtype
                    rows, columns = (
                        tuple(c for c in values[side].coords if c != stmt.coord) for side in (stmt.a, stmt.b)
                    )
                    depth = tuple(c for c in spans if c not in rows and c not in columns)
                    works.append(
                        Work(
                            "tensor",
                            spans,
                            2.0 * (SPLIT[kind].products if kind in SPLIT else 1),
                            kind,
                            loops,
                            stmt.a in loaded,
                            rows,
                            columns=columns,
                            depth=depth,
                        )
                    )
                    for side in dict.fromkeys((stmt.a, stmt.b)):
                        each = COMPUTED_OPERAND * (side in computed) + (SPLIT[kind].split if kind in SPLIT else 0.0)
                        if each:
                            tile, first = values[side].coords, side == stmt.a
                            tall, beside = (rows, ()) if first else (stmt.out.coords, rows)
                            works.append(Work("operand", tile, each, "", loops, rows=tall, columns=beside))
                case p.Let():
                    kind = "sfu" if stmt.op in SPECIAL else "alu"
                    works.append(
                        Work(
                            kind, stmt.out.coords, SPECIAL.get(stmt.op, PLAIN.get(stmt.op, 1)), "", loops
                        )
                    )
                    if stmt.op in DIVIDING:
                        works.append(Work("alu", stmt.out.coords, DIVISION, "", loops))
                    # Whole numbers and masks that threads have in common are computed once, beside them
                    counted = not stmt.out.coords and (stmt.out.dtype in WHOLE or stmt.out.dtype == "i1")
                    if plain and not counted:
                        whole = stmt.out.dtype in WHOLE and stmt.op not in ("floordiv", "mod", "random")
                        each = OTHERS_ISSUED if whole else ISSUED.get(stmt.op, OTHERS_ISSUED)
                        if stmt.op in BY_NUMBER and isinstance(stmt.args[-1], int):
                            each = BY_NUMBER[stmt.op]
                        lies = need.folded.get(stmt.out.coords) or need.beside.get(stmt.out.coords)
                        works.append(Work("issue", stmt.out.coords, each, "", loops, part=lies))
                case p.ReduceTile() | p.ScanTile():
                    spanned = stmt.out.coords if isinstance(stmt, p.ScanTile) else values[stmt.arg].coords
                    tiles = [spanned]
                    if (
                        isinstance(stmt, p.ScanTile)
                        and stmt.gain is not None
                        and stmt.coord in values[stmt.gain].coords
                    ):
                        tiles.append(values[stmt.gain].coords)  # gains that rows have in common are composed once
                    for folding in tiles:
                        works.append(Work("alu", folding, FOLDING, "", loops))
                        if plain:
                            works.append(
                                Work("issue", folding, SCANNED if isinstance(stmt, p.ScanTile) else 1.0, "", loops)
                            )
                    if kernel.coord(stmt.coord).role != "run":
                        reductions.append(loops)
                    if stmt.coord in spanned:
                        crossings.append((crossing(kernel, stmt, made, values), loops))
                case p.Loop():
                    copies = p.unrolled(kernel, stmt)
                    for part, fraction in zip(stmt.parts, visits.fractions(stmt), strict=True):
                        at = next(number)
                        unrolled.update([at] if copies else [])
                        within = (*loops, (stmt.coord, fraction, at))
                        works.append(Work("issue", (), 0.0 if copies else TURNS, "", within))
                        walk(part.body, within)

    walk(kernel.body, ())
    merged = _merged(works)
    shares: dict[str, float] = {}
    for work in merged:
        if work.kind == "load":
            shares[work.buffer] = shares.get(work.buffer, 0) + math.prod(share for _, share, _ in work.loops)
    readings = {name: round(total) for name, total in shares.items()}
    met = tuple(crossings) if plain else ()
    return Profile(kernel, merged, tuple(reductions), met, frozenset(unrolled), need, readings, telling(kernel), laned)


def _columns(kernel: p.Kernel) -> bool:
    """Tell whether lanes of a stream fold columns: they have results for several places of another axis."""
    wide = {c.name: c.role for c in kernel.coords if c.tile > 1}
    spanned = [[wide[c] for c in value.coords if c in wide] for value in p.values_of(kernel.body).values()]
    return any("lane" in roles and not {*roles} <= {"lane", "run"} for roles in spanned)


def telling(kernel: p.Kernel) -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """Return, by buffer, the coordinates of the grid on which indices depend, and those on which the first blocks of
    the loops do that walk it.
    """
    found: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
    for name, by_index, by_loop in _loads(kernel):
        before = found.get(name, (frozenset(), frozenset()))
        found[name] = before[0] | by_index, before[1] | by_loop
    return found


def told_apart(kernel: p.Kernel) -> list[tuple[str, frozenset[str]]]:
    """Return, by load, the buffer and the coordinates of the grid on which its indices depend: what all blocks read of
    a buffer they share, though each reads a part of its own of it beside.
    """
    return [(name, by_index) for name, by_index, _ in _loads(kernel)]


def _loads(kernel: p.Kernel) -> Iterator[tuple[str, frozenset[str], frozenset[str]]]:
    """Yield, by load, the buffer and the coordinates of the grid on which its indices depend, and those on which the
    first blocks of the loops do that walk it.
    """
    made = p.definitions(kernel.body)
    begins = {s.coord: s.parts[0].lo for s in p.statements(kernel.body) if isinstance(s, p.Loop)}

    def coords(operands: Iterable[p.Operand]) -> set[str]:
        found = p.closure(made, [o for o in operands if isinstance(o, str)]).values()
        return {s.coord for s in found if isinstance(s, (p.Start, p.Iota))}

    for load in (s for s in p.statements(kernel.body) if isinstance(s, p.Load)):
        own = coords(load.index)
        by_loop = coords(begins[c] for c in own if c in begins)
        yield load.buffer, frozenset(own & {*kernel.grid}), frozenset(by_loop & {*kernel.grid})


SUMMED = ("sfu", "alu", "issue")


def _merged(works: list[Work]) -> tuple[Work, ...]:
    """Add up the arithmetic of statements over the same tile in the same loops: what is priced stays the same."""
    sums: dict[Any, float] = {}
    for work in works:
        key = (work.kind, work.coords, work.buffer, work.loops, work.for_dot, work.part)
        if work.kind in SUMMED:
            sums[key] = sums.get(key, 0.0) + work.factor
    others = tuple(w for w in works if w.kind not in SUMMED)
    return others + tuple(
        Work(kind, coords, factor, buffer, loops, dot, part=part)
        for (kind, coords, buffer, loops, dot, part), factor in sums.items()
    )


def _feeds_dot(kernel: p.Kernel) -> set[str]:
    found: set[str] = set()
    for stmt in reversed(list(p.statements(kernel.body))):
        if isinstance(stmt, p.Dot):
            found |= {stmt.a, stmt.b}
        elif isinstance(stmt, p.Let) and stmt.op == "cast" and stmt.out.name in found:
            found |= {a for a in stmt.args if isinstance(a, str)}
    return found


def computed_operands(kernel: p.Kernel) -> set[str]:
    """Return the operands of contractions that are computed, but for rows computed from another contraction's result:
    they are there.
    """
    made: dict[str, p.Stmt] = {}
    dots: set[str] = set()
    found: set[str] = set()
    for stmt in p.statements(kernel.body):
        if isinstance(stmt, (p.Loop, p.Assign, p.Await, p.StoreTile)):
            continue
        name = stmt.out.name
        made[name] = stmt
        args = [a for a in getattr(stmt, "args", ()) if isinstance(a, str)] + (
            list(p.used(stmt)) if isinstance(stmt, (p.ReduceTile, p.ScanTile)) else []
        )
        if isinstance(stmt, p.Dot) or any(a in dots for a in args):
            dots.add(name)
        if isinstance(stmt, p.Dot):
            found |= {
                side
                for side in (stmt.a, stmt.b)
                if isinstance(made.get(side), p.Let) and (side not in dots or side == stmt.b)
            }
    return found


class Visits:
    """Which share of a coordinate's blocks each part of a loop visits, averaged over sample positions of the grid."""

    def __init__(self, kernel: p.Kernel) -> None:
        self.kernel = kernel
        self.data: dict[p.Operand, bool] = {}
        self.defined = p.definitions(kernel.body)

    def fractions(self, loop: p.Loop) -> list[float]:
        samples = (0.04, 0.2, 0.35, 0.5, 0.65, 0.8, 0.96)
        coord = self.kernel.coord(loop.coord)
        whole = math.ceil(extent(coord.axis) / coord.tile)
        return [
            sum(blocks) / whole / len(samples)
            for blocks in zip(*(self.blocks(loop, where) for where in samples), strict=True)
        ]

    def blocks(self, loop: p.Loop, where: float) -> list[int]:
        """Return how many blocks each part of a loop visits, at a position of the grid from 0 to 1."""
        coord = self.kernel.coord(loop.coord)
        size = extent(coord.axis)
        least: dict[str, int] = {}
        greatest: dict[str, int] = {}
        # Of a stretch whose end is read from data nothing is known but the least and the most: their geometric mean is
        # as far from either.
        known = []
        for part in loop.parts:
            most = max(0, self._number(part.hi, where, size, greatest) - self._number(part.lo, where, 0, least))
            if self._read(part.lo) or self._read(part.hi):
                fewest = self._number(part.hi, where, 0, least) - self._number(part.lo, where, size, greatest)
                known.append(math.sqrt(most * min(most, max(fewest, DATA_LEAST))))
            else:
                known.append(most)
        return [math.ceil(n / coord.tile) for n in known]

    def _read(self, operand: p.Operand) -> bool:
        """Whether a bound depends on what is read from memory."""
        if operand not in self.data:
            stmt = self.defined.get(str(operand))
            self.data[operand] = stmt is not None and (isinstance(stmt, p.Load) or any(map(self._read, p.used(stmt))))
        return self.data[operand]

    def _number(self, operand: p.Operand, where: float, unknown: int, known: dict[str, int]) -> int:
        """Estimate a bound at a position of the grid; `known` are values at this position, what depends on data being
        `unknown`.
        """
        if not isinstance(operand, str):
            return int(operand)
        if operand not in known:
            known[operand] = self._computed(self.defined.get(operand), where, unknown, known)
        return known[operand]

    def _computed(self, stmt: p.Stmt | None, where: float, unknown: int, known: dict[str, int]) -> int:
        if isinstance(stmt, p.Let) and stmt.op in _WHOLE:
            args = [self._number(a, where, unknown, known) for a in stmt.args]
            return _WHOLE[stmt.op](args[0], args[-1])
        if isinstance(stmt, p.Start):
            return self._start(self.kernel.coord(stmt.coord), where)
        if isinstance(stmt, p.Iota) and (coord := self.kernel.coord(stmt.coord)).role in ("group", "whole"):
            start = self._start(coord, where) if coord.role == "group" else 0
            return start + known.get(LAST, 0) * (min(coord.tile, extent(coord.axis)) - 1)
        if isinstance(stmt, p.ReduceTile):  # of coordinates and sums of them: it is at one of the ends of a tile
            return max(self._number(stmt.arg, where, unknown, {LAST: last}) for last in (0, 1))
        return extent(stmt.axis) if isinstance(stmt, p.SizeOf) else unknown

    def _start(self, coord: p.Coord, where: float) -> int:
        """Return where the block of a coordinate begins at a position of the grid."""
        return int(where * extent(coord.axis)) // coord.tile * coord.tile


LAST = ""  # no value's name: whether lanes of tiles are the last ones, not the first
# What bounds of loops are computed by, of the first and the last argument.
_WHOLE: Mapping[str, Callable[[int, int], int]] = {
    "add": operator.add, "mul": operator.mul, "max": max, "min": min, "floordiv": lambda a, b: a // (b or 1),
    "mod": lambda a, b: a % (b or 1), "neg": lambda a, _: -a,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Totals:
    """A kernel's work with its tiles chosen: operations over the grid by kind, bytes loaded by buffer and stored.

    `requests`: bytes that loads and, at "", stores ask level 2 for. `wide`, `narrow`: clocks of one block on the matrix
    unit at its peak, by the instructions that the tiles allow; `shared_wide`, `shared_narrow`: bytes that they read
    from shared memory meanwhile. `walks`: how often a block runs each loop's body, and what is in none. `crowded`:
    warps outnumber the rows of a contraction in a loop with exponentials. `issued`: of a kernel without contraction,
    the elements of tiles, how many of them a thread takes at once, what each such step issues, and in how many trips of
    a block. `sliced`: of what lies in threads as a folded tile does: the tile's sizes as in Crossing, its vector, the
    dimensions that are left, and what an element issues. `pieces`: of buffers that such a kernel reads by rows of
    less than a line, far apart, by rows that begin anywhere, or in pages of their own, times as long as their bytes
    take, and at "" of stores; `rows`: of those that begin anywhere, how many threads take two rows of a tile at once.
    """

    blocks: int
    operations: Mapping[str, float]
    wide: float
    narrow: float
    shared_wide: float
    shared_narrow: float
    moved: Mapping[str, float]
    stored: float
    requests: Mapping[str, float]
    walks: Mapping[Within, float]
    crowded: bool
    issued: tuple[tuple[float, float, float, float], ...]
    sliced: tuple[Sliced, ...]
    pieces: Mapping[str, float]
    rows: Mapping[str, float]


def totals(
    prof: Profile,
    lanes: Mapping[str, int],
    hardware: Hardware,
    warps: int,
    *,
    line: float | None = None,
    anew: Callable[[Work], float] = lambda _: 1.0,
) -> Totals:
    """Add up the work of a kernel for tile sizes by coordinate name.

    line: the bytes that a request takes at the least. anew: how many times a program computes each lane of arithmetic.
    """
    line = hardware.model.line_bytes if line is None else line
    kernel = prof.kernel
    sizes = {c.name: extent(c.axis) for c in kernel.coords}
    blocks = math.prod(math.ceil(sizes[g] / lanes[g]) for g in kernel.grid)
    total = {"tensor": 0.0, "sfu": 0.0, "alu": 0.0, "operand": 0.0, "lsu": 0.0}
    matrix = {True: [0.0, 0.0], False: [0.0, 0.0]}
    moved: dict[str, float] = {}
    requests: dict[str, float] = {}
    stored, crowded = 0.0, False
    issued: list[tuple[float, float, float, float]] = []
    parts: list[Sliced] = []
    pieces: dict[str, float] = {}
    rows: dict[str, float] = {}
    plain = not any(work.kind == "tensor" for work in prof.works)
    # Of a tile that is longer than its axis warps leave out what all their threads would compute past the end.
    within = {c: min(n, -(-sizes[c] // AT_ONCE) * AT_ONCE) for c, n in lanes.items()}
    live = {c: min(n, sizes[c]) for c, n in lanes.items()}
    walks: dict[Within, float] = {}
    reduced = any(w.kind == "sfu" and w.loops for w in prof.works)
    for work in prof.works:
        for loops in (work.loops, _written(prof, work.loops)):
            if loops not in walks:
                walks[loops] = math.prod(fraction * math.ceil(sizes[c] / lanes[c]) for c, fraction, _ in loops)
        times = walks[work.loops]
        if work.kind == "issue":
            if work.part:
                parts.append((*sliced(work.part, work.coords, lanes), work.factor * times))
            else:  # of a number that all threads have in common each computes its own
                issued.append((math.prod(within[c] for c in work.coords), 1, work.factor, times))
            continue
        if work.kind in ("load", "store"):
            if plain and (work.coords or work.loops):
                held = math.prod(within[c] for c in work.coords)
                at_once = min(work.near.vector, lanes.get(work.near.last, 1))
                if work.part:  # all threads that have elements of a row read what is of that row
                    at_once = min(at_once, work.part.vector) if work.part.order[0] in work.coords else 1
                    parts.append((*sliced(work.part, work.coords, lanes), (ACCESSED / at_once + HELD) * times))
                else:
                    issued += [(held, at_once, ACCESSED, times), (held, 1, HELD, times)]
            amount = work.factor * math.prod(live[c] for c in work.coords) * times * blocks
            if plain and work.kind == "load":
                amount *= work.near.distinct(live, work.coords)
            name = "" if work.kind == "store" else work.buffer
            # Neighbours along a tile fill lines, or lie so far apart that each has one of its own.
            side = 1 + sum((live[c] - 1) * step for c, step in work.near.along)
            run = work.factor * (side if work.near.apart == 1 else 1)
            # A part of a sector that is written is read and put together with the rest of it, unless the next row is in
            # it, too.
            whole = (
                line
                if work.kind == "load" or run >= SECTOR
                else max(line, min(PARTLY * line, work.factor * work.near.pitch))
            ) / work.factor
            # What is written a few places apart leaves parts of each sector that it writes
            apart = work.near.apart * (PARTLY if work.kind == "store" and work.near.apart > 1 else 1.0)
            requests[name] = requests.get(name, 0.0) + amount * max(
                1.0, min(whole, work.near.pitch) / side, min(whole, apart)
            )
            if plain:
                longer, needed = _rows(work, lanes, run, side, hardware)
                pieces[name] = max(longer, pieces.get(name, 1.0))
                rows[name] = max(needed, rows.get(name, 0.0))
            if work.kind == "store":
                stored += amount
            else:
                moved[work.buffer] = moved.get(work.buffer, 0.0) + amount
            continue
        amount = work.factor * math.prod(lanes[c] for c in work.coords) * times * blocks
        if work.kind == "lsu" and work.for_dot:
            amount *= max(1.0, warps / MATRIX_WARPS) ** TURNED_BY
        # Warps side by side along the columns each compute the whole of an operand, but of columns their own where each
        # takes the instructions by itself.
        theirs = bool(work.columns) and math.prod(lanes[c] for c in work.columns) < WIDE_ROWS
        if work.kind == "operand" and not theirs:
            amount *= max(1.0, warps * MATRIX_ROWS / max(MATRIX_ROWS, next((lanes[c] for c in work.rows), 1)))
        total[work.kind] += amount * (anew(work) if work.kind in SUMMED else 1.0)
        if work.kind == "tensor":
            whole_groups, read = _shared_reads(work, lanes, warps)
            amount *= _empty(work, lanes, hardware) if whole_groups else 1.0
            matrix[whole_groups][0] += (
                amount
                / blocks
                * hardware.chip.sms
                * hardware.chip.clock_hz
                / hardware.flops(UNIT_DTYPES.get(work.buffer, "float32"))
            )
            matrix[whole_groups][1] += read * times
            crowded |= reduced and warps // MATRIX_WARPS > max(
                1, max((lanes[c] for c in work.rows), default=1) // WIDE_ROWS
            )
    (wide, shared_wide), (narrow, shared_narrow) = matrix[True], matrix[False]
    return Totals(
        blocks, total, wide, narrow, shared_wide, shared_narrow, moved, stored, requests, walks, crowded, tuple(issued),
        tuple(parts), pieces, rows
    )  # fmt: skip


def _rows(
    work: Work, lanes: Mapping[str, int], run: float, side: int, hardware: Hardware
) -> tuple[float, float]:
    """Return how many times as long as its bytes a load or store takes by how its rows lie, each of `side` places and
    `run` bytes, and how many threads take two of them at once where rows begin anywhere.
    """
    near, model = work.near, hardware.model
    several = math.prod(lanes[c] for c in work.coords if c not in dict(near.along)) > 1
    pitch = work.factor * near.pitch if near.pitch < FAR_APART else 0
    longer = model.pages if several and pitch > PAGE else 1.0
    if near.skewed:
        # Of what is read blocks side by side find some of a sector's other numbers in level 2
        longer *= model.skewed * (1 + SECTOR / max(run, SECTOR) / (1 if work.kind == "store" else 2))
    if run < hardware.divisors.coalesced_bytes <= pitch and (work.kind == "load" or near.skewed):
        longer *= model.pieces
    return longer, 2 * side / near.vector if near.skewed and several and side < near.pitch else 0.0


def _shared_reads(work: Work, lanes: Mapping[str, int], warps: int) -> tuple[bool, float]:
    """Return whether a contraction's tile takes the wide instructions, and the bytes of shared memory that its warps
    read.

    Groups of four warps (narrow: single warps) take rows first and then columns: each reads its own rows and columns,
    so what lies side by side is read again.
    """
    wide = _wide(work, lanes, warps)
    rows, columns = _operand_reads(work, lanes, *((warps // MATRIX_WARPS, WIDE_ROWS) if wide else (warps, MATRIX_ROWS)))
    return wide, rows * (work.for_dot or not wide) + columns


def _operand_reads(work: Work, lanes: Mapping[str, int], takers: int, tall: int) -> tuple[int, int]:
    """Return the bytes of a contraction's row and column operands that all its takers, each of `tall` rows at a time,
    read together.
    """
    rows, columns = (math.prod(lanes[c] for c in side) for side in (work.rows, work.columns))
    depth = math.prod(lanes[c] for c in work.depth) * BYTES.get(work.buffer, 4)
    down = min(max(1, rows // tall), takers)
    return depth * rows * max(1, takers // down), depth * columns * down


def _fragments(prof: Profile, lanes: Mapping[str, int], warps: int) -> int:
    """Return the registers of a thread that hold operands, half a tile's at a time, on a GPU whose matrix unit does not
    read shared memory.
    """
    alike = {(w.rows, w.columns, w.depth, w.buffer): w for w in prof.works if w.kind == "tensor"}
    most = max((sum(_operand_reads(w, lanes, warps, MATRIX_ROWS)) for w in alike.values()), default=0)
    return math.ceil(most / 2 / (warps * 32 * 4))


def _parts(prof: Profile, lanes: Mapping[str, int], warps: int) -> int:
    """Return the registers of a thread that hold the parts that f32 operands are multiplied in."""
    most = 0.0
    for work in prof.works:
        if work.kind == "tensor" and work.buffer in SPLIT:
            rows, columns, depth = (math.prod(lanes[c] for c in side) for side in (work.rows, work.columns, work.depth))
            most = max(most, PART_REGISTERS + PART_SHARE * depth * (rows + columns) / (warps * 32))
    return math.ceil(most)


def _empty(work: Work, lanes: Mapping[str, int], hardware: Hardware) -> float:
    """Return how much longer a wide instruction takes than its columns are worth: it is no faster for fewer than so
    many.
    """
    model = hardware.model
    return max(1.0, model.least_columns / min(math.prod(lanes[c] for c in side) for side in (work.rows, work.columns)))


def _wide(work: Work, lanes: Mapping[str, int], warps: int) -> bool:
    return warps >= MATRIX_WARPS and math.prod(lanes[c] for c in work.rows) >= WIDE_ROWS


def price(prof: Profile, tiles: Mapping[str, int], warps: int, stages: int, hardware: Hardware) -> KernelCost | None:
    """Predict a kernel's cost for tile sizes by coordinate name; None where shared memory or registers do
    not suffice.
    """
    return next(prices(prof, tiles, [(warps, stages)], hardware))


def prices(
    prof: Profile, tiles: Mapping[str, int], launches: Iterable[tuple[int, int]], hardware: Hardware
) -> Iterator[KernelCost | None]:
    """Predict a kernel's cost for tile sizes by coordinate name, with each of several numbers of warps and stages."""
    lanes = {c.name: tiles.get(c.name, c.tile) for c in prof.kernel.coords}
    taken = room(prof.needs, lanes)
    wide = hardware.divisors.mma_m >= WIDE_ROWS
    summed: dict[int, Totals] = {}
    fetched: dict[int, Mapping[str, float]] = {}
    operands: dict[int, int] = {}
    for warps, stages in launches:
        smem, registers = capacity(taken, warps, stages, wide)
        if warps not in operands:
            operands[warps] = 0 if by_wide(taken, warps, wide) else _fragments(prof, lanes, warps)
        fragments = operands[warps]
        if not wide:
            registers += fragments
        registers += _parts(prof, lanes, warps)
        threads = warps * hardware.chip.warp
        occupancy = hardware.resident_blocks(smem_bytes=smem, threads=threads, registers_per_thread=registers)
        if (
            occupancy == 0
            or taken.largest > MOST_ELEMENTS
            or registers + (fragments if wide else 0) > _unspilled(threads, hardware)
        ):
            yield None
            continue
        # Without a contraction warps share what there is to do, and nothing is done twice
        splits = warps if taken.contracted else 0
        if splits not in summed:
            summed[splits] = totals(prof, lanes, hardware, warps)
        work = summed[splits]
        if occupancy not in fetched:
            fetched[occupancy] = {
                name: from_hbm(prof, lanes, name, work.moved, work.blocks, hardware, occupancy) for name in work.moved
            }
        found = fetched[occupancy]
        # Warps that are all in one row drift apart, and what of a sector one has read the next reads again
        apart = {name: hardware.model.drifting for name, needed in work.rows.items() if threads < needed}
        longer = {name: times * apart.get(name, 1.0) for name, times in work.pieces.items()}
        read = sum(found.values()), sum(found[name] * (times - 1) for name, times in longer.items() if name)
        met = _meeting(prof, lanes, work, warps)
        written = work.stored * longer.get("", 1.0)
        cost = _priced(prof, lanes, work, read, written, met, smem, registers, occupancy, warps, stages, hardware)
        most = min(hardware.limits.registers_per_thread, hardware.limits.registers_per_sm // threads)
        yield replace(cost, predicted_us=cost.predicted_us * SPILLING) if passed_over(taken, warps) > most else cost


def _unspilled(threads: int, hardware: Hardware) -> float:
    """Return the estimate of a thread's registers above which the compiler spills: where blocks are large, they have
    fewer than a thread may have.
    """
    model = hardware.model
    most = hardware.limits.registers_per_thread
    each = hardware.limits.registers_per_sm // threads
    return model.register_share * most if each >= most else min(model.register_share * most, model.crowded_share * each)


def _priced(
    prof: Profile, lanes: Mapping[str, int], work: Totals, read: tuple[float, float], written: float,
    met: tuple[float, float, float], smem: int, registers: int,
    occupancy: int, warps: int, stages: int, hardware: Hardware,
) -> KernelCost:  # fmt: skip
    """Predict the cost of a kernel of which `occupancy` blocks fit an SM, whose threads meet for `met` clocks of an SM
    a block, and wait for so many; read: the bytes that come from the top level, and by how many more they count;
    written: the bytes that stores count as."""
    model = hardware.model
    fetched = read[0]
    kernel = prof.kernel
    blocks, total, sms = work.blocks, work.operations, hardware.chip.sms
    loaded = sum(work.moved.values())
    copying = hardware.hbm.copy_bandwidth
    hbm = sum(read) / (copying * model.read_rate) + written / (copying * model.write_rate)
    near = 0.0 if total["tensor"] else _near(prof, work, occupancy, smem, hardware)
    asked = sum(
        amount * (1 - near * (1 - 1 / max(1, prof.readings[name])) if name else 1)
        for name, amount in work.requests.items()
    )
    l2 = max(asked / hardware.l2.copy_bandwidth, asked / (min(blocks, sms) * model.sm_bytes * hardware.chip.clock_hz))
    mean = model.latency_l2_s + (model.latency_hbm_s - model.latency_l2_s) * fetched / max(1.0, loaded)
    if not total["tensor"]:
        mean *= model.unloaded + (1 - model.unloaded) * min(1.0, blocks / sms)
    latency = _latency(prof, work, near, hardware) if prof.laned else mean
    each = math.ceil(blocks / sms)
    both, units = 0.0, 0.0
    # As many blocks at once as fit, and then those that are left: fewer hide less of each other.
    for at_once, times in ((min(occupancy, each), each // min(occupancy, each)), (each % min(occupancy, each), 1)):
        if at_once:
            computing, busy = _units(prof, work, warps, at_once, latency, met, registers, hardware)
            reading = hbm * at_once / each
            if work.wide + work.narrow:
                reading = max(reading, _fed(prof, work, stages, reading / at_once, computing / at_once, latency))
            both += times * (busy + (reading**model.round + computing**model.round) ** (1 / model.round))
            units += times * (busy + computing)
    spent = {"hbm": hbm, "l2": l2, "units": units}
    handed_out = blocks * model.handed_s
    body = max(both, l2) + model.beside_limit * min(both, l2)
    if work.issued and not total["tensor"]:
        # The more a thread takes at once the fewer threads there are to take the next of it when some of it has come
        held = max(held for held, *_ in work.issued) / (warps * hardware.chip.warp)
        body *= 1 + model.taken * max(0.0, math.log2(held / TAKEN))
    seconds = launched(max(body, handed_out + latency), max(hbm, l2), hardware)
    return KernelCost(
        kernel.name, tuple((g, lanes[g]) for g in kernel.grid),
        tuple((c.name, lanes[c.name]) for c in kernel.coords if c.role in ("stream", "walk")),
        blocks, blocks / (sms * occupancy), fetched + work.stored, loaded + work.stored, total["tensor"], total["sfu"],
        total["alu"],
        smem, registers, warps, stages, seconds * 1e6, max(spent, key=lambda name: spent[name]),
    )  # fmt: skip


def launched(body: float, moving: float, hardware: Hardware) -> float:
    """Return the seconds of a kernel of which all blocks together take `body`, and to move its bytes `moving` of them:
    with its launch, and what its first and last blocks read and write while others do not."""
    return body + hardware.model.kernel_s * -math.expm1(-moving / hardware.model.ramp_s) + hardware.chip.launch_s


def _fed(prof: Profile, work: Totals, stages: int, reading: float, computing: float, latency: float) -> float:
    """Return the seconds that a block's loads take with `stages` - 1 trips' tiles under way: one that is alone is
    loaded only once the last was used.
    """
    return (reading + _trips(prof, work) * latency + (computing if stages == 2 else 0.0)) / (stages - 1)


def _trips(prof: Profile, work: Totals) -> float:
    """Return how often a block walks the loops that load; a loop that is written out asks for the loads of all its
    trips at once.
    """
    return sum(
        work.walks[loops] for loops in {_written(prof, w.loops) for w in prof.works if w.kind == "load"} if loops
    )


def _written(prof: Profile, loops: Within) -> Within:
    """Return the loops around a statement that are written as loops."""
    return tuple(part for part in loops if part[2] not in prof.unrolled) if prof.unrolled else loops


def _meeting(prof: Profile, lanes: Mapping[str, int], work: Totals, warps: int) -> tuple[float, float, float]:
    """Return the clocks of an SM in which the threads of a block exchange parts of what they fold, and those that one
    block waits for them.
    """
    clocks, waits, added = 0.0, 0.0, 0.0
    for cross, loops in prof.crossings:
        order = [c for c in cross.order if lanes[c] > 1]
        if cross.axis in order:
            vector = cross.vector if order[0] == cross.order[0] else 1
            sizes = tuple(lanes[c] for c in order)
            busy, late, adding = crossed_clocks(sizes, order.index(cross.axis), vector, cross.scan, warps)
            if cross.gain is not None:
                both = 1 + math.prod(lanes[c] for c in cross.gain) / math.prod(sizes)
                busy, adding = busy * both, adding * both
            clocks += work.walks[loops] * busy
            added += work.walks[loops] * adding
            waits += work.walks[loops] * late
    return clocks, waits, added


def _units(
    prof: Profile,
    work: Totals,
    warps: int,
    at_once: int,
    latency: float,
    met: tuple[float, float, float],
    registers: int,
    hardware: Hardware,
) -> tuple[float, float]:
    """Return the seconds that an SM computes and waits with so many blocks at once, and those beside which it reads
    nothing.

    Without a contraction the more registers threads hold the fewer loads they ask for at once: the compiler puts one
    behind another's use.
    """
    model = hardware.model
    clock = hardware.chip.clock_hz
    trips = _trips(prof, work)
    per_block = hardware.chip.sms / work.blocks
    issued = {
        kind: work.operations[kind] / hardware.rate(unit) * per_block
        for kind, unit in (("sfu", "sfu"), ("alu", "fma"), ("lsu", "lsu"))
    }
    if work.issued and not prof.laned:
        threads = warps * hardware.chip.warp
        written = [(each * max(1.0, held / threads / at), times) for held, at, each, times in work.issued]
        steps = sum(each * times for each, times in written) + ENTERED
        steps += sum(each * places(*part, warps) for *part, each in work.sliced)
        # Where more is written out, element by element, than the instruction cache keeps, each warp fetches it again.
        steps *= min(FETCHED, max(1.0, sum(each for each, _ in written) / KEPT) ** 2)
        issued["alu"] = max(issued["alu"], steps * threads / hardware.units.fma / clock)
    issued["alu"] += met[2] / clock
    beside = max(issued["sfu"], issued["alu"], issued["lsu"] + met[0] / clock) / hardware.assumptions.unit_efficiency
    alone = beside / min(1.0, warps / model.full_warps)
    if not work.wide + work.narrow:
        # Its loads are not issued ahead: a block waits for each trip's and computes then, and little but another block
        # reads meanwhile.
        busy = beside * hardware.assumptions.unit_efficiency / model.plain_efficiency
        scans = any(cross.scan for cross, _ in prof.crossings)
        in_turn = 1 + max(0.0, registers - model.asked_registers) / model.turn_registers
        in_turn = 1.0 if prof.laned else SCAN_WAIT if scans and at_once == 1 else in_turn
        waiting = (trips + 1) * latency * in_turn + met[1] / clock
        if at_once == 1:
            busy /= min(1.0, warps / (SCANNING if scans else model.lone_warps))
            return waiting + (1 - model.lone_busy) * busy, busy * model.lone_busy
        if prof.laned:
            busy /= min(1.0, at_once * warps / model.most_warps) ** model.warps_power
        return max(at_once * busy, busy + waiting), 0.0
    wide = max(work.wide, work.shared_wide / model.shared_bytes) / hardware.assumptions.tensor_efficiency
    matrix = (wide + max(work.narrow / model.narrow_matrix, work.shared_narrow / model.shared_bytes)) / clock
    operands = work.operations["operand"] * model.operand / hardware.rate("fma") * per_block
    crowding = model.crowded if work.crowded else 1.0
    lone = at_once == 1
    busy = (
        matrix * (max(1.0, MATRIX_WARPS / warps) if lone else 1.0) + (alone if lone else beside)
    ) * crowding + operands
    reductions = sum(work.walks[loops] for loops in prof.reductions if loops)
    parts = sum(work.walks[loops] for loops in prof.parted)
    fixed = (trips * model.trip_clocks + reductions * model.reduced_clocks + parts * PART_CLOCKS) / clock
    hidden = 2 * model.hiding * (1 - 1 / at_once) * min(matrix, beside)
    last = busy / max(1.0, trips)  # what a block does with its last tiles, when nothing is left to read
    return at_once * (busy - hidden) - last + fixed + model.block_s, last


def _near(prof: Profile, work: Totals, occupancy: int, smem: int, hardware: Hardware) -> float:
    """Return the share of what blocks read again that they find in the cache that their SM has to itself.

    Lanes say of what they read again that it is to stay, so that what passes beside it does not count, and a part stays
    where not all can.
    """
    model = hardware.model
    kept = [
        amount / work.blocks / max(1, prof.readings[name])
        for name, amount in work.moved.items()
        if not prof.laned or prof.readings[name] > 1
    ]
    held, room = occupancy * sum(kept), hardware.smem.sm_bytes - occupancy * smem
    return min(1.0, max(0.0, 2 - held / (model.near_cache * room))) if prof.laned and held else float(held <= room)


def _latency(prof: Profile, work: Totals, near: float, hardware: Hardware) -> float:
    """Return the mean time from a load to its data over the trips of a block's loops: long for what is read the first
    time, none for what is near.
    """
    model = hardware.model
    waits: dict[Within, float] = {}
    seen: set[str] = set()
    held = {*prof.reductions, *(w.loops for w in prof.works if w.kind == "store")}
    for load in (w for w in prof.works if w.kind == "load" and w.loops):
        again = load.buffer in seen
        shared = _unique(prof, load.buffer) < work.moved[load.buffer] / max(1, prof.readings[load.buffer])
        first = model.latency_l2_s if shared else model.latency_hbm_s
        own = model.latency_near_s + (model.latency_l2_s - model.latency_near_s) * (1 - near) if again else first
        own *= 1.0 if load.loops in held else model.ahead
        waits[load.loops] = max(own, waits.get(load.loops, 0.0))
        seen.add(load.buffer)
    trips = sum(work.walks[loops] for loops in waits)
    return sum(work.walks[loops] * wait for loops, wait in waits.items()) / trips if trips else model.latency_hbm_s


def from_hbm(
    prof: Profile,
    lanes: Mapping[str, int],
    name: str,
    moved: Mapping[str, float],
    blocks: int,
    hardware: Hardware,
    occupancy: int,
    *,
    lost: bool = True,
) -> float:
    """Estimate how much of what blocks read of a buffer comes from the top level.

    `lost`: what several statements read is lost in between; it is not where programs take one block after another.
    """
    model = hardware.model
    amount = moved[name]
    unique = _unique(prof, name)
    if unique <= hardware.l2.capacity_bytes / 2:
        return 0.0 if handed_on(name) else min(amount, unique)
    readings = prof.readings[name]
    resident = min(blocks, hardware.chip.sms * occupancy) * amount / blocks / max(1, readings)
    gone = (resident / hardware.l2.capacity_bytes - model.cache_kept) / (model.cache_lost - model.cache_kept)
    if lost and readings > 1 and gone > 0:
        # Each block reads its part again after the cache has lost it
        return min(amount, unique + (amount - unique) * min(1.0, gone))
    counts = {g: math.ceil(extent(prof.kernel.coord(g).axis) / lanes[g]) for g in prof.kernel.grid}
    parts = {other: _part(prof, other, moved[other], counts) for other in moved}
    found = brought(
        walk(prof.kernel, counts),
        parts,
        name,
        hardware.chip.sms * occupancy,
        model.cache_span * hardware.l2.capacity_bytes,
    )
    return min(amount, max(found, unique if len(parts[name].coords) < len(counts) else 0.0))


def handed_on(name: str) -> bool:
    """Tell whether an array is one that a kernel of the plan writes for a later one: no name of a diagram's has two
    underscores in a row.
    """
    return "__" in name


def _unique(prof: Profile, name: str) -> float:
    return buffer_bytes(prof.kernel.buffer(name))


def _part(prof: Profile, name: str, amount: float, counts: Mapping[str, int]) -> Part:
    """Return what a block reads of a buffer, as far as its coordinates and a masked loop leave it."""
    coords, by_loop = prof.telling[name]
    whole = _unique(prof, name) / math.prod(counts[g] for g in coords)
    each = amount / math.prod(counts.values()) / max(1, prof.readings[name])
    for coord in sorted(by_loop - coords):
        # Stretches that do not overlap, as those of a cut axis and not those of a window
        if each * counts[coord] <= PARTED * whole:
            coords, whole = coords | {coord}, whole / counts[coord]
    return Part(coords, min(whole, each), max(1.0, each / whole))
