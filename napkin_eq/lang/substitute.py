"""Substitution: a coordinate along an axis gives way to another, down to the arrays, without capturing bound axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import reduce

from napkin_eq.lang.axis import Axis, named_anew
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.interval import interval
from napkin_eq.lang.term import (
    Const,
    Fold,
    Index,
    Input,
    Length,
    Map,
    Read,
    Reduce,
    Scan,
    Store,
    Term,
    Tuple,
    rebuilt,
    subterms,
)

Coordinates = tuple[tuple[str, Term], ...]
Task = tuple[Term, Coordinates]
Kept = Callable[[Term, Set[str]], bool]
MOST_PARTS = 100_000  # of a term and coordinates that are put into it, some ten seconds of work


def substituted(term: Term, coordinates: Mapping[str, Term], kept: Kept | None = None, clamps: bool = False) -> Term:
    """Return the term with the coordinate along each named axis replaced, all at once, by an integer term.

    What remains are Reads of an Input (or of a Scan, which needs its axis whole), and of values that `kept` holds of,
    which is given a value and the names of the axes: it says what is read at other coordinates and is no copy to
    compute again.
    clamps: what the term says of a coordinate itself, not of an array, is of one clamped into its axis, as a Read has
    it. A bound axis that an index also mentions is renamed first. Raises NapkinError where that would need a second
    name for a symbolic size, and for more than MOST_PARTS.
    """
    work = _Substitution((term, *coordinates.values()), kept, clamps)
    root = _task(term, coordinates)
    stack = [root]
    while stack:
        if len(work.done) > MOST_PARTS:
            raise NapkinError(
                f"read at other places it has more than {MOST_PARTS:,} parts: parts of it are read at many places each,"
                " over and over"
            )
        if stack[-1] in work.done:
            stack.pop()
        elif waiting := work.step(stack[-1]):
            stack.extend(waiting)
    return work.done[root]


def settled(root: Term) -> Term:
    """Return the term with every read of a computed value carried down to the arrays: copies are computed where they
    are read.
    """
    done: dict[Term, Term] = {}
    for term in subterms(root):
        made = rebuilt(term, tuple(done[c] for c in term.children))
        if isinstance(made, Read) and not isinstance(array_of(made), (Input, Scan)):
            made = substituted(made.body, {made.axis.name: made.index}, clamps=True)
        done[term] = made
    return done[root]


def named_apart(outputs: Sequence[Term]) -> tuple[Term, ...]:
    """Return terms in which a name is of one axis: of several, of other sizes, all but one have another name.

    A name that is new to the part that something is put into may be another axis' elsewhere. What an array spans, or an
    output, keeps its name.
    """
    spanned = [axis for output in outputs for axis in output.axes]
    parts = subterms(*outputs)
    spanned += [axis for part in parts if isinstance(part, Input) for axis in part.dims]
    found = dict.fromkeys([*spanned, *(f for t in parts for f in (*t.fields, *t.axes) if isinstance(f, Axis))])
    first: dict[str, Axis] = {}
    clash = [axis for axis in found if first.setdefault(axis.name, axis) != axis]
    if not clash or not {*clash}.isdisjoint(spanned) or any(axis.size is None for axis in clash):
        return tuple(outputs)  # a size that is not known has the name that it is given by
    taken = {axis.name for axis in found}
    names = {axis: Axis(named_anew(axis.name, taken), axis.size, axis.multiple) for axis in clash}
    done: dict[Term, Term] = {}
    for term in parts:
        done[term] = rebuilt(term, tuple(done[c] for c in term.children), names)
    return tuple(done[output] for output in outputs)


def array_of(term: Term) -> Term:
    """Return what reads are of, or the term itself."""
    while isinstance(term, Read):
        term = term.body
    return term


def _task(term: Term, coordinates: Mapping[str, Term]) -> Task:
    free = {axis.name for axis in term.axes}
    return term, tuple((name, coordinates[name]) for name in sorted(coordinates) if name in free)


def _names(node: Term) -> set[str]:
    return {axis.name for axis in node.axes} | ({node.axis.name} if "axis" in node.names else set())


class _Substitution:
    """What is done so far, under which coordinates; the names that are taken; the new axes of reductions."""

    def __init__(self, parts: Sequence[Term], kept: Kept | None, clamps: bool) -> None:
        self.parts, self.kept, self.clamps = parts, kept, clamps
        self.taken: set[str] | None = None  # not asked for until a new name is: they stand all over a term
        self.done: dict[Task, Term] = {}
        self.renamed: dict[Task, Axis] = {}

    def step(self, task: Task) -> list[Task]:
        """Do a task if what it needs is done, else return what it needs."""
        term, coordinates = task[0], dict(task[1])
        if not coordinates:
            self.done[task] = term
        elif isinstance(term, Index):
            index = coordinates[term.axis.name]
            self.done[task] = (
                index
                if not self.clamps or _within(index, term.axis)
                else Map("min", (Map("max", (index, Const(0))), Length(term.axis) - 1))
            )
        elif isinstance(term, (Input, Scan)) or (self.kept is not None and self.kept(term, coordinates.keys())):
            self.done[task] = self.read(term, coordinates)
        elif isinstance(term, Read):
            return self.step_read(task, term, coordinates)
        elif isinstance(term, (Map, Reduce, Fold, Store, Tuple)):
            return self.step_inside(task, term, coordinates)
        else:
            raise NapkinError(
                f"a {type(term).__name__} belongs to a derived term: choose coordinates in the diagram, before it is"
                " derived"
            )
        return []

    def step_read(self, task: Task, term: Term, coordinates: dict[str, Term]) -> list[Task]:
        # The index stands outside the read's own choice of a coordinate, the body under it.
        index = _task(term.index, coordinates)
        if index not in self.done:
            return [index]
        body = _task(term.body, coordinates | {term.axis.name: self.done[index]})
        if body not in self.done:
            return [body]
        self.done[task] = self.done[body]
        return []

    def step_inside(self, task: Task, term: Term, coordinates: dict[str, Term]) -> list[Task]:
        if isinstance(term, (Reduce, Fold)) and any(
            axis.name == term.axis.name for index in coordinates.values() for axis in index.axes
        ):
            if task not in self.renamed:
                self.renamed[task] = self.fresh(term.axis)
            coordinates[term.axis.name] = Index(self.renamed[task])
        parts = [_task(child, coordinates) for child in term.children]
        if missing := [part for part in parts if part not in self.done]:
            return missing
        self.done[task] = divided(
            _with_axis(term, self.renamed.get(task), tuple(self.done[part] for part in parts))
        )
        return []

    def fresh(self, axis: Axis) -> Axis:
        if axis.size is None:
            raise NapkinError(
                f"axis {axis.name} stands in a new coordinate and is also used up inside: rename one of them, or give"
                f" {axis.name} a size"
            )
        if self.taken is None:
            self.taken = {name for node in subterms(*self.parts) for name in _names(node)}
        number = 1
        while f"{axis.name}{number}" in self.taken:
            number += 1
        self.taken.add(f"{axis.name}{number}")
        return Axis(f"{axis.name}{number}", axis.size, axis.multiple)

    def read(self, array: Term, coordinates: dict[str, Term]) -> Term:
        """Return an array with coordinates chosen: one read for each axis, in an order in which no later read captures
        an earlier index.
        """
        dims = {axis.name: axis for axis in array.axes}
        waiting = {name: index for name, index in coordinates.items() if index is not Index(dims[name])}
        while waiting:
            told = {
                name: {axis.name for axis in index.axes} & (waiting.keys() - {name}) for name, index in waiting.items()
            }
            ready = [name for name in waiting if not told[name]]
            # Of several that wait for each other one that another's index mentions gives way: a new name is in no
            # index. One of a size that is known, if there is one: only such have new names.
            held = ready or set().union(*told.values())
            name = min(held, key=lambda own: (not ready and dims[own].size is None, own))
            index = waiting.pop(name)
            if ready:
                array = Read(array, dims[name], index)
            else:
                # Two axes trade places: the first waits under another name.
                fresh = self.fresh(dims[name])
                array, dims[fresh.name], waiting[fresh.name] = Read(array, dims[name], Index(fresh)), fresh, index
        return array


def divided(term: Term) -> Term:
    """Return a quotient or remainder of i n + j by n as i or j, where j is below n for certain; any other term as it
    is.
    """
    if not isinstance(term, Map) or term.op not in ("floordiv", "mod") or term.kind != "int":
        return term
    whole, divisor = term.args
    if not isinstance(divisor, Const) or (number := int(divisor.value)) <= 0:
        return term
    quotients, rests, stack = list[Term](), list[Term](), [whole]
    while stack:
        part = stack.pop()
        factor = part.args[1] if isinstance(part, Map) and part.op == "mul" else None
        if isinstance(part, Map) and part.op == "add":
            stack += reversed(part.args)
        elif isinstance(part, Map) and isinstance(factor, Const) and int(factor.value) % number == 0:
            times = int(factor.value) // number
            quotients.append(part.args[0] if times == 1 else part.args[0] * Const(times))
        else:
            rests.append(part)
    rest = _added(rests)
    low, high = interval(rest)
    if low < 0 or high > number - 1:
        return term
    return _added(quotients) if term.op == "floordiv" else rest


def _added(parts: Sequence[Term]) -> Term:
    return reduce(lambda a, b: a + b, parts) if parts else Const(0)


def _within(index: Term, axis: Axis) -> bool:
    """Tell whether an index lies in its axis for certain; of an axis of no known size only its own coordinate does."""
    if isinstance(index, Index) and index.axis == axis:
        return True
    low, high = interval(index)
    return low >= 0 and axis.size is not None and high <= axis.size - 1


def folded(term: Term, names: Set[str]) -> bool:
    """Tell whether a term holds folds that vary along some axes: at other coordinates they would be computed again."""
    return not folded_along(term).isdisjoint(names)


_FOLDED: dict[Term, frozenset[str]] = {}


def folded_along(root: Term) -> frozenset[str]:
    """Return the free axes of a term along which folds in it vary."""
    if root not in _FOLDED:
        for term in subterms(root, known=_FOLDED):
            inside = frozenset[str]().union(*(_FOLDED[c] for c in term.children))
            own = frozenset(a.name for a in term.axes)
            _FOLDED[term] = own if isinstance(term, (Reduce, Fold)) else own & inside
    return _FOLDED[root]


def _with_axis(term: Term, axis: Axis | None, parts: tuple[Term, ...]) -> Term:
    if axis is None:
        return rebuilt(term, parts)
    fields = (
        dict(zip(term.names, term.fields, strict=True))
        | {"axis": axis}
        | dict(zip(("body", "where"), parts, strict=True))
    )
    return type(term)(*fields.values())
