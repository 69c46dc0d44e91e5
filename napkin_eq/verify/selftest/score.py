"""Broken kernels that the numeric check must reject, and how many it does: `score()`.

Each trial is a small diagram, derived as any other; each mutant is its plan with one mistake (see mutations.py). Plans
run tile by tile in NumPy, rounded as on a GPU, on every family of inputs (see sample_inputs.py), and are held against
float64 within the bound of the plan that has no mistake. A mutant that a trial cannot show, since nothing it computes
changes, is listed with the reason.
"""

from __future__ import annotations

import functools
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from napkin_eq.frontend.pointwise import exp, masked, where
from napkin_eq.lang.axis import axes
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Index, Input, Reduce, Term
from napkin_eq.numerics.sample_inputs import Drawn, Family, applies, draw, families, resized
from napkin_eq.prove.watch import going, reported
from napkin_eq.verify.selftest.mutations import MUTATIONS

if TYPE_CHECKING:
    from napkin_eq.numerics.compare import Compared
    from napkin_eq.numerics.error_bound import Schedule
    from napkin_eq.pipeline.derivation import Derivation
    from napkin_eq.tile.ir import Plan

DTYPE, SEED = "float16", 0
AHEAD = 150  # lanes past its own that a row of `past` still sees: the first row ends within its second tile


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A diagram to break: how many rows it is given, and the mutations that change nothing in it, with the reason.

    Its folded axes take two tiles each, so that what happens only in tails is left to families.
    """

    name: str
    make: Callable[[], Term]
    rows: Mapping[str, int]
    harmless: Mapping[str, str]


def _weighted(scores: Term, values: Term, x: Any) -> Term:
    """Values averaged with exponentials of scores as weights."""
    weights = exp(scores - Reduce("max", x, scores))
    return Reduce("sum", x, weights / Reduce("sum", x, weights) * values)


def _averages() -> Term:
    k, r, q, x, d, e = axes("k r q x d e", k=2, r=2, d=16, e=16)
    Q, K, V = Input("Q", (k, r, q, d)), Input("K", (k, x, d)), Input("V", (k, x, e))
    return _weighted(Reduce("sum", d, Q * K) * 0.25, V, x)


def _kept() -> Term:
    k, q, x, d, e = axes("k q x d e", k=4, d=16, e=16)
    Q, K, V, keep = Input("Q", (k, q, d)), Input("K", (k, x, d)), Input("V", (k, x, e)), Input("keep", (x,), "bool")
    return _weighted(masked(Reduce("sum", d, Q * K) * 0.25, keep), V, x)


def _past() -> Term:
    k, q, x, d, e = axes("k q x d e", k=4, d=16, e=16)
    Q, K, V = Input("Q", (k, q, d)), Input("K", (k, x, d)), Input("V", (k, x, e))
    return _weighted(masked(Reduce("sum", d, Q * K) * 0.25, Index(q) + AHEAD >= Index(x)), V, x)


def _product() -> Term:
    m, n, k = axes("m n k", n=32)
    return Reduce("sum", k, Input("A", (m, k)) * Input("B", (k, n)))


def _quotients() -> Term:
    t, x = axes("t x")
    return Reduce("sum", x, Input("A", (t, x)) / Input("B", (t, x)))


def _reached() -> Term:
    """How often a row reaches its maximum."""
    t, x = axes("t x")
    row = Input("A", (t, x))
    return Reduce("sum", x, where(row >= Reduce("max", x, row), 1.0, 0.0))


RESCALED = "the first tile multiplies what was there by e^-inf, which is 0"
ANY_REFERENCE = "lanes past the end only raise the reference, and any reference that is not too large is right"
ZERO_LANES = "lanes past the end are loaded as 0, and contribute 0"
SEEN = "every row keeps its first lane, so that no maximum is absent and no sum is 0"
TRIALS = (
    Trial("averages", _averages, {"q": 20}, {
        "sum-from-one": RESCALED, "mask-fill-finite": ANY_REFERENCE, "mask-by-arithmetic": ZERO_LANES,
    }),
    Trial("kept", _kept, {"q": 20}, {
        "sum-from-one": RESCALED, "tail-not-zeroed": "lanes past the end are not kept either",
        "guard-by-quotient": "a sum of exponentials is no negative zero",
    }),
    Trial("past", _past, {"q": 40}, {
        "sum-from-one": RESCALED, "unguarded-absent": SEEN, "unguarded-inverse": SEEN, "guard-by-quotient": SEEN,
    }),
    Trial("product", _product, {"m": 20}, {
        "flushed-subnormals": "products of two subnormal numbers round to 0",
    }),
    Trial("quotients", _quotients, {"t": 3}, {
        "tail-not-zeroed": ZERO_LANES, "mask-by-arithmetic": ZERO_LANES,
        "accumulators-in-16-bits": "a sum of two tiles is rounded to 16 bits anyway",
    }),
    Trial("reached", _reached, {"t": 3}, {
        "stale-maximum": "nothing in the loop is relative to the maximum", "mask-by-arithmetic": ZERO_LANES,
        "accumulators-in-16-bits": "counts of whole tiles are exact in 16 bits",
        "scrubbed-nan": "what is NaN is not counted, nor is a small number",
    }),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Score:
    """How many mutants the numeric check rejects, and by which family of inputs.

    by_family: the mutants that plain random numbers reject, under "normal", and for each other family those that it
    rejects of the rest. alive: what no family rejects. wronged: where the plan without a mistake fails. looseness: by
    family, the median over the trials of the bound over the error of plans without a mistake (see Compared).
    """

    mutants: int
    killed: int
    by_family: Mapping[str, tuple[str, ...]]
    alive: tuple[str, ...]
    wronged: tuple[str, ...]
    families: int
    seconds: float
    looseness: Mapping[str, float] = field(default_factory=dict)

    def data(self) -> dict[str, Any]:
        """Return the score as data, keys stable."""
        caught = {name: len(found) for name, found in self.by_family.items()}
        return {"total": self.mutants, "caught": self.killed, "alive": list(self.alive), "wronged": list(self.wronged),
                "by_family": caught, "looseness": dict(self.looseness), "seconds": round(self.seconds, 3)}  # fmt: skip


class Bench:
    """One trial, derived once: its plan, and for each family the inputs, the exact values and their bounds."""

    def __init__(self, trial: Trial, dtype: str, seed: int) -> None:
        from napkin_eq.numerics.error_bound import schedule
        from napkin_eq.pipeline.derive import derive

        self.trial, self.dtype, self.seed = trial, dtype, seed
        self.diagram = Diagram(trial.name, (("out", trial.make()),))
        self.derivation: Derivation = derive(self.diagram, dtype=dtype, printer="triton")
        self.plan: Plan = self.derivation.plan
        self.planned: dict[str, Schedule] = schedule(self.plan)
        self.families = [f for f in families().values() if applies(self.diagram, f)]

    @functools.cache  # noqa: B019  a bench lives as long as its trial is looked at
    def given(self, family: Family) -> tuple[Drawn, dict[str, int], Any, Any, Any]:
        """Return (inputs, sizes of symbolic axes, exact values, what each may be off by, what must be NaN)."""
        from napkin_eq.lang.evaluate import evaluate
        from napkin_eq.numerics.compare import must_spoil
        from napkin_eq.verify.tolerance import tolerances

        tiles = {
            c.axis.name: c.tile
            for kernel in self.plan.kernels
            for c in kernel.coords
            if c.axis.size is None and c.tile > 1
        }
        plain = {name: 2 * tile for name, tile in tiles.items()} | dict(self.trial.rows)
        symbolic = resized(self.diagram, family, plain, tiles)
        sizes = {axis.name: axis.size or symbolic[axis.name] for axis in self.diagram.axes()}
        drawn = draw(self.diagram, family, sizes, self.dtype, self.seed)
        order = [axis.name for axis in self.plan.outputs[0].dims]
        exact = evaluate(self.diagram.term, drawn.clean, symbolic, order=order)
        (tolerance,) = tolerances(self.derivation, drawn, symbolic, self.dtype).values()
        must = (
            must_spoil(self.diagram.term, drawn.clean, symbolic, drawn.spoilt, order) if family.spoil == "nan" else None
        )
        return drawn, symbolic, exact, tolerance.least, must

    def used(self, plan: Plan, family: Family) -> float:
        """Return the largest part of a bound that a plan uses on a family; infinite where it is wrong beyond any, or
        refused as it runs.
        """
        try:
            return self.compared(plan, family).bound_used
        except NapkinError:
            return float("inf")  # an access out of bounds, an element written twice or never

    def compared(self, plan: Plan, family: Family) -> Compared:
        """Run a plan on a family and hold it against the exact values; raises NapkinError for a plan that is refused as
        it runs.
        """
        from napkin_eq.numerics.compare import compare
        from napkin_eq.tile.printers import emit

        drawn, sizes, exact, bound, must = self.given(family)
        (got,) = emit(plan, "numpy")(drawn.arrays, True, sizes).values()
        return compare(got, exact, bound, self.dtype, must)

    def mutants(self) -> Iterator[tuple[str, Plan]]:
        """Yield the broken plans of this trial that some input can show, by name."""
        for name, mutation in MUTATIONS.items():
            if name not in self.trial.harmless and (broken := mutation(self.plan)) is not None:
                yield f"{self.trial.name}/{name}", broken


@functools.cache
def bench(trial: Trial, dtype: str, seed: int) -> Bench:
    """Return the bench of a trial, derived once."""
    return Bench(trial, dtype, seed)


def score(dtype: str = DTYPE, seed: int = SEED) -> Score:
    """Run every mutant of every trial on every family of inputs."""
    begun = time.perf_counter()
    by_family: dict[str, list[str]] = {name: [] for name in families()}
    names: list[str] = []
    wronged: list[str] = []
    loose: dict[str, list[float]] = {}
    for trial in TRIALS:
        if not going():
            break
        on = bench(trial, dtype, seed)
        for family in on.families:
            right = on.compared(on.plan, family)
            wronged += [f"{trial.name} on {family.name}"] if right.bound_used > 1 else []
            loose.setdefault(family.name, []).append(right.looseness)
        for name, broken in on.mutants():
            if not reported("broken kernels", len(names)):
                break
            names.append(name)
            for family in on.families:
                if name not in by_family["normal"] and on.used(broken, family) > 1:
                    by_family[family.name].append(name)
    found = {name for caught in by_family.values() for name in caught}
    alive = tuple(name for name in names if name not in found)
    told = {name: tuple(caught) for name, caught in by_family.items()}
    medians = {name: round(statistics.median(seen), 1) for name, seen in loose.items()}
    return Score(
        len(names), len(found), told, alive, tuple(wronged), len(by_family), time.perf_counter() - begun, medians
    )
