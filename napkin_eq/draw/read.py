"""Reads terms into circuits: contractions, folds, operators and reads become nodes.

Numbers, coordinates and masks go into captions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from napkin_eq.draw.circuit import HIGH, Building, Circuit, Node, Strand, strands_of
from napkin_eq.draw.regions import Region, bare, is_written, parts, regions, users_of
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.operators import REDUCTIONS
from napkin_eq.lang.term import (
    Const,
    Fold,
    Index,
    Input,
    Map,
    Online,
    Pattern,
    Read,
    Recur,
    Reduce,
    Scan,
    Store,
    Term,
    rebuilt,
)
from napkin_eq.laws.law import Var

MOST_OPERATORS, MOST_ARGUMENTS, SHORT = 9, 3, 24
SIGNS = {name: monoid.sign for name, monoid in REDUCTIONS.items()}
TRUE = Const(True)
Folds = (Reduce, Fold, Online)


def circuit(diagram: Diagram) -> Circuit:
    """Return the circuit of a diagram: all in the memory of the GPU, each operation with its work and what it moves."""
    built = Building()
    reader = Reader(built, [term for _, term in diagram.outputs])
    ends = [(name, reader.visit(term)) for name, term in diagram.outputs]
    nodes = [_alone(node, built.nodes) for node in built.nodes]
    nodes += [output(name, place, built.nodes[place]) for name, place in ends]
    return Circuit(tuple(nodes), caption=diagram.doc)


def output(name: str, place: int, node: Node) -> Node:
    """Return the node that names an output."""
    return Node("output", (place,), node.strands, level=node.level, caption=name, kernel=node.kernel)


def _alone(node: Node, nodes: Sequence[Node]) -> Node:
    """Return a node with the bytes that it moves if it is a kernel of its own, values of two bytes."""
    if node.kind in ("input", "output"):
        return node
    moved = [size_of(strands_of(axes_of(n))) for n in (node, *(nodes[arg] for arg in dict.fromkeys(node.args)))]
    return replace(node, moved=None if None in moved else 2 * sum(size for size in moved if size))


def axes_of(node: Node) -> tuple[Axis, ...]:
    """Return the axes of a node's value."""
    return tuple(strand.axis for strand in node.strands if strand.axis)


def size_of(strands: Sequence[Strand]) -> int | None:
    """Return the number of elements, None where a size is a symbol."""
    sizes = [strand.axis.size for strand in strands if strand.axis]
    return None if None in sizes else math.prod(size for size in sizes if size)


