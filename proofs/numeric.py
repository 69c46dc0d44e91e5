"""The numeric test of every law, in float64 on small adversarial instances: it refutes with a readable counterexample.

All trials of one size are evaluated at once, along an extra axis. A law about streams is tested on streams: a pattern
variable that may hold a running value becomes a term that does. A statement that no instance meets is vetoed.
"""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from napkin_eq.axis import Axis
from napkin_eq.evaluate import axes_in, evaluate, output_order
from napkin_eq.law import TRUE, Inference, Judgment, Law, Max, Statement, Sum, Var, exp, inv, where
from napkin_eq.obligation import LARGEST_EXPONENT, NotUnderstood, conditions_of, finite, meaning, variants
from napkin_eq.proving import Outcome, prover
from napkin_eq.term import Acc, Const, Input, Map, Online, Prev, Term, Tuple, rewritten, subterms

Array = np.ndarray[Any, np.dtype[Any]]
TRIAL = Axis("trial")
TRIALS = 160
VALUES = np.array([0.0, 1.0, -1.0, 2.0, 0.5, -2.0, 3.0, -0.5])
TOLERANCE, TOO_LARGE, TOO_SMALL = 1e-6, 1e8, 1e-9


@dataclass(frozen=True, slots=True)
class Check:
    """What must hold of an instance: pairs of terms that are equal, evaluated with blocks of so many lanes, on so many of them."""

    left: Term
    right: Term
    block: int
    left_lanes: int
    right_lanes: int


@prover("numeric", rank=1)
def numeric(statement: Statement, timeout_s: float) -> Outcome | None:
    """Look for an instance that meets the conditions and not the statement."""
    witnessed = False
    for variant in variants(statement):
        try:
            instances = list(_instances(variant))
        except NotUnderstood:
            return None
        for instance in instances:
            for lanes in _sizes(instance.axes):
                met, counterexample = instance.tried(lanes, statement.name)
                witnessed |= met
                if counterexample:
                    return Outcome("refuted", "numeric", counterexample)
    return None if witnessed else Outcome("veto", "numeric", "no instance was found that meets the conditions")


def _sizes(axes: tuple[Axis, ...]) -> Iterator[dict[str, int]]:
    for number in (1, 2, 3):
        yield {axis.name: number for axis in axes}
    if len(axes) > 1:
        yield {axis.name: 2 - place % 2 for place, axis in enumerate(axes)}
        yield {axis.name: 1 + place % 2 for place, axis in enumerate(axes)}


def _instances(statement: Statement) -> Iterator[Instance]:
    streamed = _stream_axis(statement)
    for table in _stream_tables(statement, streamed) if streamed else [{}]:
        yield Instance(statement, streamed, table)


def _stream_axis(statement: Statement) -> Axis | None:
    """Return the axis whose stream a statement speaks of, None if it speaks of none."""
    judgments = [*conditions_of(statement), *([statement.conclusion] if isinstance(statement, Inference) else [])]
    sides = [statement.lhs, statement.rhs] if isinstance(statement, Law) else []
    terms = [*sides, *(a for j in judgments for a in j.args if isinstance(a, Term))]
    axes = {j.args[0] for j in judgments if j.name in ("scales", "local")}
    axes |= {t.axis for t in subterms(*terms) if isinstance(t, Online)}
    axes |= {t.axis for p in subterms(*terms) if isinstance(p, Prev) for t in subterms(p.body) if "axis" in t.names}
    if len(axes) > 1:
        raise NotUnderstood("streams over several axes in one statement are not tested")
    found = next(iter(axes), None)
    assert found is None or isinstance(found, Axis)
    return found


def _stream_tables(statement: Statement, x: Axis | None) -> list[dict[Term, Term]]:
    """Return ways to fill the variables that may hold running values: by terms that do, over variables that do not."""
    assert x is not None
    conditions = conditions_of(statement)
    local = {j.args[1] for j in conditions if j.name == "local"}
    free = {j.args[1] for j in conditions if j.name == "free" and j.args[0] == x}
    choices: list[list[dict[Term, Term]]] = []
    for j in conditions:
        if j.name == "scales":
            _, term, ratio = j.args
            if not (isinstance(term, Var) and isinstance(ratio, Var)):
                raise NotUnderstood("a condition scales(...) is tested for variables")
            choices.append([{term: t, ratio: r} for t, r in _scaling(term.name, x)])
    filled = {v for tables in choices for v in tables[0]}
    rest = [v for v in _variables(statement) if v not in filled and v not in local and v.sort != "number"]
    updates = {t.update for t in subterms(*_terms(statement)) if isinstance(t, Online)}
    running: dict[Term, Term] = {v: _running(v, x, v in free, v in updates) for v in rest}
    return [running | dict(itertools.chain(*(table.items() for table in tables))) for tables in itertools.product(*choices)]


