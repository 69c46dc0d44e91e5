"""A certificate's evidence, shown again: solvers answer the scripts that it cites, and its laws' scripts are written
anew.

The checker shows that the steps follow from the laws; this shows what the laws rest on, and what was proved of the
kernels' coordinates. Nothing of a certificate is run, and only scripts and the kernel, found beside it or shipped, are
opened.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from pathlib import Path
from typing import Any

from napkin_eq.certify.asked import items, same
from napkin_eq.certify.certificate import Data, dumps, ends, loads, restated, stated, with_evidence
from napkin_eq.certify.check import check
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.laws.law import REGISTRY
from napkin_eq.prove.portfolio import SECOND_S
from napkin_eq.prove.prove import files_of, prove
from napkin_eq.prove.query import sha256
from napkin_eq.prove.smt_archive import rechecked, shipped
from napkin_eq.prove.verdict import Verdict

NAME = re.compile(r"[A-Za-z0-9_-]+(/[A-Za-z0-9_.-]+)*\.(smt2|py)\Z")
VERDICTS, GRADES = ("confirmed", "refuted", "unknown"), "ABCD-"


def by_solvers(data: Data, beside: Path, place: Path | None = None) -> dict[str, Any]:
    """Return what is found of a checked certificate's evidence, as data: a row for each script, law, coordinate
    question, and the kernel.

    beside: the certificate's folder, with the kernel and `index/`. place: the folder of the laws' scripts. A row is
    "confirmed", "refuted" (another hash, a solver that contradicts, a law whose statement gives other scripts), or
    "unknown" (a solver without an answer, a law that is not registered here). Raises NapkinError for evidence that is
    not of the form written.
    """
    try:
        cited = {file["name"]: file for law in data["laws"].values() for file in law["proof"]["files"]}
        rows = [_script(cited[name], place or shipped()) for name in sorted(cited, key=str)]
        rows += [_law(name, data["laws"][name]) for name in sorted(data["laws"])]
        rows += _coordinates(data["evidence"].get("index", {"queries": []}), beside / "index")
        rows += [_kernel(kernel, beside) for kernel in data["evidence"].get("kernels", [])]
    except (KeyError, TypeError, AttributeError) as error:
        raise NapkinError(
            f"certificate: its evidence is not of the form that is written: {type(error).__name__}: {error}"
        ) from None
    return {**{verdict: sum(row["verdict"] == verdict for row in rows) for verdict in VERDICTS}, "rows": rows}


def about(data: Data, diagram: Diagram) -> str:
    """Return why a checked certificate is not about a diagram's outputs, in their order or that of its names; nothing
    if it is.
    """
    asked, evidence = dict(diagram.outputs), data["evidence"]
    named = evidence.get("outputs") if isinstance(evidence, dict) else None
    order = named if isinstance(named, list) and sorted(map(str, named)) == sorted(asked) else list(asked)
    try:
        claimed = items(ends(data)[0])
    except NapkinError as error:
        return f"its theorem is not of a diagram: {error}"
    right = same([asked[name] for name in order], claimed)
    return "" if right else f"its theorem is not about the outputs {', '.join(order)} of diagram {diagram.name}"


def _found(what: str, name: object, verdict: str, detail: str = "") -> dict[str, Any]:
    return {"what": what, "name": f"{name!s:.120}", "verdict": verdict, "detail": detail}


def _script(cited: Data, place: Path) -> dict[str, Any]:
    name = cited["name"]
    if not isinstance(name, str) or not NAME.match(name) or ".." in name:
        return _found("script", name, "refuted", "is not the name of a script")
    try:
        return _compared("script", name, cited, rechecked(place / name)["files"][0])
    except NapkinError as error:
        return _found("script", name, "refuted", str(error))


def _compared(what: str, name: str, cited: Data, now: dict[str, Any]) -> dict[str, Any]:
    """Compare what was cited of a script with what is found now: a solver that had an answer must have it again."""
    if (now["sha256"], now["status"]) != (cited["sha256"], cited.get("status", "unsat")):
        return _found(what, name, "refuted", "is not the script that the certificate cites")
    if now["verdict"] == "refuted":
        return _found(what, name, "refuted", now["detail"] or f"claims {now['status']}, but {now['answers']}")
    silent = [
        solver for solver, answer in cited["answers"].items() if answer == now["status"] != now["answers"].get(solver)
    ]
    return _found(
        what, name, "unknown" if silent else "confirmed", f"no answer from {', '.join(silent)}" if silent else ""
    )


def proved_again(laws: Data) -> list[dict[str, Any]]:
    """Return a row for each law of a checked certificate that is not registered here as it stands there: it is proved
    as it stands there.

    "refuted" if it is false, or needs lanes that it does not name; "unknown" if its grade is not reached here. Which
    lanes a law needs is no part of its hash: of those that are registered there is a row for each that names too few.
    """
    known = REGISTRY.statements
    strange = [
        name for name in sorted(laws) if name not in known or stated(known[name])["sha256"] != laws[name]["sha256"]
    ]
    verdicts = prove([known[name] for name in sorted(laws) if name not in strange])
    found = [_lanes(verdict.name, laws[verdict.name], verdict) for verdict in verdicts]
    return [*(_proved_again(name, laws[name]) for name in strange), *(row for row in found if row is not None)]


def _proved_again(name: str, law: Data) -> dict[str, Any]:
    try:
        statement = restated(name, law)
        again = stated(statement)
        # Behind them stands what only floating point asks
        there = {**law, "nodes": law["nodes"][: len(again["nodes"])]}
        (verdict,) = prove([statement])
    except NapkinError as error:
        return _found("law", name, "unknown", f"is not understood here: {error}")
    if verdict.status == "refuted":
        return _found("law", name, "refuted", f"is false: {verdict.detail}")
    if any(again[part] != there[part] for part in ("nodes", "conclusion", "premises")):
        return _found("law", name, "unknown", "is not read back as it stands there")
    return _lanes_and_grade(name, law, verdict) or _found("law", name, "confirmed")


def _lanes(name: str, law: Data, verdict: Verdict) -> dict[str, Any] | None:
    if missing := sorted({*verdict.lanes} - {*law["proof"]["lanes"]}):
        return _found("law", name, "refuted", f"needs lanes along {', '.join(missing)}, which it does not say there")
    if verdict.status != "proved" and law["proof"]["grade"] != "D":
        return _found("law", name, "unknown", "is not proved here, so which lanes it needs is not known")
    return None


def _lanes_and_grade(name: str, law: Data, verdict: Verdict) -> dict[str, Any] | None:
    if found := _lanes(name, law, verdict):
        return found
    here, there = verdict.grade, law["proof"]["grade"]
    if GRADES.index(here) > GRADES.index(there):
        return _found("law", name, "unknown", f"is graded {there} there, {here} here")
    return None


def _law(name: str, law: Data) -> dict[str, Any]:
    statement = REGISTRY.statements.get(name)
    if statement is None:
        return _proved_again(name, law)
    if stated(statement)["sha256"] != law["sha256"]:
        return _found("law", name, "refuted", "is not the law that is registered here under this name")
    made = {(script.name, sha256(script.text)) for script in files_of([statement])}
    verdict = prove([statement])[0]
    if found := _lanes_and_grade(name, law, verdict):
        return found
    if strange := sorted(
        str(other) for other, _ in made ^ {(file["name"], file["sha256"]) for file in law["proof"]["files"]}
    ):
        return _found("law", name, "refuted", f"its statement gives other scripts than it cites: {strange[0]}")
    return _found("law", name, "confirmed")


def _coordinates(report: Data, place: Path) -> list[dict[str, Any]]:
    queries = report["queries"]
    scripts = {row["sha256"]: row for row in rechecked(place, SECOND_S)["files"]} if queries and place.is_dir() else {}
    rows = []
    for query in queries:
        name = f"{query['kernel']}, {query['kind']}: {query['about']}"
        if query["sha256"] in scripts:
            rows.append(_compared("coordinate", name, query, scripts[query["sha256"]]))
        else:
            rows.append(
                _found("coordinate", name, "unknown", f"its script is not below {place.name}/ beside the certificate")
            )
    return rows


def _kernel(cited: Data, place: Path) -> dict[str, Any]:
    name = cited["file"]
    if not isinstance(name, str) or not NAME.match(name) or ".." in name:
        return _found("kernel", name, "refuted", "is not the name of a kernel's file")
    if not (place / name).is_file():
        return _found("kernel", name, "unknown", "is not beside the certificate")
    same = hashlib.sha256((place / name).read_bytes()).hexdigest() == cited["sha256"]
    return _found(
        "kernel",
        name,
        "confirmed" if same else "refuted",
        "" if same else "is not the file that the certificate was written for",
    )


def with_numeric(file: Path, report: Data) -> None:
    """Add the report of a validation to the evidence of a certificate's file; raises NapkinError for one of another
    diagram or GPU.
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        raise NapkinError(f"certificate {file}: cannot be read: {error.strerror or error}") from None
    result, evidence = check(content), loads(content)["evidence"]
    if result["status"] != "ok" or not isinstance(evidence, dict):
        raise NapkinError(
            f"certificate {file}: is refused, so nothing is added to it:"
            f" {result.get('problem', 'its evidence has no form')}"
        )
    if strange := [name for name in ("diagram", "hardware") if evidence.get(name) != report[name]]:
        raise NapkinError(
            f"certificate {file}: its {strange[0]} is {evidence.get(strange[0])!r:.80}, what was run is"
            f" {report[strange[0]]!r:.80}"
        )
    data = with_evidence(loads(content), numeric=[*evidence.get("numeric", []), report])
    file.write_text(dumps(data), encoding="utf-8")


def told(report: dict[str, Any]) -> str:
    """Return a report of `by_solvers` for a terminal: what is not confirmed, then the counts."""
    lines = [
        f"{row['verdict']}: {row['what']} {row['name']}: {row['detail']}"
        for row in report["rows"]
        if row["verdict"] != "confirmed"
    ]
    counts = ", ".join(
        f"{kind} {count}" for kind, count in Counter(f"{row['what']}s" for row in report["rows"]).items()
    )
    return "\n".join(
        [
            *lines,
            (
                f"evidence: {counts}; {report['confirmed']} confirmed, {report['refuted']} refuted, {report['unknown']}"
                " unknown"
            ),
        ]
    )
