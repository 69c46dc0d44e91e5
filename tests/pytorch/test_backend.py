"""torch.compile(backend="napkin_eq"): values and gradients are PyTorch's, what is left has its reason, and nothing
crashes.
"""

from __future__ import annotations

import copy
import tomllib
from functools import partial
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch.utils import _pytree as pytree

from napkin_eq.lang.errors import NapkinError
from napkin_eq.pytorch import backend
from tests.pytorch.programs import given

SOME = (
    "matmul_bias_gelu gemm_residual_norm conv_group_norm_tanh depthwise_separable batch_norm_training "
    "linear_cross_entropy naive_attention capped_attention transformer_block rotary "
    "embedding_and_head linear_attention "
    "l2_normalize conv_pool_linear"
).split()


pytestmark = pytest.mark.usefixtures("fresh")


def compiled(fn, **options):
    return torch.compile(fn, backend=partial(backend.napkin_eq, options={"executor": "reference", **options}))


def step(fn, tensors, leaves):
    """Return what a function gives, and the gradients of a fixed weighting of it."""
    found = pytree.tree_leaves(fn(*tensors))
    generator = torch.Generator().manual_seed(1)
    loss = sum((v * torch.randn(v.shape, generator=generator)).sum() for v in found if v.requires_grad)
    grads = torch.autograd.grad(loss, leaves, allow_unused=True) if isinstance(loss, torch.Tensor) else ()
    return [*found, *(g for g in grads if g is not None)]


