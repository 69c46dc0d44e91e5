"""The plan that there always is: the diagram as it is written, in one kernel or operator by operator, what each fold
gives stored.

It needs no search: reductions are streamed by one law, values are stored by others. It is taken where the search finds
nothing that can be explained, nothing within its limits, or nothing that is faster.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from napkin_eq.certify.chain import explained
from napkin_eq.egraph.nodes import Instance
from napkin_eq.egraph.saturate import saturate
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Map, Read, Reduce, Scan, Term, subterms
from napkin_eq.search.candidates import as_written, at_once, placer, streamed
from napkin_eq.search.derivation import Output
from napkin_eq.search.job import Job
from napkin_eq.tile.stream_facts import Streamed

WRITTEN = "as the diagram is written"
NOTE = f"{WRITTEN}: the search found no plan that it could explain within its limits"
FASTER = f"{WRITTEN}: what the search found is predicted to take %.1f us"


def unfused(job: Job, below: float = math.inf, kernels: float = math.inf, others: Sequence[Term] = ()) -> Output:
    """Return the plan of a job's outputs that stores nothing else, or what every fold gives; where that does not fit,
    what every operator gives.

    below: microseconds that it must take less than. kernels: how many of them another plan has: where that is one, this
    is none in one kernel. others: the terms of other plans: if all hold exponentials that may pass the range of the
    type, this may too. Raises NapkinError where not even that fits, or takes as long, or
    where the laws that it needs are left out, Undecided where it has no chain.
    """
    source = job.source
    body = streamed(source)
    instances = [_stream(t) for t in subterms(source) if isinstance(t, Reduce)]
    made = placer(job)
    read = {t.body for t in subterms(body) if isinstance(t, Read)}

    def folds(term: Term) -> bool:
        return isinstance(term, (*Streamed, Scan)) or (term in read and bool(term.children))

    def operators(term: Term) -> bool:
        return folds(term) or (isinstance(term, Map) and term.kind == "real" and bool(term.axes))

    placed = made.apart(body, folds, below) or made.apart(body, operators, below)
    least = below if placed is None else min(below, placed.predicted_us)
    if kernels > 1 and as_written(job, others):
        whole = made.whole(body, least)
        placed = whole if whole is not None and (at_once(whole) or (placed is None and below == math.inf)) else placed
    if placed is None or placed.predicted_us >= below:
        raise NapkinError(f"diagram {job.diagram.name}: {made.refusals[-1] if made.refusals else 'no plan fits'}")
    steps = explained(source, placed, instances, job.laws.statements)
    graph = saturate(source, (), rounds=0)
    graph.notes.append(NOTE if below == math.inf else FASTER % below)
    return Output(job.names, source, placed, steps, graph, job.aim.precision)


def _stream(term: Reduce) -> Instance:
    return Instance(f"stream-{term.monoid}", True, (("a", term.body), ("c", term.where), ("x", term.axis)))

