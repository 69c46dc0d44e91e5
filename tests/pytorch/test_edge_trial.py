"""Kernels at the edges of the numbers: NaN, infinities and zeros in data give what PyTorch gives, or the kernel is not
taken.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

import napkin_eq as nq
from napkin_eq.pytorch.edge_trial import Differs, Trial, with_edges
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


def derived(fn, shape=(6, 4)):
    program = from_torch(fn, torch.randn(shape))
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


def test_places_of_extremes_are_not_taken():
    with pytest.raises(Differs, match="the place of a largest number"):
        with_edges(derived(lambda x: x.argmax(1)))
