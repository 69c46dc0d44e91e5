"""How a graph is cut into regions, and what PyTorch is taken to need for one."""

from __future__ import annotations

import math
from concurrent.futures import Future
from functools import partial
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch.fx.experimental.proxy_tensor import make_fx

from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.json_form import dumps_diagram
from napkin_eq.machine.gpu import load
from napkin_eq.pytorch import backend, kernels, regions
from napkin_eq.pytorch.backend import decompositions
from napkin_eq.pytorch.build.identity import called
from napkin_eq.pytorch.build.table import name_of
from napkin_eq.pytorch.flat import flat
from napkin_eq.pytorch.importer import from_torch
from napkin_eq.pytorch.kernels import Kernels, apart_bytes, turned_bytes
from napkin_eq.pytorch.operators import price
from napkin_eq.pytorch.operators.price import library_us

H100 = load("h100")


def graph(fn, *shapes, dtype=torch.float32):
    given = [torch.empty(shape, dtype=dtype, device="meta") for shape in shapes]
    return make_fx(fn, decomposition_table=decompositions(), tracing_mode="fake")(*given)


def nodes(fn, *shapes, dtype=torch.float32):
    return [node for node in graph(fn, *shapes, dtype=dtype).graph.nodes if node.op == "call_function"]


def needs(fn, *shapes, dtype=torch.float32):
    return library_us(nodes(fn, *shapes, dtype=dtype), H100, str(dtype).removeprefix("torch."))


def heads(x, w, out):
    q, k, v = (y.view(2, 256, 4, 16).transpose(1, 2) for y in F.linear(x, w).split(64, 2))
    y = torch.softmax(q @ k.transpose(-2, -1), -1) @ v
    return F.linear(y.transpose(1, 2).reshape(2, 256, 64), out)


def test_a_graph_is_cut_where_the_fewest_bytes_go_from_one_part_to_the_next():
    module = graph(heads, (2, 256, 64), (192, 64), (64, 64))
    segment = regions._segments(module, {})
    heavy = [segment[node] for node in module.graph.nodes if regions.contraction(node)]
    assert heavy == [0, 1, 1, 2]  # not through the scores, which are 16 times as large as what they are made of
    copies = [segment[node] for node in segment if name_of(node.target).startswith(("clone", "expand"))]
    assert copies and 0 not in copies  # of queries and keys, which are read through where the scores are made


def test_no_segment_has_more_contractions_than_are_searched_together():
    def stack(x, w):
        for _ in range(7):
            x = torch.relu(x @ w)
        return x

    module = graph(stack, (8, 8), (8, 8))
    segment = regions._segments(module, {})
    found = [segment[node] for node in module.graph.nodes if regions.contraction(node)]
    assert max(map(found.count, found)) == regions.CONTRACTIONS and found == sorted(found)


def cut(fn, *shapes):
    """The names of what is computed in each segment of a graph."""
    module = graph(fn, *shapes)
    found = {}
    for node, number in regions._segments(module, {}).items():
        if regions._counts(node):
            found.setdefault(number, []).append(name_of(node.target).partition(".")[0])
    return [*found.values()]


def test_a_convolution_stands_with_what_is_computed_of_each_number_by_itself():
    """No kernel has two of them, or one and windows of what it gives, or a fold that its windows would repeat."""

    def chain(x, w, v):
        y = F.max_pool2d(torch.relu(F.conv2d(x, w, padding=1)), 2)
        return torch.softmax(torch.tanh(F.conv2d(torch.sigmoid(y), v, padding=1)), 1)

    found = cut(chain, (2, 8, 16, 16), (8, 8, 3, 3), (8, 8, 3, 3))
    assert [[name for name in part if name != "add"] for part in found] == [
        ["convolution", "relu"],
        ["max_pool2d_with_indices", "sigmoid"],
        ["convolution", "tanh", "_softmax"],
    ]


