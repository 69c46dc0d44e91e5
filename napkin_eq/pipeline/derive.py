"""The main job, from a diagram to kernels, in the order in which its stages run.

    aimed     arguments → Aim         what for: GPU, types, limits, checked                  (asked.py)
    laws      names → Laws            those in force, each proved                            (asked.py)
    way       Job → Outputs           a graph is covered by kernels, each found as below; anything else is searched
    saturate  Job → Saturated         the e-graph of all that the laws say is equal          (search/candidates.py)
    extract   Saturated → Candidates  its terms that cost least                              (search/extract.py)
    place     Candidates → Placed     what they store and in what tiles, priced in full      (search/placement.py)
    explain   Placed → Steps          each step from the diagram by a law                    (certify/)
    validate  Placed → Translation    its kernels in small, run against the diagram          (verify/translation.py)
    plan      Outputs → Plan          kernels numbered, the passes over them run             (search/assemble.py)
"""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial

from napkin_eq.certify.asked import require_asked, same
from napkin_eq.certify.certificate import require_accepted
from napkin_eq.certify.chain import explained
from napkin_eq.cover import exponents
from napkin_eq.cover.bounds import least_us, moving_us
from napkin_eq.cover.choice import NO_LIMIT, Limit
from napkin_eq.cover.covering import covered
from napkin_eq.cover.graph import contractions, folded_apart, read_again
from napkin_eq.egraph.budget import SECONDS, Budget, Clock
from napkin_eq.egraph.congruence import Closure
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.dtypes import BY_SHORT
from napkin_eq.lang.errors import NapkinError, Undecided, WrongPlan
from napkin_eq.lang.substitute import named_apart, settled
from napkin_eq.lang.term import Input, Read, Term, required, subterms
from napkin_eq.machine.gpu import Hardware
from napkin_eq.numerics.accuracy import unit_error
from napkin_eq.numerics.stability import Stability
from napkin_eq.pipeline.asked import aimed, proved_laws
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.pipeline.unfused import unfused
from napkin_eq.prove.watch import Watch, watched
from napkin_eq.search import data_masks, moments, prefixes, runs
from napkin_eq.search.assemble import planned
from napkin_eq.search.candidates import (
    SIDE_BY_SIDE,
    SOON,
    Forms,
    cuts_of,
    extracted,
    placed,
    placer,
    preferred,
    saturated,
    soon,
)
from napkin_eq.search.derivation import Output
from napkin_eq.search.fold_order import reordered
from napkin_eq.search.job import Aim, Cuts, Job, Rewritten
from napkin_eq.search.placement import MOST_BUNDLED
from napkin_eq.search.unfolded import unfolded
from napkin_eq.tile.expected import ANY, Expected, expecting
from napkin_eq.verify.translation import accepted

TIMED = ("prove", "saturate", "extract", "explain", "validate", "total")
# Contractions from which a diagram is covered by kernels: the search of one operator takes minutes from there on
GRAPH = 3
WHOLE = 16  # contractions from which one search is no way out
PLAIN = 48  # contractions up to which a graph that has no cover is done operator by operator
# Times what it takes at the least: a plan of one search that takes more is held against a cover; one of few kernels
FAR, FARTHER = 1.5, 4.0
SEVERAL = 2  # kernels of a plan, from which on there is a choice of what they store
WORTH = 0.95  # of the time of a plan of so few kernels: what a cover takes that stores more than it
# Over its bound: a cover that is so much dearer is held against what one search finds, of no more contractions than so
# many
WIDE, FEW = 0.1, 6
# New objects after which Python looks for cycles among them; after so many times also among those that stayed
COLLECTED, OLDER = 100_000, 50
COVER = 0.4  # of the time, what searches leave to a cover that is held against what they find
NO_COVER = "covering ("  # begins why a cover was not taken
LITTLE = 0.1  # of the work, what a search does that can save no more than a part of a launch
AGAIN = 0.4  # of the time, what one search has beside a cover that has taken all of it
IN_PARTS = 0.6  # of the time, what a plan of squares in parts or of prefixes in runs may take before others are sought
PARTS = 2.0  # times what moving its arrays takes: what parts or runs may take for nothing else to be sought
STRETCHES = 1.25  # times what moving its arrays takes: a plan that takes more may gain by sums cut into stretches
BOUNDING = 0.125  # of the time of a plan, what finding lanes may take that bound its loops if the data are so
SPARE = 0.1  # of the time, what such a cover leaves for what it began before its end
TOGETHER = 0.5  # of the time, for several outputs together: what is left is for each alone, should that fail
TOLD = 0.05  # by how much faster a plan is predicted that has no chain of steps, if that is told
CUTTING = 0.4  # of the time, after which no axis is cut any more


