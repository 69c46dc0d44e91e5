"""Closed forms of the least transfers against brute force, and the posynomials that they are of."""

from __future__ import annotations

import math
import random

import numpy
import pytest
import sympy

from napkin_eq.lang.axis import Axis
from napkin_eq.napkin.formula import count, kib, micros, summed, written
from napkin_eq.napkin.optimum import form, regime
from napkin_eq.napkin.posynomial import Posynomial, monomial, number, total, variable
from napkin_eq.napkin.traffic import Column, Traffic, Variable
from napkin_eq.napkin.tried import least_memory, refined, whole_tiles
from napkin_eq.tile import ir as p

NAMES = ("u", "v", "w")
KERNEL = p.Kernel("kernel_0", (), (), (), (), ())


def posynomial(*terms: tuple[int, dict[str, int]]) -> Posynomial:
    return total(
        Posynomial({monomial({f"g_{n}": e for n, e in powers.items()}): sympy.Integer(c)}) for c, powers in terms
    )


def kernel(transfers: Posynomial, *columns: Posynomial, lengths: dict[str, int] | None = None) -> Traffic:
    found = {f"g_{n}": Variable(f"g_{n}", Axis(n, (lengths or {}).get(n, 4096)), "group", 1) for n in NAMES}
    used = {n: v for n, v in found.items() if any(n in s.variables for s in (transfers, *columns))}
    held = tuple(Column((("held", c),)) for c in columns)
    return Traffic(KERNEL, used, {"all": transfers}, frozenset(), held, Posynomial({}), ())


def sizes_of(read: Traffic) -> dict[str, int]:
    return {v.axis.name: v.axis.size or 0 for v in read.variables.values()}


def by_force(read: Traffic, memory: float, steps: int = 61) -> float:
    """Return the least of the transfers on a grid of logarithms, made finer around the best point."""
    sizes, names = sizes_of(read), list(read.variables)
    tops = [math.log(sizes[read.variables[n].axis.name]) for n in names]

    def values(of, tiles):
        return sum(
            float(c) * math.prod((tiles[n] ** e for n, e in m), start=numpy.float64(1)) for m, c in of.terms.items()
        )

    low, high, best, at = [0.0] * len(names), tops, math.inf, tops
    for _ in range(12):
        grids = numpy.meshgrid(*(numpy.linspace(a, b, steps) for a, b in zip(low, high, strict=True)), indexing="ij")
        tiles = {n: numpy.exp(g) for n, g in zip(names, grids, strict=True)}
        fits = numpy.all([values(c.memory, tiles) <= memory for c in read.columns], axis=0)
        found = numpy.where(fits, values(read.transfers, tiles), numpy.inf)
        place = numpy.unravel_index(found.argmin(), found.shape)
        if found[place] < best:
            best, at = float(found[place]), [float(g[place]) for g in grids]
        wide = [0.3 * (b - a) for a, b in zip(low, high, strict=True)]
        low = [max(y - w, 0.0) for y, w in zip(at, wide, strict=True)]
        high = [min(y + w, top) for y, w, top in zip(at, wide, tops, strict=True)]
    return best


SQUARE = kernel(posynomial((700, {}), (5000, {"u": -1}), (3000, {"v": -1})), posynomial((2, {"u": 1, "v": 1})))
SENT = kernel(posynomial((10, {}), (90_000, {"u": -1})), posynomial((7, {"u": 1})))
RESERVED = kernel(posynomial((4000, {"u": -1})), posynomial((100, {}), (3, {"u": 1})))
PRODUCT = kernel(posynomial((80_000, {"u": -1, "v": -1})), posynomial((3, {"u": 1, "v": 1})), lengths={"u": 30})
CUBE = kernel(
    posynomial(*((1000 * k, {n: -1}) for k, n in enumerate(NAMES, 1))), posynomial((1, dict.fromkeys(NAMES, 1)))
)
ADDED = kernel(posynomial((900, {"u": -1}), (400, {"v": -1})), posynomial((5, {"u": 1}), (2, {"v": 1})))
TWO = kernel(
    posynomial((900, {"u": -1}), (400, {"v": -1})), posynomial((1, {"u": 1, "v": 1})), posynomial((4, {"u": 1}))
)


