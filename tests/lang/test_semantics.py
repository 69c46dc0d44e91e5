"""One table of meanings: what each operator does at the edges is what evaluation and every printer do
(napkin_eq/lang/operators.py).
"""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.numpy_semantics import random
from napkin_eq.lang.operators import ABSENT, EDGES, OPS
from napkin_eq.lang.term import Map, Reduce, Scan, Term, as_real
from napkin_eq.pipeline.derive import derive
from napkin_eq.tile.printers import emit, targets

pytest.importorskip("torch")
pytest.importorskip("triton")
from tests.codegen.test_triton import DTYPES, loaded  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
VALUES = np.array([-3.0, -0.5, -0.0, 0.0, 0.5, 2.5, 300.0, 60000.0])  # with an absent one beside each
PLAIN: dict[str, Any] = {
    "neg": lambda a: -a, "abs": abs, "inv": lambda a: 1 / a, "sqrt": math.sqrt, "log": math.log, "sin": math.sin,
    "cos": math.cos, "floor": math.floor,
    "round": round, "exp": lambda a: math.exp(a) if a < 700 else math.inf, "sigmoid": lambda a: 1 / (1 + math.exp(-a)),
    "tanh": math.tanh, "erf": math.erf,
    "expm1": lambda a: math.expm1(a) if a < 700 else math.inf, "atan": math.atan,
}  # fmt: skip


def by_the_table(op: str, value: float) -> float:
    """Return what the table says of an operator, mathematics where it says nothing."""
    edge = EDGES[op]
    if value == ABSENT:
        return edge.absent
    value = max(value, 0.0) if edge.clamps else value
    if value == 0 and edge.pole is not None:
        return edge.pole
    return ABSENT if op == "log" and value == 0 else float(PLAIN[op](value))


def ends(term: Term, arrays: dict[str, Any], dtype: str) -> dict[str, np.ndarray[Any, Any]]:
    """Return the value of a term by evaluation, by the plan and by the emitted kernel in the interpreter."""
    found = derive(Diagram("edges", (("out", term),)), dtype=dtype)
    order = [a.name for a in found.plan.outputs[0].dims]
    return {
        "evaluate": evaluate(term, arrays, order=order),
        "numpy": emit(found.plan, "numpy")(arrays)["out"],
        "triton": printed(found, arrays),
    }


def printed(found: Any, arrays: dict[str, Any]) -> np.ndarray[Any, Any]:
    import tempfile

    import torch

    given = {b.name: torch.tensor(arrays[b.name]).to(DTYPES[b.dtype]) for b in found.plan.inputs}
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        module = loaded(found.triton(), Path(folder))
        result = module.run(**given)
    return np.asarray(result.to(torch.float64))


def agree(found: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any], dtype: str) -> None:
    most = {"float16": 65504.0, "float32": 3e38}.get(dtype, math.inf)
    wanted = np.where(wanted > most, math.inf, wanted)
    assert not np.isnan(found).any()
    assert (np.isneginf(found) == np.isneginf(wanted)).all(), (found, wanted)
    live = np.isfinite(wanted)
    step = {"float16": 2e-3, "float32": 2e-6}.get(dtype, 1e-12)
    assert np.allclose(found[live], wanted[live], rtol=step, atol=step), (found, wanted)


def with_absent(axis: nq.Axis, dtype: str) -> tuple[Term, dict[str, Any], np.ndarray[Any, Any]]:
    a, here = nq.array("A", axis, dtype=dtype), nq.array("here", axis, dtype="bool")
    data, kept = np.concatenate([VALUES, VALUES]), np.repeat([True, False], len(VALUES))
    return nq.where(here, a, ABSENT), {"A": data, "here": kept}, np.where(kept, data, ABSENT)


def test_every_operator_of_one_number_is_in_the_table():
    assert set(EDGES) == {
        name for name, op in OPS.items() if len(op.takes) == 1 and op.gives != "bool" and name != "real"
    }


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("op", sorted(EDGES))
def test_an_operator_does_everywhere_what_the_table_says(op, dtype):
    (t,) = nq.axes("t", t=2 * len(VALUES))
    term, arrays, data = with_absent(t, dtype)
    wanted = np.array([by_the_table(op, v) for v in data])
    for where, found in ends(Map(op, (term,)), arrays, dtype).items():
        agree(found, wanted, dtype if where == "triton" else "")


