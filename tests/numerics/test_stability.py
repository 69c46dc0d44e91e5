"""Forms that lose digits which the diagram keeps are not chosen: held against float32 itself, at large means."""

from __future__ import annotations

import math

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.term import Map, Term
from napkin_eq.numerics.compare import compare
from napkin_eq.numerics.error_bound import error_bound
from napkin_eq.numerics.sample_inputs import draw, family
from napkin_eq.numerics.stability import FACTOR, Stability
from napkin_eq.pipeline.derive import derive
from napkin_eq.tile.printers import emit
from napkin_eq.verify.tolerance import Tolerance, tolerances

t, x = nq.axes("t x", t=4, x=None)
A, B, G = (nq.array(name, t, x, dtype="float32") for name in "ABG")


def centred(a: Term) -> Term:
    return a - nq.mean(a, x)


def weighted() -> Term:
    mean = nq.sum(G * A, x) / nq.sum(G, x)
    return nq.sum(G * (A - mean) * (A - mean), x) / nq.sum(G, x)


def expanded() -> Term:
    return nq.sum(A * B, x) - nq.sum(A, x) * nq.sum(B, x) / nq.size(x)


CENTRED = {
    "covariance": lambda: nq.sum(centred(A) * centred(B), x),
    "third moment": lambda: nq.mean(centred(A) * centred(A) * centred(A), x),
    "weighted variance": weighted,
}


@pytest.mark.parametrize("name", CENTRED)
def test_moments_about_a_large_mean_keep_their_digits(name: str) -> None:
    """A thousand deviations from zero the sums of products lose all: the plan stays near what two passes in float32
    give.
    """
    source = CENTRED[name]()
    found = derive(source, dtype="float32")
    rng = np.random.default_rng(1)
    data = {k: (1000.0 + rng.standard_normal((4, 4096))).astype(np.float32) for k in "AB"}
    data["G"] = rng.random((4, 4096)).astype(np.float32)
    given = {b.name: data[b.name] for b in found.plan.inputs}
    (got,) = emit(found.plan, "numpy")(given, True, {"x": 4096}).values()
    exact = evaluate(source, given)
    naive = evaluate(source, given, dtype="float32")
    assert (np.abs(got - exact) <= 8 * np.abs(naive - exact).max() + 1e-5 * np.abs(exact)).all()


def test_a_form_that_cancels_is_refused_and_one_that_does_not_is_admitted() -> None:
    source = CENTRED["covariance"]()
    stability = Stability(source, "float32")
    assert not stability.admits(expanded())
    assert stability.growth(expanded()) > 1000
    assert stability.admits(nq.sum(centred(A) * B, x) - nq.sum(centred(A), x) * nq.mean(B, x)) or FACTOR < 64
    assert stability.admits(nq.sum(centred(B) * centred(A), x))
    # What the diagram itself loses, a form may lose too.
    assert Stability(expanded(), "float32").admits(expanded() * 1.0)


def test_shifting_by_a_maximum_is_not_undone() -> None:
    source = nq.logsumexp(100.0 * A, x)
    bare = nq.log(nq.sum(nq.exp(100.0 * A), x))
    assert Stability(source, "float32").growth(bare) == np.inf
    assert Stability(bare, "float32").admits(source)


def test_an_error_within_the_plan_s_bound_and_beyond_the_diagram_s_is_refused() -> None:
    """A plan that cancels has a bound of its own that no error passes; what the diagram itself may lose is far less."""
    source = CENTRED["covariance"]()
    cancelling = derive(Diagram("expanded", (("out", expanded()),)), dtype="float32")
    drawn = draw(cancelling.diagram, family("far"), {"t": 4, "x": 4096}, "float32", 0)
    own = tolerances(cancelling, drawn, {"x": 4096}, "float32")["out"]
    (keeps,) = error_bound(source, drawn.clean, {"x": 4096}, "float32", order=["t"])
    exact = evaluate(source, drawn.clean, order=["t"])
    (got,) = emit(cancelling.plan, "numpy")(drawn.arrays, True, {"x": 4096}).values()
    moved = exact + 0.5 * np.minimum(own.a_priori, own.running)
    for seen in (got, moved):
        assert compare(seen, exact, np.minimum(own.a_priori, own.running), "float32").bound_used <= 1
    against = Tolerance(own.a_priori, own.running, keeps, own.reference)
    assert compare(moved, exact, against.least, "float32").bound_used > 1


def test_a_form_that_cancels_over_one_lane_only_is_refused() -> None:
    """Over one lane a running product is its sum, and their difference is 0 exactly: a square of it that is expanded is
    not.
    """
    (one,) = nq.axes("one", one=1)
    a = nq.array("A", one, dtype="bfloat16")
    running, total = nq.scan(a * a, one, "prod"), nq.sum(nq.scan(a * a, one, "prod"), one)
    held = Stability(nq.sum((running - total) * (running - total), one), "bfloat16")
    assert held.admits(nq.sum((total - running) * (total - running), one))
    assert not held.admits(nq.sum(running * running - 2 * running * total + total * total, one))


