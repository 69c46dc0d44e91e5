"""Questions to solvers: a claim as one ground SMT-LIB 2 script, and the file that is kept of it.

A script holds what is assumed, then the goal denied: "unsat" means that the claim is proved. The same script without
the denial must be "sat", else the proof says nothing. Every solver is handed the text itself.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from napkin_eq.laws.law import Statement


@dataclass(frozen=True, slots=True)
class Question:
    """A claim in SMT-LIB 2: its logic, what is declared and assumed, and the goal denied; lines of text."""

    logic: str
    assumed: tuple[str, ...]
    denied: tuple[str, ...]

    def obligation(self, head: tuple[str, ...] = ()) -> str:
        """Return the script that is "unsat" if the claim holds."""
        return _script(head, self.logic, "unsat", (*self.assumed, *self.denied))

    def hypotheses(self, head: tuple[str, ...] = ()) -> str:
        """Return the script that is "sat" if the claim says something at all."""
        return _script(head, self.logic, "sat", self.assumed)


def _script(head: tuple[str, ...], logic: str, status: str, lines: tuple[str, ...]) -> str:
    return "\n".join(
        [
            *(f"; {line}" for line in head),
            f"(set-logic {logic})",
            f"(set-info :status {status})",
            *lines,
            "(check-sat)",
            "",
        ]
    )


@dataclass(frozen=True, slots=True)
class Step:
    """A claim that a proof rests on: what it says, how it was decided, and the question to solvers.

    by_form: the exact normal form decides it. lemma: it is a part of that lemma, which many laws share. legend: what
    its names stand for.
    """

    what: str
    method: str
    question: Question | None
    by_form: bool = False
    lemma: str = ""
    legend: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Script:
    """One file of proofs/smt2: its name in that folder, its text, and the answer that is expected."""

    name: str
    text: str
    status: str


def scripts(statement: Statement, steps: tuple[Step, ...]) -> list[tuple[Step, tuple[Script, Script]]]:
    """Return the two scripts of every step that has a question: the obligation, and the hypotheses alone."""
    found, places = [], dict[str, int]()
    for step in steps:
        if step.question is not None:
            stem = f"lemmas/{_slug(step.lemma)}" if step.lemma else f"{_slug(statement.family)}/{_slug(statement.name)}"
            places[stem] = places.get(stem, 0) + 1
            name = f"{stem}.{places[stem]}"
            said = head(statement, step)
            alone = (*said, "hypotheses alone: if no values met them, the proof would say nothing")
            obligation = Script(f"{name}.smt2", step.question.obligation(said), "unsat")
            found.append(
                (step, (obligation, Script(f"{name}.hypotheses.smt2", step.question.hypotheses(alone), "sat")))
            )
    return found


def head(statement: Statement, step: Step | None = None) -> tuple[str, ...]:
    """Return the lines that say what a script is about: the law, its source, the case."""
    if step is not None and step.lemma:
        return (f"lemma  {step.lemma}, which many laws rest on", *_case(step))
    source = f"{statement.source}; " if statement.source else ""
    lines = (
        f"law    {statement.name} ({statement.family}): {statement.reading}",
        f"says   {' '.join(statement.statement().split())}",
        f"source {source}stated in {statement.place.rpartition(':')[0].rpartition('/')[2]}",
    )
    return (*lines, *_case(step)) if step else lines


def _case(step: Step) -> tuple[str, ...]:
    return (f"case   {step.what}", *(f"       {line}" for line in step.legend))


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name)


def sha256(text: str) -> str:
    """Return the sha256 of a text in UTF-8, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()
