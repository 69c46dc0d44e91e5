"""Plans compiled ahead of time, with no GPU, before they are written: what fails, does not fit or spills gives way to
the next.

A kernel first gives way to its own next tilings; where none of them compiles and fits, the plan gives way to the next
one, of another term. What was compiled is remembered by the hash of its source.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic

from napkin_eq.lang.errors import NapkinError, WrongPlan
from napkin_eq.machine.gpu import Hardware
from napkin_eq.pipeline.top_k import D, choice, portable, tilings, with_pieces, with_tilings
from napkin_eq.prove.cache import kept, recalled
from napkin_eq.search.derivation import Derived
from napkin_eq.search.tiling import Tiled
from napkin_eq.tile import ir as p
from napkin_eq.tile.compile_ahead import ARCHS, attempted
from napkin_eq.tile.identifiers import kernel_function
from napkin_eq.tile.printers import code, emit

MEMORY, SCHEMA, SECONDS = "compiled", 2, 100  # the last: for which the compiler is waited for
# Tried of a kernel, and of a diagram; times the predicted time of the first, beyond which none is
TILINGS, PLANS, SLOWER = 5, 3, 2.0
FACTS = {"registers": int, "spills_bytes": int, "spills_in_loops": int, "smem_bytes": int}
FEW_BYTES = 128  # that a thread spills outside of innermost loops, before and after what a block does most


@dataclass(frozen=True, slots=True)
class Built:
    """A kernel as it was compiled: 32-bit registers of a thread, bytes spilled by it, those of them that a turn of
    its innermost loops moves, bytes of shared memory of a block.

    error: why it was not compiled. late: that is not known, for the compiler was not waited for. library: the call that
    runs in its place.
    """

    kernel: str
    registers: int = 0
    spills_bytes: int = 0
    spills_in_loops: int = 0
    smem_bytes: int = 0
    error: str = ""
    late: bool = False
    library: str = ""

    @property
    def spills(self) -> int:
        """The bytes spilled that take time: none of a few outside of innermost loops."""
        return self.spills_bytes if self.spills_in_loops or self.spills_bytes > FEW_BYTES else 0

    def fault(self, hardware: Hardware) -> str:
        """Return why a kernel cannot run, in a few words; nothing where it can."""
        if self.late:
            return ""
        if self.error:
            return f"does not compile: {self.error}"
        if self.smem_bytes > hardware.smem.block_bytes:
            return (
                f"asks for {self.smem_bytes} bytes of shared memory, a block of {hardware.name} has"
                f" {hardware.smem.block_bytes}"
            )
        return ""

    def __str__(self) -> str:
        if self.error or self.library:
            return f"{self.kernel}: {self.error or self.library + ', trusted'}"
        spills = f"{self.spills_bytes} bytes spilled" if self.spills_bytes else "no spills"
        if self.spills_bytes and not self.spills:
            spills += " outside of its loops"
        return f"{self.kernel}: {self.registers} registers, {spills}, {self.smem_bytes / 1024:.1f} KiB of shared memory"


@dataclass(frozen=True, slots=True)
class Compiled(Generic[D]):
    """A derivation whose kernels compile, the same as portable Triton, and what was seen of both.

    kernels, plain: as compiled, in launch order. gave_way: what did not stay, and why. missing: why nothing could be
    compiled, or nothing.
    """

    derivation: D
    portable: D
    kernels: tuple[Built, ...] = ()
    plain: tuple[Built, ...] = ()
    gave_way: tuple[str, ...] = field(default=())
    missing: str = ""

    def data(self) -> dict[str, Any]:
        """Return what was seen, as `report.json` of `derive -o` has it."""
        late = next((b for b in (*self.kernels, *self.plain) if b.late), None)
        missing = self.missing or (str(late) if late else "")
        head = {
            "arch": self.derivation.hardware.arch,
            "status": "not compiled" if missing else "compiled",
            "gave_way": list(self.gave_way),
        }
        if missing:
            return {**head, "reason": missing}
        return {**head, "kernels": [_data(b) for b in self.kernels], "portable": [_data(b) for b in self.plain]}

    def __str__(self) -> str:
        if self.missing:
            return f"not compiled: {self.missing}"
        arch, alike = self.derivation.hardware.arch, self.plain == self.kernels
        lines = [f"{'not ' * built.late}compiled for {arch}: {built}" for built in self.kernels]
        lines += [] if alike else [f"as portable Triton: {built}" for built in self.plain]
        return "\n".join([*lines, *(f"gave way: {note}" for note in self.gave_way)])


def _data(built: Built) -> dict[str, Any]:
    return {"name": built.kernel, **{name: getattr(built, name) for name in FACTS}}


def compiled(derivation: D) -> Compiled[D]:
    """Compile a derivation's kernels for its GPU, and as portable Triton; others take the place of those that fail, do
    not fit or spill.

    Where Triton is missing, or cannot compile for the GPU, the result says so and nothing is replaced. Raises
    NapkinError where no plan compiles.
    """
    notes: list[str] = []
    if derivation.hardware.arch not in ARCHS:
        return _unknown(derivation, f"Triton is not asked for {derivation.hardware.arch}, only for {', '.join(ARCHS)}")
    found: D | None = derivation
    for _ in range(PLANS):
        assert found is not None
        try:
            made, kernels = _settled(found, notes)
            shared = any(kernel.workers for kernel in made.plan.kernels)
            plain, alone = _settled(portable(made), notes, "portable ") if shared else (made, kernels)
        except _NoTiling as reason:
            notes.append(f"a plan of {len(found.plan.kernels)} kernels: {reason}")
            found = _following(found)
            if found is None:
                break
            continue
        except NapkinError as reason:
            return _unknown(derivation, str(reason))
        return Compiled(made, plain, tuple(kernels), tuple(alone), tuple(notes))
    raise NapkinError(
        f"diagram {derivation.diagram.name}: no plan compiles for {derivation.hardware.name}: {notes[-1]}"
    )


def instead(derivation: D) -> D | None:
    """Return what takes the place of a derivation of which the compiler refuses a kernel; None where it refuses none.

    Raises NapkinError where Triton is missing, or no plan compiles.
    """
    return compiled(derivation).derivation if refused(derivation) else None


def refused(derivation: Derived) -> str:
    """Return which kernel of a derivation the compiler refuses, and why; nothing where it refuses none, or is not
    asked.

    Raises NapkinError where Triton is missing.
    """
    machine = derivation.hardware
    if machine.arch not in ARCHS:
        return ""
    return next((f"kernel {b.kernel} {fault}" for b in built(derivation) if (fault := b.fault(machine))), "")


def faults(derivation: Derived, spilled: int = 0) -> str:
    """Return which kernel of a derivation the compiler refuses, or lets spill more bytes, and why; nothing where it
    does neither, or is not asked.

    Raises NapkinError where Triton is missing.
    """
    if derivation.hardware.arch not in ARCHS:
        return ""
    spills = (f"kernel {b.kernel} spills {b.spills} bytes" for b in built(derivation) if b.spills > spilled)
    return refused(derivation) or next(spills, "")


class _NoTiling(Exception):
    """No tiling of a kernel compiles and fits."""


def _unknown(derivation: D, reason: str) -> Compiled[D]:
    return Compiled(derivation, portable(derivation), missing=reason)


def _following(derivation: D) -> D | None:
    """Return the derivation by the next plan, None where there is none."""
    try:
        return (
            None
            if derivation.again is None
            else derivation.again(tuple(output.placed.term for output in derivation.outputs))
        )
    except NapkinError:
        return None


def _settled(derivation: D, notes: list[str], what: str = "") -> tuple[D, list[Built]]:
    """Return a derivation each of whose kernels compiles and fits, and spills only where its next tilings do, too;
    raises _NoTiling.
    """
    seen = built(derivation)
    pieces = list(derivation.tiled)
    for at, own in enumerate(seen):
        if own.fault(derivation.hardware) or own.spills:
            piece, other = _better(derivation, pieces, at, own)
            if piece is not None:
                said = own.fault(derivation.hardware) or f"spills {own.spills} bytes"
                notes.append(
                    f"{what}{own.kernel}, tiles {_tiles(pieces[at])}: {said}; taken instead: {_tiles(piece)},"
                    f" {other.spills_bytes} bytes spilled"
                )
                pieces[at] = piece
    if pieces == list(derivation.tiled):
        return derivation, seen
    try:
        found = with_tilings(derivation, pieces)
    except WrongPlan as wrong:
        raise _NoTiling(str(wrong)) from None
    seen = built(found)
    if broken := next((b for b in seen if b.fault(derivation.hardware)), None):
        raise _NoTiling(f"{broken.kernel} {broken.fault(derivation.hardware)}")
    return found, seen


def _better(derivation: Derived, pieces: Sequence[Tiled], at: int, own: Built) -> tuple[Tiled | None, Built]:
    """Return the first tiling of a kernel that does what it should and does not spill, else the one that spills least;
    None if that is its own.

    pieces: the tilings of all kernels. Each is compiled as it is in their plan, where it may wait for others and ask
    for its tiles before.
    """
    first, machine = derivation.tiled[at], derivation.hardware
    printer = (
        derivation.printer if first.kernel.workers or any(k.workers for k in derivation.plan.kernels) else "triton"
    )
    broken = bool(own.fault(machine))
    best: tuple[Tiled | None, Built] = (None, own)
    for piece in tilings(derivation, at, TILINGS, printer):
        if choice(piece) == choice(first) or (
            not broken and piece.cost.predicted_us > SLOWER * first.cost.predicted_us
        ):
            continue
        kernel = with_pieces(derivation, [*pieces[:at], piece, *pieces[at + 1 :]]).kernels[at]
        (other,) = built_of(p.Plan(derivation.plan.name, kernel.reads, kernel.writes, (kernel,)), machine)
        if other.fault(machine) or other.late:
            continue
        if best[1].fault(machine) or other.spills < best[1].spills:
            best = piece, other
        if not other.spills:
            break
    if best[0] is None and broken:
        raise _NoTiling(f"{own.kernel} {own.fault(machine)}, and so do its next {TILINGS} tilings")
    return best


def _tiles(piece: Tiled) -> str:
    tiles = " ".join(f"{c.axis.name}:{c.tile}" for c in piece.kernel.coords if c.tile > 1) or "of one element"
    return f"{tiles} with {piece.cost.warps} warps and {piece.cost.stages} buffers"


def built(derivation: Derived) -> list[Built]:
    """Return a derivation's kernels as they are compiled for its GPU, in launch order."""
    return built_of(derivation.plan, derivation.hardware)


