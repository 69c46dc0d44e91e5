"""Prints the host side of a Triton file: what each kernel takes, and a function that checks, allocates and launches."""

from __future__ import annotations

import math
from collections.abc import Iterator

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.dtypes import table
from napkin_eq.tile.boxes import descriptor_names, pointed, roles_of
from napkin_eq.tile.guards import LEAST_STRETCH, Branch, Case, Dispatch, Needs
from napkin_eq.tile.identifiers import (
    Names,
    buffers,
    counter_argument,
    kernel_function,
    pointer_argument,
    size_argument,
)
from napkin_eq.tile.ir import Buffer, Copy, Kernel, Matrix, Plan
from napkin_eq.tile.printers import emitter

from .launching import BOXED, CHAINED, CHECK, FOUND, LAUNCH, PLACED, PROCESSORS

TORCH = table(lambda t: f"torch.{t.name}")
POINTER = table(lambda t: t.pointer)
MODULE = (
    "KERNELS", "INPUTS", "SIZES", "GIVEN", "CALLS", "LAST", "PREPARED", "check", "chained", "processors", "placed",
    "watched", "admitted",
    "chosen", "prepared", "run", "alike", "allocator", "Launch", "BoxedLaunch", "Ready", "TensorDescriptor",
    "TensorGuards", "_empty_strided_cuda", "gl", "types", "warnings",
)  # fmt: skip


@emitter("launcher")
def launcher(plan: Plan, header: tuple[str, ...] = ()) -> str:
    """Print the tables, the checks and `run`; the kernels' file has a head of its own, so `header` is not used."""
    return dispatched(Dispatch(plan.name, (Case(plan, Needs(most=plan.limits)),), 0))


def dispatched(dispatch: Dispatch) -> str:
    """Print the same for several plans among which sizes decide."""
    return "\n".join(["", *_tables(dispatch), CHECK, FOUND, *_parts(dispatch), *_Run(dispatch).text(), ""])


def _parts(dispatch: Dispatch) -> Iterator[str]:
    """Print what the launches of these plans need."""
    kernels = [kernel for case in dispatch.cases for kernel in case.plan.kernels]
    if any(not kernel.turn.alone for kernel in kernels):
        yield CHAINED
    if any(kernel.workers for kernel in kernels) or any(case.parts for case in dispatch.cases):
        yield PROCESSORS
    boxed = any(kernel.workers for kernel in kernels)
    yield PLACED.format(
        boxed=", boxed=False" if boxed else "", test=" and not (boxed and tensor.data_ptr() & 15)" if boxed else ""
    )
    if any(kernel.library is None for kernel in kernels):
        yield LAUNCH
    if boxed:
        yield BOXED


def _symbols(plan: Plan) -> tuple[Axis, ...]:
    found = [a for b in (*plan.inputs, *plan.outputs, *plan.scratch) for a in b.dims if a.size is None]
    return tuple({a.name: a for a in (*found, *(a for k in plan.kernels for a in k.symbols))}.values())


def _tables(dispatch: Dispatch) -> Iterator[str]:
    general = dispatch.cases[-1].plan
    yield (
        "# What each kernel takes, for compiling ahead of time: `:16` marks addresses and sizes that are multiples"
        " of 16."
    )
    yield "KERNELS = {"
    for kernel in (k for case in dispatch.cases for k in case.plan.kernels if k.library is None):
        takes = {
            name: f"tensordesc<{POINTER[copy.buffer.dtype]}{_block(copy)},{_swizzled(copy)}>"
            for name, copy in _boxes(kernel)
        }
        takes |= {pointer_argument(b): f"*{POINTER[b.dtype]}:16" for b in buffers(kernel) if b.name in pointed(kernel)}
        takes |= {size_argument(a): "i32:16" if a.multiple % 16 == 0 else "i32" for a in kernel.symbols}
        takes |= {counter_argument(kernel): "*i32:16"} if kernel.workers and kernel.workers.drawn else {}
        takes |= {} if kernel.turn.alone else {"CHAINED": "constexpr"}
        yield f'    "{kernel_function(kernel)}": {{'
        yield '        "signature": {'
        yield from (f'            "{name}": "{kind}",' for name, kind in takes.items())
        yield "        },"
        waiting = {} if kernel.turn.waits is None else {"launch_pdl": True}
        yield from (f'        "{option}": {value},' for option, value in (_options(kernel) | waiting).items())
        yield "    },"
    yield "}"
    yield "INPUTS = {"
    for buffer in general.inputs:
        dims = ", ".join(f'"{a.name}"' for a in buffer.dims) + ("," if len(buffer.dims) == 1 else "")
        yield f'    "{buffer.name}": ({TORCH[buffer.dtype]}, ({dims})),'
    yield "}"
    known = {a.name: a.size for b in general.inputs for a in b.dims if a.size is not None}
    pairs = ", ".join(f'"{name}": {size}' for name, size in known.items())
    yield f"SIZES = {{{pairs}}}"
    yield (
        "CALLS = {}  # what a call does, by the types, shapes, strides and devices of its arguments; and what tells"
        " that others are alike"
    )
    if general.inputs:
        yield "LAST = None, None  # of these the one that was called last"


