"""What runs beside what on a GPU whose copies and contractions are asynchronous: from one plan to another that says so.

Nothing is computed otherwise than before, only later: a contraction that continues a sum (`back`) and whose operand is
computed, from tiles or from another contraction (`front`), is put off to the next block, so that both run beside what
lies between them.

    before      load, front, between, back | load, front, between, back | ...
    after       load, front, between | load, front, back of the block before, between | ... | back

The first block and the last contraction become parts of the loop that have one block.
Source: Shah et al., arXiv:2407.08608, section 3.2, here for any loop of that shape.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace

from napkin_eq.lang.errors import NapkinError
from napkin_eq.tile import ir as p

GROUP_LANES, MOST_GROUPS = 64, 3
# By groups: of a thread of a group of warps, and of the warp that copies
REGISTERS = {1: (240, 24), 2: (240, 24), 3: (160, 32)}
KNOWN: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "mul": operator.mul,
    "floordiv": operator.floordiv,
    "min": min,
    "max": max,
}


def specialised(kernel: p.Kernel, rows: p.Coord | None = None) -> p.Kernel:
    """Return a kernel whose warps share out its work, with contractions issued ahead of what they run beside.

    rows: the coordinate whose lanes the groups of warps share; without it the first that fits. Raises NapkinError, with
    the reason, for a kernel that has nothing to gain or whose tile no groups of warps can share.
    """
    dots = [s for s in p.statements(kernel.body) if isinstance(s, p.Dot)]
    if not dots:
        raise NapkinError(
            f"kernel {kernel.name}: it has no contraction on the matrix unit to run beside its other work"
        )
    rows = _rows(kernel, dots) if rows is None else rows
    names = _Fresh(p.values_of(kernel.body))  # those that loops carry too: a bound of a loop may not take their names
    body: list[p.Stmt] = []
    for stmt in sunk(unscaled(kernel.body, names), {rows.name, *(c.name for c in kernel.coords if c.tile == 1)}):
        body += _loop(kernel, stmt, names) if isinstance(stmt, p.Loop) else [stmt]
    workers = p.Workers(rows.name, rows.tile // GROUP_LANES, falling(kernel))
    return replace(kernel, body=tuple(body), warps=4 * workers.groups + 4, workers=workers)


def unscaled(body: Sequence[p.Stmt], names: Callable[[str], str]) -> tuple[p.Stmt, ...]:
    """Take the maximum of a tile, and leave lanes out of it, before it is scaled: rounding keeps order, so the scaled
    maximum is the same number.

    The scaled tile then is read once, and its product becomes part of what reads it; two factors become one.
    """
    scaled: dict[str, tuple[str, float]] = {}
    found: list[p.Stmt] = []
    for stmt in body:
        if isinstance(stmt, p.Loop):
            stmt = replace(stmt, parts=tuple(replace(part, body=unscaled(part.body, names)) for part in stmt.parts))
        if isinstance(stmt, p.Let) and stmt.op == "where" and stmt.args[1] in scaled and stmt.args[2] == -math.inf:
            tile, factor = scaled[str(stmt.args[1])]
            kept = replace(stmt.out, name=names(f"{stmt.out.name}_plain"))
            found.append(p.Let(kept, "where", (stmt.args[0], tile, -math.inf)))
            stmt = p.Let(stmt.out, "mul", (kept.name, factor))
        if (
            isinstance(stmt, p.Let)
            and stmt.op == "mul"
            and isinstance(stmt.args[0], str)
            and isinstance(stmt.args[1], float)
            and stmt.args[1] > 0
        ):
            tile, before = scaled.get(stmt.args[0], (stmt.args[0], 1.0))
            factor = before * stmt.args[1]
            stmt = replace(stmt, args=(tile, factor))
            scaled[stmt.out.name] = tile, factor
        if isinstance(stmt, p.ReduceTile) and stmt.monoid == "max" and stmt.arg in scaled:
            tile, factor = scaled[stmt.arg]
            plain = replace(stmt.out, name=names(f"{stmt.out.name}_plain"))
            found += [replace(stmt, out=plain, arg=tile), p.Let(stmt.out, "mul", (plain.name, factor))]
        else:
            found.append(stmt)
    read = {name for stmt in p.statements(tuple(found)) for name in p.used(stmt)}
    return tuple(s for s in found if not isinstance(s, p.Let) or s.out.name in read or s.out.name not in scaled)


def sunk(body: Sequence[p.Stmt], few: Set[str]) -> tuple[p.Stmt, ...]:
    """Put what no loop needs after the loops: tiles and columns that wait in registers leave less to a loop.

    What varies along coordinates of which a thread has `few`, its rows, is loaded early.
    """
    loops = [place for place, stmt in enumerate(body) if isinstance(stmt, p.Loop)]
    if not loops:
        return tuple(body)
    needed = {name for place in loops for stmt in p.statements((body[place],)) for name in p.used(stmt)}
    late: list[p.Stmt] = []
    early: list[p.Stmt] = []
    for stmt in reversed(body[: loops[-1]]):
        out = getattr(stmt, "out", None)
        if out is not None and not few >= {*out.coords} and out.name not in needed:
            late.append(stmt)
        else:
            early.append(stmt)
            needed |= set(p.used(stmt))
    return (*reversed(early), body[loops[-1]], *reversed(late), *body[loops[-1] + 1 :])


def _rows(kernel: p.Kernel, dots: Sequence[p.Dot]) -> p.Coord:
    shared = [c for c in kernel.coords if c.name in kernel.grid and all(c.name in d.out.coords for d in dots)]
    fit = [c for c in shared if c.tile % GROUP_LANES == 0 and c.tile // GROUP_LANES <= MOST_GROUPS]
    if not fit:
        found = ", ".join(f"{c.name} by {c.tile}" for c in shared) or "none"
        raise NapkinError(
            f"kernel {kernel.name}: groups of warps share a grid coordinate of every contraction, {GROUP_LANES} to "
            f"{MOST_GROUPS * GROUP_LANES} lanes of it; found {found}"
        )
    return fit[0]


def falling(kernel: p.Kernel) -> tuple[str, ...]:
    """Return the grid coordinates on which the bounds of a loop depend."""
    bounds = [name for s in p.statements(kernel.body) if isinstance(s, p.Loop) for name in p.used(s)]
    on = {
        stmt.coord
        for stmt in p.closure(p.definitions(kernel.body), bounds).values()
        if isinstance(stmt, (p.Start, p.Iota))
    }
    return tuple(name for name in kernel.grid if name in on)


class _Fresh:
    """Gives names that no value has yet."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)

    def __call__(self, base: str) -> str:
        name, number = base, 1
        while name in self._taken:
            number += 1
            name = f"{base}{number}"
        self._taken.add(name)
        return name


