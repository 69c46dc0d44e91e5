"""Loop bounds out of masks: which blocks a fold may skip, and in which blocks a mask holds everywhere.

Only affine integer comparisons bound a loop, of a folded axis whose coordinate is taken a whole number of times, as
that of an axis that counts stretches is, and such of which one must hold if they bound the same end; other masks stay
masks.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.interval import ANY, interval, wide
from napkin_eq.lang.term import Const, Index, Input, Size, Term, subterms
from napkin_eq.tile import ir as p
from napkin_eq.tile.lower.builder import Context, Statements
from napkin_eq.tile.places import at_least_zero, conjuncts, decided, disjuncts, numbered

FAR = 2**31 - 2**16  # no axis is longer; index proofs assume so


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a loop: from lo up to hi; masks `known` to hold throughout; whether its blocks lie inside the axis."""

    lo: p.Operand
    hi: p.Operand
    known: frozenset[Term]
    whole_tiles: bool
    note: str


def stretches(lowering: Statements, where: Term, axis: Axis, coord: str, context: Context) -> list[Stretch]:
    """Cut the walk of a coordinate into parts: masked blocks, blocks with no mask, masked blocks."""
    tile = lowering.coords[coord].tile
    size = lowering.size(axis)
    down = (
        lowering.emit("mul", (lowering.emit("floordiv", (size, tile), "i32"), tile), "i32")
        if lowering.coords[coord].ragged
        else size
    )
    lows: list[tuple[p.Operand, p.Operand]] = []
    highs: list[tuple[p.Operand, p.Operand]] = []
    known: list[Term] = []
    running = context.moving
    for mask in conjuncts(where):
        sure = decided(mask, running)
        if (clauses := [] if sure else _clauses(numbered(mask, running), axis)) is None:
            continue
        known.append(mask)
        for up, forms in clauses:
            ends = [_range(lowering, form, context, step) for form, step in forms]
            # Of several of which one must hold, the farthest is the end.
            far = "max" if up else "min"
            least, most = ends[0]
            for end in ends[1:]:
                least, most = (lowering.emit(far, pair, "i32") for pair in zip((least, most), end, strict=True))
            (highs if up else lows).append((least, most))
    rest = {c for c in conjuncts(where)} - set(known)
    hold = frozenset(known) | (frozenset([where]) if not rest else frozenset())
    return _cut(_Bounds(lowering, tile, size, down, lows, highs), hold)


@functools.lru_cache(maxsize=1 << 14)  # asked again for every choice of tiles
def bounding(mask: Term, axis: Axis) -> list[bool]:
    """Return which ends of an axis' coordinate a mask gives: True for an upper one."""
    return [up for up, _ in _clauses(mask, axis) or ()]


def _clauses(mask: Term, axis: Axis) -> list[tuple[bool, list[tuple[dict[Term, int], int]]]] | None:
    """Return what a mask says of an axis' coordinate: ends, each of which holds, and of each the forms of which one
    must, with how many times the coordinate is taken.

    An upper end (True) is where the coordinate is below one of its forms divided so, a lower one where it is at least
    one of them. None for a mask that says something else.
    """
    forms = [at_least_zero(part) for part in disjuncts(mask)]
    if len(forms) > 1:  # of several one that never holds says nothing; where none does, one says that
        forms = [found for found in forms if found is None or not any(map(_never, found))] or forms[:1]
    if len(forms) > 1 and any(found is None or len(found) > 1 for found in forms):
        return None
    several = len(forms) > 1
    clauses = [[form for found in forms if found for form in found]] if several else [[f] for f in forms[0] or []]
    ends = []
    for clause in clauses:
        if any(axis in atom.axes and atom != Index(axis) for form in clause for atom in form):
            # What the coordinate is compared with varies along its own axis: no block is all inside or all outside
            return None
        sides = [form.get(Index(axis), 0) for form in clause]
        if not (all(side > 0 for side in sides) or all(side < 0 for side in sides)):
            return None
        ends.append((sides[0] < 0, [(_divided(form, axis), abs(form[Index(axis)])) for form in clause]))
    return ends or None


def _never(form: dict[Term, int]) -> bool:
    """Tell whether a form is below zero whatever the data are."""
    most = 0.0
    for atom, factor in form.items():
        low, high = ANY if any(isinstance(part, Input) for part in subterms(atom)) else interval(atom)
        if isinstance(atom, Size) and atom.axis.size is not None:
            low = high = float(atom.axis.size)  # as lowering has it
        most += max(factor * low, factor * high) if factor else 0.0
    return most < 0


def _divided(form: dict[Term, int], axis: Axis) -> dict[Term, int]:
    """Return what a coordinate that is taken s times in a form of at least zero is held against: of s x <= f the last
    lane is f // s, and x is below f // s + 1; of s x >= f the first is (f + s - 1) // s.
    """
    side = form[Index(axis)]
    bare = {atom: k for atom, k in form.items() if atom != Index(axis)}
    if side < 0:
        return {**bare, Const(1): bare.get(Const(1), 0) - side}
    return {**{a: -k for a, k in bare.items()}, Const(1): side - 1 - bare.get(Const(1), 0)}


