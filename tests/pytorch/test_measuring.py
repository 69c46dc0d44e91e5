"""Regions are taken by what was measured, where it was: as it is done on a GPU, on a CPU whose clock is told."""

from __future__ import annotations

import math
import shutil
import warnings
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

import pytest
import torch
import torch.nn.functional as F

from napkin_eq.machine.gpu import load
from napkin_eq.pytorch import backend, measuring, regions
from napkin_eq.pytorch.operators.price import library_us
from napkin_eq.pytorch.regions import Options, Region, Times


@pytest.fixture
def clock(monkeypatch, cache):
    """The times that calls are said to take: Inductor's, and those of kernels; calls are made once each."""
    if not shutil.which("g++"):  # the README asks for Python and make alone; regions are timed on a GPU, without one
        pytest.skip("Inductor has no C++ compiler here")
    told = {"library": 100.0, "ours": 80.0, "rounds": 0, "host": []}

    def medians(calls, host=True, seconds=0.5):
        told["rounds"] += 1
        told["host"].append(host)
        results = [found if isinstance(found := call(), (list, tuple)) else [found] for call in calls]
        for ours in results[1:]:
            for a, b in zip(results[0], ours, strict=True):
                torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)
                assert a.stride() == b.stride()
        whole = told["rounds"] > 2 and "whole" in told  # once alone, once in turns, then the graph
        return [told["library"], told["whole" if whole else "ours"]][: len(calls)]

    monkeypatch.setenv("TRITON_INTERPRET", "1")
    monkeypatch.setattr(measuring, "medians", medians)
    monkeypatch.setattr(measuring, "_fits", lambda held, device: True)
    monkeypatch.setattr(torch.cuda, "device", lambda device: nullcontext())
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device=None: "NVIDIA H200")
    monkeypatch.setattr(backend, "_machine", lambda options, inputs: ("h200", True, True))
    torch._dynamo.reset()
    backend.reports.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield told


def gated(x, y):
    return torch.softmax(x * torch.sigmoid(y), 1).sum(0)


def compiled(fn, *given):
    torch._dynamo.reset()
    backend.reports.clear()
    run = torch.compile(fn, backend=partial(backend.napkin_eq, options={"finite": True}), dynamic=False)
    with torch.no_grad():
        torch.testing.assert_close(run(*given), fn(*given), rtol=1e-3, atol=1e-4)
    (report,) = backend.reports
    return report


def test_a_region_is_taken_where_it_is_measured_to_be_faster_and_what_was_measured_is_remembered(clock):
    given = torch.randn(6, 40), torch.randn(40, 6).t()
    before = torch.get_rng_state()
    report = compiled(gated, *given)
    (region,) = report.taken
    assert region.times == Times(80.0, 100.0) and "measured 80.0 against 100.0" in str(report)
    assert "measured 1.25 times PyTorch's speed" in str(report) and clock["rounds"] == 2
    assert torch.equal(torch.get_rng_state(), before)
    clock["library"] = 50.0
    assert compiled(gated, *given).taken[0].times == Times(80.0, 100.0) and clock["rounds"] == 2
    other = compiled(gated, torch.randn(6, 40), torch.randn(6, 40))  # lies otherwise
    assert not other.taken and "no gain is measured: 80.0 us here against 50.0 us of PyTorch" in str(other)


def test_of_several_plans_of_a_region_the_fastest_is_taken_and_remembered(clock, monkeypatch, tmp_path):
    (region,) = compiled(gated, torch.randn(6, 40), torch.randn(6, 40)).taken
    made, took = region.kernels, [30.0, 20.0, 10.0]
    files = [tmp_path / f"{name}.py" for name in "ab"]
    for file in files:
        file.write_text(made.source)
    others = tuple(replace(made, file=file) for file in files)

    def medians(calls, host, seconds):
        times.append(len(calls))
        return took[: len(calls)]

    times = []
    monkeypatch.setattr(measuring, "medians", medians)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device=None: None)
    for _ in range(2):
        region.kernels = replace(made, others=others)
        measuring.choose(region)
        assert region.kernels.file == files[1] and region.kernels.among == 3
        took[1:] = [29.9, 29.8]  # that is no difference
    (file,) = regions.folder().glob("*.fastest.json")
    assert times == [3]
    file.write_text("{}")
    region.kernels = replace(made, others=others)
    measuring.choose(region)
    assert times == [3, 3] and region.kernels.file == made.file
    files[1].write_text("raise ValueError")  # one that does not run is not timed
    file.write_text('{"fastest": 3}')
    region.kernels = replace(made, others=others)
    measuring.choose(region)
    assert times == [3, 3, 2] and region.kernels.file == made.file and region.kernels.among == 2
    assert file.read_text() == '{"fastest": 3}'  # what did not run may run the next time: nothing is remembered
    files[1].write_text(made.source)
    took[1:] = [20.0, 10.0]
    region.kernels = replace(made, others=others, fresh=True)
    measuring.choose(region)
    assert times == [3, 3, 2, 3] and region.kernels.file == files[1] and region.kernels.fresh
    file.unlink()
    file.mkdir()  # what was measured is taken where it cannot be remembered
    took[1:] = [5.0, 6.0]
    region.kernels = replace(made, others=others)
    measuring.choose(region)
    assert times == [3, 3, 2, 3, 3] and region.kernels.file == files[0]


