"""Masks that are known, what they leave out and what an absent value absorbs: random terms, their values whatever the
data are, and what passes for them.
"""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from napkin_eq.certify.asked import same
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.term import Const, Index, Input, Map, Read, Reduce, Term, subterms
from napkin_eq.search.unfolded import unfolded

AXES = [Axis("n", 3), Axis("k", 2), Axis("m", 4), Axis("u", 1)]
REAL = [Input("A", (AXES[0], AXES[1])), Input("B", (AXES[0],)), Input("C", (AXES[2], AXES[0]))]
WHOLE = [Input("J", (AXES[0],), "int32"), Input("K", (AXES[1],), "int32", ("nonneg",))]
EDGES = (1.5, -2.0, 0.0, -0.0, 3.25, -math.inf, 0.5, 7.0)  # -inf: the absent value
ABSENT = Const(-math.inf)


class Drawn:
    """Terms with masks of places that hold everywhere, somewhere, or nowhere."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)

    def place(self, depth: int = 1) -> Term:
        way = self.draw.randrange(8) if depth else 0
        if way < 3:
            return Index(self.draw.choice(AXES))
        if way == 3:
            return Const(self.draw.randint(-2, 5))
        if way == 4:
            return self.draw.choice(WHOLE)
        if way == 5:
            return Map("add", (self.place(0), Const(self.draw.randint(-3, 3))))
        if way == 6:
            return Map(self.draw.choice(("floordiv", "mod")), (self.place(0), Const(self.draw.randint(1, 3))))
        return Map(self.draw.choice(("min", "max", "mul", "add")), (self.place(0), self.place(0)))

    def mask(self, depth: int) -> Term:
        way = self.draw.randrange(9) if depth else 0
        if way > 6:
            return Map(self.draw.choice(("and", "or")), (self.mask(depth - 1), self.mask(depth - 1)))
        if way == 6:
            return Map("not", (self.mask(depth - 1),))
        one = self.value(0) if way == 5 else self.place()
        other = one if self.draw.randrange(3) == 0 else self.value(0) if way == 5 else self.place()
        return Map(self.draw.choice(("lt", "le", "eq")), (one, other))

    def value(self, depth: int) -> Term:
        way = self.draw.randrange(12) if depth else 11
        if way == 11:
            return self.draw.choice((*REAL, ABSENT, *map(Const, (0.0, 1.0, -1.0, 2.0))))
        body = self.value(depth - 1)
        if way < 3:
            return Map("where", (self.mask(2), body, self.draw.choice((Const(0.0), ABSENT, self.value(depth - 1)))))
        if way < 6:
            other = self.draw.choice((ABSENT, self.value(depth - 1)))
            return Map(self.draw.choice(("add", "mul", "max")), (body, other))
        axis = self.draw.choice(body.axes or AXES)
        if way == 6:
            return Map(self.draw.choice(("neg", "abs", "exp")), (body,))
        if way < 9:
            return Reduce(self.draw.choice(("sum", "max", "prod")), axis, body, self.mask(1))
        if way == 9:
            return Read(body, axis, self.place()) if body.axes else body
        return Map("real", (Reduce("argmax", axis, body, self.mask(1)),))


def numbers(array: Input, draw: random.Random) -> np.ndarray:
    shape = [axis.size or 1 for axis in array.dims]
    some = EDGES if array.kind == "real" else (0, 1, 2, 5) if array.facts else (-3, -1, 0, 1, 4)
    return np.array([draw.choice(some) for _ in range(math.prod(shape))]).reshape(shape)


@pytest.mark.filterwarnings("ignore")  # of what is no number, or larger than any
@pytest.mark.parametrize("seed", range(4))
def test_what_is_left_says_the_same_and_has_the_same_values_of_any_numbers(seed: int) -> None:
    drawn, data = Drawn(seed), random.Random(seed)
    given = {array.name: numbers(array, data) for array in (*REAL, *WHOLE)}
    changed = 0
    for _ in range(300):
        try:
            term = drawn.value(4)
        except NapkinError:
            continue  # an axis that its body lacks
        (made,) = unfolded([term])
        assert same([term], [made]), term
        changed += made is not term
        order = [axis.name for axis in term.axes]
        own, other = (
            evaluate(t, {i.name: given[i.name] for i in subterms(t) if isinstance(i, Input)}, order=order)
            for t in (term, made)
        )
        assert np.allclose(own, other, rtol=1e-9, equal_nan=True), term
    assert changed > 100