@dataclass(frozen=True, slots=True)
class _Shape:
    """The statements of a loop's body by when they may run; `held` are the operands that wait for the next block,
    `twice` the loads that are read in both.
    """

    front: tuple[p.Dot, ...]
    back: tuple[p.Dot, ...]
    targets: tuple[str, ...]
    held: tuple[str, ...]
    twice: tuple[str, ...]
    fetch: tuple[p.Stmt, ...]
    ahead: tuple[p.Stmt, ...]
    between: tuple[p.Stmt, ...]
    after: tuple[p.Stmt, ...]
    assigns: tuple[p.Assign, ...]


def _loop(kernel: p.Kernel, loop: p.Loop, names: _Fresh) -> Iterator[p.Stmt]:
    chained = [_chained(part, kernel.stages) for part in loop.parts]
    if loop.parts and all(part is not None for part in chained):
        yield replace(loop, parts=tuple(part for part in chained if part is not None))
        sums = tuple(dict.fromkeys(s.target for part in loop.parts for s in part.body if isinstance(s, p.Assign)))
        yield p.Await(
            tuple(n for n in sums if any(isinstance(s, p.Dot) and s.acc == n for part in loop.parts for s in part.body))
        )
        return
    shapes = [_shape(kernel, part, {v.name for v, _ in loop.carried}) for part in loop.parts]
    general = next((i for i, part in enumerate(loop.parts) if part.general), None)
    found = [s for s in shapes if s is not None]
    if general is None or len(found) < len(shapes) or len({(s.targets, len(s.front)) for s in found}) > 1:
        yield loop
        return
    yield from _rotated(kernel, loop, found, general, names)


