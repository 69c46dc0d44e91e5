"""Whether two sides are one number, bit-precisely, in float16 and bfloat16, every operator rounded to the format.

A law of one variable is tried on all 65,536 values. Of more, Z3 is asked over FPSort(5, 11) and FPSort(8, 8), case by
case of the masks, functions such as exp uninterpreted; what it finds is evaluated again here. Reductions are taken lane
after lane: the sides agree after one lane, and if they agree so far, after one more. Values are finite numbers; the
absent value and its laws are a matter of the proof over the reals. The sign of a zero is not looked at, for no operator
of the language can tell.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from napkin_eq.lang.operators import COMBINE, FUNCTIONS, NEUTRAL
from napkin_eq.lang.term import Const, Fold, Map, Online, Reduce, Term, held, rebuilt, rewritten, subterms
from napkin_eq.laws.claim import JUDGMENT, NotUnderstood, meaning
from napkin_eq.laws.law import TRUE, Law, Var
from napkin_eq.prove.float_class import Finding, assessor

Array = np.ndarray[Any, np.dtype[Any]]
TIMEOUT_S, SAMPLES = 60.0, 4096


class Format(NamedTuple):
    """A binary format: bits of the significand with the hidden one, bits and least value of the exponent, the largest
    number.
    """

    name: str
    digits: int
    exponent: int
    least: int
    largest: float


FORMATS = (Format("float16", 11, 5, -14, 65504.0), Format("bfloat16", 8, 8, -126, (2 - 2.0**-7) * 2.0**127))


class Question(NamedTuple):
    """Wherever the premises hold, the sides are one number; no reductions occur. `loose`: accumulators, which may be
    infinite.
    """

    what: str
    premises: tuple[Term, ...]
    left: Term
    right: Term
    loose: frozenset[Term]


@assessor("exact")
def exact(law: Law) -> Finding:
    """Decide whether both sides of a law are one number in both formats."""
    left, right = bare(law.lhs), bare(law.rhs)
    if left is right:
        return Finding("yes", "one and the same computation")
    asked = list(questions(law, left, right))
    how = [decided(question, fmt) for question in asked for fmt in FORMATS]
    worst = min(how, key=lambda found: ("no", "unknown", "yes").index(found.answer))
    return worst if worst.answer != "yes" else Finding("yes", ", ".join(dict.fromkeys(found.detail for found in how)))


def bare(term: Term) -> Term:
    """Return the term without what changes no operation and no order: levels, blocks, items of a tuple,
    shared passes.
    """

    def change(t: Term) -> Term:
        if isinstance(t, Online):
            return Online(t.axis, t.body, t.where, t.update, False)
        return Fold(t.monoid, t.axis, t.body, t.where, False) if isinstance(t, Fold) else held(t)

    return rewritten(term, change)


# -- reductions, lane after lane ---------------------------------------------------------------------------------------


def questions(law: Law, left: Term, right: Term) -> Iterator[Question]:
    """Yield what must hold so that both sides are one number, for every length of an axis."""
    if isinstance(left, Online) and isinstance(right, Online) and left.update is right.update:
        # The same update of the same accumulator: what is left to compare is what each block adds.
        left, right = (Reduce("sum", t.axis, t.body, t.where) for t in (left, right))
    premises = tuple(meaning(j) for j in law.conditions if j.name in JUDGMENT)
    inside = {side: [t for t in subterms(side) if isinstance(t, Reduce)] for side in (left, right)}
    reductions = list(dict.fromkeys([*inside[left], *inside[right]]))
    accs: dict[Term, Term] = {t: Var(f"acc {i}") for i, t in enumerate(reductions, 1)}
    loose = frozenset(accs.values())
    if set(inside[left]) == set(inside[right]):
        yield Question("any values", premises, _swapped(left, accs), _swapped(right, accs), loose)
        return
    if len({t.axis for t in reductions}) > 1 or any(
        u is not t and isinstance(u, Reduce) for t in reductions for u in subterms(t)
    ):
        raise NotUnderstood("exactness is decided for reductions over one axis, none inside another")
    fixed = {j.args[1] for j in law.conditions if j.name == "free" and j.args[0] == reductions[0].axis}
    fresh: dict[Term, Term] = {
        v: Var(f"{v.name}⁺", v.sort) for v in subterms(left, right, *premises) if isinstance(v, Var) and v not in fixed
    }
    known = (*premises, *(_swapped(p, fresh) for p in premises))
    first: dict[Term, Term] = {t: _lane(t, Const(NEUTRAL[t.monoid]), fresh) for t in reductions}
    yield Question("one lane", known, _swapped(left, first), _swapped(right, first), loose)
    if left in accs:
        accs[left] = _swapped(right, accs)
    elif right in accs:
        accs[right] = _swapped(left, accs)
    else:
        raise NotUnderstood("exactness is decided where one side is a reduction")
    grown: dict[Term, Term] = {t: _lane(t, accs[t], fresh) for t in reductions}
    yield Question("one more lane", known, _swapped(left, grown), _swapped(right, grown), loose)


def _lane(t: Reduce, acc: Term, fresh: dict[Term, Term]) -> Term:
    grown = Map(COMBINE[t.monoid], (acc, _swapped(t.body, fresh)))
    return grown if t.where is TRUE else Map("where", (_swapped(t.where, fresh), grown, acc))


def _swapped(root: Term, table: dict[Term, Term]) -> Term:
    return table[root] if root in table else rebuilt(root, tuple(_swapped(child, table) for child in root.children))


# -- decisions ---------------------------------------------------------------------------------------------------------


def decided(question: Question, fmt: Format) -> Finding:
    """Decide one question in one format: by all values of one variable, else by Z3, mask by mask."""
    variables = [t for t in subterms(question.left, question.right, *question.premises) if isinstance(t, Var)]
    masks = [v for v in variables if v.kind == "bool"]
    numbers = [v for v in variables if v.kind == "real"]
    if len(masks) + len(numbers) < len(variables):
        raise NotUnderstood("exactness is decided for numbers and masks, not for coordinates")
    for values in itertools.product((True, False), repeat=len(masks)):
        chosen: dict[Term, Term] = dict(zip(masks, map(Const, values), strict=True))
        premises = tuple(_chosen(_swapped(p, chosen)) for p in question.premises)
        left, right = (_chosen(_swapped(side, chosen)) for side in (question.left, question.right))
        found = Finding("yes", "the same operations")
        if left is not right:
            case = question._replace(premises=premises, left=left, right=right)
            found = _everywhere(case, numbers, fmt) if len(numbers) == 1 else _sampled(case, numbers, fmt)
            found = _asked(case, fmt) if len(numbers) != 1 and found.answer == "yes" else found
        if found.answer != "yes":
            told = "".join(f", {v.name} = {str(value).lower()}" for v, value in zip(masks, values, strict=True))
            return Finding(found.answer, f"{found.detail}{told}")
    return Finding("yes", "all 65,536 values" if len(numbers) == 1 else "Z3 over FPSort(5, 11) and FPSort(8, 8)")


def _chosen(term: Term) -> Term:
    """Return the term with what constant masks decide decided."""

    def change(t: Term) -> Term:
        if isinstance(t, Map) and t.op == "where" and isinstance(t.args[0], Const):
            return t.args[1 if t.args[0].value else 2]  # type: ignore[no-any-return]
        if isinstance(t, Map) and t.op in ("and", "or", "not") and all(isinstance(a, Const) for a in t.args):
            return Const(bool(PLAIN[t.op](*(a.value for a in t.args))))
        return t

    return rewritten(term, change)


def _everywhere(question: Question, numbers: list[Var], fmt: Format) -> Finding:
    return _tried(question, {numbers[0]: _all_values(fmt)}, fmt)


def _tried(question: Question, given: dict[Var, Array], fmt: Format) -> Finding:
    """Evaluate both sides on arrays of values; "no" comes with the values that are easiest to read."""
    machine = Numbers(fmt, given)
    bad = ~_same(machine.value(question.left), machine.value(question.right))
    for premise in question.premises:
        bad = bad & machine.value(premise)
    if not bad.any():
        return Finding("yes")
    rows = np.stack([np.broadcast_to(values, bad.shape) for values in given.values()])
    at = min(np.flatnonzero(bad), key=lambda i: (sum(len(f"{x:.8g}") for x in rows[:, i]), np.abs(rows[:, i]).sum()))
    return _told(question, fmt, {v: float(x) for v, x in zip(given, rows[:, at], strict=True)})


def _sampled(question: Question, numbers: list[Var], fmt: Format) -> Finding:
    """Try a few thousand values, most of them short to write: a claim that is false is mostly refuted by these, and Z3
    is slow at it.
    """
    rng = np.random.default_rng(len(numbers))
    short = np.round(
        rng.standard_normal((len(numbers), SAMPLES)) * 2.0 ** rng.integers(0, 11, SAMPLES)
    ) / 2.0 ** rng.integers(0, 3, SAMPLES)
    drawn = np.where(np.arange(SAMPLES) % 4 == 0, rng.choice(_all_values(fmt), short.shape), short)
    return _tried(question, {v: Numbers(fmt, {}).rounded(row) for v, row in zip(numbers, drawn, strict=True)}, fmt)


@cache
def _all_values(fmt: Format) -> Array:
    bits = np.arange(65536, dtype=np.uint32)
    values = bits.astype(np.uint16).view(np.float16) if fmt.name == "float16" else (bits << 16).view(np.float32)
    return np.asarray(values[np.isfinite(values)], np.float64)


def _told(question: Question, fmt: Format, values: dict[Var, float]) -> Finding:
    """Evaluate both sides on values once more and say what differs."""
    machine = Numbers(fmt, {v: np.asarray(number) for v, number in values.items()})
    sides = [machine.value(side) for side in (question.left, question.right)]
    given = ", ".join(f"{v.name} = {number:.8g}" for v, number in values.items())
    if _same(*sides).all():
        return Finding("unknown", f"Z3's witness {given} is none in {fmt.name}")
    return Finding(
        "no", f"in {fmt.name}, {question.what}: {given}: left {float(sides[0]):.8g}, right {float(sides[1]):.8g}"
    )


def _asked(question: Question, fmt: Format) -> Finding:
    import z3

    text, names = script(question, fmt)
    solver: Any = z3.Solver(ctx=z3.Context())
    solver.set("timeout", int(TIMEOUT_S * 1000))
    solver.from_string(text)
    answer = str(solver.check())
    if answer != "sat":
        late = f"Z3 gave no answer in {TIMEOUT_S:g} s in {fmt.name} ({question.what})"
        return Finding("yes") if answer == "unsat" else Finding("unknown", late)
    model = solver.model()
    found = {
        declared.name(): _number(model[declared]) for declared in model.decls() if declared.name() in names.values()
    }
    return _told(question, fmt, {v: found.get(name, 0.0) for v, name in names.items()})


def script(question: Question, fmt: Format) -> tuple[str, dict[Var, str]]:
    """Return a question as an SMT-LIB script, whose answer is unsat if the sides are one number, and the names of its
    variables.
    """
    variables = [t for t in subterms(question.left, question.right, *question.premises) if isinstance(t, Var)]
    names = {v: f"v{i}" for i, v in enumerate(variables)}
    sort = f"(_ FloatingPoint {fmt.exponent} {fmt.digits})"
    read = Text(fmt, names)
    left, right, *premises = map(read.value, (question.left, question.right, *question.premises))
    lines = [f"(declare-const {name} {sort})" for name in names.values()]
    lines += [f"(declare-fun {name} ({sort}) {sort})" for name in sorted(read.functions)]
    lines += [f"(assert (fp.isZero (exp {read.constant(-np.inf)})))"] if "exp" in read.functions else []
    # An accumulator may have overflowed; what is given is finite.
    for v, name in names.items():
        infinite = "" if v in question.loose else f" (fp.isInfinite {name})"
        lines.append(f"(assert (not (or (fp.isNaN {name}){infinite})))")
    lines += [f"(assert {premise})" for premise in premises]
    return "\n".join(
        [*lines, f"(assert (not (or (fp.eq {left} {right}) (and (fp.isNaN {left}) (fp.isNaN {right})))))"]
    ), names


def _number(value: Any) -> float:
    import z3

    if value.isInf():
        return float("-inf") if value.isNegative() else float("inf")
    return float(z3.simplify(z3.fpToReal(value, value.ctx)).as_fraction())


# -- two machines ------------------------------------------------------------------------------------------------------


class Numbers:
    """Evaluation in a format, with NumPy: each operator in float64, whose digits are more than twice as many, then
    rounded.
    """

    def __init__(self, fmt: Format, given: dict[Var, Array]) -> None:
        self.fmt = fmt
        self.memo: dict[Term, Array] = dict(given.items())

    def value(self, root: Term) -> Array:
        with np.errstate(all="ignore"):
            for term in subterms(root):
                if term not in self.memo:
                    self.memo[term] = self.one(term)
        return self.memo[root]

    def one(self, term: Term) -> Array:
        if isinstance(term, Const):
            return np.asarray(term.value) if term.kind == "bool" else self.rounded(np.asarray(float(term.value)))
        if isinstance(term, Map) and term.op in PLAIN:
            result = np.asarray(PLAIN[term.op](*(self.memo[a] for a in term.args)))
            return result if result.dtype.kind == "b" else self.rounded(result)
        raise NotUnderstood(f"exactness is not decided for {getattr(term, 'op', type(term).__name__)}")

    def rounded(self, x: Array) -> Array:
        """Round to nearest, ties to even, with subnormal numbers and overflow to infinity."""
        _, exponent = np.frexp(x)
        step = np.ldexp(1.0, np.maximum(exponent - 1, self.fmt.least) - (self.fmt.digits - 1))
        near = np.where(np.isfinite(x), np.round(x / step) * step, x)
        return np.asarray(np.where(np.abs(near) > self.fmt.largest, np.copysign(np.inf, near), near))


def _same(left: Array, right: Array) -> Array:
    return np.asarray((left == right) | (np.isnan(left) & np.isnan(right)))


PLAIN: dict[str, Callable[..., Any]] = {
    **{op: getattr(np, op) for op in FUNCTIONS if hasattr(np, op)},
    "add": np.add, "mul": np.multiply, "neg": np.negative, "abs": np.abs, "max": np.maximum, "min": np.minimum,
    "inv": lambda a: np.where(a == 0, 0.0, 1 / a), "sqrt": lambda a: np.sqrt(np.where(a < 0, 0.0, a)),
    "exp": np.exp, "log": lambda a: np.where(a > 0, np.log(a), -np.inf), "sigmoid": lambda a: 1 / (1 + np.exp(-a)),
    "lt": np.less, "le": np.less_equal, "eq": np.equal, "and": np.logical_and, "or": np.logical_or,
    "not": np.logical_not, "where": np.where,
}  # fmt: skip


class Text:
    """A term in SMT-LIB's theory of floating point: functions other than + - * / and roots are uninterpreted."""

    def __init__(self, fmt: Format, names: dict[Var, str]) -> None:
        self.fmt, self.functions = fmt, set[str]()
        self.memo: dict[Term, str] = dict(names.items())

    def value(self, root: Term) -> str:
        for term in subterms(root):
            if term not in self.memo:
                self.memo[term] = self.one(term)
        return self.memo[root]

    def one(self, term: Term) -> str:
        if isinstance(term, Const):
            return str(term.value).lower() if term.kind == "bool" else self.constant(float(term.value))
        if isinstance(term, Map):
            args = [self.memo[a] for a in term.args]
            if term.op in FORMS:
                return FORMS[term.op].format(*args, zero=self.constant(0.0), one=self.constant(1.0))
            if len(args) == 1 and term.op != "real":
                self.functions.add(term.op)
                return f"({term.op} {args[0]})"
        raise NotUnderstood(f"exactness is not decided for {getattr(term, 'op', type(term).__name__)}")

    def constant(self, value: float) -> str:
        word = {np.inf: "+oo", -np.inf: "-oo", 0.0: "+zero"}.get(value)
        if word:
            return f"(_ {word} {self.fmt.exponent} {self.fmt.digits})"
        decimal = f"{abs(Decimal(value)):f}"
        decimal += "" if "." in decimal else ".0"
        return f"((_ to_fp {self.fmt.exponent} {self.fmt.digits}) RNE {decimal if value > 0 else f'(- {decimal})'})"


FORMS = {
    "add": "(fp.add RNE {0} {1})", "mul": "(fp.mul RNE {0} {1})", "neg": "(fp.neg {0})", "abs": "(fp.abs {0})",
    "max": "(ite (fp.leq {0} {1}) {1} {0})", "min": "(ite (fp.leq {0} {1}) {0} {1})", "where": "(ite {0} {1} {2})",
    "inv": "(ite (fp.isZero {0}) {zero} (fp.div RNE {one} {0}))",
    "sqrt": "(ite (fp.lt {0} {zero}) {zero} (fp.sqrt RNE {0}))",
    "lt": "(fp.lt {0} {1})", "le": "(fp.leq {0} {1})", "eq": "(fp.eq {0} {1})", "and": "(and {0} {1})",
    "or": "(or {0} {1})", "not": "(not {0})",
}  # fmt: skip