def same(got, wanted):
    assert len(got) == len(wanted)
    for g, w in zip(got, wanted, strict=True):
        assert g.dtype == w.dtype and g.shape == w.shape
        torch.testing.assert_close(g, w, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("name", SOME)
def test_values_and_gradients_are_those_of_pytorch(name):
    fn, tensors = given(name)
    tensors = [t.float().requires_grad_() if t.is_floating_point() else t for t in tensors]
    fn = fn.float() if isinstance(fn, torch.nn.Module) else fn
    other = copy.deepcopy(fn)
    leaves = [t for t in tensors if t.requires_grad]
    own, theirs = ([*leaves, *(m.parameters() if isinstance(m, torch.nn.Module) else ())] for m in (fn, other))
    same(step(compiled(fn, finite=True), tensors, own), step(other, tensors, theirs))
    assert not any(report.failed for report in backend.reports)
    if isinstance(fn, torch.nn.Module):
        same(list(fn.buffers()), list(other.buffers()))


def test_both_ways_of_attention_are_taken_whole():
    fn, tensors = given("naive_attention")
    tensors = [t.float().requires_grad_() for t in tensors]
    step(compiled(fn), tensors, tensors)
    assert [report.kind for report in backend.reports] == ["forward", "backward"]
    reasons = {region.reason for report in backend.reports for region in report.regions}
    assert reasons <= {"", "a view of what stands in memory"}


@pytest.mark.parametrize(
    "name", ["matmul_bias_gelu", "naive_attention", "rms_norm", "linear_cross_entropy", "conv_relu_bias"]
)
def test_gradients_of_evaluated_diagrams_hold_against_differences(name):
    fn, tensors = given(name)
    program = __import__("napkin_eq").from_torch(fn, *tensors)
    real = [t.requires_grad_() for t in tensors if t.is_floating_point()]
    rest = [t for t in tensors if not t.is_floating_point()]
    assert torch.autograd.gradcheck(lambda *given_: program.referred([*given_, *rest])[0], real)


def test_what_is_left_has_its_operator_line_and_reason():
    def f(x, y):
        return torch.special.i0(x.exp() + 1) // y

    said = backend.explain_torch(f, torch.ones(3), torch.ones(3), options={"executor": "reference"})
    assert "aten.i0.default at test_backend.py:" in said and "not in the table" in said
    assert "a division by 0" in said and "finite" in said


def printing(x):
    y = x.tanh()
    print(end="")
    return y * 2


@pytest.mark.parametrize(
    ("fn", "given_", "words"),
    [
        (printing, torch.ones(3), ("the graph ends", "`print`", 'test_backend.py:', "taken  mul")),
        (lambda x: x * 2 if x.sum() > 0 else x, torch.ones(3), ("control flow that depends on data", "taken  mul")),
        (torch.nn.GRU(3, 4), torch.ones(2, 1, 3), ("does not trace", "allow_rnn=True")),
        (torch.nonzero, torch.ones(3), ("does not trace", "aten.nonzero")),
    ],
)
def test_what_dynamo_does_not_trace_is_said(fn, given_, words):
    said = backend.explain_torch(fn, given_, options={"executor": "reference"})
    assert all(word in said for word in words), said


def test_nothing_is_wrong_with_nan_and_infinities():
    data = torch.tensor([[1.0, float("nan"), 2.0], [float("inf"), 0.0, 1.0], [-float("inf")] * 3, [-1.0, 0.0, 3.0]])

    def f(x):
        return (
            F.relu(x),
            x.softmax(1),
            x.clamp(-1, 1),
            x.amax(1),
            1 / x,
            x.log(),
            torch.maximum(x, x.flip(1)),
            x.argmax(1),
        )

    for got, wanted in zip(compiled(f)(data), f(data), strict=True):
        torch.testing.assert_close(got, wanted, equal_nan=True)


@pytest.mark.parametrize("width", [8, 6])  # of values: with another one than keys have, PyTorch takes its parts
@pytest.mark.parametrize("real", [False, True])
def test_rows_that_are_masked_whole_are_zero_and_have_no_gradient(width, real):
    mask = torch.tensor([[0, 0, 0], [1, 1, 1], [1, 0, 1]]).bool()
    mask = torch.zeros(3, 3).masked_fill(~mask, -float("inf")) if real else mask
    tensors = [torch.randn(1, 2, 3, n, requires_grad=True) for n in (8, 8, width)]

    def f(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    same(step(compiled(f), tensors, tensors), step(f, tensors, tensors))
    with torch.no_grad():
        same([compiled(f)(*tensors)], [f(*tensors)])
    assert backend.reports[-1].taken


def test_a_norm_in_evaluation_is_taken():
    module = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU()).eval()
    x = torch.randn(2, 3, 6, 6)
    with torch.no_grad():
        same([compiled(module)(x)], [module(x)])
    reasons = {region.reason for region in backend.reports[-1].regions}
    assert reasons <= {"", "a view of what stands in memory", "views and constants only"}


def test_places_that_an_order_gave_choose_elements_and_have_gradients():
    def f(x, v, table):
        weights, places = torch.topk(x, 2, 1)
        return (
            torch.gather(v, 1, places) * weights.softmax(1),
            table[places],
            F.interpolate(v[None, None], scale_factor=2, mode="bilinear"),
        )

    tensors = [torch.randn(6, 6, requires_grad=True) for _ in range(3)]
    same(step(compiled(f, finite=True), tensors, tensors), step(f, tensors, tensors))
    assert not {region.reason for region in backend.reports[0].regions if "choose" in region.reason}


def in_place(x):
    x.add_(1)
    return x * 2


def aliasing(x):
    y = x.view(-1)
    y[0] = 5.0
    return x + y.sum()


def no_elements(x):
    return torch.cat([x, x[:0]]), x[:0].sum()


def random_numbers(x):
    return F.dropout(x, 0.0, True) + torch.zeros_like(x)


def many_kinds(x):
    return x.half().float() + x.double().float(), (x > 0).sum(), x.int() // 2


def nothing(x):
    return x


def constants(x):
    return torch.ones(3), x + torch.arange(3)


@pytest.mark.parametrize("fn", [in_place, aliasing, no_elements, random_numbers, many_kinds, nothing, constants])
def test_odd_programs_stay_right(fn):
    one, two = torch.arange(3.0) - 1, torch.arange(3.0) - 1
    same(pytree.tree_leaves(compiled(fn)(one)), pytree.tree_leaves(fn(two)))
    assert torch.equal(one, two)


def test_other_sizes_no_grad_autocast_and_fullgraph():
    fn = compiled(lambda x, w: F.gelu(x @ w), finite=True)
    whole = torch.compile(lambda x, w: F.gelu(x @ w), backend=backend.napkin_eq, fullgraph=True)
    for rows in (3, 5, 7):
        x, w = torch.randn(rows, 4), torch.randn(4, 6)
        with torch.no_grad():
            torch.testing.assert_close(fn(x, w), F.gelu(x @ w))
        torch.testing.assert_close(whole(x, w), F.gelu(x @ w))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        torch.testing.assert_close(fn(x, w), F.gelu(x @ w), rtol=2e-2, atol=2e-2)


def test_regions_as_operators_of_torch_library_give_tensors_of_their_own(monkeypatch):
    monkeypatch.setattr(backend, "_machine", lambda options, given_: ("h200", True, True))

    def f(x, w):
        return F.gelu(x @ w).sum(1) * 2, torch.special.i0(x.exp() + 1).T, x.T

    tensors = [torch.randn(5, 8, requires_grad=True), torch.randn(8, 6, requires_grad=True)]
    same(step(compiled(f, rest="eager", gain=0.0), tensors, tensors), step(f, tensors, tensors))
    assert not any(report.failed for report in backend.reports) and backend.reports[0].taken


def test_without_a_gpu_and_an_interpreter_programs_stay_pytorch(monkeypatch):
    import triton

    monkeypatch.setattr(triton.knobs.runtime, "interpret", False)
    x = torch.randn(4)
    assert torch.equal(torch.compile(torch.nn.Tanh(), backend=backend.napkin_eq)(x), x.tanh())
    assert "no GPU" in backend.reports[-1].failed


def test_the_entry_point_is_the_backend():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    place, _, name = project["entry-points"]["torch_dynamo_backends"]["napkin_eq"].partition(":")
    assert place == backend.__name__ and getattr(backend, name) is backend.napkin_eq


def test_a_table_of_what_changed_is_printed_as_graphs_are_compiled(capsys):
    module = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Softmax(-1))
    x = torch.randn(3, 4)
    found = backend.optimize(module, executor="none", hardware="h100")(x)
    assert "forward graph: " in capsys.readouterr().out
    found.square().sum().backward()
    table = capsys.readouterr().out
    assert "backward graph: 1 of 1 regions" in table and "1 kernels" in table and "times as fast" in table
    assert all(len(line) <= 120 for line in table.splitlines())


