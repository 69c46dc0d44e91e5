"""Placement: which values a plan stores and how each kernel's output is partitioned, by the full cost model.

The level, group and walk laws offer every Store, Group and Walk; here the offers are weighed. Each choice is a term
built by those laws, priced by lowering it and solving its tiles; the plan is then read off the cheapest term.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from napkin_eq.egraph.budget import METER, Budget
from napkin_eq.egraph.nodes import tied
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.dtypes import BY_SHORT, computed_as, held_as
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import output_order
from napkin_eq.lang.interval import wide
from napkin_eq.lang.operators import VALUES
from napkin_eq.lang.scope import opened
from napkin_eq.lang.term import (
    Fold,
    Group,
    Input,
    Map,
    Online,
    Proj,
    Read,
    Reduce,
    Scan,
    Store,
    Term,
    Tuple,
    Walk,
    held,
    rebuilt,
    subterms,
)
from napkin_eq.laws.law import Judgment, together
from napkin_eq.machine.cost import elements, extent, in_a_row, total_us
from napkin_eq.machine.gpu import Hardware
from napkin_eq.search.least import Least
from napkin_eq.search.tiling import Tiled, solve
from napkin_eq.tile import ir as p
from napkin_eq.tile.lower.merge_axes import Merged, merged, ways
from napkin_eq.tile.lower.reductions import NARROW
from napkin_eq.tile.resources import BYTES
from napkin_eq.tile.stream_facts import Streamed, depth_along, modes_of, reduces_over

Join = tuple[tuple[int, ...], ...]
MOST_STORES, MOST_SOLVED, MOST_BUNDLED, GAIN, FAR, SHORT, TARGET, PLACING = 6, 40, 5, 0.985, 1.5, 128, "target__", 0.75
LATE_START = 4.0  # times what the best form takes as it is begun: what takes more is not told apart
EACH = 16  # kernels that may be solved for a term whatever those before it took, as long as it is far from its floor
# Seconds that a value's tiles may take where the time for placements is over; times so many where none fitted yet; the
# share of it where that was spent so many times
OWN, FITS, LATER = 3.0, 3.0, 0.1
NEAR = 1.05  # times nearer to a limit, what lies above it may have had a part in the choice of tiles
TURNED = 16  # lanes of the matrix unit's tiles along an axis that is summed over, at the least
HOLDS = 8192  # lanes of a row that one tile surely holds with all that is computed of it


@dataclass(frozen=True, slots=True)
class Offers:
    """Which placement laws are in force."""

    level: bool
    group: bool
    walk: bool
    bundle: bool


# A Store under its partition, the arrays that it writes, and those that it reads
Kernel = tuple[Store, tuple[p.Buffer, ...], tuple[p.Buffer, ...]]


@dataclass(frozen=True, slots=True)
class Priced:
    """What a derivation knows of kernels: many a search, and the diagram as it is written, have the same one.

    found: the kernel with its best tiles, or None with the reason why none fits. ended: the best of those that were
    priced in time. Both by printer, precision and kernel.
    """

    found: dict[tuple[str, str, Kernel], tuple[Tiled | None, str]] = field(default_factory=dict)
    ended: dict[tuple[str, str, Kernel], Tiled | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Placed:
    """A term with its placement, its kernels in launch order with their Stores, and the predicted total in
    microseconds.

    The term is a Store, or of several outputs a Tuple of Stores and items of Stores.
    """

    term: Term
    stores: tuple[Store, ...]
    tiled: tuple[Tiled, ...]
    predicted_us: float
    arrays: tuple[tuple[Term, p.Buffer], ...] = ()

    def read_by(self, store: Store) -> dict[Term, p.Buffer]:
        """Return the arrays of other kernels that the kernel of a Store reads."""
        inside = set(subterms(store))
        return {term: buffer for term, buffer in self.arrays if term is not store and term in inside}

    def lowered(self, store: Store, proved: Callable[[Judgment], bool]) -> Merged:
        """Return the kernel of a Store as it is lowered: along the axes that it merges."""
        kernel = self.tiled[self.stores.index(store)].kernel
        return merged(store, tuple(map(kernel.whole, kernel.writes)), self.read_by(store), proved, kernel.merged)


@dataclass(frozen=True, slots=True)
class _Searched:
    """The best tiles of one way to lower a kernel that keep to a limit in microseconds; what the dearest that were
    looked at take at the least.
    """

    found: tuple[Tiled, ...]
    limit: float
    dearest: float


class Placer:
    """Weighs placements of candidate terms, of one output or a Tuple of several, on one hardware."""

    def __init__(
        self,
        name: str,
        target_dtypes: Sequence[str],
        target_orders: Sequence[tuple[Axis, ...] | None],
        storage: str,
        hardware: Hardware,
        offers: Offers,
        proved: Callable[[Judgment], bool],
        printer: str,
        precision: str = NARROW,
        budget: Budget | None = None,
        priced: Priced | None = None,
    ) -> None:
        self.name, self.target_dtypes, self.target_orders = name, target_dtypes, target_orders
        self.storage, self.hardware = storage, hardware
        self.offers, self.proved, self.printer, self.precision = offers, proved, printer, precision
        self.budget = budget or Budget()
        self.begun = METER.counted
        self.priced = priced or Priced()
        self.solved: dict[Kernel, Tiled | None] = {}
        self.most = MOST_SOLVED
        self.alike: dict[tuple[Any, ...], _Searched] = {}  # by what is lowered
        self.above: dict[Kernel, float] = {}  # kernels that are sure to take longer than so many microseconds
        self.refusals: list[str] = []
        self.buffers: dict[Term, p.Buffer] = {}
        self.kept: dict[tuple[Term, tuple[Axis, ...], str], p.Buffer] = {}
        self.fused: list[Tiled] = []
        self.orders: dict[Term, tuple[Axis, ...]] = {}  # of outputs whose storage order others have chosen
        # Axes that count stretches: where no value of a stretch is stored, one kernel does them all, and nothing is cut
        self.parts: tuple[Axis, ...] = ()

    def best(self, body: Term) -> Placed | None:
        """Return the best placement found of a term: everything in one kernel, then a store at a time while it pays."""
        sites = self._sites(body) if self.offers.level else []
        self.most = MOST_SOLVED
        found: Placed | None = None
        chosen, join = frozenset[Term](), self._joins(body)[0]

        def tried(choice: frozenset[Term]) -> None:
            nonlocal found, chosen, join
            for other in self._joins(body):
                if found is not None and self._over():
                    break
                stored = self._placed(choice, body, other, math.inf if found is None else found.predicted_us)
                if stored is not None and (found is None or stored.predicted_us < found.predicted_us):
                    found, chosen, join = stored, choice, other

        # Arrays that are better turned first: what reads them as they lie is then no more than held against that
        if turned := frozenset(site for site in sites if isinstance(site, Input)):
            tried(turned)
        most = math.inf if found is None else found.predicted_us
        starts = [(other, self._placed(frozenset(), body, other, most)) for other in self._joins(body)]
        self.fused += [t for _, start in starts if start is not None for t in start.tiled]
        other, start = min(starts, key=lambda made: math.inf if made[1] is None else made[1].predicted_us)
        if start is not None and start.predicted_us < most:
            found, chosen, join = start, frozenset(), other
        floor = self._floor(body)
        if found is None or found.predicted_us > FAR * floor:
            self.most = max(MOST_SOLVED, len(self.solved) + EACH)
            for choice in _starts(sites, parallel(body), _read_at_places(body)):
                if choice != turned:
                    tried(choice)
        for _ in range(MOST_STORES + len(chosen)):
            step = self._step(body, sites, chosen, join, found, floor)
            if step is None:
                break
            found, chosen = step
            if self._over():
                break
        return found

    def by_start(self, bodies: Sequence[Term]) -> list[Term]:
        """Return terms in the order of what each takes in one kernel, with arrays turned that are better so; one of
        which that is not known, or is far more than of another, keeps its place.

        The search of the first term may take all the time that there is.
        """
        if len(bodies) < 2:
            return list(bodies)
        took: dict[Term, float] = {}
        for body in bodies:
            if self._over():
                break
            limit = LATE_START * min(took.values(), default=math.inf)
            if (start := self.turned(body, limit) or self.whole(body, limit)) is not None:
                took[body] = start.predicted_us
        known = iter(sorted(took, key=took.__getitem__))
        return [next(known) if body in took else body for body in bodies]

    def whole(self, body: Term, limit: float = math.inf, stored: frozenset[Term] = frozenset()) -> Placed | None:
        """Return the placement of a term that gives its outputs in one kernel, and stores nothing else but what is
        asked for; None where there is none, or where it is sure to take more microseconds than a limit.
        """
        join = tuple(_in_order(tuple(range(len(parallel(body)))), parallel(body)))
        if len(join) > 1 or not (self.offers.bundle or len(join[0]) == 1) or len(join[0]) > MOST_BUNDLED:
            return None
        found = self._placed(stored, body, join, limit)
        return None if found is None or found.predicted_us > limit else found

    def turned(self, body: Term, limit: float = math.inf) -> Placed | None:
        """Return the placement that stores outputs and, turned, the arrays that are better read so; None where there
        are none, or where it is sure to take more microseconds than a limit.
        """
        sites = frozenset(t for t in self._sites(body) if isinstance(t, Input)) if self.offers.level else frozenset()
        return self.whole(body, limit, sites) if sites else None

    def apart(self, body: Term, stored: Callable[[Term], bool], limit: float = math.inf) -> Placed | None:
        """Return the placement that stores every value that a condition holds of, no kernel shared; None where one does
        not fit.

        limit: microseconds; None is returned where it is sure to take more.
        """
        sites = frozenset(
            t for t in subterms(*parallel(body)) if t not in parallel(body) and stored(t) and _storable(t, body)
        )
        return self._placed(sites, body, tuple((i,) for i in range(len(parallel(body)))), limit)

    def _over(self) -> bool:
        """Tell whether as many kernels were solved, or as much time is gone, as a search may take that has found a
        placement.
        """
        return len(self.solved) > self.most or self.budget.over("placement", PLACING)

    def _late(self, begun: float, priced: bool) -> bool:
        """Tell whether a value whose kernel is solved since `begun` has taken so much time that it has the best tiles
        of those priced by now, or, where none was, is given up.
        """
        enough, time = (OWN, PLACING) if priced else (FITS * OWN, 1.0)
        now = METER.counted
        if now - begun < (enough if now - self.begun < FITS * OWN else LATER * enough):
            return False
        return self.budget.seconds == math.inf or self.budget.over("placement", time)

    def _joins(self, body: Term) -> list[Join]:
        """Return the ways to share kernels between outputs: not at all, those of the same passes, and all of them."""
        items = parallel(body)
        apart: Join = tuple((i,) for i in range(len(items)))
        if len(items) == 1 or not self.offers.bundle:
            return [apart]
        passes = [
            frozenset(
                (t.axis, t.where, depth_along(t, t.axis))
                for t in subterms(i)
                if isinstance(t, (Fold, Online)) and t.fused
            )
            for i in items
        ]
        whole: Join = (tuple(range(len(items))),)
        found = [apart, _alike([(p, i.axes) for p, i in zip(passes, items, strict=True)]), _alike(passes), whole]
        joins = dict.fromkeys(tuple(part for places in join for part in _in_order(places, items)) for join in found)
        return [join for join in joins if max(map(len, join)) <= MOST_BUNDLED]

    def _step(
        self, body: Term, sites: list[Term], chosen: frozenset[Term], join: Join, found: Placed | None, floor: float
    ) -> tuple[Placed, frozenset[Term]] | None:
        best: tuple[Placed, frozenset[Term]] | None = None
        for site in sites:
            if site not in chosen and found is not None and floor + self._round_trip(site) >= found.predicted_us:
                continue
            other = chosen ^ {site}
            if found is not None and self._over():
                break
            # To store more has to pay by what the model can tell, to store less only to cost no more.
            limit = math.inf if found is None else found.predicted_us * (1.0 if site in chosen else GAIN)
            placed = self._placed(other, body, join, limit if best is None else min(limit, best[0].predicted_us))
            if placed is None or placed.predicted_us > limit:
                continue
            if best is None or placed.predicted_us < best[0].predicted_us:
                best = placed, other
        return best

    def _sites(self, body: Term) -> list[Term]:
        """Return the subterms worth storing: what is read at other places, what a fold gives, what a contraction would
        compute again for each block.
        """
        found: dict[Term, None] = dict.fromkeys(_read_at_places(body))
        items = parallel(body)
        for term in subterms(*items):
            if isinstance(term, Streamed) and term.axes:
                found.setdefault(term)
            if isinstance(term, Scan):  # one tile may not hold the axes of prefix folds within each other
                found |= dict.fromkeys(t for t in subterms(term.body) if isinstance(t, Scan) and t.axis != term.axis)
            # Nor the prefixes that a fold over their axis would stream over
            if isinstance(term, (Streamed, Reduce)) and extent(term.axis) > HOLDS:
                found |= dict.fromkeys(t for t in subterms(term.body) if isinstance(t, Scan) and t.axis == term.axis)
            if isinstance(term, (Reduce, Fold)) and isinstance(term.body, Map) and term.body.op == "mul":
                for factor in term.body.args:
                    if not isinstance(factor, (Input, Read)) and any(
                        isinstance(t, (Input, Streamed)) for t in subterms(factor)
                    ):
                        found.setdefault(factor)
        for array, order in self._turned(body).items():
            self.orders.setdefault(array, order)
            found.setdefault(array)
        # An output that others read is stored once for both where they would round it alike.
        rounded = set(items) - _operands(body)
        return [t for t in found if t not in rounded and _storable(t, body)]

    def _turned(self, body: Term) -> dict[Term, tuple[Axis, ...]]:
        """Return the arrays that sums of products over several axes read, as convolutions are, along whose rows the
        longest of these axes does not lie, and the order in which it does: to turn such an array once may take less
        than to read it so many times.
        """
        found: dict[Term, tuple[Axis, ...]] = {}
        for term in subterms(*parallel(body)):
            factor, summed = term, list[Axis]()
            while isinstance(factor, (Reduce, Fold)) and factor.monoid == "sum":
                factor, summed = factor.body, [*summed, factor.axis]
            if len(summed) < 2 or not (isinstance(factor, Map) and factor.op == "mul"):
                continue
            for array in (t for t in subterms(factor) if isinstance(t, Input) and t not in parallel(body)):
                inside = [axis for axis in array.dims if axis in summed]
                longest = max(inside, key=extent, default=None)
                if longest is not None and extent(longest) % TURNED == 0 and array.dims[-1] != longest:
                    found[array] = (*(axis for axis in array.dims if axis != longest), longest)
        return found

    def _round_trip(self, site: Term) -> float:
        return elements(site.axes) * 2 * 2 / self.hardware.hbm.copy_bandwidth * 1e6 + self.hardware.chip.launch_s * 1e6

    def _floor(self, body: Term) -> float:
        """Return a time in microseconds that no placement beats: compulsory bytes, and contractions done once."""
        arrays = [*(t for t in subterms(body) if isinstance(t, Input)), *parallel(body)]
        moved = sum(BYTES[self.storage] * elements(t.axes) for t in arrays)
        flops = 0.0
        for term in subterms(body):
            if isinstance(term, (Fold, Online, Reduce)) and isinstance(term.body, Map) and term.body.op == "mul":
                left, right = (set(a.axes) for a in term.body.args)
                if left - right and right - left and term.axis in left & right:
                    flops += 2 * elements(term.body.axes) * (0.5 if term.where.fields != (True,) else 1.0)
        dtype = BY_SHORT[self.storage].name
        peak = max(self.hardware.flops(unit) for unit in (dtype, *(("tf32",) if dtype == "float32" else ())))
        seconds = max(
            moved / self.hardware.hbm.copy_bandwidth,
            flops / (peak * self.hardware.assumptions.tensor_efficiency),
        )
        return (seconds + self.hardware.chip.launch_s) * 1e6

    # -- one placement -----------------------------------------------------------------------------------------------

    def _placed(self, stored: frozenset[Term], body: Term, join: Join, limit: float = math.inf) -> Placed | None:
        """Price one choice of stores; every kernel takes its best partition by itself.

        limit: microseconds; a choice that is sure to take more is given up, and None returned, as soon as that is seen.
        """
        if self.parts and not any(part in site.axes for site in stored for part in self.parts):
            return None
        done: dict[Store, Tiled] = {}
        operands = _operands(body)
        outputs = dict(zip(parallel(body), self.target_dtypes, strict=True))
        laid = dict(zip(parallel(body), self.target_orders, strict=True))
        bundles = self._bundles(stored)

        def targets(sites: Sequence[Term], values: Sequence[Term]) -> tuple[p.Buffer, ...]:
            found = []
            for i, (site, value) in enumerate(zip(sites, values, strict=True)):
                narrow = site in operands and self.precision == NARROW
                own = (
                    BY_SHORT[self.storage].multiplied or self.storage
                    if narrow and value.kind == "real"
                    else computed_as(value.kind, wide(value))
                )
                own = held_as(value.dtype, self.storage) if isinstance(value, Input) else own
                dtype = outputs.get(site, own)
                own_order = output_order(value) if site in outputs else scratch_order(value)
                order = self.orders.get(site) or laid.get(site) or own_order
                found.append(p.Buffer(f"{TARGET}{i}", order, dtype))
            return tuple(found)

        def weigh(sites: Sequence[Term], values: Sequence[Term]) -> list[Term]:
            found = targets(sites, values)
            least.append(Least(_several(values), found, arrays, self.storage, self.hardware).us())
            kept = _items(Store(_several(values)), len(values))
            arrays.update(
                (name, replace(target, name=f"{len(arrays)}")) for name, target in zip(kept, found, strict=True)
            )
            return kept

        def keep(sites: Sequence[Term], values: Sequence[Term]) -> list[Term]:
            left = math.inf
            if least:
                here, *later = least[len(done) :]
                left = limit - in_a_row([*(t.cost.predicted_us for t in done.values()), 0.0, *later], self.hardware)
                if here > left:
                    raise _NoPlan
            found = targets(sites, values)
            store = self._partitioned(values, found, done, left)
            kept = _items(store, len(values))
            for site, target, name in zip(sites, found, kept, strict=True):
                # Where it is an operand of a contraction a value may be stored in another type than elsewhere.
                if site in stored:
                    own = replace(target, name=f"{self.name}__s{len(self.kept)}")
                    self.buffers[name] = self.kept.setdefault((name, target.dims, target.dtype), own)
            return kept

        least: list[float] = []
        arrays: dict[Term, p.Buffer] = {}
        try:
            if limit < math.inf:
                with_stores(body, bundles, weigh, join)
            root = with_stores(body, bundles, keep, join)
        except _NoPlan:
            return None
        stores = tuple(t for t in subterms(root) if isinstance(t, Store))
        if any(tied(t) and _computed_apart(t) for t in subterms(root)):
            self.refusals.append("a value is compared with what another kernel makes of it anew, in another order")
            return None
        tiled = tuple(done[s] for s in stores)
        read = tuple((t, self.buffers[t]) for t in subterms(root) if t in self.buffers)
        return Placed(root, stores, tiled, total_us([t.cost for t in tiled], self.hardware), read)

    def _bundles(self, stored: frozenset[Term]) -> list[tuple[Term, ...]]:
        """Group the values to store that come out of one pass: one kernel stores them together."""
        bundles: list[list[Term]] = []
        for site in sorted(stored, key=lambda t: (t.depth, str(t))):
            joined = (b for b in bundles if self.offers.bundle and len(b) < MOST_BUNDLED and _together(b, site))
            fits = (b for b in joined if together(t.kind for t in (*b, site)))
            home = next((b for b in fits if not _circular([*(o for o in bundles if o is not b), [*b, site]])), None)
            if home is None:
                bundles.append([site])
            else:
                home.append(site)
        for own in [b for b in bundles if len(b) == 1 and self.offers.bundle]:
            others = [b for b in bundles if b is not own]
            near = (b for b in others if len(b) < MOST_BUNDLED and _beside(b, own[0]))
            fits = (b for b in near if together(t.kind for t in (*b, *own)))
            home = next((b for b in fits if not _circular([*(o for o in others if o is not b), [*b, *own]])), None)
            if home is not None:
                home.append(own[0])
                bundles = others
        return [tuple(sorted(b, key=lambda t: t.kind != "real")) for b in bundles]

    def _partitioned(
        self, values: Sequence[Term], targets: tuple[p.Buffer, ...], done: dict[Store, Tiled], limit: float
    ) -> Store:
        """Return the values under the Store, Group and Walk nodes that make their kernel cheapest; one above the limit
        may be taken for none.
        """
        best: tuple[float, Store, Tiled] | None = None
        begun = METER.counted
        for store in self._partitions(_several(values)):

            def late(priced: bool, other: bool = best is not None) -> bool:
                return self._late(begun, priced or other)

            tiled = self._solve(store, targets, limit if best is None else min(limit, best[0]), late)
            if tiled is not None and (best is None or tiled.cost.predicted_us < best[0]):
                best = tiled.cost.predicted_us, store, tiled
        if best is None:
            raise _NoPlan
        done[best[1]] = best[2]
        return best[1]

    def _partitions(self, value: Term) -> Iterator[Store]:
        order = _order(value)
        if self.offers.group:
            yield _wrapped(value, [(Group, a) for a in order])
        if self.offers.walk:
            for walked in order:
                if extent(walked) <= SHORT:
                    continue  # one tile holds it: walked and grouped are the same
                along = any(isinstance(t, (*Streamed, Scan)) and t.axis == walked for t in subterms(value))
                if along and self.offers.group:
                    yield _wrapped(value, [(Walk if a == walked else Group, a) for a in order])
            if not self.offers.group:
                yield _wrapped(value, [(Walk, a) for a in order])
        if not self.offers.group and not self.offers.walk:
            yield Store(value)

    def _solve(
        self, store: Store, targets: tuple[p.Buffer, ...], limit: float, late: Callable[[bool], bool]
    ) -> Tiled | None:
        """Return a kernel with its best tiles; None where none fit, or where all are sure to take longer than the limit
        in microseconds. late: tells whether the time is over, given whether a tiling was priced by then.
        """
        arrays = {t: self.buffers[t] for t in subterms(store) if t in self.buffers and t is not store}
        key = (store, targets, tuple(arrays.values()))
        if key not in self.solved and not self._known(key) and limit > self.above.get(key, -math.inf):
            self._search(key, arrays, limit, late)
        return self.solved.get(key)

    def _known(self, key: Kernel) -> bool:
        """Take over what is known of a kernel, and tell whether anything is that no search could better now."""
        known = (self.printer, self.precision, key)
        if known in self.priced.found:
            self.solved[key], refusal = self.priced.found[known]
            self.refusals += [refusal] if refusal else []
        elif known in self.priced.ended and (self.budget.seconds == math.inf or self.budget.left() <= 0):
            self.solved[key] = self.priced.ended[known]
        return key in self.solved

    def _search(
        self, key: Kernel, arrays: Mapping[Term, p.Buffer], limit: float, late: Callable[[bool], bool]
    ) -> None:
        """Search the best tiles of a kernel in each way to lower it, up to a limit in microseconds."""
        METER.did("kernel")
        store, targets, _ = key
        known = self.printer, self.precision, key
        dearest, ended = 0.0, False
        found: list[Tiled] = []
        refused: list[str] = []

        def over(priced: bool) -> bool:
            nonlocal ended
            ended = ended or late(priced or bool(found))
            return ended

        def least(us: float) -> float:
            nonlocal dearest
            dearest = max(dearest, us)
            return us

        tried = ways(store, targets, arrays, self.proved)
        for made in tried:
            try:
                found += self._tiled(made, min([limit, *(t.cost.predicted_us for t in found)]), over, least)
            except NapkinError as error:
                refused.append(str(error))
        found.sort(key=lambda tiled: tiled.cost.predicted_us)
        if len(refused) == len(tried):
            self.refusals.append(refused[0])
            self.solved[key] = None
            if not ended and dearest <= limit:  # what is sure to take longer was not tried, and may fit
                self.priced.found[known] = None, refused[0]
            return
        if found:
            self.solved[key] = found[0]
        else:
            self.above[key] = limit
        if ended:
            self.priced.ended[known] = found[0] if found else None
        elif found and min(dearest, NEAR * found[0].cost.predicted_us) <= limit:  # nothing was left out that could win
            self.priced.found[known] = found[0], ""

    def _tiled(
        self, made: Merged, limit: float, over: Callable[[bool], bool], told: Callable[[float], float]
    ) -> list[Tiled]:
        """Return the best tiles of a kernel in one way to lower it, none above a limit in microseconds.

        told: is given the microseconds that some tiles are sure to take. Terms that fold the same axes in another order
        are the same kernel where these are merged.
        """
        told_by = made.arrays, made.own, made.within
        alike = made.store, made.targets, made.axes, *(frozenset(mapping.items()) for mapping in told_by)
        if alike in self.alike and (self.alike[alike].found or limit <= self.alike[alike].limit):
            told(self.alike[alike].dearest)
            return [*self.alike[alike].found]
        roles, value = modes_of(made.store)
        least = Least(value, made.targets, made.arrays, self.storage, self.hardware)
        dearest, ended = 0.0, False

        def lower(tiles: Mapping[str, int]) -> p.Kernel:
            return made.kernel(tiles, self.storage, self.proved, self.precision)

        def bound(blocks: Mapping[str, int]) -> float:
            nonlocal dearest
            dearest = max(dearest, us := told(least.us(blocks)))
            return us

        def late(priced: bool) -> bool:
            nonlocal ended
            ended = ended or over(priced)
            return ended

        found = solve(
            made.store,
            roles,
            lower,
            self.hardware,
            printer=self.printer,
            least=bound,
            limit=limit,
            stored=(*made.arrays.values(), *made.targets),
            within=made.within,
            over=late,
        )
        if not ended:
            self.alike[alike] = _Searched(tuple(found), limit, dearest)
        return found


def _alike(keys: Sequence[Any]) -> Join:
    """Group the places of equal keys."""
    groups: dict[Any, list[int]] = {}
    for place, key in enumerate(keys):
        groups.setdefault(key, []).append(place)
    return tuple(map(tuple, groups.values()))


def _in_order(places: Sequence[int], items: Sequence[Term]) -> Join:
    """Return places of outputs as Tuples have them, numbers before masks; whole numbers apart from masks."""
    kinds = [items[i].kind for i in places]
    rest = [] if together(kinds) else [i for i in places if items[i].kind == "int"]
    first = tuple(sorted((i for i in places if i not in rest), key=lambda i: items[i].kind != "real"))
    return (first, tuple(rest)) if rest else (first,)


def _computed_apart(comparison: Term) -> bool:
    """Whether a comparison has one value from two kernels: each adds up in an order of its own, and they differ in the
    last bits.
    """
    homes: dict[Term, set[Term | None]] = {}
    stack: list[tuple[Term, Term | None]] = [(arg, None) for arg in comparison.args]
    while stack:
        term, home = stack.pop()
        if term.kind == "int":
            continue  # whole numbers have no last bits to differ in
        exact = isinstance(term, Map) and (term.kind == "bool" or term.op in ("max", "min", "neg", "abs", "where"))
        if isinstance(term, (Store, Proj)):
            stack += [(part, term) for part in ((held(term),) if isinstance(term, Proj) else term.children)]
        elif (
            exact
            or isinstance(term, (Read, Group, Walk))
            or (isinstance(term, (Reduce, Fold)) and VALUES[term.monoid] == "max")
        ):
            stack += [(child, home) for child in term.children]
        elif term.children:
            homes.setdefault(term, set()).add(home)
    return any(len(kernels) > 1 for kernels in homes.values())


class _NoPlan(Exception):
    """No kernel for a value fits the hardware."""


def _several(values: Sequence[Term]) -> Term:
    return values[0] if len(values) == 1 else Tuple(tuple(values))


def _items(store: Store, count: int) -> list[Term]:
    """Return what each of the values is read as that a Store holds."""
    return [store] if count == 1 else [Proj(i, store) for i in range(count)]


def _wrapped(value: Term, modes: list[tuple[type[Group] | type[Walk], Axis]]) -> Store:
    body = value
    for mode, axis in reversed(modes):
        body = mode(axis, body)
    return Store(body)


def _order(value: Term) -> list[Axis]:
    """Return the axes of a value, or of all values of a Tuple, in storage order."""
    items = value.items if isinstance(value, Tuple) else (value,)
    longest = sorted(items, key=lambda t: -len(t.axes))
    return list(dict.fromkeys(a for item in longest for a in output_order(item)))


def scratch_order(value: Term) -> tuple[Axis, ...]:
    """Return the storage order of a value that only kernels read: axes that no input has come first, the rest as in the
    inputs.
    """
    known = {d for t in subterms(value) if isinstance(t, Input) for d in t.dims}
    order = output_order(value)
    return tuple(a for a in order if a not in known) + tuple(a for a in order if a in known)


def _storable(site: Term, body: Term) -> bool:
    """Whether a value occurs somewhere as itself, not only as a running value of a stream around it."""
    if opened(site):
        return False
    seen: set[tuple[Term, frozenset[str]]] = set()
    stack: list[tuple[Term, frozenset[str]]] = [(body, frozenset())]
    while stack:
        term, inside = stack.pop()
        running = frozenset(name for name in inside if reduces_over(term, name))
        if (term, running) in seen:
            continue
        seen.add((term, running))
        if term is site and not running:
            return True
        for i, child in enumerate(term.children):
            stack.append((child, running | {term.axis.name} if isinstance(term, Online) and i != 1 else running))
    return False


def _operands(body: Term) -> set[Term]:
    """Return the subterms that only contractions read: kept in 16 bits they lose nothing that the matrix unit would
    keep.
    """
    terms = subterms(*parallel(body))
    inside = {
        t.body
        for t in terms
        if isinstance(t, (Fold, Reduce, Online)) and isinstance(t.body, Map) and t.body.op == "mul"
    }
    found: set[Term] = set()
    elsewhere: set[Term] = set()
    for term in terms:
        (found if term in inside else elsewhere).update(term.children)
    return found - elsewhere


def _read_at_places(body: Term) -> list[Term]:
    """Return the computed values that are read at computed places: nothing reads them there unless they are stored."""
    found: dict[Term, None] = {}
    for term in subterms(*parallel(body)):
        while isinstance(term, Read):
            term = term.body
            if not isinstance(term, (Read, Input)):
                found.setdefault(term)
    return list(found)


def _starts(sites: Sequence[Term], outputs: Sequence[Term], read: Sequence[Term]) -> list[frozenset[Term]]:
    """Return choices of stores to start from, each with what must be stored to be read: that alone, all, all results of
    folds over one axis, and the outputs among them."""
    must = frozenset(read) & frozenset(sites)
    choices = [must, frozenset(sites), must | (frozenset(sites) & frozenset(outputs))]
    for name in sorted({t.axis.name for t in sites if isinstance(t, Streamed)}):
        choices.append(must | frozenset(t for t in sites if isinstance(t, Streamed) and t.axis.name == name))
    return [c for c in dict.fromkeys(choices) if c]


def _together(bundle: Sequence[Term], site: Term) -> bool:
    """Whether a value comes out of the same pass as the values of a bundle, and neither needs the other
    stored first.
    """
    if not isinstance(site, Streamed) or isinstance(site, Reduce) or not site.fused:
        return False
    return all(
        isinstance(t, (Fold, Online))
        and t.fused
        and (t.axis, t.where, depth_along(t, t.axis)) == (site.axis, site.where, depth_along(site, site.axis))
        for t in bundle
    )


def _beside(bundle: Sequence[Term], site: Term) -> bool:
    """Whether a value is made place by place of arrays that a pass over short rows reads, which a bundle comes out of
    and needs nothing of it: the kernel that folds a row stores what it has of it.
    """
    if not isinstance(site, Map) or any(isinstance(t, (*Streamed, Scan, Store)) for t in subterms(site)):
        return False
    return all(
        isinstance(t, Fold)
        and t.fused
        and site not in subterms(t)
        and extent(t.axis) <= HOLDS
        and {*site.axes} == {*t.axes, t.axis} == {*t.body.axes}
        and any({*a.axes} == {*site.axes} for a in {*subterms(site)} & {*subterms(t.body)} if not isinstance(a, Map))
        for t in bundle
    )


def _circular(bundles: Sequence[Sequence[Term]]) -> bool:
    """Whether bundles need each other's values, so that no kernel could come first."""
    inside = [set(subterms(*bundle)) for bundle in bundles]
    needs = [
        {j for j, other in enumerate(bundles) if j != i and any(t in inside[i] for t in other)}
        for i in range(len(bundles))
    ]
    done: set[int] = set()
    while ready := [i for i in range(len(bundles)) if i not in done and needs[i] <= done]:
        done.update(ready)
    return len(done) < len(bundles)


