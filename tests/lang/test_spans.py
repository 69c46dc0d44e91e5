"""Sizes reach the axes that rename, split and merge make, or are refused; evaluation at the new sizes says what the
diagram says.
"""

from __future__ import annotations

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.pipeline.validate import trial_sizes

q, x, d, h, e = nq.axes("q x d h e", q=4096, x=4096, d=64, h=4, e=256)


def sizes(diagram: Diagram) -> dict[str, int | None]:
    return {axis.name: axis.size for axis in diagram.axes()}


def twice() -> Diagram:
    def attend(a):
        b = nq.rename(a, {q: x})
        return nq.sum(nq.softmax(nq.sum(a * b, d), x) * b, x)

    return Diagram("twice", (("out", attend(attend(nq.array("A", q, d)))),))


@pytest.mark.parametrize("given", [{"q": 256}, {"x": 256}, {"q": 256, "x": 256}])
def test_renamed_axes_change_with_their_own(given):
    small = twice().with_sizes(given)
    assert {size for name, size in sizes(small).items() if name != "d"} == {256}
    assert sizes(small)["d"] == 64


def test_sizes_that_differ_where_axes_are_one_are_refused():
    with pytest.raises(NapkinError, match="diagram twice: axis q is read at .*give sizes that fit"):
        twice().with_sizes({"q": 256, "x": 128})


def test_heads_are_split_and_merged_as_before():
    a = nq.array("A", q, e)
    diagram = Diagram("heads", (("out", nq.split(a, e, h, d) * 2.0),))
    assert sizes(diagram.with_sizes({"h": 2})) == {"q": 4096, "e": 128, "h": 2, "d": 64}
    assert sizes(diagram.with_sizes({"e": 512})) == {"q": 4096, "e": 512, "h": 8, "d": 64}
    with pytest.raises(NapkinError, match="each element once"):
        diagram.with_sizes({"d": 32})  # the 64 of h * 64 + d stays
    small = diagram.with_sizes({"h": 2, "q": 3})
    values = np.random.default_rng(0).standard_normal((3, 128))
    np.testing.assert_array_equal(
        evaluate(small.term, {"A": values}, order=["q", "h", "d"]), 2 * values.reshape(3, 2, 64)
    )


def test_what_is_only_shifted_keeps_its_freedom():
    diagram = Diagram("next", (("out", nq.take(nq.array("A", q), q, nq.index(q) + 1)),))
    assert sizes(diagram.with_sizes({"q": 7})) == {"q": 7}


def test_trial_sizes_fit_together():
    for chosen in trial_sizes(twice(), {"q": 40}):
        assert {size for name, size in chosen.items() if name != "d"} == {40}
    heads = Diagram("heads", (("out", nq.split(nq.array("A", q, e), e, h, d)),))
    for chosen in trial_sizes(heads, {}):
        assert chosen["h"] * chosen["d"] == chosen["e"]
        heads.with_sizes(chosen)
