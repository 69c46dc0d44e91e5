"""Extraction: the cheapest terms that an e-graph holds, by what their work costs when shared work counts once.

Bottom-up over the classes, each keeps its K best candidates. A candidate is a term and the set of its *items*: a class
evaluated in given passes. The same class in the same pass is one item however often it is used; in two passes it is
two. So a form that needs fewer passes over an axis is cheaper, and by how much. Unsafe exponentials are never
candidates. Where values are stored and how outputs are partitioned is chosen afterwards with the full model
(placement.py).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import cache

from napkin_eq.egraph.budget import METER, Budget
from napkin_eq.egraph.nodes import Node, Saturated, built
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Input, Map, Read, Reduce, Scan, Term
from napkin_eq.laws.axis_split import is_stretch
from napkin_eq.machine.cost import elements, extent
from napkin_eq.machine.gpu import Hardware
from napkin_eq.machine.term_cost import TermCost
from napkin_eq.search.forms import HELD, Candidate, all_passes, begins, deepest, diverse, merged_depth, tangled

KEEP, KEEP_OUTPUTS, SWEEPS = 5, 12, 40
# Once there is a candidate for the root, so many more are tried; of the forms of a node of a large graph fewer.
MOST_TRIED, LARGE, EXTRACTING = 400_000, 6_000, 0.55
TRIED = 3  # of the updates of a sum that is carried, beside a body that is as it was first written
BLOCK = 128  # of a product's rows or columns, what a block has
OTHERS = 2  # of the forms of the root that take other passes than the best, how many are kept beside them
Pass = tuple[str, int]
Item = tuple[int, str | Term, frozenset[Pass]]
_HIDDEN = ("Store", "Group", "Walk")
_NOTHING: frozenset[str] = frozenset()


class Extractor:
    """Keeps the best candidates of every class of a saturated e-graph for a hardware.

    admitted(term, given) says whether the exponential of a term may be taken; given: the source itself takes it.
    cut: axes that may only be folded a stretch at a time, each stretch by itself, by the name of the axis that counts
    them.
    barred: nodes that no form uses, each by its class and its place there; kept(term) says whether a form of the root
    is one at all, whole(term) gives such a form the axes that it was declared with, where it varies along fewer.
    written: what Prev speaks of is taken as it was first written, since before a stream's first block fewer laws hold.
    alone: all is to be one kernel, which stores no operand for itself.
    """

    def __init__(
        self,
        graph: Saturated,
        hardware: Hardware,
        element_bytes: int,
        admitted: Callable[[Term, bool], bool],
        cut: Mapping[str, str] | None = None,
        barred: Set[tuple[int, int]] = frozenset(),
        kept: Callable[[Term], bool] | None = None,
        budget: Budget | None = None,
        written: bool = False,
        alone: bool = False,
        whole: Callable[[Term], Term] | None = None,
    ) -> None:
        self.whole = whole
        self.barred, self.kept, self.written, self.alone = barred, kept, written, alone
        self.budget, self.work = budget or Budget(), 0
        self.most = 4 * KEEP if graph.nodes <= LARGE else KEEP
        self.graph, self.leaves, self.cost_of = graph, graph.leaves, TermCost(hardware, element_bytes)
        self.masked = hardware.ranking.masked
        self.admitted = admitted
        self.cut = dict(cut or {})
        self.counters = {*self.cut.values()}
        self.ids: dict[Item, int] = {}
        self.listed: list[Item] = []
        self.weights: list[float] = []
        self.along: dict[str, set[int]] = {}
        self.moved: dict[tuple[Axis, Pass, float, bool], dict[int, int]] = {}
        self.best: dict[int, list[Candidate]] = {c: [] for c in graph.classes}
        self.computed: dict[int, Candidate] = {}  # outputs that others read as they are stored
        self.literal: dict[Term, Candidate | None] = {}
        self.numbers = {term: number for number, term in graph.reps.items()} if written else {}
        self.first: dict[int, Candidate | None] = {}
        self.written_in: dict[int, set[Term]] = {}
        self.lanes = {c: elements(graph.reps[c].axes) if c in graph.reps else 1 for c in graph.classes}
        sums = (node for nodes in graph.classes.values() for node in nodes if node.kind in ("Fold_sum", "Online"))
        self.products = {node.children[0] for node in sums if self._of_matrices(node.children[0])}
        self.streamed = {c: any(n.kind.startswith("Fold") for n in nodes) for c, nodes in graph.classes.items()}

    def run(self) -> list[Candidate]:
        """Return the best candidates of the root, cheapest first.

        Where one of several outputs is part of another, forms that read it as it is stored are among them.
        """
        found = self._settled({})
        read: dict[int, Candidate] = {}
        for number in self._inner():
            if self.best[number]:
                held = self.computed[number] = self.best[number][0]
                load = self._item((number, "load", frozenset()), self.cost_of.load(self.lanes[number]))
                read[number] = Candidate(
                    held.make,
                    held.nesting,
                    frozenset([load]),
                    load,
                    self.weights[load],
                    waits=deepest(held.depth, held.waits),
                )
                found = sorted([*found, *self._settled(read)], key=lambda c: c.cost)
        return found

    def taken(self, candidates: Iterable[Candidate]) -> dict[int, dict[int, Node]]:
        """Return the nodes that some candidates are made of, by class and place."""
        found: dict[int, dict[int, Node]] = {}
        waiting, seen = list(candidates), set[int]()
        while waiting:
            candidate = waiting.pop()
            if candidate.made_of is None or id(candidate) in seen:
                continue
            seen.add(id(candidate))
            number, node, parts = candidate.made_of
            found.setdefault(number, {})[self.graph.classes[number].index(node)] = node
            waiting += parts
        return found

    def _inner(self) -> list[int]:
        """Return the outputs below other outputs, inner ones first."""
        outputs = [c for n in self.graph.classes[self.graph.root] if n.kind == "Tuple" for c in n.children]
        below = {c: set(self._reachable(c)) for c in outputs}
        return sorted((c for c in below if any(c in below[o] for o in below if o != c)), key=lambda c: len(below[c]))

    def _settled(self, read: Mapping[int, Candidate]) -> list[Candidate]:
        """Offer every class candidates until nothing changes; the classes of `read` are there to be read, and return
        the root's.
        """
        self.best = {c: [read[c]] if c in read else [] for c in self.graph.classes}
        order = [c for c in self._reachable(self.graph.root) if c not in read]
        version = dict.fromkeys(self.graph.classes, 0)
        built_at: dict[tuple[int, int], tuple[int, ...]] = {}
        nodes = {number: self._offering(number) for number in order}
        read_by: dict[int, set[int]] = {}
        for number in order:
            for child in {c for _, node in nodes[number] for c in node.children}:
                read_by.setdefault(child, set()).add(number)
        waiting = set(order)  # classes one of whose parts has other candidates than when they were last offered some
        for _ in range(SWEEPS):
            changed = False
            self.first.clear()
            for number in order:
                if number not in waiting:
                    continue
                waiting.remove(number)
                for place, node in nodes[number]:
                    state = tuple([version[c] for c in node.children])
                    if built_at.get((number, place)) == state or any(not self.best[c] for c in node.children):
                        continue
                    built_at[number, place] = state
                    found = self.best[self.graph.root]
                    enough = found and self.work > MOST_TRIED * self.budget.work
                    if enough or self.budget.over("extraction", EXTRACTING if found else 1):
                        return found
                    if self._offer(number, self._candidates(number, node)):
                        version[number] += 1
                        waiting |= read_by.get(number, set())
                        changed = True
            if not changed:
                break
        return self.best[self.graph.root]

    def _offering(self, number: int) -> list[tuple[int, Node]]:
        """Return the nodes of a class that candidates are made of, with their places."""
        return [
            (place, node)
            for place, node in enumerate(self.graph.classes[number])
            if node.kind not in _HIDDEN and number not in node.children and (number, place) not in self.barred
            if not (node.kind.startswith("Reduce") and self.streamed[number])
        ]

    def _reachable(self, root: int) -> list[int]:
        """Return the classes below one, children tending to come before parents."""
        seen: dict[int, None] = {}
        stack: list[tuple[int, bool]] = [(root, False)]
        entered: set[int] = set()
        while stack:
            number, ready = stack.pop()
            if ready:
                seen.setdefault(number)
            elif number not in entered:
                entered.add(number)
                stack.append((number, True))
                stack += [(c, False) for n in self.graph.classes[number] if n.kind not in _HIDDEN for c in n.children]
        return list(seen)

    def _offer(self, number: int, candidates: Iterator[Candidate]) -> bool:
        known = {c.items: c for c in self.best[number]}
        before = set(known.values())
        for found in candidates:
            candidate = self._declared(number, found)
            held = known.get(candidate.items)
            if held is None or candidate.nesting < held.nesting:
                known[candidate.items] = candidate
        ranked = sorted(known.values(), key=lambda c: (c.cost, c.nesting))
        if number == self.graph.root:
            ranked = [c for c in ranked if c.stands and (self.kept is None or self.kept(c.term))]
        kept = diverse(ranked, self._most(number))
        # What takes fewer passes by itself may be dearer here and cheaper in a whole that takes no more: it comes
        # second, to be tried.
        fewest = min([all_passes(c.depth) for c in ranked], default=0)
        if kept and all_passes(kept[0].depth) > fewest:
            thrifty = next((c for c in ranked if all_passes(c.depth) == fewest and c.stands), kept[0])
            kept = [kept[0], thrifty, *(c for c in kept[1:] if c is not thrifty)] if thrifty is not kept[0] else kept
        # So may a product with a side that is read, not computed: a block of a contraction computes a side for itself.
        if kept and number in self.products:
            most = max(map(_sides_read, ranked))
            reading = next(c for c in ranked if _sides_read(c) == most)
            kept = [kept[0], reading, *(c for c in kept[1:] if c is not reading)] if reading is not kept[0] else kept
        # Where Prev speaks of a value as it was first written, what it is held against is computed in the same way, or
        # rounds apart.
        if self.written and kept and (first := self._first(number)) is not None:
            first = self._declared(number, first)
            same = (c for c in known.values() if c.items == first.items and c.term is first.term)
            first = next(same, first)  # it is made anew in every sweep: what is the same is no change
            kept = [kept[0], first, *(c for c in kept[1:] if c is not first)] if first is not kept[0] else kept
        if number == self.graph.root:
            # What is placed and priced in full is to differ: of forms that take other passes the cheapest are kept
            # beside the others.
            firsts = dict.fromkeys(c.depth for c in kept)
            others = [
                next(c for c in ranked if c.depth == depth)
                for depth in dict.fromkeys(c.depth for c in ranked)
                if depth not in firsts
            ]
            kept = sorted([*kept, *others[:OTHERS]], key=lambda c: c.cost)
        self.best[number] = kept
        return set(kept) != before

    def _declared(self, number: int, candidate: Candidate) -> Candidate:
        """Return a candidate; of the root, one of a term with all axes that were declared."""
        whole, make = self.whole, candidate.make
        return (
            replace(candidate, make=lambda: whole(make()), known=None)
            if number == self.graph.root and whole is not None
            else candidate
        )

    def _candidates(self, number: int, node: Node) -> Iterator[Candidate]:
        # Two forms of a value are rounded apart: where a comparison would show that, its sides are computed as they are
        # written.
        if number in self.graph.ties and (found := self._as_written(self.graph.ties[number])) is not None:
            yield found
            return
        choices: list[Sequence[Candidate]] = [self.best[c] for c in node.children]
        if self.written and node.kind == "Prev":
            first = self._first(node.children[0])
            choices = [[first] if first else []]
        made, orders = self._maker(number, node), _orders(tuple(len(c) for c in choices), self.most)
        METER.did("form", len(orders))
        for places in orders:
            self.work += 1
            candidate = made(tuple([choice[place] for choice, place in zip(choices, places, strict=True)]))
            if candidate is not None:
                yield candidate

    def _as_written(self, term: Term) -> Candidate | None:
        """Return the candidate for a term of the source that computes each part of it as it stands there, folds
        streamed.
        """
        if term not in self.literal:
            number = self.graph.places[term]
            parts = [self._as_written(child) for child in term.children] if not self._is_leaf(number, term) else []
            known = tuple(p for p in parts if p is not None)
            nodes = (
                [n for n in self.graph.classes[number] if self._stands_for(n, term, number)]
                if len(known) == len(parts)
                else []
            )
            kept, self.best[number] = self.best[number], []
            made = (self._maker(number, node)(known) for node in sorted(nodes, key=_fused_first))
            self.literal[term] = next((c for c in made if c is not None), None)
            self.best[number] = kept
        return self.literal[term]

    def _first(self, number: int) -> Candidate | None:
        """Return the candidate for a class that computes the term which it was first known by, its sums streamed and
        carried in any way.
        """
        if number not in self.first:
            self.first[number] = None
            term = self.graph.reps.get(number)
            children = term.children if term is not None and not self._is_leaf(number, term) else ()
            wanted = [self.numbers[child] for child in children if child in self.numbers]
            if len(wanted) < len(children):
                return None  # a part of it is not the term by which that part's own class was first known
            parts = [self._first(child) for child in wanted]
            kept, self.best[number] = self.best[number], []
            made: list[Candidate] = []
            for node in self.graph.classes[number] if term is not None and None not in parts else ():
                if self._is_first(node, number, wanted):
                    # Of updates the first one may ask for what no loop gives; the second takes its sums in another
                    # order, or fewer passes.
                    known = tuple(p for p in parts if p is not None)
                    updates = itertools.product(*(self.best[child][:TRIED] for child in node.children[len(wanted) :]))
                    of = self._maker(number, node)
                    found = (of((*known, *more)) for more in updates)
                    made += [candidate for candidate in found if candidate is not None]
            self.best[number] = kept
            self.first[number] = min(made, key=lambda c: (c.cost, c.nesting), default=None)
        return self.first[number]

    def _is_first(self, node: Node, number: int, wanted: Sequence[int]) -> bool:
        """Tell whether a node stands for the term by which its class was first known, given the classes of that term's
        parts.
        """
        term = self.graph.reps[number]
        if self._is_leaf(number, term):
            return node.kind == "Leaf" and self.leaves[node.fields[0]] is term
        if isinstance(term, Reduce):
            heads = [f"{head}_{term.monoid}" for head in ("Fold", "Reduce")] + ["Online"] * (term.monoid == "sum")
            return (
                node.kind in heads
                and node.fields[0] == term.axis
                and list(node.children[: len(wanted)]) == list(wanted)
            )
        try:
            own = built(node.kind, node.fields, tuple(self.graph.reps[child] for child in node.children), self.leaves)
        except (NapkinError, KeyError):
            return False
        return own is term

    def _is_leaf(self, number: int, term: Term) -> bool:
        if number not in self.written_in:
            self.written_in[number] = {self.leaves[n.fields[0]] for n in self.graph.classes[number] if n.kind == "Leaf"}
        return term in self.written_in[number]

    def _stands_for(self, node: Node, term: Term, number: int) -> bool:
        """Whether a node computes a term of the source by the operator, or the fold, that the term names, of the same
        parts.
        """
        if self._is_leaf(number, term):
            return node.kind == "Leaf" and self.leaves[node.fields[0]] is term
        if not term.children:
            return not node.children
        wanted = tuple(self.graph.places[child] for child in term.children)
        kinds = {Map: ("op",), Reduce: ("Fold", "Reduce"), Scan: ("Scan",), Read: ("Read",)}.get(type(term), ())
        head, _, rest = node.kind.partition("_")
        named = term.fields[0] if isinstance(term, (Map, Reduce, Scan)) else ""
        axis = term.axis if "axis" in term.names else None
        return head in kinds and rest == named and node.children == wanted and (axis is None or node.fields[0] == axis)

    def _safe(self, argument: int, term: Term) -> bool:
        return argument in self.graph.safe or self.admitted(term, argument in self.graph.given)

    def _of_matrices(self, number: int) -> bool:
        """Tell whether a value is a product of two, each of which varies along an axis that the other does not."""
        for node in self.graph.classes[number]:
            if node.kind == "op_mul" and all(child in self.graph.reps for child in node.children):
                left, right = (set(self.graph.reps[child].axes) for child in node.children)
                if left - right and right - left:
                    return True
        return False

    def _item(self, item: Item, weight: float) -> int:
        if item not in self.ids:
            self.ids[item] = len(self.listed)
            self.listed.append(item)
            self.weights.append(weight)
            for name, _ in item[2]:
                self.along.setdefault(name.split("|")[0], set()).add(self.ids[item])
        return self.ids[item]

    def _cost(self, items: frozenset[int]) -> float:
        weights = self.weights
        return sum([weights[i] for i in sorted(items)])

    def _most(self, number: int) -> int:
        """Return how many candidates a class keeps: of the root more, for what is placed and priced in full."""
        return KEEP_OUTPUTS if number == self.graph.root else KEEP

    def _dear(self, number: int, cost: float, depth: tuple[tuple[str, int], ...]) -> bool:
        """Whether a class already holds enough candidates that are cheaper, one of which takes no more passes."""
        kept = self.best[number]
        if len(kept) < self._most(number) or cost <= kept[-1].cost:
            return False
        if number == self.graph.root and len(kept) < KEEP_OUTPUTS + OTHERS and all(c.depth != depth for c in kept):
            return False
        passes = all_passes(depth)
        return any(c.cost < cost and all_passes(c.depth) <= passes for c in kept)

    # -- one candidate -----------------------------------------------------------------------------------------------

    def _maker(self, number: int, node: Node) -> Callable[[tuple[Candidate, ...]], Candidate | None]:
        """Return what makes candidates of a node, of one for each of its children: None where such a one is no form,
        or is dearer than enough of those that its class has when this is asked for.
        """
        head = node.kind.partition("_")[0]
        if head in ("Fold", "Online", "Reduce"):
            return lambda parts: self._fold(number, node, parts, head)
        if node.kind == "op_add" and number in self.graph.nonneg and not self.graph.nonneg.issuperset(node.children):
            return lambda parts: None  # what cannot be negative is no difference of larger numbers: that would cancel
        known = self.best[number]
        enough = known[-1].cost if len(known) >= self._most(number) else math.inf
        own: dict[bool, int] = {}

        def made(parts: tuple[Candidate, ...]) -> Candidate | None:
            if head == "Tuple":  # what others read is computed all the same
                parts = tuple(self.computed.get(child, part) for child, part in zip(node.children, parts, strict=True))
            if node.kind == "op_exp" and not self._safe(node.children[0], parts[0].term):
                return None
            scaled = node.kind == "op_mul" and any([p.number for p in parts])
            if scaled not in own:
                weight = self._weight(number, node, scaled)
                # A class may have both, one of which takes less: operands of contractions are told apart by it
                work = f"{node.kind}, scaled" if scaled and self.products else node.kind
                own[scaled] = self._item((number, work, frozenset()), weight) if weight > 0 else -1
            # All that a part costs is among what the whole does
            least = max([p.cost for p in parts]) if parts else 0.0
            depth = merged_depth(parts)
            if least > enough and self._dear(number, least, depth):
                return None
            items = frozenset([own[scaled]] if own[scaled] >= 0 else ()).union(*[p.items for p in parts])
            cost = self._cost(items)
            if cost > enough and self._dear(number, cost, depth):
                return None
            return Candidate(
                *self._built(node, parts),
                items,
                own[scaled],
                cost,
                depth,
                _NOTHING.union(*[p.stale for p in parts]),
                deepest(*[p.waits for p in parts]),
                (number, node, parts),
            )

        return made

    def _built(self, node: Node, parts: tuple[Candidate, ...]) -> tuple[Callable[[], Term], int]:
        """Return what builds the term of a node, and how many levels deep that will be."""

        def make() -> Term:
            return built(node.kind, node.fields, tuple(p.term for p in parts), self.leaves)

        return make, 1 + max([p.nesting for p in parts]) if parts else make().depth

    def _fold(self, number: int, node: Node, parts: tuple[Candidate, ...], head: str) -> Candidate | None:
        axis: Axis = node.fields[0]
        body, where = parts[0], parts[1]
        if (counter := self.cut.get(axis.name)) and (
            body.passes(counter) or all(a.name != counter for a in (*body.term.axes, *where.term.axes))
        ):
            return None
        if head == "Online" and axis.name in self.counters and extent(axis) <= HELD:
            return None  # one tile holds all stretches: nothing is carried along them, and a chain need not say how
        inside = body.passes(axis.name)
        if (head == "Online" and axis.name in body.stale) or self._tangled(node, parts, head == "Online"):
            return None
        if head == "Online" and not begins(axis, parts[2].term):
            return None
        level = max(1, inside) if head == "Online" else inside + 1
        fused = head != "Reduce" and node.fields[1]
        marker = (f"{axis.name}|{node.children[1]}", level if fused else 1000 + number)
        stretch = next((a for a in where.term.axes if a.name == counter), None)
        share = 1.0 if where.term.fields == (True,) else self.masked
        contraction = self._contraction(node, body, axis)
        items = set(where.items)
        if stretch is not None and is_stretch(stretch, axis, where.term):
            # It says where a loop begins and ends: all stretches together have each lane once.
            share, items = 1 / extent(stretch), set()
        anew = head == "Online" and not fused
        items |= self._bound(body.items - {body.own} if contraction else body.items, axis, marker, share, anew)
        for part in parts[2:]:
            items |= self._bound(part.items & self.along.get(axis.name, set()), axis, marker, share, False)
        items |= self._own_work(number, node, body, axis, marker, share, contraction, fused)
        frozen = frozenset(items)
        cost = self._cost(frozen)
        passes = dict(merged_depth(parts))
        passes[axis.name] = max(passes.get(axis.name, 0), level)
        depth = tuple(sorted(passes.items()))
        if self._dear(number, cost, depth):
            return None
        stale = body.stale | (frozenset([axis.name]) if head != "Online" and inside else frozenset())
        return Candidate(
            *self._built(node, parts),
            frozen,
            -1,
            cost,
            depth,
            stale,
            deepest(*(p.waits for p in parts)),
            (number, node, parts),
        )

    def _tangled(self, node: Node, parts: tuple[Candidate, ...], carried: bool) -> bool:
        axis = node.fields[0]
        return (
            extent(axis) > HELD
            and any(dict(part.depth).get(axis.name) for part in parts)
            and tangled(axis, carried, *(p.term for p in parts))
        )

    def _own_work(
        self,
        number: int,
        node: Node,
        body: Candidate,
        axis: Axis,
        marker: Pass,
        share: float,
        contraction: bool,
        fused: bool,
    ) -> set[int]:
        here = frozenset([marker])
        inner = self.lanes[node.children[0]] * (1 if axis in body.term.axes else extent(axis))
        found = {
            self._item((number, node.kind, frozenset()), self.cost_of.fold(inner, share, contraction=contraction)),
            self._item((-1, "pass", here), self.cost_of.walk(shared=fused)),
        }
        if contraction:
            found.add(self._item((node.children[0], "dot", here), self.cost_of.contraction(inner, axis, share)))
            # An operand that is computed is rounded once more before the matrix unit: every result pays for it.
            sides = body.made_of[2] if body.made_of is not None else ()
            for side, other in (sides, sides[::-1]) if len(sides) == 2 else ():
                if side.term.children and not isinstance(side.term, Read):
                    size = elements(side.term.axes)
                    blocks = _blocks(side.term.axes, other.term.axes, side.term.axes)
                    again = set(self._again(side, other.term.axes, axis, here, share))
                    more = sum(self.weights[item] for item in sorted(again)) + self.cost_of.operand(size * (blocks - 1))
                    # At the most what it takes to store the operand first: whether it is stored is chosen afterwards.
                    if not self.alone and more > (most := self.cost_of.store(size)):
                        again, blocks = {self._item((-1, side.term, here | {("stored", 0)}), most)}, 1.0
                    found |= {
                        self._item((-1, side.term, here), self.cost_of.operand(self.lanes[number] + size * blocks)),
                        *again,
                    }
        return found

    def _again(
        self, side: Candidate, other: Sequence[Axis], axis: Axis, here: frozenset[Pass], share: float
    ) -> Iterator[int]:
        """Yield the items of what an operand's operators take more, since every block that reads the operand computes
        it.

        other: the axes of the other operand.
        """
        for item in side.items:
            number, kind, passes = self.listed[item]
            if passes or number < 0 or not str(kind).startswith("op_") or axis not in self.graph.reps[number].axes:
                continue
            more = _blocks(self.graph.reps[number].axes, other, side.term.axes) - 1
            if more > 0:
                yield self._item((number, f"{kind}, {more:g} times more", here), more * share * self.weights[item])

    def _contraction(self, node: Node, body: Candidate, axis: Axis) -> bool:
        term = body.term
        if not (isinstance(term, Map) and term.op == "mul") or not (
            node.kind.endswith("_sum") or node.kind == "Online"
        ):
            return False
        left, right = (set(a.axes) for a in term.args)
        return axis in left and axis in right and bool(left - right) and bool(right - left)

    def _bound(self, items: frozenset[int], axis: Axis, marker: Pass, share: float, anew: bool) -> set[int]:
        """Place the items that vary along the folded axis in the fold's pass."""
        moved = self.moved.setdefault((axis, marker, share, anew), {})
        for item in items - moved.keys():
            number, kind, passes = self.listed[item]
            over = frozenset(m for m in passes if m[0].split("|")[0] == axis.name)
            varies = not over and number >= 0 and axis in self.graph.reps[number].axes
            if varies or (over and anew):
                weight = self.weights[item] * (1.0 if over else share)
                moved[item] = self._item((number, kind, passes - over | {marker}), weight)
            else:
                moved[item] = item
        return {moved[item] for item in items}

    def _weight(self, number: int, node: Node, scaled: bool) -> float:
        lanes = self.lanes[number]
        if node.kind == "Leaf":
            leaf = self.leaves[node.fields[0]]
            while isinstance(leaf, Read):
                leaf = leaf.body
            return self.cost_of.load(lanes) if isinstance(leaf, Input) else 0.0
        if not node.kind.startswith("op_"):
            return 0.0
        return self.cost_of.pointwise(node.kind[3:], lanes, scaled=scaled)


