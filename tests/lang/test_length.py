"""The full length of an axis against the size of a prefix: what streams, what does not, and a mask that lines up two
ends.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.certify.certificate import checked, sealed
from napkin_eq.frontend.gallery import diagram
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.interval import interval
from napkin_eq.lang.term import Acc, Const, Index, Length, Map, Online, Prev, Reduce, Size, Term, as_real, subterms
from napkin_eq.laws.inference import holds, walked
from napkin_eq.laws.law import REGISTRY, Sum, finite, local, pos
from napkin_eq.laws.loader import load_rules
from napkin_eq.laws.obligation import terms_of
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.prove import prove as proving
from napkin_eq.tile.ir import Loop, Part, statements
from napkin_eq.tile.printers import emit
from napkin_eq.tile.stream_facts import reduces_over
from tests.statements import stated

load_rules()
t, x = Axis("t", 5), Axis("x", 7)
A = nq.array("A", t, x)
DATA = {"A": np.random.default_rng(0).normal(size=(5, 7))}
TRUE = Const(True)
Count = Callable[[Axis], Term]
COUNTS: dict[str, Count] = {"length": Length, "size": Size}


def lined_up(count: Count, q: Axis, x: Axis) -> Term:
    """The mask of keys up to a query's place when the ends of both axes line up, by one way of counting."""
    return Index(x) <= Index(q) + (count(x) - count(q))


@cache
def derived(count: str, q: int | None = None, x: int | None = None, d: int = 16) -> Derivation:
    queries, keys = Axis("q", q), Axis("x", x)
    width = Axis("d", d)
    Q, K, V = nq.array("Q", queries, width), nq.array("K", keys, width), nq.array("V", keys, width)
    scores = nq.masked(nq.sum(Q * K, width) * d**-0.5, lined_up(COUNTS[count], queries, keys))
    return nq.derive(nq.sum(nq.softmax(scores, keys) * V, keys))


def drawn(q: int, x: int, d: int = 16) -> dict[str, Any]:
    generator = np.random.default_rng([q, x])
    return {name: generator.normal(size=(rows, d)) for name, rows in (("Q", q), ("K", x), ("V", x))}


def expected(data: dict[str, Any]) -> Any:
    """The attention of the last queries, by hand."""
    Q, K, V = (data[name] for name in "QKV")
    n, m = len(Q), len(K)
    out = np.zeros_like(Q)
    for i in range(n):
        seen = max(0, i + m - n + 1)
        if seen:
            scores = K[:seen] @ Q[i] * Q.shape[1] ** -0.5
            weights = np.exp(scores - scores.max())
            out[i] = weights @ V[:seen] / weights.sum()
    return out


# What it means.


def test_a_length_is_full_in_every_prefix_where_a_size_counts():
    length, nothing = as_real(Length(x)), Const(0.0) * A
    assert evaluate(Length(x), {}, {"x": 7}) == evaluate(Size(x), {}, {"x": 7}) == 7
    for update, total in ((length, 21), (Prev(length), 21), (nq.size(x), 3 + 6 + 7), (Prev(nq.size(x)), 0 + 3 + 6)):
        assert evaluate(Online(x, nothing, TRUE, Acc() + update), DATA, block=3).tolist() == [total] * 5


def test_a_stream_that_speaks_of_the_length_is_the_reduction_and_one_that_speaks_of_the_size_is_not():
    for count, same in ((Length, True), (Size, False)):
        body = Map("where", (Index(x) + 5 >= count(x), A, Const(0.0)))
        stream, whole = (
            evaluate(term, DATA, block=3) for term in (Online(x, body, TRUE, Acc()), Reduce("sum", x, body))
        )
        assert np.allclose(stream, whole) == same


def test_what_is_known_of_a_length():
    y = Axis("y")
    assert str(Length(x) - 1) == "length(x) - 1" and not Length(x).axes and Length(x).kind == "int"
    assert Length(x) is not Size(x) and nq.length(x) is Length(x)
    assert interval(Length(x)) == (1, 7) and interval(Length(y)) == (1, np.inf)
    assert not walked(Length(x)) and not reduces_over(Length(x), "x") and walked(Size(x)) and reduces_over(Size(x), "x")
    rules = REGISTRY.inferences()
    for judgment in (
        pos(as_real(Length(x))),
        finite(as_real(Length(x))),
        local(x, as_real(Length(x))),
        local(x, lined_up(Length, t, x)),
    ):
        assert holds(judgment, rules)
    assert not holds(local(x, as_real(Size(x))), rules) and not holds(local(x, lined_up(Size, t, x)), rules)
    assert nq.from_json(nq.to_json(lined_up(Length, t, x))) is lined_up(Length, t, x)


def test_the_coordinates_of_a_symbolic_axis_do_not_depend_on_a_stream():
    h, d, e = nq.axes("h d e")
    E = nq.array("E", e)
    for term in (nq.split(E, e, h, d), nq.merge(nq.split(E, e, h, d), (h, d), e)):
        assert Length(d) in subterms(term) and Size(d) not in subterms(term)


