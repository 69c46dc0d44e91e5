"""A small kernel is not cut so that every block does the whole row's work again for a gain that the model
cannot tell.
"""

from __future__ import annotations

import napkin_eq as nq
from napkin_eq.frontend.gallery import diagram
from napkin_eq.lang.term import Store
from napkin_eq.pipeline.derive import derive
from napkin_eq.search import tiling as tiles
from napkin_eq.tile import ir as p
from napkin_eq.verify.fuzz.fuzz import gave_up

SMALL = diagram("rms_norm", t=37, d=75)


def test_choices_that_waste_are_left_out_before_one_is_taken(monkeypatch):
    thrifty = derive(SMALL, printer="triton")
    dropped = []

    def all_but_the_first(found):
        dropped.extend(found[:1])
        return found[1:]

    monkeypatch.setattr(tiles, "_thrifty", all_but_the_first)
    other = derive(SMALL, printer="triton")
    assert dropped
    assert other.tiled[0].cost.predicted_us >= thrifty.tiled[0].cost.predicted_us
    assert other.plan.kernels[0] != thrifty.plan.kernels[0]


def test_of_choices_in_order_those_that_waste_are_left_out():
    def choice(predicted: float, work: float) -> tiles._Choice:
        return predicted, (), 4, 2, work

    wasteful, thrifty, slow, better = (
        choice(100.0, 400.0),
        choice(101.9, 100.0),
        choice(103.0, 99.0),
        choice(110.0, 1.0),
    )
    assert tiles._thrifty([wasteful, thrifty, slow, better]) == [thrifty, slow, better]
    assert tiles._thrifty([wasteful, choice(102.1, 100.0)]) == [wasteful, choice(102.1, 100.0)]
    assert tiles._thrifty([wasteful, choice(101.0, 101.0)]) == [wasteful, choice(101.0, 101.0)]


def test_programs_of_short_rows_take_several() -> None:
    h, x, d = nq.axes("h x d", h=16, x=4096, d=128)
    found = derive(nq.rms_norm(nq.array("A", h, x, d), d))
    (piece,) = found.tiled
    rows = piece.kernel.coord("x").tile
    assert 1 < rows <= tiles.SHORT // 128 and piece.kernel.coord("h").tile == 1
    wide = derive(diagram("softmax", t=4096, x=4096)).tiled[0]
    assert wide.kernel.coord("t").tile == 1


def test_prefixes_that_no_tile_holds_are_stored_for_a_fold_over_their_axis() -> None:
    b, v = nq.axes("b v", b=256, v=65536)
    row = nq.array("A", b, v)
    kept = nq.where(nq.cumsum(row, v) < nq.array("top", b), row, 0.0)
    found = derive(kept / nq.sum(kept, v))
    assert len(found.plan.kernels) == 2 and not gave_up(found)


def test_what_another_kernel_stored_is_read_along_its_rows():
    """The rows of a stored value lie along the last axis of its array, whatever order its term names them in."""
    t, f = nq.axes("t f", t=4096, f=2048)
    made = Store(nq.exp(nq.array("A", t, f)))
    roles = {"t": "group", "f": "group"}
    for order in ((t, f), (f, t)):
        found = tiles.choices(Store(made * 0.5), roles, [p.Buffer("out__s0", order, "f32")])
        assert max(found[order[-1].name]) >= 128
