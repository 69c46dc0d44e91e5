"""A tree of tests of sizes that takes, at every sample, a plan that is nearly the fastest there, of plans that are
right wherever they are taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from napkin_eq.tile.guards import Branch, Known, Needs, SizeTest

# Sizes by name, and what each plan takes there, in microseconds
Table = Sequence[tuple[Mapping[str, int], Sequence[float]]]
Features = tuple[Sequence[SizeTest], Sequence[tuple[str, ...]]]
# Times slower than the fastest that a leaf may be, and that is no loss; tests on the way to a leaf
SLACK, SAME, DEPTH = 1.01, 1.003, 14


def grown(times: Table, needs: Sequence[Needs], features: Features) -> Branch | int:
    """Return the tree for the microseconds of each plan at some sizes, the last plan being right for all sizes.

    features: the tests that plans need, and the products of sizes that may be compared with a number.
    """
    table = [
        (sizes, [max(0.0, math.log(us / (SAME * min(row)))) if us < math.inf else math.inf for us in row])
        for sizes, row in times
    ]
    return _pruned(_grown(table, Known(), needs, features, DEPTH))


def _grown(table: Table, known: Known, needs: Sequence[Needs], features: Features, depth: int) -> Branch | int:
    """Return a tree for some sizes; of each plan the table has what it loses there, as a logarithm."""
    if not table:
        return len(needs) - 1
    allowed = _allowed(known, needs)
    leaf = min(allowed, key=lambda at: (max(row[at] for _, row in table), sum(row[at] for _, row in table), at))
    if not depth or max(row[leaf] for _, row in table) <= math.log(SLACK):
        return leaf
    best, least = None, _loss(table, allowed)
    for test in _tests(table, features):
        sides = [[row for row in table if test.holds(row[0]) is held] for held in (True, False)]
        if all(sides):
            loss = sum(
                _loss(side, _allowed(known.after(test, held), needs))
                for side, held in zip(sides, (True, False), strict=True)
            )
            if loss < least - 1e-9:
                best, least = (test, sides), loss
    if best is None:  # no one test helps: one that a faster plan needs may be the first of two that do
        best = _wanted(table, known, needs)
    if best is None:
        return leaf
    test, (yes, no) = best
    return Branch(
        test,
        _grown(yes, known.after(test, True), needs, features, depth - 1),
        _grown(no, known.after(test, False), needs, features, depth - 1),
    )


def _allowed(known: Known, needs: Sequence[Needs]) -> list[int]:
    """Return the plans that are right for all sizes of which so much is known."""
    return [at for at, need in enumerate(needs) if need.admitted(known)]


def _loss(table: Table, allowed: Sequence[int]) -> float:
    """Return what the plan that is best for all of a table loses, its worst counted much."""
    return min(sum(row[at] for _, row in table) + len(table) * max(row[at] for _, row in table) for at in allowed)


def _tests(table: Table, features: Features) -> Iterator[SizeTest]:
    needed, groups = features
    yield from needed
    for group in groups:
        values = sorted({math.prod(sizes[name] for name in group) for sizes, _ in table})
        for low, high in zip(values, values[1:], strict=False):
            yield SizeTest(group, most=_between(low, high))


def _between(low: int, high: int) -> int:
    """Return a round number from one size to below a larger one: near their geometric mean, with few digits."""
    middle = math.isqrt(low * high)
    bits = max(0, middle.bit_length() - 3)
    rounded = middle >> bits << bits
    return rounded if low <= rounded < high else max(low, min(middle, high - 1))


def _wanted(
    table: Table, known: Known, needs: Sequence[Needs]
) -> tuple[SizeTest, list[list[tuple[Mapping[str, int], Sequence[float]]]]] | None:
    """Return the first test on the way to the plan that is fastest at the sample that loses most, and the samples on
    its two sides.
    """
    allowed = _allowed(known, needs)
    _, row = max(table, key=lambda entry: min(entry[1][at] for at in allowed))
    for test in needs[row.index(min(row))].tests():
        sides = [[entry for entry in table if test.holds(entry[0]) is held] for held in (True, False)]
        # Beyond it there may be sizes of which there is no sample
        if all(sides) or (sides[0] and known.after(test, True) != known):
            return test, sides
    return None


def _pruned(at: Branch | int) -> Branch | int:
    """Leave out tests whose answer changes nothing."""
    if isinstance(at, int):
        return at
    yes, no = _pruned(at.yes), _pruned(at.no)
    return yes if yes == no else Branch(at.test, yes, no)
