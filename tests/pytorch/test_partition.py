"""A graph of forward and backward in two: what is kept between them, what it computes, what a fault of ours does."""

from __future__ import annotations

import itertools
import json
import math
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch.autograd.graph import saved_tensors_hooks

from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.json_form import loads_diagram
from napkin_eq.lang.term import Reduce, subterms
from napkin_eq.pytorch import backend, regions
from napkin_eq.pytorch.flat import packed
from napkin_eq.pytorch.importer import from_torch
from napkin_eq.pytorch.kernels import Kernels
from napkin_eq.pytorch.order import plain
from tests.pytorch.test_backend import compiled, same, step

ROWS, WORDS, WIDE = 64, 512, 16


def kept(run):
    """Return what a call gives, and the bytes of each tensor that it keeps for its backward."""
    sizes = []

    def pack(held):
        sizes.append(held.numel() * held.element_size())
        return held

    with saved_tensors_hooks(pack, lambda held: held):
        found = run()
    return found, sizes


def losses():
    """Return losses over many classes, and a function that ends with such logits."""
    return {
        "cross entropy": lambda x, w, y: F.cross_entropy(x @ w, y),
        "smoothed": lambda x, w, y: F.cross_entropy(x @ w, y, label_smoothing=0.1),
        "half": lambda x, w, y: F.cross_entropy((x.bfloat16() @ w.bfloat16()).float(), y),
        "of the first dimension": lambda x, w, y: F.log_softmax((x @ w).t(), 0).t().gather(1, y[:, None]).sum(),
        "some left out": lambda x, w, y: F.cross_entropy(x @ w, torch.where(y < 9, -100, y), ignore_index=-100),
    }


def test_a_sum_of_what_one_place_has_is_no_sum():
    def scaled(labels, s, n):
        return torch.where(labels[:, None] == torch.arange(n), -1.0, 0.0) * s[:, None]

    labels, s = torch.tensor([0, 6, 7, -100, 3, -1]), torch.randn(6)
    for fn, folds in (
        (lambda t, s: scaled(t, s, 7).sum(1), 0),
        (lambda t, s: (scaled(t, s, 7) + 1.0).sum(1), 1),  # all of its lanes are summed up
        (lambda t, s: (scaled(t, s, 6) * s).sum(1), 1),
    ):
        program = from_torch(fn, labels, s)
        terms = subterms(*(term for _, term in program.diagram.outputs))
        assert sum(isinstance(term, Reduce) for term in terms) == folds
        torch.testing.assert_close(program.run(labels, s).float(), fn(labels, s))


def test_of_views_what_they_show_is_kept_once_and_as_it_lies(fresh):
    def attended(x, w):
        q, k, v = (part.view(2, 8, 3, 4).transpose(1, 2) for part in (x @ w).split(12, 2))
        first, rest = (q @ k.mT).softmax(-1).unbind(1)[0], k * v
        return first.sum() + (rest * rest).sum()

    generator = torch.Generator().manual_seed(0)
    x, w = (torch.randn(shape, generator=generator) for shape in ((2, 8, 16), (16, 36)))
    x.requires_grad_()
    w.requires_grad_()
    lying = []

    def pack(held):
        lying.append((packed(held.shape, held.stride()), held.untyped_storage()._cdata))
        return held

    with saved_tensors_hooks(pack, lambda held: held):
        found = compiled(attended)(x, w)
    wanted = attended(x, w)
    torch.testing.assert_close(found, wanted)
    for got, want in zip(*(torch.autograd.grad(of, (x, w)) for of in (found, wanted)), strict=True):
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)
    assert all(whole for whole, _ in lying) and len({at for _, at in lying}) == len(lying)


