"""Masks: what they are filled with, in which order they apply, where they begin, and renormalisation."""

from napkin_eq.prove.corpus import valid, wrong
from napkin_eq.law import (
    ABSENT, Axis, Const, Coordinate, Index, Map, Mask, Max, Reduce, Size, Sum, absent, distinct, exp, finite, free, inv,
    nonneg, pos, where, zero,
)  # fmt: skip


@wrong
def mask_the_wrong_way(a, b, c, e: Mask):
    return where(c, where(e, a, b), b), where(c | e, a, b)


@wrong
def maximum_leaves_out_zeros(a, c, x):
    return Max(x, a), Max(x, a, c), zero(c, a)


@wrong
def sum_leaves_out_absent_lanes(a, c, x):
    return Sum(x, a), Sum(x, a, c), absent(c, a)


@wrong
def maximum_leaves_out_any_lane(a, c, x):
    return Max(x, a), Max(x, a, c)


@wrong
def zero_times_anything(a, b, c):
    return zero(c, a * b), zero(c, a)


@wrong
def sum_of_zeros_under_a_moving_mask(a, c, y):
    return zero(c, Sum(y, a)), zero(c, a)


@wrong
def exponential_of_zero_is_zero(a, c):
    return zero(c, exp(a)), zero(c, a)


@wrong
def masked_to_zero_is_absent(a, c):
    return absent(c, where(c, a, 0.0))


@wrong
def finite_sentinel_in_a_masked_row(a, c, x):
    filled = where(c, a, -10000.0)
    return Sum(x, exp(a - Max(x, a, c)), c), Sum(x, exp(filled - Max(x, filled)))


@wrong
def small_sentinel_is_absent(a, c, x):
    return Sum(x, exp(a), c), Sum(x, exp(where(c, a, -4.0)))


@wrong
def masked_after_the_shares_are_taken(a, c, x):
    return where(c, a * inv(Sum(x, a)), 0.0), where(c, a * inv(Sum(x, a, c)), 0.0), pos(a)


@wrong
def off_by_one(a, x, q: Axis):
    return Sum(x, a, Index(x) <= Index(q)), Sum(x, a, Index(x) < Index(q))


@wrong
def anchored_at_the_other_corner(a, x, q: Axis):
    return Sum(x, a, Index(x) <= Index(q)), Sum(x, a, Index(x) + Size(q) <= Index(q) + Size(x)), distinct(x, q)


@wrong
def window_with_its_edge(a, x, q: Axis, i: Coordinate):
    return Sum(x, a, Index(q) < Index(x) + i), Sum(x, a, Index(q) <= Index(x) + i)


@wrong
def neither_is_not_both(a, b, c, e: Mask):
    return where(~(c & e), a, b), where(~c & ~e, a, b)


@wrong
def maxima_under_either_mask(a, c, x, e: Mask):
    return Max(x, a, c & e), Map("min", (Max(x, a, c), Max(x, a, e)))


@valid("")
def maximum_under_both_masks(a, c, x, e: Mask):
    return Max(x, a, c & e), Max(x, where(e, a, ABSENT), c)


@valid("exact")
def not_both_is_one_not(a, b, c, e: Mask):
    return where(~(c & e), a, b), where(~c | ~e, a, b)


def somewhere(c, x):
    return pos(Sum(x, where(c, Const(1.0), 0.0)))


@wrong
def maximum_of_some_lanes_is_present(a, c, x):
    return finite(Max(x, a, c)), somewhere(c, x)


@wrong
def factor_of_lanes_that_another_mask_keeps(a, b, c, x, e: Mask):
    return Sum(x, a * b, c), a * Sum(x, b, c), free(x, a), somewhere(e, x)


@wrong
def product_of_some_lanes_is_positive(a, c, x):
    return pos(Reduce("prod", x, a, c)), nonneg(a), somewhere(c, x)


@valid("")
def maximum_of_some_present_lanes_is_present(a, c, x):
    return finite(Max(x, a, c)), finite(a), somewhere(c, x)


@valid("")
def factor_moves_out_of_a_sum_over_some_lanes(a, b, c, x):
    return Sum(x, a * b, c), a * Sum(x, b, c), free(x, a), somewhere(c, x)


@valid("")
def sum_of_some_exponentials_is_positive(a, c, x):
    return pos(Sum(x, exp(a), c)), finite(a), somewhere(c, x)
