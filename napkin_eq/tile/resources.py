"""What a block takes of its processor: shared memory and registers, read off a kernel's statements with its tiles left
open.

Shared memory is what Triton 3.6 allocates. A loop holds buffers for the loads that its contractions read, filled ahead:
one a stage of those that the wide instructions read where they lie, one less of those that pass through registers. An
operand that is computed is handed to the matrix unit through shared memory, but for rows out of another contraction
under the wide instructions. These read the parts that operands of f32 are multiplied in there too, but of rows that
the same body loads or another contraction gave: such lie in registers. A reduction or a scan across warps leaves a
partial result of each warp there, and a tile that threads hold otherwise than its neighbours do passes through it. What
lies there at once adds up.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from napkin_eq.lang.axis import Axis, minor
from napkin_eq.lang.dtypes import table
from napkin_eq.lang.operators import OPS
from napkin_eq.tile import ir as p
from napkin_eq.tile.expected import nominal
from napkin_eq.tile.liveness import Tiles, alive, share

BYTES = table(lambda t: t.bytes)
SPECIAL = {"exp2": 1, "log2": 1, "div": 1, **{op.name: op.special for op in OPS.values() if op.special}}
# Of shared memory what alignment and small conversions take; addresses and scalars
SMEM_SLACK, BASE_REGISTERS = 1024, 28
# The same of a kernel without contraction; where lanes fold their own elements, the fewest it is given
PLAIN_REGISTERS, LEAST_REGISTERS = 16, 32
LATER = 0.5  # of a tile that lanes load after another, what they hold at once
# Of a result, what the series of a special function takes beside it: seen by compiling results of 128 registers a
# thread
SERIES = 0.6
# Series that, with no contraction beside, take as much as the result: 128 results of erf a thread spilled 132 bytes
LONG = ("erf", "sin", "cos")
MATRIX_WARPS, WIDE_ROWS = 4, 64  # warps that the matrix unit's wide instructions take together, and rows that they give
MOST_ELEMENTS = 1 << 20  # of a tile: Triton takes none that is larger
# Of a partial result that a warp leaves for others; threads; elements that a thread loads side by side
PARTIAL_BYTES, WARP, VECTOR = 4, 32, 8
# Clocks from a thread's number to another's sum; through shared memory and two barriers; so of a prefix fold, which
# holds up less of what follows (270 tilings of twelve scans on an H200)
SHUFFLED, MET, MET_BEFORE = 30, 200, 100
# Of a prefix fold, instructions of a warp: for each doubling, to hand a number on, to choose and to fold; and for each
# stretch of a thread, to add what the warps before left, beside one for each of these (308 tilings of seventeen scans
# and recurrences on an H200)
DOUBLED, JOINED = 3, 10
VECTOR_BYTES, SECTOR = 16, 32  # of a load that takes several elements, the most; what memory reads and writes at once

Claims = tuple[tuple[tuple[str, ...], int], ...]  # tiles by their coordinates, and the bytes of an element
# A tile's coordinates; those, and an element's registers, of what it is made of
Spread = tuple[tuple[str, ...], tuple[tuple[tuple[str, ...], float], ...]]
# A folded tile's sizes in the order of Crossing, its vector, what is left, registers
Sliced = tuple[tuple[int, ...], int, tuple[int, ...], float]
# The same of one tile, and the coordinates of a wider one that it is spread over, if any
Converted = tuple[tuple[str, ...], int, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Folding:
    """A reduction or a scan of a tile, whose warps may each hold a part of its axis; `along`: how neighbours lie of
    what is loaded for it.
    """

    coords: tuple[str, ...]
    axis: str
    along: tuple[str, ...]
    scan: bool


@dataclass(frozen=True, slots=True)
class Moment:
    """What lies in shared memory while a body runs.

    once: operands that are loaded or computed once. direct, through: loads that contractions of a loop read as they
    are, and computed on.
    resident: rows computed of a contraction's result, which the wide instructions take from registers. split, handed:
    of contractions of parts, one at a time, the parts that the wide instructions read, and what is handed to the narrow
    ones. foldings, converted: of which one at a time leaves partial results, or passes to threads that hold it
    otherwise. turns: the coordinates of inner loops each part of which must have one turn, with how many blocks that
    are: a compiler writes such out, and copies ahead for the loop around them what all of them read.
    """

    once: Claims = ()
    direct: Claims = ()
    through: Claims = ()
    resident: Claims = ()
    split: tuple[Claims, ...] = ()
    handed: tuple[Claims, ...] = ()
    foldings: tuple[Folding, ...] = ()
    converted: tuple[Converted, ...] = ()
    turns: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Needs:
    """What a kernel's blocks need, with tiles left open.

    alive: the tiles held together where they are the most. rows: of each contraction's result, those of the left
    operand. series: results of special functions beside contractions, and of long series elsewhere. spread: tiles that
    are spread over larger ones. tiles: the coordinates of every value.
    laned: whether threads fold lanes of their own, with no contraction beside. folded: where there is none either, by
    the coordinates that are left what is folded: results lie in threads as it does. beside: so what is computed of rows
    or columns alone for a tile that is stored, as that lies.
    """

    alive: tuple[Tiles, ...]
    moments: tuple[Moment, ...]
    rows: tuple[tuple[str, ...], ...]
    series: tuple[tuple[str, ...], ...]
    spread: tuple[Spread, ...]
    tiles: tuple[tuple[str, ...], ...]
    laned: bool
    folded: Mapping[tuple[str, ...], Crossing]
    beside: Mapping[tuple[str, ...], Crossing]


@dataclass(frozen=True, slots=True)
class Held:
    """A Moment with its tiles chosen, in bytes; of each folding the lanes of its tile, the places of its axis and
    neighbours, whether it scans.
    """

    once: int
    direct: int
    through: int
    resident: int
    split: int
    handed: int
    converted: int
    foldings: tuple[tuple[tuple[int, ...], int, tuple[int, ...], bool], ...]


@dataclass(frozen=True, slots=True)
class Room:
    """What a block of given tiles takes, whatever its warps and stages.

    registers: of 32 bits, where it holds the most: those of a block, and what lies in threads as tiles that were
    folded. shared: what lies in shared memory together. contracted, tall: whether there is a contraction, and each has
    the rows of a wide instruction. spread: of tiles that are made of smaller ones their lanes, and the dimensions of
    each of these; pairs: the same of tiles of two dimensions. least: registers of a thread, whatever it holds. largest:
    elements of a tile.
    """

    registers: tuple[tuple[float, tuple[Sliced, ...]], ...]
    shared: tuple[Held, ...]
    contracted: bool
    tall: bool
    spread: tuple[tuple[tuple[int, ...], tuple[tuple[tuple[int, ...], float], ...]], ...]
    pairs: tuple[tuple[tuple[int, ...], tuple[tuple[tuple[int, ...], float], ...]], ...]
    least: int
    largest: int


def needs(kernel: p.Kernel, *, laned: bool) -> Needs:
    """Read a kernel's needs off its statements."""
    values = p.values_of(kernel.body)
    dots = [s for s in p.statements(kernel.body) if isinstance(s, p.Dot)]
    special = {s.out.coords for s in kernel.body if isinstance(s, p.Let) and s.op in (SPECIAL if dots else LONG)}
    plain = not dots and not laned
    left = folded(kernel, values) if plain else {}
    return Needs(
        tuple(sorted(_alive_in_lanes(kernel) if laned else _alive(kernel))),
        tuple(dict.fromkeys(_moments(kernel))),
        tuple(dict.fromkeys(tuple(c for c in values[left_of(dot, values)].coords if c != dot.coord) for dot in dots)),
        tuple(sorted(special)),
        tuple(dict.fromkeys(_spread(kernel, values))),
        tuple(sorted({v.coords for v in values.values()})),
        laned,
        left,
        beside(kernel, values, left) if plain else {},
    )


