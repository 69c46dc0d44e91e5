"""Rules of contractions: products of matrices, linear layers, einsum, and sums of values weighted by a softmax of
scores.
"""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import napkin_eq.frontend.library as nq
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Const, Map
from napkin_eq.pytorch.build.builder import NEGATIVE, Builder, Edge, Value
from napkin_eq.pytorch.build.edges import shown
from napkin_eq.pytorch.build.table import name_of, operator
from napkin_eq.pytorch.build.wires import Dim
from napkin_eq.pytorch.operators.arithmetic import add, mul
from napkin_eq.pytorch.operators.reductions import EMPTY, emptied, normalised
from napkin_eq.pytorch.operators.views import transpose

Changed = Callable[[Value, int, int], Value]  # of scores, the number of the dimension of heads, how many share one
LEAST = -3.4028234663852886e38  # of float32
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
    _undropped(dropout_p)
    return weighed(b, query, key, value, scale, _masked(b, attn_mask, is_causal))


def _masked(b: Builder, attn_mask: Value | None, is_causal: bool) -> Changed:
    """Return the change of scores by a mask, of truths or of numbers that are added, and by order."""

    def changed(scores: Value, heads: int, shared: int) -> Value:
        mask = attn_mask
        if mask is not None and shared > 1:
            mask = _by_heads(b, mask, heads, shared)
        if mask is not None and (kept := _truths(mask)) is not None:
            mask = kept
        if mask is not None and not mask.truth:
            scores = add(b, scores, mask, 1)
        elif mask is not None:
            scores = b.pointwise(lambda s, m: nq.where(m, s, NEGATIVE), scores, mask)
        if is_causal:
            rows, columns = (b.at(dim) for dim in scores.dims[-2:])
            scores = b.value(nq.where(columns <= rows, scores.term, NEGATIVE), scores.dims, scores.dtype)
        return scores

    return changed


def _truths(mask: Value) -> Value | None:
    """Return what a mask of numbers keeps, where it is made of truths: 0 there, and -inf elsewhere."""
    term = mask.term
    if isinstance(term, Map) and term.op == "where" and term.args[1:] == (Const(0.0), Const(-math.inf)):
        return replace(mask, term=term.args[0], dtype="bool")
    return None


def _fused(
    b: Builder,
    query: Value,
    key: Value,
    value: Value,
    mask: Value | None,
    dropout_p: float,
    is_causal: bool,
    scale: Any,
    results: int,
) -> tuple[Value | None, ...]:
    """Return the results of a fused operator, of which two are known: what it gives, and of each row the logarithm of
    the sum of its scores' exponentials, which is for its gradient. It lies as the operator has it: in rows of 32
    (efficient), or with a dimension of one more (cuDNN).
    """
    _undropped(dropout_p)
    scores = Scores.of(b, query, key, scale, _masked(b, mask, is_causal))
    return (scores.weighed(value), scores.logarithms(), *[None] * (results - 2))


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
    """What `scaled_dot_product_attention` becomes on a GPU, where its mask is numbers that are added.

    Of the logarithms it has a multiple of 32 a head; where there are others, they are not known here.
    """
    rows = b.size(query.dims[-2])
    out, logarithms, *rest = _fused(b, query, key, value, attn_bias, dropout_p, is_causal, scale, 4)
    return out, logarithms if _aligned(rows) else None, *rest


def _aligned(rows: Any) -> bool:
    """Tell whether efficient attention has a logarithm for each row, and no more."""
    return isinstance(rows, int) and rows % 32 == 0


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
    _square(b, query, key, is_causal)
    out, logarithms, *rest = _fused(b, query, key, value, attn_bias, dropout_p, is_causal, scale, 9)
    assert logarithms is not None
    return out, replace(logarithms, dims=(*logarithms.dims, ())), *rest


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
    return _fused(b, query, key, value, attn_mask, dropout_p, is_causal, scale, 2)


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
    _square(b, query, key, is_causal)
    return _fused(b, query, key, value, None, dropout_p, is_causal, scale, 9)


def _square(b: Builder, query: Value, key: Value, is_causal: bool) -> None:
    """Refuse attention as libraries have it that do not agree where a causal mask with fewer rows begins."""
    if is_causal and b.size(query.dims[-2]) != b.size(key.dims[-2]):
        raise NapkinError("a causal mask that is not square is another one in each library")


@operator("_scaled_dot_product_efficient_attention_backward.default")
def efficient_attention_backward(
    b: Builder,
    grad_out_: Value,
    query: Value,
    key: Value,
    value: Value,
    attn_bias: Value | None,
    out: Value,
    logsumexp: Value,
    philox_seed: Value,
    philox_offset: Value,
    dropout_p: float,
    grad_input_mask: Sequence[bool],
    is_causal: bool,
    scale: Any,
) -> tuple[Value | None, ...]:
    if not _aligned(b.size(query.dims[-2])):
        raise NapkinError("logarithms of rows that are no multiple of 32 lie among others")
    given = (query, key, value, out, logsumexp)
    found = _gradients(b, grad_out_, given, attn_bias, dropout_p, is_causal, scale)
    return tuple(grad if asked else None for grad, asked in zip(found, grad_input_mask, strict=True))


