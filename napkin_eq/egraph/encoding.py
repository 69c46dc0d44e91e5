"""Terms and laws as egglog's program text: constructors, facts, patterns, and a rule for each direction of a law.

Each law's rule keeps a record of its substitution in a table, so that a derivation can be explained without trusting
egglog.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction

from napkin_eq.egraph.coordinates import Held, opaque, placed, whole, without_coordinates
from napkin_eq.egraph.nodes import AXIS_AT, FLAGGED, KINDS
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.operators import OPS, PLACES
from napkin_eq.lang.term import (
    Acc,
    Const,
    Fold,
    Group,
    Map,
    Online,
    Prev,
    Read,
    Reduce,
    Scan,
    Size,
    Store,
    Term,
    Walk,
    subterms,
)
from napkin_eq.laws.law import JUDGMENTS, TRUE, Inference, Judgment, Law, Var, variables
from napkin_eq.laws.shapes import MADE, READ

Table = tuple[str, bool, tuple[tuple[str, bool], ...]]
ONE = {"moves"}  # judgments of which one output is kept, the first found: another step that is equal says nothing new
# The base rules speak of these
_ALWAYS = {"Leaf", "Num", "Absent", "Yes", "SizeOf", "op_add", "op_mul", "op_neg", "op_real"}
_BINDERS = tuple(k for k in KINDS if k.split("_")[0] in ("Reduce", "Fold", "Online"))
_SCANS = ("Scan_", "Recur_")

RULESETS = "shape", "facts", "more-facts", "scaling", "scaling-by-sums", "tidy", "prepare", "algebra", "structure"
SORTS = "(sort A) (sort M) (constructor Ax (String) A) (sort Axes (Set A))" + "".join(
    f" (ruleset {r})" for r in RULESETS
)


def _columns(kind: str) -> str:
    if kind in ("Leaf", "Num"):
        return "i64" if kind == "Leaf" else "BigRat"
    return " ".join(["A"] * len(AXIS_AT.get(kind, ())) + ["M"] * len(KINDS[kind]) + ["i64"] * (kind in FLAGGED))


def constructor(kind: str) -> str:
    """Declare a constructor of terms."""
    return f"(constructor {kind} ({_columns(kind)}) M)"


def _table(name: str) -> str:
    columns = ["A" if takes == "axis" else "M" for takes in JUDGMENTS[name][0]]
    if name in ONE:
        return f" (function J_{name} ({' '.join(columns[:-1])}) M :merge old)"
    return f" (relation J_{name} ({' '.join(columns)}))"


FACTS = "(function axes (M) Axes :merge (set-intersect old new)) (relation isax (A)) (relation real (M))"
FACTS += "".join(map(_table, JUDGMENTS))


def axes_rules(kinds: Iterable[str]) -> Iterable[str]:
    """Rules that give every class its free axes: an upper bound, narrowed by every form that shows fewer."""
    for kind in kinds:
        if kind == "Leaf":
            continue
        places = KINDS[kind]
        columns = [f"c{i}" for i in range(len(_columns(kind).split()))]
        premises = " ".join(f"(= s{i} (axes c{i}))" for i in places)
        union = "(set-empty)"
        for i in places:
            union = f"s{i}" if union == "(set-empty)" else f"(set-union {union} s{i})"
        if kind in _BINDERS:
            union = f"(set-remove {union} c0)"
        elif kind.startswith(_SCANS):
            union = f"(set-insert {union} c0)"
        elif kind == "Read":
            union = "(set-union (set-remove s1 c0) s2)"
        number = kind.startswith("op_") and OPS[kind[3:]].gives != "bool" or kind in _BINDERS or kind.startswith(_SCANS)
        real = "(real e)" if number and kind.partition("_")[2] not in PLACES else ""
        yield f"(rule ((= e ({kind} {' '.join(columns)})) {premises}) ((set (axes e) {union}) {real}) :ruleset shape)"


def _rational(number: Fraction) -> str:
    """Write an exact number."""
    return f'(bigrat (from-string "{number.numerator}") (from-string "{number.denominator}"))'


# Numbers are folded exactly; what is larger than a double holds is not folded.
_IN_RANGE = "(< r $most) (> r $least)"
BASE = f"""
(let $zero {_rational(Fraction(0))})
(let $most {_rational(Fraction(10) ** 300)})
(let $least {_rational(-(Fraction(10) ** 300))})
(rule ((= e (Num v))) ((J_finite e)) :ruleset facts)
(rule ((= e (Num v)) (> v $zero)) ((J_pos e)) :ruleset facts)
(rule ((= e (Num v)) (>= v $zero)) ((J_nonneg e)) :ruleset facts)
(rule ((= e (Num v)) (!= v $zero)) ((J_nonzero e)) :ruleset facts)
(rule ((= e (op_real a))) ((J_finite e)) :ruleset facts)
(rule ((= e (Num v)) (isax x)) ((J_local x e)) :ruleset more-facts)
(rule ((= e (op_real a)) (J_local x a)) ((J_local x e)) :ruleset more-facts)
(rule ((= e (Yes)) (isax x)) ((J_local x e)) :ruleset more-facts)
(rule ((= e (SizeOf y)) (isax x) (!= x y)) ((J_local x e)) :ruleset more-facts)
(rule ((= e (Absent)) (isax x)) ((J_local x e)) :ruleset more-facts)
(relation folded_add (BigRat BigRat)) (relation folded_mul (BigRat BigRat)) (relation folded_neg (BigRat))
(rule ((= e (op_add (Num a) (Num b))) (= r (+ a b)) {_IN_RANGE}) ((union e (Num r)) (folded_add a b)) :ruleset algebra)
(rule ((= e (op_mul (Num a) (Num b))) (= r (* a b)) {_IN_RANGE}) ((union e (Num r)) (folded_mul a b)) :ruleset algebra)
(rule ((= e (op_neg (Num a)))) ((union e (Num (neg a))) (folded_neg a)) :ruleset algebra)
"""


def text_of(term: Term, children: list[str]) -> str:
    """Write one node as an egglog expression over its children's expressions."""
    match term:
        case Const():
            return (
                "(Yes)"
                if term.value is True
                else "(Absent)"
                if term.exact is None
                else f"(Num {_rational(term.exact)})"
            )
        case Map():
            return f"({'int' if whole(term) else 'op'}_{term.op} {' '.join(children)})"
        case Size():
            return f"(SizeOf {axis_text(term.axis)})"
        case Reduce() | Scan():
            return f"({type(term).__name__}_{term.monoid} {axis_text(term.axis)} {' '.join(children)})"
        case Fold():
            return f"(Fold_{term.monoid} {axis_text(term.axis)} {' '.join(children)} {int(term.fused)})"
        case Online():
            return f"(Online {axis_text(term.axis)} {' '.join(children)} {int(term.fused)})"
        case Read():
            return f"(Read {axis_text(term.axis)} {' '.join(children)})"
        case Group() | Walk():
            return f"({type(term).__name__} {axis_text(term.axis)} {' '.join(children)})"
        case Store() | Prev() | Acc():
            return f"({type(term).__name__} {' '.join(children)})"
    raise NapkinError(f"{type(term).__name__} cannot enter the e-graph here: derive each output of a tuple")


