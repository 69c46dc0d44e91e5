"""Prints the host side of a Triton file: what each kernel takes, and a function that checks, allocates and launches."""

from __future__ import annotations

import math
from collections.abc import Iterator

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.dtypes import table
from napkin_eq.tile.boxes import descriptor_names, pointed, roles_of
from napkin_eq.tile.identifiers import Names, buffers, counter_argument, kernel_function, pointer_argument, size_argument
from napkin_eq.tile.ir import Buffer, Copy, Kernel, Matrix, Plan
from napkin_eq.tile.printers import emitter

TORCH = table(lambda t: f"torch.{t.name}")
POINTER = table(lambda t: t.pointer)
MODULE = ("KERNELS", "INPUTS", "SIZES", "check", "chained", "run")
CHECK = '''

def check(name, tensor, device, sizes):
    """Raise unless an argument is what the kernels take; a size not yet known is read off it."""
    dtype, dims = INPUTS[name]
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"{name}: expected a torch.Tensor, found {type(tensor).__name__}")
    if tensor.dtype != dtype:
        raise TypeError(f"{name}: expected dtype {dtype}, found {tensor.dtype}")
    shape = tuple(tensor.shape)
    if len(shape) == len(dims):
        sizes.update({dim: found for dim, found in zip(dims, shape) if dim not in sizes})
    if shape != tuple(sizes.get(dim) for dim in dims) or 0 in shape:
        expected = ", ".join(f"{dim}={sizes.get(dim, 'any')}" for dim in dims)
        raise ValueError(f"{name}: expected shape ({expected}), each at least 1, found {shape}")
    if tensor.device != device:
        raise ValueError(f"{name}: expected device {device}, as the first argument, found {tensor.device}")
    if device.type != "cuda" and not triton.knobs.runtime.interpret:
        raise ValueError(f"{name}: expected a GPU, found device {device}; on a CPU set TRITON_INTERPRET=1 before triton is imported")
    if not tensor.is_contiguous():
        raise ValueError(f"{name}: expected a contiguous tensor, found strides {tensor.stride()} for shape {shape}; call .contiguous()")
'''
CHAINED = '''
def chained(device):
    """Tell whether a kernel may be launched while the one before it still runs: NVIDIA GPUs of compute capability 9.0 and later."""
    if torch.version.cuda is None or triton.knobs.runtime.interpret or torch.device(device).type != "cuda":
        return False
    return torch.cuda.get_device_capability(device) >= (9, 0)
'''


@emitter("launcher")
def launcher(plan: Plan, header: tuple[str, ...] = ()) -> str:
    """Print the tables, the checks and `run`; the kernels' file has a head of its own, so `header` is not used."""
    return "\n".join(["", *_tables(plan), CHECK, *([CHAINED] if _chained(plan) else []), *_run(plan), ""])


def _chained(plan: Plan) -> bool:
    """Tell whether any kernel is launched before the one before it has ended."""
    return not all(kernel.turn.alone for kernel in plan.kernels)


def _symbols(plan: Plan) -> tuple[Axis, ...]:
    found = [a for b in (*plan.inputs, *plan.outputs, *plan.scratch) for a in b.dims if a.size is None]
    return tuple({a.name: a for a in (*found, *(a for k in plan.kernels for a in k.symbols))}.values())


