"""Threads of a warp read side by side what lies side by side, also where places are computed and held inside an array."""

from __future__ import annotations

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.term import Index, Input, Read, Term, as_real
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
