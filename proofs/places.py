"""Induction over coordinates: claims about prefix folds, recurrences and folds that are read at places made of them.

In a fixed universe the claim is shown at all coordinates, in lexicographic order: at one where the last stepped given
that it holds at the one before, whose own predecessor is the last lane, and at the first. There every place is a
polynomial of numbers >= 0 with whole coefficients, and each comparison of places is decided by what a case assumes, or
parts it into two; so places that are equal are one place, and what is read there one number. A prefix fold at place k
is an unknown number, or the one at k - 1 with the lane k added, down to the lowest place that the case speaks of; a
fold is its prefix fold in the last lane. What is left speaks of numbers alone, and the deciders answer it.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.notation import written as spelled
from napkin_eq.lang.operators import MONOIDS, NEUTRAL
from napkin_eq.lang.term import Const, Index, Map, Read, Reduce, Scan, Size, Term, rewritten, subterms
from napkin_eq.laws.claim import Claim, NotUnderstood, le, same
from napkin_eq.laws.law import TRUE, Statement, Var
from napkin_eq.laws.obligation import claims_of, longer
from napkin_eq.prove.normal.polynomial import Polynomial, TooMuch, atom, bounded, constant
from napkin_eq.prove.normal.reads import followed, written
from napkin_eq.prove.portfolio import decided, holds, vacuous
from napkin_eq.prove.prove import Outcome, prover
from napkin_eq.prove.query import Step

QUESTIONS, MOST_AXES, MOST_CASES, MOST_FACTS, MOST_VALUES, MOST_PRODUCTS = 6, 3, 120, 2, 20_000, 200_000
FALSE, ONE = Const(False), constant(1)
Places = Mapping[Axis, Polynomial]


class Split(Exception):  # noqa: N818 - no error: what a case must still choose
    """A case does not say whether a whole number is 0 or more."""

    def __init__(self, number: Polynomial) -> None:
        super().__init__(number)
        self.number = number


@prover("places", rank=3)
def places(statement: Statement, timeout_s: float) -> Outcome | None:
    """Prove claims that read more than variables at coordinates, by induction over these; None where a statement makes
    none, which other provers understand, or where it is not understood.
    """
    try:
        claims = claims_of(statement)
        reading = [c for c in claims if any(isinstance(t, Read) for t in subterms(c.goal, *c.premises))]
        if not any(_elsewhere(part) for claim in reading for part in written(claim)):
            return None
        steps: list[Step] = []
        for claim in claims:
            if claim.premises and vacuous(claim, timeout_s):
                return Outcome("refuted", "vacuous", f"no values meet the conditions ({claim.what})")
            if (found := _proof(claim, timeout_s)) is None:
                return Outcome("unknown", "places", f"no proof found by induction over coordinates ({claim.what})")
            steps += found
    except (NotUnderstood, TooMuch, RecursionError):
        return None
    # Where every case is one value by calculation alone, no step is left to say so
    told = dict.fromkeys(("induction over coordinates", *(step.method for step in steps))) if steps else ["normal form"]
    return Outcome("proved", ", ".join(told), steps=tuple(dict.fromkeys(steps)))


def _elsewhere(claim: Claim) -> bool:
    return any(isinstance(t, Read) and not followed(t, claim) for t in subterms(claim.goal, *claim.premises))


def _proof(claim: Claim, timeout_s: float) -> list[Step] | None:
    """Return the steps that prove a claim, by exact calculation alone if that does; None if there is no proof."""
    until = time.process_time() + QUESTIONS * timeout_s

    def step(part: Claim) -> Step | None:
        return decided(part, min(timeout_s, until - time.process_time()))

    def exact(part: Claim) -> Step | None:
        return step(part) if holds(part, 0.0) else None

    universe = Universe(claim)
    turning = [t.axis for t in subterms(claim.goal) if isinstance(t, (Index, Scan))]
    open_ = [axis for axis in universe.along(claim.goal) if axis in turning]
    if len(open_) > MOST_AXES:
        raise NotUnderstood(f"no prover understands places along {len(open_)} axes")
    for decide in (exact, step):
        for order in itertools.permutations(open_):
            with bounded(MOST_PRODUCTS):
                if (found := _by_order(universe, order, decide)) is not None:
                    return found
    return None


def _by_order(universe: Universe, order: tuple[Axis, ...], decide: Callable[[Claim], Step | None]) -> list[Step] | None:
    """Return the proof of a claim by induction over axes, the outermost first; None where a case is not decided."""
    steps: list[Step] = []
    seen: set[tuple[Term, ...]] = set()
    for way in _ways(universe, order):
        waiting: list[tuple[Polynomial, ...]] = [()]
        for _ in range(MOST_CASES):
            if not waiting:
                break
            facts = waiting.pop()
            try:
                # What is spoken of shows only once all is read: prefix folds are taken apart down to that.
                first = Case(universe, way, facts, ())
                first.claim()
                left = Case(universe, way, facts, first.folds()).claim()
            except Split as split:
                apart = (*facts, -split.number - ONE), (*facts, split.number)
                waiting += [case for case in apart if not _implied(constant(-1), case, way.least)]
                continue
            said = (left.goal, *left.premises)
            if left.goal is TRUE or FALSE in left.premises or said in seen:
                continue
            seen.add(said)
            if (step := decide(left)) is None:
                return None
            steps.append(step)
        else:
            return None
    return steps


# -- the claim, and where it is shown ----------------------------------------------------------------------------------


class Universe:
    """A claim, its axes, and along which of them its terms vary."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        terms = subterms(claim.goal, *claim.premises)
        self.axes = sorted({f for t in terms for f in t.fields if isinstance(f, Axis)})
        self.known: dict[Term, tuple[Axis, ...]] = {}
        self.left = MOST_VALUES

    def along(self, term: Term) -> tuple[Axis, ...]:
        """Return the axes that a term varies along: not along that of a read, but where its index does."""
        if term not in self.known:
            self.known[term] = tuple(axis for axis in self.axes if axis in self.found(term))
        return self.known[term]

    def found(self, term: Term) -> set[Axis]:
        if isinstance(term, Var):
            return {axis for axis in self.axes if self.claim.varies(term, axis)}
        if isinstance(term, Read):
            return {*self.along(term.body)} - {term.axis} | {*self.along(term.index)}
        inside = {axis for child in term.children for axis in self.along(child)}
        if isinstance(term, Reduce):
            return inside - {term.axis}
        return inside | {term.axis} if isinstance(term, (Index, Scan)) else inside


