"""A time that no kernel of a candidate beats: its compulsory bytes, and its contractions done once, at the rates of the cost model."""

from __future__ import annotations

import math

from napkin_eq.cost import elements, extent
from napkin_eq.cover.graph import contracted
from napkin_eq.cover.pieces import Piece
from napkin_eq.hardware import Hardware
from napkin_eq.room import BYTES
from napkin_eq.term import Input, Map, Read, Reduce, Term, renamed, subterms

WIDEST = 512  # more than the widest tile of an output: what does not vary along a wider axis is computed again for each of its blocks
RATE = 0.88  # of the matrix unit's peak: the model gives no kernel of any diagram that was tried more
HELD = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "int32": "i32", "int64": "i64", "bool": "i1"}


def bound_us(piece: Piece, storage: str, dtype: str, machine: Hardware) -> float:
    """Return microseconds; of an array that is read at computed coordinates nothing is sure to be read."""
    terms = subterms(piece.source)
    moved = float(sum(BYTES[o.dtype] * elements(o.dims) for o in piece.outputs))
    direct = _direct(terms)
    moved += sum(BYTES[HELD.get(t.dtype, storage)] * elements(t.dims) for t in terms if isinstance(t, Input) and t in direct)
    flops = 0.0
    outer = piece.outputs[0].dims if len(piece.outputs) == 1 else ()
    masks = [t for t in terms if t.kind == "bool" and t.axes]
    for term in terms:
        if contracted(term) is not None:
            product = term.body
            masked = any({a.name for a in m.axes} & {a.name for a in product.axes} for m in masks)
            once = 2 * elements(product.axes) * ((0.5 if all(_half(m) for m in masks) else 0.0) if masked else 1.0)
            flops += once * math.prod(max(1, extent(a) // WIDEST) for a in outer if a not in term.axes)
    seconds = max(moved / machine.hbm.copy_bandwidth, flops / (machine.flops(dtype) * RATE))
    return float(seconds + machine.chip.launch_s) * 1e6


def _direct(terms: list[Term]) -> set[Term]:
    """Return the arrays that something other than a read at computed coordinates reads, all of them if no fold over a mask leaves some out."""
    found: set[Term] = set()
    masked = any(isinstance(t, Reduce) and t.where.fields != (True,) for t in terms) or any(isinstance(t, Map) and t.op == "where" for t in terms)
    for term in terms:
        if not isinstance(term, Read):
            found.update(renamed(c) for c in term.children)
    return set() if masked and not found else found


def _half(mask: Term) -> bool:
    """Whether a mask is a comparison of two coordinates, which leaves half of the lanes, or of one with a number, which a kernel cannot skip."""
    return isinstance(mask, Map) and mask.op in ("le", "lt") and all(not a.children for a in mask.args)
