"""The next best plans of a derivation, for measuring: the same term and kernels, other tiles, warps and buffers."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from napkin_eq.lang.dtypes import STORAGE
from napkin_eq.lang.errors import NapkinError, WrongPlan
from napkin_eq.lang.term import Store
from napkin_eq.machine.cost import price, profile, total_us
from napkin_eq.machine.gpu import Hardware
from napkin_eq.search.assemble import planned, renamed
from napkin_eq.search.derivation import DIFFERS, Derived, Output
from napkin_eq.search.job import prover
from napkin_eq.search.tiling import Tiled, power, shared, solve
from napkin_eq.tile import ir as p
from napkin_eq.tile.expected import expecting
from napkin_eq.tile.lower.elementwise import Proved
from napkin_eq.tile.lower.merge_axes import Merged
from napkin_eq.tile.stream_facts import modes_of
from napkin_eq.verify.translation import validated

POOL, SLOWER = 24, 1.5  # tilings of a kernel that others are chosen from; times the first's predicted time at the most
D = TypeVar("D", bound=Derived)  # a derivation, whatever else it knows to do


@dataclass(frozen=True, slots=True)
class Ranked:
    """A plan with the tiling of each of its kernels, in launch order, and its predicted time in microseconds."""

    plan: p.Plan
    tiled: tuple[Tiled, ...]
    predicted_us: float


def ranked(derivation: Derived, keep: int) -> list[Ranked]:
    """Return `keep` plans that the cost model puts first, best first; the first is the derivation's own.

    They differ in the kernel that takes longest, as far as that has other tilings: measuring plans that differ in the
    least of several kernels would tell little. One that does not compute what the diagram says is left out. Raises
    NapkinError if `keep` is less than 1.
    """
    if keep < 1:
        raise NapkinError(f"keep is {keep}: expected how many plans to return, at least 1")
    offers = [
        _offers(derivation, output, store, keep) for output in derivation.outputs for store in output.placed.stores
    ]
    longest = max(range(len(offers)), key=lambda i: offers[i][0].cost.predicted_us)
    best = tuple(found[0] for found in offers)
    apart = [(*best[:longest], other, *best[longest + 1 :]) for other in offers[longest]]
    rest = (pieces for pieces in itertools.product(*offers) if pieces not in apart)
    choices = [*apart, *heapq.nsmallest(keep - len(apart), rest, key=_predicted)]
    proved = prover(derivation.statements)
    offered = [
        best,
        *(c for c in sorted((c for c in choices if c != best), key=_predicted) if not _differs(derivation, c, proved)),
    ]
    return [_made(derivation, pieces) for pieces in offered]


def _predicted(pieces: Sequence[Tiled]) -> float:
    return sum(piece.cost.predicted_us for piece in pieces)


@dataclass(frozen=True, slots=True)
class Choice:
    """What tiling one kernel chose: the tile of each coordinate by name, warps, buffers of its loops, groups of warps
    that share it, 0 for none.
    """

    tiles: Mapping[str, int]
    warps: int
    stages: int
    groups: int = 0


def choice(piece: Tiled) -> Choice:
    """Return what was chosen for a kernel."""
    workers = piece.kernel.workers
    return Choice(
        {c.name: c.tile for c in piece.kernel.coords},
        piece.cost.warps,
        piece.cost.stages,
        workers.groups if workers else 0,
    )


def retiled(derivation: D, choices: Sequence[Choice]) -> D:
    """Return the derivation with what others chose for each of its kernels, in launch order.

    Raises NapkinError where its kernels are others, or where such tiles do not fit.
    """
    kernels = [(output, store) for output in derivation.outputs for store in output.placed.stores]
    if len(kernels) != len(choices):
        raise NapkinError(f"{len(choices)} kernels are given tiles, the plan has {len(kernels)}")
    return with_tilings(
        derivation,
        [_retiled(derivation, output, store, one) for (output, store), one in zip(kernels, choices, strict=True)],
    )


def portable(derivation: D) -> D:
    """Return the derivation with no kernel that groups of warps share: with the same tiles where they fit as plain
    Triton, else with the best that do.

    Raises NapkinError where none do.
    """
    if all(piece.kernel.workers is None for piece in derivation.tiled):
        return derivation
    plain = [_plain(piece, derivation.hardware) for piece in derivation.tiled]
    if None in plain:
        return with_tilings(
            derivation, [own or tilings(derivation, at, 1, "triton")[0] for at, own in enumerate(plain)]
        )
    # The same statements, which were validated
    outputs, plan, tiled = _planned(derivation, tuple(own for own in plain if own))
    return replace(derivation, plan=plan, outputs=outputs, tiled=tiled, _certificate={})


def _plain(piece: Tiled, hardware: Hardware) -> Tiled | None:
    """Return a tiling of which no groups of warps share the work, None where Triton does not take its tiles, or they do
    not fit.
    """
    workers = piece.kernel.workers
    if workers is None:
        return piece
    kernel = replace(piece.kernel, workers=None, warps=4 * workers.groups)
    cost = price(profile(kernel), {}, kernel.warps, kernel.stages, hardware)
    return None if cost is None or any(c.tile & (c.tile - 1) for c in kernel.coords) else Tiled(kernel, cost, 1)


def tilings(derivation: Derived, at: int, keep: int, printer: str) -> list[Tiled]:
    """Return the best tilings of a kernel of a derivation, by its place in launch order; raises NapkinError where none
    fits.
    """
    output, store = [(output, store) for output in derivation.outputs for store in output.placed.stores][at]
    return _solved(derivation, output, store, keep, printer)


def others(derivation: Derived, keep: int) -> list[tuple[Tiled, ...]]:
    """Return up to `keep` tilings of all kernels, in launch order, to be measured beside a derivation's own: they
    differ from it, and from one another, in the tiles or warps of the kernel that takes longest.

    The fastest of each thing that may limit a kernel come first: where the model is wrong about one, it is wrong about
    all that this limits.
    """
    own = derivation.tiled
    at = max(range(len(own)), key=lambda place: own[place].cost.predicted_us)
    found = {_shape(own[at]): own[at]}
    for piece in tilings(derivation, at, POOL, derivation.printer):
        if piece.cost.predicted_us <= SLOWER * own[at].cost.predicted_us:
            found.setdefault(_shape(piece), piece)
    first: dict[str, Tiled] = {}
    for piece in found.values():
        first.setdefault(piece.cost.limit, piece)
    _, *order = dict.fromkeys([*map(_shape, first.values()), *found])
    return [(*own[:at], found[shape], *own[at + 1 :]) for shape in order[:keep]]


def _shape(piece: Tiled) -> tuple[tuple[tuple[str, int], ...], int, int]:
    made = choice(piece)
    return tuple(made.tiles.items()), made.warps, made.groups


def with_pieces(derivation: Derived, pieces: Sequence[Tiled]) -> p.Plan:
    """Return the plan with other tilings of its kernels, in launch order, which nothing has validated."""
    return _planned(derivation, tuple(pieces))[1]


def lowered(derivation: Derived, pieces: Sequence[Tiled] = (), apart: bool = False) -> list[p.Kernel]:
    """Return the plan's kernels, in launch order, as they are before groups of warps share their work; pieces: the
    tilings that it has. apart: axes that a kernel takes as one are walked each by itself.
    """
    given = iter(pieces)
    found: list[p.Kernel] = []
    final = iter(derivation.plan.kernels)
    for output in derivation.outputs:
        for store, piece in zip(output.placed.stores, output.placed.tiled, strict=True):
            tiled, named = next(given, piece), next(final)
            kernel = own = tiled.kernel
            if apart and own.merged:
                kernel = _apart(derivation, output, store, own)
            elif own.workers is not None:
                kernel = _lowering(derivation, output, store)(_named(store, own, choice(tiled).tiles))
            buffers = zip((*own.reads, *own.writes), (*named.reads, *named.writes), strict=True)
            names = {old.name: new.name for old, new in buffers}
            found.append(renamed(kernel, named.name, names))
    return found


def _apart(derivation: Derived, output: Output, store: Store, own: p.Kernel) -> p.Kernel:
    """Return a kernel each of whose axes is walked by itself, the first of several that were one, from the fastest on,
    that has lanes in as large a tile as it fills.
    """
    tiles = _named(store, own, {coord.name: coord.tile for coord in own.coords})
    for axis, parts in own.merged:
        left = tiles.pop(axis.name)
        for part in reversed(parts):
            tiles[part.name] = min(left, power(part.size or 1))
            left = left if tiles[part.name] == 1 else 1
    plain = Merged(store, tuple(map(own.whole, own.writes)), output.placed.read_by(store))
    with expecting(derivation.expected):
        kernel = plain.kernel(tiles, STORAGE[derivation.dtype], prover(derivation.statements), output.precision)
    return replace(kernel, warps=own.warps, stages=own.stages)


def _named(store: Store, own: p.Kernel, tiles: Mapping[str, int]) -> dict[str, int]:
    """Return the tiles of a kernel's coordinates as lowering names them: NAME for outputs, ~NAME for folds."""
    named = {axis.name: 1 for axis in store.axes}
    for coord in own.coords:
        if coord.role in ("lane", "run"):
            continue
        streamed = coord.name.endswith(("__s", "__w"))
        named[f"~{coord.axis.name}" if streamed else coord.axis.name] = tiles[coord.name]
        if coord.role == "whole" and not streamed:
            named.setdefault(f"~{coord.axis.name}", tiles[coord.name])
    return named


