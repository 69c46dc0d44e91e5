"""Rules of views and of other coordinates: shapes, parts, joins, shifts, windows, and places that data choose."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import napkin_eq.frontend.library as nq
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Const, Map, Term, as_real
from napkin_eq.pytorch.build.builder import Builder, Number, Value
from napkin_eq.pytorch.build.extents import canonical, computed, exact, quotient
from napkin_eq.pytorch.build.rolled import SHORTEST, rolled
from napkin_eq.pytorch.build.table import operator
from napkin_eq.pytorch.build.wires import Dim

END = 2**62
LEAST_HELD, MOST_HELD = 64, 1 << 11  # of a symbol, how many sizes are held against PyTorch's places of an image
MOST_DRAWN = 1 << 16  # places along an image of a symbolic size for which its places are shown to be quotients


@operator("view.default", "_unsafe_view.default")
def view(b: Builder, self: Value, size: Sequence[Any]) -> Value:
    return reshape(b, self, size)


@operator("reshape.default")
def reshape(b: Builder, self: Value, shape: Sequence[Any]) -> Value:
    if any(isinstance(s, int) and s == -1 for s in shape):
        every = math.prod((b.size(dim) for dim in self.dims), start=1)
        rest = math.prod((s for s in shape if not (isinstance(s, int) and s == -1)), start=1)
        shape = [quotient(every, rest) if isinstance(s, int) and s == -1 else s for s in shape]
    return b.view(self, shape)


@operator("flatten.using_ints")
def flatten(b: Builder, self: Value, start_dim: int, end_dim: int) -> Value:
    first, last = b.dim(self, start_dim), b.dim(self, end_dim)
    if not self.dims:
        return b.value(self.term, [()], self.dtype)
    merged = tuple(axis for dim in self.dims[first : last + 1] for axis in dim)
    return b.value(self.term, (*self.dims[:first], merged, *self.dims[last + 1 :]), self.dtype)


@operator("unflatten.int")
def unflatten(b: Builder, self: Value, dim: int, sizes: Sequence[Any]) -> Value:
    at = b.dim(self, dim)
    return reshape(b, self, [*map(b.size, self.dims[:at]), *sizes, *map(b.size, self.dims[at + 1 :])])


@operator("permute.default")
def permute(b: Builder, self: Value, dims: Sequence[int]) -> Value:
    return replace(self, dims=tuple(self.dims[b.dim(self, d)] for d in dims))


@operator("transpose.int")
def transpose(b: Builder, self: Value, dim0: int, dim1: int) -> Value:
    if not self.dims:
        return self
    order = list(self.dims)
    first, second = b.dim(self, dim0), b.dim(self, dim1)
    order[first], order[second] = order[second], order[first]
    return replace(self, dims=tuple(order))


@operator("t.default", "numpy_T.default")
def t(b: Builder, self: Value) -> Value:
    return replace(self, dims=self.dims[::-1])


@operator("unsqueeze.default")
def unsqueeze(b: Builder, self: Value, dim: int) -> Value:
    at = dim % (len(self.dims) + 1)
    return replace(self, dims=(*self.dims[:at], (), *self.dims[at:]))


@operator("squeeze.dim", "squeeze.dims", "squeeze.default")
def squeeze(b: Builder, self: Value, dim: Any = None) -> Value:
    chosen = b.dims(self, dim, empty=False)
    # A dimension of one element goes away, and a symbol is none where PyTorch asked
    open_sizes = [size for at in chosen if self.dims[at] and not isinstance(size := b.size(self.dims[at]), int)]
    b.limits += [("!=", size, 1, "") for size in open_sizes]
    return replace(self, dims=tuple(d for at, d in enumerate(self.dims) if at not in chosen or d))


@operator("expand.default")
def expand(b: Builder, self: Value, size: Sequence[Any]) -> Value:
    own = ((),) * (len(size) - len(self.dims)) + self.dims
    kept = [(isinstance(s, int) and s == -1) or bool(d) for d, s in zip(own, size, strict=True)]
    dims = [d if k else b.fresh(s, "expand", at) for at, (d, s, k) in enumerate(zip(own, size, kept, strict=True))]
    return b.value(self.term, dims, self.dtype)


@operator("copy.default")
def copy(b: Builder, self: Value, src: Value) -> Value:
    """What `self[...] = src` is once nothing is changed in place: the source, as long as what it is written over."""
    return expand(b, src, [b.size(dim) for dim in self.dims])


@operator("repeat.default")
def repeat(b: Builder, self: Value, repeats: Sequence[int]) -> Value:
    """Each dimension beside itself some times: the wire of the times varies slowest."""
    own = ((),) * (len(repeats) - len(self.dims)) + self.dims
    dims = [(*b.fresh(times, "times", at), *dim) for at, (times, dim) in enumerate(zip(repeats, own, strict=True))]
    return b.value(self.term, dims, self.dtype)


@operator("repeat_interleave.self_int")
def repeat_interleave(b: Builder, self: Value, repeats: int, dim: int | None) -> Value:
    if dim is None:
        return repeat_interleave(b, flatten(b, self, 0, -1), repeats, 0)
    at = b.dim(self, dim)
    return b.value(self.term, b.put(self, at, (*self.dims[at], *b.fresh(repeats, "times"))), self.dtype)


# Parts.


def _bounds(start: Any, end: Any, size: int) -> tuple[int, int]:
    low, high = (0 if start is None else start), (END if end is None else end)
    low, high = (bound + size if bound < 0 else bound for bound in (low, high))
    return min(max(low, 0), size), min(max(high, 0), size)


@operator("slice.Tensor")
def slice_of(b: Builder, self: Value, dim: int, start: Any, end: Any, step: int) -> Value:
    at = b.dim(self, dim)
    if (start in (0, None)) and (end is None or (isinstance(end, int) and end >= END)) and step == 1:
        return self
    size = b.size(self.dims[at])
    if not all(isinstance(s, int) for s in (size, 0 if start is None else start, END if end is None else end)):
        return _open_slice(b, self, at, start, end, step)
    low, high = _bounds(start, end, size)
    if (low, step) == (0, 1) and high == size:
        return self
    return part(b, self, at, low, max(0, -(-(high - low) // step)), step)


def _open_slice(b: Builder, self: Value, at: int, start: Any, end: Any, step: int) -> Value:
    """Return a slice of which the size or a bound is a symbol: how many places there are is what PyTorch found by what
    it knows of the symbols.
    """
    size = b.size(self.dims[at])
    if not b.result:
        raise NapkinError(f"a slice of a symbolic size {size} in a function that is applied elsewhere")
    count = b.result[at]
    low = 0 if start is None else start
    if (low, step) == (0, 1) and count == size:
        return self
    high = size if end is None or (isinstance(end, int) and end >= END) else end
    high = high + size if isinstance(high, int) and high < 0 else high
    if isinstance(low, int) and low >= 0:
        return part(b, self, at, low, count, step)
    # From the end, as long as that is no place before the first; a symbol may say either.
    if step == 1 and canonical(high - low - size) == count:
        return part(b, self, at, b.length(self.dims[at]) + b.term(low), count)
    if step == 1 and not isinstance(low, int) and canonical(high - low) == count:
        return part(b, self, at, b.term(low), count)
    if not isinstance(low, int):
        raise NapkinError(f"a slice from {low} on of {size} elements: PyTorch does not tell where it begins")
    return part(b, self, at, Map("max", (b.length(self.dims[at]) + low, Const(0))), count, step)


def part(b: Builder, self: Value, at: int, start: int | Term, size: Any, step: int = 1, *tag: Any) -> Value:
    """Return some places along a dimension, from a start, each a step after the one before."""
    new = b.fresh(size, "part", *tag)
    place = b.at(new) * step if step != 1 else b.at(new)
    still = isinstance(start, int) and not start
    return b.read(self, {at: place if still else place + start}, b.put(self, at, new))


@operator("select.int")
def select(b: Builder, self: Value, dim: int, index: Any) -> Value:
    at = b.dim(self, dim)
    size, rest = b.size(self.dims[at]), (*self.dims[:at], *self.dims[at + 1 :])
    if isinstance(index, int) and (isinstance(size, int) or index >= 0):
        return b.read(self, {at: Const(index + size if index < 0 else index)}, rest)
    place = b.term(index)
    if isinstance(index, int):
        place = b.length(self.dims[at]) + index
    elif not index.is_nonnegative:
        place = nq.where(place < 0, place + b.length(self.dims[at]), place)
    return b.read(self, {at: place}, rest)


@operator("split.Tensor", "split.default")
def split(b: Builder, self: Value, split_size: int, dim: int) -> tuple[Value, ...]:
    size = b.known(self.dims[b.dim(self, dim)], "split")
    return split_sizes(b, self, [min(split_size, size - low) for low in range(0, size, split_size)], dim)


@operator("split_with_sizes.default")
def split_sizes(b: Builder, self: Value, split_sizes: Sequence[int], dim: int) -> tuple[Value, ...]:
    at, low, found = b.dim(self, dim), 0, []
    for number, size in enumerate(split_sizes):
        found.append(part(b, self, at, low, size, 1, number))
        low += size
    return tuple(found)


@operator("chunk.default")
def chunk(b: Builder, self: Value, chunks: int, dim: int) -> tuple[Value, ...]:
    size = b.known(self.dims[b.dim(self, dim)], "chunk")
    return split(b, self, -(-size // chunks), dim)


@operator("unbind.int")
def unbind(b: Builder, self: Value, dim: int) -> tuple[Value, ...]:
    return tuple(select(b, self, dim, at) for at in range(b.known(self.dims[b.dim(self, dim)], "unbind")))


@operator("diagonal.default")
def diagonal(b: Builder, self: Value, offset: int, dim1: int, dim2: int) -> Value:
    first, second = b.dim(self, dim1), b.dim(self, dim2)
    up, down = max(offset, 0), max(-offset, 0)
    sizes = [b.size(self.dims[d]) for d in (first, second)]
    known = all(isinstance(size, int) for size in sizes)
    count = min(sizes[0] - down, sizes[1] - up) if known else b.given(len(self.dims) - 2, sizes[0])
    new = b.fresh(count, "diagonal")
    places = {first: b.at(new) + down if down else b.at(new), second: b.at(new) + up if up else b.at(new)}
    return b.read(self, places, (*[d for at, d in enumerate(self.dims) if at not in places], new))


# Joins and shifts.


@operator("cat.default")
def cat(b: Builder, tensors: Sequence[Value | None], dim: int) -> Value:
    parts = [value for value in tensors if value is not None and value.dims]  # of no elements is None
    at = b.dim(parts[0], dim)
    sizes = [b.size(value.dims[at]) for value in parts]
    if all(size == 1 for size in sizes) and (found := _loop(b, parts, at)) is not None:
        return found
    new = b.fresh(sum(sizes), "cat")
    place, term, dims = b.at(new), None, None
    low: int | Term = 0
    real = any(not (v.whole or v.truth) for v in parts)
    for value, size in zip(parts, sizes, strict=True):
        value = b.real(value) if real else b.number(value)
        own = b.read(value, {at: place if term is None else place - low}, b.put(value, at, new))
        if term is None or dims is None:
            term, dims = own.term, own.dims
        else:
            term = nq.where(place < low, term, b.moved(own, own.dims, dims))
        low = low + (size if isinstance(size, int) else b.length(value.dims[at]))
    assert term is not None and dims is not None
    if all(v.truth for v in parts):
        return b.mask(b.value(term, dims, "int64"))
    return b.value(term, dims, next((v.dtype for v in parts if not (v.whole or v.truth)), parts[0].dtype))


def _loop(b: Builder, parts: Sequence[Value], at: int) -> Value | None:
    """Return what a loop gave turn by turn as one value, where it is found that the turns are one step with a state."""
    if len(parts) < SHORTEST or any(part.whole or part.truth for part in parts):
        return None
    axis = b.whole(len(parts), "loop")
    dims = parts[0].dims
    found = rolled([b.real(b.moved_value(part, dims)).term for part in parts], axis)
    if found is None:
        return None
    b.known_states.update(found[1])
    return b.value(found[0], b.put(parts[0], at, (axis,)), parts[0].dtype)


@operator("stack.default")
def stack(b: Builder, tensors: Sequence[Value], dim: int) -> Value:
    at = dim % (len(tensors[0].dims) + 1)
    return cat(b, [unsqueeze(b, value, at) for value in tensors], at)


def _last(b: Builder, dim: Dim) -> int | Term:
    """Return the last place along a dimension."""
    size = b.size(dim)
    return size - 1 if isinstance(size, int) else b.length(dim) + (-1)


@operator("flip.default")
def flip(b: Builder, self: Value, dims: Sequence[int]) -> Value:
    places = (
        {d: _last(b, self.dims[d]) - b.at(self.dims[d]) for d in b.dims(self, dims) if self.dims[d]}
        if dims
        else {}
    )
    return b.read(self, places, self.dims)


@operator("roll.default")
def roll(b: Builder, self: Value, shifts: Sequence[int], dims: Sequence[int]) -> Value:
    if not dims:
        return reshape(b, roll(b, flatten(b, self, 0, -1), shifts, [0]), [b.size(d) for d in self.dims])
    for shift, dim in zip(shifts, dims, strict=True):
        at = b.dim(self, dim)
        if self.dims[at]:
            size, place = b.size(self.dims[at]), b.at(self.dims[at])
            if isinstance(size, int) and isinstance(shift, int):
                place = (place + (-shift) % size) % size
            else:  # of what is below 0 no rest is taken
                whole = b.length(self.dims[at])
                back = isinstance(shift, int) and shift < 0
                place = (place + (-shift if back else whole - b.term(shift) % whole)) % whole
            self = b.read(self, {at: place}, self.dims)
    return self


@operator("constant_pad_nd.default")
def constant_pad(b: Builder, self: Value, pad: Sequence[int], value: Number) -> Value:
    # PyTorch pads whole numbers with 0.0.
    value = b.scalar(int(value) if self.whole and isinstance(value, float) and value.is_integer() else value)
    if self.truth:
        return b.mask(constant_pad(b, b.number(self), pad, b.number(value)))
    for number in range(len(pad) // 2):
        before, after, at = pad[2 * number], pad[2 * number + 1], len(self.dims) - 1 - number
        if before == 0 and after == 0:
            continue
        size = b.size(self.dims[at])
        new = b.fresh(size + before + after, "pad", at)
        place = b.at(new) if before == 0 else b.at(new) - (before if isinstance(before, int) else b.term(before))
        low, high = (not isinstance(end, int) or end > 0 for end in (before, after))
        inside = [*([Const(0) <= place] if low else []), *([place < b.length(self.dims[at])] if high else [])]
        own = b.read(self, {at: place}, b.put(self, at, new))
        if inside:
            mask = inside[0] if len(inside) == 1 else inside[0] & inside[1]
            term, filler = own.term, value.term
            own = replace(own, term=nq.where(mask, term, filler if term.kind == "int" else as_real(filler)))
        self = own
    return self


@operator("upsample_nearest1d.default")
def upsample_nearest1d(b: Builder, self: Value, output_size: Sequence[int], scales: float | None = None) -> Value:
    return _nearest(b, self, output_size, (scales,))


@operator("upsample_nearest2d.default")
def upsample_nearest2d(
    b: Builder,
    self: Value,
    output_size: Sequence[int],
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> Value:
    return _nearest(b, self, output_size, (scales_h, scales_w))


@operator("upsample_nearest3d.default")
def upsample_nearest3d(
    b: Builder,
    self: Value,
    output_size: Sequence[int],
    scales_d: float | None = None,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> Value:
    return _nearest(b, self, output_size, (scales_d, scales_h, scales_w))


@operator("upsample_nearest1d.vec", "upsample_nearest2d.vec", "upsample_nearest3d.vec")
def upsample_nearest(
    b: Builder, input: Value, output_size: Sequence[int] | None, scale_factors: Sequence[float] | None
) -> Value:
    factors = scale_factors or ()
    first = len(input.dims) - len(output_size or factors)
    own = [b.size(dim) for dim in input.dims[first:]]
    sizes = output_size or [
        int(size * factor) if isinstance(size, int) else b.given(first + at, size)
        for at, (size, factor) in enumerate(zip(own, factors, strict=True))
    ]
    return _nearest(b, input, sizes, tuple(factors) or (None,) * len(sizes))


def _nearest(b: Builder, value: Value, sizes: Sequence[int], scales: Sequence[float | None]) -> Value:
    """Return an image drawn in other sizes, each place a quotient of the new one's."""
    for number, (size, scale) in enumerate(zip(sizes, scales, strict=True)):
        dim = len(value.dims) - len(sizes) + number
        own = b.size(value.dims[dim])
        new = b.fresh(size, "nearest", dim)
        if isinstance(own, int) and isinstance(size, int):
            times, by = nearest_places(own, size, scale)
            place = b.at(new) // by if times == 1 else b.at(new) * times // by
        else:
            place = _open_nearest(b, new, value.dims[dim], size, scale)
        value = b.read(value, {dim: place} if value.dims[dim] else {}, b.put(value, dim, new))
    return value


