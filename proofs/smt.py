"""Z3 as a decider: a claim becomes one ground formula over the reals, without quantifiers.

A value is a pair (absent, number). Functions that are no polynomials are purified: each occurrence is a fresh number, and
the facts that define it are added for the arguments that occur. An exponential of a sum is the product of exponentials
of its summands, so that what is left for the solver is polynomial. Reductions that remain are unknown numbers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import z3

from napkin_eq.claim import Claim, NotUnderstood
from napkin_eq.law import Var
from napkin_eq.proving import decider
from napkin_eq.term import Const, Index, Map, Reduce, Size, Term, subterms

BIGGEST_POWER = 8


class Value(NamedTuple):
    """A real number, or the absent value."""

    absent: Any
    number: Any


NO, YES, ZERO, ONE = z3.BoolVal(False), z3.BoolVal(True), z3.RealVal(0), z3.RealVal(1)


@decider("z3")
def decide(claim: Claim, timeout_s: float) -> str:
    """Answer "proved" if the premises and the goal's negation contradict each other; "open" if not, "unknown" if Z3 gives up."""
    reading = Reading(subterms(claim.goal, *claim.premises))
    assumed = [reading.term(p) for p in claim.premises]
    denied = z3.Not(reading.term(claim.goal))
    answer = z3.unknown
    for facts in (reading.definitions, reading.definitions + reading.relations()):
        for solver in (z3.Solver(), z3.SolverFor("QF_NRA")):
            solver.set("timeout", int(timeout_s * 1000))
            solver.add(*facts, *assumed, denied)
            answer = solver.check()
            if answer == z3.unsat:
                return "proved"
            if answer == z3.sat:
                break
    return "open" if answer == z3.sat else "unknown"