@pytest.mark.parametrize("name", losses())
def test_a_loss_keeps_no_logarithms_of_weights_and_has_its_gradients(fresh, name):
    generator, fn = torch.Generator().manual_seed(0), losses()[name]
    x, w = (torch.randn(shape, generator=generator) for shape in ((ROWS, WIDE), (WIDE, WORDS)))
    y = torch.randint(WORDS, (ROWS,), generator=generator)
    x.requires_grad_()
    w.requires_grad_()
    found, sizes = kept(lambda: compiled(fn)(x, w, y))
    wanted = fn(x, w, y)
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)
    # In bfloat16 PyTorch rounds logits, their gradients and products to 8 digits, in a sum of 512 classes
    off = {"rtol": 2.0**-7, "atol": 2.0**-8} if name == "half" else {"rtol": 1e-4, "atol": 1e-4}
    for got, want in zip(*(torch.autograd.grad(of, (x, w)) for of in (found, wanted)), strict=True):
        torch.testing.assert_close(got, want, **off)
    assert sum(sizes) < 1.2 * ROWS * WORDS * 4 + 4 * (x.nbytes + w.nbytes)  # the logits, no weights beside them


def test_what_is_written_in_parts_lies_as_it_did(fresh):
    x, places = torch.randn(5, 3), torch.tensor([[0], [2], [1]])
    x.requires_grad_()

    def fn(x):
        return F.log_softmax(x.t(), -1), torch.zeros_like(x.t()).scatter(1, places, 2.0) * x.t()

    for got, want in zip(compiled(fn)(x), fn(x), strict=True):
        torch.testing.assert_close(got, want)
        assert got.stride() == want.stride()


def test_what_is_cheap_is_computed_once_more(fresh):
    def fn(x):
        y = torch.tanh(x).transpose(0, 1).detach() + x.transpose(0, 1)
        return (F.gelu(y) * torch.sigmoid(y)).exp()

    x = torch.randn(64, 64, requires_grad=True)
    found, sizes = kept(lambda: compiled(fn)(x))
    torch.testing.assert_close(found, fn(x))
    assert sum(sizes) <= 2 * x.nbytes


def test_sizes_that_are_symbols_are_parted_too(fresh):
    def fn(x, y):
        return F.cross_entropy(x * 2, y)

    run = torch.compile(fn, backend=partial(backend.napkin_eq, options={"executor": "reference"}), dynamic=True)
    for rows in (5, 9):
        x, y = torch.randn(rows, 7, requires_grad=True), torch.randint(7, (rows,))
        torch.testing.assert_close(torch.autograd.grad(run(x, y), x), torch.autograd.grad(fn(x, y), x))


def test_what_is_rounded_for_a_product_is_stored_so(fresh):
    def fn(x, w, v):
        return torch.tanh((x.bfloat16() @ w.bfloat16()).float() + 1.0).bfloat16() @ v

    generator = torch.Generator().manual_seed(0)
    x, w, v = (torch.randn(shape, generator=generator) for shape in ((32, 16), (16, 32), (32, 8)))
    v = v.bfloat16()
    torch.testing.assert_close(compiled(fn)(x, w, v), fn(x, w, v), rtol=2e-2, atol=2e-2)
    products = [r for report in backend.reports for r in report.regions if any("mm" in str(n.target) for n in r.nodes)]
    assert products
    for region in products:
        assert region.program.dtype == "bfloat16"
        assert {node.meta["val"].dtype for node in region.given} == {torch.bfloat16}


