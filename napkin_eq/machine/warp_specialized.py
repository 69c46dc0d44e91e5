"""What a kernel costs whose warps share its work, so that copies, contractions and arithmetic run beside each other.

time = max(HBM, level 2, units) + a little of the others + launch, where the units are the slower of the matrix unit and
the work beside it, plus a part of the faster, plus a fixed time for every block, on the program that the most work is
dealt to.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from napkin_eq.machine.cost import KernelCost, Profile, Totals, Work, from_hbm, launched, totals
from napkin_eq.machine.gpu import Hardware
from napkin_eq.machine.tile_scheduler import Dealt, least_uneven
from napkin_eq.tile import ir as p
from napkin_eq.tile.liveness import Tiles, alive
from napkin_eq.tile.passes.warp_specialize import GROUP_LANES, MOST_GROUPS, REGISTERS, sunk, unscaled
from napkin_eq.tile.resources import BYTES, SMEM_SLACK

ARCHS = ("sm_90",)
OWN_REGISTERS = 16  # of which addresses, counters and scalars take some
# Of a group, a thread of which holds a fourth of a tile's columns, of two of its rows
THREADS, COLUMN_SHARE, ROW_REGISTERS = 128, 4, 2


@dataclass(frozen=True, slots=True)
class Footprint:
    """What groups of warps hold: the tiles alive together at each point of a kernel, in registers; the tiles stored
    through shared memory.
    """

    alive: tuple[Tiles, ...]
    stored: tuple[tuple[tuple[str, ...], int], ...]
    rows: tuple[str, ...]


def footprint(kernel: p.Kernel) -> Footprint | None:
    """Read a kernel's footprint off its statements, of one that is scheduled precisely; None where it has no
    contraction of 16-bit operands in a loop.
    """
    kernel = replace(kernel, body=_late(sunk(unscaled(kernel.body, lambda name: name), frozenset())))
    values = p.values_of(kernel.body)
    loops = [s for s in p.statements(kernel.body) if isinstance(s, p.Loop)]
    dots = [s for s in p.statements(kernel.body) if isinstance(s, p.Dot)]
    inside = [s for loop in loops for part in loop.parts for s in part.body]
    walks = any(c.role == "walk" for c in kernel.coords)  # no such kernel was measured
    if walks or not any(isinstance(s, p.Dot) for s in inside) or any(BYTES[values[d.a].dtype] != 2 for d in dots):
        return None
    loads = {s.out.name for s in p.statements(kernel.body) if isinstance(s, p.Load)}
    operands = {name for d in dots for name in (d.a, d.b)}
    # Tiles of shared memory take no registers, and neither do their indices; before a kernel is scheduled, `_operands`
    # are held instead.
    apart = operands & loads if kernel.workers else operands

    def held(part: p.Part) -> Tiles:
        return () if kernel.workers else _operands(part, values, loads)

    points = alive(kernel.body, apart, held, ends=True)
    stored = {
        (values[s.value].coords, BYTES[values[s.value].dtype])
        for s in p.statements(kernel.body)
        if isinstance(s, p.StoreTile)
    }
    shared = tuple(c for c in kernel.grid if all(c in d.out.coords for d in dots))
    return Footprint(tuple(sorted(points)), tuple(sorted(stored)), shared)


def _late(body: Sequence[p.Stmt]) -> tuple[p.Stmt, ...]:
    """Put coordinates where something other than a load first uses them, as they are printed."""
    waiting: dict[str, p.Stmt] = {}
    found: list[p.Stmt] = []
    for stmt in body:
        if isinstance(stmt, p.Loop):
            stmt = replace(stmt, parts=tuple(replace(part, body=_late(part.body)) for part in stmt.parts))
        if isinstance(stmt, p.Iota):
            waiting[stmt.out.name] = stmt
            continue
        used = {n for s in p.statements((stmt,)) for n in p.used(s)} if not isinstance(stmt, p.Load) else set()
        found += [waiting.pop(name) for name in sorted(used & set(waiting))]
        found.append(stmt)
    return tuple(found)


def _operands(part: p.Part, values: Mapping[str, p.Value], loads: set[str]) -> Tiles:
    """Return the computed operands of sums in a loop's body, which are held while the next block's are computed."""
    names = {n for s in part.body if isinstance(s, p.Dot) and s.acc for n in (s.a, s.b) if n not in loads}
    return tuple((values[n].coords, 0.5) for n in sorted(names))


def groups_of(use: Footprint, lanes: Mapping[str, int]) -> tuple[str, int] | None:
    """Return the coordinate whose lanes groups of warps share and how many groups do; None where none is so wide."""
    for name in use.rows:
        if lanes[name] % GROUP_LANES == 0 and lanes[name] // GROUP_LANES <= MOST_GROUPS:
            return (name, lanes[name] // GROUP_LANES) if lanes[name] // GROUP_LANES > 1 else None
    return None


def registers(use: Footprint, lanes: Mapping[str, int], rows: str) -> int:
    """Estimate the registers of a thread of a group: what is alive at the fullest point of the kernel."""
    mine = {**lanes, rows: GROUP_LANES}

    def per_thread(coords: tuple[str, ...]) -> float:
        wide = [c for c in coords if mine[c] > 1]
        whole = math.prod(mine[c] for c in wide)
        return (
            whole / 128
            if rows in wide and len(wide) > 1
            else whole / COLUMN_SHARE
            if wide and rows not in wide
            else ROW_REGISTERS * len(wide)
        )

    return OWN_REGISTERS + math.ceil(
        max(sum(per_thread(coords) * share for coords, share in tiles) for tiles in use.alive)
    )


def priced(
    prof: Profile, use: Footprint, tiles: Mapping[str, int], stages: int, hardware: Hardware, way: Dealt | None = None
) -> KernelCost | None:
    """Predict the cost of a kernel that groups of warps share, for tile sizes by coordinate name; None where they
    cannot or it does not fit.

    `way`: how its blocks come to programs, where that was tried out; without it the best that can be is taken.
    """
    model, shared = hardware.model, hardware.groups
    kernel = prof.kernel
    lanes = {c.name: tiles.get(c.name, c.tile) for c in kernel.coords}
    found = groups_of(use, lanes)
    if found is None:
        return None
    rows, groups = found
    if any(n & (n - 1) for name, n in lanes.items() if name != rows):
        return None
    held, smem = registers(use, lanes, rows), _shared_bytes(prof, use, lanes, stages)
    if held > REGISTERS[groups][0] or smem > hardware.smem.block_bytes:
        return None

    def anew(work: Work) -> float:
        # Each thread of a group computes for itself what varies along columns alone, a fourth of them
        wide = [c for c in work.coords if lanes[c] > 1]
        return groups * THREADS / COLUMN_SHARE if work.loops and len(wide) == 1 and rows not in wide else 1.0

    work = totals(prof, lanes, hardware, 4 * groups, line=shared.line_bytes, anew=anew)
    blocks, sms = work.blocks, hardware.chip.sms
    loaded = sum(work.moved.values())
    fetched = sum(from_hbm(prof, lanes, name, work.moved, blocks, hardware, 1, lost=False) for name in work.moved)
    latency = model.latency_l2_s + (model.latency_hbm_s - model.latency_l2_s) * fetched / max(1.0, loaded)
    matrix, beside, fixed, copying = _block(prof, work, lanes, stages, latency, hardware)
    if groups == MOST_GROUPS and matrix > beside:
        # Three groups hide arithmetic better, and feed the matrix unit worse: measured slower by up to 60 % where it is
        # the limit
        return None
    low, high = {2: (shared.turns_2_low, shared.turns_2_high), 3: (shared.turns_3_low, shared.turns_3_high)}[groups]
    # A group that narrows an operand after its contraction would have the others wait for that, too.
    in_turn = low * matrix <= beside <= high * matrix and not work.operations["operand"]
    computing = (max(matrix, beside) + shared.showing * min(matrix, beside) + fixed) * (
        shared.in_turn if in_turn else 1
    )
    seconds = (computing**model.round + copying**model.round) ** (1 / model.round)
    uneven = way.uneven if way else least_uneven(kernel, lanes, seconds, hardware)
    units = (seconds + shared.block_s) * blocks / sms * uneven
    hbm = fetched / (hardware.hbm.copy_bandwidth * model.read_rate) + work.stored / (
        hardware.hbm.copy_bandwidth * model.write_rate
    )
    asked = sum(work.requests.values())
    l2 = max(
        asked / hardware.l2.copy_bandwidth, asked / (min(blocks, sms) * shared.bytes_per_clock * hardware.chip.clock_hz)
    )
    spent = {"hbm": hbm, "l2": l2, "units": units}
    slowest = max(l2, (hbm**model.round + units**model.round) ** (1 / model.round))
    return KernelCost(
        kernel.name, tuple((g, lanes[g]) for g in kernel.grid),
        tuple((c.name, lanes[c.name]) for c in kernel.coords if c.role in ("stream", "walk")),
        blocks, blocks / sms, fetched + work.stored, loaded + work.stored, work.operations["tensor"],
        work.operations["sfu"], work.operations["alu"],
        smem, held, 4 * groups + 4, stages,
        launched(slowest, max(hbm, l2), hardware) * 1e6, max(spent, key=lambda name: spent[name]), groups, in_turn,
    )  # fmt: skip


def _block(
    prof: Profile, work: Totals, lanes: Mapping[str, int], stages: int, latency: float, hardware: Hardware
) -> tuple[float, float, float, float]:
    """Return the seconds of one block on the matrix unit, of the work beside it, of what neither hides, and of its
    copies.
    """
    model, shared = hardware.model, hardware.groups
    clock = hardware.chip.clock_hz
    per_block = hardware.chip.sms / work.blocks
    trips = sum(work.walks[loops] for loops in {w.loops for w in prof.works if w.kind == "tensor" and w.loops})
    copied = {w.loops for w in prof.works if w.kind == "load" and w.loops}
    fed = max(work.wide + work.narrow, (work.shared_wide + work.shared_narrow) / model.shared_bytes)
    multiplying = (fed / shared.matrix + trips * shared.trip_clocks) / clock
    # A buffer is filled anew while the others are read: each takes a latency and its bytes.
    brought = sum(work.requests.values()) / work.blocks / shared.bytes_per_clock / clock
    copying = (sum(work.walks[loops] for loops in copied) * latency + brought) / max(1, stages - 1)
    # Groups end their contractions together: what they compute after their loops runs beside none
    after = {"sfu": 0.0, "alu": 0.0}
    for late in (w for w in prof.works if w.kind in after and not w.loops):
        after[late.kind] += late.factor * math.prod(lanes[c] for c in late.coords) * work.blocks
    operations = (work.operations["sfu"] - after["sfu"]) / hardware.rate("sfu") + (
        work.operations["alu"] - after["alu"] + work.operations["operand"]
    ) / hardware.rate("fma")
    ending = (after["sfu"] / hardware.rate("sfu") + after["alu"] / hardware.rate("fma")) * shared.beside * per_block
    narrowed = trips * shared.operand_clocks if work.operations["operand"] else 0
    alone = sum(work.walks[loops] for loops in prof.reductions if loops) * shared.reduction_clocks + narrowed
    columns = [
        w.loops
        for w in prof.works
        if w.kind == "load" and not w.for_dot and [c for c in w.coords if lanes[c] > 1] == [c for c, *_ in w.loops[-1:]]
    ]
    alone += sum(work.walks[loops] for loops in columns if loops) * shared.column_clocks
    return multiplying, operations * shared.beside * per_block, alone / clock + ending, copying


def _shared_bytes(prof: Profile, use: Footprint, lanes: Mapping[str, int], stages: int) -> int:
    wide = {c for c in lanes if lanes[c] > 1}
    read = {
        (w.buffer, w.coords, bool(w.loops)): w.factor
        for w in prof.works
        if w.kind == "load" and (w.for_dot or (w.loops and len(wide & {*w.coords}) > 1))
    }
    total = SMEM_SLACK + sum(size * math.prod(lanes[c] for c in coords) for coords, size in use.stored if size == 2)
    return total + sum(
        int(factor * math.prod(lanes[c] for c in coords)) * (stages if loop else 1)
        for (_, coords, loop), factor in read.items()
    )
