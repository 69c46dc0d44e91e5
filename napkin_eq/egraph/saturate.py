"""The one bridge to egglog: encodes terms and laws, saturates in stages, decodes classes and the law instances that
fired.

Real terms are encoded operator by operator. Integer terms and comparisons of integers are leaves: no law looks inside
them. Each law fires with a record of its substitution, so that a derivation can be explained without trusting egglog.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from itertools import accumulate
from typing import Any

from napkin_eq.egraph.budget import METER, Budget
from napkin_eq.egraph.coordinates import array_of, opaque
from napkin_eq.egraph.encoding import (
    BASE,
    FACTS,
    SORTS,
    Table,
    axes_rules,
    axis_text,
    constructor,
    reachable,
    rules,
    text_of,
)
from napkin_eq.egraph.nodes import AXIS_AT, FLAGGED, KINDS, Instance, Merged, Node, Saturated, built, computed, tied
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Const, Group, Length, Map, Proj, Read, Size, Store, Term, Tuple, Walk, as_real, subterms
from napkin_eq.laws.axis_split import stretch_mask
from napkin_eq.laws.law import TRUE, Inference, Law, Statement

# Scaling makes new terms, so it is bounded: a factor for each factor of a body, and few bodies have more than four.
ALGEBRA_ROUNDS, SCALING_ROUNDS, STRUCTURE_ROUNDS, NODE_LIMIT = 6, 5, 4, 12_000
# A round of many nodes makes many more at once, and the engine cannot be stopped within one: no round is begun that
# would pass this. A round that may make so many is looked at before it is run, and what would fire more often than that
# is left out of it.
LARGEST_ROUND, LOOKED, MOST_FACTORS, SATURATING = 12_000, 4_000, 400, 0.3
SAME_VALUE = "where-same"  # the law by which a value gets axes that it does not vary along
_SETTLE = "(saturate (run shape)) (saturate (run facts))"
_UNARY_FACTS = ("pos", "nonneg", "nonzero", "finite")


def saturate(
    source: Term,
    statements: Sequence[Statement],
    cuts: Sequence[tuple[Axis, Axis]] = (),
    *,
    rounds: int = ALGEBRA_ROUNDS,
    node_limit: int = NODE_LIMIT,
    budget: Budget | None = None,
) -> Saturated:
    """Grow the e-graph of a term under the given laws and return it decoded.

    cuts: pairs of an axis that counts stretches and the axis they cut, offered to laws that ask for them.
    Stages: "prepare" laws once, "algebra" laws for a number of rounds or until nothing changes or the node limit is
    reached (noted), then "structure" laws. Raises NapkinError where two different numbers were merged: a false law.
    """
    budget = budget or Budget()
    return _Bridge(source, statements, cuts, budget).run(rounds, round(node_limit * budget.work))


def _decided_later(law: Law) -> bool:
    """Whether a law is about where values lie: what is decided after extraction.

    In which blocks they are computed, which are stored together, along which axes: every value may be stored and
    partitioned, so that such nodes would be more than half of an e-graph, and nothing would be read off them. Or one
    that a search cites for a form which it makes itself.
    """
    return law.stage == "cited" or law.name == SAME_VALUE or any(
        isinstance(t, (Store, Group, Walk, Tuple, Proj)) or t.kind == "tuple" for t in subterms(law.lhs, law.rhs)
    )


class _Bridge:
    def __init__(
        self, source: Term, statements: Sequence[Statement], cuts: Sequence[tuple[Axis, Axis]], budget: Budget
    ) -> None:
        self.budget = budget
        self.engine = _egglog().EGraph()
        self.leaves: list[Term] = []
        self.axes = {f.name: f for t in subterms(source) for f in (*t.fields, *t.axes) if isinstance(f, Axis)}
        self.axes.update({a.name: a for t in subterms(source) for a in t.axes})
        self.axes.update({part.name: part for part, _ in cuts})
        self.cuts = cuts
        self.laws = {
            s.name: s for s in statements if isinstance(s, Law) and not _decided_later(s) and (cuts or s.stage != "cut")
        }
        self.inferences = [s for s in statements if isinstance(s, Inference)]
        self.source = source
        self.items = source.items if isinstance(source, Tuple) else (source,)
        self.instances: list[Instance] = []
        self.seen: set[tuple[Any, ...]] = set()
        self.merged: list[Merged] = []
        self.reps: dict[Any, Term] = {}
        # Of each class: the row that its representative was made of
        self.rows: dict[Any, tuple[str, tuple[Any, ...]]] = {}
        self.joined: dict[Any, Any] = {}  # of each class that there was once: the one that it was merged with
        self.axis_of: dict[Any, Axis] = {}
        self.names: dict[Term, str] = {}
        self.tables: dict[str, Table] = {}
        self.left_out = 0  # times that laws would have fired in rounds from which they were left out

    def run(self, rounds: int, node_limit: int) -> Saturated:
        METER.did("engine")
        laws = [*self.laws.values()]
        kinds = reachable((*subterms(*self.items), *(stretch_mask(*cut) for cut in self.cuts)), laws, self.inferences)
        axes = [axis for _, axis in sorted(self.axes.items())]
        entered = rules(laws, self.inferences, set(kinds), self.tables, axes, self._number)
        self._do("\n".join([SORTS, *map(constructor, kinds), FACTS, *axes_rules(kinds), BASE, *entered]))
        self._do("\n".join(f"(isax {axis_text(a)})" for _, a in sorted(self.axes.items())))
        for item in self.items:
            self._encode(item)
        for part, axis in self.cuts:
            self._do(f"(J_stretch {axis_text(part)} {axis_text(axis)} {self._encode(stretch_mask(part, axis))})")
        if self.cuts:
            self._encode(TRUE)  # which laws of folds that are cut ask masks not to be
        self._do("\n".join(self._leaf_facts()))
        self._do(f"(run-schedule {_SETTLE})")
        self._record()
        notes: list[str] = []
        before = size = self._round("prepare")
        done = 1
        for _ in range(rounds):
            before, size, done = size, self._round("algebra", size * size / before), done + 1
            self.budget.clock.note("saturation", nodes=size, rounds=done)
            if size == before:
                break
            if size > node_limit or size * size / before > LARGEST_ROUND or self.budget.over("saturation", SATURATING):
                notes.append(
                    f"saturation stopped at {size} nodes after {done} rounds; the plan may miss forms found later"
                )
                break
        self._scale()
        for _ in range(STRUCTURE_ROUNDS):
            before, size, done = size, self._round("structure", size), done + 1
            if size == before or self.budget.over("saturation", SATURATING):
                break
        if self.left_out:
            notes.append(
                f"laws that would have fired {self.left_out} times in one round were left out of it; the plan may miss"
                " forms found later"
            )
        made = self._decode(done, notes)
        self.budget.clock.note("saturation", nodes=size, classes=len(made.classes), rounds=done)
        return made

    def _scale(self) -> None:
        """Find the factors by which streams scale, round by round: a product of terms that scale scales by every
        product of their factors.
        """
        self._do("(run-schedule (saturate (run more-facts)))")
        if self._scaled("scaling"):
            for _ in range(SCALING_ROUNDS):
                if not self._scaled("scaling-by-sums", 1) or not self._scaled("scaling"):
                    break

    def _scaled(self, ruleset: str, rounds: int = SCALING_ROUNDS) -> bool:
        """Run rules that make factors for a few rounds; tell whether there is room for more."""
        for _ in range(rounds):
            once = self._within(ruleset) if len(self.instances) > LOOKED else f"(run {ruleset})"
            changed = self._changes(f"{once} (saturate (run tidy)) {_SETTLE} (saturate (run more-facts))")
            if self._count("J_scales") > MOST_FACTORS or self.budget.over("saturation", SATURATING):
                return False
            if not changed:
                break  # to look whether a round is too large takes as long as the round
        return True

    def _changes(self, schedule: str) -> bool:
        """Run a schedule; tell whether anything came of it."""
        (said,) = self.engine.run_program(*self.engine.parse_program(f"(run-schedule {schedule})"))
        return bool(said.report.updated)

    def _count(self, table: str) -> int:
        """Return how many rows a table of the engine has."""
        (said,) = self.engine.run_program(*self.engine.parse_program(f"(print-size {table})"))
        return int(said.size)

    def _do(self, text: str) -> None:
        try:
            self.engine.run_program(*self.engine.parse_program(text))
        except _egglog().EggSmolError as error:
            raise NapkinError(f"the e-graph refused an input: {' '.join(str(error).split())[:300]}") from None

    def _round(self, stage: str, expected: float = 0.0) -> int:
        self._do(f"(run-schedule {self._within(stage) if expected > LOOKED else f'(run {stage})'} {_SETTLE})")
        return self._record()

    def _within(self, stage: str) -> str:
        """Return the schedule of a round without the laws that would fire most often, as many as must go so that it is
        no larger than a round may be.
        """
        look = f"(run-schedule (let-scheduler look (back-off :match-limit 0 :ban-length 1)) (run-with look {stage}))"
        (said,) = self.engine.run_program(*self.engine.parse_program(look))
        found = (
            report
            for step in said.report.iterations
            for rule in step.rule_set_report.rule_reports.values()
            for report in rule
        )
        counts, fired = sorted(report.num_matches for report in found), len(self.instances)
        fewer = [
            count for count, total in zip(counts, accumulate(counts), strict=True) if total <= fired + LARGEST_ROUND
        ]
        if len(fewer) == len(counts):
            return f"(run {stage})"
        self.left_out += sum(counts[len(fewer) :])
        return (
            f"(let-scheduler few (back-off :match-limit {max(fewer, default=0)} :ban-length 1)) (run-with few {stage})"
        )

    def _encode(self, term: Term) -> str:
        parts = self.names
        lines: list[str] = []
        for part in subterms(term):
            if part in parts:
                continue
            number = len(parts)
            if opaque(part):
                text = self._leaf(part)
            else:
                text = text_of(part, [parts.get(c, "") for c in part.children])
            # No name is another's with digits after it: the engine names the second place of $t1 in an expression $t11
            lines.append(f"(let $t{number}_ {text})")
            parts[part] = f"$t{number}_"
        self._do("\n".join(lines))
        return parts[term]

    def _leaf(self, term: Term) -> str:
        return f"(Leaf {self._number(term)})"

    def _number(self, term: Term) -> int:
        if term not in self.leaves:
            self.leaves.append(term)
        return self.leaves.index(term)

    def _leaf_facts(self) -> list[str]:
        lines = []
        for number, leaf in enumerate(self.leaves):
            node = f"(Leaf {number})"
            lines.append(
                f"(set (axes {node}) (set-of {' '.join(axis_text(a) for a in leaf.axes)}))"
                if leaf.axes
                else f"(set (axes {node}) (set-empty))"
            )
            moving = {t.axis for t in subterms(leaf) if isinstance(t, (Size, Read))}
            lines += [f"(J_local {axis_text(a)} {node})" for _, a in sorted(self.axes.items()) if a not in moving]
            if isinstance(leaf, Length) and as_real(leaf) in self.names:
                lines += [f"(J_{fact} {self.names[as_real(leaf)]})" for fact in _UNARY_FACTS]
            if leaf.kind == "real":
                lines.append(f"(J_finite {node})")
                lines += [f"(J_{fact} {node})" for fact in getattr(array_of(leaf), "facts", ()) if fact in _UNARY_FACTS]
        return lines

    def _record(self) -> int:
        """Give every new class a representative term and turn new firing records into instances; return the
        node count.
        """
        tables = self.engine.freeze().functions
        for row in tables["Ax"].rows:
            self.axis_of[row.output] = self.axes[self.engine.value_to_string(row.inputs[0])]
        rows = [(kind, row) for kind in KINDS if kind in tables for row in tables[kind].rows]
        merged = self._merged(rows)
        waiting = [(k, r) for k, r in rows if r.output not in self.reps]
        while waiting:
            later = []
            for kind, row in waiting:
                if row.output in self.reps:
                    continue
                try:
                    children = tuple(self.reps[row.inputs[i]] for i in KINDS[kind])
                except KeyError:
                    later.append((kind, row))
                    continue
                self.reps[row.output] = self._built(kind, row.inputs, children)
                self.rows[row.output] = kind, tuple(row.inputs)
            if len(later) == len(waiting):
                break
            waiting = later
        for table in self.tables:
            for row in tables[table].rows:
                self._fired(table, row.inputs, merged)
        for op in ("add", "mul", "neg"):
            for row in tables[f"folded_{op}"].rows:
                self._folded(op, [self.engine.value_to_bigrat(v) for v in row.inputs])
        METER.did("node", len(rows))
        return len(rows)

    def _merged(self, rows: list[tuple[str, Any]]) -> dict[Any, list[Term]]:
        """Return the representatives of classes that have gone since the last record, by the class that each is part of
        now.
        """
        at = {(kind, *row.inputs): row.output for kind, row in rows}
        there = set(at.values())
        gone = [value for value in self.rows if value not in there and value not in self.joined]
        found: dict[Any, list[Term]] = {}
        while gone:
            later = []
            for value in gone:
                kind, inputs = self.rows[value]
                places = KINDS[kind]
                key = (kind, *(self._joined(v) if i in places else v for i, v in enumerate(inputs)))
                if key in at:
                    self.joined[value] = at[key]
                    found.setdefault(at[key], []).append(self.reps[value])
                else:
                    later.append(value)  # a class below has gone, too, or the row has
            if len(later) == len(gone):
                break
            gone = later
        return found

    def _joined(self, value: Any) -> Any:
        """Return the class that a class is part of now."""
        while value in self.joined:
            value = self.joined[value]
        return value

    def _fired(self, table: str, inputs: list[Any], merged: dict[Any, list[Term]]) -> None:
        """Enter an instance of the terms that its classes stand for, and beside it those of classes that the same round
        merged with these.

        What merged a class may be the very law that fired of it: from 1 · n = n it is not seen that n is what 1 · n is
        part of.
        """
        key = (table, *inputs)
        known = key in self.seen
        if known and (not merged or merged.keys().isdisjoint(inputs)):
            return
        self.seen.add(key)
        law, forward, names = self.tables[table]
        if any(
            value not in (self.axis_of if is_axis else self.reps)
            for (_, is_axis), value in zip(names, inputs, strict=True)
        ):
            # The engine may leave a variable unset that a rule only records, as c of a law that makes a of where(c, a,
            # a)
            return
        values: list[list[Term | Axis]] = []
        for (_, is_axis), value in zip(names, inputs, strict=True):
            values.append([self.axis_of[value]] if is_axis else [self.reps[value], *merged.get(value, ())])
        if not known:
            self.instances.append(
                Instance(law, forward, tuple((n, found[0]) for (n, _), found in zip(names, values, strict=True)))
            )
        if any(len(found) > 1 for found in values):
            self.merged.append(
                Merged(law, forward, tuple((n, tuple(found)) for (n, _), found in zip(names, values, strict=True)))
            )

    def _folded(self, op: str, numbers: list[Fraction]) -> None:
        key = (op, *numbers)
        if key not in self.seen:
            self.seen.add(key)
            left = Map(op, tuple(map(Const, numbers)))
            self.instances.append(
                Instance("arithmetic", True, (("left", left), ("right", Const(computed(op, numbers)))))
            )

    def _built(self, kind: str, inputs: list[Any], children: tuple[Term, ...]) -> Term:
        return built(kind, self._fields(kind, inputs), children, self.leaves)

    def _fields(self, kind: str, inputs: list[Any]) -> tuple[Any, ...]:
        if kind == "Leaf":
            return (self.engine.value_to_i64(inputs[0]),)
        if kind == "Num":
            return (Const(self.engine.value_to_bigrat(inputs[0])).value,)
        fields: list[Any] = [self.axis_of[inputs[i]] for i in AXIS_AT.get(kind, ())]
        if kind in FLAGGED:
            fields.append(bool(self.engine.value_to_i64(inputs[-1])))
        return tuple(fields)

    def _value(self, name: str) -> Any:
        return self.engine.eval_expr(_egglog().Var(_egglog().PanicSpan(), name))[1]

    def _decode(self, rounds: int, notes: list[str]) -> Saturated:
        tables = self.engine.freeze().functions
        number: dict[Any, int] = {}
        rows = [(kind, row) for kind in KINDS if kind in tables for row in tables[kind].rows]
        for _, row in rows:
            number.setdefault(row.output, len(number))
        classes: dict[int, list[Node]] = {i: [] for i in range(len(number))}
        for kind, row in rows:
            children = tuple(number[row.inputs[i]] for i in KINDS[kind])
            classes[number[row.output]].append(Node(kind, self._fields(kind, row.inputs), children))
        for nodes in classes.values():
            numbers = [n.fields[0] for n in nodes if n.kind == "Num"]
            if len(set(numbers)) > 1:
                raise NapkinError(
                    f"false equality: the laws made {min(numbers)} equal to {max(numbers)}; one of them is not true,"
                    " run `napkin-eq prove`"
                )
        safe = frozenset(number[row.inputs[0]] for row in tables["J_safe"].rows)
        nonneg = frozenset(number[row.inputs[0]] for name in ("J_nonneg", "J_pos") for row in tables[name].rows)
        exponents = [t.args[0] for t in subterms(self.source) if isinstance(t, Map) and t.op == "exp"]
        given = frozenset(number[self._value(self.names[t])] for t in exponents)
        reps = {number[v]: t for v, t in self.reps.items() if v in number}
        compared = [t for t in subterms(self.source) if tied(t)]
        places = {t: number[self._value(self.names[t])] for t in subterms(*compared)}
        roots = tuple(number[self._value(self.names[item])] for item in self.items)
        root = roots[0]
        if isinstance(self.source, Tuple):
            root = len(classes)
            classes[root] = [Node("Tuple", (), roots)]
        ties = {places[t]: t for t in compared}
        sources: dict[int, Term] = {}
        for part in subterms(self.source):
            if part in self.names and part.kind == "real":
                sources.setdefault(number[self._value(self.names[part])], part)
        return Saturated(
            classes,
            root,
            reps,
            safe,
            given,
            nonneg,
            self.instances,
            rounds,
            len(rows),
            self.leaves,
            notes,
            ties,
            places,
            sources,
            self.merged,
        )


def threaded() -> bool:
    """Tell whether egglog has begun threads in this process, without which its engine waits for ever in a process
    forked off.
    """
    return _egglog.cache_info().currsize > 0


@cache
def _egglog() -> Any:
    """Load egglog's compiled engine alone: its Python language takes a quarter of a second to import, and nothing here
    speaks it.
    """
    if "egglog" not in sys.modules:
        found = find_spec("egglog")
        places = list(found.submodule_search_locations or ()) if found else []
        spec = PathFinder.find_spec("egglog.bindings", places)
        if spec is None or spec.loader is None:
            raise NapkinError(
                "egglog is not installed (no compiled egglog.bindings was found); install napkin-eq with its"
                " dependencies"
            )
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    return import_module("egglog.bindings")