def nearest_places(own: int, size: int, scale: float | None) -> tuple[int, int]:
    """Return whole numbers by which the new places, times the one by the other, are those of PyTorch, which takes them
    times a number of float32; raises NapkinError where there are none.
    """
    step, places = _drawn_of(own, size, scale)
    for part in (Fraction(own, size), *_quotients(step)):
        if all(place == min(at * part.numerator // part.denominator, own - 1) for at, place in enumerate(places)):
            return part.numerator, part.denominator
    raise NapkinError(f"the nearest of {own} places at {size}, {float(step):g} times them, are those of no quotient")


def _drawn_of(own: int, size: int, scale: float | None) -> tuple[Any, Any]:
    """Return the number of float32 by which PyTorch multiplies new places, and what it draws them of."""
    import numpy as np

    step = np.float32(1.0 / scale) if scale else np.float32(own) / np.float32(size)
    return step, np.minimum(np.floor(np.arange(size, dtype=np.float32) * step), own - 1)


def _quotients(step: Any) -> list[Fraction]:
    return [Fraction(float(step)).limit_denominator(1 << most) for most in (4, 8, 12, 16)]


def _open_nearest(b: Builder, new: Dim, dim: Dim, size: Any, scale: float | None) -> Term:
    """Return the place of which each of an image of a symbolic size is drawn: a whole number of times as large it is a
    quotient by that, and of a power of two of places a number of float32 that is exact; others are held against
    PyTorch's for each size up to a bound.
    """
    import numpy as np

    own, place = b.size(dim), b.at(new)
    times = exact(size, own)
    if isinstance(times, int) and (scale is None or scale == times):
        step = np.float32(1.0 / scale) if scale else np.float32(1.0) / np.float32(times)
        places = np.arange(MOST_DRAWN, dtype=np.float32)
        if (np.floor(places * step) == np.arange(MOST_DRAWN) // times).all():
            return place // times
    if isinstance(size, int) and not scale and size & (size - 1) == 0:
        return place * b.length(dim) // size
    if b.bounded and (found := _bounded(own, size, scale)) is not None:
        symbol, bound, part = found
        b.limits.append(("<=", symbol, bound, ""))
        if part is None:
            return place * b.length(dim) // b.length(new)
        return nq.minimum(place * part.numerator // part.denominator, b.length(dim) + (-1))
    raise NapkinError(
        f"the nearest of {own} places at {size}: only whole multiples, a power of two of places, and sizes of one"
        f" symbol that are drawn at quotients up to {LEAST_HELD} of it are known"
    )


def _bounded(own: Any, size: Any, scale: float | None) -> tuple[Any, int, Fraction | None] | None:
    """Return the one symbol of two sizes, and up to which number of it the places of an image are quotients: by a
    fraction or, where that is None, of the two sizes. None where that is not far.
    """
    import numpy as np

    symbols = sorted({s for number in (own, size) for s in getattr(number, "free_symbols", ())}, key=str)
    if len(symbols) != 1:
        return None
    sizes = computed(symbols, (own, size))

    def agree(number: int, part: Fraction | None) -> bool:
        here, there = sizes(number)
        if here < 1 or there < 1:
            return True  # no such image is there
        places = np.arange(there)
        shown = places * here // there if part is None else places * part.numerator // part.denominator
        return bool((np.minimum(shown, here - 1) == _drawn_of(here, there, scale)[1]).all())

    for part in _quotients(np.float32(1.0 / scale)) if scale else [None]:
        bound = next((number - 1 for number in range(1, MOST_HELD + 1) if not agree(number, part)), MOST_HELD)
        if bound >= LEAST_HELD:
            return symbols[0], bound, part
    return None


def _mirrored(place: Term, size: int | Term) -> Term:
    place = Map("max", (place, -place))
    return nq.minimum(place, (size - 1 if isinstance(size, int) else size + (-1)) * 2 - place)


def _repeated(place: Term, size: int | Term) -> Term:
    return nq.minimum(nq.maximum(place, 0), size - 1 if isinstance(size, int) else size + (-1))


@operator("reflection_pad1d.default", "reflection_pad2d.default", "reflection_pad3d.default")
def reflection_pad(b: Builder, self: Value, padding: Sequence[int]) -> Value:
    return _padded(b, self, padding, _mirrored)


@operator("replication_pad1d.default", "replication_pad2d.default", "replication_pad3d.default")
def replication_pad(b: Builder, self: Value, padding: Sequence[int]) -> Value:
    return _padded(b, self, padding, _repeated)


@operator("pad.default")
def pad(b: Builder, self: Value, pad: Sequence[int], mode: str, value: Any) -> Value:
    if mode == "constant":
        return constant_pad(b, self, pad, 0 if value is None else value)
    ways = {
        "reflect": _mirrored,
        "replicate": _repeated,
        # At most as much is padded as there is, and of what is below 0 no rest is taken
        "circular": lambda p, size: p % size if isinstance(size, int) else (p + size) % size,
    }
    return _padded(b, self, pad, ways[mode])


def _padded(b: Builder, self: Value, padding: Sequence[int], way: Any) -> Value:
    for number in range(len(padding) // 2):
        before, after, at = padding[2 * number], padding[2 * number + 1], len(self.dims) - 1 - number
        size = b.size(self.dims[at])
        new = b.fresh(size + before + after, "pad", at)
        length = size if isinstance(size, int) else b.length(self.dims[at])
        place = b.at(new) - (before if isinstance(before, int) else b.term(before))
        self = b.read(self, {at: way(place, length)}, b.put(self, at, new))
    return self


@operator("unfold.default")
def unfold(b: Builder, self: Value, dimension: int, size: int, step: int) -> Value:
    at = b.dim(self, dimension)
    new = b.fresh(b.given(at, quotient(b.size(self.dims[at]) - size, step) + 1), "windows")
    inner = b.fresh(size, "inner")
    return b.read(self, {at: b.at(new) * step + b.at(inner)}, (*b.put(self, at, new), inner))


@operator("im2col.default")
def im2col(b: Builder, self: Value, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Value:
    padded = constant_pad(b, self, [p for p in reversed(padding) for _ in range(2)], 0.0)
    at, dims, places = len(self.dims) - 2, list(padded.dims), dict[int, Term]()
    windows, inner = list[Dim](), list[Dim]()
    for number, (k, d, s) in enumerate(zip(kernel_size, dilation, stride, strict=True)):
        size = b.size(padded.dims[at + number])
        windows.append(b.fresh(quotient(size - d * (k - 1) - 1, s) + 1, "windows", number))
        inner.append(b.fresh(k, "inner", number))
        places[at + number] = b.at(windows[-1]) * s + b.at(inner[-1]) * d
    channels = (*dims[at - 1], *inner[0], *inner[1])
    return b.read(padded, places, (*dims[: at - 1], channels, (*windows[0], *windows[1])))


@operator("as_strided.default", "as_strided_copy.default")
def as_strided(
    b: Builder, self: Value, size: Sequence[int], stride: Sequence[int], storage_offset: int | None
) -> Value:
    """Return what lies in memory at strides of its own, of a tensor whose elements lie side by side from
    the beginning.
    """
    sizes = [b.known(dim, "as_strided") for dim in self.dims]
    plain = [math.prod(sizes[at + 1 :]) for at in range(len(sizes))]
    last = (storage_offset or 0) + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if b.memory != (tuple(plain), 0) or last >= math.prod(sizes):
        raise NapkinError("as_strided of what does not lie side by side in memory, or past it")
    flat = reshape(b, self, [-1])
    dims = [b.fresh(n, "strided", number) for number, n in enumerate(size)]
    place: Term = Const(storage_offset or 0)
    for dim, step in zip(dims, stride, strict=True):
        place = place + b.at(dim) * step if dim and step else place
    return b.read(flat, {0: place}, dims) if flat.dims[0] else replace(flat, dims=tuple(dims))
