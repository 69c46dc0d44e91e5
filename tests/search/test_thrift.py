"""A small kernel is not cut so that every block does the whole row's work again for a gain that the model cannot tell."""

from __future__ import annotations

import napkin_eq as nq
from napkin_eq.frontend.gallery import diagram
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.pipeline.derive import derive
from napkin_eq.search import tiling as tiles
from napkin_eq.verify.fuzz.fuzz import gave_up

SMALL = diagram("rms_norm", t=37, d=75)


def operations(found: Derivation) -> float:
    (piece,) = found.tiled
    return piece.cost.ops_alu + piece.cost.ops_sfu


def test_many_times_the_work_is_not_done_for_less_than_the_model_can_tell(monkeypatch):
    thrifty = derive(SMALL, printer="triton")
    monkeypatch.setattr(tiles, "_thrifty", lambda found: found)
    fastest = derive(SMALL, printer="triton")
    assert fastest.tiled[0].cost.predicted_us <= thrifty.tiled[0].cost.predicted_us <= tiles.TOLD * fastest.tiled[0].cost.predicted_us
    assert tiles.WASTE * operations(thrifty) <= operations(fastest)


def test_of_choices_in_order_those_that_waste_are_left_out():
    def choice(predicted: float, work: float) -> tiles._Choice:
        return predicted, (), 4, 2, work

    wasteful, thrifty, slow, better = choice(100.0, 400.0), choice(101.9, 100.0), choice(103.0, 99.0), choice(110.0, 1.0)
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
