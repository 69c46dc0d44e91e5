"""Sums that move by a step: of the wrong sign or size, with a count missing, from a mean of something else, by a stale
reference.
"""

from napkin_eq.prove.corpus import valid, wrong
from napkin_eq.law import (
    TRUE,
    Acc,
    Max,
    Online,
    Prev,
    Sum,
    along,
    finite,
    free,
    inv,
    local,
    moves,
    nonneg,
    null,
    scales,
    settled,
    size,
)


def mean(a, x):
    return Sum(x, a) * inv(size(x))


def moved(r):
    return Prev(r) - r


def products(a, b, x, update):
    """The sum of (a - mean of a)(b - mean of b), carried by an update of the two steps and the number of
    lanes before.
    """
    body = (a - mean(a, x)) * (b - mean(b, x))
    return (
        Sum(x, body),
        Online(x, body, TRUE, update(moved(mean(a, x)), moved(mean(b, x)), Prev(size(x)))),
        local(x, a),
        local(x, b),
        finite(a),
        finite(b),
    )


def weighted(a, w, x, update, r=None):
    """The sum of w(a - weighted mean)(a - weighted mean), carried by an update of the step and the weights before."""
    r = Sum(x, a * w) * inv(Sum(x, w)) if r is None else r
    body = (a - r) * (a - r) * w
    return (
        Sum(x, body),
        Online(x, body, TRUE, update(moved(r), Prev(Sum(x, w)))),
        local(x, a),
        local(x, w),
        finite(a),
        nonneg(w),
    )


def cubes(a, x, update):
    """The sum of the third powers about the mean, carried by an update of the step, the squares and the number of lanes
    before.
    """
    u = a - mean(a, x)
    return (
        Sum(x, u * u * u),
        Online(x, u * u * u, TRUE, update(moved(mean(a, x)), Prev(Sum(x, u * u)), Prev(size(x)))),
        local(x, a),
        finite(a),
    )


def further(a, b, r, s, t, x, change, more=()):
    """A further factor b - r, whose sum is said to move by `change`."""
    given = (
        local(x, b),
        along(x, b),
        free(x, r),
        settled(x, r),
        finite(b),
        finite(a),
        moves(x, a, 1.0, t),
        moves(x, a, b - r, s),
    )
    return moves(x, (b - r) * a, 1.0, change), *given, *more


@valid("")
def products_about_the_means(a, b, x):
    return products(a, b, x, lambda d, e, n: Acc() + d * (e * n))


@wrong
def products_whose_step_is_taken_away(a, b, x):
    return products(a, b, x, lambda d, e, n: Acc() - d * (e * n))


@wrong
def products_without_the_count(a, b, x):
    return products(a, b, x, lambda d, e, n: Acc() + d * e)


@wrong
def products_by_one_step_alone(a, b, x):
    return products(a, b, x, lambda d, e, n: Acc() + d * (d * n))


@wrong
def products_by_twice_the_step(a, b, x):
    return products(a, b, x, lambda d, e, n: Acc() + 2.0 * (d * (e * n)))


@wrong
def products_by_the_count_after(a, b, x):
    return products(a, b, x, lambda d, e, n: Acc() + d * (e * size(x)))


@wrong
def products_about_the_mean_of_the_other(a, b, x):
    body = (a - mean(b, x)) * (b - mean(a, x))
    return (
        Sum(x, body),
        Online(x, body, TRUE, Acc() + moved(mean(a, x)) * (moved(mean(b, x)) * Prev(size(x)))),
        local(x, a),
        local(x, b),
        finite(a),
        finite(b),
    )


@valid("")
def weighted_squares(a, w, x):
    return weighted(a, w, x, lambda d, n: Acc() + d * (d * n))


@wrong
def weighted_squares_about_the_plain_mean(a, w, x):
    return weighted(a, w, x, lambda d, n: Acc() + d * (d * n), mean(a, x))


@wrong
def weighted_squares_by_the_number_of_lanes(a, w, x):
    return weighted(a, w, x, lambda d, n: Acc() + d * (d * Prev(size(x))))


@wrong
def weighted_squares_by_the_bare_step(a, w, x):
    return weighted(a, w, x, lambda d, n: Acc() + d * n)


@wrong
def weighted_squares_by_the_reference_before(a, w, x):
    r = Prev(Sum(x, a * w) * inv(Sum(x, w)))
    return weighted(a, w, x, lambda d, n: Acc() + r * (r * n))


@valid("")
def cubes_about_the_mean(a, x):
    return cubes(a, x, lambda d, q, n: Acc() + 3.0 * d * q + d * (d * (d * n)))


@wrong
def cubes_without_the_factor_three(a, x):
    return cubes(a, x, lambda d, q, n: Acc() + d * q + d * (d * (d * n)))