def _chained(part: p.Part, stages: int) -> p.Part | None:
    """Issue contractions that only continue sums, and wait for those of the block before; None for another body."""
    dots = [s for s in part.body if isinstance(s, p.Dot)]
    assigned = {s.value: s.target for s in part.body if isinstance(s, p.Assign)}
    plain = all(
        d.acc is not None and assigned.get(d.out.name) == d.acc and _readers(part.body, d.out.name) == 1 for d in dots
    )
    if (
        not dots
        or not plain
        or _computed(part.body) & {n for d in dots for n in (d.a, d.b)}
        or any(isinstance(s, p.Loop) for s in part.body)
    ):
        return None
    last = max(i for i, s in enumerate(part.body) if isinstance(s, p.Dot)) + 1
    body = tuple(replace(s, issued=True) if isinstance(s, p.Dot) else s for s in part.body)
    wait = p.Await(tuple(d.out.name for d in dots), len(dots) if stages > 1 else 0)
    return replace(part, body=(*body[:last], wait, *body[last:]))


def _computed(body: Sequence[p.Stmt]) -> set[str]:
    return {s.out.name for s in body if isinstance(s, p.Let)}


def _readers(body: Sequence[p.Stmt], name: str) -> int:
    return sum(name in p.used(s) for s in body)


def _closure(body: Sequence[p.Stmt], roots: Iterable[str]) -> set[str]:
    """Return the names, defined in a body, that some values are computed from, themselves included."""
    return {name for name, stmt in p.closure(p.definitions(body), roots).items() if stmt is not None}


def _dependents(body: Sequence[p.Stmt], roots: Iterable[str]) -> set[str]:
    """Return the names, defined in a body, whose values depend on some others."""
    found = set(roots)
    for stmt in body:
        if hasattr(stmt, "out") and found & set(p.used(stmt)):
            found.add(stmt.out.name)
    return found - set(roots)


def _shape(kernel: p.Kernel, part: p.Part, carried: set[str]) -> _Shape | None:
    """Sort the statements of a body, or return None where nothing can be put off."""
    body = part.body
    if any(isinstance(s, p.Loop) for s in body) or not _assigned_last(body):
        return None
    assigns = tuple(s for s in body if isinstance(s, p.Assign))
    by_value = {a.value: a.target for a in assigns}
    dots = [s for s in body if isinstance(s, p.Dot)]
    sums = _dependents(body, carried)
    front = tuple(d for d in dots if not {d.a, d.b, d.acc} & (sums | carried))
    computed = _computed(body)
    back = tuple(
        d
        for d in dots
        if d.out.name in by_value and _readers(body, d.out.name) == 1 and {d.a, d.b} & computed and d.acc is not None
    )
    if not back or len(front) + len(back) < len(dots):
        return None
    targets = tuple(by_value[d.out.name] for d in back)
    held = tuple(d.a if d.a in computed else d.b for d in back)
    others = [d.b if d.a in computed else d.a for d in back]
    late = _dependents(body, targets)
    loads = {s.out.name for s in body if isinstance(s, p.Load)}
    kept = {a.value for a in assigns if a.target not in targets}
    if late & (kept | set(held) | {n for d in front for n in p.used(d)}) or not set(others) <= loads:
        return None  # the sum put off is needed at once, or an operand of its contraction is no load
    if any(d.acc not in late | {t} for d, t in zip(back, targets, strict=True)):
        return None
    narrowed = {
        s.out.name
        for s in body
        if isinstance(s, p.Let) and s.op == "cast" and s.out.name in held and _readers(body, s.out.name) == 1
    }
    done = {d.out.name for d in back}
    fronted = {d.out.name for d in front}
    # Rows and columns that lanes load for themselves are asked for before the matrix unit is waited for
    narrow = {
        s.out.name
        for s in body
        if isinstance(s, p.Load)
        and sum(kernel.coord(c).tile > 1 for c in s.out.coords) < 2
        and not fronted & _closure(body, p.used(s))
    }
    early = _closure(body, fronted | narrow)
    fetch = _closure(body, others)
    # What something else reads too is loaded with its own block as well as with the contraction that is put off.
    apart = {n for n in others if _readers(body, n) == sum(n in p.used(d) for d in back)}
    rest = [s for s in body if hasattr(s, "out") and s.out.name not in done | apart]
    return _Shape(
        front, back, targets, held,
        twice=tuple(n for n in dict.fromkeys(others) if n not in apart),
        fetch=tuple(s for s in body if hasattr(s, "out") and s.out.name in fetch),
        ahead=tuple(s for s in rest if s.out.name in early - fronted),
        between=tuple(s for s in rest if s.out.name not in early | late | narrowed),
        after=tuple(s for s in rest if s.out.name in late | narrowed),
        assigns=tuple(a for a in assigns if a.target not in targets),
    )  # fmt: skip


