"""Shares of exponentials: relative to any reference they are the same numbers, and most references overflow."""

from napkin_eq.prove.corpus import inexact, valid, wrong
from napkin_eq.law import ABSENT, Axis, Max, Number, Sum, exp, finite, free, inv, where


def shares(a, reference, x, c=None):
    return exp(a - reference) * inv(Sum(x, exp(a - reference), c))


@inexact("reassociating", "unsafe")
def shares_relative_to_any_reference(a, r, x):
    return shares(a, Max(x, a), x), shares(a, r, x), free(x, r), finite(r)


@inexact("reassociating", "unsafe")
def weighted_shares_relative_to_any_reference(a, r, b, x):
    return Sum(x, shares(a, Max(x, a), x) * b), Sum(x, shares(a, r, x) * b), free(x, r), finite(r)


@inexact("reassociating", "unsafe")
def shares_without_reference(a, b, x):
    return Sum(x, exp(a - Max(x, a)) * b) * inv(Sum(x, exp(a - Max(x, a)))), Sum(x, exp(a) * b) * inv(Sum(x, exp(a)))


@inexact("reassociating", "unsafe")
def shares_relative_to_a_stale_maximum(a, b, x):
    return shares(a, Max(x, a), x), shares(a, Max(x, b), x), finite(Max(x, b))


@inexact("reassociating", "unsafe")
def shares_relative_to_the_maximum_of_a_part(a, c, x):
    return shares(a, Max(x, a), x), shares(a, Max(x, a, c), x), finite(Max(x, a, c))


@inexact("reassociating", "unsafe")
def shares_relative_to_the_smallest(a, x):
    return shares(a, Max(x, a), x), shares(a, -Max(x, -a), x)


@inexact("reassociating", "unsafe")
def masked_after_the_maximum(a, c, x):
    part = where(c, a, ABSENT)
    return shares(part, Max(x, part), x), shares(part, Max(x, a), x)


@inexact("reassociating", "unsafe")
def masked_sums_after_the_maximum(a, c, x):
    return where(c, shares(a, Max(x, a, c), x, c), 0.0), where(c, shares(a, Max(x, a), x, c), 0.0)


@inexact("reassociating", "unsafe")
def masked_and_made_shares_again(a, c, x):
    part, p = where(c, a, ABSENT), shares(a, Max(x, a), x)
    return shares(part, Max(x, part), x), where(c, p, 0.0) * inv(Sum(x, where(c, p, 0.0)))


@valid("")
def shares_made_again_of_a_masked_sum(a, b, c, x):
    part, p = where(c, a, ABSENT), shares(a, Max(x, a), x)
    return Sum(x, shares(part, Max(x, part), x) * b), Sum(x, where(c, p, 0.0) * b) * inv(Sum(x, p, c))


@valid("")
def scale_of_scores_in_one_operand(s, a, b, x, d: Axis):
    after, before = Sum(d, a * b) * s, Sum(d, (a * s) * b)
    return shares(after, Max(x, after), x), shares(before, Max(x, before), x), free(d, s)


@valid("")
def constant_scale_of_scores_in_one_operand(s: Number, a, b, x, d: Axis):
    after, before = s * Sum(d, a * b), Sum(d, (s * a) * b)
    return shares(after, Max(x, after), x), shares(before, Max(x, before), x)


@wrong
def reference_that_moves(a, r, x):
    return shares(a, Max(x, a), x), shares(a, r, x), finite(r)


@wrong
def reference_that_may_be_absent(a, r, x):
    return shares(a, Max(x, a), x), shares(a, r, x), free(x, r)


@wrong
def two_references(a, r, s, x):
    return shares(a, Max(x, a), x), exp(a - r) * inv(Sum(x, exp(a - s))), free(x, r), finite(r), free(x, s), finite(s)


@wrong
def masked_and_not_made_shares_again(a, c, x):
    part = where(c, a, ABSENT)
    return shares(part, Max(x, part), x), where(c, shares(a, Max(x, a), x), 0.0)


@wrong
def scale_in_both_operands(s, a, b, x, d: Axis):
    after, before = Sum(d, a * b) * s, Sum(d, (a * s) * (b * s))
    return shares(after, Max(x, after), x), shares(before, Max(x, before), x), free(d, s), finite(s)
