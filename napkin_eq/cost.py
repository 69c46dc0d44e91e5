"""What a plan costs on a GPU: its work read off the plan's own statements, priced by the hardware's rates.

time = max(HBM bytes / copy bandwidth, level-2 bytes / its bandwidth, units) + a little of the others + launch, where the units are the matrix unit
plus what of the special functions and arithmetic it does not hide, on the busiest SM (wave quantisation).
Sizes that are symbols are priced at NOMINAL elements.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from napkin_eq import plan as p
from napkin_eq.alive import Tiles, alive, values_of
from napkin_eq.axis import Axis
from napkin_eq.hardware import Hardware

NOMINAL = 4096
BYTES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i32": 4, "i64": 8, "i1": 1}
SPECIAL = {"exp2": 1, "log2": 1, "tanh": 2, "sigmoid": 2, "erf": 4, "sin": 2, "cos": 2, "div": 1, "sqrt": 1}
SMEM_SLACK, BASE_REGISTERS, PLAIN_REGISTERS = 1024, 28, 16  # addresses and scalars; the last: of a kernel without contraction
# The rate at which operands are multiplied, by their type or the precision asked for, and how many products one takes.
UNIT_DTYPES, PRODUCTS = {"f16": "float16", "bf16": "bfloat16", "tf32": "tf32", "tf32x3": "tf32"}, {"tf32x3": 3}
# Measured on an H200 over 122 tile choices of eight kernels (benchmarks/results/sweep_h200.json); see docs/cost.md.
STAGE_STALL = {1: 1.5, 2: 1.12, 3: 1.0, 4: 1.0}  # a contraction's loop with fewer buffers waits for its loads
ITERATION_CLOCKS = 110  # barriers and address arithmetic of one trip of a loop that holds a contraction
BESIDE_MATRIX = 0.65  # of the work beside the matrix unit, what it does not hide
TRIP_CLOCKS = 280  # one trip of a loop without a contraction: its loads are not issued ahead
REGISTER_SHARE = 0.9  # assumption: above this estimate the compiler spills
UNHIDDEN = 0.03  # assumption: the part of what is not the bottleneck that still shows
FULL_WARPS = 16  # warps an SM needs to keep its arithmetic busy where no contraction is in flight
LONE_BLOCK = 1.12  # a contraction's kernel with one block to an SM: nothing runs while a block begins and ends
CROWDED = 1.7  # more warps than 64-row blocks of the result: warps split columns and exchange partial reductions
FOLLOWING_S = 1.4e-6  # a launch behind another one: it is queued while that one runs (launch_in_a_row in microbench_h200.json)
LATENCY_S, RAMP = 9e-7, 4  # from a load to its data under load, which bounds an SM's bandwidth; how often a kernel as a whole waits for it
REDUCTION_CLOCKS, WARP_CLOCKS = 100, 10  # one reduction of a tile: within a warp, and for each warp that it spans
BURST, SM_BYTES = 30.0, 64.0  # bytes a clock that one block alone moves, and at the most an SM
SECTOR = 32  # bytes that memory hands out at once, however few of them are asked for
MATRIX_ROWS = 16  # rows that one instruction of the matrix unit takes of a narrow tile
COMPUTED_OPERAND = 8.0  # operations per element of an operand that is loaded, computed on and handed back to the matrix unit


@dataclass(frozen=True, slots=True)
class Work:
    """One statement's work per execution: `kind` load, store, tensor, operand, sfu or alu; `coords` span its tile; `loops` enclose it.

    last: of a load or store, the coordinate that neighbouring elements in memory lie along, if the tile has several of them.
    """

    kind: str
    coords: tuple[str, ...]
    factor: float
    buffer: str
    loops: tuple[tuple[str, float], ...]
    for_dot: bool = False
    rows: tuple[str, ...] = ()
    last: str = ""


@dataclass(frozen=True, slots=True)
class KernelCost:
    """A kernel's predicted cost; bytes, FLOP and operations are totals over the grid, times are microseconds; `workers` groups of warps share it."""

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


