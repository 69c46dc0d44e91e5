"""Random numbers are PyTorch's own of the same seed, and what is written is written when it was, whatever regions are
made of what stands around.
"""

from __future__ import annotations

import time
import warnings
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch.fx.experimental.proxy_tensor import make_fx

from napkin_eq.pytorch import backend, regions
from napkin_eq.pytorch.order import apart, draws, followers, in_order, writes
from napkin_eq.pytorch.regions import Options, chosen


def drawn(x):
    return (x + torch.rand_like(x) * torch.randn(4) + torch.bernoulli(x.sigmoid()) + torch.randint(0, 5, (4,)),)


def beside(x):
    """Two branches: one region of both would have to run before what is drawn first, and after what is drawn last."""
    y = torch.bernoulli((x * 2).sigmoid())
    return torch.rand(3, 4).tanh() * 3, y * 2


def written(x, y):
    z = torch.special.i0(y).tanh()
    w = torch.special.i0(x * z)
    x.copy_(y * 2)
    return w, torch.special.i0(z) * y, x.exp()


def dropped(x, w):
    return F.dropout(F.relu(x @ w), 0.4, True).tanh() + F.dropout(x, 0.3, True), F.rrelu(x, 0.1, 0.3, True)


@pytest.mark.parametrize(("fn", "shapes"), [(drawn, [(3, 4)]), (beside, [(3, 4)]), (written, [(5,)] * 2),
                                            (dropped, [(6, 6)] * 2)])  # fmt: skip
def test_the_same_seed_gives_the_same_numbers(fn, shapes):
    torch._dynamo.reset()
    results = []
    for run in (fn, torch.compile(fn, backend=partial(backend.napkin_eq, options={"executor": "reference"}))):
        torch.manual_seed(0)
        given = [torch.randn(shape) for shape in shapes]
        results.append([*run(*given), *given])
    for wanted, got in zip(*results, strict=True):
        torch.testing.assert_close(got, wanted)
    assert backend.reports[-1].taken and not backend.reports[-1].failed


def test_a_part_is_cut_where_what_is_drawn_stands_in_its_way():
    graph = make_fx(beside, tracing_mode="fake")(torch.randn(3, 4)).graph
    nodes = [node for node in graph.nodes if node.op == "call_function"]
    own = [node for node in nodes if not draws(node)]
    parts = apart(nodes, [own])
    assert len(parts) == 2 and [node for part in parts for node in part] == own
    assert apart(nodes, parts) == parts
    place = {node: at for at, node in enumerate(nodes)}
    assert in_order(followers(nodes), place) == nodes


def rand_like(x: torch.Tensor) -> torch.Tensor:
    return torch.rand_like(x)


thrown = torch.library.custom_op("napkin_eq_tests::thrown", rand_like, mutates_args=())
thrown.register_fake(torch.empty_like)


def by_others(x):
    """The same as beside, with an operator of whose numbers nobody is told."""
    y = thrown((x * 2).sigmoid())
    return thrown(torch.rand(3, 4).tanh()) * 3, y * 2


def test_operators_that_nobody_knows_run_in_their_order():
    test_the_same_seed_gives_the_same_numbers(by_others, [(3, 4)])
    graph = make_fx(by_others, tracing_mode="fake")(torch.randn(3, 4)).graph
    nodes = [node for node in graph.nodes if node.op == "call_function"]
    parts = apart(nodes, [[node for node in nodes if not draws(node)]])
    assert len(parts) == 3 and sum(map(draws, nodes)) == 3


def test_what_is_written_is_written_after_all_before_and_before_all_after():
    def fn(x, y):
        for _ in range(4):
            x.copy_(y * 2 + x)
        return x + y

    graph = make_fx(fn, tracing_mode="fake")(torch.randn(3), torch.randn(3)).graph
    nodes = [node for node in graph.nodes if node.op == "call_function"]
    after = followers(nodes)
    assert sum(map(len, after.values())) <= 4 * len(nodes)
    place = {node: -at for at, node in enumerate(nodes)}  # however else they would stand
    found = in_order(after, place)
    assert len(found) == len(nodes)
    writers = [node for node in nodes if writes(node)]
    assert len(writers) == 4
    for writer in writers:
        assert set(found[: found.index(writer)]) == set(nodes[: nodes.index(writer)])


def test_regions_that_no_order_fits_are_not_taken(monkeypatch):
    def joined(stretch, parts):
        nodes = [node for part in parts for node in part]
        last = [node for node in nodes if any("bernoulli" in source.name for source in node.all_input_nodes)]
        return [[node for node in nodes if node not in last], last]

    monkeypatch.setattr(regions, "apart", joined)
    torch._dynamo.reset()
    run = torch.compile(beside, backend=partial(backend.napkin_eq, options={"executor": "reference"}))
    given = torch.randn(3, 4)
    torch.manual_seed(0)
    wanted = beside(given)
    torch.manual_seed(0)
    torch.testing.assert_close(run(given), wanted)
    assert "no order" in backend.reports[-1].failed


def test_a_long_graph_is_cut_in_time_that_grows_with_its_length():
    def f(x):
        for turn in range(1200):
            x = (x * 1.001).tanh() if turn % 3 else x + x.mean()
        return x

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = make_fx(f, tracing_mode="fake")(torch.randn(8))
    begun = time.process_time()
    found = chosen(module, Options(executor="reference"), "h200", True, False)
    assert len(found) > 50 and all(region.taken for region in found)
    assert time.process_time() - begun < 20
