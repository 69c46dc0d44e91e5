"""Copies undone: what is read under other names or along parts of an axis is computed so at once."""

from __future__ import annotations

import math

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.certify.asked import same
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.substitute import divided, folded, named_apart, settled
from napkin_eq.lang.term import Const, Index, Input, Map, Read, Reduce, Scan, Term, subterms
from napkin_eq.search.unfolded import one_to_one, unfolded

t, s, d, k, f = (Axis(name, size) for name, size in zip("tsdkf", (6, 6, 4, 12, 4), strict=True))
h, e, p = Axis("h", 3), Axis("e", 4), Axis("p", 2)
X, W = Input("X", (t, d)), Input("W", (d, k))


def heads(name: str, width: Axis = k) -> Term:
    return nq.split(nq.linear(X, nq.array(name, d, width), d), width, h, e)


def attention_of_merged_heads() -> Term:
    query, key, value = (heads(name) for name in ("Q", "K", "V"))
    key, value = nq.rename(key, {t: s}), nq.rename(value, {t: s})
    seen = nq.linear(nq.softmax(nq.sum(query * key, e), s), value, s)
    return nq.rename(nq.linear(nq.merge(seen, (h, e), k), nq.array("O", k, f), k), {f: d}) + X


def in_three_parts() -> Term:
    """A merged axis of three parts, folded with a mask along it."""
    parts = nq.sum(nq.array("A", t, h, p, e) * nq.array("B", s, h, p, e), s)
    wide = Axis("wide", 24)
    return nq.sum(nq.merge(parts, (h, p, e), wide) * nq.array("C", wide), wide, where=nq.index(wide) < 17)


TERMS = {
    "merged heads": attention_of_merged_heads,
    "a residual of another name": lambda: nq.rename(nq.linear(X, nq.array("F", d, f), d), {f: d}) + X,
    "split": lambda: nq.max(heads("Q"), e),
    "three parts": in_three_parts,
}


def values(term: Term) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(7)
    return {i.name: draw.standard_normal([a.size or 1 for a in i.dims]) for i in subterms(term) if isinstance(i, Input)}


def read_elsewhere(term: Term) -> list[Term]:
    return [r for r in subterms(term) if isinstance(r, Read) and folded(r.body, {r.axis.name})]


@pytest.mark.parametrize("name", TERMS)
def test_nothing_that_is_computed_is_read_at_other_coordinates(name: str) -> None:
    term = TERMS[name]()
    (made,) = unfolded([term])
    assert made is not term and not read_elsewhere(made)
    assert not any(r.monoid == "sum" and r.axis in (k, Axis("wide", 24)) for r in subterms(made) if type(r) is Reduce)
    assert same([term], [made]) and same([made], [term])
    np.testing.assert_allclose(evaluate(made, values(term)), evaluate(term, values(term)), rtol=1e-12)


def test_what_is_read_under_two_names_is_computed_once() -> None:
    """A value, or an array that it is made of."""
    row = nq.linear(X, W, d)
    for term in (
        nq.sum(row * nq.rename(row, {t: s}), k),
        nq.sum(nq.linear(X, W, d) * nq.rename(nq.linear(X, nq.array("V", d, k), d), {t: s}), k),
        nq.sum(row, k) + nq.sum(nq.sum(nq.split(row, k, h, e), e), h),
    ):
        assert unfolded([term]) == (term,)
    assert unfolded([row, nq.rename(row, {t: s})]) == (row, nq.rename(row, {t: s}))  # an output


def turned(halves: Axis, whole: Axis) -> Term:
    """Two halves of a row, turned by an angle each pair and joined again, as one writes it with slices."""
    x, angle = nq.array("x", t, whole), nq.array("a", t, halves)
    i, n = Index(whole), halves.size or 0

    def pair(first: bool, at: Term) -> Term:
        a, b = Read(x, whole, at), Read(x, whole, at + Const(n))
        cos, sin = (Read(f(angle), halves, at) for f in (nq.cos, nq.sin))
        return a * cos - b * sin if first else b * cos + a * sin

    return nq.where(i < n, pair(True, i), pair(False, i + Const(-n)))


