"""Whole numbers of which Triton's analysis takes to be so what is not are written in a form that it knows
nothing of.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from codegen.axis_info import misled, unread
from codegen.triton.kernel import KernelText
from napkin_eq.lang.axis import Axis
from napkin_eq.tile.ir import Buffer, Coord, Iota, Kernel, Let, Operand, SizeOf, Stmt, StoreTile, Value

TILES = {"a": 32, "c": 8}
COORDS = tuple(Coord(name, Axis(name, tile), tile, "tile") for name, tile in TILES.items())


def told(*lets: tuple[str, str, tuple[Operand, ...], str]) -> frozenset[str]:
    """Return which of some statements over the indices `a` and `c` mislead."""
    body: list[Stmt] = [Iota(Value(name, (name,), "i32"), name) for name in TILES]
    body += [SizeOf(Value(name, (), "i32"), Axis(name, None)) for name in "nm"]
    body += [
        Let(Value(name, tuple(dims), "i1" if op in ("lt", "le") else "i32"), op, args) for name, op, args, dims in lets
    ]
    return misled(Kernel("k", (), (), COORDS, (), tuple(body)))


@pytest.mark.parametrize("lets", [
    [("x", "neg", ("a",), "a")],
    [("x", "sub", (30, "a"), "a")],
    [("t", "mul", ("a", 3), "a"), ("x", "add", ("a", "a"), "a")],
    [("r", "mod", ("a", 8), "a"), ("x", "mod", ("r", 4), "a")],
    [("u", "add", ("a", 16), "a"), ("m", "lt", ("a", 3), "a"), ("x", "where", ("m", "a", "u"), "a")],
])  # fmt: skip
def test_rows_that_are_broken_mislead(lets: list[tuple[str, str, tuple[Operand, ...], str]]) -> None:
    assert told(*lets) == {"x"}


@pytest.mark.parametrize("lets", [
    [("x", "add", ("a", 5), "a")],
    [("x", "add", ("a", "c"), "ac")],
    [("t", "mul", ("a", 32), "a"), ("x", "add", ("t", "c"), "ac")],
    [("x", "mod", ("a", 8), "a"), ("y", "floordiv", ("a", 8), "a")],
    [("m", "lt", ("a", 16), "a"), ("u", "add", ("a", 16), "a"), ("x", "where", ("m", "a", "u"), "a")],
])  # fmt: skip
def test_rows_that_are_kept_do_not(lets: list[tuple[str, str, tuple[Operand, ...], str]]) -> None:
    """What is read by such indices stays in wide loads."""
    assert not told(*lets)


@pytest.mark.parametrize("lets", [
    [("t", "mul", ("a", "n"), "a"), ("x", "sub", (30, "t"), "a")],
    [("t", "floordiv", ("a", "n"), "a"), ("x", "neg", ("t",), "a")],
    [("p", "mul", ("n", "m"), ""), ("t", "mul", ("p", "a"), "a"), ("x", "sub", (30, "t"), "a")],
    [("o", "le", ("n", 1), ""), ("t", "mul", ("a", 3), "a"), ("u", "where", ("o", "a", "t"), "a"),
        ("x", "sub", (30, "u"), "a")],
])  # fmt: skip
def test_a_size_of_1_is_a_constant_that_triton_leaves_out(
    lets: list[tuple[str, str, tuple[Operand, ...], str]],
) -> None:
    """Launched with n = 1, `30 - a * n` is compiled as `30 - a`: of 256 comparisons with it 4 were wrong."""
    assert told(*lets) == {"x"}


def test_an_index_by_rows_of_an_open_size_stays_in_wide_loads() -> None:
    assert not told(("t", "mul", ("a", "n"), "a"), ("x", "add", ("t", "c"), "ac"))


COMPILED = """
import sys
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def kernel(A, out):
    a, b, c = tl.arange(0, 32), tl.arange(0, 16), tl.arange(0, 8)
    tile = tl.load(A + c[:, None] * 16 + b[None, :])
    bound = FORM
    tile = tl.where((c[:, None] < bound[None, :])[:, None, :], tile[:, :, None], 0.0)
    tl.store(out + b[:, None] * 32 + a[None, :], tl.sum(tile, axis=0))


source = ASTSource(kernel, {"A": "*fp32", "out": "*fp32"}, {})
print(triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 1}).asm["llir"])
"""


@pytest.mark.parametrize(("op", "args"), [("sub", ["30", "a"]), ("neg", ["(a - 30)"]), ("add", ["(0 - a)", "30"])])
def test_what_is_written_by_complements_is_compiled_lane_by_lane(op: str, args: list[str], tmp_path: Path) -> None:
    """Σ over c below 30 - a: eight lanes have eight bounds; of `30 - a` as it reads, Triton 3.6 compiles four, for two
    lanes each.
    """
    pytest.importorskip("triton")
    script = tmp_path / "compiled.py"
    script.write_text(
        COMPILED.replace("FORM", unread(op, args, "tl.where", "tl.maximum", "tl.minimum")), encoding="utf-8"
    )
    plain = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=120, env=plain, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    bounds = set(re.findall(r"icmp [a-z ]*(?:ult|ugt|slt|sgt) i32 %\d+, (\d+)", done.stdout))
    assert len(bounds & {str(n) for n in range(22, 31)}) >= 8, bounds


def test_a_remainder_that_misleads_still_rounds_down() -> None:
    """-3 of a remainder of a remainder: the complements of other operators would round to zero."""
    at, n = Value("a", ("a",), "i32"), 32
    lets = [("n", "add", ("a", -16)), ("r", "mod", ("n", 8)), ("s", "add", ("r", -8)), ("x", "mod", ("s", 4))]
    body: list[Stmt] = [
        Iota(at, "a"),
        *(Let(Value(name, ("a",), "i32"), op, args) for name, op, args in lets),
        StoreTile("out", ("a",), "x"),
    ]
    axis = Axis("a", n)
    out = Buffer("out", (axis,), "i32")
    kernel = Kernel("k", (), (out,), (Coord("a", axis, n, "tile"),), ("a",), tuple(body))
    text = str(KernelText(kernel))
    assert "x" in misled(kernel) and text.count("floor_mod(") == 2 and "//" not in text, text