def test_a_result_that_is_another_widened_is_stored_once(fresh):
    def fn(x, y):
        z = x + y
        return z, z.float(), z.float().square().sum()

    x, y = (torch.randn(8, 8).bfloat16() for _ in range(2))
    found, wanted = compiled(fn)(x, y), fn(x, y)
    assert [f.dtype for f in found] == [w.dtype for w in wanted]
    for got, want in zip(found, wanted, strict=True):
        torch.testing.assert_close(got, want, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("processes", [1, 3])
def test_a_fault_in_one_region_leaves_the_others(fresh, monkeypatch, processes):
    def of(region, *more, known=regions._query):
        if any("sum" in str(node.target) for node in region.nodes):
            raise KeyError("out")
        return known(region, *more)

    monkeypatch.setattr(regions, "_query", of)
    x, w = torch.randn(4, 6), torch.randn(6, 6)

    def fn(x, w):
        return torch.sort(torch.relu(x @ w), -1)[0].sum(-1)

    torch.testing.assert_close(compiled(fn, processes=processes)(x, w), fn(x, w))
    (report,) = backend.reports
    assert report.taken
    assert any("KeyError at test_partition.py" in region.reason for region in report.regions)
    assert not report.failed


def test_gradients_are_explained_whoever_holds_what_they_are_of(fresh):
    layer = torch.nn.Linear(4, 4)
    said = backend.explain_torch(lambda x: layer(x).tanh(), torch.ones(2, 4), options={"executor": "reference"})
    assert "forward graph" in said
    assert "backward graph" in said
    x = torch.ones(2, 4, requires_grad=True)
    before = x.exp()
    backend.explain_torch(lambda y: layer(y).tanh(), before, options={"executor": "reference"})
    torch.testing.assert_close(torch.autograd.grad(before.sum(), x)[0], before.detach())  # its own graph is left


def test_no_kernels_is_a_reason_of_one_line(fresh, monkeypatch):
    def refuse(query):
        raise NapkinError("asked for none")

    monkeypatch.setattr(regions, "answer", refuse)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU(), torch.nn.Linear(8, 8))
    said = backend.explain_torch(model, torch.ones(2, 8, requires_grad=True), options={"executor": "none"})
    assert "asked for none" in said


def test_a_region_has_the_kernels_of_its_own_search(fresh, monkeypatch):
    checked, decide = [], regions._Ahead.decide

    def refused(query):
        names = tuple((name, ()) for name, _ in loads_diagram(json.loads(query.request)["diagram"]).outputs)
        return Kernels("", (), names, 1, math.inf, 0.0, 0.0, query.file, False)

    def decided(ahead, region):
        decide(ahead, region)
        if region.kernels is not None:
            checked.append(region.kernels.file == ahead.asked(region).file)

    monkeypatch.setattr(regions, "answer", refused)
    monkeypatch.setattr(regions._Ahead, "decide", decided)
    monkeypatch.setattr(regions, "turned_bytes", lambda *given: 0)
    monkeypatch.setattr(regions, "apart_bytes", lambda *given: 0)
    sizes = (8, 12, 20, 28, 36, 44, 52)
    layers = [
        part
        for one, other in itertools.pairwise(sizes)
        for part in (torch.nn.Linear(one, other), torch.nn.LayerNorm(other), torch.nn.GELU())
    ]
    options = {"executor": "none", "processes": 3, "hardware": "h200"}
    model = torch.compile(torch.nn.Sequential(*layers), backend=partial(backend.napkin_eq, options=options))
    model(torch.ones(4, 8, requires_grad=True)).sum().backward()
    assert len(checked) > 20
    assert all(checked)


def attended(change):
    """Return attention by its parts, of scores that are changed: larger than queries and keys, and made again."""

    def fn(q, k, v):
        scores = change(q @ k.transpose(-1, -2) * 0.25)
        return torch.softmax(scores.float(), -1).to(q.dtype) @ v

    return fn


def masked(scores, number=-math.inf):
    places = torch.arange(scores.shape[-1])
    return scores.masked_fill(places[None] > places[:, None], number)


CHANGES = {
    "as they are": lambda scores: scores,
    "masked": masked,
    "capped": lambda scores: 2.0 * torch.tanh(scores / 2.0),
    "capped and masked": lambda scores: masked(2.0 * torch.tanh(scores / 2.0)),
    "masked by a number": lambda scores: masked(scores, -1e9),
}


