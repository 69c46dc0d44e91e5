"""What a printed kernel says before its first block, read as integers: how blocks are numbered, and which ones a number
means.

The text is parsed, and nothing of it is run. What is no assignment of sums, products, quotients and choices of whole
numbers is not read.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from napkin_eq.tile.identifiers import counter_argument, kernel_function
from napkin_eq.tile.ir import Kernel
from napkin_eq.verify.index.smt_coordinates import NotRead, Text, asks

FOLDED: dict[type, Callable[[int, int], int]] = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
SIGNS: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Lt: "<", ast.LtE: "<=", ast.Eq: "="}


@dataclass(frozen=True, slots=True)
class Head:
    """What one side of a kernel does before its first block, the walk over its blocks, and the first statements of the
    walk.

    A walk that draws its numbers stands as one over all numbers that pass its test; `step` is what a draw adds to the
    counter, and `ring` the names under which it is handed from one side to the other.
    """

    kernel: Kernel
    before: tuple[ast.stmt, ...]
    walk: ast.For
    starts: Mapping[str, str]
    said: str
    step: ast.expr | None = None
    ring: tuple[str, ...] = ()

    @staticmethod
    def of(kernel: Kernel, source: str, side: str) -> Head:
        name = f"{kernel_function(kernel)}_{side}"
        functions = {n.name: n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef)}
        made = functions.get(name)
        at = next((i for i, s in enumerate(made.body) if isinstance(s, (ast.For, ast.While))), None) if made else None
        if made is None or at is None:
            raise NotRead(f"the printed kernel has no function {name} that walks blocks")
        walk, step = made.body[at], None
        ring: tuple[str, ...] = ()
        if isinstance(walk, ast.While):
            walk, step, ring = _drawing(
                made.body[at - 2 : at], walk, functions, counted(made.body[:at])[1], counter_argument(kernel)
            )
            at -= 2
        assert isinstance(walk, ast.For)
        first = next(
            i for i, s in enumerate(made.body) if isinstance(s, ast.Assign) and is_called(s, "blocks|.*_blocks")
        )
        wanted = [c for c in map(kernel.coord, kernel.grid) if c.blocks != 1]
        assigned = [
            s.targets[0].id for s in walk.body if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)
        ]
        starts = {
            c.name: next(
                (n for n in assigned if re.fullmatch(rf"{c.name}{'_start' if c.tile > 1 else ''}(_\d+)?", n)), ""
            )
            for c in wanted
        }
        if not all(starts.values()):
            raise NotRead("the printed kernel does not say where its blocks start")
        said = "|".join(["tile", *map(re.escape, starts.values())])
        last = max(
            (
                i
                for i, s in enumerate(walk.body)
                if isinstance(s, ast.Assign) and any(is_called(s, n) for n in said.split("|"))
            ),
            default=-1,
        )
        walk = ast.For(walk.target, walk.iter, walk.body[: last + 1], [])
        before = tuple(made.body[first:at])
        return Head(kernel, before, walk, starts, "\n".join(map(ast.dump, (*before, walk))), step, ring)


def _drawing(
    before: Sequence[ast.stmt], walk: ast.While, functions: Mapping[str, ast.FunctionDef], total: str, counter: str
) -> tuple[ast.For, ast.expr, tuple[str, ...]]:
    """Read a walk whose numbers are drawn before it and at its end, and nowhere else, as a walk over numbers; return
    it, what a draw adds, the ring.
    """
    match [*before, walk.body[0], *walk.body[-2:]]:
        case [
            ast.Assign([ast.Name(turn)], ast.Constant(0)),
            ast.Assign([ast.Name(number)], ast.Call(ast.Name(drawing), args, []) as call),
            ast.Assign([ast.Name(tile)], ast.Name(first)), ast.AugAssign(ast.Name(counted), ast.Add(), ast.Constant(1)),
            ast.Assign([ast.Name(again)], other),
        ] if is_number(tile) and first == number == again and counted == turn and ast.dump(other) == ast.dump(call):
            pass
        case _:
            raise NotRead("the walk over blocks does not draw a number before it and at its end")
    inside = [n for s in walk.body for n in ast.walk(s)]
    stored = [n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    if stored.count(number) != 1 or stored.count(turn) != 1:
        raise NotRead(f"{number} or {turn} is set by more than the draw")
    if (
        any(isinstance(n, (ast.Break, ast.Continue, ast.Return)) for n in inside)
        or walk.orelse
        or _calls(inside, functions) != [drawing]
    ):
        raise NotRead("the walk over blocks ends, or draws, elsewhere than at its end")
    if {n.id for n in ast.walk(walk.test) if isinstance(n, ast.Name)} - {number} != {total}:
        raise NotRead(f"the walk over blocks does not test {number} against their number")
    handing, handed = _handing(functions)
    hands = args if drawing == handing.name else [ast.Name(counter, ast.Load()), *args]
    if (
        drawing not in (handing.name, handed.name)
        or len(hands) != len(handing.args.args)
        or ast.unparse(hands[-1]) != turn
        or ast.unparse(hands[0]) != counter
    ):
        raise NotRead(f"{drawing} is not given the counter, a ring and {turn}")
    taken = ast.For(ast.Name(tile, ast.Store()), walk.test, walk.body[1:-2], [])
    (step,) = (
        n.args[1] for n in ast.walk(handing) if isinstance(n, ast.Call) and ast.unparse(n.func) == "gl.atomic_add"
    )
    return taken, step, tuple(map(ast.unparse, hands[1:-1]))


def _calls(nodes: Sequence[ast.AST], functions: Mapping[str, ast.FunctionDef]) -> list[str]:
    """Return the functions of the file that are called and draw a number or take one over."""
    named = {function.name for function in _handing(functions)}
    return [n.func.id for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in named]


def counted(before: Sequence[ast.stmt]) -> tuple[int, str]:
    """Return which statement says how many blocks there are, and the name that stands for it."""
    return next(
        (at, ast.unparse(s.targets[0]))
        for at, s in enumerate(before)
        if isinstance(s, ast.Assign) and is_called(s, "blocks")
    )


def _handing(functions: Mapping[str, ast.FunctionDef]) -> tuple[ast.FunctionDef, ast.FunctionDef]:
    """Return the function that adds to the counter once, hands what was there on and returns it, and the one that takes
    over what was handed on.
    """
    gives = takes = None
    for function in functions.values():
        lines = [ast.unparse(s) for s in function.body]
        waits = [at for at, line in enumerate(lines) if line.startswith("mbarrier.wait(")]
        arrives = [at for at, line in enumerate(lines) if line.startswith("mbarrier.arrive(")]
        match lines:
            case [drawn, _, stored, _, returned] if (waits, arrives) == ([1], [3]) and re.fullmatch(
                r"(\w+) = gl\.atomic_add\(\w+, \w+\)", drawn
            ):
                number = drawn.split(" = ")[0]
                if returned == f"return {number}" and f".store(gl.full((1,), {number}, gl.int32, " in stored:
                    gives = function
            case [_, loaded, _, returned] if (waits, arrives) == ([0], [2]) and re.fullmatch(
                r"\w+ = gl\.max\(\w+\.index\(.*\)\.load\(.*\), axis=0\)", loaded
            ):
                if returned == f"return {loaded.split(' = ')[0]}":
                    takes = function
    if gives is None or takes is None:
        raise NotRead("no functions of the file draw a number and take over what was drawn")
    return gives, takes


def is_called(stmt: ast.Assign, pattern: str) -> bool:
    """Tell whether a statement assigns to a name of a pattern, with a number behind it or without."""
    return (
        isinstance(stmt.targets[0], ast.Name) and re.fullmatch(rf"({pattern})(_\d+)?", stmt.targets[0].id) is not None
    )


@dataclass(slots=True)
class Reading:
    """Statements read as integers: what each name stands for, lines of SMT-LIB, and the divisions in order."""

    suffix: str
    names: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    divided: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    since: list[tuple[str, str, int]] = field(default_factory=list)
    defining: set[str] = field(default_factory=set)
    starts: dict[str, str] = field(default_factory=dict)

    def declare(self, name: str, *facts: str) -> str:
        self.lines += [f"(declare-const {name} Int)", *(f"(assert {fact})" for fact in facts)]
        return name

    def run(self, stmts: Sequence[ast.stmt], given: Mapping[str, str], until: str = "") -> None:
        """Read assignments; names that are given keep what they stand for. Stops where the name `until` is assigned."""
        for stmt in stmts:
            target = stmt.targets[0] if isinstance(stmt, ast.Assign) else getattr(stmt, "target", None)
            if not isinstance(stmt, (ast.Assign, ast.AugAssign)) or not isinstance(target, ast.Name):
                raise NotRead(f"what deals out blocks is no assignment: {ast.unparse(stmt):.60}")
            if target.id in given:
                self.names[target.id] = given[target.id]
                continue
            value = self.value(stmt.value)
            if isinstance(stmt.value, ast.BinOp) and isinstance(stmt.value.op, ast.Mult):
                self.starts[target.id] = self.value(stmt.value.left)
            self.names[target.id] = f"(+ {self.names[target.id]} {value})" if isinstance(stmt, ast.AugAssign) else value
            if re.fullmatch(rf"{until}(_\d+)?", target.id):
                return

    def value(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=int()) if not isinstance(node.value, bool):
                return str(node.value)
            case ast.Name() if node.id in self.names:
                return self.names[node.id]
            case ast.BinOp(left, ast.FloorDiv(), right):
                return self.division(self.value(left), self.value(right))[0]
            case ast.BinOp(left, ast.Mod(), right):
                return self.division(self.value(left), self.value(right))[1]
            case ast.BinOp(left, op, right) if type(op) in FOLDED:
                a, b = self.value(left), self.value(right)
                folded = a.isdigit() and b.isdigit() and FOLDED[type(op)](int(a), int(b))
                return str(folded) if folded is not False and folded >= 0 else f"({SIGNS[type(op)]} {a} {b})"
            case ast.Compare(left, [op], [right]) if type(op) in SIGNS:
                return f"({SIGNS[type(op)]} {self.value(left)} {self.value(right)})"
            case ast.Call(ast.Attribute(ast.Name("gl"), name), args, []):
                return self.call(name, args)
        raise NotRead(f"what deals out blocks is not read: {ast.unparse(node):.60}")

    def call(self, name: str, args: Sequence[ast.expr]) -> str:
        if name in ("num_programs", "program_id"):
            return self.names[name]
        values = [self.value(arg) for arg in args]
        if name == "minimum":
            return f"(ite (<= {values[0]} {values[1]}) {values[0]} {values[1]})"
        if name == "where":
            return f"(ite {' '.join(values)})"
        if name == "cdiv" and values[1].isdigit():
            return self.division(f"(+ {values[0]} {int(values[1]) - 1})", values[1])[0]
        raise NotRead(f"what deals out blocks calls {name}")

    def division(self, dividend: str, divisor: str) -> tuple[str, str]:
        """Return the names of a quotient and a remainder."""
        pair = dividend, divisor
        if pair not in self.divided:
            self.since.append((*pair, len(self.lines)))
            number = len(self.divided)
            q, r = (self.declare(f"{what}{number}{self.suffix}") for what in ("quotient", "remainder"))
            self.lines += [
                f"(assert (= {dividend} (+ (* {divisor} {q}) {r})))",
                f"(assert (<= 0 {r}))",
                f"(assert (< {r} {divisor}))",
            ]
            self.defining.add(self.lines[-3])
            self.divided[pair] = q, r
        return self.divided[pair]

    def sound(self, place: int) -> Iterator[Text]:
        """Ask that the divisions from a place on are those of numbers that are not negative by positive ones."""
        for dividend, divisor, lines in self.since[place:]:
            yield asks(self.lines[:lines], f"(or (< {dividend} 0) (<= {divisor} 0))")


def is_number(name: str) -> bool:
    """Tell whether a name is that of the number of a block."""
    return re.fullmatch(r"tile(_\d+)?", name) is not None
