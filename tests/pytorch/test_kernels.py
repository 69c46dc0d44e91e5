"""Kernels of regions, run in Triton's interpreter: what they give, what is remembered of them, and that damage is no
memory.
"""

from __future__ import annotations

import math
import warnings
from functools import partial

import pytest
import torch

from napkin_eq.certify.certificate import checked, loads
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.json_form import dumps_diagram, loads_diagram
from napkin_eq.pytorch import backend, kernels, regions
from napkin_eq.pytorch.flat import flat, in_memory
from napkin_eq.pytorch.importer import from_torch
from napkin_eq.pytorch.kernels import answer, asking
from tests.pytorch.programs import given


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch, tmp_path):
    import triton

    monkeypatch.setattr(triton.knobs.runtime, "interpret", True)
    monkeypatch.setattr(kernels, "folder", lambda: tmp_path)
    torch._dynamo.reset()
    backend.reports.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def test_results_that_are_equal_are_asked_for_once_however_they_lie():
    def fn(x, y):
        return x @ y + 1, x @ y + 1, (x @ y + 1).t()

    program = from_torch(fn, torch.randn(8, 16), torch.randn(16, 8))
    own = [((8, 16), (16, 1)), ((16, 8), (8, 1))]
    lying = in_memory(program, own, [((8, 8), (8, 1)), ((8, 8), (8, 1)), ((8, 8), (1, 8))])
    asked = kernels.diagram_of(flat(lying))
    assert [name for name, _ in asked.outputs] == ["out0"] and dict(asked.laid) == {"out0": ("i", "k")}
    assert loads_diagram(dumps_diagram(asked)) == asked


@pytest.mark.slow
def test_a_training_step_in_kernels_gives_the_gradients_of_pytorch():
    fn, tensors = given("linear_swish_scale")
    tensors = [t.float().requires_grad_() for t in tensors]
    fast = torch.compile(fn, backend=partial(backend.napkin_eq, options={"seconds": 200.0}))
    for run in (fast, fn):
        loss = (run(*tensors) ** 2).sum()
        grads = torch.autograd.grad(loss, tensors)
        if run is fast:
            own = grads
    for got, wanted in zip(own, grads, strict=True):
        torch.testing.assert_close(got, wanted, rtol=2e-3, atol=2e-4)
    taken = [region for report in backend.reports for region in report.taken]
    assert [r.kind for r in backend.reports] == ["forward", "backward"]
    assert all(region.kernels is not None and region.kernels.fresh for region in taken) and taken


def pooled(x):
    return torch.nn.functional.max_pool2d(x.relu(), 3, 2, 1, return_indices=True)


def placed(x):
    return x.argmax(), (x > 0).sum((1, 2, 3)), x.flatten(1).sort(dim=1, stable=True).indices


@pytest.mark.parametrize("function", [pooled, placed])
def test_places_are_stored_as_they_are_whatever_type_the_numbers_have(function):
    torch.manual_seed(0)
    x = torch.randn(2, 3, 10, 12).bfloat16()  # places up to 359, of which bfloat16 holds not all
    fast = torch.compile(function, backend=partial(backend.napkin_eq, options={"seconds": 100.0, "finite": True}))
    for got, wanted in zip(fast(x), function(x), strict=True):
        assert got.dtype == wanted.dtype and torch.equal(got, wanted)
    assert not any(region.reason for region in backend.reports[-1].regions)


def places_of_extremes(x):
    pooled = torch.nn.functional.max_pool2d(x, 2, return_indices=True)
    return *pooled, *x.max(2), x.argmin(1), x.argmax()