@dataclass(frozen=True, slots=True)
class Profile:
    """The work of a kernel with its tiles left open, so that many tile choices can be priced from one lowering."""

    kernel: p.Kernel
    works: tuple[Work, ...]
    reductions: tuple[tuple[tuple[str, float], ...], ...]
    alive: tuple[Tiles, ...]


def total_us(costs: Sequence[KernelCost], hardware: Hardware) -> float:
    """Return the microseconds of kernels that run one after another; only the first launch is waited for."""
    return sum(c.predicted_us for c in costs) - (len(costs) - 1) * max(0.0, hardware.chip.launch_s - FOLLOWING_S) * 1e6


def extent(axis: Axis) -> int:
    """Return an axis' size, or the nominal one of a symbol."""
    return axis.size if axis.size is not None else NOMINAL


def elements(axes: Iterable[Axis]) -> int:
    """Return how many elements an array over these axes has."""
    return math.prod(extent(a) for a in axes)


def profile(kernel: p.Kernel) -> Profile:
    """Read the work off a kernel's statements."""
    values: dict[str, p.Value] = {}
    for stmt in p.statements(kernel.body):
        if isinstance(stmt, p.Loop):
            values.update({v.name: v for v, _ in stmt.carried})
        elif not isinstance(stmt, (p.Assign, p.Await, p.StoreTile)):
            values[stmt.out.name] = stmt.out
    dotted = _feeds_dot(kernel)
    computed = computed_operands(kernel)
    works: list[Work] = []
    reductions: list[tuple[tuple[str, float], ...]] = []
    visits = Visits(kernel)

    def walk(body: tuple[p.Stmt, ...], loops: tuple[tuple[str, float], ...]) -> None:
        for stmt in body:
            match stmt:
                case p.Load():
                    dotting = stmt.out.name in dotted
                    works.append(Work("load", stmt.out.coords, BYTES[stmt.out.dtype], stmt.buffer, loops, dotting, last=_last(stmt.index, values)))
                case p.StoreTile():
                    coords = tuple(dict.fromkeys(c for i in stmt.index if isinstance(i, str) for c in values[i].coords)) or values[stmt.value].coords
                    works.append(Work("store", coords, BYTES[_buffer(kernel, stmt.buffer).dtype], stmt.buffer, loops, last=_last(stmt.index, values)))
                case p.Dot():
                    spans = tuple(dict.fromkeys((*values[stmt.a].coords, *values[stmt.b].coords)))
                    kind = stmt.precision if values[stmt.a].dtype == "f32" else values[stmt.a].dtype
                    works.append(Work("tensor", spans, 2.0 * PRODUCTS.get(kind, 1), kind, loops, rows=stmt.out.coords))
                    for side in {stmt.a, stmt.b} & computed:
                        works.append(Work("operand", values[side].coords, COMPUTED_OPERAND, "", loops, rows=stmt.out.coords))
                case p.Let():
                    kind = "sfu" if stmt.op in SPECIAL else "alu"
                    works.append(Work(kind, stmt.out.coords, SPECIAL.get(stmt.op, 0.5 if stmt.op == "cast" else 1), "", loops))
                case p.ReduceTile() | p.ScanTile():
                    works.append(Work("alu", values[stmt.arg].coords, 1.5, "", loops))
                    reductions.append(loops)
                case p.Loop():
                    for part, fraction in zip(stmt.parts, visits.fractions(stmt), strict=True):
                        walk(part.body, (*loops, (stmt.coord, fraction)))

    walk(kernel.body, ())
    return Profile(kernel, _merged(works), tuple(reductions), tuple(sorted(_alive(kernel))))


