"""Folds what a circuit does several times: in a row, each on the value of the one before, or side by side.

Stretches in a row are equal if their operations, axes and sizes are; the arrays that each reads beside the value may
be its own. So are regions side by side, whose values one operation takes or that are outputs, if they also read the
same of the rest of the circuit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from napkin_eq.draw.circuit import Bracket, Circuit, Node, Strand, users
from napkin_eq.lang.term import Map, subterms

# So often at least, so many nodes at least; where there are many nodes, twice is enough.
FEWEST, SAVED, CROWDED = 3, 9, 60
SAVED_BESIDE = 4  # nodes, of regions side by side


def folded(circuit: Circuit) -> Circuit:
    """Return the circuit with equal regions and runs of equal stretches drawn once, in brackets that say how often."""
    circuit = _beside(circuit)
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


# Side by side.


def _beside(circuit: Circuit) -> Circuit:
    """Return the circuit with groups of equal regions drawn as their first, in a bracket with their number."""
    while found := _group(circuit.nodes):
        circuit = _first_only(circuit, *found)
    return circuit


def _group(nodes: Sequence[Node]) -> tuple[frozenset[int], list[frozenset[int]]] | None:
    """Return the equal regions that save most, and the operations that take their values; None for none."""
    taken_by = users(nodes)
    best: tuple[frozenset[int], list[frozenset[int]]] | None = None
    most = 0
    outputs = [place for place, node in enumerate(nodes) if node.kind == "output"]
    takers = [(found, _taken(nodes, found)) for found in _takers(nodes, taken_by)]
    for taker, roots in [(frozenset[int](), outputs), *takers]:
        equal: dict[tuple[Any, ...], list[frozenset[int]]] = {}
        for root in roots:
            if not taker or taker.issuperset(taken_by[root]):
                region = _region(nodes, taken_by, root)
                equal.setdefault(_region_key(nodes, region, root), []).append(region)
        for regions in equal.values():
            saved = sum(map(len, regions[1:]))
            enough = len(regions) >= FEWEST or (len(regions) == 2 and len(nodes) > CROWDED)
            works = any(nodes[place].kind not in ("input", "output") for place in regions[0])
            if enough and works and saved >= SAVED_BESIDE and saved > most:
                best, most = (taker, regions), saved
    return best


def _takers(nodes: Sequence[Node], taken_by: Sequence[Sequence[int]]) -> list[frozenset[int]]:
    """Return the elementwise operations, together where only one takes the other's value: a long sum is several."""
    of: dict[int, int] = {}
    for place in range(len(nodes) - 1, -1, -1):
        if nodes[place].kind == "map":
            alone = len(taken_by[place]) == 1 and nodes[taken_by[place][0]].kind == "map"
            of[place] = of[taken_by[place][0]] if alone else place
    return [frozenset(place for place in of if of[place] == last) for last in sorted(set(of.values()))]


def _taken(nodes: Sequence[Node], taker: frozenset[int]) -> list[int]:
    return list(dict.fromkeys(arg for place in sorted(taker) for arg in nodes[place].args if arg not in taker))


def _region(nodes: Sequence[Node], taken_by: Sequence[Sequence[int]], root: int) -> frozenset[int]:
    """Return the nodes that nothing but a root needs, itself among them."""
    found = {root}
    for place in range(root - 1, -1, -1):
        if taken_by[place] and found.issuperset(taken_by[place]):
            found.add(place)
    return frozenset(found)


def _region_key(nodes: Sequence[Node], region: frozenset[int], root: int) -> tuple[Any, ...]:
    """Return what a region does, its own arrays by their place in it, what it reads of others as it is."""
    inside = sorted(region)
    at = {place: number for number, place in enumerate(inside)}
    rows = []
    for place in inside:
        node = nodes[place]
        args = tuple(("own", at[arg]) if arg in at else ("other", arg) for arg in node.args)
        named = "" if node.kind in ("input", "output", "load", "store") else node.caption
        what = (node.kind, args, _wires(node), node.level, node.takes, node.touches, named, node.formula, node.sign)
        rows.append(what)
    return (*rows, at[root])


def _first_only(circuit: Circuit, taker: frozenset[int], regions: Sequence[frozenset[int]]) -> Circuit:
    """Return the circuit with the first of equal regions in the place of all, and what takes them as one operation."""
    nodes, times, last = circuit.nodes, len(regions), max(taker, default=-1)
    gone = frozenset().union(*regions[1:]) | (taker - {last})
    kept = [place for place in range(len(nodes)) if place not in gone]
    at = {place: number for number, place in enumerate(kept)}
    made = []
    for place in kept:
        node = nodes[place]
        if place == last:
            node = _together(nodes, taker, tuple(arg for arg in _taken(nodes, taker) if arg in at), times)
        made.append(replace(node, args=tuple(at[arg] for arg in node.args)))
    inside = tuple(at[place] for place in sorted(regions[0]) if nodes[place].kind != "input")
    brackets = [replace(b, nodes=tuple(at[p] for p in b.nodes if p in at)) for b in circuit.brackets]
    about = f"× {times}, side by side, each with arrays of its own"
    return replace(
        circuit, nodes=tuple(made), brackets=(*(b for b in brackets if b.nodes), Bracket("times", about, inside))
    )


def _together(nodes: Sequence[Node], taker: frozenset[int], args: tuple[int, ...], times: int) -> Node:
    """Return elementwise operations on the values of equal regions, and on others, as one."""
    found = [nodes[place] for place in sorted(taker)]
    formulas = [node.formula for node in found]
    ops = {t.op for formula in formulas if formula is not None for t in subterms(formula) if isinstance(t, Map)}
    adds = ops == {"add"} and None not in formulas
    said = f"{'sum of' if adds else 'of'} all {times}" + (f" and {len(args) - 1} more" if len(args) > 1 else "")
    return replace(found[-1], args=args, formula=None, caption=said, flops=sum(node.flops or 0 for node in found))
