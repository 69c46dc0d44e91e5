# The kernels of softmax_stream, written by napkin_eq.
#
# diagram: softmax_stream
# hardware: none

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_stream_kernel(x_ptr, y_ptr, r_size, c_size):
    """One program per block of: r."""
    BLOCK_A: tl.constexpr = 32
    BLOCK_B: tl.constexpr = 16
    r = tl.program_id(0)
    m = tl.full((), float("-inf"), tl.float32)
    l = tl.full((), 0.0, tl.float32)
    for a_start in tl.range(0, c_size, BLOCK_A):
        cs = a_start + tl.arange(0, BLOCK_A)
        c_in = cs < c_size
        loaded = tl.load(x_ptr + r.to(tl.int64) * c_size + cs, mask=c_in, other=0.0, eviction_policy="evict_last")
        wide = loaded.to(tl.float32)
        s = tl.where(c_in, wide, float("-inf"))
        block = tl.max(s, axis=0)
        m_new = tl.maximum(m, block)
        d_old = m - m_new
        alpha = tl.exp(d_old)
        d = s - m_new
        e = tl.exp(d)
        part = tl.sum(e, axis=0)
        l = tl.fma(l, alpha, part)
        m = m_new
    scale = 1.0 / l
    for b_start in tl.range(0, c_size, BLOCK_B):
        cs = b_start + tl.arange(0, BLOCK_B)
        c_in = cs < c_size
        loaded = tl.load(x_ptr + r.to(tl.int64) * c_size + cs, mask=c_in, other=0.0, eviction_policy="evict_first")
        wide = loaded.to(tl.float32)
        s = tl.where(c_in, wide, float("-inf"))
        d = s - m
        e = tl.exp(d)
        p = e * scale
        out = p.to(tl.bfloat16)
        tl.store(y_ptr + r.to(tl.int64) * c_size + cs, out, mask=c_in, eviction_policy="evict_first")


# What each kernel takes, for compiling ahead of time: `:16` marks addresses and sizes that are multiples of 16.
KERNELS = {
    "softmax_stream_kernel": {
        "signature": {
            "x_ptr": "*bf16:16",
            "y_ptr": "*bf16:16",
            "r_size": "i32",
            "c_size": "i32",
        },
        "num_warps": 4,
        "num_stages": 2,
    },
}
INPUTS = {
    "x": (torch.bfloat16, ("r", "c")),
}
SIZES = {}


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


def run(x):
    """Return y[r, c] of x[r, c]."""
    device = x.device if isinstance(x, torch.Tensor) else None
    sizes = dict(SIZES)
    check("x", x, device, sizes)
    r_size = sizes["r"]
    c_size = sizes["c"]
    y = torch.empty((r_size, c_size), dtype=torch.bfloat16, device=device)
    with torch.cuda.device_of(x):
        softmax_stream_kernel[(r_size,)](x, y, r_size, c_size, num_warps=4, num_stages=2)
    return y
