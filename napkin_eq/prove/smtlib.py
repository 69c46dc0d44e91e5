"""SMT-LIB terms as text, what is trivial simplified as it is written."""

from __future__ import annotations

import re
from fractions import Fraction


def decimal(value: Fraction) -> str:
    """Return a fraction as an SMT-LIB real."""
    text = f"{abs(value.numerator)}.0"
    text = text if value.denominator == 1 else f"(/ {text} {value.denominator}.0)"
    return text if value >= 0 else f"(- {text})"


def is_number(text: str) -> bool:
    """Tell whether a text is a number, or a quotient of two."""
    return re.fullmatch(r"[()/\-\d. ]+", text) is not None


def negated(a: str) -> str:
    """Return the negation of a truth."""
    return {"true": "false", "false": "true"}.get(a, f"(not {a})")


def conjunction(*parts: str) -> str:
    """Return the conjunction of truths, each once."""
    return _joined("and", "true", "false", parts)


def disjunction(*parts: str) -> str:
    """Return the disjunction of truths, each once."""
    return _joined("or", "false", "true", parts)


def _joined(op: str, neutral: str, absorbing: str, parts: tuple[str, ...]) -> str:
    left = [part for part in dict.fromkeys(parts) if part != neutral]
    if absorbing in left:
        return absorbing
    return f"({op} {' '.join(left)})" if len(left) > 1 else left[0] if left else neutral


def branch(test: str, yes: str, no: str) -> str:
    """Return one of two numbers, by a test."""
    return yes if test == "true" or yes == no else no if test == "false" else f"(ite {test} {yes} {no})"


def branch_truth(test: str, yes: str, no: str) -> str:
    """Return one of two truths, by a test."""
    if yes in ("true", "false") or no in ("true", "false"):
        return conjunction(disjunction(negated(test), yes), disjunction(test, no))
    return branch(test, yes, no)