def _assigned_last(body: Sequence[p.Stmt]) -> bool:
    """Whether no statement uses an accumulator after it was assigned."""
    assigned: set[str] = set()
    for stmt in body:
        if assigned & set(p.used(stmt)):
            return False
        if isinstance(stmt, p.Assign):
            assigned.add(stmt.target)
    return True


class _Scalars:
    """Writes integer arithmetic before a loop, and computes what is known."""

    def __init__(self, names: _Fresh) -> None:
        self.names = names
        self.stmts: list[p.Stmt] = []

    def size(self, coord: p.Coord) -> str:
        value = p.Value(self.names(f"{coord.axis.name}_size"), (), "i32")
        self.stmts.append(p.SizeOf(value, coord.axis))
        return value.name

    def __call__(self, op: str, a: p.Operand, b: int | str) -> p.Operand:
        if isinstance(a, int) and isinstance(b, int):
            return KNOWN[op](a, b)
        value = p.Value(self.names(f"{op}_n"), (), "i32")
        self.stmts.append(p.Let(value, op, (a, b)))
        return value.name


@dataclass(frozen=True, slots=True)
class _Rotation:
    """A loop to rotate: its coordinate, the shape of its general part, and the accumulators that hold operands for a
    block.
    """

    coord: p.Coord
    base: _Shape
    held: tuple[p.Value, ...]
    names: _Fresh

    def back(self, *, before: bool) -> tuple[list[p.Stmt], list[str]]:
        """Return the contractions put off, with their loads, of the block before or of this one, and the names of their
        results.
        """
        stmts: list[p.Stmt] = []
        new: dict[str, str] = {}
        for stmt in self.base.fetch:
            out: p.Value = stmt.out  # type: ignore[union-attr]
            new[out.name] = self.names(f"{out.name}_due")
            if before and isinstance(stmt, (p.Start, p.Iota)) and stmt.coord == self.coord.name:
                here = replace(out, name=self.names(f"{out.name}_here"))
                stmts += [
                    replace(stmt, out=here),
                    p.Let(replace(out, name=new[out.name]), "add", (here.name, -self.coord.tile)),
                ]
            else:
                moved = p.renamed(stmt, new)
                if isinstance(moved, p.Load) and out.name in self.base.twice:
                    moved = replace(moved, again=out.name)
                stmts.append(moved)
        done = [self.names(f"{target}_due") for target in self.base.targets]
        kept = {old: value.name for old, value in zip(dict.fromkeys(self.base.held), self.held, strict=True)}
        for dot, name, target in zip(self.base.back, done, self.base.targets, strict=True):
            moved = p.renamed(replace(dot, acc=target), {**new, **kept, dot.out.name: name})
            assert isinstance(moved, p.Dot)
            stmts.append(replace(moved, issued=True))
        return stmts, done

    def opening(self) -> tuple[p.Stmt, ...]:
        shape = self.base
        return (*shape.ahead, *_issued(shape), *_awaited(shape), *shape.between, *shape.after, *self.kept(shape, {}))

    def steady(self, shape: _Shape) -> tuple[p.Stmt, ...]:
        due, done = self.back(before=True)
        new = dict(zip(shape.targets, done, strict=True))
        after = (p.renamed(stmt, new) for stmt in shape.after)
        waited = p.Await((*done, *(() if shape.front else _narrowed(shape))))
        return (
            *shape.ahead,
            *_issued(shape),
            *due,
            *_awaited(shape, len(done)),
            *shape.between,
            waited,
            *after,
            *self.kept(shape, new),
        )

    def closing(self) -> tuple[p.Stmt, ...]:
        due, done = self.back(before=False)
        return (*due, p.Await(tuple(done)), *(p.Assign(t, d) for t, d in zip(self.base.targets, done, strict=True)))

    def kept(self, shape: _Shape, new: dict[str, str]) -> Iterator[p.Assign]:
        yield from shape.assigns
        for dot, target in zip(shape.back, shape.targets, strict=True):
            start = new.get(str(dot.acc), str(dot.acc))
            if start != target:
                yield p.Assign(target, start)
        yield from (
            p.Assign(kept.name, operand) for operand, kept in zip(dict.fromkeys(shape.held), self.held, strict=True)
        )


