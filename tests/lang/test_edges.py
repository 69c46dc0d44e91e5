"""Kinds of mistakes that random diagrams showed: each small, each once wrong in a kernel, a bound or a check."""

from __future__ import annotations

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.term import Const, Index, Map, Read, Reduce, Scan, Term
from napkin_eq.numerics.error_bound import error_bound
from napkin_eq.numerics.running_bound import running_bound
from napkin_eq.pipeline.derive import derive
from napkin_eq.tile.printers import emit
from napkin_eq.verify.fuzz.fuzz import drawn, examine
from napkin_eq.verify.fuzz.random_diagrams import Shape

A, B = nq.axes("a b", a=4, b=6)
X = nq.array("X", A, B)


def given(term: Term, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return what the plan of a diagram gives in NumPy and what the diagram says."""
    derivation = derive(Diagram("edge", (("out", term),)), dtype="float32")
    data = {"X": np.random.default_rng(seed).standard_normal((4, 6))}
    (found,) = emit(derivation.plan, "numpy")(data, False, {}).values()
    order = [axis.name for axis in derivation.plan.outputs[0].dims]
    return found, evaluate(term, data, order=order)


@pytest.mark.parametrize("op", ["floordiv", "mod"])
def test_a_division_by_the_number_zero_is_zero_and_is_not_left_to_the_gpu(op):
    term = nq.take(X, B, Map(op, (Index(B), Const(0))))
    assert (
        "// 0" not in derive(Diagram("edge", (("out", term),))).triton()
        and "% 0" not in derive(Diagram("edge", (("out", term),))).triton()
    )
    found, wanted = given(term)
    assert np.array_equal(found, wanted)


def test_a_read_of_a_read_evaluates_the_inner_index_where_the_outer_one_points():
    other, place = nq.axes("c", c=6)[0], nq.array("I", B, dtype="int32")
    inner = Read(X, B, Map("max", (Index(other) - 1, Const(0))))
    for term in (Read(inner, other, Index(B) + 2), nq.take(nq.take(X, B, Index(B) + 1), B, Index(B) + 2)):
        found, wanted = given(term)
        assert np.array_equal(found, wanted)
    term = Read(Read(place, B, Index(other)), other, place)
    derivation = derive(Diagram("edge", (("out", term),)))
    data = {"I": np.array([3, 1, 5, 0, 2, 4], np.int32)}
    (found,) = emit(derivation.plan, "numpy")(data, False, {}).values()
    assert np.array_equal(found, data["I"][data["I"]])


def test_two_outputs_that_are_one_value_are_two_arrays():
    shifted = Map("exp", (X - Reduce("max", B, X),))
    plain = Map("exp", (X,))
    whole = Diagram("edge", (("out", shifted / Reduce("sum", B, shifted)), ("out1", plain / Reduce("sum", B, plain))))
    derivation = derive(whole, dtype="float32")
    assert [buffer.name for buffer in derivation.plan.outputs] == ["out", "out1"]


def bound(term: Term, data: dict[str, np.ndarray], dtype: str = "float32") -> np.ndarray:
    (found,) = error_bound(term, data, {}, dtype)
    return found


def test_a_product_counts_what_is_flushed_and_what_passes_the_range_on_its_way():
    small = {"X": np.full((4, 6), 1e-8)}
    assert (bound(Reduce("prod", B, X), small) >= 2.0**-126).all()
    wild = {"X": np.tile([1e20, 1e20, 1e-20, 1e-20, 1.0, 1.0], (4, 1))}
    assert np.isinf(bound(Reduce("prod", B, X), wild)).all() and np.isinf(bound(Scan("prod", B, X), wild)[:, 2:]).all()
    assert np.isfinite(bound(Reduce("prod", B, X), {"X": np.full((4, 6), 1.5)})).all()


def test_a_mask_in_doubt_counts_for_what_it_lets_in_and_what_it_leaves_out():
    third = X * Const(1 / 3) * Const(3.0)
    doubtful = Map("le", (third, X))  # equal but for rounding
    data = {"X": np.full((4, 6), 0.1)}
    product = Reduce("prod", B, X, doubtful)  # 1e-6, or 1 where the mask falls
    assert (bound(product, data) >= 1 - 1e-5).all()
    absent = Map("where", (doubtful, Const(-np.inf), X))
    assert np.isinf(bound(absent, data)).all() and np.isinf(bound(Map("exp", (absent,)), data)).all()
    sure = Map("where", (Map("le", (X, X)), Const(-np.inf), X))
    assert (bound(Map("exp", (sure,)), data) < 1e-30).all()


def test_a_logarithm_of_what_cancels_has_no_bound_where_it_is_absent():
    gone = X - (X * Const(1 / 3) * Const(3.0))
    data = {"X": np.full((4, 6), 0.1)}
    assert not np.isfinite(bound(Map("log", (gone,)), data)).any()


def test_weights_whose_exponentials_pass_the_range_have_no_bound():
    plain = Map("exp", (X,))
    mean = Reduce("sum", B, plain / Reduce("sum", B, plain) * X)
    assert (
        np.isinf(bound(mean, {"X": np.full((4, 6), 122.0)})).all()
        and np.isfinite(bound(mean, {"X": np.full((4, 6), 12.0)})).all()
    )


def test_bounds_in_float64_are_those_of_what_checks_a_plan():
    data = {"X": np.random.default_rng(0).standard_normal((4, 6))}
    term = Reduce("sum", B, X * X)
    ratio = bound(term, data) / bound(term, data, "float64")
    assert (ratio > 2.0**27).all()


def test_a_rename_among_other_reads_is_of_its_own_coordinate():
    c, e = nq.axes("c e", c=4, e=24)
    d = nq.axes("d", d=4)[0]
    square = nq.array("X", A, d)
    term = Read(Read(square, d, Map("mod", (Index(e), Const(4)))), A, Index(c))
    derivation = derive(Diagram("edge", (("out", term),)), dtype="float32")
    data = {"X": np.random.default_rng(0).standard_normal((4, 4))}
    (found,) = emit(derivation.plan, "numpy")(data, False, {}).values()
    order = [axis.name for axis in derivation.plan.outputs[0].dims]
    assert np.array_equal(found, evaluate(term, data, order=order))


def test_a_coordinate_read_past_its_axis_is_clamped_into_it():
    for place in (7, -3):
        derivation = derive(
            Diagram("edge", (("out", Read(Index(A) + X * Const(0.0), A, Const(place))),)), dtype="float32"
        )
        (found,) = emit(derivation.plan, "numpy")({"X": np.ones((4, 6))}, False, {}).values()
        assert (found == (3 if place > 0 else 0)).all()


def test_a_mask_whose_limit_varies_along_its_own_axis_cuts_no_blocks():
    limit = nq.array("I", A, B, dtype="int32")
    derivation = derive(
        Diagram("edge", (("out", Reduce("prod", B, Reduce("prod", A, Const(2.0)), Index(B) < limit)),)), dtype="float32"
    )
    data = {"I": np.random.default_rng(0).integers(0, 6, (4, 6)).astype(np.int32)}
    (found,) = emit(derivation.plan, "numpy")(data, False, {}).values()
    assert np.array_equal(found, 16.0 ** (np.arange(6) < data["I"]).sum(1))


def test_a_comparison_with_a_rearranged_copy_of_itself_may_come_out_either_way():
    c, bi, bo = nq.axes("c bi bo", c=32, bi=2, bo=16)
    (b,) = nq.axes("b", b=32)
    total = Reduce("sum", A, nq.array("N", A, b) * nq.array("M", c, b, A))
    place = nq.array("R", bi, bo, dtype="int32")
    assert (
        derive(Diagram("edge", (("out", Map("le", (Read(total, b, place), total))),))).outputs[0].translation.status
        == "agrees"
    )


def test_a_stored_whole_number_is_an_index():
    (c,) = nq.axes("c", c=48)
    ab = nq.axes("ab", ab=24)[0]
    row, place = Map("floordiv", (Index(ab), Const(6))), nq.array("I", A, c, B, dtype="int32")
    found = Read(X, A, Read(Read(place, A, row), B, Map("mod", (Index(ab), Const(6)))))
    derivation = derive(Diagram("edge", (("out", Read(Scan("prod", B, X), A, row) + found),)), dtype="float16")
    data = {
        "X": np.random.default_rng(0).standard_normal((4, 6)),
        "I": np.random.default_rng(1).integers(0, 4, (4, 48, 6)),
    }
    bounds = running_bound(derivation.plan, data, {}, 0.0)
    assert all(np.isfinite(bound).all() for bound in bounds.values())


@pytest.mark.slow
def test_a_part_that_is_not_what_its_class_was_first_known_by_ends_no_search():
    # Where every plan is refused forms are sought as they were first written, which parts of them need not be.
    diagram, dtype = drawn(881122, 1, Shape(nodes=45), "cuda")
    assert derive(diagram, dtype=dtype).outputs


@pytest.mark.slow
def test_a_comparison_of_two_scalars_joins_a_mask_in_the_interpreter():
    diagram, dtype = drawn(424242, 216, Shape(nodes=45), "cpu")
    assert examine(diagram, derive(diagram, dtype=dtype), dtype, "cpu")


@pytest.mark.parametrize("number", [62, 63, 70])
def test_a_value_of_more_axes_than_arrays_have_is_refused(number):
    """NumPy's error came of a diagram of 64."""
    own = nq.axes(" ".join(f"a{at}" for at in range(number)), **{f"a{at}": 1 + (at < 2) for at in range(number)})
    half, rest = nq.array("X", *own[:31]), nq.array("Y", *own[31:])
    if number > 62:
        with pytest.raises(NapkinError, match=rf"a value of output out has {number} axes, at most 62"):
            Diagram("edge", (("out", half * rest),))
    else:
        assert derive(Diagram("edge", (("out", half * rest),)), dtype="float32").outputs[0].translation is not None


def test_a_value_of_forty_axes_that_is_divided_by_a_sum_is_derived():
    """NumPy finds the shape that arrays have together of no more than 32 dimensions."""
    own = nq.axes(" ".join(f"a{at}" for at in range(40)), **{f"a{at}": 1 + (at % 13 == 0) for at in range(40)})
    e = nq.exp(nq.array("X", *own))
    derivation = derive(Diagram("edge", (("out", e / nq.sum(e, own[0])),)), dtype="float32")
    assert derivation.outputs[0].translation is not None
    data = {"X": np.random.default_rng(0).standard_normal([axis.size for axis in own])}
    (bound,) = error_bound(e / nq.sum(e, own[0]), data, {}, "float32")
    assert bound.ndim == 40
