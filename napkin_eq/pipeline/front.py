"""The plans among which a derivation chooses, by predicted time and by error: those that no other plan is both faster
and more accurate than.

Error is told by two figures: *rounding*, the relative error where nothing cancels (accuracy.py), and *growth*, how much
more a form loses than the diagram does, on inputs that break forms which cancel (stability.py). A plan is on the front
by their product.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from napkin_eq.lang.errors import NapkinError
from napkin_eq.numerics.accuracy import unit_error
from napkin_eq.numerics.stability import Stability
from napkin_eq.pipeline.derive import options
from napkin_eq.pipeline.report import passes
from napkin_eq.search.assemble import planned
from napkin_eq.search.derivation import Derived, Output
from napkin_eq.search.job import Aim, Job, Laws


@dataclass(frozen=True, slots=True)
class Point:
    """A plan of some outputs: its time in microseconds, its error, its kernels, how operands are multiplied, how often
    it walks each axis.

    chosen: whether it is the one that was derived.
    """

    outputs: tuple[str, ...]
    predicted_us: float
    rounding: float
    growth: float
    kernels: int
    precision: str
    passes: dict[str, int]
    chosen: bool

    @property
    def error(self) -> float:
        return self.rounding * max(1.0, self.growth)


def front(derivation: Derived) -> list[Point]:
    """Return the plans of each group of outputs that are derived together, fastest first, each more accurate than those
    before it.
    """
    found: list[Point] = []
    for output in derivation.outputs:
        points = _points(derivation, output)
        least = math.inf
        for point in sorted(points, key=lambda p: (p.predicted_us, p.error, not p.chosen)):
            if point.error < least:
                found.append(point)
                least = point.error
    return found


def _points(derivation: Derived, output: Output) -> list[Point]:
    d = derivation
    named = tuple((name, source) for name, source, _ in output.each())
    whole = replace(d.diagram, outputs=named)
    aim = Aim(d.hardware, d.dtype, d.printer, math.inf, held=dict(d.diagram.held), laid=d.diagram.layouts())
    stability = Stability(output.source, d.dtype)
    job, plans = Job(whole, aim, Laws(d.statements, d.verdicts)), [output]
    for precision in aim.precisions:
        try:
            plans += options(replace(job, aim=replace(aim, precision=precision)))
        except NapkinError:
            continue  # nothing fits with operands so wide
    points = []
    for plan in plans:
        tiles, _ = planned(whole, [plan], d.hardware, d.dtype)
        terms = [term for _, _, term in plan.each()]
        points.append(Point(
            plan.names, round(plan.placed.predicted_us, 3), max(unit_error(tiles).values()), stability.growth_of(terms),
            len(tiles.kernels),
            plan.precision, passes([plan]), plan is output,
        ))  # fmt: skip
    return points


def data(points: Sequence[Point]) -> list[dict[str, Any]]:
    """Return the front as data, keys stable."""
    return [{**asdict(p), "outputs": list(p.outputs), "error": p.error} for p in points]


def told(points: Sequence[Point]) -> str:
    """Return the front as a table; the plan that was derived is marked."""
    lines = ["front: plans that no other is both faster and more accurate than; error is rounding times growth",
             "  outputs           predicted us      error   rounding  growth  kernels  operands  passes"]  # fmt: skip
    for p in points:
        walked = ", ".join(f"{count} over {axis}" for axis, count in p.passes.items()) or "none"
        lines.append(
            f"{'*' if p.chosen else ' '} {', '.join(p.outputs):16.16}  {p.predicted_us:12.1f}  {p.error:9.2e} "
            f" {p.rounding:9.2e}  {p.growth:6.2f}  {p.kernels:7}  {p.precision:8}  {walked}"
        )
    return "\n".join(lines)
