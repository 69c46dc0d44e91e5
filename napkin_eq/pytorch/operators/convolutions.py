"""Rules of convolutions of any number of dimensions: grouped, dilated, strided, transposed; a place outside is 0
by the fold's mask.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import napkin_eq.frontend.library as nq
from napkin_eq.lang.term import Const, Term
from napkin_eq.pytorch.build.builder import Builder, Value, elsewhere
from napkin_eq.pytorch.build.extents import quotient
from napkin_eq.pytorch.build.table import operator
from napkin_eq.pytorch.build.wires import Dim
from napkin_eq.pytorch.operators.arithmetic import add
from napkin_eq.pytorch.operators.views import constant_pad, part, unsqueeze

Sizes = Sequence[int]
# Of a dimension, a place of the output and one of the window: the place of the input, and the masks that it is one.
Reached = Callable[[int, Term, Term], tuple[Term, list[Term]]]


def several(sizes: Any, rank: int) -> list[int]:
    """Return a number for each dimension, where one may stand for all."""
    listed = [sizes] if isinstance(sizes, int) else list(sizes)
    return listed * rank if len(listed) == 1 else listed


def inside(b: Builder, place: Term, low: Any, high: Any, dim: Dim) -> list[Term]:
    """Return the masks that a place lies in its dimension, of those that may fail; low and high bound the place, None
    says that it does not pass the last one. Of what a symbol bounds both may fail.
    """
    size = b.size(dim)
    below = not isinstance(low, int) or low < 0
    above = high is not None and (not (isinstance(high, int) and isinstance(size, int)) or high >= size)
    return [*([Const(0) <= place] if below else []), *([place < b.length(dim)] if above else [])]


def every(masks: Sequence[Term]) -> Term | None:
    """Return the mask that all hold, None of none."""
    whole: Term | None = None
    for mask in masks:
        whole = mask if whole is None else whole & mask
    return whole


def correlate(b: Builder, input: Value, weight: Value, stride: Any, padding: Any, dilation: Any, groups: int) -> Value:
    """Return Σ over channels of a group and the window of input[y·stride + k·dilation − padding] · weight[k]."""
    rank = len(weight.dims) - 2
    steps = list(zip(*(several(x, rank) for x in (stride, padding, dilation)), strict=True))
    sizes, taps = ([b.size(d) for d in value.dims[2:]] for value in (input, weight))
    output = [
        quotient(n + 2 * p - d * (k - 1) - 1, s) + 1 for n, k, (s, p, d) in zip(sizes, taps, steps, strict=True)
    ]

    def reached(at: int, new: Term, tap: Term) -> tuple[Term, list[Term]]:
        s, p, d = steps[at]
        place = window_place(new, s, tap, d, p)
        last = (output[at] - 1) * s + (taps[at] - 1) * d - p
        # Without padding no window passes the end
        return place, inside(b, place, -p, last if p or isinstance(last, int) else None, input.dims[2 + at])

    return _windowed(b, input, weight, groups, 0, output, reached)


def spread(
    b: Builder, input: Value, weight: Value, stride: Any, padding: Any, output: Sizes, dilation: Any, groups: int
) -> Value:
    """Return the transpose of a convolution: Σ of input[(y + padding − k·dilation) / stride] · weight[k], where
    that is whole.

    Along a dimension of known sizes y is stride·a + r: of a phase r only the taps k = stride·t + (r + padding) mod
    stride are met, at a + (r + padding) div stride − t. Places past the end, of the last a, are computed and left out.
    """
    rank = len(weight.dims) - 2
    steps = list(zip(*(several(x, rank) for x in (stride, padding, dilation)), strict=True))
    taps = [b.size(d) for d in weight.dims[2:]]

    def reached(at: int, new: Term, tap: Term) -> tuple[Term, list[Term]]:
        s, p, d = steps[at]
        place = window_place(new, 1, tap, -d, -p)
        low, high = p - (taps[at] - 1) * d, output[at] - 1 + p
        if s == 1:
            return place, inside(b, place, low, high, input.dims[2 + at])
        whole = nq.equal(place % s, 0)
        return place // s, [whole, *inside(b, place // s, quotient(low, s), quotient(high, s), input.dims[2 + at])]

    counted = [
        all(isinstance(size, int) for size in (total, b.size(own), k))
        for total, own, k in zip(output, input.dims[2:], taps, strict=True)
    ]
    phases = [
        s if known and d == 1 < s and total >= s else 1
        for known, total, (s, _, d) in zip(counted, output, steps, strict=True)
    ]
    made = _windowed(b, input, weight, groups, 1, output, reached, phases, [p for _, p, _ in steps])
    for at, (total, lanes) in enumerate(zip(output, phases, strict=True)):
        if lanes > 1 and total % lanes:
            made = part(b, made, 2 + at, 0, total)
    return made


def _windowed(
    b: Builder,
    input: Value,
    weight: Value,
    groups: int,
    first: int,
    output: Sizes,
    reached: Reached,
    phases: Sizes = (),
    padding: Sizes = (),
) -> Value:
    """Return Σ over channels of a group and the window of the input, where a place of the output and one of the window
    reach, times the weight.

    phases: of each dimension, into how many the places of the output are told apart, which meet other taps.
    """
    input, weight, channels, out = _grouped(b, input, weight, groups, first)
    places, masks, spatial, window = dict[str, Term](), list[Term](), list[Dim](), list[Dim]()
    taps, met, onto = dict[str, Term](), list[Term](), list[Dim]()
    for at, total in enumerate(output):
        own, inner = input.dims[3 + at], weight.dims[3 + at]
        size, lanes = b.size(inner), phases[at] if phases else 1
        spatial.append(b.fresh(-(-total // lanes) if lanes > 1 else total, "out", at))
        window.append(b.fresh(-(-size // lanes) if lanes > 1 else size, "tap", at))
        onto.append(window[-1] if lanes == 1 else inner)
        if lanes == 1:
            place, inside_ = reached(at, b.at(spatial[-1]), b.at(window[-1]))
        else:
            phase, tap, pad = b.fresh(lanes, "phase", at), b.at(window[-1]), padding[at]
            shifted = b.at(phase) + pad if pad else b.at(phase)
            place = b.at(spatial[-1]) + shifted // lanes - tap
            last = -(-total // lanes) - 1 + (lanes - 1 + pad) // lanes
            inside_ = inside(b, place, pad // lanes - (-(-size // lanes) - 1), last, own)
            spatial[-1] = (*spatial[-1], *phase)
            tap = tap * lanes + shifted % lanes
            taps |= b.coordinates(inner, tap)
            met += [tap < size] if size % lanes else []
        masks += inside_
        places |= b.coordinates(own, place)
    moved = elsewhere(b.moved(weight, weight.dims, (*weight.dims[:3], *onto)), taps)
    kept = every(met)
    shown = moved if kept is None else nq.where(kept, moved, 0.0)
    dims = (input.dims[0], (*channels, *out), *spatial)
    read, summed = elsewhere(input.term, places), (input.dims[2], *window)
    return _summed(b, read, shown, masks, dims, summed)


def window_place(start: Term, stride: int, tap: Term, dilation: int, padding: int) -> Term:
    """Return start · stride + tap · dilation − padding, without what is 0."""
    place = start if stride == 1 or start is Const(0) else start * stride
    if tap is not Const(0):
        step = tap if abs(dilation) == 1 else tap * abs(dilation)
        place = step if place is Const(0) and dilation > 0 else place + step if dilation > 0 else place - step
    return place + (-padding) if padding else place


def _grouped(b: Builder, input: Value, weight: Value, groups: int, first: int) -> tuple[Value, Value, Dim, Dim]:
    """Return input[n, g, c, …] and weight[g, c, o, …], with the wires of groups and of a group's outputs."""
    sizes = [b.size(d) for d in input.dims]
    inner = b.size(input.dims[1]) if groups == 1 else b.known(input.dims[1], "convolution") // groups
    value = b.view(b.real(input), [sizes[0], groups, inner, *sizes[2:]])
    taps = [b.size(d) for d in weight.dims[2:]]
    if first:  # [channels in, out of a group]
        kernel = b.view(b.real(weight), [groups, inner, b.size(weight.dims[1]), *taps])
    else:
        out = b.size(weight.dims[0]) if groups == 1 else b.known(weight.dims[0], "convolution") // groups
        by_group = b.view(b.real(weight), [groups, out, inner, *taps])
        kernel = b.value(
            by_group.term, (by_group.dims[0], by_group.dims[2], by_group.dims[1], *by_group.dims[3:]), by_group.dtype
        )
    group = value.dims[1] or kernel.dims[0]
    inputs = value.dims[2] or kernel.dims[1]
    used = [d for at, d in enumerate(value.dims) if at not in (1, 2)]
    out_dim = b.apart(kernel.dims[2], [*used, group, inputs], "out channels")
    dims = (group, inputs, out_dim, *kernel.dims[3:])
    kernel = b.value(b.moved(kernel, kernel.dims, dims), dims, kernel.dtype)
    return b.value(value.term, (value.dims[0], group, inputs, *value.dims[3:]), value.dtype), kernel, group, out_dim


