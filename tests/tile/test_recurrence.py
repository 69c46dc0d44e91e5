"""Linear recurrences: the prefix fold of pairs (gain, part), in every form that a plan may give it."""

import itertools

import numpy as np
import pytest
import torch

import napkin_eq as nq
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.json_form import dumps_diagram, loads_diagram
from napkin_eq.lang.term import Const, Index, Recur, Reduce, Scan, Walk, subterms
from napkin_eq.laws.law import Sum, distinct, le, statements_of
from napkin_eq.numerics.error_bound import error_bound
from napkin_eq.pipeline.validate import compared, executed
from napkin_eq.prove.prove import prove
from napkin_eq.search import placement, tiling
from napkin_eq.tile.printers import emit

T, D, N = nq.axes("t d n", t=37, d=5, n=4)
A, B, C = nq.array("A", T, D), nq.array("B", T, D), nq.array("C", T, N)
RNG = np.random.default_rng(0)
GAINS, PARTS, OTHERS = RNG.uniform(-1, 1, (37, 5)), RNG.normal(size=(37, 5)), RNG.normal(size=(37, 4))
ARRAYS = {"A": GAINS, "B": PARTS, "C": OTHERS}


def by_hand(gains, parts):
    gains, parts = np.broadcast_arrays(gains, parts)
    rows, held = [], np.zeros(parts.shape[1:])
    for gain, part in zip(gains, parts, strict=True):
        held = gain * held + part
        rows.append(held)
    return np.array(rows)


def derived(term):
    derivation = nq.derive(term, dtype="float32")
    assert derivation.certificate["status"] == "proved"
    return derivation


CASES = {
    "plain": (nq.recur(A, B, T), by_hand(GAINS, PARTS)),
    "a constant gain": (nq.recur(0.5, B, T), by_hand(0.5, PARTS)),
    "a constant part": (nq.recur(A, 1.0, T), by_hand(GAINS, np.ones(5))),
    "gains of other axes": (nq.recur(A, C, T), by_hand(GAINS[:, :, None], OTHERS[:, None, :])),
    "read out": (
        nq.sum(nq.recur(nq.sigmoid(A), B * C, T) * C, N),
        np.einsum(
            "tdn,tn->td", by_hand(1 / (1 + np.exp(-GAINS))[:, :, None], PARTS[:, :, None] * OTHERS[:, None]), OTHERS
        ),
    ),
    "of a recurrence": (nq.recur(A, nq.recur(A, B, T), T), by_hand(GAINS, by_hand(GAINS, PARTS))),
    "nothing varies": (Recur(T, Const(1.0), Const(1.0)) + 0.0 * B, np.arange(1.0, 38)[:, None] + 0 * PARTS),
    "along the last axis": (nq.recur(A, B, D), by_hand(GAINS.T, PARTS.T).T),
}


@pytest.mark.parametrize("name", CASES)
def test_a_recurrence_is_what_a_loop_gives(name):
    term, wanted = CASES[name]
    diagram = nq.Diagram("d", (("out", term),))
    order = [axis.name for axis in (T, D, N) if axis in term.axes]
    arrays = {t.name: ARRAYS[t.name] for t in diagram.inputs()}
    np.testing.assert_allclose(evaluate(term, arrays, order=order), wanted, rtol=1e-12, atol=1e-12)
    derivation = derived(diagram)
    (bound,) = error_bound(term, arrays, {}, "float32", order=[d.name for d in derivation.plan.outputs[0].dims])
    dims = [d.name for d in derivation.plan.outputs[0].dims]
    got = np.asarray(emit(derivation.plan, "numpy")(arrays)["out"])
    assert (np.abs(got - evaluate(term, arrays, order=dims)) <= bound).all() and bound.max() < 1e-3
    for case in compared(diagram, derivation, "float32", "cpu", 0):
        assert case.bound_used <= 1, case


def walked(value, tile, monkeypatch):
    """Derive a value whose kernel walks t in blocks of a size."""
    sizes = tiling.choices

    def chosen(store, roles, *_):
        return {**sizes(store, roles), **({"t": [tile]} if roles.get("t") == "walk" else {})}

    every = placement.Placer._partitions

    def only(self, value):
        return (s for s in every(self, value) if any(isinstance(t, Walk) and t.axis == T for t in subterms(s)))

    monkeypatch.setattr(tiling, "choices", chosen)
    monkeypatch.setattr(placement, "SHORT", 1)
    monkeypatch.setattr(placement.Placer, "_partitions", only)
    return nq.derive(nq.Diagram("d", (("out", value),)), dtype="float32")