@pytest.mark.parametrize("how", CHANGES)
def test_scores_are_computed_once_more_in_the_backward_and_never_stored(how):
    backend.reports.clear()
    fn = attended(CHANGES[how])
    inputs = [torch.randn(1, 2, 64, 8, requires_grad=True) for _ in range(3)]
    own, sizes = kept(lambda: compiled(fn, finite=True)(*inputs))
    assert max(sizes) <= inputs[0].numel() * 4, "nothing as large as scores"
    up = torch.randn_like(own)
    same(torch.autograd.grad(own, inputs, up), torch.autograd.grad(fn(*inputs), inputs, up))
    for report in backend.reports:
        (region,) = (region for region in report.regions if region.computes)
        assert region.taken and not any(node.meta["val"].shape[-2:] == (64, 64) for node in region.returns)
    read = [node for node in region.reads if node.meta["val"].numel() == own.numel()]
    assert len(read) == 5, "the result, too, by which sums along rows of scores are taken along its own"


def test_what_is_measured_beside_kernels_is_in_the_operators_of_pytorch():
    """What Inductor has of a row's largest number and its share would be calls of ours, several times as long."""
    inputs = [torch.randn(1, 2, 64, 8, requires_grad=True) for _ in range(3)]
    backend.reports.clear()
    compiled(attended(masked), finite=True)(*inputs)
    (region,) = (region for region in backend.reports[0].regions if region.computes)
    given = [torch.randn(node.meta["val"].shape) for node in region.given]
    with torch.no_grad():
        expected, found = region.graph(*given), plain(region.graph)
        targets = {str(node.target) for node in found.graph.nodes if node.op == "call_function"}
        same(found(*given), expected)
    assert any("row_share" in str(node.target) for node in region.graph.graph.nodes)
    assert not any("napkin_eq" in target for target in targets)


def test_products_that_a_library_has_as_one_are_found_before_a_graph_is_cut():
    inputs = [torch.randn(1, 2, 64, 8, requires_grad=True) for _ in range(3)]

    def whole(q, k, v):
        return torch.softmax(q @ k.transpose(-1, -2) * 0.25, -1) @ v

    backend.reports.clear()
    same(step(compiled(whole), inputs, inputs), step(whole, inputs, inputs))
    assert [report.regions[0].said.partition("_flash")[0] for report in backend.reports] == ["_scaled_dot_product"] * 2


def test_rows_without_a_number_give_nan_in_the_backward_as_in_pytorch():
    fn = attended(lambda scores: scores.masked_fill(torch.arange(64)[:, None] == 5, -math.inf))
    inputs = [torch.randn(1, 2, 64, 8, requires_grad=True) for _ in range(3)]
    own, theirs = (step(run, inputs, inputs) for run in (compiled(fn), fn))
    for one, other in zip(own, theirs, strict=True):
        assert torch.equal(one.isnan(), other.isnan())


@pytest.mark.parametrize("shape", [(4, 4), (16, 256)])
def test_no_product_is_computed_once_more_that_takes_longer_than_its_result(shape):
    """Of a wide layer, or one of many words, what is made is kept: to make it again takes longer than to read it."""

    def layer(x, w, out):
        return (x @ w).tanh() @ out

    inputs = [torch.randn(*shape), torch.randn(shape[1], 4 * shape[1]), torch.randn(4 * shape[1], shape[1])]
    inputs = [tensor.requires_grad_() for tensor in inputs]
    _, sizes = kept(lambda: compiled(layer)(*inputs))
    assert shape[0] * 4 * shape[1] * 4 in sizes


LOWEST = torch.finfo(torch.float32).min
PADDED = (torch.ones(64, 64).tril() * (torch.arange(64) > 4)[:, None]).bool()
ALSO = {
    "padding by the lowest number": lambda q, k, v: torch.softmax(q @ k.mT + (~PADDED).float() * LOWEST, -1) @ v,
    "padding by -1e9": lambda q, k, v: torch.softmax((q @ k.mT).masked_fill(~PADDED, -1e9), -1) @ v,
    "all numbers large": lambda q, k, v: torch.softmax((q @ k.mT).tanh() + 1e6, -1) @ v,
    "weights as truths": lambda q, k, v: (
        (p := torch.softmax(masked(q @ k.mT), -1)) @ v + p.bool().float() @ v
    ),
    "weights as whole numbers": lambda q, k, v: (p := torch.softmax(q @ k.mT, -1)) @ v + (p * 9).long().float() @ v,
    "shared values": lambda q, k, v: (p := torch.softmax(q @ k.mT, -1)) @ v + (2 * p) @ v,
}