class Reading:
    """The Z3 meaning of the terms of one claim, with the facts about what was purified."""

    def __init__(self, terms: list[Term]) -> None:
        self.definitions: list[Any] = []
        self.done: dict[Term, Any] = {}
        self.known: dict[str, dict[str, tuple[Any, Any]]] = {}
        self.exponentials: list[tuple[Any, Any]] = []
        self.logarithms: list[tuple[Any, Any]] = []
        # Without division the integers are read as reals: that proves less, never more, and is much faster.
        self.integral = any(isinstance(t, Map) and t.op in ("floordiv", "mod") for t in terms)
        self.count = 0

    def term(self, root: Term) -> Any:
        for term in subterms(root):
            if term not in self.done:
                self.done[term] = self.read(term)
        return self.done[root]

    def fresh(self, kind: str, hint: str) -> Any:
        self.count += 1
        name = f"{hint}.{self.count}"
        if kind == "bool":
            return z3.Bool(name)
        if kind == "int":
            return z3.Int(name) if self.integral else z3.Real(name)
        return Value(z3.Bool(f"{name}.absent"), z3.Real(name))

    def read(self, term: Term) -> Any:
        if isinstance(term, (Var, Reduce, Index)):
            return self.fresh(term.kind, type(term).__name__)
        if isinstance(term, Size):
            size = self.fresh("int", "size")
            self.definitions.append(size >= 1)
            return size
        if isinstance(term, Const):
            return self.constant(term)
        if isinstance(term, Map):
            args = [self.done[a] for a in term.args]
            table = INTEGER if term.kind == "int" or (term.op in ("lt", "le", "eq") and term.args[0].kind == "int") else OPERATOR
            if term.op in table:
                return table[term.op](self, *args)
        raise NotUnderstood(f"no prover understands {getattr(term, 'op', type(term).__name__)}")

    def constant(self, term: Term) -> Any:
        if term.kind == "bool":
            return z3.BoolVal(term.value)
        if term.kind == "int":
            return z3.IntVal(term.value) if self.integral else z3.RealVal(term.value)
        if math.isinf(term.value):
            return Value(YES, ZERO) if term.value < 0 else Value(NO, self.fresh("real", "infinite").number)
        return Value(NO, z3.RealVal(Fraction(term.value)))

    def once(self, name: str, arg: Any, facts: Callable[[Any], list[Any]]) -> Any:
        """Return the number that stands for a function of an argument, with its facts stated at its first use."""
        arg = z3.simplify(arg, som=True)
        others = self.known.setdefault(name, {})
        if arg.sexpr() not in others:
            self.count += 1
            number = z3.Real(f"{name}.{self.count}")
            self.definitions += [z3.Implies(arg == other, number == value) for other, value in others.values()]
            others[arg.sexpr()] = arg, number
            self.definitions += facts(number)
        return others[arg.sexpr()][1]

    def inverse(self, arg: Any) -> Any:
        return self.once("inv", arg, lambda r: [z3.Implies(arg == 0, r == 0), z3.Implies(arg != 0, r * arg == 1)])

    def root(self, arg: Any) -> Any:
        return self.once("sqrt", arg, lambda r: [r >= 0, z3.Implies(arg >= 0, r * r == arg), z3.Implies(arg < 0, r == 0)])

    def logarithm(self, arg: Any) -> Any:
        number = self.once("log", arg, lambda r: [])
        self.logarithms.append((arg, number))
        return number

    def exponential(self, arg: Any) -> Any:
        arg = z3.simplify(arg, som=True)
        choice = _choice(arg)
        if choice is not None:
            test, yes, no = choice.children()
            return z3.If(test, *(self.exponential(z3.substitute(arg, (choice, branch))) for branch in (yes, no)))
        result: Any = ONE
        for coefficient, atom in _summands(arg):
            result = result * self.power(coefficient, atom)
        self.exponentials.append((arg, result))
        return result

    def power(self, coefficient: Fraction, atom: Any) -> Any:
        """Return e to the (coefficient * atom), as a power of a positive number where that is small enough."""
        times = coefficient.numerator
        if abs(times) > BIGGEST_POWER or coefficient.denominator > BIGGEST_POWER:
            return self.positive(z3.RealVal(coefficient) * atom, atom)[0]
        number, inverse = self.positive(atom / coefficient.denominator, atom if coefficient.denominator == 1 else None)
        return _repeated(number if times > 0 else inverse, abs(times))

    def positive(self, exponent: Any, atom: Any) -> tuple[Any, Any]:
        inverse = self.once("exp-", exponent, lambda r: [r > 0])
        number = self.once("exp+", exponent, lambda r: [r > 0, r * inverse == 1])
        for arg, log in self.logarithms:
            if atom is not None and log.eq(atom):
                self.definitions.append(z3.Implies(arg > 0, number == arg))
        return number, inverse

    def bounded(self, name: str, a: Value, at_absent: int, low: int, facts: Callable[[Any], list[Any]]) -> Value:
        number = self.once(name, a.number, lambda r: [low <= r, r <= 1, *facts(r)])
        return Value(NO, z3.If(a.absent, z3.RealVal(at_absent), number))

    def relations(self) -> list[Any]:
        """Return what else is known of the exponentials and logarithms that occur: they keep order and undo each other."""
        facts: list[Any] = []
        points = _distinct([*self.exponentials, (ZERO, ONE)])
        logs = _distinct(self.logarithms)
        for (p, ep), (q, eq) in itertools.combinations(points, 2):
            facts += [(p <= q) == (ep <= eq), (q <= p) == (eq <= ep)]
        for arg, log in logs:
            facts += [z3.Implies(arg == e, log == p) for p, e in points]
            facts += [z3.Implies(arg > 0, (arg <= 1) == (log <= 0)), z3.Implies(arg > 0, (arg >= 1) == (log >= 0))]
        for (s, ls), (t, lt) in itertools.product(logs, repeat=2):
            both = z3.And(s > 0, t > 0)
            facts += [z3.Implies(both, (s <= t) == (ls <= lt)), z3.Implies(z3.And(both, s * t == 1), ls == -lt)]
            facts += [z3.Implies(z3.And(both, u == s * t), lu == ls + lt) for u, lu in logs]
            facts += [z3.Implies(z3.And(both, t == e * s), lt == p + ls) for p, e in points]
        return facts


