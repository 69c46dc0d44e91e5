"""Certificates: round trip, and that no change of meaning gets past the checker."""

from __future__ import annotations

import ast
import copy
import hashlib
import json
import math
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from napkin_eq.certify import check as checker
from napkin_eq.certify.certificate import (
    Data,
    checked,
    dumps,
    ends,
    loads,
    make,
    restated,
    sealed,
    stated,
    with_evidence,
)
from napkin_eq.certify.check import main, sha
from napkin_eq.certify.recheck import by_solvers, told, with_numeric
from napkin_eq.cli import main as cli
from napkin_eq.egraph.congruence import Closure, Step
from napkin_eq.lang.axis import Axis, axes
from napkin_eq.lang.errors import NapkinError, Undecided
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.json_form import LANGUAGE
from napkin_eq.lang.operators import MONOIDS, OPS, REDUCTIONS
from napkin_eq.lang.term import CLASSES, DTYPES, Acc, Const, Fold, Group, Input, Online, Prev, Store, Term, rebuilt
from napkin_eq.laws.inference import substitute
from napkin_eq.laws.law import JUDGMENTS, REGISTRY, TRUE, Law, Max, Statement, Sum, Var, exp, inv
from napkin_eq.laws.loader import load_rules
from napkin_eq.prove.prove import prove
from napkin_eq.prove.verdict import Filed, Verdict
from napkin_eq.verify.selftest.samples import samples

load_rules()
q, x, d, e = axes("q x d e", q=64, d=16, e=8)
Q, K, V = Input("Q", (q, d)), Input("K", (x, d)), Input("V", (x, e), "float16", ("abs<=4",))
S = Sum(d, Q * K) * 0.25 * 2.0
P = exp(S - Max(x, S))
RATIO = exp(Prev(Max(x, S)) - Max(x, S))
LAWS = {law.name: law for law in REGISTRY.laws()}


FILED = Filed("reduction/distribute.1.smt2", "0" * 64, "unsat", {"cvc5": "unknown", "z3": "unsat"})
NEED_LANES = ("sum-constant", "distribute", "pos-size", "pos-sum", "finite-reduce-max", "le-max")
VERDICTS = {
    name: Verdict(name, "proved", "A", "definition", "", 0.0, lanes=("x",) if name in NEED_LANES else ())
    for name in REGISTRY.statements
} | {"distribute": Verdict("distribute", "proved", "C", "solvers", "", 0.0, (FILED,), lanes=("x",))}


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
    return make(
        source, destination, steps, REGISTRY.statements.values(), VERDICTS, {"hardware": "h200", "tiles": {"q": 64}}
    )


CERTIFICATE = certificate()


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
    result = checked(make(source, steps[-1].after, steps, REGISTRY.statements.values(), VERDICTS, {}))
    assert result["status"] == "refused"
    return str(result["problem"])


# -- what is right -----------------------------------------------------------------------------------------------------


def test_a_derivation_is_accepted(within: Callable[..., dict[str, Any]]) -> None:
    content = dumps(CERTIFICATE).encode()
    result = within(0.2, lambda: checker.check(content))
    _, _, steps = derivation()
    assert (result["status"], result["grade"], result["steps"], result["theorem"]) == (
        "ok",
        "C",
        len(steps),
        sha(CERTIFICATE["theorem"]),
    )
    assert {s.law for s in steps} - {"arithmetic"} <= set(result["laws"]) and "scales-exp" in result["laws"]
    assert result["laws"] == {name: stated(REGISTRY.statements[name])["sha256"] for name in result["laws"]}
    assert CERTIFICATE["theorem"]["inputs"]["V"] == {"dims": ["x", "e"], "dtype": "float16", "facts": ["abs<=4"]}


def test_the_same_bytes_and_back() -> None:
    text = dumps(CERTIFICATE)
    assert dumps(certificate()) == text and loads(text) == CERTIFICATE and len(text) < 20_000
    assert ends(CERTIFICATE) == derivation()[:2]


