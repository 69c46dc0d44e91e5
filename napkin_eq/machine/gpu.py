"""Hardware: what a GPU holds and charges, as data; one TOML file per GPU in napkin_eq/machine/gpus/, or a user's own.

Counts are integers, sizes are bytes, rates are per second or, where the name says so, per clock and SM. What is an
assumption and no property of the chip stands in `assumptions`, with its source in the file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from napkin_eq.lang.errors import NapkinError, read_text

FOLDER = Path(__file__).resolve().parent / "gpus"
S = TypeVar("S")
MOST_BYTES, LONGEST = 2**18, 1000  # of a hardware file, and characters of a line of it
LEAST, MOST = 1e-12, 1e18  # of a number of it: powers of times are taken, which no number below makes infinite


@dataclass(frozen=True, slots=True)
class Chip:
    """The processors: how many, how fast, and what one launch of a kernel costs."""

    sms: int
    clock_hz: float
    warp: int
    launch_s: float


@dataclass(frozen=True, slots=True)
class Memory:
    """A level shared by the whole chip; `bandwidth` is the peak in bytes per second, `copy_bandwidth` what a plain copy
    reaches.
    """

    capacity_bytes: int
    bandwidth: float
    copy_bandwidth: float


@dataclass(frozen=True, slots=True)
class Shared:
    """The scratch memory of one SM, and the most that one block may take of it."""

    sm_bytes: int
    block_bytes: int
    bytes_per_clock: int


@dataclass(frozen=True, slots=True)
class Limits:
    """What one thread, block or SM may hold; registers are of 32 bits."""

    registers_per_sm: int
    registers_per_thread: int
    threads_per_block: int
    threads_per_sm: int
    blocks_per_sm: int


@dataclass(frozen=True, slots=True)
class Units:
    """Operations per clock and SM outside the matrix unit: special functions, fused multiply-adds, integer operations,
    lanes of loads.
    """

    sfu: int
    fma: int
    integer: int
    lsu: int = 32


@dataclass(frozen=True, slots=True)
class Divisors:
    """What tile sizes must be multiples of: the matrix instruction (rows, columns, contraction at 16 bits) and memory
    transactions.
    """

    mma_m: int
    mma_n: int
    mma_k: int
    dot_min: int
    coalesced_bytes: int


@dataclass(frozen=True, slots=True)
class Assumptions:
    """Numbers that are judgments, not properties: fractions of a peak that good kernels reach."""

    tensor_efficiency: float
    unit_efficiency: float
    overlap: float


@dataclass(frozen=True, slots=True)
class Model:
    """What the cost model takes of a kernel all of whose warps do all of its work; see docs/cost.md."""

    read_rate: float  # of the copy bandwidth, what reading alone reaches
    write_rate: float  # of the copy bandwidth, what writing alone reaches
    latency_hbm_s: float  # from a load to its data in memory, under load
    latency_l2_s: float  # from a load to its data in level 2, under load
    latency_near_s: float  # from a load to its data in the SM's own cache
    unloaded: float  # of a latency, what is left of it while most processors ask for nothing
    # Of a thread in a kernel without contraction: with more of them its loads wait for one another,
    asked_registers: int
    turn_registers: int  # for so many more once more
    # Of a latency, what a trip of a loop waits where no reduction and no store keeps the next trip's loads behind it
    ahead: float
    sm_bytes: float  # bytes a clock that an SM takes from level 2
    line_bytes: float  # bytes that a request takes at the least, however few of them are asked for
    pieces: float  # times that bytes take from memory in rows of less than a line, far apart
    skewed: float  # times that bytes take in rows that begin within a sector, and by the part of it that is not theirs
    drifting: float  # times as long as these that they take where fewer than two rows are read at once
    pages: float  # times that bytes take in rows of a tile that lie in other pages of memory each
    taken: float  # of the time of a kernel without contraction, what threads that take twice as many elements add
    cache_span: float  # of level 2: what may be read between two readings of a part so that the second finds it there
    # Of level 2: what blocks at work may hold together so that none of it is lost before they read it again
    cache_kept: float
    cache_lost: float  # of level 2: what they hold together so that all of it is lost
    near_cache: float  # of the shared memory of an SM, its own cache where little of it is shared memory
    shared_bytes: float  # bytes a clock that the matrix unit's operands come from shared memory at
    narrow_matrix: float  # of the matrix unit's peak, what its instructions for fewer than 64 rows reach
    least_columns: float  # columns of a wide instruction, with fewer of which it is no faster
    trip_clocks: float  # barriers and addresses of one trip of a loop that holds a contraction
    reduced_clocks: float  # of one reduction between contractions: its last steps between threads
    block_s: float  # a block begins, stores its result and ends
    full_warps: float  # warps of a block that keep the units beside the matrix unit busy between contractions
    hiding: float  # of the lesser of a block's matrix and other work, what another block on the SM hides
    most_warps: float  # warps of an SM whose lanes hide what each waits for
    warps_power: float  # fewer work slower as this power of their share
    plain_efficiency: float  # of the units' peak, what is reached without a contraction
    lone_busy: float  # of that work, what one block alone cannot do while it reads
    lone_warps: float  # warps that a lone block needs for the units' rate
    # Times the work where more warps than 64-row blocks of the result split columns and exchange partial reductions
    crowded: float
    operand: float  # operations for each that an operand that is computed counts
    beside_limit: float  # of level 2's time, what shows where it is not the limit
    round: float  # the power by which memory and units add up, since a kernel is short of one and then of the other
    kernel_s: float  # the first block begins and the last one ends beside nothing
    # From the first block's begin to where all of a kernel's processors and memory are at work: a shorter one has its
    # share of kernel_s
    ramp_s: float
    handed_s: float  # of the grid's blocks, the time from one to the next that is handed to a processor
    register_share: float  # of the registers that a thread may have, the most that a kernel is given
    crowded_share: float  # the same where an SM has fewer for each thread
    # A launch behind another one: on Hopper and later it is made before the other has ended, elsewhere queued while
    # that runs
    following_s: float


@dataclass(frozen=True, slots=True)
class Groups:
    """What the cost model takes of a kernel whose work groups of warps share; see docs/cost.md."""

    matrix: float  # of its peak, what the matrix unit reaches while it has work
    trip_clocks: float  # one trip of a loop that holds a contraction: waiting for its loads and giving them back
    beside: float  # operations issued beside the matrix unit over operations counted: some become one instruction
    # Of a trip that computes an operand of tiles: it is narrowed only when the contraction before has read the last one
    operand_clocks: float
    column_clocks: float  # a trip for which lanes load columns for themselves, of memory that no warp copies
    # A reduction of a tile: its last steps between threads, while nothing else of the group runs
    reduction_clocks: float
    showing: float  # of the faster of the matrix unit and the work beside it, what the slower does not hide
    turns_2_low: float  # other work over contractions from which two groups do better in turn
    turns_2_high: float  # and up to which
    turns_3_low: float  # the same of three groups
    turns_3_high: float  # the same of three groups
    in_turn: float  # of the time without order, what issuing in turn takes
    line_bytes: float  # bytes of a row that the copy engine moves in the time of any narrower one
    bytes_per_clock: float  # bytes a clock that the copy engine brings an SM
    block_s: float  # a block of the grid: its first loads, first and last trip, and its store run beside nothing
    drawn_s: float  # a counter is set to zero before the kernel
    draw_s: float  # a block's number is drawn and handed on
    apart: float  # each doubling of the blocks that read something else at the same time
    cache_share: float  # of level 2, what blocks that are walked side by side may fill


@dataclass(frozen=True, slots=True)
class Ranking:
    """What forms of one value are ranked by, beside the rates, before they are lowered; see term_cost.py."""

    matrix: float  # of the matrix unit's peak, what a contraction reaches whose tiles are not known
    masked: float  # of a fold's lanes, those that a mask leaves
    pass_s: float  # a pass over an axis, beside its work


@dataclass(frozen=True, slots=True)
class Hardware:
    """A GPU. `tensor` maps a dtype to dense FLOP per clock and SM on the matrix unit; a dtype it lacks runs on fused
    multiply-adds.
    """

    name: str
    title: str
    arch: str
    chip: Chip
    hbm: Memory
    l2: Memory
    smem: Shared
    limits: Limits
    units: Units
    divisors: Divisors
    assumptions: Assumptions
    model: Model
    groups: Groups
    ranking: Ranking
    tensor: Mapping[str, int] = field(hash=False)
    # Of the numbers of model, groups and ranking, by section.name
    sources: Mapping[str, str] = field(default_factory=dict, hash=False, compare=False)

    def flops(self, dtype: str) -> float:
        """Return the peak FLOP per second of a contraction with operands of this dtype."""
        per_clock = self.tensor.get(dtype, 2 * self.units.fma)
        return per_clock * self.chip.sms * self.chip.clock_hz

    def rate(self, unit: str) -> float:
        """Return the peak operations per second of a unit: sfu, fma, integer or lsu."""
        if unit not in Units.__slots__:
            raise NapkinError(f"unknown unit {unit!r:.60}; one of {', '.join(Units.__slots__)}")
        per_clock: int = getattr(self.units, unit)
        return per_clock * self.chip.sms * self.chip.clock_hz

    def resident_blocks(self, *, smem_bytes: int, threads: int, registers_per_thread: int) -> int:
        """Return how many such blocks one SM holds at once; 0 when one does not fit."""
        if smem_bytes > self.smem.block_bytes or threads > self.limits.threads_per_block:
            return 0
        if registers_per_thread > self.limits.registers_per_thread:
            return 0
        # The driver keeps 1 KiB of shared memory for each resident block: it is why a block may take 1 KiB less than an
        # SM has.
        overhead = self.smem.sm_bytes - self.smem.block_bytes
        return min(
            self.limits.blocks_per_sm,
            self.limits.threads_per_sm // threads,
            self.smem.sm_bytes // (smem_bytes + overhead),
            self.limits.registers_per_sm // (registers_per_thread * threads),
        )


SECTIONS: dict[str, type] = {
    "chip": Chip, "hbm": Memory, "l2": Memory, "smem": Shared, "limits": Limits, "units": Units, "divisors": Divisors,
    "assumptions": Assumptions,
}  # fmt: skip
FITTED: dict[str, type] = {"model": Model, "groups": Groups, "ranking": Ranking}
CAME_FROM = ("measured", "fitted", "assumed")
TENSOR_DTYPES = ("float16", "bfloat16", "float8", "tf32")


def known() -> list[str]:
    """Return the names of the GPUs that ship with napkin_eq."""
    return sorted(file.stem for file in FOLDER.glob("*.toml"))


def load(name: str) -> Hardware:
    """Return a GPU by its name, or from a user's own file where the name ends in .toml."""
    return read(place(name))


