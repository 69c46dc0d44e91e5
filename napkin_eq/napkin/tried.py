"""The least transfers of a kernel by trying: sizes that tiles may have, and steps that get ever smaller."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from napkin_eq.napkin.optimum import streams
from napkin_eq.napkin.posynomial import Monomial, Posynomial, number
from napkin_eq.napkin.traffic import Traffic

MOST_TILES = 12_000  # choices of whole tiles that are tried
EDGE, SHARPEST, MOST_STEPS, SETTLED = 1e-6, 1e9, 60, 1e-12  # of Newton's method: where it begins, and where it ends


def whole_tiles(
    read: Traffic, sizes: Mapping[str, int], memory: float, least: int = 1
) -> tuple[float, dict[str, int]] | None:
    """Return the least transfers with groups of 2^n or 3 * 2^n, or a whole axis, and streams of `least`; None where
    nothing fits.
    """
    names = [n for n in read.variables if n not in streams(read)]
    given = {n: min(least, sizes[read.variables[n].axis.name]) for n in streams(read)}
    choices = [_powers_of_two(sizes[read.variables[n].axis.name]) for n in names]
    while math.prod(map(len, choices)) > MOST_TILES and max(map(len, choices)) > 2:
        most = max(map(len, choices))
        choices = [[*c[:-1:2], c[-1]] if len(c) == most else c for c in choices]
    transfers, columns = _numbers(read.transfers, sizes), [_numbers(c.memory, sizes) for c in read.columns]
    best: tuple[float, dict[str, int]] | None = None
    for chosen in itertools.islice(itertools.product(*choices), MOST_TILES):
        tiles = {**given, **dict(zip(names, chosen, strict=True))}
        if any(_sum(c, tiles) > memory for c in columns):
            continue
        value = _sum(transfers, tiles)
        if best is None or value < best[0]:
            best = value, tiles
    return best


def refined(
    read: Traffic, sizes: Mapping[str, int], memory: float, start: Mapping[str, float]
) -> tuple[float, dict[str, float]]:
    """Return the least transfers over all group sizes, whole or not, and the sizes; `start` where nothing beats it.

    In the logarithms of the sizes transfers and memory are convex: Newton's method finds the least, a barrier keeps it
    within the memory and the axes. Streams that cost nothing go to 0.
    """
    import numpy

    gone = streams(read)
    names = [n for n in read.variables if n not in gone and sizes[read.variables[n].axis.name] > 1]
    transfers = _numbers(read.transfers, sizes)
    columns = [_numbers(c.memory.without(gone), sizes) for c in read.columns]
    tiles = {n: float(start[n]) for n in read.variables if n not in gone} | dict.fromkeys(gone, 0.0)
    best = _sum(transfers, tiles)
    if not names or not transfers:
        return best, tiles
    top = numpy.log([sizes[read.variables[n].axis.name] for n in names])
    goal = _logarithms(transfers, names)
    limits = [_logarithms(c, names) for c in columns if c]
    y, weight = top * EDGE, 1.0
    if any(_curve(limit, y)[0] >= math.log(memory) for limit in limits):
        return best, tiles
    while weight < SHARPEST:
        for _ in range(MOST_STEPS):
            slope, bend = (weight * part for part in _curve(goal, y)[1:])
            for limit in limits:
                value, rise, curve = _curve(limit, y)
                room = math.log(memory) - value
                slope, bend = slope + rise / room, bend + curve / room + numpy.outer(rise, rise) / room**2
            slope = slope - 1 / y + 1 / (top - y)
            bend = bend + numpy.diag(1 / y**2 + 1 / (top - y) ** 2)
            scale = 1 / numpy.sqrt(numpy.diag(bend))
            step = scale * numpy.linalg.lstsq(bend * numpy.outer(scale, scale), -slope * scale, rcond=None)[0]
            if -slope @ step < SETTLED:
                break
            length = 1.0
            while not _inside(y + length * step, top, limits, memory) and length > SETTLED:
                length /= 2
            y = y + 0.9 * length * step
        weight *= 8
    found = tiles | dict(zip(names, map(float, numpy.exp(y)), strict=True))
    value = _sum(transfers, found)
    return (value, found) if value < best else (best, tiles)


def _logarithms(terms: Sequence[tuple[float, Monomial]], names: Sequence[str]) -> tuple[Any, Any]:
    """Return the logarithms of coefficients, and the exponents, of a sum of monomials."""
    import numpy

    exponents = [[dict(powers).get(n, 0) for n in names] for _, powers in terms]
    return numpy.log([value for value, _ in terms]), numpy.array(exponents, dtype=float)


def _curve(of: tuple[Any, Any], y: Any) -> tuple[float, Any, Any]:
    """Return the logarithm of a sum of monomials at exp(y), its gradient and its second derivatives."""
    import numpy

    values = of[0] + of[1] @ y
    most = values.max()
    shares = numpy.exp(values - most)
    sum_of = shares.sum()
    shares /= sum_of
    slope = of[1].T @ shares
    return float(most + math.log(sum_of)), slope, (of[1].T * shares) @ of[1] - numpy.outer(slope, slope)


def _inside(y: Any, top: Any, limits: Sequence[tuple[Any, Any]], memory: float) -> bool:
    return bool((y > 0).all() and (y < top).all()) and all(_curve(limit, y)[0] < math.log(memory) for limit in limits)


def least_memory(read: Traffic, sizes: Mapping[str, int]) -> float:
    """Return the values that the smallest tiles hold."""
    return max((c.memory.value(sizes, dict.fromkeys(read.variables, 1.0)) for c in read.columns), default=0.0)


def _powers_of_two(size: int) -> list[int]:
    return sorted({n << e for e in range(size.bit_length()) for n in (1, 3) if n << e < size} | {size})


def _numbers(of: Posynomial, sizes: Mapping[str, int]) -> list[tuple[float, Monomial]]:
    return [(number(c, sizes), m) for m, c in of.terms.items()]


def _sum(terms: Sequence[tuple[float, Monomial]], tiles: Mapping[str, float]) -> float:
    found = 0.0
    for value, powers in terms:
        for name, power in powers:
            value *= tiles[name] ** power
        found += value
    return found
