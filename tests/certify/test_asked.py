"""What a theorem is about: bound axes by any name and reads anywhere are the same, and nothing else is."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.certify import asked
from napkin_eq.certify.asked import require_asked, same
from napkin_eq.certify.certificate import dumps
from napkin_eq.certify.recheck import about
from napkin_eq.cli.main import main
from napkin_eq.frontend.gallery import DIAGRAMS
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError, Undecided
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.substitute import settled
from napkin_eq.lang.term import Acc, Const, Index, Input, Length, Map, Read, Reduce, Scan, Size, Term, rebuilt, subterms
from napkin_eq.laws.law import Max, Sum, exp, where
from napkin_eq.pipeline import derive as deriving
from napkin_eq.verify.fuzz.random_diagrams import random_diagram

q, x, y, z = (Axis(name, 4) for name in "qxyz")
long, free, other = Axis("long", 5), Axis("free"), Axis("other")
A, B, S = Input("A", (q, x)), Input("B", (q, y)), Input("S", (free,))
PLACE = Input("place", (z,), "int32")
BEST, FAR = Reduce("argmax", x, A), Reduce("argmax", long, Input("L", (q, long)))


def weighted(a: Term, axis: Axis) -> Term:
    return Sum(axis, exp(a - Max(axis, a)) * a)


def named(a: Term, old: Axis, new: Axis) -> Term:
    return Read(a, old, Index(new))


wide, short = Axis("wide", 16), Axis("short", 12)
VECTOR = Input("V", (wide,))
AT = Read(VECTOR, wide, Index(z) * 4 + Index(y))


def parts(quotient: Term, rest: Term) -> Term:
    return Read(Read(Input("P", (Axis("a", 4), Axis("b", 4))), Axis("a", 4), quotient), Axis("b", 4), rest)


CLAMPED = Map("min", (Map("max", (PLACE, Const(0))), Const(3)))
DIAGONAL, MATRIX = Input("D", (q,)), Input("M", (x, z))
REAL = Input("R", (q,), "float", ("nonneg", "abs<=3"))


def eq(a: Term, b: Term) -> Term:
    return Map("eq", (a, b))


def real(a: Term) -> Term:
    return Map("real", (a,))


def chosen(place: Term, value: Term, axis: Axis = x) -> Term:
    return where(eq(place, Index(axis)), value, 0.0)


C, E, HALF = Input("C", (q, x)), Input("E", (q, x)), Index(x) < 2
SIGNS, SIGNS_BACK = where(HALF, Const(1.0), Const(-1.0)), where(HALF, Const(-1.0), Const(1.0))
SAME: list[tuple[Term, Term]] = [
    (weighted(A, x), weighted(named(A, x, z), z)),
    (Sum(x, A * Max(x, A)), Sum(z, named(A, x, z) * Max(x, A))),
    (Sum(x, Sum(q, A * named(A, q, x))), Sum(z, Sum(q, named(A, x, z) * named(named(A, x, z), q, z)))),
    (Read(exp(A), x, PLACE), exp(Read(A, x, PLACE))),
    (Read(Map("real", (Index(x),)) * A, x, PLACE),
        Map("real", (Map("min", (Map("max", (PLACE, Const(0))), Length(x) - 1)),)) * Read(A, x, PLACE)),
    (Read(Sum(x, A), q, Index(x)), Sum(z, Read(named(A, x, z), q, Index(x)))),
    (Read(Read(A, q, Index(z)), z, PLACE), Read(A, q, Map("min", (Map("max", (PLACE, Const(0))), Length(z) - 1)))),
    (Read(Scan("sum", x, A), x, Index(y)), Scan("sum", y, named(A, x, y))),
    # A place of the axis, as it stands
    (Read(Map("real", (Index(x),)) * A, x, BEST), Map("real", (BEST,)) * Read(A, x, BEST)),
    # A fold over an axis at whose quotients and remainders something is read is one over both
    (Sum(wide, parts(Index(wide) // 4, Index(wide) % 4) * VECTOR), Sum(z, Sum(y, parts(Index(z), Index(y)) * AT))),
    (Max(wide, parts(Index(wide) // 4, Index(wide) % 4)), Max(z, Max(y, parts(Index(z), Index(y))))),
    (Read(AT, z, Index(wide) // 4), Read(VECTOR, wide, Index(wide) // 4 * 4 + Index(y))),
    # A fold that one lane alone can change is what is in that lane
    (Sum(x, chosen(Index(q), A)), named(A, x, q)),
    (Sum(x, chosen(Index(q), DIAGONAL) * MATRIX), DIAGONAL * named(MATRIX, x, q)),
    (Sum(x, -chosen(Index(q), exp(A)) * 2.0), -named(exp(A), x, q) * 2.0),
    (Sum(x, real(where(eq(Index(q), Index(x)), Const(1), Const(0))) * A), real(Const(1)) * named(A, x, q)),
    (Max(x, A, eq(Index(x), Index(q))), named(A, x, q)),
    (Sum(x, A, eq(Index(q), Index(x)) & (Index(x) < 3)), where(Index(q) < 3, named(A, x, q), 0.0)),
    (Sum(x, chosen(PLACE, A)), where(eq(PLACE, CLAMPED), Read(A, x, CLAMPED), 0.0)),
    (Sum(long, chosen(Index(q), Input("L", (q, long)), long)), Read(Input("L", (q, long)), long, Index(q))),
    # A choice of two values that are made alike is made of choices, a place moved forth and back is that place
    (where(HALF, exp(A), exp(C)), exp(where(HALF, A, C))),
    (where(HALF, A * exp(A) + C, E + A * exp(A)), A * exp(A) + where(HALF, C, E)),
    (where(HALF, A * C, -(E * C)), SIGNS * (where(HALF, A, E) * C)), (where(HALF, -A, -C), -where(HALF, A, C)),
    (where(HALF, A * -C, A * E), SIGNS_BACK * (A * where(HALF, C, E))), (where(HALF, A, A), A),
    (Sum(x, where(HALF, A * C, -(C * C))), Sum(z, named(SIGNS * (where(HALF, A, C) * C), x, z))),
    (Read(A, x, Index(long) + 2 + Const(-2)), Read(A, x, Index(long))),
    (Read(A, x, Index(z) + 2 + Const(-2)), named(A, x, z)),
    # A mask that is known, what the absent value absorbs, a fold over no lane
    (where(Index(x) < Index(x), C, A), A), (where(Index(x) <= Index(x), A, C), A),
    (where(Index(x) < 5, A, C), A), (where(Index(x) <= 4, A, C), A), (where(Const(5) <= Index(x), C, A), A),
    (where(eq(Index(x), Const(7)), C, A), A), (where(Map("not", (Index(x) < 5,)), C, A), A),
    (where((Index(x) < 2) & (Index(x) < Index(x)), C, A), A), (where((Index(x) < 2) | (Index(x) < 5), A, C), A),
    (where((Index(x) < 2) | (Index(x) < Index(x)), C, A), where(Index(x) < 2, C, A)),
    (A + (Const(-math.inf) * exp(C)), A + Const(-math.inf)), (Const(-math.inf) + C, A * Const(-math.inf)),
    (Sum(x, A, Index(x) < Index(x)) + Sum(x, A), Const(0.0) + Sum(x, A)),
    (Max(x, A, Index(x) < Index(x)) + C, C + Const(-math.inf)),
    (Reduce("prod", x, A, Index(x) < Index(x)) * Sum(x, A), Const(1.0) * Sum(x, A)),
    (real(Reduce("argmax", x, A, Index(x) < Index(x))) * Sum(x, A), real(Const(0)) * Sum(x, A)),
    (where(A < A, C, A), A),
]  # fmt: skip
OTHER: list[tuple[Term, Term]] = [
    (Sum(wide, parts(Index(wide) // 4, Index(wide) % 4) * VECTOR), Sum(z, Sum(y, parts(Index(y), Index(z)) * AT))),
    (Sum(wide, parts(Index(wide) // 4, Index(wide) % 4) * VECTOR), Sum(y, Sum(z, parts(Index(z), Index(y)) * AT))),
    (Sum(wide, parts(Index(wide) // 4, Index(wide) % 2)), Sum(z, Sum(y, parts(Index(z), Index(y))))),
    (Sum(wide, parts((Index(wide) + 1) // 4, Index(wide) % 4)), Sum(z, Sum(y, parts(Index(z), Index(y))))),
    (Sum(short, parts(Index(short) // 4, Index(short) % 4)), Sum(z, Sum(y, parts(Index(z), Index(y))))),
    (Sum(wide, Sum(wide, parts(Index(wide) // 4, Index(wide) % 4))), Sum(z, Sum(y, parts(Index(z), Index(y))))),
    (weighted(A, x), weighted(named(A, q, z), z)),
    (Sum(x, A * Max(x, A)), Sum(x, A * Max(z, named(A, q, z)))),
    (Sum(x, A), Sum(q, A)), (Sum(x, A), Max(x, A)), (Sum(x, A), Sum(x, A * 1.0)), (A, Read(A, q, Index(z))),
    (A, Input("A", (x, q))),
    (Sum(x, Sum(q, A * named(A, q, x))), Sum(x, Sum(q, A * named(A, x, q)))),  # captured
    (Sum(x, Const(1.0)), Sum(long, Const(1.0))), (Sum(free, Const(1.0)), Sum(other, Const(1.0))),
    (Sum(x, A), Sum(x, A) + 0.0),
    (Sum(free, S), Sum(other, named(S, free, other))),  # of another size
    # Not clamped
    (Read(Map("real", (Index(free),)) * S, free, Index(other)), Map("real", (Index(other),)) * named(S, free, other)),
    (Read(Map("real", (Index(x),)) * A, x, PLACE), Map("real", (PLACE,)) * Read(A, x, PLACE)),
    (Read(Map("real", (Index(x),)) * A, x, FAR), Map("real", (FAR,)) * Read(A, x, FAR)),
    (A, Input("A", (q, x), "float16")), (A, Input("A", (q, x), "float", ("pos",))), (Index(x), Index(y)),
    (Length(free), Length(other)),
    (Size(x), Size(long)), (Const(1), Const(1.0)), (Sum(x, A), Reduce("sum", x, A, Index(x) < 3)),
    (Scan("sum", x, A), Scan("sum", q, A)),
    (Max(x, A), Max(x, A) + Acc()), (A, Input("A", (q, replace(x, multiple=4)))),
    (Map("max", (Index(x), Const(0))), Map("max", (Index(y), Const(0)))),
    # Not of one lane, not zero in the others, not on the axis, or not that lane
    (Sum(x, chosen(PLACE, A)), Read(A, x, PLACE)), (Sum(x, chosen(PLACE, A)), Read(A, x, CLAMPED)),
    (Sum(x, chosen(Index(long), Input("N", (long, x)))), Read(Input("N", (long, x)), x, Index(long))),
    (Sum(x, where(eq(Index(q), Index(x)), A, 1.0)), named(A, x, q)),
    (Sum(x, where(eq(Index(q), Index(x)) | (Index(x) < 1), A, 0.0)), named(A, x, q)),
    (Sum(x, where(~eq(Index(q), Index(x)), A, 0.0)), named(A, x, q)),
    (Sum(x, chosen(Index(q), A) + A), named(A, x, q)), (Sum(x, A, Index(q) <= Index(x)), named(A, x, q)),
    (Sum(x, chosen(Index(q), A) * Map("log", (A,))), named(A, x, q) * Map("log", (named(A, x, q),))),
    (Sum(x, chosen(Index(q), A) * Const(-math.inf)), named(A, x, q) * Const(-math.inf)),
    (Max(x, chosen(Index(q), A)), named(A, x, q)), (Max(x, A, eq(PLACE, Index(x))), Read(A, x, CLAMPED)),
    (Sum(x, A, eq(Index(x), Index(x) * 2)), Read(A, x, Const(0))),
    (Sum(x, A, eq(Index(x), REAL)), Read(A, x, Const(0))), (Sum(x, A, eq(Index(x), Const(1.5))), Read(A, x, Const(1))),
    (Sum(x, A, eq(Index(x), BEST)), Read(A, x, BEST)),
    (Reduce("argmax", x, A, eq(Index(x), Index(q))), Index(q)),
    (Scan("sum", x, chosen(Index(q), A)), named(A, x, q)),
    # The other side of a choice, another mask, another operator, another sign, a place that is clamped on the way
    (where(HALF, exp(A), exp(C)), exp(where(HALF, C, A))), (where(HALF, exp(A), exp(C)), exp(where(~HALF, A, C))),
    (where(HALF, exp(A), C), exp(where(HALF, A, C))), (where(HALF, A * C, E + A), A * where(HALF, C, E)),
    (where(HALF, A * C, -(E * C)), SIGNS_BACK * (where(HALF, A, E) * C)), (where(HALF, -A, C), where(HALF, A, C)),
    (where(HALF, A * C, -(E * C)), where(HALF, A, E) * C), (where(HALF, A + C, C + E), where(HALF, A, C) + E),
    (where(HALF, A, -A), A), (where(HALF, A * C, E * E), where(HALF, A, E) * C),
    (Read(A, x, Index(z) + 2 + Const(-1)), named(A, x, z)),
    (Read(Read(A, x, Index(z) + 2), z, Index(y) + Const(-2)), named(A, x, y)),
    # What may not be a number is not equal to itself; a mask that is not known, another absent value, another neutral
    (where(eq(A, A), A, C), A), (where(A <= A, A, C), A), (where(Index(x) < 3, A, C), A),
    (where(Index(x) < Index(q), A, C), A), (where(Const(1) <= Index(x), A, C), A),
    (where((Index(x) < 2) & (Index(x) < 5), A, C), A), (A + Const(1e9), Const(-math.inf) + A),
    (Map("max", (A, Const(-math.inf))), A + Const(-math.inf)),
    (Sum(x, A, Index(x) < Index(x)) + Sum(x, A), Const(1.0) + Sum(x, A)),
    (where(Index(free) < 5, S, exp(S)), S),
]  # fmt: skip


@pytest.mark.parametrize(("one", "another"), SAME, ids=str)
def test_names_of_bound_axes_and_places_of_reads_are_no_matter(one: Term, another: Term) -> None:
    assert same([one], [another]) and same([another], [one]) and same([settled(one)], [one])


@pytest.mark.parametrize(("one", "another"), OTHER, ids=str)
def test_another_diagram_is_another(one: Term, another: Term) -> None:
    assert not same([one], [another]) and not same([another], [one])
    with pytest.raises(Undecided, match="is not shown to be about this diagram"):
        require_asked("diagram d", [one], [another])


def test_a_theorem_has_as_many_items_as_outputs() -> None:
    assert not same([A], [A, A]) and not same([A, B], [B, A]) and same([A, B], [A, B])


def test_what_is_settled_says_the_same_and_has_the_same_values() -> None:
    """Random diagrams: what is the same has one value, and what is settled is the same."""
    rng, moved, told_apart = np.random.default_rng(0), 0, 0
    for seed in range(600):
        diagram = random_diagram(random.Random(seed).randrange)
        for _, term in diagram.outputs:
            try:
                carried = settled(term)
            except NapkinError:
                continue
            assert same([term], [carried]), seed
            moved += carried is not term
            for wrong in (_wrong(carried, random.Random(seed)), _wrong(term, random.Random(seed + 1))):
                if wrong is None or not same([term], [wrong]):
                    told_apart += 1
                    continue
                arrays = {i.name: _drawn(i, rng) for i in {*_inputs(term), *_inputs(wrong)}}
                order = [a.name for a in term.axes]  # what is read at another axis may come in another order by itself
                assert evaluate(wrong, arrays, order=order) == pytest.approx(
                    evaluate(term, arrays, order=order), nan_ok=True
                ), seed
    assert moved > 20 and told_apart > 300


def _inputs(term: Term) -> list[Input]:
    return [t for t in subterms(term) if isinstance(t, Input)]


def _drawn(array: Input, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    shape = tuple(axis.size or 3 for axis in array.dims)
    if array.kind == "real":
        return rng.uniform(0.1, 1.0, shape)
    return rng.integers(0, 2 if array.kind == "bool" else 7, shape).astype(bool if array.kind == "bool" else np.int64)


def _wrong(term: Term, rng: random.Random) -> Term | None:
    """Return a term with one axis read where another of its size was, or one fold over another."""
    nodes = [t for t in subterms(term) if isinstance(t, (Index, Reduce))]
    axes = sorted({a for t in subterms(term) for a in t.axes}, key=str)
    if not nodes or not axes:
        return None
    chosen, axis = rng.choice(nodes), rng.choice(axes)
    done: dict[Term, Term] = {}
    try:
        for node in subterms(term):
            done[node] = rebuilt(node, tuple(done[c] for c in node.children))
            if node is chosen:
                done[node] = Index(axis) if isinstance(node, Index) else Reduce(node.monoid, axis, *done[node].children)
    except NapkinError:
        return None
    return done[term]


def _capturing(root: Term) -> Term:
    """Read a coordinate of an axis for another's."""
    return Sum(x, Sum(q, A * named(A, x, q))) if root is not A else root


