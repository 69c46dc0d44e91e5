"""The Rocq proof of the core theorem, proofs/rocq/Fold.v: compiled by coqc, then checked by the separate kernel coqchk.

`python -m napkin_eq.rocq` does so; status 0 proved, 1 refused, 3 where Rocq (Debian's package coq) is not installed.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from napkin_eq.content import folder
from napkin_eq.errors import FAILED, NapkinError, Undecided

TIMEOUT_S = 600
# What Rocq's library of real numbers rests on, and nothing else may be assumed.
AXIOMS = {"sig_forall_dec", "sig_not_dec", "functional_extensionality_dep", "classic"}
SAFE = ("relying on type-in-type", "relying on unsafe (co)fixpoints", "whose positivity is assumed")


class ProofRefused(NapkinError):
    """The kernel does not accept the proof. Exit status 1."""

    exit_code = FAILED


def source() -> Path:
    """Return the file of the theorem and its proof."""
    return folder("proofs") / "rocq" / "Fold.v"


def checked(file: Path | None = None, twice: bool = True) -> dict[str, Any]:
    """Return what Rocq says of the proof: its file's hash, the tools that accept it, the axioms that it rests on.

    twice: after coqc, coqchk checks what was compiled, library and all (about 40 s). Raises ProofRefused, or Undecided where Rocq is missing.
    """
    file = file or source()
    text = file.read_bytes()
    tools = ("coqc", "coqchk") if twice else ("coqc",)
    if missing := [tool for tool in tools if shutil.which(tool) is None]:
        raise Undecided(f"rocq: {missing[0]} is not installed, so the proof was not checked; apt-get install coq")
    with tempfile.TemporaryDirectory(prefix="napkin-rocq-") as place:
        shutil.copy(file, Path(place) / "Fold.v")
        axioms = _axioms(_said(["coqc", "-q", "Fold.v"], place))
        if twice:
            _accept(_said(["coqchk", "-silent", "-o", "Fold"], place))
    return {"file": "rocq/Fold.v", "sha256": hashlib.sha256(text).hexdigest(), "tools": list(tools), "axioms": sorted(axioms)}


def _said(command: list[str], place: str) -> str:
    try:
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        raise Undecided(f"rocq: {command[0]} gave no answer in {TIMEOUT_S} s") from None
    if done.returncode:
        raise ProofRefused(f"rocq: {command[0]} refuses the proof: {' '.join((done.stderr or done.stdout).split())[:200]}")
    return done.stdout + done.stderr


def _axioms(said: str) -> set[str]:
    """Return the axioms that coqc lists; raise ProofRefused for one that is not among those of the real numbers."""
    if "Axioms:" not in said and "Closed under the global context" not in said:
        raise ProofRefused("rocq: the proof does not print what it rests on")
    found = {name.rpartition(".")[2] for name in re.findall(r"^([\w.]+)\s*:", said.partition("Axioms:")[2], re.MULTILINE)}
    if strange := sorted(found - AXIOMS):
        raise ProofRefused(f"rocq: the proof assumes {strange[0]}, which is no axiom of the real numbers")
    return found


def _accept(summary: str) -> None:
    listed = {part.partition(":")[0].strip(): part.partition(":")[2].split() for part in summary.split("* ")[1:]}
    strange = [name for name in listed.get("Axioms", []) if name.rpartition(".")[2] not in AXIOMS]
    unsafe = [what for what, names in listed.items() if what.endswith(SAFE) and names != ["<none>"]]
    if strange or unsafe or "Axioms" not in listed:
        raise ProofRefused(f"rocq: coqchk finds what is not allowed: {', '.join(strange + unsafe) or 'no list of axioms'}")


def main() -> int:
    """Check the proof and say what was found."""
    try:
        found = checked()
    except NapkinError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(f"proved: {found['file']}, accepted by {' and '.join(found['tools'])}; axioms: {', '.join(found['axioms'])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
