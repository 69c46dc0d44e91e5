"""Masks: a masked lane is absent, and a reduction may leave out lanes that cannot change it."""

from napkin_eq.law import (
    ABSENT,
    Const,
    Coordinate,
    Index,
    Map,
    Mask,
    Max,
    Read,
    Reduce,
    Size,
    Sum,
    absent,
    exp,
    finite,
    free,
    infer,
    law,
    leaves,
    nonneg,
    pos,
    present,
    where,
    zero,
)


@law("Two masks over one value are one mask.", floating="exact")
def where_and(a, b, c, e: Mask):
    return where(c, where(e, a, b), b), where(c & e, a, b)


@law("A choice between a value and the same value is that value.", floating="exact")
def where_same(a, c):
    return where(c, a, a), a


@law("The larger of two numbers, chosen by comparing them, is their maximum.", stage="prepare", floating="exact")
def where_larger(a, b):
    return where(a <= b, b, a), Map("max", (a, b))


@law("The smaller of two numbers, chosen by comparing them, is their minimum.", stage="prepare", floating="exact")
def where_smaller(a, b):
    return where(a <= b, a, b), Map("min", (a, b))


@law("An exponential masked to zero is the exponential of the masked value.", stage="cut", floating="exact")
def where_exp(a, c):
    return where(c, exp(a), 0.0), exp(where(c, a, ABSENT))


@law("A mask to zero moves onto one factor.", stage="cut", floating="exact")
def where_mul(a, b, c):
    return where(c, a * b, 0.0), where(c, a, 0.0) * b, finite(b)


@law("A mask to absence moves onto one summand.", stage="cut", floating="exact")
def where_add(a, b, c):
    return where(c, a + b, ABSENT), where(c, a, ABSENT) + b


@law("A mask to zero of a sum masks each summand.", stage="cut", floating="exact")
def where_add_zero(a, b, c):
    return where(c, a + b, 0.0), where(c, a, 0.0) + where(c, b, 0.0)


@law("A number with a summand that is masked to zero is a choice of their sum.", stage="cited")
def where_added(a, b, c):
    return where(c, a + b, a), a + where(c, b, 0.0)


@infer("A masked value is absent outside its mask.")
def absent_where(a, c):
    return absent(c, where(c, a, ABSENT))


@infer("A value masked to zero is zero outside its mask.")
def zero_where(a, c):
    return zero(c, where(c, a, 0.0))


@infer("The absent value absorbs a summand.")
def absent_add(a, b, c):
    return absent(c, a + b), absent(c, a)


@infer("The absent value absorbs a factor.")
def absent_mul(a, b, c):
    return absent(c, a * b), absent(c, a)


@infer("The absent value absorbs what it is added to.")
def absent_add_right(a, b, c):
    return absent(c, a + b), absent(c, b)


@infer("The absent value absorbs what it is multiplied with.")
def absent_mul_right(a, b, c):
    return absent(c, a * b), absent(c, b)


@infer("The exponential of the absent value is zero.")
def zero_exp(a, c):
    return zero(c, exp(a)), absent(c, a)


@infer("Zero absorbs a present factor.")
def zero_mul(a, b, c):
    return zero(c, a * b), zero(c, a), finite(b)


@infer("Zero absorbs a present factor before it.")
def zero_mul_right(a, b, c):
    return zero(c, a * b), finite(a), zero(c, b)


@infer("A sum of zeros is zero.")
def zero_sum(a, c, y):
    return zero(c, Sum(y, a)), zero(c, a), free(y, c)


@infer("A choice is present wherever its mask takes what is present.")
def present_where(a, b, c):
    return present(c, where(c, a, b)), finite(a)


@infer("A sum is present wherever a summand is, the other one being present everywhere.")
def present_add(a, b, c):
    return present(c, a + b), present(c, a), finite(b)


@infer("A sum is present wherever its second summand is, the first one being present everywhere.")
def present_add_right(a, b, c):
    return present(c, a + b), finite(a), present(c, b)


@infer("A product is present wherever a factor is, the other one being present everywhere.")
def present_mul(a, b, c):
    return present(c, a * b), present(c, a), finite(b)


@infer("A product is present wherever its second factor is, the first one being present everywhere.")
def present_mul_right(a, b, c):
    return present(c, a * b), finite(a), present(c, b)


@infer("A mask that holds up to a coordinate that is not negative leaves the first lane.")
def leaves_to(i: Coordinate, x):
    return leaves(x, Index(x) <= i), nonneg(i)


@infer("A mask that holds below a positive coordinate leaves the first lane.")
def leaves_below(i: Coordinate, x):
    return leaves(x, Index(x) < i), pos(i)


@infer("A sum of whole numbers that are not negative is not negative.")
def nonneg_offset(i: Coordinate, j: Coordinate):
    return nonneg(i + j), nonneg(i), nonneg(j)


@infer("A whole number that is not negative plus a positive one is positive.")
def pos_offset(i: Coordinate, j: Coordinate):
    return pos(i + j), nonneg(i), pos(j)


@infer("One mask or another leaves the lanes of the one.")
def leaves_or(c, e: Mask, x):
    return leaves(x, c | e), leaves(x, c)


@infer("One mask or another leaves the lanes of the other.")
def leaves_or_right(c, e: Mask, x):
    return leaves(x, c | e), leaves(x, e)


@infer("The maximum of what is present under a mask is present if the mask leaves a lane.")
def finite_left(a, c, x):
    return finite(Max(x, a)), present(c, a), leaves(x, c)


@infer("The sum of the exponentials of what is present under a mask is positive if the mask leaves a lane.")
def pos_left(a, c, x):
    return pos(Sum(x, exp(a))), present(c, a), leaves(x, c)


@law("A maximum may leave out absent lanes.", stage="structure", floating="exact")
def skip_max(a, c, x):
    return Max(x, a), Max(x, a, c), absent(c, a)


@law("A product of what is masked to one is the product under the mask.", floating="exact")
def prod_masked(a, c, x):
    return Reduce("prod", x, where(c, a, 1.0)), Reduce("prod", x, a, c)


@law("A sum may leave out lanes that are zero.", stage="structure", floating="exact")
def skip_sum(a, c, x):
    return Sum(x, a), Sum(x, a, c), zero(c, a)


@law("No lane at which a number is found comes before the first of them.", stage="cited")
def from_first(a: Coordinate, b: Coordinate, x, y):
    found = Map("eq", (a, Read(b, y, Index(x))))
    first = Reduce("argmax", y, where(Map("eq", (a, b)), Const(1.0), 0.0))
    return found & (first <= Index(x)), found, free(y, a)


@law("No lane at which a number is found comes after the last of them.", stage="cited")
def to_last(a: Coordinate, b: Coordinate, x, y):
    found = Map("eq", (a, Read(b, y, Index(x))))
    last = Reduce("argmax", y, where(Map("eq", (a, b)), Map("real", (Index(y),)), ABSENT))
    return found & ((Index(x) <= last) | (Size(y) <= Index(x))), found, free(y, a)
