"""Several plans of one diagram whose sizes are known only when it runs: which is taken is decided by tests of sizes, as
a tree.

Of every sizes there are exactly one leaf is reached, so the guards of the plans leave nothing out and do not overlap;
that each plan is right wherever its leaf is reached is asked of what the tests on the way there say (`admitted`), never
of what the cost model says.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from napkin_eq.tile.ir import Plan

LEAST_STRETCH = 256  # elements of a stretch that are worth one of their own


@dataclass(frozen=True, slots=True, order=True)
class SizeTest:
    """A test of sizes: their product is at most `most`; or, where `divisor` is more than 1, it divides each."""

    axes: tuple[str, ...]
    most: int = 0
    divisor: int = 1

    def holds(self, sizes: Mapping[str, int]) -> bool:
        """Tell whether it holds at sizes by name."""
        if self.divisor > 1:
            return all(sizes[name] % self.divisor == 0 for name in self.axes)
        return math.prod(sizes[name] for name in self.axes) <= self.most

    def __str__(self) -> str:
        if self.divisor > 1:
            return " and ".join(f"{self.divisor} divides {name}" for name in self.axes)
        return f"{' * '.join(self.axes)} <= {self.most}"


@dataclass(frozen=True, slots=True)
class Known:
    """What tests have said of sizes: the least and the most of each axis, and what divides it."""

    least: Mapping[str, int] = field(default_factory=dict)
    most: Mapping[str, int] = field(default_factory=dict)
    divisor: Mapping[str, int] = field(default_factory=dict)

    def after(self, test: SizeTest, held: bool) -> Self:
        """Return what is known once a test was answered."""
        if test.divisor > 1:
            return (
                replace(
                    self,
                    divisor={**self.divisor, **{a: math.lcm(self.divisor.get(a, 1), test.divisor) for a in test.axes}},
                )
                if held
                else self
            )
        if held:  # a product of sizes, each at least 1, is no less than any of them
            return replace(
                self, most={**self.most, **{a: min(self.most.get(a, test.most), test.most) for a in test.axes}}
            )
        if len(test.axes) > 1:
            return self
        (axis,) = test.axes
        return replace(self, least={**self.least, axis: max(self.least.get(axis, 1), test.most + 1)})


@dataclass(frozen=True, slots=True)
class Needs:
    """What sizes must keep to for a plan to be right: those that are one number, those that a number divides, those
    that stay below one.
    """

    exact: Mapping[str, int] = field(default_factory=dict)
    divisor: Mapping[str, int] = field(default_factory=dict)
    most: Mapping[str, int] = field(default_factory=dict)

    @property
    def general(self) -> bool:
        """Whether the plan is right for all sizes."""
        return not (self.exact or self.divisor or self.most)

    def met(self, sizes: Mapping[str, int]) -> bool:
        """Tell whether sizes keep to it."""
        exact = all(sizes[a] == n for a, n in self.exact.items())
        return (
            exact
            and all(sizes[a] % n == 0 for a, n in self.divisor.items())
            and all(sizes[a] <= n for a, n in self.most.items())
        )

    def admitted(self, known: Known) -> bool:
        """Tell whether all sizes of which so much is known keep to it."""
        exact = all(known.least.get(a, 1) == n == known.most.get(a) for a, n in self.exact.items())
        divided = all(
            known.divisor.get(a, 1) % n == 0 or known.least.get(a, 1) == known.most.get(a, 0) == n
            for a, n in self.divisor.items()
        )
        return exact and divided and all(known.most.get(a, math.inf) <= n for a, n in self.most.items())

    def __str__(self) -> str:
        exact = [f"{a} = {n}" for a, n in self.exact.items()]
        divided = [f"{n} divides {a}" for a, n in self.divisor.items()]
        return ", ".join([*exact, *divided, *(f"{a} <= {n}" for a, n in self.most.items())]) or "any sizes"

    def tests(self) -> Iterator[SizeTest]:
        """Yield tests that together say that sizes keep to it."""
        yield from (SizeTest((a,), most=m) for a, n in self.exact.items() for m in {n - 1, n} if m)
        for divisor in sorted(set(self.divisor.values())):
            yield SizeTest(tuple(a for a, n in self.divisor.items() if n == divisor), divisor=divisor)
        yield from (SizeTest((a,), most=n) for a, n in self.most.items())


@dataclass(frozen=True, slots=True)
class Parts:
    """How many stretches an axis is cut into, counted at launch: as many as there are processors for each block of the
    others, at most `most`.

    blocks: the axes that others of the grid walk, with how many of their elements a block takes; a number stands for a
    size that is known.
    """

    part: str
    axis: str
    blocks: tuple[tuple[str | int, int], ...]
    most: int

    def count(self, sizes: Mapping[str, int], processors: int) -> int:
        """Return the number of stretches at sizes by name, on a GPU of so many processors."""
        blocks = math.prod(-(-(sizes[a] if isinstance(a, str) else a) // tile) for a, tile in self.blocks)
        return max(1, min(self.most, processors // blocks, -(-sizes[self.axis] // LEAST_STRETCH)))


@dataclass(frozen=True, slots=True)
class Case:
    """One of the plans: what it needs to be right, and the stretches that are counted at launch."""

    plan: Plan
    needs: Needs
    parts: tuple[Parts, ...] = ()


@dataclass(frozen=True, slots=True)
class Branch:
    """A test, and what is taken where it holds and where it does not: a further test, or the number of a case."""

    test: SizeTest
    yes: Branch | int
    no: Branch | int


@dataclass(frozen=True, slots=True)
class Dispatch:
    """The plans of a diagram and the tree that chooses among them; `notes` are lines for the head of an
    emitted file.
    """

    name: str
    cases: tuple[Case, ...]
    tree: Branch | int
    notes: tuple[str, ...] = ()

    def chosen(self, sizes: Mapping[str, int]) -> int:
        """Return the number of the case for sizes by name."""
        at = self.tree
        while isinstance(at, Branch):
            at = at.yes if at.test.holds(sizes) else at.no
        return at

    def guards(self) -> list[tuple[tuple[tuple[SizeTest, bool], ...], int]]:
        """Return each leaf: the tests on the way there with their answers, and the number of its case."""
        return list(leaves(self.tree))


Leaf = tuple[tuple[tuple[SizeTest, bool], ...], int]


def leaves(at: Branch | int, way: tuple[tuple[SizeTest, bool], ...] = ()) -> Iterator[Leaf]:
    """Yield each leaf of a tree: the tests on the way there with their answers, and the number of its case."""
    if isinstance(at, Branch):
        yield from leaves(at.yes, (*way, (at.test, True)))
        yield from leaves(at.no, (*way, (at.test, False)))
    else:
        yield way, at


def numbered(at: Branch | int, kept: Sequence[int]) -> Branch | int:
    """Return a tree with its cases numbered by their places among those that are kept."""
    return Branch(at.test, numbered(at.yes, kept), numbered(at.no, kept)) if isinstance(at, Branch) else kept.index(at)