def bessel(x, y):
    return torch.special.i0(gated(x, y))


def test_a_graph_of_which_regions_are_a_part_is_timed_as_a_whole(clock):
    """What stays with Inductor may take longer beside a region than the region gains."""
    given = torch.randn(64, 256), torch.randn(64, 256)
    clock["whole"] = 90.0
    report = compiled(bessel, *given)
    assert clock["rounds"] == 3 and len(report.taken) == 1 and report.plain == ""
    assert clock["host"] == [False, False, True]  # a part by the GPU alone, which the host runs ahead of
    clock.update(rounds=2, whole=101.0)
    assert len(compiled(bessel, *given).taken) == 1 and clock["rounds"] == 2  # and what was measured is remembered
    clock["rounds"] = 0
    report = compiled(bessel, *[x.t().contiguous().t() for x in given])  # lies otherwise
    assert not report.taken and "measured in the whole graph: 101.0 us here against 100.0" in report.regions[0].reason
    clock.update(rounds=0)
    assert len(compiled(gated, *given).taken) == 1 and clock["rounds"] < 3  # the region is all of it


def test_of_a_graph_that_is_slower_regions_that_gain_much_are_kept(clock, monkeypatch):
    x = torch.randn(64, 256)
    monkeypatch.setattr(backend, "in_whole", lambda *given: next(seen))
    for last, kept in ((Times(90.0, 100.0), 1), (Times(110.0, 100.0), 0), (None, 0)):
        seen = iter([Times(120.0, 100.0), last])
        told = iter([(50.0, 100.0), (90.0, 100.0)])
        monkeypatch.setattr(backend, "times", lambda region, us, told=told: Times(*next(told)))
        report = compiled(lambda x: gated(torch.special.i0(gated(x, x)).expand(64, 256), x), x)
        assert len(report.taken) == kept and len(report.regions) == 3


def test_that_a_whole_graph_could_not_be_timed_is_told(clock, monkeypatch):
    def full(*given):
        raise RuntimeError("out of memory\nand more")

    monkeypatch.setattr(backend, "in_whole", full)
    report = compiled(bessel, torch.randn(64, 256), torch.randn(64, 256))
    assert len(report.taken) == 1 and report.plain == ""
    assert "the whole graph could not be timed: RuntimeError: out of memory" in str(report)


def test_kernels_that_are_predicted_to_take_far_more_are_not_timed(clock):
    clock["library"] = 0.5
    report = compiled(gated, torch.randn(6, 40), torch.randn(6, 40))
    assert not report.taken and "which takes 0.5 us here" in str(report) and clock["rounds"] == 1


def test_where_nothing_can_be_measured_the_prediction_decides(clock, monkeypatch):
    monkeypatch.setattr(measuring, "_fits", lambda held, device: False)
    assert "measured" not in str(compiled(gated, torch.randn(6, 40), torch.randn(6, 40)))


def test_damaged_times_are_measured_again(tmp_path):
    file = tmp_path / "one.times.json"
    for ours, library in (("NaN", "2"), ("1", "NaN"), ("1", "Infinity"), ("-1", "2"), ("[]", "2"), ("1", "null")):
        file.write_text(f'{{"ours_us": {ours}, "library_us": {library}}}')
        assert measuring._read(file) is None
    huge = '{"ours_us": 1' + "0" * 400 + ', "library_us": 2}'
    for text in ("", "[]", '{"ours_us": 1}', huge, "[" * 100_000):
        file.write_text(text)
        assert measuring._read(file) is None and measuring._place(file, 9) is None
    file.write_text('{"ours_us": null, "library_us": 2.5}')
    assert measuring._read(file) == Times(math.inf, 2.5)


