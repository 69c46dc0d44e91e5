"""Axes that lie side by side in every array of a kernel, taken as one: the tokens of all sequences are rows of one
matrix.

The matrix unit takes tiles along one axis of rows and one of columns. Of a batch of short sequences a tile of the rows
of one is mostly padding, and of a few heads one of the columns of one is narrow. Where arrays have such axes next to
each other, in one order, and the kernel does the same at each of their places, a tile may lie across both: the arrays
are the same bytes, seen with one axis less.

    ways(store, targets, arrays)            the kernel's Store and arrays with such axes merged, to be lowered
    merged(store, targets, arrays, axes)    the same with the axes of a kernel of other sizes

Only what a contraction takes as rows or columns is merged: what both operands vary along gains nothing by it. Where the
arrays read do not have short axes side by side, as windows of an image do not, tiles may lie across them all the same:
what is read is read at places, the quotients and remainders of the place along both. So may a loop walk all axes that a
contraction is summed over, channels and windows, where whole tiles lie along the last: its loads then are ahead of the
matrix unit throughout, where those of a loop within loops are ahead in each of its few turns alone.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from napkin_eq.lang.axis import Axis, minor
from napkin_eq.lang.dtypes import BY_SHORT
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.operators import OPS
from napkin_eq.lang.term import (
    Const,
    Fold,
    Group,
    Index,
    Input,
    Map,
    Proj,
    Read,
    Recur,
    Scan,
    Size,
    Store,
    Term,
    Walk,
    rebuilt,
    subterms,
)
from napkin_eq.laws.law import Judgment, zero
from napkin_eq.tile import ir as p
from napkin_eq.tile.lower.elementwise import Proved, far
from napkin_eq.tile.lower.kernel import Lowering
from napkin_eq.tile.lower.reductions import NARROW
from napkin_eq.tile.places import linear, read_places
from napkin_eq.tile.stream_facts import MIN_DOT, WINDOW, Streamed, kernel_terms, modes_of, plain

LONGEST = 40  # of the name of an axis that is made of those that it stands for
# Elements of an axis, up to which tiles along it alone may be much larger than it is; what fills them
SHORT, FULL = 256, 64
HELD = 1024  # places that a contraction is summed over, of which a block holds all
LARGEST = 256  # places in a tile of a loop over several axes
STEP = 4  # how far apart the places lie at which neighbours read
# Places of windows, of which blocks that go through memory hold all: short rows of several images side by side took 1.4
# to 1.7 times as long on an H100 for windows of 2 x 2 and 2 x 2 x 2; of larger ones each place has many instructions
FEW_HELD = 8
FEW = 1  # arrays that blocks which go through memory read at a quotient or a rest of the place
LITTLE = 8  # times as much is written as is read of an array that lies otherwise
MOST = 2**31 - 1  # places along an axis: coordinates have 32 bits
Chain = tuple[tuple[Axis, ...], tuple[Fold, ...]]  # axes, the slowest first, and the sums over them, outermost first
Run = tuple[Axis, tuple[Axis, ...]]  # an axis, and those side by side that it stands for, the slowest first


@dataclass(frozen=True, slots=True)
class Merged:
    """A kernel to be lowered: its Store, the arrays that it writes, and those of other kernels that it reads; `axes`
    are those that stand for several.

    own: what its leaves are in the plan. within: by the name of an axis that a loop walks for several, how many places
    are along the last of these: whole tiles lie along it.
    """

    store: Store
    targets: tuple[p.Buffer, ...]
    arrays: Mapping[Term, p.Buffer]
    axes: tuple[Run, ...] = ()
    own: Mapping[Term, Term] = field(default_factory=dict)
    within: Mapping[str, int] = field(default_factory=dict)

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
            try:
                args = tuple(given(arg) if isinstance(arg, Term) else arg for arg in judgment.args)
            except NapkinError:
                return False  # of a fold along one nothing is asked either
            return proved(replace(judgment, args=args))

        return holds


def ways(store: Store, targets: Sequence[p.Buffer], arrays: Mapping[Term, p.Buffer], proved: Proved) -> list[Merged]:
    """Return the ways to lower a kernel: with the axes merged that lie side by side in all of its arrays; and where
    that leaves it short rows, with those of them merged that do so in what it writes. What a contraction is summed over
    is merged where it can be; where it is little, it is each by itself in one way more.

    arrays: of the values of other kernels that it reads, Stores or the Proj of one. proved: tells whether a judgment
    holds.
    """
    kernel = _Kernel(store, targets, arrays, proved)
    if kernel.folds_nothing():
        through = kernel.flat() or kernel.over_windows()
        once = not through or kernel.computes_once(through, kernel.terms)
        beside = [kernel.side_by_side(rows=False)] if once else []
        return [kernel.merged(run, []) for run in [*([[through]] if through else []), *beside]]
    if through := kernel.over_windows():
        beside = [] if kernel.moves(through) else [kernel.side_by_side()]
        return [kernel.merged(run, []) for run in [[through], *beside]]
    chains = kernel.chains()
    summed = [run for run, _ in chains]
    rows = [kernel.side_by_side()]
    if not rows[0] and (across := kernel.short_rows() or kernel.across(chains)):
        rows.append(across)
    found = [kernel.merged([*run, *summed], chains) for run in rows]
    if summed and all(math.prod(axis.size or 1 for axis in run) <= HELD for run in summed):
        found.append(kernel.merged(rows[0], []))  # a block may hold all of them at once
    return found


def merged(
    store: Store, targets: Sequence[p.Buffer], arrays: Mapping[Term, p.Buffer], proved: Proved, axes: Sequence[Run]
) -> Merged:
    """Return the way to lower a kernel that merges some axes, as one of other sizes did; raises NapkinError where no
    loop can walk those that one did.
    """
    if not axes:
        return Merged(store, tuple(targets), arrays)
    kernel = _Kernel(store, targets, arrays, proved)
    known = {axis.name: axis for axis in (*store.axes, *(t.axis for t in kernel.terms if isinstance(t, Fold)))}
    runs = [tuple(known[part.name] for part in parts) for _, parts in axes]
    chains = [(run, folds) for run, folds in kernel.chains(runs) if run in runs]
    walked = {run for run, _ in chains}
    if any(run not in walked and not {*run} <= {*store.axes} for run in runs):
        raise NapkinError("no loop walks the axes that are one to a kernel of other sizes")
    return kernel.merged(runs, chains)


class _Kernel:
    """A kernel, and which of its axes may be one."""

    def __init__(
        self, store: Store, targets: Sequence[p.Buffer], arrays: Mapping[Term, p.Buffer], proved: Proved
    ) -> None:
        self.store, self.targets, self.arrays, self.proved = store, tuple(targets), arrays, proved
        self.terms = kernel_terms(store)[:-1]
        self.leaves = [t for t in self.terms if isinstance(t, (Input, Store, Proj))]
        roles, _ = modes_of(store)
        self.grouped = [a for a in store.axes if roles.get(a.name) == "group" and a.size is not None]
        self.written = [target.dims for target in targets]

    def folds_nothing(self) -> bool:
        """Tell whether a kernel computes each place by itself."""
        return not any(isinstance(t, (Walk, Streamed, Scan, Recur)) for t in self.terms)

    def sides(self) -> list[list[set[Axis]]]:
        """Return the axes of both factors of each sum of products."""
        return [[{*arg.axes} for arg in factors] for t in self.terms if (factors := _factors(t)) is not None]

    def multiplies(self) -> bool:
        """Tell whether a kernel contracts: sums products whose factors vary along axes of their own."""
        return any(left - right and right - left for left, right in self.sides())

    def side_by_side(self, rows: bool = True) -> list[tuple[Axis, ...]]:
        """Return the axes that lie side by side in all arrays, and of which nothing else is said; rows: only such as
        are rows or columns of some contraction.
        """
        dims = [self.arrays[t].dims if t in self.arrays else getattr(t, "dims", ()) for t in self.leaves]
        return self.runs(self.spoken(Group, Input), [*self.written, *dims], rows)

    def across(self, chains: Sequence[Chain]) -> list[tuple[Axis, ...]]:
        """Return the axes that lie side by side in what is written, where the last is short and tiles leave much of
        its own empty: all else is read at places that are made of theirs. What says where a fold begins or ends is none
        of them: rows of one tile would fold different lanes.
        """
        if any(isinstance(t, (Walk, Scan, Recur)) for t in self.terms):
            return []
        loose = {fold for _, folds in chains for fold in folds}  # no mask is left of these
        masks = [t.where for t in self.terms if isinstance(t, Streamed) and t not in loose]
        ends = {axis.name for mask in masks for axis in mask.axes}
        found = self.runs(self.spoken(Group, Input, Index, Read) | ends, self.written)
        return [run for run in found if _short(run[-1])]

    def short_rows(self) -> list[tuple[Axis, ...]]:
        """Return the axes that lie side by side in all arrays of a kernel that contracts nothing, of which the last,
        that of neighbours in memory, is so short that a tile along it alone would leave much of what memory gives at
        once, or of itself, empty.
        """
        if self.multiplies():
            return []
        ends = {dims[minor(dims)] for dims in self.written if dims}
        return [run for run in self.side_by_side(rows=False) if run[-1] in ends and _short(run[-1])]

    def flat(self) -> tuple[Axis, ...]:
        """Return the last axes of what is written by a kernel that folds nothing, where all that is read has them side
        by side, or all but a few places of these, or is little: blocks then go through memory one after another,
        whatever lengths rows have.
        """
        run, places = self.last(self.spoken(Group, Input, Index))
        if not run:
            return ()
        dims = [self.arrays[t].dims if t in self.arrays else getattr(t, "dims", ()) for t in self.leaves]
        along = {run[:n] for n in range(1, len(run) + 1) if math.prod(a.size or MOST for a in run[n:]) <= FULL}
        others = [held for held in dims if held[-len(run) :] != run and held not in along]
        small = all(math.prod(a.size or 1 for a in held) * LITTLE <= places for held in others)
        return run if small else ()

    def over_windows(self) -> tuple[Axis, ...]:
        """Return the last axes of what is written by a kernel that folds no more than short windows, where what else is
        read is little, or read at places that lie beside each other where those along the last axis do.
        """
        folds = [t for t in self.terms if isinstance(t, Streamed)]
        if any(isinstance(t, (Walk, Scan, Recur)) for t in self.terms) or not all(isinstance(t, Fold) for t in folds):
            return ()
        axes = {fold.axis for fold in folds}
        if math.prod(axis.size or MOST for axis in axes) > WINDOW or self.multiplies():
            return ()
        ends = {axis.name for fold in folds for axis in fold.where.axes}  # as in `across`
        run, places = self.last(self.spoken(Group, Input, Index, Read) | ends)
        if not run:
            return ()
        reads = [t for t in self.terms if isinstance(t, Read)]
        outer = {t for t in reads if not any(other.body is t for other in reads)}
        for leaf in self.leaves:
            held = self.arrays[leaf].dims if leaf in self.arrays else getattr(leaf, "dims", ())
            ways = [dict(read_places(read)) for read in outer if _read(read) is leaf]
            little = math.prod(a.size or 1 for a in held) * LITTLE <= places
            if not (little or (all(_beside(held, way, run[-1]) for way in ways) if ways else held[-len(run) :] == run)):
                return ()
        return run

    def moves(self, run: Sequence[Axis]) -> bool:
        """Tell whether folding windows is little beside moving them, and rows are short: blocks that go through memory
        then take the least.
        """
        folds = [t for t in self.terms if isinstance(t, Streamed)]
        axes = {fold.axis for fold in folds}
        held = math.prod(1 << ((axis.size or MOST) - 1).bit_length() for axis in axes)
        # What is computed before it is read at places is not the same at many
        own = [t for t in self.terms if t.axes and {*t.axes} <= {*self.store.axes, *axes}]
        return held <= FEW_HELD and (run[-1].size or MOST) <= 2 * SHORT and not self.computes_once(run, own)

    def last(self, spoken: set[str]) -> tuple[tuple[Axis, ...], int]:
        """Return the last axes of what is written of which nothing is said, several, and how many places they have."""
        order, *rest = self.written
        if any(other != order for other in rest):
            return (), 0
        free = {axis for axis in self.grouped if axis.name not in spoken}
        run = tuple(itertools.takewhile(free.__contains__, reversed(order)))[::-1]
        places = math.prod(axis.size or 1 for axis in run)
        return (run, places) if len(run) > 1 and places <= MOST else ((), 0)

    def computes_once(self, run: Sequence[Axis], terms: Sequence[Term]) -> bool:
        """Tell whether much of some terms is the same at many places along some axes, something that takes several
        instructions or several arrays: where blocks go through memory it is computed and read at each.
        """
        if sum(t in terms and bool(t.axes) and not {*run} <= {*t.axes} for t in self.leaves) > FEW:
            return True
        dear = {"exp", "inv", *(op.name for op in OPS.values() if op.special)}
        return any(isinstance(t, Map) and t.op in dear and not {*run} <= {*t.axes} for t in terms)

    def chains(self, known: Sequence[tuple[Axis, ...]] = ()) -> list[Chain]:
        """Return the axes, the slowest first, that contractions are summed over one within the other, with these sums,
        outermost first: whole tiles lie along the last axis, and nothing else is folded along any.

        known: the order of the axes of some, where it is.
        """
        inner = {t.body for t in self.terms if isinstance(t, Fold) and isinstance(t.body, Fold)}
        users = Counter(child for t in self.terms for child in dict.fromkeys(t.children))
        found = []
        for term in self.terms:
            if not isinstance(term, Fold) or term in inner:
                continue
            folds = [term]
            while isinstance(folds[-1].body, Fold) and users[folds[-1].body] == 1:
                folds.append(folds[-1].body)
            axes = {fold.axis for fold in folds}
            if len(folds) < 2 or len(axes) < len(folds) or axes & {*self.store.axes} or not self._contracts(folds):
                continue
            if any(isinstance(t, (Streamed, Scan, Walk)) and t.axis in axes and t not in folds for t in self.terms):
                continue
            order = next((run for run in known if {*run} == axes), None) or self._order(axes)
            if order:
                found.append((order, tuple(folds)))
        return found

    def _contracts(self, folds: Sequence[Fold]) -> bool:
        """Tell whether sums within sums are of a product of matrices, which is 0 wherever a mask leaves it out."""
        sides = [{*arg.axes} for arg in _factors(folds[-1]) or ()]
        if len(sides) < 2 or not (sides[0] - sides[1] and sides[1] - sides[0]):
            return False
        if any(fold.monoid != "sum" or fold.axis.size is None for fold in folds):
            return False
        masks = [fold.where for fold in folds if fold.where != Const(True)]
        if not all(self.proved(zero(mask, plain(folds[-1].body))) for mask in masks):
            return False
        return bool(math.prod(fold.axis.size or 1 for fold in folds) <= MOST)

    def _order(self, axes: set[Axis]) -> tuple[Axis, ...]:
        """Return the order of axes in memory, where an array has all of them side by side and whole tiles lie along the
        last; else one of that kind, none where there is none.
        """
        held = [self.arrays[t].dims if t in self.arrays else getattr(t, "dims", ()) for t in self.leaves]
        for dims in held:
            inside = [axis for axis in dims if axis in axes]
            first = dims.index(inside[0]) if inside else 0
            if {*inside} == axes and dims[first : first + len(inside)] == tuple(inside) and _tiled(inside[-1]):
                return tuple(inside)
        last, *others = sorted(axes, key=lambda axis: (-_tiled(axis), -(axis.size or 0), axis.name))
        return (*others, last) if _tiled(last) else ()

    def spoken(self, *kinds: type[Term]) -> set[str]:
        """Return the names of axes that others than some kinds of terms speak of, if only of another of its name; the
        number of an axis' places says nothing of them where it is known.
        """
        return {
            f.name
            for t in self.terms
            if not isinstance(t, kinds)
            for f in t.fields
            if isinstance(f, Axis) and not (isinstance(t, Size) and f.size is not None)
        }

    def runs(self, spoken: set[str], arrays: Sequence[tuple[Axis, ...]], rows: bool = True) -> list[tuple[Axis, ...]]:
        """Return the axes to merge of those not spoken of: side by side in the dimensions of some arrays, and, where
        that is asked, rows or columns of some contraction.
        """
        # An axis of one place that lies last keeps none before it from being so, and is itself none of several
        ends = {axis for dims in arrays for axis in dims[minor(dims) + 1 :]}
        arrays = [dims[: minor(dims) + 1] for dims in arrays]
        free = [a for a in self.grouped if a.name not in spoken and a not in ends]
        sides = self.sides()
        beside: dict[Axis, Axis] = {}
        for one in free:
            after = {dims[dims.index(one) + 1] if one != dims[-1] else None for dims in arrays if one in dims}
            if len(after) == 1 and (other := after.pop()) in free and sum(other in dims for dims in arrays) == sum(
                one in dims for dims in arrays
            ):  # fmt: skip
                assert other is not None
                if all((one in side) == (other in side) for both in sides for side in both):
                    beside[one] = other
        runs = []
        for axis in free:
            if axis in beside and axis not in beside.values():
                run = [axis]
                while run[-1] in beside:
                    run.append(beside[run[-1]])
                runs.append(tuple(run))
        taken = [
            run for run in runs if not rows or any((run[-1] in left) != (run[-1] in right) for left, right in sides)
        ]
        return [run for run in taken if math.prod(axis.size or 1 for axis in run) <= MOST]

    def merged(self, runs: Sequence[tuple[Axis, ...]], chains: Sequence[Chain]) -> Merged:
        """Return the kernel with some axes merged, itself where there are none; chains: the sums over those of them
        that are folded.
        """
        if not runs:
            return Merged(self.store, self.targets, self.arrays)
        axes = {f.name for t in self.terms for f in (*t.fields, *t.axes) if isinstance(f, Axis)}
        view = _View(_named(runs, axes), {folds[0]: (run, folds[-1].body) for run, folds in chains})
        summed = {run for run, _ in chains}
        taken = {t.name for t in self.leaves if isinstance(t, Input)}
        names = (name for name in (f"held{i}" for i in itertools.count()) if name not in taken)
        apart = view.read_along(self.store)
        given: dict[Term, p.Buffer] = {}
        seen: dict[Term, Input] = {}
        for leaf in self.leaves:
            if leaf in self.arrays:
                buffer = self.arrays[leaf] if leaf in apart else view.buffer(self.arrays[leaf])
                facts = ("far",) if far(plain(leaf), p.IN_PARTS, data=False) else ()
                seen[leaf] = Input(next(names), buffer.dims, BY_SHORT[buffer.dtype].name, facts)
                given[seen[leaf]] = buffer
            else:
                assert isinstance(leaf, Input)
                dims = leaf.dims if leaf in apart else view.dims(leaf.dims)
                seen[leaf] = Input(leaf.name, dims, leaf.dtype, leaf.facts)
        made = view.store(self.store, seen)
        own: dict[Term, Term] = {new: view.placed(old, new.dims) for old, new in seen.items()}
        within = {axis.name: parts[-1].size or 1 for axis, parts in view.axes if parts in summed}
        return Merged(made, tuple(map(view.buffer, self.targets)), given, view.axes, own, within)


def _read(term: Term) -> Term:
    """Return what a read reads, itself no read."""
    while isinstance(term, Read):
        term = term.body
    return term


def _beside(dims: Sequence[Axis], places: Mapping[Axis, Term], last: Axis) -> bool:
    """Tell whether places of an array lie beside each other where those along an axis do: its last dimension is read a
    few places further at each, no other one is read elsewhere, and these at sums of places.
    """
    *rows, place = [places.get(axis, Index(axis)) for axis in dims]
    for row in rows:
        moved = linear(row)
        if last in row.axes or not all(isinstance(atom, (Index, Const)) for atom in moved):
            return False
        if abs(moved.get(Const(1), 0)) > WINDOW:
            return False  # far off: tiles in small would reach across all of it
    if isinstance(place, Map) and place.op == "floordiv" and isinstance(place.args[1], Const):
        place = place.args[0]  # an image that is drawn larger
    form = linear(place)
    return 0 < form.get(Index(last), 0) <= STEP and all(last not in a.axes or a == Index(last) for a in form)


def _short(axis: Axis) -> bool:
    return 1 < (axis.size or 0) <= SHORT and (axis.size or 0) % FULL > 0


def _tiled(axis: Axis) -> int:
    """Return how many places the largest tile has, of the matrix unit's least on, that whole ones of lie along an axis;
    0 where there are none.
    """
    size = axis.size or 1
    return min(size & -size, LARGEST) if size % MIN_DOT == 0 else 0


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

    def __init__(self, axes: tuple[Run, ...], chains: Mapping[Term, tuple[tuple[Axis, ...], Term]]) -> None:
        self.axes, self.chains = axes, chains
        self.first = {run[0]: axis for axis, run in axes}
        self.rest = {part for _, run in axes for part in run[1:]}
        self.runs = {part: run for _, run in axes for part in run}
        self.places: dict[Axis, Term] = {}  # of each merged one, made of the place along the axis that it is part of
        for axis, run in axes:
            below = 1
            for part in reversed(run):
                place: Term = Index(axis)
                if below > 1:
                    place = Map("floordiv", (place, Const(below)))
                below *= part.size or 1
                self.places[part] = place if part is run[0] else Map("mod", (place, Const(part.size or 1)))

    def dims(self, dims: Sequence[Axis]) -> tuple[Axis, ...]:
        """Return the dimensions of an array, those of a run as one where they lie side by side."""
        found, left = list[Axis](), list(dims)
        while left:
            run = self.runs.get(left[0], ())
            whole = bool(run) and tuple(left[: len(run)]) == run
            found.append(self.first[run[0]] if whole else left[0])
            left = left[len(run) if whole else 1 :]
        return tuple(found)

    def buffer(self, buffer: p.Buffer) -> p.Buffer:
        return replace(buffer, dims=self.dims(buffer.dims))

    def placed(self, old: Term, dims: Sequence[Axis]) -> Term:
        """Return an array of the plan at the places along the merged axes that a loop walks, where it has these."""
        found = old
        for axis, parts in self.axes:
            if axis in dims and any(run == parts for run, _ in self.chains.values()):
                for part in parts:
                    found = Read(found, part, self.places[part])
        return found

    def read_along(self, store: Store) -> set[Term]:
        """Return the arrays that a Store reads at other places along axes that are merged."""
        found: set[Term] = set()
        for term in kernel_terms(store):
            if isinstance(term, Read) and term.axis in self.places:
                found |= {part for part in kernel_terms(term) if term.axis in getattr(part, "dims", part.axes)}
        return found

    def store(self, store: Store, arrays: Mapping[Term, Input]) -> Store:
        """Return a Store, given what its arrays are: read at what the places along merged axes are that they have by
        themselves.
        """
        done: dict[tuple[Term, frozenset[Axis]], Term] = {}

        def visit(term: Term, own: frozenset[Axis]) -> Term:
            """Return a term; along its own axes a Read above it says the places."""
            if (term, own) not in done:
                done[term, own] = made(term, own)
            return done[term, own]

        def made(term: Term, own: frozenset[Axis]) -> Term:
            if term in arrays:
                found: Term = arrays[term]
                for axis in arrays[term].dims:
                    if axis in self.places and axis not in own:
                        found = Read(found, axis, self.places[axis])
                return found
            if isinstance(term, Index) and term.axis in self.places and term.axis not in own:
                return self.places[term.axis]
            if isinstance(term, Read) and term.axis in self.places:
                return Read(visit(term.body, own | {term.axis}), term.axis, visit(term.index, own))
            if term in self.chains:
                run, body = self.chains[term]
                return Fold("sum", self.first[run[0]], visit(body, own), Const(True), term.fused)
            if isinstance(term, Group) and term.axis in self.rest:
                return visit(term.body, own)
            if isinstance(term, Group) and term.axis in self.first:
                return Group(self.first[term.axis], visit(term.body, own))
            return _rejoined(rebuilt(term, tuple(visit(child, own) for child in term.children)))

        found = visit(store, frozenset())
        assert isinstance(found, Store)
        return found


def _rejoined(term: Term) -> Term:
    """Return a place itself for its quotient by a number, times that, plus the remainder."""
    if not (isinstance(term, Map) and term.op == "add"):
        return term
    for product, rest in (term.args, term.args[::-1]):
        if isinstance(rest, Map) and rest.op == "mod" and isinstance(product, Map) and product.op == "mul":
            place, by = rest.args
            known = isinstance(place, Index) and isinstance(by, Const) and by.value  # a quotient by 0 is 0
            if known and by in product.args and Map("floordiv", (place, by)) in product.args:
                return Index(place.axis)
    return term
