"""Terms as a mathematician writes them: infix, with as few parentheses as the reader needs."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextvars import ContextVar

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.operators import REDUCTIONS
from napkin_eq.lang.term import (
    Acc,
    Const,
    Fold,
    Group,
    Index,
    Input,
    Length,
    Map,
    Online,
    Prev,
    Proj,
    Read,
    Recur,
    Reduce,
    Scan,
    Size,
    Store,
    Term,
    Tuple,
    Walk,
    write_with,
)

# How tightly a text holds together. A big operator such as Σ reaches over a product, not over a sum.
LOOSE, OR, AND, COMPARE, SUM, BIG, PRODUCT, SIGN, ATOM = range(9)
# Terms share their parts: as a tree one may be exponentially large, so only its top is written out.
NODES, LEVELS = 400, 100
TRUE = Const(True)
Piece = tuple[str, int]
_all_digits: ContextVar[bool] = ContextVar("all_digits", default=False)


def written(term: Term) -> str:
    """Return a term as text; what lies deeper than a few hundred nodes is written as …"""
    return _text(term, LOOSE, _depth_within(term))


def exactly(term: Term) -> str:
    """Return a term as text with every digit of its numbers, a whole real number with its point."""
    token = _all_digits.set(True)
    try:
        return written(term)
    finally:
        _all_digits.reset(token)


def _depth_within(term: Term) -> int:
    """Return the largest depth down to which the term, as a tree, has at most NODES nodes."""
    level, total, depth = {term: 1}, 0, 0
    while level and depth < LEVELS:
        total += sum(level.values())
        if total > NODES:
            break
        depth += 1
        below: dict[Term, int] = {}
        for node, times in level.items():
            for child in node.children:
                below[child] = below.get(child, 0) + times
        level = below
    return depth


def _text(term: Term, place: int, depth: int) -> str:
    """Return a term as text, in parentheses if it holds together less tightly than its place asks."""
    text, held = _piece(term, depth)
    return text if held >= place else f"({text})"


def _piece(term: Term, depth: int) -> Piece:
    if depth <= 0:
        return "…", ATOM
    rule = FORMS.get(type(term))
    return rule(term, depth - 1) if rule else (str(term.fields[0]), ATOM)


def _number(term: Term, depth: int) -> Piece:
    value = term.value
    if isinstance(value, bool):
        return str(value).lower(), ATOM
    if value == -math.inf:
        return "-∞", SIGN
    size = abs(value if isinstance(value, int) else float(value))
    text = f"{size:.6g}" if isinstance(size, float) and not _all_digits.get() else repr(size)
    return (f"-{text}", SIGN) if value < 0 else (text, ATOM)


def _map(term: Term, depth: int) -> Piece:
    if term.op in OPERATIONS:
        return OPERATIONS[term.op](*term.args, depth)
    return f"{term.op}({', '.join(_text(arg, LOOSE, depth) for arg in term.args)})", ATOM


def _is(term: Term, op: str) -> bool:
    return isinstance(term, Map) and term.op == op


def _infix(sign: str, left: int, right: int, held: int) -> Callable[[Term, Term, int], Piece]:
    return lambda a, b, depth: (f"{_text(a, left, depth)} {sign} {_text(b, right, depth)}", held)


def _sum(a: Term, b: Term, depth: int) -> Piece:
    if _is(b, "neg"):
        return f"{_text(a, SUM, depth)} - {_text(b.args[0], BIG, depth - 1)}", SUM
    if isinstance(b, Const) and b.kind != "bool" and b.value < 0:
        return f"{_text(a, SUM, depth)} - {_text(-b, BIG, depth)}", SUM
    return f"{_text(a, SUM, depth)} + {_text(b, BIG, depth)}", SUM


def _product(a: Term, b: Term, depth: int) -> Piece:
    left = _text(a, PRODUCT, depth)
    if _is(b, "inv"):
        return f"{left} / {_text(b.args[0], ATOM, depth - 1)}", PRODUCT
    # A big operator may end a product; what follows would be under it, so the whole then holds together like one.
    if isinstance(b, Reduce):
        return f"{left} · {_text(b, BIG, depth)}", BIG
    return f"{left} · {_text(b, ATOM, depth)}", PRODUCT


def _choice(c: Term, a: Term, b: Term, depth: int) -> Piece:
    return f"[{_text(c, LOOSE, depth)} ? {_text(a, LOOSE, depth)} : {_text(b, LOOSE, depth)}]", ATOM


def _big(monoid: str, axis: Axis, body: Term, where: Term, depth: int) -> str:
    sign = REDUCTIONS[monoid].sign
    under = axis.name if where is TRUE else f"{{{axis.name} | {_text(where, LOOSE, depth)}}}"
    return f"{sign}_{under} {_text(body, BIG, depth)}"


def _fold(term: Term, depth: int) -> Piece:
    return f"{'fused' if term.fused else 'fold'}[{_big(term.monoid, term.axis, term.body, term.where, depth)}]", ATOM


def _online(term: Term, depth: int) -> Piece:
    stream = _big("sum", term.axis, term.body, term.where, depth)
    return f"{'fused online' if term.fused else 'online'}[{stream}; acc ← {_text(term.update, LOOSE, depth)}]", ATOM


def _read(term: Term, depth: int) -> Piece:
    return f"{_text(term.body, ATOM, depth)}[{term.axis.name} := {_text(term.index, LOOSE, depth)}]", ATOM


def _around(before: str, after: str, inner: int = LOOSE, held: int = ATOM) -> Callable[[Term, int], Piece]:
    return lambda a, depth: (f"{before}{_text(a, inner, depth)}{after}", held)


OPERATIONS: dict[str, Callable[..., Piece]] = {
    "add": _sum,
    "mul": _product,
    "neg": _around("-", "", ATOM, SIGN),
    "inv": _around("1 / ", "", ATOM, PRODUCT),
    "exp": _around("e^", "", ATOM),
    "sqrt": _around("√", "", ATOM),
    "floor": _around("⌊", "⌋"),
    "real": lambda a, depth: _piece(a, depth),
    "floordiv": lambda a, b, depth: (f"⌊{_text(a, PRODUCT, depth)} / {_text(b, ATOM, depth)}⌋", ATOM),
    "mod": _infix("mod", PRODUCT, ATOM, PRODUCT),
    "lt": _infix("<", SUM, SUM, COMPARE),
    "le": _infix("≤", SUM, SUM, COMPARE),
    "eq": _infix("=", SUM, SUM, COMPARE),
    "and": _infix("∧", AND, COMPARE, AND),
    "or": _infix("∨", OR, AND, OR),
    "not": _around("¬", "", ATOM, SIGN),
    "where": _choice,
}

FORMS: dict[type[Term], Callable[[Term, int], Piece]] = {
    Input: lambda term, depth: (term.name, ATOM),
    Const: _number,
    Index: lambda term, depth: (term.axis.name, ATOM),
    Size: lambda term, depth: (f"|{term.axis.name}|", ATOM),
    Length: lambda term, depth: (f"length({term.axis.name})", ATOM),
    Map: _map,
    Reduce: lambda term, depth: (_big(term.monoid, term.axis, term.body, term.where, depth), BIG),
    Fold: _fold,
    Online: _online,
    Scan: lambda term, depth: (f"scan[{_big(term.monoid, term.axis, term.body, TRUE, depth)}]", ATOM),
    Recur: lambda term, depth: (
        f"recur_{term.axis.name}({_text(term.gain, LOOSE, depth)}, {_text(term.body, LOOSE, depth)})",
        ATOM,
    ),
    Read: _read,
    Tuple: lambda term, depth: (f"({', '.join(_text(item, LOOSE, depth) for item in term.items)})", ATOM),
    Proj: lambda term, depth: (f"item_{term.index}[{_text(term.body, LOOSE, depth)}]", ATOM),
    Store: lambda term, depth: (f"store[{_text(term.body, LOOSE, depth)}]", ATOM),
    Group: lambda term, depth: (f"group_{term.axis.name}[{_text(term.body, LOOSE, depth)}]", ATOM),
    Walk: lambda term, depth: (f"walk_{term.axis.name}[{_text(term.body, LOOSE, depth)}]", ATOM),
    Prev: lambda term, depth: (f"prev[{_text(term.body, LOOSE, depth)}]", ATOM),
    Acc: lambda term, depth: ("acc", ATOM),
}


write_with(written)
