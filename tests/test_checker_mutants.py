"""The checker itself is broken, one place at a time, and every broken one must give itself away.

Each `need` is left out, each comparison turned, each part of a condition left out, each choice turned around, by rule, in the source of
check.py. A mutant is killed by a forgery that it accepts or a good certificate that it refuses.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from napkin_eq import check as checker

SOURCE = Path(checker.__file__).read_text(encoding="utf-8")
TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
NEARLY: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}


def mutations(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield what may stand in the place of a node."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "need":
        yield "left out", ast.Pass()
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for table in (TURNED, NEARLY):
            if turned := table.get(type(node.ops[0])):
                yield f"made {turned.__name__}", ast.Compare(node.left, [turned()], node.comparators)
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        for place in range(len(node.ops)):
            operands = [node.left, *node.comparators]
            del operands[place if place == 0 else place + 1]
            yield f"part {place} left out", ast.Compare(operands[0], node.ops[:place] + node.ops[place + 1 :], operands[1:])
    if isinstance(node, ast.BoolOp):
        for place in range(len(node.values)):
            yield f"part {place} left out", _joined(node, node.values[:place] + node.values[place + 1 :])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not left out", node.operand
    if isinstance(node, ast.IfExp):
        yield "always so", node.body
        yield "never so", node.orelse
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.BitOr, ast.Sub)):
        yield "its right side left out", node.left


def _joined(node: ast.BoolOp, values: list[ast.expr]) -> ast.expr:
    return values[0] if len(values) == 1 else ast.BoolOp(node.op, values)


class _Replace(ast.NodeTransformer):
    def __init__(self, place: int, make: int) -> None:
        self.place, self.make, self.seen = place, make, -1

    def visit(self, node: ast.AST) -> Any:
        self.seen += 1
        if self.seen == self.place:
            return list(mutations(node))[self.make][1]
        return self.generic_visit(node)


def mutants() -> Iterator[tuple[str, ast.Module]]:
    """Yield every mutant, with what was changed where; the command line at the end of the file is left alone."""
    tree = ast.parse(SOURCE)
    order: list[tuple[ast.AST, str]] = []

    def walk(node: ast.AST, inside: str) -> None:
        inside = node.name if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else inside
        order.append((node, inside))
        for child in ast.iter_child_nodes(node):
            walk(child, inside)

    walk(tree, "")
    for place, (node, inside) in enumerate(order):
        if inside in ("", "main"):
            continue
        for make, (what, _) in enumerate(mutations(node)):
            yield f"{inside}: {ast.unparse(node)}: {what}", _Replace(place, make).visit(copy.deepcopy(tree))


def built(tree: ast.Module) -> Callable[[bytes], dict[str, Any]]:
    """Return a mutant's own `check`."""
    space: dict[str, Any] = {"__name__": "mutant"}
    exec(compile(ast.fix_missing_locations(tree), "mutant", "exec"), space)
    found: Callable[[bytes], dict[str, Any]] = space["check"]
    return found