def test_a_product_of_exponentials_that_passes_the_range_is_refused_where_each_is_in_it() -> None:
    """(e^a / s) (e^b / s') keeps to the range of float32 where e^a e^b does not: as one fraction it is infinite over
    infinite.
    """
    shares = [nq.exp(v) / nq.sum(nq.exp(v), x) for v in (A, B)]
    (one, other), (all_one, all_other) = ([nq.exp(v) for v in (A, B)], [nq.sum(nq.exp(v), x) for v in (A, B)])
    held = Stability(shares[0] * shares[1], "float32")
    assert held.admits(shares[1] * shares[0])
    assert not held.admits((one * other) / (all_one * all_other))


def test_a_form_that_is_off_beside_large_numbers_where_the_diagram_is_exact_at_a_zero_is_refused() -> None:
    """What adds a rounded product and takes it away leaves a digit of it where the product is fused with one of the
    additions.
    """
    mean = nq.mean(A, x)
    for dtype in ("float16", "float32"):
        held = Stability(A - A + nq.mean(A - A, x), dtype)
        assert held.admits(nq.mean(A - A, x) + (A - A))
        assert not held.admits((A + mean) - (A + mean))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_form_that_squares_what_the_diagram_scales_first_is_refused(dtype: str) -> None:
    """Numbers relative to their largest, or times a constant, have squares within the range; their own are past it, or
    0, and the root of the whole is infinite, or 0.
    """
    most = nq.max(nq.abs(A), x)
    for scaled, taken_out in (
        (nq.sum((A / most) * (A / most), x), nq.sum(A * A, x) / (most * most)),
        (nq.sum((A * 1e-25) * (A * 1e-25), x), nq.sum(A * A, x) * 1e-25 * 1e-25),
        (nq.sum((A * 1e25) * (A * 1e25), x), nq.sum(A * A, x) * 1e25 * 1e25),
    ):
        held = Stability(nq.sqrt(scaled), dtype)
        assert held.admits(nq.sqrt(scaled))
        assert not held.admits(nq.sqrt(taken_out))


def test_what_several_masks_of_zeros_and_ones_keep_keeps_its_digits() -> None:
    """Two masks are multiplied, or each has a large constant: beside what both keep nothing of that size is added."""
    c, both = 1e4, nq.array("N", t)
    for meant, spread in (
        (A - c * (1.0 - B * both), (A - c) + c * (B * both)),
        (A - c * (1.0 - B) - c * (1.0 - both), (A - 2 * c) + c * (B + both)),
        (A - c * (2.0 - B - both), (A - 2 * c) + c * (B + both)),
    ):
        held = Stability(nq.sum(nq.relu(meant), x), "float32")
        assert held.admits(nq.sum(nq.maximum(0.0, meant), x))
        assert not held.admits(nq.sum(nq.relu(spread), x))


def test_what_a_mask_leaves_absent_everywhere_is_told_with_the_mask_taken_for_an_input() -> None:
    """1 / (a1 ... ai) where a_i < b is absent somewhere in nearly every row: of what is drawn for a and b nothing
    asks anything of a variance of it, though its square may pass the range of float32 beside an absent lane.
    """
    kept = nq.where(A * A < B, 1 / nq.scan(A * A, x, "prod"), -math.inf)
    mean = nq.mean(kept, x)
    held = Stability(nq.sum((kept - mean) * (kept - mean), x), "float32")
    assert len(held.trials) == 2
    assert held.admits(nq.sum((mean - kept) * (mean - kept), x))
    assert not held.admits(nq.sum(kept * kept, x) - 2 * mean * nq.sum(kept, x) + nq.size(x) * mean * mean)
    assert len(Stability(CENTRED["covariance"](), "float32").trials) == 1


def test_what_is_absent_at_some_elements_of_an_output_is_told_with_its_mask_taken_for_an_input() -> None:
    """Where one lane is absent the variance is: its square beside that lane, past the range, is no number."""
    kept = nq.where(A < 0.0, B, -math.inf)
    mean = nq.sum(kept, x) / nq.size(x)
    held = Stability(nq.where(A < 0.0, B, nq.sum((kept - mean) * (kept - mean), x)), "float32")
    assert len(held.trials) == 2
    expanded = nq.sum(kept * kept, x) - 2 * mean * nq.sum(kept, x) + nq.size(x) * mean * mean
    assert not held.admits(nq.where(A < 0.0, B, expanded))


