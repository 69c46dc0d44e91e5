"""Parts of a reduction that are merged: two by a mask and its opposite, many by stretches; sums, shares, logarithms,
squares about means.
"""

from napkin_eq.prove.corpus import valid, wrong
from napkin_eq.law import ABSENT, Axis, Const, Map, Mask, Max, Sum, exp, finite, free, inv, log, size, stretch, where


def merged(a, b, c, x, join=lambda m, n: Map("max", (m, n))):
    """The weighted sum of exponentials and their sum, of two parts relative to the larger maximum."""
    first, second = Max(x, a, c), Max(x, a, ~c)
    top = join(first, second)
    return tuple(
        exp(first - top) * Sum(x, exp(a - first) * part, c) + exp(second - top) * Sum(x, exp(a - second) * part, ~c)
        for part in (b, Const(1.0))
    )


@valid("")
def two_parts_by_maximum_and_sum(a, b, c, x):
    return merged(a, b, c, x)[0], Sum(x, exp(a - Max(x, a)) * b)


@valid("")
def two_parts_of_shares(a, b, c, x):
    weighted, total = merged(a, b, c, x)
    return weighted * inv(total), Sum(x, exp(a - Max(x, a)) * b) * inv(Sum(x, exp(a - Max(x, a))))


@wrong
def two_parts_relative_to_the_smaller_maximum(a, b, c, x):
    return merged(a, b, c, x, lambda m, n: Map("min", (m, n)))[0], Sum(x, exp(a - Max(x, a)) * b)


@wrong
def two_parts_that_leave_lanes_out(a, b, c, x, e: Mask):
    weighted, total = merged(where(e, a, ABSENT), b, c, x)
    return weighted * inv(total), Sum(x, exp(a - Max(x, a)) * b) * inv(Sum(x, exp(a - Max(x, a))))


@valid("")
def two_parts_by_the_logarithms_of_their_sums(a, b, c, x):
    first, second, m = Max(x, a, c), Max(x, a, ~c), Max(x, a)
    s, t = Sum(x, exp(a - first), c), Sum(x, exp(a - second), ~c)
    u, v = first + log(s), second + log(t)
    whole = log(exp(u) + exp(v))
    parts = exp(u - whole) * (Sum(x, exp(a - first) * b, c) * inv(s)) + exp(v - whole) * (
        Sum(x, exp(a - second) * b, ~c) * inv(t)
    )
    return parts, Sum(x, exp(a - m) * b) * inv(Sum(x, exp(a - m)))


@wrong
def two_parts_by_the_larger_logarithm(a, b, c, x):
    s, t = Sum(x, exp(a), c), Sum(x, exp(a), ~c)
    whole = Map("max", (log(s), log(t)))
    parts = exp(log(s) - whole) * (Sum(x, exp(a) * b, c) * inv(s)) + exp(log(t) - whole) * (
        Sum(x, exp(a) * b, ~c) * inv(t)
    )
    return parts, Sum(x, exp(a) * b) * inv(Sum(x, exp(a)))


@valid("")
def many_parts_by_maximum_and_sum(a, b, c: Mask, x, p: Axis):
    part = where(c, a, ABSENT)
    own, top = Max(x, part), Max(p, Max(x, part))
    return (
        Sum(x, exp(a - Max(x, a)) * b),
        Sum(p, exp(own - top) * Sum(x, exp(part - own) * b)),
        stretch(p, x, c),
        free(p, a),
        free(p, b),
    )


@valid("")
def many_parts_by_maximum_and_masked_sum(a, b, c: Mask, x, p: Axis):
    own = Max(x, a, c)
    parts = Sum(p, exp(own - Max(p, own)) * Sum(x, exp(a - own) * b, c))
    return Sum(x, exp(a - Max(x, a)) * b), parts, stretch(p, x, c), free(p, a), free(p, b)


@valid("")
def many_parts_by_the_logarithms_of_their_sums(a, b, c: Mask, x, p: Axis):
    part = where(c, a, ABSENT)
    own = Max(x, part)
    total = Sum(x, exp(part - own))
    u = own + log(total)
    parts = Sum(p, exp(u - log(Sum(p, exp(u)))) * (Sum(x, exp(part - own) * b) * inv(total)))
    return (
        Sum(x, exp(a - Max(x, a)) * b) * inv(Sum(x, exp(a - Max(x, a)))),
        parts,
        stretch(p, x, c),
        free(p, a),
        free(p, b),
    )


@wrong
def many_parts_without_weights(a, b, c: Mask, x, p: Axis):
    part = where(c, a, ABSENT)
    parts = Sum(p, Sum(x, exp(part - Max(x, part)) * b))
    return Sum(x, exp(a - Max(x, a)) * b), parts, stretch(p, x, c), free(p, a), free(p, b)


@wrong
def many_parts_of_values_that_differ_by_part(a, c: Mask, x, p: Axis):
    return Sum(x, a), Sum(p, Sum(x, where(c, a, 0.0))), stretch(p, x, c)


def squares(a, c, x):
    """The number of lanes under a mask, their mean, the sum of squares about it."""
    n = Sum(x, Const(1.0), c)
    u = Sum(x, a, c) * inv(n)
    return n, u, Sum(x, (a - u) * (a - u), c)


@valid("")
def squares_of_two_parts(a, c, x):
    (n, u, v), (k, w, z), mean = squares(a, c, x), squares(a, ~c, x), Sum(x, a) * inv(size(x))
    return v + z + (u - w) * (u - w) * (n * k * inv(n + k)), Sum(x, (a - mean) * (a - mean))


@valid("")
def squares_of_two_parts_counted_by_choice(a, c, x):
    n, k = Sum(x, where(c, Const(1.0), 0.0)), Sum(x, where(c, Const(0.0), 1.0))
    u, w = Sum(x, where(c, a, 0.0)) * inv(n), Sum(x, where(c, Const(0.0), a)) * inv(k)
    v, z = Sum(x, where(c, (a - u) * (a - u), 0.0)), Sum(x, where(c, Const(0.0), (a - w) * (a - w)))
    mean = Sum(x, a) * inv(size(x))
    return v + z + (u - w) * (u - w) * (n * k * inv(n + k)), Sum(x, (a - mean) * (a - mean)), finite(a)


@valid("")
def squares_of_many_parts(a, c: Mask, x, p: Axis):
    (n, u, v), mean = squares(a, c, x), Sum(x, a) * inv(size(x))
    return Sum(x, (a - mean) * (a - mean)), Sum(p, v + n * ((u - mean) * (u - mean))), stretch(p, x, c), free(p, a)


@wrong
def squares_of_two_parts_without_their_means(a, c, x):
    (_, _, v), (_, _, z), mean = squares(a, c, x), squares(a, ~c, x), Sum(x, a) * inv(size(x))
    return v + z, Sum(x, (a - mean) * (a - mean))


@wrong
def squares_of_many_parts_about_an_even_mean(a, c: Mask, x, p: Axis):
    (n, u, v), mean = squares(a, c, x), Sum(x, a) * inv(size(x))
    even = Sum(p, u) * inv(size(p))
    return Sum(x, (a - mean) * (a - mean)), Sum(p, v + n * ((u - even) * (u - even))), stretch(p, x, c), free(p, a)
