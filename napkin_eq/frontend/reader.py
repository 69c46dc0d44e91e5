"""Reads tokens one by one: what comes next, what must come, and what is said where it does not."""

from __future__ import annotations

from collections.abc import Callable

from napkin_eq.frontend.tokens import Misread, Token
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Term


class Reader:
    """Tokens that are read from the first to the last: `axes` and `values` are what names stand for."""

    def __init__(self, found: list[Token]) -> None:
        self.tokens, self.at = found, 0
        self.axes: dict[str, Axis] = {}
        self.values: dict[str, Term] = {}

    @property
    def here(self) -> Token:
        """The token that is read next."""
        return self.tokens[self.at]

    def take(self) -> Token:
        """Return the next token and go on."""
        token = self.here
        self.at += token.kind != "end"
        return token

    def has(self, *signs: str) -> bool:
        """Tell whether one of these signs comes next."""
        return self.here.kind == "sign" and self.here.text in signs

    def need(self, sign: str, after: str) -> Token:
        """Take a sign that must come next."""
        if not self.has(sign):
            self.here.refuse(f"expected {sign!r} {after}, not {self.here.shown}")
        return self.take()

    def word(self, what: str) -> Token:
        """Take a word that must come next."""
        if self.here.kind != "word":
            self.here.refuse(f"expected {what}, not {self.here.shown}")
        return self.take()

    def axis(self, token: Token, name: str | None = None) -> Axis:
        """Return the axis that a token names."""
        name = token.text if name is None else name
        if name not in self.axes:
            token.refuse(f"there is no axis {name[:40]!r}; declared are {', '.join(self.axes) or 'none'}")
        return self.axes[name]

    def made(self, token: Token, make: Callable[..., Term], *parts: object) -> Term:
        """Return a term made of these parts, which may be refused: that is then said at this token."""
        try:
            return make(*parts)
        except Misread:
            raise
        except NapkinError as reason:
            token.refuse(str(reason))
