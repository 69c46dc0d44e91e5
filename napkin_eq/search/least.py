"""A time that a kernel takes at the least: its compulsory bytes and its contractions, at the rates of the cost model.

    Least(value, targets, arrays, storage, machine).us()          whatever its tiles
    Least(value, targets, arrays, storage, machine).us(blocks)    with so many blocks along some output axes

So a choice of stores, or of tiles, that cannot win is dropped before anything of it is lowered. What does not vary
along an axis is read and computed again by each of its blocks. Bytes of arrays that masks or computed coordinates may
leave out count nothing, and neither do contractions of which masks may leave out a part.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.dtypes import held_as
from napkin_eq.lang.term import Const, Input, Map, Read, Store, Term, renamed, renames, subterms
from napkin_eq.laws.axis_split import is_stretch
from napkin_eq.machine.cost import elements, launched
from napkin_eq.machine.gpu import Hardware
from napkin_eq.tile import ir as p
from napkin_eq.tile.resources import buffer_bytes
from napkin_eq.tile.stream_facts import Streamed, kernel_terms

SLACK = 0.98  # for what rounding does to a sum of many terms, and for halves of blocks


class Least:
    """What the kernel of a value, or a Tuple of several, must read, compute and write; `arrays` are the stored values
    that it reads.
    """

    def __init__(
        self,
        value: Term,
        targets: tuple[p.Buffer, ...],
        arrays: Mapping[Term, p.Buffer],
        storage: str,
        machine: Hardware,
    ) -> None:
        self.machine = machine
        self.written = float(sum(buffer_bytes(t) for t in targets))
        self.bytes = 0  # what comes from memory at the least
        self.reads: list[tuple[int, frozenset[str]]] = []
        self.operations: list[tuple[float, frozenset[str]]] = []
        terms = kernel_terms(Store(value))[:-1]
        masks = {t.where for t in terms if isinstance(t, Streamed)} - {Const(True)}
        cuts = [cut for mask in masks if (cut := _cut(mask)) is not None]
        if len(cuts) < len(masks):
            return
        picked = {part for t in terms if isinstance(t, Read) and not renames(t) for part in subterms(t)}
        read = {t: arrays[t] for t in terms if t in arrays and t not in picked}
        read |= {
            t: p.Buffer(t.name, t.dims, held_as(t.dtype, storage))
            for t in terms
            if isinstance(t, Input) and t not in picked
        }
        # What the kernel before has just written may be in level 2 still.
        near, stored = machine.l2.capacity_bytes / 2, {arrays[t] for t in terms if t in arrays}
        sizes = {buffer: buffer_bytes(buffer) for buffer in {*read.values()}}
        self.bytes = sum(size for buffer, size in sizes.items() if size > near or buffer not in stored)
        # By other names of its axes an array is read along other axes of the output.
        takers = (
            child for t in (Store(value), *terms) if not (isinstance(t, Read) and renames(t)) for child in t.children
        )
        ways = {(read[array], _along(child.axes, cuts)) for child in takers if (array := renamed(child)) in read}
        self.reads = [(buffer_bytes(buffer), names) for buffer, names in ways]
        self.operations = [
            (_operations(t, cuts), _along(t.body.axes, cuts))
            for t in terms
            if isinstance(t, Streamed) and _contracts(t)
        ]

    def us(self, blocks: Mapping[str, int] | None = None) -> float:
        """Return microseconds; blocks: how many there are along each output axis whose blocks are of different
        programs, where that is known.
        """

        known = blocks or {}

        def again(names: frozenset[str]) -> int:
            return math.prod(count for name, count in known.items() if name not in names)

        chip, memory = self.machine.chip, self.machine.hbm.copy_bandwidth
        model, shared = self.machine.model, self.machine.groups
        peak = max(self.machine.flops(dtype) for dtype in ("bfloat16", "float16", "tf32", "float32"))
        contracting = (
            sum(count * again(names) for count, names in self.operations) * shared.in_turn / (peak * shared.matrix)
        )
        copying = (self.bytes / model.read_rate + self.written / model.write_rate) / memory
        asked = self.written + sum(size * again(names) for size, names in self.reads)
        working = min(math.prod(known.values()), chip.sms) if known else chip.sms
        fetching = max(
            asked / self.machine.l2.copy_bandwidth,
            asked / (working * max(model.sm_bytes, shared.bytes_per_clock) * chip.clock_hz),
        )
        moving = SLACK * max(copying, fetching)
        return launched(max(SLACK * contracting, moving), moving, self.machine) * 1e6


def _cut(where: Term) -> tuple[Axis, Axis] | None:
    """Return the axis that counts stretches and the one that it cuts, of a mask that puts every lane into
    one of them.
    """
    pairs = ((part, axis) for part in where.axes for axis in where.axes)
    return next(((part, axis) for part, axis in pairs if is_stretch(part, axis, where)), None)


def _along(axes: Iterable[Axis], cuts: list[tuple[Axis, Axis]]) -> frozenset[str]:
    """Return the axes along which something varies, those among them that count its stretches."""
    held = {a.name for a in axes}
    return frozenset(held | {part.name for part, axis in cuts if axis.name in held})


def _contracts(fold: Term) -> bool:
    body = fold.body
    if not isinstance(body, Map) or body.op != "mul":
        return False
    left, right = (set(arg.axes) for arg in body.args)
    return bool(left - right and right - left and fold.axis in left & right)


def _operations(contraction: Term, cuts: list[tuple[Axis, Axis]]) -> float:
    """Return the operations of a contraction done once, each lane of a cut axis in its own stretch."""
    axes = contraction.body.axes
    counted = {part for part, axis in cuts if axis in axes}
    return 2.0 * elements(a for a in axes if a not in counted)
