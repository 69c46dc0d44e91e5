"""Threads of a warp read side by side what lies side by side, also where places are computed and held
inside an array.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Index, Input, Read, Term, as_real
from napkin_eq.tile.ir import Buffer, Coord, Kernel, Load, Loop, Plan, StoreTile, flattened
from napkin_eq.tile.printers import emit
from tests import plans
from tests.codegen.test_triton import DEVICE, loaded

torch = pytest.importorskip("torch")
ROWS, COLUMNS = Axis("r", 24), Axis("c", 40)
X = Input("x", (ROWS, COLUMNS), "float")


def scaled(term: Term) -> Diagram:
    return Diagram("scaled", (("out", term * as_real(Index(ROWS) + 1)),))


def test_a_tile_of_places_held_inside_is_read_along_its_rows(tmp_path):
    text = nq.derive(scaled(Read(X, COLUMNS, Index(COLUMNS) * 5 + 1)), dtype="float32", limit=5).triton()
    assert "[None, :] * 40" in text and "(1, 0))" in text and "tl.permute(tl.load(" in text
    x = np.random.default_rng(0).standard_normal((24, 40)).astype(np.float32)
    got = loaded(text, tmp_path).run(torch.from_numpy(x).to(DEVICE)).cpu().numpy()
    places = np.minimum(np.arange(40) * 5 + 1, 39)
    np.testing.assert_array_equal(got, x[:, places] * np.arange(1, 25, dtype=np.float32)[:, None])


def test_a_tile_whose_neighbours_the_compiler_sees_is_read_as_it_lies():
    assert "permute" not in nq.derive(scaled(X), dtype="float32", limit=5).triton()



def test_short_rows_are_written_by_threads_that_go_on_to_the_next_row(tmp_path):
    b, d, c = Axis("b", 7), Axis("d", 2), Axis("c", 24)
    read, written = Buffer("x", (b, d, c), "f32"), Buffer("y", (b, c, d), "f32")
    inside = {"b": ("b_in",), "d": (), "c": ("c_in",)}

    def access(buffer: Buffer) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return tuple(f"{dim.name}s" for dim in buffer.dims), tuple(
            mask for dim in buffer.dims for mask in inside[dim.name]
        )

    body = (
        *(stmt for dim in (b, d, c) for stmt in plans.bounded(dim.name, dim)),
        Load(plans.f32("t", "b", "d", "c"), "x", *access(read)),
        StoreTile("y", access(written)[0], "t", access(written)[1]),
    )
    coords = (Coord("b", b, 4, "group"), Coord("d", d, 2, "whole"), Coord("c", c, 32, "whole"))
    kernel = Kernel("turned", (read,), (written,), coords, ("b",), body)
    text = emit(Plan("turned", (read,), (written,), (kernel,)))
    # Neighbours lie along d, then along c: c has to be the first of the others, or a warp writes two elements in each
    # of 32 rows of b.
    assert (
        "tl.store(y_ptr + bs[None, :, None] * 48 + cs[:, None, None] * 2 + ds[None, None, :], tl.permute(t, (2, 0, 1))"
        in text
    )
    assert "tl.permute(tl.load" not in text, "a row of 24 numbers is read as it lies"
    x = np.random.default_rng(0).standard_normal((7, 2, 24)).astype(np.float32)
    got = loaded(text, tmp_path).run(torch.from_numpy(x).to(DEVICE)).cpu().numpy()
    np.testing.assert_array_equal(got, x.transpose(0, 2, 1))


@pytest.mark.parametrize("pad", [0, 1])
def test_places_of_a_window_are_read_side_by_side_in_one_load_where_a_mask_keeps_them(pad, tmp_path):
    """No place is clamped, lanes past the ends are left out, and what does not vary along a row is added first."""
    m, j, y, z, o = nq.axes("m j y z o", m=2, j=5, y=9, z=40, o=16)
    p, q, c = nq.axes("p q c", p=7 + 2 * pad, q=38 + 2 * pad, c=45)
    at = nq.index(c)
    row, column = nq.index(p) + at // 3 % 3 - pad, nq.index(q) + at % 3 - pad
    seen = nq.take(nq.take(nq.take(nq.array("x", m, j, y, z), j, at // 9), y, row), z, column)
    if pad:
        seen = nq.where((row >= 0) & (row < 9) & (column >= 0) & (column < 40), seen, 0.0)
    diagram = Diagram("window", (("out", nq.sum(seen * nq.array("w", o, c), c)),)).laying(out=("m", "o", "p", "q"))
    derivation = nq.derive(diagram, "h100", dtype="float32", precision="tf32")
    assert [output.translation.status for output in derivation.outputs] == ["agrees"]
    text = derivation.triton()
    (read,) = [line for line in text.splitlines() if "tl.load(x_ptr" in line]
    assert "mask=" in read and "tl.minimum" not in text and "tl.maximum" not in text
    place = read.partition("mask=")[0]
    assert place.count("]") == place.count("[") <= 3  # one sum for each coordinate
    random = torch.Generator().manual_seed(0)
    x, w = (torch.randn(size, generator=random) for size in ((2, 5, 9, 40), (16, 5, 3, 3)))
    got = loaded(text, tmp_path).run(x.to(DEVICE), w.reshape(16, 45).contiguous().to(DEVICE)).cpu()
    torch.testing.assert_close(got, torch.nn.functional.conv2d(x, w, padding=pad), rtol=1e-2, atol=2e-2)


def test_a_short_loop_that_contracts_is_walked_as_one_with_the_loop_around_it(tmp_path):
    """Of axes that no tiles make up each is a loop; only where all trips are known, and few, are two of them one."""
    t, k, r, e, d = nq.axes("t k r e d", t=1, k=8, r=4, e=136, d=4096)
    product = nq.sum(nq.array("O", t, k, r, e) * nq.array("W", k, r, e, d), k, r, e)
    made = nq.derive(product, "h100", dtype="float16", printer="triton")
    text = made.triton()
    loops = [line.strip() for line in text.splitlines() if "tl.range(" in line]
    assert [", flatten=True" in line for line in loops] == [True, False]
    random = np.random.default_rng(0)
    o, w = (random.integers(-4, 5, shape).astype(np.float16) for shape in ((1, 8, 4, 136), (8, 4, 136, 4096)))
    got = loaded(text, tmp_path).run(*(torch.from_numpy(array).to(DEVICE) for array in (o, w))).cpu().numpy()
    exact = o.reshape(1, -1).astype(np.float32) @ w.reshape(-1, 4096).astype(np.float32)
    np.testing.assert_array_equal(got, exact.astype(np.float16))
    (kernel,) = made.plan.kernels
    (outer,) = (s for s in kernel.body if isinstance(s, Loop))
    (part,) = outer.parts
    (inner,) = (s for s in part.body if isinstance(s, Loop))
    assert flattened(kernel, outer) and not flattened(kernel, inner)
    for bound in ("many", 17 * kernel.coord(inner.coord).tile):
        longer = replace(inner, parts=(replace(inner.parts[0], hi=bound),))
        body = tuple(longer if s is inner else s for s in part.body)
        assert not flattened(kernel, replace(outer, parts=(replace(part, body=body),)))


def test_a_precision_is_of_products_of_float32():
    i, k, j = nq.axes("i k j", i=512, k=512, j=512)
    product = nq.sum(nq.array("a", i, k) * nq.array("b", j, k), k)
    for precision, printed in (("tf32", True), ("", False)):
        text = nq.derive(product, "h100", dtype="float32", printer="triton", precision=precision).triton()
        assert ('input_precision="tf32"' in text) == printed
    wrong: tuple[dict[str, object], ...] = (
        *({"precision": word} for word in ("tf64", None, ["tf32"])),
        {"dtype": "bfloat16", "precision": "tf32"},
        {"max_error": 1.0},
    )
    for asked in wrong:
        with pytest.raises(NapkinError, match="of products of float32"):
            nq.derive(scaled(X), **{"dtype": "float32", "precision": "tf32", **asked})


def test_a_place_is_added_part_by_part_only_where_no_part_passes_31_bits(tmp_path):
    """Of x[i - j, i] each of i and j times the length of a row passes them, and their difference does not."""
    i, j, a, b = nq.axes("i j a b", i=1040, j=1040, a=2, b=2**21)
    place = nq.index(i) - nq.index(j)
    read = nq.take(nq.take(nq.array("x", a, b), a, place), b, nq.index(i))
    text = nq.derive(nq.where((place >= 0) & (place < 2), read, 0.0), dtype="float32", limit=5).triton()
    x = torch.randn(2, 2**21, generator=torch.Generator().manual_seed(0))
    got = loaded(text, tmp_path).run(x.to(DEVICE)).cpu().numpy()
    rows, columns = np.ogrid[:1040, :1040]
    wanted = np.where((rows >= columns) & (rows < columns + 2), x.numpy()[(rows - columns).clip(0, 1), rows], 0)
    np.testing.assert_array_equal(got, wanted)


def test_a_place_that_a_part_of_a_loop_is_sure_of_is_kept_inside_before_the_loop(tmp_path):
    q, n, z = nq.axes("q n z", q=300, n=300, z=20000)
    place = nq.index(q) - 100
    read = nq.take(nq.array("A", n), n, place)
    term = nq.sum(nq.relu(read + nq.array("B", z)), z, where=nq.index(z) <= place) + read
    text = nq.derive(term, dtype="float32").triton()
    first, second = (torch.randn(size, generator=torch.Generator().manual_seed(1)) for size in (300, 20000))
    got = loaded(text, tmp_path).run(A=first.to(DEVICE), B=second.to(DEVICE)).cpu().numpy()
    own, rest = first.double().numpy(), second.double().numpy()
    seen = [own[max(at, 0)] for at in range(-100, 200)]
    wanted = [np.maximum(s + rest[: max(at + 1, 0)], 0).sum() + s for s, at in zip(seen, range(-100, 200), strict=True)]
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-3)


def test_a_place_that_is_doubled_many_times_is_told_in_time():
    """What is computed of a value twice at each step is walked once."""
    x, t, w = nq.axes("x t w", x=50, t=7, w=3)
    place = nq.index(t) + nq.index(w)
    for _ in range(24):
        place = (place + place) % 50
    begun = time.process_time()
    nq.derive(nq.take(nq.array("A", x), x, place), dtype="float32", limit=8, printer="triton").triton()
    assert time.process_time() - begun < 60
