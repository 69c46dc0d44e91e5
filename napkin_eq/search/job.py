"""What a search is given: the outputs to derive, what their plan is made for, and the laws that it may use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from napkin_eq.egraph.budget import Budget
from napkin_eq.egraph.congruence import Closure, Step
from napkin_eq.egraph.nodes import Saturated
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import output_order
from napkin_eq.lang.term import Term, Tuple, rewritten
from napkin_eq.laws.inference import Judge
from napkin_eq.laws.law import Inference, Judgment, Law, Statement
from napkin_eq.machine.gpu import Hardware
from napkin_eq.prove.verdict import Verdict
from napkin_eq.search.placement import Priced
from napkin_eq.tile import ir as p
from napkin_eq.tile.lower.reductions import NARROW

# Axes that are folded a stretch at a time: the axis that counts the stretches, and the one cut
Cuts = tuple[tuple[Axis, Axis], ...]
Graphs = dict[Cuts, Saturated]


@dataclass(frozen=True, slots=True)
class Aim:
    """What a plan is made for: a GPU, the storage type, who may print its kernels; and the terms that plans were
    refused of.

    written: forms are sought that leave what Prev speaks of as it was first written. held: types of outputs by name.
    laid: the names of their axes as they lie in memory. library: a library's products may take the place of our
    kernels. priced: what is known of kernels by now.
    """

    machine: Hardware
    dtype: str
    printer: str
    max_error: float | None = None
    precision: str = NARROW
    refused: frozenset[Term] = frozenset()
    budget: Budget = field(default_factory=Budget)
    written: bool = False
    held: Mapping[str, str] = field(default_factory=dict)
    laid: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    library: bool = False
    priced: Priced = field(default_factory=Priced, compare=False)

    def order(self, name: str, term: Term) -> tuple[Axis, ...]:
        """Return the axes of an output as it lies in memory."""
        own = output_order(term)
        axes, wanted = {axis.name: axis for axis in own}, self.laid.get(name, ())
        return tuple(axes[axis] for axis in wanted) if set(wanted) == axes.keys() else own

    @property
    def precisions(self) -> tuple[str, ...]:
        """The precisions of contractions to try, fastest first; without an error to keep to, the one that was asked
        for, or operands as the storage type has them.
        """
        if self.max_error is None:
            return (self.precision,)
        return tuple(p.MATRIX_ROUNDOFF) if self.dtype == "float32" else (NARROW, *p.MATRIX_ROUNDOFF)


@dataclass(frozen=True, eq=False)
class Laws:
    """The laws and inferences in force, and what was proved of each, by name."""

    statements: list[Statement]
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)

    @cached_property
    def proved(self) -> Callable[[Judgment], bool]:
        """Tells whether a judgment is derived by the inferences."""
        return prover(self.statements)

    def closure(self, budget: Budget) -> Closure:
        """Return a closure in which instances of these laws may be entered."""
        return Closure(self.statements, budget, {name: verdict.lanes for name, verdict in self.verdicts.items()})

    def without_steps(self) -> Laws:
        """Return the laws without those of sums that are carried by steps."""
        kept = [s for s in self.statements if not (isinstance(s, Law) and any(c.name == "moves" for c in s.conditions))]
        return self if len(kept) == len(self.statements) else Laws(kept, self.verdicts)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """Outputs in another form, and the steps that lead there from the outputs as they were."""

    outputs: tuple[Term, ...]
    steps: list[Step]

    @classmethod
    def of(cls, closure: Closure, source: Term, target: Term) -> Rewritten | None:
        """Return a term in another form, of several outputs a Tuple, by the instances that were entered; None where
        there is no chain, which is sought in a limit of time.
        """
        try:
            steps = closure.explain(source, target)
        except NapkinError:
            return None
        return cls(target.items if isinstance(target, Tuple) else (target,), steps)


def said_and_led(
    closure: Closure, outputs: Sequence[Term], given: Mapping[Term, Term], made: Mapping[Term, Term]
) -> tuple[tuple[Term, ...], Rewritten] | None:
    """Return outputs with terms said in another way, as `given` has them, and the chain from these to the outputs with
    them as they are made; None where none is made, or where there is no chain.
    """
    if not made:
        return None
    whole = outputs[0] if len(outputs) == 1 else Tuple(tuple(outputs))
    source = rewritten(whole, lambda t: given.get(t, t))
    target = rewritten(whole, lambda t: made.get(t, t))
    closure.add(source)
    found = Rewritten.of(closure, source, target)
    return None if found is None else (source.items if isinstance(source, Tuple) else (source,), found)


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be derived: a diagram of the outputs sought, what for, and by which laws.

    graphs: the e-graphs of an earlier search for the same; those that a search makes are added.
    """

    diagram: Diagram
    aim: Aim
    laws: Laws
    graphs: Graphs = field(default_factory=dict, compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the outputs."""
        return tuple(name for name, _ in self.diagram.outputs)

    @property
    def source(self) -> Term:
        """The term of the output, of several a Tuple."""
        terms = tuple(term for _, term in self.diagram.outputs)
        return terms[0] if len(terms) == 1 else Tuple(terms)

    def on(self, outputs: Iterable[tuple[str, Term]]) -> Job:
        """Return the job of deriving these outputs in the place of its own."""
        return Job(Diagram(self.diagram.name, tuple(outputs)), self.aim, self.laws)

    def of(self, outputs: Sequence[tuple[str, Term]], share: float) -> Job:
        """Return the job of deriving some of the outputs alone, in a share of the time that is left."""
        aim = replace(self.aim, budget=self.aim.budget.part(share))
        return Job(replace(self.diagram, outputs=tuple(outputs)), aim, self.laws)


def prover(statements: Sequence[Statement]) -> Callable[[Judgment], bool]:
    """Return a function that tells whether a judgment is derived by the inferences among the statements; answers are
    kept.
    """
    judge = Judge(s for s in statements if isinstance(s, Inference))
    known: dict[Judgment, bool] = {}

    def proved(judgment: Judgment) -> bool:
        if judgment not in known:
            known[judgment] = judge.holds(judgment) is not None
        return known[judgment]

    return proved
