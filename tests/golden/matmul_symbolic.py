# The kernels of matmul, written by napkin_eq.
#
# diagram: matmul_symbolic
# hardware: none

import torch
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(A_ptr, B_ptr, C_ptr, m_size, k_size, n_size):
    """One program per block of: m in 32s, n in 32s."""
    BLOCK_M: tl.constexpr = 32
    BLOCK_N: tl.constexpr = 32
    BLOCK_K: tl.constexpr = 16
    pid = tl.program_id(0)
    m_blocks = tl.cdiv(m_size, BLOCK_M)
    n_blocks = tl.cdiv(n_size, BLOCK_N)
    m_block, n_block = tl.swizzle2d(pid // n_blocks, pid % n_blocks, m_blocks, n_blocks, 8)
    m_start = m_block * BLOCK_M
    n_start = n_block * BLOCK_N
    ms = m_start + tl.arange(0, BLOCK_M)
    m_in = ms < m_size
    ns = n_start + tl.arange(0, BLOCK_N)
    n_in = ns < n_size
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k_start in tl.range(0, k_size, BLOCK_K):
        ks = k_start + tl.arange(0, BLOCK_K)
        k_in = ks < k_size
        a = tl.load(A_ptr + ms.to(tl.int64)[:, None] * k_size + ks[None, :], mask=m_in[:, None] & k_in[None, :], other=0.0)
        b = tl.load(B_ptr + ks.to(tl.int64)[:, None] * n_size + ns[None, :], mask=n_in[None, :] & k_in[:, None], other=0.0)
        acc = tl.dot(a, b, acc)
    out = acc.to(tl.bfloat16)
    tl.store(C_ptr + ms.to(tl.int64)[:, None] * n_size + ns[None, :], out, mask=m_in[:, None] & n_in[None, :])


# What each kernel takes, for compiling ahead of time: `:16` marks addresses and sizes that are multiples of 16.
KERNELS = {
    "matmul_kernel": {
        "signature": {
            "A_ptr": "*bf16:16",
            "B_ptr": "*bf16:16",
            "C_ptr": "*bf16:16",
            "m_size": "i32",
            "k_size": "i32",
            "n_size": "i32",
        },
        "num_warps": 4,
        "num_stages": 2,
    },
}
INPUTS = {
    "A": (torch.bfloat16, ("m", "k")),
    "B": (torch.bfloat16, ("k", "n")),
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


def run(A, B):
    """Return C[m, n] of A[m, k], B[k, n]."""
    device = A.device if isinstance(A, torch.Tensor) else None
    sizes = dict(SIZES)
    check("A", A, device, sizes)
    check("B", B, device, sizes)
    m_size = sizes["m"]
    k_size = sizes["k"]
    n_size = sizes["n"]
    C = torch.empty((m_size, n_size), dtype=torch.bfloat16, device=device)
    with torch.cuda.device_of(A):
        matmul_kernel[(triton.cdiv(m_size, 32) * triton.cdiv(n_size, 32),)](A, B, C, m_size, k_size, n_size, num_warps=4, num_stages=2)
    return C
