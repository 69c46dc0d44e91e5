"""What a derivation gives: the plan, the term it was read off, each step from the diagram to it, and the costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from napkin_eq import plan as p
from napkin_eq.diagram import Diagram
from napkin_eq.enode import Saturated
from napkin_eq.explain import Step
from napkin_eq.folds import NARROW
from napkin_eq.hardware import Hardware
from napkin_eq.law import Statement
from napkin_eq.place import Placed, parallel
from napkin_eq.proving import Verdict
from napkin_eq.term import Term
from napkin_eq.tiles import Tiled

if TYPE_CHECKING:
    from napkin_eq.compiled import Compiled

STORAGE = {"bfloat16": "bf16", "float16": "f16", "float32": "f32"}


AGREES, DIFFERS, UNKNOWN = "agrees", "differs", "not validated"


@dataclass(frozen=True, slots=True)
class Translation:
    """What translation validation (translation.py) says of a plan: whether it agrees, on which inputs and at which sizes; why it does not, or was not run."""

    status: str = UNKNOWN
    why: str = ""
    sizes: tuple[tuple[str, int], ...] = ()
    inputs: tuple[str, ...] = ()

    def data(self) -> dict[str, Any]:
        """Return it as data, for a report or a certificate's evidence."""
        ran = {"sizes": dict(self.sizes), "inputs": list(self.inputs)} if self.inputs else {}
        return {"status": self.status, **({"why": self.why} if self.why else {}), **ran}

    def __str__(self) -> str:
        if self.status == AGREES:
            return f"agrees at {', '.join(f'{name}={size}' for name, size in self.sizes)} on {', '.join(self.inputs)} numbers"
        return f"{self.status}: {self.why}"


@dataclass(slots=True)
class Output:
    """An output of a diagram, derived, or several derived together: then the terms are Tuples, and kernels may be shared.

    translation: what holding the plan against the diagram gave; refused: what it gave of plans that were dropped for it.
    """

    names: tuple[str, ...]
    source: Term
    placed: Placed
    steps: list[Step]
    graph: Saturated
    precision: str = NARROW
    translation: Translation = Translation()
    refused: tuple[str, ...] = ()
    cover: dict[str, Any] | None = None  # of a plan that covers a graph: what it stores, its bound, how many kernels were weighed

    def each(self) -> list[tuple[str, Term, Term]]:
        """Return each output's name, its source and the term that its array is read off."""
        return list(zip(self.names, parallel(self.source), parallel(self.placed.term), strict=True))


@dataclass(slots=True)
class Derivation:
    """What a derivation gives: the plan, the term it was read off, each step from the diagram to it, and the costs.

    again: derives the diagram anew, without plans of some terms beside those refused before.
    """

    diagram: Diagram
    hardware: Hardware
    dtype: str
    plan: p.Plan
    outputs: list[Output]
    tiled: list[Tiled]
    statements: list[Statement]
    verdicts: dict[str, Verdict]
    seconds: dict[str, float]
    printer: str = "triton"
    max_error: float | None = None
    again: Callable[[tuple[Term, ...]], Derivation] | None = None
    limited: tuple[str, ...] = ()  # the searches that the limit of time ended
    _certificate: dict[str, Any] = field(default_factory=dict)

    @property
    def source(self) -> Term:
        """The diagram's term; where several outputs are derived together, a Tuple."""
        return self.outputs[0].source

    @property
    def term(self) -> Term:
        """The extracted term: every Store, Group, Walk, Fold and Online the plan is read off."""
        return self.outputs[0].placed.term

    @property
    def steps(self) -> list[Step]:
        """The chain from the source to the term."""
        return self.outputs[0].steps

    @property
    def certificate(self) -> dict[str, Any]:
        """The derivation as data that `napkin-eq check` re-validates; several outputs are one Tuple."""
        if not self._certificate:
            from napkin_eq import certificate

            self._certificate = certificate.of(self)
        return self._certificate

    def pseudocode(self) -> str:
        """Return the plan as looped pseudocode."""
        from napkin_eq.emit import emit

        return emit(self.plan, "pseudocode")

    def code(self) -> str:
        """Return the plan as a Python file that imports only torch and triton: kernels that groups of warps share in Gluon, the others in Triton."""
        from napkin_eq.emit import code

        return code(self.plan)

    def triton(self) -> str:
        """Return the plan in portable Triton, which also runs in its interpreter; a kernel whose tiles only groups of warps can share gets others."""
        from napkin_eq.emit import emit
        from napkin_eq.ranked import portable

        return emit(portable(self).plan, "triton")

    def compiled(self) -> Compiled:
        """Compile the kernels ahead of time, with no GPU; those that fail, do not fit or spill give way to others, see compiled.py."""
        from napkin_eq.compiled import compiled

        return compiled(self)

    def _repr_svg_(self) -> str:
        from napkin_eq.draw import svg

        return svg(self)

    def report(self) -> dict[str, Any]:
        """Return the numbers of the derivation, in the form of `napkin-eq derive --json`; sizes in bytes, times in µs."""
        from napkin_eq.report import report

        return report(self)


def laws_used(outputs: Sequence[Output]) -> list[str]:
    """Return the laws of the derivation in order of first use."""
    return list(dict.fromkeys(step.law for output in outputs for step in output.steps))
