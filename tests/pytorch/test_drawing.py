"""Draws of PyTorch's own stream: the map from elements to words is that of PyTorch's kernels, draws are taken apart
where kernels compute them, and in no other graph; forward and backward see one mask.

There is no GPU here: PyTorch's kernels are written out as loops over threads, and the generator is a counter. Against
PyTorch's own numbers the map is held on a GPU, each time it is used there (`drawing.widest`).
"""

from __future__ import annotations

import shutil
import warnings
from functools import partial

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import napkin_eq as nq
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.numpy_semantics import random
from napkin_eq.pytorch import backend
from napkin_eq.pytorch import order as drawing
from napkin_eq.pytorch.build.draws import advanced, drawn, limit, threads, vector

PROCESSORS, EACH, SEED = 2, 512, -12345678901
MOST = PROCESSORS * EACH  # threads at the most


class Generator:
    """A generator of a GPU, which tells its seed and a counter."""

    offset = 8

    def state(self, counters, device):
        found = torch.tensor([SEED, self.offset // 4])
        self.offset += 4 * counters
        return found


@pytest.fixture
def generator(monkeypatch):
    found = Generator()
    monkeypatch.setattr(drawing, "DEVICES", ("cpu",))
    monkeypatch.setattr(drawing, "widest", lambda device, dtype: 4)
    monkeypatch.setattr(drawing, "processors", lambda device: (PROCESSORS, EACH))
    monkeypatch.setattr(drawing, "state", found.state)
    torch._dynamo.reset()
    backend.reports.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield found


def by_threads(elements, together):
    """Return the words of elements as threads take them: what the two kernels of Dropout.cu do, thread by thread."""
    count, turn = threads(elements, PROCESSORS, EACH), max(1, together // 4)
    found = np.full(elements, -(2**40))
    step = count * together * (4 if together == 1 else 1)
    for thread in range(count):
        for loop, first in enumerate(range(thread * together, elements, step)):
            for at in range(4 if together == 1 else together):
                place = first + (at * count if together == 1 else at)
                if place < elements:
                    found[place] = random(SEED, thread, 2 + loop * turn + at // 4, at % 4)
    return found


@pytest.mark.parametrize("elements", [1, 7, 512, 1000, 1023, 2050, 4096, 5000, 9001, 16384])
def test_words_are_those_that_threads_of_pytorch_draw(elements):
    count = threads(elements, PROCESSORS, EACH)
    assert count % 256 == 0 and count <= MOST
    for widest in (1, 4, 8):
        together = vector(elements, widest)
        assert elements % together == 0
        got = drawn(torch.tensor([SEED, 2]), (elements,), 0, count, together)
        assert (got.numpy() == by_threads(elements, together)).all()


def test_a_call_advances_the_generator_by_what_its_threads_take():
    """As `calc_execution_policy` of DistributionTemplates.h and `dropout_cuda` of Dropout.cu reckon."""
    assert [advanced(n, threads(n, 132, 2048)) for n in (1, 2**20, 1081344, 1081345, 2**24)] == [1, 1, 1, 2, 16]
    assert threads(2**30, 132, 2048) == 132 * 8 * 256 and threads(257, 132, 2048) == 512


@pytest.mark.parametrize("share", [0.5, 0.9, 1 - 0.1, 1 / 3, 0.001])
def test_a_word_is_compared_as_its_number_is(share):
    """The number that PyTorch compares is x / 2^32 + 1 / 2^33 in float32, for a word x, in any case of rounding."""
    generator = np.random.default_rng(0)
    most = limit(share) + 2**31
    near = np.clip(most + np.arange(-300, 300), 0, 2**32 - 1)
    for words in (near, generator.integers(0, 2**32, 100_000), np.arange(1000), 2**24 + np.arange(-50, 50)):
        numbers = words.astype(np.float32) * np.float32(2.0**-32) + np.float32(2.0**-33)
        assert ((words <= most) == (numbers < np.float32(share))).all()
    for none in (0.0, 1.0, 1e-9):
        with pytest.raises(NapkinError, match="hardly any"):
            limit(none)


@pytest.mark.parametrize("size", [(3, 5), (2, 3, 8), (6, 1, 4), (2, 40, 64), (1,), (5001,)])
@pytest.mark.parametrize("widest", [1, 4, 8])
def test_the_term_of_words_is_what_they_are(size, widest):
    elements = int(np.prod(size))
    count, together = threads(elements, PROCESSORS, EACH), vector(elements, widest)
    mix = drawing.own_operators()[1]
    program = nq.from_torch(lambda state: mix(state, size, 3, count, together), torch.tensor([1, 2]))
    state = torch.tensor([SEED, 2**33 + 5])
    assert (program.run(state) == drawn(state, size, 3, count, together)).all()


def dropped(x, p, generator):
    """Drop numbers as PyTorch does on a GPU."""
    count = threads(x.numel(), PROCESSORS, EACH)
    state = generator.state(advanced(x.numel(), count), x.device)
    kept = drawn(state, tuple(x.shape), 0, count, vector(x.numel(), 4)) <= limit(1.0 - p)
    return x * kept * (1.0 / (1.0 - p))


def weighed(q, k, v, drop):
    return drop(torch.softmax(q @ k.mT * 0.25, -1)) @ v


def twice(q, k, v, drop):
    """Two draws with nothing drawn between: the counters of both are taken at once."""
    return weighed(q, k, weighed(k, q, v, drop), drop)


def masked(q, k, v, drop):
    """What is kept of a contraction's weights as `bernoulli` has it."""
    return (q @ k.mT * torch.bernoulli(torch.ones(q.shape[0], q.shape[1], k.shape[1]), 0.75)) @ v


def by_library(q, k, v, drop):
    """What PyTorch spells out in products and a dropout where no library of its own computes it."""
    with nn.attention.sdpa_kernel(nn.attention.SDPBackend.MATH):
        q, k, v = (t[None] for t in (q, k, v))
        if drop is not dropout:
            return (drop((q @ k.mT * 0.25).softmax(-1)) @ v)[0]
        return F.scaled_dot_product_attention(q, k, v, dropout_p=0.1)[0]


def compiled(fn, executor="reference"):
    return torch.compile(fn, backend=partial(backend.napkin_eq, options={"executor": executor}))


@pytest.mark.parametrize("fn", [weighed, twice, by_library])
@pytest.mark.parametrize("training", [False, True])
def test_numbers_are_dropped_as_pytorch_drops_them(generator, fn, training):
    torch.manual_seed(0)
    tensors = [torch.randn(3, 40, 16) for _ in range(3)]
    results = []
    for run in (partial(fn, drop=lambda w: dropped(w, 0.1, generator)), compiled(partial(fn, drop=dropout))):
        generator.offset = 8
        own = [t.clone().requires_grad_(training) for t in tensors]
        y = run(*own)
        grads = torch.autograd.grad((y * y).sum(), own) if training else ()
        results.append([y, *grads])
        results[-1].append(torch.tensor(generator.offset))
    for wanted, got in zip(*results, strict=True):
        torch.testing.assert_close(got, wanted, rtol=2e-5, atol=2e-5)
    assert results[0][-1] > 8
    taken = [region for report in backend.reports for region in report.taken]
    assert [report.kind for report in backend.reports] == (["forward", "backward"] if training else ["inference"])
    for report in backend.reports:
        assert any(list(drawing.words_of(r.nodes)) for r in report.taken), report
    if training and fn is not twice:  # nothing as large as the weights is kept for the backward
        forward = backend.reports[0]
        assert all(n.meta["val"].numel() < 3 * 40 * 40 for r in forward.taken for n in r.returns)
    assert taken


@pytest.mark.skipif(not shutil.which("g++"), reason="Inductor has no C++ compiler here")
@pytest.mark.parametrize("training", [False, True])
def test_inductor_compiles_what_stays_around_a_draw(generator, monkeypatch, training):
    monkeypatch.setattr(backend, "_machine", lambda options, inputs: ("h200", True, True))

    def fn(q, k, v, drop):
        return torch.cumsum(twice(q, k, v, drop).sin(), 1) + torch.special.i0(q)

    tensors = [torch.randn(3, 40, 16) for _ in range(3)]
    options = {"executor": "reference", "rest": "inductor"}
    fast = torch.compile(partial(fn, drop=dropout), backend=partial(backend.napkin_eq, options=options))
    results = []
    for run in (partial(fn, drop=lambda w: dropped(w, 0.1, generator)), fast):
        generator.offset = 8
        own = [t.clone().requires_grad_(training) for t in tensors]
        y = run(*own)
        results.append([y, *(torch.autograd.grad((y * y).sum(), own) if training else ())])
        results[-1].append(torch.tensor(generator.offset))
    for wanted, got in zip(*results, strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-3, atol=1e-3)
    assert all(not report.plain and not report.failed for report in backend.reports), backend.reports


def dropout(w):
    return F.dropout(w, 0.1, True)


def test_a_kernel_drops_what_pytorch_drops(generator):
    pytest.importorskip("triton")
    import triton

    if not triton.knobs.runtime.interpret:
        pytest.skip("Triton's interpreter is off")
    torch.manual_seed(0)
    tensors = [torch.randn(2, 24, 16) for _ in range(3)]
    with torch.no_grad():
        wanted = weighed(*tensors, lambda w: dropped(w, 0.1, generator))
        generator.offset = 8
        got = compiled(partial(weighed, drop=dropout), "kernels")(*tensors)
    torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-4)
    (report,) = backend.reports
    assert any(list(drawing.words_of(r.nodes)) for r in report.taken)


def test_bernoulli_is_the_kernel_of_single_elements(generator):
    tensors = [torch.randn(3, 40, 16) for _ in range(3)]
    with torch.no_grad():
        got = compiled(partial(masked, drop=None))(*tensors)
    assert generator.offset > 8
    count = threads(4800, PROCESSORS, EACH)
    kept = drawn(torch.tensor([SEED, 2]), (3, 40, 40), 0, count, 1) <= limit(0.75)
    q, k, v = tensors
    torch.testing.assert_close(got, (q @ k.mT * kept) @ v, rtol=2e-5, atol=2e-5)


class Left(nn.Module):  # type: ignore[misc]
    def __init__(self, how):
        super().__init__()
        self.how = how

    def forward(self, x, w):
        if self.how == "read by no contraction":
            return F.dropout(x @ w, 0.1, True) + 1.0
        if self.how == "in an order of its own":
            return F.dropout((x @ w).T, 0.1, True).T @ w
        if self.how == "of what is given":
            return F.dropout(x, 0.1, True) @ w
        if self.how == "hardly a mask":
            return F.dropout(x @ w, 1e-9, True) @ w
        return F.dropout((x @ w).double(), 0.1, True).float() @ w


@pytest.mark.parametrize(
    "how",
    ["read by no contraction", "in an order of its own", "of what is given", "hardly a mask", "in float64"],
)
def test_what_stays_pytorch(generator, how):
    with torch.no_grad():
        compiled(Left(how))(torch.randn(6, 8), torch.randn(8, 8))
    assert generator.offset == 8
    nodes = [node for report in backend.reports for r in report.regions for node in r.nodes]
    assert any("native_dropout" in str(node.target) for node in nodes)
    assert not list(drawing.words_of(nodes))


def test_open_sizes_stay_pytorch(generator):
    fn = torch.compile(
        partial(weighed, drop=dropout),
        backend=partial(backend.napkin_eq, options={"executor": "reference"}),
        dynamic=True,
    )
    with torch.no_grad():
        fn(*(torch.randn(3, 40, 16) for _ in range(3)))
    assert generator.offset == 8


def test_a_graph_of_which_words_stay_is_as_it_was(generator, monkeypatch):
    monkeypatch.setattr(drawing, "covered", lambda module, regions: False)
    tensors = [torch.randn(3, 40, 16, requires_grad=True) for _ in range(3)]
    compiled(partial(weighed, drop=dropout))(*tensors).sum().backward()
    assert generator.offset == 8
    nodes = [node for report in backend.reports for r in report.regions for node in r.nodes]
    assert not list(drawing.words_of(nodes))


def test_on_a_cpu_draws_stay_pytorch():
    torch._dynamo.reset()
    torch.manual_seed(3)
    tensors = [torch.randn(3, 40, 16) for _ in range(3)]
    fn = partial(weighed, drop=dropout)
    with torch.no_grad():
        torch.manual_seed(5)
        wanted = fn(*tensors)
        torch.manual_seed(5)
        got = compiled(fn)(*tensors)
    assert got.shape == wanted.shape


@pytest.mark.parametrize("gradients", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_weights_that_are_dropped_are_never_stored(gradients):
    """Scores of 32 x 512 x 1024, under a mask that is drawn where they are: no array of a plan is as large, forward or
    backward.
    """
    heads, rows, columns, width = 32, 512, 1024, 64
    mix = drawing.own_operators()[1]
    count = threads(heads * rows * columns, 132, 2048)

    def forward(q, k, v, state):
        kept = mix(state, [heads, rows, columns], 0, count, 4) <= limit(0.9)
        return (torch.softmax(q @ k.mT * width**-0.5, -1) * kept * (1 / 0.9)) @ v

    def backward(q, k, v, g, state):
        q, k, v = (t.detach().requires_grad_() for t in (q, k, v))
        return torch.autograd.grad(forward(q, k, v, state), (q, k, v), g)

    sizes = [rows, columns, columns, rows][: 4 if gradients else 3]
    given = [*(torch.randn(heads, size, width) for size in sizes), torch.tensor([SEED, 7])]
    program = nq.from_torch(backward if gradients else forward, *given)
    found = nq.derive(program.diagram, dtype="bfloat16")
    held = [[axis.size for axis in buffer.dims] for buffer in (*found.plan.outputs, *found.plan.scratch)]
    assert all(np.prod(sizes, dtype=int) < heads * rows * columns for sizes in held), held
    if not gradients:
        assert len(found.plan.kernels) == 1
