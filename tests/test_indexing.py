"""Proofs about the coordinates of kernels: what is right is proved for all sizes, and each kind of mistake is refuted by the question about it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

import napkin_eq as nq
from napkin_eq import indexing
from napkin_eq.axis import Axis
from napkin_eq.content import folder, run_file
from napkin_eq.derive import Derivation, derive
from napkin_eq.gallery import diagram
from napkin_eq.indexing import Masks, answered, masks_of, passes_31_bits, proved, queries
from napkin_eq.mutations import MUTATIONS
from napkin_eq.plan import Buffer, Let, Load, Loop, Plan, Stmt, StoreTile
from tests import plans


@pytest.fixture(scope="module")
def past() -> Derivation:
    """Sizes symbolic; a mask of coordinates cuts the loop into parts, an integer input and a constant bound it."""
    q, x, d, b = nq.axes("q x d b", d=16, b=3)
    Q, K, V, n = nq.array("Q", b, q, d), nq.array("K", b, x, d), nq.array("V", b, x, d), nq.array("n", b, dtype="int32")
    scores = nq.masked(nq.sum(Q * K, d), (nq.index(x) <= nq.index(q) + 40) & (nq.index(x) < n))
    return derive(nq.sum(nq.softmax(scores, x) * V, x), dtype="float16")


@pytest.fixture(scope="module")
def product() -> Derivation:
    m, n, k = nq.axes("m n k")
    return derive(nq.matmul(nq.array("A", m, k), nq.array("B", k, n), k), dtype="float16")


def kinds(derivation: Derivation, plan: Plan) -> dict[str, str]:
    """The verdict of each kind of question about a plan that stands in for a derivation's."""
    (store,) = derivation.outputs[0].placed.stores
    report = answered(queries(plan.kernels[0], masks_of(store)))
    assert str(report).startswith(f"index proofs: {report.verdict}")
    worst = ("refuted", "unknown", "proved")
    return {k: min((a.verdict for a in report.answered if a.query.kind == k), key=worst.index) for k in {a.query.kind for a in report.answered}}


def test_everything_is_proved_for_all_sizes(past, product):
    for derivation in (past, product):
        found = kinds(derivation, derivation.plan)
        assert set(found) == {"bounds", "cover", "once", "grid", "parts", "skipped", "kept", "tested", "integers"}
        assert set(found.values()) == {"proved"}


def test_stretches_gathers_and_several_kernels_at_given_sizes():
    for of in (diagram("matmul", m=64, n=64, k=20000), diagram("linear_cross_entropy", t=37, v=300, d=40)):
        report = proved(derive(of, dtype="float16"))
        assert report.verdict == "proved", str(report)
        data = report.data()
        assert data["verdict"] == "proved"
        assert all(len(row["sha256"]) == 64 and row["verdict"] == "proved" for row in data["queries"])


MISTAKES = {
    "mask-off-by-one": {"kept"},
    "dropped-tail": {"skipped"},
    "dropped-first-tile": {"skipped"},
    "overlapping-parts": {"parts"},
    "at-least-once": {"parts", "bounds", "kept"},
    "tail-not-zeroed": {"kept"},
    "grid-rounded-down": {"cover"},
    "swapped-strides": {"bounds"},
}


@pytest.mark.parametrize("name", list(MISTAKES))
def test_a_mistake_is_refuted_by_the_question_about_it(past, name):
    broken = MUTATIONS[name](past.plan)
    assert broken is not None
    found = kinds(past, broken)
    assert {kind for kind, verdict in found.items() if verdict == "refuted"} & MISTAKES[name], found
    # Questions about what the mistake leaves alone are still proved.
    assert found["once"] == found["grid"] == "proved"