@pytest.mark.parametrize("wrong", [_capturing, lambda root: root + 0.0])
def test_what_is_settled_wrongly_is_not_derived(monkeypatch: pytest.MonkeyPatch, wrong: Callable[[Term], Term]) -> None:
    diagram = nq.Diagram("d", (("out", Sum(x, Sum(q, A * named(A, q, x)))),))
    monkeypatch.setattr(deriving, "settled", wrong)
    (found,) = nq.derive(diagram).outputs  # what is asked for, operator by operator
    assert found.source is diagram.outputs[0][1]
    assert any("is not shown to be about this diagram" in note for note in found.graph.notes)


def test_a_certificate_of_another_diagram_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    found = nq.derive(nq.Diagram("d", (("out", Sum(x, A)),)))
    other_one = replace(found, diagram=nq.Diagram("d", (("out", Sum(q, A)),)), _certificate={})
    with pytest.raises(Undecided, match="is not shown to be about this diagram"):
        _ = other_one.certificate
    monkeypatch.setattr(asked, "same", lambda *_: True)
    assert replace(other_one, _certificate={}).certificate["status"] == "proved"


def test_a_certificate_is_held_against_a_diagram(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its outputs may be several, in any order; a file is read like any diagram."""
    two = nq.Diagram("two", (("first", Sum(x, A)), ("second", Max(x, A * 2.0))))
    data = nq.derive(two).certificate
    swapped = nq.Diagram("two", (two.outputs[1], two.outputs[0]))
    crossed = nq.Diagram("two", (("first", two.outputs[1][1]), ("second", two.outputs[0][1])))
    assert about(data, two) == about(data, swapped) == ""
    assert "is not about the outputs first, second of diagram two" in about(data, crossed)
    file = tmp_path / "certificate.json"
    file.write_text(dumps(nq.derive(DIAGRAMS["softmax"]()).certificate))
    assert main(["check", str(file), "--of", "softmax"]) == 0
    assert main(["check", str(file), "--of", "rms_norm"]) == 1
    assert "is not about the outputs" in capsys.readouterr().out
    assert main(["check", str(file), "--of", "nothing"]) == 2


def test_a_deep_diagram_is_what_it_is_with_copies_in_the_place_of_what_it_reads() -> None:
    t, s, e = nq.axes("t s e", t=16, s=16, e=8)
    X = nq.array("X", t, e)
    for layer in range(4):
        for _ in range(12):
            X = nq.tanh(X)
        X = X + nq.sum(nq.rename(X, {t: s}) * nq.array(f"W{layer}", t, s), s)
    assert X.depth > 40 and settled(X) is not X
    assert same([X], [settled(X)])
    assert not same([X], [settled(X) + nq.rename(nq.array("X", s, e), {s: t})])
