"""Certificates that one rule of the checker alone refuses, and good ones that it would refuse were one rule stricter.

What is forged by changing a part breaks many rules at once; each of these breaks one, so that a checker without that
rule gives itself away.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Any

from napkin_eq.certify.certificate import Data, dumps, make, sealed
from napkin_eq.certify.check import MAX_BYTES, sha
from napkin_eq.egraph.congruence import Step
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.term import Acc, Group, Input, Map, Online, Prev, Proj, Term, Tuple, Walk
from napkin_eq.laws.axis_split import stretch_mask
from napkin_eq.laws.law import TRUE, Max, Sum, exp, inv
from napkin_eq.verify.selftest.ill_formed import NO_NAMES, as_lemma, changed
from napkin_eq.verify.selftest.samples import B, C, D, E, O, alone, moved, part, q, statements, verdicts, x, y, z


def written(source: Term, *moves: Any) -> Data:
    """Return the certificate of some moves from a term, whether they are right or not."""
    steps: Sequence[Step] = moved(source, moves)
    return make(source, steps[-1].after, steps, statements(), verdicts(), {})


def by_terms() -> Iterator[tuple[str, Data]]:
    """Yield what is refused for where its terms stand, or what they are; each law is used as it is stated."""
    running = (Prev(Max(x, B)), Max(x, B))
    total, count = exp(B) * inv(exp(B)), {"a": exp(B)}
    held, stands = Online(y, D * Acc(), TRUE, Acc()), Online(y, D, TRUE, Acc() * Acc())
    doubled, free = Online(y, Acc(), TRUE, Acc() + Acc()), Online(z, E, TRUE, Acc() + Sum(y, D * Acc()))
    item = written(Tuple((Proj(0, Tuple((C, O))), O)), ("projection-0-2", (0,), True, {"a": C, "b": O}))
    yield "a variable of another kind", changed(item, item["theorem"]["nodes"].index(["Input", "C"]), ["Index", "q"])
    yield "an accumulator carried into a stream", written(free, ("held", (2, 1), True, {"a": D * Acc(), "y": y}))
    yield (
        "an accumulator carried out of a stream",
        written(Online(z, E, TRUE, Acc() + held), ("held", (2, 1), False, {"a": D * Acc(), "y": y})),
    )
    yield (
        "a variable in a body and in an update",
        written(Online(z, E, TRUE, Acc() + doubled), ("swapped", (2, 1), True, {"a": Acc(), "y": y})),
    )
    before = Online(y, D, TRUE, Acc() + (Prev(stands) + stands))
    yield (
        "a variable before a block and in it",
        written(before, ("shifted", (2, 1), True, {"a": D, "b": Acc(), "y": y})),
    )
    late = Online(z, E, TRUE, Acc() + (Prev(C) + O))
    yield "a Prev over no axis", written(late, ("earlier", (2, 1), True, {"a": O, "b": C}))
    striped = {"a": B, "c": stretch_mask(part, x), "x": x, "y": part}
    yield "a prefix of what is needed whole", written(Sum(x, B), ("striped", (), True, striped))
    along = Map("max", running) + Online(y, D, TRUE, Acc())
    beside = Online(x, B, TRUE, Acc() + along)
    yield (
        "prefixes beside another stream's",
        written(beside, ("beside", (2, 1), True, {"a": running[0], "b": running[1], "d": D, "y": y})),
    )
    early = Online(x, B, TRUE, Acc() + Prev(C + C))
    known: dict[str, Term | Axis] = {"a": running[0], "b": running[1], "d": C}
    yield "what is known of a block, before it", written(early, ("unneeded", (2, 1, 0), True, known))
    yield "an axis lost", written(total * C, ("cancel", (0,), True, count))
    yield "an axis lost in an item", written(Tuple((total * C, B * C)), ("cancel", (0, 0), True, count))
    yield (
        "an accumulator outside its stream",
        written(Acc() * Sum(y, D + D), ("sum-add", (1,), True, {"a": D, "b": D, "x": y})),
    )
    yield "an accumulator at the end", written(C * O, ("projection-0-2", (0,), False, {"a": C, "b": Acc()}))


def by_lemmas() -> Iterator[tuple[str, Data]]:
    """Yield what is refused as lemmas, though the steps are right where they stand: they hold a stream's
    accumulator.
    """
    for term in (Acc() * Sum(x, B + B), Prev(Sum(x, B)) * Sum(x, B + B)):
        data = written(Online(y, D, TRUE, Acc() + term), ("sum-add", (2, 1, 1), True, {"a": B, "b": B, "x": x}))
        yield "a lemma about an accumulator", as_lemma(data, 1)
    there = ("projection-0-2", (2, 1, 0), False, {"a": O, "b": Acc()})
    yield "a lemma that ends with an accumulator", as_lemma(written(Online(y, D, TRUE, Acc() + O * C), there))
    back = written(Online(y, D, TRUE, Acc() + O * C), there, ("projection-0-2", (2, 1, 0), True, {"a": O, "b": Acc()}))
    rows = [*back["theorem"]["nodes"], *back["nodes"]]
    _, item, plain = next(row for row in rows if row[0] == "is-equal")
    lemmas = [
        {"lemma": place, "steps": [{**step, "path": []}]}
        for place, step in zip((plain, item), back["steps"], strict=True)
    ]
    yield "a lemma that ends with an accumulator, and one that begins so", sealed({**back, "steps": lemmas})


def beside_the_proof() -> Iterator[tuple[str, Data]]:
    """Yield proofs with a lemma more that changes nothing, and that is none."""
    data = alone()[0].certificate()
    rows = [*data["theorem"]["nodes"], *data["nodes"]]
    judgment = next(place for place, row in enumerate(rows) if row[0] == "is-equal")
    lemmas: list[Data] = [{"lemma": judgment, "steps": []}, {"lemma": 0, "steps": ""}, {"lemma": 0, "steps": {}}]
    for lemma in lemmas:
        yield "a lemma of no term, or without steps", sealed({**data, "steps": [*data["steps"], lemma]})


def by_parts() -> Iterator[tuple[str, Data]]:
    """Yield what is refused for the form of one part."""
    samples = {sample.name: sample.certificate() for sample in alone()}
    data = samples["rescaled"]
    cited = next(number for number, given in enumerate(data["instances"]) if given["rule"] == "evident" and number)
    for key, value in (
        ("premises", [0]),
        ("bindings", {"more": 0}),
        ("bindings", []),
        ("bindings", ""),
        ("premises", {}),
    ):
        yield "what is evident cites or binds something", _with(data, ("instances", cited, key), value)
    for place, given in enumerate(data["instances"]):
        yield (
            "premises that are no list",
            _with(data, ("instances", place, "premises"), dict.fromkeys(map(str, given["premises"]))),
        )
    index = samples["an index"]
    place = index["theorem"]["nodes"].index(["Index", "x"])
    yield "a row that is no list", _with(index, ("theorem", "nodes", place), {"Index": 0, "x": 0})
    yield from _truths(data)
    yield from _laws(data)
    larger = written(Max(y, Map("max", (D, D * C))), ("exceeded", (), True, {"a": D, "b": D * C, "y": y}))
    rows = [*larger["theorem"]["nodes"], *larger["nodes"]]
    place = next(number for number, given in enumerate(larger["instances"]) if rows[given["claim"]][0] == "is-le")
    _, least, most = rows[larger["instances"][place]["claim"]]
    yield "a step by what is no equation", _about(larger, place, least, most)


def _about(data: Data, instance: int, source: int, destination: int) -> Data:
    """Return a certificate of one step, by an instance, from one term to another."""
    rows = [*data["theorem"]["nodes"], *data["nodes"]]
    split = max(source, destination) + 1
    theorem = {**data["theorem"], "nodes": rows[:split], "source": source, "destination": destination}
    return sealed(
        {
            **data,
            "theorem": theorem,
            "nodes": rows[split:],
            "steps": [{"instance": instance, "forward": True, "path": []}],
        }
    )


def _with(data: Any, at: tuple[Any, ...], value: Any) -> Data:
    def put(inner: Any, at: tuple[Any, ...]) -> Any:
        if not at:
            return value
        copied = dict(inner) if isinstance(inner, dict) else list(inner)
        copied[at[0]] = put(copied[at[0]] if len(at) > 1 else None, at[1:])
        return copied

    return sealed(put(data, at))


def _truths(data: Data) -> Iterator[tuple[str, Data]]:
    """Yield certificates in which a truth value stands for the place 0 or 1."""
    places: list[tuple[Any, ...]] = [("theorem", end) for end in ("source", "destination")]
    places += [("steps", number, "instance") for number in range(len(data["steps"]))]
    places += [
        ("steps", number, "path", at) for number, step in enumerate(data["steps"]) for at in range(len(step["path"]))
    ]
    for number, given in enumerate(data["instances"]):
        places += [("instances", number, "claim")]
        places += [("instances", number, "premises", at) for at in range(len(given["premises"]))]
        places += [("instances", number, "bindings", name) for name in given["bindings"]]
    places += [("nodes", row, at) for row, parts in enumerate(data["nodes"]) for at in range(1, len(parts))]
    places += [
        ("theorem", "nodes", row, at)
        for row, parts in enumerate(data["theorem"]["nodes"])
        for at in range(1, len(parts))
    ]
    for at in places:
        value: Any = data
        for key in at:
            value = value[key]
        if type(value) is int and value in (0, 1):
            yield "a truth value for a place", _with(data, at, bool(value))


def _laws(data: Data) -> Iterator[tuple[str, Data]]:
    """Yield certificates with one law more, that no step uses and that is ill-formed."""
    name, law = next(iter(sorted(data["laws"].items())))
    for lanes in ([1], ["x", None], [True], "x", {"x": 1}):
        yield "lanes that are no axes", _added(data, {**law, "proof": {**law["proof"], "lanes": lanes}})
    for odd in NO_NAMES:
        rows = [["Var", "real", odd], ["is-equal", 0, 0]]
        yield (
            "a variable whose name is none",
            _added(data, {**law, "nodes": rows, "conclusion": 1, "premises": []}),
        )
    yield (
        "a law that concludes no judgment",
        _added(data, {**law, "nodes": [["Var", "real", "a"]], "conclusion": 0, "premises": []}),
    )
    premise = {"nodes": [["Var", "real", "a"], ["is-equal", 0, 0]], "conclusion": 1, "premises": [0]}
    yield "a law whose premise is no judgment", _added(data, {**law, **premise})
    for given in ([["Var", "real", "a"], ["Prev", 0]], [["Size", "x"], ["Size", "y"], ["add", 0, 1], ["Prev", 2]]):
        rows = [*given, ["is-equal", len(given) - 1, len(given) - 1]]
        yield (
            "a law whose Prev runs over no axis, or over several",
            _added(data, {**law, "nodes": rows, "conclusion": len(given), "premises": []}),
        )
    for proof, grade in proofs():
        for other in "ABCD":
            if other != grade:
                yield (
                    "a grade that its evidence does not earn",
                    _added(data, {**law, "proof": {**proof, "grade": other}}),
                )
    for status, answers, form in (
        ("unsat", {"z3": "sat"}, False),
        ("sat", {"z3": "unsat"}, False),
        ("unsat", {"z3": "unsat"}, 1),
        ("unsat", {"z3": 1}, False),
    ):
        proof = {
            "lanes": [],
            "kernel": {},
            "method": "solvers",
            "grade": "A",
            "files": [_file(status, answers, form), _file("unsat", {}, True)],
        }
        for grade in "ABCD":
            yield "an answer against what its script claims", _added(data, {**law, "proof": {**proof, "grade": grade}})


def _added(data: Data, law: Data, grade: str = "") -> Data:
    stated = {**law, "sha256": sha(["more", *(law[key] for key in ("nodes", "conclusion", "premises", "floating"))])}
    worst = max([stated["proof"]["grade"], *(other["proof"]["grade"] for other in data["laws"].values())])
    return sealed(
        {
            **data,
            "laws": {**data["laws"], "more": stated},
            "grade": worst,
            "status": "tested" if worst == "D" else "proved",
        }
    )


def _file(status: str, answers: dict[str, Any], form: Any) -> Data:
    return {"answers": answers, "form": form, "name": "more.smt2", "sha256": "0" * 64, "status": status}


def proofs() -> Iterator[tuple[Data, str]]:
    """Yield evidence of every kind, each with the grade that it earns."""
    two, one, none = (
        {"cvc5": "unsat", "z3": "unsat"},
        {"cvc5": "unknown", "z3": "unsat"},
        {"cvc5": "missing", "z3": "unknown"},
    )
    three = {"cvc5": "unsat", "other": "unknown", "third": "missing", "z3": "unsat"}
    shown, possible = ("unsat", none, True), ("sat", {"z3": "sat"}, False)
    theorem = {"rocq/Laws.v": "0" * 64}
    many, few, silent = ("unsat", two, False), ("unsat", one, False), ("unsat", none, False)
    for kernel, method, files, grade in (
        ({}, "definition", [], "A"), ({}, "normal form", [], "A"), ({}, "numeric", [], "D"), ({}, "solvers", [], "D"),
        (theorem, "numeric", [], "A"), (theorem, "solvers", [few], "A"), ({}, "solvers", [many], "B"),
        ({}, "solvers", [few], "C"), ({}, "solvers", [silent], "D"), ({}, "solvers", [("unsat", three, False)], "B"),
        ({}, "solvers", [shown], "A"), ({}, "solvers", [shown, few], "C"), ({}, "solvers", [many, possible], "B"),
        ({}, "solvers", [possible], "D"), ({}, "solvers", [shown, possible], "A"), ({}, "definition", [few], "C"),
        ({}, "solvers", [("unsat", {}, False)], "D"),
    ):  # fmt: skip
        proof = {"lanes": [], "kernel": kernel, "method": method, "files": [_file(*file) for file in files]}
        yield {**proof, "grade": grade}, grade


def refused() -> Iterator[tuple[str, bytes]]:
    """Yield what must be refused, as the file's bytes, with the rule that alone refuses it."""
    for rule, data in itertools.chain(by_terms(), by_lemmas(), beside_the_proof(), by_parts()):
        yield rule, dumps(data).encode()
    good = dumps(alone()[0].certificate()).encode()
    yield "a certificate that is too large", good.ljust(MAX_BYTES + 1)
    for old, new in (
        (b'"grade":"A"', b'"grade":"A","grade":"A"'),
        (b":", b": "),
        (b'"schema":5', b'"schema":5.0'),
        (b"}\n", b"}{}\n"),
    ):
        yield "not the one canonical text", good.replace(old, new, 1)


def accepted() -> Iterator[tuple[str, bytes]]:
    """Yield good certificates that a checker with a stricter rule refuses, with what they hold."""
    good = alone()[0].certificate()
    yield "as large as may be", dumps(good).encode().ljust(MAX_BYTES)
    for proof, grade in proofs():
        law = next(law for law in json.loads(json.dumps(alone()[3].certificate()))["laws"].values())
        yield f"a law of grade {grade}", dumps(_added(good, {**law, "proof": proof})).encode()
    whole = {"a": B, "c": stretch_mask(part, x), "x": x, "p": part}
    beside = Sum(x, B) * Input("P", (part,))
    for outer in (Walk(part, beside), Group(part, beside)):
        yield "a stretch beside its axis", dumps(written(outer, ("split-sum", (0, 0), True, whole))).encode()
    inner = Online(y, D, TRUE, Acc() + Sum(x, Prev(B * Sum(y, D))))
    nested = Online(x, B, TRUE, Acc() + inner * Sum(q, C + C))
    yield (
        "a Prev in an update in an update",
        dumps(written(nested, ("sum-add", (2, 1, 1), True, {"a": C, "b": C, "x": q}))).encode(),
    )
