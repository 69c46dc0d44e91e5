"""Extraction against brute force: every choice of one node per class of a small e-graph, priced one by one."""

import itertools

import pytest

import napkin_eq as nq
from napkin_eq.egraph import coordinates
from napkin_eq.egraph.nodes import Node, Saturated
from napkin_eq.egraph.saturate import saturate
from napkin_eq.lang.term import Acc, Const, Fold, Input, Prev, Read, Scan, Term, subterms
from napkin_eq.laws.law import Inference, Sum
from napkin_eq.machine.gpu import load
from napkin_eq.pipeline.asked import chosen_statements
from napkin_eq.pipeline.unfused import NOTE
from napkin_eq.search import extract, forms
from napkin_eq.search.extract import Extractor
from napkin_eq.search.forms import Candidate

HIDDEN = ("Store", "Group", "Walk", "Reduce_sum", "Reduce_max")


def small(term: Term, *laws: str, rounds: int = 2) -> Saturated:
    statements = [s for s in chosen_statements((), ()) if s.name in laws or isinstance(s, Inference)]
    return saturate(term, statements, rounds=rounds)


def brute_force(graph: Saturated) -> float:
    """Return the least cost over every acyclic choice of one node per class, each followed by itself."""
    extractor = Extractor(graph, load("h200"), 2, lambda term, given: True)
    nodes = {c: [n for n in ns if n.kind not in HIDDEN and c not in n.children] for c, ns in graph.classes.items()}
    reachable, waiting = set(), [graph.root]
    while waiting:
        if (c := waiting.pop()) not in reachable:
            reachable.add(c)
            waiting += [k for n in nodes[c] for k in n.children]
    order = sorted(c for c in reachable if nodes[c])
    best = float("inf")
    for picked in itertools.product(*(nodes[c] for c in order)):
        choice = dict(zip(order, picked, strict=True))
        found: dict[int, Candidate | None] = {}

        def follow(
            c: int, above: frozenset[int], choice: dict[int, Node] = choice, found: dict[int, Candidate | None] = found
        ) -> Candidate | None:
            if c in above:
                return None
            if c not in found:
                parts = [follow(k, above | {c}) for k in choice[c].children]
                found[c] = (
                    None
                    if None in parts
                    else extractor._maker(c, choice[c])(tuple(p for p in parts if p is not None))
                )
            return found[c]

        if (whole := follow(graph.root, frozenset())) is not None:
            best = min(best, whole.cost)
    return best


def cases() -> dict[str, tuple[Term, tuple[str, ...]]]:
    t, x, y = nq.axes("t x y", t=64, x=512, y=256)
    a, b, c = nq.array("A", t, x), nq.array("B", x, y), nq.array("C", t)
    shared = nq.exp(a)
    return {
        "factor": (nq.sum(a * c, x), ("distribute", "stream-sum", "fuse-sum", "mul-commutes")),
        "contraction": (
            nq.sum((a * c) * b, x),
            ("distribute", "stream-sum", "fuse-sum", "mul-associates", "mul-commutes"),
        ),
        "sharing": (nq.sum(shared * a, x) + nq.sum(shared, x), ("stream-sum", "fuse-sum", "add-commutes")),
        "rows": (nq.max(a * 2.0, x) + nq.sum(a, x), ("max-scale", "stream-sum", "stream-max", "fuse-sum", "fuse-max")),
    }


@pytest.mark.parametrize("name", list(cases()))
def test_the_best_candidate_is_the_best_of_all(name):
    graph = small(*(lambda case: (case[0], *case[1]))(cases()[name]))
    best = Extractor(graph, load("h200"), 2, lambda term, given: True).run()[0]
    assert best.cost == pytest.approx(brute_force(graph), rel=1e-12)


def test_shared_work_counts_once():
    t, x = nq.axes("t x", t=64, x=512)
    e = nq.exp(nq.array("A", t, x))
    once, twice = (Extractor(small(term), load("h200"), 2, lambda t, g: True).run()[0].cost for term in (e, e * e))
    other = nq.exp(nq.array("B", t, x))
    apart = Extractor(small(e * other), load("h200"), 2, lambda t, g: True).run()[0].cost
    assert once < twice < apart


@pytest.mark.parametrize(("rows", "blocks"), [(64, 1.0), (128, 1.0), (16384, 128.0)])
def test_an_operand_is_computed_by_every_block_that_reads_it(rows, blocks):
    q, x, d = nq.axes("q x d", q=16384, x=rows, d=128)
    assert extract._blocks((q, d), (q, x), (q, d)) == blocks
    assert extract._blocks((q, x), (q, d), (q, x)) == 1.0


