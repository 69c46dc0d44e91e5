"""A SymPy expression on one line, as a person writes it on a napkin: 2·m·n·k/√M + m·n."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from napkin_eq.napkin.posynomial import Posynomial, variable

SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def written(expression: Any, order: Sequence[str] = ()) -> str:
    """Return an expression as text, factors in an order of names, those that are not in it after, by name."""
    import sympy

    terms = sympy.Add.make_args(sympy.sympify(memory_named(expression, order)))
    texts = [_product(sympy.factor_terms(term), order) for term in terms]
    return _joined(texts)


def memory_named(expression: Any, names: Sequence[str]) -> Any:
    """Return an expression with the memory called Mem where an axis is called M."""
    return expression.subs(variable("M"), variable("Mem")) if "M" in names else expression


def _joined(texts: Sequence[str]) -> str:
    """Put terms that memory or tiles divide after those that are moved once, and subtract what is negative."""
    found = sorted(texts, key=lambda text: (text.startswith("-"), "/" in text, len(text), text)) or ["0"]
    return found[0] + "".join(f" - {text[1:]}" if text.startswith("-") else f" + {text}" for text in found[1:])


def summed(posynomial: Posynomial, order: Sequence[str] = ()) -> str:
    """Return a posynomial as text, term by term."""
    texts = [written(Posynomial({m: c}).expression(), order) for m, c in posynomial.terms.items()]
    return _joined(texts)


def _product(expression: Any, order: Sequence[str]) -> str:
    import sympy

    above: list[tuple[tuple[int, str], str]] = []
    below: list[tuple[tuple[int, str], str]] = []
    coefficient = sympy.Integer(1)
    expression = sympy.sympify(expression)
    for factor in sympy.Mul.make_args(expression):
        if factor.is_Number:
            coefficient *= factor
            continue
        base, power = factor.as_base_exp()
        text = _base(base, order, single=power == 1 and len(sympy.Mul.make_args(expression)) == 1)
        place = (list(order).index(str(base)) if str(base) in order else len(order), str(base))
        (below if power.is_negative else above).append((place, _power(text, abs(power))))
    over, under = ([text for _, text in sorted(side)] for side in (above, below))
    if not coefficient.is_Rational or coefficient.q > 4:
        over.insert(0, f"{float(coefficient):.3g}")
    else:
        if coefficient.p == -1 and over:
            over[0] = f"-{over[0]}"
        elif coefficient.p != 1 or not over:
            over.insert(0, str(coefficient.p))
        if coefficient.q != 1:
            under.insert(0, str(coefficient.q))
    top = "·".join(over)
    return top if not under else f"{top}/{under[0]}" if len(under) == 1 else f"{top}/({'·'.join(under)})"


def _base(base: Any, order: Sequence[str], *, single: bool) -> str:
    import sympy

    text = written(base, order) if isinstance(base, (sympy.Add, sympy.Mul)) else str(base)
    return text if base.is_Symbol or base.is_Number or single else f"({text})"


def _power(text: str, power: Any) -> str:
    if power == 1:
        return text
    if power.is_Integer:
        return text + str(power).translate(SUPERSCRIPTS)
    return f"√{text}" if power * 2 == 1 else f"{text}^({power})"


def count(value: float) -> str:
    """Return a number of values, or of FLOP, in three figures: 1.23 G."""
    for unit, scale in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= scale * 0.9995:
            return f"{value / scale:.3g} {unit}" if value / scale < 999.5 else f"{value / scale:.0f} {unit}"
    return f"{value:.3g}"


def kib(size: float) -> str:
    """Return a number of bytes in KiB or MiB."""
    return (
        f"{size / 2**20:.4g} MiB" if size >= 2**20 else f"{size / 2**10:.4g} KiB" if size >= 2**10 else f"{size:.0f} B"
    )


def micros(seconds: float) -> str:
    """Return a time in microseconds, or above ten thousand of them in milliseconds or seconds, three figures."""
    us = seconds * 1e6
    if us >= 9999.5:
        return f"{us / 1e3:.3g} ms" if us < 999.5e3 else f"{us / 1e6:.4g} s"
    return f"{us:.0f} µs" if us >= 99.95 else f"{us:.3g} µs"
