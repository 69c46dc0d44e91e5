"""How well the cost model predicts is itself computed rightly, and what is drawn stands where it should."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as Xml
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def fit():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import fit  # type: ignore[import-not-found]
    finally:
        sys.path.remove(str(BENCHMARKS))
    return fit


def many(fit, case, pairs):
    return [fit.Point("s", "g", case, float(predicted), float(measured)) for predicted, measured in pairs]


def test_kendall_counted_by_hand(fit):
    # 3 1 2 against 1 2 3: of three pairs one is in order.
    assert fit.kendall(many(fit, "a", [(3, 1), (1, 2), (2, 3)])) == pytest.approx(-1 / 3)
    assert fit.kendall(many(fit, "a", ((i, 2 * i) for i in range(1, 9)))) == 1
    assert fit.kendall(many(fit, "a", ((-i, 2 * i) for i in range(1, 9)))) == -1
    assert fit.kendall(many(fit, "a", [(1, 1)])) is None


def test_only_pairs_of_one_case_that_are_apart_count(fit):
    found = many(fit, "a", [(1, 100), (2, 50)]) + many(fit, "b", [(3, 1), (4, 2)])
    assert fit.kendall(found) == 0
    near = many(fit, "a", [(2, 100), (1, 101), (3, 200)])
    assert fit.kendall(near) == pytest.approx(1 / 3)
    assert fit.kendall(near, fit.APART) == 1
    assert fit.kendall(near[:2], fit.APART) is None


def test_the_first_choice_is_held_against_the_best(fit):
    found = (
        many(fit, "a", [(2, 100), (1, 110), (3, 90)]) + many(fit, "b", [(1, 5), (2, 6)]) + many(fit, "alone", [(9, 1)])
    )
    assert fit.firsts(found) == [pytest.approx(110 / 90), 1]
    # Errors: 0.98, 0.99, 0.967, 0.8, 0.667 and 8: their median lies between 0.967 and 0.98.
    assert fit.line("all", found).startswith("| all | 3 | 6 | ") and "| 97% |" in fit.line("all", found)


def test_results_of_plans_are_read(fit):
    plans = [{"predicted_ms": 0.02, "tuning_ms": 0.03}, {"predicted_ms": 0.04, "error": "spills"}]
    found, gone = fit.points({"rows": [{"work": "w", "case": "c", "plans": plans}]}, "h200")
    assert [(p.case, p.predicted, p.measured) for p in found] == [("c", 20, 30)] and gone == 0
    found, _ = fit.points({"source": "tilings", "rows": [{"work": "w", "case": "c", "plans": plans}]}, "h200")
    assert [p.source for p in found] == ["tilings"]


def test_the_fitted_model_tells_the_order_of_what_was_measured(fit):
    kept = [
        p
        for name in ("tilings", "plans")
        for p in fit.points(json.loads((fit.RESULTS / f"{name}_h200.json").read_text()), "h200")[0]
    ]
    assert len(kept) >= 200
    pooled = [fit.Point("s", "g", "all", p.predicted, p.measured) for p in kept]
    assert fit.kendall(pooled, fit.APART) >= 0.9
    assert sorted(abs(p.predicted / p.measured - 1) for p in kept)[len(kept) // 2] <= 0.1


def test_the_plot_is_the_same_again_and_its_points_stand_right(fit):
    series = [(("tiles", "a<b"), 10.0, 10.0), (("tiles", "a<b"), 1000.0, 10.0), (("plans", "c$"), 100.0, 1000.0)]
    text = fit.svg(series)
    assert text == fit.svg(series) and "prefers-color-scheme: dark" in text
    root = Xml.fromstring(text)
    words = {"".join(said.itertext()).strip() for said in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"tiles: a<b", "plans: c$", "measured, µs"} <= words
    # Marks stand in the order of the series; least and most of 10 to 1000 microseconds are the corners.
    marks = [
        (float(m.get("x")), float(m.get("y")))
        for m in root.iter("{http://www.w3.org/2000/svg}use")
        if m.get("style", "").find("opacity") > 0
    ]
    (x0, y0), (x1, y1), (x2, y2) = marks[:3]
    assert x0 == x1 < x2 and y1 < y2 < y0 and y2 == pytest.approx((y0 + y1) / 2)


def test_what_is_kept_is_what_was_measured(fit):
    rows = json.loads((BENCHMARKS / "results" / "sweep_h200.json").read_text())["rows"]
    assert len({fit.key(row) for row in rows}) == len(rows) >= 200
    assert all(row["us"] > 0 and row["same"] for row in rows)
