"""Elementwise operators written as statements: sums flattened, exponentials in base two, absence guarded where it may
occur.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache

from napkin_eq.lang.interval import interval, wide
from napkin_eq.lang.numpy_semantics import random
from napkin_eq.lang.operators import ABSENT, EDGES, OPS
from napkin_eq.lang.term import (
    Const,
    Fold,
    Index,
    Input,
    Map,
    Online,
    Prev,
    Reduce,
    Scan,
    Term,
    in_others,
    rebuilt,
    subterms,
)
from napkin_eq.laws.law import Judgment, finite, nonneg, nonzero, pos
from napkin_eq.tile import ir as p
from napkin_eq.tile.lower.builder import Context, Env, Statements, restricted
from napkin_eq.tile.places import conjuncts, decided, sides, telling
from napkin_eq.tile.stream_facts import plain, reduces_over, spreads

LEAST, MOST = -(2**31), 2**31 - 1
LOG2E = math.log2(math.e)
# Of float32: from LARGEST on a number is rounded to infinity.
LEAST_NORMAL, LARGEST = 2.0**-126, 2.0**128 - 2.0**103
# What may be as large as one of its arguments.
KEEPS = ("add", "neg", "abs", "max", "min", "where", "round", "floor")
Proved = Callable[[Judgment], bool]


class Arithmetic(Statements):
    """Writes operators; `proved` tells which judgments hold, which spares guards."""

    def __init__(self, tiles: Mapping[str, int], ranks: Mapping[str, int], proved: Proved) -> None:
        super().__init__(tiles, ranks)
        self.proved = proved
        self.present: set[str] = set()
        self.mixing = False  # whether what is written is what bits are mixed of

    def elementwise(self, term: Map, context: Context) -> p.Operand:
        """Return the value of an operator applied lane by lane."""
        op, args = term.op, term.args
        if op == "where":
            return self._where(term, context)
        if (written := OPS[op].written) is not None:
            return self.operand(in_others(written, *args), context)
        if op == "exp":
            return self.emit("exp2", (self._exponent(args[0], context),), "f32")
        if op in ("add", "neg") and term.kind == "real":
            return self._sum(term, 1.0, context)
        if op == "real":
            return self.cast(self.operand(args[0], context), "f32")
        if op in ("and", "or") and (short := self.settled(term, context)) is not None:
            return short
        if op in ("floordiv", "mod") and (found := self._of_block(op, args, context)) is not None:
            return found
        if op == "random":
            self.mixing = True
        values = tuple(self.operand(a, context) for a in args)
        if op == "random":
            self.mixing = False
            # Of numbers alone it is one, as evaluation has it
            known = not any(isinstance(value, str) for value in values)
            return int(random(*values).item()) if known else self.emit(op, values, "i32")
        if op in ("floordiv", "mod"):
            return self._held(term, self._quotient(op, args[1], values, self._wide(term, *args)))
        if term.kind == "bool" and args[0].kind == "int" == args[1].kind:
            return self._compared(op, args, values)
        if term.kind == "int":
            return self._held(term, self.integers(op, values, self._wide(term, *args)))
        if term.kind == "bool":
            return self.emit(op, values if args[0].kind == "bool" else tuple(map(self.wide, values)), "i1")
        values = tuple(map(self.wide, values))
        if op == "inv":
            return self._inverse(args[0], values[0], context)
        if op == "mul":
            return self._product(args, values, context)
        return self._edged(op, args[0], values[0], context) if op in EDGES else self.emit(op, values, "f32")

    def _sure(self, fact: Callable[[Term], Judgment], term: Term, context: Context) -> bool:
        """Whether a fact is proved of a term's value here; before the first block of a stream an axis is empty, and
        facts need not hold.
        """
        if isinstance(term, Prev) or any(mode == "old" and reduces_over(term, axis) for axis, mode in context.running):
            return False
        return self.proved(fact(plain(term)))

    def _edged(self, op: str, term: Term, value: p.Operand, context: Context) -> p.Operand:
        """Write an operator of one number, guarded where the machine's own may give another value at the edges
        (operators.py).
        """
        edge = EDGES[op]
        clamped = edge.clamps and not self._sure(nonneg, term, context)
        given = self.emit("max", (value, 0.0), "f32") if clamped else value
        found = (
            self.emit("mul", (self.emit("log2", (given,), "f32"), math.log(2.0)), "f32")
            if op == "log"
            else self.emit(op, (given,), "f32")
        )
        return found if edge.machine == edge.absent else self._absorbing(term, value, found, context)

    def _absorbing(self, term: Term, value: p.Operand, found: p.Operand, context: Context) -> p.Operand:
        """Return what was found, absent where an argument is, unless that is proved to be present."""
        if value == ABSENT:
            return ABSENT
        if not isinstance(value, str) or value in self.present or self._sure(finite, term, context):
            return found
        return self.emit("where", (self.emit("eq", (value, ABSENT), "i1"), ABSENT, found), "f32")

    def _inverse(self, term: Term, value: p.Operand, context: Context) -> p.Operand:
        if isinstance(value, (int, float)):
            return ABSENT if value == ABSENT else 1.0 / value if value else 0.0
        found = self.emit("div", (1.0, value), "f32")
        if self._sure(nonzero, term, context):
            return found
        return self._absorbing(
            term, value, self.emit("where", (self.emit("eq", (value, 0.0), "i1"), 0.0, found), "f32"), context
        )

    def _product(self, args: tuple[Term, ...], values: tuple[p.Operand, ...], context: Context) -> p.Operand:
        found = self.emit("mul", values, "f32")
        for term, value, other in ((args[0], values[0], args[1]), (args[1], values[1], args[0])):
            # A positive leaf stays positive as it is stored; what is computed may be rounded to zero, which takes
            # absence away.
            if not (not other.children and self._sure(pos, other, context)):
                found = self._absorbing(term, value, found, context)
        return found

    def times(self, left: p.Operand, right: p.Operand) -> p.Operand:
        """Return the product of two values of which nothing is known."""
        found = self.emit("mul", (left, right), "f32")
        for value in (left, right):
            if isinstance(value, str):
                found = self.emit("where", (self.emit("eq", (value, ABSENT), "i1"), ABSENT, found), "f32")
        return found

    def _wide(self, *terms: Term) -> bool:
        """Tell whether a whole number, or what it is computed of, may pass 32 bits."""
        return any(map(wide, terms))

    def _held(self, term: Term, value: p.Operand) -> p.Operand:
        """Return a whole number in 32 bits if it is sure to fit into them."""
        return value if wide(term) or math.inf in map(abs, interval(term)) else self.cast(value, "i32")

    def _compared(self, op: str, args: tuple[Term, ...], values: tuple[p.Operand, ...]) -> p.Operand:
        """Compare whole numbers; one of 64 bits with one that is no extreme of 32 as the nearest number of 32 bits to
        it.
        """
        first, second = (self.values[v].dtype == "i64" if isinstance(v, str) else not LEAST < v < MOST for v in values)
        if first != second:
            term, wider = (args[1], 0) if first else (args[0], 1)
            low, high = interval(term)
            if all(isinstance(v, str) for v in values) and (low > LEAST and high < MOST or isinstance(term, Index)):
                near = self.cast(self.integers("max", (self.integers("min", (values[wider], MOST)), LEAST)), "i32")
                values = (near, values[1]) if first else (values[0], near)
        return self.integers(op, values, comparison=True)

    def _quotient(self, op: str, divisor: Term, values: tuple[p.Operand, ...], wide: bool) -> p.Operand:
        """Write // or %, which are zero where the divisor is; the machine's own give anything there."""
        if values[1] == 0:
            return 0
        low, high = interval(divisor)
        if low > 0 or high < 0 or not isinstance(values[1], str):
            return self.integers(op, values, wide)
        none = self.emit("eq", (values[1], 0), "i1")
        safe = self.integers("where", (none, 1, values[1]))
        return self.integers("where", (none, 0, self.integers(op, (values[0], safe), wide)))

    def _of_block(self, op: str, args: tuple[Term, ...], context: Context) -> p.Operand | None:
        """Return the quotient of a place and a number that whole tiles make up, which is the same for all lanes of a
        block, or the remainder, which begins anew with none; None of others.
        """
        place, by = args
        if not (isinstance(place, Index) and isinstance(by, Const) and (coord := context.coord(place.axis))):
            return None
        tile = self.coords[coord].tile
        if tile == 1 or coord in self.lanes:
            return None
        if self.mixing and by.value > 0 and tile % by.value == 0:
            # Of lanes within the block, which a compiler knows: neighbours that a thread holds have one quotient, and
            # all four words of one counter are mixed once.
            within = self.integers("add", (self.iota(coord), self.integers("mul", (self.start(coord), -1))))
            within = self.integers("max", (within, 0))  # as it is, which a printer then knows
            if op == "mod":
                return self.integers(op, (within, by.value))
            whole = self.integers("floordiv", (self.start(coord), by.value))
            return self.integers("add", (whole, self.integers("floordiv", (within, by.value))))
        if by.value < tile or by.value % tile:
            return None
        # No remainder is computed: Triton does not see what that is a multiple of, and reads lane by lane.
        whole = self.integers("floordiv", (self.start(coord), by.value))
        if op == "floordiv":
            return whole
        return self.integers("add", (self.iota(coord), self.integers("mul", (whole, -by.value))))

    def _where(self, term: Map, context: Context) -> p.Operand:
        if (plain_term := self.resolved(term, context)) is not term:
            return self.operand(plain_term, context)
        mask = self.operand(term.args[0], context)
        left, right = (
            self.operand(side, self._chosen(side, holds, mask, context, denied=at == 1))
            for at, (side, holds) in enumerate(sides(term))
        )
        if term.kind == "int":
            return self._held(term, self.integers("where", (mask, left, right), self._wide(term)))
        return self.emit("where", (mask, self.wide(left), self.wide(right)), "f32")

    def _chosen(self, side: Term, holds: Term, mask: p.Operand, context: Context, denied: bool) -> Context:
        """Return the context of one side of a choice, which is wanted where a mask holds, or is denied.

        Only masks that tell something of places in it are kept, so that what two sides share is computed once.
        """
        if not isinstance(mask, str):
            return context
        known = dict(context.kept)
        kept = telling(tuple(dict.fromkeys((*known, holds))), side, context.moving)
        if holds in kept and holds not in known:
            value = self.emit("not", (mask,), "i1") if denied else mask
            assert isinstance(value, str)
            known[holds] = value
        return replace(context, kept=tuple((m, known[m]) for m in kept))

    def settled(self, mask: Term, context: Context) -> bool | None:
        """Return True if the masks known to hold in this part of the loop imply a mask, the same coordinates standing
        for its axes, or if it holds in all lanes; False if it holds in none.
        """
        known: set[tuple[Term, Env]] = set().union(*(s.known for s in self.stack))
        running = context.moving
        sure = [
            (part, restricted(context.env, part)) in known or decided(part, running) for part in conjuncts(mask)
        ]
        return True if all(sure) else False if False in sure else None

    def resolved(self, term: Term, context: Context) -> Term:
        """Return what a choice by a mask comes to in this part of the loop, where that is known."""
        while (
            isinstance(term, Map)
            and term.op == "where"
            and (settled := self.settled(term.args[0], context)) is not None
        ):
            term = term.args[1] if settled else term.args[2]
        return term

    def _exponent(self, term: Term, context: Context) -> p.Operand:
        """Write log2(e) times a term: part by part, which spares an operation a lane, unless parts may pass the range
        by it and the sum of all need not, as two of them may that have opposite signs.
        """
        parts: list[tuple[float, Term]] = []
        self._flatten(term, LOG2E, parts, context)
        arrays = frozenset(self.arrays)
        if sum(far(part, LARGEST / max(LOG2E, abs(factor)), True, arrays) for factor, part in parts) < 2:
            return self._sum(term, LOG2E, context)
        found = self._sum(term, 1.0, context)
        return ABSENT if found == ABSENT else self.emit("mul", (self.wide(found), LOG2E), "f32")

    def _sum(self, term: Term, scale: float, context: Context) -> p.Operand:
        """Write scale * term as a sum of scaled parts, parts of lower rank first, each constant folded once."""
        parts: list[tuple[float, Term]] = []
        self._flatten(term, scale, parts, context)
        parts = self._beside_maximum(parts, context)
        terms: list[tuple[tuple[str, ...], p.Operand]] = []
        constant = 0.0
        for factor, part in parts:
            value = self.wide(self.operand(part, context))
            if value == ABSENT:
                return ABSENT
            if not isinstance(value, str):
                constant += factor * value
                continue
            if factor < 0 and not self._sure(finite, part, context):
                # The absent value absorbs: subtracting it must give it again, and x - inf does.
                value = self.emit("where", (self.emit("eq", (value, ABSENT), "i1"), math.inf, value), "f32")
                assert isinstance(value, str)
            terms.append(
                (self.values[value].coords, value if factor == 1.0 else self.emit("mul", (value, factor), "f32"))
            )
        if not terms:
            return constant
        terms.sort(key=lambda t: len(t[0]))
        total = terms[0][1]
        for _, value in terms[1:]:
            total = self.emit("add", (value, total), "f32")
        return total if constant == 0.0 else self.emit("add", (total, constant), "f32")

    def _beside_maximum(self, parts: list[tuple[float, Term]], context: Context) -> list[tuple[float, Term]]:
        """Return the parts of a sum with those put together again of which a maximum is subtracted: as they were added
        up for that, so that none is above it.

        Added up in another order, scores of 10^9 pass their maximum by more than an exponential in float32 can take.
        """
        for factor, part in parts:
            value = self.resolved(part, context)
            if not isinstance(value, (Reduce, Fold)) or value.monoid != "max":
                continue
            body = self.resolved(value.body, context)
            if not isinstance(body, Map) or body.op != "add":
                continue
            own: list[tuple[float, Term]] = []
            self._flatten(body, -factor, own, context)
            left = list(parts)
            try:
                for one in own:
                    left.remove(one)
            except ValueError:
                continue  # it is of something else
            if len(own) > 1:
                return [*left, (-factor, body)]
        return parts

    def _flatten(self, term: Term, factor: float, parts: list[tuple[float, Term]], context: Context) -> None:
        if isinstance(term, Map) and term.op == "add":
            for arg in term.args:
                if spreads(factor, self.resolved(arg, context)):
                    self._flatten(arg, factor, parts, context)
                else:
                    parts.append((factor, arg))
        elif isinstance(term, Map) and term.op == "neg":
            self._flatten(term.args[0], -factor, parts, context)
        elif isinstance(term, Prev) and isinstance(term.body, Map) and term.body.op in ("add", "neg", "mul"):
            # A running value before the block, of an expression, is the expression of running values before the block.
            self._flatten(
                rebuilt(term.body, tuple(a if isinstance(a, Const) else Prev(a) for a in term.body.args)),
                factor,
                parts,
                context,
            )
        elif self.resolved(term, context) is not term:
            self._flatten(self.resolved(term, context), factor, parts, context)
        elif isinstance(term, Map) and term.op == "mul" and any(map(_scales, term.args)):
            left, right = term.args
            number, other = (left, right) if _scales(left) else (right, left)
            both = factor * float(number.value)
            if not LEAST_NORMAL <= abs(both) < LARGEST:  # float32 does not hold it
                parts.append((factor, term))
            elif spreads(both, self.resolved(other, context)):
                self._flatten(other, both, parts, context)
            else:
                parts.append((both, other))
        else:
            parts.append((factor, term))


