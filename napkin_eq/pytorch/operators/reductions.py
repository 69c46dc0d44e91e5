"""Rules of folds over dimensions: sums, means, extremes and their places, norms, variances."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import napkin_eq.frontend.library as nq
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Const, Map, Reduce, Term, as_real, lift, subterms
from napkin_eq.pytorch.build.builder import NEGATIVE, Builder, Edge, Value
from napkin_eq.pytorch.build.edges import shown
from napkin_eq.pytorch.build.partition import Put
from napkin_eq.pytorch.build.rematerialized import computed_again, row_operators
from napkin_eq.pytorch.build.table import operator

Dims = Sequence[int] | int | None
MASKED = "a row that may hold -inf alone, where PyTorch gives NaN and the language 0"
EMPTY = "a row that may hold -inf alone, where PyTorch gives 0, or NaN, which is none"
ALONE = "a softmax of what is the same along a row, which is NaN in PyTorch where data are NaN or infinite"


@operator("sum.default")
def sum_all(b: Builder, self: Value) -> Value:
    return sum_over(b, self, None, False)


@operator("sum.dim_IntList")
def sum_over(b: Builder, self: Value, dim: Dims, keepdim: bool) -> Value:
    return b.folded("sum", self, b.dims(self, dim), keepdim, "float32" if not (self.whole or self.truth) else "int64")


@operator("mean.default")
def mean_all(b: Builder, self: Value) -> Value:
    return mean_over(b, self, None, False)


@operator("mean.dim")
def mean_over(b: Builder, self: Value, dim: Dims, keepdim: bool) -> Value:
    dims = b.dims(self, dim)
    return b.value(b.mean(b.real(self).term, [self.dims[d] for d in dims]), b.left(self, dims, keepdim), "float32")


@operator("prod.default")
def prod_all(b: Builder, self: Value) -> Value:
    return b.folded("prod", self, b.dims(self, None), False, self.dtype if not self.truth else "int64")


@operator("prod.dim_int")
def prod_over(b: Builder, self: Value, dim: int, keepdim: bool) -> Value:
    return b.folded("prod", self, b.dims(self, dim), keepdim, self.dtype if not self.truth else "int64")


@operator("amax.default")
def amax(b: Builder, self: Value, dim: Dims, keepdim: bool) -> Value:
    unseen(b, self, plain=True)
    return b.folded("max", self, b.dims(self, dim), keepdim, self.dtype)


def unseen(b: Builder, value: Value, *, plain: bool = False) -> None:
    """Note that a largest element of data with NaN is NaN in PyTorch: kernels leave it out."""
    if not (value.whole or value.truth):
        said = "an extreme of data that may hold NaN, which kernels leave out and PyTorch gives"
        b.edge("number", value.term, said, plain=plain)


def unplaced(b: Builder, value: Value, place: Term, *, plain: bool = False) -> None:
    """Note that the place of a largest element is that of NaN in PyTorch, where data hold one."""
    fold = next((part for part in reversed(list(subterms(place))) if isinstance(part, Reduce)), None)
    if fold is not None and not (value.whole or value.truth):
        b.edge(
            "place", fold, "the place of an extreme of data that may hold NaN, which is NaN's in PyTorch", plain=plain
        )


@operator("amin.default")
def amin(b: Builder, self: Value, dim: Dims, keepdim: bool) -> Value:
    value = b.real(self)
    unseen(b, self, plain=True)
    largest = b.folded("max", replace(value, term=-value.term), b.dims(self, dim), keepdim, self.dtype)
    return replace(largest, term=-largest.term)


@operator("max.default")
def max_all(b: Builder, self: Value) -> Value:
    return amax(b, self, None, False)


@operator("min.default")
def min_all(b: Builder, self: Value) -> Value:
    return amin(b, self, None, False)


def place_of_largest(b: Builder, term: Term, over: Value, dims: Sequence[int], keepdim: bool) -> Value:
    """Return the first place of the largest number over dimensions, counted with the last varying fastest."""
    dim = tuple(axis for d in dims for axis in over.dims[d])
    if not dim:
        return b.value(lift(0), b.left(over, dims, keepdim), "int64")
    undefined = b.undefined and not (over.whole or over.truth)
    if len(dim) == 1:
        found: Term = Reduce("argmax", dim[0], term)
        if undefined:  # the first NaN is the largest; all of it takes one pass
            flag, known = _undefined(term, 0.0, -1.0, 1.0), _undefined(term, term, term, NEGATIVE)
            place = Reduce("argmax", dim[0], flag)
            found = Map("where", (b.fold("max", flag, [dim]) > 0.5, place, Reduce("argmax", dim[0], known)))
        return b.value(found, b.left(over, dims, keepdim), "int64")
    if undefined:
        term = _standing(term, b.fold("max", term, [dim]))
    largest = b.fold("max", term, [dim])
    found = first_place(b, nq.equal(term, largest), b.at(dim), b.count([dim]), [dim])
    return b.value(found, b.left(over, dims, keepdim), "int64")


def _standing(term: Term, largest: Term) -> Term:
    """Return 1 where a number is the largest, 2 where it is NaN, of which no comparison is true, and at most 0
    elsewhere.
    """
    return nq.where(term < largest, 0.0, nq.where(largest <= term, 1.0, _undefined(term, 0.0, -1.0, 2.0)))


def _undefined(term: Term, below: Term | float, above: Term | float, otherwise: float) -> Term:
    """Return one of three: where a number is below 0, where it is not, and where it is NaN."""
    return nq.where(term < 0.0, below, nq.where(lift(0.0) <= term, above, otherwise))


def before(size: Term) -> Term:
    """Return one less than a number of elements, as a real number."""
    return Const(float(size.value) - 1.0) if isinstance(size, Const) else size + (-1.0)


def first_place(b: Builder, chosen: Term, place: Term, size: Term, over: Sequence[Any]) -> Term:
    """Return the least of the chosen places below a size, of which there is one; it is a real term between 0 and that
    size.
    """
    last = before(size)
    return last - b.fold("max", nq.where(chosen, last - as_real(place), 0.0), over)


def _places(b: Builder, self: Value, dim: int | None, keepdim: bool, sign: int) -> Value:
    term = b.real(self).term
    found = place_of_largest(b, term if sign > 0 else -term, self, b.dims(self, dim), keepdim)
    unplaced(b, self, found.term, plain=b.undefined)
    return found


@operator("argmax.default")
def argmax(b: Builder, self: Value, dim: int | None, keepdim: bool) -> Value:
    return _places(b, self, dim, keepdim, 1)


@operator("argmin.default")
def argmin(b: Builder, self: Value, dim: int | None, keepdim: bool) -> Value:
    return _places(b, self, dim, keepdim, -1)


@operator("max.dim")
def max_dim(b: Builder, self: Value, dim: int, keepdim: bool) -> tuple[Value, Value]:
    return amax(b, self, [dim], keepdim), argmax(b, self, dim, keepdim)


@operator("min.dim")
def min_dim(b: Builder, self: Value, dim: int, keepdim: bool) -> tuple[Value, Value]:
    return amin(b, self, [dim], keepdim), argmin(b, self, dim, keepdim)


def _quantified(b: Builder, self: Value, dims: Dims, keepdim: bool, every: bool) -> Value:
    mask = b.mask(self).term
    chosen = b.dims(self, dims, empty=False)
    found = b.fold("max", nq.where(~mask if every else mask, 1.0, 0.0), [self.dims[d] for d in chosen])
    return b.value(found < 0.5 if every else found > 0.5, b.left(self, chosen, keepdim), "bool")


@operator("any.default")
def any_all(b: Builder, self: Value) -> Value:
    return _quantified(b, self, None, False, False)


@operator("any.dim", "any.dims")
def any_over(b: Builder, self: Value, dim: Dims, keepdim: bool) -> Value:
    return _quantified(b, self, dim, keepdim, False)


@operator("all.default")
def all_of(b: Builder, self: Value) -> Value:
    return _quantified(b, self, None, False, True)


@operator("all.dim", "all.dims")
def all_over(b: Builder, self: Value, dim: Dims, keepdim: bool) -> Value:
    return _quantified(b, self, dim, keepdim, True)


def spread(b: Builder, self: Value, dims: Sequence[int], correction: float, keepdim: bool) -> tuple[Value, Value]:
    """Return the variance and the mean over dimensions; the correction is taken off the number of elements."""
    over = [self.dims[d] for d in dims]
    term = b.real(self).term
    mean = b.mean(term, over)
    away = term - mean
    square = b.mean(away * away, over)
    if correction:
        count = b.count(over)
        square = square * b.inverse(count - float(correction), "a variance of too few elements") * count
    left = b.left(self, dims, keepdim)
    return b.value(square, left, "float32"), b.value(mean, left, "float32")


@operator("var.correction")
def var(b: Builder, self: Value, dim: Dims, correction: Any, keepdim: bool) -> Value:
    return spread(b, self, b.dims(self, dim), 1 if correction is None else correction, keepdim)[0]


@operator("var_mean.correction")
def var_mean(b: Builder, self: Value, dim: Dims, correction: Any, keepdim: bool) -> tuple[Value, Value]:
    return spread(b, self, b.dims(self, dim), 1 if correction is None else correction, keepdim)


@operator("std.correction")
def std(b: Builder, self: Value, dim: Dims, correction: Any, keepdim: bool) -> Value:
    value = var(b, self, dim, correction, keepdim)
    return replace(value, term=nq.sqrt(value.term))


@operator("linalg_vector_norm.default")
def vector_norm(b: Builder, self: Value, ord: Any, dim: Dims, keepdim: bool) -> Value:
    value, dims = b.real(self), b.dims(self, dim)
    size = nq.abs(value.term)
    if ord == 2:
        found = b.folded("sum", replace(value, term=value.term * value.term), dims, keepdim, value.dtype)
        return replace(found, term=nq.sqrt(found.term))
    if ord == 1:
        return b.folded("sum", replace(value, term=size), dims, keepdim, value.dtype)
    if ord == math.inf:
        return b.folded("max", replace(value, term=size), dims, keepdim, value.dtype)
    if ord == 0:
        return b.folded(
            "sum", replace(value, term=nq.where(nq.equal(value.term, 0.0), 0.0, 1.0)), dims, keepdim, value.dtype
        )
    if ord == NEGATIVE:
        return amin(b, replace(value, term=size), dims or None, keepdim)
    powered = nq.exp(nq.log(size) * float(ord))
    found = b.folded("sum", replace(value, term=powered), dims, keepdim, value.dtype)
    return replace(found, term=nq.exp(nq.log(found.term) * (1 / float(ord))))


def _apart(b: Builder, x1: Value, x2: Value) -> Value:
    """Return the difference of each row of one tensor and each of another."""
    rows = replace(x1, dims=(*x1.dims[:-1], (), x1.dims[-1]))
    return b.pointwise(lambda s, t: s - t, b.real(rows), b.real(replace(x2, dims=(*x2.dims[:-2], (), *x2.dims[-2:]))))


@operator("_cdist_forward.default")
def distances(b: Builder, x1: Value, x2: Value, p: float) -> Value:
    away = _apart(b, x1, x2)
    if p == 0:  # how many coordinates differ, and NaN where one is NaN, which a norm of order 0 counts
        size = nq.abs(away.term)
        away = replace(away, term=nq.where(size > 0.0, 1.0, size))
        return b.folded("sum", away, [len(away.dims) - 1], False, "float32")
    return vector_norm(b, away, p, [-1], False)


@operator("_cdist_backward.default")
def distances_backward(b: Builder, grad: Value, x1: Value, x2: Value, p: float, cdist: Value) -> Value:
    """The gradient of the first rows; rows that are equal have none."""
    if p not in (1, 2):
        raise NapkinError(f"the gradient of distances of order {p} is not supported, of 1 and 2 it is")
    away = _apart(b, x1, x2)
    spread = [replace(v, dims=(*v.dims, ())) for v in (b.real(grad), b.real(cdist))]

    def compute(g: Term, c: Term, d: Term) -> Term:
        if p == 1:
            return g * nq.where(d > 0, 1.0, nq.where(d < 0, -1.0, 0.0))
        return g * d * nq.where(c > 0, nq.reciprocal(c), 0.0)

    return b.folded("sum", b.pointwise(compute, *spread, away), [len(away.dims) - 2], False, "float32")


@operator("logsumexp.default")
def log_sum_exp(b: Builder, self: Value, dim: Dims, keepdim: bool) -> Value:
    dims, value = b.dims(self, dim), b.real(self)
    over = [self.dims[d] for d in dims]
    top = b.fold("max", value.term, over)
    # Of a row whose largest element is infinite that is PyTorch's result; the sum would be NaN.
    whole = nq.where(nq.abs(top) <= self.largest, log_of_sum(b, value.term, over), top)
    return b.value(whole, b.left(self, dims, keepdim), "float32")


def log_of_sum(b: Builder, term: Term, over: Sequence[Any]) -> Term:
    """Return the logarithm of the sum of the exponentials over dimensions."""
    top = b.fold("max", term, over)
    _noted(b, term, top, over, MASKED)
    return top + nq.log(b.fold("sum", nq.exp(term - top), over))


def _noted(b: Builder, term: Term, top: Term, over: Sequence[Any], said: str) -> None:
    """Note the edges of what is taken relative to the largest of a row: no element may be present, and a number that is
    the same along the row is 0 less itself in the language, whatever it is.
    """
    b.edge("present", top, said, plain=True)
    if not any(axis in term.axes for dim in over for axis in dim):
        b.edge("number", term, ALONE, plain=True)


def emptied(b: Builder, scores: Term, over: Sequence[Any], found: Term) -> Term:
    """Return what was found of a softmax of scores, and 0 where all of a row's are -inf, as attention has it.

    The arithmetic of exponentials is NaN there. The choice stands around the whole, which is computed in one pass over
    a row as it is without the choice; where a row is shown never to be empty there is none.
    """
    top = b.fold("max", scores, over)
    if shown(Edge("present", top, EMPTY)):
        return found
    return nq.where(top <= NEGATIVE, 0.0, found)


def normalised(b: Builder, term: Term, over: Sequence[Any], said: str = MASKED) -> Term:
    """Return the exponentials over dimensions, relative to their sum; `said`: what there is to say of empty rows."""
    top = b.fold("max", term, over)
    _noted(b, term, top, over, said)
    shifted = nq.exp(term - top)
    return shifted * nq.reciprocal(b.fold("sum", shifted, over))


@operator("softmax.int", "_softmax.default")
def softmax(b: Builder, self: Value, dim: int) -> Value:
    value = b.real(self)
    return replace(value, term=normalised(b, value.term, [self.dims[d] for d in b.dims(self, dim)]))


@operator("napkin_eq.row_top.default")
def row_top(b: Builder, of: Value, dim: int) -> Value:
    """Return the largest number of a row, which no edge is noted of: where its weights are NaN the choice has -inf."""
    return _of_row(b, of, dim, lambda top, total: nq.where(total > 0.0, top, NEGATIVE))


@operator("napkin_eq.row_share.default")
def row_share(b: Builder, of: Value, dim: int) -> Value:
    """Return one over a row's sum, which no edge is noted of: where its weights are NaN the choice has 0."""
    return _of_row(b, of, dim, lambda top, total: nq.where(total > 0.0, nq.reciprocal(total), 0.0))