def test_a_constant_that_is_one_over_a_length_is_one_over_the_lanes_of_the_trial() -> None:
    """E[a^2] - m^2 loses all digits of a variance, be its mean a sum over the axis's size or times a constant; and a
    mean over two axes is one over both lengths.
    """
    for rows, width in ((1, 4096), (64, 96)):
        r, w = nq.axes("r w", r=rows, w=width)
        a, over = nq.array("A", r, w), (r, w) if rows > 1 else (w,)
        share = 1 / (rows * width)

        def total(term: nq.Term, over: tuple[nq.Axis, ...] = over) -> nq.Term:
            return nq.sum(term, *over)

        mean = total(a) * share
        held = Stability(total((a - mean) * (a - mean)) * share, "float32")
        assert len(held.trials) == 2 and held.admits(total((mean - a) * (mean - a)) * share)
        assert not held.admits(total(a * a) * share - mean * mean)
    plain = nq.array("A", w)
    assert len(Stability(nq.sum(nq.exp(plain * 0.3), w), "float32").trials) == 1


def test_a_place_that_the_diagram_cannot_miss_is_not_left_to_rounding() -> None:
    """All of a - a are 0, and so is the place of the largest: of r a - r a, fused, it may be any."""
    (r,) = nq.axes("r", r=3)
    scale = 1 / nq.array("R", r)
    held = Stability(nq.argmax((A - A) * scale, x), "float32")
    assert held.admits(nq.argmax(scale * (A - A), x))
    assert not held.admits(nq.argmax(scale * A - scale * A, x))
    rounded = Stability(nq.argmax(nq.softmax(A, x), x), "float32")
    assert rounded.admits(nq.argmax(A, x)) and rounded.admits(nq.argmax(nq.exp(A - nq.max(A, x)), x))


def test_a_scale_that_keeps_a_sum_in_range_stays_in_it() -> None:
    """A sum of numbers near 2e37 over 64 has a value that 64th parts of their sum have not; and what a scale of
    products may do is not asked of it.
    """
    (d,) = nq.axes("d", d=64)
    B = nq.array("B", d, x)
    for source, form in (
        (nq.sum(A * (1 / 64), x), nq.sum(A, x) * (1 / 64)),
        (nq.sum(A / 4096.0, x), nq.sum(A, x) / 4096.0),
        (nq.sum(-A / nq.length(x), x), -nq.sum(A, x) / nq.length(x)),
    ):
        assert Stability(source, "float32").growth(form) == math.inf
    assert Stability(nq.sum(A * (1 / 64), x), "float32").admits(nq.sum((1 / 64) * A, x))
    for source, form in (
        (nq.sum(A * B * 0.125, x), 0.125 * nq.sum(A * B, x)),
        (nq.sum(A * 3.0, x), 3.0 * nq.sum(A, x)),
        (0.25 * nq.sum(A, x), nq.sum(A, x) * 0.25),
    ):
        assert Stability(source, "float32").admits(form)


def test_what_a_mask_keeps_is_known_however_a_form_writes_it() -> None:
    """Where a mask leaves lanes absent in all that is drawn, a variance of what it keeps is absent as written and as
    expanded: with an input in that place, also where the form computes it in another way, the one loses its digits.
    """
    kept, other = (nq.where(nq.index(x) < 2, term, -math.inf) for term in (A + A, 2.0 * A))
    mean = nq.sum(kept, x) / 24.0
    held = Stability(nq.sum((kept - mean) * (kept - mean), x), "float32")
    for lanes in (kept, other):
        middle = nq.sum(lanes, x) / 24.0
        assert held.admits(nq.sum((lanes - middle) * (lanes - middle), x))
        assert not held.admits(nq.sum(lanes * lanes, x) - 24.0 * (middle * middle))


def test_what_is_made_of_an_exponential_near_the_end_of_its_range_is_not_multiplied_before_it_divides() -> None:
    b, a = nq.axes("b a", b=16, a=17)
    scores = nq.array("N", b, a, facts=("pos",))
    weight = nq.exp(scores - nq.mean(scores, a))
    total = nq.sum(weight, b)
    source = weight / total / scores
    stability = Stability(source, "bfloat16")
    assert stability.admits(source) and not stability.admits(weight * Map("inv", (total * scores,)))
    shifted = nq.exp(scores - nq.max(scores, b))
    safe = Stability(shifted / nq.sum(shifted, b) / scores, "bfloat16")
    assert safe.admits(shifted * Map("inv", (nq.sum(shifted, b) * scores,)))


def test_exponents_are_near_the_end_of_the_range_in_all_lanes_at_once_too() -> None:
    r, x = nq.axes("r x", r=2, x=20)
    S, T = nq.array("S", r, x), nq.array("T", r)
    source = nq.exp(S) / nq.exp(T) / 1000.0
    assert not Stability(source, "float32").admits(nq.exp(S) * Map("inv", (nq.exp(T) * 1000.0,)))
    for exponent in (S, -S, 2.0 * S, S + 1.0):
        sums = Stability(nq.sum(nq.exp(exponent) * 0.001, x), "float32")
        assert not sums.admits(0.001 * nq.sum(nq.exp(exponent), x))
    held = nq.exp(nq.array("U", r, x, facts=("abs<=80",)))
    assert Stability(nq.sum(held * 0.001, x), "float32").admits(0.001 * nq.sum(held, x))
