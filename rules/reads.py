"""Values at other coordinates: what is known of them, and where reads may stand."""

from napkin_eq.law import (
    Axis,
    Binary,
    Const,
    Coordinate,
    Index,
    Map,
    Read,
    Size,
    Sum,
    distinct,
    finite,
    free,
    infer,
    law,
    nonneg,
    pos,
    where,
)


@infer("What is present everywhere is present at any coordinate.")
def finite_read(a, i: Coordinate, x):
    return finite(Read(a, x, i)), finite(a)


@infer("What is positive everywhere is positive at any coordinate.")
def pos_read(a, i: Coordinate, x):
    return pos(Read(a, x, i)), pos(a)


@infer("What is nowhere negative is not negative at any coordinate.")
def nonneg_read(a, i: Coordinate, x):
    return nonneg(Read(a, x, i)), nonneg(a)


@law("An operator of two numbers is read as that of what is read of each.", stage="cited")
def read_both(o: Binary, a, b, i: Coordinate, x):
    return Read(Map(o, (a, b)), x, i), Map(o, (Read(a, x, i), Read(b, x, i)))


@law("An operator of a number that does not vary along x, and another, is read in the other.", stage="cited")
def read_second(o: Binary, a, b, i: Coordinate, x):
    return Read(Map(o, (a, b)), x, i), Map(o, (a, Read(b, x, i))), free(x, a)


@law("A sum over another axis is read summand by summand.", stage="cited")
def read_sum(a, i: Coordinate, x, y):
    return Read(Sum(y, a), x, i), Sum(y, Read(a, x, i)), free(y, i), distinct(x, y)


@law("What is read of the lane before, read elsewhere, is of the lane before that one.", stage="cited")
def read_before(a, b, i: Coordinate, x):
    place = Map("min", (Map("max", (i, Const(0))), Size(x) - 1))
    before = where(Const(0) < Index(x), Read(a, x, Index(x) - 1), b)
    return Read(before, x, i), where(Const(0) < place, Read(a, x, place - 1), b), free(x, b)


@law("What is read by quotient and remainder of a lane is, at that of a quotient, what it is there.", stage="cited")
def read_back(a, b, x: Axis, p: Axis, r: Axis):
    lane = Index(p) * Size(r) + Index(r)
    divided = Read(Read(a, p, Index(x) // Size(r)), r, Index(x) % Size(r))
    given = free(x, a), distinct(x, p), distinct(x, r), distinct(p, r)
    return where(lane < Size(x), Read(divided, x, lane), b), where(lane < Size(x), a, b), *given
