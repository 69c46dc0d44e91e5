"""A time that no tiles of a kernel beat: its compulsory bytes and its contractions, each once, at the rates of the cost model.

So a choice of stores that cannot win is dropped before anything of it is lowered. Bytes of arrays that masks or computed
coordinates may leave out count nothing, and neither do contractions of which masks may leave out a part.
"""

from __future__ import annotations

from collections.abc import Mapping

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.term import Const, Input, Map, Read, Store, Term, renames, subterms
from napkin_eq.laws.axis_split import is_stretch
from napkin_eq.machine.cost import KERNEL_S, READ_RATE, WRITE_RATE, elements
from napkin_eq.machine.gpu import Hardware
from napkin_eq.machine.warp_specialized import IN_TURN, MATRIX
from napkin_eq.tile import ir as p
from napkin_eq.tile.resources import BYTES
from napkin_eq.tile.stream_facts import Streamed, kernel_terms

HELD = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "int32": "i32", "int64": "i64", "bool": "i1"}
SLACK = 0.98  # for what rounding does to a sum of many terms, and for halves of blocks


def least_us(value: Term, targets: tuple[p.Buffer, ...], arrays: Mapping[Term, p.Buffer], storage: str, machine: Hardware) -> float:
    """Return microseconds that the kernel of a value, or a Tuple of several, takes at the least; `arrays` are the stored values that it reads."""
    terms = kernel_terms(Store(value))[:-1]
    cuts: list[tuple[Axis, Axis]] = []
    whole = True
    for where in {t.where for t in terms if isinstance(t, Streamed)} - {Const(True)}:
        cut = _cut(where)
        cuts += [cut] if cut else []
        whole &= cut is not None
    written = float(sum(_bytes(t) for t in targets))
    read, seconds = 0.0, 0.0
    if whole:
        picked = {part for t in terms if isinstance(t, Read) and not renames(t) for part in subterms(t)}
        read = sum(_bytes(buffer) for buffer in {arrays[t] for t in terms if t in arrays and t not in picked})
        inputs = [t for t in terms if isinstance(t, Input) and t not in picked]
        read += sum(BYTES[HELD.get(t.dtype, storage)] * elements(t.dims) for t in inputs)
        peak = max(machine.flops(dtype) for dtype in ("bfloat16", "float16", "tf32", "float32"))
        seconds = sum(_operations(t, cuts) for t in terms) * IN_TURN / (peak * MATRIX)
    copying = read / READ_RATE + written / WRITE_RATE
    return (SLACK * max(seconds, copying / machine.hbm.copy_bandwidth) + KERNEL_S + machine.chip.launch_s) * 1e6


def _bytes(buffer: p.Buffer) -> int:
    return BYTES[buffer.dtype] * elements(buffer.dims)


def _cut(where: Term) -> tuple[Axis, Axis] | None:
    """Return the axis that counts stretches and the one that it cuts, of a mask that puts every lane into one of them."""
    pairs = ((part, axis) for part in where.axes for axis in where.axes)
    return next(((part, axis) for part, axis in pairs if is_stretch(part, axis, where)), None)


def _operations(term: Term, cuts: list[tuple[Axis, Axis]]) -> float:
    """Return the operations of a contraction done once, 0 of any other term."""
    body = term.body if isinstance(term, Streamed) else None
    if not isinstance(body, Map) or body.op != "mul":
        return 0.0
    left, right = (set(arg.axes) for arg in body.args)
    if not (left - right and right - left and term.axis in left & right):
        return 0.0
    counted = {part for part, axis in cuts if axis in body.axes}
    return 2.0 * elements(a for a in body.axes if a not in counted)
