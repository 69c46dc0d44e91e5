"""How the lanes of a tile lie in the registers of a group of warps: as the matrix unit leaves its results, or a row or a column of that."""

from __future__ import annotations

from napkin_eq.lang.errors import NapkinError
from napkin_eq.tile.ir import Dot, Kernel, Value, statements
from napkin_eq.tile.passes.warp_specialize import GROUP_LANES


class Layouts:
    """The layouts of a kernel's tiles; a row of the kernel's lanes lies as in the results that most contractions have (`home`)."""

    def __init__(self, kernel: Kernel) -> None:
        assert kernel.workers is not None
        self.kernel, self.rows = kernel, kernel.workers.rows
        columns = [self.lanes(d) for s in statements(kernel.body) if isinstance(s, Dot) for d in self.dims(s.out)[1:]]
        self.home = max(columns, key=columns.count)

    def dims(self, value: Value) -> tuple[str, ...]:
        """Return the coordinates of a tile wider than one, that of the rows first."""
        wide = [c for c in value.coords if self.kernel.coord(c).tile > 1]
        return tuple(sorted(wide, key=lambda c: c != self.rows))

    def lanes(self, coord: str) -> int:
        """Return how many lanes of a coordinate one group of warps holds."""
        return GROUP_LANES if coord == self.rows else self.kernel.coord(coord).tile

    def matrix(self, columns: int) -> str:
        """Return the layout of a result of the matrix unit with so many columns."""
        return f"MATRIX_{min(columns, 256)}"

    def of(self, dims: tuple[str, ...]) -> str:
        """Return the layout of a tile over coordinates; raises NapkinError for a tile that no group of warps can hold."""
        rows = self.rows
        if len(dims) == 2 and dims[0] == rows:
            return self.matrix(self.lanes(dims[1]))
        if dims == (rows,):
            return f"gl.SliceLayout(1, {self.matrix(self.home)})"
        if len(dims) == 1:
            return f"gl.SliceLayout(0, {self.matrix(self.lanes(dims[0]))})"
        what = f"a tile over {', '.join(dims)} is computed, and the groups of warps hold tiles of {rows} and one other coordinate"
        raise NapkinError(f"kernel {self.kernel.name}: {what}")

    def rows_apart(self, coord: str) -> bool:
        """Whether the rows of a tile with the columns of a coordinate lie otherwise than rows by themselves."""
        return self.matrix(self.lanes(coord)) != self.matrix(self.home)

    def shape(self, dims: tuple[str, ...]) -> str:
        lanes = ", ".join(str(self.lanes(d)) for d in dims)
        return f"({lanes},)" if len(dims) == 1 else f"({lanes})"

    def operand(self, columns: int) -> str:
        """Return the layout of an operand in registers, on the left of a result with so many columns."""
        return f"gl.DotOperandLayout(0, {self.matrix(columns)}, 2)"
