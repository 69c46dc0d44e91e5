"""Writes what the documents show of the code's own output: `python docs/refresh.py`, or with --check says what is out of date.

README.md holds blocks between `<!-- made: NAME -->` and `<!-- end -->`; docs/laws.md is made as a whole.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
import sys
from pathlib import Path

from napkin_eq import catalogue
from napkin_eq.cli import main as napkin
from napkin_eq.content import load_rules
from napkin_eq.floating import assess
from napkin_eq.law import REGISTRY
from napkin_eq.proving import prove

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
MADE = re.compile(r"(<!-- made: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def said(*argv: str) -> str:
    """Return what the command line prints."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        status = napkin(list(argv))
    if status:
        raise SystemExit(f"napkin-eq {' '.join(argv)}: status {status}")
    return out.getvalue().rstrip("\n")


def example(readme: str) -> str:
    """Return what the first Python block of the README prints."""
    found = re.search(r"```python\n(.*?)```", readme, re.DOTALL)
    if found is None:
        raise SystemExit("README.md has no Python block")
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(found[1], "README.md", "exec"), {})
    return out.getvalue().rstrip("\n")


def verbs(readme: str) -> str:
    """Return the verbs with their one-line help."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        napkin(["--help"])
    words = re.findall(r"^    (\w+)\s+(.+(?:\n {8,}.+)*)", out.getvalue(), re.MULTILINE)
    rows = "\n".join(f"| `napkin-eq {name}` | {' '.join(text.split())} |" for name, text in words)
    return f"| verb | does |\n|---|---|\n{rows}"


def measured() -> str:
    """Return the table of kernels beside their peers, from what was measured on the H200."""
    found = json.loads((ROOT / "benchmarks" / "results" / "h200.json").read_text(encoding="utf-8"))
    lines = ["| work | ours ms | predicted ms | best peer | peer ms | peer ÷ ours |", "|---|---|---|---|---|---|"]
    for row in found["rows"]:
        name, ours = f"{row['work']}: {row['case']}", row["ours_ms"]
        if ours is None or not row["peers"]:
            lines.append(f"| {name} | {'–' if ours is None else f'{ours:.4g}'} | | | | |")
            continue
        peer = min(row["peers"], key=lambda one: row["peers"][one])
        predicted = row["predicted_ms"]
        lines.append(f"| {name} | {ours:.4g} | {predicted:.4g} | {peer} | {row['peers'][peer]:.4g} | {row['ratio_best']:.2f} |")
    return "\n".join(lines)


def blocks(readme: str) -> dict[str, str]:
    """Return the text of every block by its name."""
    return {
        "example": f"```text\n{example(readme)}\n```",
        "explain": f"```console\n$ napkin-eq explain attention\n{said('explain', 'attention')}\n```",
        "measured": measured(),
        "verbs": verbs(readme),
    }


def refreshed(readme: str) -> str:
    """Return the README with its blocks made anew."""
    made = blocks(readme)
    return MADE.sub(lambda found: f"{found[1]}{made[found[2]]}\n{found[3]}", readme)


def laws() -> str:
    """Return docs/laws.md: the shipped laws only."""
    load_rules()
    shipped = [s for s in REGISTRY.statements.values() if (ROOT / "rules") in Path(s.place).parents]
    floats = {s.name: str(v) for s, v in zip(REGISTRY.laws(), assess(REGISTRY.laws()), strict=True)}
    return catalogue.markdown(shipped, {v.name: v.grade for v in prove(shipped)}, floats)


def main() -> int:
    if shutil.which("coqc") is None:
        print("the documents are left as they are, and not compared: some grades that they show rest on Rocq, which is not installed here")
        return 0
    wanted = {README: refreshed(README.read_text(encoding="utf-8")), ROOT / "docs" / "laws.md": laws()}
    stale = [file for file, text in wanted.items() if text != file.read_text(encoding="utf-8")]
    for file in stale:
        print(f"{file.relative_to(ROOT)} {'is out of date' if '--check' in sys.argv else 'written'}")
        if "--check" not in sys.argv:
            file.write_text(wanted[file], encoding="utf-8")
    return int(bool(stale) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
