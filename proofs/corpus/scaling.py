"""A scale applied twice, afterwards, or moved where it does not belong."""

from napkin_eq.prove.corpus import valid, wrong
from napkin_eq.law import Map, Sum, exp, free, inv, log, nonneg, pos


@wrong
def scaled_twice(a, b, d, x):
    return Sum(x, (d * a) * (d * b)), d * Sum(x, a * b), free(x, d)


@wrong
def exponential_scaled_afterwards(a, d):
    return exp(d * a), d * exp(a)


@wrong
def sum_of_exponentials_scaled_afterwards(a, d, x):
    return Sum(x, exp(d * a)), Sum(x, exp(a)) * exp(d), free(x, d)


@wrong
def root_scaled_by_the_whole_factor(a, d):
    return Map("sqrt", (d * a,)), d * Map("sqrt", (a,)), nonneg(a), nonneg(d)


@wrong
def scaled_by_the_inverse(a, d, x):
    return Sum(x, a * d), Sum(x, a) * inv(d), free(x, d)


@wrong
def scale_moves_out_of_a_logarithm(a, d):
    return log(d * a), d * log(a), pos(d), pos(a)


@wrong
def scale_that_varies_moves_out(a, b, d, x):
    return Sum(x, (d * a) * b), d * Sum(x, a * b)


@valid("")
def scaled_once_outside(a, b, d, x):
    return Sum(x, (d * a) * b), d * Sum(x, a * b), free(x, d)


@valid("")
def root_scaled_by_the_root(a, d):
    return Map("sqrt", ((d * d) * a,)), d * Map("sqrt", (a,)), nonneg(a), nonneg(d)
