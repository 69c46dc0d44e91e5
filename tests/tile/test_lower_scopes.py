"""Lowered folds whose masks and bodies speak of an axis that a fold inside binds again."""

from __future__ import annotations

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.term import Acc, Const, Fold, Group, Map, Online, Prev, Store, as_real
from napkin_eq.pipeline.derive import derive
from napkin_eq.tile import ir as p
from napkin_eq.tile.lower.kernel import Lowering
from napkin_eq.tile.printers import emit


@pytest.mark.parametrize("long", [17, 3])
def test_a_mask_known_of_an_axis_says_nothing_of_it_bound_again(long: int) -> None:
    """Where b = c bounds the loop over c, the sum over b inside still asks of each of its own lanes."""
    b, c = nq.axes("b c", b=long, c=3)
    same = Map("eq", (nq.index(b), nq.index(c)))
    source = nq.sum(nq.sum(nq.where(same, 1.0, as_real(nq.index(c))), b), c, where=same)
    found = derive(source, dtype="float32")
    assert found.report()["translation"][0]["status"] == "agrees"  # at its own sizes, as there is no plan in small
    (got,) = emit(found.plan, "numpy")({}, False, {}).values()
    assert np.array_equal(got, evaluate(source, {}))


def test_threads_fold_lanes_of_their_own_over_what_no_array_holds():
    """Threads lie along a tile's last axes: an axis that is folded over combinations of arrays comes first, one that an
    array holds stays where it lies.
    """
    m, n, k = nq.axes("m n k", m=64, n=64, k=64)
    P, Q, W = nq.array("P", m, k), nq.array("Q", n, k), nq.array("W", m, n, k)

    def order(term: nq.Term) -> list[str]:
        (kernel,) = nq.derive(term, dtype="float32").plan.kernels
        return [c.axis.name for c in kernel.coords]

    assert order(nq.sum(abs(P - Q), k))[0] == "k" and order(nq.max(P + Q, k))[0] == "k"
    assert order(nq.sum(abs(P - W), k))[-1] == "k"  # W holds all that is folded
    assert order(nq.sum(abs(P), k))[-1] == "k"
    assert order(nq.sum(P * Q, k))[-1] == "k"  # the matrix unit takes its tiles as they lie


def test_the_second_value_of_an_axis_and_the_first_of_another_have_names_of_their_own():
    """Of b the second maximum is called as the first of b2 would be, an axis that a read under another name makes."""
    a, b, c = nq.axes("a b c", a=8, b=8, c=17)
    keep, array = nq.array("I", c, a, dtype="bool"), nq.array("N", a)
    weights = nq.where(keep, array, array * 2.0)
    top = nq.max(nq.rename(nq.sum(weights, c), {a: b}), b, where=keep)
    turned = nq.take(top, a, nq.length(a) - 1 - nq.index(a))
    found = nq.sum(turned * (top - weights), c)
    source = nq.exp(nq.rename(found, {a: b}) * 0.01) * found
    plan = derive(source, "h100", dtype="float32").plan
    draw = np.random.default_rng(0)
    given = {"I": draw.random((17, 8)) < 0.9, "N": draw.standard_normal(8)}
    given["I"][0] = True
    (got,) = emit(plan, "numpy")(given, False, {}).values()
    order = [axis.name for axis in plan.outputs[0].dims]
    np.testing.assert_allclose(got, evaluate(source, given, order=order), rtol=1e-9, atol=1e-9)


def test_a_reference_under_a_fold_over_another_axis_has_its_coordinates():
    """Of one pass over y are the sums, at each z, and the maxima that they go by, at each x and z."""
    y, z, x = nq.axes("y z x", y=300, z=64, x=3)
    array = nq.array("A", y, z, x)
    top = nq.max(nq.max(array, y), x)
    source = nq.log(nq.sum(nq.sum(nq.exp(array - top), x), y)) + top
    plan = derive(source, "h100", dtype="float32", limit=4).plan
    given = {"A": np.random.default_rng(0).standard_normal((300, 64, 3))}
    (got,) = emit(plan, "numpy")(given, False, {}).values()
    np.testing.assert_allclose(got, evaluate(source, given), rtol=1e-9)


def test_a_form_whose_update_speaks_of_a_fold_that_its_pass_has_not_is_refused():
    """The fold along c is inside another one's lanes: no pass over c carries it at each of them."""
    row, c, i = nq.axes("row c i", row=4, c=64, i=3)
    inside = Fold("sum", c, nq.array("B", row, i, c), Const(True), True)
    update = Acc() + Prev(Fold("sum", i, inside, Const(True), True))
    store = Store(Group(row, Online(c, nq.array("A", row, c), Const(True), update, True)))
    tiles = {"row": 1, "~c": 16, "~i": 4}
    with pytest.raises(NapkinError, match="in a pass that does not compute it"):
        Lowering("kernel", store, [p.Buffer("out", (row,), "f32")], tiles, {}, "f32", lambda _: True).kernel()