def _sides_read(candidate: Candidate) -> int:
    """Return how many sides of a product are read as they are stored."""
    if candidate.made_of is None or candidate.made_of[1].kind != "op_mul":
        return 0
    return sum(part.made_of is None or part.made_of[1].kind in ("Leaf", "Read") for part in candidate.made_of[2])


@cache
def _orders(counts: tuple[int, ...], most: int) -> tuple[tuple[int, ...], ...]:
    """Return the first ways to pick one of each of so many, the first of each first, and of those the same place of
    each: such forms share more.
    """

    def key(places: tuple[int, ...]) -> tuple[int, int, tuple[int, ...]]:
        free = [place for place, count in zip(places, counts, strict=True) if count > 1]
        return max(free, default=0), len(set(free)), places

    return tuple(sorted(itertools.product(*map(range, counts)), key=key)[:most])


def _blocks(axes: Sequence[Axis], other: Sequence[Axis], side: Sequence[Axis]) -> float:
    """Return how many blocks of a product's results compute, each for itself, a value of some axes that is part of one
    `side`.
    """
    beside = math.prod(extent(a) for a in other if a not in side)
    along = math.prod(extent(a) for a in side if a not in other and a not in axes)
    return max(1.0, beside / BLOCK) * max(1.0, along / BLOCK)


def _fused_first(node: Node) -> tuple[bool, bool]:
    return not (node.kind.startswith("Fold") and node.fields[1]), node.kind.startswith("Reduce")
