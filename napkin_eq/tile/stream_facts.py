"""What a term says that is cut into kernels and streams: a kernel's parts, the passes over an axis, the roles of output
axes.

Facts of terms alone; the tiles come in where the caller gives them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.operators import NEUTRAL
from napkin_eq.lang.term import (
    Acc,
    Const,
    Fold,
    Group,
    Index,
    Input,
    Length,
    Map,
    Online,
    Proj,
    Read,
    Recur,
    Reduce,
    Scan,
    Size,
    Store,
    Term,
    Walk,
    held,
    rebuilt,
    same_size,
    subterms,
)
from napkin_eq.tile import ir as p
from napkin_eq.tile.expected import at_most

MIN_DOT = 16
WINDOW = 32  # places that are folded at each of many, of which a block holds all
# Neighbouring elements that a lane of a stream takes at a time, 16 bytes of a 16-bit type, and the least tile that is
# cut into lanes.
RUN, LEAST_LANED = 8, 1024
LEAST_COLUMNS = 32  # the least tile of a stream whose lanes each fold columns
# The largest factor that goes to each part of a sum, and constant of a sum in another; a scale is less, what stands for
# a mask is more.
SPREAD = 2.0**8
Streamed = (Reduce, Fold, Online)


def axis_ranks(term: Term, arrays: Mapping[Term, p.Buffer]) -> dict[str, int]:
    """Order the axes of a kernel so that the storage order of every array it reads is kept where possible, ties by
    first appearance.

    First come axes that are folded over what no one array holds: threads, which lie along the last axes, then fold
    lanes of their own.
    """
    parts = kernel_terms(term)
    stored = [arrays[t].dims if t in arrays else t.dims for t in parts if t in arrays or isinstance(t, Input)]
    named = [f for t in parts for f in t.fields if isinstance(f, Axis)]
    seen = dict.fromkeys(a.name for a in (*(d for dims in stored for d in dims), *named))
    after: dict[str, set[str]] = {name: set() for name in seen}
    for dims in stored:
        for left, right in zip(dims, dims[1:], strict=False):
            after[right.name].add(left.name)
    order: list[str] = []
    while len(order) < len(seen):
        rest = [n for n in seen if n not in order]
        ready = [n for n in rest if after[n] <= set(order)]
        order.append((ready or rest)[0])
    first = _spread(term, parts, arrays)
    return {name: i for i, name in enumerate(sorted(order, key=lambda name: name not in first))}


def _spread(term: Term, parts: Sequence[Term], arrays: Mapping[Term, p.Buffer]) -> set[str]:
    """Return the axes that are folded over what varies along more axes than any array does that varies along them.

    None of a kernel that contracts, whose tiles lie as the matrix unit takes them, nor one of its outputs.
    """
    folds = [t for t in parts if isinstance(t, Streamed)]
    if any(
        isinstance(t.body, Map) and t.body.op == "mul" and not isinstance(t, Online) and t.monoid == "sum"
        for t in folds
    ):
        return set()
    found = set()
    for fold in folds:
        wide = set(fold.body.axes)
        held = [{a.name for a in t.axes} for t in kernel_terms(fold) if t in arrays or isinstance(t, Input)]
        if fold.axis not in term.axes and not any(
            fold.axis.name in names and {a.name for a in wide} <= names for names in held
        ):
            found.add(fold.axis.name)
    return found


def kernel_terms(store: Term) -> list[Term]:
    """Return the subterms of a kernel in a fixed order: those under its Store, not those under another."""
    found: dict[Term, None] = {}

    def visit(term: Term) -> None:
        if term not in found:
            for child in () if isinstance(term, (Store, Proj)) and term is not store else term.children:
                visit(child)
            found.setdefault(term)

    visit(store)
    return list(found)


def contracted(term: Term) -> tuple[Term, ...] | None:
    """Return the two operands of a contraction, each with an axis that the other has not; None of any other term."""
    body = term.body if isinstance(term, Reduce) and term.monoid == "sum" else None
    if not isinstance(body, Map) or body.op != "mul":
        return None
    left, right = (set(arg.axes) for arg in body.args)
    return body.args if left - right and right - left and term.axis in left | right else None


_plain: dict[Term, Term] = {}


def plain(term: Term) -> Term:
    """Return the term with the reductions that its streamed forms stand for: the same value, in the form that facts
    speak of.
    """
    if term not in _plain:
        body = rebuilt(term, tuple(map(plain, term.children)))
        if isinstance(body, Streamed):
            monoid = "sum" if isinstance(body, Online) else body.monoid
            # A lane that is left out counts as the neutral element: so a maximum may be absent, a sum may be zero.
            kept = (
                body.body
                if body.where is Const(True)
                else Map("where", (body.where, body.body, Const(NEUTRAL[monoid])))
            )
            body = Reduce(monoid, body.axis, kept)
        _plain[term] = held(body)
    return _plain[term]


def read_along(term: Term, axis: Axis, index: Term) -> Term:
    """Return a term with its value at a coordinate along an axis, the read moved down to the arrays; raises NapkinError
    where it cannot be.
    """
    if axis not in term.axes:
        return term
    if isinstance(term, Index):
        if isinstance(index, Index) and same_size(index.axis, axis):
            return index
        return Map("min", (Map("max", (index, Const(0))), Length(axis) - 1))
    if isinstance(term, (Input, Store)):
        return Read(term, axis, index)
    if isinstance(term, Map):
        return rebuilt(term, tuple(read_along(child, axis, index) for child in term.children))
    if isinstance(term, Read):
        at = read_along(term.index, axis, index)
        if term.axis == axis or axis not in term.body.axes:
            return Read(term.body, term.axis, at)
        if term.axis not in index.axes:
            return Read(read_along(term.body, axis, index), term.axis, at)
    raise NapkinError(f"a read along {axis.name} of an index that is not stored: store it first")


def fold_key(term: Term) -> tuple[Any, ...]:
    """Identify an accumulator: what is folded, whoever shares its pass."""
    if isinstance(term, Online):
        return ("sum", term.axis, term.body, term.where, term.update)
    return (term.monoid, term.axis, term.body, term.where)


def depth_along(term: Term, axis: Axis) -> int:
    """Count the passes over an axis that must run one after another to have a term."""
    depths: dict[Term, int] = {}
    for t in subterms(term):
        below = max((depths[c] for c in t.children), default=0)
        if isinstance(t, Streamed) and t.axis.name == axis.name:
            below = max(1, depths[t.body]) if isinstance(t, Online) else 1 + depths[t.body]
        depths[t] = below
    return depths[term]


_reduces: dict[tuple[Term, str], bool] = {}


def reduces_over(term: Term, name: str) -> bool:
    """Whether a reduction over the named axis stands anywhere inside a term, or its size."""
    key = (term, name)
    if key not in _reduces:
        own = isinstance(term, (*Streamed, Size)) and term.axis.name == name
        # The accumulator in an Online's update is its own, and what else stands there stands in its body too.
        parts = term.children[:2] if isinstance(term, Online) else term.children
        _reduces[key] = own or isinstance(term, Acc) or any(reduces_over(c, name) for c in parts)
    return _reduces[key]


def modes_of(store: Store) -> tuple[dict[str, str], Term]:
    """Read the Group and Walk nodes under a Store: the role of each output axis, and the value."""
    roles: dict[str, str] = {}
    body = store.body
    while isinstance(body, (Group, Walk)):
        roles.setdefault(body.axis.name, "group" if isinstance(body, Group) else "walk")
        body = body.body
    return roles, body


def dot_factors(body: Term, tiles: Mapping[str, int], axis: str) -> tuple[Term, Term] | None:
    """Return the two factors of a body if the matrix unit can contract them over an axis, else None.

    Each factor must carry the axis and exactly one axis of its own; tiles of all three are at least 16; other axes have
    tile 1.
    """
    if not (isinstance(body, Map) and body.op == "mul" and tiles.get(axis, 0) >= MIN_DOT):
        return None
    left, right = ({a.name for a in factor.axes if tiles.get(a.name, 1) > 1} for factor in body.args)
    if axis not in left or axis not in right or left & right != {axis}:
        return None
    rows, columns = left - {axis}, right - {axis}
    if len(rows) != 1 or len(columns) != 1 or any(tiles[a] < MIN_DOT for a in rows | columns):
        return None
    return body.args[0], body.args[1]


def covers(tile: int, axis: Axis) -> bool:
    """Whether one tile holds a whole axis, as it is or as it is expected."""
    most = at_most(axis)
    return most is not None and tile >= most


def counts(fold: Term) -> bool:
    """Tell whether a fold is over an axis that counts stretches, under a mask that takes its coordinate several times.

    A loop over its lanes, one by one, then goes through those few that the mask leaves.
    """
    index = Index(fold.axis)
    return any(isinstance(t, Map) and t.op == "mul" and index in t.args for t in subterms(fold.where))


def multiplied(term: Term) -> list[tuple[Axis, Const]]:
    """Return the axes whose coordinates a term multiplies by constants, as those that count stretches are, each with
    its constant.
    """
    products = [t.args for t in subterms(term) if isinstance(t, Map) and t.op == "mul"]
    return [
        (x.axis, number)
        for args in products
        for number in args
        if isinstance(number, Const)
        for x in args
        if isinstance(x, Index)
    ]


def laned(tile: int, axis: Axis) -> bool:
    """Whether a stream of an axis may be folded lane by lane: its blocks are all whole, and wide."""
    return tile >= LEAST_LANED and axis.divides(tile)


def columns(tile: int, fold: Term) -> bool:
    """Whether the blocks of a stream may be folded lane by lane where others lie along the last axis of what it reads:
    they are wide, and what is folded is computed element by element.
    """
    if tile < LEAST_COLUMNS or not isinstance(fold, Fold) or fold.kind == "int":
        return False
    inside = (t for t in kernel_terms(fold) if t is not fold)
    return not any(isinstance(t, (*Streamed, Scan, Recur, Walk, Read)) for t in inside)


def spreads(factor: float, term: Term) -> bool:
    """Tell whether a kernel takes a sum, where it is multiplied or a part of another, apart into its own.

    What is multiplied by a large factor, or has a large constant, it does not: what cancels there, as in (1 - mask) *
    -1e9, would leave a rounding of that size.
    """
    term = _upright(term)
    if not (isinstance(term, Map) and term.op == "add"):
        return True
    numbers = [abs(part.value) for part in map(_upright, term.args) if isinstance(part, Const)]
    return abs(factor) <= SPREAD and all(abs(factor) * n <= SPREAD or n == math.inf for n in numbers)


def _upright(term: Term) -> Term:
    while isinstance(term, Map) and term.op == "neg":
        term = term.args[0]
    return term
