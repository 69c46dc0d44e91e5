"""Nested folds go in the order of memory, by a chain of Fubini's law, and a sum beside a running maximum streams then
whichever way it is written.
"""

from __future__ import annotations

import pytest

import napkin_eq as nq
from napkin_eq.certify.certificate import require_accepted
from napkin_eq.egraph.budget import Budget
from napkin_eq.lang.term import Term
from napkin_eq.pipeline.asked import proved_laws
from napkin_eq.search.fold_order import reordered
from napkin_eq.search.job import Laws

b, y, x, z, k = nq.axes("b y x z k", b=4, y=6, x=8, z=5, k=3)
X, T = nq.array("X", b, y, x), nq.array("T", x, y)


@pytest.fixture(scope="module")
def laws() -> Laws:
    return proved_laws((), (), False)


def inner(term: Term) -> Term:
    return nq.sum(nq.sum(term, x), y)


def outer(term: Term) -> Term:
    return nq.sum(nq.sum(term, y), x)


def test_the_axis_of_neighbours_is_folded_first(laws):
    source = nq.max(nq.max(X, y), x) + outer(X * X)
    made = reordered([source], laws, Budget(20.0))
    assert made is not None and made.outputs == (nq.max(nq.max(X, x), y) + inner(X * X),)
    require_accepted(source, made.outputs[0], made.steps, laws.statements, laws.verdicts)
    assert {step.law for step in made.steps} == {"fubini-max", "fubini-sum"}
    deep = nq.array("D", z, y, x)
    made = reordered([nq.max(nq.max(nq.max(deep, z), y), x)], laws, Budget(20.0))
    assert made is not None and made.outputs == (nq.max(nq.max(nq.max(deep, x), y), z),)


@pytest.mark.parametrize(
    "term",
    [
        pytest.param(inner(X), id="in order"),
        pytest.param(outer(X * T), id="arrays that disagree"),
        pytest.param(nq.sum(nq.sum(X, y), x, where=nq.index(x) < 3), id="a mask"),
        pytest.param(nq.max(outer(X), b), id="another monoid"),
        pytest.param(nq.max(nq.sum(X, y), x), id="two monoids"),
        pytest.param(outer(X * nq.array("W", y, x, z)), id="a contraction"),
        pytest.param(
            nq.sum(outer(nq.array("P", b, y, x, z) * nq.array("Q", y, x, z, k)), z), id="a contraction over three axes"
        ),
        pytest.param(nq.sum(nq.sum(nq.array("U", y) * nq.array("V", x), y), x), id="no array of both"),
    ],
)
def test_what_else_stays_as_it_is(laws, term):
    made = reordered([term], laws, Budget(20.0))
    if term is nq.max(outer(X), b):  # the sums inside are moved, the maximum is not
        assert made is not None and made.outputs == (nq.max(inner(X), b),)
    else:
        assert made is None


def test_several_outputs_and_a_law_that_is_left_out(laws):
    made = reordered([outer(X), nq.exp(outer(X))], laws, Budget(20.0))
    assert made is not None and made.outputs == (inner(X), nq.exp(inner(X)))
    without = proved_laws(("fubini-sum",), (), False)
    assert reordered([outer(X)], without, Budget(20.0)) is None


def test_an_image_is_read_once_whichever_way_it_is_written():
    """log Σ e^X of whole images, with the running maximum in the same pass."""
    rows, columns = nq.axes("rows columns", rows=1024, columns=1024)
    image = nq.array("I", b, rows, columns)
    found = []
    for first, last in ((columns, rows), (rows, columns)):
        top = nq.max(nq.max(image, first), last)
        term = nq.log(nq.sum(nq.sum(nq.exp(image - top), first), last)) + top
        made = nq.derive(term, "h100", dtype="float32")
        assert any(step.law.startswith("fubini") for step in made.outputs[0].steps) or first is columns
        found.append(made.report()["predicted_us"])
        assert len(made.plan.kernels) == 2
    assert found[1] == pytest.approx(found[0], rel=0.01)
