"""Long prefixes of few rows in runs: the chain, the numbers, what is left alone, what it is worth."""

from __future__ import annotations

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.certify import certificate
from napkin_eq.certify.asked import same
from napkin_eq.certify.certificate import require_accepted
from napkin_eq.egraph.budget import Budget
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.evaluate import output_order
from napkin_eq.lang.term import Const, Index, Length, Map, Read, Recur, Scan, Size, Term, Tuple, subterms
from napkin_eq.pipeline.asked import proved_laws
from napkin_eq.search import prefixes, runs
from napkin_eq.tile.places import decided
from napkin_eq.tile.printers import emit
from tests.forms import led

SMS = 132


def forms(size):
    """Return prefixes along an axis of a size, in the company that they are met in."""
    b, x = Axis("b", 2), Axis("x", size)
    a, g, k = nq.array("a", b, x), nq.array("g", b, x), nq.array("k", b)
    return {
        "sum": Scan("sum", x, a),
        "sum of exponentials": Scan("sum", x, nq.exp(a - nq.max(a, x))) * g,
        "product": Scan("prod", x, a),
        "recurrence": Recur(x, g, a),
        "one gain a row": Recur(x, nq.exp(0.0 - k * k), a * g),
        "constant gain": Recur(x, Const(0.9), a),
        "of one number": Scan("sum", x, k),
        "of coordinates": Scan("sum", x, a * Map("real", (Index(x) % 7,))),
        "of one row": Scan("sum", x, nq.array("c", x)),
        "from its end": Read(Scan("sum", x, Read(a, x, Const(size - 1) - Index(x))), x, Const(size - 1) - Index(x)),
        "in a fold": nq.sum(Scan("sum", x, a) * g, x),
        "two": Scan("sum", x, a) + Recur(x, g, a),
        "with a fold": Tuple((Scan("sum", x, a), nq.sum(a, x))),
    }


def arrays_of(term: Term, seed: int = 0):
    random = np.random.default_rng(seed)
    inputs = Diagram("d", (("out", term),)).inputs()
    drawn = {i.name: random.standard_normal([axis.size for axis in i.dims]) for i in inputs}
    return drawn | {name: 1.0 + 0.1 * drawn[name] for name in ("g",) if name in drawn}


@pytest.fixture(scope="module")
def laws():
    return proved_laws((), (), False)


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(runs, "LEAST", 32)
    monkeypatch.setattr(runs, "LENGTHS", (16,))


@pytest.mark.parametrize("size", [64, 65, 79, 96])
@pytest.mark.parametrize("name", sorted(forms(64)))
def test_a_prefix_is_taken_in_runs_and_says_the_same(name, size, laws, short):
    asked = forms(size)[name]
    asked = asked.items if isinstance(asked, Tuple) else (asked,)
    made = runs.in_runs(asked, laws, Budget(30.0), 2 * SMS)
    assert made is not None
    source, form = made
    assert same(asked, source)
    whole, target = (t[0] if len(t) == 1 else Tuple(tuple(t)) for t in (source, form.outputs))
    require_accepted(whole, target, form.steps, laws.statements, laws.verdicts)
    assert max(t.axis.size for t in subterms(target) if isinstance(t, Scan)) <= 16
    for old, new in zip(asked, form.outputs, strict=True):
        arrays, order = arrays_of(old), [axis.name for axis in output_order(old)]
        np.testing.assert_allclose(
            nq.evaluate(new, arrays, order=order), nq.evaluate(old, arrays, order=order), rtol=1e-9, atol=1e-9
        )


def test_what_has_rows_enough_or_is_short_or_made_of_another_prefix_is_left_alone(laws):
    x, y = Axis("x", 8192), Axis("y", 100)
    rows, short = nq.array("a", y, x), nq.array("b", y)
    assert not runs.scans([Scan("sum", x, rows), Scan("sum", y, short)], 2 * SMS)
    inner = Scan("sum", x, nq.array("c", x))
    assert runs.scans([Scan("sum", x, inner * inner)], 2 * SMS) == [inner]
    assert not runs.scans([Scan("max", x, nq.array("c", x))], 2 * SMS)
    assert runs.in_runs([Scan("sum", x, rows)], laws, Budget(30.0), 2 * SMS) is None


def test_without_one_of_its_laws_nothing_is_taken_in_runs(short):
    for name in ("scan-in-runs-sum", "read-back", "read-before"):
        assert runs.in_runs([forms(64)["sum"]], proved_laws((name,), (), False), Budget(30.0), 2 * SMS) is None


@pytest.mark.parametrize("size", [65536, 65000])
@pytest.mark.parametrize("name", ["sum", "recurrence"])
def test_long_rows_are_three_kernels_of_many_blocks(name, size):
    term = forms(size)[name]
    derived = nq.derive(term, "h200", dtype="float32", limit=60)
    assert len(derived.tiled) == 3 and max(t.cost.blocks for t in derived.tiled) >= 64
    assert sum(t.cost.bytes_l2 for t in derived.tiled) >= 4 * sum(a.size for a in arrays_of(term).values())
    drawn = {name: array.astype(np.float32).astype(np.float64) for name, array in arrays_of(term).items()}
    if name == "recurrence":
        drawn["g"] = np.clip(drawn["g"], 0.0, 1.0)
    order = [axis.name for axis in derived.plan.outputs[0].dims]
    found, exact = emit(derived.plan, "numpy")(drawn, True)["out"], nq.evaluate(term, drawn, order=order)
    assert np.abs(found - exact).max() <= 1e-4 * np.abs(exact).max()


