"""Levels and partitions: where a value lies and in which blocks it is computed; all are the identity on values."""

from napkin_eq.law import Coordinate, Group, Item, Mask, Proj, Several, Store, Tuple, Walk, along, law


@law(
    "A value may be stored in the level above: one kernel ends there and another begins.",
    stage="structure",
    floating="exact",
    source="napkin-paper 3.1",
)
def level(a):
    return a, Store(a)


@law(
    "A value may be computed in independent blocks along an axis that it carries.",
    stage="structure",
    floating="exact",
    source="napkin-paper 2.1",
)
def group(a, x):
    return a, Group(x, a), along(x, a)


@law(
    "A value may be computed block after block along an axis that it carries.",
    stage="structure",
    floating="exact",
    source="napkin-paper 2.2",
)
def walk(a, x):
    return a, Walk(x, a), along(x, a)


@law("A mask may be stored in the level above.", stage="structure", floating="exact", source="napkin-paper 3.1")
def level_mask(c: Mask):
    return c, Store(c)


@law(
    "A mask may be computed in independent blocks along an axis that it carries.",
    stage="structure",
    floating="exact",
    source="napkin-paper 2.1",
)
def group_mask(c: Mask, x):
    return c, Group(x, c), along(x, c)


@law(
    "A mask may be computed block after block along an axis that it carries.",
    stage="structure",
    floating="exact",
    source="napkin-paper 2.2",
)
def walk_mask(c: Mask, x):
    return c, Walk(x, c), along(x, c)


@law("Whole numbers may be stored in the level above.", stage="structure", floating="exact", source="napkin-paper 3.1")
def level_whole(i: Coordinate):
    return i, Store(i)


@law(
    "Whole numbers may be computed in independent blocks along an axis that they carry.",
    stage="structure",
    floating="exact",
    source="napkin-paper 2.1",
)
def group_whole(i: Coordinate, x):
    return i, Group(x, i), along(x, i)


@law(
    "Whole numbers may be computed block after block along an axis that they carry.",
    stage="structure",
    floating="exact",
    source="napkin-paper 2.2",
)
def walk_whole(i: Coordinate, x):
    return i, Walk(x, i), along(x, i)


@law("Several values may be stored together.", stage="structure", floating="exact", source="napkin-paper 3.1")
def level_several(a: Several):
    return a, Store(a)


@law(
    "Several values may be computed together in independent blocks.",
    stage="structure",
    floating="exact",
    source="napkin-paper 2.1",
)
def group_several(a: Several, x):
    return a, Group(x, a), along(x, a)


@law(
    "Several values may be computed together block after block.",
    stage="structure",
    floating="exact",
    source="napkin-paper 2.2",
)
def walk_several(a: Several, x):
    return a, Walk(x, a), along(x, a)


@law(
    "An item of a tuple is that item; so a value may be computed beside others.",
    stage="structure",
    floating="exact",
    source="napkin-paper 3.1",
)
def projection(i: Item, a, b, d, e, f):
    items = i.of(a, b, d, e, f)
    return Proj(i.place, Tuple(items)), items[i.place]
