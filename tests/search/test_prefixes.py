"""Sums over the lanes up to one, cut into stretches: the chain, the numbers, what is left alone, what it is worth."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.certify import certificate
from napkin_eq.certify.certificate import require_accepted
from napkin_eq.egraph.budget import Budget
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.evaluate import output_order
from napkin_eq.lang.term import Const, Index, Map, Reduce, Scan, subterms
from napkin_eq.pipeline import derive as pipeline
from napkin_eq.pipeline.asked import proved_laws
from napkin_eq.search import prefixes
from napkin_eq.tile.printers import emit
from tests.forms import led


def where(mask, value):
    return Map("where", (mask, value, Const(0.0)))


def total(axis, body):
    return Reduce("sum", axis, body)


def forms(size, wide=16):
    """Return sums over the lanes up to one, written in many ways, over axes of a size."""
    b, k, m = Axis("b", 2), Axis("k", size), Axis("m", size)
    d, n = Axis("d", wide), Axis("n", wide)
    q, kk, v = nq.array("q", b, k, d), nq.array("kk", b, m, d), nq.array("v", b, m, n)
    a, g = nq.array("a", b, k), nq.array("g", b, m)
    up_to, below = Index(m) <= Index(k), Index(m) < Index(k)
    dot = total(d, q * kk)
    return {
        "linear": total(m, where(up_to, dot) * v),
        "strict": total(m, where(below, dot) * v),
        "turned": total(m, Map("where", (Index(k) < Index(m), Const(0.0), dot)) * v),
        "turned strictly": total(m, Map("where", (Index(k) <= Index(m), Const(0.0), dot)) * v),
        "after": total(m, v * where(up_to, dot)),
        "two factors": total(m, where(up_to, a * g) * v),
        "three factors": total(m, v * where(up_to, a * (dot * g))),
        "all inside": total(m, where(up_to, (dot * v) * g)),
        "under the mask": Reduce("sum", m, dot * v, up_to),
        "minus": total(m, where(up_to, Map("neg", (dot,))) * v),
        "no row": total(m, where(up_to, g * v)),
        "weighted scores": total(m, where(up_to, total(d, q * kk * g)) * v),
        "weighted rows": total(m, where(up_to, total(d, (a * q) * kk)) * (v * g)),
        "inside of others": total(m, where(up_to, dot) * v) * a + a,
    }  # fmt: skip


def arrays_of(term, seed=0):
    random = np.random.default_rng(seed)
    inputs = Diagram("d", (("out", term),)).inputs()
    return {i.name: random.standard_normal([axis.size for axis in i.dims]) for i in inputs}


@pytest.fixture(scope="module")
def laws():
    return proved_laws((), (), False)


@pytest.mark.parametrize("size", [64, 80, 83, 97])
@pytest.mark.parametrize("name", sorted(forms(64)))
def test_a_sum_over_earlier_lanes_is_cut_and_says_the_same(name, size, laws):
    source = forms(size)[name]
    made = prefixes.cut([source], laws, 16, Budget(30.0))
    assert made is not None
    (target,) = made.outputs
    assert any(isinstance(t, Scan) for t in subterms(target))
    require_accepted(source, target, made.steps, laws.statements, laws.verdicts)
    arrays, order = arrays_of(source), [axis.name for axis in output_order(source)]
    np.testing.assert_allclose(
        nq.evaluate(target, arrays, order=order), nq.evaluate(source, arrays, order=order), rtol=1e-9, atol=1e-9
    )


def test_several_sums_of_several_outputs_are_cut_together(laws):
    given = forms(64)
    outputs = [given["linear"], given["two factors"]]
    made = prefixes.cut(outputs, laws, 16, Budget(30.0))
    assert made is not None and len(made.outputs) == 2
    source, target = nq.lang.term.Tuple(tuple(outputs)), nq.lang.term.Tuple(made.outputs)
    require_accepted(source, target, made.steps, laws.statements, laws.verdicts)


def test_the_same_sum_gives_the_same_steps(laws):
    source = forms(83)["linear"]
    once, again = (prefixes.cut([source], laws, 16, Budget(30.0)) for _ in range(2))
    assert once == again


def left_alone():
    k, m, z = Axis("k", 64), Axis("m", 64), Axis("z", 96)
    q, g, h = nq.array("q", k), nq.array("g", m), nq.array("h", z)
    up_to = Index(m) <= Index(k)
    return {
        "an exponential of both": total(m, where(up_to, Map("exp", (q * g,)))),
        "a softmax": total(m, Map("exp", (Map("where", (up_to, q * g, Const(-np.inf))),)) * g),
        "a maximum": Reduce("max", m, where(up_to, q * g)),
        "later lanes": total(m, where(Index(k) <= Index(m), q * g)),
        "all lanes": total(m, q * g),
        "lanes of another length": total(z, where(Index(z) <= Index(k), q * h)),
        "a mask with another value beside it": total(m, Map("where", (up_to, q * g, Const(1.0)))),
        "a sum of both": total(m, where(up_to, q + g)),
        "a band": total(m, where(Index(m) <= Index(k) + Const(1), q * g)),
        "what does not vary along the lanes": total(m, where(up_to, q)),
    }  # fmt: skip


@pytest.mark.parametrize("name", sorted(left_alone()))
def test_what_does_not_part_is_left_alone(name, laws):
    assert prefixes.cut([left_alone()[name]], laws, 16, Budget(30.0)) is None


def test_few_stretches_are_not_cut(laws):
    assert prefixes.cut([forms(64)["linear"]], laws, 32, Budget(30.0)) is None


def test_without_a_law_that_it_takes_nothing_is_cut():
    fewer = proved_laws(["sum-runs"], (), False)
    assert prefixes.cut([forms(64)["linear"]], fewer, 16, Budget(30.0)) is None


def forced(term, monkeypatch, length=16):
    """Derive a term with its sums cut, whatever that is predicted to cost."""
    offered = pipeline._in_stretches

    def first(job, found):
        found[:] = next(offered(job, found))
        return []

    monkeypatch.setattr(pipeline, "STRETCHES", 0.0)
    monkeypatch.setattr(prefixes, "LENGTHS", (length,))
    monkeypatch.setattr(pipeline, "_in_stretches", first)
    return nq.derive(Diagram("cut", (("out", term),)), dtype="float32", limit=120)


# Runs of 16 lanes, the last one whole or not, and of 14, which no tile divides. So short an axis that is ragged has no
# plan in small; here the kernels themselves are run.
@pytest.mark.parametrize(("name", "size"), [("turned", 64), ("strict", 93), ("three factors", 111), ("linear", 83)])
def test_kernels_of_a_sum_that_is_cut_agree_in_float32(name, size, monkeypatch, tmp_path):
    torch = pytest.importorskip("torch")
    pytest.importorskip("triton")
    source = forms(size)[name]
    derived = forced(source, monkeypatch)
    assert "scan" in str(derived.term)
    assert certificate.of(derived)["grade"] == "A"
    assert derived.outputs[0].translation.status == "agrees" or size % 16
    arrays = arrays_of(source)
    file = tmp_path / "cut.py"
    file.write_text(emit(derived.plan), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("cut", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    given = {b.name: torch.tensor(arrays[b.name], dtype=torch.float32, device=device) for b in derived.plan.inputs}
    found = module.run(**given).cpu().numpy()
    order = [axis.name for axis in derived.plan.outputs[0].dims]
    wanted = nq.evaluate(source, arrays, order=order)
    np.testing.assert_allclose(found, wanted, atol=2e-5 * np.abs(wanted).max())


def causal(size, heads=64, wide=64):
    b, k, m = Axis("b", heads), Axis("k", size), Axis("m", size)
    d, n = Axis("d", wide), Axis("n", wide)
    q, kk, v = nq.array("q", b, k, d), nq.array("kk", b, m, d), nq.array("v", b, m, n)
    mask = Map("where", (Index(k) < Index(m), Const(0.0), total(d, q * kk)))
    return Diagram("causal", (("out", total(m, mask * v)),))


def test_causal_linear_attention_is_linear_in_the_length():
    short = nq.derive(causal(4096))
    assert "scan" in str(short.term)
    assert short.report()["predicted_us"] < 100.0  # 351.6 with all pairs
    assert certificate.of(short)["grade"] == "A"
    assert certificate.checked(certificate.of(short))["status"] == "ok"
    assert [o.translation.status for o in short.outputs] == ["agrees"]


def test_a_length_that_no_stretch_divides_is_cut_too():
    ragged = nq.derive(causal(4000))
    assert "scan" in str(ragged.term) and ragged.report()["predicted_us"] < 100.0
    assert certificate.of(ragged)["grade"] == "A"
    assert [o.translation.status for o in ragged.outputs] == ["agrees"]


@pytest.mark.parametrize("size", [64, 256])
def test_a_short_sum_is_done_as_before(size):
    assert "scan" not in str(nq.derive(causal(size, heads=2)).term)


def test_factors_that_are_no_contraction_are_cut_too():
    b, k, m, n = Axis("b", 64), Axis("k", 4096), Axis("m", 4096), Axis("n", 64)
    a, g, v = nq.array("a", b, k), nq.array("g", b, m), nq.array("v", b, m, n)
    pairs = where(Index(m) <= Index(k), a * g)
    derived = nq.derive(Diagram("factors", (("out", total(m, pairs * v)),)))
    assert "scan" in str(derived.term)
    assert derived.report()["predicted_us"] < 80.0  # 197.9 with all pairs
    assert certificate.of(derived)["grade"] == "A"


def running(size, heads=2, wide=4):
    """Return contractions of running sums of outer products, written in many ways."""
    b, x = Axis("b", heads), Axis("x", size)
    d, n, z = Axis("d", wide), Axis("n", wide), Axis("z", 3)
    q, k, v = nq.array("q", b, x, d), nq.array("k", b, x, d), nq.array("v", b, x, n)
    a, g, w = nq.array("a", b, x), nq.array("g", x), nq.array("w", d)
    state = Scan("sum", x, k * v)
    return {
        "linear": total(d, q * state),
        "after": total(d, state * q),
        "a gate inside": total(d, q * Scan("sum", x, (k * a) * (g * v))),
        "factors on either side": total(d, (q * a) * (state * (w * 0.5))),
        "exponentials": total(d, nq.exp(q) * Scan("sum", x, nq.exp(k) * v)),
        "a value that is a sum": total(d, q * Scan("sum", x, k * total(z, nq.array("u", x, z) * nq.array("t", z, n)))),
        "divided": total(d, q * state) / total(d, nq.exp(q)),
        "inside of others": nq.exp(total(d, q * state) * 0.01) + a,
        "alike factors": total(d, q * (q * Scan("sum", x, k * (k * (v * v))))),
    }


@pytest.mark.parametrize("size", [64, 83])
@pytest.mark.parametrize("name", sorted(running(64)))
def test_a_contraction_of_what_runs_is_a_sum_over_earlier_lanes_and_says_the_same(name, size, laws, monkeypatch):
    monkeypatch.setattr(prefixes, "LENGTHS", (16,))
    asked = running(size)[name]
    made = prefixes.as_sums([asked], laws, Budget(30.0))
    target = led(asked, made, laws, arrays_of(asked))
    assert not any(isinstance(t, Scan) for t in subterms(target)) and prefixes.sums([target])


def test_other_contractions_and_short_ones_are_no_states():
    x, d, n = Axis("x", 1024), Axis("d", 8), Axis("n", 8)
    q, k, v = nq.array("q", x, d), nq.array("k", x, d), nq.array("v", x, n)
    assert prefixes.states([total(d, q * Scan("sum", x, k * v))])
    assert not prefixes.states(list(running(256).values()))
    assert not prefixes.states([total(d, q * Scan("sum", x, k))])  # no larger than its parts
    assert not prefixes.states([total(d, q * Scan("sum", x, k + v))])
    assert not prefixes.states([total(d, q * Scan("prod", x, k * v)), total(d, Scan("sum", x, k * v))])
    wide = nq.array("wide", x, d, n)
    assert not prefixes.states([total(d, wide * Scan("sum", x, k * v))])  # which is as large as what runs
    assert not prefixes.states([total(n, Scan("sum", x, q * k) * v)])


def test_without_one_of_its_laws_no_state_is_a_sum(monkeypatch):
    monkeypatch.setattr(prefixes, "LENGTHS", (16,))
    for name in ("where-after", "fubini-sum", "mul-associates"):
        assert prefixes.as_sums([running(64)["linear"]], proved_laws([name], (), False), Budget(30.0)) is None


def test_running_outer_products_read_by_rows_take_the_matrix_unit():
    derived = nq.derive(running(4096, heads=64, wide=64)["linear"], limit=60)
    assert derived.report()["predicted_us"] < 100.0  # 1195.6 with what runs kept for each lane
    assert certificate.of(derived)["grade"] == "A"
    assert certificate.checked(certificate.of(derived))["status"] == "ok"
    assert [o.translation.status for o in derived.outputs] == ["agrees"]
