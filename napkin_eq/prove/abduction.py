"""What a law lacks: the weakest extra conditions under which it holds, and stated conditions that are stronger than
needed.

Conditions are drawn from a vocabulary over the law's own axes, variables and the parts that it inverts, takes
logarithms of or takes maxima of: not varying along an axis, different axes, divisibility, sign, not zero, present, a
mask that holds somewhere or everywhere, masks that never hold together or leave no lane out, absent or zero outside a
mask. Sets of them are tried smallest and weakest first (abduction over a lattice of predicates, after Dillig and Dillig
2013); what a known counterexample still meets is passed over, and a set counts only once the provers accept the law
with it, so nothing vacuous is offered.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Const, Map, Online, Reduce, Size, Term, subterms
from napkin_eq.laws import law as words
from napkin_eq.laws.law import JUDGMENTS, Inference, Judgment, Law, Statement, Sum, Var, where
from napkin_eq.laws.loader import folder
from napkin_eq.laws.obligation import conditions_of, judgments_of, terms_of
from napkin_eq.prove.prove import Outcome, opinion
from napkin_eq.prove.watch import reported

if TYPE_CHECKING:
    from napkin_eq.prove.counterexample import Counterexample

MOST_CONDITIONS, MOST_SETS, BUDGET_S, QUESTION_S = 3, 4, 8.0, 0.5
# What each judgment of one term follows from, and how much it asks, for the order in which sets are tried.
STRONGER = {"finite": ("nonneg", "nonzero", "pos"), "nonneg": ("pos",), "nonzero": ("pos",)}
ASKS = {
    "distinct": 0,
    "finite": 1,
    "nonzero": 2,
    "nonneg": 2,
    "divides": 2,
    "le": 3,
    "free": 3,
    "pos": 4,
    "local": 4,
    "disjoint": 4,
    "absent": 5,
    "zero": 5,
    "present": 5,
    "leaves": 5,
}
Conditions = tuple[Judgment, ...]


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do about a law: sets of conditions each of which makes it true, and stated ones with what would do
    instead.

    `perhaps`: conditions that no counterexample excludes and no prover confirms. `complete`: every set of at most
    MOST_CONDITIONS was tried, or passed over for a reason.
    """

    example: Counterexample | None
    true_if: tuple[Conditions, ...] = ()
    perhaps: tuple[Judgment, ...] = ()
    instead: tuple[tuple[Judgment, Judgment | None], ...] = ()
    complete: bool = True


def advice(statement: Statement, status: str, budget_s: float = BUDGET_S) -> Advice:
    """Say what a statement lacks, or, where it is proved, which of its conditions could be weaker or left out."""
    return Advice(None, instead=tuple(slack(statement))) if status == "proved" else abduced(statement, budget_s)


def advised(statements: Iterable[Statement], statuses: Iterable[str]) -> list[Advice | None]:
    """Give advice on what is not proved, and on what is where a user's own file states it; None for the rest."""
    shipped = str(folder("rules"))
    return [
        advice(statement, status)
        if (status != "proved" or not statement.place.startswith(shipped)) and reported("advice on laws", number)
        else None
        for number, (statement, status) in enumerate(zip(statements, statuses, strict=True))
    ]


# -- conditions that are missing ---------------------------------------------------------------------------------------


def abduced(statement: Statement, budget_s: float = BUDGET_S) -> Advice:
    """Look for the weakest sets of conditions that make a statement true; what makes it vacuous is refused by the
    provers.
    """
    until = time.monotonic() + budget_s
    listed = vocabulary(statement)
    first = _asked(statement).example
    # For each counterexample, the conditions that it meets: a set of these cannot exclude it.
    met = [_met(first, listed)] if first is not None else []
    found: list[Conditions] = []
    perhaps: list[Judgment] = []
    complete = True
    for chosen in _sets(listed):
        if any(set(chosen) <= held for held in met) or any(implied(weaker, chosen) for weaker in found):
            continue
        if len(found) == MOST_SETS or not (complete := time.monotonic() < until):
            break
        outcome = _asked(with_conditions(statement, (*conditions_of(statement), *chosen)))
        if outcome.status == "proved":
            found.append(chosen)
        elif outcome.example is not None:
            met.append(_met(outcome.example, listed))
        elif first is not None and outcome.status == "unknown" and len(chosen) == 1:
            perhaps += chosen
    return Advice(first, tuple(found), tuple(perhaps), (), complete)


def vocabulary(statement: Statement) -> list[Judgment]:
    """Return the conditions that could be added to a statement, the least demanding first."""
    stated = conditions_of(statement)
    # The conclusion itself, or what implies it, would be no help.
    asked = (statement.conclusion,) if isinstance(statement, Inference) else ()
    listed = dict.fromkeys(_vocabulary(statement))
    return sorted(
        (j for j in listed if not implied((j,), stated) and not (asked and implied(asked, (j,)))), key=_demand
    )


