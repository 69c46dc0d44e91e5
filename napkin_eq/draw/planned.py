"""Reads a derived plan into a circuit: what each kernel loads, keeps, folds and stores, in which blocks.

The operations are those of the extracted terms, tiles and costs those of the kernels; nothing is derived here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from napkin_eq.draw.circuit import CHIP, HIGH, REGISTER, Bracket, Building, Circuit, Node, Strand
from napkin_eq.draw.margins import amount
from napkin_eq.draw.read import Reader, output
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.term import Index, Input, Proj, Read, Reduce, Store, Term, Tuple, bundled, subterms
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.search.tiling import Tiled
from napkin_eq.tile import ir as p
from napkin_eq.tile.resources import BYTES
from napkin_eq.tile.stream_facts import Streamed, depth_along, fold_key, kernel_terms, modes_of

COMPUTED = 4  # bytes of a value that is computed


def circuit(derivation: Derivation) -> Circuit:
    """Return the circuit of a derivation's plan, its kernels one behind the other."""
    drawing, number, ends = _Plan(), 0, list[tuple[str, int]]()
    for out in derivation.outputs:
        plain = _Plain({name: axis for tiled in out.placed.tiled for name, axis in tiled.axes})
        arrays = {plain(term): buffer for term, buffer in out.placed.arrays}
        for store, tiled in zip(out.placed.stores, out.placed.tiled, strict=True):
            drawing.kernel(number, plain(store), tiled, arrays)
            number += 1
        ends += [(name, drawing.high[plain(term)]) for name, _, term in out.each()]
    nodes = drawing.built.nodes
    nodes += [output(name, place, nodes[place]) for name, place in ends]
    return Circuit(tuple(nodes), tuple(drawing.brackets), caption=derivation.diagram.doc)


class _Plain:
    """Terms with the axes that their kernels have: equal sections of a graph, whose axes are named apart, are drawn
    alike.
    """

    def __init__(self, axes: Mapping[str, Axis]) -> None:
        self.axes = axes
        self.done: dict[Term, Term] = {}

    def __call__(self, root: Term) -> Term:
        if not self.axes:
            return root
        for term in subterms(root):
            if term not in self.done:
                made = type(term)(*map(self._field, term.fields))
                if isinstance(made, Read) and made.index == Index(made.axis):
                    made = made.body  # it read one section's axis as the next one's, which are the same now
                self.done[term] = made
        return self.done[root]

    def _field(self, field: Any) -> Any:
        if isinstance(field, tuple):
            return tuple(map(self._field, field))
        if isinstance(field, Axis):
            return self.axes.get(field.name, field)
        return self.done[field] if isinstance(field, Term) else field


class _Plan:
    def __init__(self) -> None:
        self.built = Building()
        self.high: dict[Term, int] = {}  # of each array in the memory of the GPU, its node
        self.brackets: list[Bracket] = []

    def kernel(self, number: int, store: Term, tiled: Tiled, arrays: Mapping[Term, p.Buffer]) -> None:
        """Enter a kernel: what it loads, computes and stores. arrays: where the values that kernels leave to others
        lie.
        """
        assert isinstance(store, Store)
        kernel, terms = tiled.kernel, kernel_terms(store)
        leaves = [t for t in terms if isinstance(t, Input) or (isinstance(t, (Store, Proj)) and t is not store)]
        _, value = modes_of(store)
        items = value.items if isinstance(value, Tuple) else (value,)
        inside, lanes = _folded(items), _merged(kernel)

        def strand(term: Term, axis: Axis) -> Strand:
            if axis in lanes:  # with others it is one axis of the kernel
                return Strand(axis, "g", lanes[axis])
            own = [c for c in kernel.coords if c.axis.name == axis.name and c.role not in ("run", "lane")]
            # One axis may be walked in two ways: by a fold, and as an axis of the result, which gives its
            # coordinate its name.
            folds = [c for c in own if c.name != axis.name]
            found = (
                folds if axis.name in inside.get(term, ()) and folds else [c for c in own if c not in folds] or own
            )[:1]
            part = {"group": "g", "stream": "s", "walk": "s"}.get(found[0].role, "") if found else ""
            return Strand(axis, part, found[0].tile if part else None)

        first = len(self.built.nodes)
        fed = p.operands(kernel.body)
        operands = {s.buffer for s in p.statements(kernel.body) if isinstance(s, p.Load) and s.out.name in fed}
        stops: dict[Term, int] = {}
        for leaf in leaves:
            buffer = _buffer(leaf, kernel, arrays)
            dims = buffer.dims if buffer else leaf.dims if isinstance(leaf, Input) else leaf.axes
            element = BYTES[buffer.dtype] if buffer else COMPUTED
            if leaf not in self.high:
                self.high[leaf] = self.built.add(
                    Node("input", (), _whole(dims), caption=str(leaf), title=str(leaf), term=leaf)
                )
            strands = tuple(strand(leaf, axis) for axis in dims) or (Strand(None),)
            level = CHIP if buffer and buffer.name in operands else REGISTER
            stops[leaf] = self.built.add(
                Node(
                    "load",
                    (self.high[leaf],),
                    strands,
                    level=level,
                    caption="load",
                    moved=_sent(dims, strands, element, kernel),
                    kernel=number,
                    held=_bytes(strands, element),
                    title=f"{leaf} comes on chip",
                    term=leaf,
                )
            )

        def dress(node: Node) -> Node:
            return replace(node, level=REGISTER, kernel=number, held=_bytes(node.strands, COMPUTED))

        reader = Reader(self.built, items, stops, strand, whole=True, dress=dress)
        written = list(map(kernel.whole, kernel.writes))
        for place, item in enumerate(items):
            key = Proj(place, store) if bundled(store) else store
            dims = written[place].dims if place < len(written) else item.axes
            element = BYTES[written[place].dtype] if place < len(written) else COMPUTED
            self.high[key] = self.built.add(
                Node(
                    "store",
                    (reader.visit(item),),
                    _whole(dims),
                    level=HIGH,
                    caption="store",
                    moved=_product(dims, element),
                    kernel=number,
                    title="stored in the memory of the GPU",
                    term=key,
                )
            )
        mine = tuple(n for n in range(first, len(self.built.nodes)) if self.built.nodes[n].kernel == number)
        self.loops(mine, kernel, terms)
        self.brackets.append(Bracket("kernel", _about(number + 1, tiled), mine))

    def loops(self, mine: Sequence[int], kernel: p.Kernel, terms: Sequence[Term]) -> None:
        """Enter a bracket for each loop of a kernel: from where a block comes on chip to where it is folded or kept."""
        nodes = self.built.nodes
        for coord in kernel.coords:
            if coord.role not in ("stream", "walk"):
                continue
            name = coord.axis.name
            inside = tuple(
                n
                for n in mine
                if name in nodes[n].takes or any(s.name == name for s in nodes[n].strands if nodes[n].kind != "store")
            )
            if not inside:
                continue
            times = (
                "block after block"
                if coord.blocks is None
                else "1 block"
                if coord.blocks == 1
                else f"{coord.blocks} blocks, one after another"
            )
            found = _passes(terms, coord.axis) if coord.role == "stream" else 1
            more = f", {found} passes" if found > 1 else ""
            self.brackets.append(Bracket("loop", f"↻ {name} by s_{name} = {coord.tile}: {times}{more}", inside))


