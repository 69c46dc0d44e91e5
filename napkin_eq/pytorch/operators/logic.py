"""Rules of comparisons, masks and choices, of types and of constants."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import napkin_eq.frontend.library as nq
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.interval import interval
from napkin_eq.lang.term import Const, Index, Input, Length, Map, Reduce, Size, Term, as_real, subterms
from napkin_eq.pipeline.reference import Evaluation
from napkin_eq.pytorch.build.builder import NEGATIVE, RANDOM, Builder, Number, Value
from napkin_eq.pytorch.build.masks import both, choice, less, negated, no_more, same, undefined
from napkin_eq.pytorch.build.narrow import within
from napkin_eq.pytorch.build.table import enter, operator
from napkin_eq.pytorch.build.wires import Dim
from napkin_eq.pytorch.operators.elementwise import alike, whole_powers

COMPARISONS: dict[str, Callable[[Term, Term], Term]] = {
    "eq": same,
    "ne": lambda s, t: negated(same(s, t)),
    "lt": less,
    "le": no_more,
    "gt": lambda s, t: less(t, s),
    "ge": lambda s, t: no_more(t, s),
}
# Operators that give none but numbers that they are given, or compare them, or count places: their whole numbers are no
# larger, and are exact in real terms where the given ones are. All others are taken to compute, and where whole numbers
# are real terms, in which a kernel rounds them past 2^24, that is noted.
CHOOSING = frozenset(
    "_to_copy to type_as copy clone alias detach contiguous lift_fresh_copy positive dropout native_dropout"
    " view _unsafe_view reshape permute transpose t numpy_T expand flatten unflatten squeeze unsqueeze as_strided"
    " as_strided_copy slice select split split_with_sizes chunk unbind narrow diagonal flip roll repeat"
    " repeat_interleave unfold im2col cat tril triu pad constant_pad_nd reflection_pad1d reflection_pad2d"
    " reflection_pad3d replication_pad1d replication_pad2d replication_pad3d slice_scatter select_scatter"
    " diagonal_scatter as_strided_scatter where masked_fill gather index index_select embedding full full_like"
    " new_full scalar_tensor"
    " eq ne lt le gt ge logical_and logical_or logical_xor logical_not any all isnan isinf signbit sign sgn"
    " floor ceil trunc round relu clamp clamp_min clamp_max maximum minimum fmax fmin amax amin max min argmax argmin"
    " sort argsort topk kthvalue median cummax cummin searchsorted bucketize"
    " max_pool1d max_pool2d max_pool3d max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices".split()
)
MOST_BITS = 8  # of two tensors of whole numbers
MOST_LISTED = 1024  # elements of a dimension whose places are listed
LOGIC: dict[str, Callable[[Term, Term], Term]] = {
    "and": both,
    "or": lambda s, t: s | t,
    "xor": lambda s, t: (s & ~t) | (~s & t),
}


# Comparisons with inf, which is no number: of a number and the largest one.
WITH_INF: dict[str, Callable[[Term, float], Term]] = {
    "eq": lambda t, largest: t > largest,
    "ne": lambda t, largest: negated(t > largest),
    "lt": lambda t, largest: t <= largest,
    "le": lambda t, largest: negated(undefined(t)),
    "gt": lambda t, largest: Const(False),
    "ge": lambda t, largest: t > largest,
}


def _comparison(name: str) -> Callable[[Builder, Number, Number], Value]:
    def rule(b: Builder, self: Number, other: Number) -> Value:
        if other == math.inf and isinstance(self, Value):
            _asked(b, self)
            return b.pointwise(lambda t: WITH_INF[name](t, self.largest), b.real(self), dtype="bool")
        return b.pointwise(COMPARISONS[name], *alike(b, self, other), dtype="bool")

    return rule


def _asked(b: Builder, value: Value) -> None:
    """Note that a program asks whether data are NaN or infinite: laws speak of numbers, so kernels are tried."""
    if not (value.whole or value.truth):
        b.edge(
            "number",
            value.term,
            "a question whether a number is NaN or infinite: numbers of the language are neither",
            plain=True,
        )


def _logic(compute: Callable[[Term, Term], Term], whole: bool) -> Callable[[Builder, Number, Number], Value]:
    def rule(b: Builder, self: Number, other: Number) -> Value:
        s, t = b.scalar(self), b.scalar(other)
        if not whole and not (s.truth and t.truth):
            if not (s.whole and t.whole):
                raise NapkinError("bits are those of whole numbers or of masks")
            if s.term.kind != t.term.kind and Const in (type(s.term), type(t.term)):
                s, t = b.real(s), b.real(t)
            elif not s.term.kind == t.term.kind == "int":
                raise NapkinError("bits of two tensors are those of whole numbers that no real one gave")
            return b.pointwise(lambda x, y: _BITS[compute](x, y, _common(x, y)), s, t)
        return b.pointwise(compute, b.mask(s), b.mask(t), dtype="bool")

    return rule


# Of two whole numbers, and of the bits that both have: what they are together.
_BITS: dict[Callable[[Term, Term], Term], Callable[[Term, Term, Term], Term]] = {
    both: lambda x, y, common: common,
    LOGIC["or"]: lambda x, y, common: x + (y - common),
    LOGIC["xor"]: lambda x, y, common: (x - common) + (y - common),
}


def _common(x: Term, y: Term) -> Term:
    """Return the bits that two whole numbers have both, as quotients and rests: of a constant by its runs of ones, else
    one by one.
    """
    if isinstance(x, Const):
        x, y = y, x
    if isinstance(y, Const):
        bits = int(y.value)
        if bits < 0:
            return x - _common(x, Const(~bits)) if ~bits else x
        found: Term = Const(0)
        at = 0
        while bits >> at:
            at += ((bits >> at) & -(bits >> at)).bit_length() - 1
            many = (~(bits >> at) & ((bits >> at) + 1)).bit_length() - 1
            run = _rest(_quotient(x, 2**at), 2**many)
            found = found + run * 2**at if at else run
            at += many
        return found
    low, high = (
        pick(side) for pick, side in ((min, [interval(x)[0], interval(y)[0]]), (max, [interval(x)[1], interval(y)[1]]))
    )
    if low < 0 or high >= 2**MOST_BITS:
        raise NapkinError(f"bits of two tensors, one of which may be below 0 or not below 2^{MOST_BITS}")
    total: Term = Const(0)
    for at in range(int(high).bit_length()):
        total = total + (x // 2**at % 2) * (y // 2**at % 2) * 2**at
    return total


def _quotient(x: Term, by: int) -> Term:
    """Return a whole number divided by a power of two, downwards; of real terms this is exact."""
    return x if by == 1 else x // by if x.kind == "int" else nq.floor(x * (1.0 / by))


def _rest(x: Term, of: int) -> Term:
    """Return what a division of a whole number by a power of two leaves."""
    return x % of if x.kind == "int" else x - _quotient(x, of) * float(of)


for _name in COMPARISONS:
    for _kind in ("Tensor", "Scalar"):
        enter(f"{_name}.{_kind}", _comparison(_name))
for _name, _compute in LOGIC.items():
    enter(f"logical_{_name}.default", _logic(_compute, True))
    for _kind in ("Tensor", "Scalar"):
        enter(f"bitwise_{_name}.{_kind}", _logic(_compute, False))


@operator("logical_not.default")
def logical_not(b: Builder, self: Value) -> Value:
    return b.pointwise(negated, b.mask(self))


@operator("__rshift__.Scalar", "bitwise_right_shift.Tensor_Scalar")
def shifted_right(b: Builder, self: Value, other: int) -> Value:
    return b.pointwise(lambda t: t // 2**other, _shifts(self, other))


@operator("__lshift__.Scalar", "bitwise_left_shift.Tensor_Scalar")
def shifted_left(b: Builder, self: Value, other: int) -> Value:
    return b.pointwise(lambda t: t * 2**other, _shifts(self, other))


def _shifts(value: Value, by: Any) -> Value:
    most = 62 if value.dtype == "int64" else 30
    if not value.whole or value.term.kind != "int" or not isinstance(by, int) or not 0 <= by <= most:
        raise NapkinError(
            f"only whole numbers that no real one gave are shifted, by a known number of bits up to {most}"
        )
    return value


def _by_tensor(left: bool) -> Callable[[Builder, Number, Value], Value]:
    def rule(b: Builder, self: Number, other: Value) -> Value:
        value, by = b.scalar(self), b.scalar(other)
        low, high = interval(by.term)
        if not (value.whole and by.whole and value.term.kind == by.term.kind == "int") or low < 0 or high > 30:
            raise NapkinError("shifts are of whole numbers by up to 30 bits, neither of which a real number gave")
        return b.pointwise(
            lambda x, y: x * whole_powers(Const(2), y) if left else x // whole_powers(Const(2), y),
            value,
            by,
            dtype=value.dtype,
        )

    return rule


for _name in ("left", "right"):
    enter(f"__{_name[0]}shift__.Tensor", _by_tensor(_name == "left"))
    for _kind in ("Tensor", "Scalar_Tensor"):
        enter(f"bitwise_{_name}_shift.{_kind}", _by_tensor(_name == "left"))


@operator("bitwise_not.default")
def bitwise_not(b: Builder, self: Value) -> Value:
    if self.truth:
        return logical_not(b, self)
    return b.pointwise(lambda t: -t - 1, self)


@operator("isnan.default")
def not_a_number(b: Builder, self: Value) -> Value:
    _asked(b, self)
    return (
        Value(Const(False), self.dims, "bool")
        if self.whole or self.truth
        else replace(self, term=undefined(self.term), dtype="bool")
    )


@operator("isinf.default")
def infinite(b: Builder, self: Value) -> Value:
    _asked(b, self)
    return b.pointwise(lambda t: (t > self.largest) | (t < -self.largest), b.real(self), dtype="bool")


@operator("where.self", "where.ScalarOther", "where.ScalarSelf", "where.Scalar")
def where(b: Builder, condition: Value, self: Number, other: Number) -> Value:
    s, t = b.scalar(self), b.scalar(other)
    if s.truth and t.truth:
        return b.pointwise(lambda c, x, y: (c & x) | (~c & y), b.mask(condition), s, t, dtype="bool")
    s, t = alike(b, s, t)
    if NEGATIVE in (constant(s), constant(t)):
        s, t = b.real(s), b.real(t)
    return b.pointwise(choice, b.mask(condition), s, t, dtype=s.dtype)


def constant(value: Value) -> Any:
    """Return a number that a tensor is everywhere, None if it is no constant."""
    return value.term.value if isinstance(value.term, Const) else None


@operator("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(b: Builder, self: Value, mask: Value, value: Number) -> Value:
    return where(b, mask, value, self)


@operator("_to_copy.default", "to.dtype", "to.dtype_layout")
def to_copy(b: Builder, self: Value) -> Value:
    return self


@operator("type_as.default")
def type_as(b: Builder, self: Value, other: Value) -> Value:
    return self


@operator(
    "clone.default",
    "alias.default",
    "detach.default",
    "lift_fresh_copy.default",
    "contiguous.default",
    "positive.default",
)
def copied(b: Builder, self: Value) -> Value:
    return self


@operator("native_dropout.default")
def native_dropout(b: Builder, input: Value, p: float, train: bool | None) -> tuple[Value, Value]:
    return dropout(b, input, p, train), replace(input, term=Const(not (train and p)), dtype="bool")


@operator("dropout.default", "feature_dropout.default", "alpha_dropout.default")
def dropout(b: Builder, input: Value, p: float, train: bool | None) -> Value:
    if train and 0 < p < 1:
        raise NapkinError(RANDOM)
    return replace(input, term=Const(0.0)) if train and p else input


# Constants. Their dimensions have wires that their terms do not vary along.


def filled(b: Builder, sizes: Any, number: Number) -> Value:
    """Return a number everywhere."""
    return b.value(
        b.scalar(number).term, [b.fresh(size, "filled", at) for at, size in enumerate(sizes)], b.scalar(number).dtype
    )


@operator("full.default")
def full(b: Builder, size: Any, fill_value: Number) -> Value:
    return filled(b, size, fill_value)


@operator("full_like.default")
def full_like(b: Builder, self: Value, fill_value: Number) -> Value:
    return replace(self, term=b.scalar(fill_value).term, dtype=b.scalar(fill_value).dtype)


@operator("new_full.default")
def new_full(b: Builder, self: Value, size: Any, fill_value: Number) -> Value:
    return filled(b, size, fill_value)


def _everywhere(number: int) -> dict[str, Callable[..., Value]]:
    """Return the rules of one number everywhere: of a size, of a size beside a tensor, of a tensor's size."""
    return {
        "plain": lambda b, size: filled(b, size, number),
        "beside": lambda b, self, size: filled(b, size, number),
        "like": lambda b, self: full_like(b, self, number),
    }


