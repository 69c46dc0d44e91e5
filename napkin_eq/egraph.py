"""The one bridge to egglog: encodes terms and laws, saturates in stages, decodes classes and the law instances that fired.

Real terms are encoded operator by operator. Integer terms and comparisons of integers are leaves: no law looks inside them.
Each law fires with a record of its substitution, so that a derivation can be explained without trusting egglog.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Any

from napkin_eq.axis import Axis
from napkin_eq.errors import NapkinError
from napkin_eq.law import JUDGMENTS, Inference, Judgment, Law, Statement, Var, variables
from napkin_eq.ops import MONOIDS, OPS
from napkin_eq.stretch import stretch_mask
from napkin_eq.term import (
    Acc,
    Const,
    Fold,
    Group,
    Index,
    Input,
    Length,
    Map,
    Online,
    Prev,
    Proj,
    Read,
    Reduce,
    Scan,
    Size,
    Store,
    Term,
    Tuple,
    Walk,
    as_real,
    subterms,
)  # fmt: skip

# Scaling makes new terms, so it is bounded: a factor for each factor of a body, and few bodies have more than four.
ALGEBRA_ROUNDS, SCALING_ROUNDS, STRUCTURE_ROUNDS, NODE_LIMIT = 6, 5, 4, 12_000
_SETTLE = "(saturate (run shape)) (saturate (run facts))"
OUTPUTS = {("scales", 2)}  # judgment arguments that inference rules make, where the others are what they are asked of
_UNARY_FACTS = ("pos", "nonneg", "nonzero", "finite")


@dataclass(frozen=True, slots=True)
class Node:
    """An e-node: a constructor, its fields that are not terms, and its children's class numbers."""

    kind: str
    fields: tuple[Any, ...]
    children: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Instance:
    """A law that fired: its substitution, from pattern variable to term or axis; `forward` is left to right.

    law "arithmetic" equates an operator over numbers (binding "left") with the number it gives ("right").
    """

    law: str
    forward: bool
    bindings: tuple[tuple[str, Term | Axis], ...]


@dataclass(slots=True)
class Saturated:
    """What saturation leaves: the nodes of every class, the root, a term of each, fired instances, and counts.

    safe: classes whose exponential is proved not to overflow; given: classes whose exponential the source itself takes;
    nonneg: classes proved to hold no negative number.
    """

    classes: dict[int, list[Node]]
    root: int
    reps: dict[int, Term]
    safe: frozenset[int]
    given: frozenset[int]
    nonneg: frozenset[int]
    instances: list[Instance]
    rounds: int
    nodes: int
    leaves: list[Term]
    notes: list[str] = field(default_factory=list)


def saturate(
    source: Term, statements: Sequence[Statement], cuts: Sequence[tuple[Axis, Axis]] = (), *, rounds: int = ALGEBRA_ROUNDS, node_limit: int = NODE_LIMIT
) -> Saturated:
    """Grow the e-graph of a term under the given laws and return it decoded.

    cuts: pairs of an axis that counts stretches and the axis they cut, offered to laws that ask for them.
    Stages: "prepare" laws once, "algebra" laws for a number of rounds or until nothing changes or the node limit is
    reached (noted), then "structure" laws. Raises NapkinError where two different numbers were merged: a false law.
    """
    return _Bridge(source, statements, cuts).run(rounds, node_limit)


def _about_several(law: Law) -> bool:
    """Whether a law is about values stored together, which is decided after extraction."""
    return any(isinstance(t, (Tuple, Proj)) or t.kind == "tuple" for t in subterms(law.lhs, law.rhs))


def _axis(axis: Axis) -> str:
    return f'(Ax "{axis.name}")'


