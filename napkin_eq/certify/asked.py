"""Whether a theorem is about the diagram that was asked for: the one step before a certificate's first, held here.

What derives may name bound axes anew (cover/apart.py), carry a read of a computed value down to the arrays
(lang/substitute.py), fold over the two axes that another one counts, or over the two parts of one that were joined, say
in the place of a fold of one lane what is in that lane, make a choice of two values that are made alike of choices, and
leave out what a mask that is known does not take, or what the absent value absorbs (search/unfolded.py). None is a step
of the certificate. So both terms are written as what they say at one place of the output, with every coordinate put in
down to the arrays and bound axes without names, and must be the same.

Nothing of what derives is used here, so that its mistakes are seen. What is not understood is not the same.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError, Undecided
from napkin_eq.lang.operators import NEUTRAL, PLACES
from napkin_eq.lang.term import Const, Index, Input, Length, Map, Read, Reduce, Scan, Size, Term, Tuple
from napkin_eq.lang.waists import waists

Env = Mapping[str, int]
Bounds = tuple[float, float]
Row = tuple[Any, ...]
ANY: Bounds = (-math.inf, math.inf)
FAR = 2**53
MOST = 400_000  # values visited, each at a place of its own, until nothing is said
# A fold in which these are of its axis' coordinate, by a number, is one over two axes
QUOTIENTS = (("map", "floordiv"), ("map", "mod"))
FOLDS = ("sum", "prod", "max", "min")
# Operators that give a number for numbers
NUMBERS = ("add", "mul", "neg")
MASKS = tuple(("map", op) for op in ("eq", "le", "not", "and", "or"))
ABSORBING = ("map", "add"), ("map", "mul")  # of which the absent value makes itself
TRUE, FALSE, ZERO, ABSENT = (
    ("const", c.kind, repr(c.fields)) for c in (Const(True), Const(False), Const(0.0), Const(-math.inf))
)
JOINED = {"sum": "add", "prod": "mul", "max": "max", "min": "min"}  # what makes one fold of two over parts of an axis
MOST_DEEP = 100  # operators of one kind above each other in both sides of a choice
DEEP = 40  # levels from which terms are held against each other part by part
Work = Generator[tuple[Term, Env], int, int]


def same(asked: Sequence[Term], claimed: Sequence[Term], *, hasty: bool = False) -> bool:
    """Tell whether terms say the same, one by one, however their bound axes are named and wherever their
    reads stand.

    hasty: deep terms do not where a value that all else is made of does not, though what is made of it might.
    """
    if len(asked) != len(claimed):
        return False
    deep = max(t.depth for t in (*asked, *claimed)) > DEEP
    return (deep and _same(asked, claimed, True, hasty)) or (not (deep and hasty) and _same(asked, claimed, False))


def _same(asked: Sequence[Term], claimed: Sequence[Term], parted: bool, hasty: bool = False) -> bool:
    """Tell whether terms say the same, parted: of values that are found to say the same nothing else is said; that may
    be too little, where one side reads at other coordinates a copy of what the other made once.
    """
    said = _Said()
    try:
        if parted and not said.part_by_part(waists(asked), waists(claimed), hasty):
            return False
        pairs = [(said.value(a), said.value(b)) for a, b in zip(asked, claimed, strict=True) if a is not b]
    except NapkinError:
        return False
    return all(a == b for a, b in pairs) and all(
        set(a.axes) == set(b.axes) for a, b in zip(asked, claimed, strict=True)
    )


def require_asked(what: str, asked: Sequence[Term], claimed: Sequence[Term]) -> None:
    """Raise Undecided unless terms that are to be proved say what was asked for."""
    if not same(asked, claimed):
        raise Undecided(
            f"{what}: what is proved is not shown to be about this diagram: an axis or a read says something else"
        )


def items(term: Term) -> tuple[Term, ...]:
    """Return the items of a tuple, or the term itself."""
    return term.items if isinstance(term, Tuple) else (term,)


class _Said:
    """Terms at one place, as numbers: equal numbers say the same."""

    def __init__(self) -> None:
        self.rows: list[tuple[Row, tuple[int, ...]]] = []
        self.known: dict[tuple[Row, tuple[int, ...]], int] = {}
        self.bounds: list[Bounds] = []
        self.height: list[int] = []  # how many bound axes stand in one another inside
        self.shapes: list[int] = []  # of which arrays and by which operators, signs apart, a row is made, as a number
        self.shaped: dict[Row, int] = {}
        self.choices: dict[tuple[int, int, int], int] = {}
        self.signs: dict[int, tuple[float, int]] = {}
        self.done: dict[Any, int] = {}
        self.fresh = self.work = 0
        # By a bound axis and a number, the quotients and remainders of its coordinate
        self.divided: dict[tuple[int, int], set[int]] = {}
        self.compared: set[int] = set()  # what is asked to be equal to something, or at most that, or that at most it
        # By a bound axis, the choices by whether its coordinate is below a number, and the number
        self.below: dict[int, set[tuple[int, int]]] = {}
        # Values said to be the same: their number, and the order of their axes
        self.parts: dict[Term, tuple[int, tuple[str, ...]]] = {}

    def part_by_part(self, asked: Sequence[Term], claimed: Sequence[Term], hasty: bool) -> bool:
        """Find values that say the same, first ones first: from then on either is one array, of which nothing is said
        but where it is read. Return whether to go on: hastily not beyond the first that does not, where there are as
        many of either.

        Bound axes of a deep graph would else be told apart by all the ways that lead to them.
        """
        for own, other in zip(asked, claimed, strict=False):
            axes = _paired(own.axes, other.axes)
            if axes is None:
                continue
            env = {theirs: self.lane(axis, {}) for axis, theirs in axes}
            if own is other or self.value(own) == self.value(other, env):
                number = len(self.parts)
                self.parts[own] = number, tuple(axis.name for axis, _ in axes)
                self.parts[other] = number, tuple(theirs for _, theirs in axes)
            elif hasty and len(asked) == len(claimed):
                return False
        return True

    def value(self, root: Term, env: Env | None = None) -> int:
        """Return the number of a term; a generator for each term on the way, so that depth is no matter."""
        stack: list[Work] = [self.visit(root, env or {})]
        keys: list[Any] = [None]
        result: int | None = None
        while stack:
            try:
                term, env = stack[-1].send(result)  # type: ignore[arg-type]  # None starts a generator
            except StopIteration as end:
                stack.pop()
                self.done[keys.pop()] = result = end.value
                continue
            key = (term, tuple((axis.name, env[axis.name]) for axis in term.axes if axis.name in env))
            result = self.done.get(key)
            if result is None:
                stack.append(self.visit(term, env))
                keys.append(key)
                self.work += 1
                if self.work > MOST:
                    raise NapkinError("these terms are too large to be held against each other")
        assert result is not None
        return result

    def visit(self, term: Term, env: Env) -> Work:
        if term in self.parts:
            number, names = self.parts[term]
            free = {axis.name: axis for axis in term.axes}
            return self.row(("part", number), [self.lane(free[name], env) for name in names])
        if isinstance(term, Const):
            return self.row(("const", term.kind, repr(term.fields)), bounds=_point(term))
        if isinstance(term, Index):
            return self.lane(term.axis, env)
        if isinstance(term, (Size, Length)):
            size = term.axis.size
            length = (type(term).__name__, term.axis.name if size is None else size)
            return self.row(length, bounds=(1, math.inf) if size is None else (size, size))
        if isinstance(term, Input):
            head = ("input", term.name, term.dtype, term.facts, tuple((a.name, a.size, a.multiple) for a in term.dims))
            return self.row(head, [self.lane(axis, env) for axis in term.dims], _declared(term))
        if isinstance(term, Map):
            args = []
            for arg in term.args:
                found = yield arg, env
                args.append(found)
            return self.map(term, args)
        if isinstance(term, (Reduce, Scan)):
            own = self.bound(term.axis)
            inner = {**env, term.axis.name: own}
            parts = []
            for child in term.children:
                found = yield child, inner
                parts.append(found)
            height = 1 + max(self.height[part] for part in parts)
            placed = [self.lane(term.axis, env)] if isinstance(term, Scan) else []
            if isinstance(term, Reduce) and term.monoid in FOLDS:
                return self.fold(term.monoid, parts, own, term.axis)
            named = parts if term.axis.size == 1 else self.put(parts, own, self.bound(term.axis, height))
            bounds = _places(term.axis) if term.monoid in PLACES else ANY
            return self.row(
                (type(term).__name__, term.monoid, height, *_kind(term.axis)), [*placed, *named], bounds, height
            )
        if isinstance(term, Read):
            place = yield term.index, env
            if not self.is_lane(place, term.axis):
                low, last = (yield Const(0), env), (yield Length(term.axis) - 1, env)
                place = self.clamped("min", self.clamped("max", place, low), last)
            return (yield term.body, {**env, term.axis.name: place})
        raise NapkinError(f"a {type(term).__name__} is no part of a diagram")

    def fold(self, monoid: str, parts: Sequence[int], own: int, axis: Axis) -> int:
        """Return the number of a fold over a bound axis. Where one lane alone can count, of what is in that lane; where
        something inside is at its quotients or remainders by a number, of the fold over both: lanes i n + j, the j of
        each i folded first; where something inside is one value below a coordinate and another beyond, of the folds
        over the lanes below and the others.
        """
        if self.rows[parts[1]][0] == FALSE:
            return self.nothing(monoid)
        if axis.size == 1 and self.rows[parts[1]][0] == TRUE:
            return parts[0]
        if (found := self.lone(monoid, parts, own, axis)) is not None:
            return found
        inside = self.made(parts) if self.divided else set[int]()
        numbers = {n for lane, n in self.divided if lane == own and not inside.isdisjoint(self.divided[lane, n])}
        least = min((n for n in numbers if axis.size and 1 < n < axis.size and axis.size % n == 0), default=0)
        if least and axis.size:
            quotients, rests = Axis(axis.name, axis.size // least), Axis(axis.name, least)
            count, rest = self.bound(quotients), self.bound(rests)
            whole = self.row(("whole", least), bounds=(least, least))
            run = self.row(("map", "mul"), (count, whole), bounds=(0, axis.size - least))
            lane = self.row(("map", "add"), (run, rest), bounds=_places(axis))
            inner = self.fold(monoid, self.put(parts, own, lane), rest, rests)
            return self.fold(monoid, [inner, self.row(TRUE)], count, quotients)
        if (end := self.end(parts, own, axis)) is not None and axis.size:
            lanes, others = Axis(axis.name, end), Axis(axis.name, axis.size - end)
            first, second = self.bound(lanes), self.bound(others)
            whole = self.row(("whole", end), bounds=(end, end))
            place = self.row(("map", "add"), (second, whole), bounds=(end, axis.size - 1))
            folds = (
                self.fold(monoid, self.put(parts, own, first), first, lanes),
                self.fold(monoid, self.put(parts, own, place), second, others),
            )
            return self.row(("map", JOINED[monoid]), folds)
        height = 1 + max(self.height[part] for part in parts)
        named = parts if axis.size == 1 else self.put(parts, own, self.bound(axis, height))
        return self.row(("Reduce", monoid, height, *_kind(axis)), named, ANY, height)

    def nothing(self, monoid: str) -> int:
        """Return the number of what a fold over no lane gives."""
        if monoid in PLACES:
            return self.row(("whole", 0), bounds=(0, 0))
        return self.row(("const", "real", repr(Const(NEUTRAL[monoid]).fields)))

    def end(self, parts: Sequence[int], own: int, axis: Axis) -> int | None:
        """Return the least number that cuts an axis in two, of those below which one value inside stands and another
        beyond.
        """
        if own not in self.below or axis.size is None:
            return None
        inside = self.made(parts)
        size = axis.size
        return min((end for number, end in self.below[own] if number in inside and 0 < end < size), default=None)

    def lone(self, monoid: str, parts: Sequence[int], own: int, axis: Axis) -> int | None:
        """Return the number of the one lane that a fold takes, where its mask holds in no other, or where its body, of
        a sum, is zero in every other; None where that is not clear.

        That lane is at a place that is the same in every lane. Of one beyond the axis the nearest lane is asked: there
        what asks for that place does not hold, and a sum is zero.
        """
        if own not in self.compared:
            return None
        body, where = parts
        conditions = [*self.conjuncts(where), *(self.asks(body) if monoid == "sum" else [])]
        told = [self.rows[condition] for condition in conditions]
        places = [sides[sides[0] == own] for head, sides in told if head == ("map", "eq") and own in sides]
        # At most a place, which is below the next lane
        most = [sides[1] for head, sides in told if head == ("map", "le") and sides[0] == own]
        below = [sides[0] for head, sides in told if head == ("map", "lt") and self.apart(sides[1]) == (own, 1)]
        for place in [*places, *(place for place in most if place in below)]:
            if axis.size is None or self.height[place] or own in self.made([place]):
                continue
            first, last = (self.row(("whole", at), bounds=(at, at)) for at in (0, axis.size - 1))
            lane = self.clamped("min", self.clamped("max", place, first), last)
            value, mask = self.put(parts, own, lane)
            if mask == self.row(TRUE):
                return value
            if monoid == "sum":
                return self.row(("map", "where"), (mask, value, self.row(ZERO)))
        return None

    def conjuncts(self, mask: int) -> list[int]:
        """Return masks all of which hold where one does: its parts, and where not one of several may, what each of
        these denies.
        """
        found, stack = list[int](), [(mask, True)]
        while stack:
            at, holds = stack.pop()
            head, parts = self.rows[at]
            if head == ("map", "not"):
                stack.append((parts[0], not holds))
            elif head == ("map", "and" if holds else "or"):
                stack += [(part, holds) for part in reversed(parts)]
            elif holds:
                found.append(at)
        return found

    def asks(self, root: int) -> list[int]:
        """Return masks outside each of which a value is zero."""
        found, stack, seen = list[int](), [root], set[int]()
        while stack:
            at = stack.pop()
            head, parts = self.rows[at]
            if at in seen:
                continue
            seen.add(at)
            if head == ("map", "where") and self.rows[parts[2]][0] in (ZERO, ("whole", 0)):
                found += self.conjuncts(parts[0])
                stack.append(parts[1])
            elif head in (("map", "neg"), ("map", "real")):
                stack += parts
            elif head == ("map", "mul"):  # beside an absent factor it would be absent there
                stack += [one for one, other in (parts, parts[::-1]) if self.is_number(other)]
        return found

    def is_number(self, root: int) -> bool:
        """Tell whether a value is a number for certain, as every element of an array is; else it may be absent."""

        def sure(head: Row) -> bool:
            number = head[:2] == ("const", "real") and head != ABSENT
            return number or head[0] == "input" or head == ("map", "real")

        return all(sure(self.rows[at][0]) for at in self.under(root, *(("map", op) for op in NUMBERS)))

    def under(self, root: int, *heads: Row) -> list[int]:
        """Return the numbers that one is made of by operators of some kinds."""
        found, stack, seen = list[int](), [root], set[int]()
        while stack:
            at = stack.pop()
            if at not in seen:
                seen.add(at)
                head, parts = self.rows[at]
                if head in heads:
                    stack += reversed(parts)
                else:
                    found.append(at)
        return found

    def made(self, roots: Sequence[int]) -> set[int]:
        """Return the numbers that some are made of."""
        found, stack = set[int](), list(roots)
        while stack:
            at = stack.pop()
            if at not in found:
                found.add(at)
                stack += self.rows[at][1]
        return found

    def quotient(self, op: str, left: int, right: int) -> int | None:
        """Return i as the quotient of i n + j by n, and j as the remainder, where bounds say that 0 <= j < n; None of
        what is not known to be one.
        """
        low, high = self.bounds[right]
        if low != high or not 0 < low < math.inf:
            return None
        number, quotients, rests, stack = int(low), list[int](), list[int](), [left]
        while stack:
            at = stack.pop()
            head, parts = self.rows[at]
            factor = self.bounds[parts[1]] if head == ("map", "mul") else ANY
            if head == ("map", "add"):
                stack += reversed(parts)
            elif factor[0] == factor[1] and factor[0] > 0 and factor[0] % number == 0:
                times = int(factor[0]) // number
                quotients.append(parts[0] if times == 1 else self.times(parts[0], times))
            else:
                rests.append(at)
        rest = self.added(rests)
        least, most = self.bounds[rest]
        if least < 0 or most > number - 1:
            return None
        return self.added(quotients) if op == "floordiv" else rest

    def times(self, part: int, number: int) -> int:
        own = self.bounds[part]
        factor = self.row(("whole", number), bounds=(number, number))
        return self.row(("map", "mul"), (part, factor), _clipped(*_products(own, (number, number))))

    def added(self, parts: Sequence[int]) -> int:
        if not parts:
            return self.row(("whole", 0), bounds=(0, 0))
        found, *others = parts
        for part in others:
            (a, b), (c, d) = self.bounds[found], self.bounds[part]
            found = self.row(("map", "add"), (found, part), _clipped(a + c, b + d))
        return found

    def row(self, head: Row, parts: Sequence[int] = (), bounds: Bounds = ANY, height: int = 0) -> int:
        """Return the number of an operator, or a leaf, over numbers; what can be one whole number only is that, and
        what is equal to itself is.
        """
        if head[:2] == ("map", "eq"):
            parts = sorted(parts)  # either way round
        if head[0] == "Reduce" and self.rows[parts[1]][0] == FALSE:
            return self.nothing(head[1])
        if head in (("map", "le"), ("map", "lt")):
            parts = self.bare(*parts)
        if head[:2] in MASKS and (mask := self.mask(head, parts)) is not None:
            return mask
        if head == ("map", "mul") and any(self.rows[part][0] == ("whole", 1) for part in parts):
            return parts[self.rows[parts[0]][0] == ("whole", 1)]
        if head[:2] in ABSORBING and any(self.rows[part][0] == ABSENT for part in parts):
            return self.row(ABSENT)
        if head == ("map", "where"):
            if self.rows[parts[0]][0] in (TRUE, FALSE):
                return parts[1 if self.rows[parts[0]][0] == TRUE else 2]
            if bounds == ANY and (found := self.choice(parts[0], parts[1], parts[2], 0)) is not None:
                return found
        if head == ("map", "lt"):
            return self.less(*parts)
        sums = (self.shifted, self.divided_by) if head == ("map", "add") else ()
        if (found := next((n for way in sums if (n := way(*parts)) is not None), None)) is not None:
            return found
        if head in QUOTIENTS:
            if (found := self.quotient(head[1], *parts)) is not None:
                return found
            low, high = self.bounds[parts[1]]
            if low == high and self.rows[parts[0]][0][0] == "bound":
                number = self.number(head, parts, bounds, height)
                self.divided.setdefault((parts[0], int(low)), set()).add(number)
                return number
        return self.number(head, parts, bounds, height)

    def mask(self, head: Row, parts: Sequence[int]) -> int | None:
        """Return the number of a mask that its parts decide; None where they do not."""
        said = [self.rows[part][0] for part in parts]
        if head in (("map", "eq"), ("map", "le")):
            (low, high), (least, most) = (self.bounds[part] for part in parts)
            equal = head == ("map", "eq")
            holds = parts[0] == parts[1] or (not equal and high <= least)
            if holds or low > most or (equal and high < least):
                return self.row(TRUE if holds else FALSE)
        elif head == ("map", "not") and said[0] in (TRUE, FALSE):
            return self.row(FALSE if said[0] == TRUE else TRUE)
        elif head in (("map", "and"), ("map", "or")):
            decides, says_nothing = (FALSE, TRUE) if head[1] == "and" else (TRUE, FALSE)
            if decides in said:
                return self.row(decides)
            if says_nothing in said:
                return parts[said[0] == says_nothing]
        return None

    def bare(self, left: int, right: int) -> tuple[int, int]:
        """Return both sides of a comparison of whole numbers, a number that is added to either taken off both."""
        (one, start), (other, end) = self.apart(left), self.apart(right)
        if one is None or other is None or not start or not end:
            return left, right
        whole = self.row(("whole", end - start), bounds=(end - start, end - start))
        return one, other if end == start else self.row(("map", "add"), (other, whole), self.moved(other, end - start))

    def moved(self, at: int, by: int) -> Bounds:
        """Return the bounds of a whole number with another added."""
        low, high = self.bounds[at]
        return _clipped(low + by, high + by)

    def shifted(self, one: int, other: int) -> int | None:
        """Return a whole number plus one number and another as that number plus their sum; None of other sums."""
        (inner, start), (own, end) = self.apart(one), self.apart(other)
        if not (start and self.rows[other][0][0] == "whole" or end and self.rows[one][0][0] == "whole"):
            return None
        number, rest = start + end, own if inner is None else inner
        if rest is None:
            return None
        if number == 0:
            return rest
        whole = self.row(("whole", number), bounds=(number, number))
        return self.number(("map", "add"), (rest, whole), self.moved(rest, number), 0)

    def divided_by(self, one: int, other: int) -> int | None:
        """Return i of (i div n) n + i mod n; None of other sums."""
        for product, rest in ((one, other), (other, one)):
            (head, factors), (left, of) = self.rows[product], self.rows[rest]
            if head != ("map", "mul") or left != ("map", "mod"):
                continue
            for quotient, number in (factors, factors[::-1]):
                op, parts = self.rows[quotient]
                low, high = self.bounds[number]
                if op == ("map", "floordiv") and parts == of and 0 < low == high and self.bounds[of[1]] == (low, high):
                    return of[0]
        return None

    def apart(self, at: int) -> tuple[int | None, int]:
        """Return a value and the whole number that is added to it; no value where it is such a number."""
        low, high = self.bounds[at]
        if low == high:
            return None, int(low)
        head, parts = self.rows[at]
        if head == ("map", "add") and self.rows[parts[1]][0][0] == "whole":
            return parts[0], int(self.bounds[parts[1]][0])
        return at, 0

    def less(self, left: int, right: int) -> int:
        """Return the number of a comparison: what bounds say of it; of a coordinate plus a number with another, of the
        coordinate alone.
        """
        (low, high), (least, most) = self.bounds[left], self.bounds[right]
        (one, less), (other, more) = self.apart(left), self.apart(right)
        if one == other and one is not None:
            return self.row(TRUE if less < more else FALSE)
        if high < least or low >= most:
            return self.row(TRUE if high < least else FALSE)
        head, parts = self.rows[left]
        if head == ("map", "add") and least == most and self.rows[parts[0]][0][0] == "bound":
            start, end = self.bounds[parts[1]]
            if start == end:
                whole = int(least - start)
                return self.less(parts[0], self.row(("whole", whole), bounds=(whole, whole)))
        return self.number(("map", "lt"), (left, right), ANY, 0)

    def choice(self, mask: int, one: int, other: int, deep: int) -> int | None:
        """Return a choice between two values that the same operator makes as that operator of choices: what is chosen
        before, place by place, is what is chosen after. None where there is no such operator.

        Of two sums, or products, those parts are a pair that are made alike; a sign that one side alone has is a
        factor.
        """
        if one == other:
            return one
        if deep > MOST_DEEP:
            raise NapkinError("these choices are too deep to be held against each other")
        (sign, left), (negative, right) = self.signed(one), self.signed(other)
        if sign != negative:
            ends = [self.row(("const", "real", repr(Const(end).fields))) for end in (sign, negative)]
            chosen = self.row(("map", "where"), (mask, *ends))
            return self.row(("map", "mul"), (chosen, self.chosen(mask, left, right, deep)))
        if sign < 0:
            return self.row(("map", "neg"), (self.chosen(mask, left, right, deep),))
        (head, parts), (same, others) = self.rows[left], self.rows[right]
        if head != same or head[0] != "map" or head[1] in ("where", "real") or len(parts) != len(others):
            return None
        shapes, theirs = ([self.shapes[part] for part in side] for side in (parts, others))
        alike, crossed = (sum(map(int.__eq__, shapes, side)) for side in (theirs, theirs[::-1]))
        if head[1] in ("add", "mul") and crossed > alike:
            others = others[::-1]
        return self.row(head, [self.chosen(mask, a, b, deep) for a, b in zip(parts, others, strict=True)])

    def chosen(self, mask: int, one: int, other: int, deep: int) -> int:
        key = mask, one, other
        if key not in self.choices:
            found = self.choice(mask, one, other, deep + 1)
            self.choices[key] = self.number(("map", "where"), key, ANY, 0) if found is None else found
        return self.choices[key]

    def signed(self, root: int) -> tuple[float, int]:
        """Return the sign of a product's factors, together, and the product without it."""
        if root not in self.signs:
            head, parts = self.rows[root]
            found = 1.0, root
            if head == ("map", "neg"):
                sign, body = self.signed(parts[0])
                found = -sign, body
            elif head == ("map", "mul"):
                (sign, left), (negative, right) = map(self.signed, parts)
                found = sign * negative, root if (left, right) == parts else self.row(head, (left, right))
            self.signs[root] = found
        return self.signs[root]

    def number(self, head: Row, parts: Sequence[int], bounds: Bounds, height: int) -> int:
        """Return the number of a row as it stands."""
        low, high = bounds
        key: tuple[Row, tuple[int, ...]] = (("whole", int(low)), ()) if low == high else (head, tuple(parts))
        if key not in self.known:
            self.known[key] = len(self.rows)
            self.rows.append(key)
            self.compared.update(parts if head in (("map", "eq"), ("map", "le")) else ())
            if head == ("map", "where") and self.rows[parts[0]][0] == ("map", "lt"):
                own, end = self.rows[parts[0]][1]
                if self.rows[own][0][0] == "bound" and self.rows[end][0][0] == "whole":
                    self.below.setdefault(own, set()).add((self.known[key], int(self.bounds[end][0])))
            self.bounds.append(bounds)
            self.height.append(max([height, *(self.height[part] for part in parts)]))
            plain = head[0] == "map" and head[1] not in ("where", "real")
            kind = head if plain else head[: 1 + (head[0] == "input")]
            inside = tuple(self.shapes[part] for part in parts) if plain else ()
            shape = self.shaped.setdefault((kind, inside), len(self.shaped))
            self.shapes.append(inside[0] if head == ("map", "neg") else shape)
        return self.known[key]

    def lane(self, axis: Axis, env: Env) -> int:
        if axis.name in env:
            return env[axis.name]
        return self.row(("lane", axis.name, axis.size, axis.multiple), bounds=_places(axis))

    def bound(self, axis: Axis, height: int = 0) -> int:
        """Return a bound axis, called by how many are bound inside of where it is, at first by a number of its own."""
        self.fresh += not height
        return self.row(("bound", height or -self.fresh, *_kind(axis)), bounds=_places(axis))

    def is_lane(self, place: int, axis: Axis) -> bool:
        """Tell whether a place is one of an axis of no known size as it stands; of others, bounds say it."""
        head, _ = self.rows[place]
        return axis.size is None and (
            head[:3] == ("lane", axis.name, None) or (head[0] == "bound" and head[2] == axis.name)
        )

    def map(self, term: Map, args: list[int]) -> int:
        if term.op in ("eq", "le") and any(arg.kind != "int" for arg in term.args):
            return self.row(("map", term.op, "real"), args)  # which may hold in no lane
        if term.kind != "int" or term.op not in BOUNDS:
            return self.row(("map", term.op), args)
        if term.op in ("min", "max"):
            return self.clamped(term.op, *args)
        return self.row(("map", term.op), args, _clipped(*BOUNDS[term.op](*(self.bounds[arg] for arg in args))))

    def clamped(self, op: str, left: int, right: int) -> int:
        """Return the smaller or the larger of two whole numbers: one of them where their bounds say which."""
        (low, high), (least, most) = self.bounds[left], self.bounds[right]
        if high <= least or most <= low:
            return left if (high <= least) == (op == "min") else right
        found = min if op == "min" else max
        return self.row(("map", op), (left, right), (found(low, least), found(high, most)))

    def put(self, roots: Sequence[int], old: int, new: int) -> list[int]:
        """Return numbers with one in place of another, everywhere inside."""
        done, stack = {old: new}, list(roots)
        while stack:
            head, parts = self.rows[stack[-1]]
            waiting = [part for part in parts if part not in done and stack[-1] not in done]
            if not waiting:
                at = stack.pop()
                if at not in done:
                    done[at] = self.again(head, [done[part] for part in parts], self.bounds[at], self.height[at])
            stack += waiting
        return [done[root] for root in roots]

    def again(self, head: Row, parts: Sequence[int], bounds: Bounds, height: int) -> int:
        """Return the number of an operator over other numbers than before: what their bounds say it is, if its own said
        something.
        """
        op = head[1] if head[0] == "map" and len(head) == 2 and bounds != ANY else ""
        if op in ("min", "max"):
            return self.clamped(op, *parts)
        if op in BOUNDS:
            low, high = _clipped(*BOUNDS[op](*(self.bounds[part] for part in parts)))
            bounds = max(low, bounds[0]), min(high, bounds[1])
        return self.row(head, parts, bounds, height)


