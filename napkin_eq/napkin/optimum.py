"""The least transfers of a kernel with its memory kept to, in closed form.

H = c0 + sum of c_i g^a_i is to be least with sum of m_j g^b_j <= M, both posynomials. For weights d_i that add up to 1
and w_j with sum d_i a_i + sum w_j b_j = 0, the inequality of arithmetic and geometric means gives, for every g that
keeps to M and with W = sum of w_j,

    H >= c0 + (prod (c_i / d_i)^d_i) (prod (m_j / w_j)^w_j) W^W M^-W

So the exponent of the memory is beta = W. Where the weights are the only ones, the bound is reached: at the g where
c_i g^a_i and m_j g^b_j stand to each other as the weights. What the constraint holds of streams alone goes to
nothing with their size, and is left out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from napkin_eq.napkin.posynomial import Monomial, Posynomial, number, variable
from napkin_eq.napkin.traffic import Traffic

FITS = 1 + 1e-9
MOST_FREE, MOST_WEIGHED = 4, 14  # variables whose ends are tried, and terms among which weights are sought


@dataclass(frozen=True)
class Power:
    """A term alpha M^-beta of the power form; alpha is an expression in axis sizes."""

    alpha: Any
    beta: Fraction

    def expression(self) -> Any:
        """Return the term as a SymPy expression."""
        import sympy

        return self.alpha * variable("M") ** -sympy.Rational(self.beta.numerator, self.beta.denominator)


@dataclass(frozen=True)
class Form:
    """H*(a, M), a sum of powers of M, or of what of M is left beside `reserve` values that lie there whatever the
    groups.

    exact: some group sizes reach it; else it is a bound. equations: what holds of the group sizes there. fixed:
    variables at an end of their range.
    """

    powers: tuple[Power, ...]
    exact: bool
    reserve: Any = 0
    equations: tuple[tuple[Any, Any], ...] = ()
    fixed: Mapping[str, Any] | None = None

    def expression(self) -> Any:
        """Return H*(a, M) as a SymPy expression."""
        import sympy

        return sympy.Add(*(power.expression() for power in self.powers)).subs(
            variable("M"), variable("M") - self.reserve
        )

    def value(self, sizes: Mapping[str, int], memory: float) -> float:
        """Return H* in values, for axis sizes and so many values of memory; infinite where the memory does not hold
        what lies there anyway.
        """
        left = memory - number(self.reserve, sizes)
        return sum(number(p.alpha, sizes) * left ** -float(p.beta) for p in self.powers) if left > 0 else math.inf


@dataclass(frozen=True)
class Regime:
    """The optimum at given sizes and memory: H in values, the group sizes, its form, and which variables stand at an
    end of their range.
    """

    transfers: float
    tiles: Mapping[str, float]
    form: Form
    least: tuple[str, ...]
    whole: tuple[str, ...]


def form(read: Traffic, sizes: Mapping[str, int], memory: float) -> Form:
    """Return H*(a, M) where every axis is long and the memory binds: the paper's formula.

    Where nothing closed reaches the optimum, the best bound at these sizes, with so many values of memory.
    """
    fixed = ends(read)
    found = _forms(read, fixed)
    reached = [f for f in found if f.exact and _held(read, _tiles(read, f, fixed, sizes, memory), sizes, memory)]
    if not reached:
        found = [replace(f, exact=False, equations=()) for f in (*found, *_forms(read, fixed, slack=True))]
    return max(reached or found, key=lambda f: value if math.isfinite(value := f.value(sizes, memory)) else 0.0)


def _held(read: Traffic, tiles: Mapping[str, float] | None, sizes: Mapping[str, int], memory: float) -> bool:
    """Whether every column, streams left out, keeps to the memory."""
    if tiles is None:
        return True
    return all(c.memory.without(streams(read)).value(sizes, tiles) <= memory * FITS for c in read.columns)


def compulsory(read: Traffic) -> Any:
    """Return the transfers with memory without end, as an expression: every group is its whole axis."""
    return read.transfers.at({v.name: _size(read, v.name) for v in read.variables.values()}).constant


def ends(read: Traffic) -> dict[str, Any]:
    """Return the variables that only cost memory, with 1, and those that cost none, with their axis' size."""
    import sympy

    transfers, fixed = read.transfers.varying, dict[str, Any]()
    columns = [c.memory for c in read.columns]
    for name, found in read.variables.items():
        powers = transfers.powers(name)
        if all(e >= 0 for e in powers) and found.role == "group":
            fixed[name] = sympy.Integer(1)
        elif any(e < 0 for e in powers) and all(e <= 0 for c in columns for e in c.powers(name)):
            fixed[name] = _size(read, name)
    return fixed


