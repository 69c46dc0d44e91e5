"""What Triton takes to be so of whole numbers in a tile, and which statements would make it take what is not.

Triton's analysis (lib/Analysis/AxisInfo.cpp; one version of it was read, and what 3.6 compiles) holds three powers of
two of a tile along each coordinate: how many lanes in a row count up by one, what the first of each such row is a
multiple of, how many lanes in a row are equal. Where an operator breaks such rows (`30 - a`, `a + 3 * a`, a remainder
of a remainder) the analysis keeps the multiple as if it held of every lane. Comparisons with another coordinate are
then computed for the wrong lanes together, and loads may be taken to be aligned that are not. So the printers write
such statements in a form that the analysis knows nothing of, and that LLVM makes the same instructions of.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.dtypes import WHOLE
from napkin_eq.tile.ir import Iota, Kernel, Let, Loop, Operand, SizeOf, Value, statements

MOST = 1 << 62  # what 0 is a multiple of
MOST_SIZES = 4  # of which each may be 1 or not; of more, all, one or none
FOLDED: dict[str, Callable[..., Any]] = {  # of numbers and sizes, which Triton may know as it compiles
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "neg": operator.neg, "min": min, "max": max,
    "lt": operator.lt, "le": operator.le, "eq": operator.eq, "floordiv": lambda a, b: a // b if b else 0,
    "mod": lambda a, b: a % b if b else 0,
    "and": operator.and_, "or": operator.or_, "not": operator.not_, "where": lambda c, a, b: a if c else b,
}  # fmt: skip


class Rows(NamedTuple):
    """What is taken to be so along a coordinate: lanes that count up, a multiple of what their first is, lanes that are
    equal.
    """

    counting: int
    multiple: int
    equal: int


NOTHING = Rows(1, 1, 1)


def misled(kernel: Kernel) -> frozenset[str]:
    """Return the whole-numbered tiles of a kernel of which Triton would take to be so what is not, were they written as
    they are defined.

    A size that is 1 as the kernel is launched is a constant for Triton, by which nothing is multiplied or divided: such
    sizes are tried.
    """
    sizes = list(
        dict.fromkeys(s.axis for s in statements(kernel.body) if isinstance(s, SizeOf) and s.axis.size is None)
    )
    many = range(len(sizes) + 1) if len(sizes) <= MOST_SIZES else (0, 1, len(sizes))
    ways = itertools.chain.from_iterable(itertools.combinations(sizes, number) for number in many)
    found: set[str] = set()
    for ones in ways:
        found |= _misled(kernel, ones, found)
    return frozenset(found)


def _misled(kernel: Kernel, ones: Collection[Axis], unread: Collection[str]) -> set[str]:
    """Return which tiles mislead where some sizes are 1; of those in `unread` nothing is known."""
    tiles = {c.name: c.tile for c in kernel.coords if c.tile > 1}
    values = {v.name: v for s in statements(kernel.body) for v in _made(s)}
    known: dict[str, dict[str, Rows]] = {}
    numbers: dict[str, Operand] = {}
    found = set()
    for stmt in statements(kernel.body):
        if isinstance(stmt, Iota) and stmt.coord in tiles:
            known[stmt.out.name] = {stmt.coord: Rows(tiles[stmt.coord], MOST, 1)}
        elif isinstance(stmt, SizeOf) and (stmt.axis.size or stmt.axis in ones):
            numbers[stmt.out.name] = stmt.axis.size or 1
        elif isinstance(stmt, Let) and stmt.out.dtype in (*WHOLE, "i1"):
            dims = [d for d in stmt.out.coords if d in tiles]
            stmt = replace(
                stmt, args=tuple(numbers.get(arg, arg) if isinstance(arg, str) else arg for arg in stmt.args)
            )
            if not dims and stmt.op in FOLDED and not any(isinstance(arg, str) for arg in stmt.args):
                numbers[stmt.out.name] = FOLDED[stmt.op](*stmt.args)
            same = _same(stmt)
            lines = {d: [_along(arg, d, tiles, known, values) for arg in stmt.args] for d in dims}
            taken = {d: _taken(stmt, lines[d], tiles[d]) if same is None else lines[d][same] for d in dims}
            if stmt.out.name in unread or (same is None and any(_false(stmt.op, lines[d], taken[d]) for d in dims)):
                found.add(stmt.out.name)
                taken = {d: Rows(1, 1, taken[d].equal) for d in dims}
            known[stmt.out.name] = taken
    return found


def _same(stmt: Let) -> int | None:
    """Return which operand a statement gives as it is, by a constant that Triton leaves out; None if it computes
    something.
    """
    first, last = stmt.args[0], stmt.args[-1]
    if stmt.op in ("mul", "floordiv") and not isinstance(last, str) and last == 1:
        return 0
    if stmt.op == "mul" and not isinstance(first, str) and first == 1:
        return 1
    return (1 if first else 2) if stmt.op == "where" and not isinstance(first, str) else None


def unread(op: str, args: list[str], where: str, most: str, least: str) -> str:
    """Return the text of a statement of whole numbers in a form of which Triton takes nothing to be so: by complements,
    ~x = -1 - x.

    Not of a remainder, which the languages write each in a way of its own: the one rounds down, the operator of the GPU
    to zero. where, most, least: the names of these functions in the language that is printed.
    """
    first, second = args[0], args[-1]
    match op:
        case "neg":
            return f"~{first} + 1"
        case "add":
            return f"~(~{first} - {second})"
        case "sub":
            return f"~(~{first} + {second})"
        case "where":
            return f"~{where}({first}, ~{args[1]}, ~{second})"
    return f"~{least if op == 'max' else most}(~{first}, ~{second})"


def _made(stmt: object) -> list[Value]:
    if isinstance(stmt, Loop):
        return [value for value, _ in stmt.carried]
    return [stmt.out] if hasattr(stmt, "out") else []


def _power(number: int) -> int:
    return number & -number if number else MOST


def _along(
    arg: Operand, dim: str, tiles: Mapping[str, int], known: Mapping[str, dict[str, Rows]], values: Mapping[str, Value]
) -> Rows:
    """Return what is taken to be so of an operand along a coordinate that it may lack, over which it is
    then repeated.
    """
    if not isinstance(arg, str):
        return Rows(1, _power(int(arg)) if math.isfinite(arg) else 1, tiles[dim])
    own = [d for d in values[arg].coords if d in tiles]
    rows = known.get(arg, {})
    if dim in own:
        return rows.get(dim, NOTHING)
    # Of a scalar no more is known here than that every lane is the same.
    others = [rows.get(d, NOTHING) for d in own]
    return Rows(1, math.gcd(*(1 if r.counting > 1 else r.multiple for r in others)) if others else MOST, tiles[dim])


def _taken(stmt: Let, args: list[Rows], tile: int) -> Rows:
    """Return what Triton takes to be so of a statement's value along a coordinate of so many lanes."""
    (x, y), equal = (args[-2:] if len(args) > 1 else (args[0], args[0])), math.gcd(*(a.equal for a in args))
    both = math.gcd(x.multiple, y.multiple)
    one = stmt.args[-1] == 1 and not isinstance(stmt.args[-1], str)
    match stmt.op:
        case "add":
            return Rows(max(math.gcd(x.equal, y.counting), math.gcd(x.counting, y.equal)), both, equal)
        case "sub":
            return Rows(math.gcd(x.counting, y.equal), both, equal)
        case "neg":  # which is 0 - x
            return Rows(1, x.multiple, equal)
        case "mul":
            left, right = (1 if r.counting > 1 else r.multiple for r in (x, y))
            return Rows(1, min(left * right, MOST), equal)
        case "floordiv":
            if x.counting == tile and y.equal == tile:
                equal = max(equal, math.gcd(x.counting, x.multiple, y.multiple))
            return Rows(1, x.multiple // y.multiple if x.counting == 1 and x.multiple > y.multiple else 1, equal)
        case "mod":
            return Rows(
                math.gcd(tile, both) if x.counting == tile and y.equal == tile else 1,
                both if y.equal > 1 else 1,
                tile if one else equal,
            )
        case "min" | "max" | "where":
            counting = math.gcd(x.counting, y.counting, *(a.equal for a in args[:-2]))
            return Rows(counting, both if x.counting == y.counting else math.gcd(both, x.counting, y.counting), equal)
        case "lt":
            return Rows(1, 1, max(equal, math.gcd(x.counting, both)) if y.equal == tile else equal)
        case "le":
            return Rows(1, 1, max(equal, math.gcd(y.counting, both)) if x.equal == tile else equal)
        case "eq" | "and" | "or" | "not":
            return Rows(1, 1, equal)
        case "cast" | "real":
            return x
    return NOTHING


def _false(op: str, args: list[Rows], taken: Rows) -> bool:
    """Tell whether what is taken to be so may not be: rows of an operand are broken, and the multiple is not one of
    their parts.
    """
    return (
        op in ("add", "sub", "neg", "mod", "min", "max", "where")
        and taken.multiple > taken.counting
        and any(a.counting > taken.counting for a in args)
    )
