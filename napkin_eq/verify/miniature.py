"""A plan in small: the same statements over few blocks of small tiles, made by lowering its term again at other sizes
and tiles.

Scaling the numbers of a plan would trust them; lowering again does not. A tile of 1 stays 1 and one of 16 or more stays
so; which tiles cover an axis or divide it, and the order of axes that a mask compares, are kept; a loop has a first, a
middle and a last block, that one cut.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.dtypes import STORAGE
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import axes_in
from napkin_eq.lang.spans import resized
from napkin_eq.lang.term import Const, Index, Length, Map, Read, Size, Store, Term, rebuilt, renames, subterms
from napkin_eq.machine.gpu import Hardware
from napkin_eq.search.assemble import planned
from napkin_eq.search.derivation import Output
from napkin_eq.tile import ir as p
from napkin_eq.tile.expected import Expected, expecting
from napkin_eq.tile.lower.elementwise import Proved
from napkin_eq.tile.lower.merge_axes import merged
from napkin_eq.tile.passes.warp_specialize import specialised
from napkin_eq.tile.places import conjuncts, lies_inside, read_places, told, within
from napkin_eq.tile.stream_facts import (
    LEAST_COLUMNS,
    LEAST_LANED,
    MIN_DOT,
    RUN,
    multiplied,
)

# What of a kernel says how and when it is run, and not what it computes; where it waits for others is held against its
# data elsewhere.
UNCOMPUTED = ("notes", "workers", "swizzle", "stages", "warps", "turn", "evictions")
BLOCKS, GRID, SYMBOLIC = 3, 2, 10**6 + 3
# Lengths that are tried of axes that are one to a kernel, all together, and how much longer each is at the most
LENGTHS, FURTHER = 600, 64
COVERS = 4  # times the next smaller tile, what one is that covers an axis, where only the order of tiles is kept
Sizes = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Miniature:
    """A plan in small: by output name the diagram's term, the one that was placed, and the types in which it holds what
    its kernels store; the plan, its sizes.
    """

    sources: tuple[tuple[str, Term], ...]
    placed: dict[str, Term]
    plan: p.Plan
    sizes: dict[str, int]
    held: dict[str, dict[Term, str]]


def miniature(
    diagram: Diagram,
    outputs: Sequence[Output],
    plan: p.Plan,
    machine: Hardware,
    dtype: str,
    proved: Proved,
    least: Mapping[str, int] | None = None,
    ranked: bool = False,
    near: bool = False,
) -> Miniature:
    """Return a plan in small; raises NapkinError where its statements would be others.

    least: by axis the lanes, at least, of one that several blocks take. ranked: the tiles of an axis, or of axes that
    masks compare or that name each other anew, become powers of two in their order, where they keep their ratios
    otherwise: less to compute where a small one stands beside a large one. near: whole numbers that masks compare axes
    with, as the length of a stretch is, come down to some blocks of tiles, where they keep their ratio to these
    otherwise; axes that count stretches shrink apart from those that are cut into them.
    """
    scale = _Scale(diagram, outputs, plan, least or {}, ranked, near)
    with expecting(Expected(most=scale.most)):
        made = [_output(output, scale, dtype, proved) for output in outputs]
    sources = tuple((name, source) for output in made for name, source, _ in output.each())
    placed = {name: term for output in made for name, _, term in output.each()}
    small, _ = planned(Diagram(diagram.name, sources), made, machine, dtype)
    if skeleton(small.kernels) != skeleton(plan.kernels):
        raise NapkinError("lowered at small sizes it has other statements")
    for coord in (c for kernel in small.kernels for c in kernel.coords if c.role == "whole"):
        if coord.tile < (coord.axis.size or scale.sizes[coord.axis.name]):
            raise NapkinError(f"at small sizes no tile of {coord.name} holds all of {coord.axis.name}")
    return Miniature(sources, placed, small, scale.sizes, _held(made))


def at_its_sizes(outputs: Sequence[Output], plan: p.Plan) -> Miniature:
    """Return a plan as it is, to be tried at its own sizes where these are small; those of symbolic axes
    are left out.
    """
    sources = tuple((name, source) for output in outputs for name, source, _ in output.each())
    placed = {name: term for output in outputs for name, _, term in output.each()}
    axes = {c.axis.name: c.axis for kernel in plan.kernels for c in kernel.coords}
    # An axis that a kernel takes several as may have the name of another one of the diagram
    axes |= {a.name: a for t in (*(source for _, source in sources), *placed.values()) for a in axes_in(t)}
    sizes = {name: axis.size for name, axis in axes.items() if axis.size is not None}
    return Miniature(sources, placed, plan, sizes, _held(outputs))


def _held(outputs: Sequence[Output]) -> dict[str, dict[Term, str]]:
    return {name: output.held() for output in outputs for name in output.names}


def skeleton(part: Any) -> Any:
    """Return a plan, or a part of one, with its numbers taken out: sizes, tiles and what is computed of them; its
    values are called by their places.
    """
    if isinstance(part, p.Kernel):
        names = {name: f"%{number}" for number, name in enumerate(p.values_of(part.body))}
        # Which masks whole blocks are done without is told by the lengths of axes
        part = replace(part, body=tuple(p.renamed(stmt, names) for stmt in part.body), edges=())
    if isinstance(part, Axis):
        return part.name
    if isinstance(part, (bool, str)) or part is None:
        return part
    if isinstance(part, (int, float)):
        return type(part) if math.isfinite(part) else part
    if isinstance(part, tuple):
        return tuple(map(skeleton, part))
    if isinstance(part, p.Coord):
        # Lanes and runs are parts of a block: it alone reaches past the end
        return part.name, part.axis.name, part.role, min(part.tile, 2), part.ragged and part.role not in ("lane", "run")
    if is_dataclass(part):
        return (type(part), *(skeleton(getattr(part, f.name)) for f in fields(part) if f.name not in UNCOMPUTED))
    return part


class _Scale:
    """How far each axis and its tiles shrink."""

    def __init__(
        self, diagram: Diagram, outputs: Sequence[Output], plan: p.Plan, least: Sizes, ranked: bool, near: bool
    ) -> None:
        self.least = least
        terms = [*(o.source for o in outputs), *(o.placed.term for o in outputs)]
        self.axes = {a.name: a for a in (*diagram.axes(), *(a for t in terms for a in axes_in(t)))}
        # Axes that kernels take as one are as long as these together
        runs = {run for kernel in plan.kernels for run in kernel.merged}
        self.merged = {axis.name: (axis, parts) for axis, parts in sorted(runs, key=str)}
        if len(self.merged) < len(runs) or not self.axes.keys().isdisjoint(self.merged):
            raise NapkinError("axes that are taken as one in a kernel have the name of another in the plan")
        self.axes |= {name: axis for name, (axis, _) in self.merged.items()}
        self.tiles: dict[str, set[int]] = {}
        self.streams: dict[str, set[int]] = {}  # the tiles of loops
        laned: dict[str, int] = {}  # the least tile that has lanes
        for coord in (c for kernel in plan.kernels for c in kernel.coords):
            if coord.role in ("lane", "run"):
                rows = coord.role == "lane" and coord.tile * RUN >= LEAST_LANED
                laned[coord.axis.name] = max(laned.get(coord.axis.name, 1), LEAST_LANED if rows else LEAST_COLUMNS)
                continue
            self.tiles.setdefault(coord.axis.name, set()).add(coord.tile)
            if coord.role in ("stream", "walk"):
                self.streams.setdefault(coord.axis.name, set()).add(coord.tile)
        parts = subterms(*terms)
        masks = [t for t in parts if isinstance(t, Map) and t.op in ("lt", "le", "eq") and t.args[0].kind == "int"]
        # What is read where masks hold lies inside of its axis, as if that were asked of its places
        asked = (place for part in parts for axis, place, known in _read(part) if known)
        comparisons = list(dict.fromkeys([*masks, *(Map("le", (Const(0), place)) for place in asked)]))
        self.related = [{x.axis.name for x in subterms(t) if isinstance(x, (Index, Length, Size))} for t in comparisons]
        self.counting = {t: _counting(t) if near else set[str]() for t in comparisons}
        self.tied = [names - self.counting[t] for t, names in zip(comparisons, self.related, strict=True)]
        # An axis that only names another one anew is as long as that is; axes of one length that are read at the same
        # places are, whose ends are one number.
        read: dict[tuple[Term, int | None], set[str]] = {}
        for t in subterms(*terms):
            if isinstance(t, Read) and renames(t):
                self.related.append({t.axis.name, t.index.axis.name})
            elif isinstance(t, Read):
                read.setdefault((t.index, t.axis.size), set()).add(t.axis.name)
        self.related += [names for names in read.values() if len(names) > 1]
        self.tied += self.related[len(self.tied) :]
        self.factor = {name: self._factor(name, laned.get(name, MIN_DOT)) for name in self.axes}
        self._alike()
        self.small = {name: {t: self._tile(name, t) for t in self.tiles.get(name, ())} for name in self.axes}
        if ranked:
            fixed = {n for i, t in enumerate(comparisons) if self._scaled(t) for n in self.related[i]}
            for names in self._together():
                # Of axes whose lanes threads fold, one that stands alone.
                if names.isdisjoint(fixed) and (len(names) == 1 or names.isdisjoint(laned)):
                    for name, small in self._ranked(names, max(laned.get(n, MIN_DOT) for n in names)).items():
                        self.small[name] |= small
        self.reach: dict[str, int] = {}
        self.numbers: dict[Term, Term] = {}
        self._reached(comparisons, near)
        self.limits = plan.limits
        self.sizes = {name: self._size(name) for name in self.axes}
        self._ordered()
        if near:
            self._covered(comparisons)
        self._stretched(comparisons)
        self.windows = self._windows(terms) if self.merged else set[str]()
        self._together_as_one()
        self._rejoined(terms)
        self._inside(terms)
        if self._apart():  # what is read of an array at places reaches further along some
            self._together_as_one(dict(self.sizes))
            self._inside(terms)
        if self._apart():
            raise NapkinError("axes that are taken as one would be of other lengths")
        if ranked and any(len({self.sizes[n] for n in names}) > 1 for names in self.related if self._equal(names)):
            raise NapkinError("axes of one length would be of several")
        self.most = {name: self.small[name][most] for name, most in self.limits.items()}

    def _factor(self, name: str, least: int) -> int:
        return max(1, min((t for t in self.tiles.get(name, ()) if t >= least), default=least) // least)

    def _shrinks(self, name: str) -> bool:
        return max(self.tiles.get(name, {1})) >= MIN_DOT

    def _alike(self) -> None:
        """Shrink alike the tiles of axes that a mask compares."""
        for _ in self.tied:
            for names in self.tied:
                tiled = [n for n in names if self._shrinks(n)]
                if len(tiled) > 1:
                    self.factor.update(dict.fromkeys(tiled, min(self.factor[n] for n in tiled)))

    def _together(self) -> list[set[str]]:
        """Return the axes in groups: those that masks compare, or that only name each other anew, are in one."""
        groups: list[set[str]] = []
        for names in [*({name} for name in self.axes), *filter(None, self.related)]:
            groups = [*(g for g in groups if g.isdisjoint(names)), names.union(*(g for g in groups if g & names))]
        return groups

    def _ranked(self, names: set[str], lowest: int) -> dict[str, dict[int, int]]:
        """Return the tiles of a group of axes in small, from the lowest on, by their order: one that covers an axis far
        enough from the others that there are several of these on another axis of that length.
        """
        found: dict[int, int] = {}
        last = None
        for tile in sorted({t for n in names for t in self.tiles.get(n, ()) if t >= lowest}):
            covers = any(tile >= (self.axes[n].size or tile + 1) for n in names)
            more = COVERS if covers else 2
            found[tile] = lowest if last is None else min(tile, found[last] * min(more, tile // last))
            last = tile
        return {n: {t: found[t] for t in self.tiles.get(n, ()) if t in found} for n in names}

    def _equal(self, names: set[str]) -> bool:
        """Tell whether axes are of one length, which is known."""
        return len({self.axes[n].size for n in names}) == 1 and None not in {self.axes[n].size for n in names}

    def _tile(self, name: str, tile: int) -> int:
        return tile if tile < MIN_DOT else max(MIN_DOT, tile // self.factor[name])

    def _scaled(self, comparison: Map) -> dict[Const, int]:
        """Return the sizes of the whole numbers of a comparison, scaled as its tiles are.

        They are at least 2: a sum with 0, or a product with 1, is no statement.
        """
        names = {x.axis.name for x in subterms(comparison) if isinstance(x, Index)} - self.counting[comparison]
        factor = min((self.factor[n] for n in names if self._shrinks(n)), default=1)
        whole = (t for t in subterms(comparison) if isinstance(t, Const) and t.kind == "int" and abs(t.value) > 1)
        return {number: max(2, abs(number.value) // factor) for number in whole}

    def _reached(self, comparisons: Sequence[Map], near: bool) -> None:
        """Scale the whole numbers of comparisons, and note how far they reach: near, those that reach over many blocks
        of tiles by as much again as leaves the least of them over some.
        """
        # What no axis is compared with reaches over no blocks, and how long tiles of other axes are says nothing here
        along = {t: {x.axis.name for x in subterms(t) if isinstance(x, Index)} for t in comparisons}
        comparisons = [t for t in comparisons if along[t]]
        compared = {name for names in along.values() for name in names}
        shrunk = [t for n in self.axes if n in compared and self._shrinks(n) for t in self.small[n].values()]
        few = BLOCKS * max(shrunk, default=1)
        far = [size for comparison in comparisons for size in self._scaled(comparison).values() if size > few]
        further = 1 << (min(far) // few).bit_length() - 1 if near and far else 1
        for comparison in comparisons:
            for number, size in self._scaled(comparison).items():
                size = _divided(size, further, shrunk) if size > few else size
                self.numbers[number] = Const(int(math.copysign(size, number.value)))
                for name in along[comparison]:
                    self.reach[name] = max(self.reach.get(name, 0), size)

    def _size(self, name: str) -> int:
        """Return the least size that keeps what each tile is to its axis: whether it covers it, whether it divides it,
        whether there are several.
        """
        axis, tiles, small = self.axes[name], sorted(self.tiles.get(name, {1})), self.small[name]
        small = small or {1: 1}
        size = axis.size if axis.size is not None else self.limits.get(name, axis.multiple * SYMBOLIC)
        parts = [t for t in tiles if t < size]
        if not parts:
            tile = tiles[0]
            found = (
                size
                if small[tile] == tile
                else small[tile]
                if size == tile
                else max(1, min(small[tile] - 1, size // self.factor[name]))
            )
            return found if axis.size is not None else self._multiple(axis, found)
        size = size if axis.size is not None else self._multiple(axis, size)
        widest = max(parts)
        compared = name in self.reach or any(name in names and len(names) > 1 for names in self.related)
        several = {t for t in parts if t < LEAST_LANED and (compared or t in self.streams.get(name, ()))}
        count = {t: min(-(-size // t), BLOCKS if t in several else GRID) for t in parts}
        reach = self.reach.get(name, 0) if self.reach.get(name, 0) < size else 0
        low = max(
            self.least.get(name, 1),
            *(small[t] * (count[t] - 1) + 1 for t in parts),
            reach + 1 + small[widest] * (2 if reach else 0),
        )
        most = min([small[t] for t in tiles if t >= size] + [size])
        step = math.lcm(*small.values(), axis.multiple)
        fit = (
            m for m in range(low, low + 4 * step + 1) if m % axis.multiple == 0 and m <= most and self._keeps(name, m)
        )
        # Or as its tiles and the numbers that it is compared with are.
        alike = (size // self.factor[name],) if size % self.factor[name] == 0 else ()
        return next(
            fit, next((m for m in alike if m % axis.multiple == 0 and m <= most and self._keeps(name, m)), size)
        )

    def _multiple(self, axis: Axis, most: int) -> int:
        """Return the largest size that a symbolic axis may have, up to one."""
        if most < axis.multiple:
            raise NapkinError(f"no multiple of {axis.multiple} is as small as the tiles that {axis.name} would have")
        return most - most % axis.multiple

    def _keeps(self, name: str, small: int) -> bool:
        axis = self.axes[name]
        return all(
            Axis(name, small, math.gcd(small, axis.multiple)).divides(new) == axis.divides(old)
            for old, new in (self.small[name] or {1: 1}).items()
        )

    def _ordered(self) -> None:
        """Keep which of the axes that a mask compares are equal, and which is longer."""
        for names in self.related:
            known = sorted((self.axes[n].size or 0, n) for n in names)
            for (before, one), (after, other) in zip(known, known[1:], strict=False):
                if before == after and before:
                    most = max(self.sizes[one], self.sizes[other])
                    if all(self._keeps(n, most) for n in (one, other)):
                        self.sizes[one] = self.sizes[other] = most
                elif before and self.sizes[other] <= self.sizes[one] and self.sizes[other] != after:
                    self.sizes[other] = self._longer(other, self.sizes[one])

    def _covered(self, comparisons: Sequence[Map]) -> None:
        """Leave an axis that counts stretches no more lanes than cover the axes that these cut, and one beyond."""
        wanted: dict[str, int] = {}
        for comparison in comparisons:
            others = {x.axis.name for x in subterms(comparison) if isinstance(x, Index)} - _counting(comparison)
            for axis, number in multiplied(comparison):
                run = max(1, int(self.numbers.get(number, number).value))
                lanes = max((-(-self.sizes[other] // run) for other in others), default=self.sizes[axis.name])
                wanted[axis.name] = max(wanted.get(axis.name, 0), lanes + 1)
        for name, lanes in wanted.items():
            if self.axes[name].size is not None and lanes < self.sizes[name] and self._keeps(name, lanes):
                self.sizes[name] = lanes

    def _stretched(self, comparisons: Sequence[Map]) -> None:
        """Make stretches that cover the axis that they cut, in which tiles keep more lanes than the number of stretches
        has in small, so many times as long as cover it; doubled they divide, or are divided by, what they did.
        """
        for comparison in comparisons:
            others = {x.axis.name for x in subterms(comparison) if isinstance(x, Index)} - _counting(comparison)
            for axis, number in multiplied(comparison):
                sizes = {name: self.axes[name].size for name in (axis.name, *others)}
                for name in sorted(others):
                    own, size = sizes[axis.name], sizes[name]
                    if own is None or size is None or own * number.value < size:
                        continue
                    run = self.numbers.get(number, number)
                    while run.value * self.sizes[axis.name] < self.sizes[name]:
                        run = Const(2 * run.value)
                    self.numbers[number] = run

    def _inside(self, terms: Sequence[Term]) -> None:
        """Leave an axis that no tile is of as many lanes as places reach that are sure to lie inside it."""
        for part in subterms(*terms):
            for axis, place, known in _read(part):
                if axis.size is None or not lies_inside(place, axis, known):
                    continue
                around = Const(axis.size) in subterms(place)  # as a remainder by how long the axis is
                if around or (axis.name not in self.tiles and _windowed(axis, place, known)):
                    # Where it ends is how long its own axis is
                    self.numbers[Const(axis.size)] = Const(self.sizes[axis.name])
                    continue
                if axis.name in self.tiles:
                    continue
                high = within(self.term(place), [self.term(mask) for mask in known])[1]
                self.sizes[axis.name] = min(axis.size, max(self.sizes[axis.name], int(high) + 1))

    def _apart(self) -> bool:
        """Tell whether an axis that stands for several is not as long as these together."""
        return any(
            self.sizes[name] != math.prod(self.sizes[part.name] for part in parts)
            for name, (_, parts) in self.merged.items()
        )

    def _together_as_one(self, least: Mapping[str, int] = {}) -> None:
        """Lengthen axes that kernels take as one until these together keep what their tiles are to them, as that axis
        does; raises NapkinError where no lengths do.

        least: how long axes are at the least, by name.
        """
        for _ in self.merged:  # what one lengthens, another may have a part of
            for name, (axis, parts) in self.merged.items():
                names = [part.name for part in parts]
                each = max(2, int(LENGTHS ** (1 / len(parts))))
                known = [[n for n in self._lengths(part, names) if n >= least.get(part.name, 1)] for part in parts]
                lengths = [self._few(found, each) for found in known]
                ways = sorted(itertools.product(*lengths), key=lambda way: (math.prod(way), way))
                fit = self._fitting(axis, parts, ways)
                found = next(fit, tuple(part.size or 1 for part in parts))
                self.sizes |= dict(zip(names, found, strict=True))
                self.sizes[name] = math.prod(found)

    def _rejoined(self, terms: Sequence[Term]) -> None:
        """Scale the numbers by which places along two axes that a kernel takes as one are made one again."""
        lasts = {Index(parts[-1]): Const(parts[-1].size or 1) for _, parts in self.merged.values()}
        for term in subterms(*terms):
            for product, last in (term.args, term.args[::-1]) if isinstance(term, Map) and term.op == "add" else ():
                by = lasts.get(last)
                if by is not None and isinstance(product, Map) and product.op == "mul" and by in product.args:
                    self.numbers.setdefault(by, Const(self.sizes[last.axis.name]))

    def _windows(self, terms: Sequence[Term]) -> set[str]:
        """Return the axes, that no tile is of, along which windows of places are read of arrays that have them too."""
        found = set[str]()
        for part in subterms(*terms):
            if isinstance(part, Map) and part.op == "where" and isinstance(part.args[1], Read):
                known = conjuncts(part.args[0])
                found |= {a.name for a, place in read_places(part.args[1]) if _windowed(a, place, known)}
        return found - self.tiles.keys()

    def _few(self, lengths: Sequence[int], most: int) -> list[int]:
        """Return some lengths of an axis: the least, and powers of two, which whole tiles make up."""
        return [size for at, size in enumerate(lengths) if at < most or size & (size - 1) == 0]

    def _fitting(
        self, axis: Axis, parts: Sequence[Axis], ways: Sequence[tuple[int, ...]]
    ) -> Iterator[tuple[int, ...]]:
        """Yield the lengths of the axes that one stands for that fit, its tiles in small longer where none do with
        those as they are.
        """
        name, shortest = axis.name, self.small[axis.name]
        sizes = [part.size or 1 for part in parts]
        windows = [at for at, part in enumerate(parts) if part.name in self.windows]
        lengths = len({sizes[at] for at in windows})  # windows of one length end at one number
        ways = [way for way in ways if len({(sizes[at], way[at]) for at in windows}) == lengths]
        alike = [[at for at, part in enumerate(parts) if part.name in group] for group in self.related]
        ways = [way for way in ways if all(_in_order([(sizes[at], way[at]) for at in group]) for group in alike)]
        for times in (1, 2, 4, 8):
            self.small[name] = {old: min(old, new * times) if new >= MIN_DOT else new for old, new in shortest.items()}
            least = self._size(name)
            for way in ways:
                fits = least <= math.prod(way) <= (axis.size or 1) and self._keeps(name, math.prod(way))
                if fits and self._made_up(name, sizes, way):
                    yield way
        self.small[name] = shortest

    def _made_up(self, name: str, sizes: Sequence[int], small: Sequence[int]) -> bool:
        """Tell whether whole tiles of an axis that stands for several make up so many of the last ones in small where
        they do.
        """
        pairs = [(math.prod(sizes[at:]), math.prod(small[at:])) for at in range(1, len(sizes))]
        return all(
            (few >= new and few % new == 0) == (many >= old and many % old == 0)
            for old, new in self.small[name].items()
            for many, few in pairs
        )

    def _lengths(self, axis: Axis, parts: Collection[str]) -> Iterator[int]:
        """Yield lengths of an axis that keep what its tiles are to it, the least first: its own alone where masks
        compare it, or another is as long, but with others that lengthen with it.

        parts: the axes that lengthen with it.
        """
        size = self.sizes[axis.name]
        yield size
        tied = [names for names in self.related if axis.name in names]
        if axis.name not in self.windows and not all(len(names) > 1 and names <= {*parts} for names in tied):
            return
        own = self.small[axis.name]
        if own and not any(t < (axis.size or 1) for t in own):
            return  # one tile holds it
        yield from (m for m in range(size + 1, min(axis.size or 1, size + FURTHER) + 1) if self._keeps(axis.name, m))

    def _longer(self, name: str, than: int) -> int:
        widest = max(self.small[name].values(), default=1)
        fit = (
            m
            for m in range(than + widest, than + 4 * widest + 1)
            if m % self.axes[name].multiple == 0 and self._keeps(name, m)
        )
        return next(fit, self.axes[name].size or than)

    def store(self, store: Store) -> Store:
        """Return a Store at the small sizes."""
        found = self.term(store)
        assert isinstance(found, Store)
        return found

    def term(self, term: Term) -> Term:
        """Return a term at the small sizes; a symbolic size stays one."""
        done: dict[Term, Term] = {}
        for part in subterms(term):
            done[part] = (
                self.numbers[part] if part in self.numbers else rebuilt(part, tuple(done[c] for c in part.children))
            )
        return resized(
            done[term], {name: size for name, size in self.sizes.items() if self.axes[name].size is not None}
        )

    def buffer(self, buffer: p.Buffer) -> p.Buffer:
        return replace(
            buffer,
            dims=tuple(a if a.size is None else Axis(a.name, self.sizes.get(a.name, a.size)) for a in buffer.dims),
        )


def _read(part: Term) -> Iterator[tuple[Axis, Term, list[Term]]]:
    """Yield where a part of a term reads along an axis, with that, and what masks say there: of a choice, what it reads
    in places that its mask says something of.
    """
    choice = isinstance(part, Map) and part.op == "where"
    reads = told(part) if choice else [(part, ())] if isinstance(part, Read) else ()
    for read, masks in reads:
        for axis, place in read_places(read):
            if masks or not choice:
                yield axis, place, [one for mask in masks for one in conjuncts(mask)]


def _in_order(pairs: Sequence[tuple[int, int]]) -> bool:
    """Tell whether lengths in small are as the lengths are to each other, longer or as long."""
    pairs = sorted(pairs)
    return all((a < b) == (x < y) and x <= y for (a, x), (b, y) in itertools.pairwise(pairs))


def _windowed(axis: Axis, place: Term, known: Sequence[Term]) -> bool:
    """Tell whether a place is one of a window along its own axis, which masks keep inside of it."""
    whole = Const(axis.size or 0)
    return axis in place.axes and any(whole in subterms(mask) for mask in known)


def _counting(comparison: Map) -> set[str]:
    """Return the axes that a comparison multiplies by whole numbers, as those that count stretches are."""
    return {axis.name for axis, _ in multiplied(comparison)}


def _divided(size: int, by: int, tiles: Sequence[int]) -> int:
    """Return a size divided, at least, that the same of some tiles divide."""
    if by == 1:
        return size
    step = math.lcm(*(tile for tile in tiles if size % tile == 0))
    found = -(-(size // by) // step) * step
    while any(found % tile == 0 and size % tile for tile in tiles):
        found += step
    return found


def _output(output: Output, scale: _Scale, dtype: str, proved: Proved) -> Output:
    placed = output.placed
    arrays = {scale.term(term): scale.buffer(buffer) for term, buffer in placed.arrays}
    stores, tiled = list[Store](), []
    for store, piece in zip(placed.stores, placed.tiled, strict=True):
        small = scale.store(store)
        inner = {term: arrays[term] for term in subterms(small) if term in arrays and term is not small}
        own = piece.kernel
        writes = tuple(scale.buffer(own.whole(buffer)) for buffer in own.writes)
        tiles = _chosen(store, own, scale)
        way = merged(small, writes, inner, proved, own.merged)
        kernel = way.kernel(tiles, STORAGE[dtype], proved, output.precision)
        # A piece of a cover was lowered alone: what others compute for it does not say how it rounds.
        kernel = replace(kernel, warps=own.warps, stages=own.stages, apart=own.apart)
        if (workers := piece.kernel.workers) is not None:
            kernel = replace(specialised(kernel, kernel.coord(workers.rows)), workers=replace(workers, roles=None))
        stores.append(small)
        tiled.append(replace(piece, kernel=kernel))
    both = tuple((scale.term(term), scale.buffer(buffer)) for term, buffer in placed.arrays)
    moved = replace(placed, term=scale.term(placed.term), stores=tuple(stores), tiled=tuple(tiled), arrays=both)
    return replace(output, source=scale.term(output.source), placed=moved)


def _chosen(store: Store, kernel: p.Kernel, scale: _Scale) -> dict[str, int]:
    """Return a kernel's tiles as lowering takes them, in small: of outputs by the axis, of folds by the
    axis after ~.
    """
    chosen: dict[str, int] = {}
    for coord in kernel.coords:
        if coord.role in ("lane", "run"):
            continue
        folded, tile = coord.name.endswith(("__s", "__w")), scale.small[coord.axis.name][coord.tile]
        chosen[f"~{coord.axis.name}" if folded else coord.axis.name] = tile
        if coord.role == "whole" and not folded:
            chosen.setdefault(f"~{coord.axis.name}", tile)
    return {**{axis.name: 1 for axis in store.axes}, **chosen}
