"""Threads of a warp read side by side what lies side by side, also where places are computed and held
inside an array.
"""

from __future__ import annotations

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.term import Index, Input, Read, Term, as_real
from napkin_eq.tile.ir import Buffer, Coord, Kernel, Load, Plan, StoreTile
from napkin_eq.tile.printers import emit
from tests import plans
from tests.codegen.test_triton import DEVICE, loaded

torch = pytest.importorskip("torch")
ROWS, COLUMNS = Axis("r", 24), Axis("c", 40)
X = Input("x", (ROWS, COLUMNS), "float")


def scaled(term: Term) -> Diagram:
    return Diagram("scaled", (("out", term * as_real(Index(ROWS) + 1)),))


def test_a_tile_of_places_held_inside_is_read_along_its_rows(tmp_path):
    text = nq.derive(scaled(Read(X, COLUMNS, Index(COLUMNS) * 2 + 1)), dtype="float32", limit=5).triton()
    assert "[None, :] * 40" in text and "(1, 0))" in text and "tl.permute(tl.load(" in text
    x = np.random.default_rng(0).standard_normal((24, 40)).astype(np.float32)
    got = loaded(text, tmp_path).run(torch.from_numpy(x).to(DEVICE)).cpu().numpy()
    places = np.minimum(np.arange(40) * 2 + 1, 39)
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
