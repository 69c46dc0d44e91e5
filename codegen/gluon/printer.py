"""Prints a plan with workers as Gluon kernels for Hopper: one warp copies tiles into rings of buffers, groups of warps
compute.

Both walk the same statements (side.py). The copying warp keeps loads that contractions read (copying.py), the groups
keep everything else and wait for those loads where they stand (computing.py); a buffer is given back where every
contraction that reads it has been waited for. Where a kernel is launched before the ones before it have ended, a second
warp copies what is read of inputs, and all others wait.
"""

from __future__ import annotations

from collections.abc import Iterator

from napkin_eq.lang.errors import NapkinError
from napkin_eq.tile.identifiers import Names
from napkin_eq.tile.ir import Copy, Kernel, Plan, Ring
from napkin_eq.tile.printers import emit, emitter

from ..triton.printer import triton_kernels
from .computing import Computing
from .copying import Ahead, Copying
from .helpers import helpers
from .shared import DTYPES, Shared

HEAD = """
import types
import warnings

import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma
from triton.experimental.gluon.language.nvidia.hopper import warpgroup_mma, warpgroup_mma_wait
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
"""
CHAINED = "from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait\n"


@emitter("gluon")
def gluon_file(plan: Plan, header: tuple[str, ...]) -> str:
    """Print a plan as one Python file, kernels without workers as Triton prints them; raises NapkinError, with the
    reason, if none has any.
    """
    if not any(kernel.workers for kernel in plan.kernels):
        raise NapkinError(f"plan {plan.name}: no workers are named that share a kernel; schedule one first")
    return gluon_text(plan, plan.name, header, emit(plan, "launcher"))


def gluon_text(plan: Plan, name: str, header: tuple[str, ...], launcher: str) -> str:
    """Print the kernels of a plan, some of which have workers, with a launcher."""
    plain = tuple(kernel for kernel in plan.kernels if kernel.workers is None and kernel.library is None)
    head = [
        f"# The kernels of {Names().fresh(name)}, written by napkin_eq for NVIDIA Hopper.",
        "#",
        *(f"# {line}".rstrip() for line in header),
    ]
    shared = [line for kernel in plan.kernels if kernel.workers for line in _kernel(kernel)]
    others = ["import triton.language as tl\n", triton_kernels(plan, plain)] if plain else []
    called = helpers("\n".join(shared))
    waiting = "" if all(kernel.turn.alone for kernel in plan.kernels) else CHAINED
    return "\n".join(["\n".join(head), HEAD + waiting, *others, *called, *shared, launcher])


def _kernel(kernel: Kernel) -> Iterator[str]:
    shared = Shared(kernel)
    yield from Ahead(shared).function() if shared.ahead else ()
    yield from Copying(shared).function()
    yield from Computing(shared).function()
    yield from _entry(shared)


def _shape(copy: Copy) -> str:
    return ", ".join(map(str, copy.box))


def _swizzle(copy: Copy) -> int:
    return min(128, copy.box[1] * 2)


def _barriers(name: str, number: int, index: str, arrivals: int) -> Iterator[str]:
    yield f"    {name} = gl.allocate_shared_memory(gl.int64, [{number}, 1], mbarrier.MBarrierLayout())"
    yield f"    for {index} in gl.static_range({number}):"
    yield f"        mbarrier.init({name}.index({index}), count={arrivals})"


def _warps(shared: Shared, ring: Ring) -> int:
    """Return how many of the copying warps fill a ring."""
    return len({name in shared.ahead for names, filled in shared.roles.rings if filled == ring for name in names})


def _entry(shared: Shared) -> Iterator[str]:
    """Print the kernel itself: it lays out shared memory, sets up the barriers and lets the groups and the copying warp
    run.
    """
    groups, turn = shared.workers.groups, shared.kernel.turn
    yield "\n@gluon.jit"
    flag = [f"{shared.chained}: gl.constexpr"] if shared.chained else []
    yield f"def {shared.function}({', '.join([*shared.arguments, *flag])}):"
    if not turn.alone:
        # No earlier than this: the groups and the copying warp set out together, and what they read first may be what
        # was written. Where a warp copies inputs ahead, all others wait.
        said = ["gdc_launch_dependents()"] * turn.leads
        said += ["gdc_wait()"] * (turn.waits is not None and not shared.ahead)
        yield from [f"    if {shared.chained}:"] * bool(said)
        yield from (f"        {text}" for text in said)
    for ring in shared.rings:
        for copy, name in zip(ring.copies, shared.blocks[ring], strict=True):
            count = ring.depth * (1 if copy.shared else groups)
            dtype = DTYPES[copy.buffer.dtype]
            yield (
                f"    {name} = gl.allocate_shared_memory({dtype}, [{count}, {_shape(copy)}],"
                f" gl.NVMMASharedLayout({_swizzle(copy)}, 16, 2))"
            )
        for name in (shared.full[ring], shared.free[ring]):
            yield f"    {name} = gl.allocate_shared_memory(gl.int64, [{ring.depth}, 1], mbarrier.MBarrierLayout())"
        yield f"    for slot in gl.static_range({ring.depth}):"
        yield f"        mbarrier.init({shared.full[ring]}.index(slot), count={_warps(shared, ring)})"
        yield f"        mbarrier.init({shared.free[ring]}.index(slot), count={groups})"
    if shared.numbers:
        numbers, full, free = shared.numbers
        yield f"    {numbers} = gl.allocate_shared_memory(gl.int32, [2, 1], gl.SwizzledSharedLayout(1, 1, 1, [0]))"
        yield from (*_barriers(full, 2, "slot", 1), *_barriers(free, 2, "slot", groups))
    if shared.order:
        yield from _barriers(shared.order, groups, "who", 1)
    for copy, name in shared.stages.items():
        layout = f"gl.NVMMASharedLayout({_swizzle(copy)}, 16, 2)"
        yield (
            f"    {name} = gl.allocate_shared_memory({DTYPES[copy.buffer.dtype]}, [{groups}, {_shape(copy)}], {layout})"
        )
    yield "    fence_async_shared()"
    passed = ", ".join([*shared.passed, *([shared.chained] if shared.ahead else [])])
    yield "    gl.warp_specialize("
    yield "        ["
    yield from (f"            ({shared.function}_compute, ({passed}, {who}))," for who in range(groups))
    sides = ["_copy", *(["_ahead"] if shared.ahead else [])]
    yield from (f"            ({shared.function}{side}, ({passed},))," for side in sides)
    yield "        ],"
    _, held, copying = shared.roles.registers
    yield f"        [{', '.join(['4'] * (groups - 1) + ['1'] * len(sides))}],"
    yield f"        [{', '.join([str(held)] * (groups - 1) + [str(copying)] * len(sides))}],"
    yield "    )"
    yield ""
