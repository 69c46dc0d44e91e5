"""Eviction: what a block reads again stays in the level-2 cache, what it reads for the last time, or writes, makes
room.

Without saying so, blocks at work together lose what they will read again to what they write (rows of 65,536 on an H200:
3 to 18 % longer). And what is read once, by a kernel that writes little, pushes out what others wrote, which is written
to memory then: on an H100 maxima of 8,192 rows of 4,096 numbers took 35.6 us and take 27.6, of 512 rows of 32,768 19.5
and 17.3. Of pieces of rows of a line or so that held for 33 and 52 MB (25.7 us became 21.4, 28.2 became 25.4), of 131
and 268 MB they took 12 and 4 % longer; where as much is written as is read nothing changed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from napkin_eq.tile.expected import nominal
from napkin_eq.tile.ir import (
    Defining,
    Dot,
    Evictions,
    Iota,
    Kernel,
    Let,
    Load,
    Loop,
    Operand,
    Plan,
    SizeOf,
    Start,
    Stmt,
    closure,
    definitions,
    statements,
)
from napkin_eq.tile.resources import BYTES, buffer_bytes

WRITTEN = 4  # bytes that are read for each that is written, at the least, for what is read once to go first
RUN_BYTES = 1024  # side by side that a block reads: pages of memory then are read whole, however large the array
PIECES_BYTES = 1e8  # of an array that is read by shorter pieces, the most
PLACING, BOUNDING = ("add", "mul"), ("add", "mul", "min", "max", "floordiv")  # what places and bounds are computed by
Around = tuple[tuple[Loop, int], ...]  # the loops around a statement, and which part of each


def cache_hints(plan: Plan) -> Plan:
    """Return the plan with what its kernels say of their loads and stores."""
    outputs = {buffer.name for buffer in plan.outputs}
    kernels: list[Kernel] = []
    later: set[str] = set()  # what kernels after this one read
    for kernel in reversed(plan.kernels):
        again = tuple(_read_again(kernel))
        once = tuple((name, 0) for name in _read_once(kernel) if name not in later)
        said = Evictions(again or once, frozenset(b.name for b in kernel.writes if again) & outputs)
        kernels.append(replace(kernel, evictions=said))
        later |= {buffer.name for buffer in kernel.reads}
    return replace(plan, kernels=tuple(reversed(kernels)))


def _read_once(kernel: Kernel) -> Iterator[str]:
    """Yield the arrays each of whose elements one block reads, and once, in a kernel without contraction that writes
    little beside.
    """
    if kernel.workers or any(isinstance(s, Dot) for s in statements(kernel.body)):
        return
    made = definitions(kernel.body)
    written = sum(map(buffer_bytes, kernel.writes))
    for buffer in kernel.reads:
        size = buffer_bytes(buffer)
        loads = [(load, around) for load, around in _loads(kernel.body, ()) if load.buffer == buffer.name]
        if (
            size >= WRITTEN * written
            and all(_own(kernel, load, around, made) for load, around in loads)
            and all(_apart(one, other) for (_, one), (_, other) in itertools.combinations(loads, 2))
            and (size <= PIECES_BYTES or all(_run(kernel, load, made) >= RUN_BYTES for load, _ in loads))
        ):
            yield buffer.name


def _loads(body: Sequence[Stmt], around: Around) -> Iterator[tuple[Load, Around]]:
    for stmt in body:
        if isinstance(stmt, Load):
            yield stmt, around
        elif isinstance(stmt, Loop):
            for at, part in enumerate(stmt.parts):
                yield from _loads(part.body, (*around, (stmt, at)))


def _apart(one: Around, other: Around) -> bool:
    """Tell whether two statements stand in different parts of one loop: no block is in both."""
    for (loop, part), (beside, at) in zip(one, other, strict=False):
        if loop is not beside:
            return False
        if part != at:
            return True
    return False


def _own(kernel: Kernel, load: Load, around: Around, made: Mapping[str, Defining]) -> bool:
    """Tell whether no two lanes, turns of loops and blocks read one place: each coordinate is told by where it reads,
    and a place moves along one axis alone.
    """
    told: set[str] = set()
    for place in load.index:
        if (coords := _counted(place, made)) is None or len({kernel.coord(c).axis for c in coords}) > 1:
            return False
        told |= coords
    for loop, part in around:
        if loop.coord not in told:
            return False
        told |= _counted(loop.parts[part].lo, made, BOUNDING) or set()
    divided = {name for name in kernel.grid if _several(kernel, name)}
    axes = {kernel.coord(name).axis for name in divided}
    across = any(kernel.coord(name).axis in axes for name in told - {*kernel.grid})
    return divided <= told and not across


def _several(kernel: Kernel, name: str) -> bool:
    """Tell whether there may be several blocks along a coordinate."""
    coord = kernel.coord(name)
    return coord.axis.size is None or coord.axis.size > coord.tile


def _counted(place: Operand, made: Mapping[str, Defining], by: Sequence[str] = PLACING) -> set[str] | None:
    """Return the coordinates that a place is counted along, None where it is computed otherwise."""
    found = closure(made, [place] if isinstance(place, str) else []).values()
    if all(isinstance(s, (Start, Iota, SizeOf)) or (isinstance(s, Let) and s.op in by) for s in found):
        return {s.coord for s in found if isinstance(s, (Start, Iota))}
    return None


def _run(kernel: Kernel, load: Load, made: Mapping[str, Defining]) -> int:
    """Return how many bytes side by side a block reads: a row where it walks one."""
    coords = _counted(kernel.minor(load), made) or set() if load.index else set()
    walked = any(name not in kernel.grid and kernel.coord(name).role == "stream" for name in coords)
    lanes = math.prod(kernel.coord(name).tile for name in coords)
    return BYTES[load.out.dtype] * (nominal(kernel.coord(min(coords)).axis) if walked and coords else lanes)


def _read_again(kernel: Kernel) -> Iterator[tuple[str, int]]:
    """Yield the buffers of which a block reads a part that is its own in several statements of the body, with the last
    of these.
    """
    divided = {kernel.coord(name).axis for name in kernel.grid if _several(kernel, name)}
    for buffer in kernel.reads:
        loads = [
            (at, s)
            for at, stmt in enumerate(kernel.body)
            for s in statements((stmt,))
            if isinstance(s, Load) and s.buffer == buffer.name
        ]
        # A coordinate beside the grid's along a divided axis reaches into other blocks' parts.
        across = any(
            kernel.coord(name).axis in divided and name not in kernel.grid
            for _, load in loads
            for name in load.out.coords
        )
        if divided <= set(buffer.dims) and not across and len({at for at, _ in loads}) > 1:
            yield buffer.name, loads[-1][0]
