"""Where the operations of a circuit stand: in which column, in which order, and how the wires of each bundle lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from napkin_eq.draw.circuit import Circuit, Node, users

SWEEPS, EARLY = 6, 6


@dataclass(frozen=True, slots=True)
class Item:
    """What stands in a column: a node with its arguments from top to bottom, or a value that passes."""

    value: int
    passes: bool
    args: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Ordered:
    """Columns of items, top to bottom, and the names of the wires of each value, top to bottom.

    "" is a scalar's wire.
    """

    columns: tuple[tuple[Item, ...], ...]
    wires: tuple[tuple[str, ...], ...]


def ordered(circuit: Circuit) -> Ordered:
    """Return the order of a circuit: few crossings, the same on every run."""
    nodes = circuit.nodes
    layer = _layers(nodes)
    columns = _columns(nodes, layer)
    best = _arranged(columns, nodes)
    fewest = _crossings(best)
    for sweep in range(SWEEPS):
        columns = _swept(best if sweep == 0 else columns, nodes, down=sweep % 2 == 0)
        if (count := _crossings(columns)) < fewest:
            best, fewest = columns, count
    return Ordered(tuple(map(tuple, best)), _wires(nodes, best))


def _layers(nodes: Sequence[Node]) -> list[int]:
    """Return the column of each node: after its arguments and the kernel before its own.

    Inputs first, or late if far, outputs last.
    """
    layer, taken_by = [0] * len(nodes), users(nodes)
    highest: dict[int, int] = {}  # of each kernel, its last column so far
    for place, node in enumerate(nodes):
        if node.kind == "input":
            continue
        layer[place] = 1 + max((layer[arg] for arg in node.args), default=0)
        if node.kernel is not None and node.kind != "output":
            below = max((column for kernel, column in highest.items() if kernel < node.kernel), default=0)
            layer[place] = max(layer[place], below + 1)
            highest[node.kernel] = max(highest.get(node.kernel, 0), layer[place])
    for place in range(len(nodes) - 1, -1, -1):
        node, later = nodes[place], [layer[user] for user in taken_by[place] if nodes[user].kind != "output"]
        if not later or node.kind == "output":
            continue
        first = min(later) - 1
        if node.kind == "input":
            layer[place] = 0 if first < EARLY else first
        elif node.kind == "load" or all(nodes[arg].kind == "input" and len(taken_by[arg]) == 1 for arg in node.args):
            # What only inputs are needed for may wait until its result is used.
            layer[place] = max(layer[place], first)
    last = 1 + max((layer[p] for p, node in enumerate(nodes) if node.kind != "output"), default=0)
    return [last if node.kind == "output" else layer[place] for place, node in enumerate(nodes)]


def _columns(nodes: Sequence[Node], layer: Sequence[int]) -> list[list[Item]]:
    """Return the items of each column, in the order in which a walk from the outputs meets them."""
    met: dict[int, None] = {}
    stack = [place for place in range(len(nodes) - 1, -1, -1) if nodes[place].kind == "output"]
    stack = stack or list(range(len(nodes) - 1, -1, -1))
    while stack:
        place = stack.pop()
        if place not in met:
            met[place] = None
            stack.extend(reversed(nodes[place].args))
    for place in range(len(nodes)):
        met.setdefault(place)
    # Leaves in the order of the walk; what is made of them stands where the first of them does.
    rank = {place: number for number, place in enumerate(met)}
    key: dict[int, float] = {}
    for place in sorted(met):
        args = nodes[place].args
        key[place] = sum(key[arg] for arg in args) / len(args) if args else float(rank[place])
    last_use = [max((layer[user] for user in found), default=0) for found in users(nodes)]
    columns: list[list[Item]] = []
    for number in range(max(layer, default=0) + 1):
        present = [Item(p, False, nodes[p].args) for p in met if layer[p] == number]
        present += [Item(p, True, (p,)) for p in met if layer[p] < number < last_use[p]]
        columns.append(sorted(present, key=lambda item: (key[item.value], rank[item.value], item.passes)))
    return columns


def _after(items: Sequence[Item], nodes: Sequence[Node]) -> list[int]:
    return [item.value for item in items if item.passes or nodes[item.value].kind != "output"]


def _arranged(columns: Sequence[Sequence[Item]], nodes: Sequence[Node]) -> list[list[Item]]:
    """Return the columns with the arguments of each node in the order in which they arrive."""
    made: list[list[Item]] = []
    at: dict[int, int] = {}
    for items in columns:
        made.append(
            [
                item if item.passes else replace(item, args=tuple(sorted(item.args, key=lambda a: at.get(a, 0))))
                for item in items
            ]
        )
        at = {value: number for number, value in enumerate(_after(items, nodes))}
    return made


def _swept(columns: Sequence[Sequence[Item]], nodes: Sequence[Node], down: bool) -> list[list[Item]]:
    """Return the columns, each sorted by where its neighbours on one side stand."""
    made = [list(items) for items in columns]
    if down:
        at: dict[int, float] = {}
        for number, items in enumerate(made):
            places = {item: at_mean(item.args, at, place) for place, item in enumerate(items)}
            made[number] = sorted(items, key=lambda item: places[item])  # noqa: B023  used at once
            at = {value: float(place) for place, value in enumerate(_after(made[number], nodes))}
    else:
        for number in range(len(made) - 2, -1, -1):
            wanted: dict[int, list[float]] = {}
            for place, item in enumerate(made[number + 1]):
                for spot, arg in enumerate(item.args):
                    wanted.setdefault(arg, []).append(place + spot / (len(item.args) + 1))
            places = {
                item: sum(wanted[item.value]) / len(wanted[item.value]) if item.value in wanted else float(place)
                for place, item in enumerate(made[number])
            }
            made[number] = sorted(made[number], key=lambda item: places[item])  # noqa: B023  used at once
    return _arranged(made, nodes)


def at_mean(args: Sequence[int], at: dict[int, float], place: int) -> float:
    """Return the mean of where some values stand, or the place where nothing is known."""
    known = [at[arg] for arg in args if arg in at]
    return sum(known) / len(known) if known else float(place)


def _crossings(columns: Sequence[Sequence[Item]]) -> int:
    """Count the pairs of bundles that cross between columns."""
    total = 0
    for left, right in zip(columns, columns[1:], strict=False):
        at = {item.value: place for place, item in enumerate(left)}
        ends = [at[arg] for item in right for arg in item.args if arg in at]
        total += sum(ends[i] > ends[j] for i in range(len(ends)) for j in range(i + 1, len(ends)))
    return total


# -- the wires of a bundle
# -------------------------------------------------------------------------------------------------


def _wires(nodes: Sequence[Node], columns: Sequence[Sequence[Item]]) -> tuple[tuple[str, ...], ...]:
    """Return the order of each value's wires: as they come into a node, or as the first user of an input likes them."""
    found: dict[int, tuple[str, ...]] = {}
    for items in columns:
        for item in items:
            node = nodes[item.value]
            if not item.passes and node.kind not in ("input", "load"):
                for number, arg in enumerate(item.args):
                    if nodes[arg].kind == "load" and arg not in found and nodes[arg].args[0] in found:
                        found[arg] = found[
                            nodes[arg].args[0]
                        ]  # another kernel has brought this array on chip, and said how it lies
                    if arg not in found and nodes[arg].kind in ("input", "load"):
                        _settle(arg, _liked(node, item.args, number, nodes, found), nodes, found)
                found[item.value] = _out(node, item.args, found, _names(node))
    for place, node in enumerate(nodes):
        if place not in found:
            _settle(place, _names(node), nodes, found)
    return tuple(found[place] for place in range(len(nodes)))


