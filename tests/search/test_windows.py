"""Windows over what contractions give, as pooling has them: one kernel, window by window, nothing stored before."""

from __future__ import annotations

import random

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.certify.asked import same
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.term import Const, Index, Input, Read, Reduce, Term, subterms
from napkin_eq.pipeline.derive import derive
from napkin_eq.search.unfolded import unfolded


def convolution(n: int, c: int, o: int, size: int) -> tuple[Term, Axis, Axis]:
    """Return a 3 × 3 convolution of n pictures, and the axes of its places."""
    pictures, channels, out = Axis("n", n), Axis("c", c), Axis("o", o)
    rows, columns, p, q = Axis("h", size + 2), Axis("w", size + 2), Axis("p", size), Axis("q", size)
    r, s = Axis("r", 3), Axis("s", 3)
    seen = Read(nq.array("X", pictures, channels, rows, columns), rows, Index(p) + Index(r))
    seen = Read(seen, columns, Index(q) + Index(s))
    product = seen * nq.array("W", out, channels, r, s)
    return nq.sum(nq.sum(nq.sum(product, s), r), channels), p, q


def pooled(value: Term, p: Axis, q: Axis, side: int, monoid: str, first: int = 0) -> Term:
    """Return what windows, side by side from a first place on, hold of a value."""
    count = ((p.size or 0) - first) // side
    a, b, i, j = Axis("a", count), Axis("b", count), Axis("i", side), Axis("j", side)
    held = Read(value, p, Index(a) * Const(side) + Index(i) + Const(first))
    held = Read(held, q, Index(b) * Const(side) + Index(j) + Const(first))
    return Reduce(monoid, i, Reduce(monoid, j, held))


def read_elsewhere(term: Term) -> list[Term]:
    return [t for t in subterms(term) if isinstance(t, Read) and not isinstance(t.body, (Input, Read))]


@pytest.mark.parametrize("size, side, first", [(8, 2, 0), (9, 2, 0), (11, 3, 1)])
@pytest.mark.parametrize("monoid", ["max", "sum"])
def test_windows_side_by_side_are_computed_where_they_are_read(size: int, side: int, first: int, monoid: str) -> None:
    """Also where lanes are left over that no window has."""
    value, p, q = convolution(2, 3, 4, size)
    term = pooled(nq.tanh(value), p, q, side, monoid, first)
    (made,) = unfolded([term])
    assert read_elsewhere(term) and not read_elsewhere(made)
    draw = np.random.default_rng(3)
    arrays = {
        i.name: draw.standard_normal([a.size or 1 for a in i.dims]) for i in subterms(term) if isinstance(i, Input)
    }
    np.testing.assert_allclose(evaluate(made, arrays), evaluate(term, arrays), rtol=1e-12)


def test_what_windows_share_with_others_is_read_where_it_is_made() -> None:
    """A number less its mean is no array beside the numbers; what takes two arrays, or is an output, is one."""
    value, p, q = convolution(2, 3, 4, 9)
    mean = nq.sum(nq.sum(value, q), p) * Const(1 / 81)
    off = value + (-1.0) * mean
    spread = nq.sum(nq.sum(off * off, q), p)
    (made,) = unfolded([pooled(off * spread, p, q, 3, "max")])
    assert {t.body for t in read_elsewhere(made)} == {value}
    shown, made = unfolded([nq.tanh(value), pooled(nq.tanh(value), p, q, 3, "max")])
    assert {t.body for t in read_elsewhere(made)} == {shown}


def test_windows_that_overlap_read_what_is_stored() -> None:
    value, p, q = convolution(2, 3, 4, 9)
    a, i = Axis("a", 4), Axis("i", 3)
    term = Reduce("max", i, Read(value, p, Index(a) * Const(2) + Index(i)))
    assert unfolded([term]) == (term,)


