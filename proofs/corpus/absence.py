"""What is absent, empty or zero where a law forgets that it may be."""

from napkin_eq.prove.corpus import valid, wrong
from napkin_eq.law import (
    ABSENT, Axis, Const, Map, Mask, Max, Prev, Sum, exp, finite, free, inv, le, local, log, nonneg, nonzero, pos, size,
    stretch, where, zero,
)  # fmt: skip


@wrong
def sum_without_the_other_lanes(a, c, x):
    return Sum(x, a, c), Sum(x, a) - Sum(x, a, ~c)


@wrong
def exponential_of_a_maximum_of_no_lanes(a, c, x):
    return exp(Max(x, a, c)), Max(x, exp(a), c)


@wrong
def maximum_of_zeros_elsewhere(a, c, x):
    return Max(x, where(c, a, 0.0)), Max(x, a, c)


@wrong
def absent_weights(a, b, c, x):
    return Sum(x, where(c, a, ABSENT) * b), Sum(x, a * b, c)


@wrong
def tangent_by_exponentials(a):
    return Map("tanh", (a,)), (exp(a) - exp(-a)) * inv(exp(a) + exp(-a))


@wrong
def logistic_values_add_up(a):
    return Map("sigmoid", (a,)) + Map("sigmoid", (-a,)), Const(1.0)


@wrong
def logarithm_of_a_square(a):
    return log(a * a), log(a) + log(a)


@wrong
def logarithm_undone_of_any_sum(a, x):
    return exp(log(Sum(x, a))), Sum(x, a), finite(a)


@wrong
def weight_that_may_be_zero(a, b, r, x):
    return (
        inv(Sum(x, exp(a) * r)) * Sum(x, exp(a) * r * b),
        inv(Sum(x, exp(a))) * Sum(x, exp(a) * b),
        free(x, r),
        finite(r),
    )


@valid("")
def weight_that_is_not_zero(a, b, r, x):
    return (
        inv(Sum(x, exp(a) * r)) * Sum(x, exp(a) * r * b),
        inv(Sum(x, exp(a))) * Sum(x, exp(a) * b),
        free(x, r),
        nonzero(r),
    )


@wrong
def share_of_each_stretch(a, c: Mask, x, p: Axis):
    return Sum(p, inv(Sum(x, exp(a), c)) * Sum(x, exp(a), c)), size(p), stretch(p, x, c), free(p, a), finite(a)


@wrong
def squares_of_stretches(a, c: Mask, x, p: Axis):
    return Sum(p, Sum(x, a, c) * Sum(x, a, c)), Sum(x, a) * Sum(x, a), stretch(p, x, c), free(p, a)


@wrong
def lanes_under_either_mask(a, c, x, e: Mask):
    return Sum(x, a, c | e), Sum(x, a, c) + Sum(x, a, e)


@valid("")
def lanes_under_either_mask_once(a, c, x, e: Mask):
    return Sum(x, a, c | e), Sum(x, a, c) + Sum(x, a, e & ~c)


@wrong
def running_sum_never_falls(a, x):
    return le(Prev(Sum(x, a)), Sum(x, a)), local(x, a), finite(a)


@wrong
def sum_of_zeros_under_a_mask_along_it(a, c, x):
    return zero(c, Sum(x, a)), zero(c, a)


@wrong
def product_of_maxima(a, b, x):
    return Max(x, a * b), Max(x, a) * Max(x, b), nonneg(a), nonneg(b)


@wrong
def sum_of_products_is_positive(a, b, x):
    return pos(Sum(x, a * b)), pos(Sum(x, a)), pos(Sum(x, b))
