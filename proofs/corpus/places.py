"""Values elsewhere: the place of a maximum, what is read there, an axis from its other end, what an index says of what
it reads.
"""

from napkin_eq.law import (
    ABSENT,
    Const,
    Coordinate,
    Index,
    Map,
    Mask,
    Max,
    Read,
    Reduce,
    Scan,
    Size,
    Sum,
    distinct,
    exp,
    finite,
    free,
    inv,
    le,
    nonneg,
    pos,
    size,
    where,
)
from napkin_eq.prove.corpus import valid, wrong


def real(i):
    return Map("real", (i,))


def place(x, a, c=None):
    return Reduce("argmax", x, a, c)


def back(a, x):
    return Read(a, x, Size(x) - 1 - Index(x))


@valid("")
def at_its_place_is_the_maximum(a, x):
    return Read(a, x, place(x, a)), Max(x, a)


@valid("")
def at_the_place_of_the_smallest(a, x):
    return Read(a, x, place(x, -a)), -Max(x, -a), finite(a)


@wrong
def at_the_place_under_a_mask_is_the_maximum_under_it(a, c, x):
    return Read(a, x, place(x, a, c)), Max(x, a, c)


@wrong
def at_the_place_of_the_largest_size(a, x):
    return Read(a, x, place(x, Map("abs", (a,)))), Max(x, Map("abs", (a,)))


@wrong
def at_the_place_of_another(a, b, x):
    return Read(a, x, place(x, b)), Max(x, a)


@valid("")
def place_moved_by_a_number(a, r, x):
    return real(place(x, a + r)), real(place(x, a)), free(x, r), finite(r)


@wrong
def place_moved_lane_by_lane(a, r, x):
    return real(place(x, a + r)), real(place(x, a)), finite(r)


@valid("")
def place_of_a_positive_multiple(a, r, x):
    return real(place(x, a * r)), real(place(x, a)), free(x, r), pos(r)


@wrong
def place_of_a_multiple_that_may_be_zero(a, r, x):
    return real(place(x, a * r)), real(place(x, a)), free(x, r), nonneg(r)


@valid("")
def place_of_exponentials(a, x):
    return real(place(x, exp(a))), real(place(x, a)), finite(a)


@valid("")
def place_of_hyperbolic_tangents(a, x):
    return real(place(x, Map("tanh", (a,)))), real(place(x, a))


@wrong
def place_of_floors(a, x):
    return real(place(x, Map("floor", (a,)))), real(place(x, a)), finite(a)


@wrong
def place_of_squares(a, x):
    return real(place(x, a * a)), real(place(x, a)), finite(a)


@wrong
def place_under_one_mask_more(a, c, x, e: Mask):
    return real(place(x, a, c & e)), real(place(x, a, e))


@valid("")
def place_under_a_mask_is_that_of_what_it_leaves(a, c, x):
    return real(place(x, where(c, a, ABSENT))), real(place(x, a, c))


@wrong
def place_under_a_mask_of_zeros(a, c, x):
    return real(place(x, where(c, a, 0.0))), real(place(x, a, c))


@valid("")
def place_of_shares(a, x):
    shares = exp(a - Max(x, a)) * inv(Sum(x, exp(a - Max(x, a))))
    return real(place(x, shares)), real(place(x, a)), finite(a)


@wrong
def place_from_the_other_end(a, x):
    return size(x) - 1.0 - real(place(x, back(a, x))), real(place(x, a))


@valid("")
def sum_from_the_other_end(a, x):
    return Sum(x, back(a, x)), Sum(x, a)


@valid("")
def maximum_from_the_other_end(a, x):
    return Max(x, back(a, x)), Max(x, a)


@valid("")
def turned_round_twice(a, x):
    return back(back(a, x), x), a


@valid("")
def products_with_what_is_turned_round(a, b, x):
    return Sum(x, back(a, x) * b), Sum(x, a * back(b, x))


@wrong
def one_factor_turned_round(a, b, x):
    return Sum(x, back(a, x) * b), Sum(x, a * b)


@wrong
def turned_round_under_a_mask(a, c, x):
    return Sum(x, back(a, x), c), Sum(x, a, c)


@wrong
def turned_round_one_lane_too_far(a, x):
    return Sum(x, Read(a, x, 0 - Index(x))), Sum(x, a)


@valid("")
def what_one_lane_holds_in_every_lane(a, x, i: Coordinate):
    return Sum(x, Read(a, x, i)), Read(a, x, i) * size(x), free(x, i)


@wrong
def what_any_lane_holds_in_every_lane(a, x, i: Coordinate):
    return Sum(x, Read(a, x, i)), Read(a, x, i) * size(x)


@wrong
def bound_by_a_coordinate_that_is_past_the_end(a, x, i: Coordinate):
    return le(Read(a, x, i), real(i)), le(a, real(Index(x)))


@wrong
def bound_by_an_index_that_is_another_there(a, x, i: Coordinate):
    return le(Read(a, x, i), real(i)), le(a, real(i))


