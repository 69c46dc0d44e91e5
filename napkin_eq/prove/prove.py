"""Proving: a law enters the e-graph only with a verdict "proved". Provers are content, in `proofs/`; verdicts are
cached.

    prove(statements)            a Verdict for each; solvers are loaded only for what the cache does not know
    require_proved(statements)   the same, but raises LawRefused or Undecided for what is not proved
    prove_report(statements)     the verdicts as data, for the command line
    files_of(statements)         the SMT-LIB scripts that their proofs rest on, as kept in proofs/smt2

A prover takes a statement and a time-out and returns an Outcome. One refutation refutes, one veto blocks, else one
proof proves.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from napkin_eq.lang.errors import LawRefused, NapkinError, Undecided
from napkin_eq.laws.claim import Claim, NotUnderstood
from napkin_eq.laws.law import TRUE, Judgment, Law, Statement
from napkin_eq.laws.loader import folder
from napkin_eq.laws.obligation import MOST_NODES, empty_claims, spread
from napkin_eq.prove import cache as memory
from napkin_eq.prove import rocq
from napkin_eq.prove.portfolio import SolversDisagree, answers, holds, limited, load_provers, solver_versions
from napkin_eq.prove.query import Script, Step, head, scripts, sha256
from napkin_eq.prove.verdict import STATUSES, Filed, remember, remembered
from napkin_eq.prove.verdict import Verdict as Verdict
from napkin_eq.prove.watch import going

if TYPE_CHECKING:
    from napkin_eq.prove.counterexample import Counterexample


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one prover found: a status of STATUSES, or "veto" where no proof by another may count, or "tested".

    With a refutation comes its example, with a proof the steps that need more than a definition.
    """

    status: str
    method: str
    detail: str = ""
    example: Counterexample | None = None
    steps: tuple[Step, ...] = ()


# All that is asked about one statement may take so many times what one question may.
LIMITS = 6
Prover = Callable[[Statement, float], Outcome | None]
_PROVERS: dict[str, tuple[int, Prover]] = {}


def prover(name: str, rank: int) -> Callable[[Prover], Prover]:
    """Register the decorated function as a prover; provers run in order of rank, and None means that it has nothing to
    say.
    """

    def register(function: Prover) -> Prover:
        _PROVERS[name] = (rank, function)
        return function

    return register


@cache
def _version() -> str:
    # A verdict holds for the provers and solvers that gave it: their text or version is part of every hash.
    package = Path(__file__).resolve().parents[1]
    names = (
        "lang/evaluate lang/notation lang/numpy_semantics laws/claim laws/obligation prove/portfolio prove/prove"
        " prove/query prove/smtlib"
    )
    own = [package / f"{name}.py" for name in names.split()] + sorted((package / "prove" / "normal").glob("*.py"))
    texts = [file.read_bytes() for file in (*own, *sorted(folder("proofs").glob("*.py")))]
    tools = (rocq.version(), *(f"{name} {version}" for name, version in solver_versions().items()))
    return hashlib.sha256(b"\0".join([*texts, *(tool.encode() for tool in tools)])).hexdigest()


def statement_hash(statement: Statement) -> str:
    """Return the sha256 of what a statement says, its name and its reading left out, and of the provers' version."""
    if isinstance(statement, Law):
        said: tuple[Any, ...] = ("law", statement.lhs, statement.rhs, *map(_said, statement.conditions))
    else:
        said = ("inference", *map(_said, (statement.conclusion, *statement.premises)))
    return sha256(f"{_version()}\n{said!r}")


def _said(judgment: Judgment) -> tuple[Any, ...]:
    return judgment.name, *judgment.args


def _key(statement: Statement) -> str:
    if spread(statement) > MOST_NODES:
        return f"{statement.name} is too large to be remembered"
    # The scripts name the law, and their hashes are part of the verdict.
    return sha256("\n".join((statement_hash(statement), *head(statement))))


def prove(statements: Iterable[Statement], timeout_s: float = 5, use_cache: bool = True) -> list[Verdict]:
    """Return a verdict for each statement, in order; proved and refuted ones are remembered between runs.

    timeout_s bounds each question to a solver; all about one statement is bounded to LIMITS times as much of this
    process's time, the provers' own calculations by their work. An answer that was not found in time is "unknown" and
    is asked again next time. Raises SolversDisagree.
    """
    verdicts, fresh = memory.decided(
        statements, _key, lambda s: _proved_now(s, timeout_s), remembered() if use_cache else {}, "laws proved"
    )
    if fresh and use_cache:
        remember(fresh)
    return verdicts


