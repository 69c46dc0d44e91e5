"""Masks that compare what is read: folds bounded by the first and the last lane that they hold in; the chain, the
numbers whatever the data, what is left alone.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.certify import check as checker
from napkin_eq.certify.asked import same
from napkin_eq.certify.certificate import dumps, require_accepted
from napkin_eq.egraph.budget import Budget
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.evaluate import output_order
from napkin_eq.lang.term import Index, Read, Reduce, Tuple
from napkin_eq.pipeline import derive as pipeline
from napkin_eq.pipeline.asked import proved_laws
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.search import data_masks
from napkin_eq.tile import ir as p
from napkin_eq.tile.lower.loop_bounds import bounding
from napkin_eq.tile.printers import emit

LENGTHS = {"h": 2, "q": 45, "k": 37, "d": 16, "e": 16}


def parts(lengths: dict[str, int]) -> tuple[Any, ...]:
    h, q, k, d, e = (Axis(name, length) for name, length in lengths.items())
    asks, keys = nq.array("asks", q, dtype="int32"), nq.array("keys", k, dtype="int32")
    scores = nq.sum(nq.array("Q", h, q, d) * nq.array("K", h, k, d), d)
    return q, k, asks, keys, scores, nq.array("V", h, k, e)


def attention(seen: Any, lengths: dict[str, int] = LENGTHS) -> Any:
    _, k, _, _, scores, values = parts(lengths)
    return nq.sum(nq.softmax(nq.where(seen, scores, float("-inf")), k) * values, k)


def forms() -> dict[str, tuple[Any, tuple[str, ...]]]:
    """Return what compares what is read, in several ways, and the laws that it is bounded by."""
    q, k, asks, keys, scores, values = parts(LENGTHS)
    own = nq.equal(asks, keys)
    both = "from-first", "to-last"
    turned = nq.where(~own, 0.0, scores * scores)
    long = Axis("long", 50)
    packed = nq.array("packed", long, dtype="int32")
    renamed = nq.equal(Read(packed, long, Index(q)), Read(packed, long, Index(k)))
    return {
        "any earlier or later": (attention(own), both),
        "the other way round": (attention(nq.equal(keys, asks)), both),
        "earlier": (attention((nq.index(k) <= nq.index(q)) & own), both[:1]),
        "later": (attention(own & (nq.index(q) < nq.index(k))), both[1:]),
        "turned round": (nq.sum(turned, k), both),
        "one array": (attention(renamed), both),
        "along both axes": (nq.sum(nq.max(turned, q) * nq.sum(turned, k), q), both),
    }


def arrays_of(*terms: Any) -> dict[str, Any]:
    random = np.random.default_rng(0)
    found = {}
    for given in Diagram("d", tuple((f"out{i}", term) for i, term in enumerate(terms))).inputs():
        sizes = [axis.size for axis in given.dims]
        found[given.name] = random.integers(0, 4, sizes) if given.kind == "int" else random.standard_normal(sizes)
    return found


@pytest.fixture(scope="module")
def laws() -> Any:
    return proved_laws((), (), False)


@pytest.mark.parametrize("name", sorted(forms()))
def test_folds_are_bounded_and_say_the_same(name: str, laws: Any) -> None:
    source, expected = forms()[name]
    assert {law for laws in data_masks.ends([source]).values() for law in laws} == {*expected}
    made = data_masks.bounded([source], laws, Budget(30.0))
    assert made is not None and same([source], made[0])
    (asked,), bounds = made
    (target,) = bounds.outputs
    assert {step.law for step in bounds.steps} - {""} == {*expected}
    require_accepted(asked, target, bounds.steps, laws.statements, laws.verdicts)
    arrays, order = arrays_of(source), [axis.name for axis in output_order(source)]
    if name in ("any earlier or later", "the other way round", "one array"):
        arrays = {key: np.full_like(a, 2) if a.dtype.kind == "i" else a for key, a in arrays.items()}
    np.testing.assert_allclose(
        nq.evaluate(target, arrays, order=order), nq.evaluate(source, arrays, order=order), rtol=1e-9
    )


def left_alone() -> dict[str, Any]:
    q, k, asks, keys, scores, _ = parts(LENGTHS)
    inside = (nq.index(k) <= nq.index(q)) & (nq.index(q) < nq.index(k) + 8)
    return {
        "bounded already": attention(nq.equal(asks, keys) & inside),
        "by a place": attention(nq.equal(asks, nq.index(k))),
        "of a finite number": nq.sum(nq.where(nq.equal(asks, keys), scores, 2.0), k),
        "not a fold": nq.where(nq.equal(asks, keys), scores, 0.0),
        "what is not equal": attention(~nq.equal(asks, keys)),
        "or another mask": attention(nq.equal(asks, keys) | (nq.index(k) <= nq.index(q))),
    }


@pytest.mark.parametrize("name", sorted(left_alone()))
def test_what_bounds_nothing_is_left_alone(name: str, laws: Any) -> None:
    assert data_masks.bounded([left_alone()[name]], laws, Budget(30.0)) is None


@pytest.mark.parametrize(("lanes", "bounds"), [(1 << 24, True), ((1 << 24) + 1, False)])
def test_more_lanes_than_float32_tells_apart_are_left_alone(lanes: int, bounds: bool) -> None:
    """The last lane is the place of the largest number of a lane."""
    many, few = Axis("many", lanes), Axis("few", 4)
    own = nq.equal(nq.array("a", few, dtype="int32"), nq.array("b", many, dtype="int32"))
    assert bool(data_masks.ends([nq.sum(nq.where(own, nq.array("x", many), 0.0), many)])) == bounds


@pytest.mark.parametrize("missing", ["from-first", "to-last"])
def test_without_a_law_that_it_takes_nothing_is_bounded(missing: str) -> None:
    assert data_masks.bounded([forms()["turned round"][0]], proved_laws([missing], (), False), Budget(30.0)) is None


def test_the_same_diagram_gives_the_same_steps(laws: Any) -> None:
    once, again = (data_masks.bounded([forms()["one array"][0]], laws, Budget(30.0)) for _ in range(2))
    assert once == again


def test_an_alternative_that_no_lane_is_in_bounds_nothing() -> None:
    """Beside one that there is none of, as lanes past the end are none, the other bounds."""
    x, y = nq.axes("x y", x=64, y=64)
    last = nq.index(x) <= nq.array("last", y, dtype="int32")
    for beyond, ends in ((nq.index(x) >= 64, [True]), (nq.index(x) >= 63, [])):
        assert bounding(last | beyond, x) == ends
    never = nq.index(x) >= 64
    assert bounding(never, x) == bounding(never | (nq.index(x) >= 70), x) == [False]


def documents() -> Derivation:
    """Attention under the masks of documents, bounded though it is too short for that to be worth it."""
    predicted, lengths = pipeline._predicted, {"h": 2, "q": 300, "k": 3500, "d": 16, "e": 16}
    _, _, asks, keys, _, _ = parts(lengths)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "BOUNDING", 1e6)
        patch.setattr(pipeline, "_predicted", lambda found: predicted(found) / len(found[0].placed.tiled) ** 4)
        found = nq.derive(attention(nq.equal(asks, keys), lengths), dtype="float32", printer="triton")
    assert isinstance(found, Derivation)
    return found


def test_lanes_are_found_in_kernels_of_their_own_and_the_plan_equals_float64_whatever_the_data() -> None:
    found = documents()
    *finding, last = found.plan.kernels
    written = [b for kernel in finding for b in kernel.writes]
    assert [b.dtype for b in written] == ["i32", "i32"] and {b.name for b in written} <= {b.name for b in last.reads}
    assert {"from-first", "to-last"} <= {step.law for step in found.outputs[0].steps}
    (loop,) = (s for s in last.body if isinstance(s, p.Loop))
    assert all(isinstance(part.lo, str) and isinstance(part.hi, str) for part in loop.parts)
    assert found.outputs[0].translation.status == "agrees"
    random = np.random.default_rng(1)
    own, other = np.repeat([0, 1, 2, 3], [10, 130, 100, 60]), np.repeat([0, 1, 2, 3], [500, 1500, 1000, 500])
    q, k, v = (random.standard_normal((2, size, 16)).astype("float32") for size in (300, 3500, 3500))
    order = [[a.name for a in last.writes[0].dims].index(name) for name in "hqe"]
    for name, (asks, keys) in {
        "packed": (own, other),
        "one document": (0 * own, 0 * other),
        "shuffled": (random.permutation(own), random.permutation(other)),
        "some of none": (np.where(own == 1, 9, own), other),
        "none at all": (own, other + 10),
    }.items():
        given = {"Q": q, "K": k, "V": v, "asks": asks, "keys": keys}
        out = np.transpose(emit(found.plan, "numpy")(given)["out"], order)
        scores = np.where(asks[:, None] == keys, q.astype(float) @ np.swapaxes(k, 1, 2).astype(float), -np.inf)
        seen = np.isfinite(scores[0]).any(-1)
        weights = np.exp(scores[:, seen] - scores[:, seen].max(-1, keepdims=True))
        right = weights / weights.sum(-1, keepdims=True) @ v
        np.testing.assert_allclose(out[:, seen], right, atol=1e-4, err_msg=name)
        assert seen.all() or name in ("some of none", "none at all")


def test_a_plan_that_finding_the_lanes_would_slow_down_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where labels are in any order no block is skipped: what is paid for the chance is a little."""
    q, k = Axis("q", 2048), Axis("k", 2048)
    asks, keys = nq.array("asks", q, dtype="int32"), nq.array("keys", k, dtype="int32")
    labels = nq.sum(nq.where(nq.equal(asks, keys), nq.array("A", q, k), 0.0), k)
    for share, bound in ((pipeline.BOUNDING, False), (100.0, True)):
        monkeypatch.setattr(pipeline, "BOUNDING", share)
        found = nq.derive(labels, dtype="float32")
        laws = {step.law for output in found.outputs for step in output.steps}
        assert "from-first" not in laws or bound