def _demand(judgment: Judgment) -> int:
    return 2 if _somewhere(judgment) is not None else ASKS[judgment.name]


def _vocabulary(statement: Statement) -> Iterator[Judgment]:
    parts = subterms(*terms_of(statement))
    names = {f for t in parts for f in t.fields if isinstance(f, Axis)} | {
        a for j in judgments_of(statement) for a in j.args if isinstance(a, Axis)
    }
    axes = sorted(names)
    variables = [t for t in parts if isinstance(t, Var) and t.sort in ("real", "bool", "int")]
    masks = [v for v in variables if v.kind == "bool"]
    for x, y in itertools.combinations(axes, 2):
        yield words.distinct(x, y)
    for term in (v for v in variables if v.kind == "real"):
        yield from (words.finite(term), words.nonzero(term), words.nonneg(term), words.le(term, 0.0), words.pos(term))
    sides = {statement.lhs, statement.rhs} if isinstance(statement, Law) else set()
    for inner in (t for t in _critical(parts) if t not in sides):
        yield from (words.finite(inner), words.nonzero(inner), words.nonneg(inner))
    for x, v in itertools.product(axes, variables):
        yield words.free(x, v)
    for part in (t for t in parts if isinstance(t, Map) and t.op in ("floordiv", "mod")):
        yield words.divides(part.args[1], part.args[0])
    for c, e in itertools.combinations(masks, 2):
        yield words.disjoint(c, e)
        yield words.le(1.0, _one(c) + _one(e))
    for c in masks:
        yield words.le(1.0, _one(c))
        yield from (words.pos(Sum(x, _one(c))) for x in axes)
        yield from (judgment(c, v) for v in variables if v.kind == "real" for judgment in (words.absent, words.zero))
    if any(isinstance(t, Online) for t in parts) or any(j.name in ("scales", "local") for j in judgments_of(statement)):
        yield from (words.local(x, v) for x, v in itertools.product(axes, variables))


def _one(mask: Term) -> Term:
    return where(mask, Const(1.0), 0.0)


def _critical(parts: Iterable[Term]) -> Iterator[Term]:
    """Yield what is inverted or taken the logarithm or root of, and maxima, where that is no variable or constant."""
    for part in parts:
        inner = part.args[0] if isinstance(part, Map) and part.op in ("inv", "log", "sqrt") else part
        wanted = inner is not part or (isinstance(part, Reduce) and part.monoid == "max")
        if (
            wanted
            and not isinstance(inner, (Var, Const, Size))
            and not any(isinstance(t, Online) for t in subterms(inner))
        ):
            yield inner


def _sets(listed: list[Judgment]) -> Iterator[Conditions]:
    for number in range(1, MOST_CONDITIONS + 1):
        for chosen in sorted(itertools.combinations(listed, number), key=lambda s: sum(map(_demand, s))):
            if not any(implied((j,), tuple(k for k in chosen if k is not j)) for j in chosen) and not _degenerate(
                chosen
            ):
                yield chosen


def _degenerate(chosen: Conditions) -> bool:
    """Tell whether conditions leave a variable or a mask only one value, which is true and of no use, or say together
    what one says alone.
    """
    by_term: dict[Term | Axis, set[str]] = {}
    for judgment in chosen:
        by_term.setdefault(judgment.args[-1] if judgment.name in ("zero", "absent") else judgment.args[0], set()).add(
            judgment.name
        )
    for held in by_term.values():
        contrary = held & {"le", "zero", "absent"} and held & {"finite", "nonneg", "nonzero", "pos"}
        if contrary or {"zero", "absent"} <= held or {"nonneg", "nonzero"} <= held:
            return True
    return False


def _met(example: Counterexample, listed: list[Judgment]) -> set[Judgment]:
    """Return the conditions that hold on a counterexample: not those without a value there, nor, where two axes are
    one, those of the other.
    """
    return {j for j in listed if _speaks_of(j) <= set(example.lanes) and _holds(example, j)}


def _holds(example: Counterexample, judgment: Judgment) -> bool:
    try:
        return example.holds(judgment)
    except NapkinError:
        return False


def _speaks_of(judgment: Judgment) -> set[str]:
    terms = subterms(*(a for a in judgment.args if isinstance(a, Term)))
    return {a.name for a in judgment.args if isinstance(a, Axis)} | {
        f.name for t in terms for f in t.fields if isinstance(f, Axis)
    }


def implied(weaker: Conditions, stronger: Conditions) -> bool:
    """Tell whether each condition of one set is in the other, or follows from one there."""
    return all(any(_follows(j, k) for k in stronger) for j in weaker)


