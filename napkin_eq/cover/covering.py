"""The whole job: a diagram's graph in sections, the cheapest cover of each, and all that as a plan with its chain of
steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from napkin_eq.certify.asked import require_asked
from napkin_eq.certify.certificate import require_accepted
from napkin_eq.cover import assembly
from napkin_eq.cover.apart import apart, clashes, counterparts
from napkin_eq.cover.assembly import Named, Part, Put, part_of, within
from napkin_eq.cover.choice import NO_LIMIT, Choice, Found, Limit
from napkin_eq.cover.pieces import Piece
from napkin_eq.cover.pricing import Proved, pool
from napkin_eq.cover.program import Chosen
from napkin_eq.cover.sections import Section, sections, whole
from napkin_eq.cover.told import told as told_of
from napkin_eq.cover.workers import Pool
from napkin_eq.egraph.congruence import Step
from napkin_eq.egraph.saturate import saturate
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError, Undecided
from napkin_eq.lang.term import Index, Input, Online, Read, Term, Tuple, axis_names, subterms
from napkin_eq.search.derivation import Output
from napkin_eq.search.job import Job
from napkin_eq.search.placement import Placed

Renaming = Callable[[Axis], Axis]
# A diagram's term, its placement by all kernels, the chain between, names of arrays
Whole = tuple[Term, Placed, list[Step], list[Named]]


class _Refused(Undecided):
    """The checker does not accept the chain of a plan whose kernels have chains."""


def covered(job: Job, ends: Sequence[Sequence[Term]] = (), limit: Limit = NO_LIMIT) -> Output:
    """Return the plan of a job's outputs as a cover of their graph by kernels; ends: values with which sections of it
    end, where these are known; limit: what it must stay under.

    Raises NapkinError where some output is in no candidate's reach, or a few prices show that hardly any
    cover stays under what it must, Undecided where the checker does not accept the chain.
    """
    outputs, clock = tuple(term for _, term in job.diagram.outputs), job.aim.budget.clock
    if len(set(outputs)) < len(outputs):
        raise NapkinError(f"diagram {job.diagram.name}: two outputs are one value; name it once")
    with clock.stage("extract"):
        listed = [whole(outputs)] if job.aim.held else sections(outputs, job.laws.proved, ends)
        wanted = {term: job.aim.order(name, term) for name, term in job.diagram.outputs}
        *before, last = listed
        own = (wanted.get(value, order) for value, order in zip(last.outputs, last.orders, strict=True))
        listed = [*before, replace(last, orders=tuple(own))]
    found, (source, placed, steps, named) = _first_accepted(job, outputs, listed, limit)
    graph = saturate(listed[0].terms[0], (), rounds=0)  # an e-graph of nothing but its numbers
    proofs = [proved for section in found for _, proved in section.pieces]
    graph = replace(graph, nodes=sum(f.nodes for f in proofs), rounds=max(f.rounds for f in proofs), instances=[])
    option = Output(job.names, source, placed, steps, graph, job.aim.precision)
    option.translation = assembly.validated([f.translation for f in proofs])
    option.cover = _report(found, named)
    return option


def _first_accepted(
    job: Job, outputs: tuple[Term, ...], listed: Sequence[Section], limit: Limit
) -> tuple[list[_Section], Whole]:
    """Return the covers of sections, and all of them as one plan, in the first way whose chain the checker accepts.

    A sum that is carried by steps asks that what it sums walks its axis nowhere: of a kernel alone that holds, and of
    what its arrays stand for it may not. What was priced and proved is remembered: kernels of one value each take
    little more. Where there was no time to derive kernels, there is none to seek others either.
    """
    plainer = replace(job, laws=job.laws.without_steps())
    try:
        with pool(job.aim, job.laws) as workers:
            try:
                return _accepted(job, outputs, listed, workers, joining=True, limit=limit)
            except _Refused:
                return _accepted(job, outputs, listed, workers, joining=False, limit=limit)
    except _Refused:
        if plainer.laws is job.laws or job.aim.budget.left() <= 0:
            raise
    with pool(plainer.aim, plainer.laws) as workers:  # nothing of it is remembered: it takes as long once more
        return _accepted(plainer, outputs, listed, workers, joining=True, limit=limit)


def _accepted(
    job: Job, outputs: tuple[Term, ...], listed: Sequence[Section], workers: Pool, joining: bool, limit: Limit
) -> tuple[list[_Section], Whole]:
    """Return the covers of sections, and all of them as one plan whose chain the checker accepts; raises _Refused
    where it does not.

    joining: kernels may compute several values.
    """
    clock = job.aim.budget.clock
    with clock.stage("extract"):
        found = _sections(job, listed, workers, joining, limit)
    try:
        return found, _whole(job, outputs, listed, found)
    except _Refused:
        with clock.stage("extract"):
            last = _last_apart(job, listed, found[-1], workers, joining)
        if last is None:
            raise
    found[-1] = last
    return found, _whole(job, outputs, listed, found)


def _whole(job: Job, outputs: tuple[Term, ...], listed: Sequence[Section], found: Sequence[_Section]) -> Whole:
    """Return the covers of sections as one plan whose chain the checker accepts; raises _Refused where it does not."""
    with job.aim.budget.clock.stage("extract"):
        outputs, parts = _joined(outputs, listed, found)
    with job.aim.budget.clock.stage("explain"):
        source = outputs[0] if len(outputs) == 1 else Tuple(outputs)
        placed, steps, named = assembly.assembled(outputs, parts, job.names, job.aim.machine)
        try:
            require_accepted(source, placed.term, steps, job.laws.statements, job.laws.verdicts)
        except Undecided as reason:
            raise _Refused(str(reason)) from reason
    return source, placed, steps, named


def _sections(
    job: Job, listed: Sequence[Section], workers: Pool, joining: bool, limit: Limit
) -> list[_Section]:
    """Cover each section of a graph, equal ones once; limit: what all of them must stay under."""
    known: dict[tuple[Term, ...], _Section] = {}
    for section in listed:
        if section.terms not in known:
            known[section.terms] = _section(job, section, workers, joining, limit if len(listed) == 1 else NO_LIMIT)
    return [known[section.terms] for section in listed]


def _joined(
    outputs: tuple[Term, ...], listed: Sequence[Section], covers: Sequence[_Section]
) -> tuple[tuple[Term, ...], list[Part]]:
    """Put the covers of sections together: return the outputs as they are proved, and the kernels in order."""
    names_taken = axis_names(*outputs)
    # Values at which sections end, as they are proved, and what their axes are called there
    held: dict[Term, tuple[Term, Renaming]] = {}
    parts: list[Part] = []
    for number, (section, found) in enumerate(zip(listed, covers, strict=True)):
        axes: Renaming = _Apart(names_taken, number) if section.own and number + 1 < len(listed) else _same
        put = Put(_given(section, held, axes), axes)
        parts += [within(part_of(piece, made), put) for piece, made in found.pieces]
        held |= {value: (put(term), axes) for value, term in zip(section.outputs, found.outputs, strict=True)}
    return tuple(held[output][0] for output in outputs), parts


@dataclass(frozen=True, slots=True)
class _Section:
    """A section covered: its outputs, bound axes named apart, the pieces in order, and the search that found them."""

    outputs: tuple[Term, ...]
    pieces: list[tuple[Piece, Proved]]
    chosen: Chosen
    work: Choice


def _section(job: Job, section: Section, workers: Pool, joining: bool, limit: Limit) -> _Section:
    """Cover a section; where a kernel would hold what was folded over an axis that it streams over, once more with that
    axis named apart.
    """
    outputs = section.terms
    names = [f"o{i}" for i in range(len(outputs))] if section.arrays else job.names
    work = Choice(job.on(zip(names, outputs, strict=True)), section.orders, workers, joining, limit)
    chosen, pieces = work.derived()
    found = _Section(outputs, pieces, chosen, work)
    clash: dict[str, set[Term]] = {}
    for piece, proved in pieces:
        for axis, values in clashes(proved.placed.term, piece.candidate.reads).items():
            clash.setdefault(axis, set()).update(values)
    return _named_apart(job, section, found, clash, workers, joining) if clash else found


def _named_apart(
    job: Job, section: Section, found: _Section, clash: Mapping[str, Set[Term]], workers: Pool, joining: bool
) -> _Section:
    """Return the same cover of a section whose folds above some values are over axes of other names."""
    outputs = found.outputs
    named = apart(outputs, clash, found.work.graph.kept)
    require_asked(f"diagram {job.diagram.name}", outputs, named)
    candidates = [piece.candidate for piece, _ in found.pieces]
    known = Found(candidates, counterparts(outputs, named), found.chosen.price, found.work.bound)
    names = [f"o{i}" for i in range(len(outputs))] if section.arrays else job.names
    work = Choice(job.on(zip(names, named, strict=True)), section.orders, workers, joining)
    chosen, pieces = work.derived(known)
    return _Section(named, pieces, chosen, work)


def _last_apart(
    job: Job, listed: Sequence[Section], found: _Section, workers: Pool, joining: bool
) -> _Section | None:
    """Return the last section's cover with streams over no axis that an earlier section has; None where it has none.

    The axes of the last section keep their names, for those of the outputs: what its arrays stand for reads the
    diagram's arrays along axes so named, and a law that asks for a value that walks an axis nowhere does not hold.
    """
    section = listed[-1]
    values = {array for array, value in section.arrays.items() if not isinstance(value, Input)}
    earlier = {a.name for s in listed[:-1] for t in subterms(*s.terms) if isinstance(t, Input) for a in t.dims}
    streams = {t.axis.name for _, p in found.pieces for t in subterms(p.placed.term) if isinstance(t, Online)}
    clash = dict.fromkeys(sorted(streams & earlier), values) if values else {}
    return _named_apart(job, section, found, clash, workers, joining) if clash else None


def _same(axis: Axis) -> Axis:
    return axis


def _given(section: Section, held: Mapping[Term, tuple[Term, Renaming]], axes: Renaming) -> dict[Term, Term]:
    """Return what each array of a section stands for, read along the axes of the section."""
    found: dict[Term, Term] = {}
    for array, value in section.arrays.items():
        term, named = held.get(value, (value, _same))
        for dim in array.dims:
            if named(dim) != axes(dim):
                term = Read(term, named(dim), Index(axes(dim)))
        found[array] = term
    return found


def _report(found: Sequence[_Section], named: Sequence[Named]) -> dict[str, Any]:
    """Return what is told of a cover: what is stored, its price and bound in microseconds, how many candidates there
    were.

    Candidates are counted once of equal sections. named: the arrays of every kernel, or few that are one candidate, by
    their names in the plan.
    """
    different = [section for i, section in enumerate(found) if all(section is not other for other in found[:i])]
    once = [told_of(section.work, section.chosen, section.pieces) for section in different]
    told = [next(t for t, other in zip(once, different, strict=True) if other is section) for section in found]
    waited = found[0].work.waited
    price, bound = (sum(t[word] for t in told) + waited for word in ("price", "bound"))
    others = [t["next"] - t["price"] for t in told if t["next"] is not None]
    return {
        "kernels": [
            {"stores": list(names.stores), "reads": list(names.reads), **kernel}
            for names, kernel in zip(named, (kernel for t in told for kernel in t["kernels"]), strict=True)
        ],
        "predicted_us": round(price, 3),
        "bound_us": round(bound, 3),
        "gap": round(price / bound - 1, 6) if bound > 0 else None,
        "next_us": round(price + min(others), 3) if others else None,
        "library_us": round(sum(t["price"] if t["library"] is None else t["library"] for t in told) + waited, 3),
        "method": "; ".join(dict.fromkeys(t["method"] for t in told)),
        **{word: sum(t[word] for t in once) for word in ("candidates", "priced", "cuts")},
        "sections": len(told),
        "different_sections": len(once),
    }


class _Apart:
    """Axes of a section by names that no other section has: a stream must not hold what was folded over an axis of its
    name.
    """

    def __init__(self, taken: set[str], number: int) -> None:
        self.taken, self.number = taken, number
        self.known: dict[Axis, Axis] = {}

    def __call__(self, axis: Axis) -> Axis:
        if axis not in self.known:
            number = self.number
            while f"{axis.name}_{number}" in self.taken:
                number += 1
            self.taken.add(f"{axis.name}_{number}")
            self.known[axis] = Axis(f"{axis.name}_{number}", axis.size, axis.multiple)
        return self.known[axis]