def changed(plan: Plan, change: Callable[[Stmt], Stmt]) -> Plan:
    def body(stmts: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        loops = (replace(s, parts=tuple(replace(p, body=body(p.body)) for p in s.parts)) if isinstance(s, Loop) else s for s in stmts)
        return tuple(map(change, loops))

    return replace(plan, kernels=tuple(replace(k, body=body(k.body)) for k in plan.kernels))


def past_the_end(stmt: Stmt) -> Stmt:
    """i < n becomes i <= n, where n is the size of an axis."""
    return replace(stmt, op="le") if isinstance(stmt, Let) and stmt.op == "lt" and str(stmt.args[1]).startswith("size") else stmt


def short_of_the_end(stmt: Stmt) -> Stmt:
    """i < n becomes i + 1 < n, by a test against the last coordinate."""
    return replace(stmt, args=(stmt.args[0], "size_less")) if isinstance(stmt, Let) and stmt.op == "lt" and str(stmt.args[1]) == "size_k" else stmt


def all_rows_in_one(stmt: Stmt) -> Stmt:
    return replace(stmt, index=(0, *stmt.index[1:])) if isinstance(stmt, StoreTile) else stmt


def unmasked(stmt: Stmt) -> Stmt:
    return replace(stmt, masks=()) if isinstance(stmt, Load) else stmt


@pytest.mark.parametrize(
    ("change", "kind", "verdict"),
    [
        (past_the_end, "bounds", "refuted"),
        (past_the_end, "kept", "refuted"),
        (unmasked, "bounds", "refuted"),
        (all_rows_in_one, "once", "refuted"),
        (all_rows_in_one, "cover", "unknown"),
    ],
)
def test_statements_changed_by_hand(product, change, kind, verdict):
    assert kinds(product, changed(product.plan, change))[kind] == verdict


def test_a_test_that_is_too_strict_loses_lanes(product):
    plan = changed(product.plan, short_of_the_end)
    kernel = plan.kernels[0]
    at = next(i for i, s in enumerate(kernel.body) if hasattr(s, "out") and s.out.name == "size_k")
    less = Let(plans.i32("size_less"), "add", ("size_k", -1))
    plan = replace(plan, kernels=(replace(kernel, body=(*kernel.body[: at + 1], less, *kernel.body[at + 1 :])),))
    found = kinds(product, plan)
    assert found["tested"] == "refuted"
    assert found["bounds"] == found["kept"] == "proved"


def test_offsets_are_64_bits_wide_where_they_must_be(product, monkeypatch):
    large = derive(nq.sum(nq.array("A", *nq.axes("p r", p=70000, r=70000)), "r"), dtype="float16")
    assert proved(large).verdict == "proved"
    assert ".to(tl.int64)" in large.triton()
    monkeypatch.setattr(indexing, "passes_31_bits", lambda buffer, position: False)
    assert proved(large).verdict == "refuted"


def test_the_printer_widens_the_offsets_that_the_proof_says():
    printer = run_file(folder("codegen") / "triton.py", "codegen")["passes_31_bits"]
    pick = random.Random(0)
    for _ in range(300):
        dims = tuple(Axis(f"a{i}", pick.choice([None, 1, 3, 128, 4096, 2**20, 2**31])) for i in range(pick.randint(1, 4)))
        buffer = Buffer("A", dims, "f16")
        assert all(printer(buffer, i) == passes_31_bits(buffer, i) for i in range(len(dims)))


def test_what_is_not_about_integers_stays_unknown():
    case = plans.gather()
    report = answered(q for kernel in case.plan.kernels for q in queries(kernel, Masks()))
    assert report.verdict in ("proved", "unknown")
    nothing = answered([indexing.Query("kernel", "cover", "an index that is a number", "")])
    assert nothing.verdict == "unknown"
    assert "unknown: kernel, cover: an index that is a number" in str(nothing)


def test_a_second_solver_agrees(product):
    pytest.importorskip("cvc5")
    (store,) = product.outputs[0].placed.stores
    report = answered(queries(product.plan.kernels[0], masks_of(store)), every=True)
    assert report.verdict == "proved"
    assert all(len(a.answers) == 2 and "sat" not in a.answers.values() for a in report.answered)
    assert sum(set(a.answers.values()) == {"unsat"} for a in report.answered) >= len(report.answered) - 1


def test_the_command_line_proves_and_writes_what_every_solver_can_read(tmp_path, capsys):
    from napkin_eq.cli import main
    from napkin_eq.smtfiles import rechecked

    assert main(["derive", "matmul", "--set", "m=100", "--set", "k=70", "--index", "-o", str(tmp_path / "out")]) == 0
    assert "index proofs: proved" in capsys.readouterr().out
    found = rechecked(tmp_path / "out" / "index")
    assert found["refuted"] == found["unknown"] == 0
    assert found["confirmed"] >= 8


def test_what_is_assumed_can_be(past, product):
    """No proof is empty: without its negated goal every script has a model."""
    from napkin_eq.solving import solvers

    ask = solvers()["z3"]
    for derivation in (past, product):
        (store,) = derivation.outputs[0].placed.stores
        for query in queries(derivation.plan.kernels[0], masks_of(store)):
            *lines, goal, check = query.text.rstrip().splitlines()
            assert goal.startswith("(assert ")
            assert ask("\n".join([*lines, check]), 5) == "sat", query