def derive(
    diagram: Diagram | Term,
    hardware: str | Hardware = "h200",
    dtype: str = "bfloat16",
    without: Sequence[str] = (),
    rules: Sequence[str] = (),
    allow_tested: bool = False,
    printer: str = "auto",
    max_error: float | None = None,
    refused: Sequence[Term] = (),
    limit: float | Budget = SECONDS,
    library: bool = False,
    expected: Expected = ANY,
    precision: str = "",
) -> Derivation:
    """Derive the cheapest plan of a diagram for a GPU.

    dtype: storage of the inputs declared "float" and of the outputs. without: laws or families to leave out. rules:
    more rule files or folders. allow_tested: laws that are not proved but were tested are let in too. printer: "triton"
    for portable kernels, "gluon" for every kernel whose work groups of warps can share on this GPU, "auto" for those
    that are predicted to be faster so. max_error: the relative error, see accuracy.py, that no output's plan may pass;
    where plans that round the computed operands of contractions to the storage type do, they are kept in float32.
    refused: terms of plans that are not to be taken. limit: seconds for the search, counted by what it does
    (egraph/budget.py: a slow or busy core takes longer, for the same plan); where they end it, the best plan until then
    is returned, or one operator by operator, and the derivation's `limited` says what was ended. library: matrix
    products of a library may take the place of kernels, trusted and not proved. expected: of sizes that are symbols,
    see tile/expected.py. precision: in which products of float32 are multiplied, "tf32", "tf32x3", "bf16x6" or "ieee";
    "" keeps all digits of the numbers. Raises NapkinError for unknown names, a diagram that no tiles fit or an error
    that no plan keeps to, LawRefused for a law that is false or claims too much of floating point, Undecided for one
    that is not proved.
    """
    if not isinstance(diagram, Diagram):
        if isinstance(getattr(diagram, "diagram", None), Diagram):
            raise NapkinError(
                f"derive: expected a diagram or a term, found {type(diagram).__name__}; give its .diagram, and its"
                " .dtype as dtype"
            )
        diagram = Diagram("diagram", (("out", required(diagram, "derive")),))
    aim = aimed(diagram, hardware, dtype, printer, max_error, refused, limit, library, precision)
    clock = aim.budget.clock
    clock.seconds.clear()  # a budget that was another derivation's has its seconds
    clock.shared.clear()
    with clock.stage("total"):
        with clock.stage("prove"), watched(Watch(clock.note)):
            laws = proved_laws(without, rules, allow_tested)
        aim.budget.begin()  # laws that nobody has proved here before take many seconds, once
        try:
            with _rarely_collected(), expecting(expected):
                outputs = _each_value(Job(diagram, aim, laws))
                plan, tiled = planned(diagram, outputs, aim.machine, dtype)
        except RecursionError:
            deep = max(term.depth for _, term in diagram.outputs)
            raise NapkinError(
                f"diagram {diagram.name}: its term nests {deep} levels deep, too many for a kernel; "
                "make parts of it outputs of their own"
            ) from None
    seconds = {stage: clock.seconds.get(stage, 0.0) for stage in TIMED}
    again = partial(
        derive, diagram, aim.machine, dtype, without, rules, allow_tested, printer, max_error,
        limit=aim.budget.seconds, library=library, expected=expected, precision=precision,
    )  # fmt: skip
    return Derivation(
        diagram, aim.machine, dtype, plan, outputs, tiled, laws.statements, dict(laws.verdicts), seconds, printer,
        max_error,
        lambda terms: again(refused=(*refused, *terms)), tuple(clock.stopped), expected,
    )  # fmt: skip


@contextmanager
def _rarely_collected() -> Iterator[None]:
    """Let Python look for cycles of objects seldom: terms are in none, and a tenth of a derivation would go there."""
    before = gc.get_threshold()
    if before[0]:  # 0: whoever calls has turned it off
        gc.set_threshold(max(before[0], COLLECTED), max(before[1], OLDER), before[2])
    try:
        yield
    finally:
        gc.set_threshold(*before)


# -- which way: a cover of a graph, or a search for the outputs together, one by one, or operator by operator ----------