def test_the_checker_stands_alone(tmp_path: Path) -> None:
    shutil.copy(str(checker.__file__), tmp_path / "alone.py")
    (tmp_path / "c.json").write_text(dumps(CERTIFICATE))
    run = subprocess.run(
        [sys.executable, "-I", "-S", "alone.py", "c.json"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0 and run.stdout.startswith("ok: "), run


def test_the_documents_go_through_all_of_the_checker() -> None:
    told_of = (Path(__file__).parents[2] / "docs" / "checker.md").read_text(encoding="utf-8")
    defined = [
        node.name
        for node in ast.walk(ast.parse(Path(checker.__file__).read_text()))
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    ]
    assert len(defined) > 20 and [name for name in defined if f"`{name}`" not in told_of] == []
    assert len(Path(checker.__file__).read_text().splitlines()) <= 600


def test_the_checker_speaks_the_same_language() -> None:
    constructors = LANGUAGE["constructors"]
    words = {"real": "real", "int": "int", "bool": "bool", "num": "num"}
    for name, op in OPS.items():
        parts, gives = constructors[name]
        assert (tuple(words[part] for part in parts), words[gives]) == (op.takes, op.gives)
    judgments = {"axis": {"named"}, "term": {"num", "value", "real"}, "mask": {"bool"}}
    for name, (takes, _) in JUDGMENTS.items():
        parts, gives = constructors[f"is-{name}"]
        assert gives == "judgment" and all(part in judgments[kind] for part, kind in zip(parts, takes, strict=True)), (
            name
        )
    assert set(constructors) == {*OPS, *CLASSES, "Var", "is-equal", *(f"is-{name}" for name in JUDGMENTS)} - {"Map"}
    assert sha(LANGUAGE) == checker.LANGUAGE
    assert LANGUAGE["words"]["dtype"] == DTYPES and set(LANGUAGE["words"]["running"]) == set(MONOIDS)
    assert LANGUAGE["words"]["monoid"] == {name: monoid.gives for name, monoid in REDUCTIONS.items()}


# -- what is not right -------------------------------------------------------------------------------------------------


def leaves(data: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place of JSON data that holds no more data, as what holds it and its key there; and every
    empty one.
    """
    for key, value in list(data.items()) if isinstance(data, dict) else list(enumerate(data)):
        if isinstance(value, (dict, list)) and value:
            yield from leaves(value)
        else:
            yield data, key


def changes(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [not value, int(value)]
    if isinstance(value, int):
        return [value + 1, value - 1]
    if isinstance(value, str):
        return [value + "x", "mul" if value == "add" else "add"]
    return [0]


def altered(data: Data, at: tuple[Any, ...], value: Any) -> Data:
    changed = copy.deepcopy(data)
    inner: Any = changed
    for key in at[:-1]:
        inner = inner[key]
    inner[at[-1]] = value
    return changed


def test_every_change_of_a_leaf_breaks_the_seal() -> None:
    data, tried = copy.deepcopy(CERTIFICATE), 0
    for holder, key in leaves(data):
        value = holder[key]
        for new in changes(value):
            holder[key] = new
            assert checked(data)["status"] == "refused", (key, value, new)
            tried += 1
        holder[key] = value
    assert tried > 2000 and checked(data)["status"] == "ok"


@pytest.mark.slow
def test_no_change_of_a_leaf_passes_with_a_new_seal() -> None:
    """Who can write a seal can write another theorem, or rest it on other laws, but cannot make a false proof of this
    one.
    """
    data, accepted = copy.deepcopy(CERTIFICATE), []
    said = {name: value for name, value in checked(data).items() if name != "steps"}
    for part in ("theorem", "nodes", "laws", "instances", "steps", "status", "grade", "schema"):
        for holder, key in leaves(data[part] if isinstance(data[part], (dict, list)) else {part: data[part]}):
            if key in ("method", "name", "lanes") or (key == "sha256" and "answers" in holder):
                continue  # what a proof rests on, and of which axes it is one: `check --smt` shows it again
            value = holder[key]
            for new in changes(value):
                holder[key] = new
                result = checked(sealed(data if isinstance(data[part], (dict, list)) else {**data, part: new}))
                if result["status"] == "ok":
                    accepted.append((part, key, value, new))
                    assert any(result[name] != said[name] for name in said), accepted[-1]
            holder[key] = value
    # Names, facts, sizes of inputs: other theorems. Floating-point classes are not leaves that a proof rests on, but
    # hashed.
    assert {part for part, *_ in accepted} <= {"theorem", "laws"}


TAMPERED: list[tuple[tuple[Any, ...], Any, str]] = [
    (("schema",), 3, "no certificate of schema 5"),
    (("schema",), 5.0, "no certificate of schema 5"),
    (("theorem", "language", "roles", "bound"), [], "not written in the language"),
    (("theorem", "language", "trusted"), [], "not written in the language"),
    (("theorem", "axes", "x", "size"), -1, "no usable size"),
    (("theorem", "inputs", "V", "dtype"), "float9", "input V has no usable type or facts"),
    (("grade",), "A", "its status and grade are not C"),
    (("status",), "tested", "its status and grade are not C"),
    (("laws", "distribute", "proof", "grade"), "-", "distribute: its grade is not C, that of its evidence"),
    (("laws", "distribute", "proof", "grade"), "A", "distribute: its grade is not C, that of its evidence"),
    (("laws", "distribute", "proof", "grade"), "D", "distribute: its grade is not C, that of its evidence"),
    (("laws", "distribute", "proof", "files"), [], "distribute: its grade is not D, that of its evidence"),
    (
        ("laws", "distribute", "proof", "files", 0, "answers", "z3"),
        "unknown",
        "distribute: its grade is not D, that of its evidence",
    ),
    (
        ("laws", "distribute", "proof", "files", 0, "answers", "cvc5"),
        "unsat",
        "distribute: its grade is not B, that of its evidence",
    ),
    (("laws", "distribute", "proof", "files", 0, "form"), True, "distribute: its grade is not A, that of its evidence"),
    (("laws", "distribute", "proof", "files", 0, "form"), 1, ""),
    (
        ("laws", "distribute", "proof", "kernel"),
        {"rocq/Laws.v": "0" * 64},
        "distribute: its grade is not A, that of its evidence",
    ),
    (("laws", "level", "proof", "lanes"), 1, "its lanes are no axes"),
    (("laws", "distribute", "proof", "kernel"), [], "distribute: its grade is not C, that of its evidence"),
    (("laws", "level", "proof", "method"), "numeric", "level: its grade is not D, that of its evidence"),
    (("laws", "distribute", "proof", "files", 0, "answers", "z3"), "sat", "distribute: not proved"),
    (("laws", "rescale", "premises"), [], "its hash is not that of its statement"),
    (("laws", "level", "floating"), ["unsafe"], "its hash is not that of its statement"),
    (("steps", 0, "forward"), not CERTIFICATE["steps"][0]["forward"], "is not that side of the law"),
    (("steps", 0, "instance"), 99, "there is no instance 99"),
    (("steps", 0, "path"), [9], "there is no child, in step 0"),
    (("steps", 0, "path"), [-1], "there is no child, in step 0"),
    (("steps", 0, "note"), "", "expected an object with the keys instance forward path"),
    (("instances", 0, "rule"), "hope", "malformed: KeyError('hope')"),
    (("instances", 0, "claim"), 0, ""),
    (("theorem", "destination"), CERTIFICATE["theorem"]["source"], "do not lead to the destination"),
    (("theorem", "nodes", 0), ["Var", "real", "a"], "Var does not belong into a term"),
    (("theorem", "nodes", 0), ["Const", "real", ["Acc"]], "is no row"),
    (("more",), 1, "expected an object with the keys"),
]


@pytest.mark.parametrize(("at", "value", "problem"), TAMPERED)
def test_tampering_is_named(at: tuple[Any, ...], value: Any, problem: str) -> None:
    result = checked(sealed(altered(CERTIFICATE, at, value)))
    assert result["status"] == "refused" and problem in result["problem"] and "\n" not in result["problem"], result


def test_a_gap_is_refused() -> None:
    steps = CERTIFICATE["steps"]
    for number in range(len(steps)):
        assert checked(sealed({**CERTIFICATE, "steps": steps[:number] + steps[number + 1 :]}))["status"] == "refused"
    bare = 0
    for number, instance in enumerate(CERTIFICATE["instances"]):
        if instance["premises"]:
            bare += 1
            assert (
                "lacks a premise"
                in checked(sealed(altered(CERTIFICATE, ("instances", number, "premises"), instance["premises"][:-1])))[
                    "problem"
                ]
            )
        if instance["bindings"]:
            names = sorted(instance["bindings"])
            assert (
                checked(sealed(altered(CERTIFICATE, ("instances", number, "bindings", names[0]), 0)))["status"]
                == "refused"
            )
    assert bare > 3


def test_a_law_that_was_only_tested_makes_a_theorem_that_was_only_tested() -> None:
    step = one(Q * K, "mul-commutes", (), a=Q, b=K)
    verdict = Verdict("mul-commutes", "unknown", "D", "numeric", "", 0.0)
    data = make(Q * K, K * Q, [step], REGISTRY.statements.values(), {"mul-commutes": verdict}, {})
    assert (data["status"], data["grade"], checked(data)["grade"]) == ("tested", "D", "D")
    assert "its status and grade are not D" in checked(sealed({**data, "status": "proved"}))["problem"]


def test_numbers_are_folded_again_and_never_rounded() -> None:
    tenths = Const(0.1) + 0.2
    wrong = Step(
        "arithmetic",
        True,
        (),
        (("left", tenths), ("right", Const(0.30000000000000004))),
        tenths,
        Const(0.30000000000000004),
    )
    assert "does not hold by itself" in refusal(tenths, wrong)
    right = Step("arithmetic", True, (), (("left", tenths), ("right", Const(0.3))), tenths, Const(0.3))
    assert checked(make(tenths, Const(0.3), [right], REGISTRY.statements.values(), VERDICTS, {}))["status"] == "ok"
    third = Const(Fraction(1, 3))
    assert third is Const(Fraction(2, 6)) and third is not Const(1 / 3) and Const(Fraction(1, 10)) is Const(0.1)
    whole = Step("arithmetic", True, (), (("left", third * 3.0), ("right", Const(1.0))), third * 3.0, Const(1.0))
    data = make(third * 3.0, Const(1.0), [whole], REGISTRY.statements.values(), VERDICTS, {})
    assert (
        checked(data)["status"] == "ok"
        and ["Const", "real", "1/3"] in data["theorem"]["nodes"]
        and ends(data)[0] is third * 3.0
    )


@pytest.mark.parametrize(
    ("op", "given", "result"),
    [
        ("add", ["0.1", "0.2"], "0.3"), ("mul", ["-3.0", "0.5"], "-1.5"), ("max", ["-inf", "2.0"], "2.0"),
        ("min", ["-inf", "2.0"], "-inf"),
        ("add", ["-inf", "2.0"], "-inf"), ("mul", ["-inf", "-2.0"], "-inf"), ("mul", ["0.0", "-inf"], "-inf"),
        ("neg", ["-inf"], "-inf"),
        ("inv", ["0.0"], "0.0"),
        ("inv", ["-4.0"], "-0.25"), ("inv", ["3.0"], "1/3"), ("inv", ["-inf"], "-inf"),
        ("max", ["-inf", "-inf"], "-inf"), ("neg", ["-0.0"], "0.0"),
        ("mul", ["1e-200", "1e-200"], f"1/1{'0' * 400}"), ("add", ["1e+16", "1.0"], "10000000000000001/1"),
        ("min", ["2.0", "1.0"], "1.0"),
        ("max", ["2.0", "1.0"], "2.0"), ("neg", ["0.1"], "-0.1"),
    ],
)  # fmt: skip
def test_numbers_mean_what_the_language_says(op: str, given: list[str], result: str) -> None:
    assert checker.computed(op, [checker.exact(number) for number in given]) == checker.exact(result)


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
            assert checked(data)["status"] == "ok"
            number = data["theorem"]["nodes"].index(["Input", "C"])
            assert (
                "does not hold by itself"
                in checked(sealed(altered(data, ("theorem", "nodes", number), ["Acc"])))["problem"]
            )
    assert "accumulator stands outside" in refusal(Acc() * 1.0, one(Acc() * 1.0, "mul-one", (), a=Acc()))


def test_a_step_does_not_carry_an_accumulator_into_another_stream() -> None:
    a, y = Var("a"), Axis("y")
    carry = Law("carry", "user", "", Sum(y, a), Online(y, a, TRUE, Acc()), (), False, "structure", "", "here")
    for factor, status in ((K, "ok"), (K * Acc(), "refused")):
        before, after = (
            Online(q, Sum(d, Q), TRUE, Max(x, Acc() * t)) for t in (Sum(d, factor), Online(d, factor, TRUE, Acc()))
        )
        step = Step("carry", True, (2, 0, 1), (("a", factor), ("y", d)), before, after)
        result = checked(make(before, after, [step], [carry], {"carry": VERDICTS["level"]}, {}))
        assert result["status"] == status, result
    assert "['a'] would carry an accumulator" in result["problem"]


def _written(source: Term, *steps: Step) -> str:
    with pytest.raises(Undecided) as caught:
        make(source, steps[-1].after, steps, REGISTRY.statements.values(), VERDICTS, {})
    return str(caught.value)


def test_before_the_first_block_nothing_is_known_to_be_positive() -> None:
    total = Sum(x, exp(K))
    source = Online(x, K * V, TRUE, Acc() * Prev(total * inv(total)))
    step = one(source, "cancel", (2, 1, 0), a=total)
    assert "do not hold before the first block" in refusal(source, step)
    fine = Online(x, K * V, TRUE, Acc() * (total * inv(total)))
    shown = make(
        fine,
        one(fine, "cancel", (2, 1), a=total).after,
        [one(fine, "cancel", (2, 1), a=total)],
        REGISTRY.statements.values(),
        VERDICTS,
        {},
    )
    assert checked(shown)["status"] == "ok"


def test_what_is_not_derived_is_not_written() -> None:
    assert "the conditions of cancel are not derived" in _written(Q * inv(Q), one(Q * inv(Q), "cancel", (), a=Q))
    step = one(Q * K, "mul-commutes", (), a=Q, b=K)
    with pytest.raises(NapkinError, match="no verdict is given for mul-commutes"):
        make(Q * K, K * Q, [step], REGISTRY.statements.values(), {}, {})
    with pytest.raises(NapkinError, match="not among the laws"):
        make(Q * K, K * Q, [step], [], VERDICTS, {})


def placed(rows: list[Any]) -> str:
    """What the checker says of a table of rows, whose last one is claimed to be equal to itself."""
    base = make(K * Q, K * Q, [], [], {}, {})
    theorem = {**base["theorem"], "nodes": rows, "source": len(rows) - 1, "destination": len(rows) - 1}
    return str(checked(sealed({**base, "theorem": theorem}))["status"])


def test_terms_that_do_not_fit_are_refused() -> None:
    assert placed([["Input", "K"], ["exp", 0]]) == "ok"
    ill: list[list[Any]] = [
        [["Const", "bool", "1"], ["exp", 0]], [["Index", "x"], ["Store", 1]], [["Input", "Z"]],
        [["Const", "real", "nan"]], [["Const", "real", "1_x"]],
        [["Magic", 1]], [["Const", "real", "1.0"], ["Tuple", 0], ["Tuple", 1]], [["Acc"], ["Read", "x", 0, 0]],
        [["Input", "K"], ["Store", -1]],
        [["Const", "real", "1.0"], ["Store"]], [7], [["Index", 4]], [["Index", None]], [["Var", "real", "a"]],
        [["Acc"]], [["Input", "K"], ["add", 0, 0, 0]],
        [["Input", "K"], ["Const", "bool", "1"], ["Reduce", "mean", "x", 0, 1]],
        [["Input", "K"], ["Reduce", "sum", "x", 0, 0]],
        [["Input", "K"], ["Const", "bool", "1"], ["Online", "x", 0, 1, 0, "alone"]],
        [["Input", "K"], ["Index", "x"], ["add", 0, 1]],
    ]  # fmt: skip
    for rows in ill:
        assert placed(rows) == "refused", rows


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (dumps(CERTIFICATE), 0), (dumps({**CERTIFICATE, "grade": "A"}), 1), (dumps(CERTIFICATE)[:-200], 1), ("", 1),
        ("[" * 100_000, 1), ("{}", 1),
        ("null", 1), ("[]", 1), ('{"schema":5}', 1), ('{"schema":5,"schema":5}', 1), ('{"schema":NaN}', 1),
        ("9" * 10_000, 1), ("\x00\xff", 1),
        (" " * (checker.MAX_BYTES + 1), 1), (json.dumps(CERTIFICATE), 1),
        ("{" + dumps(CERTIFICATE)[1:].replace('"schema":5', '"schema":1', 1), 1),
    ],
    ids=range(16),
)  # fmt: skip
def test_files(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, code: int) -> None:
    file = tmp_path / "certificate.json"
    file.write_text(text, encoding="latin-1")
    assert main([str(file)]) == code
    shown = capsys.readouterr()
    assert len((shown.out + shown.err).strip().splitlines()) == 1
    assert shown.out.startswith("refused: " if code else "ok: ") and "JSONDecodeError" not in shown.out


def test_what_is_no_certificate_is_not_loaded() -> None:
    for text in (b"", b"[" * 100_000, b"{}", b"null", dumps(CERTIFICATE)[:-200].encode(), b"\x00\xff", b"9" * 10_000):
        with pytest.raises(NapkinError, match="certificate: "):
            loads(text)


def test_no_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main([str(tmp_path / "none")]) == 2 and main([]) == 2
    assert "unusable" in capsys.readouterr().err


def test_deep_and_wide_terms_are_refused() -> None:
    base = make(Q, Q, [], [], {}, {})
    nested: Any = 0
    for _ in range(900):
        nested = [nested]
    assert checked(sealed({**base, "steps": [nested]}))["status"] == "refused"
    # The instance of a pattern that doubles with every row is cut short.
    rows = [["Var", "real", "a"], *(["add", n, n] for n in range(40)), ["is-equal", 40, 40]]
    law = {"nodes": rows, "conclusion": 41, "premises": [], "floating": []}
    law |= {
        "sha256": sha(["wide", *law.values()]),
        "proof": {"lanes": [], "grade": "A", "kernel": {}, "method": "definition", "files": []},
    }
    wide = {
        **base,
        "laws": {"wide": law},
        "instances": [{"rule": "wide", "bindings": {"a": 0}, "claim": 0, "premises": []}],
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checker, "MAX_WORK", 20_000)
        assert "it is too large" in checked(sealed(wide))["problem"]
    assert checked(json.loads(dumps(base)))["status"] == "ok"


def test_a_pattern_variable_takes_its_own_kind_only() -> None:
    assert LAWS["mul-commutes"].lhs.args[0] is Var("a")
    data = make(Q * K, K * Q, [one(Q * K, "mul-commutes", (), a=Q, b=K)], REGISTRY.statements.values(), VERDICTS, {})
    data["nodes"].append(["Const", "bool", "1"])
    mask = len(data["theorem"]["nodes"]) + len(data["nodes"]) - 1
    assert "is bound to no real" in checked(sealed(altered(data, ("instances", 0, "bindings", "a"), mask)))["problem"]
    assert "binds other variables" in checked(sealed(altered(data, ("instances", 0, "bindings", "z"), mask)))["problem"]
    assert checked(sealed(altered(data, ("instances", 0, "bindings", "a"), "x")))["status"] == "refused"


def test_a_law_that_needs_a_lane_is_not_used_before_the_first_block(tmp_path: Path) -> None:
    """Before the first block an axis is empty: a sum over it is 0, and the absent value times 0 is absent."""
    array, absent = Input("A", (x,)), Const(float("-inf"))

    def stream(inner: Term) -> Term:
        return Online(x, array, TRUE, Acc() + Prev(inner))

    source, destination = stream(Sum(x, absent * array)), stream(absent * Sum(x, array))
    values = [float(evaluate(term, {"A": np.array([1.0, 2.0])}, {"x": 2}, 2)) for term in (source, destination)]
    assert values == [3.0, -math.inf]
    step = Step("distribute", True, (2, 1, 0), (("a", absent), ("b", array), ("x", x)), source, destination)
    found = {v.name: v for v in prove([REGISTRY.statements["distribute"], REGISTRY.statements["sum-add"]])}
    assert (found["distribute"].lanes, found["sum-add"].lanes) == (("x",), ())
    data = make(source, destination, [step], REGISTRY.statements.values(), found, {})
    assert "do not hold before the first block" in checked(data)["problem"]
    lying = sealed(altered(data, ("laws", "distribute", "proof", "lanes"), []))
    assert checked(lying)["status"] == "ok" and "needs lanes along x, which it does not say there" in told(
        by_solvers(lying, tmp_path)
    )
    both = stream(Sum(x, array + array)), stream(Sum(x, array) + Sum(x, array))
    step = Step("sum-add", True, (2, 1, 0), (("a", array), ("b", array), ("x", x)), *both)
    assert checked(make(*both, [step], REGISTRY.statements.values(), found, {}))["status"] == "ok"


# -- what the laws rest on, shown again --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cited() -> Data:
    """A certificate of one step, its law and inference proved by the solvers installed here."""
    x, a = Axis("x"), Input("A", (Axis("x"),))
    statements = [REGISTRY.statements[name] for name in ("cancel", "pos-nonzero", "pos-exp")]
    term = exp(a) * inv(exp(a))
    step = Step("cancel", True, (), (("a", exp(a)),), Sum(x, term), Sum(x, Const(1.0)))
    return make(term, Const(1.0), [step], statements, {v.name: v for v in prove(statements)}, {})


def verdicts_of(report: Data, what: str) -> set[str]:
    return {row["verdict"] for row in report["rows"] if row["what"] == what}


def test_the_solvers_answer_again_what_a_law_rests_on(cited: Data, tmp_path: Path) -> None:
    report = by_solvers(cited, tmp_path)
    assert verdicts_of(report, "law") == {"confirmed"} and verdicts_of(report, "script") <= {"confirmed", "unknown"}
    assert report["refuted"] == 0 and len(report["rows"]) >= 5 and "laws 3" in told(report)


def test_evidence_that_was_tampered_with_is_refuted(cited: Data, tmp_path: Path) -> None:
    name = next(name for name, law in cited["laws"].items() if law["proof"]["files"])
    place = ("laws", name, "proof", "files", 0)
    for key, value in (("sha256", "0" * 64), ("name", "../../etc/passwd"), ("name", "facts/none.smt2"), ("name", 7)):
        assert by_solvers(sealed(altered(cited, (*place, key), value)), tmp_path)["refuted"] >= 1, key
    assert verdicts_of(by_solvers(cited, tmp_path, tmp_path / "empty"), "script") == {"refuted"}
    other = by_solvers(altered(cited, ("laws", name, "sha256"), "0" * 64), tmp_path)
    assert [row["detail"] for row in other["rows"] if row["verdict"] == "refuted"] == [
        "is not the law that is registered here under this name"
    ]
    strange = {**cited, "laws": {"mine": cited["laws"][name]}}
    assert verdicts_of(by_solvers(strange, tmp_path), "law") == {"confirmed"}  # proved as it is stated there
    with pytest.MonkeyPatch.context() as patch:  # a grade that is not reached here
        patch.setattr(
            "napkin_eq.certify.recheck.prove",
            lambda listed: [Verdict(s.name, "proved", "D", "numeric", "", 0.0) for s in listed],
        )
        assert verdicts_of(by_solvers(cited, tmp_path), "law") == {"unknown"}
    with pytest.raises(NapkinError, match="not of the form"):
        by_solvers({**cited, "evidence": []}, tmp_path)


def test_a_law_is_read_back_as_it_was_stated() -> None:
    for name, statement in REGISTRY.statements.items():
        here, back = stated(statement), stated(restated(name, stated(statement)))
        # Ranges in floating point come last, and are no part of a proof
        assert back["nodes"] == here["nodes"][: len(back["nodes"])], name
        assert (back["conclusion"], back["premises"]) == (here["conclusion"], here["premises"]), name


def test_a_law_that_does_not_ship_is_proved_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A false law makes a false equation that no checker of steps can see; whoever checks it here is told why it is
    false.
    """
    a, w, file = Var("a"), Axis("w"), tmp_path / "certificate.json"
    array = Input("A", (x,))
    for law, code, said in (
        (
            Law("mine", "user", "", Sum(w, a + a), Sum(w, a) * 2.0, (), False, "algebra", "", "here"),
            0,
            "mine does not ship as it stands there: proved again",
        ),
        (
            Law("mine", "user", "", Sum(w, a * a), Sum(w, a) * 2.0, (), False, "algebra", "", "here"),
            1,
            "refused: law mine is false: ",
        ),
        (
            Law("sum-add", "user", "", Sum(w, a * a), Sum(w, a) * 2.0, (), False, "algebra", "", "here"),
            1,
            "refused: law sum-add is false: ",
        ),
    ):
        before, after = (substitute(side, {"a": array, "w": x}) for side in (law.lhs, law.rhs))
        step = Step(law.name, True, (), (("a", array), ("w", x)), before, after)
        file.write_text(
            dumps(
                make(
                    before,
                    after,
                    [step],
                    [law],
                    {law.name: Verdict(law.name, "proved", "A", "definition", "", 0.0, lanes=("w",))},
                    {},
                )
            )
        )
        assert checker.check(file.read_bytes())["status"] == "ok"
        assert cli.main(["check", str(file)]) == code and said in capsys.readouterr().out


def test_what_was_found_of_the_kernels_is_shown_again(cited: Data, tmp_path: Path) -> None:
    script = "(set-logic QF_LIA)\n(set-info :status unsat)\n(declare-const n Int)\n(assert (< n n))\n(check-sat)\n"
    kernel = b"# a kernel\n"
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "000-bounds.smt2").write_text(script)
    (tmp_path / "k.py").write_bytes(kernel)
    query = {"kernel": "kernel_0", "kind": "bounds", "about": "n", "verdict": "proved", "answers": {"z3": "unsat"}}
    query["sha256"] = hashlib.sha256(script.encode()).hexdigest()
    found = {"kernels": [{"file": "k.py", "sha256": hashlib.sha256(kernel).hexdigest()}], "index": {"queries": [query]}}
    data = with_evidence(make(Q, Q, [], [], {}, {"bound": 1.0}), **found, numeric={"max_bound": float("inf")})
    assert checked(data)["status"] == "ok" and data["evidence"]["numeric"] == {"max_bound": "inf"}
    assert by_solvers(data, tmp_path)["confirmed"] == 2
    assert by_solvers(data, tmp_path / "elsewhere")["unknown"] == 2
    (tmp_path / "k.py").write_bytes(b"# another\n")
    (tmp_path / "index" / "000-bounds.smt2").write_text(script.replace("(< n n)", "(< n 1)"))
    again = by_solvers(data, tmp_path)
    assert (verdicts_of(again, "kernel"), verdicts_of(again, "coordinate")) == ({"refuted"}, {"unknown"})


def test_what_was_run_is_added_to_the_certificate_of_the_same_diagram(tmp_path: Path) -> None:
    file, about = tmp_path / "certificate.json", {"diagram": "row", "hardware": "h200"}
    file.write_text(dumps(make(Q, Q, [], [], {}, about)))
    report = {**about, "schema": 1, "cases": [{"family": "normal", "seed": 7, "max_bound": float("inf")}]}
    for times in (1, 2):
        with_numeric(file, report)
        data = loads(file.read_bytes())
        assert (
            checked(data)["status"] == "ok"
            and [run["cases"][0]["seed"] for run in data["evidence"]["numeric"]] == [7] * times
        )
    with pytest.raises(NapkinError, match="its diagram is 'row', what was run is 'other'"):
        with_numeric(file, {**report, "diagram": "other"})
    file.write_text(file.read_text().replace("row", "now"))
    with pytest.raises(NapkinError, match="is refused, so nothing is added"):
        with_numeric(file, report)


def test_a_gigantic_certificate_is_refused_soon() -> None:
    base = make(Q, Q, [], [], {}, {})
    many = {f"a{n}": {"size": 4, "multiple": 1} for n in range(20_000)}
    rows: list[list[Any]] = [["Input", "Q"], ["Const", "bool", "1"], ["Reduce", "sum", "a0", 0, 1]]
    for n in range(1, 20_000):
        rows.append(["Reduce", "sum", f"a{n}", len(rows) - 1, 1])
    theorem = {**base["theorem"], "axes": {**base["theorem"]["axes"], **many}, "nodes": rows}
    result = checked(sealed({**base, "theorem": theorem}))
    assert result == {"status": "refused", "problem": "it is too large"}


def test_what_would_take_time_squared_takes_none(within: Callable[..., None]) -> None:
    """A law of many variables, many axes beside many inputs, wide rows over a term with many axes: seconds of work at
    most.
    """
    base, count, wide = make(Q, Q, [], [], {}, {}), 20_000, 4_000
    rows: list[list[Any]] = [["Var", "real", f"v{n}"] for n in range(count)] + [["is-le", n, n] for n in range(count)]
    law = {
        **CERTIFICATE["laws"]["level"],
        "nodes": rows,
        "conclusion": count,
        "premises": list(range(count + 1, 2 * count)),
    }
    law["sha256"] = sha(["level", *(law[key] for key in ("nodes", "conclusion", "premises", "floating"))])
    axes_ = {f"a{n}": {"size": None, "multiple": 1} for n in range(count)}
    inputs = {f"i{n}": {"dims": [], "dtype": "float", "facts": []} for n in range(count)}
    theorem = {**base["theorem"], "axes": base["theorem"]["axes"] | axes_}
    listed = {**theorem, "inputs": base["theorem"]["inputs"] | inputs}
    many = {"dims": sorted(axes_)[:wide], "dtype": "float", "facts": []}
    summed = {**theorem, "inputs": base["theorem"]["inputs"] | {"many": many}}
    place = len(theorem["nodes"])
    nodes = [["Input", "many"], *(["Tuple", *[place] * (count + n)] for n in range(40))]

    def all_three() -> None:
        assert checked(sealed({**base, "laws": {"level": law}}))["status"] == "ok"
        assert checked(sealed({**base, "theorem": listed}))["status"] == "ok"
        assert checked(sealed({**base, "theorem": summed, "nodes": nodes})) == {
            "status": "refused",
            "problem": "it is too large",
        }

    within(10, all_three, tries=1)


def test_a_deep_law_that_writes_its_parts_out_often_takes_no_time(within: Callable[..., None]) -> None:
    """Each part has its scopes once, however many paths lead to it, and however deep they are."""
    rows: list[list[Any]] = [["Var", "real", "v"], *(["add", n, n] for n in range(40))]
    rows += [["neg", 40 + n] for n in range(3_000)]
    rows.append(["is-le", len(rows) - 1, len(rows) - 1])
    law = {**CERTIFICATE["laws"]["level"], "nodes": rows, "conclusion": len(rows) - 1, "premises": []}
    law["sha256"] = sha(["level", *(law[key] for key in ("nodes", "conclusion", "premises", "floating"))])
    data = sealed({**make(Q, Q, [], [], {}, {}), "laws": {"level": law}})

    def once() -> None:
        assert checked(data)["status"] == "ok"

    within(2, once, tries=1)


@pytest.mark.parametrize("name", ["v\nok: 5 steps, grade A", "\ud800", "v\x1b[2K", "ｖ", "", 7])
def test_a_variable_has_a_name_like_all_else(name: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a law calls its variables is told where a substitution does not fit: it is one line, in ASCII."""
    rows = [["Var", "int", name], ["is-le", 0, 0]]
    law = {**CERTIFICATE["laws"]["level"], "nodes": rows, "conclusion": 1, "premises": []}
    law["sha256"] = sha(["level", *(law[key] for key in ("nodes", "conclusion", "premises", "floating"))])
    data = make(Q, Q, [], [], {}, {})
    instance = {"rule": "level", "bindings": {str(name): 0}, "claim": 1, "premises": []}
    file = tmp_path / "certificate.json"
    told = {"nodes": [["is-le", 0, 0]], "laws": {"level": law}, "instances": [instance]}
    file.write_text(dumps(sealed({**data, **told})))
    for run in (main, lambda arguments: cli.main(["check", *arguments])):
        assert run([str(file)]) == 1
        shown = capsys.readouterr()
        assert shown.out.isascii() and len(shown.out.splitlines()) == 1 and not shown.err


def test_a_law_that_ships_cannot_be_told_to_need_no_lanes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Which lanes it needs stands beside its hash: the checker takes it as it is told, `napkin-eq check` does not."""
    sample = next(s for s in samples() if s.name == "a sum of exponentials, before the block over x")
    data = sample.certificate()
    laws = {name: {**law, "proof": {**law["proof"], "lanes": []}} for name, law in data["laws"].items()}
    file = tmp_path / "certificate.json"
    file.write_text(dumps(sealed({**data, "laws": laws})))
    assert main([str(file)]) == 0 and cli.main(["check", str(file)]) == 1
    assert "needs lanes along x, which it does not say there" in capsys.readouterr().out


def test_a_law_that_is_read_back_as_another_is_not_confirmed() -> None:
    from napkin_eq.certify.recheck import proved_again

    law = Law("here", "tests", "", Sum(x, Var("a")) + Const(0.0), Sum(x, Var("a")), (), False, "algebra", "", "here")
    data = {**stated(law), "proof": {"lanes": [], "grade": "A", "kernel": {}, "method": "definition", "files": []}}
    assert [row["verdict"] for row in proved_again({"here": data})] == ["confirmed"]
    spelt = [[*row[:2], "-0.0"] if row == ["Const", "real", "0.0"] else row for row in data["nodes"]]
    assert spelt != data["nodes"]
    (row,) = proved_again({"here": {**data, "nodes": spelt}})
    assert (row["verdict"], row["detail"]) == ("unknown", "is not read back as it stands there")


def test_a_false_law_is_refuted_however_its_rows_stand() -> None:
    from napkin_eq.certify.recheck import proved_again

    rows = [["Var", "real", "b"], ["Var", "real", "a"], ["add", 1, 0], ["is-equal", 2, 1]]
    shown = {"nodes": rows, "conclusion": 3, "premises": [], "floating": []}
    proof = {"lanes": [], "grade": "A", "kernel": {}, "method": "definition", "files": []}
    (row,) = proved_again({"here": {**shown, "sha256": sha(["here", *shown.values()]), "proof": proof}})
    assert row["verdict"] == "refuted" and row["detail"].startswith("is false: ")


def test_a_change_of_any_byte_is_refused_in_one_line() -> None:
    content = dumps(CERTIFICATE).encode().strip()
    for place in range(0, len(content), 97):
        for byte in (b" ", b'"', b"0", b"\xff", b""):
            changed = content[:place] + byte + content[place + 1 :]
            if changed != content:
                result = checker.check(changed)
                assert result["status"] == "refused" and "\n" not in result["problem"], (place, byte)


@pytest.mark.parametrize("flags", [(), ("--json",), ("--smt",), ("--smt", "--rocq", "--json")], ids=str)
def test_the_command_line_refuses_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: tuple[str, ...]
) -> None:
    file = tmp_path / "certificate.json"
    for text in (dumps(CERTIFICATE)[:-9], "[" * 50_000, "{}", dumps({**CERTIFICATE, "schema": 2})):
        file.write_text(text)
        assert cli.main(["check", str(file), *flags]) == 1
        shown = capsys.readouterr()
        assert not shown.err and (
            "--json" in flags or (len(shown.out.splitlines()) == 1 and shown.out.startswith("refused: "))
        )
        assert "--json" not in flags or json.loads(shown.out)["status"] == "refused"
    assert cli.main(["check", str(tmp_path / "none"), *flags]) == 2 and "cannot be read" in capsys.readouterr().err


def forged(
    rows: list[Any], ends_at: tuple[int, int], claim: int, rule: str, bindings: Data, statement: Statement | None = None
) -> str:
    """What the checker says of a certificate of one step, written by hand: rows over the inputs Q and K, one instance,
    at the root.
    """
    laws = {}
    if statement is not None:
        laws[statement.name] = {
            **stated(statement),
            "proof": {"lanes": [], "grade": "A", "kernel": {}, "method": "definition", "files": []},
        }
    base = make(K * Q, K * Q, [], [], {}, {})
    # Judgments are no part of a theorem
    order = sorted(range(len(rows)), key=lambda place: rows[place][0].startswith("is-"))
    moved = {place: number for number, place in enumerate(order)}
    rows = [
        [tag, *(moved[part] if isinstance(part, int) else part for part in parts)]
        for tag, *parts in (rows[place] for place in order)
    ]
    terms = sum(not tag.startswith("is-") for tag, *_ in rows)
    theorem = {**base["theorem"], "nodes": rows[:terms], "source": moved[ends_at[0]], "destination": moved[ends_at[1]]}
    bound = {name: value if isinstance(value, str) else moved[value] for name, value in bindings.items()}
    instance = {"rule": rule, "bindings": bound, "claim": moved[claim], "premises": []}
    steps = [{"instance": 0, "forward": True, "path": []}]
    result = checked(
        sealed(
            {**base, "theorem": theorem, "nodes": rows[terms:], "laws": laws, "instances": [instance], "steps": steps}
        )
    )
    return str(result.get("problem", result["status"]))


INPUTS: list[list[Any]] = [["Input", "K"], ["Input", "Q"]]
REALS = [["Const", "real", text] for text in ("1e+200", "-1e+200", "1e+400", "-inf", "2.0", "4.0")]
WHOLE: list[Any] = ["Const", "int", "9007199254740993"]  # which double precision does not hold


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([*REALS, ["mul", 4, 4], ["is-equal", 6, 5]], "ok"),
        ([*REALS, ["mul", 0, 0], ["is-equal", 6, 2]], "ok"),  # nothing overflows
        # And there is no absence out of nowhere
        ([*REALS, ["mul", 0, 1], ["is-equal", 6, 3]], "does not hold by itself"),
        ([*REALS, ["add", 4, 4], ["is-equal", 6, 4]], "does not hold by itself"),
        (
            [WHOLE, ["Const", "int", "0"], ["Const", "int", "9007199254740992"], ["add", 0, 1], ["is-equal", 3, 2]],
            "where a number is expected",
        ),
        ([WHOLE, ["Const", "int", "9007199254740992"], ["is-le", 0, 1]], "does not hold by itself"),
        ([*INPUTS, ["is-le", 0, 0]], "no equation, direction or path"),
        ([*INPUTS, ["is-free", "d", 0]], "does not hold by itself"),
    ],
    ids=range(8),
)
def test_what_is_not_evident_is_no_step(rows: list[Any], problem: str) -> None:
    ends_at = (len(rows) - 2, rows[-1][-1]) if rows[-1][0] == "is-equal" else (0, 0)
    assert problem in forged(rows, ends_at, len(rows) - 1, "evident", {})


