"""Which tiles of a plan the copy engine of a GPU can move, as boxes of an array, and the rings of buffers that they
pass through.

A box has two dimensions wider than one. Lanes past the end of an array read 0 and are not written, which is what the
masks say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from napkin_eq.lang.errors import NapkinError
from napkin_eq.tile import ir as p
from napkin_eq.tile.passes.warp_specialize import GROUP_LANES
from napkin_eq.tile.resources import BYTES

ALIGNED, LONGEST, MOST_DIMS = 16, 256, 5


Made = Mapping[str, p.Defining]


def copy_of(kernel: p.Kernel, stmt: p.Load | p.StoreTile, made: Made) -> p.Copy:
    """Return the box that a load or a store moves; raises NapkinError, with the reason, where the copy
    engine cannot.
    """
    buffer, workers = kernel.buffer(stmt.buffer), kernel.workers
    assert workers is not None
    wide = {at: found[0] for at, i in enumerate(stmt.index) if (found := walked(kernel, i, made)) is not None}
    last = len(buffer.dims) - 1

    def no(why: str) -> NapkinError:
        return NapkinError(f"kernel {kernel.name}: the copy engine cannot move the tile of {buffer.name}: {why}")

    if any(isinstance(i, str) and at not in wide and _lanes(kernel, made[i].out) for at, i in enumerate(stmt.index)):
        raise no("an index is computed lane by lane")
    if len(wide) != 2 or last not in wide:
        raise no(f"it spans {len(wide)} dimensions, expected two, the last one of them")
    if last >= MOST_DIMS:
        raise no(f"it has {last + 1} dimensions, expected at most {MOST_DIMS}")
    if BYTES[buffer.dtype] != 2:
        raise no(f"its elements are {buffer.dtype}, expected 16 bits")
    for mask in stmt.masks:
        if not _bounds(mask, stmt, buffer, made):
            raise no(f"the mask {mask} is more than the bounds of the array")
    for at in range(last):
        if _stride(buffer, at) * BYTES[buffer.dtype] % ALIGNED:
            raise no(f"the stride of {buffer.dims[at].name} is no multiple of {ALIGNED} bytes")
    order = (*(at for at in range(last + 1) if at not in wide), *wide)
    coords = [kernel.coord(name) for name in wide.values()]
    box = tuple(GROUP_LANES if c.name == workers.rows else c.tile for c in coords)
    if max(box) > LONGEST or box[-1] * BYTES[buffer.dtype] < 32:
        raise no(f"a box of {box[0]} × {box[1]} elements, expected at most {LONGEST} a side, rows of 32 bytes or more")
    return p.Copy(buffer, order, (coords[0].name, coords[1].name), (box[0], box[1]), workers.rows not in wide.values())


def walked(kernel: p.Kernel, index: p.Operand, made: Made) -> tuple[str, p.Operand] | None:
    """Return the coordinate wider than one, and what is added to it, of an index that walks one; None for a scalar or
    another tile.
    """
    stmt = made.get(index) if isinstance(index, str) else None
    if isinstance(stmt, p.Iota) and kernel.coord(stmt.coord).tile > 1:
        return stmt.coord, 0
    if isinstance(stmt, p.Let) and stmt.op == "add":
        for one, other in (stmt.args, stmt.args[::-1]):
            found = walked(kernel, one, made)
            if (
                found is not None
                and found[1] == 0
                and (not isinstance(other, str) or not _lanes(kernel, made[other].out))
            ):
                return found[0], other
    return None


def _lanes(kernel: p.Kernel, value: p.Value) -> bool:
    return any(kernel.coord(c).tile > 1 for c in value.coords)


def _bounds(mask: str, stmt: p.Load | p.StoreTile, buffer: p.Buffer, made: Made) -> bool:
    """Whether a mask says no more than that an index lies below the size of its dimension."""
    test = made.get(mask)
    if not isinstance(test, p.Let) or test.op != "lt":
        return False
    index, size = test.args
    for at, axis in enumerate(buffer.dims):
        if stmt.index[at] == index:
            said = made.get(size) if isinstance(size, str) else size
            return (
                said == axis.size
                if isinstance(said, int)
                else isinstance(said, p.SizeOf) and (said.axis == axis or axis.size == said.axis.size is not None)
            )
    return False


def _stride(buffer: p.Buffer, at: int) -> int:
    """Return a number that the stride of a dimension, in elements, is a multiple of."""
    stride = 1
    for axis in buffer.dims[at + 1 :]:
        stride *= axis.size if axis.size is not None else axis.multiple
    return stride


def contracted(kernel: p.Kernel) -> set[str]:
    """Return the loads that a contraction reads."""
    sides = {name for s in p.statements(kernel.body) if isinstance(s, p.Dot) for name in (s.a, s.b)}
    return {s.out.name for s in p.statements(kernel.body) if isinstance(s, p.Load) and s.out.name in sides}


def copied(kernel: p.Kernel) -> set[str]:
    """Return the loads that a warp copies ahead: what contractions read, and in loops the tiles of rows that arithmetic
    reads, where they can be moved.
    """
    assert kernel.workers is not None
    made, found = p.definitions(kernel.body), contracted(kernel)
    inside = (s for loop in kernel.body if isinstance(loop, p.Loop) for s in p.statements((loop,)))
    for stmt in inside:
        if isinstance(stmt, p.Load) and kernel.workers.rows in stmt.out.coords:
            try:
                copy_of(kernel, stmt, made)
            except NapkinError:
                continue  # its lanes are loaded one by one instead
            found.add(stmt.out.name)
    return found


def grouped(body: Sequence[p.Stmt], bulk: Set[str]) -> Iterator[tuple[p.Load, ...]]:
    """Yield the loads of a body, of those that a warp copies ahead, that are copied together: with no contraction, loop
    or use of them between.
    """
    groups: list[list[p.Load]] = [[]]
    for stmt in body:
        if not isinstance(stmt, p.Dot) and {load.out.name for load in groups[-1]} & set(p.used(stmt)):
            groups.append([])
        if isinstance(stmt, p.Load) and stmt.out.name in bulk:
            groups[-1].append(stmt)
        elif isinstance(stmt, (p.Dot, p.Loop)):
            groups.append([])
    yield from (tuple(group) for group in groups if group)


def rings(
    kernel: p.Kernel, bulk: Set[str], again: Mapping[str, str]
) -> Iterator[tuple[tuple[p.Load, ...], p.Ring]]:
    """Yield what is copied together, in order of first use, with its ring: `ahead` buffers for what is read once a
    block of the grid, else `stages`; more where tiles are kept there for a block, as much as copies of their own took.

    again: loads of tiles that are kept, with those that copied them (`kept`): they are not copied.
    """
    assert kernel.workers is not None
    made = p.definitions(kernel.body)

    def visit(body: Sequence[p.Stmt], depth: int) -> Iterator[tuple[tuple[p.Load, ...], tuple[p.Copy, ...], int]]:
        for loads in grouped(body, bulk - again.keys()):
            yield loads, tuple(copy_of(kernel, load, made) for load in loads), depth
        for stmt in body:
            if isinstance(stmt, p.Loop):
                for part in stmt.parts:
                    yield from visit(part.body, kernel.stages)

    found, longer = list(visit(kernel.body, kernel.workers.ahead)), set(again.values())
    # Of all parts of a loop, which pass through one ring
    twice: dict[tuple[p.Copy, ...], int] = {}
    for loads, copies, _ in found:
        more = sum(copy.bytes for load, copy in zip(loads, copies, strict=True) if load.out.name in longer)
        twice[copies] = max(more, twice.get(copies, 0))
    for loads, copies, depth in found:
        whole = sum(copy.bytes for copy in copies)
        yield loads, p.Ring(copies, max(2, depth * (whole + twice[copies]) // whole) if twice[copies] else depth)


def kept(kernel: p.Kernel, bulk: Set[str]) -> dict[str, str]:
    """Return the loads whose tile the block before has copied and that can be read where it lies, with the load that
    copies it.

    So it is in a loop each block of which copies it, but the last part: that has no block of its own.
    """
    made, found = p.definitions(kernel.body), dict[str, str]()
    for loop in (s for s in p.statements(kernel.body) if isinstance(s, p.Loop)):
        bodies = [part.body for part in loop.parts]
        later = [[s for s in body if isinstance(s, p.Load) and s.again and s.out.name in bulk] for body in bodies]
        for name in dict.fromkeys(load.again for loads in later for load in loads):
            mine = [[load for load in loads if load.again == name] for loads in later]
            whole = loop.parts[0].once and loop.parts[-1].once and [len(m) for m in mine] == [0] + [1] * len(mine[1:])
            first = made.get(name)
            if not whole or not isinstance(first, p.Load) or name not in bulk:
                continue
            copied_here = bulk - {load.out.name for loads in later for load in loads}
            groups = [list(grouped(body, copied_here)) for body in bodies]
            together = next((g for g in groups[0] if first in g), None)
            if together is None or any(first in g for g in groups[-1]):
                continue
            boxes = [copy_of(kernel, load, made) for load in together]
            inner = [*zip(bodies[1:-1], groups[1:-1], (load for (load,) in mine[1:-1]), strict=True)]
            before = all(
                any([copy_of(kernel, load, made) for load in g] == boxes and _before(body, g[-1], one) for g in own)
                for body, own, one in inner
            )
            step = {loop.coord: -kernel.coord(loop.coord).tile}
            alike = all(_alike(kernel, first, one, step, made) for *_, one in inner)
            if before and alike and _alike(kernel, first, mine[-1][0], {}, made):
                found |= {load.out.name: name for loads in mine for load in loads}
    return found


def _before(body: Sequence[p.Stmt], one: p.Stmt, other: p.Stmt) -> bool:
    places = [next(at for at, stmt in enumerate(body) if stmt is which) for which in (one, other)]
    return places[0] < places[1]


def _alike(kernel: p.Kernel, one: p.Load, other: p.Load, steps: Mapping[str, int], made: Made) -> bool:
    """Tell whether the other of two loads reads the box of the one, but for steps along coordinates."""

    def same(a: p.Operand, b: p.Operand) -> bool:
        walk = [walked(kernel, index, made) for index in (a, b)]
        if walk[0] is not None and walk[1] is not None:
            return walk[0] == (walk[1][0], 0) and walk[1][1] == steps.get(walk[0][0], 0)
        if not isinstance(a, str) or not isinstance(b, str) or a == b:
            return a == b
        first, second = made.get(a), made.get(b)
        match first, second:
            case p.Let(), p.Let():
                return first.op == second.op and all(map(same, first.args, second.args))
            case (p.Start(_, x), p.Start(_, y)) | (p.Iota(_, x), p.Iota(_, y)):
                return x == y
            case _:
                return False

    return one.buffer == other.buffer and len(one.masks) == len(other.masks) and all(map(same, one.index, other.index))


def done_at(body: Sequence[p.Stmt], tiles: set[str]) -> int | None:
    """Return the place of the statement after which nothing reads some tiles any more; None where that is in the next
    block.

    What arithmetic reads is in registers once it is loaded.
    """
    last = max(place for place, stmt in enumerate(body) if isinstance(stmt, p.Load) and stmt.out.name in tiles)
    for place, stmt in enumerate(body):
        inner = [s for part in stmt.parts for s in p.statements(part.body)] if isinstance(stmt, p.Loop) else [stmt]
        for dot in (s for s in inner if isinstance(s, p.Dot) and tiles & {s.a, s.b}):
            done = place if isinstance(stmt, p.Loop) or not dot.issued else _awaited(body, place)
            if done is None:
                return None
            last = max(last, done)
    return last


def _awaited(body: Sequence[p.Stmt], place: int) -> int | None:
    """Return where an issued contraction is waited for in its own body."""
    younger = 0
    for later, stmt in enumerate(body[place + 1 :], place + 1):
        if isinstance(stmt, p.Dot):
            younger += 1
        if isinstance(stmt, p.Await) and stmt.pending <= younger:
            return later
    return None


def stores(kernel: p.Kernel) -> dict[int, p.Copy]:
    """Return the boxes of the stores that the copy engine can make, by the place of the store among the kernel's
    statements.
    """
    made = p.definitions(kernel.body)
    found: dict[int, p.Copy] = {}
    for at, stmt in enumerate(p.statements(kernel.body)):
        if isinstance(stmt, p.StoreTile):
            try:
                found[at] = copy_of(kernel, stmt, made)
            except NapkinError:
                continue  # lanes are stored one by one instead
    return found
