"""Squares about means over several axes, in parts: the chain, the numbers, what is left alone, what it is worth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.certify.certificate import require_accepted
from napkin_eq.egraph.budget import Budget
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import output_order
from napkin_eq.lang.term import Const, Index, Map, Reduce, Size, subterms
from napkin_eq.pipeline import derive as pipeline
from napkin_eq.pipeline.asked import proved_laws
from napkin_eq.search import moments

LENGTHS = {"n": 20, "c": 8, "h": 33, "w": 70}
BLOCKS = 264  # that keep an H200 at work


def total(axes, body):
    for axis in reversed(axes):
        body = Reduce("sum", axis, body)
    return body


def mean(axes, body):
    found = total(axes, body)
    for axis in axes:
        found = found * Map("inv", (Map("real", (Size(axis),)),))
    return found


def forms(lengths=LENGTHS):
    """Return what has squares about a mean, written in many ways, over arrays of some lengths."""
    n, c, h, w = (Axis(name, length) for name, length in lengths.items())
    x, y = nq.array("x", n, c, h, w), nq.array("y", n, c, h, w)

    def squares(axes, value, order=None):
        off = value + Map("neg", (mean(order or axes, value),))
        return total(axes, off * off)

    def nested(axes, value):
        """A mean of means: numbers stand between the sums."""
        for axis in reversed(axes):
            value = nq.mean(value, axis)
        return value

    t, u = Axis("t", 40_000 if lengths is LENGTHS else 40), Axis("u", 3)
    long, own = nq.array("long", t, u), nq.array("own", u)
    away = Map("neg", (mean((n, h, w), x),)) + x
    apart = x - nested((n, h, w), x)
    return {
        "batch": squares((n, h, w), x),
        "the other way": squares((w, h, n), x),
        "two ways": squares((n, h, w), x, (w, n, h)),
        "group": squares((c, h, w), x),
        "one row": squares((w,), x) if w.size > 1 << 14 else squares((c, h, w), y),
        "turned": total((n, h, w), away * away),
        "of what is computed": squares((n, h, w), x * y),
        "normalised": (x + Map("neg", (mean((n, h, w), x),)))
        * Map("inv", (Map("sqrt", (mean((n, h, w), (x + Map("neg", (mean((n, h, w), x),)))
        * (x + Map("neg", (mean((n, h, w), x),)))) + Const(1e-3),)),)),
        "two of them": squares((n, h, w), x) + squares((n, h, w), y),
        "means of means": nested((n, h, w), apart * apart),
        "along a long axis": squares((t,), long),
        "along a long axis, scaled": squares((t,), long * own) * nq.mean(long, t),
    }  # fmt: skip


def arrays_of(*terms):
    random = np.random.default_rng(0)
    inputs = Diagram("d", tuple((f"out{i}", term) for i, term in enumerate(terms))).inputs()
    return {i.name: random.standard_normal([axis.size for axis in i.dims]) + 100 for i in inputs}


@pytest.fixture(scope="module")
def laws():
    return proved_laws((), (), False)


@pytest.mark.parametrize("name", sorted(forms()))
def test_squares_about_a_mean_are_taken_in_parts_and_say_the_same(name, laws):
    source = forms()[name]
    made = moments.in_parts([source], laws, Budget(30.0), BLOCKS)
    assert made is not None
    (target,) = made.form.outputs
    require_accepted(source, target, made.form.steps, laws.statements, laws.verdicts)
    arrays, order = arrays_of(source), [axis.name for axis in output_order(source)]
    np.testing.assert_allclose(
        nq.evaluate(target, arrays, order=order), nq.evaluate(source, arrays, order=order), rtol=1e-9
    )


def test_without_rocq_the_chain_is_accepted_by_what_its_laws_are_decided_by(laws):
    source = forms()["along a long axis"]
    made = moments.in_parts([source], laws, Budget(30.0), BLOCKS)
    alone = {name: replace(v, kernel={}) if name == "squares-about-where" else v for name, v in laws.verdicts.items()}
    assert (alone["squares-about-where"].method, alone["squares-about-where"].grade) == ("normal form of sums", "A")
    require_accepted(source, made.form.outputs[0], made.form.steps, laws.statements, alone)


def test_what_a_part_sums_is_summed_once(laws):
    (target,) = moments.in_parts([forms()["normalised"]], laws, Budget(30.0), BLOCKS).form.outputs
    folds = [t for t in subterms(target) if isinstance(t, Reduce) and t.axis.name == "w"]
    assert len(folds) == 2  # the sums of the parts, and the squares about their means


def test_the_same_diagram_gives_the_same_steps(laws):
    once, again = (moments.in_parts([forms()["batch"]], laws, Budget(30.0), BLOCKS) for _ in range(2))
    assert once == again


def left_alone():
    n, c, h, w = (Axis(name, length) for name, length in LENGTHS.items())
    x, m = nq.array("x", n, c, h, w), nq.array("m", c)
    off = x + Map("neg", (mean((n, h, w), x),))
    small = forms({"n": 4, "c": 3, "h": 8, "w": 70})["batch"]
    up_to = Index(w) <= Index(h)
    return {
        "so few lanes that a block holds them": small,
        "about a point that is given": total((n, h, w), (x + m) * (x + m)),
        "over one short axis": total((w,), off * off),
        "over neighbours that a block holds": forms({**LENGTHS, "n": 2, "c": 1, "h": 1, "w": 60_000})["one row"],
        "products of two": total((n, h, w), off * (x + m)),
        "under a mask": total((n, h), Reduce("sum", w, off * off, up_to)),
        "cubes": total((n, h, w), off * off * off),
    }


@pytest.mark.parametrize("name", sorted(left_alone()))
def test_what_has_no_parts_is_left_alone(name, laws):
    assert moments.in_parts([left_alone()[name]], laws, Budget(30.0), BLOCKS) is None


@pytest.mark.parametrize("missing", ["squares-about", "squares-about-where", "fubini-sum", "distribute"])
def test_without_a_law_that_it_takes_nothing_is_taken_in_parts(missing):
    assert moments.in_parts([forms()["batch"]], proved_laws([missing], (), False), Budget(30.0), BLOCKS) is None


def test_a_plan_in_parts_stands_where_nothing_else_is_found_in_what_time_is_left(monkeypatch):
    def refused(job):
        job.aim.budget.clock.stopped.append("saturation")
        raise NapkinError("no plan fits")

    monkeypatch.setattr(pipeline, "PARTS", 0.0)
    monkeypatch.setattr(pipeline, "_as_one", refused)
    derived = nq.derive(forms()["batch"], dtype="float32")
    assert "squares-about" in {step.law for step in derived.outputs[0].steps} and "saturation" in derived.limited
    assert derived.outputs[0].translation.status == "agrees"


def test_what_is_normalised_over_places_is_read_twice_and_written_once():
    sizes = {"n": 16, "c": 64, "h": 256, "w": 256}
    derived = nq.derive(forms(sizes)["normalised"], dtype="float32")
    array = 16 * 64 * 256 * 256 * 4
    assert sum(t.cost.bytes_hbm for t in derived.tiled) < 3.1 * array
