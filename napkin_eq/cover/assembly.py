"""A cover as one plan with one chain of steps: each kernel's chain is a lemma about the value that it stores.

Consumers are rewritten before producers: then a lemma speaks of terms of the diagram, of which facts are derived, and what is
left of a value in that form, once all that read it are rewritten, is where it is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from napkin_eq.cover.graph import Graph
from napkin_eq.cover.pieces import Piece
from napkin_eq.cover.pricing import Proved
from napkin_eq.egraph.congruence import Step
from napkin_eq.lang.term import Store, Term, Tuple, rebuilt, subterms
from napkin_eq.machine.cost import total_us
from napkin_eq.machine.gpu import Hardware
from napkin_eq.search.assemble import renamed
from napkin_eq.search.derivation import AGREES, UNKNOWN, Translation
from napkin_eq.search.placement import Placed, parallel
from napkin_eq.search.tiling import Tiled
from napkin_eq.tile.ir import Buffer


def assembled(graph: Graph, pieces: Sequence[tuple[Piece, Proved]], name: str, machine: Hardware) -> tuple[Placed, list[Step]]:
    """Return the placement of a graph's outputs by pieces, producers first, and the steps from the outputs to it."""
    held: dict[Term, Term] = {}
    stores: list[Store] = []
    tiled: list[Tiled] = []
    arrays: dict[Term, Buffer] = {}
    for piece, proved in pieces:
        put = _Put({array: held[value] for value, array in piece.arrays.items()})
        read = {array.name: arrays[held[value]].name for value, array in piece.arrays.items()}
        scratch = {term: buffer.name for term, buffer in proved.placed.arrays}
        for term, buffer in proved.placed.arrays:
            read[buffer.name] = f"{name}__s{len(arrays)}"
            arrays[put(term)] = replace(buffer, name=read[buffer.name])
        for store, part in zip(proved.placed.stores, proved.placed.tiled, strict=True):
            stores.append(put(store))  # type: ignore[arg-type]
            tiled.append(replace(part, kernel=renamed(part.kernel, part.kernel.name, read)))
        for value, output, stored in zip(piece.candidate.outs, piece.outputs, parallel(proved.placed.term), strict=True):
            held[value] = put(stored)
            assert stored not in scratch or held[value] in arrays
            arrays.setdefault(held[value], Buffer(f"{name}__s{len(arrays)}", output.dims, output.dtype))
    found = tuple(held[output] for output in graph.outputs)
    term = found[0] if len(found) == 1 else Tuple(found)
    price = total_us([t.cost for t in tiled], machine)
    steps = [step for piece, proved in reversed(pieces) for step in _lemmas(piece, proved)]
    return Placed(term, tuple(stores), tuple(tiled), price, tuple(arrays.items())), steps


def _lemmas(piece: Piece, proved: Proved) -> list[Step]:
    """Return the steps of a piece, what it reads in the place of its arrays; of several outputs the steps of each, consumers before producers."""
    put = _Put({array: value for value, array in piece.arrays.items()})
    outs = piece.candidate.outs
    found: list[Step] = []
    for place, value in reversed([*enumerate(outs)]):
        for step in proved.steps:
            if len(outs) > 1 and step.path[0] != place:
                continue
            path = step.path[1:] if len(outs) > 1 else step.path
            bindings = tuple((name, put(part) if isinstance(part, Term) else part) for name, part in step.bindings)
            found.append(replace(step, path=path, bindings=bindings, before=put(step.before), after=put(step.after), lemma=value))
    return found


class _Put:
    """Puts terms in the place of arrays, everywhere."""

    def __init__(self, arrays: Mapping[Term, Term]) -> None:
        self.done = dict(arrays)

    def __call__(self, root: Term) -> Term:
        if root not in self.done:
            for term in subterms(root):
                if term not in self.done:
                    self.done[term] = rebuilt(term, tuple(self.done[c] for c in term.children))
        return self.done[root]


def validated(parts: Sequence[Translation]) -> Translation:
    """Return what validation of each kernel by itself says of the plan: that it agrees if all do."""
    if (odd := next((t for t in parts if t.status != AGREES), None)) is not None:
        return Translation(UNKNOWN, f"of {len(parts)} kernels, validated one by one, one was not: {odd.why}")
    sizes: dict[str, int] = {}
    for part in parts:
        sizes |= dict(part.sizes)
    return Translation(AGREES, f"kernel by kernel, {len(parts)} of them", tuple(sorted(sizes.items())), parts[0].inputs)


def data(pieces: Sequence[tuple[Piece, Any]]) -> list[dict[str, Any]]:
    """Return what each kernel of a cover stores and reads, for a report."""
    return [{"stores": [o.name for o in p.outputs], "reads": [a.name for a in p.arrays.values()]} for p, _ in pieces]