def _follows(j: Judgment, k: Judgment) -> bool:
    some, fewer = _cover(j), _cover(k)
    wider = bool(fewer and fewer <= some) or (len(fewer) == 1 and fewer == {_somewhere(j)})
    return j == k or (j.args == k.args and k.name in STRONGER.get(j.name, ())) or wider


def _cover(judgment: Judgment) -> set[Term]:
    """Return the masks one of which holds everywhere, if a condition says that of some."""
    covers = judgment.name == "le" and judgment.args[0] is Const(1.0)
    return {t for t in subterms(judgment.args[1]) if t.kind == "bool"} if covers else set()  # type: ignore[arg-type]


def _somewhere(judgment: Judgment) -> Term | None:
    """Return the mask that a condition says holds in some lane, if it says that."""
    count = judgment.args[0]
    counts = (
        judgment.name == "pos"
        and isinstance(count, Reduce)
        and isinstance(count.body, Map)
        and count.body.op == "where"
    )
    return count.body.args[0] if counts and isinstance(count, Reduce) else None


# -- conditions that are too strong ------------------------------------------------------------------------------------


def slack(statement: Statement) -> Iterator[tuple[Judgment, Judgment | None]]:
    """Yield each stated condition that could be left out (None) or be a weaker one, all others kept."""
    stated = conditions_of(statement)
    # A rule whose premise is its conclusion says nothing.
    asked = (statement.conclusion,) if isinstance(statement, Inference) else ()
    for place, condition in enumerate(stated):
        weaker = [
            Judgment(name, condition.args)
            for name in ("finite", "nonzero", "nonneg")
            if condition.name in STRONGER[name]
        ]
        for other in (None, *(j for j in weaker if j not in asked)):
            tried = (*stated[:place], *((other,) if other is not None else ()), *stated[place + 1 :])
            if _asked(with_conditions(statement, tried)).status == "proved":
                yield condition, other
                break


def with_conditions(statement: Statement, conditions: Conditions) -> Statement:
    """Return a statement with other conditions."""
    return (
        replace(statement, conditions=conditions)
        if isinstance(statement, Law)
        else replace(statement, premises=conditions)
    )


def _asked(statement: Statement) -> Outcome:
    return opinion(statement, QUESTION_S)


# -- for the reader ----------------------------------------------------------------------------------------------------


def read(judgment: Judgment) -> str:
    """Return a condition in words."""
    term, *rest = judgment.args
    if judgment.name == "le" and rest[0] is Const(0.0):
        return f"{term} is absent or <= 0"
    if (mask := _somewhere(judgment)) is not None and isinstance(term, Reduce):
        return f"{mask} holds somewhere along {term.axis}"
    if masks := _cover(judgment):
        return f"{' or '.join(sorted(map(str, masks)))} holds everywhere"
    return JUDGMENTS[judgment.name][1].format(*judgment.args)


def data(found: Advice) -> dict[str, Any]:
    """Return advice as data with stable keys."""
    example = found.example
    return {
        "counterexample": None
        if example is None
        else {"given": str(example), "values": [list(row) for row in example.steps()]},
        "true_if": [[{"condition": str(j), "reading": read(j)} for j in conditions] for conditions in found.true_if],
        "perhaps_if": [str(j) for j in found.perhaps],
        "stronger_than_needed": [
            {"condition": str(j), "instead": None if other is None else str(other)} for j, other in found.instead
        ],
        "complete": found.complete,
    }


def texts(statements: Iterable[Statement], found: Iterable[Advice | None]) -> list[str]:
    """Return what there is to say about each statement."""
    said = (told(statement, advice) for statement, advice in zip(statements, found, strict=True) if advice is not None)
    return [text for text in said if text]


def told(statement: Statement, found: Advice) -> str:
    """Return advice for a terminal; empty where there is none to give."""
    lines: list[str] = []
    if found.example is not None:
        rows = found.example.steps()
        width = max((len(name) for name, _ in rows), default=0)
        lines += [f"    {name:{width}} = {value}" for name, value in rows]
    lacks = "not proved as it stands; true if" if found.example is None else "not true as it stands; true if"
    for number, conditions in enumerate(found.true_if):
        lines.append(
            f"  {'or if' if number else lacks} {' and '.join(map(read, conditions))}: "
            f" {', '.join(map(str, conditions))}"
        )
    if found.example is not None and not found.true_if:
        lines.append(
            "  no conditions of the vocabulary make it"
            f" true{'' if found.complete else ', as far as was tried in the time'}"
        )
    lines += [f"  perhaps if {read(j)}: no counterexample was found, and no proof" for j in found.perhaps]
    for condition, other in found.instead:
        lines.append(
            f"  stronger than needed: {condition}; {'leave it out' if other is None else f'{other} is enough'}"
        )
    return "\n".join([f"{statement.name}: {statement.statement()}", *lines]) if lines else ""