def _each_value(job: Job) -> list[Output]:
    """Derive a diagram's outputs; where two are one value, each value by itself, and those that lie alike as one."""
    if len({term for _, term in job.diagram.outputs}) == len(job.diagram.outputs):
        return kernels(job)
    found: dict[tuple[Term, str | None, tuple[str, ...] | None], list[Output]] = {}
    for name, term in job.diagram.outputs:
        way = term, dict(job.diagram.held).get(name), dict(job.diagram.laid).get(name)
        if way not in found:
            found[way] = kernels(job.on([(name, term)]))
        else:
            first = next(made for made in found[way] if len(made.names) == 1)
            found[way].append(replace(first, names=(name,)))
    order = {name: place for place, (name, _) in enumerate(job.diagram.outputs)}
    return sorted((made for way in found.values() for made in way), key=lambda made: order[made.names[0]])


def kernels(job: Job) -> list[Output]:
    """Derive a graph as a cover by kernels, and anything else by searches; what neither gives, or gives no faster,
    operator by operator.

    A cover that is far from its bound is held against what one search gives, and against a cover a search that time
    ended, or whose plan takes many times what the diagram takes at the least, some times that in many kernels, or more
    than operator by operator. Where the diagram as it is written takes hardly more than any plan must, a search does
    little of the work.
    """
    job = _at_once(job)
    if found := _turned(job):
        return found
    if not (parts := _in_parts(job) or _in_runs(job)):
        return _as_one(job)
    if _predicted(parts) <= PARTS * _moving(job):
        return parts
    rest = _rest(job)
    if rest.aim.budget.left() > 0:
        with suppress(NapkinError):
            parts = min([_as_one(rest), parts], key=_predicted)
        _told(job, rest)
    return parts


def _turned(job: Job) -> list[Output]:
    """Derive a diagram whose masks say what they leave out as one whose masks say what they keep; nothing of another,
    or where no chain leads there.
    """
    terms = dict(job.diagram.outputs)
    made = data_masks.turned([*terms.values()], job.laws, job.aim.budget)
    if made is None:
        return []
    outputs = tuple(zip(terms, made.outputs, strict=True))
    found = kernels(replace(job, diagram=replace(job.diagram, outputs=outputs)))
    for option in found:
        own = job.on((name, terms[name]) for name in option.names)
        whole = [*option.names] == [*terms]
        form = made if whole else data_masks.turned([t for _, t in own.diagram.outputs], job.laws, job.aim.budget)
        if form is not None and not _led(own, form, option):
            return []
    return found


def _as_one(job: Job) -> list[Output]:
    """Derive a graph or an operator whose terms are taken as they are."""
    graph = spans_kernels(job.diagram) or job.aim.library
    if graph:
        found = _graph(job)
    else:
        work = LITTLE if soon(job, placer(job), _least(job)) else 1.0
        found = _searched_in_full(job, _part(job, 1 - COVER, work), anew=False)
    plain = _faster(job, found)
    best = plain or found
    if not graph and not _near(job, best) and (plain or _far(job, found)):
        rest = _rest(job)
        # What so few kernels hand on is small; a cover may store what is as large as a product's results
        worth = WORTH if sum(len(output.placed.tiled) for output in best) <= SEVERAL else 1.0
        cover = _cover(rest, limit=Limit(worth * _predicted(best), searched=True))
        _told(job, rest)
        best = cover if cover and _predicted(cover) < worth * _predicted(best) else best
    for others in (_in_stretches, _as_sums, _contracted, _bounded):
        best = min([best, *others(job, best)], key=_predicted)
    return min([best, *_absorbed(job, best)], key=_predicted)


def _in_stretches(job: Job, found: Sequence[Output]) -> Iterator[list[Output]]:
    """Yield plans of a diagram whose sums over the lanes up to one are cut into stretches, where it has such sums and
    what was found takes much more than moving its arrays does.

    The chain to the diagram that is cut so comes before that of its cover.
    """
    terms = [term for _, term in job.diagram.outputs]
    if not prefixes.sums(terms) or _predicted(found) <= STRETCHES * _moving(job):
        return
    laws = job.laws
    rest = job
    for tried, length in enumerate(prefixes.LENGTHS):
        _told(job, rest)
        rest = _rest(job)
        if rest.aim.budget.left() <= 0:
            return
        rest = _part(rest, 1 / (len(prefixes.LENGTHS) - tried))
        if (made := prefixes.cut(terms, laws, length, rest.aim.budget)) is None:
            continue
        names = [name for name, _ in job.diagram.outputs]
        whole = replace(job.diagram, outputs=tuple(zip(names, made.outputs, strict=True)))
        for option in _cover(replace(rest, diagram=whole)):
            if _led(job, made, option):
                yield [option]
    _told(job, rest)


