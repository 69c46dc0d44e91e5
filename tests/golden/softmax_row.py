# The kernels of softmax_row, written by napkin_eq.
#
# diagram: softmax_row
# hardware: none

import types
import warnings

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_row_kernel(x_ptr, y_ptr, r_size):
    """One program per block of: r in 4s."""
    BLOCK_R: tl.constexpr = 4
    BLOCK_C: tl.constexpr = 128
    r_start = tl.program_id(0) * BLOCK_R
    rs = r_start + tl.arange(0, BLOCK_R)
    r_in = rs < r_size
    cs = tl.arange(0, BLOCK_C)
    c_in = cs < 100
    loaded = tl.load(x_ptr + rs.to(tl.int64)[:, None] * 100 + cs[None, :], mask=r_in[:, None] & c_in[None, :], other=0.0)
    wide = loaded.to(tl.float32)
    s = tl.where(c_in[None, :], wide, float("-inf"))
    m = tl.max(s, axis=1)
    moved = s - m[:, None]
    scaled = moved * 1.4426950408889634
    e = tl.exp2(scaled)
    l = tl.sum(e, axis=1)
    p = e / l[:, None]
    out = p.to(tl.bfloat16)
    tl.store(y_ptr + rs.to(tl.int64)[:, None] * 100 + cs[None, :], out, mask=r_in[:, None] & c_in[None, :])


# What each kernel takes, for compiling ahead of time: `:16` marks addresses and sizes that are multiples of 16.
KERNELS = {
    "softmax_row_kernel": {
        "signature": {
            "x_ptr": "*bf16:16",
            "y_ptr": "*bf16:16",
            "r_size": "i32",
        },
        "num_warps": 4,
        "num_stages": 2,
    },
}
INPUTS = {
    "x": (torch.bfloat16, ("r", "c")),
}
SIZES = {"c": 100}
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


def admitted(key, x):
    """Check the arguments of a call and return what it does, to be kept for others that are alike."""
    device = x.device if isinstance(x, torch.Tensor) else None
    sizes = dict(SIZES)
    check("x", x, device, sizes)
    r_size = sizes["r"]
    call = prepared(device, r_size)
    same = alike(x)
    if not (x.is_contiguous() and not x.is_neg()):
        packed, same = call, None

        def call(x):
            return packed(placed("x", x))

    if len(CALLS) >= 4096:
        CALLS.clear()
    CALLS[key] = found = same, call
    return found


def prepared(device, r_size):
    """Return the function that allocates and launches, with all that sizes and the device say worked out."""
    launch_0 = Launch(softmax_row_kernel, triton.cdiv(r_size, 4), (r_size,), num_warps=4, num_stages=2)
    empty = allocator(device)

    def call(x):
        y = empty((r_size, 100), (100, 1), torch.bfloat16)
        x_at = x.data_ptr()
        y_at = y.data_ptr()
        direct = not (x_at | y_at) & 15 and not watched()
        launch_0(direct, (x, y), (x_at, y_at))
        return y

    return call


def run(x):
    """Return y[r, c] of x[r, c]."""
    global LAST
    same, call = LAST
    if same is None or not same.check(x):
        try:
            key = (x.dtype, x.shape, x.stride(), x.device, x.is_neg(),)
            found = CALLS.get(key)
        except (AttributeError, RuntimeError):  # what is no tensor, or has no strides, is refused by name
            key = found = None
        LAST = same, call = found or admitted(key, x)
    device = x.device
    if device.index is not None and device.index != torch.cuda.current_device():
        with torch.cuda.device(device):
            return call(x)
    return call(x)
