"""The numeric test of every law, in float64 on small adversarial instances: it refutes with a readable counterexample.

All trials of one size are evaluated at once, along an extra axis. A law about streams is tested on streams: a pattern
variable that may hold a running value becomes a term that does. A statement that no instance meets is vetoed.
"""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import axes_in, evaluate, output_order
from napkin_eq.lang.scope import opened
from napkin_eq.lang.term import Acc, Const, Input, Map, Online, Prev, Term, rewritten, subterms
from napkin_eq.laws.claim import JUDGMENT, LARGEST_EXPONENT, STREAMED, NotUnderstood, finite, meaning
from napkin_eq.laws.law import ABSENT, TRUE, Judgment, Law, Max, Statement, Sum, Var, exp, inv, size, where
from napkin_eq.laws.obligation import conditions_of, judgments_of, terms_of, variants
from napkin_eq.prove.counterexample import Counterexample, Given, nearly
from napkin_eq.prove.prove import Outcome, prover

Array = np.ndarray[Any, np.dtype[Any]]
Table = dict[Term, Term]
TRIAL = Axis("trial")
TRIALS = 160
VALUES = (0.0, 1.0, -1.0, 2.0, 0.5, -2.0, 3.0, -0.5)
LARGEST = 11.0
TOLERANCE, TOO_LARGE, TOO_SMALL = 1e-6, 1e8, 1e-9
# Operators that jump, and where the next jump from an argument is.
STEPS: dict[str, Callable[..., Array]] = {
    **{op: lambda a, b: b for op in ("lt", "le", "eq")},
    "floor": np.round,
    "round": lambda a: np.floor(a) + 0.5,
    **{op: np.zeros_like for op in ("inv", "log")},
}


@prover("numeric", rank=1)
def numeric(statement: Statement, timeout_s: float) -> Outcome | None:
    """Look for an instance that meets the conditions and not the statement; what cannot be tested is not
    let through.
    """
    try:
        return _tested(statement)
    except NapkinError as error:
        return Outcome("veto", "numeric", f"it was not tested: {error}")


def _tested(statement: Statement) -> Outcome:
    witnessed = False
    for instance in (instance for variant in variants(statement) for instance in _instances(variant)):
        for lanes in _sizes(instance.axes):
            met, example = instance.tried(lanes)
            witnessed |= met
            if example is not None:
                return Outcome("refuted", "numeric", str(example), example=example)
    return (
        Outcome("tested", "numeric")
        if witnessed
        else Outcome("veto", "numeric", "no instance was found that meets the conditions")
    )


def _sizes(axes: tuple[Axis, ...]) -> Iterator[dict[str, int]]:
    for number in (1, 2, 3):
        yield {axis.name: number for axis in axes}
    if len(axes) > 1:
        yield {axis.name: 2 - place % 2 for place, axis in enumerate(axes)}
        yield {axis.name: 1 + place % 2 for place, axis in enumerate(axes)}


# -- streams: what a variable that may hold a running value is filled with ---------------------------------------------


def _instances(statement: Statement) -> Iterator[Instance]:
    axis = _stream_axis(statement)
    for table in [{}] if axis is None else _fillings(statement, axis):
        yield Instance(statement, axis, table)


def _stream_axis(statement: Statement) -> Axis | None:
    """Return the axis whose stream a statement speaks of, None if it speaks of none."""
    parts = subterms(*terms_of(statement))
    axes = {str(j.args[0]) for j in judgments_of(statement) if j.name in STREAMED}
    axes |= {t.axis.name for t in parts if isinstance(t, Online)}
    if not axes:  # a fold over another axis under Prev is no stream
        axes = {t.axis.name for p in parts if isinstance(p, Prev) for t in subterms(p.body) if "axis" in t.names}
    if len(axes) > 1:
        raise NotUnderstood("streams over several axes in one statement are not tested")
    return Axis(axes.pop()) if axes else None


