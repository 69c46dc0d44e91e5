"""Levels of memory: what each moves at the least and how long that takes, bytes a value, caches between, and clusters
of cores.

Times add up over levels, since groups nest and each level can be tiled at its own optimum:

    H* = sum over levels of H*(a, M_l) / rate_l,  M_l = bytes_l / q,  rate_l = bytes a second_l / q
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from napkin_eq.lang.axis import LARGEST
from napkin_eq.lang.errors import NapkinError
from napkin_eq.machine.gpu import Hardware
from napkin_eq.napkin.optimum import Form, Regime, compulsory, form, regime
from napkin_eq.napkin.posynomial import number, variable
from napkin_eq.napkin.traffic import Traffic
from napkin_eq.napkin.tried import least_memory, refined, whole_tiles

CLOSED = 1e-4  # a closed form is taken where a search finds nothing that is better by more


@dataclass(frozen=True)
class Level:
    """A level of memory: `capacity_bytes` of one of its cores, `bandwidth` into all of them together, bytes a
    second, and how many there are.
    """

    name: str
    capacity_bytes: int
    bandwidth: float
    cores: int = 1


def levels_of(hardware: Hardware) -> tuple[Level, ...]:
    """Return the levels below the top one: the cache that all processors share, and the memory of each."""
    return (
        Level("L2", hardware.l2.capacity_bytes, hardware.hbm.bandwidth),
        Level("SMEM", hardware.smem.sm_bytes, hardware.l2.bandwidth, hardware.chip.sms),
    )


def level(hardware: Hardware, name: str) -> Level:
    """Return a level by its name, in any case; raises NapkinError for another name."""
    found = {each.name.lower(): each for each in levels_of(hardware)}
    if name.lower() not in found:
        raise NapkinError(f"unknown level {name!r:.40}; one of {', '.join(sorted(found))}")
    return found[name.lower()]


@dataclass(frozen=True)
class Moved:
    """What a kernel moves into a level at given sizes.

    values: the least transfers; bound: what no groups go below; tiles: group sizes that reach the first, or,
    `whole`, powers of two that come near. None where the level does not hold the smallest tiles.
    """

    level: Level
    memory: float
    values: float | None
    bound: float
    tiles: Mapping[str, float]
    found: Regime | None
    whole: tuple[float, Mapping[str, int]] | None
    least: float

    def seconds(self, bytes_each: int) -> float:
        """Return the time of the least transfers at the peak rate; of the bound where nothing fits."""
        return (self.bound if self.values is None else self.values) * bytes_each / self.level.bandwidth


def moved(read: Traffic, at: Level, sizes: Mapping[str, int], bytes_each: int, least_stream: int = 16) -> Moved:
    """Return what a kernel moves into a level at given sizes, values of so many bytes."""
    memory = at.capacity_bytes / bytes_each
    least, tiles = least_memory(read, sizes), whole_tiles(read, sizes, memory, least_stream)
    bound = max(form(read, sizes, memory).value(sizes, memory), number(compulsory(read), sizes))
    if tiles is None:
        return Moved(at, memory, None, bound, {}, None, None, least)
    near, chosen = refined(read, sizes, memory, tiles[1])
    found = regime(read, sizes, memory)
    if found is not None and found.transfers <= near * (1 + CLOSED):
        return Moved(at, memory, found.transfers, min(bound, found.transfers), found.tiles, found, tiles, least)
    return Moved(at, memory, near, min(bound, near), chosen, None, tiles, least)


def over_levels(shape: Form, levels: Sequence[Level], sizes: Mapping[str, int], bytes_each: int) -> float:
    """Return the seconds of a power form over levels, each at its own optimum: sum of alpha M^-beta / rate."""
    return sum(shape.value(sizes, at.capacity_bytes / bytes_each) * bytes_each / at.bandwidth for at in levels)


def quantised(beta: Fraction) -> float:
    """Return by what halving the bytes of a value divides a term of the power form: 2^(1 + beta)."""
    return float(2 ** (1 + beta))


def effective(of: Level, children: Level) -> float:
    """Return the bytes that a cache between levels is worth: outputs stay in its children, so it holds no more than
    they do together.
    """
    return min(of.capacity_bytes, children.capacity_bytes * children.cores)


@dataclass(frozen=True)
class Cluster:
    """Cores that hand each other what one was sent: how many, the rate among them and the rate from the level above,
    bytes a second.
    """

    cores: int
    among: float
    from_above: float


# Measured on an H800 (Luo et al., arXiv 2402.13499): distributed shared memory of thread-block clusters, and plain
# transfers to shared memory.
CLUSTERS = (Cluster(2, 3.27e12, 2.04e12), Cluster(4, 2.65e12, 2.04e12))
CLUSTER_ARCHS = ("sm_90", "sm_90a", "sm_100", "sm_120")  # GPUs that have clusters


def saving(cluster: Cluster, beta: Fraction) -> float:
    """Return the share of a term alpha M^-beta's time that a cluster saves: (1 - above / among) (1 - N^-beta)."""
    return (1 - cluster.from_above / cluster.among) * (1 - math.pow(cluster.cores, -float(beta)))