def pooled(x, w, *windows):
    return torch.tanh(F.max_pool2d(F.hardswish(F.conv2d(x, w)), *windows))


@pytest.mark.parametrize("faster", [True, False])
def test_windows_of_a_convolution_are_tried_with_it_once_both_are_decided(monkeypatch, faster):
    """And taken together where that is faster than the two, or PyTorch in the place of one that stays."""
    decided = []
    decide = regions._Ahead.decide

    def noted(ahead, region):
        decided.append(region.said)
        decide(ahead, region)

    monkeypatch.setattr(regions._Ahead, "decide", noted)
    both_us = 3.0 if faster else 5.0
    monkeypatch.setattr(regions, "_now_us", lambda region, hardware: both_us if len(region.nodes) > 4 else 2.0)
    module = graph(lambda x, w: pooled(x, w, 2), (2, 8, 18, 18), (8, 8, 3, 3))
    options = regions.Options(executor="none", hardware="h200", gain=1e-9, seconds=600.0)
    found = regions.chosen(module, options, "h200", False, False)
    assert all(region.taken for region in found)
    first, second, both = decided
    assert both == f"{first} {second}" and first.startswith("convolution") and "max_pool2d" in second
    assert [region.said for region in found] == ([both] if faster else [first, second])


def test_windows_that_meet_or_whose_places_are_asked_for_are_never_tried_with_a_convolution():
    """Numbers would be computed several times, or once more to be compared with the largest."""

    def placed(x, w):
        return F.max_pool2d(F.conv2d(x, w), 2, return_indices=True)

    def tried(fn):
        return [n for n in graph(fn, (2, 8, 18, 18), (8, 8, 3, 3)).graph.nodes if price.pooling(n)]

    assert tried(lambda x, w: pooled(x, w, 2)) and tried(lambda x, w: pooled(x, w, 2, 3))
    assert tried(lambda x, w: F.avg_pool2d(F.conv2d(x, w), 2))
    assert not tried(lambda x, w: pooled(x, w, 3, 2)) and not tried(lambda x, w: pooled(x, w, 2, 2, 1))
    assert not tried(lambda x, w: pooled(x, w, 2, 2, 0, 2))
    assert not tried(placed)


def test_what_only_moves_and_windows_of_one_are_read_where_they_are_convolved():
    def padded(x, y, w):
        return F.conv2d(F.pad(torch.cat([x, y], 1), (1, 1, 1, 1)), w)

    assert cut(padded, (2, 8, 16, 16), (2, 8, 16, 16), (8, 16, 3, 3)) == [["cat", "constant_pad_nd", "convolution"]]

    def normed(x, w):
        return F.conv2d(torch.softmax(x, 1), w)

    assert cut(normed, (2, 8, 16, 16), (8, 8, 1, 1)) == [["_softmax", "convolution"]]
    assert cut(normed, (2, 8, 16, 16), (8, 8, 3, 3)) == [["_softmax"], ["convolution"]]


def test_a_window_of_each_channel_may_stand_before_a_convolution():
    def separable(x, w, v):
        return F.conv2d(F.conv2d(x, w, padding=1, groups=8), v)

    assert cut(separable, (2, 8, 16, 16), (8, 1, 3, 3), (8, 8, 1, 1)) == [["convolution", "convolution"]]

    def normed(x, w):
        return F.group_norm(torch.relu(F.conv2d(x, w, padding=1, groups=8)), 2)

    assert cut(normed, (2, 8, 16, 16), (8, 1, 3, 3)) == [["convolution", "relu"], ["native_group_norm"]]


def test_what_reads_nothing_in_common_is_no_region_together():
    def counted(x, y, count):
        return torch.relu(x) * y, count + 1, y.exp()

    module = graph(counted, (8, 8), (8, 8), ())
    parts = [[name_of(node.target).partition(".")[0] for node in part] for part in regions._parts(module, {})]
    assert parts == [["relu", "mul", "exp"], ["add"]]


