"""Claims written in SMT-LIB 2: one ground formula over the reals, without quantifiers, for any solver to read.

A value is a pair, the number a and the truth a.absent. Functions that are no polynomials are purified: each occurrence
is a fresh number, and the facts that define it are asserted for the arguments that occur. An exponential of a sum is
the product of exponentials of its summands, so that what is left is polynomial. Reductions that remain are unknown
numbers.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import NamedTuple

from napkin_eq.lang.notation import written
from napkin_eq.lang.operators import OPS
from napkin_eq.lang.term import Const, Index, Map, Reduce, Size, Term, in_others, subterms
from napkin_eq.laws.claim import Claim, NotUnderstood
from napkin_eq.laws.law import Var
from napkin_eq.prove.normal.polynomial import Polynomial, Powers, TooMuch, atom, bounded, constant
from napkin_eq.prove.portfolio import translator
from napkin_eq.prove.query import Question
from napkin_eq.prove.smtlib import branch, branch_truth, conjunction, decimal, disjunction, is_number, negated

BIGGEST_POWER, MOST_PRODUCTS = 8, 20_000
SUMMED = ("add", "mul", "neg", "real", "where", "max", "min", "abs", "exp")
# Names that a solver may know already; a variable of that name gets a mark.
TAKEN = set(
    "abs and as bool div distinct exists exp false forall int is ite let max min mod not or par pi real sin cos sqrt"
    " true xor".split()
)
MARKS = {"′": ".later", "°": ".before", "⁺": ".next."}


class Value(NamedTuple):
    """A real number, or the absent value; as SMT-LIB terms."""

    absent: str
    number: str


class Choice(NamedTuple):
    """An atom of a polynomial: one number where a condition holds, another where it does not."""

    test: str
    yes: Polynomial
    no: Polynomial


@translator
def questions(claim: Claim) -> Iterator[Question]:
    """Yield the claim with what defines the functions in it, then with what else is known of them, last with floors and
    coordinates as whole numbers.
    """
    for related, whole in ((False, False), (True, False), (True, True)):
        try:
            with bounded(MOST_PRODUCTS):
                question = _question(claim, related, whole)
        except (TooMuch, RecursionError):
            return
        if question is not None:
            yield question


def _question(claim: Claim, related: bool, whole: bool) -> Question | None:
    terms = subterms(claim.goal, *claim.premises)
    rounds = any(isinstance(t, Map) and t.op in ("floor", "round") for t in terms)
    counts = any(
        isinstance(t, Map) and t.op in ("lt", "le", "eq") and t.args[0].kind == t.args[1].kind == "int"
        for t in subterms(claim.goal)
    )
    reading = Reading(terms, whole)
    if whole and not rounds and (not counts or Reading(terms).integral):
        return None
    premises = [(p, reading.term(p)) for p in claim.premises]
    goal = reading.term(claim.goal)
    facts = reading.relations() if related else []
    if related and not facts and not whole:
        return None
    assumed = [line for p, text in premises for line in (f"; given {_comment(p)}", f"(assert {text})")]
    denied = ["; the goal, denied", f"(assert {negated(str(goal))})"]
    return Question(reading.logic(), (*reading.lines, *facts, *assumed), tuple(denied))


def _comment(term: Term) -> str:
    return " ".join(written(term).split())


class Reading:
    """The SMT-LIB meaning of the terms of one claim: declarations, definitions and facts, in the order of use."""

    def __init__(self, terms: list[Term], whole: bool = False) -> None:
        self.lines: list[str] = []
        self.done: dict[Term, Value | str] = {}
        self.sums: dict[Term, Polynomial] = {}
        self.known: dict[str, dict[Polynomial, tuple[str, str]]] = {}
        self.exponentials: dict[str, str] = {}
        self.logarithms: dict[str, str] = {}
        self.draws: list[tuple[tuple[str, ...], str]] = []
        self.names: set[str] = set()
        # Without division the integers are read as reals: that proves less, never more, and is much faster.
        self.integral = whole or any(isinstance(t, Map) and t.op in ("floordiv", "mod") for t in terms)
        self.whole, self.sized = whole, {t.axis for t in terms if isinstance(t, Size)}
        self.curved = False
        self.terms: dict[str, int] = {}

    def logic(self) -> str:
        return "ALL" if self.integral else "QF_NRA" if self.curved else "QF_LRA"

    def term(self, root: Term) -> Value | str:
        for term in subterms(root):
            if term not in self.done:
                self.done[term] = self.read(term)
        return self.done[root]

    # -- names and lines -----------------------------------------------------------------------------------------------

    def name(self, wish: str) -> str:
        for mark, text in MARKS.items():
            wish = wish.replace(mark, text)
        wish = re.sub(r"[^A-Za-z0-9_.]+", "-", wish)
        wish = wish if wish[0].isalpha() and wish.lower() not in TAKEN else f"_{wish}"
        name = next(
            n for n in itertools.chain([wish], (f"{wish}.{i}" for i in itertools.count(2))) if n not in self.names
        )
        self.names.add(name)
        return name

    def numbered(self, letter: str) -> str:
        self.terms[letter] = self.terms.get(letter, 0) + 1
        return self.name(f"{letter}{'.' if len(letter) > 1 else ''}{self.terms[letter]}")

    def declared(self, name: str, sort: str = "Real") -> str:
        self.lines.append(f"(declare-const {name} {sort})")
        return name

    def defined(self, name: str, sort: str, text: str) -> str:
        if self.plain(text):
            return text
        self.lines.append(f"(define-fun {name} () {sort} {text})")
        return name

    def asserted(self, *facts: str) -> None:
        self.lines += [f"(assert {fact})" for fact in facts if fact != "true"]

    # -- terms ---------------------------------------------------------------------------------------------------------

    def read(self, term: Term) -> Value | str:
        if isinstance(term, Const):
            return self.constant(term)
        if isinstance(term, (Var, Reduce, Index, Size)):
            return self.unknown(term)
        if isinstance(term, Map) and (means := OPS[term.op].means) is not None:
            return self.term(in_others(means, *term.args))
        if isinstance(term, Map):
            args = [self.done[a] for a in term.args]
            table = (
                INTEGER
                if term.kind == "int" or (term.op in ("lt", "le", "eq") and term.args[0].kind == "int")
                else OPERATOR
            )
            if term.op in table:
                found = table[term.op](self, term, *args)
                return found if term.kind == "bool" or term.op == "real" else self.shared(term, found)
        raise NotUnderstood(f"no prover understands {getattr(term, 'op', type(term).__name__)}")

    def shared(self, term: Term, found: Value | str) -> Value | str:
        """Give a number a name, so that it is written once."""
        if self.plain(_numeral(found)) and (isinstance(found, str) or self.plain(found.absent)):
            return found
        name = self.numbered("t")
        self.lines.append(f"; {name} is {_comment(term)}")
        if isinstance(found, str):
            return self.defined(name, self.int_sort(), found)
        return Value(
            self.defined(self.name(f"{name}.absent"), "Bool", found.absent), self.defined(name, "Real", found.number)
        )

    def plain(self, text: str) -> bool:
        return text in ("true", "false") or text in self.names or is_number(text)

    def int_sort(self) -> str:
        return "Int" if self.integral else "Real"

    def unknown(self, term: Term) -> Value | str:
        if isinstance(term, Var):
            name = self.name(str(term.fields[0]))
        elif isinstance(term, Reduce):
            name = self.numbered("r")
            self.lines.append(f"; {name} is {_comment(term)}, of which nothing else is used")
        else:
            name = self.name(f"{'size' if isinstance(term, Size) else 'lane'}.{term.axis.name}")
        if term.kind == "bool":
            return self.declared(name, "Bool")
        if term.kind == "int":
            self.declared(name, self.int_sort())
            if isinstance(term, Size):
                self.asserted(f"(>= {name} {self.integer(1)})")
            if isinstance(term, Index):
                size = self.term(Size(term.axis)) if term.axis in self.sized else None
                self.asserted(
                    f"(<= {self.integer(0)} {name})", f"(<= (+ {name} {self.integer(1)}) {size})" if size else "true"
                )
            return name
        if term.kind != "real":
            raise NotUnderstood(f"no prover understands a {term.kind}")
        self.declared(name)
        return Value(self.declared(self.name(f"{name}.absent"), "Bool"), name)

    def constant(self, term: Term) -> Value | str:
        if term.kind == "bool":
            return "true" if term.value else "false"
        if term.kind == "int":
            return self.integer(term.value)
        return Value("true", decimal(Fraction(0))) if term.exact is None else Value("false", decimal(term.exact))

    def integer(self, value: int) -> str:
        return (str(value) if value >= 0 else f"(- {-value})") if self.integral else decimal(Fraction(value))

    def product(self, *factors: str) -> str:
        self.curved |= sum(not is_number(f) for f in factors) > 1
        return f"(* {' '.join(factors)})" if len(factors) > 1 else factors[0] if factors else "1.0"

    # -- sums in normal form, for the arguments of functions -----------------------------------------------------------

    def polynomial(self, term: Term) -> Polynomial:
        if term not in self.sums:
            self.sums[term] = self.summed(term)
        return self.sums[term]

    def summed(self, term: Term) -> Polynomial:
        value = self.done[term]
        number = value.number if isinstance(value, Value) else value
        if isinstance(term, Const):
            return constant(term.exact or 0)
        if not isinstance(term, Map) or term.op not in SUMMED or (self.integral and term.op == "real"):
            return atom(number)
        *_, p, q = (None, *map(self.polynomial, (a for a in term.args if a.kind != "bool")))
        if term.op in ("add", "mul"):
            assert p is not None and q is not None
            return p + q if term.op == "add" else p * q
        assert q is not None
        if term.op == "neg":
            return q * constant(-1)
        if term.op == "real":
            return q
        if term.op == "where":
            assert p is not None
            return _chosen(str(self.done[term.args[0]]), p, q)
        args = [self.done[a] for a in term.args]
        if term.op == "exp":
            (a,) = args
            assert isinstance(a, Value)
            return _chosen(a.absent, Polynomial(), atom(number))
        if term.op == "abs":
            return _chosen(f"(>= {_numeral(args[0])} 0.0)", q, q * constant(-1))
        assert p is not None
        least = _chosen(f"({'>=' if term.op == 'max' else '<='} {_numeral(args[0])} {_numeral(args[1])})", p, q)
        if term.op == "min" or term.kind == "int":
            return least
        a, b = args
        assert isinstance(a, Value) and isinstance(b, Value)
        return _chosen(a.absent, q, _chosen(b.absent, p, least))

    def spelled(self, p: Polynomial) -> str:
        """Return a sum as an SMT-LIB term."""
        parts = [
            self.product(*([] if c == 1 and powers else [decimal(c)]), *self.factors(powers)) for powers, _, c in p
        ]
        return f"(+ {' '.join(parts)})" if len(parts) > 1 else parts[0] if parts else "0.0"

    def factors(self, powers: Powers) -> list[str]:
        bases = [self.spelled_choice(b) if isinstance(b, Choice) else str(b) for b, _ in powers]
        return [base for base, (_, power) in zip(bases, powers, strict=True) for _ in range(power)]

    def spelled_choice(self, c: Choice) -> str:
        return branch(c.test, self.spelled(c.yes), self.spelled(c.no))

    # -- purified functions --------------------------------------------------------------------------------------------

    def once(self, letter: str, arg: Polynomial, said: str, facts: Callable[[str, str], list[str]]) -> str:
        """Return the number that stands for a function of an argument, with its facts stated at its first use."""
        others = self.known.setdefault(letter, {})
        if arg not in others:
            text = self.spelled(arg)
            number = self.numbered(letter)
            self.lines.append(f"; {number} stands for {said.replace('@', text)}")
            self.declared(number)
            self.asserted(
                *(f"(=> (= {text} {other}) (= {number} {value}))" for other, value in others.values()),
                *facts(text, number),
            )
            others[arg] = text, number
        return others[arg][1]

    def inverse(self, term: Term) -> str:
        def facts(a: str, r: str) -> list[str]:
            return [f"(=> (= {a} 0.0) (= {r} 0.0))", f"(=> (not (= {a} 0.0)) (= {self.product(r, a)} 1.0))"]

        return self.once("inv", self.polynomial(term.args[0]), "1 / @, and 0 for 0", facts)

    def root(self, term: Term) -> str:
        def facts(a: str, r: str) -> list[str]:
            return [f"(>= {r} 0.0)", f"(=> (>= {a} 0.0) (= {self.product(r, r)} {a}))", f"(=> (< {a} 0.0) (= {r} 0.0))"]

        return self.once("root", self.polynomial(term.args[0]), "the root of @", facts)

    def logarithm(self, term: Term) -> str:
        arg = self.polynomial(term.args[0])
        number = self.once("log", arg, "the logarithm of @", lambda a, r: [])
        self.logarithms[self.spelled(arg)] = number
        return number

    def exponential(self, arg: Polynomial) -> str:
        """Return e to a sum: a choice between exponentials, or a product of powers of e to its summands."""
        choice = next(
            (found for powers, _, _ in arg for base, _ in powers if (found := _first_choice(base)) is not None), None
        )
        if choice is not None:
            test = choice.test
            yes, no = arg.put(lambda base: _taken(base, test, True)), arg.put(lambda base: _taken(base, test, False))
            return branch(test, self.exponential(yes), self.exponential(no))
        result = self.product(*(self.power(coefficient, powers) for powers, _, coefficient in arg))
        self.exponentials[self.spelled(arg)] = result
        return result

    def power(self, coefficient: Fraction, powers: Powers) -> str:
        """Return e to the (coefficient · monomial), as a power of a positive number where that is small enough."""
        times, monomial = coefficient.numerator, Polynomial((((powers, None), Fraction(1)),))
        if abs(times) > BIGGEST_POWER or coefficient.denominator > BIGGEST_POWER:
            return self.positive(constant(coefficient) * monomial)[0]
        number, inverse = self.positive(monomial * constant(Fraction(1, coefficient.denominator)))
        return self.product(*[number if times > 0 else inverse] * abs(times))

    def positive(self, exponent: Polynomial) -> tuple[str, str]:
        inverse = self.once("exp-minus", exponent, "e to the minus @", lambda a, r: [f"(> {r} 0.0)"])
        number = self.once(
            "exp", exponent, "e to the @", lambda a, r: [f"(> {r} 0.0)", f"(= {self.product(r, inverse)} 1.0)"]
        )
        for arg, log in self.logarithms.items():
            if log == self.spelled(exponent):
                self.asserted(f"(=> (> {arg} 0.0) (= {number} {arg}))")
        return number, inverse

    def bounded(self, term: Term, a: Value, at_absent: int, low: int, facts: Callable[[str, str], list[str]]) -> Value:
        def within(x: str, r: str) -> list[str]:
            return [f"(<= {decimal(Fraction(low))} {r})", f"(<= {r} 1.0)", *facts(x, r)]

        number = self.once(term.op, self.polynomial(term.args[0]), f"{term.op} of @", within)
        return Value("false", branch(a.absent, decimal(Fraction(at_absent)), number))

    def drawn(self, term: Term, *args: str) -> str:
        """Return the number that stands for bits mixed of whole numbers: the same for the same ones, and within what
        its kind holds; nothing else is known.
        """
        number = self.numbered("random")
        self.lines.append(f"; {number} stands for {_comment(term)}")
        self.declared(number, self.int_sort())
        low, high = (int(end) for end in OPS[term.op].within or ())
        self.asserted(f"(<= {self.integer(low)} {number})", f"(<= {number} {self.integer(high)})")
        for others, value in self.draws:
            same = conjunction(*(f"(= {a} {b})" for a, b in zip(args, others, strict=True)))
            self.asserted(f"(=> {same} (= {number} {value}))")
        self.draws.append((args, number))
        return number

    def relations(self) -> list[str]:
        """Return what else is known of the functions that occur: exponentials, logarithms, roots of them, waves, and
        what keeps order.
        """
        facts = [*self.of_exponentials(), *self.of_powers(), *self.of_waves(), *self.of_order()]
        self.curved |= any("(* " in fact for fact in facts)
        return (
            ["; what is known of functions at two arguments", *(f"(assert {fact})" for fact in facts)] if facts else []
        )

    def of_exponentials(self) -> Iterator[str]:
        """Yield that exponentials and logarithms keep order, undo each other, and lie on one side of their tangents."""
        points = list(({**self.exponentials, "0.0": "1.0"}).items())
        logs = list(self.logarithms.items())
        for (p, ep), (q, eq) in itertools.combinations(points, 2):
            yield from (f"(= (<= {p} {q}) (<= {ep} {eq}))", f"(= (<= {q} {p}) (<= {eq} {ep}))")
        for p, ep in self.exponentials.items():
            yield f"(<= (+ 1.0 {p}) {ep})"
        for arg, log in logs:
            yield f"(=> (> {arg} 0.0) (<= {log} (- {arg} 1.0)))"
            for p, e in points:
                yield from (f"(=> (> {arg} 0.0) (= ({side} {arg} {e}) ({side} {log} {p})))" for side in ("<=", ">="))
        for (s, ls), (t, lt) in itertools.product(logs, repeat=2):
            both = f"(and (> {s} 0.0) (> {t} 0.0))"
            yield f"(=> {both} (= (<= {s} {t}) (<= {ls} {lt})))"
            yield f"(=> (and {both} (= {self.product(s, t)} 1.0)) (= {ls} (- {lt})))"
            yield from (f"(=> (and {both} (= {u} {self.product(s, t)})) (= {lu} (+ {ls} {lt})))" for u, lu in logs)
            for p, e in points:
                yield from (
                    f"(=> {both} (= ({side} {t} {self.product(e, s)}) ({side} {lt} (+ {p} {ls}))))"
                    for side in ("<=", ">=")
                )

    def of_powers(self) -> Iterator[str]:
        """Yield of exponents that are multiples of one another that so are the powers: with q = p m / n is (e^q)^n =
        (e^p)^m.
        """
        known = [(arg, number) for arg, (_, number) in self.known.get("exp", {}).items() if arg.terms]
        for (p, ep), (q, eq) in itertools.combinations(known, 2):
            ratio = q.terms[0][1] / p.terms[0][1]
            if max(abs(ratio.numerator), ratio.denominator) <= BIGGEST_POWER and q == p * constant(ratio):
                left, right = self.product(*[eq] * ratio.denominator), self.product(*[ep] * abs(ratio.numerator))
                yield f"(= {left} {right})" if ratio > 0 else f"(= {self.product(left, right)} 1.0)"

    def of_waves(self) -> Iterator[str]:
        """Yield that squares of a sine and a cosine make 1, and what they, arctangents, erf and floors are of
        opposite arguments.
        """
        for arg, (_, cosine) in self.known.get("cosine", {}).items():
            if (sine := self.known.get("sine", {}).get(arg)) is not None:
                yield f"(= (+ {self.product(sine[1], sine[1])} {self.product(cosine, cosine)}) 1.0)"
        for letter in ("sine", "cosine", "arctangent", "erf", "round"):
            for (s, m), (t, n) in itertools.combinations(self.known.get(letter, {}).values(), 2):
                yield f"(=> (= {s} (- {t})) (= {m} {n if letter == 'cosine' else f'(- {n})'}))"
        for (s, m), (t, n) in itertools.combinations(self.known.get("floor", {}).values(), 2):
            yield f"(=> (= {s} (- {t})) (= {m} (ite (= {n} {t}) (- {n}) (- (- {n}) 1.0))))"

    def of_order(self) -> Iterator[str]:
        """Yield that erf and arctangents rise, that floors and roundings do not fall."""
        for letter in ("arctangent", "erf", "floor", "round"):
            for (s, m), (t, n) in itertools.combinations(self.known.get(letter, {}).values(), 2):
                yield from (f"(=> (<= {s} {t}) (<= {m} {n}))", f"(=> (<= {t} {s}) (<= {n} {m}))")
                if letter in ("arctangent", "erf"):
                    yield f"(=> (= {m} {n}) (= {s} {t}))"


# -- choices -----------------------------------------------------------------------------------------------------------


def _numeral(value: Value | str) -> str:
    return value.number if isinstance(value, Value) else value


def _chosen(test: str, yes: Polynomial, no: Polynomial) -> Polynomial:
    return yes if test == "true" or yes == no else no if test == "false" else atom(Choice(test, yes, no))


def _first_choice(base: object) -> Choice | None:
    return base if isinstance(base, Choice) else None


def _taken(base: object, test: str, way: bool) -> Polynomial:
    """Return an atom where a test is known."""
    if not isinstance(base, Choice):
        return atom(base)
    branches = [branch.put(lambda b: _taken(b, test, way)) for branch in (base.yes, base.no)]
    return branches[0 if way else 1] if base.test == test else _chosen(base.test, *branches)


# -- operators ---------------------------------------------------------------------------------------------------------

Read = Callable[..., "Value | str"]


def _absorbing(compute: Callable[..., str]) -> Read:
    def read(reading: Reading, term: Term, *args: Value) -> Value:
        return Value(disjunction(*(a.absent for a in args)), compute(reading, term, *(a.number for a in args)))

    return read


def _max(reading: Reading, term: Term, a: Value, b: Value) -> Value:
    larger = branch(f"(>= {a.number} {b.number})", a.number, b.number)
    return Value(conjunction(a.absent, b.absent), branch(a.absent, b.number, branch(b.absent, a.number, larger)))


def _exp(reading: Reading, term: Term, a: Value) -> Value:
    return Value("false", branch(a.absent, "0.0", reading.exponential(reading.polynomial(term.args[0]))))


def _log(reading: Reading, term: Term, a: Value) -> Value:
    return Value(disjunction(a.absent, f"(<= {a.number} 0.0)"), reading.logarithm(term))


def _sigmoid(reading: Reading, term: Term, a: Value) -> Value:
    falling = reading.exponential(reading.polynomial(term.args[0]) * constant(-1))
    return reading.bounded(
        term,
        a,
        0,
        0,
        lambda x, r: [f"(> {r} 0.0)", f"(< {r} 1.0)", f"(= {reading.product(r, f'(+ 1.0 {falling})')} 1.0)"],
    )


def _between(low: str, number: str, high: str) -> str:
    return f"(and (<= {low} {number}) (<= {number} {high}))"


def _tanh(reading: Reading, term: Term, a: Value) -> Value:
    inside = reading.polynomial(term.args[0])
    rising, falling = reading.exponential(inside), reading.exponential(inside * constant(-1))

    def known(x: str, r: str) -> list[str]:
        quotient = f"(= {reading.product(r, f'(+ {rising} {falling})')} (- {rising} {falling}))"
        return [quotient, f"(ite (>= {x} 0.0) {_between('0.0', r, x)} {_between(x, r, '0.0')})"]

    return reading.bounded(term, a, -1, -1, known)


def _erf(reading: Reading, term: Term, a: Value) -> Value:
    return reading.bounded(
        term, a, -1, -1, lambda x, r: [f"(= (<= {x} 0.0) (<= {r} 0.0))", f"(= (>= {x} 0.0) (>= {r} 0.0))"]
    )


def _less(reading: Reading, term: Term, a: Value, b: Value) -> str:
    return conjunction(negated(b.absent), disjunction(a.absent, f"(< {a.number} {b.number})"))


def _at_most(reading: Reading, term: Term, a: Value, b: Value) -> str:
    return disjunction(a.absent, conjunction(negated(b.absent), f"(<= {a.number} {b.number})"))


def _equal(reading: Reading, term: Term, a: Value, b: Value) -> str:
    return disjunction(
        conjunction(a.absent, b.absent), conjunction(negated(a.absent), negated(b.absent), f"(= {a.number} {b.number})")
    )


def _where(reading: Reading, term: Term, c: str, a: Value, b: Value) -> Value:
    return Value(branch_truth(c, a.absent, b.absent), branch(c, a.number, b.number))


def _floordiv(a: str, b: str) -> str:
    """Round a quotient down; by 0 the language gives 0, of which SMT-LIB says nothing."""
    return branch(f"(= {b} 0)", "0", f"(ite (> {b} 0) (div {a} {b}) (div (- {a}) (- {b})))")


def _mod(a: str, b: str) -> str:
    return branch(f"(= {b} 0)", "0", f"(- {a} (* {b} {_floordiv(a, b)}))")


def _real(reading: Reading, term: Term, a: str) -> Value:
    return Value("false", f"(to_real {a})" if reading.integral else a)


def _purified(letter: str, said: str, facts: Callable[[str, str], list[str]]) -> Read:
    return _absorbing(lambda reading, term, a: reading.once(letter, reading.polynomial(term.args[0]), said, facts))


def _rounded(letter: str, said: str, facts: Callable[[str, str], list[str]], tie: Callable[[str, str], str]) -> Read:
    """Read a function that gives whole numbers; these are real ones of which only `facts` are stated, if the reading is
    not of whole numbers.
    """

    def read(reading: Reading, term: Term, a: str) -> str:
        def known(arg: str, number: str) -> list[str]:
            if not reading.whole:
                return facts(arg, number)
            name, half = (reading.declared(reading.name(f"{number}.{part}"), "Int") for part in ("whole", "half"))
            even = f"(=> {test} (= {name} (* 2 {half})))" if (test := tie(arg, number)) else "true"
            return [f"(= {number} (to_real {name}))", *([even] if even != "true" else []), *facts(arg, number)]

        return reading.once(letter, reading.polynomial(term.args[0]), said, known)

    return _absorbing(read)


OPERATOR: dict[str, Read] = {
    "add": _absorbing(lambda r, t, a, b: f"(+ {a} {b})"),
    "mul": _absorbing(lambda r, t, a, b: r.product(a, b)),
    "neg": _absorbing(lambda r, t, a: f"(- {a})"),
    "inv": _absorbing(lambda r, t, a: r.inverse(t)),
    "abs": _absorbing(lambda r, t, a: f"(ite (>= {a} 0.0) {a} (- {a}))"),
    "sqrt": _absorbing(lambda r, t, a: r.root(t)),
    "sin": _purified(
        "sine",
        "the sine of @",
        lambda a, n: [
            f"(>= {n} (- 1.0))",
            f"(<= {n} 1.0)",
            f"(ite (>= {a} 0.0) {_between(f'(- {a})', n, a)} {_between(a, n, f'(- {a})')})",
        ],
    ),
    "atan": _purified(
        "arctangent",
        "the arctangent of @",
        lambda a, n: [
            f"(> {n} (- (/ 355.0 226.0)))",
            f"(< {n} (/ 355.0 226.0))",
            f"(ite (>= {a} 0.0) {_between('0.0', n, a)} {_between(a, n, '0.0')})",
        ],
    ),
    "cos": _purified("cosine", "the cosine of @", lambda a, n: [f"(>= {n} (- 1.0))", f"(<= {n} 1.0)"]),
    "floor": _rounded(
        "floor", "the floor of @", lambda a, n: [f"(<= {n} {a})", f"(< {a} (+ {n} 1.0))"], lambda a, n: ""
    ),
    "round": _rounded(
        "round",
        "rounded @",
        lambda a, n: [f"(<= (* 2.0 {n}) (+ (* 2.0 {a}) 1.0))", f"(<= (- (* 2.0 {a}) 1.0) (* 2.0 {n}))"],
        lambda a, n: f"(or (= (* 2.0 {n}) (+ (* 2.0 {a}) 1.0)) (= (- (* 2.0 {a}) 1.0) (* 2.0 {n})))",
    ),
    "min": _absorbing(lambda r, t, a, b: f"(ite (<= {a} {b}) {a} {b})"),
    "max": _max,
    "exp": _exp,
    "log": _log,
    "sigmoid": _sigmoid,
    "tanh": _tanh,
    "erf": _erf,
    "real": _real,
    "lt": _less,
    "le": _at_most,
    "eq": _equal,
    "and": lambda r, t, a, b: conjunction(a, b),
    "or": lambda r, t, a, b: disjunction(a, b),
    "not": lambda r, t, a: negated(a),
    "where": _where,
}
INTEGER: dict[str, Read] = {
    "add": lambda r, t, a, b: f"(+ {a} {b})",
    "mul": lambda r, t, a, b: r.product(a, b),
    "neg": lambda r, t, a: f"(- {a})",
    "max": lambda r, t, a, b: f"(ite (>= {a} {b}) {a} {b})",
    "min": lambda r, t, a, b: f"(ite (<= {a} {b}) {a} {b})",
    "floordiv": lambda r, t, a, b: _floordiv(a, b),
    "mod": lambda r, t, a, b: _mod(a, b),
    "lt": lambda r, t, a, b: f"(< {a} {b})",
    "le": lambda r, t, a, b: f"(<= {a} {b})",
    "eq": lambda r, t, a, b: f"(= {a} {b})",
    "where": lambda r, t, c, a, b: branch(c, a, b),
    "random": lambda r, t, *args: r.drawn(t, *args),
}
