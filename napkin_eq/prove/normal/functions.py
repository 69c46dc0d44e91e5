"""Functions of numbers in the algebra of sums: inverses, exponentials, logarithms, whether a number is 0 or more than
0.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from fractions import Fraction

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.operators import FUNCTIONS
from napkin_eq.lang.term import Index, Size, Term
from napkin_eq.laws.claim import Claim
from napkin_eq.prove.normal.atoms import FACTS, NONE, ONE, Atom, first_fact, part, product, put
from napkin_eq.prove.normal.polynomial import Polynomial, Powers, added, atom, constant, exponential
from napkin_eq.prove.normal.rounding import Rounding
from napkin_eq.prove.normal.sums import Algebra
from napkin_eq.prove.normal.waves import WAVES, odd, simpler, wave

OPAQUE = tuple(name for name in FUNCTIONS if name not in ("neg", "inv", "abs"))


def inside(base: Hashable) -> tuple[str, Polynomial] | None:
    """Return the function that an atom is, and of what number."""
    return (base.kind, part(base)) if isinstance(base, Atom) and base.kind in OPAQUE else None


def made(op: str, p: Polynomial) -> Atom:
    """Return the atom that is a function of a number."""
    return Atom(op, (), (p,))


class Functions(Algebra):
    """The algebra of a claim with the functions that its terms hold."""

    def __init__(self, claim: Claim) -> None:
        super().__init__(claim)
        self.positive: set[Hashable] = set()
        self.nonzero: set[Hashable] = set()
        self.rounding = Rounding(inside, made, self.whole, self.surely_above, self.nonneg)

    def remade(self, base: Atom, parts: list[Polynomial]) -> Polynomial | None:
        """Return an atom that is a function of numbers, of other numbers; None for any other atom."""
        if base.kind == "over":
            return parts[0]
        known = {"zero": self.zero, "above": self.above, "log": self.logarithm}
        if base.kind in known:
            return known[base.kind](*parts)
        return self.function(base.kind, *parts) if base.kind in OPAQUE else None

    def function(self, op: str, *args: Polynomial) -> Polynomial:
        """Return a function of which little is known: of a root that it is 0 where there is none, of floors and waves
        what their files say.
        """
        if op == "sqrt":
            return self.opened(
                lambda q: self.times(self.above(q), atom(Atom(op, (), (q,)))) if q.terms else NONE, *args
            )
        if op in ("floor", "round"):
            return self.opened(self.rounding.floor if op == "floor" else self.rounding.round, *args)
        if op in ("atan", "erf", *WAVES):
            return self.opened(lambda q: (wave if op in WAVES else odd)(op, simpler(q, inside, made), made), *args)
        return self.opened(lambda *ps: atom(Atom(op, (), ps)), *args)

    def quotient(self, a: Polynomial, b: Polynomial) -> Polynomial:
        """Return a quotient of whole numbers rounded down, 0 where it is by 0."""
        return self.function("floor", self.times(a, self.inverse(b)))

    def remainder(self, a: Polynomial, b: Polynomial) -> Polynomial:
        return self.either(self.zero(b), NONE, a - self.times(b, self.quotient(a, b)))

    def whole(self, base: Hashable) -> bool:
        """Tell whether an atom is a whole number."""
        return (isinstance(base, Term) and base.kind == "int") or (isinstance(base, Atom) and base.kind in FACTS)

    def surely_above(self, p: Polynomial) -> bool:
        return self.above(p) == ONE

    def opened(self, f: Callable[..., Polynomial], *args: Polynomial) -> Polynomial:
        """Return a function of numbers, chosen by the facts in them."""
        args = tuple(map(self.settled, args))
        fact = next((found for p in args if (found := first_fact(p)) is not None), None)
        if fact is not None:
            yes, no = (self.opened(f, *(put(p, fact, value) for p in args)) for value in (1, 0))
            return self.either(atom(fact), yes, no)
        # Where a number is 0, so are its inverse and what that is a factor of; elsewhere it may be divided by.
        for base in dict.fromkeys(
            base for p in args for powers, _, _ in p for base, power in powers if power < 0 and base not in self.nonzero
        ):
            zero = self.none_of(base)
            if zero.terms:
                without = self.opened(
                    f, *(added(Polynomial((t,)) for t in p.terms if base not in dict(t[0][0])) for p in args)
                )
                self.nonzero.add(base)
                try:
                    return self.either(zero, without, self.opened(f, *args))
                finally:
                    self.nonzero.discard(base)
        return f(*args)

    def content(self, p: Polynomial) -> tuple[Fraction, Powers, Polynomial, Polynomial]:
        """Return coefficient, powers and exponent that all terms of a sum without facts have, and the sum
        without them.
        """
        shared, exponents = (
            [dict(powers) for powers, _, _ in p],
            [dict((exponent or NONE).terms) for _, exponent, _ in p],
        )
        bases = dict.fromkeys(base for here in shared for base in here)
        kept = tuple((base, power) for base in bases if (power := min(here.get(base, 0) for here in shared)))
        keys = dict.fromkeys(key for own in exponents for key in own)
        least = ((key, min(own.get(key, Fraction(0)) for own in exponents)) for key in keys)
        common = added(Polynomial(((key, c),)) for key, c in least if c)
        bare = self.tidy(p * product(tuple((base, -power) for base, power in kept), -common))
        lead = bare.terms[0][1]
        return lead, kept, common, bare * constant(1 / lead)

    def inverse(self, p: Polynomial) -> Polynomial:
        def of(q: Polynomial) -> Polynomial:
            if not q.terms:
                return NONE
            lead, powers, exponent, bare = self.content(q)
            result = constant(1 / lead) * exponential(-exponent)
            for base, power in powers:
                nonzero = ONE - self.zero(atom(base))
                result = self.times(self.times(result, nonzero), atom(base, -power))
            if bare != ONE:
                result = self.times(self.times(result, ONE - self.zero(bare)), atom(Atom("over", (), (bare,)), -1))
            return result

        return self.opened(of, p)

    def exponential(self, p: Polynomial) -> Polynomial:
        """Return e to the p, where e to a logarithm is what it is the logarithm of."""

        def of(q: Polynomial) -> Polynomial:
            result, left = ONE, q
            for powers, exponent, coefficient in q:
                ((base, power),) = powers if len(powers) == 1 else ((None, 0),)
                if (
                    isinstance(base, Atom)
                    and base.kind == "log"
                    and power == 1
                    and exponent is None
                    and coefficient.denominator == 1
                ):
                    left = left - constant(coefficient) * atom(base)
                    inside = part(base) if coefficient > 0 else self.inverse(part(base))
                    result = self.times(result, self.raised(inside, abs(int(coefficient))))
            return self.times(result, exponential(left))

        return self.opened(of, p)

    def logarithm(self, p: Polynomial) -> Polynomial:
        """Return the logarithm of a number that is positive."""

        def of(q: Polynomial) -> Polynomial:
            if not q.terms:
                return NONE
            lead, powers, exponent, bare = self.content(q)
            result, rest = exponent, self.times(bare, constant(1 if lead > 0 else -1))
            result = result + (atom(Atom("log", (), (constant(abs(lead)),))) if abs(lead) != 1 else NONE)
            for base, power in powers:
                if self.nonneg(atom(base)):
                    result = result + constant(power) * atom(Atom("log", (), (atom(base),)))
                else:
                    rest = self.times(rest, atom(base, power))
            return result + (atom(Atom("log", (), (rest,))) if rest != ONE else NONE)

        return self.opened(of, p)

    def zero(self, p: Polynomial) -> Polynomial:
        """Return whether a number is 0."""

        def of(q: Polynomial) -> Polynomial:
            if not q.terms:
                return ONE
            _, powers, _, bare = self.content(q)
            found = NONE
            for base, _ in powers:
                found = self.any(found, self.none_of(base))
            if bare == ONE:
                return found
            result = ONE
            if all(self.nonneg(Polynomial((term,))) for term in bare.terms):
                for term in bare.terms:
                    result = self.times(result, self.zero(Polynomial((term,))))
            elif (body := self.common_sum(bare)) is not None and (self.nonneg(bare) or self.nonneg(-bare)):
                result = self.every(body[0], self.zero(body[1]))
            else:
                result = self.fact("zero", (), bare)
            return self.any(found, result)

        return self.opened(of, p)

    def none_of(self, base: Hashable) -> Polynomial:
        """Return whether an atom is 0."""
        if isinstance(base, Size) or base in self.positive or base in self.nonzero:
            return NONE
        if isinstance(base, Atom) and base.kind == "sum" and self.nonneg(part(base)):
            return self.every(base.bound, self.zero(part(base)))
        if isinstance(base, Atom) and base.kind == "sqrt":
            return ONE - self.above(part(base))
        if isinstance(base, Atom) and base.kind == "over":
            return self.zero(part(base))
        return self.fact("zero", (), atom(base))

    def above(self, p: Polynomial) -> Polynomial:
        """Return whether a number is greater than 0."""

        def of(q: Polynomial) -> Polynomial:
            if not q.terms:
                return NONE
            lead, powers, _, bare = self.content(q)
            signed, present = bare * constant(1 if lead > 0 else -1), ONE
            for base, power in powers:
                if power % 2 == 0 or self.nonneg_atom(base):
                    present = self.times(present, ONE - self.none_of(base))
                else:
                    signed = self.times(signed, atom(base, power))
            if self.nonneg(signed):
                return self.times(present, ONE - self.zero(signed))
            if self.nonneg(-signed):
                return NONE
            if signed.terms[0][1] > 0:
                return self.times(present, self.fact("above", (), signed))
            return self.times(present, ONE - self.fact("above", (), -signed) - self.zero(signed))

        return self.opened(of, p)

    def nonneg(self, p: Polynomial) -> bool:
        """Tell whether a number is known to be 0 or more."""
        if all(c > 0 and all(power % 2 == 0 or self.nonneg_atom(base) for base, power in powers) for powers, _, c in p):
            return True
        body = self.common_sum(p)
        if body is None:
            return False
        fact = first_fact(body[1])
        return fact is not None and all(self.nonneg(value) for _, value in self.leaves(ONE, body[1]))

    def nonneg_atom(self, base: Hashable) -> bool:
        if (
            isinstance(base, (Size, Index))
            or base in self.positive
            or self.known.get(Atom("above", (), (-atom(base),))) == 0
        ):
            return True
        if isinstance(base, Atom) and base.kind == "sum":
            return self.nonneg(part(base))
        if isinstance(base, Atom) and base.kind == "over":
            return self.nonneg(part(base))
        return isinstance(base, Atom) and (base.kind in FACTS or base.kind in ("sqrt", "sigmoid"))

    def common_sum(self, p: Polynomial) -> tuple[tuple[Axis, ...], Polynomial] | None:
        """Return a sum of sums over the same axes as one: its axes and its body."""
        axes: tuple[Axis, ...] | None = None
        body = NONE
        for powers, exponent, coefficient in p:
            ((base, power),) = powers if len(powers) == 1 else ((None, 0),)
            if exponent is not None or power != 1:
                return None
            over = (
                (base.axis,)
                if isinstance(base, Size)
                else base.bound
                if isinstance(base, Atom) and base.kind == "sum"
                else None
            )
            if over is None or (axes is not None and over != axes):
                return None
            axes = over
            body = body + constant(coefficient) * (part(base) if isinstance(base, Atom) else ONE)
        return None if axes is None else (axes, body)
