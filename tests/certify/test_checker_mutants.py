"""The checker itself is broken, one place at a time, and every broken one must give itself away.

Each `need` is left out, each comparison turned, each part of a condition left out, each choice turned around, by rule,
in the source of check.py. A mutant is killed by a forgery that it accepts or a good certificate that it refuses.
"""

from __future__ import annotations

import ast
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
EQUIVALENT: dict[str, str] = {
    "everywhere: below(row, i, at).empty & claim.lanes: its right side left out": (
        "axes that the claim needs no lanes of are asked for by nothing: without it parts are gone through more often"
    )
}
SOURCE = Path(checker.__file__).read_text(encoding="utf-8")
TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
Statement = tuple[int, int]  # where it begins: its line and its column
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
            yield (
                f"part {place} left out",
                ast.Compare(operands[0], node.ops[:place] + node.ops[place + 1 :], operands[1:]),
            )
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


def mutants() -> Iterator[tuple[str, Statement | None, ast.Module]]:
    """Yield every mutant, with what was changed where, and in which statement; the command line at the end of the file
    is left alone.
    """
    order: list[tuple[ast.AST, str, Statement | None]] = []

    def walk(node: ast.AST, inside: str, statement: Statement | None) -> None:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            inside, statement = node.name, None  # its head and what a class holds are run as it is defined
        elif isinstance(node, ast.stmt):
            statement = at(node)
        order.append((node, inside, statement))
        for child in ast.iter_child_nodes(node):
            walk(child, inside, statement)

    walk(ast.parse(SOURCE), "", None)
    unread = {id(part) for node, _, _ in order for note in _annotations(node) for part in ast.walk(note)}
    for place, (node, inside, statement) in enumerate(order):
        if inside in ("", "main", "count") or id(node) in unread:
            continue
        for make, (what, _) in enumerate(mutations(node)):
            yield f"{inside}: {ast.unparse(node)}: {what}", statement, _Replace(place, make).visit(ast.parse(SOURCE))


def at(node: ast.stmt) -> Statement:
    return node.lineno, node.col_offset


class _Mark(ast.NodeTransformer):
    """Puts before each statement of each function a call that says that it is reached."""

    def __init__(self) -> None:
        self.depth = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.depth += 1
        self.generic_visit(node)
        self.depth -= 1
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if self.depth and isinstance(block, list) and not isinstance(node, ast.ClassDef):
                setattr(
                    node, field, [part for stmt in block for part in (ast.parse(f"reached({at(stmt)})").body[0], stmt)]
                )
        return node


def reached(contents: list[bytes]) -> list[dict[Statement | None, int]]:
    """Return for each certificate the statements of the checker that it reaches, without those of `need`, and how many
    come after.
    """
    tree = ast.parse(SOURCE)
    (need,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "need")
    said: list[Statement] = []
    check = built(_Mark().visit(tree), reached=said.append)
    found: list[dict[Statement | None, int]] = []
    for content in contents:
        said.clear()
        check(content)
        last = dict.fromkeys(at for at in reversed(said) if not need.lineno <= at[0] <= (need.end_lineno or 0))
        found.append({at: later for later, at in enumerate(last)})
    return found


def _annotations(node: ast.AST) -> list[ast.AST]:
    found = (
        [node.returns]
        if isinstance(node, ast.FunctionDef)
        else [node.annotation]
        if isinstance(node, (ast.arg, ast.AnnAssign))
        else []
    )
    return [note for note in found if note is not None]


def built(tree: ast.Module, **beside: Any) -> Callable[[bytes], dict[str, Any]]:
    """Return a mutant's own `check`."""
    space: dict[str, Any] = {"__name__": "mutant", **beside}
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
        chosen += [
            (changed(constant, place, row), False)
            for place, given in enumerate(constant["theorem"]["nodes"])
            if given == ["Const", "real", "0.1"]
        ]
    law = CERTIFICATE["laws"]["distribute"]
    judged = {**law, "conclusion": 0}
    judged["sha256"] = checker.sha(
        ["distribute", *(judged[key] for key in ("nodes", "conclusion", "premises", "floating"))]
    )
    chosen.append((sealed(altered(CERTIFICATE, ("laws", "distribute"), judged)), False))
    chosen += [
        (sealed(altered(CERTIFICATE, ("laws", "distribute", "proof", "lanes"), lanes)), False)
        for lanes in ("x", [1], {"x": 1}, ["nowhere"], None)
    ]
    chosen += [(claimed(*cut), True) for x in (Axis("x", 7), Axis("x")) for cut in counted(x)] + [
        (claimed(*cut), False) for cut in COUNTED_WRONG
    ]
    called = {"kernel": "k", "call": "torch.matmul", "grade": "library"}
    evidence: list[tuple[Any, bool]] = [
        ([], True),
        ({"library": [called]}, True),
        ({"library": [{"kernel": "k"}]}, False),
        ({"library": 5}, False),
    ]
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
    return [
        *found,
        *((content, True) for _, content in one_rule.accepted()),
        *((content, False) for _, content in one_rule.refused()),
    ]


SAMPLES = {sample.name: sample for sample in alone()}


@pytest.mark.slow
def test_every_mutant_of_the_checker_gives_itself_away() -> None:
    """A mutant is tried on what reaches the statement that was changed: on all else it does what the checker does."""
    waiting = corpus()
    assert all((checker.check(content)["status"] == "ok") == good for content, good in waiting)
    paths = reached([content for content, _ in waiting])
    by_length = sorted(range(len(waiting)), key=lambda place: len(waiting[place][0]))
    told: list[int] = []  # what gave one away may give the next one away
    alive, tried = [], 0
    for name, statement, tree in mutants():
        tried += 1
        if name in EQUIVALENT:
            continue
        check = built(tree)
        places = [place for place in by_length if statement in paths[place]] or by_length
        among = {*places}
        good = [place for place in places if waiting[place][1]]
        # Of forgeries first those that are refused soon after the statement.
        forged = sorted(
            (place for place in places if not waiting[place][1]), key=lambda place: paths[place].get(statement, 0)
        )
        turns = itertools.chain.from_iterable(itertools.zip_longest(good, forged))
        for place in dict.fromkeys(
            [*(place for place in told if place in among), *(place for place in turns if place is not None)]
        ):
            if _accepts(check, waiting[place][0]) != waiting[place][1]:
                told = [place, *(other for other in told if other != place)]
                break
        else:
            alive.append(name)
    assert tried > 300 and alive == [] and len(EQUIVALENT) <= 5


def _accepts(check: Callable[[bytes], dict[str, Any]], content: bytes) -> bool | None:
    try:
        return bool(check(content)["status"] == "ok")
    except Exception:  # the checker raises nothing
        return None
