"""The derivation as users hold it: what was derived, with its certificate, its kernels as text, its numbers and its
picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from napkin_eq.certify import certificate as written
from napkin_eq.lang.diagram import Pictured
from napkin_eq.lang.errors import NapkinError
from napkin_eq.pipeline.compiled import Compiled, compiled
from napkin_eq.pipeline.function import Function
from napkin_eq.pipeline.report import report
from napkin_eq.pipeline.top_k import portable
from napkin_eq.search.derivation import Derived
from napkin_eq.tile.printers import code, emit


@dataclass(slots=True)
class Derivation(Derived, Pictured):
    """What `derive` gives: the plan, the term it was read off, each step from the diagram to it, the costs, and what
    can be made of them.
    """

    def __repr__(self) -> str:
        kernels = f"{n} kernel{'s' * (n != 1)}" if (n := len(self.plan.kernels)) else "no kernel"
        return f"<Derivation of {self.diagram.name}: {kernels} for {self.hardware.name} in {self.dtype}>"

    @property
    def certificate(self) -> dict[str, Any]:
        """The derivation as data that `napkin-eq check` re-validates; several outputs are one Tuple."""
        return written.of(self)

    def pseudocode(self) -> str:
        """Return the plan as looped pseudocode."""
        return emit(self.plan, "pseudocode")

    def code(self) -> str:
        """Return the plan as a Python file that imports only torch and triton: kernels that groups of warps share in
        Gluon, the others in Triton.
        """
        return code(self.plan)

    def triton(self) -> str:
        """Return the plan in portable Triton, which also runs in its interpreter; a kernel whose tiles only groups of
        warps can share gets others.
        """
        return emit(portable(self).plan, "triton")

    def compiled(self) -> Compiled[Derivation]:
        """Compile the kernels ahead of time, with no GPU; those that fail, do not fit or spill give way to others, see
        compiled.py.
        """
        return compiled(self)

    def compile(self, executor: str = "kernels", order: Mapping[str, Sequence[str]] | None = None) -> Function:
        """Return a function of torch tensors that runs the kernels, an operator of torch.library with its gradient, see
        function.py.

        executor: "kernels", on a GPU, or without one in Triton's interpreter if it is on; or "reference", the diagram
        in PyTorch's arithmetic.
        order: of outputs by name, in which order their axes come; else as `evaluate` orders them.
        """
        made = self.compiled().derivation if executor == "kernels" and _on_gpu() else self
        return Function(made, made._runnable, executor, order or {})

    def _runnable(self) -> str:
        import triton

        if _on_gpu():
            return self.code()
        if not triton.knobs.runtime.interpret:
            raise NapkinError(
                'no GPU is visible: set TRITON_INTERPRET=1 before Triton is imported, or compile(executor="reference")'
            )
        if any(b.dtype == "bf16" for b in (*self.plan.inputs, *self.plan.outputs)):
            raise NapkinError(
                "bfloat16: Triton's interpreter computes it wrongly on a CPU; derive for float32, or"
                ' compile(executor="reference")'
            )
        return self.triton()

    def report(self) -> dict[str, Any]:
        """Return the numbers of the derivation, in the form of `napkin-eq derive --json`; sizes in bytes,
        times in µs.
        """
        return report(self)


def _on_gpu() -> bool:
    """Tell whether kernels run on a GPU here, and not in Triton's interpreter."""
    import torch
    import triton

    return torch.cuda.is_available() and not triton.knobs.runtime.interpret
