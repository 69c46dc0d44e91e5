"""Functions that Gluon kernels call, as text: two numbers narrowed into one register, and numbers of blocks drawn from
a counter.
"""

NARROWED = {"bf16": "narrow_bf16", "f16": "narrow_f16"}


def _narrow(name: str, dtype: str, short: str) -> str:
    return f"""
@gluon.jit
def {name}(tile):
    # Both halves of a register at once: narrowed one by one, they are put together anew in every trip of a loop
    # that carries them.
    return gl.inline_asm_elementwise(
        "cvt.rn.{short}x2.f32 $0, $2, $1;", "=r,r,r", [tile], dtype={dtype}, is_pure=True, pack=2
    )
"""


HELPERS = {
    "random_bits": """
@gluon.jit
def random_bits(seed, stream, counter, word):
    # Philox 4x32-10: products of 64 bits, of which a GPU has one instruction; what wraps around has no sign
    first = gl.cast(seed, gl.int64).to(gl.uint64, bitcast=True)
    second = gl.cast(stream, gl.int64).to(gl.uint64, bitcast=True)
    third = gl.cast(counter, gl.int64).to(gl.uint64, bitcast=True)
    key, step = first.to(gl.uint32), (first >> 32).to(gl.uint32)
    a, b = third.to(gl.uint32), (third >> 32).to(gl.uint32)
    c, d = second.to(gl.uint32), (second >> 32).to(gl.uint32)
    for _ in gl.static_range(10):
        left, right = a.to(gl.uint64) * 0xD2511F53, c.to(gl.uint64) * 0xCD9E8D57
        a = (right >> 32).to(gl.uint32) ^ b ^ key
        b = right.to(gl.uint32)
        c = (left >> 32).to(gl.uint32) ^ d ^ step
        d = left.to(gl.uint32)
        key = key + 0x9E3779B9
        step = step + 0xBB67AE85
    found = gl.where(word == 0, a, gl.where(word == 1, b, gl.where(word == 2, c, d)))
    return (found ^ 0x80000000).to(gl.int32, bitcast=True)
""",
    "narrow_bf16": _narrow("narrow_bf16", "gl.bfloat16", "bf16"),
    "narrow_f16": _narrow("narrow_f16", "gl.float16", "f16"),
    "draw": """
@gluon.jit
def draw(counter, ring, full, free, turn):
    # The warp that copies takes a number that no other program has, and hands it to the groups.
    number = gl.atomic_add(counter, 1)
    mbarrier.wait(free.index(turn % 2), (turn // 2 & 1) ^ 1)
    ring.index(turn % 2).store(gl.full((1,), number, gl.int32, gl.BlockedLayout([1], [32], [1], [0])))
    mbarrier.arrive(full.index(turn % 2))
    return number
""",
    "drawn": """
@gluon.jit
def drawn(ring, full, free, turn):
    mbarrier.wait(full.index(turn % 2), turn // 2 & 1)
    number = gl.max(ring.index(turn % 2).load(gl.BlockedLayout([1], [32], [4], [0])), axis=0)
    mbarrier.arrive(free.index(turn % 2))
    return number
""",
}


def helpers(text: str) -> list[str]:
    """Return the functions that a text calls."""
    return [made for name, made in HELPERS.items() if f" {name}(" in text]
