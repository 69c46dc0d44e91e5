# mypy: disable-error-code="no-untyped-call, operator"
"""Theorems in Rocq: accepted as they stand, and refused once they are wrong, admitted, or rest on more than
the reals.
"""

from __future__ import annotations

import math
import shutil
import subprocess
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from napkin_eq.lang.errors import Undecided
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.term import Const, Input, Map, rewritten
from napkin_eq.laws.law import (
    ABSENT,
    REGISTRY,
    TRUE,
    Acc,
    Axis,
    Law,
    Mask,
    Max,
    Online,
    Prev,
    Statement,
    Sum,
    Var,
    along,
    distinct,
    exp,
    finite,
    free,
    inv,
    local,
    moves,
    null,
    scales,
    settled,
    size,
    stretch,
    where,
)  # fmt: skip
from napkin_eq.laws.loader import folder, load_rules, run_file
from napkin_eq.prove import rocq
from napkin_eq.prove.prove import prove
from napkin_eq.prove.rocq import ProofRefused, checked, source
from tests.statements import stated

installed = pytest.mark.skipif(
    shutil.which("coqc") is None, reason="Rocq is not installed; `make rocq` installs it and checks the proofs"
)
FOLD, VALUES, LAWS = map(source, ("Fold.v", "Values.v", "Laws.v"))
PROOF = FOLD.read_text(encoding="utf-8")


@pytest.fixture
def shipped(registry: object) -> Iterator[dict[str, Statement]]:
    REGISTRY.statements.clear()
    load_rules()
    yield dict(REGISTRY.statements)


@installed
def test_the_core_theorem_is_proved_from_the_axioms_of_the_reals() -> None:
    found = checked([FOLD], twice=False)  # coqchk, which takes a minute, is run by `make rocq`
    assert set(found["axioms"]) <= rocq.AXIOMS and found["axioms"] and len(found["files"]["rocq/Fold.v"]) == 64


@installed
@pytest.mark.parametrize(
    ("said", "wrong", "problem"),
    [
        # No rescaling
        ("| Some a => rho a m end) + weighted m tile", "| Some a => 1 end) + weighted m tile", "coqc refuses"),
        ("x * rho a m + y * rho b m)", "x * rho a m + y)", "coqc refuses"),  # on one side only
        ("body (S t) j = body t j * r (S t)", "body (S t) j = body t j + r (S t)", "coqc refuses"),
        # Not normalised
        ("o / z = moment (concat tiles) / mass (concat tiles)", "o = moment (concat tiles)", "coqc refuses"),
        ("  pose proof (exp_pos s). lra.\nQed.", "Admitted.", "the proof assumes mass_nonneg"),
        ("Print Assumptions theorems.", "", "does not print what it rests on"),
    ],
    ids=range(6),
)
def test_a_wrong_theorem_or_proof_is_refused(tmp_path: Path, said: str, wrong: str, problem: str) -> None:
    assert said in PROOF
    file = tmp_path / "Fold.v"
    file.write_text(PROOF.replace(said, wrong, 1), encoding="utf-8")
    with pytest.raises(ProofRefused, match=problem):
        checked([file], twice=False)


SUMMARY = """
CONTEXT SUMMARY
===============

* Theory: Set is predicative

* Axioms:
    Coq.Logic.Classical_Prop.classic

* Constants/Inductives relying on type-in-type: <none>

* Constants/Inductives relying on unsafe (co)fixpoints: <none>

* Inductives whose positivity is assumed: <none>
"""


def test_what_coqchk_lists_is_read() -> None:
    rocq._accept(SUMMARY)
    changes = {
        "classic": "falsity",
        "type-in-type: <none>": "type-in-type: Fold.t",
        "assumed: <none>": "assumed: Fold.t",
        "* Axioms": "* Xioms",
    }
    for said, wrong in changes.items():
        assert said in SUMMARY
        with pytest.raises(ProofRefused, match="not allowed"):
            rocq._accept(SUMMARY.replace(said, wrong))


