"""Which tiles of a kernel are alive together: what its registers must hold where they hold the most."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from napkin_eq.lang.dtypes import BY_SHORT, NARROW
from napkin_eq.tile import ir as p

Tiles = tuple[tuple[tuple[str, ...], float], ...]


def share(value: p.Value) -> float:
    """Return the 32-bit registers that one element of a value takes: two of 16 bits share one, 32 truth values do."""
    return 1 / 32 if value.dtype == "i1" else BY_SHORT[value.dtype].bytes / 4 if value.dtype in NARROW else 1.0


def alive(
    body: tuple[p.Stmt, ...],
    apart: Collection[str],
    also: Callable[[p.Part], Tiles] = lambda part: (),
    *,
    waits: bool = False,
    ends: bool = False,
    within: Collection[str] = (),
    free: Collection[str] = (),
) -> set[Tiles]:
    """Return the tiles alive together after a statement, as coordinates and the registers of an element of all tiles
    over them.

    What is alive at another point too, among more, is left out: however large the tiles are, that one holds as much.
    `apart` are loads that lie in shared memory, whose indices take no registers either; `also` says what a part of a
    loop holds throughout. An accumulator is a constant before the first block of a part that has one block. `waits`:
    only after loads, reductions and contractions; what lies between them is done element by element, and its tiles need
    not be there as a whole. `ends`: the same, of what lies outside loops, which has the registers to itself. That goes
    for reductions along the coordinates `within`, too: a thread has all of their elements. `free` are values that take
    no registers.
    """
    values = p.values_of(body)
    points: set[Tiles] = set()

    def record(names: set[str], held: Tiles, known: set[str]) -> None:
        mine = (values[n] for n in names - known if n not in apart and n not in free and n in values)
        together: dict[tuple[str, ...], float] = {}
        for coords, taken in (*((v.coords, share(v)) for v in mine if v.coords), *held):
            together[coords] = together.get(coords, 0.0) + taken
        points.add(tuple(sorted(together.items())))

    def before(
        stmts: Sequence[p.Stmt], after: set[str], held: Tiles, known: set[str], by_element: bool = waits
    ) -> set[str]:
        """Record what is alive after each statement, constants that are known left out; return what is before the
        first.
        """
        live = set(after)
        for stmt in reversed(stmts):
            if isinstance(stmt, p.Loop):
                own = {v.name for v, _ in stmt.carried}
                live |= own
                for at, part in reversed(list(enumerate(stmt.parts))):
                    new = own if part.once and at == 0 else set()
                    entry = before(part.body, live, also(part), new)
                    if not part.once and not entry <= live:
                        # What a block uses of before, the next one uses too
                        entry = before(part.body, live | entry, also(part), new)
                    live |= entry
                live -= own
            elif isinstance(stmt, p.Assign):
                live.discard(stmt.target)
            elif hasattr(stmt, "out") and stmt.out.name not in live:
                continue  # an index of a tile that is copied
            else:
                if not by_element or (
                    isinstance(stmt, (p.Load, p.ReduceTile, p.ScanTile, p.Dot))
                    and getattr(stmt, "coord", None) not in within
                ):
                    record(live, held, known)
                live.discard(getattr(getattr(stmt, "out", None), "name", ""))
            if isinstance(stmt, p.StoreTile):
                live.add(stmt.value)
            elif not isinstance(stmt, p.Load) or stmt.out.name not in apart:
                live |= set(p.used(stmt))
        return live

    before(body, set(), (), set(), waits or ends)
    return fullest(points)


def fullest(points: Collection[Tiles]) -> set[Tiles]:
    """Return the points that hold more of something than any other one does."""
    kept: list[tuple[Tiles, dict[tuple[str, ...], float]]] = []

    def within(point: Tiles, other: Mapping[tuple[str, ...], float]) -> bool:
        return all([other.get(coords, 0.0) >= taken for coords, taken in point])

    # One that holds all that another does has no smaller sum, so most are found to be within one that came before
    for point in sorted(points, key=lambda tiles: (-sum([taken for _, taken in tiles]), tiles)):
        if not any(within(point, other) for _, other in kept):
            kept.append((point, dict(point)))
    return {
        point for point, _ in kept if not any(within(point, amounts) for other, amounts in kept if other != point)
    }
