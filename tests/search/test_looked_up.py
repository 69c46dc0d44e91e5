"""Losses over a product: what is looked up of it does not have it stored, nor keeps its stream from being cut."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.certify.asked import same
from napkin_eq.cover.graph import graph_of
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.term import Read, Reduce, Term, subterms
from napkin_eq.machine.cost import elements, telling, told_apart
from napkin_eq.pipeline.asked import proved_laws
from napkin_eq.pipeline.derive import derive
from napkin_eq.search.derivation import AGREES
from napkin_eq.search.unfolded import unfolded
from napkin_eq.tile.ir import Buffer, Coord, Kernel, Load, Start, Value

n, v, d = nq.axes("n v d", n=8192, v=32768, d=2048)
LABEL = nq.array("label", n, dtype="int32")
LOGITS = nq.linear(nq.array("X", n, d), nq.array("W", v, d), d)
LOG = LOGITS - nq.logsumexp(LOGITS, v)


def computed_reads(*terms: Term) -> list[Read]:
    return [t for t in subterms(*terms) if isinstance(t, Read) and t.body.children]


@pytest.mark.parametrize(
    ("term", "most"),
    [
        (nq.cross_entropy(LOGITS, LABEL, v), 1370.0),
        (nq.sum(LOG, v), 1370.0),
    ],
    ids=["at the label", "the mean of all"],
)
def test_few_rows_beside_a_long_stream_are_cut_and_store_no_product(term: Term, most: float) -> None:
    """Blocks of rows alone would leave half of the processors idle."""
    found = derive(term, limit=60)
    assert sum(t.cost.predicted_us for t in found.tiled) < most
    stored = [b for kernel in found.plan.kernels for b in kernel.writes]
    assert all(elements(b.dims) < 8192 * 2048 for b in stored)
    assert [o.translation.status for o in found.outputs] == [AGREES]
    assert found.certificate["status"] == "proved"


def test_loads_of_one_array_are_told_apart() -> None:
    """All blocks read the table along the loop; each reads its own row beside."""
    table, own, row = Buffer("W", (n, d), "bf16"), Value("own", (), "i32"), Value("row", (), "bf16")
    body = (Start(own, "n"), Load(replace(row, name="one"), "W", (0, 0)), Load(row, "W", ("own", 0)))
    kernel = Kernel("kernel", (table,), (), (Coord("n", n, 1, "group"),), ("n",), body)
    assert told_apart(kernel) == [("W", frozenset()), ("W", frozenset({"n"}))]
    assert telling(kernel)["W"][0] == {"n"}


t, w, e, s = nq.axes("t w e s", t=6, w=64, e=4, s=6)
AT = nq.array("at", t, dtype="int32")
ROW = nq.linear(nq.array("X", t, e), nq.array("W", w, e), e)


def test_what_is_looked_up_of_a_fold_is_computed_for_itself() -> None:
    term = nq.take(nq.log(1.0 + ROW * ROW), w, AT) + nq.max(ROW, w)
    (made,) = unfolded([term])
    assert computed_reads(term) and not computed_reads(made)
    assert same([term], [made])
    rng = np.random.default_rng(0)
    data = {"X": rng.normal(size=(6, 4)), "W": rng.normal(size=(64, 4)), "at": rng.integers(-3, 70, size=6)}
    assert np.allclose(evaluate(term, data, order=(t,)), evaluate(made, data, order=(t,)))


@pytest.mark.parametrize(
    "outputs",
    [
        [nq.take(ROW, w, AT), ROW],  # stored anyway
        [nq.take(ROW, w, nq.array("many", w, dtype="int32"))],  # as many as there are
        [nq.take(nq.linear(ROW, nq.array("V", w, s), w), t, nq.array("few", dtype="int32")) + nq.sum(ROW, t, w)],
        [nq.take(nq.cumsum(ROW, w), w, AT)],
        [nq.take(ROW, w, nq.argmax(ROW, w))],  # the place is itself a fold's
    ],
    ids=["an output", "many", "two folds deep", "a prefix", "at a fold's place"],
)
def test_what_would_cost_more_is_read_where_it_is_stored(outputs: list[Term]) -> None:
    assert len(computed_reads(*unfolded(outputs))) == len(computed_reads(*outputs))


def test_where_all_that_is_made_of_a_value_meets() -> None:
    greatest = nq.max(ROW, w)
    total = nq.sum(nq.exp(ROW - greatest), w)
    term = nq.sum(nq.log(total) + greatest, t)
    product = next(x for x in subterms(term) if isinstance(x, Reduce) and x.axis == e)
    laws = proved_laws((), (), False)
    graph = graph_of([term], laws.proved)
    end = graph.meeting(product)
    assert end is not None and end in graph.cuts and end.axes == (t,)
    assert greatest in subterms(end) and total in subterms(end)
    assert graph_of([term, greatest], laws.proved).meeting(product) is None  # an output on the way
    assert graph.meeting(term) is None