class _Bridge:
    def __init__(self, source: Term, statements: Sequence[Statement], cuts: Sequence[tuple[Axis, Axis]] = ()) -> None:
        self.engine = _egglog().EGraph()
        self.leaves: list[Term] = []
        self.axes = {f.name: f for t in subterms(source) for f in (*t.fields, *t.axes) if isinstance(f, Axis)}
        self.axes.update({a.name: a for t in subterms(source) for a in t.axes})
        self.axes.update({part.name: part for part, _ in cuts})
        self.cuts = cuts
        self.laws = {s.name: s for s in statements if isinstance(s, Law) and not _about_several(s) and (cuts or s.stage != "cut")}
        self.inferences = [s for s in statements if isinstance(s, Inference)]
        self.source = source
        self.items = source.items if isinstance(source, Tuple) else (source,)
        self.instances: list[Instance] = []
        self.seen: set[tuple[Any, ...]] = set()
        self.reps: dict[Any, Term] = {}
        self.axis_of: dict[Any, Axis] = {}
        self.names: dict[Term, str] = {}
        self.tables: dict[str, tuple[str, bool, tuple[tuple[str, bool], ...]]] = {}

    # -- program text ------------------------------------------------------------------------------------------------

    def run(self, rounds: int, node_limit: int) -> Saturated:
        kinds = self._reachable()
        self._do("\n".join([_SORTS, *map(_constructor, kinds), _FACTS, *_axes_rules(kinds), _BASE, *self._rules(set(kinds))]))
        self._do("\n".join(f"(isax {_axis(a)})" for _, a in sorted(self.axes.items())))
        for item in self.items:
            self._encode(item)
        for part, axis in self.cuts:
            self._do(f"(J_stretch {_axis(part)} {_axis(axis)} {self._encode(stretch_mask(part, axis))})")
        self._do("\n".join(self._leaf_facts()))
        self._do(f"(run-schedule {_SETTLE})")
        self._record()
        notes: list[str] = []
        size, done = self._round("prepare"), 1
        for _ in range(rounds):
            before, size, done = size, self._round("algebra"), done + 1
            if size == before:
                break
            if size > node_limit:
                notes.append(f"saturation stopped at {size} nodes after {done} rounds (limit {node_limit}); the plan may miss forms found later")
                break
        self._do(f"(run-schedule (saturate (run more-facts)) (repeat {SCALING_ROUNDS} (run scaling) {_SETTLE} (saturate (run more-facts))))")
        for _ in range(STRUCTURE_ROUNDS):
            before, size, done = size, self._round("structure"), done + 1
            if size == before:
                break
        return self._decode(done, notes)

    def _do(self, text: str) -> None:
        try:
            self.engine.run_program(*self.engine.parse_program(text))
        except _egglog().EggSmolError as error:
            raise NapkinError(f"the e-graph refused an input: {' '.join(str(error).split())[:300]}") from None

    def _round(self, stage: str) -> int:
        self._do(f"(run-schedule (run {stage}) {_SETTLE})")
        return self._record()

    def _encode(self, term: Term) -> str:
        parts = self.names
        lines: list[str] = []
        for part in subterms(term):
            if part in parts:
                continue
            number = len(parts)
            if self._opaque(part):
                text = self._leaf(part)
            else:
                text = _text(part, [parts.get(c, "") for c in part.children])
            lines.append(f"(let $t{number} {text})")
            parts[part] = f"$t{number}"
        self._do("\n".join(lines))
        return parts[term]

    def _opaque(self, term: Term) -> bool:
        if isinstance(term, (Input, Index, Length)):
            return True
        if isinstance(term, Read):
            return isinstance(_array(term), Input)
        if isinstance(term, Const):
            return term.kind != "real" and term.value is not True
        if isinstance(term, Map):
            return term.kind == "int" or (term.kind == "bool" and all(a.kind == "int" for a in term.args))
        return False

    def _leaf(self, term: Term) -> str:
        if term not in self.leaves:
            self.leaves.append(term)
        return f"(Leaf {self.leaves.index(term)})"

    def _leaf_facts(self) -> list[str]:
        lines = []
        for number, leaf in enumerate(self.leaves):
            node = f"(Leaf {number})"
            lines.append(f"(set (axes {node}) (set-of {' '.join(_axis(a) for a in leaf.axes)}))" if leaf.axes else f"(set (axes {node}) (set-empty))")
            moving = {t.axis for t in subterms(leaf) if isinstance(t, (Size, Read))}
            lines += [f"(J_local {_axis(a)} {node})" for _, a in sorted(self.axes.items()) if a not in moving]
            if isinstance(leaf, Length) and as_real(leaf) in self.names:
                lines += [f"(J_{fact} {self.names[as_real(leaf)]})" for fact in _UNARY_FACTS]
            if leaf.kind == "real":
                lines.append(f"(J_finite {node})")
                lines += [f"(J_{fact} {node})" for fact in getattr(_array(leaf), "facts", ()) if fact in _UNARY_FACTS]
        return lines

    def _directions(self) -> Iterator[tuple[Law, Term, Term, str]]:
        for law in self.laws.values():
            yield law, law.lhs, law.rhs, law.name
            if law.both:
                yield law, law.rhs, law.lhs, law.name + "~"

    def _reachable(self) -> list[str]:
        """Return the constructors that the source has, or that laws can make of it; no other law can ever fire."""
        found = {_head(t) for t in (*subterms(*self.items), *(stretch_mask(*cut) for cut in self.cuts)) if not self._opaque(t)} | _ALWAYS
        directions = [(_heads(left), _heads(right)) for _, left, right, _ in self._directions()]
        while new := {head for left, right in directions if left <= found for head in right - found}:
            found |= new
        return [kind for kind in _KINDS if kind in found]

    def _rules(self, kinds: set[str]) -> list[str]:
        lines = []
        early = self._early_judgments()
        for law, left, right, name in self._directions():
            if _heads(left) <= kinds:
                lines += self._law_rule(law, left, right, name)
        for rule in self.inferences:
            spoken = [a for judgment in (rule.conclusion, *rule.premises) for a in judgment.args if isinstance(a, Term)]
            if not _heads(*spoken) <= kinds:
                continue
            body, bound = _Body(), set[str]()
            for place, arg in enumerate(rule.conclusion.args):
                if isinstance(arg, Term) and not isinstance(arg, Var) and (rule.conclusion.name, place) not in OUTPUTS:
                    body.pattern(arg, bound)
            for premise in rule.premises:
                body.condition(premise, bound)
            for arg in rule.conclusion.args:
                body.bind(arg, bound)
            made = any(name == rule.conclusion.name for name, _ in OUTPUTS)
            ruleset = "scaling" if made else "facts" if rule.conclusion.name in early else "more-facts"
            head = " ".join(_pattern(a) for a in rule.conclusion.args)
            lines.append(f"(rule ({' '.join(body.parts)}) ((J_{rule.conclusion.name} {head})) :ruleset {ruleset})")
        return lines

    def _early_judgments(self) -> set[str]:
        needed = {c.name for law in self.laws.values() if law.stage != "structure" for c in law.conditions}
        while True:
            more = {p.name for rule in self.inferences if rule.conclusion.name in needed for p in rule.premises}
            if more <= needed:
                return needed
            needed |= more

    def _law_rule(self, law: Law, left: Term, right: Term, name: str) -> list[str]:
        names = sorted(variables(left) | {n for c in law.conditions if c.name in ("scales", "absent", "zero", "along", "stretch") for n in variables(*c.args)})
        axes = _axis_names(left, right, *(a for c in law.conditions for a in c.args))
        sorts = {n: "A" if n in axes else "M" for n in names}
        table = f"fired_{name.replace('-', '_').replace('~', '_rev')}"
        self.tables[table] = (law.name, not name.endswith("~"), tuple((n, sorts[n] == "A") for n in names))
        body, bound = _Body(), set[str]()
        body.parts.append(f"(= e__ {_pattern(left)})" if not isinstance(left, Var) else f"(real e__) (= e__ {_pattern(left)})")
        bound |= variables(left)
        for condition in law.conditions:
            body.condition(condition, bound)
        ruleset = "algebra" if law.stage == "cut" else law.stage
        columns = " ".join(sorts[n] for n in names)
        values = " ".join(_pattern(Var(n)) if sorts[n] == "M" else f"?{n}" for n in names)
        return [
            f"(relation {table} ({columns}))",
            f"(rule ({' '.join(body.parts)}) ((union e__ {_pattern(right)}) ({table} {values})) :ruleset {ruleset})".replace("?", "v_"),
        ]

    # -- reading back ------------------------------------------------------------------------------------------------

    def _record(self) -> int:
        """Give every new class a representative term and turn new firing records into instances; return the node count."""
        tables = self.engine.freeze().functions
        for row in tables["Ax"].rows:
            self.axis_of[row.output] = self.axes[self.engine.value_to_string(row.inputs[0])]
        rows = [(kind, row) for kind in _KINDS if kind in tables for row in tables[kind].rows]
        waiting = [(k, r) for k, r in rows if r.output not in self.reps]
        while waiting:
            later = []
            for kind, row in waiting:
                if row.output in self.reps:
                    continue
                try:
                    children = tuple(self.reps[row.inputs[i]] for i in _KINDS[kind])
                except KeyError:
                    later.append((kind, row))
                    continue
                self.reps[row.output] = self._built(kind, row.inputs, children)
            if len(later) == len(waiting):
                break
            waiting = later
        for table in self.tables:
            for row in tables[table].rows:
                self._fired(table, row.inputs)
        for op in ("add", "mul", "neg"):
            for row in tables[f"folded_{op}"].rows:
                self._folded(op, [self.engine.value_to_f64(v) for v in row.inputs])
        return len(rows)

    def _fired(self, table: str, inputs: list[Any]) -> None:
        key = (table, *inputs)
        if key in self.seen:
            return
        self.seen.add(key)
        law, forward, names = self.tables[table]
        bindings = tuple((n, self.axis_of[v] if is_axis else self.reps[v]) for (n, is_axis), v in zip(names, inputs, strict=True))
        self.instances.append(Instance(law, forward, bindings))

    def _folded(self, op: str, numbers: list[float]) -> None:
        key = (op, *numbers)
        if key not in self.seen:
            self.seen.add(key)
            left = Map(op, tuple(map(Const, numbers)))
            self.instances.append(Instance("arithmetic", True, (("left", left), ("right", Const(computed(op, numbers))))))

    def _built(self, kind: str, inputs: list[Any], children: tuple[Term, ...]) -> Term:
        return built(kind, self._fields(kind, inputs), children, self.leaves)

    def _fields(self, kind: str, inputs: list[Any]) -> tuple[Any, ...]:
        if kind == "Leaf":
            return (self.engine.value_to_i64(inputs[0]),)
        if kind == "Num":
            return (self.engine.value_to_f64(inputs[0]),)
        fields: list[Any] = [self.axis_of[inputs[i]] for i in _AXIS_AT.get(kind, ())]
        if kind in _FLAGGED:
            fields.append(bool(self.engine.value_to_i64(inputs[-1])))
        return tuple(fields)

    def _value(self, name: str) -> Any:
        return self.engine.eval_expr(_egglog().Var(_egglog().PanicSpan(), name))[1]

    def _decode(self, rounds: int, notes: list[str]) -> Saturated:
        tables = self.engine.freeze().functions
        number: dict[Any, int] = {}
        rows = [(kind, row) for kind in _KINDS if kind in tables for row in tables[kind].rows]
        for _, row in rows:
            number.setdefault(row.output, len(number))
        classes: dict[int, list[Node]] = {i: [] for i in range(len(number))}
        for kind, row in rows:
            children = tuple(number[row.inputs[i]] for i in _KINDS[kind])
            classes[number[row.output]].append(Node(kind, self._fields(kind, row.inputs), children))
        for nodes in classes.values():
            numbers = [n.fields[0] for n in nodes if n.kind == "Num"]
            if numbers and not math.isclose(min(numbers), max(numbers), rel_tol=1e-9, abs_tol=1e-300):
                raise NapkinError(f"false equality: the laws made {min(numbers)} equal to {max(numbers)}; one of them is not true, run `napkin-eq prove`")
        safe = frozenset(number[row.inputs[0]] for row in tables["J_safe"].rows)
        nonneg = frozenset(number[row.inputs[0]] for name in ("J_nonneg", "J_pos") for row in tables[name].rows)
        exponents = [t.args[0] for t in subterms(self.source) if isinstance(t, Map) and t.op == "exp"]
        given = frozenset(number[self._value(self.names[t])] for t in exponents)
        reps = {number[v]: t for v, t in self.reps.items() if v in number}
        roots = tuple(number[self._value(self.names[item])] for item in self.items)
        root = roots[0]
        if isinstance(self.source, Tuple):
            root = len(classes)
            classes[root] = [Node("Tuple", (), roots)]
        return Saturated(classes, root, reps, safe, given, nonneg, self.instances, rounds, len(rows), self.leaves, notes)


