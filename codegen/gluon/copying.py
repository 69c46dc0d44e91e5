"""The function of a Gluon kernel that a copying warp runs: bounds of loops, first indices of tiles, and copies as
buffers come free.
"""

from __future__ import annotations

from collections.abc import Sequence

from napkin_eq.tile.ir import Load, Ring, Stmt
from napkin_eq.tile.passes.warp_specialize import GROUP_LANES

from .side import Side, copy_index


class Copying(Side):
    """The warp that copies: bounds of loops, first indices of tiles, and copies as buffers come free."""

    suffix, share = "_copy", "copying"

    def copies(self, load: Load) -> bool:
        """Tell whether a load is this warp's."""
        return load.out.name not in self.shared.ahead

    def opening(self) -> None:
        if self.shared.ahead:
            self.wait_for_kernels()

    def draw(self, turn: str) -> str:
        return f"draw({', '.join([self.shared.counter, *self.shared.numbers, turn])})"

    def act(self, stmt: Stmt) -> None:
        pass

    def fetch(self, loads: Sequence[Load], ring: Ring) -> None:
        shared, counter, groups = self.shared, self.counters[ring], self.shared.workers.groups
        numbered = enumerate(zip(loads, ring.copies, strict=True))
        mine = [(number, load, copy) for number, (load, copy) in numbered if self.copies(load)]
        if not mine:
            return
        own = Ring(tuple(copy for *_, copy in mine), ring.depth)
        slot = self.names.fresh("slot") if ring.depth > 1 else "0"
        if ring.depth > 1:
            self.line(f"{slot} = {self.slot(ring)}")
        self.line(f"mbarrier.wait({shared.free[ring]}.index({slot}), ({self.phase(ring)}) ^ 1)")
        self.line(f"mbarrier.expect({shared.full[ring]}.index({slot}), {own.bytes(groups)})")
        for number, load, copy in mine:
            for who in range(1 if copy.shared else groups):
                index = copy_index(self, load.index, copy, str(who * GROUP_LANES) if who else "")
                target = self.block(ring, number, slot, str(who))
                shape = ", ".join(["1"] * (len(copy.order) - 2) + [str(n) for n in copy.box])
                reshaped = target if len(copy.order) == 2 else f"{target}.reshape([{shape}])"
                self.line(
                    f"tma.async_copy_global_to_shared({shared.descriptors[copy]}, [{index}],"
                    f" {shared.full[ring]}.index({slot}), {reshaped})"
                )
        self.line(f"{counter} += 1")


class Ahead(Copying):
    """The warp that copies inputs before the kernels before this one have ended."""

    suffix = "_ahead"

    def copies(self, load: Load) -> bool:
        return load.out.name in self.shared.ahead

    def opening(self) -> None:
        pass