def _awaited(shape: _Shape, pending: int = 0) -> Iterator[p.Await]:
    if shape.front:
        yield p.Await(tuple(d.out.name for d in shape.front), pending)


def _narrowed(shape: _Shape) -> Iterator[str]:
    """Yield what is narrowed to operands after the wait: it goes through the wait, or a compiler would narrow it
    before, into registers still read.
    """
    for stmt in shape.after:
        if (
            isinstance(stmt, p.Let)
            and stmt.op == "cast"
            and stmt.out.name in shape.held
            and isinstance(stmt.args[0], str)
        ):
            yield stmt.args[0]


def _issued(shape: _Shape) -> Iterator[p.Dot]:
    return (replace(dot, issued=True) for dot in shape.front)


def _rotated(kernel: p.Kernel, loop: p.Loop, shapes: Sequence[_Shape], general: int, names: _Fresh) -> Iterator[p.Stmt]:
    coord, base, whole = kernel.coord(loop.coord), shapes[general], loop.parts[general]
    scalars = _Scalars(names)
    size: p.Operand = coord.axis.size if coord.axis.size is not None else scalars.size(coord)
    first: p.Operand = 0
    if loop.parts[0].lo != 0:
        final = scalars("mul", scalars("floordiv", scalars("add", size, -1), coord.tile), coord.tile)
        first = scalars("min", loop.parts[0].lo, final)  # type: ignore[arg-type]
    second = scalars("add", first, coord.tile)
    end = scalars("floordiv", scalars("add", loop.parts[-1].hi, -1), coord.tile)
    last = scalars("max", scalars("mul", end, coord.tile), first)  # type: ignore[arg-type]
    made = p.values_of(whole.body)
    rotation = _Rotation(
        coord, base, tuple(replace(made[name], name=names(f"{name}_held")) for name in dict.fromkeys(base.held)), names
    )
    parts = [
        replace(
            whole, lo=first, hi=scalars("add", first, 1), body=rotation.opening(), note="the first block", once=True
        )
    ]
    for part, shape in zip(loop.parts, shapes, strict=True):
        lo = second if part is loop.parts[0] else scalars("max", part.lo, second)  # type: ignore[arg-type]
        parts.append(replace(part, lo=lo, body=rotation.steady(shape), general=False))
    parts.append(p.Part(last, scalars("add", last, 1), rotation.closing(), "the last contraction", once=True))
    yield from scalars.stmts
    yield replace(loop, carried=(*loop.carried, *((v, 0.0) for v in rotation.held)), parts=tuple(parts))