def test_comparisons_are_decided_by_bounds_and_sizes_but_those_of_axes_that_are_running():
    p, r, x = Axis("p", 4), Axis("r", 16), Axis("x", 64)
    lane = Index(p) * Size(r) + Index(r)
    assert decided(lane < Size(x), frozenset()) is True
    assert decided(lane < Size(x), frozenset("x")) is None
    assert decided(lane < Length(x), frozenset("x")) is True
    assert decided(lane < Const(63), frozenset()) is None
    assert decided(lane < Const(0), frozenset()) is False


def decaying(size, heads=2, wide=4):
    """Return contractions of recurrences of outer products, with gains of many kinds."""
    b, x = Axis("b", heads), Axis("x", size)
    d, n = Axis("d", wide), Axis("n", wide)
    q, k, v = nq.array("q", b, x, d), nq.array("k", b, x, d), nq.array("v", b, x, n)
    a, h = nq.array("a", b, x), nq.array("h", b)
    return {
        "a gain a lane": nq.sum(q * Recur(x, nq.exp(0.0 - a * a), k * v), d),
        "a gain of any sign": nq.sum(q * Recur(x, nq.sin(a), k * v), d),
        "a gain a head": nq.sum(Recur(x, nq.exp(0.0 - h * h), k * v) * q, d),
        "one number": nq.sum(q * Recur(x, Const(0.5), k * v), d),
        "no gain": nq.sum(q * Recur(x, nq.where(nq.index(x) < Const(9), 1.0, 0.0), k * v), d),
        "gated parts": nq.sum((q * 0.25) * Recur(x, nq.exp(0.0 - a * a), (k * a) * (v * 2.0)), d),
        "inside of others": nq.exp(nq.sum(q * Recur(x, nq.sin(a), k * v), d) * 0.01) + a,
    }


@pytest.mark.parametrize("size", [64, 83])
@pytest.mark.parametrize("name", sorted(decaying(64)))
def test_a_contraction_of_a_recurrence_is_taken_in_runs_and_says_the_same(name, size, laws, monkeypatch):
    monkeypatch.setattr(prefixes, "LENGTHS", (16,))
    monkeypatch.setattr(runs, "SHORT", 16)
    asked = decaying(size)[name]
    made = runs.contracted([asked], laws, Budget(30.0))
    target = led(asked, made, laws, arrays_of(asked))
    assert max(t.axis.size for t in subterms(target) if isinstance(t, Scan)) <= 16


def test_gains_along_what_runs_and_other_contractions_are_left_alone(laws):
    b, x, d, n = Axis("b", 2), Axis("x", 1024), Axis("d", 4), Axis("n", 4)
    q, k, v = nq.array("q", b, x, d), nq.array("k", b, x, d), nq.array("v", b, x, n)
    for gain in (nq.array("gd", x, d), nq.array("gn", x, n)):
        assert runs.contracted([nq.sum(q * Recur(x, gain, k * v), d)], laws, Budget(30.0)) is None
    assert runs.contracted([nq.sum(Recur(x, nq.array("g", x), k * v), d)], laws, Budget(30.0)) is None
    assert runs.contracted([nq.sum(q * Recur(x, nq.array("g", x), k), d)], laws, Budget(30.0)) is None


def test_recurrences_read_by_rows_take_the_matrix_unit():
    term = decaying(4096, heads=64, wide=64)["a gain a lane"]
    derived = nq.derive(term, limit=90)
    assert derived.report()["predicted_us"] < 400.0  # 1359 with what runs kept for each lane
    assert certificate.of(derived)["grade"] == "A"
    assert [o.translation.status for o in derived.outputs] == ["agrees"]


def test_comparisons_past_what_a_float_holds_are_not_decided():
    x = Axis("x", 16)
    i, a = nq.array("i", x, dtype="int64"), nq.array("a", x)
    for mask in (i < Const(2**63 - 1), Const(-(2**63)) < i, i <= Const(2**63 - 512), Const(-(2**63) + 1) <= i):
        assert decided(mask, frozenset()) is None
    bounded = nq.array("i", x, dtype="int64", facts=("abs<=1000000000000000000",))
    assert decided(bounded < Const(10**18), frozenset()) is None
    assert decided(i * Const(1e300) * Const(1e300) < Const(1), frozenset()) is None
    drawn = {"i": np.arange(16), "a": np.arange(16) + 1.0}
    drawn["i"][3] = 2**63 - 1
    term = Map("where", (i < Const(2**63 - 1), a, Const(0.0)))
    assert emit(nq.derive(term, dtype="float32").plan, "numpy")(drawn, True)["out"][3] == 0.0


def test_a_prefix_that_is_given_twice_has_a_certificate():
    x = Axis("x", 4096)
    term = Scan("sum", x, nq.array("a", x))
    derived = nq.derive(Diagram("twice", (("one", term), ("other", term))), dtype="float32")
    assert certificate.checked(certificate.of(derived))["status"] == "ok"
