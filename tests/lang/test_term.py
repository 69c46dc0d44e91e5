"""Terms: made once, never changed, printed so that they can be read back, written so that a person can read them."""

import copy
import math
import pickle
from functools import reduce

import pytest

import napkin_eq.frontend.library as nq
from napkin_eq.frontend.gallery import DIAGRAMS, diagram
from napkin_eq.lang import term as terms
from napkin_eq.lang.axis import Axis, axes
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.term import (
    Acc,
    Const,
    Fold,
    Group,
    Index,
    Input,
    Length,
    Map,
    Online,
    Prev,
    Proj,
    Read,
    Recur,
    Reduce,
    Scan,
    Size,
    Store,
    Tuple,
    Walk,
    subterms,
)
from napkin_eq.laws.law import Var

q, x, d = axes("q x d", q=4, x=6, d=3)
A, B = nq.array("A", q, x), nq.array("B", x, d)
TRUE = Const(True)
RUNNING = Reduce("max", x, A)
EVERY = [
    A,
    Input("L", (q,), "int32", ("nonneg",)),
    Const(True),
    Const(1),
    Const(1.0),
    Const(-0.0),
    Index(x),
    Size(x),
    Length(x),
    A + B,
    Map("where", (Index(q) <= Index(x), A, Const(-math.inf))),
    Reduce("sum", x, A, Index(x) < 3),
    Fold("prod", x, A, TRUE, True),
    Online(x, nq.exp(A - RUNNING), TRUE, Acc() * nq.exp(Prev(RUNNING) - RUNNING)),
    Scan("sum", x, A),
    Recur(x, A, B),
    Read(A, x, Index(d)),
    Tuple((A, B)),
    Proj(1, Store(Group(q, Tuple((A, B))))),
    Store(A),
    Group(q, A),
    Walk(q, A),
    *(make().term for make in DIAGRAMS.values()),
]


@pytest.mark.parametrize("term", EVERY, ids=lambda t: str(t)[:30])
def test_a_term_is_read_back_as_itself(term):
    names = {**terms.CLASSES, "Axis": Axis, "inf": math.inf}
    assert eval(repr(term), names) is term
    assert pickle.loads(pickle.dumps(term)) is term
    assert copy.deepcopy(term) is term


def test_every_class_is_among_the_examples():
    assert {type(node) for term in EVERY for node in subterms(term)} == set(terms.CLASSES.values())


def test_equal_terms_are_one_object_and_different_ones_are_not():
    assert nq.softmax(A, x) is nq.softmax(nq.array("A", q, x), x)
    assert A + B is not B + A
    assert len({Const(1), Const(1.0), Const(True), Const(0.0), Const(-0.0)}) == 4


def test_terms_do_not_change():
    with pytest.raises(AttributeError, match="immutable"):
        A.name = "B"
    with pytest.raises(AttributeError, match="no field"):
        A.size  # noqa: B018


def test_subterms_come_once_and_children_first():
    found = subterms(nq.softmax(A, x))
    assert len(found) == len(set(found))
    assert all(found.index(child) < found.index(node) for node in found for child in node.children)


