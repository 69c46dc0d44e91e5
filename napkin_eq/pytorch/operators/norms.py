"""Rules of normalisations: by layer, group, batch and root mean square."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import napkin_eq.frontend.library as nq
from napkin_eq.lang.term import Const, Term
from napkin_eq.pytorch.build.builder import Builder, Value
from napkin_eq.pytorch.build.table import operator
from napkin_eq.pytorch.build.wires import Dim


def centred(b: Builder, term: Term, over: Sequence[Dim], eps: float) -> tuple[Term, Term, Term, Term]:
    """Return a term with mean 0 and variance 1 over dimensions, the mean, the variance, and one over the root of
    variance and eps.
    """
    # The last dimension outside: where time ends a search among nested statistics, what it has by then is better
    over = over[::-1]
    mean = b.mean(term, over)
    away = term - mean
    square = b.mean(away * away, over)
    if not eps > 0:
        b.edge("pos", square, "one over the root of a variance of 0", plain=True)
    scale = nq.rsqrt(square + eps)
    return away * scale, mean, square, scale


def affine(b: Builder, value: Value, weight: Value | None, bias: Value | None) -> Value:
    """Return a tensor times weights, plus a bias, each where there is one."""
    if weight is not None:
        value = b.pointwise(lambda t, w: t * w, value, weight)
    return value if bias is None else b.pointwise(lambda t, w: t + w, value, bias)


def channels(b: Builder, value: Value | None, rank: int) -> Value | None:
    """Return numbers of channels so that they stand at dimension 1 of a tensor."""
    return None if value is None else b.value(b.real(value).term, (value.dims[0], *[()] * (rank - 2)), "float32")


@operator("native_layer_norm.default")
def native_layer_norm(
    b: Builder, input: Value, normalized_shape: Sequence[int], weight: Value | None, bias: Value | None, eps: float
) -> tuple[Value, Value, Value]:
    value, rank = b.real(input), len(normalized_shape)
    over = value.dims[len(value.dims) - rank :]
    term, mean, _, scale = centred(b, value.term, over, eps)
    left = (*value.dims[: len(value.dims) - rank], *[()] * rank)
    out = affine(b, b.value(term, value.dims, value.dtype), weight, bias)
    return out, b.value(mean, left, "float32"), b.value(scale, left, "float32")


@operator("layer_norm.default")
def layer_norm(
    b: Builder, input: Value, normalized_shape: Sequence[int], weight: Value | None, bias: Value | None, eps: float
) -> Value:
    return native_layer_norm(b, input, normalized_shape, weight, bias, eps)[0]


@operator("rms_norm.default", "_fused_rms_norm.default")
def rms_norm(b: Builder, input: Value, normalized_shape: Sequence[int], weight: Value | None, eps: float | None) -> Any:
    value = b.real(input)
    over = value.dims[len(value.dims) - len(normalized_shape) :]
    # PyTorch computes in float32 what is of fewer digits, and takes that type's epsilon
    small = (2.0**-52 if input.dtype == "float64" else 2.0**-23) if eps is None else eps
    scale = nq.rsqrt(b.mean(value.term * value.term, over) + small)
    out = affine(b, b.value(value.term * scale, value.dims, value.dtype), weight, None)
    if b.place[-1] == "_fused_rms_norm.default":
        left = (*value.dims[: len(value.dims) - len(over)], *[()] * len(over))
        return out, b.value(scale, left, "float32")
    return out


@operator("native_group_norm.default")
def native_group_norm(
    b: Builder, input: Value, weight: Value | None, bias: Value | None, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Value, Value, Value]:
    value, rank = b.real(input), len(input.dims)
    sizes = [b.size(d) for d in value.dims]
    cut = b.view(value, [sizes[0], group, b.known(value.dims[1], "a norm of groups") // group, *sizes[2:]])
    term, mean, _, scale = centred(b, cut.term, cut.dims[2:], eps)
    merged = (cut.dims[0], (*cut.dims[1], *cut.dims[2]), *cut.dims[3:])
    out = affine(b, b.value(term, merged, value.dtype), channels(b, weight, rank), channels(b, bias, rank))
    return out, b.value(mean, cut.dims[:2], "float32"), b.value(scale, cut.dims[:2], "float32")


@operator("group_norm.default")
def group_norm(
    b: Builder, input: Value, num_groups: int, weight: Value | None, bias: Value | None, eps: float
) -> Value:
    return native_group_norm(b, input, weight, bias, 0, 0, 0, num_groups, eps)[0]


def by_batch(
    b: Builder,
    input: Value,
    weight: Value | None,
    bias: Value | None,
    mean: Value | None,
    var: Value | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Value, Value, Value, Value | None, Value | None]:
    """Return a tensor normalised by channel, the mean and one over the deviation that were used, and the running
    statistics after it.
    """
    value, rank = b.real(input), len(input.dims)
    if not training:
        assert mean is not None and var is not None
        if not eps > 0:
            b.edge("pos", var.term, "one over the root of a variance that is not positive", plain=True)
        scale = b.value(nq.rsqrt(b.real(var).term + eps), var.dims, "float32")
        moved, factor = channels(b, mean, rank), channels(b, scale, rank)
        assert moved is not None and factor is not None
        out = b.pointwise(lambda t, m, s: (t - m) * s, value, moved, factor)
        return affine(b, out, channels(b, weight, rank), channels(b, bias, rank)), mean, scale, mean, var
    over = [d for at, d in enumerate(value.dims) if at != 1]
    term, own_mean, square, own_scale = centred(b, value.term, over, eps)
    out = affine(b, b.value(term, value.dims, value.dtype), channels(b, weight, rank), channels(b, bias, rank))
    left = (value.dims[1],)
    # The running variance is that of a sample: divided by one less than the number of elements.
    count = b.count(over)
    if isinstance(count, Const):
        share: Term | float = count.value / max(count.value - 1, 1)
    else:
        share = count * nq.reciprocal(nq.where(count > 1.5, count - 1.0, 1.0))
    sample = b.value(square * share, left, "float32")
    found = [b.value(t, left, "float32") for t in (own_mean, own_scale)]

    def running(old: Value | None, new: Value) -> Value | None:
        return None if old is None else b.pointwise(lambda o, n: o * (1.0 - momentum) + n * momentum, b.real(old), new)

    return out, found[0], found[1], running(mean, found[0]), running(var, sample)


@operator("_native_batch_norm_legit_functional.default")
def batch_norm_functional(
    b: Builder,
    input: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value,
    running_var: Value,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Value | None, ...]:
    return by_batch(b, input, weight, bias, running_mean, running_var, training, momentum, eps)


@operator("_native_batch_norm_legit_no_training.default")
def batch_norm_eval(
    b: Builder,
    input: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value,
    running_var: Value,
    momentum: float,
    eps: float,
) -> tuple[Value | None, ...]:
    return by_batch(b, input, weight, bias, running_mean, running_var, False, momentum, eps)[0], None, None


@operator("_native_batch_norm_legit.no_stats")
def batch_norm_no_stats(
    b: Builder, input: Value, weight: Value | None, bias: Value | None, training: bool, momentum: float, eps: float
) -> tuple[Value | None, ...]:
    return by_batch(b, input, weight, bias, None, None, True, momentum, eps)[:3]


@contextlib.contextmanager
def uncounted() -> Iterator[None]:
    """Leave out, as long as it lasts, what a norm of batches asks whose statistics are the mean over all of them: how
    many there were, of a tensor.
    """
    import torch

    norm = torch.nn.modules.batchnorm._BatchNorm
    whole = norm.forward

    def forward(self: Any, input: Any) -> Any:
        if self.momentum is not None or not self.training or self.num_batches_tracked is None:
            return whole(self, input)
        self._check_input_dim(input)
        self.num_batches_tracked.add_(1)
        share = self.num_batches_tracked.to(self.running_mean.dtype).reciprocal()
        var, mean = torch.var_mean(input.detach(), [dim for dim in range(input.dim()) if dim != 1])
        self.running_mean.lerp_(mean, share)
        self.running_var.lerp_(var, share)
        return torch.nn.functional.batch_norm(input, None, None, self.weight, self.bias, True, 0.0, self.eps)

    norm.forward = forward
    try:
        yield
    finally:
        norm.forward = whole
