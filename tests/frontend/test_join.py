"""Axes that always stand together are one: the same numbers, in the same places."""

from __future__ import annotations

from contextlib import suppress
from random import Random

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.frontend.join import Joined, joined
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import evaluate, output_order
from napkin_eq.lang.term import Const, Index, Input, Map, Reduce, Scan, Size, Term, as_real, subterms

N, C, H, W = Axis("n", 3), Axis("c", 2), Axis("h", 4), Axis("w", 5)
A, B, PER = Input("A", (N, C, H, W)), Input("B", (N, C, H, W)), Input("S", (C,))


def batch(t: Term, *over: Axis) -> Term:
    """A mean over axes as it is read from a program: one sum inside the other, then one over each size."""
    total = t
    for axis in over:
        total = Reduce("sum", axis, total)
    for axis in over:
        total = total * nq.reciprocal(nq.size(axis))
    return total


def held(*terms: Term, stored: tuple[tuple[Axis, ...], ...]) -> Joined:
    """Join terms, and hold each against itself as it was written."""
    found = joined(terms, stored)
    place = np.random.default_rng(0)
    arrays = {
        t.name: place.normal(size=[a.size or 1 for a in t.dims]) for t in subterms(*terms) if isinstance(t, Input)
    }
    new = {t.name: t for t in subterms(*found.terms) if isinstance(t, Input)}
    flat = {name: arrays[name].reshape([a.size or 1 for a in t.dims]) for name, t in new.items()}
    for before, after, dims in zip(terms, found.terms, stored, strict=True):
        order = [a.name for a in dims if a in before.axes]
        old = evaluate(before, arrays, order=order)
        got = evaluate(after, flat, order=[a.name for a in found.order(dims) if a in after.axes])
        np.testing.assert_allclose(got.reshape(old.shape), old, rtol=1e-12)
        assert len(output_order(after)) == got.ndim
    return found


def test_what_is_elementwise_has_one_axis() -> None:
    found = held(nq.relu(A + B), stored=((N, C, H, W),))
    (axis,) = found.terms[0].axes
    assert axis.size == 120 and found.parts == {axis: (N, C, H, W)}


def test_a_channel_of_its_own_keeps_what_is_around_it_apart() -> None:
    found = held(A * PER + B, stored=((N, C, H, W),))
    assert [a.size for a in found.order((N, C, H, W))] == [3, 2, 20]


def test_a_mean_over_both_is_a_mean_over_one() -> None:
    """Sums, sizes and masks: of a batch's statistics the places join, the batch stays."""
    mean = batch(A, N, H, W)
    spread = batch((A - mean) * (A - mean), N, H, W)
    found = held((A - mean) * nq.rsqrt(spread + 1e-5) * PER, mean, stored=((N, C, H, W), (C,)))
    folds = [t for t in subterms(*found.terms) if isinstance(t, Reduce)]
    assert {t.axis.size for t in folds} == {3, 20} and len(folds) == 4
    masked = Reduce("max", W, Reduce("max", H, A, B > 0.0), PER > 0.0)
    assert len([t for t in subterms(*held(masked, stored=((N, C),)).terms) if isinstance(t, Reduce)]) == 1


@pytest.mark.parametrize(
    ("term", "stored"),
    [
        (A + Input("R", (W,)), (N, C, H, W)),  # varies along one
        (nq.softmax(A, W), (N, C, H, W)),  # folded over one
        (A + nq.index(H), (N, C, H, W)),  # speaks of a place along one
        (A + Input("T", (N, C, W, H)), (N, C, H, W)),  # lies the other way round
        (A + B, (N, C, W, H)),  # is stored the other way round
        (nq.cumsum(A, W), (N, C, H, W)),
        (nq.take(A, H, nq.index(Axis("k", 2))), (N, C, Axis("k", 2), W)),
        (Reduce("sum", W, Reduce("max", H, A)), (N, C)),  # folded in two ways
        (Reduce("sum", W, Reduce("sum", H, A) * 2.0), (N, C)),  # something happens between
        (nq.size(H) * A, (N, C, H, W)),
        (A * Reduce("sum", W, Reduce("sum", W, A)), (N, C, H, W)),  # folded twice over one
        # Under a mask that varies along what was folded
        (A * Reduce("sum", H, Reduce("sum", W, A), A > 0.0), (N, C, H, W)),
    ],
    ids=str,
)
def test_what_does_not_stand_together_stays(term: Term, stored: tuple[Axis, ...]) -> None:
    found = held(term, stored=(stored,))
    inside = {part for parts in found.parts.values() for part in parts}
    assert not {H, W} <= inside or nq.size(H) in subterms(term)


def test_the_first_place_along_two_axes_is_none_along_one() -> None:
    found = joined((Reduce("argmax", W, A),), ((N, C, H),))
    assert all(W not in parts for parts in found.parts.values())