def folded(kernel: p.Kernel, values: Mapping[str, p.Value]) -> dict[tuple[str, ...], Crossing]:
    """Return, by the coordinates of a result, how the tile that is folded first to these lies in threads."""
    made = p.definitions(kernel.body)
    found: dict[tuple[str, ...], Crossing] = {}
    for stmt in p.statements(kernel.body):
        if (
            isinstance(stmt, p.ReduceTile)
            and stmt.out.coords
            and stmt.out.coords not in found
            and stmt.coord in values[stmt.arg].coords
        ):
            found[stmt.out.coords] = crossing(kernel, stmt, made, values)
    return found


def beside(
    kernel: p.Kernel, values: Mapping[str, p.Value], left: Mapping[tuple[str, ...], Crossing]
) -> dict[tuple[str, ...], Crossing]:
    """Return, by coordinates that are some of a stored tile's, and not those of what is `left` of a folded one, how
    that tile lies in threads: each has to have the rows and columns of its own elements.
    """
    made = p.definitions(kernel.body)
    narrow = dict.fromkeys(v.coords for v in values.values() if v.coords and v.coords not in left)
    found: dict[tuple[str, ...], Crossing] = {}
    for stmt in p.statements(kernel.body):
        if isinstance(stmt, p.StoreTile) and len(coords := values[stmt.value].coords) > 1:
            order = _order(kernel, stmt, coords, values)
            vector = neighbours_taken(kernel, stmt, order[0], made, values)
            lying = Crossing(coords, order[0], order, vector, scan=False)
            found |= {c: lying for c in narrow if {*c} < {*coords} and c not in found}
    return found


def left_of(dot: p.Dot, values: Mapping[str, p.Value]) -> str:
    """Return the operand of a contraction that gives the rows: the one whose free coordinate comes first in
    the result.
    """
    first = next((c for c in dot.out.coords), "")
    return dot.b if first in values[dot.b].coords and first not in values[dot.a].coords else dot.a