def _as_sums(job: Job, found: Sequence[Output]) -> Iterator[list[Output]]:
    """Yield plans of a diagram whose contractions of running sums of outer products are sums over the lanes up to one,
    in stretches, where what was found takes much more than moving its arrays does.
    """
    terms = [term for _, term in job.diagram.outputs]
    rest = _rest(job)
    if prefixes.states(terms) and _predicted(found) > STRETCHES * _moving(job) and rest.aim.budget.left() > 0:
        made = prefixes.as_sums(terms, job.laws, rest.aim.budget)
        yield from _in_form(job, made, lambda form: [o for (o,) in _in_stretches(replace(rest, diagram=form), found)])
    _told(job, rest)


def _contracted(job: Job, found: Sequence[Output]) -> Iterator[list[Output]]:
    """Yield the plan of a diagram whose contractions of recurrences of outer products are taken in short runs, where
    what was found takes much more than moving its arrays does.
    """
    terms = [term for _, term in job.diagram.outputs]
    rest = _rest(job)
    states = prefixes.states(terms, recurring=True)
    if states and _predicted(found) > STRETCHES * _moving(job) and rest.aim.budget.left() > 0:
        made = runs.contracted(terms, job.laws, rest.aim.budget)
        yield from _in_form(job, made, lambda form: _cover(replace(rest, diagram=form)))
    _told(job, rest)


def _in_form(
    job: Job, made: tuple[tuple[Term, ...], Rewritten] | None, planned: Callable[[Diagram], Iterable[Output]]
) -> Iterator[list[Output]]:
    """Yield plans of a diagram in another form, to which a chain leads from outputs that are shown to say the same as
    the job's.
    """
    if made is not None and same([term for _, term in job.diagram.outputs], made[0], hasty=True):
        source, form = made
        asked = job.on(zip(job.names, source, strict=True))
        whole = replace(job.diagram, outputs=tuple(zip(job.names, form.outputs, strict=True)))
        for option in planned(whole):
            if _led(asked, form, option):
                yield [option]


def _bounded(job: Job, found: Sequence[Output]) -> Iterator[list[Output]]:
    """Yield the plan of a diagram whose folds are bounded by the lanes that masks hold in which compare what is read,
    where it has such masks and finding these lanes takes little of what was found: the data may leave none out.
    """
    terms = [term for _, term in job.diagram.outputs]
    rest = _rest(job)
    if not data_masks.ends(terms) or rest.aim.budget.left() <= 0:
        return
    made = data_masks.bounded(terms, job.laws, rest.aim.budget)

    def cheap(option: Output) -> bool:
        finding = [t for t in option.placed.tiled if all(BY_SHORT[b.dtype].kind == "int" for b in t.kernel.writes)]
        return sum(t.cost.predicted_us for t in finding) <= BOUNDING * _predicted(found)

    yield from _in_form(job, made, lambda form: filter(cheap, _cover(replace(rest, diagram=form))))
    _told(job, rest)


def _absorbed(job: Job, found: Sequence[Output]) -> Iterator[list[Output]]:
    """Yield the plan of a diagram whose weights have their sums in their exponents, where several kernels compute such
    weights.
    """
    terms = [term for _, term in job.diagram.outputs]
    rest = _rest(job)
    if sum(len(output.placed.tiled) for output in found) < 2 or rest.aim.budget.left() <= 0:
        return
    made = exponents.absorbed(terms, job.laws, rest.aim.budget)
    if made is not None:
        whole = replace(job.diagram, outputs=tuple(zip(job.names, made.outputs, strict=True)))
        for option in _cover(replace(rest, diagram=whole), limit=Limit(_predicted(found))):
            if _led(job, made, option):
                yield [option]
    _told(job, rest)


def _in_parts(job: Job) -> list[Output]:
    """Return the plan of a diagram whose squares about means over several axes, or a long one, are taken in parts,
    nothing where it has none, or none is found.
    """
    terms = [term for _, term in job.diagram.outputs]
    made = moments.in_parts(terms, job.laws, job.aim.budget, SIDE_BY_SIDE * job.aim.machine.chip.sms)
    if made is None:
        return []
    whole = replace(job.diagram, outputs=tuple(zip(job.names, made.form.outputs, strict=True)))
    part = replace(_part(job, IN_PARTS), diagram=whole)
    return [option for option in _cover(part, made.given) if _led(job, made.form, option)]


