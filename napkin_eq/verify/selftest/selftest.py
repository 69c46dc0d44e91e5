"""The verifier verified: how many laws of the corpus it judges rightly, how many forged certificates it refuses and
broken kernels it catches.

A wrong law counts as rejected only with an instance that refutes it by `evaluate` alone, or because nothing meets its
premises; one that is wrong in floating point only, if that is the verdict.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from napkin_eq.laws.law import Law, Statement
from napkin_eq.prove.corpus import Entry, entries
from napkin_eq.prove.float_class import assess
from napkin_eq.prove.prove import opinion
from napkin_eq.prove.watch import going, reported
from napkin_eq.verify.selftest import forgeries
from napkin_eq.verify.selftest.score import score

SCHEMA = 1
PARTS = ("laws", "certificates", "kernels")
# One in so many forgeries is tried of those that are ill-formed, and of those with one row changed
BROKEN, CHANGED = 6, 400


@dataclass(frozen=True, slots=True)
class Result:
    """How one entry of the corpus fared; `why` says what went wrong."""

    entry: Entry
    passed: bool
    why: str = ""
    disagrees: bool = False


def judged(entry: Entry) -> Result:
    """Put one entry before the verifier, nothing cached."""
    complaints = [_refused(s) if entry.expected == "wrong" else _accepted(s) for s in entry.statements]
    complaints += [(_rounded(entry, s), False) for s in entry.statements if entry.found and isinstance(s, Law)]
    found = [(why, disagrees) for why, disagrees in complaints if why]
    return Result(entry, not found, "; ".join(why for why, _ in found), any(disagrees for _, disagrees in found))


def _refused(statement: Statement) -> tuple[str, bool]:
    outcome = opinion(statement)
    if outcome.status != "refuted":
        return f"{statement.name} is false and was {outcome.status}", outcome.status == "proved"
    if outcome.method == "vacuous" or (outcome.example is not None and outcome.example.refutes()):
        return "", False
    return f"{statement.name} was refuted without an instance that refutes it: {outcome.detail}", True


def _accepted(statement: Statement) -> tuple[str, bool]:
    outcome = opinion(statement)
    return (
        ("", False)
        if outcome.status == "proved"
        else (f"{statement.name} is true and was {outcome.status}: {outcome.detail}", False)
    )


def _rounded(entry: Entry, law: Law) -> str:
    (verdict,) = assess([law], use_cache=False)
    granted = "granted" if entry.expected == "valid" else "refused"
    right = verdict.found == entry.found and verdict.status == granted
    return (
        ""
        if right
        else f"{law.name} claims to be {law.floating} and is {entry.found}; the claim was {verdict.status}: {verdict}"
    )


def laws() -> list[Result]:
    """Put the whole corpus before the verifier; what was being judged as an interrupt came says nothing unless it is
    right.
    """
    listed = list(entries())
    results = (
        judged(entry) for number, entry in enumerate(listed) if reported("laws of the corpus", number, len(listed))
    )
    return [result for result in results if result.passed or going()]


def report(parts: Sequence[str] = PARTS) -> dict[str, Any]:
    """Return the scores as data: each part by family, and its totals flat; of what was tried until then, where whoever
    waits ended it.
    """
    started = time.perf_counter()
    data: dict[str, Any] = {"schema": SCHEMA, "disagreements": [], "failures": []}
    if "laws" in parts:
        results = laws()
        scores = data["laws"] = _scores(results)
        data["wrong_laws"] = {"total": scores["wrong"], "rejected": scores["rejected"]}
        data["valid_laws"] = {"total": scores["valid"], "accepted": scores["accepted"]}
        data["disagreements"] = [r.why for r in results if r.disagrees]
        data["failures"] = [f"{r.entry.family}: {r.why}" for r in results if not r.passed]
    if "certificates" in parts:
        forged = forgeries.score(CHANGED, BROKEN)
        data["certificates"] = {
            "good": {"total": forged.good, "accepted": forged.accepted},
            "forged": {
                "total": forged.forged,
                "refused": forged.refused,
                "shown_false": forged.false,
                "by_rule": dict(sorted(forged.by_rule.items())),
            },
        }
        data["failures"] += forged.failures
    if "kernels" in parts:
        found = score()
        data["kernels"] = {
            "mutants": found.mutants,
            "killed": found.killed,
            "by_family": {name: len(caught) for name, caught in found.by_family.items()},
        }
        data["looseness"] = dict(found.looseness)
        data["kernel_mutants"] = {"total": found.mutants, "caught": found.killed}
        data["failures"] += [f"{name} is broken and passes" for name in found.alive] + [
            f"{name} is right and is rejected" for name in found.wronged
        ]
    if not going():
        data["interrupted"] = True
    data["seconds"] = round(time.perf_counter() - started, 1)
    return data


def perfect(data: dict[str, Any]) -> bool:
    """Tell whether a report holds full scores."""
    return not data["failures"] and not data["disagreements"]


def told(data: dict[str, Any]) -> str:
    """Return a report for a terminal."""
    lines: list[str] = []
    if "laws" in data:
        families = data["laws"]["by_family"]
        width = max(map(len, families), default=0)
        lines.append(f"{'laws':{width}}  valid accepted  wrong rejected")
        for name, row in [*families.items(), ("all", data["laws"])]:
            lines.append(
                f"{name:{width}}  {_of(row['accepted'], row['valid']):>14}  {_of(row['rejected'], row['wrong']):>14}"
            )
    if "certificates" in data:
        good, forged = data["certificates"]["good"], data["certificates"]["forged"]
        width = max(map(len, forged["by_rule"]), default=0)
        lines.append(f"{'forged certificates':{width}}  refused, whatever the rule that is broken")
        lines += [f"{name:{width}}  {count}" for name, count in forged["by_rule"].items()]
        lines.append(
            f"{'all':{width}}  {_of(forged['refused'], forged['total'])}; the sides of {forged['shown_false']} differ"
            " by evaluation"
        )
        lines.append(f"good certificates accepted: {_of(good['accepted'], good['total'])}")
    if "kernels" in data:
        families = data["kernels"]["by_family"]
        width = max(map(len, families))
        lines.append(f"{'inputs':{width}}  broken kernels caught, beyond those that normal numbers catch")
        lines += [f"{name:{width}}  {caught}" for name, caught in families.items()]
        if loose := data["looseness"]:
            lines.append(
                f"right kernels: bound over error at most {max(loose.values()):g}"
                f" ({max(loose, key=loose.__getitem__)}), medians by family of inputs"
            )
        lines.append(f"{'all':{width}}  {_of(data['kernels']['killed'], data['kernels']['mutants'])}")
    so_far = "interrupted; of what was tried " if "interrupted" in data else ""
    said = f"{so_far}{'all as it should be' if perfect(data) else 'not all as it should be'}, in {data['seconds']} s"
    return "\n".join([*lines, *data["failures"], said])


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole}"


def _scores(results: Iterable[Result]) -> dict[str, Any]:
    families: dict[str, dict[str, int]] = {}
    total = dict.fromkeys(("valid", "accepted", "wrong", "rejected"), 0)
    for result in results:
        row = families.setdefault(result.entry.family, dict.fromkeys(total, 0))
        kind, won = ("valid", "accepted") if result.entry.expected == "valid" else ("wrong", "rejected")
        for counts in (row, total):
            counts[kind] += 1
            counts[won] += result.passed
    return {**total, "by_family": families}
