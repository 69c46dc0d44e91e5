"""Axes that lie side by side in every array of a kernel are one axis of its rows or columns, and nothing else is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.draw.planned import circuit
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import WrongPlan
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.term import Const, Group, Map, Store, Term
from napkin_eq.numerics.error_bound import schedule
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.pipeline.top_k import choice, retiled, tilings, with_tilings
from napkin_eq.pipeline.validate import validate
from napkin_eq.tile.ir import (
    Assign,
    Buffer,
    Coord,
    Dot,
    Kernel,
    Let,
    Load,
    Loop,
    Part,
    Plan,
    Value,
    statements,
)
from napkin_eq.tile.lower.kernel import Lowering
from napkin_eq.tile.lower.merge_axes import _rejoined
from napkin_eq.tile.printers import emit
from napkin_eq.tile.verify_ir import verified_plan
from napkin_eq.verify.index.prove_index import proved
from napkin_eq.verify.miniature import at_its_sizes

b, t, x, d, h, e = nq.axes("b t x d h e", b=5, t=37, x=37, d=64, h=6, e=16)
X, W = nq.array("X", b, t, d), nq.array("W", d, h, e)


def merged(derivation: Derivation) -> list[str]:
    return sorted(axis.name for kernel in derivation.plan.kernels for axis, _ in kernel.merged)


def derived(term: Term, **sizes: int) -> Derivation:
    return nq.derive(nq.Diagram("product", (("out", term),)).with_sizes(sizes), "h100", dtype="float16")


def agrees(derivation: Derivation) -> None:
    """Run the plan in NumPy and hold it against evaluation."""
    random = np.random.default_rng(0)
    source = derivation.outputs[0].source
    arrays: dict[str, Any] = {}
    for array in derivation.diagram.inputs():
        shape = [a.size or 1 for a in array.dims]
        arrays[array.name] = random.integers(0, 9, shape) if array.kind == "int" else random.standard_normal(shape)
    (out,) = derivation.plan.outputs
    order = [axis.name for axis in out.dims]
    assert out.dims == source.axes or {*out.dims} == {*source.axes}
    found = emit(derivation.plan, "numpy")(arrays, False)["out"]
    np.testing.assert_allclose(found, evaluate(source, arrays, order=order), rtol=1e-9, atol=1e-9)


def test_rows_of_all_sequences_are_rows_of_one_matrix_and_heads_are_columns() -> None:
    found = derived(nq.linear(X, W, d, nq.array("B", h, e)))
    assert merged(found) == ["b_t", "h_e"]
    (kernel,) = found.plan.kernels
    assert {c.axis.name for c in kernel.coords} == {"b_t", "d", "h_e"} and kernel.coord("b_t").axis.size == 5 * 37
    assert [axis.name for axis in found.plan.outputs[0].dims] == ["b", "t", "h", "e"]
    agrees(found)
    assert found.outputs[0].translation.status == "agrees"
    sizes = dict(found.outputs[0].translation.sizes)
    assert sizes["b"] > 1 and sizes["b"] * sizes["t"] == sizes["b_t"]
    assert proved(found).verdict == "proved"
    assert validate(found.diagram, "float16", device="cpu", hardware="h100").verdict == "ok"


def test_a_tile_across_sequences_is_larger_than_a_sequence() -> None:
    large = derived(nq.linear(X, W, d), b=32, t=197, d=768, h=12, e=64)
    (kernel,) = large.plan.kernels
    rows = kernel.coord("b_t")
    assert rows.tile >= 64 and (rows.blocks or 0) < 32 * 2
    assert large.plan.kernels[0].coord("h_e").tile > 64  # and a head's own columns
    agrees(derived(nq.linear(X, W, d), b=3, t=37, d=64, h=3, e=32))


@pytest.mark.parametrize(
    "term",
    [
        nq.sum(X * nq.rename(X, {t: x}), d),  # both operands vary along b
        nq.sum(nq.array("Y", t, b, d) * W, d) + nq.array("Z", b, t, h, e),  # in another order
        nq.sum(X * W, d) + nq.array("bias", t, h, e),  # an array has one of them alone
        nq.sum(nq.where(nq.index(t) < 20, X, 0.0) * W, d),  # a mask speaks of one of them
        nq.sum(nq.take(X, t, nq.array("at", x, dtype="int32")) * W, d),  # one is read at places
    ],
)
def test_rows_are_not_merged_where_they_are_not_alike(term: Term) -> None:
    found = derived(term)
    assert "b_t" not in merged(found) and "b_x" not in merged(found)
    agrees(found)


def test_an_axis_whose_size_is_not_known_is_not_merged() -> None:
    T = Axis("t")
    found = nq.derive(nq.Diagram("open", (("out", nq.linear(nq.array("X", b, T, d), W, d)),)), "h100")
    assert merged(found) == ["h_e"]


def test_a_name_that_is_taken_is_not_given_again() -> None:
    taken = Axis("b_t", 3)
    found = derived(nq.sum(X * nq.array("V", d, taken), d))
    assert merged(found) == ["m0"]
    agrees(found)


def test_tilings_of_a_plan_with_merged_axes_are_of_its_kernels() -> None:
    found = derived(nq.linear(X, W, d))
    offers = tilings(found, 0, 3, "auto")
    assert len(offers) == 3 and all(
        sorted(axis.name for axis, _ in offer.kernel.merged) == ["b_t", "h_e"] for offer in offers
    )
    for offer in offers:
        agrees(with_tilings(found, [offer]))
    agrees(with_tilings(found, [retiled(found, [choice(found.tiled[0])]).tiled[0]]))


def test_the_drawing_shows_the_axes_of_the_diagram() -> None:
    drawn = circuit(derived(nq.linear(X, W, d)))
    names = {strand.name for node in drawn.nodes for strand in node.strands}
    assert {"b", "t", "h", "e", "d"} <= names and not names & {"b_t", "h_e"}


def test_axes_that_are_merged_wrongly_are_refused() -> None:
    plan = derived(nq.linear(X, W, d)).plan
    (kernel,) = plan.kernels
    (rows, parts), *others = kernel.merged
    for made in ((Axis(rows.name, 5 * 36), parts), (rows, (b, Axis("h", 37)))):
        broken = replace(kernel, merged=(made, *others))
        with pytest.raises(WrongPlan):
            verified_plan(replace(plan, kernels=(broken,)))


def test_an_axis_of_another_kernel_may_have_the_name_of_a_merged_one():
    """Validation in small sizes axes by name: such a plan is tried at its own sizes."""
    other = Axis("b_t", 32)
    outs = nq.linear(X, W, d), nq.linear(nq.array("Y", other, d), nq.array("V", d, h, e), d)
    first, second = map(derived, outs)
    assert merged(first) == ["b_t", "h_e"] and merged(second) == ["h_e"]
    kernels = (*first.plan.kernels, *second.plan.kernels)
    outputs = [*first.outputs, *second.outputs]
    small = at_its_sizes(outputs, replace(first.plan, kernels=kernels))
    assert small.sizes["b_t"] == 32 and small.sizes["b"] == 5


def test_of_many_axes_in_a_row_few_lengths_are_tried():
    many = nq.axes("a0 a1 a2 a3 a4 a5", a0=3, a1=2, a2=3, a3=2, a4=3, a5=5)
    found = derived(nq.linear(nq.array("Z", *many, d), W, d))
    assert "a0_a1_a2_a3_a4_a5" in merged(found) and found.outputs[0].translation.status == "agrees"


def convolution(n: int, image: int, channels: int, out: int, stride: int = 1) -> Term:
    """Return a 3 x 3 convolution of images, channels last, zeros around them."""
    N, Y, XS, C, U, V, OUT = nq.axes("n y x c u v o", n=n, y=image, x=image, c=channels, u=3, v=3, o=out)
    rows, columns = (Y, XS) if stride == 1 else nq.axes("i j", i=image // stride, j=image // stride)
    at = nq.index(rows) * stride + nq.index(U) - 1, nq.index(columns) * stride + nq.index(V) - 1
    inside = (at[0] >= 0) & (at[0] < image) & (at[1] >= 0) & (at[1] < image)
    seen = nq.where(inside, nq.take(nq.take(nq.array("A", N, Y, XS, C), Y, at[0]), XS, at[1]), 0.0)
    return nq.sum(seen * nq.array("K", U, V, C, OUT), U, V, C)


@pytest.mark.parametrize("image", [14, 30, 32])
def test_a_convolution_is_one_product_whose_loop_walks_window_and_channels(image: int) -> None:
    found = nq.derive(nq.Diagram("windows", (("out", convolution(8, image, 64, 96)),)), "h100", dtype="float16")
    (kernel,) = found.plan.kernels
    assert merged(found) == ["n_y_x", "u_v_c"]
    loops = [s for s in statements(kernel.body) if isinstance(s, Loop)]
    (dot,) = [s for s in statements(kernel.body) if isinstance(s, Dot)]
    assert [loop.coord for loop in loops] == [dot.coord] == ["u_v_c__s"] and len(loops[0].parts) == 1
    assert found.outputs[0].translation.status == "agrees"
    assert proved(found).verdict == "proved"
    # What a sum of all of them is off by, in one accumulator
    assert schedule(found.plan)["c"].times == 9


def test_the_numbers_of_a_convolution_by_one_loop_are_its_own() -> None:
    agrees(derived(convolution(2, 6, 32, 16)))


def test_a_window_along_half_of_the_rows_keeps_its_places() -> None:
    agrees(derived(convolution(2, 8, 32, 16, stride=2)))


def test_a_tile_that_no_whole_number_of_makes_up_the_channels_is_not_walked_with_the_window() -> None:
    found = derived(convolution(2, 6, 24, 16))
    assert "u_v_c" not in merged(found)
    agrees(found)


@pytest.mark.parametrize("tile", [16, 32, 64])
def test_a_quotient_by_what_whole_tiles_make_up_is_one_number_a_block(tile: int) -> None:
    rows, columns, depth = nq.axes("r k d", r=4, k=32, d=48)
    (whole,) = nq.axes("w", w=128)
    high, low = nq.index(whole) // 32, nq.index(whole) % 32
    term = nq.take(nq.take(nq.array("A", rows, columns, depth), rows, high), columns, low) + 1.0
    store = Store(Group(whole, Group(depth, term)))
    target = Buffer("out", (whole, depth), "f32")
    kernel = Lowering("k", store, (target,), {"w": tile, "d": 16}, {}, "f32", lambda _: False).kernel()
    quotients = [s for s in statements(kernel.body) if isinstance(s, Let) and s.op in ("floordiv", "mod")]
    assert quotients and all((not s.out.coords) == (tile <= 32) for s in quotients)


def test_what_kernels_add_along_one_axis_is_what_the_worst_of_them_does() -> None:
    """A loop over window and channels is no reason to forget how another kernel adds along the channels."""
    channels, window, both = nq.axes("c u u_c", c=64, u=3, u_c=192)
    rows, columns = nq.axes("r s", r=16, s=16)
    held = {"r": Coord("r", rows, 16, "whole"), "s": Coord("s", columns, 16, "whole")}

    def kernel(axis: Axis, tile: int, parts: tuple[Axis, ...]) -> Kernel:
        walked = Coord(f"{axis.name}__s", axis, tile, "stream")
        sides = [Load(Value(n, (walked.name, c), "f16"), n, (0,)) for n, c in (("a", "r"), ("b", "s"))]
        dot = Dot(Value("made", ("r", "s"), "f32"), "a", "b", walked.name, "acc")
        part = Part(0, axis.size or 0, (*sides, dot, Assign("acc", "made")), "no mask")
        loop = Loop(walked.name, ((Value("acc", ("r", "s"), "f32"), 0.0),), (part,))
        return Kernel("k", (), (), (*held.values(), walked), (), (loop,), merged=((axis, parts),) if parts else ())

    one, other = kernel(both, 64, (window, channels)), kernel(channels, 16, ())
    for kernels in ((one, other), (other, one)):
        found = schedule(Plan("p", (), (), kernels))["c"]
        assert (found.largest, found.smallest, found.times, found.matrix) == (64, 16, 3, True)


def test_a_place_is_no_quotient_by_zero_and_a_rest() -> None:
    (axis,) = nq.axes("k", k=64)
    place = nq.index(axis)
    for by in (16, 0, -4):
        first, rest = (Map(op, (place, Const(by))) for op in ("floordiv", "mod"))
        whole = Map("add", (Map("mul", (first, Const(by))), rest))
        assert (_rejoined(whole) is place) == (by != 0)


def test_what_folds_nothing_goes_through_memory_whatever_lengths_its_rows_have() -> None:
    n, c, y = nq.axes("n c y", n=3, c=5, y=67)
    image, scale = nq.array("Image", n, c, y), nq.array("Scale", n, c)
    derivation = derived(image * scale + 1.0)
    (kernel,) = derivation.plan.kernels
    assert [[part.name for part in parts] for _, parts in kernel.merged] == [["n", "c", "y"]]
    agrees(derivation)
    assert derivation.outputs[0].translation.status == "agrees"
    assert proved(derivation).verdict == "proved"


def test_what_is_read_once_for_a_few_places_side_by_side_is_read_at_their_quotient() -> None:
    """Writing every third number left parts of each sector of memory three times: 50.8 us on an H100 where this takes
    27.3, and torch.compile 26.8.
    """
    n, c, y = nq.axes("n c y", n=262144, c=17, y=3)
    chosen = nq.where(nq.array("B", n, dtype="bool"), nq.array("X", n, c), nq.array("Y", y))
    derivation = nq.derive(nq.Diagram("chosen", (("out", chosen),)), "h100", dtype="float32")
    (kernel,) = derivation.plan.kernels
    assert [[part.name for part in parts] for _, parts in kernel.merged] == [["n", "c", "y"]]
    assert derivation.outputs[0].translation.status == "agrees"
    assert proved(derivation).verdict == "proved"


def test_axes_are_several_where_an_array_lies_otherwise_or_something_is_folded() -> None:
    n, c, y = nq.axes("n c y", n=64, c=64, y=64)
    image, other = nq.array("Image", n, c, y), nq.array("Other", c, n, y)
    for term in (image + other, image - nq.sum(image, y)):
        runs = [{part.name for part in parts} for kernel in derived(term).plan.kernels for _, parts in kernel.merged]
        assert {"n", "c", "y"} not in runs


def test_what_takes_many_instructions_is_computed_once_for_many_places() -> None:
    n, c, y = nq.axes("n c y", n=256, c=64, y=512)
    image, angle = nq.array("Image", n, c, y), nq.array("Angle", c, y)
    (kernel,) = derived(image * nq.sin(nq.exp(nq.sin(angle)))).plan.kernels
    assert not any(part == n for _, parts in kernel.merged for part in parts)


def test_images_and_weights_of_channels_first_are_turned_once_for_a_loop_over_window_and_channels() -> None:
    N, C, Y, XS, U, V, OUT = nq.axes("n c y x u v o", n=16, c=128, y=56, x=56, u=3, v=3, o=128)
    rows, columns = nq.axes("p q", p=56, q=56)
    at = nq.index(rows) + nq.index(U) - 1, nq.index(columns) + nq.index(V) - 1
    inside = (at[0] >= 0) & (at[0] < 56) & (at[1] >= 0) & (at[1] < 56)
    image = nq.take(nq.take(nq.array("A", N, C, Y, XS), Y, at[0]), XS, at[1])
    term = nq.sum(nq.where(inside, image, 0.0) * nq.array("K", OUT, C, U, V), C, U, V)
    found = nq.derive(nq.Diagram("first", (("out", term),)), "h100", dtype="float32", precision="tf32")
    stored = {b.name: [axis.name for axis in b.dims] for kernel in found.plan.kernels for b in kernel.writes}
    turned = sorted(dims[-1] for name, dims in stored.items() if name != "out")
    assert turned == ["c", "c"]
    assert found.outputs[0].translation.status == "agrees"
    assert proved(found).verdict == "proved"


def test_blocks_of_what_folds_nothing_are_as_long_as_pays() -> None:
    """Blocks of 256 masks each: 67 us on an H100 for 13.2 million, half of it for beginning blocks."""
    n, c, y = nq.axes("n c y", n=100, c=4000, y=33)
    (kernel,) = derived(nq.where(nq.index(y) < 7, nq.array("X", n, c, y), 0.0)).plan.kernels
    (coord,) = kernel.coords
    assert coord.tile >= 1024


def _window(size: int, step: int, by: int, offset: int = 0) -> tuple[Term, Axis, Axis]:
    """Return the largest of windows of an image of (n, y, x), some places apart; what is outside counts as -inf."""
    n, y, x = nq.axes("n y x", n=6, y=size, x=size)
    out = (size + 2 * offset - by) // step + 1
    rows, columns, u, v = nq.axes("p q u v", p=out, q=out, u=by, v=by)
    places = [nq.index(a) * step + nq.index(w) - offset for a, w in ((rows, u), (columns, v))]
    image = nq.take(nq.take(nq.array("Image", n, y, x), y, places[0]), x, places[1])
    if offset:
        inside = (places[0] >= 0) & (places[0] < size) & (places[1] >= 0) & (places[1] < size)
        image = nq.where(inside, image, -np.inf)
    return nq.max(nq.max(image, v), u), rows, columns


def test_windows_are_folded_in_blocks_that_go_through_memory() -> None:
    """Short rows of several images side by side took 1.4 to 1.7 times as long as their bytes on an H100."""
    term, rows, columns = _window(126, 2, 2)
    derivation = derived(term)
    (kernel,) = derivation.plan.kernels
    assert [[part.name for part in parts] for _, parts in kernel.merged] == [["n", rows.name, columns.name]]
    assert derivation.outputs[0].translation.status == "agrees"
    assert proved(derivation).verdict == "proved"
    agrees(derived(_window(14, 2, 2)[0]))
    for by, offset in ((3, 0), (3, 1)):
        agrees(derived(_window(15, 2, by, offset)[0]))


def test_part_of_an_image_is_read_in_blocks_that_go_through_memory_and_one_that_lies_otherwise_is_not() -> None:
    n, y, x = nq.axes("n y x", n=64, y=127, x=127)
    rows, columns = nq.axes("p q", p=125, q=124)
    image = nq.array("Image", n, y, x)
    part = nq.take(nq.take(image, y, nq.index(rows) + 2), x, nq.index(columns) + 3) * 2.0
    derivation = derived(part)
    (kernel,) = derivation.plan.kernels
    assert [[a.name for a in parts] for _, parts in kernel.merged] == [["n", "p", "q"]]
    assert derivation.outputs[0].translation.status == "agrees" and proved(derivation).verdict == "proved"
    turned = nq.array("Other", n, rows, columns) + nq.take(
        nq.take(image, y, nq.index(columns) + 3), x, nq.index(rows) + 2
    )
    for term in (turned, nq.take(image, y, (nq.index(y) + 120) % 127) * 2.0):
        runs = [{a.name for a in parts} for kernel in derived(term).plan.kernels for _, parts in kernel.merged]
        assert not any(len(run) == 3 for run in runs)


def test_neighbours_in_memory_are_computed_by_neighbouring_blocks() -> None:
    """Rows of 33 masks each, whose three lie side by side: 177 us on an H100 with the others between, 88 in order."""
    a, c, b = nq.axes("a c b", a=262144, c=3, b=33)
    (kernel,) = derived(nq.scan(nq.array("X", a, c, b), b)).plan.kernels
    places = [kernel.coord(g).axis.name for g in kernel.grid]
    assert places in (["a"], ["a", "c"])


def test_axes_of_one_place_keep_blocks_no_shorter_and_columns_no_narrower():
    """Nothing lies behind an axis of one place: columns before it are neighbours, blocks are long."""
    c, b, a = nq.axes("c b a", c=1, b=32768, a=257)
    e = nq.exp(nq.array("X", c, b, a, dtype="float32"))
    (kernel,) = nq.derive(e / nq.sum(e, c), hardware="h100", dtype="float16").plan.kernels
    assert max(coord.tile for coord in kernel.coords) > 256
    t, f, d = nq.axes("t f d", t=65536, f=1000, d=1)
    found = nq.derive(nq.sum(nq.array("Y", t, f, d), t), hardware="h100", dtype="float16").plan.kernels
    assert any(coord.role == "lane" for coord in found[0].coords)
    o, i, n = nq.axes("o i n", o=512, i=33, n=1)
    written = nq.array("A", o, i, n) * nq.array("B", i, n)
    (kernel,) = nq.derive(written, hardware="h100", dtype="float32").plan.kernels
    assert kernel.merged


def test_axes_of_one_place_that_lie_apart_in_another_array_are_not_merged():
    a, b, c, d = nq.axes("a b c d", a=5, b=1, c=1, d=1)
    agrees(nq.derive(nq.array("X", a, c, d, b) * nq.array("W", c, b), hardware="h100", dtype="float32"))


def test_how_many_places_an_axis_has_says_nothing_of_where_they_lie() -> None:
    b, a = nq.axes("b a", b=100, a=4096)
    given = nq.array("N", b, a)
    assert merged(nq.derive(given * nq.size(b))) == ["b_a"]
    assert merged(nq.derive(given * nq.size(b) + nq.max(given, a))) == []


def test_blocks_along_one_axis_of_several_are_as_long_as_along_an_only_one() -> None:
    b, a = nq.axes("b a", b=64, a=65536)
    (kernel,) = nq.derive(nq.array("N", b, a) + nq.index(b)).plan.kernels
    assert max(coord.tile for coord in kernel.coords) >= 1024


@pytest.mark.parametrize("last, one", [(5, True), (64, False)])
def test_columns_of_short_rows_are_those_of_several_rows(last: int, one: bool) -> None:
    """Of a fold over the first axis neighbours in memory lie along the last one, and along the one before it."""
    r, m, c = nq.axes("r m c", r=2048, m=256, c=last)
    derivation = derived(nq.mean(nq.exp(nq.array("A", r, m, c)), r))
    assert merged(derivation) == (["m_c"] if one else [])
    agrees(derivation)