@pytest.mark.parametrize("rows", [64, 16384])
def test_a_factor_of_a_contraction_enters_the_operand_that_is_computed_already(rows):
    q, x, d = nq.axes("q x d", q=4096, x=rows, d=128)
    weights = nq.exp(nq.array("S", q, x)) * nq.array("l", q)
    graph = small(nq.sum(weights * nq.array("G", q, d), q), "mul-associates", "mul-commutes", "stream-sum", "fuse-sum")
    for found in Extractor(graph, load("h200"), 2, lambda term, given: True, alone=True).run()[:2]:
        sides = next(t.body.args for t in subterms(found.term) if isinstance(t, Fold))
        assert {frozenset(a.name for a in side.axes) for side in sides if side.children} == {frozenset("qx")}


@pytest.mark.parametrize("heads", [16, 64])
def test_a_number_made_of_numbers_multiplies_what_it_scales_and_no_operand(heads):
    # Lowered, 1 / 50 is a number; taken for an operator of every score, it went into the queries.
    h, q, x, d = nq.axes("h q x d", h=heads, q=4096, x=4096, d=128)
    scores = nq.sum(nq.array("Q", h, q, d) * nq.array("K", h, x, d), d) / 50.0
    laws = ("mul-associates", "mul-commutes", "distribute", "stream-sum", "fuse-sum")
    best = Extractor(small(scores, *laws, rounds=6), load("h200"), 2, lambda term, given: True).run()[0]
    (fold,) = (t for t in subterms(best.term) if isinstance(t, Fold))
    assert all(isinstance(side, Input) for side in fold.body.args)


@pytest.mark.parametrize("module", [forms, coordinates], ids=["forms", "coordinates"])
def test_what_is_remembered_of_terms_is_bounded(module, monkeypatch):
    memo, ask = (
        (forms._FURTHER, forms._folded_further) if module is forms else (coordinates._FINDS, coordinates.finds_places)
    )
    monkeypatch.setattr(module, "REMEMBERED", 50)
    x, y = nq.axes("x y", x=8, y=8)
    terms = [nq.sum(nq.sum(nq.array(f"A{i}", x, y) * float(i), x) + 1.0, y) for i in range(60)]
    places = nq.equal(nq.index(x), nq.argmax(nq.array("P", x, y), x))
    before = [ask(term) for term in terms]
    assert len(memo) <= 50 + 20
    assert [ask(term) for term in terms] == before
    if module is coordinates:
        assert ask(places) and not any(before)


def test_a_form_that_is_no_term_is_no_candidate():
    def form(cost, broken):
        def make():
            if broken:
                raise nq.NapkinError("its update must not vary along x")
            return Const(cost)

        return Candidate(make, 1, frozenset([int(cost)]), -1, cost)

    kept = forms.diverse([form(1.0, True), form(2.0, False), form(2.0, True), form(3.0, False)], 5)
    assert [c.cost for c in kept] == [2.0, 3.0]


@pytest.mark.parametrize("along", ["other", "same"])
def test_what_is_read_at_computed_places_is_stored_and_searched_for(along):
    c, x = nq.axes("c x", c=40, x=16)
    over = x if along == "same" else c
    shown = nq.silu(nq.take(nq.cumsum(nq.array("A", c, x) + 1.0, x), over, nq.length(over) - 1 - nq.index(over)))
    found = nq.derive(shown, dtype="float32")
    assert len(found.plan.kernels) == 2
    assert not any(NOTE in output.graph.notes for output in found.outputs)


def searched(term: Term, kernels: int) -> Term:
    """Return the form that a search found, in so many kernels, which validation has run against the diagram."""
    found = nq.derive(term, dtype="float32")
    assert not any(NOTE in output.graph.notes for output in found.outputs), found.outputs[0].graph.notes
    assert len(found.plan.kernels) == kernels
    return found.outputs[0].placed.term


def test_a_sum_of_ones_is_found_to_be_a_size():
    b, c = nq.axes("b c", b=3, c=7)
    ones = Sum(c, Const(1.0) * Const(1.0))
    for term in (
        Sum(b, Const(1.0)),
        ones * Sum(b, Const(1.0)),
        nq.abs(ones) + nq.array("A", b),
        Sum(c, Const(1.0)) * Const(1.0),
    ):
        assert not any(isinstance(t, Fold) for t in subterms(searched(term, 1)))


def test_sizes_are_real_numbers_where_a_choice_is_between_them():
    b, c, d = nq.axes("b c d", b=5, c=7, d=3)
    searched(nq.where(nq.index(b) <= 2, Sum(c, Const(1.0)), Sum(d, Const(1.0))), 1)


def test_a_choice_between_equal_values_is_derived_and_a_law_of_the_user_may_resolve_it(tmp_path):
    b, = nq.axes("b", b=5)
    term = nq.where(nq.index(b) <= 2, nq.array("A", b), nq.array("A", b))
    assert searched(term, 1).axes == (b,)
    rules = tmp_path / "same.py"
    rules.write_text(
        "from napkin_eq.law import law, where\n\n\n@law('Of two equal values either is one.')\ndef either(a, c):\n   "
        " return where(c, a, a), a\n"
    )
    found = nq.derive(term, dtype="float32", rules=[str(rules)])
    assert not any(NOTE in output.graph.notes for output in found.outputs)