def test_places_of_extremes_are_those_of_nan_where_data_hold_one():
    torch.manual_seed(0)
    x = torch.randn(1, 3, 4, 6)
    x[0, 0, 2, 3] = x[0, 0, 3, 3] = x[0, 2, 0] = float("nan")
    x[0, 1], x[0, 1, 3, 3] = -float("inf"), float("inf")
    for data in (x, x.nan_to_num(0.5)):
        for executor in ("reference", "kernels"):
            fast = torch.compile(
                places_of_extremes, backend=partial(backend.napkin_eq, options={"seconds": 100.0, "executor": executor})
            )
            for got, wanted in zip(fast(data), places_of_extremes(data), strict=True):
                torch.testing.assert_close(got, wanted, rtol=0, atol=0, equal_nan=True)
            assert not any(region.reason for region in backend.reports[-1].regions)
            torch._dynamo.reset()


@pytest.mark.slow
def test_angles_are_pytorchs_at_zeros_of_either_sign_infinities_and_nan():
    ends = [0.0, -0.0, 1.0, -1.0, 0.3, -2.5, math.inf, -math.inf, math.nan, 1e-30, -1e30]
    y, x = torch.cartesian_prod(torch.tensor(ends), torch.tensor(ends)).T.contiguous()

    def angles(y, x):
        return torch.atan2(y, x), torch.atan(x), torch.copysign(y, x)

    for executor in ("reference", "kernels"):
        torch._dynamo.reset()
        options = {"seconds": 100.0, "executor": executor}
        fast = torch.compile(angles, backend=partial(backend.napkin_eq, options=options))
        for got, wanted in zip(fast(y, x), angles(y, x), strict=True):
            torch.testing.assert_close(got, wanted, rtol=4e-7, atol=0, equal_nan=True)
        assert not any(region.reason for region in backend.reports[-1].regions)


@pytest.mark.slow
def test_what_was_derived_is_remembered_and_what_is_damaged_is_derived_anew():
    fn, tensors = given("rms_norm")
    program = from_torch(fn, *(t.float() for t in tensors))
    first = answer(asking(program, "h200", 20.0, True))
    again = answer(asking(program, "h200", 20.0, True))
    assert first.fresh and not again.fresh and first.source == again.source
    assert checked(loads(first.file.with_suffix(".certificate.json").read_text()))["steps"]
    first.file.write_text(first.source + "\nimport os\n")
    assert answer(asking(program, "h200", 20.0, True)).fresh


@pytest.mark.parametrize("processes", [1, 2])
def test_what_is_remembered_needs_no_time(processes, monkeypatch):
    def fn(x):
        return x.exp().sum(-1)

    options = {"seconds": 100.0, "processes": processes}
    for spent in (0.0, 100.0):
        torch._dynamo.reset()
        monkeypatch.setattr(regions._Spent, "seconds", lambda clock, spent=spent: spent)
        torch.compile(fn, backend=partial(backend.napkin_eq, options=options))(torch.randn(6, 8))
    assert all(report.taken for report in backend.reports)
    torch.compile(lambda x: x.exp().sum(0), backend=partial(backend.napkin_eq, options=options))(torch.randn(6, 8))
    assert {region.reason[:8] for region in backend.reports[-1].regions} == {"the time"}


def test_what_was_found_in_less_time_is_searched_again_where_the_search_was_ended(monkeypatch):
    program = from_torch(lambda x: x.exp().sum(-1), torch.randn(6, 8))
    first = answer(asking(program, "h200", 5.0, True))
    assert first.fresh and not answer(asking(program, "h200", 20.0, True)).fresh  # nothing was ended
    head = first.file.with_suffix(".json")
    head.write_text(head.read_text().replace('"seconds": null', '"seconds": 5.0'))
    assert kernels.remembered(asking(program, "h200", 4.0, True))
    assert not kernels.remembered(asking(program, "h200", 20.0, True))


@pytest.mark.parametrize(
    "fn, tensors, words",
    [
        (lambda x: x * 2, [torch.ones(3, dtype=torch.float64)], "float64"),
        (lambda i: i.sum() * 3, [torch.arange(3)], "whole numbers"),
    ],
)
def test_types_that_kernels_do_not_store_are_said(fn, tensors, words):
    with pytest.raises(NapkinError, match=words):
        answer(asking(from_torch(fn, *tensors), "h200", 5.0, True))


