"""The text form of a diagram cut into tokens, each with its place, and the error that names a place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from napkin_eq.lang.errors import NapkinError

MAX_TEXT, MAX_TOKENS = 20_000, 4_000
SPELLINGS = {
    "*": "·",
    "<=": "≤",
    ">=": "≥",
    "&": "∧",
    "!": "¬",
    "and": "∧",
    "or": "∨",
    "not": "¬",
    "inf": "∞",
    "->": "→",
    "<-": "←",
}
TOKEN = re.compile(
    r"(?P<space>[ \t\r]+|#[^\n]*)|(?P<newline>\n)|(?P<number>(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<word>[A-Za-z][A-Za-z0-9_]*)|(?P<big>[ΣΠ])|(?P<sign><=|>=|:=|<-|//|[-+*·/%^=<>≤≥∧∨¬!&?:,;|_(){}\[\]⌊⌋√∞←])",
    re.ASCII,
)


class Misread(NapkinError):
    """A text that is no diagram: `line` and `column` from 1, and how many characters the place is wide."""

    def __init__(self, reason: str, line: int, column: int, width: int = 1) -> None:
        super().__init__(f"line {line}, column {column}: {reason}")
        self.reason, self.line, self.column, self.width = reason, line, column, max(1, width)


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text: kind is number, word, sign, newline or end; `text` is its usual spelling.

    `width` is that of what was written.
    """

    kind: str
    text: str
    line: int
    column: int
    width: int

    def refuse(self, reason: str) -> NoReturn:
        """Raise Misread at this place."""
        raise Misread(reason, self.line, self.column, self.width) from None

    @property
    def shown(self) -> str:
        """What stands here, as a message says it."""
        return {"newline": "the end of the line", "end": "the end of the text"}.get(self.kind, repr(self.text[:40]))


def tokens(text: str) -> list[Token]:
    """Return the tokens of a text, those of an end last; newlines inside brackets are none.

    Raises Misread for what is no token.
    """
    if len(text) > MAX_TEXT:
        raise Misread(f"the text has {len(text)} characters, at most {MAX_TEXT} are read", 1, 1)
    found: list[Token] = []
    at, line, begun, open_ = 0, 1, 0, 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise Misread(f"{text[at]!r} is not a sign of this notation", line, at - begun + 1)
        kind, written = str(match.lastgroup), match[0]
        if kind == "newline":
            if not open_:
                found.append(Token("newline", "\n", line, at - begun + 1, 1))
            line, begun = line + 1, match.end()
        elif kind != "space":
            open_ = max(0, open_ + (written in "([{⌊") - (written in ")]}⌋"))
            kind = "sign" if kind == "big" or written in SPELLINGS else kind
            found.append(Token(kind, SPELLINGS.get(written, written), line, at - begun + 1, len(written)))
        if len(found) > MAX_TOKENS:
            found[-1].refuse(f"the text has more than {MAX_TOKENS} words and signs")
        at = match.end()
    place = line, at - begun + 1, 1
    return [*found, Token("newline", "\n", *place), Token("end", "", *place)]
