"""A derivation as the few moves that a person would name: its steps grouped by what their laws change.

A law is classed by its two sides alone: the folds, passes, blocks and stores that only the right one has.
Steps that only rearrange what is pointwise belong to the step that they prepare, the next one that does more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from napkin_eq.draw.margins import amount
from napkin_eq.egraph.congruence import ARITHMETIC, Step
from napkin_eq.lang.dtypes import STORAGE
from napkin_eq.lang.operators import REDUCTIONS
from napkin_eq.lang.term import Fold, Group, Map, Online, Proj, Reduce, Store, Term, Tuple, Walk, subterms
from napkin_eq.laws.law import Law, Statement
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.pipeline.report import passes, unfused_bytes
from napkin_eq.pipeline.text import Shorthand, part
from napkin_eq.search.derivation import Output
from napkin_eq.tile.resources import BYTES
from napkin_eq.tile.stream_facts import Streamed, fold_key

SETTLED, SHARED, STORED = "arranged", "passes shared", "output stored"
LAST = (
    SHARED,
    "blocks walked",
    "blocks grouped",
    "computed together",
    STORED,
)  # what is computed together and where, when it is known how


@dataclass(frozen=True, slots=True)
class Used:
    """A law of a move: its name, reading and grade, how many of the steps are its, and how many different ones."""

    law: str
    reading: str
    grade: str
    count: int
    different: int


@dataclass(frozen=True, slots=True)
class Move:
    """A move: its title, its main law first among those that it used, its steps, and the measures before and after it.

    shown: the subterm of its first main step, before and after, as text; before, after: kernels, passes and bytes.
    """

    title: str
    laws: tuple[Used, ...]
    steps: tuple[Step, ...]
    shown: tuple[str, str]
    before: dict[str, int]
    after: dict[str, int]

    @property
    def grade(self) -> str:
        """The weakest grade of its laws."""
        return max((used.grade for used in self.laws), default="A")

    @property
    def effect(self) -> str:
        """What it did to kernels, passes and bytes; "" if nothing."""
        changed = [key for key in self.before if self.before[key] != self.after[key]]
        return ", ".join(f"{key} {_figure(key, self.before[key])} → {_figure(key, self.after[key])}" for key in changed)

    def data(self) -> dict[str, Any]:
        """Return it as data, each step with its law, its direction, its place and its text before and after."""
        laws = [
            {"law": u.law, "reading": u.reading, "grade": u.grade, "steps": u.count, "different": u.different}
            for u in self.laws
        ]
        steps = [
            {
                "law": s.law,
                "forward": s.forward,
                "path": list(s.path),
                "before": str(part(s.before, s.path)),
                "after": str(part(s.after, s.path)),
            }
            for s in self.steps
        ]
        return {
            "title": self.title,
            "grade": self.grade,
            "laws": laws,
            "shown": list(self.shown),
            "before": self.before,
            "after": self.after,
            "steps": steps,
        }


def _figure(key: str, number: int) -> str:
    return amount(number, "B") if key == "bytes" else str(number)


def moves(derivation: Derivation) -> list[Move]:
    """Return the moves of a derivation, in the order in which each begins; those that place values come last."""
    statements = {s.name: s for s in derivation.statements}
    grades = {name: verdict.grade for name, verdict in derivation.verdicts.items()}
    found: list[Move] = []
    for output in derivation.outputs:
        found += _moves(derivation, output, statements, grades)
    return found


def title_of(law: Statement | None) -> str:
    """Return what a person would call a use of a law, by what its right side has and its left side has not.

    "arranged" for what is pointwise.
    """
    if not isinstance(law, Law):
        return SETTLED
    left, right = (Counter(type(t) for t in subterms(side)) for side in (law.lhs, law.rhs))
    more = right - left
    if more[Store]:
        return STORED
    if more[Group]:
        return "blocks grouped"
    if more[Walk]:
        return "blocks walked"
    if more[Online]:
        return "sum carried"
    if more[Fold]:
        return f"{next(REDUCTIONS[t.monoid].word for t in subterms(law.rhs) if isinstance(t, Fold))} made running"
    if (left - right)[Proj]:
        return "computed together"
    if any(isinstance(t, (Fold, Online)) for t in subterms(law.rhs)):
        shared = [any(getattr(t, "fused", False) for t in subterms(side)) for side in (law.lhs, law.rhs)]
        return SHARED if shared[1] and not shared[0] else "lanes skipped"
    if right[Reduce] > left[Reduce]:
        return (
            "taken relative to a maximum"
            if any(isinstance(t, Reduce) and t.monoid == "max" for t in subterms(law.rhs))
            else "fold split"
        )
    if right[Reduce]:
        kinds = {REDUCTIONS[t.monoid].word for t in subterms(law.lhs) if isinstance(t, Reduce)}
        folded = [next(t for t in subterms(side) if isinstance(t, Reduce)) for side in (law.lhs, law.rhs)]
        moved = folded[0].body is not folded[1].body
        return (
            f"factor moved out of the {' and the '.join(sorted(kinds))}"
            if moved and _scaled(law)
            else f"{' and '.join(sorted(kinds))} rearranged"
        )
    if any(isinstance(t, Map) and t.op == "where" for side in (law.lhs, law.rhs) for t in subterms(side)):
        return "mask moved"
    return SETTLED


def _scaled(law: Law) -> bool:
    """Tell whether a law takes a factor through a fold: its right side is a product with a fold."""
    return isinstance(law.rhs, Map) and law.rhs.op == "mul"


def _moves(
    derivation: Derivation, output: Output, statements: Mapping[str, Statement], grades: Mapping[str, str]
) -> list[Move]:
    groups: dict[str, list[Step]] = {}
    waiting: list[Step] = []
    last = SETTLED
    for step in output.steps:
        title = title_of(statements.get(step.law))
        waiting.append(step)
        if title != SETTLED:
            groups.setdefault(title, []).extend(waiting)
            waiting, last = [], title
    if waiting:
        groups.setdefault(last, []).extend(waiting)
    short = Shorthand((output.source, output.placed.term))
    first, final = _measures(derivation, output)
    # Only a store makes one kernel of several operators, and only where a pass is shared are there fewer of them.
    told_at = {"kernels": STORED, "bytes": STORED, "passes": SHARED if SHARED in groups else next(reversed(groups), "")}
    state = first
    made = []
    for title, steps in sorted(groups.items(), key=lambda group: LAST.index(group[0]) if group[0] in LAST else -1):
        after = {key: final[key] if told_at[key] == title else value for key, value in state.items()}
        main = next((s for s in steps if title_of(statements.get(s.law)) == title), steps[0])
        shown = (short.text(part(main.before, main.path)), short.text(part(main.after, main.path)))
        made.append(Move(title, _laws(steps, main, statements, grades), tuple(steps), shown, state, after))
        state = after
    return made


def _laws(
    steps: Sequence[Step], main: Step, statements: Mapping[str, Statement], grades: Mapping[str, str]
) -> tuple[Used, ...]:
    names = dict.fromkeys([main.law, *(step.law for step in steps)])
    used = []
    for name in names:
        mine = [s for s in steps if s.law == name]
        kinds = {(part(s.before, s.path), part(s.after, s.path)) for s in mine}
        reading = (
            statements[name].reading if name in statements else "Numbers are computed." if name == ARITHMETIC else ""
        )
        used.append(Used(name, reading, grades.get(name, "A"), len(mine), len(kinds)))
    return tuple(used)


def _measures(derivation: Derivation, output: Output) -> tuple[dict[str, int], dict[str, int]]:
    """Return what the diagram takes, each operator a kernel of its own, and what the plan takes as it is priced."""
    unfused = unfused_bytes(output.source, BYTES[STORAGE[derivation.dtype]])
    priced = round(sum(tiled.cost.bytes_hbm for tiled in output.placed.tiled))
    return (
        {"kernels": _operators(output.source), "passes": _passes(output.source), "bytes": unfused},
        {"kernels": len(output.placed.stores), "passes": sum(passes([output]).values()), "bytes": priced},
    )


def _operators(term: Term) -> int:
    """Count the operators of a diagram that would be kernels of their own, a contraction counting as one."""
    folded = {
        t.body
        for t in subterms(term)
        if isinstance(t, Reduce) and t.monoid == "sum" and isinstance(t.body, Map) and t.body.op == "mul"
    }
    return sum(
        bool(t.children) and t.kind == "real" and t not in folded and not isinstance(t, (Tuple, Proj))
        for t in subterms(term)
    )


def _passes(diagram: Term) -> int:
    """Count the passes over axes that a diagram takes as it is written, each fold one."""
    return len({fold_key(t) for t in subterms(diagram) if isinstance(t, Streamed)})
