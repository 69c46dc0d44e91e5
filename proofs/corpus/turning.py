"""Sines and cosines: squares that make 1, opposite and added angles, pairs that are turned by an angle."""

from napkin_eq.prove.corpus import valid, wrong
from napkin_eq.law import Map, Sum, finite, inv


def sin(a):
    return Map("sin", (a,))


def cos(a):
    return Map("cos", (a,))


def turned(a, b, d):
    return a * cos(d) - b * sin(d), a * sin(d) + b * cos(d)


def dot(p, q):
    return p[0] * q[0] + p[1] * q[1]


@valid("")
def squares_of_sine_and_cosine(a, b):
    return b * (sin(a) * sin(a) + cos(a) * cos(a)), b, finite(a)


@wrong
def squares_of_sine_and_cosine_of_anything(a, b):
    return b * (sin(a) * sin(a) + cos(a) * cos(a)), b


@wrong
def squares_of_sine_and_cosine_of_two_angles(a, b):
    return sin(a) * sin(a) + cos(b) * cos(b), 1.0 + a * 0.0 + b * 0.0


@wrong
def sine_of_an_opposite(a):
    return sin(-a), sin(a)


@valid("")
def angles_of_opposite_signs(a, b):
    return cos(a - b) * sin(b - a), -(cos(b - a) * sin(a - b))


@wrong
def sine_of_a_sum(a, b):
    return sin(a + b), sin(a) * cos(b) - cos(a) * sin(b)


@wrong
def cosine_of_a_sum(a, b):
    return cos(a + b), cos(a) * cos(b) + sin(a) * sin(b)


@valid("")
def sine_by_half_the_angle(a):
    return sin(a), 2.0 * (sin(a * 0.5) * cos(a * 0.5))


@wrong
def sine_of_twice_the_angle(a):
    return sin(2.0 * a), 2.0 * sin(a)


@wrong
def cosine_by_the_root_of_a_square(a):
    return Map("sqrt", (1.0 - sin(a) * sin(a),)), cos(a)


@wrong
def sine_over_itself(a):
    return inv(sin(a)) * sin(a), a * 0.0 + 1.0


@valid("")
def lengths_of_turned_pairs(a, b, d, x):
    pair = turned(a, b, d)
    return Sum(x, dot(pair, pair)), Sum(x, a * a + b * b), finite(d)


@wrong
def lengths_of_pairs_turned_by_anything(a, b, d):
    pair = turned(a, b, d)
    return dot(pair, pair), a * a + b * b


@valid("")
def turned_pairs_by_the_difference(a, b, d, e, p, q):
    return dot(turned(a, b, p), turned(d, e, q)), (a * d + b * e) * cos(p - q) + (a * e - b * d) * sin(p - q)


@wrong
def turned_pairs_by_the_difference_the_other_way(a, b, d, e, p, q):
    return dot(turned(a, b, p), turned(d, e, q)), (a * d + b * e) * cos(p - q) + (b * d - a * e) * sin(p - q)


@wrong
def turned_pairs_by_the_sum(a, b, d, e, p, q):
    return dot(turned(a, b, p), turned(d, e, q)), (a * d + b * e) * cos(p + q) + (a * e - b * d) * sin(p - q)
