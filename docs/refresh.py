"""Writes what the documents show of the code's own output: `python docs/refresh.py`, or with --check says what is out of date.

README.md holds blocks between `<!-- made: NAME -->` and `<!-- end -->`; docs/laws.md is made as a whole.
"""

from __future__ import annotations

import contextlib
import io
import re
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
    words = re.findall(r"^    (\w+) +(.+(?:\n {8,}.+)*)", out.getvalue(), re.MULTILINE)
    rows = "\n".join(f"| `napkin-eq {name}` | {' '.join(text.split())} |" for name, text in words)
    return f"| verb | does |\n|---|---|\n{rows}"


def blocks(readme: str) -> dict[str, str]:
    """Return the text of every block by its name."""
    return {
        "example": f"```text\n{example(readme)}\n```",
        "explain": f"```console\n$ napkin-eq explain attention\n{said('explain', 'attention')}\n```",
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
    wanted = {README: refreshed(README.read_text(encoding="utf-8")), ROOT / "docs" / "laws.md": laws()}
    stale = [file for file, text in wanted.items() if text != file.read_text(encoding="utf-8")]
    for file in stale:
        print(f"{file.relative_to(ROOT)} {'is out of date' if '--check' in sys.argv else 'written'}")
        if "--check" not in sys.argv:
            file.write_text(wanted[file], encoding="utf-8")
    return int(bool(stale) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
