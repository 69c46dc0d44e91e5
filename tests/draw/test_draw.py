"""Pictures: nothing overlaps, nothing is cut off, nothing a stranger writes is run, the same bytes on every run."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

import napkin_eq as nq
from napkin_eq.cli.main import main
from napkin_eq.draw import drawn, shown, svg
from napkin_eq.draw.circuit import Circuit, Node, Strand
from napkin_eq.draw.laws import _side
from napkin_eq.draw.layout import picture
from napkin_eq.draw.markup import svg as printed
from napkin_eq.draw.moves import moves
from napkin_eq.draw.picture import Label, Picture, Run, Wire, runs_of, shortened, width_of
from napkin_eq.draw.read import circuit
from napkin_eq.draw.repeats import folded
from napkin_eq.draw.strip import page, strip
from napkin_eq.frontend.gallery import DIAGRAMS
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import subterms
from napkin_eq.laws.law import REGISTRY, Var
from napkin_eq.laws.loader import load_rules
from napkin_eq.verify.fuzz.random_diagrams import Shape, random_diagram
from tests.geometry import flaws
from tests.search.test_sections import stack

SCALES = (1.0, 0.5)
DERIVED = ("softmax", "layer_norm", "attention", "matmul", "rmsnorm_linear")


@pytest.fixture(scope="module")
def derivations():
    return {name: nq.derive(DIAGRAMS[name]()) for name in DERIVED}


def block():
    """Return a block of a transformer as one diagram."""
    t, x, d, k, r, e, f = nq.axes("t x d k r e f", t=512, x=512, d=1024, k=4, r=2, e=128, f=2048)
    X, G = nq.array("X", t, d), nq.array("G", d)
    h = nq.rms_norm(X, d, G)
    Q, K, V = (nq.linear(h, nq.array(name, d, k, *more, e), d) for name, more in (("Wq", (r,)), ("Wk", ()), ("Wv", ())))
    K, V = nq.rename(K, {t: x}), nq.rename(V, {t: x})
    s = nq.masked(nq.sum(Q * K, e) * 128**-0.5, nq.causal(t, x))
    y = X + nq.sum(nq.sum(nq.softmax(s, x) * V, x) * nq.array("Wo", k, r, e, d), k, r, e)
    g = nq.rms_norm(y, d, nq.array("G2", d))
    up = nq.swiglu(nq.linear(g, nq.array("Wg", d, f), d), nq.linear(g, nq.array("Wu", d, f), d))
    return nq.Diagram("block", (("out", y + nq.linear(up, nq.array("Wd", f, d), f)),))


@pytest.fixture(scope="module")
def registry_of_shipped_laws():
    load_rules()
    return [law for law in REGISTRY.laws() if Path(law.place.rpartition(":")[0]).parent.name == "rules"]


def clean(made: Picture) -> None:
    for scale in SCALES:
        assert not (found := flaws(made, scale)), (made.title, scale, found[:5])


@pytest.mark.parametrize("name", sorted(DIAGRAMS))
def test_the_gallery_is_drawn_without_a_flaw(name):
    clean(drawn(DIAGRAMS[name]()))


@pytest.mark.parametrize("name", DERIVED)
def test_plans_are_drawn_without_a_flaw(name, derivations):
    made = drawn(derivations[name])
    clean(made)
    assert {"high", "register"} <= {wire.level for wire in made.wires}


@pytest.mark.parametrize("name", DERIVED)
def test_plans_in_several_rows_are_drawn_without_a_flaw(name, derivations, monkeypatch):
    monkeypatch.setattr("napkin_eq.draw.layout.WIDEST_BAND", 420.0)
    made = drawn(derivations[name])
    clean(made)
    words = [label.text for label in made.labels if label.role == "note"]
    kernels = [text for text in words if text.startswith("kernel 1:")]
    assert len(kernels) > 1 or name in ("softmax", "matmul")
    assert [text[text.index(", part") :] for text in kernels] == [
        f", part {n + 1} of {len(kernels)}" for n in range(len(kernels))
    ] or len(kernels) == 1


def test_equal_layers_of_a_plan_are_drawn_once():
    made = drawn(nq.derive(nq.Diagram("stack", (("out", stack(5)),)), limit=60))
    clean(made)
    words = [label.text for label in made.labels]
    assert any(text.startswith("× 5, one behind the other") for text in words), words
    # Layers are proved over axes of names of their own; what is drawn has those of the kernels, with their tiles.
    assert not any("_0" in text or "_1" in text for text in words)
    assert {text for text in words if text.startswith("Wg")} == {"Wg0"}
    assert any(wire.level == "register" for wire in made.wires)


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_random_diagrams_are_drawn_without_a_flaw(first):
    for seed in range(first, first + 50):
        clean(drawn(random_diagram(random.Random(seed).randrange, Shape(nodes=10 + seed % 80), f"seed{seed}")))


def test_every_law_is_drawn_without_a_flaw(registry_of_shipped_laws):
    assert len(registry_of_shipped_laws) > 70
    for law in registry_of_shipped_laws:
        made = drawn(law)
        clean(made)
        assert law.lhs == law.rhs or any(shape.role == "changed" for shape in made.behind), law.name


def test_what_both_sides_of_a_law_share_is_not_marked(registry_of_shipped_laws):
    found = next(law for law in registry_of_shipped_laws if law.name == "factor")
    nodes = _side(
        found.rhs, found.lhs, {v: () for side in (found.lhs, found.rhs) for v in subterms(side) if isinstance(v, Var)}
    ).nodes
    assert [node.changed for node in nodes if node.kind == "input"] == [False] * 3
    assert any(node.changed for node in nodes if node.kind == "map")


@pytest.mark.parametrize("name", DERIVED)
def test_moves_hold_every_step_once_and_lead_to_the_plan(name, derivations):
    derivation = derivations[name]
    found = moves(derivation)
    steps = [id(step) for move in found for step in move.steps]
    assert sorted(steps) == sorted(id(step) for out in derivation.outputs for step in out.steps)
    report = derivation.report()
    assert found[-1].title == "output stored"
    assert found[-1].after == {
        "kernels": len(report["kernels"]),
        "passes": sum(report["passes"].values()),
        "bytes": report["bytes_hbm"],
    }
    assert found[0].before["bytes"] == report["unfused_bytes_hbm"]
    for one, two in zip(found, found[1:], strict=False):
        assert one.after == two.before
    for move in found:
        assert move.grade == max(report["grades"].get(used.law, "A") for used in move.laws)
    json.dumps([move.data() for move in found])


def test_attention_takes_the_moves_that_a_person_would_name(derivations):
    titles = [move.title for move in moves(derivations["attention"])]
    wanted = {
        "factor moved out of the maximum",
        "maximum made running",
        "sum carried",
        "passes shared",
        "blocks grouped",
        "output stored",
    }
    assert wanted <= set(titles)
    assert titles[-2:] == ["blocks grouped", "output stored"]


def test_the_film_strip(derivations, tmp_path, capsys):
    made = strip(derivations["attention"])
    clean(made)
    ET.fromstring(printed(made))
    html = page(derivations["attention"])
    assert html.count("<details>") == len(moves(derivations["attention"]))
    assert "<script" not in html and "http" not in html.replace("http://www.w3.org/2000/svg", "")
    assert main(["draw", "matmul", "--steps", "-o", str(tmp_path / "x.html")]) == 0
    assert main(["explain", "matmul", "--steps"]) == 0
    assert "output stored" in capsys.readouterr().out
    assert main(["draw", "distribute", "--steps"]) == 2


def test_a_flaw_would_be_found():
    made = drawn(DIAGRAMS["attention"]())
    moved = [replace(label, y=label.y + 6) if label.role == "axis" else label for label in made.labels]
    assert any("crosses" in flaw for flaw in flaws(replace(made, labels=moved)))
    assert any("overlap" in flaw for flaw in flaws(replace(made, labels=[*made.labels, made.labels[3]])))
    assert any("cut off" in flaw for flaw in flaws(replace(made, width=made.width - 30)))
    curve = Wire((((0.0, 0.0),), ((50.0, 0.0), (50.0, 100.0), (100.0, 100.0))))
    label = Label(45.0, 45.0, 10.0, 10.0, (Run("x", "axis"),))
    assert flaws(Picture(width=200, height=200, wires=[curve], labels=[label]))
    assert not flaws(Picture(width=200, height=200, wires=[curve], labels=[replace(label, x=90.0, y=20.0)]))


def test_wires_that_are_too_close_are_found(monkeypatch):
    from napkin_eq.draw import tracks

    monkeypatch.setattr(tracks, "PITCH", 12.0)
    assert flaws(drawn(DIAGRAMS["attention"]()))


def test_pictures_are_made_in_time(within):
    for diagram, most in ((DIAGRAMS["attention"](), 0.5), (block(), 2.0)):
        within(most, lambda diagram=diagram: svg(diagram))


def test_the_same_bytes_on_every_run():
    code = (
        "import napkin_eq.draw as d, napkin_eq.frontend.gallery as g\nprint(d.svg(g.diagram('gqa_attention')), end='')"
    )
    made = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            check=True,
            env={**__import__("os").environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]
    assert made[0] == made[1] == svg(DIAGRAMS["gqa_attention"]()).encode()


def test_what_a_picture_says():
    text = svg(DIAGRAMS["attention"]())
    root = ET.fromstring(text)
    for parent in list(root.iter()):
        for title in parent.findall("{http://www.w3.org/2000/svg}title"):
            parent.remove(title)
    words = ["".join(t.itertext()) for t in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"Q", "K", "V", "out"} <= set(words)
    assert any(word.startswith("q") and "4096" in word for word in words)
    # What knows no variables and no themes shows the light colours.
    assert "var(" not in text and "fill:#ffffff" in text.partition("@media (prefers-color-scheme:dark)")[0]
    assert "fill:#14171c" in text.partition("@media (prefers-color-scheme:dark)")[2]
    assert "prefers-color-scheme" not in svg(DIAGRAMS["attention"](), "dark")


def test_a_region_is_folded_by_its_form_and_not_by_its_name():
    q, x, d = nq.axes("q x d", q=64, x=64, d=32)
    A, V = nq.array("A", q, x), nq.array("V", x, d)
    t = nq.exp(A - nq.max(A, x))
    spelled = nq.sum(t / nq.sum(t, x) * V, x)  # no library function says what this is
    kinds = [node.kind for node in circuit(nq.Diagram("spelled", (("out", spelled),))).nodes]
    assert kinds.count("shape") == 1 and "fold" not in kinds
    shared = nq.Diagram(
        "shared", (("out", spelled), ("top", nq.sum(t, x)))
    )  # the sum is wanted besides: nothing is hidden
    assert "fold" in [node.kind for node in circuit(shared).nodes]


def layers(count, change=None):
    t, d, f = nq.axes("t d f", t=64, d=128, f=256)
    X = nq.array("X", t, d)
    for n in range(count):
        inner = nq.matmul(nq.rms_norm(X, d), nq.array(f"A{n}", d, f), d)
        X = X + nq.matmul(nq.silu(inner) if n != change else nq.tanh(inner), nq.array(f"D{n}", f, d), f)
    return nq.Diagram("layers", (("out", X),))


def test_equal_stretches_in_a_row_are_drawn_once():
    one, many = circuit(layers(1)), folded(circuit(layers(12)))
    assert [b.caption[:4] for b in many.brackets if b.kind == "times"] == ["× 12"]
    assert len(many.nodes) == len(one.nodes)
    clean(drawn(layers(12)))
    assert "× 12" in svg(layers(12))
    assert folded(one) == one
    apart = folded(circuit(layers(12, change=6)))
    assert [b.caption[:3] for b in apart.brackets if b.kind == "times"] == ["× 6", "× 5"]


def test_sixty_columns_are_drawn_without_a_flaw():
    t, d = nq.axes("t d", t=64, d=128)
    X = nq.array("X", t, d)
    for n in range(28):
        X = nq.sum(X * nq.array(f"W{n}", t, d), d) + X if n % 3 else nq.cumsum(X, d) * float(n + 2)
    made = drawn(nq.Diagram("long", (("out", X),)))
    assert sum(label.text == "FLOP" for label in made.labels) >= 4 and made.width <= 1400
    clean(made)


def test_hostile_names_are_shown_and_not_run():
    evil = "<script>alert(1)</script>&\"'" * 3
    for name in (evil, "軸" * 60, "\u202eevil\x00\x1b[0m", "", "å" * 300):
        axis = object.__new__(nq.Axis)
        for field, value in (("name", name), ("size", 8), ("multiple", 1)):
            object.__setattr__(axis, field, value)
        strand = Strand(axis)
        nodes = (
            Node("input", (), (strand,), caption=name, title=name),
            Node("map", (0,), (strand,), caption=name, title=name),
            Node("fold", (1,), (Strand(None),), takes=(name,), sign=name, title=name),
            Node("output", (2,), (Strand(None),), caption=name),
        )
        made = picture(Circuit(nodes, caption=name), name, [name])
        clean(made)
        text = printed(made)
        ET.fromstring(text)
        assert "<script" not in text


@pytest.mark.parametrize(
    "text", ["", "a", "e^(a − max_x a)", "Σ_x t", "a_", "^", "e^", "_x", "e^((a", "x_{a|b} c", "軸_軸^軸"]
)
def test_formulas_keep_their_words(text):
    said = "".join(run.text for run in runs_of(text))
    assert set(said) <= set(text)
    assert [c for c in text if c in "aeΣ軸"][:1] == [c for c in said if c in "aeΣ軸"][:1]


def test_texts_are_cut_to_their_room():
    assert shortened("abc", "axis", 100) == "abc"
    cut = shortened("abc" * 50, "axis", 100)
    assert cut.endswith("…") and width_of(cut, "axis") <= 100


def test_too_large_a_diagram_is_refused_in_a_line():
    nodes = [Node("input", (), (Strand(None),), caption="A")]
    nodes += [Node("map", (place,), (Strand(None),)) for place in range(700)]
    with pytest.raises(NapkinError, match="too many to draw"):
        picture(Circuit(tuple(nodes)))


def test_the_verb(tmp_path, capsys):
    out = tmp_path / "x.svg"
    assert main(["draw", "matmul", "-o", str(out), "--dark"]) == 0
    ET.parse(out)
    assert main(["draw", "matmul"]) == 0
    assert "<svg" in capsys.readouterr().out
    assert main(["draw", "matmul", "-o", str(tmp_path / "x.gif")]) == 2
    assert main(["draw", "matmul", "-o", str(tmp_path / "no" / "x.svg")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_without_the_library_png_is_refused_in_a_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    assert main(["draw", "matmul", "-o", str(tmp_path / "x.png")]) == 2
    assert "CairoSVG" in capsys.readouterr().err
    assert not (tmp_path / "x.png").exists()


def test_png_and_pdf(tmp_path):
    pytest.importorskip("cairosvg", exc_type=(ImportError, OSError))
    for form, head in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
        assert main(["draw", "matmul", "-o", str(tmp_path / f"x.{form}")]) == 0
        assert (tmp_path / f"x.{form}").read_bytes().startswith(head)


def test_notebooks_show_diagrams_and_plans(derivations):
    assert DIAGRAMS["matmul"]()._repr_svg_().startswith("<svg")
    text = derivations["attention"]._repr_svg_()
    assert "shared memory" in text and "↻ x by s_x" in text


def heads(number, apart=False):
    """Return equal operators side by side, their values added or each an output."""
    t, d, e = nq.axes("t d e", t=512, d=1024, e=64)
    X = nq.array("X", t, d)
    found = []
    for place in range(number):
        scores = nq.sum(X * nq.array(f"W{place}", d, e), d)
        found.append(nq.sum(nq.softmax(scores, e) * nq.array(f"V{place}", e, d), e))
    if apart:
        return nq.Diagram("heads", tuple((f"o{place}", head) for place, head in enumerate(found)))
    return nq.Diagram("heads", (("out", sum(found, X)),))


@pytest.mark.parametrize("apart", [False, True])
def test_equal_regions_side_by_side_are_drawn_once(apart):
    made = drawn(heads(12, apart))
    clean(made)
    texts = [label.text for label in made.labels]
    assert sum(text.startswith("× 12, side by side") for text in texts) == 1
    assert [text for text in texts if text.startswith("W")] == ["W0"]
    assert apart or "sum of all 12 and 1 more" in texts
    t, d, e = nq.axes("t d e", t=512, d=1024, e=64)
    X, U, W, V = nq.array("X", t, d), nq.array("U", d, e), nq.array("W", d, e), nq.array("V", e, d)
    unlike = nq.sum(nq.softmax(nq.sum(X * U, d), e) * V, e) + nq.sum(nq.sum(X * W, d) * nq.array("Y", e, d), e)
    other = drawn(nq.Diagram("unlike", (("out", unlike + X),)))
    assert not any("×" in label.text for label in other.labels)


def test_wide_pictures_are_wrapped_and_name_what_goes_on():
    made = drawn(block())
    clean(made)
    assert made.width <= 1400 and made.height < 1400
    assert {label.text for label in made.labels if label.title.endswith(", continued")} == {"t", "d"}
    assert sum(label.text == "FLOP" for label in made.labels) == 2


def test_an_operation_of_many_arguments_is_drawn():
    (x,) = nq.axes("x", x=3)
    term = A = nq.array("A", x)
    for place in range(1, 60):
        term = nq.take(term + A, x, (nq.index(x) + place) % 3)
    clean(drawn(nq.Diagram("taken", (("out", term),))))


def test_what_is_too_large_to_draw_says_so_on_a_page():
    A = term = nq.array("A", *nq.axes("x", x=5))
    for place in range(160):
        term = nq.cumsum(term * float(place + 2), "x") * nq.array(f"W{place}", *nq.axes("x", x=5))
    said = shown(nq.Diagram("long", (("out", term),)))
    assert said.startswith("<p>Not drawn: ") and ("too many to draw" in said or "too deeply" in said)
    assert shown(nq.Diagram("short", (("out", A),))).startswith("<svg")


@pytest.mark.parametrize("columns", [2, 17, 60])
def test_a_chain_of_any_length_stays_legible(columns):
    t, *ds = nq.axes("t " + " ".join(f"d{n}" for n in range(columns + 1)), t=64)
    x = nq.array("X", t, ds[0])
    for place in range(columns):
        x = nq.relu(nq.sum(x * nq.array(f"W{place}", ds[place], ds[place + 1]), ds[place]))
    made = drawn(nq.Diagram("chain", (("out", x),)))
    clean(made)
    assert made.width <= 1400
    names = [label.text for label in made.labels if label.text.startswith("W")]
    assert names == [f"W{place}" for place in range(columns)]
