"""How error grows from one side of a law to the other: on inputs of ordinary and of extreme size, in float32 and
float16.

The side that is replaced, with every operator and every input off by one roundoff, is within a bound of the exact value
(napkin_eq/numerics/error_bound.py). Where it is, and within the numbers of the format, the side that replaces it must
be within GROWTH times that bound, by what it gives in float32 and, for small inputs, in float16, held against float64.
The growth that is told is that of the bound, or, where the bound of the new side is too wide to tell anything, that of
the error seen. Ordinary inputs have magnitudes from 2^-10 to 2^10, with large offsets and small differences among them;
extreme ones reach 2^100.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.evaluate import axes_in, evaluate, output_order
from napkin_eq.lang.term import Input, Map, Online, Prev, Reduce, Store, Term, rebuilt, rewritten, subterms
from napkin_eq.laws.claim import JUDGMENT, LARGEST_EXPONENT, NotUnderstood, meaning
from napkin_eq.laws.law import Judgment, Law, Max, Sum, Var, exp, inv, size
from napkin_eq.numerics.error_bound import error_bound
from napkin_eq.prove.float_class import GROWTH, Finding, assessor

Array = np.ndarray[Any, np.dtype[Any]]
TRIAL = Axis("trial")
TRIALS = 128
LENGTHS, BLOCK = (1, 3, 16), 2
# The largest exponent of e in float32; the ratio of roundoffs of float16 and float32, and the trials small enough for
# float16.
LARGEST, COARSER, SMALL = 88.0, 2.0**13, slice(0, 16)
LEAST = 2.0**-126
# Roundoffs of a value that any form of it may be off by.
KEPT = 16 * 2.0**-24


@assessor("ordinary")
def ordinary(law: Law) -> Finding:
    """Decide whether a law keeps its digits for all inputs of ordinary size; "no" comes with inputs."""
    with np.errstate(all="ignore"):
        return _tried(law, extreme=False, inside=None)


@assessor("within")
def within(law: Law) -> Finding:
    """Decide whether a law keeps its digits within the range that it names."""
    with np.errstate(all="ignore"):
        return _tried(law, extreme=True, inside=True)


@assessor("outside")
def outside(law: Law) -> Finding:
    """Look for inputs outside a law's range at which it loses its digits: "no" comes with such inputs."""
    with np.errstate(all="ignore"):
        return _tried(law, extreme=True, inside=False)


@assessor("cancellation")
def cancellation(law: Law) -> Finding:
    """Look for inputs, taken as exact, at which the new side cancels and the old one does not; "no" comes with such
    inputs.

    Both sides are bounded as they are written, a difference being off by a part of itself; so what the inputs
    themselves would be off by, which hides a cancellation from the other questions, counts for nothing here.
    """
    with np.errstate(all="ignore"):
        for left, right in ((law.lhs, law.rhs), *(((law.rhs, law.lhs),) if law.both else ())):
            for length in LENGTHS:
                if found := Samples(law, left, right, length, extreme=False).cancels():
                    return Finding("no", f"{'from left to right' if left is law.lhs else 'from right to left'} {found}")
    return Finding("yes")


def _tried(law: Law, *, extreme: bool, inside: bool | None) -> Finding:
    growth, met = 0.0, False
    for left, right in ((law.lhs, law.rhs), *(((law.rhs, law.lhs),) if law.both else ())):
        for length in LENGTHS:
            work = Samples(law, left, right, length, extreme)
            chosen = work.met() & (True if inside is None else work.holds(law.ranges) == inside)
            met |= bool(chosen.any())
            grown, worst = work.compared(chosen)
            growth = max(growth, grown)
            if worst:
                return Finding("no", worst, growth)
    return Finding("yes" if met else "unknown", "" if met else "no sampled inputs meet the conditions", growth)