@operator("_scaled_dot_product_flash_attention_for_cpu_backward.default")
def cpu_attention_backward(
    b: Builder,
    grad_out: Value,
    query: Value,
    key: Value,
    value: Value,
    out: Value,
    logsumexp: Value,
    dropout_p: float,
    is_causal: bool,
    attn_mask: Value | None,
    scale: Any,
) -> tuple[Value | None, ...]:
    given = (query, key, value, out, logsumexp)
    return _gradients(b, grad_out, given, attn_mask, dropout_p, is_causal, scale)[:3]


@operator(
    "_scaled_dot_product_flash_attention_backward.default", "_scaled_dot_product_cudnn_attention_backward.default"
)
def flash_attention_backward(
    b: Builder,
    grad_out: Value,
    query: Value,
    key: Value,
    value: Value,
    out: Value,
    logsumexp: Value,
    cum_seq_q: Value | None,
    cum_seq_k: Value | None,
    max_q: Any,
    max_k: Any,
    dropout_p: float,
    is_causal: bool,
    philox_seed: Value,
    philox_offset: Value,
    scale: Any,
    attn_bias: Value | None = None,
) -> tuple[Value | None, ...]:
    """The gradients of attention; cuDNN has what is added to scores, and logarithms with a dimension of one more."""
    _square(b, query, key, is_causal)
    given = (query, key, value, out, replace(logsumexp, dims=logsumexp.dims[: len(query.dims) - 1]))
    return _gradients(b, grad_out, given, attn_bias, dropout_p, is_causal, scale)[:3]


def _gradients(
    b: Builder,
    grad: Value,
    given: tuple[Value, Value, Value, Value, Value],
    mask: Value | None,
    dropout_p: float,
    is_causal: bool,
    scale: Any,
) -> tuple[Value, Value, Value, Value]:
    """Return the gradients of attention's query, key, value and of what is added to its scores, of these and what it
    gave: its result and the logarithms of its rows (FlashAttention, arXiv:2205.14135, algorithm 4).
    """
    _undropped(dropout_p)
    query, key, value, out, logarithms = given
    scores = Scores.of(b, query, key, scale, _masked(b, mask, is_causal))
    grad, out = scores.apart(b.real(grad)), scores.apart(b.real(out))
    value = scores.kept(value)
    weights = scores.weights(logarithms)
    rows = tuple(range(len(grad.dims) - 2))
    kept = tuple(at for at in rows if scores.shared == 1 or at != scores.heads + 1)
    through = b.contract([grad, value], [(*rows, "m", "d"), (*rows, "n", "d")], (*rows, "m", "n"))
    both = b.pointwise(lambda g, o: g * o, grad, out)
    total = b.folded("sum", both, [len(both.dims) - 1], True, "float32")
    inner = b.pointwise(lambda w, g, t: w * (g - t), weights, through, total)
    own, other = b.value(inner.term, inner.dims, grad.dtype), scores.key
    of_query = b.contract([own, other], [(*rows, "m", "n"), (*rows, "n", "d")], (*rows, "m", "d"))
    of_key = b.contract([own, scores.query], [(*rows, "m", "n"), (*rows, "m", "d")], (*kept, "n", "d"))
    of_value = b.contract([weights, grad], [(*rows, "m", "n"), (*rows, "m", "d")], (*kept, "n", "d"))
    return scores.merged(scores.scaled(of_query)), scores.scaled(of_key), of_value, scores.merged(inner)


