"""Bounds on the present values of a term, from the facts of its inputs: `interval(term)` is (lo, hi).

The absent value needs no bound: it is written -inf, and an interval that reaches down to -inf covers it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.dtypes import TYPES
from napkin_eq.lang.operators import OPS
from napkin_eq.lang.term import (
    Const,
    Fold,
    Group,
    Index,
    Input,
    Length,
    Map,
    Proj,
    Read,
    Recur,
    Reduce,
    Scan,
    Size,
    Store,
    Term,
    Walk,
    subterms,
)

Interval = tuple[float, float]
ANY: Interval = (-math.inf, math.inf)
_INTERVALS: dict[Term, Interval] = {}
# Of whole numbers in an array, by its type.
_RANGES = {t.name: t.whole for t in TYPES if t.kind == "int"}


def interval(term: Term) -> Interval:
    """Return bounds (lo, hi) on every present value of a term, whatever prefix of the axes it is taken over."""
    if term not in _INTERVALS:
        for part in subterms(term):
            if part not in _INTERVALS:
                _INTERVALS[part] = _bounds(part)
    return _INTERVALS[term]


def _bounds(term: Term) -> Interval:
    below = [_INTERVALS[child] for child in term.children]
    if term.kind == "bool":
        return (0.0, 1.0)
    if isinstance(term, Const):
        return (float(term.value), float(term.value))
    if isinstance(term, Input):
        return _declared(term.facts, *_RANGES.get(term.dtype, ANY))
    if isinstance(term, (Index, Size, Length)):
        last = math.inf if term.axis.size is None else float(term.axis.size)
        return (0.0, last - 1) if isinstance(term, Index) else (1.0, last)
    if isinstance(term, Map):
        if term.op == "mul" and term.args[0] is term.args[1]:
            return _square(below[0])
        if term.op == "where":
            return _chosen(term, below)
        return MAPS[term.op](*below) if term.op in MAPS else ANY
    if isinstance(term, Recur):
        return _recurrence(term.axis, *below)
    if isinstance(term, (Reduce, Fold, Scan)):
        some = isinstance(term, Scan) or term.where is Const(True)
        if term.kind == "int":  # the place of a lane
            return (0.0, math.inf if term.axis.size is None else term.axis.size - 1.0)
        return _over(term.monoid, term.axis, below[0], 1 if some else 0)
    if isinstance(term, Proj):
        return _INTERVALS[term.item]
    # What an Online, Acc or Prev holds on the way is not bounded here.
    return below[0] if isinstance(term, (Read, Store, Group, Walk)) else ANY


def wide(term: Term) -> bool:
    """Tell whether a whole number may pass 32 bits; what sizes that are not known make of coordinates is
    taken not to.
    """
    lo, hi = interval(term)
    return term.kind == "int" and (-math.inf < lo < -(2.0**31) or 2.0**31 <= hi < math.inf)


def _declared(facts: Iterable[str], lo: float, hi: float) -> Interval:
    for fact in facts:
        if fact.startswith("abs<="):
            bound = float(fact.removeprefix("abs<="))
            lo, hi = max(lo, -bound), min(hi, bound)
        elif fact in ("pos", "nonneg"):
            lo = max(lo, 0.0)
    return lo, hi


def _over(monoid: str, axis: Axis, body: Interval, least: int) -> Interval:
    lo, hi = body
    most = math.inf if axis.size is None else float(axis.size)
    if monoid == "max":
        return body
    if monoid == "sum":
        return min(_times(least, lo), _times(most, lo)), max(_times(least, hi), _times(most, hi))
    return (0.0, 1.0) if lo >= 0 and hi <= 1 else ANY


def _recurrence(axis: Axis, gain: Interval, body: Interval) -> Interval:
    """Bound what gains of at most 1 make of some numbers: no more than their sum."""
    if gain[0] < -1 or gain[1] > 1:
        return (0.0, math.inf) if gain[0] >= 0 and body[0] >= 0 else ANY
    most = math.inf if axis.size is None else float(axis.size)
    low, high = body if gain[0] >= 0 else (-max(map(abs, body)), max(map(abs, body)))
    return _times(most, min(low, 0.0)), _times(most, max(high, 0.0))


def _chosen(term: Map, below: list[Interval]) -> Interval:
    """Bound a choice; of one by a comparison of two numbers, where either is what is taken, what the comparison says of
    it.
    """
    mask, *sides = term.args
    found = []
    for side, own, swapped in zip(sides, below[1:], (False, True), strict=True):
        lo, hi = own
        if isinstance(mask, Map) and mask.op in ("lt", "le"):
            small, large = reversed(mask.args) if swapped else mask.args
            lo = max(lo, _INTERVALS[small][0]) if side is large else lo
            hi = min(hi, _INTERVALS[large][1]) if side is small else hi
        found.append((lo, hi) if lo <= hi else own)
    return _hull(*found)


def _times(a: float, b: float) -> float:
    return 0.0 if a == 0 or b == 0 else a * b


def _mul(a: Interval, b: Interval) -> Interval:
    corners = [_times(x, y) for x in a for y in b]
    return min(corners), max(corners)


def _square(a: Interval) -> Interval:
    ends = (_times(a[0], a[0]), _times(a[1], a[1]))
    return (0.0 if a[0] <= 0 <= a[1] else min(ends)), max(ends)


def _add(a: Interval, b: Interval) -> Interval:
    return (-math.inf if -math.inf in (a[0], b[0]) else a[0] + b[0]), (
        math.inf if math.inf in (a[1], b[1]) else a[1] + b[1]
    )


def _inv(a: Interval) -> Interval:
    if a[0] >= 0:
        return (0.0 if a[0] == 0 or a[1] == math.inf else 1 / a[1]), (1 / a[0] if a[0] > 0 else math.inf)
    if a[1] <= 0:
        lo, hi = _inv((-a[1], -a[0]))
        return -hi, -lo
    return ANY


def _floordiv(a: Interval, b: Interval) -> Interval:
    if b[0] < 1 or math.inf in (-a[0], a[1]):
        most = max(map(abs, a))  # a division by 0 gives 0
        return (0.0 if min(a[0], b[0]) >= 0 else -most), most
    return min(a[0] // b[0], a[0] // b[1]), max(a[1] // b[0], a[1] // b[1])


def _mod(a: Interval, b: Interval) -> Interval:
    lo, hi = min(b[0] + 1, 0.0), max(b[1] - 1, 0.0)
    return lo, (min(hi, a[1]) if min(a[0], b[0]) >= 0 else hi)


def _exp(value: float) -> float:
    return math.exp(value) if value < 700 else math.inf


def _log(value: float) -> float:
    return math.log(value) if 0 < value < math.inf else value if value > 0 else -math.inf


def _sqrt(value: float) -> float:
    return math.sqrt(max(value, 0.0))


def _rising(function: Callable[[float], float]) -> Callable[[Interval], Interval]:
    return lambda a: (function(a[0]), function(a[1]))


def _hull(a: Interval, b: Interval) -> Interval:
    return min(a[0], b[0]), max(a[1], b[1])


def _abs(a: Interval) -> Interval:
    return (0.0 if a[0] <= 0 <= a[1] else min(map(abs, a))), max(map(abs, a))


def _within(lo: float, hi: float) -> Callable[..., Interval]:
    return lambda *args: (lo, hi)


MAPS: dict[str, Callable[..., Interval]] = {
    **{op.name: _within(*op.within) for op in OPS.values() if op.within is not None},
    "add": _add,
    "mul": _mul,
    "neg": lambda a: (-a[1], -a[0]),
    "inv": _inv,
    "floordiv": _floordiv,
    "mod": _mod,
    "max": _hull,  # the absent value is neutral here, so the larger may be either
    "min": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "exp": _rising(_exp),
    "log": _rising(_log),
    "sqrt": _rising(_sqrt),
    "abs": _abs,
    "real": lambda a: a,
    "floor": lambda a: (a[0] - 1, a[1]),
    "round": lambda a: (a[0] - 0.5, a[1] + 0.5),
}