def _names(node: Node) -> list[str]:
    return [strand.name for strand in node.strands]


def _settle(place: int, names: Sequence[str], nodes: Sequence[Node], found: dict[int, tuple[str, ...]]) -> None:
    """Give a value an order, and the array that it was loaded from the same if that has none."""
    found[place] = tuple(names)
    if nodes[place].kind == "load" and nodes[place].args[0] not in found:
        _settle(nodes[place].args[0], names, nodes, found)


def _liked(
    node: Node, args: Sequence[int], number: int, nodes: Sequence[Node], found: dict[int, tuple[str, ...]]
) -> list[str]:
    """Return the order in which a node likes an argument: contracted wires face each other, others their partners."""
    others = [arg for n, arg in enumerate(args) if n != number]
    names = _names(nodes[args[number]])
    known = next((found[arg] for arg in others if arg in found), ())
    beside = {name for arg in others for name in _names(nodes[arg])}
    taken = [n for n in names if n in node.takes]
    shared = sorted(
        (n for n in names if n not in node.takes and n in beside),
        key=lambda n: known.index(n) if n in known else len(known),
    )
    own = [n for n in names if n not in taken and n not in shared]
    if node.kind == "contract" and others:
        taken.sort(key=lambda n: -known.index(n) if n in known else 0)
        return [*shared, *own, *taken] if number == 0 else [*taken, *own, *reversed(shared)]
    return [*shared, *own, *taken] if known else names


def _out(node: Node, args: Sequence[int], found: dict[int, tuple[str, ...]], names: list[str]) -> tuple[str, ...]:
    """Return the order of the wires that come out of a node: as they come in, new ones where one was taken, or last."""
    order: list[str] = []
    fresh = [name for name in names if not any(name in found[arg] for arg in args)]
    for arg in args:
        for name in found[arg]:
            if name in node.takes and name not in names:
                order += [n for n in fresh if n not in order] if node.kind == "read" else []
            elif name in names and name not in order:
                order.append(name)
    return (*order, *(name for name in names if name not in order))
