# mypy: disable-error-code="arg-type"
"""Several values stored by one kernel: a Tuple under Store, Group and Walk, and Proj, one item of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from napkin_eq.certify.certificate import Data, checked, ends, loads, make, sealed
from napkin_eq.certify.certificate import dumps as written
from napkin_eq.egraph.congruence import Closure
from napkin_eq.lang.axis import axes
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import evaluate, output_order
from napkin_eq.lang.interval import interval
from napkin_eq.lang.json_form import from_json, to_json
from napkin_eq.lang.term import (
    Const,
    Group,
    Index,
    Input,
    Map,
    Prev,
    Proj,
    Read,
    Reduce,
    Scan,
    Store,
    Term,
    Tuple,
    Walk,
    as_real,
    rewritten,
)
from napkin_eq.laws.inference import Judge
from napkin_eq.laws.law import REGISTRY, Sum, along, exp, free, nonneg, pos
from napkin_eq.laws.loader import load_rules
from napkin_eq.numerics.error_bound import error_bound
from napkin_eq.prove.prove import prove

load_rules()
q, x, d = axes("q x d", q=4, x=6, d=3)
K, V = Input("K", (q, x)), Input("V", (x, d))
L, O = Sum(x, exp(K)), Sum(x, exp(K) * V)  # noqa: E741 - a sum of exponentials, and what it divides
PAIR = Tuple((L, O))
KERNEL = Store(Group(q, PAIR))
DATA = {"K": np.random.default_rng(0).standard_normal((4, 6)), "V": np.random.default_rng(1).standard_normal((6, 3))}
STATEMENTS = list(REGISTRY.statements.values())
VERDICTS = {v.name: v for v in prove(STATEMENTS)}


def test_an_item_is_a_node_with_the_axes_of_the_item() -> None:
    for body in (PAIR, Store(PAIR), KERNEL, Store(Group(q, Walk(q, PAIR)))):
        assert body.kind == "tuple"
        for place, item in enumerate((L, O)):
            one = Proj(place, body)
            assert (one.index, one.body, one.item, one.axes, one.kind) == (place, body, item, item.axes, "real")
            assert Proj(place, body) is one and one is not item
    assert Proj(1, Tuple((L, Index(q)))).kind == "int"


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: Proj(0, L), "item 0 of a real: expected a tuple"),
        (lambda: Proj(2, KERNEL), "item 2 of a tuple of 2: expected 0 to 1"),
        (lambda: Proj(-1, PAIR), "expected 0 to 1"),
        (lambda: Proj(True, PAIR), "item True of a tuple"),
        (lambda: Group(d, Tuple((L, L))), "the value has no axis d"),
        (lambda: Tuple((L, PAIR)), "no tuples"),
        (lambda: KERNEL + 1.0, "argument 1 is tuple, expected real"),
        (lambda: Map("exp", (PAIR,)), "is tuple"),
        (lambda: Reduce("sum", q, PAIR), "a tuple stands where a number is expected"),
        (lambda: Scan("sum", q, PAIR), "a tuple stands"),
        (lambda: Read(PAIR, q, Const(0)), "the body is a tuple; read one of its items"),
        (lambda: Prev(PAIR), "the body is a tuple"),
        (lambda: as_real(KERNEL), "a tuple stands"),
    ],
)
def test_what_does_not_fit_is_refused(build: Any, said: str) -> None:
    with pytest.raises(NapkinError, match=said) as refused:
        build()
    assert "\n" not in str(refused.value)


def test_values_are_those_of_the_items() -> None:
    weights = np.exp(DATA["K"])
    expected = weights.sum(1), weights @ DATA["V"]
    for body in (PAIR, KERNEL):
        for found, wanted in zip(evaluate(body, DATA), expected, strict=True):
            np.testing.assert_allclose(found, wanted)
        divided = Proj(1, body) / Proj(0, body)
        np.testing.assert_allclose(evaluate(divided, DATA), expected[1] / expected[0][:, None])
    assert output_order(Proj(1, Tuple((Input("B", (d, q)), O)))) == output_order(O)


def test_a_bundle_is_written_and_read_back() -> None:
    term = Proj(1, KERNEL) / Proj(0, KERNEL)
    assert from_json(to_json(term)) is term and from_json(to_json(KERNEL)) is KERNEL
    assert str(Proj(0, Store(Tuple((K, V))))) == "item_0[store[(K, V)]]"
    data = to_json(Proj(1, PAIR))
    for odd in (True, 2, -1, "0", None, 0.0):
        with pytest.raises(NapkinError, match="json: node"):
            from_json({**data, "nodes": [*data["nodes"][:-1], ["Proj", odd, data["nodes"][-1][2]]]})


def test_the_bound_of_an_item_counts_its_storing() -> None:
    bare, stored = (error_bound(term, DATA, {}, "float16") for term in (Proj(1, PAIR) * 1.0, Proj(1, KERNEL) * 1.0))
    assert (bare[0] < stored[0]).all()
    several, alone = (
        error_bound(KERNEL, DATA, {}, "float16"),
        [error_bound(Store(Group(q, item)), DATA, {}, "float16")[0] for item in (L, O)],
    )
    assert all((a == b).all() for a, b in zip(several, alone, strict=True))


def test_what_is_known_of_an_item() -> None:
    judge = Judge(REGISTRY.inferences())
    assert judge.holds(pos(Proj(0, KERNEL))) and not judge.holds(nonneg(Proj(1, KERNEL)))
    assert (
        judge.holds(free(d, Proj(0, KERNEL)))
        and judge.holds(along(d, Proj(1, KERNEL)))
        and not judge.holds(free(d, Proj(1, KERNEL)))
    )
    assert interval(Proj(0, KERNEL)) == interval(L)


def test_the_laws_of_bundles_are_proved_and_none_is_false() -> None:
    names = [s.name for s in STATEMENTS if s.name.startswith("projection") or s.name.endswith("-several")]
    # Of k items one law each, and for each item that is a mask or a whole number k more.
    assert len(names) == 3 + sum(k + 2 * k * k for k in (2, 3, 4, 5)) and {VERDICTS[n].grade for n in names} == {"A"}
    right = next(s for s in REGISTRY.laws() if s.name == "projection-0-2")
    wrong = replace(right, rhs=right.lhs.body.items[1])
    assert [v.status for v in prove([wrong], use_cache=False)] == ["refuted"]


# -- certificates ------------------------------------------------------------------------------------------------------


def chain() -> Data:
    """The quotient of two sums, both of which one kernel stores: made from the quotient by laws alone."""
    source, destination = O / L, Store(Proj(1, KERNEL) / Proj(0, KERNEL))
    closure = Closure(STATEMENTS)
    for place, name in enumerate(("projection-0-2", "projection-1-2")):
        assert closure.instance(name, False, {"a": L, "b": O}), place
    assert closure.instance("group-several", True, {"a": PAIR, "x": q})
    assert closure.instance("level-several", True, {"a": Group(q, PAIR)})
    assert closure.instance("level", True, {"a": O / L})
    steps = closure.explain(source, destination)
    assert steps[-1].after is destination
    for step in steps:
        np.testing.assert_allclose(evaluate(step.after, DATA), evaluate(source, DATA))
    return make(source, destination, steps, STATEMENTS, VERDICTS, {})


def test_a_chain_that_stores_two_values_together_is_accepted() -> None:
    data = chain()
    result = checked(data)
    assert result["status"] == "ok", result
    assert {"projection-0-2", "projection-1-2", "group-several", "level-several", "level"} == set(result["laws"])
    assert loads(written(data)) == data
    assert ends(data)[1] is Store(Proj(1, KERNEL) / Proj(0, KERNEL))


def test_tampering_with_a_bundle_is_refused() -> None:
    data = chain()
    theorem, rows = data["theorem"], data["theorem"]["nodes"]

    def refused(number: int, row: list[Any]) -> bool:
        nodes = [*rows[:number], row, *rows[number + 1 :]]
        return bool(checked(sealed({**data, "theorem": {**theorem, "nodes": nodes}}))["status"] == "refused")

    assert {"Proj", "Tuple"} <= {row[0] for row in rows}
    for number, (tag, *parts) in enumerate(rows):
        if tag == "Proj":
            place, body = parts
            for odd in ([1 - place, body], [2, body], [-1, body], [place == 1, body], [place, 0]):
                assert refused(number, ["Proj", *odd]), odd
        if tag == "Tuple":
            for odd in (parts[::-1], parts[:1], []):
                assert refused(number, ["Tuple", *odd]), odd
    for step in range(len(data["steps"])):
        assert (
            checked(sealed({**data, "steps": data["steps"][:step] + data["steps"][step + 1 :]}))["status"] == "refused"
        )


def test_the_checker_types_items_by_themselves() -> None:
    base = make(K, K, [], [], {}, {})
    head: list[Any] = [["Input", "K"], ["Const", "bool", "1"], ["Tuple", 0, 1], ["Store", 2]]

    def status(*rows: list[Any]) -> Any:
        last = len(head) + len(rows) - 1
        return checked(
            sealed(
                {**base, "theorem": {**base["theorem"], "nodes": [*head, *rows], "source": last, "destination": last}}
            )
        )["status"]

    for row, expected in (
        (["Proj", 0, 3], "ok"),
        (["Proj", 1, 3], "refused"),
        (["Proj", 0, 0], "refused"),
        (["Proj", 3, 3], "refused"),
    ):
        assert status(row, ["exp", 4]) == expected, row
    for row in (["Read", "q", 3, 1], ["Prev", 3], ["Scan", "sum", "q", 3], ["Tuple", 3]):
        assert status(row) == "refused", row


def test_a_fact_of_a_stored_item_is_one_of_the_item_alone() -> None:
    """A condition that speaks of an item is derived of the item as it stands in the tuple, once that is known to be
    equal.
    """
    total = Proj(0, Store(PAIR))
    cancel = next(law for law in REGISTRY.laws() if law.name == "cancel")
    # Both sides of a theorem have the same axes, so another factor keeps them.
    source, end = total * Map("inv", (total,)) * O, Const(1.0) * O
    closure = Closure(STATEMENTS)
    assert not closure.instance(cancel, True, {"a": total})
    assert closure.instance("level-several", True, {"a": PAIR}) and closure.instance(
        "projection-0-2", True, {"a": L, "b": O}
    )
    steps = closure.explain(source, end)
    assert checked(make(source, end, steps, STATEMENTS, VERDICTS, {}))["status"] == "ok"
    assert Judge(REGISTRY.inferences()).holds(pos(total)) and not Judge(REGISTRY.inferences(), placed=False).holds(
        pos(total)
    )


def test_a_bundle_survives_a_rewrite_of_what_it_holds() -> None:
    moved: Term = rewritten(Proj(1, KERNEL), lambda t: L * 2.0 if t is L else t)
    assert moved is Proj(1, Store(Group(q, Tuple((L * 2.0, O)))))
