"""The search over plans of an output: saturate, extract, place; with the axes as they are, and with one cut where processors would idle."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from napkin_eq.egraph.budget import Budget
from napkin_eq.egraph.nodes import Saturated
from napkin_eq.egraph.saturate import saturate
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.dtypes import BY_NAME, STORAGE, output_type
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.interval import interval
from napkin_eq.lang.term import Fold, Map, Online, Read, Reduce, Term, subterms
from napkin_eq.laws.inference import Judge
from napkin_eq.laws.law import Inference, Judgment, Law, Statement
from napkin_eq.machine.cost import extent, telling
from napkin_eq.machine.gpu import Hardware
from napkin_eq.numerics.accuracy import term_error
from napkin_eq.numerics.stability import FACTOR, Stability
from napkin_eq.search.derivation import Output
from napkin_eq.search.extract import KEEP, Candidate, Extractor
from napkin_eq.search.placement import PLACING, Offers, Placed, Placer, parallel
from napkin_eq.search.tiling import Tiled
from napkin_eq.tile import ir as p
from napkin_eq.tile.lower.reductions import NARROW
from napkin_eq.tile.resources import BYTES

FINALISTS, SPREAD, SAME, CUTTING, STABLE = 3, 1.25, 1e-3, 0.4, 0.45
Graphs = dict[tuple[tuple[Axis, Axis], ...], Saturated]  # by the axes that are cut
Side = tuple[tuple[Axis, ...], bool]  # the axes of an operand that is computed, and whether out of sums
IDLE, LARGE, MOST_STRETCHES, LEAST_STRETCH = 0.6, 128, 64, 256


@dataclass(frozen=True, slots=True)
class Stored:
    """How an output is stored: the name of its array, its type as plans call it, and the storage order of its axes."""

    name: str
    dtype: str
    dims: tuple[Axis, ...]


@dataclass(frozen=True, slots=True)
class Aim:
    """What a plan is made for: a GPU, the storage type, who may print its kernels; and the terms that plans were refused of.

    written: forms are sought that leave what Prev speaks of as it was first written. held: types of outputs by name.
    """

    machine: Hardware
    dtype: str
    printer: str
    max_error: float | None = None
    precision: str = NARROW
    refused: frozenset[Term] = frozenset()
    budget: Budget = field(default_factory=Budget)
    written: bool = False
    held: Mapping[str, str] = field(default_factory=dict)


def precisions(aim: Aim) -> tuple[str, ...]:
    """Return the precisions of contractions to try, fastest first; without an error to keep to, operands are as the storage type has them."""
    if aim.max_error is None:
        return (NARROW,)
    return tuple(p.MATRIX_ROUNDOFF) if aim.dtype == "float32" else (NARROW, *p.MATRIX_ROUNDOFF)


def preferred(options: list[tuple[float, Output]]) -> Iterator[tuple[float, Output]]:
    """Yield plans, cheapest first, the more accurate of equally cheap ones before the other."""
    left = sorted(options, key=lambda o: o[1].placed.predicted_us)
    while left:
        cheap = [o for o in left if o[1].placed.predicted_us <= (1 + SAME) * left[0][1].placed.predicted_us]
        chosen = min(cheap, key=lambda o: o[0])
        left.remove(chosen)
        yield chosen


def options(
    diagram: Diagram, names: tuple[str, ...], source: Term, aim: Aim, statements: list[Statement], seconds: dict[str, float], known: Graphs | None = None
) -> list[Output]:
    """Return the plans found, without the steps to them: with the axes as they are, and with one cut where processors would idle.

    known: the e-graphs of an earlier search for the same, which are not made again, and to which those of this one are added.
    """
    known = {} if known is None else known
    stability = Stability(source, aim.dtype)
    plans, tried = _plans(diagram, names, source, aim, statements, (), stability, seconds, known)
    for cut in _cuts(source, [*plans[0][0].tiled, *tried], aim.machine, statements):
        if aim.budget.over("cutting an axis", CUTTING):
            break
        try:
            plans += _plans(diagram, names, source, aim, statements, (cut,), stability, seconds, known)[0]
        except NapkinError:
            continue  # there is no form with this cut: the plans without it stand
    return [Output(names, source, placed, [], graph, aim.precision) for placed, graph in plans]


def _plans(
    diagram: Diagram,
    outputs: Sequence[str],
    source: Term,
    aim: Aim,
    statements: list[Statement],
    cuts: tuple[tuple[Axis, Axis], ...],
    stability: Stability,
    seconds: dict[str, float],
    known: Graphs,
) -> tuple[list[tuple[Placed, Saturated]], list[Tiled]]:
    """Saturate, extract and place an output, or several together, the axes of `cuts` folded a stretch at a time.

    Returns the plans found, and the kernels that hold all of a candidate.
    """
    begun = time.perf_counter()
    if cuts not in known:
        known[cuts] = saturate(source, statements, cuts, budget=aim.budget)
    graph = known[cuts]
    seconds["saturate"] += time.perf_counter() - begun
    begun = time.perf_counter()
    proved = prover(statements)
    stability.cut(part for part, _ in cuts)
    candidates = _candidates(source, graph, aim, stability, {axis.name: part.name for part, axis in cuts})
    if not candidates:
        raise NapkinError(f"diagram {diagram.name}: output {', '.join(outputs)} has no form that can be computed with these laws; leave fewer out")
    made = placer(outputs, source, aim, statements, proved)
    made.parts = tuple(part for part, _ in cuts)
    placements: list[Placed] = []
    for candidate in _finalists(candidates, STORAGE[aim.dtype]):
        if placements and aim.budget.over("placement", PLACING):
            break
        if (found := made.best(candidate.term)) is not None:
            placements.append(found)
            best = min(p.predicted_us for p in placements)
            aim.budget.clock.note("placement", priced=len(made.solved), best_us=best)
    if not placements:
        raise NapkinError(f"diagram {diagram.name}: {made.refusals[-1] if made.refusals else 'no plan fits'}")
    seconds["extract"] += time.perf_counter() - begun
    return [(found, graph) for found in placements], made.fused


def together(
    outputs: Sequence[Stored], source: Term, aim: Aim, statements: list[Statement], proved: Callable[[Judgment], bool]
) -> list[tuple[Placed, Saturated]]:
    """Return the forms of an output, or of several, in one kernel, cheapest first; where processors would idle also with an axis cut, in several."""
    stability = Stability(source, aim.dtype)
    made = placer([o.name for o in outputs], source, aim, statements, proved)
    made.target_dtypes = tuple(o.dtype for o in outputs)

    def forms(graph: Saturated, cut: dict[str, str]) -> list[Term]:
        terms = [c.term for c in _finalists(_candidates(source, graph, aim, stability, cut), STORAGE[aim.dtype])]
        made.orders |= {item: o.dims for term in terms for item, o in zip(parallel(term), outputs, strict=True)}
        return terms

    graph = saturate(source, statements, budget=aim.budget)
    found = [(placed, graph) for term in forms(graph, {}) if (placed := made.whole(term)) is not None]
    for part, axis in _cuts(source, [t for placed, _ in found for t in placed.tiled], aim.machine, statements):
        stability.cut([part])
        made.parts = (part,)
        apart = saturate(source, statements, ((part, axis),), budget=aim.budget)
        found += [(placed, apart) for term in forms(apart, {axis.name: part.name})[:1] if (placed := made.best(term)) is not None]
    return sorted(found, key=lambda f: f[0].predicted_us)


def placer(
    outputs: Sequence[str], source: Term, aim: Aim, statements: Sequence[Statement], proved: Callable[[Judgment], bool] | None = None
) -> Placer:
    """Return what weighs the placements of an output, or of several, under the placement laws among the statements."""
    names = {s.name for s in statements}
    offers = Offers("level" in names, "group" in names, "walk" in names, "level-several" in names)
    named = zip(outputs, parallel(source), strict=True) if aim.held else (("", term) for term in parallel(source))
    dtypes = tuple(output_type(term.kind, aim.dtype, aim.held.get(name)) for name, term in named)
    return Placer(outputs[0], dtypes, STORAGE[aim.dtype], aim.machine, offers, proved or prover(statements), aim.printer, aim.precision, aim.budget)


def _cuts(source: Term, tiled: Sequence[Tiled], machine: Hardware, statements: Sequence[Statement]) -> list[tuple[Axis, Axis]]:
    """Offer to cut the streamed axis of a kernel whose blocks leave processors idle, into as many stretches as give each a block."""
    if not any(c.name == "stretch" for s in statements if isinstance(s, Law) for c in s.conditions):
        return []
    idle = [t for t in tiled if _large_blocks(t.kernel) <= machine.chip.sms * IDLE and any(c.role == "stream" for c in t.kernel.coords)]
    if not idle:
        return []
    slow = max(idle, key=lambda t: t.cost.predicted_us)
    streams = [c for c in slow.kernel.coords if c.role == "stream"]
    axis = max((c.axis for c in streams), key=extent)
    wanted = max(2, machine.chip.sms // _large_blocks(slow.kernel))
    count = min(1 << (wanted.bit_length() - 1), MOST_STRETCHES, max(1, extent(axis) // LEAST_STRETCH))
    if count < 2:
        return []
    taken = {f.name for t in subterms(source) for f in (*t.fields, *t.axes) if isinstance(f, Axis)}
    name = next(n for n in (f"{axis.name}_part{i or ''}" for i in range(len(taken) + 1)) if n not in taken)
    return [(Axis(name, count), axis)]


def _large_blocks(kernel: p.Kernel) -> int:
    """Return how many blocks a kernel has if its tiles are as large as suits the matrix unit, where blocks would otherwise read the same."""
    streamed = {c.axis for c in kernel.coords if c.role == "stream"}
    walked = {b.name for b in kernel.reads if streamed & set(b.dims)}
    read = [by_index for name, (by_index, _) in telling(kernel).items() if name in walked]
    return math.prod(extent(kernel.coord(g).axis) if all(g in own for own in read) else -(-extent(kernel.coord(g).axis) // LARGE) for g in kernel.grid)


def _candidates(source: Term, graph: Saturated, aim: Aim, stability: Stability, cut: dict[str, str]) -> list[Candidate]:
    """Extract with exponentials proved safe; only where there is no such form, with those that the source itself takes.

    Where a form of the root loses digits that the source keeps, more are sought, and in no class are such forms kept.
    """
    limit = BY_NAME[aim.dtype].exponent
    shapes = [item.axes for item in parallel(source)]

    def whole(term: Term) -> bool:
        # A form may show that a value varies along fewer axes: the array has all that were declared; or that outputs are equal: each is an array.
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
        extractor = partial(Extractor, graph, aim.machine, BYTES[STORAGE[aim.dtype]], admitted, cut, budget=aim.budget, written=aim.written)
        candidates = extractor(kept=whole).run()
        accurate = [c for c in candidates if stability.admits(c.term)]
        if accurate and accurate[0] is candidates[0]:
            return accurate
        if not candidates:
            continue
        barred = stability.barred(graph, FACTOR, lambda: aim.budget.over("stability", STABLE)) if barred is None else barred
        found = extractor(barred=barred, kept=stable).run()
        if found or accurate:
            return sorted([*accurate, *found], key=lambda c: c.cost)
        if (admitted is lenient or not cut) and not aim.budget.clock.stopped:
            # No form that these laws give keeps to it: those that lose least; `derive --front` tells how much.
            least = min(stability.growth(c.term) for c in candidates)
            return [c for c in candidates if stability.growth(c.term) <= least]
    # Where time ended the search for forms that keep their digits none is taken that does not: the diagram as it is written does.
    return []


def prover(statements: Sequence[Statement]) -> Callable[[Judgment], bool]:
    """Return a function that tells whether a judgment is derived by the inferences among the statements; answers are kept."""
    judge = Judge(s for s in statements if isinstance(s, Inference))
    known: dict[Judgment, bool] = {}

    def proved(judgment: Judgment) -> bool:
        if judgment not in known:
            known[judgment] = judge.holds(judgment) is not None
        return known[judgment]

    return proved


def _finalists(candidates: Sequence[Candidate], storage: str) -> list[Candidate]:
    """Return the candidates to price in full: the first few, near the best, and of those that differ only in the order of operands the most accurate.

    Those that compute other operands of contractions come before those that only compute the same ones in another way; of these the first KEEP count.
    """
    near = [c for c in candidates if c.cost <= SPREAD * candidates[0].cost]
    computed = {c: (computed_sides(c.term), innermost(c.term)) for c in near}
    found: dict[tuple[frozenset[Side], frozenset[Axis]], Candidate] = {}
    others: list[Candidate] = []
    while near:
        first, sides = near[0], computed[near[0]]
        same = [c for c in near if c.cost <= (1 + SAME) * first.cost and computed[c] == sides]
        best = min(same, key=lambda c: term_error(c.term, storage))
        if sides in found and first in candidates[:KEEP]:
            others.append(best)
        found.setdefault(sides, best)
        near = [c for c in near if c not in same]
    return [*found.values(), *others][:FINALISTS]


def innermost(term: Term) -> frozenset[Axis]:
    """Return the axes along which contractions over several axes are folded first: the matrix unit takes these, blocks of the others one by one."""
    nested = (t for t in subterms(term) if isinstance(t, (Fold, Reduce)) and isinstance(t.body, (Fold, Reduce)) and t.monoid == t.body.monoid)
    return frozenset(t.body.axis for t in nested if not isinstance(t.body.body, (Fold, Reduce)))


def computed_sides(term: Term) -> frozenset[Side]:
    """Return the axes of the operands of contractions that are computed, and whether out of sums: that decides what a kernel can hold, or stores."""
    folds = (t for t in subterms(term) if isinstance(t, (Fold, Reduce, Online)) and isinstance(t.body, Map) and t.body.op == "mul")
    pairs = (t.body.args for t in folds if all(t.axis in arg.axes for arg in t.body.args))
    sides = (a for pair in pairs if set(pair[0].axes) != set(pair[1].axes) for a in pair if a.children and not isinstance(a, Read))
    return frozenset((a.axes, any(isinstance(t, (Fold, Reduce, Online)) for t in subterms(a))) for a in sides)


