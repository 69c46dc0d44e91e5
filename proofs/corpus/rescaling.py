"""Rescaling: missing, one-sided, twice, of the wrong sign, by a stale or foreign reference."""

from napkin_eq.prove.corpus import valid, wrong
from napkin_eq.law import TRUE, Acc, Max, Online, Prev, Sum, exp, finite, free, inv, le, local, log, nonzero, scales


@wrong
def shift_not_undone(a, x):
    return Sum(x, exp(a)), Sum(x, exp(a - Max(x, a)))


@wrong
def shift_undone_the_wrong_way(a, x):
    return Sum(x, exp(a)), exp(-Max(x, a)) * Sum(x, exp(a - Max(x, a)))


@wrong
def shift_by_another_maximum(a, b, x):
    return Sum(x, exp(a)), exp(Max(x, b)) * Sum(x, exp(a - Max(x, b)))


@valid("")
def shift_by_any_present_number(a, b, x):
    return Sum(x, exp(a)), exp(b) * Sum(x, exp(a - b)), free(x, b), finite(b)


@wrong
def shift_of_a_masked_sum_by_what_it_leaves_out(a, c, x):
    return Sum(x, exp(a)), exp(Max(x, a, c)) * Sum(x, exp(a - Max(x, a, c)))


@wrong
def logarithm_of_a_shifted_sum(a, x):
    return log(Sum(x, exp(a))), log(Sum(x, exp(a - Max(x, a)))), finite(a)


@valid("")
def logarithm_of_a_sum_by_its_shift(a, x):
    return log(exp(Max(x, a)) * Sum(x, exp(a))), Max(x, a) + log(Sum(x, exp(a)))


@wrong
def exponential_changes_the_other_way(a, b, x):
    return scales(x, exp(a - Max(x, b)), exp(Max(x, b) - Prev(Max(x, b)))), local(x, a), local(x, b), le(a, Max(x, b))


@wrong
def exponential_with_an_unbounded_value(a, b, x):
    return scales(x, exp(a - Max(x, b)), exp(Prev(Max(x, b)) - Max(x, b))), local(x, a), local(x, b)


@wrong
def exponential_of_a_value_that_moves(a, b, x):
    return scales(x, exp(a - Max(x, b)), exp(Prev(Max(x, b)) - Max(x, b))), local(x, b), le(a, Max(x, b))


@wrong
def exponential_does_not_change(a, x):
    return scales(x, exp(a - Max(x, a)), 1.0), local(x, a)


@wrong
def inverse_changes_the_other_way(b, x):
    return scales(x, inv(Sum(x, b)), Sum(x, b) * inv(Prev(Sum(x, b)))), local(x, b), nonzero(Sum(x, b))


@wrong
def inverse_of_a_sum_that_may_vanish(b, x):
    return scales(x, inv(Sum(x, b)), Prev(Sum(x, b)) * inv(Sum(x, b))), local(x, b)


@wrong
def factors_that_move_are_ignored(a, b, r, x):
    return scales(x, a * b, r), scales(x, a, r)


@wrong
def changes_of_factors_add(a, b, r, s, x):
    return scales(x, a * b, r + s), scales(x, a, r), scales(x, b, s)


@wrong
def changes_of_summands_agree(a, b, r, s, x):
    return scales(x, a + b, r), scales(x, a, r), scales(x, b, s)


@valid("")
def summands_with_one_change(a, b, r, x):
    return scales(x, a + b, r), scales(x, a, r), scales(x, b, r)


@wrong
def rescale_missing(a, r, x):
    return Sum(x, a), Online(x, a, TRUE, Acc()), scales(x, a, r), free(x, r)


@wrong
def rescale_by_a_sum(a, r, x):
    return Sum(x, a), Online(x, a, TRUE, Acc() + r), scales(x, a, r), free(x, r)


@wrong
def rescale_twice(a, r, x):
    return Sum(x, a), Online(x, a, TRUE, Acc() * (r * r)), scales(x, a, r), free(x, r)


@wrong
def rescale_without_a_premise(a, r, x):
    return Sum(x, a), Online(x, a, TRUE, Acc() * r), free(x, r)
