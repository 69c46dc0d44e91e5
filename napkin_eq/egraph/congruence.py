"""From a heap of law instances to an explicit chain: congruence closure that remembers why things are equal.

After Nieuwenhuis and Oliveras (2005), with two differences that keep chains short. Every equation is kept as an edge,
not only those that merged two classes, and a chain is a lightest path. An edge made by congruence is explained by
edges older than itself, which is why explanations end even in a class that contains itself, such as a = Store(a).
"""

from __future__ import annotations

import heapq
import itertools
import operator
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from napkin_eq.egraph.budget import METER, Budget
from napkin_eq.egraph.nodes import Instance, Merged
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError, Undecided
from napkin_eq.lang.term import Const, Online, Prev, Size, Term, subterms, with_part
from napkin_eq.laws.inference import BASE, SIGNS, Judge, names_in, substitute
from napkin_eq.laws.law import BUILT_IN, Inference, Law, Statement, Var
from napkin_eq.laws.shapes import Firing, Shapes

ARITHMETIC, STRETCH = "arithmetic", "stretch"
LONGEST, MEMBERS, TRIALS, NEAR, NEAR_FROM = 20_000, 48, 192, 3, 12
PATHS = 4_000  # so many are sought for the lightest of; after them the first found is taken
# What a step weighs that the checker may refuse where it stands, so that any other way is taken: one under Prev that
# needs lanes where there may be none yet, one in a stream's prefixes that needs all lanes.
BARRED = 1_000
# Where a step may stand: under Prev; in a stream over an axis of which some instance needs all lanes
EARLY, PARTLY = 1, 2
WAYS = 12  # so many are tried of which a step leaves no term
SOME = 256  # after so many instances the clock is looked at
SPARE = 20_000  # so many instances are entered for a chain that is missing: where more had to be, none was found
GUESS = 14  # how many steps a congruence takes for each child that differs, before that is known
Value = Axis | Term
Route = list[tuple[int, bool]]  # edges, each from its first end to its second or back
Task = tuple[int, int, int, int]  # a way from one node to another, by edges older than a third; where it stands
Move = tuple[tuple[int, ...], int, bool]  # where, by which edge, from its first end to its second or back


@dataclass(frozen=True, slots=True)
class Step:
    """One rewrite: at `path` (child numbers from the root) one side of a law's instance gives way to the other.

    forward: left side to right side. law "arithmetic": "left" is an operator over numbers, "right" the number it gives.
    lemma: the term that a chain of such steps begins with, which is replaced by what the chain ends with wherever it
    stands; the path then begins there. None: the step is about the whole term.
    """

    law: str
    forward: bool
    path: tuple[int, ...]
    bindings: tuple[tuple[str, Value], ...]
    before: Term
    after: Term
    lemma: Term | None = None


class _NoTerm(Exception):
    """A step of a chain that leaves no term where it is taken, and the edge that it is taken by."""

    def __init__(self, why: str, edge: int) -> None:
        super().__init__(why)
        self.edge = edge


@dataclass(slots=True)  # not frozen: so many are made that what guards them would take longer than they do
class _Edge:
    first: int
    second: int
    law: str = ""  # none: by congruence
    bindings: tuple[tuple[str, Value], ...] = ()
    flipped: bool = False  # first is the right side


