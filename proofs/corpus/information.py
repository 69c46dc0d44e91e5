"""Entropies, divergences and weighted means of convex functions: each lies on one side of the tangents of the logarithm
and the exponential.
"""

from napkin_eq.law import Max, Sum, distinct, exp, finite, free, inv, le, log, nonneg, pos, size
from napkin_eq.prove.corpus import valid, wrong


def unit(a):
    return le(a, 1.0), le(1.0, a)


def share(x, a):
    return a * inv(Sum(x, a))


@valid("")
def entropy_is_below_the_logarithm_of_the_size(p, x):
    return le(-Sum(x, p * log(p)), log(size(x))), pos(p), *unit(Sum(x, p))


@wrong
def entropy_is_below_the_logarithm_of_one_lane_less(p, x):
    return le(-Sum(x, p * log(p)), log(size(x) - 0.5)), pos(p), *unit(Sum(x, p))


@wrong
def entropy_of_what_does_not_sum_to_one(p, x):
    return le(-Sum(x, p * log(p)), log(size(x))), pos(p)


@wrong
def entropy_by_the_size_of_another_axis(p, x, y):
    return le(-Sum(x, p * log(p)), log(size(y))), pos(p), *unit(Sum(x, p)), distinct(x, y)


@valid("")
def entropy_is_not_negative(p, x):
    return le(0.0, -Sum(x, p * log(p))), pos(p), le(p, 1.0)


@wrong
def entropy_of_large_weights_is_not_negative(p, x):
    return le(0.0, -Sum(x, p * log(p))), pos(p), le(p, 1.5)


@valid("")
def divergence_is_not_negative(p, q, x):
    return le(0.0, Sum(x, p * (log(p) - log(q)))), pos(p), pos(q), *unit(Sum(x, p)), *unit(Sum(x, q))


@valid("")
def divergence_from_no_more_than_one_is_not_negative(p, q, x):
    return le(0.0, Sum(x, p * (log(p) - log(q)))), pos(p), pos(q), *unit(Sum(x, p)), le(Sum(x, q), 1.0)


@wrong
def divergence_from_more_than_one_is_not_negative(p, q, x):
    return le(0.0, Sum(x, p * (log(p) - log(q)))), pos(p), pos(q), *unit(Sum(x, p)), le(1.0, Sum(x, q))


@wrong
def divergence_of_what_does_not_sum_to_one(p, q, x):
    return le(0.0, Sum(x, p * (log(p) - log(q)))), pos(p), pos(q), *unit(Sum(x, q))


@wrong
def divergence_weighted_by_the_other(a, b, x):
    p, q = share(x, a), share(x, b)
    return le(0.0, Sum(x, q * (log(p) - log(q)))), pos(a), pos(b)


@wrong
def divergence_is_the_same_the_other_way(a, b, x):
    p, q = share(x, a), share(x, b)
    return Sum(x, p * (log(p) - log(q))), Sum(x, q * (log(q) - log(p))), pos(a), pos(b)


@wrong
def divergence_over_another_axis(p, q, x, y):
    return le(0.0, Sum(x, p * (log(p) - log(q)))), pos(p), pos(q), *unit(Sum(x, p)), *unit(Sum(y, q)), distinct(x, y)


@valid("")
def divergence_of_weights_of_any_sum(p, q, x):
    """Of generalized Kullback-Leibler divergence the sums are told apart."""
    return le(Sum(x, p) - Sum(x, q), Sum(x, p * (log(p) - log(q)))), pos(p), pos(q)


@wrong
def divergence_of_weights_of_any_sum_turned(p, q, x):
    return le(Sum(x, q) - Sum(x, p), Sum(x, p * (log(p) - log(q)))), pos(p), pos(q)


@valid("")
def cross_entropy_is_above_the_entropy(p, q, x):
    return le(-Sum(x, p * log(p)), -Sum(x, p * log(q))), pos(p), pos(q), *unit(Sum(x, p)), *unit(Sum(x, q))


@wrong
def cross_entropy_is_below_the_entropy(a, b, x):
    p, q = share(x, a), share(x, b)
    return le(-Sum(x, p * log(q)), -Sum(x, p * log(p))), pos(a), pos(b)


@valid("")
def divergence_by_weights_that_may_be_zero(p, q, r, x):
    return le(Sum(x, p * log(r)), Sum(x, p * log(q)) + Sum(x, p * r * inv(q)) - Sum(x, p)), nonneg(p), pos(q), pos(r)


