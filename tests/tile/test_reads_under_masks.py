"""What masks say of places: what a choice keeps inside of an array is read as it lies, under the mask."""

from __future__ import annotations

import pytest

import napkin_eq.frontend.library as nq
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Const, Index, Length, Map, Read, Scan, Term
from napkin_eq.pipeline.derive import derive
from napkin_eq.search.derivation import AGREES
from napkin_eq.tile.ir import Load, statements
from napkin_eq.tile.places import lies_inside, told, unsure, within
from napkin_eq.verify.index.prove_index import proved
from tests.arrays import assert_agrees

ROWS, M = Axis("i", 6), Axis("m", 128)
AT = Index(M)


def _array(name: str, size: int, *before: Axis) -> Term:
    return nq.array(name, *before, Axis(f"{name}_at", size))


def _sizes(diagram: Diagram) -> dict[str, int]:
    return {axis.name: axis.size for axis in diagram.axes() if axis.size is not None}


def _read(array: Term, place: Term) -> Read:
    return Read(array, array.axes[-1], place)


def _lt(one: Term, other: Term) -> Map:
    return Map("lt", (one, other))


def test_a_mask_bounds_what_is_moved_from_what_it_compares() -> None:
    moved = Map("add", (AT, Const(-100)))
    assert within(moved, []) == (-100, 27)
    assert within(moved, [Map("not", (_lt(AT, Const(100)),))]) == (0, 27)
    assert within(moved, [_lt(AT, Const(110))]) == (-100, 9)
    assert not lies_inside(moved, Axis("x", 27), [Map("not", (_lt(AT, Const(100)),))])
    assert lies_inside(moved, Axis("x", 28), [Map("not", (_lt(AT, Const(100)),))])


def test_a_size_known_only_at_launch_bounds_what_is_compared_with_it() -> None:
    axis, moved = Axis("n"), Map("add", (AT, Const(3)))
    assert not lies_inside(moved, axis, [])
    assert lies_inside(moved, axis, [_lt(AT, Map("add", (Length(axis), Const(-3))))])
    assert not lies_inside(moved, axis, [_lt(AT, Map("add", (Length(axis), Const(-2))))])


def test_what_data_say_is_believed_of_no_place_but_where_a_mask_asks() -> None:
    place = nq.array("p", ROWS, dtype="int32")
    assert not lies_inside(place, Axis("x", 2**31), [])
    assert lies_inside(place, Axis("x", 9), [_lt(place, Const(9)), Map("le", (Const(0), place))])


def test_of_the_masks_around_a_read_those_are_told_that_bound_it() -> None:
    a, b = _array("a", 64), _array("b", 64)
    other = _lt(Map("mul", (AT, AT)), Const(50))
    near = nq.where(_lt(AT, Const(64)), nq.where(other, _read(a, AT), 0.0), _read(b, Map("add", (AT, Const(-64)))))
    found = {read.body: masks for read, masks in told(near)}
    assert found == {a: (_lt(AT, Const(64)),), b: (Map("not", (_lt(AT, Const(64)),)),)}
    assert [axis.size for _, axis in unsure(near)] == [64, 64]


@pytest.mark.parametrize("sizes", [(64, 64), (100, 28), (1, 127), (50, 77, 1), (37, 29, 62)])
def test_parts_that_are_joined_are_read_as_they_lie(sizes: tuple[int, ...]) -> None:
    parts = [_array(f"p{n}", size, ROWS) for n, size in enumerate(sizes)]
    term: Term = _read(parts[-1], Map("add", (AT, Const(-sum(sizes[:-1])))))
    for at in range(len(parts) - 2, -1, -1):
        ends = sum(sizes[:at])
        place = Map("add", (AT, Const(-ends))) if ends else AT
        term = nq.where(_lt(AT, Const(ends + sizes[at])), nq.exp(_read(parts[at], place)), term)
    found = derive(Diagram("joined", (("out", term),)), "h200", "float32")
    loads = [s for s in statements(found.plan.kernels[0].body) if isinstance(s, Load)]
    assert len(loads) == len(sizes) and all(load.masks for load in loads)
    assert "minimum" not in found.code()
    assert found.outputs[0].translation.status == AGREES
    assert proved(found).verdict == "proved"
    assert_agrees(found, _sizes(found.diagram))


def test_what_all_lanes_make_up_is_read_in_all_of_them() -> None:
    """A prefix of what is chosen from wants lanes that the choice does not."""
    axis = Axis("m_at", 128)
    far = Read(_array("a", 128, ROWS), Axis("a_at", 128), Map("add", (Index(axis), Const(-30))))
    chosen = nq.where(Map("le", (Const(30), Index(axis))), Scan("sum", axis, far), 7.0)
    found = derive(Diagram("prefix", (("out", chosen),)), "h200", "float32")
    assert "minimum" in found.code()
    assert_agrees(found, _sizes(found.diagram))


def test_masks_that_compare_axes_are_held_in_small() -> None:
    rows, columns = Axis("j", 1024), Axis("k", 1024)
    masked = nq.where(Map("le", (Index(columns), Index(rows))), nq.array("x", Axis("i", 16), rows, columns), -9.0)
    found = derive(Diagram("lower", (("out", masked),)), "h200", "float16")
    assert found.outputs[0].translation.status == AGREES


def test_what_is_read_at_ever_more_places_is_refused() -> None:
    from napkin_eq.lang.substitute import substituted

    term: Term = _array("a", 128)
    axis = term.axes[0]
    with pytest.raises(NapkinError, match="read at other places it has more than 100,000 parts"):
        for step in range(1, 40):
            both = [substituted(term, {axis.name: Map("add", (Index(axis), Const(by * step)))}) for by in (-1, 1, 2)]
            term = Map("add", (Map("add", (both[0], both[1])), Map("mul", (both[2], Index(axis)))))


def test_one_number_that_is_stored_has_no_place_outside() -> None:
    a = _array("a", 128)
    kept = nq.where(Map("le", (Const(3), AT)), _read(a, Map("add", (AT, Const(-3)))), 1.0)
    found = derive(Diagram("whole", (("out", nq.sum(kept, M)),)), "h200", "float32")
    assert proved(found).verdict == "proved"
    assert_agrees(found, _sizes(found.diagram))
