"""The catalogue of laws: what docs/laws.md and `napkin-eq laws` show, read off the registry and nothing else."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from napkin_eq.laws.law import JUDGMENTS, Inference, Law, Statement

LISTED = 60  # laws of one entry that are named each
HEAD = """# The laws

Made by `napkin-eq laws --markdown` from the statements in `rules/`; do not edit.

Every law holds for all sizes of every axis and all values, the absent one included, under the conditions after *if*;
`=` is used both ways, `→` one way, `⟹` leads from what is known to what follows. The stage says when a law fires:
*prepare* and *algebra* rewrite what is computed, *structure* says how it is partitioned, streamed and stored; *cited*
laws fire in no e-graph, a search cites them for a form that it makes. Its
verdict in floating point: *exact* (the same number, decided bit by bit for float16 and bfloat16), *reassociating ×g*
(the bound on the new side's error is at most g times that on the old one's: *proved* for all sizes by error analysis to
first order, or *sampled* over inputs of ordinary size in float32 and float16) or *unsafe* (it may overflow or cancel
outside the range that it names, shown by inputs there and sampled within; an exponential is placed only where a fact
keeps it in range).
Its grade, that of its weakest justification: A by definition, exact normal form or Rocq's kernel, B confirmed by two
solvers, C by one.
"""


def row(statement: Statement, grade: str | None) -> dict[str, Any]:
    """Return a statement as data with stable keys; the grade is None where it is not known."""
    shared: dict[str, Any] = {
        "name": statement.name,
        "family": statement.family,
        "kind": "law" if isinstance(statement, Law) else "inference",
        "reading": statement.reading,
        "statement": statement.statement(),
        "source": statement.source,
        "grade": grade,
    }
    if isinstance(statement, Law):
        shared |= {
            "stage": statement.stage,
            "floating": statement.floating,
            "range": [str(j) for j in statement.ranges],
            "both_ways": statement.both,
        }
    return shared


def text(statements: Iterable[Statement], grades: Mapping[str, str]) -> str:
    """Return the catalogue for a terminal: one statement a paragraph, by family."""
    lines = []
    for family, members in groupby(statements, key=lambda s: s.family):
        lines.append(f"{family}: {_title(next(iter(group := list(members))))}")
        for statement in group:
            lines += [
                f"  {statement.name}  [{grades.get(statement.name, '?')}]",
                f"    {statement.reading}",
                f"    {statement.statement()}",
            ]
    return "\n".join(lines)


def markdown(statements: Iterable[Statement], grades: Mapping[str, str], floats: Mapping[str, str]) -> str:
    """Return docs/laws.md; every statement has a grade, every law a verdict in floating point."""
    parts = [HEAD, "## The words of conditions\n", "| word | meaning |\n|---|---|"]
    for name, (takes, meaning) in JUDGMENTS.items():
        letters = {"axis": iter("xy"), "term": iter("abd"), "mask": iter("ce")}
        args = [next(letters[kind]) for kind in takes]
        parts.append(f"| {name}({', '.join(args)}) | {meaning.format(*args)} |")
    for family, members in groupby(statements, key=lambda s: s.family):
        group = list(members)
        parts.append(f"\n## {family}\n\n{_title(group[0])}")
        # A schema such as "for every monoid" is several statements with one reading: they share an entry.
        for (reading, _), same in groupby(group, key=lambda s: (s.reading, s.place)):
            parts.append(_entry(reading, list(same), grades, floats))
    return "\n".join(parts) + "\n"


def _entry(reading: str, same: list[Statement], grades: Mapping[str, str], floats: Mapping[str, str]) -> str:
    first = same[0]
    listed = [f"`{s.name}`" for s in same]
    names = (
        ", ".join(listed)
        if len(listed) <= LISTED
        else f"{listed[0]}, {listed[1]} to {listed[-1]}, {len(listed)} in all"
    )
    notes = (
        [first.stage, " or ".join(dict.fromkeys(floats[s.name] for s in same))]
        if isinstance(first, Law)
        else ["inference"]
    )
    found = [grades[s.name] for s in same]
    notes += [f"grade {found[0]}" if len(set(found)) == 1 else f"grades {', '.join(found)}"]
    notes += [first.source] if first.source else []
    shown = "\n".join(dict.fromkeys(s.statement() for s in same))  # kinds of variables are not written
    drawn = f"\n\n![{first.name}](pictures/laws/{first.name}.svg)" if isinstance(first, Law) else ""
    return f"\n**{names}** ({'; '.join(notes)}). {reading}\n```text\n{shown}\n```{drawn}"


def _title(statement: Law | Inference) -> str:
    """Return the first line of the docstring of the file that states it."""
    file = Path(statement.place.rpartition(":")[0])
    return (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").partition("\n")[0]
