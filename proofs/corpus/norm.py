"""Normalisation by a root of a sum of squares, pushed through products."""

from napkin_eq.prove.corpus import valid, wrong
from napkin_eq.law import Map, Sum, free, inv, nonzero, size


def normed(a, x):
    return a * inv(Map("sqrt", (Sum(x, a * a),)))


@wrong
def normed_after_the_product(a, b, x):
    return Sum(x, normed(a, x) * b), Sum(x, normed(a * b, x))


@wrong
def normed_by_the_sum_of_sizes(a, x):
    return Map("sqrt", (Sum(x, a * a),)), Sum(x, Map("abs", (a,)))


@wrong
def norms_of_parts_added(a, b, x):
    return Map("sqrt", (Sum(x, a * a + b * b),)), Map("sqrt", (Sum(x, a * a),)) + Map("sqrt", (Sum(x, b * b),))


@wrong
def weighted_before_the_norm(a, b, x):
    return normed(a * b, x), normed(a, x) * b


@wrong
def centred_after_the_product(a, b, x):
    mean = Sum(x, a) * inv(size(x))
    return Sum(x, (a - mean) * b), Sum(x, a * b) - mean


@wrong
def normed_twice(a, x):
    return normed(a, x), normed(a, x) * inv(Map("sqrt", (Sum(x, a * a),)))


@wrong
def norm_of_a_scaled_row(a, b, x):
    return normed(a * b, x), normed(a, x), free(x, b), nonzero(b)


@valid("")
def norm_moves_out_of_a_product(a, b, x):
    return Sum(x, normed(a, x) * b), Sum(x, a * b) * inv(Map("sqrt", (Sum(x, a * a),)))


@valid("")
def centring_moves_out_of_a_product(a, b, d, x):
    return Sum(x, (a - d) * b), Sum(x, a * b) - d * Sum(x, b), free(x, d)
