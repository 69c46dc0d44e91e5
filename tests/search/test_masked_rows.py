"""Rows under a mask that leaves each of them a lane: what is known of their maxima and sums, and what becomes of it."""

from __future__ import annotations

import pytest

import napkin_eq as nq
from napkin_eq.cover.graph import graph_of
from napkin_eq.laws.law import finite, pos
from napkin_eq.pipeline.asked import chosen_statements
from napkin_eq.search.job import prover

Q, X = nq.axes("q x", q=64, x=96)
S = nq.array("S", Q, X)
LAST = nq.array("last", Q, dtype="int32")
KNOWN = prover(chosen_statements((), ()))


@pytest.mark.parametrize(
    ("mask", "left"),
    [
        (nq.index(X) <= nq.index(Q), True),
        (nq.index(X) < nq.index(Q) + 1, True),
        (nq.index(Q) >= nq.index(X), True),
        (nq.index(X) <= nq.index(Q) + 32, True),  # after keys that came before
        (nq.index(X) < nq.index(Q) + 0, False),
        ((nq.index(X) <= nq.index(Q)) | (nq.index(X) < LAST), True),
        ((nq.index(X) < LAST) | (nq.index(X) < 8), True),
        (nq.index(X) < nq.index(Q), False),  # the first row has none
        (nq.index(X) <= LAST, False),  # of which nothing is known
        (nq.index(X) <= nq.index(Q) - 1, False),
        ((nq.index(X) <= nq.index(Q)) & (nq.index(X) >= 1), False),
        (nq.index(Q) <= nq.index(X), False),  # more rows than lanes
    ],
)
def test_a_mask_is_known_to_leave_a_lane_where_the_first_one_is(mask: nq.Term, left: bool) -> None:
    for masked in (nq.masked(S, mask), nq.masked(S, mask) * 0.5 + nq.array("B", X)):
        most = nq.max(masked, X)
        assert KNOWN(finite(most)) is left
        assert KNOWN(pos(nq.sum(nq.exp(masked - most), X))) is left
    # Where nothing is masked away as absent, but as another number, a lane is there in any case
    assert KNOWN(finite(nq.max(nq.where(mask, S, -1e9), X)))


def test_what_a_causal_rows_weights_are_divided_by_is_stored() -> None:
    """As many values may be stored of the gradients under a mask as without one."""
    h, q, x, d = nq.axes("h q x d", h=2, q=8, x=8, d=4)
    array = {name: nq.array(name, h, axis, d) for name, axis in (("Q", q), ("dO", q), ("K", x), ("V", x))}
    scores = nq.masked(nq.sum(array["Q"] * array["K"], d) * 0.125, nq.causal(q, x))
    weights = nq.softmax(scores, x)
    given = nq.sum(array["dO"] * array["V"], d)
    inner = weights * (given - nq.sum(weights * given, x))
    graph = graph_of(
        [nq.sum(inner * array["K"], x), nq.sum(inner * array["Q"], q), nq.sum(weights * array["dO"], q)], KNOWN
    )
    rows = [str(cut) for cut in graph.cuts if {a.name for a in cut.axes} == {"h", "q"}]
    assert any(row.startswith("-(max_x") for row in rows) and any(row.startswith("1 / (Σ_x e^") for row in rows)


def test_an_accurate_form_that_an_earlier_round_had_is_not_lost() -> None:
    """What each lane's weight is multiplied with is itself a contraction: of the forms found first the cheapest are the
    inaccurate ones, and to leave out what makes them so takes the one in a single pass with it.
    """
    h, q, x, d = nq.axes("h q x d", h=16, q=16384, x=16384, d=128)
    scores = nq.masked(nq.sum(nq.array("Q", h, q, d) * nq.array("K", h, x, d), d) * 128**-0.5, nq.causal(q, x))
    given = nq.sum(nq.array("dO", h, q, d) * nq.array("V", h, x, d), d)
    found = nq.derive(nq.Diagram("inner", (("out", nq.sum(nq.softmax(scores, x) * given, x)),)))
    assert found.report()["passes"]["x"] == 1 and len(found.plan.kernels) == 1
