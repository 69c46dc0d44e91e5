"""The fuzzer: what it draws is well-typed and covers the alphabet, it finds what is planted, and shrinks it to a few
nodes.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from dataclasses import dataclass, replace
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import napkin_eq as nq
from napkin_eq.cli.main import main
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.json_form import dumps_diagram, loads_diagram
from napkin_eq.lang.operators import OPS, PLACES
from napkin_eq.lang.term import Input, Map, Read, Reduce, Scan, subterms
from napkin_eq.numerics import stability
from napkin_eq.pipeline.derive import derive
from napkin_eq.pipeline.unfused import NOTE
from napkin_eq.tile.places import told
from napkin_eq.verify.fuzz import fuzz as fuzzing
from napkin_eq.verify.fuzz.fuzz import (
    KINDS,
    Disagreement,
    Finding,
    Part,
    Report,
    drawn,
    examine,
    fuzz,
    gave_up,
    opened,
    together,
)
from napkin_eq.verify.fuzz.random_diagrams import LENGTHS, Shape, random_diagram
from napkin_eq.verify.fuzz.shrink import shrunk, size


def of(number: int, shape: Shape = Shape()) -> Diagram:  # noqa: B008
    return random_diagram(Random(number).randrange, shape)


def test_what_is_drawn_covers_the_alphabet_within_its_limits():
    seen: Counter[str] = Counter()
    several = 0
    for number in range(400):
        diagram = of(number)
        nodes = subterms(*(term for _, term in diagram.outputs))
        assert len(nodes) <= Shape().nodes
        seen.update(type(t).__name__ for t in nodes)
        seen.update(t.op for t in nodes if isinstance(t, Map))
        seen.update(t.dtype for t in nodes if isinstance(t, Input))
        several += len(diagram.outputs) > 1
    missing = {
        *OPS,
        "Reduce",
        "Scan",
        "Read",
        "Index",
        "Size",
        "Length",
        "Const",
        "float16",
        "float32",
        "int32",
        "int64",
        "bool",
    } - set(seen)
    assert not missing
    assert several > 30


def test_places_parts_and_folds_from_the_last_lane_are_drawn_where_asked_for():
    places, read, backwards, parted = 0, 0, 0, 0
    for number in range(200):
        nodes = subterms(*(term for _, term in of(number, Shape(places=True)).outputs))
        assert not any(
            isinstance(t, Reduce) and t.monoid in PLACES for _, term in of(number).outputs for t in subterms(term)
        )
        places += any(isinstance(t, Reduce) and t.monoid in PLACES for t in nodes)
        read += any(isinstance(t, Read) and any(isinstance(part, Reduce) for part in subterms(t.index)) for t in nodes)
        backwards += any(isinstance(t, Read) and isinstance(t.body, Scan) for t in nodes)
        parted += any(masks for t in nodes if isinstance(t, Map) and t.op == "where" for _, masks in told(t))
    assert places > 25 and read > 2 and backwards > 25 and parted > 5, (places, read, backwards, parted)


def test_the_same_numbers_draw_the_same_diagram():
    assert [dumps_diagram(of(n)) for n in range(20)] == [dumps_diagram(of(n)) for n in range(20)]
    assert drawn(3, 5, Shape(), "cpu") == drawn(3, 5, Shape(), "cpu")
    assert drawn(3, 5, Shape(), "cpu")[0].term is not drawn(4, 5, Shape(), "cpu")[0].term


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_source_of_numbers_draws_a_diagram_that_json_gives_back(data):
    diagram = random_diagram(lambda below: data.draw(st.integers(0, below - 1)))
    assert loads_diagram(dumps_diagram(diagram)) == diagram


def test_a_benchmark_may_ask_for_real_sizes():
    shape = Shape(nodes=30, lengths=(4096, 8192), elements=2**40, dtypes=("float",))
    assert {axis.size for n in range(30) for axis in of(n, shape).axes() if axis.name in "abc"} & {4096, 8192}
    assert max(LENGTHS) == 70


def test_a_diagram_shrinks_to_what_matters():
    def rooted(diagram: Diagram) -> bool:
        return any(isinstance(t, Map) and t.op == "sqrt" for t in subterms(diagram.term))

    number = next(n for n in range(500) if rooted(of(n)) and size(of(n))[0] > 15)
    small = shrunk(of(number), rooted)
    assert rooted(small)
    assert size(small)[0] <= 3  # one output of two nodes


def test_what_is_right_is_not_found():
    y, x = nq.axes("y x", y=5, x=33)
    A = nq.array("A", y, x)
    diagram = Diagram("right", (("out", nq.softmax(A, x)), ("top", nq.max(A, x))))
    assert not examine(diagram, derive(diagram, dtype="float32"), "float32")


@pytest.mark.parametrize("kind", ["plan", "shape", "term"])
def test_what_is_wrong_is_found(kind):
    y, x = nq.axes("y x", y=5, x=33)
    A = nq.array("A", y, x)
    diagram = Diagram("wrong", (("out", nq.sum(A, x)),))
    other = {"plan": nq.max(A, x), "term": nq.sum(A * 2.0, x), "shape": nq.sum(A, y)}[kind]
    if kind == "plan":  # a term that is right, a plan that is not
        right, wrong = derive(diagram, dtype="float32"), derive(Diagram("wrong", (("out", other),)), dtype="float32")
        right.plan = wrong.plan
    else:
        right = derive(Diagram("wrong", (("out", other),)), dtype="float32")
    with pytest.raises(KINDS[kind]):
        examine(diagram, right, "float32")


def test_axes_are_left_open_and_held_at_several_sizes(monkeypatch):
    y, x = nq.Axis("y"), nq.Axis("x", 33)
    A = nq.array("A", y, x)
    diagram, lengths = Diagram("left", (("out", nq.softmax(A, y)), ("top", nq.max(A, x)))), list[int]()
    held = fuzzing._held

    def counted(diagram, derivation, arrays, sizes):
        lengths.append(sizes["y"])
        held(diagram, derivation, arrays, sizes)

    monkeypatch.setattr(fuzzing, "_held", counted)
    right, wrong = (
        derive(replace(diagram, outputs=outputs), dtype="float32")
        for outputs in (diagram.outputs, (("out", nq.softmax(A, x)), ("top", nq.max(A, x))))
    )
    assert not examine(diagram, right, "float32")
    assert len({*lengths}) > 1 and {*lengths} <= {*fuzzing.OPEN_SIZES}
    right.plan = wrong.plan
    with pytest.raises(KINDS["plan"]):
        examine(diagram, right, "float32")


def test_a_drawn_diagram_is_examined_with_open_axes_too():
    left = [made for number in range(20) for made in opened(of(number))]
    assert len(left) > 15 and all(any(axis.size is None for axis in made.axes()) for made in left)
    assert [made for number in range(20) for made in opened(of(number))] == left
    report = fuzz(8.0, 3, shape=Shape(nodes=6, places=True))
    assert report.counts["drawn"] > 1 and report.findings == []


def test_what_is_off_only_where_products_are_fused_is_found(monkeypatch):
    """A GPU fuses a product with what it is added to: of the same product taken away its last digit is left."""
    b, a = nq.axes("b a", b=17, a=31)
    A = nq.array("A", b, a)
    diagram = Diagram("fused", (("out", A - A + nq.mean(A - A, b)),))
    assert not examine(diagram, derive(diagram, dtype="float16"), "float16")
    monkeypatch.setattr(stability.Stability, "ratio", lambda *args: 1.0)  # what keeps such a form from being chosen
    with pytest.raises(KINDS["rounded"], match="products fused"):
        examine(diagram, derive(diagram, dtype="float16"), "float16")


def test_a_search_that_gave_up_though_no_limit_ended_it_is_told():
    y, x = nq.axes("y x", y=5, x=33)
    diagram = Diagram("unsearched", (("out", nq.softmax(nq.array("A", y, x), x)),))
    found = derive(diagram, dtype="float32")
    found.outputs[0].graph.notes.extend([NOTE, "the reason"])
    assert gave_up(found) == "the reason" and gave_up(derive(diagram, dtype="float32")) == ""
    found.limited = ("extraction",)
    assert gave_up(found) == ""


def test_a_fault_is_found_and_shrunk(monkeypatch):
    def broken(diagram, **options):
        if any(isinstance(t, Map) and t.op == "exp" for t in subterms(diagram.term)):
            raise KeyError("planted")
        raise NapkinError("nothing to see")

    monkeypatch.setattr(sys.modules["napkin_eq.pipeline.derive"], "derive", broken)
    report = fuzz(3.0, seed=0, shape=Shape(nodes=20))
    (found,) = report.findings
    assert (found.kind, "planted" in found.says) == ("fault", True)
    assert size(found.diagram)[0] <= 4
    assert report.counts["drawn"] > report.counts["refused"] > 0
    assert loads_diagram(json.dumps(report.data()["findings"][0]["diagram"])) == found.diagram
    assert issubclass(KINDS["fault"], Disagreement)


@dataclass(frozen=True, slots=True)
class Dying(Part):
    """A process that sees one diagram and dies at the second, as one does whose compiler has a fault."""

    def examined(self, begun):
        begun("drawn_0")
        yield Report(self.seed, Counter(drawn=1))
        begun("drawn_1")
        os._exit(9)


def test_a_process_that_dies_is_told_with_what_it_was_at_and_what_it_saw_is_kept():
    report = together([Dying(time.monotonic() + 60, 0, False, Shape(), 1.0, 0, 1)], Report(0))
    assert (report.counts["drawn"], report.killed) == (2, ["drawn_1"])
    assert "a process was killed at drawn_1" in str(report)


def test_findings_that_come_to_the_same_are_one_also_once_they_are_smaller():
    small, large, other = (Finding(kind, says, of(1), "float32") for kind, says in (
        ("plan", "an output differs"), ("plan", "another one differs"), ("fault", "derive: no")))  # fmt: skip
    report = Report(0)
    for found in (Report(0, findings=[small]), Report(0, findings=[large, other])):
        report.add(found)
    assert (report.findings, report.counts["repeated"]) == ([small, large, other], 0)
    report.add(Report(0, smaller={"plan" + large.says[:60]: small}))
    assert (report.findings, report.counts["repeated"]) == ([small, other], 1)


def test_a_run_of_which_much_was_refused_is_unknown():
    report = Report(0)
    assert report.says_nothing
    report.counts.update(drawn=20, derived=18, refused=2)
    assert not report.says_nothing
    report.counts.update(drawn=1, refused=1)
    assert report.says_nothing and "unknown: too few were derived" in str(report)


def test_the_command_refuses_what_is_no_number_of_seconds(capsys):
    assert main(["fuzz", "--seconds", "-1"]) == 2
    assert main(["fuzz", "--seconds", "nan"]) == 2
    assert capsys.readouterr().err.count("\n") == 2