def _merged(kernel: p.Kernel) -> dict[Axis, int]:
    """Return how many lanes of each axis a tile spans of those that a kernel takes with others as one."""
    tiles = {coord.axis: coord.tile for coord in kernel.coords}
    found: dict[Axis, int] = {}
    for axis, parts in kernel.merged:
        left = tiles.get(axis, 1)
        for part in reversed(parts):
            size = part.size or 1
            found[part], left = min(left, size), -(-left // size)
    return found


def _folded(items: Sequence[Term]) -> dict[Term, set[str]]:
    """Return, for each term of a kernel, the axes that a fold above it walks."""
    found: dict[Term, set[str]] = {}
    waiting: list[tuple[Term, frozenset[str]]] = [(item, frozenset()) for item in items]
    seen = set(waiting)
    while waiting:
        term, above = waiting.pop()
        found.setdefault(term, set()).update(above)
        if isinstance(term, Proj) or (isinstance(term, Store) and term not in items):
            continue
        for child in term.children:
            walked = above | {term.axis.name} if isinstance(term, Streamed) else above
            key = (child, walked & {axis.name for axis in child.axes})
            if key not in seen:
                seen.add(key)
                waiting.append(key)
    return found


def _about(number: int, tiled: Tiled) -> str:
    """Return a line about a kernel."""
    cost, kernel = tiled.cost, tiled.kernel
    groups = " × ".join(f"g_{name} = {kernel.coord(name).tile}" for name in kernel.grid)
    blocks = f"{cost.blocks} block{'s' if cost.blocks > 1 else ''}" + (f" of {groups}" if groups else "")
    moved = f"{amount(cost.bytes_hbm, 'B')} to and from memory"
    return f"kernel {number}: {blocks}; {moved}, {cost.predicted_us:.3g} µs predicted, bound by {cost.limit}"


def _passes(terms: Sequence[Term], axis: Axis) -> int:
    """Count the passes over an axis: folds that share one have one depth, any other is a pass of its own."""
    keys = set()
    for term in terms:
        if isinstance(term, Streamed) and term.axis.name == axis.name:
            keys.add(depth_along(term, axis) if not isinstance(term, Reduce) and term.fused else fold_key(term))
    return len(keys)


def _buffer(leaf: Term, kernel: p.Kernel, arrays: Mapping[Term, p.Buffer]) -> p.Buffer | None:
    if isinstance(leaf, Input):
        return next((kernel.whole(b) for b in kernel.reads if b.name == leaf.name), None)
    return arrays.get(leaf)


def _whole(dims: Sequence[Axis]) -> tuple[Strand, ...]:
    return tuple(map(Strand, dims)) or (Strand(None),)


def _product(dims: Sequence[Axis], element: int) -> int | None:
    sizes = [axis.size for axis in dims]
    return None if None in sizes else element * math.prod(size for size in sizes if size)


def _sent(dims: Sequence[Axis], strands: Sequence[Strand], element: int, kernel: p.Kernel) -> int | None:
    """Return the bytes of an array that all blocks together read, each block its own part once."""
    own = {strand.name for strand in strands if strand.part == "g"}
    whole = _product(dims, element)
    again = [kernel.coord(name).blocks for name in kernel.grid if kernel.coord(name).axis.name not in own]
    return None if whole is None or None in again else whole * math.prod(blocks for blocks in again if blocks)


def _bytes(strands: Sequence[Strand], element: int) -> int | None:
    """Return the bytes of a tile on chip."""
    lanes = [strand.tile or (strand.axis.size if strand.axis else 1) for strand in strands]
    return None if None in lanes else element * math.prod(lane for lane in lanes if lane)