def room(need: Needs, lanes: Mapping[str, int]) -> Room:
    """Return what a block of given tiles takes."""
    sizes = {coords: math.prod(lanes[c] for c in coords) for coords in need.tiles}

    def total(claims: Claims) -> int:
        return sum(sizes[coords] * size for coords, size in claims if sizes[coords] > 1)

    series = (SERIES if need.rows else 1.0) * max((sizes[coords] for coords in need.series), default=0)
    held: dict[tuple[Sliced, ...], float] = {(): series}
    for tiles in need.alive:
        parts = tuple(
            (*sliced(need.folded[coords], coords, lanes), taken) for coords, taken in tiles if coords in need.folded
        )
        held[parts] = max(
            held.get(parts, 0.0),
            series + sum(sizes[coords] * taken for coords, taken in tiles if coords not in need.folded),
        )
    shared = dict.fromkeys(
        Held(
            total(m.once), total(m.direct), total(m.through), total(m.resident),
            max(map(total, m.split), default=0), max(map(total, m.handed), default=0),
            max((sizes[coords] * size for coords, size, wider in m.converted if 1 < sizes[coords] != sizes.get(wider)),
                default=0),
            tuple(
                (tuple(lanes[c] for c in f.coords), f.coords.index(f.axis), tuple(map(f.coords.index, f.along)), f.scan)
                for f in m.foldings
                if lanes[f.axis] > 1
            ),
        )
        for m in need.moments
        if all(lanes[coord] >= least for coord, least in m.turns)
    )  # fmt: skip
    tall = all(math.prod(lanes[c] for c in rows) >= WIDE_ROWS for rows in need.rows)
    spread = tuple(
        (tuple(lanes[c] for c in out), tuple((tuple(map(out.index, arg)), taken) for arg, taken in args))
        for out, args in need.spread
        if sum(lanes[c] > 1 for c in out) > 1
    )
    pairs, larger = (
        tuple(tile for tile in spread if (sum(n > 1 for n in tile[0]) > 2) is wide) for wide in (False, True)
    )
    registers = tuple((size, parts) for parts, size in held.items())
    least = LEAST_REGISTERS if need.laned else 0
    return Room(
        registers,
        tuple(shared),
        bool(need.rows),
        tall,
        larger,
        () if need.rows or need.laned else pairs,
        least,
        max(sizes.values(), default=1),
    )


def capacity(taken: Room, warps: int, stages: int, wide_unit: bool = True) -> tuple[int, int]:
    """Estimate shared memory in bytes per block and 32-bit registers per thread; `wide_unit`: the matrix unit reads
    shared memory itself.

    The wide instructions still read a buffer while the next one is filled; for the narrow ones it is in registers by
    then, so they take one buffer less, and rows that are computed pass through shared memory.
    """
    wide = by_wide(taken, warps, wide_unit)
    shared = 0
    for held in taken.shared:
        always = (
            held.once
            + held.direct * (stages if wide else stages - 1)
            + held.through * (stages - 1)
            + (0 if wide else held.resident)
        )
        passing = max(
            [
                held.converted,
                held.split if wide else held.handed,
                *[partial_bytes(*folding, warps) for folding in held.foldings],
            ]
        )
        shared = max(shared, always + passing)
    most = max(
        size / (warps * WARP) + sum(share * places(*part, warps) for *part, share in parts)
        for size, parts in taken.registers
    )
    registers = (BASE_REGISTERS if taken.contracted else PLAIN_REGISTERS) + math.ceil(most)
    if taken.spread:
        registers += max([spread_registers(*tile, warps) for tile in taken.spread])
    return SMEM_SLACK + shared, max(taken.least, registers)


def passed_over(taken: Room, warps: int) -> int:
    """Return the registers of a thread that smaller tiles take at the most where they are spread over one of two
    dimensions.

    A compiler may read what it needs of them piece by piece; where it does not, and threads have no more registers, it
    spills.
    """
    return max((spread_registers(*tile, warps) for tile in taken.pairs), default=0)


def by_wide(taken: Room, warps: int, wide_unit: bool) -> bool:
    """Tell whether the contractions of a block, if any, take the matrix unit's wide instructions."""
    return wide_unit and taken.tall and (warps >= MATRIX_WARPS or not taken.contracted)