def _retiled(derivation: Derived, output: Output, store: Store, chosen: Choice) -> Tiled:
    own = output.placed.tiled[output.placed.stores.index(store)].kernel
    for coord in own.coords:
        if coord.name not in chosen.tiles or len(chosen.tiles) != len(own.coords):
            raise NapkinError(
                f"tiles are given for {', '.join(sorted(chosen.tiles))}, a kernel walks"
                f" {', '.join(sorted(c.name for c in own.coords))}"
            )
    kernel = replace(_lowering(derivation, output, store)(_named(store, own, chosen.tiles)), stages=chosen.stages)
    if chosen.groups:
        made = shared(kernel, derivation.hardware)
        kernel, cost = made if made is not None else (kernel, None)
    else:
        kernel = replace(kernel, warps=chosen.warps)
        cost = price(profile(kernel), {}, chosen.warps, chosen.stages, derivation.hardware)
    if cost is None or {c.name: c.tile for c in kernel.coords} != chosen.tiles:
        raise NapkinError(f"the tiles {', '.join(f'{name}={size}' for name, size in chosen.tiles.items())} do not fit")
    return Tiled(kernel, cost, 1)


def _lowering(derivation: Derived, output: Output, store: Store) -> Callable[[Mapping[str, int]], p.Kernel]:
    proved = prover(derivation.statements)
    made = output.placed.lowered(store, proved)

    def lower(tiles: Mapping[str, int]) -> p.Kernel:
        with expecting(derivation.expected):
            return made.kernel(tiles, STORAGE[derivation.dtype], proved, output.precision)

    return lower