def test_joined_halves_are_computed_once_at_each_place() -> None:
    term = turned(Axis("n", 4), Axis("w", 8))
    (made,) = unfolded([term])
    assert same([term], [made])
    np.testing.assert_allclose(evaluate(made, values(term)), evaluate(term, values(term)), rtol=1e-12)
    ops = [m.op for m in subterms(made) if isinstance(m, Map)]
    assert (ops.count("cos"), ops.count("sin")) == (1, 1)
    assert sum(isinstance(r, Read) and isinstance(r.body, Input) and r.body.name == "x" for r in subterms(made)) == 3
    # What nothing is gained by, or another value reads, stays
    choice = nq.where(Index(d) < 2, X * 2.0, nq.exp(X))
    both = nq.exp(X), nq.where(Index(d) < 2, nq.exp(X), nq.exp(nq.array("Y", t, d)))
    assert unfolded([choice]) == (choice,) and unfolded(both) == both


def test_axes_of_no_known_size_keep_their_reads() -> None:
    wide, other = Axis("wide"), Axis("other")
    term = nq.rename(nq.linear(X, nq.array("F", d, wide), d), {wide: other})
    assert unfolded([term]) == (term,)


def test_a_fold_is_split_only_where_folds_inside_are_at_parts_of_its_axis() -> None:
    pixels = nq.merge(nq.array("A", h, e), (h, e), k)
    term = nq.sum(pixels * nq.array("B", k), k)
    assert unfolded([term]) == (term,)


