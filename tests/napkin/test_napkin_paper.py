"""The paper's formulas and numbers (arXiv 2412.03317; sections 3 and 4 of our notes of it), from our terms.

docs/napkin_paper.json lists every one with its place; each that is reproduced has a test here by its name, whose
constants are the paper's.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
import sympy

from napkin_eq.frontend.gallery import diagram
from napkin_eq.machine import gpu as hardware
from napkin_eq.napkin.configuration import configured, depth, harmonic
from napkin_eq.napkin.levels import (
    CLUSTERS,
    Level,
    best_cluster,
    clustered,
    effective,
    level,
    moved,
    over_levels,
    quantised,
    saving,
    threshold,
)
from napkin_eq.napkin.optimum import compulsory, form, regime
from napkin_eq.napkin.posynomial import Posynomial, variable
from napkin_eq.napkin.traffic import Column, Traffic, Variable, traffic
from napkin_eq.napkin.variables import REGISTERS, SMEM
from napkin_eq.pipeline.derive import derive
from napkin_eq.pipeline.top_k import lowered
from napkin_eq.tile.printers import emit

ROOT = Path(__file__).resolve().parents[2]
LIST = json.loads((ROOT / "docs" / "napkin_paper.json").read_text(encoding="utf-8"))
CHECKS: dict[str, Callable[[], None]] = {}
M = variable("M")
KIB = 2**10
PEAK = 989.4e12  # of the paper's H100 at FP16
L2, SM = Level("L2", 50 * 2**20, 3.35e12), Level("SMEM", 256 * KIB, 12e12, 132)
SMEM_VALUES = 228 * KIB / 2


def shows(name: str):
    def kept(check: Callable[[], None]) -> Callable[[], None]:
        assert name not in CHECKS
        CHECKS[name] = check
        return check

    return kept


@pytest.mark.parametrize("name", [row[0] for row in LIST if row[4] == "reproduced"])
def test_paper(name):
    CHECKS[name]()


def test_none_is_missing():
    names = [row[0] for row in LIST]
    assert len(set(names)) == len(names)
    assert {row[4] for row in LIST} == {"reproduced", "not reproduced"}
    assert set(CHECKS) == {row[0] for row in LIST if row[4] == "reproduced"}
    assert all(row[5] for row in LIST if row[4] == "not reproduced"), "each that is not reproduced has its reason"


def test_the_list_stands_in_the_docs():
    page = (ROOT / "docs" / "napkin.md").read_text(encoding="utf-8")
    for _, place, what, value, status, how in LIST:
        mark = "yes" if status == "reproduced" else "**no**"
        assert f"| {place} | {what} | {value} | {mark} | {how} |" in page


# Our terms: matmul, attention without heads, with heads of their own, with heads that share keys and values.


@cache
def made(name: str, **sizes: int):
    return derive(diagram(name, **sizes), hardware="h100", dtype="float16")


@cache
def kernel(name: str, **sizes: int):
    return lowered(made(name, **sizes), apart=True)[0]


@cache
def read(name: str, **sizes: int) -> Traffic:
    return traffic(kernel(name, **sizes))


ATTENTION = dict(b=1, h=1, q=65536, x=65536, d=128)  # long enough that no other axis is cut for want of blocks
HEADS = dict(b=1, h=16, q=4096, x=4096, d=128)
SHARED = dict(b=1, k=8, r=4, q=4096, x=4096, d=128)  # r heads of queries share each of the k of keys
MATMUL = dict(m=4096, n=4096, k=4096)
GATED = dict(t=4096, d=4096, f=4096)


def matmul() -> Traffic:
    return read("matmul", **MATMUL)


def attention() -> Traffic:
    return read("attention", **ATTENTION)


def heads() -> Traffic:
    return read("attention", **HEADS)


def shared() -> Traffic:
    return read("gqa_attention", **SHARED)


def size(name: str):
    return sympy.Symbol(name, positive=True, integer=True)


def tile(name: str):
    return sympy.Symbol(name, positive=True)


a, b, c = size("m"), size("k"), size("n")  # the paper's letters for matmul
q, x, d, h, r = (size(n) for n in "qxdhr")
g_a, s_b, g_c = tile("g_m"), tile("s_k"), tile("g_n")
g_q, g_h, g_r, s_x = tile("g_q"), tile("g_h"), tile("g_r"), tile("s_x")


def same(found, expected) -> bool:
    return bool(sympy.simplify(found - expected) == 0)


def optimum(of: Traffic, sizes: dict[str, int]):
    return form(of, sizes, SMEM_VALUES)


def largest(of: Traffic):
    [column] = of.columns
    return column.memory.expression()


# 3.1


@shows("bytes-moved")
def _():
    parts = {name: values.expression() for name, values in attention().moved.items()}
    assert set(parts) == {"Q", "K", "V", "out"} and attention().saved == {"out"}
    assert same(sum(parts.values()), attention().transfers.expression())
    assert same(parts["Q"], q * d) and same(parts["K"], q / g_q * x * d)


@shows("column-memory")
def _():
    of, sizes = attention(), ATTENTION
    found = regime(of, sizes, SMEM_VALUES)
    for column in of.columns:
        assert column.memory.without(["s_x"]).value(sizes, found.tiles) <= SMEM_VALUES * (1 + 1e-9)


@shows("groups")
def _():
    of = attention()
    per_group = q / g_q
    assert same(of.moved["K"].expression() / per_group, x * d)  # not weaved over q: whole, for each group
    assert same(of.moved["Q"].expression() / per_group, g_q * d)  # weaved: its part


@shows("generic-H")
def _():
    of = read("swiglu", **GATED)
    t, f, w = size("t"), size("f"), size("d")
    wanted = t * f * (w / tile("g_f") + 2 * w / tile("g_t")) + t * f * 1
    assert same(of.transfers.expression(), wanted)


@shows("generic-M")
def _():
    g_t, g_f, s_d = tile("g_t"), tile("g_f"), tile("s_d")
    assert same(largest(read("swiglu", **GATED)), g_t * s_d + g_f * 2 * s_d + g_t * g_f * 2)


def generic() -> Traffic:
    """Return two weaved inputs, slices of x and w, and an output slice of y, x and w streamed away."""
    from napkin_eq.lang.axis import Axis

    wx, ww, wy, wa, wb = (sympy.Symbol(n, positive=True, integer=True) for n in "xwyab")
    first, second = Axis("a", 4096), Axis("b", 4096)
    terms = Posynomial({(("g_b", -1),): wa * wb * wx, (("g_a", -1),): wa * wb * ww, (): wa * wb * wy})
    memory = Posynomial({(("g_a", 1), ("g_b", 1)): wy})
    sides = {n: Variable(n, axis, "group", 1) for n, axis in (("g_a", first), ("g_b", second))}
    whole = kernel("matmul", **MATMUL)
    column = Column((("y", memory),))
    return Traffic(whole, sides, {"all": terms}, frozenset(), (column,), Posynomial({}), ())


@shows("generic-optimum")
def _():
    sizes = dict(a=4096, b=4096, x=64, w=128, y=3)
    found = form(generic(), sizes, 1e5)
    wa, wb, wx, ww, wy = (size(n) for n in "abxwy")
    assert found.exact
    assert same(found.expression(), 2 * wa * wb * sympy.sqrt(wx * ww * wy / M) + wa * wb * wy)
    at = regime(generic(), sizes, 1e5)
    assert at.tiles["g_a"] / at.tiles["g_b"] == pytest.approx(128 / 64)
    t, f, w = size("t"), size("f"), size("d")
    assert same(optimum(read("swiglu", **GATED), GATED).expression(), 2 * t * f * sympy.sqrt(w * 2 * w * 2 / M) + t * f)


@shows("matmul-H")
def _():
    assert same(matmul().transfers.expression(), a * b * c * (1 / g_c + 1 / g_a) + a * c)


@shows("matmul-M")
def _():
    assert same(largest(matmul()), g_a * g_c + g_a * s_b + s_b * g_c)


@shows("matmul-optimum")
def _():
    assert optimum(matmul(), MATMUL).exact
    assert same(optimum(matmul(), MATMUL).expression(), 2 * a * b * c / sympy.sqrt(M) + a * c)
    tiles = regime(matmul(), MATMUL, SMEM_VALUES).tiles
    assert tiles["g_m"] == pytest.approx(math.sqrt(SMEM_VALUES)) == tiles["g_n"]


@shows("matmul-compulsory")
def _():
    assert same(compulsory(matmul()), a * b + b * c + a * c)


@shows("attention-H")
def _():
    assert same(attention().transfers.expression(), 2 * q * d + 2 * x * q * d / g_q)


@shows("attention-M")
def _():
    assert same(largest(attention()), 2 * g_q * d + 2 * s_x * d)
    assert len(attention().beside) == 2  # the running maximum and sum
    assert regime(attention(), ATTENTION, SMEM_VALUES).tiles["g_q"] == pytest.approx(SMEM_VALUES / (2 * 128))


@shows("attention-optimum")
def _():
    assert optimum(attention(), ATTENTION).exact
    assert same(optimum(attention(), ATTENTION).expression(), 2 * q * d + 4 * x * q * d**2 / M)


@shows("grouped")
def _():
    k, g_k = size("k"), tile("g_k")  # as often as there are heads of keys
    assert same(shared().transfers.expression(), k * (2 * q * r * d + 2 * x * q * r * d / (g_q * g_r)))
    assert same(largest(shared()), g_k * (2 * g_q * g_r * d + 2 * s_x * d))
    assert same(optimum(shared(), SHARED).expression(), k * (2 * r * q * d + 4 * r * x * q * d**2 / M))


@shows("multi-head")
def _():
    assert same(heads().transfers.expression(), 2 * q * h * d + 2 * x * q * h * d / g_q)
    assert same(largest(heads()).subs(s_x, 0), 2 * g_q * g_h * d)
    found = optimum(heads(), HEADS)
    assert found.fixed == {"g_h": 1}
    assert same(found.expression(), 2 * h * q * d + 4 * h * x * q * d**2 / M)
    assert same(found.expression(), optimum(shared(), SHARED).expression().subs({r: h, size("k"): 1}))


@shows("decode")
def _():
    one = read("attention", b=16, h=16, q=1, x=8192, d=128)
    assert same(compulsory(one), size("b") * (2 * h * d + 2 * x * h * d))
    few = read("gqa_attention", b=16, k=8, r=4, q=1, x=8192, d=128)
    k = size("k")
    assert same(compulsory(few), size("b") * (2 * (k * r) * d + 2 * x * d * k))


@shows("heads-cost")
def _():
    [_, leading] = optimum(heads(), HEADS).powers
    twice = leading.alpha.subs({h: 2 * h, d: d / 2}, simultaneous=True)
    assert same(leading.alpha.subs(h, 3 * h), 3 * leading.alpha) and same(
        leading.alpha.subs(d, 3 * d), 9 * leading.alpha
    )
    assert same(twice, leading.alpha / 2)


@shows("power-form")
def _():
    wanted = {
        (matmul, "m"): {(a * c, 0), (2 * a * b * c, Fraction(1, 2))},
        (attention, "q"): {(2 * q * d, 0), (4 * x * q * d**2, 1)},
        (heads, "h"): {(2 * h * q * d, 0), (4 * h * x * q * d**2, 1)},
    }
    for (of, _), terms in wanted.items():
        sizes = {"matmul": MATMUL, "attention": ATTENTION, "heads": HEADS}[of.__name__]
        found = {(sympy.expand(p.alpha), p.beta) for p in optimum(of(), sizes).powers}
        assert found == terms


@shows("beta")
def _():
    betas = [max(p.beta for p in optimum(of(), s).powers) for of, s in ((matmul, MATMUL), (attention, ATTENTION))]
    assert betas == [Fraction(1, 2), 1]
    # beta 1: what is sent to every group does not depend on the group; 1/2: both sides of the tile are alike.
    assert "g_q" not in str(sympy.simplify(attention().moved["K"].expression() * g_q))
    tiles = regime(matmul(), MATMUL, SMEM_VALUES).tiles
    assert tiles["g_m"] == pytest.approx(tiles["g_n"])


@shows("compute")
def _():
    assert same(matmul().flops.expression(), 2 * a * b * c)
    assert same(attention().flops.expression(), 4 * q * x * d)


@shows("intensity")
def _():
    ratio = optimum(matmul(), MATMUL).expression() / matmul().flops.expression()
    assert same(ratio, M ** sympy.Rational(-1, 2) + 1 / (2 * b))


def bound(at: Level):
    return threshold(optimum(matmul(), MATMUL), matmul().flops.constant, at, PEAK, MATMUL, 2)


@shows("h100-l2")
def _():
    assert L2.bandwidth / 2 == pytest.approx(1.675e12)
    assert bound(L2).ratio == pytest.approx(1.693e-3, rel=5e-4)
    machine = hardware.load("h100")
    assert machine.flops("float16") == pytest.approx(PEAK, rel=1e-4) and machine.hbm.bandwidth == L2.bandwidth


@shows("h100-681")
def _():
    assert round(bound(L2).memory_bytes / KIB) == 681


@shows("h100-295")
def _():
    assert round(bound(L2).lengths["k"][0]) == 295


@shows("h100-334")
def _():
    assert round(bound(L2).lengths["k"][1]) == 334


@shows("h100-smem")
def _():
    assert SM.bandwidth / 2 == 6.0e12
    assert bound(SM).ratio == pytest.approx(6.064e-3, rel=1e-4)


@shows("h100-53")
def _():
    assert round(bound(SM).memory_bytes / KIB) == 53


@shows("h100-82")
def _():
    assert round(bound(SM).lengths["k"][0]) == 82
    assert set(bound(SM).lengths) == {"k"}, "no other length makes up for little memory"


@shows("h100-151")
def _():
    assert round(bound(SM).lengths["k"][1]) == 151
    assert round(bound(replace(SM, capacity_bytes=228 * KIB)).lengths["k"][1]) == 159


# 3.2 to 3.5


@shows("levels")
def _():
    shape = optimum(attention(), ATTENTION)
    values = {q: 65536, x: 65536, d: 128}
    by_hand = 0.0
    for alpha, beta in ((2 * q * d, 0), (4 * x * q * d**2, 1)):
        by_hand += float(alpha.subs(values)) * sum(
            (at.capacity_bytes / 2) ** -beta / (at.bandwidth / 2) for at in (L2, SM)
        )
    assert over_levels(shape, (L2, SM), ATTENTION, 2) == pytest.approx(by_hand)


@shows("top-level")
def _():
    shape, top = optimum(matmul(), MATMUL), Level("GMEM", 2**80, math.inf)
    assert over_levels(shape, (top, L2, SM), MATMUL, 2) == over_levels(shape, (L2, SM), MATMUL, 2)


@shows("quantised")
def _():
    for of, sizes in ((matmul, MATMUL), (attention, ATTENTION)):
        shape = optimum(of(), sizes)
        for width in (1, 2, 4):
            wanted = sum(
                float(p.alpha.subs({size(n): v for n, v in sizes.items()}))
                * sum(at.capacity_bytes ** -float(p.beta) / at.bandwidth for at in (L2, SM))
                * width ** (1 + float(p.beta))
                for p in shape.powers
            )
            assert over_levels(shape, (L2, SM), sizes, width) == pytest.approx(wanted)


@shows("halving")
def _():
    assert quantised(Fraction(1)) == 4 and quantised(Fraction(0)) == 2
    assert quantised(Fraction(1, 2)) == pytest.approx(2.83, abs=0.005)
    for of, sizes, gain in ((matmul, MATMUL, 2.83), (attention, ATTENTION, 4)):
        main = replace(optimum(of(), sizes), powers=optimum(of(), sizes).powers[1:])
        assert over_levels(main, (SM,), sizes, 2) / over_levels(main, (SM,), sizes, 1) == pytest.approx(gain, abs=0.005)


@shows("caching")
def _():
    shape = optimum(matmul(), MATMUL)
    sizes = dict(m=65536, n=65536, k=65536)  # large enough that the cache binds
    cached = replace(L2, capacity_bytes=int(effective(L2, SM)))
    assert moved(matmul(), cached, sizes, 2).values == pytest.approx(shape.value(sizes, 132 * 256 * KIB / 2))


@shows("caching-condition")
def _():
    for of, names, sizes in ((matmul, ("g_m", "g_n"), MATMUL), (attention, ("g_q",), ATTENTION)):
        long = {n: s * 4096 for n, s in sizes.items() if n in "mnkqx"} | {"d": 128}
        below = regime(of(), long, SM.capacity_bytes / 2).tiles
        above = regime(of(), long, effective(L2, SM) / 2).tiles
        groups = math.prod(above[n] / below[n] for n in names)
        assert groups == pytest.approx(132)


@shows("caching-33")
def _():
    assert effective(L2, SM) / 2**20 == 33 and L2.capacity_bytes / 2**20 == 50


@shows("cluster")
def _():
    shape, values = optimum(attention(), ATTENTION), SMEM_VALUES
    for group in CLUSTERS:
        above, among = group.from_above / 2, group.among / 2
        wanted = (1 / above - 1 / among) * shape.value(ATTENTION, group.cores * values) + shape.value(
            ATTENTION, values
        ) / among
        assert clustered(shape, group, ATTENTION, values, 2) == pytest.approx(wanted)


@shows("cluster-saving")
def _():
    for of, sizes in ((matmul, MATMUL), (attention, ATTENTION)):
        shape = optimum(of(), sizes)
        for group in CLUSTERS:
            alone = shape.value(sizes, SMEM_VALUES) / (group.from_above / 2)
            gained = alone - clustered(shape, group, sizes, SMEM_VALUES, 2)
            wanted = (2 / group.from_above - 2 / group.among) * sum(
                float(p.alpha.subs({size(n): v for n, v in sizes.items()}))
                * SMEM_VALUES ** -float(p.beta)
                * (1 - group.cores ** -float(p.beta))
                for p in shape.powers
            )
            assert gained == pytest.approx(wanted)


@shows("cluster-rates")
def _():
    assert [(g.cores, g.among, g.from_above) for g in CLUSTERS] == [(2, 3.27e12, 2.04e12), (4, 2.65e12, 2.04e12)]


def savings(of: Traffic, sizes: dict[str, int]) -> list[float]:
    beta = max(p.beta for p in optimum(of, sizes).powers)
    return [round(100 * saving(group, beta), 1) for group in CLUSTERS]


@shows("cluster-attention")
def _():
    assert savings(attention(), ATTENTION) == [18.8, 17.3]
    assert best_cluster(optimum(attention(), ATTENTION), ATTENTION, SMEM_VALUES, 2).cores == 2


@shows("cluster-matmul")
def _():
    assert savings(matmul(), MATMUL) == [11.0, 11.5]
    assert best_cluster(optimum(matmul(), MATMUL), MATMUL, SMEM_VALUES, 2).cores == 4


# 4: section 5 of the paper

TYPES = {"Q": "float8", "K": "float8", "V": "float16"}


@cache
def config(types: tuple[tuple[str, str], ...] = tuple(TYPES.items()), work: str = "float16", stream: int = 64):
    found = configured(
        kernel("attention", **ATTENTION),
        hardware.load("h100"),
        ATTENTION,
        dict(types),
        work,
        {"q": 128, "x": stream, "d": 128},
        (32, 8),
    )
    assert found is not None
    return found


FP16 = (("Q", "float16"), ("K", "float16"), ("V", "float16"))
FP8 = (("Q", "float8"), ("K", "float8"), ("V", "float8"))


def unit(name: str):
    [row] = [row for row in config().rows if row.name == name]
    return row.operations, row.per_clock, row.clocks


@shows("expand")
def _():
    text = emit(made("attention", **ATTENTION).plan, "pseudocode")
    assert "throughout" in text and "for each block of x" in text and "store out" in text
    for name in ("max_x", "sum_x", "exp_t"):
        assert f"{name}[" in text and any(v.name == name for v in config().inner.variables)


@shows("subloops")
def _():
    assert config().tiles["x__s"] == 64 and config().pieces == (32, 8)


@shows("recolour")
def _():
    assert config().tiles["q"] == 128 and {row.unit for row in config().rows} == {"tensor", "special", "arithmetic"}
    for variable_ in config().inner.variables:
        if variable_.name in ("dot_d", "exp_t2"):  # out of the matrix unit and into it
            assert variable_.levels == (SMEM, REGISTERS)


def divisor(axis: str, **given):
    [found] = [d for d in config(**given).divisors if d.axis == axis]
    return found


@shows("divisor-w")
def _():
    assert divisor("q").value == 128


@shows("divisor-s")
def _():
    assert divisor("x__s", types=FP8, work="float8").value == 32
    assert divisor("x__s").value == 16  # what table 1's types give


@shows("divisor-u")
def _():
    assert 8 in [n for n, why in divisor("x__s").reasons if "columns" in why]


@shows("divisor-d")
def _():
    assert divisor("d").value == 128


@shows("divisor-d1")
def _():
    assert 16 in [n for n, why in divisor("d", types=FP16).reasons if "depth" in why]


@shows("instructions")
def _():
    hopper, ampere = hardware.load("h100"), hardware.load("a100")
    assert [depth(hopper, kind) for kind in ("float8", "float16")] == [32, 16]
    assert hopper.divisors.mma_m == 64 and hopper.divisors.coalesced_bytes == 128
    assert (ampere.divisors.mma_m, ampere.divisors.mma_n, ampere.divisors.mma_k) == (16, 8, 16)
    transactions = [n for n, why in divisor("d").reasons if "at once" in why]
    assert transactions == [128, 128, 64]  # Q and K in one byte, V in two


@shows("lcm")
def _():
    for found in config().divisors:
        assert all(found.value % number == 0 for number, _ in found.reasons)
        assert found.value == math.lcm(*(number for number, _ in found.reasons))


@shows("variables")
def _():
    rows = {v.name: v for v in config().inner.variables}
    wanted = {
        "Q": ("q", "d", "float8"),
        "K": ("x__s", "d", "float8"),
        "V": ("x__s", "d", "float16"),
        "dot_d": ("q", "x__s", "float16"),
    }
    for name, (one, other, kind) in wanted.items():
        assert [c for c in rows[name].coords if config().tiles[c] > 1] == [one, other]
        assert rows[name].dtype == kind
        assert (SMEM if name in "QKV" else REGISTERS) in rows[name].levels


@shows("config-smem")
def _():
    found = config()
    assert (found.smem_block, found.smem_group) == (48 * KIB, 48 * KIB)
    assert math.floor(10 * found.slots[0]) / 10 == 3.7
    assert found.hardware.smem.block_bytes == 227 * KIB and found.hardware.smem.sm_bytes == 228 * KIB


@shows("config-registers")
def _():
    found = config()
    assert found.registers_thread == 598 and found.registers_thread / 4 == 149.5
    assert found.registers_thread * 128 / KIB == 74.75
    assert math.floor(10 * found.slots[1]) / 10 == 3.4


@shows("config-warpgroups")
def _():
    found = config()
    assert found.slots[0] == pytest.approx((227 - 48) / 48) and found.slots[1] == pytest.approx(256 / 74.75)
    assert found.warpgroups == 3 and found.group == 384


@shows("clk-qk")
def _():
    assert unit("dot_d") == (16384, 8192, 2)


@shows("clk-exp")
def _():
    operations, rate, clocks = unit("special functions")
    assert (operations, rate, round(clocks, 2)) == (65, 16, 4.06)


@shows("clk-pv")
def _():
    assert unit("dot_x") == (16384, 4096, 4)


@shows("clk-acc")
def _():
    assert unit("rescale, accumulate") == (256, 512, 0.5)


@shows("clk-tensor")
def _():
    assert config().clocks("tensor") == 6 and config().binding == "tensor"


@shows("bandwidth")
def _():
    found = config()
    assert found.streamed == 24 * KIB
    assert round(found.memory_seconds * 1e6, 2) == 0.97 and round(found.compute_seconds * 1e6, 2) == 1.26


@shows("bandwidth-295")
def _():
    assert math.floor(config().least_group) == 295


@shows("ideal")
def _():
    found = config()
    assert found.ideal == pytest.approx(1.32e15, rel=1e-3)
    machine = found.hardware
    assert found.ideal == pytest.approx(harmonic([machine.flops("float8"), machine.flops("float16")]))
    assert found.ideal == pytest.approx(4 * 384 * 64 * 128 * 132 / 1.259e-6, rel=1e-3)


@shows("slack")
def _():
    found = config()
    assert round(3 * found.clocks("special"), 1) == 12.2 and 3 * found.clocks("tensor") == 18
    assert round(found.slack, 2) == 1.48


@shows("ampere-8")
def _():
    limits = hardware.load("a100").limits
    assert limits.registers_per_sm // (limits.registers_per_thread * 32) == 8
    assert limits.registers_per_sm // (13 * 32) == 157


OVERHEAD = 5 / 3
LONG = 65536  # of the stream at a time: the limit in which the rescale's own exponential vanishes


@shows("fa3-fp16")
def _():
    found = config(types=FP16)
    assert found.clocks("tensor") == 8 and round(found.clocks("special"), 2) == 4.06
    assert round(config(types=FP16, stream=LONG).overlap(OVERHEAD, within=True), 3) == 0.75 == round(740 / 989, 2)
    assert round(found.overlap(OVERHEAD, within=True), 3) == 0.743


@shows("fa3-inter")
def _():
    found = config(types=FP16)
    assert found.overlap(within=False) == 1 and round(found.slack, 1) == 2.0  # the other half is slack
    assert found.overlap(OVERHEAD, within=False) == 1


@shows("fa3-fp8")
def _():
    found = config(types=FP8, work="float8")
    assert found.clocks("tensor") == 4 and round(found.clocks("special"), 2) == 4.06
    assert round(config(types=FP8, work="float8", stream=LONG).overlap(OVERHEAD, within=False), 3) == 0.6
    assert round(1.2 / 1.98, 1) == 0.6
    assert round(found.overlap(OVERHEAD, within=False), 3) == 0.591


@shows("fa3-intra-fp8")
def _():
    share = config(types=FP8, work="float8", stream=LONG).overlap(within=True)
    assert share == pytest.approx(4 / 6, rel=1e-3) and 1 - share >= 0.33


@shows("hypothesis-b")
def _():
    halves = config(types=FP16, stream=LONG).overlap(OVERHEAD, within=True)
    bytes_ = config(types=FP8, work="float8", stream=LONG).overlap(OVERHEAD, within=False)
    assert (round(halves, 2), round(bytes_, 2)) == (0.75, 0.6)
    assert round(config(types=FP16, stream=LONG).overlap(1.2, within=True), 2) != 0.75  # another overhead does not


@shows("hypothesis-c")
def _():
    assert config(types=FP8, work="float8").binding == "special" and config(types=FP16).binding == "tensor"


def test_the_levels_have_names():
    assert level(hardware.load("h100"), "smem").cores == 132
