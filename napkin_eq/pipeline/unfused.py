"""The plan that there always is: the diagram as it is written, operator by operator, what each fold gives stored.

It needs no search: reductions are streamed by one law, values are stored by others. It is taken where the search finds nothing
that can be explained, or nothing within its limits.
"""

from __future__ import annotations

from napkin_eq.certify.chain import explained
from napkin_eq.egraph.nodes import Instance
from napkin_eq.egraph.saturate import saturate
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Fold, Map, Read, Reduce, Scan, Term, rewritten, subterms
from napkin_eq.laws.law import Statement
from napkin_eq.search.candidates import Aim, placer
from napkin_eq.search.derivation import Output
from napkin_eq.tile.stream_facts import Streamed

NOTE = "operator by operator, as the diagram is written: the search found no plan that it could explain within its limits"


def unfused(diagram: Diagram, names: tuple[str, ...], source: Term, aim: Aim, statements: list[Statement]) -> Output:
    """Return the plan of an output, or of several, that stores what every fold gives; where that does not fit, what every operator gives.

    Raises NapkinError where not even that fits, or where the laws that it needs are left out, Undecided where it has no chain.
    """
    body = rewritten(source, _streamed)
    instances = [_stream(t) for t in subterms(source) if isinstance(t, Reduce)]
    made = placer(names, source, aim, statements)
    read = {t.body for t in subterms(body) if isinstance(t, Read)}

    def folds(term: Term) -> bool:
        return isinstance(term, (*Streamed, Scan)) or (term in read and bool(term.children))

    def operators(term: Term) -> bool:
        return folds(term) or (isinstance(term, Map) and term.kind == "real" and bool(term.axes))

    placed = made.apart(body, folds) or made.apart(body, operators)
    if placed is None:
        raise NapkinError(f"diagram {diagram.name}: {made.refusals[-1] if made.refusals else 'no plan fits'}")
    steps = explained(source, placed, instances, statements)
    graph = saturate(source, (), rounds=0)
    graph.notes.append(NOTE)
    return Output(names, source, placed, steps, graph, aim.precision)


def _streamed(term: Term) -> Term:
    return Fold(term.monoid, term.axis, term.body, term.where) if isinstance(term, Reduce) else term


def _stream(term: Reduce) -> Instance:
    return Instance(f"stream-{term.monoid}", True, (("a", term.body), ("c", term.where), ("x", term.axis)))

