"""Forged certificates, made by rule out of good ones and sealed anew: every one must be refused.

Five kinds. *Misplaced*: a good step at a place where what it needs does not hold, by itself and as a lemma.
*Ill-formed*: what a rule of the checker asks of a certificate's parts is broken in each way (ill_formed.py). *By one
rule*: what one rule alone refuses (one_rule.py). *At random*: laws at random places of random terms (anywhere.py), of
which those that evaluation refutes must be refused. *False*: one row is changed wherever it is used, so that the parts
still fit together, and evaluation shows that the two sides differ; whatever evaluation cannot tell apart is no forgery
and is left out.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from napkin_eq.certify.certificate import Data, checked, ends, sealed
from napkin_eq.certify.check import check
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.term import Input, Term, bundled, subterms
from napkin_eq.prove.watch import reported
from napkin_eq.verify.selftest.anywhere import uses
from napkin_eq.verify.selftest.ill_formed import as_lemma, changed, ill_formed
from napkin_eq.verify.selftest.one_rule import accepted, refused
from napkin_eq.verify.selftest.samples import alone, samples

if TYPE_CHECKING:
    import numpy as np

BLOCKS, TOLERANCE, RANGE = (2, 1), 1e-6, 1e6
USES = 1000  # laws at random places
# What else a row's constructor may be: the parts stay the same.
OTHER = {
    "add": ("mul", "max"), "mul": ("add", "min"), "max": ("min", "add"), "min": ("max",), "neg": ("abs", "exp", "Prev"),
    "exp": ("neg", "inv", "Prev"),
    "inv": ("exp",), "le": ("lt",), "lt": ("le",), "Index": ("Size", "Length"), "Size": ("Length", "Index"),
    "Prev": ("neg", "Store"), "and": ("or",),
}  # fmt: skip
WORDS = {"sum": "max", "max": "sum", "prod": "sum", "alone": "fused", "fused": "alone"}

@dataclass(slots=True)
class Score:
    """How many good certificates are accepted, how many forgeries refused, of how many it is shown that they are false;
    and what is not.
    """

    good: int = 0
    accepted: int = 0
    forged: int = 0
    refused: int = 0
    false: int = 0
    by_rule: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)


def score(every: int = 1, broken: int = 1) -> Score:
    """Put good certificates and forgeries before the checker. every, broken: of the false and the ill-formed one in so
    many is tried.
    """
    found, number = Score(), 0
    for sample in samples():
        if not reported("certificates", found.good + found.forged):
            return found
        data = sample.certificate()
        problem = checked(data).get("problem", "")
        if sample.allowed:
            found.good += 1
            found.accepted += not problem
            if problem:
                found.failures.append(f"{sample.name} is right and is refused: {problem}")
        else:
            _enter(found, "misplaced", sample.name, problem, differ(data) is True)
            _enter(
                found,
                "misplaced, as a lemma",
                sample.name,
                checked(as_lemma(data)).get("problem", ""),
                differ(data) is True,
            )
    for sample in alone():
        if not reported("certificates", found.good + found.forged):
            return found
        if sample.allowed:
            for rule, forged in ill_formed(sample.certificate()):
                number += 1
                if number % broken == 0:
                    _enter(found, rule, sample.name, checked(sealed(forged)).get("problem", ""), False)
    for rule, content in refused():
        _enter(found, f"by one rule: {rule}", rule, check(content).get("problem", ""), False)
    for what, content in accepted():
        found.good += 1
        problem = check(content).get("problem", "")
        found.accepted += not problem
        if problem:
            found.failures.append(f"{what} is right and is refused: {problem}")
    for name, data in uses(USES):
        if not reported("certificates", found.good + found.forged):
            return found
        problem, wrong = checked(data).get("problem", ""), differ(data) is True
        if wrong:
            _enter(found, "a law at a random place", name, problem, True)
        elif not problem:
            found.good += 1
            found.accepted += 1
    for name, forged in false(every):
        if not reported("certificates", found.good + found.forged):
            return found
        _enter(found, "a false equation", name, checked(forged).get("problem", ""), True)
    return found


def _enter(found: Score, rule: str, name: str, problem: str, false: bool) -> None:
    found.forged += 1
    found.refused += bool(problem)
    found.false += false
    found.by_rule[rule] = found.by_rule.get(rule, 0) + 1
    if not problem:
        found.failures.append(f"{rule}: a forgery of {name!r} is accepted")


# -- false equations ---------------------------------------------------------------------------------------------------


def differ(data: Data) -> bool | None:
    """Tell by evaluation whether the two sides of a certificate differ; None where they cannot be evaluated.

    What passes RANGE on the way is not told apart: its digits, or that it is a number, may be lost.
    """
    import numpy as np

    try:
        pair = ends(data)
        items = list(zip(*(bundled(term) or (term,) for term in pair), strict=True))
        arrays, unknown = _arrays(pair), False
        for block in BLOCKS:
            for sides in items:
                order = sorted({axis.name for side in sides for axis in side.axes})
                left, right = (np.asarray(evaluate(side, arrays, {}, block, order=order)) for side in sides)
                if left.dtype.kind == "f":
                    with np.errstate(all="ignore"):
                        lost = [np.isnan(v) | (np.abs(np.where(v == -np.inf, 0.0, v)) > RANGE) for v in (left, right)]
                    unknown |= bool((lost[0] | lost[1]).any())
                    left, right = (np.where(lost[0] | lost[1], 0.0, v) for v in (left, right))
                if not np.allclose(left, right, rtol=TOLERANCE, atol=TOLERANCE):
                    return True
    except (NapkinError, ValueError):
        return None
    return None if unknown else False


def _arrays(pair: tuple[Term, Term]) -> dict[str, np.ndarray[Any, Any]]:
    import numpy as np

    inputs = {t.name: t for t in subterms(*pair) if isinstance(t, Input)}
    found = {}
    for name in sorted(inputs):
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        kind, facts = inputs[name].kind, inputs[name].facts
        numbers = rng.uniform(-2, 2, tuple(axis.size or 3 for axis in inputs[name].dims))
        numbers = np.abs(numbers) if facts else numbers
        found[name] = numbers > 0 if kind == "bool" else np.rint(2 * numbers).astype(int) if kind == "int" else numbers
    return found


def false(every: int = 1) -> Iterator[tuple[str, Data]]:
    """Yield certificates of which one row is changed and whose sides then differ."""
    number = 0
    for sample in (sample for sample in samples() if sample.allowed):
        data = sample.certificate()
        for place, row in changes(data):
            number += 1
            if number % every == 0 and differ(forged := changed(data, place, row)):
                yield f"{sample.name}, row {place} made {row}", forged


def changes(data: Data) -> Iterator[tuple[int, list[Any]]]:
    """Yield what else a row of a certificate may be, in each way that keeps its parts together, with its place."""
    rows = [*data["theorem"]["nodes"], *data["nodes"]]
    axes, inputs = sorted(data["theorem"]["axes"]), sorted(data["theorem"]["inputs"])
    for place, row in enumerate(rows):
        yield from ((place, other) for other in _variants(row, place, rows, axes, inputs))


def _variants(
    row: list[Any], place: int, rows: list[list[Any]], axes: list[str], inputs: list[str]
) -> Iterator[list[Any]]:
    tag, *parts = row
    yield from ([other, *parts] for other in OTHER.get(tag, ()))
    if tag == "Input":
        yield ["Acc"]
        yield from (["Input", name] for name in inputs if name != parts[0])
    if (
        tag == "Const"
        and parts[0] == "real"
        and math.isfinite(value := float(parts[1] if "/" not in parts[1] else 0.3))
    ):
        yield from (["Const", "real", repr(math.nextafter(value, to))] for to in (math.inf, -math.inf))
        yield ["Const", "real", "-inf"]
    for at, part in enumerate(parts, 1):
        if isinstance(part, str) and part in axes and tag != "Input":
            yield from ([*row[:at], axis, *row[at + 1 :]] for axis in axes if axis != part)
        elif isinstance(part, str) and part in WORDS:
            yield [*row[:at], WORDS[part], *row[at + 1 :]]
        elif isinstance(part, int):
            yield from (
                [*row[:at], earlier, *row[at + 1 :]]
                for earlier in range(place)
                if earlier != part and rows[earlier][0][:3] != "is-"
            )
