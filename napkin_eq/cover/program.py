"""The cheapest set of kernels as an integer program: a binary for each candidate, one for each value that is stored.

    minimise  the prices of the chosen
    where     every output is stored; a stored value is computed by a chosen candidate; what a chosen one reads is
              stored; what one computes for itself alone is stored by no other; no value is stored by two; none comes,
              in the end, from itself

Solved by HiGHS with a proved bound. Rows of the last two kinds enter once a cover needs them. Without HiGHS a greedy
cover is taken, whose bound is nothing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from napkin_eq.egraph.budget import METER

MARGIN = 1e-6
BUSY = 4.0  # times the seconds of a solution that a busy machine may take
AGAIN = 2.0  # times the seconds of a solution, after which one that is no cover is not mended any more


@dataclass(frozen=True, slots=True)
class Column:
    """A candidate as the program sees it: the places of the values that it stores, reads, and computes for itself; its
    price.
    """

    outs: tuple[int, ...]
    reads: tuple[int, ...]
    inside: tuple[int, ...]
    price: float


@dataclass(frozen=True, slots=True)
class Chosen:
    """A cover: places of its candidates, producers before consumers; its price, a bound below which no cover is, and
    how it was found.
    """

    places: tuple[int, ...]
    price: float
    bound: float
    method: str


def cheapest(
    columns: Sequence[Column], outputs: Sequence[int], seconds: float, refused: Sequence[frozenset[int]] = ()
) -> Chosen | None:
    """Return the cheapest cover that is none of those refused, None where there is none.

    seconds: of time; where they end it, the best so far is returned with the bound that is proved until then.
    """
    try:
        import highspy
    except ImportError:
        return greedy(columns, outputs, refused)
    return _solved(highspy, columns, outputs, seconds, refused)


def _solved(
    highspy: Any, columns: Sequence[Column], outputs: Sequence[int], seconds: float, refused: Sequence[frozenset[int]]
) -> Chosen | None:
    values = sorted({v for c in columns for v in (*c.outs, *c.reads)} | set(outputs))
    count, many = len(columns), len(values)
    stored = {v: count + i for i, v in enumerate(values)}
    rank = {v: count + many + i for i, v in enumerate(values)}  # when a value is there, and when a candidate is done
    done = {i: count + 2 * many + i for i in range(count)}
    model = highspy.Highs()
    for name, value in (("output_flag", False), ("threads", 1), ("random_seed", 0), ("mip_rel_gap", MARGIN)):
        model.setOptionValue(name, value)
    least = (
        [(0.0, 1.0)] * count
        + [(1.0 if v in outputs else 0.0, 1.0) for v in values]
        + [(0.0, float(many))] * (many + count)
    )
    for low, high in least:
        model.addVar(low, high)
    for place, column in enumerate(columns):
        model.changeColCost(place, column.price)
        model.changeColIntegrality(place, highspy.HighsVarType.kInteger)

    def row(low: float, terms: dict[int, float]) -> None:
        model.addRow(low, highspy.kHighsInf, len(terms), list(terms), list(terms.values()))

    for value in values:
        making = [i for i, c in enumerate(columns) if value in c.outs]
        row(0.0, {stored[value]: -1.0, **dict.fromkeys(making, 1.0)})
        if any(len(columns[i].outs) > 1 for i in making):  # two would be two arrays of one value
            row(-1.0, dict.fromkeys(making, -1.0))
    alike: dict[tuple[tuple[int, ...], int], list[int]] = {}
    beside: dict[tuple[tuple[int, ...], int], list[int]] = {}
    for place, column in enumerate(columns):
        for value in column.reads:
            alike.setdefault((column.outs, value), []).append(place)
        for value in column.inside:
            if value in stored:
                beside.setdefault((column.outs, value), []).append(place)
    for (_, value), places in alike.items():  # of those that store the same values one is enough
        row(0.0, {stored[value]: 1.0, **dict.fromkeys(places, -1.0)})
    for (_, value), places in beside.items():  # what is stored is read, not computed again
        row(-1.0, {stored[value]: -1.0, **dict.fromkeys(places, -1.0)})
    for cover in refused:
        row(1.0 - len(cover), dict.fromkeys(sorted(cover), -1.0))
    ordered, apart, begun, bound = False, set[tuple[int, int]](), time.process_time(), 0.0
    while True:
        if time.process_time() - begun > AGAIN * seconds:
            found = greedy(columns, outputs, refused)
            return found and replace(found, bound=min(bound, found.price))
        METER.did("column", count)
        _run(highspy, model, seconds)
        info, status = model.getInfo(), model.getModelStatus()
        if status == highspy.HighsModelStatus.kInfeasible or info.primal_solution_status != 2:
            return None if status == highspy.HighsModelStatus.kInfeasible else greedy(columns, outputs, refused)
        bound = max(bound, min(info.objective_function_value, info.mip_dual_bound))  # rows that follow only raise it
        solution = model.getSolution().col_value
        places = _needed([i for i in range(count) if solution[i] > 0.5], columns, outputs)
        clashes = {(i, j) for i in places for j in places if i != j and set(columns[i].inside) & set(columns[j].outs)}
        if clashes:
            assert not clashes & apart, "a value is stored and computed beside, though a row forbids it"
            for pair in sorted(clashes - apart):
                row(-1.0, dict.fromkeys(pair, -1.0))
            apart |= clashes
            continue
        if (order := in_order(places, columns)) is not None:
            return Chosen(order, sum(columns[i].price for i in order), bound, "HiGHS")
        assert not ordered, "a circle, though values have an order"
        ordered = True
        span, number = many + 1.0, count + 2 * many + count
        for value in values:
            makers = [i for i, c in enumerate(columns) if value in c.outs]
            for place in makers:  # one of those that compute a value is where others have it from
                model.addVar(0.0, 1.0)
                model.changeColIntegrality(number, highspy.HighsVarType.kInteger)
                row(0.0, {place: 1.0, number: -1.0})
                row(-span, {rank[value]: 1.0, done[place]: -1.0, number: -span})
                number += 1
            row(0.0, {stored[value]: -1.0, **{number - 1 - i: 1.0 for i in range(len(makers))}})
        for place, column in enumerate(columns):
            for value in column.reads:
                row(1.0 - span, {done[place]: 1.0, rank[value]: -1.0, place: -span})


def _run(highspy: Any, model: Any, seconds: float) -> None:
    """Solve a program; where the clock ended it and a busy machine had given it far less processor time than that, once
    more, for longer.
    """
    for more in (1.0, BUSY):
        begun = time.process_time()
        model.setOptionValue("time_limit", model.getRunTime() + more * seconds)
        model.run()
        late = model.getModelStatus() == highspy.HighsModelStatus.kTimeLimit
        if not late or time.process_time() - begun > seconds / 2:
            return


def _needed(places: Sequence[int], columns: Sequence[Column], outputs: Sequence[int]) -> list[int]:
    """Leave out candidates of no price whose values nobody reads."""
    kept = list(places)
    while True:
        read = {v for i in kept for v in columns[i].reads} | set(outputs)
        idle = [i for i in kept if not read & set(columns[i].outs)]
        if not idle:
            return kept
        kept.remove(idle[0])


def in_order(places: Sequence[int], columns: Sequence[Column]) -> tuple[int, ...] | None:
    """Return candidates with producers before consumers, None where they are a circle."""
    left, done, order = sorted(places), set[int](), list[int]()
    while left:
        ready = next((i for i in left if done >= set(columns[i].reads)), None)
        if ready is None:
            return None
        left.remove(ready)
        order.append(ready)
        done |= set(columns[ready].outs)
    return tuple(order)


def greedy(columns: Sequence[Column], outputs: Sequence[int], refused: Sequence[frozenset[int]] = ()) -> Chosen | None:
    """Return a cover found value by value: of each the candidate of least price together with what it reads; no bound
    is proved.
    """
    prices: dict[int, tuple[float, int]] = {}
    changed = True
    while changed:
        changed = False
        for place, column in enumerate(columns):
            total = column.price + sum(prices[v][0] if v in prices else math.inf for v in column.reads)
            for value in column.outs:
                if total + MARGIN < prices.get(value, (math.inf, 0))[0]:
                    prices[value], changed = (total, place), True
    chosen, waiting = set[int](), list(outputs)
    while waiting:
        value = waiting.pop()
        if value not in prices:
            return None
        place = prices[value][1]
        if place not in chosen:
            chosen.add(place)
            waiting += columns[place].reads
    made = [v for i in chosen for v in columns[i].outs]
    own = set(made)
    clash = len(own) < len(made) or any(own & set(columns[i].inside) for i in chosen)
    order = in_order(_needed(sorted(chosen), columns, outputs), columns)
    if order is None or clash or frozenset(order) in refused:
        return _plainest(columns, outputs)
    return Chosen(order, sum(columns[i].price for i in order), 0.0, "greedy: HiGHS is not there or had no time")


def _plainest(columns: Sequence[Column], outputs: Sequence[int]) -> Chosen | None:
    """Return the cover of candidates that compute nothing for themselves."""
    plain = [i for i, c in enumerate(columns) if not c.inside and len(c.outs) == 1 and c.price < math.inf]
    order = in_order(_needed(plain, columns, outputs), columns)
    if order is None or not set(outputs) <= {v for i in order for v in columns[i].outs}:
        return None
    return Chosen(order, sum(columns[i].price for i in order), 0.0, "greedy: one kernel for each value that is stored")