def _scaling(name: str, x: Axis) -> list[tuple[Term, Term]]:
    """Return terms that change by a factor as a stream goes on, each with its factor."""
    p, s = Var(f"{name}1"), Var(f"{name}2")
    top, total = Max(x, p), Sum(x, exp(p) + 0.5)
    return [(exp(p - top) * s, exp(Prev(top) - top)), (s * inv(total), Prev(total) * inv(total)), (s, Const(1.0))]


def _running(v: Var, x: Axis, free: bool, update: bool) -> Term:
    p = Var(f"{v.name}0")
    if v.sort == "bool":
        return Map("lt", (p, Max(x, p)))
    if v.sort != "real":
        raise NotUnderstood(f"the {v.sort} variable {v.name} of a stream is not tested")
    if update:
        return 0.5 * Acc() + Max(x, p)
    return Max(x, p) if free else p - Max(x, p)


def _terms(statement: Statement) -> list[Term]:
    judgments = [*conditions_of(statement), *([statement.conclusion] if isinstance(statement, Inference) else [])]
    sides = [statement.lhs, statement.rhs] if isinstance(statement, Law) else []
    return [*sides, *(a for j in judgments for a in j.args if isinstance(a, Term))]


def _variables(statement: Statement) -> list[Var]:
    return [t for t in subterms(*_terms(statement)) if isinstance(t, Var)]


