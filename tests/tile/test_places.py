"""The place of a maximum: a monoid of pairs of a number and its lane, in every form that a plan may give it."""

import itertools

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.term import Fold, Index, Map, Reduce, Scan
from napkin_eq.laws.law import TRUE, Axis, statements_of
from napkin_eq.numerics.error_bound import error_bound
from napkin_eq.prove.prove import prove
from napkin_eq.tile import ir as p
from napkin_eq.tile.printers import emit

T, X = nq.axes("t x", t=5, x=17)
A = nq.array("A", T, X)
VALUES = np.round(np.random.default_rng(0).normal(size=(5, 17)))  # rounded: of equal values the first counts
LONG = Axis("x", 70_000)
MASK = Index(X) < Index(T)  # of the first row none


def derived(term, arrays, dtype="float32"):
    derivation = nq.derive(term, dtype=dtype)
    assert derivation.certificate["status"] == "proved"
    return derivation, emit(derivation.plan, "numpy")(arrays)["out"]


CASES = {
    "argmax": (nq.argmax(A, X), VALUES.argmax(1)),
    "argmin": (nq.argmin(A, X), VALUES.argmin(1)),
    "masked": (nq.argmax(A, X, where=MASK), np.where(np.arange(17) < np.arange(5)[:, None], VALUES, -np.inf).argmax(1)),
    "as a number": (nq.argmax(A, X) * 0.5, VALUES.argmax(1) * 0.5),
    "moved": (nq.argmax(A, X) + 1, VALUES.argmax(1) + 1),
    "compared": (
        nq.where(Map("eq", (Index(X), nq.argmax(A, X))), 1.0, 0.0),
        np.arange(17) == VALUES.argmax(1)[:, None],
    ),
    "of a sum": (nq.argmax(A + nq.sum(A, X), X), (VALUES + VALUES.sum(1, keepdims=True)).argmax(1)),
}


@pytest.mark.parametrize("name", CASES)
def test_a_place_is_found_as_numpy_finds_it(name):
    term, wanted = CASES[name]
    derivation, found = derived(term, {"A": VALUES})
    np.testing.assert_array_equal(found, wanted)
    assert derivation.plan.outputs[0].dtype == ("i32" if term.kind == "int" else "f32")


def test_a_long_axis_is_streamed_and_no_place_is_rounded():
    values = np.zeros((5, LONG.size))
    values[:, 65_537] = values[:, 69_999] = 1.0
    values[0] = 0.0
    derivation, found = derived(nq.argmax(nq.array("A", T, LONG), LONG), {"A": values}, "float16")
    assert any(c.role == "stream" for c in derivation.plan.kernels[0].coords)
    np.testing.assert_array_equal(found, [0, 65_537, 65_537, 65_537, 65_537])


@pytest.mark.parametrize("extent", [17, 70_001])
def test_a_place_lies_in_its_axis_whatever_the_numbers_are(extent):
    """Of numbers that are none a lane past the end is as large as any."""
    long = Axis("x", extent)
    values = np.full((5, extent), np.nan)
    values[0] = 0.0
    derivation, found = derived(nq.argmax(nq.array("A", T, long), long), {"A": values})
    assert found[0] == 0 and (found >= 0).all() and (found < extent).all()
    (least,) = (s for s in p.statements(derivation.plan.kernels[-1].body) if isinstance(s, p.Let) and s.op == "min")
    assert extent - 1 in least.args


def test_a_place_reads_an_array():
    rows = np.random.default_rng(1).normal(size=(17, 3))
    table = nq.array("E", X, Axis("d", 3))
    _, found = derived(nq.take(table, X, nq.argmax(A, X)), {"A": VALUES, "E": rows})
    np.testing.assert_allclose(found, rows[VALUES.argmax(1)], rtol=1e-6)


@pytest.mark.parametrize("block", [1, 3, 17])
def test_walked_in_blocks_of_any_size_it_is_the_same(block):
    for where in (TRUE, MASK):
        walked = evaluate(Fold("argmax", X, A, where), {"A": VALUES}, block=block)
        np.testing.assert_array_equal(walked, evaluate(Reduce("argmax", X, A, where), {"A": VALUES}))


def test_pairs_meet_in_any_order_and_nesting():
    pairs = [(v, i) for v in (-np.inf, -1.0, 2.0) for i in (0, 1, 5) if np.isfinite(v) or i == 0]

    def both(p, q):
        return p if p[0] > q[0] or (p[0] == q[0] and p[1] <= q[1]) else q

    for a, b, c in itertools.product(pairs, repeat=3):
        assert both(both(a, b), c) == both(a, both(b, c)) and both(a, b) == both(b, a) and both((-np.inf, 0), a) == a


def test_what_rounding_may_exchange_is_in_the_bound():
    values = np.array([[1.0, 1.0 + 2.0**-30, 0.0]])
    array = nq.array("A", Axis("t", 1), Axis("x", 3))
    exact, computed = (
        error_bound(nq.argmax(term, "x"), {"A": values}, {}, "float16")[0] for term in (array, nq.exp(array))
    )
    # An input is what it is; of two exponentials either may come out larger, never the third
    assert exact.max() == 0 and computed.max() == 1


def of_any(a, x):
    return Reduce("argmax", x, a), Reduce("argmax", x, -a)


def test_no_prover_takes_places_for_values():
    (verdict,) = prove(statements_of(of_any), use_cache=False)
    assert verdict.status != "proved"
    with pytest.raises(NapkinError, match="unknown monoid"):
        Scan("argmax", X, A)
