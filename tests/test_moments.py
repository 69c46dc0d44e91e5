"""Moments from their definitions: carried in one pass, with a certificate that is accepted, and as exact as two passes."""

import numpy as np
import pytest

import napkin_eq.library as nq
from napkin_eq.derive import derive
from napkin_eq.diagram import Diagram
from napkin_eq.evaluate import evaluate
from napkin_eq.term import Input, Online, subterms


def arrays(width):
    t, x = nq.axes("t x", t=2, x=width)
    facts = {"A": (), "B": (), "W": ("pos",)}
    return *(nq.array(name, t, x, dtype="float32", facts=some) for name, some in facts.items()), x


def moment(name, width):
    a, b, w, x = arrays(width)
    u, v = a - nq.mean(a, x), b - nq.mean(b, x)
    total = nq.sum(w, x)
    y, z = a - nq.sum(w * a, x) / total, b - nq.sum(w * b, x) / total
    return {
        "covariance": lambda: nq.mean(u * v, x),
        "weighted variance": lambda: nq.sum(w * y * y, x) / total,
        "weighted covariance": lambda: nq.sum(w * y * z, x) / total,
        "third": lambda: nq.mean(u**3, x),
        "fourth": lambda: nq.mean(u**4, x),
        "correlation": lambda: nq.sum(u * v, x) / nq.sqrt(nq.sum(u * u, x) * nq.sum(v * v, x)),
        "from half the mean": lambda: nq.sum(w * (a - 0.5 * nq.mean(a, x)) * v, x),
    }[name]()


MOMENTS = ("covariance", "weighted variance", "weighted covariance", "third", "fourth", "correlation", "from half the mean")


def form(name, width):
    """Return the derivation of a moment without products multiplied out, which would cancel."""
    return derive(Diagram("moment", (("out", moment(name, width)),)), dtype="float32", without=("factor",))


# Of third and fourth powers the bound of the carried form is over the factor that admission allows: two passes are taken.
@pytest.mark.parametrize("name", [name for name in MOMENTS if name not in ("third", "fourth")])
def test_a_moment_is_carried_in_one_pass(name):
    found = form(name, 65536)
    assert found.report()["passes"] == {"x": 1}
    assert any(law.startswith("carry") for law in found.report()["laws"])
    assert any(isinstance(part, Online) for part in subterms(found.term))
    assert found.report()["certificate"]["status"] == "proved"


def families(rng):
    sign = np.where(np.arange(4096) % 2, 1.0, -1.0)
    normal = rng.standard_normal((2, 4096))
    yield from ((f"offset {offset:g}", normal + offset) for offset in (0, 10, 1000, 1e5))
    yield "small", normal * 1e-6
    yield "large", normal * 1e6
    yield "alternating", 500 * sign + normal
    yield "constant", np.full((2, 4096), 3.25)
    yield "one", np.where(np.arange(4096) == 17, 1.0, 0.0) + np.zeros((2, 1))


@pytest.mark.parametrize("name", MOMENTS)
def test_it_is_as_exact_as_its_definition_in_two_passes(name):
    found, source = form(name, 4096).term, moment(name, 4096)
    rng = np.random.default_rng(0)
    for family, numbers in families(rng):
        other = rng.standard_normal((2, 4096)) * np.abs(numbers).mean() * 0.1
        given = {"A": numbers, "B": numbers + other, "W": rng.uniform(0.5, 2.0, (2, 4096))}
        names = {part.name for part in subterms(source) if isinstance(part, Input)}
        data = {name: given[name].astype(np.float32) for name in sorted(names)}
        exact = evaluate(source, {name: array.astype(float) for name, array in data.items()})
        naive = np.abs(evaluate(source, data, dtype="float32") - exact)
        carried = np.abs(evaluate(found, data, block=512, dtype="float32") - exact)
        # Two passes may be right by chance: besides, what the rounding of the inputs does to the exact value is allowed.
        allowed = 8 * (naive + shaken(source, data, exact, rng)).max() + 2.0**-22 * np.abs(exact).max()
        assert carried.max() <= allowed + (2.0**-20 * np.abs(numbers).max()) ** 3, family


def shaken(source, data, exact, rng):
    """Return how far off a value is where every input is off by up to a roundoff of float32, the most of some draws."""
    off = []
    for _ in range(6):
        moved = {name: array * (1 + rng.uniform(-1, 1, array.shape) * 2.0**-24) for name, array in data.items()}
        off.append(np.abs(evaluate(source, moved) - exact))
    return np.max(off, axis=0)


def test_what_is_multiplied_out_is_not_as_exact():
    """The same measure refuses the sum of products less the product of the sums: at an offset it cancels."""
    a, b, _, x = arrays(4096)
    rng = np.random.default_rng(0)
    data = {n: (rng.standard_normal((2, 4096)) + 1000).astype(np.float32) for n in ("A", "B")}
    source = moment("covariance", 4096)
    exact = evaluate(source, {name: array.astype(float) for name, array in data.items()})
    cancelling = evaluate(nq.mean(a * b, x) - nq.mean(a, x) * nq.mean(b, x), data, dtype="float32")
    naive = np.abs(evaluate(source, data, dtype="float32") - exact)
    assert (np.abs(cancelling - exact) > 100 * (naive + shaken(source, data, exact, rng))).all()
