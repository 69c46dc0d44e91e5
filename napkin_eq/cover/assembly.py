"""A cover as one plan with one chain of steps: each kernel's chain is a lemma about the value that it stores.

Consumers are rewritten before producers: then a lemma speaks of terms of the diagram, of which facts are derived, and
what is left of a value in that form, once all that read it are rewritten, is where it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from napkin_eq.cover.pieces import Piece
from napkin_eq.cover.pricing import Proved
from napkin_eq.egraph.congruence import Step
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import WrongPlan
from napkin_eq.lang.substitute import array_of
from napkin_eq.lang.term import Read, Store, Term, Tuple, subterms, with_part
from napkin_eq.machine.cost import total_us
from napkin_eq.machine.gpu import Hardware
from napkin_eq.search.assemble import renamed
from napkin_eq.search.candidates import Stored
from napkin_eq.search.derivation import AGREES, UNKNOWN, Translation
from napkin_eq.search.placement import Placed, parallel
from napkin_eq.search.tiling import Tiled
from napkin_eq.tile.ir import Buffer


@dataclass(frozen=True, slots=True)
class Part:
    """A kernel of a cover, or a few, in its place: values of the diagram that it stores, how, and what each of its
    arrays stands for there.

    axes: what an axis of the piece is called in the diagram.
    """

    outs: tuple[Term, ...]
    stored: tuple[Stored, ...]
    arrays: dict[Term, Term]
    proved: Proved
    axes: Callable[[Axis], Axis] = field(default=lambda axis: axis)


def part_of(piece: Piece, proved: Proved) -> Part:
    """Return a piece in its place in the graph that it was taken of."""
    return Part(piece.candidate.outs, piece.outputs, {array: value for value, array in piece.arrays.items()}, proved)


def within(part: Part, put: Put) -> Part:
    """Return a part of a section in its place in the diagram, of which the section's arrays stand for values."""
    return Part(
        tuple(map(put, part.outs)),
        part.stored,
        put.given | {a: put(v) for a, v in part.arrays.items()},
        part.proved,
        put.axes,
    )


@dataclass(frozen=True, slots=True)
class Named:
    """What the arrays that a part stores, and the stored ones that it reads, are called in the plan."""

    stores: tuple[str, ...]
    reads: tuple[str, ...]


def assembled(
    outputs: Sequence[Term], parts: Sequence[Part], names: Sequence[str], machine: Hardware
) -> tuple[Placed, list[Step], list[Named]]:
    """Return the placement of a graph's outputs by its parts, producers first, the steps from the outputs to it, and
    each part's arrays.

    names: of the outputs.
    """
    name = names[0]
    held: dict[Term, Term] = {}
    stores: list[Store] = []
    tiled: list[Tiled] = []
    arrays: dict[Term, Buffer] = {}
    read_by: list[list[Term]] = []
    for part in parts:
        put = Put({array: _stored(value, held) for array, value in part.arrays.items()}, part.axes)
        read = {
            array.name: arrays[held[v]].name if (v := array_of(value)) in held else v.name
            for array, value in part.arrays.items()
        }
        read_by.append([held[v] for value in part.arrays.values() if (v := array_of(value)) in held])
        scratch = {term: buffer.name for term, buffer in part.proved.placed.arrays}
        for term, buffer in part.proved.placed.arrays:
            # What another part has stored on its way is stored
            made = arrays.setdefault(put(term), replace(buffer, name=f"{name}__s{len(arrays)}"))
            if made.dtype != buffer.dtype:
                raise WrongPlan(f"{made.name} is stored as {made.dtype} by one kernel and as {buffer.dtype} by another")
            read[buffer.name] = made.name
        for store, kernel in zip(part.proved.placed.stores, part.proved.placed.tiled, strict=True):
            own = put(store)
            assert isinstance(own, Store)
            if own in stores:
                continue
            stores.append(own)
            named = {
                part.axes(axis).name: axis for axis in (c.axis for c in kernel.kernel.coords) if part.axes(axis) != axis
            }
            tiled.append(
                replace(
                    kernel, kernel=renamed(kernel.kernel, kernel.kernel.name, read), axes=tuple(sorted(named.items()))
                )
            )
        for value, output, stored in zip(part.outs, part.stored, parallel(part.proved.placed.term), strict=True):
            held[value] = put(stored)
            assert stored not in scratch or held[value] in arrays
            arrays.setdefault(held[value], Buffer(f"{name}__s{len(arrays)}", output.dims, output.dtype))
    found = tuple(held[output] for output in outputs)
    term = found[0] if len(found) == 1 else Tuple(found)
    price = total_us([t.cost for t in tiled], machine)
    steps = [step for part in reversed(parts) for step in _lemmas(part)]
    called = {term: f"{name}__t{place}" for place, term in enumerate(arrays)} | dict(zip(found, names, strict=True))
    told = [
        Named(tuple(called[held[out]] for out in part.outs), tuple(dict.fromkeys(called[value] for value in read)))
        for part, read in zip(parts, read_by, strict=True)
    ]
    return Placed(term, tuple(stores), tuple(tiled), price, tuple(arrays.items())), steps, told


