"""Right in the reals, and not what it claims to be in floating point."""

from napkin_eq.prove.corpus import inexact
from napkin_eq.law import Const, Map, Max, Sum, exp, finite, free, inv, le, log, nonneg, size


@inexact("exact", "reassociating")
def sums_associate_exactly(a, b, d):
    return (a + b) + d, a + (b + d)


@inexact("exact", "reassociating")
def products_distribute_exactly(a, b, d):
    return a * (b + d), a * b + a * d


@inexact("exact", "reassociating")
def inverses_cancel_exactly(a):
    return inv(inv(a)), a


@inexact("exact", "reassociating")
def thirds_are_a_whole(a):
    return (a * inv(Const(3.0))) * 3.0, a


@inexact("reassociating", "unsafe")
def variance_by_moments_of_large_numbers(a, x):
    mean = Sum(x, a) * inv(size(x))
    return Sum(x, (a - mean) * (a - mean)), Sum(x, a * a) - size(x) * (mean * mean)


@inexact("reassociating", "unsafe")
def logistic_unguarded(a):
    return Map("sigmoid", (a,)), exp(a) * inv(1.0 + exp(a))


@inexact("reassociating", "unsafe")
def tangent_unguarded(a):
    return Map("tanh", (a,)), (exp(a) - exp(-a)) * inv(exp(a) + exp(-a)), finite(a)


@inexact("reassociating", "unsafe")
def logarithm_of_one_more_unguarded(a):
    return a + log(1.0 + exp(-a)), log(1.0 + exp(a)), nonneg(a)


@inexact("reassociating", "unsafe")
def exponents_not_shifted(a, b, d, x):
    shifted = exp(a - b)
    return Sum(x, shifted * d) * inv(Sum(x, shifted)), Sum(x, exp(a) * d) * inv(Sum(x, exp(a))), free(x, b), finite(b)


@inexact("reassociating", "unsafe")
def reference_of_another_row(a, b, x):
    return Sum(x, exp(a)), exp(b) * Sum(x, exp(a - b)), free(x, b), finite(b)


@inexact("reassociating", "unsafe")
def logarithm_of_a_ratio(a, b):
    return a - b, log(exp(a - b))


@inexact("reassociating", "unsafe")
def difference_of_exponentials(a, b):
    return exp(a - b), exp(a) * inv(exp(b)), finite(b)


@inexact("reassociating", "unsafe")
def maximum_that_starts_at_zero(a, b, d, x):
    shifted = exp(a - Map("max", (Const(0.0), d)))
    return (
        Sum(x, exp(a - d) * b) * inv(Sum(x, exp(a - d))),
        Sum(x, shifted * b) * inv(Sum(x, shifted)),
        free(x, d),
        finite(d),
        le(a, d),
    )


@inexact("reassociating", "unsafe")
def mask_after_the_maximum(a, c, x):
    return Sum(x, exp(a), c), exp(Max(x, a)) * Sum(x, exp(a - Max(x, a)), c)


@inexact("reassociating", "unsafe")
def small_difference_of_large_numbers(a, b):
    return a, (a + b) - b, finite(b)
