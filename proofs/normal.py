"""The exact normal form: decides, without a solver, claims about sums of coefficient · monomial · e^exponent.

A claim is split into cases: each value absent or present, each sign that matters, each mask true or false. In a case
both sides of an equation become sums in normal form, and equal normal forms are equal functions: e^p and e^q with
different p - q are linearly independent over the polynomials. A case that a premise rules out counts for nothing; a
claim is proved only if every other case is. What is no such sum (a root, a reduction) is an unknown number, the same
for equal arguments; of a sine, a floor, a quotient of whole numbers it is known what waves.py and rounding.py of
napkin_eq/prove/normal say.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import NamedTuple

from napkin_eq.lang.operators import AT_ABSENT
from napkin_eq.lang.term import Const, Index, Map, Reduce, Size, Term
from napkin_eq.laws.claim import Claim
from napkin_eq.laws.law import Var
from napkin_eq.prove.normal.linearity import defined
from napkin_eq.prove.normal.polynomial import Polynomial, Powers, TooMuch, atom, bounded, constant, exponential, raised
from napkin_eq.prove.normal.rounding import Rounding
from napkin_eq.prove.normal.waves import WAVES, linear, odd, simpler, wave
from napkin_eq.prove.portfolio import decider

MOST_CASES, MOST_PRODUCTS = 600, 60_000
ONE = constant(1)
Value = Polynomial | bool | None  # None is the absent value


class Unknown(NamedTuple):
    """A number of which only this is known: equal names are equal numbers."""

    name: str
    args: tuple[Hashable, ...]


class Split(Exception):  # noqa: N818 - no error: what a case must still choose
    """A case is not settled: it says what must be chosen, and among what."""

    def __init__(self, what: Hashable, choices: tuple[object, ...]) -> None:
        super().__init__(what)
        self.what, self.choices = what, choices


class Stuck(Exception):  # noqa: N818 - no error: the fragment ends here
    """The claim holds something that no case distinction settles."""


@decider("normal form")
def decide(claim: Claim) -> bool:
    """Tell whether the normal form proves the claim; False means that it does not know."""
    try:
        with bounded(MOST_PRODUCTS):
            return _decided(defined(claim))
    except (TooMuch, RecursionError):
        return False


def _decided(claim: Claim) -> bool:
    waiting: list[dict[Hashable, object]] = [{}]
    for _ in range(MOST_CASES):
        if not waiting:
            return True
        case = Case(waiting.pop())
        try:
            if all(case.value(p) for p in claim.premises) and not case.value(claim.goal):
                return False
        except Split as split:
            waiting += [case.chosen | {split.what: choice} for choice in split.choices]
        except Stuck:
            return False
    return False


class Case:
    """One case: what was chosen so far, and the values of terms under it."""

    def __init__(self, chosen: dict[Hashable, object]) -> None:
        self.chosen = chosen
        self.done: dict[Term, Value] = {}
        self.rounding = Rounding(
            _inside, _made, _whole, lambda p: self.known(p) == 1, lambda p: self.known(p) in (0, 1)
        )

    def choice(self, what: Hashable, *choices: object) -> object:
        if what not in self.chosen:
            raise Split(what, choices)
        return self.chosen[what]

    def value(self, root: Term) -> Value:
        """Return the value of a term in this case; raises Split or Stuck."""
        if root not in self.done:
            self.done[root] = self.read(root)
        return self.done[root]

    def read(self, term: Term) -> Value:
        if isinstance(term, Const):
            return _number(term)
        if isinstance(term, (Var, Reduce, Index, Size)):
            return self.unknown(term)
        if isinstance(term, Map) and term.op in LAZY:
            return LAZY[term.op](self, *term.args)
        if isinstance(term, Map):
            args = [self.value(a) for a in term.args]
            if term.op in PRESENT:
                return None if None in args else PRESENT[term.op](self, *args)
            if term.op in AT_ABSENT:
                return constant(AT_ABSENT[term.op]) if args[0] is None else self.opaque(term.op, *args)
            if term.op in ANY:
                return ANY[term.op](self, *args)
        raise Stuck

    def unknown(self, term: Term) -> Value:
        if term.kind == "bool":
            return bool(self.choice(term, True, False))
        if term.kind == "tuple":
            raise Stuck
        if term.kind == "real" and self.choice(("absent", term), False, True):
            return None
        return ONE * atom(term) if self.chosen.get(("sign", atom(term))) != 0 else Polynomial()

    def opaque(self, name: str, *args: Hashable) -> Polynomial:
        args = tuple(simpler(p, _inside, _made) if isinstance(p, Polynomial) else p for p in args)
        if name in ("atan", "erf", *WAVES) and isinstance(args[0], Polynomial):
            return (wave if name in WAVES else odd)(name, args[0], _made)
        return atom(Unknown(name, args))

    def known(self, p: Polynomial) -> int | None:
        """Return the sign of a number where this case has settled it."""
        try:
            return self.sign(p)
        except Split:
            return None

    def sign(self, p: Polynomial) -> int:
        """Return the sign of a number: of a monomial from its atoms, of a sum from its summands or as this case chose
        it.
        """
        if not p.terms or not linear(p, _inside, _made).terms:
            return 0
        ((powers, _), coefficient), *rest = p.terms
        lead = 1 if coefficient > 0 else -1
        if rest:
            known = {self.known_sign(powers, coefficient) for powers, _, coefficient in p} - {0}
            if len(known) == 1 and None not in known:
                return int(str(known.pop()))
            shared, left = _parted(p)
            if left is not p:
                return self.sign(shared) * self.sign(left)
            return lead * self.chosen_sign(p * constant(1 / coefficient))
        for base, power in powers:
            lead *= self.chosen_sign(atom(base)) ** abs(power)
        return lead

    def chosen_sign(self, p: Polynomial) -> int:
        ((powers, _), _), *rest = p.terms
        if not rest and _positive(powers[0][0]):
            return 1
        if ("sign", p) not in self.chosen and (inferred := self.inferred_sign(p)) is not None:
            return inferred
        lane = powers[0][0] if powers else None
        if isinstance(lane, Index):
            if p == atom(lane):
                return int(str(self.choice(("sign", p), 1, 0)))
            if p == atom(lane) - atom(Size(lane.axis)):
                return -1
            if p == atom(lane) - atom(Size(lane.axis)) + ONE:
                return int(str(self.choice(("sign", p), 0, -1)))
        return int(str(self.choice(("sign", p), 1, 0, -1)))

    def inferred_sign(self, p: Polynomial) -> int | None:
        """Return the sign of p where it is, up to sign, a sum of two numbers that this case took to be zero or more."""
        taken = [
            (what[1], int(str(sign)))
            for what, sign in self.chosen.items()
            if isinstance(what, tuple) and what[0] == "sign"
        ]
        upward = {q if way > 0 else -q: sign for q, sign in taken for way in ((sign,) if sign else (1, -1))}
        for way, total in ((1, p), (-1, -p)):
            for part, sign in upward.items():
                if (other := upward.get(total - part)) is not None:
                    return way * int(bool(sign or other))
        return None

    def known_sign(self, powers: Powers, coefficient: Fraction) -> int | None:
        """Return the sign of a monomial, None where this case has not chosen that of an atom."""
        result = 1 if coefficient > 0 else -1
        for base, power in powers:
            if not _positive(base) and ("sign", atom(base)) not in self.chosen:
                return None
            result *= self.chosen_sign(atom(base)) ** abs(power)
        return result

    def product(self, a: Polynomial, b: Polynomial) -> Polynomial:
        """Return a product, the square of a root being what is under it."""
        found = a * b
        if not any(
            power > 1 and isinstance(base, Unknown) and base.name == "sqrt"
            for powers, _, _ in found
            for base, power in powers
        ):
            return found
        total = Polynomial()
        for powers, exponent, coefficient in found:
            part = constant(coefficient) * (exponential(exponent) if exponent else ONE)
            for base, power in powers:
                if isinstance(base, Unknown) and base.name == "sqrt":
                    (inside,) = base.args
                    assert isinstance(inside, Polynomial)
                    part, power = part * raised(inside, power // 2), power % 2
                part = part * (atom(base, power) if power else ONE)
            total = total + part
        return total

    def quotient(self, a: Polynomial, b: Polynomial) -> Polynomial:
        """Return a quotient of whole numbers rounded down, 0 where it is by 0."""
        return self.rounding.floor(self.product(a, self.inverse(b)))

    def remainder(self, a: Polynomial, b: Polynomial) -> Polynomial:
        return a - self.product(b, self.quotient(a, b)) if self.sign(b) else Polynomial()

    def inverse(self, p: Polynomial) -> Polynomial:
        p = simpler(p, _inside, _made)
        if self.sign(p) == 0:
            return Polynomial()
        ((powers, exponent), coefficient), *rest = p.terms
        if rest:
            return constant(1 / coefficient) * self.opaque("inv", p * constant(1 / coefficient))
        result = constant(1 / coefficient) * (exponential(-exponent) if exponent else ONE)
        for base, power in powers:
            if isinstance(base, Unknown) and base.name == "inv" and power == 1:
                (inside,) = base.args
                assert isinstance(inside, Polynomial)
                result = result * inside
            else:
                result = result * atom(base, -power)
        return result

    def exponential(self, p: Value) -> Value:
        """Return e to the p, where e to the log|x| is the absolute value of x."""
        if p is None:
            return Polynomial()
        assert isinstance(p, Polynomial)
        result, left = ONE, p
        for powers, exponent, coefficient in p:
            if exponent is None and len(powers) == 1 and coefficient.denominator == 1:
                ((base, power),) = powers
                if isinstance(base, Unknown) and base.name == "log" and power == 1 and isinstance(base.args[0], Term):
                    x, times = base.args[0], int(coefficient)
                    left = left - constant(times) * atom(base)
                    result = result * constant(self.sign(atom(x)) ** abs(times)) * atom(x, times)
        return result * exponential(left)

    def logarithm(self, p: Polynomial) -> Value:
        """Return log p: of a monomial the sum of log|x| over its atoms; absent unless p is positive."""
        if self.sign(p) <= 0:
            return None
        ((powers, exponent), coefficient), *rest = p.terms
        if rest:
            return self.opaque("log", p)
        result = (exponent or Polynomial()) + (
            self.opaque("log", abs(coefficient)) if abs(coefficient) != 1 else Polynomial()
        )
        for base, power in powers:
            result = result + constant(power) * self.opaque("log", base)
        return result

    def compared(self, a: Value, b: Value) -> int:
        """Return the sign of a - b, the absent value being least."""
        if a is None or b is None:
            return (a is not None) - (b is not None)
        if isinstance(a, bool) or isinstance(b, bool):
            raise Stuck
        return self.sign(a - b)

    def larger(self, a: Value, b: Value) -> Value:
        return a if self.compared(a, b) >= 0 else b

    def both(self, a: Term, b: Term) -> Value:
        return bool(self.value(a)) and bool(self.value(b))

    def either(self, a: Term, b: Term) -> Value:
        return bool(self.value(a)) or bool(self.value(b))

    def where(self, c: Term, a: Term, b: Term) -> Value:
        return self.value(a) if self.value(c) else self.value(b)


def _parted(p: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Return the product of the powers that every summand has, and the sum without it."""
    shared, rest = ONE, p
    for base, _ in p.terms[0][0][0]:
        least = min(dict(powers).get(base, 0) for powers, _, _ in p)
        if least > 0:
            shared, rest = shared * atom(base, least), rest * atom(base, -least)
    return shared, rest