def _head(term: Term) -> str:
    """Return the constructor of a term's node."""
    return text_of(term, [""] * len(term.children)).partition(" ")[0].strip("()")


def _heads(*patterns: Term) -> set[str]:
    """Return the constructors that a law's patterns show."""
    shown = subterms(*map(without_coordinates, patterns))
    return {
        "Num" if isinstance(t, Var) else "Leaf" if isinstance(t, Held) else _head(t)
        for t in shown
        if not isinstance(t, Var) or t.sort == "number"
    }


def _pattern(part: Term | Axis) -> str:
    """Write a law's pattern; variables become v_NAME."""
    if isinstance(part, Axis):
        return f"v_{part.name}"
    if isinstance(part, Held):
        return f"(Leaf {part.number})"
    if isinstance(part, Var):
        return f"(Num v_{part.name})" if part.sort == "number" else f"v_{part.name}"
    text = text_of(part, [_pattern(c) for c in part.children])
    for field_ in part.fields:
        if isinstance(field_, Axis):
            text = text.replace(axis_text(field_), f"v_{field_.name}")
    return text


def axis_text(axis: Axis) -> str:
    """Write an axis."""
    return f'(Ax "{axis.name}")'


def _directions(laws: Iterable[Law]) -> Iterator[tuple[Law, Term, Term, str]]:
    """Yield the left and right sides of each way in which a law may be used, with a name of its own."""
    for law in laws:
        yield law, law.lhs, law.rhs, law.name
        if law.both:
            yield law, law.rhs, law.lhs, law.name + "~"