@lru_cache(maxsize=1 << 14)  # asked again for every choice of tiles
def far(term: Term, size: float, data: bool, arrays: frozenset[Term] = frozenset()) -> bool:
    """Tell whether a number may well be of a size near the end of the range of float32.

    Constants may, such as stand for what is masked, and data if `data` or if that is said of them, `arrays` too, which
    other kernels store; a sum of many numbers, a product with what is small or computed, or a bounded function is not
    meant to.
    """
    known = {array: data and array.kind == "real" for array in arrays}
    for part in subterms(term, known=arrays):
        below = [known[child] for child in part.children]
        if isinstance(part, Const):
            found = part.kind == "real" and size <= abs(part.value) < math.inf
        elif isinstance(part, Map) and part.op == "mul":
            sides = list(zip(part.args, below, strict=True))
            found = any(large and isinstance(arg, Const) for arg, large in sides) or all(
                large or (isinstance(arg, Const) and abs(arg.value) * LARGEST >= size) for arg, large in sides
            )
        elif isinstance(part, Map):
            found = part.op in KEEPS and part.kind == "real" and any(below)
        elif isinstance(part, (Reduce, Fold, Online, Scan)):
            found = getattr(part, "monoid", "sum") == "max" and below[0]
        else:
            own = isinstance(part, Input) and part.kind == "real" and (data or "far" in part.facts)
            found = own or any(below)
        known[part] = found
    return known[term]


def _scales(term: Term) -> bool:
    """Whether a factor is a number that leaves an absent value absent and a present one present."""
    return isinstance(term, Const) and term.value != 0 and math.isfinite(term.value)
