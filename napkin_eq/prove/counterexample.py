"""Counterexamples: values on which a statement fails, written out subterm by subterm, and re-evaluated without any
prover.

A prover hands over sizes and numbers; whether they refute is decided here, by `evaluate` in float64: every condition
must hold, along a stream after each of its blocks too, and the two sides must differ. What a reader is shown is what
was evaluated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.evaluate import axes_in, evaluate, output_order
from napkin_eq.lang.numpy_semantics import broadcast
from napkin_eq.lang.scope import opened
from napkin_eq.lang.term import (
    Const,
    Input,
    Map,
    Online,
    Prev,
    Read,
    Reduce,
    Scan,
    Size,
    Term,
    Tuple,
    rewritten,
    subterms,
)
from napkin_eq.laws.claim import LARGEST_EXPONENT, STREAMED, meaning
from napkin_eq.laws.law import TRUE, Judgment, Law, Statement, Var, where
from napkin_eq.laws.obligation import conditions_of, terms_of

Array = np.ndarray[Any, np.dtype[Any]]
TOLERANCE, ROUNDED = 1e-6, 1e-12
MOST_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Given:
    """The numbers of a pattern variable, and the names of the axes along which they vary."""

    names: tuple[str, ...]
    data: Array


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Sizes and values for a statement; a variable of a stream may stand for a term (`filled`) over variables of its
    own.

    `statement` is what was asked, or what it says where two of its axes are one. `block`: lanes of a stream taken at a
    time.
    """

    statement: Statement
    lanes: dict[str, int]
    values: dict[Var, Given]
    filled: dict[Term, Term] = field(default_factory=dict)
    stream: Axis | None = None
    block: int = 1

    def __str__(self) -> str:
        sizes = [f"{name} has {number} lane{'s' if number > 1 else ''}" for name, number in self.lanes.items()]
        terms = [f"{v.name} = {term}" for v, term in self.filled.items() if isinstance(v, Var)]
        values = [f"{v.name} = {shown(given.data)}" for v, given in self.values.items() if v is not LARGEST_EXPONENT]
        given = ", ".join([*sizes, *terms, *values, *([f"blocks of {self.block}"] if self.stream else [])]) or "always"
        if isinstance(self.statement, Law):
            return (
                f"{given}: left {shown(self.value(self.statement.lhs).data)}, right"
                f" {shown(self.value(self.statement.rhs).data)}"
            )
        conclusion = self.statement.conclusion
        parts = (
            [a for a in conclusion.args if isinstance(a, Term) and not isinstance(a, (Var, Const))]
            if self.stream is None
            else []
        )
        return "; ".join([f"{given}: {conclusion} fails", *(f"{a} = {shown(self.value(a).data)}" for a in parts)])

    def steps(self) -> list[tuple[str, str]]:
        """Return every subterm that has a value of its own, parts first, as text, with its value."""
        rows = [(v.name, shown(given.data)) for v, given in self.values.items() if v is not LARGEST_EXPONENT]
        roots = [t for t in terms_of(self.statement) if t.kind != "tuple"]
        for term in (t for t in subterms(*roots) if not isinstance(t, (Var, Const, Tuple)) and t.kind != "tuple"):
            if not opened(self.spelled(term)):
                rows.append((str(term), shown(self.value(term).data)))
        return list(dict.fromkeys(rows))[:MOST_SHOWN]

    def refutes(self) -> bool:
        """Tell whether every condition holds and the statement does not; this asks no prover."""
        return all(self.holds(condition) for condition in conditions_of(self.statement)) and self.differs()

    def differs(self) -> bool:
        """Tell whether the sides of a law differ, or the conclusion of an inference fails."""
        if isinstance(self.statement, Law):
            return not agree(self.value(self.statement.lhs), self.value(self.statement.rhs))
        conclusion = self.statement.conclusion
        if conclusion.name in (*STREAMED, "null"):
            return not self.holds(conclusion)
        mask = nearly(meaning(conclusion))
        if self.stream is None:
            return not bool(self.value(mask).data.all())
        return bool((self.at_last(where(mask, Const(1.0), 0.0)).data != 1.0).any())

    # -- what holds of the values --------------------------------------------------------------------------------------

    def holds(self, judgment: Judgment) -> bool:
        """Tell whether a judgment holds of these values, along a stream for every prefix of it; raises NapkinError
        where it has no value.
        """
        first, *rest = judgment.args
        if judgment.name == "distinct":
            return first != rest[0]
        if judgment.name == "free":
            return not self.varies(rest[0], first)  # type: ignore[arg-type]
        if judgment.name == "along":
            # What may vary: equal numbers in its lanes are an instance like any other.
            return first.name in {a.name for a in self.over_arrays(rest[0]).axes}  # type: ignore[arg-type]
        if judgment.name == "local":
            return not _running(self.spelled(rest[0]), first)  # type: ignore[arg-type]
        if judgment.name == "scales":
            return self.scales(first, *rest)  # type: ignore[arg-type]
        if judgment.name == "moves":
            return self.moves(first, *rest)  # type: ignore[arg-type]
        if judgment.name == "settled":
            return self.settled(first, rest[0])  # type: ignore[arg-type]
        if judgment.name == "null":
            total = Reduce("sum", first, rest[0])  # type: ignore[arg-type]
            return all(agree(self.value(total, prefix), Given((), np.zeros(()))) for prefix in self.prefixes())
        mask = meaning(judgment)
        if opened(self.spelled(mask)):
            numbers = where(mask, Const(1.0), 0.0)
            return all(bool((self.at_last(numbers, prefix).data == 1.0).all()) for prefix in self.prefixes())
        return all(bool(self.value(mask, prefix).data.all()) for prefix in self.prefixes())

    def varies(self, term: Term, axis: Axis) -> bool:
        """Tell whether a term's value differs from lane to lane of an axis; of what speaks of running values its form
        decides.
        """
        spelled = self.over_arrays(term)
        if axis.name not in {a.name for a in spelled.axes} or opened(spelled):
            return axis.name in {a.name for a in spelled.axes}
        value = self.value(term)
        if axis.name not in value.names:
            return False
        at = value.names.index(axis.name)
        return not agree(value, Given(value.names, np.broadcast_to(value.data.take([0], axis=at), value.data.shape)))

    def scales(self, x: Axis, term: Term, ratio: Term) -> bool:
        """Tell whether a term changes by a factor from each prefix of a stream to each longer one, the longer at most
        twice as long.
        """
        most = self.lanes[x.name]
        if not all(np.isfinite(self.at_last(ratio, prefix).data).all() for prefix in self.prefixes()):
            return False
        for later in range(2, most + 1):
            for early in range((later + 1) // 2, later):
                after, before = self.value(term, {x.name: later}), self.value(term, {x.name: early})
                if x.name in after.names:
                    after = Given(after.names, after.data.take(range(early), axis=after.names.index(x.name)))
                factor = self.at_last(ratio, {x.name: later}, early)
                names, (old, moved) = _aligned(before, factor)
                with np.errstate(all="ignore"):
                    product = np.where(np.isneginf(old) | np.isneginf(moved), -math.inf, old * moved)
                if not agree(after, Given(names, product)):
                    return False
        return True

    def settled(self, x: Axis, term: Term) -> bool:
        """Tell whether a term is present over every prefix of an axis, the empty one included."""
        most = self.lanes[x.name]
        found = (self.at_last(part, prefix, most) for part in (term, Prev(term)) for prefix in self.prefixes())
        return all(bool(np.isfinite(value.data).all()) for value in found)

    def moves(self, x: Axis, term: Term, weight: Term, step: Term) -> bool:
        """Tell whether a weighted sum over the lanes so far changes by a step from each prefix of a stream to each
        longer one.

        The first step must be 0, and the longer prefix is at most twice as long.
        """
        most = self.lanes[x.name]
        zero = Given((), np.zeros(()))
        if not all(agree(self.at_last(step, prefix, most), zero) for prefix in self.prefixes()):
            return False
        for later in range(2, most + 1):
            for early in range((later + 1) // 2, later):
                old, still = (self.value(t, {x.name: early}) for t in (term, weight))
                new = self.value(term, {x.name: later})
                if x.name in new.names:
                    new = Given(new.names, new.data.take(range(early), axis=new.names.index(x.name)))
                names, (after, before, weights) = _aligned(new, old, still)
                lanes = names.index(x.name) if x.name in names else None
                changed, alike = (after - before) * weights, early  # what does not vary counts once for each lane
                if lanes is not None:
                    alike = early if changed.shape[lanes] == 1 else 1
                    changed = changed.sum(axis=lanes)
                found = Given(tuple(name for name in names if name != x.name), changed * alike)
                if not agree(self.at_last(step, {x.name: later}, early), found):
                    return False
        return True

    def prefixes(self) -> Iterator[dict[str, int]]:
        """Yield the sizes at which a condition must hold."""
        if self.stream is None:
            yield {}
        else:
            yield from ({self.stream.name: number} for number in range(1, self.lanes[self.stream.name] + 1))

    # -- values --------------------------------------------------------------------------------------------------------

    def spelled(self, term: Term) -> Term:
        """Return a term with the terms that variables stand for put in."""
        return rewritten(term, lambda t: self.filled.get(t, t))

    def value(self, term: Term, cut: dict[str, int] | None = None, block: int | None = None) -> Given:
        """Evaluate a term in float64; `cut` gives axes fewer lanes."""
        lanes = self.lanes | (cut or {})
        arrays = {
            f"v{i}": g.data[tuple(slice(lanes[name]) for name in g.names)] for i, g in enumerate(self.values.values())
        }
        filled = self.over_arrays(term)
        known = {axis.name for axis in axes_in(filled)}
        data = evaluate(filled, arrays, {name: n for name, n in lanes.items() if name in known}, block or self.block)
        return Given(tuple(axis.name for axis in output_order(filled)), np.asarray(data))

    def over_arrays(self, term: Term) -> Term:
        """Return a term with an array in the place of each variable."""
        arrays: dict[Term, Term] = {
            v: Input(f"v{i}", tuple(map(Axis, g.names)), _DTYPE.get(v.kind, "float"))
            for i, (v, g) in enumerate(self.values.items())
        }
        return rewritten(self.spelled(term), lambda t: arrays.get(t, t))

    def at_last(self, term: Term, cut: dict[str, int] | None = None, block: int | None = None) -> Given:
        """Evaluate what may speak of running values, as it is at the last block: an accumulator that forgets everything
        else.
        """
        assert self.stream is not None
        return self.value(Online(self.stream, Const(0.0), TRUE, term), cut, block)


_DTYPE = {"bool": "bool", "int": "int64"}


def nearly(mask: Term) -> Term:
    """Return an inequality to a millionth, as far as numbers that are rounded can tell; any other mask as it is.

    What cancels is off by more than a millionth of itself: where it should be 0 it is off by the roundoff of its parts.
    """
    if isinstance(mask, Map) and mask.op == "le" and mask.args[0].kind == "real":
        a, b = mask.args
        return Map("le", (a, b + (TOLERANCE * (Map("abs", (a,)) + Map("abs", (b,))) + ROUNDED)))
    return mask


def _running(term: Term, x: Axis) -> bool:
    kinds = (Reduce, Scan, Read, Online, Size)
    return any(isinstance(t, Prev) or (isinstance(t, kinds) and t.axis == x) for t in subterms(term))


def _aligned(*values: Given) -> tuple[tuple[str, ...], list[Array]]:
    names = tuple(sorted({name for value in values for name in value.names}))
    arrays = []
    for value in values:
        ordered = value.data.transpose([value.names.index(name) for name in names if name in value.names])
        arrays.append(np.expand_dims(ordered, tuple(i for i, name in enumerate(names) if name not in value.names)))
    return names, arrays


def agree(left: Given, right: Given) -> bool:
    """Tell whether two values are equal in every lane, to a millionth; what is absent equals only what is absent."""
    _, (a, b) = _aligned(left, right)
    a, b = broadcast(a.astype(float), b.astype(float))
    with np.errstate(all="ignore"):
        near = np.abs(a - b) <= TOLERANCE * (1 + np.maximum(np.abs(a), np.abs(b)))
    return bool(np.where((a == -math.inf) | (b == -math.inf), a == b, near).all())


def shown(value: Array) -> str:
    """Return numbers as a reader wants them, axes of one lane left out."""
    value = np.squeeze(value)
    if value.ndim:
        return f"[{', '.join(map(shown, value))}]"
    if value.dtype.kind == "b":
        return "true" if value else "false"
    return "absent" if value == -math.inf else f"{value + 0:g}"
