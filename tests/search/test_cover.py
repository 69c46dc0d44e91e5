"""Graphs covered by kernels: the integer program against brute force, and what comes of small graphs."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

import napkin_eq as nq
from napkin_eq.certify.certificate import checked, require_accepted, sealed
from napkin_eq.cover import pricing, program, workers
from napkin_eq.cover.apart import apart
from napkin_eq.cover.assembly import Part, assembled
from napkin_eq.cover.bounds import bound_us, least_us
from napkin_eq.cover.candidates import Enumeration
from napkin_eq.cover.choice import Choice, Limit, Offer
from napkin_eq.cover.covering import covered
from napkin_eq.cover.exponents import weights
from napkin_eq.cover.graph import contractions, graph_of
from napkin_eq.cover.pieces import Piece, Storage
from napkin_eq.cover.pricing import Proved
from napkin_eq.cover.program import Column, cheapest, greedy, in_order
from napkin_eq.egraph.budget import METER
from napkin_eq.frontend.gallery import diagram
from napkin_eq.lang.errors import NapkinError, Undecided
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.term import Read, Scan, Tuple, subterms
from napkin_eq.laws.inference import substitute
from napkin_eq.laws.law import REGISTRY, Law
from napkin_eq.machine import gpu as hardware
from napkin_eq.pipeline import derive as pipeline
from napkin_eq.pipeline.asked import aimed, chosen_statements, proved_laws
from napkin_eq.pipeline.derive import derive
from napkin_eq.pipeline.text import part, told
from napkin_eq.search import candidates
from napkin_eq.search.candidates import Stored, together
from napkin_eq.search.derivation import Output
from napkin_eq.search.job import Job, prover
from napkin_eq.search.placement import Placed


def attend(values: nq.Term, q: nq.Axis, x: nq.Axis, d: nq.Axis) -> nq.Term:
    keys = nq.rename(values, {q: x})
    return nq.sum(nq.softmax(nq.sum(values * keys, d) * 0.125, x) * keys, x)


def brute(columns: list[Column], outputs: list[int]) -> float:
    """The least price of any subset that is a cover, by trying all."""
    best = float("inf")
    for count in range(1, len(columns) + 1):
        for chosen in itertools.combinations(range(len(columns)), count):
            made = {v for i in chosen for v in columns[i].outs}
            read = {v for i in chosen for v in columns[i].reads}
            clash = any(
                {*columns[i].inside, *columns[i].outs} & set(columns[j].outs) for i in chosen for j in chosen if i != j
            )
            if set(outputs) <= made and read <= made and not clash and in_order(chosen, columns) is not None:
                best = min(best, sum(columns[i].price for i in chosen))
    return best


@pytest.mark.parametrize("seed", range(15))
def test_the_program_finds_what_brute_force_finds(seed: int) -> None:
    rng = random.Random(seed)
    columns = []
    for _ in range(8):
        outs = tuple(sorted(rng.sample(range(5), rng.choice([1, 1, 2]))))
        others = [v for v in range(5) if v not in outs]
        reads = tuple(sorted(rng.sample(others, min(len(others), rng.randint(0, 2)))))
        inside = tuple(v for v in others if v not in reads and rng.random() < 0.2)
        columns.append(Column(outs, reads, inside, float(rng.randint(1, 20))))
    columns += [Column((v,), tuple(range(v)), (), 30.0) for v in range(5)]  # so that there is a cover
    found = cheapest(columns, [4], 5.0)
    assert found is not None and found.price == pytest.approx(brute(columns, [4]))
    assert found.bound <= found.price + 1e-6 and found.method == "HiGHS"
    other = greedy(columns, [4])
    assert other is not None and other.price >= found.price - 1e-6


def test_a_circle_is_no_cover() -> None:
    columns = [Column((1, 4), (2,), (), 10.0), Column((2, 5), (1,), (), 10.0)]
    columns += [Column((v,), reads, (), 9.0) for v, reads in ((1, ()), (2, ()), (4, (2,)), (5, (1,)))]
    found = cheapest(columns, [4, 5], 5.0)
    assert found is not None and found.price == 28.0
    assert cheapest(columns[:2], [4, 5], 5.0) is None


def test_what_nobody_computes_has_no_cover() -> None:
    assert cheapest([Column((1,), (2,), (), 1.0)], [1], 5.0) is None
    assert greedy([Column((1,), (2,), (), 1.0)], [1]) is None


def test_without_the_solver_a_greedy_cover_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "highspy", None)
    found = program.cheapest([Column((1,), (), (), 2.0), Column((2,), (1,), (), 3.0)], [2], 5.0)
    assert found is not None and (found.price, found.bound) == (5.0, 0.0) and found.method.startswith("greedy")


def test_a_worker_that_takes_too_long_or_refuses_gives_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "threaded", lambda: False)  # these jobs speak to no engine

    def work(what: str) -> int:
        while what == "forever":
            pass
        if what == "refused":
            raise NapkinError("no")
        return os.getpid() if what == "own" else 3

    held = b"1" * (workers.LARGE + (1 << 26))  # a parent that is large already, as a user's own may be
    with workers.Pool(work) as pool:
        asked = {"a": "three", "b": "forever", "c": "refused"}
        begun = METER.processor()
        found = {key: (value, why) for key, value, why, _ in pool.each([*asked], lambda key, *_: asked[key], 1.0)}
        assert found["a"] == (3, "") and found["c"] == (None, "no")
        assert found["b"][0] is None and "time" in found["b"][1]
        METER.asked = -1.0
        assert METER.processor() - begun > 0.25  # it counts here, too, as of processes beside each other
        # One that was ended gives way to another.
        numbers = {value for _, value, _, _ in pool.each(range(9), lambda *_: "own", 1.0)}
        assert 1 <= len(numbers) <= workers.PROCESSES and os.getpid() not in numbers
    del held
    for number in numbers:
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)


def test_a_worker_has_the_seconds_that_its_work_may_take_whatever_it_did_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The system counts processor time in whole seconds, since the process began: none is cut off for that."""
    monkeypatch.setattr(workers, "threaded", lambda: False)

    def work(seconds: float) -> float:
        end = time.process_time() + seconds
        while time.process_time() < end:
            pass
        return seconds

    with workers.Pool(work) as pool:
        found = [value for _, value, _, _ in pool.each(range(6), lambda *_: 0.8, 0.9)]
    assert found == [0.8] * 6


