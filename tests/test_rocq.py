"""The core theorem in Rocq: accepted as it stands, and refused once it is wrong, admitted, or rests on more than the reals."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from napkin_eq import rocq
from napkin_eq.errors import Undecided
from napkin_eq.rocq import ProofRefused, checked, source

installed = pytest.mark.skipif(shutil.which("coqc") is None, reason="Rocq is not installed; `make rocq` installs it and checks the proof")
PROOF = source().read_text(encoding="utf-8")


@installed
def test_the_core_theorem_is_proved_from_the_axioms_of_the_reals() -> None:
    found = checked(twice=False)  # coqchk, which takes 40 s, is run by `make rocq`
    assert set(found["axioms"]) <= rocq.AXIOMS and found["axioms"] and len(found["sha256"]) == 64


@installed
@pytest.mark.parametrize(
    ("said", "wrong", "problem"),
    [
        ("| Some a => rho a m end) + weighted m tile", "| Some a => 1 end) + weighted m tile", "coqc refuses"),  # no rescaling
        ("x * rho a m + y * rho b m)", "x * rho a m + y)", "coqc refuses"),  # on one side only
        ("body (S t) j = body t j * r (S t)", "body (S t) j = body t j + r (S t)", "coqc refuses"),
        ("o / z = moment (concat tiles) / mass (concat tiles)", "o = moment (concat tiles)", "coqc refuses"),  # not normalised
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
        checked(file, twice=False)


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
    changes = {"classic": "falsity", "type-in-type: <none>": "type-in-type: Fold.t", "assumed: <none>": "assumed: Fold.t", "* Axioms": "* Xioms"}
    for said, wrong in changes.items():
        assert said in SUMMARY
        with pytest.raises(ProofRefused, match="not allowed"):
            rocq._accept(SUMMARY.replace(said, wrong))


def test_where_rocq_is_missing_nothing_is_said_to_be_proved(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(Undecided, match="apt-get install coq"):
        checked()
    assert rocq.main() == 3 and "is not installed" in capsys.readouterr().err
