"""What is known of a graph before its inputs are, and masks that are computed where they are read."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch.fx.experimental.proxy_tensor import make_fx

from napkin_eq.lang.term import Map, subterms
from napkin_eq.pytorch import backend
from napkin_eq.pytorch.build.constants import with_constants
from napkin_eq.pytorch.build.recomputed import at_readers, once
from napkin_eq.pytorch.build.table import name_of
from tests.pytorch.test_backend import compiled, same, step

pytestmark = pytest.mark.usefixtures("fresh")


def graph(fn, *tensors):
    return make_fx(fn, tracing_mode="fake")(*tensors)


def names(module):
    return [name_of(node.target) for node in module.graph.nodes if node.op == "call_function"]


def known(fn, *tensors):
    """Return a graph with what is known of it; it gives what it gave."""
    module = graph(fn, *tensors)
    with_constants(module)
    found = module(*tensors)
    for got, wanted in zip(*map(torch.utils._pytree.tree_leaves, (found, fn(*tensors))), strict=True):
        assert got.dtype == wanted.dtype and got.stride() == wanted.stride() and torch.equal(got, wanted)
    return module


def test_nothing_is_joined_to_no_other():
    x, y = torch.randn(2, 3, 4), torch.randn(2, 1, 4)
    assert names(known(lambda x: torch.cat([torch.tensor([]), x], 1) + 1, x)) == ["clone.default", "add.Tensor"]
    assert names(known(lambda x, y: torch.cat([x, x[:, :0], y], 1), x, y)) == ["cat.default"]
    assert "cat.default" in names(known(lambda x: torch.cat([torch.empty(2, 0, 4, dtype=torch.float64), x], 1), x))


def test_what_nothing_is_joined_to_is_a_tensor_of_its_own():
    def kept(x):
        return torch.cat([x.new_empty(0, 3), x])

    x = torch.randn(2, 3)
    found = compiled(kept)(x)
    found.add_(1)
    assert not torch.equal(found, x) and len(backend.reports) == 1


def test_what_is_computed_of_no_elements_is_its_identity():
    module = known(lambda x: x + x[:, :0].sum(1, keepdim=True) + x[:, 3:].prod(1, keepdim=True), torch.randn(2, 3))
    assert [n for n in names(module) if n.startswith("full")] == ["full.default"] * 2


def test_which_document_a_place_is_of_is_known_where_positions_are():
    def masked(x):
        places = torch.arange(6)[None]
        before = torch.cat([places[:, :1] - 1, places[:, :-1]], 1)
        own = (places - before != 1).cumsum(-1)
        return x.masked_fill((own[:, :, None] != own[:, None, :]) | (places[0] > places[0][:, None]), -math.inf)

    found = names(known(masked, torch.randn(1, 6, 6)))
    assert "cumsum.default" not in found and "gt.Tensor" in found


@pytest.mark.parametrize("unset", [torch.empty, torch.rand])
def test_what_memory_holds_and_what_is_drawn_is_not_known(unset):
    module = graph(lambda x: x + (unset(4) == unset(4)), torch.randn(4))
    with_constants(module)
    assert len([n for n in names(module) if n.startswith(("empty", "rand"))]) == 2


def test_a_place_that_there_is_not_is_for_pytorch_to_refuse():
    module = graph(lambda x: x + torch.arange(3)[torch.arange(1) + 5], torch.randn(1))
    with_constants(module)
    assert "index.Tensor" in names(module)


def test_numbers_with_a_fraction_are_left_to_the_device():
    assert "exp.default" in names(known(lambda x: x * torch.exp(torch.full((3,), 0.5)), torch.randn(3)))


def layers(q, keep):
    """Two layers that share a mask of all pairs."""
    places = torch.arange(q.shape[1])
    mask = (places <= places[:, None]) & keep[:, None, :]
    added = torch.where(mask, 0.0, -math.inf)
    for _ in range(2):
        q = torch.softmax(q @ q.mT + added, -1) @ q
    return q


def test_a_mask_that_layers_share_is_computed_in_each_forward_and_backward():
    q, keep = torch.randn(2, 40, 8, requires_grad=True), torch.rand(2, 40) > 0.2
    keep[:, 0] = True
    same(step(compiled(layers), (q, keep), [q]), step(layers, (q, keep), [q]))
    forward, _ = backend.reports
    assert not any(region.reason for report in backend.reports for region in report.regions)
    stored = [node.meta["val"] for region in forward.regions for node in region.returns]
    assert not any(value.dtype == torch.bool and value.shape == (2, 40, 40) for value in stored)
    terms = [subterms(*dict(region.program.diagram.outputs).values()) for region in forward.regions]
    compared = sum(any(isinstance(part, Map) and part.op == "le" for part in parts) for parts in terms)
    assert compared >= 2, "each layer knows which places its mask leaves out"


def test_what_no_region_takes_is_computed_once():
    x = torch.randn(3)
    module = graph(lambda x: (x.sin() * 2, x.sin() * 3, torch.rand(3), torch.rand(3), x.cos(), x.cos()), x)
    once(module)
    found = names(module)
    assert found.count("sin.default") == 1, "read twice"
    assert found.count("rand.default") == 2 and found.count("cos.default") == 2, "drawn, and two results"


def test_what_is_written_on_the_way_is_read_where_it_was_read():
    x = torch.randn(4)
    module = torch.fx.symbolic_trace(lambda x: x)
    graph = module.graph
    (given, end) = graph.nodes
    aten, value = torch.ops.aten, torch._subclasses.FakeTensorMode().from_tensor(x)
    given.meta["val"] = value
    with graph.inserting_before(end):
        calls = [
            graph.call_function(aten.view.default, (given, [2, 2])),
            graph.call_function(aten.sin.default, (given,)),
            graph.call_function(aten.copy_.default, (given, given)),
            graph.call_function(aten.sin.default, (given,)),
        ]
        calls.append(graph.call_function(aten.cos.default, (calls[0],)))
    for node, held in zip(calls, (value.view(2, 2), value + 0, value, value + 0, value.view(2, 2) + 0), strict=True):
        node.meta["val"] = held
    end.args = ((calls[4],),)
    for change in (at_readers, once):
        before = names(module)
        change(module)
        assert names(module) == before


def test_only_what_is_much_larger_than_what_it_is_computed_of_is_computed_again():
    def twice(x, row):
        large, small = row[:, None] <= row, x * 2
        return (x.sin() * large).sum(), (x.cos() * large).sum(), small.sin().sum(), small.cos().sum()

    module = graph(twice, torch.randn(64, 64), torch.randn(64))
    at_readers(module)
    found = names(module)
    assert found.count("le.Tensor") == 2 and found.count("mul.Tensor") == 3
    tensors = torch.randn(64, 64), torch.randn(64)
    for got, wanted in zip(module(*tensors), twice(*tensors), strict=True):
        assert torch.equal(got, wanted)


def test_scores_masked_by_position_are_attention_of_which_half_is_left_out():
    def attended(q, k, v):
        places = torch.arange(q.shape[-2])[None]
        mask = places[:, None, :] <= places[..., None]
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask[None])

    tensors = [torch.randn(1, 2, 16, 8) for _ in range(3)]
    same([compiled(attended)(*tensors)], [attended(*tensors)])
    (region,) = backend.reports[-1].regions
    assert region.taken and not region.edges, "each row has a score, so there is no edge"


@torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True)
def test_what_the_data_count_is_left_as_it_is():
    def chosen(x):
        return (x * 2).sin() + 1, x[x[:, 0] > 0] + 1

    x = torch.randn(6, 3)
    same(list(compiled(chosen)(x)), list(chosen(x)))
    (report,) = backend.reports
    assert not report.failed and report.taken


def test_what_only_shows_a_result_is_shown_again_not_stored():
    def attended(x, w):
        q, k, v = (part.view(2, 6, 2, 4).transpose(1, 2) for part in (x @ w).split(8, -1))
        return F.scaled_dot_product_attention(q, k, v), q, k, v

    x, w = torch.randn(2, 6, 8, requires_grad=True), torch.randn(8, 24)
    found = compiled(attended)(x, w)
    same(list(found), list(attended(x, w)))
    (forward,) = backend.reports
    stored = [tuple(node.meta["val"].shape) for region in forward.regions for node in region.returns]
    assert sorted(stored) == [(2, 2, 6), (2, 2, 6, 4), (12, 24)], "rows' sums, the result, and the product, once"
