"""How high each wire lies: wires run straight where they can, keep their distances, and pass through no box."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from napkin_eq.draw.order import Ordered

PITCH, BUNDLE, MARGIN = 21.0, 36.0, 9.0
ROUNDS = 3


@dataclass(frozen=True, slots=True)
class End:
    """A wire at one side of a column: its item, its bundle there, the value it belongs to, its name and its height."""

    item: int
    bundle: int
    value: int
    name: str
    y: float


@dataclass(frozen=True, slots=True)
class Tracks:
    """The wires before and after each column, top to bottom, and how low they reach."""

    before: tuple[tuple[End, ...], ...]
    after: tuple[tuple[End, ...], ...]
    height: float


@dataclass(slots=True)
class _Spot:
    item: int
    bundle: int
    value: int
    name: str
    track: int = -1


def tracks(found: Ordered, ends: Sequence[bool], heads: Sequence[Sequence[float]]) -> Tracks:
    """Return the height of every wire.

    ends: which values are outputs, which no column after holds; heads: the room above the wires of each column's items.
    """
    before, after = _spots(found, ends)
    count = 0
    for k, (ins, outs) in enumerate(zip(before, after, strict=True)):
        links = _links(after[k - 1], ins) if k else {}
        for number, spot in enumerate(ins):
            source = links.get(number)
            spot.track = after[k - 1][source].track if source is not None else count
            count += source is None
        firsts = {
            (s.item, s.name): n for n, s in reversed(list(enumerate(ins)))
        }  # of several wires that meet, the uppermost goes on
        straight = _chain([firsts.get((spot.item, spot.name)) for spot in outs])
        for number, spot in enumerate(outs):
            source = straight.get(number)
            spot.track = ins[source].track if source is not None else count
            count += source is None
    edges, count, walls = _edges(before, after, heads, count)
    heights = _heights(edges, count, walls, _wishes(before, after))
    lowest = max(heights[: count or None], default=0.0)

    def made(stack: Sequence[_Spot]) -> tuple[End, ...]:
        return tuple(End(s.item, s.bundle, s.value, s.name, heights[s.track]) for s in stack)

    return Tracks(tuple(map(made, before)), tuple(map(made, after)), lowest)


def _spots(found: Ordered, ends: Sequence[bool]) -> tuple[list[list[_Spot]], list[list[_Spot]]]:
    before: list[list[_Spot]] = []
    after: list[list[_Spot]] = []
    for items in found.columns:
        ins, outs = list[_Spot](), list[_Spot]()
        bundle = 0
        for place, item in enumerate(items):
            for arg in item.args:
                ins += [_Spot(place, bundle, arg, name) for name in found.wires[arg]]
                bundle += 1
        for place, item in enumerate(items):
            if item.passes or not ends[item.value]:
                outs += [_Spot(place, place, item.value, name) for name in found.wires[item.value]]
        before.append(ins)
        after.append(outs)
    return before, after


def _links(left: Sequence[_Spot], right: Sequence[_Spot]) -> dict[int, int]:
    """Return which wires of the right side run straight from which of the left: as many as can without a crossing."""
    at = {(spot.value, spot.name): place for place, spot in enumerate(left)}
    return _chain([at.get((spot.value, spot.name)) for spot in right])


def _chain(sources: Sequence[int | None]) -> dict[int, int]:
    """Return the longest choice of places whose sources rise, with those sources."""
    best: list[tuple[int, int]] = []  # for each, how long the chain that ends there is, and the one before it
    for number, source in enumerate(sources):
        chains = [
            (best[n][0], n)
            for n in range(number)
            if source is not None and (s := sources[n]) is not None and s < source
        ]
        length, previous = max(chains, key=lambda c: (c[0], -c[1]), default=(0, -1))
        best.append((length + 1 if source is not None else 0, previous))
    links: dict[int, int] = {}
    number = max(range(len(best)), key=lambda n: (best[n][0], -n), default=-1)
    while number >= 0 and best[number][0]:
        source = sources[number]
        if source is not None:
            links[number] = source
        number = best[number][1]
    return links


Edge = tuple[int, int, float]


def _edges(
    before: Sequence[Sequence[_Spot]], after: Sequence[Sequence[_Spot]], heads: Sequence[Sequence[float]], count: int
) -> tuple[list[Edge], int, dict[int, bool]]:
    """Return how far tracks are apart at least; the walls of items are tracks of their own (True: an upper one)."""
    edges: dict[tuple[int, int], float] = {}
    walls: dict[int, bool] = {}

    def apart(a: int, b: int, gap: float) -> None:
        if a != b:
            edges[a, b] = max(edges.get((a, b), 0.0), gap)

    for k, head in enumerate(heads):
        upper = list(range(count, count + len(head)))
        lower = list(range(count + len(head), count + 2 * len(head)))
        count += 2 * len(head)
        walls |= dict.fromkeys(upper, True) | dict.fromkeys(lower, False)
        for one, two in zip(range(len(head)), range(1, len(head)), strict=False):
            apart(lower[one], upper[two], BUNDLE - 2 * MARGIN)
        for place in range(len(head)):
            apart(upper[place], lower[place], head[place] + 2 * MARGIN)
        for stack in (before[k], after[k]):
            for spot, following in zip(stack, stack[1:], strict=False):
                apart(spot.track, following.track, PITCH if spot.bundle == following.bundle else BUNDLE)
            for spot in stack:
                apart(upper[spot.item], spot.track, head[spot.item] + MARGIN)
                apart(spot.track, lower[spot.item], MARGIN)
    return [(a, b, gap) for (a, b), gap in edges.items()], count, walls


def _wishes(before: Sequence[Sequence[_Spot]], after: Sequence[Sequence[_Spot]]) -> dict[int, list[int]]:
    """Return, for each track, those that it is joined to by a bent wire."""
    wishes: dict[int, list[int]] = {}

    def joined(a: int, b: int) -> None:
        if a != b:
            wishes.setdefault(a, []).append(b)
            wishes.setdefault(b, []).append(a)

    for k in range(len(before)):
        ends = {(s.value, s.name): s.track for s in after[k - 1]} if k else {}
        for spot in before[k]:
            if (spot.value, spot.name) in ends:
                joined(ends[spot.value, spot.name], spot.track)
        for out in after[k]:
            for spot in before[k]:
                if spot.item == out.item:
                    if spot.name == out.name:
                        joined(spot.track, out.track)
                    elif out.name not in {s.name for s in before[k] if s.item == out.item}:
                        joined(out.track, spot.track)
    return wishes


def _heights(edges: Iterable[Edge], count: int, walls: dict[int, bool], wishes: dict[int, list[int]]) -> list[float]:
    """Return the height of each track: as high as its distances allow, then moved towards what it is joined to."""
    above: list[list[tuple[int, float]]] = [[] for _ in range(count)]
    below: list[list[tuple[int, float]]] = [[] for _ in range(count)]
    for a, b, gap in edges:
        above[b].append((a, gap))
        below[a].append((b, gap))
    waiting = [len(found) for found in above]
    order = [track for track in range(count) if not waiting[track]]
    for track in order:
        for following, _ in below[track]:
            waiting[following] -= 1
            if not waiting[following]:
                order.append(following)
    if len(order) < count:
        raise AssertionError("wires that run straight cross: the order of a column is not that of the next")
    y = [0.0] * count
    for track in order:
        y[track] = max((y[a] + gap for a, gap in above[track]), default=0.0)
    floor = max(y, default=0.0)
    for _ in range(ROUNDS):
        for track in reversed(order):
            most = min((y[b] - gap for b, gap in below[track]), default=floor)
            if track in walls:
                y[track] = most
            elif track in wishes:
                y[track] = max(y[track], min(most, _middle([y[t] for t in wishes[track]])))
        for track in order:
            least = max((y[a] + gap for a, gap in above[track]), default=0.0)
            if track in walls:
                y[track] = least
            elif track in wishes:
                y[track] = min(y[track], max(least, _middle([y[t] for t in wishes[track]])))
    return y


def _middle(values: list[float]) -> float:
    """Return the median, of two in the middle the lower."""
    return sorted(values)[(len(values) - 1) // 2]