def _paired(own: Sequence[Axis], other: Sequence[Axis]) -> list[tuple[Axis, str]] | None:
    """Pair axes of one value with those of another, each named like it, or of its size and with an ending; None where
    that is not clear.
    """

    def alike(one: Axis, two: Axis) -> bool:
        ending = two.size is not None and re.fullmatch(re.escape(one.name) + "_[0-9]+", two.name) is not None
        return one.size == two.size and (one.name == two.name or ending)

    pairs = [(axis, [b.name for b in other if alike(axis, b)]) for axis in own]
    found = [(axis, names[0]) for axis, names in pairs if len(names) == 1]
    return found if len(own) == len(other) == len(found) == len({name for _, name in found}) else None


def _kind(axis: Axis) -> Row:
    # Of a size that is not known the name stands for it.
    return (axis.name if axis.size is None else "", axis.size, axis.multiple)


def _places(axis: Axis) -> Bounds:
    return (0, math.inf if axis.size is None else axis.size - 1)


def _point(term: Const) -> Bounds:
    return _clipped(int(term.value), int(term.value)) if term.kind == "int" else ANY


def _clipped(low: float, high: float) -> Bounds:
    # No axis is so long: beyond, nothing is asked of a bound, and floats stay exact below.
    return (low if abs(low) < FAR else -math.inf, high if abs(high) < FAR else math.inf)


def _declared(term: Input) -> Bounds:
    most = min([math.inf, *(float(fact.removeprefix("abs<=")) for fact in term.facts if fact.startswith("abs<="))])
    return (0 if {"pos", "nonneg"} & {*term.facts} else -most, most)


def _products(left: Bounds, right: Bounds) -> Bounds:
    corners = [0.0 if a == 0 or b == 0 else a * b for a in left for b in right]
    return min(corners), max(corners)


def _quotients(left: Bounds, right: Bounds) -> Bounds:
    # Only by a positive number that is known.
    if right[0] != right[1] or not 0 < right[0] < math.inf:
        return ANY
    low, high = (part if math.isinf(part) else part // right[0] for part in left)
    return low, high


def _remainders(left: Bounds, right: Bounds) -> Bounds:
    if right[0] <= 0:
        return ANY
    return (0, min(left[1], right[1] - 1)) if left[0] >= 0 else (0, right[1] - 1)


BOUNDS: dict[str, Callable[..., Bounds]] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "neg": lambda a: (-a[1], -a[0]),
    "mul": _products,
    "floordiv": _quotients,
    "mod": _remainders,
    "min": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "max": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "where": lambda _, a, b: (min(a[0], b[0]), max(a[1], b[1])),
}
