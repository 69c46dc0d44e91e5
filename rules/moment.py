"""Moments: a sum of squares about any point is that about the mean of what is summed, and what the mean is off by.

So the squares about a mean over several axes, or over the stretches of one, are those about each part's own mean, which
a kernel has as soon as it has read the part. No e-graph fires the laws: they are cited by the chain to a diagram whose
sums of squares are taken in parts (search/moments.py).
"""

from napkin_eq.law import Const, Mask, Sum, finite, free, inv, law, size, where


@law(
    "A sum of squares about a point is that about the mean, and the lanes times the square of what that is off by.",
    stage="cited",
)
def squares_about(a, r, x):
    mean = Sum(x, a) * inv(size(x))
    near, off = a - mean, mean + r
    return Sum(x, (a + r) * (a + r)), Sum(x, near * near) + size(x) * (off * off), free(x, r), finite(a), finite(r)


@law(
    "A masked sum of squares about a point is that about the mean under the mask, and the lanes left times the square"
    " of what that is off by.",
    stage="cited",
)
def squares_about_where(a, c: Mask, r, x):
    lanes = Sum(x, where(c, Const(1.0), 0.0))
    mean = Sum(x, where(c, a, 0.0)) * inv(lanes)
    near, off = a - mean, mean + r
    squares = Sum(x, where(c, (a + r) * (a + r), 0.0))
    return squares, Sum(x, where(c, near * near, 0.0)) + lanes * (off * off), free(x, r), finite(a), finite(r)