def test_a_law_is_used_as_it_stands_and_for_what_it_speaks_of() -> None:
    swap, level = LAWS["mul-commutes"], LAWS["level"]
    good = [*INPUTS, ["mul", 0, 1], ["mul", 1, 0], ["is-equal", 2, 3], ["add", 0, 1], ["is-equal", 2, 5]]
    assert forged(good, (2, 3), 4, "mul-commutes", {"a": 0, "b": 1}, swap) == "ok"
    assert "does not conclude that" in forged(good, (2, 5), 6, "mul-commutes", {"a": 0, "b": 1}, swap)
    assert "does not conclude that" in forged(good, (2, 3), 4, "mul-commutes", {"a": 1, "b": 0}, swap)
    below = [["Input", "K"], ["Const", "bool", "1"], ["Reduce", "max", "x", 0, 1], ["is-le", 0, 2]]
    assert "no equation" in forged(below, (0, 0), 3, "le-max", {"a": 0, "x": "x"}, REGISTRY.statements["le-max"])
    # The law of one level is stated, and proved, of real values.
    for kind, problem in (("real", "ok"), ("bool", "is bound to no real"), ("int", "is bound to no real")):
        assert problem in forged(
            [["Const", kind, "1"], ["Store", 0], ["is-equal", 0, 1]], (0, 1), 2, "level", {"a": 0}, level
        )
    # A law of numbers is one of constants, and of finite ones.
    n = Var("n", "number")
    odd = Law("odd", "user", "", n + n, n * 2.0, (), False, "algebra", "", "here")
    real: list[list[Any]] = [["Const", "real", "3.0"], ["Input", "K"], ["Const", "real", "-inf"]]
    for row, problem in zip(real, ("ok", "where a number is expected", "is bound to no number"), strict=True):
        rows = [row, ["Const", "real", "2.0"], ["add", 0, 0], ["mul", 0, 1], ["is-equal", 2, 3]]
        assert problem in forged(rows, (2, 3), 4, "odd", {"n": 0}, odd)


