"""Operators that are written in others while a program is traced, or computed of constants alone; and gradients within
a program: each forward and backward against PyTorch, in float64.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils import _pytree as pytree

from napkin_eq.lang.errors import NapkinError
from napkin_eq.pytorch.importer import from_torch
from tests.pytorch.test_operators import agrees

KINDS: dict[str, tuple[Any, ...]] = {}


def kind(name, fn, *shapes):
    """Enter a function and its inputs: a shape gives random numbers, a tensor is taken as it is."""
    KINDS[name] = (fn, shapes)


def given(shapes):
    torch.manual_seed(5)
    return [s if isinstance(s, torch.Tensor) else torch.randn(s, dtype=torch.float64) for s in shapes]


def gradients(fn):
    """Return the function that gives the gradients of a fixed weighting of what a function gives."""

    def of(*tensors):
        own = [t.detach().clone().requires_grad_() if t.is_floating_point() else t for t in tensors]
        found = [v for v in pytree.tree_leaves(fn(*own)) if v.requires_grad]
        loss = sum((v * torch.cos(torch.arange(v.numel(), dtype=v.dtype)).view(v.shape)).sum() for v in found)
        return [g for g in torch.autograd.grad(loss, [t for t in own if t.requires_grad], allow_unused=True)
                if g is not None]  # fmt: skip

    return of


def attended(x):
    layer = nn.functional.scaled_dot_product_attention
    return layer(x, x.flip(1), x), layer(x, x, x, is_causal=True)


ROWS, PLACES = torch.tensor([2, 0, 2, 1, 4]), torch.tensor([0, 1, 2, 0, 1, 1, 2])
kind("covariances", lambda x: (x.cov(), torch.cov(x.T, correction=0), x[0].cov(), torch.corrcoef(x)), (4, 6))
kind("weighted covariances", lambda x, w: (x.cov(aweights=w.abs()), x.cov(fweights=PLACES),
     x.cov(fweights=PLACES, aweights=w.abs(), correction=2)), (3, 7), (7,))  # fmt: skip
kind("elements together", lambda x: (torch.combinations(x), torch.combinations(x, 3, True)), (5,))
kind("distances of pairs", lambda x: (F.pdist(x), torch.pdist(x, 1.0), torch.pdist(x, 3.0)), (5, 3))
kind("counts", lambda x: torch.bincount(ROWS, minlength=6) * x, (6,))
kind("windows", lambda x: [x * getattr(torch, f"{name}_window")(8, dtype=x.dtype)
     for name in ("hann", "hamming", "blackman", "bartlett", "kaiser")], (3, 8))  # fmt: skip
kind("of constants", lambda x: x * torch.special.i0(torch.arange(4, dtype=x.dtype)) + torch.fft.fftfreq(4), (3, 4))
kind("sampled", lambda x, g: [F.grid_sample(x, g.tanh() * 1.3, *how) for how in
     (("bilinear", "zeros", False), ("bilinear", "reflection", True), ("nearest", "border", False))],
     (2, 2, 4, 3), (2, 2, 2, 2))  # fmt: skip
for _how in (("bilinear", "zeros", True), ("bilinear", "border", False), ("bilinear", "reflection", False),
             ("nearest", "reflection", True)):  # fmt: skip
    kind(f"sampled in space, {_how}", lambda x, g, how=_how: F.grid_sample(x, g.tanh() * 1.3, *how),
         (1, 2, 3, 2, 4), (1, 2, 1, 2, 3))  # fmt: skip
kind("affine in space", lambda x, t: F.grid_sample(x, F.affine_grid(t, [1, 2, 3, 2, 2], align_corners=False),
     align_corners=False), (1, 2, 2, 3, 3), (1, 3, 4))  # fmt: skip
kind("smoothed", lambda x: [F.interpolate(x, mode=mode, antialias=True, align_corners=corners, **size)
     for mode in ("bilinear", "bicubic") for corners in (False, True)
     for size in ({"size": (3, 11)}, {"scale_factor": (1.7, 0.6)})], (1, 2, 8, 7))  # fmt: skip
kind("drawn larger", lambda x: [F.interpolate(x, (5, 9), mode=mode) for mode in
     ("nearest", "nearest-exact", "bilinear", "bicubic", "area")], (1, 2, 4, 6))  # fmt: skip
kind("drawn larger in space", lambda x: F.interpolate(x, (4, 3, 5), mode="trilinear"), (1, 2, 3, 2, 4))
kind("drawn longer", lambda x: F.interpolate(x, 5, mode="linear", align_corners=True), (2, 3, 8))
kind("curves", lambda x: F.silu(x) * F.mish(x.T), (4, 4))
kind("attended", attended, (2, 3, 5, 4))
kind("margins", lambda x: (F.multi_margin_loss(x, PLACES[:5]), F.multi_margin_loss(x, PLACES[:5], 2, 0.7)), (5, 4))
kind("lists", lambda x, y: [torch._foreach_add([x, y], [y, x], alpha=0.5), torch._foreach_mul([x, y], [0.5, 2.0]),
     torch._foreach_addcdiv([x], [y], [x.exp()], -0.1), torch._foreach_norm([x, y]), torch._foreach_sqrt([x.exp()]),
     torch._foreach_maximum([x], 0.1), torch._foreach_maximum([x], [y]), torch._foreach_lerp([x], [y], 0.3)],
     (3, 4), (3, 4))  # fmt: skip


def framed(x):
    window = torch.hann_window(8, dtype=x.dtype)
    return torch.stft(x, 8, 4, window=window, return_complex=True).abs().pow(2)


def halves(x):
    f = torch.fft.rfft2(x, norm="ortho")
    shown = torch.fft.fftshift(f).abs(), f.angle(), torch.fft.rfft(x, n=12).abs(), torch.fft.rfft(x, n=4).imag
    return torch.fft.irfft2(f, s=x.shape[-2:], norm="ortho"), torch.fft.irfft(f, n=5), *shown


def filtered(x, real, imaginary):
    """Low frequencies by weights of their own, in a tensor that is written to."""
    w, f = torch.complex(real, imaginary), torch.fft.rfft2(x)
    out = torch.zeros(2, 3, 6, 4, dtype=w.dtype)
    out[:, :, :2, :3] = torch.einsum("bixy,ioxy->boxy", f[:, :, :2, :3], w)
    out[:, :, -2:, :3] = torch.einsum("bixy,ioxy->boxy", f[:, :, -2:, :3], w.conj())
    return torch.fft.irfft2(out, s=(6, 6))


def correlated(a, b):
    f, g = torch.fft.rfft(a, 13), torch.fft.rfft(b, 13)
    return torch.fft.irfft(f * g, 13), torch.fft.irfft(f * g.conj(), 13), torch.fft.ifft(torch.fft.fft(a)).real


def mixed(x, y):
    """Real and whole numbers beside complex ones: they have no imaginary part."""
    z = torch.complex(x, y)
    found = [torch.cat([z, x]), torch.cat([z, x.long()]), torch.where(x > 0, z, 1.0), F.pad(z, (1, 1), value=2.0)]
    found += [z.masked_fill(x > 0, 2), z / (z + 3), 1 / (z + 4), z * 2 + 1, torch.exp(z * 1j), z @ z.conj().T, z - x]
    return [part for v in found for part in (v.real, v.imag)]


def cast(x):
    """Real and whole numbers as complex ones."""
    w = (x * 3).long().to(torch.complex128) * (1 + 2j)
    return torch.fft.ifft2(x).real, torch.fft.fft2(x).abs(), (w * x).imag, x.to(w.dtype).real


kind("transforms", lambda x: torch.fft.fft(torch.fft.fft(x), dim=-2).real, (2, 5, 6))
kind("transforms of halves", halves, (2, 7, 9))
kind("frames", framed, (1, 20))
kind("frequencies", filtered, (2, 3, 6, 6), (3, 3, 2, 3), (3, 3, 2, 3))
kind("correlations", correlated, (3, 7), (3, 7))
kind("complex and not", mixed, (4, 6), (4, 6))
kind("casts", cast, (4, 6))


@pytest.mark.parametrize("name", KINDS)
def test_it_is_what_pytorch_says_and_so_are_its_gradients(name):
    fn, shapes = KINDS[name]
    tensors = given(shapes)
    agrees(name, from_torch(fn, *tensors).run(*tensors), fn(*tensors))
    backward = gradients(fn)
    agrees(name, from_torch(backward, *tensors).run(*tensors), backward(*tensors))


def test_steps_of_an_optimiser_over_lists_of_parameters():
    def step(params, grads, means, squares):
        means, squares = torch._foreach_mul(means, 0.9), torch._foreach_mul(squares, 0.99)
        torch._foreach_add_(means, grads, alpha=0.1)
        torch._foreach_addcmul_(squares, grads, grads, 0.01)
        rates = torch._foreach_sqrt(squares)
        torch._foreach_add_(rates, 1e-3)
        return torch._foreach_addcdiv(params, means, rates, [-0.1, -0.2]), means, squares

    lists = [given([(3, 2), (4,)]) for _ in range(3)] + [[t.abs() for t in given([(3, 2), (4,)])]]
    agrees("step", from_torch(step, *lists).run(*lists), step(*copy.deepcopy(lists)))


@pytest.mark.parametrize("momentum", [None, 0.1])
def test_a_norm_that_a_module_has_twice_writes_its_statistics_twice(momentum):
    """torch.export gave it two names, and could not decompose what is written under both; and of the mean over all
    batches it asked how many there were.
    """
    norm = nn.BatchNorm1d(6, momentum=momentum).double()
    module, x = nn.Sequential(norm, nn.ReLU(), norm), torch.randn(2, 6, 5, dtype=torch.float64)
    program = from_torch(copy.deepcopy(module), x)
    trained = copy.deepcopy(module)
    agrees("norm", program.run(x), trained(x))
    found = dict(zip((p.target for p in program.outputs), program.evaluated(program.bound(x)), strict=True))
    for name, wanted in trained.named_buffers():
        assert torch.allclose(found[name].double(), wanted.double()), name


def test_numbers_past_the_counted_ones_are_refused():
    program = from_torch(lambda i: torch.bincount(i, minlength=4), torch.tensor([0, 3]))
    assert program.run(torch.tensor([3, 3])).tolist() == [0, 0, 0, 2]
    with pytest.raises(NapkinError, match="outside of a dimension"):
        program.run(torch.tensor([0, 4]))
