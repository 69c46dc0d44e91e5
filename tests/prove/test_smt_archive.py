# mypy: disable-error-code="no-untyped-call, operator"
"""The scripts that the proofs rest on: they are the ones kept, plain and ground, and two solvers answer them; a lie is
caught.
"""

from __future__ import annotations

import functools
import math
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from napkin_eq.cli.main import main
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Const, Map, Term, subterms
from napkin_eq.laws.claim import Claim, eq
from napkin_eq.laws.law import REGISTRY, Statement, Sum, Var, exp, finite, free, inv, nonzero, pos
from napkin_eq.laws.loader import load_rules
from napkin_eq.laws.obligation import claims_of
from napkin_eq.prove import portfolio as solving
from napkin_eq.prove import smt_archive as smtfiles
from napkin_eq.prove.portfolio import SolversDisagree, answers
from napkin_eq.prove.prove import files_of, prove
from napkin_eq.prove.query import Question, Script
from tests.statements import stated
from tests.terms import MEANING, A, B, C, D, grown

SHIPPED = smtfiles.shipped()
WORDS = {
    "Bool",
    "Real",
    "Int",
    "true",
    "false",
    "and",
    "or",
    "not",
    "ite",
    "=>",
    "=",
    "<",
    "<=",
    ">",
    ">=",
    "+",
    "-",
    "*",
    "/",
    "div",
    "to_real",
}


@pytest.fixture(scope="module")
def made() -> Iterator[dict[str, Script]]:
    before = dict(REGISTRY.statements)
    REGISTRY.statements.clear()
    load_rules()
    yield {script.name: script for script in files_of(list(REGISTRY.statements.values()))}
    REGISTRY.statements.clear()
    REGISTRY.statements.update(before)


def kept() -> dict[str, str]:
    return {
        file.relative_to(SHIPPED).as_posix(): file.read_text(encoding="utf-8")
        for file in sorted(SHIPPED.rglob("*.smt2"))
    }


def questions(function: Callable[..., Any]) -> list[Question]:
    solving.load_provers()
    (law,) = stated(function)
    return [next(solving._TRANSLATORS[0](claim)) for claim in claims_of(law)]


def test_the_kept_scripts_are_those_that_the_proofs_rest_on(made: dict[str, Script]) -> None:
    assert {name: script.text for name, script in made.items()} == kept(), "run: napkin-eq prove --write proofs/smt2"


def test_every_obligation_has_its_hypotheses_beside_it() -> None:
    scripts = kept()
    for name, text in scripts.items():
        if not name.endswith(".hypotheses.smt2"):
            alone = scripts[name.replace(".smt2", ".hypotheses.smt2")]
            lines = [line for line in text.splitlines() if not line.startswith(";")]
            assert [
                line.replace("sat)", "unsat)") if ":status" in line else line
                for line in alone.splitlines()
                if line[0] != ";"
            ] == [*lines[:-2], lines[-1]]
            assert lines[-2].startswith("(assert ") and lines[-1] == "(check-sat)"


def test_scripts_are_small_plain_and_ground() -> None:
    for name, text in kept().items():
        assert len(text) < 12_000 and text.startswith("; l"), name
        head = [line.split()[1] for line in text.splitlines()[:4]]
        assert head[0] in ("law", "lemma") and "case" in head, name
        bare = re.sub(r";[^\n]*", "", text)
        known = set(re.findall(r"\((?:declare-const|define-fun) ([^\s()]+)", bare))
        body = re.sub(r"\((set-logic|set-info)[^)]*\)", "", bare)
        used = {word for word in re.findall(r"[^\s()]+", body) if not re.fullmatch(r"\d+(\.0)?", word)}
        assert used - known - WORDS <= {"declare-const", "define-fun", "assert", "check-sat"}, name


def test_solvers_confirm_what_the_scripts_claim() -> None:
    for name, text in list(kept().items())[::9]:
        assert answers(text) == dict.fromkeys(("z3", "cvc5"), "sat" if "hypotheses" in name else "unsat"), name