def _proved_now(statement: Statement, timeout_s: float) -> Verdict:
    if not going():
        return Verdict(statement.name, "unknown", "-", "", "interrupted", 0.0)
    with limited(LIMITS * timeout_s):
        return _verdict(statement, timeout_s)


def _verdict(statement: Statement, timeout_s: float) -> Verdict:
    started = time.perf_counter()
    found = _outcomes(statement, timeout_s)
    best = _best(found)
    status = best.status if best.status in STATUSES else "unknown"
    detail = best.detail if status != "unknown" else "; ".join(o.detail for o in found if o.detail)
    lanes = _lanes(statement, timeout_s) if status == "proved" else ()
    grade, files, kernel = (
        "D" if status == "unknown" and any(o.status == "tested" for o in found) else "-",
        tuple[Filed, ...](),
        dict[str, str](),
    )
    if status == "proved":
        grade, detail, files = _graded(statement, best.steps)
        if empty := [file.name for file in files if file.status == "sat" and "unsat" in file.answers.values()]:
            status, grade, detail = (
                "unknown",
                "-",
                f"its proof says nothing: no values meet the hypotheses of {', '.join(empty)}",
            )
        elif kernel := rocq.cited(statement):
            grade, detail = "A", ""
    return Verdict(
        statement.name,
        status,
        grade,
        best.method,
        detail,
        round(time.perf_counter() - started, 4),
        files,
        kernel,
        lanes,
    )


def _lanes(statement: Statement, timeout_s: float) -> tuple[str, ...]:
    """Return the axes that must have lanes: of every set of the others the statement is proved where these
    have none.
    """
    needed: set[str] = set()
    for axes, claims in empty_claims(statement):
        if not axes & needed and not (
            claims is not None and all(claim.goal is TRUE or _holds(claim, timeout_s) for claim in claims)
        ):
            needed |= axes
    return tuple(sorted(needed))


def _holds(claim: Claim, timeout_s: float) -> bool:
    try:
        return holds(claim, timeout_s)
    except SolversDisagree:
        raise
    except (NapkinError, RecursionError):
        return False


def _outcomes(statement: Statement, timeout_s: float) -> list[Outcome]:
    if (size := spread(statement)) > MOST_NODES:
        return [
            Outcome(
                "unknown",
                "not understood",
                f"written out it has {size:.3g} operators and variables; at most {MOST_NODES} are understood",
            )
        ]
    load_provers()
    found: list[Outcome] = []
    for _, function in sorted(_PROVERS.values(), key=lambda item: item[0]):
        try:
            outcome = function(statement, timeout_s)
        except SolversDisagree:
            raise
        except RecursionError:
            outcome = Outcome("veto", "not understood", "it nests too deeply for the provers")
        except NapkinError as error:
            outcome = Outcome("unknown", "not understood", str(error))
        if outcome is not None:
            found.append(outcome)
        if outcome is not None and outcome.status == "refuted":
            break
    return found


def _best(found: list[Outcome]) -> Outcome:
    order = ("refuted", "veto", "proved", "unknown", "tested")
    return min(found, key=lambda o: order.index(o.status), default=Outcome("unknown", "none", "no prover"))


def opinion(statement: Statement, timeout_s: float = 5) -> Outcome:
    """Return what the provers find with the leading solver alone: not graded, not remembered; "tested" and "veto" read
    "unknown".
    """
    with limited(LIMITS * timeout_s):
        best = _best(_outcomes(statement, timeout_s))
    return best if best.status in STATUSES else replace(best, status="unknown")


