"""Merging the parts of a split reduction: weights, overlap, gaps, the base of a logarithm."""

from napkin_eq.prove.corpus import valid, wrong
from napkin_eq.law import Const, Map, Mask, Max, Sum, exp, inv, le, log, nonzero, pos, where


@wrong
def parts_with_masks_that_overlap(a, c, x, e: Mask):
    return Sum(x, a), Sum(x, a, c) + Sum(x, a, e), le(1.0, where(c, Const(1.0), 0.0) + where(e, Const(1.0), 0.0))


@wrong
def parts_with_a_gap(a, c, x, e: Mask):
    return Sum(x, a), Sum(x, a, c) + Sum(x, a, e), le(where(c, Const(1.0), 0.0) + where(e, Const(1.0), 0.0), 1.0)


@wrong
def parts_merged_without_weights(a, c, x):
    first, second = Sum(x, exp(a - Max(x, a, c)), c), Sum(x, exp(a - Max(x, a, ~c)), ~c)
    return Sum(x, exp(a - Max(x, a))), first + second


@wrong
def parts_merged_with_each_others_weight(a, b, d, e):
    top = Map("max", (a, b))
    return exp(a - top) * d + exp(b - top) * e, exp(b - top) * d + exp(a - top) * e


@wrong
def one_part_alone_is_weighted(a, b, d, e):
    top = Map("max", (a, b))
    return exp(a - top) * d + exp(b - top) * e, exp(a - top) * d + e


@wrong
def parts_averaged(a, b, d, e):
    return (a + b) * inv(d + e), (a * inv(d) + b * inv(e)) * 0.5, pos(d), pos(e)


@wrong
def logarithms_of_parts_added(a, b):
    return log(exp(a) + exp(b)), a + b


@wrong
def logarithms_of_parts_in_another_base(a, b):
    return log(exp(a) + exp(b)), log(exp(a * 0.6931471805599453) + exp(b * 0.6931471805599453)) * 1.4426950408889634


@wrong
def logarithm_of_parts_is_the_larger(a, b):
    return log(exp(a) + exp(b)), Map("max", (a, b))


@valid("")
def parts_of_a_mask_and_its_opposite(a, c, x):
    return Sum(x, a), Sum(x, a, c) + Sum(x, a, ~c)


@valid("")
def parts_weighted_by_their_sums(a, b, d, e):
    return (a * inv(d) * d + b * inv(e) * e) * inv(d + e), (a + b) * inv(d + e), nonzero(d), nonzero(e)


@valid("")
def logarithm_of_parts_by_the_larger(a, b):
    top = Map("max", (a, b))
    return log(exp(a) + exp(b)), top + log(exp(a - top) + exp(b - top))
