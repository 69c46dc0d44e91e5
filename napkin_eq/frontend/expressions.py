"""Terms read from the notation that `str(term)` prints; see parsed.py for whole diagrams.

    or       a ∨ b                       big      Σ_x a · b   max_x a   Π_{x | mask} a   (reaches over a product)
    and      a ∧ b                       product  a · b   a / b   a mod b   a // b
    compare  a < b   a ≤ b   a = b       sign     -a   ¬a   √a   e^a   a^2
    sum      a + b   a - b               atom     12   0.5   -∞   A   |x|   length(x)   [mask ? a : b]   A[x := i]
                                                  f(a)   f_x(a)

Each sign has an ASCII spelling: sum_x, prod_x, *, <=, and, or, not, inf, exp(), sqrt(), floor(). A name that stands
for no array is the coordinate along the axis of that name. sum_x(a) * b is Σ_x a · b, brackets or not. f is an
operator, or a function of the library that takes values and at most one axis.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from functools import cache
from operator import add, neg, pow, sub, truediv

from napkin_eq.frontend import library
from napkin_eq.frontend.reader import Reader
from napkin_eq.frontend.tokens import Token
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.operators import OPS, REDUCTIONS
from napkin_eq.lang.term import Const, Index, Length, Map, Read, Reduce, Scan, Size, Term, as_real

DEEPEST = 50  # brackets and operators within each other
BIG = {word: m.name for m in REDUCTIONS.values() for word in (m.sign, m.name)} | {"min": "max", "argmin": "argmax"}
COMPARE = {"<": "lt", "≤": "le", "=": "eq", ">": "lt", "≥": "le"}


class Expressions(Reader):
    """Reads terms off tokens."""

    def __init__(self, found: list[Token]) -> None:
        super().__init__(found)
        self.deep = 0
        self.quotient: tuple[Term, Term, Term] | None = None  # the last a / b read, with its parts

    # Terms, from the loosest to the tightest.

    def term(self) -> Term:
        """Read a term."""
        return self._deeper(self.here, lambda: self._chain(self._and, {"∨": "or"}))

    def _deeper(self, token: Token, read: Callable[[], Term]) -> Term:
        """Read what lies one level deeper; raises Misread for too many levels."""
        self.deep += 1
        if self.deep > DEEPEST:
            token.refuse(f"nested more than {DEEPEST} deep; name parts of it with let")
        term = read()
        self.deep -= 1
        return term

    def _chain(self, part: Callable[[], Term], signs: Mapping[str, str]) -> Term:
        term = part()
        while self.has(*signs):
            token = self.take()
            term = self.made(token, Map, signs[token.text], (term, part()))
        return term

    def _and(self) -> Term:
        return self._chain(self._compare, {"∧": "and"})

    def _compare(self) -> Term:
        left = self._sum()
        if not self.has(*COMPARE):
            return left
        token = self.take()
        right = self._sum()
        if self.has(*COMPARE):
            self.here.refuse("comparisons do not chain: write a < b ∧ b < c")
        args = (right, left) if token.text in ">≥" else (left, right)
        return self.made(token, Map, COMPARE[token.text], args)

    def _sum(self) -> Term:
        term = self._product()
        while self.has("+", "-"):
            token = self.take()
            term = self.made(token, add if token.text == "+" else sub, term, self._product())
        return term

    def _product(self) -> Term:
        term = self._sign()
        while self.has("·", "/", "//") or (self.here.kind == "word" and self.here.text == "mod"):
            token = self.take()
            right = self._sign()
            if token.text == "/":
                one = isinstance(term, Const) and term.value == 1 and term.kind != "bool"
                made = self.made(token, _inverse, right) if one else self.made(token, truediv, term, right)
                self.quotient = (term, right, made)
                term = made
            else:
                op = {"·": "mul", "//": "floordiv", "mod": "mod"}[token.text]
                term = self.made(token, Map, op, (term, right))
        return term

    def _sign(self) -> Term:
        """Read what a sign stands before; signs do not call themselves, so that many of them are no deep nesting."""
        before: list[Token] = []
        while self.has("-", "¬", "√"):
            before.append(self.take())
        term = self._power()
        for token in reversed(before):
            term = (
                self.made(token, neg, term)
                if token.text == "-"
                else self.made(token, Map, "not" if token.text == "¬" else "sqrt", (term,))
            )
        return term

    def _power(self) -> Term:
        if (
            self.here.kind == "word"
            and self.here.text == "e"
            and self.tokens[self.at + 1].text == "^"
            and "e" not in self.values
        ):
            token = self.take()
            self.take()
            return self.made(token, Map, "exp", (self._deeper(token, self._sign),))
        term = self._atom()
        while self.has("[", "^"):
            token = self.take()
            term = self._read(term, token) if token.text == "[" else self._raised(term, token)
        return term

    def _read(self, term: Term, token: Token) -> Term:
        name = self.word("an axis, as in A[x := 0]")
        axis = self.axis(name)
        self.need(":=", "after the axis that is read along")
        index = self.term()
        self.need("]", "after the coordinate")
        return self.made(token, Read, term, axis, index)

    def _raised(self, term: Term, token: Token) -> Term:
        sign = -1 if self.has("-") and self.take() else 1
        number = self.take()
        if number.kind != "number":
            number.refuse(f"expected a number after ^, not {number.shown}; e^(...) is the exponential")
        return self.made(token, pow, term, sign * _number(number))

    # Atoms.

    def _atom(self) -> Term:
        token = self.take()
        if token.kind == "number":
            return self.made(token, Const, _number(token))
        if token.kind == "word":
            return self._named(token)
        openings = {
            "(": self._bracketed,
            "[": self._choice,
            "⌊": self._floor,
            "|": self._size,
            "∞": self._absent,
            "Σ": self._folded,
            "Π": self._folded,
        }
        if token.kind != "sign" or token.text not in openings:
            token.refuse(f"expected a value, not {token.shown}")
        return openings[token.text](token)

    def _bracketed(self, token: Token) -> Term:
        term = self.term()
        self.need(")", f"to close the ( of line {token.line}, column {token.column}")
        return term

    def _choice(self, token: Token) -> Term:
        mask = self.term()
        self.need("?", "after the mask of [mask ? a : b]")
        left = self.term()
        self.need(":", "between the values of [mask ? a : b]")
        right = self.term()
        self.need("]", "after [mask ? a : b")
        return self.made(token, Map, "where", (mask, left, right))

    def _floor(self, token: Token) -> Term:
        term = self.term()
        self.need("⌋", f"to close the ⌊ of line {token.line}, column {token.column}")
        whole = (
            self.quotient is not None
            and self.quotient[2] is term
            and self.quotient[0].kind == self.quotient[1].kind == "int"
        )
        parts = self.quotient[:2] if whole and self.quotient else (term,)
        return self.made(token, Map, "floordiv" if whole else "floor", parts)

    def _size(self, token: Token) -> Term:
        axis = self.axis(self.word("an axis, as in |x|"))
        self.need("|", "after the axis whose size is meant")
        return Size(axis)

    def _absent(self, token: Token) -> Term:
        before = self.tokens[self.at - 2] if self.at > 1 else token
        if before.text != "-":
            token.refuse("∞ itself is no value: -∞ is the absent one")
        return Const(-math.inf)  # whose negative is itself

    def _folded(self, token: Token, name: str = "") -> Term:
        """Read a big operator: a sign with its axis under it, or a word such as max_x."""
        monoid, mask = BIG[token.text if not name else token.text.partition("_")[0]], None
        if name:
            axis = self.axis(token, name)
        else:
            self.need("_", f"after {token.text}, as in {token.text}_x")
            axis, mask = self._under()
        return self._reduced(token, monoid, axis, mask)

    def _reduced(self, token: Token, monoid: str, axis: Axis, mask: Term | None) -> Term:
        """Read what a big operator reaches over."""
        body = self._deeper(token, self._product)
        if token.text.startswith(("min", "argmin")):
            return self.made(token, _least, monoid, axis, body, mask)
        return self.made(token, Reduce, monoid, axis, body, mask)

    def _under(self) -> tuple[Axis, Term | None]:
        if not self.has("{"):
            return self.axis(self.word("an axis")), None
        self.take()
        axis, mask = self.axis(self.word("an axis")), None
        if self.has("|"):
            self.take()
            mask = self.term()
        self.need("}", "after what stands under the sign")
        return axis, mask

    def _named(self, token: Token) -> Term:
        name = token.text
        first, _, axis = name.partition("_")
        folds = first in BIG and bool(axis) and name not in self.values
        if self.has("(") and not folds:
            return self._call(token)
        if name in self.values:
            return self.values[name]
        if name == "scan" and self.has("["):
            return self._scan(token)
        if folds:
            return self._folded(token, axis)
        if first in BIG and self.has("{") and name.endswith("_"):
            return self._masked(token, first)
        if name in ("true", "false"):
            return Const(name == "true")
        if name in self.axes:
            return Index(self.axes[name])
        known = ", ".join([*self.values, *self.axes][:20])
        token.refuse(f"{name[:40]!r} is no array, let or axis; known are {known or 'none'}")

    def _masked(self, token: Token, first: str) -> Term:
        axis, mask = self._under()
        return self._reduced(token, BIG[first], axis, mask)

    def _scan(self, token: Token) -> Term:
        self.take()
        sign = self.take()
        first, _, name = sign.text.partition("_")
        if first not in BIG or first in ("min", "argmin"):
            sign.refuse(f"expected Σ, Π or max after scan[, not {sign.shown}")
        if sign.kind == "sign":
            self.need("_", f"after {first}")
            axis = self.axis(self.word("an axis"))
        else:
            axis = self.axis(sign, name)
        body = self.term()
        self.need("]", "after scan[")
        return self.made(token, Scan, BIG[first], axis, body)

    def _call(self, token: Token) -> Term:
        """Read a call: of an operator, of length or index, or of a function of the library, whose axis may stand after
        _.
        """
        name = token.text
        self.take()
        if name in ("length", "index", "size"):
            axis = self.axis(self.word(f"an axis, as in {name}(x)"))
            self.need(")", f"after {name}(")
            return {"length": Length, "index": Index, "size": Size}[name](axis)
        args = [self.term()]
        while self.has(","):
            self.take()
            args.append(self.term())
        self.need(")", f"after the arguments of {name[:40]}")
        if name in OPS:
            return self.made(token, Map, name, tuple(args))
        first, _, under = name.rpartition("_")
        if name in functions() and functions()[name][1] is None:
            return self._library(token, name, args, None)
        if first in functions() and functions()[first][1] is not None:
            return self._library(token, first, args, self.axis(token, under))
        hint = f"; write {name}_x(...) for the axis x" if name in functions() else ""
        token.refuse(f"there is no function {name[:40]!r}{hint}")

    def _library(self, token: Token, name: str, args: list[Term], axis: Axis | None) -> Term:
        least, place, most = functions()[name]
        if not least <= len(args) <= most:
            token.refuse(
                f"{name} takes {least if least == most else f'{least} to {most}'} values, {len(args)} are given"
            )
        given: list[Term | Axis] = list(args)
        if place is not None and axis is not None:
            given.insert(place, axis)
        return self.made(token, getattr(library, name), *given)


@cache
def functions() -> dict[str, tuple[int, int | None, int]]:
    """Return the functions of the library that take values and at most one axis.

    Of each: how many values at least, where the axis stands, how many values at most.
    """
    found = {}
    for name in library.__all__:
        function = getattr(library, name)
        if not inspect.isfunction(function) or name in BIG:
            continue
        least = most = 0
        place, fits = None, True
        for number, parameter in enumerate(inspect.signature(function).parameters.values()):
            said = str(parameter.annotation)
            if said in ("Value", "Term", "Term | None") and parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
                most += 1
                least += parameter.default is parameter.empty
            elif said == "Along" and place is None:
                place = number
            elif parameter.default is parameter.empty:
                fits = False
            else:
                break
        if fits and most and (place is None or place <= least):
            found[name] = (least, place, most)
    return found


def _inverse(term: Term) -> Term:
    return Map("inv", (as_real(term),))


def _least(monoid: str, axis: Axis, body: Term, mask: Term | None) -> Term:
    found = Reduce(monoid, axis, -as_real(body), mask)
    return -found if found.kind == "real" else found


def _number(token: Token) -> int | float:
    if token.text.isdigit():
        if len(token.text) > 18:
            token.refuse(f"the whole number {token.text[:20]}... is beyond 2^62")
        return int(token.text)
    return float(token.text)