@pytest.mark.parametrize("how", ALSO)
def test_gradients_of_attention_by_its_parts_are_those_of_pytorch(how):
    torch.manual_seed(0)
    inputs = [torch.randn(1, 2, 64, 8, requires_grad=True) for _ in range(3)]
    own, theirs = (step(run, inputs, inputs) for run in (compiled(ALSO[how]), ALSO[how]))
    for one, other in zip(own, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4 * float(other.detach().abs().max()))


def test_sizes_that_are_symbols_and_numbers_of_float64_are_parted_as_before():
    fn = attended(lambda scores: scores.tanh())
    inputs = [torch.randn(2, 2, 64, 8, requires_grad=True) for _ in range(3)]
    run = torch.compile(fn, backend=partial(backend.napkin_eq, options={"executor": "reference"}), dynamic=True)
    same(step(run, inputs, inputs), step(fn, inputs, inputs))

    def exactly(q, k, v):
        return torch.softmax((q @ k.mT).tanh(), -1) @ v

    wide = [tensor.detach().double().requires_grad_() for tensor in inputs]
    for one, other in zip(step(compiled(exactly), wide, wide), step(exactly, wide, wide), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


def test_numbers_that_leave_the_range_are_multiplied_and_divided_by():
    x = torch.tensor([1.0, -2.0, 0.0])
    for number in (0.0, math.inf, -math.inf, 1e40, 3.0):
        for fn in (lambda x, c=number: x * c * x / c, lambda x, c=number: c * x / c, lambda x, c=number: x / c * x * c):
            own, theirs = compiled(fn)(x), fn(x)
            assert torch.equal(own.isnan(), theirs.isnan()), number
    program = from_torch(lambda x: x * 50.0 * x.tanh() / 50.0, x)
    assert "50" not in str(program.diagram.outputs)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, in Triton's interpreter, of infinities
def test_kernels_of_scores_that_are_computed_once_more_are_right_in_rows_of_padding():
    """Sums may be taken in another order in kernels: what is kept of a row has its digits in any."""
    places = torch.arange(128)
    seen = (places[None] <= places[:, None]) & (places > 4)[:, None]
    lowest = (~seen).float() * LOWEST

    def filled(q, k, v):
        return torch.softmax(q @ k.mT + lowest, -1) @ v

    def empty(q, k, v):
        return torch.softmax((q @ k.mT).masked_fill(~seen, -math.inf), -1) @ v

    for fn, bad in ((filled, 0.0), (empty, math.nan)):
        torch.manual_seed(0)
        inputs = [torch.randn(1, 2, 128, 8) for _ in range(3)]
        inputs[1][0, 0, 40, 3] += bad
        inputs = [tensor.requires_grad_() for tensor in inputs]
        run = torch.compile(fn, backend=partial(backend.napkin_eq, options={"hardware": "h200"}))
        for one, other in zip(step(run, inputs, inputs), step(fn, inputs, inputs), strict=True):
            torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4, equal_nan=True)
        assert not any(region.reason for report in backend.reports[-2:] for region in report.regions)


def test_what_is_held_against_its_extreme_is_what_the_forward_had(fresh, monkeypatch):
    """Where the forward is a kernel's and the backward PyTorch's, no element rounded anew need be the extreme."""

    def spread(x):
        y = F.gelu(x)
        return y.amax(-1) - y.amin((0, -1))

    decide = regions._Ahead.decide

    def forward_alone(self, region):
        if any("eq." in str(node.target) for node in region.nodes):
            region.reason = f"{regions.WITHOUT_GAIN}measured"
        else:
            decide(self, region)

    monkeypatch.setattr(regions._Ahead, "decide", forward_alone)
    x = torch.randn(4, 6, 32, generator=torch.Generator().manual_seed(0), requires_grad=True)
    same(step(compiled(spread), (x,), (x,)), step(spread, (x,), (x,)))
    assert backend.reports[-2].taken
