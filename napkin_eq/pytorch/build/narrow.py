"""Numbers as narrow types hold them: rounded to float8's digits, wrapped around where whole numbers pass their type's
range.
"""

from __future__ import annotations

import math

import napkin_eq.frontend.library as nq
from napkin_eq.lang.interval import interval
from napkin_eq.lang.term import Const, Map, Term, as_real

# Of a type of real numbers: its digits, the exponent of its least normal number, its largest number, and up to where a
# number is rounded to that.
FLOATS = {"float8_e4m3fn": (4, -6, 448.0, 464.0), "float8_e5m2": (3, -14, 57344.0, 61440.0)}
# Of a type of whole numbers: its bits, and its least number.
WHOLES = {"int8": (8, -128), "uint8": (8, 0), "int16": (16, -32768), "int32": (32, -(2**31))}


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
    other end.
    """
    if dtype not in WHOLES:
        return term
    bits, least = WHOLES[dtype]
    low, high = interval(term)
    if least <= low and high < least + 2**bits:
        return term
    if term.kind == "int":
        inside: Term = (term - least) % 2**bits
        return inside + least if least else inside
    over = nq.floor((as_real(term) - least) * 2.0**-bits)
    return as_real(term) - over * 2.0**bits
