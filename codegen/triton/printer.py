"""Prints a plan as a Python file of Triton kernels with their launcher: every statement as it stands.

Bounds, masks and casts are the plan's; a kernel's statements are printed in kernel.py.
"""

from __future__ import annotations

from collections import Counter

from napkin_eq.lang.errors import NapkinError
from napkin_eq.tile.identifiers import Names
from napkin_eq.tile.ir import Kernel, Plan
from napkin_eq.tile.printers import emit, emitter

from .helpers import HELPERS
from .kernel import KernelText


@emitter("triton")
def triton_file(plan: Plan, header: tuple[str, ...]) -> str:
    """Print a plan as one Python file that imports torch and triton alone."""
    return triton_text(plan, plan.name, header, emit(plan, "launcher"))


def triton_text(plan: Plan, name: str, header: tuple[str, ...], launcher: str) -> str:
    """Print the kernels of a plan with a launcher."""
    # The first two lines are ours: Python looks for an encoding there, and the header is somebody else's text.
    head = [
        f"# The kernels of {Names().fresh(name)}, written by napkin_eq.",
        "#",
        *(f"# {line}".rstrip() for line in header),
    ]
    imports = "\nimport types\nimport warnings\n\nimport torch\nimport triton\nimport triton.language as tl\n"
    return "\n".join(
        ["\n".join(head), imports, triton_kernels(plan, tuple(k for k in plan.kernels if k.library is None)), launcher]
    )


def triton_kernels(plan: Plan, kernels: tuple[Kernel, ...]) -> str:
    """Print some kernels of a plan and what they call, for a file that has a head of its own."""
    if repeated := [name for name, n in Counter(k.name for k in plan.kernels).items() if n > 1]:
        raise NapkinError(f"plan {plan.name}: two kernels are called {repeated[0]}")
    if odd := next(((k.name, c) for k in kernels for c in k.coords if c.tile & (c.tile - 1)), None):
        raise NapkinError(
            f"kernel {odd[0]}: {odd[1].tile} lanes of {odd[1].name} are no power of two, which Triton takes alone"
        )
    texts = "\n".join(f"\n{KernelText(k)}" for k in kernels)
    helpers = "\n".join(text for name, text in HELPERS.items() if f"{name}(" in texts or f", {name})" in texts)
    return "\n".join(part for part in (helpers, texts) if part)
