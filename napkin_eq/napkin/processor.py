"""The configuration of one processor told to a person: variables, what fits, what each unit takes, what binds."""

from __future__ import annotations

import math

from napkin_eq.napkin.configuration import Configuration
from napkin_eq.napkin.formula import kib, micros
from napkin_eq.napkin.text import table as aligned
from napkin_eq.napkin.text import wrapped
from napkin_eq.napkin.variables import VALUE_BYTES, lanes


def configuration_told(c: Configuration) -> list[str]:
    """Return a configuration as lines."""
    rows, stream = c.inner.rows, c.inner.stream.removesuffix("__s")
    lines = wrapped(
        f"one processor, as in the paper's section 5: {c.tiles[rows]} {rows} a warpgroup, "
        f"{stream} {c.tiles[c.inner.stream]} at a time",
        "  ",
    )
    table = [("  variable", "tile", "type", "where", "bytes")]
    for v in c.inner.variables:
        tile = " × ".join(f"{n.removesuffix('__s')} {c.tiles[n]}" for n in v.coords if c.tiles[n] > 1) or "1"
        size = lanes(v.coords, c.tiles) * VALUE_BYTES[v.dtype]
        whose = ("a warpgroup" if v.own else "a block") + (f", {v.buffers} buffers" if v.buffers > 1 else "")
        table.append((f"  {v.name}", tile, v.dtype, " and ".join(v.levels), f"{kib(size)} {whose}"))
    if c.pieces:
        table.append(
            ("  pieces", " and ".join(map(str, c.pieces)), "", "registers", "of a result, added up one by one")
        )
    lines += [*aligned(table), ""]
    smem, file = c.hardware.smem.block_bytes, c.hardware.limits.registers_per_sm * 4
    fits = [("  resource", "a block", "a warpgroup", "has", "warpgroups that fit")]
    fits.append(("  SMEM", kib(c.smem_block), kib(c.smem_group), kib(smem), _slots(c.slots[0])))
    fits.append(
        (
            "  registers",
            "0 B",
            f"{kib(c.registers_thread * 128)}",
            kib(file),
            f"{_slots(c.slots[1])}   ({c.registers_thread:.0f} B a thread)",
        )
    )
    lines += aligned(fits)
    if not c.warpgroups:
        return [*lines, "  not one warpgroup fits with these tiles: take smaller ones with --tile AXIS=SIZE"]
    lines += [f"  → {c.warpgroups} warpgroups, g_{rows} = {c.group}", ""]
    table = [("  unit", "", "operations a row", "a clock", "clocks")]
    for row in c.rows:
        table.append((f"  {row.unit}", row.name, f"{row.operations:.0f}", f"{row.per_clock:.0f}", f"{row.clocks:.3g}"))
    lines += aligned(table)
    beside = f"; special functions fill {1 / c.slack:.0%} of it" if math.isfinite(c.slack) else ""
    lines += wrapped(
        f"binds: {c.binding}, {c.clocks(c.binding):.3g} clocks{beside if c.binding == 'tensor' else ''}; "
        f"ideal rate {c.ideal / 1e12:.4g} TFLOP/s",
        "  ",
    )
    if c.streamed:
        lines += wrapped(
            f"a block of {stream} comes in {micros(c.memory_seconds)} and is worked on in {micros(c.compute_seconds)}: "
            f"memory keeps up from g_{rows} = {c.least_group:.0f}", "  ",
        )  # fmt: skip
    multiples = ", ".join(f"{d.axis.removesuffix('__s')} of {d.value}" for d in c.divisors)
    return [*lines, *wrapped(f"tiles are multiples: {multiples}", "  ")]


def _slots(value: float) -> str:
    return f"{math.floor(value * 10) / 10:.1f}" if math.isfinite(value) else "any"
