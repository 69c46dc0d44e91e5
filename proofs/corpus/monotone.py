"""Folds that rise with what they fold or with their mask: sums of what is not negative, maxima, prefixes, and rising
functions of both.
"""

from napkin_eq.law import (
    Const,
    Map,
    Mask,
    Max,
    Scan,
    Sum,
    distinct,
    exp,
    finite,
    free,
    inv,
    le,
    log,
    nonneg,
    pos,
    size,
    where,
)
from napkin_eq.prove.corpus import valid, wrong


def root(a):
    return Map("sqrt", (a,))


@valid("")
def prefix_of_what_is_not_negative_is_below_the_total(a, x):
    return le(Scan("sum", x, a), Sum(x, a)), nonneg(a)


@wrong
def prefix_of_anything_is_below_the_total(a, x):
    return le(Scan("sum", x, a), Sum(x, a)), finite(a)


@wrong
def prefix_is_below_half_the_total(a, x):
    return le(Scan("sum", x, a), 0.5 * Sum(x, a)), nonneg(a)


@wrong
def prefix_is_below_the_total_of_another_axis(a, x, y):
    return le(Scan("sum", x, a), Sum(y, a)), nonneg(a), distinct(x, y)


@valid("")
def prefix_maximum_is_below_the_maximum(a, x):
    return le(Scan("max", x, a), Max(x, a))


@wrong
def prefix_maximum_is_above_the_maximum(a, x):
    return le(Max(x, a), Scan("max", x, a)), finite(a)


@valid("")
def prefix_product_of_what_is_at_least_one_is_below_the_product(a, x):
    return le(Scan("prod", x, a), Scan("prod", x, a) * a), le(1.0, a)


@valid("")
def share_of_a_prefix_is_below_one(a, x):
    return le(Scan("sum", x, a) * inv(Sum(x, a)), 1.0), pos(a)


@wrong
def share_of_a_prefix_is_below_one_of_any_numbers(a, x):
    return le(Scan("sum", x, a) * inv(Sum(x, a)), 1.0), finite(a)


@valid("")
def sum_under_a_mask_is_below_the_sum(a, c, x):
    return le(Sum(x, a, c), Sum(x, a)), nonneg(a)


@wrong
def sum_under_a_mask_of_anything_is_below_the_sum(a, c, x):
    return le(Sum(x, a, c), Sum(x, a)), finite(a)


@valid("")
def sum_under_two_masks_is_below_that_under_one(a, c, x, e: Mask):
    return le(Sum(x, a, c & e), Sum(x, a, c)), nonneg(a)


@wrong
def sum_under_one_mask_is_below_that_under_two(a, c, x, e: Mask):
    return le(Sum(x, a, c), Sum(x, a, c & e)), nonneg(a)


@wrong
def sum_under_one_mask_is_below_that_under_another(a, c, x, e: Mask):
    return le(Sum(x, a, c), Sum(x, a, e)), nonneg(a)


@valid("")
def root_of_a_sum_under_a_mask(a, c, x):
    return le(root(Sum(x, a, c)), root(Sum(x, a))), nonneg(a)


@wrong
def root_of_a_sum_under_a_mask_of_anything(a, c, x):
    return le(root(Sum(x, a, c)), root(Sum(x, a))), finite(a)


@valid("")
def logarithm_of_a_sum_under_a_mask(a, c, x):
    return le(log(Sum(x, exp(a), c)), log(Sum(x, exp(a))))


@valid("")
def masked_log_sum_exp_above_the_maximum_under_it(a, c, x):
    return le(Max(x, a, c), log(Sum(x, exp(a), c)))


@wrong
def masked_log_sum_exp_above_the_maximum(a, c, x):
    return le(Max(x, a), log(Sum(x, exp(a), c)))


@valid("")
def masked_log_sum_exp_below_the_maximum_under_it_and_the_count(a, c, x):
    return le(log(Sum(x, exp(a), c)), Max(x, a, c) + log(Sum(x, where(c, Const(1.0), 0.0))))


@valid("")
def masked_log_sum_exp_below_the_maximum_and_the_size(a, c, x):
    return le(log(Sum(x, exp(a), c)), Max(x, a) + log(size(x)))


@wrong
def log_sum_exp_below_the_maximum_and_the_count_under_a_mask(a, c, x):
    return le(log(Sum(x, exp(a))), Max(x, a) + log(Sum(x, where(c, Const(1.0), 0.0))))


@wrong
def log_sum_exp_below_the_maximum_under_a_mask_and_the_size(a, c, x):
    return le(log(Sum(x, exp(a))), Max(x, a, c) + log(size(x)))


@valid("")
def maximum_under_a_mask_is_below_the_maximum(a, c, x):
    return le(Max(x, a, c), Max(x, a))


@valid("")
def sum_rises_lane_by_lane(a, b, x):
    return le(Sum(x, a), Sum(x, b)), le(a, b)


@wrong
def sum_rises_under_another_mask(a, b, c, x):
    return le(Sum(x, a), Sum(x, b, c)), le(a, b)


@valid("")
def sum_of_products_rises(a, b, w, x):
    return le(Sum(x, w * a), Sum(x, w * b)), le(a, b), nonneg(w), finite(a)


@wrong
def sum_of_products_of_any_weights_rises(a, b, w, x):
    return le(Sum(x, w * a), Sum(x, w * b)), le(a, b), finite(w), finite(a)


@valid("")
def exponential_of_a_prefix_rises(a, b, x):
    return le(exp(Scan("sum", x, a)), exp(Scan("sum", x, b))), le(a, b)


@wrong
def exponential_of_minus_a_prefix_rises(a, b, x):
    return le(exp(-Scan("sum", x, a)), exp(-Scan("sum", x, b))), le(a, b), finite(a)


@valid("")
def sums_over_two_axes_below_without_a_mask(a, b, c, x, y):
    return le(Sum(y, Sum(x, a * b, c)), Sum(y, Sum(x, a * b))), nonneg(a), nonneg(b)


@wrong
def sums_over_two_axes_of_any_sign_below_without_a_mask(a, b, c, x, y):
    return le(Sum(y, Sum(x, a * b, c)), Sum(y, Sum(x, a * b))), nonneg(a), finite(b)


@valid("")
def square_root_of_squares_is_below_sizes(a, x):
    return le(root(Sum(x, a * a)), Sum(x, Map("abs", (a,)))), finite(a)


@wrong
def sizes_are_below_the_square_root_of_squares(a, x):
    return le(Sum(x, Map("abs", (a,))), root(Sum(x, a * a))), finite(a)


@valid("")
def sum_is_below_the_size_times_the_maximum(a, x):
    return le(Sum(x, a), size(x) * Max(x, a)), finite(a)


@wrong
def sum_under_a_mask_is_below_the_size_times_the_maximum(a, c, x):
    return le(Sum(x, a, c), size(x) * Max(x, a)), finite(a)


@wrong
def softmax_under_a_mask_is_below_that_of_all(a, c, x):
    return le(where(c, exp(a) * inv(Sum(x, exp(a), c)), 0.0), exp(a) * inv(Sum(x, exp(a)))), finite(a)


@valid("")
def weighted_sum_by_the_largest_weight(a, w, r, x):
    return le(Sum(x, w * a), r * Sum(x, a)), le(w, r), nonneg(a), free(x, r), finite(w)


@wrong
def weighted_sum_by_the_largest_weight_of_any_sign(a, w, r, x):
    return le(Sum(x, w * a), r * Sum(x, a)), le(w, r), finite(a), free(x, r), finite(w)
