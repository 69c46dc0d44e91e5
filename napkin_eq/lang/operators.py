"""The scalar operators a `Map` box may hold: their arity and the kinds they take and give.

What holds of an operator is its record here; a meaning that is a function (NumPy, rounding, SMT, Triton, Gluon, Rocq)
is a row of the table of that room. `tests/lang/test_operators.py` names the table that lacks a row.
Kinds: "real" (extended by one absent value, written -inf), "int" (coordinates, labels), "bool" (masks).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

ABSENT = -math.inf
Build = Callable[..., Any]  # makes a term of an operator's name and its arguments


@dataclass(frozen=True, slots=True)
class Edge:
    """What an operator of one real number gives where mathematics gives nothing.

    absent: what it gives for the absent value. clamps: an argument below zero counts as zero. machine: what IEEE
    arithmetic gives for -inf, which stands for the absent value, clamped where the operator clamps. pole: what it gives
    for zero, where IEEE arithmetic has an infinity.
    """

    absent: float
    machine: float
    clamps: bool = False
    pole: float | None = None


@dataclass(frozen=True, slots=True)
class Op:
    """An operator: `takes` one kind per argument and `gives` one; "num" means int if all "num" arguments are, else
    real.

    Of one real number: `edge` says what it gives where mathematics gives nothing, `within` between what its values lie,
    `zero` whether it gives 0 for 0, `whole` whether it gives a number for every number, `special` how much of the
    special-function unit it takes. One that is short for others is `means` of them, for proofs, and `written` of them
    in a kernel, in a form that keeps its digits; both are given what makes a term, and the argument.
    """

    name: str
    takes: tuple[str, ...]
    gives: str
    commutes: bool = False
    edge: Edge | None = None
    within: tuple[float, float] | None = None
    zero: bool = False
    whole: bool = True
    special: int = 0
    means: Callable[[Build, Any], Any] | None = None
    written: Callable[[Build, Any], Any] | None = None


def _real(name: str, absent: float, machine: float, **more: Any) -> Op:
    """Return an operator of one real number, by what it and the machine's own give for the absent value."""
    edges = {key: more.pop(key) for key in ("clamps", "pole") if key in more}
    return Op(name, ("real",), "real", edge=Edge(absent, machine, **edges), **more)


def _less_one(build: Build, x: Any) -> Any:
    return build("add", build("exp", x), -1.0)


def _near_zero(build: Build, x: Any) -> Any:
    """Write e^x - 1 by fifteen terms of its series where |x| <= 1/2, enough for float64: the difference would cancel
    there.
    """
    near, series = build("min", build("max", x, -0.5), 0.5), 1.0
    for n in range(15, 1, -1):
        series = build("add", build("mul", build("mul", near, 1 / n), series), 1.0)
    inside = build("and", build("le", -0.5, x), build("le", x, 0.5))
    return build("where", inside, build("mul", near, series), _less_one(build, x))


# The arctangent between -tan(pi/8) and tan(pi/8): x + x z P(z) / Q(z) of z = x^2, its coefficients from the highest
# (Cephes).
_QUARTER = (math.nextafter(-math.pi / 2, -2), math.nextafter(math.pi / 2, 2))
_OVER = (-0.8750608600031904, -16.157537187333652, -75.00855792314705, -122.88666844901361, -64.85021904942025)
_UNDER = (1.0, 24.858464901423062, 165.02700983169885, 432.88106049129027, 485.3903996359137, 194.5506571482614)


def _arctangent(build: Build, x: Any) -> Any:
    """Write arctan x by that of a number near 0: of -1/|x| or (|x| - 1) / (|x| + 1), which are a quarter or an eighth
    of a turn less.
    """

    def chosen(at_far: Any, at_middle: Any, at_near: Any) -> Any:
        return build("where", far, at_far, build("where", middle, at_middle, at_near))

    def polynomial(coefficients: tuple[float, ...]) -> Any:
        found: Any = coefficients[0]
        for number in coefficients[1:]:
            found = build("add", build("mul", found, square), number)
        return found

    size = build("abs", x)
    far, middle = build("lt", 1 + math.sqrt(2), size), build("lt", 0.66, size)
    over = chosen(-1.0, build("add", size, -1.0), size)
    near = build("mul", over, build("inv", chosen(size, build("add", size, 1.0), 1.0)))
    square = build("mul", near, near)
    series = build("mul", build("mul", polynomial(_OVER), build("inv", polynomial(_UNDER))), square)
    turned = build("add", build("add", near, build("mul", near, series)), chosen(math.pi / 2, math.pi / 4, 0.0))
    return build("where", build("lt", x, 0.0), build("neg", turned), turned)


