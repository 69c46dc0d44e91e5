"""A model as data, in the form of `napkin-eq model --json`: schema 1, units in the keys."""

from __future__ import annotations

import math
from typing import Any

from napkin_eq.napkin.configuration import Configuration
from napkin_eq.napkin.formula import memory_named
from napkin_eq.napkin.levels import CLUSTERS, Moved, Threshold, quantised, saving
from napkin_eq.napkin.model import KernelModel, Model


def data(found: Model) -> dict[str, Any]:
    """Return a model as data; expressions are as SymPy reads them; M, or Mem where an axis is M, is the memory."""
    seen = found.measured
    return {
        "schema": 1,
        "diagram": found.derivation.diagram.name,
        "hardware": found.hardware.name,
        "dtype": found.derivation.dtype,
        "bytes_per_value": found.bytes_each,
        "target_level": found.target.name if found.target else None,
        "sizes": dict(found.sizes),
        "sizes_unknown": list(found.unknown),
        "kernels": [_kernel(k, found) for k in found.kernels],
        "columns_us": {
            "napkin": round(sum(k.seconds for k in found.kernels) * 1e6, 3),
            "predicted": round(found.predicted_us, 3),
            "measured": None if seen is None else round(seen.us, 3),
        },
        "steps": [{"assumption": s.name, "us": round(s.us, 3)} for s in found.steps()],
    }


def _kernel(kernel: KernelModel, found: Model) -> dict[str, Any]:
    read, shape = kernel.read, kernel.form
    return {
        "name": read.kernel.name,
        "variables": [
            {"name": v.name, "axis": v.axis.name, "role": v.role, "plan_tile": v.tile} for v in read.variables.values()
        ],
        "transfers_values": str(read.transfers.expression()),
        "arrays": [
            {
                "name": n,
                "saved": n in read.saved,
                "values": str(h.expression()),
                "readings": round(read.shares.get(n, 1.0), 4),
            }
            for n, h in read.moved.items()
        ],
        "memory_values": [str(c.memory.expression()) for c in read.columns],
        "left_out": list(read.beside),
        "optimum_values": str(memory_named(shape.expression(), found.order)),
        "optimum_is": "reached" if shape.exact else "a lower bound",
        "reserve_values": str(shape.reserve),
        "terms": [
            {"alpha": str(t.alpha), "beta": str(t.beta), "halving_bytes_divides_by": round(quantised(t.beta), 4)}
            for t in shape.powers
        ],
        "at_optimum": [f"{left} = {memory_named(right, found.order)}" for left, right in shape.equations],
        "flops": str(read.flops.expression()),
        "flops_total": round(kernel.flops),
        "levels": [_level(m, found) for m in kernel.moved],
        "thresholds": [_threshold(t) for t in kernel.thresholds],
        "clusters": [{"cores": c.cores, "saves": [round(saving(c, t.beta), 4) for t in shape.powers]} for c in CLUSTERS]
        if found.clusters
        else [],
        "configuration": None if kernel.configuration is None else _configuration(kernel.configuration),
        "napkin_us": round(kernel.seconds * 1e6, 3),
    }


def _threshold(at: Threshold) -> dict[str, Any]:
    return {
        "level": at.level.name,
        "transfers_per_flop": float(f"{at.ratio:.4g}"),
        "memory_bytes": None if at.memory_bytes is None else round(at.memory_bytes),
        "axes": {
            n: {"least": round(free, 1), "least_at_capacity": None if own is None else round(own, 1)}
            for n, (free, own) in at.lengths.items()
        },
    }


def _level(at: Moved, found: Model) -> dict[str, Any]:
    return {
        "level": at.level.name,
        "capacity_bytes": at.level.capacity_bytes,
        "bandwidth_bytes_per_s": at.level.bandwidth,
        "capacity_values": at.memory,
        "values": None if at.values is None else round(at.values),
        "bytes": None if at.values is None else round(at.values * found.bytes_each),
        "us": round(at.seconds(found.bytes_each) * 1e6, 3),
        "optimum_values": None if at.found is None else str(memory_named(at.found.form.expression(), found.order)),
        "group_sizes": {n: round(t, 2) for n, t in at.tiles.items() if t},
        "whole_tiles": None
        if at.whole is None
        else {"values": round(at.whole[0]), "sizes": dict(sorted(at.whole[1].items()))},
        "least_memory_values": round(at.least),
    }


def _configuration(c: Configuration) -> dict[str, Any]:
    return {
        "tiles": dict(c.tiles),
        "pieces": list(c.pieces),
        "rows": c.inner.rows,
        "stream": c.inner.stream,
        "variables": [
            {
                "name": v.name,
                "coords": list(v.coords),
                "dtype": v.dtype,
                "levels": list(v.levels),
                "per": "warpgroup" if v.own else "block",
                "buffers": v.buffers,
            }
            for v in c.inner.variables
        ],
        "smem_bytes_per_block": c.smem_block,
        "smem_bytes_per_warpgroup": c.smem_group,
        "register_bytes_per_thread": c.registers_thread,
        "warpgroups_by_smem": round(c.slots[0], 3) if math.isfinite(c.slots[0]) else None,
        "warpgroups_by_registers": round(c.slots[1], 3) if math.isfinite(c.slots[1]) else None,
        "warpgroups": c.warpgroups,
        "units": [
            {"name": r.name, "unit": r.unit, "operations": r.operations, "per_clock": r.per_clock, "clocks": r.clocks}
            for r in c.rows
        ],
        "binds": c.binding,
        "ideal_flops_per_s": c.ideal,
        "memory_us_per_block": round(c.memory_seconds * 1e6, 4),
        "compute_us_per_block": round(c.compute_seconds * 1e6, 4),
        "least_group": round(c.least_group, 1) if math.isfinite(c.least_group) else None,
        "divisors": [
            {"coord": d.axis, "multiple": d.value, "of": [{"number": n, "why": why} for n, why in d.reasons]}
            for d in c.divisors
        ],
    }
