"""A candidate as a diagram of its own: arrays in the place of the stored values that it reads, and how its outputs are
stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from napkin_eq.cover.candidates import Candidate, with_placeholders
from napkin_eq.cover.graph import FEW, Graph, facts_of
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.dtypes import BY_NAME, STORAGE, held_as
from napkin_eq.lang.evaluate import output_order
from napkin_eq.lang.interval import wide
from napkin_eq.lang.term import Const, Input, Map, Read, Recur, Reduce, Scan, Term, Tuple, subterms
from napkin_eq.laws.law import Judgment
from napkin_eq.machine.cost import elements
from napkin_eq.search.candidates import Stored
from napkin_eq.tile.resources import BYTES
from napkin_eq.tile.stream_facts import contracted, multiplied


@dataclass(frozen=True, slots=True)
class Piece:
    """A candidate with its term over arrays, those arrays by the value that each stands for, and its
    outputs as stored.
    """

    candidate: Candidate
    source: Term
    arrays: Mapping[Term, Input]
    outputs: tuple[Stored, ...]
    key: str


class Storage:
    """How the values of a graph are stored: names, types, orders of axes, and what is known of them.

    free: bytes so few that to move them costs next to nothing.
    """

    def __init__(
        self, graph: Graph, named: Mapping[Term, str], dtype: str, proved: Callable[[Judgment], bool],
        held: Mapping[str, str] | None = None, orders: Mapping[Term, tuple[Axis, ...]] | None = None,
        free: float = 0.0,
    ) -> None:
        terms = subterms(*graph.outputs)
        taken = {t.name for t in terms if isinstance(t, Input)} | set(named.values())
        largest = max(elements(t.axes) for t in (*graph.outputs, *(t for t in terms if isinstance(t, Input))))
        operands, batched, decisive = _operands(terms), _batched(terms, set(graph.cuts)), _decisive(terms)
        self.arrays: dict[Term, Input] = {}
        self.stored: dict[Term, Stored] = {}
        for number, cut in enumerate(graph.cuts):
            name = named.get(cut) or next(
                n for n in (f"v{number}_{i}" if i else f"v{number}" for i in range(len(taken) + 1)) if n not in taken
            )
            # What costs next to nothing is kept in float32.
            count = elements(cut.axes)
            small = (
                (count * FEW <= largest or BYTES["f32"] * count <= free) and cut not in operands and cut not in named
            )
            # A count that was rounded equals no place, and products of many numbers soon pass the range of a type that
            # has less of it.
            small |= cut in decisive and cut not in named
            small |= (
                BY_NAME[dtype].top < BY_NAME["bfloat16"].top
                and cut not in named
                and any(map(_multiplies, subterms(cut)))
            )
            kept = (held or {}).get(name) or {"int": "int64" if wide(cut) else "int32", "bool": "bool"}.get(
                cut.kind, "float32" if small else "float"
            )
            apart = batched.get(cut, frozenset()) | _counting(cut)
            dims = (orders or {}).get(cut) or (
                output_order(cut) if cut in named else _laid(output_order(cut), apart)
            )
            self.arrays[cut] = Input(name, dims, kept, facts_of(cut, proved))
            self.stored[cut] = Stored(name, held_as(kept, STORAGE[dtype]), dims)

    def piece(self, candidate: Candidate) -> Piece:
        """Return a candidate as a diagram of its own."""
        arrays = {read: self.arrays[read] for read in candidate.reads}
        terms = with_placeholders(candidate, arrays)
        outputs = tuple(self.stored[out] for out in candidate.outs)
        return Piece(candidate, terms[0] if len(terms) == 1 else Tuple(terms), arrays, outputs, key_of(terms, outputs))


def _decisive(terms: list[Term]) -> set[Term]:
    """Return the values by which something is decided: compared, but with 0, taken to a whole number, or of which the
    largest has a place.
    """
    found = set[Term]()
    stack: list[Term] = []
    for term in terms:
        if (
            isinstance(term, Map)
            and (term.kind == "bool" or term.op in ("floor", "round"))
            and Const(0.0) not in term.args
            and Const(0) not in term.args
        ):
            stack += [arg for arg in term.args if arg.kind == "real"]
        elif isinstance(term, (Reduce, Scan)) and term.monoid == "argmax":
            stack.append(term.body)
    while stack:
        term = stack.pop()
        if term not in found:
            found.add(term)
            stack += [t for t in term.children if t.kind == "real"] if isinstance(term, (Map, Read)) else []
    return found


def _multiplies(term: Term) -> bool:
    return isinstance(term, Recur) or (isinstance(term, (Reduce, Scan)) and term.monoid == "prod")


def _operands(terms: list[Term]) -> set[Term]:
    """Return the values that only contractions read, also at other coordinates: the matrix unit rounds them anyway."""
    sides = {t.body for t in terms if contracted(t) is not None}
    inside, elsewhere = set[Term](), set[Term]()
    for term in reversed(terms):  # who reads a value is known before what it is a reading of
        (inside if term in sides or (isinstance(term, Read) and term not in elsewhere) else elsewhere).update(
            term.children
        )
    return inside - elsewhere


def _batched(terms: list[Term], stored: set[Term]) -> dict[Term, frozenset[str]]:
    """Return, of the values that are stored, the axes that each contraction which reads one takes one place after
    another: both operands have them.

    What a contraction reads through another fold does not count, nor does an axis along which a value is read at other
    coordinates.
    """
    found: dict[Term, frozenset[str]] = {}
    # A contraction over several axes
    around = {t.body: t for t in terms if isinstance(t, Reduce) and isinstance(t.body, Reduce)}
    for term in terms:
        if (product := contracted(term)) is None:
            continue
        shared = frozenset.intersection(*(frozenset(a.name for a in side.axes) for side in product))
        fold: Term | None = term
        while isinstance(fold, Reduce):
            shared, fold = shared - {fold.axis.name}, around.get(fold)
        waiting: list[tuple[Term, frozenset[str]]] = [(side, shared) for side in product]
        seen = set(waiting)
        while waiting:
            part, axes = waiting.pop()
            if part in stored:
                found[part] = found.get(part, axes) & axes
            if isinstance(part, (Reduce, Scan)):
                continue
            inside = axes - {part.axis.name} if isinstance(part, Read) else axes
            fresh = {(child, inside) for child in part.children if child.axes} - seen
            seen |= fresh
            waiting += sorted(fresh, key=lambda way: str(way[0]))
    return found


def _counting(cut: Term) -> frozenset[str]:
    """Return the axes of a value that count stretches: kernels take these one after another.

    No array lies along such an axis, and it is compared only a whole number of times, as the start of a stretch is.
    """
    terms = subterms(cut)
    given = {a.name for t in terms if isinstance(t, Input) for a in t.dims}
    compared = [t for t in terms if isinstance(t, Map) and t.op in ("le", "lt")]
    found = {axis.name for term in compared for axis, _ in multiplied(term)}
    return frozenset((found - given) & {a.name for a in cut.axes})


def _laid(order: tuple[Axis, ...], batched: frozenset[str]) -> tuple[Axis, ...]:
    """Return the storage order of a value: if neighbours in memory would lie along an axis that readers take one place
    after another, such come first.
    """
    if not order or order[-1].name not in batched:
        return order
    return tuple(sorted(order, key=lambda a: a.name not in batched))


def key_of(terms: tuple[Term, ...], outputs: tuple[Stored, ...]) -> str:
    """Return a text that is the same for what is the same up to the names of axes and arrays."""
    axes: dict[str, int] = {}
    names: dict[str, int] = {}
    places: dict[Term, int] = {}

    def said(field: Any) -> str:
        if isinstance(field, Term):
            return f"t{places[field]}"
        if isinstance(field, Axis):
            return f"a{axes.setdefault(field.name, len(axes))}:{field.size}:{field.multiple}"
        if isinstance(field, tuple):
            return "(" + ",".join(map(said, field)) + ")"
        return f"{type(field).__name__}:{field!r}"

    rows = []
    for term in subterms(*terms):
        fields = term.fields
        if isinstance(term, Input):
            fields = (names.setdefault(term.name, len(names)), *term.fields[1:])
        rows.append(f"{type(term).__name__}({','.join(map(said, fields))})")
        places[term] = len(places)
    ends = [f"{said(t)} {o.dtype} {said(o.dims)}" for t, o in zip(terms, outputs, strict=True)]
    return ";".join([*rows, *ends])
