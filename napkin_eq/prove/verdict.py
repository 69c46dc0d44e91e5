"""Verdicts: what is known of a statement and what that rests on, and their memory between runs."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

from napkin_eq.prove import cache as memory

STATUSES = ("proved", "refuted", "unknown")
GRADES = "ABCD"
ANSWERS = ("unsat", "sat", "unknown", "missing")
SCHEMA = 6


@dataclass(frozen=True, slots=True)
class Filed:
    """One script that a verdict rests on: its name in proofs/smt2, its sha256, its status, and each solver's answer.

    form: the exact normal form decides what it asks, so that no solver is relied on.
    """

    name: str
    sha256: str
    status: str
    answers: dict[str, str]
    form: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is known of a statement: its status of STATUSES, and its grade, that of its weakest justification.

    Grade: A by definition, exact normal form or Rocq's kernel, B two solvers, C one solver, D tested only, - none of
    these.
    kernel: the files, by name with their sha256, in which it is a theorem of Rocq. lanes: the axes that it needs lanes
    of; of all others it is proved without lanes as well, which is what a stream's Prev speaks of before the first
    block.
    """

    name: str
    status: str
    grade: str
    method: str
    detail: str
    seconds: float
    files: tuple[Filed, ...] = ()
    kernel: dict[str, str] = field(default_factory=dict)
    lanes: tuple[str, ...] = ()

    def solvers(self) -> dict[str, str]:
        """Return for each solver: "proved" if it confirms every obligation, else its worst answer."""
        found: dict[str, str] = {}
        for file in self.files:
            for solver, answer in file.answers.items():
                if file.status == "unsat":
                    found[solver] = max(found.get(solver, "unsat"), answer, key=ANSWERS.index)
        return {solver: "proved" if answer == "unsat" else answer for solver, answer in found.items()}


def remembered() -> dict[str, Verdict]:
    """Return the verdicts of earlier runs by key; a damaged memory is no memory."""
    return dict(_read(memory.written("verdicts")))


@lru_cache(maxsize=2)
def _read(text: str) -> dict[str, Verdict]:
    """Return what the text of the memory holds: it is read at every derivation, and changes with new laws only."""
    return {
        key: verdict for key, entry in memory.entries(text, SCHEMA).items() if (verdict := _entry(entry)) is not None
    }


def _entry(entry: object) -> Verdict | None:
    if not isinstance(entry, dict) or set(entry) != set(Verdict.__slots__) or not isinstance(entry["files"], list):
        return None
    texts = [entry[name] for name in ("name", "status", "grade", "method", "detail")]
    well_formed = all(isinstance(text, str) for text in texts) and isinstance(entry["seconds"], (int, float))
    if not well_formed or entry["status"] not in ("proved", "refuted") or entry["grade"] not in (*GRADES, "-"):
        return None
    if not isinstance(entry["kernel"], dict) or not all(isinstance(hashed, str) for hashed in entry["kernel"].values()):
        return None
    if not isinstance(entry["lanes"], list) or not all(isinstance(name, str) for name in entry["lanes"]):
        return None
    files = tuple(map(_file, entry["files"]))
    return None if None in files else Verdict(**{**entry, "files": files, "lanes": tuple(entry["lanes"])})


def _file(entry: object) -> Filed | None:
    if not isinstance(entry, dict) or set(entry) != set(Filed.__slots__) or not isinstance(entry["answers"], dict):
        return None
    if not all(isinstance(entry[name], str) for name in ("name", "sha256", "status")) or not set(
        entry["answers"].values()
    ) <= set(ANSWERS):
        return None
    return Filed(**entry) if isinstance(entry["form"], bool) else None


def remember(verdicts: dict[str, Verdict]) -> None:
    """Add verdicts to the memory."""
    memory.kept("verdicts", SCHEMA, {key: asdict(verdict) for key, verdict in (remembered() | verdicts).items()})


def told(report: dict[str, Any]) -> str:
    """Return the verdicts of a report for a terminal: one line a law, then the counts."""
    width = max((len(law["name"]) for law in report["laws"]), default=0)
    floats = [law["floating"]["told"] if law.get("floating") else "" for law in report["laws"]]
    lines = [
        f"{law['verdict']:8}  {law['grade']}  {law['name']:{width}}  {said:18} "
        f" {law['method']}{', Rocq' if law['kernel'] else ''}  {law['detail']}".rstrip()
        for law, said in zip(report["laws"], floats, strict=True)
    ]
    grades = [
        f"{n} of grade {grade}"
        for grade in GRADES
        if (n := sum(law["grade"] == grade and law["verdict"] == "proved" for law in report["laws"]))
    ]
    lines += [
        f"{name} is not installed, so its opinion is missing and no law is graded B"
        for name, v in report["solvers"].items()
        if v == "missing"
    ]
    counts = (
        f"{report['proved']} proved{' (' + ', '.join(grades) + ')' if grades else ''}, {report['refuted']} refuted,"
        f" {report['unknown']} unknown"
    )
    refused = (
        f", {n} claim{'s' if n > 1 else ''} about floating point refused"
        if (n := report["floating"]["refused"])
        else ""
    )
    return "\n".join([*lines, f"{counts}{refused}, in {report['seconds']:.1f} s"])


def files_told(report: dict[str, Any]) -> str:
    """Return for a terminal what solvers say of scripts: the files that are not confirmed, then the counts."""
    lines = []
    for row in report["files"]:
        if row["verdict"] != "confirmed":
            said = row["detail"] or ", ".join(f"{name} says {answer}" for name, answer in row["answers"].items())
            lines.append(f"{row['verdict']:8}  {row['name']}: claims {row['status']}; {said}")
    solvers = ", ".join(f"{name} {version}" for name, version in report["solvers"].items())
    return "\n".join(
        [
            *lines,
            f"{report['confirmed']} confirmed, {report['refuted']} refuted, {report['unknown']} unknown, by {solvers}",
        ]
    )