def _graded(statement: Statement, steps: tuple[Step, ...]) -> tuple[str, str, tuple[Filed, ...]]:
    """Ask every solver about every step of a proof; return the weakest grade, why it is no better, and the files."""
    grades, notes = ["A"], dict[str, None]()
    files: list[Filed] = []
    for step, pair in scripts(statement, steps):
        for script in pair:
            said = answers(script.text)
            files.append(Filed(script.name, sha256(script.text), script.status, said, step.by_form))
            if script.status == "unsat" and not step.by_form:
                grades.append("B" if sum(answer == "unsat" for answer in said.values()) > 1 else "C")
                notes |= {f"{name} {WHY[answer]}": None for name, answer in said.items() if answer in WHY}
            if script.status == "sat" and "sat" not in said.values():
                notes[f"no solver finds values that meet the hypotheses of {script.name}"] = None
    return max(grades), ", ".join(notes), tuple(files)


WHY = {"missing": "is not installed", "unknown": "gave no answer in time"}


def files_of(statements: Iterable[Statement], timeout_s: float = 5) -> list[Script]:
    """Return the scripts that the proofs of statements rest on, by name; found anew, by the leading solver alone."""
    load_provers()
    found: dict[str, Script] = {}
    for statement in statements:
        for _, function in sorted(_PROVERS.values(), key=lambda item: item[0]):
            with suppress(NotUnderstood):  # what one prover does not understand another may prove
                outcome = function(statement, timeout_s)
                for _, pair in scripts(statement, outcome.steps if outcome else ()):
                    found |= {script.name: script for script in pair}
    return [found[name] for name in sorted(found)]


def require_proved(statements: Iterable[Statement], allow_tested: bool = False) -> dict[str, Verdict]:
    """Return the verdicts by name; raise LawRefused for the first refuted statement, else Undecided for the unknown
    ones.

    allow_tested: a statement that is not proved, but was tested and not refuted, is let in; its status is "tested", its
    grade D.
    """
    listed = list(statements)
    pairs = list(zip(listed, prove(listed), strict=True))
    for statement, verdict in pairs:
        if verdict.status == "refuted":
            raise LawRefused(f"law {statement.name} at {statement.place} is false: {verdict.detail}")
    if missing := [
        f"{s.name} at {s.place} ({v.detail})"
        for s, v in pairs
        if v.status != "proved" and not (allow_tested and v.grade == "D")
    ]:
        hint = (
            ""
            if any(v.grade == "-" for _, v in pairs)
            else "; derive --allow-tested lets in what was tested only, and the certificate is graded D"
        )
        absent = [name for name, version in solver_versions().items() if version == "missing"]
        without = (
            f"; {' and '.join(absent)} {'is' if len(absent) == 1 else 'are'} not installed, and may prove it"
            if absent
            else ""
        )
        raise Undecided(f"not proved, so not used: {', '.join(missing)}{hint}{without}")
    return {v.name: v if v.status == "proved" else replace(v, status="tested") for _, v in pairs}


def known_grades(statements: Iterable[Statement]) -> dict[str, str]:
    """Return by name the grades that are remembered; nothing is proved."""
    known = remembered()
    return {s.name: known[key].grade for s in statements if (key := _key(s)) in known}


def prove_report(statements: Iterable[Statement], use_cache: bool = True) -> dict[str, Any]:
    """Prove statements and return the verdicts as data."""
    listed = list(statements)
    started = time.perf_counter()
    verdicts = prove(listed, use_cache=use_cache)
    counts = {status: sum(v.status == status for v in verdicts) for status in STATUSES}
    seconds = round(time.perf_counter() - started, 3)
    return {
        "schema": 1,
        **counts,
        "solvers": solver_versions(),
        "seconds": seconds,
        "laws": list(map(_row, listed, verdicts)),
    }


def _row(statement: Statement, verdict: Verdict) -> dict[str, Any]:
    shown = {
        "name": statement.name,
        "family": statement.family,
        "verdict": verdict.status,
        "grade": verdict.grade,
        "real": verdict.status,
    }
    conditions = statement.conditions if isinstance(statement, Law) else statement.premises
    return {
        **shown,
        "floating_point": statement.floating if isinstance(statement, Law) else None,
        "solvers": verdict.solvers(),
        "seconds": verdict.seconds,
        "conditions": [str(c) for c in conditions],
        "counterexample": verdict.detail if verdict.status == "refuted" else None,
        "statement": statement.statement(),
        "reading": statement.reading,
        "place": statement.place,
        "method": verdict.method,
        "detail": verdict.detail,
        "files": [asdict(file) for file in verdict.files],
        "kernel": verdict.kernel,
        "lanes": list(verdict.lanes),
    }