def reachable(terms: Iterable[Term], laws: Sequence[Law], inferences: Sequence[Inference] = ()) -> list[str]:
    """Return the constructors that the source has, or that statements can make of it; nothing else can ever fire."""
    found = {_head(t) for t in terms if not opaque(t)} | _ALWAYS
    directions = [(_heads(left), _heads(right)) for _, left, right, _ in _directions(laws)]
    directions += [(_heads(*asked), _heads(*made)) for asked, made in map(_spoken, inferences) if made]
    while new := {head for left, right in directions if left <= found for head in right - found}:
        found |= new
    return [kind for kind in KINDS if kind in found]


def _spoken(rule: Inference) -> tuple[list[Term], list[Term]]:
    """Return the terms that an inference is asked of, and those that it makes."""
    name = rule.conclusion.name
    every = [(place, arg) for place, arg in enumerate(rule.conclusion.args) if isinstance(arg, Term)]
    made = [arg for place, arg in every if (name, place) in MADE]
    asked = [arg for place, arg in every if (name, place) not in MADE]
    return [*asked, *(arg for premise in rule.premises for arg in premise.args if isinstance(arg, Term))], made


def rules(
    laws: Sequence[Law],
    inferences: Sequence[Inference],
    kinds: set[str],
    tables: dict[str, Table],
    axes: Sequence[Axis],
    leaf: Callable[[Term], int],
) -> list[str]:
    """Return the rules of laws and inferences that can fire where there are only some constructors, and enter their
    tables.

    axes: those of the diagram, `leaf` numbers its leaves, for statements that speak of coordinates.
    """
    lines: dict[str, None] = {}
    early = _early_judgments(laws, inferences)
    for law in laws:
        if any(_heads(left) <= kinds for _, left, _, _ in _directions([law])):
            for entered, known in placed(law, axes, leaf):
                for _, left, right, name in _directions([entered]):
                    if _heads(left) <= kinds:
                        lines |= dict.fromkeys(_law_rule(entered, left, right, name, tables, known))
    for rule in inferences:
        asked, made = _spoken(rule)
        if _heads(*asked, *made) <= kinds:
            lines |= dict.fromkeys(
                line
                for entered, known in placed(rule, axes, leaf)
                for line in _inference_rule(entered, early, known, tables)
            )
    return list(lines)


def _inference_rule(rule: Inference, early: set[str], known: dict[str, Axis], tables: dict[str, Table]) -> list[str]:
    """Return the rule that an inference is, with a table that keeps its substitutions where it reads terms of some
    form.
    """
    body, bound = _Body(known), set(known)
    for place, arg in enumerate(rule.conclusion.args):
        if isinstance(arg, Term) and not isinstance(arg, (Var, Const)) and (rule.conclusion.name, place) not in MADE:
            body.pattern(arg, bound)
    if rule.conclusion.name == "moves":
        _, moving, weight, _ = rule.conclusion.args
        if isinstance(moving, Term) and isinstance(weight, Var):
            body.pattern(Map("mul", (moving, weight)), bound)  # asked of products that there are
    for premise in rule.premises:
        body.condition(premise, bound)
    for arg in rule.conclusion.args:
        body.bind(arg, bound)
    _, made = _spoken(rule)
    sums = any(isinstance(t, Reduce) for t in subterms(*made))
    ruleset = "facts" if rule.conclusion.name in early else "more-facts"
    if made:
        ruleset = "scaling-by-sums" if sums else "scaling"
    if rule.conclusion.name not in READ or known:
        return [f"(rule ({' '.join(body.parts)}) ({_told(rule.conclusion)}) :ruleset {ruleset})"]
    judgments = rule.conclusion, *rule.premises
    axes, names = _axis_names(*(a for j in judgments for a in j.args)), sorted(variables(*judgments))
    table = f"inferred_{rule.name.replace('-', '_')}"
    tables[table] = (rule.name, True, tuple((n, n in axes) for n in names))
    columns, kept = " ".join("A" if n in axes else "M" for n in names), " ".join(f"v_{n}" for n in names)
    told = f"{_told(rule.conclusion)} ({table} {kept})"
    return [f"(relation {table} ({columns}))", f"(rule ({' '.join(body.parts)}) ({told}) :ruleset {ruleset})"]


def _told(judgment: Judgment) -> str:
    """Write what makes a judgment known."""
    args = [_pattern(a) for a in judgment.args]
    if judgment.name in ONE:
        return f"(set (J_{judgment.name} {' '.join(args[:-1])}) {args[-1]})"
    return f"(J_{judgment.name} {' '.join(args)})"


