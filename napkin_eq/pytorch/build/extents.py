"""Numbers of elements that are symbols: one form of each, quotients, and what the guards that PyTorch put on a program
show of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from napkin_eq.lang.errors import NapkinError

# A prime in the place of each symbol puts products of these in an order in which one that divides another comes before
# it: larger than sizes that are written out.
PRIMES = (1_000_003, 1_000_033, 1_000_037, 1_000_039, 1_000_081, 1_000_099, 1_000_117, 1_000_121)
# What stands in a printed size beside numbers and symbols
WORDS = {"math": math, "max": max, "min": min, "abs": abs}
Limit = tuple[str, Any, Any, str]  # a comparison and its sides, which hold of the sizes of every call; a node


def canonical(extent: Any) -> Any:
    """Return a number of elements in one form, an integer where no symbol is left in it: equal ones are then alike."""
    return _expanded(extent) if getattr(extent, "args", ()) else whole(extent)


@cache
def _expanded(extent: Any) -> Any:
    import sympy

    return whole(sympy.expand(extent))


def whole(extent: Any) -> Any:
    """Return a number of elements as an integer where no symbol is left in it."""
    return int(extent) if getattr(extent, "is_Integer", False) else extent


def quotient(size: Any, by: Any) -> Any:
    """Return a number divided by another downwards; of symbols as PyTorch writes it."""
    if isinstance(size, int) and isinstance(by, int):
        return size // by
    from torch.utils._sympy.functions import FloorDiv

    return canonical(FloorDiv(size, by))


def exact(size: Any, by: Any) -> Any:
    """Return a number divided by another that divides it for certain; None where it may leave a rest."""
    if isinstance(size, int) and isinstance(by, int):
        return size // by if size % by == 0 else None
    import sympy

    ratio = sympy.cancel(sympy.sympify(size) / by)
    return canonical(ratio) if sympy.fraction(ratio)[1] == 1 else None


def ordered(products: Iterable[Any]) -> list[Any] | None:
    """Return products of sizes so that each divides the next one; None where they do not."""
    found = list(dict.fromkeys(canonical(product) for product in products))
    symbols = sorted({s for product in found for s in getattr(product, "free_symbols", ())}, key=str)
    if len(symbols) > len(PRIMES):
        return None
    values = dict(zip(symbols, PRIMES, strict=False))
    found.sort(key=lambda product: int(product if isinstance(product, int) else product.subs(values)))
    return found if all(exact(b, a) is not None for a, b in zip(found, found[1:], strict=False)) else None


def multiples(guards: Sequence[Any]) -> dict[Any, Any]:
    """Return what symbols are that the guards of a program show to be multiples of numbers: that number of a new one.

    A view as (n // 2, 2) is guarded by 2 (n // 2) = n, times what else the shape has, or by n mod 2 = 0.
    """
    import sympy
    from torch.utils._sympy.functions import FloorDiv, Mod

    found: dict[Any, int] = {}
    for guard in guards:
        if not isinstance(guard, sympy.Eq):
            continue
        shown = []
        for side, other in (guard.args, guard.args[::-1]):
            if isinstance(side, Mod) and other == 0:
                shown.append((side.args[0], side.args[1]))
            factors = {f for f in sympy.Mul.make_args(side) if isinstance(f, FloorDiv)}
            if not factors or guard.atoms(FloorDiv) != factors:
                continue
            # Each quotient times its divisor is at most the number, so that all are equal where the products are.
            whole = side.xreplace({f: f.args[0] / f.args[1] for f in factors})
            if sympy.expand(whole - other) == 0:
                shown += [f.args for f in factors]
        for symbol, by in shown:
            if symbol.is_Symbol and by.is_Integer:
                found[symbol] = math.lcm(found.get(symbol, 1), int(by))
    return {s: by * sympy.Symbol(f"{s}_{by}", integer=True, positive=True) for s, by in found.items() if by > 1}


def limits(guards: Iterable[tuple[Any, bool]], ranges: Mapping[Any, Any]) -> list[Limit]:
    """Return what holds of sizes by which a program was traced: PyTorch answered its questions of sizes by it.

    guards: each with whether the program itself asked it. What PyTorch's own files find unequal says only how a tensor
    lies in memory. What one symbol is compared with is in its range; a symbol is 2 at least, as PyTorch takes 1 for
    none, and says nothing of a branch that asks for it.
    """
    import sympy

    compared = (sympy.StrictLessThan, sympy.LessThan, sympy.StrictGreaterThan, sympy.GreaterThan)
    found: dict[Limit, None] = {}
    for symbol, known in ranges.items():
        if getattr(known.lower, "is_Integer", False):
            found[("<=", int(known.lower), symbol, "")] = None
        if getattr(known.upper, "is_Integer", False):
            found[("<=", symbol, int(known.upper), "")] = None
    for guard, own in guards:
        plain = isinstance(guard, compared) and _of_one(guard)
        if isinstance(guard, (sympy.Eq, *compared)) and not plain or own and isinstance(guard, sympy.Ne):
            found[(str(guard.rel_op), guard.args[0], guard.args[1], "")] = None
    return list(found)


def _of_one(guard: Any) -> bool:
    """Tell whether a guard compares one symbol with a number, plainly."""
    return len(guard.free_symbols) == 1 and all(side.is_polynomial(*guard.free_symbols) for side in guard.args)


def linear(size: Any, symbol: Any) -> tuple[int, int] | None:
    """Return by what a size, which is a whole multiple of a symbol and something more, is more, and which multiple."""
    if getattr(size, "free_symbols", None) != {symbol} or not size.is_polynomial(symbol):
        return None
    more = size.subs(symbol, 0)
    times = size.subs(symbol, 1) - more
    return (int(more), int(times)) if times > 0 and size.equals(times * symbol + more) else None


def computed(symbols: Sequence[Any], numbers: Any) -> Callable[..., Any]:
    """Return the function of symbols that numbers, in tuples, are, as PyTorch's own printer writes them."""
    import torch

    function: Callable[..., Any] = eval(
        f"lambda {', '.join(map(str, symbols))}: {_printed(numbers)}", {**WORDS, "torch": torch}
    )
    return function


def _printed(numbers: Any) -> str:
    from torch.utils._sympy.printers import PythonPrinter

    if isinstance(numbers, tuple):
        return f"({''.join(f'{_printed(item)}, ' for item in numbers)})"
    return str(PythonPrinter().doprint(numbers)) if hasattr(numbers, "free_symbols") else repr(numbers)


def about(size: Any) -> int:
    """Return a size; of a symbolic one that of the example, without a guard on it."""
    if isinstance(size, int):
        return size
    hint = size.node.hint
    if hint is None:
        raise NapkinError(f"the size {size} is known to the data alone")
    return int(hint)