def test_a_convolution_that_gains_nothing_beside_a_norm_is_tried_without_it(monkeypatch):
    def weighed(region, options, machine, timed, around):
        if any("norm" in name_of(node.target) for node in region.nodes):
            region.reason = f"{regions.WITHOUT_GAIN}said by this test"

    monkeypatch.setattr(regions, "_weigh", weighed)
    monkeypatch.setattr(regions, "folding", lambda node: False)  # so that they are one region first

    def f(x, w, b):
        return F.group_norm(torch.relu(F.conv2d(x, w, b)), 2)

    module = graph(f, (2, 4, 10, 10), (8, 4, 3, 3), (8,))
    found = regions.chosen(module, regions.Options(executor="none", seconds=500.0), "h200", False, False)
    (region,) = [part for part in found if any(price.contraction(node) for node in part.nodes)]
    names = {name_of(node.target).partition(".")[0] for node in region.nodes}
    assert region.taken and names >= {"convolution", "relu"} and "native_group_norm" not in names


def halved(x, w, b, z, q):
    first, second = F.conv2d(x, w, b, padding=1).split(4, 1)
    return first * torch.sigmoid(second)


def widened(x, w, b, z, q):
    """What is copied is read by what is computed of the convolution and by what reads that."""
    found, copied = F.conv2d(x, w, b, padding=1), z.clone()
    return torch.relu(found + copied), found * torch.exp(q) * copied


@pytest.mark.parametrize("fn", [halved, widened])
def test_what_is_computed_of_a_convolution_leaves_the_rest_whole(monkeypatch, fn):
    """A cut through parts of one result, and a cycle, lost the graph."""
    decide = regions._Ahead.decide

    def once(ahead, region):
        decide(ahead, region)
        if any(map(price.dense, region.nodes)) and len([n for n in region.nodes if regions._counts(n)]) >= 4:
            region.reason = f"{regions.WITHOUT_GAIN}said by this test"

    monkeypatch.setattr(regions._Ahead, "decide", once)
    monkeypatch.setattr(regions, "folding", lambda node: False)
    torch._dynamo.reset()
    backend.reports.clear()
    given = torch.randn(2, 4, 6, 6), torch.randn(8, 4, 3, 3), torch.randn(8), *torch.randn(2, 2, 8, 6, 6)
    with torch.no_grad():
        found = torch.compile(fn, backend=partial(backend.napkin_eq, options={"executor": "reference"}))(*given)
        torch.testing.assert_close(found, fn(*given))
    (report,) = backend.reports
    assert not report.failed and sum(map(len, (region.nodes for region in report.taken))) > 4


def test_what_is_computed_before_an_edge_that_is_too_large_to_be_tried_stays_together(monkeypatch):
    def decide(self, region):
        if region.edges and any(map(regions.contraction, region.nodes)):
            region.reason = f"{regions.AT_EDGE} not PyTorch's: {regions.TOO_LARGE}"

    def chain(x, w, b):
        return torch.logsumexp(F.conv2d(x, w).mean((2, 3)) + b, 1)

    monkeypatch.setattr(regions._Ahead, "decide", decide)
    monkeypatch.setattr(regions, "_weigh", lambda *given: None)
    module = graph(chain, (2, 4, 10, 10), (8, 4, 3, 3), (8,))
    found = regions.chosen(module, regions.Options(executor="none"), "h200", False, False)
    parts = [[name_of(n.target).partition(".")[0] for n in region.nodes] for region in found if region.taken]
    assert parts == [["convolution", "mean", "add"], ["logsumexp"]]


