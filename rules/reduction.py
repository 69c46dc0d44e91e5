"""Sums and maxima over an axis, for every size of it."""

from napkin_eq.law import Max, Monoid, Reduce, Sum, distinct, finite, free, law, pos, size


@law("A factor that does not vary along x moves out of a sum over x.", both=True, source="napkin-paper 2.3")
def distribute(a, b, x):
    return Sum(x, a * b), a * Sum(x, b), free(x, a)


@law(
    "A present factor that does not vary along x moves out of a sum over x, be it of no lanes.",
    both=True,
    source="napkin-paper 2.3",
)
def distribute_present(a, b, x):
    return Sum(x, a * b), a * Sum(x, b), free(x, a), finite(a)


@law("The sum of a sum is the sum of the sums.", both=True)
def sum_add(a, b, x):
    return Sum(x, a + b), Sum(x, a) + Sum(x, b)


@law("A sign moves out of a sum.", both=True, floating="exact")
def sum_neg(a, x):
    return Sum(x, -a), -Sum(x, a)


@law("A sum of equal summands is a product with their number.")
def sum_constant(a, x):
    return Sum(x, a), a * size(x), free(x, a)


@law("A sum of equal present summands is a product with their number, be it 0.")
def sum_constant_present(a, x):
    return Sum(x, a), a * size(x), free(x, a), finite(a)


@law("Two reductions by one monoid swap (Fubini).")
def fubini(m: Monoid, a, x, y):
    return Reduce(m, x, Reduce(m, y, a)), Reduce(m, y, Reduce(m, x, a)), distinct(x, y)


@law("A summand that does not vary along x moves out of a maximum over x.", both=True)
def max_shift(a, b, x):
    return Max(x, a + b), a + Max(x, b), free(x, a)


@law("A positive factor that does not vary along x moves out of a maximum over x.", both=True)
def max_scale(a, b, x):
    return Max(x, a * b), a * Max(x, b), free(x, a), pos(a)