def _in_runs(job: Job) -> list[Output]:
    """Return the plan of a diagram whose prefixes along long axes of few rows are taken in runs, nothing where it has
    none, or none is found.
    """
    terms = [term for _, term in job.diagram.outputs]
    blocks = SIDE_BY_SIDE * job.aim.machine.chip.sms
    if not runs.scans(terms, blocks):
        return []
    made = runs.in_runs(terms, job.laws, job.aim.budget, blocks)
    part = _part(job, IN_PARTS)
    return [option for (option,) in _in_form(job, made, lambda form: _cover(replace(part, diagram=form)))]


def _moving(job: Job) -> float:
    """Return the microseconds in which a diagram's arrays are moved once."""
    return moving_us(job.diagram.outputs, job.aim.dtype, job.aim.machine)


def _led(job: Job, made: Rewritten, option: Output) -> bool:
    """Put the steps that lead to another form of a job's outputs before those of a plan of that form, and tell whether
    the checker accepts the chain.
    """
    if option.source is not job.on(zip(job.names, made.outputs, strict=True)).source:
        return False  # axes were named apart: the chain does not lead to terms so named
    option.source, option.steps = job.source, [*made.steps, *option.steps]
    try:
        require_accepted(option.source, option.placed.term, option.steps, job.laws.statements, job.laws.verdicts)
    except Undecided:
        return False
    return True


def _graph(job: Job) -> list[Output]:
    """Derive a graph as a cover by kernels; where that is far from its bound, or none, also as anything else: what has
    few contractions in what is left of the time.
    """
    many, cover = _contractions(job), _cover(job)
    if (
        cover
        and (told := cover[0].cover) is not None
        and (many > FEW or (told["gap"] is not None and told["gap"] <= WIDE))
    ):
        return cover
    if not cover and many > WHOLE:
        why = next(
            reversed(job.aim.budget.clock.stopped), "its cover by kernels is refused, or passes the error allowed"
        )
        reason = NapkinError(f"diagram {job.diagram.name}: {why}; it is too large for one search")
        if many > PLAIN:
            raise reason
        return [_unfused(job.on([output]), reason) for output in job.diagram.outputs]
    rest = _rest(job) if cover and many < GRAPH else job
    if rest is not job and rest.aim.budget.left() <= 0:
        return cover
    try:
        found = _searched_in_full(job, rest, anew=rest is job and bool(cover))
    except NapkinError:
        if not cover:
            raise
        return cover
    finally:
        if rest is not job:
            _told(job, rest)
    return min([*filter(None, [cover]), found], key=_predicted)


def _contractions(job: Job) -> int:
    return contractions(subterms(*(term for _, term in job.diagram.outputs)))


def spans_kernels(diagram: Diagram) -> bool:
    """Tell whether a diagram is a graph rather than an operator: it has many contractions, or has once what it reads
    elsewhere is computed there, or reads what they give elsewhere, or again after it was folded whole, or folds an
    output for another.
    """
    roots = [term for _, term in diagram.outputs]
    terms = subterms(*roots)
    # Computed at the places that it is read at, a product may be one of matrices no more
    elsewhere = any(isinstance(t, Read) and contractions(subterms(t.body)) for t in terms)
    if elsewhere or contractions(terms) >= GRAPH or read_again(roots) or folded_apart(roots):
        return True
    try:
        return contractions(subterms(*map(settled, roots))) >= GRAPH
    except NapkinError:
        return True  # what is too deep to be one search


def _far(job: Job, found: Sequence[Output]) -> bool:
    """Tell whether plans take so many times what one kernel takes at the least that other stored values may well save
    more than they cost.

    So it is of one whose search was ended by time; and of less, where there are several kernels to choose.
    """
    many = sum(len(output.placed.tiled) for output in found)
    if _contractions(job) > 1 and job.aim.budget.clock.stopped:
        return True
    return _predicted(found) > (FARTHER if many < SEVERAL else FAR) * _least(job)


def _near(job: Job, found: Sequence[Output]) -> bool:
    """Tell whether plans take so little more than any must that others could save no more than a part of a launch."""
    return _predicted(found) <= _least(job) + SOON * job.aim.machine.chip.launch_s * 1e6


def _least(job: Job) -> float:
    """Return the microseconds that a job's outputs take at the least."""
    return least_us(job.diagram.outputs, job.aim.dtype, job.aim.machine)


