"""Claims: what a prover is asked, "wherever the premises hold, the goal holds", and what each judgment means.

A judgment means a mask, written here in the language itself (see JUDGMENT), so every prover reads it through the same
operators.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.operators import OPS
from napkin_eq.lang.term import Const, Fold, Index, Map, Online, Reduce, Scan, Term, held, in_others, rewritten
from napkin_eq.laws.law import ABSENT, TRUE, Judgment, Var

LARGEST_EXPONENT = Var("log of the largest number", "number")
ZERO = Const(0.0)


def le(a: Term, b: Term) -> Term:
    return Map("le", (a, b))


def eq(a: Term, b: Term) -> Term:
    return Map("eq", (a, b))


def finite(a: Term) -> Term:
    return Map("lt", (ABSENT, a))


def same(a: Term, b: Term) -> Term:
    """Return the mask that two terms are equal; the constant true for one and the same term."""
    if a is b:
        return TRUE
    return (a & b) | (~a & ~b) if a.kind == "bool" else eq(a, b)


JUDGMENT: dict[str, Callable[..., Term]] = {
    "nonneg": lambda a: le(ZERO, a),
    "pos": lambda a: Map("lt", (ZERO, a)),
    "nonzero": lambda a: finite(a) & ~eq(a, ZERO),
    "finite": finite,
    "le": le,
    "absent": lambda c, a: c | eq(a, ABSENT),
    "zero": lambda c, a: c | eq(a, ZERO),
    "safe": lambda a: le(a, LARGEST_EXPONENT),
    "divides": lambda b, n: ~eq(b, Const(0)) & eq(Map("mod", (n, b)), Const(0)),
    "disjoint": lambda c, e: ~(c & e),
    "present": lambda c, a: ~c | finite(a),
    "leaves": lambda x, c: Map("lt", (ZERO, Reduce("sum", x, Map("where", (c, Const(1.0), ZERO))))),
    "stretch": lambda p, x, c: eq(Reduce("sum", p, Map("where", (c, Const(1.0), ZERO))), Const(1.0)),
    "null": lambda x, a: eq(Reduce("sum", x, a), ZERO),
}
STREAMED = ("local", "scales", "moves", "settled")


@dataclass(frozen=True, slots=True)
class Claim:
    """Wherever the premises hold in every lane, the goal holds in every lane. `free` lists (axis, variable): does not
    vary along it.

    `legend` says what new variables stand for, for the reader.
    """

    what: str
    goal: Term
    premises: tuple[Term, ...]
    free: frozenset[tuple[str, str]]
    legend: tuple[str, ...] = ()

    def varies(self, term: Term, axis: Axis) -> bool:
        """Tell whether a term may vary along an axis."""
        if isinstance(term, Var):
            return bool(term.sort != "number" and (axis.name, term.name) not in self.free)
        if isinstance(term, Index):
            return bool(term.axis.name == axis.name)
        if isinstance(term, (Reduce, Scan)) and term.axis.name == axis.name:
            return isinstance(term, Scan)
        return any(self.varies(child, axis) for child in term.children)


class NotUnderstood(NapkinError):
    """No prover has a meaning for something in the statement."""


def plain(term: Term) -> Term:
    """Return the term without what is the identity on values (levels, partitions, items, blocks), operators as what
    they mean.
    """

    def change(t: Term) -> Term:
        if isinstance(t, Fold):
            return Reduce(t.monoid, t.axis, t.body, t.where)
        if isinstance(t, Map) and (means := OPS[t.op].means) is not None:
            return in_others(means, *t.args)
        return Online(t.axis, t.body, t.where, t.update, False) if isinstance(t, Online) else held(t)

    return rewritten(term, change)


def meaning(judgment: Judgment) -> Term:
    """Return the mask that a judgment stands for."""
    if judgment.name not in JUDGMENT:
        raise NotUnderstood(f"the judgment {judgment.name} has no meaning here")
    return JUDGMENT[judgment.name](*(plain(a) if isinstance(a, Term) else a for a in judgment.args))
