"""Writes what the documents show of the code's own output: `python docs/refresh.py`, or with --check says what is out
of date.

README.md, docs/napkin.md and docs/pytorch.md hold blocks between `<!-- made: NAME -->` and `<!-- end -->`;
docs/laws.md, docs/gallery.md and docs/pictures are made as a whole.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import re
import shutil
import sys
import textwrap
from pathlib import Path

import napkin_eq as nq
from napkin_eq.cli.main import main as napkin
from napkin_eq.draw import svg
from napkin_eq.frontend.gallery import DIAGRAMS
from napkin_eq.frontend.parsed import parsed
from napkin_eq.laws import catalogue
from napkin_eq.laws.law import REGISTRY, Law, Statement
from napkin_eq.laws.loader import load_rules
from napkin_eq.prove.float_class import assess
from napkin_eq.prove.prove import prove
from napkin_eq.pytorch.build.table import rules

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PICTURES = ROOT / "docs" / "pictures"
NAPKIN = ROOT / "docs" / "napkin.md"
PYTORCH = ROOT / "docs" / "pytorch.md"
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
        lines.append(
            f"| {name} | {ours:.4g} | {predicted:.4g} | {peer} | {row['peers'][peer]:.4g} | {row['ratio_best']:.2f} |"
        )
    return "\n".join(lines)


def ratios() -> str:
    """Return the plot of what was measured beside peers."""
    spec = importlib.util.spec_from_file_location("plot", ROOT / "benchmarks" / "plot.py")
    if spec is None or spec.loader is None:
        raise SystemExit("benchmarks/plot.py is missing")
    plot = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(plot)
    rows = json.loads((ROOT / "benchmarks" / "results" / "h200.json").read_text(encoding="utf-8"))["rows"]
    drawn: str = plot.ratios(rows)
    return drawn


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


def shipped_laws() -> list[Statement]:
    """Return the statements in rules/, no others that this process may have loaded."""
    load_rules()
    return [s for s in REGISTRY.statements.values() if (ROOT / "rules") in Path(s.place).parents]


def napkin_page(page: str) -> str:
    """Return docs/napkin.md with what `napkin-eq model` prints and the list of the paper's formulas made anew."""
    command = re.compile(r"(```console\n\$ napkin-eq (model [^\n]*)\n).*?(```)", re.DOTALL)
    found = command.sub(lambda m: f"{m[1]}{said(*m[2].split())}\n{m[3]}", page)
    rows = json.loads(NAPKIN.with_name("napkin_paper.json").read_text(encoding="utf-8"))
    lines = ["| place | what | value | reproduced | how, or why not |", "|---|---|---|---|---|"]
    for _, place, what, value, status, how in rows:
        lines.append(f"| {place} | {what} | {value} | {'yes' if status == 'reproduced' else '**no**'} | {how} |")
    table = "\n".join(lines)
    return MADE.sub(lambda block: f"{block[1]}{table}\n{block[3]}", found)


def pytorch_page(page: str) -> str:
    """Return docs/pytorch.md with the list of the operators that are read made anew."""
    names = sorted({name.partition(".")[0] for name in rules() if not name.startswith("napkin_eq.")})
    listed = "\n".join(textwrap.wrap(", ".join(f"`{name}`" for name in names), 160, break_on_hyphens=False))
    return MADE.sub(lambda block: f"{block[1]}{listed}\n{block[3]}", page)


def laws() -> str:
    """Return docs/laws.md: the shipped laws only."""
    shipped = shipped_laws()
    floats = {s.name: str(v) for s, v in zip(REGISTRY.laws(), assess(REGISTRY.laws()), strict=True)}
    return catalogue.markdown(shipped, {v.name: v.grade for v in prove(shipped)}, floats)


def pictures() -> dict[Path, str]:
    """Return the pictures of every diagram of the gallery, of every entry of docs/laws.md, and of the README's head."""
    made = {PICTURES / f"{name}.svg": svg(DIAGRAMS[name]()) for name in sorted(DIAGRAMS)}
    drawn = [s for s in shipped_laws() if isinstance(s, Law)]
    entries = {(s.place, s.reading): s for s in reversed(drawn)}
    made |= {PICTURES / "laws" / f"{s.name}.svg": svg(s) for s in entries.values()}
    q, x, d = nq.axes("q x d", q=16384, x=4096, d=128)
    Q, K, V = nq.array("Q", q, d), nq.array("K", x, d), nq.array("V", x, d)
    out = nq.sum(nq.softmax(nq.sum(Q * K, d) * 128**-0.5, x) * V, x)
    said = "Each operation alone: scores and weights of 16384 × 4096 go to memory and come back."
    before = nq.Diagram("before", (("out", out),), said)
    made[PICTURES / "before.svg"] = svg(before)
    made |= {PICTURES / "after.svg": svg(nq.derive(nq.Diagram("after", before.outputs)))}
    tutorial = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    pooling = parsed(tutorial.partition('```napkin title="pooling.napkin"\n')[2].partition("```")[0])
    made |= {PICTURES / "pooling.svg": svg(pooling), PICTURES / "pooling_plan.svg": svg(nq.derive(pooling))}
    return made | {PICTURES / "ratios.svg": ratios()}


def gallery() -> str:
    """Return docs/gallery.md: each named diagram with its picture."""
    head = (
        "# The gallery\n\nMade by `python docs/refresh.py`; do not edit. `napkin-eq draw NAME -o x.svg` draws one, with"
        " `--plan` what is derived of it."
    )
    legend = (
        "Time runs from left to right. A wire is an axis of an array, a dashed line parts arrays; a cup multiplies and"
        " sums, a pill folds, a triangle is what folds an array and comes back to its axes, a hexagon reads elsewhere,"
        " a shaded band works element by element. Above the columns stand the bytes that each operation moves if it is"
        " a kernel of its own, two a value, and its operations."
    )
    parts = [f"## {name}\n\n{DIAGRAMS[name]().doc}\n\n![{name}](pictures/{name}.svg)" for name in sorted(DIAGRAMS)]
    ratio = (
        "## Measured\n\nOn one H200, bfloat16, medians, each beside the fastest of its peers "
        "([the table](../README.md#measured) names them).\n\n"
        "![The time of the best peer over ours, by kernel](pictures/ratios.svg)"
    )
    return "\n\n".join([head, legend, *parts, ratio]) + "\n"


def main() -> int:
    if shutil.which("coqc") is None:
        print(
            "the documents are left as they are, and not compared: some grades that they show rest on Rocq, which is"
            " not installed here"
        )
        return 0
    made = {ROOT / "docs" / "laws.md": laws(), ROOT / "docs" / "gallery.md": gallery(), **pictures()}
    pages = {
        README: refreshed(README.read_text(encoding="utf-8")),
        NAPKIN: napkin_page(NAPKIN.read_text(encoding="utf-8")),
        PYTORCH: pytorch_page(PYTORCH.read_text(encoding="utf-8")),
    }
    wanted = {**pages, **made}
    stale = [file for file, text in wanted.items() if not file.exists() or text != file.read_text(encoding="utf-8")]
    gone = sorted(set(PICTURES.rglob("*.svg")) - set(wanted))
    for file in gone:
        print(f"{file.relative_to(ROOT)} {'is not made any more' if '--check' in sys.argv else 'removed'}")
        if "--check" not in sys.argv:
            file.unlink()
    for file in stale:
        print(f"{file.relative_to(ROOT)} {'is out of date' if '--check' in sys.argv else 'written'}")
        if "--check" not in sys.argv:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(wanted[file], encoding="utf-8")
    return int(bool(stale or gone) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
