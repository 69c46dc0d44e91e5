"""Activations, biases and residuals pushed through a sum that is split."""

from napkin_eq.prove.corpus import valid, wrong
from napkin_eq.law import Const, Map, Max, Sum, Unary, distinct, free


def positive_part(a):
    return Map("max", (Const(0.0), a))


@wrong
def positive_part_of_a_sum(a, x):
    return positive_part(Sum(x, a)), Sum(x, positive_part(a))


@wrong
def positive_part_before_the_last_split(a, c, x):
    return positive_part(Sum(x, a)), positive_part(Sum(x, a, c)) + Sum(x, a, ~c)


@wrong
def activation_of_a_sum(op: Unary, a, b):
    return Map(op, (a * a + b * 3.0,)), Map(op, (a * a,)) + Map(op, (b * 3.0,)) + 0.25


@wrong
def bias_in_every_split(a, b, x, y):
    return Sum(x, Sum(y, a)) + b, Sum(x, Sum(y, a) + b), free(x, b), free(y, b), distinct(x, y)


@wrong
def residual_in_both_splits(a, b, c, x):
    return Sum(x, a) + b, (Sum(x, a, c) + b) + (Sum(x, a, ~c) + b), free(x, b)


@wrong
def limit_in_every_split(a, x):
    return Map("min", (Const(1.0), Sum(x, a))), Sum(x, Map("min", (Const(1.0), a)))


@valid("")
def bias_after_all_splits(a, b, x, y):
    return Sum(x, Sum(y, a)) + b, Sum(y, Sum(x, a)) + b, free(x, b), free(y, b), distinct(x, y)


@valid("exact")
def positive_part_of_a_maximum(a, x):
    return positive_part(Max(x, a)), Max(x, positive_part(a))
