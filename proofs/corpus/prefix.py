"""Prefix folds and recurrences: inside folds over their own axis, over other axes, of what does not vary."""

from napkin_eq.prove.corpus import valid, wrong
from napkin_eq.law import (
    Const,
    Index,
    Map,
    Max,
    Recur,
    Scan,
    Sum,
    distinct,
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
