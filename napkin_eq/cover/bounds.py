"""A time that no kernel of a candidate beats: its compulsory bytes, and its contractions done once, at the rates of the
cost model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from napkin_eq.cover.candidates import Candidate
from napkin_eq.cover.pieces import Piece
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.dtypes import STORAGE, held_as, output_type
from napkin_eq.lang.evaluate import output_order
from napkin_eq.lang.interval import wide
from napkin_eq.lang.term import Input, Map, Read, Reduce, Term, Tuple, renamed, subterms
from napkin_eq.machine.cost import elements, extent, launched
from napkin_eq.machine.gpu import Hardware
from napkin_eq.search.candidates import Stored
from napkin_eq.search.placement import parallel
from napkin_eq.tile.resources import BYTES
from napkin_eq.tile.stream_facts import MIN_DOT, contracted

# More than the widest tile of an output: what does not vary along a wider axis is computed again for each of its blocks
WIDEST = 512
LARGEST = 1 << 16  # elements of a tile of an output
HOLDS = 2048  # more than a block holds of an axis in the result of a contraction
SHARES = 2  # more than one processor is given of what all have
# So much, as many times as the least of some ways says: a number, and the axes along which each block does it again
Amount = tuple[float, Sequence[tuple[float, frozenset[str]]]]
RATE = 0.88  # of the matrix unit's peak: the model gives no kernel of any diagram that was tried more


def least_us(outputs: Sequence[tuple[str, Term]], dtype: str, machine: Hardware) -> float:
    """Return microseconds that a diagram takes at the least as one kernel that computes what masks leave out too."""
    storage, terms = STORAGE[dtype], tuple(term for _, term in outputs)
    stored = tuple(
        Stored(name, output_type(term.kind, dtype, wide(term)), output_order(term)) for name, term in outputs
    )
    alone = Candidate(terms, frozenset(), (), tuple(subterms(*terms)))
    return bound_us(
        Piece(alone, terms[0] if len(terms) == 1 else Tuple(terms), {}, stored, ""),
        storage,
        dtype,
        machine,
        masked=False,
        several=True,
    )


def moving_us(outputs: Sequence[tuple[str, Term]], dtype: str, machine: Hardware) -> float:
    """Return microseconds that reading a diagram's arrays once and writing its outputs take at the least."""
    storage, terms = STORAGE[dtype], [term for _, term in outputs]
    read = sum(BYTES[held_as(t.dtype, storage)] * elements(t.dims) for t in subterms(*terms) if isinstance(t, Input))
    written = sum(BYTES[output_type(t.kind, dtype, wide(t))] * elements(t.axes) for t in terms)
    moved = read / machine.model.read_rate + written / machine.model.write_rate
    return launched(moved / machine.hbm.copy_bandwidth, moved / machine.hbm.copy_bandwidth, machine) * 1e6


def bound_us(
    piece: Piece, storage: str, dtype: str, machine: Hardware, masked: bool = True, several: bool = False
) -> float:
    """Return microseconds; of an array that is read at computed coordinates nothing is sure to be read.

    masked: what masks may leave out is not sure to be computed either. several: kernels may store something between
    them.
    """
    terms = subterms(piece.source)
    written = float(sum(BYTES[o.dtype] * elements(o.dims) for o in piece.outputs))
    direct = _direct(terms)
    arrays = {
        t: BYTES[held_as(t.dtype, storage)] * elements(t.dims) for t in terms if isinstance(t, Input) and t in direct
    }
    model, copying = machine.model, machine.hbm.copy_bandwidth
    moved = (sum(arrays.values()) / model.read_rate + written / model.write_rate) / copying
    masks, parted = _masks(terms) if masked else ([], set())
    sure = _sure(piece.source)
    within = _within(piece, terms)
    times, blocked = _times(piece, within, machine, several), _blocked(piece, within, several)
    walked = _walked(piece, within, machine, times, blocked)

    def grouped(term: Term, computed: bool) -> tuple[float, frozenset[str]]:
        return times(term, computed), blocked(term, computed)

    # Bytes that blocks ask for, and operations: of each amount how often at the least, and along which axes of blocks
    # it does not vary
    asked, flops = list[Amount](), list[Amount]()
    if not masks:
        asked = [
            (size, [kind(way, False) for way in direct[t] for kind in (grouped, walked)])
            for t, size in arrays.items()
            if t not in parted
        ]
    special = 0.0
    for term in terms:
        product = term.body if contracted(term) is not None else term
        own = {*subterms(term)} if term in sure and masks else set()
        left = [m for m in masks if term not in sure or m in own]
        some = term in parted or any({a.name for a in m.axes} & {a.name for a in product.axes} for m in left)
        share = (0.5 if all(_half(m) for m in masks) and term not in parted else 0.0) if some else 1.0
        if contracted(term) is not None:
            flops.append((2 * elements(product.axes) * share, [grouped(term, True), walked(term, True)]))
        elif isinstance(term, Map) and term.op == "exp":
            special += elements(term.axes) * share
    # float32 may be multiplied as tf32, whatever else is asked for: nothing is faster
    units = [unit for unit in (dtype, "tf32") if unit == dtype or (dtype == "float32" and unit in machine.tensor)]
    peak, found = max(map(machine.flops, units)), math.inf
    for again in _blocks(piece, asked + flops, frozenset() if several else _held(piece)):
        matrix = _amount(flops, again) / (peak * RATE)
        moving = max(moved, _amount(asked, again) / machine.l2.copy_bandwidth)
        found = min(found, launched(max(moving, matrix, special / machine.rate("sfu")), moving, machine))
    return found * 1e6