class Samples:
    """Inputs for a law, all trials of one size at once, and its two sides over them."""

    def __init__(self, law: Law, left: Term, right: Term, length: int, extreme: bool) -> None:
        self.law, self.length, self.filled = law, length, _filled(law)
        self.left, self.right = (self.spelled(side) for side in (left, right))
        judgments = (*law.conditions, *law.ranges)
        terms = [self.left, self.right, *(self.spelled(a) for j in judgments for a in j.args if isinstance(a, Term))]
        axes = {a for t in terms for a in axes_in(t)} | {a for j in judgments for a in j.args if isinstance(a, Axis)}
        self.axes = tuple(sorted(axes))
        self.variables = [t for t in subterms(*terms) if isinstance(t, Var) and t is not LARGEST_EXPONENT]
        free = {j.args for j in law.conditions if j.name == "free"}
        self.dims = {
            v: tuple(a for a in self.axes if v.sort != "number" and (a, v) not in free) for v in self.variables
        }
        self.arrays = self.sampled(np.random.default_rng([length, int(extreme), len(self.variables)]), extreme)
        kinds = {"bool": "bool", "int": "int64"}
        self.inputs: dict[Term, Term] = {
            v: Input(f"v{i}", (TRIAL, *self.dims[v]), kinds.get(v.kind, "float32" if v.kind == "real" else "float"))
            for i, v in enumerate(self.variables)
        }
        self.given = {f"v{i}": self.arrays[v] for i, v in enumerate(self.variables)} | {"largest": np.asarray(LARGEST)}
        self.inputs[LARGEST_EXPONENT] = Input("largest", ())

    def spelled(self, term: Term) -> Term:
        return rewritten(term, lambda t: self.filled.get(t, t))

    def sampled(self, rng: np.random.Generator, extreme: bool) -> dict[Var, Array]:
        arrays: dict[Var, Array] = {}
        for v in self.variables:
            shape = (TRIALS, *(self.length for _ in self.dims[v]))
            if v.kind == "bool":
                arrays[v] = rng.random(shape) < rng.random((TRIALS, *(1 for _ in self.dims[v])))
            elif v.kind == "int":
                arrays[v] = rng.integers(0, 2 * self.length, shape)
            else:
                arrays[v] = _numbers(rng, shape, extreme)
        if len(reals := [v for v in self.variables if v.kind == "real"]) > 1:
            self.cancelled(arrays, reals[0], reals[-1], rng)
        for judgment in (*self.law.conditions, *self.law.ranges):
            self.bend(judgment, arrays)
        return {v: a.astype(np.float32).astype(np.float64) if v.kind == "real" else a for v, a in arrays.items()}

    def cancelled(self, arrays: dict[Var, Array], first: Var, last: Var, rng: np.random.Generator) -> None:
        """Make two variables nearly opposite, or nearly equal, in some trials."""
        if arrays[first].shape == arrays[last].shape:
            near = arrays[first] * (1 + 2.0**-12 * rng.standard_normal(arrays[first].shape))
            which = (np.arange(TRIALS) % 8).reshape([-1, *(1 for _ in self.dims[last])])
            arrays[last] = np.where(which == 6, -near, np.where(which == 7, near, arrays[last]))

    def bend(self, judgment: Judgment, arrays: dict[Var, Array]) -> None:
        """Change the array of a variable so that a condition on it holds in more trials."""
        names = [arg for arg in judgment.args if isinstance(arg, Var) and arg in arrays]
        if judgment.name in ("pos", "nonneg") and names:
            arrays[names[0]] = np.abs(arrays[names[0]])
        elif (
            judgment.name in ("zero", "absent") and len(names) == 2 and arrays[names[0]].shape == arrays[names[1]].shape
        ):
            arrays[names[1]] = np.where(arrays[names[0]], arrays[names[1]], 0.0 if judgment.name == "zero" else -np.inf)
        elif judgment.name == "stretch" and isinstance(mask := judgment.args[2], Var):
            at = 1 + self.dims[mask].index(judgment.args[0])
            first = np.expand_dims(arrays[mask].argmax(axis=at), at)
            arrays[mask] = np.arange(self.length).reshape([-1, *(1 for _ in self.dims[mask][at:])]) == first

    # -- values --------------------------------------------------------------------------------------------------------

    def value(self, term: Term, dtype: str = "float64", small: bool = False) -> Array:
        """Evaluate a term, or only the small trials: axes trial, then the law's, of length 1 where the term does not
        vary.
        """
        filled = self.over_arrays(term)
        names = [a.name for a in output_order(filled)]
        lanes = {a.name: self.length for a in axes_in(filled) if a != TRIAL}
        given = {name: a[SMALL] if small and a.ndim else a for name, a in self.of(filled).items()}
        result = self.ordered(np.asarray(evaluate(filled, given, lanes, BLOCK, dtype)).astype(np.float64), names)
        return result[SMALL] if small and TRIAL.name not in names else result

    def flushed(self, root: Term) -> Array:
        """Evaluate a term in float32 where numbers below the least normal one are taken for 0, as some units do: an
        inverse makes that matter.
        """
        stepwise = not any(isinstance(t, Online) for t in subterms(root))
        known: dict[Term, Term] = {}
        for term in subterms(self.over_arrays(root)) if stepwise else ():
            if not isinstance(term, (Map, Reduce)):
                known[term] = term
                continue
            one = rebuilt(term, tuple(known[child] for child in term.children))
            names = [a.name for a in output_order(one)]
            lanes = {a.name: self.length for a in axes_in(one) if a != TRIAL}
            value = np.asarray(evaluate(one, self.of(one), lanes, BLOCK, "float32")).reshape(
                [self.lanes(name) for name in names]
            )
            array = Input(f"t{len(known)}", output_order(one), {"bool": "bool", "int": "int64"}.get(term.kind, "float"))
            # An overflow is looked at without flushing; here it stands for the largest number, so that an array can
            # hold it.
            flat = (
                np.where(np.abs(value) < LEAST, 0.0, np.nan_to_num(value, nan=0.0, posinf=2.0**127, neginf=-np.inf))
                if term.kind == "real"
                else value
            )
            self.given[array.name], known[term] = flat, array
        return self.value(known[self.over_arrays(root)] if stepwise else root, "float32")

    def lanes(self, name: str) -> int:
        return TRIALS if name == TRIAL.name else self.length

    def bound(self, term: Term, given: bool = False) -> Array:
        """Return the bound on a term evaluated in float32, every input off by one roundoff, or by none if they are as
        given.
        """
        stored = rewritten(
            self.over_arrays(term), lambda t: Store(t) if isinstance(t, Input) and t.kind == "real" and not given else t
        )
        names = [a.name for a in output_order(stored)]
        lanes = {a.name: self.length for a in axes_in(stored) if a != TRIAL}
        return self.ordered(error_bound(stored, self.of(stored), lanes, "float32")[0], names)

    def over_arrays(self, term: Term) -> Term:
        return rewritten(term, lambda t: self.inputs.get(t, t))

    def of(self, term: Term) -> dict[str, Array]:
        return {t.name: self.given[t.name] for t in subterms(term) if isinstance(t, Input)}

    def ordered(self, result: Array, names: list[str]) -> Array:
        every = [a.name for a in (TRIAL, *self.axes)]
        result = result.reshape(result.shape[: len(names)]).transpose(
            [names.index(name) for name in every if name in names]
        )
        result = np.expand_dims(result, tuple(i for i, name in enumerate(every) if name not in names))
        return np.broadcast_to(result, (TRIALS, *result.shape[1:])) if TRIAL.name not in names else result

    def met(self) -> Array:
        """Tell for each trial whether the conditions hold."""
        return self.holds(tuple(j for j in self.law.conditions if j.name in JUDGMENT))

    def holds(self, judgments: tuple[Judgment, ...]) -> Array:
        held = np.ones(TRIALS, dtype=bool)
        for judgment in judgments:
            mask = self.spelled(meaning(judgment))
            if any(isinstance(t, Prev) for t in subterms(mask)):
                raise NotUnderstood("conditions on running values are not sampled")
            held &= _every(self.value(mask) != 0)
        return held

    def compared(self, chosen: Array) -> tuple[float, str]:
        """Return the largest growth of the bound over chosen trials, and the worst trial in which the new side loses
        its digits, if one is.
        """
        exact, bound = np.broadcast_arrays(self.value(self.left), self.bound(self.left))
        # Where the side that is replaced is itself out of range, or of no known digits, there is nothing to keep; and
        # where float64 is out of range, nothing is known.
        least = bound + LEAST
        known = (np.abs(np.where(np.isneginf(exact), 0.0, exact)) < 2.0**127) & (
            _off(self.value(self.right), exact) <= least
        )
        chosen = chosen & _every(np.isfinite(bound) & (_off(self.value(self.left, "float32"), exact) <= bound) & known)
        grown = _most(np.where(np.isfinite(exact), self.bound(self.right), 0.0) / least)
        seen = _most(_off(self.value(self.right, "float32"), exact) / least)
        coarse = (
            _off(self.value(self.right, "float16", small=True), exact[SMALL]) / (COARSER * (least + 2.0**-24))[SMALL]
        )
        seen[SMALL] = np.maximum(seen[SMALL], _most(coarse))
        plain = seen
        if any(isinstance(t, Map) and t.op in ("inv", "log") for t in subterms(self.right)):
            seen = np.maximum(seen, _most(_off(self.flushed(self.right), exact) / least))
        seen, grown = (np.where(chosen, values, 0.0) for values in (seen, np.where(grown <= GROWTH, grown, seen)))
        trial = int(seen.argmax())
        return float(grown.max()), self.told(trial, plain[trial] <= GROWTH) if seen[trial] > GROWTH else ""

    def cancels(self) -> str:
        """Return inputs that meet the conditions at which the bound of the new side is far larger than that of the old,
        of exact inputs.
        """
        exact, old = np.broadcast_arrays(self.value(self.left), self.bound(self.left, given=True))
        size = np.where(np.isfinite(exact), np.abs(exact), 0.0)
        grown = self.bound(self.right, given=True) / (old + KEPT * size + LEAST)
        grown = np.where(np.isfinite(exact) & np.isfinite(old) & np.isfinite(grown) & (size < 2.0**100), grown, 0.0)
        worst = np.where(self.met(), _most(np.broadcast_to(grown, np.broadcast_shapes(grown.shape, exact.shape))), 0.0)
        trial = int(worst.argmax())
        if worst[trial] <= GROWTH:
            return ""
        shown = ", ".join(f"{v.name} = {_written(a[trial])}" for v, a in self.arrays.items())
        return f"at {shown or 'any'}: the bound grows ×{worst[trial]:.2g}"

    def told(self, trial: int, flushed: bool) -> str:
        shown = [f"{v.name} = {_written(a[trial])}" for v, a in self.arrays.items()]
        new = self.flushed(self.right) if flushed else self.value(self.right, "float32")
        how = " where subnormal numbers are 0" if flushed else ""
        return (
            f"at {', '.join(shown) or 'any'}: exactly {_written(self.value(self.left)[trial])}, in float32{how}"
            f" {_written(new[trial])}"
        )