def _part(job: Job, share: float, work: float = 1.0) -> Job:
    """Return a job with a share of what is left of the time, after whose end nothing more is tried, and of the counted
    work.
    """
    return replace(job, aim=replace(job.aim, budget=replace(job.aim.budget.part(share), hard=True, work=work)))


def _rest(job: Job) -> Job:
    """Return a job with what is left of the time, which ends with that, and notes of its own on what it ended."""
    budget = job.aim.budget
    clock = Clock(seconds=budget.clock.seconds, shared=budget.clock.shared)
    left = max(0.0, budget.left() - SPARE * budget.seconds)
    return replace(job, aim=replace(job.aim, budget=Budget(left, clock, hard=True)))


def _told(job: Job, rest: Job) -> None:
    """Note what time ended in the rest of a job's time beside what it ended before; why there is no cover is not said
    where other plans are.
    """
    stopped = job.aim.budget.clock.stopped
    stopped.extend(n for n in rest.aim.budget.clock.stopped if n not in stopped and not n.startswith(NO_COVER))


def _at_once(job: Job) -> Job:
    """Return a job whose values are computed under the names, and along the axes, that they are read by, where that is
    shown to be the same diagram.
    """
    terms = [term for _, term in job.diagram.outputs]
    names = [name for name, _ in job.diagram.outputs]
    for ways in ((True, True), (False, True), (False, False)):  # what is not shown to be the same takes no other along
        made = unfolded(terms, *ways)
        if all(a is b for a, b in zip(terms, made, strict=True)):
            break
        if same(terms, made, hasty=True):
            return replace(job, diagram=replace(job.diagram, outputs=tuple(zip(names, made, strict=True))))
    return job


def _searched_in_full(job: Job, part: Job, anew: bool) -> list[Output]:
    """Return what searches give of a job with a part of its time; operator by operator where the terms that they are of
    are not shown to be the job's.
    """
    try:
        full = _in_full(part, anew)
    except Undecided as reason:
        return [_unfused(job.on([output]), reason) for output in job.diagram.outputs]
    return searches(full)


def _in_full(job: Job, anew: bool) -> Job:
    """Return a job whose terms compute copies where they are read, as one search does; anew: with all of the time, or a
    part of it where a cover has taken that.
    """
    terms = named_apart([settled(term) for _, term in job.diagram.outputs])
    whole = replace(job.diagram, outputs=tuple(zip(job.names, terms, strict=True)))
    require_asked(f"diagram {whole.name}", *([term for _, term in d.outputs] for d in (job.diagram, whole)))
    seconds = job.aim.budget.seconds * (AGAIN if "covering" in job.aim.budget.clock.stopped else 1.0)
    budget = Budget(seconds, job.aim.budget.clock) if anew else job.aim.budget
    return Job(whole, replace(job.aim, budget=budget), job.laws)


def _cover(job: Job, ends: Sequence[Sequence[Term]] = (), limit: Limit = NO_LIMIT) -> list[Output]:
    """Return a diagram's plan as a cover by kernels, nothing where there is none that is proved and allowed; ends: the
    values with which sections of it end, where these are known; limit: what it must stay under.
    """
    made = None if ends else reordered([term for _, term in job.diagram.outputs], job.laws, job.aim.budget)
    if made is not None:
        with suppress(NapkinError):
            found = covered(job.on(zip(job.names, made.outputs, strict=True)), (), limit)
            if _led(job, made, found) and _allowed(job, found):
                return [found]
    try:
        found = covered(job, ends, limit)
        return [found] if _allowed(job, found) else []
    except NapkinError as reason:
        job.aim.budget.clock.stopped.append(f"{NO_COVER}{reason})"[:200])
        return []


def searches(job: Job) -> list[Output]:
    """Derive the outputs that share inputs together, so that they may share kernels, and where there is no such form
    one by one.
    """
    terms = [term for _, term in job.diagram.outputs]
    shared = {t for t in subterms(terms[0]) if isinstance(t, Input)}.intersection(*(subterms(t) for t in terms[1:]))
    if 1 < len(terms) <= MOST_BUNDLED and shared and len(set(terms)) == len(terms):
        try:
            return [searched_plainly(job.of(job.diagram.outputs, TOGETHER))]
        except NapkinError:
            pass  # what is refused together may be derived one by one, or is refused there with its own reason
    found: list[Output] = []
    for output in job.diagram.outputs:
        alone = job.of([output], 1 / (len(terms) - len(found)))
        try:
            found.append(searched_plainly(alone))
        except NapkinError as reason:
            found.append(_unfused(alone, reason))
    return found