def _fillings(statement: Statement, x: Axis) -> list[Table]:
    conditions = conditions_of(statement)
    local = {j.args[1] for j in conditions if j.name == "local"}
    free = {j.args[1] for j in conditions if j.name == "free" and j.args[0] == x}
    by_ratio: dict[Var, list[Var]] = {}
    for _, term, ratio in (j.args for j in conditions if j.name == "scales"):
        if not (isinstance(term, Var) and isinstance(ratio, Var)):
            raise NotUnderstood("a condition scales(...) is tested for variables")
        by_ratio.setdefault(ratio, []).append(term)
    scaled = {v for ratio, terms in by_ratio.items() for v in (ratio, *terms)}
    updates = {t.update for t in subterms(*terms_of(statement)) if isinstance(t, Online)}
    variables = [t for t in subterms(*terms_of(statement)) if isinstance(t, Var) and t.sort != "number"]
    centred = _centred(conditions, x)
    running: Table = {v: _running(v, x, v in free, v in updates) for v in variables if v not in local | scaled}
    settled = {j.args[1] for j in conditions if j.name == "settled"}
    running |= {v: Sum(x, Var(f"{v.name}0")) * 0.5 for v in settled if isinstance(v, Var)} | centred
    choices = [_scaling(ratio, terms, x) for ratio, terms in by_ratio.items()]
    found = [dict(itertools.chain(*(table.items() for table in tables))) for tables in itertools.product(*choices)]
    return [table | _steps(conditions, x, table) for table in (running | scaling for scaling in found)]


def _mean(v: Var, weight: Term | None, x: Axis) -> Term:
    p = Var(f"{v.name}0")
    return Sum(x, p) * inv(size(x)) if weight is None else Sum(x, p * weight) * inv(Sum(x, weight))


def _centred(conditions: tuple[Judgment, ...], x: Axis) -> Table:
    """Return differences from a mean, or from a weighted one, for variables whose sums are said to be 0 or to move."""
    table: Table = {}
    for judgment in conditions:
        if judgment.name == "moves":
            moving = judgment.args[1]
            if not isinstance(moving, Var):
                raise NotUnderstood("a condition moves(...) is tested for variables")
            table.setdefault(moving, Var(f"{moving.name}0") - 0.5 * Sum(x, Var(f"{moving.name}0")))
        if judgment.name == "null":
            body = judgment.args[1]
            assert isinstance(body, Term)
            moving, weight = body.args if isinstance(body, Map) and body.op == "mul" else (body, None)
            if not isinstance(moving, Var) or not (weight is None or isinstance(weight, Var)):
                raise NotUnderstood("a condition null(...) is tested for a variable, or a product of two")
            table[moving] = Var(f"{moving.name}0") - _mean(moving, weight, x)
            if weight is not None:
                table[weight] = weight
    return table


def _steps(conditions: tuple[Judgment, ...], x: Axis, table: Table) -> Table:
    """Return, for the steps of conditions moves(...), what sums of the differences that stand for their variables
    change by.
    """
    steps: Table = {}
    for _, moving, weight, step in (j.args for j in conditions if j.name == "moves"):
        assert isinstance(moving, Var) and isinstance(weight, Term) and isinstance(step, Term)
        form = table[moving]
        assert isinstance(form, Map) and isinstance(form.args[1], Map)
        reference = form.args[1].args[0]
        steps[step] = (Prev(reference) - reference) * Prev(Sum(x, rewritten(weight, lambda t: table.get(t, t))))
    return steps


def _scaling(ratio: Var, terms: list[Var], x: Axis) -> list[Table]:
    """Return ways to fill variables with terms that change by one factor as the stream goes on."""
    p = Var(f"{ratio.name}0")
    top, total = Max(x, p), Sum(x, exp(p) + 0.5)
    forms = (exp(p - top), exp(Prev(top) - top)), (inv(total), Prev(total) * inv(total)), (Const(1.0), Const(1.0))
    return [{ratio: factor, **{v: form * Var(f"{v.name}0") for v in terms}} for form, factor in forms]


def _running(v: Var, x: Axis, free: bool, update: bool) -> Term:
    p = Var(f"{v.name}0")
    if v.sort == "bool":
        return Map("lt", (p, Max(x, p)))
    if v.sort != "real":
        raise NotUnderstood(f"the {v.sort} variable {v.name} of a stream is not tested")
    if update:
        return 0.5 * Acc() + Max(x, p)
    return Max(x, p) if free else p - Max(x, p)


# -- instances ---------------------------------------------------------------------------------------------------------


