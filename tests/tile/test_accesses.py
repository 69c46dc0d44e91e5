"""How loads lie in memory: which lanes read one place, and how far sums of coordinates reach."""

from __future__ import annotations

import pytest

import napkin_eq as nq
from napkin_eq.machine.cost import price, profile
from napkin_eq.machine.gpu import load
from napkin_eq.tile import ir as p
from napkin_eq.tile.accesses import Near, near

n, c, y, k = nq.axes("n c y k", n=8, c=16, y=1023, k=8)


def accesses(term: nq.Term) -> dict[str, Near]:
    (kernel,) = nq.derive(term, "h100", dtype="float32", printer="triton").plan.kernels
    values, made = p.values_of(kernel.body), p.definitions(kernel.body)
    return {s.buffer: near(kernel, s, made, values) for s in p.statements(kernel.body) if isinstance(s, p.Load)}


def test_a_quotient_is_one_place_for_as_many_lanes_as_it_is_divided_by() -> None:
    found = accesses(nq.array("Image", n, c, y) + nq.array("Shift", c))
    assert found["Shift"].repeated == 1023
    assert found["Image"].repeated == 1
    (coord,) = {found["Image"].last}
    assert found["Shift"].distinct({coord: 256}, [coord]) == pytest.approx(1 / 256)


def test_lanes_of_a_window_share_places() -> None:
    at = nq.index(y) + nq.index(k)
    wide = nq.axes("w", w=1030)[0]
    found = accesses(nq.sum(nq.take(nq.array("Row", n, wide), wide, at), k))["Row"]
    ((steps),) = found.sums
    assert sorted(step for _, step in steps) == [1, 1]
    lanes = {coord: 8 if coord.startswith("k") else 256 for coord, _ in steps}
    assert found.distinct(lanes, [coord for coord, _ in steps]) == pytest.approx(263 / 2048)
    assert found.along == steps


def test_threads_that_are_all_in_one_skewed_row_take_longer() -> None:
    """Columns of 4,095: 3,773 us with four warps on an H100, 2,845 with sixteen."""
    rows, columns, many = nq.axes("i k j", i=128, k=4095, j=4096)
    derivation = nq.derive(nq.sum(nq.array("X", rows, many, columns), many), "h100", dtype="float32", printer="triton")
    (kernel,) = derivation.plan.kernels
    tiles = {coord.name: {"i": 1, "k": 256, "j": 16}[coord.axis.name] for coord in kernel.coords}
    few, several = (price(profile(kernel), tiles, warps, 2, load("h100")) for warps in (4, 16))
    assert few is not None
    assert several is not None
    assert few.predicted_us > 1.2 * several.predicted_us
