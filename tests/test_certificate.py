"""Certificates: round trip, and that no change of meaning gets past the checker."""

from __future__ import annotations

import copy
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from napkin_eq import check as checker
from napkin_eq.axis import Axis, axes
from napkin_eq.certificate import Data, dumps, fingerprint, law_hash, loads, make, terms
from napkin_eq.check import check, main, sha
from napkin_eq.content import load_rules
from napkin_eq.errors import NapkinError, Undecided
from napkin_eq.explain import Closure, Step
from napkin_eq.judge import substitute
from napkin_eq.law import JUDGMENTS, REGISTRY, TRUE, Law, Max, Sum, Var, exp, inv
from napkin_eq.ops import OPS
from napkin_eq.term import CLASSES, Acc, Const, Fold, Group, Input, Online, Prev, Store, Term, rebuilt

load_rules()
q, x, d, e = axes("q x d e", q=64, d=16, e=8)
Q, K, V = Input("Q", (q, d)), Input("K", (x, d)), Input("V", (x, e), "float16", ("abs<=4",))
S = Sum(d, Q * K) * 0.25 * 2.0
P = exp(S - Max(x, S))
RATIO = exp(Prev(Max(x, S)) - Max(x, S))
LAWS = {law.name: law for law in REGISTRY.laws()}


@dataclass(frozen=True)
class Proof:
    status: str = "proved"
    grade: str = "C"
    method: str = "z3"


VERDICTS = {name: Proof(grade="A" if name in ("level", "group") else "C") for name in REGISTRY.statements}


def instances() -> Closure:
    total, body = Sum(x, P), Sum(x, P * V)
    found = Closure(REGISTRY.statements.values())
    fired: list[tuple[str, dict[str, Term | Axis]]] = [
        ("mul-commutes", {"a": P, "b": inv(total)}),
        ("mul-associates", {"a": inv(total), "b": P, "d": V}),
        ("distribute", {"a": inv(total), "b": P * V, "x": x}),
        ("rescale", {"a": P * V, "r": RATIO, "x": x}),
        ("rescale", {"a": P, "r": RATIO, "x": x}),
        ("fuse-online", {"a": P, "c": TRUE, "u": Acc() * RATIO, "x": x}),
        ("fuse-online", {"a": P * V, "c": TRUE, "u": Acc() * RATIO, "x": x}),
        ("mul-associates", {"a": Sum(d, Q * K), "b": Const(0.25), "d": Const(2.0)}),
        ("arithmetic", {"left": Const(0.25) * 2.0, "right": Const(0.5)}),
        ("distribute", {"a": Const(0.5), "b": Q * K, "x": d}),
        ("stream-max", {"a": S, "c": TRUE, "x": x}),
        ("fuse-max", {"a": S, "c": TRUE, "x": x}),
        ("group", {"a": inv(total) * body, "x": q}),
        ("level", {"a": inv(total) * body}),
    ]
    for name, bindings in fired:
        found.instance(name, True, bindings)
    return found


def derivation() -> tuple[Term, Term, list[Step]]:
    source = Sum(x, P * inv(Sum(x, P)) * V)
    short = Sum(d, Q * K) * 0.5
    m = Fold("max", x, short, TRUE, True)
    p, update = exp(short - m), Acc() * exp(Prev(m) - m)
    destination = Store(Group(q, inv(Online(x, p, TRUE, update, True)) * Online(x, p * V, TRUE, update, True)))
    return source, destination, instances().explain(source, destination)


def certificate() -> Data:
    source, destination, steps = derivation()
    return make(source, destination, steps, REGISTRY.statements.values(), VERDICTS, {"hardware": "h200", "tiles": {"q": 64}})


CERTIFICATE = certificate()


def sealed(data: Data) -> Data:
    return {**data, "sha256": sha({k: v for k, v in data.items() if k != "sha256"})}


