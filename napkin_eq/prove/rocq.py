"""Proofs for Rocq's kernel, in proofs/rocq: compiled by coqc, then checked by the separate kernel coqchk.

    Fold.v      the core theorem, for every rescaling, over the real numbers
    Values.v    the values of the language, its operators, reductions and streams, and lemmas on them
    Laws.v      the laws as theorems about these, written from their statements by `napkin-eq prove --write
                proofs/rocq/Laws.v`
    Language.v  the terms, and their meaning in frames: axes read in part, accumulators, what stood before
    Terms.v     what the checker reads off a term; Frames.v: what that guarantees
    Checker.v   the checker of certificates, and which theorems it speaks of; Sound.v: what it accepts is true
    DeepLaws.v  the laws over these terms, each true in frames, written like Laws.v; Deep.v: the tactics
    Accepted.v  a certificate that the checker accepts and whose laws stand in DeepLaws.v assumes nothing

A law whose theorem stands in Laws.v, word for word, cites it if coqc accepts the file; that is remembered. `python -m
napkin_eq.prove.rocq` asks both kernels anew; status 0 proved, 1 refused, 3 where Rocq (Debian's package coq) is not
installed.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from napkin_eq.lang.errors import FAILED, NapkinError, Undecided
from napkin_eq.laws.claim import NotUnderstood
from napkin_eq.laws.law import Statement
from napkin_eq.laws.loader import folder
from napkin_eq.prove import cache as memory
from napkin_eq.prove.portfolio import load_provers
from napkin_eq.prove.watch import reported

TIMEOUT_S, SCHEMA = 600, 1
FILES = tuple(
    f"{name}.v" for name in "Fold Values Laws Language Terms Frames Checker Sound Deep DeepLaws Accepted".split()
)
# Files of what others use, which print no axioms: those that use them do.
LIBRARIES = ("Values.v", "Language.v", "Terms.v", "Frames.v", "Checker.v", "Deep.v")
CITED = ("Values.v", "Laws.v")
THEOREM = re.compile(r"^Theorem (\w+)", re.MULTILINE)
LEMMA = re.compile(r"^Lemma (\w+)_true :", re.MULTILINE)
# What Rocq's library of real numbers rests on, and nothing else may be assumed.
AXIOMS = {"sig_forall_dec", "sig_not_dec", "functional_extensionality_dep", "classic"}
SAFE = ("relying on type-in-type", "relying on unsafe (co)fixpoints", "whose positivity is assumed")


class ProofRefused(NapkinError):
    """The kernel does not accept the proof. Exit status 1."""

    exit_code = FAILED


Formaliser = Callable[[Statement], str]
_FORMALISERS: list[Formaliser] = []
_EMBEDDERS: list[Formaliser] = []
HEAD = """(* Laws as theorems over Values.v, written from their statements by `napkin-eq prove --write`:
   change nothing here. *)

Require Import Reals List Lra Values.
Import ListNotations.
Open Scope R_scope.
"""
DEEP_HEAD = """(* Laws over embedded terms, each true in frames, written from their statements by
   `napkin-eq prove --write`:
   change nothing here. *)

Require Import Reals List Lia Lra Bool Arith ZArith QArith Qreals FunctionalExtensionality.
Require Import Values Language Terms Frames Checker Deep.
Require Laws.
Import ListNotations.
Open Scope nat_scope.

