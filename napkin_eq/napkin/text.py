"""Lines of text for a terminal: wrapped paragraphs, aligned tables, equations with a note, at most 100 columns wide."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

WIDTH = 100


def wrapped(text: str, indent: str, first: str | None = None) -> list[str]:
    """Return a paragraph as lines; the first begins with `first`, or else the others are indented deeper."""
    begin, then = (f"{indent}", f"{indent}  ") if first is None else (first, indent)
    return textwrap.wrap(text, WIDTH, initial_indent=begin, subsequent_indent=then, break_on_hyphens=False)


def table(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    """Return rows with columns aligned; what is too long for a line is continued below, in its last column."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    wide = sum(widths[:-1]) + 2 * (len(widths) - 1)
    lines = []
    for row in rows:
        cells = [
            text.rjust(w) if at in right else text.ljust(w)
            for at, (text, w) in enumerate(zip(row, widths, strict=True))
        ]
        line = "  ".join(cells).rstrip()
        if len(line) <= WIDTH:
            lines.append(line)
        elif WIDTH - wide >= 16:
            parts = textwrap.wrap(row[-1], WIDTH - wide, break_on_hyphens=False)
            lines += [("  ".join([*cells[:-1], parts[0]])).rstrip(), *(f"{'':{wide}}{part}" for part in parts[1:])]
        else:
            lines += wrapped("  ".join(text for text in row if text).strip(), "    ", first="  ")
    return lines


def equation(name: str, sign: str, text: str, note: str) -> list[str]:
    """Return a formula, its note behind it where both fit a line, else below."""
    line = f"  {name:2} {sign} {text}"
    if len(line) <= WIDTH and len(line) + len(note) + 4 <= WIDTH:
        return [f"{line}{' ' * max(4, WIDTH - len(line) - len(note)) if len(note) > 40 else '    '}{note}".rstrip()]
    return [*wrapped(text, "       ", first=f"  {name:2} {sign} "), *(wrapped(note, "       ") if note else [])]