def test_a_form_that_varies_along_fewer_axes_than_the_output_is_one():
    b, = nq.axes("b", b=17)
    ones = nq.sigmoid(nq.array("A", b)) / nq.sigmoid(nq.array("A", b))
    form = searched(ones, 1)
    assert form.axes == (b,) and not any(isinstance(t, Input) for t in subterms(form))
    bare = nq.derive(ones, dtype="float32", without=["where-same"])
    assert any(isinstance(t, Input) for t in subterms(bare.outputs[0].placed.term))


def test_prefix_folds_within_each_other_that_are_read_are_stored():
    b, a, o = nq.axes("b a o", b=4, a=65, o=5)
    inner = Scan("sum", o, Scan("sum", b, Scan("prod", a, nq.array("A", b, a))))
    searched(nq.exp(Sum(a, Read(inner, o, Const(0)) * Read(inner, o, Const(0)))), 2)


def test_a_sum_that_is_cut_leaves_out_what_other_stretches_have_whatever_is_chosen_in_it():
    (x,) = nq.axes("x", x=2**24)
    away = nq.abs(nq.array("A", x) - nq.array("B", x))
    body = nq.where(away < 1.0, 0.5 * away * away, away - 0.5)
    found = nq.derive(nq.sum(body, x), hardware="h100", dtype="float32")
    first, last = found.report()["kernels"]
    assert first["blocks"] == 256 and last["blocks"] == 1  # two for each processor
    assert first["bytes_hbm"] < 1.01 * 2 * 4 * 2**24
    assert "skip-sum" in found.report()["laws"]


def gradient(factor: nq.Term | None, scale: float) -> nq.Term:
    h, q, x, d = nq.axes("h q x d", h=8, q=4096, x=4096, d=128)
    queries, keys = nq.array("Q", h, q, d), nq.array("K", h, x, d)
    weights = nq.exp(nq.sum(queries * keys, d) - nq.array("L", h, q, dtype="float32"))
    weights = weights if factor is None else weights * nq.array("R", h, q, dtype="float32")
    given = nq.sum(nq.array("dO", h, q, d) * nq.array("V", h, x, d), d)
    return nq.sum(weights * (given - 1.0) * queries, q) * scale


def test_a_number_by_which_a_sum_is_multiplied_does_not_go_into_it():
    """It is an operation of each result there, of each product here, whatever it stands beside."""
    (output,) = nq.derive(gradient(None, 0.125)).outputs
    text = str(output.placed.term)
    assert text.count("0.125") == 1 and text.index("0.125") > text.rindex("Q")


def test_a_factor_of_rows_goes_to_the_side_of_a_product_that_is_computed_in_any_case():
    derivation = nq.derive(gradient(nq.array("R", *nq.axes("h q", h=8, q=4096)), 1.0))
    (kernel,) = derivation.plan.kernels
    assert kernel.workers is not None  # the other side lies in shared memory as it is stored


def test_an_update_that_is_no_number_before_the_first_block_is_no_form():
    x, y = nq.axes("x y", x=4096, y=4)
    a, b = nq.array("A", y, x), nq.array("B", y, x)
    largest, sums = Fold("max", x, a, Const(True)), Fold("sum", x, b, Const(True))
    step = Prev(largest) - largest
    assert forms.begins(x, Acc() * nq.exp(step)), "e^-inf is 0"
    assert forms.begins(x, Acc() * (Prev(sums) / sums))
    assert forms.begins(x, Acc() + (Prev(sums) - sums) * Prev(sums))
    assert not forms.begins(x, Acc() + step * Prev(sums)), "-inf times 0"
    assert not forms.begins(x, (Acc() + step) * nq.exp(step))
    assert not forms.begins(x, Acc() * -step)
    assert forms.begins(x, Acc() * (Const(1e200) * Const(1e200))), "a number, too large for float64"
    assert forms.begins(y, Acc() + step * Prev(sums)), "of another axis what runs along this one is a number"


def test_a_divergence_of_two_softmaxes_is_summed_over_rows_that_a_kernel_holds():
    i, j = nq.axes("i j", i=16384, j=4096)
    given, wanted = nq.array("X", i, j), nq.softmax(nq.array("Y", i, j), j)
    largest = nq.max(given, j)
    logs = given - (largest + nq.log(nq.sum(nq.exp(given - largest), j)))
    term = nq.sum(nq.where(nq.equal(wanted, 0.0), 0.0, wanted * nq.log(wanted)) - wanted * logs, i, j) * (1 / 16384)
    found = nq.derive(term, dtype="float32", limit=10.0)
    assert len(found.plan.kernels) == 2
    assert found.report()["bytes_hbm"] < 1.01 * 2 * 4 * 16384 * 4096, "each of the two is read once"
