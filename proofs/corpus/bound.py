"""Bounds: of coordinates, of exponentials and logarithms by their tangents, of shares of a sum; functions of opposite
numbers.
"""

from napkin_eq.prove.corpus import valid, wrong
from napkin_eq.law import (
    Axis,
    Const,
    Coordinate,
    Index,
    Map,
    Max,
    Sum,
    distinct,
    exp,
    finite,
    inv,
    le,
    log,
    nonneg,
    pos,
    size,
    where,
)


def real(i):
    return Map("real", (i,))


def erf(a):
    return Map("erf", (a,))


def gelu(a):
    return a * (0.5 * (1.0 + erf(a)))


@valid("")
def coordinates_are_not_negative(x: Axis):
    return nonneg(real(Index(x)))


@wrong
def coordinates_are_positive(x: Axis):
    return pos(real(Index(x)))


@wrong
def any_whole_number_is_not_negative(i: Coordinate):
    return nonneg(real(i))


@wrong
def later_than_another_axis(x: Axis, y: Axis):
    return nonneg(real(Index(x)) - real(Index(y)))


@valid("")
def places_in_rows_are_inside(x: Axis, y: Axis):
    return le(real(Index(x)) * size(y) + real(Index(y)), size(x) * size(y) - 1.0)


@wrong
def places_in_columns_are_inside(x: Axis, y: Axis):
    return le(real(Index(x)) * size(x) + real(Index(y)), size(x) * size(y) - 1.0), distinct(x, y)


@valid("")
def all_lanes_from_the_first(a, x):
    return Sum(x, a, Const(0) <= Index(x)), Sum(x, a)


@wrong
def all_lanes_after_the_first(a, x):
    return Sum(x, a, Const(0) < Index(x)), Sum(x, a)


@valid("")
def exponential_above_its_tangent(a):
    return le(1.0 + a, exp(a))


@wrong
def exponential_above_its_parabola(a):
    return le(1.0 + a + a * a * 0.5, exp(a)), finite(a)


@valid("")
def logarithm_below_its_tangent(a):
    return le(log(a), a - 1.0), pos(a)


@wrong
def logarithm_above_its_tangent(a):
    return le(a - 1.0, log(a)), pos(a)


@valid("")
def maximum_below_the_logarithm_of_a_sum(a, x):
    return le(Max(x, a), log(Sum(x, exp(a))))


@wrong
def maximum_above_the_logarithm_of_a_sum(a, x):
    return le(log(Sum(x, exp(a))), Max(x, a))


@valid("")
def shares_are_at_most_one(a, x):
    return le(exp(a) * inv(Sum(x, exp(a))), 1.0)


@wrong
def shares_are_less_than_one(a, x):
    return pos(1.0 - exp(a) * inv(Sum(x, exp(a))))


@wrong
def shares_of_any_numbers(a, x):
    return le(a * inv(Sum(x, a)), 1.0), finite(a)


@valid("")
def sizes_over_the_largest(a, x):
    return le(Map("abs", (a,)) * inv(Max(x, Map("abs", (a,)))), 1.0)


@wrong
def numbers_over_the_largest(a, x):
    return le(a * inv(Max(x, a)), 1.0), finite(a)


@wrong
def shares_of_nothing_make_one(a, x):
    return Sum(x, exp(a) * inv(Sum(x, exp(a)))), Sum(x, exp(a) * 0.0) + 1.0


@wrong
def shares_in_a_mask_make_one(a, c, x):
    return Sum(x, exp(a) * inv(Sum(x, exp(a), c)), c), Sum(x, inv(size(x)) * 1.0), finite(a)


@wrong
def shares_of_zeros_make_one(a, x):
    return Sum(x, a * inv(Sum(x, a))), Sum(x, inv(size(x)) * 1.0), nonneg(a)


@valid("")
def error_function_of_an_opposite(a):
    return gelu(a) - gelu(-a), a, finite(a)


@wrong
def error_function_of_an_absent_opposite(a):
    return erf(-a), -erf(a)


@wrong
def error_function_is_a_tangent(a):
    return erf(a), Map("tanh", (a,))


@valid("")
def error_function_rises(a, b):
    return le(erf(a), erf(b)), le(a, b)


@valid("")
def logistic_by_a_tangent_of_half(a):
    return Map("sigmoid", (a,)), 0.5 * (1.0 + Map("tanh", (a * 0.5,)))


@wrong
def logistic_by_a_tangent(a):
    return Map("sigmoid", (a,)), 0.5 * (1.0 + Map("tanh", (a,)))


@valid("")
def compared_by_the_exponential_of_a_logarithm(a, b):
    return where(a <= b, b, 0.0), where(exp(log(a)) <= b, b, 0.0), nonneg(a)


@wrong
def compared_the_other_way(a, b):
    return where(a <= b, b, 0.0), where(exp(log(a)) < b, b, 0.0), nonneg(a)


@valid("")
def squares_about_a_mean_are_not_negative(a, x):
    mean = Sum(x, a) * inv(size(x))
    return nonneg(Sum(x, (a - mean) * (a - mean))), finite(a)


@wrong
def squares_about_a_mean_are_positive(a, x):
    mean = Sum(x, a) * inv(size(x))
    return pos(Sum(x, (a - mean) * (a - mean))), finite(a)


@valid("")
def length_of_what_was_divided_by_it(a, x):
    part = a * inv(Map("sqrt", (Sum(x, a * a),)))
    return Sum(x, part * part), Sum(x, a * a) * inv(Sum(x, a * a))


@wrong
def length_of_nothing_divided_by_it(a, x):
    part = a * inv(Map("sqrt", (Sum(x, a * a),)))
    return Sum(x, part * part), Sum(x, inv(size(x)) * 1.0), finite(a)


@valid("")
def tangents_are_below_what_is_not_negative(a, b):
    return le(Map("tanh", (a,)) + Map("sin", (b,)), a + b), nonneg(a), nonneg(b)


@valid("")
def squares_of_tangents_are_below_those_of_what_they_are_of(a, x):
    return le(Sum(x, Map("tanh", (a,)) * Map("tanh", (a,))), Sum(x, a * a)), finite(a)


@wrong
def tangents_are_below_what_is_negative(a):
    return le(Map("tanh", (a,)), a), finite(a)