def _stored(value: Term, held: Mapping[Term, Term]) -> Term:
    """Return what a value, or a read of one, is once the value is stored."""
    if isinstance(value, Read):
        return Read(_stored(value.body, held), value.axis, value.index)
    return held.get(value, value)


def _lemmas(part: Part) -> list[Step]:
    """Return the steps of a part, what it reads in the place of its arrays; of several outputs the steps of each.

    Consumers come before producers. Where several are stored together, each lemma leads to all of them. One that stands
    there as in the diagram would be replaced in its turn: until then a part of it is stored, so that it is another
    term.
    """
    put = Put(part.arrays, part.axes)

    def bound(value: Term | Axis) -> Term | Axis:
        return put(value) if isinstance(value, Term) else part.axes(value)

    found: list[Step] = []
    kept, seen = [put(item) for item in parallel(part.proved.placed.term)], set[Term]()
    for place, value in reversed([*enumerate(part.outs)]):
        for step in part.proved.steps:
            if len(part.outs) > 1 and step.path[0] != place:
                continue
            path, ends = step.path, [step.before, step.after]
            if len(part.outs) > 1:
                path, ends = path[1:], [end.children[place] for end in ends]
            before, after = map(put, ends)
            bindings = tuple((name, bound(given)) for name, given in step.bindings)
            found.append(replace(step, path=path, bindings=bindings, before=before, after=after, lemma=value))
        left = kept[place]
        for other in part.outs[:place]:  # their lemmas come later, and are not about what is stored beside this value
            if (hidden := _hidden(other)) is None:
                continue
            for path in _paths(left, other):
                stored = with_part(left, path, _with(other, hidden))
                found.append(replace(hidden, path=(*path, *hidden.path), before=left, after=stored, lemma=value))
                left = stored
                seen.add(other)
        if value in seen and (hidden := _hidden(value)) is not None:
            stored = _with(value, hidden)
            found.append(replace(hidden, forward=False, before=stored, after=value, lemma=stored))
    return found


def _hidden(value: Term) -> Step | None:
    """Return the step that stores the first part of a value that is a number, None where it has none."""
    place = next((i for i, child in enumerate(value.children) if child.kind == "real"), None)
    if place is None:
        return None
    part = value.children[place]
    return Step("level", True, (place,), (("a", part),), part, Store(part))


def _with(value: Term, hidden: Step) -> Term:
    """Return a value with a part of it stored."""
    return with_part(value, hidden.path, hidden.after)


def _paths(root: Term, part: Term) -> list[tuple[int, ...]]:
    """Return where a term stands in another, outermost, as child numbers from the root."""
    if part not in subterms(root):
        return []
    if root is part:
        return [()]
    return [(i, *path) for i, child in enumerate(root.children) for path in _paths(child, part)]


class Put:
    """Puts terms in the place of others, everywhere, and axes in the place of others where what it puts is not."""

    def __init__(self, given: dict[Term, Term], axes: Callable[[Axis], Axis] = lambda axis: axis) -> None:
        self.given, self.axes = given, axes
        self.done = dict(given)

    def __call__(self, root: Term) -> Term:
        if root not in self.done:
            for term in subterms(root):
                if term not in self.done:
                    self.done[term] = type(term)(*map(self._field, term.fields))
        return self.done[root]

    def _field(self, field: Any) -> Any:
        if isinstance(field, Term):
            return self.done[field]
        if isinstance(field, tuple):
            return tuple(map(self._field, field))
        return self.axes(field) if isinstance(field, Axis) else field


def validated(parts: Sequence[Translation]) -> Translation:
    """Return what validation of each kernel by itself says of the plan: that it agrees if all do."""
    if (odd := next((t for t in parts if t.status != AGREES), None)) is not None:
        return Translation(UNKNOWN, f"of {len(parts)} kernels, validated one by one, one was not: {odd.why}")
    sizes: dict[str, int] = {}
    for part in parts:
        sizes |= dict(part.sizes)
    return Translation(AGREES, f"kernel by kernel, {len(parts)} of them", tuple(sorted(sizes.items())), parts[0].inputs)
