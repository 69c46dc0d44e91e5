"""The documents: every command runs and prints what stands there, notebooks run, the site builds without a warning."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"


def runner():
    spec = importlib.util.spec_from_file_location("executed", DOCS / "executed.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


executed = runner()
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize("name", executed.PAGES)
def test_every_command_prints_what_stands_there(name):
    page = DOCS / name
    assert executed.differs(page.read_text(encoding="utf-8"), executed.executed(page)) == []


def test_every_command_of_a_document_is_run():
    for page in DOCS.glob("*.md"):
        if page.name == "napkin.md":
            continue  # docs/refresh.py runs its commands
        if re.search(r"^```console", page.read_text(encoding="utf-8"), re.MULTILINE):
            assert page.name in executed.PAGES, f"docs/{page.name} has commands: put it into PAGES of docs/executed.py"


def test_a_page_that_shows_something_else_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text('```python title="a.py"\nprint(1 + 1)\n```\n\n```console\n$ python a.py\n3\n```\n')
    assert executed.differs(page.read_text(), executed.executed(page)) == ["- 3\n+ 2"]
    page.write_text("```console\n$ napkin-eq draw nothing_of_that_name\n```\n")
    with pytest.raises(SystemExit, match="status 2"):
        executed.executed(page)
    page.write_text("```console\n$ rm -r x\n```\n")
    with pytest.raises(SystemExit, match="only"):
        executed.executed(page)
    assert executed.differs("in 1.5 s\n", "in 22 s\n") == [] != executed.differs("1.5 ms\n", "22 ms\n")


@pytest.mark.slow
@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_notebooks_run(file, monkeypatch):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = nbformat.read(file, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    pictures = [output["data"] for output in outputs if "image/svg+xml" in output.get("data", {})]
    assert pictures and all(picture["image/svg+xml"].lstrip().startswith("<svg") for picture in pictures)


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path):
    pytest.importorskip("material")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0 and "WARNING" not in done.stdout + done.stderr, done.stdout + done.stderr
    built = (tmp_path / "site" / "reference" / "index.html").read_text(encoding="utf-8")
    assert "Derive the cheapest plan of a diagram for a GPU." in built
    assert (tmp_path / "site" / "pictures" / "attention.svg").exists()
