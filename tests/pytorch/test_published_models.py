"""Models as they are published, small and with random weights: values and gradients are PyTorch's, and nothing of them
that computes stays outside the regions.
"""

from __future__ import annotations

import copy
import warnings

import pytest
import torch
import transformers

from napkin_eq.pytorch import backend
from tests.pytorch.test_backend import compiled

transformers.logging.set_verbosity_error()
SIZES = {"vocab_size": 97, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
TEXT = {**SIZES, "intermediate_size": 48, "max_position_embeddings": 64}
SHARED = {**TEXT, "num_key_value_heads": 2}
GPT2 = {"vocab_size": 97, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}
IMAGES = {**SIZES, "intermediate_size": 48, "image_size": 32, "patch_size": 8}
MAMBA = {"vocab_size": 97, "hidden_size": 16, "num_hidden_layers": 2, "state_size": 4}
SOFT_CAPPED = {**SHARED, "head_dim": 8, "query_pre_attn_scalar": 8, "sliding_window": 8}
MODELS = {
    "llama": (transformers.LlamaForCausalLM, transformers.LlamaConfig, SHARED),
    "qwen": (transformers.Qwen2ForCausalLM, transformers.Qwen2Config, SHARED),
    "gemma, soft-capped": (transformers.Gemma2ForCausalLM, transformers.Gemma2Config, SOFT_CAPPED),
    "gpt-2": (transformers.GPT2LMHeadModel, transformers.GPT2Config, GPT2),
    "bert": (transformers.BertForMaskedLM, transformers.BertConfig, TEXT),
    "vit": (transformers.ViTForImageClassification, transformers.ViTConfig, IMAGES),
    "mamba": (transformers.MambaForCausalLM, transformers.MambaConfig, MAMBA),
}


def given(name):
    """Return a model without dropout, and what it is called with."""
    generator = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    kind, config, said = MODELS[name]
    model = kind(config(**said)).eval()
    if name == "vit":
        return model, {"pixel_values": torch.randn(2, 3, 32, 32, generator=generator), "labels": torch.tensor([0, 1])}
    words = torch.randint(1, 97, (2, 12), generator=generator)
    return model, {"input_ids": words, "labels": words}


def stepped(run, model, named):
    found = run(**named)
    return [found.loss, found.logits, *torch.autograd.grad(found.loss, list(model.parameters()), allow_unused=True)]


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_published_model_is_taken_whole_forward_and_backward(name):
    model, named = given(name)
    other = copy.deepcopy(model)
    torch._dynamo.reset()
    backend.reports.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, wanted = stepped(compiled(model), model, named), stepped(other, other, named)
    for got, want in zip(found, wanted, strict=True):
        assert (got is None) == (want is None)
        if got is not None:
            torch.testing.assert_close(got, want, rtol=2e-3, atol=2e-5)
    assert not any(report.failed for report in backend.reports)
    assert not {region.reason for report in backend.reports for region in report.regions} - {""}
