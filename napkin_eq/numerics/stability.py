"""How much a form of a diagram loses to rounding that the diagram itself does not: bounds of both, side by side, on
small inputs.

Each form is bounded in float32 as it is written (error_bound.py), on small inputs of families that break forms which
cancel: far from zero, alternating in sign, constant rows, one element alone, zeros beside large numbers, tiny and very
large, so small and so large that a square passes the range, near the end of an exponential's range. The *growth* of a
form is the largest ratio, over families and elements, of its bound to that of what the diagram says, both with the
output rounded to its storage type. A form is admitted if that is at most FACTOR. Where the diagram itself has no bound,
as past the range of float32, nothing is asked.

A constant that is one over the length of an axis, as a mean may be written, is none over the fewer lanes of a trial,
and what cancels over all lanes does not cancel there: the forms of such a diagram are bounded once more with constants
of that many lanes in their place.

What a diagram compares may leave it absent for most of these inputs, so that they ask nothing either. The forms of such
a diagram are bounded once more with what it masks taken for an input, all of it there or some of it absent, and so with
other masks that it computes from numbers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from napkin_eq.egraph.budget import METER
from napkin_eq.egraph.nodes import Node, Saturated, built
from napkin_eq.lang.axis import Axis, named_anew
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import axes_in
from napkin_eq.lang.operators import ABSENT, OPS
from napkin_eq.lang.scope import opened
from napkin_eq.lang.term import Const, Input, Length, Map, Reduce, Size, Term, Tuple, rebuilt, subterms
from napkin_eq.numerics.ranges import overflowing
from napkin_eq.numerics.sample_inputs import RANGE, Family, Place, draw, family, folded_axes
from napkin_eq.tile.stream_facts import SPREAD

if TYPE_CHECKING:
    from napkin_eq.numerics.error_bound import Work

FACTOR = 8.0
FAR = 2000  # nodes: among more, what a value's most accurate form is, is not sought to the end
HIDDEN, SWEEPS = ("Store", "Group", "Walk", "Tuple"), 12
LEAST, MOST = 1e-60, 1e60
FAMILIES = ("normal", "offset", "far", "alternating", "constant", "one-hot", "tiny", "top")
# Numbers whose exponentials float32 holds, and not a product of two of these.
STEEP = Family("steep", "numbers near 60", lambda place: 60.0 + place.normal())
# Where the diagram is exact at a 0, a form may be off by as much as numbers beside it are large.
SPARSE = Family(
    "sparse",
    "zeros beside large numbers",
    lambda place: 64.0 * place.normal() * (place.random.random(place.shape) < 0.5),
)
# Squares of these pass the range of float32 where a diagram may scale them into it first. A narrower type holds no such
# numbers: of that, those near the ends of its own range.
VAST = Family(
    "vast",
    "numbers whose squares are too large for float32",
    lambda place: place.normal().clip(-3.0, 3.0) * min(2.0**90, _range(place)[0] / 4.0),
)
SLIGHT = Family(
    "slight",
    "numbers whose squares are too small for float32",
    lambda place: place.normal() * max(2.0**-90, _range(place)[1] * 2.0**12),
)
# Numbers of all sizes whose squares may pass the range of float32, beside others.
WILD = Family(
    "wild", "numbers of every size", lambda place: place.normal() * 10.0 ** place.random.integers(-25, 26, place.shape)
)
# An exponent whose exponential float32 just holds; how many times as large as normal numbers exponents are tried.
BRIM, BRIM_SCALES = 88.0, tuple(2.0**power for power in range(1, 11))
# A constant near the end of the range; how many inputs are looked at as masks; of several together, what each keeps.
HUGE, MASKS, MOSTLY = 2.0**100, 4, 0.75
TRIAL = "·family"  # the axis of the families; no axis of a diagram has this name
TOLD = 0.5  # of the families: where fewer have a bound and a value of an output, its masks are taken for inputs
GONE = 0.2  # of its elements: where more are absent, they are too
ABSENT_PART, PARTLY = 0.1, (family("normal"), WILD)  # of what these inputs hold, for these families
ALIKE = 1e-3  # how near two forms are, relative to their values, that are taken to be of the same masks
# Lanes of an axis that is folded, fewer where many are; of any other; of a block.
FOLDED, FREE, TILE = (24, 12, 8, 6, 4, 4), 2, 8


def _range(place: Place) -> tuple[float, float]:
    """Return the largest and the least number of an input's type, of float32 where it is computed in that."""
    return RANGE.get(place.dtype, RANGE["float32"])


