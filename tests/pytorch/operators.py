"""One list of calls of PyTorch's operators: what is read, what is evaluated, and what is derived of each is tested from
it.

A case is a name, a function, and its inputs: a shape gives random numbers, `pos` positive ones, `ints` whole ones below
a bound, `bools` masks. Names begin with their kind, by which they are read together.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

SEED = 7


def made(kind: Any, generator: torch.Generator) -> torch.Tensor:
    if isinstance(kind, torch.Tensor):
        return kind
    if isinstance(kind, tuple) and kind and isinstance(kind[0], str):
        what, shape, *rest = kind
        if what == "pos":
            return torch.rand(shape, generator=generator, dtype=torch.float64) + 0.25
        if what == "unit":
            return torch.rand(shape, generator=generator, dtype=torch.float64)
        if what == "ints":
            return torch.randint(rest[1] if len(rest) > 1 else 0, rest[0], shape, generator=generator)
        return torch.rand(shape, generator=generator) > 0.4
    return torch.randn(kind, generator=generator, dtype=torch.float64)


def inputs(*kinds: Any, seed: int = SEED) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [made(kind, generator) for kind in kinds]


def pos(*shape: int) -> tuple[Any, ...]:
    return ("pos", shape)


def unit(*shape: int) -> tuple[Any, ...]:
    return ("unit", shape)


def ints(below: int, *shape: int, low: int = 0) -> tuple[Any, ...]:
    return ("ints", shape, below, low)


def bools(*shape: int) -> tuple[Any, ...]:
    return ("bools", shape)


Case = tuple[str, Callable[..., Any], tuple[Any, ...]]
CASES: list[Case] = []


def case(name: str, fn: Callable[..., Any], *kinds: Any) -> None:
    CASES.append((name, lambda *tensors: fn(*tensors), kinds))


# Place by place.
for (
    _name
) in "neg abs exp exp2 expm1 tanh sigmoid erf erfc sin cos sinh cosh floor ceil round trunc sign square relu".split():
    case(f"unary {_name}", getattr(torch, _name), (3, 1, 5))
for _name in "sqrt rsqrt log log2 log10 log1p reciprocal tan".split():
    case(f"unary {_name}", getattr(torch, _name), pos(4, 3))
for _name in (
    "gelu silu mish relu6 hardsigmoid hardswish logsigmoid softsign selu elu celu leaky_relu hardtanh softplus "
    "hardshrink softshrink tanhshrink"
).split():
    case(f"unary {_name}", getattr(F, _name), (2, 17))
for _function in (torch.atan, torch.erfinv, torch.asin, torch.acos):
    case(f"unary {_function.__name__}", lambda x, f=_function: f(x * 1.98 - 0.99), unit(5, 7))
case("unary atan far", lambda x: (torch.atan(x * 40), torch.atan(x * 1e6)), (3, 9))
case("unary fake quantised", lambda x: torch.fake_quantize_per_tensor_affine(x, 0.25, 3, 0, 9), (4, 9))
case(
    "unary fake quantised channels",
    lambda x, s: torch.fake_quantize_per_channel_affine(x, s.float(), torch.arange(5, dtype=torch.int32), 1, -8, 7),
    (2, 5, 3),
    torch.tensor([0.25, 0.5, 0.125, 1.0, 0.75]),
)
case("unary gelu tanh", lambda x: F.gelu(x, approximate="tanh"), (7,))
case("unary leaky_relu slope", lambda x: F.leaky_relu(x, 0.3), ())
case("unary elu alpha", lambda x: F.elu(x, 0.7), (3, 4))
case("unary softplus beta", lambda x: F.softplus(x * 20, 2.0, 3.0), (3, 4))
case("unary threshold", lambda x: F.threshold(x, 0.1, 5.0), (3, 4))
case("unary glu", lambda x: F.glu(x, -2), (3, 6, 2))
case("unary rrelu", lambda x: F.rrelu(x, 0.1, 0.4), (3, 4))
case("unary decimals", lambda x: (torch.round(x, decimals=1), torch.round(x * 99, decimals=-1)), (3, 4))
case("unary prelu", F.prelu, (2, 3, 4), (3,))
case("unary zero-dim", lambda x: (x.exp() + 1) * 2, ())
case("unary logit", lambda x: torch.logit(x, 1e-3), unit(5))
case("unary rad2deg", torch.rad2deg, (3,))
case("unary nan_to_num", lambda x: x + torch.isnan(x).double(), (3,))
case("unary int abs neg relu", lambda i: (i.abs(), -i, F.relu(i), i.sign(), i.square()), ints(5, 2, 6, low=-5))

# Two.
case("binary add", lambda x, y: (x + y, x.add(y, alpha=2.5), x - y, x.sub(y, alpha=3), 2 - x, 1.5 + x), (3, 4), (4,))
case("binary broadcast both ways", lambda x, y: x * y + x, (3, 1), (1, 5))
case("binary mul div", lambda x, y: (x * y, x / y, x / 3, 2 / y), (2, 3, 4), pos(3, 1))
case("binary max min", lambda x, y: (torch.maximum(x, y), torch.minimum(x, y)), (5, 3), (3,))
case(
    "binary clamp",
    lambda x, y: (x.clamp(-0.5, 0.5), x.clamp(min=0.1), x.clamp(max=0.2), x.clamp(y, y + 1)),
    (5, 3),
    (3,),
)
case(
    "binary pow",
    lambda x, y: (x**2, x**3, x**-2, x**0.5, x**-0.5, x**1.7, 2.0**x, x**y, x**0, x**1, x**11),
    pos(5),
    pos(5),
)
case("binary pow negative", lambda x: (x**2, x**3, x**5), (6,))
case("binary pow whole", lambda x, i: (x[:, None] ** torch.arange(4), (-1.0) ** i * x, 0.0**i, x ** i.double(), x**i),
     (5,), ints(4, 5, low=0))  # fmt: skip
case("binary int div", lambda i, j: (i // j, i % j, i / j, torch.div(i, j, rounding_mode="trunc"), torch.fmod(i, j)),
     ints(9, 20, low=-9), ints(5, 20, low=1))  # fmt: skip
case("binary int div negative", lambda i, j: (i // j, i % j, torch.div(i, j, rounding_mode="trunc"), torch.fmod(i, j)),
     ints(9, 20, low=-9), ints(0, 20, low=-5))  # fmt: skip
case("binary real div", lambda x, y: (x // y, x % y, torch.fmod(x, y), torch.div(x, y, rounding_mode="trunc"), x % 0.3,
    x // 2),
     (33,), pos(33))  # fmt: skip
case("binary int and real", lambda i, x: (i + x, i * 2.5, i + 2, i / 2, x * i), ints(9, 4), (3, 4))
case("binary bool and number", lambda m, x: (m * x, m + 1, m + m, m * 2.5), bools(4), (4,))
case(
    "binary lerp addcmul",
    lambda x, y, z: (torch.lerp(x, y, 0.3), torch.lerp(x, y, z), torch.addcmul(x, y, z, value=2)),
    (4,),
    (4,),
    (4,),
)
case("binary addcdiv", lambda x, y, z: torch.addcdiv(x, y, z, value=0.5), (4,), (4,), pos(4))
case("binary transposed self", lambda x: x + x.T, (4, 4))
case("binary outer", lambda x: x[:, None] * x[None, :], (5,))
case("binary atan2", lambda x, y: (torch.atan2(x, y), torch.atan2(y, x), torch.atan2(-x, y), torch.atan2(x, x * 0)),
     (6, 5), pos(5))  # fmt: skip
case("binary copysign", lambda x, y: (torch.copysign(x, y), torch.copysign(x, -2.0), torch.signbit(x), torch.angle(x)),
     (6, 5), (5,))  # fmt: skip
case("unary gamma", lambda x, y: (torch.lgamma(x * 30), torch.lgamma(y * 3.03), torch.digamma(x * 30),
     torch.digamma(y * 3.03), torch.lgamma(x * x + 1)), pos(9, 4), (40,))  # fmt: skip
case(
    "binary dist ldexp",
    lambda x, y, i: (torch.dist(x, y), torch.dist(x, y, 3), torch.dist(x, y, math.inf), torch.ldexp(x, i)),
    (5, 3),
    (3,),
    ints(5, 3, low=-4),
)
case("binary hypot", lambda x, y: torch.sqrt(x * x + y * y), pos(3), pos(3))

case("binary xlogy", lambda x, y: torch.xlogy(x.relu(), y), (4,), pos(4))
case("binary xlog1py", lambda x, y: (torch.special.xlog1py(x.relu(), y), torch.special.xlog1py(2.0, y),
     torch.special.xlog1py(x, 3.0)), (4,), pos(4))  # fmt: skip

# Comparisons, masks, types.
case("logic compare", lambda x, y: (x > y, x < y, x >= y, x <= y, x == y, x != y, x > 0, x == 0), (4, 3), (3,))
case("logic int compare", lambda i, j: (i == j, i != j, i > 2, i <= j), ints(4, 9), ints(4, 9))
case(
    "logic masks",
    lambda m, n: (m & n, m | n, ~m, m ^ n, torch.logical_and(m, n), torch.logical_not(m), m == n),
    bools(9),
    bools(9),
)
case(
    "logic numbers",
    lambda x, i: (torch.logical_or(x, i), torch.logical_xor(x, i), torch.logical_not(i)),
    (5,),
    ints(2, 5),
)
case(
    "logic where",
    lambda m, x, y: (torch.where(m, x, y), torch.where(x > 0, x, 0.0), torch.where(m, 1.0, y)),
    bools(3, 1),
    (3, 4),
    (4,),
)
case("logic where masks", lambda m, n, x: torch.where(m, n, x > 0), bools(5), bools(5), (5,))
case("logic masked_fill", lambda m, x: (x.masked_fill(m, 3.0), x.masked_fill(m, -math.inf).exp()), bools(3, 4), (3, 4))
case("logic casts", lambda x, i, m: (x.int(), x.long() + 1, i.double(), m.double(), m.int() + 1, x.bool(), i.bool(),
    (x * 3).float()),
     (7,), ints(3, 7), bools(7))  # fmt: skip
case(
    "logic constants",
    lambda x: (
        torch.full_like(x, 2.0) + x,
        torch.zeros_like(x) + x,
        torch.ones(3, dtype=x.dtype) * x,
        torch.arange(3) + x,
    ),
    (2, 3),
)
case(
    "logic arange",
    lambda x: (
        torch.arange(2, 8, 3) * x[0, 0],
        torch.arange(5, 0, -2) + x[0, 0],
        torch.linspace(0, 1, 5).double() * x[0, 0],
    ),
    (2, 3),
)
case("logic tril", lambda x: (x.tril(), x.triu(1), x.tril(-1), x.tril(5)), (2, 4, 5))
case("logic eye", lambda x: torch.eye(3, dtype=x.dtype) + x, (3, 3))
case(
    "logic any all",
    lambda m, x: (m.any(), m.all(1), m.any(0, keepdim=True), (x > 3).any(), x.bool().all()),
    bools(3, 4),
    (3, 4),
)
case("logic one_hot", lambda i: F.one_hot(i, 5), ints(5, 2, 3))

# Folds.
case(
    "fold sum",
    lambda x: (
        x.sum(),
        x.sum(0),
        x.sum((0, -1)),
        x.sum(-1, keepdim=True),
        x.mean(),
        x.mean((1, 2)),
        x.mean(1, keepdim=True),
    ),
    (3, 4, 5),
)
case(
    "fold extremes",
    lambda x: (x.amax(1), x.amin((0, 2)), x.max(), x.min(), x.amax((0, 1, 2)), x.amax(0, keepdim=True)),
    (3, 4, 5),
)
case(
    "fold places",
    lambda x: (x.max(1), x.min(-1), x.argmax(), x.argmin(0), x.argmax(1, keepdim=True), x.max(0, keepdim=True)),
    (3, 4, 5),
)
case("fold places with ties", lambda i: (i.argmax(1), i.double().argmax(), i.argmin()), ints(3, 4, 9))
case("fold prod", lambda x: (x.prod(), x.prod(1), x.prod(-1, keepdim=True)), (3, 4))
case(
    "fold int",
    lambda i, m: (i.sum(), i.sum(0), m.sum(), m.sum(1), i.prod(), i.amax(0), i.max(1)),
    ints(4, 3, 5, low=-4),
    bools(3, 4),
)
case(
    "fold var",
    lambda x: (x.var(), x.var(1), x.std(0), x.var(1, correction=0), torch.var_mean(x, 1), x.std((0, 1), correction=2)),
    (5, 4),
)
case("fold norms", lambda x: (x.norm(), x.norm(dim=1), torch.linalg.vector_norm(x, 1, 0), x.norm(p=math.inf),
    torch.linalg.vector_norm(x, 3), x.norm(p=0)),
     (5, 4))  # fmt: skip
case(
    "fold softmax",
    lambda x: (
        x.softmax(-1),
        x.softmax(0),
        x.log_softmax(1),
        torch.logsumexp(x, 1),
        torch.logsumexp(x, (0, 1), keepdim=True),
    ),
    (5, 4),
)
case("fold softmax of parts", lambda x: x.view(2, 3, 4).softmax(1).view(6, 4).softmax(0), (6, 4))
case("fold of one", lambda x: (x.softmax(0), x.sum(0), x.amax(0), x.mean(0), x.argmax(0)), (1, 3))
case("fold of scalar", lambda x: (x.sum(), x.mean(), x.amax(), x.softmax(0), x.argmax()), ())
case(
    "fold of broadcast",
    lambda x: (x.expand(3, 4).sum(), x.expand(3, 4).sum(0), x.expand(3, 4).mean(), x.expand(3, 4).prod(0)),
    (4,),
)
case("fold normalize", lambda x: (F.normalize(x, dim=1), F.cosine_similarity(x, x.flip(0), dim=1)), (3, 4))
case("fold softmin", lambda x: F.softmin(x, dim=1), (3, 4))

# Views and reads.
case(
    "view shapes",
    lambda x: (
        x.view(6, 4),
        x.reshape(-1),
        x.flatten(1),
        x.unflatten(2, (2, 2)),
        x.view(2, 3, 2, 2),
        x.view(1, 24),
        x.reshape(4, 6),
    ),
    (2, 3, 4),
)
case("view uneven", lambda x: (x.reshape(8, 3).sum(1), x.reshape(3, 8).T.reshape(2, 12), x.T.reshape(3, 8)), (4, 6))
case(
    "view orders",
    lambda x: (x.permute(2, 0, 1), x.transpose(-1, 0), x.mT, x.movedim(0, 2), x.swapaxes(0, 1)),
    (2, 3, 4),
)
case(
    "view ones",
    lambda x: (x.unsqueeze(1), x.unsqueeze(-1), x.squeeze(), x.squeeze(1), x[None], x.unsqueeze(0).squeeze(0)),
    (2, 1, 3),
)
case(
    "view expand",
    lambda x: (
        x.expand(4, 2, 3),
        x.unsqueeze(1).expand(-1, 5, -1),
        x.repeat(2, 3),
        x.repeat(2, 1, 1),
        x.repeat_interleave(3, 1),
    ),
    (2, 3),
)
case("view repeat then view", lambda x: x.repeat(2, 2).view(4, 2, 3).sum(1), (2, 3))
case(
    "view slices",
    lambda x: (
        x[1:],
        x[:, ::2],
        x[:, -3:-1],
        x[1],
        x[-1],
        x[..., 1:4:2],
        x.narrow(1, 1, 2),
        x[:, 100:] if False else x[:, 2],
    ),
    (3, 6),
)
case(
    "view parts",
    lambda x: (*x.split(2, 1), *x.chunk(3, 1), *x.unbind(0), *torch.tensor_split(x, 2, 1), *x.split([1, 4], 1)),
    (3, 5),
)
case("view cat", lambda x, y: (torch.cat([x, y]), torch.cat([x, x, y], 0), torch.stack([x[:2], y]),
    torch.stack([x, x], -1), torch.cat([x.T, y.T], -1)),
     (3, 4), (2, 4))  # fmt: skip
case("view cat kinds", lambda x, i: torch.cat([x, i]), (3,), ints(5, 2))
case(
    "view flip roll",
    lambda x: (x.flip(0), x.flip(0, 1), x.roll(1), x.roll(2, 1), x.roll((1, -3), (0, 1)), x.flip(-1)),
    (3, 5),
)
case(
    "view pad",
    lambda x: (F.pad(x, (1, 2)), F.pad(x, (0, 1, 2, 0), value=3.0), F.pad(x, (-1, 1)), F.pad(x, (-1, -1, -1, 0))),
    (3, 5),
)
case(
    "view pad ways",
    lambda x: (F.pad(x, (2, 1), mode="reflect"), F.pad(x, (2, 1), mode="replicate"), F.pad(x, (2, 1), mode="circular")),
    (2, 3, 5),
)
case(
    "view pad 2d",
    lambda x: (F.pad(x, (1, 1, 2, 0), mode="reflect"), F.pad(x, (1, 1, 2, 0), mode="replicate")),
    (1, 2, 3, 5),
)
case("view unfold", lambda x: (x.unfold(1, 3, 2), x.unfold(0, 2, 1)), (4, 7))
case("view im2col", lambda x: F.unfold(x, (2, 3), padding=1, stride=2), (2, 3, 5, 6))
case("view diagonal", lambda x: (x.diagonal(), x.diagonal(1), x.diagonal(-1, 1, 0), torch.trace(x)), (4, 5))
case("view parts turned", lambda x: x.view(2, 3, 4, 5).transpose(1, 2).reshape(2, 3, 4, 5) * 2, (2, 12, 5))
case("view pixel_shuffle", lambda x: (F.pixel_shuffle(x, 2), F.pixel_unshuffle(x, 2)), (1, 8, 2, 4))
case("view channel_shuffle", lambda x: F.channel_shuffle(x, 2), (1, 6, 2, 3))
case("view meshgrid", lambda x, y: torch.meshgrid(x, y, indexing="ij"), (3,), (4,))
case("view rot90", lambda x: torch.rot90(x), (3, 4))
case("view tile", lambda x: torch.tile(x, (2, 2)), (2, 3))
case(
    "gather embedding",
    lambda w, i: (F.embedding(i, w), w[i], w.index_select(0, i[0]), F.embedding(i[:, 0], w)),
    (7, 3),
    ints(7, 2, 4),
)
case(
    "gather gather",
    lambda x, i: (x.gather(1, i), x.gather(0, i[:2] % 3), torch.take_along_dim(x, i, 1)),
    (3, 5),
    ints(5, 3, 2),
)
case(
    "gather index",
    lambda x, i, j: (x[i], x[i, j], x[:, j], x[i[:, None], j[None, :]], x[:, :, i], x[i, :, j]),
    (4, 5, 4),
    ints(4, 3),
    ints(4, 3),
)
case(
    "gather triangles",
    lambda x: (x[tuple(torch.triu_indices(5, 4, 1))], x[torch.tril_indices(5, 4, -1).unbind()]),
    (5, 4),
)
case("gather negative", lambda x, i: x[i], (5, 2), ints(5, 6, low=-5))
case("gather of computed", lambda x, i: (x @ x.T)[i].sum(1), (5, 4), ints(5, 3))
case(
    "gather scatter_add",
    lambda x, i, s: (x.scatter_add(1, i, s), x.index_add(1, i[0], s)),
    (3, 5),
    ints(5, 3, 4),
    (3, 4),
)
case(
    "gather parts written",
    lambda x, i, s, z, j: (
        x.scatter_add(1, i, s),
        x.scatter_reduce(1, i, s, "prod"),
        x.scatter(1, i[:, :1], 2.5),
        z.scatter_add(0, j, z),
        z.scatter(0, j, 0.5),
    ),
    (4, 9),
    ints(9, 2, 5),
    (3, 6),
    (),
    ints(1),
)
case("gather index_put", lambda x, i, s: x.index_put((i,), s, accumulate=True), (5, 3), ints(5, 4), (4, 3))
case(
    "cast fraction filled in",
    lambda i: (torch.full_like(i, -2.7) + i, torch.full((3, 4), 2.7, dtype=torch.int64)),
    ints(5, 3, 4),
)
case(
    "cast fraction written in",
    lambda i, x: (
        torch.slice_scatter(i, 3 * x, 1, 0, 4),
        torch.select_scatter(i, 3 * x[0], 0, 1),
        F.pad(i, (1, 1), value=2.5),
    ),
    ints(5, 3, 4),
    (3, 4),
)
case("cast before a fold", lambda x: ((3 * x).sum(1, dtype=torch.int64), (3 * x).cumsum(1, dtype=torch.int32)), (3, 7))
case("cast mask before a fold", lambda x: (x - x).sum(1, dtype=torch.bool), (3, 7))


def written_over(x: torch.Tensor, i: torch.Tensor) -> tuple[torch.Tensor, ...]:
    y, j = x.clone(), i.clone()
    y[1:3] += 2
    y[0] = y[4]
    y[:, 1:2] = x[0, 0]
    j[:, 1] = 3 * x[:, 0]
    return y.clamp_(min=-1), j


case("cast written over", written_over, (5, 6), ints(9, 5, 6))
case(
    "gather slice_scatter",
    lambda x, s: (x.slice_scatter(s, 1, 1, 7, 3), x.select_scatter(s[:, 0], 1, 2)),
    (3, 7),
    (3, 2),
)

case(
    "gather scatter", lambda x, i, s: (x.scatter(0, i, s[:2]), x.scatter(0, i, 7.0)),
    (5, 3), torch.tensor([[0, 4, 2], [3, 1, 0]]), (4, 3),
)  # fmt: skip

# Products.
case(
    "product matmul",
    lambda a, b: (a @ b, torch.mm(a, b), (b.T @ a.T), a @ b[:, 0], a[0] @ b, a[0] @ b[:, 0]),
    (3, 5),
    (5, 4),
)
case(
    "product batched",
    lambda a, b, c: (torch.bmm(a, b), a @ c, a @ b, torch.baddbmm(a @ b, a, b, beta=0.5, alpha=2)),
    (2, 3, 5),
    (2, 5, 4),
    (5, 4),
)
case("product of int8", lambda i, j: torch._int_mm(i.to(torch.int8), j.to(torch.int8)), ints(90, 17, 8, low=-90),
     ints(90, 8, 16, low=-90))  # fmt: skip
case("product broadcast", lambda a, b: a @ b, (2, 1, 3, 5), (4, 5, 2))
case(
    "product linear",
    lambda x, w, v: (F.linear(x, w), F.linear(x, w, v), torch.addmm(v, x[0], w.T, beta=2, alpha=0.5)),
    (2, 3, 5),
    (4, 5),
    (4,),
)
case("product square", lambda x: (x @ x, x @ x.T, x.T @ x @ x), (4, 4))
case("product einsum", lambda a, b: (torch.einsum("bij,bjk->bik", a, b), torch.einsum("bij,bjk", a, b),
    torch.einsum("b...j,b...j->b", a, a),
     torch.einsum("bij->jb", a), torch.einsum("bij,ckj->bick", a, a)), (2, 3, 4), (2, 4, 5))  # fmt: skip
case(
    "product einsum diagonal",
    lambda a: (torch.einsum("ii->i", a), torch.einsum("ii", a), torch.einsum("ij,jk,kl->il", a, a, a)),
    (4, 4),
)
case("product bilinear", lambda x, y, w: F.bilinear(x, y, w), (3, 4), (3, 5), (2, 4, 5))
case("product outer", lambda x, y: (torch.outer(x, y), torch.dot(x, x), torch.mv(torch.outer(y, x), x)), (3,), (4,))
case("product attention", lambda q, k, v: (F.scaled_dot_product_attention(q, k, v),
    F.scaled_dot_product_attention(q, k, v, is_causal=True),
     F.scaled_dot_product_attention(q, k, v, scale=0.3)), (2, 3, 5, 4), (2, 3, 7, 4), (2, 3, 7, 6))  # fmt: skip
case("product attention masks", lambda q, m,
    s: (F.scaled_dot_product_attention(q, q, q, attn_mask=m | torch.eye(5, dtype=torch.bool)),
     F.scaled_dot_product_attention(q, q, q, attn_mask=s)), (2, 3, 5, 4), bools(5, 5), (3, 5, 5))  # fmt: skip
case(
    "product attention grouped",
    lambda q, k: F.scaled_dot_product_attention(q, k, k, enable_gqa=True),
    (1, 6, 4, 3),
    (1, 2, 5, 3),
)
case("product chain_matmul", lambda a, b: torch.linalg.multi_dot([a, b, a]), (3, 4), (4, 3))
case("product tensordot", lambda a, b: torch.tensordot(a, b, dims=([1, 2], [0, 1])), (2, 3, 4), (3, 4, 5))

# Convolutions.
case(
    "conv 1d",
    lambda x, w, v: (F.conv1d(x, w, v), F.conv1d(x, w, stride=2, padding=1), F.conv1d(x, w, dilation=2, padding=2)),
    (2, 3, 9),
    (4, 3, 3),
    (4,),
)
case(
    "conv 2d",
    lambda x, w, v: (F.conv2d(x, w, v), F.conv2d(x, w, stride=(2, 1), padding=(1, 2)), F.conv2d(x, w, padding="same")),
    (2, 3, 5, 6),
    (4, 3, 3, 2),
    (4,),
)
case("conv 3d", lambda x, w: F.conv3d(x, w, padding=1), (1, 2, 3, 4, 3), (3, 2, 2, 3, 1))
case(
    "conv groups",
    lambda x, w, d: (F.conv2d(x, w, groups=2), F.conv2d(x, d, groups=4, padding=1)),
    (2, 4, 4, 5),
    (6, 2, 2, 2),
    (4, 1, 3, 3),
)
case("conv pointwise", lambda x, w: F.conv2d(x, w).relu(), (2, 3, 4, 4), (5, 3, 1, 1))
case("conv unbatched", lambda x, w: F.conv2d(x, w), (3, 4, 4), (5, 3, 2, 2))
case(
    "conv transposed 1d",
    lambda x, w: (F.conv_transpose1d(x, w), F.conv_transpose1d(x, w, stride=2, padding=1, output_padding=1)),
    (2, 3, 5),
    (3, 4, 3),
)
case(
    "conv transposed 2d",
    lambda x, w, v: (F.conv_transpose2d(x, w, v, stride=2), F.conv_transpose2d(x, w, dilation=2, padding=1)),
    (1, 3, 4, 3),
    (3, 2, 3, 2),
    (2,),
)
case(
    "conv transposed groups", lambda x, w: F.conv_transpose2d(x, w, groups=2, stride=(3, 2)), (1, 4, 3, 3), (4, 3, 2, 2)
)
case(
    "conv transposed phases",
    lambda x, w: (
        F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1),
        F.conv_transpose2d(x, w, stride=(3, 2), padding=(0, 1), output_padding=(0, 1)),
    ),
    (1, 4, 3, 3),
    (4, 2, 3, 3),
)
case("conv transposed 3d", lambda x, w: F.conv_transpose3d(x, w, stride=2), (1, 2, 2, 3, 2), (2, 2, 2, 1, 3))
case(
    "conv then flat",
    lambda x, w, v: F.conv2d(x, w, padding=1).relu().flatten(1) @ v,
    (2, 2, 3, 3),
    (3, 2, 3, 3),
    (27, 4),
)
case("conv residual", lambda x, w: x + F.conv2d(x, w, padding=1), (2, 3, 4, 4), (3, 3, 3, 3))

# Pooling.
case(
    "pool max",
    lambda x: (
        F.max_pool2d(x, 2),
        F.max_pool2d(x, 3, 2, 1),
        F.max_pool2d(x, (2, 3), stride=1, dilation=2),
        F.max_pool2d(x, 2, ceil_mode=True),
    ),
    (2, 3, 7, 8),
)
case("pool max places", lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True), (2, 3, 7, 8))
case("pool max 1d 3d", lambda x, y: (F.max_pool1d(x, 2), F.max_pool3d(y, 2, 1)), (2, 3, 7), (1, 2, 3, 4, 3))
case(
    "pool avg",
    lambda x: (
        F.avg_pool2d(x, 2),
        F.avg_pool2d(x, 3, 2, 1),
        F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
        F.avg_pool2d(x, 3, divisor_override=5),
    ),
    (2, 3, 7, 8),
)
case(
    "pool avg ceil",
    lambda x: (
        F.avg_pool2d(x, 3, 2, ceil_mode=True),
        F.avg_pool2d(x, 3, 2, 1, ceil_mode=True),
        F.avg_pool2d(x, 2, 2, 1, True, False),
    ),
    (1, 2, 6, 7),
)
case("pool avg 1d 3d", lambda x, y: (F.avg_pool1d(x, 3, 2, 1), F.avg_pool3d(y, 2)), (2, 3, 7), (1, 2, 4, 4, 3))
case(
    "pool adaptive",
    lambda x: (
        F.adaptive_avg_pool2d(x, 1),
        F.adaptive_avg_pool2d(x, (3, 4)),
        F.adaptive_avg_pool2d(x, (2, 5)),
        F.adaptive_max_pool2d(x, 1),
    ),
    (2, 3, 6, 8),
)
case("pool adaptive 1d", lambda x: (F.adaptive_avg_pool1d(x, 3), F.adaptive_avg_pool1d(x, 4)), (2, 3, 7))

# Norms.
case(
    "norm layer",
    lambda x, w, v: (F.layer_norm(x, (5,), w, v), F.layer_norm(x, (4, 5)), F.layer_norm(x, (5,), eps=0.1)),
    (3, 4, 5),
    (5,),
    (5,),
)
case(
    "norm rms",
    lambda x, w: (
        F.rms_norm(x, (5,), w, 1e-6),
        F.rms_norm(x, (5,)),
        x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5),
    ),
    (3, 4, 5),
    (5,),
)
case(
    "norm group",
    lambda x, w, v: (F.group_norm(x, 2, w, v), F.group_norm(x, 4), F.group_norm(x, 1)),
    (2, 4, 3, 5),
    (4,),
    (4,),
)
case("norm instance", lambda x, w: (F.instance_norm(x), F.instance_norm(x, weight=w, bias=w)), (2, 4, 3, 5), (4,))
case(
    "norm batch eval",
    lambda x, m, v, w: (F.batch_norm(x, m, v, w, w), F.batch_norm(x, m, v)),
    (2, 3, 4),
    (3,),
    pos(3),
    (3,),
)
case("norm batch train", lambda x, w: F.batch_norm(x, None, None, w, w, training=True), (4, 3, 5), (3,))
case("norm local response", lambda x: F.local_response_norm(x, 3), pos(2, 5, 4))

# Losses.
case("loss cross_entropy", lambda x, i: (F.cross_entropy(x, i), F.cross_entropy(x, i, reduction="sum"),
    F.cross_entropy(x, i, reduction="none"),
     F.cross_entropy(x, i, label_smoothing=0.1)), (6, 5), ints(5, 6))  # fmt: skip
case("loss cross_entropy ignored", lambda x, i,
    w: (F.cross_entropy(x, i, ignore_index=2), F.cross_entropy(x, i, weight=w),
     F.cross_entropy(x, i, weight=w, label_smoothing=0.2, ignore_index=1)), (6, 5), ints(5, 6), pos(5))  # fmt: skip
case("loss cross_entropy places", lambda x, i: F.cross_entropy(x, i), (2, 5, 3, 4), ints(5, 2, 3, 4))
case(
    "loss cross_entropy soft",
    lambda x, y: (F.cross_entropy(x, y.softmax(1)), F.cross_entropy(x, y.softmax(1), label_smoothing=0.1)),
    (6, 5),
    (6, 5),
)
case(
    "loss multilabel margin",
    lambda x, i: [F.multilabel_margin_loss(x, i, reduction=how) for how in ("mean", "sum", "none")],
    (3, 4),
    torch.tensor([[3, 0, -1, 1], [-1, 2, 2, 2], [0, 1, 2, 3]]),
)
case("loss multilabel margin of a row", F.multilabel_margin_loss, (3,), torch.tensor([1, -1, 0]))
case("loss nll", lambda x, i: (F.nll_loss(x.log_softmax(1), i), F.nll_loss(x, i, reduction="none")), (6, 5), ints(5, 6))
case(
    "loss mse",
    lambda x, y: (
        F.mse_loss(x, y),
        F.l1_loss(x, y),
        F.smooth_l1_loss(x, y),
        F.huber_loss(x, y, delta=0.7),
        F.mse_loss(x, y, reduction="none"),
    ),
    (6, 5),
    (6, 5),
)
case(
    "loss kl",
    lambda x, y: (
        F.kl_div(x.log_softmax(1), y.softmax(1), reduction="batchmean"),
        F.kl_div(x, y, log_target=True, reduction="sum"),
    ),
    (6, 5),
    (6, 5),
)
case(
    "loss bce",
    lambda x, y: (
        F.binary_cross_entropy(x, y),
        F.binary_cross_entropy_with_logits(x, y),
        F.binary_cross_entropy_with_logits(x, y, pos_weight=y + 1),
    ),
    unit(6, 5),
    unit(6, 5),
)
case(
    "loss hinge",
    lambda x, y: (
        torch.clamp(1 - x * y, min=0).mean(),
        F.margin_ranking_loss(x, y, x.sign()),
        F.hinge_embedding_loss(x, x.sign()),
    ),
    (6,),
    (6,),
)
case("loss triplet", lambda x, y, z: F.triplet_margin_loss(x, y, z), (4, 5), (4, 5), (4, 5))
case("loss cosine", lambda x, y: F.cosine_embedding_loss(x, y, torch.ones(4, dtype=x.dtype)), (4, 5), (4, 5))
case("loss poisson", lambda x, y: F.poisson_nll_loss(x, y), (4, 5), pos(4, 5))
case("loss soft margin", lambda x, y: F.soft_margin_loss(x, y.sign()), (4, 5), (4, 5))

# Orders.
case(
    "scan cumsum",
    lambda x: (x.cumsum(0), x.cumsum(-1), x.cumprod(1), x.flip(1).cumsum(1).flip(1), torch.logcumsumexp(x, 1)),
    (3, 6),
)
case("scan exclusive", lambda x: torch.cat([torch.zeros_like(x[:, :1]), x.cumsum(1)[:, :-1]], 1), (3, 6))
case("scan int", lambda i, m: (i.cumsum(0), m.cumsum(0)), ints(5, 7), bools(7))
case("scan of parts", lambda x: x.view(3, 2, 3).cumsum(1).view(3, 6).cumsum(1), (3, 6))
case("scan cummax", lambda x: x.cummax(1).values, (3, 6))
case(
    "order sort",
    lambda x: (x.sort(), x.sort(0, descending=True), x.argsort(1), x.topk(2), x.topk(3, 0, largest=False)),
    (4, 5),
)
case("order ties", lambda i: (i.double().sort(stable=True), i.sort(stable=True, descending=True)), ints(3, 9))
case("order median", lambda x: x.sort(1).values[:, 2], (4, 5))
case("order middle", lambda x: (x.median(1), x.median(0, keepdim=True)), (4, 5))
case("order of one", lambda x: (x.median(1), x.kthvalue(1, 1), x.kthvalue(1, 1, True), x[:1].median()), (4, 1))
case("folds of no dimensions", lambda x: ((x > 0).any(dim=()), (x > 0).all(dim=[]), x[None].squeeze(())), (3, 5))
case("order places", lambda x, v: (v.gather(1, x.topk(3, 1).indices), v[0][x.argsort(1)]), (4, 9), (4, 9))
case("scan extremes", lambda i: (i.double().cummax(1), i.double().cummin(0)), ints(5, 4, 6))
case("whole shifts", lambda i: (i >> 2, i << 3, i & 7, ~i), ints(9, 9))
case("where joined masks", lambda m, n: (torch.cat([m, n], 1), F.pad(m, (1, 2), value=True)), bools(3, 4), bools(3, 2))
case("pool folded", lambda x: F.fold(x, (5, 6), 3, padding=1), (2, 27, 30))
case(
    "pool enlarged",
    lambda x: (
        F.interpolate(x, scale_factor=2, mode="bilinear"),
        F.interpolate(x, size=(7, 9), mode="bilinear", align_corners=True),
        F.interpolate(x, size=(7, 4)),
    ),
    (2, 3, 4, 5),
)
case(
    "pool uneven",
    lambda x: (*F.adaptive_max_pool2d(x, (3, 2), return_indices=True), F.adaptive_avg_pool2d(x, (3, 5))),
    (2, 3, 7, 8),
)
case(
    "norm distances",
    lambda x, y: (torch.cdist(x, y), torch.cdist(x, y, p=1), torch.cdist(x, x, p=3)),
    (2, 5, 3),
    (2, 6, 3),
)
case(
    "scatter reduced",
    lambda x, i, s: tuple(
        x.scatter_reduce(0, i, s, kind, include_self=own)
        for kind in ("sum", "mean", "prod", "amax", "amin")
        for own in (True, False)
    ),
    (4, 3),
    ints(4, 6, 3),
    (6, 3),
)
case(
    "scatter at several places",
    lambda x, i, j, v: (x.index_put((i, j), v, accumulate=True), x.index_put((i,), v[:, None], accumulate=True)),
    (4, 3),
    ints(4, 6),
    ints(3, 6),
    (6,),
)
case("index of a number", lambda x, t: x[(t * 4).long()], (5, 2), unit(7))
case(
    "cast like another",
    lambda x, m: (x.type_as(m.int()), m.type_as(x), (torch.cumsum(m.int(), 1).type_as(m.int()) * m).long() + 1),
    (3, 4),
    bools(3, 4),
)
case("order bounds", lambda x, s, r: (torch.searchsorted(s.cumsum(0), x),
    torch.searchsorted(r.sort(1).values, x[:2], right=True),
     torch.bucketize(x, s.cumsum(0), right=True), torch.searchsorted(s.cumsum(0), s.cumsum(0), out_int32=True)), (2, 7),
         pos(5), (2, 6))  # fmt: skip
case("order of one place", lambda x: (x.kthvalue(2, 1), x.kthvalue(1, 0, keepdim=True), x.median()), (4, 5))
case("pool sampled", lambda x, g: (F.grid_sample(x, g.tanh(), align_corners=False),
    F.grid_sample(x, g, "nearest", "border", align_corners=True)),
     (2, 3, 5, 6), (2, 4, 3, 2))  # fmt: skip
case("index bags", lambda w, i, s: tuple(F.embedding_bag(i.flatten(), w, torch.tensor([0, 2, 2, 5]),
    mode=m) for m in ("sum", "mean", "max"))
     + (F.embedding_bag(i, w, mode="mean", padding_idx=1), F.embedding_bag(i, w, mode="sum", per_sample_weights=s)),
         (7, 3), ints(7, 2, 4), (2, 4))  # fmt: skip
case("strided views", lambda x: (x.as_strided((3, 2), (6, 2)), x.as_strided((5, 4), (1, 2), 3),
    torch.diagonal_scatter(x, x[0, :4], 1),
     torch.diagonal_scatter(x, x[0, :3], -1), torch.block_diag(x[:2, :2], x[:3, :1])), (4, 6))  # fmt: skip
case(
    "strided scatters",
    lambda x: (
        x.as_strided_scatter(x[:2, :3] * 2, (2, 3), (9, 2), 4),
        x.as_strided_scatter(x.T.contiguous(), (6, 4), (1, 6)),
        x.as_strided_scatter(x[0, 0], (), (), 7),
        x.as_strided_scatter(x[:3, :1], (3, 1), (7, 1), 1),
        x.round().int().as_strided_scatter(x.int()[0, :3], (3,), (8,)),
    ),
    (4, 6),
)
case(
    "inverse functions",
    lambda x: (x.asinh(), (x.abs() + 1).acosh(), (x / 9).tanh().atanh(), torch.hypot(x, x.flip(0))),
    (3, 4),
)
case("whole bits", lambda i, j: (i & 12, i | 5, i ^ 9, i & -4, i | -3, i ^ -6, (i - 4) & 10, (i - 4) | 3, (i - 4) ^ 7,
    (i % 8) & (j % 16), (i % 8) | (j % 16),
     (i % 8) ^ (j % 16)), ints(90, 7, low=-90), ints(90, 7))  # fmt: skip
case("whole bits apart", lambda i, x: ((i[:, None] >> torch.arange(8)) & 1, i[:, None] << torch.arange(4),
    ((x > 0).long() * (2 ** torch.arange(6))).sum(1),
     (x > 0).long() * (1 << torch.arange(6)), 3 ** torch.arange(9), torch.arange(5) ** torch.arange(5)), ints(200, 5),
         (3, 6))  # fmt: skip