def _blocks(piece: Piece, amounts: Sequence[Amount], held: frozenset[str]) -> Iterator[dict[frozenset[str], float]]:
    """Yield how many blocks there are at the least along the axes of an output that something does not vary along, for
    each way to share out the elements of a tile among them.

    Axes along which the same does not vary are one, as blocks along either read or compute the same again. held: axes
    that a tile may hold whole, however wide.
    """
    ways = list(dict.fromkeys(axes for _, some in amounts for _, axes in some if axes))
    alike: dict[tuple[bool, ...], list[tuple[int, int]]] = {}
    for dim in piece.outputs[0].dims:
        if any(pattern := tuple(dim.name in axes for axes in ways)):
            whole = 1 << (extent(dim) - 1).bit_length()
            widest = whole if dim.name in held else min(WIDEST, whole)
            alike.setdefault(pattern, []).append((extent(dim), widest))
    sizes = [math.prod(size for size, _ in extents) for extents in alike.values()]
    most = [math.prod(widest for _, widest in extents) for extents in alike.values()]
    for tiles in _shared_out(LARGEST, most):
        counts = [-(-size // tile) for size, tile in zip(sizes, tiles, strict=True)]
        yield {
            axes: float(math.prod(count for count, pattern in zip(counts, alike, strict=True) if pattern[place]))
            for place, axes in enumerate(ways)
        }


def _shared_out(left: int, most: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the largest powers of two whose product is no more than one, each no more than its own most."""
    if math.prod(most) <= left:
        yield tuple(most)
    elif len(most) == 1:
        yield (left,)
    else:
        for power in range(min(left, most[0]).bit_length()):
            yield from ((1 << power, *others) for others in _shared_out(left >> power, most[1:]))


def _amount(amounts: Sequence[Amount], again: Mapping[frozenset[str], float]) -> float:
    return sum(amount * min(max(least, again.get(axes, 1.0)) for least, axes in ways) for amount, ways in amounts)


def _common(piece: Piece) -> list[Axis]:
    """Return the axes that all outputs have."""
    return [a for a in piece.outputs[0].dims if all(a.name in {d.name for d in o.dims} for o in piece.outputs)]


def _alike(piece: Piece) -> bool:
    """Tell whether all outputs have the same axes."""
    return len({frozenset(a.name for a in o.dims) for o in piece.outputs}) == 1


def _held(piece: Piece) -> frozenset[str]:
    """Return the axes of outputs that a tile may hold whole."""
    return frozenset(a.name for o in piece.outputs for a in o.dims if 1 < extent(a) <= HOLDS)


def _within(piece: Piece, terms: list[Term]) -> dict[Term, set[frozenset[str]]]:
    """Return, of each term, the axes of outputs over all of which it enters folds, by each way to an output."""
    common = {a.name for a in _common(piece)}
    within: dict[Term, set[frozenset[str]]] = {t: set() for t in terms}
    for output in parallel(piece.source):
        within[output].add(frozenset())
    for term in reversed(terms):
        own = {term.axis.name} & common if isinstance(term, Reduce) else set[str]()
        for child in term.children:
            within[child] |= {folded | own for folded in within[term]}
    return within


def _blocked(piece: Piece, within: Mapping[Term, set[frozenset[str]]], several: bool) -> Callable[..., frozenset[str]]:
    """Return what tells along which axes of blocks a value does not vary, or is needed at all places of, unless that is
    not asked for: each block along these reads it, or computes it, for itself.
    """
    long = frozenset(a.name for a in piece.outputs[0].dims if extent(a) > 1) if _alike(piece) else frozenset[str]()
    held = _held(piece)
    reads = [t for t in reversed(subterms(piece.source)) if isinstance(t, Read) and t.body.children]

    def along(term: Term, computed: bool, folded: bool = True) -> frozenset[str]:
        varying = {a.name for a in term.axes}
        for read in reads:  # what is read at places that vary along an axis is not the same along it
            varying |= {a.name for a in read.index.axes} if read.axis.name in varying else set()
        if several:
            return long - varying if computed else frozenset()
        # One way that it enters folds is enough: what a block needs by it is no less than its part
        needed = max((sorted(axes & held) for axes in within[term]), key=lambda axes: (len(axes), axes), default=[])
        return long - (varying - {*needed} if folded else varying)

    return along


def _walked(
    piece: Piece,
    within: Mapping[Term, set[frozenset[str]]],
    machine: Hardware,
    times: Callable[..., float],
    blocked: Callable[..., frozenset[str]],
) -> Callable[[Term, bool], tuple[float, frozenset[str]]]:
    """Return what tells how many times a contraction is computed, or an array read, at the least, and along which axes
    each block does it again, where programs walk the axes over all of which it enters folds.

    They go along these for the folds, and again for what is needed at each place; and blocks along other axes alone
    keep processors busy, each of as many rows as the matrix unit takes, where the rows are among those.
    """
    common = {a.name for a in _common(piece)}

    def walked(term: Term, computed: bool) -> tuple[float, frozenset[str]]:
        ways, least = within[term], times(term, computed)
        over = frozenset[str]().union(*ways)
        if over and computed:
            others = [a for a in term.axes if a.name not in over]
            rows = all(a.name in common for a in others)
            places = math.prod(extent(a) for a in others)
            least = max(least, len(ways) * max(1.0, machine.chip.sms * MIN_DOT / places if rows else 1.0))
        return max(least, float(len(ways))) if over else least, blocked(term, computed, False)

    return walked


def _times(
    piece: Piece, within: Mapping[Term, set[frozenset[str]]], machine: Hardware, several: bool
) -> Callable[..., float]:
    """Return what tells how many times a contraction is computed, or an array read, at least; of a contraction idle
    processors count as busy.

    Blocks hold parts of the axes that all outputs have. A block computes for itself what does not vary along such an
    axis; and what enters a fold over the whole of it, which comes before what is needed at the block's own place,
    unless one block after another walks the axis: then only blocks along other axes keep processors busy. What is
    folded over several such axes no block shares with others.
    """
    common, alike = _common(piece), _alike(piece)
    long = {a.name for a in common if extent(a) > HOLDS}

    def times(term: Term, computed: bool = True) -> float:
        if several and not computed:
            return 1.0  # what a fold gives is stored, once
        ways = {folded & long for folded in within[term]}
        varying, found = {a.name for a in term.axes}, 1.0
        blocks = math.prod(extent(a) for a in common if a.name in varying)
        if not alike:
            found = max(found, machine.chip.sms / blocks / (1 if computed else SHARES))
        for name in frozenset[str]().union(*ways):
            axis = next(a for a in common if a.name == name)
            walked = machine.chip.sms / (blocks // extent(axis) if name in varying else blocks)
            found = max(found, float(len(ways)) if computed else 1.0, min(extent(axis) // WIDEST, walked))
        for folded in () if several else ways:
            # One block folds all of a place along the other axes, and takes no more than a processor's share
            if len(folded) > 1:
                places = math.prod(extent(a) for a in common if a.name in varying - folded)
                found = max(found, machine.chip.sms / places / SHARES)
        return found

    return times


def _masks(terms: list[Term]) -> tuple[list[Term], set[Term]]:
    """Return the masks by which something may be left out, and what only one of two values to choose from needs.

    A choice of two values that are both computed leaves out parts of these, and nothing of what is made with it; one of
    a value and a number may.
    """
    choices = [t for t in terms if isinstance(t, Map) and t.op == "where"]
    both = [t for t in choices if all(any(isinstance(s, Input) for s in subterms(arg)) for arg in t.args[1:])]
    others = [t for t in terms if t not in both]
    read = {child for t in others for child in t.children if child.kind == "bool"}
    choosing = {t for c in both for t in subterms(c.args[0])} - read
    masks = [t for t in terms if t.kind == "bool" and t.axes and t not in choosing]
    parts = [[{*subterms(arg)} for arg in t.args[1:]] for t in both]
    return masks, {part for one, other in parts for part in one ^ other}


def _sure(source: Term) -> set[Term]:
    """Return what is needed whatever masks leave out: made of no mask itself, it is computed at every place."""
    found: set[Term] = set()
    stack = [source]
    while stack:
        term = stack.pop()
        if term not in found:
            found.add(term)
            choice = isinstance(term, Map) and term.op == "where"
            stack += (
                term.children[:1]
                if choice
                else [term.where]
                if isinstance(term, Reduce) and term.where.children
                else term.children
            )
    return found


def _direct(terms: list[Term]) -> dict[Term, list[Term]]:
    """Return what something other than a read at computed coordinates reads, each with itself under the names of axes
    by which it is read.
    """
    found: dict[Term, list[Term]] = {}
    for term in terms:
        if not isinstance(term, Read):
            for child in term.children:
                found.setdefault(renamed(child), []).append(child)
    return found


def _half(mask: Term) -> bool:
    """Whether a mask is a comparison of two coordinates, which leaves half of the lanes, or of one with a number, which
    a kernel cannot skip.
    """
    return isinstance(mask, Map) and mask.op in ("le", "lt") and all(not a.children for a in mask.args)