@pytest.mark.slow
def test_statistics_over_several_dimensions_are_one_kernel():
    """Places join (flat.py); what is returned has the shape and the strides of the program's."""
    fn, x = torch.nn.InstanceNorm2d(3), torch.randn(2, 3, 5, 7)
    wanted = fn(x) * 2.0
    found = torch.compile(lambda t: fn(t) * 2.0, backend=backend.napkin_eq)(x)
    assert found.stride() == wanted.stride()
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)
    (region,) = [region for report in backend.reports for region in report.taken]
    assert region.kernels is not None and region.kernels.kernels == 1


@pytest.mark.slow
def test_masks_go_into_kernels_and_come_out_of_them_beside_their_values():
    """A training step whose masks are saved for the way back; what is returned is of torch.bool, with PyTorch's
    strides.
    """

    def fn(x, keep):
        low = x < 0.25
        return x.masked_fill(low & keep, 0.0).relu(), (low ^ keep).t()

    x, keep = torch.randn(6, 40, requires_grad=True), torch.rand(6, 40) > 0.5
    fast = torch.compile(fn, backend=partial(backend.napkin_eq, options={"seconds": 200.0}))
    results = []
    for run in (fast, fn):
        value, mask = run(x, keep)
        results.append([value, mask, *torch.autograd.grad((value * value).sum(), [x])])
    for got, wanted in zip(*results, strict=True):
        assert got.dtype == wanted.dtype and got.stride() == wanted.stride()
        torch.testing.assert_close(got, wanted)
    assert all(region.kernels.kernels == 1 for report in backend.reports for region in report.taken)
    assert all(region.taken for report in backend.reports for region in report.regions)


