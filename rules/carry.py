"""Carrying: a sum of products of differences from running values moves by a step, and can be carried along the stream.

If, as the stream goes on, a reference r becomes r', each factor b - r of a body changes by r - r', so the sum over the
lanes so far changes by sums known before the block: Σ(b - r')·a·w = Σ(b - r)·a·w + (r - r')·Σ a·w. By repetition this
gives products and powers of any length. It holds whatever r is. Where r is the mean, Σ(b - r) is 0 in exact arithmetic;
as computed it is what the mean is off by, times the lanes, and is carried as well: so what the reference is off by
drops out.
"""

from napkin_eq.law import (
    TRUE,
    Acc,
    Online,
    Prev,
    Sum,
    along,
    distinct,
    finite,
    free,
    infer,
    inv,
    law,
    local,
    moves,
    scales,
    settled,
    size,
)


# What is present before the first block as well.


@infer("A sum of present values is present, and 0 over no lanes.")
def settled_sum(a, x):
    return settled(x, Sum(x, a)), finite(a)


@infer("A sum over another axis of values that were present before was present before.")
def settled_over(a, x, y):
    return settled(x, Sum(y, a)), settled(x, a), free(x, a), distinct(x, y)


@infer("A number of lanes is present, and 0 before the first.")
def settled_size(x):
    return settled(x, size(x))


@infer("What is present and stands still was present before.")
def settled_local(a, x):
    return settled(x, a), local(x, a), free(x, a), finite(a)


@infer("A product of values that were present before was present before.")
def settled_mul(a, b, x):
    return settled(x, a * b), settled(x, a), settled(x, b), free(x, a), free(x, b)


@infer("A sum of values that were present before was present before.")
def settled_add(a, b, x):
    return settled(x, a + b), settled(x, a), settled(x, b), free(x, a), free(x, b)


@infer("The inverse of a value that was present before was present before.")
def settled_inv(a, x):
    return settled(x, inv(a)), settled(x, a), free(x, a)


# How sums move. Of a product one difference is looked at after the other: d is the step of its reference.


def _difference(b, r, x):
    """A difference from a running value, of what stands still."""
    return local(x, b), along(x, b), free(x, r), settled(x, r), finite(b)


def _step(r):
    return Prev(r) - r


@infer("A sum of differences from a running value moves by the step of that value for each lane.")
def moves_bare(b, r, x):
    return moves(x, b - r, 1.0, _step(r) * Prev(size(x))), *_difference(b, r, x)


@infer("A sum of products with a difference from a running value moves by its step times the sum of the other factors.")
def moves_weighted(b, r, w, x):
    return moves(x, b - r, w, _step(r) * Prev(Sum(x, w))), *_difference(b, r, x), along(x, w), finite(w)


@infer(
    "A further difference from a running value: its step times the sum of the others, and what they move by beside it."
)
def moves_more(a, b, r, s, t, x):
    others = finite(a), moves(x, a, 1.0, t), moves(x, a, b - r, s)
    return moves(x, (b - r) * a, 1.0, _step(r) * (Prev(Sum(x, a)) + t) + s), *_difference(b, r, x), *others


@infer("A further difference from a running value, with weights.")
def moves_more_weighted(a, b, r, s, t, w, x):
    others = along(x, w), finite(a), finite(w), moves(x, a, w, t), moves(x, a, (b - r) * w, s)
    return moves(x, (b - r) * a, w, _step(r) * (Prev(Sum(x, a * w)) + t) + s), *_difference(b, r, x), *others


# The sums themselves.


@law("A sum that moves by a step is carried along the stream, plus that step.", stage="structure", source="Pébay 2008")
def carry(a, s, x):
    return Sum(x, a), Online(x, a, TRUE, Acc() + s), moves(x, a, 1.0, s), free(x, s), finite(a)


@law("A weighted sum that moves by a step is carried along the stream, plus that step.", stage="structure")
def carry_weighted(a, s, w, x):
    given = moves(x, a, w, s), free(x, s), local(x, w), finite(a), finite(w)
    return Sum(x, a * w), Online(x, a * w, TRUE, Acc() + s), *given


@law(
    "A sum that moves by a step, its weights by a factor, is carried plus that step, times that factor.",
    stage="structure",
)
def carry_scaled(a, r, s, w, x):
    given = moves(x, a, w, s), scales(x, w, r), free(x, s), free(x, r), finite(a), finite(w)
    return Sum(x, a * w), Online(x, a * w, TRUE, (Acc() + s) * r), *given