@pytest.mark.parametrize("monoid", ["max", "sum"])
def test_a_pooled_convolution_is_one_kernel_window_by_window(monoid: str) -> None:
    """An array of what is pooled would be four times the output's, and hold all that is slow about it."""
    value, p, q = convolution(16, 16, 64, 112)
    term = pooled(nq.tanh(value), p, q, 2, monoid)
    found = derive(Diagram("pooled", (("Y", term),)), "h200", dtype="float32", precision="tf32", limit=20)
    last = found.plan.kernels[-1]
    walked = {coord.axis.name for coord in last.coords if coord.role == "stream" and coord.tile == 1}
    assert {"i", "j"} <= walked
    large = 16 * 64 * 112 * 112
    stored = [buffer for kernel in found.plan.kernels for buffer in kernel.writes]
    assert all(np.prod([axis.size or 1 for axis in buffer.dims]) < large for buffer in stored)
    assert sum(o.placed.predicted_us for o in found.outputs) < 100


def test_windows_of_windows_read_what_the_first_give() -> None:
    """It is stored for next to nothing, and each fold stays one of few axes."""
    value, p, q = convolution(2, 3, 4, 17)
    first = pooled(value, p, q, 2, "max")
    a, b = (next(axis for axis in first.axes if axis.name == name) for name in "ab")
    term = nq.rename(first, {a: Axis("k", 8), b: Axis("l", 8)})
    term = pooled(term, Axis("k", 8), Axis("l", 8), 3, "max")
    (made,) = unfolded([term])
    assert {t.monoid for t in (r.body for r in read_elsewhere(made)) if isinstance(t, Reduce)} == {"max"}


def read_somewhere(rng: random.Random, value: Term, axis: Axis, number: int) -> Term:
    """Return what windows, a part, every few lanes or all of an axis hold; windows that meet begin beyond its end."""
    size, name = axis.size or 0, f"a{number}"
    kind = rng.choice(["windows", "part", "step", "name", "beyond", "back"])
    if kind == "windows":
        side = rng.randint(1, 2)
        step, first = rng.randint(side, 3), rng.randint(0, 1)
        place = Index(Axis(name, (size - first - side) // step + 1)) * Const(step) + Const(first)
        window = Axis(f"i{number}", side)
        return Reduce(rng.choice(["max", "sum", "prod"]), window, Read(value, axis, place + Index(window)))
    if kind == "beyond":
        window, place = Axis(f"i{number}", 3), Index(Axis(name, size - 1))
        return Reduce("max", window, Read(value, axis, place + Index(window) - Const(1)))
    if kind == "part":
        kept = rng.randint(1, size)
        return Read(value, axis, Index(Axis(name, kept)) + Const(rng.randint(0, size - kept)))
    if kind == "step":
        step = rng.randint(1, 3)
        return Read(value, axis, Index(Axis(name, (size - 1) // step + 1)) * Const(step))
    place = Index(Axis(name, size))
    return Read(value, axis, place if kind == "name" else Const(size - 1) - place)


@pytest.mark.parametrize("seed", range(120))
def test_whatever_is_read_of_whatever_is_shared_says_the_same(seed: int) -> None:
    """A read went down through another one, beyond whose end it took what is not the nearest."""
    rng = random.Random(seed)
    value, p, q = convolution(2, 2, 2, rng.randint(5, 8))
    values = [value]
    for _ in range(rng.randint(0, 4)):
        mean = nq.sum(value, p) * Const(1 / 8)
        ways = (nq.tanh(value), value + (-1.0) * mean, value * nq.array("H", p), value + rng.choice(values))
        values.append(value := rng.choice(ways))
    outputs = [*rng.sample(values, rng.randint(0, 1))]
    for number in range(rng.randint(1, 3)):
        found = read_somewhere(rng, rng.choice(values), p, 2 * number)
        outputs.append(read_somewhere(rng, found, q, 2 * number + 1) if rng.random() < 0.5 else found)
    made = unfolded(outputs)
    assert same(outputs, list(made), hasty=True)
    draw = np.random.default_rng(seed)
    inputs = {i.name: i.dims for i in subterms(*outputs) if isinstance(i, Input)}
    arrays = {name: draw.standard_normal([a.size or 1 for a in dims]) for name, dims in inputs.items()}
    for one, other in zip(outputs, made, strict=True):
        np.testing.assert_allclose(evaluate(other, arrays), evaluate(one, arrays), rtol=1e-9, atol=1e-9)
