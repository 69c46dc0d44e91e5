"""Rules of pooling: the largest, or the mean, of windows; and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import napkin_eq.frontend.library as nq
from napkin_eq.lang.term import Const, Term, as_real, lift
from napkin_eq.pytorch.build.builder import NEGATIVE, Builder, Value, elsewhere
from napkin_eq.pytorch.build.table import enter, operator
from napkin_eq.pytorch.build.wires import Dim
from napkin_eq.pytorch.operators.convolutions import every, inside, several, window_place
from napkin_eq.pytorch.operators.reductions import before, first_place, unplaced, unseen


def out_size(size: int, window: int, stride: int, padding: int, dilation: int, ceil: bool) -> int:
    """Return how many windows there are; with `ceil` a last one may hang over the end, if it starts inside."""
    room = size + 2 * padding - dilation * (window - 1) - 1
    found = (-(-room // stride) if ceil else room // stride) + 1
    return found - 1 if ceil and (found - 1) * stride >= size + padding else found


def _windows(b: Builder, value: Value, at: int) -> Any:
    """Return how many windows there are along a symbolic dimension, as PyTorch has it."""
    if len(b.result) != len(value.dims) or b.place[-1].partition(".")[0].endswith("_backward"):
        b.known(value.dims[at], "pooling")
    return b.result[at]


class Windows:
    """The windows of a pooling over the last dimensions: their places, their masks, the wires of windows and of
    places inside.
    """

    def __init__(
        self, b: Builder, self_: Value, rank: int, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool
    ) -> None:
        kernels = several(kernel, rank)
        strides, paddings, dilations = (
            several(stride, rank) if stride else kernels,
            several(padding, rank),
            several(dilation, rank),
        )
        self.first = len(self_.dims) - rank
        self.own = self_.dims[self.first :]
        self.sizes = [b.size(d) for d in self.own]
        self.places, self.spatial, self.window = list[Term](), list[Dim](), list[Dim]()
        masks: list[Term] = []
        coordinates: dict[str, Term] = {}
        self.kernels, self.strides, self.paddings, self.ceil = kernels, strides, paddings, ceil
        for at, (size, k, s, p, d) in enumerate(zip(self.sizes, kernels, strides, paddings, dilations, strict=True)):
            count = out_size(size, k, s, p, d, ceil) if isinstance(size, int) else _windows(b, self_, self.first + at)
            new, tap = b.fresh(count, "out", at), b.fresh(k, "tap", at)
            place = window_place(b.at(new), s, b.at(tap), d, p)
            self.places.append(place)
            self.spatial.append(new)
            self.window.append(tap)
            # The last window hangs over the end only by its padding, or where it is rounded up
            last = (b.size(new) - 1) * s + (k - 1) * d - p if p or ceil or isinstance(size, int) else None
            masks += inside(b, place, -p, last, self.own[at])
            coordinates |= b.coordinates(self_.dims[self.first + at], place)
        self.mask = every(masks)
        self.value = elsewhere(b.real(self_).term, coordinates)
        self.dims = (*self_.dims[: self.first], *self.spatial)

    def masked(self, other: float) -> Term:
        return self.value if self.mask is None else nq.where(self.mask, self.value, other)


def _largest(
    b: Builder, self: Value, rank: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> tuple[Value, Value]:
    found = Windows(b, self, rank, kernel_size, stride, padding, dilation, ceil_mode)
    unseen(b, self, plain=True)
    shown = found.masked(NEGATIVE)
    largest = b.fold("max", shown, found.window)
    flat: Term = Const(0)
    for place, dim in zip(found.places, found.own, strict=True):
        flat = place if flat is Const(0) else flat * b.length(dim) + place
    size = b.count(found.own)
    if b.undefined:
        first = _taken(b, shown, largest, flat, size, found.mask, found.window)
    else:
        chosen = nq.equal(shown, largest) if found.mask is None else nq.equal(shown, largest) & found.mask
        first = first_place(b, chosen, flat, size, found.window)
    unplaced(b, self, first, plain=b.undefined)
    return b.value(largest, found.dims, self.dtype), b.value(first, found.dims, "int64")


def _taken(
    b: Builder, shown: Term, largest: Term, place: Term, size: Term, mask: Term | None, window: Sequence[Dim]
) -> Term:
    """Return the place that each window takes: the first of its largest number, and the last NaN if it holds one, of
    which no comparison is true.
    """
    at, last = as_real(place), before(size)
    # What is not NaN comes before every place.
    undefined = nq.where(shown < 0.0, -1.0, nq.where(lift(0.0) <= shown, -2.0, at + size))
    key = nq.where(shown < largest, -1.0, nq.where(largest <= shown, last - at, undefined))
    key = key if mask is None else nq.where(mask, key, -1.0)
    found = b.fold("max", key, window)
    return nq.where(found <= last, last - found, found - size)


def _max_pool(rank: int, places: bool) -> Any:
    def rule(
        b: Builder, self: Value, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
    ) -> Any:
        found = _largest(b, self, rank, kernel_size, stride, padding, dilation, ceil_mode)
        return found if places else found[0]

    return rule


for _rank in (1, 2, 3):
    enter(f"max_pool{_rank}d.default", _max_pool(_rank, False))
    enter(f"max_pool{_rank}d_with_indices.default", _max_pool(_rank, True))


def _avg_pool(rank: int) -> Any:
    def rule(
        b: Builder,
        self: Value,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: int | None = None,
    ) -> Value:
        found = Windows(b, self, rank, kernel_size, stride, padding, 1, ceil_mode)
        total = b.fold("sum", found.masked(0.0), found.window)
        return b.value(total * _divisor(b, found, count_include_pad, divisor_override), found.dims, "float32")

    return rule


def _divisor(b: Builder, found: Windows, count_include_pad: bool, override: int | None) -> Term:
    """Return one over the number of elements of a window: those inside, or those of the padded input."""
    if override:
        return lift(1.0 / override)
    divisor: Term | None = None
    constant = 1
    for new, own, size, k, s, p in zip(
        found.spatial, found.own, found.sizes, found.kernels, found.strides, found.paddings, strict=True
    ):
        start = window_place(b.at(new), s, Const(0), 1, p)
        pad = p if count_include_pad else 0
        low, high = -pad, size + pad if isinstance(size, int) else b.length(own) + pad
        within = not found.ceil if not isinstance(size, int) else (b.size(new) - 1) * s - p + k <= size + p
        if (p == 0 or count_include_pad) and within:
            constant *= k
            continue
        end = nq.minimum(start + k, high)
        own = as_real(end - (start if count_include_pad or p == 0 else nq.maximum(start, low)))
        divisor = own if divisor is None else divisor * own
    scale = lift(1.0 / constant)
    return scale if divisor is None else nq.reciprocal(divisor) * scale


for _rank in (1, 2, 3):
    enter(f"avg_pool{_rank}d.default", _avg_pool(_rank))


def adaptive(b: Builder, self: Value, output: Sequence[int], largest: bool) -> Value:
    """Return the mean, or the largest, of windows that share a dimension out evenly: from ⌊y·n/out⌋ to
    ⌈(y+1)·n/out⌉.
    """
    first = len(self.dims) - len(output)
    value, dims = b.real(self), list(self.dims)
    for at, out in enumerate(output, first):
        size = b.size(value.dims[at])
        if out == size:
            continue
        if isinstance(out, int) and out == 1:
            dims = [*value.dims[:at], (), *value.dims[at + 1 :]]
            over = value.dims[at]
            term = b.fold("max", value.term, [over]) if largest else b.mean(value.term, [over])
        elif isinstance(size, int) and isinstance(out, int) and size % out == 0:
            shape = [b.size(d) for d in value.dims]
            cut = b.view(value, [*shape[:at], out, size // out, *shape[at + 1 :]])
            over, dims = cut.dims[at + 1], [*cut.dims[: at + 1], *cut.dims[at + 2 :]]
            term = b.fold("max", cut.term, [over]) if largest else b.mean(cut.term, [over])
        else:
            new, own = b.fresh(out, "out", at), value.dims[at]
            lies = every(_shared_out(b, own, new))
            assert lies is not None
            dims = [*value.dims[:at], new, *value.dims[at + 1 :]]
            masked = nq.where(lies, value.term, NEGATIVE if largest else 0.0)
            term = b.fold("max" if largest else "sum", masked, [own])
            term = term if largest else term * nq.reciprocal(_elements(b, own, new))
        value = b.value(term, dims, value.dtype)
    return value


def _adaptive(largest: bool) -> Any:
    def rule(b: Builder, self: Value, output_size: Sequence[int]) -> Value:
        return adaptive(b, self, output_size, largest)

    return rule


for _rank in (1, 2, 3):
    enter(f"adaptive_avg_pool{_rank}d.default", _adaptive(False))
enter("_adaptive_avg_pool2d.default", _adaptive(False))
enter("_adaptive_avg_pool3d.default", _adaptive(False))


def _shared_out(b: Builder, own: Dim, out: Dim) -> list[Term]:
    """Return the masks of the elements that lie in each of the windows that share a dimension out evenly."""
    if not out:
        return []
    size, count = b.length(own), b.length(out)
    low, high = b.at(out) * size // count, ((b.at(out) + 1) * size + _less(count)) // count
    return [low <= b.at(own), b.at(own) < high]


def _less(count: Term) -> Term:
    return Const(int(count.value) - 1) if isinstance(count, Const) else count + (-1)


def _elements(b: Builder, own: Dim, out: Dim) -> Term:
    """Return how many elements lie in each of the windows that share a dimension out."""
    size, count = b.length(own), b.length(out)
    return as_real(((b.at(out) + 1) * size + _less(count)) // count - b.at(out) * size // count)


def _placed(b: Builder, self: Value, output_size: Sequence[int]) -> tuple[Value, Value]:
    unseen(b, self, plain=True)
    front = len(self.dims) - len(output_size)
    dims = self.dims[front:]
    largest = adaptive(b, self, output_size, True)
    new = [b.fresh(out, "out", at) for at, out in enumerate(output_size)]
    left = (*self.dims[:front], *new)
    lies = every([part for own, out in zip(dims, new, strict=True) for part in _shared_out(b, own, out)])
    shown, most = b.real(self).term, b.moved(largest, largest.dims, left)
    flat, size = b.at(tuple(a for d in dims for a in d)), b.count(dims)
    if b.undefined:
        first = _taken(b, shown, most, flat, size, lies, dims)
    else:
        same = nq.equal(shown, most)
        first = first_place(b, same if lies is None else same & lies, flat, size, dims)
    unplaced(b, self, first, plain=b.undefined)
    return largest, b.value(first, left, "int64")


for _rank in (1, 2, 3):
    enter(f"adaptive_max_pool{_rank}d.default", _placed)


@operator("adaptive_max_pool2d_backward.default", "adaptive_max_pool3d_backward.default")
def adaptive_max_backward(b: Builder, grad_output: Value, self: Value, indices: Value) -> Value:
    return max_pool_backward(b, grad_output, self, None, None, None, None, False, indices)


@operator("max_pool2d_with_indices_backward.default", "max_pool3d_with_indices_backward.default")
def max_pool_backward(
    b: Builder,
    grad_output: Value,
    self: Value,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    indices: Value,
) -> Value:
    """Each gradient goes to the place that its window took."""
    rank = 3 if "3d" in b.place[-1] else 2
    windows = indices.dims[-rank:]
    onto = tuple(self.dims[:-rank])
    grads = b.moved(grad_output, grad_output.dims, (*onto, *windows))
    places = b.moved(indices, indices.dims, (*onto, *windows))
    clash = {a for d in windows for a in d} & {a for d in self.dims[-rank:] for a in d}
    spatial = tuple(b.fresh(b.size(d), "place", at) if clash else d for at, d in enumerate(self.dims[-rank:]))
    here = as_real(b.at(tuple(a for d in spatial for a in d)))
    term = b.fold("sum", nq.where(nq.equal(as_real(places), here), grads, 0.0), windows)
    return b.value(term, (*onto, *spatial), "float32")


@operator("avg_pool2d_backward.default", "avg_pool3d_backward.default")
def avg_pool_backward(
    b: Builder,
    grad_output: Value,
    self: Value,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Value:
    """Each gradient goes to the elements of its window, in equal parts."""
    rank = 3 if "3d" in b.place[-1] else 2
    found = Windows(b, self, rank, kernel_size, stride, padding, 1, ceil_mode)
    onto = (*self.dims[:-rank], *found.spatial)
    grads = b.moved(grad_output, grad_output.dims, onto) * _divisor(b, found, count_include_pad, divisor_override)
    spatial = [b.fresh(b.size(d), "place", at) for at, d in enumerate(self.dims[-rank:])]
    hits: list[Term] = []
    for place, dim, k, s, p in zip(found.spatial, spatial, found.kernels, found.strides, found.paddings, strict=True):
        start = window_place(b.at(place), s, Const(0), 1, p)
        hits += [start <= b.at(dim), b.at(dim) < start + k]
    mask = every(hits)
    assert mask is not None
    return b.value(b.fold("sum", nq.where(mask, grads, 0.0), found.spatial), (*self.dims[:-rank], *spatial), "float32")


@operator("_adaptive_avg_pool2d_backward.default", "_adaptive_avg_pool3d_backward.default")
def adaptive_backward(b: Builder, grad_output: Value, self: Value) -> Value:
    """The gradient of a mean of windows that share the dimensions out."""
    value = b.real(grad_output)
    rank = 3 if "3d" in b.place[-1] else 2
    for at in range(len(self.dims) - rank, len(self.dims)):
        size, out = b.size(self.dims[at]), b.size(value.dims[at])
        if not (isinstance(size, int) and isinstance(out, int)) and out != 1:
            b.known(self.dims[at], "pooling")
            b.known(value.dims[at], "pooling")
        if out != 1 and size % out:
            own, dim = value.dims[at], b.fresh(size, "inner", at)
            lies = every(_shared_out(b, dim, own))
            assert lies is not None
            spread = nq.where(lies, value.term * nq.reciprocal(_elements(b, dim, own)), 0.0)
            value = b.value(b.fold("sum", spread, [own]), b.put(value, at, dim), value.dtype)
            continue
        inner = b.fresh(size if out == 1 else size // out, "inner", at)
        share = out / size if isinstance(size, int) else nq.reciprocal(b.count([inner]))
        value = b.value(value.term * share, b.put(value, at, (*value.dims[at], *inner)), value.dtype)
    return value
