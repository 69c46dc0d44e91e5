"""Prints several plans of a diagram as one file, with a launcher that takes one of them by the sizes that
it is given.
"""

from __future__ import annotations

from napkin_eq.tile.guards import Dispatch
from napkin_eq.tile.ir import Plan
from napkin_eq.tile.printers import comment_lines, dispatcher

from .gluon.printer import gluon_text
from .launcher import dispatched
from .triton.printer import triton_text


@dispatcher
def dispatch_file(dispatch: Dispatch) -> str:
    """Print the kernels of all plans, those of the first one first, and one launcher."""
    general = dispatch.cases[-1].plan
    kernels = tuple(kernel for case in dispatch.cases for kernel in case.plan.kernels)
    every = Plan(dispatch.name, general.inputs, general.outputs, kernels)
    printed = gluon_text if any(kernel.workers for kernel in kernels) else triton_text
    return printed(every, dispatch.name, comment_lines(dispatch.notes), dispatched(dispatch))