def test_a_fault_of_ours_in_cutting_a_region_leaves_the_others(monkeypatch):
    def fault(*given):
        raise RuntimeError("said by this test")

    def weighed(region, options, machine, timed, around):
        if any(price.contraction(node) for node in region.nodes):
            region.reason = f"{regions.WITHOUT_GAIN}said by this test"

    monkeypatch.setattr(regions, "_weigh", weighed)
    monkeypatch.setattr(regions, "_around", fault)
    module = graph(lambda x, w: (torch.relu(F.conv2d(x, w)), F.layer_norm(x, (10,))), (2, 4, 10, 10), (8, 4, 3, 3))
    found = regions.chosen(module, regions.Options(executor="none", seconds=500.0), "h200", False, False)
    taken = [name_of(node.target) for region in found if region.taken for node in region.nodes]
    assert taken and not any("convolution" in name for name in taken)
    assert any("said by this test" in region.reason for region in found)


def test_a_convolution_is_timed_where_a_product_would_be_hopeless():
    def region(fn, *shapes):
        found = regions.Region(nodes(fn, *shapes))
        found.library_us, found.took_us = 10.0, 100.0
        return found

    assert region(lambda a, b: a @ b, (64, 64), (64, 64)).hopeless
    assert not region(F.conv2d, (1, 8, 8, 8), (8, 8, 3, 3)).hopeless


def test_products_of_float32_are_rounded_only_where_pytorch_is_set_to(monkeypatch):
    exact = needs(torch.matmul, (2048, 4096), (4096, 2048))
    assert exact == pytest.approx(651.5, rel=0.1)  # as an H100 measured of cuBLAS
    monkeypatch.setattr(price, "_rounded", lambda name: True)
    assert needs(torch.matmul, (2048, 4096), (4096, 2048)) < exact / 4


def test_a_product_takes_its_own_operations_in_whatever_order_its_operands_lie():
    wide = needs(torch.matmul, (512, 768), (768, 65536))
    assert needs(F.linear, (512, 768), (65536, 768)) == wide
    assert needs(lambda b, x, w: torch.addmm(b, x, w), (65536,), (512, 768), (768, 65536)) == pytest.approx(wide, 0.01)
    assert wide == pytest.approx(needs(torch.matmul, (768, 512), (512, 65536)), rel=0.01)


def test_gradients_of_a_convolution_take_what_it_takes_each():
    def back(mask):
        def fn(g, x, w):
            given = (None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1, mask)
            return [v for v in torch.ops.aten.convolution_backward(g, x, w, *given) if v is not None]

        return needs(fn, (32, 128, 54, 54), (32, 128, 56, 56), (128, 128, 3, 3))

    forward = needs(F.conv2d, (32, 128, 56, 56), (128, 128, 3, 3))
    assert back([True, True, False]) == pytest.approx(2 * forward, rel=0.1)
    assert back([False, True, False]) == back([True, False, False]) == pytest.approx(forward, rel=0.1)
    turned = needs(lambda x, w: F.conv_transpose2d(x, w), (32, 128, 54, 54), (128, 128, 3, 3))
    assert turned == pytest.approx(forward, rel=0.1)


def test_views_take_nothing_and_keep_together_what_stands_around_them():
    once = needs(torch.matmul, (4096, 4096), (4096, 4096))
    assert needs(lambda x, w: (x @ w).view(4, 1024, 4096).view(4096, 4096) @ w, (4096, 4096), (4096, 4096)) == 2 * once
    relu = needs(torch.relu, (4096, 4096))
    assert needs(lambda x: torch.relu(x).view(-1).sigmoid().view(64, -1).tanh(), (4096, 4096)) == relu
    half = needs(torch.relu, (2048, 4096))
    assert needs(lambda x: torch.relu(x[:2048]), (4096, 4096)) == half


def test_long_rows_that_are_normalised_are_read_twice_and_short_ones_once():
    once = needs(torch.relu, (4096, 65536))
    assert needs(lambda x: torch.softmax(x, 1), (4096, 65536)) == pytest.approx(1.5 * once)
    assert needs(lambda x: x - x.mean(1, keepdim=True), (4096, 65536)) == pytest.approx(1.5 * once)
    assert needs(lambda x: torch.softmax(x, 1), (262144, 1024)) == pytest.approx(once)
    assert needs(lambda x: F.group_norm(x, 8), (64, 64, 256, 256)) == pytest.approx(1.5 * once, rel=0.01)


