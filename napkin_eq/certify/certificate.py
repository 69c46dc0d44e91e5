"""The derivation written down: a self-contained JSON file that `check.py` re-validates without the engine.

    theorem    the language, axes and inputs (with what is assumed of them), the terms' rows, source and destination
    nodes      rows of further terms and judgments, numbered on from the theorem's
    laws       the statements relied on: their patterns, floating-point class, proof and hash
    instances  what each statement was used for: its substitution, its claim and, as instances again, its conditions
    steps      an equation among the instances, its direction, and the path to the subterm that it changes; or a lemma,
               a term with such steps from it, which is replaced wherever it stands
    evidence   what was found out about the kernels besides; `sha256` seals it all

Rows are those of `json_form.py`; a judgment is a row whose constructor begins with "is-".
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from napkin_eq.certify import check as checker
from napkin_eq.certify.asked import items, require_asked
from napkin_eq.certify.check import SCHEMA, sha
from napkin_eq.egraph.budget import METER
from napkin_eq.egraph.congruence import ARITHMETIC, Step
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError, Undecided
from napkin_eq.lang.json_form import CONSTRUCTORS, LANGUAGE, Rows, from_json, read_row
from napkin_eq.lang.json_form import SCHEMA as FORM
from napkin_eq.lang.term import Term, Tuple
from napkin_eq.laws.inference import BASE, INTERVAL, Derivation, Judge, substitute
from napkin_eq.laws.law import TRUE, Inference, Judgment, Law, Statement, Var
from napkin_eq.prove.verdict import Verdict

if TYPE_CHECKING:
    from napkin_eq.search.derivation import Derived

Data = dict[str, Any]
EVIDENT = "evident"


def judged(rows: Rows, judgment: Judgment) -> int:
    """Enter a judgment into a table, and return the place of its row."""
    return rows.row(
        [f"is-{judgment.name}", *(rows.axis(arg) if isinstance(arg, Axis) else rows.add(arg) for arg in judgment.args)]
    )


def stated(statement: Statement) -> Data:
    """Return a law or inference as data, with the hash of all of its meaning, not of its words or its proof."""
    rows = Rows()
    if isinstance(statement, Law):
        conclusion = rows.row(["is-equal", rows.add(statement.lhs), rows.add(statement.rhs)])
        premises, ranges = [judged(rows, c) for c in statement.conditions], [judged(rows, r) for r in statement.ranges]
        floating = [statement.floating, *ranges]
    else:
        conclusion = judged(rows, statement.conclusion)
        premises, floating = [judged(rows, p) for p in statement.premises], []
    shown = {"nodes": rows.nodes, "conclusion": conclusion, "premises": premises, "floating": floating}
    return {**shown, "sha256": sha([statement.name, *shown.values()])}


def restated(name: str, law: Data) -> Statement:
    """Return the law or inference that a certificate states; raises NapkinError for one that the engine
    does not build.
    """
    terms, judgments = list[Term](), dict[int, Judgment]()
    for place, row in enumerate(law["nodes"]):
        tag, *parts = row
        words = CONSTRUCTORS[tag][0] if tag in CONSTRUCTORS else []
        axes = {part: Axis(part) for word, part in zip(words, parts, strict=False) if word in LANGUAGE["roles"]}
        if tag[:3] == "is-":
            judgments[place] = Judgment(
                tag[3:], tuple(axes[part] if isinstance(part, str) else terms[part] for part in parts)
            )
            terms.append(TRUE)  # no row refers to it
        else:
            terms.append(Var(parts[1], parts[0]) if tag == "Var" else read_row(row, terms, axes, {}))
    conclusion, *premises = (judgments[place] for place in (law["conclusion"], *law["premises"]))
    if conclusion.name != "equal":
        return Inference(name, "certificate", "", conclusion, tuple(premises), "", "a certificate")
    left, right = conclusion.args
    said = left, right, tuple(premises)
    return Law(name, "certificate", "", *said, False, "algebra", "", "a certificate")  # type: ignore[arg-type]


class _Writer:
    def __init__(self, statements: Iterable[Statement], judge: Judge | None) -> None:
        self.statements = {s.name: s for s in statements}
        rules = (s for s in self.statements.values() if isinstance(s, Inference))
        self.judge = judge or Judge(rules, placed=False)
        self.rows = Rows()
        self.instances: list[Data] = []
        self.used: set[str] = set()
        self._known: dict[str, int] = {}
        self._derived: dict[Judgment, int] = {}

    def instance(
        self, rule: str, claim: int, bindings: Iterable[tuple[str, Axis | Term]] = (), premises: Sequence[int] = ()
    ) -> int:
        """Enter an instance, once, and return its place."""
        given = {
            name: self.rows.axis(value) if isinstance(value, Axis) else self.rows.add(value) for name, value in bindings
        }
        entry = {"rule": rule, "bindings": given, "claim": claim, "premises": list(premises)}
        key = json.dumps(entry, sort_keys=True)
        if key not in self._known:
            self._known[key] = len(self.instances)
            self.instances.append(entry)
        return self._known[key]

    def derivation(self, proof: Derivation) -> int:
        """Enter a derivation, its premises first, and return its place; a judgment that others rest on, too, is derived
        once.
        """
        if proof.judgment in self._derived:
            return self._derived[proof.judgment]
        if proof.rule == INTERVAL:
            raise Undecided(
                f"{proof.judgment} rests on bounds of intervals, which a certificate does not hold; state it as a law's"
                " inference"
            )
        premises = [self.derivation(p) for p in proof.premises]
        if proof.rule != BASE:
            self.used.add(proof.rule)
        place = self.instance(
            EVIDENT if proof.rule == BASE else proof.rule, judged(self.rows, proof.judgment), proof.bindings, premises
        )
        self._derived[proof.judgment] = place
        return place

    def step(self, step: Step) -> Data:
        return {
            "instance": self.equation(step.law, dict(step.bindings)),
            "forward": step.forward,
            "path": list(step.path),
        }

    def equation(self, name: str, bindings: Mapping[str, Axis | Term]) -> int:
        if name == ARITHMETIC:
            sides = [self.rows.add(bindings[side]) for side in ("left", "right")]  # type: ignore[arg-type]
            return self.instance(EVIDENT, self.rows.row(["is-equal", *sides]))
        law = self.statements.get(name)
        if not isinstance(law, Law):
            raise NapkinError(f"certificate: a step uses {name!r}, which is not among the laws given")
        found = self.judge.conditions(law.conditions, bindings)
        if not found:
            raise Undecided(f"certificate: the conditions of {name} are not derived for {dict(bindings)!s:.200}")
        self.used.add(name)
        premises = [self.derivation(proof) for proof in found[0][1]]
        claim = self.rows.row(["is-equal", *(self.rows.add(substitute(side, bindings)) for side in (law.lhs, law.rhs))])
        return self.instance(name, claim, sorted(bindings.items()), premises)


def make(
    source: Term,
    destination: Term,
    steps: Sequence[Step],
    statements: Iterable[Statement],
    verdicts: Mapping[str, Verdict],
    evidence: Data,
    judge: Judge | None = None,
) -> Data:
    """Return the certificate that source = destination by these steps, as JSON data.

    statements: at least the laws and inferences in use; verdicts: what was proved of them, by name; evidence: JSON data
    about the run, which is sealed but no part of the theorem; judge: who derives conditions, by the inferences where
    none is given. Raises NapkinError or Undecided rather than leave a gap.
    """
    writer = _Writer(statements, judge)
    writer.judge.prepare(source)
    ends = {"source": writer.rows.add(source), "destination": writer.rows.add(destination)}
    split = len(writer.rows.nodes)
    written: list[Data] = []
    for lemma, chain in itertools.groupby(steps, key=lambda s: s.lemma):
        found = [writer.step(step) for step in chain]
        written += found if lemma is None else [{"lemma": writer.rows.add(lemma), "steps": found}]
    laws = {name: {**stated(writer.statements[name]), "proof": _proof(name, verdicts)} for name in sorted(writer.used)}
    grade = max((law["proof"]["grade"] for law in laws.values()), default="A")
    tables = writer.rows.data()
    data: Data = {
        "schema": SCHEMA,
        "theorem": {"language": LANGUAGE, **tables, "nodes": tables["nodes"][:split], **ends},
        "nodes": tables["nodes"][split:],
        "laws": laws,
        "instances": writer.instances,
        "steps": written,
        "status": "tested" if grade == "D" else "proved",
        "grade": grade,
        "evidence": evidence,
    }
    return sealed(data)


def _proof(name: str, verdicts: Mapping[str, Verdict]) -> Data:
    if name not in verdicts:
        raise NapkinError(f"certificate: no verdict is given for {name}; run `napkin-eq prove {name}`")
    verdict = verdicts[name]
    files = [asdict(file) for file in verdict.files]
    return {
        "lanes": list(verdict.lanes),
        "grade": verdict.grade,
        "kernel": verdict.kernel,
        "method": verdict.method,
        "files": files,
    }


def sealed(data: Data) -> Data:
    """Return a certificate with the seal over its content made anew."""
    return {**data, "sha256": sha({key: value for key, value in data.items() if key != "sha256"})}


def with_evidence(data: Data, **found: Any) -> Data:
    """Return a certificate with more evidence, sealed anew: `kernels`, `index`, `numeric`; what it proves stays the
    same.
    """
    return sealed({**data, "evidence": {**data["evidence"], **{name: _plain(value) for name, value in found.items()}}})


def _plain(value: Any) -> Any:
    # JSON knows no infinity: a bound that is none is written as a word.
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def ends(data: Data) -> tuple[Term, Term]:
    """Return what a checked certificate says is equal, as terms; raises NapkinError for terms that the engine does not
    build.
    """
    theorem = data["theorem"]
    tables = {"schema": FORM, **{name: theorem[name] for name in ("axes", "inputs", "nodes")}}
    return from_json({**tables, "root": theorem["source"]}), from_json({**tables, "root": theorem["destination"]})


def checked(data: Data) -> dict[str, Any]:
    """Return what the independent checker says of a certificate given as data."""
    return checker.check(dumps(data).encode())


def of(derivation: Derived) -> Data:
    """Return the certificate of a derivation, written and checked when first asked for; several outputs are proved side
    by side, as a tuple.

    Raises Undecided where the independent checker refuses it, and for a theorem not shown to be about the diagram.
    """
    if not derivation._certificate:
        derivation._certificate = _of(derivation)
    return derivation._certificate


def _of(derivation: Derived) -> Data:
    outputs = derivation.outputs
    proved = {name: term for o in outputs for name, term in zip(o.names, items(o.source), strict=True)}
    asked = dict(derivation.diagram.outputs)
    require_asked(f"diagram {derivation.diagram.name}", list(asked.values()), [proved[name] for name in asked])
    steps = outputs[0].steps
    source: Term = outputs[0].source
    destination: Term = outputs[0].placed.term
    if len(outputs) > 1:
        source, destination = Tuple(tuple(o.source for o in outputs)), Tuple(tuple(o.placed.term for o in outputs))
        # A lemma is put in everywhere: outputs that are one value go its way side by side
        ways = list[list[int]]()
        for place, o in enumerate(outputs):
            alike = (way for way in ways if outputs[way[0]].source is o.source and outputs[way[0]].steps == o.steps)
            if (way := next(alike, None)) is None:
                ways.append([place])
            else:
                way.append(place)
        steps = [
            made
            for way in ways
            for s in outputs[way[0]].steps
            for made in ([s] if s.lemma is not None else [replace(s, path=(place, *s.path)) for place in way])
        ]
    names = [name for o in outputs for name in o.names]
    translation = [{"outputs": list(o.names), **o.translation.data()} for o in outputs]
    about: Data = {
        "diagram": derivation.diagram.name,
        "hardware": derivation.hardware.name,
        "dtype": derivation.dtype,
        "outputs": names,
    }
    about["translation"] = translation
    # A chain is about terms; that a library computes the term that a kernel stands for is taken on trust, and sealed as
    # such.
    if trusted := [
        {"kernel": k.name, "call": k.library.function, "grade": "library"} for k in derivation.plan.kernels if k.library
    ]:
        about["library"] = trusted
    return _accepted(make(source, destination, steps, derivation.statements, derivation.verdicts, about))


def require_accepted(
    source: Term,
    destination: Term,
    steps: Sequence[Step],
    statements: Iterable[Statement],
    verdicts: Mapping[str, Verdict],
) -> None:
    """Raise Undecided unless the independent checker accepts these steps as a proof that the two terms are equal."""
    _accepted(make(source, destination, steps, statements, verdicts, {}))


def _accepted(data: Data) -> Data:
    METER.did("row", len(data["theorem"]["nodes"]) + len(data["steps"]))
    result = checked(data)
    if result["status"] != "ok":
        raise Undecided(f"the certificate is refused by the checker: {result['problem']}")
    return data


def dumps(data: Data) -> str:
    """Return a certificate as text: the same bytes for the same certificate."""
    return checker.text(data).decode() + "\n"


def loads(content: str | bytes) -> Data:
    """Return the data of a certificate's text, unchecked; raise NapkinError for what is not JSON or not a
    certificate.
    """
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise NapkinError(f"certificate: {error}") from None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise NapkinError(f"certificate: expected an object with schema {SCHEMA}")
    return data
