"""What is known of a value at other coordinates: it is one of the values that are known."""

from napkin_eq.law import Coordinate, Read, finite, infer, nonneg, pos


@infer("What is present everywhere is present at any coordinate.")
def finite_read(a, i: Coordinate, x):
    return finite(Read(a, x, i)), finite(a)


@infer("What is positive everywhere is positive at any coordinate.")
def pos_read(a, i: Coordinate, x):
    return pos(Read(a, x, i)), pos(a)


@infer("What is nowhere negative is not negative at any coordinate.")
def nonneg_read(a, i: Coordinate, x):
    return nonneg(Read(a, x, i)), nonneg(a)
