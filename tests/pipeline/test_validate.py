"""Validation: kernels that agree pass, kernels that were tampered with do not."""

from __future__ import annotations

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.frontend.gallery import diagram
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.numerics.sample_inputs import draw, families
from napkin_eq.pipeline.derive import derive
from napkin_eq.pipeline.validate import chosen_device, compared, executed, trial_sizes, validate

SMALL = {"t": 5, "x": 75}  # a block gives one element of so few: each is a run of the interpreter


def device() -> str:
    return chosen_device("auto")[0]


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_a_row_kernel_agrees_with_float64(dtype):
    report = validate(diagram("softmax"), dtype, [SMALL])
    assert report.passed
    (case,) = report.cases
    assert case.sizes == SMALL
    assert 0 < case.bound_used <= 1
    assert str(report).endswith("ok")
    assert report.data()["cases"][0]["passed"] is True


@pytest.mark.parametrize(
    ("old", "new"), [("_ptr + ", "_ptr + 1 + "), ("1.4426950408889634", "1.44"), ("tl.sum(", "tl.max(")]
)
def test_a_tampered_kernel_fails(old, new, monkeypatch):
    sized = diagram("softmax").with_sizes(SMALL)
    derivation = derive(sized, dtype="float16")
    source = derivation.triton()
    assert old in source
    assert all(case.passed for case in compared(sized, derivation, "float16", device(), 0))
    changed = source.replace("_ptr + ", "_ptr + 1 + ", 1) if old == "_ptr + " else source.replace(old, new)
    monkeypatch.setattr(type(derivation), "triton", lambda self: changed)
    (case,) = compared(sized, derivation, "float16", device(), 0)
    assert not case.passed
    assert case.bound_used > 1


def test_several_outputs_and_integers():
    t, x = nq.axes("t x", t=19, x=40)
    a, at = nq.array("A", t, x), nq.array("at", t, dtype="int32")
    several = Diagram("several", (("low", nq.sum(a, x)), ("high", nq.max(a, x)), ("picked", nq.take(a, x, at))))
    report = validate(several, "float32", [{}])
    assert [case.output for case in report.cases] == ["low", "high", "picked"]
    assert report.passed
    assert report.cases[2].max_error == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["causal_attention", "padded_attention", "linear_cross_entropy", "rmsnorm_linear"])
def test_the_hard_ones_at_ragged_sizes(name):
    chosen = diagram(name)
    # Keys in several blocks, the last one ragged; every query is a run of the interpreter.
    ragged = {axis: min(size, 75 if axis == "q" else 150) for axis, size in trial_sizes(chosen, {})[0].items()}
    assert validate(chosen, "float16", [ragged]).passed


def test_bfloat16_is_refused_in_the_interpreter():
    if device() == "cuda":
        assert validate(diagram("softmax"), "bfloat16", [SMALL]).passed
    else:
        with pytest.raises(NapkinError, match="bfloat16.*interpreter"):
            validate(diagram("softmax"), "bfloat16", [SMALL])


def test_trial_sizes_reach_past_masks_and_keep_heads():
    ragged, tidy = trial_sizes(diagram("window_attention"), {"h": 5})
    assert ragged["h"] == tidy["h"] == 5
    assert ragged["d"] == tidy["d"] == 128
    assert min(ragged["q"], ragged["x"]) > 1023
    assert all(size % 64 for size in (ragged["q"], ragged["x"]))
    assert all(size & (size - 1) == 0 for name, size in tidy.items() if name != "h")


def test_inputs_meet_their_facts_in_every_family_and_are_the_same_again():
    (q,) = nq.axes("q", q=500)
    names = {"pos": "P", "nonneg": "N", "nonzero": "Z", "abs<=2": "B"}
    total = sum(
        (nq.array(name, q, facts=(fact,)) for fact, name in names.items()), nq.array("I", q, dtype="int32") * 1.0
    )
    of = Diagram("facts", (("out", total),))
    for family in families().values():
        arrays, again = (draw(of, family, {"q": 500}, "bfloat16", 3).clean for _ in range(2))
        assert (arrays["P"] > 0).all()
        assert (arrays["N"] >= 0).all()
        assert (arrays["Z"] != 0).all()
        assert (np.abs(arrays["B"]) <= 2).all()
        assert all((arrays[name] == again[name]).all() for name in arrays)