class Instance:
    """A statement whose variables are arrays: every array has the axis `trial`, and the law's axes where it is not free
    of them.
    """

    def __init__(self, statement: Statement, stream: Axis | None, table: Table) -> None:
        self.statement, self.stream, self.table = statement, stream, table
        terms = [self.filled(t) for t in terms_of(statement)]
        masks = [(j, self.filled(meaning(j))) for j in judgments_of(statement) if j.name in JUDGMENT]
        self.premises = [mask for j, mask in masks if j in conditions_of(statement) and j.name != "null"]
        settled = [t for j in conditions_of(statement) if j.name == "settled" for t in j.args if isinstance(t, Term)]
        self.premises += [finite(self.filled(t)) for t in settled]
        self.nulls = [self.filled(meaning(j)).args[0] for j in conditions_of(statement) if j.name == "null"]
        axes = {a for t in terms for a in axes_in(t)} | {
            a for j in judgments_of(statement) for a in j.args if isinstance(a, Axis)
        }
        self.axes = tuple(sorted(axes))
        parts = subterms(*terms, *(mask for _, mask in masks))
        self.variables = [t for t in parts if isinstance(t, Var)]
        self.constants = tuple(float(t.value) for t in parts if isinstance(t, Const) and math.isfinite(t.value))
        free = {j.args for j in conditions_of(statement) if j.name == "free"}
        # What stands for a variable of a stream does not vary along another axis if the variable does not.
        free |= {
            (a, part)
            for a, v in free
            if a != stream and isinstance(v, Var)
            for part in subterms(table.get(v, v))
            if isinstance(part, Var)
        }
        self.dims = {
            v: tuple(a for a in self.axes if v.sort != "number" and (a, v) not in free) for v in self.variables
        }
        kinds = {"bool": "bool", "int": "int64"}
        self.inputs: Table = {
            v: Input(f"v{i}", (TRIAL, *self.dims[v]), kinds.get(v.kind, "float")) for i, v in enumerate(self.variables)
        }

    def filled(self, term: Term) -> Term:
        return rewritten(term, lambda t: self.table.get(t, t))

    def tried(self, lanes: dict[str, int]) -> tuple[bool, Counterexample | None]:
        """Try arrays of these sizes; return whether some met the conditions, and the simplest counterexample."""
        arrays = self.sampled(lanes, np.random.default_rng([zlib.crc32(self.statement.name.encode()), *lanes.values()]))
        met = np.ones(TRIALS, dtype=bool)
        for part in self.prefixes(lanes):
            for mask in self.premises:
                met &= self.held(mask, arrays, part)
            for total in self.nulls:  # but for rounding
                met &= _every(np.abs(self.value(total, arrays, part)) <= TOO_SMALL)
        if not met.any():
            return False, None
        for left, right, block in self.sides(arrays, lanes):
            bad = met & _tame(left) & _tame(right) & ~_agree(left, right)
            if bad.any():
                bad &= self.clear(arrays, lanes)
            if bad.any():
                trial = min(map(int, np.flatnonzero(bad)), key=lambda i: (self.weight(arrays, i), i))
                return True, self.example(arrays, lanes, trial, block)
        return True, None

    def prefixes(self, lanes: dict[str, int]) -> list[dict[str, int]]:
        """Return the sizes at which the conditions must hold: along a stream, those of every prefix."""
        if self.stream is None:
            return [lanes]
        return [lanes | {self.stream.name: n} for n in range(1, lanes[self.stream.name] + 1)]

    def sides(self, arrays: dict[Var, Array], lanes: dict[str, int]) -> Iterator[tuple[Array, Array, int]]:
        """Yield what must be equal: two arrays, and how many lanes a block of the stream had."""
        statement, x = self.statement, self.stream
        if isinstance(statement, Law):
            left, right = self.filled(statement.lhs), self.filled(statement.rhs)
            for block in (1, 2, 3) if x else (1,):
                yield self.value(left, arrays, lanes, block), self.value(right, arrays, lanes, block), block
        elif statement.conclusion.name == "null":
            total = self.filled(meaning(statement.conclusion)).args[0]
            yield self.value(total, arrays, lanes), self.value(Const(0.0), arrays, lanes), 1
        elif x is None:
            yield (
                self.value(self.filled(nearly(meaning(statement.conclusion))), arrays, lanes),
                self.value(TRUE, arrays, lanes),
                1,
            )
        elif statement.conclusion.name in STREAMED:
            yield from self.moved(statement.conclusion, x, arrays, lanes)
        else:
            for block in (1, 2, 3):
                holds = where(self.filled(nearly(meaning(statement.conclusion))), Const(1.0), 0.0)
                yield self.update(holds, x, arrays, lanes, block), np.ones((TRIALS, 1)), block

    def moved(
        self, conclusion: Judgment, x: Axis, arrays: dict[Var, Array], lanes: dict[str, int]
    ) -> Iterator[tuple[Array, Array, int]]:
        """Compare a term before and after the last of two blocks, with its factor, or sums of it with the
        step between.
        """
        term, *rest = map(self.filled, (t for t in conclusion.args if isinstance(t, Term)))
        ones, most = np.ones((TRIALS, 1)), lanes[x.name]
        if conclusion.name == "settled":
            for part in (term, Prev(term)):
                yield self.update(where(finite(part), Const(1.0), 0.0), x, arrays, lanes, most), ones, most
            return
        change = rest[-1] if rest else Const(1.0)
        if conclusion.name == "moves":
            yield self.update(change, x, arrays, lanes, most), 0 * ones, most
        else:
            yield self.update(where(finite(change), Const(1.0), 0.0), x, arrays, lanes, most), ones, most
        early = (most + 1) // 2
        if early < most:
            after, at = self.value(term, arrays, lanes), 1 + self.axes.index(x)
            after = after if after.shape[at] == 1 else after.take(range(early), axis=at)
            before = self.value(term, arrays, lanes | {x.name: early})
            told = self.update(change, x, arrays, lanes, early)
            with np.errstate(all="ignore"):
                if conclusion.name == "moves":
                    moved = (after - before) * self.value(rest[0], arrays, lanes | {x.name: early})
                    shape = (*moved.shape[:at], early, *moved.shape[at + 1 :])
                    total = np.broadcast_to(moved, shape).sum(axis=at, keepdims=True)
                    yield np.where(np.isnan(total), -math.inf, total), told, early
                else:
                    yield after, np.where(np.isneginf(before) | np.isneginf(told), -math.inf, before * told), early

    def update(self, term: Term, x: Axis, arrays: dict[Var, Array], lanes: dict[str, int], block: int) -> Array:
        """Evaluate what may speak of running values, as it is at the last block: an accumulator that forgets everything
        else.
        """
        return self.value(Online(x, Const(0.0), TRUE, term), arrays, lanes, block)

    def held(self, mask: Term, arrays: dict[Var, Array], lanes: dict[str, int]) -> Array:
        """Tell for each trial whether a mask holds in every lane; where rounding could decide, it does not."""
        if self.stream is not None and opened(mask):
            # Of what came before a block it speaks in an update only: at the last block, however long that is.
            numbers = where(mask, Const(1.0), 0.0)
            blocks = range(1, lanes[self.stream.name] + 1)
            return _every(
                np.stack([self.update(numbers, self.stream, arrays, lanes, block) for block in blocks], axis=1) == 1.0
            )
        result = _every(self.value(mask, arrays, lanes))
        for side in (t for t in mask.children if t.kind == "real" and not isinstance(t, (Var, Const))):
            value = self.value(side, arrays, lanes)
            result = result & _every((value == 0) | (np.abs(value) > TOO_SMALL))
        return result

    def clear(self, arrays: dict[Var, Array], lanes: dict[str, int]) -> Array:
        """Tell for each trial whether no comparison, floor, inverse or logarithm in the statement is of numbers that
        only rounding tells from a step of it.
        """
        result = np.ones(TRIALS, dtype=bool)
        roots = [self.filled(t) for t in terms_of(self.statement) if t.kind != "tuple"]
        for t in subterms(*roots):
            if not isinstance(t, Map) or t.args[0].kind != "real" or opened(t) or t.op not in STEPS:
                continue
            first, *others = (self.value(arg, arrays, lanes) for arg in t.args)
            with np.errstate(all="ignore"):
                step = STEPS[t.op](first, *others)
                apart = np.abs(first - step)
                near = (apart > 0) & (apart <= TOO_SMALL * (1 + np.abs(first))) & np.isfinite(first)
            result &= _every(~near)
        return result

    def value(self, term: Term, arrays: dict[Var, Array], lanes: dict[str, int], block: int = 1) -> Array:
        """Evaluate a term: axes trial, then the law's, of length 1 where the term does not vary."""
        term = rewritten(term, lambda t: self.inputs.get(t, t))
        given = {}
        for v in self.variables:
            part = arrays[v][(slice(None), *(slice(lanes[a.name]) for a in self.axes))]
            given[self.inputs[v].name] = part.reshape([TRIALS, *(lanes[a.name] for a in self.dims[v])])
        known = {a.name for a in axes_in(term)}
        names = [a.name for a in output_order(term)]
        result = np.asarray(evaluate(term, given, {name: n for name, n in lanes.items() if name in known}, block))
        every = [a.name for a in (TRIAL, *self.axes)]
        result = result.transpose([names.index(name) for name in every if name in names])
        result = np.expand_dims(result, tuple(i for i, name in enumerate(every) if name not in names))
        return np.broadcast_to(result, (TRIALS, *result.shape[1:]))

    def sampled(self, lanes: dict[str, int], rng: np.random.Generator) -> dict[Var, Array]:
        """Return an array for each variable, bent to meet the conditions where a condition on a variable shows how."""
        arrays: dict[Var, Array] = {}
        scalar = (TRIALS, *(1 for _ in self.axes))
        rate = np.linspace(-0.5, 0.7, TRIALS).reshape(scalar)
        pool = np.array(list(dict.fromkeys([*VALUES, *self.constants])))
        # Some trials are larger than what an exponential can hold, where that matters.
        scale = (
            np.where(np.arange(TRIALS) % 3 == 2, 2 * LARGEST, 1.0).reshape(scalar)
            if LARGEST_EXPONENT in self.variables
            else 1.0
        )
        for v in self.variables:
            shape = (TRIALS, *(lanes[a.name] if a in self.dims[v] else 1 for a in self.axes))
            if v is LARGEST_EXPONENT:
                arrays[v] = np.full(shape, LARGEST)
            elif v.kind == "bool":
                arrays[v] = rng.random(shape) < rng.random(scalar)
            elif v.kind == "int":
                arrays[v] = rng.integers(-2, 4, shape)
            else:
                arrays[v] = np.where(rng.random(shape) < rate, -math.inf, scale * rng.choice(pool, shape))
        for judgment in conditions_of(self.statement):
            if judgment.name == "stretch":
                self.cut(judgment, arrays)
            else:
                _bend(judgment, arrays)
        return arrays

    def cut(self, judgment: Judgment, arrays: dict[Var, Array]) -> None:
        """Leave each lane in the first of the stretches that hold it, or in the first of all."""
        part, _, mask = judgment.args
        if isinstance(mask, Var) and mask in arrays:
            at = 1 + self.axes.index(part)
            first = np.expand_dims(arrays[mask].argmax(axis=at), at)
            arrays[mask] = np.arange(arrays[mask].shape[at]).reshape([-1, *(1 for _ in self.axes[at:])]) == first

    def weight(self, arrays: dict[Var, Array], trial: int) -> float:
        """Return how hard a trial is to read."""
        numbers = np.concatenate([np.ravel(arrays[v][trial]).astype(float) for v in self.variables] or [np.zeros(1)])
        present = numbers[np.isfinite(numbers)]
        return float(3 * (numbers.size - present.size) + np.abs(present).sum() + (present != np.round(present)).sum())

    def example(self, arrays: dict[Var, Array], lanes: dict[str, int], trial: int, block: int) -> Counterexample:
        values = {}
        for v in self.variables:
            dims = self.dims[v]
            values[v] = Given(tuple(a.name for a in dims), arrays[v][trial].reshape([lanes[a.name] for a in dims]))
        return Counterexample(self.statement, lanes, values, self.table, self.stream, block)


