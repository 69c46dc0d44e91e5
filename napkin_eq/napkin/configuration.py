"""A kernel configured for a processor, as the paper's section 5 does it: what fits, what each unit takes, what binds.

One thread has one row of a warpgroup's 128 and so each warpgroup its rows; blocks of the stream come through shared
memory in two buffers and are shared by all warpgroups. Assumed, as there: the matrix unit loses nothing on small
tiles, latency is hidden, units run beside each other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from napkin_eq.machine.gpu import Hardware
from napkin_eq.napkin.variables import REGISTERS, SMEM, VALUE_BYTES, Contraction, Inner, inner, lanes
from napkin_eq.tile import ir as p

WARPGROUP, STAGES = 128, 2
STREAM, PIECES = (
    64,
    (32, 8),
)  # of the stream at a time, and of a contraction's result that is added up at a time, as the paper chooses them
PACKED = {
    1: 4,
    2: 4,
    4: 2,
}  # operations beside the matrix unit, by the bytes of a value, for each fused multiply-add of 32 bits: two are packed


@dataclass(frozen=True)
class Row:
    """A unit's work: operations of one row and block of the stream, how many it does a clock and processor, and the
    clocks that takes.
    """

    name: str
    unit: str
    operations: float
    per_clock: float

    @property
    def clocks(self) -> float:
        return self.operations / self.per_clock


@dataclass(frozen=True)
class Divisor:
    """What a tile must be a multiple of, and why: the least common multiple of several reasons."""

    axis: str
    reasons: tuple[tuple[int, str], ...]

    @property
    def value(self) -> int:
        return math.lcm(*(number for number, _ in self.reasons))


@dataclass(frozen=True)
class Configuration:
    """A kernel's configuration: sizes in bytes, times in seconds, rates in FLOP a second.

    slots: warpgroups that shared memory and registers hold, before rounding down. streamed: bytes that a block of
    the stream brings.
    """

    inner: Inner
    tiles: Mapping[str, int]
    pieces: tuple[int, ...]
    smem_block: int
    smem_group: int
    registers_thread: float
    slots: tuple[float, float]
    rows: tuple[Row, ...]
    flops: float
    streamed: int
    hardware: Hardware
    divisors: tuple[Divisor, ...]

    @property
    def warpgroups(self) -> int:
        """How many warpgroups fit a processor."""
        return max(0, math.floor(min(self.slots)))

    @property
    def group(self) -> int:
        """Rows of all the warpgroups that fit: the group size."""
        return self.warpgroups * self.tiles[self.inner.rows]

    def clocks(self, unit: str) -> float:
        """Return the clocks that a unit takes of one row and block."""
        return sum(row.clocks for row in self.rows if row.unit == unit)

    @property
    def binding(self) -> str:
        """The unit that takes longest."""
        return max(("tensor", "special", "arithmetic"), key=self.clocks)

    @property
    def ideal(self) -> float:
        """The rate of contractions at which the slowest unit works all the time."""
        chip = self.hardware.chip
        return self.flops / max(self.clocks(u) for u in ("tensor", "special", "arithmetic")) * chip.sms * chip.clock_hz

    @property
    def slack(self) -> float:
        """How often the matrix unit's time holds the special functions'."""
        return self.clocks("tensor") / self.clocks("special") if self.clocks("special") else math.inf

    @property
    def memory_seconds(self) -> float:
        """The time in which the top level brings one block of the stream to every processor, no cache between."""
        return self.streamed * self.hardware.chip.sms / self.hardware.hbm.bandwidth

    @property
    def compute_seconds(self) -> float:
        """The time in which the matrix unit works on one block with all rows of a group."""
        return self.clocks("tensor") * self.group / self.hardware.chip.clock_hz

    @property
    def least_group(self) -> float:
        """Rows from which on the matrix unit takes longer than the memory."""
        return (
            self.memory_seconds * self.hardware.chip.clock_hz / self.clocks("tensor")
            if self.clocks("tensor")
            else math.inf
        )

    def overlap(self, overhead: float = 1.0, *, within: bool) -> float:
        """Return the share of the matrix unit's rate where the work between contractions takes `overhead` times its
        special functions.

        within: a warpgroup overlaps it with one of its contractions; else other warpgroups overlap it with all of
        theirs.
        """
        parts = [row.clocks for row in self.rows if row.unit == "tensor"]
        beside = overhead * self.clocks("special")
        taken = parts[0] + max(sum(parts[1:]), beside) if within and len(parts) > 1 else max(sum(parts), beside)
        return sum(parts) / taken


def configured(
    kernel: p.Kernel,
    hardware: Hardware,
    sizes: Mapping[str, int],
    types: Mapping[str, str] | None = None,
    work: str = "float16",
    tiles: Mapping[str, int] | None = None,
    pieces: Sequence[int] = PIECES,
) -> Configuration | None:
    """Return the configuration of a kernel; None where it has no loop with contractions whose rows a group cuts.

    sizes: of axes. types: of arrays, where they are not what the plan stores. work: the type of what is computed.
    tiles: by axis, else one row a thread of a warpgroup and STREAM of the stream.
    """
    found = inner(replace(kernel, stages=STAGES), types or {}, work)
    if found is None:
        return None
    chosen = _tiles(kernel, found, sizes, tiles or {})
    each = {v.name: lanes(v.coords, chosen) * VALUE_BYTES[v.dtype] for v in found.variables}
    smem_block = sum(each[v.name] * v.buffers for v in found.variables if SMEM in v.levels and not v.own)
    smem_group = sum(each[v.name] * v.buffers for v in found.variables if SMEM in v.levels and v.own)
    threads = WARPGROUP
    registers = sum(each[v.name] for v in found.variables if REGISTERS in v.levels) / threads
    rescaled = [c for c in found.contractions if c.rescaled]
    shown = tuple(min(piece, *(_columns(c, found, chosen) for c in rescaled)) for piece in pieces) if rescaled else ()
    registers += sum(shown) * VALUE_BYTES[work] * chosen[found.rows] / threads
    smem, file = hardware.smem.block_bytes, hardware.limits.registers_per_sm * 4
    slots = (
        (smem - smem_block) / smem_group if smem_group else math.inf,
        file / (registers * threads) if registers else math.inf,
    )
    streamed = sum(each[v.name] for v in found.variables if SMEM in v.levels and v.buffers > 1 and not v.own)
    return Configuration(
        found, chosen, shown, smem_block, smem_group, registers, slots, _rows(found, chosen, hardware, work),
        sum(2.0 * lanes(c.coords, chosen) for c in found.contractions) / chosen[found.rows], streamed, hardware,
        _divisors(found, chosen, hardware),
    )  # fmt: skip


def _tiles(kernel: p.Kernel, found: Inner, sizes: Mapping[str, int], given: Mapping[str, int]) -> dict[str, int]:
    """Choose the tiles of the loop's coordinates: rows, stream, those that a tile holds whole; other coordinates as
    the plan has them.
    """
    chosen = {}
    for coord in kernel.coords:
        size = sizes[coord.axis.name]
        usual = (
            size
            if coord.role == "whole"
            else WARPGROUP
            if coord.name == found.rows
            else STREAM
            if coord.name == found.stream
            else min(coord.tile, size)
        )
        chosen[coord.name] = given.get(coord.axis.name, usual)
    return chosen


def _columns(contraction: Contraction, found: Inner, tiles: Mapping[str, int]) -> int:
    return lanes([c for c in contraction.result if c != found.rows], tiles)


def _rows(found: Inner, tiles: Mapping[str, int], hardware: Hardware, work: str) -> tuple[Row, ...]:
    row = tiles[found.rows]
    clock = hardware.chip.sms * hardware.chip.clock_hz
    made = [
        Row(c.name, "tensor", 2 * c.products * lanes(c.coords, tiles) / row, hardware.flops(c.dtype) / clock)
        for c in found.contractions
    ]
    special = sum(
        count * lanes(coords, tiles) / (row if found.rows in coords else 1) for coords, count in found.special
    )
    if special:
        made.append(Row("special functions", "special", special, hardware.units.sfu))
    rescaled = sum(2 * _columns(c, found, tiles) for c in found.contractions if c.rescaled)
    if rescaled:
        made.append(Row("rescale, accumulate", "arithmetic", rescaled, PACKED[VALUE_BYTES[work]] * hardware.units.fma))
    return tuple(made)


def depth(hardware: Hardware, dtype: str) -> int:
    """Return how many products an instruction of the matrix unit adds up, by the type of its operands."""
    return hardware.divisors.mma_k * 2 // VALUE_BYTES.get(dtype, 4)


def _divisors(found: Inner, tiles: Mapping[str, int], hardware: Hardware) -> tuple[Divisor, ...]:
    """Return what tiles must be multiples of: rows a thread, the matrix instruction's shape, and whole memory
    transactions.
    """
    reasons: dict[str, dict[tuple[int, str], None]] = {
        found.rows: {(WARPGROUP, "a row for each thread of a warpgroup"): None}
    }
    for contraction in found.contractions:
        for coord in contraction.coords:
            if tiles[coord] == 1:
                continue  # one at a time: no tile
            why = reasons.setdefault(coord, {})
            if coord == found.rows:
                why[hardware.divisors.mma_m, "rows of a matrix instruction"] = None
            elif coord in contraction.result:
                why[hardware.divisors.mma_n, "columns of a matrix instruction"] = None
            else:
                why[depth(hardware, contraction.dtype), f"depth of a matrix instruction at {contraction.dtype}"] = None
    for variable in found.variables:
        if variable.levels == (SMEM,) and variable.coords:
            count = hardware.divisors.coalesced_bytes // VALUE_BYTES[variable.dtype]
            reasons.setdefault(variable.coords[-1], {})[
                count, f"{hardware.divisors.coalesced_bytes} bytes of {variable.name} at once"
            ] = None
    return tuple(Divisor(coord, tuple(why)) for coord, why in reasons.items())


def harmonic(rates: Sequence[float]) -> float:
    """Return the rate of equal work at each of several rates in turn."""
    return float(len(rates) / sum(Fraction(1) / Fraction(r) for r in rates))
