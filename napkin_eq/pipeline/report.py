"""The numbers of a derivation as data: what its kernels move and compute, how often they pass over an axis, what was
tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from napkin_eq.certify.certificate import of as certificate_of
from napkin_eq.lang.dtypes import STORAGE
from napkin_eq.lang.term import Fold, Map, Online, Reduce, Term, subterms
from napkin_eq.machine.cost import elements, total_us
from napkin_eq.numerics.accuracy import unit_error
from napkin_eq.search.derivation import Derived, Output, laws_used
from napkin_eq.tile.resources import BYTES
from napkin_eq.tile.stream_facts import depth_along, fold_key, kernel_terms

# The largest exponent of e in float32.
LARGEST_EXPONENT = 88.0


def report(derivation: Derived) -> dict[str, Any]:
    """Return a derivation's numbers as data; see Derivation.report."""
    d = derivation
    costs = [t.cost for t in d.tiled]
    graphs = [o.graph for o in d.outputs]
    certificate = certificate_of(d)
    return {
        "schema": 1,
        "diagram": d.diagram.name,
        "hardware": d.hardware.name,
        "dtype": d.dtype,
        "sizes": {a.name: a.size for a in d.diagram.axes()},
        "kernels": [
            {
                "name": c.name, "groups": dict(c.groups), "streams": dict(c.streams), "blocks": c.blocks,
                "waves": round(c.waves, 3),
                "printer": "library" if k.library else "gluon" if c.workers else "triton",
                "grade": "library" if k.library else "derived",
                "warps": c.warps, "workers": c.workers, "stages": c.stages,
                "bytes_hbm": round(c.bytes_hbm), "bytes_l2": round(c.bytes_l2),
                "flops_tensor": round(c.flops_tensor), "ops_sfu": round(c.ops_sfu), "ops_alu": round(c.ops_alu),
                "smem_bytes": c.smem_bytes,
                "registers": c.registers, "limit": c.limit, "predicted_us": round(c.predicted_us, 3),
            }
            for c, k in zip(costs, d.plan.kernels, strict=True)
        ],
        "predicted_us": round(total_us(costs, derivation.hardware), 3),
        "bytes_hbm": round(sum(c.bytes_hbm for c in costs)),
        "bytes_once": sum(elements(b.dims) * BYTES[b.dtype] for k in d.plan.kernels for b in (*k.reads, *k.writes)),
        "unfused_bytes_hbm": sum(unfused_bytes(o.source, BYTES[STORAGE[d.dtype]]) for o in d.outputs),
        "passes": passes(d.outputs),
        "laws": laws_used(d.outputs),
        "unsafe": unsafe(d.outputs),
        "grades": {name: d.verdicts[name].grade for name in laws_used(d.outputs) if name in d.verdicts},
        "certificate": {"path": "certificate.json", "status": certificate.get("status", "unproved"),
            "grade": certificate.get("grade", "D")},
        "translation": [{"outputs": list(o.names), **o.translation.data(),
            "refused": list(o.refused)} for o in d.outputs],
        "egraph": {
            "nodes": sum(g.nodes for g in graphs), "classes": sum(len(g.classes) for g in graphs),
            "rounds": max(g.rounds for g in graphs),
            "notes": [n for g in graphs for n in g.notes],
            "limited": list(d.limited),
        },
        **({"cover": cover} if (cover := next((o.cover for o in d.outputs if o.cover is not None),
            None)) is not None else {}),
        **({"unread": list(d.diagram.unread)} if d.diagram.unread else {}),
        "seconds": {k: round(v, 3) for k, v in d.seconds.items()},
        **({} if d.max_error is None else {"max_error": d.max_error, "rounding": unit_error(d.plan)}),
    }  # fmt: skip


def unsafe(outputs: Sequence[Output]) -> list[str]:
    """Return the exponentials that a plan takes though they may pass the range of float32: those that the diagram
    itself takes so.
    """
    from napkin_eq.numerics.ranges import overflowing

    terms = [term for output in outputs for term in overflowing(output.placed.term, LARGEST_EXPONENT)]
    return list(dict.fromkeys(map(str, terms)))


def passes(outputs: Sequence[Output]) -> dict[str, int]:
    """Count, per folded axis, how often the kernels walk it; an axis that one tile holds is walked once."""
    counts: dict[str, int] = {}
    for output in outputs:
        for store, piece in zip(output.placed.stores, output.placed.tiled, strict=True):
            whole = {c.axis.name for c in piece.kernel.coords if c.role == "whole"}
            keys: dict[str, set[Any]] = {}
            for term in kernel_terms(store):
                if isinstance(term, (Fold, Online, Reduce)):
                    shared = not isinstance(term, Reduce) and term.fused
                    keys.setdefault(term.axis.name, set()).add(
                        depth_along(term, term.axis) if shared else fold_key(term)
                    )
            for name, found in keys.items():
                counts[name] = counts.get(name, 0) + (1 if name in whole else len(found))
    return dict(sorted(counts.items()))


def unfused_bytes(source: Term, element: int) -> int:
    """Return the bytes moved if every operator were a kernel of its own, a contraction counting as one, and moved each
    array once.

    A contraction whose operands the cache does not hold moves them more often; a plan's own `bytes_hbm` says so, and
    its `bytes_once` does not.
    """
    contracted = {
        t.body
        for t in subterms(source)
        if isinstance(t, Reduce) and t.monoid == "sum" and isinstance(t.body, Map) and t.body.op == "mul"
    }
    total = 0
    for term in subterms(source):
        if not term.children or term in contracted or term.kind != "real":
            continue
        reads = term.body.children if isinstance(term, Reduce) and term.body in contracted else term.children
        total += sum(elements(t.axes) for t in (term, *reads) if t.kind == "real" and (t.axes or t.children))
    return total * element