def test_half_of_causal_attention_is_left_out():
    def attention(causal):
        return lambda q, k, v: torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, 0.0, causal)[0]

    shapes = [(4, 16, 4096, 128)] * 3
    whole, half = (needs(attention(causal), *shapes, dtype=torch.bfloat16) for causal in (False, True))
    assert half == pytest.approx(whole / 2)


def test_results_that_lie_otherwise_than_they_are_stored_are_copied():
    program = from_torch(lambda x, m: torch.where(m > 0, x, 0.0), torch.randn(2, 3, 5), torch.randn(3, 5))
    (out,) = flat(program).outputs
    names = tuple(axis.name for axis in out.axes)
    there, turned = (
        Kernels("", (), ((out.name, order),), 1, 1.0, 0.0, 0.0, Path(), True) for order in (names, names[::-1])
    )
    assert turned_bytes(program, there) == 0
    assert turned_bytes(program, turned) == 4 * math.prod((2, 3, 5))
    for size, stride, copied in (((2, 3, 5), (15, 5, 1), 0), ((2, 3, 5), (24, 8, 1), 30), ((2, 3, 5), (0, 5, 1), 0)):
        assert apart_bytes(program, there, [((), ())] * 2, [(size, stride)]) == 4 * copied


def test_one_tensor_may_be_all_operands_of_attention():
    def attended(x):
        return F.scaled_dot_product_attention(x, x, x)

    def apart(x, y, z):
        return F.scaled_dot_product_attention(x, y, z)

    shape = (1, 2, 512, 64)
    assert 0 < needs(attended, shape) <= needs(apart, shape, shape, shape)


def test_equal_regions_whose_search_is_given_up_stay_as_time_is_over():
    options = regions.Options(seconds=0.0, processes=2)
    with regions._Ahead(options, "h200", False, False, regions._Spent(options)) as ahead:
        file = Path("equal.py")
        ahead.equal[file] = Future()
        for region in (regions.Region([]), regions.Region([])):
            ahead.begun[id(region)] = region, file
            ahead.decide(region)
            assert region.reason == "the time for searches (0 s) is over"


def test_beside_sizes_that_data_alone_know_a_region_is_weighed_all_the_same():
    def picked(x, w):
        y = (x @ w).softmax(-1)
        return (y[y.sum(1).nonzero().squeeze(1)] * 2).exp(), y.tanh()

    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        torch._dynamo.reset()
        backend.reports.clear()
        options = {"hardware": "h200", "seconds": 20.0}
        backend.explain_torch(picked, torch.randn(64, 32), torch.randn(32, 48), options=options)
    (report,) = backend.reports
    (region,) = (region for region in report.regions if "_softmax" in region.said)
    assert region.kernels is not None and "data alone" not in region.reason


def test_what_may_gain_most_is_searched_first_and_what_it_parts_is_counted():
    def lossy(x, w, t):
        logits = (x @ w).float()
        less = logits - logits.amax(1, True)
        return (less - less.exp().sum(1, True).log()).gather(1, t[:, None])

    halves = (torch.empty(shape, dtype=torch.bfloat16) for shape in ((8192, 768), (768, 50304)))
    given = *halves, torch.empty(8192, dtype=torch.int64)
    module, machine = make_fx(lossy, tracing_mode="fake")(*given), load("h200")
    called = [n for n in module.graph.nodes if n.op == "call_function"]
    first = next(n for n in called if n.target == torch.ops.aten.exp.default)
    whole = [n for n in called if not price.contraction(n)]
    (product,) = (n for n in called if price.contraction(n))
    # One kernel alone reads the differences that another one would have to store: both write and read them
    moved = price.bytes_of(first) / machine.hbm.copy_bandwidth * 1e6
    assert price.parted_us([first], called, machine, "float32") == pytest.approx(4 * moved, rel=0.1)
    assert [price.parted_us(own, called, machine, "float32") for own in (whole, [product])] == [0, 0]
    assert price.worth_us(whole, machine, "float32") == pytest.approx(0.0, abs=0.5 * moved)
    assert price.worth_us([product], machine, "float32") < 0


