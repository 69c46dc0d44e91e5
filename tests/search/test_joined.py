"""A fold over two values that were joined is one over each: random terms, their values, what passes for them."""

from __future__ import annotations

import napkin_eq as nq
from napkin_eq.certify.asked import same
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.term import Const, Index, Map, Read, Reduce, Term, subterms
from napkin_eq.search.unfolded import unfolded
from tests.search.test_lone import Drawn, held

NUMBERS, MONOIDS = (-1, 0, 1, 2, 3, 4, 6), ("sum", "sum", "max", "prod")


class Joined(Drawn):
    """Terms with choices by whether a coordinate is below a number, and sums of products in their branches."""

    def below(self, axis: Axis) -> Term:
        own: Term = Index(axis)
        if self.draw.randrange(3) == 0:
            own = own + Const(self.draw.choice(NUMBERS))
        return Map("lt", (own, Const(self.draw.choice(NUMBERS))))

    def mask(self, depth: int) -> Term:
        return super().mask(depth) if self.draw.randrange(3) else self.below(self.draw.choice(self.axes))

    @property
    def axes(self) -> list[Axis]:
        return [axis for array in self.arrays for axis in array.dims]

    def dear(self, depth: int) -> Term:
        """A sum of products, read at a coordinate, shifted or as it is."""
        body = self.value(max(depth - 1, 0)) * self.value(max(depth - 1, 0))
        axes = list(body.axes)
        if not axes:
            return body
        folded = self.draw.choice(axes)
        term: Term = Reduce("sum", folded, body)
        if (left := list(term.axes)) and self.draw.randrange(4):
            place: Term = Index(self.draw.choice(self.axes))
            term = Read(term, self.draw.choice(left), place + Const(self.draw.choice(NUMBERS[:4])))
        return term

    def value(self, depth: int) -> Term:
        if depth and self.draw.randrange(4) == 0:
            axis = self.draw.choice(self.axes)
            term: Term = Map("where", (self.below(axis), self.dear(depth - 1), self.value(depth - 1)))
            if self.draw.randrange(3) == 0:
                term = Map("where", (self.below(axis), self.value(depth - 1), term))
            if axis in term.axes:
                return Reduce(self.draw.choice(MONOIDS), axis, term, self.mask(1) if self.draw.randrange(3) else None)
            return term
        return super().value(depth)


def test_random_folds_over_what_was_joined_have_their_values_and_nothing_else_passes_for_them() -> None:
    made, refused, passed = held(map(Joined, range(700)), unchanged=True)
    assert made > 100 and refused <= made // 10 and passed < made, (made, refused, passed)


def test_a_score_beside_the_others_is_no_score_stored() -> None:
    """A softmax over scores and a learned number, joined first, whose last weight is left out."""
    t, s, d, e, p = nq.axes("t s d e p", t=64, s=64, d=32, e=32, p=65)
    scores = nq.sum(nq.array("Q", t, d) * nq.array("K", s, d), d)
    joined = nq.where(nq.index(p) < 64, Read(scores, s, nq.index(p)), nq.array("sink"))
    weight = nq.exp(joined - nq.max(joined, p))
    out = nq.sum(Read(weight, p, nq.index(s)) / nq.sum(weight, p) * nq.array("V", s, e), s)
    (found,) = unfolded([out])
    assert same([out], [found]) and not any(isinstance(part, Read) for part in subterms(found))
    derivation = nq.derive(nq.Diagram("beside", (("out", out),)), dtype="float32")
    (output,) = derivation.outputs
    assert len(derivation.plan.kernels) == 1 and output.translation.status == "agrees"


def test_arrays_that_were_joined_are_read_through_the_choice() -> None:
    """Keys kept from before and new ones: two folds would be two kernels."""
    s, n, p, d = nq.axes("s n p d", s=5, n=3, p=8, d=4)
    keys = nq.where(
        nq.index(p) < 5, Read(nq.array("old", s, d), s, nq.index(p)), Read(nq.array("new", n, d), n, nq.index(p) - 5)
    )
    term = nq.sum(nq.exp(nq.sum(keys * nq.array("q", d), d)), p)
    assert unfolded([term]) == (term,)
