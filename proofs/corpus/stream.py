"""Claims about streams: what can be carried from block to block, and what cannot."""

from napkin_eq.prove.corpus import valid, wrong
from napkin_eq.law import (
    ABSENT, TRUE, Acc, Const, Fold, Index, Map, Max, Monoid, Online, Prev, Read, Reduce, Store, Sum, distinct, exp, inv,
    local, log, size, where,
)  # fmt: skip
from napkin_eq.lang.term import Scan


def carried(a, x, update):
    mean = Sum(x, a) * inv(size(x))
    body = (a - mean) * (a - mean)
    return Sum(x, body), Online(x, body, TRUE, update(Prev(mean) - mean, Prev(size(x)))), local(x, a)


@wrong
def recentre_without_step(a, x):
    return carried(a, x, lambda step, before: Acc())


@wrong
def recentre_by_the_step(a, x):
    return carried(a, x, lambda step, before: Acc() + before * step)


@wrong
def recentre_by_the_size_after(a, x):
    return carried(a, x, lambda step, before: Acc() + size(x) * (step * step))


@wrong
def recentre_downwards(a, x):
    return carried(a, x, lambda step, before: Acc() - before * (step * step))


@wrong
def recentre_what_moves(a, x):
    return carried(a, x, lambda step, before: Acc() + before * (step * step))[:2]


@valid("")
def recentre_again(a, x):
    return carried(a, x, lambda step, before: Acc() + step * (before * step))


@wrong
def carried_sum_leaves_out_any_lane(a, c, u, x):
    return Online(x, a, TRUE, u, False), Online(x, a, c, u, False)


@wrong
def fold_by_another_monoid(a, c, x):
    return Sum(x, a, c), Fold("max", x, a, c, False)


@wrong
def fold_that_loses_its_mask(m: Monoid, a, c, x):
    return Reduce(m, x, a, c), Fold(m, x, a, TRUE, False)


@valid("")
def fold_of_a_stored_value(m: Monoid, a, c, x):
    return Reduce(m, x, a, c), Fold(m, x, Store(a), c, False)


@wrong
def scans_are_reductions(a, x):
    return Scan("sum", x, a), Sum(x, a)


def median(a, b, d):
    return Map("max", (Map("min", (a, b)), Map("min", (Map("max", (a, b)), d))))


@wrong
def medians_of_medians(a, b, d, e, f):
    return median(median(a, b, d), e, f), median(a, median(b, d, e), f)


@wrong
def means_of_parts_averaged(a, c, x):
    def mean(mask):
        return Sum(x, a, mask) * inv(Sum(x, where(mask, Const(1.0), 0.0)))

    return mean(TRUE), (mean(c) + mean(~c)) * 0.5


@wrong
def variances_of_parts_added(a, x, y):
    total, part = Sum(x, Sum(y, a)) * inv(size(x) * size(y)), Sum(y, a) * inv(size(y))
    return Sum(x, Sum(y, (a - total) * (a - total))), Sum(x, Sum(y, (a - part) * (a - part))), distinct(x, y)


@wrong
def second_of_the_firsts(a, x, y):
    first, rows = Max(x, Max(y, a)), Max(y, a)
    return Max(x, Max(y, where(a < first, a, ABSENT))), Max(x, where(rows < first, rows, ABSENT)), distinct(x, y)


@wrong
def logarithms_of_sums_summed(a, x, y):
    return log(Sum(x, Sum(y, exp(a)))), log(Sum(x, log(Sum(y, exp(a))))), distinct(x, y)


@wrong
def ranges_of_parts(a, x, y):
    return Max(x, Max(y, a)) + Max(x, Max(y, -a)), Max(x, Max(y, a) + Max(y, -a)), distinct(x, y)


@wrong
def prefix_without_its_carry(a, x):
    return Scan("sum", x, a), Scan("sum", x, where(Index(x) < 1, Const(0.0), a))


@wrong
def prefix_of_the_last_two(a, x):
    return Scan("sum", x, a), where(Index(x) < 1, a, a + Read(a, x, Index(x) + (-1)))


@wrong
def recurrences_commute(a, b, d, e, f):
    return d * (a * f + b) + e, a * (d * f + e) + b


@wrong
def recurrences_compose_without_the_factor(a, b, d, e, f):
    return d * (a * f + b) + e, (d * a) * f + (b + e)


@valid("")
def recurrences_compose(a, b, d, e, f):
    return d * (a * f + b) + e, (d * a) * f + (d * b + e)


@valid("")
def means_of_equal_rows_averaged(a, x, y):
    return Sum(x, Sum(y, a) * inv(size(y))) * inv(size(x)), Sum(x, Sum(y, a)) * inv(size(x) * size(y)), distinct(x, y)


@valid("")
def sums_through_logarithms(a, x, y):
    return Sum(x, exp(log(Sum(y, exp(a))))), Sum(x, Sum(y, exp(a))), distinct(x, y)
