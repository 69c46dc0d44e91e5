"""Exponentials and logarithms."""

from napkin_eq.prove.corpus import valid, wrong
from napkin_eq.law import Map, Max, Sum, exp, finite, inv, log, pos


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


@valid("")
def sigmoid_by_its_definition(a):
    return Map("sigmoid", (a,)), inv(1.0 + exp(-a)), finite(a)


@valid("")
def hyperbolic_tangent_by_the_logistic(a):
    return Map("tanh", (a,)), 2.0 * Map("sigmoid", (2.0 * a,)) - 1.0


@valid("")
def exponential_of_three(a, b, d):
    return exp(a + b - d), exp(a) * exp(b) * inv(exp(d)), finite(d)


@wrong
def maximum_through_exponential_sum(a, x):
    return Sum(x, exp(a)), exp(Sum(x, a))


@valid("")
def maximum_through_exponential(a, x):
    return Max(x, exp(a)), exp(Max(x, a))
