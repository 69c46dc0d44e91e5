"""How tight the bounds are, and how much plans lose: every named diagram, and moments, on families of inputs, run in
NumPy as rounded.

    python benchmarks/bounds.py [--json] [--diagram NAME …] [--family NAME …]

Each case is a diagram at small ragged sizes and a family: its plan is run with every value rounded to its type and held
against float64. A case has *no bound* if all of its elements, or any of plain random numbers, have none; it is *loose*
if the bounds are more than 1,000 times what is lost (root mean squares, see compare.py). *Growth* is the largest error
of the plan over the bound of what the diagram says, evaluated as it is written. No random numbers without a seed: the
same tree prints the same table.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

import napkin_eq as nq
from napkin_eq.frontend.gallery import DIAGRAMS, diagram
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.term import Term
from napkin_eq.numerics.compare import compare
from napkin_eq.numerics.sample_inputs import applies, draw, families, folded_axes
from napkin_eq.pipeline.derive import derive
from napkin_eq.tile.printers import emit
from napkin_eq.verify.tolerance import LOOSE, tolerances

FOLDED, FREE, SEED = 157, 3, 0
t, x = nq.axes("t x", t=3, x=157)
A, B, G = (nq.array(name, t, x) for name in "ABG")


def _centred(a: Term) -> Term:
    return a - nq.mean(a, x)


def _weighted() -> Term:
    mean = nq.sum(G * A, x) / nq.sum(G, x)
    return nq.sum(G * (A - mean) * (A - mean), x) / nq.sum(G, x)


def _moment(order: int) -> Term:
    factor = product = _centred(A)
    for _ in range(order - 1):
        product = product * factor
    return nq.mean(product, x)


MOMENTS: dict[str, Callable[[], Term]] = {
    "covariance": lambda: nq.sum(_centred(A) * _centred(B), x),
    "weighted_variance": _weighted,
    "third_moment": lambda: _moment(3),
    "fourth_moment": lambda: _moment(4),
    "skewness": lambda: _moment(3) / (_moment(2) * nq.sqrt(_moment(2)) + 1e-12),
    "kurtosis": lambda: _moment(4) / (_moment(2) * _moment(2) + 1e-12),
    "correlation": lambda: (
        nq.mean(_centred(A) * _centred(B), x) / (nq.sqrt(nq.variance(A, x) * nq.variance(B, x)) + 1e-12)
    ),
}


@dataclass(frozen=True)
class Row:
    """One case: whether it has a bound, how loose that is, and how much the plan loses of what the diagram keeps."""

    diagram: str
    dtype: str
    family: str
    verdict: str
    looseness: float
    unbounded: int
    elements: int
    bound_used: float
    growth: float
    note: str = ""


def sized(of: Diagram) -> Diagram:
    """Return a diagram at sizes small enough to run every family, heads as they are."""
    folded = folded_axes(of)
    last = {node.dims[-1].name for node in of.inputs() if node.dims}
    sizes = {}
    for axis in of.axes():
        few = min(
            axis.size or FOLDED,
            16 if axis.name in last and (axis.size or FOLDED) <= 128 else FOLDED if axis.name in folded else FREE,
        )
        sizes[axis.name] = -(-few // axis.multiple) * axis.multiple
    return of.with_sizes(sizes)


def rows(of: Diagram, dtype: str, chosen: tuple[str, ...]) -> Iterator[Row]:
    """Derive a diagram and yield a row for each family that can differ from others on it."""
    found = derive(of, dtype=dtype)
    sizes = {axis.name: axis.size or 0 for axis in of.axes()}
    for family in families().values():
        if not applies(of, family) or family.spoil or family.size or (chosen and family.name not in chosen):
            continue
        drawn = draw(of, family, sizes, dtype, SEED)
        allowed = tolerances(found, drawn, {}, dtype)
        got = emit(found.plan, "numpy")(drawn.arrays, True, {})
        sources = [source for output in found.outputs for _, source, _ in output.each()]
        for source, buffer in zip(sources, found.plan.outputs, strict=True):
            exact = evaluate(source, drawn.clean, order=[axis.name for axis in buffer.dims])
            held = dtype if source.kind == "real" else ""
            seen = compare(got[buffer.name], exact, allowed[buffer.name].least, held)
            grown = compare(got[buffer.name], exact, allowed[buffer.name].source, held).bound_used
            nothing = 0 < seen.elements == seen.unbounded or (seen.unbounded > 0 and family.name == "normal")
            verdict = (
                "failed"
                if seen.bound_used > 1
                else "no bound"
                if nothing
                else "loose"
                if seen.looseness > LOOSE
                else "ok"
            )
            name = of.name if len(sources) == 1 else f"{of.name}.{buffer.name}"
            yield Row(
                name, dtype, family.name, verdict, seen.looseness, seen.unbounded, seen.elements, seen.bound_used, grown
            )


def main() -> None:
    """Print the table of cases without a bound or loose, the share of them, and the worst growth."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--diagram", action="append", default=[])
    parser.add_argument("--family", action="append", default=[])
    args = parser.parse_args()
    named = [(sized(diagram(name)), "float16") for name in DIAGRAMS] + [
        (Diagram(name, (("out", make()),)), "float32") for name, make in MOMENTS.items()
    ]
    found = [
        row
        for of, dtype in named
        if not args.diagram or of.name in args.diagram
        for row in _rows(of, dtype, tuple(args.family))
    ]
    bad = [row for row in found if row.verdict in ("no bound", "loose")]
    failed = [row for row in found if row.verdict == "failed"]
    worst = max(found, key=lambda row: row.growth)
    if args.json:
        summary = {
            "cases": len(found),
            "without": len(bad),
            "failed": len(failed),
            "growth": worst.growth,
            "rows": [asdict(row) for row in found],
        }
        print(json.dumps(summary, indent=1))
        return
    print("| diagram | type | family | verdict | bound over error | elements without |\n|---|---|---|---|---|---|")
    for row in (*failed, *bad):
        print(
            f"| {row.diagram} | {row.dtype} | {row.family} | {row.verdict} | {row.looseness:.0f} | {row.unbounded} of"
            f" {row.elements} |"
        )
    share = f"{len(bad)} of {len(found)} cases ({len(bad) / len(found):.1%})"
    print(f"\n{share} have no bound or one more than {LOOSE:.0f} times what is lost; {len(failed)} failed.")
    print(f"Worst growth: {worst.growth:.2g} times the bound of the diagram itself ({worst.diagram}, {worst.family}).")


def _rows(of: Diagram, dtype: str, chosen: tuple[str, ...]) -> list[Row]:
    try:
        return list(rows(of, dtype, chosen))
    except NapkinError as error:
        return [Row(of.name, dtype, "all", "no bound", 0.0, 0, 0, 0.0, 0.0, str(error))]


if __name__ == "__main__":
    main()
