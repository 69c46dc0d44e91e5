"""Proofs about the coordinates of kernels: what is right is proved for all sizes, and each kind of mistake is refuted
by the question about it.
"""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.frontend.gallery import diagram
from napkin_eq.numerics.accuracy import unit_error
from napkin_eq.numerics.running_bound import running_bound
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.pipeline.derive import derive
from napkin_eq.pipeline.top_k import choice, retiled
from napkin_eq.tile.ir import Assign, Kernel, Let, Load, Loop, Part, Plan, Stmt, StoreTile, Value
from napkin_eq.tile.passes.warp_roles import assigned
from napkin_eq.tile.printers import emit
from napkin_eq.verify.index import prove_index as indexing
from napkin_eq.verify.index.program_order import dealt
from napkin_eq.verify.index.prove_index import Masks, answered, masks_of, proved, queries
from napkin_eq.verify.index.smt_coordinates import NotRead
from napkin_eq.verify.selftest.mutations import MUTATIONS
from tests import plans


@pytest.fixture(scope="module")
def past() -> Derivation:
    """Sizes symbolic; a mask of coordinates cuts the loop into parts, an integer input and a constant bound it."""
    q, x, d, b = nq.axes("q x d b", d=16, b=3)
    Q, K, V, n = nq.array("Q", b, q, d), nq.array("K", b, x, d), nq.array("V", b, x, d), nq.array("n", b, dtype="int32")
    scores = nq.masked(nq.sum(Q * K, d), (nq.index(x) <= nq.index(q) + 40) & (nq.index(x) < n))
    return derive(nq.sum(nq.softmax(scores, x) * V, x), dtype="float16", printer="triton")


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
    return {
        k: min((a.verdict for a in report.answered if a.query.kind == k), key=worst.index)
        for k in {a.query.kind for a in report.answered}
    }


def test_everything_is_proved_for_all_sizes(past, product):
    for derivation in (past, product):
        found = kinds(derivation, derivation.plan)
        assert set(found) == {
            "bounds",
            "cover",
            "once",
            "grid",
            "parts",
            "skipped",
            "kept",
            "tested",
            "aligned",
            "integers",
        }
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
        loops = (
            replace(s, parts=tuple(replace(p, body=body(p.body)) for p in s.parts)) if isinstance(s, Loop) else s
            for s in stmts
        )
        return tuple(map(change, loops))

    return replace(plan, kernels=tuple(replace(k, body=body(k.body)) for k in plan.kernels))


def past_the_end(stmt: Stmt) -> Stmt:
    """i < n becomes i <= n, where n is the size of an axis."""
    return (
        replace(stmt, op="le")
        if isinstance(stmt, Let) and stmt.op == "lt" and str(stmt.args[1]).startswith("size")
        else stmt
    )


def short_of_the_end(stmt: Stmt) -> Stmt:
    """i < n becomes i + 1 < n, by a test against the last coordinate."""
    return (
        replace(stmt, args=(stmt.args[0], "size_less"))
        if isinstance(stmt, Let) and stmt.op == "lt" and str(stmt.args[1]) == "size_k"
        else stmt
    )


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


def test_printers_widen_the_offsets_that_the_proof_says():
    """Of 2^33 elements stored one by one, rows are taken in 64 bits and columns are not, by both printers."""
    t, f, d = nq.axes("t f d", t=2**17, f=2**16, d=512)
    of = nq.sum(nq.array("A", t, d) * nq.array("B", d, f), d)
    for printer in ("triton", "gluon"):
        derivation = derive(of, dtype="float16", printer=printer)
        kernel = derivation.plan.kernels[0]
        store = next(s for s in kernel.body if isinstance(s, StoreTile))
        # A mask that says more than the bounds keeps the store from the copy engine, which takes no offsets.
        masked = replace(store, masks=("seen",))
        seen = Let(Value("seen", ("t",), "i1"), "le", ("t_at", 5))
        at = kernel.body.index(store)
        kernel = replace(kernel, body=(*kernel.body[:at], seen, masked, *kernel.body[at + 1 :]))
        plan = replace(derivation.plan, kernels=(assigned(kernel) if kernel.workers else kernel,))
        (line,) = [line for line in emit(plan, printer).splitlines() if ".store(out_ptr" in line]
        assert re.search(r"t_at[^+]*int64", line)
        assert not re.search(r"f_at[^+]*int64", line)


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
    from napkin_eq.cli.main import main
    from napkin_eq.prove.smt_archive import rechecked

    assert main(["derive", "matmul", "--set", "m=100", "--set", "k=70", "--index", "-o", str(tmp_path / "out")]) == 0
    assert "index proofs: proved" in capsys.readouterr().out
    found = rechecked(tmp_path / "out" / "index")
    assert found["refuted"] == found["unknown"] == 0
    assert found["confirmed"] >= 8