def _early_judgments(laws: Iterable[Law], inferences: Sequence[Inference]) -> set[str]:
    """Return the judgments that laws ask for before the structure laws, and what those rest on."""
    needed = {c.name for law in laws if law.stage != "structure" for c in law.conditions}
    while True:
        more = {p.name for rule in inferences if rule.conclusion.name in needed for p in rule.premises}
        if more <= needed:
            return needed
        needed |= more


def _law_rule(
    law: Law, left: Term, right: Term, name: str, tables: dict[str, Table], known: dict[str, Axis]
) -> list[str]:
    """Return the rule that one direction of a law is, with the table that keeps its substitutions; `known` are axes
    that are chosen.
    """
    finding = "scales", "moves", "absent", "zero", "along", "stretch"  # these may bind what the left side does not
    names = sorted(
        variables(left) | set(known) | {n for c in law.conditions if c.name in finding for n in variables(*c.args)}
    )
    axes = _axis_names(left, right, *(a for c in law.conditions for a in c.args)) | set(known)
    sorts = {n: "A" if n in axes else "M" for n in names}
    table = f"fired_{name.replace('-', '_').replace('~', '_rev')}"
    tables[table] = (law.name, not name.endswith("~"), tuple((n, sorts[n] == "A") for n in names))
    body, bound = _Body(known), set(known)
    body.parts.append(
        f"(= e__ {_pattern(left)})" if not isinstance(left, Var) else f"(real e__) (= e__ {_pattern(left)})"
    )
    bound |= variables(left)
    if law.stage == "prepare":  # a fold under no mask has a law of its own
        body.parts += [
            f"(= w{i}__ {_pattern(TRUE)}) (!= v_{t.where.name} w{i}__)"
            for i, t in enumerate(subterms(left))
            if isinstance(t, Reduce) and isinstance(t.where, Var)
        ]
    for condition in law.conditions:
        body.condition(condition, bound)
    ruleset = "algebra" if law.stage == "cut" else law.stage
    columns = " ".join(sorts[n] for n in names)
    values = " ".join(_pattern(Var(n)) if sorts[n] == "M" else f"?{n}" for n in names)
    rule = f"(rule ({' '.join(body.parts)}) ((union e__ {_pattern(right)}) ({table} {values}))".replace("?", "v_")
    # What makes nothing new tidies up what inferences make, too.
    rulesets = (ruleset, "tidy") if ruleset == "algebra" and isinstance(right, (Var, Const)) else (ruleset,)
    return [f"(relation {table} ({columns}))", *(f"{rule} :ruleset {name})" for name in rulesets)]


class _Body:
    """The premises of one egglog rule, as text."""

    def __init__(self, known: dict[str, Axis]) -> None:
        self.parts = [f"(= v_{name} {axis_text(axis)})" for name, axis in known.items()]

    def pattern(self, part: Term, bound: set[str]) -> None:
        self.parts.append(f"(= p{len(self.parts)}__ {_pattern(part)})")
        bound |= variables(part)

    def bind(self, arg: Term | Axis, bound: set[str]) -> None:
        if isinstance(arg, Axis) and arg.name not in bound:
            self.parts.append(f"(isax v_{arg.name})")
            bound.add(arg.name)

    def condition(self, condition: Judgment, bound: set[str]) -> None:
        args = [_pattern(a) for a in condition.args]
        if condition.name == "distinct":
            for arg in condition.args:
                self.bind(arg, bound)
            self.parts.append(f"(!= {args[0]} {args[1]})")
        elif condition.name in ("free", "along"):
            self.bind(condition.args[0], bound)
            test = "set-not-contains" if condition.name == "free" else "set-contains"
            self.parts.append(f"(= s{len(self.parts)}__ (axes {args[1]})) ({test} s{len(self.parts)}__ {args[0]})")
        else:
            if condition.name in ONE:
                self.parts.append(f"(= {args[-1]} (J_{condition.name} {' '.join(args[:-1])}))")
            else:
                self.parts.append(f"(J_{condition.name} {' '.join(args)})")
            bound |= variables(*condition.args)


def _axis_names(*parts: Term | Axis) -> set[str]:
    terms = subterms(*(p for p in parts if isinstance(p, Term)))
    return {p.name for p in parts if isinstance(p, Axis)} | {
        f.name for t in terms for f in t.fields if isinstance(f, Axis)
    }