def cut(part: str, axis: str, run: str) -> list[Any]:
    first: list[list[Any]] = [["Index", part], ["Const", "int", run], ["mul", 0, 1], ["Index", axis], ["le", 2, 3]]
    return [*first, ["add", 2, 1], ["lt", 3, 5], ["and", 4, 6], ["is-stretch", part, axis, 7]]


def covering(more: str, lanes: str) -> list[Any]:
    """Stretches of an axis of any size, by 64, that are as long as it takes, or are claimed to be."""
    run: list[list[Any]] = [
        ["Length", "x"],
        ["Const", "int", more],
        ["add", 0, 1],
        ["Const", "int", lanes],
        ["floordiv", 2, 3],
    ]
    first: list[list[Any]] = [*run, ["Index", "q"], ["mul", 5, 4], ["Index", "x"], ["le", 6, 7]]
    return [*first, ["add", 6, 4], ["lt", 7, 9], ["and", 8, 10], ["is-stretch", "q", "x", 11]]


A_STREAM: list[list[Any]] = [
    ["Input", "K"],
    ["Const", "bool", "1"],
    ["Acc"],
    ["Prev", 0],
    ["mul", 2, 3],
    ["Online", "x", 0, 1, 2, "alone"],
]
# Rows over K[x, d] and Q[q, d], whose last one is a judgment; q = 64, d = 16, x has any size
EVIDENT: list[tuple[list[Any], bool]] = [
    ([*INPUTS, ["is-free", "q", 0]], True), ([*INPUTS, ["is-free", "x", 0]], False),
    ([["Acc"], ["is-free", "x", 0]], False),
    ([*INPUTS, ["is-along", "x", 0]], True), ([*INPUTS, ["is-along", "q", 0]], False),
    ([["is-distinct", "x", "q"]], True), ([["is-distinct", "x", "x"]], False), ([*INPUTS, ["is-le", 0, 0]], True),
    ([*INPUTS, ["is-le", 0, 1]], False),
    ([["Index", "x"], ["is-along", "x", 0]], True), ([["Index", "x"], ["is-local", "x", 0]], True),
    ([["Index", "x"], ["is-nonneg", 0]], True),
    ([["Index", "x"], ["is-pos", 0]], False), ([["Size", "x"], ["is-pos", 0]], True),
    ([["Size", "x"], ["real", 0], ["is-pos", 1]], True),
    ([["Size", "x"], ["is-local", "x", 0]], False), ([["Length", "x"], ["is-local", "x", 0]], True),
    ([["Size", "x"], ["is-free", "x", 0]], True),
    ([*INPUTS, ["Scan", "sum", "q", 0], ["is-along", "q", 2]], True),
    ([*INPUTS, ["Scan", "sum", "x", 0], ["is-local", "x", 2]], False),
    ([["Input", "K"], ["Index", "q"], ["Read", "x", 0, 1], ["is-free", "x", 2]], True),
    ([["Input", "K"], ["Index", "x"], ["Read", "x", 0, 1], ["is-along", "x", 2]], True),
    ([["Input", "K"], ["Index", "x"], ["Read", "x", 0, 1], ["is-finite", 2]], True),
    ([["Input", "K"], ["is-finite", 0]], True),
    ([["Input", "K"], ["is-nonneg", 0]], False), ([["Input", "K"], ["exp", 0], ["is-pos", 1]], False),
    ([["Input", "K"], ["is-safe", 0]], False),
    ([*A_STREAM[:2], ["Reduce", "sum", "x", 0, 1], ["is-free", "x", 2]], True),
    ([*A_STREAM[:2], ["Reduce", "sum", "x", 0, 1], ["is-local", "x", 2]], False),
    ([*A_STREAM[:2], ["Reduce", "sum", "x", 0, 1], ["is-local", "d", 2]], True),
    ([["Acc"], ["is-local", "d", 0]], False),
    ([*A_STREAM[:1], ["Prev", 0], ["is-local", "q", 1]], False), ([*A_STREAM, ["is-local", "d", 5]], True),
    ([*A_STREAM, ["is-local", "x", 5]], False),
    ([*A_STREAM, ["is-free", "x", 5]], True), ([*A_STREAM, ["is-free", "x", 4]], False),
    *((([["Const", "real", value], [f"is-{sign}", 0]], true)) for value, signs in (
        ("2.0", "pos nonneg nonzero finite"), ("0.0", "nonneg finite"), ("-0.0", "nonneg finite"),
        ("-1.0", "nonzero finite"), ("-inf", ""), ("inf", ""),
    ) for sign in ("pos", "nonneg", "nonzero", "finite") for true in [sign in signs.split()]),
    (cut("q", "d", "1"), True), (cut("q", "d", "0"), False), (cut("d", "q", "4"), True), (cut("d", "q", "3"), False),
    (cut("q", "q", "1"), False),
    (cut("q", "x", "9"), False), (cut("x", "q", "64"), False), (covering("63", "64"), True),
    (covering("64", "64"), False), (covering("63", "63"), False),
    ([["Const", "int", "0"], ["add", 0, 0], ["Index", "q"], ["mul", 2, 1], ["Index", "d"], ["le", 3, 4], ["add", 3, 1],
        ["lt", 4, 6], ["and", 5, 7],
      ["is-stretch", "q", "d", 8]], False),
    ([["Const", "int", "2"], ["Const", "int", "3"], ["add", 0, 1], ["Const", "int", "5"], ["is-equal", 2, 3]], False),
    ([*REALS, ["add", 3, 4], ["is-equal", 6, 3]], True), ([*REALS, ["max", 3, 4], ["is-equal", 6, 4]], True),
    ([*REALS, ["min", 3, 4], ["is-equal", 6, 3]], True), ([*REALS, ["neg", 3], ["is-equal", 6, 2]], False),
    ([*REALS, ["exp", 4], ["is-equal", 6, 5]], False), ([*INPUTS, ["is-equal", 0, 0]], False),
    ([*REALS, ["exp", 3], ["is-equal", 6, 3]], False),
    ([["Const", "real", "0.0"], ["inv", 0], ["is-equal", 1, 0]], True),
    ([*REALS, ["inv", 3], ["is-equal", 6, 3]], True),
    ([*REALS, ["inv", 5], ["Const", "real", "0.25"], ["is-equal", 6, 7]], True),
    ([*REALS, ["mul", 4, 3], ["is-equal", 6, 3]], True),
    ([*REALS, ["min", 5, 4], ["is-equal", 6, 4]], True), ([*REALS, ["max", 4, 5], ["is-equal", 6, 4]], False),
    ([*REALS, ["min", 4, 5], ["is-equal", 6, 5]], False),
    ([["Const", "int", "2"], ["is-pos", 0]], True), ([["Const", "int", "-2"], ["is-pos", 0]], False),
    ([["Const", "bool", "1"], ["is-finite", 0]], False),
    ([["Input", "K"], ["Index", "q"], ["Read", "x", 0, 1], ["is-free", "q", 2]], False),
    ([["Index", "x"], ["Index", "x"], ["Read", "x", 0, 1], ["is-free", "x", 2]], False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "true"), EVIDENT, ids=lambda value: str(value[-1]) if isinstance(value, list) else str(value)
)
def test_what_can_be_read_off_a_term(rows: list[Any], true: bool) -> None:
    assert (checked(evident(rows))["status"] == "ok") == true


def evident(rows: list[Any]) -> Data:
    """A certificate that says nothing, but that the last row is evident."""
    base = make(K * Q, K * Q, [], [], {}, {})
    more = len(base["theorem"]["nodes"])
    shifted = [[tag, *(part + more if isinstance(part, int) else part for part in parts)] for tag, *parts in rows]
    instance = {"rule": "evident", "bindings": {}, "claim": more + len(rows) - 1, "premises": []}
    return sealed({**base, "nodes": shifted, "instances": [instance]})