WRITTEN = {
    "A - B": A - B,
    "A - (B - A)": A - (B - A),
    "A + B + A": A + B + A,
    "A + (B + A)": A + (B + A),
    "A · (B + 1)": A * (B + 1.0),
    "A · B / A": A * B / A,
    "A / (A · B)": A / (A * B),
    "A · (B / A)": A * (B / A),
    "-(A · B)": -(A * B),
    "-A · B": -A * B,
    "-(-A)": -(-A),
    "A - 2": A - 2.0,
    "1 / A": Map("inv", (A,)),
    "e^(A + B)": nq.exp(A + B),
    "√A · e^B": nq.sqrt(A) * nq.exp(B),
    "max(A, B)": nq.maximum(A, B),
    "Σ_x A · B": nq.sum(A * B, x),
    "Σ_x (A + B)": nq.sum(A + B, x),
    "(Σ_x A) · B": nq.sum(A, x) * B,
    "B · Σ_x A": B * nq.sum(A, x),
    "(B · Σ_x A) · B": B * nq.sum(A, x) * B,
    "Σ_x A + B": nq.sum(A, x) + B,
    "B / (Σ_x A)": B / nq.sum(A, x),
    "max_x (A - B)": nq.max(A - B, x),
    "Π_{x | x < 3} A": nq.prod(A, x, where=Index(x) < 3),
    "[x ≤ q ? A : -∞]": nq.masked(A, nq.causal(q, x)),
    "x ≤ q ∧ (x < 2 ∨ ¬(q = x))": nq.causal(q, x) & ((Index(x) < 2) | ~nq.equal(Index(q), Index(x))),
    "⌊x / 2⌋ + x mod 2": Index(x) // 2 + Index(x) % 2,
    "(Σ_x A) / |x|": nq.mean(A, x),
    "A[x := q + 1]": Read(A, x, Index(q) + 1),
    "A[x := 0][q := 1]": Read(Read(A, x, Const(0)), q, Const(1)),
    "fold[Σ_x A]": Fold("sum", x, A, TRUE),
    "fused[max_x A]": Fold("max", x, A, TRUE, True),
    "fused online[Σ_x e^(A - max_x A); acc ← acc · e^(prev[max_x A] - max_x A)]": Online(
        x, nq.exp(A - RUNNING), TRUE, Acc() * nq.exp(Prev(RUNNING) - RUNNING), True
    ),
    "scan[Σ_x A]": nq.cumsum(A, x),
    "store[group_q[walk_x[A]]]": Store(Group(q, Walk(x, A))),
    "(A, B)": Tuple((A, B)),
    "item_0[store[group_q[(A, B)]]]": Proj(0, Store(Group(q, Tuple((A, B))))),
    "a · b + 1e-06": Var("a") * Var("b") + 1e-6,
}


@pytest.mark.parametrize("text", WRITTEN)
def test_a_term_is_written_as_a_mathematician_would(text):
    assert str(WRITTEN[text]) == text


def test_a_term_that_is_huge_as_a_tree_is_cut_short():
    term = A
    for _ in range(60):
        term = term + term
    assert len(str(term)) < 5000
    assert "…" in str(term)
    chain = A
    for _ in range(400):
        chain = nq.exp(chain)
    assert str(chain).endswith("…" + ")" * str(chain).count("("))


BAD = {
    "size 4 on one side and 5": lambda: A + nq.array("C", Axis("q", 5)),
    "unknown operator": lambda: Map("frobnicate", (A,)),
    "takes 2 arguments": lambda: Map("add", (A,)),
    "expected bool": lambda: nq.where(A, A, A),
    "the mask is real": lambda: Reduce("sum", x, A, A),
    "unknown monoid": lambda: Reduce("mean", x, A),
    "listed twice": lambda: nq.array("C", q, q),
    "unknown dtype": lambda: nq.array("C", q, dtype="float8"),
    "unknown fact": lambda: nq.array("C", q, facts=("big",)),
    "not a usable name": lambda: nq.array("import", q),
    "not an axis": lambda: nq.array("C", "q"),  # type: ignore[arg-type]
    "not a bool, an integer": lambda: Const(math.nan),
    "no truth value": lambda: 0.0 < A < 2.0,
    "neither a term nor a number": lambda: A + "B",
    r"False .* write equal\(a, b\)": lambda: nq.where(Index(q) == Index(x), A, 0.0),  # type: ignore[arg-type]
    r"True .* or ~equal\(a, b\)": lambda: nq.sum(A, x, where=Index(q) != Index(x)),  # type: ignore[arg-type]
    "False stands where a term is expected": lambda: (A == B) & (A < 1.0),
    "the index is real": lambda: Read(A, x, A),
    "has no axis d": lambda: Read(A, d, Index(q)),
    "must not vary along x": lambda: Online(x, A, TRUE, Acc() * A),
    "a bool stands where a number": lambda: nq.sum(Index(x) < 3, x),
    "levels deep": lambda: reduce(lambda t, _: nq.exp(t), range(3100), A),
}


