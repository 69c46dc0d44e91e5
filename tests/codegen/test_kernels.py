"""Emitted kernels of the whole gallery: compiled ahead of time for three generations of GPU, and run in Triton's
interpreter.
"""

from __future__ import annotations

import numpy as np
import pytest

from napkin_eq.frontend.gallery import DIAGRAMS, diagram
from napkin_eq.lang.diagram import Diagram
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.pipeline.derive import derive
from napkin_eq.pipeline.validate import chosen_device, validate
from napkin_eq.tile.compile_ahead import ARCHS, compile_report
from napkin_eq.tile.ir import Dot, statements
from tests.diagrams import NEW

pytest.importorskip("triton")

# Bytes of shared memory per block. A plan fits the GPU it was derived for: an A100 has less than what came after it.
SMEM = {"sm_80": 166912, "sm_90": 232448, "sm_100": 232448}
MATRIX = {"sm_80": {"mma"}, "sm_90": {"wgmma", "mma"}, "sm_100": {"tcgen05", "mma"}}


# Bytes that the register estimate does not see coming: of masked pointers for sizes not known, and of slopes beside a
# mask.
SPILLED = {("symbolic_attention", "sm_90"): 32, ("alibi_attention", "sm_80"): 16}


def contracts(derivation: Derivation, kernel: str) -> bool:
    (found,) = (k for k in derivation.plan.kernels if f"{k.name}_kernel" == kernel)
    return any(isinstance(stmt, Dot) for stmt in statements(found.body))


def assert_compiles(of: Diagram, hardware: str, *archs: str) -> None:
    derivation = derive(of, hardware=hardware, printer="triton")
    rows = compile_report(derivation.triton(), *archs)
    assert {row["arch"] for row in rows} == set(archs)
    assert len(rows) == len(archs) * len(derivation.plan.kernels)
    for row in rows:
        assert row["spills_bytes"] <= SPILLED.get((of.name, row["arch"]), 0), row
        assert 0 < row["registers"] <= 255, row
        assert row["smem_bytes"] <= SMEM[row["arch"]], row
        wanted = MATRIX[row["arch"]] if contracts(derivation, row["kernel"]) else {""}
        assert row["tensor_core"] in wanted, row


# Attentions that differ from the others in a mask or in what is added: one generation each, in turn.
ALIKE = [name for name in DIAGRAMS if name.endswith("attention") and name not in ("attention", "causal_attention")]
TWICE = {"symbolic_attention", "alibi_attention"}  # which spill on one generation and not on the others
OLD, NEWER = ([name for name in ALIKE[i::2] if name not in TWICE] for i in (0, 1))


def test_every_diagram_of_the_gallery_is_compiled_for_some_generation():
    assert {*OLD, *NEWER, *TWICE} == {*ALIKE} and not {*OLD} & {*NEWER}
    assert "window_attention" in OLD  # which is not compiled for what came after it


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in DIAGRAMS if name not in ("rmsnorm_linear", *OLD)])
def test_every_kernel_of_the_gallery_compiles_for_hopper_and_blackwell(name):
    assert_compiles(diagram(name), "h200", "sm_90", "sm_100")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in DIAGRAMS if name not in NEWER])
def test_every_kernel_of_the_gallery_compiles_for_ampere(name):
    assert_compiles(diagram(name), "a100", "sm_80")


def test_the_three_generations_are_those_that_can_be_compiled_for():
    assert set(ARCHS) == set(SMEM)


# Float16 in the interpreter, sizes that no tile divides.
SMALL = {
    "softmax": {"t": 5, "x": 75},
    "logsumexp": {"t": 5, "x": 300},
    "variance": {"t": 5, "x": 300},
    "layer_norm": {"t": 5, "d": 75},
    "matmul": {"m": 37, "n": 50, "k": 75},
    "linear_gelu": {"t": 37, "d": 40, "f": 75},
    "rmsnorm_linear": {"t": 37, "d": 75, "f": 50},
    "swiglu": {"t": 37, "d": 75, "f": 50},
    "attention": {"b": 1, "h": 2, "q": 37, "x": 150, "d": 64},
    "causal_attention": {"b": 1, "h": 2, "q": 150, "x": 150, "d": 64},
    "padded_attention": {"b": 3, "h": 1, "q": 37, "x": 150, "d": 64},
    "gqa_attention": {"b": 1, "k": 2, "r": 2, "q": 37, "x": 150, "d": 64},
    "linear_cross_entropy": {"t": 37, "v": 300, "d": 40},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(SMALL))
def test_the_kernel_agrees_with_float64(name):
    report = validate(diagram(name), "float16", [SMALL[name]])
    assert report.passed, str(report)
    assert 0 < max(case.bound_used for case in report.cases) <= 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["contrastive_loss", "gated_mlp", "sigmoid_attention", "huber_loss", "outer_softmax", "convolution"]
)
def test_the_kernel_of_a_new_diagram_agrees_with_float64(name):
    make, sizes = NEW[name]
    report = validate(Diagram(name, (("out", make(sizes)),)), "float16", [sizes])
    assert report.passed, str(report)


# The interpreter divides before the guard picks 0; a GPU gives infinity there, and says nothing.
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_rows_of_padding_only_give_zero_in_the_kernel():
    import torch

    from napkin_eq.pipeline.validate import executed

    device = chosen_device("auto")[0]
    derivation = derive(diagram("padded_attention", b=3, h=1, q=17, x=75, d=32), dtype="float16")
    generator = np.random.default_rng(0)
    q, k, v = (torch.from_numpy(generator.standard_normal((3, 1, n, 32))).half().to(device) for n in (17, 75, 75))
    given = {"Q": q, "K": k, "V": v, "lengths": torch.tensor([0, 1, 75], dtype=torch.int32, device=device)}
    (out,) = executed(derivation.triton(), [given[buffer.name] for buffer in derivation.plan.inputs])
    assert (out[0] == 0).all()
    # One key only: its value is the answer, every bit of it.
    assert torch.equal(out[1, 0], v[1, 0, 0].expand(17, 32))
    assert torch.isfinite(out).all()
