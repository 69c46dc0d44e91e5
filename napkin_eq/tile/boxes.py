"""What a plan says of the tiles that the copy engine of a GPU moves: their descriptors, their shared memory, and what
is left to pointers.
"""

from __future__ import annotations

from napkin_eq.lang.errors import NapkinError
from napkin_eq.tile.identifiers import Names, buffers, pointer_argument
from napkin_eq.tile.ir import Copy, Kernel, Load, Ring, Roles, StoreTile, statements

BARRIER_BYTES = 1024  # barriers, and numbers of blocks that are drawn


def roles_of(kernel: Kernel) -> Roles:
    """Return who does what in a kernel with workers; raises NapkinError where that was not decided."""
    if kernel.workers is None or kernel.workers.roles is None:
        raise NapkinError(
            f"kernel {kernel.name}: it is not decided who does what in it; pass it through `assigned`"
            " (passes/warp_roles.py) first"
        )
    return kernel.workers.roles


def rings(kernel: Kernel) -> tuple[Ring, ...]:
    """Return the rings of a kernel, each once, in order of first use."""
    return tuple(dict.fromkeys(ring for _, ring in roles_of(kernel).rings))


def pointed(kernel: Kernel) -> set[str]:
    """Return the buffers that a kernel reaches by pointers: all of them where no warp copies ahead."""
    if kernel.workers is None:
        return {b.name for b in (*kernel.reads, *kernel.writes)}
    roles = roles_of(kernel)
    boxed = dict(roles.stores)
    stmts = list(enumerate(statements(kernel.body)))
    found = {s.buffer for _, s in stmts if isinstance(s, Load) and s.out.name not in roles.shared}
    return found | {s.buffer for at, s in stmts if isinstance(s, StoreTile) and at not in boxed}


def descriptor_names(kernel: Kernel) -> dict[Copy, str]:
    """Return the name of the argument for each descriptor of a kernel."""
    names = Names(pointer_argument(b) for b in buffers(kernel))
    return {copy: names.fresh(f"{copy.buffer.name}_box") for copy in roles_of(kernel).boxes}


def shared_bytes(kernel: Kernel) -> int:
    """Return the shared memory of a program: its rings, its stored tiles, a little for barriers."""
    assert kernel.workers is not None
    return memory(roles_of(kernel), kernel.workers.groups)


def memory(roles: Roles, groups: int) -> int:
    """Return the shared memory, in bytes, of a program of so many groups of warps."""
    read = sum(ring.bytes(groups) * ring.depth for ring in dict.fromkeys(ring for _, ring in roles.rings))
    return read + sum(c.bytes * groups for c in dict.fromkeys(c for _, c in roles.stores)) + BARRIER_BYTES
