"""Names in generated code: what the printers of kernels and of launchers agree on, and how clashes are avoided."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.tile.ir import Buffer, Kernel

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}\Z")
RESERVED = frozenset({*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "torch", "triton", "tl"})


class Names:
    """A scope of generated code: every name given out is new, and the first to ask gets the one that it wants."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {*RESERVED, *taken}

    def fresh(self, wanted: str) -> str:
        """Return `wanted`, or with a number behind it where that is taken; raises NapkinError if it is no
        identifier.
        """
        if not isinstance(wanted, str) or not _IDENTIFIER.match(wanted):
            raise NapkinError(
                f"name {wanted!r:.80} cannot stand in generated code: expected letters, digits and underscores"
            )
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name)
        return name

    @property
    def taken(self) -> frozenset[str]:
        """The names given out so far."""
        return frozenset(self._taken)


def kernel_function(kernel: Kernel) -> str:
    """Return the name of the function that a kernel becomes."""
    return f"{kernel.name}_kernel"


def pointer_argument(buffer: Buffer) -> str:
    """Return the name of a kernel's pointer argument."""
    return f"{buffer.name}_ptr"


def counter_argument(kernel: Kernel) -> str:
    """Return the name of a kernel's argument for the counter from which numbers of blocks are drawn; no pointer or size
    is called so.
    """
    return f"{kernel.name}_counter"


def size_argument(axis: Axis) -> str:
    """Return the name of a kernel's argument for the size of a symbolic axis."""
    return f"{axis.name}_size"


def buffers(kernel: Kernel) -> tuple[Buffer, ...]:
    """Return the buffers of a kernel in the order of its pointer arguments, each once."""
    return tuple({b.name: b for b in (*kernel.reads, *kernel.writes)}.values())