def test_where_rocq_is_missing_nothing_is_said_to_be_proved(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(Undecided, match="apt-get install coq"):
        checked()
    assert rocq.main() == 3 and "is not installed" in capsys.readouterr().err


# -- laws as theorems --------------------------------------------------------------------------------------------------


def test_the_theorems_kept_are_those_of_the_laws(shipped: dict[str, Statement]) -> None:
    assert LAWS.read_text(encoding="utf-8") == rocq.written(shipped.values())


def test_the_laws_over_embedded_terms_kept_are_those_of_the_laws(shipped: dict[str, Statement]) -> None:
    """Of every statement that ships, but for sums that move by a step, places of maxima and masked stretches, the
    truth in frames is shown.
    """
    kept = source("DeepLaws.v").read_text(encoding="utf-8")
    assert kept == rocq.embedded(shipped.values())
    names = {name for name in shipped if f"Lemma {name.replace('-', '_')}_true :" not in kept}
    moving = {"moves-bare", "moves-weighted", "moves-more", "moves-more-weighted"}
    places = {"stream-argmax", "fuse-argmax", "from-first", "to-last"}
    assert names == {*moving, *places, *(f"split-masked-{m}" for m in ("sum", "max"))}


def test_laws_are_theorems_of_empty_axes_where_they_are_proved_of_them(shipped: dict[str, Statement]) -> None:
    laws = [statement for statement in shipped.values() if isinstance(statement, Law)]
    needs = {law.name for law in laws if "s <> []" in rocq._theorem(law)}
    assert needs == {"distribute", "sum-constant"}
    # No decider shows without induction that a recurrence of zeros is 0; over the embedded terms it is shown. A place
    # is one of a lane, and what is read along an axis without lanes is nothing that is understood.
    read = {f"read-{way}-{op}" for way in ("both", "second") for op in ("add", "mul", "max", "min")}
    read |= {"read-before", "read-back", "read-sum", "scan-in-runs-sum", "scan-in-runs-prod", "recur-in-runs"}
    alone = {"sum-recur", "from-first", "to-last"}
    assert {verdict.name for verdict in prove(laws) if verdict.lanes} == needs | alone | read


@installed
def test_a_law_cites_the_theorem_that_the_kernel_accepts(shipped: dict[str, Statement]) -> None:
    citing = [name for name, statement in shipped.items() if rocq.cited(statement)]
    known = {"shift", "rebase", "split-sum", "rescale", "carry", "moves-more", "skip-online", "stream-max"}
    assert len(citing) == 155 and known | {"scales-exp", "le-prev"} <= set(citing)
    assert rocq.cited(shipped["shift"]) == rocq.hashes() and set(rocq.hashes()) == {"rocq/Values.v", "rocq/Laws.v"}

    def shift(a, x):
        return Sum(x, exp(a)), exp(Max(x, a)) * Sum(x, exp(Max(x, a) - a))

    assert rocq.cited(stated(shift)[0]) == {}  # the name alone is no citation


def test_without_rocq_a_law_has_the_grade_of_the_solvers(
    shipped: dict[str, Statement], monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = [shipped[name] for name in ("fubini-max", "shift")]
    monkeypatch.setattr(rocq, "_accepted", lambda: False)
    assert [(v.grade, v.kernel) for v in prove(chosen, use_cache=False)] == [("B", {}), ("A", {})]
    monkeypatch.setattr(rocq, "_accepted", lambda: True)
    assert [(v.grade, v.kernel) for v in prove(chosen, use_cache=False)] == [("A", rocq.hashes())] * 2


def test_what_a_certificate_cites_is_compared_and_checked_again(
    shipped: dict[str, Statement], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rocq, "checked", lambda: {"files": {}, "tools": [], "axioms": []})
    cites, none = {"proof": {"kernel": rocq.hashes()}}, {"proof": {"kernel": dict[str, str]()}}
    assert rocq.again({"shift": cites, "level": none}, shipped)["laws"] == ["shift"]
    for laws, problem in (
        ({"shift": {"proof": {"kernel": {"rocq/Laws.v": "0" * 64}}}}, "shift cites a theorem that does not stand"),
        ({"level": cites}, "level cites a theorem that does not stand"),
    ):
        with pytest.raises(ProofRefused, match=problem):
            rocq.again(laws, shipped)
    with pytest.raises(Undecided, match="mine is no law that is registered here"):
        rocq.again({"mine": cites}, shipped)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("rocq")
    shutil.copy(VALUES, place)
    subprocess.run(["coqc", "-q", VALUES.name], cwd=place, check=True)
    return place


def accepts(place: Path, text: str) -> bool:
    (place / "Asked.v").write_text(rocq.HEAD + text, encoding="utf-8")
    return subprocess.run(["coqc", "-q", "Asked.v"], cwd=place, capture_output=True, check=False).returncode == 0


def split_sum(a, c, x, p: Axis):
    # No condition that each lane is in one stretch
    return Sum(x, a), Sum(p, Sum(x, where(c, a, 0.0))), distinct(p, x), free(p, a)


def rebase(a, b, m, c: Mask, x, p: Axis):
    part = where(c, a, ABSENT)  # type: ignore[arg-type]
    return (
        Sum(x, exp(part - m) * b),
        exp(Max(x, a) - m) * Sum(x, exp(part - Max(x, part)) * b),
        stretch(p, x, c),
        free(x, m),
    )


def shift(a, x):
    return Sum(x, exp(a)), exp(Max(x, a)) * Sum(x, exp(Max(x, a) - a))


def distribute(a, b, x):
    return Sum(x, a * b), a * Sum(x, b)  # a may vary


def rescale(a, r, x):
    return Sum(x, a), Online(x, a, TRUE, Acc()), scales(x, a, r), free(x, r)  # not rescaled


def carry(a, s, x):
    return Sum(x, a), Online(x, a, TRUE, Acc() - s), moves(x, a, 1.0, s), free(x, s), finite(a)  # the other way


def moves_more(a, b, r, s, t, x):
    said = moves(x, (b - r) * a, 1.0, (r - Prev(r)) * (Prev(Sum(x, a)) + t) + s)  # the step turned around
    given = local(x, b), along(x, b), free(x, r), settled(x, r), finite(b)
    return said, *given, finite(a), moves(x, a, 1.0, t), moves(x, a, b - r, s)


def null_weighted(a, w, x):
    return null(x, (a - Sum(x, a * w) * inv(Sum(x, w))) * w), finite(a), finite(w)  # weights that may cancel


def max_scale(a, b, x):
    return Max(x, a * b), a * Max(x, b), free(x, a)  # a may be negative


WRONG = split_sum, rebase, shift, distribute, rescale, carry, moves_more, null_weighted, max_scale


@installed
@pytest.mark.parametrize("wrong", WRONG, ids=lambda f: f.__name__)
def test_a_wrong_law_is_no_theorem(library: Path, wrong: Callable[..., Any]) -> None:
    """Printed like the law of its name and shown the proof of that law, which is accepted where the law is right."""
    (statement,) = stated(wrong)
    text = rocq._theorem(statement)
    kept = LAWS.read_text(encoding="utf-8")
    proof = text.partition("Proof.")[2]
    assert proof in kept and text not in kept and not accepts(library, text)


AT_NUMBERS = """Ltac at_numbers :=
  opened; unfold Rmax, Rmin, Rabs, Rtrigo_def.tanh, sinh; signs; try destruct Rcase_abs;
  rewrite ?Ropp_0, ?exp_0, ?ln_1, ?sqrt_1, ?sqrt_0, ?sin_0, ?cos_0;
  solve [reflexivity | f_equal; first [lra | field] | exfalso; lra].
"""


def same(a):
    return a, a


def in_rocq(value: bool | float) -> str:
    return (
        {True: "true", False: "false"}[value]
        if isinstance(value, bool)
        else "absent"
        if value == -math.inf
        else f"Some ({Fraction(value)})"
    )


@installed
def test_the_values_are_those_of_the_language(library: Path) -> None:
    """Operators at numbers, and a stream, as the evaluator computes them in NumPy."""
    numbers, known = (-math.inf, -2.0, 0.0, 1.0, 4.0), (-math.inf, -2.0, 0.0, 1.0)
    unary = {**dict.fromkeys(("neg", "inv", "abs"), numbers), **dict.fromkeys(("log", "sqrt"), known)}
    unary |= {
        **dict.fromkeys(("sin", "cos", "tanh", "exp"), (-math.inf, 0.0)),
        **dict.fromkeys(("sigmoid", "floor"), (-math.inf,)),
    }
    terms = [Map(op, (Const(a),)) for op, some in unary.items() for a in some]
    terms += [
        Map(op, (Const(a), Const(b)))
        for op in ("add", "mul", "max", "min", "le", "lt", "eq")
        for a in numbers
        for b in numbers
    ]
    printed = run_file(folder("proofs") / "theorems.py", "proofs")
    empty = printed["_Statement"](stated(same)[0])
    goals = [
        f"Goal {empty.term(term, printed['Place']())} = {in_rocq(evaluate(term, {}, {}).item())}. at_numbers. Qed."
        for term in terms
    ]
    assert accepts(library, "\n".join([AT_NUMBERS, *goals]))

    def stream(a, x):
        update = Acc() * Max(x, a) + Prev(Sum(x, a)) * Prev(size(x))
        return Sum(x, a), Online(x, a * Max(x, a) + size(x), TRUE, update), local(x, a)

    (law,) = stated(stream)
    assert isinstance(law, Law)
    over = rewritten(law.rhs, lambda t: Input("a", (Axis("x"),)) if isinstance(t, Var) else t)
    value = float(evaluate(over, {"a": np.array([1.0, 3.0, 2.0])}, {"x": 3}, 2))
    given = "Goal let xs := [1; 3; 2] in let x_blocks := [[1; 3]; [2]] in let a := fun x : R => Some x in"
    shown = printed["_Statement"](law).term(law.rhs, printed["Place"](now="xs"))
    for claimed, right in ((value, True), (value + 1, False)):
        tactic = "intros. subst x_blocks a. cbn. at_numbers. Qed."
        assert accepts(library, f"{AT_NUMBERS}{given} {shown} = {in_rocq(claimed)}. {tactic}") is right
