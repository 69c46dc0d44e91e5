"""How the blocks of a kernel whose groups of warps take one block after another come to programs: in which order, dealt
out or drawn.

Blocks whose loops run longer stand first. Dealt out, each program has every n-th number, forth and back; drawn, each
takes the next number as it comes free. Which of these ends first is tried out on the lengths that the kernel's loops
say.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from napkin_eq.machine.cost import KernelCost, Visits, extent
from napkin_eq.machine.gpu import Hardware
from napkin_eq.tile import ir as p
from napkin_eq.tile.passes.warp_specialize import falling
from napkin_eq.tile.resources import buffer_bytes

MOST_DEALT = 16384  # blocks beyond which their lengths even out


@dataclass(frozen=True, slots=True)
class Dealt:
    """How blocks of unequal length come to programs: how many of the other grid coordinates are walked abreast, how
    many programs take part, 0 for all, how much more than the mean a program gets, and whether each draws its next
    block as it comes free."""

    abreast: int
    programs: int
    uneven: float
    drawn: bool = False


@dataclass(frozen=True, slots=True)
class _Blocks:
    """The blocks of a grid: the trips of each along the coordinate on which they depend, most first; how many others
    there are; a block's fixed time in trips, the seconds of a trip, and the work of a processor if all had the same."""

    lengths: tuple[float, ...]
    others: int
    fixed: float
    trip_s: float
    ideal: float

    @property
    def count(self) -> int:
        return len(self.lengths) * self.others

    @property
    def least_uneven(self) -> float:
        """How much more than the mean a program gets at the least: the longest block is one program's."""
        return max(self.lengths[0] + self.fixed, self.ideal) / self.ideal


def dealt(kernel: p.Kernel, cost: KernelCost, hardware: Hardware) -> Dealt:
    """Return how the blocks of a kernel with its tiles chosen come to programs best."""
    found = _blocks(
        kernel,
        {c.name: c.tile for c in kernel.coords},
        cost.predicted_us * 1e-6 * hardware.chip.sms / cost.blocks,
        hardware,
    )
    return Dealt(1, 0, found) if isinstance(found, float) else _best(kernel, found, hardware)


def least_uneven(kernel: p.Kernel, lanes: Mapping[str, int], block_s: float, hardware: Hardware) -> float:
    """Return how much more than the mean a program gets at the least, for tiles and the mean seconds of a block."""
    found = _blocks(kernel, lanes, block_s, hardware)
    return found if isinstance(found, float) else found.least_uneven