def test_what_is_assumed_can_be(past, product):
    """No proof is empty: without its negated goal every script has a model."""
    from napkin_eq.prove.portfolio import solvers

    ask = solvers()["z3"]
    for derivation in (past, product):
        (store,) = derivation.outputs[0].placed.stores
        for query in queries(derivation.plan.kernels[0], masks_of(store)):
            *lines, goal, check = query.text.rstrip().splitlines()
            assert goal.startswith("(assert ")
            assert ask("\n".join([*lines, check]), 5) == "sat", query


# -- kernels whose work groups of warps share --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shared() -> Derivation:
    """Sizes symbolic, loops that grow with the rows: blocks are dealt out and back, contractions wait for the next
    block.
    """
    b, h, q, x, d = nq.axes("b h q x d", d=128)
    Q, K, V = nq.array("Q", b, h, q, d), nq.array("K", b, h, x, d), nq.array("V", b, h, x, d)
    scores = nq.masked(nq.sum(Q * K, d) * 0.1, nq.index(x) <= nq.index(q))
    derivation = derive(nq.sum(nq.softmax(scores, x) * V, x), dtype="float16", printer="gluon")
    assert derivation.plan.kernels[0].workers is not None
    return derivation


def test_everything_is_proved_of_a_shared_kernel(shared, pace):
    begun = time.process_time()
    report = proved(shared)
    taken = time.process_time() - begun
    assert report.verdict == "proved", str(report)
    kinds = {"bounds", "box", "cover", "once", "grid", "parts", "skipped", "kept", "tested", "aligned", "integers"}
    assert {a.query.kind for a in report.answered} == kinds
    assert taken < 5 * pace()


def test_boxes_walked_in_groups_of_rows_are_proved_at_any_size():
    for sizes in ({"m": 4096, "n": 4096, "k": 4096}, {"m": None, "n": 4096, "k": 1024}):
        derivation = derive(diagram("matmul", **sizes), dtype="float16", printer="gluon")
        kernel = derivation.plan.kernels[0]
        assert kernel.workers is not None
        assert kernel.swizzle is not None
        assert proved(derivation).verdict == "proved"


Parts = tuple[Part, ...]


def held(stmt: Stmt) -> bool:
    return isinstance(stmt, Assign) and "held" in stmt.target


def without(part: Part, drop: Callable[[Stmt], bool]) -> Part:
    return replace(part, body=tuple(s for s in part.body if not drop(s)))


def shifted(by: int) -> Callable[[Parts], Parts]:
    """Move the block that an operand put off is read of."""

    def moved(stmt: Stmt) -> Stmt:
        if (
            not isinstance(stmt, Let)
            or stmt.op != "add"
            or "_due" not in stmt.out.name
            or not isinstance(stmt.args[1], int)
        ):
            return stmt
        return replace(stmt, args=(stmt.args[0], stmt.args[1] + by))

    return lambda parts: tuple(replace(p, body=tuple(map(moved, p.body))) for p in parts)