@pytest.mark.parametrize("known", [-1, 2, 3])
@pytest.mark.parametrize("forked", [True, False])
def test_what_is_done_and_counted_depends_on_no_process(
    monkeypatch: pytest.MonkeyPatch, forked: bool, known: int
) -> None:
    """What was done before counts as if it were done now, and is done when it would be."""
    monkeypatch.setattr(workers, "threaded", lambda: not forked)
    seen: dict[int, tuple[float, int]] = {}

    def work(number: int) -> int:
        METER.counted += number
        return number

    def ask(key: int, taken: float, left: int) -> int | workers.Done | None:
        seen[key] = taken, left
        return None if taken > 8 else workers.Done(key, "", key) if key == known else key

    begun = METER.counted
    with workers.Pool(work) as pool:
        found = [(key, value, took) for key, value, _, took in pool.each([1, 2, 3, 9, 5, 1000], ask, 9.0)]
    # The sixth is asked for after 2 + 9 in its lane
    assert sorted((key, value, round(took, 9)) for key, value, took in found) == [(n, n, n) for n in (1, 2, 3, 5, 9)]
    assert {key: left for key, (_, left) in seen.items()} == {1: 3, 2: 3, 3: 2, 9: 2, 5: 1, 1000: 1}
    assert [seen[key][0] for key in (1, 2, 3, 9, 5, 1000)] == pytest.approx([0, 0, 1, 2, 4, 11])
    assert METER.counted - begun == pytest.approx(11)  # lanes pass beside each other


@pytest.mark.parametrize("inner", [False, True])
def test_values_stored_together_as_they_stand_have_one_chain(inner: bool) -> None:
    t, x = nq.axes("t x", t=64, x=512)
    a = nq.array("A", t, x) + nq.array("B", t, x)
    b = a * nq.array("B", t, x) if inner else nq.array("A", t, x) * nq.array("B", t, x)
    c = nq.array("A", t, x) * b
    found = derive(nq.Diagram("several", (("a", a), ("b", b), ("c", c))))
    (output,) = found.outputs
    (store,) = output.placed.stores
    assert {a, b} <= {*subterms(store)}  # neither is another form than in the diagram
    proved = Proved(output.placed, tuple(output.steps), output.translation, 0, 0, 0)
    part = Part((a, b, c), tuple(Stored(name, "bf16", (t, x)) for name in "abc"), {}, proved)
    placed, steps, _ = assembled((a, b, c), [part], ("a", "b", "c"), hardware.load("h200"))
    require_accepted(Tuple((a, b, c)), placed.term, steps, found.statements, found.verdicts)
    with pytest.raises(Undecided, match="do not lead to the destination"):
        shown = [s for s in steps if s.law != "level" or not s.path or s.path[-1] != 0 or s.forward]
        require_accepted(Tuple((a, b, c)), placed.term, shown, found.statements, found.verdicts)


def test_a_value_read_by_another_name_is_that_value() -> None:
    h, q, x, d = nq.axes("h q x d", h=2, q=8, x=8, d=4)
    term = attend(attend(nq.array("A", h, q, d), q, x, d), q, x, d)
    graph = graph_of([term], prover(chosen_statements((), ())))
    (kept,) = graph.kept
    listed = Enumeration(graph)
    # No kernel computes a value and reads it at other coordinates.
    assert all(kept not in c.inside for found in listed.single.values() for c in found)
    assert any(c.reads == (kept,) for c in listed.single[term])


def test_shapes_are_the_same_up_to_names() -> None:
    keys = []
    for names, array in (("t x y", "A"), ("a c b", "B"), ("x y t", "A")):
        t, x, y = nq.axes(names, **dict(zip(names.split(), (4, 8, 16), strict=True)))
        term = nq.sum(nq.array(array, t, x) * nq.array("W", x, y), x)
        graph = graph_of([term], prover(chosen_statements((), ())))
        storage = Storage(graph, {term: "out"}, "bfloat16", lambda _: False)
        keys.append(storage.piece(Enumeration(graph).single[term][0]).key)
    assert keys[0] == keys[1] == keys[2]


