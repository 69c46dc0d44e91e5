"""What torch.export is given and gives: questions to data that are no part of what is computed, recurrent networks."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import napkin_eq as nq
from napkin_eq.lang import substitute
from napkin_eq.lang.errors import NapkinError
from napkin_eq.pytorch import backend
from napkin_eq.pytorch.program import Program

RECURRENT = (nn.LSTM, nn.GRU, nn.RNN)


def agree(fn, *inputs):
    with torch.no_grad():
        wanted = fn(*inputs)
        got = nq.from_torch(fn, *inputs).run(*inputs)
    torch.testing.assert_close(got, wanted.double(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", RECURRENT)
def test_a_recurrent_network_that_drops_numbers_is_refused(kind):
    """PyTorch's decomposition leaves the dropout between layers out: what is read of it would be the network in eval
    mode.
    """
    network, x = kind(3, 4, 2, dropout=0.5), torch.randn(5, 2, 3)
    with pytest.raises(NapkinError, match="draws random numbers"):
        nq.from_torch(network, x)
    for quiet in (network.eval(), kind(3, 4, 2).train(), kind(3, 4, 1, dropout=0.0).train()):
        agree(lambda given, quiet=quiet: quiet(given)[0], x)


@pytest.mark.parametrize("kind", RECURRENT)
def test_a_recurrent_network_of_many_steps_is_refused_at_once(kind):
    with pytest.raises(NapkinError, match="6 layers of 512 steps, one after another, nest"):
        nq.from_torch(kind(3, 4, 6, batch_first=True), torch.randn(2, 512, 3))


@pytest.mark.parametrize("training", [False, True])
def test_whether_a_mask_is_the_causal_one_is_no_question_to_it(training):
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.0)
    encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).train(training)
    causal = nn.Transformer.generate_square_subsequent_mask(5)
    for mask in (causal, torch.zeros(5, 5), causal.T.contiguous()):
        agree(lambda x, m: encoder(x, mask=m), torch.randn(2, 5, 8), mask)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_losses_that_ask_of_their_data_or_weigh_soft_labels(reduction):
    x, t, v = torch.randn(4, 3), torch.randn(4, 3), torch.rand(4, 3)
    agree(lambda *a: F.gaussian_nll_loss(*a, reduction=reduction, full=True), x, t, v)
    agree(lambda *a: F.gaussian_nll_loss(*a, reduction=reduction), x, t, v[:, 0])
    labels, weights = torch.softmax(torch.randn(4, 3, 5), 1), torch.rand(3)
    for smoothing in (0.0, 0.1):
        agree(
            lambda s, p, w, by=smoothing: F.cross_entropy(s, p, weight=w, reduction=reduction, label_smoothing=by),
            torch.randn(4, 3, 5), labels, weights,
        )  # fmt: skip
    assert torch.any(torch.tensor([False, True])) and F.gaussian_nll_loss.__name__ == "gaussian_nll_loss"


@pytest.mark.parametrize("fn", [torch.randn_like, torch.bernoulli, F.gumbel_softmax, lambda x: F.dropout2d(x, 0.5)])
def test_what_draws_random_numbers_is_said_to(fn):
    with pytest.raises(NapkinError, match="draws random numbers"):
        nq.from_torch(fn, torch.rand(2, 3, 4, 4))


def test_a_choice_by_data_is_refused_with_what_to_write():
    with pytest.raises(NapkinError, match=r"torch\.where"):
        nq.from_torch(lambda x: x + 1 if x.sum() > 0 else x, torch.randn(3))


@pytest.mark.parametrize("fn", [torch.nonzero, torch.unique, lambda x: x.masked_select(x > 0), torch.argwhere])
def test_what_only_the_data_say_the_size_of_is_said_to(fn):
    with pytest.raises(NapkinError, match="only the data say how many elements it gives") as raised:
        nq.from_torch(fn, torch.randn(3))
    assert "\n" not in str(raised.value)


def test_a_long_recurrence_is_read_without_a_walk_for_each_step(monkeypatch):
    """Names were gathered from the whole term at each step, which took most of an LSTM's reading."""
    walked = list[object]()
    monkeypatch.setattr(substitute, "_names", lambda node: walked.append(node) or set())
    program = nq.from_torch(torch.nn.LSTM(3, 4), torch.randn(6, 2, 3))
    assert program.diagram.outputs and len(walked) < 100


def test_every_program_of_a_process_is_explained(monkeypatch):
    """Reports of graphs that stay PyTorch for one reason are equal, and are several."""
    monkeypatch.setattr(backend, "_machine", lambda options, inputs: ("", False, False))
    programs = [lambda x: x.sin() + 1, lambda x: x.cos() * 2]
    said = [backend.explain_torch(fn, torch.randn(4)) for fn in programs]
    assert all("no GPU" in text for text in said)


def test_without_a_gpu_what_one_would_be_given_is_said(monkeypatch):
    import triton

    monkeypatch.setattr(triton.knobs.runtime, "interpret", False)
    x, w = torch.randn(4096, 512), torch.randn(512, 1024)
    said = backend.explain_torch(lambda x, w: torch.softmax(x @ w, -1), x, w, options={"hardware": "h100"})
    assert said.startswith("no GPU here: what derives for h100 is said") and "1 of 1 regions" in said
    assert "us of PyTorch" in said and "certificate" in said


@pytest.mark.parametrize("options", [{"hardware": "nope"}, {"executor": "nope"}, {"rest": "nope"}])
def test_an_option_of_another_word_is_refused_in_a_line(options):
    with pytest.raises(NapkinError, match="'nope'"):
        backend.explain_torch(lambda x: x + 1, torch.randn(3), options=options)


def test_what_takes_more_memory_than_there_is_ends_in_a_line(monkeypatch):
    def over(*_):
        raise np._core._exceptions._ArrayMemoryError((1 << 40,), np.dtype(float))

    program = nq.from_torch(lambda x: x + 1, torch.randn(3))
    monkeypatch.setattr(Program, "evaluated", over)
    with pytest.raises(NapkinError, match="more memory than there is"):
        program.run(torch.randn(3))


def test_a_plan_that_walks_many_axes_is_tried_in_small():
    """A bicubic image reads at sixteen places; NumPy's own broadcasting takes 32 dimensions."""
    found = nq.from_torch(lambda x: F.interpolate(x, size=(7, 5), mode="bicubic"), torch.randn(1, 2, 4, 6))
    derivation = nq.derive(found.diagram, "h100", dtype="float32")
    assert derivation.outputs[0].translation.status == "agrees"