@dataclass(frozen=True)
class Way:
    """Coordinates where a claim is shown, and those where it is given, None for nowhere; the sizes of all axes, and the
    numbers that these are made of, which are 0 or more.
    """

    what: str
    here: Places
    before: Places | None
    sizes: Places
    least: frozenset[Term]


def _ways(universe: Universe, order: tuple[Axis, ...]) -> Iterator[Way]:
    """Yield what an induction shows: for each axis, the innermost first, the next coordinate of it where those of the
    axes inside are 0, given the one before it with the last ones of these; and the first coordinates of all.
    """
    for turn in range(len(order) - 1, -2, -1):
        here, before, sizes = dict[Axis, Polynomial](), dict[Axis, Polynomial](), dict[Axis, Polynomial]()
        least: set[Term] = set()
        for axis in universe.axes:
            lane, more = Var(f"lane of {axis}", "int"), Var(f"lanes of {axis} after", "int")
            least |= {lane, more}
            if axis in universe.along(universe.claim.goal):
                inside = axis in order[turn + 1 :]
                step = ONE if axis in order[max(turn, 0) : turn + 1] else Polynomial()
                here[axis], before[axis] = (Polynomial(), atom(more)) if inside else (atom(lane) + step, atom(lane))
            sizes[axis] = here.get(axis, Polynomial()) + atom(more) + ONE
        told = f"the next lane of {order[turn]}" if turn >= 0 else "the first lanes"
        what = f"{universe.claim.what}: {told}" if order else universe.claim.what
        yield Way(what, here, before if turn >= 0 else None, sizes, frozenset(least))


# -- one case ----------------------------------------------------------------------------------------------------------