def _alive(kernel: p.Kernel) -> set[Tiles]:
    """Return the tiles that a kernel holds together where it waits; what contractions read is in shared memory, or, if computed, held meanwhile."""
    values = values_of(kernel.body)
    loads = {s.out.name for s in p.statements(kernel.body) if isinstance(s, p.Load)}
    operands = {n for s in p.statements(kernel.body) if isinstance(s, p.Dot) for n in (s.a, s.b)}

    def computed(part: p.Part) -> Tiles:
        names = {n for s in part.body if isinstance(s, p.Dot) for n in (s.a, s.b) if n not in loads}
        return tuple((values[n].coords, 0.5) for n in sorted(names))

    return alive(kernel.body, operands & loads, computed, waits=True)


def _last(index: tuple[p.Operand, ...], values: Mapping[str, p.Value]) -> str:
    coords = values[index[-1]].coords if index and isinstance(index[-1], str) else ()
    return coords[0] if coords else ""


def _merged(works: list[Work]) -> tuple[Work, ...]:
    """Add up the arithmetic of statements over the same tile in the same loops: what is priced stays the same."""
    sums: dict[Any, float] = {}
    for work in works:
        key = (work.kind, work.coords, work.buffer, work.loops, work.for_dot)
        if work.kind in ("sfu", "alu"):
            sums[key] = sums.get(key, 0.0) + work.factor
    others = tuple(w for w in works if w.kind not in ("sfu", "alu"))
    return others + tuple(Work(kind, coords, factor, buffer, loops, dot) for (kind, coords, buffer, loops, dot), factor in sums.items())


def _buffer(kernel: p.Kernel, name: str) -> p.Buffer:
    return next(b for b in (*kernel.writes, *kernel.reads) if b.name == name)


def _feeds_dot(kernel: p.Kernel) -> set[str]:
    found: set[str] = set()
    for stmt in reversed(list(p.statements(kernel.body))):
        if isinstance(stmt, p.Dot):
            found |= {stmt.a, stmt.b}
        elif isinstance(stmt, p.Let) and stmt.op == "cast" and stmt.out.name in found:
            found |= {a for a in stmt.args if isinstance(a, str)}
    return found


def computed_operands(kernel: p.Kernel) -> set[str]:
    """Return the operands of contractions that are computed from loads, and not from another contraction's result."""
    made: dict[str, p.Stmt] = {}
    loaded: set[str] = set()
    dots: set[str] = set()
    found: set[str] = set()
    for stmt in p.statements(kernel.body):
        if isinstance(stmt, (p.Loop, p.Assign, p.Await, p.StoreTile)):
            continue
        name = stmt.out.name
        made[name] = stmt
        args = [a for a in getattr(stmt, "args", ()) if isinstance(a, str)] + ([stmt.arg] if isinstance(stmt, (p.ReduceTile, p.ScanTile)) else [])
        if isinstance(stmt, p.Load):
            loaded.add(name)
        elif isinstance(stmt, p.Dot) or any(a in dots for a in args):
            dots.add(name)
        if isinstance(stmt, p.Dot):
            found |= {side for side in (stmt.a, stmt.b) if isinstance(made.get(side), p.Let) and side not in dots}
    return found