@cache
def _egglog() -> Any:
    """Load egglog's compiled engine alone: its Python language takes a quarter of a second to import, and nothing here speaks it."""
    if "egglog" not in sys.modules:
        found = find_spec("egglog")
        places = list(found.submodule_search_locations or ()) if found else []
        spec = PathFinder.find_spec("egglog.bindings", places)
        if spec is None or spec.loader is None:
            raise NapkinError("egglog is not installed (no compiled egglog.bindings was found); install napkin-eq with its dependencies")
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    return import_module("egglog.bindings")


def _array(term: Term) -> Term:
    while isinstance(term, Read):
        term = term.body
    return term


def computed(op: str, numbers: list[float]) -> float:
    """Return an operator over numbers in double precision."""
    return math.fsum(numbers) if op == "add" else math.prod(numbers) if op == "mul" else -numbers[0]


def built(kind: str, fields: tuple[Any, ...], children: tuple[Term, ...], leaves: Sequence[Term]) -> Term:
    """Return the term of an e-node."""
    head, _, rest = kind.partition("_")
    if kind == "Leaf":
        leaf: int = fields[0]
        return leaves[leaf]
    if kind == "Num":
        return Const(fields[0])
    if kind == "Absent":
        return Const(-math.inf)
    if kind == "Yes":
        return Const(True)
    if head == "op":
        return Map(rest, children)
    if head == "Reduce":
        return Reduce(rest, fields[0], *children)
    if head == "Fold":
        return Fold(rest, fields[0], children[0], children[1], fields[1])
    if head == "Scan":
        return Scan(rest, fields[0], *children)
    if kind == "Online":
        return Online(fields[0], children[0], children[1], children[2], fields[1])
    if kind == "Read":
        return Read(children[0], fields[0], children[1])
    if kind == "Tuple":
        return Tuple(children)
    make: Any = {"SizeOf": Size, "Store": Store, "Group": Group, "Walk": Walk, "Acc": Acc, "Prev": Prev}[kind]
    found: Term = make(*fields, *children)
    return found