NOTHING = {  # absent where the roots of arrays, or masks, have no number
    "no gain from a lane on": nq.recur(nq.where(Index(T) < 19, A, -np.inf), B, T),
    "no part at some lanes": nq.recur(A, nq.log(B), T),
    "all there": nq.sum(nq.recur(A, B * C, T), D),
}


@pytest.mark.parametrize("tile", [1, 16])
@pytest.mark.parametrize("name", NOTHING)
def test_block_after_block_it_is_the_same(name, tile, monkeypatch):
    term = NOTHING[name]
    derivation = walked(term, tile, monkeypatch)
    assert any(c.role == "walk" and c.tile == tile for k in derivation.plan.kernels for c in k.coords)
    arrays = {b.name: ARRAYS[b.name] for b in derivation.plan.inputs}
    dims = [d.name for d in derivation.plan.outputs[0].dims]
    exact = evaluate(term, arrays, order=dims)
    with np.errstate(all="ignore"):
        got = np.asarray(emit(derivation.plan, "numpy")(arrays)["out"])
        (ran,) = executed(
            derivation.triton(), [torch.tensor(arrays[b.name], dtype=torch.float32) for b in derivation.plan.inputs]
        )
    for found in (got, ran.numpy()):
        np.testing.assert_allclose(found, exact, rtol=1e-4, atol=1e-4)


def test_pairs_compose_in_any_nesting():
    values = (-np.inf, -1.0, 0.0, 2.0)

    def plus(a, b):
        return -np.inf if -np.inf in (a, b) else a + b

    def times(a, b):
        return -np.inf if -np.inf in (a, b) else a * b

    def both(p, q):
        return times(p[0], q[0]), plus(times(q[0], p[1]), q[1])

    pairs = [(gain, part) for gain in values for part in values if np.isfinite(gain) or part == gain]
    for a, b, c in itertools.product(pairs, repeat=3):
        assert both(both(a, b), c) == both(a, both(b, c)) and both((1.0, 0.0), a) == a


def any_factor(a, b, f, x):
    return Recur(x, a, f * b), f * Recur(x, a, b)


def any_gain(a, b, x, y):
    return Sum(y, Recur(x, a, b)), Recur(x, a, Sum(y, b)), distinct(x, y)


def no_gain(a, b, x):
    return Recur(x, a, b), Scan("sum", x, b)


def its_own(a, b, x):
    return Recur(x, a, b), a * Recur(x, a, b) + b


def beside(a, b, x):
    return Scan("sum", x, a), Scan("sum", x, b), le(a, b)


@pytest.mark.parametrize("statement", [any_factor, any_gain, no_gain, its_own, beside])
def test_false_laws_of_prefixes_are_refuted(statement):
    (verdict,) = prove(statements_of(statement), use_cache=False)
    assert verdict.status == "refuted"


def test_a_recurrence_is_written_and_read():
    diagram = nq.Diagram("d", (("out", nq.recur(A, B * C, T)),))
    assert loads_diagram(dumps_diagram(diagram)).term is diagram.term
    assert str(nq.recur(A, B * C, T)) == "recur_t(A, B · C)"
    with pytest.raises(NapkinError, match="mask"):
        Recur(T, Index(T) < 3, B)


def test_a_selective_scan_reads_tiles_of_its_inputs_once_for_many_channels():
    """Of short blocks a program takes many channels: their inputs fill sectors, and what channels share is read once
    for all of them.
    """
    b, t, d, n = nq.axes("b t d n", b=2, t=2048, d=2048, n=16)
    step, gains = nq.array("dt", b, t, d), nq.array("A", d, n)
    state = nq.recur(nq.exp(step * gains), step * nq.array("X", b, t, d) * nq.array("B", b, t, n), t)
    (tiled,) = nq.derive(nq.sum(state * nq.array("C", b, t, n), n), dtype="bfloat16").tiled
    assert tiled.cost.bytes_l2 < 2 * tiled.cost.bytes_hbm
    assert {c.axis: c.tile for c in tiled.kernel.coords if c.role == "walk"} == {t: 16}


@pytest.mark.parametrize("monoid", ["sum", "argmax"])
def test_no_state_is_held_for_each_block_of_an_axis_that_is_walked_within(monoid: str) -> None:
    """A state for each block of what a fold walks would be as many values as there are blocks: it is stored instead."""
    a, c = nq.axes("a c", a=None, c=None)
    states = Recur(a, nq.array("G"), nq.array("X", a, c))
    found = nq.derive(nq.Diagram("states", (("out", Reduce(monoid, c, states, Const(True))),)), dtype="float32")
    assert len(found.plan.kernels) == 2
    assert not any("not defined" in note for output in found.outputs for note in output.graph.notes)
