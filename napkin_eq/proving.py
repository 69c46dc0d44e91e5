"""Proving: a law enters the e-graph only with a verdict "proved". Provers are content, in `proofs/`; verdicts are cached.

    prove(statements)            a Verdict for each; z3 is loaded only for what the cache does not know
    require_proved(statements)   the same, but raises LawRefused or Undecided for what is not proved
    prove_report(names)          the same as data, for the command line

A prover takes a statement and a time-out and returns an Outcome. One refutation refutes, one veto blocks, else one proof proves.
A decider answers a Claim whose reductions it may take as unknown numbers; the provers share them.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from napkin_eq.claim import Claim
from napkin_eq.content import folder, run_file
from napkin_eq.errors import LawRefused, NapkinError, Undecided
from napkin_eq.law import REGISTRY, Judgment, Law, Statement

if TYPE_CHECKING:
    from napkin_eq.counterexample import Counterexample

STATUSES = ("proved", "refuted", "unknown")
GRADES = "ABCD"
CACHE_LIMIT = 4096


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one prover found: a status of STATUSES, or "veto" where no proof by another may count; with a refutation its example."""

    status: str
    method: str
    detail: str = ""
    grade: str = "D"
    example: Counterexample | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is known of a statement. Grade: A by definition or exact normal form, B two solvers, C one solver, D tested only."""

    name: str
    status: str
    grade: str
    method: str
    detail: str
    seconds: float


Prover = Callable[[Statement, float], Outcome | None]
Decider = Callable[[Claim, float], str]
_PROVERS: dict[str, tuple[int, Prover]] = {}
_DECIDERS: dict[str, Decider] = {}


def prover(name: str, rank: int) -> Callable[[Prover], Prover]:
    """Register the decorated function as a prover; provers run in order of rank, and None means that it has nothing to say."""

    def register(function: Prover) -> Prover:
        _PROVERS[name] = (rank, function)
        return function

    return register


def decider(name: str) -> Callable[[Decider], Decider]:
    """Register the decorated function as a decider: it answers "proved", "open" or "unknown" for a claim."""

    def register(function: Decider) -> Decider:
        _DECIDERS[name] = function
        return function

    return register


def deciders() -> list[tuple[str, Decider]]:
    """Return the registered deciders by name, in name order."""
    return sorted(_DECIDERS.items())


@cache
def _load_provers() -> None:
    for file in sorted(folder("proofs").glob("*.py")):
        run_file(file, "proofs")


@cache
def _version() -> str:
    # A verdict holds for the provers that gave it: their text is part of every hash.
    here = Path(__file__).resolve()
    files = [here, here.with_name("claim.py"), here.with_name("obligation.py"), *sorted(folder("proofs").glob("*.py"))]
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


def statement_hash(statement: Statement) -> str:
    """Return the sha256 of what a statement says, its name and its reading left out, and of the provers' version."""
    if isinstance(statement, Law):
        said: tuple[Any, ...] = ("law", statement.lhs, statement.rhs, *map(_said, statement.conditions))
    else:
        said = ("inference", *map(_said, (statement.conclusion, *statement.premises)))
    return hashlib.sha256(f"{_version()}\n{said!r}".encode()).hexdigest()


def _said(judgment: Judgment) -> tuple[Any, ...]:
    return judgment.name, *judgment.args


def prove(statements: Iterable[Statement], timeout_s: float = 5, use_cache: bool = True) -> list[Verdict]:
    """Return a verdict for each statement, in order; proved and refuted ones are remembered between runs.

    timeout_s bounds each question to a solver. An answer that was not found in time is "unknown" and is asked again next time.
    """
    listed = list(statements)
    known = _read_cache() if use_cache else {}
    fresh: dict[str, Verdict] = {}
    verdicts = []
    for statement in listed:
        key = statement_hash(statement)
        if key not in known:
            verdict = _proved_now(statement, timeout_s)
            known[key] = verdict
            if verdict.status != "unknown":
                fresh[key] = verdict
        verdicts.append(replace(known[key], name=statement.name))
    if fresh and use_cache:
        _write_cache(_read_cache() | fresh)
    return verdicts