def drawn(random: Random) -> tuple[list[Term], list[Axis]]:
    """Draw terms over arrays that hold most of the axes: operators, folds inside folds over whatever axis, masks,
    means, now and then a place.
    """
    axes = [Axis(name, random.choice((1, 2, 3, 4))) for name in "abcd"[: random.choice((2, 3, 4))]]
    first = random.randrange(len(axes))
    terms: list[Term] = [
        Input("X", tuple(axes)),
        Input("Y", tuple(random.choice((axes, axes[first:], axes[: first + 1])))),
    ]
    masks: list[Term] = [Const(True)]

    def folded(monoid: str, term: Term) -> Term:
        return Reduce(monoid, random.choice(axes), term, random.choice(masks) if random.random() < 0.3 else None)

    def averaged(term: Term) -> Term:
        for axis in random.sample(axes, 2):
            term = Reduce("sum", axis, term)
        return term * nq.reciprocal(nq.size(axes[0])) * nq.reciprocal(nq.size(axes[1]))

    def grown(term: Term, other: Term, monoid: str) -> Term:
        kind = random.choice("twice twice twice twice binary binary fold unary mean size place scan".split())
        if kind in ("twice", "fold"):
            return folded(monoid, folded(monoid, term) if kind == "twice" else term)
        if kind in ("binary", "unary"):
            op = random.choice(("add", "mul", "max", "min") if kind == "binary" else ("abs", "neg", "inv"))
            return Map(op, (term, other) if kind == "binary" else (term,))
        if kind == "mean":
            return averaged(term)
        if kind == "size" or random.random() < 0.8:
            return term * Map("real", (Size(random.choice(axes)),))
        return (
            term + Map("real", (Index(random.choice(axes)),))
            if kind == "place"
            else Scan("sum", random.choice(axes), term)
        )

    for _ in range(random.randrange(1, 12)):
        term, other = random.choice(terms[-3:]), random.choice(terms)
        with suppress(NapkinError):
            terms.append(grown(term, other, random.choice(("sum", "max", "prod", "sum"))))
        if random.random() < 0.2:
            masks.append(term < other)
    return [terms[-1], random.choice(terms)], axes


def test_terms_drawn_at_random_keep_their_numbers() -> None:
    """Of most of what is drawn nothing can be joined; whatever is, is held against the term as it was."""
    joins = 0
    for seed in range(300):
        random = Random(seed)
        terms, axes = drawn(random)
        orders = tuple(tuple(a for a in axes if a in t.axes) for t in terms)
        joins += bool(held(*terms, stored=orders).parts)
    assert joins > 60


def window(stride: int, pad: int, dims: tuple[str, ...]) -> Term:
    """A sum over channels and the places of a window, one inside the other, of an image by an array that lies so."""
    axes = {axis.name: axis for axis in (Axis("o", 5), Axis("j", 3), Axis("k", 3), Axis("l", 2))}
    p, q, high, wide = Axis("p", 4), Axis("q", 5), Axis("y", 9), Axis("z", 8)
    places = [Index(at) * stride + Index(axes[tap]) - pad for at, tap in ((p, "k"), (q, "l"))]
    body: Term = Input("X", (N, axes["j"], high, wide))
    for axis, place in zip((high, wide), places, strict=True):
        body = nq.take(body, axis, place)
    inside = [mask for axis, at in zip((high, wide), places, strict=True) for mask in (at >= 0, at < axis.size)]
    kept = nq.where(inside[0] & inside[1] & inside[2] & inside[3], body, 0.0)
    total: Term = kept * Input("W", tuple(axes[name] for name in dims))
    for name in "jkl":
        total = Reduce("sum", axes[name], total)
    return total


@pytest.mark.parametrize("dims", [("o", "j", "k", "l"), ("j", "o", "k", "l"), ("o", "j", "l", "k")], ids="".join)
def test_what_a_product_of_matrices_is_summed_over_is_one_axis(dims: tuple[str, ...]) -> None:
    """Channels and the places of a window, be they side by side in an array or not."""
    term = window(2, 1, dims)
    found = held(term, stored=(output_order(term),))
    sums = [t for t in subterms(*found.terms) if isinstance(t, Reduce)]
    assert len(sums) == (1 if dims[2:] == ("k", "l") else 2) and sums[0].axis.size in (18, 6, 9)


def test_long_rows_and_what_is_no_product_of_matrices_are_summed_one_by_one() -> None:
    long, heads, rows, out = Axis("d", 128), Axis("h", 8), Axis("t", 16), Axis("o", 32)
    wide = Input("X", (heads, rows, long)) * Input("W", (heads, long, out))
    alone = Input("X", (C, H, W)) * Input("W", (C, H))  # what is summed over varies along nothing of its own
    for body, axes in ((wide, (long, heads)), (alone * as_real(Index(H)), (H, C))):
        term = Reduce("sum", axes[1], Reduce("sum", axes[0], body))
        assert not joined((term,), (output_order(term),)).parts


def test_an_array_that_has_not_both_side_by_side_lies_as_its_own_axes_are_joined() -> None:
    term = window(1, 0, ("j", "o", "k", "l"))
    found = joined((term,), (output_order(term),))
    (array,) = [t for t in subterms(*found.terms) if isinstance(t, Input) and t.name == "W"]
    own = next(t for t in subterms(term) if isinstance(t, Input) and t.name == "W")
    assert found.order(own.dims) == array.dims and [axis.size for axis in array.dims] == [3, 5, 6]