LOOPS: dict[str, tuple[Callable[[Parts], Parts], set[str]]] = {
    "the last contraction is of the first block": (lambda ps: (*ps[:-1], replace(ps[-1], lo=0, hi=1)), {"aligned"}),
    "the last contraction is of an earlier block": (lambda ps: (*ps[:-1], replace(ps[-1], lo=ps[-2].lo)), {"aligned"}),
    "no last contraction": (lambda ps: ps[:-1], {"skipped"}),
    "the last contraction twice": (lambda ps: (*ps, replace(ps[-1])), {"kept"}),
    "the first block again": (lambda ps: (ps[0], replace(ps[1], lo=0), *ps[2:]), {"parts"}),
    "no first block": (lambda ps: ps[1:], {"skipped"}),
    "operands of the block at hand": (shifted(64), {"aligned"}),
    "operands of two blocks before": (shifted(-64), {"aligned", "bounds"}),
    "the first block is not kept": (lambda ps: (without(ps[0], held), *ps[1:]), {"kept"}),
    "later blocks are not kept": (lambda ps: (ps[0], *(without(p, held) for p in ps[1:])), {"kept"}),
    "no masks where they are needed": (
        lambda ps: (*ps[:2], replace(ps[1], lo=ps[2].lo, hi=ps[2].hi), *ps[3:]),
        {"kept"},
    ),
}


@pytest.mark.parametrize("name", list(LOOPS))
def test_a_loop_that_runs_ahead_wrongly_is_refuted(shared, name):
    change, wanted = LOOPS[name]
    kernel = shared.plan.kernels[0]
    body = tuple(replace(s, parts=change(s.parts)) if isinstance(s, Loop) else s for s in kernel.body)
    assert body != kernel.body
    assert kernel.coord("x__s").tile == 64
    (store,) = shared.outputs[0].placed.stores
    asked = [
        q
        for q in queries(replace(kernel, body=body), masks_of(store), shared.code())
        if q.kind not in ("grid", "integers", "cover")
    ]
    assert wanted <= {a.query.kind for a in answered(asked).answered if a.verdict == "refuted"}


DECODED = {
    "blocks fall to minus one": ("(q_blocks - 1 - ", "(q_blocks - 2 - "),
    "the wrong radix": ("h = tile % h_size", "h = tile % b_size"),
}
DEALT = {
    "programs counted from one": ("programs - 1 - program", "programs - program"),
    "one turn too many": ("turns = blocks // programs\n", "turns = blocks // programs + 1\n"),
    "the last turn is one program's too much": ("< blocks % programs", "<= blocks % programs"),
    "the last turn is missing": ("turns += ", "turns += 0 * "),
    "never back": (
        "gl.where(turn % 2 == 0, program, programs - 1 - program)",
        "gl.where(turn % 2 == 0, program, program)",
    ),
    **DECODED,
}
DRAWN = {
    "every other number is left out": ("gl.atomic_add(counter, 1)", "gl.atomic_add(counter, 2)"),
    "all programs draw the same": ("gl.atomic_add(counter, 1)", "gl.atomic_add(counter, 0)"),
    "one block too many": ("while number < blocks", "while number <= blocks"),
    "the last block is missing": ("while number < blocks", "while number + 1 < blocks"),
    **DECODED,
}
NOT_DRAWN = {
    "a number is drawn and another taken": ("        tile = number\n", "        tile = number + 1\n"),
    "another is handed on": ("    return number\n", "    return number + 1\n"),
    "a buffer of the ring is passed over": ("        turn += 1\n", "        turn += 2\n"),
    "no number is drawn again": ("        number = draw", "        other = draw"),
    "what is drawn is changed": ("        b = tile\n", "        b = tile\n        number += 1\n"),
    "what is handed on is changed as it is taken over": (
        "    mbarrier.arrive(free.index(turn % 2))\n    return number\n",
        "    return number + 1\n",
    ),
    "it is changed before it is returned": ("    mbarrier.arrive(full.index(turn % 2))\n", "    number += 1\n"),
    "one more is drawn in between": ("        b = tile\n", "        b = tile\n        more = draw(number_ring)\n"),
    "the walk ends early": ("        b = tile\n", "        b = tile\n        if turn > 3:\n            break\n"),
    "turns are counted": ("while number < blocks", "while turn < blocks"),
    "another counter": ("draw(kernel_0_counter", "draw(Q_ptr"),
    "another ring": ("= drawn(number_ring", "= drawn(Q_ring"),
}


@pytest.fixture(scope="module", params=[1, 4])
def drawn(shared, request) -> tuple[Kernel, str]:
    """The kernel whose programs draw their blocks, and how it is printed."""
    kernel = shared.plan.kernels[0]
    kernel = replace(kernel, workers=replace(kernel.workers, drawn=True, abreast=request.param))
    return kernel, emit(replace(shared.plan, kernels=(kernel,)), "gluon")