def place(name: str) -> Path:
    """Return the file of a GPU by its name, or a user's own where the name ends in .toml."""
    if name.endswith(".toml"):
        return Path(name)
    if name not in known():
        raise NapkinError(
            f"unknown hardware {name!r:.60}; one of {', '.join(known())}, or a path to a .toml file of your own"
        )
    return FOLDER / f"{name}.toml"


def read(file: Path) -> Hardware:
    """Read a hardware file; raise NapkinError that names the file and the entry that is wrong."""
    return _of(read_text(file, "hardware", MOST_BYTES), file)


@lru_cache(maxsize=16)  # a program asks for its GPU a thousand times
def _of(text: str, file: Path) -> Hardware:
    # A key of many parts takes the square of these to be read
    if (longest := max(map(len, text.splitlines()), default=0)) > LONGEST:
        raise NapkinError(f"hardware {file}: a line has {longest} characters; at most {LONGEST} are read")
    try:
        data = tomllib.loads(text)
    except RecursionError:
        raise NapkinError(f"hardware {file}: not a hardware file: it nests too deep") from None
    except ValueError as error:  # not TOML, or a number of thousands of digits
        raise NapkinError(f"hardware {file}: not a TOML file: {error!s:.200}") from None
    where = f"hardware {file}"
    words = {key: data.pop(key, None) for key in ("name", "title", "arch")}
    for key, value in words.items():
        if not isinstance(value, str) or not value.isprintable() or not value:
            raise NapkinError(f"{where}: {key} is {value!r:.60}, expected a text on one line")
    _same_keys(where, data, {*SECTIONS, *FITTED, "tensor"})
    sources: dict[str, str] = {}
    for key in FITTED:
        data[key] = _sourced(f"{where}: [{key}]", key, data[key], sources)
    sections: dict[str, Any] = {
        key: _section(f"{where}: [{key}]", cls, data[key]) for key, cls in {**SECTIONS, **FITTED}.items()
    }
    found = Hardware(**words, **sections, tensor=_tensor(f"{where}: [tensor]", data["tensor"]), sources=sources)
    _consistent(where, found)
    return found


