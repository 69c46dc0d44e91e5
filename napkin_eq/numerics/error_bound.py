"""How far a kernel may be from float64: a bound computed from its term and its data, with no constant picked by hand.

Each value carries e, a bound on the distance between what a kernel computes and the exact value. With w = 2^-24, the
roundoff of float32, and u, h the roundoff and half the least positive number of the storage type:

    a + b        e_a + e_b + K w (|a| + |b|)             magnitudes, not |a + b|: any order of adding is covered
                 + 2 D w |a| where b is a sum of products, D additions in a row, that the matrix unit adds onto a
    a * b        |a| e_b + |b| e_a + e_a e_b + K w |a b|
    f(a)         the change of f over [a - e_a, a + e_a], + K w |f(a)|; infinite where f jumps or has a pole there
    sum of a     sum of e_a + (D w + R r) (sum of |a|)   D additions in a row, each block rescaled once; R moves of a
                 reference; nothing where exact parts are whole multiples of one power of two, and few enough of it that
                 every sum of some of them is a number
    sum of a * b an operand that is no input may have been rounded to the storage type for the matrix unit: e_a + u |a|
    + h; what the unit takes in parts is flushed part by part, and infinite past IN_PARTS
    max of a     max of e_a over the lanes that can be the maximum, given their errors
    a at place i e_a there; infinite where e_i > 0
    1/D * N      where N is a sum of w v and D the sum of the same w, taken in one pass: a mean m, whose weights' errors
                 d count for |v - m| only: (sum of d |v - m| + what is rounded in N + |m| times what is rounded in D) /
                 (D - e_D), if that is less
    store of a   e_a + u |a| + h; infinite past the largest number of the type that the plan stores it in
    a < b        uncertain where |a - b| <= e_a + e_b; a choice by it is off by |x - y| there

K = 4 roundings an operator: the operation, a constant folded into it, a fused neighbour, an approximate unit of the
GPU. D w stands for D w / (1 - D w) (Higham, Accuracy and Stability, sec. 3.1). w is doubled along axes that are summed
on a matrix unit, which may truncate where it adds (Fasi et al., PeerJ Comput. Sci. 7:e330, 2021, sec. 4). D comes from
the schedule. A tile of B lanes is added in B / 4 + 16 steps, since four lanes or more share a row of a tile, and the n
/ B tiles one after another; the matrix unit keeps one accumulator throughout and adds four products or more at once, so
D = n / 4 + 16 there, and n in float32, whose products are added one by one. R comes from the data: at how many tiles
the reference that a carried sum is relative to did move (elsewhere the factor is e^0, exactly 1), each time with r = 2
K w (1 + |reference|), what an exponential of a difference of references is off by. What passes the range of float32, or
a sum whose magnitudes do together, has no bound; what falls below its least normal number may be taken for 0, and then
is off by itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import bound_sizes, output_order
from napkin_eq.lang.numpy_semantics import (
    ABSENT,
    OPERATORS,
    Array,
    Frame,
    Named,
    Run,
    aligned,
    broadcast,
    common_shape,
    contraction,
    fold,
    read,
    recur,
    scan,
)
from napkin_eq.lang.operators import NEUTRAL, PLACES
from napkin_eq.lang.scope import steps
from napkin_eq.lang.term import (
    Acc,
    Const,
    Fold,
    Group,
    Input,
    Map,
    Online,
    Prev,
    Proj,
    Read,
    Recur,
    Reduce,
    Scan,
    Store,
    Term,
    Walk,
    bundled,
    subterms,
)
from napkin_eq.numerics.ranges import constants, ranged, summands, within
from napkin_eq.numerics.roundoff import (
    STORAGE,
    TOP,
    K,
    adding,
    adds_exactly,
    bounded,
    exactly,
    farthest,
    flushed,
    grain,
    in_double,
    largest,
    may_be_largest,
    multiplied,
    recurred,
    risen,
    unbounded_past,
    w,
)
from napkin_eq.numerics.shared_errors import (
    SLACK,
    Checked,
    Errors,
    Form,
    added,
    contracted,
    multiplied_forms,
    over,
    plus,
    scaled,
    size,
    summed,
    times,
)
from napkin_eq.tile.ir import IN_PARTS, Dot, Kernel, Load, Loop, Plan, ReduceTile, ScanTile, Stmt, statements


@dataclass(frozen=True, slots=True)
class Schedule:
    """How a plan adds along an axis: the lanes of its tiles, largest and smallest, and whether on the matrix unit, and
    whether onto another tile.

    threads: how many share a row of a tile at least. rounds: whether an addition rounds to nearest for certain; else it
    may truncate. times: how many sums along it are one sum, where a loop walks several axes.
    """

    largest: int
    smallest: int
    matrix: bool
    onto: bool = False
    threads: int = 4
    rounds: bool = False
    times: int = 1

    def depth(self, length: int, lanes: int, product: bool) -> float:
        """Return how many additions follow one another in a sum of this length; lanes: how many products are added at
        once.
        """
        length *= self.times
        tile = min(length, self.largest)
        chained = length if lanes == 1 else length / lanes + 16
        tiled = row(tile, self.threads) + -(-length // max(1, min(length, self.smallest)))
        return max(chained, tiled) if product and self.matrix else tiled

    def adding(self, length: int, lanes: int, product: bool) -> float:
        """Return what a sum of this length is off by, relative to the sum of the magnitudes."""
        return adding(self.depth(length, lanes, product), 1 if self.rounds and not self.matrix else 2)


_UPDATE = "()"  # marks, among the axes that a term mentions, that it speaks of an accumulator; no axis has this name
# Without a schedule: any tile of 16 lanes or more, on the matrix unit or not.
UNPLANNED = Schedule(2**40, 16, True, True)
# What a thread loads at once, in numbers: its own are added one after another.
LOADED = 16


def row(tile: int, threads: int) -> float:
    """Return how many additions follow one another in a row of a tile that so many threads share: each its own, then
    among them.
    """
    return tile / threads + 16 if threads <= 4 else max(tile / threads, min(tile, LOADED)) + math.log2(threads)


def sharing(kernel: Kernel, stmt: Stmt) -> tuple[int, bool]:
    """Return how many threads share a row of what a statement adds up, at least, and whether each addition rounds to
    nearest for certain.

    All of them do where a program holds one row and nothing else. Four lie along a coordinate at least where the rows
    of all that the kernel loads lie along it in memory, as threads are dealt out along these first; else nothing is
    known but what is assumed of all.
    """
    if not isinstance(stmt, ReduceTile) or kernel.workers is not None:
        return 4, False
    coord = kernel.coord(stmt.coord)
    wide = {c.name for c in kernel.coords if c.tile > 1}
    along = {c.name for c in kernel.coords if c.axis == coord.axis and c.name in wide}
    stmts = list(statements(kernel.body))
    if wide <= along and not any(isinstance(s, Dot) for s in stmts):
        return 32 * kernel.warps, True
    coords = {s.out.name: set(s.out.coords) & wide for s in stmts if hasattr(s, "out")}
    loads = [s for s in stmts if isinstance(s, Load) and coords[s.out.name]]
    fastest = all(s.index and isinstance(s.index[-1], str) and coords.get(s.index[-1], set()) & along for s in loads)
    return 4, bool(loads) and fastest and not any(isinstance(s, Dot) for s in stmts)


def schedule(plan: Plan) -> dict[str, Schedule]:
    """Read off a plan how it adds along each axis that it folds, by the name of the axis."""
    found: dict[str, Schedule] = {}
    for kernel in plan.kernels:
        runs = dict(kernel.merged)
        carried = {value.name for s in statements(kernel.body) if isinstance(s, Loop) for value, _ in s.carried}
        loops = {stmt.coord for stmt in statements(kernel.body) if isinstance(stmt, Loop)}
        for stmt in statements(kernel.body):
            if isinstance(stmt, (ReduceTile, ScanTile, Dot)) or (isinstance(stmt, Loop) and stmt.carried):
                coord = kernel.coord(stmt.coord)
                # Of axes that a loop walks as one, the last has what is added along all of them
                *others, last = runs.get(coord.axis, (coord.axis,)) if coord.role != "group" else (coord.axis,)
                old = found.get(last.name, Schedule(1, coord.tile, False, False, 2**20, True))
                times = max(old.times, math.prod(axis.size or 1 for axis in others))
                tiles = max(old.largest, coord.tile), min(old.smallest, coord.tile)
                onto = (
                    isinstance(stmt, Dot)
                    and stmt.acc is not None
                    and (stmt.acc not in carried or stmt.coord not in loops)
                )
                threads, rounds = (old.threads, old.rounds) if isinstance(stmt, Loop) else sharing(kernel, stmt)
                known = min(old.threads, threads), old.rounds and rounds
                matrix = old.matrix or isinstance(stmt, Dot)
                found[last.name] = Schedule(*tiles, matrix, old.onto or onto, *known, times)
    return found


def error_bound(
    term: Term,
    inputs: Mapping[str, Any],
    sizes: Mapping[str, int],
    dtype: str,
    matrix_roundoff: float = 0.0,
    order: Sequence[str] | None = None,
    planned: Mapping[str, Schedule] | None = None,
    unknown: Mapping[str, Any] | None = None,
    eager: bool = False,
    held: Mapping[Term, str] | None = None,
) -> tuple[Array, ...]:
    """Return, for each output of a term, the bound of every element, axes as `evaluate` orders them or in `order`.

    matrix_roundoff: what the matrix unit rounds its operands to, inputs too, beyond the storage type (tf32: 2^-10).
    dtype: the storage type; with "float64" the bound is of a run in float64 throughout, by which plans are checked.
    planned: how each axis is added along, by `schedule`; without it the worst of any plan with tiles of 16 lanes or
    more.
    unknown: masks of input elements that may hold anything, NaN too; the bound is infinite wherever they may reach.
    eager: what each operator gives is rounded to the storage type, as where every one is a kernel of its own.
    held: of values that are stored on the way, the names of the types in which a plan holds them; the storage type is
    that of all others.
    """
    if dtype not in STORAGE and dtype != "float64":
        raise NapkinError(f"unknown dtype {dtype!r:.60}; one of {', '.join(STORAGE)}")
    run = Run(term, inputs, bound_sizes(term, inputs, sizes), 2**40, "float64")
    work = Work(run.top, dtype, matrix_roundoff, planned, unknown)
    work.eager, work.held = eager, held or {}
    items = tuple(Proj(i, term) for i in range(len(bundled(term)))) or (term,)
    with np.errstate(all="ignore"), in_double() if dtype == "float64" else nullcontext():
        return tuple(work.output(item, order) for item in items)


class Work:
    """Values of terms with their bounds, in one universe of evaluation: some axes may be cut to a prefix, which a
    carried sum needs.

    exact: where inputs, numbers and coordinates have their values. of: the bound of a term, computed once.
    """

    def __init__(
        self,
        exact: Frame,
        dtype: str,
        matrix: float = 0.0,
        planned: Mapping[str, Schedule] | None = None,
        unknown: Mapping[str, Any] | None = None,
    ) -> None:
        self.u, self.h = STORAGE.get(dtype, (0.0, 0.0))
        self.dtype, self.top, self.matrix, self.planned, self.unknown = (
            dtype,
            TOP.get(dtype, np.inf),
            matrix,
            planned or {},
            unknown or {},
        )
        self.lanes = 1 if dtype in ("float32", "float64") else 4
        self.exact = exact
        self.memo: dict[Term, Checked] = {}
        self.mentioned: dict[Term, frozenset[str]] = {}
        self.root: Term | None = None
        # What universes of one evaluation have in common: the shared errors, universes of prefixes, and carried sums
        # after each block.
        self.errors = Errors()
        self.prefixes: dict[object, Work] = {}
        self.carried: dict[object, list[tuple[int, Checked]]] = {}
        # Whether operators are bounded one by one, and nothing is known of where values lie.
        self.naive = False
        # Whether each operator stores what it gives; the types of what a plan stores.
        self.eager = False
        self.held: Mapping[Term, str] = {}
        # Of a cut universe: the one outside and the axis that is cut; of an update: the accumulator, and the universe
        # one block before.
        self.outer: Work | None = None
        self.cut = ""
        self.acc: Checked | None = None
        self.before: Work | None = None

    def inside(self, cut: str, ends: Mapping[str, int], acc: Checked | None = None, before: Work | None = None) -> Work:
        """Return a universe inside this one: an axis cut to a prefix, or what is known in an update."""
        key = tuple(sorted(ends.items()))
        if acc is None and key in self.prefixes:
            return self.prefixes[key]
        found = Work(Frame(self.exact.run, ends, None), self.dtype, self.matrix, self.planned, self.unknown)
        if acc is None:
            self.prefixes[key] = found
        found.outer, found.cut, found.acc, found.before, found.mentioned = self, cut, acc, before, self.mentioned
        found.naive, found.errors, found.prefixes, found.carried = self.naive, self.errors, self.prefixes, self.carried
        found.eager, found.held = self.eager, self.held
        return found

    def output(self, root: Term, wanted: Sequence[str] | None) -> Array:
        self.root = root
        got = self.of(root) if _is_stored(root) else self._stored(self.of(root), final=True)
        order = [axis.name for axis in output_order(root)] if wanted is None else list(wanted)
        names, (error,) = aligned(got.error, also=tuple(order))
        full = np.broadcast_to(error, [self.exact.length(name) for name in names])
        return np.array(full.transpose([names.index(name) for name in order]), order="C")

    def of(self, root: Term) -> Checked:
        for term in _needed(root, self.memo):
            if term not in self.memo:
                outer = self._home(term)
                self.memo[term] = self._ranged(term, self._made(term)) if outer is self else self._from(outer, term)
        return self.memo[root]

    def _home(self, term: Term) -> Work:
        """Return the universe in which a term has its value: this one, or one outside where it speaks of nothing that
        is known only here.
        """
        found = self
        while found.outer is not None and found.cut not in mentions(term, found.mentioned):
            found = found.outer
        return found

    def _from(self, home: Work, term: Term) -> Checked:
        """Return what a term is in a universe outside; in an update, with what it is off by shared with all else that
        uses it there.
        """
        found = home.of(term)
        return found if self.acc is None else replace(found, form=self._spread(home, term, found))

    def _spread(self, home: Work, term: Term, got: Checked, user: Term | None = None) -> Form | None:
        """Return the form of a value that is used more than once: what it is off by is one error, wherever that is.

        user: the term that uses it. Elsewhere it may be rounded otherwise, as a multiplication that is fused with an
        addition is not; not so in a sum that is carried by steps, whose kernels fuse none. A sum keeps what it shares
        with its references.
        """
        if not got.error.data.any():
            return got.form
        sign, number = self.errors.signed(term)
        ends, key, nothing = (
            tuple(sorted(home.exact.ends.items())),
            (number, None if self.cut else user),
            Named((), np.zeros(())),
        )
        if got.form is None or not isinstance(term, (Reduce, Fold, Online)):
            return scaled(self.errors.of(ends, key, got.error), sign)
        return added([Form(got.form.parts, nothing), scaled(self.errors.of(ends, key, got.form.own), sign)], nothing)

    def _made(self, term: Term) -> Checked:
        """Return the bound of a term; where operators store what they give, as it is stored."""
        found = self._settled(self._one(term))
        operator = self.eager and isinstance(term, (Map, Reduce, Scan, Recur)) and term is not self.root
        return self._stored(found) if operator and term.kind == "real" else found

    def _settled(self, got: Checked) -> Checked:
        """Absence is exact unless it is in doubt, and what could not be bounded is unbounded."""
        names, (value, error) = aligned(got.value, got.error)
        if value.dtype.kind == "f":
            error = np.where(
                np.isneginf(value) & np.isfinite(error), 0.0, np.nan_to_num(error, nan=np.inf, posinf=np.inf)
            )
            error = np.where((np.abs(value) + error >= largest()) & ~np.isneginf(value), np.inf, error)
        unbounded = np.isinf(error)
        form = got.form
        if form is not None and unbounded.any():
            form = Form(form.parts, plus(form.own, Named(names, np.where(unbounded, np.inf, 0.0))))
        return replace(got, error=Named(names, np.asarray(error, np.float64)), form=form)

    def _ranged(self, term: Term, found: Checked) -> Checked:
        """Cut a bound down to where the computed value can lie, if that is known."""
        length, added, moves = 0, 0.0, None
        if isinstance(term, (Reduce, Fold, Online)):
            length = self.exact.length(term.axis.name)
            added, moves = self._added(term.axis.name, length, False), self._moved(term)
        if self.naive:
            return found
        limits = ranged(term, self.memo, found, length, added, moves)
        if limits is None:
            return found
        # What may pass the range of the arithmetic lies anywhere, and may be no number after another step.
        names, (low, high) = aligned(*limits)
        far = (np.maximum(np.abs(low), np.abs(high)) >= largest()) & np.isfinite(high)
        limits = Named(names, np.where(far, -np.inf, low)), Named(names, np.where(far, np.inf, high))
        return Checked(found.value, within(found, limits), *limits, found.form)

    def _one(self, term: Term) -> Checked:
        if isinstance(term, Map):
            return self._map(term)
        if isinstance(term, Online) and steps(term):
            return self._carried(term)
        if isinstance(term, (Reduce, Fold, Online)):
            return self._fold(term)
        if isinstance(term, (Acc, Prev)):
            return self._before(term)
        if isinstance(term, Recur):
            return self._recurring(term)
        if isinstance(term, Scan):
            return self._scan(term)
        if isinstance(term, Read):
            body, index = self.memo[term.body], self.memo[term.index]
            names, (error, _) = aligned(body.error, body.value)
            full = Named(
                names,
                broadcast(error, aligned(body.value, also=names)[1][0])[0],
            )
            found, off = read(body.value, term.axis.name, index.value), read(full, term.axis.name, index.value)
            # Where a place is in doubt, so is which element is meant
            joined, (known, doubt) = aligned(off, index.error)
            return Checked(found, Named(joined, np.where(doubt > 0, np.inf, known)) if doubt.any() else off)
        if isinstance(term, (Store, Proj)):
            got = self.memo[_inside(term)]
            return self._stored(got, term is self.root, self.held.get(term)) if _is_stored(term) else got
        if isinstance(term, (Group, Walk)):
            return self.memo[term.body]
        value = self.exact.value(term)
        # A number that float32 holds is exact.
        wide = isinstance(term, Const) and term.kind == "real" and not exactly(term.value)
        rounded = w() if wide or (isinstance(term, Input) and term.dtype == "float64") else 0.0
        if isinstance(term, Input) and term.name in self.unknown:
            lanes = Named(tuple(d.name for d in term.dims), np.where(self.unknown[term.name], np.inf, 0.0))
            return Checked(
                value,
                Named(value.names, aligned(lanes)[1][0].transpose([lanes.names.index(name) for name in value.names])),
            )
        return Checked(value, Named(value.names, rounded * size(value.data) if rounded else np.zeros(value.data.shape)))

    def _before(self, term: Acc | Prev) -> Checked:
        found = (
            self.acc
            if isinstance(term, Acc)
            else None
            if self.before is None
            else self._from(self.before._home(term.body), term.body)
        )
        if found is None:
            raise NapkinError("Acc() and Prev(...) have a value only inside an Online's update")
        return found

    def _carried(self, term: Online) -> Checked:
        """Bound a sum that is carried with an update of any form: block by block, each value as it is over the lanes so
        far.
        """
        axis, length = term.axis.name, self.exact.length(term.axis.name)
        step = max(1, min(length, self.planned.get(axis, UNPLANNED).smallest))
        apart = tuple(sorted((name, end) for name, end in self.exact.ends.items() if name != axis))
        known = self.carried.setdefault((term, apart), [(0, Checked(Named((), np.zeros(())), Named((), np.zeros(()))))])
        done, acc = next(
            (end, found) for end, found in reversed(known) if end == length or (end < length and end % step == 0)
        )
        for start in range(done, length, step):
            end = min(start + step, length)
            here, before = (self.inside(axis, {**self.exact.ends, axis: at}) for at in (end, start))
            body, mask = (self._lanes(here.of(part), axis, start, end) for part in (term.body, term.where))
            moved = here.inside(_UPDATE, here.exact.ends, acc, before).of(term.update)
            part = self._folded(
                "sum", axis, end - start, body, mask, self._added(axis, end - start, False), Named((), np.zeros(()))
            )
            part = self._settled(self._summed(axis, end - start, body, mask, part))
            acc = self._joined("add", [moved, part], [moved.form, part.form], self._applied("add", [moved, part]))
            acc = self._settled(self._latest(acc, axis, end))
            if known[-1][0] < end:
                known.append((end, acc))
        return acc

    def _lanes(self, got: Checked, axis: str, start: int, end: int) -> Checked:
        """Return some lanes of an axis; what is shared by all of them is kept apart."""
        form = got.form
        if form is not None:
            form = self.errors.kept(form, {n for n, most in enumerate(self.errors.most) if axis not in most.names})
            form = Form(
                {m: _cut(factor, axis, start, end) for m, factor in form.parts.items()},
                _cut(form.own, axis, start, end),
            )
        return Checked(_cut(got.value, axis, start, end), _cut(got.error, axis, start, end), form=form)

    def _latest(self, acc: Checked, axis: str, end: int) -> Checked:
        """Return an accumulator with only those errors apart that the next block shares: of values as they are after
        this one, or of no block.
        """
        if acc.form is None:
            return acc
        used = {number for monomial in acc.form.parts for number in monomial}
        return replace(
            acc, form=self.errors.kept(acc.form, {n for n in used if dict(self.errors.ends[n]).get(axis, end) == end})
        )

    def _stored(self, got: Checked, final: bool = False, held: str | None = None) -> Checked:
        """Round a value to the storage type, or to the one that it is held in; what is past its range is infinite in a
        final output, and of no use before.
        """
        if got.value.data.dtype.kind != "f":
            return got
        (unit, least), top = (STORAGE[held], TOP[held]) if held else ((self.u, self.h), self.top)
        return Checked(got.value, self._rounded(got, unit, least, np.inf if final else top))

    def _rounded(self, got: Checked, unit: float, least: float, top: float) -> Named:
        names, (value, error) = aligned(got.value, got.error)
        magnitude = np.where(np.isneginf(value), 0.0, np.abs(value)) + error
        return Named(
            names,
            np.where(
                (magnitude > top) | np.isinf(error), np.inf, error + unit * magnitude + np.minimum(least, magnitude)
            ),
        )

    def _operand(self, term: Term) -> Checked:
        got, inner = self.memo[term], term
        while isinstance(inner, (Read, Group, Walk, Store, Proj)):
            inner = _inside(inner)
        unit, least, top = (0.0, 0.0, np.inf) if isinstance(inner, Input) else (self.u, self.h, self.top)
        if self.matrix:
            least, top = least + flushed(), min(top, IN_PARTS)
        error = self._rounded(got, unit + self.matrix, least, top)
        form = got.form and Form(got.form.parts, plus(got.form.own, _rest(error, [got.error])))
        return Checked(got.value, error, form=form)

    def _map(self, term: Term) -> Checked:
        args = [self.memo[arg] for arg in term.args]
        found = self._applied(term.op, args)
        if term.op in ("add", "neg", "exp") and term.kind == "real":
            found = self._regrouped(term, found)
        if term.op == "add":
            for arg, other in zip(term.args, reversed(args), strict=True):
                found = self._onto(arg, other, found)
        if term.op in ("add", "mul", "neg") and term.kind == "real":
            forms = [self._used(term, arg, got) for arg, got in zip(term.args, args, strict=True)]
            found = self._joined(term.op, args, forms, found)
        for inverse, total in (term.args, term.args[::-1]) if term.op == "mul" else ():
            # Of a lane that may be left out or not nothing is known but its size, which the bound of the sums counts.
            if _is_mean(inverse, total) and not self.memo[total.where].error.data.any():
                names, (before, mean) = aligned(found.error, self._mean(inverse.args[0], total, found.value))
                found = replace(found, error=Named(names, np.minimum(before, mean)))
        return found

    def _used(self, user: Term, arg: Term, got: Checked) -> Form | None:
        """Return the form of an argument; where it varies along fewer axes, what it is off by is shared by all lanes of
        the others.
        """
        # In an update all that comes from outside has its form, and an accumulator is not the same from block to block.
        return (
            self._spread(self._home(arg), arg, got, user)
            if self.acc is None and set(arg.axes) < set(user.axes)
            else got.form
        )

    def _joined(self, op: str, args: Sequence[Checked], forms: Sequence[Form | None], found: Checked) -> Checked:
        """Bound a sum, a product or a negative value by the forms of its arguments, as long as some error is shared."""
        if all(form is None for form in forms):
            return found
        known = [form or Form({}, arg.error) for form, arg in zip(forms, args, strict=True)]
        sizes = [Named(arg.value.names, size(arg.value.data)) for arg in args]
        if op == "mul":
            charged = [
                times(sizes[0], args[1].error),
                times(args[0].error, sizes[1]),
                times(args[0].error, args[1].error),
            ]
            form = multiplied_forms(
                self.errors, [_present(arg.value) for arg in args], known, _rest(found.error, charged)
            )
        elif op == "neg":
            form = scaled(known[0], -1.0)
        else:
            form = self.errors.kept(added(known, _rest(found.error, [arg.error for arg in args])))
        return self._least(found, form)

    def _least(self, found: Checked, form: Form) -> Checked:
        names, (error, total) = aligned(found.error, self.errors.total(form))
        return replace(found, error=Named(names, np.fmin(error, total)), form=form)

    def _summed(self, axis: str, length: int, body: Checked, mask: Checked, found: Checked) -> Checked:
        """Bound a sum over an axis by the form of what is summed, if that shares some error."""
        if body.form is None or mask.error.data.any():
            return found
        kept = None if mask.value.data.all() else mask.value
        rest = _rest(found.error, [fold("sum", axis, length, body.error, kept)])
        return self._least(found, summed(self.errors, axis, length, body.form, kept, rest))

    def _products(self, term: Term, operands: list[Checked], mask: Checked, found: Checked) -> Checked:
        """Bound a sum of products by the forms of its operands, if these share some error."""
        axis, length = term.axis.name, self.exact.length(term.axis.name)
        pairs = zip(term.body.args, operands, strict=True)
        forms = [
            got.form if term.axis in arg.axes else self._spread(self._home(arg), arg, got, term) for arg, got in pairs
        ]
        if all(form is None for form in forms) or mask.error.data.any() or isinstance(term, Online):
            return found  # what a running value is off by changes along a stream
        kept = None if mask.value.data.all() else mask.value
        (a, b), known = operands, [form or Form({}, got.error) for form, got in zip(forms, operands, strict=True)]
        sizes = [Named(got.value.names, size(got.value.data)) for got in operands]
        charged = [
            over(axis, length, x, y, kept) for x, y in ((sizes[0], b.error), (a.error, sizes[1]), (a.error, b.error))
        ]
        rest = _rest(found.error, charged)
        return self._least(
            found, contracted(self.errors, axis, length, [_present(got.value) for got in operands], known, kept, rest)
        )

    def _mean(self, weights: Term, total: Term, mean: Named) -> Named:
        """Bound a mean by weights: what a weight is off by counts only as far as its value differs from the mean m.

        With weights w off by d, sums N of w v and D of w: N - m D is the sum of d (v - m), and what is rounded in N and
        in D apart. By Cauchy's inequality the sum of d |v - m| is at most the root of the sum of d times the sum of d
        (v - m)^2.
        """
        axis, length = total.axis.name, self.exact.length(total.axis.name)
        value = total.body.args[total.body.args[0] is weights.body]
        own, held, v = self.memo[weights.body], self._operand(weights.body), self._operand(value)
        names, (size, moves, error, rough) = aligned(
            _size(own.value), self._moved(total), own.error, held.error, also=(axis,)
        )
        off = Named(names, error + moves * size)
        most = Named(names, size + off.data)
        narrow = Named(names, np.where(rough > error, rough - error, 0.0))
        sizes, numbers = _size(v.value), Named(v.value.names, np.where(np.isneginf(v.value.data), 0.0, v.value.data))
        squares, one = Named(sizes.names, sizes.data**2), Named((), np.ones(()))
        kept = self.memo[total.where].value
        pairs = (off, one), (off, numbers), (off, squares), (narrow, sizes), (most, v.error), (most, sizes), (most, one)
        sums = [over(axis, length, a, b, None if kept.data.all() else kept) for a, b in pairs]
        whole = self.memo[weights]
        names, (d, dv, dvv, cast, inner, sized, all_of_it, m, divisor, away) = aligned(
            *sums, mean, whole.value, whole.error
        )
        # The squares are summed in float64: what rounding leaves of what cancels is less than what is added for it.
        spread = np.maximum(dvv - 2 * m * dv + m * m * d, 0.0) + length * 2.0**-50 * (dvv + m * m * d)
        added = self._added(axis, length, True) + K * w()
        apart = (
            np.sqrt(d * spread)
            + cast
            + inner
            + added * (sized + np.abs(m) * all_of_it)
            + length * flushed() * (1 + np.abs(m))
        )
        left = np.abs(divisor) - away
        # So much is left for certain of weights that are hardly known but for the largest
        if whole.low is not None and not self.naive:
            names, (left, apart, m, floor) = aligned(*(Named(names, part) for part in (left, apart, m)), whole.low)
            left = np.maximum(left, floor)
        found = apart / left * (1 + 4 * K * w()) + 4 * K * w() * np.abs(m) + flushed() + unbounded_past(sized)
        mean_of = Named(names, np.where((left > 0) & ~np.isnan(found), found, np.inf))
        if self.naive or own.low is None or whole.low is None or (own.low.data[np.isfinite(own.low.data)] < 0).any():
            return mean_of
        return self._inside(total, mean_of, Named(names, m + 0.0 * found), v, own.high or own.value, whole.low)

    def _inside(self, total: Term, found: Named, mean: Named, v: Checked, weights: Named, least: Named) -> Named:
        """Cut the bound of a mean by weights that are never negative: it lies among the values, but for what is rounded
        apart in both sums.
        """
        axis, length = total.axis.name, self.exact.length(total.axis.name)
        kept = self.memo[total.where].value
        signed = [fold("max", axis, length, Named(v.value.names, sign * v.value.data), kept) for sign in (1.0, -1.0)]
        # A rescaling multiplies both sums by the same number; each is rounded by itself.
        turns = self._moved(total, 0.0)
        sizes, roughest = fold("sum", axis, length, _size(v.value), kept), fold("max", axis, length, v.error, kept)
        # What is past the range of the storage type may be rounded to infinity
        heaviest = fold("max", axis, length, weights, kept)
        ends = (found, mean, *signed, turns, sizes, roughest, heaviest, least)
        names, (before, m, most, most_below, turned, size, e, heavy, whole) = aligned(*ends)
        largest = np.maximum(np.abs(most), np.abs(most_below))
        apart = (self.u + self.matrix + 2 * self._added(axis, length, True) + 8 * K * w() + 2 * turned) * largest
        apart = apart + e * (1 + apart / np.maximum(largest, flushed())) + (self.h + length * flushed()) * size / whole
        away = np.maximum(most - m, m + most_below) + apart
        away = away + unbounded_past(heavy * size)
        return Named(
            names, np.where((whole > 0) & (heavy <= self.top) & np.isfinite(away), np.minimum(before, away), before)
        )

    def _regrouped(self, term: Term, found: Checked) -> Checked:
        """Charge a sum for what a kernel may do to it: three or more parts are added in any order, a constant factor
        goes to each part.

        What is left, a difference of two numbers, is rounded once, relative to itself: where they are nearly equal it
        is exact.
        """
        parts = summands(term.args[0]) if term.op == "exp" else summands(term)
        number = constants(term.args[0]) if term.op == "exp" else 0.0
        if len(parts) + (number > 0) < 2 or (
            len(parts) == 2 and term.op != "exp" and all(part in direct(term) for part in parts)
        ):
            return found
        held = [(abs(factor), self.memo[part]) for factor, part in parts if part in self.memo]
        names, (error, *sizes) = aligned(found.error, *(_size(got.value) for _, got in held))
        total = number + sum(factor * size for (factor, _), size in zip(held, sizes, strict=True))
        rough = K * w() * total
        if len(held) == len(parts) and term.op != "exp" and all(factor % 1 == 0 for factor, _ in held):
            # Small whole numbers that are exact have an exact sum in any order, if they have one as it is written.
            rough = np.where((error == 0) & (total + constants(term) < 1 / w()) & self._whole(names, held), 0.0, rough)
        if term.op == "exp":
            names, (error, rough, value, power) = aligned(
                Named(names, error), Named(names, np.asarray(rough)), found.value, self.memo[term.args[0]].value
            )
            rough = risen(value, power, rough)
        return replace(found, error=Named(names, error + np.nan_to_num(rough, nan=np.inf, posinf=np.inf)))

    def _whole(self, names: tuple[str, ...], held: Sequence[tuple[float, Checked]]) -> Array:
        """Tell where all of some values are whole numbers, and exact."""
        _, data = aligned(*(part for _, got in held for part in (got.value, got.error)), also=names)
        exact = [(value == np.round(value)) & (error == 0) for value, error in zip(data[::2], data[1::2], strict=True)]
        return np.asarray(np.logical_and.reduce(broadcast(*exact)))

    def _onto(self, arg: Term, other: Checked, found: Checked) -> Checked:
        """Charge a sum of products for what it may be added onto, as often as it adds."""
        if not (
            isinstance(arg, (Reduce, Fold))
            and arg.monoid == "sum"
            and _product(arg.body)
            and self.planned.get(arg.axis.name, UNPLANNED).onto
        ):
            return found
        added = self._added(arg.axis.name, self.exact.length(arg.axis.name), True)
        names, (error, value, off) = aligned(found.error, other.value, other.error)
        return Checked(
            found.value, Named(names, error + added * (np.where(np.isneginf(value), 0.0, np.abs(value)) + off))
        )

    def _applied(self, op: str, args: list[Checked]) -> Checked:
        names, parts = aligned(*(a.value for a in args), *(a.error for a in args))
        values, errors = parts[: len(args)], parts[len(args) :]
        value = np.asarray(OPERATORS[op](*values))
        if op in ("real", "erf"):
            value = value.astype(np.float64)
        # Integers are coordinates and sizes, exact, but for places of what is off.
        exact = value.dtype.kind in "iu" and not any(e.any() for e in errors)
        error = np.zeros(value.shape) if exact else bounded(op, value, values, errors)
        return Checked(Named(names, value), Named(names, error))

    def _fold(self, term: Term) -> Checked:
        axis = term.axis.name
        length = self.exact.length(axis)
        monoid = "sum" if isinstance(term, Online) else term.monoid
        mask = self.memo[term.where]
        moved = self._moved(term)
        if monoid != "sum" or not _product(term.body):
            body = self.memo[term.body]
            found = self._folded(monoid, axis, length, body, mask, self._added(axis, length, False), moved)
            return (
                found if monoid != "sum" or isinstance(term, Online) else self._summed(axis, length, body, mask, found)
            )
        operands = [self._operand(arg) for arg in term.body.args]
        added = self._added(axis, length, True)
        products = self._contracted(axis, operands, mask, added, moved)
        found = products or self._folded(
            "sum", axis, length, self._settled(self._applied("mul", operands)), mask, added, moved
        )
        return self._products(term, operands, mask, found)

    def _added(self, axis: str, length: int, product: bool) -> float:
        """Return what a sum of this length is off by, relative to the sum of its magnitudes; each block is rescaled
        once at most.
        """
        return self.planned.get(axis, UNPLANNED).adding(length, self.lanes, product)

    def _moved(self, term: Term, reference: float = 1.0) -> Named:
        """Return what rescaling by differences of references is off by, relative to what is rescaled: R r; of a plain
        sum nothing.

        reference: 0 for what the rescaled number itself is rounded by.
        """
        axis, total = term.axis.name, Named((), np.zeros(()))
        if not isinstance(term, Online) or not self.exact.length(axis):  # before the first block nothing is rescaled
            return total
        tile = self.planned.get(axis, UNPLANNED).smallest
        for part in {p.body: None for p in subterms(term.update) if isinstance(p, Prev)}:
            if isinstance(part, (Fold, Reduce)) and part.axis.name == axis:
                running = self._references(part, tile)
                at = running.names.index(axis)
                size = np.where(np.isfinite(running.data), np.abs(running.data), 0.0)
                moves = (np.diff(running.data, axis=at) != 0) & np.isfinite(np.delete(running.data, -1, axis=at))
                off = moves.sum(axis=at) * 2 * K * w() * (1 + reference * size.max(axis=at))
                names = running.names[:at] + running.names[at + 1 :]
                joined, (one, other) = aligned(total, Named(names, off))
                total = Named(joined, one + other)
        return total

    def _references(self, part: Term, tile: int) -> Named:
        """Return the running value of a fold after each tile."""
        axis, body, mask = part.axis.name, self.of(part.body).value, self.of(part.where).value
        length = self.exact.length(axis)
        names, (values, kept) = aligned(body, mask, also=(axis,))
        at = names.index(axis)
        shape = [
            length if name == axis else n
            for name, n in zip(names, common_shape(values.shape, kept.shape), strict=True)
        ]
        lanes = np.broadcast_to(np.where(kept, values, NEUTRAL[part.monoid]), shape)
        running = scan(part.monoid, axis, length, Named(names, lanes)).data
        ends = np.minimum(np.arange(tile - 1, length + tile - 1, tile), length - 1)
        return Named(names, np.take(running, ends, axis=at))

    def _folded(
        self, monoid: str, axis: str, length: int, body: Checked, mask: Checked, added: float, moved: Named
    ) -> Checked:
        value = fold(monoid, axis, length, body.value, mask.value)
        names, (values, errors, kept, unsure) = aligned(body.value, body.error, mask.value, mask.error)
        size = np.where(kept | (unsure > 0), np.where(np.isneginf(values), 0.0, np.abs(values)), 0.0)
        lanes = np.where(kept | (unsure > 0), errors, 0.0) + np.where(unsure > 0, size, 0.0)
        if monoid in PLACES:
            return Checked(value, placed_off(value, names, axis, length, kept, unsure, values, errors))
        if monoid == "max":
            sure = np.where(kept & (unsure == 0), values - lanes, -np.inf)
            _, (floor, _) = aligned(fold("max", axis, length, Named(names, sure), None), Named(names, values))
            # A lane in doubt may be the maximum or absent, be it 0; no maximum, and its error no matter, is what stays
            # below another lane.
            lanes = np.where((unsure > 0) & ~np.isneginf(values), np.inf, lanes)
            lanes = np.where(values + errors < floor, 0.0, lanes)
            return Checked(value, fold("max", axis, length, Named(names, lanes), None))
        # Of a sum or a product a lane that is absent, and in doubt, may leave nothing.
        gone = (unsure > 0) & np.isneginf(values)
        lanes = np.where(gone, np.inf, lanes)
        if monoid == "sum":
            total, sizes = (
                fold("sum", axis, length, Named(names, lanes), None),
                fold("sum", axis, length, Named(names, size + lanes), None),
            )
            found = _relative(total, sizes, added, moved)
            return Checked(value, self._exact(axis, length, [Named(names, values)], total, sizes, moved, found))
        ones = np.where(kept, size, 1.0)
        # A lane in doubt may be a factor or none.
        factors = np.where(gone, np.inf, np.where(unsure > 0, np.maximum(size + errors, 1.0), ones + lanes))
        doubt = fold("max", axis, length, Named(names, np.where(unsure > 0, 1.0, 0.0) + 0.0 * ones), None)
        plain = fold("prod", axis, length, Named(names, ones), None)
        error = multiplied(factors, ones, length, lambda x: fold("prod", axis, length, Named(names, x), None).data)
        return Checked(value, Named(plain.names, error + np.where(doubt.data > 0, 2 * plain.data, 0.0)))

    def _contracted(
        self, axis: str, operands: list[Checked], mask: Checked, added: float, moved: Named
    ) -> Checked | None:
        """Bound a sum of products by matrix products, where these can be formed; the array of products may be far too
        large.
        """
        if mask.error.data.any():
            return None
        (a, b), kept = operands, None if mask.value.data.all() else mask.value
        sizes = [_size(x.value) for x in operands]
        pairs = ((a.value, b.value), sizes, (sizes[0], b.error), (a.error, sizes[1]), (a.error, b.error))
        sums = [contraction(axis, _full(x, like=a.value), _full(y, like=b.value), kept) for x, y in pairs]
        if any(found is None for found in sums):
            return None
        value, size, *errors = (found for found in sums if found is not None)
        length = self.exact.length(axis)
        given = Named(value.names, np.asarray(sum(found.data for found in errors)))
        error = given.data + K * w() * size.data
        error = error + np.fmin(size.data + error, length * flushed())
        found = _relative(Named(value.names, error), Named(value.names, size.data + error), added, moved)
        return Checked(value, self._exact(axis, length, [x.value for x in operands], given, size, moved, found))

    def _exact(
        self, axis: str, length: int, factors: Sequence[Named], error: Named, size: Named, moved: Named, found: Named
    ) -> Named:
        """Return what a sum is found to be off by, nothing where it is exact in any order.

        factors: of its parts, those that a mask leaves out too. error, size: of its parts, added up.
        """
        if self.naive:
            return found
        grains = [fold("max", axis, length, Named(x.names, -grain(x.data)), None) for x in factors]
        names, (before, off, total, moves, *finest) = aligned(found, error, size, moved, *grains)
        of_all = math.prod((-each for each in finest), start=np.ones(()))
        exact = (off == 0) & (moves == 0) & adds_exactly(of_all, total)
        return Named(names, np.where(exact, 0.0, before))

    def _recurring(self, term: Recur) -> Checked:
        axis, gain, body = term.axis.name, self.memo[term.gain], self.memo[term.body]
        found = recur(axis, self.exact.length(axis), gain.value, body.value)
        names, sides = aligned(gain.value, gain.error, body.value, body.error, also=(axis,))
        shape = aligned(found, also=names)[1][0].shape
        return Checked(
            found, Named(names, recurred(names.index(axis), *(np.broadcast_to(side, shape) for side in sides)))
        )

    def _scan(self, term: Term) -> Checked:
        axis, body = term.axis.name, self.memo[term.body]
        length = self.exact.length(axis)
        names, (values, errors) = aligned(body.value, body.error)
        size = np.where(np.isneginf(values), 0.0, np.abs(values))
        if term.monoid == "prod":
            running = scan("prod", axis, length, body.value)
            error = multiplied(size + errors, size, length, lambda x: scan("prod", axis, length, Named(names, x)).data)
            return Checked(running, Named(running.names, error))
        found, off = scan(term.monoid, axis, length, body.value), scan(term.monoid, axis, length, Named(names, errors))
        if term.monoid != "sum":
            return Checked(found, off)
        sizes, still = scan("sum", axis, length, Named(names, size + errors)), Named((), np.zeros(()))
        return Checked(found, _relative(off, sizes, self._added(axis, length, False), still))


def placed_off(
    value: Named,
    names: tuple[str, ...],
    axis: str,
    length: int,
    kept: Array,
    unsure: Array,
    values: Array,
    errors: Array,
) -> Named:
    """Return how far the place of a maximum may be off: as far as the farthest lane that rounding may put there."""
    if not length:
        return Named(value.names, np.zeros(value.data.shape))
    lanes = aligned(*(Named(names, each) for each in (kept, unsure > 0, values, errors)), also=(axis,))
    joined, arrays = lanes
    at = joined.index(axis)
    kept, unsure, values, errors = (np.broadcast_to(a, (*a.shape[:at], length, *a.shape[at + 1 :])) for a in arrays)
    there, sure = kept | unsure, kept & ~unsure
    able = may_be_largest(np.where(there, values, ABSENT), np.where(there, errors, 0.0), sure, at)
    _, (found,) = aligned(value, also=tuple(name for name in joined if name != axis))
    return Named(value.names, farthest(np.expand_dims(found, at), able, at).squeeze(at))


def _is_mean(inverse: Term, total: Term) -> bool:
    """Tell whether a product is of a sum of weighted values and the inverse of the sum of the weights, taken in one
    pass, which computes a weight once.
    """
    weights = inverse.args[0] if isinstance(inverse, Map) and inverse.op == "inv" else None
    if not isinstance(weights, (Fold, Online)) or type(total) is not type(weights):
        return False
    one_pass = weights.axis == total.axis and weights.where is total.where and weights.fused and total.fused
    sums = isinstance(total, Online) or weights.monoid == total.monoid == "sum"
    return bool(one_pass and sums and _product(total.body) and weights.body in total.body.args)


def _size(value: Named) -> Named:
    """Return the magnitudes of numbers, 0 of what is absent."""
    return Named(value.names, size(value.data))


def _present(value: Named) -> Named:
    """Return numbers, 0 for what is absent."""
    return Named(value.names, np.where(np.isneginf(value.data), 0.0, value.data))


def _rest(error: Named, charged: Sequence[Named]) -> Named:
    """Return what an operator is charged beyond what its arguments are off by."""
    names, (found, *others) = aligned(error, *charged)
    return Named(names, np.nan_to_num(np.maximum(found - sum(others), 0.0) + SLACK * found, nan=np.inf, posinf=np.inf))


def _relative(error: Named, size: Named, added: float, moved: Named) -> Named:
    """Return the error of a sum: that of its summands, and what adding and rescaling them is off by."""
    names, (own, sizes, moves) = aligned(error, size, moved)
    return Named(names, own + (added + moves) * sizes + unbounded_past(sizes))


def _inside(term: Term) -> Term:
    return term.item if isinstance(term, Proj) else term.body


def _is_stored(term: Term) -> bool:
    """Tell whether a value is stored, itself or with the tuple that it is an item of."""
    if not isinstance(term, Proj):
        return isinstance(term, Store)
    body = term.body
    while isinstance(body, (Group, Walk)):
        body = body.body
    return isinstance(body, Store)


def _parts(term: Term) -> tuple[Term, ...]:
    if isinstance(term, Proj):
        return (_inside(term),)
    if not isinstance(term, (Reduce, Fold, Online)):
        return term.children
    # The product under a sum is not formed if matrix products will do.
    summed = isinstance(term, Online) or term.monoid == "sum"
    return (*term.body.args, term.where) if summed and _product(term.body) else (term.body, term.where)


def _needed(root: Term, known: Mapping[Term, Any]) -> list[Term]:
    """Subterms that have a value of their own, children first: not those of an Online's update, which speak of running
    values.
    """
    found: dict[Term, None] = {}
    stack = [root]
    while stack:
        term = stack[-1]
        waiting = (
            []
            if term in known or term in found
            else [part for part in _parts(term) if part not in known and part not in found]
        )
        stack.extend(reversed(waiting))
        if not waiting:
            stack.pop()
            if term not in known:
                found.setdefault(term)
    return list(found)


def mentions(root: Term, known: dict[Term, frozenset[str]]) -> frozenset[str]:
    """Return the names of the axes that a term speaks of, bound ones too; _UPDATE where it speaks of an accumulator or
    of a block before.
    """
    for term in subterms(root) if root not in known else ():
        if term in known:
            continue
        parts = [known[child] for child in term.children]
        if isinstance(term, Online):
            parts[-1] -= {_UPDATE}
        own = {axis.name for axis in term.axes} | ({term.axis.name} if "axis" in term.names else set())
        known[term] = frozenset(own).union(*parts, {_UPDATE} if isinstance(term, (Acc, Prev)) else ())
    return known[root]


def _cut(found: Named, axis: str, start: int, end: int) -> Named:
    if axis not in found.names or found.data.shape[found.names.index(axis)] == 1:
        return found
    return Named(found.names, found.data[(slice(None),) * found.names.index(axis) + (slice(start, end),)])


def direct(term: Term) -> list[tuple[float, Term]]:
    """Return the two parts of a sum that is written as one, signs apart."""
    if not isinstance(term, Map) or term.op not in ("add", "neg"):
        return []
    found = []
    for arg in term.args if term.op == "add" else ():
        minus = isinstance(arg, Map) and arg.op == "neg"
        found.append((-1.0, arg.args[0]) if minus else (1.0, arg))
    return found


def _product(term: Term) -> bool:
    return isinstance(term, Map) and term.op == "mul"


def _full(value: Named, like: Named) -> Named:
    names, (data, shape) = aligned(value, like)
    return Named(names, broadcast(data, shape)[0])
