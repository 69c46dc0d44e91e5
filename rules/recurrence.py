"""Prefix folds and linear recurrences: what they keep of what goes in, and what moves through them. Proved by induction
over lanes.
"""

from napkin_eq.law import Const, Monoid, Recur, Scan, Sum, distinct, finite, free, infer, law, nonneg


@infer("A prefix fold of present values is present.")
def finite_scan(m: Monoid, a, x):
    return finite(Scan(m, x, a)), finite(a)


@infer("A recurrence of present gains and parts is present.")
def finite_recur(a, b, x):
    return finite(Recur(x, a, b)), finite(a), finite(b)


@infer("A running sum of numbers that are not negative is not negative.")
def nonneg_scan(a, x):
    return nonneg(Scan("sum", x, a)), nonneg(a)


@infer("A recurrence of gains and parts that are not negative is not negative.")
def nonneg_recur(a, b, x):
    return nonneg(Recur(x, a, b)), nonneg(a), nonneg(b)


@law("A recurrence whose gain is 1 is a running sum.")
def recur_sum(b, x):
    return Recur(x, Const(1.0), b), Scan("sum", x, b)


@law("A factor that does not vary along x moves out of a recurrence along x.")
def recur_factor(a, b, f, x):
    return Recur(x, a, f * b), f * Recur(x, a, b), free(x, f)


@law("A sum of running sums is the running sum of the sums.")
def sum_scan(a, x, y):
    return Sum(y, Scan("sum", x, a)), Scan("sum", x, Sum(y, a)), distinct(x, y)


@law("A sum of recurrences of one gain is the recurrence of the sum.")
def sum_recur(a, b, x, y):
    return Sum(y, Recur(x, a, b)), Recur(x, a, Sum(y, b)), free(y, a), finite(a), distinct(x, y)
