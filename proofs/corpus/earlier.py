"""Sums over the lanes up to one, cut into runs: one lane more or less, runs that overlap or start elsewhere, a prefix
too long, what lies beyond forgotten.
"""

from napkin_eq.law import (
    Axis,
    Const,
    Coordinate,
    Index,
    Map,
    Mask,
    Scan,
    Size,
    Sum,
    distinct,
    finite,
    free,
    nonneg,
    stretch,
    where,
)
from napkin_eq.prove.corpus import valid, wrong


def real(i):
    return Map("real", (i,))


def run(i, s, n):
    return (s <= i) & (i < s + n)


def parted(a, i, j, n, s, compared, whole, here):
    """A lane of a run, compared with j, as of a whole run or of the run of j."""
    own = where(run(i, s, n), where(compared, a, 0.0), 0.0)
    return own, where(whole, where(run(i, s, n), a, 0.0), 0.0) + where(here, own, 0.0)


@valid("")
def lanes_up_to_one_by_whole_runs_and_its_own(a, i: Coordinate, j: Coordinate, n: Coordinate, s: Coordinate):
    return parted(a, i, j, n, s, i <= j, s + n <= j, run(j, s, n))


@wrong
def whole_runs_one_lane_early(a, i: Coordinate, j: Coordinate, n: Coordinate, s: Coordinate):
    return parted(a, i, j, n, s, i <= j, s + n <= j + 1, run(j, s, n))


@wrong
def whole_runs_one_lane_late(a, i: Coordinate, j: Coordinate, n: Coordinate, s: Coordinate):
    return parted(a, i, j, n, s, i <= j, s + n < j, run(j, s, n))


@wrong
def runs_that_begin_by_one_are_whole(a, i: Coordinate, j: Coordinate, n: Coordinate, s: Coordinate):
    return parted(a, i, j, n, s, i <= j, s <= j, run(j, s, n))


@wrong
def the_own_run_starts_a_lane_later(a, i: Coordinate, j: Coordinate, n: Coordinate, s: Coordinate):
    return parted(a, i, j, n, s, i <= j, s + n <= j, run(j, s + 1, n))


@wrong
def the_own_run_ends_a_lane_earlier(a, i: Coordinate, j: Coordinate, n: Coordinate, s: Coordinate):
    return parted(a, i, j, n, s, i <= j, s + n <= j, (s <= j) & (j + 1 < s + n))


@wrong
def up_to_in_the_own_run_is_below(a, i: Coordinate, j: Coordinate, n: Coordinate, s: Coordinate):
    left, _ = parted(a, i, j, n, s, i <= j, s + n <= j, run(j, s, n))
    return left, parted(a, i, j, n, s, i < j, s + n <= j, run(j, s, n))[1]


@wrong
def below_in_the_own_run_is_up_to(a, i: Coordinate, j: Coordinate, n: Coordinate, s: Coordinate):
    left, _ = parted(a, i, j, n, s, i < j, s + n <= j, run(j, s, n))
    return left, parted(a, i, j, n, s, i <= j, s + n <= j, run(j, s, n))[1]


def prefix(a, x, j, n, last, further, given):
    """The sum over the runs that end by j, as a prefix at one of them."""
    end = Index(x) * n + n
    return (
        Sum(x, where(end <= j, a, 0.0)),
        Sum(x, where(last(end), Scan("sum", x, a), 0.0)) + where(further, Sum(x, a), 0.0),
        free(x, j),
        free(x, n),
        *given,
    )


@valid("")
def runs_before_one_by_their_prefix(a, x, j: Coordinate, n: Coordinate):
    further = Size(x) * n + n <= j
    return prefix(a, x, j, n, lambda end: run(j, end, n), further, [nonneg(real(n))])


@wrong
def runs_before_one_of_any_length(a, x, j: Coordinate, n: Coordinate):
    return prefix(a, x, j, n, lambda end: run(j, end, n), Size(x) * n + n <= j, [])


