"""Solving: what decides a claim. Everything here is asked through one door, and filled by the files of `proofs/`.

    decider      decides a claim by exact calculation, without a solver
    deep_decider the same, asked last: it takes apart what the others leave to induction
    translator   writes a claim as questions in SMT-LIB 2
    solver       answers a script; every solver is handed the same text

Two solvers that contradict each other stop everything.
"""

from __future__ import annotations

import math
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from napkin_eq.lang.errors import FAILED, NapkinError
from napkin_eq.lang.term import Const
from napkin_eq.laws.claim import Claim
from napkin_eq.laws.loader import folder, run_file
from napkin_eq.prove.query import Question, Step

PACKAGES = {"z3": "z3_solver", "cvc5": "cvc5"}
OPINION_TIMEOUT_S = 3.0
# A question about coordinates is one solver's to prove; what another says of it within this time counts too.
SECOND_S = 0.5
COMMENT = re.compile(r"^;.*\n", re.MULTILINE)


class SolversDisagree(NapkinError):
    """Two solvers contradict each other: nothing they say can be used. Exit status 1."""

    exit_code = FAILED


Decider = Callable[[Claim], bool]
Translator = Callable[[Claim], Iterator[Question]]
Solver = Callable[[str, float], str]
_DECIDERS: dict[str, Decider] = {}
_DEEP: dict[str, Decider] = {}
_TRANSLATORS: list[Translator] = []
_SOLVERS: dict[str, Solver] = {}
_SAID: dict[tuple[str, str], str] = {}
_UNTIL: ContextVar[float] = ContextVar("until", default=math.inf)


def decider(name: str) -> Callable[[Decider], Decider]:
    """Register the decorated function as a decider: it tells whether a claim holds by exact calculation, False for "I
    do not know".
    """

    def register(function: Decider) -> Decider:
        _DECIDERS[name] = function
        return function

    return register


def deep_decider(name: str) -> Callable[[Decider], Decider]:
    """Register the decorated function as a decider of claims that hold sums of unknown length, asked where induction
    found no proof.
    """

    def register(function: Decider) -> Decider:
        _DEEP[name] = function
        return function

    return register


def translator(function: Translator) -> Translator:
    """Register the decorated function as the translator: it yields a claim as questions, the shortest first."""
    _TRANSLATORS[:] = [function]
    return function


def solver(name: str) -> Callable[[Solver], Solver]:
    """Register the decorated function as a solver: of an SMT-LIB script it says unsat, sat, unknown, or missing if it
    is not installed.
    """

    def register(function: Solver) -> Solver:
        _SOLVERS[name] = function
        return function

    return register


def solvers() -> dict[str, Solver]:
    """Return the solvers by name, the one that leads the search first."""
    load_provers()
    return dict(_SOLVERS)


@cache
def load_provers() -> None:
    """Run the files of `proofs/`, once."""
    for file in sorted(folder("proofs").glob("*.py")):
        run_file(file, "proofs")


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Give what is asked inside so much time of this process, whatever else the machine does; then every answer is
    unknown.
    """
    token = _UNTIL.set(min(_UNTIL.get(), time.process_time() + seconds))
    try:
        yield
    finally:
        _UNTIL.reset(token)


def time_left() -> float:
    """Return the seconds that are left of what `limited` gave."""
    return _UNTIL.get() - time.process_time()


def answers(text: str, timeout_s: float = OPINION_TIMEOUT_S, second_s: float = OPINION_TIMEOUT_S) -> dict[str, str]:
    """Return what each solver says of an SMT-LIB script, the first within one time and the others within another.

    Raises SolversDisagree if one says sat and another unsat.
    """
    found = {name: _answer(name, text, second_s if place else timeout_s) for place, name in enumerate(solvers())}
    if {"sat", "unsat"} <= set(found.values()):
        said = ", ".join(f"{name} says {answer}" for name, answer in found.items())
        raise SolversDisagree(
            f"the solvers contradict each other ({said}) on the script: {text.splitlines()[0].removeprefix('; '):.120}"
        )
    return found


def _answer(name: str, text: str, timeout_s: float) -> str:
    # Laws share obligations: what was answered once is not asked again, whatever its comments say.
    asked = name, COMMENT.sub("", text)
    if _SAID.get(asked, "unknown") == "unknown":
        given = min(timeout_s, time_left())
        _SAID[asked] = _SOLVERS[name](text, given) if given > 0 else "unknown"
    return _SAID[asked]


def _lead(text: str, timeout_s: float) -> str:
    """Return the answer of the first solver that is installed."""
    said = (_answer(name, text, timeout_s) for name in _SOLVERS)
    return next((answer for answer in said if answer != "missing"), "missing")


def decided(claim: Claim, timeout_s: float, lemma: str = "") -> Step | None:
    """Return a claim as a step of a proof, if the normal form or the leading solver proves it."""
    if timeout_s <= 0:
        return None
    by_form = any(decide(claim) for decide in _DECIDERS.values())
    proved = (q for translate in _TRANSLATORS for q in translate(claim) if _lead(q.obligation(), timeout_s) == "unsat")
    question = next(proved, None)
    if question is None and not by_form:
        return None
    return Step(claim.what, "normal form" if by_form else "solvers", question, by_form, lemma, claim.legend)


def decided_deeply(claim: Claim) -> Step | None:
    """Return a claim as a step of a proof, if a normal form of whole sums proves it; no solver is asked."""
    name = next((name for name, decide in _DEEP.items() if decide(claim)), None)
    return None if name is None else Step(claim.what, f"normal form of {name}", None, True, "", claim.legend)


def holds(claim: Claim, timeout_s: float) -> bool:
    """Tell whether the normal form, or else the leading solver, proves a claim."""
    asked = (q.obligation() for translate in _TRANSLATORS for q in translate(claim))
    return any(decide(claim) for decide in _DECIDERS.values()) or any(
        _lead(text, timeout_s) == "unsat" for text in asked
    )


def vacuous(claim: Claim, timeout_s: float) -> bool:
    """Tell whether the leading solver proves that nothing meets the premises of a claim."""
    asked = (q.obligation() for translate in _TRANSLATORS for q in translate(replace(claim, goal=Const(False))))
    return timeout_s > 0 and any(_lead(text, timeout_s) == "unsat" for text in asked)


@cache
def solver_versions() -> dict[str, str]:
    """Return the version of each solver's package, "missing" where there is none."""
    return {name: _version_of(name, package) for name, package in PACKAGES.items()}


def _version_of(name: str, package: str) -> str:
    # Read off the name of its metadata's folder: importlib.metadata takes longer to load than all cached verdicts.
    notes = (file.name for place in sys.path for file in Path(place or ".").glob(f"{package}-*.dist-info"))
    if (note := next(notes, None)) is not None:
        return note.removeprefix(f"{package}-").removesuffix(".dist-info")
    return "missing" if find_spec(name) is None else "of unknown version"
