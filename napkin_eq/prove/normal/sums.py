"""The algebra of sums that hold reductions: products, sums over axes, maxima, facts about all lanes, in a normal form.

A sum over axes is taken apart into sums of one product each; what does not vary moves out of it, nested sums are one,
and a product that stretches cover is summed once. That a fact holds in all lanes is a fact itself, and put to use in
the factors beside it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.term import Size, Term
from napkin_eq.laws.claim import Claim
from napkin_eq.prove.normal.atoms import (
    FACTS,
    NONE,
    ONE,
    Atom,
    Branch,
    Stuck,
    branch,
    first_fact,
    only,
    part,
    product,
    put,
    sole,
    union,
)
from napkin_eq.prove.normal.polynomial import Polynomial, Powers, added, atom, constant, exponential

MOST_WORK, BIGGEST_POWER = 20_000, 64


def _cancelled(a: Iterable[tuple[Hashable, int]], b: Iterable[tuple[Hashable, int]]) -> list[Hashable]:
    """Return the atoms of which one side holds powers and the other ones that are negative, in the order of
    the sides.
    """
    sides = [
        (dict.fromkeys(base for base, power in side if power > 0), {base for base, power in side if power < 0})
        for side in map(list, (a, b))
    ]
    (up, down), (other_up, other_down) = sides
    if not down and not other_down:
        return []
    return list(
        dict.fromkeys([*(base for base in up if base in other_down), *(base for base in other_up if base in down)])
    )


class Algebra:
    """The algebra of one claim: what varies along which axis, what its premises say of facts, and the work done."""

    def __init__(self, claim: Claim) -> None:
        self.claim, self.work = claim, 0
        self.moving: dict[tuple[Hashable, Axis], bool] = {}
        self.known: dict[Atom, int] = {}
        self.units: dict[Axis, list[Atom]] = {}

    # -- what functions of numbers are, which the normal form of terms says --------------------------------------------

    def zero(self, p: Polynomial) -> Polynomial:
        """Return whether a number is 0."""
        raise NotImplementedError

    def above(self, p: Polynomial) -> Polynomial:
        """Return whether a number is greater than 0."""
        raise NotImplementedError

    def inverse(self, p: Polynomial) -> Polynomial:
        """Return one over a number, and 0 for 0."""
        raise NotImplementedError

    def remade(self, base: Atom, parts: list[Polynomial]) -> Polynomial | None:
        """Return an atom that is a function of numbers, of other numbers; None for any other atom."""
        raise NotImplementedError

    # -- products ------------------------------------------------------------------------------------------------------

    def spend(self, amount: int) -> None:
        self.work += amount
        if self.work > MOST_WORK:
            raise Stuck

    def none_of(self, base: Hashable) -> Polynomial:
        """Return whether an atom is 0."""
        raise NotImplementedError

    def times(self, a: Polynomial, b: Polynomial) -> Polynomial:
        """Return a product; what is divided by what may be 0 is 0 there, also where the fact that says so is not beside
        it.
        """
        self.spend(1 + len(a.terms) * len(b.terms))
        if not _cancelled(*([pair for powers, _, _ in p for pair in powers] for p in (a, b))):
            return self.tidy(a * b)
        found = []
        for one in a.terms:
            for other in b.terms:
                piece = self.tidy(Polynomial((one,)) * Polynomial((other,)))
                for base in _cancelled(one[0][0], other[0][0]):
                    piece = self.times(piece, ONE - self.none_of(base))
                found.append(piece)
        return added(found)

    def raised(self, base: Polynomial, power: int) -> Polynomial:
        if power > BIGGEST_POWER:
            raise Stuck
        result = ONE
        for _ in range(power):
            result = self.times(result, base)
        return result

    def tidy(self, p: Polynomial) -> Polynomial:
        """Return a sum where each fact is a factor once, and what facts make 0, or roots and denominators settle, is
        put in.
        """
        found = []
        for (powers, exponent), coefficient in p.terms:
            plain, factors = dict(powers), list[Polynomial]()
            alls: dict[tuple[Axis, ...], list[Atom]] = {}
            for base, power in powers:
                if not isinstance(base, Atom):
                    continue
                if base.kind in FACTS:
                    plain[base] = 1
                    if base.kind == "all":
                        alls.setdefault(base.bound, []).append(base)
                # So many inverses of what is under it, 0 where that is not above 0
                elif base.kind == "sqrt" and power < -1:
                    if -power > BIGGEST_POWER:
                        raise Stuck
                    factors += [self.times(self.above(part(base)), self.inverse(part(base)))] * (-power // 2)
                    plain[base] = -(-power % 2)
                elif (base.kind == "over" and power > 0) or (base.kind == "sqrt" and power > 1):
                    if power > BIGGEST_POWER:
                        raise Stuck
                    inside = part(base) if base.kind == "over" else self.times(self.above(part(base)), part(base))
                    factors += [inside] * (power if base.kind == "over" else power // 2)
                    plain[base] = 0 if base.kind == "over" else power % 2
            for bound, several in alls.items():
                if len(several) > 1:
                    joint = ONE
                    for base in several:
                        plain[base], joint = 0, self.times(joint, part(base))
                    factors.append(self.every(bound, joint))
            if any(
                base.kind == "zero" and plain.get(sole(base), 0) > 0
                for base in plain
                if isinstance(base, Atom) and plain[base]
            ):
                continue
            same = plain == dict(powers)
            piece = (
                Polynomial((((powers, exponent), coefficient),))
                if same
                else constant(coefficient) * product(tuple(plain.items()), exponent or NONE)
            )
            for factor in factors:
                piece = self.times(piece, factor)
            found.append(piece)
        return added(found)

    def any(self, a: Polynomial, b: Polynomial) -> Polynomial:
        return a + b - self.times(a, b)

    def either(self, mask: Polynomial, a: Polynomial, b: Polynomial) -> Polynomial:
        return self.times(mask, a) + self.times(ONE - mask, b)

    def fact(self, kind: str, bound: tuple[Axis, ...], part: Hashable) -> Polynomial:
        found = Atom(kind, bound, (part,))
        return constant(self.known[found]) if found in self.known else atom(found)

    def parted(self, powers: Powers, axis: Axis) -> tuple[Powers, Powers]:
        """Return the powers that do not vary along an axis, and those that may."""
        within = tuple(pair for pair in powers if self.moves(atom(pair[0]), axis))
        return tuple(pair for pair in powers if pair not in within), within

    def moves(self, p: Polynomial, axis: Axis) -> bool:
        """Tell whether a sum may vary along an axis."""
        return any(
            any(self.atom_moves(base, axis) for base, _ in powers)
            or (exponent is not None and self.moves(exponent, axis))
            for powers, exponent, _ in p
        )

    def atom_moves(self, base: Hashable, axis: Axis) -> bool:
        key = base, axis
        if key not in self.moving:
            if isinstance(base, Term):
                self.moving[key] = self.claim.varies(base, axis)
            else:
                assert isinstance(base, Atom)
                within = axis not in base.bound and any(
                    self.moves(part, axis) if isinstance(part, Polynomial) else self.atom_moves(part, axis)
                    for part in base.parts
                )
                self.moving[key] = within
        return self.moving[key]

    # -- sums and facts about all lanes --------------------------------------------------------------------------------

    def total(self, axis: Axis, body: Polynomial) -> Polynomial:
        """Return the sum of a sum over an axis, product by product."""
        found = []
        axes: tuple[Axis, ...]
        for powers, exponent, coefficient in self.settled(body):
            out, within = self.parted(powers, axis)
            fixed = Polynomial(tuple(t for t in (exponent or NONE).terms if not self.moves(Polynomial((t,)), axis)))
            moving = (exponent or NONE) - fixed
            axes = (axis,)
            sums = [base for base, power in within if isinstance(base, Atom) and base.kind == "sum"]
            rest = tuple((base, power) for base, power in within if base not in sums)
            summand = product(rest, moving)
            if len(sums) == 1 and dict(within)[sums[0]] == 1 and not any(self.moves(summand, a) for a in sums[0].bound):
                axes, summand = union(sums[0].bound, axis), self.times(summand, part(sums[0]))
            else:
                summand = product(within, moving)
            found.append(self.times(constant(coefficient) * product(out, fixed), self.gathered(axes, summand)))
        return added(found)

    def gathered(self, axes: tuple[Axis, ...], summand: Polynomial) -> Polynomial:
        """Return the sum over axes of one product: over each axis apart that nothing ties to others, and over stretches
        once.
        """
        ((powers, exponent), _), *others = summand.terms or ((((), None), Fraction(0)),)
        if others or not summand.terms:
            return atom(Atom("sum", axes, (summand,))) if others else NONE
        for axis in axes:
            left = tuple(a for a in axes if a != axis)
            out, within = self.parted(powers, axis)
            if not self.moves(exponent or NONE, axis):
                if not within:
                    return self.times(atom(Size(axis)), self.gathered(left, summand) if left else summand)
                if len(within) == 1 and within[0][0] in self.units.get(axis, []):
                    rest = product(out, exponent or NONE)
                    return self.gathered(left, rest) if left else rest
        return self.components(axes, powers, exponent or NONE)

    def components(self, axes: tuple[Axis, ...], powers: Powers, exponent: Polynomial) -> Polynomial:
        factors = [
            *(atom(base, power) for base, power in powers),
            *(exponential(Polynomial((t,))) for t in exponent.terms),
        ]
        groups: list[tuple[tuple[Axis, ...], Polynomial]] = []
        for factor in factors:
            along = tuple(a for a in axes if self.moves(factor, a))
            joined = [g for g in groups if set(g[0]) & set(along)]
            for other, piece in joined:
                along, factor = tuple(sorted({*along, *other})), factor * piece
            groups = [*(g for g in groups if g not in joined), (along, factor)]
        result = ONE
        for along, factor in groups:
            result = self.times(result, atom(Atom("sum", along, (factor,))) if along else factor)
        return result

    def every(self, axes: tuple[Axis, ...], fact: Polynomial) -> Polynomial:
        """Return that a fact holds in all lanes of axes."""
        return self.everywhere(axes, self.settled(fact))

    def everywhere(self, axes: tuple[Axis, ...], fact: Polynomial) -> Polynomial:
        axes = tuple(a for a in axes if self.moves(fact, a))
        if not axes:
            return fact
        fixed = next(
            (base for powers, _, _ in fact for base, _ in powers if not any(self.moves(atom(base), a) for a in axes)),
            None,
        )
        if isinstance(fixed, Atom):
            return self.either(
                atom(fixed), self.everywhere(axes, put(fact, fixed, 1)), self.everywhere(axes, put(fact, fixed, 0))
            )
        inner = only(fact, "all")
        if inner is not None:
            return self.everywhere(union(inner.bound, *axes), part(inner))
        for axis in axes:
            for unit in self.units.get(axis, []):
                inside = put(fact, unit, 1)
                if put(fact, unit, 0) == ONE and not self.moves(inside, axis):
                    return self.everywhere(tuple(a for a in axes if a != axis), inside)
        return self.fact("all", axes, fact)

    # -- maxima --------------------------------------------------------------------------------------------------------

    def leaves(self, guard: Polynomial, number: Polynomial) -> list[tuple[Polynomial, Polynomial]]:
        """Return a guarded number as numbers without facts, each with its guard."""
        guard, number = self.settled(guard), self.settled(number)
        if not guard.terms:
            return []
        fact = first_fact(number)
        if fact is None:
            return [(guard, number)]
        found = []
        for value in (0, 1):
            side = atom(fact) if value else ONE - atom(fact)
            found += [
                (self.times(side, g), v) for g, v in self.leaves(put(guard, fact, value), put(number, fact, value))
            ]
        return found

    def unfolded(self, axis: Axis, guard: Polynomial, number: Polynomial) -> list[Branch]:
        """Return a branch of a maximum over an axis; what is a maximum itself as its branches, which range over that
        axis too.
        """
        inner = only(number, "top")
        if inner is not None and self.moves(number, axis):
            branches = [branch(b) for b in inner.parts]
            # Of the lanes of one axis each maximum has its own.
            if not any(a == axis or self.moves(guard, a) for axes, _, _ in branches for a in axes):
                return [(union(axes, axis), self.settled(self.times(guard, g)), v) for axes, g, v in branches]
        return [((axis,), guard, number)]

    def top(self, branches: Iterable[Branch]) -> Polynomial:
        """Return the largest of branches, each of which is a number in the lanes that its guard holds in."""
        found: dict[tuple[tuple[Axis, ...], Polynomial], Polynomial] = {}
        for axes, guard, number in branches:
            axes, guard = self.covered(axes, guard, number)
            if guard.terms:
                found[axes, number] = self.any(found.get((axes, number), NONE), guard)
        shift = NONE
        if len(found) == 1:
            (((axes, number), guard),) = found.items()
            shift = Polynomial(
                tuple(term for term in number.terms if not any(self.moves(Polynomial((term,)), a) for a in axes))
            )
            found = {(axes, number - shift): guard} if number != shift else {}
        parts = sorted((Atom("branch", axes, (guard, number)) for (axes, number), guard in found.items()), key=repr)
        return shift + (atom(Atom("top", (), tuple(parts))) if parts else NONE)

    def nowhere(self, branches: Iterable[Branch]) -> Polynomial:
        """Return that no branch of a maximum has a number in any lane."""
        result = ONE
        for axes, guard, _ in branches:
            result = self.times(result, self.every(axes, ONE - guard))
        return result

    def covered(
        self, axes: tuple[Axis, ...], guard: Polynomial, number: Polynomial
    ) -> tuple[tuple[Axis, ...], Polynomial]:
        """Leave out an axis of stretches where each lane is in one of them."""
        for axis in axes:
            for unit in self.units.get(axis, []):
                inside = put(guard, unit, 1)
                if not put(guard, unit, 0).terms and not self.moves(inside, axis) and not self.moves(number, axis):
                    return self.covered(tuple(a for a in axes if a != axis), inside, number)
        still = [a for a in axes if self.moves(guard, a) or self.moves(number, a)]
        return tuple(still), guard

    # -- what facts about all lanes mean for the factors beside them ---------------------------------------------------

    def settled(self, p: Polynomial) -> Polynomial:
        """Return a sum in which each fact about all lanes is put to use in the factors beside it."""
        self.spend(len(p.terms))
        pieces = []
        for powers, exponent, coefficient in p:
            piece = Polynomial((((powers, exponent), coefficient),))
            for base, _ in powers:
                if isinstance(base, Atom) and base.kind == "all":
                    rest = put(piece, base, 1)
                    given = self.assumed(rest, base)
                    piece = piece if given == rest else self.times(atom(base), given)
            pieces.append(piece)
        found = added(pieces)
        return found if found == p else self.settled(found)

    def assumed(self, p: Polynomial, fact: Atom) -> Polynomial:
        """Return a sum where a fact holds, with what that means for sums over the same axes and for the
        lane at hand.
        """
        if fact.kind == "zero":
            number = sole(fact)
            return added(
                Polynomial((((powers, e), c),)) for powers, e, c in p if number is None or number not in dict(powers)
            )
        if fact.kind != "all":
            return p
        inside = part(fact)
        found = []
        for powers, exponent, coefficient in p:
            piece = constant(coefficient) * exponential(self.assumed(exponent, fact) if exponent is not None else NONE)
            for base, power in powers:
                given = self.within(base, fact)
                if given is None:
                    piece = self.times(piece, atom(base, power))
                else:
                    piece = self.times(piece, self.raised(given if power > 0 else self.inverse(given), abs(power)))
            found.append(piece)
        result = added(found)
        return self.under(result, inside) if any(self.moves(result, a) for a in fact.bound) else result

    def under(self, p: Polynomial, fact: Polynomial) -> Polynomial:
        """Return a sum in one lane in which a fact holds: what alone it says of other facts is put in, the rest is a
        factor.
        """
        single = True
        while single:
            single = False
            for base in dict.fromkeys(base for powers, _, _ in fact for base, _ in powers):
                assert isinstance(base, Atom)
                sides = [put(fact, base, value) for value in (0, 1)]
                for value in (0, 1):
                    if not sides[1 - value].terms and sides[value].terms:
                        p, fact, single = put(p, base, value), sides[value], True
                        break
                if single:
                    break
        return p if fact == ONE else self.times(p, fact)

    def within(self, base: Hashable, fact: Atom) -> Polynomial | None:
        """Return an atom where a fact holds in all lanes of some axes; None where that changes nothing."""
        if not isinstance(base, Atom) or base == fact or any(self.atom_moves(fact, a) for a in base.bound):
            return None
        parts = [self.assumed(inside, fact) for inside in base.parts if isinstance(inside, Polynomial)]
        if base.kind == "sum":
            (body,) = parts
            if set(base.bound) & set(fact.bound):
                body = self.under(body, part(fact))
            if body == part(base):
                return None
            for axis in base.bound:
                body = self.total(axis, body)
            return body
        return None if parts == list(base.parts) else self.remade(base, parts)