class Visits:
    """Which share of a coordinate's blocks each part of a loop visits, averaged over sample positions of the grid."""

    def __init__(self, kernel: p.Kernel) -> None:
        self.kernel = kernel
        self.defined = {s.out.name: s for s in p.statements(kernel.body) if not isinstance(s, (p.Assign, p.Await, p.StoreTile, p.Loop))}

    def fractions(self, loop: p.Loop) -> list[float]:
        samples = (0.04, 0.2, 0.35, 0.5, 0.65, 0.8, 0.96)
        coord = self.kernel.coord(loop.coord)
        whole = math.ceil(extent(coord.axis) / coord.tile)
        return [sum(blocks) / whole / len(samples) for blocks in zip(*(self.blocks(loop, where) for where in samples), strict=True)]

    def blocks(self, loop: p.Loop, where: float) -> list[int]:
        """Return how many blocks each part of a loop visits, at a position of the grid from 0 to 1."""
        coord = self.kernel.coord(loop.coord)
        size = extent(coord.axis)
        most = [math.ceil(max(0, self._number(part.hi, where, size) - self._number(part.lo, where, 0)) / coord.tile) for part in loop.parts]
        # Of a stretch whose end is read from data nothing is known but the least and the most: their geometric mean is as far from either.
        return [round(math.sqrt(n)) if self._read(part.lo) or self._read(part.hi) else n for n, part in zip(most, loop.parts, strict=True)]

    def _read(self, operand: p.Operand) -> bool:
        """Whether a bound depends on what is read from memory."""
        waiting, seen = [operand], set[p.Operand]()
        while waiting:
            stmt = self.defined.get(str(found := waiting.pop()))
            if isinstance(stmt, p.Load):
                return True
            if stmt is not None and found not in seen:
                seen.add(found)
                waiting += p.used(stmt)
        return False

    def _number(self, operand: p.Operand, where: float, unknown: int) -> int:
        if not isinstance(operand, str):
            return int(operand)
        stmt = self.defined.get(operand)
        match stmt:
            case p.SizeOf():
                return extent(stmt.axis)
            case p.Start():
                coord = self.kernel.coord(stmt.coord)
                return int(where * extent(coord.axis)) // coord.tile * coord.tile
            case p.Let() if stmt.op in ("add", "mul", "max", "min", "floordiv", "neg"):
                args = [self._number(a, where, unknown) for a in stmt.args]
                a, b = args[0], args[-1]
                return {"add": a + b, "mul": a * b, "max": max(a, b), "min": min(a, b), "floordiv": a // (b or 1), "neg": -a}[stmt.op]
        return unknown


@dataclass(frozen=True, slots=True)
class Totals:
    """A kernel's work with its tiles chosen: operations over the grid by kind, bytes loaded by buffer and stored, trips of its loops.

    `seconds_tensor` is at the matrix unit's peak; `reduced`: there are exponentials or the like in a loop; `crowded` is what
    warps cost that split the columns of a contraction.
    """

    blocks: int
    operations: Mapping[str, float]
    seconds_tensor: float
    moved: Mapping[str, float]
    stored: float
    sectors: float
    trips: float
    walks: Mapping[tuple[tuple[str, float], ...], float]
    reduced: bool
    crowded: float

    def beside(self, hardware: Hardware) -> float:
        """Return the seconds of the work beside the matrix unit, at the peak of its units."""
        return self.operations["sfu"] / hardware.rate("sfu") + self.operations["alu"] / hardware.rate("fma")


def totals(prof: Profile, lanes: Mapping[str, int], hardware: Hardware, warps: int) -> Totals:
    """Add up the work of a kernel for tile sizes by coordinate name."""
    kernel = prof.kernel
    sizes = {c.name: extent(c.axis) for c in kernel.coords}
    blocks = math.prod(math.ceil(sizes[g] / lanes[g]) for g in kernel.grid)
    total = {"tensor": 0.0, "sfu": 0.0, "alu": 0.0, "operand": 0.0}
    moved: dict[str, float] = {}
    stored, sectors = 0.0, 0.0
    seconds_tensor, trips, crowded = 0.0, 0.0, 1.0
    walks: dict[tuple[tuple[str, float], ...], float] = {}
    reduced = any(w.kind == "sfu" and w.loops for w in prof.works)
    for work in prof.works:
        times = math.prod(fraction * math.ceil(sizes[c] / lanes[c]) for c, fraction in work.loops)
        if work.loops:
            walks[work.loops] = times
        if work.kind in ("load", "store"):
            amount = work.factor * math.prod(min(lanes[c], sizes[c]) for c in work.coords) * times * blocks
            sectors += amount * max(1.0, SECTOR / (work.factor * lanes.get(work.last, 1)))
            if work.kind == "store":
                stored += amount
            else:
                moved[work.buffer] = moved.get(work.buffer, 0.0) + amount
            continue
        amount = work.factor * math.prod(lanes[c] for c in work.coords) * times * blocks
        if work.kind == "operand":
            # Warps side by side along the columns each compute the whole of an operand.
            amount *= max(1.0, warps * MATRIX_ROWS / max(MATRIX_ROWS, lanes[work.rows[0]]))
        total[work.kind] += amount
        if work.kind == "tensor":
            dtype = UNIT_DTYPES.get(work.buffer, "float32")
            seconds_tensor += amount / (hardware.flops(dtype) * _shape(work, lanes))
            if reduced and warps // 4 > max(1, max((lanes[c] for c in work.rows[:-1]), default=1) // 64):
                crowded = CROWDED
        if work.kind == "tensor" and work.loops:
            trips += times * blocks
    return Totals(blocks, total, seconds_tensor, moved, stored, sectors, trips, walks, reduced, crowded)


def price(prof: Profile, tiles: Mapping[str, int], warps: int, stages: int, hardware: Hardware) -> KernelCost | None:
    """Predict a kernel's cost for tile sizes by coordinate name; None where shared memory or registers do not suffice."""
    kernel = prof.kernel
    coords = {c.name: c for c in kernel.coords}
    lanes = {n: tiles.get(n, c.tile) for n, c in coords.items()}
    smem, registers = capacity(prof, lanes, warps, stages)
    occupancy = hardware.resident_blocks(smem_bytes=smem, threads=warps * hardware.chip.warp, registers_per_thread=registers)
    if occupancy == 0 or registers > REGISTER_SHARE * hardware.limits.registers_per_thread:
        return None
    work = totals(prof, lanes, hardware, warps)
    blocks, total, moved, stored = work.blocks, work.operations, work.moved, work.stored
    fetched = sum(from_hbm(prof, name, amount, moved, blocks, hardware, occupancy) for name, amount in moved.items())
    sms = hardware.chip.sms
    busy = math.ceil(blocks / sms) * sms / blocks
    side = work.beside(hardware) / hardware.assumptions.unit_efficiency
    warps_there = warps * min(occupancy, math.ceil(blocks / sms))
    units = side * busy / min(1.0, warps_there / FULL_WARPS)
    if not work.seconds_tensor:
        sizes = {c.name: extent(c.axis) for c in kernel.coords}
        trips_alone = 1 + sum(work.walks.values())
        reductions = sum(math.prod(fraction * math.ceil(sizes[c] / lanes[c]) for c, fraction in loops) for loops in prof.reductions)
        alone = trips_alone * TRIP_CLOCKS + reductions * (REDUCTION_CLOCKS + warps * WARP_CLOCKS) + (sum(moved.values()) + stored) / blocks / BURST
        units = max(units, math.ceil(blocks / (sms * occupancy)) * alone / hardware.chip.clock_hz)
    else:
        contractions = sum(1 for w in prof.works if w.kind == "tensor" and w.loops) or 1
        overhead = work.trips / contractions / sms * ITERATION_CLOCKS / hardware.chip.clock_hz
        alone = LONE_BLOCK if 2 * smem > hardware.smem.sm_bytes and not work.reduced else 1.0
        operand = total["operand"] / hardware.rate("fma") / min(1.0, warps_there / FULL_WARPS)
        matrix = work.seconds_tensor / hardware.assumptions.tensor_efficiency
        units = ((matrix * alone + side * BESIDE_MATRIX + operand) * STAGE_STALL[stages] * work.crowded + overhead) * busy
    starved = max(1.0, LATENCY_S * hardware.hbm.copy_bandwidth / sms / in_flight(prof, lanes, stages) / min(occupancy, blocks / sms))
    hbm = (fetched + stored) / hardware.hbm.copy_bandwidth * starved
    l2 = max(work.sectors / hardware.l2.copy_bandwidth * starved, work.sectors / (min(blocks, sms) * SM_BYTES * hardware.chip.clock_hz))
    spent = {"hbm": hbm, "l2": l2, "units": units}
    limit = max(spent, key=lambda name: spent[name])
    slowest = spent[limit] + UNHIDDEN * (sum(spent.values()) - spent[limit])
    return KernelCost(
        kernel.name, tuple((g, lanes[g]) for g in kernel.grid), tuple((c.name, lanes[c.name]) for c in kernel.coords if c.role in ("stream", "walk")),
        blocks, blocks / (sms * occupancy), fetched + stored, sum(moved.values()) + stored, total["tensor"], total["sfu"], total["alu"],
        smem, registers, warps, stages, (slowest + RAMP * LATENCY_S + hardware.chip.launch_s) * 1e6, limit,
    )  # fmt: skip


def in_flight(prof: Profile, lanes: Mapping[str, int], stages: int) -> float:
    """Return the bytes that one block asks for before it waits: the loads of its largest loop body, or those outside loops."""
    asked: dict[tuple[tuple[str, float], ...], float] = {}
    for work in prof.works:
        if work.kind == "load":
            amount = work.factor * math.prod(lanes[c] for c in work.coords) * (stages - 1 if work.for_dot and work.loops else 1)
            asked[work.loops] = asked.get(work.loops, 0.0) + amount
    return max(asked.values(), default=1.0)


def _shape(work: Work, lanes: Mapping[str, int]) -> float:
    """Return what share of its rate the matrix unit reaches on tiles this small: 64 rows and 64 columns keep it busy."""
    sides = sorted((lanes[c] for c in work.rows if lanes[c] > 1), reverse=True)
    return min(1.0, max(0.1, (sides[0] if sides else 1) * (sides[1] if len(sides) > 1 else 1) / (64 * 64)))


def from_hbm(
    prof: Profile, name: str, amount: float, moved: Mapping[str, float], blocks: int, hardware: Hardware, occupancy: int, *, lost: bool = True
) -> float:
    """Estimate how much of what blocks read of a buffer comes from the top level, blocks of one wave sharing the cache.

    `lost`: what several statements read is lost in between; it is not where programs take one block after another.
    """
    buffer = _buffer(prof.kernel, name)
    unique = BYTES[buffer.dtype] * math.prod(extent(d) for d in buffer.dims)
    again = max(1.0, amount / unique)
    if unique <= hardware.l2.capacity_bytes / 2:
        return min(amount, unique)
    # The parts of one loop read each its own stretch: together they are one reading.
    readings = round(sum(math.prod(share for _, share in w.loops) for w in prof.works if w.kind == "load" and w.buffer == name))
    resident = min(blocks, hardware.chip.sms * occupancy) * amount / blocks / max(1, readings)
    if lost and readings > 1 and resident > hardware.l2.capacity_bytes / 2:
        return amount  # each block reads its part again after the cache has lost it
    competing = sum(1 for other in moved.values() if other > 1.5 * unique) or 1
    wave = min(blocks, hardware.chip.sms * occupancy)
    shared = float(wave ** (1 / competing))
    return min(amount, unique * max(1.0, again / shared))


def capacity(prof: Profile, lanes: Mapping[str, int], warps: int, stages: int) -> tuple[int, int]:
    """Estimate shared memory in bytes per block and 32-bit registers per thread.

    Shared memory holds what contractions read, of one part of a loop at a time.
    """
    always, parts = 0, dict[tuple[tuple[str, float], ...], int]()
    for work in prof.works:
        if work.kind == "load" and work.for_dot:
            size = int(work.factor * math.prod(lanes[c] for c in work.coords))
            if work.loops:
                parts[work.loops] = parts.get(work.loops, 0) + size * stages
            else:
                always += size
    held = max((sum(math.prod(lanes[c] for c in coords) * share for coords, share in tiles) for tiles in prof.alive), default=0.0)
    base = BASE_REGISTERS if any(work.kind == "tensor" for work in prof.works) else PLAIN_REGISTERS
    return SMEM_SLACK + always + max(parts.values(), default=0), base + math.ceil(held / (warps * 32))