@pytest.mark.parametrize("summed, left", [(4096, True), (64, False)])
def test_a_product_beside_which_as_much_may_be_gained_without_it_is_the_librarys(summed: int, left: bool) -> None:
    def fn(x, w, y):
        return torch.softmax(x[:, :summed] @ w[:summed] + y, -1)

    given = [torch.empty(shape, dtype=torch.bfloat16) for shape in ((8192, 4096), (4096, 4096), (8192, 4096))]
    module = make_fx(fn, tracing_mode="fake")(*given)
    options = regions.Options(executor="none", seconds=0.0)
    found = regions.chosen(module, options, "h200", False, False)
    whole = max(found, key=lambda region: len(region.nodes))
    products = [region for region in found if any(price.product(node) for node in region.nodes)]
    assert ("a library's product" in products[0].reason) is left
    assert any(price.product(node) for node in whole.nodes) is not left


def test_what_was_chosen_of_a_graph_is_taken_again_without_a_search(monkeypatch, cache):
    def chosen(seconds=20.0, rows=64):
        module = graph(lambda x, y: (torch.softmax(x * y, 1) @ y.t()).cumsum(0), (rows, 256), (rows, 256))
        found = regions.chosen(module, regions.Options(executor="none", seconds=seconds), "h200", False, False)
        return [([n.name for n in r.nodes], r.reason, r.kernels and r.kernels.file, r.took_us) for r in found]

    def searched(*given):
        raise RuntimeError("searched")

    first = chosen()
    assert (taken := [file for _, reason, file, _ in first if not reason]) and all(taken)
    monkeypatch.setattr(regions, "_parts", searched)
    assert chosen() == first
    for otherwise in ({"seconds": 21.0}, {"rows": 128}):
        with pytest.raises(RuntimeError, match="searched"):
            chosen(**otherwise)
    (remembered,) = cache.glob("napkin_eq/pytorch/*.regions.json")
    text = remembered.read_text()
    # No node, no call, the last node, no whole number, a node twice
    others = ("[[99, ", "[[0, ", "[[-1, ", "[[2.0, ", '[[[2], ""], [[')
    for damaged in ("", "{}", text[:-9], *(text.replace("[[", other, 1) for other in others)):
        remembered.write_text(damaged)
        with pytest.raises(RuntimeError, match="searched"):
            chosen()
    remembered.write_text(text)
    taken[0].with_suffix(".json").unlink()
    with pytest.raises(RuntimeError, match="searched"):
        chosen()


@pytest.mark.parametrize("reason, kept", [(kernels.TOOK, 0), (kernels.ENDED, 0), ("nothing is known", 1)])
def test_what_may_come_out_otherwise_the_next_time_is_not_remembered(monkeypatch, cache, reason, kept):
    def refused(query):
        raise NapkinError(f"{reason} 5")

    monkeypatch.setattr(regions, "answer", refused)
    module = graph(lambda x: torch.softmax(x, 1), (64, 256))
    (region,) = regions.chosen(module, regions.Options(executor="none"), "h200", False, False)
    assert f"{reason} 5" in region.reason and len([*cache.glob("napkin_eq/pytorch/*.regions.json")]) == kept


