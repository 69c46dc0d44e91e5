"""The chain from a diagram to the term that was placed: law instances that fired, and those that the destination itself
shows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from napkin_eq.egraph.budget import Budget
from napkin_eq.egraph.congruence import Closure, Step
from napkin_eq.egraph.nodes import Instance, Merged
from napkin_eq.egraph.saturate import SAME_VALUE
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Group, Map, Online, Reduce, Store, Term, Tuple, Walk, held, rebuilt, subterms
from napkin_eq.laws.inference import match, substitute
from napkin_eq.laws.law import Item, Law, Statement, Var, variables
from napkin_eq.prove.verdict import Verdict
from napkin_eq.search.placement import Placed
from napkin_eq.tile.stream_facts import Streamed, modes_of

MOST_INSTANCES, SOME, ENTERING = 60_000, 256, 0.6


def explained(
    source: Term,
    placed: Placed,
    instances: Sequence[Instance],
    statements: Sequence[Statement],
    budget: Budget | None = None,
    entered: dict[int, Closure] | None = None,
    verdicts: Mapping[str, Verdict] | None = None,
    merged: Sequence[Merged] = (),
) -> list[Step]:
    """Return the chain of law instances from a source to a placed term; raises Undecided where there is none.

    Of very many instances the first are entered, which are those of the earliest rounds; a chain may then be missed.
    entered: for several terms of one source, what the instances of each e-graph gave, by which list of them it is.
    verdicts: what was proved of the statements, which says where they need lanes that there may not be before a
    stream's first block.
    merged: instances that may have fired of other terms as well; these are entered where a chain is missing.
    """
    # Of what the search left, which is never nothing: it ends before its limit
    budget = budget.to_end() if budget else Budget()
    entered = {} if entered is None else entered
    if id(instances) not in entered:
        entered[id(instances)] = _entered(source, instances, statements, budget, verdicts or {})
        entered[id(instances)].spare(merged)
    closure = entered[id(instances)]
    closure.budget = budget
    for store in placed.stores:
        for law, bindings in _placements(store):
            closure.instance(law, True, bindings)
    for choice in (
        t for t in subterms(placed.term) if isinstance(t, Map) and t.op == "where" and t.args[1] == t.args[2]
    ):
        if SAME_VALUE in closure.laws:  # by which a value got axes that it does not vary along
            closure.instance(SAME_VALUE, True, (("a", choice.args[1]), ("c", choice.args[0])))
    _read_backward(closure, placed.term, statements)
    return closure.explain(source, placed.term)


def _entered(
    source: Term,
    instances: Sequence[Instance],
    statements: Sequence[Statement],
    budget: Budget,
    verdicts: Mapping[str, Verdict],
) -> Closure:
    closure = Closure(statements, budget, {name: verdict.lanes for name, verdict in verdicts.items()})
    closure.add(source)
    for number, instance in enumerate(itertools.islice(instances, MOST_INSTANCES)):
        if number % SOME == 0 and budget.over("explanation", ENTERING):
            break
        if instance.law in closure.inferences:
            closure.inferred(instance.law, instance.bindings)
        else:
            closure.instance(instance.law, instance.forward, instance.bindings)
    return closure


def _read_backward(closure: Closure, term: Term, statements: Sequence[Statement]) -> None:
    """Enter the instances of structure laws that the destination itself shows, each read from its right side to its
    left.

    An e-graph fires a law on a class; the conditions of a law are derived of a term. These are the terms in question,
    with what is below them unstreamed and unstored, since that is the form that facts speak of.
    """
    laws = [
        s
        for s in statements
        if isinstance(s, Law) and s.stage == "structure" and not isinstance(s.lhs, Var) and s.lhs.kind == "real"
    ]
    waiting = [rebuilt(t, tuple(map(_bare, t.children))) for t in subterms(term) if isinstance(t, Streamed)]
    seen = set(waiting)
    while waiting:
        found = waiting.pop()
        for law in laws:
            bindings = match(law.rhs, found, {})
            if bindings is None or not variables(law.lhs) <= set(bindings):
                continue
            if closure.instance(law, True, bindings) and (before := substitute(law.lhs, bindings)) not in seen:
                seen.add(before)
                waiting.append(before)


def _bare(term: Term) -> Term:
    """Return a term unstreamed, unstored and without the masks of its folds, which structure laws put there last."""
    if isinstance(term, (Group, Walk)):
        return _bare(term.body)
    if term not in _BARE:
        try:
            body = rebuilt(term, tuple(map(_bare, term.children)))
        except NapkinError:
            body = term  # without its mask a value may lack the axis that this one speaks of
        if isinstance(body, Streamed):
            body = Reduce("sum" if isinstance(body, Online) else body.monoid, body.axis, body.body)
        _BARE[term] = held(body)
    return _BARE[term]


_BARE: dict[Term, Term] = {}


def _placements(store: Store) -> Iterator[tuple[str, tuple[tuple[str, Any], ...]]]:
    """Yield the instances of the placement laws that put a value, or several, under a Store."""
    _, value = modes_of(store)
    suffix, variable = {"tuple": ("-several", "a"), "bool": ("-mask", "c"), "int": ("-whole", "i")}.get(
        value.kind, ("", "a")
    )
    if isinstance(value, Tuple):
        items = tuple(zip("abdef", value.items, strict=False))
        kinds = [item.kind for item in value.items]
        yield from ((f"projection-{Item.of_kinds(i, kinds)}", items) for i in range(len(items)))
    body: Term = store
    while body is not value:
        inner = body.body
        if isinstance(body, Store):
            yield "level" + suffix, ((variable, inner),)
        else:
            yield ("group" if isinstance(body, Group) else "walk") + suffix, ((variable, inner), ("x", body.axis))
        body = inner
