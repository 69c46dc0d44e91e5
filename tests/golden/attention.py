# The kernels of attention, written by napkin_eq.
#
# diagram: attention
# hardware: none

import torch
import triton
import triton.language as tl


@triton.jit
def attention_kernel(Q_ptr, K_ptr, V_ptr, O_ptr, q_size, x_size):
    """One program per block of: h, q in 16s."""
    BLOCK_Q: tl.constexpr = 16
    BLOCK_X: tl.constexpr = 16
    BLOCK_D: tl.constexpr = 16
    pid = tl.program_id(0)
    q_blocks = tl.cdiv(q_size, BLOCK_Q)
    q_start = pid % q_blocks * BLOCK_Q
    h = pid // q_blocks
    kv = h // 2
    qs = q_start + tl.arange(0, BLOCK_Q)
    q_in = qs < q_size
    ds = tl.arange(0, BLOCK_D)
    q_tile = tl.load(Q_ptr + h.to(tl.int64) * q_size * 16 + qs.to(tl.int64)[:, None] * 16 + ds[None, :], mask=q_in[:, None], other=0.0)
    q_end = q_start + 16
    hi = tl.minimum(q_end, x_size)
    below = tl.minimum(q_start, x_size)
    blocks = below // 16
    mid = blocks * 16
    m = tl.full((BLOCK_Q,), float("-inf"), tl.float32)
    l = tl.zeros((BLOCK_Q,), tl.float32)
    acc = tl.zeros((BLOCK_Q, BLOCK_D), tl.float32)
    # interior: no mask
    for x_start in tl.range(0, mid, BLOCK_X):
        xs = x_start + tl.arange(0, BLOCK_X)
        k = tl.load(K_ptr + kv.to(tl.int64) * x_size * 16 + xs.to(tl.int64)[None, :] * 16 + ds[:, None])
        dots = tl.dot(q_tile, k)
        s = dots * 0.36067376022224085
        m_block = tl.max(s, axis=1)
        m_new = tl.maximum(m, m_block)
        none = m_new == float("-inf")
        safe = tl.where(none, 0.0, m_new)
        m_moved = m - safe
        alpha = tl.exp2(m_moved)
        moved = s - safe[:, None]
        p = tl.exp2(moved)
        l_block = tl.sum(p, axis=1)
        l = tl.fma(l, alpha, l_block)
        v = tl.load(V_ptr + kv.to(tl.int64) * x_size * 16 + xs.to(tl.int64)[:, None] * 16 + ds[None, :])
        p_low = p.to(tl.bfloat16)
        acc_moved = acc * alpha[:, None]
        acc = tl.dot(p_low, v, acc_moved)
        m = m_new
    # diagonal: masked
    for x_start in tl.range(mid, hi, BLOCK_X):
        x_start = tl.multiple_of(x_start, BLOCK_X)
        xs = x_start + tl.arange(0, BLOCK_X)
        x_in = xs < x_size
        k = tl.load(K_ptr + kv.to(tl.int64) * x_size * 16 + xs.to(tl.int64)[None, :] * 16 + ds[:, None], mask=x_in[None, :], other=0.0)
        dots = tl.dot(q_tile, k)
        raw = dots * 0.36067376022224085
        past = xs[None, :] <= qs[:, None]
        keep = past & x_in[None, :]
        s = tl.where(keep, raw, float("-inf"))
        m_block = tl.max(s, axis=1)
        m_new = tl.maximum(m, m_block)
        none = m_new == float("-inf")
        safe = tl.where(none, 0.0, m_new)
        m_moved = m - safe
        alpha = tl.exp2(m_moved)
        moved = s - safe[:, None]
        p = tl.exp2(moved)
        l_block = tl.sum(p, axis=1)
        l = tl.fma(l, alpha, l_block)
        v = tl.load(V_ptr + kv.to(tl.int64) * x_size * 16 + xs.to(tl.int64)[:, None] * 16 + ds[None, :], mask=x_in[:, None], other=0.0)
        p_low = p.to(tl.bfloat16)
        acc_moved = acc * alpha[:, None]
        acc = tl.dot(p_low, v, acc_moved)
        m = m_new
    empty = l == 0.0
    filled = tl.where(empty, 1.0, l)
    o = acc / filled[:, None]
    out = o.to(tl.bfloat16)
    tl.store(O_ptr + h.to(tl.int64) * q_size * 16 + qs.to(tl.int64)[:, None] * 16 + ds[None, :], out, mask=q_in[:, None])


# What each kernel takes, for compiling ahead of time: `:16` marks addresses and sizes that are multiples of 16.
KERNELS = {
    "attention_kernel": {
        "signature": {
            "Q_ptr": "*bf16:16",
            "K_ptr": "*bf16:16",
            "V_ptr": "*bf16:16",
            "O_ptr": "*bf16:16",
            "q_size": "i32",
            "x_size": "i32",
        },
        "num_warps": 4,
        "num_stages": 2,
    },
}
INPUTS = {
    "Q": (torch.bfloat16, ("h", "q", "d")),
    "K": (torch.bfloat16, ("g", "x", "d")),
    "V": (torch.bfloat16, ("g", "x", "d")),
}
SIZES = {"h": 4, "d": 16, "g": 2}


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


def run(Q, K, V):
    """Return O[h, q, d] of Q[h, q, d], K[g, x, d], V[g, x, d]."""
    device = Q.device if isinstance(Q, torch.Tensor) else None
    sizes = dict(SIZES)
    check("Q", Q, device, sizes)
    check("K", K, device, sizes)
    check("V", V, device, sizes)
    q_size = sizes["q"]
    x_size = sizes["x"]
    O = torch.empty((4, q_size, 16), dtype=torch.bfloat16, device=device)
    with torch.cuda.device_of(Q):
        attention_kernel[(4 * triton.cdiv(q_size, 16),)](Q, K, V, O, q_size, x_size, num_warps=4, num_stages=2)
    return O
