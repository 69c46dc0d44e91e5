# The kernels of chain, written by napkin_eq.
#

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
    },
}
INPUTS = {
    "A": (torch.float32, ("x",)),
    "B": (torch.float32, ("x",)),
}
SIZES = {"x": 1000}


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


def chained(device):
    """Tell whether a kernel may be launched while the one before it still runs: NVIDIA GPUs of compute capability 9.0 and later."""
    if torch.version.cuda is None or triton.knobs.runtime.interpret or torch.device(device).type != "cuda":
        return False
    return torch.cuda.get_device_capability(device) >= (9, 0)


def run(A, B):
    """Return out[x] of A[x], B[x]."""
    device = A.device if isinstance(A, torch.Tensor) else None
    sizes = dict(SIZES)
    check("A", A, device, sizes)
    check("B", B, device, sizes)
    out = torch.empty((1000,), dtype=torch.float32, device=device)
    S = torch.empty((1000,), dtype=torch.float32, device=device)
    with torch.cuda.device_of(A):
        ahead = chained(device)
        first_kernel[(4,)](A, S, ahead, num_warps=4, num_stages=2)
        second_kernel[(4,)](B, S, out, ahead, num_warps=4, num_stages=2, launch_pdl=ahead)
    return out
