"""Two checkers, one verdict: check.py and the one whose soundness is a theorem, over good certificates and forged ones."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from napkin_eq import derive, forgeries, rocqtext, samples
from napkin_eq.certificate import checked, sealed
from napkin_eq.gallery import DIAGRAMS
from napkin_eq.rocq import source

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
        broken = forgeries.ill_formed(sample.certificate())
        cases += [(f"{rule}, {sample.name}", sealed(data)) for rule, data in islice(broken, place % 17, None, 17)]
    cases += list(islice(forgeries.false(60), 150))
    ours = [checked(data)["status"] == "ok" for _, data in cases]
    theirs = verdicts(compiled, [data for _, data in cases])
    different = [name for (name, _), one, other in zip(cases, ours, theirs, strict=True) if one is not other]
    assert not different and ours.count(True) >= 50 and ours.count(False) >= 200


def test_the_certificates_of_the_gallery_are_accepted_by_both(compiled: Path) -> None:
    """Each is refused by both once its end is another row."""
    given = [derive(DIAGRAMS[name]()).certificate for name in GALLERY]
    wrong = [sealed({**data, "theorem": {**data["theorem"], "destination": 0}}) for data in given]
    for certificates, right in ((given, True), (wrong, False)):
        assert [checked(data)["status"] == "ok" for data in certificates] == [right] * len(given)
        assert verdicts(compiled, certificates) == [right] * len(given)