@wrong
def cubes_by_the_squares_twice(a, x):
    return cubes(a, x, lambda d, q, n: Acc() + 2.0 * d * q + d * (d * (d * n)))


@wrong
def cubes_without_the_squares(a, x):
    return cubes(a, x, lambda d, q, n: Acc() + d * (d * (d * n)))


@wrong
def cubes_by_the_squares_after(a, x):
    u = a - mean(a, x)
    return cubes(a, x, lambda d, q, n: Acc() + 3.0 * d * Sum(x, u * u) + d * (d * (d * n)))


@wrong
def differences_move_the_other_way(b, r, x):
    return moves(x, b - r, 1.0, (r - Prev(r)) * Prev(size(x))), local(x, b), free(x, r), settled(x, r), finite(b)


@wrong
def differences_move_by_the_step_alone(b, r, x):
    return moves(x, b - r, 1.0, Prev(r) - r), local(x, b), free(x, r), settled(x, r), finite(b)


@wrong
def differences_of_what_moves_itself(b, r, x):
    return moves(x, b - r, 1.0, (Prev(r) - r) * Prev(size(x))), free(x, r), settled(x, r), finite(b)


@wrong
def differences_from_what_has_no_value_at_first(b, x):
    return moves(x, b - Max(x, b), 1.0, (Prev(Max(x, b)) - Max(x, b)) * Prev(size(x))), local(x, b), finite(b)


@wrong
def weighted_differences_do_not_move(b, r, w, x):
    return moves(x, b - r, w, 0.0), local(x, b), free(x, r), settled(x, r), finite(b), finite(w)


@wrong
def weighted_differences_by_the_weights_after(b, r, w, x):
    return moves(x, b - r, w, (Prev(r) - r) * Sum(x, w)), local(x, b), free(x, r), settled(x, r), finite(b), finite(w)


@valid("")
def further_difference(a, b, r, s, t, x):
    return further(a, b, r, s, t, x, (Prev(r) - r) * (Prev(Sum(x, a)) + t) + s)


@wrong
def further_difference_by_the_sum_before(a, b, r, s, t, x):
    return further(a, b, r, s, t, x, (Prev(r) - r) * Prev(Sum(x, a)) + s)


@wrong
def further_difference_without_what_moved_beside_it(a, b, r, s, t, x):
    return further(a, b, r, s, t, x, (Prev(r) - r) * (Prev(Sum(x, a)) + t))


@wrong
def further_difference_with_the_steps_exchanged(a, b, r, s, t, x):
    return further(a, b, r, s, t, x, (Prev(r) - r) * (Prev(Sum(x, a)) + s) + t)


@wrong
def further_difference_whose_others_do_not_sum_to_none(a, b, r, s, t, x):
    return further(a, b, r, s, t, x, (Prev(r) - r) * t + s)


@wrong
def carried_without_the_step(a, s, x):
    return Sum(x, a), Online(x, a, TRUE, Acc()), moves(x, a, 1.0, s), free(x, s), finite(a)


@wrong
def carried_by_the_step_of_another_weight(a, s, w, x):
    return Sum(x, a), Online(x, a, TRUE, Acc() + s), moves(x, a, w, s), free(x, s), local(x, w), finite(a), finite(w)


@wrong
def carried_with_weights_that_change(a, s, w, x):
    return Sum(x, a * w), Online(x, a * w, TRUE, Acc() + s), moves(x, a, w, s), free(x, s), finite(a), finite(w)


@wrong
def carried_and_scaled_before_the_step(a, r, s, w, x):
    update = Acc() * r + s
    return (
        Sum(x, a * w),
        Online(x, a * w, TRUE, update),
        moves(x, a, w, s),
        scales(x, w, r),
        free(x, s),
        free(x, r),
        finite(a),
        finite(w),
    )


@wrong
def differences_from_half_the_mean_sum_to_none(a, x):
    return null(x, a - Sum(x, a) * inv(size(x)) * 0.5), finite(a)


@wrong
def differences_from_the_mean_of_absent_lanes(a, x):
    return null(x, a - Sum(x, a) * inv(size(x)))


@wrong
def weighted_differences_whose_weights_cancel(a, w, x):
    return null(x, (a - Sum(x, a * w) * inv(Sum(x, w))) * w), finite(a), finite(w)


@wrong
def weighted_differences_from_the_plain_mean(a, w, x):
    return null(x, (a - Sum(x, a) * inv(size(x))) * w), finite(a), nonneg(w)


@wrong
def a_maximum_has_a_value_at_first(a, x):
    return settled(x, Max(x, a)), finite(a)


@wrong
def a_sum_of_what_may_be_absent_has_a_value(a, x):
    return settled(x, Sum(x, a))
