"""The derivation written down: a self-contained JSON file that `check.py` re-validates without the engine.

Terms, patterns and derivations are tables that share what they have in common: an integer refers to an entry of a table,
an axis is [name, size, multiple]. Every entry refers only to entries before it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from napkin_eq.axis import Axis
from napkin_eq.check import SCHEMA, SLOTS, TRUSTED, assumption, check, fingerprints, read, sha, statement_hash
from napkin_eq.errors import NapkinError, Undecided
from napkin_eq.explain import ARITHMETIC, Step
from napkin_eq.judge import BASE, INTERVAL, PLAIN, Derivation, Judge
from napkin_eq.law import Inference, Judgment, Law, Statement, Var
from napkin_eq.term import CLASSES, Input, Term, Tuple, subterms

if TYPE_CHECKING:
    from napkin_eq.derive import Derivation as Derived

Data = dict[str, Any]


class Proof(Protocol):
    """What a prover says of a statement: `status` is "proved" or not, `grade` A to D, `method` in words."""

    @property
    def status(self) -> str: ...
    @property
    def grade(self) -> str: ...
    @property
    def method(self) -> str: ...


class Table:
    """Terms as rows of JSON data: `Table().add(term)` is the row's number, `rows` the data."""

    def __init__(self) -> None:
        self.rows: list[list[Any]] = []
        self._known: dict[Term, int] = {}

    def add(self, term: Term) -> int:
        for part in subterms(term):
            if part not in self._known:
                self._known[part] = len(self.rows)
                self.rows.append([type(part).__name__, *map(self.field, part.fields)])
        return self._known[term]

    def field(self, value: Any) -> Any:
        """Return a field as JSON data; a real number is written as text, which is exact and knows -inf."""
        if isinstance(value, Term):
            return self._known[value] if value in self._known else self.add(value)
        if isinstance(value, Axis):
            return [value.name, value.size, value.multiple]
        if isinstance(value, tuple):
            return [self.field(v) for v in value]
        return repr(value) if isinstance(value, float) else value

    def judgment(self, judgment: Judgment) -> list[Any]:
        return [judgment.name, *map(self.field, judgment.args)]


def terms(rows: Sequence[Any]) -> list[Term]:
    """Return the terms of a table; raise NapkinError for data that is not one."""
    found: list[Term] = []
    for number, row in enumerate(rows):
        try:
            tag, *parts = row
            fields = [_read(slot, part, found) for slot, part in zip(SLOTS[tag].split(), parts, strict=True)]
            found.append((Var if tag == "Var" else CLASSES[tag])(*fields))
        except NapkinError as error:
            raise NapkinError(f"terms, row {number}: {error}") from None
        except (KeyError, TypeError, ValueError, IndexError):
            raise NapkinError(f"terms, row {number}: {row!r:.80} is not a node; expected a constructor and its fields") from None
    return found


def _read(slot: str, part: Any, found: list[Term]) -> Any:
    if slot == "term":
        if type(part) is not int or part < 0:
            raise TypeError
        return found[part]
    if slot == "axis":
        return Axis(*part)
    if slot in ("terms", "dims"):
        return tuple(_read(slot[:-1] if slot == "terms" else "axis", p, found) for p in part)
    if slot == "place" and type(part) is not int:
        raise TypeError
    if slot == "const":
        return float(part) if isinstance(part, str) else part
    return tuple(part) if slot == "facts" else part


def fingerprint(term: Term) -> str:
    """Return the hash of a term, as in certificates."""
    table = Table()
    number = table.add(term)
    return fingerprints(table.rows)[number]


def law_hash(statement: Statement) -> str:
    """Return the hash of a law or inference, as in certificates: all of its meaning, not its words or its proof."""
    table = Table()
    shown = _statement(statement, table)
    return statement_hash(statement.name, shown, fingerprints(table.rows))


def _statement(statement: Statement, table: Table) -> Data:
    if isinstance(statement, Law):
        return {
            "reading": statement.reading,
            "lhs": table.add(statement.lhs),
            "rhs": table.add(statement.rhs),
            "conditions": [table.judgment(c) for c in statement.conditions],
            "both": statement.both,
            "floating": statement.floating,
        }
    premises = [table.judgment(p) for p in statement.premises]
    return {"reading": statement.reading, "conclusion": table.judgment(statement.conclusion), "premises": premises}