@wrong
def divergence_by_weights_of_any_sign(p, q, r, x):
    return le(Sum(x, p * log(r)), Sum(x, p * log(q)) + Sum(x, p * r * inv(q)) - Sum(x, p)), finite(p), pos(q), pos(r)


@valid("")
def weighted_mean_of_logarithms(w, a, x):
    return le(Sum(x, w * log(a)), log(Sum(x, w * a))), pos(w), pos(a), *unit(Sum(x, w))


@wrong
def logarithm_of_a_weighted_mean(w, a, x):
    return le(log(Sum(x, w * a)), Sum(x, w * log(a))), pos(w), pos(a), *unit(Sum(x, w))


@wrong
def weighted_sum_of_logarithms(w, a, x):
    return le(Sum(x, w * log(a)), log(Sum(x, w * a))), pos(w), pos(a)


@valid("")
def exponential_of_a_weighted_mean(w, a, x):
    return le(exp(Sum(x, w * a)), Sum(x, w * exp(a))), nonneg(w), finite(a), *unit(Sum(x, w))


@wrong
def exponential_of_a_mean_by_weights_of_any_sign(w, a, x):
    return le(exp(Sum(x, w * a)), Sum(x, w * exp(a))), finite(w), finite(a), *unit(Sum(x, w))


@wrong
def exponential_of_a_weighted_sum(w, a, x):
    return le(exp(Sum(x, w * a)), Sum(x, w * exp(a))), nonneg(w), finite(a)


@valid("")
def weighted_mean_is_below_log_sum_exp(w, a, x):
    """The variational bound that softmax meets, without the entropy of the weights."""
    return le(Sum(x, w * a), log(Sum(x, exp(a)))), nonneg(w), finite(a), *unit(Sum(x, w))


@wrong
def weighted_sum_is_below_log_sum_exp(w, a, x):
    return le(Sum(x, w * a), log(Sum(x, exp(a)))), nonneg(w), finite(a)


@valid("")
def variational_bound_of_log_sum_exp(w, a, x):
    return le(Sum(x, w * a) - Sum(x, w * log(w)), log(Sum(x, exp(a)))), pos(w), finite(a), *unit(Sum(x, w))


@wrong
def variational_bound_with_twice_the_entropy(w, a, x):
    return le(Sum(x, w * a) - 2.0 * Sum(x, w * log(w)), log(Sum(x, exp(a)))), pos(w), finite(a), *unit(Sum(x, w))


@valid("")
def weighted_mean_is_below_the_maximum(w, a, x):
    return le(Sum(x, w * a), Max(x, a)), nonneg(w), finite(a), *unit(Sum(x, w))


@wrong
def weighted_mean_is_above_the_maximum(w, a, x):
    return le(Max(x, a), Sum(x, w * a)), nonneg(w), finite(a), *unit(Sum(x, w))


@wrong
def sum_by_weights_up_to_one_is_below_the_maximum(w, a, x):
    return le(Sum(x, w * a), Max(x, a)), nonneg(w), finite(a), le(Sum(x, w), 1.0)


@valid("")
def log_sum_exp_is_above_every_lane(a, x):
    return le(a, log(Sum(x, exp(a))))


@wrong
def log_sum_exp_is_above_twice_every_lane(a, x):
    return le(2.0 * a, log(Sum(x, exp(a)))), finite(a)


@valid("")
def log_sum_exp_rises(a, b, x):
    return le(log(Sum(x, exp(a))), log(Sum(x, exp(b)))), le(a, b)


@wrong
def log_sum_exp_rises_by_a_maximum(a, b, x):
    return le(log(Sum(x, exp(a))), log(Sum(x, exp(b)))), le(Max(x, a), Max(x, b))


@valid("")
def weights_of_a_softmax_are_below_one(a, x):
    return le(exp(a) * inv(Sum(x, exp(a))), 1.0), finite(a)


@wrong
def weights_of_a_softmax_are_below_a_half(a, x):
    return le(exp(a) * inv(Sum(x, exp(a))), 0.5), finite(a)


@valid("")
def reference_that_is_fixed_bounds_entropy(p, r, x):
    return le(log(r) * Sum(x, p) - Sum(x, p * log(p)), size(x) * r - Sum(x, p)), pos(p), pos(r), free(x, r)


@wrong
def reference_that_varies_bounds_entropy(p, r, x):
    return le(Sum(x, log(r) * p) - Sum(x, p * log(p)), size(x) * r - Sum(x, p)), pos(p), pos(r)