# Constructor → positions of its term arguments among its columns; axes first, a flag last.
_KINDS: dict[str, tuple[int, ...]] = {"Leaf": (), "Num": (), "Absent": (), "Yes": (), "SizeOf": (), "Acc": ()}
_KINDS |= {f"op_{op.name}": tuple(range(len(op.takes))) for op in OPS.values()}
_KINDS |= {f"Reduce_{m}": (1, 2) for m in MONOIDS} | {f"Fold_{m}": (1, 2) for m in MONOIDS} | {f"Scan_{m}": (1,) for m in MONOIDS}
_KINDS |= {"Online": (1, 2, 3), "Read": (1, 2), "Store": (0,), "Group": (1,), "Walk": (1,), "Prev": (0,)}
_AXIS_AT = {k: (0,) for k in _KINDS if k.split("_")[0] in ("Reduce", "Fold", "Scan", "Online", "Read", "Group", "Walk", "SizeOf")}
_FLAGGED = frozenset(k for k in _KINDS if k.startswith("Fold_")) | {"Online"}
_ALWAYS = {"Leaf", "Num", "Absent", "Yes", "SizeOf", "op_add", "op_mul", "op_neg", "op_real"}  # the base rules speak of these
_BINDERS = tuple(k for k in _KINDS if k.split("_")[0] in ("Reduce", "Fold", "Online"))

