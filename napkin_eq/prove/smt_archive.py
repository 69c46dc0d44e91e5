"""The folder of SMT-LIB scripts, proofs/smt2: written anew from the laws, and read back to have every solver answer
every file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from napkin_eq.lang.errors import NapkinError, read_text
from napkin_eq.laws.loader import folder
from napkin_eq.prove.portfolio import OPINION_TIMEOUT_S, SolversDisagree, answers, solver_versions
from napkin_eq.prove.query import Script, sha256

MAX_BYTES = 1 << 20
STATUS = re.compile(r"\(set-info :status (unsat|sat)\)")
# A script is data: nothing in it may open a file, leave early or ask twice.
COMMANDS = ("set-logic", "set-info", "declare-const", "define-fun", "assert", "check-sat")


def shipped() -> Path:
    """Return the folder that the shipped laws' scripts are kept in."""
    return folder("proofs") / "smt2"


def write(place: Path, scripts: Iterable[Script], whole: bool) -> int:
    """Write scripts into a folder and return their number; `whole` removes every other script there.

    Raises NapkinError for a folder that cannot be written.
    """
    wanted = {place / script.name: script.text for script in scripts}
    try:
        for file in sorted(place.rglob("*.smt2")) if whole else []:
            if file not in wanted:
                file.unlink()
        for file, text in wanted.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise NapkinError(f"scripts: {place} cannot be written: {error.strerror or error}") from None
    return len(wanted)


def rechecked(place: Path, second_s: float = OPINION_TIMEOUT_S) -> dict[str, Any]:
    """Have every solver answer every script below a folder, or one script, and compare with the status it claims.

    second_s: how long solvers other than the first may take for one.
    Each file is "confirmed" if every solver agrees with its status, "refuted" if one does not, else "unknown".
    Raises NapkinError where there is no script, or one that claims no status.
    """
    files = sorted(place.rglob("*.smt2")) if place.is_dir() else [place]
    if not files:
        raise NapkinError(f"scripts: no .smt2 file below {str(place)!r}; napkin-eq prove --write DIR makes them")
    rows = [_row(file, file.relative_to(place).as_posix() if place.is_dir() else file.name, second_s) for file in files]
    counts = {
        verdict: sum(row["verdict"] == verdict for row in rows) for verdict in ("confirmed", "refuted", "unknown")
    }
    return {"schema": 1, **counts, "solvers": solver_versions(), "files": rows}


def _row(file: Path, name: str, second_s: float) -> dict[str, Any]:
    text = read_text(file, "scripts", MAX_BYTES)
    status = _claimed(file, text)
    try:
        said, detail = answers(text, second_s=second_s), ""
    except SolversDisagree as error:
        said, detail = {}, str(error)
    definite = [answer for answer in said.values() if answer in ("sat", "unsat")]
    lies = detail or any(answer != status for answer in definite)
    verdict = "refuted" if lies else "confirmed" if len(definite) == len(said) else "unknown"
    return {
        "name": name,
        "sha256": sha256(text),
        "status": status,
        "verdict": verdict,
        "answers": said,
        "detail": detail,
    }


def _claimed(file: Path, text: str) -> str:
    """Return the status that a script claims; raises NapkinError for a script that does more than ask one question."""
    bare = re.sub(r";[^\n]*", "", text)
    depth, heads = 0, list[str | None]()
    for token in re.findall(r'[()"|]|[^\s()"|]+', bare):
        if token in '"|':
            raise NapkinError(f"scripts: {file} holds a quoted name or text; expected plain names only")
        if depth == 1 and heads[-1] is None:
            heads[-1] = token
        if token == "(" and depth == 0:
            heads.append(None)
        depth += {"(": 1, ")": -1}.get(token, 0)
    if strange := [head for head in heads if head not in COMMANDS]:
        raise NapkinError(f"scripts: {file} holds the command {strange[0]!r:.40}; expected only {', '.join(COMMANDS)}")
    claimed = STATUS.findall(bare)
    if depth != 0 or len(claimed) != 1 or heads.count("check-sat") != 1 or heads[-1] != "check-sat":
        raise NapkinError(
            f"scripts: {file} must claim one status, (set-info :status sat) or unsat, and end with one (check-sat)"
        )
    return str(claimed[0])
