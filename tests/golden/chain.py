# The kernels of chain, written by napkin_eq.
#

import types
import warnings

import torch
import triton
import triton.language as tl


@triton.jit
def first_kernel(A_ptr, S_ptr, CHAINED: tl.constexpr):
    """One program per block of: x in 256s."""
    BLOCK_X: tl.constexpr = 256
    if CHAINED:
        tl.extra.cuda.gdc_launch_dependents()
    x_start = tl.program_id(0) * BLOCK_X
    xs = x_start + tl.arange(0, BLOCK_X)
    x_in = xs < 1000
    a = tl.load(A_ptr + xs, mask=x_in, other=0.0)
    t0 = 0.0 + a
    tl.store(S_ptr + xs, t0, mask=x_in)


@triton.jit
def second_kernel(B_ptr, S_ptr, out_ptr, CHAINED: tl.constexpr):
    """One program per block of: x in 256s."""
    BLOCK_X: tl.constexpr = 256
    x_start = tl.program_id(0) * BLOCK_X
    xs = x_start + tl.arange(0, BLOCK_X)
    x_in = xs < 1000
    b = tl.load(B_ptr + xs, mask=x_in, other=0.0)
    if CHAINED:
        tl.extra.cuda.gdc_wait()
    s = tl.load(S_ptr + xs, mask=x_in, other=0.0)
    t0 = 0.0 + b
    t1 = t0 + s
    tl.store(out_ptr + xs, t1, mask=x_in)


# What each kernel takes, for compiling ahead of time: `:16` marks addresses and sizes that are multiples of 16.
KERNELS = {
    "first_kernel": {
        "signature": {
            "A_ptr": "*fp32:16",
            "S_ptr": "*fp32:16",
            "CHAINED": "constexpr",
        },
        "num_warps": 4,
        "num_stages": 2,
    },
    "second_kernel": {
        "signature": {
            "B_ptr": "*fp32:16",
            "S_ptr": "*fp32:16",
            "out_ptr": "*fp32:16",
            "CHAINED": "constexpr",
        },
        "num_warps": 4,
        "num_stages": 2,
        "launch_pdl": True,
    },
}
INPUTS = {
    "A": (torch.float32, ("x",)),
    "B": (torch.float32, ("x",)),
}
SIZES = {"x": 1000}
CALLS = {}  # what a call does, by the types, shapes, strides and devices of its arguments; and what tells that others are alike
LAST = None, None  # of these the one that was called last


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


def chained(device):
    """Tell whether a kernel may be launched while the one before it still runs: NVIDIA GPUs from capability 9.0 on."""
    if torch.version.cuda is None or triton.knobs.runtime.interpret or torch.device(device).type != "cuda":
        return False
    return torch.cuda.get_device_capability(device) >= (9, 0)


def placed(name, tensor):
    """Return an argument as the kernels read it: packed, not negated where it is read; where it is not, a copy.

    That a copy is made is said.
    """
    if tensor.is_contiguous() and not tensor.is_neg():
        return tensor
    found = f"strides {tensor.stride()} of shape {tuple(tensor.shape)}, or its address"
    warnings.warn(f"{name}: {found}, are copied into a packed array", stacklevel=4)
    tensor = tensor.resolve_neg()
    return tensor.clone(memory_format=torch.contiguous_format)


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


def admitted(key, A, B):
    """Check the arguments of a call and return what it does, to be kept for others that are alike."""
    device = A.device if isinstance(A, torch.Tensor) else None
    sizes = dict(SIZES)
    check("A", A, device, sizes)
    check("B", B, device, sizes)
    call = prepared(device)
    same = alike(A, B)
    if not (A.is_contiguous() and not A.is_neg() and B.is_contiguous() and not B.is_neg()):
        packed, same = call, None

        def call(A, B):
            return packed(placed("A", A), placed("B", B))

    if len(CALLS) >= 4096:
        CALLS.clear()
    CALLS[key] = found = same, call
    return found


def prepared(device):
    """Return the function that allocates and launches, with all that sizes and the device say worked out."""
    ahead = chained(device)
    launch_0 = Launch(first_kernel, 4, (), flags=(ahead,), num_warps=4, num_stages=2)
    launch_1 = Launch(second_kernel, 4, (), flags=(ahead,), num_warps=4, num_stages=2, launch_pdl=ahead)
    empty = allocator(device)

    def call(A, B):
        out = empty((1000,), (1,), torch.float32)
        S = empty((1000,), (1,), torch.float32)
        A_at = A.data_ptr()
        S_at = S.data_ptr()
        B_at = B.data_ptr()
        out_at = out.data_ptr()
        direct = not (A_at | S_at | B_at | out_at) & 15 and not watched()
        launch_0(direct, (A, S), (A_at, S_at))
        launch_1(direct, (B, S, out), (B_at, S_at, out_at))
        return out

    return call


def run(A, B):
    """Return out[x] of A[x], B[x]."""
    global LAST
    same, call = LAST
    if same is None or not same.check(A, B):
        try:
            key = (A.dtype, A.shape, A.stride(), A.device, A.is_neg(), B.dtype, B.shape, B.stride(), B.device, B.is_neg(),)
            found = CALLS.get(key)
        except (AttributeError, RuntimeError):  # what is no tensor, or has no strides, is refused by name
            key = found = None
        LAST = same, call = found or admitted(key, A, B)
    device = A.device
    if device.index is not None and device.index != torch.cuda.current_device():
        with torch.cuda.device(device):
            return call(A, B)
    return call(A, B)
