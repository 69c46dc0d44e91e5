"""What is known of signs, presence and order; premises that nothing meets."""

from napkin_eq.prove.corpus import valid, wrong
from napkin_eq.law import (
    Const, Max, Monoid, Prev, Reduce, Sum, absent, exp, finite, free, le, local, log, nonneg, nonzero, pos, safe, where,
)  # fmt: skip


@wrong
def exponentials_are_positive(a):
    return pos(exp(a))


@wrong
def squares_are_positive(a):
    return pos(a * a), finite(a)


@wrong
def sum_of_nonzeros(a, b):
    return nonzero(a + b), nonzero(a), nonzero(b)


@wrong
def sum_of_nonzeros_over_an_axis(a, x):
    return nonzero(Sum(x, a)), nonzero(a)


@wrong
def any_factor_keeps_the_order(a, b, d):
    return le(a * d, b * d), le(a, b)


@wrong
def logarithms_are_present(a):
    return finite(log(a)), nonneg(a)


@wrong
def nothing_exceeds_its_sum(a, x):
    return le(a, Sum(x, a)), finite(a)


@valid("")
def nothing_exceeds_its_sum_of_nonnegatives(a, x):
    return le(a, Sum(x, a)), nonneg(a)


@wrong
def anything_is_safe(a, b):
    return safe(a - b), finite(a), finite(b)


@wrong
def masked_maximum_is_present(a, c, x):
    return finite(Max(x, a, c)), finite(a)


@wrong
def choices_are_local(a, b, c, x):
    return local(x, where(c, a, b)), local(x, a), local(x, b)


@wrong
def reductions_are_local(m: Monoid, a, x):
    return local(x, Reduce(m, x, a)), local(x, a)


@wrong
def running_sum_never_falls(b, x):
    return le(Prev(Sum(x, b)), Sum(x, b)), local(x, b)


@wrong
def vacuous(a, b):
    return a, b, pos(a), le(a, 0.0)


@wrong
def vacuous_inference(a):
    return nonneg(a), absent(Const(False), a), finite(a)


@wrong
def factor_that_is_not_negative_moves_out_of_a_maximum(a, b, x):
    return Max(x, a * b), a * Max(x, b), free(x, a), nonneg(a), pos(b), free(x, b), le(a, -1.0 * b)