def _same_keys(where: str, found: Any, wanted: set[str], open_: frozenset[str] = frozenset()) -> None:
    if not isinstance(found, dict):
        raise NapkinError(f"{where}: expected a table with {', '.join(sorted(wanted))}")
    if missing := sorted(wanted - open_ - found.keys()):
        raise NapkinError(f"{where}: {missing[0]} is missing")
    if extra := sorted(found.keys() - wanted):
        raise NapkinError(f"{where}: unknown entry {extra[0]!r:.60}; expected {', '.join(sorted(wanted))}")


def _section(where: str, cls: type[S], found: Any) -> S:
    entries = fields(cls)  # type: ignore[arg-type]  # each is a dataclass, which a type variable cannot say
    types = {entry.name: entry.type for entry in entries}
    _same_keys(where, found, set(types), frozenset(entry.name for entry in entries if entry.default is not MISSING))
    for name, value in found.items():
        whole = types[name] == "int"
        small = (
            f" from {LEAST:g} to {MOST:g}" if isinstance(value, float) and (0 < value < LEAST or value >= MOST) else ""
        )
        if (
            isinstance(value, bool)
            or not isinstance(value, int if whole else (int, float))
            or not LEAST <= value < MOST
        ):
            raise NapkinError(
                f"{where}: {name} is {value!r:.60}, expected a positive {'integer' if whole else 'number'}{small}"
            )
    return cls(**found)


