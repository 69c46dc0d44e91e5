"""The floating-point verdict of a law, beside the one over the reals: exact, reassociating with its growth of error, or
unsafe.

    exact           both sides give the same number, whatever it is, in float16 and in bfloat16; the sign of a zero is
                    not looked at, because no operator of the language tells it apart
    reassociating   the side that a rewrite gives is off by no more than GROWTH times the bound on the side that it
                    replaces (every operator and every input off by one roundoff), for inputs of ordinary size
                    where inputs are that exact, and a difference is off by its own roundoff alone, it *may cancel*:
                    inputs are shown at which the new side is off by more than GROWTH times as much as the old one
    unsafe          it is not, for some inputs of ordinary size or extreme ones; within the range that the law names, it
                    is

A law claims one of these; the assessors, in `proofs/`, decide whether it is so, and the verdict says how: *decided*,
bit by bit;
*proved*, by error analysis to first order, of the bounds that know no cancellation (proofs/analysis.py); or *sampled*,
of the bounds for given data (napkin_eq/numerics/error_bound.py). What is proved is sampled too, so that one refutes
where the other errs. That a law is unsafe is shown by inputs; that its range is enough is sampled. Verdicts are
remembered between runs.
"""

from __future__ import annotations

import hashlib
import math
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cache
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from typing import Any

from napkin_eq.lang.errors import LawRefused, NapkinError, Undecided
from napkin_eq.lang.operators import PLACES
from napkin_eq.lang.term import Const, Map, Reduce, Term, subterms
from napkin_eq.laws.claim import NotUnderstood, plain
from napkin_eq.laws.law import FLOATING, Law, Statement
from napkin_eq.laws.loader import folder, run_file
from napkin_eq.prove import cache as memory
from napkin_eq.prove.watch import Watch, going, watched

SCHEMA = 4
GROWTH = 64.0
ASSESSORS = ("floating", "growth", "analysis")
HOW = ("decided", "proved", "sampled", "")
STATUSES = ("granted", "refused", "unknown")
THREADED = {"cvc5", "egglog", "torch", "triton", "z3"}
MANY, MOST_SECONDS = 8, 600.0  # laws for which a process is worth its start; the longest that it is waited for


@dataclass(frozen=True, slots=True)
class Finding:
    """What an assessor found: whether its question has the answer yes, no or unknown, a growth of error, a witness, and
    in which range it holds.
    """

    answer: str
    detail: str = ""
    growth: float = 0.0
    needs: str = ""


@dataclass(frozen=True, slots=True)
class Floating:
    """The floating-point verdict of a law: the class found, and whether the claim is granted, refused, or undecided.

    detail: how it was decided, what range it needs, or why the claim is refused; witness: inputs at which an unsafe law
    loses its digits; how: one of HOW, the last where nothing is granted. A growth is that proved, if it is, else the
    largest sampled; needs: the range in which it is proved; cancels: inputs at which the new side loses digits by
    cancellation that the old side, of the very same inputs, keeps; "" where none were found.
    """

    found: str
    status: str
    growth: float
    detail: str
    witness: str = ""
    how: str = ""
    needs: str = ""
    cancels: str = ""

    def __str__(self) -> str:
        # Rounded up: the last digits of a sampled growth are those of a machine's exponential.
        grown = (
            f" ×{max(1, math.ceil(self.growth - 0.01))}, {self.how}{self.needs and f', {self.needs}'}"
            if self.found == "reassociating"
            else ""
        )
        if self.status == "granted":
            return (
                f"unsafe: {self.detail}"
                if self.found == "unsafe"
                else f"{self.found}{grown}{self.cancels and ', may cancel'}"
            )
        return f"{self.found}, claim {self.status}: {'; '.join(filter(None, (self.detail, self.witness)))}"



