"""The lines of one Triton kernel, and how a program finds its block of the grid: the first index of each coordinate's
tile.
"""

from __future__ import annotations

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.tile.identifiers import Names, buffers, kernel_function, pointer_argument, size_argument
from napkin_eq.tile.ir import Coord, Kernel

INDENT = "    "


class Blocks:
    """The lines of a kernel, the names in it, and the first index of each coordinate's tile; `given` are names that its
    file has.
    """

    def __init__(self, kernel: Kernel, given: tuple[str, ...]) -> None:
        self.kernel = kernel
        self.lines: list[str] = []
        self.depth = 1
        self.params = [pointer_argument(b) for b in buffers(kernel)] + [size_argument(a) for a in kernel.symbols]
        self.names = Names((*self.params, *given, kernel_function(kernel)))
        self.starts: dict[str, str] = {}
        self.nonneg: set[str] = set()
        self.blocks: dict[str, str] = {}

    def line(self, text: str) -> None:
        self.lines.append(INDENT * self.depth + text)

    def wrong(self, what: str) -> NapkinError:
        return NapkinError(f"kernel {self.kernel.name}: {what}")

    def size(self, axis: Axis) -> str:
        return size_argument(axis) if axis.size is None else str(axis.size)

    def count(self, coord: Coord) -> str:
        """Return how many blocks a grid coordinate has."""
        if coord.blocks is not None:
            return str(coord.blocks)
        return (
            self.size(coord.axis) if coord.tile == 1 else f"tl.cdiv({self.size(coord.axis)}, {self.blocks[coord.name]})"
        )

    def grid(self) -> None:
        """Find the start of each grid coordinate's block from the program's number, the last coordinate running
        fastest.
        """
        self.starts = {c.name: "0" for c in self.kernel.coords if c.single}
        walked = []
        for name in self.kernel.grid:
            if self.count(self.kernel.coord(name)) == "1":
                self.starts[name] = "0"
            else:
                walked.append(self.kernel.coord(name))
        swizzle = self.kernel.swizzle
        if swizzle and [c.name for c in walked[-2:]] in (list(swizzle[:2]), list(swizzle[1::-1])):
            self.swizzled(walked, swizzle[2])
        elif len(walked) == 1:
            self.start(walked[0], "tl.program_id(0)")
        elif walked:
            pid = self.names.fresh("pid")
            self.line(f"{pid} = tl.program_id(0)")
            self.decoded(pid, walked)

    def decoded(self, pid: str, walked: list[Coord]) -> None:
        for rest, coord in reversed(list(enumerate(walked[1:]))):
            blocks = self.named_count(coord)
            self.start(coord, f"{pid} % {blocks}")
            if rest:
                self.line(f"{pid} = {pid} // {blocks}")
            else:
                self.start(walked[0], f"{pid} // {blocks}")

    def named_count(self, coord: Coord) -> str:
        count = self.count(coord)
        if not count.startswith("tl."):
            return count
        name = self.names.fresh(f"{coord.name}_blocks")
        self.line(f"{name} = {count}")
        return name

    def start(self, coord: Coord, block: str) -> None:
        name = self.starts[coord.name] = self.names.fresh(coord.name if coord.tile == 1 else f"{coord.name}_start")
        self.nonneg.add(name)
        self.line(f"{name} = {block}" if coord.tile == 1 else f"{name} = {block} * {self.blocks[coord.name]}")

    def swizzled(self, walked: list[Coord], depth: int) -> None:
        """Visit the last two grid coordinates in groups of `depth` rows, column by column, so that blocks nearby share
        operands.
        """
        row, column = (
            (self.kernel.coord(name) for name in self.kernel.swizzle[:2]) if self.kernel.swizzle else walked[-2:]
        )
        pid, row_block, column_block = (
            self.names.fresh(n) for n in ("pid", f"{row.name}_block", f"{column.name}_block")
        )
        self.line(f"{pid} = tl.program_id(0)")
        rows, columns = self.named_count(row), self.named_count(column)
        tile = pid if len(walked) == 2 else f"{pid} % ({rows} * {columns})"
        self.line(
            f"{row_block}, {column_block} = tl.swizzle2d({tile} // {columns}, {tile} % {columns}, {rows}, {columns},"
            f" {depth})"
        )
        self.start(row, row_block)
        self.start(column, column_block)
        if len(walked) == 3:
            self.start(walked[0], f"{pid} // ({rows} * {columns})")
        elif len(walked) > 3:
            self.line(f"{pid} = {pid} // ({rows} * {columns})")
            self.decoded(pid, walked[:-2])
