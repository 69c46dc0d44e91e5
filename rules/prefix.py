"""Prefixes: a sum over the lanes up to one is that over the stretches before it, whole, and that within its own.

What the stretches before a lane come to is the prefix, at the last of these, of what each comes to. Stretches are runs
of n lanes, the lanes from p n on; where they cover an axis, no lane lies beyond. No e-graph fires these laws: they are
cited by the chain to a diagram that is cut so (search/prefixes.py), or whose masks are turned round
(search/data_masks.py). Those over runs are proved by induction over them.
"""

from napkin_eq.law import (
    Axis,
    Const,
    Coordinate,
    Index,
    Map,
    Mask,
    Read,
    Recur,
    Reduce,
    Scan,
    Size,
    Sum,
    distinct,
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


@law("That one more is at most one more is that a number is at most the other.", stage="cited")
def where_after(a, b, i: Coordinate, j: Coordinate):
    return where(i * 1 + 1 <= j + 1, a, b), where(i <= j, a, b)


@law("Of the stretches one has a lane.", stage="cited")
def in_stretch(c: Mask, x, p: Axis):
    return Sum(p, where(c, Const(1.0), 0.0)), Const(1.0), stretch(p, x, c)


@law("What is in one of the runs does not lie further on.", stage="cited")
def in_runs(a, x, j: Coordinate, n: Coordinate):
    runs = Sum(x, where(_in_run(j, Index(x) * n, n), Const(1.0), 0.0))
    given = free(x, a), free(x, j), free(x, n), finite(a), nonneg(_real(n))
    return where(Size(x) * n + n <= j, a * runs, 0.0), Const(0.0), *given


def _runs(x, p, r):
    """Return what gives a value in runs along p, of lanes along r: a unit stands beyond the last lane."""
    place = Index(p) * Size(r) + Index(r)
    return lambda a, unit: where(place < Size(x), Read(a, x, place), unit)


def _read(a, x, p, r):
    """Return a value at the lane that is one of a run."""
    return Read(a, x, Index(p) * Size(r) + Index(r))


def _before(a, p, unit):
    """Return a value of the run before one; a unit before the first."""
    return where(Const(0) < Index(p), Read(a, p, Index(p) - 1), unit)


def _apart(x, p, r, *terms):
    free_ = [free(axis, term) for term in terms for axis in (p, r)]
    return *free_, distinct(x, p), distinct(x, r), distinct(p, r)


@law("A running sum, in a run, is that of the runs before, whole, and that within the run.", stage="cited")
def scan_in_runs_sum(a, x: Axis, p: Axis, r: Axis):
    own = _runs(x, p, r)(a, 0.0)
    value = _before(Scan("sum", p, Sum(r, own)), p, 0.0) + Scan("sum", r, own)
    return _read(Scan("sum", x, a), x, p, r), value, *_apart(x, p, r, a)


@law("A running product, in a run, is that of the runs before, whole, and that within the run.", stage="cited")
def scan_in_runs_prod(a, x: Axis, p: Axis, r: Axis):
    own = _runs(x, p, r)(a, 1.0)
    value = _before(Scan("prod", p, Reduce("prod", r, own)), p, 1.0) * Scan("prod", r, own)
    return _read(Scan("prod", x, a), x, p, r), value, *_apart(x, p, r, a)


@law("A recurrence, in a run, is what the runs before leave times the gains since, and that within.", stage="cited")
def recur_in_runs(a, b, x: Axis, p: Axis, r: Axis):
    runs = _runs(x, p, r)
    gains, own = runs(a, 1.0), Recur(r, runs(a, 1.0), runs(b, 0.0))
    left = Recur(p, Reduce("prod", r, gains), Read(own, r, Size(r) - 1))
    value = _before(left, p, 0.0) * Scan("prod", r, gains) + own
    return _read(Recur(x, a, b), x, p, r), value, *_apart(x, p, r, a, b)