class _Run:
    """The text of `run` and of what it prepares, once for each shape."""

    def __init__(self, dispatch: Dispatch) -> None:
        self.of, self.general = dispatch, dispatch.cases[-1].plan
        plans = [case.plan for case in dispatch.cases]
        taken = [kernel_function(k) for plan in plans for k in plan.kernels]
        self.names = Names((*MODULE, *taken, *(f"prepared_{at}" for at in range(len(plans)))))
        arrays = dict.fromkeys(b.name for plan in plans for b in (*plan.inputs, *plan.outputs, *plan.scratch))
        self.local = {name: self.names.fresh(name) for name in arrays}
        counted = {c.part for case in dispatch.cases for c in case.parts}
        symbols = {a.name: a for plan in (self.general, *plans) for a in _symbols(plan)}
        # What a kernel reads by descriptors
        self.boxed = {c.buffer.name for plan in plans for k in plan.kernels for _, c in _boxes(k)}
        self.size = {name: self.names.fresh(size_argument(a)) for name, a in symbols.items()}
        self.symbols = [a for name, a in symbols.items() if name not in counted]  # those that a call gives
        self.bound = {a.name for b in self.general.inputs for a in b.dims}
        self.device, self.sizes, self.key, self.call = (
            self.names.fresh(name) for name in ("device", "sizes", "key", "call")
        )
        self.found, self.alike, self.empty = (self.names.fresh(name) for name in ("found", "same", "empty"))
        self.ahead, self.counters, self.packed = (self.names.fresh(name) for name in ("ahead", "counters", "packed"))
        self.direct = self.names.fresh("direct")
        self.at = {name: self.names.fresh(f"{local}_at") for name, local in self.local.items()}
        self.launches = [
            self.names.fresh(f"launch_{number}") for number in range(max(len(plan.kernels) for plan in plans))
        ]

    @property
    def inputs(self) -> list[str]:
        return [self.local[b.name] for b in self.general.inputs]

    def text(self) -> Iterator[str]:
        if given := self._given():
            pairs = ", ".join(f'"{a.name}": "{name}"' for a, name in zip(self._open(), given, strict=True))
            yield f"\nGIVEN = {{{pairs}}}  # sizes that no input has, and what they are called as arguments"
            yield ""
        yield from self._admitted()
        if len(self.of.cases) > 1:
            yield from self._chosen()
        for at, case in enumerate(self.of.cases):
            yield from self._prepared(case, self._name(at))
        yield from self._called()

    def _name(self, at: int) -> str:
        return "prepared" if len(self.of.cases) == 1 else f"prepared_{at}"

    def _open(self) -> list[Axis]:
        return [a for a in self.symbols if a.name not in self.bound]

    def _given(self) -> list[str]:
        return [self.size[a.name] for a in self._open()]

    def _admitted(self) -> Iterator[str]:
        """Print what is done the first time that arguments are of some types, shapes, strides and devices."""
        arguments = [self.key, *(self.inputs or [self.device]), *self._given()]
        yield f"\ndef admitted({', '.join(arguments)}):"
        yield '    """Check the arguments of a call and return what it does, to be kept for others that are alike."""'
        if self.inputs:
            first = self.inputs[0]
            yield f"    {self.device} = {first}.device if isinstance({first}, torch.Tensor) else None"
            yield f"    {self.sizes} = dict(SIZES)"
            yield from (
                f'    check("{b.name}", {self.local[b.name]}, {self.device}, {self.sizes})' for b in self.general.inputs
            )
            yield from (
                f'    {self.size[a.name]} = {self.sizes}["{a.name}"]' for a in self.symbols if a.name in self.bound
            )
        for axis in self.symbols:
            name = self.size[axis.name]
            if axis.name not in self.bound:
                yield f"    if type({name}) is not int or {name} < 1:"
                yield (
                    f'        raise ValueError(f"size {axis.name}: expected a whole number of at least 1, found'
                    f' {{{name}!r:.60}}")'
                )
            if (multiple := next((a.multiple for a in _symbols(self.general) if a == axis), 1)) > 1:
                yield f"    if {name} % {multiple}:"
                yield (
                    f'        raise ValueError(f"size {axis.name}: expected a multiple of {multiple}, found'
                    f' {{{name}}}")'
                )
            if (most := self.of.cases[-1].needs.most.get(axis.name)) is not None:
                yield f"    if {name} > {most}:"
                yield f'        raise ValueError(f"size {axis.name}: expected at most {most}, found {{{name}}}")'
        sizes = [self.size[a.name] for a in self.symbols]
        taken = "prepared" if len(self.of.cases) == 1 else f"PREPARED[chosen({', '.join(sizes)})]"
        yield f"    {self.call} = {taken}({', '.join([self.device, *sizes])})"
        if self.inputs:
            yield (
                f"    {self.alike} = alike({', '.join(self.inputs)})"
                if not self._given()
                else f"    {self.alike} = None"
            )
            placed = ", ".join(
                f'placed("{b.name}", {self.local[b.name]}{", True" * (b.name in self.boxed)})'
                for b in self.general.inputs
            )
            apart = " and ".join(f"{a}.is_contiguous() and not {a}.is_neg()" for a in self.inputs)
            if self.boxed:
                apart += "".join(
                    f" and not {self.local[b.name]}.data_ptr() & 15"
                    for b in self.general.inputs
                    if b.name in self.boxed
                )
            yield f"    if not ({apart}):"
            yield f"        {self.packed}, {self.alike} = {self.call}, None"
            yield ""
            yield f"        def {self.call}({', '.join(self.inputs)}):"
            yield f"            return {self.packed}({placed})"
            yield ""
        yield "    if len(CALLS) >= 4096:"
        yield "        CALLS.clear()"
        found = f"{self.alike}, {self.call}" if self.inputs else self.call
        yield f"    CALLS[{self.key}] = {self.found} = {found}"
        yield f"    return {self.found}"
        yield ""

    def _chosen(self) -> Iterator[str]:
        """Print the tests of sizes that choose among the plans."""
        yield f"\ndef chosen({', '.join(self.size[a.name] for a in self.symbols)}):"
        yield (
            '    """Return the number of the plan for these sizes, by the tests of sizes that tell which is fastest;'
            ' each is right where it is taken."""'
        )
        yield from self._branch(self.of.tree, 1)
        yield ""

    def _branch(self, at: Branch | int, depth: int) -> Iterator[str]:
        if isinstance(at, int):
            yield f"{'    ' * depth}return {at}"
            return
        sizes = [self.size[name] for name in at.test.axes]
        if at.test.divisor > 1:
            said = " and ".join(f"{size} % {at.test.divisor} == 0" for size in sizes)
        else:
            said = f"{' * '.join(sizes)} <= {at.test.most}"
        yield f"{'    ' * depth}if {said}:"
        yield from self._branch(at.yes, depth + 1)
        yield from self._branch(at.no, depth)

    def _prepared(self, case: Case, function: str) -> Iterator[str]:
        """Print what is done once for each shape: the launches of a plan, and the function that a call then is."""
        plan = case.plan
        yield f"\ndef {function}({', '.join([self.device, *(self.size[a.name] for a in self.symbols)])}):"
        yield (
            '    """Return the function that allocates and launches, with all that sizes and the device say worked'
            ' out."""'
        )
        for parts in case.parts:
            counts = [_blocks_of(self.size[a] if isinstance(a, str) else str(a), tile) for a, tile in parts.blocks]
            held = f"processors({self.device})" + (f" // ({' * '.join(counts)})" if counts else "")
            worth = f"triton.cdiv({self.size[parts.axis]}, {LEAST_STRETCH})"
            yield f"    {self.size[parts.part]} = max(1, min({parts.most}, {held}, {worth}))"
        if not all(kernel.turn.alone for kernel in plan.kernels):
            yield f"    {self.ahead} = chained({self.device})"
        launches = {}
        for number, kernel in enumerate(plan.kernels):
            if kernel.library is None:
                launches[kernel.name] = self.launches[number]
                yield from self._launch(kernel, self.launches[number])
        yield f"    {self.empty} = allocator({self.device})"
        yield ""
        yield f"    def {self.call}({', '.join(self.inputs)}):"
        for buffer in (*plan.outputs, *plan.scratch):
            shape, strides = (", ".join(numbers) + "," * (len(buffer.dims) == 1) for numbers in self._packed(buffer))
            yield f"        {self.local[buffer.name]} = {self.empty}(({shape}), ({strides}), {TORCH[buffer.dtype]})"
        counted = [kernel.name for kernel in plan.kernels if kernel.workers and kernel.workers.drawn]
        if counted:  # rows of four numbers, so that each counter lies at a multiple of 16 bytes
            yield f"        {self.counters} = torch.zeros(({len(counted)}, 4), dtype=torch.int32, device={self.device})"
        yield from self._addresses(plan)
        for kernel in plan.kernels:
            if (product := kernel.library) is not None:
                left, right, out = (_matrix(m, self.local) for m in (product.left, product.right, product.out))
                yield (
                    f"        {product.function}({left}, {right}, out={out})  # trusted: a library's kernel, not a"
                    " proved one"
                )
                continue
            arrays = _arrays(kernel)
            drawn = [f"({self.counters}[{at}],)" for at, name in enumerate(counted) if name == kernel.name]
            listed = (", ".join(names[a] for a in arrays) + "," * (len(arrays) == 1) for names in (self.local, self.at))
            given = [self.direct, *(f"({names})" for names in listed), *drawn]
            yield f"        {launches[kernel.name]}({', '.join(given)})"
        yield f"        return {', '.join(self.local[b.name] for b in plan.outputs)}"
        yield ""
        yield f"    return {self.call}"
        yield ""

    def _addresses(self, plan: Plan) -> Iterator[str]:
        """Print where the arrays begin that kernels are launched with, and whether the driver may be handed that."""
        taken = dict.fromkeys(a for kernel in plan.kernels if kernel.library is None for a in _arrays(kernel))
        if not taken:
            return
        yield from (f"        {self.at[name]} = {self.local[name]}.data_ptr()" for name in taken)
        bits = " | ".join(self.at[name] for name in taken)
        yield f"        {self.direct} = not ({bits}) & 15 and not watched()"

    def _extent(self, axis: Axis) -> str:
        return self.size[axis.name] if axis.size is None else str(axis.size)

    def _launch(self, kernel: Kernel, name: str) -> Iterator[str]:
        """Print the launch of a kernel: its blocks, sizes, descriptors and options."""
        counts = []
        for coord in (kernel.coord(name) for name in kernel.grid):
            counts.append(
                str(coord.blocks) if coord.blocks is not None else _blocks_of(self.size[coord.axis.name], coord.tile)
            )
        blocks = " * ".join(count for count in counts if count != "1") or "1"
        if kernel.workers:
            most = f", {kernel.workers.programs}" if kernel.workers.programs else ""
            resident = roles_of(kernel).resident
            blocks = f"min({blocks}{most}, processors({self.device}){f' * {resident}' if resident > 1 else ''})"
        sizes = [self.size[a.name] for a in kernel.symbols]
        options = [f"{option}={value}" for option, value in _options(kernel).items()]
        if not kernel.turn.alone:
            options.insert(0, f"flags=({self.ahead},)")
            options += [f"launch_pdl={self.ahead}"] * (kernel.turn.waits is not None)
        given = [kernel_function(kernel), blocks, f"({', '.join(sizes)}{',' * (len(sizes) == 1)})"]
        boxes = [f"({self._extents(c)}, {_block(c)}, gl.{_swizzled(c)})" for _, c in _boxes(kernel)]
        if not boxes:
            yield f"    {name} = Launch({', '.join([*given, *options])})"
            return
        yield f"    {name} = BoxedLaunch("
        yield from (f"        {argument}," for argument in given)
        yield "        boxes=("
        yield from (f"            {box}," for box in boxes)
        yield "        ),"
        yield from (f"        {option}," for option in options)
        yield "    )"

    def _extents(self, copy: Copy) -> str:
        """Return the sizes and strides of an array in the order of a box."""
        sizes, strides = self._packed(copy.buffer)
        return f"[{', '.join(sizes[at] for at in copy.order)}], [{', '.join(strides[at] for at in copy.order)}]"

    def _packed(self, buffer: Buffer) -> tuple[list[str], list[str]]:
        """Return the sizes of an array and the strides that it has where nothing lies between its elements."""
        sizes = [self._extent(a) for a in buffer.dims]
        strides = [" * ".join(sizes[at + 1 :]) or "1" for at in range(len(sizes))]
        return sizes, [
            str(math.prod(map(int, s.split(" * ")))) if s.replace(" * ", "").isdigit() else s for s in strides
        ]

    def _called(self) -> Iterator[str]:
        """Print `run`: what is known of arguments like these is found and done."""
        if len(self.of.cases) > 1:
            yield f"\nPREPARED = ({', '.join(self._name(at) for at in range(len(self.of.cases)))})"
            yield ""
        given = self._given()
        place = [] if self.inputs else [f'{self.device}="cuda"']
        yield ""
        yield f"def run({', '.join([*self.inputs, *(['*'] if given or place else []), *given, *place])}):"
        yield f'    """{_described(self.general)}"""'
        key, call, alike, found = self.key, self.call, self.alike, self.found
        if self.inputs:
            told = [part for b in self.general.inputs for part in _told(self.local[b.name], b.name in self.boxed)]
            bits = " | ".join(f"{self.local[b.name]}.data_ptr()" for b in self.general.inputs if b.name in self.boxed)
            yield "    global LAST"
            yield f"    {alike}, {call} = LAST"
            yield (
                f"    if {alike} is None or not"
                f" {alike}.check({', '.join(self.inputs)}){f' or ({bits}) & 15' if bits else ''}:"
            )
            yield "        try:"
            yield f"            {key} = ({', '.join([*told, *given])},)"
            yield f"            {found} = CALLS.get({key})"
            yield (
                "        except (AttributeError, RuntimeError):  # what is no tensor, or has no strides, is refused by"
                " name"
            )
            yield f"            {key} = {found} = None"
            yield f"        LAST = {alike}, {call} = {found} or admitted({', '.join([key, *self.inputs, *given])})"
            yield f"    {self.device} = {self.inputs[0]}.device"
        else:
            yield f"    {self.device} = torch.device({self.device})"
            yield f'    if {self.device}.type == "cuda" and {self.device}.index is None:'
            yield f'        {self.device} = torch.device("cuda", torch.cuda.current_device())'
            yield f"    {key} = ({', '.join([self.device, *given])},)"
            yield f"    {call} = CALLS.get({key}) or admitted({', '.join([key, self.device, *given])})"
        yield f"    if {self.device}.index is not None and {self.device}.index != torch.cuda.current_device():"
        yield f"        with torch.cuda.device({self.device}):"
        yield f"            return {call}({', '.join(self.inputs)})"
        yield f"    return {call}({', '.join(self.inputs)})"


