"""Attention as PyTorch's libraries have it, forward and backward: read, and right in the backend."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch.fx.experimental.proxy_tensor import make_fx

from napkin_eq.pytorch import backend
from napkin_eq.pytorch.importer import of_graph
from napkin_eq.pytorch.naming import Refused
from napkin_eq.pytorch.operators.products import without_state
from tests.pytorch.test_backend import compiled, same, step

A = torch.ops.aten
MASK = torch.rand(6, 6, generator=torch.Generator().manual_seed(3)) > 0.4
EMPTY = MASK & (torch.arange(6)[:, None] != 2)  # a row in which nothing is left
ADDED = torch.randn(2, 1, 6, 6, generator=torch.Generator().manual_seed(4))
CASES = {
    "plain": {},
    "causal": {"is_causal": True},
    "mask": {"attn_mask": MASK},
    "an empty row": {"attn_mask": EMPTY},
    "added": {"attn_mask": ADDED},
    "added, an empty row": {"attn_mask": torch.where(EMPTY, 0.0, -math.inf)},
    "shared keys": {"heads": 2, "enable_gqa": True},
    "shared keys, causal, a scale": {"heads": 2, "enable_gqa": True, "is_causal": True, "scale": 0.3},
    "one head of keys, an empty row": {"heads": 1, "enable_gqa": True, "attn_mask": EMPTY.expand(2, 4, 6, 6)},
    "fewer rows": {"rows": 5, "keys": 9, "attn_mask": torch.arange(45).view(5, 9) % 4 != 1},
    "fewer rows, causal": {"rows": 5, "keys": 9, "is_causal": True},
    "wider values": {"width": 12},
}


pytestmark = pytest.mark.usefixtures("fresh")


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_are_those_of_pytorch(name):
    said = dict(CASES[name])
    heads, rows, keys, width = (said.pop(k, d) for k, d in (("heads", 4), ("rows", 6), ("keys", 6), ("width", 8)))
    generator = torch.Generator().manual_seed(0)
    shapes = (2, 4, rows, 8), (2, heads, keys, 8), (2, heads, keys, width)
    tensors = [torch.randn(shape, generator=generator).requires_grad_() for shape in shapes]

    def attended(q, k, v):
        return F.scaled_dot_product_attention(q * 1.5, k, v, **said).tanh()

    same(step(compiled(attended), tensors, tensors), step(attended, tensors, tensors))
    assert len(backend.reports) == 2 and not any(region.reason for r in backend.reports for region in r.regions)


def flash(q, k, v, g, bias, causal):
    out, logs, at, to, rows, keys, seed, offset, _ = A._scaled_dot_product_flash_attention(
        q, k, v, 0.0, causal, False, scale=0.3
    )
    return out, *A._scaled_dot_product_flash_attention_backward(
        g, q, k, v, out, logs, at, to, rows, keys, 0.0, causal, seed, offset, scale=0.3
    )


def efficient(q, k, v, g, bias, causal):
    out, logs, seed, offset = A._scaled_dot_product_efficient_attention(q, k, v, bias, True, 0.0, causal, scale=0.3)
    asked = [True, True, True, bias is not None]
    return out, *A._scaled_dot_product_efficient_attention_backward(
        g, q, k, v, bias, out, logs, seed, offset, 0.0, asked, causal, scale=0.3
    )


def cudnn(q, k, v, g, bias, causal):
    out, logs, at, to, rows, keys, seed, offset, _ = A._scaled_dot_product_cudnn_attention(
        q, k, v, bias, True, 0.0, causal, False, scale=0.3
    )
    return out, *A._scaled_dot_product_cudnn_attention_backward(
        g, q, k, v, out, logs, seed, offset, bias, at, to, rows, keys, 0.0, causal, scale=0.3
    )


def by_products(tensors, g, causal):
    leaves = [t.double().requires_grad_() for t in tensors]
    mask = leaves[3] if len(leaves) > 3 else None
    out = F.scaled_dot_product_attention(*leaves[:3], attn_mask=mask, is_causal=causal, scale=0.3)
    return [out.detach(), *torch.autograd.grad(out, leaves, g.double())]


def joint(fn, tensors, g, causal):
    """Return a graph of forward and backward, as a GPU would have it."""
    given = [t.to("meta") for t in (*tensors[:3], g, *tensors[3:])]

    def both(q, k, v, g, *bias):
        results = fn(q, k, v, g, bias[0] if bias else None, causal)
        return tuple(r for r in results if isinstance(r, torch.Tensor) and r.numel())

    arguments = (lambda q, k, v, g, b: both(q, k, v, g, b)) if len(given) > 4 else (lambda q, k, v, g: both(q, k, v, g))
    module = make_fx(arguments, tracing_mode="fake")(*given)
    without_state(module)
    module.graph.eliminate_dead_code()
    return module


@pytest.mark.parametrize(
    ("fn", "causal", "biased"),
    [(flash, False, False), (flash, True, False), (efficient, False, True), (efficient, True, False),
     (cudnn, False, True), (cudnn, True, False)],
)  # fmt: skip
def test_the_operators_of_a_gpu_give_what_products_give(fn, causal, biased):
    generator = torch.Generator().manual_seed(0)
    *tensors, g = (torch.randn(2, 3, 32, 8, generator=generator) for _ in range(4))
    if biased:
        tensors.append(torch.randn(2, 3, 32, 32, generator=generator))
    module = joint(fn, tensors, g, causal)
    program = of_graph(module.graph, "region", {}, {}, undefined=True)
    found = program.evaluated(program.bound(*tensors[:3], g, *tensors[3:]))
    wanted = by_products(tensors, g, causal)
    assert len(found) == len(wanted) - (fn is cudnn and biased)  # which has no gradient of what is added
    for got, want in zip(found, wanted, strict=False):
        torch.testing.assert_close(got.double(), want, rtol=1e-9, atol=1e-9)


def test_a_gradient_of_what_drops_nothing_reads_no_state_of_a_generator():
    tensors = [torch.randn(1, 2, 32, 8) for _ in range(3)]
    module = joint(flash, tensors, tensors[0], True)
    read = {node.args[1] for node in module.graph.nodes if "getitem" in str(node.target)
            and "flash_attention.default" in str(node.args[0].target)}  # fmt: skip
    assert read == {0, 1}


def test_logarithms_that_lie_among_others_are_left():
    tensors = [torch.randn(1, 2, 40, 8) for _ in range(3)]
    module = joint(efficient, tensors, tensors[0], True)
    with pytest.raises(Refused, match="its result 1 is not supported"):
        of_graph(module.graph, "region", {}, {}, undefined=True)