class Case:
    """A claim at one of the ways, where facts hold: whole numbers that are 0 or more. `pool`: the prefix folds that are
    spoken of, and where.
    """

    def __init__(
        self,
        universe: Universe,
        way: Way,
        facts: tuple[Polynomial, ...],
        pool: Sequence[tuple[Term, Places]],
    ) -> None:
        self.universe, self.way, self.facts, self.pool = universe, way, facts, pool
        self.symbols: list[tuple[Term, Places, Var]] = []
        self.done: dict[tuple[Term, tuple[Polynomial, ...]], Term] = {}

    def claim(self) -> Claim:
        """Return what is left to be shown, of numbers alone; raises Split."""
        claim, way = self.universe.claim, self.way
        given = TRUE if way.before is None else self.value(claim.goal, way.before)
        goal, told = self.value(claim.goal, way.here), list(claim.legend)
        used = _variables(given) | _variables(goal)
        if (table := _solved(given)) is not None:
            told += [f"{one} is {_line(other)}, as the claim says {_at(way.before)}" for one, other in table.items()]
            given, goal = TRUE, rewritten(goal, lambda t: table.get(t, t))
        goal = _plain(goal)
        known = list(dict.fromkeys([given, *self.premises()]))
        if FALSE in known:
            return Claim(way.what, goal, (FALSE,), frozenset())
        spoken = _variables(goal) | _variables(given)
        known = [p for p in known if p is not TRUE and spoken.issuperset(_variables(p))]
        if spoken & way.least:
            parts = [(constant(0), atom(v)) for v in sorted(way.least, key=str)]
            parts += [(_part(-fact), _part(fact)) for fact in self.facts]
            known += [le(_term(less), _term(more)) for less, more in parts]
        return Claim(way.what, goal, tuple(known), frozenset(), (*self.legend(used), *told))

    def premises(self) -> Iterator[Term]:
        """Yield what the premises say wherever something was read; those that fold or read are left out."""
        everywhere = [dict(self.way.here), *({**self.way.here, **places} for _, places, _ in self.symbols)]
        for premise in self.universe.claim.premises:
            if any(isinstance(t, (Read, Reduce, Scan)) for t in subterms(premise)):
                continue
            for places in everywhere:
                if places.keys() >= set(self.universe.along(premise)):
                    yield self.value(premise, places)

    def legend(self, spoken: set[Term]) -> Iterator[str]:
        """Yield what is what in this case."""
        sizes = ", ".join(f"|{axis}| = {_text(size)}" for axis, size in self.way.sizes.items())
        yield ", ".join(part for part in (_at(self.way.here), sizes) if part)
        for fact in self.facts:
            yield f"and {_text(_part(-fact))} <= {_text(_part(fact))}"
        for t, places, v in self.symbols:
            if v in spoken:
                yield f"{v} stands for {_line(t)} {_at(places)}".rstrip()

    def folds(self) -> list[tuple[Term, Places]]:
        """Return the prefix folds that are spoken of, and where."""
        return [(t, places) for t, places, _ in self.symbols if isinstance(t, Scan)]

    # -- whole numbers -------------------------------------------------------------------------------------------------

    def positive(self, number: Polynomial) -> bool:
        """Tell whether a whole number is 0 or more; raises Split."""
        if _implied(number, self.facts, self.way.least):
            return True
        if _implied(-number - ONE, self.facts, self.way.least):
            return False
        raise Split(number)

    def equal(self, one: Polynomial, other: Polynomial) -> bool:
        """Tell whether two whole numbers are known to be equal."""
        gap = one - other
        return not gap.terms or all(_implied(p, self.facts, self.way.least) for p in (gap, -gap))

    def whole(self, term: Term, at: Places) -> Polynomial:
        """Return a whole number at coordinates; raises Split."""
        if isinstance(term, Const):
            return constant(term.value)
        if isinstance(term, Size):
            return self.way.sizes[term.axis]
        if isinstance(term, Index) and term.axis in at:
            return at[term.axis]
        if isinstance(term, Var):
            return atom(self.symbol(term, at))
        if isinstance(term, Read):
            return self.whole(term.body, self.moved(term, at))
        if isinstance(term, Map) and term.op == "where":
            if (test := self.value(term.args[0], at)) in (TRUE, FALSE):
                return self.whole(term.args[1 if test is TRUE else 2], at)
        elif isinstance(term, Map) and term.op in WHOLE:
            return WHOLE[term.op](self, *(self.whole(arg, at) for arg in term.args))
        raise NotUnderstood(f"no prover understands {getattr(term, 'op', type(term).__name__)} in a place")

    def moved(self, read: Read, at: Places) -> Places:
        """Return the coordinates where a read is of, which clamps its index into the axis."""
        index, last = self.whole(read.index, at), self.way.sizes[read.axis] - ONE
        place = Polynomial() if not self.positive(index) else index if self.positive(last - index) else last
        return {**at, read.axis: place}

    # -- values --------------------------------------------------------------------------------------------------------

    def value(self, term: Term, at: Places) -> Term:
        """Return a number or a truth at coordinates, of unknown numbers alone; raises Split."""
        along = self.universe.along(term)
        if not at.keys() >= set(along):
            raise NotUnderstood(f"no prover understands {type(term).__name__} at no coordinate")
        key = term, tuple(at[axis] for axis in along)
        if key not in self.done:
            self.universe.left -= 1
            if self.universe.left < 0:
                raise TooMuch
            self.done[key] = self.read(term, at)
        return self.done[key]

    def read(self, term: Term, at: Places) -> Term:
        if isinstance(term, Const) or (isinstance(term, Var) and term.sort == "number"):
            return term
        if isinstance(term, Var):
            return self.symbol(term, at)
        if isinstance(term, Read):
            return self.value(term.body, self.moved(term, at))
        if isinstance(term, Scan):
            return self.prefix(term, at)
        if isinstance(term, Reduce) and term.monoid in MONOIDS:
            neutral = Const(NEUTRAL[term.monoid])
            body = term.body if term.where is TRUE else Map("where", (term.where, term.body, neutral))
            return self.value(Scan(term.monoid, term.axis, body), {**at, term.axis: self.way.sizes[term.axis] - ONE})
        if isinstance(term, Map) and term.kind != "int":
            if term.op == "real":
                return Map("real", (_term(self.whole(term.args[0], at)),))
            if term.op in COMPARED and term.args[0].kind == "int":
                a, b = (self.whole(arg, at) for arg in term.args)
                return Const(all(self.positive(p) for p in COMPARED[term.op](a, b)))
            if term.op == "where" and (test := self.value(term.args[0], at)) in (TRUE, FALSE):
                return self.value(term.args[1 if test is TRUE else 2], at)
            if all(arg.kind != "int" for arg in term.args):
                return _plain(Map(term.op, tuple(self.value(arg, at) for arg in term.args)))
        raise NotUnderstood(f"no prover understands {getattr(term, 'op', type(term).__name__)}")

    def prefix(self, scan: Scan, at: Places) -> Term:
        """Return a prefix fold at a place: its first lane, that before with one lane more, or an unknown number."""
        place = at[scan.axis]
        if self.equal(place, Polynomial()):
            return self.lane(scan, at, Const(NEUTRAL[scan.monoid]))
        below = [{**at, scan.axis: place - constant(back)} for back in (1, 2)]
        spoken = any(self.equal(p[scan.axis], Polynomial()) or self.pooled(scan, p) for p in below)
        if spoken and _implied(place - ONE, self.facts, self.way.least):
            return self.lane(scan, at, self.value(scan, below[0]))
        return self.symbol(scan, at)

    def lane(self, scan: Scan, at: Places, before: Term) -> Term:
        return longer(scan, before, {part: self.value(part, at) for part in scan.children})

    def pooled(self, scan: Scan, at: Places) -> bool:
        return any(scan is t and all(self.equal(at[axis], p) for axis, p in places.items()) for t, places in self.pool)

    def symbol(self, term: Term, at: Places) -> Var:
        """Return the unknown number that stands for a term at coordinates: one for equal ones."""
        places = {axis: at[axis] for axis in self.universe.along(term)}
        for other, known, v in self.symbols:
            if other is term and all(self.equal(known[axis], place) for axis, place in places.items()):
                return v
        number = 1 + sum(other is term for other, _, _ in self.symbols)
        folds = [t for t in dict.fromkeys(t for t, _, _ in self.symbols) if isinstance(t, Scan)]
        if isinstance(term, Scan):
            name = f"prefix {1 + (folds.index(term) if term in folds else len(folds))} over {term.axis}"
        else:
            name = str(term.fields[0])
        self.symbols.append((term, places, Var(f"{name}@{number}", term.kind)))
        return self.symbols[-1][2]


