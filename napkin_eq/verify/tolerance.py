"""What an output of a plan may be off by on given inputs: the least of three bounds, one of which knows nothing of the
plan.

a_priori    of the derived term, with the schedule of the plan (rounding.py)
running     of the plan's own statements (running_bound.py)
source      of what the diagram says, evaluated as it is written, times FACTOR: so a plan that loses digits which the
            diagram keeps fails, however large its own bounds are. Of a plan whose kernels hand each other what they
            rounded to 16 bits it is that of the diagram operator by operator, each rounded to the type, as eager
            PyTorch does

To it is added what the reference is off by itself, which is computed in float64 and may leave even its range.

Elements without any of them have no bound. One that is more than LOOSE times what was seen to be lost says nothing
either.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from napkin_eq.lang.dtypes import NARROW
from napkin_eq.numerics.sample_inputs import Drawn
from napkin_eq.numerics.stability import FACTOR
from napkin_eq.search.derivation import Derived
from napkin_eq.tile.ir import Plan, matrix_roundoff

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

LOOSE = 1000.0


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The bounds of each element of one output; `least` is what it is held to."""

    a_priori: Array
    running: Array
    source: Array
    reference: Array

    @property
    def least(self) -> Array:
        import numpy as np

        found: Array = np.minimum(np.minimum(self.a_priori, self.running), FACTOR * self.source) + self.reference
        return found


def tolerances(derivation: Derived, drawn: Drawn, sizes: Mapping[str, int], dtype: str) -> dict[str, Tolerance]:
    """Return the tolerance of each output of a derivation, by the name of its buffer.

    sizes: of symbolic axes.
    """
    from napkin_eq.numerics.error_bound import error_bound, schedule
    from napkin_eq.numerics.running_bound import running_bound

    planned, handed = schedule(derivation.plan), _hands_narrow(derivation.plan)
    matrix = matrix_roundoff(derivation.plan)
    running = running_bound(derivation.plan, drawn.clean, sizes, matrix, drawn.spoilt)
    outputs = [(each, output.held()) for output in derivation.outputs for each in output.each()]
    found = {}
    for buffer, ((_, source, term), held) in zip(derivation.plan.outputs, outputs, strict=True):
        order = [axis.name for axis in buffer.dims]
        # The derived term says what is stored between kernels; the diagram's own is evaluated with no plan in mind.
        (a_priori,) = error_bound(term, drawn.clean, sizes, dtype, matrix, order, planned, drawn.spoilt, held=held)
        (own,) = error_bound(source, drawn.clean, sizes, dtype, matrix, order, None, drawn.spoilt, handed)
        (reference,) = error_bound(source, drawn.clean, sizes, "float64", 0.0, order, None, drawn.spoilt)
        found[buffer.name] = Tolerance(a_priori, running[buffer.name], own, reference)
    return found


def _hands_narrow(plan: Plan) -> bool:
    """Tell whether a kernel reads what another one rounded to 16 bits or fewer."""
    made = {buffer.name for kernel in plan.kernels for buffer in kernel.writes}
    return any(buffer.name in made and buffer.dtype in NARROW for kernel in plan.kernels for buffer in kernel.reads)