def _blocks(kernel: p.Kernel, lanes: Mapping[str, int], block_s: float, hardware: Hardware) -> _Blocks | float:
    """Return the blocks of a kernel, or, where all are as long, how much more than the mean a program gets: what is
    uneven is only the last round.
    """
    counts = {g: math.ceil(extent(kernel.coord(g).axis) / lanes[g]) for g in kernel.grid}
    blocks, sms = math.prod(counts.values()), hardware.chip.sms
    uneven = [g for g in kernel.grid if g in falling(kernel)]
    if not uneven:
        return math.ceil(blocks / sms) * sms / blocks
    number = counts[uneven[0]]
    lengths = _lengths(kernel, number)
    mean = sum(lengths) / number
    if not mean:
        return math.ceil(blocks / sms) * sms / blocks
    trip_s = max(block_s, 1e-12) / mean
    fixed = round(hardware.groups.block_s / trip_s, 2)
    return _Blocks(lengths, blocks // number, fixed, trip_s, (mean + fixed) * blocks / sms)


def _best(kernel: p.Kernel, blocks: _Blocks, hardware: Hardware) -> Dealt:
    model, shared = hardware.model, hardware.groups
    if blocks.count <= hardware.chip.sms:
        return Dealt(1, 0, blocks.least_uneven)
    if _by_data(kernel):
        # Which blocks are long is not known before they are read: each is drawn, and the last ends about a block late.
        return Dealt(
            1,
            0,
            1
            + (sum(blocks.lengths) / len(blocks.lengths) + blocks.fixed + shared.drawn_s / blocks.trip_s)
            / blocks.ideal,
            drawn=True,
        )
    if blocks.count > MOST_DEALT:
        return Dealt(1, 0, blocks.least_uneven)
    sms, number, others = hardware.chip.sms, len(blocks.lengths), blocks.others
    options = sorted(
        n
        for n in {others, *(1 << i for i in range(others.bit_length())), *(3 << i for i in range(others.bit_length()))}
        if n <= others
    )
    # A round of whole rows of blocks is taken back by the next one exactly; all programs at once are busier.
    rounds = [sms, *([sms // number * number] if number <= sms else [])]
    draw, clear = shared.draw_s / blocks.trip_s, shared.drawn_s / blocks.trip_s
    busy = sum(blocks.lengths) / number / blocks.lengths[0] * blocks.count / sms
    found = []
    for d in options:
        order = _order(blocks, d)
        read = _read_s(kernel, d / others, busy, hardware) / blocks.trip_s
        ways = [(_longest(order, n), n, False) for n in rounds] + [
            (_drawn(_order(blocks, d, draw), sms) + clear, sms, True)
        ]
        told = [
            (most**model.round + read**model.round) ** (1 / model.round) * (1 + shared.apart * math.log2(d))
            for most, _, _ in ways
        ]
        found += [(time, sms - n, d, most, drawn) for time, (most, n, drawn) in zip(told, ways, strict=True)]
    _, idle, abreast, most, drawn = min(found)
    return Dealt(abreast, sms - idle if idle else 0, most / blocks.ideal, drawn)


def _by_data(kernel: p.Kernel) -> bool:
    """Tell whether a loop ends, or begins, where data say."""
    bounds = [name for s in p.statements(kernel.body) if isinstance(s, p.Loop) for name in p.used(s)]
    return any(isinstance(stmt, p.Load) for stmt in p.closure(p.definitions(kernel.body), bounds).values())


def _lengths(kernel: p.Kernel, number: int) -> tuple[float, ...]:
    """Return the trips of a kernel's loops in each of so many blocks, longest first."""
    visits = Visits(kernel)
    loops = [s for s in kernel.body if isinstance(s, p.Loop)]
    return tuple(
        sorted(
            (sum(sum(visits.blocks(loop, (i + 0.5) / number)) for loop in loops) for i in range(number)), reverse=True
        )
    )


def _read_s(kernel: p.Kernel, share: float, rounds: float, hardware: Hardware) -> float:
    """Return the seconds in which memory is read for a kernel's loops: once, or, uncached, in each round the share of
    it that is read side by side.
    """
    shared = hardware.groups
    loops = [s for s in kernel.body if isinstance(s, p.Loop)]
    names = {s.buffer for loop in loops for s in p.statements((loop,)) if isinstance(s, p.Load)}
    read = sum(buffer_bytes(b) for b in kernel.reads if b.name in names)
    again = 1.0 if read * share <= shared.cache_share * hardware.l2.capacity_bytes else max(1.0, share * rounds)
    return read * again / (hardware.hbm.copy_bandwidth * hardware.model.read_rate)


def _order(blocks: _Blocks, abreast: int, more: float = 0.0) -> list[float]:
    """Return the times of blocks in the order of their numbers, in trips."""
    times = [length + blocks.fixed + more for length in blocks.lengths]
    widths = (min(abreast, blocks.others - first) for first in range(0, blocks.others, abreast))
    return [time for width in widths for time in times for _ in range(width)]


def _longest(order: Sequence[float], programs: int) -> float:
    """Return the most work that a program gets where blocks are dealt out in order and back."""
    turns = [list(order[at : at + programs]) for at in range(0, len(order), programs)]
    turns[-1] += [0.0] * (programs - len(turns[-1]))
    return max(map(sum, zip(*(turn[:: -1 if number % 2 else 1] for number, turn in enumerate(turns)), strict=True)))


def _drawn(order: Sequence[float], programs: int) -> float:
    """Return when the last program is done where each takes the next block as it comes free."""
    until = [0.0] * programs
    for length in order:
        heapq.heapreplace(until, until[0] + length)
    return max(until)