def _unfused(job: Job, reason: NapkinError) -> Output:
    """Return the plan of an output operator by operator; raises the reason for which the search found none where not
    even that may be.
    """
    option = _as_written(job, [])
    if option is None:
        raise reason
    option.graph.notes.append(str(reason))
    return option


def _faster(job: Job, found: Sequence[Output]) -> list[Output]:
    """Return the plan operator by operator of all outputs, or of those that were derived one by one, where it takes
    less than what was found.
    """
    if _contractions(job) > PLAIN:
        return []
    if (plain := _as_written(job, found)) is not None:
        return [plain]
    if len(found) == 1:
        return []
    alone = [
        _as_written(job.on(o for o in job.diagram.outputs if o[0] in option.names), [option])
        for option in found
    ]
    return [plain or option for plain, option in zip(alone, found, strict=True)] if any(alone) else []


def _as_written(job: Job, found: Sequence[Output]) -> Output | None:
    """Return the plan of a job's outputs as they are written, proved and allowed, None where it does not take less time
    than what was found.
    """
    below = _predicted(found) if found else math.inf
    kernels = sum(len(option.placed.tiled) for option in found) if found else math.inf
    terms = [option.placed.term for option in found]
    try:
        option = unfused(replace(job, aim=replace(job.aim, budget=Budget(math.inf))), below, kernels, terms)
        require_accepted(option.source, option.placed.term, option.steps, job.laws.statements, job.laws.verdicts)
        right = _allowed(job, option) and accepted(
            job.diagram, option, job.aim.machine, job.aim.dtype, job.laws.proved, []
        )
    except NapkinError:
        return None
    return option if right else None


def searched_plainly(job: Job) -> Output:
    """Derive outputs by one search, their folds in the order of memory; where every plan is refused, or time ended the
    search for one, as they are written, and in plainer ways.
    """
    made = reordered([term for _, term in job.diagram.outputs], job.laws, job.aim.budget)
    if made is not None:
        with suppress(NapkinError):
            found = searched(job.on(zip(job.names, made.outputs, strict=True)))
            if _led(job, made, found):
                return found
    try:
        return searched(job)
    except NapkinError as reason:
        for plainer in _plainer(job, isinstance(reason, (Undecided, WrongPlan))):
            try:
                return searched(plainer)
            except NapkinError:
                continue
        raise


def _plainer(job: Job, refused: bool) -> Iterator[Job]:
    """Yield plainer ways: with what Prev speaks of as it was first written, then without sums that are carried by
    steps.

    Steps speak of what was before a block, where fewer laws hold: a chain to such a form may rest on one that does not.
    """
    laws = job.laws.without_steps()
    budget = job.aim.budget
    if laws is job.laws or not (refused or budget.clock.stopped) or budget.left() <= 0:
        return  # without time no form is found but the one that is done operator by operator
    if refused:  # where time ended the search of all forms, it would end this one too
        yield replace(job, aim=replace(job.aim, written=True, budget=job.aim.budget.part(1.0)))
    yield Job(job.diagram, job.aim, laws)


# -- one search: saturate, extract, place, explain, validate -----------------------------------------------------------


def searched(job: Job) -> Output:
    """Return the cheapest plan whose chain the checker accepts and whose kernels agree with the diagram, within the
    error that is allowed.

    Of equally cheap plans the most accurate.
    """
    refusals = _Refusals(job)
    for precision in job.aim.precisions:
        tried = replace(job, aim=replace(job.aim, precision=precision))
        entered: dict[int, Closure] = {}
        for option in _allowed_of(tried, options(tried), refusals):
            if not _explained(tried, option, entered, refusals):
                refusals.missed = min(refusals.missed, option.placed.predicted_us)
            elif _validated(tried, option, refusals):
                if refusals.missed < (1 - TOLD) * option.placed.predicted_us:
                    option.graph.notes.append(
                        f"a plan predicted at {refusals.missed:.1f} us was not taken: {refusals.unexplained}"
                    )
                return option
    raise refusals.reason()


