"""Two checkers, one verdict: check.py and the one whose soundness is a theorem, over good certificates and
forged ones.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import napkin_eq as nq
from napkin_eq import derive
from napkin_eq.certify.certificate import checked, sealed
from napkin_eq.frontend.gallery import DIAGRAMS
from napkin_eq.lang.axis import Axis
from napkin_eq.prove import rocq_text as rocqtext
from napkin_eq.prove.rocq import source
from napkin_eq.verify.selftest import forgeries, ill_formed, one_rule, samples
from tests.laws.test_axis_split import COUNTED_WRONG, claimed, counted
from tests.search.test_cover import attend
from tests.search.test_prefixes import causal

Data = dict[str, Any]
NEEDED = "Values Language Terms Frames Checker".split()
GALLERY = "attention causal_attention softmax layer_norm matmul rms_norm".split()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("coqc") is None, reason="Rocq is not installed; `make rocq` installs it"),
]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("checker")
    for name in NEEDED:
        shutil.copy(source(f"{name}.v"), place)
        subprocess.run(["coqc", "-q", f"{name}.v"], cwd=place, check=True)
    return place


def verdicts(place: Path, certificates: Iterable[Data]) -> list[bool]:
    """Return whether Rocq's checker accepts each certificate; what cannot be written down for it is refused."""
    texts, written = [rocqtext.HEAD], list[bool]()
    for number, data in enumerate(certificates):
        try:
            texts += [rocqtext.certificate(data, f"C{number}"), f"Eval vm_compute in check C{number}.it."]
            written.append(True)
        except rocqtext.Unwritten:
            written.append(False)
    (place / "Asked.v").write_text("\n".join(texts), encoding="utf-8")
    done = subprocess.run(["coqc", "-q", "Asked.v"], cwd=place, check=True, capture_output=True, text=True)
    found = iter(re.findall(r"= (true|false)", done.stdout))
    said = [form and next(found) == "true" for form in written]
    assert next(found, None) is None
    return said


def test_good_and_forged_certificates_have_one_verdict(compiled: Path) -> None:
    cases = [(sample.name, sample.certificate()) for sample in islice(samples.samples(), 0, None, 4)]
    for place, sample in enumerate(sample for sample in samples.alone() if sample.allowed):
        broken = ill_formed.ill_formed(sample.certificate())
        cases += [(f"{rule}, {sample.name}", sealed(data)) for rule, data in islice(broken, place % 17, None, 17)]
    cases += list(islice(forgeries.false(60), 150))
    ours = [checked(data)["status"] == "ok" for _, data in cases]
    theirs = verdicts(compiled, [data for _, data in cases])
    different = [name for (name, _), one, other in zip(cases, ours, theirs, strict=True) if one is not other]
    assert not different and ours.count(True) >= 50 and ours.count(False) >= 200


def test_lemmas_good_and_forged_have_one_verdict(compiled: Path) -> None:
    """Each sample's steps as those of a lemma, about the term that they are in and about one around it; and lemmas that
    are ill-formed.
    """
    cases: list[tuple[str, Data]] = []
    for number, sample in enumerate(samples.samples()):
        data = sample.certificate()
        if "," not in sample.name and number % 3 == 0:
            broken = ill_formed.of_lemmas(data)
            cases += [
                (f"{rule}, {sample.name}", sealed(forged)) for rule, forged in islice(broken, number % 7, None, 7)
            ]
        elif number % 4 == 0:
            cases += [(f"{sample.name}, {around} around", ill_formed.as_lemma(data, around)) for around in range(3)]
    cases += [*one_rule.by_terms(), *one_rule.by_lemmas(), *one_rule.beside_the_proof()]
    ours = [checked(data)["status"] == "ok" for _, data in cases]
    theirs = verdicts(compiled, [data for _, data in cases])
    different = [name for (name, _), one, other in zip(cases, ours, theirs, strict=True) if one is not other]
    assert not different and ours.count(True) >= 50 and ours.count(False) >= 50


def test_a_certificate_of_a_cover_is_accepted_by_both(compiled: Path) -> None:
    """It is one of lemmas; each is refused by both once a lemma lacks its last step, or is about another term."""
    h, q, x, d = nq.axes("h q x d", h=16, q=512, x=512, d=64)
    data = derive(attend(attend(nq.array("A", h, q, d), q, x, d), q, x, d)).certificate
    lemmas = data["steps"]
    assert len(lemmas) > 1 and all("lemma" in step for step in lemmas)
    given = [data, sealed({**data, "steps": [{**lemmas[0], "steps": lemmas[0]["steps"][:-1]}, *lemmas[1:]]})]
    given.append(sealed({**data, "steps": [{**lemmas[0], "lemma": lemmas[1]["lemma"]}, *lemmas[1:]]}))
    assert [checked(one)["status"] == "ok" for one in given] == verdicts(compiled, given) == [True, False, False]


def test_the_certificates_of_the_gallery_are_accepted_by_both(compiled: Path) -> None:
    """Each is refused by both once its end is another row."""
    given = [derive(DIAGRAMS[name]()).certificate for name in GALLERY]
    wrong = [sealed({**data, "theorem": {**data["theorem"], "destination": 0}}) for data in given]
    for certificates, right in ((given, True), (wrong, False)):
        assert [checked(data)["status"] == "ok" for data in certificates] == [right] * len(given)
        assert verdicts(compiled, certificates) == [right] * len(given)


@pytest.mark.parametrize("size", [4096, 4000])
def test_a_sum_that_is_cut_is_accepted_by_both_and_assumes_no_law(compiled: Path, size: int) -> None:
    """Its laws stand in DeepLaws.v, each true in frames; both refuse it once its end is another row."""
    data = derive(causal(size)).certificate
    wrong = sealed({**data, "theorem": {**data["theorem"], "destination": 0}})
    assert [checked(one)["status"] == "ok" for one in (data, wrong)] == [True, False]
    assert verdicts(compiled, (data, wrong)) == [True, False]
    names, kept = sorted(data["laws"]), source("DeepLaws.v").read_text(encoding="utf-8")
    assert {"sum-runs", "in-runs", "in-stretch", "run-at-most"} <= set(names)
    laws = [(data["laws"][name], f"{name.replace('-', '_')}_law") for name in names]
    assert all(rocqtext.LawText(law, law["proof"]["lanes"], called).text in kept for law, called in laws)


def test_stretches_that_are_counted_later_have_one_verdict(compiled: Path) -> None:
    right = [data for x in (Axis("x", 7), Axis("x", 1000), Axis("x")) for data in (claimed(*cut) for cut in counted(x))]
    wrong = [claimed(*cut) for cut in COUNTED_WRONG]
    assert [checked(data)["status"] == "ok" for data in (*right, *wrong)] == [True] * len(right) + [False] * len(wrong)
    assert verdicts(compiled, (*right, *wrong)) == [True] * len(right) + [False] * len(wrong)
