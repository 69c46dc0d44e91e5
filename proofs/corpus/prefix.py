"""Prefix folds and recurrences: inside folds over their own axis, over other axes, of what does not vary."""

from napkin_eq.prove.corpus import valid, wrong
from napkin_eq.law import (
    Const,
    Index,
    Map,
    Max,
    Recur,
    Reduce,
    Scan,
    Sum,
    distinct,
    exp,
    finite,
    free,
    inv,
    le,
    nonneg,
    nonzero,
    size,
)


@wrong
def sum_of_the_prefixes_of_a_constant(a, x):
    return Sum(x, Scan("sum", x, a)), size(x) * Scan("sum", x, a), free(x, a)


@wrong
def sum_of_prefixes_over_any_axis(a, x, y):
    return Sum(y, Scan("sum", x, a)), Scan("sum", x, Sum(y, a))


@valid("")
def sum_of_prefixes_over_another_axis(a, x, y):
    return Sum(y, Scan("sum", x, a)), Scan("sum", x, Sum(y, a)), distinct(x, y)


@wrong
def sum_of_prefix_products_of_a_constant(a, x):
    return Sum(x, Scan("prod", x, a)), size(x) * Scan("prod", x, a), free(x, a)


@wrong
def any_factor_moves_out_of_a_prefix(a, b, x):
    return Scan("sum", x, a * b), a * Scan("sum", x, b)


@valid("")
def fixed_factor_moves_out_of_a_prefix(a, b, x):
    return Scan("sum", x, a * b), a * Scan("sum", x, b), free(x, a)


@wrong
def prefix_is_the_whole(b, x):
    return Recur(x, Const(1.0), b), Sum(x, b)


@wrong
def prefix_of_anything_is_no_less(a, x):
    return le(a, Scan("sum", x, a)), finite(a)


@wrong
def recurrence_of_any_gain_is_not_negative(a, b, x):
    return nonneg(Recur(x, a, b)), nonneg(b), finite(a)


@wrong
def gain_moves_out_of_a_recurrence(a, f, x):
    return Recur(x, f * a, f * a), f * Recur(x, a, a), free(x, f)


@valid("")
def weights_of_a_gate_add_up(a, x):
    return Recur(x, a, 1.0 - a), 1.0 - Scan("prod", x, a)


@wrong
def gains_are_taken_in_any_order(a, b, d, x):
    return Recur(x, a, Recur(x, b, d)), Recur(x, b, Recur(x, a, d))


@wrong
def recurrence_rises_with_its_gain(a, b, d, x):
    return le(Recur(x, a, b), Recur(x, d, b)), le(a, d), nonneg(b)


@wrong
def maximum_moves_into_a_recurrence(a, b, x, y):
    return Max(y, Recur(x, a, b)), Recur(x, a, Max(y, b)), free(y, a), finite(a), distinct(x, y)


@wrong
def recurrence_of_opposite_gains(a, b, x):
    return Recur(x, -a, b), -Recur(x, a, -b)


@valid("")
def recurrence_without_gain_is_its_part(b, x):
    return Recur(x, Const(0.0), b), b, finite(b)


@wrong
def recurrence_without_gain_is_its_part_if_absent(b, x):
    return Recur(x, Const(0.0), b), b * 1.0


@valid("")
def recurrence_by_the_products_of_its_gains(a, b, x):
    gains = Scan("prod", x, a)
    return Recur(x, a, b), gains * Scan("sum", x, b * inv(gains)), nonzero(a), finite(b)


@wrong
def recurrence_by_products_that_may_be_zero(a, b, x):
    gains = Scan("prod", x, a)
    return Recur(x, a, b), gains * Scan("sum", x, b * inv(gains)), finite(a), finite(b)


@valid("")
def recurrence_of_small_gains_is_below_the_running_sum(a, b, x):
    return le(Recur(x, a, b), Scan("sum", x, b)), nonneg(a), le(a, 1.0), nonneg(b)


@wrong
def recurrence_of_any_parts_is_below_the_running_sum(a, b, x):
    return le(Recur(x, a, b), Scan("sum", x, b)), nonneg(a), le(a, 1.0), finite(b)


