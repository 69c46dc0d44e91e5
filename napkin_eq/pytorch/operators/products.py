"""Rules of contractions: products of matrices, linear layers, einsum, and sums of values weighted by a softmax of
scores.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import napkin_eq.frontend.library as nq
from napkin_eq.lang.errors import NapkinError
from napkin_eq.pytorch.build.builder import NEGATIVE, Builder, Value
from napkin_eq.pytorch.build.table import operator
from napkin_eq.pytorch.build.wires import Dim
from napkin_eq.pytorch.operators.arithmetic import add, mul
from napkin_eq.pytorch.operators.reductions import EMPTY, emptied, normalised
from napkin_eq.pytorch.operators.views import transpose

Inner = Callable[
    [Any, Sequence[Value]], Value
]  # a graph that a callable was traced to, on values that stand for its scalars


def product(b: Builder, left: Value, right: Value) -> Value:
    """Return the product of matrices, or of rows of them, as PyTorch's matmul has it."""
    if len(left.dims) == 1 and len(right.dims) == 1:
        return b.contract([left, right], ["k", "k"], "")
    if len(right.dims) == 1:
        rows = tuple(range(len(left.dims) - 1))
        return b.contract([left, right], [(*rows, "k"), "k"], rows)
    if len(left.dims) == 1:
        rows = tuple(range(len(right.dims) - 2))
        return b.contract([left, right], ["k", (*rows, "k", "n")], (*rows, "n"))
    rank = max(len(left.dims), len(right.dims)) - 2
    own = [tuple(range(rank - len(v.dims) + 2, rank)) for v in (left, right)]
    return b.contract([left, right], [(*own[0], "m", "k"), (*own[1], "k", "n")], (*range(rank), "m", "n"))


@operator("mm.default", "bmm.default", "_int_mm.default")
def mm(b: Builder, self: Value, mat2: Value) -> Value:
    return product(b, self, mat2)


@operator("matmul.default")
def matmul(b: Builder, self: Value, other: Value) -> Value:
    return product(b, self, other)


@operator("dot.default")
def dot(b: Builder, self: Value, tensor: Value) -> Value:
    return product(b, self, tensor)


@operator("mv.default")
def mv(b: Builder, self: Value, vec: Value) -> Value:
    return product(b, self, vec)


@operator("linear.default")
def linear(b: Builder, input: Value, weight: Value, bias: Value | None) -> Value:
    out = product(b, input, transpose(b, weight, 0, 1) if len(weight.dims) == 2 else weight)
    return out if bias is None else add(b, out, bias, 1)


def _scaled(b: Builder, value: Value, scale: Any) -> Value:
    if value.whole and isinstance(scale, float):  # PyTorch takes it as a number of the tensor's type
        scale = int(scale)
    return value if scale == 1 else mul(b, value, scale)


@operator("addmm.default")
def addmm(b: Builder, self: Value, mat1: Value, mat2: Value, beta: Any, alpha: Any) -> Value:
    out = _scaled(b, product(b, mat1, mat2), alpha)
    return out if beta == 0 else add(b, out, _scaled(b, self, beta), 1)


@operator("baddbmm.default")
def baddbmm(b: Builder, self: Value, batch1: Value, batch2: Value, beta: Any, alpha: Any) -> Value:
    return addmm(b, self, batch1, batch2, beta, alpha)


@operator("addmv.default")
def addmv(b: Builder, self: Value, mat: Value, vec: Value, beta: Any, alpha: Any) -> Value:
    return addmm(b, self, mat, vec, beta, alpha)


@operator("addbmm.default")
def addbmm(b: Builder, self: Value, batch1: Value, batch2: Value, beta: Any, alpha: Any) -> Value:
    out = _scaled(b, b.contract([batch1, batch2], ["bmk", "bkn"], "mn"), alpha)
    return out if beta == 0 else add(b, out, _scaled(b, self, beta), 1)


@operator("outer.default")
def outer(b: Builder, self: Value, vec2: Value) -> Value:
    return b.contract([self, vec2], ["m", "n"], "mn")


@operator("bilinear.default")
def bilinear(b: Builder, input1: Value, input2: Value, weight: Value, bias: Value | None) -> Value:
    rows = tuple(range(len(input1.dims) - 1))
    out = b.contract([input1, input2, weight], [(*rows, "i"), (*rows, "j"), ("o", "i", "j")], (*rows, "o"))
    return out if bias is None else add(b, out, bias, 1)