def _summed(
    b: Builder, left: Term, right: Term, masks: Sequence[Term], dims: Sequence[Dim], over: Sequence[Dim]
) -> Value:
    mask = every(masks)
    shown = left if mask is None else nq.where(mask, left, 0.0)
    # Channels, of which there are most, are folded first
    return b.value(b.fold("sum", shown * right, over[::-1]), dims, "float32")


def biased(b: Builder, value: Value, bias: Value | None) -> Value:
    """Return a tensor plus a number for each channel."""
    if bias is None:
        return value
    return add(b, value, b.value(bias.term, (bias.dims[0], *[()] * (len(value.dims) - 2)), bias.dtype), 1)


def convolve(
    b: Builder,
    input: Value,
    weight: Value,
    bias: Value | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    extra: Any,
    groups: int,
) -> Value:
    """Return a convolution as PyTorch's has it; an input without a batch gets one for the while."""
    rank = len(weight.dims) - 2
    if len(input.dims) == rank + 1:
        out = convolve(b, unsqueeze(b, input, 0), weight, bias, stride, padding, dilation, transposed, extra, groups)
        return b.value(out.term, out.dims[1:], out.dtype)
    if isinstance(padding, str):
        input, padding = _by_name(b, input, weight, padding, several(stride, rank), several(dilation, rank))
    if not transposed:
        return biased(b, correlate(b, input, weight, stride, padding, dilation, groups), bias)
    sizes = [
        (b.size(input.dims[2 + at]) - 1) * s
        - 2 * p
        + d * (b.size(weight.dims[2 + at]) - 1)
        + e
        + 1
        for at, (s, p, d, e) in enumerate(
            zip(*(several(x, rank) for x in (stride, padding, dilation, extra)), strict=True)
        )
    ]
    return biased(b, spread(b, input, weight, stride, padding, sizes, dilation, groups), bias)


