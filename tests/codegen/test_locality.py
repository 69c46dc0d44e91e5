"""Sums that a loop reads while it carries them are gathered from all threads before they are added."""

from __future__ import annotations

import pytest

from napkin_eq.lang.axis import Axis
from napkin_eq.machine.plan_passes import decided
from napkin_eq.tile.compile_ahead import attempted
from napkin_eq.tile.ir import (
    Assign,
    Buffer,
    Coord,
    Iota,
    Kernel,
    Let,
    Load,
    Loop,
    Part,
    Plan,
    ReduceTile,
    Stmt,
    StoreTile,
    Value,
)
from napkin_eq.tile.printers import emit

A, C = Axis("a", 1024), Axis("c", 4096)
SUM = Value("s", ("a",), "f32")
TILE, PART, NEXT = Value("t", ("a", "c"), "f32"), Value("p", ("a",), "f32"), Value("n", ("a",), "f32")
AT, ALONG = Value("a_at", ("a",), "i32"), Value("c_at", ("c",), "i32")
AROUND = Value("around", ("a", "c"), "f32")


def walk(*, read_inside: bool, after: int, loaded: bool = True, op: str = "add") -> Plan:
    """Return a plan that sums rows block by block, reads the sum so far inside of the loop, and so often after it."""
    made = TILE.name if loaded else "doubled"
    doubled: list[Stmt] = [] if loaded else [Let(Value("doubled", ("a", "c"), "f32"), "add", ("t", "t"))]
    inside: list[Stmt] = [Let(AROUND, "add", ("s", "t")), StoreTile("around_", ("a_at", "c_at"), "around")]
    body: list[Stmt] = [
        Iota(ALONG, "c"),
        Load(TILE, "A", ("a_at", "c_at")),
        *doubled,
        ReduceTile(PART, "sum", "c", made),
        *(inside if read_inside else []),
        Let(NEXT, op, ("s", "p")),
        Assign("s", "n"),
    ]
    out = [Buffer(f"out{number}", (A,), "f32") for number in range(after)]
    written = [*out, *([Buffer("around_", (A, C), "f32")] if read_inside else [])]
    stored: list[Stmt] = []
    for number in range(after):
        name = Value(f"r{number}", ("a",), "f32")
        stored += [Let(name, "mul", ("s", 2.0 + number)), StoreTile(f"out{number}", ("a_at",), name.name)]
    array = Buffer("A", (A, C), "f32")
    kernel = Kernel(
        "k", (array,), tuple(written), (Coord("a", A, 16, "group"), Coord("c", C, 128, "walk")), ("a",),
        (Iota(AT, "a"), Loop("c", ((SUM, 0.0),), (Part(0, 4096, tuple(body)),)), *stored),
    )  # fmt: skip
    return decided(Plan("p", (array,), tuple(written), (kernel,)))


@pytest.mark.parametrize(("read_inside", "after"), [(True, 0), (True, 1), (True, 2), (False, 2)])
def test_a_sum_that_a_loop_reads_or_more_than_one_statement_after_it_is_gathered_at_once(
    read_inside: bool, after: int
) -> None:
    text = emit(walk(read_inside=read_inside, after=after))
    assert "from_all_threads(tl.sum(" in text
    (row,) = attempted(text, "sm_90", ["k_kernel"])
    assert not row.get("error"), row


def test_what_is_read_once_after_the_loop_stays_with_the_threads() -> None:
    assert "from_all_threads" not in emit(walk(read_inside=False, after=1))


@pytest.mark.parametrize("op", ["max", "mul", "sub"])
def test_a_sum_that_another_operation_carries_is_gathered_at_once(op: str) -> None:
    text = emit(walk(read_inside=False, after=1, op=op))
    assert "from_all_threads(tl.sum(" in text
    (row,) = attempted(text, "sm_90", ["k_kernel"])
    assert not row.get("error"), row


def test_what_is_computed_is_no_case_of_it() -> None:
    assert "from_all_threads" not in emit(walk(read_inside=True, after=2, loaded=False))




@pytest.mark.parametrize(("op", "monoid", "start"), [("max", "max", -1e30), ("mul", "prod", 1.0), ("sub", "sum", 0.0)])
def test_a_sum_that_another_operation_carries_by_another_name_is_gathered_at_once(
    op: str, monoid: str, start: float
) -> None:
    """A reduction over one lane is what it reduces, by another name."""
    walked, along = Axis("b", 64), Axis("c", 256)
    array, out = Buffer("A", (A, walked, along), "f32"), Buffer("o", (A,), "f32")
    sums = Value("q", ("a", "b"), "f32")
    body: tuple[Stmt, ...] = (
        Iota(Value("b_at", ("b",), "i32"), "b"),
        Load(Value("t", ("a", "b", "c"), "f32"), "A", ("a_at", "b_at", "c_at")),
        ReduceTile(sums, "sum", "c", "t"),
        ReduceTile(PART, monoid, "b", "q"),
        Let(NEXT, op, ("s", "p")),
        Assign("s", "n"),
    )
    coords = Coord("a", A, 16, "group"), Coord("b", walked, 1, "walk"), Coord("c", along, 256, "whole")
    loop = Loop("b", ((SUM, start),), (Part(0, 64, body),))
    kernel = Kernel(
        "k", (array,), (out,), coords, ("a",),
        (Iota(AT, "a"), Iota(ALONG, "c"), loop, StoreTile("o", ("a_at",), "s")),
    )  # fmt: skip
    text = emit(decided(Plan("p", (array,), (out,), (kernel,))))
    assert text.count("from_all_threads(tl.sum(") == 1
    (row,) = attempted(text, "sm_90", ["k_kernel"])
    assert not row.get("error"), row