@operator("einsum.default")
def einsum(b: Builder, equation: str, tensors: Sequence[Value]) -> Value:
    """Return a contraction by its string; `...` stands for the dimensions that are not named, counted from the
    right.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    parts = left.split(",")
    if len(parts) != len(tensors):
        raise NapkinError(f"einsum {equation!r:.80}: {len(parts)} tensors are named and {len(tensors)} given")
    rows = [_labels(part, len(value.dims), equation) for part, value in zip(parts, tensors, strict=True)]
    named = [x for row in rows for x in row if isinstance(x, str)]
    dots = sorted({x for row in rows for x in row if isinstance(x, int)})
    if arrow:
        out = [y for x in right.replace("...", ".") for y in (dots if x == "." else [x])]
    else:
        out = [*dots, *sorted(x for x in dict.fromkeys(named) if named.count(x) == 1)]
    return b.contract([b.real(v) for v in tensors], rows, out)


def _labels(part: str, rank: int, equation: str) -> list[Any]:
    before, dots, after = part.partition("...")
    if any(x not in string.ascii_letters for x in before + after):
        raise NapkinError(f"einsum {equation!r:.80}: a dimension is named by a letter")
    missing = rank - len(before) - len(after)
    return [*before, *(range(-missing, 0) if dots else ()), *after]


@operator("scaled_dot_product_attention.default")
def attention(
    b: Builder,
    query: Value,
    key: Value,
    value: Value,
    attn_mask: Value | None,
    dropout_p: float,
    is_causal: bool,
    scale: Any,
    enable_gqa: bool,
) -> Value:
    """Return values weighted by a softmax of scores; a row in which every score is masked gives 0."""
    if dropout_p:
        raise NapkinError(f"dropout_p={dropout_p} draws random numbers, which the language does not have")

    def changed(scores: Value, heads: int, shared: int) -> Value:
        mask = attn_mask
        if mask is not None and shared > 1:
            mask = _by_heads(b, mask, heads, shared)
        if mask is not None and not mask.truth:
            scores = add(b, scores, mask, 1)
        elif mask is not None:
            scores = b.pointwise(lambda s, m: nq.where(m, s, NEGATIVE), scores, mask)
        if is_causal:
            rows, columns = (b.at(dim) for dim in scores.dims[-2:])
            scores = b.value(nq.where(columns <= rows, scores.term, NEGATIVE), scores.dims, scores.dtype)
        return scores

    return weighed(b, query, key, value, scale, changed)


def _first_of(out: Value, results: int) -> tuple[Value | None, ...]:
    """Return the results of a fused operator, of which the first alone is known: the others are for its gradient."""
    return (out, *[None] * (results - 1))


@operator("_scaled_dot_product_efficient_attention.default")
def efficient_attention(
    b: Builder,
    query: Value,
    key: Value,
    value: Value,
    attn_bias: Value | None,
    compute_log_sumexp: bool,
    dropout_p: float,
    is_causal: bool,
    scale: Any,
) -> tuple[Value | None, ...]:
    """What `scaled_dot_product_attention` becomes on a GPU, where its mask is numbers that are added."""
    return _first_of(attention(b, query, key, value, attn_bias, dropout_p, is_causal, scale, False), 4)


@operator("_scaled_dot_product_cudnn_attention.default")
def cudnn_attention(
    b: Builder,
    query: Value,
    key: Value,
    value: Value,
    attn_bias: Value | None,
    compute_log_sumexp: bool,
    dropout_p: float,
    is_causal: bool,
    return_debug_mask: bool,
    scale: Any,
) -> tuple[Value | None, ...]:
    return _first_of(_square(b, query, key, value, attn_bias, dropout_p, is_causal, scale), 9)


@operator("_scaled_dot_product_flash_attention_for_cpu.default")
def cpu_attention(
    b: Builder,
    query: Value,
    key: Value,
    value: Value,
    dropout_p: float,
    is_causal: bool,
    attn_mask: Value | None,
    scale: Any,
) -> tuple[Value | None, ...]:
    return _first_of(attention(b, query, key, value, attn_mask, dropout_p, is_causal, scale, False), 2)


@operator("_scaled_dot_product_flash_attention.default")
def flash_attention(
    b: Builder,
    query: Value,
    key: Value,
    value: Value,
    dropout_p: float,
    is_causal: bool,
    return_debug_mask: bool,
    scale: Any,
) -> tuple[Value | None, ...]:
    return _first_of(_square(b, query, key, value, None, dropout_p, is_causal, scale), 9)


def _square(
    b: Builder,
    query: Value,
    key: Value,
    value: Value,
    mask: Value | None,
    dropout_p: float,
    is_causal: bool,
    scale: Any,
) -> Value:
    """Return attention as libraries have it that do not agree where a causal mask with fewer rows begins."""
    if is_causal and b.size(query.dims[-2]) != b.size(key.dims[-2]):
        raise NapkinError("a causal mask that is not square is another one in each library")
    return attention(b, query, key, value, mask, dropout_p, is_causal, scale, False)


def weighed(
    b: Builder,
    query: Value,
    key: Value,
    value: Value,
    scale: Any,
    changed: Callable[[Value, int, int], Value],
) -> Value:
    """Return values weighted by a softmax of scores after a change of these; more heads of queries share those of keys;
    a row in which every score is -inf gives 0.

    The change gets the scores, the number of the dimension of heads, and how many heads share one: then they have two
    dimensions.
    """
    heads, shared = len(query.dims) - 3, 1
    asked, kept = (b.size(v.dims[heads]) if heads >= 0 else 1 for v in (query, key))
    # Of symbols that are not known to be one it is a limit that they are
    if asked != kept and isinstance(asked, int) and isinstance(kept, int):
        shared = asked // kept
        sizes = [*map(b.size, query.dims[:heads]), kept, shared, *map(b.size, query.dims[heads + 1 :])]
        query = b.view(query, sizes)
        key, value = (b.value(v.term, (*v.dims[: heads + 1], (), *v.dims[heads + 1 :]), v.dtype) for v in (key, value))
    scores = product(b, query, transpose(b, key, -1, -2))
    width = b.size(query.dims[-1])
    if scale is not None or isinstance(width, int):
        scores = mul(b, scores, width**-0.5 if scale is None else float(scale))
    else:
        scores = mul(b, scores, b.value(b.count([query.dims[-1]]) ** -0.5, (), "float32"))
    scores = changed(scores, heads, shared)
    row = [scores.dims[-1]]
    weights = b.value(normalised(b, scores.term, row, EMPTY), scores.dims, scores.dtype)
    out = product(b, weights, value)
    out = replace(out, term=emptied(b, scores.term, row, out.term))
    if shared > 1:
        merged = (*out.dims[heads], *out.dims[heads + 1])
        out = b.value(out.term, (*out.dims[:heads], merged, *out.dims[heads + 2 :]), out.dtype)
    return out


def _by_heads(b: Builder, mask: Value, heads: int, shared: int) -> Value:
    dims = ((),) * (heads + 3 - len(mask.dims)) + mask.dims
    if not dims[heads]:
        return b.value(mask.term, (*dims[: heads + 1], (), *dims[heads + 1 :]), mask.dtype)
    own = b.known(dims[heads], "attention") // shared
    sizes = [*map(b.size, dims[:heads]), own, shared, *map(b.size, dims[heads + 1 :])]
    return b.view(b.value(mask.term, dims, mask.dtype), sizes)


@operator("flex_attention")
def flex_attention(
    b: Builder,
    inner: Inner,
    query: Value,
    key: Value,
    value: Value,
    score: Any,
    block_mask: Any,
    scale: Any,
    *rest: Any,
) -> tuple[Value, None, None]:
    """Return values weighted by a softmax of scores that one callable changes and another one masks.

    Which blocks are full or empty is what the mask says already, and is not read; `rest` are options and captured
    tensors.
    """
    _, of_score, of_mask = rest

    def changed(scores: Value, heads: int, shared: int) -> Value:
        rank = len(scores.dims)
        groups = [(0,), tuple(range(heads, heads + (2 if shared > 1 else 1))), (rank - 2,), (rank - 1,)]
        places = [
            b.value(b.at(tuple(axis for at in group for axis in scores.dims[at])), _alone(scores, group), "int64")
            for group in groups
        ]
        changed_scores = inner(score, [scores, *places, *of_score])
        mask = inner(block_mask[-1], [*places, *of_mask])
        return b.pointwise(lambda s, m: nq.where(m, s, NEGATIVE), b.real(changed_scores), b.mask(mask))

    return weighed(b, query, key, value, scale, changed), None, None


def _alone(value: Value, kept: Sequence[int]) -> list[Dim]:
    return [dim if at in kept else () for at, dim in enumerate(value.dims)]


@operator("_trilinear.default")
def trilinear(
    b: Builder,
    i1: Value,
    i2: Value,
    i3: Value,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
    unroll_dim: int,
) -> Value:
    """Return the sum of a product of three tensors, each with further dimensions of size 1."""

    def expanded(value: Value, places: Sequence[int]) -> Value:
        dims = list(b.real(value).dims)
        for place in sorted(places):
            dims.insert(place, ())
        return replace(b.real(value), dims=tuple(dims))

    factors = [expanded(value, places) for value, places in ((i1, expand1), (i2, expand2), (i3, expand3))]
    product = b.pointwise(lambda x, y, z: x * y * z, *factors)
    return b.folded("sum", product, list(sumdim), False, product.dtype)


def by_products() -> Any:
    """Return what has PyTorch compute attention by plain products as long as it is held: those have gradients that are
    operators of the table.
    """
    from torch.nn.attention import SDPBackend, sdpa_kernel

    return sdpa_kernel(SDPBackend.MATH)