def verdicts(kernel: Kernel, source: str) -> set[str]:
    return {
        a.verdict
        for a in answered(
            [indexing.Query(kernel.name, "grid", "", text("")) for text in dealt(kernel, source)]
        ).answered
    }


def test_drawn_blocks_come_to_one_program_each(drawn):
    assert verdicts(*drawn) == {"proved"}


@pytest.mark.parametrize("name", list(DRAWN))
def test_blocks_drawn_wrongly_are_refuted(drawn, name):
    kernel, source = drawn
    assert source.count(DRAWN[name][0]) >= 1
    assert "refuted" in verdicts(kernel, source.replace(*DRAWN[name]))


@pytest.mark.parametrize("name", list(NOT_DRAWN))
def test_what_is_no_draw_is_not_read(drawn, name):
    kernel, source = drawn
    assert NOT_DRAWN[name][0] in source
    with pytest.raises(NotRead):
        verdicts(kernel, source.replace(*NOT_DRAWN[name]))


def refuted_of_the_grid(derivation: Derivation, source: str) -> bool:
    return "refuted" in verdicts(derivation.plan.kernels[0], source)


@pytest.mark.parametrize("name", list(DEALT))
def test_blocks_dealt_out_wrongly_are_refuted(shared, name):
    source = shared.code()
    old, new = DEALT[name]
    assert source.count(old) >= 2
    wrong = source.replace(old, new)
    assert refuted_of_the_grid(shared, wrong)
    assert not covered(shared, wrong)


def test_two_sides_of_a_kernel_that_disagree_are_refuted(shared):
    assert refuted_of_the_grid(shared, shared.code().replace("h = tile % h_size", "h = h_size - 1 - tile % h_size", 1))


def covered(derivation: Derivation, source: str) -> bool:
    """Tell whether each block has one program and one turn at a few sizes: what the kernel prints of it is run, as
    plain Python.
    """
    kernel = derivation.plan.kernels[0]
    return all(
        sorted(walked(kernel, source, *sizes)) == sorted(every(*sizes))
        for sizes in ((5, 1, 3, 300), (4, 3, 2, 513), (7, 2, 5, 128), (30, 2, 2, 640))
    )


def every(programs: int, b: int, h: int, q: int) -> Iterator[tuple[int, int, int]]:
    return ((i, j, k) for i in range(b) for j in range(h) for k in range(0, q, 128))


def walked(kernel: Kernel, source: str, programs: int, b: int, h: int, q: int) -> Iterator[tuple[int, int, int]]:
    function = next(n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef) and n.name.endswith("_compute"))
    at = next(i for i, s in enumerate(function.body) if isinstance(s, ast.For))
    walk = function.body[at]
    assert isinstance(walk, ast.For)
    lines: list[ast.stmt] = [*(s for s in function.body[:at] if isinstance(s, (ast.Assign, ast.AugAssign))), walk]
    last = next(i for i, s in enumerate(walk.body) if ast.unparse(s).startswith("b = "))
    walk.body = [*walk.body[: last + 1], ast.parse("found((b, h, q_start))").body[0]]
    code = compile(ast.Module(lines, []), "head", "exec")
    seen: list[tuple[int, int, int]] = []
    for program in range(programs):
        exec(code, {"gl": Lanes(program, programs), "b_size": b, "h_size": h, "q_size": q, "found": seen.append})
    return iter(seen)


