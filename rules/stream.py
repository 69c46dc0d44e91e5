"""Streams: a reduction may be walked in blocks, and reductions over one axis may share one pass (napkin-paper 2.2,
2.3).
"""

from napkin_eq.law import TRUE, Fold, Online, Reduce, Reduction, law, zero


@law("A reduction may be walked in blocks, its accumulator resident.", stage="structure", source="napkin-paper 2.2")
def stream(m: Reduction, a, c, x):
    return Reduce(m, x, a, c), Fold(m, x, a, c, False)


@law(
    "A fold may share its pass over the axis with others.",
    stage="structure",
    floating="exact",
    source="napkin-paper 2.3",
)
def fuse(m: Reduction, a, c, x):
    return Fold(m, x, a, c, False), Fold(m, x, a, c, True)


@law(
    "A carried sum may share its pass over the axis with others.",
    stage="structure",
    floating="exact",
    source="napkin-paper 2.3",
)
def fuse_online(a, c, u, x):
    return Online(x, a, c, u, False), Online(x, a, c, u, True)


@law("A carried sum may leave out lanes that are zero.", stage="structure", floating="exact")
def skip_online(a, c, u, x):
    return Online(x, a, TRUE, u, False), Online(x, a, c, u, False), zero(c, a)
