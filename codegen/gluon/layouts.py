"""How the layouts of tiles that a plan names are written: as the matrix unit leaves its results, or a row or a column
of that.
"""

from __future__ import annotations

from napkin_eq.tile.boxes import roles_of
from napkin_eq.tile.ir import Kernel, Layout, Value
from napkin_eq.tile.passes import warp_roles
from napkin_eq.tile.passes.warp_specialize import GROUP_LANES


class Layouts:
    """The layouts of a kernel's tiles, as its plan has them, by the coordinates that a tile spans."""

    def __init__(self, kernel: Kernel) -> None:
        assert kernel.workers is not None
        self.kernel, self.rows = kernel, kernel.workers.rows
        self.planned = dict(roles_of(kernel).layouts)

    def dims(self, value: Value) -> tuple[str, ...]:
        """Return the coordinates of a tile wider than one, that of the rows first."""
        return warp_roles.dims(self.kernel, value)

    def lanes(self, coord: str) -> int:
        """Return how many lanes of a coordinate one group of warps holds."""
        return GROUP_LANES if coord == self.rows else self.kernel.coord(coord).tile

    def matrix(self, columns: int) -> str:
        """Return the layout of a result of the matrix unit with so many columns."""
        return f"MATRIX_{min(columns, warp_roles.COLUMNS)}"

    def of(self, dims: tuple[str, ...]) -> str:
        """Return the layout of a tile over coordinates."""
        match self.planned[dims]:
            case Layout("rows", columns):
                return f"gl.SliceLayout(1, {self.matrix(columns)})"
            case Layout("columns", columns):
                return f"gl.SliceLayout(0, {self.matrix(columns)})"
            case Layout(_, columns):
                return self.matrix(columns)

    def rows_apart(self, coord: str) -> bool:
        """Whether the rows of a tile with the columns of a coordinate lie otherwise than rows by themselves."""
        return self.matrix(self.lanes(coord)) != self.matrix(self.planned[self.rows,].columns)

    def shape(self, dims: tuple[str, ...]) -> str:
        lanes = ", ".join(str(self.lanes(d)) for d in dims)
        return f"({lanes},)" if len(dims) == 1 else f"({lanes})"

    def operand(self, columns: int) -> str:
        """Return the layout of an operand in registers, on the left of a result with so many columns."""
        return f"gl.DotOperandLayout(0, {self.matrix(columns)}, 2)"