@pytest.mark.parametrize("reason", BAD)
def test_an_ill_shaped_term_is_refused_in_one_line(reason):
    with pytest.raises(NapkinError, match=reason) as refused:
        BAD[reason]()
    assert "\n" not in str(refused.value)


# Diagrams.


def test_a_diagram_knows_its_inputs_and_takes_other_sizes():
    before = diagram("attention")
    assert [node.name for node in before.inputs()] == ["Q", "K", "V"]
    after = before.with_sizes({"q": 7, "x": None})
    assert {axis.name: axis.size for axis in after.axes()} == {"b": 1, "h": 16, "q": 7, "d": 128, "x": None}
    assert after == diagram("attention", q=7, x=None)
    assert before.with_sizes({}) == before


def test_every_diagram_of_the_gallery_is_named_documented_and_takes_sizes():
    for name, make in DIAGRAMS.items():
        made = make()
        assert made.name == name and made.doc.endswith(".") and made.with_sizes({}) == made


BAD_DIAGRAMS = {
    "no axis 'z'": lambda: diagram("softmax").with_sizes({"z": 3}),
    "has no axis 'w'": lambda: diagram("softmax", w=3),
    "unknown diagram 'magic'": lambda: diagram("magic"),
    "needs? .*number|give it a number": lambda: diagram("attention", d=None),
    "names two arrays": lambda: Diagram("two", (("A", A),)),
    "has no output": lambda: Diagram("none", ()),
    "is a tuple": lambda: Diagram("both", (("out", Tuple((A, B))),)),
    "declared twice, differently": lambda: Diagram("twice", (("out", A + nq.array("A", q, d)),)),
    "out of range": lambda: diagram("softmax").with_sizes({"x": 0}),
}


@pytest.mark.parametrize("reason", BAD_DIAGRAMS)
def test_a_bad_diagram_is_refused_in_one_line(reason):
    with pytest.raises(NapkinError, match=reason) as refused:
        BAD_DIAGRAMS[reason]()
    assert "\n" not in str(refused.value)


def test_importing_a_file_does_not_hide_the_function_of_its_name():
    import napkin_eq.lang.evaluate
    import napkin_eq.pipeline.derive

    assert callable(napkin_eq.evaluate) and napkin_eq.softmax is nq.softmax
    with pytest.raises(AttributeError, match="no attribute 'magic'"):
        napkin_eq.magic  # noqa: B018


def test_a_diagram_is_written_in_terms_too() -> None:
    from napkin_eq import term as words

    y, q = axes("y q", y=4, q=6)
    counted = words.Reduce("sum", q, nq.array("A", y), words.Map("le", (words.Index(y), words.Index(q))))
    assert evaluate(counted, {"A": [1.0] * 4}).tolist() == [6, 5, 4, 3]
    assert all(getattr(words, name) is getattr(terms, name) for name in words.__all__)


def test_a_deep_term_is_cut_where_quotients_and_differences_step_over_the_limit():
    (t,) = nq.axes("t", t=8)
    term = nq.array("X", t)
    for number in range(40):
        term = term + nq.array(f"Y{number}", t) / (term - nq.sum(term, t))
    assert len(str(term)) < 20_000


def test_a_term_that_is_used_often_is_short_to_read_and_reads_as_no_other() -> None:
    T, D = nq.axes("t d", t=8, d=8)
    first, second = nq.array("A", T, D), nq.array("B", T, D)
    for _ in range(200):
        first, second = first * first + first, second * second + second
    assert len(repr(first)) < 20_000 and repr(first) != repr(second)
    assert repr(nq.index(T) + 1) == "Map('add', (Index(Axis(name='t', size=8, multiple=1)), Const(1)))"


def test_whole_numbers_among_reals_are_exact_and_those_beyond_the_range_refused():
    (x,) = nq.axes("x", x=4)
    added = nq.array("A", x) + (2**53 + 1)
    assert [t.exact for t in subterms(added) if isinstance(t, Const)] == [2**53 + 1]
    for far in (10**400, -(10**400)):
        with pytest.raises(NapkinError, match="constant of 1329 bits is beyond the range of numbers"):
            nq.array("A", x) + far
