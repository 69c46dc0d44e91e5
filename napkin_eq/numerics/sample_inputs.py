"""Families of inputs that break wrong kernels, stated over a diagram's inputs alone; nothing is known of what it
computes.

A family says what each array of numbers holds, given its shape and which of its axes are folded; what masks and
integers hold; which elements are spoilt (NaN or infinite); and how long the axes are. The same family and seed give the
same arrays.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.dtypes import BY_NAME, TYPES
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Fold, Index, Input, Map, Read, Reduce, Scan, subterms

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

# Largest finite number, least positive one.
MOST_ELEMENTS = 2**28  # of an array that is drawn
RANGE = {t.name: (t.top, 2 * t.half) for t in TYPES if t.storage}


@dataclass(frozen=True, slots=True)
class Place:
    """An array of numbers to fill: its shape, which of its axes the diagram folds, its number among the inputs, its
    storage type.
    """

    random: np.random.Generator
    shape: tuple[int, ...]
    folded: tuple[bool, ...]
    number: int
    dtype: str

    def normal(self) -> Array:
        return self.random.standard_normal(self.shape)

    def along(self, at: int) -> Array:
        """Return the coordinates along one axis, shaped to broadcast."""
        import numpy as np

        return np.arange(self.shape[at]).reshape([-1 if i == at else 1 for i in range(len(self.shape))])

    def lanes(self) -> list[int]:
        """Return the axes that are folded, all of them where none is."""
        return [i for i, folded in enumerate(self.folded) if folded] or list(range(len(self.shape)))

    def ramp(self, falling: bool = False) -> Array:
        """Return numbers up to 1 that grow, or fall, along every folded axis, from 1 / length."""
        import numpy as np

        found = np.ones(self.shape)
        for at in self.lanes():
            step = (self.along(at) + 1) / self.shape[at]
            found = found * (1 + 1 / self.shape[at] - step if falling else step)
        return found


Numbers = Callable[[Place], Any]
Sizes = Callable[[int], int]


@dataclass(frozen=True, slots=True)
class Family:
    """One family: `numbers` fills arrays of reals; the rest says what is unlike a random draw.

    kept: which lanes of folded axes the masks keep: "some" at random, "last" half, "none". spoil: "nan" or "inf", put
    where the diagram keeps it from some outputs ("masked") or anywhere ("everywhere"). size: a folded axis's length
    from its tile.
    """

    name: str
    says: str
    numbers: Numbers = Place.normal
    kept: str = "some"
    spoil: str = ""
    where: str = ""
    size: Sizes | None = None


@dataclass(frozen=True, slots=True)
class Drawn:
    """Inputs by name; `spoilt` marks elements that hold NaN or infinity, `clean` holds ordinary numbers there."""

    clean: dict[str, Any]
    spoilt: dict[str, Any]
    value: float

    @property
    def arrays(self) -> dict[str, Any]:
        """The inputs as the kernel gets them."""
        import numpy as np

        return {
            name: np.where(self.spoilt[name], self.value, array) if name in self.spoilt else array
            for name, array in self.clean.items()
        }


def _one(place: Place) -> Any:
    import numpy as np

    found = np.zeros(place.shape)
    found[tuple(int(place.random.integers(n)) for n in place.shape)] = 1.0
    return found


def _with(place: Place, found: Any, last: bool, value: float) -> Any:
    """Put a value at one lane of every folded axis, the last or any."""
    import numpy as np

    chosen = np.ones(place.shape, bool)
    for at in place.lanes():
        lane = place.shape[at] - 1 if last else int(place.random.integers(place.shape[at]))
        chosen = chosen & (place.along(at) == lane)
    return np.where(chosen, value, found)


def _tail(place: Place) -> Any:
    return _with(place, 0.25 * place.normal(), True, 24.0)


def _outlier(place: Place) -> Any:
    return _with(place, place.normal(), False, 40.0)


def _products(place: Place) -> Any:
    """One entry of 512 in each row, the rest 0: two of them multiply to 2^18, past the range of float16."""
    import numpy as np

    if not place.shape:
        return np.asarray(512.0)
    rows = sum((place.along(at) for at in range(len(place.shape) - 1)), np.zeros((), int))
    return np.where((rows + place.along(len(place.shape) - 1)) % place.shape[-1] == 0, 512.0, 0.0) * np.ones(
        place.shape
    )


def _counted(place: Place) -> Any:
    import numpy as np

    count = int(np.prod(place.shape))
    return 64.0 * np.arange(count).reshape(place.shape) / count


def _subnormal(place: Place) -> Any:
    least = RANGE[place.dtype][1]
    return least * place.random.integers(-100, 101, place.shape)


def _opposed(place: Place) -> Any:
    """Below zero in every input but the first: products of the first two are large and negative."""
    import numpy as np

    size = np.abs(place.normal()) + 72.0
    return size if place.number == 0 else -size


def _negative(place: Place) -> Any:
    """Below zero in every input, in the first far below what is often taken for a very small number."""
    return _below(place) if place.number else 100.0 * _below(place) - 10000.0


def _below(place: Place) -> Any:
    import numpy as np

    return -np.abs(place.normal()) - 1.0


def _alternating(place: Place) -> Any:
    """Numbers near 500, of one sign in every other lane of each folded axis and of the other in the rest."""
    signs = sum((place.along(at) for at in place.lanes()), 0)
    return (500.0 + place.normal()) * (1.0 - 2.0 * (signs % 2))


def _top(place: Place) -> Any:
    import numpy as np

    return np.clip(place.normal(), -3.0, 3.0) * (RANGE[place.dtype][0] / 4.0 if place.dtype == "float16" else 2.0**40)


def _full(value: float) -> Numbers:
    import numpy as np

    return lambda place: np.full(place.shape, value)


def _families() -> dict[str, Family]:
    found = (
        Family("normal", "standard normal numbers"),
        Family("large", "numbers sixteen times as large", lambda p: 16.0 * p.normal()),
        Family(
            "negative",
            "negative numbers, those of the first input large, axes of a tile and a half",
            _negative,
            size=lambda tile: tile + tile // 2,
        ),
        Family("opposed", "large numbers whose products are negative", _opposed),
        Family("growing", "numbers that grow along every folded axis, tile after tile", lambda p: 48.0 * p.ramp()),
        Family("falling", "numbers that fall along every folded axis", lambda p: 48.0 * p.ramp(falling=True)),
        Family("outlier", "one lane of every folded axis forty times as large", _outlier),
        Family("tail", "the last lane of every folded axis dominates", _tail),
        Family("constant", "all numbers alike", _full(5.5)),
        Family("index", "each element its own number, in order", _counted),
        Family(
            "ties",
            "few different numbers, so that most are equal to others",
            lambda p: p.random.integers(-2, 3, p.shape) * 1.0,
        ),
        Family("one-hot", "one element 1, the others 0", _one),
        Family("products", "products past the range of float16, sums within that of float32", _products),
        Family("subnormal", "numbers below the least normal one of the storage type", _subnormal),
        Family("negative-zero", "negative zeros", _full(-0.0)),
        Family("offset", "numbers far from zero that differ little", lambda p: 24.0 + p.normal()),
        Family("far", "numbers a thousand from zero that differ little", lambda p: 1000.0 + p.normal()),
        Family("alternating", "large numbers of alternating sign, whose sums are small", _alternating),
        Family("tiny", "very small numbers", lambda p: 2.0 ** (-12 if p.dtype == "float16" else -20) * p.normal()),
        Family(
            "top",
            "very large numbers: near the largest of float16, else those whose products of three float32 holds",
            _top,
        ),
        Family("late", "masks that keep the last half of a folded axis: whole tiles are masked first", kept="last"),
        Family("nothing", "masks that keep nothing: whole rows are masked", kept="none"),
        Family("nan-masked", "NaN where the diagram keeps it from outputs", kept="last", spoil="nan", where="masked"),
        Family(
            "inf-masked", "infinity where the diagram keeps it from outputs", kept="last", spoil="inf", where="masked"
        ),
        Family("nan", "a NaN, which must reach every output that depends on it", spoil="nan", where="everywhere"),
        Family("size-1", "axes of one element", size=lambda tile: 1),
        Family(
            "size-below",
            "axes one shorter than their tile, negative numbers",
            _below,
            size=lambda tile: max(1, tile - 1),
        ),
        Family("size-tile", "axes as long as their tile", size=lambda tile: tile),
        Family(
            "size-above",
            "axes one longer than their tile, numbers whose products are negative",
            _opposed,
            size=lambda tile: tile + 1,
        ),
    )
    return {family.name: family for family in found}


def family(name: str) -> Family:
    """Return a family by name; raises NapkinError for one that there is not."""
    known = families()
    if name not in known:
        raise NapkinError(f"unknown family {name!r:.60}; one of {', '.join(known)}, or all")
    return known[name]


_known: dict[str, Family] = {}


def families() -> dict[str, Family]:
    """Return all families by name, that of plain random numbers first."""
    if not _known:
        _known.update(_families())
    return _known


def applies(diagram: Diagram, chosen: Family) -> bool:
    """Tell whether a family can differ from random numbers for a diagram: one about masks needs an input that makes
    masks.
    """
    return chosen.kept == "some" or bool(chosen.where) or any(node.kind != "real" for node in diagram.inputs())


def folded_axes(diagram: Diagram) -> set[str]:
    """Return the names of the axes that a diagram folds or scans."""
    return {node.axis.name for node in subterms(diagram.term) if isinstance(node, (Reduce, Fold, Scan))}


def resized(diagram: Diagram, chosen: Family, sizes: Mapping[str, int], tiles: Mapping[str, int]) -> dict[str, int]:
    """Return the sizes that a family asks for: of every axis with a tile, the rest as they are; multiples
    are kept to.
    """
    if chosen.size is None:
        return dict(sizes)
    multiple = {axis.name: axis.multiple for axis in diagram.axes()}
    wanted = {name: chosen.size(tile) for name, tile in tiles.items() if name in sizes}
    return {**sizes, **{name: -(-size // multiple[name]) * multiple[name] for name, size in wanted.items()}}


def draw(diagram: Diagram, chosen: Family, sizes: Mapping[str, int], dtype: str, seed: int) -> Drawn:
    """Draw the inputs of a diagram, exactly representable in the storage type and within the facts that are declared of
    them.
    """
    import numpy as np

    random = np.random.default_rng([seed, zlib.crc32(chosen.name.encode())])
    folded = folded_axes(diagram)
    clean: dict[str, Any] = {}
    number = 0
    for node in diagram.inputs():
        shape = tuple(sizes[axis.name] for axis in node.dims)
        if math.prod(shape) > MOST_ELEMENTS:
            count = f"{math.prod(shape):.3g} elements"
            raise NapkinError(f"input {node.name}: {count} are too many to be tried; give it fewer axes")
        if node.kind == "bool":
            clean[node.name] = _mask(random, chosen.kept, shape, [axis.name in folded for axis in node.dims])
        elif node.kind == "int":
            most = min(reach(diagram, node, sizes), int(BY_NAME[node.dtype].whole[1]) + 1)
            clean[node.name] = _integers(random, chosen.kept, shape, most).astype(node.dtype)
        else:
            held = dtype if node.dtype == "float" else node.dtype
            values = chosen.numbers(
                Place(random, shape, tuple(axis.name in folded for axis in node.dims), number, held)
            )
            clean[node.name] = nearest(meeting(node.facts, np.asarray(values, np.float64)), held)
            number += 1
    return Drawn(
        clean, _spoilt(diagram, chosen, clean, sizes, random), {"": 0.0, "nan": np.nan, "inf": np.inf}[chosen.spoil]
    )


def _mask(random: Any, kept: str, shape: tuple[int, ...], folded: list[bool]) -> Any:
    import numpy as np

    if kept == "some":
        return random.random(shape) < 0.5
    found = np.full(shape, kept == "last")
    for at, (length, is_folded) in enumerate(zip(shape, folded, strict=True)):
        if is_folded and kept == "last":
            line = np.arange(length).reshape([-1 if i == at else 1 for i in range(len(shape))])
            found = found & (line >= length // 2)
    return found


def _integers(random: Any, kept: str, shape: tuple[int, ...], most: int) -> Any:
    import numpy as np

    return (
        np.zeros(shape, int)
        if kept == "none"
        else np.full(shape, (most - 1) // 2)
        if kept == "last"
        else random.integers(0, most, shape)
    )


def reach(diagram: Diagram, node: Input, sizes: Mapping[str, int]) -> int:
    """Return one more than the largest useful integer: a coordinate's axis, or the axis that it is compared with."""
    for term in subterms(diagram.term):
        if isinstance(term, Read) and node in subterms(term.index):
            return sizes[term.axis.name]
    for term in subterms(diagram.term):
        if isinstance(term, Map) and term.op in ("lt", "le", "eq") and node in subterms(term):
            return max((sizes[t.axis.name] for t in subterms(term) if isinstance(t, Index)), default=7) + 1
    return 8