TWO = {
    "add": lambda a, b: a + b, "mul": lambda a, b: ABSENT if ABSENT in (a, b) else a * b, "max": max, "min": min,
}  # fmt: skip


@pytest.mark.parametrize("op", sorted(TWO))
def test_an_operator_of_two_numbers_absorbs_absence(op):
    t, x = nq.axes("t x", t=2 * len(VALUES), x=2 * len(VALUES))
    a, first, data = with_absent(t, "float32")

    other = nq.rename(a, {t: x})
    wanted = np.array([[TWO[op](u, v) for v in data] for u in data])
    for where, found in ends(Map(op, (a, other)), first, "float32").items():
        agree(found, wanted if wanted.shape == found.shape else wanted.T, "float32" if where == "triton" else "")


@pytest.mark.parametrize("op", ["floordiv", "mod"])
def test_quotients_by_zero_are_zero(op):
    t, x = nq.axes("t x", t=9, x=7)
    i, j = nq.array("I", t, dtype="int32"), nq.array("J", x, dtype="int32")
    arrays = {"I": np.arange(-4, 5), "J": np.arange(-3, 4)}
    wanted = np.array(
        [[0 if b == 0 else a // b if op == "floordiv" else a % b for b in arrays["J"]] for a in arrays["I"]]
    )
    for found in ends(Map("real", (Map(op, (i, j)),)), arrays, "float32").values():
        assert (found == wanted).all()


@pytest.mark.parametrize("seed", [0, -3, 2**40 + 17])
def test_bits_are_the_same_everywhere(seed):
    """Of counters past 32 bits, of streams along tiles, of each word: in evaluation, in the plan and in a kernel."""
    t, x, two = nq.axes("t x two", t=6, x=64, two=2)
    state, a = nq.array("S", two, dtype="int64"), nq.array("A", t, x)
    key, begin = (nq.take(state, two, place) for place in (0, 1))
    bits = nq.random(key, nq.index(t) * 16 + nq.index(x) // 4, begin // 4 + nq.index(t) // 2, nq.index(x) % 4)
    arrays = {"S": np.array([seed, 4 * (2**32 - 1)]), "A": np.ones((6, 64))}
    i, j = np.arange(6)[:, None], np.arange(64)
    words = random(np.int64(seed), i * 16 + j // 4, 2**32 - 1 + i // 2, j % 4)
    for most in (-(2**31), -1, 12345, 2**31 - 1):
        for where, found in ends(nq.where(bits < most, a, 0.0), arrays, "float32").items():
            assert (found == (words < most)).all(), where
    assert (ends(a * as_real(bits // 2**12), arrays, "float32")["triton"] == words // 2**12).all()


@pytest.mark.parametrize("monoid", ["sum", "max", "prod"])
@pytest.mark.parametrize("scanned", [False, True])
def test_a_fold_is_absent_where_a_lane_of_its_is(monoid, scanned):
    t, x = nq.axes("t x", t=6, x=7)
    a, here, kept = (
        nq.array("A", t, x, dtype="float32"),
        nq.array("here", t, x, dtype="bool"),
        nq.array("kept", t, x, dtype="bool"),
    )
    generator = np.random.default_rng(3)
    arrays = {
        "A": generator.choice([-2.0, -1.0, 0.0, 0.5, 3.0], (6, 7)),
        "here": generator.random((6, 7)) < 0.8,
        "kept": generator.random((6, 7)) < 0.7,
    }
    body = nq.where(here, a, ABSENT)
    term: Term = Scan(monoid, x, body) if scanned else Reduce(monoid, x, body, kept)
    fold = {"sum": math.fsum, "max": max, "prod": math.prod}[monoid]
    none = {"sum": 0.0, "max": ABSENT, "prod": 1.0}[monoid]

    def value(lanes: list[float]) -> float:
        return none if not lanes else ABSENT if monoid != "max" and ABSENT in lanes else float(fold(lanes))

    data = np.where(arrays["here"], arrays["A"], ABSENT)
    if scanned:
        wanted = np.array([[value(list(row[: n + 1])) for n in range(7)] for row in data])
    else:
        wanted = np.array([value(list(row[keep])) for row, keep in zip(data, arrays["kept"], strict=True)])
    arrays = arrays if not scanned else {k: v for k, v in arrays.items() if k != "kept"}
    for where, found in ends(term, arrays, "float32").items():
        agree(found, wanted, "float32" if where == "triton" else "")


def test_a_contraction_of_absent_values_is_absent():
    m, n, k = nq.axes("m n k", m=32, n=48, k=64)
    a, b, here = nq.array("A", m, k), nq.array("B", k, n), nq.array("here", m, k, dtype="bool")
    generator = np.random.default_rng(5)
    arrays = {
        "A": generator.standard_normal((32, 64)),
        "B": generator.standard_normal((64, 48)),
        "here": generator.random((32, 64)) < 0.98,
    }
    found = ends(nq.sum(nq.where(here, a, ABSENT) * b, k), arrays, "float32")
    rows = arrays["here"].all(axis=1)
    assert rows.any() and not rows.all()
    for value in found.values():
        assert (np.isneginf(value) == ~rows[:, None]).all()


def test_what_gluon_writes_computes_the_same():
    """Gluon runs only on a GPU: its texts for operators are evaluated with NumPy in the place of its functions."""
    assert "gluon" in targets()
    side = sys.modules["napkin_eq.codegen.gluon.side"]

    class Functions:
        maximum, minimum, where, exp, exp2, log, log2, sqrt = (
            np.maximum,
            np.minimum,
            np.where,
            np.exp,
            np.exp2,
            np.log,
            np.log2,
            np.sqrt,
        )
        sin, cos, abs, floor, erf = np.sin, np.cos, np.abs, np.floor, np.vectorize(math.erf)

    values = np.array([-np.inf, -300.0, -3.0, 0.5, 2.5, 300.0])
    for op, edge in EDGES.items():
        text = side.ONE.get(op) or (f"{side.CALLS[op]}({{0}})" if op in side.CALLS else None)
        if text is None:
            continue  # refused by name: the plan is then printed in Triton
        with np.errstate(all="ignore"):
            found = eval(text.format("x"), {"gl": Functions, "x": values})
            for value, result in zip(values, found, strict=True):
                if value == ABSENT:
                    machine = math.nan if op in ("sqrt", "log") else edge.machine
                    assert result == machine or (math.isnan(machine) and math.isnan(result)), op
                elif not (edge.clamps and value < 0):
                    assert math.isclose(result, by_the_table(op, float(value)), rel_tol=1e-12, abs_tol=1e-12), op


def test_numbers_alone_are_computed_before_the_kernel():
    (x,) = nq.axes("x", x=512)
    found = derive(nq.log(nq.mean(nq.exp(nq.array("A", x)), x)))
    assert not re.search(r"log2?\((\d|-)", found.triton())


def test_a_value_is_compared_with_itself_in_one_form():
    """Which is least: were the distances spelt out anew on one side, none would equal the least of the others."""
    n, c, d = nq.axes("n c d", n=24, c=40, d=16)
    points, centres = nq.array("X", n, d), nq.array("C", c, d)
    distance = nq.sum((points - centres) ** 2, d)
    term = nq.min(nq.index(c), c, where=nq.equal(distance, nq.min(distance, c)))
    generator = np.random.default_rng(7)
    arrays = {
        "X": generator.standard_normal((24, 16)).astype(np.float16),
        "C": generator.standard_normal((40, 16)).astype(np.float16),
    }
    found = ends(term, arrays, "float16")
    assert (found["evaluate"] == found["numpy"]).all()
    assert (found["evaluate"] == found["triton"]).mean() > 0.9
    assert np.isfinite(found["triton"]).all()


def test_lanes_past_the_end_are_not_counted():
    y, q = nq.axes("y q", y=8, q=1000)
    term = Reduce("sum", q, nq.array("A", y), nq.index(q) >= nq.index(y))
    arrays = {"A": np.ones(8)}
    for found in ends(term, arrays, "float32").values():
        assert (found == 1000 - np.arange(8)).all()