def streams(read: Traffic) -> tuple[str, ...]:
    """Return the streams that no transfers depend on: their size may go to nothing."""
    return tuple(
        n for n, v in read.variables.items() if v.role != "group" and all(e >= 0 for e in read.transfers.powers(n))
    )


def regime(read: Traffic, sizes: Mapping[str, int], memory: float) -> Regime | None:
    """Return the least transfers at given sizes with so many values of memory, None where no group sizes fit or
    there is no closed form of them.
    """
    base = ends(read)
    free = [n for n in read.variables if n not in base and n not in streams(read)]
    if len(free) > MOST_FREE:
        return None
    best: Regime | None = None
    for ending in itertools.product((None, "least", "whole"), repeat=len(free)):
        import sympy

        fixed = base | {
            n: sympy.Integer(1) if e == "least" else _size(read, n) for n, e in zip(free, ending, strict=True) if e
        }
        for found in _forms(read, fixed, reached=True):
            tiles = _tiles(read, found, fixed, sizes, memory) if found.exact else None
            if tiles is None or not _keeps(read, tiles, sizes, memory):
                continue
            value = read.transfers.value(sizes, {**dict.fromkeys(read.variables, 1.0), **tiles})
            if best is None or value < best.transfers * (1 - 1e-12):
                marked = dict(zip(free, ending, strict=True))
                best = Regime(
                    value,
                    tiles,
                    found,
                    tuple(n for n in free if marked[n] == "least"),
                    tuple(n for n in free if marked[n] == "whole"),
                )
    return best


def _size(read: Traffic, name: str) -> Any:
    from napkin_eq.napkin.posynomial import size

    return size(read.variables[name].axis)


def _forms(read: Traffic, fixed: Mapping[str, Any], *, slack: bool = False, reached: bool = False) -> list[Form]:
    """Return the power forms with some variables fixed, for each column of memory that may bind.

    slack: bounds that use that no group is smaller than one element, too. reached: only forms that some groups reach.
    """
    transfers = read.transfers.at(fixed)
    rest, constant = transfers.varying, Power(transfers.constant, Fraction(0))
    own = (constant,) if constant.alpha != 0 else ()
    if not rest.terms:
        return [Form(own, True, 0, (), fixed)]
    found: list[Form] = []
    for column in read.columns:
        held = column.memory.without(streams(read)).at(fixed)
        for weights, only in _weights(rest, held.varying, slack=slack):
            if reached and not (only and all(weights[1])):
                continue
            found.append(_form(rest, held, weights, only, own, fixed))
    return found or [Form(own, False, 0, (), fixed)]


Weights = tuple[list[Fraction], list[Fraction]]


def _weights(transfers: Posynomial, memory: Posynomial, *, slack: bool) -> Iterator[tuple[Weights, bool]]:
    """Yield weights of the terms of both that no other weights lie between, and whether they are the only ones."""
    terms, held = list(transfers.terms), list(memory.terms)
    names = sorted({*transfers.variables, *memory.variables})
    columns = [
        [Fraction(dict(m).get(n, 0)) for n in names] + [Fraction(at < len(terms))]
        for at, m in enumerate((*terms, *held))
    ]
    if slack:  # g >= 1, that is g^-1 <= 1, has a weight, too, and costs nothing
        columns += [[Fraction(-(n == name)) for n in names] + [Fraction(0)] for name in names]
    if len(columns) > MOST_WEIGHED:
        return
    target = [Fraction(0)] * len(names) + [Fraction(1)]
    seen: dict[tuple[Fraction, ...], None] = {}
    for count in range(1, min(len(columns), len(target)) + 1):
        for chosen in itertools.combinations(range(len(columns)), count):
            solved = _solved([columns[i] for i in chosen], target)
            if solved is not None and all(w > 0 for w in solved):
                whole = [Fraction(0)] * len(columns)
                for at, weight in zip(chosen, solved, strict=True):
                    whole[at] = weight
                seen.setdefault(tuple(whole[: len(terms) + len(held)]))
    for weights in seen:
        yield (list(weights[: len(terms)]), list(weights[len(terms) :])), len(seen) == 1 and all(weights[: len(terms)])


