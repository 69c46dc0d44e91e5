"""Calls of a library in the place of our kernels: products of matrices, priced from the GPU's data file, trusted and
not proved.

A contraction is one where its arrays are matrices as they lie in memory: the axes of each of batch, rows, depth and
columns side by side, in one order wherever they occur. Nothing is copied then. What the call computes the plan says by
the statements of the kernel whose place it takes; that the library does so is taken on trust, and said wherever the
kernel is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from napkin_eq.cover.pieces import Piece
from napkin_eq.cover.pricing import Proved
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.dtypes import STORAGE, held_as
from napkin_eq.lang.term import Const, Input, Map, Reduce
from napkin_eq.machine.cost import elements, launched
from napkin_eq.machine.gpu import Hardware
from napkin_eq.tile.ir import Library, Matrix
from napkin_eq.tile.resources import BYTES

CALLED, TAKEN = "torch.matmul", ("bfloat16", "float16", "float32")
ROWS, COLUMNS = 128, 256  # of a tile of the library's: blocks beyond the processors wait, as ours do


def library_call(piece: Piece, dtype: str) -> Library | None:
    """Return the call that computes all of a piece, its arrays by the names that they have there; None where there is
    none.
    """
    folded, body = set[Axis](), piece.source
    while isinstance(body, Reduce) and body.monoid == "sum" and body.where == Const(True):
        folded.add(body.axis)
        body = body.body
    if not folded or dtype not in TAKEN or not isinstance(body, Map) or body.op != "mul" or len(piece.outputs) != 1:
        return None
    arrays, (out,) = body.args, piece.outputs
    if (
        not all(isinstance(a, Input) and held_as(a.dtype, STORAGE[dtype]) == STORAGE[dtype] for a in arrays)
        or out.dtype != STORAGE[dtype]
    ):
        return None
    first, second = (tuple(a for a in array.dims if a.size != 1) for array in arrays if isinstance(array, Input))
    stored = tuple(a for a in out.dims if a.size != 1)
    if (
        any(a.size is None for a in (*first, *second))
        or not folded <= {*first} & {*second}
        or {*stored} != ({*first} | {*second}) - folded
    ):
        return None
    batch = ({*first} & {*second}) - folded
    free = [a for a in stored if a not in batch]
    swap = bool(free) and free[0] in second
    left, right = (second, first) if swap else (first, second)
    names = [a.name for a in (reversed(arrays) if swap else arrays) if isinstance(a, Input)]
    groups = {
        a: ("batch" if a in batch else "depth" if a in folded else "rows" if a in left else "columns")
        for a in (*left, *right)
    }
    orders: dict[str, tuple[Axis, ...]] = {}
    shapes = (("batch", "rows", "depth"), ("batch", "depth", "columns"), ("batch", "rows", "columns"))
    made = [
        _matrix(n, d, groups, shape, orders)
        for n, d, shape in zip((*names, out.name), (left, right, stored), shapes, strict=True)
    ]
    if None in made or (made[2] is not None and made[2].order != tuple(range(len(made[2].order)))):
        return None
    return Library(CALLED, *(m for m in made if m is not None))


def _matrix(
    name: str,
    dims: Sequence[Axis],
    groups: Mapping[Axis, str],
    shape: Sequence[str],
    orders: dict[str, tuple[Axis, ...]],
) -> Matrix | None:
    """Return an array as matrices, None where it is none as it lies in memory; orders: of the axes of a group, as
    others have them.
    """
    listed: dict[str, tuple[Axis, ...]] = {}
    for axis in dims:
        listed[groups[axis]] = (*listed.get(groups[axis], ()), axis)
    side_by_side = [axis for group in listed.values() for axis in group] == list(dims)
    if (
        not side_by_side
        or any(orders.setdefault(group, axes) != axes for group, axes in listed.items())
        or next(reversed(listed), "") == "batch"
    ):
        return None
    missing = [g for g in shape if g not in listed and g != "batch"]
    stored = [*(g for g in missing if g != "columns"), *listed, *(g for g in missing if g == "columns")]
    wanted = [g for g in shape if g in stored]
    return Matrix(name, tuple(elements(listed.get(g, ())) for g in stored), tuple(map(stored.index, wanted)))


def library_us(call: Library, dtype: str, machine: Hardware) -> float:
    """Return microseconds of a call: bytes once at the rate of copies, operations at the share of the peak that the
    GPU's file says large products reach.

    Blocks are dealt to processors as a kernel's are: the last ones may leave processors idle.
    """
    *batch, rows, depth = (call.left.sizes[place] for place in call.left.order)
    columns = call.right.sizes[call.right.order[-1]]
    count = math.prod(batch)
    blocks = count * math.ceil(rows / ROWS) * math.ceil(columns / COLUMNS)
    waves = blocks / machine.chip.sms
    moved = BYTES[STORAGE[dtype]] * count * (rows * depth + depth * columns + rows * columns)
    flops = 2.0 * count * depth * max(rows, machine.divisors.mma_m) * max(columns, machine.divisors.mma_n)
    # Products of float32 are not rounded to tf32 unless PyTorch is asked to.
    computing = (
        flops
        / (machine.flops(dtype) * machine.assumptions.tensor_efficiency)
        * (math.ceil(waves) / waves if waves > 1 else 1.0)
    )
    moving = moved / machine.hbm.copy_bandwidth
    return float(launched(max(moving, computing), moving, machine) * 1e6)


def called(proved: Proved, call: Library, price: float) -> Proved:
    """Return a piece that is one kernel, run by the library at a price in microseconds."""
    (tiled,) = proved.placed.tiled
    kernel = replace(tiled.kernel, library=replace(call, out=replace(call.out, buffer=tiled.kernel.writes[0].name)))
    made = replace(tiled, kernel=kernel, cost=replace(tiled.cost, predicted_us=price))
    return replace(proved, placed=replace(proved.placed, tiled=(made,), predicted_us=price))
