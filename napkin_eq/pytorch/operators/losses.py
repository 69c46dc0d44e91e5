"""Rules of losses: each is spelled out, then summed or averaged as it is asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import napkin_eq.frontend.library as nq
from napkin_eq.lang.term import Const, Map, Term
from napkin_eq.pytorch.build.builder import Builder, Value
from napkin_eq.pytorch.build.masks import choice, negated, same
from napkin_eq.pytorch.build.partition import Put, written
from napkin_eq.pytorch.build.table import operator
from napkin_eq.pytorch.build.wires import Dim
from napkin_eq.pytorch.operators.elementwise import at_least, floats
from napkin_eq.pytorch.operators.logic import index
from napkin_eq.pytorch.operators.reductions import log_softmax, mean_over, sum_over

NONE, MEAN, SUM = 0, 1, 2


def reduced(b: Builder, value: Value, reduction: int) -> Value:
    """Return a loss as it is, its mean or its sum."""
    if reduction == NONE:
        return value
    return (mean_over if reduction == MEAN else sum_over)(b, value, None, False)


@written("_log_softmax.default")
def in_logarithms(put: Put, of: Any, dim: int, wide: bool) -> Any:
    """Write logarithms of weights by the largest number of a row and the logarithm of its sum, which alone are kept."""
    import torch

    aten, held = torch.ops.aten, of.meta["val"]
    if not held.dim() or not all(isinstance(n, int) and n for n in held.shape):
        return None
    narrow = held.dtype in (torch.float16, torch.bfloat16)
    own = put(aten._to_copy.default, of, dtype=torch.float32) if narrow else of
    shifted = put(aten.sub.Tensor, own, put(aten.amax.default, own, [dim], True))
    total = put(aten.sum.dim_IntList, put(aten.exp.default, shifted), [dim], True)
    found = put(aten.sub.Tensor, shifted, put(aten.log.default, total))
    return put(aten._to_copy.default, found, dtype=held.dtype) if narrow and not wide else found


@operator("mse_loss.default")
def mse_loss(b: Builder, self: Value, target: Value, reduction: int) -> Value:
    return reduced(b, b.pointwise(lambda s, t: (s - t) * (s - t), *floats(b, self, target)), reduction)


@operator("l1_loss.default")
def l1_loss(b: Builder, self: Value, target: Value, reduction: int) -> Value:
    return reduced(b, b.pointwise(lambda s, t: nq.abs(s - t), *floats(b, self, target)), reduction)


@operator("smooth_l1_loss.default")
def smooth_l1_loss(b: Builder, self: Value, target: Value, reduction: int, beta: float) -> Value:
    if not beta:
        return l1_loss(b, self, target, reduction)
    return reduced(
        b,
        b.pointwise(lambda s, t: _smooth(nq.abs(s - t), float(beta), 1 / float(beta)), *floats(b, self, target)),
        reduction,
    )


@operator("huber_loss.default")
def huber_loss(b: Builder, self: Value, target: Value, reduction: int, delta: float) -> Value:
    return reduced(
        b, b.pointwise(lambda s, t: _huber(nq.abs(s - t), float(delta)), *floats(b, self, target)), reduction
    )


def _smooth(away: Term, beta: float, rate: float) -> Term:
    return nq.where(away < beta, 0.5 * away * away * rate, away - 0.5 * beta)


def _huber(away: Term, delta: float) -> Term:
    return nq.where(away <= delta, 0.5 * away * away, delta * (away - 0.5 * delta))


@operator("kl_div.default")
def kl_div(b: Builder, self: Value, target: Value, reduction: int, log_target: bool) -> Value:
    s, t = floats(b, self, target)
    if log_target:
        return reduced(b, b.pointwise(lambda x, y: nq.exp(y) * (y - x), s, t), reduction)
    b.edge("nonneg", t.term, "the logarithm of a probability below 0")

    def compute(x: Term, y: Term) -> Term:
        # 0 log 0 is 0
        return nq.where(y > 0, y * (nq.log(nq.where(y > 0, y, 1.0)) - x), -(y * x))

    return reduced(b, b.pointwise(compute, s, t), reduction)


@operator("binary_cross_entropy.default")
def binary_cross_entropy(b: Builder, self: Value, target: Value, weight: Value | None, reduction: int) -> Value:
    s, t = floats(b, self, target)
    b.edge("nonneg", s.term, "the logarithm of a probability below 0")

    def compute(p: Term, label: Term) -> Term:
        # PyTorch holds both logarithms at -100.
        return -(label * nq.maximum(nq.log(p), -100.0) + (1.0 - label) * nq.maximum(nq.log(1.0 - p), -100.0))

    out = b.pointwise(compute, s, t)
    return reduced(b, out if weight is None else b.pointwise(lambda x, w: x * w, out, b.real(weight)), reduction)


@operator("binary_cross_entropy_with_logits.default")
def binary_cross_entropy_with_logits(
    b: Builder, self: Value, target: Value, weight: Value | None, pos_weight: Value | None, reduction: int
) -> Value:
    s, t = floats(b, self, target)
    if pos_weight is None:
        out = b.pointwise(lambda x, label: (1.0 - label) * x + nq.softplus(-x), s, t)
    else:
        factor = b.pointwise(lambda label, w: 1.0 + (w - 1.0) * label, t, b.real(pos_weight))
        out = b.pointwise(lambda x, label, w: (1.0 - label) * x + w * nq.softplus(-x), s, t, factor)
    return reduced(b, out if weight is None else b.pointwise(lambda x, w: x * w, out, b.real(weight)), reduction)


def picked(b: Builder, value: Value, target: Value) -> Value:
    """Return a tensor [n, c, …] at the class of each row that a target [n, …] names."""
    at = 1 if len(value.dims) > 1 else 0
    rest = [d for place, d in enumerate(value.dims) if place != at]
    places = b.moved(target, target.dims, rest)
    return b.read(value, {at: places}, rest)


def by_class(
    b: Builder, scores: Value, target: Value, weight: Value | None, reduction: int, ignore_index: int, smoothing: float
) -> tuple[Value, Value]:
    """Return the negative scores of the named classes, smoothed and weighted, and the sum of the weights."""
    at = 1 if len(scores.dims) > 1 else 0
    b.chooses(target, scores.dims[at], ignored=ignore_index)
    target = replace(target, term=index(b, target, scores.dims[at]))
    loss = picked(b, scores, target)
    places = b.moved(target, target.dims, loss.dims)
    counts = negated(same(places, Const(ignore_index)))
    factor = choice(counts, Const(1.0), Const(0.0))
    each = -loss.term
    weights = None if weight is None else b.real(weight)
    if weights is not None:
        own = b.read(weights, {0: places}, loss.dims).term
        factor, each = choice(counts, own, Const(0.0)), each * own
    each = choice(counts, each, Const(0.0))  # by choice: what an ignored row holds, NaN too, is nothing
    if smoothing:
        over = scores.dims[at]
        row = scores.term
        if weights is not None:
            row = row * b.moved(weights, weights.dims, [over])
        smooth = choice(counts, -b.fold("sum", row, [over]), Const(0.0))
        each = each * (1.0 - smoothing) + smooth * _share(b, over, smoothing)
    total = b.fold("sum", factor, loss.dims)
    value = b.value(each, loss.dims, "float32")
    if reduction == NONE:
        return value, b.value(Const(0.0), (), "float32")
    summed = b.fold("sum", each, loss.dims)
    if reduction == MEAN:
        summed = summed * b.inverse(total, "a mean over no element: every label is ignored")
    return b.value(summed, (), "float32"), b.value(total, (), "float32")


@operator("nll_loss_forward.default", "nll_loss2d_forward.default")
def nll_loss_forward(
    b: Builder, self: Value, target: Value, weight: Value | None, reduction: int, ignore_index: int
) -> tuple[Value, Value]:
    return by_class(b, b.real(self), target, weight, reduction, ignore_index, 0.0)


@operator("nll_loss_nd.default", "nll_loss.default", "nll_loss2d.default")
def nll_loss(b: Builder, self: Value, target: Value, weight: Value | None, reduction: int, ignore_index: int) -> Value:
    return by_class(b, b.real(self), target, weight, reduction, ignore_index, 0.0)[0]


@operator("cross_entropy_loss.default")
def cross_entropy(
    b: Builder,
    self: Value,
    target: Value,
    weight: Value | None,
    reduction: int,
    ignore_index: int,
    label_smoothing: float,
) -> Value:
    at = 1 if len(self.dims) > 1 else 0
    scores = log_softmax(b, self, at)
    if not target.whole:
        return _soft(b, scores, target, weight, reduction, label_smoothing, at)
    return by_class(b, scores, target, weight, reduction, ignore_index, label_smoothing)[0]


def _share(b: Builder, classes: Dim, whole: float) -> Term:
    """Return what each class has of a number that all share."""
    size = b.size(classes)
    return Const(whole / size) if isinstance(size, int) else nq.reciprocal(b.count([classes])) * whole


def _soft(
    b: Builder, scores: Value, target: Value, weight: Value | None, reduction: int, smoothing: float, at: int
) -> Value:
    t = b.real(target)
    if smoothing:
        t = replace(t, term=t.term * (1.0 - smoothing) + _share(b, scores.dims[at], smoothing))
    if weight is not None:  # a mean is over rows, whatever their weights
        weights = b.real(weight)
        t = replace(t, term=t.term * b.moved(weights, weights.dims, [t.dims[at]]))
    product = b.pointwise(lambda s, p: s * p, scores, t)
    rows = b.folded("sum", product, [at], False, "float32")
    rows = replace(rows, term=-rows.term)
    return reduced(b, rows, reduction)


@operator("multilabel_margin_loss_forward.default")
def multilabel_margin_loss(b: Builder, self: Value, target: Value, reduction: int) -> tuple[Value, Value]:
    """The classes that a row names stand before its first -1; each is to be above each other one by a margin of 1.

    PyTorch's own decomposition counts what stands behind the first -1 as naming the class 0.
    """
    scores = b.real(self)
    *rows, classes = scores.dims
    size = b.known(classes, "classes")
    named, before = b.fresh(size, "named"), b.fresh(size, "before")
    label, earlier = (b.moved(target, target.dims, (*rows, onto)) for onto in (named, before))
    ended = b.fold("max", nq.where((earlier < 0) & (b.at(before) <= b.at(named)), 1.0, 0.0), [before])
    given = ended < 0.5
    meant = b.fold("max", nq.where(given & nq.equal(label, b.at(classes)), 1.0, 0.0), [named])
    own = b.read(scores, {len(rows): Map("max", (label, Const(0)))}, (*rows, named))
    short = nq.where(given & (meant < 0.5), at_least(1.0 - own.term + scores.term, 0.0), 0.0)
    each = b.value(b.fold("sum", short, [named, classes]) * (1.0 / size), rows, "float32")
    return reduced(b, each, reduction), b.value(meant, scores.dims, "float32")
