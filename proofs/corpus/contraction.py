"""Contractions: axis, broadcast factor, product of sums, sums and maxima exchanged, a sign under a maximum,
coordinates.
"""

from napkin_eq.prove.corpus import valid, wrong
from napkin_eq.law import Axis, Index, Map, Max, Reduce, Sum, distinct, finite, free, le, size


@wrong
def any_factor_moves_out(a, b, x):
    return Sum(x, a * b), a * Sum(x, b)


@wrong
def summand_moves_out_of_a_sum(a, b, x):
    return Sum(x, a + b), a + Sum(x, b), free(x, a)


@wrong
def factor_moves_out_of_a_masked_sum(a, b, c, x):
    return Sum(x, a * b, c), a * Sum(x, b, c), free(x, a)


@valid("")
def finite_factor_moves_out_of_a_masked_sum(a, b, c, x):
    return Sum(x, a * b, c), a * Sum(x, b, c), free(x, a), finite(a)


@wrong
def sum_of_a_product(a, b, x):
    return Sum(x, a * b), Sum(x, a) * Sum(x, b)


@wrong
def sum_of_squares(a, x):
    return Sum(x, a * a), Sum(x, a) * Sum(x, a)


@wrong
def constant_sum_is_the_constant(a, x):
    return Sum(x, a), a, free(x, a)


@wrong
def sum_and_maximum_swap(a, x, y):
    return Sum(x, Max(y, a)), Max(y, Sum(x, a)), distinct(x, y)


@wrong
def product_of_sums_swaps(a, x, y):
    return Reduce("prod", x, Sum(y, a)), Sum(y, Reduce("prod", x, a)), distinct(x, y)


@wrong
def sign_under_a_maximum(a, x):
    return Max(x, -a), -Max(x, a)


@wrong
def any_factor_moves_out_of_a_maximum(a, b, x):
    return Max(x, a * b), a * Max(x, b), free(x, a)


@wrong
def maximum_of_a_sum(a, b, x):
    return Max(x, a + b), Max(x, a) + Max(x, b)


@wrong
def distinct_axes_forgotten(a, x: Axis, y: Axis):
    return Sum(x, a * Map("real", (Index(y),))), Sum(x, a) * Map("real", (Index(y),))


@wrong
def two_sums_of_a_product(a, b, x, y):
    return Sum(x, Sum(y, a * b)), Sum(x, Sum(y, a)) * Sum(x, Sum(y, b)), distinct(x, y)


@valid("")
def two_sums_of_a_product_apart(a, b, x, y):
    return Sum(x, Sum(y, a * b)), Sum(x, a) * Sum(y, b), distinct(x, y), free(y, a), free(x, b)


@wrong
def few_lanes_have_equal_coordinates(a, x):
    return Max(x, a), a, le(size(x), 2.0)


@wrong
def sum_of_a_size_that_grows(x):
    return Sum(x, size(x)), 0.5 * (size(x) * (size(x) + 1.0))


@valid("")
def sum_of_a_size(x):
    return Sum(x, size(x)), size(x) * size(x)


@wrong
def coordinates_from_one(x):
    return Sum(x, Map("real", (Index(x),))), 0.5 * (size(x) * (size(x) + 1.0))


@valid("")
def coordinates_from_zero(x):
    return Sum(x, Map("real", (Index(x),))), 0.5 * (size(x) * (size(x) - 1.0))


@valid("")
def factor_whose_square_does_not_vary(a, b, x):
    """A square varies where its number is read to, whatever its values: that is what is asked of a term in use."""
    return Sum(x, a * b), b * Sum(x, a), free(x, b * b), finite(a), finite(b)


@valid("")
def factor_that_counts_along_another_axis(a, x, y):
    lane = Map("real", (Index(y),))
    return Sum(x, a * lane), lane * Sum(x, a), free(x, Map("abs", (lane,))), finite(a)


@wrong
def factor_whose_sum_does_not_vary(a, b, x):
    return Sum(x, a * b), b * Sum(x, a), free(x, Sum(x, b)), finite(a), finite(b)