def _implied(number: Polynomial, facts: Sequence[Polynomial], least: frozenset[Term]) -> bool:
    """Tell whether a number is a sum of some facts and of products of numbers that are 0 or more."""
    for many in range(MOST_FACTS + 1):
        for chosen in itertools.combinations_with_replacement(facts, many):
            rest = sum((-fact for fact in chosen), number)
            if all(times >= 0 and all(base in least for base, _ in powers) for powers, _, times in rest):
                return True
    return False


def _solved(given: Term) -> dict[Term, Term] | None:
    """Return what an equation says an unknown number is, None where it does not say that of one."""
    if isinstance(given, Map) and given.op == "eq":
        for one, other in (given.args, given.args[::-1]):
            if isinstance(one, Var) and one not in subterms(other):
                return {one: other}
    return None


def _plain(root: Term) -> Term:
    """Return a truth or a number without truths that are constants, and without equations of one number."""

    def change(t: Term) -> Term:
        if not isinstance(t, Map):
            return t
        if t.op in ("and", "or"):
            absorbs = Const(t.op == "or")
            left = [arg for arg in t.args if not isinstance(arg, Const)]
            return absorbs if absorbs in t.args else t if len(left) == 2 else left[0] if left else Const(t.op == "and")
        if t.op == "not" and isinstance(t.args[0], Const):
            return Const(not t.args[0].value)
        return same(*t.args) if t.op == "eq" and t.args[0] is t.args[1] else t

    return rewritten(root, change)


