"""Sizes that are symbols in the backend: one compilation serves every size, and each symbol is read off what a region
is given.
"""

from __future__ import annotations

from functools import partial

import pytest
import sympy
import torch
import torch.nn.functional as F

from napkin_eq.lang.errors import NapkinError
from napkin_eq.pytorch import backend, kernels
from napkin_eq.pytorch.sizes import settled

pytestmark = pytest.mark.usefixtures("fresh")


def holds(fn, make, sizes=(6, 9, 17), **options):
    """Hold one compilation against eager at several sizes, forward and backward."""
    fast = torch.compile(fn, backend=partial(backend.napkin_eq, options=options), dynamic=True)
    for size in sizes:
        torch.manual_seed(size)
        own = [t.requires_grad_(t.is_floating_point()) for t in make(size)]
        slopes = [t for t in own if t.requires_grad]
        results = []
        for run in (fn, fast):
            found = run(*own)
            results.append([found, *torch.autograd.grad((found * found).sum(), slopes)])
        for wanted, got in zip(*results, strict=True):
            assert got.stride() == wanted.stride()
            torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-4)
    assert [report.kind for report in backend.reports] == ["forward", "backward"], "one compilation for all sizes"
    assert all(report.taken and not report.failed for report in backend.reports)


def drawn(*shapes):
    """Return what makes tensors of shapes in which n stands for a size."""
    return lambda size: [torch.randn([size if n == "n" else n for n in shape]) for shape in shapes]


def causal(q, k, v):
    mask = torch.full((q.shape[-2], k.shape[-2]), float("-inf")).triu(1)
    return torch.softmax(q @ k.mT * 0.35 + mask, -1) @ v


PROGRAMS = {
    "softmax": (lambda x: torch.softmax(x * 2, -1), drawn(("n", 33))),
    "rows of n": (lambda x: torch.softmax(x, -1), drawn((7, "n"))),
    "mlp": (lambda x, w, v: F.gelu(x @ w) @ v, drawn(("n", 16), (16, 32), (32, 16))),
    "linear of rows of rows": (
        lambda x, w, b: F.layer_norm(F.relu(F.linear(x, w, b)), (24,)),
        drawn((3, "n", 16), (24, 16), (24,)),
    ),
    "attention": (causal, drawn((2, 4, "n", 8), (2, 4, "n", 8), (2, 4, "n", 8))),
    "statistics": (lambda x: (x - x.mean(0)) / (x.var(0) + 1e-5).sqrt(), drawn(("n", 5))),
    "a size as a number": (lambda x: x / x.shape[0] + torch.arange(x.shape[0])[:, None], drawn(("n", 3))),
    "a norm of batches": (
        lambda x, w: F.batch_norm(x, torch.zeros(5), torch.ones(5), w, w, training=True),
        drawn(("n", 5, 3), (5,)),
    ),
    "places beside others": (
        lambda x: (x[:, :, None] * 2).tanh().sum(2) * x[:, 1].exp()[:, None],
        drawn(("n", 4)),
    ),
    "left in part": (lambda x, y: torch.tanh(torch.cat([x, y], 0) * 2), drawn(("n", 5), ("n", 5))),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_compilation_serves_every_size(name):
    fn, make = PROGRAMS[name]
    holds(fn, make, executor="reference")
    if name != "left in part":
        views = "a view of what stands in memory"
        assert all(region.reason in ("", views) for report in backend.reports for region in report.regions)


def test_labels_and_classes_of_any_number():
    def make(size):
        return torch.randn(size, 11), torch.randint(0, 11, (size,))

    holds(lambda x, y: F.cross_entropy(x, y), make, executor="reference")


@pytest.mark.slow
def test_kernels_of_one_derivation_serve_every_size(monkeypatch, tmp_path):
    import triton

    monkeypatch.setattr(triton.knobs.runtime, "interpret", True)
    monkeypatch.setattr(kernels, "folder", lambda: tmp_path)
    fn, make = PROGRAMS["mlp"]
    holds(fn, make, seconds=100.0)
    assert all(region.kernels is not None for report in backend.reports for region in report.taken)
    assert len(list(tmp_path.glob("*.py"))) == sum(len(report.taken) for report in backend.reports)


S, T = (sympy.Symbol(name, integer=True, positive=True) for name in ("s", "t"))


@pytest.mark.parametrize(
    ("numbers", "shapes", "given", "wanted"),
    [
        ((4, (S, S // 2)), [(S, 3)], [(10, 3)], (4, (10, 5))),
        ((S,), [(3 * S + 2,)], [(17,)], (5,)),
        ((S * T, 8 * S * T), [(S * T, 8)], [(21, 8)], (21, 168)),
        ((S, T), [(S + T,), (T,)], [(9,), 4], None),
        ((S, T), [(S,), (T,)], [(9,), 4], (9, 4)),
    ],
)
def test_symbols_are_read_off_shapes_and_numbers(numbers, shapes, given, wanted):
    values = [torch.empty(shape) if isinstance(shape, tuple) else shape for shape in given]
    if wanted is None:
        with pytest.raises(NapkinError, match="the size s is read off no tensor"):
            settled(numbers, shapes)
    else:
        assert settled(numbers, shapes)(values) == wanted
