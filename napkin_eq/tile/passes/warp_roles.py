"""Who computes what in a kernel that groups of warps share, how its tiles move and where they lie; or why it cannot be
shared.

A kernel has two sides: the warp that copies tiles ahead, and the groups that compute. Each computes the scalars that it
needs for itself; tiles are the groups', each of which holds its own lanes of the rows. A number taken off all rows of a
block is computed by each side from whole rows. What is decided here, a printer prints; what it could not print is
refused here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from napkin_eq.lang.errors import NapkinError
from napkin_eq.tile import ir as p
from napkin_eq.tile.boxes import memory
from napkin_eq.tile.passes.tma import contracted, copied, kept, rings, stores, walked
from napkin_eq.tile.passes.warp_specialize import REGISTERS

LACKING = frozenset({"round"})  # operators that the language of such kernels has not
FOLDED = ("sum", "max")  # and the reductions that it has
COLUMNS = 256  # of one result of the matrix unit, the most
FEW_BYTES = 113 * 1024  # of shared memory: two programs of one group fit a processor
LAUNCHED, THREADS = 168, 128 * 512  # registers of a thread at the most as a kernel is launched, and of a processor


def assigned(kernel: p.Kernel) -> p.Kernel:
    """Return a specialised kernel with its roles decided; raises NapkinError, with the reason, for one that groups of
    warps cannot share so.
    """
    assert kernel.workers is not None
    roles = _Assignment(kernel).roles()
    return replace(kernel, workers=replace(kernel.workers, roles=roles))


def over_rows(kernel: p.Kernel, stmt: p.Stmt) -> bool:
    """Tell whether a number is taken off all rows of the block, those of every group: each side then holds them all."""
    assert kernel.workers is not None
    return isinstance(stmt, p.ReduceTile) and stmt.coord == kernel.workers.rows and not wide(kernel, stmt.out)


def wide(kernel: p.Kernel, value: p.Value) -> tuple[str, ...]:
    """Return the coordinates of which a value has more than one lane."""
    return tuple(c for c in value.coords if kernel.coord(c).tile > 1)


class _Assignment:
    """What is known of a kernel while its roles are decided."""

    def __init__(self, kernel: p.Kernel) -> None:
        assert kernel.workers is not None
        self.kernel, self.workers = kernel, kernel.workers
        self.stmts = list(p.statements(kernel.body))
        self.made, self.values = p.definitions(kernel.body), p.values_of(kernel.body)
        self.values |= {v.name: v for s in self.stmts if isinstance(s, p.Loop) for v, _ in s.carried}
        self.loads, self.boxed = copied(kernel), stores(kernel)
        self.kept = kept(kernel, self.loads)

    def roles(self) -> p.Roles:
        """Decide everything, each decision checked."""
        groups = self.workers.groups
        moved: dict[tuple[str, ...], p.Ring] = {}
        for loads, ring in rings(self.kernel, self.loads, self.kept):
            if moved.setdefault(tuple(load.out.name for load in loads), ring) != ring:
                raise self.wrong(f"{loads[0].out.name} is copied in two ways")
        copying = self.share(self.copying_roots())
        computing = self.share(self.computing_roots())
        self.copies_alone(copying)
        for stmt in self.stmts:
            self.computes(stmt, set(computing.values))
        first, *_ = REGISTERS[groups]
        threads = 128 * (groups + 1)
        found = p.Roles(
            tuple(moved.items()), tuple(self.kept.items()), tuple(self.boxed.items()), copying, computing,
            tuple(self.layouts(computing).items()), tuple(self.operands().items()),
            (min(THREADS // threads // 8 * 8, LAUNCHED), *REGISTERS[groups]), 1,
        )  # fmt: skip
        return replace(found, resident=2 if groups == 1 and memory(found, groups) <= FEW_BYTES else 1)

    def wrong(self, what: str) -> NapkinError:
        return NapkinError(f"kernel {self.kernel.name}: {what}")

    # -- who computes what ---------------------------------------------------------------------------------------------

    def share(self, roots: Sequence[str]) -> p.Share:
        """Return what a side computes for some values, found from them back to what that takes."""
        sources: dict[str, list[p.Stmt]] = {}
        for stmt in self.stmts:
            for out in [stmt.out.name] if hasattr(stmt, "out") else [stmt.target] if isinstance(stmt, p.Assign) else []:
                sources.setdefault(out, []).append(stmt)
        waiting, found = list(roots), set[str]()
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += [n for stmt in sources.get(name, ()) for n in self.takes(stmt)]
        whole = {
            n
            for s in self.stmts
            if isinstance(s, p.ReduceTile) and over_rows(self.kernel, s) and s.out.name in found
            for n in self.tiles_under(s)
        }
        for name in (n for n in self.made if n in whole):
            self.held_whole(self.made[name])
        return p.Share(tuple(sorted(found)), tuple(sorted(whole)))

    def takes(self, stmt: p.Stmt) -> Sequence[str]:
        if isinstance(stmt, p.ReduceTile) and over_rows(self.kernel, stmt):
            tiles = self.tiles_under(stmt)
            return [n for name in tiles for n in p.used(self.made[name]) if n not in tiles]
        return () if isinstance(stmt, p.Load) and stmt.out.name in self.loads else p.used(stmt)

    def tiles_under(self, stmt: p.ReduceTile) -> tuple[str, ...]:
        """Return the rows that a number is computed from, each after what it takes."""
        found = p.closure(self.made, [stmt.arg])
        return tuple(name for name, made in self.made.items() if name in found and wide(self.kernel, made.out))

    def copying_roots(self) -> list[str]:
        """Return what the copying warp needs: bounds of loops, and the scalars by which boxes lie where they do."""
        found: list[str] = []
        for stmt in self.stmts:
            if isinstance(stmt, p.Load) and stmt.out.name in self.loads and stmt.out.name not in self.kept:
                for index in stmt.index:
                    lies = walked(self.kernel, index, self.made)
                    part = index if lies is None else lies[1]
                    found += [part] if isinstance(part, str) else []
            elif isinstance(stmt, p.Loop):
                found += p.used(stmt)
        return found

    def computing_roots(self) -> list[str]:
        """Return what the groups need: bounds of loops, and what is stored, with where it goes."""
        boxed = {copy.buffer.name for copy in self.boxed.values()}
        found: list[str] = []
        for stmt in self.stmts:
            if isinstance(stmt, p.StoreTile) and stmt.buffer in boxed:
                lies = ((walked(self.kernel, i, self.made), i) for i in stmt.index)
                scalars = (i if at is None else at[1] for at, i in lies)
                found += [stmt.value, *(s for s in scalars if isinstance(s, str))]
            elif isinstance(stmt, (p.StoreTile, p.Loop)):
                found += p.used(stmt)
        return found

    # -- what a side can compute ---------------------------------------------------------------------------------------

    def held_whole(self, stmt: p.Defining) -> None:
        """Refuse rows of which each side cannot hold all."""
        rows, name = self.workers.rows, stmt.out.name
        lanes = self.kernel.coord(rows).tile
        if wide(self.kernel, stmt.out) != (rows,) or lanes & (lanes - 1):
            raise self.wrong(f"{name} is no row of a power of two of lanes, of which each group would take a number")
        if not isinstance(stmt, (p.Iota, p.Load, p.Let)) or name in self.loads:
            raise self.wrong(f"{name} is computed of tiles, of which each group has its own")
        self.known(stmt)

    def copies_alone(self, share: p.Share) -> None:
        """Refuse what the copying warp would need of tiles: it has no lanes for them."""
        for name in share.values:
            stmt = self.made.get(name)
            number = isinstance(stmt, (p.Start, p.SizeOf, p.Let)) or (
                isinstance(stmt, (p.Iota, p.Load)) and not wide(self.kernel, stmt.out)
            )
            if stmt is None or not (number or self.counted(stmt)):
                raise self.wrong(f"{name} is a tile, and the warp that copies has no lanes for it")
            self.known(stmt)

    def counted(self, stmt: p.Stmt) -> bool:
        return isinstance(stmt, p.ReduceTile) and over_rows(self.kernel, stmt) and stmt.monoid in FOLDED

    def known(self, stmt: p.Defining) -> None:
        if isinstance(stmt, p.Let) and stmt.op in LACKING:
            raise self.wrong(f"no operator {stmt.op!r:.60} in Gluon")

    def computes(self, stmt: p.Stmt, values: set[str]) -> None:
        """Refuse a statement that the groups of warps cannot do."""
        match stmt:
            case p.ScanTile():
                raise self.wrong("ScanTile cannot be printed for groups of warps")
            case p.Dot():
                self.multiplied(stmt)
            case p.StoreTile():
                dims = self.dims(self.values[stmt.value])
                if self.workers.rows not in dims:
                    raise self.wrong(
                        f"{stmt.value} does not vary along {self.workers.rows}: every group of warps would store it"
                    )
                if stmt.buffer not in {copy.buffer.name for copy in self.boxed.values()}:
                    self.spans((*stmt.index, *stmt.masks), dims)
            case p.ReduceTile() if stmt.out.name in values:
                if over_rows(self.kernel, stmt):
                    allowed = stmt.monoid in FOLDED
                else:
                    allowed = stmt.coord not in self.dims(self.values[stmt.arg]) or (
                        stmt.monoid in FOLDED and stmt.coord != self.workers.rows
                    )
                if not allowed:
                    what = (
                        f"a {stmt.monoid} over {stmt.coord}, along which the groups of warps divide the tile, or of a"
                        " kind Gluon does not have"
                    )
                    raise self.wrong(what)
            case p.Let() | p.Load() if stmt.out.name in values and stmt.out.name not in self.loads:
                self.known(stmt)
                self.spans(stmt.args if isinstance(stmt, p.Let) else (*stmt.index, *stmt.masks), self.dims(stmt.out))
            case _:
                pass

    def spans(self, operands: Sequence[p.Operand], dims: tuple[str, ...]) -> None:
        for name in operands:
            if isinstance(name, str) and not set(own := self.dims(self.values[name])) <= set(dims):
                raise self.wrong(f"{name} spans {list(own)}, where only {list(dims)} are spanned")

    def multiplied(self, stmt: p.Dot) -> None:
        dims = self.dims(stmt.out)
        if len(dims) != 2 or dims[0] != self.workers.rows:
            raise self.wrong(f"{stmt.out.name} spans {list(dims)}, expected {self.workers.rows} and one other")
        right = stmt.b if dims[0] in self.dims(self.values[stmt.a]) else stmt.a
        if right not in contracted(self.kernel):
            raise self.wrong(
                f"{right}, the right side of a contraction, is computed; the matrix unit reads that side from shared"
                " memory"
            )

    # -- where tiles lie -----------------------------------------------------------------------------------------------

    def dims(self, value: p.Value) -> tuple[str, ...]:
        """Return the coordinates of a tile wider than one, that of the rows first."""
        return dims(self.kernel, value)

    def columns(self, coord: str) -> int:
        return min(self.kernel.coord(coord).tile, COLUMNS)

    def layouts(self, share: p.Share) -> dict[tuple[str, ...], p.Layout]:
        """Return the layout of every tile in registers: rows by themselves lie as in the results that most contractions
        have.
        """
        results = [self.columns(d) for s in self.stmts if isinstance(s, p.Dot) for d in self.dims(s.out)[1:]]
        rows, home = self.workers.rows, max(results, key=results.count)
        found: dict[tuple[str, ...], p.Layout] = {(rows,): p.Layout("rows", home)}
        for value in self.in_registers(share):
            spanned = self.dims(value)
            if len(spanned) == 2 and spanned[0] == rows:
                found[spanned] = p.Layout("matrix", self.columns(spanned[1]))
            elif len(spanned) == 1 and spanned != (rows,):
                found[spanned] = p.Layout("columns", self.columns(spanned[0]))
            elif len(spanned) > 1:
                what = (
                    f"a tile over {', '.join(spanned)} is computed, and the groups of warps hold tiles of {rows} and"
                    " one other coordinate"
                )
                raise self.wrong(what)
        return found

    def in_registers(self, share: p.Share) -> Iterator[p.Value]:
        """Yield what the groups hold in registers: what they compute, accumulators, results, and loads that arithmetic
        reads.
        """
        read = {n for s in self.stmts if not isinstance(s, p.Dot) for n in p.used(s)}
        for stmt in self.stmts:
            if isinstance(stmt, p.Loop):
                yield from (value for value, _ in stmt.carried)
            elif (
                isinstance(stmt, p.Dot)
                or hasattr(stmt, "out")
                and stmt.out.name in (read if stmt.out.name in self.loads else share.values)
            ):
                yield stmt.out

    def operands(self) -> dict[str, int]:
        """Return the 16-bit accumulators that only contractions read, with the columns of the results: they are kept as
        operands.
        """
        results = [s for s in self.stmts if isinstance(s, p.Dot)]
        found: dict[str, int] = {}
        for name in (value.name for s in self.stmts if isinstance(s, p.Loop) for value, _ in s.carried):
            by = [s for s in self.stmts if name in p.used(s)]
            if by and all(isinstance(s, p.Dot) and name != s.acc for s in by):
                found[name] = next(self.columns(self.dims(d.out)[1]) for d in results if name in (d.a, d.b))
        return found


def dims(kernel: p.Kernel, value: p.Value) -> tuple[str, ...]:
    """Return the coordinates of a tile wider than one, that of the rows first."""
    assert kernel.workers is not None
    rows = kernel.workers.rows
    return tuple(sorted(wide(kernel, value), key=lambda c: c != rows))