def saying(answer: str) -> Callable[[str, float], str]:
    return lambda text, timeout_s: answer


def weighted(a, b, x):
    return Sum(x, exp(a - b)), exp(-b) * Sum(x, exp(a)), free(x, b)


def weighted_with_the_wrong_sign(a, b, x):
    return Sum(x, exp(a - b)), exp(b) * Sum(x, exp(a)), free(x, b)


def cancelled(a, b):
    return a * b * inv(b), a, nonzero(b), finite(a)


def cancelled_anyway(a, b):
    return a * b * inv(b), a, finite(b)


def test_a_wrong_law_is_a_script_that_both_solvers_call_satisfiable() -> None:
    assert [answers(q.obligation()) for q in questions(cancelled)] == [{"z3": "unsat", "cvc5": "unsat"}]
    assert [answers(q.obligation()) for q in questions(cancelled_anyway)] == [{"z3": "sat", "cvc5": "sat"}]
    assert [prove(stated(f), use_cache=False)[0].status for f in (weighted, weighted_with_the_wrong_sign)] == [
        "proved",
        "refuted",
    ]


OF = (
    "e to the minus|e to the|1 /|the root of|the logarithm of|the sine of|the cosine of|the arctangent of|the floor of|"
    "rounded|erf of|tanh of|sigmoid of"
)
STANDS = re.compile(rf"; (\S+) stands for ({OF}) (.*?)(?:, and 0 for 0)?")
MEANT: dict[str, Callable[[float], float]] = {
    "e to the minus": lambda x: math.exp(-x),
    "e to the": math.exp,
    "1 /": lambda x: 1 / x if x else 0.0,
    "the root of": lambda x: math.sqrt(max(x, 0.0)),
    "the logarithm of": lambda x: math.log(x) if x > 0 else 7.0,  # of what is not positive a script says nothing
    "the sine of": math.sin,
    "the cosine of": math.cos,
    "the arctangent of": math.atan,
    "the floor of": math.floor,
    "rounded": round,
    "erf of": math.erf,
    "tanh of": math.tanh,
    "sigmoid of": lambda x: 1 / (1 + math.exp(-x)),
}


def run(lines: list[str], given: dict[str, Any], rng: random.Random) -> list[bool]:
    """Return the truth of every assertion of a script, its functions being those of float64; what is not given is
    random.
    """
    values: dict[str, Any] = dict(given)
    truths = []
    for line in lines:
        if found := STANDS.fullmatch(line):
            values[found[1]] = MEANT[found[2]](_valued(found[3], values))
        elif found := re.fullmatch(r"\(declare-const (\S+) (\w+)\)", line):
            number, _, part = found[1].rpartition(".")
            if part in ("whole", "half") and number in values:  # of what is not twice a half nothing is said of that
                values[found[1]] = values[number] if part == "whole" else values[number] // 2
            values.setdefault(
                found[1],
                rng.choice((True, False)) if found[2] == "Bool" else rng.choice((0.0, 1.0, rng.uniform(-2, 2))),
            )
        elif found := re.fullmatch(r"\(define-fun (\S+) \(\) \w+ (.*)\)", line):
            values[found[1]] = _valued(found[2], values)
        elif found := re.fullmatch(r"\(assert (.*)\)", line):
            truths.append(bool(_valued(found[1], values)))
    return truths


def test_what_is_asserted_of_functions_is_true_of_them(made: dict[str, Script]) -> None:
    rng = random.Random(7)
    facts = 0
    for script in (s for s in made.values() if s.status == "sat" and "; given" not in s.text):
        lines = [line for line in script.text.splitlines() if not line.startswith("(assert (>= size")]
        if all(STANDS.fullmatch(line) for line in lines if re.match(r"; \S+ stands for", line)):
            truths = [truth for _ in range(3) for truth in run(lines, {}, rng)]
            assert all(truths), script.name
            facts += len(truths)
    assert facts > 100


