"""Numbers as narrow types hold them: rounded to float8's digits, wrapped around where whole numbers pass their type's
range.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import napkin_eq.frontend.library as nq
from napkin_eq.lang.interval import interval
from napkin_eq.lang.term import Const, Index, Length, Map, Read, Recur, Reduce, Scan, Size, Term, as_real

# Of a type of real numbers: its digits, the exponent of its least normal number, its largest number, and up to where a
# number is rounded to that.
FLOATS = {"float8_e4m3fn": (4, -6, 448.0, 464.0), "float8_e5m2": (3, -14, 57344.0, 61440.0)}
# Of a type of whole numbers: its bits, and its least number.
WHOLES = {"int8": (8, -128), "uint8": (8, 0), "int16": (16, -32768), "int32": (32, -(2**31))}
_SHOWN_WHOLE: set[Term] = set()
REMEMBERED = 1 << 17  # terms of which that is known, while a process lives


def rounded(term: Term, dtype: str) -> tuple[Term, Term | None]:
    """Return a real number rounded to float8, ties to even, and what is negative where it is past the range, None where
    it is shown not to be.

    PyTorch has NaN or an infinity past the range; there the term is the logarithm of a negative number, absent here and
    NaN in PyTorch's arithmetic.
    """
    digits, least, _, most = FLOATS[dtype]
    size = Map("abs", (term,))
    low, high = interval(term)
    top = math.frexp(most)[1] - 1
    step: Term = Const(2.0 ** (top - digits + 1))
    for exponent in range(top, least, -1):
        step = nq.where(size < 2.0**exponent, 2.0 ** (exponent - digits), step)
    found = Map("round", (term / step,)) * step
    if -most <= low and high <= most:
        return found, None
    room = most - size
    return nq.where(size <= most, found, nq.log(room)), room


def wrapped(term: Term, dtype: str) -> Term:
    """Return a whole number as a type of fewer bits holds it: what is past its range comes in again at the
    other end. Where a term is shown to stay in the range it is returned as it is.
    """
    if dtype not in WHOLES:
        return term
    bits, least = WHOLES[dtype]
    if isinstance(term, Const) and math.isfinite(term.value):
        return Const(type(term.value)((term.value - least) % 2**bits + least))
    return term if within(term, least, least + 2**bits - 1) else _around(term, bits, least)


def _around(term: Term, bits: int, least: int) -> Term:
    if term.kind == "int":
        inside: Term = (term - least) % 2**bits
        return inside + least if least else inside
    over = nq.floor((as_real(term) - least) * 2.0**-bits)
    return as_real(term) - over * 2.0**bits


def within(term: Term, least: float, most: float) -> bool:
    """Tell whether whole numbers are shown to lie between two bounds: an interval says so, or they are chosen from
    numbers that do. A coordinate along a dimension of unknown size is taken to be one of 32 bits.
    """

    def lies(part: Term) -> bool:
        low, high = interval(part)
        if (least <= low and high <= most) or part is Const(-math.inf):  # what is absent is no number
            return True
        if isinstance(part, (Index, Length, Size)) and part.axis.size is None:
            return least <= 0 and most >= 2**31 - 1
        return _comes_in_again(part, least, most)

    return _everywhere(term, lies, chosen_from) is not None


def _comes_in_again(term: Term, least: float, most: float) -> bool:
    """Tell whether a real term is what `wrapped` made for a type whose numbers all lie between two bounds."""
    return (
        isinstance(term, Map)
        and term.op == "add"
        and term.kind == "real"
        and any(
            _around(part, bits, low) is term
            for part in term.args
            for bits, low in WHOLES.values()
            if least <= low and low + 2**bits - 1 <= most
        )
    )


def chosen_from(term: Term) -> Sequence[Term]:
    """Return the terms of which a term takes one of the numbers, none where it computes another one."""
    if isinstance(term, Map):
        return term.children[1:] if term.op == "where" else term.children if term.op in ("max", "min", "real") else ()
    if isinstance(term, Read) or (isinstance(term, (Reduce, Scan)) and term.monoid == "max"):
        return (term.body,)
    return ()


def whole(term: Term) -> bool:
    """Tell whether a term is shown to have whole numbers only, by how it is made of such."""
    if len(_SHOWN_WHOLE) > REMEMBERED:
        _SHOWN_WHOLE.clear()  # what is asked for again is shown again
    seen = _everywhere(term, _whole_itself, _whole_of)
    _SHOWN_WHOLE.update(seen or ())
    return seen is not None


def _whole_itself(term: Term) -> bool:
    if term.kind != "real" or term in _SHOWN_WHOLE:
        return True
    if isinstance(term, Const):
        return bool(term.value == -math.inf or term.value == math.floor(term.value))
    return isinstance(term, Map) and term.op in ("floor", "round", "real")


def _whole_of(term: Term) -> Sequence[Term]:
    if isinstance(term, Map) and term.op in ("add", "mul", "neg", "abs"):
        return term.children
    if isinstance(term, (Reduce, Scan)) and term.monoid in ("sum", "prod"):
        return (term.body,)
    return term.children if isinstance(term, Recur) else chosen_from(term)


def _everywhere(
    term: Term, itself: Callable[[Term], bool], parts: Callable[[Term], Sequence[Term]]
) -> set[Term] | None:
    """Return what was looked at if something is shown of a term: by itself, or because it is shown of its parts; None
    if it is not.
    """
    waiting, seen = [term], set[Term]()
    while waiting:
        part = waiting.pop()
        if part in seen:
            continue
        seen.add(part)
        if not itself(part):
            more = parts(part)
            if not more:
                return None
            waiting += more
    return seen
