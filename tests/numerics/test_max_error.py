"""Extraction with an error to keep to: what a plan rounds decides which plan it is, and equally cheap plans are told
apart by it.
"""

from __future__ import annotations

import pytest

import napkin_eq.frontend.library as nq
from napkin_eq.frontend.gallery import diagram
from napkin_eq.frontend.library import array, axes, exp
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Map
from napkin_eq.numerics.accuracy import term_error, unit_error
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.pipeline.derive import derive
from napkin_eq.pipeline.validate import validate
from napkin_eq.search.candidates import preferred
from napkin_eq.search.derivation import Output
from napkin_eq.tile import ir as p

SIZES = {"b": 2, "h": 16, "q": 1024, "x": 1024, "d": 64}


def precisions(found: Derivation) -> set[tuple[str, str]]:
    values = {s.out.name: s.out.dtype for k in found.plan.kernels for s in p.statements(k.body) if hasattr(s, "out")}
    return {
        (values[s.a], s.precision) for k in found.plan.kernels for s in p.statements(k.body) if isinstance(s, p.Dot)
    }


@pytest.fixture(scope="module")
def loose() -> Derivation:
    return derive(diagram("attention", **SIZES), printer="triton")


@pytest.fixture(scope="module")
def tight(loose: Derivation) -> Derivation:
    return derive(diagram("attention", **SIZES), printer="triton", max_error=0.8 * unit_error(loose.plan)["out"])


def test_operands_that_are_computed_stay_wide_where_the_error_asks_for_it(loose: Derivation, tight: Derivation) -> None:
    assert precisions(loose) == {("bf16", "ieee")}
    assert precisions(tight) == {("bf16", "ieee"), ("f32", "tf32")}
    assert unit_error(tight.plan)["out"] <= 0.8 * unit_error(loose.plan)["out"]
    assert tight.report()["predicted_us"] > loose.report()["predicted_us"]
    assert tight.report()["rounding"] == unit_error(tight.plan) and "rounding" not in loose.report()
    assert 'input_precision="tf32"' in tight.triton()


def test_what_no_plan_keeps_to_is_refused_with_the_best_there_is() -> None:
    with pytest.raises(
        NapkinError, match=r"no plan of out keeps to a relative error of 0.0001; the most accurate rounds by 0.00[34]"
    ):
        derive(diagram("softmax", t=64, x=256), max_error=1e-4)  # the output is stored in bfloat16


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan")])
def test_an_error_that_is_none_is_refused(limit: float) -> None:
    with pytest.raises(NapkinError, match="expected a positive number"):
        derive(diagram("softmax"), max_error=limit)


def test_wide_inputs_are_multiplied_as_fast_as_the_error_allows() -> None:
    product = diagram("matmul", m=1024, n=1024, k=1024)
    found = {limit: precisions(derive(product, dtype="float32", max_error=limit)) for limit in (1e-2, 1e-4)}
    assert found == {1e-2: {("f32", "tf32")}, 1e-4: {("f32", "tf32x3")}}


def test_a_plan_that_keeps_to_an_error_is_within_its_bound_of_float64() -> None:
    report = validate(
        diagram("attention", **SIZES),
        dtype="float16",
        sizes=[{"b": 1, "h": 2, "q": 37, "x": 75}],
        device="cpu",
        max_error=9e-4,
    )
    assert report.passed


def test_of_equally_cheap_plans_the_more_accurate_comes_first(loose: Derivation) -> None:
    def costing(us: float) -> Output:
        one = loose.outputs[0]
        return Output(one.names, one.source, type(one.placed)(one.placed.term, (), (), us), [], one.graph)

    order = [(0.3, costing(10.0)), (0.2, costing(10.005)), (0.1, costing(10.5)), (0.0, costing(20.0))]
    assert [error for error, _ in preferred(order)] == [0.2, 0.3, 0.1, 0.0]


def test_a_term_that_rounds_more_has_a_larger_figure() -> None:
    (x,) = axes("x", x=64)
    a, b = array("A", x), array("B", x)
    assert term_error(exp(a - b), "bf16") < term_error(exp(a - b + b - b), "bf16")
    assert term_error(Map("max", (a, b)), "bf16") == 0.0


@pytest.mark.parametrize("order, precision", [("xd", "tf32x3"), ("dx", "bf16x6")])
def test_products_of_float32_hold_all_digits_in_parts_by_how_the_operands_lie(order: str, precision: str) -> None:
    q, x, d = axes("q x d", q=1024, x=1024, d=1024)
    right = array("B", *({"x": x, "d": d}[name] for name in order))
    found = derive(nq.sum(array("A", q, d) * right, d), dtype="float32", printer="triton")
    assert precisions(found) == {("f32", precision)}
