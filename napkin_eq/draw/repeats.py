"""Folds what a circuit does several times in a row: equal stretches, each on the value of the one before, are one.

Stretches are equal if their operations, axes and sizes are; the arrays that each reads beside the value may be its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from napkin_eq.draw.circuit import Bracket, Circuit, Node, Strand, users

FEWEST, SAVED, CROWDED = (
    3,
    9,
    60,
)  # so often at least, so many nodes at least; where there are many nodes, twice is enough


def folded(circuit: Circuit) -> Circuit:
    """Return the circuit with runs of equal stretches drawn once, in a bracket that says how often."""
    while found := _run(circuit.nodes):
        circuit = _without(circuit, *found)
    return circuit


def _run(nodes: Sequence[Node]) -> tuple[list[int], int, int] | None:
    """Return the cuts of a circuit, where the run that saves most begins among them and its period.

    None if none is worth it.
    """
    work = next((place for place, node in enumerate(nodes) if node.kind != "input"), 0)
    best, most = None, 0
    # The first stretch may begin with an array, which then counts as the value that the others begin with.
    for stem in (*(place for place in nodes[work].args[:1] if nodes[place].kind == "input"), -1):
        cuts = _cuts(nodes, stem)
        keys = [_key(nodes, start, end) for start, end in zip(cuts, cuts[1:], strict=False)]
        for period in range(1, len(keys) // 2 + 1):
            place = 0
            while place + 2 * period <= len(keys):
                same = 0
                while place + period + same < len(keys) and keys[place + same] == keys[place + period + same]:
                    same += 1
                times = same // period + 1
                saved = (times - 1) * (cuts[place + period] - cuts[place])
                enough = times >= FEWEST or (times == 2 and len(nodes) > CROWDED)
                if enough and saved >= SAVED and saved > most:
                    best, most = (cuts, place, period), saved
                place += max(1, same)
    return best


def _cuts(nodes: Sequence[Node], stem: int) -> list[int]:
    """Return the nodes whose value is all that later ones have of what came before, arrays but the stem aside."""
    last_use = [max(found, default=-1) for found in users(nodes)]
    waiting: set[int] = set()
    cuts = []
    for place, node in enumerate(nodes):
        waiting = {one for one in waiting if last_use[one] > place}
        if place == stem or node.kind not in ("input", "output"):
            waiting.add(place)
            if waiting == {place} and last_use[place] > place:
                cuts.append(place)
    return cuts


def _key(nodes: Sequence[Node], start: int, end: int) -> tuple[Any, ...]:
    """Return what the stretch behind one cut, up to another, does.

    Its own arrays by the order in which it reads them.
    """
    names: dict[int, int] = {start: -1}
    rows = []
    for place in range(start + 1, end + 1):
        node = nodes[place]
        if node.kind == "input":
            continue
        for arg in node.args:
            names.setdefault(arg, len(names))
        names[place] = len(names)
        args = tuple((names[arg], _wires(nodes[arg])) for arg in node.args)
        caption = "" if node.kind in ("load", "store") else node.caption
        rows.append(
            (node.kind, args, _wires(node), node.level, node.takes, node.touches, caption, node.formula, node.sign)
        )
    return (*rows, _wires(nodes[start]))


def _wires(node: Node) -> tuple[Strand, ...]:
    """Return a node's strands in an order of their own: how they lie is settled later."""
    return tuple(sorted(node.strands, key=lambda strand: strand.name))


def _without(circuit: Circuit, cuts: list[int], first: int, period: int) -> Circuit:
    """Return the circuit with one of equal stretches in the place of all."""
    nodes = circuit.nodes
    keys = [_key(nodes, start, end) for start, end in zip(cuts, cuts[1:], strict=False)]
    times = 1
    while keys[first : first + period] == keys[first + times * period : first + (times + 1) * period]:
        times += 1
    begin, end, last = cuts[first], cuts[first + period], cuts[first + times * period]
    taken_by = users(nodes)
    gone = set(range(end + 1, last + 1))
    # An array that something else reads stays, and so does one that the first stretch reads.
    gone -= {p for p in gone if nodes[p].kind == "input" and any(user not in gone for user in taken_by[p])}
    gone |= {p for p, node in enumerate(nodes) if node.kind == "input" and taken_by[p] and set(taken_by[p]) <= gone}
    kept = [place for place in range(len(nodes)) if place not in gone]
    at = {place: number for number, place in enumerate(kept)}
    at[last] = at[end]
    made = [replace(nodes[place], args=tuple(at[arg] for arg in nodes[place].args)) for place in kept]
    inside = tuple(at[place] for place in kept if begin < place <= end)
    brackets = [replace(b, nodes=tuple(at[p] for p in b.nodes if p in at and p not in gone)) for b in circuit.brackets]
    brackets = [b for b in brackets if b.nodes]
    about = f"× {times}, one behind the other, each with arrays of its own"
    return replace(circuit, nodes=tuple(made), brackets=(*brackets, Bracket("times", about, inside)))