@dataclass(frozen=True, slots=True)
class _Bounds:
    lowering: Statements
    tile: int
    size: p.Operand
    down: p.Operand
    lows: list[tuple[p.Operand, p.Operand]]
    highs: list[tuple[p.Operand, p.Operand]]

    def int(self, op: str, *args: p.Operand) -> p.Operand:
        return self.lowering.emit(op, args, "i32")

    def all(self, op: str, args: Iterable[p.Operand]) -> p.Operand:
        found: p.Operand | None = None
        for arg in args:
            found = arg if found is None else self.int(op, found, arg)
        assert found is not None
        return found

    def floor(self, value: p.Operand) -> p.Operand:
        if self.lowering.multiple(value) % self.tile == 0:
            return value
        return self.int("mul", self.int("floordiv", value, self.tile), self.tile)

    def ceil(self, value: p.Operand) -> p.Operand:
        if self.lowering.multiple(value) % self.tile == 0:
            return value
        return self.floor(self.int("add", value, self.tile - 1))


def _tight(b: _Bounds, ends: list[tuple[p.Operand, p.Operand]]) -> bool:
    """Whether bounds are the same for every lane of the current tiles and fall between blocks."""
    return all(least == most and b.lowering.multiple(least) % b.tile == 0 for least, most in ends)


def _cut(b: _Bounds, hold: frozenset[Term]) -> list[Stretch]:
    end = b.all("min", [b.size, *(most for _, most in b.highs)])
    begin = b.floor(b.all("max", [0, *(least for least, _ in b.lows)])) if b.lows else 0
    inside = b.all("max", [begin, *(b.ceil(most) for _, most in b.lows)]) if b.lows else 0
    full = b.floor(b.all("max", [0, b.all("min", [b.down, *(least for least, _ in b.highs)])])) if b.highs else b.down
    if _tight(b, b.lows):
        inside = begin
    if _tight(b, b.highs) and b.down == b.size:
        full = end
    parts = []
    if b.lows and inside != begin:
        inside = b.int("min", inside, b.int("max", begin, b.ceil(end)))
        parts.append(Stretch(begin, b.int("min", inside, end), frozenset(), False, "entering the mask"))
        full = b.int("max", full, inside)
    elif b.lows and full != end:
        full = b.int("max", full, inside)
    parts.append(Stretch(inside, full, hold, True, "no mask"))
    if full != end:
        parts.append(Stretch(full, end, frozenset(), False, "masked"))
    return parts


def _range(
    lowering: Statements, form: dict[Term, int], context: Context, number: int = 1
) -> tuple[p.Operand, p.Operand]:
    """Return the least and the greatest quotient of a linear form by a number over the lanes of the current tiles."""
    if (one := _quotient(lowering, form, context, number)) is not None:
        return one, one
    least: p.Operand = form.get(Const(1), 0)
    most: p.Operand = least
    for atom, factor in form.items():
        if atom == Const(1):
            continue
        low, high = _atom_range(lowering, atom, context)
        if factor < 0:
            low, high = high, low
        least = lowering.emit("add", (least, lowering.emit("mul", (low, factor), "i32")), "i32")
        most = lowering.emit("add", (most, lowering.emit("mul", (high, factor), "i32")), "i32")
    if number == 1:
        return least, most
    return lowering.emit("floordiv", (least, number), "i32"), lowering.emit("floordiv", (most, number), "i32")


def _quotient(lowering: Statements, form: dict[Term, int], context: Context, number: int) -> p.Operand | None:
    """Return the quotient of a coordinate, moved by whole blocks, by a number that its tile divides, which is one for
    all lanes of a block; None of other forms.
    """
    moved = form.get(Const(1), 0)
    atoms = [(atom, factor) for atom, factor in form.items() if atom != Const(1) and factor]
    if number == 1 or len(atoms) != 1 or atoms[0][1] != 1 or not isinstance(atoms[0][0], Index):
        return None
    coord = context.coord(atoms[0][0].axis)
    if coord is None or coord in lowering.lanes or any(n % lowering.coords[coord].tile for n in (moved, number)):
        return None
    return lowering.emit("floordiv", (lowering.emit("add", (lowering.start(coord), moved), "i32"), number), "i32")


def _atom_range(lowering: Statements, atom: Term, context: Context) -> tuple[p.Operand, p.Operand]:
    if isinstance(atom, Index):
        coord = context.coord(atom.axis)
        assert coord is not None
        start = lowering.start(coord)
        return start, lowering.emit("add", (start, lowering.coords[coord].tile - 1), "i32")
    value = lowering.operand(atom, context)
    if any(isinstance(part, Input) for part in subterms(atom)) or wide(atom):
        # What is read may be past every axis: it is kept to where negating it, or adding a tile to it, stays within 32
        # bits.
        value = lowering.cast(lowering.integers("max", (lowering.integers("min", (value, FAR)), -FAR)), "i32")
    if not isinstance(value, str) or all(lowering.coords[c].tile == 1 for c in lowering.values[value].coords):
        return value, value  # one number for all lanes: what is equal is then seen to be
    greatest = _greatest(lowering, value)
    return lowering.emit("neg", (_greatest(lowering, lowering.emit("neg", (value,), "i32")),), "i32"), greatest


def _greatest(lowering: Statements, value: p.Operand) -> p.Operand:
    """Return the greatest element of an integer tile as a scalar."""
    while isinstance(value, str) and (
        wide := [c for c in lowering.values[value].coords if lowering.coords[c].tile > 1]
    ):
        arg, coord = value, wide[0]
        left = tuple(c for c in lowering.values[arg].coords if c != coord)
        value = lowering.put(functools.partial(_reduced, arg, coord), ("reduce", "max", coord), left, "i32", (arg,))
    return value


def _reduced(arg: str, coord: str, out: p.Value) -> p.Stmt:
    return p.ReduceTile(out, "max", coord, arg)