def _distinct(pairs: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    return list({arg.sexpr(): (arg, number) for arg, number in pairs}.values())


def _choice(expression: Any) -> Any:
    """Return a choice that a sum or product holds, or None."""
    if z3.is_app_of(expression, z3.Z3_OP_ITE):
        return expression
    return next((found for child in expression.children() if (found := _choice(child)) is not None), None)


def _summands(expression: Any) -> list[tuple[Fraction, Any]]:
    parts = expression.children() if z3.is_add(expression) else [expression]
    found = []
    for part in parts:
        factors = part.children() if z3.is_mul(part) else [part]
        numbers = [f.as_fraction() for f in factors if z3.is_rational_value(f)]
        rest = [f for f in factors if not z3.is_rational_value(f)]
        coefficient = math.prod(numbers, start=Fraction(1))
        if coefficient:
            found.append((coefficient, _repeated_product(rest)))
    return found


def _repeated_product(factors: list[Any]) -> Any:
    result: Any = ONE
    for factor in factors:
        result = factor if result is ONE else result * factor
    return result


def _repeated(number: Any, times: int) -> Any:
    return _repeated_product([number] * times)


def _absorbing(compute: Callable[..., Any]) -> Callable[..., Value]:
    def read(reading: Reading, *args: Value) -> Value:
        return Value(z3.simplify(z3.Or(*(a.absent for a in args))), compute(reading, *(a.number for a in args)))

    return read


def _max(reading: Reading, a: Value, b: Value) -> Value:
    larger = z3.If(a.number >= b.number, a.number, b.number)
    return Value(z3.And(a.absent, b.absent), z3.If(a.absent, b.number, z3.If(b.absent, a.number, larger)))


def _exp(reading: Reading, a: Value) -> Value:
    return Value(NO, z3.If(a.absent, ZERO, reading.exponential(a.number)))


def _log(reading: Reading, a: Value) -> Value:
    return Value(z3.Or(a.absent, a.number <= 0), reading.logarithm(a.number))


def _sigmoid(reading: Reading, a: Value) -> Value:
    falling = reading.exponential(-a.number)
    return reading.bounded("sigmoid", a, 0, 0, lambda r: [r > 0, r < 1, r * (1 + falling) == 1])


def _tanh(reading: Reading, a: Value) -> Value:
    rising, falling = reading.exponential(a.number), reading.exponential(-a.number)
    return reading.bounded("tanh", a, -1, -1, lambda r: [r * (rising + falling) == rising - falling])


def _less(reading: Reading, a: Value, b: Value) -> Any:
    return z3.And(z3.Not(b.absent), z3.Or(a.absent, a.number < b.number))


def _at_most(reading: Reading, a: Value, b: Value) -> Any:
    return z3.Or(a.absent, z3.And(z3.Not(b.absent), a.number <= b.number))


def _equal(reading: Reading, a: Value, b: Value) -> Any:
    return z3.Or(z3.And(a.absent, b.absent), z3.And(z3.Not(a.absent), z3.Not(b.absent), a.number == b.number))


def _where(reading: Reading, c: Any, a: Value, b: Value) -> Value:
    return Value(z3.If(c, a.absent, b.absent), z3.If(c, a.number, b.number))


def _floordiv(a: Any, b: Any) -> Any:
    return z3.If(b > 0, a / b, (-a) / (-b))


OPERATOR: dict[str, Callable[..., Any]] = {
    "add": _absorbing(lambda r, a, b: a + b),
    "mul": _absorbing(lambda r, a, b: a * b),
    "neg": _absorbing(lambda r, a: -a),
    "inv": _absorbing(lambda r, a: r.inverse(a)),
    "abs": _absorbing(lambda r, a: z3.If(a >= 0, a, -a)),
    "sqrt": _absorbing(lambda r, a: r.root(a)),
    "sin": _absorbing(lambda r, a: r.once("sin", a, lambda n: [n >= -1, n <= 1])),
    "cos": _absorbing(lambda r, a: r.once("cos", a, lambda n: [n >= -1, n <= 1])),
    "floor": _absorbing(lambda r, a: r.once("floor", a, lambda n: [n <= a, a < n + 1])),
    "round": _absorbing(lambda r, a: r.once("round", a, lambda n: [2 * n <= 2 * a + 1, 2 * a - 1 <= 2 * n])),
    "min": _absorbing(lambda r, a, b: z3.If(a <= b, a, b)),
    "max": _max,
    "exp": _exp,
    "log": _log,
    "sigmoid": _sigmoid,
    "tanh": _tanh,
    "erf": lambda r, a: r.bounded("erf", a, -1, -1, lambda n: [(a.number <= 0) == (n <= 0), (a.number >= 0) == (n >= 0)]),
    "real": lambda r, a: Value(NO, z3.ToReal(a) if r.integral else a),
    "lt": _less,
    "le": _at_most,
    "eq": _equal,
    "and": lambda r, a, b: z3.And(a, b),
    "or": lambda r, a, b: z3.Or(a, b),
    "not": lambda r, a: z3.Not(a),
    "where": _where,
}
INTEGER: dict[str, Callable[..., Any]] = {
    "add": lambda r, a, b: a + b,
    "mul": lambda r, a, b: a * b,
    "neg": lambda r, a: -a,
    "max": lambda r, a, b: z3.If(a >= b, a, b),
    "min": lambda r, a, b: z3.If(a <= b, a, b),
    "floordiv": lambda r, a, b: _floordiv(a, b),
    "mod": lambda r, a, b: a - b * _floordiv(a, b),
    "lt": lambda r, a, b: a < b,
    "le": lambda r, a, b: a <= b,
    "eq": lambda r, a, b: a == b,
    "where": lambda r, c, a, b: z3.If(c, a, b),
}
