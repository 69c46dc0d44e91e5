"""Sizes that are symbols: what each is when a region is called is read off the tensors that it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from napkin_eq.lang.errors import NapkinError
from napkin_eq.pytorch.build.extents import about, computed, linear
from napkin_eq.pytorch.naming import expression


def may_be_empty(size: Any) -> bool:
    """Tell whether a size may be 0; of a symbolic one by the bounds that are known of it."""
    if isinstance(size, int):
        return size == 0
    known = expression(size)
    if isinstance(known, int):
        return known == 0
    if size.node.hint is None:
        return True
    # Symbols are above 0; bounds are known of the number as PyTorch has it, by its own symbols and factors
    return not known.is_positive and not bool(size.node.shape_env.bound_sympy(size.node.expr).lower >= 1)


def symbols_in(numbers: Iterable[Any]) -> list[Any]:
    """Return the symbols of sizes, by name."""
    found = {symbol for number in numbers for symbol in getattr(number, "free_symbols", ())}
    return sorted(found, key=str)


def expected(shapes: Sequence[Sequence[Any]], extents: Mapping[str, Any]) -> dict[str, int]:
    """Return about how large axes are, by the sizes of the example; `shapes` of what a region reads."""
    of = settled(tuple(extents.values()), shapes)
    return dict(zip(extents, of([_Like([about(size) for size in shape]) for shape in shapes]), strict=True))


@dataclass(frozen=True, slots=True)
class _Like:
    """A tensor, as far as its shape goes."""

    shape: Sequence[int]


def settled(numbers: Any, shapes: Sequence[Sequence[Any]]) -> Callable[[Sequence[Any]], Any]:
    """Return what gives tuples of numbers, in tuples, once tensors are there: symbols are read off their shapes.

    shapes: of the tensors, with symbols; a number that is given beside them is the one of a shape. Raises NapkinError
    for a symbol of which no dimension is a multiple, and something more.
    """
    if not symbols_in(_flat(numbers)):
        return lambda tensors: numbers
    sizes = [((number, at), expression(size)) for number, shape in enumerate(shapes) for at, size in enumerate(shape)]
    solved: dict[Any, Any] = {}
    for symbol in symbols_in(_flat(numbers)):
        ways = [(*where, *way) for where, size in sizes if (way := linear(size, symbol)) is not None]
        if ways:
            solved[symbol] = min(ways, key=lambda way: way[2:] != (0, 1))  # where it stands alone, if it does
    # Of symbols that none gives, what a dimension is made of, as it stands there.
    whole = {size: where for where, size in reversed(sizes) if len(getattr(size, "free_symbols", ())) > 1}
    for number, (size, where) in enumerate(whole.items()):
        name = type(symbols_in([size])[0])(f"dim{number}", integer=True, positive=True)
        numbers = _each(numbers, partial(_without, size=size, name=name, solved=solved))
        solved[name] = (*where, 0, 1)
    wanted = symbols_in(_flat(numbers))
    if missing := [symbol for symbol in wanted if symbol not in solved]:
        raise NapkinError(f"the size {missing[0]} is read off no tensor")
    places = [solved[symbol] for symbol in wanted]
    compute = computed(wanted, numbers)

    def current(values: Sequence[Any]) -> Any:
        return compute(*((_size(values[n], at) - more) // times for n, at, more, times in places))

    return current


def _size(value: Any, at: int) -> Any:
    return value.shape[at] if hasattr(value, "shape") else value


def _without(number: Any, size: Any, name: Any, solved: Mapping[Any, Any]) -> Any:
    """Return a number that has symbols which nothing gives with a dimension's name in the place of its size."""
    given = all(symbol in solved for symbol in getattr(number, "free_symbols", ()))
    return number if given else number.subs(size, name)


def _each(numbers: Any, change: Callable[[Any], Any]) -> Any:
    return tuple(_each(item, change) for item in numbers) if isinstance(numbers, tuple) else change(numbers)


def _flat(numbers: Any) -> Iterable[Any]:
    if isinstance(numbers, tuple):
        for item in numbers:
            yield from _flat(item)
    else:
        yield numbers