class Lanes:
    """What a head asks of Gluon."""

    def __init__(self, program: int, programs: int) -> None:
        self.program_id, self.num_programs = lambda axis: program, lambda axis: programs
        self.cdiv, self.where, self.minimum = lambda a, b: -(-a // b), lambda c, a, b: a if c else b, min


def test_blocks_are_dealt_out_once_when_it_is_run(shared):
    assert covered(shared, shared.code())


def test_bounds_and_the_figure_of_accuracy_read_the_plan_that_is_printed(shared):
    """A contraction put off rounds what it rounded before: the figure is the same, and the running bound to a few
    digits.
    """
    plain = retiled(shared, [replace(choice(piece), warps=8, groups=0) for piece in shared.tiled])
    assert unit_error(shared.plan) == pytest.approx(unit_error(plain.plan), rel=0.02)
    for n in (40, 140):
        draw = np.random.default_rng(0).standard_normal((3, 1, 1, n, 128)).astype(np.float16)
        arrays = dict(zip("QKV", draw, strict=True))
        sizes = {"b": 1, "h": 1, "q": n, "x": n}
        one, other = (running_bound(d.plan, arrays, sizes)["out"] for d in (shared, plain))
        assert np.isfinite(one).all()
        np.testing.assert_allclose(one, other, rtol=0.02)


@pytest.mark.parametrize("rows, offset", [(1, 5), (1, 0), (17, 0)])
def test_masks_of_axes_that_nothing_walks_are_read(rows, offset):
    """An axis of one element is at its first; what a mask leaves nothing of is folded as nothing; and what speaks of
    values beside coordinates makes no question refuted.
    """
    i, j, z, a, b = nq.axes("i j z a b", i=rows, j=1, z=17, a=3, b=40)
    X, Z, t = nq.array("X", a, b), nq.array("Z", z), nq.array("t", i, dtype="int32")
    at, lane = nq.index(i) * 3 + offset, nq.index(z)
    masks = (at >= 0) & (at < nq.length(a)) & (lane < nq.length(b)) & (t <= lane) & (nq.index(j) + lane % 2 < lane + 1)
    body = nq.relu(nq.take(nq.take(X, a, at), b, lane) + Z)
    found = proved(derive(nq.sum(body, z, where=masks), "h100", dtype="float32", printer="triton"))
    assert found.verdict == "proved", str(found)
    beside = proved(derive(nq.sum(body, z, where=masks & (Z < 0.5)), "h100", dtype="float32", printer="triton"))
    assert all(a.verdict != "refuted" for a in beside.answered), str(beside)


def cut_short(plan: Plan, lanes: int, to: int) -> Plan:
    """A plan that takes fewer of an axis' lanes than there are."""

    def short(stmt: Stmt) -> Stmt:
        match stmt:
            case Loop():
                return replace(
                    stmt, parts=tuple(replace(part, body=tuple(map(short, part.body))) for part in stmt.parts)
                )
            case Let(op="lt", args=(at, limit)) if limit == lanes:
                return replace(stmt, args=(at, to))
            case _:
                return stmt

    return replace(plan, kernels=tuple(replace(k, body=tuple(map(short, k.body))) for k in plan.kernels))


def verdict(derivation: Derivation, plan: Plan) -> str:
    (store,) = derivation.outputs[0].placed.stores
    return answered([q for kernel in plan.kernels for q in queries(kernel, masks_of(store))]).verdict


@pytest.mark.parametrize("other", ["doubled", "kept"])
@pytest.mark.parametrize("mask", ["mixed", "places", "values"])
def test_a_choice_that_keeps_something_either_way_excuses_no_lane(mask, other):
    """Only a mask without which a lane is what its fold is neutral to says that the lane need not be taken."""
    z, r = nq.axes("z r", z=40, r=8)
    Z, lane = nq.array("Z", r, z), nq.index(z)
    where = {"mixed": (lane < 5) & (Z < 0.5), "places": lane < 5, "values": Z < 0.5}[mask]
    body = nq.where(where, Z, Z * 2.0) if other == "doubled" else nq.where(where, 0.0 * Z, Z)
    derivation = derive(nq.sum(body, z), "h100", dtype="float32", printer="triton")
    plan = cut_short(derivation.plan, 40, 5)
    assert plan != derivation.plan
    assert (proved(derivation).verdict, verdict(derivation, plan)) == ("proved", "refuted")


def test_a_fold_is_held_against_its_own_mask():
    """Of two folds along one axis each is asked for the lanes that it takes itself, not for those that both take."""
    z, r = nq.axes("z r", z=40, r=8)
    U, V, lane = nq.array("U", r, z), nq.array("V", r, z), nq.index(z)
    both = nq.sum(U, z, where=lane < 9) + nq.sum(V, z, where=lane < 30)
    derivation = derive(both, "h100", dtype="float32", printer="triton")
    assert proved(derivation).verdict == "proved"
    assert verdict(derivation, cut_short(derivation.plan, 30, 9)) == "refuted"
    assert verdict(derivation, cut_short(derivation.plan, 9, 4)) == "refuted"