_SORTS = "(sort A) (sort M) (constructor Ax (String) A) (sort Axes (Set A)) (ruleset shape) (ruleset facts) (ruleset more-facts) (ruleset scaling)" + "".join(
    f" (ruleset {stage})" for stage in ("prepare", "algebra", "structure")
)


def _columns(kind: str) -> str:
    if kind in ("Leaf", "Num"):
        return "i64" if kind == "Leaf" else "f64"
    return " ".join(["A"] * len(_AXIS_AT.get(kind, ())) + ["M"] * len(_KINDS[kind]) + ["i64"] * (kind in _FLAGGED))


def _constructor(kind: str) -> str:
    return f"(constructor {kind} ({_columns(kind)}) M)"


_FACTS = "(function axes (M) Axes :merge (set-intersect old new)) (relation isax (A)) (relation real (M))" + "".join(
    f" (relation J_{name} ({' '.join('A' if t == 'axis' else 'M' for t in takes)}))" for name, (takes, _) in JUDGMENTS.items()
)


def _axes_rules(kinds: Iterable[str]) -> Iterable[str]:
    """Rules that give every class its free axes: an upper bound, narrowed by every form that shows fewer."""
    for kind in kinds:
        if kind == "Leaf":
            continue
        places = _KINDS[kind]
        columns = [f"c{i}" for i in range(len(_columns(kind).split()))]
        premises = " ".join(f"(= s{i} (axes c{i}))" for i in places)
        union = "(set-empty)"
        for i in places:
            union = f"s{i}" if union == "(set-empty)" else f"(set-union {union} s{i})"
        if kind in _BINDERS:
            union = f"(set-remove {union} c0)"
        elif kind.startswith("Scan"):
            union = f"(set-insert {union} c0)"
        elif kind == "Read":
            union = "(set-union (set-remove s1 c0) s2)"
        real = "(real e)" if kind.startswith("op_") and OPS[kind[3:]].gives != "bool" or kind in _BINDERS or kind.startswith("Scan") else ""
        yield f"(rule ((= e ({kind} {' '.join(columns)})) {premises}) ((set (axes e) {union}) {real}) :ruleset shape)"


