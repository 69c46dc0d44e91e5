"""Bounds and observed errors by family of inputs: the plan in small, run in NumPy with its roundings,
against float64.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.numerics.error_bound import error_bound
from napkin_eq.numerics.sample_inputs import draw, families
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.search.job import prover
from napkin_eq.tile.ir import matrix_roundoff
from napkin_eq.tile.printers import emit
from napkin_eq.verify.miniature import Miniature, miniature

SEED = 0


@dataclass(frozen=True, slots=True)
class Row:
    """One output on one family: the largest error seen, the largest bound, and the largest share of its bound that an
    element takes.

    `bound` is infinite where some element has none.
    """

    output: str
    family: str
    about: str
    seen: float
    bound: float
    used: float


def errors(derivation: Derivation) -> tuple[dict[str, int], list[Row]]:
    """Return the sizes of the plan in small, and a row for each output and family.

    Inputs that are spoilt on purpose are left to `napkin-eq run`. No rows where there is no plan in small.
    """
    d = derivation
    try:
        small = miniature(d.diagram, d.outputs, d.plan, d.hardware, d.dtype, prover(d.statements))
    except NapkinError:
        return {}, []
    return dict(sorted(small.sizes.items())), list(_rows(derivation, small))


def _rows(derivation: Derivation, small: Miniature) -> Iterator[Row]:
    import numpy as np

    run, diagram, sizes = emit(small.plan, "numpy"), Diagram("small", small.sources), small.sizes
    order = {buffer.name: [axis.name for axis in buffer.dims] for buffer in small.plan.outputs}
    for family in families().values():
        if family.spoil or family.size is not None:
            continue
        drawn = draw(diagram, family, sizes, derivation.dtype, SEED).clean
        try:
            found = run(drawn, emulate=True, sizes=dict(sizes))
        except NapkinError:
            continue
        for name, source in small.sources:
            if source.kind != "real":
                continue
            exact = evaluate(source, drawn, dict(sizes), order=order[name])
            (bound,) = error_bound(
                small.placed[name],
                drawn,
                dict(sizes),
                derivation.dtype,
                matrix_roundoff(small.plan),
                order[name],
                held=small.held[name],
            )
            with np.errstate(all="ignore"):
                there = np.isfinite(exact)
                seen = np.where(there, np.abs(np.asarray(found[name], dtype=np.float64) - exact), 0.0)
                used = np.where(np.isfinite(bound) & (bound > 0), seen / bound, 0.0)
            most = [float(np.max(a, initial=0.0, where=there)) for a in (seen, bound, used)]
            yield Row(name, family.name, family.says, *most)