class _Writer:
    def __init__(self, statements: Iterable[Statement]) -> None:
        self.statements = {s.name: s for s in statements}
        self.judge = Judge(s for s in self.statements.values() if isinstance(s, Inference))
        self.table = Table()
        self.derivations: list[Data] = []
        self.used: set[str] = set()
        self._known: dict[Derivation, int] = {}

    def bindings(self, pairs: Iterable[tuple[str, Axis | Term]]) -> Data:
        return {name: self.table.field(value) for name, value in pairs}

    def derivation(self, proof: Derivation) -> int:
        if proof not in self._known:
            if proof.rule == INTERVAL:
                raise Undecided(f"{proof.judgment} rests on bounds of intervals, which a certificate does not hold; state it as a law's inference")
            premises = [self.derivation(p) for p in proof.premises]
            if proof.rule not in (BASE, PLAIN):
                self.used.add(proof.rule)
            entry = {"judgment": self.table.judgment(proof.judgment), "rule": proof.rule, "bindings": self.bindings(proof.bindings), "premises": premises}
            self._known[proof] = len(self.derivations)
            self.derivations.append(entry)
        return self._known[proof]

    def step(self, step: Step) -> Data:
        conditions: list[int] = []
        if step.law != ARITHMETIC:
            self.used.add(step.law)
            law = self.statements.get(step.law)
            if not isinstance(law, Law):
                raise NapkinError(f"certificate: a step uses {step.law!r}, which is not among the laws given")
            found = self.judge.conditions(law.conditions, dict(step.bindings))
            if not found:
                raise Undecided(f"certificate: the conditions of {step.law} are not derived for {dict(step.bindings)!s:.200}")
            conditions = [self.derivation(proof) for proof in found[0][1]]
        return {
            "law": step.law,
            "forward": step.forward,
            "path": list(step.path),
            "bindings": self.bindings(step.bindings),
            "conditions": conditions,
        }


def make(
    source: Term, destination: Term, steps: Sequence[Step], statements: Iterable[Statement], verdicts: Mapping[str, Proof], meta: Data
) -> Data:
    """Return the certificate that source = destination by these steps, as JSON data.

    statements: at least the laws and inferences in use; verdicts: what was proved of them, by name; meta: JSON data about
    the run, which is sealed but claims nothing. Raises NapkinError or Undecided rather than leave a gap.
    """
    writer = _Writer(statements)
    ends = writer.table.add(source), writer.table.add(destination)
    written = [writer.step(step) for step in steps]
    listed = {name: (writer.statements[name], _statement(writer.statements[name], writer.table)) for name in sorted(writer.used)}
    prints = fingerprints(writer.table.rows)
    for name, (_, shown) in listed.items():
        if name not in verdicts:
            raise NapkinError(f"certificate: no verdict is given for {name}; run `napkin-eq prove {name}`")
        verdict = verdicts[name]
        shown |= {"hash": statement_hash(name, shown, prints), "status": verdict.status, "grade": verdict.grade, "method": verdict.method}
    inputs = {t for t in subterms(source, destination) if isinstance(t, Input)}
    data: Data = {
        "schema": SCHEMA,
        "source": ends[0],
        "destination": ends[1],
        "steps": written,
        "derivations": writer.derivations,
        "laws": {name: shown for name, (s, shown) in listed.items() if isinstance(s, Law)},
        "inferences": {name: shown for name, (s, shown) in listed.items() if isinstance(s, Inference)},
        "nodes": writer.table.rows,
        "status": "proved" if all(shown["status"] == "proved" for _, shown in listed.values()) else "tested",
        "grade": max((shown["grade"] for _, shown in listed.values()), default="A"),
        "preconditions": sorted(assumption(i.name, i.dtype, i.facts) for i in inputs),
        "trusted": TRUSTED,
        "meta": meta,
    }
    return {**data, "sha256": sha(data)}


def of(derivation: Derived) -> Data:
    """Return the certificate of a derivation, checked; several outputs are proved side by side, as a tuple.

    Raises Undecided where the independent checker refuses it.
    """
    outputs = derivation.outputs
    steps = outputs[0].steps
    source: Term = outputs[0].source
    destination: Term = outputs[0].placed.term
    if len(outputs) > 1:
        source, destination = Tuple(tuple(o.source for o in outputs)), Tuple(tuple(o.placed.term for o in outputs))
        steps = [replace(step, path=(place, *step.path)) for place, o in enumerate(outputs) for step in o.steps]
    about = {"diagram": derivation.diagram.name, "hardware": derivation.hardware.name, "dtype": derivation.dtype}
    about |= {"outputs": [name for o in outputs for name in o.names]}
    data = make(source, destination, steps, derivation.statements, derivation.verdicts, about)
    result = check(data)
    if result.status != "ok":
        raise Undecided(f"certificate of {derivation.diagram.name}: the checker refuses it: {result.problems[0]}")
    return data


def dumps(data: Data) -> str:
    """Return a certificate as text: the same bytes for the same certificate."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False) + "\n"


def loads(text: str | bytes) -> Data:
    """Return the data of a certificate's text; raise NapkinError for what is not JSON or not a certificate."""
    try:
        data = read(text.encode() if isinstance(text, str) else text)
    except ValueError as error:
        raise NapkinError(f"certificate: {error}") from None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise NapkinError(f"certificate: expected an object with schema {SCHEMA}")
    return data