def _tables(plan: Plan) -> Iterator[str]:
    yield "# What each kernel takes, for compiling ahead of time: `:16` marks addresses and sizes that are multiples of 16."
    yield "KERNELS = {"
    for kernel in (k for k in plan.kernels if k.library is None):
        takes = {name: f"tensordesc<{POINTER[copy.buffer.dtype]}{_block(copy)},{_swizzled(copy)}>" for name, copy in _boxes(kernel)}
        takes |= {pointer_argument(b): f"*{POINTER[b.dtype]}:16" for b in buffers(kernel) if b.name in pointed(kernel)}
        takes |= {size_argument(a): "i32:16" if a.multiple % 16 == 0 else "i32" for a in kernel.symbols}
        takes |= {counter_argument(kernel): "*i32:16"} if kernel.workers and kernel.workers.drawn else {}
        takes |= {} if kernel.turn.alone else {"CHAINED": "constexpr"}
        yield f'    "{kernel_function(kernel)}": {{'
        yield '        "signature": {'
        yield from (f'            "{name}": "{kind}",' for name, kind in takes.items())
        yield "        },"
        yield from (f'        "{option}": {value},' for option, value in _options(kernel).items())
        yield "    },"
    yield "}"
    yield "INPUTS = {"
    for buffer in plan.inputs:
        dims = ", ".join(f'"{a.name}"' for a in buffer.dims) + ("," if len(buffer.dims) == 1 else "")
        yield f'    "{buffer.name}": ({TORCH[buffer.dtype]}, ({dims})),'
    yield "}"
    known = {a.name: a.size for b in plan.inputs for a in b.dims if a.size is not None}
    pairs = ", ".join(f'"{name}": {size}' for name, size in known.items())
    yield f"SIZES = {{{pairs}}}"


def _run(plan: Plan) -> Iterator[str]:
    names = Names((*MODULE, *(kernel_function(k) for k in plan.kernels)))
    local = {b.name: names.fresh(b.name) for b in (*plan.inputs, *plan.outputs, *plan.scratch)}
    symbols = _symbols(plan)
    size = {a.name: names.fresh(size_argument(a)) for a in symbols}
    bound = {a.name for b in plan.inputs for a in b.dims}
    device, sizes, ahead, counters = (names.fresh(name) for name in ("device", "sizes", "ahead", "counters"))
    free = [f"{size[a.name]}" for a in symbols if a.name not in bound]
    place = [] if plan.inputs else [f'{device}="cuda"']
    arguments = ", ".join([*(local[b.name] for b in plan.inputs), *(["*"] if free or place else []), *free, *place])
    yield ""
    yield f"def run({arguments}):"
    yield f'    """{_described(plan)}"""'
    if plan.inputs:
        first = local[plan.inputs[0].name]
        yield f"    {device} = {first}.device if isinstance({first}, torch.Tensor) else None"
        yield f"    {sizes} = dict(SIZES)"
        yield from (f'    check("{b.name}", {local[b.name]}, {device}, {sizes})' for b in plan.inputs)
        yield from (f'    {size[a.name]} = {sizes}["{a.name}"]' for a in symbols if a.name in bound)
        for axis in symbols:
            if axis.multiple > 1:
                yield f"    if {size[axis.name]} % {axis.multiple}:"
                yield f'        raise ValueError(f"size {axis.name}: expected a multiple of {axis.multiple}, found {{{size[axis.name]}}}")'
    for buffer in (*plan.outputs, *plan.scratch):
        shape = ", ".join(size.get(a.name, str(a.size)) for a in buffer.dims) + ("," if len(buffer.dims) == 1 else "")
        yield f"    {local[buffer.name]} = torch.empty(({shape}), dtype={TORCH[buffer.dtype]}, device={device})"
    counted = [kernel.name for kernel in plan.kernels if kernel.workers and kernel.workers.drawn]
    if counted:  # rows of four numbers, so that each counter lies at a multiple of 16 bytes
        yield f"    {counters} = torch.zeros(({len(counted)}, 4), dtype=torch.int32, device={device})"
    yield f"    with torch.cuda.device_of({local[(plan.inputs or plan.outputs)[0].name]}):"
    if _chained(plan):
        yield f"        {ahead} = chained({device})"
    for kernel in plan.kernels:
        more = [*(f"{counters}[{at}]" for at, name in enumerate(counted) if name == kernel.name), *([] if kernel.turn.alone else [ahead])]
        yield from _launch(kernel, local, size, more, [f"launch_pdl={ahead}"] * (kernel.turn.waits is not None))
    yield f"    return {', '.join(local[b.name] for b in plan.outputs)}"


