"""Tile grids: numbers of tiles, overlaps, store masks, strides, overflow of 32 bits."""

from napkin_eq.prove.corpus import valid, wrong
from napkin_eq.law import Const, Coordinate, Index, Map, Sum, distinct, free, le, where


@wrong
def tiles_by_floor_cover(n: Coordinate, b: Coordinate):
    return (n // b) * b, n


@wrong
def one_tile_too_many(n: Coordinate, b: Coordinate):
    return (n + b) // b, (n + b - 1) // b, le(Const(1), b), le(Const(0), n)


@wrong
def columns_before_rows(i: Coordinate, j: Coordinate, w: Coordinate):
    return i * w + j, j * w + i


@wrong
def row_of_a_flat_place(i: Coordinate, j: Coordinate):
    return (i * 2 + j) // 2, i, le(Const(0), j)


@wrong
def store_mask_with_its_edge(a, x, n: Coordinate):
    return Sum(x, where(Index(x) < n, a, 0.0)), Sum(x, where(Index(x) <= n, a, 0.0))


@wrong
def tiles_that_overlap(a, x, y):
    inside = (Index(y) * 2 <= Index(x)) & (Index(x) <= Index(y) * 2 + 2)
    return (
        Sum(y, where((Index(y) * 2 <= Index(x)) & (Index(x) < Index(y) * 2 + 2), a, 0.0)),
        Sum(y, where(inside, a, 0.0)),
        distinct(x, y),
    )


@wrong
def too_few_tiles(a, x, y):
    return Sum(x, a), Sum(y, Sum(x, where(Map("eq", (Index(x), Index(y))), a, 0.0))), free(y, a), distinct(x, y)


@wrong
def stride_divides_out(i: Coordinate, b: Coordinate):
    return (i * b) // b, i


@wrong
def offset_in_32_bits(i: Coordinate):
    offset = i * 1073741824
    return where(Map("eq", (offset % 2147483648, offset)), Const(1.0), 0.0), Const(1.0), le(Const(0), i)


@wrong
def tiles_swapped_within_the_wrong_group(i: Coordinate):
    return (i // 4) * 4 + i % 3, i


@valid("")
def place_in_a_tile(i: Coordinate):
    return (i // 4) * 4 + i % 4, i


@valid("")
def tiles_rounded_up_cover(n: Coordinate):
    return le(n, ((n + 3) // 4) * 4)


@valid("")
def row_of_a_place_in_its_row(i: Coordinate, j: Coordinate):
    return (i * 4 + j) // 4, i, le(Const(0), j), le(j, Const(3))