def _variables(term: Term) -> set[Term]:
    return {t for t in subterms(term) if isinstance(t, Var)}


def _term(p: Polynomial) -> Term:
    """Return a whole number as a term."""
    parts: list[Term] = []
    for powers, _, times in p:
        part: Term = Const(int(times))
        for base, power in powers:
            assert isinstance(base, Term)
            for _ in range(power):
                part = base if part is Const(1) else part * base
        parts.append(part)
    total = parts[0] if parts else Const(0)
    for part in parts[1:]:
        total = total + part
    return total


def _part(p: Polynomial) -> Polynomial:
    """Return the products of a number that have no negative factor."""
    return Polynomial(tuple((key, times) for key, times in p.terms if times > 0))


def _text(p: Polynomial) -> str:
    return _line(_term(p))


def _line(term: Term) -> str:
    return " ".join(spelled(term).split())


def _at(places: Places | None) -> str:
    told = ", ".join(f"{axis} = {_text(place)}" for axis, place in (places or {}).items())
    return f"at {told}" if told else ""


def _divided(case: Case, a: Polynomial, b: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Return quotient and remainder of whole numbers where both are polynomials: taken off one product after another,
    by each of the divisor's that another may be a multiple of, until what is left is known to be 0 or more and less.
    """
    for powers, _, times in b if _implied(b - ONE, case.facts, case.way.least) else ():
        quotient, rest = Polynomial(), a
        for _ in range(len(a.terms) + 1):
            if all(_implied(p, case.facts, case.way.least) for p in (rest, b - ONE - rest)):
                return quotient, rest
            part = next((q for q in map(lambda t: _over(t, powers, times), rest) if q is not None), None)
            if part is None:
                break
            quotient, rest = quotient + part, rest - part * b
    raise NotUnderstood("no prover understands a quotient of such places")


def _over(product: Any, powers: Any, times: Any) -> Polynomial | None:
    """Return a product over another one, None where it is no multiple of that."""
    own, _, number = product
    left = dict(own)
    for base, power in powers:
        left[base] = left.get(base, 0) - power
    if number % times or any(power < 0 for power in left.values()):
        return None
    found = constant(int(number / times))
    for base, power in left.items():
        for _ in range(power):
            found = found * atom(base)
    return found


WHOLE: dict[str, Callable[..., Polynomial]] = {
    "floordiv": lambda case, a, b: _divided(case, a, b)[0],
    "mod": lambda case, a, b: _divided(case, a, b)[1],
    "add": lambda case, a, b: a + b,
    "mul": lambda case, a, b: a * b,
    "neg": lambda case, a: -a,
    "max": lambda case, a, b: a if case.positive(a - b) else b,
    "min": lambda case, a, b: b if case.positive(a - b) else a,
}
COMPARED: dict[str, Callable[[Polynomial, Polynomial], tuple[Polynomial, ...]]] = {
    "lt": lambda a, b: (b - a - ONE,),
    "le": lambda a, b: (b - a,),
    "eq": lambda a, b: (b - a, a - b),
}
