"""Loops whose bounds are read from data: they visit the blocks that any of their rows needs, whatever the bounds say,
and give what float64 does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.tile import ir as p
from napkin_eq.tile.printers import emit

SIZE, WIDTH = 1100, 32
Bounds = tuple[Any, Any]


@cache
def sums() -> Derivation:
    """Sums of the rows of V from the first to the last, several sums by one block."""
    t, x, e = nq.axes("t x e", e=WIDTH)
    first, last = nq.array("first", t, dtype="int32"), nq.array("last", t, dtype="int32")
    seen = (first <= nq.index(x)) & (nq.index(x) <= last)
    return nq.derive(nq.sum(nq.where(seen, 1.0, 0.0) * nq.array("V", x, e), x), printer="triton")


def tiles() -> tuple[int, int]:
    (kernel,) = sums().plan.kernels
    found = {c.axis.name: c.tile for c in kernel.coords}
    return found["t"], found["x"]


def values() -> Any:
    """Whole numbers: their sums are exact in any order."""
    return np.random.default_rng(0).integers(-9, 10, (SIZE, WIDTH)).astype(float)


def expected(lo: Any, hi: Any) -> Any:
    before = np.concatenate([np.zeros((1, WIDTH)), values().cumsum(0)])
    first, last = (np.clip(bound, 0, SIZE) for bound in (lo, hi))
    return np.where((first < last)[:, None], before[np.maximum(first, last)] - before[first], 0.0)


def found(plan: p.Plan, lo: Any, hi: Any) -> Any:
    """Run a plan on bounds of which the upper one is left out; a value that does not fit 32 bits on the way is an
    error.
    """
    return emit(plan, "numpy")({"first": lo, "last": hi - 1, "V": values()})["out"]


def cases(tile: int) -> dict[str, Bounds]:
    """Bounds of 40 rows, more than one block of them: what a block of rows reads is what its rows read together."""
    rng = np.random.default_rng(1)
    all_rows = np.ones(40, dtype=int)
    ragged = np.sort(rng.integers(0, SIZE + 1, (2, 40)), axis=0)
    return {
        "empty": (5 * all_rows, 5 * all_rows),
        "turned round": (SIZE * all_rows, 0 * all_rows),
        "whole": (0 * all_rows, SIZE * all_rows),
        "the integers' own ends": ((1 - 2**31) * all_rows, 2**31 * all_rows),
        "their ends for some": (
            np.where(np.arange(40) % 3, 1 - 2**31, 2**31 - 1),
            np.where(np.arange(40) % 5, 2**31, 2 - 2**31),
        ),
        "past both ends": (-1000 * all_rows, 5000 * all_rows),
        "before the start": (-1000 * all_rows, -3 * all_rows),
        "after the end": (2000 * all_rows, 3000 * all_rows),
        "between blocks": (tile * all_rows, 2 * tile * all_rows),
        "one short of blocks": (tile * all_rows - 1, 2 * tile * all_rows - 1),
        "one past blocks": (tile * all_rows + 1, 2 * tile * all_rows + 1),
        "within one block": (tile * all_rows + 7, tile * all_rows + 9),
        "the last, ragged block": (SIZE // tile * tile * all_rows + 1, SIZE * all_rows - 1),
        "of every kind": (ragged[0], np.where(np.arange(40) % 7 == 0, 0, ragged[1])),
        "of documents": (
            np.repeat([0, 3, 19, 30], [3, 16, 11, 10]) * 27,
            np.repeat([3, 19, 30, 40], [3, 16, 11, 10]) * 27,
        ),
    }


NAMES = list(cases(SIZE))


def from_data(kernel: p.Kernel, bound: p.Operand) -> bool:
    """Whether a bound comes from what is loaded, by the statements that define it."""
    made = {s.out.name: s for s in p.statements(kernel.body) if hasattr(s, "out")}
    stmt = made.get(str(bound))
    return stmt is not None and (isinstance(stmt, p.Load) or any(from_data(kernel, name) for name in p.used(stmt)))


def test_the_bounds_are_read_from_data():
    (kernel,) = sums().plan.kernels
    (loop,) = (s for s in kernel.body if isinstance(s, p.Loop))
    assert [part.note for part in loop.parts] == ["entering the mask", "no mask", "masked"]
    assert all(from_data(kernel, bound) for part in loop.parts for bound in (part.lo, part.hi))
    rows, tile = tiles()
    assert 1 < rows < 40 and 2 * tile < SIZE and SIZE % tile


@pytest.mark.parametrize("name", NAMES)
def test_sums_between_bounds_equal_float64(name):
    lo, hi = cases(tiles()[1])[name]
    assert (found(sums().plan, lo, hi) == expected(lo, hi)).all()


def visited(lo: Any, hi: Any, monkeypatch: pytest.MonkeyPatch) -> dict[int, list[int]]:
    """Where the blocks start that each block of rows reads of V, as the plan runs."""
    emit(sums().plan, "numpy")  # the printers are loaded
    runner = sys.modules["napkin_eq.codegen.numpy"].Tiles
    seen: dict[int, list[int]] = {}
    load: Callable[..., Any] = runner.load

    def counted(self: Any, stmt: p.Load, scope: Any) -> Any:
        if stmt.buffer == "V":
            at = {self.kernel.coord(name).axis.name: start for name, start in self.starts.items()}
            seen.setdefault(at["t"], []).append(at["x"])
        return load(self, stmt, scope)

    monkeypatch.setattr(runner, "load", counted)
    found(sums().plan, lo, hi)
    return seen


@pytest.mark.parametrize("name", NAMES)
def test_every_block_is_visited_once_and_none_that_no_row_needs(name, monkeypatch):
    rows, tile = tiles()
    lo, hi = cases(tile)[name]
    seen = visited(lo, hi, monkeypatch)
    for first in range(0, 40, rows):
        # Lanes past the last row read a zero for the first and for the last: one row more.
        lows, highs = (
            np.pad(bound[first : first + rows], (0, max(0, first + rows - 40)), constant_values=more)
            for more, bound in enumerate((lo, hi))
        )
        begin, end = max(0, min(lows)) // tile, -(-min(SIZE, max(highs)) // tile)
        assert seen.get(first, []) == [block * tile for block in range(begin, end)]


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_plan_with_another_bound_is_told_apart(at):
    """A part that begins a block late, or the last one that ends a block early: some case sees it."""
    (kernel,) = sums().plan.kernels
    (loop,) = (s for s in kernel.body if isinstance(s, p.Loop))
    _, tile = tiles()
    moved = p.Let(
        p.Value("moved", (), "i32"), "add", (loop.parts[at].hi, -tile) if at == 2 else (loop.parts[at].lo, tile)
    )
    parts = tuple(
        replace(part, **{"hi" if at == 2 else "lo": "moved"}) if i == at else part for i, part in enumerate(loop.parts)
    )
    body = tuple(new for s in kernel.body for new in ((moved, replace(loop, parts=parts)) if s is loop else (s,)))
    broken = replace(sums().plan, kernels=(replace(kernel, body=body),))
    assert any((found(broken, lo, hi) != expected(lo, hi)).any() for lo, hi in cases(tile).values())


def prefixed(written: str) -> Derivation:
    """Sums of the rows of V that a row sees: up to its own, or up to a length from data, which is said in two ways."""
    t, x, e = nq.axes("t x e", t=SIZE, x=SIZE, e=WIDTH)
    length, own, at = nq.array("length", dtype="int32"), nq.index(t), nq.index(x)
    seen = (at <= own) | (at < length) if written == "or" else ~((own < at) & (length <= at))
    return nq.derive(nq.sum(nq.where(seen, 1.0, 0.0) * nq.array("V", x, e), x), printer="triton")


@pytest.mark.parametrize(
    ("written", "length"),
    [*(("or", length) for length in (0, 3, 300, 513, SIZE, 5000, -4)), ("not and", 513), ("not and", 5000)],
)
def test_a_walk_ends_where_the_farthest_of_two_ends_is(written: str, length: int) -> None:
    plan = prefixed(written).plan
    (kernel,) = plan.kernels
    (loop,) = (s for s in kernel.body if isinstance(s, p.Loop))
    assert from_data(kernel, loop.parts[-1].hi)
    reach = np.clip(np.maximum(np.arange(SIZE) + 1, length), 0, SIZE)
    before = np.concatenate([np.zeros((1, WIDTH)), values().cumsum(0)])
    assert (emit(plan, "numpy")({"length": np.array(length), "V": values()})["out"] == before[reach].T).all()


def test_what_is_not_one_of_two_is_none_of_either() -> None:
    """A window whose outside is masked away walks no more blocks than one whose inside is kept."""
    t, x, e = nq.axes("t x e", t=4096, x=4096, e=WIDTH)
    back = nq.index(t) - nq.index(x)
    outside, inside = (back < 0) | (back >= 100), (back >= 0) & (back < 100)
    found = [
        nq.derive(nq.sum(nq.where(mask, 1.0, 0.0) * nq.array("V", x, e), x), printer="triton")
        for mask in (~outside, inside)
    ]
    loops = [s for one in found for s in one.plan.kernels[0].body if isinstance(s, p.Loop)]
    assert [[part.note for part in loop.parts] for loop in loops] == [[part.note for part in loops[0].parts]] * 2
    told, other = (sum(o.placed.predicted_us for o in one.outputs) for one in found)
    assert abs(told - other) < 0.01 * other