def test_a_value_is_stored_so_that_what_its_readers_hold_together_lies_together() -> None:
    """A bias is computed head by head of a pair; attention takes one head after another, and pairs of it
    side by side.
    """
    s, r, x, h, e, z = nq.axes("s r x h e z", s=4, r=8, x=8, h=2, e=4, z=4)
    q, k, v = nq.array("q", s, r, h, e), nq.array("k", s, x, h, e), nq.array("v", s, x, h, e)
    bias = nq.linear(nq.array("Z", r, x, z), nq.array("W", z, h), z)
    out = nq.sum(nq.softmax(nq.sum(q * k, e) + bias, x) * v, x)

    def laid(output: nq.Term, value: nq.Term) -> str:
        storage = Storage(
            graph_of([output], prover(chosen_statements((), ()))), {output: "out"}, "bfloat16", lambda _: False
        )
        return "".join(a.name for a in storage.stored[value].dims)

    assert laid(out, bias) == "hrx"
    assert laid(out, out) == "srhe" and laid(bias, bias) == "rxh"  # outputs are stored as they are asked for
    every = nq.linear(bias, nq.array("V", h, z), h)  # that reads all heads of a pair together
    assert laid(every + nq.sum(out, s, e), bias) == "rxh"


def test_the_chain_of_a_piece_is_sought_by_what_was_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which lanes a law needs is said by its verdict: without it a chain may take a step that the checker refuses
    before a first block.
    """
    given: list[object] = []

    def spied(
        source: nq.Term,
        placed: Placed,
        fired: object,
        statements: object,
        budget: object,
        entered: object,
        verdicts: object,
        merged: object,
    ):
        given.append(verdicts)
        raise Undecided("no chain is sought here")

    monkeypatch.setattr(pricing, "explained", spied)
    t, x, y = nq.axes("t x y", t=64, x=32, y=64)
    diagram = nq.Diagram("product", (("out", nq.sum(nq.array("A", t, x) * nq.array("B", x, y), x)),))
    laws = proved_laws((), (), False)
    aim = aimed(diagram, "h200", "bfloat16", "triton", None, (), 30.0, False)
    graph = graph_of([diagram.outputs[0][1]], laws.proved)
    piece = Storage(graph, {diagram.outputs[0][1]: "out"}, "bfloat16", laws.proved).piece(
        Enumeration(graph).single[diagram.outputs[0][1]][0]
    )
    with pytest.raises(Undecided, match="no chain is sought here"):
        pricing.Pricing(aim, laws, workers.Pool(len)).derived(piece)
    assert given and all(verdicts is laws.verdicts for verdicts in given)


def test_products_of_one_row_are_one_kernel_where_launches_count() -> None:
    t, x, y, z = nq.axes("t x y z", t=1, x=64, y=32, z=32)
    row = nq.array("A", t, x)
    products = [nq.sum(a * w, x) for a, w in ((row, nq.array("W", x, y)), (row, nq.array("V", x, z)))]
    products.append(nq.sum(nq.array("B", t, x) * nq.array("U", x, z), x))
    listed = Enumeration(graph_of(products, prover(chosen_statements((), ()))))
    cover = [listed.single[product][0] for product in products]
    assert listed.bundles(cover, small=False) == []
    assert [set(c.outs) for c in listed.bundles(cover, small=True)] == [set(products[:2])]


def test_numbers_come_before_places_in_what_one_kernel_computes() -> None:
    t, x = nq.axes("t x", t=64, x=1 << 14)
    row = nq.array("A", t, x)
    outputs = [nq.argmax(row, x), nq.max(row, x)]
    listed = Enumeration(graph_of(outputs, prover(chosen_statements((), ()))))
    (both,) = listed.bundles([listed.single[output][0] for output in outputs], small=False)
    assert [out.kind for out in both.outs] == ["real", "int"]


@pytest.mark.slow
@pytest.mark.parametrize(("heads", "kernels", "least_us"), [(8, 1, 45), (48, 2, 100)])
def test_large_values_are_stored_where_a_cover_without_is_far_from_the_least(
    heads: int, kernels: int, least_us: float
) -> None:
    """Of few heads one kernel may walk them, each a contraction; it took 216 us where it held them at once."""
    h, g, q, x, d = nq.axes("h g q x d", h=heads, g=8, q=1024, x=1024, d=64)
    scores = nq.sum(nq.array("Q", h, q, d) * nq.array("K", h, x, d), d)
    mixed = nq.sum(scores * nq.array("P", h, g), h)
    found = derive(nq.sum(nq.softmax(mixed, x) * nq.array("V", g, x, d), x), limit=5)
    assert len(found.plan.kernels) >= kernels and found.report()["predicted_us"] < least_us
    assert checked(found.certificate)["status"] == "ok"


@pytest.mark.parametrize(("width", "offered"), [(64, True), (14336, False)])
def test_a_product_is_not_one_kernel_with_a_wide_one_that_it_reads(width: int, offered: bool) -> None:
    t, x, y, z = nq.axes("t x y z", t=64, x=64, y=width, z=64)
    first = nq.sum(nq.array("A", t, x) * nq.array("W", x, y), x) * nq.array("G", t)
    second = nq.sum(first * nq.array("V", y, z), y) * nq.array("G", t)
    listed = Enumeration(graph_of([first, second], prover(chosen_statements((), ()))))
    found = listed.bundles([listed.single[value][0] for value in (first, second)], small=True)
    assert [set(c.outs) for c in found] == [{first, second}] * offered


def test_a_solution_that_a_busy_machine_cut_short_is_sought_again(monkeypatch: pytest.MonkeyPatch) -> None:
    highspy = pytest.importorskip("highspy")
    limits: list[float] = []

    status = highspy.HighsModelStatus.kTimeLimit
    model = SimpleNamespace(
        setOptionValue=lambda name, value: limits.append(value),
        getRunTime=lambda: 2.0 if limits else 0.0,
        run=lambda: None,
        getModelStatus=lambda: status,
    )
    program._run(highspy, model, 2.0)
    assert limits == [2.0, 2.0 + program.BUSY * 2.0]
    limits.clear()
    monkeypatch.setattr("napkin_eq.cover.program.time.process_time", iter((0.0, 1.5)).__next__)
    program._run(highspy, model, 2.0)  # it had its time: once is enough
    assert limits == [2.0]


def test_axes_named_apart_say_the_same() -> None:
    import numpy as np

    h, q, x, d = nq.axes("h q x d", h=2, q=5, x=5, d=3)
    first = attend(nq.array("A", h, q, d), q, x, d)
    term = attend(first, q, x, d)
    (other,) = apart([term], {"x": {first}}, {t.body for t in subterms(term) if isinstance(t, Read)})
    assert other is not term and {"x", "x1"} <= {
        t.axis.name for t in subterms(other) if t.names[:2] == ("monoid", "axis")
    }
    data = {"A": np.random.default_rng(0).normal(size=(2, 5, 3))}
    assert evaluate(other, data) == pytest.approx(evaluate(term, data))


def test_two_operators_in_a_row_are_two_kernels_with_one_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    h, q, x, d = nq.axes("h q x d", h=16, q=512, x=512, d=64)
    searched, known = [], []
    sought, again = Choice._priced, Choice._again

    def counted(self: Choice) -> Any:
        searched.append(self)
        return sought(self)

    def taken(self: Choice, found: Any) -> Any:
        known.append(again(self, found))
        return known[-1]

    monkeypatch.setattr(Choice, "_priced", counted)
    monkeypatch.setattr(Choice, "_again", taken)
    found = derive(attend(attend(nq.array("A", h, q, d), q, x, d), q, x, d))
    (output,) = found.outputs
    # An axis is named apart; the cover that was found before is taken under its new names
    assert len(searched) == len(known) == 1 and known[0] is not None
    assert output.cover is not None and output.cover["gap"] <= 0.03 and len(found.plan.kernels) == 2
    assert all(
        len(b.dims) < 3 or {"q", "x"} - {a.name for a in b.dims}
        for k in found.plan.kernels
        for b in (*k.reads, *k.writes)
    )
    assert output.translation.status == "agrees"
    data = found.certificate
    assert checked(data)["status"] == "ok" and found.report()["cover"]["kernels"][1]["reads"]
    lemmas = [step for step in data["steps"] if "lemma" in step]
    assert len(lemmas) == 2
    for place in range(2):
        for forged in (
            {**lemmas[place], "steps": lemmas[place]["steps"][1:]},
            {**lemmas[place], "lemma": 0},
            {**lemmas[place], "steps": lemmas[1 - place]["steps"]},
        ):
            steps = [forged if number == place else step for number, step in enumerate(lemmas)]
            assert checked(sealed({**data, "steps": steps}))["status"] == "refused"
    assert checked(sealed({**data, "steps": lemmas[::-1]}))["status"] == "refused"


def test_each_step_of_a_cover_stands_where_it_is_told() -> None:
    """Steps to what several outputs are stored as are told of the one output that they lead to."""
    derivation = derive(diagram("symbolic_attention"), without=("fuse",))
    (output,) = derivation.outputs
    assert any(isinstance(term, Tuple) for term in subterms(output.placed.term))
    for step in output.steps:
        sides = part(step.before, step.path), part(step.after, step.path)
        law = REGISTRY.statements.get(step.law)
        if isinstance(law, Law):
            wanted = [substitute(side, dict(step.bindings)) for side in (law.lhs, law.rhs)]
            assert list(sides) == (wanted if step.forward else wanted[::-1])
    assert "by laws, each with its grade" in told(derivation)


def test_two_outputs_of_one_value_are_one_clear_line() -> None:
    from napkin_eq.egraph.budget import Budget
    from napkin_eq.machine.gpu import load
    from napkin_eq.search.job import Aim, Job, Laws

    t, x = nq.axes("t x", t=4, x=8)
    term = nq.sum(nq.array("A", t, x), x)
    diagram = nq.Diagram("twice", (("a", term), ("b", term)))
    with pytest.raises(NapkinError, match="two outputs are one value"):
        covered(Job(diagram, Aim(load("h200"), "bfloat16", "auto", budget=Budget(5.0)), Laws([])))


def test_it_is_known_when_a_process_may_no_longer_be_forked() -> None:
    code = (
        "from napkin_eq.egraph.saturate import threaded\nfrom napkin_eq.pipeline.derive import derive\nfrom"
        " napkin_eq.frontend.gallery import diagram\nbefore = threaded()\nderive(diagram('softmax'))\nprint(before,"
        " threaded())"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    assert (
        subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout
        == "False True\n"
    )


def backward(h: nq.Axis, q: nq.Axis, x: nq.Axis, d: nq.Axis) -> nq.Diagram:
    Q, dO = nq.array("Q", h, q, d), nq.array("dO", h, q, d)
    K, V = nq.array("K", h, x, d), nq.array("V", h, x, d)
    p = nq.softmax(nq.sum(Q * K, d) * 0.125, x)
    dP = nq.sum(dO * V, d)
    dS = p * (dP - nq.sum(p * dP, x))
    outputs = (("dQ", nq.sum(dS * K, x) * 0.125), ("dK", nq.sum(dS * Q, q) * 0.125), ("dV", nq.sum(p * dO, q)))
    return nq.Diagram("backward", outputs)


def test_a_value_gives_way_to_what_its_only_reader_makes_of_it_and_of_numbers() -> None:
    h, q, x, d = nq.axes("h q x d", h=2, q=8, x=8, d=4)
    graph = graph_of([t for _, t in backward(h, q, x, d).outputs], prover(chosen_statements((), ())))
    assert not any(str(cut).startswith("max_x") or str(cut) == "Σ_d Q · K" for cut in graph.cuts)
    assert any(str(cut).startswith("-(max_x") for cut in graph.cuts) and len(graph.cuts) == 11


def test_a_bound_counts_what_each_block_computes_for_itself() -> None:
    h, q, x, d = nq.axes("h q x d", h=16, q=4096, x=4096, d=64)
    diagram = backward(h, q, x, d)
    proved = prover(chosen_statements((), ()))
    graph = graph_of([t for _, t in diagram.outputs], proved)
    listed = Enumeration(graph)
    storage = Storage(graph, {t: name for name, t in diagram.outputs}, "bfloat16", proved)
    columns = diagram.outputs[1][1]
    rows = [cut for cut in graph.cuts if {a.name for a in cut.axes} == {"h", "q"}]
    large = {cut for cut in graph.cuts if {"q", "x"} <= {a.name for a in cut.axes}}
    prices = {}
    for candidate in listed.single[columns]:
        if large.isdisjoint(candidate.reads):
            prices[frozenset(candidate.reads)] = bound_us(
                storage.piece(candidate), "bf16", "bfloat16", hardware.load("h200")
            )
    # What rows need of all columns would be computed again for each block of columns.
    assert prices[frozenset(rows)] < 150 < 2 * 150 < min(p for reads, p in prices.items() if len(reads) < len(rows))


def test_a_longer_search_gives_no_price_back_to_what_could_not_be_proved() -> None:
    """Both took longer than others, by searches that time ended; of one no form was proved since."""
    told, asked = {"slow": 10.0, "refused": 10.0}, list[str]()

    def longer(pieces: Any) -> None:
        for piece in pieces:
            asked.append(piece.key)
            told[piece.key] = 5.0

    offers = [
        Offer(None, SimpleNamespace(key=key), 1.0, price)  # type: ignore[arg-type]
        for key, price in (("slow", 10.0), ("refused", float("inf")))
    ]
    choice: Any = SimpleNamespace(
        _spent=lambda: 0.0,
        _left=lambda _: 60.0,
        budget=SimpleNamespace(seconds=60.0),
        offers=offers,
        gains=lambda some, _: [(o, 9.0 if o.price is None else -5.0) for o in some],
        pricing=SimpleNamespace(
            ended=lambda piece: piece.key not in asked, known=lambda piece: told[piece.key], search_longer=longer
        ),
    )
    assert Choice._longer(choice, 20.0) and not Choice._longer(choice, 20.0)
    assert asked == ["slow"] and [o.price for o in offers] == [5.0, float("inf")]


def job_of(name: str, term: nq.Term) -> Job:
    diagram = nq.Diagram(name, ((name, term),))
    return Job(diagram, aimed(diagram, "h200", "bfloat16", "auto", None, (), 30.0), proved_laws((), (), False))


def test_a_cover_is_sought_while_a_few_prices_leave_room_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    q, x, d = nq.axes("q x d", q=256, x=256, d=32)
    scores = nq.sum(nq.array("Q", q, d) * nq.array("K", x, d), d)
    job = job_of("out", nq.sum(nq.softmax(scores, x) * nq.array("V", x, d), x))
    priced: list[int] = []
    price = pricing.Pricing.price

    def counted(self: pricing.Pricing, pieces: Iterable[Piece]) -> None:
        price(self, listed := list(pieces))
        priced.append(len(listed))

    monkeypatch.setattr(pricing.Pricing, "price", counted)
    least = least_us(job.diagram.outputs, "bfloat16", job.aim.machine)
    for limit, most in ((least, 0), (1.5 * least, 12)):  # of all in one, which was searched for, nothing is priced
        priced.clear()
        with pytest.raises(NapkinError, match=f"no cover takes less than {limit:.1f} us"):
            covered(job, (), Limit(limit, searched=True))
        assert sum(priced) <= most and max(priced, default=1) == 1
    found = covered(job, (), Limit(1e3))
    assert found.cover is not None and found.cover["predicted_us"] < 1e3


def clipped(n: nq.Axis, m: nq.Axis) -> tuple[nq.Term, nq.Term]:
    """Return a matrix divided by its norm, and the norm."""
    g = nq.array("G", n, m)
    norm = nq.sqrt(nq.sum(g * g, n, m))
    return g / (norm + 1.0), norm


def test_a_number_that_a_matrix_is_divided_by_may_be_stored_and_is_not_bound_to_be_as_cheap_inside() -> None:
    n, m = nq.axes("n m", n=4096, m=4096)
    out, norm = clipped(n, m)
    proved = prover(chosen_statements((), ()))
    graph = graph_of([out], proved)
    number = next(cut for cut in graph.cuts if not cut.axes)
    assert norm in subterms(out) and number in subterms(out)
    storage = Storage(graph, {out: "out"}, "bfloat16", proved)
    prices = {
        c.inside: bound_us(storage.piece(c), "bf16", "bfloat16", hardware.load("h200"))
        for c in Enumeration(graph).single[out]
    }
    assert 5 * prices[frozenset()] < prices[frozenset({number})]  # each block would fold all of the matrix


def test_a_mask_leaves_out_nothing_of_what_is_needed_without_it() -> None:
    b, c, d = nq.axes("b c d", b=4096, c=4096, d=256)
    scores = nq.sum(nq.array("A", b, d) * nq.array("B", c, d), d)
    same = nq.sum(nq.where(nq.equal(nq.index(b), nq.index(c)), scores, 0.0), c)
    proved = prover(chosen_statements((), ()))

    def least(out: nq.Term) -> float:
        storage = Storage(graph_of([out], proved), {out: "out"}, "bfloat16", proved)
        whole = max(Enumeration(graph_of([out], proved)).single[out], key=lambda candidate: len(candidate.inside))
        return bound_us(storage.piece(whole), "bf16", "bfloat16", hardware.load("h200"))

    one, masked, number = nq.max(scores, c) - same, nq.max(same, b), nq.mean(nq.max(scores, c), b)
    assert least(masked) < 11 < 13 < least(one) < 25 and least(number) < 25  # by stretches
    assert least_us([("out", number)], "bfloat16", hardware.load("h200")) < 25  # of several kernels
    (n,) = nq.axes("n", n=1 << 24)
    flat = nq.array("G", n)
    assert least_us([("out", flat / nq.sqrt(nq.sum(flat * flat, n)))], "bfloat16", hardware.load("h200")) < 40


def test_the_kernels_of_a_number_keep_processors_busy() -> None:
    n, m = nq.axes("n m", n=4096, m=4096)
    _, norm = clipped(n, m)
    best, *others = [placed for placed, _ in together(job_of("norm", norm), [Stored("norm", "f32", ())])]
    assert len(best.tiled) == 2 and any(4 * best.predicted_us < placed.predicted_us for placed in others)


def test_a_value_read_by_another_name_with_its_sign_turned_is_not_stored_and_distances_count_as_contractions() -> None:
    a, b, d = nq.axes("a b d", a=64, b=64, d=32)
    x, y = nq.array("X", a, d), nq.rename(nq.array("Y", a, d), {a: b})
    distances = nq.sum((x - y) * (x - y), d)
    out = nq.mean(nq.exp(-distances), a, b)
    graph = graph_of([out], prover(chosen_statements((), ())))
    assert not any({*cut.axes} == {b, d} for cut in graph.cuts)
    assert contractions(subterms(out)) == 1
    row = nq.sum((x - nq.mean(x, d)) * (x - nq.mean(x, d)), d)
    assert contractions(subterms(row, nq.sum(nq.softmax(x, d), a))) == 0


def test_a_piece_whose_search_finds_nothing_is_priced_as_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "_candidates", lambda *_, **__: [])
    t, x = nq.axes("t x", t=64, x=512)
    rows = nq.sum(nq.exp(nq.array("A", t, x, facts=("nonneg",)) * -1.0), x)
    found = together(job_of("rows", rows), [Stored("rows", "f32", (t,))])
    assert [len(placed.tiled) for placed, _ in found] == [1]


def test_a_plan_takes_no_longer_than_operator_by_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    n, m = nq.axes("n m", n=64, m=512)
    diagram = nq.Diagram("clipped", tuple(zip(("out", "norm"), clipped(n, m), strict=True)))
    searches = pipeline.searches

    def slow(job: Job) -> list[Output]:
        found = searches(job)
        for output in found:
            output.placed = replace(output.placed, predicted_us=1e4)
        return found

    monkeypatch.setattr(pipeline, "searches", slow)
    monkeypatch.setattr(pipeline, "_cover", lambda job, limit: [])
    found = derive(diagram)
    assert sum(o.placed.predicted_us for o in found.outputs) < 1e3
    assert any(
        "what the search found is predicted to take 10000.0 us" in note for o in found.outputs for note in o.graph.notes
    )
    assert checked(sealed(found.certificate))["status"] == "ok"


@pytest.mark.slow
def test_factors_of_rows_and_columns_are_stored_and_so_is_what_a_matrix_is_divided_by() -> None:
    n, m = nq.axes("n m", n=4096, m=4096)
    p, g, rows, columns = nq.array("P", n, m), nq.array("G", n, m), nq.array("R", n), nq.array("C", m)
    r, c = (old * 0.99 + nq.mean(g * g + 1e-30, over) * 0.01 for old, over in ((rows, m), (columns, n)))
    u = g / nq.sqrt(r * c / nq.mean(r, n))
    step = u / nq.maximum(1.0, nq.sqrt(nq.mean(u * u, n, m)))
    found = derive(nq.Diagram("adafactor", (("p", p - step * 1e-3), ("r", r), ("c", c))), limit=240)  # not ended by it
    assert sum(o.placed.predicted_us for o in found.outputs) < 85  # 222.6 by one search, 93.9 operator by operator


@pytest.mark.slow
def test_the_backward_pass_of_attention_is_four_kernels_and_stores_no_scores() -> None:
    h, q, x, d = nq.axes("h q x d", h=16, q=4096, x=4096, d=64)
    found = derive(backward(h, q, x, d), limit=100)
    (output,) = found.outputs
    assert output.cover is not None and output.cover["gap"] <= 0.03 and len(found.plan.kernels) <= 4
    assert not any({"q", "x"} <= {a.name for a in b.dims} for k in found.plan.kernels for b in (*k.reads, *k.writes))
    stored = [b for k in found.plan.kernels for b in k.writes if b.name not in ("dQ", "dK", "dV")]
    assert {tuple(a.name for a in b.dims) for b in stored} == {("h", "q")}  # numbers of rows alone pass between them
    assert checked(found.certificate)["status"] == "ok" and output.translation.status == "agrees"


def test_no_kernel_reads_what_may_be_absent_and_products_are_not_stored_in_float16():
    """An array that a kernel is given holds what is present: a stored -inf that is negated would be +inf, which is no
    absent value.
    """
    a, b = nq.axes("a b", a=64, b=64)
    A, proved = nq.array("A", a, b), prover(chosen_statements((), ()))
    hidden = nq.where(A > 0.0, A, -float("inf"))
    graph = graph_of([hidden, -hidden, nq.sum(A, b)], proved)
    assert graph.doubtful == {hidden, -hidden}
    assert all(not graph.doubtful & {*c.reads} for found in Enumeration(graph).single.values() for c in found)
    product, total = Scan("prod", b, A), Scan("sum", b, A)
    graph = graph_of([fold(scan, a) for scan in (product, total) for fold in (nq.max, nq.sum)], proved)
    for dtype, types in (("float16", ("f32", "f16")), ("bfloat16", ("bf16", "bf16"))):
        storage = Storage(graph, {}, dtype, proved)
        assert tuple(storage.stored[t].dtype for t in (product, total)) == types


def test_what_decides_is_stored_in_float32():
    """Ranks up to 359 are no numbers of bfloat16: an element whose rank was rounded had no place in the order."""
    m, n, o = nq.axes("m n o", m=512, n=512, o=512)
    x, proved = nq.array("x", m), prover(chosen_statements((), ()))
    rank = nq.sum(nq.where(nq.rename(x, {m: n}) < x, 1.0, 0.0), n)
    graph = graph_of([nq.argmax(nq.where(nq.equal(rank, nq.index(o) * 1.0), 1.0, 0.0), m), nq.sum(rank, m)], proved)
    assert Storage(graph, {}, "bfloat16", proved).stored[rank].dtype == "f32"


def test_names_of_arrays_that_a_cover_would_take_change_nothing():
    """A name that ends on an underscore is a name: the next one that a cover tried had two in a row, which is none, and
    there was no cover.
    """
    m, n = nq.axes("m n", m=512, n=512)
    proved = prover(chosen_statements((), ()))
    for first, second in (("A", "B"), ("v0", "v0_"), ("v0_1", "v0")):
        a, b = nq.array(first, m, n), nq.array(second, n)
        graph = graph_of([nq.max(nq.sum(a * b, n) + 1.0, m), nq.sum(nq.sum(a * b, n), m)], proved)
        names = [stored.name for stored in Storage(graph, {}, "bfloat16", proved).stored.values()]
        assert len(names) == len({*names, first, second}) - 2 == len(graph.cuts)


def test_what_is_small_or_moves_in_no_time_is_kept_in_float32():
    """Also where it is read at other coordinates, unless contractions alone read it, whose operands are rounded
    anyway.
    """
    a, b, c, n = nq.axes("a b c n", a=64, b=16, c=16, n=16)
    proved = prover(chosen_statements((), ()))
    total = nq.sum(nq.array("A", a, b, c), a)
    turned = Read(total, b, 15 - nq.index(b))
    graph = graph_of([nq.exp(turned) + total], proved)
    assert Storage(graph, {}, "bfloat16", proved).stored[total].dtype == "f32"
    # Nothing is much larger than it: by what it takes to move it
    running = nq.scan(nq.exp(nq.array("A", a, b, c)), a)
    graph = graph_of([Read(running, b, 15 - nq.index(b)) + running], proved)
    few = 4.0 * 64 * 16 * 16
    assert [Storage(graph, {}, "bfloat16", proved, free=f).stored[running].dtype for f in (0.0, few - 1, few)] == [
        "bf16", "bf16", "f32"
    ]  # fmt: skip
    product = nq.sum(turned * nq.array("B", c, n), c)
    assert Storage(graph_of([product], proved), {}, "bfloat16", proved, free=few).stored[total].dtype == "bf16"


def bounds_of(out: nq.Term) -> dict[frozenset[nq.Term], float]:
    """Return the bounds of the candidates of an output by what each computes for itself."""
    proved = prover(chosen_statements((), ()))
    graph = graph_of([out], proved)
    storage = Storage(graph, {out: "out"}, "bfloat16", proved)
    return {
        c.inside: bound_us(storage.piece(c), "bf16", "bfloat16", hardware.load("h200"))
        for c in Enumeration(graph).single[out]
    }


def test_what_both_sides_of_a_choice_need_is_computed_everywhere() -> None:
    n, d, e = nq.axes("n d e", n=4096, d=2048, e=2048)
    a, b = nq.array("A", n, d), nq.array("B", n, e)
    product = nq.sum(a * b, n)
    same = nq.equal(nq.index(d), nq.index(e))
    least = bounds_of(nq.where(same, (1.0 - product) * (1.0 - product), 0.005 * product * product))
    assert least[max(least, key=len)] > 40  # 34 GFLOP take 35 us at the peak
    other = nq.sum(nq.array("C", n, d) * b, n)
    sides = bounds_of(nq.where(same, other, product))
    assert sides[max(sides, key=len)] < 25  # a kernel may leave out something of each side


def test_blocks_that_hold_more_rows_hold_fewer_columns() -> None:
    """A value that is computed for its own kernel alone is computed again for columns, or its weights read for rows."""
    t, d, f, g = nq.axes("t d f g", t=6272, d=512, f=2048, g=512)
    inner = nq.gelu(nq.linear(nq.array("X", t, d), nq.array("V", d, f), d))
    least = bounds_of(nq.linear(inner, nq.array("W", f, g), f))
    apart = 2 * 2 * 6272 * 512 * 2048 / 989.5e12 / 0.88 * 1e6
    assert least[frozenset()] < least[max(least, key=len)] - apart / 2
    assert least[max(least, key=len)] > apart + 6.5  # two contractions, done once, would be 36.6 with a launch


def test_what_ended_the_search_for_a_whole_kernel_does_not_end_that_with_an_axis_cut() -> None:
    i, j, d = nq.axes("i j d", i=4096, j=4096, d=256)
    scores = nq.sum(nq.array("A", i, d) * nq.array("B", j, d), d) * 10.0
    job = job_of("lse", nq.logsumexp(scores, j) + nq.array("C", i))
    job.aim.budget.clock.stopped.append("extraction")
    best, _ = together(job, [Stored("lse", "f32", (i,))])[0]
    assert len(best.tiled) == 2 and best.predicted_us < 25  # 44 in one kernel, of 32 blocks


def test_a_value_made_of_a_fold_and_of_another_that_follows_it_is_a_cut() -> None:
    """A kernel that computes the logarithm of a sum of exponentials stores neither the maximum nor the sum."""
    i, j, d = nq.axes("i j d", i=512, j=512, d=64)
    scores = nq.sum(nq.array("A", i, d) * nq.array("B", j, d), d)
    row = nq.logsumexp(scores, j)
    graph = graph_of([nq.mean(row, i)], prover(chosen_statements((), ())))
    assert row in graph.cuts and nq.max(scores, j) in graph.cuts
    stats = nq.mean(scores, j) + nq.max(scores, j)  # neither is made of the other: each is read, and they are added
    assert stats not in graph_of([nq.sum(stats, i)], prover(chosen_statements((), ()))).cuts


def test_a_piece_that_takes_little_more_than_a_launch_is_priced_as_it_is_written_and_searched_for_once_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known: list[pricing.Known] = []

    class Noted(pricing.Known):
        def __init__(self) -> None:
            super().__init__()
            known.append(self)

    monkeypatch.setattr(pricing, "Known", Noted)
    a, b, c = nq.axes("a b c", a=31, b=19, c=27)
    x, y = nq.array("X", a, b), nq.array("Y", c, b)
    outputs = (("p", nq.softmax(x * 3.25, b)), ("q", nq.logsumexp(y * 1.75, b)), ("r", nq.sum(y, c) * 2.5))
    found = derive(nq.Diagram("pieces", outputs), dtype="float32")
    assert found.outputs[0].cover is not None
    soon = {at: searched for each in known for at, searched in each.soon.items()}
    assert 1 <= sum(soon.values()) <= len(found.plan.kernels) < len(soon)
    assert found.report()["certificate"]["status"] == "proved"


@pytest.mark.slow
def test_a_maximum_and_the_sum_relative_to_it_are_cut_together_where_processors_would_idle() -> None:
    """A cover prices them as one kernel's outputs: 64 blocks of rows for 132 processors else, in 53 us."""
    n, m, d = nq.axes("n m d", n=4096, m=4096, d=256)
    scores = nq.sum(nq.array("A", n, d) * nq.array("B", m, d), d) * 14.0
    largest = nq.max(scores, m)
    diagram = nq.Diagram("pair", (("largest", largest), ("total", nq.sum(nq.exp(scores - largest), m))))
    job = Job(diagram, aimed(diagram, "h100", "bfloat16", "auto", None, (), 20.0, False), proved_laws((), (), False))
    found = together(job, [Stored("largest", "f32", (n,)), Stored("total", "f32", (n,))])
    assert found[0][0].predicted_us < 25 and [axis.name for _, axis in found[0][1]] == ["m"]