def test_a_script_means_what_its_term_means() -> None:
    """Random terms, evaluated by their script and in float64; the number that stands beside an absent value
    is random.
    """
    rng = random.Random(5)
    compared = 0
    for _ in range(250):
        term = grown(rng, 3)
        said = Var("said")
        try:
            question = next(solving._TRANSLATORS[0](Claim("a test", eq(term, said), (), frozenset())))
        except StopIteration:
            continue
        lines = question.obligation().splitlines()
        given = {v: rng.choice((-math.inf, 0.0, 1.0, -1.0, 0.5, 2.0, rng.uniform(-2, 2))) for v in (A, B, D)} | {
            C: rng.random() < 0.5
        }
        meant = float64(term, given)
        if meant is None:
            continue
        for value, equal in (
            (meant, True),
            (meant + 1 if meant > -math.inf else 0.0, False),
            (-math.inf, meant == -math.inf),
        ):
            known: dict[str, Any] = {"c": given[C]}
            for v, number in {**given, said: value}.items():
                if v is not C:
                    known |= {
                        v.name: number if number > -math.inf else rng.uniform(-2, 2),
                        f"{v.name}.absent": number == -math.inf,
                    }
            *facts, denied = run(lines, known, rng)
            assert all(facts) and denied != equal, (str(term), given, value)
            compared += 1
    assert compared > 400


def test_what_is_known_of_functions_at_two_arguments_is_true_of_them() -> None:
    """Random functions of random numbers: every fact that a script states of them, of whole numbers too, holds in
    float64.
    """
    solving.load_provers()
    rng = random.Random(9)
    facts = 0
    for _ in range(60):
        points = [
            rng.choice((A, B, -A, A * 0.5, A + B, A + 1.0, A * 2.0, Map("exp", (B,)), A + A * B)) for _ in range(3)
        ]
        every = "exp log sin cos atan erf floor round sqrt inv tanh sigmoid".split()
        ops = rng.sample(every, 3)
        terms: list[Term] = [Map(op, (point,)) for op in ops for point in points[: rng.randint(1, 3)]]
        goal = eq(functools.reduce(lambda s, t: s + t, terms), Const(0.0))
        for question in solving._TRANSLATORS[0](Claim("a test", goal, (), frozenset())):
            for _ in range(3):
                known: dict[str, Any] = {
                    "a": rng.choice((0.0, 1.0, 0.5, -1.5, 2.0, rng.uniform(-2, 2))),
                    "b": rng.choice((-0.5, 0.25, rng.uniform(-1, 1))),
                }
                *truths, _denied = run(
                    question.obligation().splitlines(), known | {"a.absent": False, "b.absent": False}, rng
                )
                assert all(truths), (str(goal), known)
                facts += len(truths)
    assert facts > 5000


def float64(root: Term, given: dict[Any, Any]) -> float | None:
    """Return the value of a term in float64, None where rounding or overflow could decide it."""
    found = {v: np.array([value]) for v, value in given.items()}
    with np.errstate(all="ignore"):
        for t in subterms(root):
            if t not in found:
                found[t] = np.array([t.value]) if isinstance(t, Const) else MEANING[t.op](*(found[a] for a in t.args))
            if t.kind == "real" and not (found[t][0] in (0.0, -math.inf) or 1e-4 < abs(found[t][0]) < 1e4):
                return None
            if isinstance(t, Map) and t.op == "exp" and found[t][0] == 0 and found[t.args[0]][0] > -math.inf:
                return None
    return float(found[root][0])


def _valued(text: str, values: dict[str, Any]) -> Any:
    tokens = re.findall(r"[()]|[^\s()]+", text)

    def read() -> Any:
        token = tokens.pop(0)
        if token != "(":
            return (
                values[token]
                if token in values
                else {"true": True, "false": False}[token]
                if token in ("true", "false")
                else float(token)
            )
        op, args = tokens.pop(0), []
        while tokens[0] != ")":
            args.append(read())
        tokens.pop(0)
        return SMTLIB[op](*args)

    return read()


