"""What a derivation gives: the plan, the term it was read off, each step from the diagram to it, and the costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from napkin_eq.egraph.congruence import Step
from napkin_eq.egraph.nodes import Saturated
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.dtypes import BY_SHORT
from napkin_eq.lang.term import Term
from napkin_eq.laws.law import Statement
from napkin_eq.machine.gpu import Hardware
from napkin_eq.prove.prove import Verdict
from napkin_eq.search.placement import Placed, parallel
from napkin_eq.search.tiling import Tiled
from napkin_eq.tile import ir as p
from napkin_eq.tile.expected import ANY, Expected
from napkin_eq.tile.lower.reductions import NARROW

AGREES, DIFFERS, UNKNOWN = "agrees", "differs", "not validated"


@dataclass(frozen=True, slots=True)
class Translation:
    """What translation validation (translation.py) says of a plan: whether it agrees, on which inputs and at which
    sizes; why it does not, or was not run.
    """

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
            return (
                f"agrees at {', '.join(f'{name}={size}' for name, size in self.sizes)} on {', '.join(self.inputs)}"
                " numbers"
            )
        return f"{self.status}: {self.why}"


@dataclass(slots=True)
class Output:
    """An output of a diagram, derived, or several derived together: then the terms are Tuples, and kernels may be
    shared.

    translation: what holding the plan against the diagram gave; refused: what it gave of plans that were dropped for
    it.
    """

    names: tuple[str, ...]
    source: Term
    placed: Placed
    steps: list[Step]
    graph: Saturated
    precision: str = NARROW
    translation: Translation = Translation()
    refused: tuple[str, ...] = ()
    # Of a plan that covers a graph: what it stores, its bound, how many kernels were weighed
    cover: dict[str, Any] | None = None

    def each(self) -> list[tuple[str, Term, Term]]:
        """Return each output's name, its source and the term that its array is read off."""
        return list(zip(self.names, parallel(self.source), parallel(self.placed.term), strict=True))

    def held(self) -> dict[Term, str]:
        """Return the name of the type in which each array of numbers is held that its kernels store, by what it is read
        as.
        """
        types = [(term, BY_SHORT[buffer.dtype]) for term, buffer in self.placed.arrays]
        return {term: type_.name for term, type_ in types if type_.storage}


@dataclass(slots=True)
class Derived:
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
    again: Callable[[tuple[Term, ...]], Self] | None = None
    limited: tuple[str, ...] = ()  # the searches that the limit of time ended
    expected: Expected = ANY  # what it was derived for, of sizes that are symbols
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


def laws_used(outputs: Sequence[Output]) -> list[str]:
    """Return the laws of the derivation in order of first use."""
    return list(dict.fromkeys(step.law for output in outputs for step in output.steps))