def clustered(shape: Form, cluster: Cluster, sizes: Mapping[str, int], memory: float, bytes_each: int) -> float:
    """Return the seconds into cores of so many values each when clusters pass on what one core was sent."""
    above, among = cluster.from_above / bytes_each, cluster.among / bytes_each
    passed, sent = shape.value(sizes, memory), shape.value(sizes, cluster.cores * memory)
    return (1 / above - 1 / among) * sent + passed / among


def best_cluster(shape: Form, sizes: Mapping[str, int], memory: float, bytes_each: int) -> Cluster:
    """Return the cluster whose transfers take the least time."""
    return min(CLUSTERS, key=lambda c: clustered(shape, c, sizes, memory, bytes_each))


@dataclass(frozen=True)
class Threshold:
    """Where a level keeps the matrix unit busy: `ratio` transfers a FLOP at the most; the memory that this takes with
    streams without end, in bytes.

    lengths: for each axis that can make up for it, the size from which on it does, with memory without end and with
    the level's own; None: no size.
    """

    level: Level
    ratio: float
    memory_bytes: float | None
    lengths: Mapping[str, tuple[float, float | None]]


def threshold(shape: Form, flops: Any, at: Level, rate: float, sizes: Mapping[str, int], bytes_each: int) -> Threshold:
    """Return where transfers into a level are no slower than `rate` FLOP a second: H*/K <= (values a second) / (FLOP
    a second).
    """
    import sympy

    ratio = at.bandwidth / bytes_each / rate
    fixed = sum((p.alpha for p in shape.powers if p.beta == 0), sympy.Integer(0))
    rest = [p for p in shape.powers if p.beta]
    # Streams without end: an axis along which the compulsory term of H*/K vanishes leaves the terms that memory
    # divides.
    memory = None
    if len(rest) == 1:
        memory = (number(rest[0].alpha / flops, sizes) / ratio) ** float(1 / rest[0].beta) * bytes_each
    lengths: dict[str, tuple[float, float | None]] = {}
    for symbol in sorted(sympy.sympify(flops).free_symbols, key=str):
        own = shape.expression() / flops
        free = _length(fixed / flops, symbol, ratio, sizes, math.inf)
        if free is not None and free > 1:
            lengths[str(symbol)] = free, _length(own, symbol, ratio, sizes, at.capacity_bytes / bytes_each)
    return Threshold(at, ratio, memory, lengths)


def _length(intensity: Any, symbol: Any, ratio: float, sizes: Mapping[str, int], memory: float) -> float | None:
    """Return the least length of an axis at which transfers a FLOP fall to a ratio, None where no length makes them."""
    import sympy

    known: dict[Any, Any] = {
        sympy.Symbol(name, positive=True, integer=True): size for name, size in sizes.items() if name != str(symbol)
    }
    if math.isfinite(memory):
        known[variable("M")] = memory
    per_flop = sympy.lambdify(symbol, sympy.sympify(intensity).subs(known), "math")
    low, high = 1.0, float(LARGEST)
    if not per_flop(high) < ratio:
        return None
    if per_flop(low) <= ratio:
        return low
    while high / low > 1 + 1e-9:  # transfers a FLOP fall with the length, or do not depend on it
        middle = math.sqrt(low * high)
        low, high = (middle, high) if per_flop(middle) > ratio else (low, middle)
    return high