def _launch(kernel: Kernel, local: dict[str, str], size: dict[str, str], more: list[str], options: list[str]) -> Iterator[str]:
    """Print the launch of a kernel; `more` are its counter, and whether the next one may be launched before it ends."""
    if (call := kernel.library) is not None:
        left, right, out = (_matrix(m, local) for m in (call.left, call.right, call.out))
        yield f"        {call.function}({left}, {right}, out={out})  # trusted: a library's kernel, not a proved one"
        return
    counts = []
    for coord in (kernel.coord(name) for name in kernel.grid):
        if coord.blocks is not None:
            counts.append(str(coord.blocks))
        else:
            axis = size[coord.axis.name]
            counts.append(axis if coord.tile == 1 else f"triton.cdiv({axis}, {coord.tile})")
    blocks = " * ".join(count for count in counts if count != "1") or "1"
    if kernel.workers:
        held = "torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count"
        most = f", {kernel.workers.programs}" if kernel.workers.programs else ""
        blocks = f"min({blocks}{most}, {held}{f' * {resident}' if (resident := roles_of(kernel).resident) > 1 else ''})"
    boxes = [f"TensorDescriptor({local[c.buffer.name]}, {_extents(c, size)}, {_block(c)}, gl.{_swizzled(c)})" for _, c in _boxes(kernel)]
    pointers = [local[b.name] for b in buffers(kernel) if b.name in pointed(kernel)]
    options = [*(f"{option}={value}" for option, value in _options(kernel).items()), *options]
    arguments = [*boxes, *pointers, *(size[a.name] for a in kernel.symbols), *more, *options]
    if not boxes:
        yield f"        {kernel_function(kernel)}[({blocks},)]({', '.join(arguments)})"
        return
    yield f"        {kernel_function(kernel)}[({blocks},)]("
    yield from (f"            {argument}," for argument in arguments)
    yield "        )"


def _matrix(matrix: Matrix, local: dict[str, str]) -> str:
    """Return an array as matrices, without a copy."""
    shown = f"{local[matrix.buffer]}.view({', '.join(map(str, matrix.sizes))})"
    return shown if matrix.order == tuple(sorted(matrix.order)) else f"{shown}.permute({', '.join(map(str, matrix.order))})"


def _options(kernel: Kernel) -> dict[str, int]:
    """Return the launch options: where groups of warps share a program, four warps are asked for and the rest is the kernel's."""
    fused = {"enable_fp_fusion": False} if kernel.apart else {}
    if kernel.workers is None:
        return {"num_warps": kernel.warps, "num_stages": kernel.stages, **fused}
    return {"num_warps": 4, "num_stages": kernel.stages, "maxnreg": roles_of(kernel).registers[0], **fused}


def _boxes(kernel: Kernel) -> list[tuple[str, Copy]]:
    return [(name, copy) for copy, name in descriptor_names(kernel).items()] if kernel.workers else []


def _block(copy: Copy) -> list[int]:
    return [1] * (len(copy.order) - 2) + list(copy.box)


def _swizzled(copy: Copy) -> str:
    width, rank = min(128, copy.box[1] * 2), len(copy.order)
    return f"NVMMASharedLayout(swizzle_byte_width={width}, element_bitwidth=16, rank={rank}, transposed=False, fp4_padded=False, cga_layout=[])"


def _extents(copy: Copy, size: dict[str, str]) -> str:
    """Return the sizes and strides of an array in the order of a box."""
    sizes = [size.get(a.name, str(a.size)) for a in copy.buffer.dims]
    strides = [" * ".join(sizes[at + 1 :]) or "1" for at in range(len(sizes))]
    known = [str(math.prod(map(int, s.split(" * ")))) if s.replace(" * ", "").isdigit() else s for s in strides]
    return f"[{', '.join(sizes[at] for at in copy.order)}], [{', '.join(known[at] for at in copy.order)}]"


def _described(plan: Plan) -> str:
    return f"Return {_listed(plan.outputs)} of {_listed(plan.inputs) if plan.inputs else 'nothing'}."


def _listed(of: tuple[Buffer, ...]) -> str:
    return ", ".join(f"{b.name}[{', '.join(a.name for a in b.dims)}]" for b in of)