@pytest.mark.parametrize("memory", [150, 400, 1e5])
@pytest.mark.parametrize("read", [SQUARE, SENT, RESERVED, PRODUCT], ids=["square", "sent", "reserved", "product"])
def test_a_closed_form_is_the_minimum(read, memory):
    found = regime(read, sizes_of(read), memory)
    assert found is not None
    assert found.transfers == pytest.approx(by_force(read, memory), rel=2e-3)
    assert all(c.memory.value(sizes_of(read), found.tiles) <= memory * 1.0001 for c in read.columns)


def test_three_sides_have_an_exponent_of_a_third():
    found = form(CUBE, sizes_of(CUBE), 1000)
    assert found.exact and [str(t.beta) for t in found.powers] == ["1/3"]
    assert found.value({}, 1000) == pytest.approx(by_force(CUBE, 1000, 21), rel=1e-2)


def test_where_no_closed_form_is_known_the_bound_is_below_and_the_search_finds_the_minimum():
    for read in (ADDED, TWO):
        sizes, memory = sizes_of(read), 200.0
        least = by_force(read, memory)
        start = whole_tiles(read, sizes, memory)
        assert start is not None
        assert refined(read, sizes, memory, start[1])[0] == pytest.approx(least, rel=2e-3)
        assert form(read, sizes, memory).value(sizes, memory) <= least * (1 + 1e-9)
        assert start[0] >= least * (1 - 1e-9)


def test_a_form_that_another_column_forbids_is_only_a_bound():
    [transfers] = TWO.moved.values()
    alone = kernel(transfers, TWO.columns[0].memory)
    assert form(alone, sizes_of(alone), 20).exact
    assert not form(TWO, sizes_of(TWO), 20).exact


def test_random_kernels():
    draw = random.Random(7)
    for _ in range(25):
        names = NAMES[: 1 + draw.randrange(2)]
        terms = [(draw.randrange(1, 10**5), {n: -1}) for n in names] + [(draw.randrange(1, 999), {})]
        held = [(draw.randrange(1, 9), dict.fromkeys(names, 1))] + [
            (draw.randrange(1, 9), {n: 1}) for n in names[: draw.randrange(2)]
        ]
        read = kernel(posynomial(*terms), posynomial(*held), lengths={n: draw.choice((8, 100, 4096)) for n in names})
        sizes, memory = sizes_of(read), float(draw.choice((30, 300, 3000)))
        if least_memory(read, sizes) > memory:
            assert whole_tiles(read, sizes, memory) is None
            continue
        least, start = by_force(read, memory, 41), whole_tiles(read, sizes, memory)
        assert start is not None
        found = regime(read, sizes, memory)
        near = refined(read, sizes, memory, start[1])[0]
        assert min(near, found.transfers if found else math.inf) == pytest.approx(least, rel=5e-3)
        assert form(read, sizes, memory).value(sizes, memory) <= least * (1 + 1e-6)


def test_memory_that_does_not_hold_the_least_is_said():
    assert whole_tiles(RESERVED, sizes_of(RESERVED), 50) is None
    assert regime(RESERVED, sizes_of(RESERVED), 50) is None
    assert form(RESERVED, sizes_of(RESERVED), 50).value({}, 50) == math.inf


def test_like_terms_are_one_and_expressions_put_in():
    one = posynomial((2, {"u": 1}), (3, {"u": 1}), (4, {"v": -1}))
    assert one.terms[(("g_u", 1),)] == 5
    assert one.at({"g_u": sympy.Integer(2)}).constant == 10
    assert one.value({}, {"g_u": 2.0, "g_v": 4.0}) == 11
    assert number(variable("M") ** 2, {}, 3) == 9


def test_formulas_are_written_as_on_a_napkin():
    m, n, k = (sympy.Symbol(s, positive=True, integer=True) for s in "mnk")
    memory = variable("M")
    assert written(2 * m * n * k / sympy.sqrt(memory) + m * n, "mnk") == "m·n + 2·m·n·k/√M"
    assert written(4 * k * m**2 / memory, "mk") == "4·m²·k/M"
    assert written(sympy.Rational(29, 28) * m) == "1.04·m" and written(memory - 2 * k) == "M - 2·k"
    assert written(sympy.Integer(0)) == "0" and summed(Posynomial({})) == "0"
    assert (count(2.5e9), count(999.6e3), count(12), kib(681 * 1024), micros(1.26e-6)) == (
        "2.5 G",
        "1 M",
        "12",
        "681 KiB",
        "1.26 µs",
    )
