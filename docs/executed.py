"""Runs every command of the documents, and compares what they show with what comes out.

`python docs/executed.py [PAGE ...]` says what differs; with --write it puts what came out into the pages. In a page,

    ```napkin title="a.napkin"     and ```python title="a.py" are files, written into a folder as the page goes on
    ```console                     holds commands after `$ `, each followed by what it prints on both streams

A command may end in `| head -N` or `| tail -N`, and in `# status N` where its exit status is not 0. Seconds, and
how large an e-graph became, are not compared.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

DOCS = Path(__file__).resolve().parent
PAGES = "tutorial.md writing-a-law.md reading-a-certificate.md how-it-works.md index.md wrong-laws.md".split()
BLOCK = re.compile(r"^```(?P<kind>\w+)(?: title=\"(?P<title>[\w.]+)\")?\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(?P<run>.*?)(?: \| (?P<cut>head|tail) -(?P<lines>\d+))?(?: +# status (?P<status>\d+))?\Z")
VARIES = re.compile(r"\b\d+(?:\.\d+)? s\b|e-graph: \d+ nodes, \d+ classes, \d+ rounds")
LIMIT = 300.0


def executed(page: Path) -> str:
    """Return a page with what its commands print now in the place of what it shows."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        parts, at = list[str](), 0
        for match in BLOCK.finditer(text):
            if match["title"]:
                (Path(folder) / match["title"]).write_text(match["body"], encoding="utf-8")
            elif match["kind"] == "console":
                parts += [text[at : match.start("body")], "".join(_run(match["body"], Path(folder)))]
                at = match.end("body")
        return "".join([*parts, text[at:]])


def _run(body: str, folder: Path) -> Iterator[str]:
    """Yield the commands of a block, each with what it prints."""
    for line in body.splitlines():
        if line.startswith("$ "):
            yield f"{line}\n"
            yield from (f"{said}\n" for said in _said(line[2:], folder))


def _said(line: str, folder: Path) -> list[str]:
    """Return the lines that a command prints; raises SystemExit where its exit status is another than it says."""
    command = COMMAND.match(line)
    assert command is not None
    words = shlex.split(command["run"])
    programs = {"napkin-eq": [sys.executable, "-m", "napkin_eq.cli"], "python": [sys.executable], "ls": ["ls"]}
    if words[0] not in programs:
        raise SystemExit(f"{line}: only {', '.join(programs)} are run")
    env = {**os.environ, "PYTHONPATH": str(DOCS.parent), "TRITON_INTERPRET": "0", "NO_COLOR": "1", "LC_ALL": "C"}
    done = subprocess.run(
        [*programs[words[0]], *words[1:]], cwd=folder, env=env, text=True, timeout=LIMIT,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    if done.returncode != int(command["status"] or 0):
        raise SystemExit(f"{line}: status {done.returncode}\n{done.stdout}")
    lines = [said for said in done.stdout.splitlines() if not re.match(r"napkin-eq: \d+ s: ", said)]
    count = int(command["lines"] or 0)
    return lines if not count else lines[:count] if command["cut"] == "head" else lines[-count:]


def differs(old: str, new: str) -> list[str]:
    """Return the first lines that differ, but for what varies."""
    pairs = zip(old.splitlines(), new.splitlines(), strict=False)
    found = [f"- {a}\n+ {b}" for a, b in pairs if VARIES.sub("", a) != VARIES.sub("", b)]
    return found[:3] or (["their lengths"] if old.count("\n") != new.count("\n") else [])


def main(argv: Sequence[str]) -> int:
    """Run pages, all by default; write them, or say what differs."""
    write = "--write" in argv
    wrong = 0
    for name in [word for word in argv if word != "--write"] or PAGES:
        page = DOCS / name
        old, new = page.read_text(encoding="utf-8"), executed(page)
        if found := differs(old, new):
            wrong += 1
            print(f"docs/{name}: {'written' if write else 'differs'}", *found, sep="\n")
            if write:
                page.write_text(new, encoding="utf-8")
    return 0 if write else min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