def _told(name: str, boxed: bool) -> list[str]:
    """Return what of an argument decides how it is read; of one that is read by descriptors also whether its address
    may be one's.
    """
    return [
        f"{name}.dtype",
        f"{name}.shape",
        f"{name}.stride()",
        f"{name}.device",
        f"{name}.is_neg()",
        *[f"not {name}.data_ptr() & 15"] * boxed,
    ]


def _blocks_of(size: str, tile: int) -> str:
    if size.isdigit():
        return str(-(-int(size) // tile))
    return size if tile == 1 else f"triton.cdiv({size}, {tile})"


def _matrix(matrix: Matrix, local: dict[str, str]) -> str:
    """Return an array as matrices, without a copy."""
    shown = f"{local[matrix.buffer]}.view({', '.join(map(str, matrix.sizes))})"
    return (
        shown
        if matrix.order == tuple(sorted(matrix.order))
        else f"{shown}.permute({', '.join(map(str, matrix.order))})"
    )


def _arrays(kernel: Kernel) -> list[str]:
    """Return the arrays that a launch is given: those of which it takes boxes first."""
    return [c.buffer.name for _, c in _boxes(kernel)] + [b.name for b in buffers(kernel) if b.name in pointed(kernel)]


def _options(kernel: Kernel) -> dict[str, int]:
    """Return the launch options: where groups of warps share a program, four warps are asked for and the rest is the
    kernel's.
    """
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
    return (
        f"NVMMASharedLayout(swizzle_byte_width={width}, element_bitwidth=16, rank={rank}, transposed=False,"
        " fp4_padded=False, cga_layout=[])"
    )


def _described(plan: Plan) -> str:
    return f"Return {_listed(plan.outputs)} of {_listed(plan.inputs) if plan.inputs else 'nothing'}."


def _listed(of: tuple[Buffer, ...]) -> str:
    return ", ".join(f"{b.name}[{', '.join(a.name for a in b.dims)}]" for b in of)