def _solved(derivation: Derived, output: Output, store: Store, keep: int, printer: str) -> list[Tiled]:
    """Return the best tilings of one kernel, for the sizes that the derivation expects."""
    with expecting(derivation.expected):
        made, lower = output.placed.lowered(store, prover(derivation.statements)), _lowering(derivation, output, store)
        roles, stored = modes_of(made.store)[0], (*made.arrays.values(), *made.targets)
        return solve(
            made.store, roles, lower, derivation.hardware,
            keep=keep, printer=printer, stored=stored, within=made.within,
        )  # fmt: skip


def _offers(derivation: Derived, output: Output, store: Store, keep: int) -> list[Tiled]:
    """Return the best tilings of one kernel, with what the derivation chose among them."""
    own = output.placed.tiled[output.placed.stores.index(store)]
    found = _solved(derivation, output, store, keep, derivation.printer)
    return [own, *(t for t in found if t.kernel != own.kernel)][:keep]


def _differs(derivation: Derived, pieces: tuple[Tiled, ...], proved: Proved) -> bool:
    """Whether a plan with other tiles is found not to compute what the diagram says (translation.py)."""
    outputs, plan, _ = _planned(derivation, pieces)
    found = validated(derivation.diagram, outputs, plan, derivation.hardware, derivation.dtype, proved)
    return found.status == DIFFERS


def with_tilings(derivation: D, pieces: Sequence[Tiled]) -> D:
    """Return the derivation with other tilings of its kernels, in launch order; raises WrongPlan where that plan is not
    what the diagram says.
    """
    outputs, plan, tiled = _planned(derivation, tuple(pieces))
    found = validated(
        derivation.diagram, outputs, plan, derivation.hardware, derivation.dtype, prover(derivation.statements)
    )
    if found.status == DIFFERS:
        raise WrongPlan(
            f"diagram {derivation.diagram.name}: with these tiles the plan does not give what the diagram says;"
            f" {found.why}"
        )
    outputs = [replace(output, translation=found) for output in outputs]
    return replace(derivation, plan=plan, outputs=outputs, tiled=tiled, _certificate={})


def _made(derivation: Derived, pieces: tuple[Tiled, ...]) -> Ranked:
    _, plan, tiled = _planned(derivation, pieces)
    return Ranked(plan, tuple(tiled), total_us([t.cost for t in tiled], derivation.hardware))


def _planned(derivation: Derived, pieces: tuple[Tiled, ...]) -> tuple[list[Output], p.Plan, list[Tiled]]:
    fresh = iter(pieces)
    outputs = [
        replace(o, placed=replace(o.placed, tiled=tuple(next(fresh) for _ in o.placed.stores)))
        for o in derivation.outputs
    ]
    return outputs, *planned(derivation.diagram, outputs, derivation.hardware, derivation.dtype)
