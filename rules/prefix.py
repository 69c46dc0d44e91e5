"""Prefixes: a sum over the lanes up to one is that over the stretches before it, whole, and that within its own.

What the stretches before a lane come to is the prefix, at the last of these, of what each comes to. Stretches are runs
of n lanes, the lanes from p n on; where they cover an axis, no lane lies beyond. No e-graph fires these laws: they are
cited by the chain to a diagram that is cut so (search/prefixes.py). Those over runs are proved by induction over them.
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
    finite,
    free,
    law,
    nonneg,
    stretch,
    where,
)


def _real(n):
    return Map("real", (n,))


def _in_run(i, s, n):
    """Return whether a lane is in the run of n lanes from s on."""
    return (s <= i) & (i < s + n)


@law("A choice is the other one by the mask turned round.", stage="cited", floating="exact")
def where_turned(a, b, c):
    return where(c, a, b), where(~c, b, a)


@law("A choice by what is not below is one by what is at least as large.", stage="cited")
def where_not_lt(a, b, i: Coordinate, j: Coordinate):
    return where(~(i < j), a, b), where(j <= i, a, b)


@law("A choice by what is not at most as large is one by what is above.", stage="cited")
def where_not_le(a, b, i: Coordinate, j: Coordinate):
    return where(~(i <= j), a, b), where(j < i, a, b)


@law("A mask to zero that does not vary along x moves out of a sum over x.", stage="cited", floating="exact")
def sum_where(a, c, x):
    return Sum(x, where(c, a, 0.0)), where(c, Sum(x, a), 0.0), free(x, c)


@law("A sum of what is masked to zero is the sum under the mask.", stage="cited", floating="exact")
def sum_masked(a, c, x):
    return Sum(x, where(c, a, 0.0)), Sum(x, a, c)


@law("A lane of a run that is at most j is of a run that ends by j, or of the run that j is in.", stage="cited")
def run_at_most(a, i: Coordinate, j: Coordinate, n: Coordinate, s: Coordinate):
    own = where(_in_run(i, s, n), where(i <= j, a, 0.0), 0.0)
    return own, where(s + n <= j, where(_in_run(i, s, n), a, 0.0), 0.0) + where(_in_run(j, s, n), own, 0.0)


@law("A lane of a run that is below j is of a run that ends by j, or of the run that j is in.", stage="cited")
def run_below(a, i: Coordinate, j: Coordinate, n: Coordinate, s: Coordinate):
    own = where(_in_run(i, s, n), where(i < j, a, 0.0), 0.0)
    return own, where(s + n <= j, where(_in_run(i, s, n), a, 0.0), 0.0) + where(_in_run(j, s, n), own, 0.0)


@law(
    "A sum over the runs that end by j is the prefix at the last of them, or that of all where j lies further on.",
    stage="cited",
)
def sum_runs(a, x, j: Coordinate, n: Coordinate):
    end = Index(x) * n + n
    last = Sum(x, where(_in_run(j, end, n), Scan("sum", x, a), 0.0))
    further = where(Size(x) * n + n <= j, Sum(x, a), 0.0)
    return Sum(x, where(end <= j, a, 0.0)), last + further, free(x, j), free(x, n), nonneg(_real(n))


@law("Of the stretches one has a lane.", stage="cited")
def in_stretch(c: Mask, x, p: Axis):
    return Sum(p, where(c, Const(1.0), 0.0)), Const(1.0), stretch(p, x, c)


@law("What is in one of the runs does not lie further on.", stage="cited")
def in_runs(a, x, j: Coordinate, n: Coordinate):
    runs = Sum(x, where(_in_run(j, Index(x) * n, n), Const(1.0), 0.0))
    given = free(x, a), free(x, j), free(x, n), finite(a), nonneg(_real(n))
    return where(Size(x) * n + n <= j, a * runs, 0.0), Const(0.0), *given