def _positive(base: Hashable) -> bool:
    """Tell whether an atom is a positive number: a size, or the root of a number that this case takes to be
    positive.
    """
    return isinstance(base, Size) or (isinstance(base, Unknown) and base.name == "sqrt")


def _inside(base: Hashable) -> tuple[str, Polynomial] | None:
    """Return the function that an atom is, and of what number."""
    if isinstance(base, Unknown) and len(base.args) == 1 and isinstance(base.args[0], Polynomial):
        return base.name, base.args[0]
    return None


def _made(name: str, arg: Polynomial) -> Unknown:
    return Unknown(name, (arg,))


def _whole(base: Hashable) -> bool:
    """Tell whether an atom is a whole number."""
    return isinstance(base, Term) and base.kind == "int"


def _number(term: Term) -> Value:
    if isinstance(term.value, bool):
        return term.value
    return None if term.exact is None else constant(term.exact)


LAZY: dict[str, Callable[..., Value]] = {"and": Case.both, "or": Case.either, "where": Case.where}
PRESENT: dict[str, Callable[..., Value]] = {
    "add": lambda case, a, b: a + b,
    "mul": Case.product,
    "neg": lambda case, a: -a,
    "inv": Case.inverse,
    "log": Case.logarithm,
    "real": lambda case, a: a,
    "abs": lambda case, a: a if case.sign(a) >= 0 else -a,
    "min": lambda case, a, b: a if case.compared(a, b) <= 0 else b,
    "sqrt": lambda case, a: case.opaque("sqrt", a) if case.sign(a) > 0 else Polynomial(),
    "floor": lambda case, a: case.rounding.floor(a),
    "round": lambda case, a: case.rounding.round(a),
    "floordiv": Case.quotient,
    "mod": Case.remainder,
    **{op: lambda case, a, op=op: case.opaque(op, a) for op in (*WAVES, "atan")},
}
ANY: dict[str, Callable[..., Value]] = {
    "max": Case.larger,
    "exp": Case.exponential,
    "lt": lambda case, a, b: case.compared(a, b) < 0,
    "le": lambda case, a, b: case.compared(a, b) <= 0,
    "eq": lambda case, a, b: case.compared(a, b) == 0,
    "not": lambda case, a: not a,
}
