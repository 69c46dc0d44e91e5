"""Which tiles of a kernel are alive together, held against a walk through its statements that remembers who reads what
when.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import cache

import pytest

from napkin_eq.lang.axis import Axis
from napkin_eq.tile import ir as p
from napkin_eq.tile.liveness import Tiles, alive, fullest, share
from tests import plans
from tests.codegen.test_gluon import shared, two_contractions

Lanes = dict[str, int]
SLOW = (p.Load, p.ReduceTile, p.ScanTile, p.Dot)


@cache
def kernels() -> dict[str, p.Kernel]:
    """Plans written by hand, two of them rearranged so that contractions run beside other work and blocks are opened
    and closed apart.
    """
    made = {
        f"{name}_{i}": kernel
        for name, case in plans.FLOAT_CASES.items()
        for i, kernel in enumerate(case("f16").plan.kernels)
    }
    (chained,), (rotated,) = (
        shared(case).kernels
        for case in (plans.matmul("bf16", (256, 256, 256), (128, 256, 64)), two_contractions("bf16"))
    )
    return {**made, "chained": chained, "rotated": rotated, "prefixes": plans.integers().plan.kernels[1]}


def run_through(body: tuple[p.Stmt, ...], trips: Iterator[int]) -> Iterator[p.Stmt]:
    """Yield statements as they run, every loop first, then each of its parts as often as said."""
    for stmt in body:
        yield stmt
        if isinstance(stmt, p.Loop):
            for part in stmt.parts:
                for _ in range(1 if part.once else next(trips)):
                    yield from run_through(part.body, trips)


def reads(stmt: p.Stmt, apart: Collection[str]) -> tuple[str, ...]:
    """What a statement needs in registers: neither where a store goes, nor the indices of a load that is copied
    elsewhere.
    """
    if isinstance(stmt, p.StoreTile):
        return (stmt.value,)
    return () if isinstance(stmt, p.Load) and stmt.out.name in apart else p.used(stmt)


def held_along(run: list[p.Stmt], apart: Collection[str], waits: bool) -> Iterator[set[str]]:
    """Yield what is held after each statement of one run: every value from where it is made to where it is
    last read.
    """
    wanted: set[int] = set()
    asked: set[str] = set()
    for at, stmt in reversed(list(enumerate(run))):  # a statement whose result nobody asks for reads nothing
        name = stmt.target if isinstance(stmt, p.Assign) else stmt.out.name if hasattr(stmt, "out") else ""
        if not name or name in asked:
            wanted.add(at)
            asked = asked - {name} | {*reads(stmt, apart)}
    last: dict[tuple[str, int], int] = {}
    born: dict[str, int] = {}
    for at, stmt in enumerate(run):
        if at in wanted:
            for name in reads(stmt, apart):
                last[name, born.get(name, -1)] = at
        if isinstance(stmt, p.Loop) and not stmt.parts[0].once:
            # Else they are constants until they are assigned
            born.update({value.name: at for value, _ in stmt.carried})
        elif isinstance(stmt, p.Assign):
            born[stmt.target] = at
        elif hasattr(stmt, "out"):
            born[stmt.out.name] = at
    for at, stmt in enumerate(run):
        if not waits or isinstance(stmt, SLOW):
            yield {name for (name, birth), end in last.items() if 0 <= birth <= at < end}


def most(kernel: p.Kernel, lanes: Lanes, apart: Collection[str], waits: bool) -> float:
    """The registers that a block holds where it holds the most, over runs of none, one or two blocks of each part."""
    values = p.values_of(kernel.body)
    parts = sum(len(s.parts) for s in p.statements(kernel.body) if isinstance(s, p.Loop))
    runs = (list(run_through(kernel.body, iter(trips))) for trips in itertools.product(range(3), repeat=parts))
    return max(
        sum(
            math.prod(lanes[c] for c in values[n].coords) * share(values[n])
            for n in names
            if values[n].coords and n not in apart
        )
        for run in runs
        for names in held_along(run, apart, waits)
    )


def amount(points: Collection[Tiles], lanes: Lanes) -> float:
    return max(sum(math.prod(lanes[c] for c in coords) * taken for coords, taken in tiles) for tiles in points)


def copied(kernel: p.Kernel) -> set[str]:
    stmts = list(p.statements(kernel.body))
    return {s.out.name for s in stmts if isinstance(s, p.Load)} & {
        n for s in stmts if isinstance(s, p.Dot) for n in (s.a, s.b)
    }


def drawn(kernel: p.Kernel, rng: random.Random) -> Lanes:
    return {c.name: rng.choice((1, 2, 16, 64, 256)) for c in kernel.coords}


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("apart", [copied, lambda kernel: set()], ids=["copied", "loaded"])
def test_a_kernel_holds_what_a_walk_through_it_finds(apart: Callable[[p.Kernel], set[str]], waits: bool):
    rng = random.Random(0)
    for name, kernel in kernels().items():
        points = alive(kernel.body, apart(kernel), waits=waits)
        for lanes in ({c.name: c.tile for c in kernel.coords}, drawn(kernel, rng), drawn(kernel, rng)):
            assert amount(points, lanes) == most(kernel, lanes, apart(kernel), waits), (name, lanes)


def added(before: int = 0) -> p.Kernel:
    """Rows of a matrix of which another row is taken off; `before`: so many more values are read in the last block
    only.
    """
    q, x = Axis("q", 64), Axis("x", 256)
    m, row, out = p.Buffer("M", (q, x), "f32"), p.Buffer("R", (q,), "f32"), p.Buffer("O", (q,), "f32")
    kept = [plans.f32(f"kept{i}", "q") for i in range(before)]
    block: tuple[p.Stmt, ...] = (
        p.Iota(plans.i32("xs", "x"), "x"),
        p.Load(plans.f32("m", "q", "x"), "M", ("qs", "xs")),
        plans.let(plans.f32("moved", "q", "x"), "sub", "m", "row"),
        p.ReduceTile(plans.f32("part", "q"), "sum", "x", "moved"),
        plans.let(plans.f32("next", "q"), "add", "acc", "part"),
    )
    sums = [
        plans.let(plans.f32(f"more{i}", "q"), "add", "next" if not i else f"more{i - 1}", k.name)
        for i, k in enumerate(kept)
    ]
    body: tuple[p.Stmt, ...] = (
        p.Iota(plans.i32("qs", "q"), "q"),
        p.Load(plans.f32("row", "q"), "R", ("qs",)),
        *(p.Let(k, "mul", ("row", 2.0 + i)) for i, k in enumerate(kept)),
        p.Loop(
            "x",
            ((plans.f32("acc", "q"), 0.0),),
            (
                p.Part(0, 128, (*block, p.Assign("acc", "next"))),
                p.Part(128, 256, (*block, *sums, p.Assign("acc", sums[-1].out.name if sums else "next"))),
            ),
        ),
        p.StoreTile("O", ("qs",), "acc"),
    )
    coords = (p.Coord("q", q, 16, "group"), p.Coord("x", x, 64, "stream"))
    return p.Kernel("added", (m, row), (out,), coords, ("q",), body)


@pytest.mark.parametrize("before", [0, 3])
def test_what_a_later_block_reads_is_held_in_every_block_before(before):
    """While a block is moved: the block itself, and of each row its place, the accumulator, what is taken off, and what
    waits for the last part.
    """
    kernel = added(before)
    assert (
        amount(alive(kernel.body, ()), {"q": 16, "x": 64})
        == 16 * 64 + (3 + before) * 16
        == most(kernel, {"q": 16, "x": 64}, (), False)
    )
    # Without the part that reads them, nothing waits.
    (loop,) = (s for s in kernel.body if isinstance(s, p.Loop))
    alone = tuple(replace(s, parts=s.parts[:1]) if s is loop else s for s in kernel.body)
    assert amount(alive(alone, ()), {"q": 16, "x": 64}) == 16 * 64 + 3 * 16


def test_the_fullest_points_hold_as_much_as_all_of_them():
    rng = random.Random(1)
    over = [("q",), ("x",), ("q", "x"), ()]
    points = {
        tuple(sorted((c, rng.choice((0.5, 1.0, 2.0))) for c in rng.sample(over, rng.randint(1, 4)))) for _ in range(60)
    }
    kept = fullest(points)
    assert kept < points
    for lanes in ({"q": q, "x": x} for q in (1, 16, 128) for x in (1, 16, 128)):
        assert amount(kept, lanes) == amount(points, lanes)
    for point, other in itertools.permutations(kept, 2):
        assert any(taken > dict(other).get(coords, 0.0) for coords, taken in point)


def test_accumulators_that_are_constants_before_the_first_block_take_nothing_there():
    (kernel,) = shared(two_contractions("bf16")).kernels
    loop = next(s for s in kernel.body if isinstance(s, p.Loop))
    assert loop.parts[0].once
    again = replace(loop, parts=(replace(loop.parts[0], once=False), *loop.parts[1:]))
    body = tuple(again if s is loop else s for s in kernel.body)
    lanes = {c.name: 1 if c.name == "q" else 64 for c in kernel.coords}
    first = alive((replace(loop, parts=loop.parts[:1]),), copied(kernel))
    assert amount(first, lanes) < amount(alive((replace(again, parts=again.parts[:1]),), copied(kernel)), lanes)
    assert amount(alive(body, copied(kernel)), lanes) == most(replace(kernel, body=body), lanes, copied(kernel), False)