def one(term: Term, law: str, path: tuple[int, ...], forward: bool = True, **bindings: Term | Axis) -> Step:
    """One step, built without asking anybody whether it is right."""
    sides = [substitute(side, bindings) for side in (LAWS[law].lhs, LAWS[law].rhs)]
    spine = [term]
    for place in path:
        spine.append(spine[-1].children[place])
    new = sides[forward]
    for parent, place in zip(spine[-2::-1], reversed(path), strict=True):
        new = rebuilt(parent, (*parent.children[:place], new, *parent.children[place + 1 :]))
    return Step(law, forward, path, tuple(sorted(bindings.items())), term, new)


def refusal(source: Term, *steps: Step) -> str:
    """What the checker says of steps that were written down whether right or not."""
    result = check(make(source, steps[-1].after, steps, REGISTRY.statements.values(), VERDICTS, {}))
    assert result.status == "refused"
    return result.problems[0]


# -- what is right ------------------------------------------------------------------------------------------------------


def test_a_derivation_is_accepted() -> None:
    start = time.perf_counter()
    result = check(CERTIFICATE)
    assert time.perf_counter() - start < 0.2
    source, destination, steps = derivation()
    assert (result.status, result.grade, result.steps, result.problems) == ("ok", "C", len(steps), ())
    assert (result.source, result.destination) == (fingerprint(source), fingerprint(destination))
    assert {s.law for s in steps} - {"arithmetic"} <= set(result.laws) and "scales-exp" in result.laws
    assert result.laws == {name: law_hash(REGISTRY.statements[name]) for name in result.laws}
    assert CERTIFICATE["preconditions"][2].startswith("input V (float16)") and CERTIFICATE["preconditions"][2].endswith("abs<=4")


def test_the_same_bytes_and_back() -> None:
    text = dumps(CERTIFICATE)
    assert dumps(certificate()) == text and loads(text) == CERTIFICATE and len(text) < 20_000
    source, destination, _ = derivation()
    decoded = terms(CERTIFICATE["nodes"])
    assert decoded[CERTIFICATE["source"]] is source and decoded[CERTIFICATE["destination"]] is destination