def _table(*ops: Op) -> dict[str, Op]:
    return {op.name: op for op in ops}


# Of the others: + * min give the absent value if an argument is it, max the other argument; comparisons take it for
# less than every number and equal to itself; a sum or product is absent if a lane inside its mask is, a maximum only if
# all are; // and % by zero give zero.
OPS = _table(
    Op("add", ("num", "num"), "num", True),
    Op("mul", ("num", "num"), "num", True),
    Op("neg", ("num",), "num", edge=Edge(ABSENT, math.inf), zero=True),
    _real("inv", ABSENT, 0.0, pole=0.0),
    Op("max", ("num", "num"), "num", True),
    Op("min", ("num", "num"), "num", True),
    _real("exp", 0.0, 0.0, whole=False),
    _real("log", ABSENT, ABSENT, clamps=True, whole=False),
    _real("sqrt", ABSENT, 0.0, clamps=True, zero=True, special=1),
    _real("tanh", -1.0, -1.0, within=(-1.0, 1.0), zero=True, special=2),
    _real("sigmoid", 0.0, 0.0, within=(0.0, 1.0), special=2),
    _real("erf", -1.0, -1.0, within=(-1.0, 1.0), zero=True, special=4),
    _real("sin", ABSENT, math.nan, within=(-1.0, 1.0), zero=True, special=2),
    _real("cos", ABSENT, math.nan, within=(-1.0, 1.0), special=2),
    _real("abs", ABSENT, math.inf, zero=True),
    _real("floor", ABSENT, ABSENT, zero=True),
    _real("round", ABSENT, ABSENT, zero=True),
    _real("expm1", -1.0, -1.0, within=(-1.0, math.inf), zero=True, special=1, means=_less_one, written=_near_zero),
    _real("atan", ABSENT, -math.pi / 2, within=_QUARTER, zero=True, special=2, written=_arctangent),
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
    # The bits of a counter mixed by those of a key (numpy_semantics.py), of 32 bits with a sign: nothing is known of
    # them but that they are the same for the same key, stream, counter and word. Where they are compared with a number
    # a mask holds in a share of all places that nobody can tell from chance.
    Op("random", ("int", "int", "int", "int"), "int", within=(-(2.0**31), 2.0**31 - 1)),
)
EDGES = {op.name: op.edge for op in OPS.values() if op.edge is not None}
# Real functions of one number that give one for each, in the order in which laws speak of them.
FUNCTIONS = tuple(op.name for op in OPS.values() if op.edge is not None and op.whole)
# What a function gives for the absent value, where that is a number.
AT_ABSENT = {
    op.name: int(op.edge.absent) for op in OPS.values() if op.edge is not None and op.whole and op.edge.absent != ABSENT
}


@dataclass(frozen=True, slots=True)
class Monoid:
    """What a reduction combines lanes by: an operator with its neutral element, both of numbers; `sign` and `word` say
    it in pictures and in text.

    places: the elements are pairs of a number and the lane that it stands in, and a reduction gives the lane, a whole
    number. Of two pairs the one with the number that the operator picks is kept, of equal numbers the one of the
    earlier lane; an absent number stands in lane 0, as does what is reduced over no lane. So it is commutative and
    associative, and (neutral, 0) is its neutral element.
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
# The prefix folds of pairs that `Recur` takes: its name where monoids are named. Nothing reduces by it, as it does not
# commute.
RECURRENCE = "linear"
MONOIDS = tuple(m.name for m in REDUCTIONS.values() if not m.places)
PLACES = tuple(m.name for m in REDUCTIONS.values() if m.places)
# Of the numbers, where the monoid is one of places; of a recurrence what stands before its first lane.
NEUTRAL = {**{m.name: m.neutral for m in REDUCTIONS.values()}, RECURRENCE: 0.0}
COMBINE = {m.name: m.op for m in REDUCTIONS.values()}
# What the numbers come to
VALUES = {
    m.name: next(v.name for v in REDUCTIONS.values() if v.op == m.op and not v.places) for m in REDUCTIONS.values()
}