def test_graphs_are_told_apart_by_their_values_and_by_the_graphs_that_they_call():
    def of(dtype, scale):
        module = graph(lambda x: torch.softmax(x * 2, 1), (8, 16))
        next(n for n in module.graph.nodes if n.op == "call_function").meta["val"] = torch.empty(8, 16, dtype=dtype)
        module.add_submodule("inner", graph(lambda x: x * scale, (8, 16)))
        with module.graph.inserting_before(next(iter(module.graph.nodes))):
            module.graph.get_attr("inner")
        return called(module)

    found = [of(torch.float32, 2), of(torch.float64, 2), of(torch.float32, 3)]
    assert all(a != b for at, a in enumerate(found) for b in found[:at]) and found[0] == of(torch.float32, 2)


@pytest.mark.slow
def test_what_gains_nothing_is_tried_without_its_products_and_attention_alone(monkeypatch):
    """A sum over places that the data choose is such a product."""

    def names(region):
        return {name_of(n.target).partition(".")[0] for n in region.nodes if n.op == "call_function"}

    def weighed(region, options, machine, timed, around):
        """What holds a product gains nothing, nor what is with attention."""
        own, attention = names(region), any(price.contraction(n) and not price.product(n) for n in region.nodes)
        if any(map(price.product, region.nodes)) or any(map(price.adding, region.nodes)):
            region.reason = f"{regions.WITHOUT_GAIN}said by this test"
        elif attention and "sigmoid" in own:
            region.reason = f"{regions.WITHOUT_GAIN}said by this test, too"

    monkeypatch.setattr(regions, "_weigh", weighed)

    def f(x, w, table, words):
        q, k, v = (x @ w).view(1, 32, 3, 2, 8).permute(2, 0, 3, 1, 4)
        return F.scaled_dot_product_attention(q * q.sigmoid(), k, v), F.layer_norm(table[words], (16,)).tanh()

    table, words = torch.randn(50, 16, requires_grad=True), torch.randint(0, 50, (40,))
    torch._dynamo.reset()
    backend.reports.clear()
    run = torch.compile(f, backend=partial(backend.napkin_eq, options={"executor": "none", "seconds": 500.0}))
    attended, normed = run(torch.randn(1, 32, 8), torch.randn(8, 48), table, words)
    (normed.sum() + attended.sum()).backward()
    parts = [region for report in backend.reports for region in report.regions]
    left = [region.said for region in parts if not region.taken]
    assert left == ["mm", "index_put"]
    taken = [names(region) for region in parts if region.taken]
    assert [sum(name in own for own in taken) for name in ("sigmoid", "native_layer_norm", "mul")] == [1, 1, 2]
    (attention,) = (own for own in taken if any(name.startswith("_scaled_dot_product") for name in own))
    assert not attention & {"sigmoid", "mul", "mm"}


def test_what_is_on_another_device_stays():
    """A number made on a CPU may be read by operators on a GPU: no kernel reads it."""

    def scaled(x):
        return (x * torch.tensor(3.0)).sin() + 1

    with torch._subclasses.FakeTensorMode():
        module = make_fx(scaled)(torch.empty(4, 4, device="cuda"))
    found = regions.elsewhere(module)
    assert {name_of(node.target) for node in found} == {"lift_fresh_copy.default", "mul.Tensor"}
    assert all("a tensor on cpu, others on cuda:0" in why for why in found.values())
    assert not regions.elsewhere(graph(lambda x: x.sin(), (4, 4)))


def test_equal_parts_are_derived_once_whichever_way_their_nodes_stand():
    def one(x, w):
        a, b = x.exp(), w.tanh()
        return (a @ b).sum(0), b

    def other(x, w):
        b = w.tanh()
        a = x.exp()
        return (a @ b).sum(0), b

    asked = []
    for fn in (one, other):
        module = graph(fn, (64, 32), (32, 16))
        (region,) = regions.chosen(module, regions.Options(executor="reference"), "h200", True, False)
        asked.append((dumps_diagram(region.program.diagram), [node.name for node in region.reads]))
    assert asked[0] == asked[1]
