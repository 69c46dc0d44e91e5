"""Prefix folds and recurrences: inside folds over their own axis, over other axes, of what does not vary."""

from napkin_eq.prove.corpus import valid, wrong
from napkin_eq.law import Const, Max, Recur, Scan, Sum, distinct, finite, free, le, nonneg, size


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
