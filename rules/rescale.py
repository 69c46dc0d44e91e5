"""Rescaling: a sum whose body moves with a running result can be carried along the stream.

If, as the stream goes on, the body changes by a factor ρ that does not vary along the axis, the partial sum changes by
the same factor, so (reference, sum) is one fold. Which ρ: derived below, from the form of the body.
"""

from napkin_eq.law import (
    TRUE, Acc, Binary, Coordinate, Map, Mask, Max, Monoid, Online, Prev, Real, Reduce, Sum, Unary, distinct, exp, free,
    infer, inv, law, le, local,
    nonzero, scales, where,
)  # fmt: skip


@infer("An operator of one argument adds no reduction.")
def local_unary(op: Unary, a, x):
    return local(x, Map(op, (a,))), local(x, a)


@infer("An operator of two arguments adds no reduction.")
def local_binary(op: Binary, a, b, x):
    return local(x, Map(op, (a, b))), local(x, a), local(x, b)


@infer("A choice adds no reduction.")
def local_where(a, b, c, x):
    return local(x, where(c, a, b)), local(x, a), local(x, b), local(x, c)


@infer("A coordinate read as a number holds no reduction if the coordinate holds none.")
def local_real(i: Coordinate, x):
    return local(x, Map("real", (i,))), local(x, i)


@infer("A mask turned around adds no reduction.")
def local_not(c, x):
    return local(x, ~c), local(x, c)


def _local_mask(op: str, kind: type) -> None:
    def rule(a: kind, b: kind, x):  # type: ignore[valid-type]
        return local(x, Map(op, (a, b))), local(x, a), local(x, b)

    rule.__name__ = f"local_{op}"
    infer(f"A mask made by {op} adds no reduction.")(rule)


for _op, _kind in (("lt", Real), ("le", Real), ("eq", Real), ("and", Mask), ("or", Mask)):
    _local_mask(_op, _kind)


@infer("A reduction over another axis adds none over this one.")
def local_reduce(m: Monoid, a, x, y):
    return local(x, Reduce(m, y, a)), local(x, a), distinct(x, y)


@infer(
    "An exponential relative to a running bound changes by the exponential of the bound's step.",
    source="napkin-paper 2.4",
)
def scales_exp(a, r, x):
    return scales(x, exp(a - r), exp(Prev(r) - r)), local(x, a), le(a, r), free(x, r)


@infer("A running maximum never falls.")
def le_prev(b, x):
    return le(Prev(Max(x, b)), Max(x, b)), local(x, b)


@infer("The larger of a running maximum and a value that stands still never falls.")
def le_prev_larger(a, b, x):
    return le(Prev(Map("max", (Max(x, b), a))), Map("max", (Max(x, b), a))), local(x, b), local(x, a), free(x, a)


@infer(
    "The inverse of a running sum changes by the ratio of the sums.", source="napkin-paper 2.4, normalised contraction"
)
def scales_inv(b, x):
    return scales(x, inv(Sum(x, b)), Prev(Sum(x, b)) * inv(Sum(x, b))), local(x, b), nonzero(Sum(x, b))


@infer("A factor that holds no reduction leaves the change as it is.")
def scales_local(a, b, r, x):
    return scales(x, a * b, r), scales(x, a, r), local(x, b)


@infer("The changes of two factors multiply.")
def scales_both(a, b, r, s, x):
    return scales(x, a * b, r * s), scales(x, a, r), scales(x, b, s)


@law(
    "A sum whose body changes by a factor is carried along the stream, times that factor.",
    stage="structure",
    source="napkin-paper 2.4",
)
def rescale(a, r, x):
    return Sum(x, a), Online(x, a, TRUE, Acc() * r), scales(x, a, r), free(x, r)
