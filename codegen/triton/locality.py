"""Which sums Triton must not keep apart for each thread until a loop has ended.

Where a tile is loaded, reduced along its last coordinate and carried by a loop, Triton reduces it within each thread
first and once more after the loop (lib/Dialect/TritonGPU/Transforms/OptimizeThreadLocality.cpp; one version of it was
read, and what 3.6 compiles). It does not ask whether the loop carries it by the operation that it is reduced by, else a
maximum of sums is a sum of maxima; nor whether the loop itself reads what is carried, which then is what it was before
the first block; nor whether just one statement reads it afterwards, without which it does not compile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from napkin_eq.tile.ir import (
    Assign,
    Defining,
    Kernel,
    Let,
    Load,
    Loop,
    Part,
    ReduceTile,
    Stmt,
    definitions,
    statements,
    used,
    values_of,
)

WRITTEN_OUT = ("round",)  # operators whose text has their operand several times
CARRIED_BY = {"sum": "add", "max": "max", "prod": "mul"}


def gathered(kernel: Kernel) -> frozenset[str]:
    """Return the reductions whose results are to be gathered from all threads at once."""
    root = _roots(kernel)
    everywhere, made = _uses(kernel.body, root), definitions(kernel.body)
    found: set[str] = set()
    for loop in statements(kernel.body):
        if not isinstance(loop, Loop):
            continue
        inside = sum((_uses(part.body, root) for part in loop.parts), Counter())
        carried = {value.name for value, _ in loop.carried}
        # What one part carries on to the next is read once
        read_once = {name for name in carried if len(loop.parts) > 1 or everywhere[name] - inside[name] == 1}
        for part in loop.parts:
            found |= _gathered(part, carried, read_once, made, root)
    return frozenset(found)


def _gathered(
    part: Part, carried: set[str], read_once: set[str], known: Mapping[str, Defining], root: Mapping[str, str]
) -> set[str]:
    made, uses = {**known, **definitions(part.body)}, _uses(part.body, root)
    found = set()
    for stmt in part.body:
        if not isinstance(stmt, Assign) or stmt.target not in carried:
            continue
        value = root.get(stmt.value, stmt.value)
        update = made.get(value)
        if not isinstance(update, Let) or uses[value] != 1:
            continue
        args = [root.get(str(arg), str(arg)) for arg in update.args]
        for name in args:
            result = made.get(name)
            if (
                isinstance(result, ReduceTile)
                and uses[name] == 1
                and isinstance(made.get(root.get(result.arg, result.arg)), Load)
                and not (
                    update.op == CARRIED_BY.get(result.monoid)
                    and sorted(args) == sorted([name, stmt.target])
                    and uses[stmt.target] == 1
                    and stmt.target in read_once
                )
            ):
                found.add(name)
    return found


def _roots(kernel: Kernel) -> dict[str, str]:
    """Return what each value that is another by a new name is: a reduction over a coordinate that a tile has one lane
    of, a number in the type that it has.
    """
    values = values_of(kernel.body)
    wide = {c.name for c in kernel.coords if c.tile > 1}
    root: dict[str, str] = {}
    for stmt in statements(kernel.body):
        match stmt:
            case ReduceTile(out, _, coord, arg) if coord not in wide & {*values[arg].coords}:
                root[out.name] = root.get(arg, arg)
            case Let(out, "cast", (str(arg),)) if arg in values and values[arg].dtype == out.dtype:
                root[out.name] = root.get(arg, arg)
    return root


def _uses(body: Sequence[Stmt], root: Mapping[str, str]) -> Counter[str]:
    """Count how often each value is read, by whichever of its names."""
    found: Counter[str] = Counter()
    for stmt in statements(body):
        if isinstance(stmt, Defining) and stmt.out.name in root:
            continue
        times = 2 if isinstance(stmt, Let) and stmt.op in WRITTEN_OUT else 1
        for name in used(stmt):
            found[root.get(name, name)] += times
    return found
