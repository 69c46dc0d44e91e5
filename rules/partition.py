"""Partition: a reduction over an axis is the reduction of the reductions over its stretches, tails included.

The stretches are counted by an axis p that a derivation offers; the mask c of stretch(p, x, c) holds on the lanes of x
that belong to stretch p, and on each lane for exactly one p. A stretch may be empty: the last ones, when the axis runs
out.
"""

from napkin_eq.law import ABSENT, Axis, Mask, Max, Reduce, Sum, exp, free, law, stretch, where


@law("A sum is the sum of the sums over the stretches of its axis.", stage="prepare", source="napkin-paper 2.2")
def split_sum(a, c, x, p: Axis):
    return Sum(x, a), Sum(p, Sum(x, where(c, a, 0.0))), stretch(p, x, c), free(p, a)


@law(
    "A maximum is the maximum of the maxima over the stretches of its axis.", stage="prepare", source="napkin-paper 2.2"
)
def split_max(a, c, x, p: Axis):
    return Max(x, a), Max(p, Max(x, where(c, a, ABSENT))), stretch(p, x, c), free(p, a)


@law("A product is the product of the products over the stretches of its axis.", stage="prepare")
def split_prod(a, c, x, p: Axis):
    return Reduce("prod", x, a), Reduce("prod", p, Reduce("prod", x, where(c, a, 1.0))), stretch(p, x, c), free(p, a)


@law("A sum under a mask is the sum of those over the stretches of its axis.", stage="prepare")
def split_masked_sum(a, c, d: Mask, x, p: Axis):
    parts = Sum(p, Sum(x, where(c, where(d, a, 0.0), 0.0)))
    return Sum(x, a, d), parts, stretch(p, x, c), free(p, a), free(p, d)


@law("A maximum under a mask is the maximum of those over the stretches of its axis.", stage="prepare")
def split_masked_max(a, c, d: Mask, x, p: Axis):
    parts = Max(p, Max(x, where(c, where(d, a, ABSENT), ABSENT)))
    return Max(x, a, d), parts, stretch(p, x, c), free(p, a), free(p, d)


@law("Sums over the stretches of an axis of what does not vary along it are a sum over that axis.", stage="cut")
def join_stretches(a, c: Mask, x, p: Axis):
    return Sum(p, Sum(x, where(c, a, 0.0))), Sum(x, a), stretch(p, x, c), free(x, a), free(p, a)


@law("A partial sum of exponentials may be taken relative to its own maximum.", source="napkin-paper 2.4")
def rebase(a, b, m, c: Mask, x, p: Axis):
    part = where(c, a, ABSENT)
    return (
        Sum(x, exp(part - m) * b),
        exp(Max(x, part) - m) * Sum(x, exp(part - Max(x, part)) * b),
        stretch(p, x, c),
        free(x, m),
    )


@law("A partial sum of bare exponentials may be taken relative to its own maximum.", source="napkin-paper 2.4")
def rebase_bare(a, m, c: Mask, x, p: Axis):
    part = where(c, a, ABSENT)
    return Sum(x, exp(part - m)), exp(Max(x, part) - m) * Sum(x, exp(part - Max(x, part))), stretch(p, x, c), free(x, m)
