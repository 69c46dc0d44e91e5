"""Diagrams as text: what is printed is read again as it was, what is wrong is said at its place, nothing runs."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.cli.main import main
from napkin_eq.frontend.gallery import DIAGRAMS
from napkin_eq.frontend.parsed import parsed
from napkin_eq.frontend.spelled import resized, spelled
from napkin_eq.frontend.tokens import Misread
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import axes_in, evaluate
from napkin_eq.lang.json_form import diagram_from_json, dumps_diagram
from napkin_eq.numerics.sample_inputs import draw, families
from napkin_eq.verify.fuzz.random_diagrams import random_diagram

TEXTS = {name: spelled(DIAGRAMS[name]()) for name in sorted(DIAGRAMS)}
SIGNS = "()[]{}Σ_x·/+-e^√⌊⌋|?:=<≤∧¬∞ \n#1.5AQtmax,%<script>é\0"


@pytest.mark.parametrize("name", TEXTS)
def test_a_diagram_of_the_gallery_is_read_again_as_it_was(name):
    diagram = DIAGRAMS[name]()
    again = parsed(TEXTS[name])
    assert again == diagram and all(a is b for (_, a), (_, b) in zip(again.outputs, diagram.outputs, strict=True))


@pytest.mark.parametrize("name", TEXTS)
def test_what_str_prints_of_a_term_is_read(name):
    diagram = DIAGRAMS[name]()
    declarations = "".join(line + "\n" for line in TEXTS[name].splitlines() if line.startswith(("axis", "array")))
    for output, term in diagram.outputs:
        again = parsed(f"{declarations}{output} = {term}")
        assert str(again.outputs[0][1]) == str(term)


def test_random_diagrams_mean_the_same_when_they_are_read_again():
    for seed in range(25):
        diagram = random_diagram(random.Random(f"text/{seed}").randrange)
        again = parsed(spelled(diagram))
        sizes = {axis.name: axis.size or 4 for axis in diagram.axes()}
        drawn = draw(diagram, families()["normal"], sizes, "float32", seed).clean
        for (_, old), (_, new) in zip(diagram.outputs, again.outputs, strict=True):
            own = {axis.name: sizes[axis.name] for axis in axes_in(old)}
            assert np.array_equal(evaluate(old, drawn, own), evaluate(new, drawn, own), equal_nan=True), seed


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("axis x = 4\narray A[x]\nout = sum_x A +", (3, 16), "expected a value"),
        ("axis x = 4\narray A[x]\nout = Σ_y A", (3, 9), "no axis 'y'"),
        ("axis x = 4\narray A[x]\nout = A + B", (3, 11), "'B' is no array"),
        ("axis x = 4\narray A[x]\nout = [A ? 1 : 0]", (3, 7), "expected bool"),
        ("axis x = 4, x = 5", (1, 13), "already names"),
        ("axis x = 0", (1, 6), "out of range"),
        ("array A[x]", (1, 9), "no axis"),
        ("axis x\narray A[x] : complex", (2, 14), "unknown type"),
        ("out = 1 < 2 < 3", (1, 13), "do not chain"),
        ("out = ∞", (1, 7), "-∞ is the absent one"),
        ("out = é", (1, 7), "not a sign"),
        ("out = __import__(1)", (1, 7), "expected a value"),
        ("", (1, 1), "no output"),
        ("out = " + "(" * 99 + "1", (1, 57), "nested more than"),
        ("out = 1" + "0" * 400, (1, 7), "beyond"),
        ("x" * 30_000, (1, 1), "at most"),
    ],
)
def test_what_is_wrong_is_said_at_its_place(text, place, says):
    with pytest.raises(Misread) as caught:
        parsed(text)
    assert (caught.value.line, caught.value.column) == place and says in caught.value.reason
    assert str(caught.value).count("column") == 1 and "\n" not in str(caught.value)


def test_a_spoilt_text_is_read_or_refused_and_nothing_else():
    rng = random.Random(0)
    texts, refused = list(TEXTS.values()), 0
    for _ in range(1500):
        text = rng.choice(texts)
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(text) + 1)
            stranger = "".join(rng.choice(SIGNS) for _ in range(rng.randint(0, 4)))
            text = text[:at] + stranger + text[at + rng.randint(0, 3) :]
        try:
            parsed(text)
        except Misread as reason:
            refused += 1
            assert 1 <= reason.line <= text.count("\n") + 1
    assert 500 < refused < 1500


def test_ascii_and_the_functions_of_the_library_say_the_same():
    q, x, d = nq.axes("q x d", q=8, x=16, d=4)
    Q, K, V = nq.array("Q", q, d), nq.array("K", x, d), nq.array("V", x, d)
    text = (
        "axis q = 8, x = 16, d = 4\narray Q[q, d], K[x, d], V[x, d]  # attention\n"
        "let s = sum_d Q * K\nlet seen = index(x) <= q\nout = sum_x softmax_x([seen ? s / sqrt(4.0) : -inf]) * V"
    )
    scores = nq.sum(Q * K, d) / nq.sqrt(4.0)
    assert parsed(text).outputs[0][1] is nq.sum(nq.softmax(nq.where(nq.causal(q, x), scores, float("-inf")), x) * V, x)


def test_places_of_maxima_and_types_of_outputs_are_read_again():
    x, t = nq.axes("x t", x=8, t=4)
    A = nq.array("A", t, x)
    diagram = nq.Diagram("places", (("top", nq.max(A, x)), ("place", nq.argmax(A, x)))).storing(place="int64")
    assert parsed(spelled(diagram)) == diagram
    text = "axis x = 8, t = 4\narray A[t, x]\nleast : float32 = min_x A\nplace = argmin_{x | x < 4} A"
    again = parsed(text)
    assert again.outputs[0][1] is nq.min(A, x) and again.held == (("least", "float32"),)
    assert again.outputs[1][1] is nq.argmin(A, x, where=nq.index(x) < 4)
    with pytest.raises(Misread, match="holds int values"):
        parsed(text.replace("place =", "place : float32 ="))


def test_sizes_change_where_they_are_declared_and_nowhere_else():
    text = "diagram q: about q. Is it é?\naxis q = 4, x, d = 8 % 4  # q\narray Q[q, d], x1[x]\nout = Q · q + 4"
    again = resized(text, {"q": 16, "x": 3, "d": None})
    head = "diagram q: about q. Is it é?\n"
    assert again == head + "axis q = 16, x = 3, d % 4  # q\narray Q[q, d], x1[x]\nout = Q · q + 4"
    assert [axis.size for axis in parsed(again).axes()] == [16, None]


def test_a_file_of_text_is_a_diagram_for_every_verb(tmp_path, capsys):
    file = tmp_path / "mine.napkin"
    file.write_text("axis t = 64, d = 32\narray A[t, d]\nout = softmax_d(A)", encoding="utf-8")
    assert main(["draw", str(file)]) == 0 and capsys.readouterr().out.startswith("<svg")
    file.write_text("out = 1 +", encoding="utf-8")
    assert main(["draw", str(file)]) == 2
    assert (
        capsys.readouterr().err
        == f"napkin-eq: diagram {file}: line 1, column 10: expected a value, not the end of the line\n"
    )


@pytest.mark.slow
def test_what_is_too_deep_for_a_kernel_is_said_in_one_line():
    term = nq.array("A", nq.Axis("x", 4))
    for _ in range(2500):
        term = nq.tanh(term)
    with pytest.raises(NapkinError, match="levels deep, too many for a kernel") as caught:
        nq.derive(term, limit=3.0)
    assert "\n" not in str(caught.value)


def test_what_no_output_reads_is_told() -> None:
    found = parsed("axis t = 8\narray A[t], B[t]\nlet u = A * 2\nout = A + 1\n")
    assert found.unread == ("B", "u") and [a.name for a in found.inputs()] == ["A"]
    assert parsed("axis t = 8\narray A[t]\nlet u = A * 2\nout = u + 1\n").unread == ()
    data = json.loads(dumps_diagram(found))
    data["inputs"]["Z"] = data["inputs"]["A"]
    assert diagram_from_json(data).unread == ("Z",)