@wrong
def runs_before_one_with_its_own(a, x, j: Coordinate, n: Coordinate):
    further = Size(x) * n <= j
    return prefix(a, x, j, n, lambda end: (end <= j + n) & (j < end), further, [nonneg(real(n))])


@wrong
def runs_before_one_but_for_the_last(a, x, j: Coordinate, n: Coordinate):
    further = Size(x) * n + n <= j
    return prefix(a, x, j, n, lambda end: run(j, end + n, n), further, [nonneg(real(n))])


@wrong
def runs_before_one_that_overlap(a, x, j: Coordinate, n: Coordinate):
    further = Size(x) * n + n <= j
    return prefix(a, x, j, n, lambda end: run(j, end, n + 1), further, [nonneg(real(n))])


@wrong
def runs_before_one_with_gaps(a, x, j: Coordinate, n: Coordinate):
    further = Size(x) * n + n <= j
    return prefix(a, x, j, n, lambda end: (end < j) & (j < end + n), further, [nonneg(real(n))])


@wrong
def runs_before_one_that_lies_beyond_them_all(a, x, j: Coordinate, n: Coordinate):
    end = Index(x) * n + n
    runs = Sum(x, where(run(j, end, n), Scan("sum", x, a), 0.0))
    return Sum(x, where(end <= j, a, 0.0)), runs, free(x, j), free(x, n), nonneg(real(n))


@wrong
def runs_before_one_by_what_the_last_comes_to(a, x, j: Coordinate, n: Coordinate):
    end, further = Index(x) * n + n, Size(x) * n + n <= j
    last = Sum(x, where(run(j, end, n), a, 0.0))
    return Sum(x, where(end <= j, a, 0.0)), last + where(further, Sum(x, a), 0.0), free(x, j), free(x, n)


@wrong
def runs_before_one_that_differs_by_run(a, x, j: Coordinate, n: Coordinate):
    end, further = Index(x) * n + n, Size(x) * n + n <= j
    last = Sum(x, where(run(j, end, n), Scan("sum", x, a), 0.0))
    return Sum(x, where(end <= j, a, 0.0)), last + where(further, Sum(x, a), 0.0), free(x, n), nonneg(real(n))


@valid("")
def the_stretches_that_have_a_lane(c: Mask, x, p: Axis):
    return Sum(p, where(c, Const(1.0), 0.0)), Const(1.0), stretch(p, x, c)


@wrong
def masks_that_have_a_lane(c: Mask, x, p: Axis):
    return Sum(p, where(c, Const(1.0), 0.0)), Const(1.0), distinct(x, p)


def beyond(a, x, j, n, further):
    """What is in one of the runs, where j lies beyond."""
    return where(further, a * Sum(x, where(run(j, Index(x) * n, n), Const(1.0), 0.0)), 0.0), Const(0.0)


@valid("")
def what_is_in_a_run_beyond_them_all(a, x, j: Coordinate, n: Coordinate):
    given = free(x, a), free(x, j), free(x, n), finite(a), nonneg(real(n))
    return *beyond(a, x, j, n, Size(x) * n <= j), *given


@wrong
def what_is_in_a_run_beyond_the_last_but_one(a, x, j: Coordinate, n: Coordinate):
    given = free(x, a), free(x, j), free(x, n), finite(a), nonneg(real(n))
    return *beyond(a, x, j, n, Size(x) * n <= j + n), *given


@wrong
def what_may_be_absent_beyond_them_all(a, x, j: Coordinate, n: Coordinate):
    given = free(x, a), free(x, j), free(x, n), nonneg(real(n))
    return *beyond(a, x, j, n, Size(x) * n + n <= j), *given


@wrong
def a_mask_that_varies_moves_out_of_a_sum(a, c, x):
    return Sum(x, where(c, a, 0.0)), where(c, Sum(x, a), 0.0)
