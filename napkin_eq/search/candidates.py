"""The stages of a search that give plans: saturate, extract, place; and which axis to cut where processors
would idle.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

from napkin_eq.egraph.budget import Budget, Clock
from napkin_eq.egraph.nodes import Saturated
from napkin_eq.egraph.saturate import SAME_VALUE, saturate
from napkin_eq.lang.axis import Axis, minor, named_anew
from napkin_eq.lang.dtypes import BY_NAME, STORAGE, output_type
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.interval import interval, wide
from napkin_eq.lang.term import Fold, Index, Map, Online, Read, Reduce, Term, axis_names, rebuilt, rewritten, subterms
from napkin_eq.laws.law import Law
from napkin_eq.machine.cost import elements, extent, told_apart
from napkin_eq.numerics.accuracy import term_error
from napkin_eq.numerics.ranges import overflowing
from napkin_eq.numerics.stability import FACTOR, Stability
from napkin_eq.search.derivation import Output
from napkin_eq.search.extract import EXTRACTING, KEEP, Extractor
from napkin_eq.search.forms import Candidate
from napkin_eq.search.job import Cuts, Job
from napkin_eq.search.placement import PLACING, Offers, Placed, Placer, parallel
from napkin_eq.search.tiling import Tiled
from napkin_eq.tile import ir as p
from napkin_eq.tile.expected import expected
from napkin_eq.tile.resources import BYTES
from napkin_eq.tile.stream_facts import WINDOW

FINALISTS, SPREAD, SAME, STABLE = 3, 1.25, 1e-3, 0.45
Side = tuple[tuple[Axis, ...], bool]  # the axes of an operand that is computed, and whether out of sums
IDLE, LARGE, MOST_STRETCHES, LEAST_STRETCH = 0.6, 128, 64, 256
# Of a kernel without contraction: blocks for each SM, of which one reads while another computes, and the most stretches
SIDE_BY_SIDE, MOST_PLAIN = 2, 256
SOON = 0.35  # of the time of a launch, what a plan may take more than the least if nothing faster is worth a search
PARTED = 3  # forms with an axis cut, of which the first that has kernels is taken
CUT = 2.0  # times the seconds of a search that one has with an axis cut, whose e-graph is so many times as large
WIDE = 2  # coordinates of its outputs along which a block has more than one lane
# How many candidates extractions may try, one and all together, that are repeated without what made the last forms lose
# digits, before every node is looked at: where one extraction is long, several take the time that this needs.
REFINED, REFINED_EACH, REFINED_ALL = 6, 50_000, 120_000


@dataclass(frozen=True, slots=True)
class Stored:
    """How an output is stored: the name of its array, its type as plans call it, and the storage order of its axes."""

    name: str
    dtype: str
    dims: tuple[Axis, ...]


@dataclass(frozen=True, slots=True)
class Forms:
    """What placing the terms of an e-graph gave: the placements found, and the kernels tried that hold all
    of a term.
    """

    graph: Saturated
    placed: list[Placed]
    fused: list[Tiled]


def preferred(options: list[tuple[float, Output]]) -> Iterator[tuple[float, Output]]:
    """Yield plans, cheapest first, the more accurate of equally cheap ones before the other."""
    left = sorted(options, key=lambda o: o[1].placed.predicted_us)
    while left:
        cheap = [o for o in left if o[1].placed.predicted_us <= (1 + SAME) * left[0][1].placed.predicted_us]
        chosen = min(cheap, key=lambda o: o[0])
        left.remove(chosen)
        yield chosen


def saturated(job: Job, cuts: Cuts) -> Saturated:
    """Return the e-graph of all that the laws say is equal to what is sought, the axes of `cuts` folded a stretch at a
    time.
    """
    with job.aim.budget.clock.stage("saturate"):
        if cuts not in job.graphs:
            job.graphs[cuts] = saturate(job.source, job.laws.statements, cuts, budget=job.aim.budget)
        return job.graphs[cuts]


def extracted(job: Job, graph: Saturated, stability: Stability, cuts: Cuts) -> list[Term]:
    """Return the terms of an e-graph that are worth placing, cheapest first; raises NapkinError where there is none
    that can be computed, nor the diagram as it is written.
    """
    with job.aim.budget.clock.stage("extract"):
        stability.cut(part for part, _ in cuts)
        found = _candidates(job, graph, stability, {axis.name: part.name for part, axis in cuts})
        if not found and (cuts or not as_written(job, [])):
            names = ", ".join(job.names)
            raise NapkinError(
                f"diagram {job.diagram.name}: output {names} has no form that can be computed with these laws; leave"
                " fewer out"
            )
        return [c.term for c in _finalists(found, STORAGE[job.aim.dtype], job.source)] if found else []


def placed(job: Job, graph: Saturated, terms: Sequence[Term], cuts: Cuts) -> Forms:
    """Return the kernels of each of some terms of an e-graph, and of the diagram as it is written where these are
    fewer: what they store, their tiles, their price; raises NapkinError where none fits.
    """
    with job.aim.budget.clock.stage("extract"):
        budget, made = job.aim.budget, placer(job)
        made.parts = tuple(part for part, _ in cuts)
        found: list[Placed] = []
        for term in made.by_start(terms):
            if found and budget.over("placement", PLACING):
                break
            if (placement := made.best(term)) is not None:
                found.append(placement)
                budget.clock.note("placement", priced=len(made.solved), best_us=min(p.predicted_us for p in found))
        found += [] if cuts else _in_fewer(found, map(made.best, as_written(job, terms)))
        if not found:
            raise NapkinError(f"diagram {job.diagram.name}: {made.refusals[-1] if made.refusals else 'no plan fits'}")
        return Forms(graph, found, made.fused)


def together(job: Job, outputs: Sequence[Stored]) -> list[tuple[Placed, Cuts]]:
    """Return the forms of a job's outputs in one kernel, cheapest first.

    Where processors would idle also such as store something, in several kernels, as they are and with an axis cut. Each
    comes with what is cut: `saturated` has the e-graph that it is a form of.
    """
    aim, stability, made = job.aim, Stability(job.source, job.aim.dtype), placer(job)
    made.target_dtypes = tuple(o.dtype for o in outputs)

    def forms(graph: Saturated, cut: dict[str, str]) -> list[Term]:
        found = _candidates(replace(job, aim=aim), graph, stability, cut, alone=not cut)
        written = [] if cut else [streamed(job.source)]
        terms = [c.term for c in _finalists(found, STORAGE[aim.dtype], job.source)] if found else written
        made.orders |= {
            item: o.dims for t in (*terms, streamed(job.source)) for item, o in zip(parallel(t), outputs, strict=True)
        }
        return terms

    graph = saturated(job, ())
    terms = forms(graph, {})
    whole = list(filter(None, map(made.whole, terms)))
    whole += [] if whole else filter(None, map(made.whole, as_written(job, terms)))
    least = min((placed.predicted_us for placed in whole), default=math.inf)
    whole += filter(None, (made.turned(term, least) for term in terms))
    found: list[tuple[Placed, Cuts]] = [(placed, ()) for placed in whole]
    for part, axis in cuts_of(job, [t for placed, _ in found for t in placed.tiled]):
        items = parallel(job.source)
        if all(elements(item.axes) < aim.machine.chip.sms for item in items) and folded_once(items):
            found += [(placed, ()) for placed in filter(None, map(made.best, terms))]
        stability.cut([part])
        made.parts = (part,)
        # What the search for a whole kernel took is not taken of it, nor does what ended that end it
        aim = replace(aim, budget=Budget(CUT * job.aim.budget.seconds, Clock(seconds=aim.budget.clock.seconds)))
        made.budget = aim.budget
        cuts = ((part, axis),)
        apart = saturated(replace(job, aim=aim), cuts)
        parted = filter(None, map(made.best, forms(apart, {axis.name: part.name})[:PARTED]))
        found += [(placed, cuts) for placed in itertools.islice(parted, 1)]
    return sorted(found, key=lambda f: f[0].predicted_us)


def _in_fewer(found: Sequence[Placed], written: Iterable[Placed | None]) -> list[Placed]:
    """Return placements of what is as it is written that take fewer kernels than what was found, and less time, and
    walk along nothing: where there are blocks a form that goes through them once stands.
    """
    least, kernels = min(((p.predicted_us, len(p.tiled)) for p in found), default=(math.inf, math.inf))
    if kernels == 1:
        return []
    return [
        p
        for p in written
        if p is not None and (not found or (p.predicted_us < least and len(p.tiled) < kernels and at_once(p)))
    ]


def at_once(placed: Placed) -> bool:
    """Tell whether no kernel of a placement walks along an axis block by block."""
    return not any(c.role == "stream" for t in placed.tiled for c in t.kernel.coords)


def as_written(job: Job, others: Sequence[Term] | None = None) -> list[Term]:
    """Return a job's outputs as they are written, each reduction streamed, if the laws stream these and no exponential
    may pass the range of the storage type.

    others: further forms, of which it is to be none; if all of these hold such exponentials, it may too.
    """
    limit, term = BY_NAME[job.aim.dtype].exponent, streamed(job.source)
    known = {s.name for s in job.laws.statements}
    if not all(f"stream-{t.monoid}" in known for t in subterms(job.source) if isinstance(t, Reduce)):
        return []
    safe = not overflowing(term, limit) or (others is not None and all(overflowing(o, limit) for o in others))
    return [term] if safe and term not in (others or ()) else []


def soon(job: Job, made: Placer, least: float) -> Placed | None:
    """Return a job's outputs as they are written, in one kernel, if that takes little more than what any plan takes at
    the least, which is given in microseconds: what a search could save is a part of a launch.
    """
    limit = least + SOON * job.aim.machine.chip.launch_s * 1e6
    return next(filter(None, (made.whole(term, limit) for term in as_written(job))), None)


def folded_once(items: Sequence[Term]) -> bool:
    """Tell whether nothing that is folded is made of what other folds give, but for folds over several axes."""
    folds = [t for t in subterms(*items) if isinstance(t, Reduce)]
    bodies = (t.body for t in folds if not isinstance(t.body, Reduce) or t.body.monoid != t.monoid)
    return not any(isinstance(t, Reduce) for t in subterms(*bodies))


def streamed(term: Term) -> Term:
    """Return a term as it is written, each reduction streamed."""
    return rewritten(term, lambda t: Fold(t.monoid, t.axis, t.body, t.where) if isinstance(t, Reduce) else t)


def placer(job: Job) -> Placer:
    """Return what weighs the placements of a job's outputs under the placement laws among its laws."""
    aim, names = job.aim, {s.name for s in job.laws.statements}
    offers = Offers("level" in names, "group" in names, "walk" in names, "level-several" in names)
    dtypes = tuple(
        output_type(term.kind, aim.dtype, wide(term), aim.held.get(name)) for name, term in job.diagram.outputs
    )
    return Placer(
        job.names[0],
        dtypes,
        tuple(aim.order(name, term) if name in aim.laid else None for name, term in job.diagram.outputs),
        STORAGE[aim.dtype],
        aim.machine,
        offers,
        job.laws.proved,
        aim.printer,
        aim.precision,
        aim.budget,
        aim.priced,
    )


