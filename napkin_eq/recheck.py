"""A certificate's evidence, shown again: the solvers answer the very scripts that its laws cite, and the scripts are made anew.

The checker shows that the steps follow from the laws; this shows what the laws rest on. Nothing of a certificate is run, and
only files below the folder of scripts are opened.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from napkin_eq.certificate import Data, stated
from napkin_eq.errors import NapkinError
from napkin_eq.law import REGISTRY
from napkin_eq.proving import files_of
from napkin_eq.question import sha256
from napkin_eq.smtfiles import rechecked, shipped

NAME = re.compile(r"[A-Za-z0-9_-]+(/[A-Za-z0-9_.-]+)*\.smt2\Z")


def by_solvers(data: Data, place: Path | None = None) -> dict[str, Any]:
    """Return what solvers say of the scripts that the laws of a checked certificate cite, as data.

    Each script, and each law, is "confirmed", "refuted" (a hash that differs, a solver that contradicts, a statement whose
    scripts are others), or "unknown" (a solver without an answer, a law that is not registered here).
    """
    place = place or shipped()
    cited = {file["name"]: file for law in data["laws"].values() for file in law["proof"]["files"]}
    files = [_file(cited[name], place) for name in sorted(cited, key=str)]
    laws = [_law(name, data["laws"][name]) for name in sorted(data["laws"])]
    counts = {verdict: sum(row["verdict"] == verdict for row in [*files, *laws]) for verdict in ("confirmed", "refuted", "unknown")}
    return {**counts, "files": files, "laws": laws}


def _file(cited: Data, place: Path) -> dict[str, Any]:
    name = cited["name"]
    if not isinstance(name, str) or not NAME.match(name) or ".." in name:
        return {"name": str(name)[:80], "verdict": "refuted", "detail": "is not the name of a script"}
    try:
        row = rechecked(place / name)["files"][0]
    except NapkinError as error:
        return {"name": name, "verdict": "refuted", "detail": str(error)}
    if (row["sha256"], row["status"]) != (cited["sha256"], cited["status"]):
        return {"name": name, "verdict": "refuted", "detail": "is not the script that the certificate cites"}
    return {"name": name, "verdict": row["verdict"], "answers": row["answers"], "detail": row["detail"]}


def _law(name: str, law: Data) -> dict[str, Any]:
    statement = REGISTRY.statements.get(name)
    if statement is None:
        return {"name": name, "verdict": "unknown", "detail": "is no law that is registered here, so its scripts were not made anew"}
    if stated(statement)["sha256"] != law["sha256"]:
        return {"name": name, "verdict": "refuted", "detail": "is not the law that is registered here under this name"}
    made = {(script.name, sha256(script.text)) for script in files_of([statement])}
    if strange := sorted(str(name) for name, _ in made ^ {(file["name"], file["sha256"]) for file in law["proof"]["files"]}):
        return {"name": name, "verdict": "refuted", "detail": f"its statement gives other scripts than it cites: {strange[0]}"}
    return {"name": name, "verdict": "confirmed", "detail": ""}


def told(report: dict[str, Any]) -> str:
    """Return a report of `by_solvers` for a terminal: what is not confirmed, then the counts."""
    open_ = [row for row in (*report["files"], *report["laws"]) if row["verdict"] != "confirmed"]
    lines = [f"{row['verdict']}: {row['name']} {row['detail'] or row.get('answers', '')}" for row in open_]
    counts = f"{report['confirmed']} confirmed, {report['refuted']} refuted, {report['unknown']} unknown"
    return "\n".join([*lines, f"solvers, on {len(report['files'])} scripts, and {len(report['laws'])} laws written out anew: {counts}"])
