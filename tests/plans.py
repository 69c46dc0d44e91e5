"""Plans written by hand, each with its meaning in float64 NumPy: what the printers are tested on."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from napkin_eq.lang.axis import Axis
from napkin_eq.tile.ir import (
    Assign,
    Buffer,
    Coord,
    Dot,
    Iota,
    Kernel,
    Let,
    Load,
    Loop,
    Operand,
    Part,
    Plan,
    ReduceTile,
    ScanTile,
    SizeOf,
    Start,
    Stmt,
    StoreTile,
    Value,
)

Array = np.ndarray[Any, Any]
NEG = float("-inf")


@dataclass(frozen=True)
class Case:
    """A plan, arrays to run it on (float64 or integers), what must come out, and the sizes that no array has."""

    plan: Plan
    arrays: dict[str, Array]
    wanted: dict[str, Array]
    sizes: dict[str, int] = field(default_factory=dict)


def f32(name: str, *coords: str) -> Value:
    return Value(name, coords, "f32")


def i32(name: str, *coords: str) -> Value:
    return Value(name, coords, "i32")


def i1(name: str, *coords: str) -> Value:
    return Value(name, coords, "i1")


def let(out: Value, op: str, *args: Operand) -> Let:
    return Let(out, op, args)


def bounded(coord: str, axis: Axis) -> tuple[Stmt, ...]:
    """The coordinates of a block, and the mask that keeps them on the axis: `<coord>s` and `<coord>_in`."""
    return (
        Iota(i32(f"{coord}s", coord), coord),
        SizeOf(i32(f"{coord}_n"), axis),
        let(i1(f"{coord}_in", coord), "lt", f"{coord}s", f"{coord}_n"),
    )


def softmax_row(dtype: str = "f32", rows: int = 9, columns: int = 100, tile: int = 4, seed: int = 0) -> Case:
    """A whole row at a time, the rows symbolic in number; `tile` 1 makes the row a scalar coordinate."""
    r, c = Axis("r"), Axis("c", columns)
    x, y = Buffer("x", (r, c), dtype), Buffer("y", (r, c), dtype)
    width = 1 << (columns - 1).bit_length()
    body: tuple[Stmt, ...] = (
        *bounded("r", r),
        *bounded("c", c),
        Load(Value("loaded", ("r", "c"), dtype), "x", ("rs", "cs"), ("r_in", "c_in")),
        let(f32("wide", "r", "c"), "cast", "loaded"),
        let(f32("s", "r", "c"), "where", "c_in", "wide", NEG),
        ReduceTile(f32("m", "r"), "max", "c", "s"),
        let(f32("moved", "r", "c"), "sub", "s", "m"),
        let(f32("scaled", "r", "c"), "mul", "moved", 1.4426950408889634),
        let(f32("e", "r", "c"), "exp2", "scaled"),
        ReduceTile(f32("l", "r"), "sum", "c", "e"),
        let(f32("p", "r", "c"), "div", "e", "l"),
        let(Value("out", ("r", "c"), dtype), "cast", "p"),
        StoreTile("y", ("rs", "cs"), "out", ("r_in", "c_in")),
    )
    coords = (Coord("r", r, tile, "group"), Coord("c", c, width, "whole"))
    data = np.random.default_rng(seed).normal(size=(rows, columns)) * 3
    return Case(
        Plan("softmax_row", (x,), (y,), (Kernel("softmax_row", (x,), (y,), coords, ("r",), body),)),
        {"x": data},
        {"y": softmax(data)},
    )


def softmax_stream(dtype: str = "f32", rows: int = 5, columns: int = 75) -> Case:
    """Two loops over a symbolic row: running maximum and sum, then the result block by block."""
    r, c = Axis("r"), Axis("c")
    x, y = Buffer("x", (r, c), dtype), Buffer("y", (r, c), dtype)

    def scores(coord: str) -> tuple[Stmt, ...]:
        return (
            Iota(i32("cs", coord), coord),
            let(i1("c_in", coord), "lt", "cs", "n"),
            Load(Value("loaded", (coord,), dtype), "x", ("row", "cs"), ("c_in",)),
            let(f32("wide", coord), "cast", "loaded"),
            let(f32("s", coord), "where", "c_in", "wide", NEG),
        )

    first = (
        *scores("a"),
        ReduceTile(f32("block"), "max", "a", "s"),
        let(f32("m_new"), "max", "m", "block"),
        let(f32("d_old"), "sub", "m", "m_new"),
        let(f32("alpha"), "exp", "d_old"),
        let(f32("d", "a"), "sub", "s", "m_new"),
        let(f32("e", "a"), "exp", "d"),
        ReduceTile(f32("part"), "sum", "a", "e"),
        let(f32("l_new"), "fma", "l", "alpha", "part"),
        Assign("l", "l_new"),
        Assign("m", "m_new"),
    )
    second = (
        *scores("b"),
        let(f32("d", "b"), "sub", "s", "m"),
        let(f32("e", "b"), "exp", "d"),
        let(f32("p", "b"), "mul", "e", "scale"),
        let(Value("out", ("b",), dtype), "cast", "p"),
        StoreTile("y", ("row", "cs"), "out", ("c_in",)),
    )
    body: tuple[Stmt, ...] = (
        Iota(i32("row", "r"), "r"),
        SizeOf(i32("n"), c),
        Loop("a", ((f32("m"), NEG), (f32("l"), 0.0)), (Part(0, "n", first),)),
        let(f32("scale"), "inv", "l"),
        Loop("b", (), (Part(0, "n", second),)),
    )
    coords = (Coord("r", r, 1, "group"), Coord("a", c, 32, "stream"), Coord("b", c, 16, "walk"))
    body = tuple(scalar_rows(s) for s in body)
    data = np.random.default_rng(1).normal(size=(rows, columns)) * 3
    return Case(
        Plan("softmax_stream", (x,), (y,), (Kernel("softmax_stream", (x,), (y,), coords, ("r",), body),)),
        {"x": data},
        {"y": softmax(data)},
    )


def scalar_rows(stmt: Stmt) -> Stmt:
    """A row coordinate of tile 1 may be left out of a value's coordinates: the first block's start is the
    row itself.
    """
    return Start(i32("row"), "r") if isinstance(stmt, Iota) and stmt.coord == "r" else stmt


def matmul(
    dtype: str = "f32",
    sizes: tuple[int, int, int] = (70, 90, 50),
    tiles: tuple[int, int, int] = (32, 32, 16),
    symbolic: bool = False,
    warps: int = 4,
    stages: int = 2,
    turned: bool = False,
    precision: str = "ieee",
) -> Case:
    """A matrix product with ragged tails and grouped tiles; `turned` stores the operands the other way round."""
    (m, n, k) = (Axis(name, None if symbolic else size) for name, size in zip("mnk", sizes, strict=True))
    a = Buffer("A", (k, m) if turned else (m, k), dtype)
    b = Buffer("B", (n, k) if turned else (k, n), dtype)
    c = Buffer("C", (m, n), dtype)
    ragged = symbolic or sizes[2] % tiles[2] != 0
    inner: tuple[Stmt, ...] = (
        *bounded("k", k),
        Load(
            Value("a", ("m", "k"), dtype),
            "A",
            ("ks", "ms") if turned else ("ms", "ks"),
            ("m_in", "k_in") if ragged else ("m_in",),
        ),
        Load(
            Value("b", ("n", "k"), dtype),
            "B",
            ("ns", "ks") if turned else ("ks", "ns"),
            ("n_in", "k_in") if ragged else ("n_in",),
        ),
        Dot(f32("acc_new", "m", "n"), "a", "b", "k", "acc", precision),
        Assign("acc", "acc_new"),
    )
    body: tuple[Stmt, ...] = (
        *bounded("m", m),
        *bounded("n", n),
        SizeOf(i32("k_end"), k),
        Loop("k", ((f32("acc", "m", "n"), 0.0),), (Part(0, "k_end", inner),)),
        let(Value("out", ("m", "n"), dtype), "cast", "acc"),
        StoreTile("C", ("ms", "ns"), "out", ("m_in", "n_in")),
    )
    coords = tuple(
        Coord(x.name, x, t, role) for x, t, role in zip((m, n, k), tiles, ("group", "group", "stream"), strict=True)
    )
    kernel = Kernel("matmul", (a, b), (c,), coords, ("m", "n"), body, warps, stages, ("m", "n", 8))
    rng = np.random.default_rng(2)
    left, right = rng.normal(size=(sizes[0], sizes[2])), rng.normal(size=(sizes[2], sizes[1]))
    arrays = {"A": left.T.copy(), "B": right.T.copy()} if turned else {"A": left, "B": right}
    return Case(Plan("matmul", (a, b), (c,), (kernel,)), arrays, {"C": left @ right})


def attention(
    dtype: str = "f32",
    lengths: tuple[int, int] = (50, 70),
    head: int = 16,
    heads: int = 4,
    group: int = 2,
    tiles: tuple[int, int] = (16, 16),
    symbolic: bool = True,
    warps: int = 4,
    stages: int = 2,
) -> Case:
    """Causal attention with grouped heads in one pass: blocks below the diagonal unmasked, those on it masked."""
    h, g, d = Axis("h", heads), Axis("g", heads // group), Axis("d", head)
    q, x = (Axis(name, None if symbolic else size) for name, size in zip("qx", lengths, strict=True))
    bq, bk, bv, bo = (
        Buffer("Q", (h, q, d), dtype),
        Buffer("K", (g, x, d), dtype),
        Buffer("V", (g, x, d), dtype),
        Buffer("O", (h, q, d), dtype),
    )

    def block(masked: bool) -> tuple[Stmt, ...]:
        edge = bounded("x", x)[1:] if masked else ()
        seen: tuple[Stmt, ...] = (
            let(i1("past", "q", "x"), "le", "xs", "qs"),
            let(i1("keep", "q", "x"), "and", "past", "x_in"),
            let(f32("s", "q", "x"), "where", "keep", "raw", NEG),
        )
        masks = ("x_in",) if masked else ()
        return (
            Iota(i32("xs", "x"), "x"),
            *edge,
            Load(Value("k", ("x", "d"), dtype), "K", ("kv", "xs", "ds"), masks),
            Dot(f32("dots", "q", "x"), "q_tile", "k", "d"),
            let(f32("raw" if masked else "s", "q", "x"), "mul", "dots", head**-0.5 * 1.4426950408889634),
            *seen[: 3 * masked],
            ReduceTile(f32("m_block", "q"), "max", "x", "s"),
            let(f32("m_new", "q"), "max", "m", "m_block"),
            let(i1("none", "q"), "eq", "m_new", NEG),
            let(f32("safe", "q"), "where", "none", 0.0, "m_new"),
            let(f32("m_moved", "q"), "sub", "m", "safe"),
            let(f32("alpha", "q"), "exp2", "m_moved"),
            let(f32("moved", "q", "x"), "sub", "s", "safe"),
            let(f32("p", "q", "x"), "exp2", "moved"),
            ReduceTile(f32("l_block", "q"), "sum", "x", "p"),
            let(f32("l_new", "q"), "fma", "l", "alpha", "l_block"),
            Assign("l", "l_new"),
            Load(Value("v", ("x", "d"), dtype), "V", ("kv", "xs", "ds"), masks),
            let(Value("p_low", ("q", "x"), dtype), "cast", "p"),
            let(f32("acc_moved", "q", "d"), "mul", "acc", "alpha"),
            Dot(f32("acc_new", "q", "d"), "p_low", "v", "x", "acc_moved"),
            Assign("acc", "acc_new"),
            Assign("m", "m_new"),
        )

    body: tuple[Stmt, ...] = (
        Start(i32("head"), "h"),
        let(i32("kv"), "floordiv", "head", group),
        *bounded("q", q),
        Iota(i32("ds", "d"), "d"),
        Load(Value("q_tile", ("q", "d"), dtype), "Q", ("head", "qs", "ds"), ("q_in",)),
        Start(i32("q0"), "q"),
        SizeOf(i32("xn"), x),
        let(i32("q_end"), "add", "q0", tiles[0]),
        let(i32("hi"), "min", "q_end", "xn"),
        let(i32("below"), "min", "q0", "xn"),
        let(i32("blocks"), "floordiv", "below", tiles[1]),
        let(i32("mid"), "mul", "blocks", tiles[1]),
        Loop(
            "x",
            ((f32("m", "q"), NEG), (f32("l", "q"), 0.0), (f32("acc", "q", "d"), 0.0)),
            (Part(0, "mid", block(False), "interior: no mask"), Part("mid", "hi", block(True), "diagonal: masked")),
        ),
        let(i1("empty", "q"), "eq", "l", 0.0),
        let(f32("filled", "q"), "where", "empty", 1.0, "l"),
        let(f32("o", "q", "d"), "div", "acc", "filled"),
        let(Value("out", ("q", "d"), dtype), "cast", "o"),
        StoreTile("O", ("head", "qs", "ds"), "out", ("q_in",)),
    )
    coords = (
        Coord("h", h, 1, "group"),
        Coord("q", q, tiles[0], "group"),
        Coord("x", x, tiles[1], "stream"),
        Coord("d", d, head, "whole"),
    )
    kernel = Kernel("attention", (bq, bk, bv), (bo,), coords, ("h", "q"), body, warps, stages)
    rng = np.random.default_rng(3)
    qs, ks, vs = (
        rng.normal(size=size) for size in ((heads, lengths[0], head), *[(heads // group, lengths[1], head)] * 2)
    )
    ks_all, vs_all = ks.repeat(group, axis=0), vs.repeat(group, axis=0)
    scores = np.einsum("hqd,hxd->hqx", qs, ks_all) * head**-0.5
    keep = np.arange(lengths[1])[None, :] <= np.arange(lengths[0])[:, None]
    wanted = np.einsum("hqx,hxd->hqd", softmax(np.where(keep, scores, NEG)), vs_all)
    return Case(Plan("attention", (bq, bk, bv), (bo,), (kernel,)), {"Q": qs, "K": ks, "V": vs}, {"O": wanted})


def gather(dtype: str = "f32") -> Case:
    """Rows of a table picked by an array of labels, clamped into it."""
    t, v, e = Axis("t"), Axis("v", 10), Axis("e", 24)
    ids, table, out = Buffer("ids", (t,), "i32"), Buffer("table", (v, e), dtype), Buffer("out", (t, e), dtype)
    body: tuple[Stmt, ...] = (
        *bounded("t", t),
        *bounded("e", e),
        Load(i32("label", "t"), "ids", ("ts",), ("t_in",)),
        let(i32("low", "t"), "max", "label", 0),
        let(i32("at", "t"), "min", "low", 9),
        Load(Value("row", ("t", "e"), dtype), "table", ("at", "es"), ("e_in",)),
        StoreTile("out", ("ts", "es"), "row", ("t_in", "e_in")),
    )
    coords = (Coord("t", t, 8, "group"), Coord("e", e, 32, "whole"))
    rng = np.random.default_rng(4)
    labels, data = rng.integers(-3, 14, size=21), rng.normal(size=(10, 24))
    return Case(
        Plan("gather", (ids, table), (out,), (Kernel("gather", (ids, table), (out,), coords, ("t",), body),)),
        {"ids": labels, "table": data},
        {"out": data[np.clip(labels, 0, 9)]},
    )


UNARY: dict[str, Callable[[Array], Array]] = {
    "neg": np.negative,
    "inv": lambda x: 1 / x,
    "exp": np.exp,
    "exp2": np.exp2,
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "erf": np.vectorize(math.erf),
    "sin": np.sin,
    "cos": np.cos,
    "abs": np.abs,
    "floor": np.floor,
    "round": np.round,
    "log": np.log,
    "log2": np.log2,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: x**-0.5,
}


def operators() -> Case:
    """Every operator of one real argument, on halves too, where rounding has to choose; logarithms and roots of |x|."""
    n = Axis("n")
    x = Buffer("x", (n,), "f32")
    outs = tuple(Buffer(f"{name}_out", (n,), "f32") for name in UNARY)
    body: list[Stmt] = [
        *bounded("n", n),
        Load(f32("v", "n"), "x", ("ns",), ("n_in",)),
        let(f32("size", "n"), "abs", "v"),
    ]
    for name in UNARY:
        body.append(let(f32(f"r_{name}", "n"), name, "size" if "log" in name or "sqrt" in name else "v"))
        body.append(StoreTile(f"{name}_out", ("ns",), f"r_{name}", ("n_in",)))
    data = np.concatenate([np.arange(-3.5, 4.0, 0.5) + 1e-30, np.linspace(-4, 4, 22)])
    wanted = {
        f"{name}_out": fn(np.abs(data) if "log" in name or "sqrt" in name else data) for name, fn in UNARY.items()
    }
    return Case(
        Plan(
            "operators",
            (x,),
            outs,
            (Kernel("operators", (x,), outs, (Coord("n", n, 16, "group"),), ("n",), tuple(body)),),
        ),
        {"x": data},
        wanted,
    )


def integers() -> Case:
    """Coordinate arithmetic with negative numbers, masks combined, prefix folds, a product, and a second kernel behind
    scratch.
    """
    n, w = Axis("n", 5), Axis("w", 8)
    x = Buffer("x", (n, w), "f32")
    mid = Buffer("mid", (n, w), "f32")
    div, mod, out = Buffer("div", (n, w), "i32"), Buffer("mod", (n, w), "i32"), Buffer("out", (n,), "f32")
    sums, tops = Buffer("sums", (n, w), "f32"), Buffer("tops", (n, w), "f32")
    first: tuple[Stmt, ...] = (
        *bounded("n", n),
        Iota(i32("ws", "w"), "w"),
        let(i32("shifted", "n", "w"), "sub", "ws", 4),
        let(i32("both", "n", "w"), "add", "shifted", "ns"),
        let(i32("down", "n", "w"), "floordiv", "both", 3),
        let(i32("left", "n", "w"), "mod", "both", 3),
        StoreTile("div", ("ns", "ws"), "down", ("n_in",)),
        StoreTile("mod", ("ns", "ws"), "left", ("n_in",)),
        Load(f32("v", "n", "w"), "x", ("ns", "ws"), ("n_in",)),
        let(i1("neg_v", "n", "w"), "lt", "v", 0.0),
        let(i1("even", "n", "w"), "eq", "left", 0),
        let(i1("odd", "n", "w"), "not", "even"),
        let(i1("either", "n", "w"), "or", "neg_v", "odd"),
        let(i1("two", "n", "w"), "and", "either", "n_in"),
        let(f32("picked", "n", "w"), "where", "two", "v", 1.0),
        StoreTile("mid", ("ns", "ws"), "picked", ("n_in",)),
    )
    first = tuple(
        Let(Value(s.out.name, ("w",), "i32"), s.op, s.args) if isinstance(s, Let) and s.out.name == "shifted" else s
        for s in first
    )
    second: tuple[Stmt, ...] = (
        *bounded("n", n),
        Iota(i32("ws", "w"), "w"),
        Load(f32("v", "n", "w"), "mid", ("ns", "ws"), ("n_in",)),
        ScanTile(f32("running", "n", "w"), "sum", "w", "v"),
        ScanTile(f32("highest", "n", "w"), "max", "w", "v"),
        ReduceTile(f32("all", "n"), "prod", "w", "v"),
        StoreTile("sums", ("ns", "ws"), "running", ("n_in",)),
        StoreTile("tops", ("ns", "ws"), "highest", ("n_in",)),
        StoreTile("out", ("ns",), "all", ("n_in",)),
    )
    coords = (Coord("n", n, 4, "group"), Coord("w", w, 8, "whole"))
    kernels = (
        Kernel("one", (x,), (mid, div, mod), coords, ("n",), first),
        Kernel("two", (mid,), (sums, tops, out), coords, ("n",), second),
    )
    data = np.random.default_rng(5).normal(size=(5, 8))
    both = np.arange(8)[None, :] - 4 + np.arange(5)[:, None]
    picked = np.where((data < 0) | (both % 3 != 0), data, 1.0)
    return Case(
        Plan("integers", (x,), (div, mod, sums, tops, out), kernels),
        {"x": data},
        {
            "div": both // 3,
            "mod": both % 3,
            "sums": picked.cumsum(1),
            "tops": np.maximum.accumulate(picked, axis=1),
            "out": picked.prod(1),
        },
    )


def coordinates() -> Case:
    """A grid of four symbolic coordinates, the last two swizzled, of a plan that has no inputs."""
    axes = tuple(Axis(name) for name in "abcd")
    out = Buffer("out", axes, "i32")
    body: tuple[Stmt, ...] = (
        Start(i32("a_at"), "a"),
        Start(i32("b_at"), "b"),
        *bounded("c", axes[2]),
        *bounded("d", axes[3]),
        let(i32("thousands"), "mul", "a_at", 1000),
        let(i32("hundreds"), "mul", "b_at", 100),
        let(i32("high"), "add", "thousands", "hundreds"),
        let(i32("tens", "c"), "mul", "cs", 10),
        let(i32("low", "c", "d"), "add", "tens", "ds"),
        let(i32("all", "c", "d"), "add", "high", "low"),
        StoreTile("out", ("a_at", "b_at", "cs", "ds"), "all", ("c_in", "d_in")),
    )
    coords = tuple(Coord(x.name, x, tile, "group") for x, tile in zip(axes, (1, 1, 4, 2), strict=True))
    kernel = Kernel("coordinates", (), (out,), coords, tuple("abcd"), body, swizzle=("c", "d", 2))
    sizes = dict(zip("abcd", (2, 3, 13, 7), strict=True))
    a, b, c, d = np.indices(tuple(sizes.values()))
    return Case(Plan("coordinates", (), (out,), (kernel,)), {}, {"out": 1000 * a + 100 * b + 10 * c + d}, sizes)


def window(columns: int = 13, least: int = 0) -> Case:
    """The sum over windows of 3 x 3 with nothing around the array, or of as many rows of them from `least` on; a trip
    takes one element.
    """
    m, o, n, q = Axis("m", 7), Axis("o", columns), Axis("n", 3), Axis("q", 3)
    x, y = Buffer("x", (m, o), "f32"), Buffer("y", (m, o), "f32")

    def place(name: str, at: str, step: str, last: int, *coords: str) -> tuple[Stmt, ...]:
        return (
            let(i32(f"{name}_sum", *coords), "add", at, step),
            let(i32(f"{name}_at", *coords), "add", f"{name}_sum", -1),
            let(i1(f"{name}_from", *coords), "le", 0, f"{name}_at"),
            let(i1(f"{name}_to", *coords), "lt", f"{name}_at", last + 1),
            let(i1(f"{name}_in", *coords), "and", f"{name}_from", f"{name}_to"),
            let(i32(f"{name}_low", *coords), "max", f"{name}_at", 0),
            let(i32(f"{name}_held", *coords), "min", f"{name}_low", last),
        )

    inner: tuple[Stmt, ...] = (
        Start(i32("qs"), "q"),
        let(i1("inner"), "le", "qs", 1),
        let(i1("outer"), "not", "inner"),
        *place("column", "os", "qs", columns - 1, "o"),
        let(i1("seen", "o"), "and", "row_in", "column_in"),
        Load(f32("loaded", "o"), "x", ("row_held", "column_held"), ("seen",)),
        let(f32("weight"), "where", "outer", 2.0, 1.0),
        let(f32("weighed", "o"), "mul", "loaded", "weight"),
        let(f32("more", "o"), "add", "total", "weighed"),
        Assign("total", "more"),
    )
    walk = Loop("q", ((f32("total", "o"), 0.0),), (Part(0, 0, inner), Part(0, 2, inner), Part(2, 3, inner)))
    rows: tuple[Stmt, ...] = (
        Start(i32("ns"), "n"),
        *place("row", "ms", "ns", 6),
        walk,
        let(f32("added", "o"), "add", "sum", "total"),
        Assign("sum", "added"),
    )
    body: tuple[Stmt, ...] = (
        Start(i32("ms"), "m"),
        *bounded("o", o),
        Loop("n", ((f32("sum", "o"), 0.0),), (Part(least, 3, rows),)),
        StoreTile("y", ("ms", "os"), "sum", ("o_in",)),
    )
    coords = (
        Coord("m", m, 1, "group"),
        Coord("o", o, 16, "whole"),
        Coord("n", n, 1, "stream"),
        Coord("q", q, 1, "stream"),
    )
    data = np.random.default_rng(7).normal(size=(7, columns))
    around = np.pad(data, 1)
    parts = [(2.0 if q == 2 else 1.0) * around[n : n + 7, q : q + columns] for n in range(least, 3) for q in range(3)]
    return Case(
        Plan("window", (x,), (y,), (Kernel("window", (x,), (y,), coords, ("m",), body),)),
        {"x": data},
        {"y": np.sum(parts, axis=0)},
    )


def masks() -> Case:
    """Masks read from and written to buffers, and scalars made of a size, which Triton may know as it compiles."""
    n = Axis("n")
    pad, out, y = Buffer("pad", (n,), "i1"), Buffer("out", (n,), "i1"), Buffer("y", (n,), "f32")
    body: tuple[Stmt, ...] = (
        *bounded("n", n),
        Load(i1("p", "n"), "pad", ("ns",), ("n_in",)),
        let(i1("flipped", "n"), "not", "p"),
        StoreTile("out", ("ns",), "flipped", ("n_in",)),
        let(i32("half"), "floordiv", "n_n", 2),
        let(i1("few"), "lt", "half", 4),
        let(i1("many"), "not", "few"),
        let(i1("both", "n"), "and", "many", "p"),
        let(f32("count"), "real", "n_n"),
        let(f32("picked", "n"), "where", "both", "count", 0.0),
        let(f32("r", "n"), "fma", "picked", 2.0, 1.0),
        StoreTile("y", ("ns",), "r", ("n_in",)),
    )
    kernel = Kernel("masks", (pad,), (out, y), (Coord("n", n, 16, "group"),), ("n",), body)
    data = np.random.default_rng(6).random(21) < 0.5
    return Case(
        Plan("masks", (pad,), (out, y), (kernel,)), {"pad": data}, {"out": ~data, "y": np.where(data, 43.0, 1.0)}
    )


def softmax(x: Array) -> Array:
    """Over the last axis."""
    e = np.exp(x - x.max(-1, keepdims=True))
    result: Array = e / e.sum(-1, keepdims=True)
    return result


FLOAT_CASES: dict[str, Callable[[str], Case]] = {
    "softmax_row": softmax_row,
    "softmax_row_scalar": lambda dtype: softmax_row(dtype, tile=1),
    "softmax_stream": softmax_stream,
    "matmul": matmul,
    "matmul_symbolic": lambda dtype: matmul(dtype, symbolic=True),
    "matmul_turned": lambda dtype: matmul(dtype, turned=True),
    "attention": attention,
    "attention_concrete": lambda dtype: attention(dtype, symbolic=False, lengths=(40, 24), tiles=(32, 16)),
    "gather": gather,
}