def built_of(plan: p.Plan, hardware: Hardware) -> list[Built]:
    """Return the kernels of a plan as they are compiled; raises NapkinError where Triton is missing."""
    names = [kernel_function(kernel) for kernel in plan.kernels if kernel.library is None]
    if len(names) < len(plan.kernels):
        own = iter(
            built_of(replace(plan, kernels=tuple(k for k in plan.kernels if k.library is None)), hardware)
            if names
            else []
        )
        return [Built(kernel_function(k), library=k.library.function) if k.library else next(own) for k in plan.kernels]
    try:
        source = code(plan) if any(kernel.workers for kernel in plan.kernels) else emit(plan, "triton")
    except NapkinError as reason:
        return [Built(name, error=str(reason)) for name in names]
    try:
        version = importlib.metadata.version("triton")
    except importlib.metadata.PackageNotFoundError:
        raise NapkinError("Triton is not installed; pip install triton") from None
    key = hashlib.sha256(f"{version} {hardware.arch}\n{source}".encode()).hexdigest()
    known = recalled(MEMORY, SCHEMA)
    if (rows := _remembered(known.get(key), names)) is not None:
        return rows
    found = [_built(row) for row in attempted(source, hardware.arch, names, SECONDS)]
    if not any(b.error for b in found):  # what was wrong may have been the machine's: it is tried again
        kept(MEMORY, SCHEMA, {**recalled(MEMORY, SCHEMA), key: [_data(b) for b in found]})
    return found


def _built(row: dict[str, Any]) -> Built:
    return (
        Built(row["kernel"], error=row["error"], late=row.get("late", False))
        if "error" in row
        else Built(row["kernel"], *(row[name] for name in FACTS))
    )


def _remembered(rows: Any, names: Sequence[str]) -> list[Built] | None:
    """Return what is remembered of a plan's kernels, None where that is damaged or of others."""
    if not isinstance(rows, list) or [row.get("name") if isinstance(row, dict) else None for row in rows] != list(
        names
    ):
        return None
    if not all(isinstance(row.get(name), int) and row[name] >= 0 for row in rows for name in FACTS):
        return None
    return [Built(row["name"], *(row[name] for name in FACTS)) for row in rows]
