"""Sums and products of reals: what is true pointwise. The absent value absorbs, and inv(0) = 0."""

from napkin_eq.law import Const, inv, law, nonzero


@law("Sums commute.", floating="exact")
def add_commutes(a, b):
    return a + b, b + a


@law("Products commute.", floating="exact")
def mul_commutes(a, b):
    return a * b, b * a


@law("Sums associate.", both=True)
def add_associates(a, b, d):
    return (a + b) + d, a + (b + d)


@law("Products associate.", both=True)
def mul_associates(a, b, d):
    return (a * b) * d, a * (b * d)


@law("A product distributes over a sum.", both=True)
def factor(a, b, d):
    return a * (b + d), a * b + a * d


@law("One is neutral for the product.", floating="exact")
def mul_one(a):
    return a * 1.0, a


@law("Zero is neutral for the sum.", floating="exact")
def add_zero(a):
    return a + 0.0, a


@law("A sign moves through a product.", both=True, floating="exact")
def neg_mul(a, b):
    return (-a) * b, -(a * b)


@law("A sign moves through a sum.", both=True, floating="exact")
def neg_add(a, b):
    return -(a + b), -a + -b


@law("Two signs cancel.", floating="exact")
def neg_neg(a):
    return -(-a), a


@law("The inverse of a product is the product of the inverses.", both=True)
def inv_mul(a, b):
    return inv(a * b), inv(a) * inv(b)


@law("Two inverses cancel.")
def inv_inv(a):
    return inv(inv(a)), a


@law("A number that is not zero cancels against its inverse.")
def cancel(a):
    return a * inv(a), Const(1.0), nonzero(a)