class Closure:
    """What follows from law instances alone, and how: `Closure(statements)`, then `add`, `instance`, `explain`.

    lanes: the axes of each statement, by its name, that must not be empty, which they are before the first block of a
    stream.
    """

    def __init__(
        self,
        statements: Iterable[Statement] = (),
        budget: Budget | None = None,
        lanes: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.budget, self.lanes = budget or Budget(), lanes or {}
        listed = tuple(statements)
        self.laws = {s.name: s for s in listed if isinstance(s, Law)}
        self.judge = Judge((s for s in listed if isinstance(s, Inference)), placed=False)
        self.inferences = {s.name: s for s in listed if isinstance(s, Inference)}
        self._fired: list[Firing] = []
        self._shapes: tuple[Shapes, ...] = ()
        self._deferred: list[tuple[Law, bool, dict[str, Value]]] = []
        self._spare: Iterator[Instance] = iter(())
        self._barred = False
        self._done: set[tuple[Any, ...]] = set()
        self._ids: dict[Term, int] = {}
        self._nodes: dict[tuple[int, tuple[int, ...]], int] = {}
        self._named: dict[tuple[Any, ...], int] = {}
        self._headed: dict[Term, int] = {}  # of those without axes
        self._heads: list[int] = []
        self._children: list[tuple[int, ...]] = []
        self._origin: list[tuple[Term, Mapping[str, Value]] | Term] = []
        self._root: list[int] = []
        self._merges = 0
        self._members: list[list[int]] = []
        self._uses: list[list[int]] = []
        self._signatures: dict[tuple[int, tuple[int, ...]], list[int]] = {}
        self._edges: list[_Edge] = []
        self._weights: list[int] = []
        self._guess = GUESS
        self._before: list[int] = []
        self._joints: dict[Task, int] = {}
        self._running: set[int] = set()  # heads of Prev
        self._careful: dict[tuple[int, int], int] = {}
        self._needed: dict[int, int] = {}
        # Axes of the streams of what is explained: these have no lane before a first block
        self._streams: frozenset[str] = frozenset()
        self._parted: frozenset[str] = frozenset()  # those among them of which a law's instance needs all lanes
        self._beside: list[list[tuple[int, int]]] = []
        self._congruent: deque[tuple[int, int]] = deque()
        self._routes: dict[Task, Route] = {}
        self._taken: dict[Task, Route] = {}
        self._sought = 0
        self._moved: dict[tuple[int, int], list[Move]] = {}

    # -- what is known -----------------------------------------------------------------------------------------------

    def add(self, term: Term) -> int:
        """Enter a term and return its number."""
        ids = self._ids
        if term not in ids:
            stack = [term]
            while stack:  # in the order of subterms, without going into what is known
                part = stack[-1]
                if part not in ids:
                    if waiting := [c for c in part.children if c not in ids]:
                        stack += reversed(waiting)
                        continue
                    ids[part] = self._node(self._head(part, None), tuple([ids[c] for c in part.children]), part)
                stack.pop()
            self._close()
        return ids[term]

    def instance(
        self, law: Law | str, forward: bool, bindings: Mapping[str, Value] | Iterable[tuple[str, Value]]
    ) -> bool:
        """Enter both sides of a law's instance and their equation; return whether its conditions are derived.

        forward: which side was there first. An instance whose conditions are not derived of these very terms is set
        aside, and tried again with equal terms in their places when a chain is missing.
        """
        METER.did("entered")
        values = dict(bindings)
        if law == ARITHMETIC:
            return self.arithmetic(values["left"], values["right"])  # type: ignore[arg-type]
        statement = self._law(law)
        if not statement.conditions or self.judge.conditions(statement.conditions, values):
            self._enter(statement, forward, values)
            return True
        self._deferred.append((statement, forward, values))
        return False

    def spare(self, merged: Iterable[Merged]) -> None:
        """Keep other instances of laws that fired for a chain that is missing without them.

        First come those by which a whole becomes a part of it or a number: what these merge, others fired of.
        """
        known = [m for m in merged if m.law in self.laws]
        later = [
            not isinstance(law.rhs if m.forward else law.lhs, (Var, Const))
            for m in known
            for law in (self.laws[m.law],)
        ]
        ordered = sorted(zip(known, later, strict=True), key=lambda found: found[1])
        self._spare = itertools.islice((variant for m, _ in ordered for variant in m.variants()), SPARE)

    def inferred(self, name: str, bindings: Iterable[tuple[str, Value]]) -> None:
        """Remember that an inference was found to hold, of classes: of which terms it does is seen when a chain is
        missing.
        """
        self._fired.append((self.inferences[name], dict(bindings)))

    def arithmetic(self, term: Term, value: Term) -> bool:
        """Enter an operator over numbers as equal to the number that it gives."""
        self._merge(_Edge(self.add(term), self.add(value), ARITHMETIC, (("left", term), ("right", value))))
        self._close()
        return True

    def same(self, a: Term, b: Term) -> bool:
        """Tell whether two terms are equal by what was entered."""
        return self._find(self.add(a)) == self._find(self.add(b))

    def _law(self, law: Law | str) -> Law:
        if isinstance(law, Law):
            return law
        if law not in self.laws:
            raise NapkinError(f"law {law!r} is not among the statements given to the closure")
        return self.laws[law]

    def _enter(self, law: Law, forward: bool, values: Mapping[str, Value]) -> None:
        bindings = tuple(sorted(values.items(), key=lambda b: b[0]))
        key = (law.name, bindings)
        if key in self._done:
            return
        self._done.add(key)
        self.laws.setdefault(law.name, law)
        classes = {name: self.add(value) for name, value in values.items() if not isinstance(value, Axis)}
        sides = (law.lhs, law.rhs) if forward else (law.rhs, law.lhs)
        first = self._instantiated(sides[0], classes, values)
        second = self._instantiated(sides[1], classes, values)
        self._merge(_Edge(first, second, law.name, bindings, not forward))
        self._close()

    def _instantiated(self, pattern: Term, classes: Mapping[str, int], values: Mapping[str, Value]) -> int:
        if isinstance(pattern, Var):
            return classes[pattern.name]
        children = tuple([self._instantiated(child, classes, values) for child in pattern.children])
        return self._node(self._head(pattern, values), children, (pattern, values))

    def _head(self, part: Term, values: Mapping[str, Value] | None) -> int:
        """Number what a node is apart from its children; the axes of a pattern are replaced by what they stand for."""
        if (known := self._headed.get(part)) is not None:
            return known
        if part not in _PLACES:
            _PLACES[part] = _places(part)
        fixed, axes = _PLACES[part]
        key = (fixed, *axes) if values is None else (fixed, *(values[a.name] for a in axes))
        number = self._named.setdefault(key, len(self._named))
        if not axes:
            self._headed[part] = number
        if isinstance(part, Prev):
            self._running.add(number)
        return number

    def _node(self, head: int, children: tuple[int, ...], origin: tuple[Term, Mapping[str, Value]] | Term) -> int:
        key = (head, children)
        if (known := self._nodes.get(key)) is not None:
            return known
        number = self._nodes[key] = len(self._root)
        self._heads.append(head)
        self._children.append(children)
        self._origin.append(origin)
        self._root.append(number)
        self._members.append([number])
        self._uses.append([])
        self._beside.append([])
        for child in children if len(children) < 2 else sorted(set(children)):
            self._uses[self._find(child)].append(number)
        self._sign(number)
        return number

    def _find(self, number: int) -> int:
        root = self._root
        while root[number] != number:
            root[number] = root[root[number]]
            number = root[number]
        return number

    def _sign(self, number: int) -> None:
        children = self._children[number]
        key = self._heads[number], tuple(map(self._find, children))
        alike = self._signatures.get(key)
        if alike is None:
            self._signatures[key] = [number]
            return
        # Any one of those alike would do for equality; those that share most children make short chains.
        near = alike
        if len(alike) > 1:
            differing = [
                (sum(map(operator.ne, self._children[other], children)), place)
                for place, other in enumerate(alike[:NEAR_FROM])
            ]
            near = [alike[place] for _, place in sorted(differing)[:NEAR]]
        for other in near:
            if other != number:
                self._congruent.append((other, number))
        alike.append(number)

    def _differ(self, first: int, second: int) -> int:
        """Return at how many places the children of two nodes differ."""
        return sum(map(operator.ne, self._children[first], self._children[second]))

    def _close(self) -> None:
        while self._congruent:
            first, second = self._congruent.popleft()
            self._merge(_Edge(first, second))

    def _merge(self, edge: _Edge) -> None:
        first, second = edge.first, edge.second
        if first == second:
            return
        number = len(self._edges)
        self._beside[first].append((number, second))
        self._beside[second].append((number, first))
        self._before.append(number)
        self._edges.append(edge)
        self._weights.append(1 if edge.law else self._guess * self._differ(first, second))
        small, large = self._find(first), self._find(second)
        if small == large:
            return
        if len(self._members[small]) > len(self._members[large]):
            small, large = large, small
        self._merges += 1
        self._root[small] = large
        self._members[large] += self._members[small]
        uses, self._uses[small], self._members[small] = self._uses[small], [], []
        self._uses[large] += uses
        for number in uses:
            self._sign(number)

    # -- why -----------------------------------------------------------------------------------------------------------

    def explain(self, a: Term, b: Term) -> list[Step]:
        """Return a chain of single rewrites from a to b; raise Undecided if what was entered does not make
        them equal.
        """
        self._over(frozenset(t.axis.name for t in subterms(a, b) if isinstance(t, Online)))
        first, second = self.add(a), self.add(b)
        if self._find(first) != self._find(second):
            self._settle(lambda: self._find(first) == self._find(second))
        while self._find(first) != self._find(second) and not self.budget.over("explanation"):
            if not (some := list(itertools.islice(self._spare, SOME))):
                break
            for variant in some:
                self.instance(variant.law, variant.forward, variant.bindings)
            if len(some) < SOME:
                self._settle(lambda: self._find(first) == self._find(second))
        if self._find(first) != self._find(second):
            raise Undecided(
                f"no chain of {len(self._done)} law instances leads from the one term to the other;"
                f" {len(self._deferred)} were set aside"
            )
        steps = self._chain(a, b)
        with suppress(Undecided):  # of fewer instances there may be no other way than one that is none
            while not self.budget.over("explanation") and len(again := self._narrowed(steps)._chain(a, b)) < len(steps):
                steps = again
        return steps

    def _over(self, streams: frozenset[str]) -> None:
        """Take the axes of the streams that chains are for; what was found out for others is forgotten, where streams
        matter.
        """
        parted = streams & {
            _name(dict(bindings)[axis]) for law, bindings in self._done for axis in _wholly(self.laws[law])
        }
        if parted != self._parted:
            self._forget()
        elif streams != self._streams:
            self._careful.clear()
            self._needed.clear()
            for known in (self._routes, self._taken):
                for task in [t for t in known if t[-1]]:
                    del known[task]
            for edge in [e for e in self._moved if e[-1]]:
                del self._moved[edge]
        self._streams, self._parted = streams, parted

    def _chain(self, a: Term, b: Term) -> list[Step]:
        """Return a chain; where a step would leave no term, as by an axis along which an update must not vary, another
        way is sought.
        """
        for _ in range(WAYS):
            route = self._route((self.add(a), self.add(b), len(self._edges), 0))
            try:
                return self._steps(a, [move for edge, onward in route for move in self._along(edge, onward, 0)])
            except _NoTerm as step:
                self._bar(step.edge)
                why = str(step)
        raise Undecided(f"no chain was found that leads by terms alone: {why}")

    def _bar(self, edge: int) -> None:
        """Let an edge count as very long, and what was found by its length be found anew."""
        self._weights[edge] = BARRED
        self._barred = True
        self._forget()

    def _forget(self) -> None:
        self._sought = 0
        for known in (self._routes, self._taken, self._careful, self._needed, self._moved):
            known.clear()

    def _narrowed(self, steps: Iterable[Step]) -> Closure:
        """Return a closure of just the instances that a chain uses: so small that the best of its chains is
        soon found.
        """
        small = Closure(budget=self.budget.part(1.0), lanes=self.lanes)
        small.judge, small._guess, small._streams, small._parted = self.judge, 1, self._streams, self._parted
        for law, forward, bindings in dict.fromkeys((s.law, s.forward, s.bindings) for s in steps):
            if law == ARITHMETIC:
                small.instance(law, forward, bindings)
            else:
                small._enter(self.laws[law], forward, dict(bindings))
        return small

    def _along(self, edge: int, onward: bool, place: int) -> list[Move]:
        if self._edges[edge].law:
            return [((), edge, onward)]
        moves = self._moved[edge, place]
        return moves if onward else [(path, by, not way) for path, by, way in reversed(moves)]

    def _route(self, wanted: Task) -> Route:
        """Return the shortest path found between two nodes of a class, all the congruences that it rests on
        explained.
        """
        stack: list[Task | tuple[int, int]] = [wanted]
        while stack:
            METER.did("move")
            if self.budget.over("explanation"):
                raise Undecided("no chain was found within the limit of time; --limit gives it more")
            task = stack[-1]
            missing = self._explained(*task) if len(task) == 2 else self._routed(task)
            if missing:
                stack.extend(missing)
            else:
                stack.pop()
        return self._routes[wanted]

    def _routed(self, task: Task) -> list[tuple[int, int]]:
        """Find the path of a task, or name congruences to explain first: till then they count as short as
        they can be.
        """
        if task in self._routes:
            return []
        if task in self._taken:
            self._routes[task] = self._taken[task]
            return []
        self._sought += 1
        route, place = self._path(*task), task[3]
        unknown = self._unknown(route, place)
        # What its congruences weigh, once explained, is not waited for: this path is taken
        if unknown and self._sought > PATHS:
            self._taken[task] = route
            return unknown
        unknown = unknown or self._unknown(route := self._joined(route, place), place)
        if not unknown:
            self._routes[task] = route
        return unknown

    def _unknown(self, route: Route, place: int) -> list[tuple[int, int]]:
        return [(edge, place) for edge, _ in route if not self._edges[edge].law and (edge, place) not in self._moved]

    def _joined(self, route: Route, place: int) -> Route:
        """Join congruences that follow each other into one: its children need not pass by those in between."""
        joined: Route = []
        for edge, onward in route:
            if joined and not self._edges[edge].law and not self._edges[joined[-1][0]].law:
                last, way = joined.pop()
                first = self._edges[last].first if way else self._edges[last].second
                second = self._edges[edge].second if onward else self._edges[edge].first
                key = (first, second, max(self._before[last], self._before[edge]), place)
                if key not in self._joints:
                    self._joints[key] = len(self._edges)
                    self._edges.append(_Edge(first, second))
                    self._weights.append(0)
                    self._before.append(key[2])
                edge, onward = self._joints[key], True
            joined.append((edge, onward))
        return joined

    def _explained(self, edge: int, place: int) -> list[Task]:
        """Write down the moves behind a congruence, or name the paths to find first, by edges older than itself."""
        if (edge, place) in self._moved:
            return []
        first = self._edges[edge].first
        inside = place | self._standing(first)
        ends = zip(self._children[first], self._children[self._edges[edge].second], strict=True)
        tasks = [(one, other, self._before[edge], inside) for one, other in ends]
        missing = [task for task in tasks if task not in self._routes]
        if not missing:
            moves = [
                ((number, *path), by, way)
                for number, task in enumerate(tasks)
                for joint, onward in self._routes[task]
                for path, by, way in self._along(joint, onward, inside)
            ]
            if len(moves) > LONGEST:
                raise Undecided(
                    f"the chain grows beyond {LONGEST} steps; store shared parts of the diagram, or derive them one"
                    " by one"
                )
            self._moved[edge, place] = moves
            length = sum(self._weight(by, inside) for _, by, _ in moves) if inside or self._barred else len(moves)
            if place:
                self._careful[edge, place] = length
            else:
                self._weights[edge] = length
        return missing

    def _standing(self, number: int) -> int:
        """Return where the children of a node stand by it: under Prev, or in a stream over an axis of which an instance
        needs all lanes.
        """
        if self._heads[number] in self._running:
            return EARLY
        if self._parted:
            origin = self._origin[number]
            part, values = (origin, {}) if isinstance(origin, Term) else origin
            if isinstance(part, Online) and _name(values.get(part.axis.name, part.axis)) in self._parted:
                return PARTLY
        return 0

    def _weight(self, edge: int, place: int) -> int:
        """Return how long what an edge stands for is, as far as is known; a step that may not hold where it stands
        counts as very long.
        """
        if not place:
            return self._weights[edge]
        if (edge, place) not in self._careful:
            barred = self._edges[edge].law and self._needs(edge) & place
            self._careful[edge, place] = BARRED if barred else self._weights[edge]
        return self._careful[edge, place]

    def _needs(self, edge: int) -> int:
        """Tell where a law's instance may not hold: it, or what its conditions rest on, needs lanes of an axis that is
        streamed, or all of them.
        """
        if edge not in self._needed:
            self._needed[edge] = self._found_needs(self._edges[edge].law, dict(self._edges[edge].bindings))
        return self._needed[edge]

    def _found_needs(self, law: str, given: Mapping[str, Value]) -> int:
        if law == ARITHMETIC:
            return 0
        found = EARLY if any(_name(given[axis]) in self._streams for axis in self.lanes.get(law, ())) else 0
        proofs = [proof for _, found in self.judge.conditions(self.laws[law].conditions, given)[:1] for proof in found]
        while proofs:
            proof = proofs.pop()
            counted = proof.judgment.args[-1]
            sizes = (
                subterms(counted)
                if proof.rule == BASE and proof.judgment.name in SIGNS and isinstance(counted, Term)
                else ()
            )
            if self.lanes.get(proof.rule) or any(isinstance(t, Size) and t.axis.name in self._streams for t in sizes):
                found |= EARLY
            if proof.judgment.name == STRETCH and _name(proof.judgment.args[0]) in self._parted:
                found |= PARTLY
            proofs += proof.premises
        return found

    def _path(self, start: int, end: int, before: int, place: int) -> Route:
        """Return the lightest path between two nodes of a class by edges older than `before`."""
        reached: dict[int, int] = {}
        nearest = {start: 0}
        queue: list[tuple[int, int, int]] = [(0, -1, start)]
        weights = self._weights
        while end not in reached:
            total, by, node = heapq.heappop(queue)
            if node in reached:
                continue
            reached[node] = by
            for edge, other in self._beside[node]:
                if edge >= before:
                    break
                far = total + (self._weight(edge, place) if place else weights[edge])
                if far < nearest.get(other, far + 1):
                    nearest[other] = far
                    heapq.heappush(queue, (far, edge, other))
        route = []
        while end != start:
            edge = reached[end]
            onward = self._edges[edge].second == end
            route.append((edge, onward))
            end = self._edges[edge].first if onward else self._edges[edge].second
        return route[::-1]

    def _steps(self, source: Term, moves: list[Move]) -> list[Step]:
        chain: list[Step] = []
        at = {source: 0}
        current = source
        for path, number, onward in moves:
            edge = self._edges[number]
            try:
                after = with_part(current, path, self._term(edge.second if onward else edge.first))
            except NapkinError as error:
                raise _NoTerm(str(error), number) from error
            chain.append(Step(edge.law, onward != edge.flipped, path, edge.bindings, current, after))
            current = after
            if current in at:  # a loop: what lies between is not needed
                for step in chain[at[current] : -1]:
                    del at[step.after]
                del chain[at[current] :]
            at[current] = len(chain)
        return chain

    def _term(self, number: int) -> Term:
        origin = self._origin[number]
        if not isinstance(origin, Term):
            origin = self._origin[number] = substitute(*origin)
        return origin

    # -- instances set aside -------------------------------------------------------------------------------------------

    def _settle(self, done: Callable[[], bool]) -> None:
        """Try the instances that were set aside with equal terms for what their conditions speak of."""
        progress = True
        while progress and not done():
            progress = False
            waiting, self._deferred = self._deferred, []
            for law, forward, values in waiting:
                found = self._variant(law, values) or self._shaped(law, values)
                for bindings in found:
                    self._enter(law, forward, bindings)
                progress |= bool(found)
                if not found:
                    self._deferred.append((law, forward, values))

    def _variant(self, law: Law, values: Mapping[str, Value]) -> list[dict[str, Value]]:
        spoken = frozenset[str]().union(
            *(names_in(a) for c in law.conditions if c.name not in BUILT_IN for a in c.args)
        )
        spoken |= frozenset(n for c in law.conditions if c.name in BUILT_IN for n in names_in(c.args[1]))
        inputs = sorted(n for n in spoken & names_in(law.lhs) if isinstance(values[n], Term))
        kept = {n: v for n, v in values.items() if n in names_in(law.lhs) or isinstance(v, Axis)}
        choices = [self._equals(values[n]) for n in inputs]  # type: ignore[arg-type]
        for picked in itertools.islice(itertools.product(*choices), TRIALS):
            found = self.judge.conditions(law.conditions, {**kept, **dict(zip(inputs, picked, strict=True))})
            if found:
                return [bindings for bindings, _ in found]
        return []

    def _shaped(self, law: Law, values: Mapping[str, Value]) -> list[dict[str, Value]]:
        """Try what the left side binds in the forms that inferences were found to read."""
        if not self._shapes:
            # Of which what is asked of other factors is known, as of 1 where it is e^(max_x 0)
            leaves = [t for t in self._ids if not t.children]
            number, merges = lambda term: self._find(self.add(term)), lambda: self._merges
            self._shapes = Shapes(self._fired, number, merges), Shapes(self._fired, number, merges, leaves)
        for shapes in self._shapes:
            # Of what the law speaks of itself another form than its own may have been read first
            for form in (shapes.of, shapes.inside):
                kept = {n: form(v) if isinstance(v, Term) else v for n, v in values.items() if n in names_in(law.lhs)}
                if found := self.judge.conditions(law.conditions, kept):
                    return [bindings for bindings, _ in found]
        return []

    def _equals(self, term: Term) -> list[Term]:
        # Of a number or an array more is known than of what is computed, and a large class holds too many terms to try
        # each.
        numbers = sorted(self._members[self._find(self.add(term))], key=lambda n: (bool(self._children[n]), n))
        listed = {term: None}
        for number in numbers[:MEMBERS]:
            try:
                listed.setdefault(self._term(number))
            except NapkinError:
                continue  # equal only where an axis that it partitions has gone: no term by itself
        return list(listed)


_PLACES: dict[Term, tuple[tuple[Any, ...], tuple[Axis, ...]]] = {}


def _places(part: Term) -> tuple[tuple[Any, ...], tuple[Axis, ...]]:
    """Return what a node is apart from its axes and its children, and its axes."""
    fixed: list[Any] = [type(part).__name__]
    for field in part.fields:
        if not isinstance(field, (Term, Axis)) and not (
            isinstance(field, tuple) and field and isinstance(field[0], Term)
        ):
            fixed.append((type(field).__name__, repr(field)) if isinstance(field, (bool, int, float)) else field)
    return tuple(fixed), tuple(f for f in part.fields if isinstance(f, Axis))


def _name(value: Value) -> str:
    return value.name if isinstance(value, Axis) else ""


def _wholly(law: Law) -> list[str]:
    """Return the axes of a law of which its conditions need all lanes, those that count stretches."""
    return [c.args[0].name for c in law.conditions if c.name == STRETCH and isinstance(c.args[0], Axis)]