def test_results_that_are_one_value_or_an_input_are_tensors_of_their_own():
    x = torch.randn(8)
    found = compiled(lambda x: (x * 1, x * torch.ones(8), x * 2, x * 2))(x)
    before = [value.clone() for value in (x, *found)]
    for number, value in enumerate(found):
        value.add_(1)
        before[number + 1].add_(1)
        assert all(torch.equal(now, then) for now, then in zip((x, *found), before, strict=True))


def test_what_is_called_by_name_is_explained():
    said = backend.explain_torch(
        lambda x, *, scale, other: torch.softmax(x * scale, -1) @ other["w"],
        torch.randn(3, 4), scale=2.0, other={"w": torch.randn(4, 4, requires_grad=True)},
        options={"executor": "reference"},
    )  # fmt: skip
    assert "forward graph: 1 of 1 regions" in said and "backward graph: 1 of 1 regions" in said


def test_an_unknown_option_is_said():
    with pytest.raises(NapkinError, match="'fast' is not known"):
        backend.optimize(torch.nn.ReLU(), fast=True)


def test_the_time_for_searches_counts_what_processes_of_their_own_need(monkeypatch):
    import subprocess
    import sys

    from napkin_eq.pytorch import regions

    def busy(*_args, **_named):
        subprocess.run([sys.executable, "-c", "sum(range(20_000_000))"], check=True)
        raise NapkinError("nothing was found")

    monkeypatch.setattr(regions, "answer", busy)
    monkeypatch.setattr(backend, "_machine", lambda options, given_: ("h200", True, False))
    fn = compiled(
        lambda x: torch.special.i0(torch.special.gammaln(x + 1) + 2).tanh(), executor="kernels", seconds=0.1
    )
    fn(torch.ones(3))
    reasons = [region.reason for region in backend.reports[-1].regions]
    assert "nothing was found" in reasons and "the time for searches (0.1 s) is over" in reasons


def test_regions_are_searched_at_once_and_decided_in_their_order_within_the_time(monkeypatch):
    """Three searches wait for each other; the last is not waited for, as the time is over when it is its turn."""
    import threading

    from napkin_eq.pytorch import regions

    met, end = threading.Barrier(3, timeout=60), threading.Event()
    asked, answered = [], []

    def search(query):
        asked.append(query)
        if len(asked) > 3:
            end.wait(60)
        else:
            met.wait()
        raise NapkinError("nothing was found")

    def layers(x):
        for number in range(4):
            x = torch.special.i0(x + number)
        return x

    monkeypatch.setattr(regions, "answer", search)
    monkeypatch.setattr(regions._Spent, "answered", lambda self, made, before: answered.append(made))
    monkeypatch.setattr(regions._Spent, "seconds", lambda self: 100.0 * (len(answered) > 2))
    monkeypatch.setattr(backend, "_machine", lambda options, given_: ("h200", True, False))
    compiled(layers, executor="kernels", seconds=60.0, processes=3)(torch.ones(9))
    end.set()
    reasons = [region.reason for region in backend.reports[-1].regions if "i0" not in region.said]
    assert reasons == ["nothing was found"] * 3 + ["the time for searches (60 s) is over"]


@pytest.mark.parametrize("processes", [1, 3])
def test_equal_layers_are_derived_once(monkeypatch, processes):
    from napkin_eq.pytorch import regions

    asked = []

    def nothing(query):
        asked.append(query.file)
        raise NapkinError("nothing was found")

    def f(x, w):
        for _ in range(3):
            x = torch.special.i0(x.mul(w))
        return x

    monkeypatch.setattr(regions, "answer", nothing)
    monkeypatch.setattr(backend, "_machine", lambda options, given_: ("h200", True, False))
    compiled(f, executor="kernels", processes=processes)(torch.ones(4, 6), torch.ones(6))
    assert len(backend.reports[-1].regions) == 6 and len({*asked}) == 1
    assert len(asked) == (3 if processes == 1 else 1)  # of one after another the first is remembered


def test_a_number_without_dimensions_is_tried_at_edges_too():
    from napkin_eq.pytorch.edge_trial import with_edges
    from napkin_eq.pytorch.importer import from_torch

    nq = __import__("napkin_eq")
    program = from_torch(lambda x, s: (x / s).softmax(0), torch.randn(5), torch.tensor(2.0))
    assert with_edges(nq.derive(program.diagram, dtype="float32", printer="triton", limit=5)).kernels