def _near(a: Any, b: Any) -> bool:
    return a == b if isinstance(a, bool) else math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


SMTLIB: dict[str, Callable[..., Any]] = {
    "+": lambda *a: math.fsum(a),
    "-": lambda a, *b: a - sum(b) if b else -a,
    "*": lambda *a: math.prod(a),
    "/": lambda a, b: a / b,
    "ite": lambda c, a, b: a if c else b,
    "=>": lambda a, b: not a or b,
    "=": _near,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b or _near(a, b),
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b or _near(a, b),
    "and": lambda *a: all(a),
    "or": lambda *a: any(a),
    "not": lambda a: not a,
    "to_real": lambda a: a,
}


# -- the command line --------------------------------------------------------------------------------------------------


@pytest.fixture
def few(tmp_path: Path) -> Path:
    """Give a folder with the scripts of one law."""
    folder = tmp_path / "scripts"
    assert main(["prove", "mul-one", "--write", str(folder)]) == 0
    return folder


def test_scripts_are_written_and_answered_again(few: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sorted(file.name for file in few.rglob("*.smt2")) == ["mul-one.1.hypotheses.smt2", "mul-one.1.smt2"]
    assert main(["prove", "--files", str(few)]) == 0
    assert "2 confirmed, 0 refuted, 0 unknown" in capsys.readouterr().out


def test_a_script_whose_status_lies_is_caught(few: Path, capsys: pytest.CaptureFixture[str]) -> None:
    liar = few / "semiring" / "mul-one.1.smt2"
    liar.write_text(liar.read_text(encoding="utf-8").replace(":status unsat", ":status sat"), encoding="utf-8")
    assert main(["prove", "--files", str(few)]) == 1
    assert "semiring/mul-one.1.smt2: claims sat; z3 says unsat, cvc5 says unsat" in capsys.readouterr().out


def test_a_script_with_a_weakened_hypothesis_is_caught(few: Path) -> None:
    liar = few / "semiring" / "mul-one.1.smt2"
    liar.write_text(re.sub(r"\(\* a 1\.0\)", "(* a 2.0)", liar.read_text(encoding="utf-8")), encoding="utf-8")
    assert main(["prove", "--files", str(few)]) == 1


def test_a_missing_or_slow_solver_leaves_scripts_unknown(
    few: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    solving.load_provers()
    for answer in ("missing", "unknown"):
        monkeypatch.setattr(solving, "_SAID", {})
        monkeypatch.setitem(solving._SOLVERS, "cvc5", saying(answer))
        assert main(["prove", "--files", str(few)]) == 3
        assert f"cvc5 says {answer}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("(set-logic QF_LRA)(check-sat)", "must claim one status"),
        ("(set-info :status sat)(set-info :status unsat)(check-sat)", "must claim one status"),
        ("(set-info :status sat)(check-sat)(check-sat)", "must claim one status"),
        ("(set-info :status sat)(exit)(check-sat)", "the command 'exit'"),
        ('(set-info :status sat)(set-option :regular-output-channel "x")(check-sat)', "quoted"),
        ("(set-info :status sat)(include x)(check-sat)", "the command 'include'"),
        ("(set-info :status sat)(assert (", "must claim one status"),
        ("", "must claim one status"),
        ("(set-logic QF_LRA)(set-info :status sat)(assert (foo 1.0))(check-sat)", "cannot read a script"),
        ("(set-logic QF_LRA)(set-info :status sat)(declare-const a Real)(assert a)(check-sat)", "cannot read a script"),
    ],
)
def test_a_script_that_does_more_than_ask_is_refused(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "strange.smt2").write_text(text, encoding="utf-8")
    assert main(["prove", "--files", str(tmp_path)]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("name", ["z3", "cvc5"])
def test_a_solver_that_cannot_read_a_script_says_so(name: str) -> None:
    for body in ("(assert (foo 1.0))", "(declare-const a Real)(assert a)", "(assert ("):
        with pytest.raises(NapkinError, match=f"{name} cannot read a script"):
            solving.solvers()[name](f"(set-logic QF_LRA){body}(check-sat)", 1.0)


def test_a_folder_without_scripts_is_no_success(tmp_path: Path) -> None:
    assert main(["prove", "--files", str(tmp_path)]) == 2
    assert main(["prove", "--files", str(tmp_path / "nowhere")]) == 2


# -- grades ------------------------------------------------------------------------------------------------------------


def logistic(a):
    return pos(Map("sigmoid", (a,))), finite(a)  # beyond the normal form


def chosen() -> list[Statement]:
    return [*stated(cancelled), *stated(logistic)]


def test_grades_say_what_a_proof_rests_on(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [v.grade for v in prove(chosen(), use_cache=False)] == ["A", "B"]
    for answer, why in (("missing", "cvc5 is not installed"), ("unknown", "cvc5 gave no answer in time")):
        monkeypatch.setattr(solving, "_SAID", {})
        monkeypatch.setitem(solving._SOLVERS, "cvc5", saying(answer))
        found = prove(chosen(), use_cache=False)
        assert [(v.grade, v.detail) for v in found] == [("A", ""), ("C", why)]
        assert found[1].solvers() == {"z3": "proved", "cvc5": answer}


def test_cvc5_alone_proves_with_a_lower_grade(monkeypatch: pytest.MonkeyPatch) -> None:
    solving.load_provers()
    monkeypatch.setattr(solving, "_SAID", {})
    monkeypatch.setitem(solving._SOLVERS, "z3", saying("missing"))
    assert [v.grade for v in prove(chosen(), use_cache=False)] == ["A", "C"]


def test_hypotheses_that_no_solver_can_meet_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solving, "_SAID", {})
    for name, ask in solving.solvers().items():
        monkeypatch.setitem(
            solving._SOLVERS,
            name,
            lambda text, timeout_s, ask=ask: "unknown" if ":status sat" in text else ask(text, timeout_s),  # type: ignore[misc]
        )
    (verdict,) = prove(stated(logistic), use_cache=False)
    assert (verdict.status, verdict.grade) == (
        "proved",
        "B",
    ) and "no solver finds values that meet the hypotheses of" in verdict.detail


def test_a_proof_whose_hypotheses_contradict_each_other_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solving, "_SAID", {})
    for name, ask in solving.solvers().items():
        monkeypatch.setitem(
            solving._SOLVERS,
            name,
            lambda text, timeout_s, ask=ask: "unsat" if ":status sat" in text else ask(text, timeout_s),  # type: ignore[misc]
        )
    (verdict,) = prove(stated(logistic), use_cache=False)
    assert (verdict.status, verdict.grade) == ("unknown", "-") and "no values meet the hypotheses" in verdict.detail


def test_solvers_that_disagree_stop_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    solving.load_provers()
    monkeypatch.setattr(solving, "_SAID", {})
    monkeypatch.setitem(solving._SOLVERS, "cvc5", saying("sat"))
    with pytest.raises(SolversDisagree, match="z3 says unsat, cvc5 says sat") as caught:
        prove(stated(logistic), use_cache=False)
    assert caught.value.exit_code == 1


def test_a_law_that_no_solver_answers_in_time_is_unknown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    solving.load_provers()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for answer in ("unknown", "missing"):
        monkeypatch.setattr(solving, "_SAID", {})
        for name in ("z3", "cvc5"):
            monkeypatch.setitem(solving._SOLVERS, name, saying(answer))
        assert main(["prove", "pos-sigmoid"]) == 3
        assert "0 proved, 0 refuted, 1 unknown" in capsys.readouterr().out
