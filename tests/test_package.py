"""The package as others get it: a wheel with everything in it and nothing beside it, and documents that say
what is so.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import napkin_eq

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def test_one_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == napkin_eq.__version__
    assert f"\nversion: {napkin_eq.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"## {napkin_eq.__version__}" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.slow
def test_the_wheel_made_from_the_source_archive_is_whole(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path), "-t", "sdist"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (archive,) = tmp_path.glob("*.tar.gz")
    source = tmp_path / "source"
    source.mkdir()
    subprocess.run(["tar", "xzf", str(archive), "-C", str(source), "--strip-components=1"], check=True)
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path), "-t", "wheel"],
        cwd=source,
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"napkin_eq"}
    for folder in ("rules", "proofs", "codegen", "benchmarks/carried"):
        for shipped in (ROOT / folder).rglob("*.py"):
            assert f"napkin_eq/{shipped.relative_to(ROOT)}" in names
    for file in ("py.typed", "lang/language.json", "machine/gpus/h200.toml"):
        assert f"napkin_eq/{file}" in names
    zipfile.ZipFile(wheel).extractall(tmp_path / "installed")
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "installed"), "PYTHONSAFEPATH": "1"}
    code = (
        "import napkin_eq, sys; from napkin_eq.cli.main import main; print(napkin_eq.__file__); main(['laws',"
        " 'distribute']); main(['list'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=env, check=True, capture_output=True, text=True
    )
    assert str(tmp_path / "installed") in done.stdout
    assert "distribute" in done.stdout
    assert "NVIDIA H200" in done.stdout


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: file.name)
def test_links_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)#]+)", document.read_text()):
        assert target.startswith("https://") or (document.parent / target).exists(), target


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: file.name)
def test_files_that_are_named_exist(document):
    for name in re.findall(
        r"`((?:napkin_eq|rules|proofs|codegen|tests|docs|examples)/[\w./-]+)`", document.read_text()
    ):
        assert (ROOT / name).exists(), name


def test_the_law_shown_to_contributors_is_proved(tmp_path, capsys, registry):
    from napkin_eq.cli.main import main

    (code,) = re.findall(r"```python\n(from napkin_eq.law.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)
    (tmp_path / "mine.py").write_text(code)
    assert main(["prove", str(tmp_path / "mine.py")]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1].startswith("1 proved") and "0 refuted, 0 unknown, in" in out


def test_every_package_is_named_in_the_reading_order():
    named = set(re.findall(r"`([\w/]+)`", (ROOT / "CONTRIBUTING.md").read_text()))
    packages = {
        str(file.parent.relative_to(ROOT / "napkin_eq")) for file in (ROOT / "napkin_eq").rglob("*/__init__.py")
    }
    assert packages <= named, packages - named


def test_nothing_names_the_machine_it_was_written_on():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    files = listed.stdout.split() if listed.returncode == 0 else []
    for name in files or [str(p.relative_to(ROOT)) for p in (ROOT / "napkin_eq").rglob("*.py")]:
        text = (ROOT / name).read_bytes().decode("utf-8", "replace")
        assert not re.search(r"(?<![\w.])/(work|root|home)/", text) or name == "tests/test_package.py", name


@pytest.mark.slow
def test_what_the_documents_show_is_what_the_code_says():
    done = subprocess.run(
        [sys.executable, "docs/refresh.py", "--check"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"run `make docs`: {done.stdout}{done.stderr}"