def _of_row(b: Builder, of: Value, dim: int, found: Callable[[Term, Term], Term]) -> Value:
    term, over = b.real(of).term, b.dims(of, dim)
    top = b.fold("max", term, [of.dims[d] for d in over])
    total = b.fold("sum", nq.exp(term - top), [of.dims[d] for d in over])
    return b.value(found(top, total), b.left(of, over, True), "float32")


@computed_again("_softmax.default")
def by_top_and_share(first: Put, again: Put, of: Any, dim: int, wide: bool) -> Any:
    """Write weights by the largest number of a row and one over the sum of its exponentials less that."""
    import torch

    aten, held = torch.ops.aten, of.meta["val"]
    if not held.dim() or not all(isinstance(n, int) and n for n in held.shape):
        return None
    narrow = held.dtype in (torch.float16, torch.bfloat16)
    own = again(aten._to_copy.default, of, dtype=torch.float32) if narrow else of
    top, share = (first(kept, of, dim) for kept in row_operators())
    found = again(aten.mul.Tensor, again(aten.exp.default, again(aten.sub.Tensor, own, top)), share)
    return again(aten._to_copy.default, found, dtype=held.dtype) if narrow and not wide else found


@operator("_safe_softmax.default")
def safe_softmax(b: Builder, self: Value, dim: int) -> Value:
    """Return a softmax that is 0 in a row of -inf alone."""
    value, over = b.real(self), [self.dims[d] for d in b.dims(self, dim)]
    return replace(value, term=emptied(b, value.term, over, normalised(b, value.term, over, EMPTY)))


@operator("log_softmax.int", "_log_softmax.default")
def log_softmax(b: Builder, self: Value, dim: int) -> Value:
    value = b.real(self)
    return replace(value, term=value.term - log_of_sum(b, value.term, [self.dims[d] for d in b.dims(self, dim)]))