def test_inputs_lie_as_they_did_and_are_places_of_any_array():
    values = torch.randn(7, 5).t(), torch.randn(5, 1).expand(5, 3), torch.ones(4, dtype=torch.int64), 11
    found = measuring.drawn([*values, torch.zeros(3, dtype=torch.bool), torch.empty(2, dtype=torch.float8_e5m2)], "cpu")
    assert [v.stride() for v in found[:3]] == [v.stride() for v in values[:3]] and found[3] == 11
    assert not found[2].any() and found[4].all() and found[5].dtype == torch.float8_e5m2


def test_times_decide_before_predictions():
    machine = load("h200")

    class Made:
        predicted_us = 100.0

    def weighed(times):
        region = Region([], kernels=Made(), program=Made(), library_us=90.0)
        regions._weigh(region, Options(), machine, lambda region, took: times)
        return region.reason

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regions, "turned_bytes", lambda program, kernels: 0)
        patch.setattr(regions, "apart_bytes", lambda *given: 0)
        assert weighed(None).startswith("no gain is predicted: 100.0 us against 90.0")
        assert weighed(Times(100.0, 140.0)) == ""
        for ours, library in ((100.0, 101.0), (30.0, 34.0)):
            assert weighed(Times(ours, library)).startswith(f"no gain is measured: {ours} us here against {library}")
        assert weighed(Times(math.inf, 70.0)).endswith("which takes 70.0 us here")


def test_a_convolution_and_its_bias_come_apart():
    from torch.fx.experimental.proxy_tensor import make_fx

    given = torch.randn(2, 3, 8, 8), torch.randn(4, 3, 3, 3), torch.randn(4)
    graph = make_fx(lambda *g: F.conv2d(*g, padding=1), decomposition_table=backend.decompositions())(*given)
    torch.testing.assert_close(graph(*given), F.conv2d(*given, padding=1))
    (node,) = (n for n in graph.graph.nodes if "convolution" in str(n.target))
    assert node.args[2] is None


def test_what_a_library_takes_is_measured_once_and_is_its_price(clock):
    from torch.fx.experimental.proxy_tensor import make_fx

    def both(x, w):
        return F.conv2d(x, w, padding=1), F.conv2d(x, w, stride=2)

    graph = make_fx(both, tracing_mode="fake")(torch.randn(2, 3, 8, 8), torch.randn(4, 3, 3, 3))
    nodes = [n for n in graph.graph.nodes if "convolution" in str(n.target)]
    before = [library_us([node], load("h200"), "float32") for node in nodes]
    measuring.libraries(graph)
    assert [library_us([node], load("h200"), "float32") for node in nodes] == [100.0, 100.0] != before
    assert clock["rounds"] == 2
    clock["library"] = 50.0
    measuring.libraries(graph)
    assert [library_us([node], load("h200"), "float32") for node in nodes] == [100.0, 100.0]
    assert clock["rounds"] == 2


def test_where_a_library_cannot_be_measured_it_has_the_price_that_is_told(clock, monkeypatch):
    from torch.fx.experimental.proxy_tensor import make_fx

    monkeypatch.setattr(measuring, "_fits", lambda held, device: False)
    graph = make_fx(F.conv2d, tracing_mode="fake")(torch.randn(2, 3, 8, 8), torch.randn(4, 3, 3, 3))
    (node,) = (n for n in graph.graph.nodes if "convolution" in str(n.target))
    before = library_us([node], load("h200"), "float32")
    measuring.libraries(graph)
    assert library_us([node], load("h200"), "float32") == before


def test_equal_regions_are_timed_once():
    from torch.fx.experimental.proxy_tensor import make_fx

    def normed(x):
        for _ in range(2):
            x = torch.nn.functional.layer_norm(x, (16,)).tanh().sin()
        return torch.nn.functional.layer_norm(x, (8, 16)).tanh()

    module = make_fx(normed, tracing_mode="fake")(torch.empty(8, 16))
    left = {node: "" for node in module.graph.nodes if node.target == torch.ops.aten.sin.default}
    parts = regions._parts(module, left)
    found = [r for part in parts for r in regions._read(module, part, Options(), left) if r.program is not None]
    keys = [measuring._key(region, "", False) for region in found]
    assert len(keys) == 3 and keys[0] == keys[1] != keys[2]
