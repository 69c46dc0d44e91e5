"""Means, variances, shares, and where an epsilon stands."""

from napkin_eq.prove.corpus import valid, wrong
from napkin_eq.law import Const, Map, Sum, finite, free, inv, nonneg, pos, size


@wrong
def mean_of_means(a, b, x):
    return Sum(x, a + b) * inv(size(x)), Sum(x, a) * inv(size(x)) + b


@wrong
def variance_by_moments(a, x):
    mean = Sum(x, a) * inv(size(x))
    return Sum(x, (a - mean) * (a - mean)), Sum(x, a * a) - mean * mean


@valid("")
def variance_by_moments_times_the_size(a, x):
    mean = Sum(x, a) * inv(size(x))
    return Sum(x, (a - mean) * (a - mean)), Sum(x, a * a) - size(x) * (mean * mean)


@valid("")
def mean_is_the_balance(a, x):
    mean = Sum(x, a) * inv(size(x))
    return Sum(x, a - mean), Const(0.0), finite(a)


@valid("")
def positive_shares_sum_to_one(a, x):
    return Sum(x, a * inv(Sum(x, a))), Const(1.0), pos(a)


@wrong
def shares_sum_to_one(a, x):
    return Sum(x, a * inv(Sum(x, a))), Const(1.0), nonneg(a)


@wrong
def epsilon_outside_the_root(a):
    return Map("sqrt", (a + 0.5,)), Map("sqrt", (a,)) + 0.5, nonneg(a)


@wrong
def epsilon_outside_the_inverse(a):
    return inv(a + 0.5), inv(a) + 0.5, pos(a)


@wrong
def epsilon_outside_the_mean(a, e, x):
    return (Sum(x, a) + e) * inv(size(x)), Sum(x, a) * inv(size(x)) + e, free(x, e)


@wrong
def mean_by_one_less(a, x):
    return Sum(x, a) * inv(size(x)), Sum(x, a) * inv(size(x) - 1.0)


@wrong
def mean_of_squares_is_the_square(a, x):
    mean = Sum(x, a) * inv(size(x))
    return Sum(x, a * a) * inv(size(x)), mean * mean


@valid("")
def epsilon_in_every_lane_of_a_mean(a, e, x):
    return Sum(x, a) * inv(size(x)) + e, Sum(x, a + e) * inv(size(x)), free(x, e)