def _probe(items: Sequence[Term]) -> Diagram:
    """Return a diagram of some values, named as no array of theirs is."""
    taken = {t.name for t in subterms(*items) if isinstance(t, Input)}
    return Diagram("probe", tuple((named_anew("out", taken), item) for item in items))


class Stability:
    """The bounds of forms of one source, in float32, all families at once."""

    def __init__(self, source: Term, dtype: str) -> None:
        import numpy as np

        from napkin_eq.numerics.roundoff import STORAGE, K, W

        items = source.items if isinstance(source, Tuple) else (source,)
        diagram = _probe(items)
        folded = folded_axes(diagram)
        long = FOLDED[min(len(folded), len(FOLDED)) - 1]
        # An axis that is shorter keeps its length: over one lane what is subtracted may be the whole.
        lanes = {a.name: long if a.name in folded else FREE for a in axes_in(source)}
        self.sizes: dict[str, int] = {
            a.name: -(-min(lanes[a.name], a.size or lanes[a.name]) // a.multiple) * a.multiple for a in axes_in(source)
        }
        families = (
            *map(family, FAMILIES), STEEP, SPARSE, VAST, SLIGHT, *_masks(source), *_brinks(source, self.sizes)
        )  # fmt: skip
        natural: list[Mapping[str, Any]] = [draw(diagram, one, self.sizes, dtype, 0).clean for one in families]
        natural += _brims(source, natural[0], self.sizes)
        self.trials = [_trial(source, natural, self.sizes, dtype, {})]
        long_axes = [a for a in axes_in(source) if a.name in folded and (a.size or 0) > self.sizes[a.name]]
        lengths = _lengths([(a.size or 1, self.sizes[a.name]) for a in long_axes])
        if any(_shorter(part, lengths) is not part for part in subterms(source)):
            self.trials.append(_trial(source, natural, self.sizes, dtype, {}, lengths))
        freed = _freed(source)
        if freed and any(self._told(item) < TOLD for item in items):
            # A form may show what is behind a mask, so that all inputs have values.
            both = Tuple((*items, *freed.values()))
            probe = _probe(both.items)
            drawn: list[Mapping[str, Any]] = []
            for one, part in (*((family(name), 0.0) for name in FAMILIES), *((f, ABSENT_PART) for f in PARTLY)):
                arrays, random = draw(probe, one, self.sizes, dtype, 0).clean, np.random.default_rng([len(drawn)])
                for node in freed.values():
                    held, gone = arrays[node.name], random.random(arrays[node.name].shape) < part
                    arrays[node.name] = held | (not part) if node.kind == "bool" else np.where(gone, ABSENT, held)
                drawn.append(arrays)
            self.trials.append(replace(_trial(both, drawn, self.sizes, dtype, freed), written=self.trials[0]))
        self.source, self.items = source, items
        self.unit, self.least, self.slight = *STORAGE[dtype], K * W
        self.known: dict[tuple[Hashable, Term, bool], float] = {}
        self.scores: dict[Hashable, float] = {}

    def cut(self, parts: Iterable[Axis]) -> None:
        """Give axes that count stretches of others their sizes, no larger ones than other axes that are folded have:
        forms may speak of them.
        """
        for part in parts:
            for trial in self.trials:
                trial.sizes.setdefault(part.name, min(part.size or 1, FOLDED[0]))

    def growth(self, term: Term) -> float:
        """Return how many times as large as the source's own the bound of a form is, at most; of several outputs the
        largest.
        """
        return self.growth_of(term.items if isinstance(term, Tuple) else (term,))

    def growth_of(self, forms: Sequence[Term]) -> float:
        """Return the growth of a form of each output, in the order of the source's."""
        return max(self.ratio(form, item, self.unit, self.least) for form, item in zip(forms, self.items, strict=True))

    def admits(self, term: Term) -> bool:
        """Tell whether a form of the whole source loses no more than FACTOR times what the source loses."""
        return self.growth(term) <= FACTOR

    def barred(
        self, graph: Saturated, factor: float, over: Callable[[], bool] = lambda: False
    ) -> frozenset[tuple[int, int]]:
        """Return the nodes, by class and place, that lose more than a factor over what their class can keep, however
        well their children are computed.

        What they are off by is looked at in all, and without what they share with the values that they refer to: that
        may cancel further on.
        over: tells when to end; a node that was not looked at by then is not barred.
        """
        return frozenset(self._lost(graph, self._forms(graph, over), factor, over))

    def losing(
        self,
        graph: Saturated,
        taken: Mapping[int, Mapping[int, Node]],
        kept: Mapping[int, Sequence[Term]],
        factor: float,
        over: Callable[[], bool],
    ) -> set[tuple[int, int]]:
        """Return those of some nodes that are barred: of few nodes far sooner than `barred` tells it of all.

        taken: the nodes, by class and place. kept: some forms of each class. Nodes that lose no more than the factor
        over these are not barred; of the others more accurate forms of their children are sought: down to values that
        the diagram has, where that is not far.
        """
        best: dict[tuple[int, int], Term | None] = {}

        def reference(number: int, depth: int = 0) -> Term | None:
            if number in graph.sources:
                return graph.sources[number]
            if (number, depth) not in best:
                nodes = [
                    n
                    for n in graph.classes[number]
                    if depth and n.kind not in HIDDEN and number not in n.children and not over()
                ]
                made = [form for node in nodes if (form := over_children(node, depth - 1)) is not None]
                best[number, depth] = min([*kept[number], *made], key=self.score, default=None)
            return best[number, depth]

        def over_children(node: Node, depth: int) -> Term | None:
            parts = [part for child in node.children if (part := reference(child, depth)) is not None]
            return _made(graph, node, parts) if len(parts) == len(node.children) else None

        def loses(number: int, node: Node, depth: int) -> bool:
            own, form = reference(number, depth), None if node.kind in HIDDEN else over_children(node, depth)
            return own is not None and form is not None and self._loses(form, own, factor)

        suspects = [(n, p, node) for n, nodes in taken.items() for p, node in nodes.items() if loses(n, node, 0)]
        closure: dict[int, None] = {}
        waiting = [c for number, _, node in suspects for c in (number, *node.children)]
        while waiting:
            number = waiting.pop()
            if number not in graph.sources and number not in closure:
                closure[number] = None
                waiting += [c for node in graph.classes[number] for c in node.children]
        places = {(n, p) for n, p, _ in suspects}
        if sum(len(graph.classes[number]) for number in closure) > FAR:
            return {(n, p) for n, p, node in suspects if loses(n, node, 1)}
        forms = self._forms(graph, over, {n for n, _, _ in suspects} | closure.keys(), places)
        return self._lost(graph, {n: forms[n] for n, _, _ in suspects}, factor, over) & places

    def _lost(
        self, graph: Saturated, forms: Mapping[int, Mapping[int, Term]], factor: float, over: Callable[[], bool]
    ) -> set[tuple[int, int]]:
        lost = set[tuple[int, int]]()
        for number, found in forms.items():
            if over():
                break
            if not found:
                continue
            reference = graph.sources[number] if number in graph.sources else min(found.values(), key=self.score)
            lost |= {(number, place) for place, form in found.items() if self._loses(form, reference, factor)}
        return lost

    def _loses(self, form: Term, reference: Term, factor: float) -> bool:
        return not opened(form) and any(
            self.ratio(form, reference, 0.0, 0.0, apart) > factor for apart in (False, True)
        )

    def _forms(
        self,
        graph: Saturated,
        over: Callable[[], bool],
        only: Set[int] | None = None,
        places: Set[tuple[int, int]] = frozenset(),
    ) -> dict[int, dict[int, Term]]:
        """Return a form for each node of each class, by its place: its children as the diagram writes them, others as
        accurate as is known.

        So a value and its negative are of one form: what they are off by is shared. only: the classes that are looked
        at, all where nothing is given; of those that the diagram has, only the nodes of `places`.
        """
        best: dict[int, Term] = dict(graph.sources)
        forms: dict[int, dict[int, Term]] = {number: {} for number in graph.classes}
        # Children first: a form that is made before the best ones of its parts are known is made again.
        order = sorted(graph.classes, key=lambda number: graph.reps[number].depth if number in graph.reps else 0)
        waiting = [
            (n, p, node)
            for n in order
            for p, node in enumerate(graph.classes[n])
            if node.kind not in HIDDEN and n not in node.children
        ]
        if only is not None:
            waiting = [
                (n, p, node) for n, p, node in waiting if (n, p) in places or (n in only and n not in graph.sources)
            ]
        for _ in range(SWEEPS):
            changed = False
            for number, place, node in waiting:
                if over():
                    return forms
                if any(child not in best for child in node.children):
                    continue
                form = _made(graph, node, [best[child] for child in node.children])
                if form is None or forms[number].get(place) is form:
                    continue
                forms[number][place], changed = form, True
                if number not in graph.sources and (number not in best or self.score(form) < self.score(best[number])):
                    best[number] = form
            if not changed:
                break
        return forms

    def score(self, form: Term) -> float:
        """Return a figure by which forms of one value are ordered, the most accurate first: the logarithms of their
        bounds, of all families.

        The mean of that of all that they are off by and of that of what they share with no other value.
        """
        import numpy as np

        key = _either_way(form)
        if key not in self.scores:
            found = 0.0
            if form.kind == "real" and not opened(form):
                METER.did("bound", len(self.trials))  # its parts have been
                with np.errstate(all="ignore"):
                    try:
                        for trial in self.trials:
                            told = trial.works[0].of(trial.swapped(form))
                            for error in (told.error, told.apart):
                                at = tuple(i for i, name in enumerate(error.names) if name != TRIAL)
                                norms = np.sqrt(np.square(error.data).mean(axis=at))
                                found += float(np.log(np.clip(norms, LEAST, MOST)).mean()) / 2
                    except NapkinError:
                        found = math.inf
            self.scores[key] = found + 1e-9 * form.depth
        return self.scores[key]

    def ratio(self, form: Term, reference: Term, unit: float, least: float, apart: bool = False) -> float:
        """Return the largest ratio of the bounds of two forms of one value, each rounded once more; 1 where they cannot
        be bounded. Of places and masks infinity, if rounding may change what it cannot change in the reference.

        apart: of what they are off by but for what they share with other values.
        """
        if form is reference or form.kind != "real" and all(part.kind != "real" for part in subterms(form)):
            return 1.0
        key = _either_way(form), reference, apart
        if key not in self.known:
            self.known[key] = self._ratio(form, reference, max(unit, self.slight), least, apart)
        return self.known[key]

    def _ratio(self, form: Term, reference: Term, unit: float, least: float, apart: bool) -> float:
        import numpy as np

        from napkin_eq.lang.numpy_semantics import aligned
        from napkin_eq.numerics.roundoff import FLUSHED

        most = 0.0
        METER.did("bound", len(self.trials) * len(subterms(form)))
        for trial in self.trials:
            with np.errstate(all="ignore"):
                try:
                    made, meant = trial.swapped(form), trial.swapped(reference)
                    pairs = [(work.of(made), work.of(meant)) for work in trial.works]
                except NapkinError:
                    return 1.0
                for found, own in pairs:
                    errors = (found.apart, own.apart) if apart else (found.error, own.error)
                    _, (error, bound, value, other) = aligned(*errors, own.value, found.value)
                    if form.kind == "real":
                        once = unit * np.where(np.isfinite(value), np.abs(value), 0.0) + least + FLUSHED
                        grown = np.where(np.isfinite(bound), (error + once) / (bound + once), 0.0)
                    else:
                        grown = np.where((bound == 0) & (error > 0), np.inf, 0.0)
                        value, other = value * 1.0, other * 1.0
                    if trial.freed or trial.lengths:
                        # A form whose masks or constants are written otherwise is another value here.
                        grown = np.where(
                            np.isclose(value, other, ALIKE, np.where(np.isfinite(error), error, 0.0)), grown, 0.0
                        )
                    most = max(most, float(grown.max(initial=0.0)))
        return most

    def _told(self, item: Term) -> float:
        """Return the part of the families for which an output has a bound and a value somewhere; none where much of it
        is absent.
        """
        import numpy as np

        from napkin_eq.lang.numpy_semantics import aligned

        with np.errstate(all="ignore"):
            try:
                found = self.trials[0].works[0].of(item)
            except NapkinError:
                return 1.0
            if found.value.data.dtype.kind != "f":
                return 1.0
            names, (error, value) = aligned(found.error, found.value, also=(TRIAL,))
            told = np.isfinite(error) & np.isfinite(value)
            if np.isneginf(value).mean() > GONE:
                return 0.0
            return float(told.any(axis=tuple(i for i, name in enumerate(names) if name != TRIAL)).mean())


@dataclass(frozen=True, slots=True)
class _Trial:
    """Bounds of terms over some inputs, all families at once, in float32 and where that is another type in the storage
    type; some masks are taken for inputs.

    bounded: whether constants near the end of the range are taken for smaller ones. lengths: of axes and of several
    together, with those of the trial, by which constants are taken for others. written: a trial in which masks are as
    they are written, which tells of those that a form writes otherwise.
    """

    works: tuple[Work, ...]
    sizes: dict[str, int]
    freed: Mapping[Term, Input]
    bounded: bool
    lengths: Mapping[int, int]
    done: dict[Term, Term]
    written: _Trial | None = None

    def swapped(self, form: Term) -> Term:
        """Return a term with the inputs that stand for its masks."""
        if not self.freed and not self.bounded and not self.lengths:
            return form
        for part in subterms(form) if form not in self.done else ():
            if part not in self.done:
                parts = tuple(self.done[child] for child in part.children)
                whole = _less(part) if self.bounded and _huge(part) else _shorter(part, self.lengths)
                node = self.freed[part] if part in self.freed else self._alike(part)
                self.done[part] = rebuilt(whole, parts) if node is None else node
        return self.done[form]

    def _alike(self, part: Term) -> Input | None:
        """Return the input that stands for a mask, or for what one keeps, which a form writes otherwise: it has the
        value of what the source writes, for all that is drawn.
        """
        import numpy as np

        from napkin_eq.lang.numpy_semantics import aligned

        if self.written is None or not _masks_some(part) or opened(part):
            return None
        work = self.written.works[0]
        for source, node in self.freed.items():
            if source.axes == part.axes and source.kind == part.kind:
                _, (own, other) = aligned(work.of(source).value, work.of(part).value)
                if np.allclose(own * 1.0, other * 1.0, ALIKE, 0.0, equal_nan=True):
                    return node
        return None


def _trial(
    source: Term,
    drawn: Sequence[Mapping[str, Any]],
    sizes: Mapping[str, int],
    dtype: str,
    freed: Mapping[Term, Input],
    lengths: Mapping[int, int] | None = None,
) -> _Trial:
    """Return bounds over inputs that are drawn, each array stacked along an axis of the families."""
    import numpy as np

    from napkin_eq.lang.numpy_semantics import Frame, Named, Run
    from napkin_eq.numerics.error_bound import Schedule, Work

    bounded = any(_huge(part) for part in subterms(source))
    found = _Trial((), {**sizes, TRIAL: len(drawn)}, freed, bounded, lengths or {}, {})
    run = Run(source, drawn[0], found.sizes, 2**40, "float64")
    for node in subterms(source):
        if isinstance(node, Input):
            order = np.argsort([d.name for d in node.dims])
            held = run.inputs[node]
            stacked = np.stack([one[node.name].transpose(order) for one in drawn]).astype(held.data.dtype)
            names = tuple(sorted((TRIAL, *held.names)))
            run.inputs[node] = Named(names, np.moveaxis(stacked, 0, names.index(TRIAL)))
    ways = {name: Schedule(TILE, TILE, True) for name in sizes}
    # In float32 throughout; and, of 16-bit inputs, with the computed operands of sums of products rounded to their
    # type.
    works = tuple(Work(Frame(run, {}, None), kind, planned=ways) for kind in dict.fromkeys(("float32", dtype)))
    # Where values lie is known of some forms and not of others that lose no more: none is told apart by that.
    for work in works:
        work.naive = True
    return replace(found, works=works)


def _masks(source: Term) -> list[Family]:
    """Return families by which an input is a mask of zeros and ones, where a large number may stand for what is masked:
    what the diagram keeps it keeps with all digits. So with several masks, all inputs or all but one.
    """
    parts = subterms(source)
    if not any(
        isinstance(part, Const) and part.kind == "real" and SPREAD < abs(part.value) < math.inf for part in parts
    ):
        return []

    def of(number: int, part: float, sign: float) -> Family:
        def drawn(place: Place) -> Any:
            kept = place.random.random(place.shape) < part
            return kept * 1.0 if place.number == number else sign * abs(place.normal()) if sign else place.normal()

        return Family(f"mask {number}", "zeros and ones in one input", drawn)

    def but(number: int) -> Family:
        def drawn(place: Place) -> Any:
            return place.normal() if place.number == number else (place.random.random(place.shape) < MOSTLY) * 1.0

        return Family(f"masks but {number}", "zeros and ones in all inputs but one", drawn)

    given = sum(isinstance(part, Input) for part in parts)
    inputs = min(MASKS, given)
    # So few lanes are drawn that of halves none may be kept where another choice keeps it.
    single = [of(number, *how) for number in range(inputs) for how in ((0.5, 0.0), (1.0, 1.0), (1.0, -1.0))]
    return [*single, *(but(number) for number in (-1, *range(inputs if given > 2 else 0)))]


def _brinks(source: Term, sizes: Mapping[str, int]) -> list[Family]:
    """Return families of numbers so large that a sum of them passes the range of float32 and a sum of what the diagram
    makes of each does not, where it scales what it sums down by a constant.

    Not of sums of products: a scale moves off these at no loss but near the end of the range, and costs an operand's
    place in the matrix unit where it stays.
    """
    found = dict[float, None]()
    for part in subterms(source):
        scale, lanes, body = 1.0, 1, part
        while isinstance(body, Reduce) and body.monoid == "sum":
            lanes, body = lanes * sizes.get(body.axis.name, FREE), body.body
        while isinstance(body, Map) and body.op in ("mul", "neg"):
            numbers = [_number(arg, sizes) for arg in body.args]
            if numbers.count(None) != 1:
                break
            scale *= math.prod(abs(number) for number in numbers if number is not None)
            body = body.args[numbers.index(None)]
        if lanes > 1 and 0.0 < scale < 1.0 and not (isinstance(body, Map) and body.op == "mul"):
            found.setdefault(RANGE["float32"][0] / (lanes * math.sqrt(scale)))

    def of(size: float) -> Family:
        def drawn(place: Place) -> Any:
            return (0.75 + 0.25 * place.random.random(place.shape)) * min(size, _range(place)[0] / 2.0)

        return Family("brink", "numbers whose sum passes the range of float32", drawn)

    return [of(size) for size in list(found)[:MASKS]]


def _brims(source: Term, arrays: Mapping[str, Any], sizes: Mapping[str, int]) -> list[Mapping[str, Any]]:
    """Return inputs scaled until the largest exponent of a term is near the end of the exponential's range, for terms
    that nothing keeps within it: what is made of such an exponential must not be multiplied by more than in the source,
    nor added up before it is made less.

    Inputs are scaled as they were drawn, which brings one lane there, and each of one number, which brings all lanes of
    all exponents; either by numbers of both signs.
    """
    import numpy as np

    from napkin_eq.lang.numpy_semantics import Run

    inputs = [part for part in subterms(source) if isinstance(part, Input)]
    kept = {part.name for part in inputs if any(fact.startswith("abs<=") for fact in part.facts)}  # as is promised

    given = {name: np.asarray(array) for name, array in arrays.items()}
    level = {name: np.ones_like(array) if array.dtype.kind == "f" else array for name, array in given.items()}

    def scaled(drawn: Mapping[str, Any], scale: float) -> dict[str, Any]:
        return {
            name: array * array.dtype.type(scale) if array.dtype.kind == "f" and name not in kept else given[name]
            for name, array in drawn.items()
        }

    def brim(exponent: Term, drawn: Mapping[str, Any], sign: int) -> dict[str, Any] | None:
        names = tuple(sorted(a.name for a in exponent.axes))

        def most(scale: float) -> float:
            value = Run(exponent, scaled(drawn, sign * scale), sizes, 2**40, "float64").array(exponent, names)
            return float(np.max(value, initial=ABSENT, where=np.isfinite(value)))

        below, above = 0.0, next((scale for scale in BRIM_SCALES if most(scale) > BRIM), math.inf)
        while above < math.inf and above - below > above / BRIM_SCALES[-1]:
            middle = (below + above) / 2
            below, above = (middle, above) if most(middle) <= BRIM else (below, middle)
        return scaled(drawn, sign * below) if below > 0.0 and BRIM - 1.0 < most(below) <= BRIM else None

    found: list[Mapping[str, Any]] = []
    for part in overflowing(source, BRIM)[:MASKS]:
        ways = ((drawn, sign) for drawn in (given, level) for sign in (1, -1))
        found += [made for way in ways if (made := brim(part.args[0], *way)) is not None]
    return found


def _number(term: Term, sizes: Mapping[str, int]) -> float | None:
    """Return what a term of constants and lengths is at some sizes, None of any other."""
    if isinstance(term, Const):
        return float(term.value)
    if isinstance(term, (Size, Length)):
        return float(sizes.get(term.axis.name, FREE))
    if not isinstance(term, Map) or term.op not in ("real", "neg", "inv", "mul"):
        return None
    numbers = [number for arg in term.args if (number := _number(arg, sizes)) is not None]
    if len(numbers) < len(term.args):
        return None
    if term.op == "inv":
        return 1.0 / numbers[0] if numbers[0] else 0.0
    return math.prod(numbers) * (-1.0 if term.op == "neg" else 1.0)


def _lengths(pairs: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Return the lanes of a trial by those of an axis, and of two or three axes together."""
    found: dict[int, int] = {}
    for count in (1, 2, 3):
        for chosen in itertools.combinations(pairs, count):
            found.setdefault(math.prod(n for n, _ in chosen), math.prod(lanes for _, lanes in chosen))
    return found


def _shorter(part: Term, lengths: Mapping[int, int]) -> Term:
    """Return a constant that is made of a length, or of one over it, or of its square, as it is of the trial's."""
    if not (isinstance(part, Const) and part.kind == "real" and math.isfinite(part.value) and part.value):
        return part
    for length, lanes in lengths.items():
        for power in (-1, 1, -2):
            times = abs(part.value) / float(length) ** power
            if any(math.isclose(times, number, rel_tol=1e-6) for number in (1.0, 2.0, 0.5)):
                return Const(part.value * (lanes / length) ** power)
    return part


def _huge(part: Term) -> bool:
    return isinstance(part, Const) and part.kind == "real" and HUGE <= abs(part.value) < math.inf


def _less(part: Term) -> Term:
    """Return a smaller constant, in the same ratio to others that are huge, to which numbers can be added within the
    range: with the largest one a sum has no bound, and nothing would be asked of its forms.
    """
    return Const(part.value / 2**28) if isinstance(part, Const) else part


def _freed(source: Term) -> dict[Term, Input]:
    """Return inputs that stand for what a mask leaves absent somewhere, and for other masks that compare numbers."""
    longest = max((len(node.name) for node in subterms(source) if isinstance(node, Input)), default=0)
    found: dict[Term, Input] = {}
    for part in subterms(source):
        if _masks_some(part) and not opened(part):
            choice = part.kind != "bool"
            if choice or any(isinstance(leaf, Input) for leaf in subterms(part)):
                name = f"freed{len(found)}".ljust(longest + 1, "x")
                found[part] = Input(name, part.axes, "float32" if choice else "bool")
    return found


def _masks_some(part: Term) -> bool:
    """Tell whether a term leaves numbers absent by a mask, or is a mask that compares numbers."""
    if not isinstance(part, Map):
        return False
    return (part.op == "where" and Const(ABSENT) in part.args) or (
        part.kind == "bool" and any(arg.kind == "real" for arg in part.args)
    )


def _made(graph: Saturated, node: Node, parts: Sequence[Term]) -> Term | None:
    """Return a node's term over forms of its children; None where these make no term, as one still varies along an axis
    that another has lost.
    """
    try:
        return built(node.kind, node.fields, tuple(parts), graph.leaves)
    except NapkinError:
        return None


def _either_way(form: Term) -> Hashable:
    """Return what forms that differ in the order of two operands have in common: they round alike."""
    commutes = isinstance(form, Map) and OPS[form.op].commutes
    return (form.op, frozenset(form.args)) if commutes else form