@valid("")
def recurrence_of_parts_that_are_not_negative_rises_with_its_gain(a, b, d, x):
    return le(Recur(x, a, b), Recur(x, d, b)), nonneg(a), le(a, d), nonneg(b)


@valid("")
def running_sum_by_the_lane(a, x):
    return le(Scan("sum", x, a), Map("real", (Index(x) + Const(1),))), le(a, 1.0)


@wrong
def running_sum_by_the_lane_before(a, x):
    return le(Scan("sum", x, a), Map("real", (Index(x),))), le(a, 1.0)


@valid("")
def part_is_below_the_running_maximum(a, x):
    return le(a, Scan("max", x, a))


@wrong
def part_is_above_the_running_maximum(a, x):
    return le(Scan("max", x, a), a), finite(a)


@valid("")
def largest_running_maximum(a, x):
    return Max(x, Scan("max", x, a)), Max(x, a)


@valid("")
def largest_running_sum_of_what_is_not_negative(a, x):
    return Max(x, Scan("sum", x, a)), Sum(x, a), nonneg(a)


@valid("")
def sum_of_running_sums(a, x):
    return Sum(x, Scan("sum", x, a)), size(x) * Sum(x, a) - Sum(x, Map("real", (Index(x),)) * a), finite(a)


@valid("")
def summation_by_parts(a, b, x):
    both = Sum(x, Scan("sum", x, a) * b + a * Scan("sum", x, b))
    return both, Sum(x, a) * Sum(x, b) + Sum(x, a * b), finite(a), finite(b)


@valid("")
def running_sums_are_below_the_sum_in_every_lane(a, x):
    return le(Sum(x, Scan("sum", x, a)), size(x) * Sum(x, a)), nonneg(a)


@valid("")
def sum_is_below_that_of_running_maxima(a, x):
    return le(Sum(x, a), Sum(x, Scan("max", x, a))), finite(a)


@wrong
def largest_running_sum_is_the_largest_part(a, x):
    return Max(x, Scan("sum", x, a)), Max(x, a), nonneg(a)


@wrong
def largest_running_sum_of_any_numbers(a, x):
    return Max(x, Scan("sum", x, a)), Sum(x, a), finite(a)


@wrong
def sum_of_running_sums_is_as_many_sums(a, x):
    return Sum(x, Scan("sum", x, a)), size(x) * Sum(x, a), finite(a)


@wrong
def summation_by_parts_without_the_diagonal(a, b, x):
    return Sum(x, Scan("sum", x, a) * b + a * Scan("sum", x, b)), Sum(x, a) * Sum(x, b), finite(a), finite(b)


@wrong
def sum_of_running_maxima_is_as_many_maxima(a, x):
    return Sum(x, Scan("max", x, a)), size(x) * Max(x, a), finite(a)


@wrong
def largest_running_maximum_where_the_sum_is_absent(a, x):
    return Max(x, Scan("max", x, a)), Max(x, a) + 0.0 * Sum(x, a)


@wrong
def running_maximum_under_a_mask_of_its_lanes(a, c, x):
    return Reduce("max", x, Scan("max", x, a), c), Reduce("max", x, a, c)


@wrong
def running_products_multiply_to_a_square(a, x):
    return Reduce("prod", x, Scan("prod", x, a)), Reduce("prod", x, a) * Reduce("prod", x, a), finite(a)


@wrong
def gain_moves_into_a_running_sum(a, b, x):
    return Recur(x, a, b), Scan("sum", x, a * b), finite(a), finite(b)


@wrong
def recurrence_of_ones_is_the_product_of_its_gains(a, x):
    return Recur(x, a, Const(1.0)), Scan("prod", x, a)


@wrong
def gains_add_up(a, b, d, x):
    return Recur(x, a + d, b), Recur(x, a, b) + Recur(x, d, b), finite(a), finite(b), finite(d)


@wrong
def recurrence_by_the_products_after_each_part(a, b, x):
    gains = exp(Scan("sum", x, a))
    return Recur(x, exp(a), b), gains * Scan("sum", x, gains * b), finite(a), finite(b)


@wrong
def running_maximum_of_a_sum(a, b, x):
    return Scan("max", x, a + b), Scan("max", x, a) + Scan("max", x, b)
