"""What is known of signs, presence and order: rules between judgments, each proved like a law."""

from napkin_eq.law import (
    ABSENT, FUNCTIONS, Map, Max, Monoid, Reduce, Sum, exp, finite, infer, inv, le, log, nonneg, nonzero, pos, safe,
    size, where,
)  # fmt: skip


@infer("An exponential is never negative.")
def nonneg_exp(a):
    return nonneg(exp(a))


@infer("The exponential of a present value is positive.")
def pos_exp(a):
    return pos(exp(a)), finite(a)


@infer("A size is positive.")
def pos_size(x):
    return pos(size(x))


@infer("A size is not negative, of no lanes either.")
def nonneg_size(x):
    return nonneg(size(x))


@infer("A square is not negative.")
def nonneg_square(a):
    return nonneg(a * a), finite(a)


@infer("An absolute value is not negative.")
def nonneg_abs(a):
    return nonneg(Map("abs", (a,))), finite(a)


@infer("A logistic value is positive.")
def pos_sigmoid(a):
    return pos(Map("sigmoid", (a,))), finite(a)


@infer("A product of positive numbers is positive.")
def pos_mul(a, b):
    return pos(a * b), pos(a), pos(b)


@infer("A product of numbers that are not negative is not negative.")
def nonneg_mul(a, b):
    return nonneg(a * b), nonneg(a), nonneg(b)


@infer("A positive number plus one that is not negative is positive.")
def pos_add(a, b):
    return pos(a + b), pos(a), nonneg(b)


@infer("A number that is not negative plus a positive one is positive.")
def pos_add_right(a, b):
    return pos(a + b), nonneg(a), pos(b)


@infer("A sum of numbers that are not negative is not negative.")
def nonneg_add(a, b):
    return nonneg(a + b), nonneg(a), nonneg(b)


@infer("The inverse of a positive number is positive.")
def pos_inv(a):
    return pos(inv(a)), pos(a)


@infer("The inverse of a number that is not negative is not negative.")
def nonneg_inv(a):
    return nonneg(inv(a)), nonneg(a)


@infer("The root of a positive number is positive.")
def pos_sqrt(a):
    return pos(Map("sqrt", (a,))), pos(a)


@infer("A sum over an axis of positive numbers is positive.")
def pos_sum(a, x):
    return pos(Sum(x, a)), pos(a)


@infer("A sum over an axis of numbers that are not negative is not negative.")
def nonneg_sum(a, x):
    return nonneg(Sum(x, a)), nonneg(a)


@infer("The sum of two present values is present.")
def finite_add(a, b):
    return finite(a + b), finite(a), finite(b)


@infer("The product of two present values is present.")
def finite_mul(a, b):
    return finite(a * b), finite(a), finite(b)


@infer("The larger of two values is present if one is.")
def finite_max(a, b):
    return finite(Map("max", (a, b))), finite(a)


@infer("The larger of two values is present if the other one is.")
def finite_max_right(a, b):
    return finite(Map("max", (a, b))), finite(b)


@infer("The smaller of two present values is present.")
def finite_min(a, b):
    return finite(Map("min", (a, b))), finite(a), finite(b)


@infer("A choice between present values is present.")
def finite_where(a, b, c):
    return finite(where(c, a, b)), finite(a), finite(b)


@infer("The exponential is present everywhere.")
def finite_exp(a):
    return finite(exp(a))


@infer("The logarithm of a positive number is present.")
def finite_log(a):
    return finite(log(a)), pos(a)


@infer("A reduction of present values is present.")
def finite_reduce(m: Monoid, a, x):
    return finite(Reduce(m, x, a)), finite(a)


@infer("Nothing exceeds its maximum.")
def le_max(a, x):
    return le(a, Max(x, a))


@infer("What is bounded by a value is bounded by the larger of it and another.")
def le_larger(a, b, d):
    return le(a, Map("max", (b, d))), le(a, b)


@infer("A masked value does not exceed what bounds the value.")
def le_where(a, b, c):
    return le(where(c, a, ABSENT), b), le(a, b)


@infer("A positive factor keeps the order.")
def le_mul(a, b, d):
    return le(a * d, b * d), le(a, b), pos(d)


@infer("The exponential of a value minus what bounds it cannot overflow.")
def safe_difference(a, b):
    return safe(a - b), le(a, b)


def _pointwise(op: str) -> None:
    def rule(a):
        return finite(Map(op, (a,))), finite(a)

    rule.__name__ = f"finite_{op}"
    infer(f"The {op} of a present value is present.")(rule)


for _op in FUNCTIONS:
    _pointwise(_op)


# Last, as what they rest on may ask for more: a sum of positive numbers is positive only over an axis that has lanes.


@infer("A positive number is not negative.")
def pos_nonneg(a):
    return nonneg(a), pos(a)


@infer("A positive number is not zero.")
def pos_nonzero(a):
    return nonzero(a), pos(a)


@infer("A number that is not negative is present.")
def nonneg_finite(a):
    return finite(a), nonneg(a)


@infer("A number that is not zero is present.")
def nonzero_finite(a):
    return finite(a), nonzero(a)
