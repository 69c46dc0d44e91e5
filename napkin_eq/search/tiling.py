"""Tile sizes: solved under the capacities of the hardware, by pricing every choice worth considering."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from napkin_eq.egraph.budget import METER
from napkin_eq.lang.axis import Axis, minor
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Const, Fold, Index, Input, Map, Online, Proj, Recur, Scan, Store, Term, subterms
from napkin_eq.laws.axis_split import is_stretch
from napkin_eq.machine.cost import KernelCost, Profile, extent, price, prices, profile
from napkin_eq.machine.gpu import Hardware
from napkin_eq.machine.tile_scheduler import dealt
from napkin_eq.machine.warp_specialized import ARCHS, Footprint, footprint, priced
from napkin_eq.tile import ir as p
from napkin_eq.tile.boxes import shared_bytes
from napkin_eq.tile.expected import at_most
from napkin_eq.tile.passes.warp_roles import assigned
from napkin_eq.tile.passes.warp_specialize import GROUP_LANES, MOST_GROUPS, specialised
from napkin_eq.tile.resources import MOST_ELEMENTS, WIDE_ROWS, capacity, room
from napkin_eq.tile.stream_facts import (
    LEAST_COLUMNS,
    MIN_DOT,
    RUN,
    WINDOW,
    Streamed,
    columns,
    counts,
    covers,
    kernel_terms,
    laned,
    multiplied,
)

LONG = 4096  # places in a block of a kernel that folds no more than a window
SMALL, LARGEST_WHOLE, RELOWERED, MOST_CHOICES, STAGES = 256, 32768, 3, 1500, (4, 3, 2)
SHORT = 4096  # elements that a program which takes several rows has in a tile at the most
TOO_MANY = 32_768  # choices, of a kernel of a dozen axes: only to list more takes as long as a search
MOST_SHARED = 7  # tilings to try whether groups of warps can share them, before giving up
# Of so many tilings priced, of all sizes, the best takes so many times the limit: none will keep to it (of some 130
# such searches, of random diagrams and of windows, one came to the limit itself)
SAMPLE, HOPELESS = 64, 5.0
GOLDEN = 2654435761  # odd, 2**32 over the golden ratio: its multiples lie far from one another
TOLD, WASTE = 1.02, 4.0  # times nearer than this are not told apart; so many times the work is not done for less
# Predicted microseconds, tiles, warps, stages with a minus, operations: more buffers than needed do no harm.
_Choice = tuple[float, tuple[int, ...], int, int, float]
LowerKernel = Callable[[Mapping[str, int]], p.Kernel]


@dataclass(frozen=True, slots=True)
class Tiled:
    """A kernel with its tiles chosen, its predicted cost, and how many choices were priced.

    axes: axes of its Store by name, where the kernel, made for an equal part of the diagram, has another there.
    """

    kernel: p.Kernel
    cost: KernelCost
    tried: int
    axes: tuple[tuple[str, Axis], ...] = ()


def power(size: int) -> int:
    """Return the least power of two that is at least `size`."""
    return 1 << (size - 1).bit_length()


def choices(
    store: Store, roles: Mapping[str, str], stored: Iterable[p.Buffer] = (), within: Mapping[str, int] = {}
) -> dict[str, list[int]]:
    """Return the tile sizes worth pricing for each coordinate of the kernel under a Store: NAME for outputs, ~NAME for
    folds.

    stored: the arrays of values that other kernels have stored for it, and those that it writes. within: of folded
    axes, numbers that whole tiles make up.
    """
    lasts = {buffer.dims[minor(buffer.dims)] for buffer in stored if buffer.dims}
    terms = kernel_terms(store)[:-1]
    leaves = [t for t in terms if not t.children or isinstance(t, (Store, Proj))]
    arrays = [t for t in leaves if t.axes]
    found: dict[str, list[int]] = {}
    # Of a kernel that folds a window at the most along an only axis blocks may be long: each takes its time to begin
    folded = math.prod(t.axis.size or LONG for t in terms if isinstance(t, (Streamed, Scan, Recur)))
    alone = sum(axis.size != 1 for axis in store.axes) == 1 and folded <= WINDOW
    for axis in store.axes:
        shared = any(axis.name not in {a.name for a in t.axes} for t in arrays) or any(
            isinstance(t, Streamed) and axis.name not in {a.name for a in t.axes} for t in terms
        )
        last = axis in lasts or any(d[minor(d)] == axis for d in (getattr(t, "dims", t.axes) for t in arrays))
        scanned = any(isinstance(t, Scan) and t.axis == axis for t in terms)  # one tile has to hold it, or walk it
        most = LONG if alone else SMALL
        found[axis.name] = _sizes(axis, streamed=True, least=1, most=most) if shared or last or scanned else [1]
        if roles.get(axis.name) == "walk":
            # Blocks of a prefix fold may be short: beside several rows each thread then folds its own in turn
            shortest = MIN_DOT if scanned else 64
            found[axis.name] = [
                s
                for s in _sizes(axis, streamed=True, least=1, most=LARGEST_WHOLE)
                if s == 1 or s >= shortest or covers(s, axis)
            ]
    own = [axis for axis in store.axes if roles.get(axis.name) != "walk" and found[axis.name] != [1]]
    if len(own) == 1 and not alone and folded <= WINDOW:  # blocks lie along one axis, as if it were the only one
        found[own[0].name] = _sizes(own[0], streamed=True, least=1, most=LONG)
    rows = [axis for axis in store.axes if found[axis.name] == [1]]
    if rows and not _multiplies(store):
        short = max(math.prod(extent(a) for a in t.axes if a not in rows) for t in terms)
        if short < SHORT:  # a program of one such row does little: it may take several that lie side by side
            nearest = max(
                rows,
                key=lambda axis: max(
                    (getattr(t, "dims", t.axes).index(axis) for t in arrays if axis in t.axes), default=-1
                ),
            )
            most = min(SMALL, SHORT // power(short))
            found[nearest.name] = sorted(
                {1, *(1 << n for n in range(2, most.bit_length()) if 1 << n <= power(extent(nearest)))}
            )
    for term in terms:
        if isinstance(term, Streamed):
            streamed = isinstance(term, (Fold, Online))
            known = found.get(f"~{term.axis.name}")
            sizes = _sizes(term.axis, streamed=streamed, least=16, most=4096)
            if streamed and (isinstance(term.body, (Fold, Online)) or counts(term) or _of_folds(term)) and sizes[0] > 1:
                sizes = [1, *sizes]  # a sum of contractions, or over the stretches under a mask: one at a time
            if (run := _run(term)) and len(sizes) > 1:  # a longer tile would reach into other stretches
                sizes = [s for s in sizes if s <= run] or sizes[:1]
            whole = within.get(term.axis.name, 0)
            sizes = [s for s in (16, 32, 64, 128, 256) if s <= whole and whole % s == 0] if whole else sizes
            found[f"~{term.axis.name}"] = sizes if known is None else [s for s in sizes if s in known]
    return _thinned(found)


def _of_folds(fold: Term) -> bool:
    """Tell whether a fold over a window, as pooling is, takes what other folds give along it."""
    short = fold.axis.size is not None and fold.axis.size <= WINDOW
    return short and any(isinstance(t, (Fold, Online)) and fold.axis in t.axes for t in kernel_terms(fold))


def _run(fold: Term) -> int:
    """Return how long the stretches are of which a fold takes one, 0 where it takes no such."""
    runs = (number for counter, number in multiplied(fold.where) if is_stretch(counter, fold.axis, fold.where))
    return next((run.value for run in runs), 0)


def _thinned(options: dict[str, list[int]]) -> dict[str, list[int]]:
    """Drop tile sizes between others, from the longest list first, until the choices can all be priced."""
    while math.prod(map(len, options.values())) > MOST_CHOICES:
        name = max(sorted(options), key=lambda n: len(options[n]))
        sizes = options[name]
        kept = [s for i, s in enumerate(sizes) if i in (0, len(sizes) - 1) or s in (64, 128) or i % 2 == 0]
        if len(kept) == len(sizes):
            kept = [s for s in sizes if s in (sizes[0], sizes[-1], 64, 128)]
        if len(kept) == len(sizes):
            break
        options[name] = kept
    if math.prod(map(len, options.values())) > TOO_MANY:
        few = {n: [sizes[0], 64 if 64 in sizes else sizes[-1]] for n, sizes in options.items()}
        options = {n: sizes if len(sizes) <= 2 else few[n] for n, sizes in options.items()}
    for name in sorted(options, key=lambda n: (options[n][-1:], n)):  # the shortest first, in the tile that fits best
        if math.prod(map(len, options.values())) <= TOO_MANY:
            break
        options[name] = options[name][:1]
    return options


def _sizes(axis: Axis, *, streamed: bool, least: int, most: int) -> list[int]:
    held = at_most(axis)
    whole = None if held is None else power(held)
    if whole is not None and (not streamed or whole <= 128):
        # A short axis may be padded to the least tile that the matrix unit takes: its lanes past the end are masked.
        return (
            [whole]
            if not streamed or least > 1
            else sorted({1, *(s for s in (16, 32, 64, 128) if s < whole), whole, max(whole, MIN_DOT)})
        )
    sizes = {s for s in (least, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096) if least <= s <= most}
    if most > SMALL and extent(axis) > LARGEST_WHOLE:
        # Enough loads at once for one block to keep an SM's share of the memory busy
        sizes |= {LARGEST_WHOLE // 4, LARGEST_WHOLE // 2, LARGEST_WHOLE}
    if whole is not None:
        sizes = {s for s in sizes if s < whole} | ({whole} if whole <= LARGEST_WHOLE else set())
    return sorted(sizes)


class _Profiles:
    """The profiles of one kernel's tilings: one for all tile sizes that leave its statements the same."""

    def __init__(self, store: Store, lower: LowerKernel) -> None:
        terms = subterms(store)
        self.axes = {f.name: f for t in terms for f in (*t.fields, *t.axes) if isinstance(f, Axis)}
        self.divided: dict[str, set[int]] = {}  # numbers that places along axes are divided by, or compared
        for t in terms:
            if isinstance(t, Map) and t.op in ("floordiv", "mod"):
                place, by = t.args
                if isinstance(place, Index) and isinstance(by, Const):
                    self.divided.setdefault(place.axis.name, set()).add(by.value)
            elif isinstance(t, Map) and t.op in ("lt", "le"):  # where stretches begin: a loop walks them by whole tiles
                for counter, run in multiplied(t):
                    for place in subterms(t):
                        if isinstance(place, Index) and place.axis != counter:
                            self.divided.setdefault(place.axis.name, set()).add(run.value)
        self.columns = {t.axis.name for t in terms if isinstance(t, Fold) and _folds_columns(t)}
        self.lower, self.terms = lower, len(terms)
        self.refused: dict[tuple[bool, ...], str] = {}
        self.first: dict[tuple[bool, ...], Mapping[str, int]] = {}
        self.found: dict[tuple[bool, ...], Profile | None] = {}
        self.prints: dict[tuple[bool, ...], Footprint | None] = {}

    def pattern(self, tiles: Mapping[str, int]) -> tuple[bool, ...]:
        return _pattern(tiles, self.axes, self.divided, self.columns)

    def among(self, every: Sequence[Mapping[str, int]]) -> None:
        """Lower, of choices that leave the statements the same, the first one, in whatever order they are asked for."""
        for tiles in every:
            self.first.setdefault(self.pattern(tiles), tiles)

    def profile(self, tiles: Mapping[str, int]) -> Profile | None:
        pattern = self.pattern(tiles)
        if pattern not in self.found:
            try:
                kernel = self.lower(self.first[pattern])
                METER.did("lowered", sum(1 for _ in p.statements(kernel.body)))
                self.found[pattern] = profile(kernel)
            except NapkinError as error:
                METER.did("lowered", self.terms)
                self.found[pattern], self.refused[pattern] = None, str(error)
        return self.found[pattern]

    def refusal(self, choices: Iterable[Mapping[str, int]]) -> str:
        """Return why the last was refused of some choices of tiles, "" if none was."""
        patterns = [self.pattern(tiles) for tiles in choices]
        return next((self.refused[pattern] for pattern in reversed(patterns) if pattern in self.refused), "")

    def footprint(self, tiles: Mapping[str, int]) -> Footprint | None:
        pattern, prof = self.pattern(tiles), self.profile(tiles)
        if pattern not in self.prints:
            self.prints[pattern] = None if prof is None else footprint(prof.kernel)
        return self.prints[pattern]