def cuts_of(job: Job, tiled: Sequence[Tiled]) -> Cuts:
    """Offer to cut the streamed axis of a kernel whose blocks leave processors idle, into as many stretches as give
    each a block.
    """
    machine = job.aim.machine
    if not any(c.name == "stretch" for s in job.laws.statements if isinstance(s, Law) for c in s.conditions):
        return ()
    idle = [
        t
        for t in tiled
        if _large_blocks(t.kernel) <= machine.chip.sms * IDLE and any(c.role == "stream" for c in t.kernel.coords)
    ]
    if not idle:
        return ()
    slow = max(idle, key=lambda t: t.cost.predicted_us)
    streams = [c for c in slow.kernel.coords if c.role == "stream"]
    runs = dict(slow.kernel.merged)  # of several axes that a loop walks the longest is cut
    axis = max((axis for c in streams for axis in runs.get(c.axis, (c.axis,))), key=extent)
    plain = not any(isinstance(s, p.Dot) for s in p.statements(slow.kernel.body))
    beside, most = (SIDE_BY_SIDE, MOST_PLAIN) if plain else (1, MOST_STRETCHES)
    wanted = max(2, beside * machine.chip.sms // _large_blocks(slow.kernel))
    count = min(1 << (wanted.bit_length() - 1), most, max(1, extent(axis) // LEAST_STRETCH))
    if count < 2:
        return ()
    name = named_anew(f"{axis.name}_part", axis_names(job.source))
    if axis.size is not None or not expected().counted:
        return ((Axis(name, count), axis),)
    expected().parts[name] = axis.name, count, most
    return ((Axis(name), axis),)


def _large_blocks(kernel: p.Kernel) -> int:
    """Return how many blocks a kernel has if tiles are as large as suits the matrix unit where blocks read the same, or
    parts of the same lines.

    A block is wide along two coordinates of its outputs at the most, those among them that it holds whole.
    """
    streamed = {c.axis for c in kernel.coords if c.role == "stream"}
    walked = {b.name for b in kernel.reads if streamed & set(b.dims)}
    read = [by_index for name, by_index in told_apart(kernel) if name in walked]
    stored = {axis for b in kernel.writes for axis in b.dims}
    whole = [c for c in kernel.coords if c.role == "whole" and c.tile > 1 and c.name not in kernel.grid]
    held = {c.axis for c in whole if c.axis in stored} - {kernel.coord(g).axis for g in kernel.grid}
    extents = {g: extent(kernel.coord(g).axis) for g in kernel.grid}
    # A last axis of one lane has no neighbours
    beside = {b.dims[minor(b.dims)] for b in kernel.reads if b.name in walked}
    beside -= streamed
    pairs = any(isinstance(s, p.Dot) for s in p.statements(kernel.body)) or not any(
        own >= {*kernel.grid} for own in read
    )
    shared = [g for g in kernel.grid if (pairs and not all(g in own for own in read)) or kernel.coord(g).axis in beside]
    shared.sort(key=lambda g: -min(extents[g], LARGE))
    wide = set(shared[: max(0, WIDE - len(held))])
    return math.prod(-(-extents[g] // LARGE) if g in wide else extents[g] for g in kernel.grid)


def _candidates(
    job: Job, graph: Saturated, stability: Stability, cut: dict[str, str], alone: bool = False
) -> list[Candidate]:
    """Extract with exponentials proved safe; only where there is no such form, with those that the source itself takes.

    Where a form of the root loses digits that the source keeps, more are sought, and in no class are such forms kept.
    """
    source, aim = job.source, job.aim
    limit = BY_NAME[aim.dtype].exponent
    shapes = [item.axes for item in parallel(source)]
    spread = any(s.name == SAME_VALUE for s in job.laws.statements)

    def declared(term: Term) -> Term:
        # A form may show that a value varies along fewer axes: the array has all that were declared.
        items = (
            tuple(along(item, axes) for item, axes in zip(parallel(term), shapes, strict=True))
            if spread
            else parallel(term)
        )
        return items[0] if term is parallel(term)[0] else rebuilt(term, items)

    def whole(term: Term) -> bool:
        # A form may also show that outputs are equal: each is an array.
        return [item.axes for item in parallel(term)] == shapes and len(set(parallel(term))) == len(shapes)

    def stable(term: Term) -> bool:
        return whole(term) and stability.admits(term)

    def strict(term: Term, given: bool) -> bool:
        low, high = interval(term)
        return high <= limit and (low >= -limit or given)

    def lenient(term: Term, given: bool) -> bool:
        return given or strict(term, given)

    exponentials = any(node.kind == "op_exp" for nodes in graph.classes.values() for node in nodes)
    barred: frozenset[tuple[int, int]] | None = None
    for admitted in (strict, lenient) if exponentials else (lenient,):
        storage = BYTES[STORAGE[aim.dtype]]
        extractor = partial(
            Extractor,
            graph,
            aim.machine,
            storage,
            admitted,
            cut,
            budget=aim.budget,
            written=aim.written,
            alone=alone,
            whole=declared,
        )
        lost, work = frozenset[tuple[int, int]](), 0
        held = dict[Term, Candidate]()  # what was accurate so far: what is left out for one form may be another one's
        for _ in range(REFINED):
            search = extractor(barred=lost, kept=whole)
            candidates = search.run()
            work += search.work
            found = [c for c in candidates if stability.admits(c.term)]
            held |= {c.term: c for c in found if c.term not in held}
            accurate = sorted(held.values(), key=lambda c: c.cost)
            if found and found[0] is candidates[0]:
                return accurate
            if search.work > REFINED_EACH or work > REFINED_ALL or aim.budget.over("extraction", EXTRACTING):
                break
            # What makes the cheapest forms lose is left out, and only that is looked for: to look at every node takes
            # far longer.
            losing = [c for c in candidates if c not in accurate]
            forms = {number: [c.term for c in kept] for number, kept in search.best.items()}
            worse = (
                stability.losing(
                    graph, search.taken(losing), forms, FACTOR, lambda: aim.budget.over("stability", STABLE)
                )
                - lost
            )
            if not worse:
                break
            lost |= worse
        if not candidates:
            continue
        if aim.budget.over("extraction", EXTRACTING):
            return accurate
        barred = (
            stability.barred(graph, FACTOR, lambda: aim.budget.over("stability", STABLE)) if barred is None else barred
        )
        found = extractor(barred=barred, kept=stable).run()
        if found or accurate:
            return sorted([*accurate, *found], key=lambda c: c.cost)
        if (admitted is lenient or not cut) and not aim.budget.clock.stopped:
            # No form that these laws give keeps to it: those that lose least; `derive --front` tells how much.
            least = min(stability.growth(c.term) for c in candidates)
            return [c for c in candidates if stability.growth(c.term) <= least]
    # Where time ended the search for forms that keep their digits none is taken that does not: the diagram as it is
    # written does.
    return []


def along(term: Term, axes: Sequence[Axis]) -> Term:
    """Return a number with all of some axes: one that varies along fewer as a choice, of which it is both values, by a
    mask along the others.
    """
    masks: list[Term] = [Map("le", (Index(axis), Index(axis))) for axis in axes if axis not in term.axes]
    if not masks or term.kind != "real":
        return term
    return Map("where", (reduce(lambda a, b: Map("and", (a, b)), masks), term, term))


def _finalists(candidates: Sequence[Candidate], storage: str, written: Term) -> list[Candidate]:
    """Return the candidates to price in full: the first few, near the best, and of those that differ only in the order
    of operands the most accurate, or else whose folds are in the order in which they are written.

    Those that compute other operands of contractions come before those that only compute the same ones in another way;
    of these the first KEEP count.
    """
    near = [c for c in candidates if c.cost <= SPREAD * candidates[0].cost]
    computed = {c: (computed_sides(c.term), innermost(c.term)) for c in near}
    found: dict[tuple[frozenset[Side], frozenset[Axis]], Candidate] = {}
    others: list[Candidate] = []
    while near:
        first, sides = near[0], computed[near[0]]
        same = [c for c in near if c.cost <= (1 + SAME) * first.cost and computed[c] == sides]
        best = min(same, key=lambda c: (term_error(c.term, storage), _disordered(c.term, written)))
        if sides in found and first in candidates[:KEEP]:
            others.append(best)
        found.setdefault(sides, best)
        near = [c for c in near if c not in same]
    return [*found.values(), *others][:FINALISTS]


def innermost(term: Term) -> frozenset[Axis]:
    """Return the axes along which contractions over several axes are folded first: the matrix unit takes these, blocks
    of the others one by one. The order of a window, as pooling has, tells no forms apart.
    """
    return frozenset(
        t.body.axis
        for t in _nested(term)
        if not isinstance(t.body.body, (Fold, Reduce))
        and (_product(t.body.body) or extent(t.axis) * extent(t.body.axis) > WINDOW)
    )


def _nested(term: Term) -> list[Any]:
    """Return the folds of what the same fold over another axis gives."""
    return [
        t
        for t in subterms(term)
        if isinstance(t, (Fold, Reduce)) and isinstance(t.body, (Fold, Reduce)) and t.monoid == t.body.monoid
    ]


def _disordered(term: Term, written: Term) -> int:
    """Return how many folds of a term are within one that is within them as the diagram is written."""
    order = {t.axis: t.depth for t in subterms(written) if isinstance(t, Reduce)}
    return sum(order.get(t.axis, 0) < order.get(t.body.axis, 0) for t in _nested(term))


def _product(term: Term) -> bool:
    return isinstance(term, Map) and term.op == "mul"


def computed_sides(term: Term) -> frozenset[Side]:
    """Return the axes of the operands of contractions that are computed, and whether out of sums: that decides what a
    kernel can hold, or stores.
    """
    folds = (
        t
        for t in subterms(term)
        if isinstance(t, (Fold, Reduce, Online)) and _product(t.body)
    )
    pairs = (t.body.args for t in folds if all(t.axis in arg.axes for arg in t.body.args))
    sides = (
        a
        for pair in pairs
        if set(pair[0].axes) != set(pair[1].axes)
        for a in pair
        if a.children and not isinstance(a, Read)
    )
    return frozenset((a.axes, any(isinstance(t, (Fold, Reduce, Online)) for t in subterms(a))) for a in sides)