def _solved(columns: Sequence[Sequence[Fraction]], target: Sequence[Fraction]) -> list[Fraction] | None:
    """Return the one solution of a linear system given by its columns, None where there is none, or more."""
    rows = [[column[at] for column in columns] + [target[at]] for at in range(len(target))]
    width, done = len(columns), 0
    for at in range(width):
        pivot = next((r for r in range(done, len(rows)) if rows[r][at]), None)
        if pivot is None:
            return None
        rows[done], rows[pivot] = rows[pivot], rows[done]
        rows[done] = [value / rows[done][at] for value in rows[done]]
        for other in range(len(rows)):
            if other != done and rows[other][at]:
                rows[other] = [a - rows[other][at] * b for a, b in zip(rows[other], rows[done], strict=True)]
        done += 1
    return None if any(row[width] for row in rows[done:]) else [rows[at][width] for at in range(width)]


def _form(
    transfers: Posynomial,
    held: Posynomial,
    weights: Weights,
    only: bool,
    own: tuple[Power, ...],
    fixed: Mapping[str, Any],
) -> Form:
    import sympy

    memory, reserve = held.varying, held.constant

    of_transfers, of_memory = ([sympy.Rational(w.numerator, w.denominator) for w in side] for side in weights)
    every = sum(of_memory, sympy.Integer(0))
    alpha = every**every if every else sympy.Integer(1)
    for coefficient, weight in (
        (c, w)
        for part, ws in ((transfers, of_transfers), (memory, of_memory))
        for c, w in zip(part.terms.values(), ws, strict=True)
    ):
        alpha *= (coefficient / weight) ** weight if weight else 1
    alpha = sympy.powsimp(sympy.expand_power_base(alpha, force=True), combine="exp")
    beta = sum(weights[1], Fraction(0))
    exact = only and all(weights[1])
    equations: list[tuple[Any, Any]] = []
    if exact:
        rest = alpha * (variable("M") - reserve) ** -sympy.Rational(beta.numerator, beta.denominator)
        if every:
            equations += [
                (_term(m, c), w / every * (variable("M") - reserve))
                for (m, c), w in zip(memory.terms.items(), of_memory, strict=True)
            ]
        equations += [(_term(m, c), w * rest) for (m, c), w in zip(transfers.terms.items(), of_transfers, strict=True)]
    powers = (
        (*own, Power(alpha, beta)) if beta else (Power(sum((p.alpha for p in own), sympy.Integer(0)) + alpha, beta),)
    )
    return Form(powers, exact, reserve if beta else 0, tuple(equations), fixed)


def _term(powers: Monomial, coefficient: Any) -> Any:
    return coefficient * math.prod(variable(n) ** e for n, e in powers)


def _tiles(
    read: Traffic, found: Form, fixed: Mapping[str, Any], sizes: Mapping[str, int], memory: float
) -> dict[str, float] | None:
    """Solve the equations of a form for the group sizes, where they have one solution; products that stand alone are
    shared out evenly.
    """
    import numpy
    import sympy

    names = [n for n in read.variables if n not in fixed and n not in streams(read)]
    tiles = {n: number(e, sizes) for n, e in fixed.items()} | dict.fromkeys(streams(read), 0.0)
    if not names:
        return tiles
    rows, values = [], []
    for left, right in found.equations:
        powers = left.as_powers_dict()
        rows.append([float(powers.get(variable(n), sympy.Integer(0))) for n in names])
        plain = left / sympy.Mul(*(variable(n) ** powers.get(variable(n), 0) for n in names))
        wanted = number(right, sizes, memory)
        if not wanted > 0:
            return None
        values.append(math.log(wanted / number(plain, sizes)))
    if not rows:
        return None
    solution, _, rank, _ = numpy.linalg.lstsq(numpy.array(rows), numpy.array(values), rcond=None)
    return tiles | dict(zip(names, map(float, numpy.exp(solution)), strict=True))


def _keeps(read: Traffic, tiles: Mapping[str, float], sizes: Mapping[str, int], memory: float) -> bool:
    """Whether group sizes lie within their axes and what a group holds, streams left out, within the memory."""
    for name, value in tiles.items():
        if name not in streams(read) and not 1 / FITS <= value <= sizes[read.variables[name].axis.name] * FITS:
            return False
    return _held(read, tiles, sizes, memory)
