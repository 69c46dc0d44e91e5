"""The next best plans: in the model's order, the derivation's own first, and each of them right."""

from __future__ import annotations

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.frontend.gallery import diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.pipeline.top_k import Choice, choice, others, portable, ranked, retiled
from napkin_eq.tile.printers import emit


@pytest.fixture(scope="module")
def derivation():
    # Few enough blocks that the sum is cut into stretches: two kernels, each with tiles of its own.
    return nq.derive(diagram("matmul", m=32, n=16, k=32768), dtype="float32")


def test_plans_come_in_the_order_of_the_model(derivation):
    found = ranked(derivation, 4)
    assert found[0].plan.kernels == derivation.plan.kernels
    assert [r.predicted_us for r in found] == sorted(r.predicted_us for r in found)
    assert len({repr(r.plan.kernels) for r in found}) == 4
    assert len({len(r.tiled) for r in found}) == 1
    longest = max(range(2), key=lambda i: found[0].tiled[i].cost.predicted_us)
    assert len({repr(choice(r.tiled[longest])) for r in found}) == 4, "the plans differ in the lesser kernel alone"


def test_every_plan_computes_the_diagram(derivation):
    generator = np.random.default_rng(0)
    a, b = generator.standard_normal((32, 32768)), generator.standard_normal((32768, 16))
    for found in ranked(derivation, 3):
        got = emit(found.plan, "numpy")({"A": a, "B": b})["out"]
        got = got if [axis.name for axis in found.plan.outputs[0].dims] == ["m", "n"] else got.T
        # Two sums of 32768 products in float64, in whatever order, are no further apart than this.
        assert (np.abs(got - a @ b) <= 2 * 32768 * 2.0**-53 * (np.abs(a) @ np.abs(b))).all()


def test_others_differ_in_what_takes_longest_and_come_of_each_limit(derivation):
    own = derivation.tiled
    longest = max(range(2), key=lambda i: own[i].cost.predicted_us)
    found = others(derivation, 6)
    shapes = [(c.tiles, c.warps, c.groups) for c in (choice(pieces[longest]) for pieces in (own, *found))]
    assert len(found) == 6 and all(shapes.count(shape) == 1 for shape in shapes)
    assert all(pieces[1 - longest] == own[1 - longest] for pieces in found)
    limits = [pieces[longest].cost.limit for pieces in found]
    new = [limit for limit in dict.fromkeys(limits) if limit != own[longest].cost.limit]
    assert limits[: len(new)] == new
    assert found[:2] == others(derivation, 2)


def test_none_is_no_number_of_plans(derivation):
    with pytest.raises(NapkinError, match="at least 1"):
        ranked(derivation, 0)


def test_what_was_chosen_for_a_plan_makes_that_plan(derivation):
    for found in ranked(derivation, 4):
        again = retiled(derivation, [choice(piece) for piece in found.tiled])
        assert again.plan.kernels == found.plan.kernels
        assert again.report()["predicted_us"] == pytest.approx(found.predicted_us, abs=1e-3)
    assert retiled(derivation, [choice(piece) for piece in derivation.tiled]).certificate == derivation.certificate


def test_tiles_that_are_not_of_the_plan_are_refused(derivation):
    first, last = [choice(piece) for piece in derivation.tiled]
    for choices, why in (
        ([first], "1 kernels are given tiles, the plan has 2"),
        ([last, first], "a kernel walks"),
        ([Choice({**first.tiles, "z": 16}, 4, 2), last], "tiles are given for .*z"),
        ([Choice({name: 4096 for name in first.tiles}, 4, 2), last], "do not fit"),
    ):
        with pytest.raises(NapkinError, match=why):
            retiled(derivation, choices)


def test_the_portable_form_has_tiles_that_triton_takes():
    found = nq.derive(diagram("attention", b=1, h=32, q=16384, x=16384, d=64))
    (own,) = [choice(piece) for piece in found.tiled]
    three = retiled(found, [Choice({**own.tiles, "q": 192, "x__s": 128}, 16, 3, 3)])
    assert "* 192" in three.code()
    assert "* 192" not in three.triton()
    (kernel,) = portable(three).plan.kernels
    assert all(c.tile & (c.tile - 1) == 0 for c in kernel.coords)