class Instance:
    """A statement with its variables filled by arrays: `trial` is an axis of every array, the law's axes where not free."""

    def __init__(self, statement: Statement, stream: Axis | None, table: Mapping[Term, Term]) -> None:
        self.statement, self.stream, self.table = statement, stream, table
        terms = [self.filled(t) for t in _terms(statement)]
        names = {axis for t in terms for axis in axes_in(t)} | {a for j in self.judgments() for a in j.args if isinstance(a, Axis)}
        self.axes = tuple(sorted(names))
        free = {(a, t) for j in conditions_of(statement) if j.name == "free" for a, t in [j.args]}
        premises = [meaning(j) for j in conditions_of(statement) if j.name not in ("free", "along", "distinct", "local", "scales")]
        self.premises = [self.filled(mask) for mask in premises]
        used = [t for t in subterms(*terms, *self.premises) if isinstance(t, Var)]
        if isinstance(statement, Inference) and statement.conclusion.name == "safe":
            used.append(LARGEST_EXPONENT)
        self.variables = list(dict.fromkeys(used))
        self.dims = {v: tuple(a for a in self.axes if v.sort != "number" and (a, v) not in free) for v in self.variables}
        kinds = {"bool": "bool", "int": "int64"}
        self.inputs: dict[Term, Term] = {
            v: Input(f"v{i}", (TRIAL, *self.dims[v]), kinds.get(v.kind, "float")) for i, v in enumerate(self.variables)
        }

    def judgments(self) -> list[Judgment]:
        return [*conditions_of(self.statement), *([self.statement.conclusion] if isinstance(self.statement, Inference) else [])]

    def filled(self, term: Term) -> Term:
        return rewritten(term, lambda t: self.table.get(t, t))

    def tried(self, lanes: dict[str, int], seed: str) -> tuple[bool, str]:
        """Try arrays of these sizes; return whether some met the conditions, and the simplest counterexample."""
        arrays = self.sampled(lanes, np.random.default_rng([zlib.crc32(seed.encode()), *lanes.values()]))
        met = np.ones(TRIALS, dtype=bool)
        for part in self.prefixes(lanes):
            for mask in self.premises:
                met &= self.held(mask, arrays, part)
        if not met.any():
            return False, ""
        for check in self.checks(lanes):
            left, right, ok = self.sides(check, arrays, lanes)
            bad = met & ok & ~_agree(left, right)
            if bad.any():
                trial = min(np.flatnonzero(bad), key=lambda i: (self.weight(arrays, int(i)), int(i)))
                return True, self.told(arrays, lanes, int(trial), check, left, right)
        return True, ""

    def prefixes(self, lanes: dict[str, int]) -> list[dict[str, int]]:
        """Return the sizes at which the conditions must hold: along a stream, those of every prefix."""
        if self.stream is None:
            return [lanes]
        return [lanes | {self.stream.name: n} for n in range(1, lanes[self.stream.name] + 1)]

    def checks(self, lanes: dict[str, int]) -> Iterator[Check]:
        statement, x = self.statement, self.stream
        most = lanes[x.name] if x else 1
        early = (most + 1) // 2
        if isinstance(statement, Law):
            left, right = self.filled(statement.lhs), self.filled(statement.rhs)
            for block in {1, early, most} if x else {1}:
                yield Check(left, right, block, most, most)
            return
        conclusion = statement.conclusion
        if x is None:
            yield Check(self.filled(meaning(conclusion)), TRUE, 1, most, most)
        elif conclusion.name in ("local", "scales"):
            _, term, *ratio = conclusion.args
            assert isinstance(term, Term)
            if ratio:
                factor = Online(x, Const(0.0), TRUE, self.filled(ratio[0]))  # type: ignore[arg-type]
                yield Check(_told(finite(factor)), Const(1.0), most, most, most)
            else:
                factor = Online(x, Const(0.0), TRUE, Const(1.0))
            if early < most:
                # Two blocks: the factor's value is the update of the second one, whatever the accumulator.
                yield Check(self.filled(term), self.filled(term) * Const(1.0) if not ratio else factor, early, most, early)
        else:
            held = Online(x, Const(0.0), TRUE, _told(self.filled(meaning(conclusion))))
            yield Check(held, Const(1.0), most, most, most)
            if early < most:
                yield Check(held, Const(1.0), early, most, most)

    def sides(self, check: Check, arrays: dict[Var, Array], lanes: dict[str, int]) -> tuple[Array, Array, Array]:
        """Return both sides of a check, and which trials stayed within numbers that float64 can tell apart."""
        x, conclusion = self.stream, getattr(self.statement, "conclusion", None)
        if x is not None and check.right_lanes < check.left_lanes:
            few = lanes | {x.name: check.right_lanes}
            left = self.value(check.left, arrays, lanes, check.block)
            at = 1 + self.axes.index(x)
            left = left if left.shape[at] == 1 else left.take(range(check.right_lanes), axis=at)
            right = self.value(check.left, arrays, few, check.block)
            if conclusion is not None and conclusion.name == "scales":
                ratio = self.value(check.right, arrays, lanes, check.block)
                with np.errstate(all="ignore"):
                    right = np.where(np.isneginf(right) | np.isneginf(ratio), -math.inf, right * ratio)
        else:
            left = self.value(check.left, arrays, lanes, check.block)
            right = self.value(check.right, arrays, lanes, check.block)
        ok = np.ones(TRIALS, dtype=bool)
        for side in (left, right):
            if side.dtype.kind == "f":
                ok &= _every((side < TOO_LARGE) & (np.isneginf(side) | (side > -TOO_LARGE)))
        return left, right, ok

    def held(self, mask: Term, arrays: dict[Var, Array], lanes: dict[str, int]) -> Array:
        """Tell for each trial whether a mask holds in every lane; what rounding could decide does not count."""
        result = _every(self.value(mask, arrays, lanes, 1))
        for side in (t for t in mask.children if t.kind == "real" and not isinstance(t, (Var, Const))):
            value = self.value(side, arrays, lanes, 1)
            result = result & _every((value == 0) | (np.abs(value) > TOO_SMALL))
        return result

    def value(self, term: Term, arrays: dict[Var, Array], lanes: dict[str, int], block: int) -> Array:
        """Evaluate a term: axes trial, then the law's, of length 1 where the term does not vary."""
        term = rewritten(term, lambda t: self.inputs.get(t, t))
        given = {}
        for v in self.variables:
            shape = tuple(slice(None) if a is TRIAL else slice(lanes[a.name]) for a in (TRIAL, *self.axes))
            cut = arrays[v][shape]
            given[self.inputs[v].name] = cut.reshape([TRIALS, *(lanes[a.name] for a in self.dims[v])])
        known = {a.name for a in axes_in(term)}
        sizes = {name: number for name, number in lanes.items() if name in known}
        order = [a.name for a in output_order(term)]
        result = np.asarray(evaluate(term, given, sizes, block))
        wanted = [a.name for a in (TRIAL, *self.axes)]
        result = result.transpose([order.index(name) for name in wanted if name in order])
        return result.reshape([result.shape[[n for n in wanted if n in order].index(name)] if name in order else 1 for name in wanted])

    def sampled(self, lanes: dict[str, int], rng: np.random.Generator) -> dict[Var, Array]:
        """Return an array for each variable, bent to meet the conditions where a condition on a variable shows how."""
        arrays: dict[Var, Array] = {}
        rate = np.linspace(-0.5, 0.7, TRIALS)
        for v in self.variables:
            shape = (TRIALS, *(lanes[a.name] if a in self.dims[v] else 1 for a in self.axes))
            if v is LARGEST_EXPONENT:
                arrays[v] = np.full(shape, 11.0)
            elif v.kind == "bool":
                arrays[v] = rng.random(shape) < rng.random((TRIALS, *(1 for _ in self.axes)))
            elif v.kind == "int":
                arrays[v] = rng.integers(-2, 4, shape)
            else:
                absent = rng.random(shape) < rate.reshape([TRIALS, *(1 for _ in self.axes)])
                arrays[v] = np.where(absent, -math.inf, rng.choice(VALUES, shape))
        for judgment in conditions_of(self.statement):
            _bend(judgment, arrays)
        return arrays

    def weight(self, arrays: dict[Var, Array], trial: int) -> float:
        """Return how hard a trial is to read."""
        numbers = np.concatenate([np.ravel(arrays[v][trial]).astype(float) for v in self.variables] or [np.zeros(1)])
        present = numbers[np.isfinite(numbers)]
        return float(3 * (numbers.size - present.size) + np.abs(present).sum() + (present != np.round(present)).sum())

    def told(self, arrays: dict[Var, Array], lanes: dict[str, int], trial: int, check: Check, left: Array, right: Array) -> str:
        sizes = [f"{a} has {lanes[a.name]} lane{'s' if lanes[a.name] > 1 else ''}" for a in self.axes]
        filled = [f"{v.name} = {term}" for v, term in self.table.items() if isinstance(v, Var)]
        values = [f"{v.name} = {_written(arrays[v][trial])}" for v in self.variables if v is not LARGEST_EXPONENT]
        where_ = ", ".join([*sizes, *filled, *values])
        if isinstance(self.statement, Law):
            return f"{where_}: left {_written(left[trial])}, right {_written(right[trial])}"
        conclusion = self.statement.conclusion
        if self.stream is not None:
            blocks = f"blocks of {check.block}"
            return f"{where_}, {blocks}: {conclusion} fails" + (
                f", {_written(left[trial])} is not {_written(right[trial])}" if check.right_lanes < check.left_lanes else ""
            )
        shown = [self.filled(a) for a in conclusion.args if isinstance(a, Term) and not isinstance(a, (Var, Const))]
        parts = [f"{a} = {_written(self.value(a, arrays, lanes, 1)[trial % TRIALS])}" for a in shown]
        return f"{where_}: {conclusion} fails" + (f", {', '.join(parts)}" if parts else "")