def with_stores(
    body: Term,
    bundles: Sequence[Sequence[Term]],
    keep: Callable[[Sequence[Term], Sequence[Term]], list[Term]],
    join: Join,
) -> Term:
    """Put chosen values under Stores, inner ones first, then the outputs, those of a `join` under one Store.

    `keep` gets values before and after, and gives what to read.
    """
    home = {site: bundle for bundle in bundles for site in bundle}
    kept: dict[Term, Term] = {}
    made: dict[tuple[Term, frozenset[str]], Term] = {}

    def fresh(term: Term, inside: frozenset[str] = frozenset()) -> Term:
        children = [
            settled(c, inside | {term.axis.name} if isinstance(term, Online) and i != 1 else inside)
            for i, c in enumerate(term.children)
        ]
        return rebuilt(term, tuple(children))

    def settled(term: Term, inside: frozenset[str]) -> Term:
        # Within a stream a reduction over its axis is a running value, which is not the value that is stored.
        running = frozenset(name for name in inside if reduces_over(term, name))
        key = (term, running)
        if key not in made:
            if term in home and not running:
                if term not in kept:
                    sites = home[term]
                    kept.update(zip(sites, keep(sites, [fresh(s) for s in sites]), strict=True))
                made[key] = kept[term]
            else:
                made[key] = fresh(term, running)
        return made[key]

    outputs = parallel(body)
    for places in join:
        rest = [outputs[i] for i in places if outputs[i] not in home]
        if rest:
            kept.update(zip(rest, keep(rest, [fresh(t) for t in rest]), strict=True))
    found = tuple(settled(t, frozenset()) if t in home else kept[t] for t in outputs)
    return Tuple(found) if isinstance(body, Tuple) else found[0]


def parallel(term: Term) -> tuple[Term, ...]:
    """Return the items of a Tuple, and of anything else the term alone."""
    return term.items if isinstance(term, Tuple) else (term,)
