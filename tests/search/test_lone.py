"""A fold that one lane alone can change is what is in that lane: random terms, their values, what passes for them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.certify.asked import same
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.term import Const, Index, Input, Map, Recur, Reduce, Term, rebuilt, subterms
from napkin_eq.pipeline.derive import derive
from napkin_eq.search.unfolded import unfolded

AXES = [Axis("n", 3), Axis("k", 3), Axis("m", 4), Axis("v", 5)]
NUMBERS = (0.0, 1.0, -1.0, 2.5, -3.0)


class Drawn:
    """Terms with masks that hold in one lane, in few, or in none."""

    def __init__(self, seed: int) -> None:
        self.seed, self.draw = seed, random.Random(seed)
        kinds = ("float", "float", "float", "int32")
        self.arrays = [
            Input(f"I{i}", tuple(self.draw.sample(AXES, self.draw.randint(1, 2))), self.draw.choice(kinds))
            for i in range(4)
        ]

    def place(self) -> Term:
        own: Term = Index(self.draw.choice(AXES))
        whole = [array for array in self.arrays if array.kind == "int"]
        ways = [own, own, own + Const(self.draw.randint(-1, 2)), Map("floordiv", (own, Const(2))), *whole]
        return self.draw.choice(ways)

    def mask(self, depth: int) -> Term:
        way = self.draw.randrange(7) if depth else 0
        if way in (4, 5):
            return Map("and" if way == 4 else "or", (self.mask(depth - 1), self.mask(depth - 1)))
        return Map("le" if way == 6 else "eq", (Index(self.draw.choice(AXES)), self.place()))

    def value(self, depth: int) -> Term:
        way = self.draw.randrange(10) if depth else 9
        if way < 2:
            other = Const(0.0) if self.draw.randrange(3) else self.value(0)
            return Map("where", (self.mask(2), self.value(depth - 1), other))
        if way < 5:
            return Map("add" if way == 4 else "mul", (self.value(depth - 1), self.value(depth - 1)))
        body = self.value(depth - 1) if way < 8 else None
        if way == 7 and body is not None:
            return Map(self.draw.choice(("neg", "exp", "log")), (body,))
        if body is not None and body.axes:
            monoid, axis = self.draw.choice(("sum", "sum", "max", "prod")), self.draw.choice(body.axes)
            return Reduce(monoid, axis, body, self.mask(1) if self.draw.randrange(2) else None)
        real = [array for array in self.arrays if array.kind == "real"]
        return self.draw.choice([*real, Const(self.draw.choice(NUMBERS))])

    def wrong(self, term: Term) -> Iterator[Term]:
        """Terms that differ from one in a place, and mean something else or not."""
        parts = subterms(term)
        for old in self.draw.sample(parts, min(3, len(parts))):
            new: Term | None = None
            if isinstance(old, Index):
                new = self.draw.choice([Index(self.draw.choice(AXES)), old + Const(1)])
            elif isinstance(old, Map) and old.op in ("and", "mul", "add", "where"):
                ways = [*old.args[-2:], Map("le", old.args) if old.op == "eq" else old.args[0]]
                new = next((way for way in ways if way.kind == old.kind), None)
            elif isinstance(old, Reduce):
                new = Reduce("max" if old.monoid == "sum" else "sum", old.axis, old.body, old.where)
            if new is not None:
                done: dict[Term, Term] = {}
                try:
                    for part in parts:
                        done[part] = new if part is old else rebuilt(part, tuple(done[c] for c in part.children))
                except NapkinError:
                    continue
                yield done[term]

    def values(self, *terms: Term) -> list[np.ndarray]:
        """The values of terms for one draw of all arrays, axes by name."""
        rng = np.random.default_rng(self.draw.randrange(1 << 30))
        data = {
            array.name: rng.integers(-2, 6, sizes) if array.kind == "int" else rng.choice(NUMBERS, sizes)
            for array in self.arrays
            for sizes in [[axis.size for axis in array.dims]]
        }
        order = sorted(axis.name for axis in terms[0].axes)
        return [np.nan_to_num(evaluate(term, data, order=order), neginf=-1e300) for term in terms]


def held(drawings: Iterable[Drawn], unchanged: bool = False) -> tuple[int, int, int]:
    """Hold what is made of random terms, and edits that pass for it, against their values; count what was made, what of
    it was refused, and the edits. unchanged: also edits of terms of which nothing is made.
    """
    made = refused = passed = 0

    def agree(drawn: Drawn, one: Term, another: Term) -> None:
        own, other = drawn.values(one, another)
        assert own.shape == other.shape and np.allclose(own, other), (drawn.seed, one, another)

    for drawn in drawings:
        term = drawn.value(4)
        (found,) = unfolded([term])
        if found is not term:
            made += 1
            refused += not same([term], [found])
            agree(drawn, term, found)
        for wrong in drawn.wrong(found) if unchanged or found is not term else ():
            if same([term], [wrong]):
                passed += 1
                agree(drawn, term, wrong)
    return made, refused, passed


def test_random_folds_of_one_lane_have_their_values_and_nothing_else_passes_for_them() -> None:
    made, refused, passed = held(map(Drawn, range(6000)))
    assert made > 300 and refused <= made // 50 and passed < made


def test_a_product_with_a_diagonal_reads_each_row_once() -> None:
    n, m, k = nq.axes("n m k", n=4096, m=4096, k=4096)
    diagonal = nq.where(nq.equal(nq.index(n), nq.index(k)), nq.array("A", n), 0.0)
    found = nq.derive(nq.Diagram("diagonal", (("out", nq.sum(diagonal * nq.array("B", k, m), k)),)), dtype="float32")
    (output,) = found.outputs
    assert not any(isinstance(t, Reduce) for t in subterms(output.placed.term))
    assert output.placed.predicted_us < 50 and output.translation.status == "agrees"


def test_places_from_data_are_looked_up_once() -> None:
    """A product with rows of zeros and a one is a gather; of a place that is none, zero."""
    t, v, d = nq.axes("t v d", t=16, v=1000, d=64)
    chosen = nq.where(nq.equal(nq.array("L", t, dtype="int32"), nq.index(v)), 1.0, 0.0)
    term = nq.sum(chosen * nq.array("W", v, d), v)
    (found,) = unfolded([term])
    assert not any(isinstance(part, Reduce) for part in subterms(found)) and same([term], [found])
    places = np.array([0, 999, -1, 1000, *range(12)])
    table = np.random.default_rng(0).standard_normal((1000, 64))
    expected = np.where(((places >= 0) & (places < 1000))[:, None], table[places % 1000], 0.0)
    assert np.array_equal(nq.evaluate(found, {"L": places, "W": table}, order=["t", "d"]), expected)


def test_columns_are_cut_into_stretches_whether_or_not_an_axis_of_one_lane_lies_behind_them() -> None:
    rows, columns, lone = nq.axes("rows columns lone", rows=1 << 18, columns=257, lone=1)
    along = nq.array("A", rows, columns, lone)
    recurring = Recur(lone, nq.sigmoid(nq.array("G", rows)), along)
    plan = derive(recurring - nq.mean(recurring, rows), "h100", dtype="float16").plan
    assert any(c.name == "rows_part" for kernel in plan.kernels for c in kernel.coords)


@pytest.mark.parametrize("monoid", ["sum", "max", "prod"])
def test_one_long_row_is_cut_into_stretches_whether_or_not_its_fold_is_masked(monoid: str) -> None:
    (row,) = nq.axes("row", row=100_000)
    x, y = nq.array("x", row), nq.array("y", row)
    # Of any numbers, products in another order may pass the range where these do not
    product = [Reduce("prod", row, nq.sigmoid(x))]
    folds = product if monoid == "prod" else [Reduce(monoid, row, x, where) for where in (Const(True), x < y)]
    for fold in folds:
        found = derive(fold, "h100", dtype="float32")
        assert len(found.plan.kernels) == 2 and found.outputs[0].translation.status == "agrees"
        assert sum(t.cost.predicted_us for t in found.tiled) < 12  # 19 in one block