def _filled(law: Law) -> dict[Term, Term]:
    """Return terms for the variables of a law about running values: relative to a maximum, and squares about a mean."""
    table: dict[Term, Term] = {}
    for x, term, ratio in (j.args for j in law.conditions if j.name == "scales"):
        p = Var("p")
        top = Max(x, p)  # type: ignore[arg-type]
        table |= {term: exp(p - top) * Var("w"), ratio: exp(Prev(top) - top)}  # type: ignore[dict-item]
    for x, term, weight, step in (j.args for j in law.conditions if j.name == "moves"):
        assert isinstance(x, Axis) and isinstance(term, Term) and isinstance(weight, Term) and isinstance(step, Term)
        number, total = Var("b"), size(x)
        mean = Sum(x, number) * inv(total)
        if isinstance(weight, Var):
            known = table.get(weight)
            table[weight] = known.args[0] if isinstance(known, Map) else Map("abs", (Var("w"),))
            total = Sum(x, table[weight])
            mean = Sum(x, number * table[weight]) * inv(total)
        moved = Prev(mean) - mean
        table |= {term: (number - mean) * (number - mean), step: moved * (moved * Prev(total))}
    return table


def _numbers(rng: np.random.Generator, shape: tuple[int, ...], extreme: bool) -> Array:
    scalar = (TRIALS, *(1 for _ in shape[1:]))
    kind = (np.arange(TRIALS) // 16).reshape(scalar)
    normal, sign = rng.standard_normal(shape), np.where(rng.random(scalar) < 0.5, -1.0, 1.0)
    wide = normal * 2.0 ** rng.uniform(-10, 10, shape)
    offset = sign * 2.0 ** rng.uniform(6, 10, scalar)
    kinds = [
        normal,
        wide,
        offset + normal,
        offset * (1 + 2.0 ** rng.uniform(-18, -8, scalar) * normal),
        100 * normal,
        rng.uniform(-LARGEST, LARGEST, shape),
    ]
    edge = rng.choice([-1.0, 1.0], shape) * (LARGEST + rng.uniform(-2, 1, shape))
    kinds += [normal * 2.0 ** rng.uniform(-100, 100, scalar), edge] if extreme else [np.round(4 * normal)]
    return np.select([kind == i for i in range(len(kinds))], kinds, normal)


def _off(value: Array, exact: Array) -> Array:
    """Return how far off a value is: infinitely where only one of the two is absent, or it is no number."""
    value, exact = np.broadcast_arrays(value, exact)
    away = np.abs(value - exact)
    return np.where(value == exact, 0.0, np.where(np.isfinite(away), away, np.inf))


def _every(lanes: Array) -> Array:
    return np.asarray(lanes.reshape(len(lanes), -1).all(axis=1))


def _most(lanes: Array) -> Array:
    return np.asarray(lanes.reshape(len(lanes), -1).max(axis=1))


def _written(values: Array) -> str:
    values = np.squeeze(values)
    if values.ndim:
        parts = [_written(v) for v in values[:4]]
        return f"[{', '.join(parts)}{', …' if len(values) > 4 else ''}]"
    return str(bool(values)).lower() if values.dtype.kind == "b" else f"{float(values):.6g}"