def _told(mask: Term) -> Term:
    return where(mask, Const(1.0), Const(0.0))


def _every(lanes: Array) -> Array:
    return np.broadcast_to(lanes.reshape(lanes.shape[0], -1).all(axis=1), (TRIALS,))


def _agree(left: Array, right: Array) -> Array:
    if left.dtype.kind == "b" or left.dtype.kind == "i":
        return _every(left == right)
    with np.errstate(all="ignore"):
        near = np.abs(left - right) <= TOLERANCE * (1 + np.maximum(np.abs(left), np.abs(right)))
    return _every(np.where(np.isneginf(left) | np.isneginf(right), left == right, near))


def _bend(judgment: Judgment, arrays: dict[Var, Array]) -> None:
    """Change the array of a variable so that a condition on it holds."""
    names = [arg for arg in judgment.args if isinstance(arg, Var) and arg in arrays]
    if len(names) != len(judgment.args):
        return
    first, last = names[0], names[-1]
    if judgment.name in ("pos", "nonneg", "nonzero", "finite"):
        a = np.where(np.isneginf(arrays[last]), 0.5, arrays[last])
        a = np.abs(a) if judgment.name in ("pos", "nonneg") else a
        arrays[last] = np.where(a == 0, 1.0, a) if judgment.name in ("pos", "nonzero") else a
    elif judgment.name in ("zero", "absent") and arrays[first].shape == arrays[last].shape:
        arrays[last] = np.where(arrays[first], arrays[last], 0.0 if judgment.name == "zero" else -math.inf)
    elif judgment.name == "le" and arrays[first].shape == arrays[last].shape:
        arrays[first] = np.minimum(arrays[first], arrays[last])


def _written(value: Array) -> str:
    value = np.squeeze(value)
    if value.ndim:
        return f"[{', '.join(map(_written, value))}]"
    if value.dtype.kind == "b":
        return "true" if value else "false"
    return "absent" if value == -math.inf else f"{value:g}"
