"""The axes of a program before they have names: which dimensions are one wire, and into which wires a dimension is cut.

A program is read several times. Each reading tells which wires it would like to be one (they meet in one operator) or
to be cut (a view takes them apart); what fits together is granted, and it is read again, until nothing is asked for.
Then names stand for wires.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.pytorch.build.extents import canonical, exact, ordered

# What a symbol stands for, the node where they meet, and whether that is of products, of which others may be equal
Tie = tuple[Any, str, bool]
Dim = tuple[Axis, ...]  # the wires of one dimension, the last varying fastest; none for a dimension of size 1
Key = tuple[Any, ...]
ROUNDS = 12
LETTERS = "ijklmnopqrstuvwxyzabcdefgh"


class Wires:
    """Wires by number: their extents, the wires that they are one with, the wires that they are cut into.

    tied: symbols that stand for other sizes, as they meet them in an operator.
    """

    def __init__(self, tied: Mapping[Any, Tie] | None = None) -> None:
        self.tied = dict(tied or {})
        self.extents: list[Any] = []
        self._one: list[int] = []
        self._parts: dict[int, tuple[int, ...]] = {}
        self._made: dict[Key, int] = {}
        self._refused: set[tuple[int, int]] = set()
        self._whole: set[int] = set()
        self.begin()

    def begin(self) -> None:
        """Start a reading: names are given anew, in the order in which wires are asked for."""
        self._names: dict[int, Axis] = {}
        self._numbers: dict[str, int] = {}
        self._wanted: dict[tuple[int, int], None] = {}
        self._cuts: dict[int, tuple[int, ...]] = {}
        self._apart: dict[int, set[int]] = {}
        self.parting = False  # a view waits for wires to be cut
        self.tying = False  # sizes were tied

    def of(self, key: Key, extent: Any) -> Dim:
        """Return the wires of the dimension that a key stands for, the same in each reading."""
        extent = canonical(extent)
        if isinstance(extent, int) and extent == 1:
            return ()
        if isinstance(extent, int) and extent < 1:
            raise NapkinError(
                f"a dimension has size {extent}: an axis has at least one element, so empty tensors stay PyTorch"
            )
        if key not in self._made:
            self._made[key] = self._new(extent)
        assert self.extents[self._made[key]] == extent, f"{key}: {extent}"
        return tuple(self._axis(leaf) for leaf in self._leaves(self._made[key]))

    def whole(self, key: Key, extent: Any) -> Axis:
        """Return the one wire of a dimension that is never cut."""
        if key not in self._made:
            self._made[key] = self._new(extent)
        self._whole.add(self._root(self._made[key]))
        return self._axis(self._root(self._made[key]))

    def extent(self, dim: Dim) -> Any:
        """Return the number of elements of a dimension: an integer, or an expression of symbols."""
        return canonical(math.prod((self.extents[self._numbers[axis.name]] for axis in dim), start=1))

    def meet(self, a: Dim, b: Dim) -> None:
        """Ask that two dimensions of the same size be one, cut alike."""
        if len(a) == len(b) and all(self.extent((x,)) == self.extent((y,)) for x, y in zip(a, b, strict=True)):
            for x, y in zip(a, b, strict=True):
                if x != y:
                    self._wanted[(self._numbers[x.name], self._numbers[y.name])] = None
        elif (cuts := common_cuts([self.extent((x,)) for x in a], [self.extent((x,)) for x in b])) is not None:
            self.cut(a, cuts)
            self.cut(b, cuts)

    def cut(self, dim: Sequence[Axis], cuts: Sequence[Any]) -> bool:
        """Ask that wires be cut at these numbers of elements, counted from the right and in order, which may be
        symbols; tell whether any has to be.
        """
        place, at, found = {number: order for order, number in enumerate(cuts)}, 0, False
        below: Any = 1
        for axis in reversed(dim):
            above = canonical(below * self.extent((axis,)))
            inside = cuts[at + 1 : place[above]]
            if inside and self._numbers[axis.name] not in self._whole:
                edges = [below, *inside, above]
                parts = tuple(exact(b, a) for a, b in zip(edges, edges[1:], strict=False))[::-1]
                self._cuts.setdefault(self._numbers[axis.name], parts)
                found = True
            below, at = above, place[above]
        return found

    def tie(self, a: Any, b: Any, node: str, products: bool) -> bool:
        """Take two sizes that meet in an operator for one, where either is a symbol that PyTorch did not compare with
        the other: every call must then have it so. Tell whether they are.
        """
        a, b = self.told(a), self.told(b)
        apart = canonical(b - a)
        symbols = sorted(getattr(apart, "free_symbols", ()), key=str, reverse=True)
        for one in symbols:
            # n = m, or n = 5, and no n = m - k, of which nothing is known
            other = canonical(one - apart * apart.coeff(one))
            if apart.coeff(one) in (1, -1) and (isinstance(other, int) or other.is_Symbol) and other != one:
                self.tied = {s: (_told(size, {one: other}), *rest) for s, (size, *rest) in self.tied.items()}
                self.tied[one] = other, node, products
                self.tying = True
                return True
        return not symbols and bool(apart == 0)

    def told(self, size: Any) -> Any:
        """Return a size by the symbols that others are tied to; anything else as it is."""
        return _told(size, {symbol: other for symbol, (other, *_) in self.tied.items()}) if self.tied else size

    def apart(self, axes: Sequence[Axis]) -> None:
        """Say that wires stand beside each other in one value, so that they stay several."""
        numbers = [self._numbers[axis.name] for axis in axes if axis.name in self._numbers]
        for number in numbers:
            self._apart.setdefault(number, set()).update(other for other in numbers if other != number)

    def settled(self) -> bool:
        """Grant what was asked for in this reading, cuts first; tell whether nothing was."""
        if self._cuts:
            for number, sizes in self._cuts.items():
                self._parts[number] = tuple(self._new(size) for size in sizes)
            return False
        granted = False
        for a, b in self._wanted:
            a, b = sorted((self._root(a), self._root(b)))
            if a == b or (a, b) in self._refused:
                continue
            if b in self._apart.get(a, ()):
                self._refused.add((a, b))
                continue
            self._one[b] = a
            if b in self._whole:
                self._whole.add(a)
            others = self._apart.pop(b, set())
            for other in others:
                self._apart[other].discard(b)
                self._apart[other].add(a)
            self._apart.setdefault(a, set()).update(others)
            granted = True
        return not granted

    def symbolic(self) -> dict[str, Any]:
        """Return the extent of each named wire whose size is an expression of symbols."""
        return {
            name: self.extents[number]
            for name, number in self._numbers.items()
            if not isinstance(self.extents[number], int)
        }

    def _new(self, extent: Any) -> int:
        self.extents.append(canonical(extent))
        self._one.append(len(self._one))
        return len(self._one) - 1

    def _root(self, number: int) -> int:
        while self._one[number] != number:
            number = self._one[number]
        return number

    def _leaves(self, number: int) -> list[int]:
        root = self._root(number)
        return [leaf for part in self._parts[root] for leaf in self._leaves(part)] if root in self._parts else [root]

    def _axis(self, number: int) -> Axis:
        if number not in self._names:
            count, extent = len(self._names), self.extents[number]
            name = (
                LETTERS[count]
                if count < len(LETTERS)
                else f"{'zyx'[(count // 26 - 1) % 3]}{LETTERS[count % 26]}{'w' * ((count // 26 - 1) // 3)}"
            )
            self._names[number] = Axis(name, extent if isinstance(extent, int) else None)
            self._numbers[name] = number
        return self._names[number]


def _told(size: Any, tied: Mapping[Any, Any]) -> Any:
    return canonical(size.xreplace(tied)) if getattr(size, "free_symbols", None) else size


def common_cuts(*sides: Sequence[Any]) -> list[Any] | None:
    """Return where rows of sizes with one product are cut, counted from the right; None where the cuts of one fall
    inside those of another, or where sizes that are symbols do not tell.
    """
    cuts: list[Any] = [1]
    for sizes in sides:
        below: Any = 1
        for size in reversed(sizes):
            below = below * size
            cuts.append(below)
    return ordered(cuts)
