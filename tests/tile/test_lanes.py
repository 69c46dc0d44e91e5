"""Streams folded lane by lane: where, that their accumulators meet in the right value, and that wrong lanes are
refuted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.frontend.gallery import diagram
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.term import Term
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.pipeline.derive import derive
from napkin_eq.tile import stream_facts
from napkin_eq.tile.ir import Iota, Kernel, Let, Loop, ReduceTile, Start, Stmt, statements
from napkin_eq.tile.stream_facts import RUN
from napkin_eq.verify.index.prove_index import answered, masks_of, queries
from tests.arrays import assert_agrees, inputs, run

WIDE = 65536
t, x, w = nq.axes("t x w", x=WIDE)
A, B, C = nq.array("A", t, x), nq.array("B", t, x), nq.array("C", t)
# Accumulators that rest on one another, on the number of elements so far, and on none.
DIAGRAMS: dict[str, Callable[[], Term]] = {
    "maximum": lambda: nq.max(A * B, x),
    "sum": lambda: nq.sum(A * B, x),
    "log of a sum of exponentials": lambda: nq.logsumexp(A + C, x),
    "mean under softmax": lambda: nq.sum(nq.softmax(A, x) * B, x),
    "variance": lambda: nq.mean((A - nq.mean(A, x)) * (A - nq.mean(A, x)), x),
    "covariance": lambda: nq.mean((A - nq.mean(A, x)) * (B - nq.mean(B, x)), x),
    "by position": lambda: nq.sum(A * nq.index(x), x),
}


def lanes(found: Derivation) -> set[str]:
    return {c.role for k in found.plan.kernels for c in k.coords} & {"lane", "run"}


@pytest.mark.parametrize("name", list(DIAGRAMS))
def test_lanes_meet_in_the_value_of_the_whole(name):
    found = derive(Diagram("lanes", (("out", DIAGRAMS[name]()),)))
    assert lanes(found) == {"lane", "run"}
    assert_agrees(found, {"t": 2, "x": WIDE})


def test_lanes_of_sums_that_move_by_steps_meet_in_the_value_of_the_whole(monkeypatch):
    """Each lane has means and sums of its own, from which its covariance is moved to the means of all."""
    monkeypatch.setattr(stream_facts, "LEAST_LANED", 256)
    found = derive(Diagram("lanes", (("out", DIAGRAMS["covariance"]()),)))
    assert lanes(found) == {"lane", "run"}
    assert_agrees(found, {"t": 2, "x": WIDE})


@pytest.mark.parametrize("name", ["softmax", "layer_norm", "rms_norm", "logsumexp"])
def test_no_loop_makes_threads_agree(name):
    """What a loop over lanes reduces is each thread's own; threads meet after it, once for each accumulator."""
    axis = "x" if name in ("softmax", "logsumexp") else "d"
    (kernel,) = derive(diagram(name, t=4096, **{axis: WIDE}), dtype="bfloat16").plan.kernels
    inside = [
        s for loop in kernel.body if isinstance(loop, Loop) for s in statements((loop,)) if isinstance(s, ReduceTile)
    ]
    after = [s for s in kernel.body if isinstance(s, ReduceTile)]
    accumulators = sum(len(s.carried) for s in kernel.body if isinstance(s, Loop))
    assert {kernel.coord(s.coord).role for s in inside} == {"run"} and len(after) == accumulators > 0
    assert {kernel.coord(s.coord).role for s in after} == {"lane"}
    (lane,) = (c for c in kernel.coords if c.role == "lane")
    (stream,) = (c for c in kernel.coords if c.role == "stream")
    assert lane.tile * RUN == stream.tile