def test_what_a_kernel_computes_for_itself_is_stored_beside_what_it_makes_where_others_need_it() -> None:
    t, d = nq.axes("t d", t=4096, d=4096)
    given, gradient = nq.array("X", t, d), nq.array("dY", t, d)
    scale = nq.rsqrt(nq.mean(given * given, d) + 1e-6)
    outward = scale * gradient - given * (scale * scale * scale) * nq.mean(gradient * given, d)
    plan = derive(nq.Diagram("backward", (("dX", outward), ("dG", nq.sum(gradient * given * scale, t))))).plan
    # X and dY are read twice at the most, rather than three times: once where their product is stored beside, too
    assert sum(b.name in ("X", "dY") for kernel in plan.kernels for b in kernel.reads) in (2, 4)
    (beside,) = ([len(b.dims) for b in k.writes] for k in plan.kernels if any(b.name == "dX" for b in k.writes))
    assert sorted(beside) in ([1, 2], [1, 2, 2])


def test_weights_of_one_kernel_are_left_as_they_are() -> None:
    """A sum of weights by itself is carried along with what divides it: attention is one kernel that reads all once."""
    q, x, d = nq.axes("q x d", q=512, x=512, d=64)
    scores = nq.sum(nq.array("Q", q, d) * nq.array("K", x, d), d)
    out = nq.sum(nq.softmax(scores, x) * nq.array("V", x, d), x)
    assert not weights([out])
    over = nq.sum(nq.softmax(scores, x) * nq.array("G", q), q)
    assert weights([over]) and weights([out, over]) == weights([over])