Section All.
Variable g : context.
Variable m : model.
Hypothesis good : possible m.
Notation true_law := (true_law g m).
"""


def formaliser(function: Formaliser) -> Formaliser:
    """Register the decorated function as the one that states a law as a theorem of Rocq, with its proof, or raises
    NotUnderstood.
    """
    _FORMALISERS[:] = [function]
    return function


def embedder(function: Formaliser) -> Formaliser:
    """Register the decorated function as the one that states and proves a law over embedded terms, or raises
    NotUnderstood.
    """
    _EMBEDDERS[:] = [function]
    return function


def embedded(statements: Iterable[Statement]) -> str:
    """Return the text of a file with those statements whose truth in frames can be shown; no proof is tried."""
    load_provers()
    found = [text for statement in statements if (text := _stated(_EMBEDDERS, statement))]
    names = [name for text in found for name in LEMMA.findall(text)]
    each = "".join(f"\n  (Forall_cons _ {name}_true" for name in names)
    listed = f"Definition all : list law := [{'; '.join(f'{name}_law' for name in names)}]."
    proof = f"Proof. apply Forall_forall. exact{each} (Forall_nil _){')' * len(names)}. Qed."
    whole = f"{listed}\nTheorem all_true : forall l, In l all -> true_law l.\n{proof}\nEnd All."
    return "\n".join([DEEP_HEAD, *found, whole, "Print Assumptions all_true.\n"])


def written(statements: Iterable[Statement]) -> str:
    """Return the text of a file with the theorems of those statements that can be stated, and what they rest on; no
    proof is tried.
    """
    theorems = [text for statement in statements if (text := _theorem(statement))]
    names = ", ".join(f"@{name}" for text in theorems for name in THEOREM.findall(text))
    return "\n".join([HEAD, *theorems, f"Definition laws := ({names}).\nPrint Assumptions laws.\n"])


def write(file: Path, statements: Iterable[Statement]) -> int:
    """Write the theorems of statements to a file and return their number; raises NapkinError where none can be stated,
    or written.
    """
    text = embedded(statements) if file.name.startswith("Deep") else written(statements)
    if not (number := len((LEMMA if file.name.startswith("Deep") else THEOREM).findall(text))):
        raise NapkinError("rocq: none of these laws has words in Rocq; napkin-eq laws lists those that ship")
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise NapkinError(f"rocq: {file} cannot be written: {error.strerror or error}") from None
    return number


def is_theorem(statement: Statement) -> bool:
    """Tell whether a statement can be stated over Values.v: it is then a theorem of Laws.v."""
    return bool(_theorem(statement))


def _theorem(statement: Statement) -> str:
    load_provers()
    return _stated(_FORMALISERS, statement)


def _stated(printers: list[Formaliser], statement: Statement) -> str:
    try:
        return printers[0](statement)
    except NotUnderstood:
        return ""


def cited(statement: Statement) -> dict[str, str]:
    """Return the files, by name with their sha256, in which a statement is a theorem that coqc accepts; none if it is
    not, or Rocq is missing.
    """
    theorem = _theorem(statement)
    stands = theorem and theorem in source("Laws.v").read_text(encoding="utf-8")
    return hashes() if stands and _accepted() else {}


def hashes() -> dict[str, str]:
    """Return by name the sha256 of the files that a law cites."""
    return {
        f"rocq/{file.name}": hashlib.sha256(file.read_bytes()).hexdigest() for file in sources() if file.name in CITED
    }


def version() -> str:
    """Return what the citations depend on besides a statement: the files, and the compiler that is installed."""
    tool = shutil.which("coqc")
    return f"{hashes()} {tool and (tool, Path(tool).stat().st_mtime_ns)}"


@cache
def _accepted() -> bool:
    known, key = memory.recalled("rocq", SCHEMA), hashlib.sha256(version().encode()).hexdigest()
    if isinstance(known.get(key), bool):
        return bool(known[key])
    reported("theorems that laws cite, by Rocq")
    try:
        checked([file for file in sources() if file.name in CITED], twice=False)
    except Undecided:
        return False
    except ProofRefused:
        found = False
    else:
        found = True
    memory.kept("rocq", SCHEMA, {**known, key: found})
    return found


def again(laws: dict[str, Any], statements: dict[str, Statement]) -> dict[str, Any]:
    """Return what both kernels say of the laws of a checked certificate that cite theorems; raises ProofRefused or
    Undecided.

    laws: those of the certificate, by name; statements: what is registered here, which the theorems must be those of.
    """
    citing = [name for name in sorted(laws) if laws[name]["proof"]["kernel"]]
    text = source("Laws.v").read_text(encoding="utf-8")
    for name in citing:
        if name not in statements:
            raise Undecided(f"rocq: {name} is no law that is registered here, so its theorem was not written anew")
        theorem = _theorem(statements[name])
        if laws[name]["proof"]["kernel"] != hashes() or not theorem or theorem not in text:
            raise ProofRefused(f"rocq: {name} cites a theorem that does not stand in the files here")
    return {**checked(), "laws": citing}


def source(name: str) -> Path:
    """Return a shipped file of theorems and proofs."""
    return folder("proofs") / "rocq" / name


def sources() -> list[Path]:
    """Return the shipped files of theorems and proofs, those that others need first."""
    return [source(name) for name in FILES]


def checked(files: Sequence[Path] = (), twice: bool = True) -> dict[str, Any]:
    """Return what Rocq says of proofs, of the shipped ones if none are named: their hashes, the tools that accept them,
    the axioms they rest on.

    twice: after coqc, coqchk checks what was compiled, library and all (about a minute). Raises ProofRefused, or
    Undecided where Rocq is missing.
    """
    tools = ("coqc", "coqchk") if twice else ("coqc",)
    if missing := [tool for tool in tools if shutil.which(tool) is None]:
        raise Undecided(f"rocq: {missing[0]} is not installed, so the proof was not checked; apt-get install coq")
    axioms: set[str] = set()
    with tempfile.TemporaryDirectory(prefix="napkin-rocq-") as place:
        for file in files or sources():
            shutil.copy(file, Path(place) / file.name)
            said = _said(["coqc", "-q", file.name], place)
            axioms |= _axioms(said) if file.name not in LIBRARIES else set()
        if twice:
            _accept(_said(["coqchk", "-silent", "-o", *(file.stem for file in files or sources())], place))
    found = {f"rocq/{file.name}": hashlib.sha256(file.read_bytes()).hexdigest() for file in files or sources()}
    return {"files": found, "tools": list(tools), "axioms": sorted(axioms)}


def _said(command: list[str], place: str) -> str:
    try:
        # In a session of its own: an interrupt at the keyboard is for this process, and would look like a proof that is
        # refused.
        done = subprocess.run(
            command, cwd=place, capture_output=True, text=True, timeout=TIMEOUT_S, check=False, start_new_session=True
        )
    except subprocess.TimeoutExpired:
        raise Undecided(f"rocq: {command[0]} gave no answer in {TIMEOUT_S} s") from None
    if done.returncode < 0:
        raise Undecided(f"rocq: {command[0]} was ended by signal {-done.returncode}")
    if done.returncode:
        raise ProofRefused(
            f"rocq: {command[0]} refuses the proof: {' '.join((done.stderr or done.stdout).split())[:200]}"
        )
    return done.stdout + done.stderr


def _axioms(said: str) -> set[str]:
    """Return the axioms that coqc lists; raise ProofRefused for one that is not among those of the real numbers."""
    if "Axioms:" not in said and "Closed under the global context" not in said:
        raise ProofRefused("rocq: the proof does not print what it rests on")
    found = {
        name.rpartition(".")[2] for name in re.findall(r"^([\w.]+)\s*:", said.partition("Axioms:")[2], re.MULTILINE)
    }
    if strange := sorted(found - AXIOMS):
        raise ProofRefused(f"rocq: the proof assumes {strange[0]}, which is no axiom of the real numbers")
    return found


def _accept(summary: str) -> None:
    listed = {part.partition(":")[0].strip(): part.partition(":")[2].split() for part in summary.split("* ")[1:]}
    strange = [name for name in listed.get("Axioms", []) if name.rpartition(".")[2] not in AXIOMS]
    unsafe = [what for what, names in listed.items() if what.endswith(SAFE) and names != ["<none>"]]
    if strange or unsafe or "Axioms" not in listed:
        raise ProofRefused(
            f"rocq: coqchk finds what is not allowed: {', '.join(strange + unsafe) or 'no list of axioms'}"
        )


def main() -> int:
    """Check the proof and say what was found."""
    try:
        found = checked()
    except NapkinError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(
        f"proved: {', '.join(found['files'])}, accepted by {' and '.join(found['tools'])}; axioms:"
        f" {', '.join(found['axioms'])}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