def test_rows_of_every_kind_agree():
    """Lanes whose maxima differ by more than a number has exponents, whole lanes that add nothing, all of a row the
    same.
    """
    found = derive(diagram("softmax", t=4, x=WIDE))
    rows = inputs(found.diagram, {"t": 4, "x": WIDE})["A"]
    rows[0, ::RUN] += 300.0
    rows[1, : WIDE // 2] = -1e30
    rows[2, RUN:] = -1e30
    rows[3] = 7.0
    out = run(found, {"A": rows}, {"t": 4, "x": WIDE})["out"]
    shifted = np.exp(rows - rows.max(axis=1, keepdims=True))
    np.testing.assert_allclose(out, shifted / shifted.sum(axis=1, keepdims=True), rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("sizes", [{"x": WIDE + 1}, {"x": None}, {"x": 4096}])
def test_blocks_that_reach_past_the_end_or_are_whole_rows_have_no_lanes(sizes):
    assert not lanes(derive(diagram("softmax", **sizes)))


def test_a_masked_stream_has_no_lanes():
    free = nq.axes("free")[0]
    length = nq.array("length", free, dtype="int32")
    rows = nq.array("R", free, x)
    found = derive(Diagram("masked", (("out", nq.sum(nq.exp(rows) * rows, x, where=nq.index(x) < length)),)))
    assert not lanes(found)
    assert_agrees(found, {"free": 3, "x": WIDE})


r, c = nq.axes("r c", r=40003, c=130)
COLUMNS: dict[str, Callable[[], Term]] = {
    "sum": lambda: nq.sum(nq.array("A", r, c), r),
    "of exponentials": lambda: nq.sum(nq.exp(nq.array("A", r, c)), r),
    "least of chosen": lambda: nq.min(nq.where(nq.array("A", r, c) < 0, nq.array("A", r, c), 1.0), r),
    "product with a row": lambda: nq.sum(nq.array("A", r, c) * nq.array("C", r), r),
    "under a mask": lambda: nq.sum(nq.array("A", r, c), r, where=nq.index(r) < nq.index(c) * 300),
}


@pytest.mark.parametrize("name", list(COLUMNS))
def test_lanes_of_columns_meet_in_the_value_of_the_whole(name):
    """Blocks reach past the end of rows and of columns, and stretches past the last row."""
    found = derive(Diagram("columns", (("out", COLUMNS[name]()),)))
    assert_agrees(found, {"r": 40003, "c": 130})
    (stores,) = (output.placed.stores for output in found.outputs)
    for store, kernel in zip(stores, found.plan.kernels, strict=True):
        assert answered(queries(kernel, masks_of(store))).verdict == "proved"


def test_plans_whose_lanes_fold_columns_are_tried_in_small():
    """Runs divide 4240 rows, and not those of the plan in small."""
    rows, columns = nq.axes("r c", r=4240, c=128)
    mean = nq.mean(nq.array("A", rows, columns) * nq.array("B", rows, columns), rows)
    found = derive(Diagram("columns", (("out", mean),)), hardware="a100", dtype="float16")
    assert lanes(found) == {"lane", "run"} and found.outputs[0].translation.status == "agrees"


@pytest.mark.parametrize("name", ["sum", "of exponentials", "least of chosen"])
def test_no_loop_over_rows_makes_threads_agree(name):
    first = derive(Diagram("columns", (("out", COLUMNS[name]()),))).plan.kernels[0]
    inside = [s for s in statements(first.body) if isinstance(s, ReduceTile) and s not in first.body]
    assert {first.coord(s.coord).role for s in inside} == {"run"}
    assert [first.coord(s.coord).role for s in first.body if isinstance(s, ReduceTile)] == ["lane"]
    (lane,) = (at for at in first.coords if at.role == "lane")
    (stream,) = (at for at in first.coords if at.role == "stream")
    assert lane.tile * RUN == stream.tile and any(at.tile > 1 and at.role == "group" for at in first.coords)


def test_a_sum_of_rows_of_a_turned_array_has_no_lanes_of_columns():
    """What lies along the fold's own axis is read along it."""
    found = derive(Diagram("turned", (("out", nq.sum(nq.array("A", c, r), r)),)))
    assert all(not lanes_fold_columns(kernel) for kernel in found.plan.kernels)


def lanes_fold_columns(kernel: Kernel) -> bool:
    return any(at.role == "lane" for at in kernel.coords) and any(
        at.tile > 1 and at.role == "group" for at in kernel.coords
    )


def scaled(by: int) -> Callable[[Stmt], Stmt]:
    return lambda s: (
        replace(s, args=(s.args[0], by)) if isinstance(s, Let) and s.op == "mul" and s.args[1] == RUN else s
    )


def without(name: str) -> Callable[[Stmt], Stmt]:
    """Leave the second summand out of the sum of an index that has it, so that one lane is folded where all
    should be.
    """
    return lambda s: (
        replace(s, args=(s.args[0], 0)) if isinstance(s, Let) and s.op == "add" and s.args[1] == name else s
    )


def names(found: Derivation, role: str) -> str:
    (kernel,) = found.plan.kernels
    coords = {c.name for c in kernel.coords if c.role == role}
    return next(s.out.name for s in statements(kernel.body) if isinstance(s, (Start, Iota)) and s.coord in coords)


WRONG: dict[str, Callable[[Derivation], Callable[[Stmt], Stmt]]] = {
    "lanes that overlap": lambda found: scaled(RUN // 2),
    "lanes with gaps between": lambda found: scaled(2 * RUN),
    "the first of each run alone": lambda found: without(names(found, "run")),
    "the first block again and again": lambda found: without(names(found, "stream")),
}


def asked(found: Derivation, change: Callable[[Stmt], Stmt]) -> tuple[bool, set[str]]:
    """Change a kernel's statements, and ask about them: whether anything was changed, and what is refuted."""
    (kernel,) = found.plan.kernels

    def body(stmts: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        loops = (
            replace(s, parts=tuple(replace(p, body=body(p.body)) for p in s.parts)) if isinstance(s, Loop) else s
            for s in stmts
        )
        return tuple(map(change, loops))

    broken = replace(kernel, body=body(kernel.body))
    (store,) = found.outputs[0].placed.stores
    report = answered(queries(broken, masks_of(store)))
    assert broken != kernel or report.verdict == "proved"
    return broken != kernel, {a.query.kind for a in report.answered if a.verdict == "refuted"}


@pytest.mark.parametrize("name", list(WRONG))
def test_wrong_lanes_are_refuted(name):
    found = derive(diagram("logsumexp", t=512, x=WIDE), dtype="bfloat16")
    assert asked(found, lambda s: s) == (False, set())
    changed, refuted = asked(found, WRONG[name](found))
    assert changed and "aligned" in refuted
