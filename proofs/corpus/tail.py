"""Tails and padding: the last, partial block."""

from napkin_eq.prove.corpus import valid, wrong
from napkin_eq.law import ABSENT, Const, Index, Max, Reduce, Size, Sum, absent, exp, inv, size, where, zero


@wrong
def tail_dropped(a, x):
    return Sum(x, a), Sum(x, a, Index(x) + 1 < Size(x))


@wrong
def whole_blocks_only(a, x):
    return Sum(x, a), Sum(x, a, Index(x) < (Size(x) // 2) * 2)


@wrong
def tail_counted_twice(a, x):
    return Sum(x, a), Sum(x, a, Index(x) < 2) + Sum(x, a, Index(x) >= 1)


@wrong
def maximum_padded_with_zeros(a, c, x):
    return Max(x, a), Max(x, where(c, a, 0.0)), absent(c, a)


@wrong
def sum_padded_with_absent_lanes(a, c, x):
    return Sum(x, a), Sum(x, where(c, a, ABSENT)), zero(c, a)


@wrong
def exponents_padded_with_zeros(a, c, x):
    return Sum(x, exp(a)), Sum(x, exp(where(c, a, 0.0))), absent(c, a)


@wrong
def product_padded_with_zeros(a, c, x):
    return Reduce("prod", x, a, c), Reduce("prod", x, where(c, a, 0.0))


@wrong
def mean_over_the_padded_length(a, c, x):
    return Sum(x, a, c) * inv(Sum(x, where(c, Const(1.0), 0.0))), Sum(x, a, c) * inv(size(x))


@valid("exact")
def sum_padded_with_zeros(a, c, x):
    return Sum(x, where(c, a, 0.0)), Sum(x, a, c)


@valid("exact")
def maximum_padded_with_absent_lanes(a, c, x):
    return Max(x, where(c, a, ABSENT)), Max(x, a, c)


@valid("")
def exponents_padded_with_absent_lanes(a, c, x):
    return Sum(x, exp(where(c, a, ABSENT))), Sum(x, exp(a), c)
