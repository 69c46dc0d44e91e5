"""Moments: a sum of squares about any point is that about the mean of what is summed, and what the mean is off by.

So the squares about a mean over several axes are, fold by fold, those about each part's own mean, which a kernel has as
soon as it has read the part. No e-graph fires the law: it is cited by the chain to a diagram whose sums of squares are
taken in parts (search/moments.py).
"""

from napkin_eq.law import Sum, finite, free, inv, law, size


@law(
    "A sum of squares about a point is that about the mean, and the lanes times the square of what that is off by.",
    stage="cited",
)
def squares_about(a, r, x):
    mean = Sum(x, a) * inv(size(x))
    near, off = a - mean, mean + r
    return Sum(x, (a + r) * (a + r)), Sum(x, near * near) + size(x) * (off * off), free(x, r), finite(a), finite(r)
