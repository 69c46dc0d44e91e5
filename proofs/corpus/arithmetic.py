"""Sums and products of reals, with the absent value and inv(0) = 0."""

from napkin_eq.prove.corpus import valid, wrong
from napkin_eq.law import ABSENT, Binary, Const, Coordinate, Map, Number, Real, finite, inv, nonzero, where


@wrong
def cancel_without_condition(a):
    return a * inv(a), Const(1.0)


@wrong
def cancel_a_finite_number(a):
    return a * inv(a), Const(1.0), finite(a)


@wrong
def zero_absorbs_everything(a):
    return a * 0.0, Const(0.0)


@wrong
def difference_with_itself(a):
    return a - a, Const(0.0)


@wrong
def sign_is_lost(a, b):
    return -(a + b), -a + b


@wrong
def inverse_of_a_sum(a, b):
    return inv(a + b), inv(a) + inv(b)


@wrong
def products_associate_with_sums(a, b, d):
    return a * (b + d), a * b + d


@wrong
def divide_both_sides(a, b, d):
    return (a * d) * inv(b * d), a * inv(b)


@valid("")
def divide_both_sides_by_what_is_not_zero(a, b, d):
    return (a * d) * inv(b * d), a * inv(b), nonzero(d)


@wrong
def root_of_a_square(a):
    return Map("sqrt", (a * a,)), a


@valid("")
def root_of_a_square_is_the_size(a):
    return Map("sqrt", (a * a,)), Map("abs", (a,))


@wrong
def maximum_of_products(a, b, d):
    return Map("max", (a * d, b * d)), Map("max", (a, b)) * d


@valid("")
def every_pair_commutes(op: Binary, a, b):
    return Map(op, (a, b)), Map(op, (b, a))


@valid("")
def numbers_are_numbers(a, k: Number, i: Coordinate, b: Real):
    return (a + k) + where(i <= i, b, ABSENT), k + (a + b)


@valid("exact")
def maximum_of_signs(a, b):
    return -Map("max", (a, b)), Map("min", (-a, -b)), finite(a), finite(b)


@valid("exact")
def twice_is_a_sum(a):
    return a + a, 2.0 * a


@valid("exact")
def size_of_a_sign(a):
    return Map("abs", (-a,)), Map("abs", (a,))