def _by_name(
    b: Builder, input: Value, weight: Value, padding: str, stride: Sizes, dilation: Sizes
) -> tuple[Value, int | list[int]]:
    if padding == "valid":
        return input, 0
    totals = [d * (b.known(dim, "convolution") - 1) for d, dim in zip(dilation, weight.dims[2:], strict=True)]
    if all(total % 2 == 0 for total in totals):
        return input, [total // 2 for total in totals]
    uneven = [side for total in reversed(totals) for side in (total // 2, total - total // 2)]
    return constant_pad(b, input, uneven, 0.0), 0


@operator("conv1d.default", "conv2d.default", "conv3d.default", "conv1d.padding", "conv2d.padding", "conv3d.padding")
def conv(
    b: Builder, input: Value, weight: Value, bias: Value | None, stride: Any, padding: Any, dilation: Any, groups: int
) -> Value:
    return convolve(b, input, weight, bias, stride, padding, dilation, False, 0, groups)


@operator("conv_transpose1d.default", "conv_transpose2d.input", "conv_transpose3d.input")
def conv_transpose(
    b: Builder,
    input: Value,
    weight: Value,
    bias: Value | None,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
) -> Value:
    return convolve(b, input, weight, bias, stride, padding, dilation, True, output_padding, groups)


@operator("convolution.default", "_convolution.default")
def convolution(
    b: Builder,
    input: Value,
    weight: Value,
    bias: Value | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Value:
    return convolve(b, input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)


@operator("convolution_backward.default")
def convolution_backward(
    b: Builder,
    grad_output: Value,
    input: Value,
    weight: Value,
    bias_sizes: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
    output_mask: Sequence[bool],
) -> tuple[Value | None, Value | None, Value | None]:
    """The gradients of a convolution by its input, its weight and its bias."""
    sizes = [b.size(dim) for dim in input.dims[2:]]
    by_input = by_weight = None
    if output_mask[0] and transposed:
        by_input = correlate(b, grad_output, weight, stride, padding, dilation, groups)
    elif output_mask[0]:
        by_input = spread(b, grad_output, weight, stride, padding, sizes, dilation, groups)
    if output_mask[1]:
        # Transposed, the input meets the weight as the gradient of the output does otherwise.
        outer, inner = (input, grad_output) if transposed else (grad_output, input)
        by_weight = _by_weight(b, outer, inner, weight, stride, padding, dilation, groups)
    others = [d for at, d in enumerate(grad_output.dims) if at != 1]
    by_bias = (
        b.value(b.fold("sum", grad_output.term, others), [grad_output.dims[1]], "float32") if output_mask[2] else None
    )
    return by_input, by_weight, by_bias


def _by_weight(
    b: Builder, grad: Value, input: Value, weight: Value, stride: Any, padding: Any, dilation: Any, groups: int
) -> Value:
    rank = len(weight.dims) - 2
    sizes, shape = [b.size(d) for d in input.dims], [b.size(d) for d in weight.dims]
    channels_in, channels_out = (
        b.size(v.dims[1]) if groups == 1 else b.known(v.dims[1], "convolution") // groups for v in (input, grad)
    )
    value = b.view(b.real(input), [sizes[0], groups, channels_in, *sizes[2:]])
    outer = b.view(
        b.real(grad),
        [b.size(grad.dims[0]), groups, channels_out, *[b.size(d) for d in grad.dims[2:]]],
    )
    group = outer.dims[1] or value.dims[1]
    channels = b.apart(value.dims[2], [group, outer.dims[2], outer.dims[0], *outer.dims[3:]], "in channels")
    places: dict[str, Term] = {}
    masks, window = list[Term](), list[Dim]()
    for at, (s, p, d) in enumerate(zip(*(several(x, rank) for x in (stride, padding, dilation)), strict=True)):
        own, new = value.dims[3 + at], outer.dims[3 + at]
        taps = shape[2 + at]
        tap = b.fresh(taps, "tap", at)
        window.append(tap)
        place = window_place(b.at(new), s, b.at(tap), d, p)
        masks += inside(b, place, -p, (b.size(new) - 1) * s + (taps - 1) * d - p, own)
        places |= b.coordinates(own, place)
    for old, onto in ((value.dims[0], outer.dims[0]), (value.dims[1], group), (value.dims[2], channels)):
        if old != onto and old:
            b.wires.meet(old, onto)
            places |= b.coordinates(old, b.at(onto))
    mask = every(masks)
    shown = elsewhere(value.term, places)
    shown = shown if mask is None else nq.where(mask, shown, 0.0)
    term = b.fold("sum", shown * outer.term, [outer.dims[0], *outer.dims[3:]][::-1])
    return b.value(term, ((*group, *outer.dims[2]), channels, *window), "float32")


def apart() -> dict[Any, Any]:
    """Return how PyTorch takes a convolution and its bias apart, as Inductor has them: what comes after may add it."""
    import torch

    alone = torch.ops.aten.convolution.default

    def added(x: Any, weight: Any, bias: Any, *said: Any) -> Any:
        if bias is None:
            return NotImplemented
        return alone(x, weight, None, *said) + bias.view(*bias.shape, *([1] * (weight.dim() - 2)))

    return {alone: added}
