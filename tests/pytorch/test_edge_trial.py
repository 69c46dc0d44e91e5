"""Kernels at the edges of the numbers: NaN, infinities and zeros in data give what PyTorch gives, or the kernel is not
taken.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
import torch

import napkin_eq as nq
from napkin_eq.pytorch.edge_trial import Differs, Trial, with_edges
from napkin_eq.pytorch.flat import flat
from napkin_eq.pytorch.importer import from_torch
from napkin_eq.pytorch.kernels import diagram_of
from napkin_eq.search.job import prover
from napkin_eq.tile.passes.bare_edges import bare
from napkin_eq.tile.printers import emit
from napkin_eq.verify.miniature import miniature
from tests.codegen.test_triton import DEVICE, loaded

INF, NAN = float("inf"), float("nan")
DATA = torch.tensor(
    [[1.0, NAN, 2.0, 0.5], [INF, 0.0, 1.0, 3.0], [-INF] * 4, [-1.0, 0.0, 3.0, -2.0], [-INF, 1.0, 2.0, 0.0], [0.0] * 4]
)


def derived(fn, shape=(6, 4), merged=False):
    program = from_torch(fn, torch.empty(shape))
    program = flat(program) if merged else program
    return nq.derive(diagram_of(program), dtype="float32", printer="triton", limit=10)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: x.softmax(1),
        lambda x: x.amax(1),
        lambda x: 1 / x,
        lambda x: torch.logsumexp(x, 1),
        lambda x: (x - x.amin(1, keepdim=True)) / (x.amax(1, keepdim=True) - x.amin(1, keepdim=True)),
    ],
)
def test_a_kernel_gives_what_pytorch_gives_of_nan_and_infinities(fn, tmp_path):
    text = emit(with_edges(derived(fn)), "triton")
    with np.errstate(all="ignore"):
        got = loaded(text, tmp_path).run(DATA.to(DEVICE)).cpu()
    torch.testing.assert_close(got, fn(DATA), equal_nan=True)


def test_nan_is_kept_in_maxima_only_where_it_would_be_lost():
    assert not any(kernel.nan for kernel in with_edges(derived(lambda x: x.softmax(1))).kernels)
    assert all(kernel.nan for kernel in with_edges(derived(lambda x: x.amax(1))).kernels)
    assert "greatest_or_nan" not in derived(lambda x: x.amax(1)).triton()


def test_a_kernel_that_keeps_to_the_language_differs_at_zero_and_that_is_found():
    found = derived(lambda x: 1 / x)
    small = miniature(found.diagram, found.outputs, found.plan, found.hardware, found.dtype, prover(found.statements))
    trial = Trial(small)
    assert "zero" in trial.difference(small.plan)
    bared = replace(small.plan, kernels=tuple(bare(kernel, nan=False) for kernel in small.plan.kernels))
    assert not trial.difference(bared)


def tried(fn, *shapes):
    found = derived(fn, *shapes)
    proved = prover(found.statements)
    return Trial(miniature(found.diagram, found.outputs, found.plan, found.hardware, found.dtype, proved, 5))


def test_a_lost_nan_is_found_and_at_which_data():
    trial = tried(lambda x: x.amax(1), (64, 4096))
    lost, kept = (
        replace(trial.small.plan, kernels=tuple(bare(kernel, nan=nan) for kernel in trial.small.plan.kernels))
        for nan in (False, True)
    )
    assert trial.difference(lost).startswith("on nan at the first element of x")
    assert not trial.difference(kept)
    assert trial.difference(lost)  # what PyTorch gives is kept, and is not used up


def test_every_case_is_held_against_its_own():
    trial = tried(lambda x: x.softmax(1), (64, 4096))
    names = [said for some, _, _ in trial.cases() for said in some]
    assert len(names) == len(set(names)) > 48 and names[-1] == "mixture 31"
    some, _, wanted = trial.known[-1]
    wanted["out"][len(some) - 1, 0, 0] = 2.0
    assert trial.difference(trial.small.plan).startswith("on mixture 31")


def test_infinities_are_pytorchs_in_products_where_they_have_to_be():
    def fn(x):
        return torch.xlogy(x - 1, x * x)

    trial = tried(fn)
    (kernel,) = trial.small.plan.kernels
    kept, left = (
        replace(trial.small.plan, kernels=(bare(kernel, nan=False, absorbing=absorbing),))
        for absorbing in (True, False)
    )
    assert "inf" in trial.difference(kept)
    assert not trial.difference(left)
    found = derived(fn)
    assert with_edges(found).kernels == (bare(found.plan.kernels[0], nan=False, absorbing=False),)


@pytest.mark.parametrize(
    ("fn", "shape"),
    [
        (lambda x: x / torch.norm(x), (4096, 4096)),  # in stretches
        (lambda x: torch.nn.functional.log_softmax(x, 1).mean(), (4096, 8192)),  # rows that are stored whole
        (lambda x: torch.nn.functional.max_pool2d(x, 4, 1, 1), (2, 8, 512, 512)),  # masks that reach far
    ],
)
def test_a_trial_of_a_large_program_takes_little(fn, shape):
    found = derived(fn, shape, merged=True)
    begun = time.process_time()
    with_edges(found)
    assert time.process_time() - begun < 6


def test_places_of_extremes_are_not_taken():
    with pytest.raises(Differs, match="the place of a largest number"):
        with_edges(derived(lambda x: x.argmax(1)))
