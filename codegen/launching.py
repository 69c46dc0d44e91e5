"""What every launcher has, as text: checks of arguments, and launches that are prepared the first time and then handed
to the driver.
"""

CHECK = '''

def check(name, tensor, device, sizes):
    """Raise unless an argument is what the kernels take; a size not yet known is read off it."""
    dtype, dims = INPUTS[name]
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"{name}: expected a torch.Tensor, found {type(tensor).__name__}")
    if tensor.layout != torch.strided:
        raise TypeError(f"{name}: expected an array with strides, found layout {tensor.layout}")
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
        hint = "on a CPU set TRITON_INTERPRET=1 before triton is imported"
        raise ValueError(f"{name}: expected a GPU, found device {device}; {hint}")
'''
FOUND = '''
try:  # as in the code that torch.compile writes: quicker than looking at each argument, and than torch.empty
    from torch._C._dynamo.guards import TensorGuards, _empty_strided_cuda
except ImportError:
    TensorGuards = _empty_strided_cuda = None


def alike(*arrays):
    """Return what tells in one step whether other arrays have these types, shapes, strides and devices.

    None where torch has no such thing.
    """
    try:
        return TensorGuards(*arrays, dynamic_dims_sizes=None, dynamic_dims_strides=None)
    except (TypeError, RuntimeError):
        return None


def allocator(device):
    """Return what makes an array of a shape, strides and type on a device, the current one where it is a GPU."""
    if device.type == "cuda" and _empty_strided_cuda is not None:
        return _empty_strided_cuda
    return lambda shape, strides, dtype: torch.empty_strided(shape, strides, dtype=dtype, device=device)
'''
CHAINED = '''
def chained(device):
    """Tell whether a kernel may be launched while the one before it still runs: NVIDIA GPUs from capability 9.0 on."""
    if torch.version.cuda is None or triton.knobs.runtime.interpret or torch.device(device).type != "cuda":
        return False
    return torch.cuda.get_device_capability(device) >= (9, 0)
'''
PROCESSORS = '''
def processors(device):
    """Return how many processors a GPU has, in the interpreter as many as it runs at a time."""
    return torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 1
'''
PLACED = '''
def placed(name, tensor{boxed}):
    """Return an argument as the kernels read it: packed, not negated where it is read; where it is not, a copy.

    That a copy is made is said.
    """
    if tensor.is_contiguous() and not tensor.is_neg(){test}:
        return tensor
    found = f"strides {{tensor.stride()}} of shape {{tuple(tensor.shape)}}, or its address"
    warnings.warn(f"{{name}}: {{found}}, are copied into a packed array", stacklevel=4)
    tensor = tensor.resolve_neg()
    return tensor.clone(memory_format=torch.contiguous_format)
'''
LAUNCH = '''
def watched():
    """Tell whether somebody, a profiler say, is to be told of launches: then Triton launches."""
    runtime = triton.knobs.runtime
    enter, leave = runtime.launch_enter_hook, runtime.launch_exit_hook
    hooks = [hook for hook in (enter, leave) if hook is not None]
    return any(getattr(hook, "calls", True) for hook in hooks)


class Launch:
    """A kernel's launch for given sizes: Triton compiles it when it is first called.

    From then on the driver is handed what was compiled.
    """

    HANDED = ("3.6.0",)  # versions of Triton whose way of handing a kernel to the driver is known

    def __init__(self, kernel, blocks, sizes, flags=(), **options):
        self.kernel, self.blocks, self.sizes, self.flags, self.options = kernel, blocks, sizes, flags, options
        self.ready, self.refused = None, False

    def __call__(self, direct, arrays, addresses, drawn=()):
        if direct and (ready := self.ready) is not None:
            try:
                self.handed(ready, arrays, addresses, drawn)
                return
            # It takes other arguments than are known here, and launched nothing.
            except (AttributeError, OverflowError, SystemError, TypeError):
                self.ready, self.refused = None, True
        made = self.kernel[(self.blocks,)](*self.described(arrays), *self.sizes, *drawn, *self.flags, **self.options)
        if self.ready is None and not self.refused and made is not None and not any(a & 15 for a in addresses):
            self.ready = Ready.of(made, arrays[0].device)

    def described(self, arrays):
        return arrays

    def handed(self, ready, arrays, addresses, drawn):
        ready.launch(
            self.blocks, 1, 1, ready.stream(ready.device), *ready.fixed, *addresses, *self.sizes,
            *[d.data_ptr() for d in drawn], *self.flags
        )


class Ready:
    """How the driver is handed a kernel that Triton has compiled.

    Nothing of it changes from call to call but stream and addresses.
    """

    def __init__(self, launch, metadata, made, launcher, device):
        self.launch, self.metadata = launch, metadata
        packed = made.packed_metadata
        flags = launcher.launch_cooperative_grid, launcher.launch_pdl
        self.fixed = (made.function, *flags, None, None, packed, None, None, None)
        self.stream, self.device = triton.runtime.driver.active.get_current_stream, device.index

    @staticmethod
    def of(made, device):
        """Return it, None where another way of launching is taken: other Tritons or drivers, scratch memory."""
        launcher = getattr(made, "run", None)
        if triton.__version__ not in Launch.HANDED or type(launcher).__name__ != "CudaLauncher":
            return None
        if launcher.global_scratch_size or launcher.profile_scratch_size:
            return None
        launch, metadata = launcher.launch, ()
        if isinstance(launch, types.FunctionType):  # the driver's own, made into one that encodes descriptors anew
            cells = dict(zip(launch.__code__.co_freevars, launch.__closure__ or ()))
            if not {"launcher", "tensordesc_meta"} <= set(cells):
                return None
            launch, metadata = cells["launcher"].cell_contents, cells["tensordesc_meta"].cell_contents
        return Ready(launch, metadata, made, launcher, device)
'''
BOXED = '''
class BoxedLaunch(Launch):
    """A launch that hands over descriptors of its first arrays, encoded once for their addresses."""

    def __init__(self, kernel, blocks, sizes, flags=(), boxes=(), **options):
        super().__init__(kernel, blocks, sizes, flags, **options)
        self.boxes, self.encoded = boxes, {}

    def described(self, arrays):
        return (*(TensorDescriptor(array, *box) for array, box in zip(arrays, self.boxes)), *arrays[len(self.boxes) :])

    def handed(self, ready, arrays, addresses, drawn):
        boxed = addresses[: len(self.boxes)]
        if (given := self.encoded.get(boxed)) is None:
            from triton.backends.nvidia.driver import make_tensordesc_arg

            if len(self.encoded) >= 256:
                self.encoded.clear()
            # Arrays of numbers in memory: each holds the address, sizes and strides, all of which it is found by.
            boxes = [TensorDescriptor(array, *box) for array, box in zip(arrays, self.boxes)]
            made = [make_tensordesc_arg(box, ready.metadata[at]) for at, box in enumerate(boxes)]
            given = self.encoded[boxed] = tuple(part for parts in made for part in parts)
        super().handed(ready, arrays, given + addresses[len(boxed) :], drawn)
'''
