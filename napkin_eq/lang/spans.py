"""Coordinates that span an axis: what `rename`, `split` and `merge` leave of it. Sizes that change must change together
there.

A read along q at x, or at h * 64 + d, takes each element once. Where an axis gets another size and the others do not,
elements are left out or taken twice: another diagram. So a size is passed on to the axes that it ties, or it is
refused.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.interval import interval
from napkin_eq.lang.term import Index, Read, Term, subterms

Sizes = Mapping[str, int | None]


def fitted(root: Term, sizes: Sizes, given: Collection[str]) -> dict[str, int | None]:
    """Return the sizes with those of tied axes changed along, but for what is given.

    Axes that `sizes` does not name keep theirs. Raises NapkinError where what is given does not fit together.
    """
    reads = {
        (node.axis, node.index): None
        for node in subterms(root)
        if isinstance(node, Read) and _spans(node.axis, node.index, {})
    }
    found, fixed = dict(sizes), set(given)
    while unfit := [(axis, index) for axis, index in reads if not _spans(axis, index, found)]:
        # A read of which something is fixed already comes first: it decides the rest.
        axis, index = min(unfit, key=lambda read: fixed.isdisjoint({read[0].name, *(a.name for a in read[1].axes)}))
        change = next(
            (c for c in _changes(axis, index, found) if fixed.isdisjoint(c) and _spans(axis, index, {**found, **c})),
            None,
        )
        if change is None:
            raise NapkinError(
                f"axis {axis.name} is read at {index}, each element once, and with {_told(axis, index, found)} it is"
                " not: give sizes that fit, or build the diagram with them"
            )
        found.update(change)
        fixed |= {axis.name, *(a.name for a in index.axes)}
    return found


def _changes(axis: Axis, index: Term, sizes: Sizes) -> list[dict[str, int | None]]:
    """Return what may be changed for a coordinate to span an axis again: the axis, one axis of the coordinate, or all
    of them back.
    """
    number = [_size(a, sizes) for a in index.axes]
    whole = None if None in number else math.prod(n for n in number if n is not None)
    found: list[dict[str, int | None]] = [{axis.name: whole}]
    wanted = _size(axis, sizes)
    for part in index.axes:
        others = [_size(a, sizes) for a in index.axes if a is not part]
        rest = math.prod(n for n in others if n is not None)
        if wanted is None or not others or (None not in others and wanted % rest == 0):
            found.append({part.name: None if wanted is None else wanted // rest})
    everything = {a.name: a.size for a in (axis, *index.axes)}
    return [*found, {n: s for n, s in everything.items() if n not in sizes or sizes[n] != s}]


def _size(axis: Axis, sizes: Sizes) -> int | None:
    return sizes.get(axis.name, axis.size)


def _spans(axis: Axis, index: Term, sizes: Sizes) -> bool:
    """Tell whether a coordinate has as many values as an axis has elements, from the first one to the last."""
    size, parts = _size(axis, sizes), [_size(a, sizes) for a in index.axes]
    if size is None or None in parts:
        return (
            size is None
            and None in parts
            and (isinstance(index, Index) or any(_size(a, {}) is not None for a in index.axes))
        )
    low, high = interval(resized(index, {a.name: n for a, n in zip(index.axes, parts, strict=True)}))
    many = math.prod(n for n in parts if n is not None)
    return (low, high) == (0, size - 1) and many >= size and (many == size or _is_part(index))


def _is_part(index: Term) -> bool:
    """Whether a coordinate is one of several that an axis is seen as: its quotient or remainder."""
    return getattr(index, "op", "") in ("floordiv", "mod")


def _told(axis: Axis, index: Term, sizes: Sizes) -> str:
    return ", ".join(f"{a.name}={_size(a, sizes) or 'any'}" for a in (axis, *index.axes))


def resized(root: Term, sizes: Mapping[str, int | None]) -> Term:
    """Return the term with every axis that has a name in `sizes` given that size."""
    return renewed(root, {name: Axis(name, size) for name, size in sizes.items()})


def renewed(root: Term, axes: Mapping[str, Axis]) -> Term:
    """Return the term with other axes for those that have a name in `axes`."""

    def changed(item: Any) -> Any:
        if isinstance(item, Axis) and item.name in axes:
            return axes[item.name]
        if isinstance(item, tuple):
            return tuple(map(changed, item))
        return done[item] if isinstance(item, Term) else item

    done: dict[Term, Term] = {}
    for node in subterms(root):
        done[node] = type(node)(*map(changed, node.fields))
    return done[root]
