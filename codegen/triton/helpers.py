"""Functions that Triton kernels call, as text: what its operators do otherwise than the plan language says, and
operators to reduce and scan by.
"""

HELPERS = {
    "floor_div": """
@triton.jit
def floor_div(a, b):
    # // on a GPU rounds to zero, a quotient of coordinates rounds down
    return a // b - ((a % b != 0) & ((a < 0) != (b < 0)))
""",
    "floor_mod": """
@triton.jit
def floor_mod(a, b):
    # % on a GPU has the sign of a, a remainder of coordinates the sign of b
    whole = a // b - ((a % b != 0) & ((a < 0) != (b < 0)))
    # a - whole * b, by complements: Triton would take other remainders to be multiples, as codegen/axis_info.py says
    return ~(~a + whole * b)
""",
    "round_half_even": """
@triton.jit
def round_half_even(x):
    low = tl.floor(x)
    odd = low - 2.0 * tl.floor(0.5 * low) == 1.0
    return tl.where((x - low > 0.5) | ((x - low == 0.5) & odd), low + 1.0, low)
""",
    "random_bits": """
@triton.jit
def random_bits(seed, stream, counter, word):
    # Philox 4x32-10: products of 64 bits, of which a GPU has one instruction; what wraps around has no sign
    first = tl.cast(seed, tl.int64).to(tl.uint64, bitcast=True)
    second = tl.cast(stream, tl.int64).to(tl.uint64, bitcast=True)
    third = tl.cast(counter, tl.int64).to(tl.uint64, bitcast=True)
    key, step = first.to(tl.uint32), (first >> 32).to(tl.uint32)
    a, b = third.to(tl.uint32), (third >> 32).to(tl.uint32)
    c, d = second.to(tl.uint32), (second >> 32).to(tl.uint32)
    for _ in tl.static_range(10):
        left, right = a.to(tl.uint64) * 0xD2511F53, c.to(tl.uint64) * 0xCD9E8D57
        a = (right >> 32).to(tl.uint32) ^ b ^ key
        b = right.to(tl.uint32)
        c = (left >> 32).to(tl.uint32) ^ d ^ step
        d = left.to(tl.uint32)
        key = tl.add(key, 0x9E3779B9, sanitize_overflow=False)
        step = tl.add(step, 0xBB67AE85, sanitize_overflow=False)
    found = tl.where(word == 0, a, tl.where(word == 1, b, tl.where(word == 2, c, d)))
    return (found ^ 0x80000000).to(tl.int32, bitcast=True)
""",
    "ask_for": """
@triton.jit
def ask_for(pointers):
    # level 2 is asked for the lines at these addresses; nothing waits for them
    tl.inline_asm_elementwise(
        "prefetch.global.L2 [$1]; mov.u32 $0, 0;", "=r,l", [pointers], dtype=tl.int32, is_pure=False, pack=1
    )
""",
    "from_all_threads": """
@triton.jit
def from_all_threads(x):
    # used more than once, x is not kept in parts by each thread: codegen/triton/locality.py
    return tl.where(x == x, x, float("nan"))
""",
    "product": """
@triton.jit
def product(a, b):
    return a * b
""",
    "greatest_or_nan": """
@triton.jit
def greatest_or_nan(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)
""",
    "least_or_nan": """
@triton.jit
def least_or_nan(a, b):
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)
""",
    "compose": """
@triton.jit
def compose(gain, part, next_gain, next_part):
    # h -> gain * h + part, then h -> next_gain * h + next_part
    return gain * next_gain, next_gain * part + next_part
""",
    "greatest": """
@triton.jit
def greatest(a, b):
    return tl.maximum(a, b)
""",
}