def _every(lanes: Array) -> Array:
    return np.asarray(lanes.reshape(TRIALS, -1).all(axis=1))


def _tame(side: Array) -> Array:
    """Tell which trials stayed within numbers that float64 can tell apart."""
    return _every((side < TOO_LARGE) & ((side > -TOO_LARGE) | (side == -math.inf)))


def _agree(left: Array, right: Array) -> Array:
    left, right = np.broadcast_arrays(left.astype(float), right.astype(float))
    with np.errstate(all="ignore"):
        near = np.abs(left - right) <= TOLERANCE * (1 + np.maximum(np.abs(left), np.abs(right)))
    return _every(np.where((left == -math.inf) | (right == -math.inf), left == right, near))


def _bend(judgment: Judgment, arrays: dict[Var, Array]) -> None:
    """Change the array of a variable so that a condition on it holds."""
    names = [arg for arg in judgment.args if isinstance(arg, Var) and arg in arrays]
    if len(names) != len(judgment.args):
        return
    first, last = names[0], names[-1]
    if judgment.name in ("pos", "nonneg", "nonzero", "finite"):
        # Coordinates stay whole numbers.
        a = np.where(arrays[last] == -math.inf, 0.5, arrays[last]) if arrays[last].dtype.kind == "f" else arrays[last]
        a = np.abs(a) if judgment.name in ("pos", "nonneg") else a
        arrays[last] = np.where(a == 0, np.ones_like(a), a) if judgment.name in ("pos", "nonzero") else a
    elif (
        judgment.name in ("zero", "absent")
        and arrays[first].shape == arrays[last].shape
        and arrays[last].dtype.kind == "f"
    ):
        arrays[last] = np.where(arrays[first], arrays[last], 0.0 if judgment.name == "zero" else ABSENT.value)
    elif judgment.name == "le" and arrays[first].shape == arrays[last].shape:
        arrays[first] = np.minimum(arrays[first], arrays[last])
