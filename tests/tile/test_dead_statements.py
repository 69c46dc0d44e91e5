"""What is settled before a kernel runs is not computed in it: choices between equal values, comparisons of a value with
itself, and what led to them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.lang.term import Term
from napkin_eq.tile import ir as p
from napkin_eq.tile.passes.dead_statements import live
from napkin_eq.tile.printers import emit
from tests import plans

a, b = nq.axes("a b", a=64, b=128)
X, Y, N = nq.array("X", a, b), nq.array("Y", b), nq.array("N", a, b, dtype="int32")
# What a diagram says, the arrays that are left to read, and whether a loop or a fold is left.
SETTLED: dict[str, tuple[Callable[[], Term], set[str]]] = {
    "a choice between equal values": (lambda: nq.where(X < Y, nq.exp(X), nq.exp(X)), {"X"}),
    "what a fold decides between equal values": (lambda: nq.where(nq.sum(X * X, a) < Y, nq.exp(Y), nq.exp(Y)), {"Y"}),
    "smaller than itself": (lambda: nq.where(X < X, nq.exp(X), nq.floor(Y)), {"Y"}),
    "a whole number and itself": (lambda: nq.where(N <= N, nq.exp(X), nq.floor(Y)), {"X"}),
    "the lesser of a value and itself": (lambda: nq.minimum(X, X) + 1.0, {"X"}),
}


@pytest.mark.parametrize("case", SETTLED)
def test_what_is_settled_is_not_computed(case):
    make, read = SETTLED[case]
    found = nq.derive(make(), dtype="float32", printer="triton")
    (kernel,) = found.plan.kernels
    assert {buffer.name for buffer in kernel.reads} == read
    assert not any(
        isinstance(s, (p.ReduceTile, p.Loop)) or (isinstance(s, p.Let) and s.op in ("lt", "le", "min"))
        for s in p.statements(kernel.body)
    )


def test_a_real_number_may_differ_from_itself():
    found = nq.derive(nq.where(nq.equal(X, X), 1.0, 0.0), dtype="float32", printer="triton")
    given = np.ones((64, 128))
    given[3, 5] = np.nan
    assert emit(found.plan, "numpy")({"X": given})["out"][3, 5] == 0.0


def test_a_loop_that_nothing_depends_on_goes_with_its_accumulators():
    (kernel,) = plans.softmax_stream().plan.kernels
    assert live(kernel) is kernel
    idle = live(replace(kernel, body=tuple(map(_storing_nothing, kernel.body))))
    assert idle.body == ()
    assert idle.reads == ()


def _storing_nothing(stmt: p.Stmt) -> p.Stmt:
    """Return a statement with what it stores replaced by what nothing uses."""
    if isinstance(stmt, p.Loop):
        return replace(
            stmt, parts=tuple(replace(part, body=tuple(map(_storing_nothing, part.body))) for part in stmt.parts)
        )
    return p.Let(p.Value("unused", (), "f32"), "add", (0.0, 0.0)) if isinstance(stmt, p.StoreTile) else stmt


@pytest.mark.parametrize("settled", ["comparison of maxima", "comparison of places", "comparison of coordinates"])
def test_an_axis_that_nothing_stored_rests_on_has_no_tile_and_the_plan_in_small_is_made_all_the_same(
    settled: str,
) -> None:
    a, c = nq.axes("a c", a=33, c=100)
    A, B = nq.array("A", a, c), nq.array("B", a)
    least = {
        "comparison of maxima": nq.max(A, c),
        "comparison of places": nq.argmax(A, c),
        "comparison of coordinates": nq.index(a),
    }[settled]
    derivation = nq.derive(nq.where(least < least, nq.sum(A, c), B), dtype="float32")
    assert [coord.axis.name for coord in derivation.plan.kernels[0].coords] == ["a"]
    assert derivation.outputs[0].translation.status == "agrees"
