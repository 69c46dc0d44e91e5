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
