"""Probes for false equalities: a saturated e-graph says that terms are equal; a few of each class are evaluated and
must be.

Laws are proved one by one, and egglog joins what they equate. This looks at the joint result, trusting neither: members
of every class, built from one representative of each class below them, in float64, at small sizes that differ from axis
to axis.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from napkin_eq.egraph.nodes import Saturated, built
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import axes_in
from napkin_eq.lang.scope import opened
from napkin_eq.lang.spans import resized
from napkin_eq.lang.term import Input, Term, Tuple, subterms

if TYPE_CHECKING:
    from napkin_eq.lang.numpy_semantics import Named

MEMBERS, TRIALS, BLOCK, TOLERANCE = 8, 2, 2, 1e-6
SIZES = (3, 4, 2, 5)
BRIEFLY = {"members": 2, "trials": 1, "most": 400}  # what every derivation takes the time for
Pair = tuple[Term, Term]


@dataclass(frozen=True, slots=True)
class Probed:
    """How many classes and members were compared, and what was found to be put on one footing falsely, one
    line each.
    """

    classes: int
    members: int
    false: tuple[str, ...]

    def __str__(self) -> str:
        said = (
            f"{self.members} members of {self.classes} classes compared in float64, {len(self.false)} false equalities"
        )
        return "\n".join([said, *self.false])


def probe(graph: Saturated, members: int = MEMBERS, trials: int = TRIALS, most: int | None = None) -> Probed:
    """Compare up to so many members of every class with its representative, on so many draws of random inputs.

    most: of more comparisons than these, as many, evenly chosen. A class that speaks of a running value of an enclosing
    stream is compared where that stream is.
    """
    pairs = list(_pairs(graph, members))
    pairs = pairs[:: -(-len(pairs) // most)] if most and pairs else pairs
    if not pairs:
        return Probed(0, 0, ())
    whole: Any = resized(Tuple(tuple(dict.fromkeys(t for pair in pairs for t in pair))), _small(graph))
    small = dict(zip(dict.fromkeys(t for pair in pairs for t in pair), whole.items, strict=True))
    false: dict[Pair, str] = {}
    for seed in range(trials):
        values = _Values(whole, seed)
        for pair in pairs:
            left, right = (values.of(small[side]) for side in pair)
            if pair not in false and not _agree(left, right):
                false[pair] = (
                    f"false equality: {pair[0]} is not {pair[1]}: {_shown(left)} and {_shown(right)} (draw {seed})"
                )
    return Probed(len({left for left, _ in pairs}), len(pairs), tuple(false.values()))


def _pairs(graph: Saturated, members: int) -> Iterator[Pair]:
    """Yield each class's representative with some other members, evenly chosen from its nodes."""
    for number, nodes in sorted(graph.classes.items()):
        first = graph.reps.get(number)
        if first is None:
            continue
        step = max(1, len(nodes) // members)
        for node in nodes[::step][:members]:
            if not all(child in graph.reps for child in node.children):
                continue
            try:
                other = built(node.kind, node.fields, tuple(graph.reps[child] for child in node.children), graph.leaves)
            except NapkinError:
                continue  # too deep to be written as a term
            if other is not first and not opened(first) and not opened(other):
                yield first, other


def _small(graph: Saturated) -> dict[str, int | None]:
    axes: dict[str, Axis] = (
        {axis.name: axis for term in graph.reps.values() for axis in axes_in(term)} if graph.reps else {}
    )
    return {name: SIZES[place % len(SIZES)] for place, name in enumerate(sorted(axes))}


class _Values:
    """The values of many terms over one draw of inputs, each part evaluated once."""

    def __init__(self, whole: Tuple, seed: int) -> None:
        import numpy as np

        from napkin_eq.lang.numpy_semantics import Run
        from napkin_eq.numerics.sample_inputs import meeting

        rng = np.random.default_rng(seed)
        sizes = {axis.name: axis.size for axis in axes_in(whole) if axis.size is not None}
        arrays: dict[str, Any] = {}
        for array in (t for t in subterms(whole) if isinstance(t, Input)):
            shape = tuple(sizes[axis.name] for axis in array.dims)
            if array.kind == "real":
                arrays[array.name] = meeting(array.facts, rng.standard_normal(shape))
            else:
                arrays[array.name] = rng.integers(0, 2 if array.kind == "bool" else max(SIZES), shape).astype(
                    array.dtype
                )
        self.run = Run(whole, arrays, sizes, BLOCK, "float64")

    def of(self, term: Term) -> Named:
        import numpy as np

        with np.errstate(all="ignore"):
            return self.run.top.value(term)


def _agree(left: Named, right: Named) -> bool:
    import numpy as np

    from napkin_eq.lang.numpy_semantics import aligned

    _, (a, b) = aligned(left, right)
    if a.dtype.kind != "f":
        return bool((a == b).all())
    with np.errstate(all="ignore"):
        near = np.abs(a - b) <= TOLERANCE * (1 + np.maximum(np.abs(a), np.abs(b)))
    # What float64 cannot hold tells nothing.
    lost = np.isnan(a) | np.isnan(b) | np.isposinf(a) | np.isposinf(b)
    return bool((near | lost | (a == b)).all())


def _shown(value: Named) -> str:
    parts = [f"{x:.6g}" for x in value.data.ravel()[:4]]
    return f"[{', '.join(parts)}{', …' if value.data.size > 4 else ''}]"
