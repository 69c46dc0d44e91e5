# mypy: disable-error-code="no-untyped-call, no-untyped-def, operator, arg-type"
"""Places of maxima: what provers know of them proves what is true, and nothing that is a little off."""

from __future__ import annotations

import pytest

from napkin_eq.lang.term import Const, Index, Map, Read, Reduce, Size
from napkin_eq.laws.law import ABSENT, Coordinate, Mask, free, where
from napkin_eq.prove import prove as proving
from napkin_eq.prove.prove import prove
from tests.statements import stated


def equal(a, b):
    return Map("eq", (a, b))


def first(x, mask):
    return Reduce("argmax", x, where(mask, Const(1.0), 0.0))


def last(x, mask):
    return Reduce("argmax", x, where(mask, Map("real", (Index(x),)), ABSENT))


def no_mask_before_the_first(c: Mask, x):
    return c & (first(x, c) <= Index(x)), c


def no_mask_after_the_last(c: Mask, x):
    return c & (Index(x) <= last(x, c)), c


def none_before_the_place_is_as_large(a, x):
    return (a < Reduce("max", x, a)) | (Reduce("argmax", x, a) <= Index(x)), Index(x) <= Index(x)


def found_from_the_first(a: Coordinate, b: Coordinate, x, y):
    found = equal(a, Read(b, y, Index(x)))
    return found & (first(y, equal(a, b)) <= Index(x)), found, free(y, a)


def found_to_the_last_or_beyond(a: Coordinate, b: Coordinate, x, y):
    found = equal(a, Read(b, y, Index(x)))
    return found & ((Index(x) <= last(y, equal(a, b))) | (Size(y) <= Index(x))), found, free(y, a)


def not_at_the_first(c: Mask, x):
    return c & (first(x, c) < Index(x)), c


def none_before_the_last(c: Mask, x):
    return c & (last(x, c) <= Index(x)), c


def the_first_of_another_mask(c: Mask, d: Mask, x):
    return c & (first(x, d) <= Index(x)), c


def the_least(c: Mask, x):
    return c & (Reduce("argmax", x, where(c, Const(1.0), 2.0)) <= Index(x)), c


def every_lane_after_the_place(a, x):
    return Reduce("argmax", x, a) <= Index(x), Index(x) <= Index(x)


def to_the_last_of_fewer_lanes(a: Coordinate, b: Coordinate, x, y):
    found = equal(a, Read(b, y, Index(x)))
    return found & (Index(x) <= last(y, equal(a, b))), found, free(y, a)


def past_the_end_by_one(a: Coordinate, b: Coordinate, x, y):
    found = equal(a, Read(b, y, Index(x)))
    return found & ((Index(x) <= last(y, equal(a, b))) | (Size(y) < Index(x))), found, free(y, a)


def at_any_number(a: Coordinate, b: Coordinate, i: Coordinate, y):
    found = equal(a, Read(b, y, i))
    return found & (first(y, equal(a, b)) <= i), found, free(y, a), free(y, i)


def another_in_every_lane(a: Coordinate, b: Coordinate, x, y):
    found = equal(a, Read(b, y, Index(x)))
    return found & (first(y, equal(a, b)) <= Index(x)), found


TRUE = (
    no_mask_before_the_first, no_mask_after_the_last, none_before_the_place_is_as_large, found_from_the_first,
    found_to_the_last_or_beyond,
)  # fmt: skip
FALSE = (
    not_at_the_first, none_before_the_last, the_first_of_another_mask, the_least, every_lane_after_the_place,
    to_the_last_of_fewer_lanes, past_the_end_by_one, at_any_number, another_in_every_lane,
)  # fmt: skip


@pytest.mark.parametrize("law", TRUE, ids=lambda law: law.__name__)
def test_what_is_true_of_a_place_is_proved_by_the_normal_form(law):
    (verdict,) = prove(stated(law), use_cache=False)
    assert (verdict.status, verdict.grade) == ("proved", "A")


@pytest.mark.parametrize("law", FALSE, ids=lambda law: law.__name__)
def test_what_is_false_of_a_place_is_not_proved_even_where_no_numbers_are_tried(law, monkeypatch):
    (verdict,) = prove(stated(law), use_cache=False)
    assert verdict.status == "refuted"
    monkeypatch.setattr(proving, "_PROVERS", {n: p for n, p in proving._PROVERS.items() if n != "numeric"})
    (verdict,) = prove(stated(law), use_cache=False)
    assert verdict.status == "unknown"