def _spoilt(
    diagram: Diagram, chosen: Family, clean: Mapping[str, Any], sizes: Mapping[str, int], random: Any
) -> dict[str, Any]:
    """Mark the elements to spoil: one anywhere, or those that some output is kept from by every diagram's
    own choices.
    """
    import numpy as np

    from napkin_eq.numerics.error_bound import error_bound

    found: dict[str, Any] = {}
    named = {axis.name for axis in diagram.axes()}
    for node in diagram.inputs() if chosen.spoil else ():
        marked = np.zeros(clean[node.name].shape, bool)
        if node.kind != "real":
            continue
        if chosen.where == "everywhere":
            marked[tuple(int(random.integers(n)) for n in marked.shape)] = True
            return {node.name: marked}
        marked[
            tuple(
                slice(None) if name not in folded_axes(diagram) else slice(0, 1) for name in (a.name for a in node.dims)
            )
        ] = True
        for candidate in (marked, np.flip(marked)):
            bounds = error_bound(
                diagram.term,
                clean,
                {n: s for n, s in sizes.items() if n in named},
                "float32",
                unknown={**found, node.name: candidate},
            )
            if any(np.isfinite(bound).any() for bound in bounds):
                found[node.name] = candidate
                break
    return found


def nearest(values: Any, dtype: str) -> Any:
    """Return float64 numbers rounded to the nearest ones of a storage type, ties to even."""
    import numpy as np

    from napkin_eq.lang.numpy_semantics import held

    return held(values, BY_NAME[dtype]).astype(np.float64)


def meeting(facts: tuple[str, ...], values: Any) -> Any:
    """Return values changed as little as the declared facts of an input ask for."""
    import numpy as np

    if facts:
        values = np.where(np.isneginf(values), 0.0, values)  # an absent value has no sign and no size
    if "nonneg" in facts or "pos" in facts:
        values = np.abs(values)
    if "pos" in facts or "nonzero" in facts:
        values = values + np.where(values < 0, -0.125, 0.125)
    for fact in facts:
        if fact.startswith("abs<="):
            # 0.99: rounding to the storage type must not lift a value over the bound.
            values = np.clip(
                values, -0.99 * float(fact.removeprefix("abs<=")), 0.99 * float(fact.removeprefix("abs<="))
            )
    return values


def number(axis: Axis, sizes: Mapping[str, int]) -> int:
    """Return the size of an axis; raises NapkinError for a symbolic one that is given none."""
    found = axis.size if axis.size is not None else sizes.get(axis.name)
    if found is None:
        raise NapkinError(
            f"axis {axis.name} is symbolic and a run needs a number: give one with --set {axis.name}=SIZE"
        )
    return found
