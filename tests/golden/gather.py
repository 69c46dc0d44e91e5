# The kernels of gather, written by napkin_eq.
#
# diagram: gather
# hardware: none

import torch
import triton
import triton.language as tl


@triton.jit
def gather_kernel(ids_ptr, table_ptr, out_ptr, t_size):
    """One program per block of: t in 8s."""
    BLOCK_T: tl.constexpr = 8
    BLOCK_E: tl.constexpr = 32
    t_start = tl.program_id(0) * BLOCK_T
    ts = t_start + tl.arange(0, BLOCK_T)
    t_in = ts < t_size
    es = tl.arange(0, BLOCK_E)
    e_in = es < 24
    label = tl.load(ids_ptr + ts, mask=t_in, other=0)
    low = tl.maximum(label, 0)
    at = tl.minimum(low, 9)
    row = tl.load(table_ptr + at[:, None] * 24 + es[None, :], mask=e_in[None, :], other=0.0)
    tl.store(out_ptr + ts.to(tl.int64)[:, None] * 24 + es[None, :], row, mask=t_in[:, None] & e_in[None, :])


# What each kernel takes, for compiling ahead of time: `:16` marks addresses and sizes that are multiples of 16.
KERNELS = {
    "gather_kernel": {
        "signature": {
            "ids_ptr": "*i32:16",
            "table_ptr": "*bf16:16",
            "out_ptr": "*bf16:16",
            "t_size": "i32",
        },
        "num_warps": 4,
        "num_stages": 2,
    },
}
INPUTS = {
    "ids": (torch.int32, ("t",)),
    "table": (torch.bfloat16, ("v", "e")),
}
SIZES = {"v": 10, "e": 24}


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


def run(ids, table):
    """Return out[t, e] of ids[t], table[v, e]."""
    device = ids.device if isinstance(ids, torch.Tensor) else None
    sizes = dict(SIZES)
    check("ids", ids, device, sizes)
    check("table", table, device, sizes)
    t_size = sizes["t"]
    out = torch.empty((t_size, 24), dtype=torch.bfloat16, device=device)
    with torch.cuda.device_of(ids):
        gather_kernel[(triton.cdiv(t_size, 8),)](ids, table, out, t_size, num_warps=4, num_stages=2)
    return out
