# mypy: disable-error-code="no-untyped-call, no-untyped-def, operator, arg-type"
"""Prefix folds at places made of coordinates: what induction over coordinates proves is true, and nothing that is a
little off is proved.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache

import pytest

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Const, Index, Map, Read, Recur, Reduce, Scan, Size, Term, rebuilt, subterms
from napkin_eq.laws.law import ABSENT, REGISTRY, Coordinate, Law, Max, Sum, distinct, finite, free, where
from napkin_eq.laws.loader import folder, load_rules, run_file
from napkin_eq.prove import prove as proving
from napkin_eq.prove.portfolio import load_provers
from napkin_eq.prove.prove import prove
from tests.statements import stated

RUNS = ("scan-in-runs-sum", "scan-in-runs-prod", "recur-in-runs")
SHIPPED = (*RUNS, "read-before", "read-back")


def apart(*axes):
    return [distinct(one, other) for at, one in enumerate(axes) for other in axes[at + 1 :]]


def given(x, p, r, *terms):
    return *(free(axis, term) for term in terms for axis in (p, r)), *apart(x, p, r)


def place(p, r):
    return Index(p) * Size(r) + Index(r)


def runs(a, x, p, r, unit=0.0, at=None, inside=None):
    at = place(p, r) if at is None else at
    return where(at < Size(x) if inside is None else inside, Read(a, x, at), unit)


def before(a, p, unit=0.0, back=1):
    return where(Const(0) < Index(p), Read(a, p, Index(p) - back), unit)


def in_runs(x, p, r, a, own=None, left=None, at=None):
    own = runs(a, x, p, r) if own is None else own
    left = before(Scan("sum", p, Sum(r, own)), p) if left is None else left
    return Read(Scan("sum", x, a), x, place(p, r) if at is None else at), left + Scan("sum", r, own)


# -- what is true ------------------------------------------------------------------------------------------------------


def the_prefix_before_and_the_lane(a, x: Axis):
    return before(Scan("sum", x, a), x) + a, Scan("sum", x, a)


def the_recurrence_before_and_the_lane(a, b, x: Axis):
    return before(Recur(x, a, b), x) * a + b, Recur(x, a, b)


def runs_of_runs(a, x: Axis, p: Axis, q: Axis, r: Axis):
    own = runs(a, x, p, r, at=(Index(p) * Size(q) + Index(q)) * Size(r) + Index(r))
    total = before(Scan("sum", p, Sum(q, Sum(r, own))), p) + before(Scan("sum", q, Sum(r, own)), q)
    left = Read(Scan("sum", x, a), x, (Index(p) * Size(q) + Index(q)) * Size(r) + Index(r))
    return left, total + Scan("sum", r, own), *(free(axis, a) for axis in (p, q, r)), *apart(x, p, q, r)


def beyond_the_end_is_the_whole(a, x: Axis, i: Axis):
    at = Size(x) + Index(i)
    return Read(Scan("sum", x, a), x, at), Sum(x, a), free(i, a), distinct(x, i)


def lanes_up_to_a_place(x: Axis, p: Axis, r: Axis):
    at = Map("min", (place(p, r), Size(x) - 1))
    lanes = Scan("sum", x, where(Const(0) <= Index(x), Const(1.0), 0.0))
    return Read(lanes, x, place(p, r)), Map("real", (at + 1,)), *apart(x, p, r)


def one_lane_on_inside(a, i: Coordinate, x: Axis):
    inside, total = (Const(0) <= i) & (i < Size(x) - 1), Scan("sum", x, a)
    return (
        where(inside, Read(total, x, i + 1), 0.0),
        where(inside, Read(total, x, i) + Read(a, x, i + 1), 0.0),
        free(x, i),
    )


def a_maximum_in_runs(a, x: Axis, p: Axis, r: Axis):
    own = runs(a, x, p, r, unit=ABSENT)
    right = Map("max", (before(Scan("max", p, Max(r, own)), p, ABSENT), Scan("max", r, own)))
    return Read(Scan("max", x, a), x, place(p, r)), right, *given(x, p, r, a)


def read_by_quotients(a, x, p, r, number=None, rest=None, at=None, inside=None):
    number, at = Size(r) if number is None else number, place(p, r) if at is None else at
    inside = at < Size(x) if inside is None else inside
    back = Read(Read(a, p, Index(x) // number), r, Index(x) % (number if rest is None else rest))
    return where(inside, Read(back, x, at), 0.0), where(inside, a, 0.0), free(x, a), *apart(x, p, r)


def by_quotients_of_runs_of_two_less_one(a, x: Axis, p: Axis, r: Axis):
    return read_by_quotients(a, x, p, r, number=Size(r) * 2 - Size(r))


TRUE = (
    a_maximum_in_runs, by_quotients_of_runs_of_two_less_one, the_prefix_before_and_the_lane,
    the_recurrence_before_and_the_lane, runs_of_runs,
    beyond_the_end_is_the_whole, lanes_up_to_a_place, one_lane_on_inside,
)  # fmt: skip


# -- what is false -----------------------------------------------------------------------------------------------------


def this_run_counted_twice(a, x: Axis, p: Axis, r: Axis):
    return *in_runs(x, p, r, a, left=before(Scan("sum", p, Sum(r, runs(a, x, p, r))), p, back=0)), *given(x, p, r, a)


def two_runs_back(a, x: Axis, p: Axis, r: Axis):
    return *in_runs(x, p, r, a, left=before(Scan("sum", p, Sum(r, runs(a, x, p, r))), p, back=2)), *given(x, p, r, a)


def one_lane_on(a, x: Axis, p: Axis, r: Axis):
    return *in_runs(x, p, r, a, at=place(p, r) + 1), *given(x, p, r, a)


def runs_of_another_length(a, x: Axis, p: Axis, r: Axis):
    return *in_runs(x, p, r, a, own=runs(a, x, p, r, at=Index(p) * Size(p) + Index(r))), *given(x, p, r, a)


def runs_that_overlap(a, x: Axis, p: Axis, r: Axis):
    at = Index(p) * (Size(r) - 1) + Index(r)
    return *in_runs(x, p, r, a, own=runs(a, x, p, r, at=at), at=at), *given(x, p, r, a)


def the_unit_of_products(a, x: Axis, p: Axis, r: Axis):
    return *in_runs(x, p, r, a, own=runs(a, x, p, r, unit=1.0)), *given(x, p, r, a)


def the_unit_of_maxima(a, x: Axis, p: Axis, r: Axis):
    return *in_runs(x, p, r, a, own=runs(a, x, p, r, unit=ABSENT)), *given(x, p, r, a)


def one_lane_beyond_the_last(a, x: Axis, p: Axis, r: Axis):
    return *in_runs(x, p, r, a, own=runs(a, x, p, r, inside=place(p, r) <= Size(x))), *given(x, p, r, a)


def the_last_lane_left_out(a, x: Axis, p: Axis, r: Axis):
    return *in_runs(x, p, r, a, own=runs(a, x, p, r, inside=place(p, r) < Size(x) - 1)), *given(x, p, r, a)


def no_mask_beyond_the_last(a, x: Axis, p: Axis, r: Axis):
    return *in_runs(x, p, r, a, own=Read(a, x, place(p, r))), *given(x, p, r, a)


def the_whole_run(a, x: Axis, p: Axis, r: Axis):
    own = runs(a, x, p, r)
    total = before(Scan("sum", p, Sum(r, own)), p) + Sum(r, own)
    return Read(Scan("sum", x, a), x, place(p, r)), total, *given(x, p, r, a)


def all_runs(a, x: Axis, p: Axis, r: Axis):
    own = runs(a, x, p, r)
    total = Sum(p, Sum(r, own)) + Scan("sum", r, own)
    return Read(Scan("sum", x, a), x, place(p, r)), total, *given(x, p, r, a)


def the_first_run_counted_twice(a, x: Axis, p: Axis, r: Axis):
    left = Read(Scan("sum", p, Sum(r, runs(a, x, p, r))), p, Index(p) - 1)
    return *in_runs(x, p, r, a, left=left), *given(x, p, r, a)


def a_maximum_added(a, x: Axis, p: Axis, r: Axis):
    own = runs(a, x, p, r, unit=ABSENT)
    left = before(Scan("max", p, Max(r, own)), p, ABSENT)
    return Read(Scan("max", x, a), x, place(p, r)), left + Scan("max", r, own), *given(x, p, r, a)


def a_maximum_of_sums(a, x: Axis, p: Axis, r: Axis):
    own = runs(a, x, p, r)
    left = before(Scan("sum", p, Max(r, own)), p)
    return *in_runs(x, p, r, a, left=left), *given(x, p, r, a)


def a_maximum_no_less_than_0(a, x: Axis, p: Axis, r: Axis):
    own = runs(a, x, p, r, unit=ABSENT)
    left = before(Scan("max", p, Max(r, own)), p, 0.0)
    right = Map("max", (left, Scan("max", r, own)))
    return Read(Scan("max", x, a), x, place(p, r)), right, *given(x, p, r, a)


def values_that_vary_along_the_run(a, x: Axis, p: Axis, r: Axis):
    return *in_runs(x, p, r, a), free(p, a), *apart(x, p, r)


def values_that_vary_along_the_runs(a, x: Axis, p: Axis, r: Axis):
    return *in_runs(x, p, r, a), free(r, a), *apart(x, p, r)


def recurrence(x, p, r, a, b, gains=None, between=None, since=None, start=None):
    gains = runs(a, x, p, r, 1.0) if gains is None else gains
    own = Recur(r, gains, runs(b, x, p, r))
    total = Reduce("prod", r, gains) if between is None else between
    left = before(Recur(p, total, Read(own, r, Size(r) - 1 if start is None else start)), p)
    value = left * (Scan("prod", r, gains) if since is None else since) + own
    return Read(Recur(x, a, b), x, place(p, r)), value, finite(a), finite(b), *given(x, p, r, a, b)


def no_gains_since(a, b, x: Axis, p: Axis, r: Axis):
    return recurrence(x, p, r, a, b, since=Const(1.0))


def the_last_gain_alone(a, b, x: Axis, p: Axis, r: Axis):
    return recurrence(x, p, r, a, b, since=runs(a, x, p, r, 1.0))


def no_gains_between(a, b, x: Axis, p: Axis, r: Axis):
    return recurrence(x, p, r, a, b, between=Const(1.0) + 0.0 * Sum(r, runs(a, x, p, r)))


def gains_of_0_beyond_the_last(a, b, x: Axis, p: Axis, r: Axis):
    return recurrence(x, p, r, a, b, gains=runs(a, x, p, r, 0.0))


def what_the_first_lanes_leave(a, b, x: Axis, p: Axis, r: Axis):
    return recurrence(x, p, r, a, b, start=Const(0))


def one_lane_on_anywhere(a, i: Coordinate, x: Axis):
    total = Scan("sum", x, a)
    return Read(total, x, i + 1), Read(total, x, i) + Read(a, x, i + 1), free(x, i)


def one_lane_on_from_before_the_first(a, i: Coordinate, x: Axis):
    inside, total = (Const(-1) <= i) & (i < Size(x) - 1), Scan("sum", x, a)
    return (
        where(inside, Read(total, x, i + 1), 0.0),
        where(inside, Read(total, x, i) + Read(a, x, i + 1), 0.0),
        free(x, i),
    )


def beyond_the_end_but_one(a, x: Axis, i: Axis):
    at = Size(x) - 2 + Index(i)
    return Read(Scan("sum", x, a), x, at), Sum(x, a), free(i, a), distinct(x, i)


def by_quotients_of_another_number(a, x: Axis, p: Axis, r: Axis):
    return read_by_quotients(a, x, p, r, number=Size(p))


def by_the_remainder_of_another_number(a, x: Axis, p: Axis, r: Axis):
    return read_by_quotients(a, x, p, r, rest=Size(r) + 1)


def by_quotients_of_the_lane_after(a, x: Axis, p: Axis, r: Axis):
    at = place(p, r) + 1
    return read_by_quotients(a, x, p, r, at=at)


def by_quotients_beyond_the_end(a, x: Axis, p: Axis, r: Axis):
    return read_by_quotients(a, x, p, r, inside=place(p, r) <= Size(x))


def by_quotients_of_no_runs(a, x: Axis, p: Axis, r: Axis):
    return read_by_quotients(a, x, p, r, at=Index(p) + Index(r))


FALSE = (
    by_quotients_of_another_number, by_the_remainder_of_another_number, by_quotients_of_the_lane_after,
    by_quotients_beyond_the_end, by_quotients_of_no_runs,
    this_run_counted_twice, two_runs_back, one_lane_on, runs_of_another_length, runs_that_overlap,
    the_unit_of_products, the_unit_of_maxima, one_lane_beyond_the_last, the_last_lane_left_out,
    no_mask_beyond_the_last, the_whole_run, all_runs, the_first_run_counted_twice, a_maximum_added, a_maximum_of_sums,
    a_maximum_no_less_than_0, values_that_vary_along_the_run, values_that_vary_along_the_runs, no_gains_since,
    the_last_gain_alone, no_gains_between, gains_of_0_beyond_the_last, what_the_first_lanes_leave,
    one_lane_on_anywhere, one_lane_on_from_before_the_first, beyond_the_end_but_one,
)  # fmt: skip


# Lanes of x, p and r: runs that end with x, before it and beyond it, of one lane and of several
SIZES = ((1, 1, 1), (2, 2, 2), (3, 3, 1), (5, 3, 2), (7, 3, 3), (4, 2, 2), (5, 1, 3), (2, 3, 2))


@pytest.fixture
def shipped(registry: object) -> list[Law]:
    REGISTRY.statements.clear()
    load_rules()
    return [law for name in SHIPPED if isinstance(law := REGISTRY.statements[name], Law)]


def alone(law: Law) -> str:
    """Return what induction over coordinates alone says."""
    load_provers()
    found = proving._PROVERS["places"][1](law, 0.3)
    return "none" if found is None else found.status


@cache
def instances():
    return run_file(folder("proofs") / "numeric.py", "proofs")["Instance"]


def found_false(law: Law) -> bool:
    """Tell whether numbers at some of the sizes refute a law; its axes but x and p have the lanes of r."""
    instance = instances()(law, None, {})
    lanes = ({axis.name: dict(x=x, p=p).get(axis.name, r) for axis in instance.axes} for x, p, r in SIZES)
    with suppress(NapkinError):  # of what does not vary along an axis that it is read along
        return any(instance.tried(sizes)[1] is not None for sizes in lanes)
    return False


def test_the_shipped_laws_of_runs_are_proved_by_it_and_quickly(shipped):
    verdicts = prove(shipped, use_cache=False)
    assert [(v.name, v.status, v.grade) for v in verdicts] == [(name, "proved", "A") for name in SHIPPED]
    assert [alone(law) for law in shipped] == ["proved"] * len(SHIPPED)
    assert not any(map(found_false, shipped))
    assert sum(v.seconds for v in verdicts) < 20
    for v in verdicts[: len(RUNS)]:
        assert v.files and all(set(file.answers.values()) == {file.status} for file in v.files)


@pytest.mark.parametrize("law", TRUE, ids=lambda law: law.__name__)
def test_what_is_true_of_prefixes_at_places_is_proved(law):
    (statement,) = stated(law)
    (verdict,) = prove([statement], use_cache=False)
    assert verdict.status == "proved" and not found_false(statement)


@pytest.mark.parametrize("law", FALSE, ids=lambda law: law.__name__)
def test_what_is_false_of_prefixes_at_places_is_not_proved_even_where_no_numbers_are_tried(law):
    (statement,) = stated(law)
    assert found_false(statement) and alone(statement) in ("unknown", "none")


def changed(law: Law) -> Iterator[Law]:
    """Yield a law with one part of its right side another one."""
    for t in subterms(law.rhs):
        for new in others(t):
            with suppress(NapkinError):
                yield replace(law, rhs=put(law.rhs, t, new))


def put(root: Term, old: Term, new: Term) -> Term:
    return new if root is old else rebuilt(root, tuple(put(child, old, new) for child in root.children))


def others(t: Term) -> Iterator[Term]:
    if isinstance(t, Const) and t.kind != "bool":
        yield Const(t.value + 1) if t.kind == "int" else Const(1.0 if t.value == 0 else 0.0)
    elif isinstance(t, (Index, Size)):
        yield from (type(t)(Axis(name)) for name in "xpr" if name != t.axis.name)
        yield t + 1
    elif isinstance(t, Map) and t.op in ("lt", "add", "mul", "max"):
        yield Map({"lt": "le", "add": "max", "mul": "add", "max": "add"}[t.op], t.args)
    elif isinstance(t, Map) and t.op == "where":
        yield from t.args[1:]
    elif isinstance(t, Reduce):
        yield from (Scan(t.monoid, t.axis, t.body), t.body)
    elif isinstance(t, Scan):
        yield from (t.body, Reduce("sum" if isinstance(t, Recur) else t.monoid, t.axis, t.body))
    elif isinstance(t, Read):
        yield Read(t.body, t.axis, t.index - 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_of_the_shipped_laws_with_one_part_changed_only_what_is_true_is_proved(name, shipped):
    law = next(law for law in shipped if law.name == name)
    variants = list(changed(law))
    assert len(variants) >= 25 and sum(map(found_false, variants)) >= 20
    assert [v.rhs for v in variants if alone(v) == "proved" and found_false(v)] == []