@pytest.mark.parametrize("index, axis, right", [
    (Index(t), s, True),
    (Index(h) * Const(4) + Index(e), k, True),
    (Index(e) + Index(h) * Const(4), k, True),
    (Index(e) * Const(3) + Index(h), k, True),
    (Index(h) * Const(3) + Index(e), k, False),  # some twice
    (Index(h) * Const(4) + Index(p), k, True),  # some never
    (Index(p) * Const(2) + Index(h), k, False),  # some twice, others never
    (Index(h) * Const(3) + Index(p) + Const(4), k, True),
    (Index(h) * Const(3) + Index(p) + Const(5), k, False),  # the last one lies outside
    (Index(h) * Const(4) + Index(p) + Const(-1), k, False),  # and the first one
    (Index(h) * Const(4) + Index(h), k, False),
    (Index(h) * Const(4) + Index(e) + Const(1), k, False),
    (Index(h) // Const(1), h, False),
])  # fmt: skip
def test_which_coordinates_take_no_place_twice(index: Term, axis: Axis, right: bool) -> None:
    assert one_to_one(index, axis) == right


def test_quotients_of_what_counts_two_axes() -> None:
    place = Index(h) * Const(4) + Index(e)
    assert divided(place // Const(4)) is Index(h) and divided(place % Const(4)) is Index(e)
    assert divided((Index(h) * Const(8) + Index(e)) // Const(4)) is Index(h) * Const(2)
    for kept in (place // Const(3), place % Const(8), (Index(h) * Const(4) - Index(e)) // Const(4), place // Index(e)):
        assert divided(kept) is kept


def test_heads_that_are_split_and_merged_make_no_copy() -> None:
    """A head is not computed again for each of its channels, and the residual is no kernel of its own."""
    q, m, many, width, whole, out = (
        Axis(name, size) for name, size in (("q", 512), ("m", 256), ("n", 4), ("w", 64), ("whole", 256), ("out", 256))
    )
    rows = nq.array("X", q, m)
    part = nq.split(nq.linear(rows, nq.array("V", m, whole), m), whole, many, width)
    merged = nq.merge(part * nq.rsqrt(nq.mean(part * part, width) + 1e-5), (many, width), whole)
    term = nq.rename(nq.linear(merged, nq.array("O", whole, out), whole), {out: m}) + rows
    found = nq.derive(nq.Diagram("heads", (("out", term),)))
    assert len(found.plan.kernels) <= 2
    assert sum(o.placed.predicted_us for o in found.outputs) < 20
    assert found.certificate["status"] == "proved"
    assert [o.translation.status for o in found.outputs] == ["agrees"]


KNOWN: dict[str, tuple[Term, Term]] = {
    "a mask of itself": (nq.where(nq.index(d) < nq.index(d), Scan("sum", t, X), X), X),
    "a place within its axis": (nq.where(nq.index(d) < 4, X, nq.exp(X)), X),
    "a mask in a mask": (nq.where((nq.index(d) < 9) & (nq.index(t) < 2), X, 0.0), nq.where(nq.index(t) < 2, X, 0.0)),
    "a read of what no more varies": (
        nq.take(nq.where(nq.index(k) < nq.index(k), nq.linear(X, W, d), nq.sum(X, d)), k, nq.index(f)) + nq.index(f),
        nq.sum(X, d) + nq.index(f),
    ),
    "a fold over no lane": (X + nq.sum(nq.exp(X), d, where=nq.index(d) < nq.index(d)), X + Const(0.0)),
}


@pytest.mark.parametrize("name", KNOWN)
def test_what_a_known_mask_leaves_out_is_computed_no_more(name: str) -> None:
    term, wanted = KNOWN[name]
    assert unfolded([term]) == (wanted,) and same([term], [wanted])
    given = values(term)
    assert np.array_equal(evaluate(term, given), evaluate(wanted, given))


def test_what_the_absent_value_absorbs_is_computed_no_more_and_an_output_keeps_its_axes() -> None:
    term = Const(-math.inf) / Scan("sum", t, nq.array("Y", d, t))
    (made,) = unfolded([term])
    assert not [part for part in subterms(made) if isinstance(part, (Input, Scan))] and same([term], [made])
    found = nq.derive(term)
    (kernel,) = found.plan.kernels
    assert [axis.name for axis in found.plan.outputs[0].dims] == ["d", "t"] and not kernel.reads


def test_what_may_not_be_a_number_is_not_equal_to_itself() -> None:
    for term in (nq.where(Map("eq", (X, X)), X, 0.0), nq.where(Map("le", (X, X)), X, 0.0)):
        assert unfolded([term]) == (term,)


def test_an_output_lies_as_the_diagram_says_whatever_it_is_made_of() -> None:
    mask, other = nq.array("M", d, dtype="bool"), nq.array("V", t, d)
    diagram = nq.Diagram("turned", (("out", nq.where(mask, other, other)), ("more", mask_of(other))))
    found = nq.derive(diagram)
    assert [[axis.name for axis in b.dims] for b in found.plan.outputs] == [["d", "t"], ["t", "d"]]


def mask_of(value: Term) -> Term:
    return nq.where(nq.index(d) < 2, value, nq.exp(value))


def test_a_name_is_of_one_axis_whatever_is_put_into_what() -> None:
    rows, other, narrow = Axis("b", 17), Axis("c", 65), Axis("b1", 4)
    weights, scales, few = Input("N0", (rows, other)), Input("N1", (rows, other)), Input("N2", (narrow,))
    value = Read(Map("exp", (scales * Reduce("sum", rows, weights),)), other, Index(rows))
    diagram = nq.Diagram("captured", (("out", Reduce("sum", narrow, value * few)),))
    captured = settled(diagram.outputs[0][1])
    sizes: dict[str, set[int | None]] = {}
    for term in subterms(captured):
        for axis in (*term.axes, *(f for f in term.fields if isinstance(f, Axis))):
            sizes.setdefault(axis.name, set()).add(axis.size)
    assert sizes["b1"] == {4, 17}, "this diagram would show nothing"
    (apart,) = named_apart([captured])
    assert same([captured], [apart])
    assert all(a.size == 4 for t in subterms(apart) for a in t.axes if a.name == "b1")
    assert named_apart([apart]) == (apart,)
    assert [o.placed.predicted_us > 0 for o in nq.derive(diagram, "h200", "float16", limit=10).outputs] == [True]
