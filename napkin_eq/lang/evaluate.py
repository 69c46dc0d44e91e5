"""What a term means, in float64: the oracle that laws, plans and kernels are held against.

This file binds sizes and orders axes; the arithmetic is in `numpy_semantics.py`, loaded when a term is evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Index, Input, Proj, Read, Term, bundled, required, subterms

BLOCK = 16


def evaluate(
    term: Term,
    inputs: Mapping[str, Any],
    sizes: Mapping[str, int] | None = None,
    block: int | Mapping[str, int] = BLOCK,
    dtype: Any = "float64",
    order: Sequence[Axis | str] | None = None,
) -> Any:
    """Return the value of a term as a NumPy array, or as a tuple of arrays for a Tuple, which may stand under Store,
    Group and Walk.

    inputs: an array for each Input by name, dims in the order of its declaration. sizes: what no input tells.
    block: how many lanes a Fold or an Online takes at a time, for all axes or by axis name.
    order: the axes of the result; without it, `output_order`. Raises NapkinError for missing inputs and for sizes that
    differ.
    """
    from napkin_eq.lang.numpy_semantics import Run

    outputs = bundled(required(term, "evaluate")) or (term,)
    for said, given in (("inputs are", inputs), ("sizes are", sizes or {})):
        if not isinstance(given, Mapping):
            raise NapkinError(f"evaluate: {said} a {type(given).__name__}, expected a dict by name")
    orders = [_checked_order(item, order) for item in outputs]
    run = Run(term, inputs, bound_sizes(term, inputs, sizes or {}), block, dtype)
    arrays = tuple(run.array(item, names) for item, names in zip(outputs, orders, strict=True))
    return arrays if term.kind == "tuple" else arrays[0]


def _checked_order(term: Term, order: Sequence[Axis | str] | None) -> tuple[str, ...]:
    names = tuple(str(axis) for axis in (output_order(term) if order is None else order))
    if sorted(names) != [axis.name for axis in term.axes]:
        raise NapkinError(
            f"order {' '.join(names)!r} does not list the axes of the value, {' '.join(a.name for a in term.axes)!r},"
            " once each"
        )
    return names


def output_order(term: Term) -> tuple[Axis, ...]:
    """Return the free axes in order of first appearance in the dims of the inputs, left to right; a read's axes stand
    where it reads.

    Axes that no input carries come last, in order of first appearance.
    """
    carried: dict[Term, tuple[str, ...]] = {}
    counted: dict[Term, tuple[str, ...]] = {}
    for node in subterms(required(term, "output_order")):
        free = {axis.name for axis in node.axes}
        below = (node.item,) if isinstance(node, Proj) else node.children
        parts = [name for child in below for name in carried[child]]
        if isinstance(node, Input):
            parts = [axis.name for axis in node.dims]
        elif isinstance(node, Read):
            index = (*carried[node.index], *counted[node.index])
            parts = [name for dim in carried[node.body] for name in (index if dim == node.axis.name else (dim,))]
        carried[node] = tuple(name for name in dict.fromkeys(parts) if name in free)
        others = (
            [axis.name for axis in node.axes]
            if isinstance(node, Index)
            else [n for child in below for n in counted[child]]
        )
        counted[node] = tuple(name for name in dict.fromkeys(others) if name in free)
    by_name = {axis.name: axis for axis in term.axes}
    return tuple(by_name[name] for name in dict.fromkeys((*carried[term], *counted[term], *by_name)))


def axes_in(term: Term) -> tuple[Axis, ...]:
    """Return every axis that occurs in a term, bound ones too, in order of first appearance."""
    found: dict[Axis, None] = {}
    for node in subterms(term):
        for item in node.fields:
            for axis in item if isinstance(item, tuple) else (item,):
                if isinstance(axis, Axis):
                    found.setdefault(axis)
    return tuple(found)


def bound_sizes(term: Term, inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the size of each axis by name, from the axes themselves, the shapes of the inputs and `sizes`.

    Raises NapkinError where two of them differ, where an input is missing or has another rank.
    """
    known: dict[str, tuple[int, str]] = {}
    every = axes_in(term)
    _bind(known, ((axis.name, axis.size, "its declaration") for axis in every if axis.size is not None))
    if unknown := sorted(set(sizes) - {axis.name for axis in every}):
        raise NapkinError(
            f"sizes: {unknown[0]!r} is no axis of this term; its axes are"
            f" {', '.join(sorted({a.name for a in every})) or 'none'}"
        )
    _bind(known, ((name, size, "sizes") for name, size in sizes.items()))
    for node in subterms(term):
        if isinstance(node, Input):
            _bind(
                known,
                zip(
                    (d.name for d in node.dims),
                    _shape(node, inputs),
                    (f"input {node.name}",) * len(node.dims),
                    strict=True,
                ),
            )
    for axis in every:
        if axis.name in known and known[axis.name][0] % axis.multiple:
            raise NapkinError(
                f"axis {axis.name}: size {known[axis.name][0]} is not a multiple of {axis.multiple}, as was declared"
            )
    return {name: size for name, (size, _) in known.items()}


def _bind(known: dict[str, tuple[int, str]], found: Iterable[tuple[str, int, str]]) -> None:
    for name, size, source in found:
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise NapkinError(f"axis {name}: size {size!r} from {source} is not a positive integer")
        before, other = known.setdefault(name, (size, source))
        if before != size:
            raise NapkinError(
                f"axis {name} has size {before} by {other} and {size} by {source}; one name has one size, rename one"
                " axis"
            )


def _shape(node: Input, inputs: Mapping[str, Any]) -> tuple[int, ...]:
    if node.name not in inputs:
        raise NapkinError(f"input {node.name} is missing; given: {', '.join(sorted(inputs)) or 'none'}")
    value = inputs[node.name]
    shape = tuple(int(size) for size in getattr(value, "shape", None) or _listed_shape(value))
    if len(shape) != len(node.dims):
        raise NapkinError(
            f"input {node.name} has shape {shape}, expected one size for each of"
            f" [{' '.join(d.name for d in node.dims)}]"
        )
    return shape


def _listed_shape(value: Any) -> tuple[int, ...]:
    shape: list[int] = []
    while isinstance(value, (list, tuple)):
        shape.append(len(value))
        value = value[0] if value else 0
    return tuple(shape)