def _undropped(dropout_p: float) -> None:
    if dropout_p:
        raise NapkinError(
            f"dropout_p={dropout_p} draws random numbers, each of PyTorch's libraries its own; spelled out, or under"
            " torch.nn.attention.sdpa_kernel(SDPBackend.MATH), they are a dropout's"
        )


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of attention, and what they were made of. More heads of queries may share those of keys: then queries,
    and scores, have two dimensions in the place of the heads, and keys one of 1 behind theirs.
    """

    b: Builder
    query: Value
    key: Value
    scores: Value
    heads: int  # the number of the dimension of heads
    shared: int  # how many heads of queries share one of keys
    scale: Any

    @staticmethod
    def of(b: Builder, query: Value, key: Value, scale: Any, changed: Changed) -> Scores:
        """Return scores after a change, which gets them, the number of the dimension of heads, and how many share
        one.
        """
        heads, shared = len(query.dims) - 3, 1
        asked, kept = (b.size(v.dims[heads]) if heads >= 0 else 1 for v in (query, key))
        # Of symbols that are not known to be one it is a limit that they are
        if asked != kept and isinstance(asked, int) and isinstance(kept, int):
            shared = asked // kept
        plain = Scores(b, query, key, query, heads, shared, scale)
        query, key = plain.apart(query), plain.kept(key)
        scores = plain.scaled(product(b, query, transpose(b, key, -1, -2)))
        return Scores(b, query, key, changed(scores, heads, shared), heads, shared, scale)

    def scaled(self, value: Value) -> Value:
        """Return a value times the scale, which is said or is one over the root of the width."""
        b, width = self.b, self.b.size(self.query.dims[-1])
        if self.scale is not None or isinstance(width, int):
            return mul(b, value, width**-0.5 if self.scale is None else float(self.scale))
        return mul(b, value, b.value(b.count([self.query.dims[-1]]) ** -0.5, (), "float32"))

    def apart(self, value: Value) -> Value:
        """Return what has a head for each of the queries' with two dimensions of heads, where some share one."""
        return value if self.shared == 1 else _apart(self.b, value, self.heads, self.shared)

    def kept(self, value: Value) -> Value:
        """Return what has a head for each of the keys' with a dimension of 1 for those that share it."""
        return value if self.shared == 1 else _kept(self.b, value, self.heads)

    def merged(self, value: Value) -> Value:
        """Return what has two dimensions of heads with one."""
        if self.shared == 1:
            return value
        both = (*value.dims[self.heads], *value.dims[self.heads + 1])
        return self.b.value(
            value.term, (*value.dims[: self.heads], both, *value.dims[self.heads + 2 :]), value.dtype
        )

    def weighed(self, value: Value) -> Value:
        """Return values weighted by a softmax of the scores; a row in which every score is -inf gives 0."""
        b, row = self.b, self.scores.dims[-1:]
        weights = b.value(normalised(b, self.scores.term, row, EMPTY), self.scores.dims, self.scores.dtype)
        out = product(b, weights, self.kept(value))
        return self.merged(replace(out, term=emptied(b, self.scores.term, row, out.term)))

    def logarithms(self) -> Value:
        """Return the logarithm of the sum of each row's exponentials; of a row of -inf alone the least number there
        is, relative to which no score weighs anything.
        """
        b, row = self.b, self.scores.dims[-1:]
        top = b.fold("max", self.scores.term, row)
        found = top + nq.log(b.fold("sum", nq.exp(self.scores.term - top), row))
        if not shown(Edge("present", top, EMPTY)):
            found = nq.where(top <= NEGATIVE, LEAST, found)
        return self.merged(b.value(found, self.scores.dims[:-1], "float32"))

    def weights(self, logarithms: Value) -> Value:
        """Return the scores' exponentials relative to those sums, 0 in a row of -inf alone."""
        b = self.b
        rows = self.apart(logarithms)
        rows = b.value(rows.term, (*rows.dims, ()), rows.dtype)
        weights = b.pointwise(lambda s, r: nq.exp(s - r), self.scores, rows)
        if shown(Edge("present", b.fold("max", self.scores.term, self.scores.dims[-1:]), EMPTY)):
            return weights
        return b.pointwise(lambda w, r: nq.where(r <= LEAST, 0.0, w), weights, rows)


def weighed(
    b: Builder,
    query: Value,
    key: Value,
    value: Value,
    scale: Any,
    changed: Changed,
) -> Value:
    """Return values weighted by a softmax of scores after a change of these; more heads of queries share those of
    keys.
    """
    return Scores.of(b, query, key, scale, changed).weighed(value)


def _by_heads(b: Builder, mask: Value, heads: int, shared: int) -> Value:
    """Return a mask with two dimensions of heads; one that is the same for all has them of 1."""
    mask = b.value(mask.term, ((),) * (heads + 3 - len(mask.dims)) + mask.dims, mask.dtype)
    return _apart(b, mask, heads, shared) if mask.dims[heads] else _kept(b, mask, heads)


def _apart(b: Builder, value: Value, heads: int, shared: int) -> Value:
    own = b.known(value.dims[heads], "attention") // shared
    before, after = value.dims[:heads], value.dims[heads + 1 :]
    return b.view(value, [*map(b.size, before), own, shared, *map(b.size, after)])


def _kept(b: Builder, value: Value, heads: int) -> Value:
    return b.value(value.term, (*value.dims[: heads + 1], (), *value.dims[heads + 1 :]), value.dtype)


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


STATES = {"philox_seed", "philox_offset"}


def without_state(module: Any) -> None:
    """Have gradients of attention that drops nothing read no state of a generator, which they are given by what they
    are the gradients of, and which that need not keep then.

    The graph, of both, is changed; what it gives is as before.
    """
    import torch

    found = False
    for node in list(module.graph.nodes):
        if node.op != "call_function" or not name_of(node.target).startswith("_scaled_dot_product"):
            continue
        names = [argument.name for argument in node.target._schema.arguments]
        given = dict(zip(names, node.args, strict=False)) | dict(node.kwargs)
        if "grad_out" not in names[0] or given.get("dropout_p") != 0.0:
            continue
        for at, name in enumerate(names[: len(node.args)]):
            held = getattr(node.args[at], "meta", {}).get("val")
            if name in STATES and isinstance(held, torch.Tensor):
                told = {"dtype": torch.int64, "device": held.device, "pin_memory": False}
                with module.graph.inserting_before(node):
                    none = module.graph.call_function(torch.ops.aten.full.default, ([*held.shape], 0), told)
                none.meta["val"] = held.new_zeros(held.shape, dtype=torch.int64)
                node.update_arg(at, none)
                found = True
    if found:
        module.recompile()
