"""In which order a graph runs: numbers are drawn and tensors are written over in the order of the program, whatever is
moved around them.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Mapping, Sequence
from itertools import count
from typing import Any

KNOWN = ("aten", "prims", "napkin_eq")  # the namespaces whose operators draw only where they are tagged so


def seeded(target: Any) -> bool:
    """Tell whether an operator draws random numbers."""
    import torch

    return isinstance(target, torch._ops.OpOverload) and torch.Tag.nondeterministic_seeded in target.tags


def draws(node: Any) -> bool:
    """Tell whether a node draws random numbers, or may do: one that runs a graph of its own, or an operator that is
    neither PyTorch's nor ours, of which nobody knows.
    """
    import torch

    target = node.target
    if isinstance(target, torch._ops.HigherOrderOperator) or seeded(target):
        return True
    return isinstance(target, torch._ops.OpOverload) and target.namespace not in KNOWN


def writes(node: Any) -> bool:
    """Tell whether a node writes a tensor that it is given."""
    import torch

    return isinstance(node.target, torch._ops.OpOverload) and bool(node.target._schema.is_mutable)


def followers(nodes: Sequence[Any]) -> dict[Any, list[Any]]:
    """Return for each node of a row what must run after it, itself or by way of others: what reads it, and what draws
    or writes later.
    """
    found: dict[Any, list[Any]] = {node: list(node.users) for node in nodes}
    drawn = written = None
    since: list[Any] = []  # the last write
    for node in nodes:
        if written is not None:
            found[written].append(node)
        since.append(node)
        if writes(node):
            for before in since[:-1]:
                found[before].append(node)
            written, since = node, []
        if draws(node):
            if drawn is not None:
                found[drawn].append(node)
            drawn = node
    return found


def in_order(followed: Mapping[Any, Sequence[Any]], place: Mapping[Any, int]) -> list[Any]:
    """Return nodes so that none stands before what it follows, else by their places; those on a circle, and what
    follows these, are left out.
    """
    waits = dict.fromkeys(followed, 0)
    for after in followed.values():
        for node in after:
            if node in waits:
                waits[node] += 1
    number = count()
    ready = [(place[node], next(number), node) for node, before in waits.items() if not before]
    heapq.heapify(ready)
    found: list[Any] = []
    while ready:
        node = heapq.heappop(ready)[2]
        found.append(node)
        for other in followed[node]:
            if other in waits:
                waits[other] -= 1
                if not waits[other]:
                    heapq.heappush(ready, (place[other], next(number), other))
    return found


def apart(stretch: Sequence[Any], parts: Sequence[list[Any]]) -> list[list[Any]]:
    """Return parts of a stretch of a graph, those cut that could not run as one: something drawn or written in between
    would have to run before them and after them.
    """
    steps = [node for node in stretch if draws(node) or writes(node)]
    if not steps:
        return list(parts)
    of: dict[Any, Hashable] = {node: number for number, part in enumerate(parts) for node in part}
    joined: dict[Hashable, list[Any]] = {of.get(node, node): [] for node in stretch}
    for node, after in followers(stretch).items():
        own = of.get(node, node)
        joined[own] += {of.get(other, other) for other in after} - {own}
    place = {node: at for at, node in enumerate(stretch)}
    first = {own: at for at, own in reversed([*enumerate(of.get(node, node) for node in stretch)])}
    free = set(in_order(joined, first))
    found: list[list[Any]] = []
    for number, part in enumerate(parts):
        groups: dict[int, list[Any]] = {}
        for node in part:
            before = 0 if number in free else sum(1 for step in steps if place[step] < place.get(node, len(stretch)))
            groups.setdefault(before, []).append(node)
        found += groups.values()
    return found