def noted(statements: Iterable[Statement], report: dict[str, Any]) -> None:
    """Add to each row of a report on proofs the floating-point verdict of its law, if it is one and true; count the
    claims that do not hold.
    """
    pairs = [
        (s, row)
        for s, row in zip(statements, report["laws"], strict=True)
        if isinstance(s, Law) and row["verdict"] == "proved"
    ]
    for (law, row), verdict in zip(pairs, assess(law for law, _ in pairs), strict=True):
        row["floating_point"] = verdict.found
        row["floating"] = {"claimed": law.floating, **asdict(verdict), "told": str(verdict)}
    statuses = [row["floating"]["status"] for _, row in pairs]
    report["floating"] = {status: statuses.count(status) for status in STATUSES}


@contextmanager
def assessed_beside(statements: Iterable[Statement]) -> Iterator[None]:
    """While the block runs, let a process of its own assess the laws whose verdict is not remembered; at its end what
    that found is.

    Nothing is begun for a few laws, on one processor, or where this process has loaded what may have threads, which do
    not survive a fork.
    """
    child, known = None, _remembered()
    waiting = [s for s in statements if isinstance(s, Law) and _key(s) not in known]
    if (
        len(waiting) >= MANY
        and (os.cpu_count() or 1) > 1
        and "fork" in get_all_start_methods()
        and not THREADED & sys.modules.keys()
    ):
        child = get_context("fork").Process(target=_assess_quietly, args=(waiting,), daemon=True)
        child.start()
    try:
        yield
        if child is not None and going():
            child.join(MOST_SECONDS)
    finally:
        if child is not None and child.is_alive():
            child.terminate()