for _name, _number, _way in (
    ("zeros.default", 0, "plain"),
    ("ones.default", 1, "plain"),
    ("empty.memory_format", 0, "plain"),
    ("empty_permuted.default", 0, "plain"),
    ("new_zeros.default", 0, "beside"),
    ("new_ones.default", 1, "beside"),
    ("zeros_like.default", 0, "like"),
    ("ones_like.default", 1, "like"),
):
    enter(_name, _everywhere(_number)[_way])


@operator("new_empty_strided.default")
def new_empty_strided(b: Builder, self: Value, size: Any, stride: Any) -> Value:
    return filled(b, size, 0)


@operator("scalar_tensor.default")
def scalar_tensor(b: Builder, s: Number) -> Value:
    return b.scalar(s)


def _whole_type(dtype: Any) -> bool:
    """Tell whether a type of PyTorch, None where it is not said, is one of whole numbers."""
    import torch

    return dtype not in (None, torch.bool) and not (dtype.is_floating_point or dtype.is_complex)


@operator("arange.start_step")
def arange(b: Builder, start: Any, end: Any, step: Any, dtype: Any) -> Value:
    import torch

    # PyTorch takes the fraction from the bounds and the step, of int64 before it counts how many there are.
    whole = [int(x) if isinstance(x, float) and _whole_type(dtype) else x for x in (start, end, step)]
    if dtype is torch.int64:
        start, end, step = whole
    if all(isinstance(x, int) for x in (start, end, step)):
        size: Any = max(0, -(-(end - start) // step))
    elif not isinstance(end, float) and start == 0 and step == 1:
        size = end
    elif not any(isinstance(x, float) for x in (start, end, step)):
        size = b.given(0, end)  # of symbols
        start, step = (x if isinstance(x, int) else b.term(x) for x in (start, step))
        place = b.at(dim := b.fresh(size, "arange"))
        return b.value(place * step + start, [dim], "int64")
    else:
        size = int(max(0, -(-(end - start) // step)))
    start, _, step = whole
    dim = b.fresh(size, "arange")
    place = b.at(dim)
    term = place if step == 1 else place * step
    return b.value(
        term if not start else term + start,
        [dim],
        "int64" if term.kind == "int" and isinstance(start, int) else "float32",
    )


@operator("arange.default")
def arange_to(b: Builder, end: Any, dtype: Any) -> Value:
    return arange(b, 0, end, 1, dtype)


@operator("arange.start")
def arange_from(b: Builder, start: Any, end: Any, dtype: Any) -> Value:
    return arange(b, start, end, 1, dtype)


@operator("linspace.default")
def linspace(b: Builder, start: float, end: float, steps: int, dtype: Any) -> Value:
    dim = b.fresh(steps, "linspace")
    if _whole_type(dtype):
        return b.value(_whole_steps(b.at(dim), int(start), int(end), steps, dtype), [dim], "int64")
    gap = (float(end) - float(start)) / (steps - 1) if steps > 1 else 0.0
    return b.value(b.real(Value(b.at(dim), (dim,), "int64")).term * gap + float(start), [dim], "float32")


def _whole_steps(place: Term, start: int, end: int, steps: int, dtype: Any) -> Term:
    """Return numbers evenly apart, each without its fraction: in whole numbers, as a step that is rounded would lose
    one at times.
    """
    import torch
    from torch._subclasses.fake_tensor import unset_fake_temporarily

    gaps = max(steps - 1, 1)

    def at(number: int) -> int:
        moved = start * gaps + (end - start) * number
        return moved // gaps if moved >= 0 else -(-moved // gaps)

    with unset_fake_temporarily():
        known = torch.linspace(start, end, steps, dtype=dtype).tolist()
    if known != [at(number) for number in range(steps)]:
        raise NapkinError(
            f"linspace({start}, {end}, {steps}) of whole numbers, which PyTorch rounds apart from the line:"
            " write it as a table"
        )
    moved = place * (end - start) + start * gaps
    return moved // gaps if min(start, end) >= 0 else nq.where(moved < 0, -(-moved // gaps), moved // gaps)


@operator("eye.default")
def eye(b: Builder, n: int) -> Value:
    return eye_m(b, n, n)


@operator("eye.m")
def eye_m(b: Builder, n: int, m: int) -> Value:
    rows, columns = b.fresh(n, "rows"), b.fresh(m, "columns")
    return b.value(nq.where(nq.equal(b.at(rows), b.at(columns)), 1.0, 0.0), [rows, columns], "float32")


def _triangle(keep: Callable[[Term, Term], Term]) -> Callable[[Builder, Value, int], Value]:
    def rule(b: Builder, self: Value, diagonal: int) -> Value:
        rows, columns = (b.at(dim) for dim in self.dims[-2:])
        kept = keep(columns, rows + diagonal if diagonal else rows)
        return replace(self, term=both(self.term, kept) if self.truth else nq.where(kept, self.term, 0))

    return rule


enter("tril.default", _triangle(lambda column, row: column <= row))
enter("triu.default", _triangle(lambda column, row: row <= column))


def index(b: Builder, value: Value, dim: Dim) -> Term:
    """Return a tensor of places along a dimension as a term that may choose coordinates.

    Where it was computed as a real number it is the place along the dimension that is equal to it.
    """
    if value.term.kind == "int":
        return value.term
    if (known := linear_place(b, value)) is not None:
        return known
    size = b.size(dim)
    if isinstance(size, int) and size == 1:
        return Const(0)
    axis = b.whole(size, "chosen")
    return Reduce("argmax", axis, nq.where(nq.equal(as_real(Index(axis)), value.term), 1.0, 0.0))


def linear_place(b: Builder, value: Value) -> Term | None:
    """Return places that a dimension's coordinate alone gives as (a i + c) // d between two bounds, where they are
    that.
    """
    dims = [dim for dim in value.dims if dim]
    if len(dims) != 1 or any(isinstance(part, (Input, Length, Size)) for part in subterms(value.term)):
        return None
    size = b.size(dims[0])
    if not isinstance(size, int) or size > MOST_LISTED:
        return None
    import torch
    from torch._subclasses.fake_tensor import unset_fake_temporarily

    sizes = {axis.name: axis.size or 0 for part in subterms(value.term) for axis in part.axes} | {
        part.axis.name: part.axis.size or 0 for part in subterms(value.term) if isinstance(part, Reduce)
    }
    sizes |= {axis.name: axis.size or 0 for axis in dims[0]}
    # In float32, as PyTorch computes them.
    with unset_fake_temporarily():
        work = Evaluation({}, sizes, torch.float32, None)
        found = work.value(value.term, tuple(axis.name for axis in dims[0])).reshape(-1).tolist()
    for divisor in range(1, 2 * size + 1):
        for rate in {math.floor((found[-1] - found[0]) * divisor / max(size - 1, 1)) + more for more in (0, 1)}:
            # What is at a bound only says on which side of it the line lies.
            low = [divisor * p - rate * i for i, p in enumerate(found) if p > found[0]]
            high = [divisor * p - rate * i + divisor - 1 for i, p in enumerate(found) if p < found[-1]]
            start = int(max(low)) if low else int(min(high, default=divisor * found[0]))
            if rate < 0 or (high and start > min(high)):
                continue
            place = (b.at(dims[0]) * rate + start) // divisor
            low_end, high_end = ((rate * i + start) // divisor for i in (0, size - 1))
            place = Map("max", (place, Const(int(found[0])))) if low_end < found[0] else place
            place = Map("min", (place, Const(int(found[-1])))) if high_end > found[-1] else place
            if all(min(max((rate * i + start) // divisor, found[0]), found[-1]) == p for i, p in enumerate(found)):
                return place
    return None


def wrapped(b: Builder, value: Value, dim: Dim) -> Term:
    """Return places along a dimension; what is below 0 counts from its end."""
    if value.term.kind != "int":
        real = value.term
        return index(b, replace(value, term=nq.where(real < 0, real + b.count([dim]), real)), dim)
    term = value.term
    return term if within(term, 0, math.inf) else nq.where(term < 0, term + b.length(dim), term)


@contextlib.contextmanager
def unasked() -> Iterator[None]:
    """Leave out, as long as it lasts, what PyTorch asks of data that is no part of what it computes of them: whether
    parameters of a distribution and variances fit, and whether a mask is the causal one, for which a kernel of its own
    computes the same.
    """
    import torch
    from torch.nn.modules import transformer

    checks = torch.distributions.Distribution._validate_args
    causal, loss = transformer._detect_is_causal_mask, torch.nn.functional.gaussian_nll_loss

    def hinted(mask: Any, is_causal: bool | None = None, size: int | None = None) -> bool:
        return bool(is_causal) if is_causal is not None or mask is None else False

    @functools.wraps(loss)
    def unchecked(*args: Any, **kwargs: Any) -> Any:
        asked = torch.any
        torch.any = lambda *_: False  # of variances below 0: the one question it asks
        try:
            return loss(*args, **kwargs)
        finally:
            torch.any = asked

    torch.distributions.Distribution.set_default_validate_args(False)
    transformer._detect_is_causal_mask, torch.nn.functional.gaussian_nll_loss = hinted, unchecked
    try:
        yield
    finally:
        torch.distributions.Distribution.set_default_validate_args(checks)
        transformer._detect_is_causal_mask, torch.nn.functional.gaussian_nll_loss = causal, loss