def solve(
    store: Store,
    roles: Mapping[str, str],
    lower: LowerKernel,
    hardware: Hardware,
    *,
    keep: int = 1,
    printer: str = "triton",
    least: Callable[[Mapping[str, int]], float] = lambda blocks: 0.0,
    limit: float = math.inf,
    stored: Iterable[p.Buffer] = (),
    within: Mapping[str, int] = {},
    over: Callable[[bool], bool] = lambda priced: False,
) -> list[Tiled]:
    """Return the `keep` fastest tilings of a kernel, best first; none where all take longer than a limit in
    microseconds, or none was priced in time.

    printer: "auto" weighs tilings whose work groups of warps share too, "gluon" takes these alone where there are any.
    least: microseconds that a kernel takes at the least with so many blocks along its output axes: tilings that it
    tells cannot be among the fastest, or keep to the limit, are not lowered. stored, within: as of `choices`. over:
    tells whether the time is over, given whether a tiling was priced by then. Raises NapkinError, naming the capacity
    and by how much it is missed, where no choice fits.
    """
    options = choices(store, roles, stored, within)
    profiles = _Profiles(store, lower)

    def bound(tiles: Mapping[str, int]) -> float:
        blocks = {
            a.name: -(-extent(a) // tiles[a.name])
            for a in store.axes
            if roles.get(a.name) == "group" and not covers(tiles[a.name], a)
        }
        return least(blocks)

    plain, refusal = _plain(store, options, profiles, hardware, keep, bound, limit, over)
    if printer == "triton" or hardware.arch not in ARCHS:
        beside: list[Tiled] = []
    else:
        most = plain[-1].cost.predicted_us if printer == "auto" and len(plain) == keep else math.inf
        beside = _shared(store, options, profiles, hardware, keep, bound, min(most, limit), over)
    found = beside if beside and printer == "gluon" else [*plain, *beside]
    if not found and refusal:
        raise NapkinError(refusal)
    return sorted(found, key=lambda t: t.cost.predicted_us)[:keep]


def _plain(
    store: Store,
    options: Mapping[str, list[int]],
    profiles: _Profiles,
    hardware: Hardware,
    keep: int,
    bound: Callable[[Mapping[str, int]], float],
    limit: float,
    over: Callable[[bool], bool],
) -> tuple[list[Tiled], str]:
    """Return the fastest tilings of a kernel all of whose warps do all of its work, or why there is none: "" where that
    is the limit, or the time.
    """
    names = sorted(options)
    every = [dict(zip(names, tiles, strict=True)) for tiles in _combinations(store, options, names)]
    profiles.among(every)
    priced_choices: list[_Choice] = []
    tried, enough, wanted, sure = 0, math.inf, max(keep, RELOWERED), True
    spread = _spread(every)
    # The rest only where none of so many fits
    ways = sorted((i >= MOST_CHOICES, bound(tiles), i) for i, tiles in enumerate(spread))
    # Where there is a limit a few of all sizes are the first: those with the least bound are all large
    first = [way for way in ways if way[2] < SAMPLE and way[1] <= limit] if limit < math.inf else []
    rest = [way for way in ways if way[2] >= SAMPLE or not first]
    for number, (late, least, place) in enumerate([*first, *rest]):
        named = spread[place]
        if sure and least > limit:
            continue  # of the rest some may be below it
        if over(bool(priced_choices)) or (late and priced_choices):
            break
        if priced_choices and number >= SAMPLE and enough > HOPELESS * limit:
            return [], ""
        if sure and least > enough:
            enough = _enough(priced_choices, wanted)
            if least > enough:
                if number < len(first):
                    continue
                break
        prof = profiles.profile(named)
        if prof is None:
            continue
        lanes = _lanes(prof.kernel, named)
        dots = any(w.kind == "tensor" for w in prof.works)
        launches = _launches(dots)
        tried += len(launches)
        METER.did("tiling")
        METER.did("launch", len(launches))
        for (warps, stages), cost in zip(launches, prices(prof, lanes, launches, hardware), strict=True):
            if cost is not None:
                work = cost.flops_tensor + cost.ops_sfu + cost.ops_alu
                priced_choices.append((cost.predicted_us, tuple(named.values()), warps, -stages, work))
                enough = min(enough, TOLD * cost.predicted_us)
                # Lowered the kernel reads less than its term says: a comparison of a value with itself, say
                sure = sure and cost.predicted_us >= least
    if not priced_choices:
        lowered = [tiles for tiles in every if profiles.pattern(tiles) in profiles.found]
        return [], "" if len(lowered) < len(every) else profiles.refusal(every) or _misfit(
            [profiles.profile(tiles) for tiles in every], options, hardware
        )
    best: list[Tiled] = []
    for _, tiles, warps, fewer, _ in _thrifty(sorted(priced_choices))[:wanted]:
        stages = -fewer
        kernel = replace(profiles.lower(dict(zip(names, tiles, strict=True))), warps=warps, stages=stages)
        cost = price(profile(kernel), {}, warps, stages, hardware)
        if cost is not None:
            best.append(Tiled(kernel, cost, tried))
    return best, "" if best else _misfit([profiles.profile(tiles) for tiles in every], options, hardware)


def _spread(every: Sequence[Mapping[str, int]]) -> list[Mapping[str, int]]:
    """Return choices in an order of which any beginning has tiles of all sizes, as time may end their search there."""
    return [tiles for _, tiles in sorted(enumerate(every), key=lambda choice: choice[0] * GOLDEN % (1 << 32))]


def _enough(found: list[_Choice], wanted: int) -> float:
    """Return the least time of choices that change nothing any more of the first few that are wanted; infinite where
    there are fewer.
    """
    kept = _thrifty(sorted(found))
    return TOLD * kept[wanted - 1][0] if len(kept) >= wanted else math.inf


def _thrifty(found: list[_Choice]) -> list[_Choice]:
    """Leave out, of choices in order, those that do many times the work of another for less time than the model can
    tell.

    A small kernel takes little more than its launch however it is cut: computing a row's sum again for each element
    looks free.
    """
    least: list[tuple[float, float]] = []
    for predicted, *_, work in found:
        if not least or work < least[-1][1]:
            least.append((predicted, work))
    return [
        c for c in found if not any(p <= TOLD * c[0] and work < c[-1] and WASTE * work <= c[-1] for p, work in least)
    ]


def _shared(
    store: Store,
    options: Mapping[str, list[int]],
    profiles: _Profiles,
    hardware: Hardware,
    keep: int,
    bound: Callable[[Mapping[str, int]], float],
    limit: float,
    over: Callable[[bool], bool],
) -> list[Tiled]:
    """Return the fastest tilings whose work groups of warps can share, below a limit in microseconds."""
    if not _multiplies(store):
        return []
    outputs = {a.name for a in store.axes}
    names = sorted(options)
    wider = {
        n: sorted({*sizes, 3 * GROUP_LANES}) if n in outputs and 2 * GROUP_LANES in sizes else sizes
        for n, sizes in options.items()
    }
    found: list[tuple[float, tuple[int, ...], int]] = []
    every = [dict(zip(names, tiles, strict=True)) for tiles in _combinations(store, wider, names)]
    profiles.among(every)
    for named in _spread(every):
        if over(bool(found) or limit < math.inf):
            break
        if bound(named) >= limit or not any(_grouped(named[name]) for name in outputs):
            continue
        use = profiles.footprint(named)
        prof = profiles.profile(named)
        if use is None or prof is None:
            continue
        METER.did("tiling")
        lanes = _lanes(prof.kernel, named)
        # More buffers than needed do no harm, so the most that fit are taken.
        fitting = (
            (cost, stages) for stages in STAGES if (cost := priced(prof, use, lanes, stages, hardware)) is not None
        )
        found += [
            (cost.predicted_us, tuple(named.values()), stages)
            for cost, stages in itertools.islice(fitting, 1)
            if cost.predicted_us < limit
        ]
    best: list[Tiled] = []
    for _, tiles, stages in sorted(found)[: MOST_SHARED + keep]:
        kernel = replace(profiles.lower(dict(zip(names, tiles, strict=True))), stages=stages)
        made = shared(kernel, hardware, limit)
        if made is not None:
            best.append(Tiled(*made, len(found)))
        if len(best) == keep + 2:
            break
    return best


def _multiplies(store: Store) -> bool:
    """Tell whether a kernel may contract: fold a product of two values, each of which has an axis the other has not."""
    folded = subterms(*(t.body for t in kernel_terms(store) if isinstance(t, Streamed)))
    sides = [[{*arg.axes} for arg in t.args] for t in folded if isinstance(t, Map) and t.op == "mul"]
    return any(left - right and right - left for left, right in sides)


def _grouped(tile: int) -> bool:
    """Tell whether several groups of warps may share so many lanes of a coordinate."""
    return tile % GROUP_LANES == 0 and 1 < tile // GROUP_LANES <= MOST_GROUPS


def shared(kernel: p.Kernel, hardware: Hardware, limit: float = math.inf) -> tuple[p.Kernel, KernelCost] | None:
    """Return a kernel with its work shared out and what it costs, or None where that is no less than a limit in
    microseconds or it cannot be shared.
    """
    try:
        made = specialised(kernel)
        use = footprint(made)
        read = profile(kernel)
        cost = None if use is None else priced(read, use, {}, kernel.stages, hardware)
        if use is None or cost is None or cost.predicted_us >= limit:
            return None
        blocks = dealt(kernel, cost, hardware)
        cost = priced(read, use, {}, kernel.stages, hardware, blocks)
        if cost is None or cost.predicted_us >= limit:
            return None
        assert made.workers is not None
        issued = any(isinstance(s, p.Dot) and s.issued for s in p.statements(made.body))
        workers = replace(
            made.workers,
            abreast=blocks.abreast,
            programs=blocks.programs,
            drawn=blocks.drawn,
            in_turn=issued and cost.in_turn,
        )
        for ahead in (2, 1):
            made = assigned(replace(made, workers=replace(workers, ahead=ahead)))
            if shared_bytes(made) <= hardware.smem.block_bytes:
                break
        else:  # what a contraction that is put off reads again is copied again
            return shared(replace(kernel, stages=kernel.stages - 1), hardware, limit) if kernel.stages > 2 else None
    except NapkinError:
        return None
    return made, replace(cost, smem_bytes=shared_bytes(made))


def _combinations(store: Store, options: Mapping[str, list[int]], names: Sequence[str]) -> Iterator[tuple[int, ...]]:
    outputs = {a.name for a in store.axes}

    def following(tiles: tuple[int, ...], wide: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        # What has too much already is left out with all that follows: of twenty axes there are a million
        if len(tiles) == len(names):
            yield tiles
            return
        name = names[len(tiles)]
        for tile in options[name]:
            own = (*wide, tile) if name in outputs and tile > 1 else wide
            if (len(own) <= 2 or (len(own) == 3 and min(own) < MIN_DOT)) and math.prod(own) <= 65536:
                yield from following((*tiles, tile), own)

    yield from following((), ())


def _pattern(
    tiles: Mapping[str, int], axes: Mapping[str, Axis], divided: Mapping[str, Iterable[int]], columned: Container[str]
) -> tuple[bool, ...]:
    """What about tile sizes changes the statements of a plan: which are 1, which reach 16, which cover their axis,
    which make up what places along it are divided by.
    """
    flags: list[bool] = []
    for name, tile in sorted(tiles.items()):
        axis = axes[name.lstrip("~")]
        folds = name.startswith("~")
        flags += [
            tile == 1,
            tile >= 16,
            covers(tile, axis),
            folds and laned(tile, axis),
            folds and axis.name in columned and tile >= LEAST_COLUMNS,
            folds and tiles.get(name[1:]) == tile and covers(tile, axis),
            *(by >= tile and by % tile == 0 for by in sorted(divided.get(axis.name, ()))),
        ]
    return tuple(flags)


def _folds_columns(fold: Fold) -> bool:
    """Tell whether blocks of a fold's stream may be folded lane by lane into columns, if they are wide."""
    if not columns(LEAST_COLUMNS, fold):
        return False
    held = [t for t in kernel_terms(fold) if isinstance(t, (Input, Store, Proj)) and fold.axis in t.axes]
    inputs = [t for t in held if isinstance(t, Input)]
    return all(len(t.axes) > 1 for t in held) and all(t.dims[minor(t.dims)] != fold.axis for t in inputs)


def _lanes(kernel: p.Kernel, tiles: Mapping[str, int]) -> dict[str, int]:
    return {c.name: _tile(c, tiles) for c in kernel.coords}


def _tile(coord: p.Coord, tiles: Mapping[str, int]) -> int:
    if coord.role in ("lane", "run"):
        return RUN if coord.role == "run" else tiles[f"~{coord.axis.name}"] // RUN
    return tiles.get(f"~{coord.axis.name}" if coord.name.endswith(("__s", "__w")) else coord.axis.name, coord.tile)


def _launches(dots: bool) -> list[tuple[int, int]]:
    if dots:
        return [(w, s) for w in (4, 8) for s in (2, 3, 4, 6)]
    return [(w, 2) for w in (1, 2, 4, 8, 16, 32)]


def _misfit(profiles: Iterable[Profile | None], options: Mapping[str, list[int]], hardware: Hardware) -> str:
    if none := [name.lstrip("~") for name, sizes in options.items() if not sizes]:
        return f"no tile fits {hardware.name}: none is left for {none[0]}"
    least = {n: min(sizes) for n, sizes in options.items()}
    for prof in profiles:
        if prof is not None:
            lanes = _lanes(prof.kernel, least)
            taken = room(prof.needs, lanes)
            smem, registers = capacity(taken, 8, 2, hardware.divisors.mma_m >= WIDE_ROWS)
            if taken.largest > MOST_ELEMENTS:
                return (
                    f"no tile fits {hardware.name}: the smallest tiles make one of {taken.largest} elements, Triton"
                    f" takes {MOST_ELEMENTS} at the most"
                )
            if smem > hardware.smem.block_bytes:
                over = smem - hardware.smem.block_bytes
                return (
                    f"no tile fits {hardware.name}: the smallest tiles need {smem} bytes of shared memory per block,"
                    f" {over} more than it has"
                )
            return (
                f"no tile fits {hardware.name}: the smallest tiles need {registers} registers per thread,"
                f" {registers - int(hardware.model.register_share * hardware.limits.registers_per_thread)} more than it"
                " can use without spilling"
            )
    return f"no tile fits {hardware.name}"
