"""Whole numbers, floors and coordinates: division by zero, signs of remainders, axes that are one, sizes."""

from napkin_eq.prove.corpus import valid, wrong
from napkin_eq.law import Axis, Const, Coordinate, Index, Map, Max, Size, Sum, nonneg, nonzero, pos, size, where


def real(i):
    return Map("real", (i,))


def floor(a):
    return Map("floor", (a,))


@wrong
def quotient_and_remainder_of_any_divisor(i: Coordinate, j: Coordinate):
    return real((i // j) * j + i % j), real(i), nonneg(j)


@valid("")
def quotient_and_remainder(i: Coordinate, j: Coordinate):
    return real((i // j) * j + i % j), real(i), nonzero(j)


@wrong
def quotient_of_any_quotient(i: Coordinate, j: Coordinate, k: Coordinate):
    return real((i // j) // k), real(i // (j * k))


@wrong
def quotient_of_an_opposite(i: Coordinate, j: Coordinate):
    return real((-i) // j), real(-(i // j)), pos(j)


@wrong
def remainder_by_an_opposite(i: Coordinate, j: Coordinate):
    return real(i % j), real(i % (-j)), nonzero(j)


@wrong
def remainder_of_a_sum(i: Coordinate, j: Coordinate, k: Coordinate):
    return real((i + k) % j), real(i % j + k % j), pos(j)


@wrong
def half_of_twice_and_a_remainder(i: Coordinate):
    return real((i + i) // Const(2) + i % Const(2)), real(i)


@wrong
def floor_of_a_sum(a, b):
    return floor(a + b), floor(a) + floor(b)


@wrong
def floor_of_an_opposite(a):
    return floor(-a), -floor(a)


@wrong
def half_rounds_to_even(a):
    return Map("round", (a,)), floor(a + 0.5)


@wrong
def coordinates_off_their_mean(x: Axis, y: Axis, z: Axis):
    return (Sum(y, real(Index(x))) - real(Index(x)) * size(y)) * (
        Sum(z, real(Index(y))) - real(Index(y)) * size(z)
    ), Const(0.0)


@wrong
def coordinate_of_another_axis(x, y):
    return Sum(x, real(Index(y))), real(Index(y)) * size(x)


@wrong
def coordinates_from_one(x):
    return Sum(x, real(Index(x))), size(x) * (size(x) + 1.0) * 0.5


@valid("")
def coordinates_from_zero(x):
    return Sum(x, real(Index(x))), size(x) * (size(x) - 1.0) * 0.5


@valid("")
def every_coordinate_is_less_than_the_size(a, x):
    return Sum(x, a, Index(x) < Size(x)), Sum(x, a)


@wrong
def last_lane_left_out(a, x):
    return Sum(x, a, Index(x) < Size(x)), Sum(x, a, Index(x) + Const(1) < Size(x))


@wrong
def size_of_another_axis(a, x, y):
    return Sum(x, a, Index(x) < Size(y)), Sum(x, a)


@wrong
def maximum_moved_by_the_size(a, x):
    return Max(x, a + real(Index(x))), Max(x, a) + size(x)


@valid("")
def up_to_is_before_the_next(i: Coordinate, j: Coordinate):
    return where(Map("le", (i, j)), Const(1.0), 0.0), where(Map("lt", (i - j, Const(1))), Const(1.0), 0.0)


@wrong
def up_to_is_before(i: Coordinate, j: Coordinate):
    return where(Map("le", (i, j)), Const(1.0), 0.0), where(Map("lt", (i, j)), Const(1.0), 0.0)


@wrong
def up_to_is_before_the_next_of_numbers(a, b):
    return where(Map("le", (a, b)), Const(1.0), 0.0), where(Map("lt", (a - b, Const(1.0))), Const(1.0), 0.0)