# No law relates it to the size.


def test_no_law_speaks_of_a_length_and_none_that_does_is_proved():
    assert not [
        s.name for s in REGISTRY.statements.values() if any(isinstance(part, Length) for part in subterms(*terms_of(s)))
    ]

    def counted(x, a):
        return Sum(x, a * as_real(Length(x))), Sum(x, a * as_real(Size(x)))

    def filled(x):
        return Sum(x, Const(1.0)), as_real(Length(x))

    for statement in (*stated(counted), *stated(filled)):
        (verdict,) = proving.prove([statement], use_cache=False)
        assert verdict.status == "unknown", verdict


# Attention whose queries are the last ones.


@pytest.mark.parametrize("sizes", [(None, None), (9000, 10500), (9000, 9000), (9100, 8900)], ids=str)
def test_it_is_streamed_in_one_pass_that_skips_what_the_mask_hides(sizes):
    derivation = derived("length", *sizes)
    assert derivation.report()["passes"] == {"d": 1, "x": 1}
    (kernel,) = derivation.plan.kernels
    loops = [
        stmt for stmt in statements(kernel.body) if isinstance(stmt, Loop) and kernel.coord(stmt.coord).axis.name == "x"
    ]
    (parts,) = [[part for part in loop.parts if isinstance(part, Part)] for loop in loops]
    assert [part.note for part in parts] == ["no mask", "masked"]
    # Both ends are computed from where the block of queries stands, neither is the end of the axis.
    assert parts[0].lo == 0 and parts[0].hi == parts[1].lo and all(isinstance(part.hi, str) for part in parts)
    certificate = derivation.certificate
    assert checked(certificate)["status"] == "ok" and ["Length", "x"] in certificate["theorem"]["nodes"]


@pytest.mark.parametrize("q, x", [(37, 300), (150, 150), (300, 90), (257, 256), (1, 1), (3, 1)])
def test_lengths_bound_at_run_time(q, x):
    data = drawn(q, x)
    (found,) = emit(derived("length").plan, "numpy")(data).values()
    assert found == pytest.approx(expected(data), abs=1e-12)
    assert not found[: max(0, q - x)].any() and found[max(0, q - x) :].all()
    assert evaluate(derived("length").source, data) == pytest.approx(expected(data), abs=1e-12)


@pytest.mark.parametrize("q, x", [(70, 1500), (90, 90), (3100, 2900)])
def test_lengths_known_beforehand(q, x):
    data = drawn(q, x)
    (found,) = emit(derived("length", q, x).plan, "numpy")(data).values()
    assert found == pytest.approx(expected(data), abs=1e-12)


def test_the_gallery_has_it():
    derivation = nq.derive(diagram("causal_cross_attention", q=None, x=None, d=16, h=2))
    assert derivation.report()["passes"] == {"d": 1, "x": 1}
    heads = [drawn(45, 200), drawn(40, 200)]
    data = {name: np.stack([head[name][:40] if name == "Q" else head[name] for head in heads])[None] for name in "QKV"}
    (found,) = emit(derivation.plan, "numpy")(data).values()
    for head in range(2):
        assert found[0, head] == pytest.approx(expected({name: data[name][0, head] for name in "QKV"}), abs=1e-12)


def test_a_scale_by_the_length_streams_too():
    q, x = nq.axes("q x")
    scores, V = nq.array("S", q, x), nq.array("V", x)
    for count, passes in ((nq.length, 1), (nq.size, 2)):
        derivation = nq.derive(nq.sum(nq.softmax(scores * count(x) ** -0.5, x) * V, x))
        assert derivation.report()["passes"]["x"] == passes, count
        generator = np.random.default_rng(0)
        data = {"S": generator.normal(size=(3, 9001)), "V": generator.normal(size=9001)}  # more than one block of keys
        (found,) = emit(derivation.plan, "numpy")(data).values()
        weights = np.exp(data["S"] * 9001**-0.5)
        assert found == pytest.approx(weights @ data["V"] / weights.sum(1), abs=1e-12)


def test_a_mask_by_the_size_is_not_streamed_in_one_pass():
    derivation = derived("size")
    assert derivation.report()["passes"]["x"] == 2
    data = drawn(150, 260)
    (found,) = emit(derivation.plan, "numpy")(data).values()
    assert found == pytest.approx(expected(data), abs=1e-12)


def test_a_proof_about_the_length_is_no_proof_about_the_size():
    certificate = copy.deepcopy(derived("length").certificate)
    for node in [*certificate["theorem"]["nodes"], *certificate["nodes"]]:
        if node[0] == "Length":
            node[0] = "Size"
    result = checked(sealed(certificate))
    assert result["status"] == "refused" and "does not hold by itself" in result["problem"], result
