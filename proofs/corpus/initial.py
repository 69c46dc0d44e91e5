"""Initial values: what an accumulator starts with."""

from napkin_eq.prove.corpus import valid, wrong
from napkin_eq.law import ABSENT, TRUE, Acc, Const, Map, Max, Online, Prev, Reduce, Sum, local, size, where


@wrong
def maximum_starts_at_zero(a, x):
    return Max(x, a), Map("max", (Const(0.0), Max(x, a)))


@wrong
def maximum_starts_at_a_large_negative_number(a, x):
    return Max(x, a), Map("max", (Const(-10000.0), Max(x, a)))


@wrong
def minimum_starts_at_zero(a, x):
    return -Max(x, -a), Map("min", (Const(0.0), -Max(x, -a)))


@wrong
def sum_starts_at_one(a, x):
    return Sum(x, a), 1.0 + Sum(x, a)


@wrong
def product_starts_at_zero(a, x):
    return Reduce("prod", x, a), 0.0 * Reduce("prod", x, a)


@wrong
def stream_starts_with_what_it_factors(a, x):
    return (
        Sum(x, a),
        Online(x, a, TRUE, Acc() + where(Map("eq", (Prev(size(x)), Const(0.0))), Const(1.0), 0.0)),
        local(x, a),
    )


@valid("exact")
def maximum_starts_absent(a, x):
    return Map("max", (ABSENT, Max(x, a))), Max(x, a)


@valid("exact")
def sum_starts_at_zero(a, x):
    return 0.0 + Sum(x, a), Sum(x, a)


@valid("exact")
def product_starts_at_one(a, x):
    return 1.0 * Reduce("prod", x, a), Reduce("prod", x, a)
