"""Placement: which values a plan stores and how each kernel's output is partitioned, by the full cost model.

The level, group and walk laws offer every Store, Group and Walk; here the offers are weighed. Each choice is a term built
by those laws, priced by lowering it and solving its tiles; the plan is then read off the cheapest term.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from napkin_eq import plan as p
from napkin_eq.cost import BYTES, extent
from napkin_eq.errors import NapkinError
from napkin_eq.evaluate import output_order
from napkin_eq.hardware import Hardware
from napkin_eq.law import Judgment
from napkin_eq.lower import Lowering, Streamed, modes_of, reduces_over
from napkin_eq.term import Acc, Fold, Group, Input, Map, Online, Prev, Read, Reduce, Store, Term, Walk, rebuilt, subterms
from napkin_eq.tiles import Tiled, solve

MOST_STORES, GAIN, TARGET = 6, 0.985, "target__"


@dataclass(frozen=True, slots=True)
class Offers:
    """Which placement laws are in force."""

    level: bool
    group: bool
    walk: bool


@dataclass(frozen=True, slots=True)
class Placed:
    """A term with its placement, its kernels in launch order with their Stores, and the predicted total in microseconds."""

    term: Store
    stores: tuple[Store, ...]
    tiled: tuple[Tiled, ...]
    predicted_us: float
    arrays: tuple[tuple[Store, p.Buffer], ...] = ()


class Placer:
    """Weighs placements of candidate terms for one output on one hardware."""

    def __init__(self, name: str, target_dtype: str, storage: str, hardware: Hardware, offers: Offers, proved: Callable[[Judgment], bool]) -> None:
        self.name, self.target_dtype, self.storage, self.hardware, self.offers, self.proved = name, target_dtype, storage, hardware, offers, proved
        self.solved: dict[tuple[Store, str], Tiled | None] = {}
        self.refusals: list[str] = []
        self.buffers: dict[Store, p.Buffer] = {}

    def best(self, body: Term) -> Placed | None:
        """Return the best placement found of a term: everything in one kernel, then a store at a time while it pays."""
        start = self._placed(frozenset(), body)
        sites = self._sites(body) if self.offers.level else []
        found, chosen = start, frozenset[Term]()
        floor = self._floor(body)
        everything = frozenset(sites)
        if (start is None or start.predicted_us > 4 * floor) and sites:
            stored = self._placed(everything, body)
            if stored is not None and (found is None or stored.predicted_us < found.predicted_us):
                found, chosen = stored, everything
        for _ in range(MOST_STORES + len(chosen)):
            step = self._step(body, sites, chosen, found, floor)
            if step is None:
                break
            found, chosen = step
        return found

    def _step(
        self, body: Term, sites: list[Term], chosen: frozenset[Term], found: Placed | None, floor: float
    ) -> tuple[Placed, frozenset[Term]] | None:
        best: tuple[Placed, frozenset[Term]] | None = None
        for site in sites:
            if site not in chosen and found is not None and floor + self._round_trip(site) >= found.predicted_us:
                continue
            other = chosen ^ {site}
            placed = self._placed(other, body)
            if placed is None or (found is not None and placed.predicted_us > GAIN * found.predicted_us):
                continue
            if best is None or placed.predicted_us < best[0].predicted_us:
                best = placed, other
        return best

    def _sites(self, body: Term) -> list[Term]:
        """Return the subterms worth storing: what a fold gives, and what a contraction would compute again for each block."""
        found: dict[Term, None] = {}
        for term in subterms(body):
            if isinstance(term, Streamed) and term is not body and term.axes:
                found.setdefault(term)
            if isinstance(term, (Reduce, Fold)) and isinstance(term.body, Map) and term.body.op == "mul":
                for factor in term.body.args:
                    if not isinstance(factor, (Input, Read)) and any(isinstance(t, (Input, Streamed)) for t in subterms(factor)):
                        found.setdefault(factor)
        return [t for t in found if _storable(t, body)]

    def _round_trip(self, site: Term) -> float:
        lanes = 1.0
        for axis in site.axes:
            lanes *= extent(axis)
        return lanes * 2 * 2 / self.hardware.hbm.copy_bandwidth * 1e6 + self.hardware.chip.launch_s * 1e6

    def _floor(self, body: Term) -> float:
        """Return a time in microseconds that no placement beats: compulsory bytes, and contractions done once."""
        moved = sum(BYTES[self.storage] * _lanes(t.axes) for t in subterms(body) if isinstance(t, Input)) + BYTES[self.storage] * _lanes(body.axes)
        flops = 0.0
        for term in subterms(body):
            if isinstance(term, (Fold, Online, Reduce)) and isinstance(term.body, Map) and term.body.op == "mul":
                left, right = (set(a.axes) for a in term.body.args)
                if left - right and right - left and term.axis in left & right:
                    flops += 2 * _lanes(term.body.axes) * (0.5 if term.where.fields != (True,) else 1.0)
        dtype = {"f16": "float16", "bf16": "bfloat16"}.get(self.storage, "float32")
        seconds = max(moved / self.hardware.hbm.copy_bandwidth, flops / (self.hardware.flops(dtype) * self.hardware.assumptions.tensor_efficiency))
        return (seconds + self.hardware.chip.launch_s) * 1e6

    # -- one placement -----------------------------------------------------------------------------------------------

    def _placed(self, stored: frozenset[Term], body: Term) -> Placed | None:
        """Price one choice of stores; every kernel takes its best partition by itself."""
        done: dict[Store, Tiled] = {}
        operands = _operands(body)

        def partition(site: Term, value: Term) -> Store:
            dtype = self.target_dtype if site is body else self.storage if site in operands else "f32"
            store = self._partitioned(value, dtype, done)
            if site is not body:
                self.buffers.setdefault(store, p.Buffer(f"{self.name}__s{len(self.buffers)}", output_order(value), dtype))
            return store

        try:
            root = with_stores(body, stored, partition)
        except _NoPlan:
            return None
        stores = tuple(t for t in subterms(root) if isinstance(t, Store))
        tiled = tuple(done[s] for s in stores)
        arrays = tuple((s, self.buffers[s]) for s in stores if s in self.buffers)
        return Placed(root, stores, tiled, sum(t.cost.predicted_us for t in tiled), arrays)

    def _partitioned(self, value: Term, dtype: str, done: dict[Store, Tiled]) -> Store:
        """Return the value under the Store, Group and Walk nodes that make its kernel cheapest."""
        best: tuple[float, Store, Tiled] | None = None
        for store in self._partitions(value):
            tiled = self._solve(store, dtype)
            if tiled is not None and (best is None or tiled.cost.predicted_us < best[0]):
                best = tiled.cost.predicted_us, store, tiled
        if best is None:
            raise _NoPlan
        done[best[1]] = best[2]
        return best[1]

    def _partitions(self, value: Term) -> Iterator[Store]:
        order = output_order(value)
        if self.offers.group:
            yield _wrapped(value, [(Group, a) for a in order])
        if self.offers.walk:
            for walked in order:
                lacking = any(isinstance(t, Streamed) and walked not in t.axes and walked == t.axis for t in subterms(value))
                if lacking and self.offers.group:
                    yield _wrapped(value, [(Walk if a == walked else Group, a) for a in order])
            if not self.offers.group:
                yield _wrapped(value, [(Walk, a) for a in order])
        if not self.offers.group and not self.offers.walk:
            yield Store(value)

    def _solve(self, store: Store, dtype: str) -> Tiled | None:
        key = (store, dtype)
        if key not in self.solved:
            roles, value = modes_of(store)
            target = p.Buffer(TARGET, output_order(value), dtype)
            arrays = {s: self.buffers[s] for s in subterms(store) if isinstance(s, Store) and s is not store}

            def lower(tiles: Mapping[str, int]) -> p.Kernel:
                return Lowering("kernel__", store, target, tiles, arrays, self.storage, self.proved).kernel()

            try:
                self.solved[key] = solve(store, roles, lower, self.hardware)[0]
            except NapkinError as error:
                self.refusals.append(str(error))
                self.solved[key] = None
        return self.solved[key]


class _NoPlan(Exception):
    """No kernel for a value fits the hardware."""


def _wrapped(value: Term, modes: list[tuple[type[Group] | type[Walk], object]]) -> Store:
    body = value
    for mode, axis in reversed(modes):
        body = mode(axis, body)  # type: ignore[arg-type]
    return Store(body)


def _lanes(axes: tuple[object, ...]) -> float:
    lanes = 1.0
    for axis in axes:
        lanes *= extent(axis)  # type: ignore[arg-type]
    return lanes


def _storable(site: Term, body: Term) -> bool:
    """Whether a value may be kept: it must not stand for a running value wherever it occurs."""
    if any(isinstance(t, (Acc, Prev)) for t in subterms(site)):
        return False
    for term in subterms(body):
        if isinstance(term, Online) and site in set(subterms(term.body, term.update)) and reduces_over(site, term.axis.name):
            return False
    return True


def _operands(body: Term) -> set[Term]:
    """Return the subterms that only contractions read: kept in 16 bits they lose nothing that the matrix unit would keep."""
    inside: set[Term] = set()
    elsewhere: set[Term] = set()
    for term in subterms(body):
        if isinstance(term, (Fold, Reduce, Online)) and isinstance(term.body, Map) and term.body.op == "mul":
            inside |= {term.body}
    found: set[Term] = set()
    for term in subterms(body):
        (found if term in inside else elsewhere).update(term.children)
    return found - elsewhere


def with_stores(body: Term, stored: frozenset[Term], partition: Callable[[Term, Term], Store]) -> Store:
    """Put each chosen value under its own Store, inner ones first, then the whole; `partition` gets a value before and after."""
    made: dict[Term, Term] = {}
    for term in subterms(body):
        fresh = rebuilt(term, tuple(made[c] for c in term.children))
        made[term] = partition(term, fresh) if term in stored and term is not body else fresh
    return partition(body, made[body])