def test_the_checker_stands_alone(tmp_path: Path) -> None:
    shutil.copy(str(checker.__file__), tmp_path / "alone.py")
    (tmp_path / "c.json").write_text(dumps(CERTIFICATE))
    run = subprocess.run([sys.executable, "-I", "-S", "alone.py", "c.json"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0 and run.stdout.startswith("ok: "), run


def test_the_checker_speaks_the_same_language() -> None:
    words = {"n": "num", "r": "real", "i": "int", "b": "bool"}
    for name, shape in checker.OPS.items():
        takes, gives = shape.split(">")
        assert (tuple(words[t] for t in takes), words[gives]) == (OPS[name].takes, OPS[name].gives)
    assert set(checker.OPS) == set(OPS) and set(checker.SLOTS) == {*CLASSES, "Var"}
    kinds = {"a": ("axis",), "t": ("term", "mask")}
    for name, takes in checker.JUDGMENTS.items():
        assert all(kind in kinds[t] for t, kind in zip(takes, JUDGMENTS[name][0], strict=True))
    assert set(checker.JUDGMENTS) == set(JUDGMENTS)


# -- what is not right --------------------------------------------------------------------------------------------------


def places(data: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = list(data.items()) if isinstance(data, dict) else list(enumerate(data)) if isinstance(data, list) else []
    for key, value in items:
        yield from places(value, (*at, key))
    yield at


def changes(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [not value, int(value)]
    if isinstance(value, int):
        return [value + 1, value - 1, -1]
    if isinstance(value, str):
        return [value + "x", "add", "-inf"]
    if isinstance(value, list):
        return [value[:-1], value[::-1], [*value, *value[-1:]]] if value else [[0]]
    return [None, {}] if value else [0]


def altered(data: Data, at: tuple[Any, ...], value: Any) -> Data:
    changed = copy.deepcopy(data)
    inner: Any = changed
    for key in at[:-1]:
        inner = inner[key]
    inner[at[-1]] = value
    return changed


def told(result: checker.Result) -> tuple[Any, ...]:
    return result.source, result.destination, sorted(result.laws.items())


def test_every_change_breaks_the_seal() -> None:
    tried = 0
    for at in places(CERTIFICATE):
        if at and at != ("sha256",):
            value: Any = CERTIFICATE
            for key in at:
                value = value[key]
            changed = altered(CERTIFICATE, at, changes(value)[0])
            if changed != CERTIFICATE or isinstance(value, bool):
                assert check(changed).status == "refused", at
                tried += 1
    assert tried > 1000


@pytest.mark.slow
def test_no_change_of_meaning_passes_with_a_new_seal() -> None:
    """Who can write a seal can write another theorem, but not a false proof of this one."""
    said, accepted = told(check(CERTIFICATE)), 0
    for at in places(CERTIFICATE):
        # Words that claim nothing, and what provers say, which is for the reader to compare.
        if not at or at[0] in ("meta", "sha256") or (at[0] in ("laws", "inferences") and at[-1] in ("reading", "method", "grade")):
            continue
        value: Any = CERTIFICATE
        for key in at:
            value = value[key]
        for new in changes(value):
            changed = sealed(altered(CERTIFICATE, at, new))
            result = check(changed)
            if dumps(changed) != dumps(CERTIFICATE) and result.status == "ok":
                accepted += 1
                assert told(result) != said or _same_meaning(at, changed), (at, value, new)
    assert accepted > 0


def _same_meaning(at: tuple[Any, ...], changed: Data) -> bool:
    # One more entry at the end of a table, to which nothing refers.
    return at in (("nodes",), ("derivations",)) and changed[at[0]][: len(CERTIFICATE[at[0]])] == CERTIFICATE[at[0]]


@pytest.mark.parametrize(
    ("at", "value", "problem"),
    [
        (("schema",), 2, "not a certificate of schema 1"),
        (("trusted",), [], "trusts other things"),
        (("grade",), "A", "its grade is C"),
        (("laws", "rescale", "status"), "unknown", "rescale: not proved"),
        (("laws", "rescale", "conditions"), [], "its hash is not that of its statement"),
        (("laws", "level", "both"), True, "its hash is not that of its statement"),
        (("preconditions",), [], "preconditions"),
        (("steps", 0, "forward"), False, "is not that side of the law"),
        (("steps", 0, "law"), "magic", "malformed: KeyError: 'magic'"),
        (("steps", 0, "path"), [9], "its path leaves the term"),
        (("steps", 0, "path"), [-1], "its path leaves the term"),
        (("steps", 0, "bindings"), {}, "is not bound"),
        (("derivations", 0, "rule"), "hope", "malformed: KeyError: 'hope'"),
        (("destination",), CERTIFICATE["source"], "do not lead to the destination"),
    ],
)
def test_tampering_is_named(at: tuple[Any, ...], value: Any, problem: str) -> None:
    result = check(sealed(altered(CERTIFICATE, at, value)))
    assert result.status == "refused" and problem in result.problems[0], result


def test_a_gap_is_refused() -> None:
    for number in range(len(CERTIFICATE["steps"])):
        steps = CERTIFICATE["steps"]
        assert check(sealed({**CERTIFICATE, "steps": steps[:number] + steps[number + 1 :]})).status == "refused"
    for step, number in ((s, n) for s, n in zip(CERTIFICATE["steps"], range(99), strict=False) if s["conditions"]):
        assert check(sealed(altered(CERTIFICATE, ("steps", number, "conditions"), step["conditions"][:-1]))).status == "refused"


def test_numbers_are_folded_again() -> None:
    wrong = Step("arithmetic", True, (), (("left", Const(0.1) + 0.2), ("right", Const(0.3))), Const(0.1) + 0.2, Const(0.3))
    assert "add gives 0.30000000000000004" in refusal(Const(0.1) + 0.2, wrong)
    huge = Step("arithmetic", True, (), (("left", Const(1e200) * 1e200), ("right", Const(1e308))), Const(1e200) * 1e200, Const(1e308))
    assert "overflows" in refusal(huge.before, huge)


def test_a_stream_keeps_its_own_accumulator() -> None:
    statements = REGISTRY.statements.values()
    # An accumulator varies along axes that it does not show: it does not move out of a sum.
    for stands_for in (Input("C", ()), Acc()):
        update = Sum(e, stands_for * V)
        source = Online(q, Sum(e, V) * Q, TRUE, Acc() * Max(x, update))
        step = one(source, "distribute", (2, 1, 0), a=stands_for, b=V, x=e)
        if stands_for is Acc():
            assert "conditions of distribute are not derived" in _written(source, step)
        else:
            data = make(source, step.after, [step], statements, VERDICTS, {})
            assert check(data).status == "ok"
            number = data["nodes"].index(["Input", "C", [], "float", []])
            forged = sealed({**altered(data, ("nodes", number), ["Acc"]), "preconditions": data["preconditions"][1:]})
            assert "does not hold by itself" in check(forged).problems[0]
    assert "accumulator stands outside" in refusal(Acc() * 1.0, one(Acc() * 1.0, "mul-one", (), a=Acc()))


def test_a_step_does_not_carry_an_accumulator_into_another_stream() -> None:
    a, y = Var("a"), Axis("y")
    carry = Law("carry", "user", "", Sum(y, a), Online(y, a, TRUE, Acc()), (), False, "structure", "", "here")
    for factor, status in ((K, "ok"), (K * Acc(), "refused")):
        before, after = (Online(q, Sum(d, Q), TRUE, Max(x, Acc() * t)) for t in (Sum(d, factor), Online(d, factor, TRUE, Acc())))
        step = Step("carry", True, (2, 0, 1), (("a", factor), ("y", d)), before, after)
        result = check(make(before, after, [step], [carry], {"carry": Proof()}, {}))
        assert result.status == status, result
    assert "a would carry an accumulator" in result.problems[0]


def _written(source: Term, *steps: Step) -> str:
    with pytest.raises(Undecided) as caught:
        make(source, steps[-1].after, steps, REGISTRY.statements.values(), VERDICTS, {})
    return str(caught.value)


def test_before_the_first_block_nothing_is_known_to_be_positive() -> None:
    total = Sum(x, exp(K))
    source = Online(x, K * V, TRUE, Acc() * Prev(total * inv(total)))
    step = one(source, "cancel", (2, 1, 0), a=total)
    assert "before the first block an axis is empty" in refusal(source, step)
    fine = Online(x, K * V, TRUE, Acc() * (total * inv(total)))
    shown = make(fine, one(fine, "cancel", (2, 1), a=total).after, [one(fine, "cancel", (2, 1), a=total)], REGISTRY.statements.values(), VERDICTS, {})
    assert check(shown).status == "ok"


def test_what_is_not_derived_is_not_written() -> None:
    assert "the conditions of cancel are not derived" in _written(Q * inv(Q), one(Q * inv(Q), "cancel", (), a=Q))
    step = one(Q * K, "mul-commutes", (), a=Q, b=K)
    with pytest.raises(NapkinError, match="no verdict is given for mul-commutes"):
        make(Q * K, K * Q, [step], REGISTRY.statements.values(), {}, {})
    with pytest.raises(NapkinError, match="not among the laws"):
        make(Q * K, K * Q, [step], [], VERDICTS, {})
    unproved = make(Q * K, K * Q, [step], REGISTRY.statements.values(), {"mul-commutes": Proof("unknown", "D")}, {})
    assert check(unproved).problems == ("mul-commutes: not proved",)


def test_terms_that_do_not_fit_are_refused() -> None:
    ill: list[list[Any]] = [
        [["Const", True], ["Map", "exp", [0]]], [["Index", ["x", 4, 1]], ["Store", 1]], [["Input", "Q", [["x", 4, 3]], "real", []]],
        [["Input", "A", [["x", 4, 1]], "float", []], ["Input", "B", [["x", 5, 1]], "float", []], ["Map", "add", [0, 1]]],
        [["Const", "1.0"], ["Group", ["x", 4, 1], 0]], [["Input", "a b", [], "float", []]], [["Const", "nan"]], [["Const", "1.00"]],
        [["Magic", 1]], [["Const", "1.0"], ["Tuple", [0]], ["Tuple", [1]]], [["Acc"], ["Read", 0, ["x", 4, 1], 0]], [["Input", "A", [], "float", ["odd"]]],
    ]  # fmt: skip
    for rows in ill:
        data = sealed({**make(Q, Q, [], [], {}, {}), "nodes": rows, "source": len(rows) - 1, "destination": len(rows) - 1, "preconditions": []})
        assert check(data).status == "refused", rows
    for odd in ([["Magic", 1]], [["Store", -1]], [["Store"]], [7], [["Const", "nan"]], [["Index", ["a b", 4, 1]]]):
        with pytest.raises(NapkinError, match="row 0"):
            terms(odd)
    assert check(make(Q, Q, [], [], {}, {})).status == "ok"
    assert check(sealed({**make(Q, Q, [], [], {}, {}), "nodes": [["Var", "a", "real"]], "source": 0, "destination": 0})).status == "refused"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (dumps(CERTIFICATE), 0), (dumps({**CERTIFICATE, "grade": "A"}), 1), (dumps(CERTIFICATE)[:-200], 2), ("", 2), ("[" * 100_000, 2), ("{}", 1),
        ("null", 1), ("[]", 1), ('{"schema": 1}', 1), ('{"schema": 1, "schema": 1}', 2), ('{"schema": NaN}', 2), ("9" * 10_000, 2), ("\x00\xff", 2),
        (" " * (checker.MAX_BYTES + 1), 2),
    ],
    ids=range(14),
)  # fmt: skip
def test_files(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, code: int) -> None:
    file = tmp_path / "certificate.json"
    file.write_text(text, encoding="latin-1")
    assert main([str(file)]) == code
    shown = capsys.readouterr()
    assert len((shown.out + shown.err).strip().splitlines()) == 1
    if code == 2:
        with pytest.raises(NapkinError, match="certificate: "):
            loads(text.encode("latin-1"))


def test_no_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main([str(tmp_path / "none")]) == 2 and main([]) == 2
    assert "unusable" in capsys.readouterr().err


def test_deep_and_wide_terms_are_refused() -> None:
    chain = [["Const", "1.0"], *(["Map", "neg", [n]] for n in range(600))]
    base = make(Q, Q, [], [], {}, {})
    deep = sealed({**base, "nodes": chain, "source": 600, "destination": 600, "preconditions": []})
    assert "too deep" in check(deep).problems[0]
    nested: Any = 0
    for _ in range(900):
        nested = [nested]
    assert check(sealed({**base, "steps": [nested]})).status == "refused"
    assert check(json.loads(dumps(base))).status == "ok"


def test_a_pattern_variable_takes_its_own_kind_only() -> None:
    assert LAWS["mul-commutes"].lhs.args[0] is Var("a")
    data = make(Q * K, K * Q, [one(Q * K, "mul-commutes", (), a=Q, b=K)], REGISTRY.statements.values(), VERDICTS, {})
    mask = len(data["nodes"])
    data["nodes"].append(["Const", True])
    assert "is not bound to a real term" in check(sealed(altered(data, ("steps", 0, "bindings", "a"), mask))).problems[0]
    assert "binds other variables" in check(sealed(altered(data, ("steps", 0, "bindings", "z"), mask))).problems[0]