def options(job: Job) -> list[Output]:
    """Return the plans of a job, their chains still to be made: with the axes as they are, and with one cut where
    processors would idle.
    """
    stability = Stability(job.source, job.aim.dtype)
    found = [_forms(job, stability, ())]
    for cut in cuts_of(job, [*found[0].placed[0].tiled, *found[0].fused]):
        if job.aim.budget.over("cutting an axis", CUTTING):
            break
        try:
            found.append(_forms(job, stability, (cut,)))
        except NapkinError:
            continue  # there is no form with this cut: the plans without it stand
    return [
        Output(job.names, job.source, placement, [], forms.graph, job.aim.precision)
        for forms in found
        for placement in forms.placed
    ]


def _forms(job: Job, stability: Stability, cuts: Cuts) -> Forms:
    """Saturate, extract and place, the axes of `cuts` folded a stretch at a time."""
    graph = saturated(job, cuts)
    return placed(job, graph, extracted(job, graph, stability, cuts), cuts)


def _allowed_of(job: Job, found: Sequence[Output], refusals: _Refusals) -> Iterator[Output]:
    """Yield the plans that are not refused and keep to the error allowed, in the order of preference."""
    rated: list[tuple[float, Output]] = []
    for option in found:
        try:
            rated.append((error(job.diagram, option, job.aim), option))
        except WrongPlan as reason:  # as the verifier of the tile language says: the others stand
            refusals.differing.append(str(reason))
    refusals.least = min([refusals.least, *(figure for figure, _ in rated)])
    limit, refused = job.aim.max_error, job.aim.refused
    for _, option in preferred(
        [o for o in rated if (limit is None or o[0] <= limit) and o[1].placed.term not in refused]
    ):
        yield option


def _explained(job: Job, option: Output, entered: dict[int, Closure], refusals: _Refusals) -> bool:
    """Give a plan its chain of steps, and tell whether the checker accepts it: a plan without one is no plan."""
    laws, aim = job.laws, job.aim
    if (lead := aim.budget.clock.lead) is not None:
        plan, tiled = planned(job.diagram, [option], aim.machine, aim.dtype)
        lead(
            Derivation(
                job.diagram, aim.machine, aim.dtype, plan, [option], tiled, laws.statements, dict(laws.verdicts), {}
            )
        )
    with aim.budget.clock.stage("explain"):
        for _ in range(1 + bool(entered)):
            try:
                fired, merged = option.graph.instances, option.graph.merged
                option.steps = explained(
                    option.source, option.placed, fired, laws.statements, aim.budget, entered, laws.verdicts, merged
                )
                require_accepted(option.source, option.placed.term, option.steps, laws.statements, laws.verdicts)
                return True
            except Undecided as reason:
                refusals.unexplained = str(reason)
                entered.clear()  # among what was tried for one plan in vain a chain to another is lost
    return False


def _validated(job: Job, option: Output, refusals: _Refusals) -> bool:
    """Tell whether a plan's kernels, in small, give what the diagram says, and note that on the plan."""
    with job.aim.budget.clock.stage("validate"):
        return accepted(job.diagram, option, job.aim.machine, job.aim.dtype, job.laws.proved, refusals.differing)


@dataclass(slots=True)
class _Refusals:
    """Why plans of a job were not taken: one that differs from the diagram, one without a chain and the microseconds of
    the fastest such, the least error of any."""

    job: Job
    differing: list[str] = field(default_factory=list)
    unexplained: str = ""
    missed: float = math.inf
    least: float = math.inf

    def reason(self) -> NapkinError:
        """Return what to raise where no plan is left."""
        plans = f"plan of {', '.join(self.job.names)}"
        name, limit = self.job.diagram.name, self.job.aim.max_error
        if self.differing:
            return WrongPlan(f"diagram {name}: no {plans} gives what the diagram says; {self.differing[0]}")
        if self.unexplained:
            return Undecided(self.unexplained)
        if limit is None:
            return NapkinError(f"diagram {name}: every {plans} was refused")
        return NapkinError(
            f"diagram {name}: no {plans} keeps to a relative error of {limit:g}; the most accurate rounds by"
            f" {self.least:.2g}"
        )


def _allowed(job: Job, option: Output) -> bool:
    """Tell whether a plan is not among those refused, and keeps to the error allowed."""
    limit = job.aim.max_error
    return option.placed.term not in job.aim.refused and (limit is None or error(job.diagram, option, job.aim) <= limit)


def error(diagram: Diagram, option: Output, aim: Aim) -> float:
    """Return the relative error of a plan's outputs, the largest."""
    plan, _ = planned(diagram, [option], aim.machine, aim.dtype)
    return max(unit_error(plan).values())


def _predicted(outputs: Sequence[Output]) -> float:
    return sum(output.placed.predicted_us for output in outputs)
