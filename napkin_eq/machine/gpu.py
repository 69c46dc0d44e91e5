"""Hardware: what a GPU holds and charges, as data; one TOML file per GPU in napkin_eq/machine/gpus/, or a user's own.

Counts are integers, sizes are bytes, rates are per second or, where the name says so, per clock and SM. What is an
assumption and no property of the chip stands in `assumptions`, with its source in the file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from napkin_eq.lang.errors import NapkinError

FOLDER = Path(__file__).resolve().parent / "gpus"
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Chip:
    """The processors: how many, how fast, and what one launch of a kernel costs."""

    sms: int
    clock_hz: float
    warp: int
    launch_s: float


@dataclass(frozen=True, slots=True)
class Memory:
    """A level shared by the whole chip; `bandwidth` is the peak in bytes per second, `copy_bandwidth` what a plain copy reaches."""

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
    """Operations per clock and SM outside the matrix unit: special functions, fused multiply-adds, integer operations."""

    sfu: int
    fma: int
    integer: int


@dataclass(frozen=True, slots=True)
class Divisors:
    """What tile sizes must be multiples of: the matrix instruction (rows, columns, contraction at 16 bits) and memory transactions."""

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
class Hardware:
    """A GPU. `tensor` maps a dtype to dense FLOP per clock and SM on the matrix unit; a dtype it lacks runs on fused multiply-adds."""

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
    tensor: Mapping[str, int] = field(hash=False)

    def flops(self, dtype: str) -> float:
        """Return the peak FLOP per second of a contraction with operands of this dtype."""
        per_clock = self.tensor.get(dtype, 2 * self.units.fma)
        return per_clock * self.chip.sms * self.chip.clock_hz

    def rate(self, unit: str) -> float:
        """Return the peak operations per second of a unit: sfu, fma or integer."""
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
        # The driver keeps 1 KiB of shared memory for each resident block: it is why a block may take 1 KiB less than an SM has.
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
        raise NapkinError(f"unknown hardware {name!r:.60}; one of {', '.join(known())}, or a path to a .toml file of your own")
    return FOLDER / f"{name}.toml"


def read(file: Path) -> Hardware:
    """Read a hardware file; raise NapkinError that names the file and the entry that is wrong."""
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise NapkinError(f"hardware {file}: cannot be read: {error.strerror or error}") from None
    except RecursionError:
        raise NapkinError(f"hardware {file}: not a hardware file: it nests too deep") from None
    except ValueError as error:  # not TOML, not UTF-8, or a number of thousands of digits
        raise NapkinError(f"hardware {file}: not a TOML file: {error!s:.200}") from None
    where = f"hardware {file}"
    words = {key: data.pop(key, None) for key in ("name", "title", "arch")}
    for key, value in words.items():
        if not isinstance(value, str) or not value.isprintable() or not value:
            raise NapkinError(f"{where}: {key} is {value!r:.60}, expected a text on one line")
    _same_keys(where, data, {*SECTIONS, "tensor"})
    sections: dict[str, Any] = {key: _section(f"{where}: [{key}]", cls, data[key]) for key, cls in SECTIONS.items()}
    found = Hardware(**words, **sections, tensor=_tensor(f"{where}: [tensor]", data["tensor"]))
    _consistent(where, found)
    return found


def _same_keys(where: str, found: Any, wanted: set[str]) -> None:
    if not isinstance(found, dict):
        raise NapkinError(f"{where}: expected a table with {', '.join(sorted(wanted))}")
    if missing := sorted(wanted - found.keys()):
        raise NapkinError(f"{where}: {missing[0]} is missing")
    if extra := sorted(found.keys() - wanted):
        raise NapkinError(f"{where}: unknown entry {extra[0]!r:.60}; expected {', '.join(sorted(wanted))}")


def _section(where: str, cls: type[S], found: Any) -> S:
    types = {entry.name: entry.type for entry in fields(cls)}  # type: ignore[arg-type]
    _same_keys(where, found, set(types))
    for name, value in found.items():
        whole = types[name] == "int"
        if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) or not 0 < value < 1e18:
            raise NapkinError(f"{where}: {name} is {value!r:.60}, expected a positive {'integer' if whole else 'number'}")
    return cls(**found)


def _tensor(where: str, found: Any) -> dict[str, int]:
    if not isinstance(found, dict) or not set(found) <= set(TENSOR_DTYPES):
        raise NapkinError(f"{where}: expected FLOP per clock and SM for some of {', '.join(TENSOR_DTYPES)}")
    for dtype, value in found.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise NapkinError(f"{where}: {dtype} is {value!r:.60}, expected a positive integer")
    return dict(sorted(found.items()))


def _consistent(where: str, hardware: Hardware) -> None:
    if hardware.smem.block_bytes > hardware.smem.sm_bytes:
        raise NapkinError(f"{where}: a block may take {hardware.smem.block_bytes} bytes of shared memory, an SM has {hardware.smem.sm_bytes}")
    for name in Assumptions.__slots__:
        value: float = getattr(hardware.assumptions, name)
        if value > 1:
            raise NapkinError(f"{where}: [assumptions] {name} is {value}, expected a fraction of at most 1")
    for level in (hardware.hbm, hardware.l2):
        if level.copy_bandwidth > level.bandwidth:
            raise NapkinError(f"{where}: a copy reaches {level.copy_bandwidth:g} bytes/s, more than the peak {level.bandwidth:g}")