_BASE = """
(rule ((= e (Num v))) ((J_finite e)) :ruleset facts)
(rule ((= e (Num v)) (> v 0.0)) ((J_pos e)) :ruleset facts)
(rule ((= e (Num v)) (>= v 0.0)) ((J_nonneg e)) :ruleset facts)
(rule ((= e (Num v)) (!= v 0.0)) ((J_nonzero e)) :ruleset facts)
(rule ((= e (op_real a))) ((J_finite e)) :ruleset facts)
(rule ((= e (Num v)) (isax x)) ((J_local x e)) :ruleset more-facts)
(rule ((= e (op_real a)) (J_local x a)) ((J_local x e)) :ruleset more-facts)
(rule ((= e (Yes)) (isax x)) ((J_local x e)) :ruleset more-facts)
(rule ((= e (SizeOf y)) (isax x) (!= x y)) ((J_local x e)) :ruleset more-facts)
(rule ((= e (Absent)) (isax x)) ((J_local x e)) :ruleset more-facts)
(relation folded_add (f64 f64)) (relation folded_mul (f64 f64)) (relation folded_neg (f64))
(rule ((= e (op_add (Num a) (Num b)))) ((union e (Num (+ a b))) (folded_add a b)) :ruleset algebra)
(rule ((= e (op_mul (Num a) (Num b)))) ((union e (Num (* a b))) (folded_mul a b)) :ruleset algebra)
(rule ((= e (op_neg (Num a)))) ((union e (Num (neg a))) (folded_neg a)) :ruleset algebra)
"""


def _text(term: Term, children: list[str]) -> str:
    """Write one node as an egglog expression over its children's expressions."""
    match term:
        case Const():
            return "(Yes)" if term.value is True else "(Absent)" if term.value == -math.inf else f"(Num {float(term.value)!r})"
        case Map():
            return f"(op_{term.op} {' '.join(children)})"
        case Size():
            return f"(SizeOf {_axis(term.axis)})"
        case Reduce() | Scan():
            return f"({type(term).__name__}_{term.monoid} {_axis(term.axis)} {' '.join(children)})"
        case Fold():
            return f"(Fold_{term.monoid} {_axis(term.axis)} {' '.join(children)} {int(term.fused)})"
        case Online():
            return f"(Online {_axis(term.axis)} {' '.join(children)} {int(term.fused)})"
        case Read():
            return f"(Read {_axis(term.axis)} {' '.join(children)})"
        case Group() | Walk():
            return f"({type(term).__name__} {_axis(term.axis)} {' '.join(children)})"
        case Store() | Prev() | Acc():
            return f"({type(term).__name__} {' '.join(children)})"
    raise NapkinError(f"{type(term).__name__} cannot enter the e-graph here: derive each output of a tuple")


def _head(term: Term) -> str:
    """Return the constructor of a term's node."""
    return _text(term, [""] * len(term.children)).partition(" ")[0].strip("()")


def _heads(*patterns: Term) -> set[str]:
    """Return the constructors that a law's patterns show."""
    return {"Num" if isinstance(t, Var) else _head(t) for t in subterms(*patterns) if not isinstance(t, Var) or t.sort == "number"}


def _pattern(part: Term | Axis) -> str:
    """Write a law's pattern; variables become v_NAME."""
    if isinstance(part, Axis):
        return f"v_{part.name}"
    if isinstance(part, Var):
        return f"(Num v_{part.name})" if part.sort == "number" else f"v_{part.name}"
    text = _text(part, [_pattern(c) for c in part.children])
    for field_ in part.fields:
        if isinstance(field_, Axis):
            text = text.replace(_axis(field_), f"v_{field_.name}")
    return text


class _Body:
    """The premises of one egglog rule, as text."""

    def __init__(self) -> None:
        self.parts: list[str] = []

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
            self.parts.append(f"(J_{condition.name} {' '.join(args)})")
            bound |= variables(*condition.args)


def _axis_names(*parts: Term | Axis) -> set[str]:
    terms = subterms(*(p for p in parts if isinstance(p, Term)))
    return {p.name for p in parts if isinstance(p, Axis)} | {f.name for t in terms for f in t.fields if isinstance(f, Axis)}