# Sums of what is zero but at one coordinate. Of a coordinate past the ends there is no lane.


def at(i, x):
    return Map("eq", (i, Index(x)))


def within(i, x):
    return Map("and", (Map("le", (Const(0), i)), Map("lt", (i, Size(x)))))


@valid("")
def sum_of_one_lane(a, x, i: Coordinate):
    return Sum(x, where(at(i, x), a, 0.0)), where(within(i, x), Read(a, x, i), 0.0), free(x, i)


@valid("")
def sum_under_a_mask_of_one_lane(a, x, i: Coordinate):
    return Sum(x, a, at(i, x)), where(within(i, x), Read(a, x, i), 0.0), free(x, i)


@valid("")
def maximum_under_a_mask_of_one_lane(a, x, i: Coordinate):
    return Max(x, a, at(i, x)), where(within(i, x), Read(a, x, i), ABSENT), free(x, i)


@valid("")
def product_with_a_row_of_a_diagonal(a, b, x, y):
    there = where(Map("lt", (Index(y), Size(x))), Read(a, x, Index(y)) * Read(b, x, Index(y)), 0.0)
    return Sum(x, where(at(Index(y), x), a, 0.0) * b), there, distinct(x, y), finite(b)


@valid("")
def sum_of_one_lane_more(a, x, i: Coordinate):
    there = where(within(i, x), Read(a, x, i), 0.0)
    return Sum(x, where(at(i, x), a + a, a)), Sum(x, a) + there, free(x, i), finite(a)


@wrong
def sum_of_one_lane_wherever_it_is(a, x, i: Coordinate):
    return Sum(x, where(at(i, x), a, 0.0)), Read(a, x, i), free(x, i)


@wrong
def sum_of_one_lane_not_before_the_first(a, x, i: Coordinate):
    return Sum(x, where(at(i, x), a, 0.0)), where(Map("lt", (i, Size(x))), Read(a, x, i), 0.0), free(x, i)


@wrong
def sum_of_one_lane_in_every_lane(a, x, i: Coordinate):
    return Sum(x, where(at(i, x), a, 0.0)), where(within(i, x), Read(a, x, i), 0.0)


@wrong
def sum_of_the_lane_beside(a, x, i: Coordinate):
    return Sum(x, where(at(i, x), a, 0.0)), where(within(i, x), Read(a, x, i + 1), 0.0), free(x, i)


@wrong
def sum_of_all_lanes_but_one(a, x, i: Coordinate):
    return Sum(x, where(at(i, x), Const(0.0), a)), where(within(i, x), Read(a, x, i), 0.0), free(x, i)


@wrong
def product_with_a_row_of_a_diagonal_of_what_may_be_absent(a, b, x, y):
    there = where(Map("lt", (Index(y), Size(x))), Read(a, x, Index(y)) * Read(b, x, Index(y)), 0.0)
    return Sum(x, where(at(Index(y), x), a, 0.0) * b), there, distinct(x, y)


@wrong
def maximum_of_one_lane_and_zeros(a, x, i: Coordinate):
    return Max(x, where(at(i, x), a, 0.0)), where(within(i, x), Read(a, x, i), 0.0), free(x, i)


# Prefixes at their ends.


@valid("")
def prefix_at_the_last_lane(a, x):
    return Read(Scan("sum", x, a), x, Size(x) - 1), Sum(x, a)


@valid("")
def largest_so_far_at_the_last_lane(a, x):
    return Read(Scan("max", x, a), x, Size(x) - 1), Max(x, a)


@valid("")
def prefix_at_the_first_lane(a, x):
    return Read(Scan("sum", x, a), x, Size(x) - Size(x)), Read(a, x, Size(x) - Size(x))


@wrong
def prefix_at_the_lane_before_the_last(a, x):
    return Read(Scan("sum", x, a), x, Size(x) - 2), Sum(x, a)


@wrong
def prefix_past_the_first_lane(a, x):
    return Read(Scan("sum", x, a), x, Size(x) - Size(x) + 1), Read(a, x, Size(x) - Size(x) + 1)


# Folds of what is read elsewhere.


def in_the_third_lane(a, x, i):
    """Return what is read at a coordinate, from three lanes on, and 0 before."""
    return Sum(x, where(at(Const(2), x), Read(a, x, Const(i)), 0.0))


def third_of_three(one, before, x):
    """Return one number in the third lane and 0 beside it, and another number while there is none."""
    return where(Map("le", (Const(3), Size(x))), where(at(Const(2), x), one, 0.0), before)


@wrong
def what_a_fold_reads_is_the_third_lane_or_the_second(a, x):
    found = in_the_third_lane(a, x, 0)
    return third_of_three((Read(a, x, Const(1)) - found) * (a - found), found, x), Const(0.0), finite(a)


@wrong
def what_a_fold_reads_is_the_third_lane_or_the_first(a, x):
    found = in_the_third_lane(a, x, 1)
    return third_of_three((Read(a, x, Const(0)) - found) * (a - found), found, x), Const(0.0), finite(a)