def test_families_on_the_emitted_kernel_and_what_replays_a_failure(monkeypatch):
    report = validate(diagram("softmax"), "float16", [SMALL], inputs=("outlier", "nan", "negative-zero"))
    assert report.passed, str(report)
    assert [case.family for case in report.cases] == ["outlier", "nan", "negative-zero"]
    with pytest.raises(NapkinError, match="unknown family 'odd'; one of normal, large"):
        validate(diagram("softmax"), "float16", [SMALL], inputs=("odd",))
    with pytest.raises(NapkinError, match="family late: diagram softmax has no input of masks"):
        validate(diagram("softmax"), "float16", [SMALL], inputs=("late",))
    sized = diagram("softmax").with_sizes(SMALL)
    derivation = derive(sized, dtype="float16")
    source = derivation.triton()
    monkeypatch.setattr(type(derivation), "triton", lambda self: source.replace("1.4426950408889634", "1.44"))
    report = validate(diagram("softmax"), "float16", [SMALL], inputs=("ties",), seed=5)
    assert not report.passed
    assert (
        "again: napkin-eq run softmax --hardware h200 --dtype float16 --family ties --seed 5 --set t=5 --set x=75"
        in str(report)
    )


def test_a_symbolic_size_needs_a_number():
    symbolic = diagram("softmax", t=None)
    with pytest.raises(NapkinError, match=r"axis t is symbolic.*--set t=SIZE"):
        validate(symbolic, "float16", [{"x": 40}])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a[:, :-1], "expected shape"),
        (lambda a: a.double(), "expected dtype torch.float16, found torch.float64"),
        (lambda a: a.numpy(), "expected a torch.Tensor, found ndarray"),
    ],
)
def test_the_launcher_refuses_wrong_tensors(change, message):
    import torch

    derivation = derive(diagram("softmax").with_sizes(SMALL), dtype="float16")
    with pytest.raises((TypeError, ValueError), match=message):
        executed(derivation.triton(), [change(torch.zeros(5, 75, dtype=torch.float16))])


def test_products_in_parts_run_in_the_interpreter() -> None:
    """It does not know the word for them, which operands take that do not lie along their fold."""
    m, n, k = nq.axes("m n k", m=512, n=512, k=256)
    of = nq.Diagram("turned", (("out", nq.sum(nq.array("A", k, m) * nq.array("B", k, n), k)),))
    derivation = derive(of, dtype="float32")
    assert 'input_precision="bf16x6"' in derivation.triton()
    (case,) = compared(of, derivation, "float32", "cpu", 0)
    assert case.bound_used < 1 and case.max_error < 1e-3
    arrays = [np.random.default_rng(i).standard_normal((256, 512)).astype("float32") for i in range(2)]
    import torch

    got = derivation.compile()(*map(torch.from_numpy, arrays))
    assert np.allclose(got.numpy(), arrays[0].T @ arrays[1], atol=1e-3)


def test_the_launcher_refuses_another_device():
    import torch

    derivation = derive(diagram("matmul").with_sizes({"m": 16, "n": 16, "k": 16}), dtype="float16")
    square = torch.zeros(16, 16, dtype=torch.float16)
    with pytest.raises(ValueError, match="B: expected device cpu, as the first argument, found meta"):
        executed(derivation.triton(), [square, square.to("meta")])


@pytest.mark.slow
def test_the_emitted_kernel_on_families_about_masks_and_sizes():
    of = diagram("padded_attention", b=2, h=1, q=20, x=300, d=32)
    chosen = ("growing", "falling", "opposed", "late", "nothing", "nan-masked", "inf-masked", "size-above")
    report = validate(of, "float16", [{}], inputs=chosen)
    assert report.passed, str(report)
    assert [case.family for case in report.cases] == list(chosen)
    assert report.cases[0].sizes["x"] == 300
    assert {size % 16 for name, size in report.cases[-1].sizes.items() if report.cases[0].sizes[name] != size} == {1}


def test_an_array_declared_bfloat16_is_not_run_in_the_interpreter() -> None:
    (x,) = nq.axes("x", x=8)
    diagram = nq.Diagram("narrow", (("out", nq.exp(nq.array("A", x, dtype="bfloat16")) + nq.array("B", x)),))
    with pytest.raises(NapkinError, match="A is declared bfloat16"):
        validate(diagram, dtype="float32", device="cpu")
