"""The front of time and error: each plan more accurate than all that are faster, the derived one among them; what is
unsafe is said.
"""

from __future__ import annotations

from napkin_eq.frontend.gallery import diagram
from napkin_eq.frontend.library import array, axes, exp, softmax, sum
from napkin_eq.pipeline import front
from napkin_eq.pipeline.derive import derive


def test_each_plan_of_the_front_is_more_accurate_than_those_before_it() -> None:
    found = derive(diagram("attention", b=2, h=16, q=1024, x=1024, d=64), printer="triton")
    points = front.front(found)
    assert points[0].chosen and not any(p.chosen for p in points[1:])
    assert all(a.predicted_us <= b.predicted_us and a.error > b.error for a, b in zip(points, points[1:], strict=False))
    assert len(points) > 1 and points[0].precision == "narrow" != points[-1].precision
    assert front.told(points).count("\n") == 1 + len(points)
    assert [row["predicted_us"] for row in front.data(points)] == [p.predicted_us for p in points]


def test_an_exponential_without_a_shift_is_said_to_be_unsafe_where_the_diagram_has_it() -> None:
    t, x = axes("t x", t=64, x=256)
    a, v = array("A", t, x), array("V", t, x)
    safe, bare = (derive(sum(weights * v, x), printer="triton") for weights in (softmax(a, x), exp(a)))
    assert safe.report()["unsafe"] == []
    assert bare.report()["unsafe"] == ["e^A"]
