"""Which sums Triton must not keep apart for each thread until a loop has ended.

Where a tile is loaded, reduced along its last coordinate and carried by a loop, Triton reduces it within each thread
first and once more after the loop (lib/Dialect/TritonGPU/Transforms/OptimizeThreadLocality.cpp; one version of it was
read, and what 3.6 compiles). It does not ask whether the loop itself reads what is carried, which then is what it was
before the first block, nor whether just one statement reads it afterwards, without which it does not compile.
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
)

WRITTEN_OUT = ("round",)  # operators whose text has their operand several times


def gathered(kernel: Kernel) -> frozenset[str]:
    """Return the reductions whose results are to be gathered from all threads at once."""
    everywhere = _uses(kernel.body)
    found: set[str] = set()
    for loop in statements(kernel.body):
        if not isinstance(loop, Loop):
            continue
        inside = sum((_uses(part.body) for part in loop.parts), Counter())
        carried = {value.name for value, _ in loop.carried}
        # What one part carries on to the next is read once
        read_once = {name for name in carried if len(loop.parts) > 1 or everywhere[name] - inside[name] == 1}
        for part in loop.parts:
            found |= _gathered(part, carried, read_once, definitions(kernel.body))
    return frozenset(found)


def _gathered(part: Part, carried: set[str], read_once: set[str], known: Mapping[str, Defining]) -> set[str]:
    made, uses = {**known, **definitions(part.body)}, _uses(part.body)
    found = set()
    for stmt in part.body:
        update = made.get(stmt.value) if isinstance(stmt, Assign) and stmt.target in carried else None
        if not isinstance(stmt, Assign) or not isinstance(update, Let) or uses[stmt.value] != 1:
            continue
        for name in update.args:
            result = made.get(str(name))
            if not isinstance(result, ReduceTile) or uses[result.out.name] != 1:
                continue
            if isinstance(made.get(result.arg), Load):
                others = [arg for arg in update.args if arg != name]
                if others != [stmt.target] or uses[stmt.target] != 1 or stmt.target not in read_once:
                    found.add(result.out.name)
    return found


def _uses(body: Sequence[Stmt]) -> Counter[str]:
    """Count how often each name is read."""
    found: Counter[str] = Counter()
    for stmt in statements(body):
        times = 2 if isinstance(stmt, Let) and stmt.op in WRITTEN_OUT else 1
        for name in used(stmt):
            found[name] += times
    return found
