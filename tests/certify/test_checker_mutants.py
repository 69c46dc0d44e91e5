"""The checker itself is broken, one place at a time, and every broken one must give itself away.

Each `need` is left out, each comparison turned, each part of a condition left out, each choice turned around, by rule, in the source of
check.py. A mutant is killed by a forgery that it accepts or a good certificate that it refuses.
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from napkin_eq.certify import check as checker
from napkin_eq.certify.certificate import dumps, sealed
from napkin_eq.lang.axis import Axis
from napkin_eq.verify.selftest import one_rule
from napkin_eq.verify.selftest.forgeries import changes, differ
from napkin_eq.verify.selftest.ill_formed import FIT, as_lemma, changed, extended, ill_formed
from napkin_eq.verify.selftest.samples import alone, samples
from tests.certify.test_certificate import CERTIFICATE, EVIDENT, TAMPERED, altered, evident
from tests.laws.test_axis_split import COUNTED_WRONG, claimed, counted

# Mutants that accept what the checker accepts, each with why.
EQUIVALENT: dict[str, str] = {}
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
    unread = {id(part) for node, _ in order for note in _annotations(node) for part in ast.walk(note)}
    for place, (node, inside) in enumerate(order):
        if inside in ("", "main", "count") or id(node) in unread:
            continue
        for make, (what, _) in enumerate(mutations(node)):
            yield f"{inside}: {ast.unparse(node)}: {what}", _Replace(place, make).visit(copy.deepcopy(tree))


def _annotations(node: ast.AST) -> list[ast.AST]:
    found = [node.returns] if isinstance(node, ast.FunctionDef) else [node.annotation] if isinstance(node, (ast.arg, ast.AnnAssign)) else []
    return [note for note in found if note is not None]


def built(tree: ast.Module) -> Callable[[bytes], dict[str, Any]]:
    """Return a mutant's own `check`."""
    space: dict[str, Any] = {"__name__": "mutant"}
    exec(compile(ast.fix_missing_locations(tree), "mutant", "exec"), space)
    found: Callable[[bytes], dict[str, Any]] = space["check"]
    return found


def corpus() -> list[tuple[bytes, bool]]:
    """Return certificates, each with whether it is good."""
    chosen: list[tuple[Any, bool]] = [(evident(rows), true) for rows, true in EVIDENT]
    chosen += [(sealed(altered(CERTIFICATE, at, value)), False) for at, value, _ in TAMPERED]
    chosen += [(CERTIFICATE, True), (sealed(extended(CERTIFICATE, FIT)), True)]
    constant = SAMPLES["a number"].certificate()
    for row in (["Const", "real", "-inf"], ["Input", "C"]):  # a law of numbers is one of constants that are present
        chosen += [(changed(constant, place, row), False) for place, given in enumerate(constant["theorem"]["nodes"]) if given == ["Const", "real", "0.1"]]
    law = CERTIFICATE["laws"]["distribute"]
    judged = {**law, "conclusion": 0}
    judged["sha256"] = checker.sha(["distribute", *(judged[key] for key in ("nodes", "conclusion", "premises", "floating"))])
    chosen.append((sealed(altered(CERTIFICATE, ("laws", "distribute"), judged)), False))
    chosen += [(sealed(altered(CERTIFICATE, ("laws", "distribute", "proof", "lanes"), lanes)), False) for lanes in ("x", [1], {"x": 1}, ["nowhere"], None)]
    chosen += [(claimed(*cut), True) for x in (Axis("x", 7), Axis("x")) for cut in counted(x)] + [(claimed(*cut), False) for cut in COUNTED_WRONG]
    called = {"kernel": "k", "call": "torch.matmul", "grade": "library"}
    evidence: list[tuple[Any, bool]] = [([], True), ({"library": [called]}, True), ({"library": [{"kernel": "k"}]}, False), ({"library": 5}, False)]
    chosen += [(sealed(altered(CERTIFICATE, ("evidence",), value)), good) for value, good in evidence]
    broken = 0
    for number, sample in enumerate(samples()):
        data = sample.certificate()
        if not sample.allowed or "," not in sample.name or number % 5 == 0:
            chosen.append((data, sample.allowed))
        if sample.allowed and "," not in sample.name:
            for _, forged in ill_formed(data):
                broken += 1
                if broken % 29 == 0 or sample.name == "distribute":
                    chosen.append((sealed(forged), False))
        if "," in sample.name and number % 3 == 0:
            lemma = as_lemma(data)
            good = checker.check(dumps(lemma).encode())["status"] == "ok"
            assert sample.allowed or not good, f"{sample.name}: as a lemma it is accepted, as a step it is not"
            chosen.append((lemma, good))
        if sample.allowed and number % 9 == 0:
            varied = [changed(data, place, row) for place, row in itertools.islice(changes(data), 3, None, 61)]
            chosen += [(forged, False) for forged in varied if differ(forged)]
    found = [(dumps(data).encode(), good) for data, good in chosen]
    return [*found, *((content, True) for _, content in one_rule.accepted()), *((content, False) for _, content in one_rule.refused())]


SAMPLES = {sample.name: sample for sample in alone()}


@pytest.mark.slow
def test_every_mutant_of_the_checker_gives_itself_away() -> None:
    waiting = corpus()
    assert all((checker.check(content)["status"] == "ok") == good for content, good in waiting)
    alive, tried = [], 0
    for name, tree in mutants():
        tried += 1
        if name in EQUIVALENT:
            continue
        check = built(tree)
        for place, (content, good) in enumerate(waiting):
            if _accepts(check, content) != good:
                waiting.insert(0, waiting.pop(place))  # what gives one away may give the next one away
                break
        else:
            alive.append(name)
    assert tried > 300 and alive == [] and len(EQUIVALENT) <= 5


def _accepts(check: Callable[[bytes], dict[str, Any]], content: bytes) -> bool | None:
    try:
        return bool(check(content)["status"] == "ok")
    except Exception:  # the checker raises nothing
        return None
