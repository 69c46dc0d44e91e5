"""Floors, roundings and quotients of whole numbers inside one another; scales of quantised numbers."""

from napkin_eq.prove.corpus import valid, wrong
from napkin_eq.law import Axis, Const, Coordinate, Index, Map, Size, finite, inv, le, nonneg, nonzero, pos, where


def real(i):
    return Map("real", (i,))


def floor(a):
    return Map("floor", (a,))


def rounded(a):
    return Map("round", (a,))


@valid("")
def floor_of_what_is_whole(a, i: Coordinate):
    return floor(floor(a)) + rounded(rounded(a)) + floor(real(i)), floor(a) + floor(rounded(a)) + rounded(real(i))


@wrong
def floor_of_a_floor_is_the_number(a):
    return floor(floor(a)), a


@valid("")
def whole_numbers_move_out_of_a_floor(a, b, i: Coordinate):
    return floor(a + floor(b) + real(i)), floor(a) + floor(b) + real(i)


@wrong
def halves_move_out_of_a_floor(a):
    return floor(a + 0.5), floor(a) + 0.5


@valid("")
def even_numbers_move_out_of_a_rounding(a, i: Coordinate):
    return rounded(a + real(i + i)), rounded(a) + real(i + i)


@wrong
def whole_numbers_move_out_of_a_rounding(a, b):
    return rounded(a + rounded(b)), rounded(a) + rounded(b)


@valid("")
def rounding_of_an_opposite(a):
    return rounded(-a), -rounded(a)


@wrong
def factor_moves_into_a_floor(a):
    return floor(2.0 * floor(a)), floor(2.0 * a)


@wrong
def half_of_two_floors(a, b):
    return floor((floor(a) + floor(b)) * 0.5), floor((a + b) * 0.5)


@wrong
def floor_over_any_number(a, b):
    return floor(floor(a) * inv(b)), floor(a * inv(b)), pos(b)


@wrong
def floor_over_a_negative_number(a, i: Coordinate):
    return floor(floor(a) * inv(real(i))), floor(a * inv(real(i))), nonzero(i)


@valid("")
def quotients_are_floors(i: Coordinate, j: Coordinate):
    return floor(real(i) * inv(real(j))), real(i // j)


@wrong
def quotient_of_a_quotient_by_any(i: Coordinate, j: Coordinate, k: Coordinate):
    return real((i // j) // k), real(i // (j * k)), nonzero(j), nonzero(k)


@wrong
def remainder_of_a_remainder_by_another(i: Coordinate, j: Coordinate, k: Coordinate):
    return real((i % (j * k)) % k), real(i % j), pos(j), pos(k)


@valid("")
def place_in_a_row(i: Coordinate, x: Axis):
    place = i * Size(x) + Index(x)
    return real((place // Size(x)) * Const(7) + place % Size(x)), real(i * Const(7) + Index(x))


@wrong
def place_beyond_a_row(i: Coordinate, x: Axis):
    return real((i * Size(x) + Index(x) + Const(1)) // Size(x)), real(i)


@wrong
def place_in_a_row_of_any_length(i: Coordinate, j: Coordinate, k: Coordinate):
    return real((i * j + k) // j), real(i + k // j)


@wrong
def blocks_that_cover(i: Coordinate, j: Coordinate):
    return real((i + j) // j), real(-((-i) // j)), pos(j)


@valid("")
def floors_keep_order(a, b):
    return le(floor(a), floor(b)), le(a, b)


@wrong
def floors_rise(a, b):
    return pos(floor(b) - floor(a)), pos(b - a)


@wrong
def remainders_are_not_negative(i: Coordinate, j: Coordinate):
    return nonneg(real(i % j)), nonzero(j)


@valid("")
def quantised_twice(a, b):
    return rounded((rounded(a * inv(b)) * b) * inv(b)), rounded(a * inv(b)), pos(b)


@wrong
def quantised_twice_by_any_scale(i: Coordinate, b):
    return rounded((real(i) * b) * inv(b)), real(i), finite(b)


@valid("")
def error_of_a_quantised_number(a, b):
    return le(Map("abs", (rounded(a * inv(b)) * b - a,)), b * 0.5), pos(b), finite(a)


@wrong
def error_of_a_truncated_number(a, b):
    return le(Map("abs", (floor(a * inv(b)) * b - a,)), b * 0.5), pos(b), finite(a)


@valid("")
def ceiling_by_the_floor(a):
    return -floor(-a), floor(a) + where(Map("lt", (floor(a), a)), Const(1.0), 0.0)


@wrong
def ceiling_is_one_more(a):
    return -floor(-a), floor(a) + 1.0