def test_a_tuple_of_outputs_keeps_its_names(laws: Any) -> None:
    source = [forms()["turned round"][0], forms()["earlier"][0]]
    made = data_masks.bounded(source, laws, Budget(30.0))
    assert made is not None and len(made[0]) == len(made[1].outputs) == 2
    require_accepted(Tuple(made[0]), Tuple(made[1].outputs), made[1].steps, laws.statements, laws.verdicts)
    assert all(isinstance(term, Reduce) or term.children for term in made[1].outputs)


def reversed_masks():
    """Return causal attention whose mask says what it leaves out, in three ways, and what it keeps."""
    b, q, x, d, e = nq.axes("b q x d e", b=16, q=1024, x=1024, d=64, e=64)
    scores = nq.sum(nq.array("Q", b, q, d) * nq.array("K", b, x, d), d) * 0.125
    at, to, values = nq.index(q), nq.index(x), nq.array("V", b, x, e)
    ways = {
        "kept": nq.where(to <= at, scores, -math.inf),
        "below": nq.where(at < to, -math.inf, scores),
        "not": nq.where(~(to <= at), -math.inf, scores),
    }
    return {name: nq.sum(nq.softmax(way, x) * values, x) for name, way in ways.items()}


def test_masks_that_say_what_they_leave_out_are_turned_round():
    found = {name: nq.derive(term, "h200", "bfloat16") for name, term in reversed_masks().items()}
    kept = found.pop("kept")
    assert "where-turned" not in kept.report()["laws"]
    for name, derivation in found.items():
        assert derivation.report()["predicted_us"] == kept.report()["predicted_us"], name
        assert derivation.certificate["grade"] == "A" and {"where-turned", "skip-max"} <= {*derivation.report()["laws"]}
        assert checker.check(dumps(derivation.certificate).encode())["status"] == "ok"
    assert [s.law for s in found["below"].steps[:2]] == ["where-turned", "where-not-lt"]