def _assess_quietly(laws: Sequence[Law]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with suppress(Exception), watched(Watch()):  # what fails here is asked again, and said, by the process that waits
        assess(laws)


def require_granted(statements: Iterable[Statement]) -> None:
    """Raise LawRefused for the first law whose floating-point claim is refused, else Undecided for one that is not
    settled.
    """
    laws = [s for s in statements if isinstance(s, Law)]
    pairs = list(zip(laws, assess(laws), strict=True))
    for error, status in ((LawRefused, "refused"), (Undecided, "unknown")):
        for law, verdict in pairs:
            if verdict.status == status:
                raise error(f"law {law.name} at {law.place} claims to be {law.floating} in floating point: {verdict}")


Assessor = Callable[[Law], Finding]
_ASSESSORS: dict[str, Assessor] = {}


def assessor(question: str) -> Callable[[Assessor], Assessor]:
    """Register the decorated function as the one that answers a question: "exact", "ordinary", "cancellation",
    "outside" or "within" (its range).
    """

    def register(function: Assessor) -> Assessor:
        _ASSESSORS[question] = function
        return function

    return register


def assess(laws: Iterable[Law], use_cache: bool = True) -> list[Floating]:
    """Return the floating-point verdict of each law, in order."""
    found, fresh = memory.decided(
        laws, _key, _assessed, _remembered() if use_cache else {}, "laws judged in floating point"
    )
    if fresh and use_cache:
        _remember(fresh)
    return found


def _assessed(law: Law) -> Floating:
    if not going():
        return Floating(law.floating, "unknown", 0.0, "interrupted")
    _load()
    try:
        if law.floating != "exact" and _places(law.lhs) != _places(law.rhs):
            raise NotUnderstood(
                "which lane is the largest is another where rounding makes two of them equal, and no analysis of that"
                " is stated"
            )
        return {"exact": _exact, "reassociating": _reassociating, "unsafe": _unsafe}[law.floating](law)
    except NapkinError as error:
        return Floating(law.floating, "unknown", 0.0, str(error))


def _places(side: Term) -> set[Term]:
    """Return the places of maxima that a side of a law speaks of, folds as what they reduce; without those of values
    that are chosen among constants and lanes, in which nothing is rounded.
    """
    found = {t for t in subterms(plain(side)) if isinstance(t, Reduce) and t.monoid in PLACES}
    return {t for t in found if any(map(_may_round, subterms(t.body)))}


def _may_round(term: Term) -> bool:
    exact = isinstance(term, Const) or (isinstance(term, Map) and term.op in ("where", "real"))
    return term.kind == "real" and not exact


def _exact(law: Law) -> Floating:
    bits = _ASSESSORS["exact"](law)
    if bits.answer == "yes":
        return Floating("exact", "granted", 1.0, bits.detail, how="decided")
    if bits.answer == "unknown":
        return Floating("exact", "unknown", 0.0, bits.detail)
    return Floating(_reassociating(law).found, "refused", 0.0, f"not exact: {bits.detail}")


def _reassociating(law: Law) -> Floating:
    errors = _ASSESSORS["ordinary"](law)
    if errors.answer == "unknown":
        return Floating("reassociating", "unknown", 0.0, errors.detail)
    if errors.answer == "no":
        return Floating("unsafe", "refused", 0.0, "not safe for inputs of ordinary size", errors.detail)
    proof, kept = _analysed(law), _ASSESSORS["cancellation"](law)
    cancels = kept.detail if kept.answer == "no" else ""
    if proof.answer == "yes":
        return Floating(
            "reassociating", "granted", proof.growth, proof.detail, how="proved", needs=proof.needs, cancels=cancels
        )
    return Floating("reassociating", "granted", errors.growth, proof.detail, how="sampled", cancels=cancels)


def _analysed(law: Law) -> Finding:
    try:
        return _ASSESSORS["analysis"](law)
    except NapkinError as error:
        return Finding("unknown", str(error))


def _unsafe(law: Law) -> Floating:
    needs = f"needs {', '.join(map(str, law.ranges))}"
    inside, outside = _ASSESSORS["within"](law), _ASSESSORS["outside"](law)
    if inside.answer == "no":
        return Floating("unsafe", "refused", 0.0, f"the range is too wide: {inside.detail}")
    if "unknown" in (inside.answer, outside.answer):
        return Floating("unsafe", "unknown", 0.0, f"{inside.detail or outside.detail}")
    if outside.answer == "yes":
        return Floating(
            "reassociating",
            "refused",
            inside.growth,
            "no inputs were found, outside its range, at which it loses its digits",
        )
    return Floating("unsafe", "granted", inside.growth, needs, outside.detail, "sampled")


@cache
def _load() -> None:
    for name in ASSESSORS:
        run_file(folder("proofs") / f"{name}.py", "proofs")


@cache
def _version() -> str:
    package = Path(__file__).resolve().parents[1]
    names = (
        "lang/numpy_semantics laws/claim laws/obligation numerics/error_bound numerics/ranges numerics/roundoff"
        " prove/float_class prove/portfolio prove/prove prove/smtlib prove/normal/linearity prove/normal/polynomial"
    )
    files = [*(package / f"{name}.py" for name in names.split()), *sorted(folder("proofs").glob("*.py"))]
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


def _key(law: Law) -> str:
    said = (
        law.lhs,
        law.rhs,
        law.both,
        law.floating,
        [(j.name, *j.args) for j in law.conditions],
        [(j.name, *j.args) for j in law.ranges],
    )
    return hashlib.sha256(f"{_version()}\n{said!r}".encode()).hexdigest()


def _remembered() -> dict[str, Floating]:
    return {key: Floating(**entry) for key, entry in memory.recalled("floating", SCHEMA).items() if _well_formed(entry)}


def _well_formed(entry: Any) -> bool:
    if not isinstance(entry, dict) or set(entry) != set(Floating.__slots__):
        return False
    known = entry["found"] in FLOATING and entry["status"] in ("granted", "refused") and entry["how"] in HOW
    return (
        known
        and isinstance(entry["growth"], (int, float))
        and all(isinstance(entry[name], str) for name in ("detail", "witness", "needs", "cancels"))
    )


def _remember(fresh: dict[str, Floating]) -> None:
    memory.kept("floating", SCHEMA, {key: asdict(verdict) for key, verdict in (_remembered() | fresh).items()})
