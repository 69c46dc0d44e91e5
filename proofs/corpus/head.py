"""Head maps: which head of a few serves which of many."""

from napkin_eq.prove.corpus import valid, wrong
from napkin_eq.law import Coordinate, Index, Map, Read, Sum, distinct, free


@wrong
def heads_by_remainder(a, b, x, y):
    return a * Read(b, y, Index(x) // 2), a * Read(b, y, Index(x) % 2), free(x, b), distinct(x, y)


@wrong
def heads_one_to_one(a, b, x, y):
    return a * Read(b, y, Index(x) // 2), a * Read(b, y, Index(x)), free(x, b), distinct(x, y)


@wrong
def heads_off_by_one(a, b, x, y):
    return a * Read(b, y, Index(x) // 2), a * Read(b, y, (Index(x) + 1) // 2), free(x, b), distinct(x, y)


@wrong
def heads_in_larger_groups(a, b, x, y):
    return a * Read(b, y, Index(x) // 2), a * Read(b, y, Index(x) // 3), free(x, b), distinct(x, y)


@wrong
def every_head_serves(a, b, x, y):
    return a * Read(b, y, Index(x) // 2), a * Sum(y, b), free(x, b), distinct(x, y)


@wrong
def first_head_serves_all(a, b, x, y):
    return a * Read(b, y, Index(x) // 2), a * Read(b, y, Index(x) * 0), free(x, b), distinct(x, y)


@valid("")
def head_is_its_group_and_its_place(x):
    return Map("real", ((Index(x) // 4) * 4 + Index(x) % 4,)), Map("real", (Index(x),))


@valid("")
def heads_of_heads(i: Coordinate):
    return Map("real", ((i // 2) // 3,)), Map("real", (i // 6,))