@lru_cache(maxsize=1 << 14)
def spread_registers(lanes: tuple[int, ...], args: tuple[tuple[tuple[int, ...], float], ...], warps: int) -> int:
    """Return the registers of a thread that smaller tiles take where they are spread over one of three dimensions or
    more.

    Every thread then holds all of them that its part of the large tile needs, and many threads hold the same.
    """
    wide = [at for at, n in enumerate(lanes) if n > 1][::-1]
    threads, left, mine = WARP, warps, dict.fromkeys(range(len(lanes)), 1)
    for at in wide:
        taken = min(threads, lanes[at])
        along = left if at == wide[-1] else min(left, max(1, lanes[at] // taken))
        threads, left = threads // taken, left // along
        mine[at] = math.ceil(lanes[at] / (taken * along))
    return math.ceil(
        sum(share * math.prod(mine[at] for at in arg) for arg, share in args if any(at not in arg for at in wide))
    )


@lru_cache(maxsize=1 << 14)
def partial_bytes(lanes: tuple[int, ...], axis: int, along: tuple[int, ...], scan: bool, warps: int) -> int:
    """Return the bytes in which the warps of a block leave their parts of a folding along an axis for each other, at
    the most.

    A tile that is loaded is laid out along the neighbours in memory first, larger ones that are computed along their
    last coordinate. A scan keeps what every stretch of a warp comes to.
    """
    wide = [at for at, n in enumerate(lanes) if n > 1]
    loaded = [at for at in along if at in wide]
    firsts = loaded or (wide[-1:] if len(wide) > 2 else [])
    orders = [[first, *(at for at in wide[::-1] if at != first)] for first in firsts]
    found = [
        _warps_along([lanes[at] for at in order], order.index(axis), warps, vector)
        for order in orders
        for vector in ((1, VECTOR) if loaded else (1,))
    ]
    across = max(found, default=min(warps, lanes[axis]))
    if scan and across > 1:
        across = max(across, lanes[axis] // (WARP if len(wide) == 1 else 1))
    return math.prod(lanes) // lanes[axis] * across * PARTIAL_BYTES if across > 1 else 0


def _warps_along(sizes: Sequence[int], axis: int, warps: int, vector: int) -> int:
    """Return how many warps lie along a dimension of a tile whose dimensions are filled in order: by the threads of a
    warp, then by warps.
    """
    lanes = WARP
    for at, size in enumerate(sizes[:-1]):
        most = min(warps * lanes, max(1, size // (vector if at == 0 else 1)))
        taken = min(most, lanes)
        along = min(max(1, most // taken), warps)
        if at == axis:
            return along
        lanes, warps = lanes // taken, warps // along
    return min(warps, sizes[-1])


@dataclass(frozen=True, slots=True)
class Crossing:
    """A reduction or a scan of a tile, whose threads and warps may each hold a part of its axis and have to meet.

    order: the tile's coordinates as threads, and then warps, are laid along them; vector: elements side by side that a
    thread has of the first.
    gain: of a linear recurrence, the coordinates of its gains.
    """

    coords: tuple[str, ...]
    axis: str
    order: tuple[str, ...]
    vector: int
    scan: bool
    gain: tuple[str, ...] | None = None


def buffer_bytes(buffer: p.Buffer) -> int:
    """Return the bytes of an array, of symbolic axes as they are expected (tile/expected.py)."""
    return BYTES[buffer.dtype] * math.prod(map(nominal, buffer.dims))


def short_rows(buffer: p.Buffer) -> bool:
    """Tell whether rows of an array are shorter than what memory takes at once: then threads that go along a row go on
    along the next one.
    """
    row = buffer.dims[minor(buffer.dims)].size if buffer.dims else None
    return row is not None and row * BYTES[buffer.dtype] < SECTOR


def crossing(
    kernel: p.Kernel, stmt: p.ReduceTile | p.ScanTile, made: Mapping[str, p.Defining], values: Mapping[str, p.Value]
) -> Crossing:
    """Return how the tile of a reduction or scan lies in threads: as what is loaded for it, and else along its last
    coordinate first.

    Of a load whose neighbours a compiler sees, they come first and then the tile's coordinates as they stand; else, and
    where rows are short, those nearest in memory. What is scanned and not loaded lies as it is stored.
    """
    coords = stmt.out.coords if isinstance(stmt, p.ScanTile) else values[stmt.arg].coords
    order, vector = coords[::-1], 1
    loads = (s for s in p.closure(made, p.used(stmt)).values() if isinstance(s, p.Load) and s.out.coords == coords)
    stores = (
        s
        for s in p.statements(kernel.body)
        if isinstance(s, p.StoreTile) and isinstance(stmt, p.ScanTile) and values[s.value].coords == coords
    )
    accesses: Iterator[p.Load | p.StoreTile] = itertools.chain(loads, stores)
    for access in itertools.islice(accesses, 1):
        order = _order(kernel, access, coords, values)
        if adjoining(kernel.minor(access), made, values):
            vector = _side_by_side(kernel, access, coords, order[0], made, values)
            if not short_rows(kernel.buffer(access.buffer)):
                order = (order[0], *(c for c in coords if c != order[0]))
    gain = values[stmt.gain].coords if isinstance(stmt, p.ScanTile) and stmt.gain else None
    return Crossing(coords, stmt.coord, order, vector, isinstance(stmt, p.ScanTile), gain)


def _order(
    kernel: p.Kernel, access: p.Load | p.StoreTile, coords: tuple[str, ...], values: Mapping[str, p.Value]
) -> tuple[str, ...]:
    """Return the coordinates of a tile, those first along which it lies nearest in memory."""
    near = {
        c: (at, values[place].coords.index(c))
        for at, place in enumerate(access.index)
        if isinstance(place, str)
        for c in values[place].coords
    }
    return tuple(sorted(coords, key=lambda c: (-near[c][0], -near[c][1]) if c in near else (0, 0)))


def _side_by_side(
    kernel: p.Kernel,
    access: p.Load | p.StoreTile,
    coords: tuple[str, ...],
    first: str,
    made: Mapping[str, p.Stmt],
    values: Mapping[str, p.Value],
) -> int:
    """Return how many neighbours a thread has of a tile: of one that is loaded, as many as of any that lies alike and
    is loaded or stored.
    """
    alike = [access]
    if isinstance(access, p.Load):
        along = (
            s
            for s in p.statements(kernel.body)
            if isinstance(s, (p.Load, p.StoreTile)) and neighbours(kernel, s, values) == first
        )
        alike += [s for s in along if values[s.out.name if isinstance(s, p.Load) else s.value].coords == coords]
    return max(neighbours_taken(kernel, s, first, made, values) for s in alike)


def neighbours_taken(
    kernel: p.Kernel, stmt: p.Load | p.StoreTile, last: str, made: Mapping[str, p.Stmt], values: Mapping[str, p.Value]
) -> int:
    """Return how many neighbours a thread may take at once: a number that divides every row, so that each begins as the
    first, and what a mask leaves in whole blocks.
    """
    buffer = kernel.buffer(stmt.buffer)
    if not adjoining(kernel.minor(stmt), made, values):
        return 1
    rows = [nominal(buffer.dims[minor(buffer.dims)])] if len(buffer.dims) > 1 else []
    masks = [mask for mask in stmt.masks if mask not in kernel.edges and last in values[mask].coords]
    ends = [nominal(kernel.coord(last).axis)] if masks else []
    ends += [number for mask in masks for number in _compared(mask, last, made, values)]
    return math.gcd(VECTOR_BYTES // BYTES[buffer.dtype], *rows, *ends)


def _compared(
    mask: str, coord: str, made: Mapping[str, p.Stmt], values: Mapping[str, p.Value]
) -> Iterator[int]:
    """Yield the whole numbers that lanes along a coordinate are moved by and compared with in a mask: what divides them
    all divides the places where it begins to hold, or ends.
    """
    for name, stmt in _computed_of(mask, made).items():
        if stmt.op in ("lt", "le", "add") and coord in values[name].coords:
            yield from (arg for arg in stmt.args if type(arg) is int)


@lru_cache(maxsize=1 << 14)
def laid(sizes: tuple[int, ...], vector: int, warps: int) -> tuple[tuple[int, int, int], ...]:
    """Return how a tile lies in threads, of each dimension in the order of Crossing: threads of a warp, warps, and
    places of a thread.
    """
    threads, along = WARP, warps
    spans: list[tuple[int, int, int]] = []
    vector = min(vector, sizes[0])
    for at, size in enumerate(sizes):
        room = max(1, size // (vector if at == 0 else 1))
        taken = min(threads, room)
        across = min(along, max(1, (size if at == len(sizes) - 1 else room) // taken))
        threads, along = threads // taken, along // across
        spans.append((taken, across, max(1, size // (taken * across))))
    return tuple(spans)


def sliced(
    cross: Crossing, coords: Sequence[str], lanes: Mapping[str, int]
) -> tuple[tuple[int, ...], int, tuple[int, ...]]:
    """Return of what lies in threads as a folded tile does the tile's sizes in the order of Crossing, its vector, and
    the dimensions that are left.
    """
    return (
        tuple(lanes[c] for c in cross.order),
        cross.vector,
        tuple(at for at, c in enumerate(cross.order) if c in coords),
    )


@lru_cache(maxsize=1 << 14)
def places(sizes: tuple[int, ...], vector: int, left: tuple[int, ...], warps: int) -> int:
    """Return how many elements each thread holds of what is left of a tile that was folded: every thread along what is
    gone holds the same.
    """
    spans = laid(sizes, vector, warps)
    return math.prod(spans[at][2] for at in left)


@lru_cache(maxsize=1 << 14)
def crossed_clocks(
    sizes: tuple[int, ...], axis: int, vector: int, scan: bool, warps: int
) -> tuple[float, float, float]:
    """Return the clocks of an SM in which the threads of a block exchange their parts of a folding, those of one after
    another's answers, and those in which its threads add parts of a prefix fold that other warps have left.

    sizes: of its tile, in the order of Crossing. Threads of a warp exchange numbers 32 a clock, for each doubling of
    those along the axis. Warps along it leave their parts in shared memory, part by part, then the dimensions of which
    a thread holds several places, then the others: so threads along one of these meet in few banks.
    """
    vector, spans = min(vector, sizes[0]), laid(sizes, vector, warps)
    inside, across, _ = spans[axis]
    results = math.prod(sizes) // sizes[axis]
    stretches = max(1, sizes[axis] // (inside * (vector if axis == 0 else 1))) if scan else across
    doublings = math.log2(inside)
    clocks, waits = max(results * stretches * inside, WARP * warps) / WARP * doublings, doublings * SHUFFLED
    clocks *= DOUBLED if scan else 1
    if across == 1:
        return clocks, waits, 0.0
    lanes, partials = WARP // inside, results * stretches
    if scan:  # each warp reads what every stretch before its own comes to; the parts of neighbours lie side by side
        return clocks, waits + MET_BEFORE, partials / lanes * (JOINED + across)
    kept = sorted((at for at in range(len(sizes)) if at != axis), key=lambda at: (spans[at][2] == 1, at))
    stride = across
    for at in kept:
        if spans[at][0] > 1:
            stride *= vector if at == 0 and spans[at][2] > 1 else 1
            break
        stride *= sizes[at]
    ways = min(lanes, max(1.0, lanes * stride / WARP))
    clocks += partials / lanes * 2 * ways + partials / WARP * (2 + math.log2(across))
    return clocks, waits + MET + math.log2(across) * SHUFFLED, 0.0


def _moments(kernel: p.Kernel) -> Iterator[Moment]:
    """Yield what lies in shared memory together: in the kernel's own body, and in each part of its loops beside what
    lies there around it.
    """
    values = p.values_of(kernel.body)
    loads = {s.out.name for s in p.statements(kernel.body) if isinstance(s, p.Load)}
    sides = {n for s in p.statements(kernel.body) if isinstance(s, p.Dot) for n in (s.a, s.b)}
    results = _of_contractions(kernel)
    # Operands of contractions of parts, and the bytes of an element's parts
    split = {
        n: p.PRECISIONS[s.precision].bytes
        for s in p.statements(kernel.body)
        if isinstance(s, p.Dot) and p.PRECISIONS[s.precision].parts > 1
        for n in (s.a, s.b)
    }

    def claim(name: str) -> tuple[tuple[str, ...], int]:
        return values[name].coords, BYTES[values[name].dtype]

    def parts(name: str) -> tuple[tuple[str, ...], int]:
        return values[name].coords, split[name]

    def visit(body: Sequence[p.Stmt], around: Claims, looped: bool) -> Iterator[Moment]:
        own = p.definitions(tuple(s for s in body if not isinstance(s, p.Loop)))
        innermost = looped and not any(isinstance(s, p.Loop) for s in body)
        dots = [s for s in body if isinstance(s, p.Dot)]
        read = {n for dot in dots for n in (dot.a, dot.b)} if innermost else set()
        fed = {n for n in p.closure(own, sorted(read)) if n in loads and n in own}
        others = {n for s in body if not isinstance(s, p.Dot) for n in p.used(s)}
        lefts = {left_of(dot, values) for dot in dots}
        resident = [n for n in own if innermost and n in sides - loads and n in lefts and n in results]
        inside = {n for dot in dots for n in (dot.a, dot.b) if n in split}
        once = [n for n in own if n in sides and n not in fed and n not in resident and n not in inside]
        whole = (*around, *(parts(n) if n in split else claim(n) for n in once))
        lying = (fed & read) - others - set(split)
        direct, through = (tuple(claim(n) for n in sorted(names) if values[n].coords) for names in (lying, fed - lying))
        apart = tuple(
            tuple(parts(n) for n in (dot.a, dot.b) if n in own and (n not in lefts or n not in {*loads, *resident}))
            for dot in dots
            if p.PRECISIONS[dot.precision].parts > 1
        )
        handed = tuple((claim(n) if n in loads else parts(n),) for n in sorted(inside) if n in own and n not in fed)
        # What a body does after its last contraction finds the operands gone.
        last = max((at + 1 for at, s in enumerate(body) if isinstance(s, (p.Dot, p.Loop))), default=0)
        yield Moment(
            whole,
            direct,
            through,
            tuple(claim(n) for n in resident if n not in split),
            apart,
            handed,
            *passing(body[:last] if not looped else body, own, fed),
        )
        if not looped:
            yield Moment(around, (), (), (), (), (), *passing(body[last:], own, fed))
        inner: list[Moment] = []
        for stmt in body:
            for part in stmt.parts if isinstance(stmt, p.Loop) else ():
                inner += visit(part.body, whole, True)
        yield from inner
        loops, single = [s for s in body if isinstance(s, p.Loop)], [m for m in inner if not m.turns]
        if looped and sum(bool(m.direct or m.through) for m in single) > 1:
            # A compiler writes out the turns of inner loops that have one each
            turns = tuple((s.coord, (kernel.coord(s.coord).axis.size or math.inf) / len(s.parts)) for s in loops)
            yield Moment(
                (*whole, *(claim for m in single for claim in m.once[len(whole) :])),
                tuple(claim for m in single for claim in m.direct),
                tuple(claim for m in single for claim in m.through),
                tuple(claim for m in single for claim in m.resident),
                turns=tuple(dict.fromkeys([*turns, *(turn for m in inner for turn in m.turns)])),
            )

    def passing(
        body: Sequence[p.Stmt], own: Mapping[str, p.Defining], fed: set[str]
    ) -> tuple[tuple[Folding, ...], tuple[Converted, ...]]:
        foldings = _foldings(kernel, body, own, values)
        converted = _converted(kernel, body, values, fed | sides, results)
        return tuple(dict.fromkeys(foldings)), tuple(dict.fromkeys(converted))

    yield from visit(kernel.body, (), False)


def _foldings(
    kernel: p.Kernel, body: Sequence[p.Stmt], own: Mapping[str, p.Defining], values: Mapping[str, p.Value]
) -> Iterator[Folding]:
    for stmt in body:
        coords = (
            stmt.out.coords
            if isinstance(stmt, p.ScanTile)
            else values[stmt.arg].coords
            if isinstance(stmt, p.ReduceTile)
            else ()
        )
        if isinstance(stmt, (p.ReduceTile, p.ScanTile)) and stmt.coord in coords:
            made = p.closure(own, p.used(stmt)).values()
            along = (neighbours(kernel, s, values) for s in made if isinstance(s, p.Load) and s.out.coords == coords)
            yield Folding(
                coords,
                stmt.coord,
                tuple(dict.fromkeys(way for way in along if way in coords)),
                isinstance(stmt, p.ScanTile),
            )


def _converted(
    kernel: p.Kernel, body: Sequence[p.Stmt], values: Mapping[str, p.Value], fed: set[str], results: set[str]
) -> Iterator[Converted]:
    """Yield the tiles of a body that threads may have to hand on: spread over a wider tile or left by its reduction,
    stored from the matrix unit, and loaded or stored along other neighbours than the rest."""

    def tile(name: str, dtype: str, wider: tuple[str, ...] = ()) -> Converted:
        return values[name].coords, BYTES[dtype], wider

    ways: dict[tuple[str, ...], dict[str, list[Converted]]] = {}
    for stmt in body:
        if isinstance(stmt, p.Let):
            narrow = (
                a for a in stmt.args if isinstance(a, str) and values[a].coords and values[a].coords != stmt.out.coords
            )
            yield from (tile(a, values[a].dtype, stmt.out.coords) for a in narrow)
        elif isinstance(stmt, p.ReduceTile):
            yield tile(stmt.out.name, stmt.out.dtype)
        elif isinstance(stmt, p.StoreTile) or (isinstance(stmt, p.Load) and stmt.out.name not in fed):
            name = stmt.value if isinstance(stmt, p.StoreTile) else stmt.out.name
            found = tile(name, kernel.buffer(stmt.buffer).dtype)
            ways.setdefault(found[0], {}).setdefault(neighbours(kernel, stmt, values), []).append(found)
            if isinstance(stmt, p.StoreTile) and name in results:
                yield found
    for alike in ways.values():
        if len(alike) > 1:
            yield from (found for tiles in alike.values() for found in tiles)


def neighbours(kernel: p.Kernel, stmt: p.Load | p.StoreTile, values: Mapping[str, p.Value]) -> str:
    """Return the coordinate that neighbouring elements in memory lie along, if a tile has several of them."""
    place = kernel.minor(stmt) if stmt.index else None
    coords = values[place].coords if isinstance(place, str) else ()
    return coords[0] if coords else ""


def nearest(
    index: Sequence[p.Operand],
    made: Mapping[str, p.Stmt],
    values: Mapping[str, p.Value],
    dims: Sequence[Axis],
    least: Callable[[Axis], int],
) -> tuple[str, int]:
    """Return the coordinate of a tile along which elements are nearest in memory, and how many elements apart two of
    its places are.

    Along what a remainder is taken of places begin anew after a few: these are no neighbours. least: but those of rows
    of so many are, by the axis that they lie along; 0 where none are.
    """
    apart = 1
    for operand, axis in zip(reversed(index), reversed(dims), strict=True):
        if isinstance(operand, str) and (coords := values[operand].coords):
            parts = _computed_of(operand, made)
            if all(stmt.op != "mod" for stmt in parts.values()):
                return coords[0], apart
            few = least(axis)
            steps = {coord: step for coord in coords if (step := _step(operand, coord, made, values, parts, few))}
            if steps:
                coord = min(steps, key=steps.__getitem__)
                return coord, apart * max(1, round(steps[coord]))
        if axis.size is None:
            break
        apart *= axis.size
    return "", 1


def repeated(index: Sequence[p.Operand], made: Mapping[str, p.Stmt], values: Mapping[str, p.Value]) -> int:
    """Return how many lanes of a tile that are side by side read one place: quotients of places, and their remainders,
    move on once in so many.
    """
    many: list[int] = []
    for operand in index:
        coords = values[operand].coords if isinstance(operand, str) else ()
        if len(coords) > 1:
            return 1
        if isinstance(operand, str) and coords:
            step = _step(operand, coords[0], made, values, _computed_of(operand, made))
            many.append(max(1, int(1 / step)) if step else 1)
    return min(many, default=1)


def moved_by(
    operand: p.Operand, made: Mapping[str, p.Stmt], values: Mapping[str, p.Value], least: int
) -> tuple[tuple[str, int], ...]:
    """Return the coordinates of a place's lanes and how far each moves it, where all do by a whole number; least: the
    lanes of a row that are neighbours, at the least, or 0.
    """
    coords = values[operand].coords if isinstance(operand, str) else ()
    parts = _computed_of(str(operand), made) if coords else {}
    steps = [(coord, _step(str(operand), coord, made, values, parts, least)) for coord in coords]
    return tuple((c, round(step)) for c, step in steps if step and step >= 1) if all(s for _, s in steps) else ()


def _computed_of(operand: str, made: Mapping[str, p.Stmt]) -> dict[str, p.Let]:
    """Return the operators that a place is computed by, each after those of its arguments."""
    found, waiting = dict[str, p.Let](), [operand]
    while waiting:
        name = waiting[-1]
        stmt = made.get(name)
        inner = [arg for arg in stmt.args if isinstance(arg, str)] if isinstance(stmt, p.Let) else []
        deeper = [arg for arg in inner if isinstance(made.get(arg), p.Let) and arg not in found]
        if deeper:
            waiting += deeper
            continue
        waiting.pop()
        if isinstance(stmt, p.Let):
            found.setdefault(name, stmt)
    return found


def _step(
    operand: str,
    coord: str,
    made: Mapping[str, p.Stmt],
    values: Mapping[str, p.Value],
    parts: Mapping[str, p.Let],
    least: int = 0,
) -> float | None:
    """Return by how much a place moves from one lane of a coordinate to the next, None where that is not told.

    parts: the operators that it is computed by, in order. least: as of `moved_by`.
    """
    moves: dict[str, float | None] = {}

    def of(arg: p.Operand) -> float | None:
        if not isinstance(arg, str) or coord not in values[arg].coords:
            return 0.0
        return moves[arg] if arg in moves else 1.0 if isinstance(made.get(arg), p.Iota) else None

    for name, stmt in parts.items():
        moving, by = [step for step in map(of, stmt.args) if step != 0.0], stmt.args[-1]
        moves[name] = None
        if coord not in values[name].coords:
            moves[name] = 0.0
        elif len(moving) == 1 and stmt.op in ("add", "neg", "cast", "min", "max"):
            moves[name] = moving[0]
        elif len(moving) == 1 and moving[0] and stmt.op in ("mul", "floordiv") and type(by) is int and by > 0:
            moves[name] = moving[0] * by if stmt.op == "mul" else moving[0] / by
        elif len(moving) == 1 and moving[0] and stmt.op == "mod" and type(by) is int:
            many = moving[0] < 1 or 0 < least * moving[0] <= by
            moves[name] = moving[0] if many else None  # it begins anew after many lanes
    return of(operand)


def adjoining(
    operand: p.Operand, made: Mapping[str, p.Stmt], values: Mapping[str, p.Value], along: str | None = None
) -> bool:
    """Tell whether neighbouring lanes of a place are neighbours, plainly enough for a compiler: counted up, and moved.

    along: a coordinate; without one the last that the place is computed of.
    """
    stmt = made.get(str(operand))
    if isinstance(stmt, p.Iota):
        return along in (None, *stmt.out.coords)
    if not isinstance(stmt, p.Let) or stmt.op not in ("add", "cast"):
        return False
    wide = [a for a in stmt.args if isinstance(a, str) and values[a].coords and along in (None, *values[a].coords)]
    return bool(wide) and (along is None or len(wide) == 1) and adjoining(wide[-1], made, values, along)


def _spread(kernel: p.Kernel, values: Mapping[str, p.Value]) -> Iterator[Spread]:
    counted: set[str] = set()  # what is counted up, and what is computed of it alone: made anew wherever it is used
    for stmt in p.statements(kernel.body):
        if isinstance(stmt, (p.Iota, p.Start, p.SizeOf)) or (
            isinstance(stmt, p.Let) and counted.issuperset(p.used(stmt))
        ):
            counted.add(stmt.out.name)
        if isinstance(stmt, p.Let) and len(stmt.out.coords) > 1:
            names = (a for a in stmt.args if isinstance(a, str) and (len(stmt.out.coords) > 2 or a not in counted))
            smaller = (values[a] for a in names if values[a].coords not in ((), stmt.out.coords))
            if args := tuple(dict.fromkeys((v.coords, share(v)) for v in smaller)):
                yield stmt.out.coords, args


def _of_contractions(kernel: p.Kernel) -> set[str]:
    """Return the values that are computed, element by element, of contractions' results."""
    found: set[str] = set()
    for stmt in p.statements(kernel.body):
        if isinstance(stmt, p.Dot) or (isinstance(stmt, p.Let) and found & set(p.used(stmt))):
            found.add(stmt.out.name)
    return found


def _alive(kernel: p.Kernel) -> set[Tiles]:
    """Return the tiles that a kernel holds together where it waits; what contractions read is in shared memory, or, if
    computed, held meanwhile.
    """
    values = p.values_of(kernel.body)
    loads = {s.out.name for s in p.statements(kernel.body) if isinstance(s, p.Load)}
    operands = {n for s in p.statements(kernel.body) if isinstance(s, p.Dot) for n in (s.a, s.b)}

    def computed(part: p.Part) -> Tiles:
        names = {n for s in part.body if isinstance(s, p.Dot) for n in (s.a, s.b) if n not in loads}
        return tuple((values[n].coords, 0.5) for n in sorted(names))

    return alive(kernel.body, operands & loads, computed, waits=True) | set(_paired(kernel, values))


def _paired(kernel: p.Kernel, values: Mapping[str, p.Value]) -> Iterator[Tiles]:
    """Yield what linear recurrences hold while they are folded: of each element what it is given and what it comes to,
    both with their gains.
    """
    for stmt in p.statements(kernel.body):
        if isinstance(stmt, p.ScanTile) and stmt.gain is not None and stmt.coord in values[stmt.gain].coords:
            yield ((stmt.out.coords, 4.0),)


def _alive_in_lanes(kernel: p.Kernel) -> set[Tiles]:
    """Return the tiles held together where lanes fold their own elements: those loaded, and others but what is computed
    of these element by element.
    """
    free: set[str] = set()
    for stmt in p.statements(kernel.body):
        if isinstance(stmt, (p.Load, p.Iota, p.Start)) or (isinstance(stmt, p.Let) and free.issuperset(p.used(stmt))):
            free.add(stmt.out.name)
    runs = [c.name for c in kernel.coords if c.role == "run"]
    return alive(kernel.body, (), waits=True, within=runs, free=free) | set(_loaded(kernel.body))


def _loaded(body: Sequence[p.Stmt]) -> Iterator[Tiles]:
    """Yield what is held of the tiles that a body loads one after another: of the later ones a part at a time."""
    loads = [s.out for s in body if isinstance(s, p.Load)]
    held: dict[tuple[str, ...], float] = {}
    for at, value in enumerate(loads):
        held[value.coords] = held.get(value.coords, 0.0) + share(value) * (LATER if at else 1.0)
    yield tuple(sorted(held.items()))
    for stmt in body:
        for part in stmt.parts if isinstance(stmt, p.Loop) else ():
            yield from _loaded(part.body)
