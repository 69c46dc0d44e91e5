"""Axes that lie side by side in every array of a kernel, taken as one: the tokens of all sequences are rows of one
matrix.

The matrix unit takes tiles along one axis of rows and one of columns. Of a batch of short sequences a tile of the rows
of one is mostly padding, and of a few heads one of the columns of one is narrow. Where arrays have such axes next to
each other, in one order, and the kernel does the same at each of their places, a tile may lie across both: the arrays
are the same bytes, seen with one axis less.

    merged(store, targets, arrays)     the kernel's Store and arrays with such axes merged; `.kernel(...)` lowers it

Only what a contraction takes as rows or columns is merged: what both operands vary along gains nothing by it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.dtypes import BY_SHORT
from napkin_eq.lang.term import Group, Input, Map, Proj, Store, Term, rebuilt, subterms
from napkin_eq.laws.law import Judgment
from napkin_eq.tile import ir as p
from napkin_eq.tile.lower.elementwise import Proved
from napkin_eq.tile.lower.kernel import Lowering
from napkin_eq.tile.lower.reductions import NARROW
from napkin_eq.tile.stream_facts import Streamed, kernel_terms, modes_of, plain

LONGEST = 40  # of the name of an axis that is made of those that it stands for
MOST = 2**31 - 1  # places along an axis: coordinates have 32 bits
Run = tuple[Axis, tuple[Axis, ...]]  # an axis, and those side by side that it stands for, the slowest first


@dataclass(frozen=True, slots=True)
class Merged:
    """A kernel to be lowered: its Store, the arrays that it writes, and those of other kernels that it reads; `axes`
    are those that stand for several.

    own: what its leaves are in the plan.
    """

    store: Store
    targets: tuple[p.Buffer, ...]
    arrays: Mapping[Term, p.Buffer]
    axes: tuple[Run, ...] = ()
    own: Mapping[Term, Term] = field(default_factory=dict)

    def kernel(self, tiles: Mapping[str, int], storage: str, proved: Proved, precision: str = NARROW) -> p.Kernel:
        """Return the kernel with some tiles, those of merged axes by their names; raises NapkinError as Lowering."""
        known = self.proved(proved) if self.axes else proved
        made = Lowering("kernel__", self.store, self.targets, tiles, self.arrays, storage, known, precision).kernel()
        return replace(made, merged=self.axes)

    def proved(self, proved: Proved) -> Proved:
        """Return what tells whether a judgment holds of terms over merged axes: whether it does of what these stand
        for.
        """
        done = {new: plain(old) for new, old in self.own.items()}

        def given(term: Term) -> Term:
            for part in subterms(term):
                if part not in done:
                    done[part] = rebuilt(part, tuple(done[child] for child in part.children))
            return done[term]

        axes = {axis for axis, _ in self.axes}

        def holds(judgment: Judgment) -> bool:
            if not axes.isdisjoint(judgment.args):
                return False  # of a merged axis itself nothing is known
            args = tuple(given(arg) if isinstance(arg, Term) else arg for arg in judgment.args)
            return proved(replace(judgment, args=args))

        return holds


def merged(store: Store, targets: Sequence[p.Buffer], arrays: Mapping[Term, p.Buffer]) -> Merged:
    """Return a kernel with the axes merged that lie side by side, itself where there are none.

    arrays: of the values of other kernels that it reads, Stores or the Proj of one. Whether axes are merged depends on
    no size, as long as coordinates have enough bits, but on whether it is known.
    """
    terms = kernel_terms(store)[:-1]
    leaves = [t for t in terms if isinstance(t, (Input, Store, Proj))]
    dims = [arrays[t].dims if t in arrays else getattr(t, "dims", ()) for t in leaves]
    runs = _runs(store, [*(target.dims for target in targets), *dims], terms)
    if not runs:
        return Merged(store, tuple(targets), arrays)
    view = _View(_named(runs, {f.name for t in terms for f in (*t.fields, *t.axes) if isinstance(f, Axis)}))
    taken = {t.name for t in leaves if isinstance(t, Input)}
    names = (name for name in (f"held{i}" for i in itertools.count()) if name not in taken)
    given: dict[Term, p.Buffer] = {}
    seen: dict[Term, Term] = {}
    for leaf in leaves:
        if leaf in arrays:
            buffer = view.buffer(arrays[leaf])
            seen[leaf] = Input(next(names), buffer.dims, BY_SHORT[buffer.dtype].name)
            given[seen[leaf]] = buffer
        else:
            assert isinstance(leaf, Input)
            seen[leaf] = Input(leaf.name, view.dims(leaf.dims), leaf.dtype, leaf.facts)
    made = view.store(store, [*terms, store], dict(seen))
    own = {new: old for old, new in seen.items()}
    return Merged(made, tuple(map(view.buffer, targets)), given, view.axes, own)


def _runs(store: Store, arrays: Sequence[tuple[Axis, ...]], terms: Sequence[Term]) -> list[tuple[Axis, ...]]:
    """Return the axes to merge: side by side in the dimensions of all arrays, grouped, and rows or columns of some
    contraction.
    """
    roles, _ = modes_of(store)
    # What speaks of an axis by itself, or of another axis of its name
    spoken = {f.name for t in terms if not isinstance(t, (Group, Input)) for f in t.fields if isinstance(f, Axis)}
    free = [a for a in store.axes if roles.get(a.name) == "group" and a.size is not None and a.name not in spoken]
    beside: dict[Axis, Axis] = {}
    for one in free:
        after = {dims[dims.index(one) + 1] if one != dims[-1] else None for dims in arrays if one in dims}
        if len(after) == 1 and (other := after.pop()) in free and sum(other in dims for dims in arrays) == sum(
            one in dims for dims in arrays
        ):  # fmt: skip
            assert other is not None
            beside[one] = other
    runs = []
    for axis in free:
        if axis in beside and axis not in beside.values():
            run = [axis]
            while run[-1] in beside:
                run.append(beside[run[-1]])
            runs.append(tuple(run))
    sides = [[{*arg.axes} for arg in factors] for t in terms if (factors := _factors(t)) is not None]
    taken = [run for run in runs if any((run[0] in left) != (run[0] in right) for left, right in sides)]
    return [run for run in taken if math.prod(axis.size or 1 for axis in run) <= MOST]


def _factors(term: Term) -> tuple[Term, ...] | None:
    """Return the factors of a sum of products, None of any other term."""
    product = term.body if isinstance(term, Streamed) else None
    return product.args if isinstance(product, Map) and product.op == "mul" else None


def _named(runs: Sequence[tuple[Axis, ...]], taken: set[str]) -> tuple[Run, ...]:
    """Return a new axis for each run of axes."""

    def names(run: tuple[Axis, ...]) -> Iterator[str]:
        joined = "_".join(axis.name for axis in run)
        if len(joined) <= LONGEST and "__" not in joined:
            yield joined
        yield from (f"m{i}" for i in itertools.count())

    found: list[Run] = []
    for run in runs:
        name = next(n for n in names(run) if n not in taken)
        taken = taken | {name}
        found.append((Axis(name, math.prod(axis.size or 1 for axis in run)), run))
    return tuple(found)


class _View:
    """Terms and arrays seen along merged axes."""

    def __init__(self, axes: tuple[Run, ...]) -> None:
        self.axes = axes
        self.first = {run[0]: axis for axis, run in axes}
        self.rest = {part for _, run in axes for part in run[1:]}

    def dims(self, dims: Sequence[Axis]) -> tuple[Axis, ...]:
        return tuple(self.first.get(axis, axis) for axis in dims if axis not in self.rest)

    def buffer(self, buffer: p.Buffer) -> p.Buffer:
        return replace(buffer, dims=self.dims(buffer.dims))

    def store(self, store: Store, terms: Sequence[Term], done: dict[Term, Term]) -> Store:
        """Return a Store, given its terms, children first, and what is made of its arrays."""
        for term in terms:
            if term not in done:
                if isinstance(term, Group) and term.axis in self.rest:
                    done[term] = done[term.body]
                elif isinstance(term, Group) and term.axis in self.first:
                    done[term] = Group(self.first[term.axis], done[term.body])
                else:
                    done[term] = rebuilt(term, tuple(done[child] for child in term.children))
        found = done[store]
        assert isinstance(found, Store)
        return found