def _proved_now(statement: Statement, timeout_s: float) -> Verdict:
    _load_provers()
    started = time.perf_counter()
    found: list[Outcome] = []
    for _, function in sorted(_PROVERS.values(), key=lambda item: item[0]):
        try:
            outcome = function(statement, timeout_s)
        except NapkinError as error:
            outcome = Outcome("unknown", "not understood", str(error))
        if outcome is not None:
            found.append(outcome)
        if outcome is not None and outcome.status == "refuted":
            break
    best = min(found, key=lambda o: ("refuted", "veto", "proved", "unknown").index(o.status), default=Outcome("unknown", "none", "no prover"))
    status = best.status if best.status in STATUSES else "unknown"
    detail = best.detail if status != "unknown" else "; ".join(o.detail for o in found if o.detail)
    return Verdict(statement.name, status, best.grade, best.method, detail, round(time.perf_counter() - started, 4))


def counterexample(statement: Statement, timeout_s: float = 5) -> Counterexample | None:
    """Return an instance on which a statement fails, found anew, or None where no prover finds one."""
    _load_provers()
    for _, function in sorted(_PROVERS.values(), key=lambda item: item[0]):
        outcome = function(statement, timeout_s)
        if outcome is not None and outcome.status == "refuted":
            return outcome.example
    return None


def require_proved(statements: Iterable[Statement]) -> dict[str, Verdict]:
    """Return the verdicts by name; raise LawRefused for the first refuted statement, else Undecided for the unknown ones."""
    listed = list(statements)
    pairs = list(zip(listed, prove(listed), strict=True))
    for statement, verdict in pairs:
        if verdict.status == "refuted":
            raise LawRefused(f"law {statement.name} at {statement.place} is false: {verdict.detail}")
    if missing := [f"{s.name} at {s.place} ({v.detail})" for s, v in pairs if v.status != "proved"]:
        raise Undecided(f"not proved, so not used: {', '.join(missing)}")
    return {v.name: v for _, v in pairs}


def prove_report(names: Sequence[str] = (), use_cache: bool = True) -> dict[str, Any]:
    """Prove the registered laws and return the verdicts as data; `names` are laws or families, none means all.

    Raises NapkinError for a name that is neither.
    """
    registered = list(REGISTRY.statements.values())
    known = {s.name for s in registered} | {s.family for s in registered}
    if unknown := [name for name in names if name not in known]:
        raise NapkinError(f"no law or family is called {unknown[0]!r:.60}; `napkin-eq laws` lists them")
    chosen = [s for s in registered if not names or s.name in names or s.family in names]
    started = time.perf_counter()
    verdicts = prove(chosen, use_cache=use_cache)
    laws = [
        {"name": s.name, "family": s.family, "statement": s.statement(), "reading": s.reading, "place": s.place}
        | {key: value for key, value in asdict(v).items() if key != "name"}
        for s, v in zip(chosen, verdicts, strict=True)
    ]
    counts = {status: sum(v.status == status for v in verdicts) for status in STATUSES}
    return {"schema": 1, **counts, "seconds": round(time.perf_counter() - started, 3), "laws": laws}


def _cache_file() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "napkin_eq" / "verdicts.json"


def _read_cache() -> dict[str, Verdict]:
    try:
        data = json.loads(_cache_file().read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    entries = data.get("verdicts") if isinstance(data, dict) and data.get("schema") == 1 else None
    if not isinstance(entries, dict):
        return {}
    return {key: verdict for key, entry in entries.items() if (verdict := _entry(entry)) is not None}


def _entry(entry: object) -> Verdict | None:
    if not isinstance(entry, dict) or set(entry) != set(Verdict.__slots__):
        return None
    texts = [entry[name] for name in ("name", "status", "grade", "method", "detail")]
    well_formed = all(isinstance(text, str) for text in texts) and isinstance(entry["seconds"], (int, float))
    if not well_formed or entry["status"] not in ("proved", "refuted") or entry["grade"] not in GRADES:
        return None
    return Verdict(**entry)


def _write_cache(verdicts: dict[str, Verdict]) -> None:
    # A cache that cannot be written costs time, nothing else: the verdicts stand.
    newest = dict(list(verdicts.items())[-CACHE_LIMIT:])
    text = json.dumps({"schema": 1, "verdicts": {key: asdict(verdict) for key, verdict in newest.items()}}, indent=0)
    file = _cache_file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=".verdicts-")
    except OSError:
        return
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.replace(name, file)
    except OSError:
        Path(name).unlink(missing_ok=True)
