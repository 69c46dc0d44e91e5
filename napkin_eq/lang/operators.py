"""The scalar operators a `Map` box may hold: their arity and the kinds they take and give.

Every meaning of the language (numpy, z3, cost, Triton, ...) is a table over these names, in a file of its own.
Kinds: "real" (extended by one absent value, written -inf), "int" (coordinates, labels), "bool" (masks).
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Op:
    """An operator: `takes` one kind per argument and `gives` one; "num" means int if all "num" arguments are, else real."""

    name: str
    takes: tuple[str, ...]
    gives: str
    commutes: bool = False


def _table(*ops: Op) -> dict[str, Op]:
    return {op.name: op for op in ops}


OPS = _table(
    Op("add", ("num", "num"), "num", True),
    Op("mul", ("num", "num"), "num", True),
    Op("neg", ("num",), "num"),
    Op("inv", ("real",), "real"),
    Op("max", ("num", "num"), "num", True),
    Op("min", ("num", "num"), "num", True),
    *(Op(name, ("real",), "real") for name in "exp log sqrt tanh sigmoid erf sin cos abs floor round".split()),
    Op("real", ("int",), "real"),
    Op("floordiv", ("int", "int"), "int"),
    Op("mod", ("int", "int"), "int"),
    Op("lt", ("num", "num"), "bool"),
    Op("le", ("num", "num"), "bool"),
    Op("eq", ("num", "num"), "bool", True),
    Op("and", ("bool", "bool"), "bool", True),
    Op("or", ("bool", "bool"), "bool", True),
    Op("not", ("bool",), "bool"),
    Op("where", ("bool", "num", "num"), "num"),
)


@dataclass(frozen=True, slots=True)
class Monoid:
    """What a reduction combines lanes by: an operator with its neutral element, both of numbers; `sign` and `word` say it in pictures and in text.

    places: the elements are pairs of a number and the lane that it stands in, and a reduction gives the lane, a whole number. Of two pairs the one
    with the number that the operator picks is kept, of equal numbers the one of the earlier lane; an absent number stands in lane 0, as does what
    is reduced over no lane. So it is commutative and associative, and (neutral, 0) is its neutral element.
    """

    name: str
    op: str
    neutral: float
    sign: str
    word: str
    places: bool = False

    @property
    def gives(self) -> str:
        """The kind of what a reduction gives."""
        return "int" if self.places else "real"


REDUCTIONS = {
    m.name: m
    for m in (
        Monoid("sum", "add", 0.0, "Σ", "sum"),
        Monoid("max", "max", -math.inf, "max", "maximum"),
        Monoid("prod", "mul", 1.0, "Π", "product"),
        Monoid("argmax", "max", -math.inf, "argmax", "place of the maximum", places=True),
    )
}
MONOIDS = tuple(m.name for m in REDUCTIONS.values() if not m.places)
PLACES = tuple(m.name for m in REDUCTIONS.values() if m.places)
NEUTRAL = {m.name: m.neutral for m in REDUCTIONS.values()}  # of the numbers, where the monoid is one of places
COMBINE = {m.name: m.op for m in REDUCTIONS.values()}
VALUES = {m.name: next(v.name for v in REDUCTIONS.values() if v.op == m.op and not v.places) for m in REDUCTIONS.values()}  # what the numbers come to


@dataclass(frozen=True, slots=True)
class Edge:
    """What an operator of one real number gives where mathematics gives nothing.

    absent: what it gives for the absent value. clamps: an argument below zero counts as zero. machine: what IEEE arithmetic gives for -inf,
    which stands for the absent value, clamped where the operator clamps. pole: what it gives for zero, where IEEE arithmetic has an infinity.
    """

    absent: float
    machine: float
    clamps: bool = False
    pole: float | None = None


ABSENT = -math.inf
# Of the others: + * min give the absent value if an argument is it, max the other argument; comparisons take it for less than every
# number and equal to itself; a sum or product is absent if a lane inside its mask is, a maximum only if all are; // and % by zero give zero.
EDGES = {
    "neg": Edge(ABSENT, math.inf),
    "abs": Edge(ABSENT, math.inf),
    "inv": Edge(ABSENT, 0.0, pole=0.0),
    "sqrt": Edge(ABSENT, 0.0, clamps=True),
    "log": Edge(ABSENT, ABSENT, clamps=True),
    "sin": Edge(ABSENT, math.nan),
    "cos": Edge(ABSENT, math.nan),
    "floor": Edge(ABSENT, ABSENT),
    "round": Edge(ABSENT, ABSENT),
    "exp": Edge(0.0, 0.0),
    "sigmoid": Edge(0.0, 0.0),
    "tanh": Edge(-1.0, -1.0),
    "erf": Edge(-1.0, -1.0),
}
