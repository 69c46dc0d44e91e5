# SPDX-License-Identifier: MIT
"""Guards of several plans: one leaf for any sizes, plans only where they are right, counts of stretches that cover."""

from __future__ import annotations

import math
from random import Random

import pytest
import z3

from napkin_eq.pipeline.tree import grown
from napkin_eq.tile.guards import Branch, Dispatch, Known, Needs, Parts, SizeTest, leaves

AXES = ("m", "n")
GENERAL = Needs()
NEEDS = [
    Needs(exact={"m": 1}),
    Needs(divisor={"m": 16, "n": 16}),
    Needs(most={"n": 512}),
    Needs(divisor={"n": 16}, most={"m": 64}),
    GENERAL,
]


def drawn(seed: int, count: int = 60) -> list[dict[str, int]]:
    random = Random(seed)
    return [{a: random.choice([1, 3, 16, 17, 64, 128, 512, 1000, 4096, 16384]) for a in AXES} for _ in range(count)]


def tree(seed: int) -> Branch | int:
    """A tree for plans whose times are drawn: where a plan is right it may be the fastest anywhere."""
    random = Random(seed)
    table = [
        (sizes, [random.choice([1.0, 2.0, 5.0]) if need.met(sizes) else math.inf for need in NEEDS])
        for sizes in drawn(seed)
    ]
    return grown(table, NEEDS, (sorted({t for need in NEEDS for t in need.tests()}), [("m",), ("n",), ("m", "n")]))


def formula(test: SizeTest, size: dict[str, z3.ArithRef]) -> z3.BoolRef:
    if test.divisor > 1:
        return z3.And([size[a] % test.divisor == 0 for a in test.axes])
    product = size[test.axes[0]]
    for name in test.axes[1:]:
        product = product * size[name]
    return product <= test.most


def needed(needs: Needs, size: dict[str, z3.ArithRef]) -> z3.BoolRef:
    exact = [size[a] == n for a, n in needs.exact.items()]
    return z3.And(
        *exact, *(size[a] % n == 0 for a, n in needs.divisor.items()), *(size[a] <= n for a, n in needs.most.items())
    )


@pytest.mark.parametrize("seed", range(3))
def test_each_plan_is_right_wherever_its_guard_holds(seed: int) -> None:
    """Asked of a solver, for all sizes: that the guard says what the plan needs."""
    size = {a: z3.Int(a) for a in AXES}
    found = list(leaves(tree(seed)))
    assert len(found) > 3
    for way, at in found:
        solver = z3.Solver()
        solver.set("timeout", 5000)
        solver.add(
            *(s >= 1 for s in size.values()),
            *(formula(t, size) if held else z3.Not(formula(t, size)) for t, held in way),
        )
        solver.add(z3.Not(needed(NEEDS[at], size)))
        assert solver.check() == z3.unsat, (way, at)


@pytest.mark.parametrize("seed", range(3))
def test_exactly_one_guard_holds_of_any_sizes(seed: int) -> None:
    found = Dispatch("d", (), tree(seed))
    for sizes in drawn(seed + 100, 200):
        held = [at for way, at in found.guards() if all(test.holds(sizes) is answer for test, answer in way)]
        assert held == [found.chosen(sizes)]
        assert NEEDS[held[0]].met(sizes)


def test_a_plan_is_not_admitted_by_less_than_it_needs() -> None:
    known = Known().after(SizeTest(("n",), most=600), True).after(SizeTest(("m",), divisor=16), True)
    assert not Needs(most={"n": 512}).admitted(known)
    assert not Needs(divisor={"m": 16, "n": 16}).admitted(known)
    assert not Needs(exact={"n": 1}).admitted(Known().after(SizeTest(("n",), most=2), True))
    assert not Needs(most={"n": 512}).admitted(Known().after(SizeTest(("n",), most=100), False))
    assert Needs(most={"n": 512}).admitted(Known().after(SizeTest(("m", "n"), most=512), True))
    assert Needs(exact={"n": 2}).admitted(
        Known().after(SizeTest(("n",), most=2), True).after(SizeTest(("n",), most=1), False)
    )


def test_the_tree_takes_what_is_fastest_where_tests_tell_it() -> None:
    table = [
        ({"m": m, "n": n}, [1.0 if n <= 512 else math.inf, 2.0 if m > 64 else 0.5, 3.0])
        for m in (1, 64, 4096)
        for n in (64, 512, 4096)
    ]
    needs = [Needs(most={"n": 512}), GENERAL, GENERAL]
    found = Dispatch("d", (), grown(table, needs, (list(needs[0].tests()), [("m",), ("n",)])))
    for sizes, times in table:
        assert times[found.chosen(sizes)] == min(times)


@pytest.mark.parametrize(("b", "x"), [(1, 1), (1, 255), (3, 70000), (132, 4096), (1000, 10**6)])
def test_stretches_are_at_least_one_and_no_more_than_may_be(b: int, x: int) -> None:
    count = Parts("p", "x", (("b", 1), (128, 64)), 64).count({"b": b, "x": x}, 132)
    assert 1 <= count <= 64
    assert count <= -(-x // 256)
    assert count == 1 or count * b * 2 <= 132