def _sourced(where: str, section: str, found: Any, sources: dict[str, str]) -> Any:
    """Return the numbers of a section whose entries are pairs of a number and where it came from, and note
    the latter.
    """
    if not isinstance(found, dict):
        return found
    for name, pair in found.items():
        said = pair[1] if isinstance(pair, list) and len(pair) == 2 else None
        if not isinstance(said, str) or not said.isprintable() or said.partition(":")[0] not in CAME_FROM:
            kinds = ", ".join(CAME_FROM[:-1])
            raise NapkinError(
                f"{where}: {name} is {pair!r:.60}, expected [number, where it came from], the latter {kinds} or"
                f" {CAME_FROM[-1]}, a colon and how"
            )
        sources[f"{section}.{name}"] = said
    return {name: pair[0] for name, pair in found.items()}


def _tensor(where: str, found: Any) -> dict[str, int]:
    if not isinstance(found, dict) or not set(found) <= set(TENSOR_DTYPES):
        raise NapkinError(f"{where}: expected FLOP per clock and SM for some of {', '.join(TENSOR_DTYPES)}")
    for dtype, value in found.items():
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < MOST:
            raise NapkinError(f"{where}: {dtype} is {value!r:.60}, expected a positive integer")
    return dict(sorted(found.items()))


def _consistent(where: str, hardware: Hardware) -> None:
    if hardware.smem.block_bytes > hardware.smem.sm_bytes:
        raise NapkinError(
            f"{where}: a block may take {hardware.smem.block_bytes} bytes of shared memory, an SM has"
            f" {hardware.smem.sm_bytes}"
        )
    for name in Assumptions.__slots__:
        value: float = getattr(hardware.assumptions, name)
        if value > 1:
            raise NapkinError(f"{where}: [assumptions] {name} is {value}, expected a fraction of at most 1")
    for level in (hardware.hbm, hardware.l2):
        if level.copy_bandwidth > level.bandwidth:
            raise NapkinError(
                f"{where}: a copy reaches {level.copy_bandwidth:g} bytes/s, more than the peak {level.bandwidth:g}"
            )
