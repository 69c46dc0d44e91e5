# mypy: disable-error-code="arg-type, no-untyped-call, operator"
"""The verifier verified: wrong laws of many families must be refused, and valid ones next to them accepted.

A wrong law is refuted with a counterexample in its own variables, and the symbolic prover alone never proves it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from napkin_eq import proving
from napkin_eq.law import (
    ABSENT,
    TRUE,
    Acc,
    Axis,
    Binary,
    Coordinate,
    Fold,
    Index,
    Map,
    Mask,
    Max,
    Monoid,
    Number,
    Online,
    Prev,
    Real,
    Reduce,
    Store,
    Sum,
    absent,
    distinct,
    exp,
    finite,
    free,
    inv,
    le,
    local,
    log,
    nonneg,
    nonzero,
    pos,
    safe,
    scales,
    size,
    where,
    zero,
)  # fmt: skip
from napkin_eq.proving import Verdict, prove
from napkin_eq.term import Const, Scan
from tests.statements import stated

WRONG: list[Callable[..., Any]] = []
VALID: list[Callable[..., Any]] = []


def wrong(function: Callable[..., Any]) -> Callable[..., Any]:
    WRONG.append(function)
    return function


def valid(function: Callable[..., Any]) -> Callable[..., Any]:
    VALID.append(function)
    return function


def sqrt(a):
    return Map("sqrt", (a,))


# Sums and products of reals, with the absent value and inv(0) = 0.


@wrong
def cancel_without_condition(a):
    return a * inv(a), Const(1.0)


@wrong
def cancel_a_finite_number(a):
    return a * inv(a), Const(1.0), finite(a)


@wrong
def zero_absorbs_everything(a):
    return a * 0.0, Const(0.0)


@wrong
def difference_with_itself(a):
    return a - a, Const(0.0)


@wrong
def sign_is_lost(a, b):
    return -(a + b), -a + b


@wrong
def inverse_of_a_sum(a, b):
    return inv(a + b), inv(a) + inv(b)


@wrong
def products_associate_with_sums(a, b, d):
    return a * (b + d), a * b + d


@wrong
def divide_both_sides(a, b, d):
    return (a * d) * inv(b * d), a * inv(b)


@valid
def divide_both_sides_by_what_is_not_zero(a, b, d):
    return (a * d) * inv(b * d), a * inv(b), nonzero(d)


@wrong
def root_of_a_square(a):
    return sqrt(a * a), a


@valid
def root_of_a_square_is_the_size(a):
    return sqrt(a * a), Map("abs", (a,))


@wrong
def maximum_of_products(a, b, d):
    return Map("max", (a * d, b * d)), Map("max", (a, b)) * d


# Exponentials and logarithms.


@wrong
def exponential_of_a_product(a, b):
    return exp(a * b), exp(a) * exp(b)


@wrong
def exponential_sign(a, b):
    return exp(a - b), exp(a) * exp(b)


@wrong
def logarithm_of_any_product(a, b):
    return log(a * b), log(a) + log(b)


@wrong
def logarithm_of_a_sum(a, b):
    return log(a + b), log(a) + log(b), pos(a), pos(b)


@wrong
def exponential_of_any_logarithm(a):
    return exp(log(a)), a


@wrong
def inverse_exponential(a):
    return exp(-a), -exp(a)


@valid
def sigmoid_by_its_definition(a):
    return Map("sigmoid", (a,)), inv(1.0 + exp(-a)), finite(a)


@valid
def hyperbolic_tangent_by_the_logistic(a):
    return Map("tanh", (a,)), 2.0 * Map("sigmoid", (2.0 * a,)) - 1.0


@valid
def exponential_of_three(a, b, d):
    return exp(a + b - d), exp(a) * exp(b) * inv(exp(d)), finite(d)


# Reductions.


@wrong
def any_factor_moves_out(a, b, x):
    return Sum(x, a * b), a * Sum(x, b)


@wrong
def summand_moves_out_of_a_sum(a, b, x):
    return Sum(x, a + b), a + Sum(x, b), free(x, a)


@wrong
def factor_moves_out_of_a_masked_sum(a, b, c, x):
    return Sum(x, a * b, c), a * Sum(x, b, c), free(x, a)


@valid
def finite_factor_moves_out_of_a_masked_sum(a, b, c, x):
    return Sum(x, a * b, c), a * Sum(x, b, c), free(x, a), finite(a)


@wrong
def sum_of_a_product(a, b, x):
    return Sum(x, a * b), Sum(x, a) * Sum(x, b)


@wrong
def sum_of_squares(a, x):
    return Sum(x, a * a), Sum(x, a) * Sum(x, a)


@wrong
def constant_sum_is_the_constant(a, x):
    return Sum(x, a), a, free(x, a)


@wrong
def sum_and_maximum_swap(a, x, y):
    return Sum(x, Max(y, a)), Max(y, Sum(x, a)), distinct(x, y)


@wrong
def product_of_sums_swaps(a, x, y):
    return Reduce("prod", x, Sum(y, a)), Sum(y, Reduce("prod", x, a)), distinct(x, y)


@wrong
def sign_under_a_maximum(a, x):
    return Max(x, -a), -Max(x, a)


@wrong
def any_factor_moves_out_of_a_maximum(a, b, x):
    return Max(x, a * b), a * Max(x, b), free(x, a)


@wrong
def factor_that_is_not_negative_moves_out_of_a_maximum(a, b, x):
    return Max(x, a * b), a * Max(x, b), free(x, a), nonneg(a), pos(b), free(x, b), le(a, -1.0 * b)


@wrong
def maximum_of_a_sum(a, b, x):
    return Max(x, a + b), Max(x, a) + Max(x, b)


@wrong
def maximum_through_exponential_sum(a, x):
    return Sum(x, exp(a)), exp(Sum(x, a))


@valid
def maximum_through_exponential(a, x):
    return Max(x, exp(a)), exp(Max(x, a))


@wrong
def mean_of_means(a, b, x):
    return Sum(x, a + b) * inv(size(x)), Sum(x, a) * inv(size(x)) + b


@wrong
def distinct_axes_forgotten(a, x: Axis, y: Axis):
    return Sum(x, a * Map("real", (Index(y),))), Sum(x, a) * Map("real", (Index(y),))


@wrong
def variance_by_moments(a, x):
    mean = Sum(x, a) * inv(size(x))
    return Sum(x, (a - mean) * (a - mean)), Sum(x, a * a) - mean * mean


@valid
def variance_by_moments_times_the_size(a, x):
    mean = Sum(x, a) * inv(size(x))
    return Sum(x, (a - mean) * (a - mean)), Sum(x, a * a) - size(x) * (mean * mean)


@valid
def mean_is_the_balance(a, x):
    mean = Sum(x, a) * inv(size(x))
    return Sum(x, a - mean), Const(0.0), finite(a)


@valid
def softmax_sums_to_one(a, x):
    return Sum(x, a * inv(Sum(x, a))), Const(1.0), pos(a)


@wrong
def shares_sum_to_one(a, x):
    return Sum(x, a * inv(Sum(x, a))), Const(1.0), nonneg(a)


@wrong
def coordinates_from_one(x):
    return Sum(x, Map("real", (Index(x),))), 0.5 * (size(x) * (size(x) + 1.0))


@valid
def coordinates_from_zero(x):
    return Sum(x, Map("real", (Index(x),))), 0.5 * (size(x) * (size(x) - 1.0))


@wrong
def sum_of_a_size_that_grows(x):
    return Sum(x, size(x)), 0.5 * (size(x) * (size(x) + 1.0))


@valid
def sum_of_a_size(x):
    return Sum(x, size(x)), size(x) * size(x)


@wrong
def two_sums_of_a_product(a, b, x, y):
    return Sum(x, Sum(y, a * b)), Sum(x, Sum(y, a)) * Sum(x, Sum(y, b)), distinct(x, y)


@valid
def two_sums_of_a_product_apart(a, b, x, y):
    return Sum(x, Sum(y, a * b)), Sum(x, a) * Sum(y, b), distinct(x, y), free(y, a), free(x, b)


@wrong
def few_lanes_have_equal_coordinates(a, x):
    return Max(x, a), a, le(size(x), 2.0)


# Shifts: the reference must cancel.


@wrong
def shift_not_undone(a, x):
    return Sum(x, exp(a)), Sum(x, exp(a - Max(x, a)))


@wrong
def shift_undone_the_wrong_way(a, x):
    return Sum(x, exp(a)), exp(-Max(x, a)) * Sum(x, exp(a - Max(x, a)))


@wrong
def shift_by_another_maximum(a, b, x):
    return Sum(x, exp(a)), exp(Max(x, b)) * Sum(x, exp(a - Max(x, b)))


@valid
def shift_by_any_present_number(a, b, x):
    return Sum(x, exp(a)), exp(b) * Sum(x, exp(a - b)), free(x, b), finite(b)


@wrong
def shift_of_a_masked_sum_by_what_it_leaves_out(a, c, x):
    return Sum(x, exp(a)), exp(Max(x, a, c)) * Sum(x, exp(a - Max(x, a, c)))


@wrong
def logarithm_of_a_shifted_sum(a, x):
    return log(Sum(x, exp(a))), log(Sum(x, exp(a - Max(x, a)))), finite(a)


@valid
def logarithm_of_a_sum_by_its_shift(a, x):
    return log(exp(Max(x, a)) * Sum(x, exp(a))), Max(x, a) + log(Sum(x, exp(a)))


# Masks.


@wrong
def mask_the_wrong_way(a, b, c, e: Mask):
    return where(c, where(e, a, b), b), where(c | e, a, b)


@wrong
def maximum_leaves_out_zeros(a, c, x):
    return Max(x, a), Max(x, a, c), zero(c, a)


@wrong
def sum_leaves_out_absent_lanes(a, c, x):
    return Sum(x, a), Sum(x, a, c), absent(c, a)


@wrong
def maximum_leaves_out_any_lane(a, c, x):
    return Max(x, a), Max(x, a, c)


@wrong
def zero_times_anything(a, b, c):
    return zero(c, a * b), zero(c, a)


@wrong
def sum_of_zeros_under_a_moving_mask(a, c, y):
    return zero(c, Sum(y, a)), zero(c, a)


@wrong
def exponential_of_zero_is_zero(a, c):
    return zero(c, exp(a)), zero(c, a)


@wrong
def masked_to_zero_is_absent(a, c):
    return absent(c, where(c, a, 0.0))


# Facts.


@wrong
def exponentials_are_positive(a):
    return pos(exp(a))


@wrong
def squares_are_positive(a):
    return pos(a * a), finite(a)


@wrong
def sum_of_nonzeros(a, b):
    return nonzero(a + b), nonzero(a), nonzero(b)


@wrong
def sum_of_nonzeros_over_an_axis(a, x):
    return nonzero(Sum(x, a)), nonzero(a)


@wrong
def any_factor_keeps_the_order(a, b, d):
    return le(a * d, b * d), le(a, b)


@wrong
def logarithms_are_present(a):
    return finite(log(a)), nonneg(a)


@wrong
def nothing_exceeds_its_sum(a, x):
    return le(a, Sum(x, a)), finite(a)


@valid
def nothing_exceeds_its_sum_of_nonnegatives(a, x):
    return le(a, Sum(x, a)), nonneg(a)


@wrong
def anything_is_safe(a, b):
    return safe(a - b), finite(a), finite(b)


@wrong
def masked_maximum_is_present(a, c, x):
    return finite(Max(x, a, c)), finite(a)


# Streams: factors, updates, their first block.


@wrong
def choices_are_local(a, b, c, x):
    return local(x, where(c, a, b)), local(x, a), local(x, b)


@wrong
def reductions_are_local(m: Monoid, a, x):
    return local(x, Reduce(m, x, a)), local(x, a)


@wrong
def exponential_changes_the_other_way(a, b, x):
    return scales(x, exp(a - Max(x, b)), exp(Max(x, b) - Prev(Max(x, b)))), local(x, a), local(x, b), le(a, Max(x, b))


@wrong
def exponential_with_an_unbounded_value(a, b, x):
    return scales(x, exp(a - Max(x, b)), exp(Prev(Max(x, b)) - Max(x, b))), local(x, a), local(x, b)


@wrong
def exponential_of_a_value_that_moves(a, b, x):
    return scales(x, exp(a - Max(x, b)), exp(Prev(Max(x, b)) - Max(x, b))), local(x, b), le(a, Max(x, b))


@wrong
def exponential_does_not_change(a, x):
    return scales(x, exp(a - Max(x, a)), 1.0), local(x, a)


@wrong
def inverse_changes_the_other_way(b, x):
    return scales(x, inv(Sum(x, b)), Sum(x, b) * inv(Prev(Sum(x, b)))), local(x, b), nonzero(Sum(x, b))


@wrong
def inverse_of_a_sum_that_may_vanish(b, x):
    return scales(x, inv(Sum(x, b)), Prev(Sum(x, b)) * inv(Sum(x, b))), local(x, b)


@wrong
def factors_that_move_are_ignored(a, b, r, x):
    return scales(x, a * b, r), scales(x, a, r)


@wrong
def changes_of_factors_add(a, b, r, s, x):
    return scales(x, a * b, r + s), scales(x, a, r), scales(x, b, s)


@wrong
def changes_of_summands_agree(a, b, r, s, x):
    return scales(x, a + b, r), scales(x, a, r), scales(x, b, s)


@valid
def summands_with_one_change(a, b, r, x):
    return scales(x, a + b, r), scales(x, a, r), scales(x, b, r)


@wrong
def running_sum_never_falls(b, x):
    return le(Prev(Sum(x, b)), Sum(x, b)), local(x, b)


@wrong
def rescale_missing(a, r, x):
    return Sum(x, a), Online(x, a, TRUE, Acc()), scales(x, a, r), free(x, r)


@wrong
def rescale_by_a_sum(a, r, x):
    return Sum(x, a), Online(x, a, TRUE, Acc() + r), scales(x, a, r), free(x, r)


@wrong
def rescale_twice(a, r, x):
    return Sum(x, a), Online(x, a, TRUE, Acc() * (r * r)), scales(x, a, r), free(x, r)


@wrong
def rescale_without_a_premise(a, r, x):
    return Sum(x, a), Online(x, a, TRUE, Acc() * r), free(x, r)


def carried(a: Any, x: Axis, update: Callable[[Any, Any], Any]) -> tuple[Any, ...]:
    mean = Sum(x, a) * inv(size(x))
    body = (a - mean) * (a - mean)
    return Sum(x, body), Online(x, body, TRUE, update(Prev(mean) - mean, Prev(size(x)))), local(x, a)


@wrong
def recentre_without_step(a, x):
    return carried(a, x, lambda step, before: Acc())


@wrong
def recentre_by_the_step(a, x):
    return carried(a, x, lambda step, before: Acc() + before * step)


@wrong
def recentre_by_the_size_after(a, x):
    return carried(a, x, lambda step, before: Acc() + size(x) * (step * step))


@wrong
def recentre_downwards(a, x):
    return carried(a, x, lambda step, before: Acc() - before * (step * step))


@wrong
def recentre_what_moves(a, x):
    return carried(a, x, lambda step, before: Acc() + before * (step * step))[:2]


@valid
def recentre_again(a, x):
    return carried(a, x, lambda step, before: Acc() + step * (before * step))


@wrong
def carried_sum_leaves_out_any_lane(a, c, u, x):
    return Online(x, a, TRUE, u, False), Online(x, a, c, u, False)


@wrong
def fold_by_another_monoid(a, c, x):
    return Sum(x, a, c), Fold("max", x, a, c, False)


@wrong
def fold_that_loses_its_mask(m: Monoid, a, c, x):
    return Reduce(m, x, a, c), Fold(m, x, a, TRUE, False)


@valid
def fold_of_a_stored_value(m: Monoid, a, c, x):
    return Reduce(m, x, a, c), Fold(m, x, Store(a), c, False)


# Premises that nothing meets.


@wrong
def vacuous(a, b):
    return a, b, pos(a), le(a, 0.0)


@wrong
def vacuous_inference(a):
    return nonneg(a), absent(Const(False), a), finite(a)


@valid
def numbers_are_numbers(a, k: Number, i: Coordinate, b: Real):
    return (a + k) + where(i <= i, b, ABSENT), k + (a + b)


@valid
def every_pair_commutes(op: Binary, a, b):
    return Map(op, (a, b)), Map(op, (b, a))


@wrong
def scans_are_reductions(a, x):
    return Scan("sum", x, a), Sum(x, a)


def verdicts(function: Callable[..., Any]) -> list[Verdict]:
    return prove(stated(function), use_cache=False)


def test_the_corpus_is_large_enough() -> None:
    assert len(WRONG) >= 40 and len(VALID) >= 10


@pytest.mark.parametrize("function", WRONG, ids=lambda f: f.__name__)
def test_a_wrong_law_is_refused(function: Callable[..., Any]) -> None:
    found = verdicts(function)
    assert {v.status for v in found} == {"refuted"}
    assert all(v.method == "vacuous" or " = " in v.detail or "lane" in v.detail for v in found)


@pytest.mark.parametrize("function", VALID, ids=lambda f: f.__name__)
def test_a_valid_law_is_accepted(function: Callable[..., Any]) -> None:
    assert [(v.status, v.detail) for v in verdicts(function) if v.status != "proved"] == []


@pytest.mark.parametrize("function", WRONG, ids=lambda f: f.__name__)
def test_the_symbolic_prover_alone_accepts_no_wrong_law(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    prove(stated(numbers_are_numbers), use_cache=False)
    monkeypatch.delitem(proving._PROVERS, "numeric")
    assert [v for v in prove(stated(function), timeout_s=0.2, use_cache=False) if v.status == "proved"] == []