class Reader:
    """Enters terms into a circuit: `Reader(built, roots)`, then `visit(root)` gives the place of each.

    stops: terms that stand as arrays at places that are known; strand: how an axis of a term is present; spans: the
    axes of a term, patterns included; whole: draw every operation, regions of one array too; streams: say of folds how
    they are walked; dress: what is changed of each node.
    """

    def __init__(
        self,
        built: Building,
        roots: Sequence[Term],
        stops: Mapping[Term, int] | None = None,
        strand: Callable[[Term, Axis], Strand] = lambda term, axis: Strand(axis),
        spans: Callable[[Term], tuple[Axis, ...]] = lambda term: term.axes,
        whole: bool = False,
        streams: bool = False,
        dress: Callable[[Node], Node] = lambda node: node,
    ) -> None:
        self.built, self.stops, self.strand, self.spans, self.dress, self.streams = (
            built,
            dict(stops or {}),
            strand,
            spans,
            dress,
            streams,
        )
        self.users = users_of(roots, self.stops)
        self.roots = set(map(bare, roots))
        found = {} if whole else regions(self.users, self.stops, self.roots)
        self.regions: dict[Term, Region] = found if _worth_it(found, self.users) else {}
        self.places: dict[Term, int] = dict(self.stops)

    def visit(self, term: Term) -> int:
        """Return the place of a term's node, entering it and what it is made of first."""
        term = bare(term)
        if term not in self.places:
            node = self._node(term)
            if not isinstance(term, (Input, Pattern)):
                node = replace(node, title=node.title or str(term), term=term)
            self.places[term] = self.built.add(self.dress(node))
        return self.places[term]

    def strands(self, term: Term) -> tuple[Strand, ...]:
        """Return the strands of a term's value."""
        axes = term.dims if isinstance(term, Input) else self.spans(term)
        return tuple(self.strand(term, axis) for axis in axes) or (Strand(None),)

    def _node(self, term: Term) -> Node:
        if isinstance(term, Input) or (isinstance(term, Pattern) and not parts(term)):
            title = f"{term.name}: {term.dtype}" if isinstance(term, Input) else str(term)
            return Node("input", (), self.strands(term), level=HIGH, caption=str(term), title=title, term=term)
        if term in self.regions:
            return self._shape(self.regions[term])
        if isinstance(term, Folds):
            return self._fold(term)
        if isinstance(term, Recur):
            sides = (self.visit(term.gain), self.visit(term.body))
            return Node("scan", sides, self.strands(term), touches=(term.axis.name,), sign="h", flops=self._work(term))
        if isinstance(term, Scan):
            work = self._work(term.body)
            return Node(
                "scan",
                (self.visit(term.body),),
                self.strands(term),
                touches=(term.axis.name,),
                sign=SIGNS[term.monoid],
                flops=work,
            )
        if isinstance(term, Read):
            return self._read(term)
        if isinstance(term, Map) or is_written(term):
            return self._map(term)
        if isinstance(term, Store):
            return Node("store", (self.visit(term.body),), self.strands(term), caption="store")
        return Node(
            "map", tuple(self.visit(p) for p in parts(term)), self.strands(term), caption=type(term).__name__.lower()
        )

    # -- the kinds of nodes
    # ----------------------------------------------------------------------------------------------

    def _map(self, term: Term) -> Node:
        args: dict[Term, Term] = {}
        count = 0

        def build(part: Term, top: bool = False) -> Term:
            nonlocal count
            if is_written(part):
                return part
            alone = (
                isinstance(part, Map) and part not in self.regions and part not in self.stops and part not in self.roots
            )
            alone = alone and len(self.users[part]) == 1 and count < MOST_OPERATORS and len(args) < MOST_ARGUMENTS
            if top or alone:
                count += 1
                return rebuilt(part, tuple(build(bare(child)) for child in part.children))
            return args.setdefault(part, Var(f"arg{len(args)}", part.kind))

        formula = build(term, top=not is_written(term))
        work = self._work(term)
        places = tuple(self.visit(arg) for arg in args)
        return Node(
            "map", places, self.strands(term), formula=formula, flops=None if work is None else work * max(count, 1)
        )

    def _fold(self, term: Term) -> Node:
        monoid = "sum" if isinstance(term, Online) else term.monoid
        axes, body, where = [term.axis], bare(term.body), term.where
        while type(body) is type(term) and not isinstance(body, Online) and body.monoid == monoid and self._inner(body):
            if body.where is not TRUE:
                break
            axes.append(body.axis)
            body = bare(body.body)
        names = tuple(axis.name for axis in axes)
        mask = "" if where is TRUE else str(where)
        factors = self._factors(body) if monoid == "sum" else []
        carried = self._carried(term) if isinstance(term, Online) else ""
        if self.streams and not isinstance(term, Reduce):
            carried = "\n".join([carried] * bool(carried) + ["in a shared pass" if term.fused else "block by block"])
        shared = {a.name for a in self.spans(body)} & set(names)
        if sum(bool({a.name for a in self.spans(f)} & shared) for f in factors) > 1:
            written = [str(f) for f in factors if is_written(f)]
            caption = " · ".join(written) if written else mask
            places = tuple(self.visit(f) for f in factors if not is_written(f))
            work = self._work(body)
            flops = None if work is None else 2 * work
            return Node(
                "contract", places, self.strands(term), takes=names, caption=carried or caption, sign="Σ", flops=flops
            )
        masks = () if is_written(where) else (self.visit(where),)
        return Node(
            "fold",
            (self.visit(body), *masks),
            self.strands(term),
            takes=names,
            caption=carried or mask,
            sign=SIGNS[monoid],
            flops=self._work(body),
        )

    def _inner(self, body: Term) -> bool:
        return len(self.users[body]) == 1 and body not in self.stops and body not in self.roots

    def _factors(self, body: Term) -> list[Term]:
        """Return the factors of a product that nothing else uses; of anything else, the term itself."""
        if body in self.regions or not (isinstance(body, Map) and body.op == "mul" and self._inner(body)):
            return [body]
        return [f for arg in body.args for f in ([arg] if is_written(arg) else self._factors(bare(arg)))]

    @staticmethod
    def _carried(term: Term) -> str:
        """Return how a carried sum changes from block to block, in short."""
        update = term.update
        if len(text := f"acc ← {update}") <= SHORT:
            return text
        return f"acc ← acc {'+' if isinstance(update, Map) and update.op == 'add' else '·'} ρ"

    def _read(self, term: Term) -> Node:
        body, taken, indices = term, list[Axis](), list[Term]()
        while isinstance(body, Read) and (body is term or (self._inner(body) and body.axis not in taken)):
            taken.append(body.axis)
            indices.append(body.index)
            body = bare(body.body)
        # A coordinate that another read of the chain takes away again would be drawn twice: then each is a node of
        # its own.
        if any(a.name in {t.name for t in taken} for index in indices for a in index.axes):
            taken, indices, body = [term.axis], [term.index], bare(term.body)
        arrays = tuple(self.visit(bare(i)) for i in indices if not is_written(i))
        caption = ", ".join(f"{a.name} := {i}" for a, i in zip(taken, indices, strict=True))
        plain = all(isinstance(i, Index) for i in indices)
        names = tuple(a.name for a in taken)
        sign = "" if plain else ", ".join(dict.fromkeys(str(i) for i in indices))
        return Node(
            "read",
            (self.visit(body), *arrays),
            self.strands(term),
            takes=names,
            caption="" if not plain else caption,
            sign=sign,
            title=caption,
        )

    def _shape(self, region: Region) -> Node:
        work = self._work(region.start)
        flops = None if work is None else work * len(region.inside)
        return Node(
            "shape",
            (self.visit(region.start),),
            self.strands(region.out),
            touches=region.axes,
            caption=_in_short(region),
            title=str(region.out),
            flops=flops,
        )

    def _work(self, body: Term) -> int | None:
        return size_of(strands_of(self.spans(body)))


def _worth_it(found: Mapping[Term, Region], users: Mapping[Term, list[Term]]) -> bool:
    """Tell whether regions are folded: not where one is all that there is to see."""
    inside = {term for region in found.values() for term in region.inside}
    return len(found) > 1 or any(isinstance(term, (*Folds, Scan)) for term in users if term not in inside)


def _in_short(region: Region) -> str:
    """Return what a region does to a value `a`, on two lines: the result, and a part that it has more than once."""
    letters: dict[Term, Term] = {region.start: Var("a", region.start.kind)}

    def spelled(term: Term, stop: Term | None = None) -> Term:
        if term is stop:
            return Var("t", term.kind)
        if term in letters:
            return letters[term]
        return rebuilt(term, tuple(spelled(bare(child), stop) for child in term.children))

    inside = set(region.inside)
    counts = {t: sum(child is t for user in inside for child in user.children) for t in inside}
    again = next((t for t in region.inside if counts[t] > 1), None)
    if again is None:
        return str(spelled(region.out))
    return f"{spelled(region.out, again)}\nt = {spelled(again)}"
