"""A graph too large for one integer program, in sections: parts between waists, equal ones covered once.

Layers of a network are such parts: what repeats is looked for first, from the end, and what is left is cut where it
gets too large. A section is a diagram of its own over arrays of names that say only where they come, so that equal
sections are the same terms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from napkin_eq.cover.graph import contractions, facts_of
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.evaluate import output_order
from napkin_eq.lang.term import Input, Term, subterms
from napkin_eq.lang.waists import part, waists, within
from napkin_eq.laws.law import Judgment, finite
from napkin_eq.machine.cost import elements

WHOLE = 12  # contractions of a graph that is covered as one
LEAST, MOST, DEEPEST = 3, 16, 300  # contractions of what repeats, and of any section, and its nesting
ENDS = 12  # waists, from the last, at which what repeats may end
COMPARED = 400  # parts that are held against each other, to find what repeats


@dataclass(frozen=True, slots=True)
class Section:
    """Values of a diagram, `outputs`, made of others: as terms over arrays, and what each array stands for; how outputs
    are stored.

    The last outputs are what the next section begins with, a waist, or outputs of the diagram.
    """

    outputs: tuple[Term, ...]
    terms: tuple[Term, ...]
    arrays: Mapping[Input, Term]
    orders: tuple[tuple[Axis, ...], ...]
    own: bool = True  # whether its axes are named apart from those of others


def whole(outputs: Sequence[Term]) -> Section:
    """Return the section that is all of a graph."""
    return Section(tuple(outputs), tuple(outputs), {}, tuple(map(output_order, outputs)))


def sections(
    outputs: Sequence[Term], proved: Callable[[Judgment], bool], ends: Sequence[Sequence[Term]] = ()
) -> list[Section]:
    """Return the sections of a graph, producers first; one of a graph that is small enough, or has no waist.

    The last has all outputs of the diagram; where they cannot be in one, or some size is not known, nothing is cut.
    ends: values with which sections end, where these are known; the axes of such sections keep their names.
    """
    terms = subterms(*outputs)
    if ends:
        found = [replace(section, own=False) for section in _made(outputs, ends, proved)]
        return found if set(found[-1].outputs) == set(outputs) else [whole(outputs)]
    small = contractions(terms) <= WHOLE and max(t.depth for t in outputs) <= DEEPEST
    if small or any(a.size is None for t in terms for a in t.axes):
        return [whole(outputs)]
    largest = max(elements(t.axes) for t in terms if isinstance(t, Input) or t in outputs)
    listed = [w for w in waists(outputs) if elements(w.axes) <= largest and proved(finite(w))]
    found = _made(outputs, [(waist,) for waist in _chosen(listed, outputs)], proved)
    return found if set(found[-1].outputs) == set(outputs) else [whole(outputs)]


def _chosen(listed: list[Term], outputs: Sequence[Term]) -> list[Term]:
    """Return the waists to cut at: around what repeats most, and in the rest wherever a section would get too large."""
    left = iter(range(COMPARED))
    runs = [
        run for end in range(max(0, len(listed) - ENDS), len(listed) + 1) for run in _runs(listed, end, outputs, left)
    ]
    run = max(runs, key=lambda r: (r[0], len(r[1])), default=(0, []))[1]
    found: list[Term] = []
    place = {waist: i for i, waist in enumerate(listed)}
    for i, waist in enumerate(listed):
        if waist in run:
            found.append(waist)
        elif not run or i < place[run[0]] or i > place[run[-1]]:
            ahead = listed[i + 1 : i + 2] or list(outputs)
            size = within(ahead, dict.fromkeys(found))
            if contractions(size) > MOST or _depth(size) > DEEPEST:
                found.append(waist)
    return found


def _runs(listed: list[Term], end: int, outputs: Sequence[Term], left: Iterator[int]) -> list[tuple[int, list[Term]]]:
    """Return sequences of waists, equal parts between them, that end with one: how many terms each spans, and its
    waists.

    end: the place of the last; beyond all waists, the only output. left: is drawn from for each part that is held
    against another.
    """
    if end == len(listed) and (len(outputs) != 1 or outputs[0] in listed):
        return []
    last = listed[end] if end < len(listed) else outputs[0]
    found = []
    for start in range(end - 1, -1, -1):
        size = within([last], {listed[start]: None})
        if contractions(size) > MOST:
            break
        if contractions(size) < LEAST:
            continue
        if next(left, None) is None:
            break
        shape = _shape(last, listed[start])
        run, span = [listed[start], *([last] if end < len(listed) else [])], len(size)
        while (before := _before(run[0], listed, shape, len(size), left)) is not None:
            span += len(size)
            if isinstance(before, Input):
                break
            run.insert(0, before)
        if span > len(size):
            found.append((span, run))
    return found


def _before(end: Term, listed: list[Term], shape: Term, size: int, left: Iterator[int]) -> Term | None:
    """Return where a part of this shape begins that ends with a waist: at another, or at an array; None where there is
    none.
    """

    def alike(begin: Term) -> bool:
        return next(left, None) is not None and _shape(end, begin) is shape

    place = listed.index(end)
    for start in range(place - 1, -1, -1):
        among = within([end], {listed[start]: None})
        if len(among) > size:
            break
        if len(among) == size and alike(listed[start]):
            return listed[start]
    arrays = [t for t in within([end], {}) if isinstance(t, Input) and {*t.axes} == {*end.axes}]
    return next((a for a in arrays if len(within([end], {a: None})) == size and alike(a)), None)


def _shape(last: Term, first: Term) -> Term:
    """Return what lies between two values over arrays whose names say only where they come: equal parts are
    one term.
    """
    given = {first: Input("begin", output_order(first))}
    arrays = [t for t in within([last], given) if isinstance(t, Input)]
    return part([last], given | {a: Input(f"a{i}", *a.fields[1:]) for i, a in enumerate(arrays)})[0]


def _depth(terms: Sequence[Term]) -> int:
    """Return how deep some terms nest, those among them that are made of others among them."""
    depths: dict[Term, int] = {}
    for term in terms:
        depths[term] = 1 + max((depths.get(c, 0) for c in term.children), default=0)
    return max(depths.values(), default=0)


def _made(
    outputs: Sequence[Term], chosen: Sequence[Sequence[Term]], proved: Callable[[Judgment], bool]
) -> list[Section]:
    """Return the sections that end with chosen values, each with the outputs that none before it has; the last has the
    rest.
    """
    given: dict[Term, Term] = {}
    left, found = list(outputs), list[Section]()
    for ends in [*chosen, None]:
        if ends is None:
            own = left
        else:
            among = {*within(ends, given)}
            own = [*(o for o in left if o in among and o not in ends), *(end for end in ends if end not in given)]
        left = [o for o in left if o not in own]
        if not own:
            continue
        begun = {t: array for t, array in given.items() if t not in own}
        leaves = dict.fromkeys(c for t in within(own, begun) for c in t.children if c in begun or isinstance(c, Input))
        names = {t: Input(f"a{i}", *begun.get(t, t).fields[1:]) for i, t in enumerate(leaves)}
        found.append(
            Section(
                tuple(own), part(own, names), {array: t for t, array in names.items()}, tuple(map(output_order, own))
            )
        )
        for output in own:
            if output.kind == "real" and proved(finite(output)):
                given[output] = Input("given", output_order(output), "float", facts_of(output, proved))
    return found
