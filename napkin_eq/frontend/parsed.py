"""A diagram read from text: data only, never executed; each error names its line and column.

    diagram weighted: values, weighted by how alike queries and keys are
    axis q = 4096, x = 4096, d = 128, n, m % 64
    array Q[q, d], K[x, d], V[x, d], lengths[q] : int32, A[x] : float nonneg abs<=3
    let s = Σ_d Q · K
    out = Σ_x e^(s - max_x s) / (Σ_x e^(s - max_x s)) · V

An axis without a number is left open, `% 64` says that its size is a multiple. Other lines are outputs, which may
say how they are stored, `place : int64 = argmax_x A`. `#` begins a comment. A line goes on while a bracket is open.
expressions.py says how terms are written.
"""

from __future__ import annotations

import re

from napkin_eq.frontend.expressions import Expressions
from napkin_eq.frontend.tokens import Misread, tokens
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import DTYPES, Input, Term, subterms

HEAD = re.compile(
    r"(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*diagram[ \t]+(?P<name>\w+)[ \t]*(?::(?P<doc>[^\n]*))?(?=\n|\Z)", re.ASCII
)
MOST = 64


def parsed(text: str, name: str = "diagram") -> Diagram:
    """Return the diagram that a text says; raises Misread, with its place, for a text that says none."""
    text = text.replace("\r\n", "\n")
    doc, head = "", HEAD.match(text)
    if head:
        name, doc = head["name"], (head["doc"] or "").strip()
        if len(doc) > 1000:
            line = text.count("\n", 0, head.end()) + 1
            raise Misread("the sentence after the name has more than 1000 characters", line, 1)
    return _Diagram(without_head(text)).read(name, doc)


def without_head(text: str) -> str:
    """Return a text without the line that names the diagram, which is prose; what follows stays where it stands."""
    head = HEAD.match(text)
    return text if head is None else "\n" * text.count("\n", 0, head.end()) + text[head.end() :]


class _Diagram(Expressions):
    """Reads the lines of a diagram."""

    def __init__(self, text: str) -> None:
        super().__init__(tokens(text))
        self.outputs: list[tuple[str, Term]] = []
        self.held: list[tuple[str, str]] = []

    def read(self, name: str, doc: str) -> Diagram:
        while self.here.kind != "end":
            if self.here.kind == "newline":
                self.take()
                continue
            self._line()
            if self.here.kind != "newline":
                self.here.refuse(f"expected the end of the line or an operator, not {self.here.shown}")
        if not self.outputs:
            self.here.refuse("the diagram has no output: write a line such as out = Σ_x A")
        try:
            read = set(subterms(*(term for _, term in self.outputs)))
            unread = tuple(
                name
                for name, value in self.values.items()
                if value.children or isinstance(value, Input)
                if value not in read
            )
            return Diagram(name, tuple(self.outputs), doc, tuple(self.held), unread=unread)
        except NapkinError as reason:
            raise Misread(str(reason), 1, 1) from None

    def _line(self) -> None:
        first = self.word("axis, array, let or the name of an output")
        if first.text in ("axis", "array") and self.here.kind == "word":
            one = self._axis if first.text == "axis" else self._array
            one()
            while self.has(","):
                self.take()
                one()
            return
        let = first.text == "let" and self.here.kind == "word"
        name = self.take() if let else first
        if name.text in self.values or name.text in self.axes or any(name.text == output for output, _ in self.outputs):
            name.refuse(f"{name.text[:40]!r} already names something; choose another name")
        held = self._held() if self.has(":") and not let else ""
        self.need("=", f"after {name.text[:40]}")
        self.deep = 0
        term = self.term()
        if let:
            self.values[name.text] = term
        else:
            if len(self.outputs) == MOST:
                name.refuse(f"more than {MOST} outputs")
            self.outputs.append((name.text, term))
            self.held += [(name.text, held)] * bool(held)

    def _axis(self) -> None:
        name, size, multiple = self.word("the name of an axis"), None, 1
        if self.has("="):
            self.take()
            size = self._whole(f"a size after {name.text[:40]} =")
        if self.has("%"):
            self.take()
            multiple = self._whole("a number after %")
        if name.text in self.axes or name.text in self.values:
            name.refuse(f"{name.text[:40]!r} already names something; choose another name")
        if len(self.axes) == MOST:
            name.refuse(f"more than {MOST} axes")
        try:
            self.axes[name.text] = Axis(name.text, size, multiple)
        except NapkinError as reason:
            name.refuse(str(reason))

    def _whole(self, what: str) -> int:
        token = self.take()
        if token.kind != "number" or not token.text.isdigit() or len(token.text) > 15:
            token.refuse(f"expected {what}, a whole number of at most 15 digits, not {token.shown}")
        return int(token.text)

    def _array(self) -> None:
        name, dims = self.word("the name of an array"), list[Axis]()
        self.need("[", "after the name of an array, as in A[x, y]")
        while not self.has("]"):
            dims.append(self.axis(self.word("an axis")))
            if not self.has("]"):
                self.need(",", "between axes")
        self.take()
        dtype, facts = "float", list[str]()
        if self.has(":"):
            dtype = self._held()
            while self.here.kind == "word":
                facts.append(self._fact())
        if name.text in self.values or name.text in self.axes:
            name.refuse(f"{name.text[:40]!r} already names something; choose another name")
        if sum(isinstance(value, Input) for value in self.values.values()) == MOST:
            name.refuse(f"more than {MOST} arrays")
        self.values[name.text] = self.made(name, Input, name.text, tuple(dims), dtype, tuple(facts))

    def _held(self) -> str:
        """Take a colon and a type."""
        self.take()
        kind = self.word(f"a type: {', '.join(DTYPES)}")
        if kind.text not in DTYPES:
            kind.refuse(f"unknown type {kind.text[:40]!r}; one of {', '.join(DTYPES)}")
        return kind.text

    def _fact(self) -> str:
        word = self.take()
        if word.text == "abs" and self.has("≤"):
            self.take()
            number = self.take()
            if number.kind != "number":
                number.refuse(f"expected a number after abs<=, not {number.shown}")
            return f"abs<={number.text}"
        return word.text
