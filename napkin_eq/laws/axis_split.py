"""Stretches: an axis cut into equal runs of lanes, counted by another axis; the last runs may be short or empty."""

from __future__ import annotations

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.term import Const, Index, Length, Map, Term

ALIGNED = 128


def stretch_mask(part: Axis, axis: Axis) -> Term:
    """Return the mask of the lanes of `axis` in stretch number `part`: part * n <= lane < part * n + n.

    n is the least length with which the stretches cover the axis, rounded up to 128 lanes where the axis' size is a
    number, or how many stretches there are is not.
    """
    run: Term
    if part.size is None:
        lanes = Map("mul", (Length(part), Const(ALIGNED)))
        length = Length(axis) if axis.size is None else Const(axis.size)
        run = Map(
            "mul", (Map("floordiv", (Map("add", (length, Map("add", (lanes, Const(-1))))), lanes)), Const(ALIGNED))
        )
    elif axis.size is None:
        run = Map("floordiv", (Map("add", (Length(axis), Const(part.size - 1))), Const(part.size)))
    else:
        run = Const(
            -(-axis.size // (part.size * ALIGNED)) * ALIGNED
            if axis.size >= part.size * ALIGNED
            else -(-axis.size // part.size)
        )
    first = Map("mul", (Index(part), run))
    return (first <= Index(axis)) & (Index(axis) < first + run)


def is_stretch(part: Axis, axis: Axis, mask: Term) -> bool:
    """Tell whether a mask cuts an axis into stretches counted by `part`, every lane in exactly one."""
    return part.name != axis.name and mask == stretch_mask(part, axis)
