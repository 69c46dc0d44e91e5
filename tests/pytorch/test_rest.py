"""What stays PyTorch on a GPU is compiled by Inductor, beside regions that are operators of torch.library: as it is
done there, on a CPU.
"""

from __future__ import annotations

import shutil
import warnings
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from napkin_eq.pytorch import backend, calls

pytestmark = pytest.mark.skipif(not shutil.which("g++"), reason="Inductor has no C++ compiler here")


@pytest.fixture(autouse=True)
def _as_on_a_gpu(monkeypatch):
    monkeypatch.setattr(backend, "_machine", lambda options, inputs: ("h200", True, True))
    torch._dynamo.reset()
    backend.reports.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def fast(fn, **more):
    options = {"executor": "reference", "rest": "inductor"}
    return torch.compile(fn, backend=partial(backend.napkin_eq, options=options), **more)


def agree(fn, *tensors):
    """Hold values, strides and gradients against eager's; every graph has a region, and Inductor takes what stays."""
    results = []
    for run in (fn, fast(fn)):
        own = [t.clone().requires_grad_(t.is_floating_point()) for t in tensors]
        found = run(*own)
        found = list(found) if isinstance(found, tuple) else [found]
        loss = sum((value * value).sum() for value in found if value.requires_grad)
        grads = torch.autograd.grad(loss, [t for t in own if t.requires_grad], allow_unused=True)
        results.append([*found, *(g for g in grads if g is not None)])
    for wanted, got in zip(*results, strict=True):
        assert got.stride() == wanted.stride() and got.dtype == wanted.dtype
        torch.testing.assert_close(got, wanted, rtol=2e-3, atol=1e-3)
    assert backend.reports and all(report.taken and not report.plain for report in backend.reports), backend.reports


def heads(x, w):
    """Views before and after what is computed: these stay."""
    q, k, v = (x @ w).view(2, 6, 3, 2, 4).permute(2, 0, 3, 1, 4)
    y = torch.softmax(q @ k.mT, -1) @ v
    return y.transpose(1, 2).reshape(2, 6, 8), y[:, 0], torch.softmax(x, 1).transpose(0, 1)


def constants(x):
    """Tensors of the program itself, one of which a region computes of no input."""
    decay = 1 - torch.exp(torch.linspace(-3.0, -1.0, 6))
    return x * torch.tensor([1.0, 2.0, 4.0, 3.0, 5.0, 6.0]), x.cumsum(1) * decay


def parts(x):
    """Results that stand in a part of the memory of what they were taken of."""
    steps = (x * 2).tanh()
    state, found = torch.zeros_like(x[:, 0]), []
    for t in range(3):
        state = 0.5 * state + steps[:, t]
        found.append(state)
    return torch.stack(found, 1), steps[:, 1]


@pytest.mark.parametrize(("fn", "shapes"), [(heads, [(2, 6, 8), (8, 24)]), (constants, [(4, 6)]), (parts, [(2, 4, 3)])])
def test_what_stays_is_compiled_beside_the_regions(fn, shapes):
    torch.manual_seed(0)
    agree(fn, *(torch.randn(shape) for shape in shapes))


def test_an_encoder_layer_trains():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True)
    agree(lambda x: layer(x), torch.randn(2, 6, 16))


def test_dropout_is_drawn_anew_and_statistics_are_kept():
    torch.manual_seed(0)
    x = torch.randn(64, 8)
    run = fast(nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Dropout(0.5)))
    first = run(x)
    assert not torch.equal(first, run(x)) and 0.3 < (first == 0).float().mean() < 0.7
    norm, other = nn.BatchNorm1d(8), nn.BatchNorm1d(8)
    torch.testing.assert_close(fast(norm)(x), other(x))
    torch.testing.assert_close(norm.running_var, other.running_var)
    assert not any(report.plain for report in backend.reports)


def test_what_inductor_does_not_compile_runs_as_it_is_and_it_is_said(monkeypatch):
    import torch._inductor.compile_fx as inductor

    def refuse(*args, **kwargs):
        raise AssertionError("no such operator")

    monkeypatch.setattr(inductor, "compile_fx_inner", refuse)
    x = torch.randn(3, 5)
    torch.testing.assert_close(fast(lambda t: F.softmax(t, 1).t())(x), F.softmax(x, 1).t())
    (report,) = backend.reports
    assert report.plain == "AssertionError: no such operator" and report.plain in str(report)


def test_effects_and_systems_of_equations_stay_pytorch():
    def solved(a, y):
        s = a @ a.mT + 4 * torch.eye(4)
        return torch.linalg.solve(s, y)

    torch.manual_seed(0)
    a, y = torch.randn(3, 4, 4), torch.randn(3, 4)
    wanted, got = (run(a.requires_grad_(), y) for run in (solved, fast(solved)))
    torch.testing.assert_close(got, wanted)
    slopes = [torch.autograd.grad(value.sum(), a)[0] for value in (wanted, got)]
    torch.testing.assert_close(*slopes, rtol=1e-4, atol=1e-5)


def test_a_region_is_named_by_what_it_is():
    """Inductor remembers graphs on disk by their text: one name is one function, in every process."""
    for fn, rows in ((torch.sin, 4), (torch.cos, 4), (torch.sin, 4), (torch.sin, 5)):
        torch._dynamo.reset()
        given = torch.randn(rows, 6)
        torch.testing.assert_close(fast(lambda t, f=fn: f(t) * 2)(given), fn(given) * 2)
    names = [calls.digest(report.taken[0]) for report in backend.reports]
    assert names[0] == names[2] and len(set(names)) == 3


def test_a_graph_of_which_nothing_is_taken_is_inductors_as_if_no_one_else_had_been_asked(monkeypatch):
    from torch._inductor import compile_fx

    whole, asked = compile_fx.compile_fx, []
    monkeypatch.setattr(backend, "chosen", lambda *args: [])
    monkeypatch.setattr(compile_fx, "compile_fx", lambda *args, **more: asked.append(args) or whole(*args, **more))
    x = torch.randn(4, 8)
    with torch.no_grad():
        torch.testing.assert_close(fast(torch.tanh)(x), torch.tanh(x))
    assert len(asked) == 1 and "0 of 0 regions" in str(backend.reports[-1])


def test_graphs_of_a_step_are_made_ready_as_inductor_makes_both_ready_together():
    seen = []
    with torch._inductor.config.patch(joint_custom_post_pass=lambda graph: seen.append(graph)):
        agree(lambda x, w: (x @ w).relu().sum(), torch.randn(6, 8), torch.randn(8, 5))
    assert len(seen) >= 2
