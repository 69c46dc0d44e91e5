"""Means of exponentials and logarithms against those of means (Jensen), log-sum-exp against the maximum, sums of
products against those of squares.
"""

from napkin_eq.law import Map, Max, Sum, distinct, exp, finite, inv, le, log, nonneg, pos, size
from napkin_eq.prove.corpus import valid, wrong


def mean(x, a):
    return Sum(x, a) * inv(size(x))


@valid("")
def log_sum_exp_is_below_its_maximum_and_the_size(a, x):
    return le(log(Sum(x, exp(a))), Max(x, a) + log(size(x)))


@wrong
def log_sum_exp_is_below_its_maximum(a, x):
    return le(log(Sum(x, exp(a))), Max(x, a)), finite(a)


@wrong
def log_sum_exp_by_the_size_of_another_axis(a, x, y):
    return le(log(Sum(x, exp(a))), Max(x, a) + log(size(y))), distinct(x, y)


@valid("")
def exponential_of_a_mean(a, x):
    return le(exp(mean(x, a)), mean(x, exp(a))), finite(a)


@wrong
def mean_of_exponentials(a, x):
    return le(mean(x, exp(a)), exp(mean(x, a))), finite(a)


@wrong
def exponential_of_a_sum(a, x):
    return le(exp(Sum(x, a)), Sum(x, exp(a))), finite(a)


@valid("")
def mean_of_logarithms(a, x):
    return le(mean(x, log(a)), log(mean(x, a))), pos(a)


@wrong
def logarithm_of_a_mean(a, x):
    return le(log(mean(x, a)), mean(x, log(a))), pos(a)


@valid("")
def products_below_squares_whatever_is_absent(a, b, x):
    return le(Sum(x, a * b) * Sum(x, a * b), Sum(x, a * a) * Sum(x, b * b))


@wrong
def squares_below_products(a, b, x):
    return le(Sum(x, a * a) * Sum(x, b * b), Sum(x, a * b) * Sum(x, a * b))


@wrong
def products_under_a_mask_below_squares_under_its_opposite(a, b, c, x):
    return le(Sum(x, a * b, c) * Sum(x, a * b, c), Sum(x, a * a, c) * Sum(x, b * b, ~c))


@wrong
def products_below_what_may_be_absent(a, b, x):
    return le(Sum(x, a * a) * 0.0, Sum(x, a * b) * Sum(x, a * b))


@wrong
def root_of_a_sum_below_half_the_roots(a, x):
    return le(Map("sqrt", (Sum(x, a),)), 0.5 * Sum(x, Map("sqrt", (a,)))), nonneg(a)
