"""What the functions of one Gluon kernel agree on: the names of their arguments, rings, barriers and
staging buffers.
"""

from __future__ import annotations

from collections.abc import Sequence

from napkin_eq.lang.dtypes import device
from napkin_eq.tile.boxes import descriptor_names, pointed, rings, roles_of
from napkin_eq.tile.identifiers import (
    Names,
    buffers,
    counter_argument,
    kernel_function,
    pointer_argument,
    size_argument,
)
from napkin_eq.tile.ir import Kernel, Load, Ring, Stmt, definitions

from .helpers import HELPERS

DTYPES = device("gl")
IMPORTED = (
    "gl",
    "gluon",
    "fence_async_shared",
    "mbarrier",
    "tma",
    "warpgroup_mma",
    "warpgroup_mma_wait",
    "TensorDescriptor",
    *HELPERS,
)
WAITING = ("gdc_launch_dependents", "gdc_wait")


class Shared:
    """What the functions of a kernel agree on: the names of their arguments, rings, barriers and staging buffers."""

    def __init__(self, kernel: Kernel) -> None:
        assert kernel.workers is not None
        self.kernel, self.workers, self.roles = kernel, kernel.workers, roles_of(kernel)
        self.descriptors, self.rings = descriptor_names(kernel), rings(kernel)
        self.made, self.bulk = definitions(kernel.body), self.roles.shared
        places = {name: (ring, at) for names, ring in self.roles.rings for at, name in enumerate(names)}
        self.kept = {name: places[first] for name, first in self.roles.kept}
        self.staged, self.ring_of = dict(self.roles.stores), dict(self.roles.rings)
        self.pointers = [pointer_argument(b) for b in buffers(kernel) if b.name in pointed(kernel)]
        self.sizes = [size_argument(a) for a in kernel.symbols]
        self.counter = counter_argument(kernel) if kernel.workers.drawn else ""
        self.arguments = [*self.descriptors.values(), *self.pointers, *self.sizes, *filter(None, [self.counter])]
        self.names = Names((*self.arguments, *IMPORTED, *WAITING, kernel_function(kernel)))
        self.blocks = {ring: [self.names.fresh(f"{c.buffer.name}_ring") for c in ring.copies] for ring in self.rings}
        self.full = {ring: self.names.fresh(f"{ring.copies[0].buffer.name}_full") for ring in self.rings}
        self.free = {ring: self.names.fresh(f"{ring.copies[0].buffer.name}_free") for ring in self.rings}
        self.stages = {
            copy: self.names.fresh(f"{copy.buffer.name}_stage") for copy in dict.fromkeys(self.staged.values())
        }
        self.numbers = (
            tuple(self.names.fresh(f"number_{what}") for what in ("ring", "full", "free")) if self.counter else ()
        )
        self.chained = "" if kernel.turn.alone else self.names.fresh("CHAINED")
        self.ahead = frozenset(load.out.name for load in kernel.turn.asks)
        self.order = self.names.fresh("order") if kernel.workers.in_turn else ""
        barriers = (name for ring in self.rings for name in (*self.blocks[ring], self.full[ring], self.free[ring]))
        inside = [*self.numbers, *filter(None, [self.order]), *barriers, *self.stages.values()]
        self.passed = [*self.arguments, *inside]
        self.function = kernel_function(kernel)

    def kept_in(self, body: Sequence[Stmt]) -> dict[Ring, set[str]]:
        """Return the tiles of the block before that a body reads, by the ring in which they lie."""
        found: dict[Ring, set[str]] = {}
        for stmt in body:
            if isinstance(stmt, Load) and stmt.out.name in self.kept:
                found.setdefault(self.kept[stmt.out.name][0], set()).add(stmt.out.name)
        return found