def test_a_call_is_made_again_only_for_arguments_alike_that_begin_where_boxes_of_them_may(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Same:
        def check(self, *given: torch.Tensor) -> bool:
            return all(value.shape == (4, 8) for value in given)

    def call(*arrays: torch.Tensor) -> torch.Tensor:
        return sum(arrays).reshape(32)

    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    again = kernels._Again(Same(), call, (1, 0), 0, ((0, ((4, 8), (8, 1)), None),))
    held = torch.arange(65.0)
    a, b = held[:32].view(4, 8), held[32:64].view(4, 8)
    assert a.data_ptr() % 16 == b.data_ptr() % 16 == 0
    found = again((a, b))
    assert found is not None and len(found) == 1
    assert torch.equal(found[0], a + b)
    assert again((a, held[33:].view(4, 8))) is None  # it begins within 16 bytes
    assert again((a, b.T)) is None
    boxed = kernels._Again(Same(), call, (1, 0), 0, ((0, None, None),), ((1, 33),))  # of the second, one more
    assert boxed((a, b)) is not None and boxed((a, held[32:64].clone().view(4, 8))) is None
    # Seen by rows of which each stands twice, which have to lie apart
    apart = kernels._Again(Same(), call, (1, 0), 0, ((0, ((4, 2, 8), (8, 0, 1)), ((4, 2, 8), (16, 8, 1))),))
    (copied,) = apart((a, b)) or ()
    assert torch.equal(copied, (a + b)[:, None].expand(4, 2, 8)) and copied.stride() == (16, 8, 1)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
    assert again((a, b)) is None


def test_what_has_gaps_is_read_in_the_array_around_it_if_there_is_one():
    whole = torch.full((6, 16), torch.nan)
    whole[:, :5] = torch.arange(30.0).view(6, 5)
    part = whole[:, :5]
    seen = kernels._around(part, (6, 16), (6, 16), torch.float32, False)
    assert seen.data_ptr() == part.data_ptr() and seen.shape == (6, 16) and seen.stride() == (16, 1)
    last = torch.empty_strided((6, 5), (16, 1)).copy_(part)  # of whose last row there is no more
    for other, dtype in ((last, torch.float32), (part.double(), torch.float32), (whole.T[:5].T.contiguous(), None)):
        dtype = dtype or torch.float32
        copied = kernels._around(other, (6, 16), (6, 16), dtype, False)
        assert copied.data_ptr() != other.data_ptr() and copied.shape == (6, 16) and copied.dtype is dtype
        assert torch.equal(copied[:, :5], part)
    row = torch.arange(5.0).expand(6, 5)
    assert kernels._around(row, (0, 5), (5,), torch.float32, False).data_ptr() == row.data_ptr()
    assert torch.equal(kernels._around(-row, (0, 5), (5,), torch.float32, False), -row[0])
    negative = torch.complex(torch.zeros(6, 5), torch.ones(6, 5)).conj().imag
    copied = kernels._around(negative, (6, 8), (6, 8), torch.float32, False)
    assert negative.is_neg() and torch.equal(copied[:, :5], -torch.ones(6, 5))
    assert kernels._owned(part, 96) and not kernels._owned(part, 97) and not kernels._owned(whole[:, 5:], 96)


def test_a_graph_that_is_one_region_is_its_kernels_with_nothing_of_inductor_between(monkeypatch):
    import torch._inductor.compile_fx as inductor

    def refuse(*args, **options):
        raise AssertionError("Inductor is asked for a graph of which nothing is left")

    monkeypatch.setattr(inductor, "compile_fx_inner", refuse)
    options = {"seconds": 60.0, "rest": "inductor"}
    fast = torch.compile(lambda x, y: (x.softmax(1) * y, x.sum(1)), backend=partial(backend.napkin_eq, options=options))
    x, y = torch.randn(6, 40), torch.randn(40)
    for shift in (0.0, 1.0):
        found = fast(x + shift, y)
        torch.testing.assert_close(found[0], (x + shift).softmax(1) * y)
        torch.testing.assert_close(found[1], (x + shift).sum(1))
    (report,) = backend.reports
    assert len(report.regions) == len(report.taken) == 1 and not report.plain


def turned_about(x, y, w):
    return (x.softmax(-1) + y).permute(2, 0, 1), y.sum(1) @ w, (x * y).exp()


# How three tensors lie: their dimensions from the slowest to the fastest, and elements of a row between two of them
LYING = {
    "as they are": ((0, 1, 2), (0, 1, 2), (0, 1), 0),
    "heads inside": ((0, 2, 1), (0, 2, 1), (1, 0), 0),
    "unlike": ((2, 0, 1), (1, 0, 2), (1, 0), 0),
    "with gaps": ((0, 1, 2), (1, 0, 2), (0, 1), 4),
}


@pytest.mark.parametrize("name", LYING)
def test_tensors_are_read_as_they_lie_in_memory(name, monkeypatch):
    *orders, gap = LYING[name]
    shapes = ((4, 6, 16), (4, 6, 16), (16, 8))

    def lying(shape, order):
        room = [shape[at] for at in order]
        whole = torch.randn(*room[:-1], room[-1] + gap)[..., : room[-1]]
        return whole.permute(sorted(range(len(order)), key=order.__getitem__))

    torch.manual_seed(0)
    x, y, w = (lying(shape, order) for shape, order in zip(shapes, orders, strict=True))
    copies = []

    def watching(taken):
        def watched(tensor, *how):
            found = taken(tensor, *how)
            copies.append(found.data_ptr() != tensor.data_ptr())
            return found

        return watched

    for name in ("_fitting", "_around"):
        monkeypatch.setattr(kernels, name, watching(getattr(kernels, name)))
    fast = torch.compile(turned_about, backend=partial(backend.napkin_eq, options={"seconds": 100.0}))
    for got, wanted in zip(fast(x, y, w), turned_about(x, y, w), strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-5)
        assert got.stride() == wanted.stride()
    (report,) = backend.reports
    assert report.taken and not any(region.reason for region in report.regions)
    assert copies and not any(copies)
